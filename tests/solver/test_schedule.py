"""The schedule: powers by step, and what ends a run."""

import numpy as np
import pytest

from kernelmeans.solver import Schedule, coldest_start
from kernelmeans.solver.schedule import LARGEST_POWER, Clock


def test_the_papers_powers():
    schedule = Schedule(s0=-1.0, critical_power=-3.0, eta=1.04, anneal_every=5)
    powers = [schedule.power(step) for step in range(342)]
    expected = [-(1.04 ** (step // 5)) for step in range(342)]
    np.testing.assert_allclose(powers, expected, rtol=1e-12)


@pytest.mark.parametrize("s0", [-0.1, -1, -30])
def test_powers_stay_finite_however_long_a_run_is(s0):
    schedule = Schedule(s0=s0, critical_power=-1, eta=3)
    powers = np.array([schedule.power(step) for step in range(10**4)])
    assert np.isfinite(powers).all()
    assert (np.diff(powers) <= 0).all()
    assert powers[-1] <= -LARGEST_POWER


@pytest.mark.parametrize("eta", [1.0, 1.1])
def test_a_hard_schedule_stays_hard(eta):
    schedule = Schedule(s0=-np.inf, critical_power=-np.inf, eta=eta)
    assert [schedule.power(step) for step in (0, 10)] == [-np.inf, -np.inf]
    assert not schedule.anneals


@pytest.mark.parametrize(
    ("critical", "start"), [(-0.5, -1), (-np.inf, -np.inf), (0.3, -1), (-0.95, None), (-3.25, None)]
)
def test_the_coldest_start_lies_just_below_the_critical_power(critical, start):
    s0 = coldest_start(critical)
    if start is not None:
        assert s0 == start
    else:
        assert 1.2 * critical <= s0 <= critical
        assert s0 <= -1


def test_no_restart_hardens_above_the_critical_power():
    schedule = Schedule(s0=-1, critical_power=-4, eta=1.1)
    crisp, soft = 0.0, 0.5
    assert not schedule.hardens(-3.9, schedule.critical_power, np.array([crisp, soft])).any()
    np.testing.assert_array_equal(
        schedule.hardens(-4.1, schedule.critical_power, np.array([crisp, soft])), [True, False]
    )


def test_every_restart_hardens_in_the_end():
    schedule = Schedule(s0=-1, critical_power=-4, eta=1.1)
    assert schedule.hardens(-LARGEST_POWER, schedule.critical_power, np.array([0.9])).all()


def test_a_constant_power_never_hardens_and_settles_on_tol():
    schedule = Schedule(s0=-9, critical_power=-4, eta=1, tol=1e-3)
    assert not schedule.hardens(-9, schedule.critical_power, np.array([0.0])).any()
    before, now = np.array([1.0, 1.0, np.inf]), np.array([0.9995, 0.99, 1.0])
    np.testing.assert_array_equal(schedule.settled(before, now), [True, False, False])


def test_an_annealed_run_never_settles_on_tol():
    schedule = Schedule(s0=-9, critical_power=-4, eta=1.01, tol=1)
    assert not schedule.settled(np.array([1.0]), np.array([1.0])).any()


@pytest.mark.parametrize(
    ("s0", "power", "answer"), [(-1, -1, True), (-1, -5, True), (-1, -7, False), (-5, -5, False)]
)
def test_centroids_collapse_until_well_below_the_critical_power(s0, power, answer):
    schedule = Schedule(s0=s0, critical_power=-4, eta=1.1)
    assert schedule.collapses(power, np.array([-4.0])) == [answer]


@pytest.mark.parametrize("critical", [-8e3, -5e4, -1e7])
def test_a_very_low_critical_power_is_passed_too(critical):
    # A very narrow kernel makes all samples orthogonal: s* is about -n / 2.
    schedule = Schedule(s0=coldest_start(critical), critical_power=critical, eta=1.06)
    powers = [schedule.power(step) for step in range(200)]
    assert powers[0] <= critical
    assert schedule.hardens(powers[-1], schedule.critical_power, np.array([0.9])).all()


def test_a_run_on_constant_data_hardens():
    schedule = Schedule(s0=-1, critical_power=-np.inf, eta=1.06)
    assert schedule.hardens(schedule.power(1000), schedule.critical_power, np.array([0.9])).all()


def powers_of(schedule, softness):
    """Powers of steps whose softness is given, (n_steps, n_restarts)."""
    softness = np.atleast_2d(np.transpose(softness)).T
    clock = Clock(schedule, softness.shape[1])
    powers = []
    for now in softness:
        powers.append(clock.power)
        clock.tick(now)
    return np.array(powers)


@pytest.mark.parametrize("every", [1, 5])
def test_without_a_pace_each_step_counts(every):
    schedule = Schedule(s0=-2, critical_power=-1, eta=1.06, anneal_every=every)
    powers = powers_of(schedule, np.random.default_rng(0).uniform(size=30))
    np.testing.assert_array_equal(powers[:, 0], [schedule.power(step) for step in range(30)])


def test_a_pace_halves_the_growth_at_its_change_of_the_softness():
    schedule = Schedule(s0=-2, critical_power=-1, eta=1.21, pace=0.01)
    powers = powers_of(schedule, [0, 0, 0.01, 0, 0.03, 0.03, 0.03])[:, 0]
    growth = np.log(powers[1:] / powers[:-1]) / np.log(1.21)
    np.testing.assert_allclose(growth, [1, 1, 1 / 2, 1 / 2, 1 / 4, 1])


def test_a_restart_waits_for_its_own_samples_alone():
    schedule = Schedule(s0=-2, critical_power=-1, eta=1.1, pace=0.01)
    softness = np.random.default_rng(0).uniform(size=(9, 3)) / 20
    together = powers_of(schedule, softness)
    for r in range(3):
        np.testing.assert_array_equal(together[:, [r]], powers_of(schedule, softness[:, r]))
    clock = Clock(schedule, 3)
    for now in softness[:4]:
        clock.tick(now)
    clock.keep(np.array([True, False, True]))
    clock.tick(softness[4, [0, 2]])
    np.testing.assert_array_equal(clock.power, together[5, [0, 2]])


@pytest.mark.parametrize("s0", [-7.0, -1.0, -0.5])
def test_what_forgets_the_start_comes_first(s0):
    schedule = Schedule(s0=s0, critical_power=-6, eta=1.1, forgets=2, pace=0.01)
    powers = powers_of(schedule, [0.5, 0.8, 0.8, 0.8])[:, 0]
    np.testing.assert_allclose(powers, [max(s0, -1)] * 2 + [s0, 1.1 * s0])
