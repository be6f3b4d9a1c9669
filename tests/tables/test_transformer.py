"""Numbers made of tables, compared with transformers of scikit-learn that are chosen by hand."""

import json
import pickle
import re
import warnings
from datetime import datetime, timedelta

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.datasets import make_blobs
from sklearn.impute import MissingIndicator
from sklearn.metrics import adjusted_rand_score, pairwise_distances
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from kernelmeans import ClusterSearch, KernelKMeans, KernelPowerKMeans, describe
from kernelmeans.tables import Column, TableTransformer
from kernelmeans.tables import transformer as module
from kernelmeans.tables.numerals import number_of
from kernelmeans.tables.values import read_column

# In tables of a single column a gap is a whole row.
pytestmark = [
    pytest.mark.filterwarnings("ignore:X. .* without a value in any column"),
    pytest.mark.filterwarnings("ignore:X. .* with values new to the model"),
]
N = 300


def table(seed=0, n=N):
    """A table of every kind of column; `age`, `rating` and `region` have missing values."""
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 2, n)
    rating = 3.0 * group + rng.normal(size=n)
    rating[rng.permutation(n)[: n // 5]] = np.nan
    age = 40 + 10.0 * group + rng.normal(size=n)
    age[rng.permutation(n)[: n // 50]] = np.nan
    region = np.array(["north", "south", "east"], dtype=object)[
        np.where(rng.random(n) < 0.8, group, 2)
    ]
    region[rng.permutation(n)[:20]] = None
    return pd.DataFrame(
        {
            "row": np.arange(n),
            "id": [f"C{number:05d}" for number in rng.permutation(n)],
            "age": age,
            "rating": rating,
            "age again": age,
            "region": region,
            "member": rng.permutation(np.where(group, "yes", "no")),
            "since": pd.to_datetime("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, n), "D"),
            "remark": [f"remark {number} of a customer" for number in range(n)],
            "currency": "EUR",
        }
    )


def polars_of(frame):
    return pl.from_pandas(frame)


def kinds(transformer):
    return {column.name: (column.kind, column.used) for column in transformer.columns_}


def test_decisions():
    transformer = TableTransformer().fit(table())
    assert kinds(transformer) == {
        "row": ("counter", False),
        "id": ("identifier", False),
        "age": ("number", True),
        "rating": ("number", True),
        "age again": ("duplicate", False),
        "region": ("category", True),
        "member": ("flag", True),
        "since": ("date", False),
        "remark": ("text", False),
        "currency": ("constant", False),
    }
    columns = {column.name: column for column in transformer.columns_}
    assert columns["rating"] == Column("rating", "number", True, "", N // 5, None, True)
    assert columns["age"].n_missing == N // 50
    assert not columns["age"].has_indicator
    assert columns["region"].n_values == 4
    assert columns["age again"].reason == "as 'age'"
    assert transformer.get_feature_names_out().tolist() == [
        *["age", "rating", "rating is missing"],
        *["region=east", "region=north", "region=south", "region=missing", "member"],
    ]


def test_unscaled_numbers_are_those_of_scikit_learn():
    frame = table()
    plain = frame.assign(
        member=(frame["member"] == "yes").astype(float), region=frame["region"].fillna("~")
    )
    expected = make_column_transformer(
        ("passthrough", ["age", "rating"]),
        (MissingIndicator(), ["rating"]),
        (OneHotEncoder(sparse_output=False), ["region"]),
        ("passthrough", ["member"]),
    ).fit_transform(plain)
    Z = TableTransformer(scale=False).fit_transform(frame)
    known = ~np.isnan(expected)
    assert not known.all()
    np.testing.assert_array_equal(Z[known], expected[known])
    assert np.isfinite(Z).all()


def test_numbers_are_scaled_as_by_scikit_learn_with_weights_too():
    frame = table()[["age", "rating"]].assign(rating=lambda frame: frame["rating"].fillna(3.0))
    weights = np.random.default_rng(1).random(N)
    for given in (None, weights):
        expected = StandardScaler().fit(frame, sample_weight=given).transform(frame)
        known = ~np.isnan(expected)
        Z = TableTransformer().fit_transform(frame, sample_weight=given)
        np.testing.assert_allclose(Z[known], expected[known], rtol=1e-12)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_global_output_is_for_the_result_alone(library):
    frame, prepare = table(), TableTransformer()
    expected, names = prepare.fit_transform(frame), prepare.get_feature_names_out().tolist()
    with sklearn.config_context(transform_output=library):
        found = prepare.fit_transform(frame)
        again = prepare.transform(frame)
    for one in (found, again):
        assert type(one).__module__.split(".")[0] == library
        assert list(one.columns) == names
        np.testing.assert_array_equal(one, expected)


@pytest.mark.parametrize("weights", [None, np.random.default_rng(2).random(N)])
def test_numbers_have_unit_variance(weights):
    frame = table()
    Z = TableTransformer().fit_transform(frame, sample_weight=weights)
    numbers = np.ma.array(Z[:, :2], mask=frame[["age", "rating"]].isna())
    mean = np.ma.average(numbers, axis=0, weights=weights)
    variance = np.ma.average((numbers - mean) ** 2, axis=0, weights=weights)
    np.testing.assert_allclose(mean, 0, atol=1e-12)
    np.testing.assert_allclose(variance, 1)
    # Gaps lie 0.5 from other values.
    lacking = np.average(np.isnan(frame["rating"]), weights=weights)
    np.testing.assert_allclose(np.average(Z[:, 2], weights=weights), 0, atol=1e-12)
    variance = np.average(Z[:, 2] ** 2, weights=weights)
    np.testing.assert_allclose(variance, lacking * (1 - lacking) / 4)


@pytest.mark.parametrize("region", [["a", "b", None] * 20, ["a", "b", "b"] * 20])
def test_rows_without_values_are_not_placeable(region):
    table = pl.DataFrame({"age": [1.5, 2.5, 4.5] * 20, "region": region, "id": range(60)})
    prepare = TableTransformer(drop=["id"]).fit(table)
    rows = pl.DataFrame({"age": [1.5, None, None], "region": [None, "c", None]})
    found = prepare.inspect(rows)
    assert found.placeable.tolist() == [True, True, False]
    assert found.n_empty == 1
    assert np.isfinite(prepare.transform(rows)).all()


@pytest.mark.parametrize("library", ["pandas", "polars", "array"])
def test_rows_without_values_are_told_once_in_a_fit(library):
    table = {"age": [1.5, 2.5, None, 4.5] * 15, "rating": [1.0, None, None, 2.0] * 15}
    frame = pd.DataFrame(table) if library == "pandas" else pl.DataFrame(table)
    X = frame.to_numpy() if library == "array" else frame
    prepare, model = TableTransformer(), KernelKMeans(2, random_state=0)
    row = "row 2" if library == "pandas" else "row 2, the first data row being 0"
    taken = "X.filter" if library == "polars" else "X"
    says = f"X: 15 rows without a value in any column that is used ({row})"
    with pytest.warns(UserWarning, match="Leave such rows out") as caught:
        make_pipeline(prepare, model).fit(X)
    assert [warning.filename for warning in caught] == [__file__]
    said = str(caught[0].message)
    assert said.startswith(says)
    assert f"Leave such rows out: {taken}" in said
    # The way out, as it is written.
    code = said.split("rows out: ")[1].split(", where")[0]
    kept = eval(code, {"X": X, "prepare": prepare})
    assert len(kept) == 45
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        make_pipeline(TableTransformer(), model).fit(kept)
        TableTransformer(missing="drop").fit(X)


def test_gaps_in_the_same_rows_are_told_once():
    rng = np.random.default_rng(0)
    numbers = rng.normal(size=(100, 3))
    numbers[:30, :2] = np.nan
    numbers[5:35, 2] = np.nan
    frame = pd.DataFrame(numbers, columns=["calls", "visits", "age"])
    names = TableTransformer().fit(frame).get_feature_names_out().tolist()
    assert names == ["calls", "calls is missing", "visits", "age", "age is missing"]


@pytest.mark.parametrize("missing", [0.1, 0.3, 0.6])
def test_gaps_that_say_nothing_do_not_make_clusters(missing):
    X, y = make_blobs(400, n_features=6, centers=3, cluster_std=2.0, random_state=3)
    X[np.random.default_rng(0).random(400) < missing, 2] = np.nan
    model = make_pipeline(TableTransformer(), KernelPowerKMeans(3, random_state=0))
    assert adjusted_rand_score(y, model.fit_predict(X)) > 0.9


@pytest.mark.parametrize("words", [("yes", "no"), (True, False)])
@pytest.mark.parametrize("rare", [1, 30])
def test_two_values_are_as_far_apart_as_two_rows_in_a_number(words, rare):
    frame = pd.DataFrame(
        {
            "age": np.random.default_rng(0).normal(40, 9, 200),
            "member": np.where(np.arange(200) < rare, *words),
            "region": np.array(["a", "b", "c"])[np.digitize(np.arange(200), [rare, 100])],
        }
    )
    Z = TableTransformer().fit_transform(frame)
    apart = pairwise_distances(Z[:, :1], metric="sqeuclidean").mean()
    assert apart == pytest.approx(2)
    for columns, name in ((slice(1, 2), "member"), (slice(2, 5), "region")):
        differs = frame[name].to_numpy()[:, None] != frame[name].to_numpy()
        squared = pairwise_distances(Z[:, columns], metric="sqeuclidean")
        np.testing.assert_allclose(squared, 2.0 * differs, atol=1e-12)


def test_categories_of_two_values_are_as_far_apart_as_flags():
    frame = pd.DataFrame(
        {
            "a": ["f", "m", "f", "f", "m", "f", "f", "f"],
            "b": ["no", "yes", *["no"] * 2, "yes", *["no"] * 3],
        }
    )
    Z = TableTransformer(columns=["*", "b"]).fit_transform(frame)
    np.testing.assert_allclose(np.linalg.norm(Z[0, :2] - Z[1, :2]), abs(Z[0, 2] - Z[1, 2]))


def test_polars_pandas_and_arrays_agree():
    frame = table()
    Z = TableTransformer().fit_transform(frame)
    np.testing.assert_array_equal(TableTransformer().fit_transform(polars_of(frame)), Z)
    array = TableTransformer().fit(frame.to_numpy(dtype=object))
    np.testing.assert_array_equal(array.transform(frame.to_numpy(dtype=object)), Z)
    assert [column.name for column in array.columns_] == [str(j) for j in range(10)]
    assert not hasattr(array, "feature_names_in_")
    nullable = frame.assign(
        age=frame["age"].round().astype("Int64"), region=frame["region"].astype("category")
    )
    expected = TableTransformer().fit_transform(frame.assign(age=frame["age"].round()))
    np.testing.assert_array_equal(TableTransformer().fit_transform(nullable), expected)


@pytest.mark.parametrize(
    ("frame", "nothing"),
    [
        (table()[:0], "sample"),
        (table()[[]], "feature"),
        (pl.DataFrame(schema=["a"]), "sample"),
        (pl.DataFrame(), "feature"),
    ],
)
def test_a_table_of_nothing_is_refused_as_scikit_learn_does(frame, nothing):
    with pytest.raises(ValueError, match=rf"X: Found array with 0 {nothing}\(s\), while a minimum"):
        TableTransformer().fit(frame)


def test_rows_are_read_as_the_fit_decided():
    """A single row, in which every column would be constant; the columns in another order."""
    frame = table()
    transformer = TableTransformer().fit(frame)
    Z = transformer.transform(frame)
    for part in (frame.iloc[:1], polars_of(frame)[:1].select(frame.columns[::-1])):
        np.testing.assert_array_equal(transformer.transform(part), Z[:1])
    used = ["member", "region", "rating", "age"]
    np.testing.assert_array_equal(transformer.transform(frame[used]), Z)
    with pytest.raises(ValueError, match=r"'age', 'region' are missing"):
        transformer.transform(frame[["member", "rating"]])
    as_text = frame.assign(member=frame["member"].str.upper(), age=frame["age"].astype(str) + " ")
    np.testing.assert_array_equal(transformer.transform(as_text), Z)


def test_unseen_values_and_text_in_numbers():
    frame = table()
    transformer = TableTransformer(scale=False).fit(frame)
    new = frame.astype({"age": object})
    new.loc[[3, 7], "region"] = "mars"
    found = transformer.inspect(new)
    assert found.placeable.all()
    assert found.unseen == {"region": (2, "'mars'")}
    new.loc[[3, 7], "region"] = [f" {name}" for name in frame["region"][[3, 7]].str.upper()]
    name = frame["region"][3]
    assert transformer.inspect(new).unseen == {"region": (2, f"'{name.upper()}' (like '{name}')")}
    np.testing.assert_array_equal(transformer.transform(new)[[3, 7], 3:7], 0)
    new.loc[5, "age"] = "old"
    new.loc[9, "age"] = np.inf
    found = transformer.inspect(new)
    assert np.flatnonzero(~found.placeable).tolist() == [5, 9]
    assert found.wrong == {"age": (5, "'old'")}
    with pytest.raises(ValueError, match=r"'age' \('old' in row 5\)"):
        transformer.transform(new)
    rest = new[found.placeable]
    kept = np.delete(np.arange(N), [3, 5, 7, 9])
    there = np.isin(np.flatnonzero(found.placeable), kept)
    expected = transformer.transform(frame)[kept]
    np.testing.assert_array_equal(transformer.transform(rest)[there], expected)
    assert len(transformer.transform(rest)) == N - 2


def test_one_stray_text_is_refused_with_the_ways_out():
    frame = table().astype({"age": object, "rating": object})
    frame.loc[17, "age"] = "12a"
    with pytest.raises(ValueError, match=r"'age' holds numbers, but '12a' \(row 17\)") as caught:
        TableTransformer().fit(frame)
    assert "drop='age', or take it for a category with categorical='age'" in str(caught.value)
    frame.loc[3, "rating"] = "12 %"
    with pytest.raises(ValueError, match=r"'12 %' \(row 3\) .* drop=\['age', 'rating'\] leaves"):
        TableTransformer().fit(frame)
    assert TableTransformer(drop=["age", "rating"]).fit(frame)


def numbers_with(words, n=N):
    """Numbers as text, with these words in the first rows."""
    numbers = np.random.default_rng(3).normal(40, 9, n).round(1).astype(str).astype(object)
    numbers[: len(words)] = words
    return pd.DataFrame({"age": numbers, "g": np.random.default_rng(4).normal(size=n)})


@pytest.mark.parametrize(
    "words",
    [
        ["unknown"] * 100,
        ["DNF"] * 15,
        ["dnf", "n/k", "DNF"],
        ["#VALUE!", "k.A.", "."],
        ["#NV", "#WERT!", "#VALEUR!", "#N/D", "#¡VALOR!", "#WAARDE!"],
    ],
)
def test_words_among_numbers_are_missing(words):
    frame = numbers_with(words)
    empty = frame.assign(age=frame["age"].where(~frame["age"].isin(words)))
    transformer = TableTransformer().fit(frame)
    np.testing.assert_array_equal(
        transformer.transform(frame), TableTransformer().fit_transform(empty)
    )
    column = transformer.columns_[0]
    assert (column.kind, column.n_missing) == ("number", len(words))
    said = f"'{words[0]}' ({words.count(words[0])} row{'s' * (words.count(words[0]) > 1)})"
    assert said in column.reason
    assert "taken as missing" in " ".join(transformer.report_.split())
    new = pd.DataFrame({"age": [words[0].lower(), "-unheard"], "g": [0.5, 0.5]})
    assert transformer.inspect(new).wrong == {"age": (1, "'-unheard'")}
    again = pickle.loads(pickle.dumps(transformer))
    np.testing.assert_array_equal(again.inspect(new).placeable, [True, False])


@pytest.mark.parametrize(
    "words", [["dnf"] * 16, ["a", "b", "c"], ["12a"], ["inf"], ["1,5"], ["3 %"]]
)
def test_other_text_among_numbers_is_refused(words):
    frame = numbers_with(words)
    with pytest.raises(ValueError, match=rf"'age' holds numbers, but '{words[0]}' \(row 0\)"):
        TableTransformer().fit(frame)
    with pytest.raises(ValueError, match=r"\(row 0, the first data row being 0\) (is none|has)"):
        TableTransformer().fit(polars_of(frame))


def test_words_among_flags_and_categories():
    words = ["unknown"] * 30
    frame = pd.DataFrame(
        {
            "flag": words + ["0", "1"] * 50,
            "said": words + ["yes", "no", "no"] * 33 + ["yes"],
            "region": words + ["a", "b"] * 50,
            "code": words + ["007", "008"] * 50,
        }
    )
    empty = frame.replace("unknown", None)
    for library in (pd.DataFrame, polars_of):
        transformer = TableTransformer(columns=["*", "code"]).fit(library(frame))
        assert kinds(transformer) == {
            **{"flag": ("flag", True), "said": ("flag", True)},
            **{"region": ("category", True), "code": ("category", True)},
        }
        assert transformer.get_feature_names_out().tolist() == [
            *["flag", "flag is missing", "said", "region=a", "region=b", "region=missing"],
            *["code=007", "code=008", "code=missing"],
        ]
        reasons = {one.reason for one in transformer.columns_}
        assert reasons == {"'unknown' (30 rows) taken as missing"}
        Z = transformer.transform(library(frame))
        np.testing.assert_array_equal(Z, transformer.transform(library(empty)))


def test_words_that_an_older_model_has_for_values_stay_values():
    values = ["unknown", "a", "b", "k.A."] * 10
    known = np.array(["a", "b", "unknown", ""])
    codes, _ = read_column(np.array(values, object), "category", known)
    assert codes.tolist() == [2, 0, 1, 3] * 10


def test_a_comma_that_may_be_either_is_between_groups():
    texts = pd.DataFrame({"x": ["1,234", "2,345", "7"] * 5})
    with pytest.warns(UserWarning, match="'1,234' in column 'x' is read as 1234; .* decimal="):
        Z = TableTransformer(scale=False).fit_transform(texts)
    assert Z[:3, 0].tolist() == [1234, 2345, 7]


@pytest.mark.parametrize("text", ["1,5-2 €", "1,5-2,5-", "-1,5-", "5-", "2,5- x", "x" * 10**6])
def test_what_holds_a_minus_elsewhere_is_no_number(text):
    assert np.isnan(number_of(text, ","))


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize(
    ("sign", "right", "wrong"),
    [
        ("%", [["12.5%", "12.5 %"]], [["12.5", "€ 12.5"], [12.5, 0.125]]),
        ("€", [["12.5 €", "12.5"], [12.5, 12.5]], [["$ 12.5", "12.5 %"]]),
        ("", [["12.5", "12.5 "], [12.5, 12.5]], [["12.5%", "€ 12.5"]]),
    ],
)
def test_the_sign_of_a_column_is_remembered(library, sign, right, wrong):
    numbers = np.linspace(0.5, 90, 40) ** 2
    plain = TableTransformer().fit(library({"x": numbers}))
    expected = plain.transform(library({"x": [12.5, 12.5]}))
    for fitted in [[f"{number}{sign}" for number in numbers]] + [numbers] * (not sign):
        prepare = pickle.loads(pickle.dumps(TableTransformer().fit(library({"x": fitted}))))
        for new in right:
            np.testing.assert_array_equal(prepare.transform(library({"x": new})), expected)
        for new in wrong:
            assert not prepare.inspect(library({"x": new})).placeable.any()
            told = f" (not {sign})" if sign else ""
            with pytest.raises(ValueError, match=re.escape(f"'x' ('{new[0]}'{told} in row 0)")):
                prepare.transform(library({"x": new}))
        del prepare._written  # as before signs were remembered
        prepare._upgrade({})
        for new in right + wrong:
            np.testing.assert_array_equal(prepare.transform(library({"x": new[:1]})), expected[:1])


def test_messages_name_rows_as_the_table_does():
    frame = table().set_index("id")
    transformer = TableTransformer().fit(frame)
    new = frame.astype({"age": object})
    new.iloc[5, new.columns.get_loc("age")] = "old"
    with pytest.raises(ValueError, match=rf"'age' \('old' in row {frame.index[5]}\)\. Correct"):
        transformer.transform(new)
    with pytest.raises(ValueError, match=r"\('old' in row 5\), the first data row being 0\."):
        transformer.transform(polars_of(new.astype({"age": str})))


def test_types_of_categories_stay_categories():
    floors = np.random.default_rng(0).integers(1, 4, 40)
    size = np.random.default_rng(1).normal(size=40)
    for frame in (
        pd.DataFrame({"floor": pd.Categorical(floors), "size": size}),
        pl.DataFrame(
            {"floor": floors.astype(str), "size": size}, {"floor": pl.Categorical, "size": float}
        ),
    ):
        transformer = TableTransformer().fit(frame)
        names = ["floor=1", "floor=2", "floor=3", "size"]
        assert transformer.get_feature_names_out().tolist() == names
        plain = TableTransformer(categorical=["floor"])
        expected = plain.fit_transform(pd.DataFrame({"floor": floors, "size": size}))
        np.testing.assert_array_equal(transformer.transform(frame), expected)


@pytest.mark.filterwarnings("ignore:column .* is left out")
def test_columns_of_other_things_are_left_out():
    wide = getattr(pl, "Int128", pl.UInt64)  # polars 1.9 has no wider one
    numbers = pl.DataFrame(
        {
            "tenths": pl.Series([1, 5, None, 7], dtype=pl.Decimal(10, 2)),
            "wide": pl.Series([1, 5, 5, 8], dtype=wide),
            "lists": [[1, 2], [3], [1], [2]],
            "pairs": pl.Series([[1, 2], [3, 4]] * 2, dtype=pl.Array(pl.Int64, 2)),
            "fields": [{"a": 1, "b": 2}] * 4,
        }
    )
    transformer = TableTransformer(scale=False).fit(numbers)
    assert [one.kind for one in transformer.columns_] == ["number"] * 2 + ["text"] + ["nested"] * 2
    assert transformer.columns_[2].reason == "lists or other objects"
    np.testing.assert_array_equal(
        transformer.transform(numbers), [[1, 0, 1], [5, 0, 5], [5, 1, 5], [7, 0, 8]]
    )
    frame = pd.DataFrame({"z": np.exp(1j * np.arange(9)), "letter": [b"a", b"b", b"a"] * 3})
    assert kinds(TableTransformer().fit(frame)) == {
        "z": ("text", False),
        "letter": ("category", True),
    }
    assert TableTransformer().fit(frame).get_feature_names_out()[0] == "letter=a"


VECTORS = np.random.default_rng(0).normal(size=(6, 3)).astype("float32")
STRUCTS = pl.DataFrame(VECTORS, schema=["a", "b", "c"]).to_struct("embedding")
STACK = 'lists of numbers: fit np.vstack(frame["embedding"]), or save that as .npy and fit it with'
UNNEST = 'structs: frame.unnest("embedding") of polars makes columns of them'
FRAMES = [
    (pl.DataFrame({"embedding": VECTORS.tolist()}), STACK),
    (pl.DataFrame({"embedding": VECTORS}, {"embedding": pl.Array(pl.Float32, 3)}), STACK),
    (pd.DataFrame({"embedding": VECTORS.tolist()}), STACK),
    (pd.DataFrame({"embedding": list(VECTORS)}), STACK),
    (pl.DataFrame({"embedding": STRUCTS}), UNNEST),
    (pd.DataFrame({"embedding": STRUCTS.to_list()}), UNNEST),
]


@pytest.mark.parametrize(("frame", "usage"), FRAMES)
def test_nested_columns_are_left_out_and_their_use_is_said(frame, usage):
    with pytest.raises(ValueError, match=re.escape(usage)) as refusal:
        TableTransformer().fit(frame)
    assert not re.search(r"categorical=|one value|\. \.|\.\.", str(refusal.value))
    age = pl.Series("age", [3, 9, 4, 1, 5, 9])
    both = frame.with_columns(age) if isinstance(frame, pl.DataFrame) else frame.assign(age=age)
    with warnings.catch_warnings(record=True, action="always") as caught:
        transformer = TableTransformer().fit(both)
    said = [str(one.message) for one in caught]
    assert len(said) == (usage == STACK)
    assert all(f"column 'embedding' is left out, as it holds {usage}" in text for text in said)
    column = transformer.columns_[0]
    assert column[:3] == ("embedding", "nested", False)
    assert column.reason.startswith(usage)
    assert " ".join(transformer.report_.split()).endswith(f"embedding: nested, {column.reason}")
    with pytest.raises(ValueError, match=re.escape(f"'embedding' holds {usage}")):
        TableTransformer(columns=["embedding", "age"]).fit(both)
    assert TableTransformer(drop="embedding").fit_transform(both).shape == (6, 1)
    told = describe([0, 0, 0, 1, 1, 1], both)
    assert {entry.column for entry in told.entries} == {"age"}
    if usage == STACK:
        np.testing.assert_array_equal(np.vstack(frame["embedding"]), VECTORS)


def test_lists_as_text_are_left_out_with_a_warning():
    lists = [json.dumps(row.tolist()) for row in VECTORS]
    frame = pd.DataFrame({"age": [3, 9, 4, 1, 5, 9], "embedding": lists})
    with pytest.warns(UserWarning, match=r"'embedding' is left out, as it holds lists of numbers"):
        column = TableTransformer().fit(frame).columns_[1]
    assert column.reason.endswith("save them as .npy, and fit that with --metric cosine")
    spaced = frame.assign(embedding=[text.replace(",", "") for text in lists])
    with pytest.warns(UserWarning, match="lists of numbers as text"):
        TableTransformer().fit(spaced)
    others = pd.DataFrame({"age": [3, 9], "place": ["[3, 4]", "[closed]"]})
    assert TableTransformer().fit(others).columns_[1].kind != "nested"


@pytest.mark.filterwarnings("ignore:column .* is left out")
def test_gaps_among_vectors_are_said():
    frame = pl.DataFrame(
        {"age": [1, 5, 1, 2], "embedding": [[1.5, 2.0], None, [3.0, 4.5], [0.0, 1.0]]}
    )
    column = TableTransformer().fit(frame).columns_[1]
    assert column.n_missing == 1
    assert column.reason.startswith("lists of numbers, and 1 missing: fit np.vstack")


@pytest.mark.parametrize(
    "lists", [[["a", "b"], ["c", "d"]], [[1], [2, 3]], [[], []], [[[1], [2, 3]]] * 2]
)
def test_other_lists_are_no_vectors(lists):
    column = TableTransformer().fit(pd.DataFrame({"age": [3, 9], "lists": lists})).columns_[1]
    assert (column.kind, column.reason) == ("text", "lists or other objects")


@pytest.mark.parametrize(
    ("X", "error", "words"),
    [
        (pl.LazyFrame({"a": [1.0]}), TypeError, "LazyFrame.*collect"),
        (pd.DataFrame(np.eye(3), columns=["a", "b", "a"]), ValueError, "are called 'a'; give"),
        (pd.DataFrame({"a": [1.5]}), ValueError, "n_samples=1, .* at least 2 rows"),
        (pd.DataFrame({"a": [1, 1], "b": ["x"] * 2}), ValueError, "one value tells no rows apart"),
        (pd.DataFrame({"a": ["x y", "z"]}), ValueError, "categorical= takes text.*embeddings"),
        (pd.DataFrame({"a": [1, 2, 3]}), ValueError, "columns= uses dates and numbers"),
        (pd.DataFrame({"a": [1e308, -1e308, 3.5]}), ValueError, "'a' are so large"),
    ],
)
def test_tables_that_cannot_be_used(X, error, words):
    with pytest.raises(error, match=words):
        TableTransformer().fit(X)


@pytest.mark.parametrize("factor", [1e150, 1.7e308])
def test_large_numbers_do_not_overflow(factor):
    numbers = np.random.default_rng(0).uniform(0.5, 1, 40) * factor
    frame = pd.DataFrame({"a": numbers})
    np.testing.assert_array_equal(TableTransformer(scale=False).fit_transform(frame), frame)
    frame.loc[3, "a"] = np.nan
    filled = TableTransformer(scale=False).fit_transform(frame)[3, 0]
    assert filled == pytest.approx(np.nanmedian(frame["a"] / factor) * factor)


def test_a_transformer_of_before_is_brought_up_to_date():
    transformer = TableTransformer().fit(table())
    Z = transformer.transform(table())
    before = pickle.loads(pickle.dumps(transformer))
    for name in ("_written", "_digits", "_flags"):
        delattr(before, name)
    again = pickle.loads(pickle.dumps(before))
    again._upgrade({})
    np.testing.assert_array_equal(again.transform(table()), Z)
    assert again.is_well_formed()
    for wrong in ({"_signs": {"age": 3}}, {"_written": {"age": [".", "", 3]}}):
        again = pickle.loads(pickle.dumps(before))
        vars(again).update(wrong)
        again._upgrade({})
        assert not again.is_well_formed()


def test_a_transformer_of_before_fills_gaps_with_medians():
    transformer = TableTransformer().fit(table())
    before = pickle.loads(pickle.dumps(transformer))
    del before._donors
    used = [one for one in before.columns_ if one.used]
    medians = {one.name: float(place) for place, one in enumerate(used, 1)}
    before._medians = np.array([medians.get(one.name, 0.0) for one in before.columns_])
    before._upgrade({})
    assert before.is_well_formed()
    frame = table()
    gaps = [one.name for one in used if one.kind in ("number", "flag")]
    assert frame[gaps].isna().any(axis=None)
    filled = frame.assign(**{name: frame[name].fillna(medians[name]) for name in gaps})
    expected, found = transformer.transform(filled), before.transform(frame)
    has_gap = before.get_feature_names_out()
    kept = [not name.endswith("is missing") for name in has_gap]
    np.testing.assert_array_equal(found[:, kept], expected[:, kept])


@pytest.mark.parametrize(
    "wrong", [{"with_mean": np.ones(3)}, {"scale_": np.ones(2)}, {"mean_": "x"}], ids=str
)
def test_a_transformer_that_cannot_scale(wrong):
    transformer = TableTransformer().fit(table())
    assert transformer.is_well_formed()
    vars(transformer.scaler_).update(wrong)
    assert not transformer.is_well_formed()


@pytest.mark.parametrize(
    ("parameters", "used"),
    [
        ({"columns": ["a*", "member"]}, ["age", "member"]),
        ({"columns": "age"}, ["age"]),
        ({"drop": ["r*"]}, ["age", "member"]),
        (
            {"columns": ["*", "row", "age again"], "drop": ["region"]},
            ["row", "age", "rating", "age again", "member"],
        ),
        ({"columns": ["since", "age"]}, ["age", "since"]),
        ({"dates": True, "drop": ["r*"]}, ["age", "member", "since"]),
        ({"columns": ["member"], "categorical": ["member"]}, ["member"]),
    ],
)
def test_choice_of_columns(parameters, used):
    transformer = TableTransformer(**parameters).fit(table())
    assert [column.name for column in transformer.columns_ if column.used] == used


def test_numbers_as_categories():
    frame = pd.DataFrame({"floor": [1, 2, 3, 1] * 5, "size": np.linspace(1, 2, 20) ** 2})
    transformer = TableTransformer(categorical=["fl*"], scale=False).fit(frame)
    names = ["floor=1", "floor=2", "floor=3", "size"]
    assert transformer.get_feature_names_out().tolist() == names
    for floats in (frame.astype({"floor": float}), frame.astype(float).astype(object)):
        np.testing.assert_array_equal(transformer.transform(floats), transformer.transform(frame))


def test_dates_are_days():
    days = pd.DataFrame({"d": ["2024-01-01", "2024-01-03", None, "2024-01-02"]})
    transformer = TableTransformer(dates=True, scale=False).fit(days)
    first = (pd.Timestamp("2024-01-01") - pd.Timestamp("1970-01-01")).days
    expected = [first, first + 2, first + 1, first + 1]
    np.testing.assert_array_equal(transformer.transform(days)[:, 0], expected)
    stamps = days.assign(d=pd.to_datetime(days["d"]))
    np.testing.assert_array_equal(transformer.transform(stamps), transformer.transform(days))
    assert transformer.inspect(pd.DataFrame({"d": [3.0]})).wrong == {"d": (0, "'3.0'")}
    months = pd.DataFrame({"d": pd.PeriodIndex(["2024-01", None, "2024-03"], freq="M")})
    assert TableTransformer(columns=["d"]).fit(months).columns_[0].kind == "date"
    assert transformer.transform(months)[:, 0].tolist() == [first, first + 1, first + 60]
    none = days.assign(none=pd.NaT)  # dates by its type
    assert TableTransformer(dates=True).fit(none).columns_[1].kind == "constant"
    with pytest.raises(ValueError, match=r"not read, .*'01/02/2024'.*: write them as 2025-12-31"):
        TableTransformer(dates=True).fit(pd.DataFrame({"d": ["01/02/2024", "03/02/2024"]}))


def test_words_among_dates_are_missing_dates():
    days = ["2024-01-01", "01.01.2024, 12:00", "3.1.2024 9:36:00", "2024-01-01T00:00:00+01:00"]
    words = ["0000-00-00", "0000-00-00 00:00:00", "unknown", "on hold"]
    d = pd.DataFrame({"d": [*days * 20, *words]})
    transformer = TableTransformer(dates=True, scale=False).fit(d)
    assert transformer.columns_[0].n_missing == 4
    assert "'on hold' (1 row) taken as missing" in transformer.report_
    numbers = transformer.transform(d)[:, 0] - 19723
    np.testing.assert_allclose(numbers[:4], [0, 0.5, 2.4, -1 / 24])
    assert set(numbers[-4:]) == {0}  # the lower one of two medians
    found = transformer.inspect(pd.DataFrame({"d": ["Unknown", "On hold", "paid"]}))
    assert found.wrong == {"d": (2, "'paid'")}
    undecided = TableTransformer().fit(d.assign(size=np.linspace(1, 2, 84) ** 2)).report_
    assert "d: date, the option dates uses it, '0000-00-00' (1 row)" in undecided


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"columns": ["agee"]}, "columns='agee' is no column; did you mean 'age'"),
        ({"drop": ["x*"]}, "drop='x\\*' matches no column"),
        ({"columns": ["remark"]}, "'remark' holds text .* categorical='remark'"),
        (
            {"columns": ["currency"]},
            "no column can be used: .*'currency' \\(constant, one value\\)",
        ),
        ({"missing": "error"}, "'age' \\(6 rows\\), 'rating' \\(60 rows\\).*missing='impute'"),
        ({"missing": "fill"}, "'missing' parameter"),
    ],
)
def test_refusals(parameters, words):
    with pytest.raises(ValueError, match=words):
        TableTransformer(**parameters).fit(table())


def test_too_many_categories():
    frame = pd.DataFrame({"a": np.arange(3000), "b": np.linspace(0, 1, 3000)})
    with pytest.raises(ValueError, match="'a' has 3000 different values, too many"):
        TableTransformer(categorical=["a"]).fit(frame)


def test_rows_with_missing_values_are_dropped_before_the_transformer():
    frame = table()
    transformer = TableTransformer(missing="drop").fit(frame)
    complete = frame[["age", "rating"]].notna().all(axis=1)
    placeable = transformer.inspect(frame).placeable
    np.testing.assert_array_equal(placeable, complete)
    with pytest.raises(ValueError, match=r"missing .* in 'age' \(6 rows\), 'rating' \(60 rows\)"):
        transformer.transform(frame)
    rest = frame[placeable]
    assert "rating is missing" not in transformer.get_feature_names_out()
    alone = TableTransformer(missing="error").fit(rest)
    np.testing.assert_allclose(transformer.transform(rest), alone.transform(rest), atol=1e-12)


@pytest.mark.parametrize(
    "nan", [np.uint64(0x7FF0000000000001).view(float), np.uint32(0x7F800001).view(np.float32)]
)
def test_a_signaling_nan_is_missing(nan):
    x = np.linspace(0.0, 1.0, 20, dtype=nan.dtype)
    x[3] = nan
    Z = TableTransformer().fit_transform(x[:, None])
    assert np.isfinite(Z).all()


def test_no_row_is_complete():
    frame = pd.DataFrame({"a": [1.5, None, 2.5, None], "b": [None, 3.5, None, 4.0]})
    with pytest.raises(ValueError, match=r"each row lacks a number; missing='impute'"):
        TableTransformer(missing="drop").fit(frame)
    assert TableTransformer().fit_transform(frame).shape == (4, 4)
    with pytest.raises(ValueError, match="no row has a value in any column"):
        TableTransformer(categorical=["*"]).fit(pd.DataFrame({"a": [None, None]}))


def test_batches_without_a_complete_row(monkeypatch):
    frame = table()[["age", "member"]].sort_values("age", ignore_index=True)
    Z = TableTransformer(missing="drop").fit(frame).transform(frame[:200])
    monkeypatch.setattr(module, "BATCH", 2)  # the last three hold missing values alone
    again = TableTransformer(missing="drop").fit(frame).transform(frame[:200])
    np.testing.assert_allclose(again, Z, atol=1e-12)


def test_a_large_table_is_scaled_in_batches(monkeypatch):
    frame = table()
    Z = TableTransformer().fit_transform(frame)
    monkeypatch.setattr(module, "BATCH", 37)
    np.testing.assert_allclose(TableTransformer().fit_transform(frame), Z, atol=1e-12)


def test_single_precision():
    frame = table()
    Z = TableTransformer(dtype="float32").fit_transform(frame)
    assert Z.dtype == np.float32
    # Of donors at nearly equal distances it may take others.
    known = frame[["age", "rating"]].notna().to_numpy().all(axis=1)
    expected = TableTransformer().fit_transform(frame)
    np.testing.assert_allclose(Z[known], expected[known], atol=1e-5)
    with pytest.raises(ValueError, match=r"'big' \('1e\+300' in row 1\)"):
        TableTransformer(dtype="float32").fit(pd.DataFrame({"big": [1.0, 1e300, 2.5]}))
    with pytest.raises(ValueError, match=r"'big' \('1e\+200' in row 0\)"):  # so is the median
        TableTransformer(dtype="float32").fit(pd.DataFrame({"big": [1e200, np.nan, 2.5e200]}))


def test_a_copy_and_a_pickle_do_the_same():
    transformer = TableTransformer(dates=True, drop=["a*"]).fit(table())
    again = pickle.loads(pickle.dumps(transformer))
    np.testing.assert_array_equal(again.transform(table(1)), transformer.transform(table(1)))
    assert again.report_ == transformer.report_
    assert clone(transformer).get_params() == transformer.get_params()


def test_the_report_groups_equal_columns():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(50, 30)), columns=[f"v{j}" for j in range(30)])
    frame = frame.assign(**{f"empty{j}": 1 for j in range(4)}, g=["a", "b"] * 25)
    frame.loc[:9, "v3"] = np.nan
    assert TableTransformer().fit(frame).report_.splitlines() == [
        "columns used      30 numbers: v0, v1, v2, v3, v4, v5, v6, v7 and 22 more",
        "                  1 category: g (2 values)",
        "left out          empty0, empty1, empty2, empty3: constant, one value",
        "missing values    v3 10 (20 %): are filled from similar rows, and a column of",
        "                    its own says where",
    ]


