"""The compared methods, and what they are scored by, against plain computations."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare
from sklearn.cluster import KMeans, SpectralClustering
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

import data
import oracle
from kernelmeans_paper import printed
from kernelmeans_paper.methods import (
    AUTOMATIC,
    METHODS,
    PAPERS,
    SCHEDULES,
    Runs,
    kernel_cost,
    paper_name,
    scheduled,
    scores,
    spectral_labels,
)
from kernelmeans_paper.problems import Problem, plusplus_starts, random_starts

X, y = data.blobs(n=60, k=3)
K = data.rms_kernel(X)


@pytest.fixture(scope="module")
def problem():
    return Problem(X, K, y, 3, random_starts(60, 3, 4))


def naive_cost(K, labels):
    """Half the mean squared distance of all pairs of a cluster, times its size."""
    total = 0.0
    for c in set(labels.tolist()):
        members = [i for i in range(len(K)) if labels[i] == c]
        pairs = sum(K[i, i] - 2 * K[i, j] + K[j, j] for i in members for j in members)
        total += pairs / (2 * len(members))
    return total


@given(st.lists(st.integers(-1, 4), min_size=1, max_size=15), st.integers(0, 99))
def test_cost_is_that_of_all_pairs(labels, seed):
    root = np.random.default_rng(seed).standard_normal((len(labels), 3))
    matrix, labels = root @ root.T, np.array(labels)
    assert kernel_cost(matrix, labels) == pytest.approx(naive_cost(matrix, labels), abs=1e-9)


def test_cost_with_the_linear_kernel_is_k_means_inertia():
    model = KMeans(4, n_init=1, random_state=0).fit(X)
    assert kernel_cost(X @ X.T, model.labels_) == pytest.approx(model.inertia_, rel=1e-9)


def test_cost_of_single_precision_is_computed_in_double():
    single, labels = (X @ X.T).astype(np.float32), np.arange(60) % 3
    exact = oracle.hard_cost(single.astype(np.float64), labels)
    assert kernel_cost(single, labels) == pytest.approx(exact, rel=1e-12)


def test_cost_of_ones_own_clusters_is_nothing():
    assert kernel_cost(K, np.arange(60)) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("name", METHODS)
def test_every_method_finds_separate_blobs(name, problem):
    runs = METHODS[name](problem)
    assert runs.labels.shape == (4, 60)
    assert runs.steps.shape == (4,)
    assert np.issubdtype(runs.labels.dtype, np.integer)
    assert runs.labels.min() >= 0
    assert runs.labels.max() < 3
    best = min(runs.labels, key=lambda labels: oracle.hard_cost(K, labels))
    assert oracle.same_partition(best, y)


@pytest.mark.parametrize("name", METHODS)
def test_every_method_answers_the_same_again(name, problem):
    first, again = METHODS[name](problem), METHODS[name](problem)
    np.testing.assert_array_equal(first.labels, again.labels)
    np.testing.assert_array_equal(first.steps, again.steps)


@pytest.mark.parametrize("name", [name for name in METHODS if name != "Spectral"])
def test_a_run_depends_on_its_own_start_only(name):
    """Matched runs: the first of each method begins at the first start, and so on."""
    rows = data.cloud(60)
    problem = Problem(rows, data.rms_kernel(rows), y, 4, random_starts(60, 4, 4))
    runs = METHODS[name](problem)
    for number, start in enumerate(problem.starts):
        single = METHODS[name](problem._replace(starts=start[None]))
        np.testing.assert_array_equal(runs.labels[[number]], single.labels)
        np.testing.assert_array_equal(runs.steps[[number]], single.steps)
    # They are not all the same.
    assert len({labels.tobytes() for labels in runs.labels}) > 1


def test_kernel_k_means_is_lloyds_from_the_rows_of_the_start():
    rows = data.cloud(60)
    matrix = data.rms_kernel(rows)
    starts = random_starts(60, 4, 3)
    runs = METHODS["Kernel k-means"](Problem(rows, matrix, y, 4, starts))
    for start, labels in zip(starts, runs.labels, strict=True):
        A, _ = oracle.run(matrix, oracle.at_samples(start, 60), [-np.inf] * 60)
        expected = oracle.distances(matrix, A).argmin(axis=1)
        np.testing.assert_array_equal(labels, expected)


def test_the_papers_schedule_is_another():
    rows = data.cloud(60)
    problem = Problem(rows, data.rms_kernel(rows), y, 4, random_starts(60, 4, 4))
    for name in ("Kernel power k-means", "Power k-means"):
        theirs, ours = (METHODS[scheduled(name, schedule)](problem) for schedule in SCHEDULES)
        assert theirs.steps.min() > 2 * ours.steps.max()


def test_power_k_means_sees_the_rows_and_not_the_kernel(problem):
    other = problem._replace(K=np.eye(60))
    for name in METHODS:
        same = np.array_equal(METHODS[name](problem).labels, METHODS[name](other).labels)
        assert same == name.startswith("Power k-means")


def test_each_schedule_has_the_papers_four_methods():
    of_schedule = {
        schedule: [scheduled(name, schedule) for name in printed.SINGLE_METHODS]
        for schedule in SCHEDULES
    }
    for titles in of_schedule.values():
        assert [paper_name(title) for title in titles] == list(printed.SINGLE_METHODS)
    assert set().union(*of_schedule.values()) == set(METHODS)
    assert set(of_schedule[PAPERS]) & set(of_schedule[AUTOMATIC]) == {"Kernel k-means", "Spectral"}


def test_spectral_clustering_takes_any_kernel():
    """Negative entries; and a matrix that is nearly the identity, on which it warns."""
    signed = X @ X.T
    assert signed.min() < 0
    for matrix in (signed, np.exp(-1e3 * (1 - K)), np.eye(60)):
        labels = spectral_labels(matrix, 3, 2)
        assert labels.shape == (2, 60)
        np.testing.assert_array_equal(labels, spectral_labels(matrix, 3, 2))
    assert oracle.same_partition(spectral_labels(K, 3, 1)[0], y)


@given(n=st.integers(1, 30), count=st.integers(1, 5), choice=st.data())
def test_random_starts_are_different_rows(n, count, choice):
    k = choice.draw(st.integers(1, n))
    starts = random_starts(n, k, count)
    assert starts.shape == (count, k)
    assert all(len(set(start)) == k for start in starts.tolist())
    assert starts.min() >= 0
    assert starts.max() < n
    np.testing.assert_array_equal(starts, random_starts(n, k, count))


def test_fewer_random_starts_are_the_first_of_more():
    np.testing.assert_array_equal(random_starts(50, 4, 5), random_starts(50, 4, 20)[:5])


def test_every_row_is_a_random_start_as_often():
    counts = np.bincount(random_starts(10, 3, 2000).ravel(), minlength=10)
    assert chisquare(counts).pvalue > 0.001


def test_plusplus_starts_are_different_rows_and_the_same_again():
    starts = plusplus_starts(K, 3, 5)
    assert starts.shape == (5, 3)
    assert all(len(set(start)) == 3 for start in starts.tolist())
    assert starts.min() >= 0
    assert starts.max() < 60
    np.testing.assert_array_equal(starts, plusplus_starts(K, 3, 5))
    np.testing.assert_array_equal(starts[:2], plusplus_starts(K, 3, 2))
    assert len({tuple(start) for start in starts.tolist()}) > 1


def test_plusplus_starts_are_far_apart():
    """One in every blob, which is seldom so by chance."""

    def hits(starts):
        return np.mean([len(set(y[start].tolist())) == 3 for start in starts])

    assert hits(plusplus_starts(K, 3, 20)) > 0.9
    assert hits(random_starts(60, 3, 20)) < 0.6


def test_methods_take_plusplus_starts():
    starts = plusplus_starts(K, 3, 2)
    for name in METHODS:
        runs = METHODS[name](Problem(X, K, y, 3, starts))
        assert all(oracle.same_partition(labels, y) for labels in runs.labels)


def test_scores_are_scikit_learns_and_the_cost():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, (3, 60))
    found = scores(Problem(X, K, y, 3), Runs(labels, np.array([4, 5, 6])))
    assert found["nmi"] == [normalized_mutual_info_score(y, row) for row in labels]
    assert found["ari"] == [adjusted_rand_score(y, row) for row in labels]
    assert found["cost"] == pytest.approx([oracle.hard_cost(K, row) for row in labels])
    assert found["steps"] == [4, 5, 6]
    assert {type(value) for name in ("nmi", "ari", "cost") for value in found[name]} == {float}
    assert {type(value) for value in found["steps"]} == {int}


def test_noise_counts_for_the_cost_only():
    noisy = np.where(np.arange(60) % 4 == 0, -1, y)
    clean = noisy >= 0
    perfect, other = y.copy(), y.copy()
    other[~clean] = (other[~clean] + 1) % 3
    found = scores(Problem(X, K, noisy, 3), Runs(np.stack([perfect, other]), np.zeros(2, int)))
    assert found["nmi"] == pytest.approx([1, 1])
    assert found["ari"] == [1, 1]
    assert found["cost"] == pytest.approx([oracle.hard_cost(K, row) for row in (perfect, other)])
    assert found["cost"][0] < found["cost"][1]


def test_spectral_labels_are_those_of_scikit_learn():
    X, _ = data.blobs(120, 3, 5, spread=0.9)
    K = data.rms_kernel(X)
    theirs = [
        SpectralClustering(5, affinity="precomputed", n_init=1, random_state=seed).fit_predict(K)
        for seed in range(5)
    ]
    ours = spectral_labels(K, 5, 5)
    # Their seeds of k-means are others: the partitions that are found most often agree.
    agreement = [[adjusted_rand_score(a, b) for b in ours] for a in theirs]
    assert np.max(agreement) == 1
    assert np.mean(agreement) > 0.8


@pytest.mark.parametrize("method", METHODS)
def test_as_many_starts_as_clusters_and_columns_are_taken_for_what_they_are(method):
    X, y = data.blobs(60, 4, 4)
    problem = Problem(X, data.rms_kernel(X), y, 4, random_starts(60, 4, 4))
    assert METHODS[method](problem).labels.shape == (4, 60)
