"""The runner of `python -m fuzz`, with planted cases, and a few cases of each of its classes."""

import ast
import importlib
import json
import os
import signal
import subprocess
import sys
import warnings
from contextlib import nullcontext
from functools import partial, partialmethod
from inspect import signature
from types import SimpleNamespace
from zipfile import ZipFile

import numpy as np
import polars as pl
import pytest
import scipy.sparse
import skops.io
from sklearn.pipeline import make_pipeline
from threadpoolctl import threadpool_limits

pytest.importorskip("resource", reason="limits of memory are set as POSIX has them")

import fuzz.__main__
import kernelmeans
from fuzz import Failure, Refused, commands, definitions, discover, faulted, pool
from fuzz.cases import (
    callables,
    concurrency,
    faults,
    measures,
    models,
    options,
    precision,
    searches,
    sides,
    states,
)
from fuzz.draw import canonical, scrambled
from fuzz.runner import ENOUGH, Campaign, described, replay
from fuzz.sound import check_fit, not_finite, positive, product, unchanged
from kernelmeans import (
    KernelKMeans,
    KernelPowerKMeans,
    MultiKernelPowerKMeans,
    PowerKMeans,
    baselines,
)
from kernelmeans.engines import threads
from kernelmeans.tables import TableTransformer

PLANTED = """
import os, signal, tempfile, time
import numpy as np
from fuzz import Case
WEIGHT = 1

def case(rng):
    number = int(rng.integers(1000))
    return Case(f"the number {number}", lambda: check(number))

def check(number):
"""
#: A moment after the end of any fit, and more than it takes.
NEVER = 10**5
CHECKS = {
    "fails": "    [][number]",
    "foreign": "    np.linalg.inv(np.zeros((2, 2)))",
    "hangs": "    while True: pass",
    "dies": "    os.kill(os.getpid(), signal.SIGKILL)",
    "crashes": "    import ctypes; ctypes.string_at(0)",
    "leaves": "    tempfile.NamedTemporaryFile(delete=False).close()",
    "forks": "    import threading; threading.Thread(target=time.sleep, args=[9]).start()",
    "swells": "    np.ones(5 * 10**7)",
    "warns": "    np.float64(1e300) * np.float64(1e300)",
    "tells": "    import warnings; warnings.warn('of others', stacklevel=2)",
    "refuses": "    import kernelmeans; kernelmeans.PowerKMeans(2).fit([[np.nan], [1.0]])",
    "exhausts": "    np.empty(10**13)",
    "loses": "    from kernelmeans.estimators.checks import check_result; check_result(np.nan)",
    "extreme": "    from kernelmeans.estimators.checks import check_result; check_result(np.nan)",
    "passes": "    pass",
}
#: Processes take a second each to start.
starts_processes = pytest.mark.slow
#: Classes in which all cases are refused.
ANSWERED = ("refuses", "extreme")
WAITS = "    time.sleep(99)"


