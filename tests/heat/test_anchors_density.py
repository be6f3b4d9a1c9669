"""Density in the graph of anchors, and the time that is chosen there."""

import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_blobs, make_moons
from sklearn.metrics import adjusted_rand_score

from data import cloud, fit_anchors
from kernelmeans import KernelPowerKMeans, MultiKernelPowerKMeans
from kernelmeans.heat import HeatKernel
from kernelmeans.heat.anchors import AnchorGraph, anchor_weights
from kernelmeans.heat.neighbors import NearestRows


def anchored(k, **parameters):
    parameters = {"approximation": "landmarks", "random_state": 0, **parameters}
    return KernelPowerKMeans(k, kernel="heat", **parameters)


def fitted(X, k=3, n_anchors=60, **parameters):
    return fit_anchors(HeatKernel(**parameters), X, k, n_anchors)


def uneven(n):
    """Rows of a density that falls by far from the middle."""
    X = cloud(n, 2)
    return X * np.linalg.norm(X, axis=1, keepdims=True)


class TestWeights:
    @pytest.mark.parametrize("exponent", [1.0, 3.0, 60.0])
    @pytest.mark.parametrize("m", [2, 5, 31])
    def test_it_is_the_definition(self, rng, exponent, m):
        """Edges of a row weigh (least rho of its anchors)^(p/d), between 1e-4 and 1000."""
        X, anchors, dimension = uneven(400), uneven(400)[:m] + 0.01, 1.7
        w = rng.uniform(0.5, 2, 400)
        graph = AnchorGraph(X, w, NearestRows(anchors, "euclidean"), 3)
        graph.weigh(exponent, dimension)
        between = np.linalg.norm(anchors[:, None] - anchors, axis=2)
        to_anchors = np.linalg.norm(X[:, None] - anchors, axis=2)
        own = np.array([w[to_anchors.argmin(axis=1) == j].sum() for j in range(m)])
        rho = np.empty(m)
        for j in range(m):
            # The first is the anchor itself.
            near = between[j].argsort()[:6]
            rho[j] = own[near].sum() / between[j, near[-1]] ** dimension
        rho /= np.median(rho)
        least = np.array([rho[row.argsort()[:3]].min() for row in to_anchors])
        s = np.clip(least ** (exponent / dimension), 1e-4, 1e3)
        Z = anchor_weights(X, graph.nearest, 3).toarray()
        products, node_weight = graph.products()
        assert_allclose(products.toarray(), Z.T @ (Z * (w * s)[:, None]), rtol=1e-9, atol=1e-12)
        assert_allclose(node_weight, w @ Z)
        if exponent == 60 and m == 31:
            assert s.min() == 1e-4
            assert s.max() == 1e3

    def test_the_exponent_counts_as_in_the_graph_of_rows(self):
        """Weights of rows of known density go as core^-p, whatever the dimension."""
        grid = np.stack(np.meshgrid(np.arange(12.0), np.arange(12.0)), axis=-1).reshape(-1, 2)
        anchors = np.concatenate([grid, 3 * grid + [100, 0]])
        graph = AnchorGraph(anchors, np.ones(288), NearestRows(anchors, "euclidean"), 1)
        graph.weigh(4.0, 2.0)
        inner = grid.min(axis=1) + 11 - grid.max(axis=1) >= 0
        inner &= (grid > 2).all(axis=1) & (grid < 9).all(axis=1)
        near, far = graph.edge_weight[:144][inner], graph.edge_weight[144:][inner]
        assert_allclose(near / far, 3.0**4)

    def test_without_density_all_rows_count_alike(self, rng):
        X, anchors = cloud(90), NearestRows(cloud(20, seed=1), "euclidean")
        w = rng.uniform(0.5, 2, 90)
        products, node_weight = AnchorGraph(X, w, anchors, 4).products()
        Z = anchor_weights(X, anchors, 4)
        expected = scipy.sparse.csr_array(Z.T @ Z.multiply(w[:, None]).tocsr())
        assert_array_equal(products.toarray(), expected.toarray())
        assert_array_equal(node_weight, Z.T @ w)

    def test_density_0_weighs_nothing(self, monkeypatch):
        def fail(*_):
            raise AssertionError("edges were weighed")

        monkeypatch.setattr(AnchorGraph, "weigh", fail)
        kernel = fitted(cloud(300), density=0)
        assert kernel.parameters["density"] == 0
        assert kernel.dimension is None

    def test_equal_anchors_and_anchors_without_rows(self):
        X = np.repeat(cloud(8, 2), 30, axis=0)
        anchors = np.concatenate([np.repeat(X[:1], 9, axis=0), X[::30], X[:5] + 50])
        graph = AnchorGraph(X, np.ones(240), NearestRows(anchors, "euclidean"), 3)
        graph.weigh(4.0, 2.0)
        assert ((graph.edge_weight >= 1e-4) & (graph.edge_weight <= 1e3)).all()


