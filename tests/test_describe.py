"""What clusters are, by columns of a table; pandas is the oracle."""

import json
from dataclasses import replace
from datetime import date, datetime

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.cluster import DBSCAN, AgglomerativeClustering, KMeans
from sklearn.datasets import load_digits, load_iris, load_wine, make_blobs, make_circles
from sklearn.exceptions import NotFittedError
from sklearn.metrics import pairwise_distances
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kernelmeans import ClusterReport, ClusterSearch, KernelPowerKMeans, PowerKMeans, describe
from kernelmeans.models import Model
from kernelmeans.profiles.description import Description
from kernelmeans.profiles.rows import first_of_each
from kernelmeans.tables import TableTransformer


@pytest.fixture
def table(rng):
    """Columns of several kinds, with gaps."""
    n = 400
    return pd.DataFrame(
        {
            "size": rng.normal(5, 2, n),
            "money": rng.lognormal(3, 1.5, n),
            "plan": rng.choice(["basic", "plus", "family"], n, p=[0.6, 0.3, 0.1]),
            "member": rng.random(n) < 0.3,
            "count": rng.poisson(0.4, n),
            "since": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 2000, n), "D"),
            "gaps": np.where(rng.random(n) < 0.2, np.nan, rng.normal(size=n)),
            "region": pd.Series(rng.choice(["north", "south"], n)).where(rng.random(n) < 0.9),
            "currency": "EUR",
            "same": 0.1,
            "nothing": np.full(n, np.nan),
            "id": [f"K{number}" for number in rng.permutation(10**6)[:n]],
        }
    )


@pytest.fixture
def labels(rng):
    return rng.integers(3, size=400)


def indexed(described):
    """The long frame by cluster and column."""
    frame = described.columns
    frame = (
        frame if isinstance(frame, pd.DataFrame) else pd.DataFrame(frame.to_dict(as_series=False))
    )
    return frame.set_index(["cluster", "column"])


def test_means_and_differences_are_those_of_pandas(table, labels):
    found = indexed(describe(labels, table))
    for name in ("size", "gaps", "count", "same"):
        means, whole = table.groupby(labels)[name].mean(), table[name]
        for cluster in range(3):
            entry = found.loc[cluster, name]
            assert entry.statistic == "mean"
            assert entry.number == pytest.approx(means[cluster])
            assert entry.overall_number == pytest.approx(whole.mean())
            deviation = whole.std(ddof=0) or 1
            assert entry.difference == pytest.approx((means[cluster] - whole.mean()) / deviation)
            gaps = table[name].isna().groupby(labels).mean()[cluster]
            assert entry.missing == pytest.approx(gaps)


def test_heavy_tails_have_medians(table, labels):
    found = indexed(describe(labels, table))
    medians, money = table.groupby(labels)["money"].median(), table["money"]
    # Numbers beyond the 5 % and 95 % quantiles of all clusters count as these.
    ends = [
        [np.quantile(money[labels == one], q, method="averaged_inverted_cdf") for one in range(3)]
        for q in (0.05, 0.95)
    ]
    deviation = money.clip(min(ends[0]), max(ends[1])).std(ddof=0)
    for cluster in range(3):
        entry = found.loc[cluster, "money"]
        assert entry.statistic == "median"
        assert entry.number == pytest.approx(medians[cluster])
        expected = (medians[cluster] - money.median()) / deviation
        assert entry.difference == pytest.approx(expected)


def test_a_few_far_rows_are_as_far_as_standard_deviations_say(rng):
    labels = np.repeat([0, 1, 2], [150, 30, 20])
    x = np.array([1.0, 4.0, 61.0])[labels] + 0.03 * rng.normal(size=200)
    near = x + 100 * (labels == 1)  # another column, and the same numbers but for a cluster
    described = describe(labels, pd.DataFrame({"x": x, "near": near}))
    found = indexed(described)
    far = (np.median(x[labels == 2]) - np.median(x)) / x.std()
    assert 3.3 < far < 3.4
    assert found.loc[2, "x"].difference == pytest.approx(far, rel=0.01)
    # No group of a tenth of the rows can be farther than this.
    assert found["difference"].abs().max() < 4.5


