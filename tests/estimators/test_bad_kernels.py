"""Kernels that are none: wrong shapes, NaN, and matrices that are not positive semi-definite."""

import re
import warnings

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone

import data
import oracle
from backends import over_backends
from kernelmeans import KernelKMeans, KernelPowerKMeans, MultiKernelPowerKMeans, PowerKMeans
from kernelmeans.baselines import MKKM, RKKM, RMKKM
from kernelmeans.rows import open_rows

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


def lopsided(A, B):
    return np.exp(-0.05 * ((A[:, None] - B) ** 2).sum(-1)) + 0.2 * (A[:, :1] - B[:, :1].T)


def shifted(A, B):
    return (A - X.mean(axis=0) - 1) @ B.T


#: Estimators of a kernel, by what is said of it.
ASYMMETRIC = {
    "one": lambda kernel: KernelPowerKMeans(3, kernel=kernel),
    "rows again": lambda kernel: KernelKMeans(3, kernel=kernel, cache_kernel=False),
    "landmarks": lambda kernel: KernelPowerKMeans(3, kernel=kernel, approximation="landmarks"),
    "rpcholesky": lambda kernel: KernelPowerKMeans(3, kernel=kernel, approximation="rpcholesky"),
    "several": lambda kernel: MultiKernelPowerKMeans(3, kernels=["rbf", (kernel, [0, 1, 2])]),
    "normalized": lambda kernel: MultiKernelPowerKMeans(
        3, kernels=["rbf", kernel], kernel_scaling="cosine"
    ),
    "RKKM": lambda kernel: RKKM(3, kernel=kernel),
    "MKKM": lambda kernel: MKKM(3, kernels=["rbf", kernel]),
    "RMKKM": lambda kernel: RMKKM(3, kernels=["rbf", kernel]),
}


@pytest.mark.parametrize("kernel", [lopsided, shifted])
@pytest.mark.parametrize("way", ASYMMETRIC)
def test_callables_that_are_not_symmetric_are_refused(way, kernel):
    several = r"kernels\[1\].*, " * (way in ("several", "normalized", "MKKM", "RMKKM"))
    with pytest.raises(ValueError, match=f"^{several}.*kernel='{kernel.__name__}' must be symm"):
        ASYMMETRIC[way](kernel).fit(X)


@pytest.mark.parametrize(
    "form",
    [
        lambda X, path: csr_array(X),
        lambda X, path: pytest.importorskip("dask.array").from_array(X, (50, 3)),
        lambda X, path: np.save(path / "X.npy", X) or np.load(path / "X.npy", mmap_mode="r"),
        lambda X, path: np.sort(X, axis=0),
        lambda X, path: np.repeat(X[:3], 40, axis=0),
    ],
    ids=["sparse", "dask", "disk", "sorted", "equal rows"],
)
def test_other_rows_for_callables_that_are_not_symmetric(form, tmp_path):
    def kernel(A, B):
        A, B = (rows.toarray() if hasattr(rows, "toarray") else rows for rows in (A, B))
        return lopsided(A, B)

    with pytest.raises(ValueError, match="must be symmetric"):
        KernelPowerKMeans(3, kernel=kernel).fit(form(X, tmp_path))


@over_backends
def test_callables_on_a_device_that_are_not_symmetric(backend):
    with pytest.raises(ValueError, match="must be symmetric"):
        KernelPowerKMeans(3, kernel=lambda A, B: A @ B.T + A[:, :1]).fit(backend.array(X))


def test_rows_of_weight_0_do_not_show_whether_a_callable_is_symmetric():
    weight = np.ones(len(X))
    weight[::2] = 0
    rows = np.where(weight[:, None] > 0, X, 1e3)

    def kernel(A, B):
        return oracle.rbf(A, B, 0.3) + (A[:, :1] > 100) * np.ones(len(B))

    KernelPowerKMeans(3, kernel=kernel, random_state=0).fit(rows, sample_weight=weight)
    with pytest.raises(ValueError, match="must be symmetric"):
        KernelPowerKMeans(3, kernel=kernel, random_state=0).fit(rows)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("shift", [0, 30])
