"""A plain reader of the benchmark data: files that the user has, no downloads."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import scipy.io
import scipy.sparse
from sklearn.datasets import load_digits

from kernelmeans._typing import Array, Data, IntArray


def data_folder() -> Path | None:
    """Folder of benchmark data: ``KERNELMEANS_DATA``, or ``../shared/data`` beside a checkout.

    Returns
    -------
    Path or None
        The folder, None where there is none.

    Examples
    --------
    >>> from kernelmeans.datasets import data_folder
    >>> folder = data_folder()
    >>> folder is None or folder.is_dir()
    True
    """
    named = os.environ.get("KERNELMEANS_DATA")
    folder = Path(named) if named else Path(__file__).parents[3] / "shared" / "data"
    return folder if folder.is_dir() else None


def _present(path: Path) -> Path:
    if not path.is_file():
        raise FileNotFoundError(
            f"{path.name} is not in {path.parent}; put it there, or let the environment variable "
            "KERNELMEANS_DATA name the folder that has it."
        )
    return path


def _matlab(
    file: str, rows: str = "X", classes: str = "Y"
) -> Callable[[Path], tuple[Array, Array]]:
    def read(folder: Path) -> tuple[Array, Array]:
        content = scipy.io.loadmat(_present(folder / file))
        return content[rows], content[classes]

    return read


def _seeds(folder: Path) -> tuple[Array, Array]:
    table = np.loadtxt(_present(folder / "seeds_dataset.txt"))
    return table[:, :-1], table[:, -1]


def _lung_bhattacharjee(folder: Path) -> tuple[Array, Array]:
    file = _present(folder / "bhattacharjee-2001_database.txt")
    lines = file.read_text().splitlines()
    header, *rows = (line.split("\t")[1:] for line in lines)
    return np.array(rows, dtype=float).T, np.array(header)


_READERS: dict[str, Callable[[Path], tuple[Array, Array]]] = {
    "yale": _matlab("Yale.mat"),
    "jaffe": _matlab("jaffe_213n_676d_10c.mat", classes="y"),
    "tox_171": _matlab("TOX-171.mat"),
    "seeds": _seeds,
    "lung_discrete": _matlab("lung_small.mat"),
    "glioma": _matlab("GLIOMA.mat"),
    "orl": _matlab("ORL.mat"),
    "lung_bhattacharjee": _lung_bhattacharjee,
    "coil20": _matlab("COIL20.mat"),
    "isolet": _matlab("Isolet.mat"),
}


def _views(file: str, rows: str, classes: str) -> Callable[[Path], tuple[list[Data], Array]]:
    def read(folder: Path) -> tuple[list[Data], Array]:
        content = scipy.io.loadmat(_present(folder / file))
        n = content[classes].size
        views = [scipy.sparse.csr_array(view, dtype=np.float64) for view in content[rows].flat]
        # Some files have samples in columns.
        return [v if v.shape[0] == n else v.T.tocsr() for v in views], content[classes]

    return read


_VIEW_READERS: dict[str, Callable[[Path], tuple[list[Data], Array]]] = {
    "three_sources": _views("3sources.mat", "X", "Y"),
    "bbcsport": _views("BBCSport.mat", "fea", "gt"),
}
#: Names of the sets that `load` reads.
NAMES = (*_READERS, "digits")
#: Names of the sets that `load_views` reads.
VIEW_NAMES = tuple(_VIEW_READERS)


def load(name: str) -> tuple[Array, IntArray]:
    """Read a benchmark set, rows in a fixed shuffled order.

    Parameters
    ----------
    name : str
        One of `NAMES`. ``"digits"`` ships with scikit-learn, the others need `data_folder`.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
        Rows as they are in the file, float64. Most files are sorted by class: they are shuffled.
    y : ndarray of shape (n_samples,)
        Classes, counted from 0.

    Raises
    ------
    ValueError
        If there is no set of that name.
    FileNotFoundError
        If there is no folder of data, or the file is not in it.

    Examples
    --------
    >>> from kernelmeans.datasets import load
    >>> X, y = load("digits")
    >>> X.shape
    (1797, 64)
    """
    _check_name(name, NAMES)
    X, y = load_digits(return_X_y=True) if name == "digits" else _READERS[name](_folder(name))
    order, classes = _shuffled(y)
    return np.asarray(X, dtype=np.float64)[order], classes


def load_views(name: str) -> tuple[list[Data], IntArray]:
    """Read a benchmark set of several views of the same samples, in a fixed shuffled order.

    Parameters
    ----------
    name : str
        One of `VIEW_NAMES`. All need `data_folder`.

    Returns
    -------
    views : list of CSR array of shape (n_samples, n_features of the view)
        Values as they are in the file, float64: term counts for ``"three_sources"``, weighted
        terms for ``"bbcsport"``.
    y : ndarray of shape (n_samples,)
        Classes, counted from 0.

    Raises
    ------
    ValueError
        If there is no set of that name.
    FileNotFoundError
        If there is no folder of data, or the file is not in it.

    Examples
    --------
    >>> from kernelmeans.datasets import VIEW_NAMES
    >>> VIEW_NAMES
    ('three_sources', 'bbcsport')
    """
    _check_name(name, VIEW_NAMES)
    views, y = _VIEW_READERS[name](_folder(name))
    order, classes = _shuffled(y)
    return [view[order] for view in views], classes


def _check_name(name: str, names: Sequence[str]) -> None:
    if name not in names:
        raise ValueError(f"name={name!r} is no benchmark set; the sets are {', '.join(names)}.")


def _folder(name: str) -> Path:
    folder = data_folder()
    if folder is None:
        raise FileNotFoundError(
            f"{name!r}: no folder of benchmark data; set the environment variable "
            "KERNELMEANS_DATA to the folder that holds the files."
        )
    return folder


def _shuffled(y: Array) -> tuple[IntArray, IntArray]:
    """A fixed order of the samples, and their classes counted from 0 in that order."""
    classes = np.unique(np.ravel(y), return_inverse=True)[1]
    order = np.random.default_rng(0).permutation(len(classes))
    return order, classes[order]
