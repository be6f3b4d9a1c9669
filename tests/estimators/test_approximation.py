"""Estimators with landmarks or random features in place of the kernel matrix."""

import copy
import pickle
import time
import warnings
from typing import ClassVar

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

import data
import oracle
from kernelmeans import KernelKMeans, KernelPowerKMeans, MultiKernelPowerKMeans
from kernelmeans.estimators import holder, plan
from kernelmeans.estimators.kernels import resolve_kernel
from kernelmeans.kernels import Kernel
from kernelmeans.lowrank import sampling
from kernelmeans.spaces import stream

pytestmark = pytest.mark.slow

X = data.cloud(200, 3)
NEW = data.cloud(40, 3, seed=1)
WEIGHT = np.random.default_rng(0).uniform(0.1, 3, 200)


def overlap(A, B):
    """Semi-definite, of rank ten on three columns."""
    return np.asarray((A @ B.T + 0.5) ** 2)


#: Kernels as the estimators take them.
KERNELS = {
    "rbf": {"kernel": "rbf"},
    "laplacian": {"kernel": "laplacian"},
    "geodesic": {"kernel": "geodesic"},
    "poly": {"kernel": "poly", "degree": 2},
    "callable": {"kernel": overlap},
    "precomputed": {"kernel": "precomputed"},
}
METHODS = ("landmarks", "rpcholesky", "rff")
#: What goes together.
PAIRS = [
    (method, name)
    for method in METHODS
    for name in KERNELS
    if not (method == "landmarks" and name == "precomputed")
    and not (method == "rff" and name not in ("rbf", "laplacian"))
]
pairs = pytest.mark.parametrize(("method", "name"), PAIRS)
methods = pytest.mark.parametrize("method", METHODS)
quiet = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def dense(name, A, B, rows, weight=None):
    """The kernel between two matrices, with the parameters that weighted training rows settle."""
    if name == "precomputed":
        return oracle.rbf(A, B, 0.2)
    if name == "callable":
        return overlap(A, B)
    return resolve_kernel(X=rows, sample_weight=weight, random_state=0, **KERNELS[name])(A, B)


def fed(name, rows, training):
    return dense(name, rows, training, training) if name == "precomputed" else rows


def make(method, name="rbf", k=4, estimator=KernelPowerKMeans, **given):
    parameters = {"n_components": 25, "n_swaps": 0, "random_state": 0, **KERNELS[name], **given}
    return estimator(k, approximation=method, **parameters)


#: Two views, and kernels of all columns that have to be scaled.
MIX = [("rbf", slice(0, 2)), {"kernel": "poly", "degree": 2, "gamma": 1.0}, "linear"]


def make_multi(method, k=4, **given):
    parameters = {"kernels": MIX, "n_components": 25, "n_swaps": 0, "random_state": 0, **given}
    return MultiKernelPowerKMeans(k, approximation=method, **parameters)


