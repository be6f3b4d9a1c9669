"""Files that change while they are read: an error in words, never a dead process."""

import os
import subprocess
import sys

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from kernelmeans import KernelPowerKMeans
from kernelmeans.rows import as_rows, open_rows
from rows.forms import Dataset

X = np.random.default_rng(0).normal(size=(5000, 4))
# In a process of its own, which a bus error would end.
READ = """
import os, sys
import numpy as np
from kernelmeans.rows import as_rows, open_rows
path, how = sys.argv[1:]
rows = as_rows(np.load(path, mmap_mode="r")) if how == "map" else open_rows(path)
rows[:10]
os.truncate(path, 50_000)
for key in (slice(4000, 5000), [4999, 1]):
    try:
        rows[key]
    except OSError as error:
        print(error)
"""


@pytest.mark.parametrize("how", ["file", "fortran", "map"])
def test_an_npy_file_that_is_cut(tmp_path, how):
    path = str(tmp_path / "data.npy")
    np.save(path, np.asarray(X, order="F" if how == "fortran" else "C"))
    done = subprocess.run([sys.executable, "-c", READ, path, how], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("the file has become shorter") == 2
    assert done.stdout.count(path) == 2


def test_an_npy_file_that_is_read_piece_by_piece(tmp_path, monkeypatch):
    """The system may answer with less than it is asked for."""
    np.save(tmp_path / "data.npy", X)
    rows, read = open_rows(tmp_path / "data.npy"), os.preadv
    monkeypatch.setattr(os, "preadv", lambda file, left, at: read(file, [left[0][:999]], at))
    assert_array_equal(rows[100:400], X[100:400])


def test_an_npy_file_that_is_replaced_is_read_to_the_end(tmp_path):
    np.save(tmp_path / "data.npy", X)
    rows = open_rows(tmp_path / "data.npy")
    np.save(tmp_path / "other.npy", X[:5])
    os.replace(tmp_path / "other.npy", tmp_path / "data.npy")
    assert_array_equal(rows[4000:], X[4000:])


def test_a_map_of_a_file_whose_name_is_gone(tmp_path):
    mapped = np.memmap(tmp_path / "data.bin", X.dtype, "w+", shape=X.shape)
    mapped[:] = X
    rows = as_rows(mapped[::-2, 1:])
    (tmp_path / "data.bin").unlink()
    assert_array_equal(rows[:], X[::-2, 1:])


def test_a_parquet_file_that_is_replaced(tmp_path, monkeypatch):
    pl = pytest.importorskip("polars")
    monkeypatch.setattr("kernelmeans.rows.parquet.READ_BYTES", 8 * 1000)
    pl.DataFrame(X).write_parquet(tmp_path / "data.parquet")
    rows = open_rows(tmp_path / "data.parquet", columns=["column_0"]).select([0])
    rows[:10]
    pl.DataFrame(X[:100]).write_parquet(tmp_path / "data.parquet")
    with pytest.raises(OSError, match=r"rows 4000 to 4999 cannot be read \(it has changed since"):
        rows[4000:]


def test_a_panic_of_polars_is_an_error_like_others(tmp_path, monkeypatch):
    pl = pytest.importorskip("polars")

    def panic(self):
        raise pl.exceptions.PanicException("range.end <= self.size")

    rows = as_rows(pl.LazyFrame({"a": [1.0, 2.0, 3.0]}))
    monkeypatch.setattr(pl.LazyFrame, "collect", panic)
    with pytest.raises(OSError, match=r"rows 0 to 2 cannot be read \(polars says: range\.end"):
        rows[:2]


def test_a_store_that_answers_with_text():
    class Texts(Dataset):
        def __getitem__(self, key):
            return super().__getitem__(key).astype("<U5")

    with pytest.raises(OSError, match=r"rows 0 to 1 cannot be read .*<U\d+ values"):
        as_rows(Texts(X))[:2]


def test_a_store_that_has_become_shorter():
    dataset = Dataset(X)
    rows = as_rows(dataset)
    dataset._values = X[:10]
    with pytest.raises(OSError, match=r"rows 8 to 11 have shape \(2, 4\), not \(4, 4\): the file"):
        rows[8:12]
    dataset._values = X[:, :1]
    with pytest.raises(OSError, match=r"have shape \(4, 1\), not \(4, 4\): the file was changed"):
        rows[8:12]


class Spoilt(Dataset):
    """Has NaN from the second time on that its last rows are read."""

    passes = 0

    def __getitem__(self, key):
        found = super().__getitem__(key).copy()
        if key.stop == len(X):
            self.passes += 1
            found[-1, -1] = np.nan if self.passes > 1 else found[-1, -1]
        return found


def test_nan_that_turns_up_after_the_first_pass():
    # The budget keeps the rows on disk: they have 160 kB.
    model = KernelPowerKMeans(
        3,
        kernel="rbf",
        approximation="landmarks",
        n_components=5,
        memory_budget="600 KB",
        random_state=0,
    )
    spoilt = Spoilt(X, chunks=(500, 4))
    with pytest.raises(ValueError, match="Input X contains NaN or infinity in"):
        model.fit(spoilt)
    assert spoilt.passes == 2


def test_large_finite_numbers_are_finite():
    rows = as_rows(Dataset(np.full((4, 2), 1.7e308))).finite()
    assert_array_equal(rows[:], np.full((4, 2), 1.7e308))
    assert_array_equal(rows.select([1])[[2]], [[1.7e308]])


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_is_not_finite_is_refused_with_its_block(monkeypatch, bad):
    monkeypatch.setattr("kernelmeans.rows.base.COPIED_BYTES", 10 * 32)
    spoilt = X[:100].copy()
    spoilt[31, 2] = bad
    rows = as_rows(Dataset(spoilt)).finite()
    for key in (slice(None), slice(3, 99), slice(35, None, -2)):
        with pytest.raises(ValueError, match=r"Dataset /X: Input X contains NaN or infinity in"):
            rows[key]
    with pytest.raises(ValueError, match="infinity in rows 30 to 39;"):
        rows[3:]
    assert_array_equal(rows[40:], spoilt[40:])
    assert_array_equal(rows.select([3, 0])[:], spoilt[:, [3, 0]])
    with pytest.raises(ValueError, match="infinity in rows 30 to 39;"):
        rows.select([2])[:]
