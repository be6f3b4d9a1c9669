"""Multi-kernel power k-means against the equations, single kernels and its own symmetries."""

import io
import pickle
import warnings
from typing import ClassVar

import joblib
import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics import normalized_mutual_info_score
from sklearn.metrics.pairwise import cosine_similarity
from threadpoolctl import threadpool_limits

import data
import oracle
from kernelmeans import KernelPowerKMeans, MultiKernelPowerKMeans
from kernelmeans.estimators import base

X = data.cloud(80, 3)
NEW = data.cloud(25, 3, seed=1)
SEEDS = np.array([2, 31, 47, 63])
#: Below the critical power of all these data, so that no noise is put on the weights.
S0 = -4.0
WEIGHT = np.random.default_rng(0).uniform(0.1, 3, 80)


def poly(A, B):
    return (A @ B.T + 1.0) ** 2


#: Kernels as the estimator takes them, and as functions of two matrices.
MIXES = {
    "rbf": (
        [{"kernel": "rbf", "gamma": 0.3}, {"kernel": "rbf", "gamma": 2.0}],
        [lambda A, B: oracle.rbf(A, B, 0.3), lambda A, B: oracle.rbf(A, B, 2.0)],
    ),
    "rbf, linear": (
        [{"kernel": "rbf", "gamma": 0.3}, "linear"],
        [lambda A, B: oracle.rbf(A, B, 0.3), lambda A, B: A @ B.T],
    ),
    "linear": (
        [("linear", [0]), ("linear", [2, 1])],
        [lambda A, B: A[:, :1] @ B[:, :1].T, lambda A, B: A[:, 1:] @ B[:, 1:].T],
    ),
    "four": (
        [
            ({"kernel": "rbf", "gamma": 0.5}, slice(0, 2)),
            {"kernel": "poly", "degree": 2, "gamma": 1.0, "coef0": 1.0},
            "cosine",
            ("linear", slice(1, 3)),
        ],
        [
            lambda A, B: oracle.rbf(A[:, :2], B[:, :2], 0.5),
            poly,
            cosine_similarity,
            lambda A, B: A[:, 1:] @ B[:, 1:].T,
        ],
    ),
}
mixes = pytest.mark.parametrize("mix", MIXES)


def matrices(mix, rows=X, columns=X):
    return np.stack([function(rows, columns) for function in MIXES[mix][1]])


def make(mix, k=4, **given):
    return MultiKernelPowerKMeans(k, **{"kernels": MIXES[mix][0], "random_state": 0, **given})


def unit_factors(Ks, v=None):
    return np.array([1 / oracle.variance(K, v) for K in Ks])


def naive_distances(model, Ks, rows=None, own=None):
    """Distances to the means of the fitted clusters, for a run that ended in hard steps."""
    A = np.stack([(model.labels_ == j) / (model.labels_ == j).sum() for j in range(4)])
    rows = Ks if rows is None else rows
    own = np.stack([np.diagonal(K) for K in Ks]) if own is None else own
    squared = sum(
        a * f * (d[:, None] - 2 * R @ A.T + np.diagonal(A @ K @ A.T))
        for a, f, K, R, d in zip(
            model.kernel_weights_, model.kernel_factors_, Ks, rows, own, strict=True
        )
    )
    return np.sqrt(np.maximum(squared, 0))


