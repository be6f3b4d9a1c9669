"""Kernels against scikit-learn and against their definitions."""

import itertools

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from sklearn.gaussian_process.kernels import RBF, ConstantKernel
from sklearn.metrics.pairwise import euclidean_distances, pairwise_kernels

import data
from kernelmeans.estimators.kernels import resolve_kernel
from kernelmeans.kernels import OF_FEATURES, PARAMETERS, Kernel, geodesic_kernel

X = data.cloud(70, 4)
Y = data.cloud(30, 4, seed=1)
POLYNOMIAL = Kernel("poly", {"gamma": 0.3, "degree": 2, "coef0": 1.0})
AS_SCIKIT_LEARN = ["rbf", "laplacian", "poly", "sigmoid", "cosine", "linear"]
NAMED = [name for name in OF_FEATURES if name != "heat"]


def settled(name, rows, **given):
    """The kernel with those of the parameters that it has."""
    return resolve_kernel(name, rows, **{k: v for k, v in given.items() if k in PARAMETERS[name]})


@pytest.mark.parametrize("name", AS_SCIKIT_LEARN)
def test_named_kernels_are_those_of_scikit_learn(name, form):
    given = {"gamma": 0.3, "degree": 2, "coef0": 0.7}
    parameters = {key: given[key] for key in PARAMETERS[name]}
    kernel = settled(name, form(X), **given)
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
    kernel = settled(name, X, degree=degree, coef0=coef0)
    if kernel.is_positive:
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


def test_rows_are_no_features_of_a_kernel_that_is_normalized_or_no_inner_product():
    assert Kernel("linear", {}).has_features
    assert not Kernel("linear", {}, normalized=True).has_features
    assert not POLYNOMIAL.normalize().has_features


def test_parameters_of_a_callable_are_passed_on():
    kernel = resolve_kernel(lambda A, B, power: (A @ B.T) ** power, X, kernel_params={"power": 2})
    np.testing.assert_allclose(kernel(X, Y), (X @ Y.T) ** 2)


def test_parameters_of_a_callable_with_a_named_kernel_are_refused():
    with pytest.raises(ValueError, match=r"kernel_params=.*kernel='rbf'.*kernel_params=None"):
        resolve_kernel("rbf", X, kernel_params={"gamma": 2})


ROWS = data.cloud(40, 3, seed=2)
ROWS[7] = 0
NORMS = [
    POLYNOMIAL,
    Kernel("poly", {"gamma": 1.0, "degree": 2, "coef0": 0}),
    Kernel(lambda A, B: 4 * np.exp(-euclidean_distances(A, B)), {}),
]


@pytest.mark.parametrize("kernel", NORMS, ids=["poly", "homogeneous", "callable"])
def test_normalizing_divides_by_the_norms(kernel, form):
    if callable(kernel.function) and form is not np.asarray:
        form = np.asarray
    rows, few = form(ROWS), form(ROWS[:9])
    K = kernel(form(ROWS), form(ROWS))
    norms = np.sqrt(np.diagonal(K))
    norms[norms == 0] = 1
    unit = kernel.normalize()
    np.testing.assert_allclose(unit(rows, few), (K / np.outer(norms, norms))[:, :9], rtol=1e-12)
    diagonal = unit.diagonal(rows)
    np.testing.assert_allclose(diagonal, np.diagonal(K))
    np.testing.assert_allclose(unit.norms(diagonal), norms)
    squared_norms = np.diagonal(unit(rows, rows))
    np.testing.assert_allclose(unit.squared_norms(diagonal), squared_norms, rtol=1e-12)
    np.testing.assert_allclose(unit.values(rows, few), K[:, :9])
    assert unit.normalize() is unit
    assert unit.is_positive == kernel.is_positive


def test_other_kernels_divide_by_nothing():
    kernel = Kernel("linear", {})
    K, diagonal = kernel(ROWS, ROWS), kernel.diagonal(ROWS)
    assert kernel.norms(diagonal) is None
    assert kernel.squared_norms(diagonal) is diagonal
    assert kernel.divide_by_norms(K, diagonal, None) is K


@given(
    seed=st.integers(0, 99),
    gamma=st.floats(0.01, 10),
    degree=st.integers(1, 5),
    coef0=st.floats(0, 5),
)
def test_normalized_polynomials_by_their_formula(seed, gamma, degree, coef0):
    A, B = data.cloud(9, 3, seed), data.cloud(5, 3, seed + 100)
    a, b = gamma * (A**2).sum(axis=1) + coef0, gamma * (B**2).sum(axis=1) + coef0
    expected = ((gamma * A @ B.T + coef0) / np.sqrt(np.outer(a, b))) ** degree
    kernel = Kernel("poly", {"gamma": gamma, "degree": degree, "coef0": coef0}, normalized=True)
    np.testing.assert_allclose(kernel(A, B), expected, rtol=1e-10, atol=1e-13)


