"""Heat kernels by anchors."""

import pickle
import re
import warnings

import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_moons
from sklearn.metrics import adjusted_rand_score

from data import blobs, cloud
from kernelmeans import KernelKMeans, KernelPowerKMeans, MultiKernelPowerKMeans
from kernelmeans.heat.anchors import AnchorGraph, AnchorHeat, anchor_weights, auto_anchors
from kernelmeans.heat.neighbors import NearestRows
from kernelmeans.rows import open_rows


def anchored(k, **parameters):
    parameters = {"approximation": "landmarks", "random_state": 0, **parameters}
    return KernelPowerKMeans(k, kernel="heat", **parameters)


def test_it_is_heat_in_the_graph_of_shares(rng):
    """The definition: cosine form of U exp(-2 (1 - s) t) U^T with Z Lambda^-1/2 = U s^1/2 V^T."""
    X, anchors = cloud(90), NearestRows(cloud(20, seed=1), "euclidean")
    weight = rng.uniform(0.5, 2, 90)
    features, values = AnchorHeat.of(AnchorGraph(X, weight, anchors, 4), 5).at(1.5)
    Z = anchor_weights(X, anchors, 4).toarray()
    mass = weight @ Z
    U, roots, _ = np.linalg.svd(np.sqrt(weight)[:, None] * Z / np.sqrt(mass), full_matrices=False)
    heat = np.exp(-1.5 * (1 - roots**2))
    U = (U / np.sqrt(weight)[:, None])[:, heat**2 > 1e-2] * heat[heat**2 > 1e-2]
    H = U @ U.T
    lengths = np.sqrt(np.diag(H))
    own = features(X)
    assert_allclose(own @ own.T, H / lengths[:, None] / lengths, atol=1e-9)
    assert_allclose(values, (roots**2)[heat**2 > 1e-2], atol=1e-12)


def test_blocks_of_rows_do_not_matter(rng, monkeypatch):
    weight = rng.uniform(0.5, 2, 90)
    graph = AnchorGraph(cloud(90), weight, NearestRows(cloud(20, seed=1), "euclidean"), 4)
    whole = *graph.products(), *graph.ranks()
    monkeypatch.setattr("kernelmeans.heat.anchors.BLOCK_ROWS", 20)
    for one, other in zip(whole, (*graph.products(), *graph.ranks()), strict=True):
        one, other = (x.toarray() if scipy.sparse.issparse(x) else x for x in (one, other))
        assert_allclose(other, one, atol=1e-12)
    assert whole[1].sum() == pytest.approx(weight.sum())
    assert whole[3].sum() == pytest.approx(weight.sum())


def test_ranks_of_anchors_are_those_near_any_row():
    X, anchors = cloud(60, 2), cloud(9, 2, seed=1)
    v = np.arange(1.0, 61)
    ranks, weight = AnchorGraph(X, v, NearestRows(anchors, "euclidean"), 2).ranks()
    order = np.linalg.norm(X[:, None] - anchors, axis=2).argsort(axis=1)
    expected = np.full((9, 9), np.inf)
    for row in order:
        for rank, other in enumerate(row[1:], 2):
            expected[row[0], other] = min(expected[row[0], other], rank)
    found = ranks.toarray()
    assert_array_equal(np.where(found > 0, found, np.inf), expected)
    assert_array_equal(weight, [v[order[:, 0] == anchor].sum() for anchor in range(9)])


def test_shares_do_not_jump():
    anchors = NearestRows(cloud(30, p=2, seed=1), "euclidean")
    along = np.linspace(-2, 2, 4001)[:, None] * [1.0, 0.5]
    Z = anchor_weights(along, anchors, 5).toarray()
    assert_allclose(Z.sum(axis=1), 1)
    assert (Z >= 0).all()
    assert abs(np.diff(Z, axis=0)).max() < 0.02