class TestCertificate:
    @staticmethod
    def assert_bounds(model, K, weight):
        some = weight > 0
        cost = oracle.hard_cost(K[np.ix_(some, some)], model.labels_[some], weight[some])
        low, high = model.inertia_bounds_
        slack = 1e-8 * (weight @ np.diagonal(K))
        assert 0 <= low <= high
        assert low - slack <= cost <= high + slack

    @settings(max_examples=60)
    @given(
        pair=st.sampled_from([pair for pair in PAIRS if pair[0] != "rff"]),
        components=st.one_of(st.integers(1, 40), st.sampled_from([0.3, 0.8, 0.99])),
        seed=st.integers(0, 10**6),
        k=st.integers(1, 6),
        weighted=st.booleans(),
        given=st.sampled_from(
            [
                {},
                {"eta": 1, "max_iter": 3},
                {"eta": 1, "s0": -2.0, "max_iter": 40},
                {"max_iter": 2},
                {"init": "random", "n_init": 2, "eta": 1.5},
                {"n_swaps": 5, "eta": 1.5},
            ]
        ),
    )
    def test_the_true_cost_of_the_labels_is_within_the_bounds(
        self, pair, components, seed, k, weighted, given
    ):
        method, name = pair
        rows = data.cloud(60, 3, seed)
        weight = np.random.default_rng(seed).choice([0, 0.5, 1, 4], 60) if weighted else np.ones(60)
        weight[:10] = 1
        K = dense(name, rows, rows, rows, weight)
        model = make(method, name, k, n_components=components, **given)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", (ConvergenceWarning, UserWarning))
            model.fit(fed(name, rows, rows), sample_weight=weight)
        self.assert_bounds(model, K, weight)
        left_out = np.diff(model.inertia_bounds_).item()
        if model.inertia_bounds_[0] > 0:
            share = left_out / (weight @ np.diagonal(K))
            # The geodesic kernel knows its own diagonal to half the digits.
            assert model.approximation_error_ == pytest.approx(share, abs=1e-7)

    @settings(max_examples=25)
    @given(
        method=st.sampled_from(["landmarks", "rpcholesky"]),
        components=st.one_of(st.integers(1, 40), st.sampled_from([0.5, 0.95])),
        seed=st.integers(0, 10**6),
        strength=st.sampled_from([0.3, 2.0, np.inf]),
        given=st.sampled_from([{}, {"max_iter": 3}, {"eta": 1, "max_iter": 20}]),
    )
    def test_of_several_kernels_too(self, method, components, seed, strength, given):
        rows = data.cloud(60, 3, seed)
        weight = np.random.default_rng(seed).uniform(0.2, 2, 60)
        model = make_multi(method, 3, n_components=components, entropy_weight=strength, **given)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", (ConvergenceWarning, UserWarning))
            model.fit(rows, sample_weight=weight)
        gamma = resolve_kernel("rbf", rows[:, :2], sample_weight=weight).parameters["gamma"]
        Ks = [oracle.rbf(*[rows[:, :2]] * 2, gamma), (rows @ rows.T + 1) ** 2, rows @ rows.T]
        multipliers = model.kernel_weights_ * model.kernel_factors_
        K = np.einsum("l,lij->ij", multipliers, Ks)
        self.assert_bounds(model, K, weight)
        share = np.diff(model.inertia_bounds_).item() / (weight @ np.diagonal(K))
        if model.inertia_bounds_[0] > 0:
            assert model.approximation_error_ == pytest.approx(share, abs=1e-9)

    @pytest.mark.parametrize("name", [name for _, name in PAIRS if _ == "rpcholesky"])
    def test_the_error_is_the_share_of_the_trace_that_landmarks_do_not_span(self, name):
        count = 6
        model = make("rpcholesky", name, n_components=count).fit(
            fed(name, X, X), sample_weight=WEIGHT
        )
        places = model._predictor.features.landmarks
        if name != "precomputed":
            places = [int(np.flatnonzero((row == X).all(axis=1))[0]) for row in places]
        K = dense(name, X, X, X, WEIGHT)
        own = np.linalg.inv(K[np.ix_(places, places)])
        left_out = WEIGHT @ np.diagonal(K - K[:, places] @ own @ K[places])
        expected = left_out / (WEIGHT @ np.diagonal(K))
        assert model.approximation_error_ == pytest.approx(expected, rel=1e-8)
        assert expected > 0.05

    def test_a_converged_fit_costs_the_upper_bound(self):
        for method in ("landmarks", "rpcholesky"):
            model = make(method).fit(X, sample_weight=WEIGHT)
            assert model.inertia_ == pytest.approx(model.inertia_bounds_[1], rel=1e-9)

    def test_exact_fits_have_no_error(self):
        for model in (
            KernelPowerKMeans(4, kernel="rbf", random_state=0).fit(X),
            KernelPowerKMeans(4, kernel="rbf", cache_kernel=False, random_state=0).fit(X),
            KernelPowerKMeans(4, kernel="linear", approximation="landmarks", random_state=0).fit(X),
            MultiKernelPowerKMeans(4, kernels=MIX, random_state=0).fit(X),
        ):
            assert model.approximation_error_ == 0
            assert model.inertia_bounds_ == (model.inertia_, model.inertia_)

    def test_random_features_have_none(self):
        for model in (make("rff").fit(X), make_multi("rff", kernels=["rbf", "linear"]).fit(X)):
            assert model.approximation_error_ is None
            assert model.inertia_bounds_ is None

    @pytest.mark.parametrize("name", ["sigmoid", "precomputed"])
    def test_none_is_given_for_a_kernel_that_is_seen_to_be_indefinite(self, name):
        rows = X
        if name == "precomputed":
            vectors = np.linalg.qr(data.cloud(200, 200))[0]
            rows = vectors * np.linspace(-2, 10, 200) @ vectors.T
        model = KernelPowerKMeans(
            3, kernel=name, approximation="rpcholesky", n_components=60, random_state=0
        )
        with pytest.warns(UserWarning, match="not positive semi-definite"):
            model.fit(rows)
        assert model.approximation_error_ is None
        assert model.inertia_bounds_ is None
        best = model.result_.best
        assert model.result_.inertia[best] == pytest.approx(model.inertia_, rel=1e-6)


