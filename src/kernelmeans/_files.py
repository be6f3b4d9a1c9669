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
    """Write several files, all of them or (unless a renaming in the end fails) none.

    Every file is first written in full under a temporary name beside its place.

    Parameters
    ----------
    writers : mapping of Path to callable
        What writes each file, given it open for bytes.

    Raises
    ------
    OSError
        If a file cannot be written, or its place is taken by something else than an ordinary file;
        its ``filename`` says which.
    """
    temporary: dict[Path, Path] = {}
    try:
        for path, write in writers.items():
            refuse_special(path)
            temporary[path] = beside(path)
            with temporary[path].open("xb") as file:
                write(file)
                file.flush()
                os.fsync(file.fileno())
        for path, written in temporary.items():
            refuse_special(path)  # it may have come meanwhile
            os.replace(written, path)
    except OSError as error:
        raise OSError(error.errno, error.strerror or str(error), str(path)) from error
    finally:
        for written in temporary.values():
            written.unlink(missing_ok=True)


def refuse_special(path: Path) -> None:
    """Refuse to replace links, pipes, devices and folders: a file is put in their place.

    Parameters
    ----------
    path : Path
        Where a file is to be written.

    Raises
    ------
    OSError
        If there is something that is no ordinary file, or no file can have this name.
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


def write_text(path: Path, text: str) -> None:
    """Write a text file, in UTF-8, complete or not at all."""
    write_all({path: lambda file: file.write(text.encode())})


def beside(path: Path) -> Path:
    """A temporary name in the same folder that nobody else uses, not even a killed process."""
    # Of a name as long as names may be, there is room for a part.
    return path.with_name(f".{path.name[:50]}.{token_hex(4)}.tmp")
