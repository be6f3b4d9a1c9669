"""What a fitted estimator holds, and what it answers for old and new rows."""

import copy
import io
import pickle

import joblib
import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.exceptions import NotFittedError

import data
import oracle
from kernelmeans import KernelKMeans, KernelPowerKMeans, PowerKMeans
from kernelmeans.estimators.kernels import resolve_kernel

X = np.abs(data.cloud(150, 4)) + 0.1
NEW = np.abs(data.cloud(40, 4, seed=1)) + 0.1
K_CLUSTERS = 5


def shifted_product(A, B, shift):
    A, B = (M.toarray() if scipy.sparse.issparse(M) else M for M in (A, B))
    return A @ B.T + shift


KERNELS = {
    "rbf": {},
    "rbf median": {"kernel": "rbf", "gamma": "median"},
    "laplacian": {},
    "geodesic": {},
    "poly": {},
    "cosine": {},
    "linear": {},
    "callable": {"kernel": shifted_product, "kernel_params": {"shift": 2.0}},
}
kernels = pytest.mark.parametrize("name", KERNELS)


def make(name, estimator=KernelPowerKMeans, **given):
    parameters = {"kernel": name, **KERNELS.get(name, {}), "random_state": 0, **given}
    return estimator(K_CLUSTERS, **parameters)


def gram(name, rows, columns):
    """The kernel matrix behind an estimator fitted to X, in double precision."""
    given = {"kernel": name, **KERNELS.get(name, {})}
    return resolve_kernel(X=X, random_state=0, **given)(rows, columns)


def naive_distances(model, name, rows, diagonal=None):
    """Distances in feature space of rows to the means of the fitted clusters."""
    K = gram(name, X, X)
    A = np.stack([(model.labels_ == j) / (model.labels_ == j).sum() for j in range(K_CLUSTERS)])
    own = np.diagonal(gram(name, rows, rows)) if diagonal is None else diagonal
    squared = own[:, None] - 2 * gram(name, rows, X) @ A.T + np.diagonal(A @ K @ A.T)
    return np.sqrt(np.maximum(squared, 0))


class TestAttributes:
    @pytest.mark.parametrize("dtype", ["float64", "float32"])
    def test_shapes_and_types(self, dtype):
        model = make("rbf", n_init=3, n_swaps=0).fit(X.astype(dtype))
        assert model.labels_.shape == (150,)
        assert np.issubdtype(model.labels_.dtype, np.integer)
        assert isinstance(model.inertia_, float)
        assert isinstance(model.n_iter_, int)
        assert isinstance(model.critical_power_, float)
        assert isinstance(model.gamma_, float)
        assert model.objective_history_.shape == model.power_history_.shape == (model.n_iter_,)
        assert model.memberships_.shape == (150, K_CLUSTERS)
        assert model.memberships_.dtype == dtype
        assert model.n_features_in_ == 4
        result = model.result_
        assert result.labels.shape == (3, 150)
        assert result.inertia.shape == result.n_iter.shape == result.converged.shape == (3,)
        assert [len(history) for history in result.objective_history] == result.n_iter.tolist()
        assert not hasattr(model, "cluster_centers_")
        assert not hasattr(KernelKMeans(2, random_state=0).fit(X), "critical_power_")

    def test_centres_have_the_shape_of_rows(self):
        model = PowerKMeans(K_CLUSTERS, random_state=0).fit(X.astype(np.float32))
        assert model.cluster_centers_.shape == (K_CLUSTERS, 4)
        assert model.cluster_centers_.dtype == np.float32

    @kernels
    def test_memberships_are_those_of_the_final_centroids(self, name):
        model = make(name).fit(X)
        np.testing.assert_allclose(model.memberships_.sum(axis=1), 1, rtol=1e-12)
        power = model.power_history_[np.isfinite(model.power_history_)][-1]
        d = naive_distances(model, name, X) ** 2
        for i in (0, 77, 149):
            w = oracle.power_weights(d[i], power)
            np.testing.assert_allclose(model.memberships_[i], w / w.sum(), rtol=1e-4, atol=1e-9)

    def test_hard_memberships_are_the_labels(self):
        model = make("rbf", KernelKMeans).fit(X)
        assert_array_equal(model.memberships_, np.eye(K_CLUSTERS)[model.labels_])
        assert np.isneginf(model.power_history_).all()

    def test_memberships_are_left_out_where_memory_is_short(self):
        small = make("linear", memory_budget=X.nbytes).fit(X)
        assert small.memberships_ is None
        assert_array_equal(small.labels_, make("linear").fit(X).labels_)

    @pytest.mark.parametrize("gamma", ["rms", "median", "scale", 0.7])
    def test_the_width_used(self, gamma):
        expected = resolve_kernel("rbf", X, gamma=gamma, random_state=0).parameters["gamma"]
        assert make("rbf", gamma=gamma).fit(X).gamma_ == pytest.approx(expected)
        assert make("linear").fit(X).gamma_ is None

    def test_parameters_are_not_changed_by_fit(self):
        for model in (make("rbf"), make("callable"), PowerKMeans(3)):
            before = copy.deepcopy(model.get_params())
            model.fit(X)
            assert model.get_params() == before

    def test_input_is_left_as_it_was(self):
        for name in ("rbf", "linear", "cosine", "poly"):
            rows, weight = X.copy(), np.arange(1.0, 151)
            model = make(name).fit(rows, sample_weight=weight)
            model.predict(rows)
            model.transform(rows)
            assert_array_equal(rows, X)
            assert_array_equal(weight, np.arange(1.0, 151))


