"""What all rows answer, compared with the matrix that was stored."""

import pickle
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import ExitStack
from itertools import pairwise
from multiprocessing import get_context
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from sklearn.utils import _safe_indexing

from kernelmeans.rows import Rows, as_rows, base
from rows.forms import FORMS, total

#: The others are objects in memory, which are pickled as they are.
ON_DISK = [name for name in FORMS if name not in ("dataset", "contiguous")]


def test_describe_the_matrix(rows, X):
    assert isinstance(rows, Rows)
    assert rows.shape == X.shape
    assert rows.ndim == 2
    assert len(rows) == len(X)
    assert rows.nbytes == X.nbytes
    assert rows.dtype == np.float64
    assert rows.source in repr(rows)
    assert as_rows(rows) is rows


def numbered(n, chunk):
    """Rows that are their own numbers."""
    return Rows(np.arange(float(n))[:, None], "numbers", chunk=chunk)


KEYS = [
    slice(None), slice(3, 17), slice(-5, None), slice(0, 1), slice(9, 9), slice(20, 10),
    slice(35, 100), slice(None, None, 7), slice(30, 2, -3), [5], [39, 0, 17, 17, -1], [],
    np.arange(40)[::-1], np.array([2, 3, 5], dtype=np.uint8),
]  # fmt: skip


def test_slices_and_indices(rows, X):
    for key in KEYS:
        found = rows[key]
        wanted = X[np.asarray(key, int) if isinstance(key, list) else key]
        assert_array_equal(found, wanted, err_msg=repr(key))
        assert type(found) is np.ndarray
        assert found.dtype == X.dtype
        assert found.flags.c_contiguous
        assert found.flags.writeable


def test_scikit_learn_takes_rows(rows, X):
    assert_array_equal(_safe_indexing(rows, np.array([4, 1])), X[[4, 1]])


def test_the_caller_may_write_into_what_was_read(rows, X):
    for key in (slice(None), slice(1, 3), [1, 2]):
        rows[key][:] = -1
        assert_array_equal(rows[key], X[key])
        assert_array_equal(rows[:], X)


def test_float32_stays(make, X):
    single = X.astype(np.float32)
    rows = make(single)
    assert rows.dtype == np.float32
    assert rows[:].dtype == np.float32
    assert_array_equal(rows[3:9], single[3:9])


@pytest.mark.parametrize("dtype", [np.uint8, bool])
def test_other_numbers_become_float64(make, X, dtype):
    numbers = (np.abs(10 * X) % 2 if dtype is bool else np.abs(10 * X)).astype(dtype)
    rows = make(numbers)
    assert rows.dtype == np.float64
    assert rows[:].dtype == np.float64
    assert_array_equal(rows[:], numbers.astype(np.float64))
    assert_array_equal(rows[[3, 1]], numbers[[3, 1]].astype(np.float64))


@pytest.mark.parametrize(
    ("key", "error"),
    [
        (3, TypeError),
        (np.int64(3), TypeError),
        ([[1, 2]], TypeError),
        ([0.5], TypeError),
        (np.ones(40, bool), TypeError),
        ((slice(2), 0), (TypeError, ValueError)),
        ([40], IndexError),
        ([-41], IndexError),
    ],
)
def test_refuse_other_keys(key, error):
    rows = numbered(40, 7)
    with pytest.raises(error):
        rows[key]


def test_are_not_loaded_by_accident(rows):
    with pytest.raises(TypeError, match=r"rows\[:\]"):
        np.asarray(rows)
    with pytest.raises(TypeError):
        list(rows)


def test_blocks_read_everything_once(rows, X):
    for most in (1, 3, 8, 1000):
        blocks = rows.blocks(most)
        assert_array_equal(np.vstack([rows[block] for block in blocks]), X)


def test_what_is_mapped_is_joined_in_order(rows, X):
    sizes = []

    def doubled(block):
        sizes.append(len(block))
        return 2 * block

    with patch.object(base, "READ_BYTES", 10 * X.itemsize * X.shape[1]):
        blocks = rows.blocks()
        assert_array_equal(rows.mapped(doubled, X[:0]), 2 * X)
    assert sizes == [block.stop - block.start for block in blocks]
    assert len(sizes) > 1 or rows.chunk == len(X)


def test_blocks_need_a_row(rows):
    with pytest.raises(ValueError, match="most=0"):
        rows.blocks(0)


