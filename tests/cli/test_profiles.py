"""What `fit` says of its clusters is what `kernelmeans.describe` says."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import scipy.sparse
from polars.testing import assert_frame_equal

from kernelmeans import describe


def written(stem="data"):
    return pl.read_csv(f"{stem}.clusters.csv", infer_schema_length=None)


def expected(labels, frame, **more):
    return describe(labels, frame, **more).columns.fill_nan(None)


def same(found, wanted):
    """Whether a file holds a frame; text of numbers alone comes back as numbers."""
    text = [name for name, kind in wanted.schema.items() if kind == pl.String]
    assert_frame_equal(found.with_columns(pl.col(text).cast(pl.String)), wanted, check_dtypes=False)


@pytest.fixture
def mixed(folder, blobs):
    """A table with text, a category, missing values and weights."""
    rng = np.random.default_rng(0)
    frame = blobs.with_columns(
        plan=pl.Series(rng.choice(["basic", "plus"], 60)),
        gaps=pl.Series(np.where(np.arange(60) % 12, rng.normal(size=60), np.nan)).fill_nan(None),
        weight=pl.Series(rng.integers(1, 4, 60)),
        note=pl.Series([f"told me {number} things" for number in range(60)]),
    )
    frame.write_csv("data.csv")
    return frame


def test_all_columns_are_described_used_or_not(run, mixed):
    assert run("fit", "data.csv", "-k", 3, "--label-column", "kind").exit_code == 0
    labels = pl.read_csv("data.labels.csv")["label"]
    is_label = pl.col("column") == "kind"
    kind = pl.when(is_label).then(pl.lit("label")).otherwise("kind").alias("kind")
    same(written(), expected(labels, mixed).with_columns(kind))
    assert set(written()["column"]) == {*mixed.columns, "gaps is missing"}


def test_true_and_false_are_told_in_words(run, mixed):
    big = np.where(mixed["kind"] == "ant", "true", "false").tolist()
    mixed.with_columns(big=pl.Series([None, *big[1:]])).write_csv("data.csv")
    result = run("fit", "data.csv", "-k", 3)
    assert "True" not in result.stdout
    assert result.stdout.count("in 3 clusters") == 1
    found = written().filter(column="big")
    assert set(found["value"]) == {"yes", "no"}


def test_given_labels_are_categories_whatever_they_are_called(run, mixed):
    codes = mixed["kind"].replace_strict({"ant": 7, "bee": 8, "cat": 10})
    mixed.with_columns(kind=codes).write_csv("data.csv")
    result = run("fit", "data.csv", "-k", 3, "--label-column", "kind")
    labels = pl.read_csv("data.labels.csv")["label"].to_numpy()
    found = written().filter(column="kind")
    assert found["kind"].unique().to_list() == ["label"]
    for cluster, value, number in found.select("cluster", "value", "number").iter_rows():
        values, counts = np.unique(codes.to_numpy()[labels == cluster], return_counts=True)
        assert value == str(values[counts.argmax()])
        assert number == pytest.approx(counts.max() / counts.sum())
        assert f"kind (label)  {value} {100 * number:.0f} %" in result.stdout


def test_columns_taken_for_categories_are_described_as_such(run, mixed):
    codes = mixed["kind"].replace_strict({"ant": 107, "bee": 108, "cat": 110})
    mixed.drop("kind").with_columns(code=codes).write_csv("data.csv")
    run("fit", "data.csv", "-k", 3, "--categorical", "code", "--report")
    assert set(written().filter(column="code")["statistic"]) == {"most frequent"}
    page = Path("data.report.html").read_text()
    assert all(f"<bdi>{code}</bdi><br>100" in page for code in (107, 108, 110))


def test_weights_count(run, mixed):
    run("fit", "data.csv", "-k", 3, "--weight-column", "weight", "--drop", "kind")
    labels = pl.read_csv("data.labels.csv")["label"]
    same(written(), expected(labels, mixed, sample_weight=mixed["weight"].to_numpy()))


def test_terminal_and_summary_tell_three_columns(run, mixed):
    result = run("fit", "data.csv", "-k", 3, "--kernel", "rbf")
    labels = pl.read_csv("data.labels.csv")["label"]
    described = describe(labels, mixed)
    found = json.loads(Path("data.summary.json").read_text())["profiles"]
    for cluster, profile in enumerate(found):
        top = [entry.column for entry in described.top(cluster, 3)]
        assert [one["column"] for one in profile["columns"]] == top
        assert len(profile["typical_rows"]) == 3
        size = described.records[cluster].size
        block = result.stdout.split(f"Cluster {cluster}: {size} rows")[1].split("Cluster")[0]
        assert [line.split()[0] for line in block.splitlines()[1:4]] == top
    assert all(len(line) <= 80 for line in result.stdout.splitlines())


@pytest.mark.parametrize("options", [[], ["--missing", "drop"]])
def test_rows_are_called_by_their_identifiers(run, mixed, options):
    mixed.with_columns(code=pl.Series([f"K{row}" for row in range(60)])).write_csv("named.csv")
    named = ["--kernel", "rbf", "--id-column", "code"]
    result = run("fit", "named.csv", "-k", 3, *named, *options)
    assert result.exit_code == 0, result.output
    labels = dict(pl.read_csv("named.labels.csv").select("code", "label").iter_rows())
    for profile in json.loads(Path("named.summary.json").read_text())["profiles"]:
        assert {labels[name] for name in profile["typical_rows"]} == {profile["cluster"]}
        assert f"typical rows {', '.join(profile['typical_rows'])}" in result.stdout


def test_a_column_that_names_the_rows_describes_no_cluster(run, mixed):
    mixed.write_csv("named.csv")
    result = run("fit", "named.csv", "-k", 3, "--id-column", "kind", "--report")
    assert result.exit_code == 0, result.output
    assert "kind" not in pl.read_csv("named.clusters.csv")["column"].to_list()
    assert "<bdi>kind</bdi>" not in Path("named.report.html").read_text()


def test_rows_that_are_dropped_belong_to_no_cluster(run, mixed):
    result = run(
        "fit", "data.csv", "-k", 3, "--missing", "drop", "--drop", "kind", "--kernel", "rbf"
    )
    assert result.exit_code == 0, result.output
    assert "left out: 5 rows without a cluster" in result.stdout
    labels = np.full(60, -1)
    kept = mixed["gaps"].is_not_null().to_numpy()
    labels[kept] = pl.read_csv("data.labels.csv")["label"].drop_nulls()
    same(written(), expected(labels, mixed))
    # Rows are counted in the file.
    for profile in json.loads(Path("data.summary.json").read_text())["profiles"]:
        assert set(labels[profile["typical_rows"]]) == {profile["cluster"]}


def test_the_file_may_have_another_name(run, data):
    run("fit", data, "-k", 3, "--label-column", "kind", "--profiles", "what.csv")
    assert Path("what.csv").exists()
    assert not Path("data.clusters.csv").exists()


@pytest.mark.parametrize("form", ["matrix", "sparse", "on disk"])
def test_columns_that_are_none_are_not_described(run, folder, blobs, form):
    X = blobs.select("length", "mass", "area").to_numpy()
    if form == "matrix":
        np.save("data.npy", X @ X.T)
        result = run("fit", "data.npy", "-k", 3, "--kernel", "precomputed")
    elif form == "sparse":
        scipy.sparse.save_npz("data.npz", scipy.sparse.csr_matrix(X))
        result = run("fit", "data.npz", "-k", 3)
    else:
        np.save("data.npy", X)
        result = run("fit", "data.npy", "-k", 3, "--profiles", "what.csv")
        assert "Note: what.csv is not written" in result.stderr
    assert result.exit_code == 0, result.output
    assert "Cluster 0" not in result.stdout
    assert not Path("data.clusters.csv").exists()
    summary = json.loads(Path("data.summary.json").read_text())
    assert "profiles" not in summary
    assert "profiles" not in summary["files"]


def test_a_flag_that_halves_clusters_is_remarked_upon(run, folder):
    rng = np.random.default_rng(0)
    frame = pl.DataFrame(10.0 * (np.arange(400) // 200)[:, None] + rng.normal(size=(400, 4)))
    member = pl.Series(np.where(np.arange(400) % 2, "yes", "no"))
    frame.with_columns(member=member).write_csv("data.csv")
    result = run("fit", "data.csv", "-k", 4, "--kernel", "rbf", "--report")
    words = " ".join(result.stdout.split())
    assert "differ in member, and hardly in other columns. If member is not to count" in words
    assert "leave it out: --drop member" in words
    pairs = json.loads(Path("data.summary.json").read_text())["alike"]
    assert [one["column"] for one in pairs] == ["member"] * 2
    assert "differ in member, and hardly" in Path("data.report.html").read_text()
    assert "alone" not in run("fit", "data.csv", "-k", 2, "--drop", "member", "--force").stdout


def test_texts_show_what_a_cluster_is(run, folder, rng):
    """A table of texts and an embedding, as people export it."""
    group = np.repeat([0, 1], 60)
    words = np.array([["goal", "league", "coach"], ["orbit", "comet", "probe"]])
    frame = pl.DataFrame(
        {
            "key": [f"k-{row:03d}" for row in range(120)],
            "title": [f"the {words[one][row % 3]} of {row}" for row, one in enumerate(group)],
            **{f"e{i}": group * (i < 9) + rng.normal(0, 0.2, 120) for i in range(64)},
        }
    )
    frame.write_csv("data.csv")
    options = "fit", "data.csv", "-k", 2, "--kernel", "rbf", "--id-column", "key", "--report"
    result = run(*options)
    assert result.exit_code == 0, result.stderr
    assert "Not shown: e0 to e63" in result.stdout
    titles = dict(zip(frame["key"], frame["title"], strict=True))
    profiles = json.loads(Path("data.summary.json").read_text())["profiles"]
    assert {tuple(sorted(one["words"])) for one in profiles} == {
        ("coach", "goal", "league"),
        ("comet", "orbit", "probe"),
    }
    for one in profiles:
        assert f"words {', '.join(one['words'])}\n" in result.stdout
        assert one["columns"] == []
        for row, text in zip(one["typical_rows"], one["typical_texts"], strict=True):
            assert text == titles[row]
            assert f"    {row}: {text}\n" in result.stdout
    assert set(written()["column"]) == set(frame.columns) - {"key"}
    page = Path("data.report.html").read_text("utf-8")
    assert not any(word in page for word in ("goal", "orbit", "k-0"))
    assert run(*options, "--rows", "--force").exit_code == 0
    page = Path("data.report.html").read_text("utf-8")
    for one in profiles:
        assert ", ".join(one["words"]) in page
        assert all(text in page for text in one["typical_texts"])
