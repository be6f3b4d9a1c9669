"""A small data set, and the command line run in an empty folder."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner, Result
from sklearn.datasets import make_blobs

from cli.messages import in_python
from kernelmeans.cli.app import app

Run = Callable[..., Result]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def blobs() -> pl.DataFrame:
    """Three clear clusters of 20 rows in columns of very different scales, with names."""
    X, y = make_blobs([20, 20, 20], n_features=3, cluster_std=0.6, random_state=4)
    frame = pl.DataFrame(X * [1.0, 100.0, 0.01], schema=["length", "mass", "area"])
    return frame.with_columns(kind=pl.Series(np.array(["ant", "bee", "cat"])[y]))


@pytest.fixture
def data(folder: Path, blobs: pl.DataFrame) -> Path:
    """The path of data.csv, relative to the current folder, which holds nothing else."""
    blobs.write_csv(folder / "data.csv")
    return Path("data.csv")


@pytest.fixture
def run() -> Run:
    """Run the command line on some arguments; an unexpected exception is raised.

    No message may name a parameter of Python that is an option here.
    """

    def invoke(*arguments: object) -> Result:
        result = CliRunner().invoke(app, [str(argument) for argument in arguments])
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        assert not in_python(result.stderr, views="--views" in arguments)
        return result

    return invoke


@pytest.fixture
def fit(run: Run, data: Path) -> Run:
    """Run ``fit data.csv -k 3 --label-column kind`` with more arguments."""

    def invoke(*arguments: object) -> Result:
        return run("fit", data, "-k", 3, "--label-column", "kind", *arguments)

    return invoke


@pytest.fixture
def refused(run: Run) -> Callable[..., str]:
    """Run a command that has to end with one message; return the message."""

    def invoke(*arguments: object, code: int = 2) -> str:
        before = sorted(Path().rglob("*"))
        result = run(*arguments)
        assert result.exit_code == code, result.output
        assert result.stdout == ""
        assert "Traceback" not in result.stderr
        assert result.stderr.splitlines()[-1].startswith("Error: ")
        assert sorted(Path().rglob("*")) == before  # nothing written, nothing left behind
        return result.stderr

    return invoke
