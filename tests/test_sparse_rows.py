"""Sparse rows whose entries are repeated or unordered: each way in reads them as the dense rows."""

import numpy as np
import pytest
import scipy.sparse
from sklearn.neighbors import kneighbors_graph

from kernelmeans import (
    ClusterSearch,
    KernelKMeans,
    KernelPowerKMeans,
    MultiKernelPowerKMeans,
    PowerKMeans,
    describe,
)
from kernelmeans.baselines import MKKM, RKKM, RMKKM
from kernelmeans.heat import DistancesKernel, GraphKernel, HeatKernel
from kernelmeans.kernels import (
    Kernel,
    du2015_family,
    du2015_kernels,
    geodesic_kernel,
    width_family,
)
from kernelmeans.metrics import (
    kernel_inertia,
    kernel_silhouette_samples,
    neighbor_consistency,
)
from kernelmeans.plotting.points import map_points

RNG = np.random.default_rng(0)
LABELS = np.arange(60) % 3
X = scipy.sparse.csr_array(
    np.round(4 * RNG.normal(size=(3, 8))[LABELS] + RNG.normal(size=(60, 8)), 2)
    * (RNG.random((60, 8)) < 0.7)
)
NEAR = kneighbors_graph(X, 12, mode="distance")
EDGES = NEAR.minimum(1) + NEAR.minimum(1).T
DISTANCES = NEAR + scipy.sparse.csr_array(NEAR.shape)  # in the order of columns


def shuffled(clean, times):
    """The same matrix with each entry v as 2 v and -v, or once, in random order and read-only."""
    rng = np.random.default_rng(1)
    factors = np.array([2.0, -1.0] if times == 2 else [1.0])
    values, columns = [], []
    for start, stop in zip(clean.indptr[:-1], clean.indptr[1:], strict=True):
        order = rng.permutation(times * (stop - start))
        values.append(np.outer(factors, clean.data[start:stop]).ravel()[order])
        columns.append(np.tile(clean.indices[start:stop], times)[order])
    parts = np.concatenate(values), np.concatenate(columns), times * clean.indptr
    for part in parts:
        part.setflags(write=False)
    found = scipy.sparse.csr_array(parts, shape=clean.shape)
    np.testing.assert_array_equal(found.toarray(), clean.toarray())
    return found


def fitted(estimator):
    def way(X):
        model = estimator.fit(X)
        return model.labels_, model.predict(X), model.transform(X), model.inertia_

    return way


def single(kernel, **given):
    return fitted(KernelPowerKMeans(3, kernel=kernel, random_state=0, **given))


def several(estimator, kernels):
    return fitted(estimator(3, kernels=kernels, random_state=0))


