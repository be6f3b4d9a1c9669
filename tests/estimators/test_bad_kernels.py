"""Kernels that are none: wrong shapes, NaN, and matrices that are not positive semi-definite."""

import re
import warnings

import numpy as np
import pytest
from scipy.sparse import csr_array

import data
import oracle
from kernelmeans import KernelKMeans, KernelPowerKMeans

X = data.cloud(120, 3)
BAD = {
    "transposed": (lambda A, B: np.ones((len(B), len(A) + 1)), r"shape .*must return shape"),
    "vector": (lambda A, B: np.ones(len(A)), r"kernel: the callable returned .* shape \(\d+,\)"),
    "of two rows": (lambda a, b: float(np.dot(a[0], b[0])), r"shape \(\)"),
    "nan": (lambda A, B: np.full((len(A), len(B)), np.nan), "the callable returned NaN"),
    "inf": (lambda A, B: np.full((len(A), len(B)), np.inf), "NaN or infinite values; a kernel"),
    "one nan": (lambda A, B: np.where(A[:, :1] == X[7, 0], np.nan, 1.0) + 0 * B[:, 0], "NaN"),
}


@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize("cache_kernel", [True, False])
@pytest.mark.parametrize("estimator", [KernelPowerKMeans, KernelKMeans])
def test_bad_callables_are_refused(name, cache_kernel, estimator):
    kernel, message = BAD[name]
    with pytest.raises(ValueError, match=message):
        estimator(3, kernel=kernel, cache_kernel=cache_kernel).fit(X)


def test_errors_of_a_callable_come_out():
    def kernel(A, B):
        raise KeyError("no such column")

    with pytest.raises(KeyError, match="no such column"):
        KernelPowerKMeans(3, kernel=kernel).fit(X)


def indefinite(A, B):
    return -(np.sqrt(((A[:, None] - B) ** 2).sum(-1)) ** 3)


@pytest.mark.parametrize("kernel", ["precomputed", "sigmoid", "callable", "poly"])
@pytest.mark.parametrize("cache_kernel", [True, False])
def test_kernels_that_are_not_positive_bring_a_warning_with_the_size(kernel, cache_kernel):
    matrix = {
        "precomputed": indefinite(X, X),
        "callable": indefinite(X, X),
        "sigmoid": np.tanh(2.0 * X @ X.T - 1),
        "poly": (X @ X.T - 3.0) ** 3,
    }[kernel]
    settings = {
        "precomputed": {"kernel": "precomputed"},
        "callable": {"kernel": indefinite},
        "sigmoid": {"kernel": "sigmoid", "gamma": 2.0, "coef0": -1},
        "poly": {"kernel": "poly", "gamma": 1.0, "coef0": -3},
    }[kernel]
    model = KernelPowerKMeans(3, cache_kernel=cache_kernel, random_state=0, **settings)
    with pytest.warns(UserWarning, match="not positive semi-definite") as caught:
        model.fit(matrix if kernel == "precomputed" else X)
    message = next(str(w.message) for w in caught if "semi-definite" in str(w.message))
    reported = float(re.search(r"smallest eigenvalue (\S+?),", message)[1])
    spectrum = np.linalg.eigvalsh(oracle.centred(matrix))
    assert reported == pytest.approx(spectrum[0], abs=3e-3 * np.ptp(spectrum))
    # The outcome is defined all the same.
    rows = matrix if kernel == "precomputed" else X
    assert np.isfinite(model.inertia_)
    np.testing.assert_array_equal(model.labels_, model.predict(rows))


@pytest.mark.parametrize(
    "settings",
    [
        {"kernel": "precomputed"},
        {"kernel": lambda A, B: np.exp(-((A[:, :1] - B[:, 0]) ** 2))},
        *(
            {"kernel": name}
            for name in ("rbf", "laplacian", "poly", "cosine", "linear", "geodesic")
        ),
    ],
    ids=lambda settings: str(settings["kernel"])[:9],
)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_positive_kernels_bring_none(settings, dtype):
    rows = data.rms_kernel(X) if settings["kernel"] == "precomputed" else X
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        KernelPowerKMeans(3, random_state=0, **settings).fit(rows.astype(dtype))


@pytest.mark.parametrize(
    ("kernel", "parameters", "scale"),
    [
        ("poly", {"degree": 2.5, "coef0": 0}, 1),
        ("poly", {"degree": 3000}, 1),
        ("linear", {}, 1e200),
    ],
)
def test_a_named_kernel_that_is_not_finite_is_refused(kernel, parameters, scale):
    rows = scale * np.random.default_rng(0).standard_normal((40, 3))
    with pytest.raises(ValueError, match=f"kernel='{kernel}' .* NaN or infinite .* scale the"):
        KernelPowerKMeans(3, kernel=kernel, **parameters).fit(rows)


@pytest.mark.parametrize("make", [np.asarray, csr_array], ids=["dense", "csr"])
def test_the_geodesic_kernel_refuses_rows_without_direction(make):
    rows = np.random.default_rng(0).standard_normal((40, 3))
    model = KernelPowerKMeans(3, kernel="geodesic", random_state=0).fit(make(rows))
    rows[7] = 0
    for call in (model.predict, KernelPowerKMeans(3, kernel="geodesic").fit):
        with pytest.raises(ValueError, match="row 7 is zero and has no direction"):
            call(make(rows))
