"""Files that appear complete or not at all."""

import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import BinaryIO

from kernelmeans.cli.errors import BadInputError, FailedError

Writer = Callable[[BinaryIO], object]


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
    if len({path.resolve() for path in targets}) < len(targets):
        raise BadInputError("two of the files to write have the same name")
    if source and source.resolve() in {path.resolve() for path in targets}:
        raise BadInputError(f"{source}: the input would be overwritten; name another output")
    existing = [path for path in targets if path.exists()]
    if folders := [path for path in existing if path.is_dir()]:
        raise BadInputError(f"{folders[0]}: is a folder; a file is to be written there")
    if existing and not force:
        names = ", ".join(map(str, existing))
        raise BadInputError(
            f"would overwrite {names}: allow it with --force, or choose another place "
            "with --output-dir"
        )
    for folder in {path.parent for path in targets}:
        _try_folder(folder)


def write_all(writers: Mapping[Path, Writer]) -> None:
    """Write several files, all of them or (unless the very last renaming fails) none.

    Every file is first written in full under a temporary name beside its place.
    """
    temporary: dict[Path, Path] = {}
    try:
        for path, write in writers.items():
            temporary[path] = _beside(path)
            with temporary[path].open("xb") as file:
                write(file)
                file.flush()
                os.fsync(file.fileno())
        for path, written in temporary.items():
            os.replace(written, path)
    except OSError as error:
        raise FailedError(f"cannot write {path}: {error.strerror or error}") from error
    finally:
        for written in temporary.values():
            written.unlink(missing_ok=True)


def _beside(path: Path) -> Path:
    return path.with_name(f".{path.name}.{os.getpid()}.tmp")


def _try_folder(folder: Path) -> None:
    """Make the folder and a file in it: permissions alone do not tell whether that works."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        trial = _beside(folder / "kernelmeans")
        trial.touch(exist_ok=False)
        trial.unlink()
    except OSError as error:
        raise BadInputError(f"cannot write into the folder {folder}: {error.strerror}") from error
