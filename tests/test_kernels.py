"""Kernels against scikit-learn and against their definitions."""

import numpy as np
import pytest
import scipy.io
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics.pairwise import euclidean_distances, manhattan_distances, pairwise_kernels

import data
from kernelmeans.kernels import (
    MEDIAN_SAMPLE,
    PARAMETERS,
    Kernel,
    geodesic_kernel,
    resolve_gamma,
    resolve_kernel,
)

X = data.cloud(70, 4)
Y = data.cloud(30, 4, seed=1)
AS_SCIKIT_LEARN = ["rbf", "laplacian", "poly", "sigmoid", "cosine", "linear"]
NAMED = [*AS_SCIKIT_LEARN, "geodesic"]


@pytest.fixture(params=["dense", "csr"])
def form(request):
    return np.asarray if request.param == "dense" else scipy.sparse.csr_array


@pytest.mark.parametrize("name", AS_SCIKIT_LEARN)
def test_named_kernels_are_those_of_scikit_learn(name, form):
    given = {"gamma": 0.3, "degree": 2, "coef0": 0.7}
    parameters = {key: given[key] for key in PARAMETERS[name]}
    kernel = resolve_kernel(name, form(X), **given)
    expected = pairwise_kernels(X, Y, metric=name, **parameters)
    np.testing.assert_allclose(kernel(form(X), form(Y)), expected, rtol=1e-12)


@pytest.mark.parametrize("gamma", [0.5, 2.0])
def test_the_geodesic_kernel_is_a_laplacian_of_the_angle(gamma, form):
    lengths = np.linalg.norm(X, axis=1)[:, None] * np.linalg.norm(Y, axis=1)
    expected = np.exp(-gamma * np.arccos(X @ Y.T / lengths))
    got = geodesic_kernel(form(X), form(Y), gamma=gamma)
    np.testing.assert_allclose(got, expected, rtol=1e-12)
    again = Kernel("geodesic", {"gamma": gamma})(form(X), form(Y))
    np.testing.assert_array_equal(again, got)


def test_the_geodesic_kernel_knows_only_directions():
    np.testing.assert_allclose(geodesic_kernel(3 * X, 0.1 * Y), geodesic_kernel(X, Y), rtol=1e-10)
    opposite = geodesic_kernel(X[:1], -X[:1]).item()
    assert opposite == pytest.approx(np.exp(-np.pi / 2))
    np.testing.assert_allclose(np.diagonal(geodesic_kernel(X)), 1, atol=1e-7)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("angle", [0, 1e-6, 1e-3, 0.5, 3.0])
def test_the_geodesic_kernel_is_accurate_for_small_angles_too(angle, dtype, form):
    rows = np.array([[np.cos(a), np.sin(a)] for a in (1.0, 1.0 + angle)])
    # Angles of the rows as they are in this precision, from the well-conditioned arctangent.
    single = rows.astype(dtype)
    (a, b), (c, d) = single.astype(float)
    exact = np.exp(-0.5 * np.arctan2(abs(a * d - b * c), a * c + b * d))
    got = geodesic_kernel(form(single), form(single))
    np.testing.assert_allclose(got, [[1, exact], [exact, 1]], atol=8 * np.finfo(dtype).eps)


@pytest.mark.parametrize("name", NAMED)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_diagonal_is_that_of_the_matrix(name, dtype, form):
    rows = form(np.tile(X, (4, 1)).astype(dtype))
    kernel = resolve_kernel(name, rows)
    got = kernel.diagonal(rows)
    assert got.dtype == dtype
    np.testing.assert_allclose(
        got, np.diagonal(kernel(rows, rows)), rtol=2e-3 if dtype == "float32" else 1e-7
    )


@pytest.mark.parametrize("name", NAMED)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_kernels_keep_the_dtype(name, dtype, form):
    rows = form(X.astype(dtype))
    assert resolve_kernel(name, rows)(rows, rows).dtype == dtype


@pytest.mark.parametrize("name", NAMED)
@pytest.mark.parametrize("degree", [2, 3, 2.5])
@pytest.mark.parametrize("coef0", [0, 1, -3])
def test_kernels_said_to_be_positive_are(name, degree, coef0):
    kernel = resolve_kernel(name, X, degree=degree, coef0=coef0)
    if kernel.surely_positive:
        spectrum = np.linalg.eigvalsh(kernel(X, X))
        assert spectrum[0] >= -1e-7 * spectrum[-1]
    else:
        assert name == "sigmoid" or (name == "poly" and (coef0 < 0 or degree == 2.5))


