"""What the pages tell people to type works: Python as it stands, commands with their options."""

import json
import re
import shlex
import shutil
from contextlib import redirect_stdout
from importlib.util import find_spec
from io import StringIO
from pathlib import Path
from typing import NamedTuple

import anndata
import click
import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from sklearn.datasets import make_blobs
from sklearn.neighbors import kneighbors_graph

from kernelmeans.cli.app import app
from kernelmeans_paper.datasets import is_present

ROOT = Path(__file__).parents[1]
PAGES = [
    "README.md",
    *sorted(page.relative_to(ROOT).as_posix() for page in ROOT.glob("docs/**/*.md")),
]
# Programs of this repository whose options the pages name too.
OTHER_PROGRAMS = ["benchmarks/*.py", "reproduction/src/kernelmeans_paper/**/*.py"]
# There is no such scheduler: a cluster in this process takes its place. What is long is shortened.
INSTEAD = {
    '"tcp://scheduler:8786"': "processes=False, dashboard_address=None",
    "range(2, 8)": "range(2, 4)",
    "for seed in range(5)": "for seed in range(2)",
    '"n_init": 5': '"n_init": 2',
}
#: What a block needs beside the extras of the tests, and whether it is there.
NEEDS = {"import torch": find_spec("torch"), "fetch(": is_present("yale")}
BLOCK = re.compile(
    r"^```(python|sh|toml)\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?", re.DOTALL | re.MULTILINE
)


class Block(NamedTuple):
    """A block of code; what it prints follows it immediately, or is None."""

    language: str
    code: str
    printed: str | None
    line: int


def text_of(page):
    return (ROOT / page).read_text("utf-8")


def blocks_of(page):
    """The blocks of code of a page, in their order."""
    text = text_of(page)
    for match in BLOCK.finditer(text):
        yield Block(match[1], match[2], match[3], text.count("\n", 0, match.start(2)))


def commands_in(code):
    """The arguments of each call of kernelmeans in a block of shell."""
    for line in code.replace("\\\n", " ").splitlines():
        program, *arguments = shlex.split(line, comments=True) or [""]
        if program == "kernelmeans":
            yield arguments


def commands_of(page):
    blocks = [block.code for block in blocks_of(page) if block.language == "sh"]
    return [arguments for code in blocks for arguments in commands_in(code)]


def commands_of_help():
    """The commands between quotes in the help of each command."""
    for name, command in app.commands.items():
        for quoted in re.findall(r'"(kernelmeans [^"]* [^"]*)"', command.help):
            yield from ((name, arguments) for arguments in commands_in(" ".join(quoted.split())))


# Pages take half a minute together, so all but the first are slow.
WITH_CODE = [
    pytest.param(page, marks=() if page == "README.md" else pytest.mark.slow)
    for page in PAGES
    if any(block.language != "toml" for block in blocks_of(page))
]
COMMANDS = [
    pytest.param(arguments, id=f"{page}: {shlex.join(arguments)}")
    for page in PAGES
    for arguments in commands_of(page)
]
COMMANDS += [
    pytest.param(arguments, id=f"{name} --help: {shlex.join(arguments)}")
    for name, arguments in commands_of_help()
]


@pytest.fixture
def rows():
    return make_blobs(240, n_features=500, centers=12, random_state=0)[0]


@pytest.fixture
def folder(rows, tmp_path, monkeypatch):
    """The working directory, with the files that commands read."""
    monkeypatch.chdir(tmp_path)
    X, kind = make_blobs(120, n_features=3, centers=4, random_state=0)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    frame.to_csv("data.csv", index=False)
    frame.tail(60).to_csv("new.csv", index=False)
    frame.to_parquet("rows.parquet")
    frame.assign(
        remark=[f"remark {number}" for number in range(120)],
        spend_food=np.exp(X[:, 0]),
        region=kind,
        since=pd.date_range("2020-01-01", periods=120, freq="9D"),
    ).to_csv("customers.csv", index=False)
    shutil.copy("customers.csv", "next_month.csv")
    near = kneighbors_graph(rows, 15)
    graph = {"connectivities": near + near.T}
    cells = anndata.AnnData(rows, obsm={"X_pca": rows[:, :30]}, obsp=graph)
    cells.obs["cell_type"] = pd.Categorical(np.arange(240) % 4)
    cells.write_h5ad("cells.h5ad")
    Path("views.toml").write_text('[[view]]\ncolumns = ["a", "b"]\n[[view]]\nkernel = "rbf"\n')
    return tmp_path


def given(rows):
    """What the examples take for granted."""
    columns = ["height", "width", *map(str, range(2, 500))]
    return {"X": rows, "X_new": rows[:7] + 0.1, "table": pd.DataFrame(rows, columns=columns)}


