"""Tables as people have them, through the commands: kinds, missing values, models, the pipeline."""

import json
import zipfile
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import scipy.sparse
import skops.io
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from kernelmeans import KernelPowerKMeans, MultiKernelPowerKMeans
from kernelmeans._errors import InputError
from kernelmeans.models import Model, load_model
from kernelmeans.models.archive import TRUSTED_TYPES
from kernelmeans.tables import TableTransformer

N = 120


@pytest.fixture
def people(folder) -> pl.DataFrame:
    """A table of two groups with every kind of column, and people.csv, which holds it."""
    rng = np.random.default_rng(0)
    group = np.arange(N) % 2
    age = (30 + 20 * group + rng.normal(size=N)).round(2).tolist()
    age[5] = age[77] = None
    frame = pl.DataFrame(
        {
            "row": range(1, N + 1),
            "id": [f"C{number:04d}" for number in rng.permutation(N)],
            "age": age,
            "spend": (rng.normal(size=N) + 4 * group).round(3),
            "region": np.array(["north", "south", "east"])[np.where(rng.random(N) < 0.8, group, 2)],
            "member": np.where(group, "yes", "no"),
            "since": [f"2024-01-{1 + day % 28:02d}" for day in rng.permutation(N)],
            "remark": [f"remark number {number}" for number in range(N)],
            "class": np.array(["a", "b"])[group],
        }
    )
    frame.write_csv("people.csv")
    return frame


OPTIONS = ("people.csv", "-k", 2, "--kernel", "rbf", "--label-column", "class")


def labels(file: str = "people.labels.csv") -> list[int | None]:
    return pl.read_csv(file)["label"].to_list()


@pytest.mark.usefixtures("people")
def test_the_decisions_are_printed_and_written(run):
    result = run("fit", *OPTIONS)
    assert result.exit_code == 0, result.output
    assert result.stderr.splitlines() == [
        "columns used      2 numbers: age, spend",
        "                  1 category: region (3 values)",
        "                  1 yes or no: member",
        "left out          row: counter, whole numbers, all different",
        "                  id: identifier, nearly all values differ",
        "                  since: date, the option dates uses it",
        "                  remark: text, nearly all values differ",
        "missing values    age 2 (2 %): are filled from similar rows",
        "Note: --id-column id keeps that column in the labels file",
    ]
    summary = json.loads(Path("people.summary.json").read_text())
    assert summary["features"] == 4
    assert summary["agreement"]["ari"] > 0.9
    columns = {column["name"]: column for column in summary["columns"]}
    assert columns["age"]["n_missing"] == 2
    assert columns["id"]["kind"] == "identifier"
    assert "class" not in columns
    assert run("fit", *OPTIONS, "--quiet", "--force").output == ""


def test_a_pipeline_in_python_gives_the_same_labels(run, people):
    run("fit", *OPTIONS)
    pipeline = Pipeline(
        [
            ("prepare", TableTransformer(drop=["class"])),
            ("cluster", KernelPowerKMeans(2, kernel="rbf", random_state=0)),
        ]
    )
    assert pipeline.fit_predict(people).tolist() == labels()
    assert pipeline.fit_predict(people.to_pandas()).tolist() == labels()
    loaded = load_model(Path("people.model.skops")).pipeline
    np.testing.assert_array_equal(loaded.predict(people), pipeline.predict(people))


