"""Where the methods coincide with scikit-learn's KMeans, and with the equations."""

import numpy as np
import pytest
from sklearn.cluster import KMeans

import data
import oracle
from kernelmeans import KernelKMeans, KernelPowerKMeans, PowerKMeans

SEEDS = np.array([0, 11, 25, 40])


def lloyd(X, weight=None, k=4):
    model = KMeans(k, init=X[SEEDS[:k]], n_init=1, algorithm="lloyd", tol=0)
    return model.fit(X, sample_weight=weight)


def same_clusters(model, reference):
    np.testing.assert_array_equal(model.labels_, reference.labels_)
    assert model.inertia_ == pytest.approx(reference.inertia_, rel=1e-9)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("weighted", [False, True])
def test_hard_steps_with_the_linear_kernel_are_lloyds(seed, weighted):
    X = data.cloud(200, 3, seed)
    weight = np.random.default_rng(seed).uniform(0.1, 5, 200) if weighted else None
    model = KernelKMeans(4, kernel="linear", init=SEEDS).fit(X, sample_weight=weight)
    same_clusters(model, lloyd(X, weight))


@pytest.mark.parametrize("kernel", ["precomputed", "poly", "callable"])
def test_lloyds_steps_through_a_kernel_matrix(kernel):
    X = data.cloud(200, 3)
    settings = {
        "precomputed": {"kernel": "precomputed"},
        "poly": {"kernel": "poly", "degree": 1, "gamma": 1.0, "coef0": 0},
        "callable": {"kernel": lambda A, B: A @ B.T},
    }
    rows = X @ X.T if kernel == "precomputed" else X
    same_clusters(KernelKMeans(4, init=SEEDS, **settings[kernel]).fit(rows), lloyd(X))


@pytest.mark.parametrize("seed", range(3))
def test_power_k_means_from_a_very_low_power_is_lloyds(seed):
    X, _ = data.blobs(200, 3, 4, seed)
    model = PowerKMeans(4, n_swaps=0, s0=-1e4, eta=2.0, init=SEEDS).fit(X)
    reference = lloyd(X)
    same_clusters(model, reference)
    np.testing.assert_allclose(model.cluster_centers_, reference.cluster_centers_, atol=1e-10)


def test_centres_are_the_means_of_their_clusters():
    X = data.cloud(150, 3) + 100
    weight = np.random.default_rng(0).uniform(0.1, 2, 150)
    model = PowerKMeans(4, n_swaps=0, random_state=0).fit(X, sample_weight=weight)
    means = [
        np.average(X[model.labels_ == j], axis=0, weights=weight[model.labels_ == j])
        for j in range(4)
    ]
    np.testing.assert_allclose(model.cluster_centers_, means, rtol=1e-9)


def test_power_k_means_is_the_kernel_method_with_the_linear_kernel():
    X = data.cloud(150, 3)
    plain = PowerKMeans(4, n_swaps=0, init=SEEDS).fit(X)
    for kernel, rows in [("linear", X), ("precomputed", X @ X.T)]:
        model = KernelPowerKMeans(4, n_swaps=0, kernel=kernel, init=SEEDS).fit(rows)
        same_clusters(model, plain)
        np.testing.assert_allclose(model.objective_history_, plain.objective_history_, rtol=1e-7)


@pytest.mark.parametrize("weighted", [False, True])
def test_power_minus_one_without_annealing_is_k_harmonic_means(weighted):
    # Zhang, Hsu and Dayal (1999): the sum over samples of the harmonic mean of the distances.
    X, _ = data.blobs(120, 2, 4)
    v = np.random.default_rng(1).uniform(0.5, 2, 120) if weighted else np.ones(120)
    centres = X[SEEDS]
    for _ in range(60):
        d = ((X[:, None] - centres) ** 2).sum(axis=-1)
        d = np.maximum(d, 1e-14)
        w = v[:, None] * d**-2 / (1 / d).sum(axis=1, keepdims=True) ** 2
        centres = (w.T @ X) / w.sum(axis=0)[:, None]
    objective = v @ (4 / (1 / ((X[:, None] - centres) ** 2).sum(axis=-1)).sum(axis=1))
    model = PowerKMeans(4, n_swaps=0, s0=-1, eta=1, init=SEEDS, tol=1e-13)
    if model.fit(X, sample_weight=v).critical_power_ < -1:
        pytest.fail("these blobs are meant to have their critical power above -1")
    np.testing.assert_allclose(model.cluster_centers_, centres, rtol=1e-5, atol=1e-6)
    assert model.objective_history_[-1] == pytest.approx(objective, rel=1e-9)


@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "geodesic", "cosine"])
def test_the_inertia_is_the_kernel_k_means_cost_of_the_labels(kernel):
    X = data.cloud(120, 4)
    model = KernelPowerKMeans(5, n_swaps=0, kernel=kernel, random_state=0).fit(X)
    K = np.array(model.kernel_(X, X), dtype=float)
    assert model.inertia_ == pytest.approx(oracle.hard_cost(K, model.labels_), rel=1e-6)
