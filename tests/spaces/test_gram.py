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
from kernelmeans.spaces import CachedGramSpace, GramSpace
from oracle import rbf
from spaces.conformance import N, SpaceConformance

GAMMA = 0.3
RBF = Kernel("rbf", {"gamma": GAMMA})


def tiny_budget(dtype):
    """Kernel entries of twelve rows, so that N samples make a hundred blocks."""
    return 12 * N * np.dtype(dtype).itemsize


class TestCached(SpaceConformance):
    def make_space(self, X, weight, threads):
        return CachedGramSpace(RBF, X, weight, threads)

    def gram(self, X):
        X = (X.toarray() if scipy.sparse.issparse(X) else X).astype(np.float64)
        return rbf(X, X, GAMMA)


@pytest.mark.slow
class TestRecomputed(TestCached):
    def make_space(self, X, weight, threads):
        return GramSpace(RBF, X, weight, threads, row_budget=tiny_budget(weight.dtype))

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
        return CachedGramSpace(Kernel("precomputed", {}), X, weight, threads)

    def gram(self, X):
        return X.astype(np.float64)


@pytest.mark.slow
class TestPrecomputedRecentred(TestPrecomputed):
    def make_space(self, X, weight, threads):
        kernel = Kernel("precomputed", {})
        return GramSpace(kernel, X, weight, threads, row_budget=tiny_budget(weight.dtype))


def test_a_precomputed_matrix_is_left_as_it_is(threads):
    K = rbf(*[np.random.default_rng(0).normal(size=(40, 2))] * 2, GAMMA)
    before = K.copy()
    CachedGramSpace(Kernel("precomputed", {}), K, np.ones(40), threads)
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


@pytest.mark.parametrize("rows", [1, 40, 160])
@pytest.mark.parametrize("workers", [1, 2, 8])
def test_recomputed_rows_stay_within_the_budget(rows, workers):
    n = 400
    X = np.random.default_rng(0).normal(size=(n, 2))
    spy = Spy()
    with Threads(workers) as threads:
        space = GramSpace(Kernel(spy, {}), X, np.ones(n), threads, row_budget=rows * n * 8)
        spy.most = 0
        combination(space, np.linspace(-1, 2, n), threads)
        space.at(np.arange(8)[:, None])
    assert 0 < spy.most <= rows * n


@pytest.mark.parametrize("workers", [1, 8])
def test_centring_recomputed_rows_needs_no_second_copy(workers):
    n, rows = 1500, 400
    X = np.random.default_rng(0).normal(size=(n, 2))
    budget = rows * n * 8
    with Threads(workers) as threads:
        space = GramSpace(Kernel(Spy(), {}), X, np.ones(n), threads, row_budget=budget)
        coefficients = np.linspace(-1, 2, n)
        tracemalloc.start()
        combination(space, coefficients, threads)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    # Beside the kernel rows: the sums, and the shares of at most four blocks in flight.
    assert peak <= 1.1 * budget
