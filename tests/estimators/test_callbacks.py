"""scikit-learn's callbacks: one sub-task for each step."""

import copy

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.utils.fixes import parse_version

import data
import oracle
from kernelmeans import KernelKMeans, KernelPowerKMeans, MultiKernelPowerKMeans, PowerKMeans
from kernelmeans.estimators import base
from kernelmeans.solver import Ending, solve

if parse_version(sklearn.__version__) < parse_version("1.9"):
    pytest.skip("scikit-learn has callbacks from 1.9 on", allow_module_level=True)

from sklearn.callback import ProgressBar

X = data.cloud(120, 3)
ESTIMATORS = [
    KernelPowerKMeans(4, n_init=5, init="random", random_state=0),
    KernelKMeans(4, n_init=5, init="random", random_state=0),
    PowerKMeans(4, n_init=5, init="random", random_state=0),
]
estimators = pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)


class Recorder:
    """Notes every call; stops the fit at the end of a step, or fails there, if asked to."""

    def __init__(self, stop_at=None, fail_at=None):
        self.stop_at, self.fail_at = stop_at, fail_at
        self.calls, self.begun, self.ended = [], [], []

    def setup(self, estimator, context):
        self.calls.append("setup")

    def on_fit_task_begin(self, estimator, context, *, metadata=None):
        self.calls.append(("begin", context.task_name))
        if context.task_name == "step":
            self.begun.append(metadata)

    def on_fit_task_end(self, estimator, context, *, metadata=None):
        self.calls.append(("end", context.task_name))
        if context.task_name == "step":
            self.ended.append(metadata)
            if len(self.ended) == self.fail_at:
                raise InterruptedError("as asked")
            return len(self.ended) == self.stop_at
        return False

    def teardown(self, estimator, context):
        self.calls.append("teardown")


def fitted(estimator, recorder):
    return clone(estimator).set_callbacks(recorder).fit(X)


@estimators
def test_each_step_is_a_task_that_begins_and_ends(estimator):
    recorder = Recorder()
    model = fitted(clone(estimator).set_params(n_swaps=0), recorder)
    steps = model.result_.n_iter.max()
    assert len(recorder.begun) == len(recorder.ended) == steps
    inner = [("begin", "step"), ("end", "step")] * steps
    assert recorder.calls == ["setup", ("begin", "fit"), *inner, ("end", "fit"), "teardown"]


@estimators
def test_restarts_finished_rise_to_their_number(estimator):
    recorder = Recorder()
    fitted(estimator, recorder)
    finished = [progress["restarts_finished"] for progress in recorder.ended]
    assert finished == sorted(finished)
    assert finished[-1] == 5
    assert {progress["n_restarts"] for progress in recorder.ended} == {5}


@pytest.fixture
def batches(monkeypatch):
    """Sizes of the batches that began, each of three restarts or fewer."""
    sizes = []

    def noted(space, centroids, powers, seeds, reporter):
        sizes.append(len(seeds))
        return solve(space, centroids, powers, seeds, reporter)

    # Three restarts of PowerKMeans; one of the others takes more.
    monkeypatch.setattr(base, "BATCH_BYTES", 1200)
    monkeypatch.setattr(base, "solve", noted)
    return sizes


@estimators
def test_restarts_finished_count_over_batches_and_swaps(estimator, batches):
    recorder = Recorder()
    model = clone(estimator).set_params(n_init=12, n_swaps="auto")
    model.set_callbacks(recorder).fit(X)
    assert len(batches) >= 4
    assert sum(batches) == 12
    progress = [(step["restarts_finished"], step["n_restarts"]) for step in recorder.ended]
    assert [finished for finished, _ in progress] == sorted(finished for finished, _ in progress)
    assert progress[-1] == (12, 12)
    assert {n for _, n in progress} == {12}


@estimators
def test_a_true_answer_ends_the_fit_with_a_usable_model(estimator):
    recorder = Recorder(stop_at=3)
    model = fitted(estimator, recorder)
    assert len(recorder.ended) == 3
    assert model.n_iter_ == 3
    assert (model.result_.endings == Ending.STOPPED).all()
    assert not model.result_.converged.any()
    np.testing.assert_array_equal(model.labels_, model.predict(X))
    assert model.inertia_ == -model.score(X)
    assert recorder.calls[-1] == "teardown"


@pytest.mark.filterwarnings("ignore:Number of distinct clusters")
@estimators
def test_a_true_answer_ends_all_batches_and_swaps(estimator, batches):
    recorder = Recorder(stop_at=3)
    model = clone(estimator).set_params(n_init=40, n_swaps="auto")
    model.set_callbacks(recorder).fit(X)
    assert len(recorder.ended) == 3
    assert len(batches) == 1


@pytest.mark.parametrize(
    ("several", "stop_at"), [(False, 30), (False, "last"), (True, 60), (True, "last")]
)
def test_bounds_hold_for_a_fit_that_is_stopped_among_swap_moves(several, stop_at):
    cls, kernel = (MultiKernelPowerKMeans, {"kernels": "widths"}) if several else (KernelKMeans, {})
    model = cls(6, n_swaps=20, random_state=0, **kernel)
    points = data.cloud(300, 2)
    if stop_at == "last":
        recorder = Recorder()
        clone(model).set_callbacks(recorder).fit(points)
        stop_at = len(recorder.ended)
    model.set_callbacks(Recorder(stop_at=stop_at)).fit(points)
    assert model.result_.endings == [Ending.STOPPED]
    cost = oracle.hard_cost(model.kernel_(points, points), model.labels_)
    assert model.inertia_bounds_ == pytest.approx((cost, cost), rel=1e-9)


@estimators
def test_an_error_in_a_callback_comes_out_after_teardown(estimator):
    recorder = Recorder(fail_at=2)
    with pytest.raises(InterruptedError, match="as asked"):
        fitted(estimator, recorder)
    assert recorder.calls[-1] == "teardown"


@pytest.mark.parametrize("where", ["input", "kernel"])
def test_teardown_follows_every_setup_when_a_fit_fails(where):
    recorder = Recorder()
    model = KernelPowerKMeans(4, kernel=lambda A, B: np.full((len(A), len(B)), np.nan))
    model.set_callbacks(recorder)
    with pytest.raises(ValueError, match="NaN"):
        model.fit(np.full((9, 2), np.nan) if where == "input" else X)
    assert recorder.calls.count("teardown") == recorder.calls.count("setup")
    assert recorder.calls[-1:] in ([], ["teardown"])


@estimators
def test_callbacks_change_nothing(estimator):
    plain = clone(estimator).fit(X)
    watched = fitted(estimator, Recorder())
    np.testing.assert_array_equal(plain.labels_, watched.labels_)
    assert plain.inertia_ == watched.inertia_


@estimators
def test_a_fitted_estimator_keeps_no_trace_of_the_fit(estimator):
    model = fitted(estimator, Recorder())
    assert not [name for name in vars(model) if "context" in name or "ctx" in name]
    assert copy.deepcopy(model).predict(X).shape == (120,)


@estimators
@pytest.mark.parametrize("n_swaps", [0, "auto"])
def test_the_progress_bar_of_scikit_learn_works(estimator, n_swaps, capsys):
    pytest.importorskip("rich", reason="scikit-learn's progress bar needs rich")
    model = clone(estimator).set_params(n_swaps=n_swaps).set_callbacks(ProgressBar()).fit(X)
    assert model.labels_.shape == (120,)
    assert type(estimator).__name__ in capsys.readouterr().out
