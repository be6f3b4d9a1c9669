"""Kernel widths against their definitions."""

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics.pairwise import euclidean_distances, manhattan_distances

import data
from kernelmeans.kernels import geodesic_kernel, resolve_gamma
from kernelmeans.kernels.widths import MEDIAN_ROWS
from kernelmeans.rows.dask import DaskRows

X = data.cloud(70, 4)


def off_diagonal(D):
    return D[~np.eye(len(D), dtype=bool)]


@given(seed=st.integers(0, 99), n=st.integers(2, 40), scale=st.sampled_from([1e-6, 1, 1e5]))
def test_the_papers_width(seed, n, scale):
    rows = scale * data.cloud(n, 3, seed) + scale
    mean_square = off_diagonal(euclidean_distances(rows, squared=True)).mean()
    assert resolve_gamma("rms", "rbf", rows) == pytest.approx(1 / (2 * mean_square), rel=1e-6)


@pytest.mark.parametrize(
    ("kernel", "gamma"),
    [("laplacian", 1 / 4), ("poly", 1 / 4), ("sigmoid", 1 / 4), ("geodesic", 0.5)],
)
def test_rms_of_other_kernels(kernel, gamma):
    assert resolve_gamma("rms", kernel, X) == gamma


def test_the_median_width():
    median = np.median(off_diagonal(euclidean_distances(X)))
    assert resolve_gamma("median", "rbf", X) == pytest.approx(1 / (2 * median**2))
    median = np.median(off_diagonal(manhattan_distances(X)))
    assert resolve_gamma("median", "laplacian", X) == pytest.approx(1 / median)
    angles = -np.log(off_diagonal(geodesic_kernel(X, gamma=1.0)))
    assert resolve_gamma("median", "geodesic", X) == pytest.approx(1 / np.median(angles))


def test_the_median_of_a_large_set_is_that_of_a_seeded_sample():
    rows = data.cloud(MEDIAN_ROWS + 500, 2)
    first, again, other = (resolve_gamma("median", "rbf", rows, seed) for seed in (0, 0, 1))
    assert first == again != other
    full = 1 / (2 * np.median(off_diagonal(euclidean_distances(rows))) ** 2)
    assert first == pytest.approx(full, rel=0.1)


@pytest.mark.parametrize("name", ["rbf", "laplacian", "poly", "sigmoid"])
def test_the_width_of_scikit_learns_svc(name, form):
    assert resolve_gamma("scale", name, form(X)) == pytest.approx(1 / (4 * X.var()))


@pytest.mark.parametrize("gamma", ["rms", "median", "scale"])
@pytest.mark.parametrize("value", [0.0, 7.0, 0.3])  # nine times 0.3 has a mean that rounds
def test_the_width_of_constant_data_is_a_finite_number(gamma, value, form):
    assert resolve_gamma(gamma, "rbf", form(np.full((9, 2), value))) == 1


def test_a_sample_of_equal_rows_has_no_median_and_the_width_is_that_of_constant_data(form):
    rows = np.zeros((2 * MEDIAN_ROWS, 2))
    rows[17] = 1
    drawn = {round(resolve_gamma("median", "rbf", form(rows), seed), 9) for seed in range(9)}
    # The only distance between two different rows is the root of 2.
    assert drawn == {1.0, 0.25}


@pytest.mark.parametrize("gamma", ["rms", "median", "scale"])
def test_widths_are_the_same_for_sparse_and_dense_rows(gamma):
    expected = resolve_gamma(gamma, "rbf", X)
    assert resolve_gamma(gamma, "rbf", scipy.sparse.csr_array(X)) == pytest.approx(expected)


@pytest.mark.parametrize("kernel", ["poly", "sigmoid"])
def test_a_median_of_no_distance_is_refused(kernel):
    with pytest.raises(ValueError, match=r"gamma='median'.*kernel='\w+'; use gamma='rms'"):
        resolve_gamma("median", kernel, X)


@pytest.mark.parametrize("name", ["rms", "median", "scale"])
def test_rows_without_weight_do_not_count(name, form, rng):
    X, weight = rng.standard_normal((60, 3)), np.repeat([1.0, 0.0], [50, 10])
    outliers = np.concatenate([X[:50], 100 + X[50:]])
    expected = resolve_gamma(name, "rbf", X[:50])
    got = resolve_gamma(name, "rbf", form(outliers), sample_weight=weight)
    assert got == pytest.approx(expected)
    assert resolve_gamma(name, "rbf", form(X), sample_weight=7 * weight) == pytest.approx(expected)


@pytest.mark.parametrize("name", ["rms", "median", "scale"])
def test_weights_count_as_repeats(name, rng):
    X, times = rng.standard_normal((300, 2)), rng.integers(1, 4, 300)
    expected = resolve_gamma(name, "rbf", np.repeat(X, times, axis=0))
    # Repeats of a row count as different rows.
    got = resolve_gamma(name, "rbf", X, sample_weight=times.astype(float))
    assert got == pytest.approx(expected, rel=5 / 300)
    assert got != pytest.approx(resolve_gamma(name, "rbf", X), rel=1e-6)


@pytest.mark.parametrize("heaviest", [1, 3, 1000])
def test_a_row_makes_no_pair_with_itself(heaviest, rng):
    X, weight = rng.standard_normal((30, 2)), np.r_[heaviest, np.ones(29)]
    products = np.outer(weight, weight) * (1 - np.eye(30))
    squared = ((X[:, None] - X) ** 2).sum(-1)
    expected = 1 / (2 * (products * squared).sum() / products.sum())
    for unit in (1, 1e-3, 77.0):
        got = resolve_gamma("rms", "rbf", X, sample_weight=unit * weight)
        assert got == pytest.approx(expected)
    # Copies of a row do make pairs.
    total = weight.sum()
    own, of_copies = (weight**2).sum() / total**2, 1 / total
    repeated = resolve_gamma("rms", "rbf", np.repeat(X, weight.astype(int), axis=0))
    assert got == pytest.approx(repeated * (1 - own) / (1 - of_copies))


@pytest.mark.parametrize("name", ["rms", "scale"])
def test_weights_count_for_rows_on_disk_and_chunks(name, rng):
    da = pytest.importorskip("dask.array")
    X, weight = rng.standard_normal((300, 2)), np.r_[np.zeros(120), rng.uniform(size=180)]
    expected = resolve_gamma(name, "rbf", X, sample_weight=weight)
    lazy = DaskRows(da.from_array(X, chunks=(50, 2)))
    assert resolve_gamma(name, "rbf", lazy, sample_weight=weight) == pytest.approx(expected)


def test_the_median_is_exact_far_from_zero(rng):
    X = rng.standard_normal((50, 2))
    expected = resolve_gamma("median", "rbf", X)
    assert resolve_gamma("median", "rbf", X + 1e8) == pytest.approx(expected, rel=1e-6)