class TestConsistency:
    @staticmethod
    def assert_consistent(model, rows, weight=None):
        assert_array_equal(model.predict(rows), model.labels_)
        assert model.inertia_ == -model.score(rows, sample_weight=weight)
        d = model.transform(rows)
        assert_array_equal(d.argmin(axis=1), model.labels_)
        # The square of a rounded root.
        weight = np.ones(len(d)) if weight is None else weight
        assert model.inertia_ == pytest.approx(weight @ d.min(axis=1).astype(float) ** 2, rel=1e-5)
        best = model.result_.best
        assert_array_equal(model.result_.labels[best], model.labels_)
        assert model.result_.inertia[best] == pytest.approx(model.inertia_, rel=1e-4)

    @pairs
    @pytest.mark.parametrize("dtype", ["float64", "float32"])
    @pytest.mark.parametrize("estimator", [KernelPowerKMeans, KernelKMeans])
    def test_labels_and_cost_are_those_of_predict_and_score(self, method, name, dtype, estimator):
        rows = fed(name, X, X).astype(dtype)
        weight = WEIGHT.astype(dtype)
        model = make(method, name, estimator=estimator).fit(rows, sample_weight=weight)
        self.assert_consistent(model, rows, weight)
        assert model.transform(rows).dtype == dtype

    @pairs
    def test_distances_are_those_of_the_equations(self, method, name):
        """From the kernel of the approximation, as a dense matrix, and what it leaves out."""
        model = make(method, name).fit(fed(name, X, X), sample_weight=WEIGHT)
        features = model._predictor.features
        K = dense(name, *[np.vstack([X, NEW])] * 2, X, WEIGHT)
        if method == "rff":
            angles = np.vstack([X, NEW]) @ features.frequencies
            near = np.cos(angles[:, None] - angles).mean(axis=-1)
        else:
            places = features.landmarks
            places = X[places] if name == "precomputed" else places
            across = dense(name, np.vstack([X, NEW]), places, X, WEIGHT)
            own = dense(name, places, places, X, WEIGHT)
            own = np.linalg.pinv(own, hermitian=True, rcond=1e-12)
            near = across @ own @ across.T
        near[np.diag_indices(240)] = 1 if method == "rff" else np.diagonal(K)
        A = np.stack([WEIGHT * (model.labels_ == j) for j in range(4)])
        A /= A.sum(axis=1, keepdims=True)
        norms = np.diagonal(near)
        # Centroids are means in the approximation, which has no diagonal of its own.
        gram = near[:200, :200].copy()
        if method != "rff":
            gram[np.diag_indices(200)] = np.vecdot(across[:200] @ own, across[:200])
        centroid_norms = np.diagonal(A @ gram @ A.T)
        products = near[:, :200] @ A.T
        products[:200] += (np.diagonal(gram) - norms[:200])[:, None] * A.T
        squared = norms[:, None] - 2 * products + centroid_norms
        assert_allclose(model.transform(fed(name, X, X)) ** 2, squared[:200], atol=1e-7, rtol=1e-7)
        if name != "precomputed":
            assert_allclose(model.transform(NEW) ** 2, squared[200:], atol=1e-7, rtol=1e-7)
        assert_array_equal(model.predict(fed(name, NEW, X)), squared[200:].argmin(axis=1))

    @methods
    @pytest.mark.parametrize("scaling", ["unit-variance", "cosine", "min-max", None])
    @pytest.mark.parametrize("dtype", ["float64", "float32"])
    def test_of_several_kernels(self, method, scaling, dtype):
        kernels = ["rbf", "laplacian", ("linear", [0, 1])] if method == "rff" else MIX
        # Rows of very different lengths: what is not normalized is seen.
        rows = (X * np.linspace(0.1, 3, 200)[:, None]).astype(dtype)
        model = make_multi(method, kernels=kernels, kernel_scaling=scaling, entropy_weight=20.0)
        model.fit(rows, sample_weight=WEIGHT)
        self.assert_consistent(model, rows, WEIGHT.astype(dtype))
        assert model.kernel_weights_.min() > 0.05

    @pytest.mark.parametrize("scaling", ["unit-variance", "cosine"])
    def test_of_several_kernel_matrices(self, scaling):
        stack = np.stack([oracle.rbf(X, X, 0.3), overlap(X, X)])
        model = make_multi(
            "rpcholesky", kernels="precomputed", kernel_scaling=scaling, n_components=15
        ).fit(stack)
        assert model.approximation_ == ["rpcholesky"] * 2
        self.assert_consistent(model, stack)

    @methods
    def test_of_sparse_rows(self, method):
        rows = np.where(X > 0.2, X, 0)
        sparse = scipy.sparse.csr_array(rows)
        model = make(method).fit(sparse)
        self.assert_consistent(model, sparse)
        assert_array_equal(model.predict(rows), model.labels_)

    @methods
    @pytest.mark.parametrize("library", ["pandas", "polars"])
    def test_of_tables(self, method, library):
        frames = pytest.importorskip(library)
        table = frames.DataFrame({name: X[:, j] for j, name in enumerate("abc")})
        model = make(method).fit(table)
        assert_array_equal(model.labels_, make(method).fit(X).labels_)
        assert_array_equal(model.predict(table), model.labels_)
        assert model.feature_names_in_.tolist() == list("abc")

    @methods
    def test_in_a_pipeline(self, method):
        steps = make_pipeline(StandardScaler(), make(method))
        far = X * [1, 100, 0.01] + 7
        labels = steps.fit_predict(far)
        assert_array_equal(steps.predict(far), labels)
        assert (
            adjusted_rand_score(
                labels, make(method).fit(StandardScaler().fit_transform(far)).labels_
            )
            == 1
        )

    @pairs
    def test_of_copies(self, method, name):
        rows, new = fed(name, X, X), fed(name, NEW, X)
        model = make(method, name).fit(rows)
        for other in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
            assert_array_equal(other.predict(new), model.predict(new))
            assert_array_equal(other.transform(rows), model.transform(rows))
        again = clone(model)
        assert again.get_params() == model.get_params()
        assert_array_equal(again.fit(rows).labels_, model.labels_)

    def test_the_model_does_not_change_with_the_rows(self):
        for method in METHODS:
            rows = X.copy()
            model = make(method).fit(rows)
            before = model.transform(NEW)
            rows[:] = 0
            assert_array_equal(model.transform(NEW), before)

    def test_a_matrix_is_left_as_it_was(self):
        K = overlap(X, X)
        model = make("rpcholesky", "precomputed").fit(K)
        model.transform(K)
        assert_array_equal(K, overlap(X, X))


