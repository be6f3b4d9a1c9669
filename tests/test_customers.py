"""The table that examples/customers.py draws is what its users count on."""

import importlib.util
import json
import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner
from polars.testing import assert_frame_equal
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

from kernelmeans import ClusterSearch, KernelPowerKMeans, describe
from kernelmeans.cli.app import app
from kernelmeans.tables import TableTransformer

FILE = Path(__file__).parents[1] / "examples" / "customers.py"
if not FILE.exists():
    pytest.skip("the examples are not in the source distribution", allow_module_level=True)


def load_example():
    spec = importlib.util.spec_from_file_location("customers", FILE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


example = load_example()


@pytest.fixture(scope="module")
def drawn():
    return example.customers()


def test_help_is_no_folder(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["customers.py", "--help"])
    with pytest.raises(SystemExit, match="0"):
        example.main()
    assert "known segments" in capsys.readouterr().out


def test_a_seed_is_a_table(drawn):
    assert_frame_equal(example.customers()[0], drawn[0])
    np.testing.assert_array_equal(example.customers()[1], drawn[1])
    assert not example.customers(seed=1)[0].equals(drawn[0])
    assert_frame_equal(example.next_month(*drawn)[0], example.next_month(*drawn)[0])


def write(monkeypatch, folder, *arguments):
    monkeypatch.setattr("sys.argv", ["customers.py", str(folder), *arguments])
    example.main()
    return [pl.read_csv(folder / name) for name in ("customers.csv", "next_month.csv")]


def test_number_and_seed_on_the_command_line(monkeypatch, tmp_path, drawn):
    table, later = write(monkeypatch, tmp_path)
    assert table["customer_id"].equals(drawn[0]["customer_id"])
    assert later["customer_id"].equals(example.next_month(*drawn)[0]["customer_id"])
    few, _ = write(monkeypatch, tmp_path, "-n", "50")
    assert few["customer_id"].equals(example.customers(50)[0]["customer_id"])
    others, _ = write(monkeypatch, tmp_path, "-n", "50", "--seed", "7")
    assert others["customer_id"].equals(example.customers(50, seed=7)[0]["customer_id"])
    assert not others.equals(few)
    assert len(write(monkeypatch, tmp_path, "-n", "1")[0]) == 1
    with pytest.raises(SystemExit, match="2"):
        write(monkeypatch, tmp_path, "-n", "0")


def test_the_columns_are_of_all_kinds(drawn):
    table, segment = drawn
    assert len(table) == len(segment) == 4000
    assert table["customer_id"].n_unique() == 4000
    np.testing.assert_array_equal(table["row"], np.arange(1, 4001))
    assert table["currency"].n_unique() == 1
    assert table["revenue"].equals(table["spend"])
    assert table["signup"].dtype == pl.Date
    assert table["app"].dtype == pl.Boolean
    assert set(table["newsletter"]) == {"yes", "no"}
    assert table["note"].n_unique() > 3500
    assert {
        name: table[name].drop_nulls().n_unique() for name in ("region", "plan", "payment")
    } == {
        "region": 5,
        "plan": 4,
        "payment": 3,
    }
    assert (table["birth_year"].drop_nulls() > 1900).all()
    assert table["spend"].max() > 20 * table["spend"].median()


def test_some_values_are_missing(drawn):
    table, _ = drawn
    fractions = {name: table[name].null_count() / len(table) for name in table.columns}
    assert {name for name in fractions if fractions[name]} == set(example.MISSING)
    for name, rate in example.MISSING.items():
        assert fractions[name] == pytest.approx(rate, abs=0.015)


def test_segments_are_unequal_and_no_column_tells_them_apart(drawn):
    table, segment = drawn
    np.testing.assert_allclose(np.bincount(segment) / 4000, example.SIZES, atol=0.03)
    for name in set(table.columns) - {"row", "customer_id", "name", "note"}:
        column = table[name].rank("dense").fill_null(0).to_numpy()[:, None]
        tree = DecisionTreeClassifier(max_leaf_nodes=30).fit(column[::2], segment[::2])
        assert tree.score(column[1::2], segment[1::2]) < 0.8


def test_next_month_has_new_and_strange_rows(drawn):
    table, segment = drawn
    later, later_segment = example.next_month(table, segment)
    assert sorted(later.columns) == sorted(table.columns)
    assert later.columns != table.columns
    known = later["customer_id"].is_in(table["customer_id"].to_list())
    assert 3700 < known.sum() < 3900
    assert (~known).sum() == 405
    assert not later["customer_id"].filter(known).is_sorted()
    assert set(later["plan"]) - set(table["plan"]) == {"trial", None}
    strange = later.filter(pl.Series(later_segment == -1))
    assert len(strange) == 5
    assert (strange["income"].max(), strange["spend"].min()) == (9e9, -50)
    assert strange["birth_year"].min() == 0
    assert (strange["note"].null_count(), later["note"].null_count()) == (2, 2)
    # Customers who stayed keep their segment.
    before = dict(zip(table["customer_id"], segment, strict=True))
    pairs = zip(later["customer_id"], later_segment, strict=True)
    assert all(before.get(name, after) == after for name, after in pairs)


def test_the_guide_shows_what_is_printed(drawn):
    """Of the true segments, and of one cluster too many."""
    table, segment = drawn
    model = make_pipeline(TableTransformer(), KernelPowerKMeans(6, random_state=0)).fit(table)
    printed = f"{describe(np.array(example.SEGMENTS)[segment], table)}\n{describe(model, table)}"
    guide = (FILE.parents[1] / "docs/guide/reading.md").read_text("utf-8")
    shown = re.findall(r"```text\n(Clusters? [^:]*?(?::|differ).*?)```", guide, re.DOTALL)
    assert len(shown) == 2
    for part in "\n".join(shown).split("\n\n"):
        assert " ".join(part.split()) in " ".join(printed.split())


@pytest.mark.slow
@pytest.mark.usefixtures("short_searches")
def test_a_search_of_a_pipeline_compares_with_the_same_data_as_the_command_line(drawn, tmp_path):
    table, file = drawn[0][:300], tmp_path / "table.csv"
    table.write_csv(file)
    ran = CliRunner().invoke(app, ["choose", str(file), "-k", "2-3", "--splits", "4"])
    assert ran.exit_code == 0, ran.output
    written = json.loads((tmp_path / "table.choose.json").read_text())
    model = make_pipeline(TableTransformer(), KernelPowerKMeans(random_state=0))
    grid = {"kernelpowerkmeans__n_clusters": [2, 3]}
    search = ClusterSearch(model, grid, n_splits=4, random_state=0).fit(table)
    assert search.best_params_ == {"kernelpowerkmeans__n_clusters": written["clusters"]}
    chosen = written["candidates"][search.best_index_]
    reference = search.results_["mean_reference"][search.best_index_]
    assert chosen["stability_without_clusters"] == pytest.approx(reference)
