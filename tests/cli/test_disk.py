"""Tables that stay on disk: read as Rows, and used as if they were in memory."""

import json
import re
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import scipy.sparse
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_blobs
from sklearn.preprocessing import StandardScaler

from cli.loading import load_data
from kernelmeans import KernelPowerKMeans
from kernelmeans._errors import InputError
from kernelmeans.cli import values
from kernelmeans.cli.data import ColumnChoice
from kernelmeans.models import load_model
from kernelmeans.rows import Rows, open_rows
from kernelmeans.tables.files import tables
from kernelmeans.tables.files.tables import PreparedRows, open_file
from rows.watch import peak_of

FEATURES = ["length", "mass", "area"]
MB = 10**6
SUFFIXES = [".npy", ".parquet", ".zarr"]


def write(path: Path, X: np.ndarray) -> Path:
    match path.suffix:
        case ".npy":
            np.save(path, X)
        case ".parquet":
            pl.DataFrame(X, schema=[f"c{j}" for j in range(X.shape[1])]).write_parquet(path)
        case ".zarr":
            pytest.importorskip("zarr").create_array(path, data=X, chunks=(7, 2))
        case ".csv":
            np.savetxt(path, X, delimiter=",", header=",".join("abc"), comments="")
    return path


@pytest.fixture
def X(rng):  # noqa: N802 (the field's name)
    return rng.normal(size=(50, 3))


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr("kernelmeans.rows.base.READ_BYTES", 8 * 24)


@pytest.fixture
def nothing_loaded(monkeypatch):
    """Leave tables of any size on disk, if they are opened with a budget."""
    monkeypatch.setattr(tables, "LOADED_FRACTION", 0)


@pytest.fixture
def on_disk(nothing_loaded, small_blocks):
    """Leave tables of any size on disk, and read eight rows at a time."""


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("numbers", [99, 100])
def test_large_tables_stay_on_disk(tmp_path, X, suffix, numbers):
    """If two columns of 50 rows take more than a quarter of the budget."""
    table = open_file(write(tmp_path / f"data{suffix}", X), budget=4 * 4 * numbers)
    assert table.shape == (50, 3)
    assert table.named == (suffix == ".parquet")
    assert table.names == (["c0", "c1", "c2"] if table.named else ["0", "1", "2"])
    found = table.matrix(table.names[1:], "float32")
    assert isinstance(found, Rows) == (numbers < 100)
    assert found.dtype == np.float32
    assert_array_equal(found[:], X[:, 1:].astype(np.float32))
    assert_array_equal(table.column(table.names[1]), X[:, 1])


def test_large_text_is_loaded_and_pointed_out(tmp_path, X):
    path = write(tmp_path / "data.csv", X)
    with pytest.warns(UserWarning, match=r"data\.csv is large .*\.parquet, \.npy, \.zarr"):
        table = open_file(path, budget=1000)
    assert_allclose(table.matrix(table.names, "float64"), X)
    open_file(path, budget=100_000)


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.usefixtures("on_disk")
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_values_that_are_not_finite_are_located(tmp_path, X, suffix, bad):
    X[[31, 40], [2, 2]] = bad
    X[44, 0] = np.nan
    table = open_file(write(tmp_path / f"data{suffix}", X), budget=MB)
    first, _, last = table.names
    with pytest.raises(InputError, match=rf"'{last}' .* row 31.*1 other column too"):
        values.numbers(table, table.names, "float64")
    with pytest.raises(InputError, match=rf"'{first}' .* row 44,[^(]*:"):
        values.numbers(table, table.names[:2], "float64")
    assert_array_equal(values.numbers(table, table.names[1:2], "float64")[:], X[:, 1:2])