class TestWeights:
    @methods
    def test_weight_two_is_the_row_twice(self, method):
        """From given starts: the seeding draws other samples from repeated rows."""
        times = np.random.default_rng(1).integers(1, 4, 200)
        # All different rows as landmarks, that these are the same.
        given = {"gamma": 0.3, "init": X[[3, 50, 100, 150]], "n_components": 200}
        weighted = make(method, **given).fit(X, sample_weight=times)
        repeated = make(method, **given).fit(np.repeat(X, times, axis=0))
        assert_array_equal(repeated.labels_, np.repeat(weighted.labels_, times))
        assert repeated.inertia_ == pytest.approx(weighted.inertia_, rel=1e-6)

    @methods
    def test_rows_without_weight_change_nothing(self, method):
        weight = np.r_[WEIGHT, np.zeros(50)]
        rows = np.vstack([X, 5 + 100 * data.cloud(50, 3, seed=3)])
        init = X[[3, 50, 100, 150]]
        model = make(method, gamma=0.3, init=init).fit(rows, sample_weight=weight)
        alone = make(method, gamma=0.3, init=init).fit(X, sample_weight=WEIGHT)
        assert model.inertia_ == pytest.approx(alone.inertia_, rel=0.05)
        if method == "rff":
            assert_array_equal(model.labels_[:200], alone.labels_)
            assert model.inertia_ == pytest.approx(alone.inertia_, rel=1e-9)
        else:
            # Landmarks are drawn from all samples that count, in another order.
            assert np.abs(np.asarray(model._predictor.features.landmarks)).max() < 5

    @methods
    def test_the_unit_of_the_weights_does_not_matter(self, method):
        one = make(method).fit(X, sample_weight=WEIGHT)
        other = make(method).fit(X, sample_weight=1024 * WEIGHT)
        assert_array_equal(one.labels_, other.labels_)
        assert other.inertia_ == pytest.approx(1024 * one.inertia_, rel=1e-9)
        assert other.approximation_error_ == pytest.approx(one.approximation_error_)


class TestAllRowsAsLandmarks:
    @pytest.mark.parametrize(("method", "name"), [pair for pair in PAIRS if pair[0] != "rff"])
    @pytest.mark.parametrize("estimator", [KernelPowerKMeans, KernelKMeans])
    def test_are_the_exact_fit(self, method, name, estimator):
        rows, new = fed(name, X, X), fed(name, NEW, X)
        seeds = np.array([2, 60, 110, 170])
        exact = make(None, name, estimator=estimator, init=seeds).fit(rows, sample_weight=WEIGHT)
        model = make(method, name, estimator=estimator, init=seeds, n_components=200)
        model.fit(rows, sample_weight=WEIGHT)
        assert_array_equal(model.labels_, exact.labels_)
        assert model.inertia_ == pytest.approx(exact.inertia_, rel=1e-6)
        assert model.approximation_error_ < 1e-6
        assert_array_equal(model.predict(new), exact.predict(new))
        if estimator is KernelPowerKMeans:
            assert model.critical_power_ == pytest.approx(exact.critical_power_, rel=1e-3)

    @pytest.mark.parametrize("scaling", ["unit-variance", "cosine", "min-max"])
    def test_of_several_kernels(self, scaling):
        init = np.array([2, 60, 110, 170])
        given = {"init": init, "kernel_scaling": scaling, "entropy_weight": 20.0}
        exact = make_multi(None, **given).fit(X)
        model = make_multi("landmarks", n_components=200, **given).fit(X)
        assert_array_equal(model.labels_, exact.labels_)
        assert_allclose(model.kernel_weights_, exact.kernel_weights_, rtol=1e-4)
        assert_allclose(model.kernel_factors_, exact.kernel_factors_, rtol=1e-6)
        assert model.inertia_ == pytest.approx(exact.inertia_, rel=1e-5)

    def test_seeding_is_the_same_too(self):
        exact = make(None).fit(X)
        model = make("landmarks", n_components=200).fit(X)
        assert_array_equal(model.labels_, exact.labels_)

    @methods
    def test_clear_clusters_need_few(self, method):
        rows, y = data.blobs(600, 4, 5, spread=0.2)
        count = 400 if method == "rff" else 10
        model = make(method, k=5, n_components=count, n_init=3).fit(rows)
        assert adjusted_rand_score(y, model.labels_) == 1


class TestSize:
    @methods
    def test_a_fitted_model_holds_landmarks_and_no_rows(self, method):
        rows = data.cloud(1500, 60)
        model = make(method, eta=2.0).fit(rows)
        labels_and_weights = 1500 * (4 + 4 + 8 * 4 + 3 * 8)  # distances and certainty too
        held = 25 * (60 + 4 + 25) * 8
        assert len(pickle.dumps(model)) < labels_and_weights + held + 20_000 < 0.2 * rows.nbytes
        assert len(pickle.dumps(model._predictor)) < held + 5_000

    def test_of_a_kernel_matrix_it_holds_indices(self):
        K = data.rms_kernel(data.cloud(800, 3))
        model = make("rpcholesky", "precomputed", eta=2.0).fit(K)
        assert len(pickle.dumps(model._predictor)) < 5_000
        assert len(pickle.dumps(model)) < 800 * (4 + 4 + 8 * 4 + 32) + 20_000

    def test_not_even_one_that_was_given_a_view(self):
        model = make_multi("landmarks", kernels=[("rbf", slice(0, 30)), ("rbf", slice(30, 60))])
        model.fit(data.cloud(1000, 60))
        assert len(pickle.dumps(model._predictor)) < 2 * 25 * (30 + 4 + 25) * 8 + 10_000


