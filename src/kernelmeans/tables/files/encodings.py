"""The bytes of a table in text, unpacked and in UTF-8."""

import codecs
import gzip
import io
import json
import math
import re
import sys
from contextlib import suppress
from pathlib import Path
from typing import IO

from kernelmeans._errors import InputError
from kernelmeans._sizes import readable
from kernelmeans._text import counted, listed
from kernelmeans._warnings import warn_user
from kernelmeans.tables.files.archives import open_archive
from kernelmeans.tables.files.settings import DASH, STDIN, shown

_GZIP = b"\x1f\x8b"
#: The first bytes of files that are no text, and what to do with them.
_OTHERS = {
    b"PK\x03\x04": "an archive, as Excel writes it: name a workbook .xlsx, or unpack it",
    b"\xd0\xcf\x11\xe0": "a file of old Excel: save it as .xlsx",
    b"PAR1": "a Parquet file: name it .parquet",
}
_JSON = re.compile(rb'\s*(\{\s*"|\[\s*[\[{])')
_BOMS = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
#: Bytes that tell an encoding.
_HEAD = 1000
#: Bytes in memory for each byte of text.
_TEXT_FACTOR = 6


def read_content(path: Path, budget: float) -> bytes:
    """Read a file, or standard input, and unpack it if it is packed with gzip or zip.

    Parameters
    ----------
    path : Path
        The file; ``-`` is standard input.
    budget : float
        Bytes that may be taken. Text takes several times its size.

    Returns
    -------
    bytes
        The text.
    """
    most = -1 if math.isinf(budget) else int(budget / _TEXT_FACTOR)
    if path.suffix.lower() == ".zip":
        content = _only_member(path, budget, most)
    else:
        content = _limited(STDIN, sys.stdin.buffer, most) if path == DASH else path.read_bytes()
    if content.startswith(_GZIP):
        content = _limited(shown(path), gzip.GzipFile(fileobj=io.BytesIO(content)), most)
    for head, what in _OTHERS.items():
        if content.startswith(head):
            raise InputError(f"{shown(path)}: is no text but {what}")
    if _is_json(content):
        raise InputError(
            f"{shown(path)}: is JSON and no table in text: polars.read_json or pandas.read_json "
            "reads it, and can write it as CSV"
        )
    return content


def _only_member(path: Path, budget: float, most: int) -> bytes:
    """The only file of an archive, beside those that a Mac adds."""
    with open_archive(path, path, budget) as archive:
        names = [
            name
            for name in archive.namelist()
            if not name.endswith(("/", ".DS_Store")) and not name.startswith("__MACOSX/")
        ]
        if len(names) != 1:
            raise InputError(
                f"{path}: holds {counted(len(names), 'file')} ({listed(names, most=3)}), but a "
                "single table is read: unpack it and give one of them"
            )
        with archive.open(names[0]) as member:
            return _limited(path, member, most)


def _is_json(content: bytes) -> bool:
    """Whether these are objects of JSON, in a list or one in each line."""
    content = content.removeprefix(codecs.BOM_UTF8)
    if _JSON.match(content):
        for text in (content.strip().partition(b"\n")[0], content):
            with suppress(ValueError, RecursionError):
                return isinstance(json.loads(text), dict | list)
    return False


def _limited(source: Path, file: IO[bytes] | gzip.GzipFile, most: int) -> bytes:
    content = file.read(most + 1 if most >= 0 else -1)
    if 0 <= most < len(content):
        raise InputError(
            f"{source}: holds more than {readable(most)}, and text takes {_TEXT_FACTOR} times its "
            "size in memory: allow more with --memory-budget, or write a Parquet file, which is "
            "read block by block"
        )
    return content


def to_utf8(source: Path, content: bytes, encoding: str | None) -> bytes:
    """Return a text in UTF-8, with lines that end in a line feed.

    Parameters
    ----------
    source : Path
        The name of the file in messages.
    content : bytes
        The text.
    encoding : str or None
        Its encoding. None: as its first bytes say, otherwise UTF-8 or, with a warning, cp1252.

    Returns
    -------
    bytes
        The text in UTF-8, without a byte order mark.
    """
    guess = next((name for bom, name in _BOMS.items() if content.startswith(bom)), None)
    given = encoding or guess or _wide(content[:_HEAD])
    if given is None:
        try:
            content.decode()
        except UnicodeDecodeError:
            given = "cp1252"
            warn_user(
                f"{source} is not UTF-8 and is read as cp1252 (Western Europe); --encoding names "
                "another encoding"
            )
    if given is not None:
        try:
            content = content.decode(given).encode()
        except (LookupError, ValueError) as error:
            raise InputError(
                f"{source}: is no text in {given} ({error}); --encoding names its encoding"
            ) from error
    if b"\0" in content:
        raise InputError(
            f"{source}: holds zero bytes: it is no text, or --encoding has to name its encoding"
        )
    content = content.removeprefix(codecs.BOM_UTF8)
    if b"\n" not in content.rstrip(b"\r\n"):  # of old Macs; the last line may end otherwise
        content = content.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return content


def _wide(head: bytes) -> str | None:
    """UTF-16 without a mark at its beginning: one of the two bytes of most letters is zero."""
    zeros = [head[start::2].count(0) for start in (0, 1)]
    if max(zeros) < len(head) // 4 + 1:
        return None
    return "utf-16-be" if zeros[0] > zeros[1] else "utf-16-le"
