"""A model labels new rows as its pipeline does, and says which rows it cannot place."""

import warnings
from pathlib import Path

import dask.array
import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
import sklearn
import skops.io
from click.testing import CliRunner
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.cluster import KMeans
from sklearn.exceptions import NotFittedError
from sklearn.impute import SimpleImputer
from sklearn.neighbors import NearestNeighbors
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from kernelmeans import (
    ClusterReport,
    ClusterSearch,
    KernelKMeans,
    KernelPowerKMeans,
    MultiKernelPowerKMeans,
    describe,
    load_model,
    save_model,
)
from kernelmeans.cli.app import app
from kernelmeans.models import Model, placing
from kernelmeans.models.archive import TRUSTED_TYPES
from kernelmeans.rows import open_rows
from kernelmeans.tables import TableTransformer, read_table

rng = np.random.default_rng(0)
X = np.concatenate([rng.normal(center, 1, (40, 3)) for center in (0, 5, 10)])
NEW = np.concatenate([X[::3], *(rng.normal(center, 1, (7, 3)) for center in (0, 5, 10))])
GRAPH = (np.linalg.norm(X[:, None] - X, axis=2) < 4.5) - np.eye(len(X))
FRAME, NEW_FRAME = (pd.DataFrame(rows, columns=["a", "b", "c"]) for rows in (X, NEW))
PEOPLE = FRAME.assign(
    plan=rng.choice(["basic", "plus"], 120), code=[f"C{number:03}" for number in range(120)]
)
#: Row 3 has a word among numbers, row 4 a new category, row 5 a gap, and row 6 nothing at all.
NEW_PEOPLE = PEOPLE.iloc[::3].reset_index(drop=True).astype({"a": object})
NEW_PEOPLE.loc[3, "a"] = "?!"
NEW_PEOPLE.loc[4, "plan"] = "gold"
NEW_PEOPLE.loc[5, "b"] = None
NEW_PEOPLE.loc[6] = None
VIEWS = [("one", "rbf", ["a", "b"]), ("other", "heat", ["c"])]
RBF = KernelPowerKMeans(3, kernel="rbf", random_state=0)
HEAT = KernelPowerKMeans(3, random_state=0)
TABLE = make_pipeline(TableTransformer(), RBF)
MODELS = {
    "rows": (HEAT, X, NEW),
    "lists": (HEAT, X.tolist(), NEW.tolist()),
    "float32": (RBF, X.astype(np.float32), NEW.astype(np.float32)),
    "sparse": (RBF, scipy.sparse.csr_array(X), scipy.sparse.csr_array(NEW)),
    "matrix": (KernelKMeans(3, kernel="precomputed", random_state=0), X @ X.T, NEW @ X.T),
    "graph": (KernelPowerKMeans(3, kernel="graph", random_state=0), GRAPH, GRAPH[::4]),
    "stack": (
        MultiKernelPowerKMeans(3, kernels="precomputed", random_state=0),
        np.stack([X @ X.T, (X @ X.T) ** 2]),
        np.stack([NEW @ X.T, (NEW @ X.T) ** 2]),
    ),
    "frame": (RBF, FRAME, NEW_FRAME),
    "views": (MultiKernelPowerKMeans(3, kernels=VIEWS, random_state=0), FRAME, NEW_FRAME),
    "scaled": (make_pipeline(StandardScaler(), HEAT), FRAME, NEW_FRAME),
    "polars": (make_pipeline(StandardScaler(), RBF), pl.DataFrame(FRAME), pl.DataFrame(NEW_FRAME)),
    "table": (TABLE, PEOPLE, PEOPLE[::2]),
    "output": (
        make_pipeline(StandardScaler(), HEAT).set_output(transform="pandas"),
        FRAME,
        NEW_FRAME,
    ),
    "table of pandas": (
        make_pipeline(TableTransformer(), RBF).set_output(transform="pandas"),
        PEOPLE,
        PEOPLE[::2],
    ),
    "other of polars": (
        make_pipeline(MinMaxScaler(), HEAT).set_output(transform="polars"),
        FRAME,
        NEW_FRAME,
    ),
    "other": (make_pipeline(MinMaxScaler(), HEAT), FRAME, NEW_FRAME),
    "gaps": (make_pipeline(SimpleImputer(), HEAT), FRAME, NEW_FRAME.mask(NEW_FRAME > 9)),
}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def fitted(estimator, table):
    """A copy of an estimator, fitted, so that no test changes another's."""
    return estimator.__class__(**estimator.get_params(deep=False)).fit(table)