@pytest.mark.parametrize(
    ("options", "used"),
    [
        ((), ["age", "spend", "region", "member"]),
        (("--columns", "*e*,spend", "--drop", "re*"), ["age", "spend", "member"]),
        (("--columns", "spend,row"), ["row", "spend"]),
        (("--dates", "--drop", "region"), ["age", "spend", "member", "since"]),
        (("--categorical", "age", "--columns", "age"), ["age"]),
    ],
)
@pytest.mark.usefixtures("people")
def test_columns_are_chosen(run, options, used):
    result = run("fit", *OPTIONS, *options)
    assert result.exit_code == 0, result.output
    assert load_model(Path("people.model.skops")).columns == used


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_names_may_look_like_patterns(run, people, suffix):
    names = {"age": "*", "spend": "^.*$", "region": "re*"}
    table = people.select(list(names)).rename(names)
    (table.write_csv if suffix == ".csv" else table.write_parquet)(f"odd{suffix}")
    people.select(list(names)).write_csv("even.csv")
    for data in ("even.csv", f"odd{suffix}"):
        assert run("fit", data, "-k", 2, "--missing-values", 0.5).exit_code == 0
        result = run("predict", f"{data[: data.index('.')]}.model.skops", data, "--force")
        assert result.exit_code == 0, result.output
    model = load_model(Path("odd.model.skops"))
    assert model.columns == ["*", "^.*$", "re*"]
    assert labels("odd.labels.csv") == labels("even.labels.csv")
    assert model.label(table).labels.tolist() == labels("odd.labels.csv")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--columns", "agee"), ["--columns agee is no column; did you mean 'age'?"]),
        (("--drop", "x*"), ["--drop 'x*' matches no column"]),
        (("--categorical", "class"), ["--categorical class is no column"]),
        (
            ("--categorical", "age", "--drop", "row,a*"),
            ["--categorical and --drop both name 'age'"],
        ),
        (("--columns", "remark"), ["'remark' holds text", "--categorical remark"]),
        (("--missing", "error"), ["'age' (2 rows)", "--missing impute"]),
        (("--columns", "id,remark"), ["'id' holds text", "'remark' holds text"]),
    ],
)
@pytest.mark.usefixtures("people")
def test_refusals(refused, options, words):
    message = refused("fit", *OPTIONS, *options)
    assert all(word in message for word in ["people.csv: ", *words]), message


def test_rows_with_missing_values_are_dropped_on_request(run, people):
    result = run("fit", *OPTIONS, "--missing", "drop", "--soft", "--plot")
    assert result.exit_code == 0, result.output
    found = labels()
    assert [row for row, label in enumerate(found) if label is None] == [5, 77]
    people.drop_nulls().write_csv("rest.csv")
    run("fit", "rest.csv", *OPTIONS[1:], "--missing", "error")
    assert [label for label in found if label is not None] == labels("rest.labels.csv")
    assert "left out of" not in result.stderr
    assert run("predict", "people.model.skops", "people.csv", "--labels", "new.csv").exit_code == 0
    assert labels("new.csv") == found


@pytest.mark.parametrize("options", [[], ["--missing", "drop"]])
def test_rows_that_hold_nothing_need_no_class_and_no_weight(run, people, refused, options):
    people = people.select("age", "spend", "class").with_columns(weight=pl.lit(1.5)).drop_nulls()
    nothing = people.clear(1)
    pl.concat([people[:9], nothing, people[9:]]).write_csv("gaps.csv")
    people.write_csv("full.csv")
    columns = ["-k", 2, "--label-column", "class", "--weight-column", "weight"]
    result = run("fit", "gaps.csv", *columns, *options)
    assert result.exit_code == 0, result.output
    run("fit", "full.csv", *columns)
    expected = labels("full.labels.csv")
    assert labels("gaps.labels.csv") == [*expected[:9], None, *expected[9:]]
    known = [
        json.loads(Path(f"{n}.summary.json").read_text())["agreement"] for n in ("gaps", "full")
    ]
    assert known[0] == known[1]
    for column in ("class", "weight"):
        lacking = people.with_columns(
            pl.when(pl.col("age") == people["age"][4])
            .then(None)
            .otherwise(pl.col(column))
            .alias(column)
        )
        lacking.write_csv("lacking.csv")
        place = pl.Series(lacking[column].is_null()).arg_true()[0] + 2
        message = refused("fit", "lacking.csv", *columns)
        assert f"column '{column}'" in message
        assert f"line {place}" in message


