"""Gaussian kernel values in one product, against the formula."""

import numpy as np
import pytest

from backends import NUMPY, over_backends
from kernelmeans._arrays import to_numpy
from kernelmeans.kernels.gaussian import GaussianRows


def exact(X, Y, gamma):
    X, Y = X.astype(np.float64), Y.astype(np.float64)
    return np.exp(-gamma * ((X[:, None] - Y) ** 2).sum(axis=-1))


@pytest.mark.parametrize(("dtype", "atol"), [("float64", 1e-12), ("float32", 1e-5)])
@pytest.mark.parametrize("offset", [0, 300])
@pytest.mark.parametrize("gamma", [1e-3, 0.1, 30])
def test_is_the_kernel(dtype, atol, offset, gamma, rng):
    X = (rng.standard_normal((50, 4)) + offset).astype(dtype)
    Y = (rng.standard_normal((20, 4)) + offset).astype(dtype)
    got = GaussianRows(Y, gamma)(X)
    assert got.dtype == X.dtype
    np.testing.assert_allclose(got, exact(X, Y, gamma), rtol=0, atol=atol)


def test_outliers_cost_the_others_no_accuracy(rng):
    X = rng.standard_normal((50, 4)).astype("float32")
    X[3] = 1e4
    Y = X[::5].copy()
    np.testing.assert_allclose(GaussianRows(Y, 0.3)(X), exact(X, Y, 0.3), rtol=0, atol=1e-5)


def test_equal_rows_have_value_one_at_most(rng):
    X = rng.standard_normal((300, 7)).astype("float32")
    values = GaussianRows(X, 0.05)(X)
    assert values.max() <= 1
    np.testing.assert_allclose(np.diagonal(values), 1, atol=1e-5)


def test_no_value_is_denormal(rng):
    X = rng.uniform(0, 10, (200, 2)).astype("float32")
    values = GaussianRows(X, 1.0)(X)
    assert (values == 0).any()
    assert values[values > 0].min() > np.finfo("float32").tiny


@pytest.mark.parametrize("offset", [0, 1e3])
def test_single_precision_is_a_few_roundings_off(offset, rng):
    # Those of the rows, whose differences are exact, but not of their distance from the origin.
    X = (rng.standard_normal((400, 20)) + offset).astype("float32")
    X[200:] = X[:200]
    values = GaussianRows(X, 0.025)(X)
    atol = 8 * np.finfo("float32").eps
    np.testing.assert_allclose(values, exact(X, X, 0.025), rtol=0, atol=atol)
    np.testing.assert_allclose(np.diagonal(values, 200), 1, rtol=0, atol=atol)


def test_rows_of_more_digits_get_them(rng):
    X, Y = rng.standard_normal((30, 3)), rng.standard_normal((9, 3)).astype("float32")
    got = GaussianRows(Y, 0.1)(X)
    assert got.dtype == X.dtype
    np.testing.assert_allclose(got, exact(X, Y, 0.1), rtol=0, atol=1e-6)


@pytest.mark.parametrize("far", [1e9, 1e15, 1e100])
def test_few_far_rows_cost_the_others_no_digit(far, rng):
    Y = rng.standard_normal((700, 2))
    near = GaussianRows(Y, 0.5)(Y)
    Y[::100] = far
    near[::100] = near[:, ::100] = 0
    near[np.ix_(range(0, 700, 100), range(0, 700, 100))] = 1
    np.testing.assert_allclose(GaussianRows(Y, 0.5)(Y), near, atol=1e-14)


@over_backends
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("far", [1e5, 1e7, 1.7e9])
def test_two_groups_far_from_each_other(far, dtype, backend, rng):
    """No middle is near to both."""
    X = np.round(4 * rng.standard_normal((40, 3)))
    X[20:] += far
    X = X.astype(dtype)
    there = backend.array(X)
    kernel = GaussianRows(there, 0.05)
    K = to_numpy(kernel(there))
    np.testing.assert_allclose(K, exact(X, X, 0.05), rtol=1e-5, atol=1e-30)
    if backend == NUMPY:  # PyTorch rounds by where a row stands in a block
        np.testing.assert_array_equal(kernel(X[25:27]), K[25:27])