@pytest.fixture
def planted(tmp_path, monkeypatch):
    """A package of classes, in each of which all cases end alike."""
    package = tmp_path / "planted"
    package.mkdir()
    (package / "__init__.py").touch()
    for name, check in {**CHECKS, "waits": WAITS}.items():
        extreme = "EXTREME = True\n" * (name == "extreme")
        (package / f"{name}.py").write_text(f"{extreme}{PLANTED}{check}\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    # Many times what 400 MB take, which is a second on a busy machine.
    monkeypatch.setattr(pool, "SECONDS", 10)
    monkeypatch.setattr(pool, "MEGABYTES", 500)
    yield "planted"
    for name in [name for name in sys.modules if name.startswith("planted")]:
        del sys.modules[name]


@starts_processes
def test_failures_are_counted_and_stored_and_the_campaign_goes_on(planted, tmp_path):
    campaign = Campaign(planted, dict.fromkeys(CHECKS, 1), tmp_path / "failures", first=7, most=1)
    campaign.run(300, jobs=2)
    assert {name: tally.cases for name, tally in campaign.tallies.items()} == dict.fromkeys(
        CHECKS, 1
    )
    counts = {name: tally.failed for name, tally in campaign.tallies.items()}
    assert counts == dict.fromkeys(CHECKS, 1) | dict.fromkeys(["passes", *ANSWERED], 0)
    assert all(campaign.tallies[name].refused == 1 for name in ANSWERED)
    assert all(campaign.tallies[name].seconds > 0 for name in ("swells", "hangs"))
    stored = {path.name for path in (tmp_path / "failures").iterdir()}
    assert stored == {f"{name}-7.txt" for name, count in counts.items() if count}
    texts = {
        name: (tmp_path / f"failures/{name}-7.txt").read_text() for name in CHECKS if counts[name]
    }
    assert "IndexError: list index out of range" in texts["fails"]
    assert "the number" in texts["fails"]
    for ended in ("hangs", "dies", "crashes"):
        assert "the number" in texts[ended]
    assert "no end after" in texts["hangs"]
    assert "in check" in texts["hangs"]  # where it was
    assert "the process is gone" in texts["dies"]
    assert "Segmentation fault" in texts["crashes"]
    assert "Unable to allocate" in texts["exhausts"]
    assert "reached NaN" in texts["loses"]
    assert "left behind" in texts["leaves"]
    assert "Thread" in texts["forks"]
    assert "RuntimeWarning: overflow" in texts["warns"]
    assert "foreign warning: of others" in texts["tells"]
    assert "it took" in texts["swells"]
    assert 0 < campaign.tallies["passes"].largest[0] < 500 < campaign.tallies["swells"].largest[0]
    assert f"{campaign.failed} failures" in campaign.table()


@starts_processes
def test_a_failure_names_the_cases_before_it(planted):
    process = pool.Process(planted)
    cases = [("passes", 1), ("fails", 2), ("dies", 3), ("fails", 4)]
    try:
        outcomes = [process.run(*case) for case in cases]
    finally:
        process.end()
    # A process that is gone is replaced.
    before = [[], ["passes 1"], ["passes 1", "fails 2"], []]
    assert [outcome["before"] for outcome in outcomes] == before
    text = described(planted, *cases[2], outcomes[2])
    assert text.endswith("The same process ran before: passes 1, fails 2")


@starts_processes
def test_a_case_that_waits_for_something_ends(planted, monkeypatch):
    monkeypatch.setattr(pool, "WAITING", 1)
    assert sorted([*CHECKS, "waits"]) == list(discover(planted))
    process = pool.Process(planted)
    try:
        outcome = process.run("waits", 0)
    finally:
        process.end()
    assert "no end after 0 s of a processor" in outcome["trace"]
    assert "in check" in outcome["trace"]


@starts_processes
def test_children_that_have_just_ended_do_not_hide_the_work_of_a_process(planted, monkeypatch):
    process, gone = pool.Process(planted), subprocess.Popen(["true"])
    child = pool.psutil.Process(gone.pid)
    gone.wait()
    monkeypatch.setattr(pool.psutil.Process, "children", lambda *_, **__: [child])
    try:
        assert process._cpu() > 0
    finally:
        process.end()


@starts_processes
def test_a_replay_runs_the_same_case_again(planted, capsys):
    assert replay(planted, "fails", 7) == 1
    first = capsys.readouterr().out
    assert replay(planted, "fails", 7) == 1
    assert capsys.readouterr().out == first
    assert "python -m fuzz --package planted --replay fails 7" in first
    assert replay(planted, "fails", 8) == 1
    assert capsys.readouterr().out.splitlines()[2] != first.splitlines()[2]  # another number
    assert replay(planted, "passes", 0) == 0


def test_classes_that_are_none_are_refused_with_those_that_are(planted, capsys, monkeypatch):
    for asked in (["--classes", "passes,zz"], ["--replay", "zz", "3"]):
        monkeypatch.setattr(sys, "argv", ["fuzz", "--package", planted, *asked])
        with pytest.raises(SystemExit):
            fuzz.__main__.main()
        said = capsys.readouterr().err
        assert "zz: the classes are" in said
        assert "passes" in said


@starts_processes
def test_classes_whose_packages_are_not_installed_are_left_out(
    planted, tmp_path, capsys, monkeypatch
):
    with (tmp_path / "planted/fails.py").open("a") as file:
        file.write("NEEDS = 'zz_none'\n")
    asked = ["--classes", "fails,passes", "--cases", "2", "--jobs", "1", "--store", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", ["fuzz", "--package", planted, *asked])
    before = signal.getsignal(signal.SIGTERM)
    try:
        assert fuzz.__main__.main() == 0
    finally:
        signal.signal(signal.SIGTERM, before)
    said = capsys.readouterr().out
    assert "fails is left out: zz_none is not installed" in said
    assert "\nfails " not in said
    assert "\npasses " in said


def test_no_case_of_options_only_prints_help():
    for name in ("fit", "choose", "predict"):
        names = {each for one in options.options(name) for each in one.opts}
        assert "--kernel" in names or name != "fit"
        assert not names & {"-h", "--help"}


def test_time_is_shared_by_weight(planted, tmp_path):
    campaign = Campaign(planted, {"passes": 3, "refuses": 1}, tmp_path, first=7)
    numbers = {"passes": [], "refuses": []}
    for _ in range(40):
        name, number = campaign._next()
        numbers[name].append(number)
        campaign.tallies[name].add(number, {"kind": "passed", "seconds": 0.5, "megabytes": 1.0})
    assert numbers == {"passes": [*range(7, 37)], "refuses": [*range(7, 17)]}


@starts_processes
def test_a_class_that_only_refuses_is_named(planted, tmp_path, capsys, monkeypatch):
    for name, most, code in (("refuses", ENOUGH - 1, 0), ("refuses", ENOUGH, 1), ("passes", 9, 0)):
        asked = ["--classes", name, "--cases", str(most), "--jobs", "1", "--store", str(tmp_path)]
        monkeypatch.setattr(sys, "argv", ["fuzz", "--package", planted, *asked])
        assert fuzz.__main__.main() == code
        assert ("tries nothing: refuses" in capsys.readouterr().out) == code


@pytest.mark.slow
def test_every_parameter_of_every_estimator_is_drawn():
    words = [
        importlib.import_module(f"fuzz.cases.{name}").case(np.random.default_rng(number)).words
        for name, count in {"fits": 1500, "searches": 150, "tables": 150}.items()
        for number in range(count)
    ]
    public = [getattr(kernelmeans, name) for name in kernelmeans.__all__]
    public += [getattr(baselines, name) for name in baselines.__all__] + [TableTransformer]
    estimators = [one for one in public if isinstance(one, type) and hasattr(one, "get_params")]
    assert len(estimators) > 8
    for one in estimators:
        own = " ".join(each for each in words if each.startswith(f"{one.__name__}("))
        undrawn = [name for name in signature(one).parameters if f"{name}=" not in own]
        assert not undrawn, one


@pytest.mark.filterwarnings("ignore::UserWarning")  # as in the fuzz
@pytest.mark.parametrize("place", [1e8, 0])
def test_an_objective_may_rise_only_where_a_fit_says_that_digits_are_lost(place, monkeypatch):
    rng = np.random.default_rng(0)
    X = scipy.sparse.csr_array(rng.normal(size=(30, 4)) + place)
    model = KernelPowerKMeans(3, kernel="rbf", n_swaps=0, random_state=0)

    def rising(self, X, sample_weight=None):
        fitted(self, X, sample_weight=sample_weight)
        self.objective_history_ = np.append(self.objective_history_, 1e9)
        self.power_history_ = np.append(self.power_history_, -np.inf)
        return self

    fitted = KernelPowerKMeans.fit
    monkeypatch.setattr(KernelPowerKMeans, "fit", rising)
    refused = pytest.raises(Failure, match="objective_history_ rises")
    with nullcontext() if place else refused:
        check_fit(model, X, None, rng)


@pytest.mark.parametrize(
    ("given", "judged"),
    [
        ({"kernel": "geodesic"}, True),
        ({"kernel": "poly", "degree": 2, "coef0": 0}, True),
        ({"kernel": "poly", "degree": 2.5}, False),
        ({"kernel": "poly", "coef0": -1}, False),
        ({"kernel": product}, True),
        ({"kernel": np.matmul}, False),
        ({"kernel": "sigmoid"}, False),
    ],
)
def test_an_objective_may_rise_only_if_the_kernel_is_indefinite(given, judged):
    assert positive(KernelPowerKMeans(3, **given), None) == judged


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_distances_have_no_order_of_rows_whatever_the_kernel_is(monkeypatch):
    rng = np.random.default_rng(0)
    X, model = rng.normal(size=(30, 4)), KernelPowerKMeans(3, kernel="sigmoid", random_state=0)
    check_fit(model, X, None, rng)
    transform = KernelPowerKMeans.transform
    by_place = np.linspace(1, 2, 30)[:, None]
    monkeypatch.setattr(
        KernelPowerKMeans, "transform", lambda self, X: transform(self, X) * by_place
    )
    with pytest.raises(Failure, match=r"distances_|order of rows"):
        check_fit(model, X, None, rng)


def test_labels_and_rows_that_differ_on_the_command_line_are_seen(tmp_path):
    table, file = pl.DataFrame({"a": [0.0, 0.1, 5.0, 5.1] * 5}), tmp_path / "labels.csv"
    model = make_pipeline(TableTransformer(), KernelKMeans(2, random_state=0)).fit(table)
    table = pl.concat([table, pl.DataFrame({"a": [None]}, table.schema)])  # cannot be placed
    labels = model[-1].labels_.tolist()

    def check(found):
        pl.DataFrame({"label": found}).write_csv(file)
        for rows in (table, table.to_pandas()):
            sides.check_labels(model, rows, str(file))

    check([*labels, None])
    for wrong in ([1 - labels[0], *labels[1:], None], [*labels, 0], [None, *labels[1:], None]):
        with pytest.raises(Failure, match=r"labels\.csv"):
            check(wrong)


#: Faults of a fit: an attribute, and what becomes of it.
FAULTS = {
    "cost": ("inertia_", lambda cost: 1.05 * cost),
    "start": ("objective_history_", lambda costs: np.r_[1.05 * costs[0], costs[1:]]),
    "step": ("objective_history_", lambda costs: np.r_[costs[:1], 1.2 * costs[1:]]),
    "memberships": ("memberships_", lambda shares: shares[:, ::-1]),
    "critical": ("critical_power_", lambda power: power / 2 + 0.2),
    "weights": ("kernel_weights_", lambda weights: weights[::-1]),
    "first weights": ("kernel_weights_history_", lambda weights: weights[:, ::-1]),
}
ORACLES = {"oracle": 5, "oracle_heat": 5, "oracle_multi": 7}


@pytest.mark.slow
@pytest.mark.parametrize("precision", ["float32", "float64"])
@pytest.mark.parametrize(
    ("name", "fault"),
    [(name, fault) for name, count in ORACLES.items() for fault in list(FAULTS)[:count]],
)
def test_oracles_see_faults_in_each_precision(name, fault, precision, monkeypatch):
    attribute, change = FAULTS[fault]

    def faulty(fit, self, X, sample_weight=None):
        fit(self, X, sample_weight=sample_weight)
        if getattr(self, attribute, None) is not None:
            setattr(self, attribute, change(getattr(self, attribute)))
        return self

    for kind in (KernelKMeans, KernelPowerKMeans, MultiKernelPowerKMeans):
        monkeypatch.setattr(kind, "fit", partialmethod(partial(faulty, kind.fit)))
    assert "seen" in outcomes(name, precision)


@pytest.mark.slow
@pytest.mark.parametrize("precision", ["float32", "float64"])
@pytest.mark.parametrize("name", ORACLES)
def test_oracles_compare_something_in_most_cases(name, precision):
    found = list(outcomes(name, precision))
    assert "seen" not in found
    assert found.count("passed") > len(found) / 2


def outcomes(name, precision):
    """What becomes of the cases of an oracle that are in this precision."""
    for number in range(50):
        words, check = importlib.import_module(f"fuzz.cases.{name}").case(
            np.random.default_rng(number)
        )
        if ("float32" in words) == (precision == "float32"):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)
                try:
                    check()
                    yield "passed"
                except Failure:
                    yield "seen"
                except Refused:
                    yield "refused"


def test_the_second_eigenvalue_is_no_answer_where_the_first_is_far_above_it():
    # Rows on two axes, as many at both ends of each: the mean is 0, and shares are eigenvalues.
    shares = np.array([0.8, 0.2])
    half = np.repeat(np.eye(2), [8, 2], axis=0)
    X = np.concatenate([half, -half]).astype(definitions.Long)
    right, wrong = (SimpleNamespace(critical_power_=1 - 1 / (2 * share)) for share in shares)
    given = X @ X.T, np.ones(20, definitions.Long), 1e-13
    assert definitions.check_critical(right, *given)
    with pytest.raises(Failure, match="critical_power_"):
        definitions.check_critical(wrong, *given)
    assert not definitions.surely_first(np.array([0, 0, 0, 0.3, 0.3001]))


@pytest.mark.parametrize(
    ("name", "value"),
    [("inertia_", np.nan), ("critical_power_", np.inf), ("power_history_", np.array([np.nan]))],
)
def test_numbers_that_are_not_finite_are_seen(name, value):
    model = PowerKMeans(2, random_state=0).fit(np.arange(12.0).reshape(6, 2))
    assert not list(not_finite(model))
    setattr(model, name, value)
    assert [found for found, _ in not_finite(model)] == [name]


def test_properties_and_parts_of_the_result_are_looked_at_too():
    model = PowerKMeans(2, random_state=0).fit(np.arange(12.0).reshape(6, 2))
    model.critical_power_ = -np.inf
    model._predictor.theta[0, 0] = np.nan
    model.result_.kernel_weights[0] = np.inf
    found = [name for name, _ in not_finite(model)]
    assert found == ["cluster_centers_", "result_kernel_weights_"]


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("kernel_silhouette_samples", lambda found: np.full_like(found, -0.5)),
        ("kernel_inertia", lambda found: 1.01 * found + 0.01),
    ],
)
@pytest.mark.parametrize("kernel", ["heat", "rbf", "linear", "poly"])
def test_wrong_measures_in_a_feature_space_are_seen(kernel, name, wrong, monkeypatch):
    X = np.random.default_rng(0).normal(size=(12, 2))
    model, labels = KernelPowerKMeans(1, kernel=kernel, n_swaps=0), np.arange(12) % 3
    weight = np.arange(12.0)
    measures.check_fitted(model, X, labels, weight)
    right = getattr(measures, name)
    monkeypatch.setattr(measures, name, lambda *given: wrong(right(*given)))
    with pytest.raises(Failure, match=r"silhouettes|kernel_inertia"):
        measures.check_fitted(model, X, labels, weight)


