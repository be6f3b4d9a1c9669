"""Changes of bytes and arrays that any file may suffer."""

import io

import numpy as np

from fuzz import Rng

WILD = [np.nan, np.inf, -np.inf, 1e300, 0.0, -1.0, 2.0**62, 1e-320]


def sound(content: bytes, rng: Rng) -> bytes:
    """A file as it is."""
    return content


def flipped(content: bytes, rng: Rng) -> bytes:
    """A few bits are others."""
    changed = bytearray(content)
    for place in rng.integers(len(content), size=rng.integers(1, 8)):
        changed[place] ^= 1 << rng.integers(8)
    return bytes(changed)


def cut(content: bytes, rng: Rng) -> bytes:
    """The end is gone."""
    return content[: rng.integers(len(content))]


def inserted(content: bytes, rng: Rng) -> bytes:
    """Something odd is in the middle."""
    odd = [b"\0", b"\xff\xfe", b'"', b"\r", b"\n\n\n", b",,,,", b"\xef\xbb\xbf", b"x" * 200_000]
    place = rng.integers(len(content))
    return content[:place] + odd[rng.integers(len(odd))] + content[place:]


def saved(array: np.ndarray) -> bytes:
    """An array as an NPY file."""
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def sparse_members(content: bytes, rng: Rng) -> bytes:
    """A sparse NPZ file with wild indices, shape, values or format."""
    arrays = dict(np.load(io.BytesIO(content)))
    name = rng.choice(["indices", "indptr", "shape", "data", "format"])
    found = arrays[name]
    match name:
        case "format":
            arrays[name] = np.array(rng.choice([b"csc", b"coo", b"bsr", b"dia", b"xyz"]))
        case "data":
            wild = [found[:-1], found * 1j, found * np.nan, found.astype(str)]
            arrays[name] = wild[rng.integers(4)]
        case _:
            found = np.array(found, dtype=np.int64)
            found[rng.integers(len(found))] = rng.choice([-1, 10**5, 2**31, 2**62, 5])
            arrays[name] = found
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()
