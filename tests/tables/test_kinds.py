"""What columns are, by their values: a row of the table below for each habit that is known."""

import io
import re
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine

from kernelmeans.tables import TableTransformer, column_kind
from kernelmeans.tables.kinds import found_in
from kernelmeans.tables.values import days_of, duration_of

N = 400
RNG = np.random.default_rng(0)


def some(values, missing=0):
    """N of these values at random, some of them missing."""
    chosen = list(RNG.choice(np.array(values, dtype=object), N))
    return chosen if not missing else [None] * missing + chosen[missing:]


def texts(values):
    return [str(value) for value in values]


INCOME = np.round(RNG.lognormal(10, 0.5, N)).astype(int)
# Whole numbers that are all different because their range is wide, not because they name rows.
CODES = RNG.integers(10_000, 99_999, N)
WIDE = RNG.permutation(np.arange(10**6))[:N]
COUNTING = np.arange(1, N + 1)
PHONES = RNG.permutation(np.arange(10**5))[:N] * 1009 + 4_915_100_000_000
SORTED = np.sort(RNG.normal(size=N))


DAYS = [year * 10000 + day for year in (1923, 2023, 2024) for day in (226, 227, 228)]


@pytest.mark.parametrize(
    ("kind", "name", "values"),
    [
        ("date", "joined", some(DAYS)),
        ("date", "joined", some(DAYS, missing=30)),
        ("date", "joined", np.array(some(DAYS), dtype=float)),
        ("date", "joined", texts(some(DAYS))),
        ("date", "joined", [*texts(some(DAYS)), "unknown", "never"]),
        ("date", "joined", [20240229, 20230101, 19000101, 21001231, 20200630]),
        ("number", "size", some([*DAYS, 20230229])),
        ("number", "size", some([*DAYS, 20231301])),
        ("number", "size", some([*DAYS, 20230100])),
        ("number", "size", some([*DAYS, 18991231])),
        ("number", "size", some([*DAYS, 21010101])),
        ("number", "size", some([*DAYS, 20230228.5])),
        ("number", "size", some(DAYS[:4])),
        ("number", "income", INCOME),
        ("number", "income", np.sort(INCOME)),
        ("number", "area", WIDE),
        ("number", "area", np.sort(WIDE)),
        ("number", "sorted", SORTED),
        ("number", "birth_year", some(range(1940, 2006))),
        ("number", "rating", some([1, 2, 3, 4, 5])),
        ("number", "rating", [None, np.nan, *some([1.0, 2.0, 3.5])]),
        ("number", "price", [f" {value} " for value in INCOME]),
        ("number", "rate", [f"{value} %" for value in some(range(90))]),
        ("number", "price", [f"€ {value}" for value in INCOME]),
        ("number", "gap", ["", "n/a", "-", *texts(INCOME)]),
        ("number", "small", [-1.5e-3, 2e5, 7.0]),
        ("number", "change", ["\u22121.5", "\u2212\u20092", "\u2212\u202f3", "7"]),
        ("number", "paid", some(range(9))),
        ("flag", "member", some([0, 1])),
        ("flag", "member", some([0.0, 1.0], missing=30)),
        ("flag", "member", some([True, False], missing=30)),
        ("flag", "member", some(["yes", "no"])),
        ("flag", "member", some(["Y", "N"], missing=3)),
        ("flag", "member", some(["TRUE", "FALSE"])),
        ("category", "region", some(["north", "south", "east"])),
        ("category", "region", some(["north", "south", "east"], missing=100)),
        ("category", "sex", some(["f", "m"])),
        ("category", "size", some(["S", "M", "L", "38", "40"])),
        ("category", "grade", some(["1-", "2", "2-", "3-"])),
        ("category", "month", some([f"{month:02d}" for month in range(1, 13)])),
        ("category", "churned", some(["yes"], missing=100)),
        ("category", "zip", some([10115, 20095, 80331])),
        ("identifier", "zip_code", some(range(10_000, 99_999))),
        ("identifier", "ID", some(range(10_000, 99_999))),
        ("identifier", "Customer ID", some(range(10_000, 99_999))),
        ("identifier", "Phone", some(range(10_000, 99_999))),
        ("number", "humid", some(range(10_000, 99_999))),
        ("identifier", "store_id", some(range(5000))),
        ("identifier", "customerId", some(range(5000))),
        ("identifier", "customer", [f"C{number:05d}" for number in COUNTING]),
        ("identifier", "hash", [f"{hash((3, n)) % 16**12:012x}" for n in range(N)]),
        ("identifier", "code", [f"{number:06d}" for number in WIDE]),
        ("identifier", "customer", RNG.permutation(COUNTING)),
        ("identifier", "customer", RNG.permutation(COUNTING) + 100_000),
        ("identifier", "mobile", PHONES),
        ("identifier", "iccid", [f"8949{number:016d}" for number in WIDE]),
        ("counter", "row", COUNTING),
        ("counter", "row", COUNTING.astype(float)),
        ("counter", "row", [0, 1, 2]),
        ("identifier", "row", [3, 1, 2]),  # the same values in another order
        ("number", "row", [1, 2, 4]),
        ("counter", "row", COUNTING[::2]),
        ("text", "remark", [f"called about {number}" for number in COUNTING]),
        ("text", "name", some([f"name {number}" for number in range(150)])),
        ("date", "signup", [f"2024-01-{day:02d}" for day in some(range(1, 29))]),
        ("date", "signup", [f"2024-01-{day:02d} 10:30:00" for day in some(range(1, 29))]),
        ("date", "signup", [f"{day}.1.2024" for day in some(range(1, 29))]),
        ("date", "signup", [f"{day:02d}/01/2024" for day in some(range(1, 29))]),
        ("date", "signup", np.array(["2024-01-01", "NaT", "2024-02-01"], "datetime64[D]")),
        ("number", "wait", np.array([1, 2, 40], "timedelta64[D]")),
        ("constant", "currency", ["EUR"] * N),
        ("constant", "currency", some(["EUR"], missing=20)),
        ("category", "currency", some(["EUR"], missing=21)),
        ("constant", "one", [1.5, None, 1.5]),
        ("constant", "empty", [None] * N),
        ("constant", "empty", ["", "NA", "-"]),
    ],
)
def test_kinds(kind, name, values):
    assert column_kind(values, name) == kind
    assert column_kind(pd.Series(values, name=name)) == kind
    if not isinstance(values, np.ndarray):
        assert column_kind(pl.Series(name, values, strict=False)) == kind
    if name != "row" and len(values) == N:  # the reason alone looks at the order
        order = RNG.permutation(N)
        assert column_kind(np.array(values, dtype=object)[order], name) == kind