@pytest.mark.slow
def test_halves_of_a_search_decide_alike():
    frame = table(n=400)
    for seed in range(20):
        half = np.sort(np.random.default_rng(seed).permutation(400)[:200])
        found = kinds(TableTransformer().fit(frame.iloc[half]))
        assert found == kinds(TableTransformer().fit(frame)), seed
    pipeline = make_pipeline(TableTransformer(), KernelPowerKMeans(kernel="rbf"))
    grid = {"kernelpowerkmeans__n_clusters": [2, 3]}
    search = ClusterSearch(pipeline, grid, n_splits=3, random_state=0).fit(polars_of(frame))
    assert search.best_index_ is not None
    assert not np.isnan(search.results_["mean_stability"]).any()


def money(seed=0, n=N):
    """Numbers that are skewed to the right, to the left, not at all, or on both sides of 0."""
    rng = np.random.default_rng(seed)
    spend = rng.lognormal(4, 1, n)
    return pd.DataFrame(
        {
            "spend": spend,
            "visits": rng.poisson(rng.exponential(3, n)),
            "age": rng.normal(40, 5, n),
            "left": 100 - np.minimum(99, rng.exponential(5, n)),
            "profit": spend - 50,
        }
    )


def test_skewed_numbers_are_taken_as_logarithms():
    frame = money()
    transformer = TableTransformer().fit(frame)
    assert {one.name for one in transformer.columns_ if one.is_logarithm} == {"spend", "visits"}
    assert "logarithms of     spend, visits" in transformer.report_.splitlines()
    expected = frame.assign(
        spend=np.log1p(frame["spend"] / frame["spend"].median()),
        visits=np.log1p(frame["visits"] / frame["visits"][frame["visits"] > 0].median()),
    )
    scaled = StandardScaler().fit_transform(expected)
    np.testing.assert_allclose(transformer.transform(frame), scaled, atol=1e-12)
    # Unlike log1p, defined for numbers that the fit did not have.
    refund = transformer.transform(frame.assign(spend=-frame["spend"]))[:, 0]
    assert (refund < scaled[:, 0].min()).all()


