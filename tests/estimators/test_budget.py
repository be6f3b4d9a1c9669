"""Memory: refused before it is taken, and done without when asked."""

import time
import tracemalloc

import numpy as np
import psutil
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

import data
from kernelmeans import KernelKMeans, KernelPowerKMeans, PowerKMeans, _devices
from kernelmeans._devices import Device
from kernelmeans.lowrank import sampling


def spying_kernel(A, B):
    raise AssertionError("the kernel was computed")


@pytest.mark.parametrize("estimator", [KernelPowerKMeans, KernelKMeans])
@pytest.mark.parametrize("kernel", ["rbf", "laplacian", spying_kernel])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_a_kernel_matrix_that_does_not_fit_is_refused_at_once(estimator, kernel, dtype):
    n = 200_000
    X = np.ones((n, 2), dtype)
    # The matrix, and six arrays of k x n for old and new centroids and shares on their way.
    size = (n * n + 5 * 3 * n) * np.dtype(dtype).itemsize
    message = (
        rf"n_samples=200000: the kernel matrix, with the centroids, takes .*\({size} bytes\), "
        r"more than the memory budget of 1.0 GB \(1000000000 bytes\). Set "
        r"approximation='landmarks' \(low rank\), or cache_kernel=False"
    )
    start = time.perf_counter()
    with pytest.raises(MemoryError, match=message) as caught:
        estimator(3, kernel=kernel, approximation=None, memory_budget="1GB").fit(X)
    assert time.perf_counter() - start < 2
    assert ("float32" in str(caught.value)) == (dtype == "float64")


def test_most_of_all_memory_is_the_default_budget():
    with pytest.raises(MemoryError, match="cache_kernel=False"):
        KernelPowerKMeans(3, kernel="rbf", approximation=None).fit(np.ones((10**7, 1), np.float32))


class TestFreeMemory:
    """What is free at the moment decides on no plan, but what it does not hold is refused."""

    X = data.cloud(3000, 2)
    EXACT = KernelPowerKMeans(3, kernel="rbf", approximation=None, eta=3.0, random_state=0)
    LOW_RANK = clone(EXACT).set_params(approximation="landmarks", n_components=3000)

    @pytest.fixture
    def nearly_full(self, monkeypatch):
        monkeypatch.setattr(Device, "memory", lambda self: (70_000_000, 2**36))

    @pytest.mark.usefixtures("nearly_full")
    def test_a_matrix_beyond_it_is_refused(self):
        message = (
            r"the kernel matrix, with the centroids, takes 72\.4 MB .* the free memory of 70\.0 MB "
            r".*Set memory_budget to what the fit may take, or set approximation='landmarks'"
        )
        with pytest.raises(MemoryError, match=message):
            clone(self.EXACT).fit(self.X)
        # Who says how much may be taken knows better.
        clone(self.EXACT).set_params(memory_budget="80MB").fit(self.X)

    @pytest.mark.usefixtures("nearly_full")
    @pytest.mark.slow
    def test_so_are_features(self, monkeypatch):
        monkeypatch.setattr(_devices, "ALWAYS_FREE", 20_000)
        monkeypatch.setattr(Device, "memory", lambda self: (30_000, 2**36))
        model = clone(self.LOW_RANK).set_params(n_components=10)
        message = r"10 components.* free memory of 30.*Set memory_budget .*, or use fewer"
        with pytest.raises(MemoryError, match=message):
            model.fit(self.X)
        model.set_params(memory_budget="500KB").fit(self.X)

    def test_little_is_never_refused(self, monkeypatch):
        monkeypatch.setattr(Device, "memory", lambda self: (0, 2**36))
        clone(self.EXACT).fit(self.X[:500])

    @pytest.mark.parametrize("way", ["exact", "restarts", "landmarks"])
    def test_the_same_bits_whatever_is_free(self, way, monkeypatch):
        """A tenth of the bytes of the matrix or the features, or a thousand times as many."""
        model = {
            "exact": clone(self.EXACT),
            "restarts": clone(self.EXACT).set_params(init="random", n_init=20),
            "landmarks": clone(self.LOW_RANK).set_params(n_components=40),
        }[way]
        answers = []
        for free in (30_000, 2**35):
            machine = type("Memory", (), {"total": 2**36, "available": free})
            monkeypatch.setattr(psutil, "virtual_memory", lambda machine=machine: machine)
            model.fit(self.X[:1000])
            answers.append((model.labels_.tobytes(), model.objective_history_.tobytes()))
        assert answers[0] == answers[1]