def test_new_rows_are_read_as_the_fit_decided(run, people):
    run("fit", *OPTIONS)
    trained = labels()
    part = people.reverse().select("region", "age", "spend", "member")[:3]
    part.write_csv("part.csv")
    result = run("predict", "people.model.skops", "part.csv")
    assert result.exit_code == 0, result.output
    assert labels("part.labels.csv") == trained[:-4:-1]
    strange = people.with_columns(
        age=pl.Series(["old", *people["age"].cast(str).to_list()[1:]]),
        region=pl.Series(["mars"] * 3 + people["region"].to_list()[3:]),
    )
    strange.write_csv("strange.csv")
    result = run("predict", "people.model.skops", "strange.csv")
    assert "column 'region': 2 rows with values new to the model, such as 'mars'" in result.stderr
    assert "1 row without a label: no finite number" in result.stderr
    assert "'age' ('old' in line 2)" in result.stderr
    assert labels("strange.labels.csv")[0] is None
    assert labels("strange.labels.csv")[3:] == trained[3:]


def test_a_category_of_new_values_alone_is_warned_of(run, people):
    # Gaps, which the fit had too, are no values.
    people = people.with_columns(region=pl.when(pl.col("row") % 9 > 0).then("region"))
    people.write_csv("people.csv")
    run("fit", *OPTIONS)
    upper = people.with_columns(pl.col("region").str.to_uppercase())
    upper.write_csv("upper.csv")
    said = run("predict", "people.model.skops", "upper.csv").stderr
    assert "Warning: the fit has seen none of the values of 'region'. Other spellings" in said
    pl.concat([upper, people.drop_nulls()[:1]]).write_csv("upper.csv")
    assert "Warning" not in run("predict", "people.model.skops", "upper.csv", "--force").stderr


def test_each_row_is_counted_once(run, people):
    run("fit", *OPTIONS)
    full = people.drop_nulls()
    wrong = full[:2].with_columns(age=pl.lit("old"), region=pl.lit("mars"))
    gaps = full[2:5].with_columns(region=pl.lit(None, pl.String))
    rows = [people.clear(4), wrong, gaps, full[5:9].with_columns(region=pl.lit("mars"))]
    pl.concat([each.cast(pl.String) for each in rows]).write_csv("next.csv")
    result = run("predict", "people.model.skops", "next.csv")
    assert "column 'region': 7 rows with values new to the model, such as 'mars'" in result.stderr
    assert "2 rows without a label: no finite number" in result.stderr
    assert "4 rows without a value in any column" in result.stderr
    assert "filled from rows" not in result.stderr


def test_arrays_have_missing_values_too(run, people):
    X = people.select("age", "spend").to_numpy()
    np.save("array.npy", X)
    result = run("fit", "array.npy", "-k", 2, "--kernel", "rbf")
    assert "0 2 (2 %): are filled from similar rows" in result.stderr
    frame = people.select("age", "spend")
    frame.write_csv("frame.csv")
    run("fit", "frame.csv", "-k", 2, "--kernel", "rbf")
    assert labels("array.labels.csv") == labels("frame.labels.csv")
    run("predict", "frame.model.skops", "array.npy", "--labels", "new.csv")
    assert labels("new.csv") == labels("frame.labels.csv")