@pytest.fixture
def people() -> Model:
    return Model.of(TABLE.fit(PEOPLE), PEOPLE)


def assert_same(found, expected):
    for name in ("labels", "distances", "certainty", "far", "placed", "remarks"):
        assert_array_equal(getattr(found, name), getattr(expected, name), err_msg=name)


@pytest.mark.parametrize(("estimator", "table", "new"), MODELS.values(), ids=MODELS)
class TestLabels:
    def test_they_are_those_of_the_pipeline(self, estimator, table, new):
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "kernel='precomputed': k|.*do not reproduce")
            model = Model.of(estimator.fit(table), table)
            found = model.label(new)
            assert_array_equal(found.labels, model.pipeline.predict(new))
            assert_array_equal(found.labels, model.predict(new))
            distances = np.sort(model.pipeline.transform(new), axis=1)[:, :2]
        assert_allclose(found.distances, distances, rtol=1e-6)
        assert found.placed.all()
        assert not found.remarks

    def test_training_rows_have_those_of_the_fit(self, estimator, table, new):
        model = Model.of(estimator.fit(table), table)
        found, clusterer = model.label(table), model.pipeline[-1]
        assert_array_equal(found.labels, clusterer.labels_)
        assert_array_equal(found.distances, clusterer.distances_)
        assert_array_equal(found.certainty, clusterer.certainty_)

    def test_blocks_give_what_the_whole_gives(self, estimator, table, new, monkeypatch):
        model = Model.of(estimator.fit(table), table)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "kernel='precomputed': k")
            whole = model.label(new)
            monkeypatch.setattr(placing, "BLOCK_ROWS", 7)
            blocks = model.label(new)
        assert_array_equal(blocks.labels, whole.labels)
        assert_allclose(blocks.distances, whole.distances, rtol=1e-4)  # of float32
        assert_array_equal(blocks.far, whole.far)


@pytest.mark.parametrize("library", ["pandas", "polars"])
@pytest.mark.parametrize("name", ["scaled", "table", "other"])
def test_global_output_changes_no_label(name, library):
    estimator, table, new = MODELS[name]
    model = Model.of(estimator.fit(table), table)
    expected = model.label(new)
    with sklearn.config_context(transform_output=library):
        assert_same(model.label(new), expected)


