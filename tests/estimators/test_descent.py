"""The objective never rises, whatever the data, the kernel and the settings."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_digits

import data
import oracle
from kernelmeans import KernelPowerKMeans, PowerKMeans
from kernelmeans.estimators.kernels import resolve_kernel

pytestmark = pytest.mark.slow


def shifted_product(A, B):
    return A @ B.T + 2.0


KERNELS = [
    "rbf",
    "laplacian",
    "poly",
    "cosine",
    "linear",
    "geodesic",
    "precomputed",
    shifted_product,
]


def rows_of(shape, n, p, seed):
    """Rows of several kinds, each awkward in its own way."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    if shape == "blobs":
        X[:, 0] += 10 * (np.arange(n) % 3)
    elif shape == "duplicates":
        X = X[rng.integers(0, max(2, n // 4), n)]
    elif shape == "outlier":
        X[0] *= 1e4
    elif shape == "far away":
        X += 1e3
    elif shape == "tiny":
        X *= 1e-5
    return X


def roundings(model, K, v, dtype):
    """What rounding may add to the objective of one restart."""
    variance = float(v @ np.diagonal(oracle.centred(K, v)))
    # Features are centred before anything else; kernel entries have roundings of their own size.
    linear = isinstance(model, PowerKMeans) or model.kernel == "linear"
    entries = 0 if linear else float(v @ np.abs(np.diagonal(K)))
    # A power mean of k distances is up to k^(1/t) times the smallest, and so is its rounding.
    amplification = model.n_clusters ** (-1 / model.power_history_[0])
    return np.finfo(dtype).eps * amplification * (100 * abs(variance) + 4 * entries) + 1e-300


def assert_descends(model, K, v, dtype):
    """No step of any restart raises the objective by more than rounding."""
    allowed = roundings(model, K, v, dtype)
    for history, powers in zip(
        model.result_.objective_history, model.result_.power_history, strict=True
    ):
        assert np.isfinite(history).all()
        assert (powers[1:] <= powers[:-1]).all()
        assert np.diff(history, append=history[-1]).max() <= allowed


@pytest.mark.parametrize("kernel", KERNELS)
@given(
    shape=st.sampled_from(["cloud", "blobs", "duplicates", "outlier", "far away", "tiny"]),
    dtype=st.sampled_from(["float64", "float32"]),
    s0=st.sampled_from(["auto", -0.3, -1.0, -6.0]),
    eta=st.sampled_from(["auto", 1.0, 1.04, 1.6]),
    anneal_every=st.integers(1, 5),
    init=st.sampled_from(["k-means++", "random"]),
    weighted=st.booleans(),
    n=st.integers(8, 60),
    p=st.integers(1, 5),
    k=st.integers(1, 6),
    seed=st.integers(0, 10**6),
)
def test_no_step_raises_the_objective(
    kernel, shape, dtype, s0, eta, anneal_every, init, weighted, n, p, k, seed
):
    X = rows_of(shape, n, p, seed).astype(dtype)
    if kernel == "precomputed":
        X = data.rms_kernel(X.astype(float) + 1e-3 * np.arange(n)[:, None]).astype(dtype)
        K = X
    else:
        K = resolve_kernel(kernel, X)(X, X)
    v = np.random.default_rng(seed).uniform(0.1, 4, n) if weighted else np.ones(n)
    model = KernelPowerKMeans(
        k, kernel=kernel, s0=s0, eta=eta, anneal_every=anneal_every, init=init, n_init=2,
        max_iter=150, random_state=seed,
    )  # fmt: skip
    with warnings.catch_warnings():
        # Too few distinct rows, too few steps, a start above the critical power: not at issue.
        warnings.simplefilter("ignore")
        model.fit(X, sample_weight=v)
    assert_descends(model, K.astype(float), v, dtype)


REAL = (
    "yale", "jaffe", "tox_171", "seeds", "lung_discrete", "glioma", "orl", "lung_bhattacharjee",
    "isolet", "coil20",
)  # fmt: skip


@data.needs_data
@pytest.mark.parametrize("name", REAL)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("paper", [False, True], ids=["default", "paper"])
def test_on_real_data(name, dtype, paper):
    X, y = data.standardized(name)
    k = len(np.unique(y))
    given = {"s0": -1.0, "eta": 1.04, "anneal_every": 5, "init": "random", "n_init": 2}
    model = KernelPowerKMeans(k, kernel="rbf", random_state=0, **(given if paper else {})).fit(
        X.astype(dtype)
    )
    assert_descends(model, data.rms_kernel(X), np.ones(len(X)), dtype)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_on_digits(dtype):
    X = load_digits().data.astype(dtype)
    model = PowerKMeans(10, random_state=0).fit(X)
    assert_descends(model, (X @ X.T).astype(float), np.ones(len(X)), dtype)


def test_a_start_far_from_all_rows_does_not_raise_the_objective():
    # At this power the far centroid gets no weight at all in the first step.
    rows = np.random.default_rng(0).standard_normal((200, 3))
    start = np.vstack([rows[:2], np.full((1, 3), 1e3)])
    common = {"n_clusters": 3, "init": start, "s0": -20.0, "eta": 1.04, "random_state": 0}
    gram = KernelPowerKMeans(kernel="poly", degree=1, gamma=1.0, coef0=0.0, **common).fit(rows)
    linear = KernelPowerKMeans(kernel="linear", **common).fit(rows)
    for model in (gram, linear):
        history = model.objective_history_
        assert (np.diff(history) <= 1e-9 * history[:-1]).all()
        assert len(np.unique(model.labels_)) == 3
    np.testing.assert_allclose(gram.objective_history_, linear.objective_history_, rtol=1e-6)