@pytest.mark.parametrize("n_neighbors", [3, 4, 9])
def test_few_anchors(n_neighbors):
    anchors = NearestRows(np.eye(4), "euclidean")
    Z = anchor_weights(np.vstack([np.eye(4), np.zeros((1, 4))]), anchors, n_neighbors)
    assert_allclose(Z.sum(axis=1), 1)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_moons(dtype):
    X, y = make_moons(3000, noise=0.07, random_state=0)
    X = X.astype(dtype)
    model = anchored(2).fit(X)
    assert model.approximation_ == "landmarks"
    assert model.approximation_error_ is model.inertia_bounds_ is None
    assert model.n_neighbors_ == 5
    assert model.kernel_.features(X).dtype == X.dtype
    assert adjusted_rand_score(y, model.labels_) > 0.97
    assert_array_equal(model.predict(X), model.labels_)
    assert_array_equal(model.predict(X[5:1000:7]), model.labels_[5:1000:7])
    again = pickle.loads(pickle.dumps(model))
    assert_array_equal(again.predict(X + 0.01), model.predict(X + 0.01))


def test_auto_takes_anchors_beyond_the_graph(monkeypatch):
    monkeypatch.setattr("kernelmeans.estimators.plan.GRAPH_ROWS", 500)
    monkeypatch.setattr("kernelmeans.estimators.plan.GRAPH_SECONDS", 0)
    X, y = blobs(600, 8, 4)
    model = KernelPowerKMeans(4, kernel="heat", random_state=0).fit(X)
    assert model.approximation_ == "landmarks"
    assert "n_samples=600 are too many for a fast graph" in model.approximation_reason_
    assert adjusted_rand_score(y, model.labels_) == 1
    exact = KernelPowerKMeans(4, kernel="heat", approximation=None, random_state=0).fit(X)
    assert exact.approximation_ == "explicit"


@pytest.mark.slow
def test_auto_takes_no_anchors_because_memory_is_short():
    X, y = blobs(20_000, k=3)
    model = KernelPowerKMeans(3, kernel="heat", memory_budget="12MB", random_state=0)
    with pytest.raises(MemoryError, match=r"graph of kernel='heat'.* approximation='landmarks'"):
        model.fit(X)
    model.set_params(approximation="landmarks").fit(X)
    assert adjusted_rand_score(y, model.labels_) > 0.99


@pytest.mark.slow
def test_rows_on_disk(tmp_path):
    X, y = blobs(20_000, k=3)
    np.save(tmp_path / "X.npy", X)
    rows = open_rows(tmp_path / "X.npy")
    model = anchored(3, memory_budget="2MB", n_components=50).fit(rows)
    assert adjusted_rand_score(y, model.labels_) > 0.99
    assert_array_equal(model.predict(X), model.labels_)


@pytest.mark.slow
def test_dask_collections():
    array = pytest.importorskip("dask.array")
    X, y = blobs(3000, k=3)
    model = KernelPowerKMeans(3, kernel="heat", random_state=0)
    model.fit(array.from_array(X, chunks=(700, 3)))
    assert model.approximation_ == "landmarks"
    assert adjusted_rand_score(y, model.labels_.compute()) == 1


def test_sparse_rows():
    y = np.arange(400) % 2
    X = scipy.sparse.random_array((400, 40), density=0.3, rng=np.random.default_rng(0)).toarray()
    X[y == 0, :20] = X[y == 1, 20:] = 0
    rows = scipy.sparse.csr_array(X)
    model = anchored(2, metric="cosine", n_components=60).fit(rows)
    assert adjusted_rand_score(y, model.labels_) == 1
    assert_array_equal(model.predict(rows), model.labels_)


def test_weight_two_is_the_row_twice():
    X, _ = blobs(300, k=4)
    weight = 1 + np.arange(300) % 3
    model = anchored(4, n_components=40).fit(X, sample_weight=weight)
    copies = anchored(4, n_components=40).fit(np.repeat(X, weight, axis=0))
    assert adjusted_rand_score(copies.predict(X), model.labels_) == 1


def test_more_pieces_than_clusters():
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(4), [600, 500, 200, 100])
    X = 100 * y[:, None] ** 1.5 + rng.standard_normal((1400, 2))
    with pytest.warns(UserWarning, match="in 4 pieces"):
        model = anchored(2, n_components=150).fit(X)
    assert model.n_pieces_ == 4
    # What is left out goes to the anchors that are nearest.
    assert adjusted_rand_score(model.labels_, y > 0) == 1


