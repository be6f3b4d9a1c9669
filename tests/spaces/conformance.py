"""What every space must do, checked against the dense Gram matrix.

A space's test class inherits `SpaceConformance` and writes two methods: `make_space` and `gram`;
`left_out` too where a space adds something to the squared distances of a sample. Inner products
depend on the origin that a space chooses, so they are compared after centring.
"""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernelmeans._arrays import like, to_numpy
from kernelmeans.solver.blockwise import combination, distances_to
from kernelmeans.spaces import features
from oracle import centred, distances

N, CLUSTERS, RESTARTS = 300, 3, 2
NEW_ROWS = 6


class SpaceConformance:
    """Inherit, and write the two factory methods."""

    def make_space(self, X, weight, threads):
        """A space holding the rows of X under these weights, in the precision of the weights."""
        raise NotImplementedError

    def gram(self, X):
        """The dense float64 matrix of inner products of these rows."""
        raise NotImplementedError

    def left_out(self, X):
        """What squared distances of these rows hold beside those of the matrix."""
        return np.zeros(X.shape[0])

    def diagonal(self, X):
        """k(x, x) of these rows, in the form that the space's predictor takes."""
        return np.diagonal(self.gram(X)).astype(X.dtype)

    def make_rows(self, n, seed=0):
        """Rows of input data."""
        return np.random.default_rng(seed).uniform(0.2, 2, size=(n, 4))

    @pytest.fixture(params=["float64 equal", "float64 weighted", "float32 weighted"])
    def weight(self, request):
        dtype, kind = request.param.split()
        if kind == "equal":
            return np.ones(N, dtype)
        weight = np.random.default_rng(5).uniform(0, 3, N).astype(dtype)
        weight[::7] = 0
        return weight

    @pytest.fixture
    def dtype(self, weight):
        return weight.dtype

    @pytest.fixture
    def rows(self, dtype):
        return self.make_rows(N).astype(dtype)

    @pytest.fixture
    def space(self, rows, weight, threads):
        return self.make_space(rows, weight, threads)

    @pytest.fixture(name="K")
    def dense_answer(self, rows):
        self.rho = self.left_out(rows)
        return self.gram(rows)

    @pytest.fixture
    def atol(self, K, dtype):
        # A few dozen roundings of the largest inner product.
        return 60 * np.finfo(dtype).eps * np.abs(K).max()

    @pytest.fixture
    def coefficients(self, rng):
        """Signed, but with a sum far from zero in every cluster."""
        return rng.standard_normal((CLUSTERS, RESTARTS, N)) + 0.5

    @pytest.fixture
    def summed(self):
        return self._summed

    @staticmethod
    def _summed(space, coefficients, blocks, labels=None, **mixing):
        """Centroids of these coefficients, accumulated over the given blocks."""
        coefficients = coefficients.astype(space.dtype)
        total = None
        for block in blocks:
            part = like(np.ascontiguousarray(coefficients[:, :, block]), space.device_weight)
            own = None if labels is None else labels[:, block]
            total = space.add(total, space.accumulate(part, block, own), block)
        mass = coefficients.sum(axis=-1, dtype=np.float64)
        return space.update(total, mass, **mixing)

    def assert_centroids(self, space, centroids, A, K, atol):
        """Distances to centroids with coefficients A (k, R, n) that sum to one."""
        got = answers(space.distances, centroids, space.blocks(1))
        assert got.dtype == space.dtype
        for r in range(A.shape[1]):
            d = distances(K, A[:, r]).T + self.rho
            expected = np.maximum(d, space.floor(centroids)[r])
            size = np.abs(A[:, r]).sum(axis=1).max() ** 2
            np.testing.assert_allclose(got[:, r], expected, rtol=0, atol=atol * size)

    def test_blocks_are_a_partition_of_the_samples_in_order(self, space):
        for width in (1, CLUSTERS * RESTARTS, 10**6):
            covered = np.concatenate([np.arange(N)[block] for block in space.blocks(width)])
            np.testing.assert_array_equal(covered, np.arange(N))

    def test_inner_products_are_the_gram_matrix_up_to_the_origin(self, space, K, atol):
        everywhere = space.at(np.arange(N)[:, None])
        got = answers(space.products, everywhere, space.blocks(N))[:, 0].astype(np.float64)
        np.testing.assert_allclose(centred(got), centred(K), rtol=0, atol=atol)
        norms = np.concatenate([to_numpy(space.squared_norms(b)) for b in space.blocks(N)])
        np.testing.assert_allclose(norms, np.diagonal(got) + self.rho, rtol=0, atol=atol)
        np.testing.assert_allclose(
            space.norms(everywhere)[:, 0], np.diagonal(got), rtol=0, atol=atol
        )

    def test_centroids_on_samples(self, space, K, atol):
        indices = np.array([[3, 200], [0, 41], [299, 3]])
        self.assert_centroids(space, space.at(indices), np.eye(N)[indices], K, atol)

    def test_a_sample_has_no_distance_from_itself(self, space, K, atol):
        centroid = space.at(np.array([[17]]))
        d = answers(space.distances, centroid, [slice(17, 18)])
        assert abs(d.item() - self.rho[17]) <= atol

    def test_combinations_with_signed_coefficients(self, space, summed, K, atol, coefficients):
        centroids = summed(space, coefficients, space.blocks(CLUSTERS))
        A = coefficients / coefficients.sum(axis=-1, keepdims=True)
        self.assert_centroids(space, centroids, A, K, atol)

    def test_means_of_clusters_by_the_labels_of_their_samples(
        self, space, summed, K, atol, rng, monkeypatch
    ):
        monkeypatch.setattr(features, "MANY_CLUSTERS", 0)
        monkeypatch.setattr(features, "MANY_PRODUCTS", 0)
        labels = rng.integers(CLUSTERS, size=(RESTARTS, N), dtype=np.int32)
        coefficients = rng.uniform(1, 2, N) * (labels == np.arange(CLUSTERS)[:, None, None])
        centroids = summed(space, coefficients, space.blocks(CLUSTERS), labels)
        A = coefficients / coefficients.sum(axis=-1, keepdims=True)
        self.assert_centroids(space, centroids, A, K, atol)

    def test_combinations_that_sum_to_zero_are_differences(self, space, K, atol, rng):
        c = rng.standard_normal(N)
        c -= c.mean()
        got = combination(space, c.astype(space.dtype))
        size = np.abs(c).sum()
        np.testing.assert_allclose(space.norms(got).item(), c @ K @ c, rtol=0, atol=atol * size**2)
        products = answers(space.products, got, space.blocks(1))[0, 0]
        expected = K @ c
        np.testing.assert_allclose(
            products - products.mean(), expected - expected.mean(), rtol=0, atol=atol * size
        )

    @settings(max_examples=3)
    @given(cuts=st.sets(st.integers(1, N - 1), max_size=6))
    def test_sums_do_not_depend_on_the_blocks(self, space, summed, K, atol, cuts):
        edges = [0, *sorted(cuts), N]
        blocks = [slice(a, b) for a, b in pairwise(edges)]
        coefficients = np.random.default_rng(1).uniform(0, 1, (CLUSTERS, RESTARTS, N))
        A = coefficients / coefficients.sum(axis=-1, keepdims=True)
        self.assert_centroids(space, summed(space, coefficients, blocks), A, K, atol)

    def test_over_relaxed_sums_are_mixtures_with_the_old_centroids(
        self, space, summed, K, atol, coefficients
    ):
        indices = np.array([[3, 200], [0, 41], [299, 3]])
        A_old = np.eye(N)[indices]
        A_new = coefficients / coefficients.sum(axis=-1, keepdims=True)
        factor = np.array([1.8, 0.5])
        mixed = summed(
            space, coefficients, space.blocks(CLUSTERS), old=space.at(indices), factor=factor
        )
        A = A_old + factor[:, None] * (A_new - A_old)
        self.assert_centroids(space, mixed, A, K, 4 * atol)

    def test_a_centroid_without_mass_stays_where_it_was(self, space, summed, K, atol, coefficients):
        indices = np.array([[3, 200], [0, 41], [299, 3]])
        coefficients[1, 0] = 0
        A = coefficients / np.maximum(coefficients.sum(axis=-1, keepdims=True), 1e-9)
        A[1, 0] = np.eye(N)[0]
        factor = np.array([1.0, 1.0])
        moved = summed(
            space, coefficients, space.blocks(CLUSTERS), old=space.at(indices), factor=factor
        )
        self.assert_centroids(space, moved, A, K, atol)

    def test_take_keep_put_and_join(self, space, K, atol):
        indices = np.array([[3, 200, 7], [0, 41, 9], [299, 3, 11]])
        centroids = space.at(indices)
        kept = centroids.take(np.array([True, False, True]))
        self.assert_centroids(space, kept, np.eye(N)[indices[:, [0, 2]]], K, atol)

        where = (np.array([2, 0]), np.array([1, 2]))
        centroids.put(where, space.at(np.array([[50], [60]])))
        changed = indices.copy()
        changed[where] = [50, 60]
        self.assert_centroids(space, centroids, np.eye(N)[changed], K, atol)

        copied = centroids.copy()
        copied.keep(np.array([False, True, True]))
        self.assert_centroids(space, copied, np.eye(N)[changed[:, 1:]], K, atol)

        parts = kept, centroids.take(np.array([1]))
        joined = type(centroids).join(parts)
        table = np.column_stack([indices[:, [0, 2]], changed[:, 1]])
        self.assert_centroids(space, joined, np.eye(N)[table], K, atol)
        if space.keeps_coefficients:
            np.testing.assert_array_equal(to_numpy(joined.coefficients), np.eye(N)[table])

    def test_centroids_on_rows_of_input(self, space, rows, K, atol, dtype):
        new = self.make_rows(NEW_ROWS, seed=3).astype(dtype)
        centroids = space.at_rows(new, (NEW_ROWS // 2, 2))
        got = answers(space.distances, centroids, space.blocks(N))
        both = self.gram(_stacked(rows, new))
        squared = np.diagonal(both)[:, None] + np.diagonal(both) - 2 * both
        expected = squared[N:, :N].reshape(NEW_ROWS // 2, 2, N) + self.rho
        np.testing.assert_allclose(got, expected, rtol=0, atol=4 * atol)

    def test_the_exported_predictor_answers_like_the_space(
        self, space, summed, rows, K, atol, coefficients
    ):
        A = coefficients / coefficients.sum(axis=-1, keepdims=True)
        centroids = summed(space, coefficients, space.blocks(CLUSTERS))
        one = centroids.take(np.array([1]))
        predictor = space.export(one)
        diagonal = self.diagonal(rows)
        size = np.abs(A[:, 1]).sum(axis=1).max() ** 2
        labels, nearest, got, _ = predictor.compare(rows, diagonal, keep_distances=True)
        assert got.dtype == space.dtype
        expected = distances_to(space, one)[:, 0]
        np.testing.assert_allclose(got, expected, rtol=0, atol=atol * size)
        np.testing.assert_array_equal(labels, got.argmin(axis=0))
        np.testing.assert_array_equal(nearest, got.min(axis=0))

    def test_the_floor_is_a_few_roundings_of_the_variance(self, space, K, weight, dtype):
        variance = np.average(np.diagonal(centred(K, weight.astype(float))), weights=weight)
        eps = np.finfo(dtype).eps
        # Where the origin is not the mean the space may take a larger second moment.
        moment = np.average(np.diagonal(K) + self.rho, weights=weight)
        floor = space.floor(space.at(np.array([[0]]))).item()
        assert eps * variance <= floor <= 32 * eps * max(moment, variance)

    def test_the_working_memory_grows_with_the_clusters(self, space):
        assert 0 < space.memory(2).per_restart < space.memory(20).per_restart


def answers(ask, centroids, blocks):
    """What a space says of blocks of samples, side by side on the host."""
    return np.concatenate([to_numpy(ask(centroids, block)) for block in blocks], axis=-1)


def _stacked(rows, new):
    if hasattr(rows, "toarray"):
        return type(rows)(np.vstack([rows.toarray(), new.toarray()]))
    return np.vstack([rows, new])
