"""The tree of the clusters of a fit, and labels of fewer clusters."""

import copy
import pickle

import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_allclose, assert_array_equal
from scipy.cluster.hierarchy import dendrogram, fcluster, is_monotonic, is_valid_linkage, linkage
from scipy.spatial.distance import cdist, squareform
from sklearn.base import clone
from sklearn.cluster import AgglomerativeClustering
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import KNeighborsTransformer, kneighbors_graph

from data import cloud
from kernelmeans import (
    ClusterSearch,
    KernelKMeans,
    KernelPowerKMeans,
    MultiKernelPowerKMeans,
    PowerKMeans,
)
from kernelmeans.baselines import MKKM, RKKM
from kernelmeans.estimators.tree import ClusterTree, between_means
from kernelmeans.heat.closeness import closeness_in_graph, some_of_each
from kernelmeans.rows import open_rows

VIEWS = [("rbf", [0, 1]), ("linear", [0, 1])]
SHORT = {"n_clusters": 6, "random_state": 0}
MODELS = {
    "heat": KernelPowerKMeans(**SHORT),
    "flat": KernelPowerKMeans(density=0, **SHORT),
    "cosine": KernelPowerKMeans(metric="cosine", **SHORT),
    "anchors": KernelPowerKMeans(approximation="landmarks", n_components=80, **SHORT),
    "rbf": KernelPowerKMeans(kernel="rbf", **SHORT),
    "landmarks": KernelPowerKMeans(
        kernel="rbf", approximation="landmarks", n_components=30, **SHORT
    ),
    "recomputed": KernelKMeans(cache_kernel=False, **SHORT),
    "plain": KernelKMeans(kernel="linear", **SHORT),
    "centroids": PowerKMeans(**SHORT),
    "family": MultiKernelPowerKMeans(**SHORT),
    "several": MultiKernelPowerKMeans(kernels=VIEWS, **SHORT),
    "both": MultiKernelPowerKMeans(kernels=[*VIEWS, ("heat", [0, 1])], **SHORT),
    "MKKM": MKKM(kernels=VIEWS, init="k-means++", n_init=5, **SHORT),
    "RKKM": RKKM(kernel="rbf", init="k-means++", n_init=5, **SHORT),
}
models = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)


def nested(seed=0, p=2, sizes=(40,) * 12):
    """Three groups of two groups of two blobs: rows, and their groups at each level."""
    rng = np.random.default_rng(seed)
    spots = []
    for turn in np.arange(3) * 2 * np.pi / 3:
        for side in (-1, 1):
            for end in (-1, 1):
                spot = np.zeros(p)
                spot[:2] = 30 * np.cos(turn) + 8 * side, 30 * np.sin(turn) + 2.5 * end
                spots.append(spot)
    leaf = rng.permutation(np.repeat(np.arange(12), sizes))
    X = np.array(spots)[leaf] + 0.5 * rng.standard_normal((len(leaf), p))
    return X, leaf // 4, leaf // 2, leaf


def few(seed=0):
    """Every second blob, so that six clusters are the pieces of the graph."""
    rows, _, _, leaf = nested(seed, sizes=30 + 5 * np.arange(12))
    return rows[leaf % 2 == 0]


X = few()


def check(model):
    """A tree of the clusters of a model, by the rules of SciPy."""
    tree, k = model.tree_, len(model._predictor.norms)
    assert tree.children_.shape == (k - 1, 2)
    assert tree.distances_.shape == (k - 1,)
    if k > 1:
        Z = tree.linkage()
        assert is_valid_linkage(Z)
        assert is_monotonic(Z)
        assert np.isfinite(Z).all()
    assert sorted(tree.leaves) == list(range(k))
    labels = np.asarray(model.labels_)
    before = labels
    for n_clusters in range(k, 0, -1):
        found = np.asarray(model.cut(n_clusters))
        assert found.dtype == labels.dtype
        assert set(found) <= set(range(n_clusters))
        # Each cluster is a part of one.
        assert len({*zip(before.tolist(), found.tolist(), strict=True)}) == len(set(before))
        sizes = np.bincount(found, minlength=n_clusters)
        assert (np.diff(sizes) <= 0).all()
        before = found


