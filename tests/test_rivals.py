"""The judge of `fuzz.rivals` sees what is planted, and believes a library that warns."""

import re
import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator

pytest.importorskip("resource", reason="limits of memory are set as POSIX has them")

from fuzz import Failure, Refused, compare, rivals
from fuzz.rivals import Problem
from fuzz.worker import run

X = np.arange(6.0)[:, None]


class Planted(BaseEstimator):
    """Two clusters of six rows, with one fault."""

    fits = 0

    def __init__(self, fault="", warns=None, n_clusters=2, verbose=0):
        self.fault, self.warns, self.n_clusters, self.verbose = fault, warns, n_clusters, verbose

    max_iter = 9

    def fit(self, X, sample_weight=None):
        Planted.fits += 1
        if self.warns:
            warnings.warn("something", self.warns, stacklevel=2)
        if self.fault == "another exception":
            np.linalg.inv(np.zeros((2, 2)))
        if self.fault == "refused":
            raise ValueError("X has some rows too few")
        self.labels_ = np.array([0, 0, 0, 1, 1, 1])
        self.n_iter_ = 9 if self.fault == "unfinished" else 3
        self.inertia_ = np.nan if self.fault == "not finite" else 1.0
        self.history_ = [2.0, 1.0, 1.5 if self.fault == "objective rises" else 1.0]
        if self.fault == "fewer clusters":
            self.labels_[:] = 1
        if self.fault == "two fits differ" and Planted.fits % 2:
            self.labels_ = 1 - self.labels_
        if self.fault == "no labels":
            self.labels_[0] = -1
        return self

    def predict(self, X):
        if self.fault == "predict fails":
            raise AttributeError("there is no such thing")
        differs = self.fault in ("predict differs", "unfinished")
        return 1 - self.labels_ if differs else self.labels_


def check(model, **problem):
    problem = Problem(**{"X": X, "n_clusters": 2, "random_state": 0} | problem)
    case = rivals.case(problem, model, lambda model, _: [model.history_], [__file__])
    case.check()


def faults(model, **problem):
    """The beginnings of the lines that the judge writes."""
    with pytest.raises(Failure) as failure:
        check(model, **problem)
    lines = str(failure.value).strip().splitlines()
    return [line.split(":")[0] for line in lines]


@pytest.mark.parametrize(
    "fault",
    [begin for begin in compare.FAULTS.values()
     if begin not in ("", "the process is gone", "no end after", "foreign warning")],
)  # fmt: skip
def test_each_fault_is_seen_alone(fault):
    assert faults(Planted(fault)) == [fault]


def test_a_sound_fit_passes_and_a_refusal_is_one():
    check(Planted())
    check(Planted("unfinished"))  # labels may be those before the last step
    with pytest.raises(Refused, match="some rows too few"):
        check(Planted("refused"))
    with pytest.raises(np.linalg.LinAlgError):
        check(Planted("another exception"))


def test_warnings_of_numbers_are_faults_and_those_for_users_are_believed():
    assert set(faults(Planted(warns=RuntimeWarning))) == {"foreign warning"}
    check(Planted("fewer clusters", warns=UserWarning))
    check(Planted("objective rises", warns=UserWarning))
    assert faults(Planted("not finite", warns=UserWarning)) == ["not finite"]
    check(Planted(warns=FutureWarning))


def test_an_objective_may_rise_where_costs_can_be_negative_and_by_rounding():
    check(Planted("objective rises"), kernel="poly")
    check(Planted("objective rises"), weight=-np.ones(6))
    check(Planted("objective rises"), X=1e8 * X)  # 0.5 is less than the rounding of 1e17


def test_ordinary_numbers():
    def is_ordinary(X, weight=None, n_clusters=2):
        return Problem(np.asarray(X), n_clusters, 0, weight).is_ordinary

    assert is_ordinary(X)
    assert is_ordinary(X, np.array([0, 0, 0, 1, 1, 0.5]))
    for scale in (1e-9, 1e9, np.nan, np.inf):
        assert not is_ordinary(scale * (X + 1))
        assert not is_ordinary(X, np.full(6, scale))
    assert not is_ordinary(np.full((6, 1), np.inf, np.float16))
    assert not is_ordinary(X, np.eye(6)[0])
    assert not is_ordinary(X, n_clusters=7)


def test_the_table_counts_every_fault_of_a_case_once(tmp_path, monkeypatch):
    traces = {
        1: "Traceback\nfuzz.Failure: \nnot finite: a\nnot finite: b\ntwo fits differ: c",
        2: "the process is gone (exit status -11)\nFatal",
        3: "Traceback\nIndexError: 3",
    }

    class Process:
        def __init__(self, package):
            pass

        def run(self, name, number):
            kind = "failed" if number in traces else "passed"
            words = rivals.ORDINARY if number % 2 else ""
            found = {"trace": traces.get(number, ""), "words": words, "seconds": 0}
            return {"kind": kind, "before": [], **found}

        def end(self):
            pass

    monkeypatch.setattr(compare, "Process", Process)
    count = compare.counted("kmeans_ours", range(5), tmp_path)
    lines = list(compare.table({"kmeans_ours": count}))
    rows = dict(line.strip("| ").split(" | ") for line in lines[2:])
    assert rows == dict.fromkeys(compare.FAULTS, "0 / 0") | {
        "cases": "5 / 2",
        "passed": "2 / 0",
        "refused": "0 / 0",
        "failed": "3 / 2",
        "numbers that are not finite": "1 / 1",
        "two fits with the same seed differ": "1 / 1",
        "crash of the process": "1 / 0",
        "another exception": "1 / 1",
    }
    assert len(list(tmp_path.iterdir())) == 3
    assert "| the objective rises | - |" in compare.table({"spectral_sklearn": count})


@pytest.mark.filterwarnings("ignore")  # large numbers become infinite in float32
@pytest.mark.parametrize("problems", ["kmeans", "spectral", "kernel"])
def test_both_columns_are_of_the_same_problems(tmp_path, problems):
    names = [name for name in compare.COLUMNS if name.startswith(f"{problems}_")]
    if "kernel_tslearn" in names:
        pytest.importorskip("tslearn")
    for number in range(5):
        words = [run(tmp_path, f"fuzz.rivals.{name}", name, number)["words"] for name in names]
        # tslearn takes each row as a series, a table of one column.
        first, second = (re.sub(r"[\[\]\s]", "", text[text.index("X = ") :]) for text in words)
        assert first == second
