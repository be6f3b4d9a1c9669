"""Feature maps: landmarks and their whitening, random and explicit features."""

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import data
from kernelmeans.kernels import Kernel
from kernelmeans.lowrank import Explicit, Fourier, Nystroem
from kernelmeans.lowrank.maps import whitening_of

DOUBLE = np.dtype(np.float64)


def overlap(A, B):
    return A @ B.T + 0.1 * (A @ B.T) ** 2


KERNELS = {
    "rbf": Kernel("rbf", {"gamma": 0.7}),
    "laplacian": Kernel("laplacian", {"gamma": 0.4}),
    "poly": Kernel("poly", {"gamma": 1.0, "degree": 3, "coef0": 1.0}),
    "poly, normalized": Kernel("poly", {"gamma": 1.0, "degree": 3, "coef0": 1.0}).normalize(),
    "callable": Kernel(overlap, {}),
    "callable, normalized": Kernel(overlap, {}).normalize(),
}
kernels = pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)


class TestWhitening:
    @given(
        seed=st.integers(0, 10**6),
        m=st.integers(1, 12),
        rank=st.integers(1, 12),
        unit=st.sampled_from([1e-100, 1.0, 1e100]),
    )
    def test_its_square_is_the_pseudo_inverse(self, seed, m, rank, unit):
        rng = np.random.default_rng(seed)
        # Directions of the same size but for a factor of ten.
        vectors = np.linalg.qr(rng.standard_normal((m, m)))[0][:, :rank]
        values = unit * rng.uniform(1, 10, vectors.shape[1])
        whitening = whitening_of(vectors * values @ vectors.T, DOUBLE)
        assert whitening.shape == (m, min(rank, m))
        assert_allclose(
            whitening @ whitening.T, vectors / values @ vectors.T, rtol=0, atol=1e-12 / unit
        )

    def test_equal_landmarks_count_once(self):
        X = np.repeat(data.cloud(4, 2), 3, axis=0)
        gram = KERNELS["rbf"](X, X)
        whitening = whitening_of(gram, DOUBLE)
        assert whitening.shape == (12, 4)
        assert_allclose(whitening @ whitening.T, np.linalg.pinv(gram, hermitian=True), atol=1e-10)

    @pytest.mark.parametrize("gram", [np.zeros((3, 3)), -np.eye(2)])
    def test_nothing_is_left_of_a_matrix_without_positive_part(self, gram):
        assert_array_equal(whitening_of(gram, DOUBLE), np.zeros((len(gram), 1)))

    def test_directions_of_negative_square_are_left_out(self):
        vectors = np.linalg.qr(data.cloud(3, 3))[0]
        whitening = whitening_of(vectors * [2.0, -1.0, 0.5] @ vectors.T, DOUBLE)
        expected = vectors * [0.5, 0, 2.0] @ vectors.T
        assert_allclose(whitening @ whitening.T, expected, atol=1e-14)

    @pytest.mark.parametrize(("dtype", "kept"), [("float64", 3), ("float32", 2)])
    def test_what_the_features_will_not_resolve_is_left_out(self, dtype, kept):
        gram = np.diag([1.0, 1e-5, 1e-8])
        assert whitening_of(gram, np.dtype(dtype)).shape == (3, kept)


