"""Ranks and tests against the tables that the paper prints, and by counting."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, rankdata, wilcoxon

from kernelmeans_paper import printed
from kernelmeans_paper.ranking import compared
from kernelmeans_paper.statistics import mark, mean, ranks, signed_rank_p, slope, spread

#: The numbers in brackets of the paper's tables.
SINGLE_PRINTED = {
    "yale": (1, 2, 4, 3),
    "jaffe": (1, 4, 2, 3),
    "tox_171": (2, 3, 4, 1),
    "seeds": (1, 3, 2, 4),
    "lung": (1, 2, 4, 3),
    "isolet": (1, 3, 4, 2),
    "lung_discrete": (1, 4, 3, 2),
    "coil20": (1, 4, 2, 3),
    "glioma": (1, 3, 2, 4),
}
MULTI_PRINTED = {
    "yale": (6, 4, 3, 5, 1, 2),
    "jaffe": (5, 6, 3, 4, 2, 1),
    "orl": (6, 4, 3, 5, 2, 1),
    "coil20": (5, 6, 3, 4, 2, 1),
}
#: The signs of the paper's table; the best method of a row has none.
SIGNS = {
    "yale": " +++",
    "jaffe": " +≈≈",
    "tox_171": "≈++ ",
    "seeds": " ≈≈≈",
    "lung": " +++",
    "isolet": " +++",
    "lung_discrete": " +++",
    "coil20": " +≈+",
    "glioma": " +≈+",
}


def naive_p(differences):
    """Share of all sign patterns whose sum of ranks is at least as far from its mean."""
    order = rankdata(np.abs(differences))
    centre = order.sum() / 2
    observed = abs(order[np.array(differences) > 0].sum() - centre)
    sums = [np.dot(pattern, order) for pattern in product((0, 1), repeat=len(order))]
    return np.mean([abs(total - centre) >= observed for total in sums])


@pytest.mark.parametrize("name", [name for name in SINGLE_PRINTED if name != "yale"])
def test_ranks_of_one_kernel_are_the_papers(name):
    assert ranks(printed.SINGLE[name]) == list(SINGLE_PRINTED[name])


def test_the_papers_ranks_of_yale_are_a_slip():
    """It prints 0.5199 (2) and 0.5241 (3)."""
    assert printed.SINGLE["yale"][1:] == (0.5199, 0.1714, 0.5241)
    assert ranks(printed.SINGLE["yale"]) == [1, 3, 4, 2]


def test_average_ranks_of_one_kernel_are_those_of_the_printed_values():
    average = np.mean(list(SINGLE_PRINTED.values()), axis=0)
    assert tuple(average.round(2)) == (1.11, 3.11, 3.0, 2.78)  # as printed, with Yale's slip
    average = np.mean([ranks(row) for row in printed.SINGLE.values()], axis=0)
    assert tuple(average.round(2)) == (1.11, 3.22, 3.0, 2.67)  # without it


@pytest.mark.parametrize("name", MULTI_PRINTED)
def test_ranks_of_many_kernels_are_the_papers(name):
    assert ranks(printed.MULTI[name]) == list(MULTI_PRINTED[name])


def test_average_ranks_of_many_kernels_are_the_means():
    average = np.mean([ranks(row) for row in printed.MULTI.values()], axis=0)
    assert tuple(average) == (5.5, 5.0, 3.0, 4.5, 1.75, 1.25)  # the paper prints 6.5 for 5.5


def test_all_that_share_the_best_rank_are_bold_and_have_no_mark():
    row = compared({"a": [0.5] * 20, "b": [0.50004] * 20, "c": [0.3] * 20})
    assert [(cell.rank, cell.best, cell.mark) for cell in row] == [
        (1.5, True, ""),
        (1.5, True, ""),
        (3, False, "+"),
    ]


def test_runs_without_partners_are_refused():
    with pytest.raises(ValueError, match="runs=20 of a, 10 of mine have no partners"):
        compared({"a": [0.5] * 20, "mine": [0.5] * 10})


@pytest.mark.parametrize("name", SIGNS)
def test_signs_are_the_papers(name):
    signs = "".join(" " if p is None else mark(p) for p in printed.P_VALUES[name])
    assert signs == SIGNS[name]
    assert printed.P_VALUES[name].index(None) == int(np.argmax(printed.SINGLE[name]))


def test_the_level_is_five_percent():
    assert [mark(p) for p in (0.0, 0.0499999, 0.05, 1.0)] == ["+", "+", "≈", "≈"]


@given(st.lists(st.integers(0, 6), min_size=1, max_size=8))
def test_ranks_are_one_plus_the_better_and_half_of_the_equal(values):
    values = [value / 10 for value in values]
    assert ranks(values) == [
        1 + sum(other > value for other in values) + (values.count(value) - 1) / 2
        for value in values
    ]


def test_what_prints_alike_shares_a_rank():
    assert ranks([0.12341, 0.12339, 0.9]) == [2.5, 2.5, 1.0]
    assert ranks([0.1234, 0.1235, 0.9]) == [3.0, 2.0, 1.0]


def test_ranks_are_plain_numbers():
    assert {type(rank) for rank in ranks(np.array([0.1, 0.2]))} == {float}


@given(
    st.integers(1, 9).flatmap(
        lambda n: st.tuples(st.permutations(range(1, n + 1)), st.lists(st.booleans(), min_size=n))
    )
)
def test_p_is_the_share_of_sign_patterns(drawn):
    sizes, signs = drawn
    differences = [size if sign else -size for size, sign in zip(sizes, signs, strict=False)]
    p = signed_rank_p(differences, [0] * len(differences))
    assert p == pytest.approx(naive_p(differences))


def test_p_is_scipys_on_fixed_numbers():
    """Twenty runs as of the paper; two of them are equal."""
    rng = np.random.default_rng(0)
    first, second = rng.random(20).round(4), rng.random(20).round(4)
    p = signed_rank_p(first.tolist(), second.tolist())
    assert p == pytest.approx(wilcoxon(first - second, method="exact").pvalue, rel=1e-12)
    second[:2] = first[:2]
    with_zeros = signed_rank_p(first, second)
    assert with_zeros == pytest.approx(wilcoxon(first, second).pvalue)
    assert 0 < with_zeros <= 1


def test_p_of_a_textbook():
    """Darwin's fifteen pairs of maize (Fisher 1935): the negative ranks are 10 and 14."""
    darwin = [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48]
    assert signed_rank_p(darwin, [0] * 15) == pytest.approx(0.0413, abs=5e-5)


