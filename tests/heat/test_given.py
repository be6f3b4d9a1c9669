"""Heat kernels of graphs that are given, against dense matrix exponentials and those of rows."""

import warnings

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist
from sklearn.cluster import SpectralClustering
from sklearn.datasets import make_moons
from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsTransformer, NearestNeighbors, kneighbors_graph
from sklearn.pipeline import make_pipeline
from sklearn.utils import get_tags

import oracle
from data import blobs, cloud, needs_data, standardized
from kernelmeans import KernelKMeans, KernelPowerKMeans, MultiKernelPowerKMeans
from kernelmeans.baselines import RKKM
from kernelmeans.heat import DistancesKernel, GraphKernel, HeatKernel

MOONS, SIDES = make_moons(400, noise=0.05, random_state=0)
FORMS = {
    "array": np.asarray,
    "csr_array": scipy.sparse.csr_array,
    "csr_matrix": scipy.sparse.csr_matrix,
    "coo_array": scipy.sparse.coo_array,
    "float32": lambda A: scipy.sparse.csr_array(A, dtype=np.float32),
    "integers": lambda A: np.asarray(100 * A).round().astype(int),
}


def affinities(n=60, seed=0, density=0.15):
    """A random symmetric matrix of edges of all sizes, loops among them."""
    rng = np.random.default_rng(seed)
    A = np.where(rng.random((n, n)) < density, rng.lognormal(size=(n, n)), 0)
    return A + A.T


def neighbours(X, n_neighbors):
    """The graph of ``SpectralClustering(affinity="nearest_neighbors")``."""
    B = kneighbors_graph(X, n_neighbors, include_self=True)
    return scipy.sparse.csr_array((B + B.T) / 2)


def cliques(*sizes):
    """Full graphs side by side, with loops, and the clique of each row."""
    return scipy.linalg.block_diag(*(np.ones((size, size)) for size in sizes)), np.repeat(
        np.arange(len(sizes)), sizes
    )


def expected_kernel(A, t, pairs=None):
    """The definition: cosine form of expm(-2 t (I - S)); of the leading pairs of S alone."""
    roots = np.sqrt(A.sum(axis=1))
    S = A / roots[:, None] / roots
    if pairs is not None:
        values, vectors = scipy.linalg.eigh(S)
        H = vectors[:, -pairs:] * np.exp(-2 * t * (1 - values[-pairs:])) @ vectors[:, -pairs:].T
    else:
        H = scipy.linalg.expm(-2 * t * (np.eye(len(A)) - S))
    lengths = np.sqrt(np.diag(H))
    return H / lengths[:, None] / lengths