@pytest.mark.parametrize("skewed", ["log", "keep"])
def test_logarithms_of_a_fit_are_compared_as_such(rng, skewed):
    labels = np.repeat([0, 1, 2], [110, 70, 20])
    money = rng.lognormal(np.array([1.0, 6.0, 9.0])[labels], 0.5)
    table = pd.DataFrame({"money": money, "x": labels + 0.1 * rng.normal(size=200), "copy": money})
    prepare = TableTransformer(skewed=skewed)
    model = make_pipeline(prepare, KernelPowerKMeans(3, random_state=0)).fit(table)
    described, labels = describe(model, table), model.predict(table)
    found = indexed(described)
    assert ("(of logarithms beside log means)" in str(described)) == (skewed == "log")
    if skewed == "keep":
        assert "log mean" not in set(found["statistic"])
        return
    unit = np.median(money)
    logs = np.log1p(money / unit)
    for cluster in range(3):
        entry, own = found.loc[cluster, "money"], logs[labels == cluster].mean()
        assert entry.statistic == "log mean"
        assert entry.difference == pytest.approx((own - logs.mean()) / logs.std())
        assert entry.number == pytest.approx(unit * np.expm1(own))
        assert entry.overall_number == pytest.approx(unit * np.expm1(logs.mean()))
        assert f"log mean {entry.value}" in str(described)
        assert float(entry.value) == pytest.approx(entry.number, rel=0.05)
    text = str(described)
    assert max(map(len, text.splitlines())) <= 80
    assert "copy" not in text
    page = ClusterReport(model, table)
    told = [one["profile"] for one in page.to_dict()["clusters"]]
    differences = [one["difference"] for each in told for one in each if one["column"] == "money"]
    assert differences == pytest.approx(found.xs("money", level="column")["difference"].tolist())


def test_one_absurd_number_does_not_hide_a_column(table, labels):
    table["size"] += 3 * labels
    table.loc[0, "size"] = 9e9
    entry = indexed(describe(labels, table)).loc[2, "size"]
    assert entry.statistic == "median"
    assert entry.difference > 0.5
    assert entry["rank"] == 1


def test_mostly_zeros_have_means(labels):
    number = np.where(np.arange(400) % 5, 0, np.arange(400))
    assert set(describe(labels, number[:, None]).columns.statistic) == {"mean"}


@pytest.mark.parametrize("name", ["plan", "region", "member"])
def test_categories_have_most_frequent_values_and_lift(table, labels, name):
    found = indexed(describe(labels, table))
    whole = table[name].value_counts() / 400
    for cluster in range(3):
        fractions = table[name][labels == cluster].value_counts() / (labels == cluster).sum()
        value, entry = fractions.index[0], found.loc[cluster, name]
        assert (entry.value, entry.overall) == (str(value), str(whole.index[0]))
        assert entry.number == pytest.approx(fractions[value])
        assert entry.overall_number == pytest.approx(whole[value])
        assert entry.lift == pytest.approx(fractions[value] / whole[value])
        # The same as the standardised difference of a column of 0 and 1.
        indicator = (table[name] == value).astype(float)
        there = indicator[labels == cluster].mean()
        expected = (there - indicator.mean()) / indicator.std(ddof=0)
        assert entry.difference == pytest.approx(expected)
        assert entry.missing == pytest.approx(table[name][labels == cluster].isna().mean())


@pytest.mark.parametrize("filled", [6, 20])
def test_shares_are_of_all_rows_with_a_value_or_without(filled):
    labels, deck = np.repeat([0, 1], 100), np.full(200, None, dtype=object)
    n_f = 2 * filled // 3
    deck[:filled] = ["F"] * n_f + ["D"] * (filled - n_f)
    deck[100:170] = ["F"] * 4 + ["C"] * 36 + ["D"] * 30
    described = describe(labels, pl.DataFrame({"deck": deck.tolist()}))
    entry = indexed(described).loc[0, "deck"]
    lines = [" ".join(line.split()) for line in str(described).splitlines()]
    assert "deck C 36 % all rows 18 % lift 2.00" in lines
    if filled == 6:  # 4 rows of 100
        assert pd.isna(entry.value)
        assert not any(line.startswith("deck F") for line in lines)
    else:  # 13 rows of 100, and 17 of 200
        assert (entry.value, entry.number, entry.overall_number) == ("F", 0.13, 0.085)
        assert entry.difference == pytest.approx(0.045 / np.sqrt(0.085 * 0.915))
        assert "deck F 13 % all rows 8 % lift 1.53" in lines


