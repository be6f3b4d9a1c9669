"""The time of heat kernels."""

import numpy as np
import pytest

from kernelmeans.heat.basis import MIXED, solve_time, states


@pytest.mark.parametrize("n_clusters", [2, 3, 7])
def test_it_solves_states_for_clusters(rng, n_clusters):
    values = np.r_[1.0, np.sort(rng.uniform(-0.5, 1, 40))[::-1]]
    t = solve_time(values, n_clusters, n_pieces=1)
    assert states(values, t) == pytest.approx(n_clusters)


@pytest.mark.parametrize("n_pieces", [2, 3])
def test_as_many_pieces_as_clusters_leave_nothing_else(rng, n_pieces):
    values = np.r_[np.ones(n_pieces), rng.uniform(0, 0.99, 20)]
    t = solve_time(values, 2, n_pieces)
    assert states(values[n_pieces:], t) == pytest.approx(MIXED)


def test_fewer_states_than_clusters_need_no_time():
    assert solve_time(np.array([1.0, 0.5]), 5, 1) == 0
    assert solve_time(np.ones(1), 1, 1) == 0


def test_nearly_torn_graphs_have_a_finite_time():
    values = np.array([1.0, 1.0, 0.5])
    t = solve_time(values, 1, 1)
    assert np.isfinite(t)
    assert t > 1e10
