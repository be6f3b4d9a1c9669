"""Files as people have them, made in code, and how they read each in Python."""

import gzip
import io
import zipfile
from collections.abc import Callable, Mapping, Sequence
from csv import QUOTE_ALL
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
from sklearn.preprocessing import StandardScaler, scale

from cli.test_habits import text
from kernelmeans.tables import TableTransformer
from spellings import SPELLINGS

N = 90
#: The clusters of the rows. Neither column of X tells all three apart.
GROUP = np.arange(N) % 3
X = np.array([[-1_060_000, 5], [3_100_000, 5], [3_100_000, 95]])[GROUP]
X = (X + np.random.default_rng(0).normal(size=(N, 2)) * [10_000, 1]).round(2)

Read = Callable[[str], Any]


class File(NamedTuple):
    """A file, and how people read it.

    Parameters
    ----------
    name : str
        The name.
    write : callable
        Writes a file of this name.
    read : sequence of callables
        Ways to read it in Python.
    options : sequence of str
        How the command line has to read it.
    parameters : mapping
        Parameters of the `TableTransformer`.
    prepare : callable
        Makes the preparation in Python.
    """

    name: str
    write: Callable[[str], object]
    read: Sequence[Read]
    options: Sequence[str] = ()
    parameters: Mapping[str, Any] = {}
    prepare: Callable[..., Any] = TableTransformer


def repeated(*values: object) -> list[Any]:
    """A column in which these values come in turn."""
    return [values[row % len(values)] for row in range(N)]


