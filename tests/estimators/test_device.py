"""Fits on devices: the same clusters as NumPy's, in the library of the rows."""

import pickle
import sys

import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.metrics.pairwise import rbf_kernel

import data
from backends import BACKENDS, NUMPY
from kernelmeans import KernelKMeans, KernelPowerKMeans, MultiKernelPowerKMeans, PowerKMeans
from kernelmeans._arrays import namespace, to_numpy
from kernelmeans._devices import Device, device_of
from kernelmeans.rows import Rows, open_rows

pytestmark = pytest.mark.slow

N = 120
X = data.cloud(N, 4) + 3 * np.random.default_rng(1).integers(0, 2, (N, 4))
K = rbf_kernel(X, gamma=0.05)
WEIGHT = np.where(np.arange(N) % 9 == 0, 0, np.random.default_rng(0).uniform(0, 2, N))
VIEWS = ["poly", ("linear", slice(0, 2)), ("rbf", [1, 3])]


def polynomial(A, B):
    return (1 + A @ B.T) ** 2


#: Estimators with their input.
CASES = {
    "heat": (KernelPowerKMeans(4), X),
    "anchors": (KernelPowerKMeans(4, approximation="landmarks"), X),
    "exact": (KernelPowerKMeans(4, kernel="rbf"), X),
    "swap": (KernelPowerKMeans(5, kernel="rbf", n_swaps=4), X),
    "restarts": (KernelPowerKMeans(4, kernel="rbf", init="random", n_init=4, s0=-1.0, eta=1.1), X),
    "blocked": (KernelPowerKMeans(5, kernel="rbf", cache_kernel=False), X),
    "landmarks": (
        KernelPowerKMeans(4, kernel="rbf", approximation="landmarks", n_components=30),
        X,
    ),
    "parts": (
        KernelPowerKMeans(
            4, kernel="rbf", approximation="landmarks", n_components=30, memory_budget="120KB"
        ),
        X,
    ),
    "rpcholesky": (
        KernelPowerKMeans(4, kernel="rbf", approximation="rpcholesky", n_components=30),
        X,
    ),
    "rff": (KernelPowerKMeans(4, kernel="rbf", approximation="rff", n_components=40), X),
    "precomputed": (KernelPowerKMeans(4, kernel="precomputed"), K),
    "precomputed, blocked": (
        KernelPowerKMeans(4, kernel="precomputed", cache_kernel=False),
        K,
    ),
    "callable": (KernelPowerKMeans(3, kernel=polynomial), X),
    "coordinates": (KernelPowerKMeans(3, kernel="rbf", init=X[:3] + 0.1), X),
    "hard": (KernelKMeans(4, kernel="laplacian"), X),
    "linear": (PowerKMeans(4), X),
    "multi": (MultiKernelPowerKMeans(3, kernels="widths"), X),
    "views": (
        MultiKernelPowerKMeans(3, kernels=VIEWS, kernel_scaling="cosine", cache_kernel=False),
        X,
    ),
    "stack": (MultiKernelPowerKMeans(3, kernels="precomputed"), np.stack([K, K**2])),
}
OTHERS = [backend for backend in BACKENDS if backend != NUMPY]


@pytest.fixture(params=OTHERS, ids=str)
def backend(request):
    request.param.array(np.zeros(1))
    return request.param


@pytest.fixture
def torch():
    return pytest.importorskip("torch")


