"""Chunks that workers hold, against chunks that this process opens."""

import pickle
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_array_equal

import data
from held import feature_space
from kernelmeans.engines import Threads
from kernelmeans.engines.cluster import Cluster
from kernelmeans.kernels import Kernel
from kernelmeans.lowrank import Explicit, Nystroem, sampling
from kernelmeans.rows.dask import DaskRows
from kernelmeans.solver import Annealed, Hard, anneal_subsamples, solve, subsampled
from kernelmeans.solver.blockwise import assign, combination, hard_costs
from kernelmeans.spaces import EntropyRule, FeatureSpace, ProductSpace, stream, stream_on_cluster

dask = pytest.importorskip("dask", reason="the extra dask is not installed")
da = pytest.importorskip("dask.array", reason="the extra dask is not installed")

N = 400
EDGES = [0, 90, 91, 250, N]
PARTS = [slice(*pair) for pair in pairwise(EDGES)]
X = data.blobs(N, 4, 5, spread=0.8)[0]
WEIGHT = np.random.default_rng(4).uniform(0.2, 3, N)
# All are equal in one chunk.
WEIGHT[91:250] = 2.0
STARTS = np.random.default_rng(1).choice(N, (5, 2), replace=False)
METHODS = {
    "hard": Hard(max_iter=50),
    "annealed": Annealed(s0=-3.0, critical_power=-2.0, eta=1.2, relaxation=1.8, softness=0.01),
}


class AtOnce(Cluster):
    """Workers that do each task at once, and get and return copies of all that it takes."""

    def __init__(self):
        self.n_tasks = 0

    def tasks(self, function, *arguments):
        orders = list(zip(*pickle.loads(pickle.dumps(arguments)), strict=True))
        self.n_tasks += len(orders)
        return [pickle.loads(pickle.dumps(function(*own))) for own in orders]

    def started(self, tasks):
        return list(dask.compute(*tasks, scheduler="sync"))

    def results(self, futures):
        return list(futures)


def feature_map(name, X):
    if name == "linear":
        return Explicit(Kernel("linear", {}))
    return Nystroem.whitened(Kernel("rbf", {"gamma": 0.05}), X, np.arange(0, N, 25))


def both(name, columns=slice(None), cluster=None, held=True, X=X, weight=WEIGHT):
    """A space of chunks that this process opens, and one of chunks on workers."""
    rows = np.ascontiguousarray(X[:, columns])
    sample = FeatureSpace.hold(feature_map(name, rows), rows, weight, Threads(1))
    lazy = DaskRows(da.from_array(rows, (tuple(np.diff(EDGES)), rows.shape[1])))
    return (
        stream(sample, rows, PARTS, weight),
        stream_on_cluster(sample, lazy, weight, cluster or AtOnce(), held),
    )


def product(members):
    return ProductSpace(members, [slice(0, 2), slice(1, 4)], EntropyRule(50.0), np.array([1.0, 2]))


def scaled(space, block, own, factor):
    return own * factor, space.sample_weight[block]


@pytest.mark.parametrize("place", [0, 1], ids=["here", "on workers"])
def test_what_is_collected_stands_side_by_side(place):
    given = np.arange(2.0 * N).reshape(2, N)
    found = both("linear")[place].collect(scaled, 2, 3.0, per_sample=(given,))
    for array, expected in zip(found, (3 * given, WEIGHT), strict=True):
        assert_array_equal(array, expected)


def assert_equal_bit_for_bit(here, there, method):
    one, other = (solve(space, space.at(STARTS), method, [3, 4]) for space in (here, there))
    for name in ("labels", "inertia", "cost", "n_iter", "kernel_weights"):
        assert_array_equal(getattr(other, name), getattr(one, name))
    for ours, theirs in zip(one.objective_history, other.objective_history, strict=True):
        assert_array_equal(theirs, ours)
    for vector, same in zip(one.centroids.vectors, other.centroids.vectors, strict=True):
        assert_array_equal(same, vector)
    assert_array_equal(hard_costs(there, other.centroids), hard_costs(here, one.centroids))
    coefficients = np.linspace(-1, 2, N)
    for vector, same in zip(
        combination(here, coefficients).vectors,
        combination(there, coefficients).vectors,
        strict=True,
    ):
        assert_array_equal(same, vector)
    assigned = assign(here, one.centroids)
    for own, same in zip(assigned, assign(there, other.centroids), strict=True):
        assert_array_equal(same, own)
    assert one.inertia[one.best] == pytest.approx(WEIGHT @ assigned.nearest[0])