@pytest.mark.usefixtures("nothing_loaded")
def test_values_too_large_for_float32_are_located(tmp_path, X):
    X[3, 1] = 1e300
    table = open_file(write(tmp_path / "data.npy", X), budget=MB)
    with pytest.raises(InputError, match=r"column '1' .* row 3"):
        values.numbers(table, table.names, "float32")


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_prepared_rows(tmp_path, X, suffix):
    def halve(block):
        block /= 2  # in place, as scalers do
        return block

    X[49, 2] = np.nan
    rows = PreparedRows(open_rows(write(tmp_path / f"data{suffix}", X)), "float32", halve)
    half = (X / 2).astype(np.float32)
    assert rows.dtype == rows[:].dtype == np.float32
    assert rows.nbytes == half.nbytes
    for key in (slice(None), slice(4, 30), [7, 3]):
        assert_array_equal(rows[key], half[key])
        assert_array_equal(rows.select([1, 0]).finite()[key], half[key][:, [1, 0]])
    with pytest.raises(ValueError, match="NaN or infinity"):
        rows.finite()[40:]


@pytest.fixture
def named(tmp_path) -> Path:
    frame = pl.DataFrame({"a": [0.5, 0.1, 0.7], "town": ["Rome", "Pisa", "Rome"], "w": [1, 2, 3]})
    frame.write_parquet(tmp_path / "data.parquet")
    return tmp_path / "data.parquet"


@pytest.mark.usefixtures("nothing_loaded")
def test_classes_and_weights_of_a_table_on_disk(named):
    choice = ColumnChoice(label_column="town", weight_column="w")
    data = load_data(open_file(named, budget=MB), choice, "float64")
    assert isinstance(data.X, Rows)
    assert data.columns == ["a"]
    assert_array_equal(data.X[:], [[0.5], [0.1], [0.7]])
    assert_array_equal(data.labels, [1, 0, 1])
    assert_array_equal(data.weights, [1.0, 2.0, 3.0])


def test_few_columns_of_a_large_table_are_loaded(named, monkeypatch):
    monkeypatch.setattr(tables, "LOADED_FRACTION", 3 * 8 / MB)
    choice = ColumnChoice(columns=["a"])
    data = load_data(open_file(named, budget=MB), choice, "float64")
    assert_array_equal(np.ndarray.tolist(data.X), [[0.5], [0.1], [0.7]])


@pytest.mark.usefixtures("nothing_loaded")
def test_text_is_refused_with_the_remedy(named):
    with pytest.raises(InputError, match=r"non-numeric columns 'town'.*--drop and --columns"):
        load_data(open_file(named, budget=MB), ColumnChoice(), "float64")
    with pytest.raises(InputError, match="did you mean 'town'"):
        load_data(open_file(named, budget=MB), ColumnChoice(drop=["twon"]), "float64")


@pytest.mark.usefixtures("on_disk")
def test_a_column_that_counts_the_rows_is_pointed_out(tmp_path):
    for start in (0, 1):
        count = pl.DataFrame({"a": range(start, 30 + start), "b": [0.5] * 30})
        count.write_parquet(tmp_path / "data.parquet")
        table = open_file(tmp_path / "data.parquet", budget=MB)
        with pytest.warns(UserWarning, match="column 'a' only counts the rows"):
            load_data(table, ColumnChoice(), "float64")
        load_data(table, ColumnChoice(drop=["a"]), "float64")


@pytest.mark.usefixtures("nothing_loaded")
def test_a_damaged_table_is_named(tmp_path, rng):
    write(tmp_path / "data.parquet", rng.normal(size=(5000, 2)))
    content = bytearray((tmp_path / "data.parquet").read_bytes())
    content[100:70_000] = bytes(69_900)
    (tmp_path / "data.parquet").write_bytes(content)
    table = open_file(tmp_path / "data.parquet", budget=MB)
    with pytest.raises(InputError, match=r"data\.parquet: (rows .* )?cannot be read"):
        values.numbers(table, table.names, "float64")
    table = open_file(tmp_path / "data.parquet")
    with pytest.raises(InputError, match=r"columns 'c0', 'c1' cannot be read"):
        values.numbers(table, table.names, "float64")
    with pytest.raises(InputError, match=r"data\.parquet: column 'c0' cannot be read"):
        table.column("c0")


