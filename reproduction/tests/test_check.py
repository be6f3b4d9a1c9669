"""What `kernelmeans-paper check` calls a difference."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from scipy.stats import sem

import data
from kernelmeans_paper.check import compare
from kernelmeans_paper.cli import main
from kernelmeans_paper.report import Entry, Table
from kernelmeans_paper.statistics import tolerance

RESULTS = Path(__file__).parents[1] / "results"
TABLE = Table(
    "nmi",
    "Mean NMI",
    ("data", "mean", "steps"),
    [
        ("Yale", [Entry(0.6, tolerance=0.02), Entry(12.0)]),
        ("Seeds", [Entry(0.7, tolerance=0.01), Entry(34.0)]),
    ],
)
STORED = {"nmi": json.loads(TABLE.json())}


def changed(row, value):
    """The table with another mean in a row."""
    rows = [(label, list(entries)) for label, entries in TABLE.rows]
    for label, entries in rows:
        if label == row:
            entries[0] = replace(entries[0], value=value)
    return replace(TABLE, rows=rows)


def test_a_table_agrees_with_itself():
    assert compare([TABLE], STORED) == (2, [])


def test_a_part_of_the_rows_is_compared_on_its_own():
    assert compare([replace(TABLE, rows=TABLE.rows[1:])], STORED) == (1, [])


@pytest.mark.parametrize("sign", [-1, 1])
def test_a_mean_may_differ_by_its_stored_tolerance_and_no_more(sign):
    assert compare([changed("Yale", 0.6 + sign * 0.0199)], STORED) == (2, [])
    compared, [difference] = compare([changed("Yale", 0.6 + sign * 0.0201)], STORED)
    assert compared == 2
    assert difference == (
        f"nmi, Yale, mean: now {0.6 + sign * 0.0201:.4f}, stored 0.6000, apart by more than 0.0200"
    )


def test_steps_are_not_compared():
    rows = [(label, [entries[0], Entry(1e6)]) for label, entries in TABLE.rows]
    assert compare([replace(TABLE, rows=rows)], STORED) == (2, [])


def test_a_number_that_is_not_stored_is_a_difference():
    before = [cell for cell in STORED["nmi"]["cells"] if cell["row"] != "Seeds"]
    for stored in ({}, {"nmi": STORED["nmi"] | {"cells": before}}):
        compared, differences = compare([TABLE], stored)
        assert compared == 2
        assert differences[-1] == "nmi, Seeds, mean: now 0.7000, and not stored"


def test_the_tolerance_of_a_mean_is_two_standard_errors_and_five_thousandths(rng):
    values = rng.random(20)
    assert tolerance(values) == pytest.approx(2 * sem(values) + 0.005)


def test_a_folder_without_tables_is_refused(tmp_path):
    result = CliRunner().invoke(main, ["check", "motivating", "--results", str(tmp_path)])
    assert result.exit_code == 2
    assert f"{tmp_path} has no tables of an earlier run" in result.stderr


def check(*arguments):
    return CliRunner().invoke(main, ["check", *map(str, arguments), "--workers", "2"])


@pytest.mark.slow
def test_a_run_agrees_with_itself_until_a_stored_number_changes(tmp_path):
    made = tmp_path / "made"
    CliRunner().invoke(main, ["motivating", "--out", str(made), "--quiet"])
    result = check("motivating", "--results", made)
    assert (result.exit_code, result.stderr) == (0, "")
    assert f"6 numbers agree with those in {made}." in result.stdout
    file = made / "tables" / "motivating.json"
    table = json.loads(file.read_text())
    cell = next(cell for cell in table["cells"] if cell["row"] == "Kernel k-means")
    cell["value"] -= 1.1 * cell["tolerance"]
    file.write_text(json.dumps(table))
    result = check("motivating", "--results", made)
    assert result.exit_code == 1
    assert f"1 of 6 numbers differ from those in {made}:" in result.stderr
    assert "motivating, Kernel k-means, mean ARI: now" in result.stderr


@data.needs_data
@pytest.mark.slow
def test_the_stored_results_are_those_of_this_code():
    result = check("motivating", "single", "--set", "seeds", "--results", RESULTS)
    assert result.exit_code == 0, result.stderr
