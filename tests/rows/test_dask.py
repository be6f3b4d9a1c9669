"""Rows of Dask collections, without a cluster; with one: tests/estimators/test_dask.py."""

import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_array_equal

from kernelmeans.engines import tree_sum
from kernelmeans.rows import DaskRows, as_rows
from kernelmeans.rows.dask import computed, is_dask

da = pytest.importorskip("dask.array", reason="the extra dask is not installed")

X = np.random.default_rng(0).standard_normal((40, 3))
CHUNKS = {
    "even": (8, 3),
    "uneven": ((1, 17, 22), 3),
    "one": (40, 3),
    "empty": ((0, 12, 0, 28, 0), 3),
    "columns": (9, 2),
}
chunks = pytest.mark.parametrize("chunks", CHUNKS.values(), ids=CHUNKS)


KEYS = [
    slice(None), slice(3, 17), slice(-5, None), slice(9, 9), slice(None, None, 7),
    [39, 0, 17, 17, -1], np.arange(40)[::-1],
]  # fmt: skip


@chunks
def test_slices_and_indices(chunks):
    rows = DaskRows(da.from_array(X, chunks))
    for key in KEYS:
        found = rows[key]
        assert_array_equal(found, X[key], err_msg=repr(key))
        assert type(found) is np.ndarray
        assert found.flags.c_contiguous
        assert found.flags.writeable


def test_what_is_written_into_rows_is_not_written_into_the_collection():
    own = X.copy()
    rows = DaskRows(da.from_array(own, (40, 3)))
    rows[:][:] = 0
    rows[[0, 1]][:] = 0
    assert_array_equal(own, X)


@chunks
def test_blocks_are_the_chunks_that_hold_rows(chunks):
    array = da.from_array(X, chunks)
    rows = DaskRows(array)
    assert [b.stop - b.start for b in rows.blocks()] == [size for size in array.chunks[0] if size]
    assert rows.blocks(2) == rows.blocks()
    assert_array_equal(np.concatenate([rows[block] for block in rows.blocks()]), X)
    lazy = [chunk.compute(scheduler="synchronous") for chunk in rows.delayed_blocks()]
    for chunk, block in zip(lazy, rows.blocks(), strict=True):
        assert len(chunk)
        assert_array_equal(chunk, X[block])


def test_sums_are_over_the_chunks_in_a_tree():
    rows = DaskRows(da.from_array(X, CHUNKS["empty"]))
    assert rows.summed(len, lambda a, b: [a, b]) == [12, 28]
    whole = tree_sum([X[block].sum(axis=0) for block in rows.blocks()], np.add)
    assert_array_equal(rows.summed(lambda block: block.sum(axis=0), np.add), whole)


def test_chunks_of_unknown_length_are_measured_and_those_of_the_user_stay_as_they_are():
    array = da.from_array(X, (8, 3))
    masked = array[array[:, 0] > 0]
    rows = DaskRows(masked)
    assert rows.shape == ((X[:, 0] > 0).sum(), 3)
    assert_array_equal(rows[:], X[X[:, 0] > 0])
    assert np.isnan(masked.shape[0])


def test_chunks_are_in_c_order():
    rows = DaskRows(da.from_array(np.asfortranarray(X), (8, 3)))
    chunks = [chunk.compute(scheduler="synchronous") for chunk in rows.delayed_blocks()]
    assert all(chunk.flags.c_contiguous for chunk in chunks)
    assert_array_equal(np.concatenate(chunks), X)


@pytest.mark.parametrize(
    ("stored", "read"), [("f4", "f4"), (">f4", "f4"), ("f8", "f8"), ("i4", "f8"), ("?", "f8")]
)
def test_float32_stays_and_other_numbers_become_float64(stored, read):
    rows = DaskRows(da.from_array(X.astype(stored), (8, 3)))
    assert rows.dtype == rows.array.dtype == rows[:].dtype == np.dtype(read)
    assert_array_equal(rows[:], X.astype(stored).astype(read))


def test_some_columns():
    rows = DaskRows(da.from_array(X, (8, 2))).select([2, 0])
    assert_array_equal(rows[:], X[:, [2, 0]])
    assert rows.blocks() == DaskRows(da.from_array(X, (8, 3))).blocks()


def test_answers_have_the_chunks_of_the_rows():
    rows = DaskRows(da.from_array(X, CHUNKS["empty"]))
    labels = rows.like(np.arange(40))
    assert labels.chunks == ((0, 12, 0, 28, 0),)
    assert_array_equal(computed(labels), np.arange(40))


def test_a_dataframe_has_names_where_all_are_texts():
    pd = pytest.importorskip("pandas")
    dd = pytest.importorskip("dask.dataframe", reason="dask's dataframes need pyarrow")
    frame = dd.from_pandas(pd.DataFrame(X, columns=list("abc")), npartitions=3)
    rows = DaskRows(frame)
    assert rows.names == ["a", "b", "c"]
    assert_array_equal(rows[:], X)
    assert DaskRows(dd.from_pandas(pd.DataFrame(X), npartitions=3)).names is None
    with pytest.raises(ValueError, match="got Series"):
        DaskRows(frame.a)
    with pytest.raises(ValueError, match="not real numbers"):
        DaskRows(frame.assign(d="text"))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda a: a.map_blocks(scipy.sparse.csr_array), "dask arrays of NumPy arrays, got csr"),
        (lambda a: pytest.importorskip("dask.delayed").delayed(X), "got Delayed"),
        (lambda a: a[:, 0], "rows x columns"),
        (lambda a: a[..., None], "rows x columns"),
        (lambda a: a * 1j, "not real numbers"),
        (lambda a: a[:0], "0 rows"),
    ],
    ids=["sparse", "delayed", "vector", "cube", "complex", "empty"],
)
def test_what_is_no_matrix_of_numbers_is_refused(make, message):
    with pytest.raises(ValueError, match=message):
        DaskRows(make(da.from_array(X, (8, 3))))


def test_only_collections_are_dask():
    assert is_dask(da.from_array(X))
    assert isinstance(as_rows(da.from_array(X)), DaskRows)
    assert not any(map(is_dask, (X, [[1]], None, "dask", da.Array, np.float64(1))))


@chunks
@pytest.mark.parametrize("expected", [X[:, 0], X[:, :2], X[:, :1]], ids=["one", "two", "column"])
def test_what_is_mapped_is_a_collection_with_the_same_chunks(chunks, expected):
    def first(block):
        assert len(block)
        assert block.flags.c_contiguous
        return block[:, 0] if expected.ndim == 1 else block[:, : expected.shape[1]]

    rows = DaskRows(da.from_array(X, chunks))
    found = rows.mapped(first, expected[:0])
    assert is_dask(found)
    assert found.chunks[0] == rows.array.chunks[0]
    assert found.shape == expected.shape
    assert found.dtype == expected.dtype
    assert_array_equal(computed(found), expected)
