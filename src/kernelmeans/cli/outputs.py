"""The files that a command writes: refused before any work, or complete, or not there at all."""

import json
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

from kernelmeans._errors import InputError
from kernelmeans._files import Writer, check_ordinary, despite_signals, write_files
from kernelmeans._numbers import finite
from kernelmeans.cli.errors import FailedError


def check_writable(targets: Iterable[Path], *, force: bool, source: Path | None = None) -> None:
    """Refuse, before any work, files that could not be written after it.

    Parameters
    ----------
    targets : iterable of Path
        The files to write. Folders that are missing are made later, with the files.
    force : bool
        Whether files that exist may be overwritten.
    source : Path or None
        The input, which is never overwritten.
    """
    targets = list(targets)
    # `Path.resolve` fails in a loop of links.
    places = {os.path.realpath(path) for path in targets}
    if len(places) < len(targets):
        raise InputError("two of the files to write have the same name")
    if source and os.path.realpath(source) in places:
        raise InputError(f"{source}: the input would be overwritten; name another output")
    try:
        for path in targets:
            check_ordinary(path)
        existing = [path for path in targets if path.exists()]
    except OSError as error:
        raise InputError(
            f"cannot write {error.filename}: {error.strerror} (--output-dir, or the option of that "
            "file, chooses another place)"
        ) from error
    if existing and not force:
        raise InputError(
            f"would overwrite {', '.join(map(str, existing))}: allow it with --force, or choose "
            "another place with --output-dir"
        )
    for folder in {path.parent for path in targets}:
        # Permissions alone do not tell whether that works.
        known = next(one for one in (folder, *folder.parents) if os.path.lexists(one))
        try:
            tempfile.TemporaryFile(dir=known).close()
        except OSError as error:
            message = f"cannot write into the folder {folder}: {error.strerror}"
            raise InputError(message) from error


@contextmanager
def _folders(wanted: Iterable[Path]) -> Iterator[None]:
    """Make folders. Those that are new stay only if nothing fails."""
    new: set[Path] = set()
    try:
        for folder in wanted:
            new.update(one for one in (folder, *folder.parents) if not one.exists())
            folder.mkdir(parents=True, exist_ok=True)
        yield
    except BaseException:
        despite_signals(lambda: _remove_empty(new))
        raise


def _remove_empty(folders: Iterable[Path]) -> None:
    for folder in sorted(folders, key=lambda one: -len(one.parts)):
        with suppress(OSError):  # another process may have files there
            folder.rmdir()


def write_all(writers: Mapping[Path, Writer]) -> None:
    """Write several files: all of them, or none unless a renaming fails.

    Parameters
    ----------
    writers : mapping of Path to callable
        A function for each file, which writes to it as a binary file.

    Raises
    ------
    FailedError
        If a file cannot be written, or something other than an ordinary file has its name.
    """
    try:
        with _folders({path.parent for path in writers}):
            write_files(writers)
    except OSError as error:
        raise FailedError(f"cannot write {error.filename}: {error.strerror}") from error


def json_writer(content: dict[str, Any]) -> Writer:
    """Write `content` as JSON."""
    return lambda file: file.write(as_json(content).encode() + b"\n")


def picture_writer(figure: Any, path: Path) -> Writer:
    """Write a figure in the format that the suffix of its path names."""
    return partial(figure.savefig, format=path.suffix[1:].lower())


def as_json(content: dict[str, Any]) -> str:
    """Return `content` as JSON; infinities, which JSON does not have, become null."""
    return json.dumps(finite(content), indent=2, ensure_ascii=False, allow_nan=False)