@pytest.mark.parametrize("library", [pd.DataFrame, pl.from_pandas])
class TestTables:
    def table(self, library):
        # polars has no column of numbers and words: all are text.
        return library(NEW_PEOPLE.astype({"a": "str"}).replace({"a": {"None": None, "nan": None}}))

    def test_rows_that_cannot_be_placed(self, people, library):
        table = self.table(library)
        found = people.label(table)
        placeable = people.pipeline[0].inspect(table).placeable
        assert np.flatnonzero(~placeable).tolist() == [3, 6]
        assert_array_equal(found.placed, placeable)
        assert_array_equal(found.labels == -1, ~placeable)
        assert np.isnan(found.distances).all(axis=1).tolist() == (~placeable).tolist()
        assert_array_equal(np.isnan(found.certainty), ~placeable)
        assert not found.far[~placeable].any()
        some = table[placeable] if library is pd.DataFrame else table.filter(placeable)
        with pytest.warns(UserWarning, match="'plan'.*new to the model, such as 'gold'"):
            assert_array_equal(found.labels[placeable], people.pipeline.predict(some))

    def test_what_the_model_does_not_know(self, people, library, monkeypatch):
        remarks = [
            "column 'plan': 1 row with values new to the model, such as 'gold', count as none of "
            "its categories",
            "1 missing value of 'b' filled from rows of the fit",
            "1 row without a label: no finite number in 'a' "
            "('?!' in row 3), the first data row being 0",
            "1 row without a value in any column that is used: no label",
        ]
        whole = people.label(self.table(library))
        assert whole.remarks == remarks
        monkeypatch.setattr(placing, "BLOCK_ROWS", 2)
        blocks = people.label(self.table(library))
        assert_array_equal(blocks.labels, whole.labels)
        assert blocks.remarks == remarks

    def test_descriptions_leave_rows_without_a_label_out(self, people, library):
        table = self.table(library)
        assert describe(people.label(table).labels, table).n_unplaced == 2

    def test_the_command_line_writes_the_same(self, people, library):
        table = self.table(library)
        people.save("some.model.skops")
        (table if library is not pd.DataFrame else pl.from_pandas(table)).write_csv("new.csv")
        result = CliRunner().invoke(app, ["predict", "some.model.skops", "new.csv"])
        assert result.exit_code == 0, result.output
        written, found = pl.read_csv("new.labels.csv"), people.label("new.csv")
        assert_array_equal(written["label"].fill_null(-1), found.labels)
        assert_array_equal(written["far"].fill_null(False), found.far)
        for name, values in {
            "distance": found.distances[:, 0],
            "second_distance": found.distances[:, 1],
            "membership": found.certainty,
        }.items():
            assert_allclose(written[name].fill_null(np.nan), values, rtol=1e-5)
        for remark in found.remarks:
            assert f"Note: {remark}" in result.stderr
        assert_array_equal(found.labels, people.label(table).labels)


def test_arrays_with_gaps():
    rows = NEW.copy()
    rows[[2, 5]] = [np.nan, 1, 1], [1, np.inf, 1]
    found = Model.of(RBF.fit(X)).label(rows)
    assert np.flatnonzero(found.labels == -1).tolist() == [2, 5]
    assert_array_equal(found.labels[found.placed], RBF.predict(rows[found.placed]))
    assert found.remarks == ["2 rows without a label: no finite number in a column that needs one"]


def test_rows_of_a_graph_without_edges():
    model = Model.of(KernelPowerKMeans(3, kernel="graph", random_state=0).fit(GRAPH))
    new = scipy.sparse.csr_array(np.vstack([GRAPH[:3], np.zeros((1, 120)), GRAPH[3:5]]))
    found = model.label(new)
    assert_array_equal(found.labels, np.insert(model.pipeline[-1].labels_[:5], 3, -1))
    assert found.remarks == ["1 row without an edge to a row of the fit: no label"]


def test_a_model_of_many_columns_has_a_short_repr():
    few = Model.of(RBF.fit(X))
    assert f"columns={few.columns}, dtype='float64', reading=None" in repr(few)
    columns = [f"gene {number}" for number in range(3000)]
    many = repr(Model(few.pipeline, columns, "float64"))
    assert "KernelPowerKMeans(" in many
    assert "columns=['gene 0', 'gene 1', " in many
    assert "far=None" in many
    assert len(many) < 2000


def test_rows_without_direction_are_counted_in_all_blocks(monkeypatch):
    monkeypatch.setattr(placing, "BLOCK_ROWS", 4)
    model = Model.of(KernelPowerKMeans(3, metric="cosine", random_state=0).fit(X))
    new = X[:10].copy()
    new[[1, 2, 9]], new[4] = 0, np.nan
    (said, unplaced) = model.label(new).remarks[::-1]
    assert said.startswith("3 of 9 rows are zero and have no direction. metric='cosine' finds")
    assert unplaced.startswith("1 row without a label")
    assert not model.label(X[:10]).remarks


