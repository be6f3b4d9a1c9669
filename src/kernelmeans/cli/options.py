"""The options of the commands: the parameters of the estimator and of the jobs, under headings.

Signatures and docstrings are read as text, because importing the estimator would take a second.
The first sentence on a parameter is the help of its option. Its type says which values the option
takes.
"""

import ast
import os
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, cast

import click
from click.core import ParameterSource

from kernelmeans._text import bounded, nearest, suggestion
from kernelmeans.cli.intervals import check_number

#: Options of a single kernel, which ``--views`` replaces.
_KERNEL = ("kernel", "gamma", "degree", "coef0", "n_neighbors", "t", "metric", "density")
#: The options in the order of ``--help``, and the headings under which it lists them.
_HEADING = {
    name: heading
    for heading, names in (
        ("Data", "n_clusters columns drop categorical dates missing skewed label_column"),
        ("Data", "weight_column id_column scale dtype"),
        ("Reading", "header separator decimal thousands missing_values encoding sheet take"),
        ("Data", "memory_budget"),
        ("Search", "n_splits scoring n_jobs"),
        ("Kernel", f"kernels {' '.join(_KERNEL)} views cache_kernel approximation"),
        ("Kernel", "n_components device"),
        (
            "Fit",
            "outliers s0 eta anneal_every init n_init n_swaps max_iter tol random_state compare",
        ),
        ("Files", "output_dir labels like model summary profiles results plot plot_file page rows"),
        ("Files", "soft force"),
        ("Files", "as_json quiet"),
    )
    for name in names.split()
}
#: The options by their parameters. Some have other names, or a short name too.
_FLAGS = {name: (f"--{name.replace('_', '-')}",) for name in _HEADING} | {
    "n_clusters": ("--n-clusters", "-k"),
    "n_components": ("--components",),
    "n_splits": ("--splits",),
    "n_jobs": ("--jobs",),
    "random_state": ("--seed",),
    "output_dir": ("--output-dir", "-o"),
    "page": ("--report",),
    "as_json": ("--json",),
    "quiet": ("--quiet", "-q"),
}
#: Options of ``choose`` that are parameters of the search.
SEARCH = ("n_splits", "scoring")
#: Where a context holds the arguments of a command.
ARGUMENTS = "kernelmeans.arguments"
_PACKAGE = Path(__file__).parents[1]
_PICTURES = (".png", ".svg", ".pdf")
#: Suffixes of tables that are not written: Excel would not open text under such a name.
_TABLES = (".xlsx", ".xls", ".ods", ".parquet")
#: A folder with such a name is a mistake.
_WRITTEN = (*_PICTURES, *_TABLES, ".csv", ".json", ".skops", ".html")
#: Longer lists of names are shown in the help text of an option.
_LONGEST_METAVAR = 25


class Documented(NamedTuple):
    """A parameter: its default, its type, and the first sentence on it."""

    default: Any
    kind: str
    text: str


@cache
def documented(file: str, name: str) -> dict[str, Documented]:
    """Read the numpydoc docstring and the defaults of a class without importing it.

    Parameters
    ----------
    file : str
        A Python file of this package.
    name : str
        A class in it, with a constructor or, as a dataclass, with annotated fields.

    Returns
    -------
    dict of Documented
        The documentation of each parameter that has a default.
    """
    (owner,) = [
        node
        for node in ast.parse((_PACKAGE / file).read_text("utf-8")).body
        if isinstance(node, ast.ClassDef) and node.name == name
    ]
    defaults: dict[str, ast.expr | None] = {}
    for node in owner.body:
        if isinstance(node, ast.AnnAssign):
            defaults[ast.unparse(node.target)] = node.value
        if isinstance(node, ast.FunctionDef) and node.name == "__init__":
            names = [argument.arg for argument in node.args.args[1:] + node.args.kwonlyargs]
            values = node.args.defaults + node.args.kw_defaults
            defaults = dict(zip(names[-len(values) :], values, strict=True))
    pattern = r"^(\w+) : (.*?)(?:, default=.*)?\n((?: {4}.*\n?)+)"
    items = re.findall(pattern, ast.get_docstring(owner) or "", re.MULTILINE)
    return {
        item: Documented(ast.literal_eval(value), kind, _first_sentence(text))
        for item, kind, text in items
        if (value := defaults.get(item)) is not None
    }


