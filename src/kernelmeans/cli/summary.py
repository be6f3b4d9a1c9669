"""What a run says about itself: as a dict for JSON, and as text to read."""

import math
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score
from sklearn.utils import get_tags

import kernelmeans
from kernelmeans._text import counted, shortened
from kernelmeans.cli.data import Data
from kernelmeans.cli.views import describe

if TYPE_CHECKING:
    from kernelmeans.cli.job import Fitted

_WIDTH = 78
_INDENT = 18
# Kernels that the text lists.
_KERNELS = 12


def fit_summary(
    source: Path,
    data: Data,
    fitted: "Fitted",
    files: dict[str, Path],
    *,
    scaled: bool,
    kernels: list[tuple[str, int]],
    label_column: str | None,
) -> dict[str, Any]:
    """Return the summary of a fit, ready for JSON."""
    model, annealed = fitted.model, fitted.annealed
    # Columns of a kernel matrix or a graph are rows again.
    pairwise = get_tags(model).input_tags.pairwise
    summary: dict[str, Any] = {
        "kernelmeans": kernelmeans.__version__,
        "input": str(source),
        "rows": int(data.X.shape[0]),
        **({} if pairwise else {"features": int(data.X.shape[1])}),
        "clusters": int(model.n_clusters),
        "sizes": sizes(model.labels_, model.n_clusters),
        "cost": float(model.inertia_),
        **({} if fitted.plain is None else _comparison(fitted)),
        "critical_power": float(annealed.critical_power_),
        "start_power": float(annealed.power_history_[0]),
        "steps": int(annealed.n_iter_),
        "seconds": fitted.seconds,
        "scaled": scaled,
        # JSON knows no infinity, but Python reads this one.
        "parameters": {
            name: "inf" if isinstance(value, float) and value == math.inf else value
            for name, value in model.get_params().items()
        },
        **({"kernels": describe(kernels, model)} if kernels else _kernel(model)),
        "approximation": {
            "kind": model.approximation_,
            "reason": model.approximation_reason_,
            "left_out": model.approximation_error_,
            "cost_bounds": model.inertia_bounds_,
        },
        "files": {name: str(path) for name, path in files.items()},
    }
    if data.labels is not None:
        summary["agreement"] = {
            "column": label_column,
            "nmi": float(normalized_mutual_info_score(data.labels, model.labels_)),
            "ari": float(adjusted_rand_score(data.labels, model.labels_)),
        }
    return summary


def _comparison(fitted: "Fitted") -> dict[str, Any]:
    annealed, plain = fitted.annealed, fitted.plain
    assert plain is not None
    return {
        "annealed_cost": float(annealed.inertia_),
        "plain": {
            "cost": float(plain.inertia_),
            "steps": int(plain.n_iter_),
            "seconds": fitted.plain_seconds,
        },
        "percent_above_plain": percent_above(
            annealed.inertia_, plain.inertia_, scale=annealed.objective_history_[0]
        ),
        "written": "annealed" if fitted.model is annealed else "plain",
    }


def _kernel(model: Any) -> dict[str, Any]:
    if model.n_pieces_ is None:
        return {"gamma": model.gamma_}
    return {
        "graph": {
            "n_neighbors": None if model.n_neighbors_ is None else int(model.n_neighbors_),
            "t": float(model.t_),
            "pieces": int(model.n_pieces_),
        }
    }


def predict_summary(source: Path, labels: Any, n_clusters: int, file: Path) -> dict[str, Any]:
    """Return the summary of a prediction, ready for JSON."""
    return {
        "kernelmeans": kernelmeans.__version__,
        "input": str(source),
        "rows": len(labels),
        "clusters": n_clusters,
        "sizes": sizes(labels, n_clusters),
        "files": {"labels": str(file)},
    }


def sizes(labels: Any, n_clusters: int) -> list[int]:
    """Return the number of rows in each cluster."""
    return [int(size) for size in np.bincount(labels, minlength=n_clusters)]


def percent_above(cost: float, reference: float, scale: float) -> float:
    """Return by how many percent of `reference` a cost lies above it.

    Differences that are nothing but rounding, on the scale given, count as 0.
    """
    difference = float(cost - reference)
    if abs(difference) <= 1e-6 * abs(scale):
        return 0.0
    return 100.0 * difference / float(reference) if reference else math.inf


