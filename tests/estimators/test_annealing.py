"""The schedule as the estimators run it."""

import warnings
from functools import partial

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score as ari
from sklearn.metrics import normalized_mutual_info_score as nmi

import data
import oracle
from kernelmeans import KernelKMeans, KernelPowerKMeans, PowerKMeans

X = data.cloud(120, 8)
GAUSSIAN = partial(KernelPowerKMeans, kernel="rbf")
CRITICAL = oracle.critical_power(data.rms_kernel(X))


def test_the_data_here_have_a_critical_power_below_the_papers_start():
    assert CRITICAL < -1.5


@pytest.mark.parametrize("estimator", [GAUSSIAN, KernelPowerKMeans, PowerKMeans])
@pytest.mark.parametrize("eta", ["auto", 1.04, 1.5])
@pytest.mark.parametrize("s0", ["auto", -0.2, -1.0, -30.0])
def test_an_annealed_run_passes_the_critical_power_and_ends_in_hard_steps(estimator, eta, s0):
    model = estimator(4, n_swaps=0, s0=s0, eta=eta, random_state=0).fit(X)
    finite = model.power_history_[np.isfinite(model.power_history_)]
    assert finite[-1] <= model.critical_power_
    hard = model.power_history_[len(finite) :]
    assert len(hard) >= 2
    assert np.isneginf(hard).all()
    # The last two steps assigned alike: nothing changes any more.
    assert model.objective_history_[-1] == pytest.approx(model.inertia_, rel=1e-9)
    assert model.n_iter_ == len(model.power_history_) == len(model.objective_history_)
    assert model.result_.converged.all()


def test_an_automatic_start_lies_about_the_critical_power():
    model = KernelPowerKMeans(4, kernel="rbf", n_swaps=0, random_state=0).fit(X)
    assert model.critical_power_ == pytest.approx(CRITICAL, rel=2e-3)
    assert 1.21 * CRITICAL < model.power_history_[0] < 0.39 * CRITICAL


def test_an_automatic_start_is_never_above_minus_one():
    line = np.arange(40.0)[:, None]
    model = PowerKMeans(3, n_swaps=0, random_state=0).fit(line)
    assert model.critical_power_ > -1
    assert model.power_history_[0] == -1


