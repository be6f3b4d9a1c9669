"""A matrix of rows that need not be in memory: read block by block, from a file or any array."""

from kernelmeans.rows.base import Rows
from kernelmeans.rows.dask import DaskRows
from kernelmeans.rows.opening import as_rows, open_rows

__all__ = ["DaskRows", "Rows", "as_rows", "open_rows"]