@pytest.mark.parametrize("name", AS_SCIKIT_LEARN)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_normalized_squared_norms_are_those_of_the_matrix(name, dtype, form):
    rows = form(ROWS.astype(dtype))
    kernel = settled(name, rows, coef0=0).normalize()
    K, got = kernel(rows, rows), kernel.squared_norms(kernel.diagonal(rows))
    assert got.dtype == K.dtype == dtype
    np.testing.assert_allclose(got, np.diagonal(K), rtol=8 * np.finfo(dtype).eps)
    assert got[7] == (name in ("rbf", "laplacian"))


@pytest.mark.parametrize("name", NAMED)
def test_the_diagonal_of_a_named_kernel_takes_no_matrix(name, monkeypatch):
    monkeypatch.setattr(Kernel, "values", None)
    assert resolve_kernel(name, X).diagonal(X).shape == (70,)


def test_the_name_of_a_normalized_kernel_says_so():
    kernel = Kernel("poly", {"degree": 2})
    assert repr(kernel) == "Kernel('poly', {'degree': 2})"
    assert repr(kernel.normalize()) == "Kernel('poly', {'degree': 2}, normalized=True)"


@pytest.mark.parametrize("name", ["rbf", "laplacian", "geodesic", "cosine"])
def test_kernels_of_norm_1_are_normalized_already(name):
    kernel = resolve_kernel(name, X)
    assert kernel.normalize() is kernel


def test_a_normalized_linear_kernel_is_the_cosine():
    assert Kernel("linear", {}).normalize().function == "cosine"


@pytest.mark.parametrize(
    "use",
    [
        lambda kernel: kernel(ROWS, ROWS),
        lambda kernel: kernel.norms(kernel.diagonal(ROWS)),
        lambda kernel: kernel.squared_norms(kernel.diagonal(ROWS)),
    ],
    ids=["matrix", "norms", "squared norms"],
)
def test_a_negative_squared_norm_cannot_be_normalized(use):
    kernel = Kernel("sigmoid", {"gamma": 1.0, "coef0": -50.0}).normalize()
    with pytest.raises(ValueError, match=r"k\(x, x\) = -1 for row .*Use another kernel"):
        use(kernel)
    assert (kernel.diagonal(ROWS) < 0).all()


def test_rows_of_a_normalized_matrix_do_not_hold_their_norms():
    K = np.diag([4.0, 9.0])
    kernel = Kernel("precomputed", {}).normalize()
    with pytest.raises(ValueError, match="normalize the matrix first"):
        kernel(K, K)
    np.testing.assert_array_equal(kernel.norms(kernel.diagonal(K)), [2, 3])
    np.testing.assert_array_equal(kernel.squared_norms(kernel.diagonal(K)), [1, 1])


@pytest.mark.parametrize("name", NAMED)
def test_rows_of_integers_are_taken_for_floats(name, form):
    rows = np.random.default_rng(0).integers(1, 5, (12, 3))
    kernel = settled(name, rows.astype(float), gamma=0.3)
    expected = kernel(form(rows.astype(float)), form(rows.astype(float)))
    np.testing.assert_array_equal(kernel(form(rows), form(rows)), expected)
    np.testing.assert_allclose(kernel.diagonal(form(rows)), np.diagonal(expected), rtol=1e-6)


@pytest.mark.parametrize("name", NAMED)
def test_against_fixed_rows_values_are_those_of_both(name, form):
    kernel = resolve_kernel(name, X)
    got = kernel.against(form(Y))(form(X))
    np.testing.assert_array_equal(got, kernel.values(form(X), form(Y)))


@pytest.mark.parametrize("name", ["cosine", "geodesic"])
@pytest.mark.parametrize(
    ("dtype", "scale"),
    [
        *itertools.product(["float32", "float64"], [1e-6, 1e-17, 1e-30, 1e30]),
        *itertools.product(["float64"], [1e-200, 1e200]),
    ],
)
def test_short_and_long_rows_have_directions_too(name, dtype, scale, form):
    small = (scale * X).astype(dtype)
    rows, kernel = form(small), resolve_kernel(name, X)
    exact = kernel(X.astype(dtype), X.astype(dtype))
    np.testing.assert_allclose(kernel(rows, rows), exact, atol=40 * np.finfo(dtype).eps)
    np.testing.assert_array_equal(kernel.diagonal(rows), 1)


def test_callables_need_not_be_hashable():
    function = ConstantKernel(2.0) * RBF(1.5)
    with pytest.raises(TypeError, match="unhashable"):
        hash(function)
    kernel = resolve_kernel(function, X)
    np.testing.assert_allclose(kernel(X, Y), function(X, Y))
    assert not any([kernel.is_positive, kernel.has_features, kernel.precomputed])
    unit = kernel.normalize()
    np.testing.assert_allclose(np.diagonal(unit(X, X)), 1)
    np.testing.assert_allclose(unit.norms(unit.diagonal(X)), np.sqrt(2))