def _first_sentence(text: str) -> str:
    return re.split(r"(?<=\.) ", " ".join(text.split()))[0].replace("`", "").replace('"', "")


class Value(click.ParamType[str | float | None]):
    """A number, one of a few names, or either, according to the type in a docstring."""

    name = "value"

    def __init__(self, kind: str) -> None:
        self.numbers = [
            number for number in (int, float) if re.search(rf"\b{number.__name__}\b", kind)
        ]
        self.names = re.findall(r'"([^"]+)"', kind)
        if self.names and "None" in kind:
            self.names.append("none")

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> str | float | None:
        """Return a name as it is, "none" as None, and a number as int or float."""
        if not isinstance(value, str):
            return cast(float, value)  # a default
        if value in self.names:
            return None if value == "none" else value
        for kind in self.numbers:
            with suppress(ValueError):
                number = kind(value)
                check_number(number, param, ctx, *self.names)
                return number
        digits = "a whole number" if self.numbers == [int] else "a number"
        allowed = [*self.names, *[digits] * bool(self.numbers)]
        one_of = "one of: " if len(allowed) > 1 else ""
        meant = suggestion(value, self.names)
        self.fail(
            f"{value!r} is not {one_of}{', '.join(allowed)}{'.' * bool(meant)}{meant}", param, ctx
        )


class Names(Value):
    """Some of a few names, separated by commas."""

    def convert(self, value: Any, *args: Any) -> Any:
        """Return the names, each once."""
        if isinstance(value, str) and value.rstrip().endswith(","):
            self.fail(f"{value!r} ends with a comma: names have no spaces between them", *args)
        names = value.split(",") if isinstance(value, str) else value
        return tuple(dict.fromkeys(Value.convert(self, name.strip(), *args) for name in names))


class Counts(click.ParamType[range | None]):
    """A number of clusters, or a range of them; "auto" is None."""

    name = "counts"

    def convert(self, value: Any, *args: Any) -> range | None:
        """Return the numbers."""
        if value == "auto":
            return None
        found = re.fullmatch(r"(-?\d{1,9})(?:-(\d{1,9}))?", value)
        first, last = map(int, (found[1], found[2] or found[1])) if found else (1, 0)
        if first > last:
            self.fail(f"{value!r} is not a whole number, a range such as 2-12, or auto", *args)
        return range(first, last + 1)


class _Path(click.Path):
    """A path that can be printed, and written into a summary.

    An input must be a file or a folder, because inputs are read more than once and out of order.
    The suffix of a picture is its format.
    """

    def __init__(self, *, picture: bool = False, **settings: Any) -> None:
        super().__init__(path_type=Path, **settings)
        self.picture = picture

    def convert(self, value: Any, *args: Any) -> Path:
        try:
            os.fsdecode(value).encode()
        except UnicodeEncodeError:
            self.fail(f"{os.fsdecode(value)!r} is not a name in UTF-8: rename it", *args)
        try:
            path = Path(cast(Path, super().convert(value, *args)))
        except click.BadParameter as error:
            if close := _alike(Path(os.fsdecode(value))):
                self.fail(f"{error.message.removesuffix('.')}; did you mean {close!r}?", *args)
            raise
        if self.exists and value != "-" and not (path.is_file() or path.is_dir()):
            self.fail(f"{str(path)!r} is a pipe or a device: write a file, and name that", *args)
        if not self.exists and self.file_okay and path.suffix.lower() in _TABLES:
            self.fail(f"{str(path)!r} would be no {path.suffix} file: tables are .csv", *args)
        if self.picture and path.suffix.lower() not in _PICTURES:
            self.fail(f"{str(path)!r} must end in one of {', '.join(_PICTURES)}", *args)
        if not self.file_okay and path.suffix.lower() in _WRITTEN and not path.exists():
            self.fail(f"{str(path)!r} would be a folder; --labels takes the name of a file", *args)
        return path


def _alike(path: Path) -> str | None:
    """A file that exists, and has nearly the name of one that does not."""
    with suppress(OSError):
        close = None if path.exists() else nearest(path.name, os.listdir(path.parent))
        if close and nearest(path.name.split(".")[0], [close.split(".")[0]]):
            return str(path.with_name(close))
    return None


