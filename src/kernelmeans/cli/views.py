"""The file of ``--views``: kernels, and the columns that each of them sees, as TOML."""

import math
import tomllib
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from kernelmeans._text import listed, meant
from kernelmeans.cli.errors import BadInputError
from kernelmeans.estimators.views import FAMILIES, FAMILY_PARAMETERS
from kernelmeans.kernels import OF_FEATURES, PARAMETERS

#: A name of 50 letters for each of 20 000 columns; parsing takes time.
_FILE_BYTES = 10**6
#: Dots before a line's equals sign, for which parsing takes time as their square.
_DOTS = 1000
_FILE_KEYS = ("kernel_scaling", "entropy_weight", "view")
_SCALINGS = ("unit-variance", "cosine", "min-max", "none")
_KERNELS = (*OF_FEATURES, *FAMILIES)
_GAMMAS = ("rms", "median", "scale")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_finite(value: Any) -> bool:
    try:
        return _is_number(value) and math.isfinite(value)
    except OverflowError:  # an integer of hundreds of digits
        return False


#: What each parameter of a kernel may be, in words and as a test.
_PARAMETERS: Mapping[str, tuple[str, Callable[[Any], bool]]] = {
    "gamma": (
        f"a number above 0 or one of {', '.join(_GAMMAS)}",
        lambda value: value in _GAMMAS or (_is_finite(value) and value > 0),
    ),
    "degree": ("a number, 0 or more", lambda value: _is_finite(value) and value >= 0),
    "coef0": ("a number", _is_finite),
    "n_neighbors": (
        "a whole number, 2 or more, or auto",
        lambda value: value == "auto" or (_is_finite(value) and value == int(value) >= 2),
    ),
    "t": (
        "a number above 0, or auto",
        lambda value: value == "auto" or (_is_finite(value) and value > 0),
    ),
    "metric": ("euclidean or cosine", lambda value: value in ("euclidean", "cosine")),
}
_VIEW_KEYS = ("name", "columns", "kernel", *_PARAMETERS)


class NamedKernel(NamedTuple):
    """A kernel as people know it: a view is one, or several where it names a family."""

    name: str
    kernel: str
    n_columns: int


@dataclass(frozen=True)
class View:
    """One ``[[view]]`` of the file; `where` is what messages call it."""

    where: str
    name: str
    spec: Mapping[str, Any]
    columns: Sequence[str] | None

    def find(self, known: Collection[str]) -> list[str]:
        """Return those of the known columns that this view sees, in their order."""
        if self.columns is None:
            return list(known)
        found = {name for text in self.columns for name in self._matches(text, known)}
        return [name for name in known if name in found]

    def kernels(self, n_columns: int) -> list[NamedKernel]:
        """Return the kernels that the view stands for."""
        kernel = self.spec["kernel"]
        if kernel not in FAMILIES:
            return [NamedKernel(self.name, kernel, n_columns)]
        # The members of a family are the same for all data, but for their widths.
        members = FAMILIES[kernel](np.eye(2))
        return [
            NamedKernel(f"{self.name} {count}", member.name, n_columns)
            for count, member in enumerate(members, 1)
        ]

    def _matches(self, text: str, known: Collection[str]) -> list[str]:
        """Columns of a name or a pattern; a name may itself look like a pattern."""
        found = [text] if text in known else [name for name in known if fnmatchcase(name, text)]
        if found:
            return found
        hint = meant(text, known, "the features")
        wrong = "matches no feature column" if set(text) & set("*?[") else "is no feature column"
        raise BadInputError(f"{self.where}: {text!r} {wrong}; {hint}")


@dataclass(frozen=True)
class FoundViews:
    """Views whose columns are found.

    Parameters
    ----------
    columns : list of str
        The columns that any view sees, in the table's order.
    parameters : dict
        What `MultiKernelPowerKMeans` takes; columns are indices among `columns`.
    kernels : list of NamedKernel
        In the order of the estimator's kernels.
    """

    columns: list[str]
    parameters: dict[str, Any]
    kernels: list[NamedKernel]

    @property
    def names(self) -> list[str]:
        """The names of the kernels."""
        return [kernel.name for kernel in self.kernels]


@dataclass(frozen=True)
class Views:
    """A file of views, and the estimator's parameters that stand above them."""

    source: Path
    views: list[View]
    parameters: dict[str, Any]

    def find(self, known: Sequence[str]) -> FoundViews:
        """Find the columns of all views.

        Parameters
        ----------
        known : sequence of str
            The feature columns, in the table's order.

        Returns
        -------
        FoundViews
            What the estimator needs.
        """
        features = dict.fromkeys(known)
        seen = [view.find(features) for view in self.views]
        seen_by_any = {name for columns in seen for name in columns}
        used = [name for name in known if name in seen_by_any]
        place = {name: index for index, name in enumerate(used)}
        kernels = [
            (dict(view.spec), [place[name] for name in columns])
            for view, columns in zip(self.views, seen, strict=True)
        ]
        named = [
            kernel
            for view, columns in zip(self.views, seen, strict=True)
            for kernel in view.kernels(len(columns))
        ]
        return FoundViews(used, {"kernels": kernels, **self.parameters}, named)