def test_threads_of_blas_that_are_not_given_back_are_noticed(monkeypatch):
    rng = np.random.default_rng(0)
    tasks = [(KernelPowerKMeans(2, kernel="rbf", n_swaps=0), rng.normal(size=(30, 2)), None)] * 2
    with threadpool_limits(1, user_api="blas"):  # as in the fuzz
        concurrency.check(concurrency.in_threads, tasks)
        monkeypatch.setattr(threads, "_set_threads", kept_at_one)
        with pytest.raises(Failure, match="threads of BLAS"):
            concurrency.check(concurrency.in_threads, tasks)


def kept_at_one(limits, given=threads._set_threads):
    """Limits BLAS, but never gives back its threads."""
    given([one for one in limits if one[1] == 1])


def test_sparse_rows_are_the_same_in_any_form_and_are_watched():
    rng = np.random.default_rng(0)
    X = scipy.sparse.random_array((9, 5), density=0.5, format="csr", rng=rng)
    found = [scrambled(rng, X) for _ in range(30)]
    assert all((canonical(one) != X).nnz == 0 for one in found)
    assert any(one.nnz > X.nnz for one in found)
    assert any(not one.data.flags.writeable for one in found)
    unsorted = next(one for one in found if not one.has_sorted_indices and one.data.flags.writeable)
    with pytest.raises(Failure, match="data are others"), unchanged(PowerKMeans(), unsorted):
        unsorted.sort_indices()


