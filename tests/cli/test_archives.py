"""NPZ archives: sizes are counted before anything is unpacked, sparse indices checked."""

import io
import zipfile
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_array_equal

from kernelmeans._errors import InputError
from kernelmeans.tables.files.archives import array_header, read_npz
from kernelmeans.tables.files.tables import open_file

S = scipy.sparse.random_array((30, 6), density=0.4, format="csr", rng=0)
PARTS = {"data": S.data, "indices": S.indices, "indptr": S.indptr, "shape": S.shape}
MB = 10**6


def stored(shape: tuple[int, ...], content: bytes, descr: str = "<f8") -> bytes:
    """A file in NumPy's format, whose header may lie."""
    file = io.BytesIO()
    header = {"descr": descr, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(file, header)
    return file.getvalue() + content


def archive(path: Path, members: dict[str, bytes], packing: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", packing) as file:
        for name, content in members.items():
            file.writestr(name, content)
    return path


def refusal(path: Path, most: float = MB) -> str:
    with pytest.raises(InputError) as caught:
        open_file(path, budget=most)
    assert str(caught.value).startswith(f"{path}: ")
    return str(caught.value)


@pytest.mark.parametrize("name", ["X.npy", "X", "other.npy"])
def test_the_names_of_members(tmp_path, name):
    X = np.arange(6.0).reshape(3, 2)
    path = archive(tmp_path / "X.npz", {name: stored((3, 2), X.tobytes())})
    np.testing.assert_array_equal(read_npz(path, MB), X)


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "bsr", "dia"])
def test_every_sparse_format(tmp_path, form):
    scipy.sparse.save_npz(tmp_path / "X.npz", S.asformat(form))
    found = read_npz(tmp_path / "X.npz", MB)
    assert found.format == "csr"
    np.testing.assert_array_equal(found.toarray(), S.toarray())


def twice(matrix):
    """The same matrix, each entry as two that add up to it."""
    values = np.stack([2 * matrix.data, -matrix.data], 1).ravel()
    parts = values, np.repeat(matrix.indices, 2), 2 * matrix.indptr
    return type(matrix)(tuple(part.copy() for part in parts), shape=matrix.shape)


@pytest.mark.parametrize("form", ["csr", "csc"])
def test_repeated_entries_are_added_up(tmp_path, form):
    scipy.sparse.save_npz(tmp_path / "X.npz", twice(S.asformat(form)))
    found = read_npz(tmp_path / "X.npz", MB)
    assert found.has_canonical_format
    assert found.nnz == S.nnz
    np.testing.assert_array_equal(found.toarray(), S.toarray())


@pytest.mark.parametrize(
    ("change", "words"),
    [
        # Where `fit` used to read memory that is not its own.
        ({"indptr": np.r_[0, S.indptr[1:-1] + 10**8, S.indptr[-1]]}, "indptr"),
        ({"indices": S.indices + 10**7}, "indices must be < 6"),
        ({"indices": S.indices - 1}, "indices must be >= 0"),
        ({"data": S.data * 1j}, "complex128"),
        ({"data": S.data.astype("U5")}, "<U5"),
        ({"shape": (1, 2**62)}, "--memory-budget"),
        ({"shape": (2**62, 6)}, "--memory-budget"),
        ({"shape": np.array([30.0, 6.0])}, "two whole numbers"),
        ({"format": b"coo"}, "damaged"),
        ({"format": b"odd"}, "damaged"),
    ],
)
@pytest.mark.parametrize("form", ["csr", "csc"])
def test_wild_sparse_matrices(tmp_path, change, words, form):
    np.savez(tmp_path / "X.npz", **({**PARTS, "format": form.encode()} | change))
    message = refusal(tmp_path / "X.npz")
    assert words in message or form == "csc"