class TestViews:
    @pytest.fixture
    def options(self, people):
        Path("views.toml").write_text(
            '[[view]]\nname = "who"\ncolumns = ["age", "region", "row"]\nkernel = "rbf"\n'
            '[[view]]\nname = "what"\ncolumns = ["[smr]*"]\nkernel = "rbf"\n'
        )
        return "people.csv", "-k", 2, "--label-column", "class", "--views", "views.toml"

    def test_views_call_columns_of_all_kinds_by_their_names(self, run, people, options):
        result = run("fit", *options)
        assert result.exit_code == 0, result.output
        assert "columns in no view of views.toml are ignored: 'id'" in result.stderr
        assert "remark: text" in result.stderr
        kernels = json.loads(Path("people.summary.json").read_text())["kernels"]
        # The counter is called by its full name; age has no indicator, region three values.
        assert {kernel["name"]: kernel["columns"] for kernel in kernels} == {"who": 3, "what": 4}
        prepare = TableTransformer(columns=["age", "spend", "region", "member", "row"])
        Z = prepare.fit_transform(people)
        assert prepare.get_feature_names_out().tolist()[3:5] == ["region=east", "region=north"]
        views = [("rbf", [0, 1, 3, 4, 5]), ("rbf", [0, 2, 3, 4, 5, 6])]
        expected = MultiKernelPowerKMeans(2, kernels=views, random_state=0).fit(Z)
        assert labels() == expected.labels_.tolist()

    def test_new_rows_and_an_earlier_model(self, run, people, options):
        run("fit", *options)
        people.drop("id", "since", "remark").reverse().write_csv("next.csv")
        result = run("predict", "people.model.skops", "next.csv")
        assert result.exit_code == 0, result.output
        assert labels("next.labels.csv") == labels()[::-1]
        arguments = ("--like", "people.model.skops", "--seed", 5)
        result = run("fit", "next.csv", *options[1:], *arguments, "--force")
        assert result.exit_code == 0, result.output
        assert labels("next.labels.csv") == labels()[::-1]

    @pytest.mark.usefixtures("people")
    def test_rows_with_missing_values(self, run, refused, options):
        assert "'age' (2 rows)" in refused("fit", *options, "--missing", "error")
        result = run("fit", *options, "--missing", "drop")
        assert result.exit_code == 0, result.output
        assert [row for row, label in enumerate(labels()) if label is None] == [5, 77]

    @pytest.mark.parametrize(
        "choice", [("--categorical", "3"), ("--dates",), ("--missing", "drop")]
    )
    def test_a_sparse_table_is_of_numbers(self, refused, folder, choice):
        scipy.sparse.save_npz("X.npz", scipy.sparse.eye_array(9, format="csr"))
        assert "are for tables in memory" in refused("fit", "X.npz", "-k", 2, *choice)


def old_model(X) -> Model:
    """A model as the version before wrote it: a scaler and an estimator."""
    steps = [("scale", StandardScaler()), ("cluster", KernelPowerKMeans(2, random_state=0))]
    return Model(Pipeline(steps).fit(X), ["age", "spend"], "float64")


def test_models_of_numbers_alone_predict_the_same(run, people):
    numbers = people.select("age", "spend").fill_null(40.0)
    model = old_model(numbers.to_numpy())
    model.save("old.skops")
    numbers.with_columns(pl.Series("age", [None, *numbers["age"][1:]])).write_csv("new.csv")
    result = run("predict", "old.skops", "new.csv")
    assert result.exit_code == 0, result.output
    assert "1 row without a label: no finite number" in result.stderr
    expected = model.pipeline.predict(numbers.to_numpy()).tolist()
    assert labels("new.labels.csv") == [None, *expected[1:]]


@pytest.mark.usefixtures("folder")
def test_numbers_that_are_dates_are_left_out_and_said(run):
    days = [20230101 + 100 * (number % 12) + number % 28 for number in range(60)]
    rows = [f"{day},{number % 2 + number / 100}" for number, day in enumerate(days)]
    Path("joined.csv").write_text("\n".join(["day,age", *rows]))
    result = run("fit", "joined.csv", "-k", 2)
    assert result.exit_code == 0, result.output
    assert "columns used      1 number: age\n" in result.stderr
    assert "day: date, numbers such as 20230101, the option dates uses" in result.stderr
    result = run("fit", "joined.csv", "-k", 2, "--dates", "--force")
    assert "1 date: day" in result.stderr
    assert run("predict", "joined.model.skops", "joined.csv", "--force").exit_code == 0
    assert None not in labels("joined.labels.csv")


