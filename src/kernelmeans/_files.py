"""Files that are complete, or are not there."""

import errno
import os
import stat
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from secrets import token_hex
from typing import BinaryIO

Writer = Callable[[BinaryIO], object]


def write_files(writers: Mapping[Path, Writer]) -> None:
    """Write several files: all of them, or none unless a renaming fails.

    Each file is first written in full under a temporary name in its folder.

    Parameters
    ----------
    writers : mapping of Path to callable
        A function for each file, which writes to it as a binary file.

    Raises
    ------
    OSError
        If a file, which is its ``filename``, cannot be written, or something other than an ordinary
        file has its name.
    """
    temporary: dict[Path, Path] = {}
    try:
        for path, write in writers.items():
            check_ordinary(path)
            # The name is noted before the file exists, because a signal may come at any time.
            temporary[path] = hidden = temporary_path(path)
            try:
                opened = hidden.open("xb")
            except FileExistsError:  # of another process
                del temporary[path]
                raise
            with opened as file:
                write(file)
                file.flush()
                os.fsync(file.fileno())
        for path, written in temporary.items():
            check_ordinary(path)  # it may be new
            os.replace(written, path)
    except OSError as error:
        # The user knows this name, and not the temporary one.
        raise OSError(error.errno, error.strerror or str(error), str(path)) from error
    finally:
        despite_signals(lambda: _remove(temporary.values()))


def _remove(paths: Iterable[Path]) -> None:
    """Remove files that are there."""
    for path in paths:
        path.unlink(missing_ok=True)


def despite_signals(action: Callable[[], object]) -> None:
    """Do what a signal may interrupt once, and must not prevent."""
    try:
        action()
    except BaseException:
        action()
        raise


def check_ordinary(path: Path) -> None:
    """Refuse to replace a link, pipe, device or folder by a file."""
    try:
        mode = path.lstat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return
    if not stat.S_ISREG(mode):
        kinds = {stat.S_IFLNK: "a link", stat.S_IFDIR: "a folder"}
        kind = kinds.get(stat.S_IFMT(mode), "no ordinary file")
        raise OSError(errno.EEXIST, f"it is {kind}, and would be replaced by a file", str(path))


def temporary_path(path: Path) -> Path:
    """A name in the same folder that no other process uses, or used before it was killed."""
    # Only a part of the name, because it may be as long as names may be.
    return path.with_name(f".{path.name[:50]}.{token_hex(4)}.tmp")
