"""Tasks on the workers of a Dask cluster."""

import signal
import threading
import time
import warnings

import numpy as np
import pytest

from kernelmeans.engines import cluster as engine
from kernelmeans.engines import tree_sum
from kernelmeans.engines.cluster import FAN_IN, Cluster, aligned, packed, unpacked

pytestmark = pytest.mark.slow

distributed = pytest.importorskip("distributed", reason="the extra dask is not installed")
config = pytest.importorskip("dask.config", reason="the extra dask is not installed")


#: Workers in this process count all of its memory, that of earlier tests too, and would pause.
UNPAUSED = {f"distributed.worker.memory.{at}": False for at in ("target", "spill", "pause")}


@pytest.fixture(scope="module")
def client():
    # In this process: what is tested here does not depend on where tasks run.
    options = {"processes": False, "n_workers": 2, "threads_per_worker": 1}
    with (
        config.set(UNPAUSED),
        distributed.LocalCluster(**options, dashboard_address=":0", memory_limit="1GB") as local,
        distributed.Client(local) as client,
    ):
        yield client


@pytest.fixture
def cluster(client):
    return Cluster(client)


def askew(array):
    """An equal array at an odd address, as it may arrive."""
    copy = np.ndarray(array.shape, array.dtype, np.empty(array.nbytes + 1, np.uint8), offset=1)
    copy[...] = array
    assert not copy.flags.aligned
    return copy


@pytest.mark.parametrize("lay", [askew, np.asfortranarray, np.array], ids=lambda f: f.__name__)
def test_arrays_are_put_where_numpy_would_put_them(lay):
    array = np.random.default_rng(0).random((5, 3))
    found = aligned(lay(array))
    np.testing.assert_array_equal(found, array)
    assert found.flags.aligned
    assert found.flags.c_contiguous
    assert aligned(array) is array


def test_what_travels_packed_arrives_as_it_left(cluster):
    values = {"a": np.arange(3.0), "b": askew(np.ones((2, 2)))}
    sent = cluster.task(bytes, packed(values, lambda x: x + 1))
    found, function = unpacked(cluster.result(sent))
    assert function(1) == 2
    for name, array in values.items():
        np.testing.assert_array_equal(found[name], array)
        assert found[name].flags.aligned
        assert found[name].flags.writeable


@pytest.mark.parametrize("count", [1, 2, FAN_IN - 1, FAN_IN, FAN_IN + 1, 27, 65, 100])
def test_the_sum_is_that_of_one_process_addition_for_addition(cluster, count):
    terms = [chr(0x4E00 + i) for i in range(count)]
    futures = cluster.tasks(str, terms)
    assert cluster.total(futures, "({}{})".format) == tree_sum(terms, "({}{})".format)


def test_a_task_takes_values_and_futures(cluster):
    one = cluster.task(tuple, (1, 2))
    assert cluster.result(cluster.task(max, one, (0, 9))) == (1, 2)
    assert cluster.result(cluster.task(max, [one, (3, 4)])) == (3, 4)


def test_equal_tasks_are_done_each_for_itself(cluster):
    first, second = cluster.tasks(np.random.default_rng, [None, None])
    assert first.key != second.key
    assert cluster.task(tuple, ()).key != cluster.task(tuple, ()).key


def test_delayed_tasks_start_and_futures_stay(cluster):
    from dask.delayed import delayed

    future = cluster.task(abs, -3)
    started = cluster.started([delayed(abs)(-2), future])
    assert [cluster.result(each) for each in started] == [2, 3]
    assert started[1].key == future.key


def test_large_arguments_bring_no_warning(cluster):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert cluster.result(cluster.task(len, np.zeros(3 * 10**6))) == 3 * 10**6


def test_collections_are_computed(cluster):
    import dask.array as da

    assert cluster.computed(da.arange(10, chunks=3).sum()) == 45


def test_the_client_in_use_is_found(client):
    assert Cluster.find().client is client


