"""What tells clusters apart from each other, and which differ in hardly more than one column."""

import itertools
import json

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ks_2samp, mannwhitneyu
from sklearn.pipeline import make_pipeline

from kernelmeans import ClusterReport, KernelPowerKMeans, describe
from kernelmeans.profiles.columns import MOST_CLUSTERS, Grouped, profile_of
from kernelmeans.profiles.contrast import advice, separation
from kernelmeans.tables import TableTransformer


def grouped(labels, weights=None):
    weights = np.ones(len(labels)) if weights is None else weights
    return Grouped(slice(None), labels, weights, labels.max() + 1)


def started(labels):
    """An estimator that begins with clusters."""
    return KernelPowerKMeans(4, kernel="rbf", init=np.eye(4)[labels], n_swaps=0, s0=-1e3)


@pytest.fixture
def halved(rng):
    """Two groups of four numbers and a category, each halved by a flag of noise."""
    group, flag = np.repeat([0, 1], 200), np.tile([0, 1], 200)
    table = pd.DataFrame(8 * group[:, None] + rng.normal(size=(400, 4)), columns=list("abcd"))
    table["plan"] = np.where(rng.random(400) < 0.9, np.array(["basic", "plus"])[group], "other")
    table["member"] = np.array(["no", "yes"])[flag]
    return table, 2 * group + flag


def test_numbers_are_separated_as_the_kolmogorov_smirnov_statistic_says(rng):
    labels = np.repeat([0, 1, 2], 500)
    values = rng.normal(size=1500) + np.array([0.0, 1.5, 6.0])[labels]
    found = separation(profile_of(values, "x", grouped(labels)))
    for one, other in itertools.combinations(range(3), 2):
        exact = ks_2samp(values[labels == one], values[labels == other]).statistic
        # Not all thresholds are tried.
        assert exact - 0.06 < found[one, other] == found[other, one] <= exact + 1e-12


def test_categories_are_separated_by_the_distance_of_their_frequencies(rng):
    labels, values = rng.integers(4, size=900), rng.choice(list("abcdef"), 900)
    values[(labels == 1) & (values == "b")] = "a"
    weights = rng.integers(1, 4, 900).astype(float)
    found = separation(profile_of(values.astype(object), "x", grouped(labels, weights), "category"))
    parts = pd.crosstab(labels, values, weights, aggfunc="sum", normalize="index").to_numpy()
    expected = np.abs(parts[:, None] - parts).sum(axis=-1) / 2
    np.testing.assert_allclose(found, expected, atol=1e-12)


@pytest.mark.parametrize("kind", ["number", "category"])
def test_no_value_is_one_more_value(rng, kind):
    labels = np.repeat([0, 1, 2], 300)
    values = rng.integers(6, size=900).astype(float)
    # The few values of the last cluster differ from the others, but they are few.
    values[labels == 2] = 9
    values[600:891] = values[:150] = np.nan
    table = pd.DataFrame({"x": values, "y": rng.normal(size=900)})
    column = values if kind == "number" else np.where(np.isnan(values), None, values.astype(str))
    found = separation(profile_of(column, "x", grouped(labels), kind if kind != "number" else None))
    assert found[0, 2] == pytest.approx(0.5, abs=0.06)
    assert found[1, 2] == pytest.approx(1, abs=0.06)
    assert found[0, 1] == pytest.approx(0.5, abs=0.06)
    assert describe(labels, table).alike == ()


def test_clusters_that_a_flag_halves_are_named(halved):
    table, labels = halved
    described = describe(labels, table)
    assert {one.column for one in described.alike} == {"member"}
    assert [one.clusters for one in described.alike] == [(0, 1), (2, 3)]
    assert described.to_dict()["alike"][0] == {"clusters": [0, 1], "column": "member"}
    lines = " ".join(str(described).split())
    assert "Clusters 0 and 1, 2 and 3 differ in member, and hardly in other columns." in lines
    assert advice("member") in lines
    # The flag is the column of the smallest difference.
    assert all("member" in [one.column for one in described.top(own, 3)] for own in range(4))
    assert all("member" in one.apart[:2] for one in described.records)


@pytest.mark.parametrize("n_noise", [1, 2])
@pytest.mark.parametrize("seed", range(6))
def test_a_column_names_the_cluster_in_its_middle_and_noise_names_none(seed, n_noise):
    rng, labels = np.random.default_rng(seed), np.repeat([0, 1, 2], 100)
    table = pd.DataFrame({"x": 5.0 * labels + 0.3 * rng.normal(size=300)})
    for name in ["noise", "hum"][:n_noise]:
        table[name] = rng.normal(size=300)
    described = describe(labels, table)
    assert [one.apart for one in described.records] == [("x",)] * 3
    assert "x" in [one.column for one in described.top(1, 2)]
    assert "mean 5.0" in str(described).partition("Cluster 1")[2].partition("Cluster 2")[0]
    model = KernelPowerKMeans(3, kernel="linear", random_state=0).fit(table[["x"]])
    told = ClusterReport(model, table[["x"]], table=table).to_dict()["clusters"]
    assert sorted(one["hint"] for one in told) == ["average x", "high x", "low x"]


