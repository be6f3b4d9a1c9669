"""What `fetch` makes of files, by sets that are made here."""

import re

import numpy as np
import pytest
import scipy.io

from kernelmeans_paper.datasets import NAMES, VIEW_NAMES, fetch, is_present, readers, sources


def register(monkeypatch, read, *files):
    source = sources.Source("Made.", "Nobody (2020).", "None.", read, files)
    monkeypatch.setitem(sources.SOURCES, "made", source)


@pytest.fixture
def here(made):
    made.folder.mkdir()
    (made.folder / "made.mat").write_bytes(made.body)
    return made


def test_rows_and_classes_are_shuffled_alike_by_the_seed(here):
    def got(**options):
        return fetch("made", data_home=here.folder, return_X_y=True, **options)

    X, y = got()
    order = np.random.default_rng(0).permutation(6)
    np.testing.assert_array_equal(X, here.content["X"][order])
    np.testing.assert_array_equal(y, np.array([0, 0, 1, 1, 2, 2])[order])
    for seed in (1, np.random.default_rng(1)):
        other = np.random.default_rng(1).permutation(6)
        np.testing.assert_array_equal(got(random_state=seed)[0], here.content["X"][other])
    np.testing.assert_array_equal(got(shuffle=False)[0], here.content["X"])


def test_a_set_has_the_fields_that_describe_it(here):
    bunch = fetch("made", data_home=here.folder)
    np.testing.assert_array_equal(bunch.target_names, [1, 3, 4])
    assert (bunch.url, bunch.citation, bunch.licence) == (
        here.file.url,
        "Nobody (2020).",
        "None.",
    )
    assert bunch.DESCR.splitlines() == [
        "Made.",
        "",
        "Size: 6 x 2, 3 classes.",
        f"From: {here.file.url}",
        "Cite: Nobody (2020).",
        "Licence: None.",
    ]


def test_kernel_matrices_are_shuffled_in_rows_and_columns(monkeypatch):
    stack = np.add.outer([0, 1000], np.add.outer(10 * np.arange(7), np.arange(7)))
    register(monkeypatch, lambda paths: readers.Content(stack, np.arange(7)))
    K, y = fetch("made", return_X_y=True)
    assert (np.diff(y) < 0).any()
    np.testing.assert_array_equal(K[0], np.add.outer(10 * y, y))
    np.testing.assert_array_equal(K[1], 1000 + np.add.outer(10 * y, y))


def test_views_are_put_side_by_side_whichever_way_they_lie(monkeypatch, tmp_path, rng):
    first, second = rng.random((5, 3)), rng.random((5, 2))
    cell = np.empty((1, 2), dtype=object)
    cell[0] = [first, scipy.sparse.csc_matrix(second.T)]
    scipy.io.savemat(tmp_path / "made.mat", {"X": cell, "Y": [[2, 1, 2, 1, 1]]})
    register(monkeypatch, readers.views("X", "Y"), sources.File("made.mat"))
    bunch = fetch("made", data_home=tmp_path, shuffle=False)
    assert bunch.views == [slice(0, 3), slice(3, 5)]
    np.testing.assert_array_equal(bunch.data[:, bunch.views[0]].toarray(), first)
    np.testing.assert_array_equal(bunch.data[:, bunch.views[1]].toarray(), second)
    np.testing.assert_array_equal(bunch.target, [1, 0, 1, 0, 0])
    assert "Size: 5 x (3, 2), 2 classes." in bunch.DESCR


def test_digits_need_no_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("KERNELMEANS_DATA", str(tmp_path / "nowhere"))
    bunch = fetch("digits")
    assert bunch.data.shape == (1797, 64)
    assert (bunch.url, bunch.filename) == (None, None)


def test_the_file_that_only_users_can_get_is_asked_of_them(tmp_path):
    assert not is_present("lung", tmp_path)
    with pytest.raises(FileNotFoundError, match=re.escape(f"lung.mat is not in {tmp_path}")) as no:
        fetch("lung", data_home=tmp_path)
    for part in (f"lung.mat is not in {tmp_path}.", "featureselection.asu.edu"):
        assert part in str(no.value)


def test_the_file_of_a_user_is_read_if_it_has_the_published_size(tmp_path):
    rows = np.zeros((203, 3312))
    scipy.io.savemat(tmp_path / "lung.mat", {"X": rows, "Y": np.arange(203)[:, None] % 5 + 1})
    bunch = fetch("lung", data_home=tmp_path)
    assert bunch.data.shape == (203, 3312)
    assert len(bunch.target_names) == 5
    assert bunch.url is None
    assert "Untested" in bunch.DESCR


@pytest.mark.parametrize(
    "content",
    [
        {"X": np.zeros((203, 12600)), "Y": np.zeros((203, 1))},
        {"X": np.zeros((203, 3312))},
        {"data": np.zeros((203, 3312)), "Y": np.zeros((203, 1))},
    ],
)
def test_another_file_of_that_name_is_refused(content, tmp_path):
    scipy.io.savemat(tmp_path / "lung.mat", content)
    with pytest.raises(ValueError, match=r"lung\.mat is not the ASU file .*\(203, 3312\)"):
        fetch("lung", data_home=tmp_path)


@pytest.mark.parametrize("ask", [fetch, is_present])
def test_unknown_sets_are_refused_with_the_known_ones(ask):
    known = ", ".join((*NAMES, *VIEW_NAMES, "du2015_yale_kernels", "lung"))
    with pytest.raises(ValueError, match=f"'iris' .* {known}"):
        ask("iris")


@pytest.mark.parametrize(
    ("wrong", "kind"),
    [
        ({"timeout": 0}, ValueError),
        ({"timeout": "1"}, TypeError),
        ({"n_retries": -1}, ValueError),
        ({"n_retries": 0.5}, TypeError),
    ],
)
def test_settings_out_of_range_are_refused_before_anything(wrong, kind, tmp_path):
    with pytest.raises(kind, match=next(iter(wrong))):
        fetch("yale", data_home=tmp_path / "nowhere", **wrong)
    assert not (tmp_path / "nowhere").exists()