def with_gaps(*words: object) -> list[Any]:
    """A column of numbers, in which these words come in turn in each seventh row."""
    return [words[row // 7 % len(words)] if row % 7 == 3 else x for row, x in enumerate(X[:, 0])]


FRAME = pl.DataFrame(X, schema=["area", "rate"]).with_columns(
    town=pl.Series(repeated("Rome", "Bari", "Köln", "Bari"))
)
DAYS = [f"202{group}-0{1 + row % 9}-1{row % 8}" for row, group in enumerate(GROUP)]
PEOPLE = FRAME.with_columns(
    since=pl.Series(DAYS).str.to_date(),
    member=pl.Series(repeated(True, False, True)),
    kind=pl.Series(repeated("a", "b", "c"), dtype=pl.Categorical),
    visits=pl.Series(repeated(1, 20, 300, 4, 50)),
    gaps=pl.Series(with_gaps(None)),
)


def with_columns(**columns: Sequence[object]) -> str:
    """The text of a table with more columns."""
    texts = {name: ["" if one is None else str(one) for one in columns[name]] for name in columns}
    return text(frame=FRAME.with_columns(**{name: pl.Series(texts[name]) for name in texts}))


def spelled(spelling: str) -> pl.DataFrame:
    """The table with the numbers of a column in a spelling."""
    return FRAME.with_columns(area=pl.Series(SPELLINGS[spelling].column(X[:, 0])[0]))


def separated(separator: str) -> list[Read]:
    return [partial(pd.read_csv, sep=separator), partial(pl.read_csv, separator=separator)]


def written(
    content: str | bytes,
    *read: Read,
    name: str = "data.csv",
    options: Sequence[str] = (),
    **parameters: Any,
) -> File:
    """A file of text, which is packed or not."""
    raw = content.encode() if isinstance(content, str) else content
    read = read or tuple(separated(","))
    return File(name, lambda path: Path(path).write_bytes(raw), read, options, parameters)


def zipped(content: str) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("x.csv", content)
    return file.getvalue()


def workbook(frame: pl.DataFrame, path: str, sheet: str = "Sheet", *before: str) -> None:
    openpyxl = pytest.importorskip("openpyxl", reason="writes workbooks")
    pytest.importorskip("fastexcel", reason="the extra excel reads workbooks")
    book = openpyxl.Workbook()
    book.remove(book.active)
    for title in before:
        book.create_sheet(title).append(["something", "else"])
    rows = book.create_sheet(sheet)
    for row in [frame.columns, *frame.iter_rows()]:
        rows.append(row)
    book.save(path)


def annotated(path: str, form: Callable[[Any], Any] = np.asarray) -> None:
    anndata = pytest.importorskip("anndata", reason="the extra h5ad reads annotated data")
    names = pd.Index([f"cell {row}" for row in range(N)])
    data = anndata.AnnData(form(X), pd.DataFrame(index=names), pd.DataFrame(index=["CD4", "CD8A"]))
    data.obsm["X_pca"] = scale(X)[:, ::-1]  # columns of obsm stay as they are
    data.write_h5ad(path)


def of_annotated(path: str) -> Any:
    return pytest.importorskip("anndata").read_h5ad(path)


PLAIN = text(frame=FRAME)
COMMAS = text(frame=FRAME, separator=";", decimal=",")
POINTS = text(frame=FRAME, separator=";", decimal=",", thousands=".")
NAMES = {"area": "Größe (cm)", "rate": "a,b", "town": "x=1"}
NUMBERED = ["column_0", "column_1", "column_2"]
CYRILLIC = PLAIN.replace("Rome", "Рим").replace("Köln", "Кёльн")
EXCEL = [pd.read_excel, pl.read_excel]
PARQUET = [pd.read_parquet, pl.read_parquet]

TEXTS = {
    "plain": written(PLAIN),
    "semicolons": written(text(frame=FRAME, separator=";"), *separated(";")),
    "decimal commas": written(
        COMMAS,
        *separated(";"),
        partial(pd.read_csv, sep=";", decimal=","),
        partial(pl.read_csv, separator=";", decimal_comma=True),
    ),
    "points between groups": written(
        POINTS, *separated(";"), partial(pd.read_csv, sep=";", decimal=",", thousands=".")
    ),
    "tabs": written(text(frame=FRAME, separator="\t"), *separated("\t"), name="data.tsv"),
    "pipes": written(text(frame=FRAME, separator="|"), *separated("|"), name="data.txt"),
    "a separator that is told": written(
        text(frame=FRAME, separator="~"), *separated("~"), options=["--separator", "~"]
    ),
    "Windows lines": written(text(frame=FRAME, ending="\r\n")),
    "quotes": written(text(frame=FRAME, quoting=QUOTE_ALL)),
    "separators and line breaks in quotes": written(
        with_columns(place=repeated("Paris, France", 'the "Hague"', "Rome\n(old)", "Lyon"))
    ),
    "quotes in quotes as R writes them": written(
        text(
            frame=FRAME.with_columns(place=pl.Series(repeated("the ~Hague~", "~Rome~, old", "9~"))),
            quoting=QUOTE_ALL,
        ).replace("~", '\\"'),
        partial(pd.read_csv, quotechar='"', doublequote=False, escapechar="\\"),
    ),
    "blanks": written(
        PLAIN.replace(",", " , "), partial(pd.read_csv, sep=r"\s*,\s*", engine="python")
    ),
    "blanks in names": written(PLAIN.replace("area,rate,town", " area,rate ,big  town")),
    "a mark of UTF-8": written(PLAIN.encode("utf-8-sig")),
    "UTF-16": written(COMMAS.encode("utf-16"), partial(pd.read_csv, sep=";", encoding="utf-16")),
    "cp1252": written(
        PLAIN.encode("cp1252"),
        partial(pd.read_csv, encoding="cp1252"),
        partial(pl.read_csv, encoding="cp1252"),
    ),
    "cp1251": written(
        CYRILLIC.encode("cp1251"),
        partial(pd.read_csv, encoding="cp1251"),
        options=["--encoding", "cp1251"],
    ),
    "gzip": written(gzip.compress(PLAIN.encode()), name="data.csv.gz"),
    "zip": written(zipped(PLAIN), pd.read_csv, name="data.zip"),
    "a title": written(f"Towns of 2024\n\n{PLAIN}", partial(pd.read_csv, skiprows=2)),
    "a comment": written(f"# towns\n{PLAIN}", partial(pd.read_csv, comment="#")),
    "no names": written(
        text(frame=FRAME, header=False),
        lambda path: pd.read_csv(path, header=None).to_numpy(),
        lambda path: pl.read_csv(path, has_header=False, new_columns=NUMBERED),
        options=["--no-header"],
    ),
    "odd names": written(text(frame=FRAME.rename(NAMES))),
}
COLUMNS = {
    "gaps": written(with_columns(gaps=with_gaps(""), plan=repeated("basic", "plus", "", "plus"))),
    "na": written(with_columns(gaps=with_gaps("NA"), plan=repeated("x", "n/a", "y", "z"))),
    "words for missing numbers": written(with_columns(gaps=with_gaps("unknown", "k.A."))),
    "bounds": written(with_columns(gaps=with_gaps("<0.5", "≥ 9"))),
    "words of spreadsheets": written(with_columns(gaps=with_gaps("#DIV/0!"))),
    "missing values that are told": written(
        with_columns(gaps=with_gaps("-999"), plan=repeated("x", "n/t", "y", "z")),
        missing_values=["-999", "n/t"],
    ),
    "none among words": written(with_columns(plan=repeated("none", "basic", "none", "plus"))),
    "strands": written(with_columns(strand=repeated("+", "-", "-", "+", ""))),
    "yes and no": written(with_columns(member=repeated("yes", "no", "no", "yes"))),
    "Y and N with gaps": written(with_columns(member=repeated("Y", "N", "", "Y", "N"))),
    "truth values": written(with_columns(member=repeated("True", "False", "False", "True"))),
    "truth values with gaps": written(with_columns(member=repeated("TRUE", "FALSE", "", "TRUE"))),
    "0 and 1 with gaps": written(with_columns(member=repeated("0", "1", "1", ""))),
    "dates": written(with_columns(since=DAYS), dates=True),
    "dates with gaps": written(
        with_columns(since=[day if row % 9 else "" for row, day in enumerate(DAYS)]), dates=True
    ),
    "dates with points": written(
        with_columns(since=[f"{day[8:]}.{day[5:7]}.{day[:4]}" for day in DAYS]), dates=True
    ),
    "dates with times": written(
        with_columns(since=[f"{day} 10:30:00" for day in DAYS]), dates=True
    ),
    "dates with slashes": written(
        with_columns(since=[day.replace("-0", "/").replace("-", "/") for day in DAYS]), dates=True
    ),
    "dates of forms": written(
        with_columns(since=[f"{day.replace('-', '/')} 9:05:00 PM GMT+1" for day in DAYS]),
        dates=True,
    ),
    "dates in digits": written(
        with_columns(since=[day.replace("-", "") for day in DAYS]), dates=True
    ),
    "durations": written(
        with_columns(
            time=[None if row % 9 == 4 else pd.Timedelta(X[row, 1], "h") for row in range(N)]
        ),
        lambda path: pd.read_csv(path).assign(time=lambda table: pd.to_timedelta(table["time"])),
    ),
    "whole numbers as categories": written(
        with_columns(floor=repeated(1, 2, 3, 1)), categorical=["floor"]
    ),
    "whole numbers with gaps as categories": written(
        with_columns(floor=repeated(1, 2, 3, "")), categorical=["floor"]
    ),
    "numbers with a unit as categories": written(
        with_columns(size=repeated("9 kg", "1 kg", "2 kg", "9 kg")), categorical=["size"]
    ),
    "numbers with commas as categories": written(
        with_columns(size=repeated("1,5", "2,5", "3,5", "1,5")), categorical=["size"]
    ),
    "codes": written(
        with_columns(plz=repeated("01067", "20095", "50667", "01067")),
        partial(pd.read_csv, dtype={"plz": str}),
        partial(pl.read_csv, schema_overrides={"plz": pl.String}),
        categorical=["plz"],
    ),
    "columns that are left out": written(
        with_columns(
            id=[f"C{row:03}" for row in range(N)],
            row=range(N),
            note=[f"note {row} on this row" for row in range(N)],
            country=repeated("IT"),
        ),
        drop=["town"],
    ),
}
OTHERS = {
    "workbook": File("data.xlsx", partial(workbook, FRAME), EXCEL),
    "workbook of people": File(
        "data.xlsx", partial(workbook, PEOPLE), EXCEL, parameters={"dates": True}
    ),
    "workbook of text": File("data.xlsx", partial(workbook, spelled("euros after")), EXCEL),
    "sheet": File(
        "data.xlsx",
        lambda path: workbook(FRAME, path, "towns", "notes"),
        [partial(read, sheet_name="towns") for read in EXCEL],
        ["--sheet", "towns"],
    ),
    "parquet": File("data.parquet", PEOPLE.write_parquet, PARQUET, parameters={"dates": True}),
    "parquet of text": File("data.parquet", spelled("kg").write_parquet, PARQUET),
    "npy": File("data.npy", partial(np.save, arr=X), [np.load]),
    "npy of float32": File("data.npy", partial(np.save, arr=X.astype("float32")), [np.load]),
    "npy of whole numbers": File("data.npy", partial(np.save, arr=X.astype(int)), [np.load]),
    "npz": File("data.npz", partial(np.savez, X=X), [lambda path: np.load(path)["X"]]),
    "sparse npz": File(
        "data.npz",
        lambda path: scipy.sparse.save_npz(path, scipy.sparse.csr_array(X)),
        [scipy.sparse.load_npz],
        prepare=partial(StandardScaler, with_mean=False),
    ),
    "annotated data": File(
        "data.h5ad", annotated, [lambda path: of_annotated(path).to_df()], ["--take", "X"]
    ),
    "sparse annotated data": File(
        "data.h5ad",
        partial(annotated, form=scipy.sparse.csr_matrix),
        [lambda path: of_annotated(path).to_df()],
        ["--take", "X"],
    ),
    "another matrix of annotated data": File(
        "data.h5ad",
        annotated,
        [lambda path: of_annotated(path).obsm["X_pca"]],
        ["--take", "obsm:X_pca"],
        prepare=partial(TableTransformer, scale=False),
    ),
}
#: Spellings are read alike in pandas and polars: `tables/test_spellings.py`.
SPELLED = {
    spelling: written(text(frame=spelled(spelling)), pd.read_csv)
    for spelling in SPELLINGS
    if spelling != "plain"
}
FILES = TEXTS | COLUMNS | OTHERS | SPELLED