@pytest.mark.filterwarnings("ignore:.* is large and is loaded as a whole")
@pytest.mark.parametrize("packing", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_archives_that_unpack_to_too_much(tmp_path, packing):
    path = archive(tmp_path / "X.npz", {"X.npy": stored((200, 1000), bytes(1_600_000))}, packing)
    message = refusal(path)
    assert "1.6 MB" in message
    assert "1.0 MB" in message
    assert "--memory-budget" in message
    assert read_npz(path, 2 * MB).shape == (200, 1000)


@pytest.mark.filterwarnings("ignore:.* is large and is loaded as a whole")
def test_other_arrays_count_too(tmp_path):
    np.savez(tmp_path / "X.npz", X=np.zeros((3, 2)), other=np.zeros(MB))
    assert "--memory-budget" in refusal(tmp_path / "X.npz")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"hello", "'X.npy' is no NPY array"),
        (stored((10**11, 2), bytes(64)), "64 bytes of numbers"),
        (stored((-4, -2), bytes(64)), "(-4, -2)"),
        (stored((4, 2), bytes(64), "|O"), "object values, not real numbers"),
        (stored((4, 2), bytes(48)), "48 bytes"),
    ],
)
def test_headers_that_lie(tmp_path, content, words):
    assert words in refusal(archive(tmp_path / "X.npz", {"X.npy": content}))


def test_the_remedy_for_a_column_of_arrays_is_read(tmp_path):
    path, X = tmp_path / "X.npz", np.empty(4, dtype=object)
    X[:] = list(np.eye(4))
    np.savez(path, embeddings=np.eye(4), texts=X)
    exec(refusal(path).rpartition(": ")[2], {"numpy": np, "path": path, "X": X})
    assert_array_equal(read_npz(path, MB), np.eye(4))


@pytest.mark.parametrize("packing", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_unusual_packing(tmp_path, packing):
    path = archive(tmp_path / "X.npz", {"X.npy": stored((1, 1), bytes(8))}, packing)
    assert "packed in an unusual way" in refusal(path)


@pytest.mark.parametrize(
    ("offset", "value"),
    [(0, 1), (0, 1 << 5), (0, 1 << 6), (-2, 109)],
    ids=["encrypted", "patched", "strongly encrypted", "of a later version"],
)
def test_archives_that_zipfile_cannot_unpack(tmp_path, offset, value):
    path = archive(tmp_path / "X.npz", {"X.npy": stored((2, 1), bytes(16))})
    content = bytearray(path.read_bytes())
    # The flags, after the version, are in the header of the member and in the directory.
    for start, flags in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
        content[content.index(start) + flags + offset] |= value
    path.write_bytes(content)
    assert "packed in an unusual way" in refusal(path)


def test_a_header_of_any_version(tmp_path):
    file = io.BytesIO()
    np.lib.format.write_array(file, np.zeros((3, 2)), version=(2, 0))
    path = archive(tmp_path / "X.npz", {"X.npy": file.getvalue()})
    with zipfile.ZipFile(path) as opened:
        assert array_header(path, opened, "X.npy").shape == (3, 2)


@pytest.mark.usefixtures("folder")
def test_the_budget_of_the_command_counts(refused):
    path = archive(Path("X.npz"), {"X.npy": stored((200, 1000), bytes(1_600_000))})
    assert "--memory-budget" in refused("fit", path, "--memory-budget", "1MB")


@pytest.mark.usefixtures("folder")
def test_rows_without_end(refused):
    """A store of a few bytes that promises more rows than labels fit into memory."""
    zarr = pytest.importorskip("zarr")
    zarr.create_array("X.zarr", shape=(10**13, 10**6), chunks=(1000, 1000), dtype="f8")
    assert "80.0 TB" in refused("fit", "X.zarr")


@pytest.mark.usefixtures("folder")
def test_a_matrix_that_is_loaded_as_a_whole_fits_the_budget(refused):
    np.save("K.npy", np.eye(500))
    arguments = ["--kernel", "precomputed", "--memory-budget", "1MB"]
    assert "2.0 MB" in refused("fit", "K.npy", "-k", 2, *arguments)
