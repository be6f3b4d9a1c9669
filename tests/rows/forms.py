"""Where a matrix can be kept: functions (folder, matrix) that store it and return its rows.

In a module of its own, since worker processes import it by name.
"""

import numpy as np
import pytest

from kernelmeans.rows import as_rows, open_rows


class Dataset:
    """Answers as `h5py.Dataset` does: contiguous slices only, in chunks if it is stored so."""

    def __init__(self, values, chunks=None):
        self._values, self.chunks = values, chunks
        self.shape, self.dtype = values.shape, values.dtype
        self.name = "/X"
        self.read = []  # how many rows each call read

    def __getitem__(self, key):
        assert isinstance(key, slice)
        self.read.append(key.stop - key.start)
        return self._values[key]

    def __array__(self, dtype=None, copy=None):
        raise AssertionError("read as a whole")


def npy(path, X):
    np.save(path / "data.npy", X)
    return open_rows(path / "data.npy")


def fortran(path, X):
    return npy(path, np.asfortranarray(X))


def big_endian(path, X):
    return npy(path, X.astype(X.dtype.newbyteorder(">")))


def view(path, X):
    """Every second row of a map with an offset, its columns backwards."""
    n, p = X.shape
    whole = np.memmap(path / "data.bin", X.dtype, "w+", offset=4096 + 24, shape=(2 * n + 1, p))
    whole[1::2] = X[:, ::-1]
    whole.flush()
    return as_rows(whole[1::2, ::-1])


def parquet(path, X):
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame(X, schema=[f"c{j}" for j in range(X.shape[1])])
    frame.write_parquet(path / "data.parquet", row_group_size=7)
    return open_rows(path / "data.parquet")


def lazy(path, X):
    parquet(path, X)
    import polars as pl

    return as_rows(pl.scan_parquet(path / "data.parquet").with_columns())


def zarr(version, **storage):
    def make(path, X):
        zarr = pytest.importorskip("zarr")
        p = X.shape[1]
        chunks = {"chunks": (5, max(1, p // 2)), **storage}
        array = zarr.create_array(
            path / "data.zarr", shape=X.shape, dtype=X.dtype, zarr_format=version, **chunks
        )
        array[:] = X
        return open_rows(path / "data.zarr")

    return make


def dataset(path, X):
    return as_rows(Dataset(X, chunks=(4, X.shape[1])))


def contiguous(path, X):
    return as_rows(Dataset(X))


def selected(path, X):
    """Columns taken out of more columns, twice."""
    spread = np.hstack([np.full((len(X), 2), np.ones(1, X.dtype)), X[:, ::-1]])
    rows = npy(path, spread).select(range(spread.shape[1] - 1, 0, -1))
    return rows.select(range(X.shape[1])).finite()


def total(rows):
    return float(rows[:].sum())


FORMS = {
    "npy": npy,
    "fortran": fortran,
    "big endian": big_endian,
    "view": view,
    "parquet": parquet,
    "lazy frame": lazy,
    "zarr 2": zarr(2),
    "zarr 3": zarr(3),
    "zarr sharded": zarr(3, chunks=(3, 1), shards=(12, 1)),
    "dataset": dataset,
    "contiguous": contiguous,
    "selected": selected,
}
