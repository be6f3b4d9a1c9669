"""Tables as people write them: read right, or read with a warning or refused, naming an option."""

import csv
import gzip
import io
import json
import re
import warnings
import zipfile
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from cli.loading import with_numbers
from kernelmeans._dialect import speaking
from kernelmeans._errors import InputError
from kernelmeans.cli.options import flags
from kernelmeans.models import load_model
from kernelmeans.models.content import write_model
from kernelmeans.tables import TableTransformer
from kernelmeans.tables.files import Reading
from kernelmeans.tables.files.tables import open_file

#: What every file of the corpus holds.
TABLE = pl.DataFrame(
    {
        "town": ["Köln", "Zürich; am See", "Paris, France", "Rome\n(old)", "Lyon", 'the "Hague"'],
        "income": [1234.5, 23456.75, 987.25, 1234567.5, 0.5, -12345.0],
        "visits": [1, 20, 300, 4000, 50000, 600000],
        "rate": [0.5, None, 12.345, 99.9, 1e-3, 7.0],
    }
)


def number(value: float | None, decimal: str, thousands: str) -> str:
    if value is None:
        return ""
    text = f"{value:,}".replace(",", "\0").replace(".", decimal)
    return text.replace("\0", thousands)


def text(
    *,
    frame: pl.DataFrame = TABLE,
    separator: str = ",",
    decimal: str = ".",
    thousands: str = "",
    header: bool = True,
    ending: str = "\n",
    quoting: int = csv.QUOTE_MINIMAL,
) -> str:
    file = io.StringIO()
    writer = csv.writer(file, delimiter=separator, lineterminator=ending, quoting=quoting)
    if header:
        writer.writerow(frame.columns)
    for row in frame.iter_rows():
        writer.writerow(
            value if isinstance(value, str) else number(value, decimal, thousands) for value in row
        )
    return file.getvalue()


def lines_changed(change, content: str) -> str:
    """The text with each line changed, if none is within quotes."""
    return "".join(f"{change(line)}\n" for line in content.splitlines())


PLAIN = TABLE.with_columns(town=pl.Series(["Cologne", "Zurich", "Paris", "Rome", "Lyon", "Hague"]))
COMMAS = text(separator=";", decimal=",")
RIGHT = {
    "commas": text(),
    "semicolons": text(separator=";"),
    "tabs": text(separator="\t"),
    "pipes": text(separator="|"),
    "decimal commas": COMMAS,
    "decimal commas between tabs": text(separator="\t", decimal=","),
    "decimal commas in quotes": text(decimal=","),
    "everything in quotes": text(quoting=csv.QUOTE_ALL),
    "thousands with commas": text(thousands=","),
    "thousands with points": text(separator=";", decimal=",", thousands="."),
    "thousands with apostrophes": text(separator=";", thousands="'"),
    "thousands with Swiss apostrophes": text(separator=";", thousands="\u2019"),
    "thousands with thin spaces": text(separator=";", decimal=",", thousands="\u2009"),
    "thousands with spaces that do not break": text(decimal=",", thousands="\u00a0"),
    "thousands with narrow spaces": text(decimal=",", thousands="\u202f"),
    "Windows lines": text(ending="\r\n"),
    "UTF-8 with a mark": COMMAS.encode("utf-8-sig"),
    "UTF-16": COMMAS.encode("utf-16"),
    "UTF-16, the other order": "\ufeff".encode("utf-16-be") + COMMAS.encode("utf-16-be"),
    "UTF-16 without a mark": COMMAS.encode("utf-16-le"),
    "UTF-16 without a mark, the other order": COMMAS.encode("utf-16-be"),
    "gzip": gzip.compress(text().encode()),
    "gzip of UTF-16": gzip.compress(COMMAS.encode("utf-16")),
    "two parts of gzip": gzip.compress(text()[:20].encode()) + gzip.compress(text()[20:].encode()),
    "blank lines": text().replace("Lyon,", "\n\nLyon,") + "\n\n",
    "a blank first line": "\n" + text(),
    "no last line end": text().rstrip("\n"),
    "names in a comment alone": "# " + text(),
    "the separator declared": "sep=;\n" + COMMAS,
    "the separator declared, for Windows": '"sep=|"\r\n' + text(separator="|", ending="\r\n"),
}
SAID = {
    "cp1252": (COMMAS.encode("cp1252"), "--encoding"),
    "thousands with spaces": (text(separator=";", decimal=",", thousands=" "), "--thousands"),
    "a title": ("Customers of 2024\n\n" + text(), "line 3 is taken for the names"),
    "a title with separators": ("Customers;;;\n" + COMMAS, "line 2 is taken for the names"),
    "a title with a comma": ("Report of customers, 2025\n\n" + text(), "line 3 is taken for"),
    "groups above the names": (",Place,,Money\n" + text(), "the 2 lines up to line 2"),
    "comments": ("# from the shop\n# in euros\n" + text(), "line 3 is taken for the names"),
    "names in a comment": ("# about\n# " + text(), "line 2 is taken for the names"),
}


def read(content: str | bytes, name: str = "data.csv", **reading: object) -> pl.DataFrame:
    Path(name).write_bytes(content.encode() if isinstance(content, str) else content)
    return with_numbers(open_file(Path(name), Reading(**reading)))


@pytest.fixture(autouse=True)
def _in_a_folder(folder):
    pass


@pytest.mark.parametrize("content", RIGHT.values(), ids=RIGHT)
def test_read_right(content):
    assert_frame_equal(read(content), TABLE)


@pytest.mark.parametrize(("content", "words"), SAID.values(), ids=SAID)
def test_read_right_with_a_warning(content, words):
    with pytest.warns(UserWarning, match=words):
        assert_frame_equal(read(content), TABLE)


@pytest.mark.parametrize(
    "name",
    [
        *("data.tsv", "data.txt", "DATA.CSV", "data.data", "data.dat", "data.tab"),
        *("data.tsv.gz", "data.csv.gz", "data.zip", "data.csv.zip"),
    ],
)
def test_the_suffix_does_not_matter(name):
    content = text(separator="\t").encode()
    if name.endswith("zip"):
        content = zipped(**{"folder/": b"", "folder/x": content, "__MACOSX/._x": b"\0"})
    packed = gzip.compress(content) if name.endswith("gz") else content
    assert_frame_equal(read(packed, name), TABLE)


