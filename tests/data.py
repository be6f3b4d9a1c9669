"""Data for the tests: small made sets, and the real ones where they are present."""

import os
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path

import numpy as np
import pytest

from kernelmeans import ClusterSearch
from kernelmeans.heat.diffusion import settle_times
from kernelmeans_paper import datasets

# Beside a checkout there may be a folder with the sets; the library itself does not look there.
_BESIDE = Path(__file__).parents[2] / "shared" / "data"
if _BESIDE.is_dir():
    os.environ.setdefault("KERNELMEANS_DATA", str(_BESIDE))
#: Where the real sets are, or would be.
FOLDER = datasets.data_folder()
#: The sets that lie there.
NAMES = [name for name in datasets.NAMES if name != "digits"]

_EVERY = (*NAMES, *datasets.VIEW_NAMES, *datasets.KERNEL_NAMES)
_ABSENT = [name for name in _EVERY if not datasets.is_present(name)]
needs_data = pytest.mark.skipif(
    bool(_ABSENT),
    reason=f"{len(_ABSENT)} benchmark sets are not in {FOLDER}: let KERNELMEANS_DATA name "
    "the folder that has them, or get them by kernelmeans_paper.datasets.fetch",
)
load = cache(partial(datasets.fetch, return_X_y=True, download_if_missing=False))


@cache
def standardized(name):
    """The same with columns centred and scaled, as the paper does; constant columns are zero."""
    X, y = load(name)
    scale = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(scale > 0, scale, 1), y


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


def views_with_a_trap(seed, n=150, k=5):
    """Rows of four noisy views, 20 columns each, that know the classes, and of one of two columns
    and two tight groups that does not; and the classes.
    """
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % k)
    views = [
        1.3 * rng.standard_normal((k, 20))[y] + 1.6 * rng.standard_normal((n, 20)) for _ in range(4)
    ]
    side = rng.integers(0, 2, n)[:, None] * [10, -10]
    return np.hstack([*views, side + 0.1 * rng.standard_normal((n, 2))]), y


@contextmanager
def short_searches():
    """Searches in four splits, unless they ask for others, and with few data without clusters."""
    defaults = ClusterSearch.__init__.__kwdefaults__
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ClusterSearch.__init__, "__kwdefaults__", defaults | {"n_splits": 4})
        patch.setattr("kernelmeans.search.comparison.N_DRAWS", 2)
        yield


def fit_anchors(kernel, X, k, n_anchors):
    """A heat kernel on so many anchors, as a fit with landmarks makes it."""
    trial = kernel.learn_anchors(X, np.ones(X.shape[0]), k, n_anchors, seed=0)
    settle_times([kernel], [trial], k)
    return kernel