@pytest.mark.slow
def test_parallel_searches_choose_what_serial_ones_do():
    """Each fit of a search in parallel plans as if it were alone."""
    X = data.blobs(600, 4, 4, spread=1.5)[0]
    models = {"gamma": [0.02, 0.1, 0.5], "approximation": ["auto", "landmarks"]}
    model = KernelPowerKMeans(4, kernel="rbf", n_components=20, eta=1.5, random_state=0)
    one, two = (GridSearchCV(model, models, cv=3, n_jobs=jobs).fit(X) for jobs in (1, 2))
    for split in range(3):
        name = f"split{split}_test_score"
        assert_array_equal(two.cv_results_[name], one.cv_results_[name])
    assert two.best_params_ == one.best_params_
    assert_array_equal(two.best_estimator_.labels_, one.best_estimator_.labels_)


def test_the_copy_of_a_precomputed_matrix_counts():
    K = data.rms_kernel(data.cloud(100))
    model = KernelPowerKMeans(3, kernel="precomputed", approximation=None, random_state=0)
    with pytest.raises(MemoryError, match=r"copy of X, with the centroids, takes 92\.0 KB"):
        model.set_params(memory_budget=91_999).fit(K)
    model.set_params(memory_budget=92_000).fit(K)


def test_recomputed_rows_need_room_for_the_centroids():
    # With this many clusters the centroids outweigh the kernel matrix.
    with pytest.raises(MemoryError, match=r"n_clusters=300: a step .* fewer rows or clusters"):
        KernelPowerKMeans(
            300, kernel="rbf", approximation=None, cache_kernel=False, memory_budget="1MB"
        ).fit(data.cloud(1000))


@pytest.mark.parametrize("kernel", ["linear", "cosine"])
def test_kernels_with_features_need_no_matrix(kernel):
    X = np.random.default_rng(0).uniform(0.1, 1, (20_000, 3)).astype(np.float32)
    model = KernelPowerKMeans(3, kernel=kernel, memory_budget="50MB", eta=2.0, random_state=0)
    assert model.fit(X).labels_.shape == (20_000,)


@pytest.mark.parametrize(
    ("kernel", "smallest"), [("linear", 280_000), ("rbf", 1_000_000)], ids=["rows", "components"]
)
def test_features_that_do_not_fit_give_the_same_clusters_until_refused(
    kernel, smallest, monkeypatch
):
    monkeypatch.setattr(sampling, "MOST_ROWS", 5000)
    X = data.blobs(20_000, 3, 4)[0]
    model = KernelPowerKMeans(
        4, kernel=kernel, approximation="landmarks", n_components=12, n_swaps=0, random_state=0
    )
    held, *recomputed = (
        clone(model).set_params(memory_budget=budget).fit(X)
        for budget in ("1GB", 4_000_000, smallest)
    )
    assert "recomputed" not in held.approximation_reason_
    for each in recomputed:
        assert "recomputed" in each.approximation_reason_
        assert_array_equal(each.labels_, held.labels_)
        assert each.inertia_ == pytest.approx(held.inertia_, rel=1e-13)
        assert each.critical_power_ == pytest.approx(held.critical_power_, rel=1e-6)
    message = r"n_samples=20000: holding 5000 rows, with their features, takes .* Use fewer"
    with pytest.raises(MemoryError, match=message):
        clone(model).set_params(memory_budget=200_000).fit(X)


