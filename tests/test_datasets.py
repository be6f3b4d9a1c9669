"""The reader of benchmark data against what its publishers say of the sets."""

import re

import numpy as np
import pytest
import scipy.io
import scipy.sparse

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


#: Samples, terms of each view, and samples of each class.
VIEWS = {
    "three_sources": (169, (3560, 3631, 3068), (56, 21, 11, 18, 51, 12)),
    "bbcsport": (544, (3183, 3203), (62, 104, 193, 124, 61)),
}


@data.needs_data
@pytest.mark.parametrize("name", VIEWS)
def test_views_have_the_published_sizes_and_classes(name, monkeypatch):
    monkeypatch.setenv("KERNELMEANS_DATA", str(data.FOLDER))
    views, y = datasets.load_views(name)
    n, terms, classes = VIEWS[name]
    assert [view.shape for view in views] == [(n, p) for p in terms]
    assert {(view.format, view.dtype) for view in views} == {("csr", np.dtype(np.float64))}
    np.testing.assert_array_equal(np.bincount(y), classes)
    assert (np.diff(y) < 0).sum() > len(classes)


def dense(cell):
    return (cell.toarray() if scipy.sparse.issparse(cell) else cell).astype(float)


@data.needs_data
@pytest.mark.parametrize(
    ("name", "file", "rows", "classes"),
    [("three_sources", "3sources.mat", "X", "Y"), ("bbcsport", "BBCSport.mat", "fea", "gt")],
)
def test_views_and_classes_are_those_of_the_file_in_one_order(
    name, file, rows, classes, monkeypatch
):
    monkeypatch.setenv("KERNELMEANS_DATA", str(data.FOLDER))
    content = scipy.io.loadmat(data.FOLDER / file)
    order = np.random.default_rng(0).permutation(len(content[classes]))
    views, y = datasets.load_views(name)
    for view, cell in zip(views, content[rows][0], strict=True):
        np.testing.assert_array_equal(view.toarray(), dense(cell)[order])
    np.testing.assert_array_equal(y + 1, content[classes][order, 0])


@data.needs_data
def test_rows_and_classes_are_those_of_the_file_in_one_order(monkeypatch):
    monkeypatch.setenv("KERNELMEANS_DATA", str(data.FOLDER))
    content = scipy.io.loadmat(data.FOLDER / "Yale.mat")
    order = np.random.default_rng(0).permutation(165)
    X, y = datasets.load("yale")
    np.testing.assert_array_equal(X, content["X"][order])
    np.testing.assert_array_equal(y + 1, content["Y"][order, 0])


def test_digits_need_no_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("KERNELMEANS_DATA", str(tmp_path / "nowhere"))
    assert datasets.data_folder() is None
    assert datasets.load("digits")[0].shape == (1797, 64)


READERS = [
    pytest.param(datasets.load, "yale", "Yale.mat", id="load"),
    pytest.param(datasets.load_views, "bbcsport", "BBCSport.mat", id="load_views"),
]


@pytest.mark.parametrize(("read", "name", "file"), READERS)
def test_a_missing_folder_is_named_with_the_remedy(read, name, file, monkeypatch, tmp_path):
    monkeypatch.setenv("KERNELMEANS_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(FileNotFoundError, match=rf"'{name}': no folder .*KERNELMEANS_DATA"):
        read(name)


@pytest.mark.parametrize(("read", "name", "file"), READERS)
def test_a_missing_file_is_named(read, name, file, monkeypatch, tmp_path):
    monkeypatch.setenv("KERNELMEANS_DATA", str(tmp_path))
    with pytest.raises(FileNotFoundError, match=re.escape(file)):
        read(name)


@pytest.mark.parametrize(
    ("read", "wrong", "known"),
    [
        (datasets.load, "iris", datasets.NAMES),
        (datasets.load, "bbcsport", datasets.NAMES),
        (datasets.load_views, "yale", datasets.VIEW_NAMES),
    ],
)
def test_unknown_sets_are_refused_with_the_known_ones(read, wrong, known, monkeypatch, tmp_path):
    monkeypatch.setenv("KERNELMEANS_DATA", str(tmp_path))
    with pytest.raises(ValueError, match=f"'{wrong}' .* {', '.join(known)}"):
        read(wrong)
