"""Every space on the devices of other array libraries."""

from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from backends import BACKENDS, NUMPY
from kernelmeans._arrays import namespace, to_numpy
from kernelmeans._devices import device_of
from kernelmeans.engines import Threads
from kernelmeans.kernels import Kernel
from kernelmeans.lowrank import Explicit, Fourier, Nystroem
from kernelmeans.spaces import EntropyRule, FeatureSpace, GramSpace, ProductSpace, stream
from oracle import rbf
from spaces import test_lowrank, test_product
from spaces.conformance import N, SpaceConformance
from spaces.test_gram import RBF, tiny_budget
from spaces.test_lowrank import LANDMARKS, POLY, poly
from spaces.test_product import COLUMNS, FACTORS, LINEAR, NARROW

pytestmark = pytest.mark.slow

PARTS = [slice(*pair) for pair in pairwise([0, 1, 120, N])]
RBF_WIDE = Kernel("rbf", {"gamma": test_lowrank.GAMMA})
OTHERS = [backend for backend in BACKENDS if backend != NUMPY]


class OnDevices(SpaceConformance):
    """The suite on a device; the rows and all small results stay on the host."""

    @pytest.fixture(params=OTHERS, ids=str)
    def device(self, request):
        return device_of(None, request.param.array(np.zeros(1)))

    @pytest.fixture(params=["float64", "float32"])
    def weight(self, request):
        weight = np.random.default_rng(5).uniform(0, 3, N).astype(request.param)
        weight[::7] = 0
        return weight

    @pytest.fixture
    def space(self, rows, weight, device):
        return self.make_space(rows, weight, Threads(1), device)

    def make_space(self, X, weight, threads, device):
        raise NotImplementedError

    def test_large_arrays_are_on_the_device_and_small_ones_on_the_host(self, space, device):
        centroids = space.at(np.array([[3, 5], [0, 4]]))
        block = slice(0, 9)
        large = [space.distances(centroids, block), space.squared_norms(block), *centroids.vectors]
        for x in large:
            assert namespace(x) is namespace(device.anchor)
            assert x.device == device.anchor.device
        for x in (space.norms(centroids), space.floor(centroids), space.sample_weight):
            assert type(x) is np.ndarray

    def test_the_predictor_answers_the_same_there_and_on_the_host(self, space, rows, device, dtype):
        predictor = space.export(space.at(np.array([[3], [200], [17]])))
        squared = self.diagonal(rows)
        host = predictor.compare(rows, squared, keep_distances=True)
        there = predictor.on(device).compare(rows, squared, keep_distances=True)
        scale = max(float(host.distances.max()), 1)
        atol = 200 * np.finfo(dtype).eps * scale
        assert_allclose(there.distances, host.distances, rtol=0, atol=atol)
        assert_array_equal(there.labels, host.labels)


class TestCached(OnDevices):
    def make_space(self, X, weight, threads, device):
        return GramSpace.hold(RBF, X, weight, threads, device=device)

    def gram(self, X):
        X = X.astype(np.float64)
        return rbf(X, X, 0.3)


class TestMatrixFree(TestCached):
    def make_space(self, X, weight, threads, device):
        return GramSpace.hold(RBF, X, weight, threads, device, 12 * tiny_budget(weight.dtype))

    def test_rows_are_recomputed_in_several_blocks(self, space):
        assert 5 < len(list(space._column_blocks(1))) < 20


class TestNormalized(OnDevices):
    def make_space(self, X, weight, threads, device):
        return GramSpace.hold(POLY, X, weight, threads, device=device)

    def gram(self, X):
        return poly(X.astype(np.float64))


class TestPrecomputed(OnDevices):
    # Rows of a kernel matrix are no places in feature space.
    test_centroids_on_rows_of_input = None

    def make_rows(self, n, seed=0):
        X = super().make_rows(n, seed)
        return rbf(X, X, 0.3)

    def make_space(self, X, weight, threads, device):
        X.flags.writeable = False
        return GramSpace.hold(Kernel("precomputed", {}), X, weight, threads, device, 2**30)

    def gram(self, X):
        return X.astype(np.float64)


class TestLinear(OnDevices):
    def make_space(self, X, weight, threads, device):
        return FeatureSpace.hold(Explicit(LINEAR), X, weight, threads, device=device)

    def gram(self, X):
        X = X.astype(np.float64)
        return X @ X.T


class TestHeldLandmarks(OnDevices, test_lowrank.TestLandmarks):
    def make_space(self, X, weight, threads, device):
        features = Nystroem.whitened(RBF_WIDE, X, LANDMARKS)
        return FeatureSpace.hold(features, X, weight, threads, device)


class TestPartedLandmarks(TestHeldLandmarks):
    def make_space(self, X, weight, threads, device):
        return stream(super().make_space(X, weight, threads, device), X, PARTS, weight)


class TestRandomFeatures(OnDevices):
    def make_space(self, X, weight, threads, device):
        return FeatureSpace.hold(self.map(X), X, weight, threads, device=device)

    def map(self, X):
        return Fourier.draw(RBF, 4, 64, 0, X.dtype)

    def gram(self, X):
        Z = self.map(X.astype(np.float64)).raw(X.astype(np.float64), None)
        return Z @ Z.T

    def diagonal(self, X):
        return np.ones(len(X), X.dtype)


class TestSeveral(OnDevices, test_product.TestMixed):
    def make_space(self, X, weight, threads, device):
        parts = [X[:, own] for own in COLUMNS]
        members = [
            GramSpace.hold(RBF, parts[0], weight, threads, device=device),
            FeatureSpace.hold(Explicit(LINEAR), parts[1], weight, threads, device=device),
            GramSpace.hold(NARROW, parts[2], weight, threads, device, tiny_budget(weight.dtype)),
        ]
        return ProductSpace(members, COLUMNS, EntropyRule(1.0), FACTORS)


@pytest.mark.parametrize("backend", OTHERS, ids=str)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("rbf", {"gamma": 0.3}),
        ("laplacian", {"gamma": 0.3}),
        ("geodesic", {"gamma": 0.5}),
        ("poly", {"gamma": 0.2, "degree": 3, "coef0": 1.0}),
        ("poly", {"gamma": 0.2, "degree": 2.5, "coef0": 1.0}),
        ("sigmoid", {"gamma": 0.2, "coef0": 0.1}),
        ("cosine", {}),
        ("linear", {}),
    ],
)
def test_kernels_are_those_of_the_host(backend, dtype, name, parameters):
    rng = np.random.default_rng(0)
    # Far from the origin, where distances computed in float32 are worthless unless centred.
    X, Y = (rng.uniform(9, 12, size=(n, 5)).astype(dtype) for n in (40, 30))
    kernel = Kernel(name, parameters)
    rtol = 2e-5 if dtype == "float32" else 1e-12
    exact = kernel(X.astype(np.float64), Y.astype(np.float64))
    got = kernel.values(backend.array(X), backend.array(Y))
    assert got.device == backend.array(X).device
    assert_allclose(to_numpy(got), exact, rtol=rtol)
    assert to_numpy(got).dtype == dtype
    squared = to_numpy(kernel.diagonal(backend.array(X)))
    assert_allclose(squared, kernel.diagonal(X), rtol=rtol)