def zipped(**members: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return file.getvalue()


def test_outputs_of_a_zip_are_named_as_the_table(run):
    rows = "".join(f"{i % 2}.5,{i}\n" for i in range(20))
    Path("data.csv.zip").write_bytes(zipped(**{"x.csv": f"a,b\n{rows}".encode()}))
    assert run("fit", "data.csv.zip", "-k", 2).exit_code == 0
    assert Path("data.labels.csv").exists()


@pytest.mark.filterwarnings("ignore:.*is large")
@pytest.mark.parametrize(
    ("content", "words"),
    [
        (zipped(x=b"a\n1\n", y=b"a\n2\n"), "holds 2 files ('x', 'y'), but a single table"),
        (zipped(), "holds 0 files"),
        (zipped(x=b"a\n" * 10**5), "allow more with --memory-budget"),
        (b"PK", "cannot be read as ZIP"),
    ],
    ids=["two", "none", "large", "damaged"],
)
def test_archives_that_are_no_table(content, words):
    Path("data.zip").write_bytes(content)
    with pytest.raises(InputError, match=re.escape(words)):
        open_file(Path("data.zip"), budget=1e6)


@pytest.mark.parametrize(
    "content",
    [
        text(frame=PLAIN).replace("\n", "\r"),
        lines_changed(lambda line: line.replace(",", " , "), text(frame=PLAIN)),
        lines_changed(lambda line: '"' + line.replace(",", '", "') + '"', text(frame=PLAIN)),
        lines_changed(lambda line: f"{line},", text(frame=PLAIN)),
        text(frame=PLAIN).splitlines()[0]
        + "\n"
        + lines_changed(lambda line: f"{line},", text(frame=PLAIN, header=False)),
        text(frame=PLAIN).replace("\n", ",\n", 1),
        text(frame=PLAIN).replace("\n", "\r") + "\n",
    ],
    ids=[
        *("Mac lines", "padded", "padded quotes", "ends of separators", "ends below the names"),
        *("an end of the names", "Mac lines with another end"),
    ],
)
def test_read_right_without_line_breaks(content):
    assert_frame_equal(read(content), PLAIN)


@pytest.mark.filterwarnings("ignore:.*a comment within")
@pytest.mark.parametrize(
    ("content", "said", "rows", "lines"),
    [
        ("a,b\n1,2\n# c\n3,4\n#5,6\n", "line 4, and so in 1 more line;", [(1, 2), (3, 4)], [3, 5]),
        ("a,b\n\n# it's \"\n1,2\n3,4\n", "line 4;", [(1, 2), (3, 4)], [5, 6]),
        ("a\n1\n# c\n\n4\n", "line 4;", [(1,), (None,), (4,)], [3, 5, 6]),
        ('a,b\n1,"x\n# y"\n#\n2,z\n', "line 5;", [(1, "x\n# y"), (2, "z")], [4, 6]),
        ('a,b\n1,"x\n# y"\n2,z\n', None, [(1, "x\n# y"), (2, "z")], [4, 5]),
    ],
)
def test_comments_within_a_table_are_said(content, said, rows, lines):
    Path("data.csv").write_text(f"# about\n{content}")
    with pytest.warns(UserWarning, match="line 2 is taken for the names") as found:
        table = open_file(Path("data.csv"))
    texts = [str(one.message) for one in found if "comment" in str(one.message)]
    assert (table.frame.collect().rows(), list(table.lines)) == (rows, lines)
    assert len(texts) == (said is not None)
    assert all(f"is left out, in {said} a value that begins with # needs" in text for text in texts)


@pytest.mark.parametrize("above", ["", "sep=;\n"])
@pytest.mark.parametrize("name", ["a", '"a\nb"'])
def test_a_lone_number_sign_is_a_name(above, name):
    found = read(f"{above}#;{name}\n1;x\n#2;y\n")
    assert found.to_dict(as_series=False) == {"#": ["1", "#2"], name.strip('"'): ["x", "y"]}


@pytest.mark.parametrize("separator", [" ", "\t", ","])
def test_names_of_rows_as_r_writes_them(separator):
    lines = ['"x" "y z"', '"1" 0.5 "a b"', '"2" 20 NA', '"10" 3 "c"']
    words = "columns without a name.*are called 'column_0'$|blanks are taken"
    with pytest.warns(UserWarning, match=words) as said:
        found = read("\n".join(re.sub(r" (?!z|b)", separator, line) for line in lines))
    assert found.to_dict(as_series=False) == {
        "column_0": [1, 2, 10],
        "x": [0.5, 20, 3],
        "y z": ["a b", "NA", "c"],
    }
    assert len(said) == 1 + (separator == " ")


@pytest.mark.filterwarnings("ignore:.*without a name")
def test_a_single_column_of_r():
    with pytest.warns(UserWarning, match="blanks are taken"):
        assert read('"x"\n"1" 0.5\n"2" 1.5\n').columns == ["column_0", "x"]


@pytest.mark.parametrize(
    "content",
    [
        "  a     b  cc\n  1  20.5   3\n 10   2.5   4\n",
        "a b cc  \r\n1 20.5 3 \r\n10 2.5 4\r\n",
        "a\tb\t\tcc\n1\t20.5\t3\n10\t\t2.5\t4\n",
        "# about\n a    b   cc\n 1 20.5    3\n10  2.5    4\n\n",
    ],
    ids=["aligned", "ends", "tabs", "comments"],
)
@pytest.mark.filterwarnings("ignore:.*line 2 is taken for the names")
def test_columns_between_blanks(content):
    with pytest.warns(UserWarning, match="blanks are taken for the separator"):
        found = read(content, "data.dat")
    assert found.to_dict(as_series=False) == {"a": [1, 10], "b": [20.5, 2.5], "cc": [3, 4]}


def test_without_names():
    found = read(text(header=False, separator=";", decimal=","), header=False)
    assert_frame_equal(found, TABLE.rename(dict(zip(TABLE.columns, found.columns, strict=True))))
    assert found.columns == ["column_0", "column_1", "column_2", "column_3"]


def test_names_that_are_missing_or_equal():
    with pytest.warns(
        UserWarning,
        match="columns without .* 'column_0', 'a_3', 'a_4'; if .* add --no-header",
    ):
        found = read(",a,a,a_2,a,\nx,1,2,3,4,\ny,4,5,6,7,\n")
    assert found.columns == ["column_0", "a", "a_3", "a_2", "a_4"]
    assert found.row(1) == ("y", 4, 5, 6, 7)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("a,b\n1,2\n,\n\n3,4\n,\n\n", [1, None, 3, None]),
        ("a,b\n,\n,\n", [None, None]),
        ('a\n1\n\n2\n""\n\n\n', [1, None, 2, None]),
    ],
)
def test_rows_without_values_are_rows_and_blank_lines_are_none(content, expected):
    assert read(content)["a"].to_list() == expected