@given(n=st.integers(1, 200), chunk=st.integers(1, 60), most=st.integers(1, 250))
def test_blocks_respect_chunks(n, chunk, most):
    rows = numbered(n, chunk)
    blocks = rows.blocks(most)
    edges = [block.start for block in blocks] + [blocks[-1].stop]
    assert edges[0] == 0
    assert edges[-1] == n
    sizes = np.diff(edges)
    assert sizes.min() > 0
    assert sizes.max() <= most
    for start, stop in pairwise(edges):
        whole = start % chunk == 0 and (stop % chunk == 0 or stop == n)
        assert whole or start // chunk == (stop - 1) // chunk
    # No more blocks than needed: all that could be merged is, and parts are about equal.
    if most >= min(chunk, n):
        assert len(blocks) == -(-n // (most // rows.chunk * rows.chunk))
    else:
        of_whole_chunks = sizes[np.array(edges[1:]) <= n // rows.chunk * rows.chunk]
        assert np.ptp(of_whole_chunks) <= 1


@given(
    n=st.integers(1, 100),
    chunk=st.integers(1, 30),
    sizes=st.tuples(*[st.integers(16, 2000)] * 4),
    ends=st.tuples(*[st.integers(0, 100)] * 2),
    indices=st.lists(st.integers(-100, 99)),
)
def test_any_rows_whatever_is_read_at_once(n, chunk, sizes, ends, indices):
    X = np.arange(4.0 * n).reshape(n, 4)
    with ExitStack() as stack:
        for name, size in zip(["READ", "COPIED", "GATHER", "CHUNK"], sizes, strict=True):
            stack.enter_context(patch.object(base, f"{name}_BYTES", size))
        rows = Rows(X, "numbers", chunk=chunk)
        wanted = np.array([index % n - n * (index < 0) for index in indices], dtype=int)
        for each, expected in ((rows, X), (rows.select([3, 1]), X[:, [3, 1]])):
            assert_array_equal(each[slice(*ends)], expected[slice(*ends)])
            assert_array_equal(each[wanted], expected[wanted])
            assert_array_equal(np.vstack([each[block] for block in each.blocks()]), expected)


def test_threads_read_the_same(make, rng):
    X = rng.normal(size=(120, 4))
    rows = make(X)
    starts = rng.integers(0, 110, size=16)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda start: rows[start : start + 7], starts.tolist()))
        taken = list(pool.map(lambda start: rows[[start, 0]], starts.tolist()))
    for start, block, pair in zip(starts, found, taken, strict=True):
        assert_array_equal(block, X[start : start + 7])
        assert_array_equal(pair, X[[start, 0]])


def test_pickles_read_the_file_again(rows, X):
    rows[3:5]  # held chunks are not pickled
    stored = pickle.dumps(rows)
    assert_array_equal(pickle.loads(stored)[:], X)


@pytest.mark.parametrize("make", ON_DISK, indirect=True)
def test_pickles_do_not_hold_the_numbers(make, rng):
    rows = make(rng.normal(size=(1000, 4)))
    rows[:10]
    assert len(pickle.dumps(rows)) < 8_000


@pytest.mark.slow
def test_processes_read_the_file(tmp_path, X):
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        for name, form in FORMS.items():
            (tmp_path / name).mkdir()
            found = pool.submit(total, form(tmp_path / name, X)).result()
            assert found == pytest.approx(X.sum()), name


@pytest.mark.parametrize("columns", [[2], [3, 0], [0, 1, 2, 3]])
def test_select_columns(rows, X, columns):
    found = rows.select(columns)
    assert found.shape == (40, len(columns))
    assert_array_equal(found[5:20], X[5:20][:, columns])
    assert_array_equal(found[[30, 2]], X[[30, 2]][:, columns])
    assert found[:].flags.c_contiguous


@pytest.mark.parametrize("columns", [[4], [-1], ["x"], [], [1, 1]])
def test_select_refuses(columns):
    rows = Rows(np.zeros((3, 4)), "zeros", names=list("abcd"))
    with pytest.raises(ValueError, match="zeros: columns="):
        rows.select(columns)


def test_a_single_row_and_column(make):
    rows = make(np.array([[7.0]]))
    assert rows[:].tolist() == [[7.0]]
    assert rows.blocks(10) == [slice(0, 1)]
