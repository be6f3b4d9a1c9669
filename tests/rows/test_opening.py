"""Which files and objects are opened as rows, and what is said of the others."""

import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_array_equal

from kernelmeans.rows import as_rows, open_rows
from rows.forms import Dataset

X = np.arange(12.0).reshape(4, 3)


@pytest.fixture
def pl():
    return pytest.importorskip("polars")


@pytest.fixture
def zarr():
    return pytest.importorskip("zarr")


def refusal(path, columns=None):
    with pytest.raises(ValueError) as caught:  # noqa: PT011 (the tests look at the message)
        open_rows(path, columns)
    assert str(path) in str(caught.value)
    return str(caught.value)


def test_a_path_may_be_text(tmp_path):
    np.save(tmp_path / "data.NPY", X)
    (tmp_path / "data.NPY.npy").rename(tmp_path / "data.NPY")
    assert_array_equal(open_rows(str(tmp_path / "data.NPY"))[:], X)


@pytest.mark.parametrize("name", ["data.npy", "data.parquet", "data.zarr", "data.csv"])
def test_no_file(tmp_path, name):
    with pytest.raises(FileNotFoundError, match=name):
        open_rows(tmp_path / name)


def test_unknown_suffixes(tmp_path):
    (tmp_path / "data.csv").write_text("1,2\n")
    message = refusal(tmp_path / "data.csv")
    assert "'.csv'" in message
    assert ".npy and .parquet" in message
    assert "convert" in message


@pytest.mark.parametrize("name", ["data.npy", "data.parquet"])
@pytest.mark.parametrize("content", [b"", b"a,b\n1,2\n", b"PAR1PAR1", b"\x93NUMPY\x01\x00"])
def test_files_of_something_else(tmp_path, name, content, pl):
    (tmp_path / name).write_bytes(content)
    message = refusal(tmp_path / name)
    assert f"cannot be read as {name[5:].upper()}" in message
    assert "write it again" in message


@pytest.mark.parametrize("keep", [0.2, 0.9, 0.999])
@pytest.mark.parametrize("name", ["data.npy", "data.parquet"])
def test_truncated_files(tmp_path, name, keep, pl):
    if name == "data.npy":
        np.save(tmp_path / name, np.zeros((100, 50)))
    else:
        pl.DataFrame(np.zeros((100, 50))).write_parquet(tmp_path / name)
    content = (tmp_path / name).read_bytes()
    (tmp_path / name).write_bytes(content[: int(keep * len(content))])
    assert "cannot be read" in refusal(tmp_path / name)


def test_parquet_with_a_damaged_page(tmp_path, pl):
    values = np.random.default_rng(0).normal(size=(5000, 2))
    pl.DataFrame(values).write_parquet(tmp_path / "data.parquet")
    content = bytearray((tmp_path / "data.parquet").read_bytes())
    content[100:20_000] = bytes(19_900)
    (tmp_path / "data.parquet").write_bytes(content)
    rows = open_rows(tmp_path / "data.parquet")
    with pytest.raises(OSError, match=r"data\.parquet: rows 0 to 4999 cannot be read .*damaged"):
        rows[:]


@pytest.mark.parametrize("version", [2, 3])
def test_zarr_with_a_damaged_chunk(tmp_path, zarr, version):
    array = zarr.create_array(
        tmp_path / "data.zarr", shape=(4, 3), chunks=(2, 3), dtype="f8", zarr_format=version
    )
    array[:] = np.random.default_rng(0).normal(size=(4, 3))
    rows = open_rows(tmp_path / "data.zarr")
    chunk = tmp_path / "data.zarr" / ("1.0" if version == 2 else "c/1/0")
    chunk.write_bytes(chunk.read_bytes()[:10])
    rows[:2]
    with pytest.raises(OSError, match=r"data\.zarr: rows 2 to 3 cannot be read"):
        rows[2:]


def test_a_parquet_file_that_shrinks(tmp_path, pl):
    frame = pl.DataFrame(X)
    frame.write_parquet(tmp_path / "data.parquet")
    rows = open_rows(tmp_path / "data.parquet")
    frame[:2].write_parquet(tmp_path / "data.parquet")
    with pytest.raises(OSError, match="changed meanwhile"):
        rows[:]