@pytest.mark.parametrize("parameters", [{"skewed": "keep"}, {"scale": False}])
def test_skewed_numbers_are_kept_on_request(parameters):
    frame = money()
    transformer = TableTransformer(**parameters).fit(frame)
    assert not any(one.is_logarithm for one in transformer.columns_)
    Z = transformer.transform(frame)
    if transformer.scale:
        Z = transformer.scaler_.inverse_transform(Z)
    np.testing.assert_allclose(Z, frame.to_numpy(), rtol=1e-9, atol=1e-9)


def test_logarithms_do_not_depend_on_the_unit_of_a_column():
    frame = money()
    Z = TableTransformer().fit_transform(frame)
    for factor in (1e-3, 1e6, 1e290):
        scaled = frame.assign(spend=frame["spend"] * factor)
        np.testing.assert_allclose(TableTransformer().fit_transform(scaled), Z, atol=1e-9)


def test_flags_in_numbers_are_flags_in_words():
    frame = table()
    numbers = frame.assign(member=(frame["member"] == "yes").astype(int))
    Z = TableTransformer().fit_transform(frame)
    np.testing.assert_array_equal(TableTransformer().fit_transform(numbers), Z)
    assert {*np.round(pairwise_distances(Z[:, -1:]).ravel(), 12)} == {0, np.round(np.sqrt(2), 12)}


