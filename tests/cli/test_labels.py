"""The labels file: names of rows, distances, memberships, rows that are far or have no label."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import scipy.sparse
import skops.io

from kernelmeans.models import load_model
from kernelmeans.models.archive import TRUSTED_TYPES

MODEL = "data.model.skops"
IDS = [f"{number:05}" for number in range(60)]


def table(file: str = "data.labels.csv") -> pl.DataFrame:
    return pl.read_csv(file, schema_overrides={"id": pl.String})


@pytest.fixture
def named(blobs: pl.DataFrame) -> pl.DataFrame:
    """The rows, with names that would lose zeros as numbers."""
    return blobs.with_columns(id=pl.Series(IDS))


@pytest.fixture
def named_model(run, folder, named) -> str:
    named.write_csv("data.csv")
    result = run("fit", "data.csv", "-k", 3, "--drop", "kind", "--id-column", "id")
    assert result.exit_code == 0, result.output
    return MODEL


class TestFit:
    def test_distances_and_memberships_are_those_of_the_model(self, fit, blobs):
        assert fit("--kernel", "rbf", "--soft").exit_code == 0
        pipeline = load_model(Path(MODEL)).pipeline
        found, distances = table(), pipeline.transform(blobs.drop("kind").to_numpy())
        assert found.columns[:5] == ["row", "label", "distance", "second_distance", "membership"]
        assert found.columns[5:] == ["membership_0", "membership_1", "membership_2"]
        assert found["row"].to_list() == list(range(60))
        np.testing.assert_array_equal(found["label"], distances.argmin(axis=1))
        two = np.sort(distances, axis=1)[:, :2]
        np.testing.assert_allclose(found["distance"], two[:, 0], rtol=1e-5)
        np.testing.assert_allclose(found["second_distance"], two[:, 1], rtol=1e-5)
        np.testing.assert_allclose(found["membership"], pipeline[-1].certainty_, rtol=1e-5)

    def test_one_cluster_has_no_second_distance(self, run, data):
        run("fit", data, "-k", 1, "--drop", "kind")
        assert table().columns == ["row", "label", "distance", "membership"]

    def test_a_note_names_the_first_column_that_names_the_rows(self, run, folder, named):
        codes = {"zip": pl.Series([10115, 80331] * 30), "distance": pl.Series(IDS) + "km"}
        names = {"e mail": pl.Series(IDS) + "@x.org", "phone": pl.Series(range(60)) * 7 + 10**9}
        named.drop("id").with_columns(**codes, **names).write_csv("data.csv")
        result = run("fit", "data.csv", "-k", 3, "--drop", "kind")
        said = "Note: --id-column 'e mail' keeps that column in the labels file\n"
        assert said in result.stderr
        assert result.stderr.count("--id-column") == 1
        for options in (["--id-column", "phone"], ["--drop", "e mail,phone"], ["--quiet"]):
            again = run("fit", "data.csv", "-k", 3, "--drop", "kind", "--force", *options)
            assert again.exit_code == 0, again.output
            assert "keeps that column" not in again.stderr
        # It does as it says.
        run("fit", "data.csv", "-k", 3, "--drop", "kind", "--force", "--id-column", "e mail")
        assert table()["e mail"].to_list() == names["e mail"].to_list()

    def test_names_of_rows_are_no_feature_and_kept_as_text(self, named_model, named, run):
        assert table().columns[:2] == ["id", "label"]
        assert table()["id"].to_list() == IDS
        assert load_model(Path(MODEL)).columns == ["length", "mass", "area"]
        run("fit", "data.csv", "-k", 3, "--drop", "kind,id", "-o", "plain")
        assert table()["label"].to_list() == table("plain/data.labels.csv")["label"].to_list()

    def test_a_note_counts_names_that_repeat(self, run, folder, named):
        copied = named.with_columns(id=pl.Series(["7", *IDS[1:50], "7", *IDS[49:58]]))
        copied.write_csv("copied.csv")
        fitted = run("fit", "copied.csv", "-k", 3, "--drop", "kind", "--id-column", "id")
        placed = run("predict", "copied.model.skops", "copied.csv", "--id-column", "id", "--force")
        for result in (fitted, placed):
            assert result.exit_code == 0, result.output
            assert "Note: column 'id': 4 rows with the value of another row, such as '7'" in (
                result.stderr
            )
        named.write_csv("data.csv")
        once = run("predict", "copied.model.skops", "data.csv", "--id-column", "id")
        assert once.exit_code == 0, once.output
        assert "of another row" not in once.stderr

    def test_names_keep_their_zeros_without_a_header(self, run, folder, blobs):
        names = [f"{place / 100:.2f}" for place in range(60)]
        blobs.select(pl.Series("id", names), "length", "mass").write_csv(
            "bare.csv", include_header=False
        )
        run("fit", "bare.csv", "-k", 3, "--no-header", "--id-column", "column_0")
        found = pl.read_csv("bare.labels.csv", infer_schema=False)
        assert found["column_0"].to_list() == names

    def test_names_of_rows_in_arrays_are_whole_numbers(self, run, folder, blobs):
        names = np.arange(100, 160)
        np.save("X.npy", np.column_stack([names, blobs.drop("kind").to_numpy()]))
        assert run("fit", "X.npy", "-k", 3, "--id-column", 0).exit_code == 0
        assert pl.read_csv("X.labels.csv")["0"].to_list() == names.tolist()

    @pytest.mark.parametrize("name", ["label", "distance", "membership_2"])
    def test_names_of_rows_under_the_name_of_another_column(self, refused, named, folder, name):
        named.rename({"id": name}).write_csv("data.csv")
        message = refused("fit", "data.csv", "-k", 3, "--drop", "kind", "--id-column", name)
        assert f"--id-column names {name!r}" in message

    def test_no_such_column(self, refused, named_model, data):
        message = refused("fit", data, "-k", 3, "--id-column", "Id", "--force")
        assert "--id-column names 'Id', which is no column" in message
        assert "--id-column" in refused("predict", MODEL, data, "--id-column", "ids", "--force")


class TestPredict:
    def test_training_rows_get_what_the_fit_wrote(self, named_model, run):
        result = run("predict", MODEL, "data.csv", "--id-column", "id", "-o", "again")
        assert result.exit_code == 0, result.output
        assert "'id'" not in result.stderr
        before, after = table(), table("again/data.labels.csv")
        assert after.columns == [*before.columns, "far"]
        assert after["label"].to_list() == before["label"].to_list()
        assert after["id"].to_list() == IDS
        for name in ("distance", "second_distance", "membership"):
            np.testing.assert_allclose(after[name], before[name], rtol=1e-4)
        # The farthest of 60 rows is farther than 99 % of them, up to one in a hundred.
        assert after["far"].sum() == 0
        assert "far rows          0" in result.stdout

    def test_rows_farther_than_those_of_the_fit(self, named_model, run, named):
        away = named.with_columns(mass=pl.col("mass") + pl.Series([1e4] * 7 + [0] * 53))
        away.write_csv("new.csv")
        result = run("predict", MODEL, "new.csv")
        assert table("new.labels.csv")["far"].to_list() == [True] * 7 + [False] * 53
        assert "far rows          7 (11.7 %)" in result.stdout

    def test_older_files_do_not_say_who_is_far(self, named_model, run):
        content = skops.io.load(MODEL, trusted=list(TRUSTED_TYPES))
        del content["far"]
        del content["pipeline"][-1].__dict__["_floor"], content["pipeline"][-1].distances_
        skops.io.dump(content, "old.skops")
        result = run("predict", "old.skops", "data.csv", "-o", "again")
        assert result.exit_code == 0, result.output
        assert "Note: old.skops does not say which rows are far" in result.stderr
        after = table("again/data.labels.csv")
        assert after.columns == ["row", "label", "distance", "second_distance", "membership"]
        assert after["label"].to_list() == table()["label"].to_list()

    @pytest.mark.parametrize("far", [-1.0, "0.5", 1])
    def test_what_is_no_distance_is_no_model(self, named_model, refused, far):
        content = skops.io.load(MODEL, trusted=list(TRUSTED_TYPES))
        skops.io.dump({**content, "far": far}, "bad.skops")
        assert "the model is incomplete" in refused("predict", "bad.skops", "data.csv", "--force")

    def test_one_row_that_cannot_be_placed(self, run, folder, blobs):
        X = blobs.drop("kind").to_numpy()
        np.save("data.npy", X)
        run("fit", "data.npy", "-k", 3, "--missing", "drop")
        X[[4, 9], 1] = np.nan, np.inf
        np.save("new.npy", X)
        result = run("predict", MODEL, "new.npy")
        assert result.exit_code == 0, result.output
        assert "2 rows without a label: no finite number" in result.stderr
        found, before = table("new.labels.csv"), table()
        assert found["label"].is_null().arg_true().to_list() == [4, 9]
        assert found["distance"].is_null().arg_true().to_list() == [4, 9]
        rest = found["label"].is_not_null()
        assert found["label"].filter(rest).to_list() == before["label"].filter(rest).to_list()

    def test_no_row_that_can_be_placed(self, run, refused, folder, blobs):
        X = blobs.drop("kind").to_numpy()
        np.save("data.npy", X)
        run("fit", "data.npy", "-k", 3, "--missing", "error")
        np.save("new.npy", np.full((2, 3), np.nan))
        assert "can place none of the rows" in refused("predict", MODEL, "new.npy")

    def test_rows_of_a_graph_without_edges(self, run, folder, blobs):
        X = blobs.drop("kind").to_numpy() / [1, 100, 0.01]
        edges = (np.linalg.norm(X[:, None] - X, axis=2) < 3).astype(float)
        np.fill_diagonal(edges, 0)
        scipy.sparse.save_npz("data.npz", scipy.sparse.csr_matrix(edges))
        result = run("fit", "data.npz", "-k", 3, "--kernel", "graph")
        assert result.exit_code == 0, result.output
        new = np.vstack([edges[:5], np.zeros((2, 60)), edges[5:9]])
        scipy.sparse.save_npz("new.npz", scipy.sparse.csr_matrix(new))
        result = run("predict", MODEL, "new.npz")
        assert result.exit_code == 0, result.output
        assert "2 rows without an edge" in result.stderr
        labels = table()["label"].to_list()
        assert table("new.labels.csv")["label"].to_list() == [*labels[:5], None, None, *labels[5:9]]


class TestLike:
    def refit(self, run, *arguments):
        result = run("fit", "new.csv", "--drop", "kind", "--like", MODEL, *arguments)
        assert result.exit_code == 0, result.output
        return result

    def test_clusters_keep_their_numbers_though_their_sizes_change(self, run, fit, blobs):
        fit()
        before = blobs.with_columns(label=table()["label"])
        # Now the last cluster is the largest.
        new = pl.concat([before, *[before.filter(pl.col("label") == 2)] * 2]).sample(
            fraction=1, shuffle=True, seed=0
        )
        new.drop("label").write_csv("new.csv")
        result = self.refit(run, "-k", 3)
        assert table("new.labels.csv")["label"].to_list() == new["label"].to_list()
        assert "cluster sizes     20 20 60" in result.stdout
        assert f"Note: all clusters are kept, with their numbers in {MODEL}\n" in result.stderr
        assert "compared with" not in result.stderr
        assert "decided afresh" not in result.stderr
        run("predict", "new.model.skops", "new.csv", "--labels", "again.csv")
        assert table("again.csv")["label"].to_list() == new["label"].to_list()

    @pytest.mark.slow
    @pytest.mark.parametrize("weights", [False, True])
    def test_the_choice_of_a_search_keeps_numbers(self, run, fit, blobs, weights):
        fit()
        before = blobs.with_columns(label=table()["label"], w=1.0)
        new = before.sort("label", descending=True)
        new.drop("label").write_csv("new.csv")
        weighted = ("--weight-column", "w") if weights else ("--drop", "w")
        result = self.refit(run, "-k", "2-4", *weighted)
        assert table("new.labels.csv")["label"].to_list() == new["label"].to_list()
        assert "compared with" not in result.stderr

    def test_a_cluster_that_is_gone(self, run, fit, blobs):
        fit()
        before = blobs.with_columns(label=table()["label"])
        new = before.filter(pl.col("label") != 0)
        new.drop("label").write_csv("new.csv")
        result = self.refit(run, "-k", 3)
        assert f"Note: the earlier cluster 0 is gone, compared with {MODEL}" in result.stderr
        assert "all clusters are kept" not in result.stderr
        found = table("new.labels.csv")["label"]
        half = (found == 0).sum()
        (source,) = new["label"].filter(found == 0).unique()
        split = f"Note: cluster 0 is split off the earlier cluster {source}, with {5 * half} % of"
        assert split in result.stderr
        changes = json.loads(Path("new.summary.json").read_text())["changes"]
        assert changes[0]["size"] == changes[0]["size_shared"] == half
        assert [(one["cluster"], one["before"], one["kind"]) for one in changes] == [
            (0, source, "split"),
            (1, 1, "kept"),
            (2, 2, "kept"),
            (None, 0, "gone"),
        ]
        # One of the two falls apart, and its larger part keeps the number.
        kept = found.to_numpy() == new["label"].to_numpy()
        assert set(found.filter(~pl.Series(kept))) == {0}
        assert set(found) == {0, 1, 2}

    def test_numbers_that_no_longer_exist(self, run, fit, blobs):
        fit()
        before = blobs.with_columns(label=table()["label"])
        new = before.filter(pl.col("label") != 0)
        new.drop("label").write_csv("new.csv")
        result = self.refit(run, "-k", 2)
        assert "Note: the earlier cluster 2 is cluster 0 now, with 100 % of its" in result.stderr
        assert table("new.labels.csv")["label"].to_list() == [
            {1: 1, 2: 0}[label] for label in new["label"]
        ]

    def test_other_columns_are_said(self, run, fit, blobs):
        fit()
        blobs.with_columns(area=1.0, more=pl.col("area") ** 2).write_csv("new.csv")
        said = self.refit(run, "-k", 3).stderr
        assert f"are not those of {MODEL}: new are 'more', left out are 'area'; --columns" in said

    @pytest.mark.parametrize(
        ("before", "after", "said"),
        [(7, 1, "no longer of 'mass'"), (1, 7, "now of 'mass'"), (7, 7, None), (1, 1, None)],
    )
    def test_other_logarithms_are_said(self, run, fit, blobs, before, after, said):
        even = np.linspace(1, 2, len(blobs))
        blobs.with_columns(mass=pl.Series(np.exp(even * before))).write_csv("data.csv")
        fit()
        blobs.with_columns(mass=pl.Series(np.exp(even * after))).write_csv("new.csv")
        notes = self.refit(run, "-k", 3).stderr
        if said is None:
            assert "logarithms are decided afresh" not in notes
        else:
            assert f"are not those of {MODEL}: {said}; their means" in notes

    def test_the_model_needs_its_columns(self, refused, fit, blobs):
        fit()
        blobs.rename({"mass": "weight"}).write_csv("new.csv")
        message = refused("fit", "new.csv", "-k", 3, "--drop", "kind", "--like", MODEL)
        assert "the model needs 'mass'" in message
