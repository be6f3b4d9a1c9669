"""``kernelmeans-paper``: from a command to tables, figures and a page; killed, and gone on with."""

import json
import os
import signal
import subprocess
import sys
import time
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace

import pooch
import psutil
import pytest
from click.testing import CliRunner

import data
from kernelmeans_paper.cli import main
from kernelmeans_paper.datasets import sources

COMMAND = [sys.executable, "-m", "kernelmeans_paper.cli"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The current folder, which is empty."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments):
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def refused(*arguments):
    """The message of a command that has to end with one, before any work."""
    before = sorted(Path().rglob("*"))
    result = run(*arguments)
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    assert sorted(Path().rglob("*")) == before
    return result.stderr.splitlines()[-1]


@pytest.fixture
def offline(folder, monkeypatch):
    """No benchmark data, and no network to get them."""
    monkeypatch.setenv("KERNELMEANS_DATA", str(folder / "nothing"))
    monkeypatch.setattr(sources, "HOST", "http://127.0.0.1:9")
    monkeypatch.setattr(pooch.core, "time", SimpleNamespace(sleep=lambda seconds: None))


@pytest.mark.slow
def test_writes_tables_figures_and_a_page(folder):
    result = run("limit", "hull", "--quick", "--out", "made", "--workers", 1)
    assert result.exit_code == 0, result.output
    assert "limit: done\nhull: done\nWrote made/index.html" in result.stdout
    made = folder / "made"
    for table in ("limit", "hull"):
        for suffix in ("md", "tex", "json"):
            assert (made / "tables" / f"{table}.{suffix}").stat().st_size
        for suffix in ("png", "svg"):
            assert (made / "figures" / f"{table}.{suffix}").stat().st_size
    page = (made / "index.html").read_text()
    assert "Theorem 1" in page
    assert "Theorem 2" in page
    provenance = json.loads((made / "run.json").read_text())
    assert {"numpy", "scipy", "scikit-learn", "kernelmeans"} <= set(provenance["versions"])
    assert provenance["failed cells"] == "none"


@pytest.mark.slow
def test_the_report_holds_what_earlier_runs_have_finished(folder):
    run("limit", "--quick", "--out", ".", "--workers", 1, "--quiet")
    table = (folder / "tables" / "limit.json").read_text()
    cells = {path: path.stat().st_mtime_ns for path in (folder / "cells" / "limit").iterdir()}
    assert run("hull", "--quick", "--out", ".", "--workers", 1, "--quiet").stdout == ""
    page = (folder / "index.html").read_text()
    assert "Theorem 1" in page
    assert "Theorem 2" in page
    assert (folder / "tables" / "limit.json").read_text() == table
    run("limit", "--quick", "--out", ".", "--workers", 1, "--quiet")
    assert cells == {path: path.stat().st_mtime_ns for path in cells}
    run("limit", "--quick", "--out", ".", "--workers", 1, "--quiet", "--force")
    assert all(path.stat().st_mtime_ns > before for path, before in cells.items())


@pytest.mark.slow
def test_without_data_rows_are_shown_as_missing_beside_what_can_be_run(folder, offline):
    result = run("multi", "hull", "--quick", "--out", ".", "--workers", 1)
    assert result.exit_code == 0
    assert "Warning: left out: Yale.mat is not in" in result.stderr
    assert "127.0.0.1:9" in result.stderr
    assert "| Yale | file not here |" in (folder / "tables" / "multi.md").read_text()
    assert "multi: Left out (--quick): JAFFE, ORL, COIL20." in result.stdout
    assert "Left out (--quick): JAFFE, ORL, COIL20." in (folder / "results.md").read_text()
    assert json.loads((folder / "run.json").read_text())["sets not here"] == (
        "glioma, lung_discrete, seeds, yale"
    )


def test_where_nothing_can_be_run_for_want_of_data_the_files_are_named(folder, offline):
    """No report, and no exit code 0, of rows that are all empty."""
    result = run("single", "--quick")
    assert result.exit_code == 1
    assert result.stdout == ""
    assert "no data are here" in result.stderr
    for file in ("seeds_dataset.txt", "lung_small.mat", "GLIOMA.mat"):
        assert f"{file} is not in {folder / 'nothing'}" in result.stderr
    assert "KERNELMEANS_DATA" in result.stderr
    assert not list(folder.rglob("*.html"))


def test_without_data_nothing_is_checked(folder, offline):
    (folder / "tables").mkdir()
    (folder / "tables" / "single.json").write_text('{"name": "single", "cells": []}')
    result = run("check", "single", "--set", "seeds", "--results", folder)
    assert (result.exit_code, result.stdout) == (1, "")
    assert f"seeds_dataset.txt is not in {folder / 'nothing'}" in result.stderr


@data.needs_data
@pytest.mark.slow
def test_sets_can_be_chosen_by_name(folder, monkeypatch):
    monkeypatch.setenv("KERNELMEANS_DATA", str(data.FOLDER))
    result = run("single", "--quick", "--set", "seeds", "--out", ".", "--workers", 2)
    assert result.exit_code == 0
    cells = json.loads((folder / "tables" / "single_cost.json").read_text())["cells"]
    assert {cell["row"] for cell in cells} == {"Seeds"}
    assert json.loads((folder / "run.json").read_text())["command"] == (
        "kernelmeans-paper single --quick --set seeds"
    )
    page = (folder / "results.md").read_text()
    assert "Left out (not named by --set): Yale, JAFFE" in page


@pytest.mark.parametrize("command", ["run", "check"])
def test_the_help_says_where_data_are(command):
    text = " ".join(run(command, "--help").stdout.split())
    assert "KERNELMEANS_DATA" in text
    assert "put it there as lung.mat" in text
    for name in ("yale", "tox_171", "lung_bhattacharjee"):
        assert name in text


def test_the_help_says_which_experiment_makes_which_table():
    text = " ".join(run("--help").stdout.split())
    assert "motivating and sphere are figures 1 and 2 of the paper" in text
    assert "single is table 1 and the appendix, multi is table 2" in text


def test_the_version_is_that_of_the_package():
    assert run("--version").stdout.strip().endswith(version("kernelmeans-paper"))


def test_experiments_run_without_the_name_of_the_command(folder):
    assert run("--help").stdout == run("run", "--help").stdout
    assert run("limit", "--datasets", "0").stderr == run("run", "limit", "--datasets", "0").stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["everything", "--out", "x"], "'everything' is not one of 'all', 'motivating'"),
        (["limit", "--out", "x", "--datasets", "0"], "0 is not in the range x>=1"),
        (["limit", "--out", "x", "--workers", "0"], "0 is not in the range 1<=x<=61"),
        (["single", "--out", "x", "--set", "iris"], "'iris' is not one of 'yale', 'jaffe'"),
        (
            ["multi", "--out", "x", "--set", "seeds"],
            "--set seeds: not of multi; their sets are yale, jaffe, orl, coil20",
        ),
        (["limit", "--out", "x", "--set", "Yale"], "--set yale: not of limit; they simulate their"),
        (["check", "limit"], "'limit' is not one of 'motivating', 'single'"),
        (["check", "multi", "--set", "seeds"], "--set seeds: not of multi"),
        (["check"], "reproduction/results has no tables of an earlier run"),
        ([], "Missing argument"),
    ],
)
def test_bad_usage_is_refused_before_any_work(folder, arguments, message):
    result = run(*arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert not list(folder.iterdir())


def test_a_folder_that_cannot_be_made_is_refused_before_any_work(folder):
    (folder / "file").touch()
    assert "file" in refused("limit", "--quick", "--out", "file/below")


def test_a_page_of_somebody_else_is_not_overwritten(folder):
    (folder / "index.html").write_text("mine")
    assert "choose another --out" in refused("limit", "--quick", "--out", ".")
    (folder / "paper-results").mkdir()
    (folder / "paper-results" / "index.html").write_text("mine")
    assert "would overwrite paper-results" in refused("limit", "--quick")


def started(out, *names):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    # A job in the background ignores Ctrl-C, and so would all that it starts: undo that.
    return subprocess.Popen(
        [*COMMAND, *names, "--quick", "--out", str(out), "--workers", "2", "--quiet"],
        env=environment,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


def tables(out):
    return {path.name: path.read_text() for path in (out / "tables").iterdir()}


@pytest.mark.slow
def test_a_killed_run_leaves_no_process_and_goes_on_to_the_same_tables(tmp_path):
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    assert started(whole, "motivating").wait(120) == 0
    process = started(killed, "motivating")
    wait_until(lambda: finished(killed) >= 2)
    children = psutil.Process(process.pid).children(recursive=True)
    process.send_signal(signal.SIGKILL)
    process.wait(10)
    gone, alive = psutil.wait_procs(children, timeout=20)
    assert gone
    assert not alive
    assert not (killed / "tables").exists()
    assert started(killed, "motivating").wait(120) == 0
    assert tables(killed) == tables(whole)


def finished(out):
    return len(list(out.glob("cells/*/*.json")))


def wait_until(happened, seconds=60.0):
    deadline = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < deadline
        time.sleep(0.02)


@data.needs_data
@pytest.mark.slow
def test_ctrl_c_ends_at_once_and_keeps_what_is_finished(tmp_path):
    # Half a minute of work: it cannot be over before the signal comes.
    process = started(tmp_path, "all")
    wait_until(lambda: finished(tmp_path) >= 1)
    before = time.monotonic()
    process.send_signal(signal.SIGINT)
    assert process.wait(30) == 130
    assert time.monotonic() - before < 15
    assert finished(tmp_path) >= 1
