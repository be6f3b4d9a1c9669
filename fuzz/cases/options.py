"""Random options of the commands, files of views, and the model that a fit has written."""

import json
from html.parser import HTMLParser
from pathlib import Path
from typing import NoReturn

import click
import joblib
import polars as pl

from fuzz import Case, Rng
from fuzz.commands import check_same_labels, run, write
from fuzz.draw import pick, rarely
from fuzz.judge import require
from fuzz.mutations import cut, flipped, inserted
from kernelmeans.cli.app import app
from kernelmeans.cli.options import Counts, Names, Value

WEIGHT = 4
EXTREME = True
#: Options that are drawn here.
LEFT_OUT = ("n_jobs", "n_clusters", "n_splits", "views", "n_swaps", "quiet")
#: Options that take long: one in so many cases has each.
SLOW = {"plot": 40, "plot_file": 40, "page": 20, "compare": 20, "device": 40}
#: Values of options that take text; others have their values from their types.
TEXTS = {
    "columns": ("a,b", "a,b,c", "?", "plan"),
    "drop": ("a", "b,c", "plan", "since"),
    "categorical": ("c", "plan", "a"),
    "label_column": ("plan", "c"),
    "weight_column": ("weight", "b"),
    "id_column": ("id", "since"),
    "separator": (",", ",", ";"),
    "decimal": (".", ","),
    "thousands": (",", "space", "none"),
    "missing_values": ("-999", "x,y", "basic"),
    "encoding": ("utf-8", "latin-1", "utf-16"),
    "memory_budget": ("1GB", "500 MB", "10kB"),
    "like": ("m.skops", "m.skops", "data.csv"),
    "sheet": ("1", "table"),
    "take": ("X", "obs"),
    "device": ("cpu",),
}
#: Values of ``--jobs``, mostly those without other processes.
JOBS = ("1", "1", "1", "2", "-1", "0", "x")
CLUSTERS = ("x", "0", "30", "2,3", "auto", "1")
WRONG = ("", "0", "-1", "1e300", "nan", "inf", "x", "none", "zz", "*", "é", "a,b,", " ")
KERNELS = (
    *('"rbf"', '"linear"', '"heat"', '"laplacian"', '"poly"', '"cosine"', '"sigmoid"'),
    *('"geodesic"', '"graph"', '"precomputed"', '"neighbors"', "3"),
)
#: Keys of views that fewer kernels take.
ONE_IN = {"metric": 10, "coef0": 8}
FILES = ("out.txt", "data.csv", "no/such/file", ".", "out.png", "out.json", "other.summary.json")


def case(rng: Rng) -> Case:
    files = {"data.csv": table(rng), "new.csv": table(rng), "views.toml": views(rng)}
    name = pick(rng, *["fit"] * 8, "choose", "predict", "predict")
    arguments = [name, "data.csv"]
    if name == "predict":
        arguments = [name, "m.skops", pick(rng, "data.csv", "new.csv")]
    if name == "fit":
        arguments += ["-k", pick(rng, *CLUSTERS) if rarely(rng, 15) else "2"]
        arguments += ["--n-swaps", pick(rng, *["0"] * 4, "2", "auto")]
    if name == "choose":
        arguments += ["--splits", pick(rng, "2", "2", "3"), "-k", pick(rng, "2", "2-3", "2-4")]
        arguments += ["--jobs", pick(rng, *JOBS)] if rarely(rng, 6) else []
    arguments += ["-q"] if rarely(rng, 3) else []
    arguments += ["--views", "views.toml"] if name != "predict" and rarely(rng, 4) else []
    known = [one for one in options(name) if rarely(rng, SLOW.get(str(one.name), 25))]
    for one in known:
        arguments += [value(rng, one)] if one.is_flag else [one.opts[0], value(rng, one)]
    words = f"{arguments}\n{files['data.csv'].decode()}\n{files['views.toml']!r}\n"
    words += f"{files['new.csv'].decode()}" if "new.csv" in arguments else ""

    def check() -> None:
        write(files)
        if name == "predict" or "m.skops" in arguments:
            run(["fit", "data.csv", "-k", "2", "-q", "--n-swaps", "0", "--model", "m.skops"])
            # An output of the command may be named as the table of the model.
            needed = () if name == "predict" and "new.csv" in arguments else ("data.csv",)
            for path in Path().glob("data.*"):
                if path.name not in needed:
                    path.unlink()
        with joblib.parallel_config("threading"):  # processes of joblib outlive the case
            run(arguments)
        check_outputs()
        if name == "fit":
            check_model(arguments)

    return Case(words, check)