@pytest.mark.slow
class TestTrainingRows:
    @kernels
    @pytest.mark.parametrize("estimator", [KernelPowerKMeans, KernelKMeans])
    @pytest.mark.parametrize("dtype", ["float64", "float32"])
    def test_labels_and_cost_are_those_of_predict_and_score(self, name, estimator, dtype):
        rows = X.astype(dtype)
        weight = np.random.default_rng(0).uniform(0.1, 2, 150)
        model = make(name, estimator).fit(rows, sample_weight=weight)
        assert_array_equal(model.labels_, model.predict(rows))
        assert model.inertia_ == -model.score(rows, sample_weight=weight)

    @pytest.mark.parametrize("name", [n for n in KERNELS if n != "callable"])
    @pytest.mark.parametrize("dtype", ["float64", "float32"])
    def test_sparse_rows_too(self, name, dtype):
        rows = np.where(X > 0.5, X, 0).astype(dtype)
        sparse = scipy.sparse.csr_array(rows)
        model = make(name).fit(sparse)
        assert_array_equal(model.labels_, model.predict(sparse))
        assert model.inertia_ == -model.score(sparse)
        dense = make(name).fit(rows)
        assert_array_equal(model.labels_, dense.labels_)
        assert model.inertia_ == pytest.approx(dense.inertia_, rel=1e-3)
        assert_array_equal(model.predict(rows), model.predict(sparse))

    @pytest.mark.parametrize("kind", [scipy.sparse.csr_matrix, scipy.sparse.csc_array])
    def test_other_sparse_kinds(self, kind):
        rows = np.where(X > 0.5, X, 0)
        dense = PowerKMeans(3, random_state=0).fit(rows)
        sparse = PowerKMeans(3, random_state=0).fit(kind(rows))
        assert_array_equal(dense.labels_, sparse.labels_)
        np.testing.assert_allclose(dense.cluster_centers_, sparse.cluster_centers_, rtol=1e-9)

    @pytest.mark.parametrize("cache_kernel", [True, False])
    @pytest.mark.parametrize("n", [151, 2100])
    def test_over_several_blocks(self, cache_kernel, n):
        rows = data.cloud(n, 3)
        model = make("rbf", cache_kernel=cache_kernel, eta=1.6).fit(rows)
        assert_array_equal(model.labels_, model.predict(rows))
        assert model.inertia_ == -model.score(rows)

    def test_fit_predict_and_fit_transform(self):
        assert_array_equal(make("rbf").fit_predict(X), make("rbf").fit(X).labels_)
        assert_array_equal(make("rbf").fit_transform(X), make("rbf").fit(X).transform(X))