@pytest.mark.parametrize(
    ("name", "dtype"),
    [(name, "float64") for name in CASES]
    + [(name, "float32") for name in ("heat", "exact", "blocked", "landmarks", "linear", "stack")],
)
def test_fits_are_those_of_numpy(name, dtype, backend):
    estimator, rows = CASES[name]
    rows = rows.astype(dtype)
    expected = clone(estimator).set_params(random_state=0).fit(rows, sample_weight=WEIGHT)
    there = backend.array(rows)
    model = clone(estimator).set_params(random_state=0).fit(there, sample_weight=WEIGHT)
    rtol = 1e-10 if dtype == "float64" else 1e-5
    assert_array_equal(to_numpy(model.labels_), expected.labels_)
    assert model.inertia_ == pytest.approx(expected.inertia_, rel=rtol)
    assert_allclose(model.objective_history_[0], expected.objective_history_[0], rtol=rtol)

    labels, distances = model.predict(there), model.transform(there)
    of_rows = model.labels_, model.memberships_, model.distances_, model.certainty_
    for answer in (*of_rows, labels, distances):
        assert namespace(answer) is namespace(there)
        assert answer.device == there.device
    assert_array_equal(to_numpy(labels), expected.labels_)
    # Distances far below the size of the data have lost digits in both.
    scale = expected.transform(rows).max()
    atol = scale * (1e-6 if dtype == "float64" else 3e-3)
    assert_allclose(to_numpy(distances), expected.transform(rows), rtol=0, atol=atol)
    assert model.score(there, sample_weight=WEIGHT) == pytest.approx(-model.inertia_, rel=rtol)


@pytest.mark.parametrize(
    "name", ["heat", "exact", "blocked", "landmarks", "rff", "linear", "multi"]
)
def test_a_named_device_takes_numpy_and_answers_in_numpy(name, torch):
    estimator, rows = CASES[name]
    expected = clone(estimator).set_params(random_state=0).fit(rows)
    model = clone(estimator).set_params(random_state=0, device="cpu").fit(rows)
    for answer in (model.labels_, model.memberships_, model.predict(rows), model.transform(rows)):
        assert type(answer) is np.ndarray
    assert_array_equal(model.labels_, expected.labels_)
    assert_array_equal(model.predict(rows), model.labels_)
    assert model.inertia_ == pytest.approx(expected.inertia_, rel=1e-10)


def test_a_device_is_what_computes(torch, monkeypatch):
    asked = []
    put = Device.put
    monkeypatch.setattr(Device, "put", lambda self, x: asked.append(self) or put(self, x))
    KernelPowerKMeans(3, kernel="rbf", device="cpu", random_state=0).fit(X)
    assert any(not device.is_host for device in asked)


def test_the_model_needs_no_device(backend):
    there = backend.array(X)
    model = KernelPowerKMeans(4, kernel="rbf", random_state=0).fit(there)
    labels = to_numpy(model.labels_)
    # A pickle of the predictor holds NumPy arrays only.
    again = pickle.loads(pickle.dumps(model._predictor))
    assert type(again.X) is type(again.coefficients) is np.ndarray
    assert_array_equal(model.predict(X), labels)


def test_the_rows_are_left_alone_and_may_change_afterwards(backend):
    there = backend.array(K)
    model = KernelPowerKMeans(4, kernel="precomputed", random_state=0).fit(there)
    assert_array_equal(to_numpy(there), K)
    rows = backend.array(X)
    model = KernelPowerKMeans(4, kernel="rbf", random_state=0).fit(rows)
    before = to_numpy(model.predict(rows))
    rows[...] = rows * 0
    assert_array_equal(model.predict(X), before)


def test_weights_and_starts_may_be_on_a_device(backend):
    estimator = KernelPowerKMeans(3, kernel="rbf", init=np.array([0, 5, 9]), random_state=0)
    expected = clone(estimator).fit(X, sample_weight=WEIGHT)
    estimator.set_params(init=backend.array(np.array([0, 5, 9])))
    model = estimator.fit(backend.array(X), sample_weight=backend.array(WEIGHT))
    assert_array_equal(to_numpy(model.labels_), expected.labels_)


def test_tensors_with_gradients(torch):
    rows = torch.asarray(X, requires_grad=True)
    labels = PowerKMeans(3, random_state=0).fit_predict(rows)
    assert_array_equal(labels.numpy(), PowerKMeans(3, random_state=0).fit_predict(X))


def test_rows_on_disk_go_to_the_device_part_by_part(torch, tmp_path):
    wide = np.tile(X, (4, 1)) + np.random.default_rng(0).normal(size=(4 * N, 4))
    np.save(tmp_path / "X.npy", wide)
    estimator = KernelPowerKMeans(
        4,
        kernel="rbf",
        approximation="landmarks",
        n_components=20,
        memory_budget="80KB",
        random_state=0,
    )
    rows = open_rows(tmp_path / "X.npy")
    expected = clone(estimator).fit(rows)
    model = clone(estimator).set_params(device="cpu").fit(rows)
    assert_array_equal(model.labels_, expected.labels_)
    assert model.inertia_ == pytest.approx(expected.inertia_, rel=1e-9)
    assert_array_equal(model.predict(rows), model.labels_)