@pytest.mark.parametrize("kernel", [*callables.SYMMETRIC, *callables.OTHERS])
def test_callables_are_symmetric_or_far_from_it(kernel):
    X = np.random.default_rng(0).normal(size=(9, 2))
    K = kernel(X, X)
    assert (np.abs(K - K.T).max() > 0.01 * np.abs(K).max()) == (kernel in callables.OTHERS)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(
    ("name", "faulty"),
    [
        ("_n_features_out", property(lambda self: self.n_clusters)),
        ("renumber", lambda self, numbers: self),
        ("renumber", lambda self, numbers: self.result_.labels.fill(0)),
    ],
)
def test_answers_by_parameters_and_shared_parts_of_copies_are_seen(name, faulty, monkeypatch):
    monkeypatch.setattr(PowerKMeans, name, faulty)
    cases = (states.case(np.random.default_rng(number)) for number in range(100))
    _, check = next(case for case in cases if case.words.startswith("PowerKMeans"))
    with pytest.raises(Failure):
        check()


@pytest.mark.filterwarnings("always::UserWarning")  # as in the fuzz
@pytest.mark.parametrize("said", ["", "in float32 they are equal", precision.ALIKE])
def test_groups_that_float32_does_not_find_are_seen(said, monkeypatch):
    X, groups = precision.small(np.random.default_rng(0))

    def fit(self, X):
        self.labels_ = groups if X.dtype == float else np.zeros_like(groups)
        if said and X.dtype != float:
            warnings.warn(said, UserWarning, stacklevel=2)
        return self

    monkeypatch.setattr(PowerKMeans, "fit", fit)
    with nullcontext() if "float32" in said else pytest.raises(Failure):
        precision.check(PowerKMeans(3), X.astype(np.float32), groups)