@pytest.mark.parametrize("kind", ["email", "customer_id", "number"])
def test_small_clusters_name_no_identifier(rng, kind):
    sizes = [8, 12, 9, 11, 10, 9, 1]
    numbers = rng.permutation(900_000)[:60] + 100_000
    values = {"email": [f"user{number}@x.org" for number in numbers], "customer_id": numbers}
    values["number"] = [f"{number} Main Street" for number in numbers]  # text
    described = describe(np.repeat(np.arange(7), sizes), pd.DataFrame({kind: values[kind]}))
    assert described.columns["value"].isna().all()
    assert described.columns["overall"].isna().all()
    text = json.dumps(described.to_dict()) + str(described)
    assert not any(str(number) in text for number in numbers)


@pytest.mark.parametrize("frequent", [4, 5])
def test_a_value_needs_five_rows_of_the_table(frequent):
    labels, city = np.repeat([0, 1], [6, 40]), np.repeat(["Oslo", "Rome"], [3, 43])
    city[-frequent + 3 :] = "Oslo"
    entry = indexed(describe(labels, pd.DataFrame({"city": city}))).loc[0, "city"]
    assert (city == "Oslo").sum() == frequent
    assert entry.value == "Oslo" if frequent == 5 else pd.isna(entry.value)


def test_a_frequent_none_is_a_value():
    labels = np.repeat([0, 1], 100)
    other = np.repeat(["co-applicant", "none", "guarantor", "none"], [7, 93, 20, 80])
    for column in (pl.Series(other), pd.Series(np.char.capitalize(other)), pl.Series([*other])):
        described = describe(labels, column.to_frame("other"))
        entry = indexed(described).loc[0, "other"]
        assert (entry.value.lower(), entry.number, entry.missing) == ("none", 0.93, 0)
        assert entry.overall_number == pytest.approx(0.865)
        assert "is missing" not in str(described)


def test_many_values_count_if_one_of_them_is_frequent(rng):
    cities = np.array([f"city {number}" for number in range(300)])
    labels = np.repeat([0, 1], 1000)
    where = cities[rng.integers(300, size=2000)]
    where[:1000] = np.where(rng.random(1000) < 0.8, "Berlin", where[:1000])
    found = indexed(describe(labels, pl.DataFrame({"city": where})))
    assert found.loc[0, "city"].value == "Berlin"
    assert found.loc[0, "city"].number == np.mean(where[:1000] == "Berlin")
    assert pd.isna(found.loc[1, "city"].value)
    assert np.isnan(found.loc[1, "city"].difference)


def test_dates_have_a_mean_date(table, labels):
    found = indexed(describe(labels, table))
    mean = table["since"][labels == 1].mean()
    entry = found.loc[1, "since"]
    assert (entry.kind, entry.value) == ("date", mean.strftime("%Y-%m-%d"))
    assert entry.number == pytest.approx((mean - pd.Timestamp(0)) / pd.Timedelta("1D"))
    assert entry.overall == table["since"].mean().strftime("%Y-%m-%d")


def test_dates_of_one_day_have_times():
    frame = pl.DataFrame({"at": [datetime(2026, 3, 1, hour) for hour in (8, 10, 18, 20)]})
    found = indexed(describe([0, 0, 1, 1], frame))
    assert found.loc[0, "at"].value == "2026-03-01 09:00"
    assert found.loc[1, "at"].value == "2026-03-01 19:00"


def test_columns_without_meaning_come_last(table, labels):
    described = describe(labels, table)
    found = indexed(described)
    for cluster in range(3):
        own = found.loc[cluster].sort_values("rank")
        assert set(own.index[-2:]) == {"nothing", "id"}
        assert np.isnan(own.loc["nothing"].number)
        assert pd.isna(own.loc["id"].value)
        assert (own.loc[["same", "currency"]].difference == 0).all()
        sizes = own.difference.abs().to_numpy()[:-2]
        assert (np.diff(sizes) <= 0).all()
        assert own["rank"].tolist() == list(range(1, 15))


@pytest.mark.parametrize("weighted", [False, True])
def test_gaps_are_a_column_of_their_own(table, labels, weighted, rng):
    table.loc[(labels == 1) & (rng.random(400) < 0.7), "region"] = None
    weights = rng.integers(1, 4, 400) if weighted else np.ones(400)
    found = indexed(describe(labels, table, sample_weight=weights))
    names = {column for _, column in found.index if column.endswith(" is missing")}
    assert names == {"gaps is missing", "region is missing"}
    for name in names:
        gap = table[name.removesuffix(" is missing")].isna()
        overall = np.average(gap, weights=weights)
        for cluster in range(3):
            entry, own = found.loc[cluster, name], labels == cluster
            fraction = weights[gap & own].sum() / weights[own].sum()
            assert (entry.kind, entry.statistic, entry.missing) == ("flag", "fraction", 0)
            assert entry.number == pytest.approx(fraction)
            assert entry.overall_number == pytest.approx(overall)
            assert entry.value == f"{100 * fraction:.0f} %"
            assert entry.lift == pytest.approx(fraction / overall)
            scale = np.sqrt(np.cov(gap, ddof=0, aweights=weights))
            assert entry.difference == pytest.approx((fraction - overall) / scale)


