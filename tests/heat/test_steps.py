"""Yes/no columns in which yes or no is rare."""

import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits, make_blobs
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler

from kernelmeans import KernelPowerKMeans
from kernelmeans.heat import HeatKernel
from kernelmeans.heat.neighbors import DistinctRows, NearestRows
from kernelmeans.heat.steps import evened


def answers(n_kinds, n_columns, n, seed, *, mistaken=0.1):
    """Yes or no of kinds that differ in a third of the columns or more, some of them mistaken."""
    rng = np.random.default_rng(seed)
    while True:
        typical = rng.random((n_kinds, n_columns)) < 0.5
        apart = (typical[:, None] != typical).sum(axis=2)[~np.eye(n_kinds, dtype=bool)]
        if apart.min() >= n_columns // 3:
            break
    y = np.arange(n) % n_kinds
    X = (typical[y] ^ (rng.random((n, n_columns)) < mistaken)).astype(float)
    return StandardScaler().fit_transform(X), y


def agreement(X, y):
    labels = KernelPowerKMeans(len(set(y)), random_state=0).fit_predict(X)
    return adjusted_rand_score(y, labels)


def sought(X, weight=None):
    return evened(DistinctRows.of(X, weight, "euclidean").nearest, X, weight).rows


@pytest.mark.parametrize(
    ("n_kinds", "n_columns", "n"), [(2, 10, 1000), (2, 12, 300), (3, 12, 400), (4, 16, 600)]
)
def test_kinds_of_answers_are_found(n_kinds, n_columns, n):
    scores, rival = [], []
    for seed in range(6):
        X, y = answers(n_kinds, n_columns, n, seed)
        scores.append(agreement(X, y))
        kmeans = KMeans(n_kinds, n_init=10, random_state=0).fit_predict(X)
        rival.append(adjusted_rand_score(y, kmeans))
    # Without shorter steps the means are 0.17, 0.23, 0.29 and 0.86.
    assert np.mean(scores) > np.mean(rival) - 0.1
    assert np.mean(scores) > 0.85


def test_rare_answers_beside_numbers_cut_no_cluster():
    rng = np.random.default_rng(0)
    y = np.arange(400) % 2
    numbers = 4.0 * y[:, None] + rng.standard_normal((400, 2))
    X = StandardScaler().fit_transform(np.c_[numbers, rng.random((400, 4)) < 0.1])
    assert agreement(X, y) > 0.8


@pytest.mark.parametrize("shares", [(0.5, 0.3, 0.2), (0.1, 0.1, 0.1)])
def test_flags_of_chance_do_not_hide_clusters(shares):
    X, y = make_blobs(150, centers=[[0, 0, 0], [10, 0, 0], [0, 10, 0]], random_state=0)
    scores = []
    for seed in range(8):
        chance = np.random.default_rng(seed).random((150, 3)) < shares
        scores.append(agreement(StandardScaler().fit_transform(np.c_[X, chance]), y))
    # Without noise on columns whose steps are shorter, 0.78; with long steps and rare flags, 0.7.
    assert np.mean(scores) > 0.93


def test_steps_are_those_of_the_shortest_or_two_deviations_of_numbers():
    rng = np.random.default_rng(0)
    flags = 5.0 * (np.arange(1000)[:, None] % [2, 10, 50] == 0)
    X = StandardScaler().fit_transform(flags)
    assert_allclose(np.ptp(sought(X), axis=0), 2)
    X = np.c_[flags[:, 1:] / flags[:, 1:].std(axis=0), 0.7 * rng.standard_normal((1000, 3))]
    # Two deviations of a column of its own, 2, are more than those of numbers, 1.4.
    assert_allclose(np.ptp(sought(X), axis=0)[:2], 2, rtol=0.01)
    X[:, :2] *= 0.1
    assert_allclose(np.ptp(sought(X), axis=0)[:2], 1 / 3)


def test_columns_of_one_unit_are_as_they_were():
    X = (np.random.default_rng(0).random((300, 8)) < np.linspace(0.05, 0.6, 8)).astype(float)
    for rows in (X, np.c_[X, np.random.default_rng(1).standard_normal((300, 2))]):
        nearest = NearestRows(rows, "euclidean")
        assert evened(nearest, rows) is nearest


def test_a_column_that_is_meant_to_count_does():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 400)
    X = np.c_[6.0 * y, rng.standard_normal((400, 2))]
    assert np.ptp(sought(X)[:, 0]) == pytest.approx(6, rel=0.02)
    assert agreement(X, y) > 0.95


def test_other_tables_are_as_they_were():
    X, _ = load_digits(return_X_y=True)
    rare, _ = answers(2, 12, 300, 0)
    assert len(sought(rare)) < 300
    for rows, metric in (
        (X, "euclidean"),
        (rare, "cosine"),
        (scipy.sparse.csr_array(rare), "euclidean"),
    ):
        nearest = NearestRows(rows, metric)
        assert evened(nearest, rows) is nearest


def test_weight_two_is_the_row_twice_and_units_and_order_do_not_matter():
    X, _ = answers(3, 9, 250, 1)
    weight = 1.0 + np.random.default_rng(0).integers(0, 3, len(X))
    order = np.random.default_rng(1).permutation(len(X))
    one = HeatKernel().fit(X, weight, n_clusters=3).features(X)
    for rows, given in (
        (np.repeat(X, weight.astype(int), axis=0), None),
        (X, 0.3 * weight),
        (X[order], 0.7 * weight[order]),
    ):
        assert_array_equal(HeatKernel().fit(rows, given, n_clusters=3).features(X), one)


def test_frequent_and_rare_count_all_rows_by_their_weights():
    X = StandardScaler().fit_transform(np.c_[np.arange(400) % 2, np.arange(400) < 40])
    X = np.c_[X, np.random.default_rng(0).standard_normal((400, 1))]
    assert_allclose(np.ptp(sought(X)[:, 1]), 2, rtol=0.05)
    # If yes and no weigh the same, the column varies as much as its step says.
    weight = np.where(np.arange(400) < 40, 9.0, 1.0)
    assert_allclose(np.ptp(sought(X, weight)[:, 1]), np.ptp(X[:, 1]), rtol=0.01)


def test_training_rows_are_predicted_as_fitted():
    X, _ = answers(3, 12, 400, 0)
    model = KernelPowerKMeans(3, random_state=0).fit(X)
    assert_array_equal(model.predict(X), model.labels_)
    assert_array_equal(model.predict(X[::-7]), model.labels_[::-7])


@pytest.mark.parametrize("scale", [1e-300, 1e-3, 1e300])
@pytest.mark.parametrize("n_numbers", [0, 2])
def test_units_of_the_table_do_not_matter(scale, n_numbers):
    X, _ = answers(2, 8, 300, 0)
    X = np.c_[X, np.random.default_rng(0).standard_normal((300, n_numbers))]
    X /= np.abs(X).max()
    nearest = NearestRows(X, "euclidean")
    moved = evened(NearestRows(X * scale, "euclidean"), X * scale).rows
    assert_allclose(moved / scale, evened(nearest, X).rows, rtol=1e-9)