@pytest.mark.parametrize(
    "name",
    [
        *("id", "customer_id", "customerId", "ID Kunde", "id_cliente", "zip", "zipcode", "PLZ"),
        *("Postleitzahl", "post_code", "country_code", "productCode", "código postal", "kod"),
        *("Kundennr", "Kunden-Nr.", "kundennr", "KdNr", "Artikelnummer", "artikel_nr", "KontoNr"),
        *("customer_no", "account number", "InvoiceNo.", "member_num", "phone", "Tel", "teléfono"),
        *("telefon_privat_nr", "numero_client", "número de cuenta", "siret", "ISBN", "date_key"),
    ],
)
def test_names_of_codes(name):
    assert column_kind(CODES, name) == "identifier"


@pytest.mark.parametrize(
    "name",
    [
        *("snr", "avg_snr", "PSNR", "number", "number_of_visits", "n_visits", "num_children"),
        *("humid", "grid", "paid", "episode", "decode", "mode", "monkey", "turkey", "zipped"),
        *("phones_sold", "code_lines", "market_cap", "hotel", "period", "no", "nrooms", "idle"),
        *("order_number", "numero_de_clientes", "tickets", "key_rate", "video", "android", "kodak"),
    ],
)
def test_names_of_numbers(name):
    assert column_kind(CODES, name) == "number"


