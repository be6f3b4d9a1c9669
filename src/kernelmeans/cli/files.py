"""Files that appear complete or not at all."""

import errno
import os
import stat
from collections.abc import Callable, Mapping
from pathlib import Path
from secrets import token_hex
from typing import BinaryIO

Writer = Callable[[BinaryIO], object]


def write_all(writers: Mapping[Path, Writer]) -> None:
    """Write several files: all of them, or none unless a renaming fails.

    Each file is first written in full under a temporary name in its folder.

    Parameters
    ----------
    writers : mapping of Path to callable
        A function for each file, which writes to it as a binary file.

    Raises
    ------
    OSError
        If a file cannot be written, or something other than an ordinary file has its name. The
        ``filename`` of the error says which.
    """
    temporary: dict[Path, Path] = {}
    try:
        for path, write in writers.items():
            refuse_special(path)
            temporary[path] = temporary_path(path)
            with temporary[path].open("xb") as file:
                write(file)
                file.flush()
                os.fsync(file.fileno())
        for path, written in temporary.items():
            refuse_special(path)  # it may be new
            os.replace(written, path)
    except OSError as error:
        raise OSError(error.errno, error.strerror or str(error), str(path)) from error
    finally:
        for written in temporary.values():
            written.unlink(missing_ok=True)


def refuse_special(path: Path) -> None:
    """Refuse to replace a link, pipe, device or folder by a file.

    Parameters
    ----------
    path : Path
        The file to write.

    Raises
    ------
    OSError
        If something other than an ordinary file has this name, or no file can have it.
    """
    try:
        mode = path.lstat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return
    kind = (
        "a link" if stat.S_ISLNK(mode) else "a folder" if stat.S_ISDIR(mode) else "no ordinary file"
    )
    if not stat.S_ISREG(mode):
        raise OSError(
            errno.EEXIST,
            f"it is {kind}, and would be replaced by a file",
            str(path),
        )


def temporary_path(path: Path) -> Path:
    """A name in the same folder that no other process uses, or used before it was killed."""
    # Only a part of the name, because it may be as long as names may be.
    return path.with_name(f".{path.name[:50]}.{token_hex(4)}.tmp")
