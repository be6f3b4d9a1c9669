"""The weights of edges by the density of rows, against loops from their definition."""

import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist
from sklearn.datasets import make_moons
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import KNeighborsTransformer, kneighbors_graph
from sklearn.preprocessing import normalize

import oracle
from data import blobs, cloud
from kernelmeans import KernelKMeans, KernelPowerKMeans, MultiKernelPowerKMeans
from kernelmeans.baselines import RKKM
from kernelmeans.heat import DistancesKernel, HeatKernel
from kernelmeans.heat import density as density_module
from kernelmeans.heat.density import FLAT, Density, core_distances, surrounding_neighbor
from kernelmeans.heat.neighbors import NearestRows, both_ways, nearest_distances, nearest_stored

POWERS = [0.5, 1, 4.2, 16, 100, "auto"]


def graph_of_rows(X, n_neighbors, density, metric="euclidean"):
    """The graph in use, and the density."""
    nearest, n = NearestRows(X, metric), X.shape[0]
    ranks = (min(rank, n - 1) for rank in (10, surrounding_neighbor(n)))
    found = Density.of(density, *nearest.distances(*ranks))
    return nearest.graph(n_neighbors, found).toarray(), found


def graph_of_distances(D, n_neighbors, density):
    """The same of stored distances, and the density."""
    distances = nearest_distances(D, min(10, D.shape[0] - 1))
    surroundings = core_distances(distances, surrounding_neighbor(D.shape[0]))
    found = Density.of(density, distances, surroundings)
    return both_ways(nearest_stored(D, n_neighbors - 1), found).toarray(), found


def fitted(X, k=3, **parameters):
    return KernelPowerKMeans(k, random_state=0, **parameters).fit(X)


def stretched(n=120, p=3, seed=0):
    """Rows whose density has a wide range, so that both bounds of weights count."""
    return np.sinh(2 * cloud(n, p, seed))


