"""Chunks are decoded once for all blocks in them, and few of them are held."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from time import sleep

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from kernelmeans.rows import as_rows, base
from rows.forms import Dataset

X = np.arange(300.0).reshape(100, 3)


def test_small_blocks_decode_each_chunk_once():
    dataset = Dataset(X, chunks=(20, 3))
    rows = as_rows(dataset)
    found = [rows[block] for block in rows.blocks(7)]
    assert_array_equal(np.vstack(found), X)
    assert dataset.read == [20] * 5


def test_threads_decode_each_chunk_once():
    class Slow(Dataset):
        def __getitem__(self, key):
            sleep(0.01)
            return super().__getitem__(key)

    dataset = Slow(X, chunks=(20, 3))
    rows = as_rows(dataset)
    together = Barrier(4)

    def read(block):
        together.wait()
        return rows[block]

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(read, rows.blocks(5)))
    assert_array_equal(np.vstack(found), X)
    assert dataset.read == [20] * 5


def test_large_blocks_are_read_as_they_are():
    dataset = Dataset(X, chunks=(20, 3))
    rows = as_rows(dataset)
    assert [rows[block].shape[0] for block in rows.blocks(50)] == [40, 40, 20]
    assert dataset.read == [40, 40, 20]


def test_scattered_rows_take_one_pass(monkeypatch):
    monkeypatch.setattr(base, "GATHER_BYTES", 50 * 24)
    dataset = Dataset(X, chunks=(20, 3))
    wanted = np.random.default_rng(0).permutation(100)[:60]
    assert_array_equal(as_rows(dataset)[wanted], X[wanted])
    assert sum(dataset.read) <= 100
    assert max(dataset.read) <= 40


def test_two_chunks_stay_in_memory():
    dataset = Dataset(X, chunks=(20, 3))
    rows = as_rows(dataset)
    for first in (0, 20, 15, 25, 40, 35, 0):
        assert_array_equal(rows[first : first + 5], X[first : first + 5])
    assert dataset.read == [20] * 4  # the first chunk was read twice
    assert len(rows._held) == 2


def test_large_chunks_are_read_in_pieces(monkeypatch):
    monkeypatch.setattr(base, "CHUNK_BYTES", 10 * 24)
    dataset = Dataset(X, chunks=(20, 3))
    rows = as_rows(dataset)
    assert_array_equal(np.vstack([rows[block] for block in rows.blocks(7)]), X)
    assert dataset.read == [10] * 10


@pytest.mark.parametrize("error", [RuntimeError("bad checksum"), OSError("gone")])
def test_errors_name_the_rows(error):
    class Damaged(Dataset):
        def __getitem__(self, key):
            raise error

    rows = as_rows(Damaged(X, chunks=(20, 3)))
    with pytest.raises(OSError, match=r"Damaged /X: rows 20 to 39 cannot be read .*damaged"):
        rows[25:30]


def test_lack_of_memory_is_no_damage():
    class Large(Dataset):
        def __getitem__(self, key):
            raise MemoryError("too large")

    with pytest.raises(MemoryError, match="too large"):
        as_rows(Large(X))[:]
