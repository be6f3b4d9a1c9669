"""Rows of anything that can be sliced: Zarr arrays, HDF5 datasets."""

from pathlib import Path
from typing import Any

import numpy as np

from kernelmeans._typing import Array
from kernelmeans.rows.base import float_type
from kernelmeans.rows.decoded import DecodedRows


class StoredRows(DecodedRows):
    """Rows of an array on disk that answers ``array[a:b]``.

    Parameters
    ----------
    array : object of shape (n_rows, n_columns)
        Has ``shape``, ``dtype`` and, if it is stored in chunks, ``chunks``. Pickled as it is.
    source : str
        What messages call it.
    """

    def __init__(self, array: Any, source: str) -> None:
        chunks = getattr(array, "chunks", None)
        super().__init__(source, array.shape, array.dtype, chunk=chunks[0] if chunks else 1)
        self._array = array

    def _decode(self, start: int, stop: int) -> Array:
        found = np.asarray(self._array[start:stop])
        float_type(self.source, found.dtype)  # a store may answer with text
        return np.array(found, dtype=self.dtype, order="C")


def read_zarr(path: Path) -> StoredRows:
    """Open a Zarr array.

    Parameters
    ----------
    path : Path
        Its folder, of version 2 or 3; or that of a group with a single array, or one named X.

    Returns
    -------
    StoredRows
        Its rows.

    Raises
    ------
    ImportError
        If zarr is not installed.
    ValueError
        If the folder holds no such array.
    """
    try:
        import zarr
    except ImportError as error:
        raise ImportError(
            f'{path}: zarr is needed to read it: pip install "kernelmeans[disk]"'
        ) from error
    try:
        node = zarr.open(path, mode="r")
        arrays = dict(node.arrays()) if isinstance(node, zarr.Group) else {"X": node}
    except Exception as error:  # damaged metadata can fail in any way
        raise ValueError(
            f"{path}: cannot be read as ZARR ({error}): write it again, or give the folder of an "
            "array"
        ) from error
    if "X" not in arrays and len(arrays) != 1:
        raise ValueError(
            f"{path}: a group of the arrays {', '.join(map(repr, arrays)) or '(none)'}; a single "
            "one, or one named 'X', is needed: give the folder of an array"
        )
    array = arrays["X"] if "X" in arrays else arrays.popitem()[1]
    return StoredRows(array, str(path))