class TestAuto:
    """Which way is taken, where the exact kernel is for a hundred samples instead of thousands."""

    @pytest.fixture(autouse=True)
    def few(self, monkeypatch):
        # 100 x 100 values, of 20 + 2 * 3 + 70 * 2 * 4 multiplications.
        monkeypatch.setattr(plan, "WORK", 100 * 100 * 586)
        monkeypatch.setattr(plan, "FASTER", 0)
        monkeypatch.setattr(plan, "PRECOMPUTED", 1)

    def fit(self, rows, name="rbf", **given):
        model = make("auto", name, **{"n_components": "auto", "eta": 2.0, **given}).fit(rows)
        return model.approximation_, model.approximation_reason_

    def test_it_is_the_default(self):
        for estimator in (KernelPowerKMeans, KernelKMeans, MultiKernelPowerKMeans):
            assert estimator().approximation == "auto"

    def test_few_samples_have_a_kernel_matrix(self):
        method, reason = self.fit(X[:100])
        assert method == "exact"
        assert reason == "n_samples=100 are few enough for the exact kernel to be fast"
        model = make("auto", n_components=5).fit(X[:100])
        assert_array_equal(model.labels_, make(None).fit(X[:100]).labels_)

    def test_more_have_landmarks(self):
        method, reason = self.fit(X[:101])
        assert method == "landmarks"
        assert reason == "n_samples=101 are too many for the exact kernel to be fast"

    def test_so_have_those_in_more_clusters_or_columns(self):
        assert self.fit(X[:100], k=5)[0] == "landmarks"
        assert self.fit(np.hstack([X, X[:, :1]])[:100])[0] == "landmarks"
        # Of sparse rows what is there counts.
        sparse = scipy.sparse.csr_array(np.hstack([X, np.zeros((200, 50))])[:100])
        assert self.fit(sparse)[0] == "exact"

    def test_few_that_do_not_fit_are_refused(self):
        # The matrix, and five arrays of four clusters.
        needed = (90 * 90 + 5 * 4 * 90) * 8
        assert self.fit(X[:90], memory_budget=needed)[0] == "exact"
        message = r"79\.2 KB \(79200 bytes\).* Set approximation='landmarks' \(low rank\)"
        with pytest.raises(MemoryError, match=message):
            self.fit(X[:90], memory_budget=needed - 1)
        with pytest.raises(MemoryError, match=r"approximation='rpcholesky' \(low rank\)"):
            self.fit(oracle.rbf(X, X, 0.2)[:90, :90], "precomputed", memory_budget=needed - 1)

    def test_low_rank_has_to_be_worth_it(self, monkeypatch):
        monkeypatch.setattr(plan, "FASTER", 1)
        assert self.fit(X)[0] == "exact"

    def test_rows_are_never_recomputed_unasked(self):
        assert self.fit(X, cache_kernel=False)[0] == "landmarks"

    def test_without_a_cache_few_rows_are_recomputed(self):
        assert self.fit(X[:100], cache_kernel=False)[0] == "blocked"
        # The matrix would take 80 KB.
        assert self.fit(X[:100], cache_kernel=False, memory_budget=50_000)[0] == "blocked"

    def test_inner_products_need_nothing(self):
        for name in ("linear", "cosine"):
            model = KernelPowerKMeans(3, kernel=name, random_state=0).fit(X)
            assert model.approximation_ == "explicit"
            assert model.approximation_reason_ == f"kernel='{name}' is an inner product of the rows"

    def test_matrices_have_pivots(self):
        K = oracle.rbf(X, X, 0.2)
        assert self.fit(K, "precomputed")[0] == "rpcholesky"
        assert self.fit(K[:100, :100], "precomputed")[0] == "exact"

    def test_a_matrix_that_is_there_may_cost_more(self, monkeypatch):
        monkeypatch.setattr(plan, "PRECOMPUTED", 4)
        assert self.fit(oracle.rbf(X, X, 0.2), "precomputed")[0] == "exact"

    def test_each_kernel_goes_its_own_way(self):
        kernels = ["rbf", ("laplacian", slice(0, 1)), "linear"]
        model = make_multi("auto", kernels=kernels, n_components=15, eta=2.0).fit(X[:90])
        assert model.approximation_ == ["landmarks", "landmarks", "explicit"]
        assert len(model.approximation_reason_) == 3
        assert "inner product" in model.approximation_reason_[2]
        assert 0 < model.approximation_error_ < 1

    def test_several_kernels_share_the_time(self):
        """Each of four may cost a quarter."""
        model = make_multi("auto", kernels=["rbf"] * 4, n_components=15, eta=2.0)
        assert model.fit(X[:50]).approximation_ == ["exact"] * 4
        assert model.fit(X[:51]).approximation_ == ["landmarks"] * 4

    def test_what_is_asked_for_is_told(self):
        assert make("rff").fit(X).approximation_reason_ == "approximation='rff'"
        assert make(None).fit(X).approximation_ == "exact"
        assert make(None, cache_kernel=False).fit(X).approximation_ == "blocked"


