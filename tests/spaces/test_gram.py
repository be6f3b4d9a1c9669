"""The spaces known through their kernel matrix: cached and recomputed."""

import threading
import time
import tracemalloc
import weakref

import numpy as np
import pytest
import scipy.sparse

from kernelmeans.engines import Threads
from kernelmeans.kernels import Kernel
from kernelmeans.solver.blockwise import combination
from kernelmeans.solver.seeding import from_weights
from kernelmeans.spaces import GramSpace
from kernelmeans.spaces.kernel_rows import ROW_BUDGET, portions
from oracle import rbf
from spaces.conformance import N, SpaceConformance

GAMMA = 0.3
RBF = Kernel("rbf", {"gamma": GAMMA})


def tiny_budget(dtype):
    """Kernel entries of twelve rows, so that N samples make a hundred blocks."""
    return 12 * N * np.dtype(dtype).itemsize


class TestCached(SpaceConformance):
    def make_space(self, X, weight, threads):
        return GramSpace.hold(RBF, X, weight, threads)

    def gram(self, X):
        X = (X.toarray() if scipy.sparse.issparse(X) else X).astype(np.float64)
        return rbf(X, X, GAMMA)


@pytest.mark.slow
class TestRecomputed(TestCached):
    def make_space(self, X, weight, threads):
        return GramSpace.hold(RBF, X, weight, threads, row_budget=tiny_budget(weight.dtype))

    def test_rows_are_recomputed_in_many_blocks(self, space):
        assert len(list(space._column_blocks(1))) > 50


@pytest.mark.slow
class TestRecomputedFromCSR(TestRecomputed):
    def make_rows(self, n, seed=0):
        return scipy.sparse.random_array(
            (n, 12), density=0.4, format="csr", rng=np.random.default_rng(seed)
        )


class TestPrecomputed(SpaceConformance):
    # Rows of a kernel matrix are no places in feature space.
    test_centroids_on_rows_of_input = None

    def make_rows(self, n, seed=0):
        X = super().make_rows(n, seed)
        return rbf(X, X, GAMMA)

    def make_space(self, X, weight, threads):
        return GramSpace.hold(Kernel("precomputed", {}), X, weight, threads)

    def gram(self, X):
        return X.astype(np.float64)


@pytest.mark.slow
class TestPrecomputedRecentred(TestPrecomputed):
    def make_space(self, X, weight, threads):
        kernel = Kernel("precomputed", {})
        return GramSpace.hold(kernel, X, weight, threads, row_budget=tiny_budget(weight.dtype))


@pytest.mark.parametrize("budget", [{}, {"row_budget": 1}], ids=["cached", "recomputed"])
def test_a_precomputed_matrix_is_left_as_it_is(threads, budget):
    K = rbf(*[np.random.default_rng(0).normal(size=(40, 2))] * 2, GAMMA)
    before = K.copy()
    space = GramSpace.hold(Kernel("precomputed", {}), K, np.ones(40), threads, **budget)
    space.update(space.accumulate(np.ones((1, 1, 40)), slice(0, 40)), np.full((1, 1), 40.0))
    np.testing.assert_array_equal(K, before)


class Spy:
    """A kernel that counts how many of its entries are alive; slow, so that calls overlap."""

    def __init__(self):
        self.alive = self.most = 0
        self._lock = threading.Lock()

    def __call__(self, X, Y):
        values = np.subtract(X[:, :1], Y[:, 0])
        np.abs(values, out=values)
        np.negative(values, out=values)
        np.exp(values, out=values)
        time.sleep(0.0005)
        with self._lock:
            self.alive += values.size
            self.most = max(self.most, self.alive)
        weakref.finalize(values, self._release, values.size)
        return values

    def _release(self, size):
        with self._lock:
            self.alive -= size


@pytest.mark.slow
@pytest.mark.parametrize("rows", [1, 40, 160])
@pytest.mark.parametrize("workers", [1, 2, 8])
def test_recomputed_rows_stay_within_the_budget(rows, workers):
    n = 400
    X = np.random.default_rng(0).normal(size=(n, 2))
    spy = Spy()
    with Threads(workers) as threads:
        space = GramSpace.hold(Kernel(spy, {}), X, np.ones(n), threads, row_budget=rows * n * 8)
        spy.most = 0
        combination(space, np.linspace(-1, 2, n))
        predictor = space.export(space.at(np.arange(8)[:, None]))
    assert 0 < spy.most <= rows * n
    spy.most, predictor.workers = 0, workers
    predictor.compare(X, np.ones(n))
    assert 0 < spy.most <= rows * n