class TestNewRows:
    @kernels
    def test_distances_are_those_of_the_equations(self, name):
        model = make(name).fit(X)
        for rows in (X, NEW):
            got = model.transform(rows)
            assert got.shape == (len(rows), K_CLUSTERS)
            # A square root doubles the digits lost to rounding near zero.
            np.testing.assert_allclose(
                got, naive_distances(model, name, rows), atol=3e-6, rtol=1e-7
            )

    @kernels
    def test_labels_and_score_follow_the_distances(self, name):
        model = make(name).fit(X)
        d = model.transform(NEW)
        assert_array_equal(model.predict(NEW), d.argmin(axis=1))
        weight = np.random.default_rng(0).uniform(0, 2, 40)
        got = model.score(NEW, sample_weight=weight)
        assert got == pytest.approx(-(weight @ d.min(axis=1) ** 2), rel=1e-9)

    def test_a_row_does_not_depend_on_its_company(self):
        model = make("rbf").fit(X)
        assert_array_equal([model.predict(row[None])[0] for row in NEW], model.predict(NEW))

    def test_rows_are_taken_in_the_precision_of_the_fit(self):
        model = make("rbf").fit(X.astype(np.float32))
        assert model.transform(NEW).dtype == np.float32
        assert_array_equal(model.predict(NEW), model.predict(NEW.astype(np.float32)))


class TestPrecomputed:
    @kernels
    @pytest.mark.parametrize("estimator", [KernelPowerKMeans, KernelKMeans])
    def test_a_kernel_matrix_gives_the_labels_of_its_kernel(self, name, estimator):
        by_rows = make(name, estimator).fit(X)
        by_matrix = make("precomputed", estimator).fit(gram(name, X, X))
        assert_array_equal(by_matrix.labels_, by_rows.labels_)
        assert by_matrix.inertia_ == pytest.approx(by_rows.inertia_, rel=1e-7)
        assert_array_equal(by_matrix.predict(gram(name, NEW, X)), by_rows.predict(NEW))

    @kernels
    @pytest.mark.parametrize("dtype", ["float64", "float32"])
    def test_labels_and_cost_are_those_of_predict_and_score(self, name, dtype):
        K = gram(name, X, X).astype(dtype)
        model = make("precomputed").fit(K)
        assert_array_equal(model.labels_, model.predict(K))
        assert model.inertia_ == -model.score(K)

    def test_a_constant_diagonal_is_that_of_new_rows(self):
        model = make("precomputed").fit(gram("rbf", X, X))
        got = model.transform(gram("rbf", NEW, X))
        np.testing.assert_allclose(got, make("rbf").fit(X).transform(NEW), atol=1e-7)

    def test_a_given_diagonal(self):
        model = make("precomputed").fit(gram("poly", X, X))
        rows, own = gram("poly", NEW, X), np.diagonal(gram("poly", NEW, NEW))
        vector = make("poly").fit(X)
        np.testing.assert_allclose(
            model.transform(rows, diagonal=own), vector.transform(NEW), rtol=1e-6
        )
        assert model.score(rows, diagonal=own.tolist()) == pytest.approx(vector.score(NEW))

    def test_without_it_the_mean_is_taken_with_a_warning(self):
        K = gram("poly", X, X)
        model = make("precomputed").fit(K)
        rows = gram("poly", NEW, X)
        mean = np.full(40, np.diagonal(K).mean())
        for method in (model.transform, model.score):
            with pytest.warns(UserWarning, match=r"not constant; its mean is used. Pass diagonal="):
                got = method(rows)
            np.testing.assert_allclose(got, method(rows, diagonal=mean), rtol=1e-12)

    def test_training_rows_have_their_own_diagonal_in_any_order(self):
        K = gram("poly", X, X)
        model = make("precomputed").fit(K)
        order = np.random.default_rng(0).permutation(150)[:70]
        np.testing.assert_allclose(
            model.transform(K[order]), model.transform(K)[order], rtol=1e-12, atol=1e-12
        )

    @pytest.mark.parametrize("diagonal", [np.ones(39), np.ones((40, 1)), np.full(40, np.nan), 1.0])
    def test_other_diagonals_are_refused(self, diagonal):
        model = make("precomputed").fit(gram("poly", X, X))
        for method in (model.predict, model.transform, model.score):
            with pytest.raises(ValueError, match=r"diagonal must hold k\(x, x\).*40 rows"):
                method(gram("poly", NEW, X), diagonal=diagonal)

    @pytest.mark.parametrize("cache_kernel", [True, False])
    def test_the_matrix_is_left_as_it_was(self, cache_kernel):
        K = gram("rbf", X, X)
        before = K.copy()
        model = make("precomputed", cache_kernel=cache_kernel).fit(K)
        model.transform(K)
        assert_array_equal(K, before)


