"""Small fits are faster in one thread, where other tests run."""

import pytest
from threadpoolctl import threadpool_limits


@pytest.fixture(autouse=True)
def single_threaded():
    with threadpool_limits(1):
        yield
