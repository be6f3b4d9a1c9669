"""Rows stay on disk: memory that reading takes, measured from outside the process that reads."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from rows.watch import anonymous, peak_of

ROWS, COLUMNS = 1_000_000, 50  # 400 MB
MB = 1e6

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Path("/proc/self/smaps_rollup").exists(), reason="needs Linux"),
]

# Reads once before and once after the watch begins, so that only what reading takes is seen.
SCRIPT = """
import sys
from time import sleep
from kernelmeans.rows import open_rows
rows = open_rows(sys.argv[1])
rows[:10]
print("ready", flush=True)
input()
print({how})
"""
BY_BLOCKS = "sum(float(rows[block].sum()) for block in rows.blocks(10_000))"


def peak_of_a_sum(path, how=BY_BLOCKS):
    """Bytes by which reading raised the memory of a process, and the sum of what was read."""
    reader = subprocess.Popen(
        [sys.executable, "-c", SCRIPT.format(how=how), str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert reader.stdout.readline() == "ready\n"
    before = anonymous(reader.pid)
    peak, printed = peak_of(reader, told="\n")
    assert reader.returncode == 0
    return peak - before, float(printed)


@pytest.fixture(scope="module")
def numbers():
    return np.random.default_rng(0).normal(size=(ROWS, COLUMNS))


@pytest.mark.parametrize("order", ["C", "F"])
def test_npy(tmp_path, numbers, order):
    np.save(tmp_path / "data.npy", np.asarray(numbers, order=order))
    taken, total = peak_of_a_sum(tmp_path / "data.npy")
    assert total == pytest.approx(numbers.sum())
    assert taken < 20 * MB  # a block has 4 MB


def test_parquet(tmp_path, numbers):
    pl = pytest.importorskip("polars")
    pl.DataFrame(numbers).write_parquet(tmp_path / "data.parquet", row_group_size=50_000)
    taken, total = peak_of_a_sum(tmp_path / "data.parquet")
    assert total == pytest.approx(numbers.sum())
    assert taken < 200 * MB  # held are 64 MB, and polars decodes into as much


def test_zarr(tmp_path, numbers):
    zarr = pytest.importorskip("zarr")
    zarr.create_array(tmp_path / "data.zarr", data=numbers, chunks=(20_000, COLUMNS))
    taken, total = peak_of_a_sum(tmp_path / "data.zarr")
    assert total == pytest.approx(numbers.sum())
    assert taken < 120 * MB  # a chunk has 8 MB


def test_all_rows_take_little_more_than_their_size(tmp_path, numbers):
    np.save(tmp_path / "data.npy", numbers)
    # The rows stay until the watch has seen them, on a busy machine too.
    how = "float((held := rows[:]).sum()) + (sleep(1) or 0)"
    taken, total = peak_of_a_sum(tmp_path / "data.npy", how)
    assert total == pytest.approx(numbers.sum())
    assert numbers.nbytes - 10 * MB < taken < numbers.nbytes + 60 * MB


def test_few_columns_of_many(tmp_path, numbers):
    np.save(tmp_path / "data.npy", numbers)
    taken, total = peak_of_a_sum(tmp_path / "data.npy", "float(rows.select([7])[:].sum())")
    assert total == pytest.approx(numbers[:, 7].sum())
    assert taken < 120 * MB  # the column has 8 MB, a block of all columns 32 MB