class TestCopies:
    @kernels
    @pytest.mark.parametrize("way", ["pickle", "joblib", "deepcopy"])
    def test_answers_are_the_same(self, name, way):
        model = make(name).fit(X)
        if way == "pickle":
            other = pickle.loads(pickle.dumps(model))
        elif way == "joblib":
            file = io.BytesIO()
            joblib.dump(model, file)
            file.seek(0)
            other = joblib.load(file)
        else:
            other = copy.deepcopy(model)
        assert_array_equal(other.predict(NEW), model.predict(NEW))
        assert_array_equal(other.transform(NEW), model.transform(NEW))
        assert other.score(X) == model.score(X)

    def test_clones_are_not_fitted(self):
        model = make("rbf", n_init=2, n_swaps="auto").fit(X)
        other = clone(model)
        assert other.get_params() == model.get_params()
        with pytest.raises(NotFittedError):
            other.predict(X)
        assert_array_equal(other.fit(X).labels_, model.labels_)

    @pytest.mark.parametrize("name", ["rbf", "precomputed", "linear", "poly"])
    @pytest.mark.parametrize("cache_kernel", [True, False])
    def test_a_fitted_model_holds_no_kernel_matrix(self, name, cache_kernel):
        n = 600
        rows = data.cloud(n, 3)
        model = make(name, cache_kernel=cache_kernel, eta=1.6)
        model.fit(data.rms_kernel(rows) if name == "precomputed" else rows)
        size = len(pickle.dumps(model))
        # The rows, and coefficients and weights of a few numbers for each row and cluster.
        assert size < n * 8 * (3 + 4 * K_CLUSTERS) + 50_000
        assert size < 0.1 * n * n * 8


@pytest.mark.parametrize("method", ["predict", "transform", "score"])
@pytest.mark.parametrize("estimator", [KernelPowerKMeans, KernelKMeans, PowerKMeans])
def test_nothing_is_answered_before_a_fit(method, estimator):
    with pytest.raises(NotFittedError, match=f"This {estimator.__name__} instance is not fitted"):
        getattr(estimator(), method)(X)
    with pytest.raises((NotFittedError, AttributeError)):
        _ = estimator().cluster_centers_


@pytest.mark.parametrize("method", ["predict", "transform", "score"])
@pytest.mark.parametrize("name", ["rbf", "linear", "precomputed"])
def test_a_wrong_number_of_features_is_refused(method, name):
    model = make(name).fit(data.rms_kernel(X) if name == "precomputed" else X)
    expected = 150 if name == "precomputed" else 4
    with pytest.raises(ValueError, match=f"X has 3 features, but .* expecting {expected} features"):
        getattr(model, method)(X[:, :3])