@pytest.mark.parametrize("seed", range(3))
def test_the_recommended_number_is_the_smallest_that_connects(seed):
    rng = np.random.default_rng(seed)
    X = np.repeat([0.0, 8.0, 20.0], [300, 200, 150])[:, None] + rng.standard_normal((650, 2))
    with pytest.warns(UserWarning, match="the graph of anchors with n_neighbors=5") as caught:
        anchored(2, n_components=60).fit(X)
    (number,) = re.findall(r"Raise n_neighbors to (\d+), the smallest", str(caught[0].message))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert anchored(2, n_components=60, n_neighbors=int(number)).fit(X).n_pieces_ == 2
    with pytest.warns(UserWarning, match=f"Raise n_neighbors to {number}, the smallest"):
        anchored(2, n_components=60, n_neighbors=int(number) - 1).fit(X)


def test_several_kernels():
    X, y = make_moons(1500, noise=0.06, random_state=0)
    heat = [{"kernel": "heat", "n_neighbors": n} for n in (4, 6)]
    model = MultiKernelPowerKMeans(
        2, kernels=heat, approximation="landmarks", n_components=150, random_state=0
    ).fit(X)
    assert adjusted_rand_score(y, model.labels_) > 0.98
    assert_array_equal(model.predict(X), model.labels_)


@pytest.mark.parametrize("n_components", [1, 3, 10_000])
def test_any_number_of_anchors(n_components):
    X, _ = blobs(200, k=3)
    model = KernelKMeans(
        3, kernel="heat", approximation="landmarks", n_components=n_components, random_state=0
    )
    if n_components < 3:
        with pytest.warns(UserWarning, match="distinct clusters"):
            model.fit(X)
    else:
        model.fit(X)
    assert_array_equal(model.predict(X), model.labels_)


@pytest.mark.parametrize(
    ("n", "k", "expected"),
    [(500, 3, 200), (4000, 3, 800), (10**4, 3, 2000), (10**7, 3, 3162), (10**4, 250, 2500)],
)
def test_the_number_of_anchors(n, k, expected):
    assert auto_anchors(n, k) == expected


def test_large_files_of_few_rows_have_a_graph(tmp_path):
    X, y = blobs(300, k=3, p=500)
    np.save(tmp_path / "X.npy", X)
    model = KernelPowerKMeans(3, kernel="heat", memory_budget="4MB", random_state=0)
    model.fit(open_rows(tmp_path / "X.npy"))
    assert model.approximation_ == "explicit"
    assert adjusted_rand_score(y, model.labels_) == 1
    assert_array_equal(model.predict(X), model.labels_)


def test_rows_of_weight_zero_are_no_part_of_it():
    X = cloud(60, 2)
    far = np.vstack([X, [[1e150, 0.0]]])
    model = KernelPowerKMeans(
        3, kernel="heat", approximation="landmarks", n_components=12, random_state=0
    )
    alone = model.fit(X).labels_
    assert_array_equal(model.fit(far, sample_weight=[1.0] * 60 + [0.0]).labels_[:60], alone)


@pytest.mark.parametrize("scale", [1e-170, 1e-25, 1e160, 1e300])
def test_the_scale_of_rows_does_not_matter(scale):
    X, y = blobs(90, 2, 3)
    model = KernelPowerKMeans(
        3, kernel="heat", approximation="landmarks", n_components=12, random_state=0
    )
    assert adjusted_rand_score(model.fit(scale * X).labels_, y) == 1
    assert_array_equal(model.predict(scale * X), model.labels_)


@pytest.mark.parametrize("n_components", [2, 30])
@pytest.mark.parametrize("t", [1e9, 1e300])
def test_heat_stays_in_its_pieces_however_long(t, n_components):
    X = np.concatenate([cloud(60), cloud(60, seed=1) + 100])
    model = anchored(2, t=t, n_components=n_components).fit(X)
    features = model.kernel_.features(X)
    assert_allclose((features**2).sum(axis=1), 1)
    if n_components == 30:
        assert_allclose(model.kernel_.eigenvalues, 1)
        assert_array_equal(model.labels_, np.repeat(model.labels_[[0, -1]], 60))
