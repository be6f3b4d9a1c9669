"""Small fits are faster in one thread, where other tests run; and processes for small searches."""

import pytest
from threadpoolctl import threadpool_limits

from kernelmeans.search import runner


@pytest.fixture
def processes(monkeypatch):
    """Searches of several jobs start them for any work; returns what they were started with."""
    given, parallel = [], runner.Parallel

    def counted(*args, **parameters):
        given.append(parameters)
        return parallel(*args, **parameters)

    monkeypatch.setattr(runner, "WORTH", 0)
    monkeypatch.setattr(runner, "Parallel", counted)
    return given


@pytest.fixture(autouse=True)
def single_threaded():
    with threadpool_limits(1):
        yield
