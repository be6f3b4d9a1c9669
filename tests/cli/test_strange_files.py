"""Names, links, pipes, long text and wide tables: one short message, and quickly."""

import json
import os
import stat
import warnings
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
import scipy.sparse

from kernelmeans._errors import InputError
from kernelmeans.cli.data import ColumnChoice
from kernelmeans.cli.errors import warnings_as_lines
from kernelmeans.cli.jobs import Job
from kernelmeans.cli.outputs import as_json
from kernelmeans.cli.views import read_views
from kernelmeans.models import Model
from kernelmeans.models.placing import columns_in
from kernelmeans.tables import spellings
from kernelmeans.tables.files import tables
from kernelmeans.tables.files.tables import open_file

posix = pytest.mark.skipif(os.name != "posix", reason="names and links as POSIX has them")
OPTIONS = ["-k", 3, "--drop", "kind", "--force"]


@posix
@pytest.mark.parametrize("force", [[], ["--force"]])
@pytest.mark.parametrize("kind", ["link", "dangling link", "loop", "pipe", "device"])
def test_special_files_are_not_replaced(refused, data, kind, force):
    labels = Path("labels.csv")
    match kind:
        case "link":
            Path("target").write_text("old")
            labels.symlink_to("target")
        case "dangling link":
            labels.symlink_to("nowhere")
        case "loop":
            labels.symlink_to("labels.csv")
        case "pipe":
            os.mkfifo(labels)
        case "device":
            labels = Path("/dev/null")
    before = stat.S_IFMT(labels.lstat().st_mode)
    message = refused("fit", data, "--drop", "kind", "--labels", labels, *force)
    assert f"cannot write {labels}: it is" in message
    assert "another place" in message
    assert stat.S_IFMT(labels.lstat().st_mode) == before
    assert not Path("nowhere").exists()


@posix
def test_inputs_are_no_pipes(refused, data):
    """Nothing would ever come out of a pipe that came with other files."""
    os.mkfifo("pipe.csv")
    os.mkfifo("pipe.skops")
    for arguments in (["fit", "pipe.csv"], ["predict", "pipe.skops", data]):
        assert "is a pipe or a device" in refused(*arguments)


@posix
def test_a_folder_in_a_loop_of_links(refused, data):
    Path("loop").symlink_to("loop")
    message = refused("fit", data, "--drop", "kind", "-o", "loop/deep")
    assert "Too many levels" in message


@posix
def test_a_folder_may_be_a_link(run, data):
    Path("real").mkdir()
    Path("link").symlink_to("real")
    assert run("fit", data, *OPTIONS, "-o", "link").exit_code == 0
    assert Path("real/data.labels.csv").exists()


@pytest.mark.parametrize("name", ["groups.csv", "groups.xlsx"])
def test_a_folder_with_the_name_of_a_file(run, refused, data, name):
    message = refused("fit", data, *OPTIONS, "-o", name)
    assert f"{name!r} would be a folder; --labels takes the name of a file" in message
    Path("made.csv").mkdir()
    for folder in ("v1.2", "made.csv"):
        assert run("fit", data, *OPTIONS, "-o", folder).exit_code == 0
        assert Path(folder, "data.labels.csv").exists()


@pytest.mark.parametrize("option", ["--labels", "--profiles"])
@pytest.mark.parametrize("suffix", [".xlsx", ".XLS", ".parquet"])
def test_text_does_not_get_the_name_of_another_table(refused, data, option, suffix):
    message = refused("fit", data, *OPTIONS, option, f"groups{suffix}")
    assert f"'groups{suffix}' would be no {suffix} file: tables are .csv" in message
    assert not Path(f"groups{suffix}").exists()


@posix
def test_names_as_long_as_they_may_be(run, refused, data):
    longest = "l" * 251 + ".csv"
    assert run("fit", data, *OPTIONS, "--labels", longest).exit_code == 0
    assert Path(longest).exists()
    message = refused("fit", data, *OPTIONS, "--labels", "l" * 300)
    assert "File name too long" in message
    data.rename("d" * 244 + ".csv")
    assert "File name too long" in refused("fit", "d" * 244 + ".csv", *OPTIONS)


