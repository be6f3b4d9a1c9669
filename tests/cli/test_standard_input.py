"""``-`` is standard input: read once, and its files are named stdin."""

import gzip
import json
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner

from kernelmeans.cli.app import app

OPTIONS = ["-k", "3", "--drop", "kind"]


def piped(content: bytes, *arguments: object):
    return CliRunner().invoke(app, [str(argument) for argument in arguments], input=content)


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_fit_and_predict(run, data, pack):
    content = pack(data.read_bytes())
    assert run("fit", data, *OPTIONS).exit_code == 0
    result = piped(content, "fit", "-", *OPTIONS, "--plot")
    assert result.exit_code == 0, result.output
    assert json.loads(Path("stdin.summary.json").read_text("utf-8"))["input"] == "-"
    assert Path("stdin.png").exists()
    labels = Path("data.labels.csv").read_text()
    assert Path("stdin.labels.csv").read_text() == labels
    result = piped(content, "predict", "stdin.model.skops", "-", "--force")
    assert result.exit_code == 0, result.output
    assert pl.read_csv("stdin.labels.csv")["label"].equals(pl.read_csv("data.labels.csv")["label"])


@pytest.mark.usefixtures("short_searches")
def test_the_clusters_are_chosen_of_what_was_read_once(data):
    result = piped(data.read_bytes(), "fit", "-", "--drop", "kind", "-k", "2-3")
    assert result.exit_code == 0, result.output


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "stdin: the file is empty"),
        (b"a,b\n1,2\n3\n", "stdin: line 3 has 1 value,"),
        (b"\x00\x01\x02\x03", "stdin: holds zero bytes"),
        (b"a,b\n" + b"1,2\n" * 10**6, "stdin: holds more than"),
    ],
)
def test_refused(content, words):
    result = piped(content, "fit", "-", "-k", "2", "--memory-budget", "10MB")
    assert result.exit_code == 2
    assert words in result.stderr
    assert not list(Path().iterdir())


@pytest.mark.slow
def test_a_true_pipe(data):
    command = [sys.executable, "-m", "kernelmeans.cli", "fit", "-", *OPTIONS, "-q"]
    with data.open("rb") as file:
        subprocess.run(command, stdin=file, check=True, timeout=100)
    assert Path("stdin.labels.csv").exists()
