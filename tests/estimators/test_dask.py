"""Dask arrays and data frames, in this process and on a cluster of two worker processes."""

import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager

import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_array_equal
from sklearn.base import clone

import data
from held import feature_space
from kernelmeans import KernelKMeans, KernelPowerKMeans, MultiKernelPowerKMeans, PowerKMeans
from kernelmeans.engines import Threads
from kernelmeans.estimators import base, holder
from kernelmeans.kernels import Kernel
from kernelmeans.lowrank import sampling
from kernelmeans.lowrank.sampling import subsample_rows
from kernelmeans.solver import anneal_subsamples
from kernelmeans.spaces import EntropyRule, ProductSpace, predictor

pytestmark = pytest.mark.slow

sizeof = pytest.importorskip("dask.sizeof", reason="the extra dask is not installed").sizeof
distributed = pytest.importorskip("distributed", reason="the extra dask is not installed")
da = pytest.importorskip("dask.array", reason="the extra dask is not installed")
config = pytest.importorskip("dask.config", reason="the extra dask is not installed")

N = 500
X, Y = data.blobs(N, p=4, k=3, spread=1.5)
WEIGHT = np.random.default_rng(1).integers(0, 3, N).astype(float)
SHORT = {"eta": 1.6, "n_swaps": 0, "random_state": 0}
LOW = {**SHORT, "n_components": 12}
LINEAR = PowerKMeans(3, **SHORT)
VIEWS = [("rbf", [0, 1]), ("laplacian", slice(1, 4))]
MODELS = {
    "linear": LINEAR,
    "heat": KernelPowerKMeans(3, approximation="landmarks", **LOW),
    "landmarks": KernelPowerKMeans(3, kernel="rbf", approximation="landmarks", **LOW),
    "rpcholesky": KernelPowerKMeans(3, kernel="laplacian", approximation="rpcholesky", **LOW),
    "rff": KernelPowerKMeans(3, kernel="rbf", approximation="rff", **LOW),
    "several": MultiKernelPowerKMeans(3, kernels=VIEWS, approximation="landmarks", **LOW),
}
models = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
two_models = pytest.mark.parametrize(
    "model", [LINEAR, MODELS["several"]], ids=["linear", "several"]
)


def lazy(X=X, chunks=(150, 4)):
    return da.from_array(X, chunks)


def start_cluster(**options):
    defaults = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
    return distributed.LocalCluster(**{**defaults, **options})


@pytest.fixture(scope="module", autouse=True)
def patience():
    """A LocalCluster gives up a worker that is not back in time, as on a busy machine."""
    with config.set({"distributed.deploy.lost-worker-timeout": "10 minutes"}):
        yield


@pytest.fixture(scope="module")
def workers():
    with start_cluster(memory_limit="2GB") as cluster:
        yield cluster


@pytest.fixture
def client(workers):
    with distributed.Client(workers) as client:
        yield client


def both(workers, model, X, **arguments):
    """Fits of the same data: in this process, and on the workers."""
    alone = clone(model).fit(X, **arguments)
    with distributed.Client(workers):
        return alone, clone(model).fit(X, **arguments)


def assert_same(one, other):
    """That two fits are equal, bit for bit."""
    assert_array_equal(one.labels_, other.labels_)
    assert_array_equal(one.objective_history_, other.objective_history_)
    assert_array_equal(one.power_history_, other.power_history_)
    assert one.inertia_ == other.inertia_
    assert one.n_iter_ == other.n_iter_
    assert_array_equal(one.result_.labels, other.result_.labels)
    assert_array_equal(one.result_.inertia, other.result_.inertia)
    if hasattr(one, "kernel_weights_"):
        assert_array_equal(one.kernel_weights_, other.kernel_weights_)


@models
def test_a_cluster_changes_nothing(workers, model):
    alone, there = both(workers, model, lazy())
    assert_same(alone, there)
    assert alone.critical_power_ == there.critical_power_
    plain = clone(model).fit(X)
    assert_array_equal(there.labels_, plain.labels_)
    assert there.inertia_ == pytest.approx(plain.inertia_, rel=1e-6)