def as_text(summary: dict[str, Any]) -> str:
    """Return the summary as aligned lines."""
    lines = {"rows": _rows(summary), "cluster sizes": " ".join(map(str, summary["sizes"]))}
    if "cost" in summary:
        lines["cost"] = _cost(summary)
        lines |= _approximation(summary["approximation"])
        if graph := summary.get("graph"):
            count = graph["n_neighbors"]
            lines["graph"] = (
                f"{'as given' if count is None else counted(count, 'neighbour')}, "
                f"{counted(graph['pieces'], 'piece')}, heat for t = {graph['t']:.3g}"
            )
        lines["power"] = _power(summary)
        lines["time"] = _time(summary)
    if agreement := summary.get("agreement"):
        lines["agreement"] = (
            f"NMI {agreement['nmi']:.3f}, ARI {agreement['ari']:.3f} "
            f"with column {agreement['column']!r}"
        )
    entries = {name: wrap(value, _WIDTH - _INDENT) for name, value in lines.items()}
    if kernels := summary.get("kernels"):
        entries["kernel weights"] = _kernel_weights(kernels)
    entries["files"] = list(summary["files"].values())
    return "\n".join(part for name, parts in entries.items() for part in _entry(name, parts))


def _entry(name: str, lines: list[str]) -> list[str]:
    return [f"{'' if j else name:<{_INDENT}}{line}" for j, line in enumerate(lines)]


def _rows(summary: dict[str, Any]) -> str:
    features = f" of {summary['features']} features" if "features" in summary else ""
    return f"{summary['rows']}{features} in {summary['clusters']} clusters"


def _cost(summary: dict[str, Any]) -> str:
    """Compare with plain kernel k-means, also when that did better."""
    if "plain" not in summary:
        return f"{summary['cost']:.6g}"
    percent = summary["percent_above_plain"]
    plain = "plain kernel k-means from the same start"
    if summary["written"] == "plain":
        above = 100 * (summary["annealed_cost"] / summary["cost"] - 1)
        return (
            f"{summary['cost']:.6g}, of {plain}, whose labels are written: the annealed run "
            f"ended {above:.2g} % higher ({summary['annealed_cost']:.6g}). "
            "More --n-swaps may do better."
        )
    verdict = "the same as" if abs(percent) < 0.005 else f"{-percent:.2f} % lower than"
    return f"{summary['cost']:.6g}, {verdict} {plain} ({summary['plain']['cost']:.6g})"


def _approximation(found: dict[str, Any]) -> dict[str, str]:
    """What stands in for the kernel, and how far it may be off; nothing for an exact fit."""
    kinds, reasons = (
        [value] if isinstance(value, str) else value for value in (found["kind"], found["reason"])
    )
    if set(kinds) <= {"exact", "explicit"}:
        return {}
    reason = reasons[0] if len(set(reasons)) == 1 else "; ".join(reasons)
    text = f"{', '.join(dict.fromkeys(kinds))} ({reason})"
    if found["left_out"]:
        low, high = found["cost_bounds"]
        text += f"; {found['left_out']:.2%} of the trace left out, exact cost of these clusters "
        text += f"between {low:.6g} and {high:.6g}"
    return {"approximation": text}


def _time(summary: dict[str, Any]) -> str:
    plain = f", plain {summary['plain']['seconds']:.2f} s" if "plain" in summary else ""
    return f"{summary['seconds']:.2f} s{plain}"


def _kernel_weights(kernels: list[dict[str, Any]]) -> list[str]:
    """One line for each kernel, in their order; of very many those of most weight."""
    heaviest = sorted(range(len(kernels)), key=lambda index: -kernels[index]["weight"])
    shown = [kernels[index] for index in sorted(heaviest[:_KERNELS])]
    settled = [f"{100 * kernel['weight']:7.1f} %  {_settled(kernel)}" for kernel in shown]
    room = _WIDTH - _INDENT - max(map(len, settled))
    width = min(room, max(len(kernel["name"]) for kernel in shown))
    lines = [
        f"{shortened(kernel['name'], width):<{width}}{text}"
        for kernel, text in zip(shown, settled, strict=True)
    ]
    if rest := [kernels[index]["weight"] for index in heaviest[_KERNELS:]]:
        lines.append(f"and {len(rest)} more, {100 * sum(rest):.1f} % in all")
    return lines


def _settled(kernel: dict[str, Any]) -> str:
    """What a kernel is, in a few words."""
    if not kernel["factor"]:
        return f"{kernel['kernel']}, constant"
    gamma = f", gamma {kernel['gamma']:.3g}" if "gamma" in kernel else ""
    count = kernel["columns"]
    return f"{kernel['kernel']}{gamma}, {count} column{'s' * (count != 1)}"


def _power(summary: dict[str, Any]) -> str:
    steps = f"{summary['steps']} steps"
    if not math.isfinite(summary["start_power"]):
        return f"{steps}, all of them hard"
    critical = round(summary["critical_power"], 6)  # Clear clusters have 0, but for rounding.
    return (
        f"from {summary['start_power']:.3g} (critical power {critical:.3g}), "
        f"{steps} with those of swap moves"
    )