class TestDefault:
    """The rule as it is."""

    @pytest.mark.parametrize(
        ("n", "columns", "k", "exact"),
        [
            (5000, 6, 10, True),
            (2500, 50, 100, True),
            (5000, 200_000, 10, True),
            (12_000, 2, 2, True),
            (15_000, 2, 2, False),
            (15_000, 6, 10, False),
            (15_000, 50, 10, False),
            (6000, 1000, 50, False),
        ],
    )
    def test_what_is_fast(self, n, columns, k, exact):
        rows = np.broadcast_to(0.0, (n, columns))
        assert plan.exact_is_fast(Kernel("rbf", {"gamma": 1.0}), rows, k) == exact

    def test_it_needs_no_parameter(self):
        """Sixty thousand rows, whose kernel matrix would take 29 GB."""
        rows, y = data.blobs(60_000, 16, 6)
        model = KernelPowerKMeans(6, kernel="rbf", random_state=0).fit(rows)
        assert model.approximation_ == "landmarks"
        low, high = model.inertia_bounds_
        assert 0 < low < high
        assert adjusted_rand_score(y, model.labels_) > 0.999

    def test_exact_steps_hardly_improve_the_clusters(self):
        rows = data.blobs(7000, 10, 20, spread=2.0)[0]
        models = [KernelPowerKMeans(10, kernel="rbf", random_state=i).fit(rows) for i in range(3)]
        assert {model.approximation_ for model in models} == {"landmarks"}
        K = oracle.rbf(rows, rows, models[0].gamma_)
        for model in models:
            start = np.eye(10)[model.labels_]
            exact = KernelKMeans(10, kernel="precomputed", init=start).fit(K)
            labels = model.labels_, exact.labels_
            before, after = (oracle.hard_cost(K, own, np.ones(7000)) for own in labels)
            assert after <= before <= 1.0001 * after


class TestRowsOnDisk:
    """Few rows of many columns: their kernel matrix is small, and they may be loaded."""

    WIDE = data.cloud(100, 2000)
    #: The kernel matrix of a hundred in three clusters, and the rows, which the model keeps.
    NEEDED = (100 * 100 + 5 * 3 * 100) * 8 + 2 * WIDE.nbytes

    @pytest.fixture
    def mapped(self, tmp_path):
        np.save(tmp_path / "wide.npy", self.WIDE)
        return np.load(tmp_path / "wide.npy", mmap_mode="r")

    def model(self, **given):
        return KernelPowerKMeans(3, kernel="rbf", random_state=0, **given)

    @pytest.mark.parametrize("approximation", ["auto", None])
    def test_they_are_loaded_for_it(self, mapped, approximation):
        model = self.model(approximation=approximation, memory_budget=self.NEEDED).fit(mapped)
        assert model.approximation_ == "exact"
        held = self.model().fit(self.WIDE)
        assert_array_equal(model.labels_, held.labels_)
        assert model.inertia_ == pytest.approx(held.inertia_, rel=1e-9)
        assert_array_equal(model.predict(mapped), model.labels_)

    def test_several_views_of_them_too(self, mapped):
        views = [("rbf", slice(0, 1500)), ("laplacian", slice(1500, 2000))]
        models = [
            MultiKernelPowerKMeans(3, kernels=views, memory_budget=budget, random_state=0).fit(rows)
            for rows, budget in ((self.WIDE, None), (mapped, 6_000_000))
        ]
        assert models[1].approximation_ == ["exact", "exact"]
        assert_array_equal(models[1].labels_, models[0].labels_)

    def test_or_not_if_they_do_not_fit(self, mapped):
        short = self.NEEDED - 1
        message = r"the kernel matrix, with the centroids and the rows of X, takes 3\.3 MB"
        for approximation in ("auto", None):
            with pytest.raises(MemoryError, match=message):
                self.model(approximation=approximation, memory_budget=short).fit(mapped)
        self.model(approximation="landmarks", n_components=20, memory_budget=short).fit(mapped)

    def test_a_matrix_is_refused_before_it_is_loaded(self, tmp_path):
        K = oracle.rbf(X, X, 0.2)
        np.save(tmp_path / "K.npy", K)
        mapped = np.load(tmp_path / "K.npy", mmap_mode="r")
        model = KernelPowerKMeans(3, kernel="precomputed", random_state=0)
        with pytest.raises(MemoryError, match=r"K\.npy: a precomputed kernel, .* takes 320\.0 KB"):
            model.set_params(memory_budget=K.nbytes - 1).fit(mapped)
        model.set_params(memory_budget="1MB").fit(mapped)

    def test_what_is_not_finite_is_found(self, mapped, tmp_path):
        rows = self.WIDE.copy()
        rows[3, 4] = np.nan
        np.save(tmp_path / "broken.npy", rows)
        broken = np.load(tmp_path / "broken.npy", mmap_mode="r")
        with pytest.raises(ValueError, match="contains NaN"):
            self.model(memory_budget=self.NEEDED).fit(broken)