def test_gaps_are_sorted_among_the_others_and_told(table, labels):
    gap = labels == 1
    described = describe(labels, table.assign(age=np.where(gap, np.nan, 40 + table["size"])))
    assert described.top(1, 1)[0].column == "age is missing"
    percent = 100 * gap.mean()
    lines = [" ".join(line.split()) for line in str(described).splitlines()]
    assert f"age is missing 100 % all rows {percent:.0f} % lift {100 / percent:.2f}" in lines
    assert f"age is missing 0 % all rows {percent:.0f} % lift 0.00" in lines


def test_columns_are_categories_on_request(table, labels):
    count = table["count"].astype(str)
    for categorical in (["count"], ["c*t"]):
        found = indexed(describe(labels, table, categorical=categorical))
        for cluster in range(3):
            fractions = count[labels == cluster].value_counts(normalize=True)
            entry = found.loc[cluster, "count"]
            assert (entry.kind, entry.value) == ("category", fractions.index[0])
            assert entry.number == pytest.approx(fractions.iloc[0])
    with pytest.raises(ValueError, match=r"categorical.*'cuont'.*did you mean 'count'"):
        describe(labels, table, categorical=["cuont"])


def test_what_a_pipeline_takes_for_a_category_is_one():
    X = blobs()
    frame = pd.DataFrame({"x": X[:, 0], "y": X[:, 1], "code": 10 * (X[:, 0] > 5) + 7})
    steps = TableTransformer(categorical=["code"]), PowerKMeans(3, random_state=0)
    found = indexed(describe(make_pipeline(*steps).fit(frame), frame))
    assert set(found.xs("code", level="column")["value"]) == {"7", "17"}


def test_weights_are_rows_repeated(table, labels, rng):
    weights = rng.integers(0, 4, 400)
    repeated = np.repeat(np.arange(400), weights)
    weighted = describe(labels, table, sample_weight=weights)
    plain = describe(labels[repeated], table.iloc[repeated].reset_index(drop=True))
    one, two = indexed(weighted), indexed(plain)
    # Other copies of a row are no identifiers, and columns of equal difference change places.
    names = [name for name in table if name != "id"]
    for cluster in range(3):
        for name in names:
            left, right = (found.loc[cluster, name] for found in (one, two))
            assert (left.value, left.overall) == (right.value, right.overall)
            for key in ("number", "overall_number", "difference", "lift", "missing"):
                assert left[key] == pytest.approx(right[key], nan_ok=True, abs=1e-12)
    assert weighted.clusters["weight"].tolist() == plain.clusters["size"].tolist()
    np.testing.assert_allclose(weighted.clusters["fraction"], plain.clusters["fraction"])
    assert weighted.clusters["size"].tolist() == np.bincount(labels).tolist()
    assert "weight" in str(weighted)
    assert "weight" not in str(plain)


def test_frames_are_of_the_library_of_the_table(table, labels):
    described = describe(labels, pl.from_pandas(table))
    assert isinstance(described.columns, pl.DataFrame)
    assert isinstance(described.clusters, pl.DataFrame)
    one, two = indexed(described), indexed(describe(labels, table))
    pd.testing.assert_frame_equal(one, two, check_dtype=False)
    array = describe(labels, table[["size", "gaps"]].to_numpy())
    assert isinstance(array.columns, pd.DataFrame)
    names = {"0": "size", "1": "gaps", "1 is missing": "gaps is missing"}
    for _, entry in array.columns.iterrows():
        assert entry.number == two.loc[entry.cluster, names[entry.column]].number


def test_arrays_have_polars_frames_if_pandas_is_not_there(table, labels, monkeypatch):
    from kernelmeans.profiles import description

    monkeypatch.setattr(description, "find_spec", lambda name: None)
    assert isinstance(describe(labels, table[["size"]].to_numpy()).columns, pl.DataFrame)


