"""What a report tells of columns, and what it does not tell of single rows."""

import numpy as np
import polars as pl
import pytest

from kernelmeans import ClusterReport, KernelPowerKMeans
from kernelmeans.profiles.columns import FEWEST
from kernelmeans.report.profiles import BINS, histograms


@pytest.fixture
def table(rng):
    """Two groups of 60 and 40 rows, and three rows far away, with columns of several kinds."""
    group = np.repeat([0, 1, 2], [60, 40, 3])
    income = 100.0 * group + rng.uniform(size=103)
    income[0] = 987654321.5
    plan = np.array(["basic", "plus", "rare"])[group]
    return pl.DataFrame(
        {
            "place": 10.0 * group + 0.1 * rng.standard_normal(103),
            "income": income,
            "plan": plan,
            "name": [f"person-{row}-of-all" for row in range(103)],
            "remark": [f"remark {row} of mine" for row in range(103)],
        }
    )


def report_of(table, **given):
    X = table.select("place").to_numpy()
    model = KernelPowerKMeans(3, kernel="linear", random_state=0).fit(X)
    return ClusterReport(model, X, table=table, labels_true=table["plan"].to_list(), **given)


def test_the_most_telling_columns_are_those_of_the_clusters(table):
    first, second, _ = report_of(table).to_dict()["clusters"]
    # The median of all incomes is that of the largest group.
    assert {one["column"] for one in first["profile"]} == {"place", "plan"}
    assert {one["column"] for one in second["profile"]} == {"place", "income", "plan"}
    plan = next(one for one in second["profile"] if one["column"] == "plan")
    assert (plan["value"], plan["fraction"]) == ("plus", 1.0)
    assert plan["overall"] == pytest.approx(40 / 103)
    place = next(one for one in second["profile"] if one["column"] == "place")
    assert float(place["value"]) == pytest.approx(10, abs=0.1)
    assert sum(place["histogram"]) == pytest.approx(1, abs=0.01)


def test_aggregates_alone_tell_nothing_of_single_rows(table):
    report = report_of(table)
    small = report.to_dict()["clusters"][2]
    assert small["rows"] == 3 < FEWEST
    assert small["profile"] is None
    assert small["classes"] == []
    page = report.to_html() + str(report.to_dict())
    for secret in ("person-", "remark ", "rare", "987654321", "typical_rows"):
        assert secret not in page, secret
    assert "It holds aggregates alone." in page


@pytest.mark.parametrize("rows", [False, True])
def test_a_rare_value_is_told_only_if_rows_may_be(table, rows):
    # Half of the rows of the smallest cluster have a value that others have too.
    smallest = table.tail(3)[[0] * 5]
    values = ["a"] * 5 + ["b"] * 95 + ["a"] * 4 + ["b", "c", "d", "e"]
    given = pl.concat([table, smallest]).select("place", "plan", rare=pl.Series(values))
    *_, last = report_of(given, rows=rows).to_dict()["clusters"]
    assert last["rows"] == 8
    assert ("rare" in {one["column"] for one in last["profile"]}) == rows


def test_gaps_are_told_of_and_shown_in_typical_rows(table):
    group = np.repeat([0, 1, 2], [60, 40, 3])
    age = pl.Series(np.where(group == 1, np.nan, 40.0)).fill_nan(None)
    report = report_of(table.with_columns(age=age), rows=True)
    first, second, _ = report.to_dict()["clusters"]
    for cluster, fraction, answer in ((first, 0.0, "no"), (second, 1.0, "yes")):
        known = next(one for one in cluster["profile"] if one["column"] == "age is missing")
        assert (known["fraction"], known["typical"]) == (fraction, [answer] * 3)
        assert known["overall"] == pytest.approx(40 / 103)
    assert "<bdi>age is missing</bdi>" in report.to_html()


def test_a_frequent_none_is_shown_in_typical_rows(table):
    signs = np.where(np.arange(103) % 60 < 55, "none", "wife")
    report = report_of(table.select("place", "plan", signs=pl.Series(signs)), rows=True)
    first = report.to_dict()["clusters"][1]
    (known,) = (one for one in first["profile"] if one["column"] == "signs")
    assert known["typical"] == ["none"] * 3


@pytest.mark.parametrize("n_known", [3, 4, 5])
def test_means_and_gaps_of_few_rows_are_not_told(table, n_known):
    # In the second cluster, of rows 60 to 99.
    values = [5.0 * (row >= 60) + 0.1 * (row % 7) for row in range(103)]
    income = [None if 60 + n_known <= row < 100 else values[row] for row in range(103)]
    gaps = [None if row in range(60, 60 + n_known) else float(row % 7) for row in range(103)]
    given = table.select("place", "plan", few=pl.Series(income), gaps=pl.Series(gaps))
    told = {one["column"] for one in report_of(given).to_dict()["clusters"][1]["profile"]}
    assert ("few" in told) == ("gaps is missing" in told) == (n_known == 5)
    assert "few is missing" in told