@pytest.mark.parametrize("name", ["linear", "cosine"])
def test_features_have_the_kernel_as_inner_products(name, form):
    kernel = Kernel(name, {})
    Z = kernel.features(form(X))
    np.testing.assert_allclose(
        (Z @ Z.T).toarray() if scipy.sparse.issparse(Z) else Z @ Z.T, kernel(form(X), form(X))
    )


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
    rows = data.cloud(MEDIAN_SAMPLE + 500, 2)
    first, again, other = (resolve_gamma("median", "rbf", rows, seed) for seed in (0, 0, 1))
    assert first == again != other
    full = 1 / (2 * np.median(off_diagonal(euclidean_distances(rows))) ** 2)
    assert first == pytest.approx(full, rel=0.1)


@pytest.mark.parametrize("name", ["rbf", "laplacian", "poly", "sigmoid"])
def test_the_width_of_scikit_learns_svc(name, form):
    assert resolve_gamma("scale", name, form(X)) == pytest.approx(1 / (4 * X.var()))


@pytest.mark.parametrize("gamma", ["rms", "median", "scale"])
@pytest.mark.parametrize("value", [0.0, 7.0])
def test_the_width_of_constant_data_is_a_finite_number(gamma, value, form):
    assert resolve_gamma(gamma, "rbf", form(np.full((9, 2), value))) == 1


@pytest.mark.parametrize("gamma", ["rms", "median", "scale"])
def test_widths_are_the_same_for_sparse_and_dense_rows(gamma):
    expected = resolve_gamma(gamma, "rbf", X)
    assert resolve_gamma(gamma, "rbf", scipy.sparse.csr_array(X)) == pytest.approx(expected)


@pytest.mark.parametrize("kernel", ["poly", "sigmoid"])
def test_a_median_of_no_distance_is_refused(kernel):
    with pytest.raises(ValueError, match=r"gamma='median'.*kernel='\w+'; use gamma='rms'"):
        resolve_gamma("median", kernel, X)


def test_parameters_of_a_callable_are_passed_on():
    kernel = resolve_kernel(lambda A, B, power: (A @ B.T) ** power, X, kernel_params={"power": 2})
    np.testing.assert_allclose(kernel(X, Y), (X @ Y.T) ** 2)


def test_parameters_of_a_callable_with_a_named_kernel_are_refused():
    with pytest.raises(ValueError, match=r"kernel_params=.*kernel='rbf'.*kernel_params=None"):
        resolve_kernel("rbf", X, kernel_params={"gamma": 2})


DU_KERNELS = {
    "gaussian_0.1": ("rbf", lambda D: {"gamma": 1 / (2 * 0.1**2 * D**2)}),
    "gaussian_1": ("rbf", lambda D: {"gamma": 1 / (2 * D**2)}),
    "gaussian_100": ("rbf", lambda D: {"gamma": 1 / (2 * 100**2 * D**2)}),
    "linear": ("linear", lambda D: {}),
    "polynomial_4": ("poly", lambda D: {"gamma": 1.0, "degree": 4, "coef0": 0}),
    "polyplus_2": ("poly", lambda D: {"gamma": 1.0, "degree": 2, "coef0": 1}),
}


@data.needs_data
@pytest.mark.parametrize("name", DU_KERNELS)
def test_golden_matrices_of_du_et_al(name):
    # Pixels z-scored, then rows of unit length, in the order of the file.
    rows = scipy.io.loadmat(data.FOLDER / "Yale.mat")["X"].astype(float)
    rows = (rows - rows.mean(axis=0)) / rows.std(axis=0, ddof=1)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    function, parameters = DU_KERNELS[name]
    K = Kernel(function, parameters(euclidean_distances(rows).max()))(rows, rows)
    diagonal = np.sqrt(np.diagonal(K))
    folder = data.FOLDER / "du2015_yale_kernels"
    expected = scipy.io.loadmat(folder / f"{name}_post_Sample-Scale.mat")["K"]
    np.testing.assert_allclose(K / np.outer(diagonal, diagonal), expected, rtol=0, atol=1e-12)
