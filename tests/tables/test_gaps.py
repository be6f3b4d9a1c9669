"""Gaps in numbers: what fills them, and that clusters stay."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_blobs
from sklearn.impute import KNNImputer
from sklearn.metrics import adjusted_rand_score
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


@pytest.mark.parametrize("scale", [1.0, 1e-150, 1e300])
def test_complete_rows_fill_gaps_as_in_scikit_learn(scale):
    Z, donors = rows_with_gaps(), np.random.default_rng(1).normal(size=(60, 5))
    imputer = KNNImputer(n_neighbors=NEIGHBORS).fit(donors)
    assert_allclose(filled(Z * scale, donors * scale), imputer.transform(Z) * scale)


def test_donors_fill_each_other_as_in_scikit_learn():
    Z = rows_with_gaps()
    expected = KNNImputer(n_neighbors=NEIGHBORS).fit_transform(Z)
    donors = all_donors(Z)
    assert_allclose(donors[np.argsort(donors[:, 0])], expected[np.argsort(expected[:, 0])])


def test_known_numbers_stay():
    Z = rows_with_gaps()
    known = ~np.isnan(Z)
    assert_array_equal(filled(Z, all_donors(Z))[known], Z[known])


def test_all_rows_as_near_as_the_fifth_count():
    donors = np.column_stack([[0.0] * 4 + [1.0] * 3 + [9.0], np.arange(8.0)])
    order = np.random.default_rng(0).permutation(8)
    for rows in (donors, donors[order]):
        assert filled(np.array([[0.0, np.nan]]), rows)[0, 1] == np.arange(7).mean()


def test_a_row_of_gaps_gets_the_means():
    donors = np.random.default_rng(0).normal(size=(30, 3))
    assert_allclose(filled(np.full((1, 3), np.nan), donors)[0], donors.mean(axis=0))


def test_a_row_far_from_all_gets_the_means():
    donors = np.random.default_rng(0).normal(size=(30, 2))
    assert_allclose(filled(np.array([[1e300, np.nan]]), donors)[0, 1], donors[:, 1].mean())


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


def test_donors_are_rows_that_count_and_have_a_number_in_each_column():
    Z = rows_with_gaps(5000, 3)
    kept = np.random.default_rng(3).random(len(Z)) < 0.5
    rare = np.full((len(Z), 1), np.nan)
    rare[np.flatnonzero(kept)[:3]] = 7.0
    donors = donors_of(np.hstack([Z, rare]), kept)
    assert DONORS < len(donors) <= DONORS + 3
    assert_array_equal(donors[:, 3], 7)
    of_others = np.hstack([Z, rare])[~kept]
    complete = of_others[~np.isnan(of_others[:, :3]).any(axis=1), :3]
    assert not np.isin(complete[:, 0], donors[:, 0]).any()


def test_wide_rows_have_fewer_donors():
    Z = np.zeros((300, gaps.NUMBERS // 100))
    assert len(all_donors(Z)) == 100


def clusters_with_gaps(seed):
    X, y = make_blobs(600, 4, centers=4, center_box=(-12, 12), random_state=seed)
    lacks = np.random.default_rng(seed).random(X.shape) < 0.15
    lacks[lacks.all(axis=1), 0] = False
    return pd.DataFrame(np.where(lacks, np.nan, X), columns=list("abcd")), y


@pytest.mark.parametrize("seed", range(4))
def test_clusters_stay_clusters(seed):
    frame, y = clusters_with_gaps(seed)
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
