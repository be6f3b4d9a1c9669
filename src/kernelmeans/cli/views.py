"""The file of ``--views``: kernels, and the columns that each of them sees, as TOML.

The estimator checks the kernels: it gets the tables of the file as they are, and its messages call
them as the file does.
"""

import tomllib
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from kernelmeans._dialect import learn
from kernelmeans._errors import InputError
from kernelmeans._text import listed, suggestion
from kernelmeans.cli.errors import estimator_errors
from kernelmeans.estimators.checks import OF_KERNEL
from kernelmeans.estimators.views import item_name, kernel_names, n_members
from kernelmeans.tables.columns import matching

#: Enough for a name of 50 letters for each of 20 000 columns. More would take long to parse.
_FILE_BYTES = 10**6
#: Most dots before a line's equals sign: the time to parse them grows with their square.
_DOTS = 1000
_FILE_KEYS = ("kernel_scaling", "entropy_weight", "view")
#: What a kernel takes, less what only a callable does: TOML has none.
_KERNEL_KEYS = [key for key in OF_KERNEL if key != "kernel_params"]


class View(NamedTuple):
    """One ``[[view]]`` of the file; `where` is its name in messages."""

    where: str
    name: str
    spec: Mapping[str, Any]
    patterns: Sequence[str]


class Views(NamedTuple):
    """A file of views, and the estimator's parameters at its top."""

    source: Path
    views: list[View]
    parameters: dict[str, Any]

    def find(self, known: Sequence[str]) -> list[tuple[View, dict[str, bool]]]:
        """The columns that each view sees, and whether it calls them by their full names."""
        with estimator_errors():
            found = [(v, matching(v.patterns, known, f"{v.where}: columns")) for v in self.views]
        return found


def read_views(path: Path) -> Views:
    """Read a file of at least one view.

    Parameters
    ----------
    path : Path
        A TOML file.

    Returns
    -------
    Views
        The views; the estimator has not checked them yet.
    """
    content = _read_toml(path)
    tables = content.pop("view", None)
    _check(str(path), content, _FILE_KEYS)
    is_list = isinstance(tables, list) and all(isinstance(table, dict) for table in tables)
    if not tables or not is_list:
        raise InputError(f"{path}: no view; each begins with a line [[view]]")
    if content.get("kernel_scaling") == "none":
        content["kernel_scaling"] = None
    views = [_view(path, number, table) for number, table in enumerate(tables, 1)]
    learn({"kernels": str(path), **{name: f"{path}: {name}" for name in content}})
    for index, view in enumerate(views):
        learn({item_name(index, view.name): view.where, item_name(index): view.where})
    with estimator_errors():
        kernel_names([(view.name, view.spec["kernel"]) for view in views])
    return Views(path, views, content)


def kernels_of(
    seen: Sequence[tuple[View, Collection[str]]], places: Mapping[str, Collection[int]]
) -> tuple[list[tuple[Any, ...]], list[int]]:
    """The kernels of views. Their columns are sought among the features.

    Parameters
    ----------
    seen : sequence of (View, collection of str)
        The columns that each view sees.
    places : mapping of str to collection of int
        The features that stand for each column of the table.

    Returns
    -------
    kernels : list of tuple
        The parameter of `MultiKernelPowerKMeans`.
    n_columns : list of int
        Number of columns of the table that each of the estimator's kernels sees.
    """
    kernels: list[tuple[Any, ...]] = []
    n_columns: list[int] = []
    for view, names in seen:
        columns = [name for name in names if name in places]
        if not columns:
            raise InputError(
                f"{view.where}: none of its columns is used; in full, without * and ?, names "
                "call dates and columns that count the rows or are copies of others"
            )
        features = sorted(place for name in columns for place in places[name])
        kernels.append((*[view.name] * bool(view.name), dict(view.spec), features))
        n_columns += [len(columns)] * (n_members(view.spec["kernel"]) or 1)
    return kernels, n_columns


def _read_toml(path: Path) -> dict[str, Any]:
    try:
        if (size := path.stat().st_size) > _FILE_BYTES:
            raise InputError(
                f"{path}: has {size} bytes; at most {_FILE_BYTES} are read: name columns by "
                "patterns"
            )
        text = path.read_text(encoding="utf-8-sig")
        if any(line.partition("=")[0].count(".") > _DOTS for line in text.splitlines()):
            raise RecursionError
        return tomllib.loads(text)
    except RecursionError:
        raise InputError(
            f"{path}: is nested too deeply; each view is a table [[view]] with simple keys"
        ) from None
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be read as TOML: {error}") from error


def _view(path: Path, number: int, table: dict[str, Any]) -> View:
    name = table.pop("name", None)
    where = f"view {number}" + ("" if name is None else f" ({name!r})")
    if name is not None and not (isinstance(name, str) and name.strip()):
        raise InputError(f"{path}: {where}: name = {name!r} must be text that is not empty")
    patterns = table.pop("columns", ["*"])
    if not (
        isinstance(patterns, list) and patterns and all(type(p) in (str, int) for p in patterns)
    ):
        raise InputError(
            f"{path}: {where}: columns = {patterns!r} must be a list of names or patterns, at "
            'least one, as in ["area", "perim*"]; leave it out to take every feature column'
        )
    _check(f"{path}: {where}", table, ["name", "columns", *_KERNEL_KEYS])
    called = " ".join((name or "").split())
    # A file without names has indices, which may come as numbers.
    patterns = [str(pattern) for pattern in patterns]
    return View(f"{path}: {where}", called, {"kernel": "heat", **table}, patterns)


def _check(where: str, table: Mapping[str, Any], known: Collection[str]) -> None:
    """Refuse unknown keys, and values that Python takes for numbers, and kernels do not."""
    if unknown := [key for key in table if key not in known]:
        raise InputError(
            f"{where}: unknown key{'s' * (len(unknown) > 1)} {listed(unknown)}; the keys are "
            f"{', '.join(known)}.{suggestion(unknown[0], known)}"
        )
    for key, value in table.items():
        if isinstance(value, bool) or (isinstance(value, int) and abs(value) >= 2**63):
            raise InputError(f"{where}: {key} = {value!r} must be a number of at most 64 bits")
