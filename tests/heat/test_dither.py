"""Columns of few values that would tear the graph of neighbours."""

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kstest
from sklearn.datasets import load_digits, make_blobs
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler

from kernelmeans import KernelPowerKMeans
from kernelmeans.heat.dither import TORN, dithered, untorn, untorn_sample
from kernelmeans.heat.neighbors import NearestRows


def clusters(n, *, n_values, n_columns, seed=0):
    """Three clusters 10 standard deviations apart, and columns of chance; all of variance 1."""
    X, y = make_blobs(n, centers=[[0, 0, 0], [10, 0, 0], [0, 10, 0]], random_state=seed)
    chance = np.random.default_rng(seed).integers(0, n_values, (n, n_columns))
    return StandardScaler().fit_transform(np.column_stack([X, chance])), y


@pytest.mark.parametrize(("approximation", "least"), [(None, 1), ("landmarks", 0.9)])
@pytest.mark.parametrize("n_values", [2, 3])
@pytest.mark.parametrize("n", [150, 600, 2000])
def test_columns_of_chance_do_not_hide_clusters(n, n_values, approximation, least):
    for seed in range(3):
        X, y = clusters(n, n_values=n_values, n_columns=2, seed=seed)
        model = KernelPowerKMeans(3, approximation=approximation, random_state=0).fit(X)
        assert adjusted_rand_score(y, model.labels_) >= least
        new, truth = clusters(300, n_values=n_values, n_columns=2, seed=seed + 100)
        assert adjusted_rand_score(truth, model.predict(new)) > 0.9
        np.testing.assert_array_equal(model.predict(X), model.labels_)


def test_a_column_that_is_the_clusters_keeps_them():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 400)
    X = np.column_stack([6.0 * y, rng.standard_normal((400, 2))])
    labels = KernelPowerKMeans(2, random_state=0).fit(X).labels_
    assert adjusted_rand_score(y, labels) > 0.95


def test_permuted_rows_have_permuted_labels():
    X, _ = clusters(300, n_values=2, n_columns=1)
    order = np.random.default_rng(0).permutation(len(X))
    labels = KernelPowerKMeans(3, random_state=0).fit(X).labels_
    permuted = KernelPowerKMeans(3, random_state=0).fit(X[order]).labels_
    assert adjusted_rand_score(labels[order], permuted) == 1


@given(
    n=st.integers(50, 80),
    n_values=st.integers(1, 14),
    weight=st.sampled_from([0.01, 1.0, 100.0]),
    n_neighbors=st.integers(2, 9),
    seed=st.integers(0, 99),
)
def test_columns_that_tear_are_those_in_which_neighbors_hardly_differ(
    n, n_values, weight, n_neighbors, seed
):
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.standard_normal((n, 2)), weight * rng.integers(0, n_values, n)])
    square = ((X[:, None] - X) ** 2).sum(axis=2)
    np.fill_diagonal(square, np.inf)
    near = np.argsort(square, axis=1)[:, : n_neighbors - 1]
    differ = [X[i, 2] != X[j, 2] for i in range(n) for j in near[i]]
    chance = np.mean([X[i, 2] != X[j, 2] for i in range(n) for j in range(n)])
    few = 1 < len(set(X[:, 2])) <= 12
    expected = [2] if few and np.mean(differ) < TORN * chance else []
    assert list(untorn(NearestRows(X, "euclidean"), n_neighbors)[1]) == expected


@pytest.mark.parametrize("scale", [1e-300, 1e-3, 1.0, 1e300])
def test_the_noise_is_that_of_rounding(scale):
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.standard_normal(4000), rng.choice([0.0, 1.0], 4000)]) * scale
    changed = dithered(X, np.array([1]))
    np.testing.assert_array_equal(changed[:, 0], X[:, 0])
    noise = (changed[:, 1] - X[:, 1]) / scale
    # A number that was rounded to a whole one is wrong by a uniform number between -0.5 and 0.5.
    assert kstest(noise, "uniform", (-0.5, 1)).pvalue > 0.01


def test_rare_values_get_less_noise():
    X = np.column_stack([np.random.default_rng(0).standard_normal(10_000), np.arange(10_000) < 100])
    noise = (dithered(X, np.array([1])) - X)[:, 1]
    # Half a step, 0.5, would be that of equally frequent values.
    assert 0 < np.abs(noise).max() < 2 * X[:, 1].std() < 0.2


def test_tables_without_such_columns_are_as_they_were():
    X, _ = load_digits(return_X_y=True)
    nearest = NearestRows(X, "euclidean")
    assert untorn(nearest, 8)[0] is nearest
    assert untorn_sample(X, "euclidean", 500, 10, 0) is X


def test_cosine_and_sparse_rows_are_as_they_were():
    X, _ = clusters(300, n_values=2, n_columns=1)
    assert list(untorn(NearestRows(X, "euclidean"), 8)[1]) == [3]
    for rows, metric in ((X, "cosine"), (scipy.sparse.csr_array(X), "euclidean")):
        nearest = NearestRows(rows, metric)
        assert untorn(nearest, 8)[0] is nearest
        assert untorn_sample(rows, metric, 300, 3, 0) is rows


def test_six_rows_are_too_few():
    X = np.array([[1, 2], [1, 4], [1, 0], [10, 2], [10, 4], [10, 0]], float)
    labels = KernelPowerKMeans(2, random_state=0).fit(X).labels_
    assert len(set(labels[:3])) == len(set(labels[3:])) == 1
    assert labels[0] != labels[3]


def test_the_next_column_that_tears_is_found_too():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.standard_normal((200, 5)), rng.choice([-1.0, 1.0], (200, 3))])
    nearest = NearestRows(X, "euclidean")
    differ = [(X[nearest.others(6), j] != X[:, [j]]).mean() for j in (5, 6, 7)]
    by_chance = [2 * (X[:, j] > 0).mean() * (X[:, j] < 0).mean() for j in (5, 6, 7)]
    assert list(np.array(differ) < TORN * np.array(by_chance)) == [False, False, True]
    assert list(untorn(nearest, 7)[1]) == [5, 6, 7]
