"""Files that appear complete or not at all."""

import os
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
        If a file cannot be written; its ``filename`` says which.
    """
    temporary: dict[Path, Path] = {}
    try:
        for path, write in writers.items():
            temporary[path] = beside(path)
            with temporary[path].open("xb") as file:
                write(file)
                file.flush()
                os.fsync(file.fileno())
        for path, written in temporary.items():
            os.replace(written, path)
    except OSError as error:
        raise OSError(error.errno, error.strerror or str(error), str(path)) from error
    finally:
        for written in temporary.values():
            written.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Write a text file, in UTF-8, complete or not at all."""
    write_all({path: lambda file: file.write(text.encode())})


def beside(path: Path) -> Path:
    """A temporary name in the same folder that nobody else uses, not even a killed process."""
    return path.with_name(f".{path.name}.{token_hex(4)}.tmp")
