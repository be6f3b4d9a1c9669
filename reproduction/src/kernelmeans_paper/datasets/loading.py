"""Benchmark sets by name, as scikit-learn's own `fetch_` functions return them."""

import os
from numbers import Integral, Real
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils import Bunch, check_scalar

from kernelmeans_paper.arrays import IntArray
from kernelmeans_paper.datasets.download import Network, data_folder, obtain
from kernelmeans_paper.datasets.readers import Content
from kernelmeans_paper.datasets.sources import SOURCES, Source


def fetch(
    name: str,
    *,
    data_home: str | os.PathLike[str] | None = None,
    download_if_missing: bool = True,
    shuffle: bool = True,
    random_state: int | np.random.Generator | None = 0,
    return_X_y: bool = False,
    timeout: float = 30.0,
    n_retries: int = 2,
) -> Bunch | tuple[Any, IntArray]:
    """Load a benchmark set, downloading its files where they are absent.

    A file is looked for in `data_folder`, and downloaded there from its public address if it is
    absent. Its SHA-256 must be the published one either way: a file with another content is
    refused, and never overwritten.

    Parameters
    ----------
    name : str
        One of `NAMES` (a table of rows; ``"digits"`` ships with scikit-learn), `VIEW_NAMES`
        (several views of the same samples), `KERNEL_NAMES` (kernel matrices) or `USER_NAMES`
        (files that only the user can get).
    data_home : path-like or None, default=None
        Folder of the files, see `data_folder`. A folder that is absent is made for a download.
    download_if_missing : bool, default=True
        If False, an absent file is an error.
    shuffle : bool, default=True
        Whether the samples are put in a random order. Most files are sorted by class, which
        nothing that depends on order should see; False gives the order of the file.
    random_state : int, Generator or None, default=0
        Seed of that order: what `numpy.random.default_rng` takes. The same order at every call by
        default.
    return_X_y : bool, default=False
        If True, only ``(data, target)`` is returned.
    timeout : float, default=30
        Seconds without an answer or a byte of it after which an attempt is given up.
    n_retries : int, default=2
        Further attempts, one and more seconds later, where a server cannot be reached, fails
        or sends something else than the file.

    Returns
    -------
    Bunch or tuple
        ``(data, target)`` if `return_X_y`, else a dictionary with attributes:

        data : {ndarray, CSR array} of shape (n_samples, n_features)
            Rows as they are in the file, float64. The views side by side, as CSR array, for
            `VIEW_NAMES`; matrices of shape (n_kernels, n_samples, n_samples) for `KERNEL_NAMES`.
        target : ndarray of shape (n_samples,)
            Classes, counted from 0.
        target_names : ndarray of shape (n_classes,)
            What the file calls the classes.
        views : list of slice
            Columns of each view; for `VIEW_NAMES` only.
        kernel_names : list of str
            For `KERNEL_NAMES` only.
        DESCR : str
            What the set is, and all of the following.
        citation, licence : str
            Whom to cite, and what is known of the terms of use.
        filename, url : str, list of str or None
            The file and its public address; lists where there are several, None where there is
            none.

    Raises
    ------
    ValueError
        If there is no set of that name, or `timeout` or `n_retries` is out of range.
    FileNotFoundError
        If a file is absent and must not, or cannot, be downloaded.
    OSError
        If a file has not the published content, or a download fails.

    Examples
    --------
    >>> from kernelmeans_paper.datasets import fetch
    >>> X, y = fetch("digits", return_X_y=True)
    >>> X.shape
    (1797, 64)
    >>> len(fetch("digits").target_names)
    10
    """
    source = _source(name)
    check_scalar(timeout, "timeout", Real, min_val=0, include_boundaries="neither")
    check_scalar(n_retries, "n_retries", Integral, min_val=0)
    network = Network(download_if_missing, timeout, n_retries)
    # A set without files needs no folder.
    folder = data_folder(data_home) if source.files else Path()
    paths = [obtain(file, folder, network) for file in source.files]
    content = source.read(paths)
    target_names, target = np.unique(np.ravel(content.classes), return_inverse=True)
    data = content.data
    if shuffle:
        order = np.random.default_rng(random_state).permutation(len(target))
        data, target = _in_order(data, order), target[order]
    if return_X_y:
        return data, target
    return Bunch(
        data=data,
        target=target,
        target_names=target_names,
        **content.fields,
        DESCR=_description(source, content, len(target_names)),
        citation=source.citation,
        licence=source.licence,
        filename=_one_or_all([str(path) for path in paths]),
        url=_one_or_all([file.url for file in source.files]),
    )


def is_present(name: str, data_home: str | os.PathLike[str] | None = None) -> bool:
    """Whether `fetch` finds all files of a set and needs no download.

    Parameters
    ----------
    name : str
        Name of the set, as `fetch` takes it.
    data_home : path-like or None, default=None
        Folder of the files, see `data_folder`.

    Returns
    -------
    bool
        True if the files exist. Their content is not read.

    Raises
    ------
    ValueError
        If there is no set of that name.

    Examples
    --------
    >>> from kernelmeans_paper.datasets import is_present
    >>> is_present("digits"), is_present("yale", data_home="no/such/folder")
    (True, False)
    """
    files = _source(name).files
    return all((data_folder(data_home) / file.name).is_file() for file in files)


def _source(name: str) -> Source:
    if name not in SOURCES:
        raise ValueError(f"name={name!r} is no benchmark set; the sets are {', '.join(SOURCES)}.")
    return SOURCES[name]


def _in_order(data: Any, order: IntArray) -> Any:
    if data.ndim == 3:
        return data[:, order][:, :, order]
    return data[order]


def _one_or_all(items: list[Any]) -> Any:
    return items if len(items) > 1 else next(iter(items), None)


def _description(source: Source, content: Content, k: int) -> str:
    shape: list[Any] = list(content.data.shape)
    if "views" in content.fields:
        shape[1] = tuple(view.stop - view.start for view in content.fields["views"])
    addresses = [file.url for file in source.files if file.url]
    return "\n".join(
        [
            source.title,
            "",
            f"Size: {' x '.join(map(str, shape))}, {k} classes.",
            *(f"From: {address}" for address in addresses),
            f"Cite: {source.citation}",
            f"Licence: {source.licence}",
            "",
        ]
    )