@pytest.mark.parametrize(
    ("yes", "no", "odd"), [("yes", "no", 7), ("true", "false", 7), (1, 0, -99)]
)
def test_numbers_that_are_no_flags_get_no_label(run, people, yes, no, odd):
    members = people["member"].replace_strict({"yes": str(yes), "no": str(no)})
    people = people.select("age", "spend", "region", member=members)
    people.write_csv("people.csv")
    assert run("fit", "people.csv", "-k", 2, "--kernel", "rbf").exit_code == 0
    people.with_columns(pl.Series("member", [str(odd), *members[1:]])).write_csv("new.csv")
    result = run("predict", "people.model.skops", "new.csv")
    assert result.exit_code == 0, result.output
    assert f"no finite number in 'member' ('{odd}" in result.stderr
    assert "(neither yes nor no) in line 2" in result.stderr
    assert labels("new.labels.csv") == [None, *labels()[1:]]


@pytest.mark.usefixtures("people")
@pytest.mark.usefixtures("short_searches")
def test_a_choice_says_the_same_of_columns_and_names_the_options(run):
    options = ("--drop", "re*", "--categorical", "member", "--kernels", "rbf", "--splits", 2)
    result = run("choose", "people.csv", "-k", "2-3", "--label-column", "class", *options)
    assert result.exit_code == 0, result.output
    assert "1 category: member (2 values)" in result.stderr
    found = json.loads(Path("people.choose.json").read_text())
    kinds = {column["name"]: column["kind"] for column in found["columns"] if column["used"]}
    assert kinds == {"age": "number", "spend": "number", "member": "category"}
    assert "--drop 're*' --categorical member" in found["command"]


@pytest.mark.usefixtures("people")
class TestModelFiles:
    @pytest.fixture
    def content(self, run):
        run("fit", *OPTIONS)
        content = skops.io.load("people.model.skops", trusted=list(TRUSTED_TYPES))
        assert isinstance(content["pipeline"][0], TableTransformer)
        return content

    def refusal(self, content) -> str:
        skops.io.dump(content, "new.skops", compression=zipfile.ZIP_DEFLATED)
        with pytest.raises(InputError) as caught:
            load_model(Path("new.skops"))
        return str(caught.value)

    @pytest.mark.slow
    @pytest.mark.parametrize(
        "change",
        [
            lambda step: step._columns.pop("kind"),
            lambda step: step._columns.update(kind=np.array(["number"])),
            lambda step: step._columns.update(kind=step._columns["kind"].tolist()),
            lambda step: step._columns["kind"].__setitem__(2, "odd"),
            lambda step: step._columns["used"].fill(False),
            lambda step: step._columns["n_values"].fill(2),
            lambda step: step._values.clear(),
            lambda step: step._columns.update(has_indicator=np.full(len(step._units), 10**9)),
            lambda step: step._columns["kind"].fill("text"),
            lambda step: step._values.update({name: np.zeros(2) for name in step._values}),
            lambda step: setattr(step, "_units", step._units.astype(str)),
            lambda step: setattr(step, "dtype", "int8"),
            lambda step: setattr(step, "missing", "boo"),
            lambda step: setattr(step.scaler_, "scale_", step.scaler_.scale_[:1]),
            lambda step: setattr(step, "_units", step._units[1:]),
            lambda step: setattr(step, "_medians", step._units[1:]),
            lambda step: setattr(step, "_donors", step._donors[:, 1:]),
            lambda step: setattr(step, "_donors", step._donors[:0]),
            lambda step: setattr(step, "_donors", step._donors.tolist()),
            lambda step: setattr(step, "n_features_in_", 3),
            lambda step: setattr(step.scaler_, "mean_", step.scaler_.mean_[1:]),
            lambda step: delattr(step, "scaler_"),
        ],
    )
    def test_parts_that_do_not_fit_together_are_refused(self, content, change):
        change(content["pipeline"][0])
        assert "incomplete" in self.refusal(content) or "damaged" in self.refusal(content)

    def test_no_other_number_is_in_a_file(self, content):
        content["pipeline"][0]._donors[0] = np.nan
        assert "holds NaN or infinity" in self.refusal(content)

    @pytest.mark.parametrize("name", ["transform", "inspect", "columns_", "report_"])
    def test_nothing_takes_the_place_of_a_method(self, content, name):
        vars(content["pipeline"][0])[name] = 1
        assert f"has a {name} of its own" in self.refusal(content)

    def test_types_that_a_table_does_not_need_are_foreign(self, content):
        from sklearn.preprocessing import FunctionTransformer

        content["pipeline"].steps.insert(0, ("first", FunctionTransformer(np.sin)))
        message = self.refusal(content)
        assert "holds types that no kernelmeans model has" in message
        assert "FunctionTransformer" in message


