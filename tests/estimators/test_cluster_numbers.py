"""Clusters are numbered by weight, the largest first, unless the user gives the starts."""

import copy
import pickle

import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from kernelmeans import KernelKMeans, KernelPowerKMeans, MultiKernelPowerKMeans, PowerKMeans
from kernelmeans.baselines import MKKM, RKKM, RMKKM
from kernelmeans.rows import open_rows

SIZES = [30, 25, 20, 15]
CORNERS = np.array([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0], [9.0, 9.0]])
K = len(SIZES)
SHORT = {"n_clusters": K, "random_state": 0}
VIEWS = [("rbf", [0, 1]), ("linear", [0, 1])]
MODELS = {
    "KernelKMeans": KernelKMeans(kernel="rbf", n_init=3, **SHORT),
    "random starts": KernelKMeans(kernel="rbf", init="random", n_init=10, **SHORT),
    "KernelPowerKMeans": KernelPowerKMeans(kernel="rbf", **SHORT),
    "restarts": KernelPowerKMeans(kernel="rbf", init="random", n_init=4, **SHORT),
    "heat": KernelPowerKMeans(**SHORT),
    "recomputed": KernelPowerKMeans(kernel="rbf", cache_kernel=False, **SHORT),
    "landmarks": KernelPowerKMeans(
        kernel="rbf", approximation="landmarks", n_components=20, **SHORT
    ),
    "PowerKMeans": PowerKMeans(**SHORT),
    "several": MultiKernelPowerKMeans(kernels=VIEWS, **SHORT),
    "several in features": MultiKernelPowerKMeans(
        kernels=VIEWS, approximation="landmarks", n_components=20, **SHORT
    ),
    "MKKM": MKKM(kernels=VIEWS, init="k-means++", n_init=5, **SHORT),
    "RKKM": RKKM(kernel="rbf", init="k-means++", n_init=5, **SHORT),
    "RMKKM": RMKKM(kernels=VIEWS, init="k-means++", n_init=5, **SHORT),
}
models = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)