@pytest.mark.parametrize("name", ["rows", "sparse", "stack", "scaled", "polars", "table", "other"])
def test_a_table_without_rows(name):
    estimator, table, new = MODELS[name]
    found = Model.of(estimator.fit(table), table).label(new[:, :0] if name == "stack" else new[:0])
    assert found.labels.shape == found.certainty.shape == found.far.shape == (0,)
    assert found.distances.shape == (0, 2)
    assert found.labels.dtype == estimator.predict(new).dtype
    assert not found.remarks


def test_no_row_that_can_be_placed(people):
    found = people.label(pd.DataFrame({"a": ["x", "y"], "b": 1.0, "c": 1.0, "plan": "basic"}))
    assert found.labels.tolist() == [-1, -1]
    assert found.far.tolist() == [False, False]


class TestColumns:
    def test_they_are_found_by_name(self):
        for estimator in (RBF, make_pipeline(StandardScaler(), RBF)):
            model = Model.of(estimator.fit(FRAME))
            other = NEW_FRAME[["c", "a", "b"]].assign(more="text")
            expected = estimator.predict(NEW_FRAME)
            assert_array_equal(model.label(other).labels, expected)
            assert_array_equal(model.label(pl.from_pandas(other)).labels, expected)
            assert_array_equal(model.label(NEW).labels, expected)

    def test_blanks_in_their_names_do_not_count(self):
        model = Model.of(
            make_pipeline(StandardScaler(), RBF).fit(FRAME.rename(columns={"b": "b  b "}))
        )
        expected = model.label(NEW).labels
        for name in ("b b", " b b", "b\xa0b"):
            assert_array_equal(model.label(NEW_FRAME.rename(columns={"b": name})).labels, expected)

    def test_a_missing_one_is_named(self):
        model = Model.of(RBF.fit(FRAME))
        with pytest.raises(ValueError, match=r"^table: the model needs 'b', .* rename 'B' to 'b'"):
            model.label(NEW_FRAME.rename(columns={"b": "B"}))

    def test_one_that_is_like_several_missing_ones_is_none_of_them(self):
        samples = FRAME.set_axis(["S9_001", "S9_002", "S9_003"], axis=1)
        model = Model.of(RBF.fit(samples))
        with pytest.raises(ValueError, match="give the columns the names of the fit"):
            model.label(NEW_FRAME.set_axis(["S8_001", "x", "y"], axis=1))

    def test_numbers_of_columns_are_like_no_name(self):
        model = Model.of(RBF.fit(FRAME.set_axis(["0", "1", "2"], axis=1)))
        with pytest.raises(ValueError, match="give the columns the names of the fit"):
            model.label(NEW_FRAME.set_axis(["P1", "P2", "P3"], axis=1))

    def test_too_few(self):
        with pytest.raises(ValueError, match="2 features"):
            Model.of(RBF.fit(X)).label(NEW[:, :2])


class TestRowsOnDisk:
    @pytest.mark.parametrize(
        "opened",
        [
            lambda: open_rows("new.npy"),
            lambda: np.load("new.npy", mmap_mode="r"),
            lambda: open_rows("new.parquet"),
            lambda: pl.scan_parquet("new.parquet"),
            lambda: dask.array.from_array(NEW, chunks=(13, 3)),
            lambda: "new.npy",
            lambda: Path("new.parquet"),
        ],
        ids=["npy", "memmap", "parquet", "lazy", "dask", "npy path", "parquet path"],
    )
    def test_they_are_read_block_by_block(self, opened):
        np.save("new.npy", NEW)
        pl.from_pandas(NEW_FRAME[["c", "a", "b"]]).write_parquet("new.parquet")
        model = Model.of(make_pipeline(StandardScaler(), HEAT).fit(FRAME), FRAME)
        assert_same(model.label(opened()), model.label(NEW_FRAME))

    def test_arrays_for_a_table_of_numbers(self):
        np.save("new.npy", NEW)
        model = Model.of(make_pipeline(TableTransformer(), RBF).fit(X), X)
        expected = model.pipeline.predict(NEW)
        for new in (NEW, open_rows("new.npy"), "new.npy"):
            assert_array_equal(model.label(new).labels, expected)


