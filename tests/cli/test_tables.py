from pathlib import Path

import numpy as np
import polars as pl
import pytest
import scipy.sparse

from kernelmeans._errors import InputError
from kernelmeans.tables.files import Reading
from kernelmeans.tables.files.tables import open_file

X = np.array([[1.0, 2.5], [3.0, -4.0], [5.0, 6.0]])
FRAME = pl.DataFrame(X, schema=["a", "b"])


def write(path: Path) -> Path:
    match path.suffix:
        case ".csv":
            FRAME.write_csv(path)
        case ".tsv":
            FRAME.write_csv(path, separator="\t")
        case ".parquet":
            FRAME.write_parquet(path)
        case ".npy":
            np.save(path, X)
        case ".npz":
            np.savez(path, X=X, y=np.zeros((3, 1)))
    return path


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".parquet", ".npy", ".npz"])
def test_reads_each_kind_of_file(tmp_path, suffix):
    table = open_file(write(tmp_path / f"data{suffix}"))
    named = suffix in (".csv", ".tsv", ".parquet")
    assert table.names == (["a", "b"] if named else ["0", "1"])
    assert table.named == named
    found = table.matrix(table.names, "float32")
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, X)
    np.testing.assert_array_equal(table.matrix(table.names[1:], "float64"), X[:, 1:])
    np.testing.assert_array_equal(table.column(table.names[1]), X[:, 1])


def test_reads_a_sparse_matrix(tmp_path):
    scipy.sparse.save_npz(tmp_path / "data.npz", scipy.sparse.csc_array(X))
    table = open_file(tmp_path / "data.npz")
    found = table.matrix(["1"], "float64")
    assert found.format == "csr"
    np.testing.assert_array_equal(found.toarray(), X[:, 1:])
    np.testing.assert_array_equal(table.column("0"), X[:, 0])


def test_reads_the_only_matrix_of_an_archive(tmp_path):
    np.savez(tmp_path / "data.npz", points=X, y=np.arange(3))
    np.testing.assert_array_equal(open_file(tmp_path / "data.npz").matrix(["0", "1"], "float64"), X)


def test_reads_csv_without_names(tmp_path):
    (tmp_path / "data.csv").write_text("1,2.5\n3,-4\n5,6\n")
    table = open_file(tmp_path / "data.csv", Reading(header=False))
    assert not table.named
    np.testing.assert_array_equal(table.matrix(table.names, "float64"), X)


@pytest.mark.parametrize("names", ["0,1", "1,2", "2023,b"])
def test_columns_may_be_counted(tmp_path, names):
    (tmp_path / "data.csv").write_text(f"{names}\n3,-4\n")
    assert open_file(tmp_path / "data.csv").names == names.split(",")


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("data.csv", b"a,b\n", ["0 rows"]),
        ("data.parquet", b"a,b\n1,2\n", ["cannot be read as PARQUET"]),
        ("data.npy", b"a,b\n1,2\n", ["cannot be read as NPY"]),
        ("data.npy", b"", ["cannot be read as NPY"]),
        ("data.npz", b"PK\x03\x04 cut off", ["cannot be read as NPZ"]),
        ("data.xlsx", b"PK", ["cannot be read as XLSX"]),
        ("data.xls", b"PK", ["unknown suffix '.xls'", ".xlsx", ".parquet"]),
        ("data", b"1,2", ["unknown suffix ''"]),
    ],
)
def test_refuses_what_it_cannot_read(tmp_path, name, content, words):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError) as caught:
        open_file(tmp_path / name)
    message = str(caught.value)
    assert str(tmp_path / name) in message
    assert all(word in message for word in words), message
    assert "\n" not in message


@pytest.mark.parametrize(
    ("array", "words"),
    [
        (np.arange(3.0), ["shape (3,)", "rows x columns"]),
        (np.zeros((2, 2, 2)), ["shape (2, 2, 2)"]),
        (np.zeros((2, 2), dtype=complex), ["complex128"]),
        (np.array([["a"]]), ["<U1"]),
        (np.array([[1, "a"]], dtype=object), ["cannot be read as NPY"]),  # would need pickle
        (np.zeros((0, 3)), ["0 rows"]),
        (np.zeros((3, 0)), ["0 columns"]),
    ],
)
def test_refuses_arrays_that_are_no_matrix(tmp_path, monkeypatch, array, words):
    monkeypatch.chdir(tmp_path)
    np.save("data.npy", array)
    with pytest.raises(InputError) as caught:
        open_file(Path("data.npy"))
    assert str(caught.value).count("data.npy") == 1, str(caught.value)
    assert all(word in str(caught.value) for word in words), str(caught.value)


@pytest.mark.parametrize(
    ("array", "words"),
    [
        (np.arange(3.0), "shape (3,); rows x columns is needed"),
        (np.zeros((2, 2), dtype=complex), "complex128 values, not real numbers"),
        (np.zeros((0, 3)), "0 rows"),
    ],
)
def test_refuses_an_archive_of_an_array_that_is_no_matrix(tmp_path, array, words):
    path = tmp_path / "data.npz"
    np.savez(path, X=array)
    with pytest.raises(InputError) as caught:
        open_file(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert words in str(caught.value)


def test_refuses_an_archive_with_several_matrices(tmp_path):
    np.savez(tmp_path / "data.npz", train=X, test=X)
    with pytest.raises(InputError, match="'train', 'test'"):
        open_file(tmp_path / "data.npz")


def test_names_non_numeric_columns(tmp_path):
    (tmp_path / "data.csv").write_text("a,town,b,when\n1,Rome,NA,2020-01-01\n2,3,4,2021-02-03\n")
    table = open_file(tmp_path / "data.csv")
    with pytest.raises(InputError) as caught:
        table.matrix(table.names, "float64")
    message = str(caught.value)
    assert "'town', 'when'" in message
    assert "'Rome'" in message
    assert "--drop 'town,when'" in message
    assert "--columns" in message


def test_numbers_hidden_in_text_and_truth_values_are_numbers(tmp_path):
    (tmp_path / "data.csv").write_text("a,b\n 1 ,true\nNA,false\n")
    found = open_file(tmp_path / "data.csv").matrix(["a", "b"], "float64")
    np.testing.assert_array_equal(found, [[1, 1], [np.nan, 0]])