@pytest.mark.parametrize("workers", [1, 8])
def test_centring_recomputed_rows_needs_no_second_copy(workers):
    n, rows = 1500, 400
    X = np.random.default_rng(0).normal(size=(n, 2))
    budget = rows * n * 8
    with Threads(workers) as threads:
        space = GramSpace.hold(Kernel(Spy(), {}), X, np.ones(n), threads, row_budget=budget)
        coefficients = np.linspace(-1, 2, n)
        tracemalloc.start()
        combination(space, coefficients)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    # Beside the kernel rows: the sums, and the partial sums of at most four blocks in flight.
    assert peak <= 1.1 * budget


KINDS = {
    "rbf": RBF,
    "laplacian": Kernel("laplacian", {"gamma": 0.2}),
    "indefinite": Kernel("sigmoid", {"gamma": 1.0, "coef0": -1.0}),
    "callable": Kernel(lambda A, B: (A @ B.T + 1) ** 2, {}),
    "normalized": Kernel(lambda A, B: (A @ B.T + 1) ** 2, {}).normalize(),
    "precomputed": Kernel("precomputed", {}),
    "precomputed, normalized": Kernel("precomputed", {}).normalize(),
}


def hard_rows(shape, n):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 3))
    if shape == "far":
        X += 1e4
    if shape == "duplicates":
        X = X[rng.integers(0, 7, n)]
    return X


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", ["cloud", "far", "duplicates"])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("n", [45, 1111])
def test_samples_that_are_held_are_compared_as_their_rows_are(kind, shape, dtype, n):
    kernel = KINDS[kind]
    X = hard_rows(shape, n).astype(dtype)
    X = rbf(X, X, GAMMA).astype(dtype) * 2 if kernel.precomputed else X
    weight = np.random.default_rng(1).uniform(0, 2, n).astype(dtype)
    with Threads(3) as threads:
        space = GramSpace.hold(kernel, X, weight, threads)
        coefficients = np.random.default_rng(2).uniform(0, 1, (n, 9))
        # Two centroids that are one, for ties.
        coefficients[:, 4] = coefficients[:, 2]
        centroids = from_weights(space, coefficients)
        predictor = space.export(centroids)
        held = predictor.compare_blocks(n, space.embedded, keep_distances=True)
    diagonal = kernel.diagonal(X)
    for workers in (1, 4):
        predictor.workers = workers
        again = predictor.compare(X.copy(), diagonal, keep_distances=True)
        for one, other in zip(held, again, strict=True):
            np.testing.assert_array_equal(one, other)
    assert 4 not in held.labels


def test_equal_rows_get_equal_labels_wherever_they_stand(threads):
    rng = np.random.default_rng(0)
    for n in (30, 31, 77, 150):
        X = hard_rows("duplicates", n)
        space = GramSpace.hold(RBF, X, np.ones(n), threads)
        first = np.array([np.flatnonzero((row == X).all(axis=1))[0] for row in X])
        # Every centroid twice: as a sample, and as the mean of those that equal it.
        members = (first[:, None] == np.unique(first)).astype(float)
        both = np.hstack([members / members.sum(axis=0), np.eye(n)[:, np.unique(first)]])
        order = rng.permutation(both.shape[1])
        predictor = space.export(from_weights(space, both[:, order]))
        labels = predictor.compare(X, np.ones(n)).labels
        np.testing.assert_array_equal(labels, labels[first])


@pytest.mark.parametrize("budget", [2**20, 2**26, ROW_BUDGET])
@pytest.mark.parametrize("row_bytes", [8, 4 * 6000, 4 * 20_000, 8 * 60_000])
def test_blocks_are_limited_by_their_bytes_alone(row_bytes, budget):
    rows, in_flight = portions(row_bytes, budget)
    assert rows * in_flight * row_bytes <= max(budget, row_bytes)
    # What is left of the budget is not worth a block.
    assert (in_flight + 1) * rows * row_bytes > budget
    if budget >= 4 * row_bytes:
        assert in_flight >= 4
    if row_bytes == 4 * 6000 and budget == 2**26:
        assert in_flight >= 16
    if budget >= ROW_BUDGET:
        # One for each core of a large machine.
        assert in_flight >= 16
