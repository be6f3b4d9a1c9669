"""Which files are read: what a file is follows from its suffix."""

from pathlib import Path

from kernelmeans._errors import InputError
from kernelmeans.tables.files.conversions import conversion
from kernelmeans.tables.files.settings import DASH, PACKED, TEXT, shown, suffix_of

#: Suffixes of tables that are read block by block.
ON_DISK = (".parquet", ".npy", ".zarr")
#: Suffixes of text, packed or not.
ANY_TEXT = (*TEXT, *(suffix + packed for suffix in TEXT for packed in PACKED), ".zip")
_SUFFIXES = (*ANY_TEXT, ".xlsx", ".h5ad", ".npz", *ON_DISK)
_READ = (
    f"{', '.join(TEXT)}, also with {' or '.join(PACKED)}, .xlsx, .h5ad, .npz, {', '.join(ON_DISK)}"
)


def known_suffix(path: Path) -> str:
    """Return the suffix of a table, or refuse a file that is not read."""
    source = shown(path)
    suffix = ".csv" if path == DASH else suffix_of(path)
    if suffix not in _SUFFIXES and (way := conversion(path)):
        raise InputError(f"{source}: is not read; this makes a table of it {way}")
    if path.is_dir() and suffix != ".zarr":
        raise InputError(f"{source}: is a directory; only .zarr directories are read")
    if suffix == ".xls":
        raise InputError(
            f"{source}: unknown suffix '.xls', of old Excel: save it as .xlsx (or .csv, .parquet)"
        )
    if suffix not in _SUFFIXES:
        raise InputError(f"{source}: unknown suffix {suffix!r}; {_READ} are read")
    return suffix