def options(name: str) -> list[click.Option]:
    """The options of a command, but for the one that only prints help."""
    parameters = app.commands[name].get_params(click.Context(app.commands[name]))
    found = [one for one in parameters if isinstance(one, click.Option)]
    return [one for one in found if one.name not in LEFT_OUT and not one.is_eager]


def value(rng: Rng, option: click.Option) -> str:
    """A value of an option; of a flag, one of its forms."""
    if option.is_flag:
        return str(pick(rng, *option.opts, *option.secondary_opts))
    kind, name = option.type, str(option.name)
    if rarely(rng, 20):
        return str(pick(rng, *WRONG))
    if name in TEXTS or isinstance(kind, click.Path):
        return str(pick(rng, *TEXTS.get(name, FILES)))
    if isinstance(kind, Value | Counts):
        names = list(getattr(kind, "names", []))
        several = [",".join(rng.choice(names, 2))] if isinstance(kind, Names) else []
        whole = getattr(kind, "numbers", [int])[:1] == [int]
        numbers = ["1", "2", "3", "7"] if whole else ["1", "2", "0.5", "1.3", "-3", "30"]
        return str(pick(rng, *names, *several, *(numbers if getattr(kind, "numbers", 1) else [])))
    return str(pick(rng, *WRONG))


def table(rng: Rng) -> bytes:
    """A table as people have it, with gaps, duplicates or odd values."""
    n = int(rng.integers(2, 40))
    columns = {
        "a": rng.normal(size=n).round(3),
        "b": 10 ** rng.normal(size=n).round(2),
        "c": rng.integers(0, 3, n),
        "plan": rng.choice(["basic", "plus", "x"], n),
        "id": [f"C{i}" for i in range(n)],
        "since": [f"2024-0{1 + i % 9}-11" for i in range(n)],
        "weight": rng.integers(0, 3, n),
    }
    frame = pl.DataFrame(columns)
    if rarely(rng, 3):
        name = pick(rng, *columns)
        gaps = pl.Series(rng.random(n) < 0.3)
        frame = frame.with_columns(pl.when(gaps).then(None).otherwise(pl.col(name)).alias(name))
    return frame.write_csv(separator=pick(rng, ",", ",", ";")).encode()


def views(rng: Rng) -> bytes:
    """A file of views, sometimes a damaged one."""
    values = "0.5", "0", "-1", '"cosine"', '"x"', "true"
    keys = [key for key in ("entropy_weight", "kernel_scaling") if rarely(rng, 5)]
    lines = [f"{key} = {pick(rng, *values)}" for key in keys]
    for _ in range(rng.integers(1, 4)):
        lines.append("[[view]]")
        choices = {
            "columns": pick(
                rng, *['["a"]', '["a", "b"]', '["*"]'] * 3, '"a"', "[]", '["zz"]', "[1]"
            ),
            "kernel": pick(rng, *KERNELS)
            if rarely(rng, 2)
            else pick(rng, '"rbf"', '"linear"', '"heat"'),
            "gamma": pick(rng, '"rms"', "0.5", "1.0", "-1", "nan"),
            "name": pick(rng, '"one"', '"one"', '"two"', '""', "2"),
            "metric": pick(rng, '"euclidean"', '"cosine"', '"cosine"', '"precomputed"', '"x"'),
            "coef0": pick(rng, "0", "1", "0.5", "-1", "1e300", "inf"),
            pick(rng, "degree", "n_neighbors", "t", "density", "x"): pick(
                rng, "2", "2", '"auto"', "1e400"
            ),
        }
        lines += [
            f"{key} = {text}" for key, text in choices.items() if rarely(rng, ONE_IN.get(key, 3))
        ]
    content = "\n".join(lines).encode()
    return pick(rng, flipped, cut, inserted)(content, rng) if rarely(rng, 6) else content


def check_outputs() -> None:
    """JSON and HTML files can be read, and hold numbers that are numbers."""
    for path in Path().glob("data*.json"):
        json.loads(path.read_text("utf-8"), parse_constant=_refuse)
    for path in Path().glob("data*.html"):
        text = path.read_text("utf-8")
        HTMLParser().feed(text)
        require(">nan<" not in text.lower(), f"{path} holds nan")


def _refuse(constant: str) -> NoReturn:
    raise AssertionError(f"JSON holds {constant}")


def check_model(arguments: list[str]) -> None:
    """The model labels the table of the fit as the fit did."""
    given = set(arguments) & {"--labels", "--model", "--output-dir", "-o", "--soft", "--dtype"}
    outputs = Path("data.model.skops"), Path("data.labels.csv")
    if given or not all(path.exists() for path in outputs):
        return
    check_same_labels("data.csv", [word for word in arguments if word == "--no-header"])
