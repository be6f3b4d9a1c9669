"""A scheduler that ends or hangs, and a network that fails, while a cluster works."""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager, suppress

import numpy as np
import pytest

import data
from kernelmeans import KernelPowerKMeans
from kernelmeans.engines import cluster as engine
from kernelmeans.engines.cluster import Cluster

pytestmark = pytest.mark.slow

distributed = pytest.importorskip("distributed", reason="the extra dask is not installed")
da = pytest.importorskip("dask.array", reason="the extra dask is not installed")
config = pytest.importorskip("dask.config", reason="the extra dask is not installed")

#: Dask tries to connect again for so long.
SHORT = {"distributed.comm.timeouts.connect": "1s"}
#: Seconds that any end may take: it would be none at all without the bound.
PATIENCE = 60


class Network:
    """Passes on what a client and a scheduler send each other, until it fails."""

    def __init__(self, address):
        host, port = address.removeprefix("tcp://").split(":")
        self.target = host, int(port)
        self.server = socket.create_server(("127.0.0.1", 0))
        self.address = f"tcp://127.0.0.1:{self.server.getsockname()[1]}"
        self.ends, self.passes = [], threading.Event()
        self.passes.set()
        threading.Thread(target=self._accept, daemon=True).start()

    def stall(self):
        """Nothing arrives any more, and no end is told."""
        self.passes.clear()

    def break_once(self):
        """All connections are lost, but new ones can be made."""
        for end in self.ends:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def cut(self):
        """All connections are lost, and no new ones can be made."""
        self.server.close()
        self.break_once()

    def _accept(self):
        with suppress(OSError):
            while True:
                near = self.server.accept()[0]
                try:
                    pair = near, socket.create_connection(self.target)
                except OSError:  # nobody is there any more
                    near.close()
                    continue
                self.ends += pair
                for source, sink in (pair, pair[::-1]):
                    threading.Thread(target=self._pass, args=(source, sink), daemon=True).start()

    def _pass(self, source, sink):
        with suppress(OSError), source, sink:
            while content := source.recv(2**16):
                self.passes.wait()
                sink.sendall(content)
            sink.shutdown(socket.SHUT_RDWR)


@contextmanager
def running(module, *arguments, **environment):
    """A process of Dask, which is killed in the end."""
    command = [sys.executable, "-m", f"distributed.cli.{module}", "--no-dashboard", *arguments]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    process = subprocess.Popen(command, env=os.environ | environment, **quiet)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def unused_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def worker(address):
    return running("dask_worker", address, "--no-nanny", "--nthreads=1", "--memory-limit=1GB")


@contextmanager
def scheduler(folder, **environment):
    """A scheduler in a process of its own: the process, and a network to it."""
    file = folder / "scheduler.json"
    arguments = "--host=127.0.0.1", "--port=0", f"--scheduler-file={file}"
    with running("dask_scheduler", *arguments, **environment) as process:
        deadline = time.monotonic() + PATIENCE
        found = {}
        while not found and time.monotonic() < deadline:
            time.sleep(0.05)
            with suppress(OSError, ValueError):  # it is not there yet, or not complete
                found = json.loads(file.read_text())
        network = Network(found["address"])
        yield process, network
        network.passes.set()
        network.cut()


@pytest.fixture
def parts(tmp_path):
    """A scheduler with a worker; its process, the network to it, and a client behind that."""
    with (
        config.set(SHORT),
        scheduler(tmp_path) as (process, network),
        worker("tcp://{}:{}".format(*network.target)),
        distributed.Client(network.address) as client,
    ):
        client.wait_for_workers(1)
        yield process, network, client
        # Or closing the client would wait for an answer.
        network.passes.set()
        process.send_signal(signal.SIGCONT)


@pytest.fixture
def give_up_soon(monkeypatch):
    """Call it when the fault is near: a busy machine may need longer for sound work."""

    def shorten():
        monkeypatch.setattr(engine, "LOOK", 0.3)
        monkeypatch.setattr(engine, "STALLED", 3.0)

    return shorten


FAULTS = {
    "scheduler killed": lambda process, network: process.kill(),
    "scheduler hangs": lambda process, network: process.send_signal(signal.SIGSTOP),
    "network cut": lambda process, network: network.cut(),
    "network stalls": lambda process, network: network.stall(),
    "network back at once": lambda process, network: network.break_once(),
}
faults = pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
LOST = "Dask scheduler has lost the work of this call .*network has failed.*connect a new Client"