@pytest.mark.parametrize("name", ["exact", "multi"])
def test_a_model_goes_to_the_device_once(name, torch, tmp_path, monkeypatch):
    estimator, rows = CASES[name]
    model = clone(estimator).set_params(random_state=0, device="cpu").fit(rows)
    np.save(tmp_path / "X.npy", np.tile(rows, (3, 1)))
    monkeypatch.setattr(Rows, "blocks", lambda self: [slice(i, i + N) for i in (0, N, 2 * N)])
    put, sent = Device.put, []
    monkeypatch.setattr(Device, "put", lambda self, x: sent.append(id(x)) or put(self, x))
    coefficients = id(getattr(model._predictor, "members", [model._predictor])[0].coefficients)
    for answer in (model.predict, model.transform, model.score):
        counts = []
        for new in (rows, open_rows(tmp_path / "X.npy")):
            sent.clear()
            answer(new)
            counts.append(sent.count(coefficients))
        assert counts[0] == counts[1] > 0


def test_a_callable_gets_and_returns_arrays_of_the_device(torch):
    seen = set()

    def kernel(A, B):
        seen.add(type(A))
        return torch.exp(-0.1 * torch.cdist(A, B))

    rows = torch.asarray(X)
    model = KernelPowerKMeans(3, kernel=kernel, random_state=0).fit(rows)
    model.transform(rows)
    model.score(rows)
    assert seen == {torch.Tensor}
    with pytest.raises(ValueError, match="returned a ndarray; it must return an array of that lib"):
        KernelPowerKMeans(3, kernel=lambda A, B: polynomial(A, B).numpy()).fit(rows)


@pytest.mark.parametrize("name", ["cuda:99", "gpu", "meta"])
def test_devices_that_are_not_there(name, torch):
    with pytest.raises(ValueError, match=rf"device='{name}' cannot be used .*Allowed.*'cpu'"):
        KernelPowerKMeans(3, kernel="rbf", device=name).fit(X)


def test_a_named_device_without_pytorch(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ImportError, match=r"device='cuda' needs PyTorch.*kernelmeans\[gpu\]"):
        PowerKMeans(3, device="cuda").fit(X)


def test_sparse_rows_stay_on_the_host(torch):
    with pytest.raises(ValueError, match=r"device='cpu': X is sparse.*toarray"):
        PowerKMeans(3, device="cpu").fit(scipy.sparse.csr_array(X))


def test_dask_collections_stay_with_their_workers(torch):
    dask = pytest.importorskip("dask.array")
    with pytest.raises(ValueError, match=r"device='cpu': the workers of Dask .*device=None"):
        PowerKMeans(3, device="cpu").fit(dask.from_array(X, chunks=(40, 4)))


def test_a_device_too_small_for_the_kernel_matrix(torch, monkeypatch):
    monkeypatch.setattr(Device, "memory", lambda self: (100_000, 100_000))
    model = KernelPowerKMeans(3, kernel="rbf", approximation=None, device="cpu")
    with pytest.raises(MemoryError, match=r"approximation='landmarks'.*cache_kernel=False"):
        model.fit(X)
    model.set_params(approximation="landmarks", n_components=10)
    assert model.fit(X).approximation_ == "landmarks"


def test_numpy_stays_on_the_host():
    assert device_of(None, X).is_host
    assert device_of(None, X.tolist()).is_host
    assert device_of(None, scipy.sparse.csr_array(X)).is_host


def test_coarse_products_are_told(torch, monkeypatch):
    coarse = Device(torch.zeros(1, dtype=torch.float64))
    monkeypatch.setattr(Device, "put", lambda self, x: torch.asarray(x).bfloat16())
    with pytest.warns(UserWarning, match="TF32"):
        coarse.warn_if_rounding()
    monkeypatch.undo()
    coarse.warn_if_rounding()