@pytest.mark.parametrize(
    ("array", "words"),
    [
        (np.arange(3.0), ["shape (3,)", "reshape"]),
        (np.zeros((2, 2, 2)), ["shape (2, 2, 2)"]),
        (np.zeros((2, 2), dtype=complex), ["complex128", "real numbers"]),
        (np.array([["a"]]), ["<U1"]),
        (np.array([["2020-01-01"]], dtype="M8[D]"), ["datetime64"]),
        (np.zeros((0, 3)), ["0 rows"]),
        (np.zeros((3, 0)), ["0 columns"]),
    ],
)
def test_arrays_that_are_no_matrix_of_numbers(tmp_path, zarr, array, words):
    np.save(tmp_path / "data.npy", array)
    message = refusal(tmp_path / "data.npy")
    assert all(word in message for word in words), message
    if array.dtype.kind in "fc":
        zarr.create_array(tmp_path / "data.zarr", data=array)
        message = refusal(tmp_path / "data.zarr")
        assert all(word in message for word in words), message


def test_arrays_of_objects(tmp_path):
    path = tmp_path / "data.npy"
    embeddings = np.empty(len(X), dtype=object)
    embeddings[:] = list(X)  # a column of a data frame that holds an array in each row
    for array in (X.astype(object), embeddings):
        np.save(path, array)
        told = refusal(path)
        assert "Python objects" in told
        exec(told.rpartition(": ")[2], {"numpy": np, "path": path, "X": array})
        assert_array_equal(open_rows(path)[:], X)


def test_a_header_that_promises_too_much(tmp_path):
    with open(tmp_path / "data.npy", "wb") as file:
        header = {"descr": "<f8", "fortran_order": False, "shape": (20, 2**62)}
        np.lib.format.write_array_header_1_0(file, header)
    assert "too big" in refusal(tmp_path / "data.npy")


def test_folders_that_hold_no_array(tmp_path, zarr):
    (tmp_path / "empty.zarr").mkdir()
    assert "cannot be read as ZARR" in refusal(tmp_path / "empty.zarr")
    group = zarr.open_group(tmp_path / "group.zarr", mode="w")
    assert "(none)" in refusal(tmp_path / "group.zarr")
    for name in ("train", "test"):
        group.create_array(name, data=X)
    message = refusal(tmp_path / "group.zarr")
    assert all(words in message for words in ("'train'", "'test'", "folder of an array")), message
    assert_array_equal(open_rows(tmp_path / "group.zarr" / "train")[:], X)


@pytest.mark.parametrize("others", [{"X"}, {"points"}, {"X", "y"}])
def test_groups_of_one_array_or_with_a_name(tmp_path, zarr, others):
    group = zarr.open_group(tmp_path / "group.zarr", mode="w")
    for name in others:
        group.create_array(name, data=np.zeros((2, 2)) if name == "y" else X)
    assert_array_equal(open_rows(tmp_path / "group.zarr")[:], X)


@pytest.mark.parametrize(("name", "module"), [("data.zarr", "zarr"), ("data.parquet", "polars")])
def test_without_what_reads_it(tmp_path, monkeypatch, name, module):
    monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.delitem(sys.modules, "kernelmeans.rows.parquet", raising=False)
    if module == "zarr":
        (tmp_path / name).mkdir()
    else:
        (tmp_path / name).touch()
    with pytest.raises(ImportError, match=rf"{name}: {module} is needed.*kernelmeans\[disk\]"):
        open_rows(tmp_path / name)


def test_named_columns_of_parquet(tmp_path, pl):
    frame = pl.DataFrame(
        {
            "a": [1, 2, None],
            "town": ["Rome", None, "Pisa"],
            "b": [0.5, None, float("nan")],
            "yes": [True, None, False],
            "none": [None, None, None],
            "big": pl.Series([1, 2, 3], dtype=pl.UInt64),
        }
    )
    frame.write_parquet(tmp_path / "data.parquet")
    message = refusal(tmp_path / "data.parquet")
    assert "non-numeric columns 'town'" in message
    assert "leave them out" in message
    rows = open_rows(tmp_path / "data.parquet", columns=["b", "yes", "a", "none", "big"])
    assert rows.names == ["b", "yes", "a", "none", "big"]
    nan = np.nan
    assert_array_equal(rows[:], [[0.5, 1, 1, nan, 1], [nan, nan, 2, nan, 2], [nan, 0, nan, nan, 3]])
    some = rows.select(["a", 0])
    assert some.names == ["a", "b"]
    assert_array_equal(some[:], [[1, 0.5], [2, nan], [nan, nan]])
    with pytest.raises(ValueError, match="NaN"):
        rows.finite().select(["a", 0])[:]
    assert "'town'" in refusal(tmp_path / "data.parquet", columns=["nowhere"])
    assert "none twice" in refusal(tmp_path / "data.parquet", columns=["a", "a"])
    frame.select("a", pl.col("b").alias("*")).write_parquet(tmp_path / "data.parquet")
    rows = open_rows(tmp_path / "data.parquet", columns=["*"])
    assert_array_equal(rows.select(["*"])[:], [[0.5], [nan], [nan]])