class TestWeights:
    @pytest.mark.parametrize("density", POWERS)
    @pytest.mark.parametrize("metric", ["euclidean", "cosine"])
    @pytest.mark.parametrize("make", [cloud, stretched])
    def test_rows(self, make, metric, density):
        X = make(120)
        rows = normalize(X) if metric == "cosine" else X
        D = cdist(rows, rows)
        expected = oracle.neighbor_graph(D, 7, density)
        found, _ = graph_of_rows(X, 7, density, metric)
        assert_allclose(found, expected, rtol=1e-9)
        assert expected[expected > 0].min() < 0.9

    def test_both_bounds_count(self):
        # A tight pair, and one row far from all.
        X = np.concatenate([cloud(60, 2), 1e-4 * cloud(7, 2, 1), [[900.0, 0]]])
        found, _ = graph_of_rows(X, 6, 4.0)
        assert found.max() == 1e3
        assert found[-1, -1] == 1e-4
        assert_allclose(found, oracle.neighbor_graph(cdist(X, X), 6, 4.0), rtol=1e-9)

    @pytest.mark.parametrize("density", POWERS)
    @pytest.mark.parametrize("n", [2, 3, 4, 5, 6, 7, 11, 12])
    def test_few_rows(self, n, density):
        X = cloud(n, seed=n)
        expected = oracle.neighbor_graph(cdist(X, X), min(n, 4), density)
        assert_allclose(graph_of_rows(X, min(n, 4), density)[0], expected, rtol=1e-9)

    @pytest.mark.parametrize("density", [2.5, "auto"])
    def test_single_precision(self, density):
        X = stretched().astype(np.float32)
        expected = oracle.neighbor_graph(cdist(X, X), 7, density)
        assert_allclose(graph_of_rows(X, 7, density)[0], expected, rtol=1e-4)

    @pytest.mark.parametrize("density", [2.5, "auto"])
    def test_sparse_rows(self, density):
        X = scipy.sparse.random_array((90, 30), density=0.3, rng=np.random.default_rng(0)).tocsr()
        expected = oracle.neighbor_graph(cdist(X.toarray(), X.toarray()), 7, density)
        for unit in (1, 2.0**-30):
            assert_allclose(graph_of_rows(X * unit, 7, density)[0], expected, rtol=1e-9)

    def test_repeated_rows_are_one(self):
        X = stretched(60)
        copies = np.repeat(X, 1 + np.arange(60) % 12, axis=0)
        one, many = (HeatKernel().fit(rows, n_clusters=4) for rows in (X, copies))
        assert many.parameters == one.parameters
        assert many.dimension == one.dimension > 0
        assert_array_equal(many.features(X), one.features(X))

    @pytest.mark.parametrize("density", [*POWERS, 0])
    @pytest.mark.parametrize("stored", [1, 2, 4, 5, 9, 14])
    def test_distances(self, stored, density):
        X = stretched(50)
        D = kneighbors_graph(X, stored, mode="distance")
        full = np.where(D.toarray() > 0, D.toarray(), np.inf)
        n_neighbors = min(stored + 1, 7)
        expected = oracle.neighbor_graph(full, n_neighbors, density)
        assert_allclose(graph_of_distances(D, n_neighbors, density)[0], expected, rtol=1e-9)

    @pytest.mark.parametrize("density", POWERS)
    def test_rows_of_different_numbers_of_distances_zeros_among_them(self, density):
        rng = np.random.default_rng(0)
        full = rng.lognormal(size=(40, 40))
        full[rng.random(full.shape) < 0.05] = 0
        full[rng.random(full.shape) > rng.uniform(0.03, 0.5, (40, 1))] = np.inf
        full[3] = np.inf  # none at all
        np.fill_diagonal(full, np.inf)
        rows, columns = np.nonzero(full < np.inf)
        D = scipy.sparse.csr_array((full[rows, columns], (rows, columns)), full.shape)
        assert (D.data == 0).any()
        assert np.diff(D.indptr).min() == 0
        found, used = graph_of_distances(D, 5, density)
        assert used.exponent > 0
        assert_allclose(found, oracle.neighbor_graph(full, 5, density), rtol=1e-9)
        assert found[3, 3] == 1e-4

    @pytest.mark.parametrize("density", POWERS)
    def test_most_distances_are_zero(self, density):
        # The fifth neighbour of two rows out of three is at 0.
        full = np.where(np.arange(30)[:, None] % 3 < 2, 0.0, 1.0 + np.arange(30))
        rows, columns = np.nonzero(~np.eye(30, dtype=bool))
        D = scipy.sparse.csr_array((full[rows, columns], (rows, columns)), full.shape)
        found, used = graph_of_distances(D, 4, density)
        assert used.exponent == 0
        assert set(found.ravel()) <= {0, 0.5, 1}


class TestWithout:
    @pytest.mark.parametrize("metric", ["euclidean", "cosine"])
    @pytest.mark.parametrize("p", [2, 30])
    def test_it_is_the_graph_of_spectral_clustering(self, metric, p):
        X = cloud(120, p)
        B = kneighbors_graph(X, 7, metric=metric, include_self=True)
        found, density = graph_of_rows(X, 7, 0, metric)
        assert density == FLAT
        assert_array_equal(found, (B + B.T).toarray() / 2)
        assert_array_equal(NearestRows(X, metric).graph(7).toarray(), found)

    def test_it_is_the_fit_of_that_graph(self):
        X, _ = blobs(150, k=4, spread=1.5)
        B = kneighbors_graph(X, 8, include_self=True)
        given = fitted((B + B.T) / 2, 4, kernel="graph")
        model = fitted(X, 4, n_neighbors=8, density=0)
        assert model.density_ == 0
        assert model.dimension_ is None
        assert model.t_ == pytest.approx(given.t_, rel=1e-9)
        assert adjusted_rand_score(given.labels_, model.labels_) == 1
        assert abs(fitted(X, 4, n_neighbors=8).t_ / model.t_ - 1) > 0.01

    def test_other_kernels_have_none(self):
        graph = kneighbors_graph(cloud(), 8)
        for X, kernel in ((cloud(), "rbf"), (graph + graph.T, "graph")):
            model = fitted(X, kernel=kernel)
            assert model.density_ is model.dimension_ is None