def read_views(path: Path) -> Views:
    """Read a file of views.

    Parameters
    ----------
    path : Path
        A TOML file.

    Returns
    -------
    Views
        At least one.
    """
    try:
        if (size := path.stat().st_size) > _FILE_BYTES:
            raise BadInputError(
                f"{path}: has {size} bytes; at most {_FILE_BYTES} are read: name columns by "
                "patterns"
            )
        text = path.read_text(encoding="utf-8-sig")
        if any(line.partition("=")[0].count(".") > _DOTS for line in text.splitlines()):
            raise RecursionError
        content = tomllib.loads(text)
    except RecursionError:
        raise BadInputError(
            f"{path}: is nested too deeply; each view is a table [[view]] with keys of one name"
        ) from None
    except (OSError, ValueError) as error:
        raise BadInputError(f"{path}: cannot be read as TOML: {error}") from error
    _check_keys(str(path), content, _FILE_KEYS)
    tables = content.get("view")
    is_list = isinstance(tables, list) and all(isinstance(table, dict) for table in tables)
    if not tables or not is_list:
        raise BadInputError(f"{path}: no view; each begins with a line [[view]]")
    views = [_view(path, number, table) for number, table in enumerate(tables, 1)]
    return Views(path, _distinct(path, views), _shared(path, content))


def describe(kernels: Sequence[NamedKernel], model: Any) -> list[dict[str, Any]]:
    """Say what a fitted `MultiKernelPowerKMeans` made of the kernels, ready for JSON."""
    settled = iter(model.kernel_.kernels)
    entries = []
    learned = zip(kernels, model.kernel_weights_, model.kernel_factors_, strict=True)
    for named, weight, factor in learned:
        # The model has no settled kernel where the kernel is constant on the data.
        own = next(settled) if factor else None
        entries.append(
            {
                "name": named.name,
                "kernel": named.kernel if own is None else own.name,
                **({} if own is None else own.parameters),
                "columns": named.n_columns,
                "weight": float(weight),
                "factor": float(factor),
            }
        )
    return entries


def _shared(path: Path, content: Mapping[str, Any]) -> dict[str, Any]:
    """The estimator's parameters that are no view's."""
    parameters: dict[str, Any] = {}
    if "kernel_scaling" in content:
        scaling = _one_of(str(path), "kernel_scaling", content["kernel_scaling"], _SCALINGS)
        parameters["kernel_scaling"] = None if scaling == "none" else scaling
    if "entropy_weight" in content:
        weight = content["entropy_weight"]
        if weight != math.inf and not (_is_finite(weight) and weight >= 0):
            raise BadInputError(
                f"{path}: entropy_weight = {weight!r} must be a number, 0 or more, or inf"
            )
        parameters["entropy_weight"] = float(weight)
    return parameters


def _view(path: Path, number: int, table: Mapping[str, Any]) -> View:
    name = table.get("name")
    where = f"{path}: view {number}" + ("" if name is None else f" ({name!r})")
    if name is not None and not (isinstance(name, str) and name.strip()):
        raise BadInputError(f"{where}: name = {name!r} must be text that is not empty")
    _check_keys(where, table, _VIEW_KEYS)
    kernel = _one_of(where, "kernel", table.get("kernel", "heat"), _KERNELS)
    return View(
        where,
        kernel if name is None else " ".join(name.split()),
        {"kernel": kernel, **_kernel_parameters(where, kernel, table)},
        _column_names(where, table["columns"]) if "columns" in table else None,
    )


def _kernel_parameters(where: str, kernel: str, table: Mapping[str, Any]) -> dict[str, Any]:
    given = {key: table[key] for key in _PARAMETERS if key in table}
    takes = {**PARAMETERS, **FAMILY_PARAMETERS}.get(kernel, ())
    if unknown := [key for key in given if key not in takes]:
        allowed = f"only {', '.join(takes)}" if takes else "no parameters"
        raise BadInputError(
            f"{where}: kernel {kernel!r} takes {allowed}; leave {' and '.join(unknown)} out"
        )
    for key, value in given.items():
        allowed, fits = _PARAMETERS[key]
        if not fits(value):
            raise BadInputError(f"{where}: {key} = {value!r} must be {allowed}")
    return given


def _column_names(where: str, columns: Any) -> list[str]:
    """Names and patterns; a file without names has indices, which may come as numbers."""
    if (
        not isinstance(columns, list)
        or not columns
        or not all(isinstance(name, str | int) and not isinstance(name, bool) for name in columns)
    ):
        raise BadInputError(
            f"{where}: columns = {columns!r} must be a list of names or patterns, at least one, as "
            'in ["area", "perim*"]; for every feature column leave it out'
        )
    return [str(name) for name in columns]


def _distinct(path: Path, views: Sequence[View]) -> list[View]:
    """The views with names of their own: those called after their kernel may need a number."""
    counts = Counter(view.name for view in views)
    named = [
        replace(view, name=f"{view.name} {number}")
        if counts[view.name] > 1 and view.name == view.spec["kernel"]
        else view
        for number, view in enumerate(views, 1)
    ]
    names = Counter(kernel.name for view in named for kernel in view.kernels(0))
    if repeated := [name for name, count in names.items() if count > 1]:
        raise BadInputError(
            f"{path}: several kernels would be called {listed(repeated)}; give every view a name "
            "of its own"
        )
    return named


def _check_keys(where: str, table: Mapping[str, Any], allowed: Sequence[str]) -> None:
    if unknown := [key for key in table if key not in allowed]:
        raise BadInputError(
            f"{where}: unknown key{'s' * (len(unknown) > 1)} {listed(unknown)}; the keys are "
            f"{', '.join(allowed)}"
        )


def _one_of(where: str, key: str, value: Any, allowed: Sequence[str]) -> str:
    if not isinstance(value, str) or value not in allowed:
        raise BadInputError(f"{where}: {key} = {value!r} must be one of {', '.join(allowed)}")
    return value