def test_searches_see_few_distinct_rows():
    rng = np.random.default_rng(0)
    counts = {len(np.unique(searches.few_distinct_rows(rng, 40), axis=0)) for _ in range(50)}
    assert counts == {2, 3, 4, 5}


@pytest.mark.parametrize("function", ["eval", "system"])
def test_code_that_a_model_runs_would_make_a_file(function, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    module = {"eval": "builtins", "system": "os"}[function]
    schema = {"protocol": skops.io._protocol.PROTOCOL} | models.call(module, function)
    with ZipFile("m.skops", "w") as archive:
        archive.writestr("schema.json", json.dumps(schema))
    skops.io.load("m.skops", trusted=[f"{module}.{function}"])
    assert (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    ("message", "damaged"),
    [
        ("a.csv: no rows\nadd some", []),
        ("a.csv: " + "x" * 2000, []),
        ("", []),
        ("no rows", ["a.csv"]),
    ],
)
def test_messages_that_are_not_as_promised_are_seen(message, damaged):
    commands.require_line("a.csv: no rows", ["a.csv"])
    commands.require_line("--separator is 'x'", ["a.csv"])
    with pytest.raises(Failure, match="message"):
        commands.require_line(message, damaged)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fault", "moments", "old"),
    [
        ("fill_at", range(9), None),
        ("fill_at", range(7), "out/X.summary.json"),
        ("interrupt_at", range(17), None),
        ("deny_at", range(17), None),
        ("deny_at", range(1, 17, 3), "out/X.summary.json"),
        ("replace_at", range(20), None),
        ("interrupt_after", range(0, faulted.PARTS, 125), None),
        ("kill_after", range(0, faulted.PARTS, 125), None),
        ("kill_at", range(20), "out/X.labels.csv"),
        ("kill_in", [0, 1, 100, 1000, 3000, 10_000, 20_000], "out/X.model.skops"),
        ("fill_disk", range(0, 30, 4), "out/X.summary.json"),
        ("limit_files", [0, 1, 100, 1000, 3000, 10_000, 20_000], "out/X.labels.csv"),
        ("limit_memory", range(20, 140, 30), None),
    ],
    ids=str,
)
def test_faults_at_each_step_of_a_fit(fault, moments, old, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(pool.ROOT), *filter(None, sys.path)]))
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    if fault == "fill_disk" and not faults.may_mount():
        pytest.skip("no small disk may be mounted here")
    arguments = ["fit", "X.npy", "-k", "3", "-o", "out", "--force"]
    if fault == "fill_at":  # only, because drawing takes most of the time
        arguments += ["--plot", "--profiles", "out/P.clusters.csv"]
    faults.check(fault, [*moments, NEVER], arguments, old)


