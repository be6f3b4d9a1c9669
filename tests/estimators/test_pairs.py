"""Fits of heat kernels in which pairs of clusters are divided anew."""

import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import linear_sum_assignment
from sklearn.datasets import load_digits
from sklearn.neighbors import NearestNeighbors

from kernelmeans import KernelPowerKMeans
from kernelmeans.estimators import base
from kernelmeans.heat import GraphKernel, density

DIGITS = load_digits()
#: Noise that keeps distances apart: of equally near rows, versions of scikit-learn find others.
NOISE = np.random.default_rng(0).uniform(-1e-3, 1e-3, DIGITS.data.shape)
#: Five digits, of which two clusters can be divided in two ways at nearly the same cost.
X = (DIGITS.data + NOISE)[np.isin(DIGITS.target, [0, 1, 2, 7, 8])]


def fitted(rows=X, **parameters):
    return KernelPowerKMeans(5, random_state=0, **parameters).fit(rows)


@pytest.fixture(autouse=True)
def _no_surroundings(monkeypatch):
    """The graph in which these digits can be divided in two ways."""
    monkeypatch.setattr(density, "MOST_SURROUNDING", density.NEIGHBOR)


@pytest.fixture
def undivided(monkeypatch):
    """The fit without this."""
    with monkeypatch.context() as patch:
        patch.setattr(base, "divide_pairs", lambda *order: 0)
        return fitted()


def score(model):
    """The fraction of the weight of edges that the clusters cut, over their entropy."""
    distances, near = NearestNeighbors().fit(X).kneighbors(n_neighbors=model.n_neighbors_ - 1)
    core = NearestNeighbors().fit(X).kneighbors(n_neighbors=5)[0][:, -1]
    reach = np.maximum(distances, np.maximum(core[:, None], core[near])) / np.median(core)
    A = np.zeros((len(X), len(X)))
    np.put_along_axis(A, near, np.clip(reach**-model.density_, 1e-4, 1e3), axis=1)
    one_hot = np.eye(5)[model.labels_]
    between = one_hot.T @ (A + A.T) @ one_hot
    parts = between.sum(axis=1) / between.sum()
    return (1 - np.trace(between) / between.sum()) / -(parts * np.log(parts)).sum()


def test_edges_decide_between_partitions_of_nearly_the_same_cost(undivided, capsys):
    model = fitted(verbose=1)
    assert "1 pair of clusters divided anew: cost" in capsys.readouterr().out
    assert undivided.inertia_ < model.inertia_ < 1.01 * undivided.inertia_
    assert score(model) < 0.9 * score(undivided)
    # The history is that of the annealing and the swap moves, in which no cost rises.
    assert_array_equal(model.objective_history_, undivided.objective_history_)
    assert_array_equal(model.predict(X), model.labels_)
    assert model.score(X) == pytest.approx(-model.inertia_, rel=1e-9)
    assert model.result_.inertia[model.result_.best] == pytest.approx(model.inertia_)
    assert_array_equal(model.result_.labels[0], model.labels_)


def test_the_restart_that_edges_prefer_stays_the_best_one():
    model = fitted(n_init=20)
    assert model.result_.best == model.result_.preferred
    assert model.inertia_ > model.result_.cost.min()
    model.renumber([4, 3, 2, 1, 0])
    assert model.result_.preferred is not None
    assert_array_equal(model.result_.labels[model.result_.best], model.labels_)


def test_equal_rows_and_the_unit_of_weights_change_nothing():
    labels = fitted().labels_
    weighted = KernelPowerKMeans(5, random_state=0).fit(X, sample_weight=np.full(len(X), 2.0))
    assert_array_equal(weighted.labels_, labels)
    repeated = fitted(np.r_[X, X[:100]])
    assert_array_equal(repeated.labels_[len(X) :], repeated.labels_[:100])


@pytest.mark.parametrize("seed", range(4))
def test_clusters_keep_the_numbers_of_their_starts(seed, monkeypatch):
    init = X[np.random.default_rng(seed).choice(len(X), 5, replace=False)]
    labels = fitted(init=init).labels_
    monkeypatch.setattr(base, "divide_pairs", lambda *order: 0)
    before = fitted(init=init).labels_
    assert not np.array_equal(labels, before)
    shared = np.zeros((5, 5))
    np.add.at(shared, (before, labels), 1)
    # No other numbering would leave more rows the number that they had.
    assert_array_equal(linear_sum_assignment(shared, maximize=True)[1], np.arange(5))


def test_rows_without_edges_have_none_between_clusters():
    near = NearestNeighbors(n_neighbors=60).fit(X).kneighbors_graph()
    graph = scipy.sparse.block_diag([near.maximum(near.T), np.zeros((120, 120))], format="csr")
    with pytest.warns(UserWarning, match="121 pieces"):
        trial = GraphKernel().learn(graph, None, 6)
    weigh = trial.edge_weights(np.ones(graph.shape[0]), 6)
    for parts in (5, 4):
        labels = np.r_[np.arange(len(X)) % parts, np.full(120, 5)]
        one_hot = np.eye(6)[labels]
        expected = one_hot.T @ graph @ one_hot
        found = weigh(labels)
        assert_allclose(found / found.sum(), expected / expected.sum(), atol=1e-12)


@pytest.mark.parametrize("n_swaps", [0, 8])
def test_a_given_number_of_swap_moves_is_all_that_is_done(n_swaps, monkeypatch):
    monkeypatch.setattr(base, "divide_pairs", None)
    assert len(set(fitted(n_swaps=n_swaps).labels_)) == 5


@pytest.mark.parametrize(
    "parameters", [{"kernel": "rbf"}, {"approximation": "landmarks"}], ids=["rbf", "anchors"]
)
def test_kernels_without_a_graph_of_all_rows_weigh_no_edges(parameters, monkeypatch):
    monkeypatch.setattr(base, "divide_pairs", None)
    assert len(set(fitted(**parameters).labels_)) == 5


def test_edges_of_too_few_rows_are_not_weighed(monkeypatch):
    monkeypatch.setattr(base, "divide_pairs", None)
    assert len(set(fitted(X[:99]).labels_)) == 5
