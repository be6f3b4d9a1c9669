"""Fits side by side, in threads and processes: the answers of one after another."""

import asyncio
import multiprocessing
import pickle
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from typing import Any

import joblib
import numpy as np
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from threadpoolctl import threadpool_info, threadpool_limits

from fuzz import Case, Rng
from fuzz.draw import pick, plain_rows, weights
from fuzz.frames import frame
from fuzz.judge import allow_own_warnings, is_refusal, require
from kernelmeans import (
    ClusterSearch,
    KernelKMeans,
    KernelPowerKMeans,
    MultiKernelPowerKMeans,
    PowerKMeans,
)
from kernelmeans.tables import TableTransformer

WEIGHT = 2
#: Seconds of waiting for one answer.
PATIENCE = 60
#: Threads of BLAS before a fit: one, as elsewhere in the fuzz, would need no giving back.
BLAS = 2


def case(rng: Rng) -> Case:
    tasks = [task(rng) for _ in range(rng.integers(2, 6))]
    way = pick(rng, *WAYS * 8, *SLOW)
    words = f"{way.__name__} {tasks!r}"
    return Case(words, lambda: check(way, tasks))


def task(rng: Rng) -> tuple[Any, Any, Any]:
    """An estimator, its rows and their weights."""
    n, k = int(rng.integers(2, 80)), int(rng.integers(1, 5))
    given: dict[str, Any] = {"n_swaps": pick(rng, 0, 0, 2), "random_state": int(rng.integers(99))}
    model: Any = pick(
        rng,
        lambda: KernelPowerKMeans(k, **given),
        lambda: KernelPowerKMeans(k, kernel="rbf", approximation=pick(rng, None, "rff"), **given),
        lambda: KernelPowerKMeans(k, kernel=pick(rng, "rbf", "laplacian"), **given),
        lambda: MultiKernelPowerKMeans(k, kernels=pick(rng, "widths", "neighbors"), **given),
        lambda: PowerKMeans(k, **given),
        lambda: KernelKMeans(k, init="random", n_init=3, **given),
        lambda: make_pipeline(TableTransformer(), PowerKMeans(k, **given)),
        lambda: ClusterSearch(
            PowerKMeans(n_swaps=0), {"n_clusters": [1, 2]}, n_splits=2, random_state=0
        ),
    )()
    if hasattr(model, "steps"):
        return model, frame(rng, n), None
    X = plain_rows(rng, n, int(rng.integers(1, 4)))
    return model, X, None if isinstance(model, ClusterSearch) else weights(rng, n)


def answers(model: Any, X: Any, weight: Any) -> Any:
    """What comes of a fit: labels and cost, or that it is refused."""
    given = {} if weight is None else {"sample_weight": weight}
    model = clone(model)
    try:
        model.fit(X, **given)
    except Exception as error:
        if not is_refusal(error):
            raise
        return str(error)
    last = model[-1] if hasattr(model, "steps") else model
    labels = last.labels_.tolist()
    return labels, getattr(last, "inertia_", None), model.predict(X).tolist()


def answers_there(*one: Any) -> Any:
    """The same in another process, whose BLAS has its threads back afterwards."""
    with warnings.catch_warnings(), blas_given_back():
        allow_own_warnings()
        return answers(*one)


@contextmanager
def blas_given_back() -> Iterator[None]:
    """Check that BLAS has its threads back."""
    with threadpool_limits(BLAS, user_api="blas"):
        before = threadpool_info()
        yield
        require(threadpool_info() == before, "threads of BLAS")


def check(way: Callable[[Any], list[Any]], tasks: Sequence[Any]) -> None:
    """Compare the answers with those of one fit after another."""
    with blas_given_back():
        expected = [answers(*one) for one in tasks]
        found = way(tasks)
        require(found == expected, f"side by side {found}, one after another {expected}")


def together(make: Callable[[], Executor], function: Any, tasks: Sequence[Any]) -> list[Any]:
    """All answers by a pool of threads or processes."""
    with make() as pool:
        waiting = [pool.submit(function, *one) for one in tasks]
        return [one.result(PATIENCE) for one in waiting]


def in_threads(tasks: Sequence[Any]) -> list[Any]:
    """In a pool of threads."""
    return together(partial(ThreadPoolExecutor, 3), answers, tasks)


def by_joblib(tasks: Sequence[Any]) -> list[Any]:
    """In threads of joblib."""
    calls = [joblib.delayed(answers)(*one) for one in tasks]
    return list(joblib.Parallel(2, backend="threading", timeout=PATIENCE)(calls))


def by_asyncio(tasks: Sequence[Any]) -> list[Any]:
    """In threads of asyncio."""

    async def gathered() -> list[Any]:
        calls = [asyncio.to_thread(answers, *one) for one in tasks]
        return list(await asyncio.wait_for(asyncio.gather(*calls), PATIENCE))

    return asyncio.run(gathered())


def one_model(tasks: Sequence[Any]) -> list[Any]:
    """Each model answers many threads at once."""
    for model, X, weight in tasks:
        if isinstance(answers(model, X, weight), str) or not hasattr(model, "score"):
            continue
        fitted = clone(model).fit(X)
        labels = fitted.predict(X)
        with ThreadPoolExecutor(3) as pool:
            for again in pool.map(lambda _, one=fitted, X=X: one.predict(X), range(6)):
                np.testing.assert_array_equal(again, labels)
    return [answers(*one) for one in tasks]


def pickled(tasks: Sequence[Any]) -> list[Any]:
    """Estimators are pickled during their fits: a copy is as before the fit, or as after it."""
    found = [answers(*one) for one in tasks]
    for (model, X, weight), expected in zip(tasks, found, strict=True):
        if isinstance(expected, str):
            continue
        given = {} if weight is None else {"sample_weight": weight}
        fresh = clone(model)
        with ThreadPoolExecutor(1) as pool:
            fit = pool.submit(fresh.fit, X, **given)
            copies = [pickle.dumps(fresh)]
            while not fit.done():
                copies.append(pickle.dumps(fresh))
                time.sleep(0.002)  # or the fit would hardly get on
            fit.result()
        for copy in map(pickle.loads, copies[-20:]):
            try:
                labels = copy.predict(X)
            except NotFittedError:
                continue
            require(labels.tolist() == expected[2], f"a copy: {labels} {expected}")
    return found


def forked(tasks: Sequence[Any]) -> list[Any]:
    """In a process that is forked, while another thread fits too."""
    context = multiprocessing.get_context("fork")
    with ThreadPoolExecutor(1) as pool, warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*use of fork", DeprecationWarning)
        here = pool.submit(answers, *tasks[0])
        make = partial(ProcessPoolExecutor, 1, mp_context=context)
        found = together(make, answers_there, tasks)
        require(here.result(PATIENCE) == found[0], "the thread beside the process")
    return found


def spawned(tasks: Sequence[Any]) -> list[Any]:
    """In a process that begins anew."""
    context = multiprocessing.get_context("spawn")
    return together(partial(ProcessPoolExecutor, 1, mp_context=context), answers_there, tasks)


WAYS = (in_threads, by_joblib, by_asyncio, one_model, pickled)
#: Processes take long to begin.
SLOW = (forked, forked, forked, spawned)
