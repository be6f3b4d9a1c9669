"""The thread pool: order, bounds, errors, and BLAS held at one thread."""

import threading
import time

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from kernelmeans.engines import Threads
from kernelmeans.engines.threads import available_threads


def blas_threads():
    return {lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas"}


@pytest.mark.parametrize("workers", [1, 2, 5])
@pytest.mark.parametrize("max_in_flight", [None, 1, 3])
def test_results_come_in_the_order_of_the_blocks(workers, max_in_flight):
    def work(i):
        time.sleep(0.002 * (i % 3))
        return i * i

    with Threads(workers) as threads:
        got = list(threads.map(work, range(20), max_in_flight))
    assert got == [(i, i * i) for i in range(20)]


@pytest.mark.parametrize(("workers", "max_in_flight", "most"), [(4, 2, 2), (2, None, 4), (4, 1, 1)])
def test_few_results_wait_at_any_time(workers, max_in_flight, most):
    begun, taken, waiting = [], [], []
    lock = threading.Lock()

    def work(i):
        with lock:
            begun.append(i)
            waiting.append(len(begun) - len(taken))

    with Threads(workers) as threads:
        for block, _ in threads.map(work, range(30), max_in_flight):
            time.sleep(0.002)
            with lock:
                taken.append(block)
    # One more has been handed out and is being looked at.
    assert max(waiting) <= most + 1
    assert len(begun) == 30


@pytest.mark.parametrize("workers", [1, 3])
def test_run_calls_every_block_once(workers):
    out = np.zeros(50, int)

    def count(i):
        out[i] += 1

    with Threads(workers) as threads:
        threads.run(count, range(50))
    assert (out == 1).all()


@pytest.mark.parametrize("workers", [1, 3])
def test_an_error_in_a_block_comes_out_and_leaves_blas_as_it_was(workers):
    before = blas_threads()

    def work(i):
        if i == 7:
            raise ZeroDivisionError("block 7")

    with pytest.raises(ZeroDivisionError, match="block 7"), Threads(workers) as threads:
        threads.run(work, range(20))
    assert blas_threads() == before


def test_blas_runs_on_one_thread_while_the_pool_is_open():
    before = blas_threads()
    with Threads(2) as threads:
        inside = [result for _, result in threads.map(lambda _: blas_threads(), range(4))]
    assert inside == [{1}] * 4
    assert blas_threads() == before


def test_limits_of_threadpoolctl_count():
    with threadpool_limits(1, user_api="blas"):
        assert available_threads() == 1
        assert Threads().workers == 1
    assert available_threads() == max(blas_threads())


def test_overlapping_pools_give_blas_its_threads_back():
    before = available_threads()
    first, second = Threads().__enter__(), Threads().__enter__()
    assert second.workers == before
    first.__exit__(None, None, None)
    counts = [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]
    assert set(counts) == {1}  # the second still counts on it
    second.__exit__(None, None, None)
    assert available_threads() == before
