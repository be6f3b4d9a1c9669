"""Fits and predictions side by side, in threads and processes of all kinds."""

import asyncio
import copy
import multiprocessing
import os
import pickle
import threading
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial

import joblib
import numpy as np
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from threadpoolctl import threadpool_info, threadpool_limits

import data
import kernelmeans.engines.threads as threads_module
from kernelmeans import ClusterSearch, KernelPowerKMeans, MultiKernelPowerKMeans, PowerKMeans
from kernelmeans.engines import Threads
from kernelmeans.tables import TableTransformer

X, NEW = data.cloud(120, 3), data.cloud(40, 3, seed=1)
MODELS = [
    KernelPowerKMeans(4, random_state=0),
    KernelPowerKMeans(4, kernel="rbf", random_state=0),
    MultiKernelPowerKMeans(4, kernels="widths", n_swaps=0, random_state=0),
    PowerKMeans(4, random_state=0),
] * 2
#: Seconds after which a test fails in place of waiting for ever.
PATIENCE = 120


@pytest.fixture(autouse=True)
def blas_on_two_threads(monkeypatch):
    """Give BLAS and OpenMP two threads: where they have one, none can be lost."""
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        monkeypatch.delenv(name, raising=False)
    with threadpool_limits(2):
        yield


def answers(model):
    """Labels of a fit and of a prediction, and the cost."""
    fitted = clone(model).fit(X)
    return fitted.labels_.tolist(), fitted.predict(NEW).tolist(), fitted.inertia_


def answers_alone(model):
    """The same in a process of its own, which then has the threads that it had before."""
    before = threadpool_info(), pool_threads()
    found = answers(model)
    assert (threadpool_info(), pool_threads()) == before
    return found


def pool_threads():
    """Threads of pools; those of Dask and joblib, which stay, have other names."""
    threads = threading.enumerate()
    return {one for one in threads if one.name.startswith("ThreadPoolExecutor")}


def in_pool(pool, function, models):
    with pool:
        return [each.result(PATIENCE) for each in [pool.submit(function, one) for one in models]]


def in_threads(models):
    return in_pool(ThreadPoolExecutor(3), answers, models)


def in_processes(models, method):
    context = multiprocessing.get_context(method)
    return in_pool(ProcessPoolExecutor(2, mp_context=context), answers_alone, models)


def by_joblib(models, backend):
    function = answers if backend == "threading" else answers_alone
    calls = [joblib.delayed(function)(model) for model in models]
    return joblib.Parallel(2, backend=backend, timeout=PATIENCE)(calls)


def by_dask(models):
    """joblib's backend of Dask, to processes."""
    distributed = pytest.importorskip("distributed", reason="the extra dask is not installed")
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
    with (
        distributed.LocalCluster(**options) as cluster,
        distributed.Client(cluster),
        joblib.parallel_config("dask"),
    ):
        return by_joblib(models, None)


def by_asyncio(models, pool=None):
    """In threads, or by an executor of another kind."""

    async def gathered():
        loop = asyncio.get_running_loop()
        calls = [loop.run_in_executor(pool, answers, model) for model in models]
        return await asyncio.wait_for(asyncio.gather(*calls), PATIENCE)

    return asyncio.run(gathered())


def by_asyncio_in_processes(models):
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        return by_asyncio(models, pool)


def nested(models, outer, inner):
    """Two calls side by side, each of which has two fits side by side."""
    halves = models[::2], models[1::2]
    found = outer(inner, halves)
    return [each for pair in zip(*found, strict=True) for each in pair]


def two_threads(function, items):
    return in_pool(ThreadPoolExecutor(2), function, items)


def two_processes(function, items):
    return joblib.Parallel(2, timeout=PATIENCE)(joblib.delayed(function)(one) for one in items)


spawned = partial(in_processes, method="spawn")
WAYS = {
    "threads": in_threads,
    **{way: partial(in_processes, method=way) for way in multiprocessing.get_all_start_methods()},
    **{way: partial(by_joblib, backend=way) for way in ("loky", "threading", "multiprocessing")},
    "dask": by_dask,
    "asyncio": by_asyncio,
    "asyncio in processes": by_asyncio_in_processes,
    "threads in threads": partial(nested, outer=two_threads, inner=in_threads),
    "threads in processes": partial(nested, outer=two_processes, inner=in_threads),
    "processes in threads": partial(nested, outer=two_threads, inner=spawned),
    "joblib in joblib": partial(
        nested, outer=two_processes, inner=partial(by_joblib, backend="loky")
    ),
}


@pytest.fixture(scope="module")
def expected():
    return [answers(model) for model in MODELS]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*use of fork:DeprecationWarning")
@pytest.mark.parametrize("way", WAYS)
def test_answers_are_those_of_one_fit_after_another(way, expected):
    before = threadpool_info(), pool_threads()
    assert WAYS[way](MODELS) == expected
    assert (threadpool_info(), pool_threads()) == before


def answer_of_a_fork(function):
    """What a child answers that is forked now; None if it hangs."""
    receiver, sender = multiprocessing.Pipe(duplex=False)
    context = multiprocessing.get_context("fork")
    child = context.Process(target=lambda: sender.send(function()))
    child.start()
    found = receiver.recv() if receiver.poll(PATIENCE) else None
    child.kill()
    child.join()
    return found


needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows does not fork")
fork_is_meant = pytest.mark.filterwarnings("ignore:.*use of fork:DeprecationWarning")