class TestInvariance:
    """Renaming, moving, turning and scaling the data."""

    SEEDS = np.array([0, 30, 60, 90, 120])

    def labels(self, rows, seeds=SEEDS, name="rbf", **given):
        return make(name, init=seeds, **given).fit(rows).labels_

    @pytest.mark.parametrize("name", ["rbf", "linear", "poly", "geodesic"])
    def test_permuting_rows_permutes_labels(self, name):
        order = np.random.default_rng(0).permutation(150)
        seeds = np.argsort(order)[self.SEEDS]
        # Swap moves draw samples by their number.
        expected = self.labels(X, name=name, n_swaps=0)[order]
        assert_array_equal(self.labels(X[order], seeds, name, n_swaps=0), expected)

    @pytest.mark.parametrize("gamma", ["rms", "median", "scale"])
    @pytest.mark.parametrize("unit", [1e-6, 1e-2, 1e6])
    def test_the_unit_of_the_data_does_not_matter(self, gamma, unit):
        assert_array_equal(self.labels(unit * X, gamma=gamma), self.labels(X, gamma=gamma))

    @pytest.mark.parametrize("name", ["rbf", "linear", "laplacian"])
    def test_the_place_of_the_data_does_not_matter(self, name):
        assert_array_equal(self.labels(X + 50, name=name), self.labels(X, name=name))

    @pytest.mark.parametrize("name", ["rbf", "linear", "poly", "cosine", "geodesic"])
    def test_turning_the_data_does_not_matter(self, name):
        turn = np.linalg.qr(data.cloud(4, 4))[0]
        assert_array_equal(self.labels(X @ turn, name=name), self.labels(X, name=name))

    @pytest.mark.parametrize("unit", [1e-100, 1e-6, 1e6, 1e100])
    def test_the_scale_of_the_kernel_does_not_matter(self, unit):
        K = gram("rbf", X, X)
        one, other = (make("precomputed", init=self.SEEDS).fit(c * K) for c in (1, unit))
        assert_array_equal(one.labels_, other.labels_)
        assert other.inertia_ == pytest.approx(unit * one.inertia_, rel=1e-9)
        np.testing.assert_allclose(
            other.objective_history_, unit * one.objective_history_, rtol=1e-9
        )

    def test_the_origin_of_the_kernel_does_not_matter(self):
        K = gram("poly", X, X)
        one, other = (
            make("precomputed", init=self.SEEDS).fit(matrix) for matrix in (K, oracle.centred(K))
        )
        assert_array_equal(one.labels_, other.labels_)
        assert other.inertia_ == pytest.approx(one.inertia_, rel=1e-8)


@pytest.mark.parametrize("seed", range(6))
def test_of_restarts_of_equal_cost_one_is_the_best_throughout(seed):
    rows, _ = make_blobs(300, 4, centers=3, random_state=0)
    model = KernelPowerKMeans(3, kernel="rbf", init="random", random_state=seed).fit(rows)
    assert_array_equal(model.labels_, model.result_.labels[model.result_.best])
    assert model.n_iter_ == model.result_.n_iter[model.result_.best]


def test_a_model_does_not_change_with_the_array_it_was_fitted_to():
    rows = np.array(X)
    model = KernelPowerKMeans(3, kernel="rbf", random_state=0).fit(rows)
    before = model.predict(X)
    rows[:] = 0
    assert_array_equal(model.predict(X), before)


def test_an_unfinished_fit_is_no_fit():
    def interrupted(A, B):
        raise KeyboardInterrupt

    model = KernelPowerKMeans(3, kernel=interrupted)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X)
    with pytest.raises(NotFittedError):
        model.predict(X)


def test_a_fit_that_fails_leaves_the_earlier_one():
    model = KernelPowerKMeans(3, kernel="rbf", random_state=0).fit(X)
    labels = model.predict(X)
    with pytest.raises(ValueError, match="should be >= n_clusters"):
        model.fit(X[:2])
    np.testing.assert_array_equal(model.predict(X), labels)
    np.testing.assert_array_equal(model.labels_, labels)


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
@pytest.mark.parametrize("call", [1, 3, 50])
def test_a_refit_that_ends_early_leaves_the_model_as_it_was(call, error):
    calls: list[int] = []

    def kernel(A, B):
        calls.append(1)
        if len(calls) == end:
            raise error
        return A @ B.T

    end = 0
    # Kernel values that are not held are asked for in all steps.
    model = KernelPowerKMeans(
        3, kernel=kernel, cache_kernel=False, approximation=None, random_state=0
    ).fit(X)
    before = dict(vars(model))
    end = len(calls) + call
    with pytest.raises(error):
        model.fit(X[:100, :3])
    assert vars(model).keys() == before.keys()
    assert all(value is before[name] for name, value in vars(model).items())
    assert_array_equal(model.predict(X), model.labels_)
