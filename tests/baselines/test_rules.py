"""Rules of kernel weights are compared with numerical minimisers of the same objective."""

import numpy as np
import pytest
import scipy.optimize
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from kernelmeans.baselines import PowerSumRule, SquaredRule
from kernelmeans.spaces import EntropyRule

#: Older versions of SciPy's minimiser step over their bounds on the way, and say so.
pytestmark = pytest.mark.filterwarnings("ignore:Values in x were outside bounds:RuntimeWarning")

costs_of_kernels = st.lists(st.floats(0.1, 100), min_size=1, max_size=6).map(np.array)
exponents = st.sampled_from([0.1, 0.3, 0.4, 0.5, 0.9])


def least(value, constraint, n):
    """Least value under an equality constraint, weights not negative, from several starts."""
    best = np.inf
    for start in np.random.default_rng(0).dirichlet(np.ones(n), 4):
        found = scipy.optimize.minimize(
            value,
            start,
            method="SLSQP",
            bounds=[(1e-9, None)] * n,
            constraints={"type": "eq", "fun": constraint},
            options={"ftol": 1e-12, "maxiter": 500},
        )
        if abs(constraint(found.x)) < 1e-6:
            best = min(best, found.fun)
    assert np.isfinite(best)
    return best


def squared(a, c):
    return a**2 @ c


def linear(a, c):
    return a @ c


@given(costs=costs_of_kernels)
def test_squared_weights_on_the_simplex(costs):
    rule = SquaredRule()
    (a,) = rule.update(costs[None])
    assert a.sum() == pytest.approx(1)
    assert_allclose(a, (1 / costs) / (1 / costs).sum(), rtol=1e-12)
    assert_allclose(rule.multipliers(a[None]), [a**2])
    scale = squared(a, costs)
    found = least(lambda x: squared(x, costs) / scale, lambda x: x.sum() - 1, len(costs))
    assert found == pytest.approx(1, rel=1e-5)


@given(costs=costs_of_kernels, g=exponents)
def test_weights_whose_powers_sum_to_one(costs, g):
    rule = PowerSumRule(g)
    (a,) = rule.update(costs[None])
    assert (a**g).sum() == pytest.approx(1)
    expected = costs ** (1 / (g - 1)) / (costs ** (g / (g - 1))).sum() ** (1 / g)
    assert_allclose(a, expected, rtol=1e-9)
    assert_allclose(rule.multipliers(a[None]), [a])
    # Over b = a^g, on the simplex, its power g is a norm, (sum_l c_l b_l^(1/g))^g: convex.
    scale = linear(a, costs) ** g
    found = least(
        lambda b: linear(np.abs(b) ** (1 / g), costs) ** g / scale,
        lambda b: b.sum() - 1,
        len(costs),
    )
    assert found == pytest.approx(1, rel=1e-5)


@given(costs=costs_of_kernels, strength=st.floats(0.5, 100))
def test_weights_held_together_by_their_entropy(costs, strength):
    rule = EntropyRule(strength)
    (a,) = rule.update(costs[None])
    assert a.sum() == pytest.approx(1)
    assert_allclose(a, np.exp(-costs / strength) / np.exp(-costs / strength).sum(), rtol=1e-9)

    def value(x):
        x = np.maximum(x, 1e-12)
        return x @ costs + strength * x @ np.log(len(x) * x)

    (penalty,) = rule.penalty(a[None])
    assert linear(a, costs) + penalty == pytest.approx(value(a), rel=1e-9)
    assert penalty >= -1e-12 * strength
    found = least(lambda x: value(x) / value(a), lambda x: x.sum() - 1, len(costs))
    assert found == pytest.approx(1, rel=1e-5)


RULES = {
    "squared": SquaredRule(),
    "power sum": PowerSumRule(0.4),
    "power sum, small": PowerSumRule(0.01),
    "power sum, large": PowerSumRule(0.99),
    "entropy": EntropyRule(3.0),
    "no entropy": EntropyRule(0),
    "all entropy": EntropyRule(np.inf),
}
rules = pytest.mark.parametrize("name", RULES)


@rules
@given(costs=costs_of_kernels)
def test_a_dearer_kernel_never_weighs_more(name, costs):
    (a,) = RULES[name].update(np.sort(costs)[None])
    assert (np.diff(a) <= 1e-12).all()


@rules
@pytest.mark.parametrize("n", [1, 2, 5])
def test_the_start_is_what_equal_costs_give(name, n):
    start = RULES[name].start(n)
    assert start.shape == (n,)
    assert_allclose(RULES[name].update(np.full((1, n), 7.0))[0], start, rtol=1e-9)
    assert_allclose(RULES[name].penalty(start[None]), 0, atol=1e-12)


@rules
def test_restarts_have_nothing_to_do_with_each_other(name):
    costs = np.random.default_rng(0).uniform(1, 9, (5, 3))
    together = RULES[name].update(costs)
    alone = np.concatenate([RULES[name].update(row[None]) for row in costs])
    assert_array_equal(together, alone)


@rules
@pytest.mark.parametrize(
    "costs",
    [[0.0, 0.0, 0.0], [0.0, 1.0, 2.0], [1e-300, 1.0, 1e300], [1e300] * 3, [1e-300] * 3],
    ids=repr,
)
def test_extreme_costs_give_finite_weights(name, costs):
    rule = RULES[name]
    with np.errstate(over="raise", invalid="raise", divide="raise"):
        (a,) = rule.update(np.array([costs]))
    assert np.isfinite(a).all()
    assert (a >= 0).all()
    g = rule.exponent if isinstance(rule, PowerSumRule) else 1
    assert (a**g).sum() == pytest.approx(1)
    assert a[0] == a.max()


@pytest.mark.parametrize("rule", ["squared", "power sum"])
@pytest.mark.parametrize("unit", [1e-9, 1e9])
def test_the_unit_of_the_costs_cancels(rule, unit):
    costs = np.array([[1.0, 4.0, 9.0]])
    assert_allclose(RULES[rule].update(unit * costs), RULES[rule].update(costs), rtol=1e-9)


def test_limits_of_the_exponent():
    costs = np.array([[1.0, 2.0, 4.0]])
    # Near 0 the powers of the weights, which sum to one, are alike; near 1 one takes all.
    for g, expected in ((0.005, [1 / 3] * 3), (0.999, [1, 0, 0])):
        assert_allclose(PowerSumRule(g).update(costs)[0] ** g, expected, atol=0.01)


def test_limits_of_the_entropy():
    costs = np.array([[3.0, 1.0, 1.0, 2.0]])
    assert_array_equal(EntropyRule(0).update(costs), [[0, 0.5, 0.5, 0]])
    assert_array_equal(EntropyRule(np.inf).update(costs), np.full((1, 4), 0.25))
    assert_array_equal(EntropyRule(1e-5).update(costs), [[0, 0.5, 0.5, 0]])
    assert_allclose(EntropyRule(1e9).update(costs), 0.25, rtol=1e-8)
