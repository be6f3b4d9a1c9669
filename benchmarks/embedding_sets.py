"""Sets of embeddings.py: public ones from a folder, and made ones, all in float32.

Made rows are written to disk a piece at a time.
"""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sklearn.datasets import make_moons

PIECE = 50_000
#: Label of rows off topic, which are fitted but not scored.
OFF = -1
#: Standard deviations of stretched Gaussians: of their centers, and along their axes.
CENTERS, STRETCH = 1.2, 9.0
#: Dimensions that topics lie in, and fields that they belong to.
DIMENSIONS, FIELDS = 48, 15
#: Standard deviations of topics: about the field, least and most about the topic, of the logarithm
#: of sizes, and of the noise in all columns.
OWN, SPREAD, SIZES, NOISE = 0.6, (0.04, 0.12), 1.2, 0.02
OFF_TOPIC = 0.1
#: Rows and their labels, a piece at a time.
Pieces = Iterator[tuple[np.ndarray, np.ndarray]]


class Embeddings(NamedTuple):
    """A file of rows, their labels, and how they are clustered."""

    name: str
    file: Path
    labels: np.ndarray
    k: int
    metric: str


#: Public sets, as NAME.npy and NAME_labels.npy: their metric.
PUBLIC: Mapping[str, str] = {
    "mnist": "euclidean",
    "fashion": "euclidean",
    "usps": "euclidean",
    "clinc150": "cosine",
    "banking77": "cosine",
    "stackoverflow": "cosine",
}


def pieces(n: int) -> Iterator[int]:
    for start in range(0, n, PIECE):
        yield min(PIECE, n - start)


def stretched(n: int, k: int, p: int = 64) -> Pieces:
    """Gaussians, each stretched along two directions of its own."""
    rng = np.random.default_rng(0)
    centers = rng.normal(0, CENTERS, (k, p)).astype(np.float32)
    axes = rng.standard_normal((k, 2, p), dtype=np.float32)
    axes *= STRETCH / np.linalg.norm(axes, axis=2, keepdims=True)
    for size in pieces(n):
        y = rng.integers(k, size=size)
        X = centers[y] + rng.standard_normal((size, p), dtype=np.float32)
        X += np.einsum("ij,ijp->ip", rng.standard_normal((size, 2), dtype=np.float32), axes[y])
        yield X, y


def topics(n: int, k: int, p: int = 384) -> Pieces:
    """Rows of length 1 about topics of unequal size and spread; a tenth is off topic.

    Topics belong to a few fields. Rows off topic lie in no direction more than in another.
    """
    rng = np.random.default_rng(0)
    basis = np.linalg.qr(rng.standard_normal((p, DIMENSIONS)))[0].T.astype(np.float32)
    fields = rng.standard_normal((FIELDS, DIMENSIONS), dtype=np.float32)
    centers = fields[rng.integers(FIELDS, size=k)]
    centers += OWN * rng.standard_normal((k, DIMENSIONS), dtype=np.float32)
    centers /= np.linalg.norm(centers, axis=1, keepdims=True)
    spread = rng.uniform(*SPREAD, (k, 1)).astype(np.float32)
    share = rng.lognormal(0, SIZES, k)
    share /= share.sum()
    for size in pieces(n):
        y = rng.choice(k, size, p=share)
        off = rng.random(size) < OFF_TOPIC
        Z = rng.standard_normal((size, DIMENSIONS), dtype=np.float32)
        Z[off] /= np.sqrt(DIMENSIONS)
        Z[~off] = (centers[y] + spread[y] * Z)[~off]
        X = Z @ basis + NOISE * rng.standard_normal((size, p), dtype=np.float32)
        X /= np.linalg.norm(X, axis=1, keepdims=True)
        yield X, np.where(off, OFF, y)


def moons(n: int, k: int) -> Pieces:
    for number, size in enumerate(pieces(n)):
        X, y = make_moons(size, noise=0.1, random_state=number)
        yield X.astype(np.float32), y


class Made(NamedTuple):
    """A set that is made, and the part of the benchmark that it belongs to."""

    part: str
    n: int
    k: int
    rows: Callable[[int, int], Pieces]
    metric: str = "euclidean"


MADE: Mapping[str, Made] = {
    "topics": Made("topics", 60_000, 120, topics, "cosine"),
    "gaussians": Made("made", 200_000, 50, stretched),
    "moons": Made("made", 100_000, 2, moons),
    "100 gaussians": Made("many", 200_000, 100, stretched),
    "300 gaussians": Made("many", 200_000, 300, stretched),
    "million gaussians": Made("million", 1_000_000, 50, stretched),
    "million topics": Made("million", 1_000_000, 120, topics, "cosine"),
    "million moons": Made("million", 1_000_000, 2, moons),
}


def public(folder: Path, name: str) -> Embeddings | None:
    """A set of the folder, if it is there; as many clusters as labels."""
    file = folder / f"{name}.npy"
    if not file.exists():
        return None
    labels = np.load(folder / f"{name}_labels.npy")
    k = len(np.unique(labels[labels != OFF]))
    return Embeddings(name, file, labels, k, PUBLIC[name])


def made(folder: Path, name: str, n: int | None = None) -> Embeddings:
    """A set that is written into the folder, or its first ``n`` rows and more."""
    one = MADE[name]
    n = n or one.n
    file, labels, start = folder / f"{name}.npy", np.empty(n, int), 0
    out = None
    for X, y in one.rows(n, one.k):
        if out is None:
            out = np.lib.format.open_memmap(file, "w+", np.float32, (n, X.shape[1]))
        out[start : start + len(X)], labels[start : start + len(X)] = X, y
        start += len(X)
    return Embeddings(name, file, labels, one.k, one.metric)
