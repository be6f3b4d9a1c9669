"""What is known of k(x, x) from a training kernel matrix."""

import warnings

import numpy as np
import pytest

from kernelmeans.estimators.inputs import TrainingDiagonal


def matrix(n, dtype, seed=0):
    Z = np.random.default_rng(seed).standard_normal((n, 5))
    return (Z @ Z.T).astype(dtype)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("n", [1, 2, 63, 400])
def test_training_rows_are_known_in_any_order_and_layout(n, dtype):
    K = matrix(n, dtype)
    known = TrainingDiagonal(K)
    order = np.random.default_rng(1).integers(0, n, 2 * n)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for rows in (K[order], np.asfortranarray(K[order])):
            np.testing.assert_array_equal(known.of(rows), np.diagonal(K)[order])


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_rows_that_differ_in_one_bit_or_by_order_are_others(dtype):
    K = matrix(50, dtype)
    known = TrainingDiagonal(K)
    mean = np.diagonal(K).mean(dtype=np.float64)
    changed = np.nextafter(K, np.inf, where=np.eye(50, dtype=bool), out=K.copy())
    negated = np.where(np.eye(50, dtype=bool), -K, K)
    for rows in (changed, negated, K[:, ::-1]):
        with pytest.warns(UserWarning, match="its mean is used"):
            got = known.of(rows)
        np.testing.assert_allclose(got, mean, rtol=1e-6)


def test_where_it_is_constant_new_rows_have_it_too():
    K = matrix(40, "float64")
    K /= np.sqrt(np.outer(np.diagonal(K), np.diagonal(K)))
    np.fill_diagonal(K, 1)
    known = TrainingDiagonal(K)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(known.of(np.zeros((3, 40))), np.ones(3))
