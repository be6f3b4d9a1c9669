"""Finished cells: read as they were written, or not at all."""

import json
import re
import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import kernelmeans
from kernelmeans_paper import provenance, store
from kernelmeans_paper.grid import Cell
from kernelmeans_paper.provenance import versions
from kernelmeans_paper.store import Store

CELL = Cell("trial", {"data": "yale", "k": 15})
floats = st.floats(allow_nan=False, allow_infinity=False)
values = st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.none()
parameters = st.dictionaries(st.text(max_size=10), values, max_size=6)
ANYWHERE = Store(Path())


@pytest.fixture(name="kept")
def store_with_a_cell(tmp_path):
    kept = Store(tmp_path / "cells")
    kept.write(CELL, {"nmi": [0.1, 0.2]}, seconds=2.5)
    return kept


def outcome(kept, cell):
    return kept.read(cell)["outcome"]


def path(parameters):
    return ANYWHERE.path(Cell("trial", parameters))


def bits(value):
    return struct.pack("<d", value)


@given(parameters, parameters)
def test_other_parameters_have_another_name(first, second):
    if json.dumps(first, sort_keys=True) != json.dumps(second, sort_keys=True):
        assert path(first) != path(second)
    assert path(first) == path(dict(first))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"a": "x-y"}, {"a": "x", "b": "y"}),
        ({"a": "x/y"}, {"a": "x_y"}),
        ({"a": 1}, {"b": 1}),
        ({"a": 1}, {"a": "1"}),
        ({"a": True}, {"a": "True"}),
        ({"a": 0.1}, {"a": 0.10000000000000002}),
        ({"a": "x" * 100 + "1"}, {"a": "x" * 100 + "2"}),
        ({"a": "Yale"}, {"a": "yale"}),
        ({}, {"a": ""}),
    ],
)
def test_names_differ_though_parameters_look_alike(first, second):
    names = [path(p).name for p in (first, second)]
    # Some file systems do not tell upper case from lower.
    assert names[0].lower() != names[1].lower()


def test_the_order_of_parameters_does_not_matter():
    assert path({"a": 1, "b": 2}) == path({"b": 2, "a": 1})


@given(parameters)
def test_a_name_is_safe_for_a_file(chosen):
    name = path(chosen).name
    assert re.fullmatch(r"[\w.-]*-[0-9a-f]{10}\.json", name)
    assert len(name) <= 80


@pytest.mark.parametrize(
    "odd",
    [
        "../../etc/passwd",
        "..",
        ".",
        "",
        " ",
        "a\nb",
        "a\0b",
        "C:\\x",
        "x" * 1000,
        "*?<>|\"'$;&",
        "λ",
    ],
)
def test_files_of_odd_names_can_be_made(odd, tmp_path):
    kept, cell = Store(tmp_path), Cell("trial", {"a": odd})
    kept.write(cell, {}, seconds=0.0)
    assert list((tmp_path / "trial").iterdir()) == [kept.path(cell)]


@given(
    st.recursive(
        floats | st.integers() | st.text() | st.booleans() | st.none(),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    )
)
def test_an_outcome_is_read_as_it_was_written(tmp_path_factory, value):
    kept = Store(tmp_path_factory.mktemp("store"))
    kept.write(CELL, {"value": value}, seconds=0.0)
    found = outcome(Store(kept.folder), CELL)
    assert found == {"value": value}
    # Equality alone would take 1 for 1.0 and True.
    assert repr(found) == repr({"value": value})


@given(st.lists(floats, min_size=1))
def test_floats_come_back_bit_for_bit(tmp_path_factory, numbers):
    kept = Store(tmp_path_factory.mktemp("store"))
    kept.write(CELL, {"numbers": numbers}, seconds=0.0)
    assert [bits(x) for x in outcome(kept, CELL)["numbers"]] == [bits(x) for x in numbers]


@given(st.dictionaries(st.text(max_size=8), floats | st.integers() | st.text() | st.booleans()))
def test_cells_of_any_parameters_are_found_again(tmp_path_factory, parameters):
    kept, cell = Store(tmp_path_factory.mktemp("store")), Cell("trial", parameters)
    kept.write(cell, {"nmi": 1.0}, seconds=0.0)
    assert outcome(kept, cell) == {"nmi": 1.0}
    assert kept.read(Cell("trial", {**parameters, "one more": 1})) is None
    assert kept.read(Cell("other", parameters)) is None


@pytest.mark.parametrize("number", [float("nan"), float("inf"), -float("inf")])
def test_a_number_that_is_none_is_refused_and_leaves_the_old_outcome(kept, number):
    with pytest.raises(ValueError, match="not JSON compliant"):
        kept.write(CELL, {"nmi": [0.5, number]}, seconds=1.0)
    assert outcome(kept, CELL) == {"nmi": [0.1, 0.2]}
    assert len(list(kept.path(CELL).parent.iterdir())) == 1


def test_there_is_nothing_before_it_is_written(tmp_path):
    kept = Store(tmp_path / "none")
    assert kept.read(CELL) is None
    assert kept.seconds([CELL]) == 0
    assert len(kept.results([CELL])) == 0
    assert not (tmp_path / "none").exists()


def test_a_cell_has_a_file_in_the_folder_of_its_experiment(kept):
    path = kept.path(CELL)
    assert path.parent == kept.folder / "trial"
    assert path.name.startswith("yale-15-")
    assert [file for file in kept.folder.rglob("*") if file.is_file()] == [path]


