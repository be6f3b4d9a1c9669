"""From a kernel and the wish for an approximation to a feature map."""

import sys

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from sklearn.datasets import load_digits, load_wine
from sklearn.preprocessing import StandardScaler

import data
from kernelmeans.estimators.kernels import resolve_kernel
from kernelmeans.kernels import Kernel
from kernelmeans.lowrank import approximate, check_method
from kernelmeans.lowrank.approximate import AUTO_COMPONENTS, residual_fraction

CLOUD = data.cloud(300, 3)
WEIGHT = np.random.default_rng(0).uniform(0, 3, 300)
WEIGHT[::5] = 0


def overlap(A, B):
    return np.asarray((A @ B.T + 0.5) ** 2)


def resolved(name, X, **given):
    return resolve_kernel(overlap if name == "callable" else name, X, random_state=0, **given)


def coordinates(found, X):
    """Z of rows, for a kernel matrix of all of them too."""
    return found.coordinates(found.raw(X, found.diagonal(X)))


def residual_of(found, K, X, weight):
    """What of the weighted trace of the dense matrix is missing in the approximation."""
    Z = coordinates(found, X)
    return weight @ (np.diagonal(K) - (Z**2).sum(axis=1)) / (weight @ np.diagonal(K))


def landmarks_of(found):
    return found.landmarks


class TestNumber:
    @pytest.mark.parametrize("method", ["landmarks", "rpcholesky"])
    @pytest.mark.parametrize("kernel", ["rbf", "laplacian", "callable"])
    def test_as_many_landmarks_as_asked_for(self, method, kernel):
        # Products of three columns and one: ten numbers span them all.
        count = 9 if kernel == "callable" else 37
        found = approximate(resolved(kernel, CLOUD), CLOUD, WEIGHT, method, count, seed=0)
        assert landmarks_of(found).shape == (count, 3)

    def test_frequencies_come_in_pairs(self):
        for count, expected in ((1, 1), (8, 4), (9, 5)):
            found = approximate(resolved("rbf", CLOUD), CLOUD, WEIGHT, "rff", count, seed=0)
            assert found.frequencies.shape == (3, expected)
            assert found.whitening is None

    @pytest.mark.parametrize("method", ["landmarks", "rpcholesky"])
    def test_never_more_than_samples(self, method):
        X = CLOUD[:20]
        kernel = resolved("laplacian", X)
        found = approximate(kernel, X, np.ones(20), method, 500, seed=0)
        Z = coordinates(found, X)
        assert Z.shape == (20, 20)
        np.testing.assert_allclose(Z @ Z.T, kernel(X, X), rtol=0, atol=1e-10)

    @pytest.mark.parametrize("method", ["landmarks", "rpcholesky"])
    def test_never_more_than_samples_with_weight(self, method):
        found = approximate(resolved("rbf", CLOUD), CLOUD, WEIGHT, method, 300, seed=0)
        assert len(landmarks_of(found)) <= np.count_nonzero(WEIGHT)

    def test_pivots_are_rows_with_weight(self):
        found = approximate(resolved("rbf", CLOUD), CLOUD, WEIGHT, "rpcholesky", 30, seed=0)
        indices = [np.flatnonzero((row == CLOUD).all(axis=1)) for row in landmarks_of(found)]
        assert WEIGHT[np.concatenate(indices)].all()
        assert len(np.unique(indices)) == 30

    @pytest.mark.parametrize("method", ["landmarks", "rpcholesky"])
    @pytest.mark.parametrize("components", [1, 5, 0.9, "auto"])
    @pytest.mark.parametrize("value", [0.0, 2.5])
    def test_constant_data_have_one_landmark(self, method, components, value):
        X = np.full((50, 2), value)
        kernel = Kernel("rbf", {"gamma": 1.0})
        found = approximate(kernel, X, np.ones(50), method, components, seed=0)
        assert len(landmarks_of(found)) == 1
        assert residual_fraction(found, X, np.ones(50)) <= 1e-12

    @pytest.mark.parametrize("method", ["landmarks", "rpcholesky"])
    @pytest.mark.parametrize("components", [5, 0.9])
    def test_a_kernel_that_is_zero_is_no_obstacle(self, method, components):
        X = np.zeros((30, 2))
        kernel = Kernel("poly", {"gamma": 1.0, "degree": 2, "coef0": 0.0})
        found = approximate(kernel, X, np.ones(30), method, components, seed=0)
        assert residual_fraction(found, X, np.ones(30)) == 0
        assert_array_equal(coordinates(found, X), np.zeros((30, 1)))


