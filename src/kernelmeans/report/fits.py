"""Facts of a fit: the summary of `kernelmeans fit` and the report print them."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from kernelmeans._fitted import exact
from kernelmeans._given import checked_names
from kernelmeans._numbers import finite

#: Most steps of a trace.
MOST_STEPS = 200
#: Critical powers nearer to 0 are 0: eigenvalues are not more accurate.
_LEAST_POWER = 1e-6


def outcome(model: Any, kernel_names: Sequence[str] | None = None) -> dict[str, Any]:
    """The cost of a fit, its kernel or kernels, and how the kernel was held."""
    return {
        "cost": cost(model),
        **_kernel(model, kernel_names),
        "approximation": {
            "kind": model.approximation_,
            "reason": model.approximation_reason_,
            "left_out": model.approximation_error_,
            "cost_bounds": model.inertia_bounds_,
        },
    }


def course(model: Any) -> dict[str, Any]:
    """The powers and the steps of a fit; the first power is None if all steps were hard."""
    return {
        "critical_power": critical_power(model),
        "start_power": finite(float(model.power_history_[0])),
        "steps": int(model.n_iter_),
    }


def trace(model: Any) -> dict[str, Any]:
    """Objective and power at the steps of a fit, at most `MOST_STEPS` of them."""
    power = np.asarray(model.power_history_, dtype=float)
    kept = np.unique(np.linspace(0, len(power) - 1, MOST_STEPS).astype(int))
    return {
        "objective": exact(model, np.asarray(model.objective_history_)[kept]).tolist(),
        "power": finite(power[kept].tolist()),
        "restarts": len(model.result_.cost),
    }


def kinds_held(approximation: dict[str, Any]) -> list[str]:
    """How kernels were held, each way once."""
    return list(dict.fromkeys(np.atleast_1d(approximation["kind"]).tolist()))


def cost(model: Any) -> float:
    """The cost of a fit, 0 within rounding."""
    return float(exact(model, model.inertia_))


def critical_power(model: Any) -> float | None:
    """The critical power of a fit; None if it has none, as of rows that do not vary."""
    power: float | None = finite(float(getattr(model, "critical_power_", -np.inf)))
    # The power of clear clusters is 0.
    return power if power is None or abs(power) > _LEAST_POWER else 0.0


def _kernel(model: Any, names: Sequence[str] | None) -> dict[str, Any]:
    """The kernels, each with its weight and factor, or one kernel and its settled parameters."""
    if hasattr(model, "kernel_weights_"):
        names = checked_names(names, model.kernel_names_, "kernel", "kernel_names")
        keys = ("name", "kernel", "weight", "factor")
        learned = model.kernel_weights_.tolist(), model.kernel_factors_.tolist()
        rows = zip(names, [kernel.name for kernel in model.kernels_], *learned, strict=True)
        return {"kernels": [dict(zip(keys, row, strict=True)) for row in rows]}
    found = {"kernel": model.kernel_.name}
    if getattr(model, "n_pieces_", None) is None:
        return found | {"gamma": getattr(model, "gamma_", None)}
    graph = {
        "n_neighbors": model.n_neighbors_,
        "density": model.density_,
        "t": model.t_,
        "pieces": model.n_pieces_,
    }
    return found | {"graph": {name: np.asarray(one).item() for name, one in graph.items()}}
