"""Data frames with columns of any type: what models, pictures and reports do with them."""

from datetime import date, timedelta
from decimal import Decimal

import matplotlib as mpl
import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.pipeline import make_pipeline
from sklearn.utils.fixes import parse_version

from kernelmeans import (
    ClusterReport,
    ClusterSearch,
    KernelPowerKMeans,
    MultiKernelPowerKMeans,
    describe,
)
from kernelmeans.plotting import draw_clusters, plot_fit
from kernelmeans.tables import TableTransformer, read_table
from kernelmeans.tables.frames import Table

N = 48
GROUP = np.arange(N) % 2
NUMBERS = {
    name: 4.0 * GROUP + np.random.default_rng(seed).normal(size=N)
    for seed, name in enumerate("abc")
}
DAYS = pd.date_range("2024-01-01", periods=N, freq="37h")
DATES = [date(2024, 1, 1) + timedelta(3 * number) for number in range(N)]


def cycled(*values):
    return [values[number % len(values)] for number in range(N)]


#: Columns that an estimator takes for numbers.
TAKEN = {
    "pandas": {
        "bool": cycled(True, False),
        "integers": pd.array(cycled(1, 2, 4), dtype="Int64"),
        "objects": pd.Series(cycled(1, 2.5, 4), dtype=object),
        "numbers as text": pd.Series(cycled("1", "2.5"), dtype=object),
        "decimals": pd.Series(cycled(Decimal("0.1"), Decimal("0.2"))),
        "categories of numbers": pd.Categorical(cycled(10, 20, 30)),
    },
    "polars": {
        "bool": pl.Series(cycled(True, False)),
        "integers": pl.Series(cycled(1, 2, 4), dtype=pl.UInt8),
        "objects": pl.Series(cycled(1, 2.5, 4), dtype=pl.Object),
        "numbers as text": pl.Series(cycled("1", "2.5")),
        "decimals": pl.Series(cycled(Decimal("0.1"), Decimal("0.2"))),
    },
}
#: Columns that it refuses, and what it says of them.
REFUSED = {
    "pandas": {
        "dates": (DAYS, r"no numbers in 'e' \(datetime64"),
        "dates in a zone": (DAYS.tz_localize("UTC"), r"no numbers in 'e' \(datetime64"),
        "dates of arrow": (pd.Series(DAYS).astype("timestamp[ns][pyarrow]"), r"\(timestamp"),
        "dates of Python": (DATES, r"no numbers in 'e' \(object\)"),
        "spans": (DAYS - DAYS[0], r"no numbers in 'e' \(timedelta"),
        "periods": (DAYS.to_period("D"), r"no numbers in 'e' \(period"),
        "bool with gaps": (pd.array(cycled(True, False, None), dtype="boolean"), "16 rows"),
        "integers with gaps": (pd.array(cycled(1, 2, None), dtype="Int64"), r"missing.*16 rows"),
        "floats with gaps": (cycled(0.5, np.nan, 1.5), r"missing values .*'e' \(16 rows\)"),
        "objects with gaps": (pd.Series(cycled(True, None), dtype=object), "24 rows"),
        "nothing": (cycled(None), r"missing values .*'e' \(48 rows\)"),
        "categories": (pd.Categorical(cycled("x", "y")), r"no numbers in 'e' \(category\)"),
        "categories with gaps": (pd.Categorical(cycled("x", None)), r"'e' \(category\)"),
        "text": (cycled("x", "y", "z"), "no numbers in 'e'"),
        "text with gaps": (pd.array(cycled("x", "y", None), dtype="string"), "no numbers in 'e'"),
        "lists": (pd.Series(cycled([1, 2], [3])), r"no numbers in 'e' \(object\)"),
        "complex": (cycled(1j, 2j), r"no numbers in 'e' \(complex128\)"),
    },
    "polars": {
        "dates": (pl.Series(DATES), r"no numbers in 'e' \(date\)"),
        "times": (pl.Series(list(DAYS.to_pydatetime())), r"no numbers in 'e' \(datetime"),
        "spans": (pl.Series(cycled(timedelta(1), timedelta(2))), r"no numbers in 'e' \(duration"),
        "bool with gaps": (pl.Series(cycled(True, False, None)), "16 rows"),
        "integers with gaps": (pl.Series(cycled(1, 2, None)), r"missing.*'e' \(16 rows\)"),
        "nothing": (pl.Series(cycled(None)), r"missing.*'e' \(48 rows\)"),
        "categories": (pl.Series(cycled("x", "y"), dtype=pl.Categorical), "no numbers in 'e'"),
        "categories with gaps": (
            pl.Series(cycled("x", None), dtype=pl.Enum(["x", "y"])),
            r"no numbers in 'e' \(enum",
        ),
        "text": (pl.Series(cycled("x", "y", "z")), r"no numbers in 'e' \(string\)"),
        "text with gaps": (pl.Series(cycled("x", "y", None)), "no numbers in 'e'"),
        "lists": (pl.Series(cycled([1, 2], [3])), r"no numbers in 'e' \(list"),
    },
}
if parse_version(pl.__version__) < parse_version("1.22"):
    del TAKEN["polars"]["objects"]  # cannot be pickled: a panic there, an error in later versions