def test_values_as_people_write_them():
    found = read('a,b,c,d,e\n+1,True,007, x y ,1e3\n-2,FALSE,10,NA,.5\n?,na,11,"",5.\n')
    assert found.to_dict(as_series=False) == {
        "a": [1, -2, None],
        "b": [True, False, None],
        "c": ["007", "10", "11"],
        "d": ["x y", "NA", None],
        "e": [1000.0, 0.5, 5.0],
    }


@pytest.mark.parametrize("name", ["data.csv", "data.parquet", "data.xlsx"])
def test_words_for_missing_values_as_told(name):
    frame = pl.DataFrame(
        {
            "a": [1.5, -999.0, 2.5],
            "b": [1, 2, -999],
            "c": ["north", "Not told", "k.A."],
            "d": ["x", "1", "-999"],
        }
    )
    write = {"data.parquet": frame.write_parquet, "data.csv": frame.write_csv}
    if name == "data.xlsx":
        openpyxl = pytest.importorskip("openpyxl")
        book = openpyxl.Workbook()
        for row in [frame.columns, *frame.iter_rows()]:
            book.active.append(row)
        write[name] = book.save
    write[name](name)
    found = open_file(Path(name), Reading(missing_values=["not told, K.A.", "-999"]))
    assert found.frame.collect().rows() == [
        (1.5, 1, "north", "x"),
        (None, 2, None, "1"),
        (2.5, None, None, None),
    ]
    assert found.reading.missing_values == ["not told, K.A.", "-999"]


def test_words_for_missing_values_are_kept_in_the_model(run):
    rows = [f"{number},{number % 3}.5,{'<5' if number % 4 else 'red'}" for number in range(48)]
    Path("data.csv").write_text("\n".join(["a,b,c", *rows, "<5,1.5,blue"]))
    result = run("fit", "data.csv", "-k", 2, "--columns", "a,b", "--missing-values", "<5,k.A.")
    assert result.exit_code == 0, result.output
    assert load_model(Path("data.model.skops")).reading["missing_values"] == ["<5,k.A."]
    Path("new.csv").write_text("a,b\n<5,0.5\n7,k.A.\nred,1.5\n")
    result = run("predict", "data.model.skops", "new.csv")
    assert result.exit_code == 0, result.output
    assert pl.read_csv("new.labels.csv")["label"].is_null().to_list() == [False, False, True]


@pytest.mark.parametrize(
    ("content", "line"),
    [
        ("a,b\n1,1\n2,2\n3,3\n4,x\n", 5),
        ("a title\n\na,b\n1,1\n2,2\n3,3\n\n4,x", 8),
        ("# note\na,b\n1,1\n2,2\n,\n3,3\n# said\n4,x\n", 8),
        ('a,b\n1,1\n"2",2\n3,"3"\n\n4,"x"\n', 6),
        ('a,b,c\n1,1,"x\n\ny"\n2,2,"z ""q"" #"\n3,3,v\n4,x,w', 7),
        ("# note\na,b\n1,1\n# said, and\n2,2\n3,3\n#\n4,x", 8),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_messages_name_lines_of_the_file(refused, content, line):
    Path("data.csv").write_text(content)
    assert f"'x' (line {line}) is none" in refused("fit", "data.csv", "-k", 2)


def test_codes_are_numbers_where_numbers_are_asked_for():
    table_of = "a,b\n007,12345678901234567890\n010,1\n"
    Path("data.csv").write_text(table_of)
    table = open_file(Path("data.csv"))
    assert table.column("a").tolist() == ["007", "010"]
    assert table.column("b").tolist() == ["12345678901234567890", "1"]
    np.testing.assert_array_equal(table.matrix(["a"], "float64"), [[7], [10]])


@pytest.mark.parametrize(
    ("values", "expected", "said"),
    [
        (
            ["811.0", "€ 4,093.5", "€ 3,989.25"],
            [811, 4093.5, 3989.25],
            "'€' (1 number without it)",
        ),
        (["811.25 EUR", "4,093.5EUR", None], [811.25, 4093.5, None], "'EUR'"),
        (["1 day", "2 days", "30 days"], [1, 2, 30], "'day'"),
        (["52 yrs", "23 yrs.", "20"], [52, 23, 20], "'yr' (1 number without it)"),
        (["12 %", "13.5 %"], [12, 13.5], "'%'"),
    ],
)
def test_a_unit_is_left_out_and_said(values, expected, said):
    found = read(text(frame=pl.DataFrame({"a": values, "b": ["x"] * len(values)})))
    assert found["a"].to_list() == expected
    prepare = TableTransformer().fit(pl.DataFrame({"a": values}).drop_nulls())
    assert prepare.columns_[0].reason == f"in {said}"


def test_parentheses_are_a_minus():
    values = ["(324.75)", "4,093.5", "($7.5)", "$2", "$3", "$4"]
    found = read(text(frame=pl.DataFrame({"a": values, "b": ["x"] * 6})))
    assert found["a"].to_list() == [-324.75, 4093.5, -7.5, 2, 3, 4]


@pytest.mark.filterwarnings("ignore:.*units are left out")
@pytest.mark.parametrize("sign", ["${}", "{} %"])
def test_numbers_with_signs_that_may_be_thousands_are_doubted(sign):
    values = [sign.format("1.234"), sign.format("12.345")]
    frame = pl.DataFrame({"a": values, "b": ["0,5", "1,5"]})
    for other, expected in (("0,5", [1234, 12345]), ("0.5", [1.234, 12.345])):
        content = text(frame=frame.with_columns(b=pl.Series([other, other])), separator=";")
        with pytest.warns(UserWarning, match="--decimal") if expected[0] > 2 else nullcontext():
            assert read(content)["a"].to_list() == expected


@pytest.mark.parametrize("content", ["town,2023\nBonn,1\n", "town,2023\nBonn,?,\nKöln,3,\n"])
def test_names_that_look_like_numbers_or_a_title(content):
    assert read(content).columns == ["town", "2023"]


@pytest.mark.parametrize(
    "content", ["town,0,1\nBonn,0,1\n", "town,2000,2010\nBonn,1,2\n", "a,b\n1,x\na,y\n2,x\n"]
)
@pytest.mark.filterwarnings("ignore:.*holds numbers, but also")
def test_names_that_are_no_data(content):
    assert read(content).columns == content.partition("\n")[0].split(",")


@pytest.mark.parametrize(
    ("odd", "option"),
    [
        ("2,5", "--decimal"),
        ("5+", "--decimal"),
        ("3.5 EUR", "--missing-values"),
        ("3.5 €", "--missing-values"),
    ],
)
def test_other_text_among_numbers_is_pointed_out(refused, odd, option):
    values = [*(f"{j}.5" for j in range(20)), odd]
    Path("data.csv").write_text(text(frame=pl.DataFrame({"a": values})))
    said = refused("fit", "data.csv", "-k", 2, "--separator", ";")
    assert f"'a' holds numbers, but '{odd}' (line 22) " in said
    assert ("--decimal" in said) == (option == "--decimal")
    assert option in said


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["1", "unknown", "30", "Unknown"], [1, None, 30, None]),
        (["1,5", "k.A.", "1.234,5", "2"], [1.5, None, 1234.5, 2]),
        (["€ 1.5", "#VALUE!", "€ 2.5"], [1.5, None, 2.5]),
    ],
)
@pytest.mark.filterwarnings("ignore:.*units are left out", "ignore:.*--decimal")
def test_words_for_missing_numbers_are_said_with_the_columns(values, expected):
    found = read(text(frame=pl.DataFrame({"a": values, "b": ["x"] * len(values)})))
    prepare = TableTransformer(scale=False, missing="drop").fit(found)
    placeable = [number is not None for number in expected]
    assert prepare.inspect(found).placeable.tolist() == placeable
    Z = prepare.transform(found.filter(placeable))
    assert Z.tolist() == [[number] for number in expected if number is not None]
    said = f"'{values[1]}' (1 row)" + ", 'Unknown' (1 row)" * ("Unknown" in values)
    unit = "in '€', " * (values[0][0] == "€")
    assert prepare.columns_[0].reason == f"{unit}{said} taken as missing"


