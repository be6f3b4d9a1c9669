"""The time that a search will take, beside what recorded searches took."""

import itertools
from types import SimpleNamespace

import pytest
from sklearn.datasets import make_blobs

from kernelmeans import ClusterSearch, KernelPowerKMeans
from kernelmeans._text import duration
from kernelmeans.search.forecast import Forecast
from kernelmeans.search.runner import Runner

#: Name, items and arguments of what ran, and seconds of each result: 2 to 12 clusters in at most 20
#: splits, of iris, 3000 rows of six Gaussians, and digits.
RECORDED = {
    "iris": [
        ("all rows", 11, 1, 0.112),
        ("splits", 11, 8, 0.058),
        ("splits", 2, 4, 0.039),
        ("reference", 4, 2, 0.111),
        ("reference", 2, 2, 0.116),
    ],
    "gaussians": [
        ("all rows", 11, 1, 0.674),
        ("splits", 11, 8, 0.179),
        ("splits", 4, 4, 0.219),
        ("reference", 4, 2, 0.621),
    ],
    "digits": [
        ("all rows", 11, 1, 0.363),
        ("splits", 11, 8, 0.154),
        ("splits", 7, 4, 0.129),
        ("splits", 5, 4, 0.174),
        ("splits", 4, 4, 0.192),
        ("splits", 3, 4, 0.199),
        *[("splits", 2, 4, seconds) for seconds in (0.272, 0.219, 0.115, 0.087)],
        ("reference", 4, 2, 0.184),
    ],
}


@pytest.mark.parametrize("name", RECORDED)
def test_estimates_after_a_tenth_are_about_the_truth(name, monkeypatch):
    clock = [0.0]
    monkeypatch.setattr("kernelmeans.search.forecast.time.perf_counter", lambda: clock[0])
    total = sum(items * n * seconds for _, items, n, seconds in RECORDED[name])
    forecast, numbers, ratios = Forecast(20), itertools.count(), []
    for run, items, n_arguments, seconds in RECORDED[name]:
        halves = [next(numbers) for _ in range(n_arguments)]
        arguments = [("rows", half // 2, half) for half in halves] if run == "splits" else halves
        forecast.expect(run, items, arguments)
        for _ in range(items * n_arguments):
            clock[0] += seconds
            forecast.add()
            if total / 10 < clock[0] < 0.9 * total:
                ratios.append(forecast.seconds / (total - clock[0]))
    assert len(ratios) > 50
    assert 0.45 < min(ratios) < max(ratios) < 2.5


def test_the_start_of_processes_is_no_work(monkeypatch):
    clock, said = [0.0], []
    monkeypatch.setattr("kernelmeans.search.forecast.time.perf_counter", lambda: clock[0])

    def work(items):
        for item in items:
            clock[0] += 1
            yield item

    def parallel(runner, jobs):
        for function, given, _ in jobs:
            clock[0] += 50 if given == (iter, ()) else 0
            yield function(*given)

    monkeypatch.setattr(Runner, "_parallel", parallel)
    search = SimpleNamespace(n_splits=20, n_jobs=2, _say=lambda level, text: said.append(text))
    assert list(Runner(search, None).run("reference", work, range(8), [()])) == list(range(8))
    assert clock[0] == 108
    # The third result comes with the fourth, after four seconds of work.
    assert said[2] == f"reference: 3 of 8 fits done, about {duration(4 * 5 / 3)} left"


def test_less_than_a_second_is_not_worth_a_word(monkeypatch):
    clock = [0.0]
    monkeypatch.setattr("kernelmeans.search.forecast.time.perf_counter", lambda: clock[0])
    forecast = Forecast(2)
    forecast.expect("reference", 100, [()])
    clock[0] += 0.5
    forecast.add()
    assert forecast.text == ", about 50 s left"
    for _ in range(98):
        forecast.add()
    assert forecast.text == ""


@pytest.mark.parametrize("grid", [None, {"n_clusters": [2, 3, 4]}])
def test_the_numbers_that_a_ladder_may_still_try_are_not_counted(grid, monkeypatch, capsys):
    rows, _ = make_blobs(150, centers=3, random_state=0)
    clock = itertools.count()
    monkeypatch.setattr("kernelmeans.search.forecast.time.perf_counter", lambda: next(clock))
    ClusterSearch(KernelPowerKMeans(), grid, random_state=0, verbose=1).fit(rows)
    lines = [line for line in capsys.readouterr().out.splitlines() if " left" in line]
    open_ended = [line.endswith(" left, or longer") for line in lines]
    assert open_ended[0] == (grid is None)
    compared = next(row for row, line in enumerate(lines) if "reference" in line)
    assert not any(open_ended[compared:])