def test_the_look_at_files_after_a_fault(tmp_path):
    out, outputs = tmp_path / "out", faults.OUTPUTS["fit"]
    out.mkdir()
    with pytest.raises(Failure, match="an empty folder is left"):
        faults.check_left(tmp_path, "")
    (out / "X.summary.json").write_text('{"half": ')
    faults.check_left(tmp_path, "")
    with pytest.raises(Failure, match=r"only .*json"):
        faults.check_done(tmp_path, outputs, "")
    with pytest.raises(Failure, match="are not complete"):
        faults.check_files(tmp_path, [25, 40], "", None, is_done=False)
    (out / "X.summary.json").write_bytes(faults.OLD)
    faults.check_files(tmp_path, [25, 40], "", "out/X.summary.json", is_done=False)
    with pytest.raises(Failure, match="is not replaced"):
        faults.check_files(tmp_path, [25, 40], "", "out/X.summary.json", is_done=True)
    (out / "X.labels.csv").write_text("label\n" + "0\n" * 25)
    faults.check_files(tmp_path, [25, 40], "", "out/X.summary.json", is_done=False)
    (out / "other.labels.csv").write_text("label\n" + "0\n" * 40)
    with pytest.raises(Failure, match="are not complete"):
        faults.check_files(tmp_path, [25, 40], "", "out/X.summary.json", is_done=False)
    (out / "X.summary.json").write_text('{"rows": 40}\n')
    with pytest.raises(Failure, match="are not complete"):
        faults.check_files(tmp_path, [25], "", None, is_done=False)
    (out / "other.labels.csv").unlink()
    with pytest.raises(Failure, match="are not complete"):  # of one input each
        faults.check_files(tmp_path, [25, 40], "", None, is_done=False)
    with pytest.raises(Failure, match=r"model\.skops is lost"):
        faults.check_files(tmp_path, [25, 40], "", "out/X.model.skops", is_done=False)
    (out / ".X.summary.json.1234.tmp").touch()
    with pytest.raises(Failure, match="a temporary file is left"):
        faults.check_left(tmp_path, "")
    (tmp_path / "X.csv").write_text("a\n1\n")
    faults.check_inputs(tmp_path, {"X.csv": b"a\n1\n"}, "")
    for other in ({"X.csv": b"a\n2\n"}, {"X.npy": b""}):
        with pytest.raises(Failure, match=r"X\.\w+ is lost or changed"):
            faults.check_inputs(tmp_path, other, "")