def fitted(A, k, estimator=KernelPowerKMeans, sample_weight=None, **parameters):
    """A fit without a warning, but for clusters of rows without any."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", "Cluster . is hardly one")
        model = estimator(k, **{"kernel": "graph", "random_state": 0, **parameters})
        return model.fit(A, sample_weight=sample_weight)


class TestKernel:
    def test_it_is_the_cosine_form_of_the_matrix_exponential(self):
        A = affinities()
        kernel = GraphKernel(0.5).fit(A, n_clusters=30)  # all eigenpairs
        assert_allclose(kernel(A, A), expected_kernel(A, 0.5), atol=1e-12)

    def test_longer_times_have_the_leading_pairs(self):
        A = affinities()
        kernel = GraphKernel(3.0).fit(A, n_clusters=5)
        count = len(kernel.eigenvalues)
        assert 1 < count < 20
        assert_allclose(kernel(A, A), expected_kernel(A, 3.0, count), atol=1e-9)

    def test_loops_are_edges(self):
        A = affinities() + np.diag(np.arange(60) / 10)
        bare = A - np.diag(np.diag(A))
        for graph in (A, bare):
            kernel = GraphKernel(0.5).fit(graph, n_clusters=30)
            assert_allclose(kernel(graph, graph), expected_kernel(graph, 0.5), atol=1e-12)
        assert np.abs(expected_kernel(A, 0.5) - expected_kernel(bare, 0.5)).max() > 0.05

    def test_it_is_the_kernel_of_rows_whose_graph_is_given(self):
        X = cloud(80)
        weighted = oracle.neighbor_graph(cdist(X, X), 6)
        for A, density in ((neighbours(X, 6), 0), (weighted, "auto")):
            given = GraphKernel(1.5).fit(A, n_clusters=5)
            own = HeatKernel(6, 1.5, density=density).fit(X, n_clusters=5)
            assert_allclose(given.eigenvalues, own.eigenvalues, atol=1e-12)
            assert_allclose(given(A, A), own(X, X), atol=1e-12)

    @pytest.mark.parametrize("largest", [1e-310, 1e-3, 1.7e308])
    def test_the_unit_of_edges_does_not_matter(self, largest):
        A = affinities(density=0.5)
        plain = GraphKernel().fit(A, n_clusters=4)
        other = A / A.max() * largest
        scaled = GraphKernel().fit(other, n_clusters=4)
        assert_allclose(scaled(other, other), plain(A, A), atol=1e-6)

    def test_walks_of_new_rows_begin_along_their_edges(self):
        A = affinities()
        kernel = GraphKernel(0.5).fit(A, n_clusters=30)
        new = np.random.default_rng(1).lognormal(size=(9, 60)) * (affinities(seed=2)[:9] > 0)
        expected = oracle.kernel_of_new_rows(A, new, 0.5)
        for rows in (new, new / new.max() * 1.7e308, scipy.sparse.csr_array(new)):
            assert_allclose(kernel(rows, A), expected, atol=1e-12)

    def test_features_that_cancel_out_are_those_of_the_strongest_edge(self):
        A = np.array([[0.0, 1.0], [1.0, 0.0]])
        kernel = GraphKernel(0.1).fit(A, n_clusters=2)
        own = kernel._features
        own.features = np.array([[1.0, 0.0], [-1.0, 0.0]])[np.argsort(own.rows.places)]
        assert_array_equal(kernel.features(np.array([[1.0, 1.0]])), [[1.0, 0.0]])
        assert_array_equal(kernel.features(np.array([[0.0, 1.0]])), [[1.0, 0.0]])  # row 0 of A

    def test_no_place_is_outside_of_the_features(self):
        A = affinities()
        kernel = GraphKernel().fit(A, n_clusters=4)
        kernel._features.rows.places[:] -= 1
        with pytest.raises(ValueError, match="indices must be >= 0"):
            kernel.features(A[:9] + 1)

    def test_single_precision_stays(self):
        A = affinities()
        double, single = (GraphKernel().fit(A.astype(t), n_clusters=4) for t in ("f8", "f4"))
        found = single.features(A.astype(np.float32))
        assert found.dtype == np.float32
        assert_allclose(found @ found.T, double(A, A), atol=1e-4)

    def test_a_graph_without_edges_keeps_its_heat(self):
        with pytest.warns(UserWarning, match=r"in 4 pieces \(of 1, 1, 1, 1 rows\)"):
            kernel = GraphKernel().fit(scipy.sparse.csr_array((4, 4)), n_clusters=2)
        assert kernel.n_pieces == 4

    def test_rows_of_equal_edges_are_alike(self):
        A = np.zeros((7, 7))
        A[:3, 3:] = A[3:, :3] = 1  # no two rows of a side have an edge
        kernel = GraphKernel(0.5).fit(A, n_clusters=2)
        side = np.arange(7) < 3
        assert_allclose(kernel(A, A)[np.ix_(side, side)], 1)
        assert_allclose(kernel(A, A)[np.ix_(~side, ~side)], 1)

    def test_the_order_of_rows_does_not_matter(self):
        A = affinities()
        A[:5], A[:, :5], A[:5, :5] = A[5], A[:, 5:6], 0  # equal rows
        order = np.random.default_rng(0).permutation(len(A))
        one = GraphKernel().fit(A, n_clusters=4)
        other = GraphKernel().fit(A[np.ix_(order, order)], n_clusters=4)
        permuted = A[np.ix_(order, order)]
        assert_allclose(other(permuted, permuted), one(A, A)[np.ix_(order, order)], atol=1e-9)


class TestDistances:
    def test_they_are_the_kernel_of_rows(self):
        X, new = cloud(90), cloud(12, seed=1)
        neighbours = KNeighborsTransformer(n_neighbors=12).fit(X)
        D, D_new = neighbours.transform(X), neighbours.transform(new)
        given = DistancesKernel(7, 1.5).fit(D, n_clusters=5)
        own = HeatKernel(7, 1.5).fit(X, n_clusters=5)
        assert_allclose(given(D, D), own(X, X), atol=1e-12)
        assert_allclose(given(D_new, D), own(new, X), atol=1e-12)

    @pytest.mark.parametrize("mode", ["with themselves", "without"])
    def test_rows_themselves_need_not_be_stored(self, mode):
        X = cloud(90)
        D = kneighbors_graph(X, 11, mode="distance", include_self=mode == "with themselves")
        own = HeatKernel(7, 1.5).fit(X, n_clusters=5)
        given = DistancesKernel(7, 1.5).fit(D, n_clusters=5)
        assert_allclose(given(D, D), own(X, X), atol=1e-12)

    def test_stored_zeros_are_the_nearest(self):
        D = scipy.sparse.csr_array(
            (np.array([0.0, 3.0, 2.0, 0.0, 2.0, 0.0]), ([0, 0, 1, 1, 2, 2], [1, 2, 2, 0, 0, 1])),
            (3, 3),
        )
        kernel = DistancesKernel(2, 1.0).fit(D, n_clusters=3)
        B = np.array([[1, 1, 0], [1, 1, 0], [0, 1, 1]])
        assert_allclose(
            np.sort(kernel.eigenvalues),
            np.sort(GraphKernel(1.0).fit((B + B.T) / 2.0, n_clusters=3).eigenvalues),
        )
        # Row 1 and a new row differ by a zero that is stored.
        new = scipy.sparse.csr_array((np.array([2.0]), ([0], [2])), (1, 3))
        assert_allclose(kernel.features(new), kernel.features(D)[2:], atol=1e-12)

    def test_the_rule_for_neighbours_is_that_of_rows(self):
        X, _ = blobs(300, k=3, spread=1.0)
        D = KNeighborsTransformer(n_neighbors=30).fit_transform(X)
        given, own = DistancesKernel().fit(D, n_clusters=3), HeatKernel().fit(X, n_clusters=3)
        assert given.parameters["n_neighbors"] == own.parameters["n_neighbors"] == 8

    def test_fewer_stored_than_the_rule_takes_bring_a_warning(self):
        X, _ = blobs(300, k=3, spread=1.0)
        few = KNeighborsTransformer(n_neighbors=4).fit_transform(X)
        message = "n_neighbors='auto', which is 8 .* which is 5, .*n_neighbors=30"
        with pytest.warns(UserWarning, match=message):
            kernel = DistancesKernel().fit(few, n_clusters=3)
        assert kernel.parameters["n_neighbors"] == 5

    def test_more_neighbours_than_stored_bring_a_warning(self):
        D = KNeighborsTransformer(n_neighbors=4).fit_transform(cloud(50))
        with pytest.warns(UserWarning, match="n_neighbors=9 is more than X holds .* which is 5"):
            kernel = DistancesKernel(9).fit(D, n_clusters=2)
        assert kernel.parameters["n_neighbors"] == 5

    def test_more_neighbours_where_the_graph_is_torn(self):
        X = np.linspace(0, 1, 40)[:, None] ** 3 * 100
        X = np.vstack([X, X + 1000])
        D = KNeighborsTransformer(n_neighbors=30).fit_transform(X)
        model = fitted(D, 2, kernel="heat", metric="precomputed")
        assert model.n_pieces_ == 2
        assert adjusted_rand_score(model.labels_, X[:, 0] > 500) == 1


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("estimator", [KernelPowerKMeans, KernelKMeans, RKKM])
class TestEstimators:
    def test_labels_are_predictions(self, estimator, form):
        A, order = form(affinities(90)), np.random.default_rng(0).permutation(90)[:33]
        model = fitted(A, 4, estimator)
        rows = A.tocsr() if scipy.sparse.issparse(A) else A
        assert_array_equal(model.predict(A), model.labels_)
        assert_array_equal(model.predict(rows[order]), model.labels_[order])
        assert_array_equal([model.predict(rows[[i]])[0] for i in range(9)], model.labels_[:9])
        assert_array_equal(model.transform(A).argmin(axis=1), model.labels_)
        assert model.score(A) == -model.inertia_
        other = A.toarray() if scipy.sparse.issparse(A) else scipy.sparse.csr_array(A)
        assert_array_equal(model.predict(other), model.labels_)

    def test_shapes_are_found(self, estimator, form):
        A = form(neighbours(MOONS, 8).toarray())
        model = fitted(A, 2, estimator)
        assert adjusted_rand_score(SIDES, model.labels_) == 1
        new, sides = make_moons(100, noise=0.05, random_state=1)
        near = NearestNeighbors(n_neighbors=8).fit(MOONS).kneighbors_graph(new)
        assert adjusted_rand_score(sides, model.predict(near)) == 1


class TestGraphs:
    @pytest.mark.parametrize("density", [0, "auto"])
    def test_the_graph_that_heat_builds_has_the_clusters_of_heat(self, density):
        X, _ = blobs(300, k=5, spread=1.0)
        # Edges of a graph that is given count by their weights alone where the time is chosen.
        of_rows = KernelPowerKMeans(
            5, kernel="heat", n_neighbors=9, density=density, t="states", random_state=0
        ).fit(X)
        A = neighbours(X, 9) if density == 0 else oracle.neighbor_graph(cdist(X, X), 9, density)
        model = fitted(A, 5, t="states")
        assert adjusted_rand_score(of_rows.labels_, model.labels_) == 1
        assert model.t_ == pytest.approx(of_rows.t_, rel=1e-9)
        assert model.inertia_ == pytest.approx(of_rows.inertia_, rel=1e-6)
        new = cloud(40, seed=3)
        near = NearestNeighbors(n_neighbors=9).fit(X).kneighbors_graph(new)
        found = of_rows.predict(new), model.predict(near)
        assert adjusted_rand_score(*found) == 1

    def test_the_search_of_scikit_learn_before_it(self):
        given = make_pipeline(
            KNeighborsTransformer(n_neighbors=15),
            KernelPowerKMeans(2, kernel="heat", metric="precomputed", random_state=0),
        ).fit(MOONS)
        new, sides = make_moons(200, noise=0.05, random_state=1)
        assert adjusted_rand_score(SIDES, given[-1].labels_) == 1
        assert_array_equal(given.predict(MOONS), given[-1].labels_)
        assert adjusted_rand_score(sides, given.predict(new)) == 1

    @needs_data
    def test_digits_are_no_worse_than_by_spectral_clustering(self):
        X, y = standardized("digits")
        A = neighbours(X, 10)
        spectral = SpectralClustering(10, affinity="precomputed", random_state=0).fit(A)
        ours = adjusted_rand_score(y, fitted(A, 10).labels_)
        assert ours > adjusted_rand_score(y, spectral.labels_) - 0.02
        assert ours > 0.7

    def test_fitted_attributes(self):
        model = fitted(neighbours(MOONS, 8), 3)
        assert model.n_neighbors_ is None
        assert model.t_ > 0
        assert model.n_pieces_ == 2
        assert model.eigenvalues_[0] == pytest.approx(1)
        assert (np.diff(model.eigenvalues_) <= 0).all()
        assert isinstance(model.kernel_, GraphKernel)
        assert model.approximation_ == "explicit"
        assert "leading eigenvectors of its graph" in model.approximation_reason_
        assert fitted(neighbours(MOONS, 8), 3, t=4.0).t_ == 4.0

    def test_the_order_of_rows_does_not_matter(self):
        A = affinities(150, density=0.03)
        order = np.random.default_rng(0).permutation(150)
        one, other = fitted(A, 4), fitted(A[np.ix_(order, order)], 4)
        assert other.inertia_ == pytest.approx(one.inertia_, rel=0.02)
        assert other.t_ == pytest.approx(one.t_, rel=1e-9)
        X, y = blobs(200, k=5)
        A = neighbours(X, 8)[order][:, order]
        assert adjusted_rand_score(fitted(A, 5).labels_, y[order]) == 1

    def test_the_graph_stays_as_it_is(self):
        A = scipy.sparse.csr_array(affinities())
        backwards = np.concatenate(
            [np.arange(a, b)[::-1] for a, b in zip(A.indptr[:-1], A.indptr[1:], strict=True)]
        )
        parts = A.data[backwards], A.indices[backwards], A.indptr
        unsorted = scipy.sparse.csr_array(tuple(map(np.copy, parts)), A.shape)
        model = fitted(unsorted, 3)
        assert_array_equal(model.predict(unsorted), model.labels_)
        assert_array_equal(unsorted.data, parts[0])
        assert_array_equal(unsorted.indices, parts[1])
        assert_array_equal(model.predict(A), model.labels_)
        assert_array_equal(fitted(A, 3).labels_, model.labels_)

    def test_weights_count_in_the_clusters(self):
        A, clique = cliques(20, 20, 20)
        A[:20, 20:40] = A[20:40, :20] = 0.02
        A[20:40, 40:] = A[40:, 20:40] = 0.04
        # The two that hang together most are one, unless both of them weigh much.
        assert len({*fitted(A, 2).labels_[20:]}) == 1
        weighted = fitted(A, 2, sample_weight=np.array([0.01, 1.0, 1.0])[clique])
        assert len({*weighted.labels_[20:]}) == 2

    @pytest.mark.parametrize("distances", [False, True])
    def test_rows_without_weight_are_as_if_they_were_new(self, distances):
        X, _ = blobs(150, k=4, spread=1.0)
        weight = (np.arange(150) % 4 > 0).astype(float)
        kept = weight > 0
        if distances:
            A = KNeighborsTransformer(n_neighbors=20).fit_transform(X)
            parameters = {"kernel": "heat", "metric": "precomputed", "n_neighbors": 6}
        else:
            A, parameters = neighbours(X, 8), {}
        model = fitted(A, 4, sample_weight=weight, **parameters)
        without = fitted(A[kept][:, kept], 4, **parameters)
        assert_array_equal(without.predict(A[:, kept]), model.labels_)
        assert_array_equal(model.predict(A), model.labels_)
        assert model.inertia_ == pytest.approx(without.inertia_, rel=1e-9)

    @pytest.mark.parametrize("distances", [False, True])
    def test_rows_without_weight_and_without_edges_do_not_matter(self, distances):
        A = scipy.sparse.csr_array(cliques(10, 10, 5)[0])
        parameters = {"kernel": "heat", "metric": "precomputed"} if distances else {}
        with_edges = np.arange(25) < 20
        weight = with_edges.astype(float)
        model = fitted(A, 2, sample_weight=weight, **parameters)
        without = fitted(A[:20, :20], 2, **parameters)
        assert_array_equal(model.labels_[:20], without.labels_)
        assert model.inertia_ == pytest.approx(without.inertia_, abs=1e-9)
        assert set(model.labels_[20:]) <= {0, 1}
        # What was fitted can be predicted and scored, as by scikit-learn's KMeans.
        assert_array_equal(model.predict(A), model.labels_)
        assert model.score(A, sample_weight=weight) == -model.inertia_
        assert np.isfinite(model.transform(A)).all()
        with pytest.raises(ValueError, match=r"rows 20, 21, 22, 23, 24 \(5 of 25\)"):
            without.predict(A[:, :20])

    def test_given_starts(self):
        A = neighbours(MOONS, 8)
        for init in (A[[0, 1]].toarray(), np.array([0, 1]), np.eye(2)[SIDES] + 0.1):
            assert adjusted_rand_score(SIDES, fitted(A, 2, init=init).labels_) == 1

    def test_cross_validation_takes_sub_graphs(self):
        X, _ = blobs(120, k=3)
        A = neighbours(X, 12)
        model = KernelPowerKMeans(3, kernel="graph", random_state=0)
        assert get_tags(model).input_tags.pairwise
        folds = [(np.flatnonzero(np.arange(120) % 3 != i), np.arange(i, 120, 3)) for i in range(3)]
        expected = [fitted(A[train][:, train], 3).score(A[test][:, train]) for train, test in folds]
        for graph in (A, A.toarray()):
            assert_allclose(cross_val_score(model, graph, cv=folds), expected, rtol=1e-9)
        assert not get_tags(KernelPowerKMeans(kernel="heat")).input_tags.pairwise
        assert get_tags(KernelPowerKMeans(kernel="heat", metric="precomputed")).input_tags.pairwise

    def test_graphs_on_disk(self, tmp_path):
        A = np.lib.format.open_memmap(tmp_path / "A.npy", "w+", np.float64, (60, 60))
        A[:] = affinities()
        model = fitted(A, 3)
        assert_array_equal(model.labels_, fitted(affinities(), 3).labels_)
        assert_array_equal(model.predict(A), model.labels_)


class TestAnndata:
    """What the guide says to users of scanpy, with the graph where scanpy puts it."""

    @pytest.fixture
    def adata(self):
        anndata = pytest.importorskip("anndata", reason="anndata is in the test group")
        X, y = blobs(150, p=5, k=3)
        adata = anndata.AnnData(X.astype(np.float32))
        adata.obs["kind"] = y.astype(str)
        adata.obsm["X_pca"] = X
        graph = neighbours(X, 10)
        adata.obsp["connectivities"] = scipy.sparse.csr_matrix(graph, dtype=np.float32)
        adata.obsp["distances"] = kneighbors_graph(X, 10, mode="distance")
        return adata

    def test_as_many_clusters_as_asked_for(self, adata, tmp_path):
        pandas = pytest.importorskip("pandas", reason="anndata needs it")
        labels = fitted(adata.obsp["connectivities"], 3).labels_
        adata.obs["clusters"] = pandas.Categorical(labels.astype(str))
        assert adjusted_rand_score(adata.obs["kind"], adata.obs["clusters"]) == 1
        adata.write_h5ad(tmp_path / "cells.h5ad")
        again = pytest.importorskip("anndata").read_h5ad(tmp_path / "cells.h5ad")
        assert_array_equal(fitted(again.obsp["connectivities"], 3).labels_, labels)
        assert_array_equal(again.obs["clusters"].astype(int), labels)

    def test_distances(self, adata):
        D = adata.obsp["distances"]
        model = fitted(D, 3, kernel="heat", metric="precomputed")
        assert adjusted_rand_score(adata.obs["kind"], model.labels_) == 1

    def test_a_part_of_the_cells_and_then_the_others(self, adata):
        some = np.arange(150) % 3 > 0
        part, new = adata[some], adata[~some]
        model = fitted(part.obsp["connectivities"], 3)
        assert_array_equal(model.predict(part.obsp["connectivities"]), model.labels_)
        search = NearestNeighbors(n_neighbors=10).fit(part.obsm["X_pca"])
        found = model.predict(search.kneighbors_graph(new.obsm["X_pca"]))
        kinds = np.r_[part.obs["kind"], new.obs["kind"]]
        assert adjusted_rand_score(kinds, np.r_[model.labels_, found]) == 1


class TestPieces:
    @pytest.mark.parametrize("loops", [True, False])
    def test_as_many_cliques_as_clusters(self, loops):
        A, clique = cliques(9, 6)
        model = fitted(A - (not loops) * np.eye(15), 2)
        assert model.n_pieces_ == 2
        assert adjusted_rand_score(model.labels_, clique) == 1

    def test_six_points_with_three_neighbours(self):
        X = np.array([[0.0], [0.1], [0.2], [5.0], [5.1], [5.2]])
        model = fitted(neighbours(X, 3), 2)
        assert adjusted_rand_score(model.labels_, [0, 0, 0, 1, 1, 1]) == 1

    def test_fewer_pieces_than_clusters(self):
        A, clique = cliques(20, 20, 20)
        A[:20, 20:40] = A[20:40, :20] = 0.02
        model = fitted(A, 3)
        assert model.n_pieces_ == 2
        assert adjusted_rand_score(model.labels_, clique) == 1

    def test_more_pieces_than_clusters_are_joined_where_it_costs_least(self):
        A, clique = cliques(60, 50, 20, 10)
        with pytest.warns(UserWarning, match=r"in 4 pieces \(of 60, 50, 20, 10 rows\)") as caught:
            model = KernelPowerKMeans(2, kernel="graph", random_state=0).fit(A)
        assert "The 2 largest hold 110 of the 140 rows." in str(caught[0].message)
        assert "the 30 other rows" in str(caught[0].message)
        assert caught[0].filename == __file__
        assert adjusted_rand_score(model.labels_, clique > 0) == 1
        # Of 50 and 30 rows that have nothing in common.
        assert model.inertia_ == pytest.approx(2 * 50 * 30 / 80)
        assert_array_equal(model.predict(A), model.labels_)

    def test_debris_does_not_count_as_a_cluster(self):
        A, clique = cliques(200, 200, 3, 2)
        A[:200, 200:400] = A[200:400, :200] = 1e-3
        with pytest.warns(
            UserWarning, match=r"The largest holds 400 of the 405 rows\..* the 5 other rows"
        ):
            model = KernelPowerKMeans(2, kernel="graph", random_state=0).fit(A)
        assert adjusted_rand_score(model.labels_[:400], clique[:400]) == 1
        assert len({*model.labels_[400:]}) == 1

    def test_rows_without_edges_are_one_group(self):
        A, clique = cliques(30, 30)
        A = np.pad(A, (0, 3))
        with pytest.warns(UserWarning, match="in 5 pieces .* the 3 other rows"):
            model = KernelPowerKMeans(2, kernel="graph", random_state=0).fit(A)
        assert adjusted_rand_score(model.labels_[:60], clique) == 1
        assert_array_equal(model.predict(A), model.labels_)
        assert_array_equal(model.predict(np.zeros((1, 63))), model.labels_[-1:])
        with pytest.warns(UserWarning, match="the 3 other rows"):
            apart = KernelPowerKMeans(3, kernel="graph", random_state=0).fit(A)
        assert adjusted_rand_score(apart.labels_, np.r_[clique, 2, 2, 2]) == 1

    def test_a_row_without_edges_is_named_as_one(self):
        A = np.pad(affinities(), (0, 1))
        for k in (2, 5):
            with pytest.warns(UserWarning, match="the other row belongs") as caught:
                KernelPowerKMeans(k, kernel="graph", random_state=0).fit(A)
            # It is alone at any number of clusters.
            assert "raise n_clusters" not in str(caught[0].message)
            assert "Add edges or leave this row out." in str(caught[0].message)
        with pytest.warns(UserWarning, match="the 2 other rows belong.* leave these rows out"):
            KernelPowerKMeans(2, kernel="graph", random_state=0).fit(np.pad(A, (0, 1)))

    def test_more_clusters_are_a_remedy_where_they_keep_pieces(self):
        A, _ = cliques(30, 30, 30)
        with pytest.warns(UserWarning, match="or raise n_clusters"):
            KernelPowerKMeans(2, kernel="graph", random_state=0).fit(A)
        fitted(A, 3)

    def test_where_nearly_all_is_debris_the_share_is_told(self):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            KernelPowerKMeans(3, kernel="graph", random_state=0).fit(np.eye(10))
        pieces, few = (str(warning.message) for warning in caught)
        assert "The largest holds 1 of the 10 rows." in pieces
        assert "Possibly due to rows that are alike in X." in few

    @pytest.mark.parametrize("distances", [False, True])
    def test_one_cluster_has_all_pieces_without_a_word(self, distances):
        A = scipy.sparse.csr_array(cliques(9, 9, 9)[0])
        parameters = {"kernel": "heat", "metric": "precomputed"} if distances else {}
        model = fitted(A, 1, **parameters)
        assert model.n_pieces_ == 3
        assert_array_equal(model.labels_, 0)

    def test_one_cluster_and_one_row(self):
        A, _ = cliques(5, 5)
        assert_array_equal(fitted(A, 1).labels_, 0)
        assert_array_equal(fitted(np.ones((1, 1)), 1).labels_, 0)


class TestRefusals:
    @pytest.mark.parametrize(
        ("change", "message"),
        [
            (lambda A: A[:-1], r"kernel='graph': X must be square, .* got shape \(59, 60\)"),
            (lambda A: np.triu(A), r"differ by up to [0-9.]+.*Pass \(X \+ X.T\) / 2"),
            (lambda A: A - 0.5, "kernel='graph': Negative values in data, down to -0.5"),
            (lambda A: 0 * A, "kernel='graph': X has no edge"),
            (lambda A: np.where(A > 2, np.nan, A), "contains NaN"),
            (lambda A: np.where(A > 2, np.inf, A), "infinity"),
        ],
    )
    @pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_array])
    def test_matrices_that_are_no_graph(self, form, change, message, monkeypatch):
        monkeypatch.setattr(GraphKernel, "fit", None)  # no heavy work before
        with pytest.raises(ValueError, match=message):
            KernelPowerKMeans(2, kernel="graph").fit(form(change(affinities())))

    def test_rounding_is_no_asymmetry(self):
        A = affinities()
        A[3] *= 1 + 1e-12
        fitted(A, 3)

    def test_distances_of_neighbours_are_no_edges(self):
        D = KNeighborsTransformer(n_neighbors=5).fit_transform(cloud())
        with pytest.raises(ValueError, match="set kernel='heat' and metric='precomputed'"):
            KernelPowerKMeans(2, kernel="graph").fit(D)

    @pytest.mark.parametrize(
        ("D", "message"),
        [
            (np.ones((9, 9)), "must be a sparse matrix .*KNeighborsTransformer.* n_neighbors=8"),
            (scipy.sparse.csr_array(np.ones((9, 8))), r"must be square, the distances"),
            (scipy.sparse.csr_array(-np.ones((9, 9))), "metric='precomputed': Negative values"),
            (scipy.sparse.csr_array((9, 9)), "X holds no distance"),
        ],
    )
    def test_matrices_that_are_no_distances(self, D, message):
        with pytest.raises(ValueError, match=message):
            KernelPowerKMeans(2, kernel="heat", metric="precomputed").fit(D)

    def test_half_of_the_distances(self):
        """The last rows hold none, and were one and the same."""
        X, y = blobs()
        near = kneighbors_graph(X, 15, mode="distance")
        D = scipy.sparse.csr_array(scipy.sparse.triu(near.maximum(near.T)))
        empty = np.flatnonzero(np.diff(D.indptr) == 0)
        assert len(set(y[empty])) > 1
        model = KernelPowerKMeans(3, metric="precomputed", random_state=0)
        with pytest.warns(UserWarning, match=f"{len(empty)} of 90 rows hold the same distances"):
            assert len(set(model.fit(D).labels_[empty])) == 1
        D.setdiag(0)
        # SciPy 1.15.0 takes the order of entries for what it was before they were added.
        D = scipy.sparse.csr_array((D.data, D.indices, D.indptr), D.shape)
        assert adjusted_rand_score(y, model.fit(D).labels_) == 1
        near.setdiag(0)
        model.fit(near)
        copies = KNeighborsTransformer(n_neighbors=10).fit_transform(np.vstack([X, X[:9]]))
        model.fit(copies)

    @pytest.mark.parametrize("kernel", ["graph", "rbf", "precomputed", np.dot])
    def test_distances_go_with_heat_alone(self, kernel):
        with pytest.raises(ValueError, match="goes with kernel='heat'"):
            KernelPowerKMeans(2, kernel=kernel, metric="precomputed").fit(np.eye(9) + 1)

    def test_new_rows(self):
        A = affinities()
        model = fitted(A, 3)
        new = A.copy()
        new[[4, 17]] = 0
        for method in (model.predict, model.transform, model.score):
            with pytest.raises(ValueError, match=r"X: each row .* rows 4, 17 \(2 of 60\)\."):
                method(scipy.sparse.csr_array(new))
        with pytest.raises(ValueError, match="Negative values in data, down to -1"):
            model.predict(-np.ones((2, 60)))
        with pytest.raises(ValueError, match=r"7 features, but .* expecting 60 features"):
            model.predict(A[:, :7])

    @pytest.mark.filterwarnings("ignore:X is square and symmetric")
    @pytest.mark.filterwarnings("ignore:Cluster . is hardly one")
    @pytest.mark.parametrize(("first", "later"), [("heat", "graph"), ("graph", "heat")])
    def test_new_rows_are_checked_for_the_kernel_of_the_fit(self, first, later):
        A = affinities()
        model = KernelPowerKMeans(3, kernel=first, random_state=0).fit(A).set_params(kernel=later)
        assert_array_equal(model.predict(A), model.labels_)
        if first == "graph":
            with pytest.raises(ValueError, match=r"Without one: row 0 \(1 of 1\)\."):
                model.predict(np.zeros((1, 60)))
        else:
            model.predict(-A[:5])

    @pytest.mark.parametrize("approximation", ["landmarks", "rff", "rpcholesky"])
    def test_approximations(self, approximation):
        message = f"'{approximation}' does not go with a graph .* use None or"
        with pytest.raises(ValueError, match=message):
            KernelPowerKMeans(2, kernel="graph", approximation=approximation).fit(affinities())

    def test_what_does_not_fit(self, monkeypatch):
        monkeypatch.setattr(GraphKernel, "fit", None)
        A = affinities(400, density=0.9)
        model = KernelPowerKMeans(2, kernel="graph", memory_budget="2MB")
        with pytest.raises(MemoryError, match=r"n_samples=400, .*the graph of kernel='graph'.* MB"):
            model.fit(A)
        monkeypatch.undo()
        fitted(affinities(400, density=0.01), 2, memory_budget="2MB")

    @pytest.mark.parametrize("item", ["graph", {"kernel": "heat", "metric": "precomputed"}])
    def test_they_are_no_kernels_of_columns(self, item):
        with pytest.raises(ValueError, match=r"kernels\[0\]: \w+='\w+' is for X as a whole"):
            MultiKernelPowerKMeans(2, kernels=[item]).fit(affinities())


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"kernel": "graph"}, "with kernel='graph' new rows are given by their edges"),
        ({"metric": "precomputed"}, "with metric='precomputed' .* by their distances"),
        ({"kernel": "precomputed"}, "with kernel='precomputed' .* by their kernel values"),
    ],
)
def test_a_matrix_among_new_rows_is_refused_in_words(given, says):
    A = affinities(10, density=1) + 99 * np.eye(10)
    if "precomputed" not in given.get("kernel", ""):
        A = scipy.sparse.csr_array(A)
    model = KernelPowerKMeans(2, n_swaps=0, random_state=0, **given).fit(A)
    says = f"^X has 7 features, but .* is expecting 10 features as input: {says} to the 10 rows of"
    with pytest.raises(ValueError, match=says):
        model.predict(A[:7, :7])


def test_a_graph_that_is_taken_for_rows_causes_a_warning():
    """One edge that differs, or none beside loops, is enough for rows of features."""
    graph = scipy.sparse.csr_array(affinities())
    distances = kneighbors_graph(np.arange(60.0)[:, None] ** 2, 5, mode="distance")
    model = KernelPowerKMeans(2, kernel="rbf", random_state=0)
    for edges in (graph, distances):
        with pytest.warns(UserWarning, match="X is sparse and square.*kernel='graph'"):
            model.fit(edges)
    distances.setdiag(1.0)
    model.fit(distances)
    one = scipy.sparse.csr_array(([1e-9], ([0], [1])), shape=graph.shape)
    for rows in (graph + one, -graph, graph[:, 1:], scipy.sparse.eye_array(60, format="csr")):
        model.fit(rows)
