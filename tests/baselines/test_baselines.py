"""MKKM, RKKM and RMKKM against naive turns of their publications."""

import pickle
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

import data
import oracle
from kernelmeans import KernelKMeans
from kernelmeans.baselines import MKKM, RKKM, RMKKM

X = data.cloud(90, 3)
NEW = data.cloud(25, 3, seed=1)
V = np.random.default_rng(0).uniform(0.2, 3, 90)
SEEDS = np.array([2, 31, 47, 63])
PARTITION = np.random.default_rng(3).permutation(np.arange(90) % 4)

KERNELS = [{"kernel": "rbf", "gamma": 0.3}, "linear", {"kernel": "laplacian", "gamma": 0.5}]


def matrices(rows=X, columns=X):
    distances = np.abs(rows[:, None] - columns).sum(axis=-1)
    return np.stack([oracle.rbf(rows, columns, 0.3), rows @ columns.T, np.exp(-0.5 * distances)])


def mkkm_weights(costs):
    return (1 / costs) / (1 / costs).sum()


def power_sum_weights(g):
    def update(costs):
        return costs ** (1 / (g - 1)) / (costs ** (g / (g - 1))).sum() ** (1 / g)

    return update


def make(name, k=4, **given):
    given = {"random_state": 0, **given}
    if name == "RKKM":
        return RKKM(k, **{"gamma": 0.3, **given})
    return {"MKKM": MKKM, "RMKKM": RMKKM}[name](k, **{"kernels": KERNELS, **given})


def expected(name, steps, start, v=None, factors=None, g=0.4, W=None):
    """Naive turns from the same start; weights W tell what each kernel costs before the first."""
    Ks = matrices()
    if name == "RKKM":
        return oracle.alternate(
            Ks[:1], start, np.ones(1), steps, lambda c: np.ones(1), lambda a: a, v, robust=True
        )
    if factors is not None:
        Ks = Ks * factors[:, None, None]
    ones = np.ones(90) if v is None else v
    costs = None if W is None else oracle.kernel_costs(Ks, start, W, ones)
    if name == "MKKM":
        a = np.full(3, 1 / 3) if W is None else mkkm_weights(costs)
        return oracle.alternate(Ks, start, a, steps, mkkm_weights, lambda a: a**2, v)
    update = power_sum_weights(g)
    # What a partition costs by squares says nothing of roots: its weights are equal at first.
    a = np.full(3, 3 ** (-1 / g))
    return oracle.alternate(Ks, start, a, steps, update, lambda a: a, v, robust=True)


NAMES = ["MKKM", "RKKM", "RMKKM"]
names = pytest.mark.parametrize("name", NAMES)
weighted = pytest.mark.parametrize("v", [None, V], ids=["equal", "weighted"])


class TestTurns:
    STEPS = 5

    def compare(self, name, model, start, v=None, **given):
        with pytest.warns(ConvergenceWarning, match="did not converge within max_iter=5"):
            model.fit(X, sample_weight=v)
        A, a, objectives, weights = expected(name, self.STEPS, start, v, **given)
        assert_allclose(model.objective_history_, objectives, rtol=1e-8)
        multipliers = np.ones(1)
        Ks = matrices()[:1]
        if name != "RKKM":
            assert_allclose(model.kernel_weights_history_, weights, rtol=1e-8)
            assert_allclose(model.kernel_weights_, a, rtol=1e-8)
            assert a.max() > 1.2 * a.min()
            multipliers = (a**2 if name == "MKKM" else a) * model.kernel_factors_
            Ks = matrices()
        D = oracle.multi_distances(Ks, A, multipliers)
        assert_array_equal(model.labels_, D.argmin(axis=1))
        weight = np.ones(90) if v is None else v
        assert model.inertia_ == pytest.approx(weight @ D.min(axis=1), rel=1e-8)
        final = D.min(axis=1) if name == "MKKM" else np.sqrt(D.min(axis=1))
        assert model.result_.cost[0] == pytest.approx(weight @ final, rel=1e-8)
        assert_allclose(model.transform(X), np.sqrt(D), rtol=1e-6)

    @names
    @weighted
    def test_from_samples(self, name, v):
        model = make(name, init=SEEDS, max_iter=self.STEPS, tol=0)
        self.compare(name, model, oracle.at_samples(SEEDS, 90), v)

    @names
    @weighted
    @pytest.mark.parametrize("cache_kernel", [True, False])
    def test_from_a_partition(self, name, v, cache_kernel):
        W = np.eye(4)[PARTITION]
        model = make(name, init=W, max_iter=self.STEPS, tol=0, cache_kernel=cache_kernel)
        A = (W if v is None else v[:, None] * W).T
        self.compare(name, model, A / A.sum(axis=1, keepdims=True), v, W=W)

    @pytest.mark.parametrize("name", ["MKKM", "RMKKM"])
    @weighted
    def test_of_kernels_scaled_to_unit_variance(self, name, v):
        model = make(name, init=SEEDS, max_iter=self.STEPS, tol=0, kernel_scaling="unit-variance")
        factors = np.array([1 / oracle.variance(K, v) for K in matrices()])
        self.compare(name, model, oracle.at_samples(SEEDS, 90), v, factors=factors)
        assert_allclose(model.kernel_factors_, factors, rtol=1e-9)

    @pytest.mark.parametrize("g", [0.1, 0.3, 0.8])
    def test_of_another_exponent(self, g):
        model = make("RMKKM", init=SEEDS, max_iter=self.STEPS, tol=0, exponent=g)
        self.compare("RMKKM", model, oracle.at_samples(SEEDS, 90), g=g)


