"""Eigenpairs of large graphs, beside those that are known in closed form and those of ARPACK."""

import numpy as np
import pytest
import scipy.sparse
from scipy.sparse.linalg import eigsh
from sklearn.datasets import make_moons
from threadpoolctl import threadpool_limits

from kernelmeans.heat.density import Density
from kernelmeans.heat.eigenpairs import normalized
from kernelmeans.heat.multilevel import _levels, leading_pairs_of_large
from kernelmeans.heat.neighbors import NearestRows


def cycle(n):
    ends = np.arange(n)
    edges = np.ones(n), (ends, (ends + 1) % n)
    return scipy.sparse.csr_array(edges, (n, n)) + scipy.sparse.csr_array(edges, (n, n)).T


def torus(rows, columns):
    return scipy.sparse.kronsum(cycle(columns), cycle(rows), format="csr")


def moons(n):
    X, _ = make_moons(n, noise=0.1, random_state=0)
    nearest = NearestRows(X, "euclidean")
    return nearest.graph(12, Density.of("auto", nearest.near(11)[1]))


def test_gaps_are_those_of_a_torus():
    # The eigenvalues are (cos a + cos b) / 2 for waves that go around a whole number of times.
    values, vectors = leading_pairs_of_large(torus(130, 170), 12)
    waves = [np.cos(2 * np.pi * np.arange(n) / n) for n in (130, 170)]
    true = np.sort(1 - np.add.outer(*waves).ravel() / 2)[:12]
    np.testing.assert_allclose(1 - values, true, rtol=0.05, atol=1e-12)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(12), atol=1e-5)
    # Rayleigh quotients are never too small.
    assert (1 - values >= true * (1 - 1e-6)).all()


def test_equal_edges_are_matched():
    # All edges of a grid weigh the same.
    rows, columns = 150, 180
    chains = [
        scipy.sparse.diags_array([[1.0] * (n - 1)] * 2, offsets=[-1, 1]) for n in (columns, rows)
    ]
    levels, coarsest = _levels(scipy.sparse.kronsum(*chains, format="csr"), 24)
    assert len(levels) > 2
    assert coarsest.shape[0] <= 2000


@pytest.mark.slow
def test_pairs_are_those_of_arpack_on_noisy_moons():
    graph = moons(25_000)
    S = normalized(graph)
    values, vectors = leading_pairs_of_large(graph, 16)
    true, expected = eigsh(S, 16, which="LA", ncv=60)
    gaps = np.sort(1 - true)
    # The gap between both moons has five digits less than the eigenvalues.
    assert 0 < gaps[1] < 1e-4
    np.testing.assert_allclose((1 - values)[:14], gaps[:14], rtol=0.1, atol=1e-12)
    # The four leading vectors span the same space.
    overlap = np.linalg.norm(vectors[:, :4].T @ expected[:, ::-1][:, :4], axis=0)
    np.testing.assert_allclose(overlap, 1, atol=1e-3)


def test_the_first_vector_is_that_of_degrees():
    graph = moons(21_000)
    values, vectors = leading_pairs_of_large(graph, 8)
    degrees = graph.sum(axis=1)
    assert values[0] == 1
    np.testing.assert_allclose(
        np.abs(vectors[:, 0]), np.sqrt(degrees / degrees.sum()), rtol=1e-3, atol=1e-6
    )


def test_thinly_connected_parts_all_have_their_pair():
    # Five random graphs with one weak edge from each to the next: five eigenvalues next to 1.
    rng = np.random.default_rng(0)
    parts = [scipy.sparse.random_array((5000, 5000), density=2e-3, rng=rng) for _ in range(5)]
    graph = scipy.sparse.block_diag([part + part.T for part in parts], format="lil")
    for part in range(4):
        ends = 5000 * part, 5000 * (part + 1)
        graph[*ends] = graph[*ends[::-1]] = 1e-6
    graph = graph.tocsr()
    values, vectors = leading_pairs_of_large(graph, 8)
    np.testing.assert_allclose(1 - values[:5], 0, atol=1e-8)
    # On every part each of their vectors is a multiple of that of the degrees.
    multiples = vectors[:, :5] / np.sqrt(graph.sum(axis=1))[:, None]
    spread = multiples.reshape(5, 5000, 5).std(axis=1)
    assert spread.max() < 1e-3 * np.abs(multiples).max()


def test_a_star_has_no_coarser_graph():
    n = 21_000
    edges = np.ones(n - 1), (np.zeros(n - 1, int), np.arange(1, n))
    half = scipy.sparse.csr_array(edges, (n, n))
    values, _ = leading_pairs_of_large((half + half.T).tocsr(), 2)
    np.testing.assert_allclose(values, [1, 0], atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("threads", [1, 4])
def test_threads_change_nothing(threads):
    graph = moons(21_000)
    values, vectors = leading_pairs_of_large(graph, 8)
    with threadpool_limits(threads):
        again, others = leading_pairs_of_large(graph, 8)
    np.testing.assert_array_equal(values, again)
    np.testing.assert_array_equal(vectors, others)


@pytest.mark.slow
def test_the_graph_is_not_changed():
    graph = moons(21_000)
    before = graph.copy()
    leading_pairs_of_large(graph, 8)
    for name in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(graph, name), getattr(before, name))