@pytest.fixture
def few_chosen(monkeypatch):
    """Subsamples that fit where the features of all rows do not."""
    monkeypatch.setattr(sampling, "MOST_ROWS", 500)
    monkeypatch.setattr(sampling, "FEWEST_ROWS", 500)


@pytest.mark.usefixtures("few_chosen")
class TestMemory:
    ROWS = data.blobs(3000, 4, 5, spread=0.6)[0]
    V = np.random.default_rng(2).uniform(0.1, 2, 3000)
    WAYS: ClassVar = {
        "seeds": {},
        "swap": {"n_swaps": 4},
        "swaps": {"n_swaps": "auto"},
        "random": {"init": "random", "n_init": 3},
        "restarts": {"n_init": 2},
        "indices": {"init": np.array([[0, 5, 9, 14, 22], [1, 2, 3, 4, 6]])},
        "coordinates": {"init": ROWS[[7, 8, 13, 19, 21]]},
        "weights": {"init": np.random.default_rng(0).uniform(size=(3000, 5))},
        "callable": {"init": lambda X, k, rng: rng.permutation(len(X))[:k], "n_init": 2},
        "hard": {"estimator": KernelKMeans},
    }
    #: Sixty coordinates of these would take 1.44 MB.
    SMALL = 1_000_000

    def both(self, method, **given):
        schedule = {} if "estimator" in given else {"eta": 1.3}
        given = {"n_components": 60, "k": 5, **schedule, **given}
        held = make(method, **given).fit(self.ROWS, sample_weight=self.V)
        parted = make(method, memory_budget=self.SMALL, **given)
        return held, parted.fit(self.ROWS, sample_weight=self.V)

    @methods
    @pytest.mark.parametrize("way", WAYS)
    def test_parts_give_the_labels_of_held_coordinates(self, method, way):
        held, parted = self.both(method, **self.WAYS[way])
        assert_array_equal(parted.labels_, held.labels_)
        assert held.approximation_reason_ == f"approximation={method!r}"
        assert "recomputed at each step" in parted.approximation_reason_
        assert parted.inertia_ == pytest.approx(held.inertia_, rel=1e-9)
        assert parted.n_iter_ == held.n_iter_
        assert_allclose(parted.objective_history_, held.objective_history_, rtol=1e-7)
        if method != "rff":
            assert parted.approximation_error_ == pytest.approx(held.approximation_error_)
            assert_allclose(parted.inertia_bounds_, held.inertia_bounds_, rtol=1e-7)
        assert parted.inertia_ == -parted.score(self.ROWS, sample_weight=self.V)
        assert_array_equal(parted.predict(self.ROWS), parted.labels_)

    @pytest.fixture
    def spied(self, monkeypatch):
        """Which spaces are made."""
        made = []

        monkeypatch.setattr(holder, "stream", lambda *own: made.append(stream(*own)) or made[-1])
        return made

    @methods
    def test_there_are_parts_just_where_memory_is_short(self, method, spied):
        self.both(method)
        assert len(spied) == 1
        assert len(spied[0].chunks.slices) > 5

    def test_rows_are_sparse_or_without_weight(self, spied):
        rows = scipy.sparse.csr_array(np.where(self.ROWS > 1, self.ROWS, 0))
        weight = np.r_[np.zeros(1500), np.ones(1500)]
        fits = [
            make("landmarks", n_components=60, eta=1.3, memory_budget=budget).fit(
                rows, sample_weight=weight
            )
            for budget in (None, self.SMALL)
        ]
        assert len(spied) == 1
        assert_array_equal(fits[0].labels_[1500:], fits[1].labels_[1500:])
        assert fits[1].inertia_ == pytest.approx(fits[0].inertia_, rel=1e-9)

    @pytest.mark.parametrize(("budget", "parted"), [(1_900_000, 2), (3_300_000, 1)])
    def test_several_kernels_some_of_which_fit(self, spied, budget, parted):
        """Coordinates would take 2.16 MB each, more than a small subsample."""
        rows = data.blobs(9000, 4, 5, spread=0.6)[0]
        given = {"kernels": ["rbf", ("laplacian", slice(0, 2))], "n_components": 30, "eta": 3.0}
        given |= {"init": [3, 800, 2500, 4000], "s0": -2.0}
        held = make_multi("landmarks", **given).fit(rows)
        model = make_multi("landmarks", memory_budget=budget, **given).fit(rows)
        assert len(spied) == parted
        assert_array_equal(model.labels_, held.labels_)
        assert_allclose(model.kernel_weights_, held.kernel_weights_, rtol=1e-7)
        assert model.inertia_ == pytest.approx(held.inertia_, rel=1e-7)

    @methods
    def test_far_too_little_is_refused(self, method, monkeypatch):
        monkeypatch.setattr(sampling, "MOST_ROWS", 100)
        monkeypatch.setattr(sampling, "FEWEST_ROWS", 100)
        message = (
            r"n_samples=3000, n_clusters=5: 64 rows and their features.* takes .* more than the "
            r"memory budget of 100\.0 KB.*Use fewer components or clusters, or raise memory_budget"
        )
        with pytest.raises(MemoryError, match=message):
            make(method, k=5, n_components=60, memory_budget=100_000).fit(self.ROWS)

    def test_a_matrix_is_not_taken_apart(self):
        K = oracle.rbf(X, X, 0.2)
        model = make("rpcholesky", "precomputed", memory_budget=40_000)
        assert_array_equal(model.fit(K).labels_, make("rpcholesky", "precomputed").fit(K).labels_)
        with pytest.raises(MemoryError, match=r"n_samples=200: 25 components.*Use fewer comp"):
            make("rpcholesky", "precomputed", memory_budget=39_999).fit(K)

    @pytest.mark.parametrize("dtype", ["float64", "float32"])
    def test_a_million_samples_are_refused_at_once_and_told_what_to_do(self, dtype):
        rows = np.random.default_rng(0).standard_normal((10**6, 3)).astype(dtype)
        start = time.process_time()
        message = (
            r"n_samples=1000000: the kernel matrix, with the centroids, takes [48]\.0 TB "
            r"\([48]0\d{11} bytes\).*Set approximation='landmarks' \(low rank\)"
        )
        with pytest.raises(MemoryError, match=message):
            KernelPowerKMeans(4, kernel="rbf", approximation=None).fit(rows)
        assert time.process_time() - start < 2

    def test_many_samples_need_no_matrix(self):
        rows, y = data.blobs(100_000, 3, 4)
        model = KernelPowerKMeans(
            4, kernel="rbf", n_components=30, eta=2.0, memory_budget="20MB", random_state=0
        ).fit(rows.astype(np.float32))
        assert model.approximation_ == "landmarks"
        assert adjusted_rand_score(y, model.labels_) > 0.999