def test_nines_are_doubted_and_the_option_is_named(run):
    numbers = np.random.default_rng(0).normal(size=(60, 2)).round(2)
    numbers[:10, 1] = -999
    pl.DataFrame(numbers, schema=["a", "b"]).write_csv("data.csv")
    result = run("fit", "data.csv", "-k", 2)
    said = " ".join(result.stderr.split())
    assert "remarks b: -999 (10 rows) may stand for missing values" in said
    option = "--missing-values=-999"
    assert f"Note: {option} takes such values for missing, in all columns" in said
    result = run("fit", "data.csv", "-k", 2, option, "--force")
    assert result.exit_code == 0, result.output
    assert "missing values b 10 (17 %)" in " ".join(result.stderr.split())
    assert "may stand" not in result.stderr
    # With a unit the option would need each of its texts, unless codes of errors stand alone.
    units = pl.format("{} kg", pl.col("b"))
    for text, bare in {"-999.0 kg": "", "-999": " (10 numbers without it)"}.items():
        frame = pl.DataFrame(numbers, schema=["a", "b"])
        frame.with_columns(units.str.replace("-999.0 kg", text)).write_csv("data.csv")
        said = " ".join(run("fit", "data.csv", "-k", 2, "--force").stderr.split())
        assert f"remarks b: in 'kg'{bare}, -999 (10 rows) may stand for missing values" in said
        assert (f"Note: {option} takes such values" in said) == bool(bare)
    result = run("fit", "data.csv", "-k", 2, option, "--force")
    assert "missing values b 10 (17 %)" in " ".join(result.stderr.split())


@pytest.mark.parametrize("word", ["k.A.", "Unknown", "n/k"])
def test_a_word_among_codes_is_no_fault_of_theirs(run, word):
    codes = [f"{number * 37:05d}" for number in range(60)]
    codes[3] = word
    frame = pl.DataFrame({"plz": codes, "size": np.arange(60.0) ** 2 % 7})
    frame.write_csv("data.csv")
    result = run("fit", "data.csv", "-k", 2)
    assert result.exit_code == 0, result.output
    said = " ".join(result.stderr.split())
    words = ", 'k.A.' (1 row) taken as missing" * (word == "k.A.")
    assert f"left out plz: identifier, nearly all values differ{words}" in said


def test_the_text_and_not_the_code_is_to_blame(run, refused):
    codes = [f"{number * 1700:05d}" for number in range(60)]
    for n_towns in (2, 20):
        codes[10 : 10 + n_towns] = [f"town {number}" for number in range(n_towns)]
        frame = pl.DataFrame({"plz": codes, "size": np.arange(60.0) % 7})
        frame.write_csv(f"{n_towns}.csv")
    said = refused("fit", "2.csv", "-k", 2)
    assert "'plz' holds numbers, but 'town 0' (line 12) is none" in said
    assert "name words in --missing-values" in said
    said = " ".join(run("fit", "20.csv", "-k", 2).stderr.split())
    assert "left out plz: text, numbers, but also values such as 'town 0'" in said


@pytest.mark.parametrize(
    "values", [["007", "unknown", "008"], ["true", "unknown", "false"], ["a", "unknown", "1"]]
)
def test_elsewhere_such_words_are_values(values):
    assert read(text(frame=pl.DataFrame({"a": values, "b": ["x"] * 3})))["a"].to_list() == values


def test_other_text_keeps_its_minus():
    values = ["\u22121 to 1", "below \u22121"]
    assert read(text(frame=pl.DataFrame({"a": values, "b": values})))["a"].to_list() == values


@pytest.mark.parametrize(
    ("day", "word", "options"),
    [
        ("{:02}.01.2024 10:00", "", []),
        ("2024-01-{:02} 00:00:00", "0000-00-00 00:00:00", []),
        ("2024-01-{:02}", "unknown", []),
        ("2024-01-{:02}", "9999-12-31", ["--missing-values", "9999-12-31"]),
    ],
)
def test_dates_with_times_and_words(run, day, word, options):
    days = [day.format(1 + place % 28) if place % 5 else word for place in range(60)]
    pl.DataFrame({"since": days, "size": np.arange(60.0) % 7}).write_csv("all.csv")
    result = run("fit", "all.csv", "-k", 2, "--dates", *options)
    assert result.exit_code == 0, result.output
    column = json.loads(Path("all.summary.json").read_text())["columns"][0]
    assert (column["kind"], column["used"], column["n_missing"]) == ("date", True, 12)
    result = run("predict", "all.model.skops", "all.csv", "--force")
    assert "no numbers" not in result.stderr
    assert pl.read_csv("all.labels.csv")["label"].null_count() == 0


def test_words_settle_no_decimal_mark():
    frame = pl.DataFrame({"a": ["987", "1.023", "unknown"], "b": ["0,5", "1,5", "2,5"]})
    with pytest.warns(UserWarning, match=r"'1\.023' in column 'a' is read as 1023; .*decimal="):
        Z = TableTransformer(scale=False).fit_transform(frame)
    assert Z[:2, 0].tolist() == [987, 1023]


# What is neither sure nor right is said


