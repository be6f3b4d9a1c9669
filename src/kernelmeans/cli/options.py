"""The options that commands share, grouped for ``--help``.

Options go by the name of the estimator's parameter, so that `estimator_parameters` can hand them
on; where that is another, it follows the option's (``--seed``, ``random_state``). Their defaults
are the estimator's.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from kernelmeans.cli.grouped import count_or_share, group, number_or, option

_KERNELS = (
    "heat",
    "rbf",
    "laplacian",
    "poly",
    "cosine",
    "linear",
    "sigmoid",
    "geodesic",
    "graph",
    "precomputed",
)


class _Utf8Path(click.Path):
    """A path that can be printed, and written into a summary."""

    def convert(self, value: Any, *args: Any) -> Any:
        try:
            os.fsdecode(value).encode()
        except UnicodeEncodeError:
            self.fail(f"{os.fsdecode(value)!r} is no name in UTF-8: rename it", *args)
        return super().convert(value, *args)


class _InputPath(_Utf8Path):
    """A file or folder that is read, more than once and out of order: no pipe and no device."""

    def convert(self, value: Any, *args: Any) -> Any:
        path = super().convert(value, *args)
        if not (path.is_file() or path.is_dir()):
            self.fail(f"{str(path)!r} is a pipe or a device: write a file, and name that", *args)
        return path


#: A file that is read.
EXISTING = _InputPath(exists=True, dir_okay=False, path_type=Path)
#: A table, which may be a folder.
TABLE = _InputPath(exists=True, path_type=Path)
_FILE = _Utf8Path(path_type=Path)
_PICTURES = (".png", ".svg", ".pdf")
#: A folder that is made if need be.
FOLDER = _Utf8Path(file_okay=False, path_type=Path)


def _picture(ctx: click.Context, option: click.Parameter, path: Path | None) -> Path | None:
    if path is not None and path.suffix.lower() not in _PICTURES:
        raise click.BadParameter(f"{str(path)!r} must end in one of {', '.join(_PICTURES)}")
    return path


data_options = group(
    "Data",
    option("--columns", multiple=True, metavar="A,B", help="Use only these columns."),
    option("--drop", multiple=True, metavar="A,B", help="Leave these columns out."),
    option(
        "--label-column",
        metavar="NAME",
        help="Known classes: left out of the features and compared with the clusters (NMI, ARI).",
    ),
    option(
        "--weight-column",
        metavar="NAME",
        help="Sample weights: left out of the features (2 counts as the row twice).",
    ),
    option(
        "--scale/--no-scale",
        default=True,
        help="Centre every feature and scale it to unit variance; stored in the model.",
    ),
    option(
        "--dtype",
        type=click.Choice(["float64", "float32"]),
        default="float64",
        help="Precision; float32 needs half the memory.",
    ),
)

header_option = group(
    "Data",
    option(
        "--header/--no-header",
        default=True,
        help="CSV and TSV: the first line holds the names of the columns.",
    ),
)

memory_option = group(
    "Data",
    option(
        "--memory-budget",
        metavar="SIZE",
        help="Memory to take, in bytes or as in 4GB; default: 80 % of all memory. Parquet, NPY "
        "and Zarr tables of more than a quarter of it stay on disk; archives that unpack to more "
        "than it are refused.",
    ),
)

kernel_options = group(
    "Kernel",
    option(
        "--kernel",
        type=click.Choice(_KERNELS),
        default="heat",
        metavar="NAME",
        help=f"One of {', '.join(_KERNELS)}. Heat finds clusters of any shape, rbf round ones.",
    ),
    option(
        "--gamma",
        type=number_or("rms", "median", "scale"),
        metavar="RULE|NUMBER",
        default="rms",
        help="Width of kernels that have one: rms, median, scale or a number.",
    ),
    option("--degree", type=float, default=3, help="Degree of poly."),
    option("--coef0", type=float, default=1.0, help="Constant of poly and sigmoid."),
    option(
        "--n-neighbors",
        type=number_or("auto", number=int, least=2),
        metavar="auto|NUMBER",
        default="auto",
        help="Neighbours of a row in the graph of heat, itself included.",
    ),
    option(
        "--t",
        type=number_or("auto", above=0),
        metavar="auto|NUMBER",
        default="auto",
        help="Time of heat and graph; auto: until heat has mixed within as many groups of rows as "
        "there are clusters.",
    ),
    option(
        "--metric",
        type=click.Choice(["euclidean", "cosine", "precomputed"]),
        metavar="NAME",
        default="euclidean",
        help="What neighbours of heat are near in: euclidean or cosine; precomputed: the file "
        "holds distances to neighbours.",
    ),
    option(
        "--views",
        type=EXISTING,
        metavar="FILE",
        help="Several kernels, each of some columns, from a TOML file; their weights are learned.",
    ),
    option(
        "--cache-kernel/--no-cache-kernel",
        default=True,
        help="Keep an exact kernel's matrix in memory, or recompute its rows at every step.",
    ),
    option(
        "--approximation",
        type=click.Choice(["auto", "none", "landmarks", "rpcholesky", "rff"]),
        metavar="NAME",
        default="auto",
        help="Features in place of the kernel matrix: landmarks, rpcholesky or rff; none: the "
        "exact kernel; auto: the exact kernel of a few thousand rows (heat: the graph of 50 000), "
        "landmarks of more.",
    ),
    option(
        "--components",
        "n_components",
        type=number_or("auto", number=count_or_share),
        metavar="auto|NUMBER",
        default="auto",
        help="Features of --approximation: their number, or the share of the trace to keep, "
        "between 0 and 1.",
    ),
    option(
        "--device",
        metavar="NAME",
        help="Where to compute: a device of PyTorch, as cuda. Default: this machine's processors.",
    ),
)

schedule_options = group(
    "Fit",
    option(
        "--s0",
        type=number_or("auto"),
        metavar="auto|NUMBER",
        default="auto",
        help="First power, below 0; auto: from the critical power.",
    ),
    option(
        "--eta",
        type=number_or("auto"),
        metavar="auto|NUMBER",
        default="auto",
        help="Factor by which the power grows, 1 or more.",
    ),
    option("--anneal-every", type=int, default=1, help="Steps from one power to the next."),
    option(
        "--init",
        type=click.Choice(["k-means++", "random"]),
        default="k-means++",
        help="Starting centroids.",
    ),
    option(
        "--n-init",
        type=number_or("auto", number=int),
        metavar="auto|NUMBER",
        default="auto",
        help="Number of starts, of which the best is kept; auto: 1 for k-means++, else 10.",
    ),
    option(
        "--n-swaps",
        type=number_or("auto", number=int),
        metavar="auto|NUMBER",
        default="auto",
        help="Moves of single centroids that are tried at the end, for a lower cost; auto: as "
        "long as they pay, 0: none.",
    ),
    option("--max-iter", type=int, default=1000, help="Most steps of a run."),
    option(
        "--tol",
        type=float,
        default=1e-6,
        help="Relative change of the objective that ends a run at constant power.",
    ),
    option(
        "--seed", "random_state", type=int, default=0, help="Same seed and input, same clusters."
    ),
)

file_options = group(
    "Files",
    option(
        "--output-dir",
        "-o",
        type=FOLDER,
        help="Folder of the files written; default: the input's.",
    ),
    option("--labels", type=_FILE, metavar="FILE", help="Instead of STEM.labels.csv."),
)

model_file_options = group(
    "Files",
    option("--model", type=_FILE, metavar="FILE", help="Instead of STEM.model.skops."),
    option("--summary", type=_FILE, metavar="FILE", help="Instead of STEM.summary.json."),
    option("--plot", is_flag=True, help="Draw the clusters and the annealing into STEM.png."),
    option(
        "--plot-file",
        type=_FILE,
        callback=_picture,
        metavar="FILE",
        help="Draw them into this file, .png, .svg or .pdf.",
    ),
    option("--soft", is_flag=True, help="Add the memberships to the labels file."),
)

talk_options = group(
    "Files",
    option("--force", is_flag=True, help="Overwrite files that exist."),
    option("--json", "as_json", is_flag=True, help="Print the summary as JSON."),
    option(
        "--quiet", "-q", is_flag=True, help="Print nothing but errors, and what --json asks for."
    ),
)

_ONE_KERNEL = ("kernel", "gamma", "degree", "coef0", "n_neighbors", "t", "metric")
_ESTIMATOR_PARAMETERS = (
    *_ONE_KERNEL,
    "s0",
    "eta",
    "anneal_every",
    "init",
    "n_init",
    "n_swaps",
    "max_iter",
    "tol",
    "memory_budget",
    "cache_kernel",
    "approximation",
    "n_components",
    "device",
    "random_state",
)


def estimator_parameters(chosen: Mapping[str, Any]) -> dict[str, Any]:
    """Pick the estimator's parameters from the options of a command, without those of views."""
    absent = () if chosen["views"] is None else _ONE_KERNEL
    parameters = {name: chosen[name] for name in _ESTIMATOR_PARAMETERS if name not in absent}
    if parameters["approximation"] == "none":
        parameters["approximation"] = None
    return parameters


def check_views(ctx: click.Context) -> None:
    """Refuse the options of a single kernel beside ``--views``."""
    given = [
        f"--{name.replace('_', '-')}"
        for name in _ONE_KERNEL
        if ctx.get_parameter_source(name) is not ParameterSource.DEFAULT
    ]
    if given and ctx.params["views"] is not None:
        raise click.UsageError(
            f"{', '.join(given)} cannot be combined with --views, whose file names the kernels: "
            "leave --views out, or write them into the file",
            ctx,
        )
