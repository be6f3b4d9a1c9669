"""Fits that take the ways of many rows, because few count as many here."""

from contextlib import ExitStack
from typing import Any
from unittest.mock import patch

from fuzz import Case, Rng
from fuzz.draw import pick, plain_rows, weights
from fuzz.sound import check_fit
from kernelmeans import KernelPowerKMeans, MultiKernelPowerKMeans, PowerKMeans

WEIGHT = 1
#: Numbers of rows from which on there are subsamples, blocks and graphs of anchors.
LIMITS: dict[str, dict[str, Any]] = {
    "kernelmeans.lowrank.sampling": {"MOST_ROWS": 30, "FEWEST_ROWS": 20},
    "kernelmeans.solver.subsampled": {"SAMPLES_PER_CLUSTER": 4},
    "kernelmeans.spaces.base": {"BLOCK_ROWS": (3, 8)},
    "kernelmeans.estimators.plan": {"GRAPH_ROWS": 60},
}


def case(rng: Rng) -> Case:
    n, p, k = int(rng.integers(20, 300)), int(rng.integers(1, 4)), int(rng.integers(1, 6))
    X = plain_rows(rng, n, p)
    given: dict[str, Any] = {"n_swaps": pick(rng, 0, 2), "random_state": int(rng.integers(99))}
    low = {"approximation": pick(rng, "landmarks", "rpcholesky", "rff"), "n_components": 7}
    model: Any = pick(
        rng,
        lambda: PowerKMeans(k, **given),
        lambda: KernelPowerKMeans(k, **given),
        lambda: KernelPowerKMeans(k, kernel=pick(rng, "rbf", "linear"), **given),
        lambda: KernelPowerKMeans(k, kernel="rbf", cache_kernel=False, **given),
        lambda: KernelPowerKMeans(k, kernel="rbf", **low, **given),
        lambda: MultiKernelPowerKMeans(k, kernels=pick(rng, "widths", "neighbors"), **given),
    )()
    weight = weights(rng, n)

    def check() -> None:
        with ExitStack() as limits:
            for module, numbers in LIMITS.items():
                limits.enter_context(patch.multiple(module, **numbers))
            check_fit(model, X, weight, rng)

    return Case(f"{model!r}\nX = {X!r}\nsample_weight = {weight!r}", check)