AMBIGUOUS = "a{0}b\n1{1}234{0}x\n12{1}345{0}y\n"


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (AMBIGUOUS.format(",", "."), [1.234, 12.345]),
        (AMBIGUOUS.format(";", "."), [1.234, 12.345]),
        (AMBIGUOUS.format(";", ","), [1.234, 12.345]),
        (AMBIGUOUS.format("\t", ","), [1234, 12345]),
        ("a;b\n1.234;0,5\n12.345;1\n", [1234, 12345]),
        ("a;b\n1,234;0.5\n12,345;1\n", [1234, 12345]),
        ("a;b;c\n1.234;0,5;1.5\n12.345;1;2\n", [1.234, 12.345]),
        ("a;b;c\n1,234;0,5;1.5\n12,345;1;2\n", [1.234, 12.345]),
    ],
)
def test_numbers_that_may_be_thousands(content, expected):
    with pytest.warns(UserWarning, match=r"'1.234' in column 'a' is read as .*--decimal"):
        assert read(content)["a"].to_list() == expected
    point = "." in content.splitlines()[1].split(";")[0].split(",")[0]
    for decimal in ".,":
        with warnings.catch_warnings(action="ignore"):
            found = read(content, decimal=decimal)["a"].to_list()
        assert found == ([1.234, 12.345] if point == (decimal == ".") else [1234, 12345])


@pytest.mark.parametrize("mark", [".", ","])
def test_named_marks_between_groups_are_not_doubted(mark):
    content = AMBIGUOUS.format(";", mark)
    assert read(content, thousands=mark)["a"].to_list() == [1234, 12345]


def test_points_are_not_doubted_among_points():
    assert read("a,b\n1.234,0.5\n12.345,1\n")["a"].to_list() == [1.234, 12.345]


def test_a_column_of_decimal_commas_among_points_is_pointed_out():
    with pytest.warns(UserWarning, match=r"'1,5' in column 'b' is read as 1\.5; .*--decimal"):
        assert read('a,b\n0.5,"1,5"\n1.5,"2"\n')["b"].to_list() == [1.5, 2]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"thousands": "."}, [1234, 12345]),
        ({"thousands": ","}, [1.234, 12.345]),
        ({"thousands": "none", "decimal": "."}, [1.234, 12.345]),
        ({"thousands": "none", "decimal": ","}, [1.234, 12.345]),
        ({"thousands": "space"}, [1.234, 12.345]),
    ],
)
@pytest.mark.filterwarnings("ignore:.*--decimal")
def test_thousands_as_told(options, expected):
    assert read("a;b\n1.234;x\n12.345;y\n", **options)["a"].to_list() == expected


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("1,5;2,5\n3,5;4,5\n", "';' is taken for the separator .*',' would do too; --separator"),
        ("a b\n1 2\n3 4\n", "blanks are taken for the separator of values; --separator"),
        ("5.1,3\n3,4\n", "only numbers .*add --no-header"),
        ("41.3,9250,Köln\n12.5,18000,Bonn\n", r"holds numbers \(.*add --no-header"),
        ("-2,town\n1,Bonn\n", "add --no-header"),
        ("1,0\n3,-4\n", "add --no-header"),
        ("A11,6,A34,1169\nA12,48,A32,5951\n", r"holds numbers \(.*add --no-header"),
        ("p,x,s\ne,x,s\np,b,y\n", r"occur below it \('p', 'x', 's'\).*add --no-header"),
        ("p,x\n1,a\np,x\n2,b\n", "add --no-header; if files were joined, delete the lines that"),
        ("p,x,p\ne,1,s\n", "are called 'p_2'; if the names are data, add --no-header"),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_guesses_that_are_said(content, words):
    with pytest.warns(UserWarning, match=words):
        read(content)


@pytest.mark.parametrize(
    ("content", "reading", "expected"),
    [
        ("a~b\n1~2\n", {"separator": "~"}, {"a": [1], "b": [2]}),
        ("a  b\n  1 2\n10 20\n", {"separator": "space"}, {"a": [1, 10], "b": [2, 20]}),
        ('a  b\n1 \t"x  y"\n2\t"z"\n', {"separator": " "}, {"a": [1, 2], "b": ["x  y", "z"]}),
        ("a\tb,c\n1\t2,3\n", {"separator": "tab"}, {"a": [1], "b,c": [2.3]}),
        ("a,b\n1,2\n", {"separator": ";"}, {"a,b": [1.2]}),
        ("a\n1,5\n2,5\n", {"separator": ";"}, {"a": [1.5, 2.5]}),
        ("a;b\nя;2\n".encode("cp1251"), {"encoding": "cp1251"}, {"a": ["я"], "b": [2]}),
        ("a,b\nż,2\n".encode("latin2"), {"encoding": "latin2"}, {"a": ["ż"], "b": [2]}),
        ("a,b\n漢,2\n".encode("shift_jis"), {"encoding": "shift_jis"}, {"a": ["漢"], "b": [2]}),
    ],
)
def test_as_told(content, reading, expected):
    assert read(content, **reading).to_dict(as_series=False) == expected


