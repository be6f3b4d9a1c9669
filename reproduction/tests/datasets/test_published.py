"""The published files against what their publishers say of them."""

import hashlib
import re

import numpy as np
import pytest
import scipy.io
import scipy.sparse

import data
from kernelmeans_paper.datasets import (
    KERNEL_NAMES,
    NAMES,
    USER_NAMES,
    VIEW_NAMES,
    fetch,
    is_present,
)
from kernelmeans_paper.datasets.sources import SOURCES

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

#: Samples, terms of each view, and samples of each class.
VIEWS = {
    "three_sources": (169, (3560, 3631, 3068), (56, 21, 11, 18, 51, 12)),
    "bbcsport": (544, (3183, 3203), (62, 104, 193, 124, 61)),
}

FILES = {file.name: file for source in SOURCES.values() for file in source.files if file.url}


def file_order(n):
    return np.random.default_rng(0).permutation(n)


@data.needs_data
@pytest.mark.parametrize("name", SHAPES)
def test_sets_have_the_published_sizes_and_classes(name):
    bunch = fetch(name)
    X, y = bunch.data, bunch.target
    n, p, k = SHAPES[name]
    assert X.shape == (n, p)
    assert X.dtype == np.float64
    np.testing.assert_array_equal(np.unique(y), np.arange(k))
    assert len(bunch.target_names) == k
    if name in EVEN:
        np.testing.assert_array_equal(np.bincount(y), EVEN[name])
    # The files are sorted by class; the rows are not.
    assert (np.diff(y) < 0).sum() > k
    assert f"Size: {n} x {p}, {k} classes." in bunch.DESCR


@data.needs_data
@pytest.mark.parametrize("name", VIEWS)
def test_views_have_the_published_sizes_and_classes(name):
    bunch = fetch(name)
    n, terms, classes = VIEWS[name]
    assert (bunch.data.format, bunch.data.dtype) == ("csr", np.float64)
    views = [bunch.data[:, columns] for columns in bunch.views]
    assert [view.shape for view in views] == [(n, p) for p in terms]
    assert bunch.data.shape == (n, sum(terms))
    np.testing.assert_array_equal(np.bincount(bunch.target), classes)
    assert (np.diff(bunch.target) < 0).sum() > len(classes)
    assert f"Size: {n} x {terms}, {len(classes)} classes." in bunch.DESCR


def dense(cell):
    return (cell.toarray() if scipy.sparse.issparse(cell) else cell).astype(float)


@data.needs_data
@pytest.mark.parametrize(
    ("name", "file", "rows", "classes"),
    [("three_sources", "3sources.mat", "X", "Y"), ("bbcsport", "BBCSport.mat", "fea", "gt")],
)
def test_views_and_classes_are_those_of_the_file_in_one_order(name, file, rows, classes):
    content = scipy.io.loadmat(data.FOLDER / file)
    order = file_order(len(content[classes]))
    bunch = fetch(name)
    for columns, cell in zip(bunch.views, content[rows][0], strict=True):
        np.testing.assert_array_equal(bunch.data[:, columns].toarray(), dense(cell)[order])
    np.testing.assert_array_equal(bunch.target + 1, content[classes][order, 0])


@data.needs_data
def test_rows_and_classes_are_those_of_the_file_in_one_order():
    content = scipy.io.loadmat(data.FOLDER / "Yale.mat")
    order = file_order(165)
    X, y = fetch("yale", return_X_y=True)
    np.testing.assert_array_equal(X, content["X"][order])
    np.testing.assert_array_equal(y + 1, content["Y"][order, 0])


@data.needs_data
def test_published_kernels_and_their_classes_are_in_one_order():
    bunch = fetch("du2015_yale_kernels")
    order = file_order(165)
    assert bunch.data.shape == (12, 165, 165)
    file = data.FOLDER / "du2015_yale_kernels" / "gaussian_1_post_Sample-Scale.mat"
    K = bunch.data[bunch.kernel_names.index("gaussian_1")]
    np.testing.assert_array_equal(K, scipy.io.loadmat(file)["K"][np.ix_(order, order)])
    np.testing.assert_array_equal(bunch.target, fetch("yale").target)
    assert len(bunch.url) == len(bunch.filename) == 13


@data.needs_data
@pytest.mark.parametrize("name", FILES)
def test_the_registered_hash_is_that_of_the_file(name):
    content = (data.FOLDER / name).read_bytes()
    assert hashlib.sha256(content).hexdigest() == FILES[name].sha256


def test_every_file_has_a_pinned_address():
    assert len(FILES) == 24
    repository = r"https://raw\.githubusercontent\.com/[\w-]+/[\w-]+/[0-9a-f]{40}/"
    for name, file in FILES.items():
        assert re.match(repository, file.url), name
        # What is kept under a shorter name is published under one that ends in it.
        assert file.url.endswith(name.rpartition("/")[2]), name
        assert re.fullmatch("[0-9a-f]{64}", file.sha256), name
    assert len({file.url for file in FILES.values()}) == 24


def test_every_set_says_what_it_is_whom_to_cite_and_its_terms():
    assert {*NAMES, *VIEW_NAMES, *KERNEL_NAMES, *USER_NAMES} == set(SOURCES)
    for name, source in SOURCES.items():
        assert source.title.endswith("."), name
        assert re.search(r"\((19|20)\d\d\)", source.citation), name
        assert source.licence.endswith("."), name


@data.needs_data
def test_a_set_describes_itself():
    bunch = fetch("jaffe")
    for part in (bunch.citation, bunch.licence, bunch.url, "213 x 676", "10 classes"):
        assert part in bunch.DESCR
    assert "Lyons" in bunch.citation
    assert "non-commercial" in bunch.licence
    assert bunch.filename == str(data.FOLDER / "jaffe_213n_676d_10c.mat")


@data.needs_data
def test_present_sets_are_known_to_be():
    assert is_present("du2015_yale_kernels")
    assert is_present("yale", data.FOLDER)