class TestSurroundings:
    def test_their_size(self):
        sizes = [surrounding_neighbor(n) for n in (1, 599, 600, 1299, 8099, 1_000_000)]
        assert sizes == [5, 5, 6, 12, 80, 80]

    def test_edges_are_those_of_the_definition(self):
        X = stretched(800)
        D = cdist(X, X)
        expected = oracle.neighbor_graph(D, 7)
        found, _ = graph_of_rows(X, 7, "auto")
        assert_allclose(found, expected, rtol=1e-9)
        near = np.sort(D, axis=1)[:, 1:12]
        alone = NearestRows(X, "euclidean").graph(7, Density.of("auto", near)).toarray()
        assert (found > 0.9 * alone)[alone > 0].mean() < 0.9

    @pytest.mark.parametrize("stored", [6, 8, 12])
    def test_the_last_of_fewer_distances_counts(self, stored):
        X = stretched(800)
        D = kneighbors_graph(X, stored, mode="distance")
        full = np.where(D.toarray() > 0, D.toarray(), np.inf)
        expected = oracle.neighbor_graph(full, 7)
        assert_allclose(graph_of_distances(D, 7, "auto")[0], expected, rtol=1e-9)

    @pytest.mark.parametrize("seed", [1, 2])
    def test_nearly_equal_rows_are_no_clusters(self, seed, monkeypatch):
        rng = np.random.default_rng(seed)
        centers = rng.standard_normal((3, 20))
        centers *= 4 / np.linalg.norm(centers, axis=1)[:, None]
        y = np.arange(3000) % 3
        X = centers[y] + rng.standard_normal((3000, 20))
        for clump in range(8):
            rows = np.flatnonzero(y == clump % 3)[20 * clump : 20 * clump + 20]
            X[rows] = X[rows[0]] + 0.3 * rng.standard_normal((20, 20))
        assert adjusted_rand_score(fitted(X).labels_, y) > 0.95
        monkeypatch.setattr(density_module, "MOST_SURROUNDING", 5)
        assert np.bincount(fitted(X).labels_).min() < 30

    def test_stored_distances_give_what_rows_give(self):
        X = stretched(1500)
        D = KNeighborsTransformer(n_neighbors=20).fit_transform(X)
        rows = HeatKernel(n_neighbors=7).fit(X, n_clusters=3)
        stored = DistancesKernel(n_neighbors=7).fit(D, n_clusters=3)
        alone = NearestRows(X, "euclidean").near(10)[1]
        assert_allclose(stored.eigenvalues, rows.eigenvalues, rtol=1e-9)
        assert surrounding_neighbor(1500) == 15
        assert Density.of("auto", alone).exponent == pytest.approx(rows.parameters["density"])

    def test_one_search_finds_all(self):
        nearest = NearestRows(cloud(300, 4), "euclidean")
        surroundings = nearest.surroundings(40, 9)
        found = nearest._found
        assert nearest.n_sought == 9
        assert nearest.surroundings(40, 9) is surroundings
        assert nearest.near(9)[0].base is found.columns
        order = np.sort(cdist(nearest.rows, nearest.rows), axis=1)
        assert_allclose(surroundings / nearest.near(1)[1][:, 0], order[:, 40] / order[:, 1])
        assert_allclose(nearest.surroundings(4, 9), nearest.near(4)[1][:, 3])
        # More neighbours are found together with the same surroundings, and fewer need no search.
        nearest.near(12)
        wider = nearest._found
        assert_allclose(nearest.surroundings(40, 9), surroundings)
        assert_array_equal(nearest.near(9)[0], found.columns)
        assert nearest._found is wider


