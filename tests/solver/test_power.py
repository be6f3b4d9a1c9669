"""The weight rules against exact decimal arithmetic."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracle
from backends import NUMPY, over_backends
from kernelmeans._arrays import namespace, to_numpy
from kernelmeans.solver.exchange import BOUNDLESS
from kernelmeans.solver.power import (
    DISTANCE,
    NEGLIGIBLE,
    SQUARED_DISTANCE,
    Weights,
    hard_weights,
    memberships,
    power_weights,
    weigh,
)

POWERS = [-0.1, -0.5, -1, -3.25, -17, -120, -1e3, -1e4]
DTYPES = ["float32", "float64"]


def weights_of(backend, d, power, v=None, cost=SQUARED_DISTANCE):
    """What `weigh` says of distances that one library holds, as NumPy's."""
    v = np.ones(d.shape[-1], d.dtype) if v is None else v
    d = backend.array(d)
    weights = weigh(d, np.asarray(power, float), backend.array(v), cost)
    assert {namespace(part) for part in weights} == {namespace(d)}
    # Devices of CuPy have no hash.
    assert all(part.device == d.device for part in weights)
    return Weights(*map(to_numpy, weights))


def weigh_one(backend, d, s, dtype="float64"):
    """Weights, mean and certainty of a single sample."""
    weights = weights_of(backend, np.asarray(d, dtype)[:, None, None], [s])
    return weights.values[:, 0, 0], weights.means.item(), weights.certainty.item()


distances = st.lists(st.floats(-8, 8).map(lambda x: 10.0**x), min_size=1, max_size=6)


@over_backends
@given(d=distances, s=st.sampled_from(POWERS))
def test_weights_and_means_are_the_direct_formulas(backend, d, s):
    values, mean, certainty = weigh_one(backend, d, s)
    expected = oracle.power_weights(d, s)
    # log(r) carries rounding that the exponent t multiplies; negligible weights are cut.
    rtol = 1e-14 * (2 + abs(s)) * 40
    np.testing.assert_allclose(values, expected, rtol=rtol, atol=1e-24 * expected.max())
    assert mean == pytest.approx(oracle.power_mean(d, s), rel=rtol)
    assert certainty == pytest.approx(expected.max() / expected.sum(), rel=rtol)


@over_backends
@pytest.mark.parametrize("dtype", DTYPES)
@given(d=st.lists(st.floats(-26, 8).map(lambda x: 10.0**x), min_size=1, max_size=6))
def test_powers_next_to_zero_keep_their_digits(backend, dtype, d):
    """The power mean is then next to the geometric one, which sees every distance."""
    d = np.asarray(d, dtype).astype(float)
    values, mean, certainty = weigh_one(backend, d, -1e-6, dtype)
    rtol = 2e2 * float(np.finfo(dtype).eps)
    expected = np.exp(np.log(d).mean())
    # Between the two lie terms of the order of s times the variance of the logarithms.
    between = 1e-6 * (np.var(np.log(d)) + np.ptp(np.log(d)))
    assert mean == pytest.approx(expected, rel=rtol + between)
    memberships = (1 / d) / (1 / d).sum()
    np.testing.assert_allclose(values / values.sum(), memberships, rtol=rtol + 1e-4, atol=1e-24)
    np.testing.assert_allclose(values.sum(), (mean / d).sum() / len(d), rtol=rtol + 1e-4)
    assert certainty == pytest.approx(memberships.max(), rel=rtol + 1e-4)


@over_backends
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("d", [[3.0], [3.0, 0.2, 7.0]])
@pytest.mark.parametrize("s", [-1e-30, -1e-300])
def test_the_smallest_powers_have_the_geometric_mean(backend, dtype, d, s):
    values, mean, _ = weigh_one(backend, d, s, dtype)
    assert mean == pytest.approx(np.exp(np.log(d).mean()), rel=1e-5)
    np.testing.assert_allclose(values, mean / np.array(d) / len(d), rtol=1e-5)


@over_backends
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("d", [[3.0], [3.0, 0.2, 7.0]])
@pytest.mark.parametrize("s", [-1e31, -1e300, -1e308])
def test_the_largest_powers_have_the_minimum(backend, dtype, d, s):
    values, mean, certainty = weigh_one(backend, d, s, dtype)
    np.testing.assert_array_equal(values, np.array(d) == min(d))
    assert (mean, certainty) == (np.asarray(min(d), dtype), 1)