def test_the_client_of_a_block_of_code_goes_first(client):
    with distributed.Client(client.cluster, set_as_default=False) as other:
        assert Cluster.find().client is client
        with other.as_current():
            assert Cluster.find().client is other


def test_without_a_client_there_is_no_cluster(monkeypatch):
    def none():
        raise ValueError("No clients found")

    monkeypatch.setattr(distributed, "default_client", none)
    assert Cluster.find() is None


def test_memory_limits_and_threads_are_those_of_the_workers(cluster):
    assert cluster.memory_limits() == [(10**9, 1), (10**9, 1)]


def fail(error):
    raise error


def test_a_worker_without_memory_says_what_to_do(cluster):
    future = cluster.task(fail, MemoryError("Unable to allocate 9 GiB"))
    with pytest.raises(MemoryError, match=r"Unable to allocate 9 GiB.*1.0 GB .* each.*rechunk X"):
        cluster.result(future)


def test_other_errors_come_through(cluster):
    with pytest.raises(KeyError, match="unknown"):
        cluster.total([cluster.task(fail, KeyError("unknown")), cluster.task(abs, 1)], max)


def test_what_nobody_wants_is_forgotten(client):
    # A client of its own: errors of other tests may still hold what they came from.
    with distributed.Client(client.cluster, set_as_default=False) as own:
        cluster = Cluster(own)
        assert cluster.total(cluster.tasks(abs, range(20)), max) == 19
        deadline = time.monotonic() + 10
        while own.futures and time.monotonic() < deadline:
            time.sleep(0.01)
        assert not own.futures


@pytest.fixture
def impatient(monkeypatch):
    monkeypatch.setattr(engine, "LOOK", 0.3)
    monkeypatch.setattr(engine, "STALLED", 6.0)


def test_a_task_that_is_lost_ends_the_wait(cluster, client, impatient, monkeypatch):
    # As if it had been given to a worker that died before it could answer.
    lost = {"op": "free-keys", "keys": [], "stimulus_id": "lost"}
    monkeypatch.setattr(client.cluster.scheduler, "_task_to_msg", lambda *arguments: lost)
    with pytest.raises(TimeoutError, match=r"2 Dask workers .* nothing for 6 s.*restart"):
        cluster.result(cluster.task(abs, -1))


def test_long_work_is_waited_for(cluster, impatient):
    assert cluster.results(cluster.tasks(nap, [10.0, 0.0])) == [10.0, 0.0]


def nap(seconds):
    time.sleep(seconds)
    return seconds


def test_workers_that_have_not_come_are_waited_for(impatient):
    options = {"processes": False, "dashboard_address": ":0", "threads_per_worker": 1}
    with (
        config.set(UNPAUSED),
        distributed.LocalCluster(n_workers=0, **options) as local,
        distributed.Client(local, set_as_default=False) as client,
    ):
        cluster = Cluster(client)
        timer = threading.Timer(10.0, local.scale, [1])
        timer.start()
        with pytest.warns(UserWarning, match="no workers for 6 seconds: waiting for one") as caught:
            assert cluster.result(cluster.task(abs, -1)) == 1
        timer.join()
        assert len(caught) == 1


def test_workers_that_are_not_replaced_end_the_wait(impatient):
    """A LocalCluster gives up a worker that is not back when it looks, as under heavy load."""
    options = {"n_workers": 1, "threads_per_worker": 1, "dashboard_address": ":0"}
    with (
        config.set({"distributed.deploy.lost-worker-timeout": "10ms"}),
        distributed.LocalCluster(**options) as local,
        distributed.Client(local, set_as_default=False) as client,
    ):
        cluster = Cluster(client)
        assert cluster.result(cluster.task(abs, -1)) == 1
        with pytest.raises(TimeoutError, match="0 Dask workers are left"):
            cluster.result(cluster.task(signal.raise_signal, signal.SIGKILL))
