"""Subsamples."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import data
from kernelmeans.kernels import Kernel
from kernelmeans.lowrank import approximate, sampling, subsample
from kernelmeans.lowrank.sampling import (
    FEWEST_ROWS,
    MOST_BYTES,
    MOST_ROWS,
    subsample_rows,
    subsample_size,
)

weights = hnp.arrays(
    st.sampled_from([np.float32, np.float64]),
    st.integers(1, 60),
    elements=st.sampled_from([0.0, 1e-6, 0.25, 1.0, 3.0, 1e6]),
).filter(np.any)


def equal_part(weight, size):
    """The samples heavier than an equal part of the weight of the others, and that part."""
    heavy = np.zeros(len(weight), dtype=bool)
    for index in np.argsort(-weight, kind="stable"):
        rest = weight[~heavy].sum(dtype=float)
        if weight[index] <= rest / (size - heavy.sum()) * (1 + 1e-9):
            break
        heavy[index] = True
    return heavy, weight[~heavy].sum(dtype=float) / (size - heavy.sum())


@given(weight=weights, size=st.integers(1, 80))
@example(weight=np.full(34, 1e-6), size=34)
def test_indices_are_in_order_different_and_of_samples_with_weight(weight, size):
    indices, new_weight = subsample(weight, size)
    assert len(indices) <= size
    assert (np.diff(indices) > 0).all()
    assert weight[indices].all()
    assert (new_weight > 0).all()
    assert new_weight.dtype == weight.dtype
    np.testing.assert_allclose(new_weight.sum(dtype=float), weight.sum(dtype=float), rtol=1e-5)


@given(weight=weights, size=st.integers(1, 80))
def test_weights_are_within_a_part_or_two_of_the_samples_own(weight, size):
    """Each of the equal parts draws once, so no weight is wrong by more than two parts."""
    indices, new_weight = subsample(weight, size)
    got = np.zeros(len(weight))
    got[indices] = new_weight
    heavy, part = equal_part(weight, size)
    np.testing.assert_array_equal(got[heavy], weight[heavy])
    over = (got - weight)[~heavy]
    tolerance = 1e-6 * weight.max()
    assert (np.abs(over) <= 2 * part + tolerance).all()
    # So are sums over neighbours.
    assert (np.abs(np.cumsum(over)) <= part + tolerance).all()


def test_a_few_very_heavy_samples_leave_room_for_the_others():
    weight = np.ones(10_000)
    weight[[5, 77, 5000]] = 1e10, 1e5, 1e20
    indices, new_weight = subsample(weight, 1000)
    assert len(indices) > 600
    assert {5, 77, 5000} <= set(indices)
    np.testing.assert_allclose(new_weight[new_weight < 100].sum(), 9997)


def test_within_a_part_samples_are_drawn_in_proportion_to_their_weights():
    weight = np.tile([1.0, 2.0, 5.0, 0.0], 5000)
    indices, new_weight = subsample(weight, 5000)
    got = np.bincount(indices % 4, new_weight, minlength=4) / weight.sum()
    np.testing.assert_allclose(got, [1 / 8, 2 / 8, 5 / 8, 0], atol=0.02)


def test_the_last_mark_may_round_up_to_the_total(monkeypatch):
    class Largest:
        def uniform(self, size):
            return np.full(size, np.nextafter(1, 0))

    monkeypatch.setattr(np.random, "default_rng", lambda seed: Largest())
    indices, new_weight = subsample(np.array([1.0, 1, 1, 1, 0, 0]), 3)
    assert indices.max() == 3
    assert new_weight.sum() == pytest.approx(4)


def test_the_same_samples_every_time():
    weight = np.random.default_rng(0).uniform(size=1000)
    first, again = subsample(weight, 100), subsample(weight, 100)
    np.testing.assert_array_equal(first, again)
    np.testing.assert_array_equal(subsample(8 * weight, 100)[0], first[0])


@given(
    n=st.integers(1, 10**9),
    row_bytes=st.integers(0, 10**9),
    wanted=st.integers(0, 10**6),
)
def test_a_subsample_has_few_rows_and_bytes_but_not_too_few(n, row_bytes, wanted):
    size = subsample_size(n, row_bytes, at_least=wanted)
    fewest = max(FEWEST_ROWS, wanted)
    assert min(n, fewest) <= size <= min(n, max(MOST_ROWS, wanted))
    assert size * row_bytes <= MOST_BYTES or size == min(n, fewest)


@pytest.mark.slow
def test_of_wide_rows_enough_are_drawn_for_all_components(monkeypatch):
    monkeypatch.setattr(sampling, "FEWEST_ROWS", 50)
    monkeypatch.setattr(sampling, "MOST_BYTES", 1000)
    X, kernel = data.cloud(1000, 3), Kernel("rbf", {"gamma": 1.0})
    for method in ["landmarks", "rpcholesky"]:
        found = approximate(kernel, X, np.ones(1000), method, 300, seed=0)
        assert len(found.landmarks) == 300


@pytest.mark.parametrize("n", [FEWEST_ROWS, FEWEST_ROWS + 1, 3 * FEWEST_ROWS])
def test_few_rows_are_all_taken_and_many_are_drawn(n, monkeypatch):
    monkeypatch.setattr(sampling, "MOST_BYTES", 0)
    X = np.arange(n, dtype=float)[:, None]
    weight = np.linspace(0, 2, n)
    rows, new_weight = subsample_rows(X, weight)
    if n == FEWEST_ROWS:
        np.testing.assert_array_equal(rows, X)
        np.testing.assert_array_equal(new_weight, weight)
    else:
        indices, expected = subsample(weight, FEWEST_ROWS)
        np.testing.assert_array_equal(rows[:, 0], indices)
        np.testing.assert_array_equal(new_weight, expected)
