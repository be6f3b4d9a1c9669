"""What ``verbose`` prints: nothing, a line for each restart, or a line for each step too."""

import pickle
import re

import numpy as np
import pytest
import sklearn
from joblib.externals.loky import get_reusable_executor
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.fixes import parse_version

import data
from kernelmeans import (
    ClusterSearch,
    KernelKMeans,
    KernelPowerKMeans,
    MultiKernelPowerKMeans,
    PowerKMeans,
)
from kernelmeans.baselines import MKKM, RKKM, RMKKM

X = data.cloud(120, 3)
GIVEN = {"init": "random", "n_init": 3, "random_state": 0}
ESTIMATORS = [
    KernelPowerKMeans(4, **GIVEN),
    MultiKernelPowerKMeans(4, **GIVEN),
    KernelKMeans(4, **GIVEN),
    PowerKMeans(4, **GIVEN),
    MKKM(4, **GIVEN),
    RKKM(4, **GIVEN),
    RMKKM(4, **GIVEN),
]
estimators = pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda one: type(one).__name__)
RESTART = re.compile(r"restart (\d) of 3: cost (\S+) after (\d+) steps, converged")
STEP = re.compile(r"step (\d+), (power \S+|hard steps), restarts finished (\d)/3, objective (\S+)")


def printed(capsys, model):
    """The lines of a model on its steps, without its name, which stands before each."""
    lines = capsys.readouterr().out.splitlines()
    name = f"[{type(model).__name__}] "
    assert all(line.startswith(name) for line in lines)
    told = [line.removeprefix(name) for line in lines]
    judged = [line for line in told if line.startswith("separation: ")]
    assert len(judged) == (getattr(model, "separation_", None) is not None)
    return [line for line in told if line not in judged]


@estimators
def test_silent_by_default(estimator, capsys):
    assert estimator.verbose == 0
    clone(estimator).fit(X).predict(X)
    assert capsys.readouterr() == ("", "")


@estimators
def test_a_line_for_each_restart_and_a_last_one(estimator, capsys):
    model = clone(estimator).set_params(verbose=1)
    if "n_swaps" in model.get_params():
        model.set_params(n_swaps=0)
    model.fit(X)
    *restarts, last = printed(capsys, model)
    found = [RESTART.fullmatch(line).groups() for line in restarts]
    inertia, steps = model.result_.inertia, model.result_.n_iter
    assert found == [(str(one + 1), f"{inertia[one]:.6g}", str(steps[one])) for one in range(3)]
    best = int(np.argmin(model.result_.cost))
    assert last.startswith(f"restart {best + 1} is the best: cost {-model.score(X):.6g} after ")
    assert re.search(rf" {model.n_iter_} steps and \S+ s, converged$", last)


def test_swap_moves_have_a_line(capsys):
    model = KernelKMeans(4, n_swaps="auto", verbose=True, random_state=0).fit(X)
    first, swaps, last = printed(capsys, model)
    assert first.startswith("restart 1 of 1: ")
    before = int(re.search(r" after (\d+) steps?, converged$", first)[1])
    more = model.n_iter_ - before
    assert more > 0
    assert swaps == f"swap moves: cost {model.inertia_:.6g} after {more} more steps"
    assert last.startswith(f"cost {model.inertia_:.6g} after {model.n_iter_} steps and ")


@estimators
def test_a_line_for_each_step(estimator, capsys):
    model = clone(estimator).set_params(verbose=2).fit(X)
    steps = [STEP.fullmatch(line).groups() for line in printed(capsys, model) if line[:4] == "step"]
    result = model.result_
    numbers = [int(step) for step, *_ in steps]
    assert numbers == list(range(len(steps)))
    # Restarts of a batch take their steps together, and swap moves have no lines.
    if not getattr(model, "n_swaps", 0):
        assert len(steps) == result.n_iter.max()
    assert steps[0][3] == f"{min(history[0] for history in result.objective_history):.6g}"
    assert steps[-1][2] == "3"


@pytest.mark.skipif(
    parse_version(sklearn.__version__) < parse_version("1.9"), reason="no callbacks before 1.9"
)
def test_lines_say_what_callbacks_hear(capsys):
    heard = []

    class Recorder:
        def setup(self, estimator, context): ...

        def teardown(self, estimator, context): ...

        def on_fit_task_begin(self, estimator, context, *, metadata=None): ...

        def on_fit_task_end(self, estimator, context, *, metadata=None):
            if context.task_name == "step":
                heard.append(metadata)
            return len(heard) == 5

    model = KernelPowerKMeans(4, verbose=2, random_state=0).set_callbacks(Recorder()).fit(X)
    lines = printed(capsys, model)
    assert len(heard) == 5
    assert lines[:5] == [
        f"step {one['step']}, power {one['power']:.3g}, restarts finished 0/1, objective "
        f"{one['objective']:.6g}"
        for one in heard
    ]
    assert lines[5].endswith(" after 5 steps, stopped")
    assert re.search(r" after 5 steps and \S+ s, stopped$", lines[6])
    assert len(lines) == 7