@models
class TestEveryEstimator:
    def test_nested_labels(self, model):
        fitted = clone(model).fit(X)
        check(fitted)
        assert_array_equal(fitted.cut(6), fitted.labels_)
        assert_array_equal(fitted.cut(3, X), fitted.cut(3))
        assert_array_equal(fitted.cut(1), np.zeros(len(X)))

    def test_the_order_of_the_rows_does_not_matter(self, model):
        fitted, order = clone(model).fit(X), np.random.default_rng(1).permutation(len(X))
        other = clone(model).fit(X[order])
        for n_clusters in range(1, 7):
            found = other.cut(n_clusters), fitted.cut(n_clusters)[order]
            assert adjusted_rand_score(*found) == 1
        assert_allclose(other.tree_.distances_, fitted.tree_.distances_, rtol=0.02)

    def test_new_numbers(self, model):
        fitted = clone(model).fit(X)
        before, numbers = copy.deepcopy(fitted), np.array([2, 0, 3, 1, 5, 4])
        other = copy.copy(fitted).renumber(numbers)
        assert_array_equal(fitted.tree_.children_, before.tree_.children_)
        leaves = before.tree_.children_ < 6
        expected = np.where(
            leaves, np.append(numbers, [0] * 5)[before.tree_.children_], before.tree_.children_
        )
        assert_array_equal(other.tree_.children_, expected)
        for n_clusters in range(1, 7):
            found = other.cut(n_clusters), fitted.cut(n_clusters)
            assert adjusted_rand_score(*found) == 1
        assert_array_equal(other.tree_.cluster_weight_, np.bincount(other.labels_))

    def test_pickles(self, model):
        fitted = clone(model).fit(X)
        again = pickle.loads(pickle.dumps(fitted))
        assert_array_equal(again.cut(4, X), fitted.cut(4))


def test_levels_of_nested_blobs():
    for seed in range(3):
        for p in (2, 10):
            rows, *levels = nested(seed, p, sizes=np.random.default_rng(seed).integers(20, 90, 12))
            model = KernelPowerKMeans(12, random_state=0).fit(rows)
            for n_clusters, truth in zip((3, 6, 12), levels, strict=True):
                assert adjusted_rand_score(model.cut(n_clusters), truth) > 0.95


def test_an_arc_in_parts_is_joined_before_what_is_beside_it():
    turn = np.linspace(0, np.pi, 300)
    arc = 10 * np.c_[np.cos(turn), np.sin(turn)]
    disk = 0.8 * cloud(200, 2)
    rows = np.concatenate([arc + 0.1 * cloud(300, 2, seed=1), disk])
    model = KernelPowerKMeans(6, random_state=0).fit(rows)
    assert_array_equal(model.cut(2), np.repeat([0, 1], [300, 200]))
    # By distances of means, the disk is in the middle of the arc.
    middles = np.array([rows[model.labels_ == label].mean(axis=0) for label in range(6)])
    apart = fcluster(linkage(middles, "ward"), 2, "maxclust")[model.labels_]
    assert adjusted_rand_score(apart, model.cut(2)) < 1


