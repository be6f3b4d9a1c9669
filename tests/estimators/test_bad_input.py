"""Bad input: an error that names the parameter, the value and the remedy, before heavy work."""

import re
import warnings

import numpy as np
import pytest
import scipy.sparse
from sklearn.base import clone

import data
import oracle
from kernelmeans import KernelKMeans, KernelPowerKMeans, PowerKMeans
from kernelmeans.engines import Threads

X = data.cloud(30, 3)
K = oracle.rbf(X, X, 0.3)
ALL = [
    KernelPowerKMeans(3),
    KernelPowerKMeans(3, cache_kernel=False),
    KernelPowerKMeans(3, kernel="linear"),
    KernelPowerKMeans(3, kernel="precomputed"),
    KernelKMeans(3),
    PowerKMeans(3),
]
every = pytest.mark.parametrize("estimator", ALL, ids=lambda e: repr(e))


def refused(estimator, X, message, error=ValueError, **given):
    """No step is taken, nothing is warned of, and the message matches."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(error, match=message):
            clone(estimator).fit(X, **given)


@pytest.fixture(autouse=True)
def no_heavy_work(monkeypatch):
    """Threads are where all heavy work happens."""

    def fail(self):
        raise AssertionError("heavy work began before the input was refused")

    monkeypatch.setattr(Threads, "__enter__", fail)


@every
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("sparse", [False, True])
def test_values_that_are_not_finite(estimator, value, sparse):
    precomputed = getattr(estimator, "kernel", "") == "precomputed"
    rows = K.copy() if precomputed else X.copy()
    rows[[4, 6, 6], [2, 0, 1]] = value
    if sparse and precomputed:
        message = "Sparse data was passed .* kernel='graph' if .* metric='precomputed' if"
        refused(estimator, scipy.sparse.csr_array(rows), message, TypeError)
        return
    rows = scipy.sparse.csr_array(rows) if sparse else rows
    where = r"row 4 and column 2, counted from 0; rows with such values: 2\. Leave them out"
    remedy = ", or fill gaps by .*SimpleImputer" if np.isnan(value) else r", or correct them\.$"
    where += r"\.$" if precomputed else remedy
    refused(estimator, rows, rf"Input X contains (NaN|infinity).*\. The first is in {where}")


@every
@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (np.empty((0, 3)), r"0 sample\(s\)"),
        (np.empty((3, 0)), r"0 feature\(s\)"),
        (np.arange(5.0), "Expected 2D array, got 1D array"),
        (np.zeros((2, 2, 2)), "dim 3|3 dimensions|<= 2"),
        (3.0, "Expected 2D array, got scalar array"),
        ([["a", "b"], ["c", "d"]], "could not convert string to float"),
    ],
)
def test_no_table_of_numbers(estimator, rows, message):
    refused(estimator, rows, message)


@pytest.mark.parametrize("name", ["n_clusters", "n_init", "n_swaps", "max_iter", "gamma"])
def test_true_is_no_number(name):
    estimator = KernelPowerKMeans(3, kernel="rbf").set_params(**{name: True})
    refused(estimator, X, f"'{name}' parameter .* Got True")


@every
@pytest.mark.parametrize(
    ("rows", "message", "error"),
    [
        (np.array([["a", "b"]] * 5), "X: values of the type <U1 are no numbers", ValueError),
        ([[1.0, 2.0], [3.0]], "X: not all rows have the same length", ValueError),
        (np.array([[{}, 1.0]] * 5), "X: some values are no numbers", TypeError),
        (np.zeros((5, 2), "M8[D]"), r"X: values of the type datetime64\[D\] are no", TypeError),
        (
            np.zeros((5, 5), [("a", float), ("b", float)]),
            "X: values of the type .* are no numbers",
            TypeError,
        ),
    ],
    ids=["texts", "ragged", "objects", "dates", "records"],
)
def test_an_array_of_something_else_is_named(estimator, rows, message, error):
    refused(estimator, rows, f"^{message}", error)


@every
@pytest.mark.parametrize("n", [1, 2])
def test_fewer_rows_than_clusters(estimator, n):
    precomputed = getattr(estimator, "kernel", "") == "precomputed"
    rows = K[:n, :n] if precomputed else X[:n]
    refused(estimator, rows, f"n_samples={n} should be >= n_clusters=3; lower n_clusters")


@every
@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (np.where(np.arange(30) == 3, -1.0, 1.0), "Negative values in data .*`sample_weight`"),
        # scikit-learn refuses these itself, from some version on.
        (np.zeros(30), "all weights are zero; give positive|must contain at least one non-zero"),
        (np.arange(30) < 2, r"n_samples=2 of positive weight should be >= n_clusters=3"),
        (np.full(30, np.nan), "Input sample_weight contains NaN"),
        (np.full(30, np.inf), "Input sample_weight contains infinity"),
        (np.ones(29), r"sample_weight.shape == \(29,\), expected \(30,\)"),
        (np.ones((30, 2)), "Sample weights must be 1D"),
    ],
    ids=["negative", "zero", "too few", "nan", "inf", "length", "table"],
)
def test_weights(estimator, weight, message):
    rows = K if getattr(estimator, "kernel", "") == "precomputed" else X
    refused(estimator, rows, message, sample_weight=weight)


class TestPrecomputed:
    MODEL = KernelPowerKMeans(3, kernel="precomputed")

    @pytest.mark.parametrize("matrix", [K[:, :29], K[:20]])
    def test_not_square(self, matrix):
        shape = re.escape(str(matrix.shape))
        refused(self.MODEL, matrix, rf"kernel='precomputed': X must be a square .*{shape}.*rows")

    # It is compared in tiles of 256 rows and columns.
    @pytest.mark.parametrize(
        ("n", "place"),
        [(30, (29, 0)), (700, (699, 0)), (700, (3, 200)), (700, (300, 511)), (700, (600, 300))],
    )
    @pytest.mark.parametrize("dtype", ["float64", "float32"])
    def test_not_symmetric(self, n, place, dtype):
        matrix = np.eye(n, dtype=dtype)
        matrix[place] = 0.01
        message = r"symmetric kernel matrix, but .* differ by up to 0.01\..*\(K \+ K.T\) / 2"
        refused(self.MODEL, matrix, message)


class TestParameters:
    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("n_clusters", 0), ("n_clusters", 2.5), ("kernel", "gaussian"), ("gamma", -1.0),
            ("gamma", "auto"), ("gamma", 0), ("degree", -1), ("s0", 0), ("s0", 1.0),
            ("s0", "warm"), ("eta", 0.9), ("eta", "slow"), ("anneal_every", 0), ("n_init", 0),
            ("n_init", "many"), ("n_init", 10**30), ("n_swaps", "many"), ("n_swaps", -1),
            ("max_iter", 0),
            ("tol", -1e-3), ("memory_budget", 0), ("cache_kernel", "yes"),
            ("kernel_params", [1]), ("random_state", "seed"),
        ],
    )  # fmt: skip
    def test_out_of_range(self, name, value):
        message = f"The '{name}' parameter of KernelPowerKMeans must be"
        refused(KernelPowerKMeans(3).set_params(**{name: value}), X, message)

    @pytest.mark.parametrize("value", [None, "auto"])
    def test_no_number_of_clusters(self, value):
        message = rf"Got {value!r} instead\. ClusterSearch finds a number of clusters\.$"
        refused(KernelPowerKMeans(value), X, message)

    def test_a_budget_that_cannot_be_read(self):
        refused(KernelPowerKMeans(3, memory_budget="lots"), X, "memory_budget='lots' is no size")

    def test_parameters_of_a_callable_for_a_named_kernel(self):
        model = KernelPowerKMeans(3, kernel_params={"gamma": 1})
        refused(model, X, r"kernel_params=.* is only for a callable kernel, got kernel='heat'")

    def test_starts_of_different_lengths(self):
        remedy = "give row indices, coordinates or weights"
        refused(KernelPowerKMeans(2, init=[[0, 1], [2]]), X, f"init is not an array .*; {remedy}")

    @pytest.mark.parametrize("kernel", ["poly", "sigmoid"])
    def test_a_median_width_of_no_distance(self, kernel):
        model = KernelPowerKMeans(3, kernel=kernel, gamma="median")
        refused(model, X, f"gamma='median' needs a kernel .* got kernel='{kernel}'; use")