@over_backends
@given(d=distances, s=st.sampled_from(POWERS), dtype=st.sampled_from(DTYPES))
def test_nothing_overflows_and_nothing_is_denormal(backend, d, s, dtype):
    with np.errstate(all="raise", under="ignore"):
        values, mean, certainty = weigh_one(backend, d, s, dtype)
    assert np.isfinite(values).all()
    assert values.max() > 0
    assert ((values == 0) | (values >= np.finfo(dtype).tiny)).all()
    # A power mean lies between the smallest distance and k^(1/t) times it.
    resolution = 1e-5 if dtype == "float32" else 1e-12
    low = np.float64(np.asarray(d, dtype).min())
    assert low * (1 - resolution) <= mean
    # No k^(1/t) overflows in the range of a single precision number here.
    assert mean <= low * len(d) ** (1 / abs(s)) * (1 + resolution) + np.finfo(dtype).tiny
    assert 1 / len(d) * (1 - resolution) <= certainty <= 1


@over_backends
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("s", POWERS)
def test_a_block_has_no_denormals_where_weights_fade_out(backend, s, dtype):
    # Ratios through the whole range in which the weights pass from one to nothing.
    ratios = np.exp(np.linspace(0, min(200 / (1 - s), 80), 4001))
    d = np.stack([np.ones_like(ratios), ratios])[:, None].astype(dtype)
    values = weights_of(backend, d, [s]).values
    positive = values[values > 0]
    assert positive.min() >= np.finfo(dtype).tiny * 1e6
    assert (values[1] == 0).any()


@over_backends
@given(d=distances, s=st.sampled_from(POWERS))
def test_euler_identity(backend, d, s):
    # The power mean is homogeneous of degree one: sum_j w_j d_j = M_s(d).
    values, mean, _ = weigh_one(backend, d, s)
    # What is cut off is at most 1e-25 of the largest weight, at up to 1e16 times the distance.
    assert values @ np.asarray(d) == pytest.approx(mean, rel=1e-8)


@over_backends
@given(d=distances, s=st.sampled_from(POWERS[:6]))
def test_weights_do_not_change_with_the_unit_of_distance(backend, d, s):
    values, mean, _ = weigh_one(backend, d, s)
    # A power of two scales without rounding.
    scaled, scaled_mean, _ = weigh_one(backend, np.array(d) * 2.0**40, s)
    np.testing.assert_array_equal(values, scaled)
    assert scaled_mean == pytest.approx(mean * 2.0**40, rel=1e-15)


@given(d=distances)
def test_means_fall_with_the_power(d):
    means = [weigh_one(NUMPY, d, s)[1] for s in POWERS]
    assert all(b <= a * (1 + 1e-12) for a, b in pairwise(means))


def test_the_hard_step_is_the_limit_of_the_power_step():
    d = np.random.default_rng(0).uniform(1, 2, (4, 1, 500))
    hard = hard_weights(d, np.ones(d.shape[-1]))
    soft = power_weights(d.copy(), np.array([-1e4]), np.ones(500))
    clear = np.diff(np.sort(d[:, 0], axis=0)[:2], axis=0)[0] > 0.02
    assert clear.sum() > 300
    scaled = soft.values / soft.values.sum(axis=0)
    np.testing.assert_allclose(scaled[..., clear], hard.values[..., clear], atol=1e-10)
    np.testing.assert_allclose(soft.means, hard.means, rtol=1e-3)


@over_backends
def test_hard_weights_go_to_the_first_of_equals(backend):
    d = np.array([[3.0, 1.0], [1.0, 1.0], [1.0, 2.0]])[:, None]
    weights = weights_of(backend, d, [-np.inf])
    np.testing.assert_array_equal(weights.values[:, 0], [[0, 1], [1, 0], [0, 0]])
    np.testing.assert_array_equal(weights.labels, [[1, 0]])
    np.testing.assert_array_equal(weights.means, [[1, 1]])