class TestLandmarks:
    def coordinates(self, kernel, X, landmarks, rows):
        features = Nystroem.whitened(kernel, X, landmarks)
        return features.coordinates(features.raw(rows, features.diagonal(rows)))

    @kernels
    def test_all_rows_reproduce_the_kernel(self, kernel):
        X, new = data.cloud(40, 3), data.cloud(9, 3, seed=1)
        Z = self.coordinates(kernel, X, np.arange(40), np.vstack([X, new]))
        expected = kernel(np.vstack([X, new]), X)
        assert_allclose(Z @ Z[:40].T, expected, rtol=0, atol=1e-8 * np.abs(expected).max())

    @kernels
    def test_some_rows_reproduce_what_they_span(self, kernel):
        X = data.cloud(60, 3)
        chosen = np.array([3, 50, 17, 8])
        Z = self.coordinates(kernel, X, chosen, X)
        K = kernel(X, X)
        expected = K[:, chosen] @ np.linalg.inv(K[np.ix_(chosen, chosen)]) @ K[chosen]
        assert_allclose(Z @ Z.T, expected, rtol=0, atol=1e-9 * np.abs(K).max())

    @kernels
    def test_landmarks_need_not_be_samples(self, kernel):
        X, places = data.cloud(30, 3), data.cloud(5, 3, seed=2)
        Z = self.coordinates(kernel, X, places, X)
        own = np.linalg.inv(kernel(places, places))
        expected = kernel(X, places) @ own @ kernel(places, X)
        assert_allclose(Z @ Z.T, expected, rtol=0, atol=1e-9 * np.abs(expected).max())

    def test_of_a_kernel_matrix(self):
        X = data.cloud(50, 3)
        K = KERNELS["rbf"](X, X)
        chosen = np.array([4, 44, 14])
        features = Nystroem.whitened(Kernel("precomputed", {}), K, chosen)
        rows, diagonal = features.read(K, slice(10, 30))
        assert_array_equal(diagonal, np.diagonal(K)[10:30])
        Z = features.coordinates(features.raw(rows, diagonal))
        expected = self.coordinates(KERNELS["rbf"], X, chosen, X[10:30])
        assert_allclose(Z @ Z.T, expected @ expected.T, rtol=0, atol=1e-13)

    def test_of_a_kernel_matrix_that_is_normalized(self):
        X = data.cloud(50, 3)
        chosen = np.array([4, 44, 14])
        K = KERNELS["poly"](X, X)
        features = Nystroem.whitened(Kernel("precomputed", {}).normalize(), K, chosen)
        rows, diagonal = features.read(K, slice(10, 30))
        assert_array_equal(diagonal, np.diagonal(K)[10:30])
        Z = features.coordinates(features.raw(rows, diagonal))
        expected = self.coordinates(KERNELS["poly, normalized"], X, chosen, X[10:30])
        assert_allclose(Z @ Z.T, expected @ expected.T, rtol=0, atol=1e-12)
        assert_array_equal(features.kernel.squared_norms(diagonal), np.ones(20))
        # Nothing is written into the matrix.
        assert_array_equal(K, KERNELS["poly"](X, X))

    def test_of_sparse_rows_are_those_of_dense_ones(self):
        X = np.where(data.cloud(40, 6) > 0.3, data.cloud(40, 6), 0)
        sparse = scipy.sparse.csr_array(X)
        chosen = np.array([1, 5, 30])
        kernel = KERNELS["poly, normalized"]
        got = self.coordinates(kernel, sparse, chosen, sparse)
        assert_allclose(got, self.coordinates(kernel, X, chosen, X), rtol=0, atol=1e-12)

    @kernels
    def test_float32_stays_and_its_whitening_is_that_of_exact_landmarks(self, kernel):
        X = data.cloud(40, 3).astype(np.float32)
        features = Nystroem.whitened(kernel, X, np.array([3, 9, 27]))
        raw = features.raw(X, features.diagonal(X))
        assert raw.dtype == features.landmarks.dtype == np.float32
        whitening = features.whitening
        assert whitening.dtype == np.float64
        K = kernel(X.astype(float), X.astype(float))[np.ix_([3, 9, 27], [3, 9, 27])]
        assert_allclose(whitening @ whitening.T, np.linalg.inv(K), rtol=1e-9)

    def test_rows_of_norm_0_stay_zero_if_the_kernel_is_normalized(self):
        X = np.vstack([np.zeros(3), data.cloud(20, 3)])
        kernel = Kernel("poly", {"gamma": 1.0, "degree": 2, "coef0": 0.0}).normalize()
        features = Nystroem.whitened(kernel, X, np.array([0, 4, 9]))
        diagonal = features.diagonal(X)
        assert_array_equal(features.raw(X, diagonal)[0], 0)
        assert_array_equal(features.kernel.squared_norms(diagonal), [0] + [1] * 20)
        assert np.isfinite(features.whitening).all()


@pytest.mark.parametrize("name", ["linear", "cosine"])
@pytest.mark.parametrize("sparse", [False, True])
def test_explicit_features_are_rows_whose_products_are_the_kernel(name, sparse):
    X = np.vstack([np.zeros(3), data.cloud(20, 3)])
    rows = scipy.sparse.csr_array(X) if sparse else X
    features = Explicit(Kernel(name, {}))
    Z = features.raw(*features.read(rows, slice(0, 21)))
    assert scipy.sparse.issparse(Z) == sparse
    lengths = np.linalg.norm(X, axis=1)
    K = X @ X.T / (1 if name == "linear" else np.maximum(np.outer(lengths, lengths), 1e-300))
    dense = Z.toarray() if sparse else Z
    assert_allclose(dense @ dense.T, K, atol=1e-14)


def test_whose_residual_bounds_the_cost():
    kernel = KERNELS["rbf"]
    assert not Fourier.draw(kernel, 3, 10, 0, DOUBLE).residual_is_positive
    assert Explicit(Kernel("linear", {})).residual_is_positive
    assert Nystroem.whitened(kernel, data.cloud(9), np.arange(3)).residual_is_positive


def test_a_diagonal_that_is_not_needed_takes_no_memory():
    features = Explicit(Kernel("linear", {}))
    zeros = features.diagonal(np.zeros((10**5, 2), np.float32))
    assert zeros.shape == (10**5,)
    assert zeros.strides == (0,)
    assert zeros.dtype == np.float32