class TestCost:
    def test_clusters_of_one_row_merge_as_those_of_ward(self):
        rows = np.random.default_rng(0).standard_normal((40, 3))
        model = KernelKMeans(40, kernel="linear", init=np.arange(40), random_state=0).fit(rows)
        expected = AgglomerativeClustering(
            n_clusters=None, distance_threshold=0, linkage="ward"
        ).fit(rows)
        found = np.sort(model.tree_.children_, axis=1)
        assert_array_equal(found, np.sort(expected.children_, axis=1))
        assert_allclose(model.tree_.distances_, expected.distances_)

    def test_it_is_what_a_merge_adds(self):
        weight = np.random.default_rng(3).integers(1, 4, len(X)).astype(float)
        model = KernelPowerKMeans(6, kernel="linear", random_state=0).fit(X, sample_weight=weight)

        def cost(labels):
            groups = [(X[labels == c], weight[labels == c]) for c in set(labels.tolist())]
            means = [np.average(rows, axis=0, weights=w) for rows, w in groups]
            return sum(
                w @ ((rows - m) ** 2).sum(axis=1)
                for (rows, w), m in zip(groups, means, strict=True)
            )

        costs = [cost(model.cut(n)) for n in range(6, 0, -1)]
        assert_allclose(model.tree_.distances_**2 / 2, np.diff(costs), rtol=1e-6)
        assert_allclose(model.tree_.cluster_weight_, np.bincount(model.labels_, weight))

    @pytest.mark.parametrize("name", ["rbf", "landmarks", "several"])
    def test_it_is_that_of_the_feature_space(self, name):
        model = clone(MODELS[name]).fit(X)
        squared = model.transform(X) ** 2
        own = [squared[model.labels_ == c].mean(axis=0) for c in range(6)]
        between = np.array(own) - np.diag(own)[:, None]
        sizes = np.bincount(model.labels_)
        pairs = sizes * sizes[:, None] / (sizes + sizes[:, None]) * between
        first = np.sqrt(2 * pairs[~np.eye(6, dtype=bool)].min())
        assert_allclose(model.tree_.distances_[0], first, rtol=1e-4)

    def test_kernel_matrices(self):
        K = np.exp(-cdist(X, X, "sqeuclidean") / 200)
        known = clone(MODELS["rbf"]).set_params(gamma=1 / 200).fit(X).tree_
        for model, matrix in (
            (KernelPowerKMeans(kernel="precomputed", **SHORT), K),
            (MultiKernelPowerKMeans(kernels="precomputed", kernel_scaling=None, **SHORT), K[None]),
        ):
            fitted = model.fit(matrix)
            check(fitted)
            assert_array_equal(fitted.cut(3, matrix), fitted.cut(3))
            assert_allclose(fitted.tree_.distances_, known.distances_, rtol=1e-5)

    def test_distances_of_means(self):
        rows, means = cloud(60, 3), cloud(4, 3, seed=2)
        labels, weight = np.arange(60) % 4, np.random.default_rng(1).random(60)
        means = np.array(
            [np.average(rows[labels == c], axis=0, weights=weight[labels == c]) for c in range(4)]
        )
        found = between_means(cdist(rows, means) ** 2, labels, weight)
        assert_allclose(found, cdist(means, means) ** 2, atol=1e-12)


class TestCloseness:
    def test_clusters_of_equal_weight_merge_by_average_linkage(self):
        closeness = np.random.default_rng(0).random((30, 30))
        closeness += closeness.T
        tree = ClusterTree.by_closeness(closeness, np.full(30, 7.0))
        dissimilarity = 2 - closeness
        np.fill_diagonal(dissimilarity, 0)
        expected = linkage(squareform(dissimilarity), "average")
        assert_array_equal(np.sort(tree.children_, axis=1), np.sort(expected[:, :2], axis=1))
        assert_allclose(tree.distances_, (2 - expected[:, 2]) ** (-1 / 16))
        assert_array_equal(tree.linkage()[:, 3], expected[:, 3])
        for n_clusters in (1, 4, 9, 14):
            groups = fcluster(expected, n_clusters, "maxclust")
            assert adjusted_rand_score(tree.cut(n_clusters), groups) == 1

    def test_a_given_graph(self):
        graph = kneighbors_graph(X, 8)
        graph = ((graph + graph.T) > 0).astype(float)
        model = KernelPowerKMeans(kernel="graph", **SHORT).fit(graph)
        check(model)
        assert_array_equal(model.cut(3, graph), model.cut(3))
        distances = KNeighborsTransformer(n_neighbors=30).fit_transform(X)
        check(KernelPowerKMeans(metric="precomputed", **SHORT).fit(distances))

    def test_edges_decide_before_their_absence(self):
        chain = scipy.sparse.diags_array([[1.0, 1, 1, 0, 1]] * 2, offsets=[-1, 1], format="csr")
        found = closeness_in_graph(chain, np.array([0, 0, 1, 1, 2, 2]), 3)
        assert_allclose(
            found, [[0.5, 0.25, 0.25e-6], [0.25, 0.5, 0.25e-6], [0.25e-6] * 2 + [0.5]], rtol=1e-5
        )

    def test_some_rows_of_each(self):
        labels = np.random.default_rng(0).permutation(np.repeat([-1, 0, 1, 2], [50, 500, 5, 40]))
        found = some_of_each(labels, 4, 64)
        counts = np.bincount(labels[found], minlength=4)
        assert len(set(found.tolist())) == len(found)
        assert counts[1] == 5
        assert counts[3] == 0
        assert (counts[[0, 2]] >= 8).all()
        assert counts.sum() <= 64