DATA = {
    "cloud": CLOUD,
    "blobs": data.blobs(400, 4, 7)[0],
    "wine": StandardScaler().fit_transform(load_wine().data),
    "digits": load_digits().data[:500],
    "copies": np.repeat(data.cloud(25, 3, seed=1), 12, axis=0),
}


class TestShare:
    @pytest.mark.parametrize("name", DATA)
    @pytest.mark.parametrize("kernel", ["rbf", "laplacian", "poly", "callable"])
    @pytest.mark.parametrize("method", ["landmarks", "rpcholesky"])
    @pytest.mark.parametrize("fraction", [0.6, 0.95])
    def test_is_reached(self, name, kernel, method, fraction):
        X = DATA[name]
        weight = np.random.default_rng(1).uniform(0, 2, len(X))
        weight[::3] = 0
        own = resolved(kernel, X)
        found = approximate(own, X, weight, method, fraction, seed=0)
        got = residual_of(found, own(X, X), X, weight)
        assert -1e-9 <= got <= (1 - fraction) * (1 + 1e-9)
        assert len(landmarks_of(found)) <= len(X)

    @pytest.mark.parametrize("method", ["landmarks", "rpcholesky"])
    def test_takes_more_landmarks_the_larger_it_is_and_not_all(self, method):
        kernel = resolved("rbf", CLOUD)
        counts = [
            len(landmarks_of(approximate(kernel, CLOUD, WEIGHT, method, fraction, seed=0)))
            for fraction in (0.3, 0.7, 0.95, 0.999)
        ]
        assert counts == sorted(counts)
        assert counts[0] < counts[-1] < 200

    def test_is_that_of_the_samples_with_weight(self):
        """A few thousand rows without weight say nothing about how many landmarks it takes."""
        X = np.vstack([data.cloud(40, 8), np.zeros((9000, 8))])
        weight = np.r_[np.ones(40), np.zeros(9000)]
        kernel = Kernel("rbf", {"gamma": 1.0})
        found = approximate(kernel, X, weight, "landmarks", 0.9, seed=0)
        assert residual_fraction(found, X[:40], weight[:40]) <= 0.1

    @pytest.mark.parametrize("gamma", [0.5, 2.0, 8.0])
    def test_is_reached_by_a_number_that_few_samples_tell_or_more_if_they_cannot(
        self, gamma, monkeypatch
    ):
        monkeypatch.setattr(sys.modules[approximate.__module__], "CHECKED_ROWS", 64)
        X, kernel = data.cloud(600, 3), Kernel("rbf", {"gamma": gamma})
        K = kernel(X, X)
        found = approximate(kernel, X, np.ones(600), "landmarks", 0.9, seed=0)
        assert residual_of(found, K, X, np.ones(600)) <= 0.1
        # No fewer vectors hold nine tenths of the trace than so many eigenvectors.
        held = np.cumsum(np.linalg.eigvalsh(K)[::-1]) / 600
        fewest = 1 + np.count_nonzero(held < 0.9)
        assert fewest <= len(landmarks_of(found)) <= 2 * fewest

    @pytest.mark.parametrize("method", ["landmarks", "rpcholesky"])
    @pytest.mark.slow
    def test_auto_takes_a_fixed_number_or_the_root_of_the_rows(self, method):
        kernel = Kernel("rbf", {"gamma": 1.0})
        root = AUTO_COMPONENTS + 5
        for n, count in ((50, 50), (1200, AUTO_COMPONENTS), (root**2 + root, root)):
            X = data.cloud(n, 20)
            found = approximate(kernel, X, np.ones(n), method, "auto", seed=0)
            assert len(landmarks_of(found)) == count

    def test_of_many_clusters_auto_takes_some_for_each(self):
        kernel, X = Kernel("rbf", {"gamma": 1.0}), data.cloud(1200, 20)
        found = approximate(kernel, X, np.ones(1200), "landmarks", "auto", 0, n_clusters=150)
        assert len(landmarks_of(found)) == 450