@pytest.mark.filterwarnings("ignore:The best restart did not converge")
def test_the_reason_of_the_end(capsys):
    model = KernelPowerKMeans(4, max_iter=1, verbose=1, random_state=0).fit(X)
    first, last = printed(capsys, model)
    assert first.endswith(" after 1 step, out of steps")
    assert re.search(r" after 1 step and \S+ s, out of steps$", last)


def test_a_fit_that_fails_has_no_last_line(capsys):
    with pytest.raises(ValueError, match="should be >= n_clusters"):
        KernelPowerKMeans(400, verbose=2).fit(X)
    assert capsys.readouterr().out == ""


@estimators
def test_labels_do_not_depend_on_it(estimator, capsys):
    silent, loud = clone(estimator).fit(X), clone(estimator).set_params(verbose=2).fit(X)
    assert capsys.readouterr().out
    np.testing.assert_array_equal(loud.labels_, silent.labels_)
    assert loud.inertia_ == silent.inertia_
    loud.predict(X)
    loud.transform(X)
    assert capsys.readouterr().out == ""


@pytest.mark.slow
def test_pipelines_and_searches_in_other_processes(capfd):
    """Processes of joblib print too."""
    # Processes that an earlier test has started would print where that one looked.
    get_reusable_executor().shutdown()
    pipeline = make_pipeline(StandardScaler(), PowerKMeans(n_swaps=0, verbose=1, random_state=0))
    grid = {"powerkmeans__n_clusters": [2, 3]}
    GridSearchCV(pipeline, grid, cv=2, n_jobs=2, refit=False).fit(X)
    lines = capfd.readouterr().out.splitlines()
    assert len(lines) == 3 * 2 * 2
    assert sum(line.startswith("[PowerKMeans] restart 1 of 1: cost ") for line in lines) == 4
    assert sum(line.endswith(" s, converged") for line in lines) == 4


def test_dask_collections(capsys):
    da = pytest.importorskip("dask.array")
    model = PowerKMeans(3, n_swaps=0, verbose=2, random_state=0).fit(da.from_array(X, (50, 3)))
    *steps, restart, last = printed(capsys, model)
    assert len(steps) == model.n_iter_
    assert restart.startswith("restart 1 of 1: ")
    assert last.endswith(" s, converged")
    model.predict(X)
    assert capsys.readouterr().out == ""


def test_subsamples(capsys):
    rows = np.random.default_rng(0).random((70_000, 2))
    model = PowerKMeans(2, verbose=2, random_state=0).fit(rows)
    lines = printed(capsys, model)
    few = [line for line in lines if line.startswith("on a subsample: step ")]
    assert few
    assert all(", power -" in line and "restarts finished 0/1" in line for line in few)
    assert sum(line.startswith("step ") for line in lines) == model.result_.n_iter[0]


def test_models_of_older_versions_are_silent(capsys):
    model = KernelPowerKMeans(3, random_state=0).fit(X)
    del model.verbose  # as in a file that was written before
    old = pickle.loads(pickle.dumps(model))
    assert "verbose" not in vars(old)
    np.testing.assert_array_equal(old.predict(X), model.labels_)
    assert old.get_params()["verbose"] == 0
    assert repr(old) == "KernelPowerKMeans(n_clusters=3, random_state=0)"
    np.testing.assert_array_equal(clone(old).fit(X).labels_, model.labels_)
    np.testing.assert_array_equal(old.fit(X).labels_, model.labels_)
    assert capsys.readouterr().out == ""


@estimators
@pytest.mark.parametrize("value", [-1, "loud", None])
def test_refusals(estimator, value):
    with pytest.raises(ValueError, match=r"The 'verbose' parameter of .* must be an int in the"):
        clone(estimator).set_params(verbose=value).fit(X)


@pytest.mark.slow
@pytest.mark.parametrize("n_jobs", [None, 2])
def test_a_search(capsys, n_jobs):
    grid = {"n_clusters": [2, 3]}
    search = ClusterSearch(PowerKMeans(), grid, n_splits=3, random_state=0, n_jobs=n_jobs)
    silent = clone(search).fit(X)
    assert capsys.readouterr().out == ""
    every_half = clone(search).set_params(verbose=1).fit(X)
    # How long it takes depends on the machine.
    lines = [
        re.sub(r", about \S+ (s|min) left$", "", line)
        for line in printed(capsys, every_half)
        if "reference" not in line
    ]
    *fits, last = lines
    assert fits == ["all rows: 2 of 2 fits done"] + [
        f"splits: {done} of 12 fits done" for done in range(2, 13, 2)
    ]
    assert re.fullmatch(rf"{re.escape(every_half.verdict_)}, after \S+ s", last)
    every_fit = clone(search).set_params(verbose=2).fit(X)
    fits = [line for line in printed(capsys, every_fit) if line.startswith("splits")]
    assert [line.partition(",")[0] for line in fits] == [
        f"splits: {done} of 12 fits done" for done in range(1, 13)
    ]
    for name in ("labels_", "rows_used_"):
        np.testing.assert_array_equal(getattr(silent, name), getattr(every_fit, name))