def test_weights_of_rows_and_float32():
    weight = np.random.default_rng(0).integers(0, 3, len(X)).astype(float)
    for name in ("heat", "rbf"):
        model = clone(MODELS[name]).fit(X.astype(np.float32), sample_weight=weight)
        assert_allclose(model.tree_.cluster_weight_, np.bincount(model.labels_, weight, 6))
        sums = np.bincount(model.cut(3), weight)
        assert (np.diff(sums) <= 0).all()


@pytest.mark.filterwarnings("ignore:Number of distinct clusters")
@models
def test_clusters_without_rows_merge_first(model):
    rows = np.repeat([[0.0, 1.0], [5.0, 1.0], [9.0, 1.0], [9.0, 40.0]], 20, axis=0)
    rows += np.arange(80)[:, None] % 2 * 0.1
    fitted = clone(model).set_params(n_clusters=12).fit(rows)
    filled = len(set(fitted.labels_.tolist()))
    check(fitted)
    assert len(set(fitted.cut(filled).tolist())) == filled


@models
def test_a_single_cluster(model):
    fitted = clone(model).set_params(n_clusters=1).fit(X)
    assert fitted.tree_.children_.shape == (0, 2)
    assert fitted.tree_.leaves == [0]
    assert_array_equal(fitted.cut(1), fitted.labels_)


@pytest.mark.filterwarnings("ignore:Number of distinct clusters")
def test_rows_that_are_all_equal():
    for name in ("heat", "rbf", "family"):
        fitted = clone(MODELS[name]).set_params(n_clusters=3).fit(np.ones((9, 2)))
        assert np.isfinite(fitted.tree_.distances_).all()
        assert_array_equal(fitted.cut(2), np.zeros(9))


def test_rows_on_disk_and_chunks(tmp_path):
    dask = pytest.importorskip("dask.array")
    np.save(tmp_path / "X.npy", X)
    given = {"approximation": "landmarks", "memory_budget": "1 MiB", **SHORT}
    for kernel in ("heat", "rbf"):
        for rows in (open_rows(tmp_path / "X.npy"), dask.from_array(X, (100, 2))):
            model = KernelPowerKMeans(kernel=kernel, **given).fit(rows)
            check(model)
            found = model.cut(3, rows)
            assert type(found) is type(model.predict(rows))
            assert_array_equal(np.asarray(found), np.asarray(model.cut(3)))


def test_arrays_of_other_libraries():
    torch = pytest.importorskip("torch")
    model = KernelPowerKMeans(**SHORT).fit(torch.asarray(X))
    assert isinstance(model.cut(3), torch.Tensor)
    assert_array_equal(model.cut(3).numpy(), KernelPowerKMeans(**SHORT).fit(X).cut(3))


def test_rows_of_no_cluster_stay_so():
    model = KernelPowerKMeans(**SHORT).fit(X)
    expected = np.where(np.arange(len(X)) < 5, -1, model.cut(2))
    model.labels_ = np.where(np.arange(len(X)) < 5, -1, model.labels_)
    assert_array_equal(model.cut(2), expected)


@pytest.mark.parametrize("n_clusters", [0, 7, -1, 2.0, "3", None, True])
def test_what_cannot_be_cut_is_refused(n_clusters):
    model = KernelPowerKMeans(**SHORT).fit(X)
    with pytest.raises(ValueError, match=r"n_clusters=.* must be an integer from 1 to 6: cut"):
        model.cut(n_clusters)


def test_models_of_before_have_no_tree():
    model = KernelPowerKMeans(**SHORT).fit(X)
    state = model.__getstate__()
    del state["tree_"]
    old = KernelPowerKMeans()
    old.__setstate__(state)
    with pytest.raises(ValueError, match="has no tree of its clusters; fit it again"):
        old.cut(2)
    assert_array_equal(old.renumber([5, 4, 3, 2, 1, 0]).labels_, 5 - model.labels_)


