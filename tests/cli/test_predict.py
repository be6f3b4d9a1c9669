import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from numpy.testing import assert_array_equal

from kernelmeans.tables.files.tables import ArrayTable

MODEL = "data.model.skops"


@pytest.fixture
def model(fit) -> str:
    assert fit("--labels", "trained.csv").exit_code == 0
    return MODEL


def labels(file: str) -> list[int]:
    return pl.read_csv(file)["label"].to_list()


def test_training_rows_get_their_labels_whatever_the_order_of_the_columns(run, model, blobs):
    blobs.select("area", "kind", "length", "mass").write_parquet("new.parquet")
    result = run("predict", model, "new.parquet")
    assert result.exit_code == 0, result.output
    assert labels("new.labels.csv") == labels("trained.csv")
    assert pl.read_csv("new.labels.csv")["row"].to_list() == list(range(60))
    said = "Note: the model does not use 'kind'; --id-column keeps one column in the labels file\n"
    assert said in result.stderr
    assert "20 20 20" in result.stdout
    assert "new.labels.csv" in result.stdout


def test_one_row(run, model, blobs):
    blobs[7:8].write_csv("one.csv")
    assert run("predict", model, "one.csv").exit_code == 0
    assert labels("one.labels.csv") == labels("trained.csv")[7:8]


def test_a_row_of_totals_is_pointed_out(run, model, blobs):
    sums = blobs.sum().with_columns(kind=pl.lit("all"))
    pl.concat([blobs, sums.select(blobs.columns)], how="vertical_relaxed").write_csv("new.csv")
    result = run("predict", model, "new.csv")
    assert "Note: line 62 ('length') looks like totals" in result.stderr
    blobs.write_csv("new.csv")
    assert "totals" not in run("predict", model, "new.csv", "--force").stderr


def test_a_square_array_is_no_transposed_table():
    array = np.arange(9.0).reshape(3, 3)
    for X in (array, np.asfortranarray(array)):
        table = ArrayTable(Path("X.h5ad"), X, ["a", "b", "c"])
        assert_array_equal(table.whole(["a", "b", "c"], "float64"), array)
        assert_array_equal(table.whole(["c", "a"], "float64"), array[:, [2, 0]])


def test_a_missing_column_is_named(refused, model, blobs):
    blobs.select("length", "kind").write_csv("new.csv")
    message = refused("predict", model, "new.csv")
    assert "'mass', 'area'" in message
    assert "'length', 'kind'" in message
    assert "give the columns the names of the fit" in message


def test_a_narrower_array_is_not_told_to_name_its_columns(folder, run, refused):
    X = np.random.default_rng(0).normal(size=(60, 4))
    np.save(folder / "wide.npy", X)
    np.save(folder / "narrow.npy", X[:, :3])
    assert run("fit", "wide.npy", "-k", "2").exit_code == 0
    message = refused("predict", "wide.model.skops", "narrow.npy")
    assert "needs '3'" in message
    assert "give rows with all columns of the fit" in message
    assert "empty columns" not in message


def test_files_that_exist_are_said_before_a_damaged_model(refused, model, data):
    """The model takes seconds to open."""
    Path("junk.skops").write_text("junk")
    Path("data.labels.csv").write_text("mine")
    assert "--force" in refused("predict", "junk.skops", data)
    assert "is not a model file" in refused("predict", "junk.skops", data, "--force")
    assert "kernelmeans predict junk.skops TABLE" in refused("predict", data, "junk.skops")
    assert Path("data.labels.csv").read_text() == "mine"


@pytest.mark.parametrize("name", ["Mass", "mass_kg"])
def test_a_column_whose_name_differs_a_little_is_pointed_out(refused, model, blobs, name):
    blobs.rename({"mass": name}).write_csv("new.csv")
    assert f"rename {name!r} to 'mass'" in refused("predict", model, "new.csv")


def test_blanks_in_names_do_not_count(run, refused, data, blobs):
    blobs.rename({"mass": "dry  mass"}).write_csv("data.csv")
    fit = ["fit", "data.csv", "-k", 3, "--labels", "trained.csv", "--force"]
    assert run(*fit, "--drop", "kind").exit_code == 0
    blobs.rename({"mass": "dry mass ", "area": "area "}).write_parquet("new.parquet")
    assert run("predict", MODEL, "new.parquet").exit_code == 0
    assert labels("new.labels.csv") == labels("trained.csv")
    assert run(*fit, "--drop", "dry mass,kind").exit_code == 0
    blobs.rename({"length": "lenght  2"}).write_csv("new.csv")
    assert "rename 'lenght  2' to 'length'" in refused("predict", MODEL, "new.csv", "--force")


@pytest.mark.usefixtures("folder")
def test_rows_without_values_get_no_label(run, blobs):
    empty = blobs.select(pl.all().replace_strict({}, default=None, return_dtype=pl.Float64))[:2]
    table = pl.concat([blobs, empty.with_columns(kind=pl.lit(None, pl.String))])
    table.write_csv("data.csv")
    blobs.write_csv("full.csv")
    for file in ("data.csv", "full.csv"):
        result = run("fit", file, "-k", 3)
        assert result.exit_code == 0, result.output
        said = "2 rows without a value in any column that is used: no label" in result.stderr
        assert "means" not in result.stderr
        assert said == (file == "data.csv")
    assert labels("data.labels.csv") == [*labels("full.labels.csv"), None, None]
    result = run("predict", MODEL, "data.csv", "--labels", "again.csv")
    assert "2 rows without a value in any column that is used: no label" in result.stderr
    assert "filled from rows" not in result.stderr
    assert labels("again.csv") == labels("data.labels.csv")