@needs_fork
@fork_is_meant
def test_a_process_that_is_forked_while_a_pool_is_opened():
    """The child has no other threads, so that nobody would give back what they hold."""
    model, lock = MODELS[1], threads_module._SINGLE_THREADED.lock
    expected, begun, done = answers(model), threading.Event(), threading.Event()

    def hold():
        with Threads(2), lock:
            begun.set()
            done.wait(0.5)

    with ThreadPoolExecutor(1) as pool:
        holding = pool.submit(hold)
        assert begun.wait(PATIENCE)
        assert answer_of_a_fork(lambda: answers(model)) == expected
        done.set()
        holding.result(PATIENCE)
    assert lock.acquire(blocking=False)
    lock.release()


@needs_fork
@fork_is_meant
@pytest.mark.parametrize("kind", ["heat", "laplacian of sparse rows"])
def test_a_process_that_is_forked_after_openmp_had_threads(kind):
    """GNU's OpenMP waits for the parent's threads in the child, unless it is to use one alone."""
    wide, model = data.cloud(800, 20), KernelPowerKMeans(4, random_state=0)
    if kind != "heat":
        wide = scipy.sparse.csr_array(wide[:90] * (wide[:90] > 0.5))
        model.set_params(kernel="laplacian")
    with threadpool_limits(2, user_api="openmp"):
        expected = model.fit(wide).inertia_
        assert answer_of_a_fork(lambda: model.fit(wide).inertia_) == expected


@needs_fork
@fork_is_meant
@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS[:4], ids=repr)
def test_processes_that_are_forked_while_other_threads_fit(model, expected):
    over = threading.Event()

    def fit():
        while not over.is_set():
            answers(model)

    before = threadpool_info(), pool_threads()
    with ThreadPoolExecutor(2) as pool:
        fits = [pool.submit(fit) for _ in range(2)]
        try:
            found = [answer_of_a_fork(lambda: answers(model)) for _ in range(10)]
        finally:
            over.set()
        for one in fits:
            one.result(PATIENCE)
    assert found == [expected[MODELS.index(model)]] * 10
    assert (threadpool_info(), pool_threads()) == before


def test_one_model_answers_many_threads():
    model = KernelPowerKMeans(4, kernel="rbf", random_state=0).fit(X)
    labels, distances, score = model.predict(NEW), model.transform(NEW), model.score(NEW)
    with ThreadPoolExecutor(4) as pool:
        for number in pool.map(lambda _: model.predict(NEW), range(20)):
            np.testing.assert_array_equal(number, labels)
        for number in pool.map(lambda _: model.transform(NEW), range(20)):
            np.testing.assert_array_equal(number, distances)
        assert set(pool.map(lambda _: model.score(NEW), range(20))) == {score}


TWO, FIVE = data.cloud(120, 2), data.cloud(90, 5)


@pytest.mark.parametrize("model", [MODELS[1], MODELS[3]], ids=repr)
def test_an_estimator_that_is_copied_by_others_while_it_is_fitted(model):
    """Each copy is what one fit or the other has made, and nothing between."""
    expected = {rows.shape[1]: clone(model).fit(rows) for rows in (TWO, FIVE)}
    model, copies = clone(model).fit(TWO), []

    def fit():
        while len(copies) < 30:
            model.fit(FIVE)
            model.fit(TWO)

    with ThreadPoolExecutor(1) as pool:
        fits = pool.submit(fit)
        while not fits.done():
            copies.append((pickle.dumps(model), copy.deepcopy(model), dict(vars(model))))
            time.sleep(0.001)
        fits.result(PATIENCE)
    seen = {stored: pickle.loads(stored) for stored, _, _ in copies}
    for stored, copied, attributes in copies:
        for one in (vars(seen[stored]), vars(copied), attributes):
            right = expected[one["n_features_in_"]]
            np.testing.assert_array_equal(one["labels_"], right.labels_)
            assert one["inertia_"] == right.inertia_
            assert one["n_iter_"] == right.n_iter_
            assert one.keys() == vars(right).keys()


@pytest.mark.parametrize(
    "estimator", [*MODELS[:2], ClusterSearch(MODELS[0], {}), TableTransformer()], ids=repr
)
def test_what_is_pickled_is_a_copy_to_which_another_thread_adds_nothing(estimator):
    assert estimator.__getstate__() is not vars(estimator)
    assert estimator.__getstate__() == vars(estimator)


FITTED, SNAPSHOTS = [], []


def product(A, B):
    """A kernel that pickles the estimator that is being fitted."""
    SNAPSHOTS.extend(map(pickle.dumps, FITTED))
    return A @ B.T


@pytest.mark.parametrize("was_fitted", [False, True])
def test_an_estimator_that_is_pickled_during_its_fit(was_fitted):
    """The copy is what the estimator was before."""
    expected = KernelPowerKMeans(4, kernel="linear", random_state=0).fit(X)
    model = KernelPowerKMeans(4, kernel=product, random_state=0)
    earlier = model.fit(NEW).predict(X) if was_fitted else None
    FITTED[:] = [model]
    try:
        model.fit(X)
    finally:
        FITTED.clear()
    taken = [pickle.loads(one) for one in SNAPSHOTS]
    SNAPSHOTS.clear()
    np.testing.assert_array_equal(model.labels_, expected.labels_)
    assert taken
    for one in taken:
        if was_fitted:
            np.testing.assert_array_equal(one.predict(X), earlier)
        else:
            with pytest.raises(NotFittedError):
                one.predict(X)
    np.testing.assert_array_equal(taken[-1].fit(X).labels_, expected.labels_)