@posix
@pytest.mark.parametrize("options", [[], ["--labels", "other\udce9.csv"], ["-o", "\udce9"]])
def test_names_that_are_no_utf8(run, data, options):
    source = data
    if not options:
        source = Path("caf\udce9.csv")
        try:
            data.rename(source)
        except OSError:
            pytest.skip("this file system has UTF-8 only")
    result = run("fit", str(source), *OPTIONS, *options)
    assert result.exit_code == 2
    assert "is not a name in UTF-8: rename it" in result.stderr


@pytest.mark.usefixtures("folder")
def test_a_cell_of_a_million_letters(refused):
    Path("data.csv").write_text("a,b\n1,2\n3," + "x" * 10**6 + "\n")
    message = refused("fit", "data.csv")
    assert "--drop b" in message
    assert len(message) < 400


@pytest.mark.usefixtures("folder")
def test_a_name_of_a_million_letters(refused):
    Path("data.csv").write_text("x" * 10**6 + ",b\n1,2\n3,\n")
    assert "'b'" in refused("fit", "data.csv", "--columns", "b")
    message = refused("fit", "data.csv", "--columns", "c")
    assert "is no column" in message
    assert len(message) < 2500


@pytest.mark.usefixtures("folder")
def test_long_fields_in_lines_of_wrong_length(refused):
    Path("data.csv").write_text("a,b\n1,2,3\n" + "x" * 10**6 + ",2\n")
    assert "line 2 has 3 values" in refused("fit", "data.csv")
    Path("data.csv").write_text("a,b\n" + "x" * 10**6 + ",2\n1,2,3\n")
    assert "line 3 has 3 values" in refused("fit", "data.csv")


@pytest.mark.usefixtures("folder")
def test_blank_lines_at_the_end():
    Path("data.csv").write_text("a,b\n1,2\n,3\n" + "\n" * 5)
    assert open_file(Path("data.csv")).shape == (2, 2)
    Path("data.csv").write_text("a,b\n\n\n")
    with pytest.raises(InputError, match="0 rows"):
        open_file(Path("data.csv"))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("a = " + "[" * 5000 + "]" * 5000, "nested too deeply"),
        (".".join("a" * 5000) + " = 1", "nested too deeply"),
        ("#" * 1_000_001, "1000001 bytes"),
    ],
)
@pytest.mark.usefixtures("folder")
def test_views_that_would_take_long_to_read(content, words):
    Path("views.toml").write_text(content)
    with pytest.raises(InputError, match=words) as caught:
        read_views(Path("views.toml"))
    assert len(str(caught.value)) < 200


class Unsearchable(list):
    """Names among which nobody looks one by one: of 20 000 that took half a minute."""

    def __contains__(self, name):
        raise AssertionError("looked for a name in a list")


class Wide(tables.ArrayTable):
    @property
    def names(self):
        return Unsearchable(super().names)


def test_columns_are_not_looked_for_one_by_one():
    table = Wide(Path("X.npy"), np.zeros((2, 5)))
    choice = ColumnChoice(columns=["0,1,2", "3"], drop=["1", "2,3"])
    assert choice.features(table) == ["0"]
    model = Model(None, Unsearchable("01234"), "float64")
    assert columns_in(model, table) == list("01234")


@pytest.mark.usefixtures("folder")
def test_each_different_value_is_read_once(monkeypatch):
    Path("data.csv").write_text("a\n" + "1\n" * 1000 + "x\n")
    table, parsed, calls = open_file(Path("data.csv")), spellings.written, []
    monkeypatch.setattr(spellings, "written", lambda text: calls.append(text) or parsed(text))
    with pytest.raises(InputError, match="for example 'x'"):
        table.matrix(["a"], "float64")
    assert len(calls) < 10


