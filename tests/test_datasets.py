"""The reader of benchmark data against what its publishers say of the sets."""

import numpy as np
import pytest

import data
from kernelmeans import datasets

SHAPES = {
    "yale": (165, 1024, 15),
    "jaffe": (213, 676, 10),
    "tox_171": (171, 5748, 4),
    "seeds": (210, 7, 3),
    "isolet": (1560, 617, 26),
    "lung_discrete": (73, 325, 7),
    "coil20": (1440, 1024, 20),
    "glioma": (50, 4434, 4),
    "orl": (400, 1024, 40),
    "lung_bhattacharjee": (203, 1543, 5),
}

#: Rows of each class, in sets with as many of every one.
EVEN = {"yale": 11, "seeds": 70, "isolet": 60, "coil20": 72, "orl": 10}


@data.needs_data
@pytest.mark.parametrize("name", SHAPES)
def test_sets_have_the_published_sizes_and_classes(name, monkeypatch):
    monkeypatch.setenv("KERNELMEANS_DATA", str(data.FOLDER))
    X, y = datasets.load(name)
    n, p, k = SHAPES[name]
    assert X.shape == (n, p)
    assert X.dtype == np.float64
    np.testing.assert_array_equal(np.unique(y), np.arange(k))
    if name in EVEN:
        np.testing.assert_array_equal(np.bincount(y), EVEN[name])
    # The files are sorted by class; the rows are not.
    assert (np.diff(y) < 0).sum() > k


def test_digits_need_no_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("KERNELMEANS_DATA", str(tmp_path / "nowhere"))
    assert datasets.data_folder() is None
    assert datasets.load("digits")[0].shape == (1797, 64)


def test_a_missing_folder_is_named_with_the_remedy(monkeypatch, tmp_path):
    monkeypatch.setenv("KERNELMEANS_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(FileNotFoundError, match=r"'yale': no folder .*KERNELMEANS_DATA"):
        datasets.load("yale")


def test_a_missing_file_is_named(monkeypatch, tmp_path):
    monkeypatch.setenv("KERNELMEANS_DATA", str(tmp_path))
    with pytest.raises(FileNotFoundError, match=r"Yale\.mat"):
        datasets.load("yale")


def test_unknown_sets_are_refused_with_the_known_ones(monkeypatch, tmp_path):
    monkeypatch.setenv("KERNELMEANS_DATA", str(tmp_path))
    with pytest.raises((KeyError, ValueError), match="iris"):
        datasets.load("iris")