class TestLeftOut:
    @pytest.mark.parametrize("kernel", ["rbf", "laplacian", "poly", "callable"])
    @pytest.mark.parametrize("normalized", [False, True])
    def test_is_the_trace_of_what_landmarks_do_not_span(self, kernel, normalized):
        own = resolved(kernel, CLOUD)
        own = own.normalize() if normalized else own
        found = approximate(own, CLOUD, WEIGHT, "rpcholesky", 6, seed=0)
        K, places = own(CLOUD, CLOUD), landmarks_of(found)
        S = [int(np.flatnonzero((row == CLOUD).all(axis=1))[0]) for row in places]
        part = K[:, S] @ np.linalg.pinv(K[np.ix_(S, S)], hermitian=True) @ K[S]
        expected = WEIGHT @ np.diagonal(K - part) / (WEIGHT @ np.diagonal(K))
        assert residual_fraction(found, CLOUD, WEIGHT) == pytest.approx(
            expected, rel=1e-8, abs=1e-13
        )
        assert 0 < expected < 1

    def test_of_a_kernel_matrix(self):
        kernel = resolved("rbf", CLOUD)
        K = kernel(CLOUD, CLOUD)
        by_rows = approximate(kernel, CLOUD, WEIGHT, "rpcholesky", 6, seed=0)
        by_matrix = approximate(Kernel("precomputed", {}), K, WEIGHT, "rpcholesky", 6, seed=0)
        assert_array_equal(CLOUD[landmarks_of(by_matrix)], landmarks_of(by_rows))
        assert residual_fraction(by_matrix, K, WEIGHT) == pytest.approx(
            residual_fraction(by_rows, CLOUD, WEIGHT)
        )