@pytest.mark.parametrize(
    "values",
    [INCOME, WIDE, COUNTING, PHONES, some(["yes", "no"]), some([f"{n} x" for n in range(30)])],
)
def test_a_half_of_the_rows_has_the_same_kind(values):
    for seed in range(20):
        half = np.sort(np.random.default_rng(seed).permutation(N)[: N // 2])
        assert column_kind(np.array(values)[half]) in (
            column_kind(values),
            {"counter": "identifier"}.get(column_kind(values)),
        )


def test_numbers_that_chance_makes_different_are_no_identifiers():
    """Whole numbers drawn at random: of 2000 columns none may be left out."""
    rng = np.random.default_rng(1)
    for span in (300, 1000, 3000, 10_000):
        drawn = rng.integers(0, span, (500, 100))
        kinds = {column_kind(column) for column in drawn}
        assert kinds == {"number"}, span


@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer, load_diabetes])
def test_tables_of_measurements_are_used_as_a_whole(load):
    frame = load(as_frame=True).data
    columns = TableTransformer().fit(frame).columns_
    assert all(column.used for column in columns), columns
    # The sex of the patients is one of two numbers.
    assert {(column.kind, column.reason) for column in columns} == {("number", "")}


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("number", some([f"{number / 10} kg" for number in range(50)])),
        ("text", some([f"{number / 10} ng/mL" for number in range(50)])),
        ("number", some(["3 km/h", "5 km/h", "7 km/h"])),
        ("category", some(["3 ng/h", "5 ng/h", "7 ng/h"])),
        ("text", some(["1.2k", "3k", "400"])),
        ("text", some(["€ 1.2M", "€ 3M"])),
        ("category", some(["1st", "2nd", "3rd"])),
        ("category", some([f"C{number}" for number in range(20)])),
    ],
)
def test_text_with_digits(kind, values):
    assert column_kind(values) == kind


@pytest.mark.parametrize(("n_none", "is_value"), [(5, False), (6, True), (900, True)])
def test_none_is_a_value_of_words_where_it_is_frequent(n_none, is_value):
    # 5 % of 100 rows are rare; None is a gap, as always.
    words = ["None"] * n_none + ["roommate", "parent"] * 47 + ["parent"] * (6 - n_none)
    table = pd.DataFrame({"with": words + [None] * 40}).assign(x=np.arange(len(words) + 40) % 7)
    prepare = TableTransformer(scale=False).fit(table)
    names = prepare.get_feature_names_out().tolist()
    assert ("with=None" in names) == is_value
    n_missing = 40 + n_none * (not is_value)
    assert prepare.columns_[0].n_missing == n_missing
    assert prepare.transform(table)[:, names.index("with=missing")].sum() == n_missing
    # New rows are read by the decision of the fit.
    found = prepare.transform(pd.DataFrame({"with": ["None", None, None], "x": 0}))
    read = [names[row.argmax()] for row in found]
    assert read == ["with=None" if is_value else "with=missing", *["with=missing"] * 2]


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("number", [f"{number / 8}" for number in range(80)]),
        ("flag", ["yes", "no"] * 40),
        ("date", ["2025-01-02", "2025-03-04"] * 40),
        ("identifier", [f"user{number}@x.org" for number in range(80)]),
    ],
)
def test_none_is_missing_among_all_but_words(kind, values):
    found = found_in(np.array(["none"] * 60 + values, dtype=object), "")
    assert (found.kind, found.n_missing) == (kind, 60)


@pytest.mark.parametrize("signs", ["+-", "*+-"])
@pytest.mark.parametrize("missing", [0, 20])
def test_a_minus_sign_is_a_value_of_signs(signs, missing):
    column = np.array([*signs * 20, *"." * missing], dtype=object)
    found = found_in(column, "strand")
    assert (found.kind, found.n_missing) == ("category", missing)
    assert list(found.values) == sorted(signs) + [""] * (missing > 0)
    beside = np.array([*signs * 20, *["none"] * 20], dtype=object)
    assert list(found_in(beside, "").values) == [*sorted(signs), "none"]
    rare = np.array(["-"] + ["+"] * 99)
    assert column_kind(rare) == column_kind(rare[::-1]) == "category"


@pytest.mark.parametrize("values", ["+-a", "-*", "-ab", "-12"])
def test_a_minus_sign_is_missing_beside_other_values(values):
    found = found_in(np.array([*values * 20], dtype=object), "")
    assert (found.n_missing, "-" in found.values) == (20, False)


def test_signs_are_read_as_the_fit_decided():
    table = pl.DataFrame({"x": [0.5, 1.0, 1.5, 2.5] * 9, "strand": [*"+-.-"] * 9})
    prepare = TableTransformer(scale=False).fit(table)
    names = ["x", "strand=+", "strand=-", "strand=missing"]
    assert prepare.get_feature_names_out().tolist() == names
    alone = [prepare.transform(row) for row in table.iter_slices(1)]
    np.testing.assert_array_equal(np.vstack(alone), prepare.transform(table))
    # As older models know it: other signs are missing.
    older = TableTransformer(scale=False).fit(table.with_columns(strand=pl.Series([*"+..."] * 9)))
    marks = older.transform(table)[:4, 1:]
    np.testing.assert_array_equal(marks, [[1, 0], [0, 1], [0, 1], [0, 1]])


