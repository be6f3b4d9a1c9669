"""Files that appear complete or not at all."""

import os
from pathlib import Path
from secrets import token_hex


def write(path: Path, content: bytes) -> None:
    """Write a file in one go: whoever looks for it finds all of it, or what was there before.

    Parameters
    ----------
    path : Path
        Its place, in a folder that is made if it is not there.
    content : bytes
        What it holds.

    Raises
    ------
    OSError
        If it cannot be written; its ``filename`` is the path.
    """
    temporary = path.with_name(f".{path.name[:50]}.{token_hex(4)}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with temporary.open("xb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, path)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        raise OSError(error.errno, error.strerror or str(error), str(path)) from error
