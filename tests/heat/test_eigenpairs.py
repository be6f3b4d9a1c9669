"""Leading eigenpairs of graphs, against LAPACK's of the dense matrix."""

import tracemalloc
from itertools import pairwise

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse
from numpy.testing import assert_allclose, assert_array_equal

from kernelmeans.heat.eigenpairs import leading_pairs, normalized, pair_count, pairs_bytes


def lattices(sizes, coupling, shortcuts=0.05):
    """Rings with shortcuts, neighbours of which are connected by a single thin edge."""
    rng = np.random.default_rng(0)
    n, starts = sum(sizes), np.cumsum([0, *sizes])
    A = scipy.sparse.lil_array((n, n))
    for start, size in zip(starts, sizes, strict=False):
        for i in range(size):
            for step in (0, 1, 2):
                A[start + i, start + (i + step) % size] = 1
        for i, j in rng.integers(size, size=(int(shortcuts * size), 2)):
            A[start + i, start + j] = 1
    for first, second in pairwise(starts[:-1]):
        A[first, second] = coupling
    return scipy.sparse.csr_array(A + A.T)


def dense(S, count):
    n = S.shape[0]
    values, vectors = scipy.linalg.eigh(S.toarray(), subset_by_index=[n - count, n - 1])
    return values[::-1], vectors[:, ::-1]


@pytest.mark.parametrize("coupling", [1.0, 1e-3, 1e-6, 1e-9, 1e-12])
@pytest.mark.parametrize("sizes", [(500, 500), (400, 300, 200), (300, 250, 200, 150, 100)])
def test_no_eigenpair_of_thinly_connected_parts_is_missed(sizes, coupling):
    S = normalized(lattices(sizes, coupling))
    count = 14
    values, vectors = leading_pairs(S, np.arange(sum(sizes)), count)
    expected, _ = dense(S, count)
    assert_allclose(values, expected, atol=1e-7)
    assert_allclose(vectors.T @ vectors, np.eye(count), atol=1e-8)
    residuals = S @ vectors - vectors * values
    assert np.abs(residuals).max() < 1e-4


def test_gaps_of_thin_edges_keep_digits():
    S = normalized(lattices((400, 300, 200), 1e-5))
    values, _ = leading_pairs(S, np.arange(900), 12)
    # Those of the matrix of the parts, because heat mixes within each at once.
    expected = 1 - dense(S, 3)[0]
    assert_allclose(1 - values[1:3], expected[1:], rtol=1e-2)
    assert (1 - values[1:3] < 1e-7).all()


def test_equal_graphs_have_equal_pairs():
    S = normalized(lattices((500, 400), 1e-9))
    one, other = (leading_pairs(S, np.arange(900), 12) for _ in range(2))
    assert_array_equal(one[0], other[0])
    assert_array_equal(one[1], other[1])


@pytest.mark.parametrize("n_clusters", [20, 40, 60, 100])
def test_the_memory_of_pairs_is_stated_whatever_finds_them(n_clusters):
    """Few pairs come from Lanczos' method, and many from a dense matrix."""
    n, offsets = 900, (1, 2, 3)
    ring = scipy.sparse.diags_array(
        [np.ones(n - by) for by in offsets], offsets=offsets, format="csr"
    )
    S = normalized(ring + ring.T)
    tracemalloc.start()
    try:
        values, _ = leading_pairs(S, np.arange(n), pair_count(n_clusters))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(values) == pair_count(n_clusters)
    assert peak < pairs_bytes(n, 2 * len(offsets), n_clusters)