def test_classes_of_few_rows_are_not_told(table):
    X = table.select("place").to_numpy()
    model = KernelPowerKMeans(3, kernel="linear", random_state=0).fit(X)
    classes = ["a"] * 51 + ["b"] * 5 + ["c"] * 4 + ["a"] * 43
    for rows, told in ((False, "ab"), (True, "abc")):
        report = ClusterReport(model, X, labels_true=classes, rows=rows)
        assert [name for name, _ in report.to_dict()["clusters"][0]["classes"]] == list(told)


def test_columns_are_categories_on_request(table):
    given = table.select("place", "plan", code=pl.Series(np.repeat([100, 250, 400], [58, 42, 3])))
    first = report_of(given, categorical=["code"]).to_dict()["clusters"][0]
    code = next(one for one in first["profile"] if one["column"] == "code")
    assert (code["value"], code["fraction"]) == ("100", pytest.approx(58 / 60))


def test_typical_rows_are_the_nearest_ones_with_their_values(table):
    report = report_of(table, rows=True)
    for cluster in report.to_dict()["clusters"]:
        place = table["place"].to_numpy()
        own = np.flatnonzero(np.round(place / 10) == cluster["cluster"])
        nearest = own[np.argsort(np.abs(place[own] - place[own].mean()))][:3]
        assert cluster["typical_rows"] == nearest.tolist()
        known = next(one for one in cluster["profile"] if one["column"] == "place")
        assert known["typical"] == [f"{value:.6g}" for value in place[nearest]]
    assert "aggregates and single rows" in report.to_html()


def test_typical_rows_have_names_if_they_are_given(table):
    names = [f"customer {row}" for row in range(103)]
    report = report_of(table, rows=True, row_names=names)
    for cluster in report.to_dict()["clusters"]:
        assert cluster["typical_names"] == [names[row] for row in cluster["typical_rows"]]
    assert cluster["typical_names"][0] in report.to_html()


def test_columns_can_be_given_by_name(table):
    X, columns = table.select("place").to_numpy(), {name: table[name] for name in table.columns}
    model = KernelPowerKMeans(3, kernel="linear", random_state=0).fit(X)
    pages = [ClusterReport(model, X, table=one).to_html() for one in (table, columns)]
    assert pages[0] == pages[1]


def test_a_matrix_has_no_columns_to_describe_unless_a_table_is_given(reports, table):
    K = np.exp(-(np.subtract.outer(*[table["place"].to_numpy()] * 2) ** 2))
    model = KernelPowerKMeans(3, kernel="precomputed", random_state=0).fit(K)
    assert ClusterReport(model, K).to_dict()["profiles"] is None
    assert ClusterReport(model, K, table=table).to_dict()["profiles"]["columns"] == 5
    assert reports("graph").to_dict()["profiles"]["columns"] == 2


def test_histograms_count_the_values_of_each_cluster(rng):
    numbers, labels = rng.standard_normal(5000), rng.integers(0, 3, 5000)
    numbers[:5], labels[5:100] = [np.nan, np.inf, -np.inf, 1e9, -1e9], 3
    own, every, ends = histograms(numbers, labels, 5)
    known = np.isfinite(numbers)
    low = np.quantile(numbers[known], 0.01, method="lower")
    high = np.quantile(numbers[known], 0.99, method="higher")
    edges = np.linspace(low, high, BINS + 1)
    assert ends == (edges[0], edges[-1])
    for cluster in range(4):
        values = numbers[known & (labels == cluster)]
        counts, _ = np.histogram(values, edges)
        np.testing.assert_allclose(own[cluster], counts / len(values), atol=1e-3)
    assert not own[4].any()
    assert every.sum() == pytest.approx(0.98, abs=1e-3)


def test_the_ends_of_a_histogram_are_told_if_they_are_those_of_enough_values():
    labels = np.zeros(400, int)
    assert histograms(np.arange(400.0), labels, 1)[2] is None  # four values are beyond
    assert histograms(np.arange(400.0), labels, 1, fewest=1)[2] == (3.0, 396.0)
    assert histograms(np.arange(401.0), np.zeros(401, int), 1)[2] == (4.0, 396.0)
    assert histograms(np.arange(400.0) // 200, labels, 1)[2] == (0.0, 1.0)


def test_a_long_tail_is_no_second_peak(rng):
    values = np.append(rng.uniform(0, 1, 980), rng.uniform(1, 1000, 20))
    own, _, _ = histograms(values, np.zeros(1000, int), 1)
    assert own[0, 0] > 0.9
    assert own[0, -1] < 0.005


@pytest.mark.parametrize(
    ("numbers", "filled"), [([np.nan] * 4, 0), ([2.0] * 4, 1), ([0.0, 1.0, 1.0, 1.0], 1)]
)
def test_histograms_of_nothing_or_of_one_value(numbers, filled):
    own, every, _ = histograms(np.array(numbers), np.array([0, 0, 1, 1]), 2)
    assert every.sum() == pytest.approx(filled)
    assert (own.sum(axis=1) == filled).all()