def test_rounding_does_not_make_a_callable_asymmetric(dtype, shift):
    def kernel(A, B):
        squares = (A * A).sum(1)[:, None] - 2 * A @ B.T + (B * B).sum(1)
        return np.exp(-0.3 * squares) * (
            1 + A.dtype.type(1e-9 if dtype == "float64" else 1e-6) * (A[:, :1] > B[:, 0])
        )

    rows = (X + shift).astype(dtype)
    KernelPowerKMeans(3, kernel=kernel, approximation=None, random_state=0).fit(rows)


def test_sparse_and_masked_values_of_a_callable_are_refused():
    with pytest.raises(ValueError, match=r"returned a sparse matrix; .* toarray\(\)"):
        KernelPowerKMeans(3, kernel=lambda A, B: A @ B.T).fit(csr_array(X))
    with pytest.raises(ValueError, match=r"kernel\(X, Y\): .* masked"):
        KernelPowerKMeans(3, kernel=lambda A, B: np.ma.masked_less(A @ B.T, 0)).fit(X)


def distance(A, B):
    return np.sqrt(((A[:, None] - B) ** 2).sum(-1))


def negative_square(A, B):
    return -(distance(A, B) ** 2) / 2


D = distance(X, X)
#: Fits to distances, squared distances, or edges without loops, where kernel values belong.
DISTANCES = {
    "precomputed": (KernelPowerKMeans(3, kernel="precomputed"), D),
    "squares in float32": (KernelPowerKMeans(3, kernel="precomputed"), (D**2).astype("f")),
    "rounded": (KernelKMeans(3, kernel="precomputed"), D + 1e-12 * np.eye(len(D))),
    "edges": (KernelPowerKMeans(3, kernel="precomputed"), (D < 1) - np.eye(len(D))),
    "pivots": (KernelPowerKMeans(3, kernel="precomputed", approximation="rpcholesky"), D),
    "stack": (MultiKernelPowerKMeans(3, kernels="precomputed"), np.stack([np.exp(-D), D])),
    "view": (MultiKernelPowerKMeans(3, kernels=["rbf", distance]), X),
    **{
        f"callable, {approximation}": (
            KernelPowerKMeans(3, kernel=distance, approximation=approximation),
            X,
        )
        for approximation in (None, "landmarks", "rpcholesky")
    },
}


@pytest.mark.parametrize("name", DISTANCES)
def test_distances_are_no_kernel(name):
    model, rows = DISTANCES[name]
    more = "" if name == "stack" else ".*kernel='heat'"
    with pytest.raises(ValueError, match=rf"no kernel.*np\.exp\(-D / {more}"):
        clone(model).fit(rows)


@pytest.mark.parametrize("kernel", [negative_square, lambda A, B: 0 * distance(A, B)])
@pytest.mark.filterwarnings("ignore:Number of distinct clusters")
def test_kernels_with_a_diagonal_of_zeros_may_be_sound(kernel):
    # About any origin minus half the squared distances are inner products.
    given = {"n_clusters": 3, "random_state": 0, "n_swaps": 0}
    own = KernelPowerKMeans(kernel=kernel, **given).fit(X)
    held = KernelPowerKMeans(kernel="precomputed", **given).fit(kernel(X, X))
    if kernel is negative_square:
        linear = PowerKMeans(**given).fit(X)
        assert own.inertia_ == pytest.approx(linear.inertia_)
    np.testing.assert_array_equal(own.labels_, held.labels_)


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


#: Fits that compare directions, and take rows that have none.
OF_DIRECTIONS = {
    "cosine": KernelPowerKMeans(3, kernel="cosine"),
    "cosine, pivots": KernelPowerKMeans(3, kernel="cosine", approximation="rpcholesky"),
    "heat": KernelPowerKMeans(3, metric="cosine"),
    "heat by anchors": KernelPowerKMeans(3, metric="cosine", approximation="landmarks"),
    "hard": KernelKMeans(3, kernel="cosine"),
    "view": MultiKernelPowerKMeans(3, kernels=[("cosine", [0, 1]), ("cosine", [2, 3])]),
    "family": MultiKernelPowerKMeans(3, kernels=[{"kernel": "neighbors", "metric": "cosine"}]),
    "scaled": MultiKernelPowerKMeans(3, kernels=["linear"], kernel_scaling="cosine"),
    "scaled power": MultiKernelPowerKMeans(
        3, kernels=[{"kernel": "poly", "coef0": 0, "degree": 2}], kernel_scaling="cosine"
    ),
}