@pytest.mark.parametrize("elsewhere", [0, 4])
def test_a_few_gaps_do_not_stand_for_the_column_that_separates(rng, elsewhere):
    labels = np.repeat([0, 1, 2], 100)
    table = pd.DataFrame({"x": 5.0 * labels + 0.3 * rng.normal(size=300), "y": rng.random(300)})
    table.loc[[110, 130, 150, 170, 190, *range(elsewhere), *range(200, 200 + elsewhere)], "x"] = (
        np.nan
    )
    described = describe(labels, table)
    gap, middle = (described.columns.query("cluster == 1 and column == @name").iloc[0].difference
                   for name in ("x is missing", "x"))  # fmt: skip
    assert gap > abs(middle) < 0.1
    assert described.records[1].apart == ("x",)
    assert "x" in [one.column for one in described.top(1)]
    # As many gaps as elsewhere are worth no line.
    assert ("x is missing" in [one.column for one in described.top(1)]) == (gap > 0.1)
    assert (gap > 0.1) == (elsewhere == 0)


@pytest.mark.parametrize("rows", [4, 20, 100])
def test_noise_tells_no_clusters_apart(rng, rows):
    labels = np.repeat(np.arange(6), rows)
    table = pd.DataFrame(rng.normal(size=(6 * rows, 3)), columns=list("abc"))
    table["flag"], table["code"] = (
        rng.random(6 * rows) < 0.5,
        rng.choice(list("abcdefghij"), 6 * rows),
    )
    found = describe(labels, table, categorical=["code"]).records
    # Of 75 comparisons one in a hundred may be by chance.
    assert sum(len(one.apart) for one in found) <= 2
    weights = rng.random(6 * rows)
    pair = [describe(labels, table, sample_weight=size * weights) for size in (1, 2.0**-600)]
    assert [one.apart for one in pair[0].records] == [one.apart for one in pair[1].records]


def test_weights_of_few_rows_say_less_than_equal_ones(rng):
    labels, x = np.repeat([0, 1], 40), np.r_[rng.random(40), rng.random(40) + 0.7]
    uneven = np.where(np.arange(80) % 40 < 2, 1.0, 1e-3)
    for weights, apart in ((None, ("0",)), (uneven, ())):
        described = describe(labels, x[:, None], sample_weight=weights)
        assert [one.apart for one in described.records] == [apart] * 2


