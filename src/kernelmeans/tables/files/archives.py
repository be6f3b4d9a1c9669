"""Zip archives from strangers: sizes are counted before anything is unpacked."""

import math
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
import scipy.sparse

from kernelmeans._arrays import canonical
from kernelmeans._errors import InputError
from kernelmeans._sizes import readable
from kernelmeans._text import bounded, listed
from kernelmeans.rows import Rows

# NumPy and skops write these. Others unpack to more, or need much memory to unpack at all.
_COMPRESSIONS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
#: Bytes that each column takes for its name and its place in lists.
_COLUMN_BYTES = 100
#: Bytes that each row takes for its label.
_ROW_BYTES = 8


class Header(NamedTuple):
    """What the header of a stored array promises, and the archive holds."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]

    @property
    def nbytes(self) -> int:
        """Bytes of the array."""
        return math.prod(self.shape) * self.dtype.itemsize


@contextmanager
def damaged_errors(message: str) -> Iterator[None]:
    """Refuse a file with a message and what went wrong: a damaged one can fail in any way."""
    try:
        yield
    except (InputError, MemoryError):
        raise
    except Exception as error:
        reason = bounded(str(error), 200) or type(error).__name__
        raise InputError(f"{message} ({reason})") from error


@contextmanager
def open_archive(path: Path, file: Path | IO[bytes], max_bytes: float) -> Iterator[zipfile.ZipFile]:
    """Open an archive unless it would unpack to too many bytes; no member is read beyond its size.

    Parameters
    ----------
    path : Path
        Its name in messages.
    file : Path or binary file
        The archive, which may be a member of another.
    max_bytes : float
        Bytes to which its members may unpack.
    """
    try:
        with zipfile.ZipFile(file) as archive:
            members = archive.infolist()
            if any(one.compress_type not in _COMPRESSIONS or one.flag_bits & 1 for one in members):
                raise NotImplementedError
            check_size(path, sum(one.file_size for one in members), max_bytes)
            yield archive
    except NotImplementedError as error:  # by zipfile too, if it knows no way to unpack a member
        raise InputError(
            f"{path}: the archive is packed in an unusual way; write it again, packed by deflate "
            "as Excel, zip and numpy.savez_compressed do"
        ) from error


def check_size(path: Path, size: float, max_bytes: float) -> None:
    """Refuse a file that would take more memory than allowed."""
    if size > max_bytes:
        raise InputError(
            f"{path}: would take {readable(size)} in memory, but the memory budget is "
            f"{readable(max_bytes)}: allow more with --memory-budget, or make the file smaller"
        )


def check_shape(path: Path, shape: tuple[int, int], max_bytes: float) -> None:
    """Refuse a shape whose labels or names alone take too much memory, however small the file."""
    rows, columns = shape
    check_size(path, max(_ROW_BYTES * rows, _COLUMN_BYTES * columns), max_bytes)


def array_header(path: Path, archive: zipfile.ZipFile, name: str) -> Header:
    """Read the header of an array, which must agree with the size of its member.

    Parameters
    ----------
    path : Path
        The name of the archive in messages.
    archive : ZipFile
        The open archive.
    name : str
        The name of the member.

    Returns
    -------
    Header
        Its shape and dtype. The dtype is never object, which would be unpickled.
    """
    formats = np.lib.format
    with archive.open(name) as file:
        with damaged_errors(f"{path}: its member {name!r} is no NPY array"):
            # The second version has a longer header, the third one in UTF-8.
            first = formats.read_magic(file) == (1, 0)
            read = formats.read_array_header_1_0 if first else formats.read_array_header_2_0
            shape, _, dtype = read(file)
        held = archive.getinfo(name).file_size - file.tell()
    header = Header(shape, dtype)
    if dtype.hasobject:
        raise InputError(
            f"{path}: its member {name!r} holds {dtype} values, not real numbers: write the "
            "matrix alone, as floats: numpy.savez(path, X=numpy.vstack(X).astype(float))"
        )
    if min(shape, default=0) < 0 or header.nbytes != held:
        raise InputError(
            f"{path}: its member {name!r} holds {held} bytes of numbers, but its header promises "
            f"shape {shape} of {dtype}: write it again"
        )
    return header


def check_sparse(matrix: Any) -> None:
    """Check every index of a sparse matrix: compiled code reads memory at any index.

    Raises
    ------
    ValueError
        If an index lies outside the shape, or values are not real numbers.
    """
    if matrix.dtype.kind not in "fiub":
        raise ValueError(f"the sparse matrix holds {matrix.dtype} values, not real numbers")
    if matrix.format in ("csr", "csc", "bsr"):
        # SciPy looks no further if the last pointer says that nothing is stored.
        if (np.diff(matrix.indptr) < 0).any():
            raise ValueError("indptr of the sparse matrix decreases")
        matrix.check_format(full_check=True)


def read_npz(path: Path, max_bytes: float) -> Any:
    """Read the matrix of an NPZ file: the only one, or the one named X.

    Parameters
    ----------
    path : Path
        The file.
    max_bytes : float
        Bytes to which it may unpack.

    Returns
    -------
    ndarray or sparse matrix of shape (n_rows, n_columns)
        Real numbers; sparse ones in CSR format, with every index checked.
    """
    with open_archive(path, path, max_bytes) as archive:
        found = {name: array_header(path, archive, name) for name in archive.namelist()}
    headers = {name.removesuffix(".npy"): header for name, header in found.items()}
    with np.load(path, allow_pickle=False) as arrays:
        if {"format", "shape"} <= headers.keys():
            return _read_sparse(path, headers["shape"], arrays, max_bytes)
        name = _matrix_name(path, headers)
        Rows(headers[name], str(path))  # refuses anything but a matrix of real numbers
        return arrays[name]


def _matrix_name(path: Path, headers: dict[str, Header]) -> str:
    """The array named X, the only one, or the only one of two axes."""
    if "X" in headers:
        return "X"
    found = list(headers)
    if len(found) > 1:
        found = [name for name in found if len(headers[name].shape) == 2]
    if len(found) != 1:
        raise InputError(
            f"{path}: holds the arrays {listed(list(headers))}; "
            "a single matrix, or one named 'X', is needed"
        )
    return found[0]


def _read_sparse(path: Path, shape: Header, arrays: Any, max_bytes: float) -> Any:
    if shape.shape != (2,) or shape.dtype.kind not in "iu":
        raise InputError(f"{path}: its shape is not two whole numbers")
    check_shape(path, arrays["shape"].tolist(), max_bytes)
    with damaged_errors(f"{path}: the sparse matrix is damaged"):
        matrix = scipy.sparse.load_npz(path)
        check_sparse(matrix)
        return canonical(matrix)