def test_a_missing_value_is_filled_from_rows_of_the_fit(run, model, blobs):
    for file, first in (("gap.csv", None), ("full.csv", blobs["mass"][0])):
        mass = pl.Series([first, *blobs["mass"][1:]])
        blobs.with_columns(mass=mass).write_csv(file)
        result = run("predict", model, file)
        assert result.exit_code == 0
        said = "1 missing value of 'mass' filled from rows of the fit" in result.stderr
        assert said == (first is None)
    assert labels("gap.labels.csv") == labels("full.labels.csv")


def test_rows_with_text_in_a_column_of_numbers_get_no_label(run, refused, model, blobs):
    values = blobs["mass"].cast(str).to_list()
    blobs.with_columns(mass=pl.Series([*values[:58], "heavy", "light"])).write_csv("new.csv")
    result = run("predict", model, "new.csv")
    assert "2 rows without a label: no finite number" in result.stderr
    assert "'mass' ('heavy' in line 60)" in result.stderr
    found = labels("new.labels.csv")
    assert found[:58] == labels("trained.csv")[:58]
    assert found[58:] == [None, None]
    assert json.loads(run("predict", model, "new.csv", "--force", "--json").stdout)["rows"] == 60
    blobs.with_columns(mass=pl.lit("heavy")).write_csv("new.csv")
    message = refused("predict", model, "new.csv", "--force")
    assert "none of the rows" in message


def test_files_without_names_go_by_position(run, model, blobs):
    X = blobs.drop("kind").to_numpy()
    np.save("new.npy", X)
    assert run("predict", model, "new.npy").exit_code == 0
    assert labels("new.labels.csv") == labels("trained.csv")
    blobs.drop("kind").write_csv("bare.csv", include_header=False)
    assert run("predict", model, "bare.csv", "--no-header").exit_code == 0
    assert labels("bare.labels.csv") == labels("trained.csv")


def test_files_without_names_need_the_models_width(refused, model, blobs):
    np.save("new.npy", blobs.drop("kind", "mass").to_numpy())
    assert "'length'" in refused("predict", model, "new.npy")


def test_a_model_of_an_array_finds_its_columns_by_index(run, folder, blobs):
    X = blobs.drop("kind").to_numpy()
    np.save("X.npy", X)
    run("fit", "X.npy", "-k", 3, "--columns", "0,2")
    result = run("predict", "X.model.skops", "X.npy", "-o", "new")
    assert result.exit_code == 0, result.output
    assert labels("new/X.labels.csv") == labels("X.labels.csv")
    assert "'1'" in result.stderr


def test_json_and_quiet(run, model, data):
    found = json.loads(run("predict", model, data, "--json").stdout)
    assert found["rows"] == 60
    assert found["sizes"] == [20, 20, 20]
    assert found["files"] == {"labels": "data.labels.csv"}
    assert run("predict", model, data, "--quiet", "--force").output == ""


def test_does_not_overwrite_unless_forced(run, refused, model, data):
    Path("data.labels.csv").write_text("mine")
    assert "--force" in refused("predict", model, data)
    assert Path("data.labels.csv").read_text() == "mine"
    assert run("predict", model, data, "--force").exit_code == 0
    assert labels("data.labels.csv") == labels("trained.csv")


def far_warning(result) -> str:
    assert result.exit_code == 0, result.output
    return "".join(line for line in result.stderr.splitlines() if line.startswith("Warning: far"))


@pytest.mark.parametrize("more", [0, 1e5])
def test_a_column_in_other_units_is_named(run, model, blobs, more):
    blobs.with_columns(mass=pl.col("mass") + more).write_csv("new.csv")
    result = run("predict", model, "new.csv", "--json")
    expected = (
        "Warning: far from all that the model has seen: 60 of 60 rows. The values of 'mass' are "
        "least like those of the fit. Other units, or other columns?"
    )
    assert far_warning(result) == expected * bool(more)
    assert (json.loads(result.stdout)["far"] == 60) == bool(more)
    assert run("predict", model, "new.csv", "--force", "--quiet").stderr == ""


def test_a_category_of_new_values_is_named(run, folder, blobs):
    blobs.write_csv("data.csv")
    run("fit", "data.csv", "-k", 3)
    blobs.with_columns(kind=pl.lit("1.5")).write_csv("new.csv")
    said = far_warning(run("predict", MODEL, "new.csv"))
    assert "60 of 60 rows. The fit has seen none of the values of 'kind'. Other" in said


def test_a_few_far_rows_are_no_warning(run, model, blobs):
    mass = pl.Series([1e9, *blobs["mass"][1:]])
    blobs.with_columns(mass=mass).write_csv("new.csv")
    result = run("predict", model, "new.csv")
    assert "far rows          1 " in result.stdout
    assert far_warning(result) == ""


def test_an_array_in_other_units(run, folder, blobs):
    X = blobs.drop("kind").to_numpy()
    np.save("X.npy", X)
    run("fit", "X.npy", "-k", 3)
    np.save("new.npy", X * [1, 1, 1000])
    assert "The values of '2' are least like" in far_warning(
        run("predict", "X.model.skops", "new.npy")
    )