COLUMNS = {
    (library, kind): column
    for library in ("pandas", "polars")
    for kind, column in (
        TAKEN[library] | {kind: column for kind, (column, _) in REFUSED[library].items()}
    ).items()
}


def rbf():
    return KernelPowerKMeans(2, kernel="rbf", random_state=0)


def numbers(library):
    return pd.DataFrame(NUMBERS) if library == "pandas" else pl.DataFrame(NUMBERS)


def table(library, column):
    frame = numbers(library)
    if library == "pandas":
        return frame.assign(e=column)
    return frame.with_columns(column.alias("e"))


def check_all(model, X, labels):
    """Draw, describe and report the clusters of a table."""
    ax = mpl.figure.Figure().subplots()
    draw_clusters(ax, model, X, max_points=30)
    assert ax.get_legend().texts[0].get_text() == f"0: {np.bincount(labels)[0]}"
    described = describe(model, X)
    assert [record.size for record in described.records] == np.bincount(labels).tolist()
    assert "e" in {entry.column for entry in described.entries}
    report = ClusterReport(model, X, rows=True)
    assert [one["rows"] for one in report.to_dict()["clusters"]] == np.bincount(labels).tolist()
    assert report.to_dict()["profiles"]["columns"] == 4
    assert "</html>" in report.to_html()


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_without_rows_are_refused_as_arrays_are(library):
    X = numbers(library)
    for method in (rbf().fit, rbf().fit(X).predict):
        with pytest.raises(ValueError, match=r"^Found array with 0 sample\(s\)"):
            method(X[:0])


@pytest.mark.slow
@pytest.mark.parametrize(("library", "kind"), COLUMNS)
def test_a_pipeline_takes_any_column(library, kind):
    X = table(library, COLUMNS[library, kind])
    pipeline = make_pipeline(TableTransformer(), rbf()).fit(X)
    check_all(pipeline, X, pipeline[-1].labels_)


@pytest.mark.parametrize(("library", "kind"), COLUMNS)
def test_columns_beside_those_of_the_fit_are_left_out(library, kind):
    X = table(library, COLUMNS[library, kind])
    model = rbf().fit(numbers(library))
    check_all(model, X[["c", "e", "b", "a"]], model.labels_)


@pytest.mark.parametrize(("library", "kind"), list(COLUMNS)[::4])
def test_columns_of_no_view_are_left_out(library, kind):
    X = table(library, COLUMNS[library, kind])
    kernels = [("rbf", ["a", "b"]), ("linear", ["c"])]
    model = MultiKernelPowerKMeans(2, kernels=kernels, random_state=0).fit(X)
    check_all(model, X, model.labels_)


@pytest.mark.parametrize(
    ("library", "kind"), [(library, kind) for library in TAKEN for kind in TAKEN[library]]
)
def test_an_estimator_takes_numbers_of_any_type(library, kind):
    X = table(library, TAKEN[library][kind])
    model = rbf().fit(X)
    assert model.n_features_in_ == 4
    check_all(model, X, model.labels_)


@pytest.mark.filterwarnings("ignore:X has feature names")
@pytest.mark.parametrize(
    ("library", "kind"), [(library, kind) for library in REFUSED for kind in REFUSED[library]]
)
def test_an_estimator_refuses_other_columns_in_words(library, kind):
    column, says = REFUSED[library][kind]
    X = table(library, column)
    remedy = r"Leave these columns out, or make numbers of them: kernelmeans\.tables\.TableTrans"
    with pytest.raises(ValueError, match=f"^X: .*{says}.*{remedy}"):
        rbf().fit(X)
    model = rbf().fit(np.column_stack(list(NUMBERS.values())))
    for use in (model.predict, lambda X: plot_fit(model, X), lambda X: ClusterReport(model, X)):
        with pytest.raises(ValueError, match=f"^X: .*{says}.*{remedy}"):
            use(X)
    kernels = [("rbf", ["a", "b"]), ("linear", ["e"])]
    with pytest.raises(ValueError, match=f"^X: .*{says}.*{remedy}"):
        MultiKernelPowerKMeans(2, kernels=kernels).fit(X)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_several_columns_are_refused_at_once(library):
    columns = NUMBERS | {"town": cycled("x", "y"), "day": DATES, "age": cycled(1.0, None)}
    X = pd.DataFrame(columns) if library == "pandas" else pl.DataFrame(columns)
    says = r"^X: no numbers in 'town' \(.*\), 'day' \(.*\); missing values .* in 'age' \(24 rows\)"
    with pytest.raises(ValueError, match=says):
        rbf().fit(X)


