"""Blocks of a table under the names that a model knows."""

from collections.abc import Iterator, Mapping

import polars as pl
import scipy.sparse

from kernelmeans.tables.files.tables import FileTable, FrameTable, blocks

#: Rows of an array that are worked on at a time, because several copies of them are made.
_COPIED = 2**14


def named_blocks(
    table: FileTable, names: Mapping[str, str], dtype: str, most: int
) -> Iterator[pl.DataFrame]:
    """Yield blocks of some columns as data frames.

    Parameters
    ----------
    table : FrameTable or ArrayTable
        The table.
    names : mapping of str to str
        The columns, and their names in the blocks.
    dtype : str
        The precision of numbers of an array.
    most : int
        Most rows of a block.
    """
    if isinstance(table, FrameTable):
        renamed = [pl.col(name).alias(new) for name, new in names.items()]
        for start in range(0, table.shape[0], most):
            yield table.frame.select(renamed).slice(start, most).collect()
        return
    for _, X in blocks(table.matrix(list(names), dtype)):
        for start in range(0, X.shape[0], _COPIED):
            rows = X[start : start + _COPIED]
            dense = rows.toarray() if scipy.sparse.issparse(rows) else rows
            yield pl.DataFrame(dense, schema=list(names.values()), orient="row")
