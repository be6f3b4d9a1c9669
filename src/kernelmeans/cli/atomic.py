"""Outputs of the commands: refused before any work, or written complete."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from kernelmeans import _files
from kernelmeans._files import Writer
from kernelmeans.cli.errors import BadInputError, FailedError


def check_writable(targets: Iterable[Path], *, force: bool, source: Path | None = None) -> None:
    """Refuse, before any work, what could not be written after it.

    Parameters
    ----------
    targets : iterable of Path
        The files to be written; their folders are made.
    force : bool
        Whether files that exist may be overwritten.
    source : Path or None
        The input, which is never overwritten.
    """
    targets = list(targets)
    # `Path.resolve` fails in a loop of links.
    places = {os.path.realpath(path) for path in targets}
    if len(places) < len(targets):
        raise BadInputError("two of the files to write have the same name")
    if source and os.path.realpath(source) in places:
        raise BadInputError(f"{source}: the input would be overwritten; name another output")
    try:
        for path in targets:
            _files.refuse_special(path)
        existing = [path for path in targets if path.exists()]
    except OSError as error:
        raise BadInputError(
            f"cannot write {error.filename}: {error.strerror} (--output-dir, or the option of that "
            "file, chooses another place)"
        ) from error
    if existing and not force:
        names = ", ".join(map(str, existing))
        raise BadInputError(
            f"would overwrite {names}: allow it with --force, or choose another place "
            "with --output-dir"
        )
    for folder in {path.parent for path in targets}:
        _try_folder(folder)


def write_all(writers: Mapping[Path, Writer]) -> None:
    """Write several files as `kernelmeans._files.write_all` does; failure is a message."""
    try:
        _files.write_all(writers)
    except OSError as error:
        raise FailedError(f"cannot write {error.filename}: {error.strerror}") from error


def _try_folder(folder: Path) -> None:
    """Make the folder and a file in it: permissions alone do not tell whether that works."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        trial = _files.beside(folder / "kernelmeans")
        trial.touch(exist_ok=False)
        trial.unlink()
    except OSError as error:
        raise BadInputError(f"cannot write into the folder {folder}: {error.strerror}") from error