@pytest.mark.parametrize("make", [np.asarray, csr_array], ids=["dense", "csr"])
@pytest.mark.parametrize("name", OF_DIRECTIONS)
def test_rows_without_direction_are_counted_and_placed_alike(name, make):
    rows = np.random.default_rng(0).standard_normal((60, 4))
    model = clone(OF_DIRECTIONS[name]).set_params(random_state=0)
    # pytest turns warnings into errors.
    model.fit(make(rows)).predict(make(rows))
    rows[[7, 9, 30]] = 0
    message = "X: 3 of 60 rows are zero and have no direction"
    with pytest.warns(UserWarning, match=message) as caught:
        model.fit(make(rows))
    assert len(caught) == 1
    placed = model.labels_[[7, 9, 30]]
    assert len(set(placed.tolist())) == 1
    with pytest.warns(UserWarning, match="X: 2 of 2 rows are zero") as caught:
        new = model.predict(np.zeros((2, 4)))
    assert len(caught) == 1
    np.testing.assert_array_equal(new, placed[:2])


def test_new_rows_on_disk_without_direction_are_counted(tmp_path):
    rows = np.random.default_rng(0).standard_normal((60, 4))
    model = KernelPowerKMeans(3, kernel="cosine", random_state=0).fit(rows)
    rows[7] = 0
    np.save(tmp_path / "X.npy", rows)
    with pytest.warns(UserWarning, match="X: 1 of 60 rows"):
        model.predict(open_rows(tmp_path / "X.npy"))


def test_rows_without_direction_are_counted_in_chunks():
    da = pytest.importorskip("dask.array")
    rows = np.random.default_rng(0).standard_normal((60, 4))
    rows[[7, 9, 30]] = 0
    with pytest.warns(UserWarning, match="X: 3 of 60 rows"):
        KernelPowerKMeans(3, kernel="cosine").fit(da.from_array(rows, chunks=(25, 4)))


@pytest.mark.parametrize("make", [np.asarray, csr_array], ids=["dense", "csr"])
def test_a_row_without_direction_joins_the_cluster_with_the_shortest_mean(make):
    rows = np.abs(np.random.default_rng(0).standard_normal((60, 4))) ** 3
    rows[7] = 0
    with pytest.warns(UserWarning, match="1 of 60 rows"):
        model = KernelPowerKMeans(3, kernel="cosine", random_state=0).fit(make(rows))
    unit = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-300)
    lengths = [np.linalg.norm(unit[model.labels_ == j].mean(axis=0)) for j in range(3)]
    assert model.labels_[7] == np.argmin(lengths)


@pytest.mark.parametrize("kernel", ["rbf", "linear", "laplacian", "poly", "heat"])
def test_rows_of_zeros_are_like_others_for_other_kernels(kernel):
    rows = np.random.default_rng(0).standard_normal((60, 4))
    rows[7] = 0
    KernelPowerKMeans(3, kernel=kernel, random_state=0).fit(rows).predict(rows)


def test_rows_without_direction_in_one_view_are_placed_by_the_others():
    rows = np.random.default_rng(0).standard_normal((60, 4))
    rows[7, 2:] = 0
    kernels = [("rbf", [0, 1]), ("cosine", [2, 3])]
    MultiKernelPowerKMeans(3, kernels=kernels, random_state=0).fit(rows).predict(rows)


def test_a_kernel_matrix_that_is_taken_for_rows_causes_a_warning():
    """Kernels are symmetric up to rounding; one value that differs makes rows of features."""
    K = np.exp(-((X[:, None] - X) ** 2).sum(-1))
    K[0, 1] *= 1 + 1e-12
    model = KernelPowerKMeans(3, kernel="rbf", n_swaps=0, random_state=0)
    with pytest.warns(UserWarning, match="X is square and symmetric.*kernel='precomputed'"):
        model.fit(K)
    K[0, 1] += 0.1
    model.fit(K)


def test_categories_of_one_row_each_are_no_kernel_matrix():
    KernelPowerKMeans(3, kernel="rbf", n_swaps=0, random_state=0).fit(np.eye(60))
