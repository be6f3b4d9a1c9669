"""Fits and predictions side by side, in threads and processes of all kinds."""

import asyncio
import multiprocessing
import pickle
import threading
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial

import joblib
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from threadpoolctl import threadpool_info

import data
from kernelmeans import KernelPowerKMeans, MultiKernelPowerKMeans, PowerKMeans

X, NEW = data.cloud(120, 3), data.cloud(40, 3, seed=1)
MODELS = [
    KernelPowerKMeans(4, random_state=0),
    KernelPowerKMeans(4, kernel="rbf", random_state=0),
    MultiKernelPowerKMeans(4, kernels="widths", n_swaps=0, random_state=0),
    PowerKMeans(4, random_state=0),
] * 2
#: Seconds after which a test fails in place of waiting for ever.
PATIENCE = 120


def answers(model):
    """Labels of a fit and of a prediction, and the cost."""
    fitted = clone(model).fit(X)
    return fitted.labels_.tolist(), fitted.predict(NEW).tolist(), fitted.inertia_


def answers_alone(model):
    """The same in a process of its own, whose libraries have their threads again."""
    libraries = threadpool_info()
    found = answers(model)
    assert threadpool_info() == libraries
    return found


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


def by_asyncio(models):
    async def gathered():
        calls = [asyncio.to_thread(answers, model) for model in models]
        return await asyncio.wait_for(asyncio.gather(*calls), PATIENCE)

    return asyncio.run(gathered())


def nested(models):
    """Threads in processes."""
    halves = models[::2], models[1::2]
    found = joblib.Parallel(2, timeout=PATIENCE)(joblib.delayed(in_threads)(one) for one in halves)
    return [each for pair in zip(*found, strict=True) for each in pair]


WAYS = {
    "threads": in_threads,
    **{way: partial(in_processes, method=way) for way in multiprocessing.get_all_start_methods()},
    **{way: partial(by_joblib, backend=way) for way in ("loky", "threading", "multiprocessing")},
    "asyncio": by_asyncio,
    "nested": nested,
}


@pytest.fixture(scope="module")
def expected():
    return [answers(model) for model in MODELS]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*use of fork:DeprecationWarning")
@pytest.mark.parametrize("way", WAYS)
def test_answers_are_those_of_one_fit_after_another(way, expected):
    libraries, threads = threadpool_info(), threading.active_count()
    assert WAYS[way](MODELS) == expected
    assert threadpool_info() == libraries
    if way in ("threads", "threading", "asyncio"):  # processes are looked after by threads
        assert threading.active_count() == threads


def test_one_model_answers_many_threads():
    model = KernelPowerKMeans(4, kernel="rbf", random_state=0).fit(X)
    labels, distances, score = model.predict(NEW), model.transform(NEW), model.score(NEW)
    with ThreadPoolExecutor(4) as pool:
        for number in pool.map(lambda _: model.predict(NEW), range(20)):
            np.testing.assert_array_equal(number, labels)
        for number in pool.map(lambda _: model.transform(NEW), range(20)):
            np.testing.assert_array_equal(number, distances)
        assert set(pool.map(lambda _: model.score(NEW), range(20))) == {score}


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
    for copy in taken:
        if was_fitted:
            np.testing.assert_array_equal(copy.predict(X), earlier)
        else:
            with pytest.raises(NotFittedError):
                copy.predict(X)
    np.testing.assert_array_equal(taken[-1].fit(X).labels_, expected.labels_)