@pytest.mark.parametrize(
    ("fault", "status", "said"),
    [
        ("deny_at", 0, "Traceback (most recent call last):"),
        ("limit_memory", 70, ""),
        ("replace_at", 1, ""),
        ("replace_at", 3, "Error: cannot be read"),
        ("fill_at", 1, "Error: No space left on device"),
        ("fill_at", 1, "Error: cannot write out/X.labels.csv\nError: cannot write out/X.png"),
        ("fill_at", -11, "Error: cannot write out/X.labels.csv"),
        ("kill_at", 1, "Error: cannot write out/X.labels.csv"),
        ("kill_after", -9, ""),
    ],
)
def test_the_look_at_the_end_of_a_command(fault, status, said):
    with pytest.raises(Failure, match=fault):
        faults.check_end(fault, status, said)


@pytest.mark.parametrize(
    ("status", "ended", "came", "said"),
    [
        (0, faulted.ENDED, faulted.BEGUN, "it went on"),
        (-15, faulted.BEGUN, faulted.BEGUN, "it has no handler"),
        (-15, faulted.BEGUN, faulted.BEFORE, "it has no handler"),
        (130, faulted.ENDED, faulted.BEGUN, "of another signal"),
        (130, faulted.BEFORE, faulted.BEFORE, "of another signal"),
        (0, faulted.ENDED, faulted.BEFORE, "it went on"),
        (1, faulted.ENDED, faulted.BEGUN, "Aborted!"),
        (1, faulted.ENDED, faulted.ENDED, "Error: of something else"),
        (143, faulted.ENDED, faulted.BEGUN, "Traceback"),
        (143, faulted.ENDED, None, "which has not come"),
        (-11, faulted.ENDED, faulted.ENDED, "it crashes"),
    ],
)
def test_the_look_at_the_end_of_a_command_to_which_a_signal_came(status, ended, came, said):
    with pytest.raises(Failure, match=said):
        faults.check_signal(signal.SIGTERM, status, ended, came, said)