def test_the_papers_settings():
    model = KernelPowerKMeans(
        4, kernel="rbf", s0=-1.0, eta=1.04, anneal_every=5, init="random", n_init=3, random_state=0
    ).fit(X)
    finite = model.power_history_[np.isfinite(model.power_history_)]
    expected = -(1.04 ** (np.arange(len(finite)) // 5))
    np.testing.assert_allclose(finite, expected, rtol=1e-12)


def test_plain_steps_are_those_of_the_equations_to_the_end():
    seeds = np.array([3, 30, 60, 90])
    model = KernelPowerKMeans(4, kernel="rbf", n_swaps=0, eta=1.1, init=seeds).fit(X)
    K = data.rms_kernel(X)
    A, history = oracle.run(K, oracle.at_samples(seeds, len(X)), model.power_history_)
    np.testing.assert_allclose(model.objective_history_, history, rtol=1e-6)
    np.testing.assert_array_equal(model.labels_, oracle.distances(K, A).argmin(axis=1))


class TestConstantPower:
    """eta = 1: the power stays, the run ends on tol, and no hard step is taken."""

    def test_ends_on_tol(self):
        loose, tight = (
            PowerKMeans(4, n_swaps=0, s0=-8, eta=1, tol=tol, random_state=0).fit(X)
            for tol in (1e-2, 1e-8)
        )
        assert loose.n_iter_ < tight.n_iter_
        for model, tol in [(loose, 1e-2), (tight, 1e-8)]:
            assert (model.power_history_ == -8).all()
            change = -np.diff(model.objective_history_) / model.objective_history_[1:]
            assert change[-1] <= tol
            assert (change[:-1] > tol).all()
            np.testing.assert_array_equal(model.labels_, model.predict(X))

    @pytest.mark.filterwarnings("ignore:Number of distinct clusters")
    @pytest.mark.parametrize("s0", [-1, -0.2])
    def test_warns_where_the_centroids_collapse(self, s0):
        message = rf"s0={s0} with eta=1 stays above the critical power -\d.*Use s0='auto'"
        with pytest.warns(UserWarning, match=message):
            KernelPowerKMeans(
                4, kernel="rbf", n_swaps=0, s0=s0, eta=1, max_iter=400, random_state=0
            ).fit(X)

    def test_rows_that_differ_are_no_duplicates(self):
        why = "centroids that coincide at the power -1 of the last step: lower s0, or raise eta"
        with (
            pytest.warns(UserWarning, match="the centroids collapse"),
            pytest.warns(ConvergenceWarning, match=rf"found smaller .* Possibly due to {why}"),
        ):
            GAUSSIAN(20, s0=-1, eta=1, random_state=0).fit(X)
        # The remedy.
        assert len(np.unique(GAUSSIAN(20, s0=-1, random_state=0).fit(X).labels_)) == 20

    def test_is_silent_below_the_critical_power(self):
        model = KernelPowerKMeans(
            4, kernel="rbf", n_swaps=0, s0=1.3 * CRITICAL, eta=1, random_state=0
        ).fit(X)
        assert len(np.unique(model.labels_)) == 4

    def test_automatic_start(self):
        model = KernelPowerKMeans(4, kernel="rbf", n_swaps=0, eta=1, random_state=0).fit(X)
        assert (model.power_history_ == model.power_history_[0]).all()
        assert model.power_history_[0] < model.critical_power_


@pytest.mark.parametrize(
    ("estimator", "cause"),
    [
        (GAUSSIAN, "still annealed, at the power -.*raise max_iter, or anneal faster"),
        (KernelPowerKMeans, "still annealed, at the power -.*raise max_iter, or anneal faster"),
        (PowerKMeans, "still annealed, at the power -.*raise max_iter, or anneal faster"),
        (KernelKMeans, r"hard steps still changed labels; raise max_iter\."),
    ],
)
def test_too_few_steps_bring_a_warning_with_cause_and_remedy(estimator, cause):
    with pytest.warns(ConvergenceWarning, match=f"max_iter=2 steps: .*{cause}"):
        model = estimator(4, n_swaps=0, max_iter=2, random_state=0).fit(X)
    assert model.n_iter_ == 2
    np.testing.assert_array_equal(model.labels_, model.predict(X))
    assert model.inertia_ == -model.score(X)


def test_over_relaxed_steps_save_steps_at_the_same_cost():
    rows = [data.cloud(150, 6, seed) for seed in range(8)]
    costs, steps = np.empty((2, 8)), np.empty((2, 8))
    for i, eta in enumerate(["auto", 1.04]):
        for j, Z in enumerate(rows):
            model = KernelPowerKMeans(5, kernel="rbf", n_swaps=0, eta=eta, random_state=0).fit(Z)
            costs[i, j], steps[i, j] = model.inertia_, model.n_iter_
    assert steps[0].mean() < 0.85 * steps[1].mean()
    assert costs[0].mean() < 1.005 * costs[1].mean()


def test_annealing_solves_the_motivating_example_that_hard_steps_do_not():
    # The paper: adjusted Rand index 1.0 against .78.
    Z, y = data.rings()
    starts = np.random.default_rng(0).integers(0, len(Z), (20, 10))

    def mean_ari(model):
        return np.mean([ari(y, labels) for labels in model.fit(Z).result_.labels])

    common = {"n_clusters": 10, "gamma": 0.5, "init": starts}
    assert mean_ari(KernelKMeans(**common)) < 0.8
    assert mean_ari(KernelPowerKMeans(kernel="rbf", n_swaps=0, **common)) > 0.9
    assert (
        mean_ari(
            KernelPowerKMeans(kernel="rbf", s0=-1.0, eta=1.04, anneal_every=5, n_swaps=0, **common)
        )
        > 0.98
    )


@data.needs_data
def test_the_papers_nmi_on_seeds():
    Z, y = data.standardized("seeds")
    rng = np.random.default_rng(0)
    starts = np.stack([rng.choice(len(Z), 3, replace=False) for _ in range(20)])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = KernelPowerKMeans(
            3, kernel="rbf", n_swaps=0, s0=-1.0, eta=1.04, anneal_every=5, init=starts
        ).fit(Z)
    mean = np.mean([nmi(y, labels) for labels in model.result_.labels])
    assert mean == pytest.approx(0.750, abs=0.003)


@pytest.mark.parametrize("estimator", [GAUSSIAN, KernelPowerKMeans, PowerKMeans])
def test_an_annealed_run_that_ends_among_hard_steps_says_so(estimator):
    whole = estimator(4, n_swaps=0, random_state=0).fit(X)
    first_hard = int(np.isneginf(whole.power_history_).argmax()) + 1
    cause = r"hard steps still changed labels; raise max_iter\.$"
    with pytest.warns(ConvergenceWarning, match=f"max_iter={first_hard} steps: {cause}"):
        estimator(4, n_swaps=0, max_iter=first_hard, random_state=0).fit(X)
