"""Data for the tests: small made sets, and the real ones where they are present."""

import os
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import scipy.io

FOLDER = Path(
    os.environ.get("KERNELMEANS_DATA", Path(__file__).resolve().parents[2] / "shared" / "data")
)
FILES = {
    "yale": "Yale.mat",
    "jaffe": "jaffe_213n_676d_10c.mat",
    "tox_171": "TOX-171.mat",
    "seeds": "seeds_dataset.txt",
    "isolet": "Isolet.mat",
    "lung_discrete": "lung_small.mat",
    "coil20": "COIL20.mat",
    "glioma": "GLIOMA.mat",
    "orl": "ORL.mat",
    "lung_bhattacharjee": "bhattacharjee-2001_database.txt",
}


def available():
    """Whether the folder of real data is there."""
    return all((FOLDER / name).exists() for name in FILES.values())


needs_data = pytest.mark.skipif(
    not available(), reason=f"no benchmark data in {FOLDER}: set KERNELMEANS_DATA to their folder"
)


@cache
def load(name):
    """Rows and classes of a real set, in a seeded random order (the files are sorted by class)."""
    X, y = _read(FOLDER / FILES[name])
    order = np.random.default_rng(0).permutation(len(y))
    return np.ascontiguousarray(X[order]), y[order]


@cache
def standardized(name):
    """The same with columns centred and scaled, as the paper does; constant columns are zero."""
    X, y = load(name)
    scale = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(scale > 0, scale, 1), y


def _read(path):
    if path.suffix == ".mat":
        content = scipy.io.loadmat(path)
        y = content["Y"] if "Y" in content else content["y"]
        return content["X"].astype(float), y.ravel()
    if path.name == "seeds_dataset.txt":
        table = np.loadtxt(path)
        return table[:, :-1], table[:, -1].astype(int)
    with path.open() as lines:
        classes = lines.readline().split("\t")[1:]
        values = [line.split("\t")[1:] for line in lines]
    y = np.unique([name.strip() for name in classes], return_inverse=True)[1]
    return np.array(values, float).T, y


def rms_kernel(X):
    """The paper's Gaussian kernel matrix of some rows, by the definition of its width."""
    norms = np.einsum("ij,ij->i", X, X)
    squared = np.maximum(norms[:, None] + norms - 2 * X @ X.T, 0)
    np.fill_diagonal(squared, 0)
    n = len(X)
    return np.exp(-squared / (2 * squared.sum() / (n * (n - 1))))


def blobs(n=90, p=3, k=3, seed=0, spread=0.3):
    """Round clusters of nearly equal size at random places, in random order: rows and classes."""
    rng = np.random.default_rng(seed)
    centres = 4 * rng.standard_normal((k, p))
    y = rng.permutation(np.arange(n) % k)
    return centres[y] + spread * rng.standard_normal((n, p)), y


def cloud(n=60, p=3, seed=0):
    """Rows without clusters: the hard case for anything that should agree to the last label."""
    return np.random.default_rng(seed).standard_normal((n, p))


def rings(seed=0):
    """The paper's motivating example: five blobs of 50 rows on each of two concentric circles."""
    y = np.repeat(np.arange(10), 50)
    angle = 2 * np.pi * (y % 5) / 5
    radius = np.where(y < 5, 2.0, 5.0)
    X = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    return X + 0.35 * np.random.default_rng(seed).standard_normal(X.shape), y