@over_backends
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("weighted", [False, True])
def test_exchanged_samples_go_where_their_own_part_in_a_cluster_counts(backend, dtype, weighted):
    rng = np.random.default_rng(3)
    d = rng.uniform(1, 1.4, (4, 2, 60)).astype(dtype)
    v = rng.uniform(0.5, 2, 60) if weighted else np.ones(60)
    totals = rng.uniform(6, 12, (4, 2))
    # An only sample stays; of boundless clusters the nearest is joined.
    totals[:, 1] = BOUNDLESS
    d[1, 0, 7], v[7] = 0.1, totals[1, 0]
    on = backend.array(d), backend.array(v.astype(dtype))
    weights = hard_weights(*on, cluster_weight=totals)
    labels = to_numpy(weights.labels)
    for i in range(60):
        own = int(d[:, 0, i].argmin())
        costs = [m * v[i] * x / (m + v[i]) for m, x in zip(totals[:, 0], d[:, 0, i], strict=True)]
        rest = totals[own, 0] - v[i]
        costs[own] = totals[own, 0] * v[i] * d[own, 0, i] / rest if rest > 1e-6 else 0
        assert costs[labels[0, i]] == pytest.approx(min(costs), rel=1e-5)
        assert to_numpy(weights.values)[:, 0, i].argmax() == labels[0, i]
    assert labels[0, 7] == 1
    assert (labels[0] != d[:, 0].argmin(axis=0)).any()
    np.testing.assert_array_equal(labels[1], d[:, 1].argmin(axis=0))


@over_backends
@pytest.mark.parametrize("cost", [SQUARED_DISTANCE, DISTANCE], ids=["squared", "plain"])
@pytest.mark.parametrize(
    "power", [[-2, -np.inf, -5], [-np.inf, -1, -np.inf], [-np.inf] * 3, [-1, -2, -3]]
)
def test_a_mixed_batch_is_its_restarts_one_by_one(backend, power, cost):
    d = np.random.default_rng(1).uniform(0.1, 5, (4, 3, 50))
    v = np.random.default_rng(2).uniform(0, 3, 50)
    together = weights_of(backend, d, power, v, cost)
    for r, s in enumerate(power):
        alone = weights_of(backend, d[:, [r]], [s], v, cost)
        np.testing.assert_array_equal(together.values[:, r], alone.values[:, 0])
        np.testing.assert_array_equal(together.means[r], alone.means[0])
        np.testing.assert_array_equal(together.certainty[r], alone.certainty[0])
        np.testing.assert_array_equal(together.labels[r], alone.labels[0])


@over_backends
@pytest.mark.parametrize("s", [-0.5, -4, -np.inf])
def test_memberships_of_a_sample_sum_to_one(backend, s):
    d = np.random.default_rng(1).uniform(0.1, 5, (4, 50))
    given = backend.array(d)
    got = to_numpy(memberships(given, s, floor=1e-9))
    np.testing.assert_allclose(got.sum(axis=0), 1, rtol=1e-14)
    np.testing.assert_array_equal(got.argmax(axis=0), d.argmin(axis=0))
    np.testing.assert_array_equal(d, to_numpy(given))


@over_backends
@pytest.mark.parametrize("dtype", DTYPES)
def test_weights_below_the_threshold_are_exactly_nothing(backend, dtype):
    d = np.array([1.0, 10.0 ** (26 / 3)])
    values, _, _ = weigh_one(backend, d, -2, dtype)
    assert values[1] == 0
    values, _, _ = weigh_one(backend, [1.0, 10.0 ** (24 / 3)], -2, dtype)
    assert values[1] == pytest.approx(oracle.power_weights([1, 1e8], -2)[1], rel=0.2)
    assert NEGLIGIBLE == 1e-25


@over_backends
@pytest.mark.parametrize("s", [-0.5, -4, -np.inf])
def test_sample_weights_multiply_the_weights_alone(backend, s):
    d = np.random.default_rng(1).uniform(0.1, 5, (4, 2, 30))
    v = np.random.default_rng(2).integers(0, 5, 30).astype(float)
    plain, weighted = (weights_of(backend, d, [s, s], w) for w in (np.ones(30), v))
    np.testing.assert_allclose(weighted.values, v * plain.values, rtol=1e-14)
    np.testing.assert_array_equal(weighted.means, plain.means)
    np.testing.assert_array_equal(weighted.certainty, plain.certainty)


@over_backends
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("cost", [SQUARED_DISTANCE, DISTANCE], ids=["squared", "plain"])
def test_every_library_has_the_weights_that_numpy_has(backend, dtype, cost):
    d = 10.0 ** np.random.default_rng(1).uniform(-3, 3, (5, 3, 200))
    d, v = d.astype(dtype), np.random.default_rng(2).uniform(0, 3, 200).astype(dtype)
    power = [-1.5, -np.inf, -30]
    rtol = 2e-4 if dtype == "float32" else 1e-12
    for got, expected in zip(
        weights_of(backend, d, power, v, cost), weights_of(NUMPY, d, power, v, cost), strict=True
    ):
        assert got.dtype == expected.dtype
        np.testing.assert_allclose(got, expected, rtol, atol=1e-24)
