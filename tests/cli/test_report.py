"""``fit --report``: the page that it writes."""

import hashlib
import re

import polars as pl
import pytest
from click.testing import CliRunner

from kernelmeans.cli import fit as command
from kernelmeans.cli.app import app


def test_a_report_is_written_beside_the_table(fit, data, folder):
    result = fit("--report")
    assert result.exit_code == 0
    assert "data.report.html" in result.stdout
    page = (folder / "data.report.html").read_text("utf-8")
    assert "Clusters of data.csv" in page
    assert "kernelmeans fit data.csv -k 3 --label-column kind --report" in page
    assert "kernelmeans predict data.model.skops" in page
    assert "model = load_model(&#x27;data.model.skops&#x27;)" in page
    assert "model.label(table).labels" in page
    assert hashlib.sha256(data.read_bytes()).hexdigest() in page
    assert "aggregates alone" in page
    assert "Typical rows" not in page


def test_rows_are_shown_on_request(fit, folder):
    assert fit("--kernel", "rbf", "--report", "--rows").exit_code == 0
    page = (folder / "data.report.html").read_text("utf-8")
    assert "Typical rows" in page
    assert "aggregates and single rows" in page


def test_no_report_is_written_unless_asked_for_and_none_is_overwritten(fit, folder):
    assert fit().exit_code == 0
    assert not (folder / "data.report.html").exists()
    (folder / "data.report.html").write_text("mine")
    result = fit("--report", "--force", "-o", "elsewhere")
    assert result.exit_code == 0
    assert (folder / "elsewhere" / "data.report.html").exists()
    result = fit("--report", "--output-dir", folder)
    assert result.exit_code == 2
    assert "data.report.html" in result.stderr
    assert (folder / "data.report.html").read_text() == "mine"


def test_a_report_that_may_be_older_is_named(fit, folder):
    assert "not written anew" not in fit("--report").stderr
    again = fit("--force")
    assert re.search(
        r"Note: not written anew: '\S*data\.report\.html'$", again.stderr, re.MULTILINE
    )
    assert "not written anew" not in fit("--force", "--report").stderr


@pytest.mark.usefixtures("short_searches")
def test_the_report_of_a_search_tells_of_it(run, data, folder):
    result = run("fit", data, "-k", "2-3", "--label-column", "kind", "--report", "-q")
    assert result.exit_code == 0
    page = (folder / "data.report.html").read_text("utf-8")
    assert "Candidates of the search" in page
    assert "found again in halves of the rows" in page


def test_the_report_names_views_and_classes(fit, folder):
    (folder / "views.toml").write_text(
        '[[view]]\nname = "long <ones>"\ncolumns = ["length"]\nkernel = "rbf"\n'
        '[[view]]\nname = "others"\ncolumns = ["mass", "area"]\nkernel = "rbf"\n'
    )
    result = fit("--views", "views.toml", "--report")
    assert result.exit_code == 0, result.stderr
    page = (folder / "data.report.html").read_text("utf-8")
    assert "long &lt;ones&gt;" in page
    assert "others" in page


def test_columns_of_the_file_that_the_fit_does_not_use_are_told_of(fit, folder, blobs):
    remarks = [f"remark {row} of mine" for row in range(60)]
    plan = blobs["kind"].replace_strict({"ant": "basic", "bee": "plus", "cat": "pro"})
    blobs.with_columns(plan=plan, remark=pl.Series(remarks)).write_csv("data.csv")
    result = fit("--report", "--drop", "plan")
    assert result.exit_code == 0, result.stderr
    page = (folder / "data.report.html").read_text("utf-8")
    assert "<bdi>plan</bdi>" in page
    assert "<bdi>pro</bdi>" in page
    # The classes as they stand in the file, and no text of single rows.
    assert "<bdi>bee</bdi> (100" in page
    assert "of mine" not in page


def test_typical_rows_are_those_of_the_file_also_if_rows_are_dropped(fit, folder, blobs):
    gone = [row % 3 == 0 for row in range(60)]
    length = pl.when(pl.Series(gone)).then(None).otherwise(pl.col("length"))
    blobs.with_columns(length=length.alias("length")).write_csv("data.csv")
    result = fit("--kernel", "rbf", "--report", "--rows", "--missing", "drop", "--json")
    assert result.exit_code == 0, result.stderr
    page = (folder / "data.report.html").read_text("utf-8")
    heads = re.findall(r"Typical rows</th>(.*?)</tr>", page)
    rows = [int(row) for head in heads for row in re.findall(r"<bdi>(\d+)</bdi>", head)]
    assert len(rows) == 9
    assert not any(gone[row] for row in rows)
    # Their values are those of the file.
    mass = blobs["mass"].to_list()
    assert all(f"<bdi>{mass[row]:.6g}</bdi>" in page for row in rows)


def test_typical_rows_are_called_by_their_identifiers(fit, folder, blobs):
    blobs.with_columns(who=pl.Series([f"w-{row}" for row in range(60)])).write_csv("data.csv")
    result = fit("--kernel", "rbf", "--report", "--rows", "--id-column", "who")
    assert result.exit_code == 0, result.stderr
    page = (folder / "data.report.html").read_text("utf-8")
    heads = re.findall(r"Typical rows</th>(.*?)</tr>", page)
    assert sum(len(re.findall(r"<bdi>w-\d+</bdi>", head)) for head in heads) == 9
    assert "<bdi>who</bdi>" not in page
    assert "NEW.csv --id-column who\n" in page or "NEW.csv --id-column who<" in page


def test_a_table_from_standard_input_is_told_of_too(folder, blobs):
    arguments = ["fit", "-", "-k", "3", "--label-column", "kind", "--report", "-q"]
    result = CliRunner().invoke(app, arguments, input=blobs.write_csv())
    assert result.exit_code == 0, result.stderr
    page = (folder / "stdin.report.html").read_text("utf-8")
    assert "<title>Clusters of stdin</title>" in page
    assert "joblib.hash of the data" in page


def test_the_hash_is_that_of_a_file_that_is_replaced_during_the_fit(
    fit, data, blobs, folder, monkeypatch
):
    def replaced(*given):
        blobs[:30].write_csv(folder / "new.csv")
        (folder / "new.csv").replace(data)
        return fitted(*given)

    fitted = command.fit_task
    monkeypatch.setattr(command, "fit_task", replaced)
    old = hashlib.sha256(data.read_bytes()).hexdigest()
    assert fit("--report").exit_code == 0
    page = (folder / "data.report.html").read_text("utf-8")
    assert hashlib.sha256(data.read_bytes()).hexdigest() in page
    assert old not in page
    assert "60 rows in 3 clusters" in page