@pytest.mark.parametrize(
    "form",
    [
        lambda labels: np.where(labels == 1, -1, labels),
        lambda labels: np.where(labels == 1, np.nan, labels),
        lambda labels: pl.Series([None if label == 1 else label for label in labels]),
        lambda labels: pd.Series(labels, dtype="Int64").mask(labels == 1),
        lambda labels: ["" if label == 1 else str(label) for label in labels],
        lambda labels: [None if label == 1 else str(label) for label in labels],
        lambda labels: pd.Categorical(np.where(labels == 1, -1, labels)).rename_categories(str),
    ],
    ids=["-1", "nan", "polars", "pandas", "empty", "None", "-1 as text"],
)
def test_rows_without_a_cluster_are_left_out(table, labels, form):
    described = describe(form(labels), table)
    placed = labels != 1
    plain = describe(labels[placed], table[placed].reset_index(drop=True))
    assert described.n_unplaced == (~placed).sum()
    assert [str(name) for name in described.clusters["cluster"]] == ["0", "2"]
    ours, theirs = (frame.columns.drop(columns="cluster") for frame in (described, plain))
    pd.testing.assert_frame_equal(ours, theirs)
    assert str(described).startswith(f"{placed.sum()} of 400 rows in 2 clusters\n")
    assert f"{(~placed).sum()} rows without a cluster" in str(described)


def test_numbers_as_text_are_in_the_order_of_the_numbers(rng):
    labels = rng.permutation(np.repeat(np.arange(12), 20))
    table = pd.DataFrame({"x": labels + 0.1 * rng.normal(size=240)})
    as_text = describe(pd.Categorical(labels).rename_categories(str), table)
    expected = describe(labels, table)
    assert as_text.clusters["cluster"].tolist() == list(map(str, range(12)))
    assert str(as_text) == str(expected)


def test_one_cluster_has_no_difference(table):
    described = describe(np.zeros(400), table)
    assert (described.columns["difference"].dropna().abs() < 1e-12).all()
    assert described.clusters["cluster"].tolist() == [0]
    assert described.top(0) == []
    assert "no column differs" in str(described)


def blobs():
    X, _ = make_blobs(300, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)
    return X


@pytest.mark.parametrize("kernel", ["heat", "rbf"])
def test_typical_rows_are_nearest_to_the_centroid(kernel):
    X = blobs()
    model = KernelPowerKMeans(3, kernel=kernel, random_state=0).fit(X)
    distances, labels = model.transform(X), model.labels_
    for record in describe(model, X, max_rows=4).records:
        rows = np.flatnonzero(labels == record.cluster)
        assert record.size == len(rows)
        own = distances[rows, record.cluster]
        others = np.delete(distances[rows], record.cluster, axis=1).min(axis=1)
        # Each blob is a piece of the graph, whose rows are equally near.
        nearest = () if kernel == "heat" else rows[np.argsort(own)[:4]]
        assert set(record.typical_rows) == set(nearest)
        gaps = others - own
        near = np.flatnonzero(gaps < 0.1 * own)
        assert set(record.border_rows) == set(rows[near[np.argsort(gaps[near])[:4]]])


def test_blocks_of_rows_are_put_together(monkeypatch):
    from kernelmeans.profiles import rows

    X = blobs()
    model = PowerKMeans(3, random_state=0).fit(X)
    whole = describe(model, X)
    monkeypatch.setattr(rows, "_BLOCK", 70)
    assert describe(model, X).records == whole.records


def test_estimators_pipelines_and_searches_are_described_alike():
    X = StandardScaler().fit_transform(blobs())
    model = KernelPowerKMeans(3, kernel="rbf", random_state=0)
    alone = describe(model.fit(X), X)
    piped = describe(make_pipeline(StandardScaler(), clone(model)).fit(X), X)
    search = ClusterSearch(clone(model), {"n_clusters": [3]}, n_splits=2)
    searched = describe(search.fit(X), X)
    assert alone.records == searched.records
    assert [record.size for record in piped.records] == [record.size for record in alone.records]
    assert piped.entries == alone.entries
    assert all(len(record.typical_rows) == 3 for record in piped.records)


