"""Kernels that are callables: symmetric ones are taken, others are refused before the fit."""

from functools import partial
from typing import Any

import numpy as np
from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel

from fuzz import Case, Failure, Rng
from fuzz.draw import pick
from fuzz.judge import is_refusal, promised, require
from fuzz.sound import check_fit, product, unchanged
from kernelmeans import KernelKMeans, KernelPowerKMeans, MultiKernelPowerKMeans
from kernelmeans.baselines import MKKM, RKKM, RMKKM

WEIGHT = 1


def case(rng: Rng) -> Case:
    n, p, k = int(rng.integers(4, 60)), int(rng.integers(1, 5)), int(rng.integers(1, 4))
    X = rng.normal(size=(n, p)) + pick(rng, 0, 0, 3)
    X = X.astype(pick(rng, "f8", "f8", "f4"))
    is_symmetric = bool(rng.integers(2))
    kernel = pick(rng, *(SYMMETRIC if is_symmetric else OTHERS))
    given: dict[str, Any] = {"n_swaps": 0, "random_state": int(rng.integers(99))}
    low = {"approximation": pick(rng, "landmarks", "rpcholesky"), "n_components": 5}
    views = [kernel, (pick(rng, "rbf", kernel), slice(0, p))]
    model: Any = pick(
        rng,
        lambda: KernelPowerKMeans(k, kernel=kernel, **given),
        lambda: KernelPowerKMeans(k, kernel=kernel, cache_kernel=False, **given),
        lambda: KernelPowerKMeans(k, kernel=kernel, **low, **given),
        lambda: KernelKMeans(k, kernel=kernel, **given),
        lambda: RKKM(k, kernel=kernel, random_state=0),
        lambda: MultiKernelPowerKMeans(k, kernels=views, **pick(rng, {}, low), **given),
        lambda: pick(rng, MKKM, RMKKM)(k, kernels=views, random_state=0),
    )()

    def check() -> None:
        if is_symmetric:
            with promised("a symmetric callable"):
                check_fit(model, X, None, rng)
        else:
            check_refused(model, X)

    return Case(f"{model!r}\nX = {X!r}", check)


def check_refused(model: Any, X: Any) -> None:
    """The fit says that the callable is not symmetric."""
    try:
        with unchanged(model, X):
            model.fit(X)
    except Exception as error:
        require(is_refusal(error) and "symmetric" in str(error), f"{error!r}")
    else:
        raise Failure("a callable that is not symmetric is taken")


def gaussian(A: Any, B: Any) -> Any:
    """From products, so that rounding is not symmetric."""
    squares = (A**2).sum(axis=1)[:, None] + (B**2).sum(axis=1) - 2 * A @ B.T
    return np.exp(-0.5 * np.maximum(squares, 0))


def correlation(A: Any, B: Any) -> Any:
    A, B = (one - one.mean(axis=1, keepdims=True) + 1 for one in (A, B))
    return A @ B.T / np.sqrt((A**2).sum(axis=1)[:, None] * (B**2).sum(axis=1))


def sigmoid(A: Any, B: Any) -> Any:
    """Not positive, but symmetric."""
    return np.tanh(A @ B.T - 1)


def tilted(A: Any, B: Any, tilt: float) -> Any:
    """More from a row to those below it than back."""
    return gaussian(A, B) + tilt * (A[:, :1] - B[:, :1].T)


def moved(A: Any, B: Any) -> Any:
    """Products with rows about another point."""
    return (A - 7) @ B.T


def scaled(A: Any, B: Any) -> Any:
    """By the rows of one side, as a normalization that is half done."""
    return A @ B.T / np.linalg.norm(A, axis=1, keepdims=True)


SYMMETRIC = (
    *(product, gaussian, correlation, sigmoid, rbf_kernel, laplacian_kernel),
    partial(rbf_kernel, gamma=3.0),
)
OTHERS = (partial(tilted, tilt=0.1), partial(tilted, tilt=2.0), moved, scaled)