@faults
def test_the_wait_for_a_result_ends(parts, give_up_soon, fault):
    process, network, client = parts
    cluster = Cluster(client)
    assert cluster.result(cluster.task(abs, -1)) == 1
    give_up_soon()
    begin = time.monotonic()
    timer = threading.Timer(1.0, fault, (process, network))
    timer.start()
    with pytest.raises(ConnectionError, match=LOST):
        cluster.result(cluster.task(time.sleep, 2 * PATIENCE))
    timer.join()
    assert time.monotonic() - begin < PATIENCE
    if fault is FAULTS["network back at once"]:
        client.wait_for_workers(1, timeout=PATIENCE)
        assert cluster.memory_limits() == [(10**9, 1)]
    else:
        with pytest.raises(ConnectionError, match=LOST):
            cluster.memory_limits()
        with pytest.raises(ConnectionError, match=LOST):
            cluster.result(cluster.task(abs, -1))


@faults
def test_a_fit_ends_and_leaves_the_estimator_as_it_was(parts, give_up_soon, fault):
    process, network, _ = parts
    asked = []

    def init(X, k, rng):
        """Called when the workers hold features already."""
        starts = X[:k]
        give_up_soon()
        asked.append(fault(process, network))
        return starts

    model = KernelPowerKMeans(3, kernel="linear", init=init, random_state=0)
    before = dict(vars(model))
    with pytest.raises(ConnectionError, match=LOST):
        model.fit(da.from_array(data.cloud(300, 3), (100, 3)))
    assert asked
    assert vars(model) == before


def test_a_cluster_that_is_restarted_ends_the_wait(parts):
    _, _, client = parts
    timer = threading.Timer(1.0, client.restart, kwargs={"wait_for_workers": False})
    timer.start()
    cluster = Cluster(client)
    with pytest.raises(ConnectionError, match=r"lost the work of this call \(scheduler-restart\)"):
        cluster.result(cluster.task(time.sleep, 2 * PATIENCE))
    timer.join()


def test_a_client_that_is_closed_ends_the_wait(parts, give_up_soon):
    _, _, client = parts
    give_up_soon()
    timer = threading.Timer(1.0, client.close)
    timer.start()
    cluster = Cluster(client)
    with pytest.raises(ConnectionError, match=LOST):
        cluster.result(cluster.task(time.sleep, 2 * PATIENCE))
    timer.join()
    with pytest.raises(ConnectionError, match="the client is closed"):
        cluster.task(abs, -1)


def test_errors_of_tasks_that_lose_a_connection_of_their_own_come_through(parts):
    def fail(where):  # not of this module, which workers cannot import
        raise ConnectionResetError(where)

    cluster = Cluster(parts[2])
    with pytest.raises(ConnectionResetError, match="by a shop"):
        cluster.result(cluster.task(fail, "by a shop"))


def test_results_that_no_new_connection_can_fetch_are_lost(parts, monkeypatch):
    """A client that has connected again is running, and may still fail to connect once more."""
    _, _, client = parts
    cluster = Cluster(client)
    done = cluster.task(abs, -1)
    address = f"tcp://127.0.0.1:{unused_port()}"
    monkeypatch.setattr(client.scheduler, "gather", distributed.rpc(address).gather, raising=False)
    with pytest.raises(ConnectionError, match=LOST) as raised:
        cluster.result(done)
    assert f"Timed out trying to connect to {address} after 1 s" in str(raised.value)
    assert client.status == "running"
    monkeypatch.undo()
    assert cluster.result(done) == 1


@pytest.mark.parametrize("fault", ["stall", "cut"])
def test_a_worker_without_a_network_is_replaced_by_another(tmp_path, fault):
    """The scheduler gives up a worker from which nothing has come for its ``worker-ttl``."""

    def nap(seconds):
        time.sleep(seconds)
        return seconds

    environment = {"DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL": "2s"}
    with scheduler(tmp_path, **environment) as (_, network):
        address = "tcp://{}:{}".format(*network.target)
        with worker(address), worker(network.address), distributed.Client(address) as client:
            client.wait_for_workers(2)
            cluster = Cluster(client)
            slow = cluster.tasks(nap, [3.0] * 4)
            timer = threading.Timer(1.0, getattr(network, fault))
            timer.start()
            assert cluster.results(slow) == [3.0] * 4
            timer.join()


def test_a_client_of_this_threads_event_loop_is_refused(parts):
    """Its loop would wait for itself; another thread may wait for it."""
    rows = da.from_array(data.cloud(60, 3), (20, 3))
    model = KernelPowerKMeans(3, kernel="linear", random_state=0)

    async def fit():
        address = "tcp://{}:{}".format(*parts[1].target)
        async with distributed.Client(address, asynchronous=True):
            with pytest.raises(RuntimeError, match=r"await asyncio\.to_thread\(model\.fit, X\)"):
                model.fit(rows)
            await asyncio.wait_for(asyncio.to_thread(model.fit, rows), PATIENCE)

    asyncio.run(fit())
    expected = KernelPowerKMeans(3, kernel="linear", random_state=0).fit(rows)
    np.testing.assert_array_equal(model.labels_, expected.labels_)
