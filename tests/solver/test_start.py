"""Where annealing starts."""

from functools import partial

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_rand_score

import data
import oracle
from held import feature_space
from kernelmeans import KernelPowerKMeans, PowerKMeans
from kernelmeans.kernels import Kernel
from kernelmeans.simulate import make_rings
from kernelmeans.solver.critical import automatic_start
from kernelmeans.spaces import GramSpace


def gram_space(K, threads, weight=None):
    weight = np.ones(len(K)) if weight is None else weight
    return GramSpace.hold(Kernel("precomputed", {}), K, weight, threads)


def crisp(n=200, seed=0):
    """A kernel matrix of clusters so clear that weights are hard at the critical power."""
    X, _ = data.blobs(n, 2, 10, seed, spread=0.1)
    squared = ((X[:, None] - X) ** 2).sum(axis=-1)
    return np.exp(-squared)


def softness(K, rows, power):
    """By the definition of the weights: the fraction that is not the nearest centroid's."""
    k = rows.shape[0]
    d = np.diag(K)[:, None] - 2 * K[:, rows] + np.diag(K)[rows]
    weights = np.maximum(d, 1e-14) ** (power - 1)
    return (1 - (weights.max(axis=1) / weights.sum(axis=1)).mean()) / (1 - 1 / k)


def test_data_without_very_clear_clusters_start_just_below_the_critical_power(threads):
    K = data.rms_kernel(load_digits().data[:400])
    critical = oracle.critical_power(K)
    assert critical < -1
    assert automatic_start(gram_space(K, threads), 10, critical) == 1.2 * critical


def test_clear_clusters_start_where_memberships_are_still_soft(threads):
    K = crisp()
    critical = oracle.critical_power(K)
    s0 = automatic_start(gram_space(K, threads), 10, critical)
    assert 1.2 * critical < s0 <= 0.4 * critical
    rng = np.random.default_rng(1)
    starts = [rng.permutation(len(K))[:10] for _ in range(50)]
    soft, cold = (
        np.mean([softness(K, rows, power) for rows in starts]) for power in (s0, 1.2 * critical)
    )
    assert cold < 0.5
    assert soft > cold
    # Half or a little more, unless the warmest start does not allow it.
    assert 0.48 < soft < 0.7 or s0 == 0.4 * critical


@pytest.mark.parametrize(("critical", "expected"), [(-0.5, -1), (0.4, -1), (-np.inf, -np.inf)])
def test_the_start_is_never_above_minus_one(critical, expected, threads):
    assert automatic_start(gram_space(crisp(), threads), 10, critical) == expected


def test_one_cluster_starts_just_below_the_critical_power(threads):
    assert automatic_start(gram_space(crisp(), threads), 1, -4.0) == -4.8


def test_the_start_is_the_same_in_every_space(threads):
    X, _ = data.blobs(300, 4, 12, spread=0.05)
    linear, ones = Kernel("linear", {}), np.ones(len(X))
    spaces = [
        feature_space(linear, X, ones),
        GramSpace.hold(linear, X, ones, threads),
        GramSpace.hold(linear, X, ones, threads, row_budget=8 * 300 * 10),
    ]
    found = [automatic_start(space, 12, -3.0) for space in spaces]
    np.testing.assert_allclose(found, found[0], rtol=1e-9)
    assert found[0] > -3.6


def test_the_start_does_not_depend_on_the_order_or_on_how_rows_are_weighed(threads):
    K = crisp()
    order = np.random.default_rng(0).permutation(len(K))
    twice = np.repeat(order, 2)
    found = {
        automatic_start(gram_space(matrix, threads, weight), 10, -4.0)
        for matrix, weight in (
            (K, None),
            (K, np.full(len(K), 7.0)),
            (K[np.ix_(order, order)], None),
            (K[np.ix_(twice, twice)], None),
        )
    }
    assert len(found) == 1
    assert found.pop() > -4.8


def test_rows_without_weight_do_not_count(threads):
    K = crisp()
    far = np.pad(K, (0, 50))
    far[-50:, -50:] = 1e3 * np.eye(50)
    weight = np.r_[np.ones(len(K)), np.zeros(50)]
    with_them = automatic_start(gram_space(far, threads, weight), 10, -4.0)
    without = automatic_start(gram_space(K, threads), 10, -4.0)
    assert with_them == pytest.approx(without, rel=1e-9)


def test_the_start_does_not_depend_on_the_seeding_or_the_number_of_restarts():
    X, _ = make_rings(random_state=0)
    rows = np.random.default_rng(0).permutation(len(X))[:30].reshape(3, 10)
    models = [
        KernelPowerKMeans(10, kernel="rbf", gamma=0.5, random_state=0),
        KernelPowerKMeans(10, kernel="rbf", gamma=0.5, random_state=0, init=rows),
        KernelPowerKMeans(10, kernel="rbf", gamma=0.5, random_state=0, init="random", n_init=2),
    ]
    starts = {model.fit(X).power_history_[0] for model in models}
    assert len(starts) == 1
    assert starts.pop() > models[0].critical_power_


@pytest.mark.parametrize("seed", range(3))
def test_random_starts_on_clear_clusters_end_in_them(seed):
    X, y = make_rings(random_state=seed)
    model = KernelPowerKMeans(
        10, kernel="rbf", gamma=0.5, init="random", n_init=20, n_swaps=0, random_state=0
    )
    scores = [adjusted_rand_score(y, labels) for labels in model.fit(X).result_.labels]
    assert np.mean(scores) > 0.98


def test_a_power_that_stays_is_below_the_critical_one_even_on_clear_clusters():
    X, _ = data.blobs(300, 8, 12, spread=0.05)
    for estimator in (partial(KernelPowerKMeans, kernel="rbf"), KernelPowerKMeans, PowerKMeans):
        model = estimator(12, eta=1, random_state=0).fit(X)
        assert model.power_history_[0] <= min(-1, 1.2 * model.critical_power_)