def test_negative_weights_are_refused():
    with pytest.raises(ValueError, match="Negative values in data passed to `sample_weight`"):
        TableTransformer().fit(table(), sample_weight=np.r_[-1.0, np.ones(N - 1)])


@pytest.mark.parametrize(
    "series",
    [
        lambda flags: pd.Series(flags, dtype="boolean"),
        lambda flags: pd.Series(flags, dtype=object),
        lambda flags: pd.Series([None if one is None else int(one) for one in flags], dtype="Int8"),
        lambda flags: pd.Series(flags).map({True: "yes", False: "no"}),
        lambda flags: pl.Series(flags),
    ],
)
def test_flags_with_gaps(series):
    flags = [None, True, False, False, True, None, True, False]
    numbers = pd.DataFrame({"flag": [np.nan if one is None else float(one) for one in flags]})
    transformer = TableTransformer().fit(series(flags).rename("flag").to_frame())
    assert transformer.columns_[0][:6] == ("flag", "flag", True, "", 2, None)
    Z = transformer.transform(series(flags).rename("flag").to_frame())
    np.testing.assert_array_equal(Z, TableTransformer().fit_transform(numbers))


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize("form", [int, float, str])
def test_numbers_that_are_dates(frame, form):
    days = [datetime(2023, 1, 30) + timedelta(number % 9) for number in range(40)]
    age = [0.5 * (number % 7) for number in range(40)]
    written = [form(f"{day:%Y%m%d}") for day in days]
    numbers, dates = frame({"day": written, "age": age}), frame({"day": days, "age": age})
    left_out = TableTransformer().fit(numbers).columns_[0]
    assert left_out[:3] == ("day", "date", False)
    assert left_out.reason == "numbers such as 20230130, the option dates uses it"
    prepare = TableTransformer(dates=True).fit(numbers)
    Z = prepare.transform(numbers)
    np.testing.assert_array_equal(Z, TableTransformer(dates=True).fit_transform(dates))
    np.testing.assert_array_equal(Z, prepare.transform(dates))
    odd = frame({"day": [form(20230130), form(20230230), form(7)], "age": [1.0] * 3})
    assert prepare.inspect(odd).placeable.tolist() == [True, False, False]


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize(
    ("fitted", "new", "placed"),
    [
        (["yes", "no"], ["no", "7", "1", "maybe", "true"], [1, 0, 1, 0, 1]),
        ([True, False], [0, 7, 1, -99, None], [1, 0, 1, 0, 1]),
        ([1, 0], [0, -99, 1, 2, 99], [1, 0, 1, 1, 0]),  # 2 may be a count
    ],
)
def test_other_numbers_than_0_and_1_are_no_flags(frame, fitted, new, placed):
    old = frame({"flag": fitted * 20, "region": ["x", "y", "y", "z"] * 10})
    prepare = TableTransformer().fit(old)
    table = frame({"flag": new, "region": ["x"] * 5})
    found = prepare.inspect(table)
    assert found.placeable.tolist() == [one == 1 for one in placed]
    first = placed.index(0)
    shown = str(table["flag"][first]).removesuffix(".0")
    assert found.wrong["flag"][0] == first
    assert found.wrong["flag"][1].replace(".0'", "'") == f"'{shown}' (neither yes nor no)"
    with pytest.raises(ValueError, match="neither yes nor no"):
        prepare.transform(table)


