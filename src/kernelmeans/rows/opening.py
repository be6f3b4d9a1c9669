"""From a file, or an array that is not in memory, to its rows."""

import sys
from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse

from kernelmeans.rows.base import Rows
from kernelmeans.rows.mapped import mapped_rows, read_npy
from kernelmeans.rows.stored import StoredRows, read_zarr

#: What arrays in memory and collections of dask have, and arrays on disk have not.
_ARITHMETIC = ("__array_ufunc__", "__array_namespace__", "__array_interface__", "__dask_graph__")


def open_rows(path: str | PathLike[str], columns: Sequence[str | int] | None = None) -> Rows:
    """Open a file as rows, without reading them.

    Parameters
    ----------
    path : path-like
        A file with the suffix .npy or .parquet, or the folder of a Zarr array.
    columns : sequence of str or int, default=None
        The columns wanted, by name or position; all when None. Others may hold anything.

    Returns
    -------
    Rows
        Read when they are asked for.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ImportError
        If polars (Parquet) or zarr is not installed.
    ValueError
        If the file is of another kind, is damaged or holds no matrix of numbers, or a column is
        unknown.

    Examples
    --------
    >>> import tempfile
    >>> import polars as pl
    >>> from kernelmeans.rows import open_rows
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     frame = pl.DataFrame({"a": [1, 2], "town": ["Rome", "Pisa"], "b": [0.5, None]})
    ...     frame.write_parquet(f"{folder}/data.parquet")
    ...     open_rows(f"{folder}/data.parquet", columns=["b", "a"])[:]
    array([[0.5, 1. ],
           [nan, 2. ]])
    """
    file = Path(path)
    suffix = file.suffix.lower()
    folder = file.is_dir()
    file.stat()  # raises if there is none
    if suffix == ".parquet" and not folder:
        try:
            from kernelmeans.rows.frame import read_parquet
        except ImportError as error:
            raise ImportError(
                f'{file}: polars is needed to read it: pip install "kernelmeans[disk]"'
            ) from error
        return read_parquet(file, columns)
    if suffix == ".npy" and not folder:
        rows: Rows = read_npy(file)
    elif folder:
        rows = read_zarr(file)
    else:
        raise ValueError(
            f"{file}: unknown suffix {suffix!r}; .npy and .parquet files and the folders of Zarr "
            "arrays are read block by block: convert it, or load it into memory"
        )
    return rows if columns is None else rows.select(columns)


def as_rows(X: Any) -> Rows | None:
    """Rows of a matrix that is not in memory.

    Parameters
    ----------
    X : object
        A `Rows`, a `numpy.memmap`, a ``polars.LazyFrame`` whose rows have a fixed order, or an
        array on disk: anything with ``shape``, ``dtype`` and slices that knows no arithmetic, as
        ``zarr.Array`` and ``h5py.Dataset``.

    Returns
    -------
    Rows or None
        None for what is in memory, is no matrix, or is a collection of dask.

    Raises
    ------
    ValueError
        If it is a matrix on disk of something else than real numbers, or without rows.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelmeans.rows import as_rows
    >>> as_rows(np.zeros((3, 2))) is None
    True
    """
    if isinstance(X, Rows):
        return X
    if isinstance(X, np.memmap):
        # The copy of a map is a memmap too, but in memory.
        return mapped_rows(X) if X.ndim == 2 and X._mmap is not None else None  # type: ignore[attr-defined]
    polars = sys.modules.get("polars")
    if polars is not None and isinstance(X, polars.LazyFrame):
        from kernelmeans.rows.frame import FrameRows

        return FrameRows(X, "LazyFrame")
    return StoredRows(X, _name(X)) if _is_on_disk(X) else None


def _is_on_disk(X: Any) -> bool:
    shape = getattr(X, "shape", None)
    if not isinstance(shape, tuple) or len(shape) != 2 or not hasattr(X, "__getitem__"):
        return False
    if scipy.sparse.issparse(X) or any(hasattr(X, name) for name in _ARITHMETIC):
        return False
    try:
        np.dtype(getattr(X, "dtype", "no type"))
    except TypeError:  # the type of another library's arrays
        return False
    return True


def _name(X: Any) -> str:
    name = getattr(X, "name", "")
    return f"{type(X).__name__} {name}".rstrip()