def test_the_best_that_n_runs_can_do():
    for n in range(1, 12):
        assert signed_rank_p(range(1, n + 1), [0] * n) == pytest.approx(min(1, 2 / 2**n))


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=6))
def test_p_is_symmetric_and_a_probability(pairs):
    first, second = zip(*pairs, strict=True)
    p = signed_rank_p(first, second)
    assert p == signed_rank_p(second, first)
    assert 0 < p <= 1


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_equal_runs_do_not_differ(values):
    assert signed_rank_p(values, list(values)) == 1.0


def test_the_same_partition_under_other_names_is_no_difference():
    """NMI of one partition under different names of its clusters: 0.7109119415763989 or ...8."""
    first, second = [0.7109119415763989] * 20, [0.7109119415763988] * 20
    assert signed_rank_p(first, second) == 1.0


def test_one_run_that_differs_is_nothing():
    assert mark(signed_rank_p([0.5] * 19 + [0.9], [0.5] * 20)) == "≈"


def test_p_of_many_equal_differences_is_near_the_sign_tests():
    """Eighteen runs of twenty are better by the same: ranks add nothing to their signs."""
    first = [0.6] * 18 + [0.4] * 2
    p = signed_rank_p(first, [0.5] * 20)
    assert p == pytest.approx(2 * binom.cdf(2, 20, 0.5), abs=5e-4)


@given(
    exponent=st.floats(-3, 3),
    factor=st.floats(1e-3, 1e3),
    x=st.lists(st.integers(1, 10_000), min_size=2, max_size=8, unique=True),
)
def test_slope_of_a_power_law_is_its_exponent(exponent, factor, x):
    y = [factor * value**exponent for value in x]
    assert slope(x, y) == pytest.approx(exponent, abs=1e-6)


def test_slope_is_least_squares_on_logarithms():
    """Points (0, 0), (1, 2), (2, 1) on logarithmic axes: the slope is 1/2."""
    assert slope(np.exp([0, 1, 2]), np.exp([0, 2, 1])) == pytest.approx(0.5)


def test_mean_and_spread_are_plain_numbers():
    assert mean([1, 2, 6]) == 3.0
    assert spread([1, 3]) == 1.0
    assert type(mean(np.float32([1, 2]))) is type(spread(np.float32([1, 2]))) is float