@pytest.mark.parametrize(
    ("name", "words"),
    [("data.zarr", ["cannot be read as ZARR"]), ("data.csv", ["is a directory", ".zarr"])],
)
def test_folders_without_a_table(tmp_path, name, words):
    pytest.importorskip("zarr")
    (tmp_path / name).mkdir()
    with pytest.raises(InputError) as caught:
        open_file(tmp_path / name)
    assert all(word in str(caught.value) for word in [str(tmp_path / name), *words])


def test_a_fill_value_that_is_too_large_is_no_warning_of_numpy(folder):
    zarr = pytest.importorskip("zarr")
    zarr.create_array("data.zarr", shape=(3, 2), dtype="f2", chunks=(3, 2), fill_value=1)
    metadata = Path("data.zarr/zarr.json")
    metadata.write_text(re.sub('"fill_value": 1.0', '"fill_value": 1e30', metadata.read_text()))
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        assert np.isinf(open_file(Path("data.zarr")).array[:]).all()


def test_zarr_is_an_extra(refused, folder, monkeypatch):
    Path("data.zarr").mkdir()
    monkeypatch.setitem(sys.modules, "zarr", None)
    assert 'pip install "kernelmeans[disk]"' in refused("fit", "data.zarr", code=1)


def summary(stem: str = "data") -> dict:
    return json.loads(Path(f"{stem}.summary.json").read_text())


def labels(file: str = "data.labels.csv") -> np.ndarray:
    return pl.read_csv(file)["label"].to_numpy()


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.usefixtures("folder", "on_disk")
def test_a_fit_from_disk_finds_what_one_in_memory_finds(run, blobs, suffix):
    X = blobs.select(FEATURES).to_numpy()
    path = write(Path(f"data{suffix}"), X)
    result = run("fit", path, "-k", 3)
    assert result.exit_code == 0, result.output
    assert f"Note: {path} stays on disk" in result.stderr
    Z = StandardScaler().fit_transform(X)
    model = KernelPowerKMeans(3, random_state=0).fit(Z)
    assert_array_equal(labels(), model.labels_)
    found = summary()
    assert found["rows"] == 60
    assert found["features"] == 3
    assert found["cost"] == pytest.approx(model.inertia_)
    assert found["parameters"]["approximation"] == "auto"
    assert "plain" not in found
    assert "plain" not in result.stdout
    assert run("predict", "data.model.skops", path, "-o", "new").exit_code == 0
    assert_array_equal(labels("new/data.labels.csv"), labels())


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.usefixtures("folder", "on_disk")
def test_all_options_go_with_a_table_on_disk(run, blobs, dtype):
    weights = np.random.default_rng(0).integers(1, 3, size=60)
    blobs.with_columns(w=pl.Series(weights)).write_parquet("data.parquet")
    columns = ["--label-column", "kind", "--weight-column", "w", "--columns", "length,mass"]
    options = ["--soft", "--plot", "--dtype", dtype, "--approximation", "landmarks"]
    result = run("fit", "data.parquet", "-k", 3, *columns, *options, "--components", 20)
    assert result.exit_code == 0, result.output
    assert "auto" not in result.stderr
    assert summary()["agreement"]["ari"] == 1
    assert summary()["parameters"]["approximation"] == "landmarks"
    assert summary()["parameters"]["n_components"] == 20
    assert Path("data.png").stat().st_size > 10_000
    assert pl.read_csv("data.labels.csv").columns == [
        *("row", "label", "distance", "second_distance", "membership"),
        *(f"membership_{j}" for j in range(3)),
    ]
    model = load_model(Path("data.model.skops"))
    assert model.dtype == dtype
    assert model.columns == ["length", "mass"]
    twice = blobs.select("length", "mass").to_numpy()[np.repeat(np.arange(60), weights)]
    assert_allclose(model.pipeline[0].mean_, twice.mean(axis=0), rtol=1e-6)
    assert_allclose(model.pipeline[0].scale_, twice.std(axis=0), rtol=1e-6)


@pytest.mark.usefixtures("folder", "on_disk")
def test_unscaled_rows(run, blobs):
    X = blobs.select(FEATURES).to_numpy()
    np.save("data.npy", X)
    assert run("fit", "data.npy", "-k", 3, "--no-scale", "--kernel", "linear").exit_code == 0
    model = KernelPowerKMeans(3, kernel="linear", random_state=0).fit(X)
    assert_array_equal(labels(), model.labels_)