class TestFits:
    def test_the_exponent_is_that_of_rows(self):
        X = uneven(3000)
        kernel, rows = fitted(X), HeatKernel().fit(X, n_clusters=3)
        assert kernel.parameters["density"] == pytest.approx(kernel.dimension / 2 + 2)
        assert kernel.parameters["density"] == pytest.approx(rows.parameters["density"])
        given = fitted(X, density=1.5)
        assert given.parameters["density"] == 1.5
        assert given.dimension is None
        assert given.parameters["t"] != pytest.approx(kernel.parameters["t"], rel=0.1)

    @pytest.mark.parametrize("scale", [2.0**-40, 1000.0])
    @pytest.mark.parametrize("density", ["auto", 2.0])
    def test_the_scale_of_rows_changes_nothing(self, scale, density):
        X = uneven(500)
        kernel, scaled = fitted(X, density=density), fitted(scale * X, density=density)
        assert_allclose(scaled.parameters["t"], kernel.parameters["t"], rtol=1e-4)
        K, found = kernel.values(X, X[:9]), scaled.values(scale * X, scale * X[:9])
        assert_allclose(found, K, atol=1e-5)

    def test_the_order_of_rows_hardly_matters(self, rng):
        X, _ = make_moons(6000, noise=0.1, random_state=0)
        order = rng.permutation(6000)
        one, other = anchored(2).fit(X), anchored(2).fit(X[order])
        assert adjusted_rand_score(one.labels_[order], other.labels_) > 0.99
        exponents = [model.kernel_.parameters["density"] for model in (one, other)]
        assert exponents[0] == pytest.approx(exponents[1], rel=0.05)

    @pytest.mark.slow
    @pytest.mark.parametrize("seed", [0, 1])
    def test_moons_that_nearly_touch(self, seed):
        X, y = make_moons(20_000, noise=0.1, random_state=seed)
        assert adjusted_rand_score(y, anchored(2).fit(X).labels_) > 0.99

    @pytest.mark.parametrize("n_anchors", [1, 2, 7])
    def test_few_anchors(self, n_anchors):
        kernel = fitted(cloud(50), n_anchors=n_anchors)
        assert np.isfinite(kernel.features(cloud(50, seed=1))).all()

    def test_equal_rows_have_no_density(self):
        kernel = fitted(np.ones((40, 2)))
        assert kernel.parameters["density"] == 0
        assert kernel.dimension is None

    @pytest.mark.parametrize("metric", ["euclidean", "cosine"])
    def test_sparse_rows(self, metric):
        X = np.where(cloud(300, 6) > 0.5, cloud(300, 6), 0)
        kernel = fitted(scipy.sparse.csr_array(X), metric=metric)
        assert kernel.parameters["density"] > 2
        assert_allclose((kernel.features(X) ** 2).sum(axis=1), 1)


class TestTime:
    def blobs(self):
        centers = [[0, 0], [10, 0], [0, 10], [10, 10]]
        sizes = [9100, 300, 300, 300]
        return make_blobs(sizes, centers=centers, cluster_std=1.5, random_state=0)

    @pytest.mark.slow
    def test_it_is_chosen_for_unequal_sizes(self):
        X, y = self.blobs()
        model = anchored(4, n_components=500).fit(X)
        assert adjusted_rand_score(y, model.labels_) > 0.97
        t, cut = model.times_["t"], model.times_["cut"]
        assert_allclose(t, t[0] * np.array([1, 2, 4, 8, 16]))
        assert model.t_ > t[0]
        assert cut[t == model.t_] < 0.8 * cut[0]
        states = anchored(4, n_components=500, t="states").fit(X)
        assert states.times_ is None
        assert states.t_ == pytest.approx(t[0])
        assert adjusted_rand_score(y, states.labels_) < 0.5

    def test_views_of_different_widths_take_one_factor(self):
        X, y = self.blobs()
        X = np.column_stack([X, X + cloud(len(X), 2)])
        kernels = [({"kernel": "heat"}, [0, 1]), ({"kernel": "heat"}, [0, 1, 2, 3])]
        model = MultiKernelPowerKMeans(
            4, kernels=kernels, approximation="landmarks", n_components=500, random_state=0
        ).fit(X)
        one, other = model.kernels_
        assert_array_equal(one.times["cut"], other.times["cut"])
        factors = [each.parameters["t"] / each.times["t"][0] for each in (one, other)]
        assert factors[0] == factors[1] > 1
        assert adjusted_rand_score(y, model.labels_) > 0.97

    def test_pieces_that_are_the_clusters_need_no_choice(self):
        X = np.concatenate([cloud(60), cloud(60, seed=1) + 100])
        assert fitted(X, k=2).times is None
