"""A draw of the samples."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import data
from kernelmeans.kernels import Kernel
from kernelmeans.lowrank import approximate, draw, draw_rows, draw_size, drawn
from kernelmeans.lowrank.draw import FEWEST_ROWS, MOST_BYTES, MOST_ROWS

weights = hnp.arrays(
    st.sampled_from([np.float32, np.float64]),
    st.integers(1, 60),
    elements=st.sampled_from([0.0, 1e-6, 0.25, 1.0, 3.0, 1e6]),
).filter(np.any)


def shares(weight, size):
    """What is heavier than an equal share of what is not, and that share: one after the other."""
    heavy = np.zeros(len(weight), dtype=bool)
    for index in np.argsort(-weight, kind="stable"):
        rest = weight[~heavy].sum(dtype=float)
        if weight[index] <= rest / (size - heavy.sum()) * (1 + 1e-9):
            break
        heavy[index] = True
    return heavy, weight[~heavy].sum(dtype=float) / (size - heavy.sum())


@given(weight=weights, size=st.integers(1, 80))
def test_indices_are_in_order_different_and_of_samples_with_weight(weight, size):
    indices, drawn_weight = drawn(weight, size)
    assert len(indices) <= size
    assert (np.diff(indices) > 0).all()
    assert weight[indices].all()
    assert (drawn_weight > 0).all()
    assert drawn_weight.dtype == weight.dtype
    np.testing.assert_allclose(drawn_weight.sum(dtype=float), weight.sum(dtype=float), rtol=1e-5)


@given(weight=weights, size=st.integers(1, 80))
def test_weights_are_within_a_share_or_two_of_what_is_due(weight, size):
    """Each of the equal shares draws once: nobody gets two shares more or less than is due."""
    indices, drawn_weight = drawn(weight, size)
    got = np.zeros(len(weight))
    got[indices] = drawn_weight
    heavy, share = shares(weight, size)
    np.testing.assert_array_equal(got[heavy], weight[heavy])
    over = (got - weight)[~heavy]
    tolerance = 1e-6 * weight.max()
    assert (np.abs(over) <= 2 * share + tolerance).all()
    # So are neighbours together.
    assert (np.abs(np.cumsum(over)) <= share + tolerance).all()


def test_a_few_very_heavy_samples_leave_room_for_the_others():
    weight = np.ones(10_000)
    weight[[5, 77, 5000]] = 1e10, 1e5, 1e20
    indices, drawn_weight = drawn(weight, 1000)
    assert len(indices) > 600
    assert {5, 77, 5000} <= set(indices)
    np.testing.assert_allclose(drawn_weight[drawn_weight < 100].sum(), 9997)


def test_within_a_share_draws_are_in_proportion_to_the_weights():
    weight = np.tile([1.0, 2.0, 5.0, 0.0], 5000)
    indices, drawn_weight = drawn(weight, 5000)
    got = np.bincount(indices % 4, drawn_weight, minlength=4) / weight.sum()
    np.testing.assert_allclose(got, [1 / 8, 2 / 8, 5 / 8, 0], atol=0.02)


def test_the_same_samples_every_time():
    weight = np.random.default_rng(0).uniform(size=1000)
    first, again = drawn(weight, 100), drawn(weight, 100)
    np.testing.assert_array_equal(first, again)
    np.testing.assert_array_equal(drawn(8 * weight, 100)[0], first[0])


@given(
    n=st.integers(1, 10**9),
    row_bytes=st.integers(0, 10**9),
    most=st.integers(0, 10**10),
    wanted=st.integers(0, 10**6),
)
def test_a_draw_has_few_rows_and_bytes_but_not_too_few(n, row_bytes, most, wanted):
    size = draw_size(n, row_bytes, most, at_least=wanted)
    fewest = max(FEWEST_ROWS, wanted)
    assert min(n, fewest) <= size <= min(n, max(MOST_ROWS, wanted))
    assert size * row_bytes <= min(most, MOST_BYTES) or size == min(n, fewest)


@pytest.mark.slow
def test_of_wide_rows_enough_are_drawn_for_all_components(monkeypatch):
    monkeypatch.setattr(draw, "FEWEST_ROWS", 50)
    monkeypatch.setattr(draw, "MOST_BYTES", 1000)
    X, kernel = data.cloud(1000, 3), Kernel("rbf", {"gamma": 1.0})
    for method in ["landmarks", "rpcholesky"]:
        found = approximate(kernel, X, np.ones(1000), method, 300, seed=0)
        assert len(found.landmarks) == 300


@pytest.mark.parametrize("n", [FEWEST_ROWS, FEWEST_ROWS + 1, 3 * FEWEST_ROWS])
def test_few_rows_are_all_taken_and_many_are_drawn(n):
    X = np.arange(n, dtype=float)[:, None]
    weight = np.linspace(0, 2, n)
    rows, drawn_weight = draw_rows(X, weight, most_bytes=0)
    if n == FEWEST_ROWS:
        np.testing.assert_array_equal(rows, X)
        np.testing.assert_array_equal(drawn_weight, weight)
    else:
        indices, expected = drawn(weight, FEWEST_ROWS)
        np.testing.assert_array_equal(rows[:, 0], indices)
        np.testing.assert_array_equal(drawn_weight, expected)