def test_the_raw_table_may_have_other_columns():
    X = blobs()
    frame = pl.DataFrame(X, schema=["x", "y"]).with_columns(color=pl.lit("red"))
    model = KernelPowerKMeans(3, random_state=0).fit(X[:200])
    described = describe(model, frame[:200])
    # The columns have other names.
    unnamed, array = (
        [one._replace(apart=()) for one in found.records]
        for found in (described, describe(model, X[:200]))
    )
    assert unnamed == array
    assert set(described.columns["column"]) == {"x", "y", "color"}
    with pytest.raises(ValueError, match="200 rows have labels, but the table has 300"):
        describe(model, frame)
    # As many rows as in the fit, but others.
    others = describe(model, frame[100:], X=X[100:])
    assert others.entries == describe(model.predict(X[100:]), frame[100:]).entries
    assert [one._replace(apart=()) for one in others.records] == [
        one._replace(apart=()) for one in describe(model, X[100:]).records
    ]
    assert others.records != described.records


@pytest.mark.parametrize("parameters", [{"density": 0, "t": "states"}, {"kernel": "rbf"}])
def test_distances_of_the_fit_are_those_of_transform(parameters):
    X = np.random.default_rng(0).random((300, 2))  # one piece, so that there are borders
    model = KernelPowerKMeans(3, random_state=0, **parameters).fit(X)
    kept = describe(model, X, max_rows=1)
    del model.distances_
    computed = describe(model, X, max_rows=1)
    for one, two in zip(kept.records, computed.records, strict=True):
        for rows, others in (
            (one.typical_rows, two.typical_rows),
            (one.border_rows, two.border_rows),
        ):
            distances = model.transform(X[[*rows, *others]])
            np.testing.assert_allclose(distances[0], distances[1], rtol=1e-6)


def test_rows_without_a_direction_are_told_by_the_fit_alone():
    X = np.vstack([blobs(), np.zeros((2, 2))])
    with pytest.warns(UserWarning, match="2 of 302 rows are zero"):
        model = KernelPowerKMeans(3, metric="cosine", random_state=0).fit(X)
    assert len(describe(model, X).records) == 3  # a warning would be an error
    with pytest.warns(UserWarning, match="2 of 152 rows are zero"):
        describe(model, X[150:])


def test_new_rows_are_placed_first():
    X = blobs()
    model = KernelPowerKMeans(3, random_state=0).fit(X[::2])
    described = describe(model, X)
    assert described.entries == describe(model.predict(X), X).entries
    some = describe(model, X[model.predict(X) == 1])
    assert [record.size for record in some.records] == [0, 100, 0]


def test_kernel_matrices_need_the_table_beside_them():
    X = blobs()
    K = X @ X.T
    model = KernelPowerKMeans(3, kernel="precomputed", random_state=0).fit(K)
    described = describe(model, X, X=K)
    linear = KernelPowerKMeans(3, kernel="linear", random_state=0).fit(X)
    assert [record.size for record in described.records] == [100, 100, 100]
    assert described.records[0].typical_rows is not None
    assert {record.typical_rows for record in described.records} == {
        record.typical_rows for record in describe(linear, X).records
    }


def test_other_clusterers_of_scikit_learn():
    X = blobs()
    model = KMeans(3, random_state=0).fit(X)
    described = describe(model, X)
    nearest = pairwise_distances(model.cluster_centers_, X).argmin(axis=1)
    assert [record.typical_rows[0] for record in described.records] == nearest.tolist()
    model = DBSCAN(eps=0.5).fit(X)
    described = describe(model, X)
    assert described.n_unplaced == (model.labels_ == -1).sum() > 0
    assert described.records[0].typical_rows is None
    model = AgglomerativeClustering(3, compute_distances=True).fit(X)
    described = describe(model, X)
    assert [record.size for record in described.records] == np.bincount(model.labels_).tolist()
    assert described.records[0].typical_rows is None


@pytest.mark.usefixtures("short_searches")
def test_a_search_without_clusters_has_one(rng):
    X = rng.normal(size=(200, 2))
    search = ClusterSearch(KernelPowerKMeans(), {"n_clusters": [2, 3]}, n_splits=5, random_state=0)
    search.fit(X)
    assert search.best_estimator_ is None
    assert [record.size for record in describe(search, X).records] == [200]


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (([0, 1, 1], np.ones((4, 1))), ValueError, "3 rows have labels, but the table has 4 rows"),
        (([[0], [1]], np.ones((2, 1))), ValueError, r"labels of shape \(2, 1\)"),
        (([-1, -1], np.ones((2, 1))), ValueError, "no row of positive weight"),
        (([0, 1], ["a text", "another"]), ValueError, r"^X has one dimension.*table, X=X\)"),
        (([0, 1], pd.Series(["a text", "another"])), ValueError, "^X has one dimension"),
        (([0, 1], "data.csv"), TypeError, r"^X='data.csv' holds no rows; .*read_table"),
        (([0, 1], None), TypeError, "^X=None holds no rows"),
        ((KernelPowerKMeans(2), np.ones((2, 1))), NotFittedError, "not fitted"),
        ((np.ones((2, 1)), KernelPowerKMeans(2)), TypeError, "the model comes first"),
        (([0, 1], scipy.sparse.eye_array(2)), TypeError, "a sparse matrix of 2 columns without"),
    ],
)
def test_refusals(arguments, error, message):
    with pytest.raises(error, match=message):
        describe(*arguments)


