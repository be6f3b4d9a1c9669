"""Archives from strangers: what they unpack to is counted before anything is unpacked."""

import math
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np

from kernelmeans.cli.errors import BadInputError
from kernelmeans.memory import readable

# What numpy and skops write. Others unpack to more, or need much memory to unpack at all.
_COMPRESSIONS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


@dataclass(frozen=True)
class Header:
    """What the header of a stored array says.

    Parameters
    ----------
    shape : tuple of int
        Of the array.
    dtype : dtype
        Of its values; never object, which would be unpickled.
    """

    shape: tuple[int, ...]
    dtype: np.dtype[Any]

    @property
    def nbytes(self) -> int:
        """Bytes of the array."""
        return math.prod(self.shape) * self.dtype.itemsize


@contextmanager
def opened(path: Path, file: Path | IO[bytes], most: float) -> Iterator[zipfile.ZipFile]:
    """Open an archive unless it unpacks to too much; no member is ever read beyond its size.

    Parameters
    ----------
    path : Path
        What messages call it.
    file : Path or binary file
        The archive, which may lie within another.
    most : float
        Bytes that its members may have.
    """
    with zipfile.ZipFile(file) as archive:
        members = archive.infolist()
        if any(info.compress_type not in _COMPRESSIONS or info.flag_bits & 1 for info in members):
            raise BadInputError(
                f"{path}: is an archive packed in an unusual way; write it again with "
                "numpy.savez_compressed, scipy.sparse.save_npz or kernelmeans fit"
            )
        refuse_beyond(path, sum(info.file_size for info in members), most)
        yield archive


def refuse_beyond(path: Path, size: float, most: float) -> None:
    """Refuse what would take more memory than it may."""
    if size > most:
        raise BadInputError(
            f"{path}: would take {readable(size)} in memory, but the memory budget is "
            f"{readable(most)}: allow more with --memory-budget, or make the file smaller"
        )


def array_header(path: Path, archive: zipfile.ZipFile, name: str) -> Header:
    """Read the header of an array, which must promise what the member holds.

    Parameters
    ----------
    path : Path
        What messages call the archive.
    archive : ZipFile
        Open.
    name : str
        Of the member.

    Returns
    -------
    Header
        Its shape and dtype.
    """
    with archive.open(name) as file:
        try:
            version = np.lib.format.read_magic(file)
            # The second version has a longer header, the third one in UTF-8.
            read = (
                np.lib.format.read_array_header_1_0
                if version == (1, 0)
                else np.lib.format.read_array_header_2_0
            )
            shape, _, dtype = read(file)
        except Exception as error:  # a damaged header can fail in any way
            raise BadInputError(f"{path}: its member {name!r} is no NPY array ({error})") from error
        header = Header(shape, dtype)
        held = archive.getinfo(name).file_size - file.tell()
    if dtype.hasobject or min(shape, default=0) < 0 or header.nbytes != held:
        raise BadInputError(
            f"{path}: its member {name!r} holds {held} bytes of numbers, but its header promises "
            f"shape {shape} of {dtype}: write it again"
        )
    return header


def check_sparse(matrix: Any) -> None:
    """Check every index of a sparse matrix: compiled code reads wherever they point.

    Raises
    ------
    ValueError
        If an index lies outside of the shape, or values are no real numbers.
    """
    if matrix.dtype.kind not in "fiub":
        raise ValueError(f"the sparse matrix holds {matrix.dtype} values, not real numbers")
    if matrix.format in ("csr", "csc", "bsr"):
        matrix.check_format(full_check=True)
