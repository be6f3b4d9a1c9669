"""Gaps in numbers: what fills them, and that clusters stay."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score
from sklearn.metrics.pairwise import nan_euclidean_distances
from sklearn.pipeline import make_pipeline

from kernelmeans import ClusterSearch, KernelPowerKMeans
from kernelmeans.tables import TableTransformer, gaps
from kernelmeans.tables.gaps import DONORS, NEIGHBORS, donors_of, fill


def rows_with_gaps(n_rows=80, n_columns=5, fraction=0.3, seed=0):
    """Normal rows, each with at least one number."""
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(n_rows, n_columns))
    Z[rng.random(Z.shape) < fraction] = np.nan
    Z[np.isnan(Z).all(axis=1), 0] = 0.5
    return Z


def filled(Z, donors):
    Z = Z.copy()
    fill(Z, donors)
    return Z


def all_donors(Z):
    return donors_of(Z, np.ones(len(Z), bool))


def by_definition(Z, donors):
    """Medians of the five nearest donors that have a number, by distances of scikit-learn."""
    distances, expected = nan_euclidean_distances(Z, donors), Z.copy()
    for row, column in np.argwhere(np.isnan(Z)):
        known = np.flatnonzero(~np.isnan(donors[:, column]))
        near = known[np.argsort(distances[row, known])[:NEIGHBORS]]
        expected[row, column] = np.median(donors[near, column])
    return expected


@pytest.mark.parametrize("scale", [1.0, 1e-150, 1e300])
def test_gaps_are_medians_of_the_nearest(scale):
    Z, donors = rows_with_gaps(), np.random.default_rng(1).normal(size=(60, 5))
    assert_allclose(filled(Z * scale, donors * scale), by_definition(Z, donors) * scale)


def test_small_differences_of_large_numbers_count():
    Z, donors = rows_with_gaps(), np.random.default_rng(1).normal(size=(60, 5))
    away = 1e9 * np.arange(5)
    assert_allclose(filled(Z + away, donors + away), by_definition(Z, donors) + away)


def test_donors_fill_each_other():
    Z = rows_with_gaps()
    expected = by_definition(Z, Z)
    assert_array_equal(np.unique(all_donors(Z), axis=0), np.unique(expected, axis=0))


def test_known_numbers_stay():
    Z = rows_with_gaps()
    known = ~np.isnan(Z)
    assert_array_equal(filled(Z, all_donors(Z))[known], Z[known])


def test_a_gap_gets_a_value_of_the_column():
    rng = np.random.default_rng(0)
    Z = np.column_stack([rng.normal(size=400), rng.integers(0, 2, 400), rng.integers(1, 6, 400)])
    lacks = rng.random(Z.shape) < [0, 0.2, 0.2]
    Z[lacks] = np.nan
    complete = filled(Z, all_donors(Z))
    assert set(complete[:, 1]) == {0, 1}
    assert set(complete[:, 2]) == {1, 2, 3, 4, 5}


@pytest.mark.parametrize("row", [[np.nan, np.nan], [1e300, np.nan]], ids=["empty", "far"])
def test_a_row_that_is_near_none_gets_the_medians(row):
    donors = np.random.default_rng(0).normal(size=(31, 2))
    assert filled(np.array([row]), donors)[0, 1] == np.median(donors[:, 1])


def test_a_row_gets_the_same_to_the_bit_in_any_block(monkeypatch):
    Z = rows_with_gaps(200, 7)
    donors = all_donors(Z)
    together = filled(Z, donors)
    assert_array_equal(np.vstack([filled(row[None], donors) for row in Z]), together)
    monkeypatch.setattr(gaps, "PAIRS", 3 * len(donors))
    assert_array_equal(filled(Z, donors), together)


def test_donors_do_not_depend_on_the_order_of_rows():
    Z = rows_with_gaps(3000)
    order = np.random.default_rng(2).permutation(len(Z))
    assert_array_equal(all_donors(Z[order]), all_donors(Z))
    assert len(all_donors(Z)) == DONORS


def test_donors_are_rows_that_count_and_have_a_number_in_each_column(monkeypatch):
    monkeypatch.setattr(gaps, "DONORS", 10)
    Z = rows_with_gaps(5000, 3)
    kept = np.random.default_rng(3).random(len(Z)) < 0.5
    rare = np.full((len(Z), 1), np.nan)
    rare[np.flatnonzero(kept)[:3]] = 7.0
    donors = donors_of(np.hstack([Z, rare]), kept)
    assert len(donors) == 13
    assert_array_equal(donors[:, 3], 7)
    of_others = np.hstack([Z, rare])[~kept]
    complete = of_others[~np.isnan(of_others[:, :3]).any(axis=1), :3]
    assert not np.isin(complete[:, 0], donors[:, 0]).any()


def test_repeated_rows_are_donors_as_often_as_they_are_rows():
    rng = np.random.default_rng(0)
    answers = rng.choice([1.0, 2.0, 3.0], (20_000, 1), p=[0.6, 0.3, 0.1])
    donors = all_donors(np.hstack([answers, answers]))
    assert len(donors) == DONORS
    assert_allclose([(donors[:, 0] == one).mean() for one in (1, 2, 3)], [0.6, 0.3, 0.1], atol=0.05)


def test_wide_rows_have_fewer_donors():
    Z = np.zeros((300, gaps.NUMBERS // 100))
    assert len(all_donors(Z)) == 100


def clusters_with_gaps(seed, n_rows=600):
    X, y = make_blobs(n_rows, 4, centers=4, center_box=(-12, 12), random_state=seed)
    lacks = np.random.default_rng(seed).random(X.shape) < 0.15
    lacks[lacks.all(axis=1), 0] = False
    return pd.DataFrame(np.where(lacks, np.nan, X), columns=list("abcd")), y


@pytest.mark.parametrize(("seed", "n_rows"), [(0, 600), (1, 600), (2, 600), (0, 3000)])
def test_clusters_stay_clusters(seed, n_rows):
    frame, y = clusters_with_gaps(seed, n_rows)
    model = make_pipeline(TableTransformer(), KernelPowerKMeans(4, random_state=0)).fit(frame)
    labels = model[-1].labels_
    assert adjusted_rand_score(y, labels) > 0.95
    assert_array_equal(model.predict(frame), labels)
    # Rows one by one.
    assert [model.predict(frame.iloc[[row]])[0] for row in range(9)] == labels[:9].tolist()


def test_a_transformer_fills_gaps_after_scaling():
    frame, _ = clusters_with_gaps(0)
    transformer = TableTransformer().fit(frame)
    Z = transformer.transform(frame)
    assert_array_equal(transformer.fit_transform(frame), Z)
    # By hand: scaled by what is known, with the columns that mark gaps.
    scaled = (frame - frame.mean()) / frame.std(ddof=0)
    marks = 0.5 * (frame.isna() - frame.isna().mean())
    by_hand = np.column_stack([part[name] for name in frame for part in (scaled, marks)])
    assert_allclose(Z, filled(by_hand, all_donors(by_hand)))


def test_few_gaps_in_a_column_of_chance_lose_no_clusters():
    X, y = make_blobs(2000, 3, centers=4, center_box=(-12, 12), random_state=0)
    rng = np.random.default_rng(0)
    coin = np.where(rng.random(2000) < 0.05, None, rng.choice(["yes", "no"], 2000))
    frame = pd.DataFrame(X, columns=list("abc")).assign(coin=coin)
    labels = make_pipeline(TableTransformer(), KernelPowerKMeans(4, random_state=0)).fit_predict(
        frame
    )
    assert adjusted_rand_score(y, labels) > 0.95


def test_another_order_of_rows_and_another_unit_change_rounding_alone():
    frame, _ = clusters_with_gaps(0, 4000)
    Z = TableTransformer().fit_transform(frame)
    order = np.random.default_rng(0).permutation(len(frame))
    assert_allclose(TableTransformer().fit_transform(frame.iloc[order]), Z[order], atol=1e-9)
    other = frame.assign(a=frame["a"] * 1e3)
    assert_allclose(TableTransformer().fit_transform(other), Z, atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("place", [slice(0, 300), slice(-300, None)], ids=["first", "last"])
def test_a_column_with_numbers_in_one_part_of_a_long_table(place):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(70_000, 2)), columns=["a", "b"]).assign(late=np.nan)
    late = rng.normal(3, 2, 300)
    frame.iloc[place, 2] = late
    transformer = TableTransformer().fit(frame)
    assert_allclose(transformer.scaler_.mean_[2], late.mean())
    assert_allclose(transformer.scaler_.scale_[2], late.std())
    assert np.isfinite(transformer.transform(frame[:50])).all()


@pytest.mark.parametrize("scale", [True, False])
def test_a_column_whose_numbers_have_weight_zero(scale):
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 3)), columns=list("abc"))
    frame.loc[10:, "a"] = np.nan
    weight = (np.arange(len(frame)) >= 10).astype(float)
    Z = TableTransformer(scale=scale).fit_transform(frame, sample_weight=weight)
    assert_array_equal(Z[10:, 0], 0)
    assert np.isfinite(Z).all()


def test_rows_of_weight_zero_fill_no_gaps():
    frame, _ = clusters_with_gaps(1)
    weight = (np.arange(len(frame)) % 2).astype(float)
    some = TableTransformer().fit(frame, sample_weight=weight)
    half = TableTransformer().fit(frame[1::2])
    assert_allclose(some.transform(frame), half.transform(frame))


def test_candidates_of_a_search_share_the_filling(monkeypatch):
    frame, _ = clusters_with_gaps(0)
    pipeline = make_pipeline(TableTransformer(), KernelPowerKMeans(kernel="rbf", n_init=1))
    filled, n_filled = gaps._filled, []

    def counted(rows, donors):
        n_filled.append(len(rows))
        return filled(rows, donors)

    monkeypatch.setattr(gaps, "_filled", counted)
    counts = []
    for most in (4, 6):
        grid = {"kernelpowerkmeans__n_clusters": range(3, most)}
        ClusterSearch(pipeline, grid, n_splits=2, random_state=0).fit(frame[:150])
        counts.append(len(n_filled))
        n_filled.clear()
    # Halves of the rows are filled once, whatever the number of candidates.
    assert counts[0] <= counts[1] <= counts[0] + 1


@pytest.mark.parametrize("missing", ["drop", "error"])
def test_nothing_is_kept_to_fill_gaps_that_are_not_filled(missing):
    frame, _ = clusters_with_gaps(0)
    assert TableTransformer(missing=missing).fit(frame.dropna())._donors is None
