"""Model files of older versions are read as those of this one, and give the same labels."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import skops.io
from click.testing import CliRunner

from kernelmeans.cli.app import app
from kernelmeans.models.archive import TRUSTED_TYPES

HERE = Path(__file__).parent
FOLDERS = sorted(path.parent.name for path in HERE.glob("*/expected.json"))
COMMANDS = "rbf", "heat", "views"


def expected(folder, name):
    return json.loads((HERE / folder / "expected.json").read_text("utf-8"))[name]


def test_there_are_models_of_this_format_and_of_an_older_one():
    assert len(FOLDERS) >= 2


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("folder", FOLDERS)
def test_the_command_line_gives_the_same_labels(folder, name, tmp_path):
    path, labels = HERE / folder / f"{name}.model.skops", tmp_path / "labels.csv"
    arguments = ["predict", path, HERE / "new_people.csv", "--labels", labels]
    result = CliRunner().invoke(app, list(map(str, arguments)), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    found, known = pl.read_csv(labels), expected(folder, name)
    assert found["label"].to_list() == known["label"]
    assert known["label"][0] is None  # its age is a word
    assert set(known["label"][1:]) == {0, 1, 2}
    distances = pl.Series(known["distance"], dtype=pl.Float64).to_numpy()
    np.testing.assert_allclose(found["distance"].to_numpy(), distances, rtol=1e-6)


@pytest.mark.parametrize("folder", FOLDERS)
def test_an_estimator_in_a_file_gives_the_same_labels(folder):
    model = skops.io.load(HERE / folder / "plain.skops", trusted=list(TRUSTED_TYPES))
    rows = pl.read_csv(HERE / "new_people.csv")["height", "visits"].to_numpy()
    known = expected(folder, "plain")
    assert model.predict(rows).tolist() == known["label"]
    np.testing.assert_allclose(model.transform(rows).min(axis=1), known["distance"], rtol=1e-6)


@pytest.mark.parametrize("name", [*(f"{name}.model" for name in COMMANDS), "plain"])
@pytest.mark.parametrize("folder", FOLDERS)
def test_no_file_needs_another_type(folder, name):
    types = skops.io.get_untrusted_types(file=HERE / folder / f"{name}.skops")
    assert types
    assert set(types) <= set(TRUSTED_TYPES)