VECTORS = np.random.default_rng(0).normal(size=(30, 3)).astype("float32")
NESTED = {
    "lists": pl.Series("embedding", VECTORS.tolist()),
    "arrays": pl.Series("embedding", VECTORS, pl.Array(pl.Float32, 3)),
    "structs": pl.DataFrame(VECTORS, schema=[*"abc"]).to_struct("embedding"),
}


@pytest.fixture(params=NESTED)
def nested(request, folder) -> str:
    """The kind of a column, beside numbers in data.parquet, and beside names in names.parquet."""
    names = pl.DataFrame([NESTED[request.param]]).with_columns(
        id=pl.Series([f"C{number:02}" for number in range(30)])
    )
    names.write_parquet(folder / "names.parquet")
    names.with_columns(age=VECTORS[:, 0]).write_parquet(folder / "data.parquet")
    return request.param


@pytest.mark.usefixtures("nested")
@pytest.mark.parametrize("options", [(), ("--drop", "embedding"), ("--report",)])
def test_lists_and_structs_of_parquet_are_no_fault(run, options):
    result = run("fit", "data.parquet", "-k", 2, *options)
    assert result.exit_code == 0, result.output
    assert load_model(Path("data.model.skops")).columns == ["age"]
    assert run("predict", "data.model.skops", "data.parquet", "--force").exit_code == 0


@pytest.mark.usefixtures("nested")
@pytest.mark.parametrize("option", ["--label-column", "--weight-column", "--id-column"])
def test_lists_and_structs_are_no_labels_weights_or_identifiers(refused, option):
    message = refused("fit", "data.parquet", "-k", 2, option, "embedding")
    assert f"{option} names 'embedding', which holds lists or structs" in message


def test_how_to_use_lists_and_structs_is_said(run, refused, nested):
    usage = {"structs": 'structs: frame.unnest("embedding") of polars'}.get(
        nested,
        'lists of numbers: fit np.vstack(frame["embedding"]), or save that as .npy and fit it '
        "with --metric cosine",
    )
    result = run("fit", "data.parquet", "-k", 2)
    assert f"embedding: nested, {usage}" in " ".join(result.stderr.split())
    assert "embedding" not in Path("data.clusters.csv").read_text()
    assert f"(nested, {usage}" in refused("fit", "names.parquet", "-k", 2)
    message = refused("fit", "data.parquet", "-k", 2, "--force", "--columns", "embedding")
    assert f"'embedding' holds {usage}" in message


@pytest.mark.parametrize(("end", "line"), [(";\n;{}\n", 63), (";{}\n;\n", 62)])
def test_a_blank_line_beside_the_totals_changes_no_line(run, folder, end, line):
    rng = np.random.default_rng(0)
    ages, pieces = rng.integers(18, 80, 60), rng.integers(1, 9, 60)
    rows = "".join(f"{age};{count}\n" for age, count in zip(ages, pieces, strict=True))
    (folder / "orders.csv").write_text("age;pieces\n" + rows + end.format(pieces.sum()))
    said = run("fit", "orders.csv", "-k", "2").stderr
    assert said.count("looks like totals") == 1
    assert f"line {line} ('pieces') looks like totals" in said