RBF = KernelPowerKMeans(3, kernel="rbf", random_state=0).fit(X)
WAYS = {
    **{
        name: single(name)
        for name in ("heat", "rbf", "laplacian", "poly", "sigmoid", "cosine", "linear", "geodesic")
    },
    "heat, cosine": single("heat", metric="cosine"),
    "heat, anchors": single("heat", approximation="landmarks", n_components=30),
    "laplacian, rows again": single("laplacian", cache_kernel=False),
    "callable": single(lambda A, B: np.exp(-np.abs(A[:, :1].toarray() - B[:, :1].toarray().T))),
    **{
        name: single("rbf", approximation=name, n_components=20)
        for name in ("landmarks", "rpcholesky", "rff")
    },
    "median": single("rbf", gamma="median"),
    "scale": single("poly", gamma="scale"),
    "KernelKMeans": fitted(KernelKMeans(3, kernel="poly", random_state=0)),
    "PowerKMeans": fitted(PowerKMeans(3, random_state=0)),
    "several": several(MultiKernelPowerKMeans, ["rbf", "laplacian", ("cosine", [5, 0, 3])]),
    "du2015": several(MultiKernelPowerKMeans, "du2015"),
    "MKKM": several(MKKM, ["rbf", "poly"]),
    "RMKKM": several(RMKKM, ["rbf", "poly"]),
    "RKKM": fitted(RKKM(3, kernel="rbf", random_state=0)),
    "init": fitted(KernelPowerKMeans(3, kernel="rbf", init=X[[0, 1, 2]].toarray())),
    "search": lambda X: (
        ClusterSearch(
            KernelPowerKMeans(kernel="cosine"), {"n_clusters": [2, 3]}, n_splits=2, random_state=0
        )
        .fit(X)
        .results_["mean_stability"]
    ),
    "score": RBF.score,
    "kernel_inertia": lambda X: kernel_inertia(RBF, X, LABELS),
    "silhouettes": lambda X: kernel_silhouette_samples(RBF, X, LABELS),
    "consistency": lambda X: neighbor_consistency(X, LABELS, n_neighbors=5),
    "consistency, cosine": lambda X: neighbor_consistency(
        X, LABELS, n_neighbors=5, metric="cosine"
    ),
    "map": lambda X: map_points(RBF, X).points,
    "describe": lambda X: str(describe(RBF, np.ones((60, 1)), X=X)),
    "fitted kernel": lambda X: RBF.kernel_(X, X),
    "laplacian kernel": lambda X: Kernel("laplacian", {"gamma": 0.1})(X, X),
    "diagonal": Kernel("poly", {"gamma": 0.1, "degree": 2, "coef0": 1}).diagonal,
    "geodesic_kernel": geodesic_kernel,
    "geodesic_kernel of two": lambda X: geodesic_kernel(RBF.kernel_(X, X), RBF.kernel_(X, X)),
    "width_family": lambda X: [one.parameters["gamma"] for one in width_family(X)],
    "du2015_family": lambda X: du2015_family(X)[0].parameters["gamma"],
    "du2015_kernels": du2015_kernels,
    "HeatKernel": lambda X: HeatKernel().fit(X, n_clusters=3)(X, X),
    "nearest": lambda X: HeatKernel().fit(X, n_clusters=3).distances_to_nearest(X, True),
}
GRAPHS = {
    "graph": (EDGES, single("graph")),
    "GraphKernel": (EDGES, lambda A: GraphKernel().fit(A, n_clusters=3)(A, A)),
    "distances": (DISTANCES, single("heat", metric="precomputed")),
    "DistancesKernel": (DISTANCES, lambda D: DistancesKernel().fit(D, n_clusters=3)(D, D)),
    "consistency": (
        DISTANCES,
        lambda D: neighbor_consistency(D, LABELS, n_neighbors=5, metric="precomputed"),
    ),
    "search": (
        EDGES,
        lambda A: (
            ClusterSearch(
                KernelPowerKMeans(kernel="graph"), {"n_clusters": [3]}, n_splits=2, random_state=0
            )
            .fit(A)
            .results_["mean_stability"]
        ),
    ),
}


def compare(way, clean, times):
    given = shuffled(clean, times)
    before = [np.copy(part) for part in (given.data, given.indices, given.indptr)]
    got, expected = way(given), way(clean)
    if isinstance(expected, str):
        assert got == expected
        return
    for one, other in zip(
        *(x if isinstance(x, tuple) else [x] for x in (got, expected)), strict=True
    ):
        np.testing.assert_array_equal(one, other)
    for part, own in zip(before, (given.data, given.indices, given.indptr), strict=True):
        np.testing.assert_array_equal(part, own)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*(semi-definite|searches for|is few|not sorted)")
@pytest.mark.parametrize("times", [1, 2], ids=["unordered", "repeated"])
@pytest.mark.parametrize("way", WAYS)
def test_rows(way, times):
    compare(WAYS[way], X, times)


@pytest.mark.filterwarnings("ignore:.*(is few|not sorted by row values)")
@pytest.mark.parametrize("times", [1, 2], ids=["unordered", "repeated"])
@pytest.mark.parametrize("way", GRAPHS)
def test_graphs_and_distances(way, times):
    compare(GRAPHS[way][1], GRAPHS[way][0], times)


def test_a_zero_distance_that_is_stored_stays_stored():
    rows = np.repeat(np.arange(6.0), 2)[:, None] + np.repeat([0, 100], 6)[:, None]
    clean = scipy.sparse.csr_array(kneighbors_graph(rows, 3, mode="distance"))
    clean.sort_indices()
    assert (clean.data == 0).any()
    compare(lambda D: DistancesKernel().fit(D, n_clusters=2)(D, D), clean, 2)


@pytest.mark.parametrize("form", ["csc", "coo", "bsr"])
def test_other_formats(form):
    model = KernelPowerKMeans(3, kernel="poly", random_state=0)
    expected = model.fit(X).labels_
    np.testing.assert_array_equal(model.fit(shuffled(X, 2).asformat(form)).labels_, expected)


@pytest.mark.parametrize("given", [{"metric": "manhattan"}, {"kernel": "laplacian"}])
@pytest.mark.parametrize("name", ["indices", "indptr"])
def test_long_indices(given, name):
    rows, estimator = X.copy(), KernelPowerKMeans(3, random_state=0, **given)
    setattr(rows, name, getattr(rows, name).astype(np.int64))
    found = estimator.fit(rows).predict(rows)
    assert getattr(rows, name).dtype == np.int64
    np.testing.assert_array_equal(found, estimator.fit(X).labels_)


def test_a_matrix_in_order_is_not_copied():
    from kernelmeans._given import received

    found = received(X)
    assert found is X