def test_float32_in_parquet(tmp_path, pl):
    schema = {"a": pl.Float32, "b": pl.Float32, "c": pl.Float64}
    frame = pl.DataFrame({name: [0.5, None] for name in schema}, schema=schema)
    frame.write_parquet(tmp_path / "data.parquet")
    assert open_rows(tmp_path / "data.parquet").dtype == np.float64
    rows = open_rows(tmp_path / "data.parquet", ["a", "b"])
    assert rows.dtype == np.float32
    assert_array_equal(rows[:], np.array([[0.5] * 2, [np.nan] * 2], np.float32))


@pytest.mark.parametrize("frame", [{}, {"a": []}])
def test_parquet_without_rows_or_columns(tmp_path, pl, frame):
    pl.DataFrame(frame, schema=dict.fromkeys(frame, pl.Float64)).write_parquet(
        tmp_path / "data.parquet"
    )
    assert "0 rows" in refusal(tmp_path / "data.parquet")


def test_columns_of_arrays(tmp_path):
    np.save(tmp_path / "data.npy", X)
    rows = open_rows(tmp_path / "data.npy", columns=[2, 0])
    assert rows.names is None
    assert_array_equal(rows[:], X[:, [2, 0]])


@pytest.mark.parametrize(
    "make",
    [
        lambda pl: X,
        lambda pl: X.tolist(),
        lambda pl: np.asfortranarray(X),
        lambda pl: np.ma.masked_array(X),
        lambda pl: scipy.sparse.csr_array(X),
        lambda pl: scipy.sparse.csr_matrix(X),
        lambda pl: pl.DataFrame(X),
        lambda pl: pl.Series([1.0]),
        lambda pl: pytest.importorskip("pandas").DataFrame(X),
        lambda pl: Dataset(np.zeros(3)),
        lambda pl: Dataset(np.zeros((3, 3, 3))),
        lambda pl: None,
        lambda pl: "data.npy",
    ],
)
def test_what_is_in_memory_is_none(make, pl):
    assert as_rows(make(pl)) is None


def test_memory_maps(tmp_path):
    np.save(tmp_path / "data.npy", X)
    mapped = np.load(tmp_path / "data.npy", mmap_mode="r")
    assert as_rows(mapped).source == str(tmp_path / "data.npy")
    assert_array_equal(as_rows(mapped.T)[:], X.T)
    assert as_rows(mapped[0]) is None  # no matrix
    assert as_rows(mapped.copy()) is None  # in memory
    assert as_rows(np.asarray(mapped)) is None


def test_a_memory_map_without_a_name_cannot_be_pickled(tmp_path):
    X.tofile(tmp_path / "data.bin")
    mapped = np.memmap(tmp_path / "data.bin", X.dtype, "r", shape=X.shape)
    mapped.filename = None
    rows = as_rows(mapped)
    assert_array_equal(rows[:], X)
    with pytest.raises(TypeError, match="name the file"):
        pickle.dumps(rows)


def test_sparse_matrices_on_disk_are_refused(tmp_path):
    anndata = pytest.importorskip("anndata")
    path = tmp_path / "cells.h5ad"
    anndata.AnnData(scipy.sparse.csr_matrix(X)).write_h5ad(path)
    cells = anndata.read_h5ad(path, backed="r")
    with pytest.raises(TypeError, match=r"sparse matrix on disk; load it by X\.to_memory"):
        as_rows(cells.X)
    cells.file.close()


def test_datasets_are_refused_if_they_hold_no_numbers():
    with pytest.raises(ValueError, match="Dataset /X: holds <U1"):
        as_rows(Dataset(np.array([["a"]])))


def test_lazy_frames_may_compute(pl):
    frame = pl.LazyFrame({"a": [1.0, 2.0, 3.0]}).select("a", b=pl.col("a") ** 2)
    rows = as_rows(frame)
    assert rows.names == ["a", "b"]
    assert rows[1:].tolist() == [[2, 4], [3, 9]]


def test_the_import_is_light():
    code = """
import sys
from kernelmeans.rows import as_rows
assert as_rows([[1]]) is None
print({"polars", "zarr", "dask", "pandas", "sklearn"} & set(sys.modules))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


def test_sources_are_paths(tmp_path):
    np.save(tmp_path / "data.npy", X)
    assert open_rows(Path(tmp_path / "data.npy")).source == str(tmp_path / "data.npy")