@names
@given(
    shape=st.sampled_from(["cloud", "blobs", "duplicates", "outlier"]),
    dtype=st.sampled_from(["float64", "float32"]),
    init=st.sampled_from(["random", "k-means++", "partition"]),
    scaling=st.sampled_from(["unit-variance", "cosine", "min-max", None]),
    weighted=st.booleans(),
    n=st.integers(10, 60),
    k=st.integers(1, 5),
    seed=st.integers(0, 10**6),
)
def test_no_turn_raises_the_objective(name, shape, dtype, init, scaling, weighted, n, k, seed):
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((n, 3))
    if shape == "blobs":
        rows[:, 0] += 10 * (np.arange(n) % 3)
    elif shape == "duplicates":
        rows = rows[rng.integers(0, max(8, n // 3), n)]
    elif shape == "outlier":
        rows[0] *= 100
    v = rng.uniform(0.1, 4, n) if weighted else None
    given = {} if name == "RKKM" else {"kernel_scaling": scaling}
    start = np.eye(k)[np.arange(n) % k] if init == "partition" else init
    n_init = "auto" if init == "partition" else 2
    model = make(name, k, init=start, n_init=n_init, max_iter=60, tol=0, random_state=seed, **given)
    with warnings.catch_warnings():
        # Too few distinct rows, and a tolerance that may not be reached: not at issue.
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(rows.astype(dtype), sample_weight=v)
    if name == "MKKM":
        allowed, first = 0.0, 0
    else:
        # Where a centroid comes to sit on a sample the root of the rounding counts, and the first
        # turn weighs all samples alike.
        own = [1.0, np.average((rows**2).sum(axis=1), weights=v), 1.0]
        if scaling in ("cosine", "min-max"):
            own[1] = 1.0
        magnitude = 1.0 if name == "RKKM" else model.kernel_factors_ @ own
        heaviest = 1.0 if v is None else v.max()
        allowed = k * heaviest * np.sqrt(16 * np.finfo(dtype).eps * magnitude)
        first = 1
    relative = 1e-10 if dtype == "float64" else 1e-5
    for history, cost in zip(model.result_.objective_history, model.result_.cost, strict=True):
        values = np.append(history, cost)[first:]
        assert np.isfinite(values).all()
        assert np.diff(values, append=values[-1]).max() <= relative * values[0] + allowed
    assert_array_equal(model.labels_, model.predict(rows.astype(dtype)))


@pytest.mark.slow
class TestOutcome:
    @names
    @pytest.mark.parametrize("seed", range(4))
    def test_easy_clusters_are_found_and_none_is_empty(self, name, seed):
        rows, y = data.blobs(90, 3, 3, seed)
        model = make(name, 3, random_state=seed).fit(rows)
        assert adjusted_rand_score(y, model.labels_) == 1
        assert_array_equal(np.bincount(model.labels_, minlength=3), [30, 30, 30])
        assert_array_equal(model.predict(rows), model.labels_)

    @names
    def test_ten_random_starts_of_which_the_best_is_kept(self, name):
        model = make(name, 5).fit(X)
        result = model.result_
        assert result.cost.shape == (10,)
        assert len(np.unique(result.cost.round(9))) > 1
        assert result.best == result.cost.argmin()
        assert_array_equal(model.labels_, result.labels[result.best])
        if name != "RKKM":
            assert result.kernel_weights.shape == (10, 3)
            assert_array_equal(model.kernel_weights_, result.kernel_weights[result.best])

    @names
    def test_the_objective_decides_between_starts_and_not_the_inertia(self, name):
        # They agree for MKKM; roots of distances rank some starts otherwise than squares.
        differ = 0
        for seed in range(10):
            model = make(name, 6, random_state=seed).fit(X)
            result = model.result_
            if name == "MKKM":
                assert_allclose(result.cost, result.inertia, rtol=1e-12)
                continue
            assert result.best == result.cost.argmin()
            differ += result.cost.argmin() != result.inertia.argmin()
        assert name == "MKKM" or differ > 0

    @names
    def test_the_seed_decides(self, name):
        first, again, other = (make(name, 5, random_state=s).fit(X) for s in (0, 0, 1))
        assert_array_equal(first.result_.labels, again.result_.labels)
        assert first.inertia_ == again.inertia_
        assert (first.result_.labels != other.result_.labels).any()

    @names
    @weighted
    @pytest.mark.parametrize("dtype", ["float64", "float32"])
    def test_labels_and_cost_are_those_of_predict_and_score(self, name, v, dtype):
        rows = X.astype(dtype)
        model = make(name).fit(rows, sample_weight=v)
        assert_array_equal(model.labels_, model.predict(rows))
        assert model.inertia_ == -model.score(rows, sample_weight=v)
        assert model.transform(NEW).dtype == dtype
        assert_array_equal(model.predict(NEW), model.transform(NEW).argmin(axis=1))

    @names
    def test_runs_end_by_themselves(self, name):
        model = make(name).fit(X)
        assert model.result_.converged.all()
        assert model.n_iter_ < 100
        longer = make(name, tol=0, max_iter=1000).fit(X)
        # The tolerance leaves little to gain.
        assert longer.result_.cost.min() == pytest.approx(model.result_.cost.min(), rel=1e-2)
        history = model.objective_history_
        changes = -np.diff(history) / history[1:]
        assert (changes[:-1] > 1e-5).all()
        assert changes[-1] <= 1e-5

    def test_a_tolerance_of_zero_ends_at_a_fixed_point(self):
        model = make("MKKM", init=SEEDS, tol=0, max_iter=1000).fit(X)
        costs = [oracle.hard_cost(K, model.labels_) for K in matrices()]
        assert_allclose(model.kernel_weights_, mkkm_weights(np.array(costs)), rtol=1e-6)
        assert model.inertia_ == pytest.approx(model.kernel_weights_**2 @ costs, rel=1e-8)

    def test_powers_of_the_weights_of_rmkkm_sum_to_one(self):
        for g in (0.2, 0.4, 0.7):
            model = make("RMKKM", exponent=g).fit(X)
            for weights in (model.kernel_weights_history_, model.result_.kernel_weights):
                assert_allclose((weights**g).sum(axis=1), 1, rtol=1e-9)

    @pytest.mark.parametrize("units", [(1e-15, 3e-14, 1), (1e-140, 1e-115, 1)])
    def test_units_of_kernels_may_differ_by_any_factor(self, units):
        """Two kernels of a far smaller unit than the third still have weights of their own."""
        K = np.array(matrices()) * np.array(units)[:, None, None]
        model = MKKM(4, kernels="precomputed", init=SEEDS, tol=0, max_iter=1000).fit(K)
        costs = np.array([oracle.hard_cost(one, model.labels_) for one in K])
        assert_allclose(model.kernel_weights_, mkkm_weights(costs), rtol=1e-6)
        assert (np.diff(model.objective_history_) <= 1e-9 * model.objective_history_[:-1]).all()

    @names
    def test_copies_answer_the_same_and_clones_are_not_fitted(self, name):
        model = make(name).fit(X)
        other = pickle.loads(pickle.dumps(model))
        assert_array_equal(other.transform(NEW), model.transform(NEW))
        again = clone(model)
        assert not hasattr(again, "labels_")
        assert_array_equal(again.fit(X).labels_, model.labels_)


class TestSmallExponents:
    """Weights of L kernels are about L^(-1/g), a small number."""

    @pytest.mark.parametrize("dtype", ["float64", "float32"])
    @pytest.mark.parametrize("exponent", [0.3, 0.05])
    def test_work_in_both_precisions(self, exponent, dtype):
        rows, y = data.blobs(90, 3, 3)
        model = make("RMKKM", 3, exponent=exponent).fit(rows.astype(dtype))
        assert adjusted_rand_score(y, model.labels_) == 1

    def test_are_refused_where_no_number_is_that_small(self):
        with pytest.raises(ValueError, match="exponent"):
            make("RMKKM", 3, exponent=0.001).fit(X)


class TestSimilarities:
    def test_mkkm_of_one_kernel_is_kernel_k_means(self):
        single = KernelKMeans(4, gamma=0.3, init=SEEDS).fit(X, sample_weight=V)
        model = MKKM(4, kernels=KERNELS[:1], init=SEEDS, tol=0).fit(X, sample_weight=V)
        assert_array_equal(model.labels_, single.labels_)
        assert model.inertia_ == pytest.approx(single.inertia_, rel=1e-9)
        assert_array_equal(model.kernel_weights_, [1.0])

    def test_rmkkm_of_one_kernel_is_rkkm(self):
        single = RKKM(4, gamma=0.3, init=SEEDS).fit(X, sample_weight=V)
        model = RMKKM(4, kernels=KERNELS[:1], init=SEEDS).fit(X, sample_weight=V)
        assert_array_equal(model.labels_, single.labels_)
        assert_allclose(model.objective_history_, single.objective_history_, rtol=1e-9)

    @pytest.mark.parametrize("name", ["MKKM", "RMKKM"])
    def test_permuting_kernels_permutes_weights(self, name):
        order = [2, 0, 1]
        one = make(name, init=SEEDS).fit(X)
        other = make(name, kernels=[KERNELS[i] for i in order], init=SEEDS).fit(X)
        assert_array_equal(other.labels_, one.labels_)
        assert_allclose(other.kernel_weights_, one.kernel_weights_[order], rtol=1e-9)

    @names
    def test_weight_two_is_the_row_twice(self, name):
        weight = np.random.default_rng(0).integers(1, 4, 90)
        twice = np.concatenate([X, np.repeat(X, weight - 1, axis=0)])
        one = make(name, init=SEEDS).fit(X, sample_weight=weight)
        other = make(name, init=SEEDS).fit(twice)
        assert_array_equal(other.labels_[:90], one.labels_)
        assert_allclose(other.objective_history_, one.objective_history_, rtol=1e-7)

    @names
    def test_weight_zero_is_no_row(self, name):
        weight = np.random.default_rng(0).integers(0, 3, 90).astype(float)
        weight[SEEDS] = 1
        kept = np.flatnonzero(weight)
        one = make(name, init=SEEDS).fit(X, sample_weight=weight)
        other = make(name, init=np.searchsorted(kept, SEEDS))
        other.fit(X[kept], sample_weight=weight[kept])
        assert_array_equal(one.labels_[kept], other.labels_)
        assert_allclose(other.objective_history_, one.objective_history_, rtol=1e-7)
        assert_array_equal(other.predict(X), one.labels_)

    @names
    def test_the_unit_of_the_kernels_changes_no_label(self, name):
        K = matrices()
        if name == "RKKM":
            model = make(name, kernel="precomputed", gamma="rms", init=SEEDS)
            models = [clone(model).fit(u * K[0]) for u in (1, 1e6)]
        else:
            models = [make(name, kernels="precomputed", init=SEEDS).fit(u * K) for u in (1, 1e6)]
        assert_array_equal(models[0].labels_, models[1].labels_)
        assert models[1].inertia_ == pytest.approx(1e6 * models[0].inertia_, rel=1e-7)


class TestRobustness:
    def outliers(self, seed):
        """Two round clusters, and a tenth of the rows far away on one side; the true centres."""
        rng = np.random.default_rng(seed)
        centres = np.array([[-4.0, 0.0], [4.0, 0.0]])
        y = np.arange(100) % 2
        rows = centres[y] + 0.5 * rng.standard_normal((100, 2))
        rows[90:] = centres[y[90:]] + [0, 7] + rng.standard_normal((10, 2))
        return rows, centres

    @pytest.mark.parametrize("seed", range(4))
    def test_outliers_draw_the_centroids_less(self, seed):
        rows, centres = self.outliers(seed)
        start = np.array([0, 1])
        plain = KernelKMeans(2, kernel="linear", init=start).fit(rows)
        robust = RKKM(2, kernel="linear", init=start).fit(rows)
        multi = RMKKM(2, kernels=["linear", ("linear", [0])], init=start).fit(rows)
        distances = [m.transform(centres).min(axis=1).max() for m in (plain, robust)]
        assert distances[1] < 0.6 * distances[0]
        # Outliers stand out by their distance from the centroid.
        assert (robust.transform(rows).min(axis=1)[90:] > 4).all()
        assert_array_equal(multi.labels_[:90], plain.labels_[:90])

    def test_a_single_cluster_is_at_the_spatial_median(self):
        rows, _ = self.outliers(0)
        model = RKKM(1, kernel="linear", tol=1e-12, max_iter=1000).fit(rows)
        # Weiszfeld's iteration, which it is for one cluster.
        centre = rows.mean(axis=0)
        for _ in range(3000):
            w = 1 / np.linalg.norm(rows - centre, axis=1)
            centre = w @ rows / w.sum()
        assert_allclose(model.transform(centre[None]), 0, atol=1e-4)
        total = np.linalg.norm(rows - centre, axis=1).sum()
        assert model.result_.cost[0] == pytest.approx(total, rel=1e-9)


class TestDullData:
    @names
    @pytest.mark.parametrize("copies", [1, 8])
    def test_as_many_clusters_as_distinct_points(self, name, copies):
        points = 3 * data.cloud(5, 3)
        rows = np.repeat(points, copies, axis=0)
        model = make(name, 5, init="k-means++", n_init=3).fit(rows)
        assert oracle.same_partition(model.labels_, np.repeat(np.arange(5), copies))
        assert model.inertia_ == pytest.approx(0, abs=1e-9)
        assert np.isfinite(model.objective_history_).all()
        assert_array_equal(model.predict(rows), model.labels_)

    @names
    def test_fewer_distinct_points_than_clusters(self, name):
        rows = np.repeat(3 * data.cloud(3, 3), 10, axis=0)
        with pytest.warns(ConvergenceWarning, match=r"distinct clusters \([123]\) found smaller"):
            model = make(name, 5).fit(rows)
        assert np.isfinite(model.objective_history_).all()
        assert np.isfinite(model.inertia_)
        assert_array_equal(model.predict(rows), model.labels_)

    @names
    def test_as_many_clusters_as_rows(self, name):
        model = make(name, 7).fit(X[:7])
        assert len(np.unique(model.labels_)) == 7

    @pytest.mark.parametrize("name", ["MKKM", "RMKKM"])
    @pytest.mark.parametrize("seed", range(5))
    def test_rounding_decides_no_weight_where_units_differ(self, name, seed):
        units = np.array([1e60, 1e20, 1])[:, None, None]
        rows = np.random.default_rng(seed).normal(size=(3, 8, 3))
        K = units * (rows @ rows.transpose(0, 2, 1))
        model = make(name, 8, kernels="precomputed", random_state=seed, n_init=1).fit(K)
        history = model.objective_history_
        assert (np.diff(history) <= 1e-6 * history[0]).all()

    @names
    def test_one_cluster(self, name):
        model = make(name, 1).fit(X)
        assert_array_equal(model.labels_, np.zeros(90))

    @pytest.mark.parametrize("name", ["RKKM", "RMKKM"])
    def test_clusters_that_start_empty_are_filled_but_by_mkkm(self, name):
        # All starts are on the same sample: all but one have no samples of their own.
        rows, _ = data.blobs(80, 3, 4)
        model = make(name, 4, init=np.array([0, 0, 0, 0]))
        if name == "MKKM":
            with pytest.warns(ConvergenceWarning, match=r"distinct clusters \(1\) found smaller"):
                model.fit(rows)
            return
        assert len(np.unique(model.fit(rows).labels_)) == 4

    @pytest.mark.parametrize("dtype", ["float64", "float32"])
    @pytest.mark.parametrize("scaling", ["unit-variance", None])
    @pytest.mark.parametrize("unit", [1e-10, 1, 1e10])
    def test_clusters_of_mkkm_that_get_empty_stay_so(self, unit, scaling, dtype):
        Ks = (unit * matrices()).astype(dtype)
        given = {"kernels": "precomputed", "kernel_scaling": scaling, "init": np.array([0, 0, 9])}
        few = r"distinct clusters \(2\) found smaller .* due to empty clusters, which this method"
        with pytest.warns(ConvergenceWarning, match=few):
            model = make("MKKM", 3, **given).fit(Ks)
        assert set(model.labels_.tolist()) == {0, 2}
        given["init"] = np.array([0, 9])
        two = make("MKKM", 2, **given).fit(Ks)
        assert_array_equal(model.labels_ == 2, two.labels_ == 1)
        assert_allclose(model.kernel_weights_, two.kernel_weights_, rtol=1e-4)
        assert model.inertia_ == pytest.approx(two.inertia_, rel=1e-4)
        assert_array_equal(model.predict(Ks), model.labels_)
        distances = model.transform(Ks)
        assert_allclose(distances[:, [0, 2]], two.transform(Ks), rtol=1e-3, atol=1e-3 * unit**0.5)
        # Not the nearest to any row, but at a distance that is a number.
        assert np.isfinite(distances).all()

    @pytest.mark.parametrize("seed", range(5))
    def test_random_partitions_of_samples_that_mostly_have_no_weight(self, seed):
        weight = np.zeros(90)
        weight[:6] = 1
        model = make("MKKM", n_init=4, random_state=seed)
        with warnings.catch_warnings():
            # Clusters without any weight may be among those that start.
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(X, sample_weight=weight)
        assert np.isfinite(model.objective_history_).all()
        assert len(np.unique(model.labels_[:6])) >= 2
        assert_array_equal(model.predict(X), model.labels_)
        costs = oracle.multi_distances(
            matrices(),
            np.stack(
                [
                    (model.labels_[:90] == j)
                    * weight
                    / max(1, ((model.labels_ == j) * weight).sum())
                    for j in np.unique(model.labels_[:6])
                ]
            ),
            model.kernel_weights_**2,
        )
        assert model.inertia_ == pytest.approx(weight @ costs.min(axis=1), rel=1e-3)


class TestOutliers:
    """Far samples that seeds sit on: a first turn of plain means raises the robust objective."""

    rows = np.concatenate(
        [data.blobs(190, 2, 4, seed=1)[0], 100 * np.random.default_rng(0).standard_normal((10, 2))]
    )

    def test_a_first_turn_that_raises_the_objective_ends_no_run(self):
        model = RKKM(4, kernel="linear", n_init=20, random_state=0).fit(self.rows)
        histories = model.result_.objective_history
        raised = [history[1] > history[0] for history in histories]
        assert any(raised)
        assert min(len(history) for history in histories) > 2

    def test_one_cluster_ends_at_the_median_though_it_starts_far_from_it(self):
        rows = np.append(np.linspace(-1, 1, 21), 1e4)[:, None]
        model = RKKM(1, kernel="linear", init=np.array([21]), tol=1e-12, max_iter=2000).fit(rows)
        median = np.sort(rows.ravel())[10]
        assert model.objective_history_[-1] == pytest.approx(np.abs(rows - median).sum(), rel=1e-4)


@pytest.mark.parametrize("unit", [1.0, 1e31])
def test_mkkm_drops_clusters_at_any_scale_in_float32(unit):
    Ks = (unit * matrices()).astype(np.float32)
    given = {"kernels": "precomputed", "init": np.array([0, 0, 9])}
    with pytest.warns(ConvergenceWarning, match=r"distinct clusters \(2\) found smaller"):
        model = make("MKKM", 3, **given).fit(Ks)
    assert model.kernel_weights_.sum() == pytest.approx(1)
