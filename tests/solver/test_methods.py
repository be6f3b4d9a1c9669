"""Methods: powers by step, and what ends a run."""

from dataclasses import replace

import numpy as np
import pytest

import data
from held import feature_space
from kernelmeans.kernels import Kernel
from kernelmeans.lowrank import sampling
from kernelmeans.solver import (
    Alternating,
    Annealed,
    Constant,
    Ending,
    Hard,
    annealed,
    coldest_start,
    critical_power,
    hard,
)
from kernelmeans.solver.critical import automatic_start
from kernelmeans.solver.methods import AUTO, LARGEST_POWER, PACED, QUICK, Report
from kernelmeans.solver.power import DISTANCE, SQUARED_DISTANCE
from kernelmeans.spaces import Centroids, EntropyRule, GramSpace, ProductSpace


def test_the_papers_powers():
    method = Annealed(s0=-1.0, critical_power=-3.0, eta=1.04, anneal_every=5)
    powers = [method.power_at(step) for step in range(342)]
    expected = [-(1.04 ** (step // 5)) for step in range(342)]
    np.testing.assert_allclose(powers, expected, rtol=1e-12)


@pytest.mark.parametrize("s0", [-0.1, -1, -30])
def test_powers_stay_finite_however_long_a_run_is(s0):
    method = Annealed(s0=s0, critical_power=-1, eta=3)
    powers = np.array([method.power_at(step) for step in range(10**4)])
    assert np.isfinite(powers).all()
    assert (np.diff(powers) <= 0).all()
    assert powers[-1] <= -LARGEST_POWER


def state_of(method, n_restarts):
    """The state before the first step, and centroids without any vectors."""
    nothing = np.zeros((1, n_restarts, 1))
    centroids = Centroids((nothing,), np.zeros((1, 1, n_restarts)), np.ones((n_restarts, 1)))
    return method.init(None, centroids, range(n_restarts)), centroids


def report_of(objective=0.0, softness=0.0, labels_hash=0, n_restarts=1):
    values = (np.broadcast_to(np.asarray(x), n_restarts) for x in (objective, softness))
    return Report((), np.ones((1, n_restarts)), *values, np.full(n_restarts, labels_hash))


def test_hard_steps_have_no_finite_power():
    state, centroids = state_of(Hard(), 2)
    for _ in range(3):
        np.testing.assert_array_equal(state.power, [-np.inf, -np.inf])
        assert state.hard.all()
        Hard().step(state, None, centroids, report_of(n_restarts=2))


def test_hard_steps_end_when_labels_stay_or_go_in_circles():
    method = Hard()
    state, centroids = state_of(method, 1)
    endings = []
    for objective, labels_hash in [(9.0, 1), (8.0, 2), (8.0, 3), (7.0, 3)]:
        report = report_of(objective, labels_hash=labels_hash)
        endings.append(Ending(method.done(state, None, centroids, report)[0]))
        method.step(state, None, centroids, report)
    # Other labels at the same cost, and then the same labels.
    assert endings == [Ending.RUNNING, Ending.RUNNING, Ending.CONVERGED, Ending.CONVERGED]


@pytest.mark.parametrize(("cost", "first"), [(SQUARED_DISTANCE, 9.0), (DISTANCE, np.inf)])
def test_a_first_step_that_weighs_otherwise_is_not_judged(cost, first):
    method = Alternating(tol=1e-3, cost=cost)
    state, centroids = state_of(method, 1)
    assert method.step_cost(state).slope is None
    method.step(state, None, centroids, report_of(9.0))
    assert state.objective == first
    assert method.step_cost(state) == cost
    method.step(state, None, centroids, report_of(8.0))
    for objective, ending in ((7.99, Ending.RUNNING), (7.999, Ending.CONVERGED)):
        assert method.done(state, None, centroids, report_of(objective)) == [ending]


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
    method = Annealed(s0=-1, critical_power=-4, eta=1.1)
    crisp, soft = 0.0, 0.5
    assert not method.hardens(-3.9, method.critical_power, np.array([crisp, soft])).any()
    np.testing.assert_array_equal(
        method.hardens(-4.1, method.critical_power, np.array([crisp, soft])), [True, False]
    )


def test_every_restart_hardens_in_the_end():
    method = Annealed(s0=-1, critical_power=-4, eta=1.1)
    assert method.hardens(-LARGEST_POWER, method.critical_power, np.array([0.9])).all()


def test_a_constant_power_never_hardens_and_settles_on_tol():
    method = Constant(s0=-9, critical_power=-4, tol=1e-3)
    state, centroids = state_of(method, 3)
    state.objective = np.array([1.0, 1.0, np.inf])
    report = report_of([0.9995, 0.99, 1.0], n_restarts=3)
    expected = [Ending.CONVERGED, Ending.RUNNING, Ending.RUNNING]
    np.testing.assert_array_equal(method.done(state, None, centroids, report), expected)
    method.step(state, None, centroids, report)
    np.testing.assert_array_equal(state.power, [-9, -9, -9])


def test_an_annealed_run_does_not_end_where_the_objective_stays():
    method = Annealed(s0=-9, critical_power=-4, eta=1.01)
    state, centroids = state_of(method, 1)
    state.objective = np.array([1.0])
    assert method.done(state, None, centroids, report_of(1.0)) == [Ending.RUNNING]


@pytest.mark.parametrize(
    ("s0", "power", "answer"), [(-1, -1, True), (-1, -5, True), (-1, -7, False), (-5, -5, False)]
)
def test_centroids_collapse_until_well_below_the_critical_power(s0, power, answer):
    method = Annealed(s0=s0, critical_power=-4, eta=1.1)
    state, _ = state_of(method, 1)
    state.power = np.array([power])
    assert method.collapsing(state) == [answer]


@pytest.mark.parametrize("critical", [-8e3, -5e4, -1e7])
def test_a_very_low_critical_power_is_passed_too(critical):
    # A very narrow kernel makes all samples orthogonal: s* is about -n / 2.
    method = Annealed(s0=coldest_start(critical), critical_power=critical, eta=1.06)
    powers = [method.power_at(step) for step in range(200)]
    assert powers[0] <= critical
    assert method.hardens(powers[-1], method.critical_power, np.array([0.9])).all()


def test_a_run_on_constant_data_hardens():
    method = Annealed(s0=-1, critical_power=-np.inf, eta=1.06)
    assert method.hardens(method.power_at(1000), method.critical_power, np.array([0.9])).all()


def powers_of(method, softness):
    """Powers of steps whose softness is given, (n_steps, n_restarts)."""
    softness = np.atleast_2d(np.transpose(softness)).T
    n_restarts = softness.shape[1]
    state, centroids = state_of(method, n_restarts)
    powers = []
    for now in softness:
        powers.append(method.power_at(state.time))
        method.step(state, None, centroids, report_of(softness=now, n_restarts=n_restarts))
    return np.array(powers)


@pytest.mark.parametrize("every", [1, 5])
def test_without_a_pace_each_step_counts(every):
    method = Annealed(s0=-2, critical_power=-1, eta=1.06, anneal_every=every)
    powers = powers_of(method, np.random.default_rng(0).uniform(size=30))
    np.testing.assert_array_equal(powers[:, 0], [method.power_at(step) for step in range(30)])


def test_a_pace_halves_the_growth_at_its_change_of_the_softness():
    method = Annealed(s0=-2, critical_power=-1, eta=1.21, pace=0.01)
    powers = powers_of(method, [0, 0, 0.01, 0, 0.03, 0.03, 0.03])[:, 0]
    growth = np.log(powers[1:] / powers[:-1]) / np.log(1.21)
    np.testing.assert_allclose(growth, [1, 1, 1 / 2, 1 / 2, 1 / 4, 1])


def test_a_restart_waits_for_its_own_samples_alone():
    method = Annealed(s0=-2, critical_power=-1, eta=1.1, pace=0.01)
    softness = np.random.default_rng(0).uniform(size=(9, 3)) / 20
    together = powers_of(method, softness)
    for r in range(3):
        np.testing.assert_array_equal(together[:, [r]], powers_of(method, softness[:, r]))
    state, centroids = state_of(method, 3)
    for now in softness[:4]:
        method.step(state, None, centroids, report_of(softness=now, n_restarts=3))
    going = np.array([True, False, True])
    state.keep(going)
    centroids.keep(going)
    report = report_of(softness=softness[4, [0, 2]], n_restarts=2)
    method.step(state, None, centroids, report)
    np.testing.assert_array_equal(method.power_at(state.time), together[5, [0, 2]])


@pytest.mark.parametrize("s0", [-7.0, -1.0, -0.5])
def test_what_forgets_the_start_comes_first(s0):
    method = Annealed(s0=s0, critical_power=-6, eta=1.1, forgets=2, pace=0.01)
    powers = powers_of(method, [0.5, 0.8, 0.8, 0.8])[:, 0]
    np.testing.assert_allclose(powers, [max(s0, -1)] * 2 + [s0, 1.1 * s0])


def test_the_first_hard_step_is_not_compared_with_a_soft_one():
    method = Annealed(s0=-9, critical_power=-4, eta=1.1, softness=0.1)
    state, centroids = state_of(method, 1)
    method.step(state, None, centroids, report_of(5.0, softness=0.05))
    assert state.hard
    endings = []
    for objective, labels_hash in [(6.0, 1), (5.5, 2), (5.5, 3)]:
        report = report_of(objective, labels_hash=labels_hash)
        endings.append(Ending(method.done(state, None, centroids, report)[0]))
        method.step(state, None, centroids, report)
    assert endings == [Ending.RUNNING, Ending.RUNNING, Ending.CONVERGED]


def test_no_restart_hardens_above_the_critical_power_of_its_kernel_weights(threads):
    clear, flat = data.blobs(80, 3, 4, spread=0.3)[0], data.cloud(80, 40)
    kernel, ones = Kernel("linear", {}), np.ones(80)
    members = [GramSpace.hold(kernel, X, ones, threads) for X in (clear, flat)]
    space = ProductSpace(members, [slice(None)] * 2, EntropyRule(1.0))
    first = critical_power(space)
    weights = np.array([[0.5, 0.5], [0.46, 0.54], [0.0, 1.0]])
    moved = critical_power(space.reweighted(weights[2]), 2)
    assert moved < 2 * first
    method = Annealed(s0=-1.0, critical_power=first, eta=1.5, softness=0.1)
    centroids = space.at(np.array([[0, 1, 2], [3, 4, 5]]))
    state = method.init(space, centroids, range(3))
    state.power = np.full(3, 1.5 * first)
    centroids.kernel_weights = weights
    method.step(state, space, centroids, report_of(n_restarts=3))
    # Weights that have hardly moved are not worth another computation.
    np.testing.assert_array_equal(state.critical_power, [first, first, moved])
    np.testing.assert_array_equal(state.hard, [True, True, False])
    np.testing.assert_array_equal(state.known_weights, [[0.5, 0.5], [0.5, 0.5], [0.0, 1.0]])


GIVEN = {"s0": "auto", "eta": "auto", "anneal_every": 3, "max_iter": 70, "tol": 1e-4}


class TestOfParameters:
    """The method that the parameters of an estimator choose."""

    @pytest.fixture
    def space(self):
        # Clusters as clear as can be, so that the automatic start is not the coldest one.
        X = np.repeat(np.eye(12), 8, axis=0) + 1e-3 * data.cloud(96, 12)
        return feature_space(Kernel("linear", {}), X, np.ones(96))

    def chosen(self, space, **given):
        return annealed(space, 12, **{**GIVEN, "n_swaps": "auto", **given})

    def expected(self, space, growth, **more):
        critical = critical_power(space)
        common = {"max_iter": 70, "anneal_every": 3, "n_swaps": "auto", "subsamples": True}
        first = {"s0": automatic_start(space, 12, critical), "critical_power": critical}
        return Annealed(**{**common, **first, **growth, **more})

    def test_without_any_the_samples_decide(self, space):
        assert self.chosen(space) == self.expected(space, QUICK)
        assert self.chosen(space, n_swaps=5) == self.expected(space, QUICK, n_swaps=5)
        # Without swap moves after it, annealing is slower.
        assert self.chosen(space, n_swaps=0) == self.expected(space, AUTO, n_swaps=0)

    def test_a_power_and_a_pace_that_are_given(self, space):
        plain = {"eta": 1.3, "s0": -2.0, "subsamples": False}
        assert self.chosen(space, s0=-2, eta=1.3) == self.expected(space, plain)
        # A start that is not automatic is not forgotten.
        assert self.chosen(space, s0=-2, eta=1.3, forgets=True) == self.expected(space, plain)

    def test_a_start_that_is_forgotten_is_the_coldest(self, space):
        cold = {"s0": coldest_start(critical_power(space)), "forgets": 2}
        assert automatic_start(space, 12, critical_power(space)) > cold["s0"]
        assert self.chosen(space, forgets=True) == self.expected(space, QUICK, **cold)
        several = {**PACED, "alternates": True}
        assert self.chosen(space, alternates=True) == self.expected(space, several)

    def test_at_a_constant_power(self, space):
        critical = critical_power(space)
        cold = Constant(
            max_iter=70, n_swaps=0, s0=coldest_start(critical), critical_power=critical, tol=1e-4
        )
        assert self.chosen(space, eta=1) == cold
        assert self.chosen(space, eta=1, n_swaps=4) == replace(cold, n_swaps=4)
        assert self.chosen(space, eta=1, s0=cold.s0 - 1) == replace(cold, s0=cold.s0 - 1)
        with pytest.warns(UserWarning, match="stays above the critical power .* the centroids col"):
            self.chosen(space, eta=1, s0=critical / 2)

    @pytest.mark.parametrize("eta", ["auto", 1])
    def test_samples_that_do_not_vary_take_hard_steps(self, eta):
        space = feature_space(Kernel("linear", {}), np.ones((9, 2)), np.ones(9))
        assert self.chosen(space, eta=eta) == Hard(max_iter=70, n_swaps="auto")
        turns = Alternating(max_iter=70, n_swaps="auto", tol=1e-4)
        assert self.chosen(space, eta=eta, alternates=True) == turns

    def test_very_many_samples_have_swap_moves_where_they_are_asked_for(self, space, monkeypatch):
        assert hard(space, n_swaps="auto", max_iter=9) == Hard(max_iter=9, n_swaps="auto")
        monkeypatch.setattr(sampling, "MOST_ROWS", 60)
        monkeypatch.setattr(sampling, "FEWEST_ROWS", 10)
        assert space.subsample_size < 96
        assert hard(space, n_swaps="auto", max_iter=9) == Hard(max_iter=9, n_swaps=0)
        assert hard(space, n_swaps=3, max_iter=9) == Hard(max_iter=9, n_swaps=3)
        assert self.chosen(space).n_swaps == 0


def test_what_is_not_finished_says_what_helps():
    slow = Annealed(s0=-1.0, critical_power=-3.0, eta=1.1)
    assert "at the power -4.5; raise max_iter, or anneal faster" in slow.unfinished(-4.5)
    for method in (slow, Hard()):
        assert "still changed labels; raise max_iter" in method.unfinished(-np.inf)
    constant = Constant(s0=-9.0, tol=0.001)
    assert "by more than tol=0.001 a step; raise max_iter or tol" in constant.unfinished(-9.0)