def test_0_and_1_in_a_table_of_numbers_alone_may_become_other_numbers():
    prepare = TableTransformer(scale=False).fit(np.c_[[0, 1] * 20, np.arange(40) / 7])
    assert prepare.transform([[-99, 0.5], [0.5, 2]]).tolist() == [[-99, 0.5], [0.5, 2]]


@pytest.mark.parametrize("missing", ["impute", "error"])
def test_a_column_that_new_rows_lack(missing):
    table = pl.DataFrame({"a": [0.0, 0.1, 5.0, 5.1] * 5, "b": [1.0, 2.0, 4.0, 3.0] * 5})
    prepare, new = TableTransformer(missing=missing).fit(table), table.drop("b")
    says = "the columns 'b' are missing, which the fit has used; there are 'a'[.] Give"
    with pytest.raises(ValueError, match=says) as said:
        prepare.transform(new)
    fills = "add them as empty columns" in str(said.value)
    assert fills == (missing == "impute")
    if fills:
        empty = new.with_columns(b=pl.lit(None, pl.Float64))
        assert np.isfinite(prepare.transform(empty)).all()


def test_new_rows_that_a_pipeline_labels_without_knowing_them():
    table = pl.DataFrame({"a": [0.0, 0.1, 5.0, 5.1] * 5, "plan": ["x", "x", "y", "v"] * 5})
    model = make_pipeline(TableTransformer(), KernelKMeans(2, random_state=0)).fit(table)
    new = pl.DataFrame({"a": [0.0, 5.0, 5.1], "plan": ["z", "w", "y"]})
    says = "X: column 'plan': 2 rows with values new to the model, such as 'z', count as none"
    with pytest.warns(UserWarning, match=says):
        labels = model.predict(new)
    assert labels.tolist() == model.predict(table)[[0, 2, 3]].tolist()
    empty = pl.DataFrame({"a": [None, 5.0], "plan": [None, "y"]}, schema=new.schema)
    with pytest.warns(UserWarning, match="column 'plan': 1 row .* such as no value") as said:
        model.predict(empty)
    assert any("X: 1 row without a value in any column" in str(one.message) for one in said)


