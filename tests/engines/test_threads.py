"""The thread pool: order, bounds, errors, and BLAS held at one thread."""

import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from sklearn.neighbors import NearestNeighbors
from threadpoolctl import threadpool_info, threadpool_limits

import data
import kernelmeans.engines.threads as threads_module
from kernelmeans import KernelPowerKMeans
from kernelmeans.engines import Threads
from kernelmeans.engines.threads import available_threads, single_threaded_openmp
from kernelmeans.metrics import neighbor_consistency


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


def test_what_numpy_overlooks_is_what_the_caller_has_set():
    with Threads(2) as threads, np.errstate(over="raise", under="warn"):
        found = [state for _, state in threads.map(lambda _: np.geterr(), range(4))]
    assert [(state["over"], state["under"]) for state in found] == [("raise", "warn")] * 4


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


def in_thread(function):
    """What a function answers when another thread than the main one calls it."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(function).result()


@pytest.fixture
def two_threads():
    """BLAS at two threads, set by the main thread, to which threadpoolctl then gives the say."""
    with threadpool_limits(2, user_api="blas"):
        if blas_threads() != {2}:
            pytest.skip("needs a BLAS that can have two threads")
        yield


def test_blas_runs_on_one_thread_in_pools_of_any_thread(two_threads):
    def inside():
        with Threads(2) as threads:
            return [
                blas_threads(),
                *(found for _, found in threads.map(lambda _: blas_threads(), [1, 2])),
            ]

    for call in (inside, lambda: in_thread(inside)):
        assert call() == [{1}] * 3
        assert blas_threads() == {2}


@pytest.mark.parametrize("last", ["main", "other"])
def test_blas_is_as_before_after_pools_of_two_threads_overlap(two_threads, last):
    before, begun, done = threadpool_info(), threading.Event(), threading.Event()

    def other():
        with Threads(2):
            begun.set()
            assert done.wait(10)
        return blas_threads()

    with ThreadPoolExecutor(1) as pool:
        with Threads(2):
            waiting = pool.submit(other)
            assert begun.wait(10)
            if last == "main":
                done.set()
                assert waiting.result() == {1}  # the main thread's pool still counts on it
        done.set()
        assert waiting.result() == {1 if last == "main" else 2}
    assert threadpool_info() == before


def test_fits_that_overlap_leave_blas_as_it_was(two_threads):
    X, before = data.cloud(300), threadpool_info()
    seen = []

    def watched(A, B):
        seen.append(blas_threads())
        return A @ B.T

    def fit(seed):
        return KernelPowerKMeans(3, kernel=watched, random_state=seed).fit(X).inertia_

    expected = [fit(seed) for seed in range(4)]
    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(fit, range(4))) == expected
    assert {count for counts in seen for count in counts} == {1}
    assert threadpool_info() == before


def test_searches_for_neighbours_find_blas_limited(two_threads, monkeypatch):
    """Or scikit-learn would give it back as another thread's fit has left it."""
    search, during = NearestNeighbors.kneighbors, []

    def watched(self, *given, **named):
        during.append(blas_threads())
        return search(self, *given, **named)

    monkeypatch.setattr(NearestNeighbors, "kneighbors", watched)
    X = data.cloud(100)
    labels = KernelPowerKMeans(3, random_state=0).fit(X).predict(X[:5] + 1e-3)
    neighbor_consistency(X[:5], labels)
    assert during == [{1}] * 3
    assert blas_threads() == {2}


def test_a_blas_that_is_loaded_later_is_limited_too(monkeypatch):
    class Late:
        filepath, internal_api, num_threads = "late", "other", 3

        def set_num_threads(self, count):
            self.num_threads = count

    class Controller(threads_module.ThreadpoolController):
        def select(self, **kwargs):
            found = super().select(**kwargs)
            found.lib_controllers.append(late)
            return found

    with Threads(1):
        pass
    late = Late()
    monkeypatch.setattr(threads_module, "ThreadpoolController", Controller)
    monkeypatch.setitem(sys.modules, "a_module_with_a_blas", threads_module)
    with Threads(1):
        assert late.num_threads == 1
    assert late.num_threads == 3
    monkeypatch.undo()
    threads_module._blas.cache_clear()


@pytest.mark.parametrize("most", [0, 1, 2])
def test_fewer_threads_do_where_the_system_refuses_more(most, monkeypatch):
    start, started, ran = threading.Thread.start, [], []

    def limited(thread):
        if sum(other.is_alive() for other in started) == most:
            raise RuntimeError("can't start new thread")
        started.append(thread)
        start(thread)

    def work(i):
        ran.append(threading.current_thread())
        time.sleep(0.002)
        return -i

    monkeypatch.setattr(threading.Thread, "start", limited)
    with Threads(4) as threads:
        assert list(threads.map(work, range(20))) == [(i, -i) for i in range(20)]
    assert len(ran) == 20
    assert set(ran) == (set(started[-most:]) if most else {threading.current_thread()})


def test_an_interruption_while_threads_start_leaves_none_waiting(monkeypatch):
    """Python would wait for them when it ends."""
    before, futures, submit = blas_threads(), [], ThreadPoolExecutor.submit

    def interrupted(pool, *args):
        if futures:
            raise KeyboardInterrupt
        futures.append(submit(pool, *args))

    monkeypatch.setattr(ThreadPoolExecutor, "submit", interrupted)
    with pytest.raises(KeyboardInterrupt), Threads(2):
        pass
    assert futures[0].result(timeout=60)
    assert blas_threads() == before


def test_limits_that_count_in_one_thread_only(monkeypatch):
    """As those of OpenBLAS over OpenMP do."""

    class OfThread(threading.local):
        filepath, internal_api, threading_layer, num_threads = "own", "openblas", "openmp", 3

        def set_num_threads(self, count):
            self.num_threads = count

    library, begun, done = OfThread(), threading.Event(), threading.Event()

    class Controller(threads_module.ThreadpoolController):
        def select(self, **kwargs):
            found = super().select(**kwargs)
            found.lib_controllers = [library]
            return found

    monkeypatch.setattr(threads_module, "ThreadpoolController", Controller)
    threads_module._blas.cache_clear()

    def other():
        with Threads(2) as threads:
            begun.set()
            assert done.wait(10)
            inside = [found for _, found in threads.map(lambda _: library.num_threads, range(4))]
            inside.append(library.num_threads)
        return inside, library.num_threads

    with ThreadPoolExecutor(1) as pool:
        with Threads(2):
            waiting = pool.submit(other)
            assert begun.wait(10)
            assert library.num_threads == 1
        assert library.num_threads == 3
        done.set()
        assert waiting.result() == ([1] * 5, 3)
    threads_module._blas.cache_clear()


def test_openmp_is_as_before_after_it_was_held():
    def openmp_threads():
        return {lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "openmp"}

    with threadpool_limits(3, user_api="openmp"):
        with single_threaded_openmp():
            assert openmp_threads() == {1}
        assert openmp_threads() == {3}
