"""From the files of a set, as their publishers made them, to arrays in the order of the file."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import scipy.io
import scipy.sparse
from sklearn.datasets import load_digits

from kernelmeans_paper.arrays import Array

#: Samples and genes of the ASU file of lung samples.
LUNG_SHAPE = (203, 3312)


@dataclass(frozen=True)
class Content:
    """What files hold: data, classes in whatever form, and fields of one kind of set only."""

    data: Any
    classes: Array
    fields: dict[str, Any] = field(default_factory=dict)


#: Takes the files of a set in their declared order.
Reader = Callable[[Sequence[Path]], Content]


def matlab(rows: str = "X", classes: str = "Y") -> Reader:
    """Reader of one MATLAB file that has rows and classes under these keys."""

    def read(paths: Sequence[Path]) -> Content:
        content = scipy.io.loadmat(paths[0])
        return Content(np.asarray(content[rows], dtype=np.float64), content[classes])

    return read


def lung(paths: Sequence[Path]) -> Content:
    """The user's own file, of which no hash tells that it is the right one."""
    content = scipy.io.loadmat(paths[0])
    shape = np.shape(content.get("X"))
    if "Y" not in content or shape != LUNG_SHAPE:
        raise ValueError(
            f"{paths[0]} is not the ASU file of lung samples, which has classes Y and rows X of "
            f"shape {LUNG_SHAPE}; it has the keys {', '.join(k for k in content if k[0] != '_')} "
            f"and X of shape {shape}. Replace it by lung.mat of featureselection.asu.edu."
        )
    return matlab()(paths)


def last_column(paths: Sequence[Path]) -> Content:
    """One text table whose last column is the class."""
    table = np.loadtxt(paths[0])
    return Content(table[:, :-1], table[:, -1].astype(int))


def genes_in_rows(paths: Sequence[Path]) -> Content:
    """One text table with a gene in each row and the classes of the samples in its header."""
    lines = paths[0].read_text(encoding="utf-8").splitlines()
    header, *rows = (line.split("\t")[1:] for line in lines)
    return Content(np.array(rows, dtype=np.float64).T, np.array(header))


def views(rows: str, classes: str) -> Reader:
    """Reader of one MATLAB file with a cell of views, which are put side by side."""

    def read(paths: Sequence[Path]) -> Content:
        content = scipy.io.loadmat(paths[0])
        n = content[classes].size
        parts = [scipy.sparse.csr_array(view, dtype=np.float64) for view in content[rows].flat]
        # Some files have samples in columns.
        parts = [part if part.shape[0] == n else part.T for part in parts]
        edges = np.cumsum([0, *(part.shape[1] for part in parts)]).tolist()
        columns = [slice(*pair) for pair in pairwise(edges)]
        side_by_side = scipy.sparse.hstack(parts, format="csr")
        return Content(side_by_side, content[classes], {"views": columns})

    return read


def kernels(paths: Sequence[Path]) -> Content:
    """A stack of kernel matrices, one a file; the last file has the classes."""
    *matrices, last = paths
    names = [path.name.removesuffix("_post_Sample-Scale.mat") for path in matrices]
    stack = np.stack([scipy.io.loadmat(path)["K"] for path in matrices])
    return Content(stack, scipy.io.loadmat(last)["Y"], {"kernel_names": names})


def digits(paths: Sequence[Path]) -> Content:
    """The digits of scikit-learn, which ships with them."""
    return Content(*load_digits(return_X_y=True))