@pytest.mark.usefixtures("folder", "on_disk")
def test_a_precomputed_kernel_is_loaded(run, blobs):
    Z = StandardScaler().fit_transform(blobs.select(FEATURES).to_numpy())
    np.save("data.npy", Z @ Z.T)
    result = run("fit", "data.npy", "-k", 3, "--kernel", "precomputed")
    assert result.exit_code == 0, result.output
    assert "on disk" not in result.stderr
    model = KernelPowerKMeans(3, kernel="precomputed", random_state=0).fit(Z @ Z.T)
    assert_array_equal(labels(), model.labels_)


@pytest.mark.slow
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_predictions_of_a_table_on_disk(fit, run, blobs, suffix, small_blocks):
    assert fit("--labels", "trained.csv").exit_code == 0
    many = pl.concat([blobs] * 40)
    path = write(Path(f"new{suffix}"), many.select(FEATURES).to_numpy())
    if suffix == ".parquet":
        many.select("area", "kind", "length", "mass").write_parquet(path)
    result = run("predict", "data.model.skops", path, "--memory-budget", "220 KB")
    assert result.exit_code == 0, result.output
    assert_array_equal(labels("new.labels.csv"), np.tile(labels("trained.csv"), 40))


def test_a_budget_that_is_none_is_refused(fit, refused, data):
    assert fit("--labels", "trained.csv").exit_code == 0
    message = refused("predict", "data.model.skops", data, "--memory-budget", "lots")
    assert "--memory-budget lots is no size" in message


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".npy", ".parquet"])
@pytest.mark.usefixtures("folder")
def test_a_small_budget_and_a_large_one(run, suffix):
    X, _ = make_blobs(100_000, n_features=12, centers=5, random_state=0)
    path = write(Path(f"data{suffix}"), X)
    options = ["-k", 5, "--approximation", "landmarks", "--components", 20]
    for folder, budget in (("small", "35 MB"), ("large", "1 GB")):
        result = run("fit", path, *options, "--memory-budget", budget, "-o", folder)
        assert result.exit_code == 0, result.output
        assert ("stays on disk" in result.stderr) == (folder == "small")
        model = f"{folder}/data.model.skops"
        result = run("predict", model, path, "--memory-budget", budget, "-o", f"{folder}/new")
        assert result.stderr == ""
        assert_array_equal(labels(f"{folder}/new/data.labels.csv"), labels("small/data.labels.csv"))
    assert summary("small/data")["cost"] == pytest.approx(summary("large/data")["cost"])


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/smaps_rollup").exists(), reason="needs Linux")
@pytest.mark.usefixtures("folder")
def test_predictions_take_little_memory(run, rng):
    np.save("data.npy", rng.normal(size=(100, 30)))
    assert run("fit", "data.npy", "-k", 3).exit_code == 0
    peaks = []
    for rows in (1000, 600_000):
        np.save("new.npy", rng.normal(size=(rows, 30)))  # the second has 144 MB
        arguments = [
            "predict",
            "data.model.skops",
            "new.npy",
            "--memory-budget",
            "400MB",
            "--force",
        ]
        command = [sys.executable, "-m", "kernelmeans.cli", *arguments]
        pipe = subprocess.PIPE
        process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True)
        peak, printed = peak_of(process)
        assert process.returncode == 0, printed
        peaks.append(peak)
    assert peaks[1] - peaks[0] < 100e6


@pytest.mark.usefixtures("folder", "nothing_loaded")
def test_sparse_rows_for_a_model_that_centers(run, refused, X):
    write(Path("X.npy"), X)
    fitted = run("fit", "X.npy", "-k", 3, "--kernel", "rbf", "--model", "m.skops")
    assert fitted.exit_code == 0, fitted.output
    scipy.sparse.save_npz("new.npz", scipy.sparse.csr_array(X))
    assert "write them as a dense matrix" in refused("predict", "m.skops", "new.npz")