@pytest.mark.parametrize(
    ("n", "message"),
    [
        (600, r"n_samples=600: holding 600 rows, with their features, takes 480\.0 KB"),
        (4500, r"n_samples=4500: holding 4096 rows, with their features, takes 3\.3 MB"),
    ],
    ids=["all rows", "subsample"],
)
def test_a_subsample_of_few_wide_rows_has_to_fit(n, message, monkeypatch):
    # Rows count as wide: the subsample is as small as it can be.
    monkeypatch.setattr(sampling, "MOST_BYTES", 0)
    X = data.cloud(n, 100).astype(np.float32)
    model = KernelKMeans(2, kernel="linear", memory_budget=200_000, random_state=0)
    with pytest.raises(
        MemoryError, match=message + r".*memory budget of 200.*Use fewer columns, or"
    ):
        model.fit(X)


@pytest.mark.slow
@pytest.mark.parametrize("kernel", ["rbf", "poly", "laplacian", "geodesic", "precomputed"])
@pytest.mark.parametrize("estimator", [KernelPowerKMeans, KernelKMeans])
def test_recomputed_rows_give_the_labels_of_a_cached_matrix(kernel, estimator):
    X = data.cloud(200, 3)
    weight = np.random.default_rng(0).uniform(0.1, 2, 200)
    rows = data.rms_kernel(X) if kernel == "precomputed" else X
    cached = estimator(5, kernel=kernel, random_state=0).fit(rows, sample_weight=weight)
    recomputed = estimator(
        5, kernel=kernel, cache_kernel=False, memory_budget="80KB", random_state=0
    ).fit(rows, sample_weight=weight)
    assert_array_equal(recomputed.labels_, cached.labels_)
    assert recomputed.inertia_ == pytest.approx(cached.inertia_, rel=1e-9)
    assert recomputed.n_iter_ == cached.n_iter_


def peak_bytes(model, X):
    tracemalloc.start()
    model.fit(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


@pytest.mark.slow
def test_recomputed_rows_stay_far_below_the_matrix():
    n = 3000
    X = data.cloud(n, 2)
    model = KernelPowerKMeans(
        3, kernel="rbf", cache_kernel=False, memory_budget="4MB", eta=3.0, random_state=0
    )
    # The matrix would take 72 MB. Beside the rows: centroids, and rows of data in the predictor.
    assert peak_bytes(model, X) < 12e6


@pytest.mark.slow
@pytest.mark.parametrize("precomputed", [False, True])
def test_a_cached_matrix_is_all_that_is_held(precomputed):
    n = 4000
    X = data.cloud(n, 4).astype(np.float32)
    kernel = "precomputed" if precomputed else "rbf"
    rows = data.rms_kernel(X.astype(float)).astype(np.float32) if precomputed else X
    model = KernelPowerKMeans(10, kernel=kernel, eta=1.5, random_state=0)
    # Blocks of rows on their way take some 70 MB, whatever the size of the matrix.
    assert peak_bytes(model, rows) < n * n * 4 + 100e6


@pytest.mark.slow
def test_many_restarts_stay_within_the_budget():
    n = 500
    X = data.cloud(n, 3)
    model = KernelPowerKMeans(
        10,
        kernel="rbf",
        init="random",
        n_init=200,
        eta=2.0,
        memory_budget=4 * n * n * 8,
        random_state=0,
    )
    # 200 restarts at once would take 48 MB; the budget is 8 MB.
    assert peak_bytes(model, X) < 2 * 4 * n * n * 8
    assert len(model.result_.inertia) == 200


def test_power_k_means_has_no_kernel_to_cache():
    assert "cache_kernel" not in PowerKMeans().get_params()
    X = data.cloud(50_000, 2).astype(np.float32)
    PowerKMeans(3, eta=2.0, memory_budget="20MB", random_state=0).fit(X)