def test_a_model_of_a_file_is_refused_in_words():
    X = load_iris().data
    model = Model.of(KernelPowerKMeans(3, random_state=0).fit(X))
    with pytest.raises(TypeError, match=r"=Model should be .* such as that of a Model"):
        describe(model, X)


def test_negative_weights_are_refused():
    with pytest.raises(ValueError, match=r"(?i)negative"):
        describe([0, 1], np.ones((2, 1)), sample_weight=[1, -1])


@pytest.mark.parametrize(
    ("size", "filled", "told"),
    [(60, 4, False), (60, 5, True), (200, 9, False), (200, 10, True), (8, 3, False), (8, 4, True)],
)
@pytest.mark.parametrize("is_number", [True, False])
def test_few_filled_rows_say_nothing_of_a_cluster(size, filled, told, is_number):
    labels = np.repeat([0, 1], [size, 100])
    values = np.where(labels, 1.0, 7.0) + 0.01 * np.arange(len(labels)) % 0.5
    values[filled:size] = np.nan
    if not is_number:
        # The table has the value in more rows.
        other = labels & (np.arange(len(labels)) % 10 > 0)
        values = pd.Series(np.where(other, "a", "b")).where(~np.isnan(values))
    described = describe(labels, pd.DataFrame({"x": values, "y": np.ones(len(labels))}))
    entry = indexed(described).loc[(0, "x")]
    assert pd.notna(entry["value"]) == np.isfinite(entry["difference"]) == told
    if is_number:
        assert ("x" in [one.column for one in described.top(0)]) == told
    assert entry["missing"] == pytest.approx(1 - filled / size)


def test_the_most_telling_columns_are_told_once():
    labels = np.repeat([0, 1], 50)
    x = np.arange(100.0)
    frame = pd.DataFrame({"x": x, "copy": x, "flat": np.tile([0.0, 1.0], 50)})
    assert [entry.column for entry in describe(labels, frame).top(0)] == ["x"]
    assert len(describe(labels, frame).columns) == 6


def test_the_dict_is_json(table, labels):
    described = describe(labels, table)
    whole = json.loads(json.dumps(described.to_dict(), allow_nan=False))
    assert [len(one["columns"]) for one in whole["clusters"]] == [14] * 3
    top = described.to_dict(most=1)["clusters"][0]["columns"]
    assert [one["column"] for one in top] == [entry.column for entry in described.top(0, 1)]


class Counted(tuple):
    """Counts how often an item is looked at."""

    looks = 0

    def __iter__(self):
        for item in super().__iter__():
            self.looks += 1
            yield item


@pytest.mark.parametrize("told", [Description.text, lambda one: one.to_dict(most=5)])
def test_each_entry_is_looked_at_once_however_many_clusters_there_are(rng, told):
    described = describe(np.arange(600) % 60, rng.normal(size=(600, 4)))
    entries, records = Counted(described.entries), Counted(described.records)
    again = replace(described, entries=entries, records=records)
    assert told(again) == told(described)
    assert entries.looks == 60 * 4
    assert records.looks <= 5 * 60


@pytest.mark.parametrize("load", [load_iris, load_wine, load_digits])
def test_the_text_fits_80_columns(load):
    data = load(as_frame=True)
    text = str(describe(data.target, data.data))
    assert max(map(len, text.splitlines())) <= 80
    # Each line of a column holds its name and its mean.
    iris = load_iris(as_frame=True)
    mean = iris.data["petal width (cm)"][iris.target == 2].mean()
    assert f"petal width (cm)   mean {mean:.2f}" in str(describe(iris.target, iris.data))


def test_long_names_and_values_are_shortened():
    labels = np.repeat([0, 1], 50)
    frame = pl.DataFrame(
        {
            "n" * 200: np.where(labels, "a" * 300, "b" * 300),
            "m" * 200: pl.Series(np.where(labels, 1.0, np.nan)).fill_nan(None),
            "day": [date(2020, 1, 1)] * 100,
        }
    )
    text = str(describe(labels, frame))
    assert max(map(len, text.splitlines())) <= 80
    assert "nnnnn…nnnnn" in text
    assert "…mmmmm is missing" in text
    assert "100 %" in text