class TestDimension:
    @pytest.mark.parametrize("d", [1, 2, 3, 5])
    def test_it_is_that_of_rows_among_more_columns(self, d):
        X = np.random.default_rng(d).random((2000, d)) @ np.random.default_rng(0).random((d, 20))
        model = fitted(X)
        # The edge of the rows makes it smaller.
        assert d * 0.85 < model.dimension_ < d * 1.05
        assert model.density_ == model.dimension_ / 2 + 2

    def test_it_is_the_one_of_the_definition(self):
        for X in (cloud(90, 4), stretched(), cloud(7)):
            model = fitted(X, 2)
            assert model.dimension_ == pytest.approx(oracle.intrinsic_dimension(cdist(X, X)))
            assert model.density_ == model.dimension_ / 2 + 2

    @pytest.mark.slow
    @pytest.mark.parametrize("metric", ["euclidean", "cosine"])
    @pytest.mark.parametrize("factor", [1e-3, 1e3, 1e150])
    def test_units_do_not_matter(self, metric, factor):
        X = cloud(200)
        known = fitted(X, metric=metric).dimension_
        assert fitted(X * factor, metric=metric).dimension_ == pytest.approx(known, rel=1e-9)

    def test_neither_does_the_origin_nor_the_order(self):
        X = cloud(200)
        known = fitted(X).dimension_
        assert fitted(X + 100).dimension_ == pytest.approx(known, rel=1e-6)
        assert fitted(X[::-1]).dimension_ == known

    def test_the_exponent_has_a_largest_value(self):
        model = fitted(cloud(60, 400))
        assert model.dimension_ > 28
        assert model.density_ == 16
        assert fitted(cloud(60, 400), density=20).density_ == 20

    def test_a_number_asks_for_none(self):
        model = fitted(cloud(200), density=2.5)
        assert model.density_ == 2.5
        assert model.dimension_ is None

    @pytest.mark.parametrize("density", [0, 3, "auto"])
    @pytest.mark.parametrize("values", [1, 2, 3])
    def test_few_distinct_rows_have_few_neighbours(self, values, density):
        X = np.repeat(np.arange(values) ** 2.0, 10)[:, None]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # fewer distinct rows than clusters
            model = fitted(X, 2, density=density)
        assert len(set(model.labels_)) == min(values, 2)
        assert_array_equal(model.predict(X), model.labels_)
        if density == "auto" and values < 3:
            assert model.density_ == 0
            assert model.dimension_ is None

    def test_rows_whose_neighbours_are_equally_far_do_not_count(self):
        full = np.random.default_rng(0).lognormal(size=(40, 40))
        full[:15] = 3.0
        full[15:20, 1:] = np.inf  # a single neighbour
        full[20:30, 30:35] = 0.0
        rows, columns = np.nonzero((full < np.inf) & ~np.eye(40, dtype=bool))
        D = scipy.sparse.csr_array((full[rows, columns], (rows, columns)), full.shape)
        _, found = graph_of_distances(D, 5, "auto")
        assert found.dimension == pytest.approx(oracle.intrinsic_dimension(full), rel=1e-12)

    def test_equal_distances_have_none(self):
        D = scipy.sparse.csr_array(3.0 - 3 * np.eye(12))
        model = fitted(D, 2, metric="precomputed")
        assert model.dimension_ is None
        assert model.density_ == 0