@pytest.mark.parametrize("part", ["python", "kernelmeans", "numpy", "scipy", "scikit-learn"])
def test_an_outcome_of_other_versions_does_not_count(kept, part, monkeypatch):
    monkeypatch.setattr(store, "versions", lambda: versions() | {part: "0.0"})
    later = Store(kept.folder)
    assert later.read(CELL) is None
    assert later.seconds([CELL]) == 0
    later.write(CELL, {"nmi": 1.0}, seconds=1.0)
    assert outcome(later, CELL) == {"nmi": 1.0}
    assert kept.read(CELL) is None


def test_an_outcome_of_other_parameters_does_not_count(kept):
    other = Cell("trial", {"data": "yale", "k": 16})
    kept.path(CELL).rename(kept.path(other))
    assert kept.read(other) is None
    kept.path(other).rename(kept.path(CELL))
    assert kept.read(CELL) is not None


def test_a_file_that_was_cut_short_does_not_count(kept):
    content = kept.path(CELL).read_bytes()
    # Without the newline at its end it is still whole.
    for length in range(len(content) - 1):
        kept.path(CELL).write_bytes(content[:length])
        assert kept.read(CELL) is None
    kept.path(CELL).write_bytes(content)
    assert outcome(kept, CELL) == {"nmi": [0.1, 0.2]}


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\0" * 100,
        b"\xff\xfe",
        b"{}",
        b'{"outcome": {"nmi": 1.0}}',
        b"not json",
        b"[]",
        b"null",
        b"0",
    ],
)
def test_a_corrupt_file_does_not_count_and_can_be_replaced(kept, content):
    kept.path(CELL).write_bytes(content)
    assert kept.read(CELL) is None
    assert kept.seconds([CELL]) == 0
    kept.write(CELL, {"nmi": 1.0}, seconds=1.0)
    assert outcome(kept, CELL) == {"nmi": 1.0}


def test_a_folder_in_the_place_of_a_file_does_not_count(tmp_path):
    kept = Store(tmp_path)
    kept.path(CELL).mkdir(parents=True)
    assert kept.read(CELL) is None


def test_writing_is_complete_or_not_at_all(kept, monkeypatch):
    """Whatever happens before the last renaming, the old outcome is there and nothing else."""

    def fail(*args):
        raise KeyboardInterrupt

    for name in ("fsync", "replace"):
        with monkeypatch.context() as patch:
            patch.setattr(f"os.{name}", fail)
            with pytest.raises(KeyboardInterrupt):
                kept.write(CELL, {"nmi": 1.0}, seconds=1.0)
        assert outcome(kept, CELL) == {"nmi": [0.1, 0.2]}
        assert len(list(kept.path(CELL).parent.iterdir())) == 1


def test_results_are_those_that_are_there_in_the_order_of_the_cells(kept):
    cells = [Cell("trial", {"k": k}) for k in (5, 3, 4)]
    for cell in reversed(cells):
        kept.write(cell, {"twice": 2 * cell.parameters["k"]}, seconds=0.25)
    missing = Cell("trial", {"k": 6})
    results = kept.results([cells[0], missing, *cells[1:]])
    assert list(results) == [({"k": k}, {"twice": 2 * k}) for k in (5, 3, 4)]
    assert kept.seconds([*cells, missing]) == 0.75
    assert kept.seconds([CELL]) == 2.5


def test_the_file_says_what_it_is(kept):
    content = json.loads(kept.path(CELL).read_text())
    assert content["parameters"] == {"data": "yale", "k": 15}
    assert content["outcome"] == {"nmi": [0.1, 0.2]}
    assert content["seconds"] == 2.5
    assert content["versions"]["kernelmeans"].startswith(kernelmeans.__version__)


@pytest.mark.parametrize(
    ("file", "counts"),
    [
        ("__init__.py", True),
        ("_devices.py", True),
        ("solver/driver.py", True),
        ("spaces/gram.py", True),
        ("cli/app.py", False),
        ("report/table.py", False),
        ("plotting/trace.py", False),
        ("solver/notes.txt", False),
    ],
)
def test_the_version_of_our_code_is_that_of_the_modules_that_compute(
    file, counts, tmp_path, monkeypatch
):
    monkeypatch.setattr(provenance, "_LIBRARY", tmp_path)
    for name in ("__init__.py", "solver/driver.py", file):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x = 1\n")
    first = versions()["kernelmeans"]
    assert versions()["kernelmeans"] == first
    Path(tmp_path / file).write_text("x = 2\n")
    assert (versions()["kernelmeans"] != first) == counts


def test_an_outcome_counts_until_the_module_of_its_experiment_changes(tmp_path, monkeypatch):
    experiments = tmp_path / "experiments"
    monkeypatch.setattr(provenance, "_EXPERIMENTS", experiments)
    experiments.mkdir(parents=True)
    for name in ("trial", "other"):
        (experiments / f"{name}.py").write_text("x = 1\n")
    kept = Store(tmp_path / "cells")
    kept.write(CELL, {"nmi": 1.0}, seconds=1.0)
    (experiments / "other.py").write_text("x = 2\n")
    assert outcome(Store(kept.folder), CELL) == {"nmi": 1.0}
    (experiments / "trial.py").write_text("x = 2\n")
    assert Store(kept.folder).read(CELL) is None
