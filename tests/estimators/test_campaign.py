"""Two thousand small fits at random, of all estimators, on rows and weights of all sizes.

Each ends in a model whose numbers are finite and whose labels are those of `predict`, or in an
error of the package's own; never in a message from below, a warning of NumPy's or a hang.
"""

import time
import traceback
import warnings
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse
from sklearn.exceptions import ConvergenceWarning

import kernelmeans
from kernelmeans import KernelKMeans, KernelPowerKMeans, MultiKernelPowerKMeans, PowerKMeans
from kernelmeans.baselines import MKKM, RKKM, RMKKM

BATCHES, FITS = 20, 100
#: Seconds of one fit with its answers, on any machine.
LONGEST = 20
#: Where errors may come from: the package, or scikit-learn's checks of input and parameters.
OWN = (str(Path(kernelmeans.__file__).parent), "sklearn/utils/validation.py")
KERNELS = ("rbf", "laplacian", "geodesic", "poly", "sigmoid", "cosine", "linear", "heat")


def pick(rng, *choices):
    return choices[rng.integers(len(choices))]


def product(A, B):
    return A @ B.T


def rows(rng, n, p):
    """Rows of some shape, scale, place and precision."""
    X = pick(
        rng,
        lambda: rng.standard_normal((n, p)),
        lambda: rng.integers(0, 3, (n, p)).astype(float),
        lambda: rng.standard_normal((3, p))[rng.integers(3, size=n)] * 5 + rng.normal(size=(n, p)),
        lambda: np.ones((n, p)),
        lambda: rng.standard_cauchy((n, p)) ** 3,
    )()
    scale = 10.0 ** pick(rng, 0, 0, 0, 0, -3, 3, -18, 18, -150, 75, 152)
    X = scale * (X + pick(rng, 0, 0, 0, 1e3, 1e8))
    X[rng.integers(n)] *= pick(rng, 1, 1, 1, 0, 1e6)
    dtype = pick(rng, np.float64, np.float64, np.float32)
    X = np.clip(X, np.finfo(dtype).min, np.finfo(dtype).max).astype(dtype)
    return scipy.sparse.csr_array(X) if rng.random() < 0.15 else X


def kernel_matrix(rng, n):
    A = rng.standard_normal((n, pick(rng, 2, n))) * 10.0 ** pick(rng, 0, 0, 0, 10, 60, 150)
    K = A @ A.T
    return K + pick(rng, 0, 0, 1) * np.abs(K).max() * (lambda E: E + E.T)(rng.normal(size=(n, n)))


def graph(rng, n):
    A = rng.lognormal(0, pick(rng, 0, 1, 20), (n, n)) * (rng.random((n, n)) < pick(rng, 0.05, 0.5))
    A = (A + A.T) * 10.0 ** pick(rng, 0, 0, 0, -300, 250)
    return pick(rng, np.asarray, scipy.sparse.csr_array)(A)


def weights(rng, n):
    return pick(
        rng,
        lambda: None,
        lambda: None,
        lambda: rng.integers(0, 3, n).astype(float),
        lambda: rng.uniform(size=n),
        lambda: 10.0 ** rng.uniform(-12, 12, n),
        lambda: 10.0 ** pick(rng, -200, -100, 100, 200) * rng.uniform(size=n),
        lambda: np.eye(n)[rng.integers(n)],
    )()


def start(rng, X, n, k):
    return pick(
        rng,
        lambda: "k-means++",
        lambda: "k-means++",
        lambda: "random",
        lambda: rng.permutation(n)[:k] if k <= n else "random",
        lambda: rng.uniform(size=(n, k)),
        lambda: 3 * rng.standard_normal((k, X.shape[1])),
        lambda: 1e200 * np.ones((k, X.shape[1])),
    )()


def annealing(rng):
    return {
        "s0": pick(rng, "auto", "auto", "auto", -1.0, -1e-6, -50.0, -1e5),
        "eta": pick(rng, "auto", "auto", 1.0, 1.3),
    }


