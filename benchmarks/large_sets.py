"""Labelled sets of some ten thousand rows that kernelmeans_paper.datasets does not offer.

Files are read from the folder that ``KERNELMEANS_DATA`` names. Missing files are downloaded into
it, each from one commit of a public repository, and their hashes are checked.
"""

import gzip
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import scipy.io

from kernelmeans_paper.datasets.download import Network, data_folder, obtain
from kernelmeans_paper.datasets.sources import File, Repository

Labelled = tuple[np.ndarray, np.ndarray]

_UNKNOWN = "No licence stated by the repository; for research use."
_USPS = Repository("se2/cis602-01-a3", "009320fc3ab432b50d1f578c5a714fc48dd2f7d3", _UNKNOWN)
_DIGITS = Repository(
    "1nflktd/RedeNeuralGoIA2", "8f9835b47a136471f90943f13bf03ce076da5557", _UNKNOWN
)
_LETTERS = Repository(
    "davidgasquez/letter-recognition", "fe3c4830d0003e53340bbf40a57c3573e021df64", _UNKNOWN
)

_MNIST = Repository("fgnt/mnist", "ae608a02b796c9ee908c082585a5f006fe05258e", _UNKNOWN)


def _mnist(paths: list[Path]) -> Labelled:
    """Images and labels, without their headers of 16 and 8 bytes."""
    images, labels = (np.frombuffer(gzip.decompress(path.read_bytes()), np.uint8) for path in paths)
    return images[16:].reshape(-1, 784).astype(float), labels[8:]


def _usps(paths: list[Path]) -> Labelled:
    content = scipy.io.loadmat(paths[0])
    return content["fea"].astype(float), content["gnd"].ravel()


def _pendigits(paths: list[Path]) -> Labelled:
    """The last column has a place for each class."""
    table = np.vstack([np.loadtxt(path, delimiter=",", dtype=str) for path in paths])
    return table[:, :-1].astype(float), np.array([places.index("1") for places in table[:, -1]])


def _letters(paths: list[Path]) -> Labelled:
    """The class is the first column, under a line of names."""
    table = np.loadtxt(paths[0], delimiter=",", dtype=str, skiprows=1)
    return table[:, 1:].astype(float), table[:, 0]


LARGE: Mapping[str, tuple[Callable[[list[Path]], Labelled], tuple[File, ...]]] = {
    # 1100 images of each digit, 16 x 16 grey values.
    "usps": (
        _usps,
        (
            File(
                "USPS.mat",
                "9f09eec7eba5872888b3e78373595cd7fd97d32e28b996be8c65eab068c874f2",
                _USPS,
                "USPS.mat",
            ),
        ),
    ),
    # UCI's pen-based digits, training and test rows.
    "pendigits": (
        _pendigits,
        (
            File(
                "pendigits.tra",
                "46d918c0bf055fc9cbed117c9c4e34af870a4f9b42d4716e5a6f27ab2e298a9f",
                _DIGITS,
                "pendigits.tra",
            ),
            File(
                "pendigits.tes",
                "70f0eb502f352398cbab8f3cf8c60365ceede5390a0ed78fe7767739e7173ae1",
                _DIGITS,
                "pendigits.tes",
            ),
        ),
    ),
    # The test images, 28 x 28 grey values.
    "mnist": (
        _mnist,
        (
            File(
                "t10k-images-idx3-ubyte.gz",
                "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6",
                _MNIST,
                "t10k-images-idx3-ubyte.gz",
            ),
            File(
                "t10k-labels-idx1-ubyte.gz",
                "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6",
                _MNIST,
                "t10k-labels-idx1-ubyte.gz",
            ),
        ),
    ),
    # UCI's letter recognition.
    "letters": (
        _letters,
        (
            File(
                "letter-recognition.data",
                "9b63b12c9425f919cf32a4de0ffbbef25960ddeced6a0c15fc8cf2dbb530b403",
                _LETTERS,
                "letter-recognition.data",
            ),
        ),
    ),
}


def load_large(name: str) -> Labelled:
    """Rows, as the files have them, and classes."""
    read, files = LARGE[name]
    network = Network(allowed=True, timeout=30, n_retries=2)
    return read([obtain(file, data_folder(), network) for file in files])