def groups(sizes=SIZES, seed=0):
    """Rows around the corners of a square in random order, and the number of the corner of each."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    return CORNERS[y] + 0.5 * rng.standard_normal((len(y), 2)), y


X, Y = groups()


def by_first_row(y):
    """The same groups, numbered in the order of their first rows."""
    _, first, where = np.unique(y, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[where]


@models
class TestEveryEstimator:
    def test_sizes_fall(self, model):
        assert_array_equal(clone(model).fit(X).labels_, Y)

    def test_all_answers_follow(self, model):
        fitted = clone(model).fit(X)
        assert_array_equal(fitted.predict(X), fitted.labels_)
        assert_array_equal(fitted.transform(X).argmin(axis=1), fitted.labels_)
        assert_array_equal(fitted.memberships_.argmax(axis=1), fitted.labels_)
        assert_array_equal(fitted.result_.labels[fitted.result_.best], fitted.labels_)
        assert_allclose(-fitted.score(X), fitted.inertia_, rtol=1e-9)

    def test_the_order_of_the_rows_does_not_matter(self, model):
        order = np.random.default_rng(1).permutation(len(X))
        assert_array_equal(clone(model).fit(X[order]).labels_, Y[order])

    def test_weights_count_and_not_rows(self, model):
        weight = np.array([1, 2, 4, 8])[Y]  # 30, 50, 80 and 120 in all
        fitted = clone(model).fit(X, sample_weight=weight)
        assert_array_equal(fitted.labels_, 3 - Y)
        assert_array_equal(fitted.predict(X), fitted.labels_)

    def test_of_equal_clusters_the_first_row_decides(self, model):
        rows, y = groups([15, 30, 15, 30], seed=2)
        large = np.isin(y, [1, 3])
        expected = np.empty_like(y)
        expected[large] = by_first_row(y[large])
        expected[~large] = 2 + by_first_row(y[~large])
        assert_array_equal(clone(model).fit(rows).labels_, expected)

    @pytest.mark.parametrize("order", [[0, 1, 2, 3], [2, 0, 3, 1]])
    def test_given_starts_keep_their_numbers(self, model, order):
        rows = [int(np.flatnonzero(order[label] == Y)[0]) for label in range(K)]
        fitted = clone(model).set_params(init=rows, n_init="auto").fit(X)
        assert_array_equal(fitted.labels_[rows], np.arange(K))
        made = clone(model).set_params(init=lambda X, k, rng: np.array(rows), n_init=1).fit(X)
        assert_array_equal(made.labels_, fitted.labels_)


@pytest.mark.parametrize("name", ["KernelKMeans", "KernelPowerKMeans", "restarts"])
def test_kernel_matrices(name):
    rbf = np.exp(-((X[:, None] - X) ** 2).sum(axis=2) / 30)
    model = clone(MODELS[name]).set_params(kernel="precomputed").fit(rbf)
    assert_array_equal(model.labels_, Y)
    assert_array_equal(model.predict(rbf), Y)


def test_stacks_of_kernel_matrices():
    rbf = np.exp(-((X[:, None] - X) ** 2).sum(axis=2) / 30)
    stack = np.stack([rbf, np.sqrt(rbf)])
    model = MultiKernelPowerKMeans(kernels="precomputed", **SHORT).fit(stack)
    assert_array_equal(model.labels_, Y)
    assert_array_equal(model.predict(stack), Y)


def test_graphs():
    edges = scipy.sparse.csr_array((((X[:, None] - X) ** 2).sum(axis=2) < 4).astype(float))
    model = KernelPowerKMeans(kernel="graph", **SHORT).fit(edges)
    assert_array_equal(model.labels_, Y)
    assert_array_equal(model.predict(edges), Y)


def test_centroids_of_power_kmeans_are_the_means():
    model = MODELS["PowerKMeans"]
    means = [X[label == Y].mean(axis=0) for label in range(K)]
    assert_allclose(clone(model).fit(X).cluster_centers_, means, atol=1e-9)


def test_every_restart_is_numbered():
    model = clone(MODELS["random starts"]).fit(X)
    assert len(model.result_.labels) == 10
    for labels in model.result_.labels:
        assert (np.diff(np.bincount(labels, minlength=K)) <= 0).all()


DISTINCT = np.repeat(np.eye(3), [10, 30, 20], axis=0)


@models
@pytest.mark.filterwarnings("ignore:Number of distinct clusters")
class TestFewerDistinctRowsThanClusters:
    """Several centroids are equal, or differ by rounding."""

    def fitted(self, model):
        return clone(model).set_params(n_clusters=8).fit(DISTINCT)

    def test_clusters_without_rows_are_the_last(self, model):
        fitted = self.fitted(model)
        assert_array_equal(fitted.labels_, np.repeat([2, 0, 1], [10, 30, 20]))
        assert_array_equal(fitted.predict(DISTINCT), fitted.labels_)
        assert_array_equal(fitted.result_.labels[fitted.result_.best], fitted.labels_)

    def test_new_numbers_are_those_of_new_rows_too(self, model):
        fitted, numbers = self.fitted(model), np.arange(8)[::-1]
        fitted.renumber(numbers)
        assert_array_equal(fitted.labels_, np.repeat([5, 7, 6], [10, 30, 20]))
        assert_array_equal(fitted.predict(DISTINCT), fitted.labels_)


@pytest.mark.filterwarnings("ignore:kernel='precomputed'")
class TestKernelsThatAreNotPositive:
    """Squared distances may be negative, and rounding is not all that the solver cuts off."""

    @pytest.mark.parametrize("estimator", [KernelPowerKMeans, KernelKMeans])
    @pytest.mark.parametrize("seed", range(3))
    def test_sizes_fall(self, estimator, seed):
        matrix = np.random.default_rng(seed).standard_normal((60, 60))
        matrix += matrix.T
        model = estimator(3, kernel="precomputed", random_state=0).fit(matrix)
        assert (np.diff(np.bincount(model.labels_, minlength=3)) <= 0).all()
        assert_array_equal(model.predict(matrix), model.labels_)
        assert_array_equal(model.result_.labels[model.result_.best], model.labels_)

    def test_clusters_that_are_found_are_those_of_the_labels(self):
        distances = np.sqrt(((X[:, None] - X) ** 2).sum(axis=2))
        matrix = distances + 0.01 * distances.mean() * np.eye(len(X))
        with pytest.warns(UserWarning, match="distinct clusters") as caught:
            model = KernelPowerKMeans(3, kernel="precomputed", random_state=0).fit(matrix)
        found = len(np.unique(model.labels_))
        assert any(f"distinct clusters ({found}) found" in str(one.message) for one in caught)


def test_clusters_without_rows_are_the_last():
    rows = np.repeat([[0.0], [5.0], [9.0]], [2, 4, 3], axis=0)
    with pytest.warns(UserWarning, match="distinct clusters"):
        model = KernelKMeans(5, kernel="rbf", random_state=0).fit(rows)
    assert_array_equal(model.labels_, [2] * 2 + [0] * 4 + [1] * 3)


def test_rows_without_weight_do_not_number_clusters_of_equal_weight():
    rows, y = groups([20, 20, 20])
    corners = CORNERS[[2, 1, 0, 1]]
    weight = np.r_[np.zeros(len(corners)), np.ones(len(rows))]
    model = KernelKMeans(3, kernel="rbf", random_state=0)
    labels = model.fit(np.r_[corners, rows], sample_weight=weight).labels_
    assert_array_equal(labels[len(corners) :], by_first_row(y))


def test_rows_on_disk(tmp_path):
    np.save(tmp_path / "X.npy", np.tile(X, (400, 1)))
    rows = open_rows(tmp_path / "X.npy")
    model = PowerKMeans(memory_budget=2 * rows.nbytes, **SHORT).fit(rows)
    assert_array_equal(model.labels_, np.tile(Y, 400))
    assert_array_equal(model.predict(rows), model.labels_)
    np.save(tmp_path / "few.npy", DISTINCT)
    few = open_rows(tmp_path / "few.npy")
    with pytest.warns(UserWarning, match="distinct clusters"):
        model = PowerKMeans(8, memory_budget=3 * few.nbytes, random_state=0).fit(few)
    assert_array_equal(model.labels_, np.repeat([2, 0, 1], [10, 30, 20]))


def test_dask_arrays():
    from_array = pytest.importorskip("dask.array").from_array
    array = from_array(X, (32, 2))
    model = PowerKMeans(**SHORT).fit(array)
    assert_array_equal(model.labels_.compute(), Y)
    assert_array_equal(model.predict(array).compute(), Y)
    assert_array_equal(model.predict(X), Y)
    few = from_array(DISTINCT, (20, 3))
    with pytest.warns(UserWarning, match="distinct clusters"):
        model = PowerKMeans(8, random_state=0).fit(few)
    assert_array_equal(model.labels_.compute(), np.repeat([2, 0, 1], [10, 30, 20]))
    assert_array_equal(model.predict(few).compute(), model.labels_.compute())


@models
def test_new_numbers_are_those_of_all_answers(model):
    fitted = clone(model).fit(X)
    before, distances, soft = fitted.labels_, fitted.transform(X), fitted.memberships_
    numbers = np.array([2, 0, 3, 1])
    assert fitted.renumber(numbers) is fitted
    assert_array_equal(fitted.labels_, numbers[before])
    assert_array_equal(fitted.predict(X), fitted.labels_)
    assert_array_equal(fitted.transform(X)[:, numbers], distances)
    assert_array_equal(fitted.memberships_[:, numbers], soft)
    assert_array_equal(fitted.result_.labels[fitted.result_.best], fitted.labels_)


@models
def test_new_numbers_of_a_copy_are_its_own(model):
    fitted = clone(model).fit(X)
    before, labels = pickle.dumps(fitted), fitted.predict(X)
    other = copy.copy(fitted).renumber([1, 2, 3, 0])
    assert pickle.dumps(fitted) == before
    assert_array_equal(fitted.predict(X), labels)
    assert_array_equal(other.predict(X), (labels + 1) % K)


@pytest.mark.parametrize(
    ("numbers", "completed"),
    [
        ([-1, -1, -1, -1], [0, 1, 2, 3]),
        ([-1, 0, -1, 2], [1, 0, 3, 2]),
        ([7, -5, 1, -1], [0, 2, 1, 3]),
    ],
)
def test_free_numbers_go_to_the_largest_clusters_first(numbers, completed):
    model = PowerKMeans(**SHORT).fit(X).renumber(numbers)
    assert_array_equal(model.labels_, np.array(completed)[Y])
    assert_array_equal(model.cluster_centers_.round(-1), 10 * (CORNERS[np.argsort(completed)] > 0))


@pytest.mark.parametrize("numbers", [[0, 1, 2], [[0, 1, 2, 3]], [0.0, 1.0, 2.0, 3.0], [1, 1, 0, 2]])
def test_numbers_that_are_refused(numbers):
    model = PowerKMeans(**SHORT).fit(X)
    with pytest.raises(ValueError, match="numbers must be"):
        model.renumber(numbers)
    assert_array_equal(model.labels_, Y)


def test_centroids_of_several_kernels_stay_shared():
    model = MultiKernelPowerKMeans(kernels=["rbf", "laplacian"], approximation=None, **SHORT).fit(X)
    model.renumber([3, 2, 1, 0])
    first, second = model._predictor.members
    assert first.coefficients is second.coefficients


def test_new_numbers_of_dask_labels():
    from_array = pytest.importorskip("dask.array").from_array
    array = from_array(X, (32, 2))
    model = PowerKMeans(**SHORT).fit(array).renumber([3, 2, 1, 0])
    assert_array_equal(model.labels_.compute(), 3 - Y)
    assert_array_equal(model.predict(array).compute(), 3 - Y)