@pytest.mark.parametrize(
    ("content", "reading", "words"),
    [
        ("a\n1,5\n2,5\n", {}, ["line 2 has 2 values", "--separator"]),
        ("a,b\n1,2\n1,2,3\n", {}, ["line 3 has 3 values", "has 2", "--separator"]),
        ("a,b\n1,2\n3\n5,6\n", {}, ["line 3 has 1 value,", "has 2"]),
        ("title\n\na,b\n1,2\n\n1\n", {}, ["line 6 has 1 value,"]),
        ("a,b\nx,1,2\ny,3,4\n", {}, ["line 2 has 3 values", "remove it"]),
        ('a,b\n1,"x\n2,y\n', {}, ["line 3", "unexpected end of data"]),
        ('a,b\n1,"x" 5" y\n', {}, ["line 2"]),
        (
            'a b\n"x",1\n',
            {"separator": " "},
            ["line 2", "between ' '", "--separator names another"],
        ),
        (b"a,b\n\x81\xff,1\n", {}, ["is no text in cp1252", "--encoding"]),
        ("a,b\nx,1\n".encode("utf-32"), {}, ["zero bytes", "--encoding"]),
        ("é,b\n1,2\n", {"encoding": "ascii"}, ["no text in ascii", "--encoding"]),
        ("a,b\n1,2\n", {"encoding": "base64"}, ["--encoding"]),
        ("a,b\n1,2\n", {"encoding": "utf-99"}, ["unknown encoding", "--encoding"]),
        ("a,b\n1,2\n", {"separator": "ab"}, ["--separator is 'ab'"]),
        ("a,b\n1,2\n", {"separator": "1"}, ["--separator is '1'"]),
        ("a,b\n1,2\n", {"separator": '"'}, ["--separator is"]),
        ("a,b\n1,2\n", {"decimal": ";"}, ["--decimal is ';'"]),
        ("a,b\n1,2\n", {"decimal": ",", "thousands": ","}, ["--thousands is ','"]),
        ("a,b\n1,2\n", {"thousands": "000"}, ["--thousands is '000'"]),
        ("a,b\n0.5\t1.5\t2.5\n1.5\t2.5\t3.5\n", {"separator": "\t"}, ["line 2 has 3 values"]),
        (gzip.compress(b"a,b\n1,2\n", mtime=0)[:-9], {}, ["cannot be read as CSV", "ended"]),
        (b"PK\x03\x04\x14\0", {}, ["is no text but an archive", ".xlsx"]),
        (b"\xd0\xcf\x11\xe0\xa1", {}, ["is no text but", "save it as .xlsx"]),
        ('[{"a": 1},\n {"a": 2}]', {}, ["is JSON"]),
        ('{"a": 1}\n{"a": 2}\n', {}, ["is JSON"]),
        ('a "b\n1 2\n', {"separator": " "}, ["line 2 cannot be read", "--separator"]),
        ("a b\nx 1 2\nx 3 4\n", {"separator": " "}, ["line 2 has 3 values"]),
        ("", {}, ["empty"]),
        ("\n\n", {}, ["empty"]),
        ("# nothing\n", {}, ["empty"]),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_refused_with_the_option(content, reading, words):
    with pytest.raises(InputError) as caught, speaking(flags()):
        read(content, **reading)
    message = str(caught.value)
    assert message.startswith("data.csv: ") or message.startswith("--"), message
    assert all(word in message for word in words), message


def test_text_that_only_looks_like_json_or_blanks_between_values():
    assert read("[1]\n2\n")["[1]"].to_list() == [2]
    assert read('{"a"},b\n2,3\n').shape == (1, 2)
    assert read("first name\nAnn 1\nBob 2\n")["first name"].to_list() == ["Ann 1", "Bob 2"]


def test_files_of_old_excel_are_refused_with_a_way_out():
    with pytest.raises(InputError, match=r"data\.xls: .* save it as \.xlsx"):
        read(b"", "data.xls")


@pytest.mark.parametrize(("mark", "told"), [("'", "'"), (" ", "space")])
def test_apostrophes_that_the_fit_had_not_name_the_option(run, mark, told):
    rows = [f"{number * 16};{number % 7},5" for number in range(60)]
    Path("all.csv").write_text("\n".join(["visits;rate", *rows]))
    assert run("fit", "all.csv", "-k", 2).exit_code == 0
    Path("next.csv").write_text(f"visits;rate\n870;1\n1{mark}050;2\n")
    result = run("predict", "all.model.skops", "next.csv")
    assert "050' in column 'visits' is read as 1050; if" in result.stderr.replace('"', "'")
    assert "--thousands" in result.stderr
    result = run("predict", "all.model.skops", "next.csv", "--thousands", told, "--force")
    assert "is read as" not in result.stderr
    assert None not in labels_of("next.labels.csv")


@pytest.mark.filterwarnings("ignore:.*holds numbers, but also")
def test_text_among_numbers_names_the_options():
    Path("data.csv").write_text('a;b\n1.5;1\n"2,5";2\n')
    with pytest.raises(InputError, match=r"'a' .*'(2,5|1\.5)'.*--decimal and --thousands"):
        open_file(Path("data.csv")).matrix(["a", "b"], "float64")


def test_a_small_file_of_much_text():
    packed = gzip.compress(b"a,b\n" + b"1,2\n" * 10**6)
    assert len(packed) < 20_000
    Path("data.csv.gz").write_bytes(packed)
    with pytest.raises(InputError, match=r"data\.csv\.gz: holds more than .*--memory-budget"):
        open_file(Path("data.csv.gz"), budget=10**6)


WORDS = st.text(st.sampled_from("abcé ,;|.\t'\"#\n"), max_size=8).map(lambda text: f"x{text}y")
FLOATS = st.integers(-(10**8), 10**8).map(lambda value: value / 1000)


@st.composite
def frames(draw) -> pl.DataFrame:
    rows = draw(st.integers(1, 8))
    kinds = draw(
        st.lists(st.sampled_from([WORDS, FLOATS, st.integers(-(10**7), 10**7)]), min_size=2)
    )
    return pl.DataFrame(
        [draw(st.lists(kind, min_size=rows, max_size=rows)) for kind in kinds],
        schema=[f"name {place}" for place in range(len(kinds))],
    )


@pytest.mark.slow
@given(
    frame=frames(),
    separator=st.sampled_from(",;\t|"),
    decimal=st.sampled_from(".,"),
    thousands=st.sampled_from(["", "'", "\u00a0", " ", "other"]),
    ending=st.sampled_from(["\n", "\r\n"]),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "cp1252"]),
    quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC]),
    packed=st.booleans(),
)
@settings(deadline=None, max_examples=100)
def test_what_was_written_is_read_or_a_doubt_is_said(
    tmp_path_factory, frame, separator, decimal, thousands, ending, encoding, quoting, packed
):
    thousands = {".": ",", ",": "."}[decimal] if thousands == "other" else thousands
    content = text(
        frame=frame,
        separator=separator,
        decimal=decimal,
        thousands=thousands,
        ending=ending,
        quoting=quoting,
    ).encode(encoding)
    path = tmp_path_factory.mktemp("habits") / "data.csv"
    path.write_bytes(gzip.compress(content) if packed else content)
    told = {"separator": separator, "decimal": decimal, "encoding": encoding}
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        assert_frame_equal(with_numbers(open_file(path, Reading(**told))), frame)
        assert not [
            str(warning.message) for warning in said if "--thousands" not in str(warning.message)
        ]
        said.clear()
        with_doubts = with_numbers(open_file(path))
    if not said:
        assert_frame_equal(with_doubts, frame)


@pytest.mark.parametrize(("name", "extra"), [("data.xlsx", "excel"), ("data.h5ad", "h5ad")])
def test_what_to_install(refused, monkeypatch, name, extra):
    Path(name).touch()
    absent = {"fastexcel", "anndata"}
    monkeypatch.setattr(
        "kernelmeans.cli.errors.find_spec", lambda package: package not in absent or None
    )
    assert f'pip install "kernelmeans[{extra}]"' in refused("fit", name, code=1)


# Next month's file


def write_customers(name: str, rows: slice, decimal: str, header: bool = True) -> None:
    rng = np.random.default_rng(0)
    centers = np.repeat([[1.234, 5.0], [2.345, 9.5], [7.125, 1.0]], 20, axis=0)
    frame = pl.DataFrame(centers + rng.normal(scale=0.01, size=centers.shape), schema=["a", "b"])
    frame = frame.with_columns(pl.all().round(3))[rows]
    Path(name).write_text(text(frame=frame, separator=";", decimal=decimal, header=header))