@pytest.mark.parametrize(
    ("status", "ended", "came"),
    [
        (143, faulted.ENDED, faulted.BEGUN),
        (-15, faulted.BEFORE, faulted.BEFORE),
        (-15, faulted.ENDED, faulted.ENDED),
        (0, faulted.ENDED, faulted.ENDED),
        (0, faulted.ENDED, None),
    ],
)
def test_a_signal_ends_a_command_as_it_is_promised(status, ended, came):
    faults.check_signal(signal.SIGTERM, status, ended, came, "")


@pytest.mark.parametrize("suffix", [".png", ".svg", ".pdf"])
def test_pictures_that_are_not_whole(suffix):
    figure = pytest.importorskip("matplotlib.figure").Figure()
    figure.subplots().plot([1, 2])
    content = faults.written(lambda file: figure.savefig(file, format=suffix[1:]))
    assert faults.is_whole_picture(content, suffix)
    for size in [0, 1, 7, 50, len(content) // 2, len(content) - 12, len(content) - 2]:
        assert not faults.is_whole_picture(content[:size], suffix)


@pytest.mark.slow
def test_an_interrupt_that_escapes_the_command_line_is_told(tmp_path):
    code = (
        "import signal\n"
        "from fuzz import faulted\n"
        "def escape(moment):\n"
        "    faulted._SAID[0] = moment\n"
        "    faulted._raise_signal(0)\n"
        "for moment in range(3): print(faulted.run('.', escape, moment, ['fit', 'none']))\n"
    )
    path = os.pathsep.join([str(pool.ROOT), *filter(None, sys.path)])
    environment = {**os.environ, "PYTHONPATH": path}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    ends = [ast.literal_eval(line) for line in done.stdout.splitlines()]
    assert [status for status, *_ in ends] == [130, faulted.FOREIGN, 130], done.stderr
    assert [came for *_, came in ends] == [0, 1, 2]


@pytest.mark.slow
def test_what_ends_a_command_under_a_fault_is_told(tmp_path):
    code = (
        "import os, signal\n"
        "from fuzz import faulted\n"
        "def fail(moment): [][moment]\n"
        "def crash(moment): os.kill(os.getpid(), signal.SIGSEGV)\n"
        "def nothing(moment): pass\n"
        "for begin in (fail, crash, nothing): print(faulted.run('.', begin, 0, ['fit', 'none']))\n"
    )
    path = os.pathsep.join([str(pool.ROOT), *filter(None, sys.path)])
    environment = {**os.environ, "PYTHONPATH": path}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    failed, crashed, refused = done.stdout.splitlines()
    assert failed.startswith("(70, ")
    assert "IndexError" in failed
    assert crashed == "(-11, '', 0, None)"
    assert refused.startswith("(2, ")