@pytest.mark.parametrize(
    ("values", "examples"),
    [
        ([f"{number / 10}k" for number in range(60)], "'0.0k'"),
        # An error code that is as frequent as the numbers is no slip among them.
        ([f"{number % 13} bar" for number in range(56)] + ["E17"] * 4, "'0 bar' and 'E17'"),
        ([f"{number % 13}k" for number in range(56)] + ["k.A."] * 4, "'0k'"),
    ],
)
def test_numbers_with_units_are_left_out_with_a_reason(values, examples):
    table = pl.DataFrame({"a": np.arange(60) % 7, "b": values})
    text = " ".join(TableTransformer().fit(table).report_.split())
    said = f"b: text, numbers with units or multiples, such as {examples}: write plain numbers"
    assert said in text


def test_numbers_with_a_unit_have_a_remark():
    table = {"a": np.arange(N) % 7, "pack": some(["5 kg", "10 kg", "20"])}
    table |= {"doors": some(["2 doors", "4 doors"]), "place": some(["1st", "2nd", "3rd"])}
    table |= {"speed": some(["3 ng/h", "5 ng/h", "7 ng/h"])}
    prepare = TableTransformer().fit(pl.DataFrame(table))
    reasons = {column.name: column.reason for column in prepare.columns_ if column.used}
    n_bare = sum(value == "20" for value in table["pack"])
    pack = f"in 'kg' ({n_bare} numbers without it)"
    speed = "numbers with 'ng/h': plain numbers would be compared as such"
    assert reasons == {"a": "", "pack": pack, "doors": "", "place": "", "speed": speed}
    assert f"pack: {pack}" in " ".join(prepare.report_.split())


@pytest.mark.parametrize("fraction", [0.08, 0.3, 0.45, 0.7])
def test_numbers_without_a_unit_are_in_that_of_the_others(fraction):
    numbers = np.random.default_rng(0).integers(10_000, 99_999, 400)
    has_unit = np.arange(400) < fraction * 400
    income = np.where(has_unit, [f"{one} EUR" for one in numbers], numbers.astype(str))
    table = pd.DataFrame({"income": income})
    prepare = TableTransformer(scale=False).fit(table)
    n_bare = 400 - has_unit.sum()
    assert prepare.columns_[0].reason == f"in 'EUR' ({n_bare} numbers without it)"
    np.testing.assert_array_equal(prepare.transform(table)[:, 0], numbers)


@pytest.mark.parametrize(
    ("units", "reason"),
    [
        ((" EUR", " USD"), "numbers, but also values such as"),
        (("k", "k"), "numbers, but also values such as"),
    ],
    ids=["two units", "multiples"],
)
def test_numbers_without_a_unit_beside_several_or_multiples_are_left_out(units, reason):
    numbers = np.random.default_rng(0).integers(10_000, 99_999, 400)
    income = [f"{one}{units[row % 2] if row % 5 == 0 else ''}" for row, one in enumerate(numbers)]
    prepare = TableTransformer().fit(pd.DataFrame({"a": np.sin(numbers), "income": income}))
    assert not prepare.columns_[1].used
    assert reason in prepare.columns_[1].reason


@pytest.mark.parametrize(("usual", "other"), [(".", ","), (",", ".")])
def test_numbers_under_two_decimal_marks_are_left_out(usual, other):
    values = [f"{row}{other if row % 4 == 0 else usual}5 €" for row in range(400)]
    prepare = TableTransformer().fit(pd.DataFrame({"a": values, "b": np.arange(400.0) ** 2}))
    mark, example = {".": "point", ",": "comma"}[usual], f"0{other}5 €"
    said = f"numbers in '€' with a decimal {mark}, but also values such as {example!r}"
    assert prepare.columns_[0].reason == said