@pytest.mark.parametrize("header", [True, False])
def test_next_months_file_is_read_by_the_same_rules(run, header):
    write_customers("all.csv", slice(None), ",", header)
    write_customers("next.csv", slice(0, 1), ",", header)
    switches = [] if header else ["--no-header"]
    assert run("fit", "all.csv", "-k", 3, *switches).exit_code == 0
    model = load_model(Path("all.model.skops"))
    assert model.reading == ({} if header else {"header": False})
    assert {model.pipeline[0]._spelling(name).decimal for name in model.columns} == {","}
    result = run("predict", "all.model.skops", "next.csv")
    assert result.exit_code == 0, result.output
    first = pl.read_csv("all.labels.csv")["label"][0]
    assert pl.read_csv("next.labels.csv")["label"].to_list() == [first]


def test_next_months_file_of_other_rules(run):
    write_customers("all.csv", slice(None), ",")
    write_customers("next.csv", slice(None), ".")
    assert run("fit", "all.csv", "-k", 3).exit_code == 0
    result = run("predict", "all.model.skops", "next.csv")
    assert result.exit_code == 0, result.output
    labels = [
        pl.read_csv(f"{stem}.labels.csv").drop("far", strict=False) for stem in ("next", "all")
    ]
    assert_frame_equal(*labels)


def write_weights(name: str, unit: str, *, odd: str | None = None, days: bool = False) -> list[str]:
    """Two groups of weights; one may be written otherwise, and another column counts days."""
    weights = [
        f"{value:.1f} {unit}" for value in [*np.linspace(5, 6, 30), *np.linspace(90, 99, 30)]
    ]
    if odd is not None:
        weights[7] = odd
    ids = [f"{number}.{number % 3}0" for number in range(60)]
    frame = pl.DataFrame({"id": ids, "weight": weights, "size": np.arange(60.0) % 7})
    if days:
        frame = frame.with_columns(stay=pl.Series(["1 day", "2 days", "3 days"] * 20))
    frame.write_csv(name)
    return ids


@pytest.mark.parametrize("decimal", [",", "."])
@pytest.mark.filterwarnings("ignore")
def test_thousands_that_the_fit_had_not_are_read_where_the_decimal_mark_is_sure(run, decimal):
    thousands = {",": ".", ".": ","}[decimal]
    head = "visits;rate"
    rows = [f"{number * 16};{number % 7}{decimal}5" for number in range(60)]
    Path("all.csv").write_text("\n".join([head, *rows]))
    assert run("fit", "all.csv", "-k", 2).exit_code == 0
    for mark in (thousands, ""):
        new = [f"870;1{decimal}5", f"1{mark}050;2{decimal}5", f"1{mark}050;3{decimal}5"]
        Path("next.csv").write_text("\n".join([head, *new]))
        result = run("predict", "all.model.skops", "next.csv", "--labels", f"{len(mark)}.csv")
        assert result.exit_code == 0, result.output
        said = f"'1{mark}050' in column 'visits' is read as 1050; if that is wrong, --decimal and"
        assert (said in result.stderr) == bool(mark)
        sure = run("predict", "all.model.skops", "next.csv", "--thousands", thousands, "--force")
        assert "--thousands" not in sure.stderr
    assert_frame_equal(pl.read_csv("0.csv"), pl.read_csv("1.csv"))
    assert None not in labels_of("1.csv")


def test_a_column_against_the_given_decimal_mark_is_read_again_as_in_the_fit(run):
    rows = [
        f'{number % 7}{number % 10},"{number % 9 + 1},500.{number:02} €"' for number in range(60)
    ]
    Path("all.csv").write_text("\n".join(["size,costs", *rows]))
    assert "is read as 1500;" in run("fit", "all.csv", "-k", 2, "--decimal", ",").stderr
    result = run("predict", "all.model.skops", "all.csv", "--labels", "again.csv")
    assert result.exit_code == 0, result.output
    assert labels_of("again.csv") == labels_of("all.labels.csv")


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        (["77.587", "9,25"], "'77.587' in column 'spend' is read as 77587; if that is wrong"),
        (["77.587", "1.077.587"], None),
        (["77.587", "1.077,5"], None),
        (["77,587", "9,25"], None),
    ],
)
@pytest.mark.parametrize("decimal", [",", "."])
@pytest.mark.filterwarnings("ignore")
def test_a_mark_that_the_fit_had_not_is_said_unless_the_column_shows_its_meaning(
    run, cells, said, decimal
):
    def write(name: str, spends: list[str]) -> None:
        content = "\n".join(
            ["spend;rate", *(f"{spend};{n % 7},5" for n, spend in enumerate(spends))]
        )
        swapped = content.translate(str.maketrans(",.", ".,"))
        Path(name).write_text(content if decimal == "," else swapped)

    write("all.csv", [f"{number % 50},{number:03}" for number in range(60)])
    assert run("fit", "all.csv", "-k", 2).exit_code == 0
    write("next.csv", cells)
    result = run("predict", "all.model.skops", "next.csv")
    assert result.exit_code == 0, result.output
    if said is None:
        assert "--thousands" not in result.stderr
    else:
        assert said.replace("77.587", f"77{'.' if decimal == ',' else ','}587") in result.stderr


def test_parentheses_are_a_minus_next_month_too(run):
    write_weights("all.csv", "")
    content = Path("all.csv").read_text()
    Path("all.csv").write_text(content.replace(",5.2 ,", ",(5.2),"))
    assert "(5.2)" in Path("all.csv").read_text()
    assert run("fit", "all.csv", "-k", 2, "--drop", "id").exit_code == 0
    result = run("predict", "all.model.skops", "all.csv", "--force")
    assert result.exit_code == 0, result.output
    assert None not in labels_of("all.labels.csv")


def labels_of(name: str) -> list[int | None]:
    return pl.read_csv(name)["label"].to_list()


def test_identifiers_are_as_in_the_file(run):
    ids = write_weights("all.csv", "kg")
    assert run("fit", "all.csv", "-k", 2, "--id-column", "id").exit_code == 0
    assert run("predict", "all.model.skops", "all.csv", "-o", ".", "--id-column", "id", "--force")
    for line, name in zip(Path("all.labels.csv").read_text().splitlines()[1:], ids, strict=True):
        assert line.startswith(f"{name},")