def test_small_clusters_that_a_flag_halves_are_named_too():
    found = []
    for seed in range(6):
        labels = np.repeat(np.arange(8), 20)
        table = np.random.default_rng(seed).normal(size=(160, 4)) + 6 * np.eye(4)[labels // 2]
        table = pd.DataFrame(table, columns=list("abcd"))
        table["flag"] = np.array(["no", "yes"])[labels % 2]
        found += describe(labels, table).alike
    assert {one.column for one in found} == {"flag"}
    assert {one.clusters for one in found} == {(0, 1), (2, 3), (4, 5), (6, 7)}
    assert 22 <= len(found) <= 24


def test_clusters_whose_ranks_differ_in_another_column_are_not_named():
    told = {True: [], False: []}
    labels = np.repeat(np.arange(8), 25)
    for seed in range(40):
        table = np.random.default_rng(seed).normal(size=(200, 4)) + 6 * np.eye(4)[labels // 2]
        table[:, 3] += 0.9 * (labels == 1)
        frame = pd.DataFrame(table, columns=["income", "score", "visits", "age"])
        frame["genre"] = np.array(["Female", "Male"])[labels % 2]
        pairs = {one.clusters for one in describe(labels, frame).alike}
        p = mannwhitneyu(table[labels == 0, 3], table[labels == 1, 3]).pvalue
        if p < 0.002 or p > 0.05:
            told[p < 0.002].append((0, 1) in pairs)
    assert len(told[True]) > 15
    assert not any(told[True])
    assert np.mean(told[False]) > 0.5  # income, score and visits may differ by chance


def test_the_advice_leaves_the_column_out(halved):
    table, labels = halved
    table = table.rename(columns={"member": "a member's *"})
    column = describe(labels, table).alike[0].column
    made = eval(advice(column).partition("in Python ")[2].removesuffix("."))
    assert "a member's *" not in made.fit(table).get_feature_names_out().tolist()
    assert isinstance(made, TableTransformer)


def test_a_column_that_a_number_names_is_called_a_column(halved):
    table, labels = halved
    lines = " ".join(str(describe(labels, table.rename(columns={"member": "3"}))).split())
    assert "2 and 3 differ in column 3, and hardly in other columns. If column 3 is not" in lines
    assert "--drop 3, in Python TableTransformer(drop=['3'])" in lines


@pytest.mark.parametrize("case", ["two flags", "rare", "both halves", "few columns"])
def test_clusters_that_differ_in_more_or_less_are_not_named(halved, rng, case):
    table, labels = halved
    if case == "two flags":
        table["again"] = np.where(labels % 2, "so", "not so")
    elif case == "rare":
        table["member"] = np.where(rng.random(400) < 0.2, "yes", table["member"])
    elif case == "both halves":
        table["a"] += labels % 2
    else:
        table = table[["a", "plan", "member"]]
    assert describe(labels, table).alike == ()


def test_a_column_that_the_model_does_not_use_does_not_count(halved):
    table, labels = halved
    table["twin"] = table["member"].str.upper()
    table["remark"] = [f"remark {row} of {row % 7}" for row in range(400)]
    model = make_pipeline(
        TableTransformer(drop="twin"),
        started(labels),
    )
    described = describe(model.fit(table), table)
    assert len(described.alike) == 2
    assert not any("twin" in one.apart for one in described.records)
    assert describe(labels, table).alike == ()


def test_a_column_that_is_missing_tells_clusters_apart(halved):
    table, labels = halved
    table["member"] = np.where(labels % 2, 5.0 + table["a"] % 1, np.nan)
    described = describe(labels, table)
    assert [one.clusters for one in described.alike] == [(0, 1), (2, 3)]
    assert {one.source for one in described.top(0, 3)} >= {"member"}


def test_a_column_without_a_frequent_value_says_nothing_of_a_cluster():
    table = pd.DataFrame({"kind": [*"BBBBCCCC", None, None, None, *"aaaaaa"]})
    described = describe([0] * 11 + [1] * 6, table)
    assert described.records[0].apart == ("kind",)
    assert [one.column for one in described.top(0)] == ["kind is missing"]


def test_one_cluster_and_very_many_have_nothing_to_compare(rng):
    labels = np.arange(8 * MOST_CLUSTERS + 8) % (MOST_CLUSTERS + 1)
    table = rng.normal(size=(len(labels), 3)) + 9 * labels[:, None]
    for some in (labels, 0 * labels):
        described = describe(some, table)
        assert {one.apart for one in described.records} == {()}
    assert len(describe(np.minimum(labels, MOST_CLUSTERS - 1), table).records[0].apart) > 0
    # A square of their number would be kept for each column.
    assert profile_of(table[:, 0], "a", grouped(labels)).frequencies is None


def test_a_cluster_without_rows_is_compared_with_none():
    X = np.r_[np.zeros(20), np.ones(20)][:, None] + np.linspace(0, 0.1, 40)[:, None]
    model = KernelPowerKMeans(2, kernel="linear", random_state=0).fit(X)
    described = describe(model, X[:20])
    assert [one.size for one in described.records].count(0) == 1
    assert json.loads(json.dumps(described.to_dict(), allow_nan=False))["alike"] == []


def report_of(table, labels, **given):
    """A report of a model that has found these clusters."""
    X = np.eye(4)[labels]
    model = KernelPowerKMeans(4, kernel="linear", random_state=0).fit(X)
    assert len({*zip(model.labels_.tolist(), labels.tolist(), strict=True)}) == 4
    return ClusterReport(model, X, table=table, **given)


def test_a_report_names_halves_apart_and_says_so(halved):
    report = report_of(*halved)
    told = [one["hint"] for one in report.to_dict()["clusters"]]
    assert len(set(told)) == 4
    assert sum("member yes" in one for one in told) == 2
    assert "differ in member, and hardly in other columns." in report.verdict
    assert report.to_dict()["profiles"]["alike"][0]["column"] == "member"
    assert "--drop member" in report.to_html()
    assert "Clusters w and " in report_of(*halved, names=list("wxyz")).verdict


def test_a_report_says_nothing_of_clusters_of_few_rows(halved):
    table, labels = halved
    kept = np.flatnonzero((labels != 3) | (np.arange(400) > 392))
    assert 0 < (labels[kept] == 3).sum() < 5
    for name in table.columns.drop("member"):
        table[name] = 8.0 * (labels // 2)
    for rows, pairs in ((False, 1), (True, 2)):
        report = report_of(table.iloc[kept].reset_index(drop=True), labels[kept], rows=rows)
        assert len(report.to_dict()["profiles"]["alike"]) == pairs


def test_a_table_in_other_units_than_the_fit_is_noticed():
    rng = np.random.default_rng(0)
    X = np.r_[rng.normal(size=(60, 2)), 8 + rng.normal(size=(60, 2))]
    model = KernelPowerKMeans(2, random_state=0).fit(X)
    with pytest.warns(UserWarning, match=r"120 rows, .* only 1 of 2 clusters get any.*as X="):
        described = describe(model, 1e3 + X)
    assert described.records[0].size in (0, 120)
    # Other rows are as many by chance.
    assert len(describe(model, X[rng.permutation(120)]).records) == 2
    assert len(describe(model, 1e3 + X, X=X).records) == 2


def test_a_description_shows_itself_in_a_notebook():
    described = describe([0, 0, 1, 1], pd.DataFrame({"a<b": [1, 2, 8, 9]}))
    assert described._repr_html_() == f"<pre>{str(described).replace('<', '&lt;')}</pre>"