@pytest.mark.parametrize("as_type", ["str", "category"])
def test_values_that_differ_in_capitals_have_a_remark(as_type):
    """Blanks around a value do not count, so they need none."""
    table = {"a": np.arange(N) % 7, "city": some(["Berlin", "berlin", "BONN", "Ulm", "bonn"])}
    table["size"] = some(["large", "large ", "small"])
    columns = TableTransformer().fit(pd.DataFrame(table).astype({"city": as_type})).columns_
    pairs = "'BONN' and 'bonn', 'Berlin' and 'berlin'"
    same = f"{pairs} are different values: write them alike if they mean the same"
    assert {one.name: one.reason for one in columns} == {"a": "", "city": same, "size": ""}
    assert columns[2].n_values == 2


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame])
def test_words_among_few_numbers_have_a_remark(library):
    """It says what the column is taken for, and how it becomes the other kind."""
    answers = [str(1 + row % 7) for row in range(400)]
    often, rarely = answers.copy(), answers.copy()
    often[::8], rarely[::40] = ["don't know"] * 50, ["don't know"] * 10
    table = {"often": often, "rarely": rarely, "sizes": ["1", "2", "3+", "1"] * 100}
    table |= {"codes": ["01", "12", "13", "14"] * 100, "y": np.arange(400) ** 2 / 7}
    prepare = TableTransformer(columns=["*", "codes"]).fit(library(table))
    said = {column.name: (column.kind, column.reason) for column in prepare.columns_}
    known = "; the option missing_values takes such words for missing values"
    assert said == {
        "often": ("category", f'a category, as "don\'t know" (50 rows) is no number{known}'),
        "rarely": (
            "number",
            '"don\'t know" (10 rows) taken as missing; the option categorical makes them values',
        ),
        "sizes": ("category", f"a category, as '3+' (100 rows) is no number{known}"),
        "codes": ("category", ""),
        "y": ("number", ""),
    }
    other = TableTransformer(missing_values=["don't know"], categorical=["rarely"])
    kinds = [column.kind for column in other.fit(library(table)).columns_]
    assert kinds[:2] == ["number", "category"]