@pytest.mark.parametrize("odd", ["7 pounds", "0077 kg", "(5.1 kg"])
def test_one_value_with_another_unit_costs_its_row_alone(run, odd):
    write_weights("all.csv", "kg")
    write_weights("next.csv", "kg", odd=odd)
    assert run("fit", "all.csv", "-k", 2, "--drop", "id").exit_code == 0
    assert load_model(Path("all.model.skops")).pipeline[0]._spelling("weight").unit == "kg"
    result = run("predict", "all.model.skops", "next.csv")
    assert result.exit_code == 0, result.output
    expected = labels_of("all.labels.csv")
    expected[7] = None
    assert labels_of("next.labels.csv") == expected


def test_the_unit_of_a_column_that_is_left_out_does_not_matter(run):
    write_weights("all.csv", "kg")
    assert run("fit", "all.csv", "-k", 2, "--drop", "weight").exit_code == 0
    write_weights("next.csv", "lbs")
    result = run("predict", "all.model.skops", "next.csv")
    assert result.exit_code == 0, result.output
    assert "unit" not in result.stderr


@pytest.mark.parametrize(
    ("unit", "other"),
    [("kg", "lb"), ("EUR", "USD"), ("€", "$"), ("€", "%"), ("%", "€"), ("%", ""), ("", "%")],
)
def test_another_unit_is_refused(run, refused, unit, other):
    write_weights("all.csv", unit)
    write_weights("next.csv", other)
    assert run("fit", "all.csv", "-k", 2, "--drop", "id").exit_code == 0
    assert "weight" in refused("predict", "all.model.skops", "next.csv")


@pytest.mark.parametrize(("unit", "odd"), [("€", "$ 5"), ("%", "0.05"), ("%", "5"), ("kg", "5 t")])
def test_a_number_in_another_unit_gets_no_label(run, unit, odd):
    write_weights("all.csv", unit)
    write_weights("next.csv", unit, odd=odd)
    assert run("fit", "all.csv", "-k", 2, "--drop", "id").exit_code == 0
    result = run("predict", "all.model.skops", "next.csv")
    said = " ".join(result.stderr.split())
    assert "--decimal" not in said
    assert "1 row without a label: no finite number" in said
    assert f"no finite number in 'weight' ('{odd}' (not {unit}) in line 9)" in said
    expected = labels_of("all.labels.csv")
    expected[7] = None
    assert labels_of("next.labels.csv") == expected


@pytest.mark.parametrize("unit", ["€", "kg"])
@pytest.mark.parametrize("share", ["one", "all"])
def test_plain_numbers_are_in_the_unit_of_the_fit(run, unit, share):
    write_weights("all.csv", unit)
    if share == "one":
        write_weights("next.csv", unit, odd="5.7")
    else:
        write_weights("next.csv", "")
    assert run("fit", "all.csv", "-k", 2, "--drop", "id").exit_code == 0
    assert run("predict", "all.model.skops", "next.csv").exit_code == 0
    assert labels_of("next.labels.csv") == labels_of("all.labels.csv")


def test_models_without_units_read_categories_as_they_were(run):
    write_weights("all.csv", "€", days=True)
    categories = "--categorical", "stay"
    assert run("fit", "all.csv", "-k", 2, "--drop", "id", *categories).exit_code == 0
    expected = labels_of("all.labels.csv")
    # As before units were read: the file had left signs out, and the transformer saw numbers.
    model = load_model(path := Path("all.model.skops"))
    prepare = model.pipeline[0]
    del prepare._written, prepare.decimal, prepare.thousands
    prepare._spellings, prepare._signs = {}, {}
    for reading in ({"thousands": "none"}, {"thousands": "none", "units": {"weight": "€"}}):
        with path.open("wb") as file:
            write_model(replace(model, reading=reading), file)
        result = run("predict", "all.model.skops", "all.csv", "--force")
        assert result.exit_code == 0, result.output
        assert "new to the model" not in result.stderr
        assert labels_of("all.labels.csv") == expected
        assert (
            load_model(path).pipeline[0]._spelling("weight").unit
            == reading.get("units", {"weight": None})["weight"]
        )


def test_several_columns_of_slips_are_refused_in_one_line(refused, run):
    rng = np.random.default_rng(0)
    frame = pl.DataFrame(rng.normal(size=(60, 6)).round(2).astype(str), schema=list("abcdef"))
    rows = pl.int_range(60)
    slips = [pl.when(rows == 7).then(pl.lit("5+")).otherwise(name).alias(name) for name in "abcde"]
    frame.with_columns(slips).write_csv("data.csv")
    said = refused("fit", "data.csv", "-k", 2)
    assert said.count("holds numbers, but '5+' (line 9) is none") == 3
    gaps = "--missing-values 5+ takes such words for gaps"
    assert f"and 2 more columns: {gaps}, --drop a,b,c,d,e leaves them out" in said
    said = refused("fit", "data.csv", "-k", 2, "--missing-values", "NO")
    assert "--missing-values no,5+ takes" in said
    for remedy in (("--drop", "a,b,c,d,e"), ("--missing-values", "5+", "--force")):
        assert run("fit", "data.csv", "-k", 2, *remedy).exit_code == 0
    with pytest.raises(ValueError, match=r"drop=\['a', 'b', 'c', 'd', 'e'\] leaves them out"):
        TableTransformer().fit(pl.read_csv("data.csv", infer_schema=False))


@pytest.mark.parametrize("sign", ["\f", "\x85", "\u2028"])
def test_signs_that_end_a_line_end_no_message(sign, refused):
    rows = [f"{n / 7:.3f},{n % 5}" for n in range(60)]
    rows[7] = "5+,3"
    Path("data.csv").write_text("\n".join([f"a{sign}b,c", *rows]), encoding="utf-8")
    said = refused("fit", "data.csv", "-k", 2)
    assert "--drop 'a b'" in said
    assert len(said.splitlines()) == 1


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("category", ["0", "1", "2", "3+"] * 30),  # children
        ("text", [f"{n * 977}" for n in range(160)] + [f"A/5 {n * 31}" for n in range(40)]),
        ("text", [f"{10000 + n * 97}{'-1124' * (n % 4 == 0)}" for n in range(200)]),  # zip codes
        ("text", [f"{n};{n % 7};{n % 3}" for n in range(120)]),
    ],
)
def test_other_values_among_numbers_do_not_spoil_a_file(run, kind, values):
    numbers = np.random.default_rng(0).normal(size=len(values)).round(3)
    frame = pl.DataFrame({"x": values, "size": numbers})
    frame.write_csv("data.csv", separator="\t")
    result = run("fit", "data.csv", "-k", 2)
    assert result.exit_code == 0, result.output
    column = json.loads(Path("data.summary.json").read_text())["columns"][0]
    assert column["kind"] in (kind, "identifier")
    assert column["used"] == (kind == "category")
