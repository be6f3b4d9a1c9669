"""`TableTransformer` and an estimator after it, over data frames of pandas and polars."""

import pickle
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
from sklearn.pipeline import make_pipeline

from fuzz import Case, Rng
from fuzz.draw import changed, pick, plain_rows, rarely
from fuzz.frames import NOT_FINITE, frame
from fuzz.judge import is_refusal, promised, require
from kernelmeans import PowerKMeans, describe
from kernelmeans.tables import TableTransformer

WEIGHT = 3


def case(rng: Rng) -> Case:
    n = int(rng.integers(1, 50))
    if rarely(rng):
        return masked(rng, n)
    table = frame(rng, n)
    names = list(table.columns)
    others = "columns", "drop", "categorical", "missing_values", "decimal", "thousands"
    given = changed(rng, TableTransformer._parameter_constraints, without=others)
    if rarely(rng, 6):
        given["decimal"] = pick(rng, ".", ",", ";", None)
    if rarely(rng, 6):
        given["thousands"] = pick(rng, ",", ".", "'", "space", "none", "", "1", "; ")
    if rarely(rng, 4):
        gaps = "a", "yes", "1.200,75", "nan", "C0001", "", 1.0, 0, -999, 1000, np.nan, None, "-999"
        given["missing_values"] = pick(rng, tuple, list)(pick(rng, *gaps) for _ in range(2))
    for name in ("columns", "drop", "categorical"):
        if rarely(rng, 8):
            given[name] = [pick(rng, *names, *names, "*", "c*", "zz", 3)]
    prepare = TableTransformer(**given)
    other = frame(rng, 5) if rarely(rng, 3) else table.iloc[:3]
    words = f"{prepare!r}\n{table.to_dict('list')!r}\nnew rows {other.to_dict('list')!r}"

    def check() -> None:
        Z = prepare.fit_transform(table)
        with promised():
            check_table(prepare, table, Z, rng)
            check_polars(prepare, table)
        check_clusters(prepare, table)
        require(np.isfinite(prepare.transform(other)).all(), "new rows")

    return Case(words, check)


def masked(rng: Rng, n: int) -> Case:
    """An array of which something is masked, and the same array with NaN there."""
    X = plain_rows(rng, n, int(rng.integers(1, 5)))
    mask = rng.random(X.shape) < pick(rng, 0, 0.1, 0.5, 0.9)
    two = np.ma.array(X, mask=mask), np.where(mask, np.nan, X)
    labels = rng.integers(0, 2, n)

    def check() -> None:
        for ask in (TableTransformer().fit_transform, partial(describe, labels)):
            found, expected = (answer(ask, given) for given in two)
            require(found == expected, f"masked {found}, NaN {expected}")

    return Case(f"{two[0]!r} {labels!r}", check)


def answer(ask: Callable[[Any], Any], given: Any) -> str:
    """What is answered, or said in a refusal."""
    try:
        return str(ask(given))
    except Exception as error:
        if not is_refusal(error):
            raise
        return str(error)


def check_table(prepare: Any, table: pd.DataFrame, Z: np.ndarray, rng: Rng) -> None:
    """The numbers are finite and named, and depend on no order of rows or columns."""
    names = prepare.get_feature_names_out()
    require(np.isfinite(Z).all() and Z.shape == (len(table), len(names)), f"Z {Z}")
    require(len(prepare.columns_) == table.shape[1], f"columns_ {prepare.columns_}")
    np.testing.assert_array_equal(Z, prepare.transform(table), "fit_transform and transform")
    loaded = pickle.loads(pickle.dumps(prepare))
    np.testing.assert_array_equal(Z, loaded.transform(table), "pickle")
    columns = list(rng.permutation(table.columns))
    if table.columns.is_unique:
        np.testing.assert_array_equal(Z, prepare.transform(table[columns]), "order of columns")
    before = prepare.columns_
    order = rng.permutation(len(table))
    other = prepare.fit_transform(table.iloc[order])
    require(taken(prepare.columns_) == taken(before), f"order of rows: {prepare.columns_} {before}")
    np.testing.assert_allclose(other, Z[order], rtol=1e-3, atol=1e-3, err_msg="order of rows")
    prepare.fit(table)


def taken(columns: Any) -> list[tuple[str, str, bool]]:
    """What columns were taken for; what counts the rows is an identifier in another order."""
    kinds = {"counter": "identifier"}
    return [(one.name, kinds.get(one.kind, one.kind), one.used) for one in columns]


def check_polars(prepare: Any, table: pd.DataFrame) -> None:
    """The same table in polars gives the same numbers."""
    try:
        other = pl.from_pandas(table)
    except Exception:  # a column that polars does not have
        return
    lists = any(kind.is_nested() for kind in other.dtypes)
    if lists or other.columns != list(table.columns):
        return
    np.testing.assert_allclose(
        prepare.transform(other), prepare.transform(table), rtol=1e-6, atol=1e-6, err_msg="polars"
    )


def check_clusters(prepare: Any, table: pd.DataFrame) -> None:
    """A pipeline clusters and describes the table."""
    model = make_pipeline(prepare, PowerKMeans(2, n_swaps=0, max_iter=20, random_state=0))
    labels = model.fit_predict(table)
    np.testing.assert_array_equal(labels, model.predict(table), "labels of a pipeline")
    described = describe(labels, table)
    text = str(described)
    require(not NOT_FINITE.search(text), text)
    require(sum(cluster.size for cluster in described.records) == len(table), text)
