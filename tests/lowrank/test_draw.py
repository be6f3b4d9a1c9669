"""A draw of the samples."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from kernelmeans.lowrank import draw_rows, draw_size, drawn
from kernelmeans.lowrank.draw import FEWEST_ROWS, MOST_BYTES, MOST_ROWS

weights = hnp.arrays(
    st.sampled_from([np.float32, np.float64]),
    st.integers(1, 60),
    elements=st.sampled_from([0.0, 1e-6, 0.25, 1.0, 3.0, 1e6]),
).filter(np.any)


@given(weight=weights, size=st.integers(1, 80))
def test_indices_are_in_order_different_and_of_samples_with_weight(weight, size):
    indices, counts = drawn(weight, size)
    assert (np.diff(indices) > 0).all()
    assert weight[indices].all()
    assert (counts >= 1).all()
    assert counts.sum() == size
    assert counts.dtype == weight.dtype


@given(weight=weights, size=st.integers(1, 80))
def test_counts_are_within_one_or_two_of_what_is_due(weight, size):
    """Each of the equal shares draws once: nobody gets two shares more or less than is due."""
    indices, counts = drawn(weight, size)
    got = np.zeros(len(weight))
    got[indices] = counts
    due = size * weight.astype(float) / weight.sum(dtype=float)
    assert (np.abs(got - due) < 2 + 1e-6).all()
    # So are neighbours together.
    assert (np.abs(np.cumsum(got) - np.cumsum(due)) < 1 + 1e-6).all()


def test_within_a_share_draws_are_in_proportion_to_the_weights():
    weight = np.tile([1.0, 2.0, 5.0, 0.0], 5000)
    indices, counts = drawn(weight, 5000)
    got = np.bincount(indices % 4, counts, minlength=4) / 5000
    np.testing.assert_allclose(got, [1 / 8, 2 / 8, 5 / 8, 0], atol=0.02)


def test_the_same_samples_every_time():
    weight = np.random.default_rng(0).uniform(size=1000)
    first, again = drawn(weight, 100), drawn(weight, 100)
    np.testing.assert_array_equal(first, again)
    np.testing.assert_array_equal(drawn(8 * weight, 100)[0], first[0])


@given(n=st.integers(1, 10**9), row_bytes=st.integers(0, 10**9), most=st.integers(0, 10**10))
def test_a_draw_has_few_rows_and_bytes_but_not_too_few(n, row_bytes, most):
    size = draw_size(n, row_bytes, most)
    assert min(n, FEWEST_ROWS) <= size <= min(n, MOST_ROWS)
    assert size * row_bytes <= min(most, MOST_BYTES) or size == min(n, FEWEST_ROWS)


@pytest.mark.parametrize("n", [FEWEST_ROWS, FEWEST_ROWS + 1, 3 * FEWEST_ROWS])
def test_few_rows_are_all_taken_and_many_are_drawn(n):
    X = np.arange(n, dtype=float)[:, None]
    weight = np.linspace(0, 2, n)
    rows, counts = draw_rows(X, weight, most_bytes=0)
    if n == FEWEST_ROWS:
        np.testing.assert_array_equal(rows, X)
        np.testing.assert_array_equal(counts, weight)
    else:
        indices, expected = drawn(weight, FEWEST_ROWS)
        np.testing.assert_array_equal(rows[:, 0], indices)
        np.testing.assert_array_equal(counts, expected)
