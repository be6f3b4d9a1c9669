import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from sklearn.kernel_approximation import RBFSampler
from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel

from kernelmeans.kernels import Kernel
from kernelmeans.lowrank import Fourier

EXACT = {"rbf": rbf_kernel, "laplacian": laplacian_kernel}


@pytest.fixture(name="X")
def normal_rows(rng):
    return rng.standard_normal((40, 5))


def features(X, name, gamma, count, seed):
    drawn = Fourier.draw(Kernel(name, {"gamma": gamma}), X.shape[1], count, seed, X.dtype)
    return drawn.raw(X, drawn.diagonal(X))


@pytest.mark.parametrize("name", EXACT)
@pytest.mark.parametrize("gamma", [0.05, 0.6])
def test_inner_products_are_the_kernel_up_to_sampling(X, name, gamma):
    count = 20000
    Z = features(X, name, gamma, count, seed=1)
    # Each value is a mean of count / 2 cosines of variance at most 1/2.
    error = np.abs(Z @ Z.T - EXACT[name](X, gamma=gamma))
    assert error.max() < 4.5 * np.sqrt(1 / count)


def test_the_error_is_no_larger_than_that_of_cosines_with_random_shifts(X):
    K, count = rbf_kernel(X, gamma=0.1), 200

    def error(Z):
        return np.mean((Z @ Z.T - K) ** 2)

    ours = np.mean([error(features(X, "rbf", 0.1, count, seed)) for seed in range(20)])
    theirs = np.mean(
        [
            error(RBFSampler(gamma=0.1, n_components=count, random_state=seed).fit_transform(X))
            for seed in range(20)
        ]
    )
    # Theory has about one half for this kernel; independent draws would not be far below.
    assert 0.2 * theirs < ours < theirs


@given(
    count=st.integers(1, 31),
    name=st.sampled_from(sorted(EXACT)),
    dtype=st.sampled_from([np.float32, np.float64]),
    gamma=st.floats(1e-3, 1e3),
)
def test_rows_have_length_one_and_an_even_number_of_features(count, name, dtype, gamma):
    X = np.random.default_rng(count).standard_normal((7, 3)).astype(dtype)
    Z = features(X, name, gamma, count, seed=count)
    assert Z.shape == (7, count + count % 2)
    assert Z.dtype == dtype
    np.testing.assert_allclose((Z**2).sum(axis=1), 1, rtol=0, atol=10 * np.finfo(dtype).eps)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sparse_rows_have_the_same_features(X, dtype):
    X = (X * (X > 0.3)).astype(dtype)
    got = features(scipy.sparse.csr_matrix(X), "rbf", 0.2, 30, seed=0)
    assert isinstance(got, np.ndarray)
    assert got.dtype == dtype
    np.testing.assert_allclose(
        got, features(X, "rbf", 0.2, 30, seed=0), rtol=0, atol=50 * np.finfo(dtype).eps
    )


def test_frequencies_are_decided_by_the_seed():
    kernel = Kernel("laplacian", {"gamma": 0.2})
    drawn = [
        Fourier.draw(kernel, 4, 10, seed, np.dtype(np.float64)).frequencies for seed in (3, 3, 4)
    ]
    np.testing.assert_array_equal(drawn[0], drawn[1])
    assert not np.isclose(drawn[0], drawn[2]).any()


@pytest.mark.parametrize(
    "kernel", [Kernel("poly", {"gamma": 1, "degree": 2, "coef0": 1}), Kernel(rbf_kernel, {})]
)
def test_other_kernels_are_refused(kernel):
    message = f"approximation='rff'.*'rbf'.*'laplacian'.*got kernel='{kernel.name}'.*use"
    with pytest.raises(ValueError, match=message):
        Fourier.draw(kernel, 2, 10, 0, np.dtype(np.float64))