def test_only_this_process_prints(workers, capfd):
    """Where ``verbose`` asks for it; workers send results, and print nothing."""
    model = clone(LINEAR).set_params(verbose=2)
    alone, there = both(workers, model, lazy())
    assert_same(alone, there)
    lines = capfd.readouterr().out.splitlines()
    assert len(lines) == 2 * (alone.n_iter_ + 3)
    first, second = lines[: len(lines) // 2], lines[len(lines) // 2 :]
    assert first[:-1] == second[:-1]


ROWS = np.random.default_rng(2).choice(N, 3, replace=False)
VARIANTS = {
    "weights": ({}, {"sample_weight": WEIGHT}),
    "dask weights": ({}, {"sample_weight": da.from_array(WEIGHT, 90)}),
    "restarts": ({"init": "random", "n_init": 3}, {}),
    "batches of restarts": ({"init": "random", "n_init": 3, "memory_budget": 10**6}, {}),
    "swap": ({"n_swaps": 2}, {}),
    "indices": ({"init": ROWS}, {}),
    "coordinates": ({"init": X[ROWS]}, {}),
    "starting weights": ({"init": np.random.default_rng(3).random((N, 3))}, {}),
    "callable": ({"init": lambda X, k, rng: X[rng.choice(len(X), k, replace=False)]}, {}),
}


@pytest.mark.parametrize(("parameters", "arguments"), VARIANTS.values(), ids=VARIANTS)
def test_weights_and_starts(workers, parameters, arguments):
    model = clone(LINEAR).set_params(**parameters)
    alone, there = both(workers, model, lazy(), **arguments)
    assert_same(alone, there)
    numbers = {name: np.asarray(value) for name, value in arguments.items()}
    assert_array_equal(there.labels_, model.fit(X, **numbers).labels_)


INTEGERS = (10 * X).round().astype(int)
MIDDLE = np.median(X[:, 0])
SORTED = X[np.argsort(X[:, 0])]
FORMS = {
    "uneven": (lazy(chunks=((1, 99, 300, 100), 4)), X),
    "one chunk": (lazy(chunks=(N, 4)), X),
    "empty chunks": (lazy(chunks=((0, 300, 0, 200, 0), 4)), X),
    "column chunks": (lazy(chunks=(200, 3)), X),
    "unknown lengths": (lazy()[lazy()[:, 0] > MIDDLE], X[X[:, 0] > MIDDLE]),
    "unknown, some empty": (lazy(SORTED)[lazy(SORTED)[:, 0] > MIDDLE], SORTED[N // 2 :]),
    "integers": (lazy(INTEGERS), INTEGERS),
    "float32": (lazy(X.astype("f4")), X.astype("f4")),
    "Fortran order": (lazy(np.asfortranarray(X)), X),
}  # fmt: skip


@pytest.mark.parametrize(("form", "values"), FORMS.values(), ids=FORMS)
def test_forms_of_input(workers, form, values):
    alone, there = both(workers, LINEAR, form)
    assert_same(alone, there)
    plain = clone(LINEAR).fit(values)
    assert_array_equal(there.labels_, plain.labels_)
    assert there.labels_.dtype == plain.labels_.dtype
    assert there.cluster_centers_.dtype == plain.cluster_centers_.dtype
    assert_array_equal(alone.predict(form), plain.labels_)


def test_persisted_chunks(client):
    there = clone(LINEAR).fit(lazy().persist())
    assert_array_equal(there.labels_, clone(LINEAR).fit(X).labels_)


@models
@pytest.mark.parametrize("where", ["here", "on workers"])
def test_answers_are_lazy_and_those_of_the_array(model, where, request):
    if where == "on workers":
        request.getfixturevalue("client")
    fitted = clone(model).fit(X)
    array = lazy(chunks=((150, 0, 350), 4))
    labels, distances = fitted.predict(array), fitted.transform(array)
    assert isinstance(labels, da.Array)
    assert isinstance(distances, da.Array)
    assert labels.chunks == ((150, 0, 350),)
    assert distances.chunks == ((150, 0, 350), (3,))
    for lazily, plain in ((labels, fitted.predict(X)), (distances, fitted.transform(X))):
        found = lazily.compute()
        assert lazily.dtype == found.dtype == plain.dtype
        np.testing.assert_allclose(found, plain, rtol=1e-12)
    assert fitted.score(array) == pytest.approx(fitted.score(X), rel=1e-12)


@two_models
def test_answers_for_training_rows(client, model):
    fitted = clone(model).fit(lazy(), sample_weight=WEIGHT)
    assert isinstance(fitted.labels_, da.Array)
    assert fitted.labels_.chunks == lazy().chunks[:1]
    assert_array_equal(fitted.labels_, fitted.predict(lazy()))
    assert fitted.score(lazy(), sample_weight=WEIGHT) == -fitted.inertia_


def test_fit_predict_and_fit_transform(client):
    labels = clone(LINEAR).fit_predict(lazy())
    distances = clone(LINEAR).fit_transform(lazy())
    assert isinstance(labels, da.Array)
    assert isinstance(distances, da.Array)
    plain = clone(LINEAR).fit(X)
    assert_array_equal(labels, plain.labels_)
    assert_array_equal(distances.argmin(axis=1), plain.labels_)


@pytest.fixture
def frames():
    pd = pytest.importorskip("pandas")
    dd = pytest.importorskip("dask.dataframe", reason="dask's dataframes need pyarrow")
    frame = pd.DataFrame(X, columns=list("abcd"))
    return frame, dd.from_pandas(frame, npartitions=3)


def test_a_dataframe_has_names(workers, frames):
    frame, lazy_frame = frames
    alone, there = both(workers, LINEAR, lazy_frame)
    assert_same(alone, there)
    assert there.feature_names_in_.tolist() == list("abcd")
    assert_array_equal(there.labels_, clone(LINEAR).fit(frame).labels_)
    # Also without the warnings that scikit-learn has for names that are missing.
    for model in (there, clone(LINEAR).fit(frame)):
        assert_array_equal(model.predict(lazy_frame), model.predict(frame))
        with pytest.raises(ValueError, match=r"'d', 'c', 'b', 'a'.*same order"):
            model.predict(lazy_frame[list("dcba")])
        with pytest.raises(ValueError, match="3 features"):
            model.predict(lazy_frame[list("abc")])
        with pytest.warns(UserWarning, match="valid feature names"):
            model.predict(lazy())


def test_names_of_an_earlier_fit_are_forgotten(frames):
    model = clone(LINEAR).fit(frames[1]).fit(lazy())
    assert not hasattr(model, "feature_names_in_")


def broken(row, n=N, chunk=150):
    values = np.random.default_rng(4).standard_normal((n, 4))
    values[row, 2] = np.nan
    return da.from_array(values, (chunk, 4))


@pytest.mark.parametrize("where", ["here", "on workers"])
@pytest.mark.parametrize("model", [LINEAR, MODELS["landmarks"], MODELS["several"]])
def test_nan_is_refused_by_its_row(model, where, request):
    if where == "on workers":
        request.getfixturevalue("client")
    with pytest.raises(ValueError, match=r"NaN or infinite values, in row 333"):
        clone(model).fit(broken(333))


@pytest.mark.parametrize("where", ["here", "on workers"])
def test_nan_that_is_not_in_the_draw_is_refused_by_its_block(where, request, monkeypatch):
    monkeypatch.setattr(sampling, "MOST_ROWS", 5000)
    if where == "on workers":
        request.getfixturevalue("client")
    n = 8000
    numbers = np.arange(n, dtype=float)[:, None] * np.ones(4)
    drawn, _ = subsample_rows(numbers, np.ones(n))
    row = int(np.setdiff1d(numbers[:, 0], drawn[:, 0])[-1])
    first = row // 1000 * 1000
    with pytest.raises(ValueError, match=f"between rows {first} and {first + 1000}"):
        clone(LINEAR).fit(broken(row, n, 1000))


def exact(estimator, **given):
    return estimator(3, approximation=None, **given)


@pytest.mark.filterwarnings("ignore:.*:RuntimeWarning")
@pytest.mark.parametrize(
    ("model", "array", "message"),
    [
        (
            exact(KernelPowerKMeans, kernel="rbf"),
            lazy(),
            "kernel matrices cannot be computed for Dask.*approximation=",
        ),
        (
            exact(KernelKMeans, cache_kernel=False),
            lazy(),
            "kernel matrices cannot be computed for Dask",
        ),
        (exact(KernelPowerKMeans), lazy(), "graph of .*='auto' or 'landmarks'\\."),
        (KernelPowerKMeans(3, kernel="precomputed"), lazy(), r"graphs cannot .*pass X.compute\(\)"),
        (KernelPowerKMeans(3, kernel="graph"), lazy(), r"graphs cannot .*pass X.compute\(\)"),
        (exact(MultiKernelPowerKMeans, kernels=VIEWS), lazy(), "kernel matrices cannot be"),
        (clone(MODELS["several"]).set_params(kernel_scaling="min-max"), lazy(), "'min-max' looks"),
        (LINEAR, lazy().map_blocks(scipy.sparse.csr_array), "arrays of NumPy arrays, got csr"),
        (LINEAR, lazy()[:2], "n_samples=2 should be >= n_clusters=3"),
        (LINEAR, lazy()[:, :0], "0 columns"),
    ],
)
def test_what_cannot_be_done_is_refused(model, array, message):
    with pytest.raises(ValueError, match=message):
        clone(model).fit(array)


def test_collections_have_landmarks_by_default():
    model = KernelPowerKMeans(3, kernel="rbf", n_components=20, n_swaps=0, random_state=0).fit(
        lazy()
    )
    assert model.approximation_ == "landmarks"
    reason = "Dask collections have no kernel matrix; its features are recomputed at each step"
    assert model.approximation_reason_ == reason


@two_models
def test_a_model_needs_neither_the_cluster_nor_the_data_again(workers, model):
    with distributed.Client(workers):
        fitted = clone(model).fit(lazy().persist())
        stored = pickle.dumps(fitted)
    for each in (fitted, pickle.loads(stored), pickle.loads(pickle.dumps(fitted))):
        assert_array_equal(each.labels_.compute(), clone(model).fit(X).labels_)
        assert_array_equal(each.predict(X), each.labels_)
        assert_array_equal(each.predict(lazy()), each.labels_)
    # The labels of all rows and of all restarts, and little else.
    assert len(stored) < X.nbytes + 60_000


def settle(client, condition, seconds=20):
    """Wait for news that reach the scheduler in the background."""
    deadline = time.monotonic() + seconds
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.02)
    assert condition()


def is_empty(client):
    return lambda: not client.futures and not any(client.has_what().values())


@two_models
def test_nothing_stays_on_the_workers(client, model):
    fitted = clone(model).set_params(n_swaps=1).fit(lazy())
    settle(client, is_empty(client))
    assert fitted.labels_.shape == (N,)


def test_nothing_stays_on_the_workers_when_a_fit_fails(client):
    with pytest.raises(ValueError, match="NaN"):
        clone(LINEAR).fit(broken(333))
    settle(client, is_empty(client))


@two_models
def test_features_that_do_not_fit_are_made_anew(workers, model, monkeypatch):
    held = []
    fits = holder.fits_workers
    monkeypatch.setattr(holder, "fits_workers", lambda *own: held.append(fits(*own)) or False)
    alone, there = both(workers, model, lazy())
    assert held == [True] * (2 if model is MODELS["several"] else 1)
    assert_same(alone, there)


def test_a_chunk_that_is_too_large_for_a_worker_is_refused(client, monkeypatch):
    monkeypatch.setattr(holder, "WORKER_FRACTION", 1e-5)
    with pytest.raises(MemoryError, match=r"a chunk of 150 rows .* of a worker's memory.*Rechunk"):
        clone(LINEAR).fit(lazy())


@two_models
def test_runs_on_subsamples_are_the_same_on_the_workers(workers, monkeypatch, model):
    monkeypatch.setattr(sampling, "MOST_ROWS", 2500)
    monkeypatch.setattr(sampling, "FEWEST_ROWS", 100)
    subsampled = []
    monkeypatch.setattr(
        base, "anneal_subsamples", lambda *own: subsampled.append(own[0]) or anneal_subsamples(*own)
    )
    rows = data.blobs(4000, p=4, k=3, spread=1.5)[0]
    assert_same(*both(workers, model, lazy(rows, (1000, 4))))
    assert [space.chunks.cluster is not None for space in subsampled] == [False, True]


def test_each_block_of_new_rows_is_compared_by_one_thread(monkeypatch):
    """Dask works on several blocks at a time already."""
    model, pools = clone(LINEAR).fit(X), []
    monkeypatch.setattr(predictor, "Threads", lambda n: pools.append(n) or Threads(n))
    monkeypatch.setattr(predictor, "portions", lambda *own: (20, 4))  # several parts of a block
    monkeypatch.setattr(predictor, "available_threads", lambda: 3)
    labels = model.predict(lazy()).compute(scheduler="synchronous")
    assert set(pools) == {1}
    assert_array_equal(labels, model.predict(X))
    assert pools[-1] == 3


def test_dask_knows_how_large_features_are():
    """Or the scheduler would move them to any idle worker, as if they were nothing."""
    one = feature_space(Kernel("linear", {}), X, np.ones(N))
    several = ProductSpace([one, one], [slice(None)] * 2, EntropyRule(1.0))
    sparse = feature_space(Kernel("linear", {}), scipy.sparse.csr_matrix(X), np.ones(N))
    for space, columns in [(one, 4), (several, 8), (sparse, 4)]:
        assert N * columns * 8 < sizeof(space) < 2 * N * columns * 8


def test_features_are_held_as_far_as_the_workers_together_have_room(client, monkeypatch):
    # Room for a chunk with its features, and for some of all features, but not for all.
    rows = np.random.default_rng(5).standard_normal((1000, 4))
    monkeypatch.setattr(holder, "WORKER_FRACTION", 7.6e-6)
    found = []
    fits = holder.fits_workers
    monkeypatch.setattr(holder, "fits_workers", lambda *own: found.append(fits(*own)) or found[-1])
    few = clone(LINEAR).set_params(eta=2.0).fit(lazy(rows, (50, 4)))
    assert found == [False]
    assert_array_equal(few.labels_, clone(LINEAR).set_params(eta=2.0).fit(rows).labels_)


def test_the_progress_bar(client, capsys):
    callback = pytest.importorskip("sklearn.callback", reason="scikit-learn < 1.9")
    pytest.importorskip("rich", reason="scikit-learn's progress bar needs rich")
    model = clone(LINEAR).set_callbacks(callback.ProgressBar()).fit(lazy())
    assert "PowerKMeans" in capsys.readouterr().out
    assert_array_equal(model.labels_, clone(LINEAR).fit(X).labels_)


class Following:
    """A callback that records the steps of one fit."""

    def setup(self, estimator, context):
        self.steps = 0

    def on_fit_task_begin(self, estimator, context, *, metadata=None):
        pass

    def on_fit_task_end(self, estimator, context, *, metadata=None):
        if context.task_name == "step":
            self.steps += 1
            self.after_step(self.steps)

    def teardown(self, estimator, context):
        pass


def test_workers_need_not_know_the_callbacks(client):
    pytest.importorskip("sklearn.callback", reason="scikit-learn < 1.9")

    class Local(Following):
        def after_step(self, step):
            self.lock = threading.Lock()  # cannot be pickled

    model = clone(LINEAR).set_callbacks(Local()).fit(lazy())
    assert_array_equal(model.predict(lazy()), clone(LINEAR).fit(X).labels_)


class Interrupting(Following):
    """As the user would."""

    def after_step(self, step):
        if step == 2:
            raise KeyboardInterrupt


def test_an_interrupted_fit_leaves_nothing_running(client):
    pytest.importorskip("sklearn.callback", reason="scikit-learn < 1.9")
    model = clone(LINEAR).set_callbacks(Interrupting())
    with pytest.raises(KeyboardInterrupt):
        model.fit(lazy())
    settle(client, is_empty(client))
    assert not any(client.processing().values())


def test_fits_in_threads_do_not_disturb_each_other(workers):
    """Three at the same time, of which two share a client."""
    expected = {name: clone(model).fit(X).labels_ for name, model in MODELS.items()}
    found = {}

    def fit(client, name):
        with client.as_current():
            found[name] = clone(MODELS[name]).fit(lazy()).labels_.compute()

    with distributed.Client(workers) as one, distributed.Client(workers) as other:
        jobs = [(one, "linear"), (one, "landmarks"), (other, "rff")]
        threads = [threading.Thread(target=fit, args=job) for job in jobs]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sorted(found) == ["landmarks", "linear", "rff"]
    for name, labels in found.items():
        assert_array_equal(labels, expected[name])


def test_workers_that_die_of_a_block_end_the_fit_with_a_clear_error():
    here = os.getpid()

    def kernel(A, B):
        if os.getpid() != here:
            os.kill(os.getpid(), signal.SIGKILL)
        return np.exp(-((A[:, None] - B) ** 2).sum(axis=2))

    model = KernelPowerKMeans(3, kernel=kernel, approximation="landmarks", **LOW)
    with (
        config.set({"distributed.scheduler.allowed-failures": 1}),  # workers take long to start
        start_cluster(memory_limit="2GB") as cluster,
        distributed.Client(cluster),
        pytest.raises(MemoryError, match=r"workers died.*rechunk X into smaller blocks") as caught,
    ):
        model.fit(lazy())
    assert isinstance(caught.value.__cause__, distributed.KilledWorker)


class Killing(Following):
    """A callback that kills a process some time after the third step."""

    def __init__(self, pid, delay):
        self.pid, self.delay = pid, delay

    def after_step(self, step):
        if step == 3:
            threading.Timer(self.delay, os.kill, (self.pid, signal.SIGKILL)).start()


@contextmanager
def lone_workers():
    """Two worker processes that nobody starts again."""
    with start_cluster(n_workers=0) as cluster, distributed.Client(cluster) as client:
        command = [sys.executable, "-m", "distributed.cli.dask_worker", cluster.scheduler_address]
        options = ["--no-nanny", "--nthreads=1", "--no-dashboard"]
        workers = [subprocess.Popen(command + options) for _ in range(2)]
        client.wait_for_workers(2)
        yield client
        for worker in workers:
            worker.kill()
            worker.wait()


@contextmanager
def nursed_workers():
    with start_cluster() as cluster, distributed.Client(cluster) as client:
        yield client


@pytest.mark.parametrize(
    ("name", "workers", "delay"),
    [
        ("landmarks", nursed_workers, 0.03),
        ("landmarks", lone_workers, 0),
        ("several", nursed_workers, 0),
        ("several", lone_workers, 0.03),
    ],
)
def test_a_worker_that_dies_costs_time_but_not_the_result(name, workers, delay):
    pytest.importorskip("sklearn.callback", reason="scikit-learn < 1.9")
    model = MODELS[name]
    alone = clone(model).fit(lazy())
    with workers() as client:
        pids = client.run(os.getpid)
        there = clone(model).set_callbacks(Killing(min(pids.values()), delay)).fit(lazy())
        settle(client, lambda: client.run(os.getpid) != pids)
    assert_same(alone, there)