@pytest.mark.parametrize("library", [pd, pl], ids=["pandas", "polars"])
def test_a_column_of_vectors_is_to_be_stacked(library):
    vectors = np.random.default_rng(0).standard_normal((20, 3))
    X = library.DataFrame({"emb": vectors.tolist(), "town": ["x"] * 20})
    with pytest.raises(ValueError, match=r"no numbers in 'emb'.*: np\.vstack\(X\['emb'\]\)\.$"):
        rbf().fit(X)
    with pytest.raises(ValueError, match=r"Give an array of numbers, np\.vstack\(X\)\.$"):
        rbf().fit(X["emb"])
    assert_array_equal(np.vstack(X["emb"]), vectors)
    with pytest.raises(TypeError, match=r"Give an array of numbers\.$"):
        rbf().fit(iter(vectors))
    for others in ([[1.0, 2.0], [3.0]] * 10, [["a", "b"]] * 20, [[[1.0, 2.0]], 3.0] * 10):
        with pytest.raises(ValueError, match="numbers") as caught:
            rbf().fit(pd.Series(others))
        assert "vstack" not in str(caught.value)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_search_takes_any_table_too(library):
    X = table(library, COLUMNS[library, "dates"])
    search = ClusterSearch(
        make_pipeline(TableTransformer(), rbf()),
        {"kernelpowerkmeans__n_clusters": [2]},
        n_splits=2,
        random_state=0,
    ).fit(X)
    check_all(search, X, search.labels_)
    assert plot_fit(search, X).axes[0].get_title() == "2 clusters"
    with pytest.raises(ValueError, match="no numbers in 'e'"):
        ClusterSearch(rbf(), {"n_clusters": [2]}, n_splits=2).fit(X)


@pytest.mark.filterwarnings("ignore:Allowing arbitrary scalar fill_value:FutureWarning")
@pytest.mark.parametrize("types", [[bool], [bool, int]], ids=["flags", "flags and integers"])
@pytest.mark.parametrize(
    "estimator",
    [rbf(), MultiKernelPowerKMeans(2, kernels=["rbf", "linear"], random_state=0)],
    ids=["one kernel", "several"],
)
def test_sparse_columns_of_flags_are_numbers(estimator, types):
    values = np.random.default_rng(0).integers(0, 2, (N, 6))
    X = pd.DataFrame(
        {
            name: pd.arrays.SparseArray(values[:, place].astype(types[place % len(types)]))
            for place, name in enumerate("abcdef")
        }
    )
    labels = estimator.fit(X).labels_
    assert_array_equal(estimator.predict(X), labels)
    assert_array_equal(labels, estimator.fit(scipy.sparse.csr_array(values)).labels_)
    estimator.fit(pd.DataFrame(values.astype(np.float32), columns=X.columns))
    assert estimator.transform(X).dtype == np.float32


def test_a_message_names_gaps_of_sparse_columns():
    X = pd.DataFrame(np.eye(6), columns=list("abcdef")).astype(pd.SparseDtype(float, 0.0))
    X["b"] = pd.arrays.SparseArray([0, np.nan, 0, 0, np.nan, 1], fill_value=0.0)
    with pytest.raises(ValueError, match=r"^X: missing values \(NaN or None\) in 'b' \(2 rows\)"):
        rbf().fit(X)


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame])
def test_a_message_says_where_a_frame_is_infinite(kind):
    X = np.eye(6)
    X[1, 2] = np.inf
    with pytest.raises(ValueError, match=r"contains infinity .* row 1 and column 2, .* correct"):
        rbf().fit(kind(X))