class TestFar:
    def test_from_the_centroid(self):
        model = Model.of(RBF.fit(X), X)
        limit = np.sort(RBF.distances_[:, 0])[int(np.ceil(0.99 * 120)) - 1]
        assert model.far == pytest.approx(limit, rel=1e-3)
        with pytest.warns(UserWarning, match="far from all that the model has seen: 2 of 3 rows"):
            found = model.label([X[0], [50, 50, 50], [-30, 0, 0]])
        assert found.far.tolist() == [False, True, True]
        with warnings.catch_warnings():  # of one row, as a service asks, one in a hundred is far
            warnings.simplefilter("error")
            assert model.label([[50, 50, 50]]).far.tolist() == [True]

    def test_from_the_nearest_row_with_a_heat_kernel(self):
        model = Model.of(make_pipeline(StandardScaler(), HEAT).fit(X), X)
        Z = StandardScaler().fit(X)
        search = NearestNeighbors(n_neighbors=1).fit(Z.transform(X))
        limit = np.sort(search.kneighbors()[0][:, 0])[int(np.ceil(0.99 * 120)) - 1]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = model.label(4 * NEW)
        away = search.kneighbors(Z.transform(4 * NEW))[0][:, 0]
        assert_array_equal(found.far, away > 1.001 * limit)
        assert 0 < found.far.sum() < len(NEW)

    def test_weights_are_rows(self):
        weights = rng.integers(1, 4, 120)
        once = Model.of(RBF.fit(X, sample_weight=weights), X, sample_weight=weights)
        twice = np.repeat(once.pipeline[-1].distances_[:, 0], weights)
        expected = np.sort(twice)[int(np.ceil(0.99 * weights.sum())) - 1]
        assert once.far == pytest.approx(expected, rel=1e-3)

    def test_without_the_rows_of_the_fit(self):
        assert Model.of(RBF.fit(X)).label(NEW).far is None

    def test_other_rows_than_those_of_the_fit(self):
        with pytest.raises(ValueError, match=r"^X has 60 rows, but .* fitted to 120"):
            Model.of(RBF.fit(X), X[:60])

    def test_the_command_line_knows_the_same(self):
        FRAME.to_csv("data.csv", index=False)
        result = CliRunner().invoke(app, ["fit", "data.csv", "-k", "3", "--seed", "0"])
        assert result.exit_code == 0, result.output
        found = load_model("data.model.skops")
        ours = Model.of(make_pipeline(TableTransformer(), HEAT).fit(FRAME), FRAME)
        assert found.far == pytest.approx(ours.far, rel=1e-9)
        assert_array_equal(found.label(FRAME).labels, ours.label(FRAME).labels)


def test_earlier_labels_of_a_model_are_those_of_a_fit():
    """A row that the earlier model cannot place has no earlier cluster."""
    earlier = Model.of(fitted(RBF, FRAME))
    rows = FRAME[::-1].copy()
    rows.iloc[:6, 0] = np.nan
    found = make_pipeline(TableTransformer(), KernelPowerKMeans(3, random_state=5))
    labels = earlier.label(rows).labels
    found.fit(rows, kernelpowerkmeans__like=labels)
    assert_array_equal(labels[:6], -1)
    assert_array_equal(found.predict(rows)[6:], earlier.pipeline.predict(FRAME)[::-1][6:])
    assert [(one.cluster, one.before, one.kind) for one in found[-1].changes_] == [
        (0, 0, "kept"),
        (1, 1, "kept"),
        (2, 2, "kept"),
    ]


