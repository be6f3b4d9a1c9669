"""``refine="swap"`` at the estimators."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

import data
import oracle
from kernelmeans import KernelKMeans, KernelPowerKMeans, PowerKMeans

ESTIMATORS = {
    "annealed": lambda **given: KernelPowerKMeans(6, gamma=0.3, **given),
    "hard": lambda **given: KernelKMeans(6, gamma=0.3, **given),
    "linear": lambda **given: PowerKMeans(6, **given),
}


@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.parametrize("seed", range(3))
def test_the_cost_never_rises_and_the_fit_is_consistent(name, seed):
    X = data.cloud(150, 2, seed)
    weight = np.random.default_rng(seed).uniform(0.2, 2, 150)
    plain = ESTIMATORS[name](random_state=0).fit(X, sample_weight=weight)
    model = ESTIMATORS[name](refine="swap", random_state=0).fit(X, sample_weight=weight)
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
    costs = [
        KernelKMeans(9, refine="swap", n_swaps=n, random_state=0).fit(X).inertia_
        for n in (1, 10, 60)
    ]
    assert costs[0] >= costs[1] >= costs[2]
    assert costs[0] > costs[2]


@pytest.mark.slow
def test_one_refined_run_is_as_good_as_twenty_hard_ones_on_digits():
    X = load_digits().data
    refined = KernelPowerKMeans(10, refine="swap", random_state=0).fit(X)
    hard = KernelKMeans(10, n_init=20, random_state=0).fit(X)
    assert refined.inertia_ <= 1.001 * hard.inertia_


def test_a_fit_without_refinement_ignores_the_number_of_moves():
    X = data.cloud(60)
    first, other = (KernelPowerKMeans(3, n_swaps=n, random_state=0).fit(X) for n in (1, 50))
    assert first.n_iter_ == other.n_iter_
    np.testing.assert_array_equal(first.labels_, other.labels_)