def one_kernel(rng):
    given = {"kernel": pick(rng, *KERNELS, "graph", "precomputed", product)}
    if isinstance(given["kernel"], str):
        given["gamma"] = pick(rng, "rms", "rms", "median", "scale", 0.5, 1e-300, 1e300)
        given["degree"], given["coef0"] = pick(rng, 2, 3, 2.5, 30), pick(rng, 0, 1, -1)
    return given


def several_kernels(rng):
    families = "neighbors", "widths", "du2015"
    kernels = pick(rng, *families, ["rbf", "linear"], ["poly", ("cosine", [0]), "sigmoid"])
    return {
        "kernels": kernels,
        "kernel_scaling": pick(rng, "unit-variance", "cosine", "min-max", None),
    }


def approximation(rng):
    return {
        "approximation": pick(rng, "auto", "auto", None, "landmarks", "rpcholesky", "rff"),
        "n_components": pick(rng, "auto", 3, 0.9),
        "cache_kernel": bool(rng.random() < 0.8),
    }


def estimator(rng, k):
    kind = pick(rng, *[KernelPowerKMeans] * 4, KernelKMeans, PowerKMeans, PowerKMeans,
                MultiKernelPowerKMeans, RKKM, MKKM, RMKKM)  # fmt: skip
    given = {"max_iter": pick(rng, 1, 50, 1000), "random_state": int(rng.integers(99))}
    if kind in (KernelPowerKMeans, KernelKMeans, RKKM):
        given |= one_kernel(rng)
    if kind in (MultiKernelPowerKMeans, MKKM, RMKKM):
        given |= several_kernels(rng)
    if kind in (KernelPowerKMeans, PowerKMeans, MultiKernelPowerKMeans):
        given |= annealing(rng)
    if kind in (KernelPowerKMeans, KernelKMeans, MultiKernelPowerKMeans):
        given |= approximation(rng)
    return kind(k, **given)


def assert_sound(model, X, weight):
    assert np.isfinite(model.inertia_)
    assert np.isfinite(model.objective_history_).all()
    assert model.memberships_ is None or np.isfinite(model.memberships_).all()
    np.testing.assert_array_equal(model.labels_, model.predict(X))
    assert model.labels_.min() >= 0
    assert model.labels_.max() < model.n_clusters
    assert model.inertia_ == -model.score(X, sample_weight=weight)
    assert np.isfinite(model.transform(X)).all()
    bounds = getattr(model, "inertia_bounds_", None)
    assert bounds is None or 0 <= bounds[0] <= bounds[1]


def fit(rng):
    """One fit at random; whether it ended in a model."""
    n, k = int(rng.integers(1, 40)), int(rng.integers(1, 6))
    model = estimator(rng, k)
    X = rows(rng, n, int(rng.integers(1, 5)))
    if getattr(model, "kernel", None) == "precomputed":
        X = kernel_matrix(rng, n)
    if getattr(model, "kernel", None) == "graph":
        X = graph(rng, n)
    weight, began = weights(rng, n), time.perf_counter()
    model.set_params(init=start(rng, X, n, k))
    refusal = None
    try:
        model.fit(X, sample_weight=weight)
        assert_sound(model, X, weight)
    except (ValueError, MemoryError) as error:
        refusal = traceback.extract_tb(error.__traceback__)[-1].filename, str(error)
    except Exception as error:
        error.add_note(f"{model}, X={X!r}, sample_weight={weight!r}")
        raise
    assert time.perf_counter() - began < LONGEST, model
    if refusal is not None:
        assert any(own in refusal[0] for own in OWN), f"{model}: {refusal}"
    return refusal is None


@pytest.mark.parametrize(
    "seed", [0, 1, *[pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, BATCHES)]]
)
def test_fits_at_random_are_sound_or_refused(seed):
    rng = np.random.default_rng(seed)
    with warnings.catch_warnings():
        # What the package says of data and parameters; NumPy's warnings stay errors.
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.filterwarnings("ignore", category=UserWarning)
        warnings.filterwarnings("ignore", "n_init=", RuntimeWarning)
        fitted = [fit(rng) for _ in range(FITS)]
    assert sum(fitted) > FITS / 3