class TestRows:
    @pytest.mark.parametrize("method", ["landmarks", "rpcholesky"])
    @pytest.mark.parametrize("components", [12, 0.8])
    def test_sparse_ones_have_sparse_landmarks_that_are_rows(self, method, components):
        X = np.where(CLOUD > 0.2, CLOUD, 0)
        X = X[X.any(axis=1)]
        sparse = scipy.sparse.csr_array(X)
        weight = np.ones(len(X))
        kernel = resolved("rbf", sparse)
        found = approximate(kernel, sparse, weight, method, components, seed=0)
        places = landmarks_of(found)
        assert scipy.sparse.issparse(places)
        assert all((row == X).all(axis=1).any() for row in places.toarray())
        if components == 0.8:
            assert residual_of(found, kernel(X, X), sparse, weight) <= 0.2 + 1e-9

    def test_a_callable_sees_rows_of_the_data_only(self):
        found = approximate(resolved("callable", CLOUD), CLOUD, WEIGHT, "landmarks", 5, seed=0)
        assert all((row == CLOUD).all(axis=1).any() for row in landmarks_of(found))

    def test_other_kernels_take_centroids_that_leave_less_out(self):
        kernel = resolved("rbf", CLOUD)
        lost = {
            method: np.mean(
                [
                    residual_fraction(
                        approximate(kernel, CLOUD, WEIGHT, method, 20, seed), CLOUD, WEIGHT
                    )
                    for seed in range(5)
                ]
            )
            for method in ("landmarks", "rpcholesky")
        }
        assert lost["landmarks"] < lost["rpcholesky"]
        found = approximate(kernel, CLOUD, WEIGHT, "landmarks", 20, seed=0)
        assert not any((row == CLOUD).all(axis=1).any() for row in landmarks_of(found)[:5])

    @pytest.mark.parametrize("method", ["landmarks", "rpcholesky", "rff"])
    def test_float32_stays(self, method):
        X = CLOUD.astype(np.float32)
        kernel = resolved("rbf", X)
        found = approximate(kernel, X, WEIGHT.astype(np.float32), method, 12, seed=0)
        raw = found.raw(X, found.diagonal(X))
        assert raw.dtype == np.float32

    @pytest.mark.parametrize("method", ["landmarks", "rpcholesky", "rff"])
    @pytest.mark.parametrize("components", [12, "auto"])
    @pytest.mark.slow
    def test_are_drawn_by_the_seed(self, method, components):
        kernel = resolved("rbf", CLOUD)
        answers = [
            coordinates(approximate(kernel, CLOUD, WEIGHT, method, components, seed), CLOUD)
            for seed in (0, 0, 1)
        ]
        assert_array_equal(answers[0], answers[1])
        assert answers[0].shape != answers[2].shape or not np.allclose(answers[0], answers[2])

    @settings(max_examples=20)
    @given(
        n=st.integers(1, 12),
        method=st.sampled_from(["landmarks", "rpcholesky"]),
        kernel=st.sampled_from(["rbf", "laplacian", "poly", "callable"]),
        components=st.one_of(
            st.just("auto"), st.integers(1, 30), st.sampled_from([0.01, 0.5, 0.999])
        ),
        zeros=st.integers(0, 11),
    )
    def test_few_of_them_are_enough(self, n, method, kernel, components, zeros):
        X = np.random.default_rng(n).integers(-2, 3, (n, 2)).astype(float)
        weight = np.ones(n)
        weight[: min(zeros, n - 1)] = 0
        own = Kernel(overlap, {}) if kernel == "callable" else resolved(kernel, X, gamma=0.5)
        found = approximate(own, X, weight, method, components, seed=0)
        assert 1 <= len(landmarks_of(found)) <= n
        lost = residual_of(found, own(X, X), X, weight)
        assert -1e-9 <= lost <= 1 + 1e-9
        if components == "auto":
            assert lost <= 1e-9
        elif isinstance(components, float):
            assert lost <= 1 - components + 1e-9


class TestRefusals:
    def test_a_kernel_matrix_has_no_centroids(self):
        with pytest.raises(ValueError, match=r"'landmarks' needs rows.*approximation='rpcholesky'"):
            check_method(Kernel("precomputed", {}), "landmarks", "auto")

    def test_random_features_keep_no_fraction(self):
        with pytest.raises(ValueError, match=r"n_components=0\.9: random features.*'rpcholesky'"):
            check_method(Kernel("rbf", {"gamma": 1.0}), "rff", 0.9)

    @pytest.mark.parametrize("kernel", ["poly", "geodesic", "precomputed", overlap])
    def test_random_features_are_for_two_kernels(self, kernel):
        own = Kernel(kernel, {"gamma": 1.0})
        with pytest.raises(ValueError, match="only for kernel='rbf' and kernel='laplacian'"):
            check_method(own, "rff", "auto")

    @pytest.mark.parametrize("method", ["landmarks", "rpcholesky", "rff"])
    @pytest.mark.parametrize("components", ["auto", 7, np.int64(7)])
    def test_all_else_goes(self, method, components):
        for name in ("rbf", "laplacian"):
            check_method(Kernel(name, {"gamma": 1.0}), method, components)

    def test_come_before_any_work(self):
        with pytest.raises(ValueError, match="random features keep no fraction"):
            approximate(Kernel("rbf", {"gamma": 1.0}), None, np.ones(3), "rff", 0.5, seed=0)