def test_line_breaks_in_names_and_values_are_blanks():
    kinds = np.repeat(["new\nones", "old"], 50)
    text = str(describe(kinds == "old", pl.DataFrame({"kind\r\nof row": kinds})))
    assert "  kind of row  new ones 100 %  all rows 50 %  lift 2.00\n" in text


def test_border_rows_are_near_a_border():
    x = np.r_[np.zeros(20), 0.49, np.ones(20)][:, None]
    model = KernelPowerKMeans(2, kernel="linear", random_state=0).fit(x)
    borders = {record.border_rows for record in describe(model, x).records}
    assert borders == {(20,), ()}


def test_no_number_is_minus_zero():
    x = np.r_[np.full(50, -1.0), np.full(50, 1.0), np.full(50, -1e-9), np.full(50, 5.0)]
    described = describe(np.repeat([0, 0, 1, 2], 50), x[:, None])
    values = [entry.value for entry in described.entries if entry.cluster == 1]
    assert values == ["0.0"]


def test_numbers_whose_variance_overflows_are_shown():
    x = np.array([1.0] * 7 + [1e300])
    described = describe([0] * 6 + [1, 1], x[:, None])
    entry = described.entries[-1]
    assert entry.value == "5e+299"
    # The same differences as in other units.
    smaller = describe([0] * 6 + [1, 1], x[:, None] / 2.0**900).entries[-1]
    assert entry.difference == pytest.approx(smaller.difference)
    assert entry.difference > 0.5


def test_numbers_in_text_are_read_as_the_model_has_read_them():
    """Alone, the column could be of thousands."""
    weights = [5.125, 5.25, 5.375, 90.125, 90.25, 90.375] * 5
    table = pd.DataFrame(
        {
            "weight": [f"{weight:.3f}".replace(".", ",") for weight in weights],
            "height": [f"{1 + weight / 100:.2f}".replace(".", ",") for weight in weights],
        }
    )
    model = make_pipeline(TableTransformer(), KernelPowerKMeans(2, random_state=0)).fit(table)
    described = describe(model, table).columns
    means = described[described["column"] == "weight"].set_index("cluster")["number"]
    assert sorted(means) == pytest.approx([5.25, 90.25])


def test_no_row_of_a_piece_is_more_typical_than_others():
    """Within a piece that a heat kernel sees as one point all rows are equally near."""
    labels = np.repeat([0, 1], 20)
    for values, expected in ((np.zeros(40), [(), ()]), (np.arange(40.0), [(0, 1), (20, 21)])):
        assert first_of_each(values, labels, 2, 2) == expected
    assert first_of_each(np.zeros(3), np.array([0, 0, 1]), 2, 3) == [(0, 1), (2,)]


def test_a_search_is_described_as_its_best_pipeline(rng):
    labels = np.repeat([0, 1], 60)
    table = pd.DataFrame({"money": rng.lognormal(4.0 * labels, 0.5), "grade": 3 * labels + 1})
    prepare = TableTransformer(categorical=["grade"])
    grid = {"kernelpowerkmeans__n_clusters": [2]}
    pipeline = make_pipeline(prepare, KernelPowerKMeans(random_state=0))
    search = ClusterSearch(pipeline, grid, n_splits=2, random_state=0).fit(table)
    found = describe(search, table).columns
    assert {"log mean", "most frequent"} <= set(found["statistic"])
    pd.testing.assert_frame_equal(found, describe(search.best_estimator_, table).columns)


def test_rings_have_a_picture_instead_of_averages():
    X, y = make_circles(300, factor=0.4, noise=0.05, random_state=0)
    remark = "differ in the spread of columns, but not in averages"
    assert remark in str(describe(y, X))
    others = X[:, 0] > 0, np.zeros(300, int), np.random.default_rng(0).permutation(y)
    assert not any(remark in str(describe(labels, X)) for labels in others)
    assert remark not in str(describe(y, np.ones((300, 1))))
    assert remark not in str(describe(y, pd.DataFrame({"c": ["a", "b"] * 150})))


def test_a_column_may_be_called_fit():
    frame = pd.DataFrame({"fit": [0.0, 0.1, 5.0, 5.1]})
    assert describe([0, 0, 1, 1], frame).top(0)[0].column == "fit"