class TestFits:
    @pytest.mark.slow
    @pytest.mark.parametrize("k", [-40, -3, 5, 60])
    @pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_array])
    def test_powers_of_two_change_no_label(self, form, k):
        X = form(stretched(150))
        one, other = fitted(X, 4), fitted(X * 2.0**k, 4)
        assert_array_equal(other.labels_, one.labels_)
        # Sums in another order of the rows.
        assert other.density_ == pytest.approx(one.density_, rel=1e-12)
        assert other.t_ == pytest.approx(one.t_, rel=1e-9)

    def test_labels_follow_their_rows(self):
        X = stretched(200)
        order = np.random.default_rng(0).permutation(200)
        one, other = fitted(X, 4), fitted(X[order], 4)
        assert adjusted_rand_score(one.labels_[order], other.labels_) > 0.99
        assert (other.density_, other.t_) == (one.density_, one.t_)

    @pytest.mark.slow
    @pytest.mark.parametrize("density", ["auto", 0, 2.5])
    @pytest.mark.parametrize("estimator", [KernelPowerKMeans, KernelKMeans, RKKM])
    def test_distances_of_scikit_learn_give_what_rows_give(self, estimator, density):
        X, _ = blobs(200, k=5, spread=1.5)
        D = KNeighborsTransformer(n_neighbors=30).fit_transform(X)
        given = {"kernel": "heat", "density": density, "random_state": 0}
        rows = estimator(5, **given).fit(X)
        distances = estimator(5, metric="precomputed", **given).fit(D)
        assert distances.density_ == pytest.approx(rows.density_, rel=1e-9)
        assert (rows.dimension_ is None) == (density != "auto")
        if density == "auto":
            assert distances.density_ == distances.dimension_ / 2 + 2
        assert distances.t_ == pytest.approx(rows.t_, rel=1e-9)
        assert adjusted_rand_score(rows.labels_, distances.labels_) == 1

    def test_rows_without_weight_do_not_count(self):
        X = stretched(150)
        weight = (np.arange(150) % 3 > 0).astype(float)
        model = KernelPowerKMeans(4, random_state=0).fit(X, sample_weight=weight)
        without = fitted(X[weight > 0], 4)
        assert (model.density_, model.t_) == (without.density_, without.t_)

    def test_several_kernels_have_exponents_of_their_own(self):
        X = np.hstack([cloud(150, 2), cloud(150, 4, 1)])
        kernels = [
            ({"kernel": "heat"}, [0, 1]),
            ({"kernel": "heat", "density": 1.5}, slice(2, 6)),
            ({"kernel": "heat", "density": 0}, [0, 1]),
        ]
        model = MultiKernelPowerKMeans(3, kernels=kernels, random_state=0).fit(X)
        found = [kernel.parameters["density"] for kernel in model.kernels_]
        assert found == [fitted(X[:, :2]).density_, 1.5, 0]
        alone = fitted(X[:, 2:], density=1.5)
        assert_array_equal(model.kernels_[1].eigenvalues, alone.eigenvalues_)

    def test_it_is_kept_in_pickles(self):
        model = fitted(stretched(), density=1.5)
        again = pickle.loads(pickle.dumps(model))
        assert (again.density, again.density_) == (1.5, 1.5)
        assert_array_equal(again.predict(stretched()), model.labels_)

    def test_models_of_before_have_none(self):
        model = fitted(stretched(), density=0)
        new = stretched(seed=1)
        before = model.predict(new)
        del model.density, model.kernel_.parameters["density"], model.kernel_._given["density"]
        again = pickle.loads(pickle.dumps(model))
        assert again.density == 0
        assert not again.density_
        assert again.dimension_ is None
        assert_array_equal(again.predict(new), before)
        assert_array_equal(again.fit(stretched()).labels_, model.labels_)


class TestRefusals:
    @pytest.mark.parametrize("density", [-1, -1e-9, 100.5, np.nan, np.inf, "atuo", None, [1.0]])
    @pytest.mark.parametrize("estimator", [KernelPowerKMeans, KernelKMeans, RKKM])
    def test_values(self, estimator, density):
        with pytest.raises(ValueError, match="'density' parameter"):
            estimator(2, kernel="heat", density=density).fit(cloud())

    def test_values_of_several_kernels(self):
        kernels = ["rbf", {"kernel": "heat", "density": -1}]
        with pytest.raises(ValueError, match=r"'density' parameter of kernels\[1\]"):
            MultiKernelPowerKMeans(2, kernels=kernels).fit(cloud())

    def test_the_family_takes_none(self):
        kernels = [{"kernel": "neighbors", "density": 1.0}]
        with pytest.raises(ValueError, match="the family 'neighbors' takes only metric"):
            MultiKernelPowerKMeans(2, kernels=kernels).fit(cloud())

    def test_other_kernels_do_not_use_it(self):
        with pytest.warns(UserWarning, match="density"):
            fitted(cloud(), kernel="rbf", density=2.0)


class TestGains:
    def test_noisy_moons(self):
        X, y = make_moons(2000, noise=0.1, random_state=1)
        assert adjusted_rand_score(y, fitted(X, 2).labels_) >= 0.97
        assert adjusted_rand_score(y, fitted(X, 2, density=0).labels_) < 0.9

    def test_moons_among_rows_without_clusters(self):
        X, y = make_moons(1600, noise=0.06, random_state=0)
        low, high = X.min(axis=0) - 0.5, X.max(axis=0) + 0.5
        noise = np.random.default_rng(0).uniform(low, high, (400, 2))
        labels = fitted(np.concatenate([X, noise]), 2).labels_[:1600]
        assert adjusted_rand_score(y, labels) >= 0.95
