"""The summary of a run: as a dict for JSON, and as text to read."""

import math
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import numpy as np

import kernelmeans
from kernelmeans._fitted import cluster_sizes
from kernelmeans._numbers import percent
from kernelmeans._text import aligned, counted, shortened
from kernelmeans.heat.separation import in_words
from kernelmeans.profiles import Description
from kernelmeans.report.fits import cost, course, kinds_held, outcome
from kernelmeans.report.measures import scores
from kernelmeans.tables import TableTransformer

if TYPE_CHECKING:
    from kernelmeans.cli.fit import Fitted
    from kernelmeans.cli.jobs import FitJob
    from kernelmeans.cli.prepare import Task

_WIDTH = 78
_INDENT = 18
# Columns of a cluster in the text and in JSON.
_TOLD = 3
# Kernels that the text lists.
_KERNELS = 12


def fit_summary(
    job: "FitJob",
    task: "Task",
    fitted: "Fitted",
    files: dict[str, Path],
    description: Description | None,
) -> dict[str, Any]:
    """Return the summary of a fit, ready for JSON."""
    model, annealed = fitted.model, fitted.annealed
    # Columns of a kernel matrix or a graph are rows again.
    features = {} if job.pairwise else {"features": len(task.columns)}
    summary: dict[str, Any] = {
        **summarized(job.data, model, model.labels_, features),
        **outcome(model),
        **({} if model.separation_ is None else {"separation": model.separation_.tolist()}),
        **({} if fitted.plain is None else _comparison(fitted, fitted.plain)),
        **course(annealed),
        "seconds": fitted.seconds,
        "scaled": job.scales and task.preparation is not None,
        **columns_taken(task.preparation),
        # JSON knows no infinity, but Python reads this one.
        "parameters": {
            name: "inf" if isinstance(value, float) and value == math.inf else value
            for name, value in model.get_params().items()
        },
        "files": {name: str(path) for name, path in files.items()},
        "warnings": list(job.warned),
    }
    if task.view_columns is not None:
        seen = zip(summary["kernels"], model.kernels_, task.view_columns, strict=True)
        for one, kernel, n_columns in seen:
            one |= {**kernel.parameters, "columns": n_columns}
    if task.labels is not None:
        summary["agreement"] = {"column": job.label_column, **scores(task.labels, model.labels_)}
    if description is not None:
        told = description.to_dict(_TOLD)
        summary |= {"profiles": told["clusters"], "alike": told["alike"]}
    return summary


def columns_taken(preparation: Any) -> dict[str, Any]:
    """Return what each column was taken for, if that was decided."""
    if not isinstance(preparation, TableTransformer):
        return {}
    return {"columns": [column._asdict() for column in preparation.columns_]}


def summarized(source: Path, model: Any, labels: Any, more: dict[str, Any]) -> dict[str, Any]:
    """Return the summary that any labels of a model have, ready for JSON."""
    return {
        "kernelmeans": kernelmeans.__version__,
        "input": str(source),
        "rows": len(labels),
        **more,
        "clusters": int(model._n_centroids),
        "sizes": cluster_sizes(labels, model._n_centroids).tolist(),
        **({} if model.outliers is None else {"outliers": int(np.sum(labels < 0))}),
    }


def _comparison(fitted: "Fitted", plain: Any) -> dict[str, Any]:
    return {
        "annealed_cost": cost(fitted.annealed),
        "plain": {
            "cost": cost(plain),
            "steps": int(plain.n_iter_),
            "seconds": fitted.plain_seconds,
        },
        "percent_above_plain": fitted.percent_above_plain,
        "written": "plain" if fitted.model is plain else "annealed",
    }


def as_text(summary: dict[str, Any], description: Description | None = None) -> str:
    """Return the summary as aligned lines: the rows, what the clusters are, and how they came."""
    features = f" of {counted(summary['features'], 'feature')}" if "features" in summary else ""
    lines = {
        "rows": f"{summary['rows']}{features} in {counted(summary['clusters'], 'cluster')}",
        "cluster sizes": " ".join(map(str, summary["sizes"])),
    }
    if "outliers" in summary:
        fraction = percent(summary["outliers"] / summary["rows"], 1)
        more = f" ({fraction}), in no cluster: label -1"
        lines["outliers"] = f"{summary['outliers']}{more * bool(summary['outliers'])}"
    if "far" in summary:
        fraction = percent(summary["far"] / summary["rows"], 1)
        more = f" ({fraction}), farther away than 99 % of the rows of the fit"
        lines["far rows"] = f"{summary['far']}{more * bool(summary['far'])}"
    if agreement := summary.get("agreement"):
        lines["agreement"] = (
            f"NMI {agreement['nmi']:.3f}, ARI {agreement['ari']:.3f} "
            f"with column {agreement['column']!r}"
        )
    first = aligned({name: wrap(value, _WIDTH - _INDENT) for name, value in lines.items()})
    rest = {name: wrap(value, _WIDTH - _INDENT) for name, value in _technical(summary).items()}
    rest["kernel weights"] = _kernel_weights(summary.get("kernels", []))
    rest["files"] = list(summary["files"].values())
    told = ""
    if description is not None:
        # The numbers of rows and clusters are said already.
        _, _, text = description.text(_TOLD).partition("\n")
        told = f"\n\n{text.lstrip()}\n"
    return f"{first}{told}\n{aligned(rest)}"


