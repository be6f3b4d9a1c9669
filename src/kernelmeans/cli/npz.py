"""The one matrix of an NPZ file, dense or sparse."""

from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
import scipy.sparse

from kernelmeans._text import listed
from kernelmeans.cli.archive import Header, array_header, check_sparse, opened, refuse_beyond
from kernelmeans.cli.errors import BadInputError

#: Bytes that a column takes by being there: its name, and its place in lists.
COLUMN_BYTES = 100
#: Bytes that a row takes by being there: its label.
ROW_BYTES = 8
_SUFFIX = ".npy"


def read_npz(path: Path, most: float) -> Any:
    """Read the matrix; of several the one named X.

    Parameters
    ----------
    path : Path
        The file.
    most : float
        Bytes that it may unpack to.

    Returns
    -------
    ndarray or sparse matrix of shape (n_rows, n_columns)
        Real numbers; sparse ones in CSR format, with every index checked.
    """
    with opened(path, path, most) as archive:
        headers = {
            name.removesuffix(_SUFFIX): array_header(path, archive, name)
            for name in archive.namelist()
        }
        if "format" in headers and "shape" in headers:
            return _read_sparse(path, archive, headers["shape"], most)
        name = _matrix_name(path, headers)
        header = headers[name]
        if len(header.shape) != 2:
            raise BadInputError(
                f"{path}: the array has shape {header.shape}; rows x columns is needed"
            )
        if header.dtype.kind not in "fiub":
            raise BadInputError(f"{path}: the array holds {header.dtype} values, not real numbers")
        return _read(archive, name)


def refuse_large(path: Path, shape: tuple[int, int], most: float) -> None:
    """Refuse a shape that is too large for any work, however little the file holds of it."""
    rows, columns = shape
    refuse_beyond(path, max(ROW_BYTES * rows, COLUMN_BYTES * columns), most)


def _read_sparse(path: Path, archive: ZipFile, shape: Header, most: float) -> Any:
    if shape.shape != (2,) or shape.dtype.kind not in "iu":
        raise BadInputError(f"{path}: its shape is not two whole numbers")
    rows, columns = _read(archive, "shape").tolist()
    refuse_large(path, (rows, columns), most)
    try:
        matrix = scipy.sparse.load_npz(path)
        check_sparse(matrix)
        return matrix.tocsr()
    except MemoryError:
        raise
    except Exception as error:  # parts that do not belong together can fail in any way
        raise BadInputError(f"{path}: the sparse matrix is damaged: {error}") from error


def _matrix_name(path: Path, headers: dict[str, Header]) -> str:
    if "X" in headers:
        return "X"
    matrices = [name for name, header in headers.items() if len(header.shape) == 2]
    if len(headers) == 1:
        return next(iter(headers))
    if len(matrices) != 1:
        raise BadInputError(
            f"{path}: holds the arrays {listed(list(headers))}; "
            "a single matrix, or one named 'X', is needed"
        )
    return matrices[0]


def _read(archive: ZipFile, name: str) -> Any:
    member = name if name in archive.namelist() else name + _SUFFIX
    with archive.open(member) as file:
        return np.lib.format.read_array(file, allow_pickle=False)