def test_model_files(tmp_path):
    pytest.importorskip("skops")
    from kernelmeans import load_model, save_model

    for name in ("heat", "rbf", "several"):
        model = clone(MODELS[name]).fit(X)
        save_model(model, tmp_path / "some.model.skops")
        again = load_model(tmp_path / "some.model.skops").pipeline[-1]
        assert_array_equal(again.cut(3), model.cut(3))
        assert_array_equal(again.cut(3, X), model.cut(3))
        assert_array_equal(again.tree_.distances_, model.tree_.distances_)


@pytest.mark.parametrize(
    "damage",
    [
        {"children_": np.array([[0, 1], [2, 4]])},
        {"children_": np.array([[0, 1], [2, 2]])},
        {"children_": np.array([[0, 1]])},
        {"children_": np.array([[0, -1], [2, 3]])},
        {"distances_": np.array([1.0, 2.0, 3.0])},
        {"cluster_weight_": np.ones(2)},
    ],
)
def test_files_with_damaged_trees_are_refused(tmp_path, damage):
    pytest.importorskip("skops")
    from kernelmeans import load_model
    from kernelmeans.models import Model
    from kernelmeans.models.content import write_model

    model = KernelPowerKMeans(3, kernel="rbf", random_state=0).fit(X)
    path = tmp_path / "some.model.skops"
    for change in ({}, damage):
        vars(model.tree_).update(change)
        with path.open("wb") as file:
            write_model(Model.of(model), file)
        if not change:
            load_model(path)
    with pytest.raises(ValueError, match=r"some\.model\.skops: "):
        load_model(path)


@pytest.mark.slow
def test_a_search_has_layers():
    search = ClusterSearch(
        KernelPowerKMeans(random_state=0), {"n_clusters": [3, 6]}, n_splits=4, random_state=0
    ).fit(X)
    k = search.best_params_["n_clusters"]
    assert_array_equal(search.cut(k), search.labels_)
    for n_clusters in range(1, k):
        assert_array_equal(search.cut(n_clusters, X), search.best_estimator_.cut(n_clusters))


def test_the_recipe_of_scikit_learn_draws_it():
    model = KernelPowerKMeans(**SHORT).fit(X)
    tree, counts = model.tree_, []
    for merge in tree.children_:
        counts.append(sum(1 if child < 6 else counts[child - 6] for child in merge))
    Z = np.column_stack([tree.children_, tree.distances_, counts]).astype(float)
    assert_array_equal(Z, tree.linkage())
    assert list(map(int, dendrogram(Z, no_plot=True)["ivl"])) == tree.leaves


def test_branches_do_not_cross():
    model = KernelPowerKMeans(**SHORT).fit(X)
    tree = model.tree_
    # Heavier branches come first, and the clusters of each branch stand together.
    place = np.argsort(tree.leaves)
    for n_clusters in range(1, 7):
        numbers = tree.cut(n_clusters)[tree.leaves]
        assert np.count_nonzero(np.diff(numbers)) == n_clusters - 1
    weight = np.bincount(tree.cut(2), tree.cluster_weight_)
    assert tree.cut(2)[tree.leaves[0]] == weight.argmax()
    branches = tree.branches()
    assert branches.shape == (5, 4, 2)
    x, y = branches[..., 0], branches[..., 1]
    assert_array_equal(x[:, 1], x[:, 2])
    assert x[-1, 1] == 1
    assert (x[:, [0, 3]] <= x[:, [1]]).all()
    leaves = tree.children_ < 6
    assert_array_equal(x[:, [0, 3]][leaves], 0)
    assert_array_equal(y[:, [0, 3]][leaves], place[tree.children_[leaves]])
    # Lengths keep the proportions of the distances.
    gaps = np.diff(tree.distances_)
    assert_allclose(np.diff(x[:, 1]) * gaps.sum(), gaps * (1 - x[0, 1]), atol=1e-12)


def test_small_clusters_merge_by_the_gap_and_not_by_edges_that_have_to_cross_it():
    groups = [np.linspace(x, x + 1, n) for x, n in ((0, 30), (3, 20), (20, 10))]
    model = KernelPowerKMeans(3, random_state=0).fit(np.concatenate(groups)[:, None])
    assert_array_equal(model.cut(2), np.repeat([0, 1], [50, 10]))