def _technical(summary: dict[str, Any]) -> dict[str, str]:
    """Lines on how a fit went."""
    if "cost" not in summary:
        return {}
    plain = f", plain {summary['plain']['seconds']:.2f} s" if "plain" in summary else ""
    fit = f"{summary['seconds']:.2f} s{plain}"
    apart = summary.get("separation", ())
    return {
        "cost": _cost(summary),
        "separation": in_words(np.array(apart)) if len(apart) > 1 else "",
        "approximation": _approximation(summary["approximation"]),
        "graph": _graph(summary.get("graph")),
        "power": _power(summary),
        "time": f"{summary['seconds_in_all']:.2f} s, the fit {fit}",
    }


def _graph(graph: dict[str, Any] | None) -> str:
    if graph is None:
        return ""
    count = graph["n_neighbors"]
    neighbors = "as given" if count is None else counted(count, "neighbour")
    return f"{neighbors}, {counted(graph['pieces'], 'piece')}, heat for t = {graph['t']:.3g}"


def _cost(summary: dict[str, Any]) -> str:
    """The cost, and the comparison with plain kernel k-means if there is one."""
    if "plain" not in summary:
        return f"{summary['cost']:.6g}"
    above = summary["percent_above_plain"] / 100
    plain = "plain kernel k-means from the same start"
    if summary["written"] == "plain":
        return (
            f"{summary['cost']:.6g}, by {plain}, whose labels are written. The annealed run "
            f"ended {percent(above, 2)} higher ({summary['annealed_cost']:.6g}). "
            "More --n-swaps may do better."
        )
    verdict = "the same as" if abs(above) < 0.00005 else f"{percent(-above, 2)} lower than"
    if above >= 0.00005:
        verdict = f"{percent(above, 2)} higher, but with fewer edges between clusters, than"
    return f"{summary['cost']:.6g}, {verdict} {plain} ({summary['plain']['cost']:.6g})"


def _approximation(found: dict[str, Any]) -> str:
    """The approximation of the kernel, and its error; nothing for an exact fit."""
    kinds, reasons = kinds_held(found), np.atleast_1d(found["reason"]).tolist()
    if set(kinds) <= {"exact", "explicit"}:
        return ""
    reason = reasons[0] if len(set(reasons)) == 1 else "; ".join(reasons)
    text = f"{', '.join(kinds)} ({reason})"
    if found["left_out"]:
        low, high = found["cost_bounds"]
        text += f"; {percent(found['left_out'], 2)} of the trace left out, exact "
        text += f"cost of these clusters between {low:.6g} and {high:.6g}"
    return text


def _kernel_weights(kernels: list[dict[str, Any]]) -> list[str]:
    """One line for each kernel, in their order; of very many kernels those of most weight."""
    heaviest = sorted(kernels, key=lambda kernel: -kernel["weight"])
    shown = [kernel for kernel in kernels if kernel in heaviest[:_KERNELS]]
    described = [f"{percent(kernel['weight'], 1):>9}  {_described(kernel)}" for kernel in shown]
    names = [kernel["name"] for kernel in shown]
    room = _WIDTH - _INDENT - max(map(len, described), default=0)
    width = min(room, max(map(len, names), default=0))
    pairs = zip(names, described, strict=True)
    lines = [f"{shortened(name, width):<{width}}{text}" for name, text in pairs]
    if rest := [kernel["weight"] for kernel in heaviest[_KERNELS:]]:
        lines.append(f"and {len(rest)} more, {percent(sum(rest), 1)} in all")
    return lines


def _described(kernel: dict[str, Any]) -> str:
    """Kernel, width and columns, in a few words."""
    if not kernel["factor"]:
        return f"{kernel['kernel']}, constant"
    gamma = f", gamma {kernel['gamma']:.3g}" if "gamma" in kernel else ""
    return f"{kernel['kernel']}{gamma}, {counted(kernel['columns'], 'column')}"


def _power(summary: dict[str, Any]) -> str:
    steps = counted(summary["steps"], "step")
    if summary["start_power"] is None:
        return f"{steps}, all of them hard"
    critical = summary["critical_power"]
    known = "" if critical is None else f" (critical power {critical:.3g})"
    moves = ", those of any swap moves included" if summary["parameters"]["n_swaps"] else ""
    return f"from {summary['start_power']:.3g}{known}, {steps}{moves}"