@pytest.mark.parametrize("table", [pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize("n_rows", [15, 400])  # in the longer table the words are rare
def test_a_second_line_of_names_is_refused(table, n_rows):
    rng = np.random.default_rng(0)
    columns = {name: [f"{x:.2f}" for x in rng.normal(size=n_rows)] for name in ("a", "b", "c")}
    columns |= {"town": ["Rome", "Pisa", "Bari"] * (n_rows // 3) + ["Rome"] * (n_rows % 3)}
    units = {"a": ["[cm]"], "b": ["m2"], "c": [""], "town": ["name"]}
    below = table({name: units[name] + columns[name] for name in columns})
    with pytest.raises(
        ValueError, match=r"\('\[cm\]', 'm2'.*\) looks like units .*: delete it, or"
    ):
        TableTransformer().fit(below)
    TableTransformer().fit(table(columns))
    # A row with a number holds no units.
    units["c"] = ["7.5"]
    slips = table({name: units[name] + columns[name] for name in columns})
    with pytest.raises(ValueError, match="'b' holds numbers, but 'm2'"):
        TableTransformer().fit(slips)


def reasons_of(numbers):
    """What is said of a column of numbers, as numbers and as text."""
    columns = {"x": numbers, "text": [f"{number:g}" for number in numbers]}
    reasons = [
        TableTransformer().fit(library({name: values})).columns_[0].reason
        for name, values in columns.items()
        for library in (pd.DataFrame, pl.DataFrame)
    ]
    assert len(set(reasons)) == 1
    return reasons[0]


@pytest.mark.parametrize(
    ("code", "numbers"),
    [
        (-9999, RNG.normal(size=N)),
        (-999, RNG.lognormal(10, 2, N)),
        (-99, RNG.integers(18, 90, N)),
        (999, RNG.integers(2, 7, N)),
        (99, RNG.integers(0, 11, N)),
        (-99.9, RNG.uniform(0, 40, N).round(1)),
    ],
)
def test_nines_that_are_far_from_all_others_are_doubted(code, numbers):
    assert reasons_of(numbers) == ""
    numbers = np.array(numbers, float)
    numbers[:2] = code
    assert reasons_of(numbers) == ""
    numbers[2:20] = code
    assert reasons_of(numbers) == (
        f"{code} (20 rows) may stand for missing values: if so, leave such cells empty"
    )


@pytest.mark.parametrize("highest", [8, 9])
def test_minus_one_beside_many_numbers_that_are_not_negative_is_doubted(highest):
    numbers = np.r_[np.resize(np.arange(highest + 1.0), N), [-1] * N]
    doubt = f"-1 ({N} rows) may stand for missing values: if so, leave such cells empty"
    assert reasons_of(numbers) == doubt * (highest == 9)
    assert reasons_of(np.r_[numbers, -0.5]) == ""
    # Whole degrees, and -1 is the coldest day by chance.
    assert reasons_of(np.r_[numbers[:N], [0] * N, [-1] * N]) == ""


@pytest.mark.parametrize(
    "numbers",
    [
        np.r_[RNG.integers(0, 999, N), [999] * 20],  # the end of a scale
        np.r_[RNG.integers(-900, 900, N), [-999] * 20],
        np.r_[RNG.integers(7, 14, N), [90] * 20],  # days to pay
        np.r_[RNG.uniform(1000, 1500, N), np.zeros(20)],
        np.r_[RNG.integers(1, 5, N), [9] * 20],
        np.r_[RNG.uniform(9, 1000, N), [99] * 20],
    ],
)
def test_other_numbers_in_many_rows_are_not(numbers):
    assert reasons_of(numbers) == ""


def test_other_values_that_are_no_numbers_are_counted():
    values = [*map(str, range(300)), "about 12", "about 4", "about 4", "a lot"]
    with pytest.raises(
        ValueError, match=r"'about 12' \(row 300.* is none; likewise 2 other values"
    ):
        TableTransformer().fit(pl.DataFrame({"a": values}))
    with pytest.raises(ValueError, match=r"is none; likewise 1 other value, such as 'about 4'"):
        TableTransformer().fit(pl.DataFrame({"a": values[:-1]}))


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (["5%", "0.07", "8%", "9%"], "'0.07' (row 1, the first data row being 0) has no '%'"),
        (["5", "7%", "8", "9"], "'7%' (row 1, the first data row being 0) has a unit"),
    ],
)
def test_a_sign_of_some_rows_is_the_cause(values, words):
    with pytest.raises(ValueError, match=re.escape(words)):
        TableTransformer().fit(pl.DataFrame({"a": values}))


def test_dates_that_may_be_read_in_two_ways_name_an_example_and_a_way_out():
    table = pl.DataFrame({"age": [1.5, 2.5], "first_seen": ["2015-03-02", "03/02/2015"]})
    with pytest.raises(ValueError, match="first_seen") as caught:
        TableTransformer(dates=True).fit(table)
    assert "'03/02/2015' (row 1, the first data row being 0)" in str(caught.value)
    assert "drop='first_seen'" in str(caught.value)
    # A day that exists in another order is no gap, but one that exists in no order may be.
    assert "are read, not 12/31/2025: write them as" in str(caught.value)
    assert "missing_values" not in str(caught.value)
    wrong = pl.DataFrame({"age": [1.5, 2.5], "seen": ["02.03.2015", "31.02.2015"]})
    with pytest.raises(ValueError, match=r"'31.02.2015' .*missing_values=\['31.02.2015'\]"):
        TableTransformer(dates=True).fit(wrong)


def test_a_table_without_dates_that_are_read_says_so():
    months = [f"{1 + row % 28} Jan 2026" for row in range(80)]
    with pytest.warns(UserWarning, match="dates=True: no column to use holds dates that are read"):
        TableTransformer(dates=True).fit(pl.DataFrame({"x": np.arange(80) / 7, "seen": months}))


def test_dates_are_read_as_the_page_lists_them():
    page = (Path(__file__).parents[2] / "docs/guide/data.md").read_text("utf-8")
    section = page.partition("## Dates")[2].partition("A column of these")[0]
    lines = [line for line in section.splitlines() if line.startswith("- ")]
    forms = {line: re.findall("`(.+?)`", line) for line in lines}
    assert sum(map(len, forms.values())) == 13
    for line, texts in forms.items():
        days = [np.floor(days_of(text)) for text in texts]
        expected = np.nan if line.startswith("- not read") else 20453  # from 1970 to 2025-12-31
        np.testing.assert_array_equal(days, expected)


@pytest.mark.parametrize(
    ("text", "date"),
    [("19000101", "1900-01-01"), ("21001231", "2100-12-31"), ("20240229", "2024-02-29")],
)
def test_eight_digits_are_days_from_1900_to_2100(text, date):
    assert days_of(text) == (np.datetime64(date) - np.datetime64("1970-01-01")).astype(int)


@pytest.mark.parametrize("text", ["18991231", "21010101", "20251301", "20230229", "12345678"])
def test_eight_digits_that_are_no_such_day_are_no_date(text):
    assert np.isnan(days_of(text))


@pytest.mark.parametrize("n_codes", [3, 4, 5])
def test_few_numbers_from_1_on_may_be_codes_and_stay_numbers(n_codes):
    numbers = RNG.integers(1, n_codes + 1, N)
    said = f"{n_codes} different whole numbers; the option categorical takes codes for categories"
    assert reasons_of(numbers) == said
    prepare = TableTransformer().fit(pd.DataFrame({"ward": numbers}))
    assert prepare.columns_[0].kind == "number"
    assert f"ward: {said}" in " ".join(prepare.report_.split())


@pytest.mark.parametrize(
    "numbers",
    [
        RNG.integers(0, 4, N),  # children
        RNG.choice([1, 2, 3, 4, 5], N, p=[0.3, 0.4, 0.17, 0.11, 0.02]),  # people at a table
        RNG.integers(0, 2, N),
        RNG.integers(1, 3, N),
        RNG.integers(1, 7, N),
        RNG.choice([4, 6, 8], N),  # cylinders
        RNG.choice([1, 2, 4], N),
        RNG.choice([1, 3, 5], N),
        RNG.choice([1, 1.5, 2, 3], N),
        RNG.integers(1, 4, 25),
    ],
)
def test_counts_flags_and_measurements_are_no_codes(numbers):
    assert reasons_of(numbers) == ""


def test_text_of_a_nearly_empty_column_says_so():
    values = [None] * 1453 + ["Gd", "Fa", "Ex", "Gd", "Ex", "Fa", "Gd"]
    table = pd.DataFrame({"pool": values, "area": np.arange(1460.0) ** 2})
    column = TableTransformer().fit(table).columns_[0]
    assert (column.kind, column.used) == ("text", False)
    assert column.reason == "nearly empty: 7 rows of 1460 with a value"


@pytest.mark.parametrize(
    ("text", "minutes"),
    [
        ("1970/01/02", 1440),
        ("1970-1-2, 0:30", 1470),
        ("1970.01.02 12:05 AM", 1445),
        ("2.1.1970 12:05:00 pm", 2165),
        ("1970/01/02 1:00:00 PM GMT+1", 2160),
        ("1970-01-02 13:00 UTC", 2220),
        ("1970-01-02 13:00 PM", 2220),
        ("1970-01-01T21:00:00-0330", 1470),
    ],
)
def test_dates_are_written_in_many_ways(text, minutes):
    assert days_of(text) == pytest.approx(minutes / 1440)


@pytest.mark.parametrize("text", ["1970/13/01", "1970/01-02", "01/02/1970"])
def test_other_dates_are_not_guessed(text):
    assert np.isnan(days_of(text))


@pytest.mark.parametrize("span", ["00:00:01", "1:56:33", "-36:00:59.25", "3 days", "-1 days"])
def test_durations_are_days(span):
    delta = pd.Timedelta(span)
    for text in (str(delta), str(delta.to_pytimedelta()), span):
        assert duration_of(text) == pytest.approx(delta / pd.Timedelta("1D"))
    assert np.isnan(duration_of(f"{span}:"))


@pytest.mark.parametrize(
    "text",
    [
        "1:56",
        "10:70:00",
        "1:2:3",
        "3",
        "12:30:00 PM",
        ":00:00",
        "",
        " 1:00:00",
        "9" * 400 + ":00:00",
    ],
)
def test_other_text_is_no_duration(text):
    assert np.isnan(duration_of(text))


def test_durations_are_read_as_frames_hold_them(rng):
    spans = pd.Series(pd.to_timedelta(rng.integers(-9, 10**6, 50), unit="s")).mask(
        rng.random(50) < 0.1
    )
    spans[7], spans[9] = pd.Timedelta(seconds=1.5), pd.Timedelta(days=2)
    held = pd.DataFrame({"time": spans, "size": rng.normal(size=50)})
    written = pl.read_csv(io.StringIO(held.to_csv(index=False)))
    assert written.schema["time"] == pl.String
    for fitted in (held, written):
        transformer = TableTransformer().fit(fitted)
        assert [column.kind for column in transformer.columns_] == ["number", "number"]
        for given in (held, pl.from_pandas(held), written):
            np.testing.assert_allclose(transformer.transform(given), transformer.transform(held))
        assert transformer.columns_[0].reason == "durations in days"


def test_durations_are_no_plain_numbers(rng):
    fitted = pd.DataFrame({"minutes": rng.normal(60, 9, 50), "size": rng.normal(size=50)})
    transformer = TableTransformer().fit(fitted)
    spans = fitted.assign(minutes=pd.to_timedelta(fitted["minutes"], unit="m"))
    for given in (spans, pl.from_pandas(spans)):
        assert not transformer.inspect(given).placeable.any()


def test_text_that_only_looks_like_durations_stays_text():
    assert column_kind([*["1:56:33", "2:00:01", "0:10:00"] * 9, "late", "later", "12"]) != "number"
    assert column_kind(["1:56:33"] * 9) == "constant"


def test_a_row_of_totals_at_an_end_is_pointed_out(rng):
    table = pl.DataFrame(
        {
            "who": [f"n{row}" for row in range(40)],
            "euros": rng.lognormal(3, 1, 40).round(2),
            "share": rng.uniform(size=40),
            "pieces": rng.integers(0, 9, 40),
        }
    )
    last = table.select(
        pl.lit("Summe").alias("who"),
        pl.col("euros").sum().round(1),
        pl.lit(None, pl.Float64).alias("share"),
        pl.col("pieces").sum(),
    )
    means = last.with_columns(pl.col("euros", "pieces") // 40)
    for rows, place in (([table, last], 40), ([last, table], 0), ([table, last, means], 40)):
        said = rf"row {place} \('euros', 'pieces', the first data row being 0\) looks like totals"
        with pytest.warns(UserWarning, match=said):
            TableTransformer().fit(pl.concat(rows))
    with warnings.catch_warnings(action="error"):
        TableTransformer().fit(table)
        TableTransformer().fit(pl.concat([table, last, last, last]))
        TableTransformer().fit(pl.DataFrame({"x": [0.5, 1.5, 2.5, 4.5], "y": [0, 0, 3, 3]}))


@pytest.mark.parametrize("ends", [(6, 13, 40), (8, 12), (2, 20, 41)])
def test_rows_of_subtotals_are_pointed_out(rng, ends):
    euros = rng.lognormal(3, 1, ends[-1]).round(2)
    groups = np.split(euros, ends[:-1])
    sums = [group.sum() for group in groups]
    column = np.concatenate([[*group, total] for group, total in zip(groups, sums, strict=True)])
    grades = rng.integers(1, 6, len(column) + 1)
    for rows in (column, np.append(column, euros.sum())):
        places = [end + group for group, end in enumerate(ends)]
        places += [len(column)] * (len(rows) > len(column))
        table = pl.DataFrame({"euros": rows, "grade": grades[: len(rows)]})
        named = ", ".join(f"row {place}" for place in places)
        said = rf"^{named} \('euros', the first data row being 0\) look like subtotals"
        with pytest.warns(UserWarning, match=said):
            TableTransformer().fit(table)
        with warnings.catch_warnings(action="error"):
            # Fewer rows, or one more that belongs to no group, are no sign of totals.
            TableTransformer().fit(table[:7])
            TableTransformer().fit(pl.concat([table, table[:1], table[:1]]))


def test_periods_are_no_totals():
    """One, one and two are a pattern, though each two is the sum of the numbers before it."""
    with warnings.catch_warnings(action="error"):
        TableTransformer().fit(np.tile([1.0, 0.0, 2.0, 3.0, 0.5], 400)[:, None])
        TableTransformer().fit(np.tile([1.0, 2.0, 3.0], 400)[:, None])
        # Steps of two sizes, and sums of the two numbers before.
        TableTransformer().fit([[step * one] for step in (1, 2, 5, 10) for one in (1, 2, 3)])
        TableTransformer().fit([[one] for one in (1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144)])


def test_in_a_few_of_many_columns_numbers_add_up_by_chance(rng):
    counts = rng.poisson(4, size=(16, 300)).astype(float)
    with warnings.catch_warnings(action="error"):
        TableTransformer().fit(counts)
        counts[:, 0] = [1, 5, 2, 7, 15, 2, 19, 8, 3, 32, 3, 6, 20, 4, 33, 80]
        TableTransformer().fit(counts)
    with pytest.warns(UserWarning, match="look like subtotals"):
        TableTransformer().fit(counts[:, :10])


@pytest.mark.parametrize("start", [1, 0.1, 1 / 3])
def test_doubling_numbers_are_no_totals(start):
    numbers = start * 2.0 ** np.arange(40)
    with warnings.catch_warnings(action="error"):
        TableTransformer().fit(numbers[:, None])
        TableTransformer().fit(pl.DataFrame({"x": [f"{one:.6g}" for one in numbers[:20]]}))
    # Rows that hold a half and a quarter of a total are no sign of doubling.
    with pytest.warns(UserWarning, match="looks like totals"):
        TableTransformer().fit([[start * one] for one in (*range(1, 11), 55, 110, 220)])