class TestFiles:
    @pytest.mark.parametrize("name", sorted(MODELS.keys() - {"other", "other of polars", "gaps"}))
    def test_a_model_that_is_saved_labels_the_same(self, name):
        estimator, table, new = MODELS[name]
        model = Model.of(estimator.fit(table), table)
        model.save("some.model.skops")
        again = load_model("some.model.skops")
        assert again.columns == model.columns
        assert again.far == model.far
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "kernel='precomputed': k")
            assert_same(again.label(new), model.label(new))
        save_model(again, "again.model.skops")
        assert load_model("again.model.skops").far == model.far

    @pytest.mark.parametrize("of_rows", [False, True])
    def test_parts_that_do_not_fit_together_are_refused_at_once(self, of_rows):
        model = Model.of(fitted(RBF, X) if of_rows else make_pipeline(StandardScaler(), RBF).fit(X))
        model.save("some.model.skops")
        content = skops.io.load("some.model.skops", trusted=list(TRUSTED_TYPES))
        if of_rows:
            content["pipeline"][-1]._predictor.X = np.ascontiguousarray(X[:, :2])
        else:
            content["pipeline"][0].mean_ = content["pipeline"][0].mean_[:2]
        skops.io.dump(content, "some.model.skops")
        with pytest.raises(ValueError, match=r"some.model.skops: the model is damaged"):
            load_model("some.model.skops")

    def test_a_model_of_the_command_line_reads_files_as_its_fit_did(self):
        text = FRAME.map("{:.6f}".format).to_csv(sep=";", index=False).replace(".", ",")
        Path("data.csv").write_text(text)
        result = CliRunner().invoke(app, ["fit", "data.csv", "-k", "3", "--decimal", ","])
        assert result.exit_code == 0, result.output
        written = pl.read_csv("data.labels.csv")["label"]
        assert_array_equal(load_model("data.model.skops").label("data.csv").labels, written)


class TestOf:
    def test_what_is_no_estimator_of_the_package(self):
        with pytest.raises(TypeError, match="estimator=KMeans should be an estimator of kernel"):
            Model.of(make_pipeline(StandardScaler(), KMeans(3)).fit(X))
        with pytest.raises(NotFittedError):
            Model.of(KernelPowerKMeans(3))

    def test_the_pipeline_is_the_one_that_was_fitted(self):
        pipeline = make_pipeline(StandardScaler(), RBF).fit(X)
        assert Model.of(pipeline).pipeline is pipeline

    def test_a_search_is_its_best_estimator(self):
        grid = {"n_clusters": [2, 3]}
        search = ClusterSearch(KernelKMeans(kernel="rbf"), grid, n_splits=3, random_state=0)
        search.fit(X)
        model = Model.of(search, X)
        assert model.pipeline[-1] is search.best_estimator_
        assert_array_equal(model.label(NEW).labels, search.predict(NEW))


def test_descriptions_and_reports_are_those_of_the_pipeline(people):
    assert str(people.describe(PEOPLE)) == str(describe(people.pipeline, PEOPLE))
    expected = ClusterReport(people.pipeline, PEOPLE, title="Ours").verdict
    assert people.report(PEOPLE, title="Ours").verdict == expected


@pytest.mark.filterwarnings("ignore:.*columns without a name")
def test_the_second_of_two_equal_names_has_two_names(tmp_path, rng):
    """`read_table` calls it x_2, and pandas x.1."""
    path = tmp_path / "twice.csv"
    numbers = 9 * (np.arange(60) % 2)[:, None] + rng.normal(size=(60, 3))
    np.savetxt(path, numbers, delimiter=",", header="x,x,x", comments="", fmt="%.3f")
    ours, theirs = read_table(path), pd.read_csv(path)
    assert (ours.columns, [*theirs]) == (["x", "x_2", "x_3"], ["x", "x.1", "x.2"])
    for table in (ours, theirs):
        pipeline = make_pipeline(TableTransformer(), KernelPowerKMeans(2, random_state=0))
        model = Model.of(pipeline.fit(table), table)
        for new in (ours, theirs, path):
            np.testing.assert_array_equal(model.label(new).labels, pipeline[-1].labels_)