def test_numbers_among_objects_may_stand_for_missing_values():
    numbers = [31, -999.0, 45, 60, 38] * 8
    told, left = (pd.DataFrame({"age": [*some, None]}, dtype=object) for some in (
        numbers, [None if one == -999 else one for one in numbers]))  # fmt: skip
    prepare = TableTransformer(missing_values=[-999])
    np.testing.assert_array_equal(prepare.fit_transform(told), prepare.fit_transform(left))


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame])
def test_further_values_that_are_missing(library):
    """As if their cells were empty, in numbers, text and new rows."""
    words = {"age": [31, -999, 45, 60, 38], "fee": ["1,5 €", "n. t.", "2,5 €", " -999", "4 €"]}
    words["region"] = ["north", "N. T.", "south", "north", "south"]
    gaps = {
        name: [None if row in at else value for row, value in enumerate(words[name])]
        for name, at in [("age", [1]), ("fee", [1, 3]), ("region", [1])]
    }
    words, gaps = ({name: values * 8 for name, values in one.items()} for one in (words, gaps))
    told = TableTransformer(missing_values=[-999, "n. t."]).fit(library(words))
    left = TableTransformer().fit(library(gaps))
    assert told.report_ == left.report_
    np.testing.assert_array_equal(told.transform(library(words)), left.transform(library(gaps)))
    new = library({"age": [-999], "fee": ["N. T."], "region": ["n. t."]})
    assert told.inspect(new).n_missing == {"age": 1, "fee": 1}
    assert not told.inspect(new).placeable.any()


