"""Data without clusters."""

import numpy as np
import pytest

from kernelmeans.search.reference import KINDS, Reference


@pytest.fixture(name="X")
def rows():
    rng = np.random.default_rng(0)
    return (rng.standard_normal((2000, 4)) @ rng.standard_normal((4, 4)) + 10).astype(np.float32)


def test_the_gaussian_has_the_mean_and_the_covariance(X):
    Z = Reference(X).draw("gaussian", np.random.default_rng(1))
    scale = np.sqrt(np.trace(np.cov(X.T)))
    np.testing.assert_allclose(Z.mean(axis=0), X.mean(axis=0), atol=0.1 * scale)
    np.testing.assert_allclose(np.cov(Z.T), np.cov(X.T), atol=0.1 * scale**2)


def test_the_box_has_the_extent_along_the_principal_axes(X):
    Z = Reference(X).draw("box", np.random.default_rng(1))
    center = X.mean(axis=0)
    axes = np.linalg.eigh(np.cov(X.T))[1]
    ours, theirs = (Z - center) @ axes, (X - center) @ axes
    assert (ours.min(axis=0) >= theirs.min(axis=0) - 1e-4).all()
    assert (ours.max(axis=0) <= theirs.max(axis=0) + 1e-4).all()
    # It is even: a quarter of the rows is in each quarter of the extent.
    span = theirs.max(axis=0) - theirs.min(axis=0)
    quarters = np.floor((ours - theirs.min(axis=0)) / span * 4)
    for axis in range(4):
        shares = np.bincount(quarters[:, axis].astype(int).clip(0, 3)) / len(Z)
        np.testing.assert_allclose(shares, 0.25, atol=0.05)


@pytest.mark.parametrize("kind", KINDS)
def test_rows_that_lie_in_a_plane_stay_in_it(kind):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 2)) @ rng.standard_normal((2, 80)) + 3
    Z = Reference(X).draw(kind, rng)
    assert Z.shape == X.shape
    singular = np.linalg.svd(Z - X.mean(axis=0), compute_uv=False)
    assert singular[2] < 1e-9 * singular[0]


@pytest.mark.parametrize("kind", KINDS)
def test_precision_and_seed(X, kind):
    reference = Reference(X)
    first, second = (reference.draw(kind, np.random.default_rng(2)) for _ in range(2))
    assert first.dtype == X.dtype
    np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize("kind", KINDS)
def test_counts_with_long_steps_have_their_own_values(X, kind):
    counts = X.copy()
    counts[:, 1] = 10 * np.log1p(np.random.default_rng(0).poisson(2, len(X)))
    counts[:, 2] = 10 * np.random.default_rng(1).integers(0, 5, len(X))  # answers
    Z = Reference(counts).draw(kind, np.random.default_rng(1))
    # With a value more than a row in 128 has these are no columns of few values.
    many = counts + 1e-6 * np.random.default_rng(2).standard_normal(counts.shape)
    numbers = Reference(many).draw(kind, np.random.default_rng(1))
    np.testing.assert_allclose(Z[:, [0, 2, 3]], numbers[:, [0, 2, 3]], atol=1e-3)
    values = np.unique(counts[:, 1])
    nearest = values[np.abs(values - numbers[:, [1]]).argmin(axis=1)]
    assert np.mean(Z[:, 1] == nearest) > 0.99  # but where rounding decides
