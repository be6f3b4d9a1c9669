"""Clocks that are set while something runs: nothing waits longer, and no duration is odd."""

import itertools
import json
import re
import time

import numpy as np
import pytest

import data
from kernelmeans import ClusterSearch, KernelPowerKMeans

#: Seconds by which the clock is set forward and back.
JUMP = 10**8


@pytest.fixture
def jumps(monkeypatch):
    """The clock on the wall is set each time that anybody looks at it."""
    shift, now = itertools.cycle([0, JUMP, -JUMP]), time.time
    monkeypatch.setattr(time, "time", lambda: now() + next(shift))
    monkeypatch.setattr(time, "time_ns", lambda: int(1e9 * (now() + next(shift))))


def model(**given):
    return KernelPowerKMeans(3, kernel="rbf", random_state=0, **given)


def seconds_in(text):
    return [float(found) for found in re.findall(r"([-\d.e+]+) s\b", text)]


@pytest.mark.usefixtures("short_searches")
def test_a_fit_and_a_search(jumps, capsys):
    X = data.blobs()[0]
    begin = time.perf_counter()
    fitted = model(verbose=1).fit(X)
    search = ClusterSearch(
        model(verbose=1), {"n_clusters": [2, 3]}, n_splits=3, random_state=0, verbose=1
    ).fit(X)
    took = time.perf_counter() - begin
    said = seconds_in(capsys.readouterr().out)
    assert len(said) > 2
    for seconds in (*said, search.refit_time_, *search.results_["mean_fit_time"]):
        assert 0 <= seconds <= took
    np.testing.assert_array_equal(fitted.labels_, search.labels_)


def test_the_command(jumps, monkeypatch, tmp_path, capsys):
    pytest.importorskip("polars", reason="the extra cli is not installed")
    from kernelmeans.cli.app import app

    monkeypatch.chdir(tmp_path)
    np.save("X.npy", data.blobs()[0])
    begin = time.perf_counter()
    with pytest.raises(SystemExit) as ended:
        app(["fit", "X.npy", "-k", "3", "--compare"])
    took = time.perf_counter() - begin
    assert not ended.value.code
    summary = json.loads((tmp_path / "X.summary.json").read_text())
    found = [value for name, value in flat(summary) if "seconds" in name]
    assert len(found) > 1
    for seconds in [*found, *seconds_in(capsys.readouterr().out)]:
        assert 0 <= seconds <= took


def flat(content, name=""):
    """All numbers of a summary, with their names."""
    if isinstance(content, dict):
        for key, value in content.items():
            yield from flat(value, key)
    elif isinstance(content, int | float):
        yield name, content