def test_a_matrix_with_gaps_is_no_such_table():
    K = pd.DataFrame(np.eye(6)).rename(columns=str)
    K.iloc[1, 2] = np.nan
    with pytest.raises(ValueError, match=r"Input X contains NaN.* row 1 and column 2") as caught:
        KernelPowerKMeans(2, kernel="precomputed").fit(K)
    assert "TableTransformer" not in str(caught.value)


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@pytest.mark.parametrize("steps", [(), (TableTransformer(),)], ids=["alone", "pipeline"])
def test_rows_of_a_program_are_refused_with_a_form_that_is_taken(steps):
    frame = numbers("pandas")
    model = make_pipeline(*steps, rbf()).fit(frame)
    row, records = frame.iloc[0], frame.head(3).to_dict("records")
    with pytest.raises(ValueError, match=r"frame.iloc\[\[0\]\]" if steps else "a single row"):
        model.predict(row)
    with pytest.raises((TypeError, ValueError), match=r"pandas\.DataFrame\(X\)"):
        model.predict(records)
    assert_array_equal(model.predict(frame.iloc[[0]]), model.predict(frame)[:1])
    assert_array_equal(model.predict(pd.DataFrame(records)), model.predict(frame)[:3])


def test_infinite_numbers_are_called_so():
    with pytest.raises(ValueError, match="infinity"):
        rbf().fit(table("pandas", cycled(1.0, np.inf)))


def test_other_columns_than_those_of_the_fit_are_refused():
    model = rbf().fit(numbers("pandas"))
    with pytest.raises(ValueError, match=r"missing:\s*- c"):
        plot_fit(model, pd.DataFrame(NUMBERS)[["a", "b"]])


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_categories_of_numbers_are_categories(library):
    codes = cycled(10, 20, 30)
    X = table("pandas", pd.Categorical(codes))
    if library == "polars":
        X = table("polars", pl.Series(list(map(str, codes)), dtype=pl.Categorical))
    for model in (GROUP, make_pipeline(TableTransformer(), rbf()).fit(X), rbf().fit(X)):
        if library == "polars" and isinstance(model, KernelPowerKMeans):
            continue
        found = {entry.column: entry for entry in describe(model, X).entries}
        assert (found["e"].kind, found["e"].statistic) == ("category", "most frequent")
        assert found["e"].value in ("10", "20", "30")


def test_labels_of_pandas_with_gaps():
    labels = pd.Series(cycled(0, 1, None), dtype="Int64")
    described = describe(labels, numbers("pandas"))
    assert (described.n_unplaced, [one.size for one in described.records]) == (16, [16, 16])


def test_names_on_several_levels_are_those_of_the_file(tmp_path, rng):
    columns = pd.MultiIndex.from_product([["cost", "sales"], [2024, 2025]])
    held = pd.DataFrame(rng.normal(size=(9, 4)), list("abcdefghi"), columns).rename_axis("shop")
    held.reset_index().to_csv(tmp_path / "pivot.csv", index=False)
    with pytest.warns(UserWarning, match="taken for the names of the columns"):
        written = read_table(tmp_path / "pivot.csv")
    again = pd.read_csv(tmp_path / "pivot.csv", header=[0, 1])  # its first column is Unnamed below
    transformer = TableTransformer().fit(written)
    for table in (held, again):
        assert_allclose(transformer.transform(table), transformer.transform(written))
        assert Table(table).names[-4:] == written.columns[-4:]
    assert Table(held["cost"]).names == ["2024", "2025"]
    assert "('cost', '2024')" not in Table(written)


def test_other_columns_on_several_levels_change_no_names():
    columns = pd.MultiIndex.from_tuples([("a", "x"), ("b", "y"), ("c", "x")])
    three = pd.DataFrame(np.arange(6.0).reshape(2, 3) ** 2, columns=columns)
    for fitted, given in ((three.iloc[:, :2], three), (three, three[["c", "b", "a"]])):
        transformer = TableTransformer(scale=False).fit(fitted)
        assert_array_equal(transformer.transform(given), fitted.to_numpy())
    assert_array_equal(Table(three)["y"], three["b"]["y"])
    assert "x" not in Table(three)


def test_names_on_several_levels_that_would_be_equal_stay_apart():
    columns = pd.MultiIndex.from_tuples([("a", "b c"), ("a b", "c")])
    table = Table(pd.DataFrame([[1, 2]], columns=columns))
    assert table.names == ["('a', 'b c')", "('a b', 'c')"]
    assert Table(pd.DataFrame({"Unnamed: 0_level_1": [1]})).names == ["Unnamed: 0_level_1"]
    assert "0" not in Table(np.ones((2, 2)), names=["a", "b"])


def test_models_of_earlier_states_find_names_on_several_levels():
    held = pd.DataFrame([[1, 2]], columns=pd.MultiIndex.from_tuples([("a", "x"), ("b", "x")]))
    assert_array_equal(Table(held)["('b', 'x')"], [2])