#: A table, which may be a folder, or - for standard input.
TABLE = _Path(exists=True, allow_dash=True)
#: A file that is read.
EXISTING = _Path(exists=True, dir_okay=False)
_PATHS = {
    "input file or None": EXISTING,
    "output file or None": _Path(),
    "picture file or None": _Path(picture=True),
    "folder or None": _Path(file_okay=False),
}


def flags(*, views: object = None) -> dict[str, str]:
    """Return the options as they are typed, the shortest form of each, by their parameters.

    A file of views has the kernels' parameters, under the names that they have in Python.
    """
    return {name: _FLAGS[name][-1] for name in _HEADING if not (views and name in _KERNEL)}


class GroupedCommand(click.Command):
    """A command that takes documented parameters as options, and lists them under headings.

    Parameters
    ----------
    takes : callable
        Returns the documented parameters. It is called with the command, because reading takes
        time.
    first : str, default=""
        Names of the parameters that are used most: they come first in ``--help``.
    """

    def __init__(
        self,
        *args: Any,
        takes: Callable[[], Mapping[str, Documented]],
        first: str = "",
        **settings: Any,
    ) -> None:
        super().__init__(*args, **settings)
        self.takes = takes
        self.first = first.split()

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return the arguments and the options."""
        if not any(isinstance(parameter, click.Option) for parameter in self.params):
            known = self.takes()
            self.params += [_option(name, known[name]) for name in _HEADING if name in known]
        return super().get_params(ctx)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Keep the arguments as they were given, and refuse a value that another one replaces."""
        ctx.meta[ARGUMENTS] = tuple(args)
        ctx.allow_extra_args = True
        super().parse_args(ctx, args)
        if ctx.args and not ctx.resilient_parsing:
            raise click.UsageError(_surplus(self.params, ctx), ctx)
        if not ctx.resilient_parsing:
            order = self.make_parser(ctx).parse_args(list(ctx.meta[ARGUMENTS]))[2]
            given = [one for one in order if isinstance(one, click.Option) and not one.is_flag]
            for option in given:
                if (times := given.count(option)) > 1 and not option.multiple:
                    message = f"{option.opts[-1]} is given {times} times, but takes one value"
                    raise click.UsageError(f"{message}: keep one of them.", ctx)
        return ctx.args

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write one section per heading, in the order of the declarations."""
        sections: dict[str, list[tuple[str, str]]] = {}
        parameters = {parameter.name: parameter for parameter in self.get_params(ctx)}
        heading = _HEADING | dict.fromkeys(self.first, "Most used")
        for name in dict.fromkeys([*self.first, *parameters]):
            record = parameters[name].get_help_record(ctx)
            if record and isinstance(parameters[name], click.Option):
                sections.setdefault(heading.get(name, "Options"), []).append(record)
        for title, records in sections.items():
            with formatter.section(title):
                formatter.write_dl(records)


def _surplus(parameters: list[click.Parameter], ctx: click.Context) -> str:
    """The message on an argument without a place, as a name after an option that takes none."""
    surplus, given = ctx.args[0], ctx.meta[ARGUMENTS]
    names = [one.make_metavar(ctx) for one in parameters if isinstance(one, click.Argument)]
    takes = " and ".join([*names, "options"])
    message = f"{bounded(surplus, 100)!r} has no place: {ctx.info_name} takes {takes}"
    before = given[max(given.index(surplus) - 1, 0)] if surplus in given else ""
    switches = {flag for one in parameters if getattr(one, "is_flag", False) for flag in one.opts}
    if before not in switches:
        return f"{message}."
    named = f"{before}-file" in {flag for one in parameters for flag in one.opts}
    way = f"{before}-file names the file" if named else "--output-dir sets the folder of files"
    return f"{message}, and {before} takes no value. {way}."


def _option(name: str, parameter: Documented) -> click.Option:
    default, kind, text = parameter
    flags = _FLAGS[name]
    settings: dict[str, Any] = {"default": default, "show_default": True}
    if kind == "bool":
        settings["is_flag"] = True
        flags = (f"{flags[0]}/--no-{flags[0][2:]}",) if default else flags
    elif kind in _PATHS:
        settings["type"] = _PATHS[kind]
    elif kind == "tuple of str":
        settings |= {"multiple": True, "metavar": "A,B"}
    elif kind == "numbers of clusters or None":
        settings |= {"type": Counts(), "metavar": "auto|NUMBER|A-B"}
    elif kind.startswith("names of"):
        settings |= {"type": (names := Names(_estimator()["kernel"].kind)), "metavar": "A,B"}
        text = f"{text} Of {', '.join(names.names)}."
    elif not re.search(r"\bstr\b", kind):
        settings["type"] = value = Value(kind)
        settings["metavar"] = "|".join([*value.names, *["NUMBER"] * bool(value.numbers)])
        if len(settings["metavar"]) > _LONGEST_METAVAR:
            settings["metavar"] = "NAME"
            text = f"{text} One of {', '.join(value.names)}."
    else:
        settings["metavar"] = name.rpartition("_")[2].upper()
    return click.Option([*flags, name], help=text, **settings)


@cache
def _estimator() -> dict[str, Documented]:
    found = documented("estimators/single.py", "KernelPowerKMeans")
    # By default the same command gives the same labels.
    return found | {"random_state": found["random_state"]._replace(default=0)}


def for_fit() -> dict[str, Documented]:
    """Return the parameters of the estimator, and those of the job."""
    return _for_table() | documented("cli/jobs.py", "FitJob")


def for_choose() -> dict[str, Documented]:
    """Return the parameters of the estimator, those of the search, and those of the job."""
    search = documented("search/search.py", "ClusterSearch")
    found = _for_table() | {name: search[name] for name in SEARCH}
    del found["kernel"], found["labels"]
    return found | documented("cli/jobs.py", "ChooseJob")


def _for_table() -> dict[str, Documented]:
    columns = documented("cli/data.py", "ColumnChoice")
    return _estimator() | _for_every_job() | columns | documented("cli/jobs.py", "TableJob")


def for_predict() -> dict[str, Documented]:
    """Return the parameters of a job that assigns rows to clusters."""
    return _for_every_job() | documented("cli/jobs.py", "PredictJob")


def _for_every_job() -> dict[str, Documented]:
    return documented("cli/jobs.py", "Job") | documented("tables/files/settings.py", "Reading")


def for_demo() -> dict[str, Documented]:
    """Return the parameters of every job that do not choose data."""
    found = _for_every_job()
    here = "Folder of the files written, by default the current one."
    found["output_dir"] = found["output_dir"]._replace(text=here)
    return {name: found[name] for name in ("output_dir", "force", "as_json", "quiet")}


def estimator_parameters(ctx: click.Context) -> dict[str, Any]:
    """Pick the estimator's parameters from the options of a command, without those of views."""
    names = _estimator().keys() - {"n_clusters"}
    chosen = {name: value for name, value in ctx.params.items() if name in names}
    if "kernels" in ctx.params:
        chosen["kernel"] = ctx.params["kernels"][0]
    if ctx.params["views"] is None:
        return chosen
    of_one = (*_KERNEL, "outliers")
    ours = (*of_one, "kernels", "compare")
    given = [_FLAGS[name][0] for name in ours if _given(ctx, name)]
    if given:
        raise click.UsageError(
            f"{', '.join(given)} cannot be combined with --views, because the file of views names "
            "several kernels and their parameters: leave out one or the other",
            ctx,
        )
    return {name: value for name, value in chosen.items() if name not in of_one}


def given_for_fit(ctx: click.Context) -> dict[str, list[str]]:
    """Return the options given to ``choose`` that ``fit`` takes too, as words, by their names."""
    changed = {"n_clusters", "n_jobs", "plot_file", "force", "as_json", "quiet"}
    taken = for_fit().keys() - changed
    words: dict[str, list[str]] = {}
    for option in ctx.command.params:
        if option.name not in taken or not _given(ctx, option.name):
            continue
        value, given = ctx.params[option.name], words.setdefault(option.name, [])
        if isinstance(value, bool):
            given.append((option.opts if value else option.secondary_opts)[0])
            continue
        for one in value if isinstance(value, tuple) else [value]:
            given += [option.opts[0], "none" if one is None else str(one)]
    return words


def _given(ctx: click.Context, name: str) -> bool:
    return name in ctx.params and ctx.get_parameter_source(name) is not ParameterSource.DEFAULT