methods = pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)


@methods
@pytest.mark.parametrize("held", [True, False])
@pytest.mark.parametrize("name", ["linear", "landmarks"])
def test_workers_answer_bit_for_bit_as_this_process(name, held, method):
    here, there = both(name, held=held)
    assert there.chunks.slices == PARTS
    assert there.magnitude == here.magnitude
    assert there.trace == here.trace
    assert_equal_bit_for_bit(here, there, method)


@methods
def test_several_spaces_on_workers_are_one_there(method):
    cluster = AtOnce()
    pairs = [
        both(name, own, cluster)
        for name, own in (("landmarks", slice(0, 2)), ("linear", slice(1, 4)))
    ]
    here, there = (product(members) for members in zip(*pairs, strict=True))
    assert there.chunks.cluster is cluster
    before = cluster.n_tasks
    assign(there, there.at(STARTS))
    # One for each chunk, one for the order, and none for each member.
    assert cluster.n_tasks - before == len(PARTS) + 1
    assert_equal_bit_for_bit(here, there, method)


@pytest.mark.parametrize("held", [True, False])
def test_features_that_workers_hold_are_computed_once(held, monkeypatch):
    computed = []
    raw = Nystroem.raw
    monkeypatch.setattr(
        Nystroem, "raw", lambda self, X, *order: computed.append(len(X)) or raw(self, X, *order)
    )
    _, there = both("landmarks", held=held)
    computed.clear()
    for _ in range(2):
        hard_costs(there, there.at(STARTS))
    assert sum(computed) < N if held else sum(computed) >= 2 * N


def test_rows_that_are_not_finite_are_refused_by_their_chunk():
    spoiled = X.copy()
    spoiled[200, 1] = np.inf
    sample = feature_space(Kernel("linear", {}), X, WEIGHT)
    lazy = DaskRows(da.from_array(spoiled, (tuple(np.diff(EDGES)), 4)))
    for ask in (
        lambda: stream(sample, spoiled, PARTS, WEIGHT),
        lambda: stream(sample, scipy.sparse.csr_array(spoiled), PARTS, WEIGHT),
        lambda: stream_on_cluster(sample, lazy, WEIGHT, AtOnce(), held=True),
    ):
        with pytest.raises(ValueError, match="NaN or infinite values between rows 91 and 250;"):
            ask()


def test_kernels_that_overflow_on_a_row_are_refused():
    kernel, rows = Kernel("poly", {"gamma": 1.0, "degree": 2, "coef0": 1.0}), X.copy()
    features = Nystroem.whitened(kernel, rows, np.arange(9))
    sample = FeatureSpace.hold(features, rows, WEIGHT, Threads(1))
    rows[200] = 1e170
    with pytest.raises(ValueError, match=r"kernel='poly'.*NaN or infinite on these data"):
        stream(sample, rows, PARTS, WEIGHT)


def test_subsamples_are_annealed_on_the_workers(monkeypatch):
    monkeypatch.setattr(sampling, "MOST_ROWS", 120)
    monkeypatch.setattr(sampling, "FEWEST_ROWS", 50)
    monkeypatch.setattr(subsampled, "SAMPLES_PER_CLUSTER", 10)
    method = Annealed(s0=-3, critical_power=-2, eta=1.2, softness=0.01, subsamples=True)
    cluster = AtOnce()
    (one, further), (other, same) = (
        anneal_subsamples(space, 5, method, 7) for space in both("linear", cluster=cluster)
    )
    assert same == further
    assert_array_equal(other.vectors[0], one.vectors[0])


def test_a_part_is_the_space_of_its_samples():
    here, _ = both("landmarks")
    columns = slice(0, 2), slice(1, 4)
    together = product([both("linear", own)[0] for own in columns])
    for space in (here, together):
        centroids = space.at(STARTS)
        for part in PARTS:
            own = space.part(part)
            assert own.first == part.start
            assert_array_equal(own.sample_weight, WEIGHT[part])
            size = slice(0, part.stop - part.start)
            np.testing.assert_allclose(
                own.distances(centroids, size), space.distances(centroids, part), rtol=1e-9
            )
            assert own.floor(centroids) == pytest.approx(space.floor(centroids))
