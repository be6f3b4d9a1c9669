"""The folder of data: finding a file there, checking it, and downloading what is absent."""

import hashlib
import os
from pathlib import Path
from typing import NamedTuple

import pooch

from kernelmeans_paper.datasets.sources import File


class Network(NamedTuple):
    """How a file may be downloaded: at all, seconds without a byte, further attempts."""

    allowed: bool
    timeout: float
    n_retries: int


def data_folder(data_home: str | os.PathLike[str] | None = None) -> Path:
    """Folder that has, or will have, the files of the benchmark sets.

    Parameters
    ----------
    data_home : path-like or None, default=None
        The folder. By default the one that the environment variable ``KERNELMEANS_DATA`` names,
        else the user's cache folder for this package.

    Returns
    -------
    Path
        The folder, which need not exist.

    Examples
    --------
    >>> from kernelmeans_paper.datasets import data_folder
    >>> data_folder("my/data").name
    'data'
    """
    named = data_home or os.environ.get("KERNELMEANS_DATA")
    if named:
        return Path(named).expanduser().absolute()
    return Path(pooch.os_cache("kernelmeans"))


def obtain(file: File, folder: Path, network: Network) -> Path:
    """Path of a file that is in the folder and has its content, downloaded where it is absent."""
    path = folder / file.name
    if not path.is_file():
        if file.url is None or not network.allowed:
            raise FileNotFoundError(f"{file.name} is not in {folder}. {_remedy(file)}")
        _download(file, folder, network)
    elif file.sha256 is not None:
        _check(path, file.sha256)
    return path


def _check(path: Path, expected: str) -> None:
    with path.open("rb") as content:
        got = hashlib.file_digest(content, "sha256").hexdigest()
    if got != expected:
        raise OSError(
            f"{path.name} in {path.parent} is not the published file: its SHA-256 is {got}, and "
            f"must be {expected}. Remove the file to have it downloaded again, or replace it."
        )


def _download(file: File, folder: Path, network: Network) -> None:
    client = pooch.Pooch(
        path=folder,
        base_url="",
        registry={file.name: file.sha256},
        urls={file.name: file.url},
        retry_if_failed=network.n_retries,
        allow_updates=False,
    )
    try:
        client.fetch(file.name, downloader=pooch.HTTPDownloader(timeout=network.timeout))
    except (OSError, ValueError) as error:
        raise OSError(
            f"{file.name} is not in {folder} and could not be downloaded: "
            f"{str(_root(error)).rstrip('.')}. {_remedy(file)}"
        ) from error


def _root(error: BaseException) -> BaseException:
    """The first cause: errors of requests repeat the address."""
    return error if error.__context__ is None else _root(error.__context__)


def _remedy(file: File) -> str:
    place = file.url or "the ASU feature selection repository (featureselection.asu.edu)"
    return (
        f"Put it there from {place}, or name its folder by KERNELMEANS_DATA (in Python data_home)."
    )