@pytest.mark.parametrize(
    ("values", "text"),
    [
        (np.sqrt(np.arange(80)), 10**5 * "x"),
        ([f"{i}{10**5 * chr(49)} kg" for i in range(80)], "5 kg"),
    ],
)
def test_values_of_any_length_are_told_in_few_words(values, text):
    frame = pd.DataFrame({"area": [*map(str, values), text], "age": np.sqrt(range(81))})
    report = TableTransformer().fit(frame).report_
    assert "…" in report
    assert len(report) < 1000


def test_truth_values_are_the_same_category_with_gaps_and_without():
    """As an array, objects, numbers and in polars; a gap makes objects of them in pandas."""
    truth = [True, False, False, True] * 10
    area = np.sqrt(np.arange(40))
    forms = [pd.Series(truth), pd.Series(truth, dtype=object), pd.Series(truth).astype(int)]
    frames = [pd.DataFrame({"area": area, "paid": values}) for values in forms]
    frames.append(pl.DataFrame({"area": area, "paid": truth}))
    gap = pd.DataFrame({"area": area, "paid": [None, *truth[1:]]})
    for fitted in (*frames, gap):
        prepare = TableTransformer(categorical=["paid"]).fit(fitted)
        expected = prepare.transform(fitted)[1:]
        for frame in frames:
            np.testing.assert_array_equal(prepare.transform(frame)[1:], expected)
    other = pd.DataFrame({"area": area, "paid": ["maybe"] * 40})
    with pytest.warns(UserWarning, match="such as 'maybe'"):
        unseen = prepare.transform(other)[:, 1:]
    assert (unseen == unseen[0]).all()
    assert (unseen[0] != prepare.transform(gap)[0, 1:]).any()


def test_long_names_are_cut_and_their_counts_are_not():
    question = "How much do you agree that " + "it is good and " * 9 + "so on"
    answers = pd.DataFrame({question: ["yes", "no", "perhaps", None] * 20, "age": np.arange(80.0)})
    lines = " ".join(TableTransformer().fit(answers).report_.split())
    assert "…so on (4 values)" in lines
    assert "…so on 20 (25 %): are a value" in lines
    assert question not in lines