def run_python(page, block, names):
    code = block.code
    if "sklearn.callback" in code and find_spec("sklearn.callback") is None:
        return  # scikit-learn < 1.9
    for words, others in INSTEAD.items():
        code = code.replace(words, others)
    # With the lines before it, so that a failure shows the line of the page.
    with redirect_stdout(StringIO()) as printed:
        exec(compile("\n" * block.line + code, page, "exec"), names)
    if block.printed is not None:
        assert printed.getvalue().split() == block.printed.split()
    if "client" in names:
        names["client"].close()


def prints_a_search(block):
    """Whether a block prints scores of a search, which a short one does not give."""
    return block.printed is not None and "ClusterSearch(" in block.code


def run_command(arguments):
    # Examples that stand side by side write the same files.
    more = ["--splits", "2"] if arguments[0] == "choose" else ["--force"]
    more += ["-k", "2-3"] * (arguments[0] in ("choose", "fit") and "-k" not in arguments)
    result = CliRunner().invoke(app, [*arguments, *more])
    assert result.exit_code == 0, f"kernelmeans {shlex.join(arguments)}\n{result.output}"


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("page", WITH_CODE)
@pytest.mark.usefixtures("folder", "short_searches")
def test_page_works(page, rows):
    """Blocks run one after another, as a reader would type them; each brings its own imports."""
    for block in blocks_of(page):
        if block.language == "sh":
            for arguments in commands_in(block.code):
                run_command(arguments)
        elif block.language == "toml":
            Path("views.toml").write_text(block.code)
        elif all(met for word, met in NEEDS.items() if word in block.code):
            printed = None if prints_a_search(block) else block.printed
            run_python(page, block._replace(printed=printed), given(rows))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("page", ["docs/choosing.md", "docs/start.md"])
def test_searches_print_what_the_page_says(page, rows):
    blocks = list(filter(prints_a_search, blocks_of(page)))
    assert blocks
    for block in blocks:
        run_python(page, block, given(rows))


def test_examples_are_found():
    found = {page: [block.language for block in blocks_of(page)] for page in PAGES}
    assert found["README.md"].count("python") == 1
    assert sum(languages.count("python") for languages in found.values()) >= 20
    assert len(COMMANDS) >= 12


@pytest.mark.parametrize("arguments", COMMANDS)
def test_commands_are_understood(arguments, monkeypatch, tmp_path):
    """Also those of pages that are not run. Files need not be there."""
    monkeypatch.chdir(tmp_path)
    for word in arguments[1:]:
        if "." in word and not word.startswith("-"):
            Path(word).touch()
    context = click.Context(app)
    name, command, rest = app.resolve_command(context, list(arguments))
    command.make_context(name, rest, parent=context).close()


def options():
    """The options of all commands, under all their names."""
    commands = app.commands.values()
    parameters = [one for each in commands for one in each.get_params(click.Context(each))]
    return {name for one in parameters for name in (*one.opts, *one.secondary_opts)}


@pytest.mark.parametrize("page", PAGES)
def test_options_exist(page):
    """Every option that a page names between backticks."""
    others = "".join(
        path.read_text("utf-8") for pattern in OTHER_PROGRAMS for path in ROOT.glob(pattern)
    )
    named = set(re.findall(r"`(--[a-z][a-z-]*)", text_of(page)))
    assert {option for option in named - options() if f'"{option}"' not in others} == set()


def test_options_in_messages_exist():
    """Every option that the library names in a message or a help text."""
    sources = [path.read_text("utf-8") for path in ROOT.glob("src/kernelmeans/cli/**/*.py")]
    named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]*[a-z](?!-)", "".join(sources)))
    assert len(named) >= 20
    assert named <= options()


def anchors_of(path):
    """The names that forges and the site give to the headings of a page."""
    text = re.sub(r"^```.*?^```", "", path.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", ["docs/paper.md", "reproduction/README.md"])
def test_the_stored_run_of_the_paper_is_named(page):
    run = json.loads((ROOT / "reproduction" / "results" / "run.json").read_text("utf-8"))
    version, _ = run["versions"]["kernelmeans"].split(" ", 1)
    assert f"(version {version}, {run['date']})" in text_of(page)


def test_the_tables_and_figures_of_the_paper_are_named():
    results = ROOT / "reproduction" / "results"
    stored = {path.stem for name in ("tables", "figures") for path in (results / name).iterdir()}
    assert len(stored) >= 20
    assert stored <= set(re.findall(r"`(\w+)`", text_of("docs/paper.md")))


@pytest.mark.parametrize(
    "page", [*PAGES, "CONTRIBUTING.md", "benchmarks/NOTES.md", "reproduction/README.md"]
)
def test_links_lead_somewhere(page):
    """Within the repository, as on a forge: files are there, and have the headings."""
    links = re.findall(r"\]\(([^)\s]+)\)", text_of(page))
    for link in links:
        if "://" not in link:
            target, _, anchor = link.partition("#")
            path = ROOT / page if not target else (ROOT / page).parent / target
            assert path.exists(), link
            assert not anchor or anchor in anchors_of(path), link
