"""Adding up in a tree."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelmeans.engines import tree_sum


def halves(terms):
    """The same tree, from the top: the left part is the largest power of two below the whole."""
    if len(terms) == 1:
        return terms[0]
    left = 1 << (len(terms) - 1).bit_length() - 1
    return f"({halves(terms[:left])}{halves(terms[left:])})"


@given(count=st.integers(1, 300))
def test_neighbours_are_added_in_order_and_in_a_tree_that_depends_on_their_number(count):
    terms = [chr(0x4E00 + i) for i in range(count)]
    assert tree_sum(iter(terms), "({}{})".format) == halves(terms)


@given(values=st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=100))
def test_numbers_add_up(values):
    assert tree_sum(values, lambda a, b: a + b) == pytest.approx(np.sum(values), abs=1e-6)


def test_few_sums_wait_at_any_time():
    alive, most = 0, 0

    def terms():
        nonlocal alive, most
        for _ in range(1000):
            alive += 1
            most = max(most, alive)
            yield 1

    def add(a, b):
        nonlocal alive
        alive -= 1
        return a + b

    assert tree_sum(terms(), add) == 1000
    assert most <= 11


def test_rounding_does_not_add_up():
    values = np.full(2**18, 0.1, np.float32)
    exact = float(values[0]) * len(values)
    assert tree_sum(values, np.add) == np.float32(exact)
    one_by_one = np.float32(0)
    for value in values:
        one_by_one += value
    assert abs(one_by_one - exact) > 50


def test_a_single_term_is_not_added_to_anything():
    assert tree_sum([7], None) == 7
