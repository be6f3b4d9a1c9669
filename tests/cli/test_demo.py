import json
from pathlib import Path

import polars as pl
import pytest


@pytest.mark.usefixtures("folder")
def test_demo_does_the_main_job_on_digits(run):
    result = run("demo", "-o", "out")
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("kernelmeans fit out/digits.csv -k 10 --no-scale")
    assert sorted(path.name for path in Path("out").iterdir()) == [
        "digits.csv",
        "digits.labels.csv",
        "digits.model.skops",
        "digits.png",
        "digits.summary.json",
    ]
    summary = json.loads(Path("out/digits.summary.json").read_text())
    assert (summary["rows"], summary["features"], summary["clusters"]) == (1797, 64, 10)
    assert summary["agreement"]["nmi"] > 0.8
    assert pl.read_csv("out/digits.labels.csv")["label"].n_unique() == 10


@pytest.mark.usefixtures("folder")
def test_demo_does_not_overwrite(refused):
    Path("digits.csv").write_text("mine")
    assert "--force" in refused("demo")
    assert Path("digits.csv").read_text() == "mine"
