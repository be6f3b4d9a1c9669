"""Numbers of clusters from eigenvalues."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelmeans import KernelPowerKMeans
from kernelmeans.heat.basis import states
from kernelmeans.metrics import effective_clusters, eigengap

SPECTRA = st.lists(st.floats(1e-3, 1), min_size=2, max_size=20)


@pytest.mark.parametrize("k", [2, 3, 5])
@pytest.mark.parametrize("between", [0.0, 0.001])
def test_the_groups_of_a_graph_are_counted(k, between):
    y = np.arange(30 * k) % k
    graph = np.where(y[:, None] == y, 1.0, between)
    model = KernelPowerKMeans(k, kernel="graph", random_state=0).fit(graph)
    assert model.n_pieces_ == (1 if between else k)
    values = np.sort(np.linalg.eigvalsh(graph / graph.sum(axis=1)))[::-1]
    assert eigengap(values) == k
    assert effective_clusters(values, t=10) == pytest.approx(k, rel=0.1)
    assert effective_clusters(model.eigenvalues_, t=model.t_) == pytest.approx(k, rel=0.1)


def test_worked_values():
    assert eigengap([0.5, 1.0, 0.95, 0.4]) == 2
    # Equal gaps: the fewest clusters.
    assert eigengap([1.0, 0.75, 0.5]) == 1
    assert eigengap([1, 1, 1, 1]) == 1
    # Laplacian eigenvalues 0, 0.1, 0.9, 1.
    assert eigengap(1 - np.array([0.0, 0.1, 0.9, 1.0])) == 2
    # 1 / (1/4 + 1/16 + 1/16)
    assert effective_clusters([2, 1, 1]) == pytest.approx(8 / 3)
    assert effective_clusters([5.0, 0.0]) == pytest.approx(1)
    # Weights 1 and exp(-2) of the eigenvalues 1 and 0 at time 1.
    expected = (1 + np.exp(-2)) ** 2 / (1 + np.exp(-4))
    assert effective_clusters([0, 1], t=1) == pytest.approx(expected)


@given(st.integers(1, 30), st.integers(0, 30), st.floats(1e-3, 1e3))
def test_equal_eigenvalues_count_as_what_they_are(k, n_zeros, scale):
    values = np.r_[np.full(k, scale), np.zeros(n_zeros)]
    assert effective_clusters(values) == pytest.approx(k)
    assert n_zeros == 0 or eigengap(values) == k


@given(SPECTRA, st.floats(0.01, 100), st.randoms(use_true_random=False))
def test_unit_and_order_do_not_matter(values, unit, random):
    other = unit * np.array(random.sample(values, len(values)))
    assert effective_clusters(other) == pytest.approx(effective_clusters(values))
    assert 1 <= effective_clusters(values) <= len(values) * (1 + 1e-12)
    gaps = -np.diff(np.sort(values)[::-1])
    assert gaps[eigengap(values) - 1] == gaps.max()


@given(SPECTRA, st.floats(0, 100))
def test_time_gives_the_eigenvalues_of_the_heat_kernel(values, t):
    values = np.array(values)
    kernel = np.exp(-2 * t * (1 - values))
    assert kernel.sum() == pytest.approx(states(values, t))
    if kernel.max() > 1e-200:
        assert effective_clusters(values, t=t) == pytest.approx(effective_clusters(kernel))


def test_after_a_long_time_one_state_is_left():
    assert effective_clusters([1.0, 0.9, -0.5], t=1e6) == 1
    assert effective_clusters([0.9, 0.8, -0.5], t=1e6) == 1
    assert effective_clusters([1.0, 0.9, -0.5], t=0) == pytest.approx(3)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: eigengap([1.0]), r"eigenvalues has shape \(1,\) and 0 values .* at least 2"),
        (lambda: eigengap([1.0, np.nan]), "and 1 values that are not finite"),
        (lambda: eigengap(np.eye(2)), r"eigenvalues has shape \(2, 2\)"),
        (lambda: effective_clusters([]), "give at least 1 finite"),
        (lambda: effective_clusters([1.0, np.inf]), "and 1 values that are not finite"),
        (lambda: effective_clusters([1.0, -0.1]), "lie between -0.1 and 1: those of a kernel are"),
        (lambda: effective_clusters([0.0, 0.0]), "not all 0"),
        (lambda: effective_clusters([1.0, 0.5], t=-1), "t=-1 must be a time"),
        (lambda: effective_clusters([1.0, 0.5], t=np.nan), "t=nan must be a time"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(ValueError, match=message):
        call()
