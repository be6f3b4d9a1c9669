"""Swap moves at the estimators."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning

import data
import oracle
from kernelmeans import KernelKMeans, KernelPowerKMeans, PowerKMeans

ESTIMATORS = {
    "annealed": lambda **given: KernelPowerKMeans(6, kernel="rbf", gamma=0.3, **given),
    "hard": lambda **given: KernelKMeans(6, gamma=0.3, **given),
    "linear": lambda **given: PowerKMeans(6, **given),
}


@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.parametrize("seed", range(3))
def test_the_cost_never_rises_and_the_fit_is_consistent(name, seed):
    X = data.cloud(150, 2, seed)
    weight = np.random.default_rng(seed).uniform(0.2, 2, 150)
    plain = ESTIMATORS[name](n_swaps=0, random_state=0).fit(X, sample_weight=weight)
    model = ESTIMATORS[name](n_swaps="auto", random_state=0).fit(X, sample_weight=weight)
    assert model.inertia_ <= plain.inertia_ * (1 + 1e-12)
    assert model.n_iter_ >= plain.n_iter_
    np.testing.assert_array_equal(model.labels_, model.predict(X))
    assert model.inertia_ == -model.score(X, sample_weight=weight)
    K = X @ X.T if name == "linear" else oracle.rbf(X, X, 0.3)
    assert model.inertia_ == pytest.approx(oracle.hard_cost(K, model.labels_, weight), rel=1e-9)
    best = model.result_.best
    np.testing.assert_array_equal(model.labels_, model.result_.labels[best])
    assert model.inertia_ == pytest.approx(model.result_.inertia[best], rel=1e-9)
    assert (np.diff(model.objective_history_) <= 1e-9 * model.objective_history_[0]).all()


def test_more_moves_never_cost_more():
    X = data.cloud(200, 2)
    costs = [KernelKMeans(9, n_swaps=n, random_state=0).fit(X).inertia_ for n in (0, 16, 160)]
    assert costs[0] >= costs[1] >= costs[2]
    assert costs[0] > costs[2]


@pytest.mark.slow
def test_one_default_run_is_as_good_as_twenty_hard_ones_on_digits():
    X = load_digits().data
    model = KernelPowerKMeans(10, kernel="rbf", random_state=0).fit(X)
    hard = KernelKMeans(10, n_init=20, random_state=0).fit(X)
    assert model.inertia_ <= 1.001 * hard.inertia_


@pytest.mark.parametrize("seed", range(5))
def test_one_default_run_is_never_above_plain_kernel_k_means_from_its_start(seed):
    X, _ = data.blobs(150, 2, 7)
    model = KernelPowerKMeans(7, kernel="rbf", random_state=seed).fit(X)
    plain = KernelKMeans(7, random_state=seed).fit(X)
    assert model.inertia_ <= plain.inertia_ * (1 + 1e-12)


def test_a_partition_of_the_default_cannot_be_improved_by_any_single_sample():
    X = data.cloud(60, 3)
    K = oracle.rbf(X, X, 0.3)
    model = KernelPowerKMeans(6, kernel="rbf", gamma=0.3, random_state=0).fit(X)
    for sample in range(60):
        for cluster in range(6):
            labels = model.labels_.copy()
            labels[sample] = cluster
            if len(np.unique(labels)) == 6:
                assert oracle.hard_cost(K, labels) >= model.inertia_ * (1 - 1e-9)


def test_at_a_constant_power_nothing_is_swapped_unless_asked():
    X = data.cloud(60)
    first, other = (
        PowerKMeans(3, s0=-1, eta=1, n_swaps=n, random_state=0).fit(X) for n in (0, "auto")
    )
    assert first.n_iter_ == other.n_iter_
    np.testing.assert_array_equal(first.cluster_centers_, other.cluster_centers_)


def test_what_memory_holds_does_not_change_what_is_found():
    X = data.cloud(200, 2)
    few, many = (
        KernelPowerKMeans(5, kernel="rbf", memory_budget=budget, random_state=0).fit(X)
        for budget in (480_000, "1GB")
    )
    np.testing.assert_array_equal(few.labels_, many.labels_)
    assert few.inertia_ == pytest.approx(many.inertia_, rel=1e-12)


def test_exchanges_between_features_with_residuals_end():
    X = data.blobs(600, 4, 4, spread=1.5)[0]
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        for rows in (X[:400], X[200:], np.r_[X[:200], X[400:]]):
            model = KernelPowerKMeans(
                4, kernel="rbf", gamma=0.5, approximation="landmarks", n_components=20, eta=1.5
            )
            model.set_params(random_state=0).fit(rows)
            assert model.n_iter_ < 1000


def test_moves_that_run_out_of_steps_warn_and_have_bounds_that_hold():
    X = load_digits().data[:600] / 16
    model = KernelKMeans(10, n_swaps=10, max_iter=10, random_state=7)
    with pytest.warns(ConvergenceWarning, match="max_iter=10"):
        model.fit(X)
    cost = oracle.hard_cost(model.kernel_(X, X), model.labels_)
    assert model.inertia_ > cost * (1 + 1e-6)
    assert model.inertia_bounds_ == pytest.approx((cost, cost), rel=1e-9)