class TestSteps:
    """Some steps from matched starts, against the equations."""

    SCHEDULES: ClassVar = {
        "constant": ({"eta": 1.0}, [S0] * 5, 1.0),
        "annealed": ({"eta": 1.04}, [S0 * 1.04**i for i in range(5)], 1.0),
        "every second": (
            {"eta": 1.2, "anneal_every": 2},
            [S0 * 1.2 ** (i // 2) for i in range(5)],
            1.0,
        ),
        # Its powers depend on the run, and have a test of their own.
        "over-relaxed": ({"eta": "auto"}, None, 1.8),
    }

    def compare(self, model, rows, Ks, powers, strength, factors, relaxation, v=None):
        with pytest.warns(ConvergenceWarning, match="did not converge within max_iter=5"):
            model.fit(rows, sample_weight=v)
        powers = model.power_history_ if powers is None else powers
        A, a, objectives, weights = oracle.multi_run(
            Ks, oracle.at_samples(SEEDS, 80), powers, strength, factors, v, relaxation
        )
        assert model.critical_power_ > S0
        assert_allclose(model.kernel_factors_, factors, rtol=1e-9)
        assert_allclose(model.objective_history_, objectives, rtol=1e-8)
        assert_allclose(model.kernel_weights_history_, weights, rtol=1e-6)
        assert_allclose(model.kernel_weights_, a, rtol=1e-6)
        assert_allclose(model.power_history_, powers, rtol=1e-12)
        D = oracle.multi_distances(Ks, A, a * factors)
        assert_array_equal(model.labels_, D.argmin(axis=1))
        assert_allclose(model.transform(rows), np.sqrt(D), rtol=1e-6)
        return weights

    @mixes
    @pytest.mark.parametrize("schedule", SCHEDULES)
    @pytest.mark.parametrize("v", [None, WEIGHT], ids=["equal", "weighted"])
    def test_are_those_of_the_equations(self, mix, schedule, v):
        given, powers, relaxation = self.SCHEDULES[schedule]
        model = make(mix, init=SEEDS, s0=S0, max_iter=5, tol=0, entropy_weight=0.3, **given)
        Ks = matrices(mix)
        weights = self.compare(model, X, Ks, powers, 0.3, unit_factors(Ks, v), relaxation, v)
        assert np.ptp(weights[-1]) > 0.01

    @pytest.mark.parametrize("schedule", SCHEDULES)
    @pytest.mark.parametrize("v", [None, WEIGHT], ids=["equal", "weighted"])
    def test_of_kernel_matrices_too(self, schedule, v):
        given, powers, relaxation = self.SCHEDULES[schedule]
        Ks = matrices("four")
        model = make(
            "rbf", kernels="precomputed", init=SEEDS, s0=S0, max_iter=5, tol=0, entropy_weight=1.0,
            **given,
        )  # fmt: skip
        self.compare(model, Ks, Ks, powers, 1.0, unit_factors(Ks, v), relaxation, v)

    @mixes
    @pytest.mark.parametrize("v", [None, WEIGHT], ids=["equal", "weighted"])
    def test_the_power_grows_as_fast_as_the_samples_let_it(self, mix, v):
        model = make(mix, init=SEEDS, s0=S0, max_iter=9)
        with pytest.warns(ConvergenceWarning):
            model.fit(X, sample_weight=v)
        Ks, powers = matrices(mix), model.power_history_
        factors = unit_factors(Ks, v)
        start = oracle.at_samples(SEEDS, 80)
        softness = []
        for step, s in enumerate(powers):
            A, a, *_ = oracle.multi_run(Ks, start, powers[:step], 2.0, factors, v, 1.8)
            D = oracle.multi_distances(Ks, A, a * factors)
            w = np.maximum(D, 1e-12) ** (s - 1)
            softness.append(1 - np.average(w.max(axis=1) / w.sum(axis=1), weights=v))
        growth = 1.17 ** (1 / (1 + np.abs(np.diff(softness, prepend=0)) / 0.005))
        assert growth.max() > 1.01 > growth.min()
        assert_allclose(powers, S0 * np.cumprod([1, *growth[:-1]]), rtol=1e-6)

    @pytest.mark.parametrize("strength", [0, 0.05, 0.7, 5.0, np.inf])
    @pytest.mark.parametrize("scaling", ["unit-variance", None])
    def test_at_any_strength_of_the_entropy(self, strength, scaling):
        Ks = matrices("rbf, linear")
        model = make(
            "rbf, linear", init=SEEDS, s0=S0, eta=1.04, max_iter=5, entropy_weight=strength,
            kernel_scaling=scaling,
        )  # fmt: skip
        factors = unit_factors(Ks) if scaling else np.ones(2)
        self.compare(model, X, Ks, self.SCHEDULES["annealed"][1], strength, factors, 1.0)

    def test_the_last_memberships_are_those_of_the_final_centroids(self):
        Ks = matrices("rbf, linear")
        factors = unit_factors(Ks)
        model = make("rbf, linear", init=SEEDS, s0=S0, eta=1.0, max_iter=5, tol=0)
        with pytest.warns(ConvergenceWarning):
            model.fit(X)
        A, a, *_ = oracle.multi_run(Ks, oracle.at_samples(SEEDS, 80), [S0] * 5, 2.0, factors)
        D = oracle.multi_distances(Ks, A, a * factors)
        for i in (0, 40, 79):
            w = oracle.power_weights(D[i], S0)
            assert_allclose(model.memberships_[i], w / w.sum(), rtol=1e-5, atol=1e-9)

    @mixes
    @pytest.mark.parametrize("v", [None, WEIGHT], ids=["equal", "weighted"])
    def test_a_finished_run_has_the_cost_of_its_partition(self, mix, v):
        model = make(mix, init=SEEDS).fit(X, sample_weight=v)
        assert np.isneginf(model.power_history_[-1])
        Ks = matrices(mix)
        costs = np.array([oracle.hard_cost(K, model.labels_, v) for K in Ks])
        multipliers = model.kernel_weights_ * model.kernel_factors_
        assert model.inertia_ == pytest.approx(multipliers @ costs, rel=1e-9)
        # The objective adds the penalty, in its absolute unit.
        v = np.ones(80) if v is None else v
        variances = [oracle.variance(K, v) for K in Ks]
        strength = 2.0 * v.sum() * np.mean(model.kernel_factors_ * variances)
        a = model.kernel_weights_
        penalty = strength * (a @ np.log(len(a) * a))
        assert penalty > 0
        assert model.objective_history_[-1] == pytest.approx(model.inertia_ + penalty, rel=1e-9)


def rows_of(shape, n, p, seed):
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((n, p))
    if shape == "blobs":
        rows[:, 0] += 10 * (np.arange(n) % 3)
    elif shape == "duplicates":
        rows = rows[rng.integers(0, max(8, n // 3), n)]
    elif shape == "outlier":
        rows[0] *= 100
    elif shape == "tiny":
        rows *= 1e-5
    return rows


@given(
    shape=st.sampled_from(["cloud", "blobs", "duplicates", "outlier", "tiny"]),
    kernels=st.sampled_from(
        [
            "neighbors",
            "widths",
            "du2015",
            ["rbf", "linear"],
            [("rbf", [0]), ("cosine", slice(1, None)), "poly"],
        ]
    ),
    strength=st.sampled_from([0, 0.1, 2, np.inf]),
    scaling=st.sampled_from(["unit-variance", "cosine", "min-max", None]),
    dtype=st.sampled_from(["float64", "float32"]),
    s0=st.sampled_from(["auto", -1.0, -6.0]),
    eta=st.sampled_from(["auto", 1.0, 1.04, 1.6]),
    weighted=st.booleans(),
    n=st.integers(10, 60),
    p=st.integers(2, 5),
    k=st.integers(1, 5),
    seed=st.integers(0, 10**6),
)
def test_no_step_raises_the_objective(
    shape, kernels, strength, scaling, dtype, s0, eta, weighted, n, p, k, seed
):
    rows = rows_of(shape, n, p, seed).astype(dtype)
    v = np.random.default_rng(seed).uniform(0.1, 4, n) if weighted else None
    model = MultiKernelPowerKMeans(
        k, kernels=kernels, entropy_weight=strength, kernel_scaling=scaling, s0=s0, eta=eta,
        init="random",
        n_init=2, max_iter=200, random_state=seed,
    )  # fmt: skip
    with warnings.catch_warnings():
        # Too few distinct rows, too few steps, a start above the critical power: not at issue.
        warnings.simplefilter("ignore")
        model.fit(rows, sample_weight=v)
    relative = 1e-10 if dtype == "float64" else 1e-5
    total = n if v is None else v.sum()
    for history, weights in zip(
        model.result_.objective_history, model.result_.kernel_weights_history, strict=True
    ):
        assert_allclose(weights.sum(axis=1), 1, rtol=1e-12)
        assert (weights >= 0).all()
        # The widest kernels of this family are nearly constant: a scale that makes their distances
        # large does so with the rounding of their values.
        enlarged = (weights @ model.kernel_factors_).max() if kernels == "du2015" else 0
        allowed = relative * history[0] + np.finfo(dtype).eps * total * enlarged
        assert np.isfinite(history).all()
        assert np.diff(history, append=history[-1]).max() <= allowed
    assert model.kernel_weights_.sum() == pytest.approx(1, rel=1e-12)


class TestForgetting:
    """The first steps of automatic powers, on rows whose critical power is far below -1."""

    ROWS = data.cloud(120, 8)
    GAMMAS = (0.1, 0.5)

    def make(self, **given):
        kernels = [{"kernel": "rbf", "gamma": gamma} for gamma in self.GAMMAS]
        return MultiKernelPowerKMeans(4, kernels=kernels, random_state=0, **given)

    @pytest.mark.parametrize("init", ["k-means++", "random"])
    @pytest.mark.parametrize("eta", ["auto", 1.04])
    def test_seeds_are_drawn_to_the_mean_before_annealing_starts(self, init, eta):
        model = self.make(init=init, eta=eta).fit(self.ROWS)
        start = 1.2 * model.critical_power_
        assert_allclose(model.power_history_[:3], [-1, -1, start], rtol=1e-12)
        assert start < -2

    @pytest.mark.parametrize(
        "given", [{"init": SEEDS}, {"s0": -2.5}, {"eta": 1.0}], ids=["start", "power", "constant"]
    )
    def test_what_the_user_asked_for_is_not_forgotten(self, given):
        model = self.make(**given).fit(self.ROWS)
        assert model.power_history_[0] < -1

    def test_little_is_left_of_seeds(self):
        Ks = [oracle.rbf(self.ROWS, self.ROWS, gamma) for gamma in self.GAMMAS]
        factors = unit_factors(Ks)
        spread = []
        for powers in ([], [-1, -1]):
            start = oracle.at_samples(SEEDS, len(self.ROWS))
            A = oracle.multi_run(Ks, start, powers, 2.0, factors, None, 1.8)[0]
            apart = A - A.mean(axis=0)
            spread.append(factors @ [np.trace(apart @ K @ apart.T) for K in Ks])
        assert spread[1] < 0.02 * spread[0]


@pytest.mark.slow
def test_default_runs_depend_less_on_seeds_than_plain_ones():
    default, plain = [], []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        y = rng.integers(0, 8, 240)
        # Clear clusters: how much a run costs over the best one says what its seeds did.
        views = [rng.standard_normal((8, 20))[y] + rng.standard_normal((240, 20)) for _ in range(3)]
        kernels = [("rbf", slice(20 * view, 20 * view + 20)) for view in range(3)]
        given = {"kernels": kernels, "init": "random", "n_init": 20, "random_state": seed}
        model = MultiKernelPowerKMeans(8, **given).fit(np.hstack(views))
        default.append(model.result_.cost)
        model.set_params(s0=1.2 * model.critical_power_, eta=1.04).fit(np.hstack(views))
        plain.append(model.result_.cost)
    best = np.minimum(np.min(default, axis=1), np.min(plain, axis=1))[:, None]
    gaps = [float(np.mean(costs / best - 1)) for costs in (default, plain)]
    assert gaps[0] < gaps[1] / 2


class TestOneKernel:
    #: The automatic ones of the two estimators are not the same.
    SCHEDULE: ClassVar = {"s0": -6.0, "eta": 1.06}
    GIVEN: ClassVar = {"gamma": 0.3, "init": SEEDS, "random_state": 0, **SCHEDULE}

    @pytest.mark.parametrize("copies", [1, 2, 5])
    @pytest.mark.parametrize("strength", [0, 0.1, 2.0, np.inf])
    def test_copies_of_one_kernel_give_what_it_gives(self, copies, strength):
        single = KernelPowerKMeans(4, kernel="rbf", **self.GIVEN).fit(X, sample_weight=WEIGHT)
        kernels = [{"kernel": "rbf", "gamma": 0.3}] * copies
        multi = MultiKernelPowerKMeans(
            4, kernels=kernels, entropy_weight=strength, init=SEEDS, random_state=0, **self.SCHEDULE
        ).fit(X, sample_weight=WEIGHT)
        assert_array_equal(multi.labels_, single.labels_)
        # In the end kernel weights are asked once more whether they follow the labels.
        assert multi.n_iter_ - single.n_iter_ == 2 * (copies > 1)
        assert multi.critical_power_ == pytest.approx(single.critical_power_, rel=1e-6)
        assert_allclose(multi.kernel_weights_, 1 / copies, rtol=1e-12)
        factor = 1 / oracle.variance(oracle.rbf(X, X, 0.3), WEIGHT)
        assert multi.inertia_ == pytest.approx(factor * single.inertia_, rel=1e-9)
        steps = len(single.objective_history_)
        history = multi.objective_history_[:steps]
        assert_allclose(history, factor * single.objective_history_, rtol=1e-8)

    @pytest.mark.parametrize("kernel", ["rbf", "linear", "cosine", "poly", "laplacian", poly])
    def test_a_single_kernel_of_any_kind_is_itself(self, kernel):
        given = {"init": SEEDS, "random_state": 0, **self.SCHEDULE}
        single = KernelPowerKMeans(4, kernel=kernel, **given).fit(X)
        multi = MultiKernelPowerKMeans(4, kernels=[kernel], kernel_scaling=None, **given).fit(X)
        assert_array_equal(multi.labels_, single.labels_)
        assert multi.n_iter_ == single.n_iter_
        assert multi.inertia_ == pytest.approx(single.inertia_, rel=1e-9)
        assert_array_equal(multi.kernel_weights_, [1.0])
        assert_array_equal(multi.kernel_factors_, [1.0])
        assert_allclose(multi.transform(NEW), single.transform(NEW), rtol=1e-7)
        assert_array_equal(multi.predict(NEW), single.predict(NEW))

    @pytest.mark.parametrize("init", ["k-means++", "random"])
    def test_it_draws_the_same_starts_too(self, init):
        given = {"init": init, "n_init": 3, "random_state": 5, **self.SCHEDULE}
        single = KernelPowerKMeans(4, kernel="rbf", gamma=0.3, **given).fit(X)
        multi = MultiKernelPowerKMeans(4, kernels=[{"kernel": "rbf", "gamma": 0.3}], **given).fit(X)
        assert_array_equal(multi.result_.labels, single.result_.labels)


class TestKernelWeights:
    @pytest.mark.parametrize("order", [[1, 0, 2, 3], [3, 2, 1, 0]])
    @pytest.mark.parametrize("scaling", ["unit-variance", "cosine", "min-max", None])
    def test_permuting_kernels_permutes_weights(self, order, scaling):
        kernels = MIXES["four"][0]
        one = make("four", init=SEEDS, kernel_scaling=scaling).fit(X)
        other = make(
            "four", kernels=[kernels[i] for i in order], init=SEEDS, kernel_scaling=scaling
        ).fit(X)
        assert_array_equal(other.labels_, one.labels_)
        assert_allclose(other.kernel_weights_, one.kernel_weights_[order], rtol=1e-8)
        assert_allclose(other.kernel_factors_, one.kernel_factors_[order], rtol=1e-12)
        assert np.ptp(one.kernel_weights_) > 1e-3

    @pytest.mark.parametrize("seed", range(3))
    def test_a_useless_kernel_counts_less(self, seed):
        rows, _ = data.blobs(120, 3, 4, seed)
        noise = np.random.default_rng(seed).standard_normal((120, 20))
        views = [("rbf", slice(0, 3)), ("rbf", slice(3, 23)), ("linear", [0, 1, 2])]
        model = MultiKernelPowerKMeans(4, kernels=views, random_state=0)
        weights = model.fit(np.hstack([rows, noise])).kernel_weights_
        assert weights[1] < 1 / 3 - 0.05
        assert weights[1] == weights.min()

    def test_without_entropy_one_kernel_is_left(self):
        model = make("four", entropy_weight=0).fit(X)
        assert sorted(model.kernel_weights_.tolist()) == [0, 0, 0, 1]
        # The one it is costs no more than any other with these clusters.
        costs = [oracle.hard_cost(K, model.labels_) for K in matrices("four")]
        scaled = model.kernel_factors_ * costs
        assert scaled[model.kernel_weights_.argmax()] == scaled.min()

    def test_infinite_entropy_keeps_weights_uniform(self):
        model = make("four", entropy_weight=np.inf, n_swaps=0).fit(X)
        assert_array_equal(model.kernel_weights_history_, np.full((model.n_iter_, 4), 0.25))
        assert_array_equal(model.kernel_weights_, np.full(4, 0.25))

    def test_more_entropy_brings_weights_nearer_to_uniform(self):
        spreads = [
            np.ptp(make("four", entropy_weight=strength).fit(X).kernel_weights_)
            for strength in (0.5, 2, 20, 1e4)
        ]
        assert spreads == sorted(spreads, reverse=True)
        assert 0 < spreads[-1] < 1e-4 < spreads[0]

    @mixes
    @pytest.mark.parametrize("given", [{}, {"eta": 1.04}], ids=["default", "numeric eta"])
    @pytest.mark.parametrize("v", [None, WEIGHT], ids=["equal", "weighted"])
    def test_in_the_end_they_are_the_best_ones_for_the_labels(self, mix, given, v):
        model = make(mix, init=SEEDS, entropy_weight=0.3, **given).fit(X, sample_weight=v)
        Ks = matrices(mix)
        costs = np.array([oracle.hard_cost(K, model.labels_, v) for K in Ks])
        strength = 0.3 * (80 if v is None else v.sum())  # at unit variance
        expected = oracle.entropy_weights(model.kernel_factors_ * costs, strength)
        assert_allclose(model.kernel_weights_, expected, rtol=1e-9)
        # Soft weights of the samples are not the labels, and want others.
        last_soft = np.flatnonzero(np.isfinite(model.power_history_))[-1] + 1
        assert np.abs(model.kernel_weights_history_[last_soft] - expected).max() > 1e-4

    @pytest.mark.parametrize("scaling", ["unit-variance", "cosine", "min-max"])
    @pytest.mark.parametrize("unit", [1e-6, 1e3])
    def test_the_unit_of_a_kernel_does_not_matter_where_it_is_scaled(self, scaling, unit):
        Ks = matrices("four")
        given = {"kernels": "precomputed", "kernel_scaling": scaling, "init": SEEDS}
        one = make("four", **given).fit(Ks)
        other = make("four", **given).fit(Ks * np.array([1, unit, 1, 1])[:, None, None])
        assert_array_equal(other.labels_, one.labels_)
        assert other.n_iter_ == one.n_iter_
        assert_allclose(other.kernel_weights_, one.kernel_weights_, rtol=1e-7)
        assert other.inertia_ == pytest.approx(one.inertia_, rel=1e-7)

    def test_the_unit_of_a_kernel_matters_where_it_is_not(self):
        Ks = matrices("rbf")
        given = {"kernel_scaling": None, "entropy_weight": 0.5, "init": SEEDS}
        given["kernels"] = "precomputed"
        one = make("rbf", **given).fit(Ks)
        other = make("rbf", **given).fit(Ks * np.array([1, 1000])[:, None, None])
        # The expensive kernel is left to the other.
        assert other.kernel_weights_[1] < 0.05 < 0.2 < one.kernel_weights_[1]

    @pytest.mark.parametrize("scaling", ["unit-variance", "cosine", "min-max", None])
    def test_a_common_unit_of_all_kernels_never_matters(self, scaling):
        Ks = matrices("rbf, linear")
        given = {"kernels": "precomputed", "kernel_scaling": scaling, "init": SEEDS}
        one, other = (make("rbf", **given).fit(unit * Ks) for unit in (1, 1e4))
        assert_array_equal(one.labels_, other.labels_)
        assert_allclose(one.kernel_weights_, other.kernel_weights_, rtol=1e-7)


class TestScaling:
    GIVEN: ClassVar = {"kernels": "precomputed", "init": SEEDS}

    def test_unit_variance_divides_by_the_trace_of_the_centred_matrix(self):
        Ks = matrices("four")
        model = make("four", **self.GIVEN).fit(Ks)
        expected = [80 / np.trace(oracle.centred(K)) for K in Ks]
        assert_allclose(model.kernel_factors_, expected, rtol=1e-9)

    def test_no_scaling_has_factors_of_one(self):
        for scaling in (None, "cosine"):
            model = make("four", kernel_scaling=scaling).fit(X)
            assert_array_equal(model.kernel_factors_, np.ones(4))

    def same(self, one, other):
        assert_array_equal(one.labels_, other.labels_)
        assert one.n_iter_ == other.n_iter_
        assert_allclose(one.kernel_weights_, other.kernel_weights_, rtol=1e-7)
        assert one.inertia_ == pytest.approx(other.inertia_, rel=1e-8)

    @pytest.mark.parametrize("by", ["rows", "matrices"])
    def test_cosine_is_the_matrix_divided_by_its_lengths(self, by):
        Ks = matrices("four")
        lengths = np.sqrt(np.stack([np.diagonal(K) for K in Ks]))
        cosines = Ks / lengths[:, :, None] / lengths[:, None]
        expected = make("four", kernel_scaling=None, **self.GIVEN).fit(cosines)
        given = {"kernel_scaling": "cosine", "init": SEEDS}
        if by == "rows":
            self.same(make("four", **given).fit(X), expected)
        else:
            self.same(make("four", kernels="precomputed", **given).fit(Ks), expected)

    @pytest.mark.parametrize("by", ["rows", "matrices"])
    def test_min_max_is_that_stretched_to_between_0_and_1(self, by):
        Ks = matrices("four")
        lengths = np.sqrt(np.stack([np.diagonal(K) for K in Ks]))
        stretched = Ks / lengths[:, :, None] / lengths[:, None]
        stretched -= stretched.min(axis=(1, 2), keepdims=True)
        stretched /= stretched.max(axis=(1, 2), keepdims=True)
        expected = make("four", kernel_scaling=None, **self.GIVEN).fit(stretched)
        given = {"kernel_scaling": "min-max", "init": SEEDS}
        if by == "rows":
            self.same(make("four", **given).fit(X), expected)
        else:
            self.same(make("four", kernels="precomputed", **given).fit(Ks), expected)

    @pytest.mark.filterwarnings("ignore:X. 1 of 80 rows are zero")
    @pytest.mark.parametrize("scaling", ["cosine", "min-max"])
    def test_a_row_without_length_stays_a_zero_vector(self, scaling):
        rows = np.abs(X)
        rows[5] = 0
        kernels = ["linear", {"kernel": "poly", "degree": 2, "gamma": 1.0, "coef0": 0}]
        model = make("four", kernels=kernels, kernel_scaling=scaling, init=SEEDS).fit(rows)
        assert np.isfinite(model.inertia_)
        assert_array_equal(model.labels_, model.predict(rows))
        G = cosine_similarity(rows)
        assert_allclose(
            model.transform(rows), naive_distances(model, np.stack([G, G**2])), atol=3e-6
        )


@pytest.mark.slow
def test_the_default_does_not_fall_for_a_trivial_view():
    assert MultiKernelPowerKMeans().entropy_weight == 2.0
    columns = [*(slice(i, i + 20) for i in range(0, 80, 20)), slice(80, 82)]
    found = {}
    for name, strength in {"default": 2.0, "uniform": np.inf, "greedy": 0.05}.items():
        scores = []
        # So many sets that the mean's standard error is below the bound.
        for seed in range(12):
            rows, y = data.views_with_a_trap(seed)
            model = MultiKernelPowerKMeans(
                5, kernels=[("rbf", c) for c in columns], entropy_weight=strength, random_state=0
            ).fit(rows)
            scores.append(normalized_mutual_info_score(y, model.labels_))
        found[name] = np.mean(scores)
    assert found["default"] >= found["uniform"] - 0.01
    # The view is a trap indeed: weights with little entropy fall for it.
    assert found["greedy"] < 0.2 < found["default"]


@pytest.mark.slow
class TestFitted:
    @pytest.mark.parametrize("kernels", ["widths", "du2015", *MIXES])
    @pytest.mark.parametrize("scaling", ["unit-variance", "cosine", "min-max", None])
    @pytest.mark.parametrize("dtype", ["float64", "float32"])
    def test_labels_and_cost_are_those_of_predict_and_score(self, kernels, scaling, dtype):
        rows = X.astype(dtype)
        kernels = MIXES[kernels][0] if kernels in MIXES else kernels
        model = make("rbf", kernels=kernels, kernel_scaling=scaling)
        model.fit(rows, sample_weight=WEIGHT)
        assert_array_equal(model.labels_, model.predict(rows))
        assert_array_equal(model.labels_, model.predict(rows.copy()))
        assert model.inertia_ == -model.score(rows, sample_weight=WEIGHT)

    @pytest.mark.parametrize("cache_kernel", [True, False])
    def test_over_several_blocks_too(self, cache_kernel):
        rows = data.cloud(1100, 3)
        model = make("rbf, linear", eta=1.6, cache_kernel=cache_kernel).fit(rows)
        assert_array_equal(model.labels_, model.predict(rows))
        assert model.inertia_ == -model.score(rows)

    @mixes
    @pytest.mark.parametrize("scaling", ["unit-variance", None])
    def test_distances_are_those_of_the_equations(self, mix, scaling):
        model = make(mix, kernel_scaling=scaling).fit(X)
        assert np.isneginf(model.power_history_[-1])
        Ks = matrices(mix)
        for rows in (X, NEW):
            own = np.stack([np.diagonal(K) for K in matrices(mix, rows, rows)])
            expected = naive_distances(model, Ks, matrices(mix, rows, X), own)
            got = model.transform(rows)
            assert_allclose(got, expected, atol=3e-6, rtol=1e-7)
            assert_array_equal(model.predict(rows), got.argmin(axis=1))
            assert model.score(rows) == pytest.approx(-(expected.min(axis=1) ** 2).sum(), rel=1e-6)

    @pytest.mark.parametrize("scaling", ["cosine", "min-max"])
    def test_normalized_kernels_too(self, scaling):
        model = make("four", kernel_scaling=scaling).fit(X)
        cosines = []
        for rows in (X, NEW):
            lengths = [np.sqrt(np.diagonal(K)) for K in matrices("four", X, X)]
            own = [np.sqrt(np.diagonal(K)) for K in matrices("four", rows, rows)]
            parts = zip(matrices("four", rows, X), own, lengths, strict=True)
            cosines.append(np.stack([K / o[:, None] / c for K, o, c in parts]))
            expected = naive_distances(model, cosines[0], cosines[-1], np.ones((4, len(rows))))
            assert_allclose(model.transform(rows), expected, atol=3e-6, rtol=1e-7)

    @mixes
    def test_the_combined_kernel_is_the_weighted_sum(self, mix):
        model = make(mix).fit(X)
        multipliers = model.kernel_weights_ * model.kernel_factors_
        expected = np.tensordot(multipliers, matrices(mix, NEW, X), axes=1)
        assert_allclose(model.kernel_(NEW, X), expected, rtol=1e-9, atol=1e-12)

    def test_shapes_and_types(self):
        model = make("four", n_init=3, n_swaps=0).fit(X)
        assert model.labels_.shape == (80,)
        assert np.issubdtype(model.labels_.dtype, np.integer)
        assert isinstance(model.inertia_, float)
        assert isinstance(model.n_iter_, int)
        assert isinstance(model.critical_power_, float)
        assert model.kernel_weights_.shape == model.kernel_factors_.shape == (4,)
        assert model.kernel_weights_history_.shape == (model.n_iter_, 4)
        assert model.objective_history_.shape == model.power_history_.shape == (model.n_iter_,)
        assert model.n_features_in_ == 3
        assert_allclose(model.memberships_.sum(axis=1), 1, rtol=1e-12)
        assert_array_equal(model.kernel_weights_history_[0], np.full(4, 0.25))

    @pytest.mark.parametrize("mix", ["four", "linear"])
    @pytest.mark.parametrize("scaling", ["unit-variance", "min-max"])
    def test_single_precision_stays_single(self, mix, scaling):
        double = make(mix, init=SEEDS, kernel_scaling=scaling).fit(X)
        model = make(mix, init=SEEDS, kernel_scaling=scaling).fit(X.astype(np.float32))
        assert model.memberships_.dtype == np.float32
        assert model.transform(NEW).dtype == np.float32
        assert_array_equal(model.predict(NEW), model.predict(NEW.astype(np.float32)))
        assert_allclose(model.kernel_factors_, double.kernel_factors_, rtol=1e-4)
        assert_allclose(model.objective_history_[0], double.objective_history_[0], rtol=1e-4)

    def test_fit_predict_and_fit_transform(self):
        model = make("four").fit(X)
        assert_array_equal(make("four").fit_predict(X), model.labels_)
        assert_array_equal(make("four").fit_transform(X), model.transform(X))

    def test_input_and_parameters_are_left_as_they_were(self):
        rows, weight = X.copy(), WEIGHT.copy()
        model = make("four", kernel_scaling="cosine")
        before = clone(model).get_params()
        model.fit(rows, sample_weight=weight)
        model.predict(rows)
        model.transform(rows)
        assert_array_equal(rows, X)
        assert_array_equal(weight, WEIGHT)
        assert repr(model.get_params()) == repr(before)

    def test_a_model_does_not_change_with_the_array_it_was_fitted_to(self):
        rows = X.copy()
        model = make("four").fit(rows)
        before = model.transform(NEW)
        rows[:] = 0
        assert_array_equal(model.transform(NEW), before)

    @pytest.mark.parametrize("kernels", ["widths", *MIXES])
    @pytest.mark.parametrize("way", ["pickle", "joblib"])
    def test_copies_answer_the_same(self, kernels, way):
        if kernels in MIXES:
            kernels = MIXES[kernels][0]
        model = make("rbf", kernels=kernels).fit(X)
        if way == "pickle":
            other = pickle.loads(pickle.dumps(model))
        else:
            file = io.BytesIO()
            joblib.dump(model, file)
            file.seek(0)
            other = joblib.load(file)
        assert_array_equal(other.predict(NEW), model.predict(NEW))
        assert_array_equal(other.transform(NEW), model.transform(NEW))
        assert other.score(X) == model.score(X)

    def test_a_fitted_model_holds_no_kernel_matrix_and_the_rows_once(self):
        rows = data.cloud(600, 10)
        model = make("rbf", kernels="widths", eta=1.6).fit(rows)
        # The rows, and for each kernel coefficients and means: a few numbers per row and cluster.
        assert len(pickle.dumps(model)) < 600 * 8 * (2 * 10 + 5 * 3 * 4) + 50_000
        assert len(pickle.dumps(model)) < 0.5 * 600 * 600 * 8

    def test_clones_are_not_fitted(self):
        model = make("four", n_init=2, n_swaps="auto", entropy_weight=0.5).fit(X)
        other = clone(model)
        with pytest.raises(NotFittedError):
            other.predict(X)
        assert_array_equal(other.fit(X).labels_, model.labels_)

    @pytest.mark.parametrize("method", ["predict", "transform", "score"])
    def test_nothing_is_answered_before_a_fit(self, method):
        with pytest.raises(NotFittedError, match="This MultiKernelPowerKMeans instance is not"):
            getattr(MultiKernelPowerKMeans(), method)(X)


class TestSampleWeights:
    def compare(self, one, other, rows=slice(None)):
        assert_array_equal(one.labels_[rows], other.labels_)
        assert one.inertia_ == pytest.approx(other.inertia_, rel=1e-9)
        assert_allclose(one.kernel_weights_, other.kernel_weights_, rtol=1e-7)
        assert_allclose(one.kernel_factors_, other.kernel_factors_, rtol=1e-9)
        steps = min(one.n_iter_, other.n_iter_)
        assert max(one.n_iter_, other.n_iter_) <= steps + 1
        assert_allclose(one.objective_history_[:steps], other.objective_history_[:steps], rtol=1e-7)

    @mixes
    def test_weight_two_is_the_row_twice(self, mix):
        weight = np.random.default_rng(0).integers(1, 4, 80)
        twice = np.concatenate([X, np.repeat(X, weight - 1, axis=0)])
        # Swap moves draw samples by their number.
        given = {"init": SEEDS, "s0": -4.0, "n_swaps": 0}
        weighted = make(mix, **given).fit(X, sample_weight=weight)
        self.compare(make(mix, **given).fit(twice), weighted, slice(80))

    @mixes
    def test_weight_zero_is_no_row(self, mix):
        weight = np.random.default_rng(0).integers(0, 3, 80).astype(float)
        weight[SEEDS] = 1
        kept = np.flatnonzero(weight)
        whole = make(mix, init=SEEDS, s0=-4.0).fit(X, sample_weight=weight)
        part = make(mix, init=np.searchsorted(kept, SEEDS), s0=-4.0)
        part.fit(X[kept], sample_weight=weight[kept])
        self.compare(whole, part, kept)
        assert_array_equal(part.predict(X), whole.labels_)

    @pytest.mark.parametrize("unit", [1e-9, 7, 1e9])
    def test_their_unit_changes_no_label(self, unit):
        one, other = (
            make("four", init=SEEDS, s0=-4.0).fit(X, sample_weight=w)
            for w in (WEIGHT, unit * WEIGHT)
        )
        assert_array_equal(one.labels_, other.labels_)
        assert_allclose(one.kernel_weights_, other.kernel_weights_, rtol=1e-7)
        assert other.inertia_ == pytest.approx(unit * one.inertia_, rel=1e-7)

    def test_equal_weights_are_no_weights(self):
        plain = make("four", init=SEEDS).fit(X)
        for weight in (np.ones(80), 1):
            self.compare(make("four", init=SEEDS).fit(X, sample_weight=weight), plain)


class TestRestarts:
    @pytest.mark.parametrize("strength", [0.1, 2.0])
    def test_each_has_weights_of_its_own_and_the_cheapest_is_kept(self, strength):
        model = make("four", 6, init="random", n_init=6, entropy_weight=strength).fit(X)
        result = model.result_
        assert result.kernel_weights.shape == (6, 4)
        assert_allclose(result.kernel_weights.sum(axis=1), 1, rtol=1e-12)
        assert len(np.unique(result.kernel_weights[:, 0].round(9))) > 1
        assert result.best == result.cost.argmin()
        assert_array_equal(model.labels_, result.labels[result.best])
        assert_array_equal(model.kernel_weights_, result.kernel_weights[result.best])
        Ks = matrices("four")
        strength = (
            strength
            * 80
            * np.mean(
                [f * oracle.variance(K) for f, K in zip(model.kernel_factors_, Ks, strict=True)]
            )
        )
        for labels, a, cost, inertia in zip(
            result.labels, result.kernel_weights, result.cost, result.inertia, strict=True
        ):
            data_term = (a * model.kernel_factors_) @ [oracle.hard_cost(K, labels) for K in Ks]
            assert inertia == pytest.approx(data_term, rel=1e-8)
            penalty = strength * np.sum(a * np.log(4 * np.where(a > 0, a, 1)))
            assert cost == pytest.approx(data_term + penalty, rel=1e-8)

    def test_the_penalty_decides_between_them(self):
        # Two starts of which each leads to its own kernel: costs alone cannot be compared.
        for seed in range(20):
            rows = data.cloud(60, 4, seed)
            views = [("rbf", [0, 1]), ("rbf", [2, 3])]
            # Fast enough to leave them apart.
            model = MultiKernelPowerKMeans(
                3, kernels=views, entropy_weight=0.3, s0=-4.0, eta=1.5, init="random", n_init=8,
                random_state=seed,
            ).fit(rows)  # fmt: skip
            result = model.result_
            if result.cost.argmin() != result.inertia.argmin():
                assert result.best == result.cost.argmin()
                assert model.inertia_ > result.inertia.min()
                return
        pytest.fail("no data on which the penalty decides")

    def test_one_alone_does_what_it_does_among_others(self):
        table = np.random.default_rng(0).choice(80, (5, 4), replace=False)
        together = make("four", init=table).fit(X)
        for index, seeds in enumerate(table):
            alone = make("four", init=seeds).fit(X)
            assert_array_equal(together.result_.labels[index], alone.labels_)
            assert_allclose(
                together.result_.kernel_weights[index], alone.kernel_weights_, rtol=1e-6
            )

    def test_batches_limited_by_memory_give_the_same_answers(self):
        large, small = (
            make("rbf", init="random", n_init=6, memory_budget=budget).fit(X)
            for budget in ("1GB", 140_000)
        )
        assert_array_equal(small.result_.labels, large.result_.labels)
        assert_allclose(small.result_.cost, large.result_.cost, rtol=1e-9)
        assert_allclose(small.result_.kernel_weights, large.result_.kernel_weights, rtol=1e-7)
        assert_array_equal(small.labels_, large.labels_)
        assert_array_equal(small.labels_, small.predict(X))

    def test_the_seed_decides(self):
        first, again, other = (
            make("four", init="random", n_init=3, random_state=seed).fit(X) for seed in (1, 1, 2)
        )
        assert_array_equal(first.result_.labels, again.result_.labels)
        assert_array_equal(first.kernel_weights_, again.kernel_weights_)
        assert first.inertia_ == again.inertia_
        assert (first.result_.n_iter != other.result_.n_iter).any()


class TestStarts:
    @pytest.mark.parametrize("mix", ["rbf, linear", "linear", "four"])
    def test_coordinates_of_rows_are_their_indices(self, mix):
        at_indices = make(mix, init=SEEDS).fit(X)
        at_rows = make(mix, init=X[SEEDS]).fit(X)
        assert_array_equal(at_rows.labels_, at_indices.labels_)
        assert_allclose(at_rows.objective_history_, at_indices.objective_history_, rtol=1e-8)

    @pytest.mark.parametrize("mix", ["rbf, linear", "linear"])
    @pytest.mark.parametrize("precomputed", [False, True])
    def test_weights(self, mix, precomputed):
        W = np.random.default_rng(1).uniform(0, 1, (80, 4)) ** 3
        Ks = matrices(mix)
        factors = unit_factors(Ks)
        given = {"init": W, "s0": S0, "eta": 1.0, "max_iter": 4, "tol": 0}
        if precomputed:
            given["kernels"] = "precomputed"
        model = make(mix, **given)
        with pytest.warns(ConvergenceWarning):
            model.fit(Ks if precomputed else X)
        start = (W / W.sum(axis=0)).T
        _, a, objectives, _ = oracle.multi_run(Ks, start, [S0] * 4, 2.0, factors)
        assert_allclose(model.objective_history_, objectives, rtol=1e-8)
        assert_allclose(model.kernel_weights_, a, rtol=1e-7)

    @pytest.mark.parametrize(
        "form", [lambda: SEEDS, lambda: X[SEEDS], lambda: np.eye(80)[:, SEEDS]]
    )
    def test_callables_return_any_of_these(self, form):
        calls = []

        def init(rows, n_clusters, random_state):
            calls.append((rows.shape, n_clusters))
            return form()

        model = make("four", init=init, n_init=2).fit(X)
        assert calls == [((80, 3), 4)] * 2
        expected = make("four", init=SEEDS).fit(X)
        assert_array_equal(model.labels_, expected.labels_)

    @pytest.mark.parametrize(("init", "restarts"), [("random", 10), ("k-means++", 1)])
    def test_automatic_number(self, init, restarts):
        assert len(make("rbf", init=init).fit(X).result_.cost) == restarts


@pytest.mark.slow
class TestMemory:
    @mixes
    def test_recomputed_rows_give_the_labels_of_cached_matrices(self, mix):
        cached = make(mix).fit(X, sample_weight=WEIGHT)
        recomputed = make(mix, cache_kernel=False).fit(X, sample_weight=WEIGHT)
        assert_array_equal(recomputed.labels_, cached.labels_)
        assert recomputed.inertia_ == pytest.approx(cached.inertia_, rel=1e-9)
        assert_allclose(recomputed.kernel_weights_, cached.kernel_weights_, rtol=1e-7)

    @pytest.mark.parametrize("scaling", ["cosine", "min-max"])
    def test_normalized_ones_too(self, scaling):
        given = {"kernels": "du2015", "kernel_scaling": scaling, "init": SEEDS}
        cached, recomputed = (
            make("rbf", cache_kernel=cached, **given).fit(X) for cached in (True, False)
        )
        assert_array_equal(recomputed.labels_, cached.labels_)
        assert_allclose(recomputed.kernel_weights_, cached.kernel_weights_, rtol=1e-7)


@pytest.mark.slow
class TestRefinement:
    @pytest.mark.parametrize("seed", range(3))
    @pytest.mark.parametrize("mix", ["rbf, linear", "linear"])
    def test_costs_never_rise_and_kernel_weights_stay(self, mix, seed):
        rows = data.cloud(120, 3, seed)
        plain = make(mix, 6).fit(rows)
        model = make(mix, 6, n_swaps="auto").fit(rows)
        assert_array_equal(model.kernel_weights_, plain.kernel_weights_)
        assert model.inertia_ <= plain.inertia_ * (1 + 1e-12)
        assert_array_equal(model.labels_, model.predict(rows))
        assert model.inertia_ == -model.score(rows)
        Ks = matrices(mix, rows, rows)
        costs = [oracle.hard_cost(K, model.labels_) for K in Ks]
        multipliers = model.kernel_weights_ * model.kernel_factors_
        assert model.inertia_ == pytest.approx(multipliers @ costs, rel=1e-9)

    def test_it_finds_a_lower_cost_somewhere(self):
        gains = []
        for seed in range(4):
            rows = data.cloud(120, 3, seed)
            plain, model = (make("linear", 8, n_swaps=n).fit(rows) for n in (0, "auto"))
            gains.append(plain.inertia_ - model.inertia_)
            history = model.objective_history_
            assert (np.diff(history) <= 1e-10 * history[0]).all()
            assert history[-1] == pytest.approx(model.result_.cost[model.result_.best], rel=1e-9)
        assert max(gains) > 1e-3 * model.inertia_

    def test_moves_that_are_kept_appear_in_all_histories(self):
        rows = data.cloud(120, 3)
        plain, model = (make("linear", 8, n_swaps=n).fit(rows) for n in (0, "auto"))
        assert model.inertia_ < plain.inertia_
        steps = len(model.objective_history_)
        assert steps > plain.n_iter_
        assert len(model.power_history_) == steps
        assert len(model.kernel_weights_history_) == steps
        assert_array_equal(model.kernel_weights_history_[-1], model.kernel_weights_)


@pytest.mark.parametrize("mix", ["rbf, linear", "four"])
def test_labels_do_not_depend_on_the_number_of_threads(mix):
    rows = data.cloud(900, 3)
    models = []
    for count in (1, 2):
        with threadpool_limits(count):
            models.append(make(mix, eta=1.3).fit(rows))
    assert_array_equal(models[0].labels_, models[1].labels_)
    assert_allclose(models[0].kernel_weights_, models[1].kernel_weights_, rtol=1e-9)


@pytest.mark.parametrize("kernels", ["widths", "du2015"])
@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_array], ids=["dense", "csr"])
def test_families_are_their_kernels_one_by_one(kernels, form):
    rows = np.where(X > 0, X, 0)
    model = make("rbf", kernels=kernels, init=SEEDS).fit(form(rows))
    squared = ((rows[:, None] - rows) ** 2).sum(-1)
    if kernels == "widths":
        sigma = np.sqrt(squared.sum() / (80 * 79))
        Ks = [np.exp(-squared / (2 * (m * sigma) ** 2)) for m in (0.25, 0.5, 1, 2, 4)]
    else:
        widths = (0.01, 0.05, 0.1, 1, 10, 50, 100)
        Ks = [np.exp(-squared / (2 * t**2 * squared.max())) for t in widths]
        G = rows @ rows.T
        Ks += [G**2, G**4, (1 + G) ** 2, (1 + G) ** 4, G]
        lengths = [np.sqrt(np.diagonal(K)) for K in Ks]
        lengths = [np.where(own > 0, own, 1) for own in lengths]
        Ks = [K / own[:, None] / own for K, own in zip(Ks, lengths, strict=True)]
    expected = make("rbf", kernels="precomputed", init=SEEDS).fit(np.stack(Ks))
    assert model.kernel_weights_.shape == (len(Ks),)
    assert_allclose(model.kernel_weights_, expected.kernel_weights_, rtol=1e-6)
    assert_array_equal(model.labels_, expected.labels_)
    assert model.inertia_ == pytest.approx(expected.inertia_, rel=1e-7)


@pytest.mark.parametrize("scaling", ["unit-variance", "cosine", "min-max", None])
def test_weight_zero_is_no_row_under_any_scaling(scaling):
    weight = np.random.default_rng(0).integers(0, 3, len(X)).astype(float)
    weight[SEEDS] = 1
    kept = np.flatnonzero(weight)
    kernels = [
        {"kernel": "rbf", "gamma": 0.3},
        {"kernel": "poly", "gamma": 0.2, "degree": 2},
        "linear",
    ]
    given = {"kernels": kernels, "kernel_scaling": scaling, "s0": -5.0, "random_state": 0}
    whole = MultiKernelPowerKMeans(4, init=SEEDS, **given).fit(X, sample_weight=weight)
    part = MultiKernelPowerKMeans(4, init=np.searchsorted(kept, SEEDS), **given)
    part.fit(X[kept], sample_weight=weight[kept])
    assert_allclose(whole.kernel_factors_, part.kernel_factors_, rtol=1e-9)
    assert_allclose(whole.kernel_weights_, part.kernel_weights_, rtol=1e-6)
    assert_array_equal(whole.labels_[kept], part.labels_)


@pytest.mark.slow
def test_recomputed_rows_of_several_kernels_leave_room_for_restarts(monkeypatch):
    batches = []
    solve = base.solve
    monkeypatch.setattr(
        base,
        "solve",
        lambda space, start, *rest: batches.append(start.shape[1]) or solve(space, start, *rest),
    )
    rows = data.cloud(300, 4)
    model = MultiKernelPowerKMeans(
        3, kernels="du2015", cache_kernel=False, memory_budget="200MB", n_init=4, eta=2.0,
        random_state=0,
    )  # fmt: skip
    model.fit(rows)
    assert batches == [4]


def test_the_model_holds_training_rows_and_centroids_once():
    rows = data.cloud(400, 30)
    sizes = [
        len(pickle.dumps(MultiKernelPowerKMeans(3, kernels=kernels, random_state=0).fit(rows)))
        for kernels in (["rbf"], ["rbf"] * 6)
    ]
    assert sizes[1] - sizes[0] < rows.nbytes


def test_all_kernels_are_listed_beside_their_weights():
    rows = np.column_stack([np.ones(len(X)), X])
    kernels = [("rbf", [0]), {"kernel": "rbf", "gamma": 0.7}]
    with pytest.warns(UserWarning, match="Constant on these data"):
        model = MultiKernelPowerKMeans(3, kernels=kernels, random_state=0).fit(rows)
    assert len(model.kernels_) == len(model.kernel_weights_) == 2
    assert model.kernels_[1].parameters == {"gamma": 0.7}
    assert model.kernel_.kernels == model.kernels_[1:]