@methods
@pytest.mark.usefixtures("few_chosen")
@pytest.mark.parametrize("budget", [None, 700_000], ids=["held", "parted"])
def test_the_same_bits_on_any_number_of_threads(method, budget):
    rows = data.cloud(1500, 4)
    given = {"n_components": 60, "eta": 3.0, "memory_budget": budget}
    answers = []
    for count in (1, 2, 5):
        with threadpool_limits(count):
            model = make(method, **given).fit(rows)
        answers.append((model.labels_.tobytes(), model.objective_history_.tobytes()))
    assert answers[0] == answers[1] == answers[2]
    other = make(method, random_state=1, **given).fit(rows)
    assert other.objective_history_.tobytes() != answers[0][1]


class TestStarts:
    GIVEN = (
        {"n_swaps": "auto"},
        {"n_init": 3, "init": "random"},
        {"init": np.array([3, 60, 110, 150])},
        {"init": X[[3, 60, 110, 150]]},
        {"init": np.random.default_rng(0).uniform(size=(200, 4))},
        {"init": lambda X, k, rng: rng.uniform(size=(X.shape[0], k)), "n_init": 2},
    )

    @pytest.mark.parametrize(
        ("method", "name", "given"),
        [
            (*pair, given)
            for given in GIVEN
            for pair in PAIRS
            # A kernel matrix has no coordinates.
            if not (pair[1] == "precomputed" and np.shape(given.get("init")) == (4, 3))
        ],
    )
    def test_of_every_kind(self, method, name, given):
        rows = fed(name, X, X)
        model = make(method, name, **given).fit(rows)
        TestConsistency.assert_consistent(model, rows)
        assert len(model.result_.inertia) == given.get("n_init", 1)

    def test_coordinates_of_rows_are_their_indices(self):
        places = np.array([3, 60, 110, 150])
        for method in METHODS:
            by_index = make(method, init=places).fit(X)
            by_place = make(method, init=X[places]).fit(X)
            assert_array_equal(by_index.labels_, by_place.labels_)
            assert_allclose(
                by_index.objective_history_[1:], by_place.objective_history_[1:], rtol=1e-3
            )


class TestRefusals:
    def test_what_does_not_go_together_is_refused_before_any_work(self):
        with pytest.raises(ValueError, match="'landmarks' needs rows of data"):
            make("landmarks", "precomputed").fit(oracle.rbf(X, X, 0.2))
        with pytest.raises(ValueError, match="only for kernel='rbf' and kernel='laplacian'"):
            make("rff", "poly").fit(X)
        with pytest.raises(ValueError, match=r"n_components=0\.5: random .* keep no fraction"):
            make("rff", n_components=0.5).fit(X)
        with pytest.raises(ValueError, match="only for kernel='rbf'"):
            make_multi("rff").fit(X)

    @pytest.mark.parametrize("value", [0, -3, 1.0, 1.5, 0.0, "all", None])
    def test_numbers_of_components(self, value):
        with pytest.raises(ValueError, match="'n_components' parameter"):
            make("landmarks", n_components=value).fit(X)

    def test_other_names(self):
        with pytest.raises(ValueError, match="'approximation' parameter"):
            make("nystroem").fit(X)

    @pytest.mark.parametrize("method", ["landmarks", "rpcholesky"])
    @pytest.mark.parametrize("size", [1e120, 1e200])
    def test_kernels_that_overflow(self, method, size):
        rows = X.copy()
        rows[7] = size
        with pytest.raises(ValueError, match=r"kernel='poly'.*NaN or infinite"):
            make(method, "poly").fit(rows)
