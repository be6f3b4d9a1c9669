"""The page of benchmarks and the README show the figures that were kept, of this version."""

import importlib.util
import json
import re
import subprocess
import sys
from datetime import date

import numpy as np
import pytest
from sklearn.datasets import make_blobs

import kernelmeans
from site_pages import SITE

ROOT = SITE.parents[1]
PAGE = (ROOT / "docs" / "benchmarks.md").read_text("utf-8")
FIGURES = json.loads((ROOT / "docs" / "benchmarks.json").read_text("utf-8"))
NUMBER = re.compile(r"\d+(?:\.\d+)?")


@pytest.fixture(scope="module")
def program():
    path = ROOT / "benchmarks" / "all.py"
    spec = importlib.util.spec_from_file_location("benchmarks_all", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def cells(text):
    """The cells of all tables of a page, without what makes them bold."""
    lines = re.findall(r"^\| (.*) \|$", text.replace("**", ""), re.MULTILINE)
    return [line.split(" | ") for line in lines if not line.startswith("---")]


def test_the_page_has_all_figures_and_no_others():
    kept = [line for one in FIGURES.values() for line in (one["columns"], *one["rows"])]
    assert cells(PAGE) == kept


def test_the_page_is_written_by_the_program(program):
    """`python benchmarks/all.py --write` would change nothing."""
    assert program.rendered(PAGE, FIGURES) == PAGE
    assert list(program.PARTS) == list(FIGURES)
    for name, part in program.PARTS.items():
        assert FIGURES[name]["columns"] == part.columns
        assert FIGURES[name]["commands"] == part.commands
        assert {len(line) for line in FIGURES[name]["rows"]} == {len(part.columns)}


@pytest.mark.parametrize("part", FIGURES)
def test_figures_are_of_this_version(part):
    """A release repeats them, or says in the file why it does not."""
    assert FIGURES[part]["version"] == kernelmeans.__version__
    date.fromisoformat(FIGURES[part]["date"])


def test_figures_of_the_readme_are_kept():
    text = (ROOT / "README.md").read_text("utf-8")
    table = cells(re.search("## How good, how fast(.*?)\n## ", text, re.DOTALL)[1])[1:]
    assert len(table) >= 5
    for _, ours, others, command in table:
        name = command.strip("`").removeprefix("python benchmarks/")
        (found,) = (one for one in FIGURES.values() if name in one["commands"])
        kept = NUMBER.findall(" ".join(cell for line in found["rows"] for cell in line))
        assert set(NUMBER.findall(f"{ours} {others}")) <= set(kept), command


#: Lines of programs that take long or need other packages, and the rows that are read.
PRINTED = {
    "classes": (
        "NMI/ARI/purity/s                     k-means              spectral               hdbscan"
        "               mixture        umap + hdbscan                   rbf       heat, n_swaps=0"
        "                  heat\n"
        "lung_discrete      0.768/0.60/0.80/0.05   0.743/0.60/0.80/0.05   0.364/0.60/0.80/0.05"
        "   0.595/0.60/0.80/0.05   0.604/0.60/0.80/0.05   0.771/0.60/0.80/0.05"
        "   0.727/0.60/0.80/0.05   0.809/0.60/0.80/0.05\n",
        [["lung_discrete", "0.809", "0.743", "0.364", "0.604", "0.595", "0.768"]],
    ),
    "embeddings": (
        "\nusps: 9298 x 256, k = 10, euclidean\n"
        "                     ARI clustered  share found  seconds    CPU s     GB  stated\n"
        "  graph            0.892     0.892   1.00    10      2.1      2.0   0.10    0.20\n"
        "  anchors          0.756     0.756   1.00    10      2.2      2.0   0.10  landmarks\n"
        "  EVoC             0.899     0.934   0.96    10      2.3      2.0   0.10\n"
        "  UMAP+HDBSCAN  ValueError: too few columns\n"
        "  k-means          0.542     0.542   1.00    10      0.1      0.1   0.01\n",
        [
            [
                "USPS, 9298 x 256, k = 10",
                "0.892 (2.1\N{NO-BREAK SPACE}s)",
                "0.756 (2.2\N{NO-BREAK SPACE}s)",
                "0.899; 0.934 of 96 % (2.3\N{NO-BREAK SPACE}s)",
                "fails",
                "0.542 (0.1\N{NO-BREAK SPACE}s)",
            ]
        ],
    ),
    "rows": (
        "16 columns float32, k=10, 500 landmarks, default restarts, rms width\n"
        "      rows method              seconds  peak GB  held-out cost\n"
        "     31623 kernelmeans            2.20     0.29        0.19732\n"
        "     31623 Nystroem+KMeans        4.60     0.45        0.19707\n"
        "     31623 MiniBatchKMeans        0.07     0.21        0.19897\n"
        "slope of log time over log rows, kernelmeans         0.68, ends 0.66\n",
        [
            [
                "31 623",
                "2.20 s, 0.29 GB, 0.19732",
                "4.60 s, 0.45 GB, 0.19707",
                "0.07 s, 0.21 GB, 0.19897",
            ]
        ],
    ),
}


@pytest.mark.parametrize("part", PRINTED)
def test_what_programs_print_is_read(program, part):
    printed, rows = PRINTED[part]
    assert program.PARTS[part].read(printed) == rows


@pytest.fixture
def scoreboard(tmp_path):
    """A checkout with two sets."""
    X, y = make_blobs(60, centers=2, random_state=0)
    (tmp_path / "fcps").mkdir()
    for name in ("one", "two"):
        np.savetxt(tmp_path / "fcps" / f"{name}.data.gz", X)
        np.savetxt(tmp_path / "fcps" / f"{name}.labels0.gz", y + 1, fmt="%d")
    return str(tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("part", "command", "first", "n_rows"),
    [
        ("customers", "customers.py customers --seeds 1", "hand", 3),
        ("scoreboard", "scoreboard.py FOLDER", "Lumbermark 0.9.1", 7),
        ("shapes", "shapes.py sizes noise --draws 2", "25 to 800 rows", 8),
        ("number", "choosing.py number --part shapes --splits 2 --sets", "`ClusterSearch`", 7),
        ("time", "heat_scale.py anchors --most 100000", "100 000 x 16, k = 10, from disk", 1),
    ],
)
def test_programs_print_what_is_read(program, scoreboard, part, command, first, n_rows):
    """Those that are quick, on small sets."""
    words = [scoreboard if word == "FOLDER" else word for word in command.split()]
    words += ["two circles, draw 0;one moon, draw 0"] * (part == "number")
    run = [sys.executable, f"benchmarks/{words[0]}", *words[1:]]
    printed = subprocess.run(run, capture_output=True, text=True, check=True, cwd=ROOT).stdout
    found = program.PARTS[part].read(printed)
    assert len(found) == n_rows
    assert first in [line[0] for line in found]
    columns = program.PARTS[part].columns
    assert all(len(line) == len(columns) and NUMBER.search("".join(line[1:])) for line in found)


def test_a_page_without_a_place_for_a_table_is_refused(program):
    with pytest.raises(ValueError, match="0 marks <!-- rows -->"):
        program.rendered(PAGE.replace("<!-- rows -->", ""), FIGURES)