def test_an_example_of_dates(tmp_path):
    frame = pl.DataFrame({"a": [1, 2], "when": [None, "2020-01-02"]})
    frame.with_columns(pl.col("when").str.to_date()).write_parquet(tmp_path / "data.parquet")
    with pytest.raises(InputError, match="for example '2020-01-02'"):
        open_file(tmp_path / "data.parquet").matrix(["a", "when"], "float64")


def test_json_knows_no_infinity_anywhere():
    content = {"a": [np.inf, {"b": (1.5, np.nan)}], "c": -np.inf, "d": "inf"}
    found = json.loads(as_json(content), parse_constant=pytest.fail)
    assert found == {"a": [None, {"b": [1.5, None]}], "c": None, "d": "inf"}


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (RuntimeError("odd " * 10_000), "unexpected RuntimeError: odd odd"),
        (MemoryError("3 TB"), "3 TB"),
        (ImportError("install PyTorch"), "install PyTorch"),
    ],
)
def test_whatever_fails_is_a_short_message(refused, data, monkeypatch, error, words):
    def fail(*args):
        raise error

    monkeypatch.setattr("kernelmeans.cli.fit.fit_task", fail)
    message = refused("fit", data, "-k", 3, "--drop", "kind", code=1)
    assert words in message
    assert len(message) < 1000


def test_a_library_without_memory_is_a_short_message(refused, data, monkeypatch):
    def load(*args):
        raise ImportError("_lib.so: failed to map segment from shared object", name="_lib")

    monkeypatch.setattr("kernelmeans.cli.fit.write_model", load)
    message = refused("fit", data, "-k", 3, "--drop", "kind", "-o", "out", code=1)
    assert "library cannot be loaded (_lib.so: failed to map" in message


def test_an_archive_that_memory_left_open_is_a_lack_of_memory(refused, data, monkeypatch):
    def close(*args):
        try:
            raise MemoryError("3 TB")
        finally:
            raise ValueError("Can't close the ZIP file")

    monkeypatch.setattr("kernelmeans.cli.fit.write_model", close)
    message = refused("fit", data, "-k", 3, "--drop", "kind", "-o", "out", code=1)
    assert "not enough memory (3 TB)" in message


def test_developers_see_where_it_failed(run, data, monkeypatch):
    def fail(*args):
        raise RuntimeError("odd")

    monkeypatch.setattr("kernelmeans.cli.fit.fit_task", fail)
    development = SimpleNamespace(flags=SimpleNamespace(dev_mode=True))
    monkeypatch.setattr("kernelmeans.cli.errors.sys", development)
    with pytest.raises(RuntimeError, match="odd"):
        run("fit", data, "-k", 3, "--drop", "kind")


def test_notes_and_warnings_are_short(capsys):
    with warnings_as_lines(quiet=False):
        warnings.warn("x" * 10**6, stacklevel=1)
    Job(data=Path("X.npy")).note("y" * 10**6)
    assert max(map(len, capsys.readouterr().err.splitlines())) < 2100


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("wild", [1e300, -1e300])
def test_sparse_numbers_whose_variance_overflows(refused, wild):
    X = np.eye(30, 3)
    X[7, 1] = wild
    scipy.sparse.save_npz("X.npz", scipy.sparse.csr_array(X))
    said = refused("fit", "X.npz", "-k", "2")
    assert "X.npz: the numbers of column '1' are so large" in said
    assert "encountered" not in said


@pytest.mark.usefixtures("folder")
def test_sparse_rows_whose_distances_overflow(refused):
    X = np.eye(30, 3)
    X[7, 1] = 1e300
    scipy.sparse.save_npz("X.npz", scipy.sparse.csr_array(X))
    said = refused("fit", "X.npz", "-k", "2", "--kernel", "heat", "--no-scale")
    assert "distances overflow" in said
    assert "This is a fault" not in said
    assert "encountered" not in said
