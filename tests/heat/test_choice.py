"""The time that ``t="auto"`` chooses."""

import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import KNeighborsTransformer, kneighbors_graph

import oracle
from data import blobs, cloud
from kernelmeans import ClusterSearch, KernelPowerKMeans, MultiKernelPowerKMeans
from kernelmeans.heat import HeatKernel
from kernelmeans.heat.basis import Spectrum
from kernelmeans.heat.choice import FACTORS, Trial, choose_time_and_density, in_halves
from kernelmeans.heat.density import DENSER
from kernelmeans.heat.pieces import find_pieces

CORNERS = [[0, 0], [10, 0], [0, 10], [10, 10]]


def unequal(ratio=30, smallest=50, seed=0):
    """One large blob and three small ones."""
    sizes = [ratio * smallest, *[smallest] * 3]
    return make_blobs(sizes, centers=CORNERS, cluster_std=1.2, random_state=seed)


def fitted(X, k=4, **parameters):
    return KernelPowerKMeans(k, random_state=0, **parameters).fit(X)


def bars_passed(worth):
    """The place of the time whose score is lowest beside its bar."""
    return int(np.argmin(worth / [1, *(0.8 / (2.0 ** np.arange(1, 5)) ** 0.25)]))


def trial(first, features_at, graph, nodes=None):
    return Trial(lambda: first, lambda t: None, features_at, graph, lambda: nodes, True)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("ratio", "smallest"), [(10, 50), (30, 50), (30, 100)])
def test_clusters_of_very_different_sizes(ratio, smallest, seed):
    X, y = unequal(ratio, smallest, seed)
    assert adjusted_rand_score(y, fitted(X).labels_) >= 0.98


def test_the_fewest_edges_cut_choose():
    X, y = unequal()
    model = fitted(X)
    t, worth = model.times_["t"], model.times_["cut"] / model.times_["entropy"]
    np.testing.assert_allclose(t / t[0], [1, 2, 4, 8, 16])
    assert model.t_ == t[bars_passed(worth)] > t[0]
    # The time of before loses a small blob.
    before = fitted(X, t="states")
    assert before.t_ == t[0]
    assert before.times_ is None
    assert adjusted_rand_score(y, before.labels_) < 0.5
    # The same time, given, has the same clusters.
    assert_array_equal(fitted(X, t=model.t_).labels_, model.labels_)


@pytest.mark.slow
def test_the_cut_counts_edges_alike_and_by_weight_and_the_entropy_their_ends():
    X, _ = unequal()
    model = fitted(X)
    near = kneighbors_graph(X, model.n_neighbors_ - 1).toarray() > 0
    weighted = oracle.neighbor_graph(cdist(X, X), model.n_neighbors_)
    np.fill_diagonal(weighted, 0)
    cut, entropy = 1.0, 1.0
    for edges, exponent in ((near | near.T, 2 / 3), (weighted, 1 / 3)):
        parts = np.array([edges[model.labels_ == c].sum() for c in range(4)]) / edges.sum()
        between = edges[model.labels_[:, None] != model.labels_].sum() / edges.sum()
        cut *= between**exponent
        entropy *= (-(parts * np.log(parts)).sum()) ** exponent
    chosen = model.times_["t"] == model.t_
    assert model.times_["cut"][chosen] == pytest.approx(cut)
    assert model.times_["entropy"][chosen] == pytest.approx(entropy)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("part", [0.05, 0.2])
def test_clusters_of_very_different_sizes_in_noise(part, seed):
    X, y = unequal(seed=seed)
    low, high = X.min(axis=0), X.max(axis=0)
    noise = np.random.default_rng(seed).uniform(low, high, (round(part * len(X)), 2))
    assert adjusted_rand_score(y, fitted(np.concatenate([X, noise])).labels_[: len(X)]) >= 0.95


@pytest.mark.slow
def test_halves_take_over_a_time_that_is_far_from_its_bounds():
    """With the shortest of the times that all find a small cluster, some halves do not find it."""
    X, y = make_blobs([500, 50], centers=[[0.0, 0], [6, 0]], random_state=4)
    search = ClusterSearch(KernelPowerKMeans(random_state=0), {"n_clusters": [2, 3, 4]})
    assert adjusted_rand_score(y, search.set_params(random_state=0).fit(X).labels_) == 1


def test_the_shortest_time_stays_unless_another_is_much_better():
    X, _ = blobs(400, k=4, spread=1.5)
    model = fitted(X)
    worth = model.times_["cut"] / model.times_["entropy"]
    assert bars_passed(worth) == 0 < worth[0]
    assert model.t_ == model.times_["t"][0] == fitted(X, t="states").t_


def test_distances_choose_as_rows_do():
    X, y = unequal()
    model = fitted(KNeighborsTransformer(n_neighbors=30).fit_transform(X), metric="precomputed")
    assert adjusted_rand_score(y, model.labels_) >= 0.98
    np.testing.assert_allclose(model.times_["cut"], fitted(X).times_["cut"])


def test_a_given_graph_is_cut_by_its_weights():
    X, _ = blobs(400, k=4, spread=1.5)
    graph = kneighbors_graph(X, 15, mode="distance")
    graph.data = np.exp(-graph.data)
    graph = graph + graph.T
    model = fitted(graph, kernel="graph")
    A = graph.toarray()
    between = A[model.labels_[:, None] != model.labels_].sum()
    chosen = model.times_["t"] == model.t_
    assert model.times_["cut"][chosen] == pytest.approx(between / A.sum())


@pytest.mark.parametrize("k", [-40, 3, 60])
def test_units_do_not_matter(k):
    # Where several partitions cost the same, the order of rows decides which one is tried.
    sizes, centers = [400, 200, 100, 80], np.array(CORNERS) / 2
    X, _ = make_blobs(sizes, centers=centers, cluster_std=1.2, random_state=0)
    one, other = fitted(X), fitted(X * 2.0**k)
    assert_array_equal(one.labels_, other.labels_)
    assert_allclose(other.times_["t"], one.times_["t"], rtol=1e-9)
    assert_allclose(other.times_["cut"], one.times_["cut"], rtol=1e-12)


def test_the_order_of_rows_and_equal_rows_do_not_matter():
    X, _ = unequal()
    times = fitted(X).times_
    order = np.random.default_rng(0).permutation(len(X))
    for rows in (X[order], np.concatenate([X, X[:300]])):
        other = fitted(rows).times_
        assert_array_equal(other["t"], times["t"])
        assert_array_equal(other["cut"], times["cut"])


def test_many_rows_follow_those_that_are_clustered():
    X, y = unequal(30, 200)
    assert len(X) > 4096
    model = fitted(X)
    assert adjusted_rand_score(y, model.labels_) >= 0.98


def test_a_partition_with_an_empty_cluster_is_not_chosen():
    # Later nothing tells the nodes apart.
    chain = scipy.sparse.diags_array([np.ones(99)] * 2, offsets=[-1, 1], format="csr")
    ends = {1.0: np.eye(2)[np.arange(100) % 2]}
    features = np.tile([1.0, 0.0], (100, 1))
    choice = choose_time_and_density([trial(1.0, lambda t: ends.get(t, features), chain)], 2)
    assert choice.factor == 1
    assert_array_equal(choice.cut, 1)
    assert_array_equal(choice.entropy[1:], 0)


@pytest.mark.parametrize(("sizes", "factor"), [((389, 4, 4, 3), 1), ((130, 90, 90, 90), 4)])
def test_one_large_cluster_and_crumbs_are_no_better(sizes, factor):
    """They cut edges of half the weight at longer times, as large clusters may.

    Of 2, 4, 8 and 16 times, which have the same clusters, the middle is taken.
    """
    first, later = (np.repeat(np.arange(4), one) for one in ((100,) * 4, sizes))
    steps = np.ones(399)
    steps[np.cumsum(sizes)[:3] - 1] = 0.5
    chain = scipy.sparse.diags_array([steps, steps], offsets=[-1, 1], format="csr")
    choice = choose_time_and_density(
        [trial(1.0, lambda t: np.eye(4)[first if t == 1 else later], chain)], 4
    )
    np.testing.assert_allclose(choice.cut[1:] / choice.cut[0], 0.5)
    assert choice.factor == factor


@pytest.mark.parametrize(
    ("smallest", "weight", "factor"), [(9, 0.08, 1), (10, 0.08, 4), (9, 0.04, 4)]
)
def test_bars_are_halved_where_a_cluster_would_be_debris_as_a_piece(smallest, weight, factor):
    """Entropies fall to 0.16 and 0.17, so scores to 0.5 and 0.25 of the first; the bar is 0.67."""
    first, later = (np.repeat([0, 1], [400 - own, own]) for own in (200, smallest))
    steps = np.ones(399)
    steps[399 - smallest] = weight
    chain = scipy.sparse.diags_array([steps, steps], offsets=[-1, 1], format="csr")
    choice = choose_time_and_density(
        [trial(1.0, lambda t: np.eye(2)[first if t == 1 else later], chain)], 2
    )
    assert choice.factor == factor


@pytest.mark.parametrize(("width", "seed"), [(8, 21), (12, 1)])
def test_strange_rows_are_no_cluster_beside_groups_that_touch(width, seed):
    rng, y = np.random.default_rng(seed), np.repeat(np.arange(3), [100, 150, 200])
    X = 1.2 * rng.standard_normal((3, width))[y] + rng.standard_normal((450, width))
    model = fitted(X, 3)
    assert adjusted_rand_score(y, model.labels_) > 0.85
    assert np.bincount(model.labels_).min() > 90


@pytest.mark.parametrize(("moved", "factor"), [(1, 4), (30, 1)])
def test_halves_take_the_middle_of_the_times_whose_clusters_are_alike(moved, factor):
    first = np.repeat([0, 1], 100)
    later = np.repeat([0, 1], [100 + moved, 100 - moved])
    ring = [np.ones(1), np.ones(199), np.ones(199), np.ones(1)]
    graph = scipy.sparse.diags_array(ring, offsets=[-199, -1, 1, 199], format="csr")
    own = choose_time_and_density(
        [trial(1.0, lambda t: np.eye(2)[first if t == 1 else later], graph)], 2
    )
    assert own.factor == 1
    assert in_halves(own).factor == factor
    assert in_halves(None) is None


def test_the_first_time_is_judged_after_more_starts():
    """Two annealed starts merge two of these twelve clusters, and k-means++ finds all."""
    rng, y = np.random.default_rng(0), np.repeat(np.arange(12), 20)
    ends = 2 * rng.standard_normal((12, 6))[y] + 0.2 * rng.standard_normal((240, 6))
    ends /= np.linalg.norm(ends, axis=1, keepdims=True)
    pairs = scipy.sparse.csr_array((y[:, None] == y).astype(float))
    choice = choose_time_and_density([trial(1.0, lambda t: ends, pairs)], 12)
    assert choice.cut[0] == 0 < choice.cut[1:].min()


class TestDensity:
    @staticmethod
    def disc_in_ring(seed):
        """Rows of one density, in a disc and in a ring around it that nearly touches it."""
        rng = np.random.default_rng(seed)
        y = np.repeat([0, 1], [300, 1200])
        low, high = np.array([[0, 1], [1.44, 5.44]])[y].T
        radius, angle = np.sqrt(rng.uniform(low, high)), rng.uniform(0, 2 * np.pi, 1500)
        return radius[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1), y

    @pytest.mark.parametrize("seed", [0, 2])
    def test_a_disc_in_a_ring(self, seed):
        X, y = self.disc_in_ring(seed)
        model = fitted(X, k=2)
        plain = model.dimension_ / 2 + 2
        assert adjusted_rand_score(y, model.labels_) >= 0.99
        assert model.density_ == DENSER * plain
        assert model.t_ in model.times_["t"]
        # The first graph has no time that tells them apart.
        before = fitted(X, k=2, density=plain)
        assert adjusted_rand_score(y, before.labels_) < 0.1
        assert before.density_ == plain
        # The second graph, given, has the same clusters.
        assert_array_equal(fitted(X, k=2, density=model.density_).labels_, model.labels_)
        assert_array_equal(model.predict(X), model.labels_)

    def test_distances_choose_as_rows_do(self):
        X, y = self.disc_in_ring(0)
        near = KNeighborsTransformer(n_neighbors=30).fit_transform(X)
        model = fitted(near, k=2, metric="precomputed")
        assert model.density_ == pytest.approx(fitted(X, k=2).density_)
        assert adjusted_rand_score(y, model.labels_) >= 0.99

    def test_it_stays_unless_clusters_are_much_better(self):
        X, _ = blobs(400, k=4, spread=1.5)
        model = fitted(X)
        assert model.density_ == model.dimension_ / 2 + 2
        assert len(model.times_["t"]) == len(FACTORS)

    def test_its_exponent_is_at_most_16(self):
        for width, second in [(2, True), (3, True), (12, False)]:
            kernel = HeatKernel()
            trial = kernel.learn(cloud(300, width), None, 3)
            assert (4 * kernel.parameters["density"] <= 16) == second
            assert (trial.denser is not None) == second

    def test_a_given_time_rules_it_out(self):
        X, _ = self.disc_in_ring(0)
        model = fitted(X, k=2, t="states")
        assert model.density_ == model.dimension_ / 2 + 2


class TestSeveralKernels:
    def test_they_take_one_factor(self):
        X, y = unequal()
        kernels = [{"kernel": "heat"}, {"kernel": "heat", "n_neighbors": 20}, "linear"]
        model = MultiKernelPowerKMeans(4, kernels=kernels, random_state=0).fit(X)
        one, other, linear = model.kernels_
        for each in (one, other):
            np.testing.assert_allclose(each.times["t"] / each.times["t"][0], FACTORS)
        factors = [each.parameters["t"] / each.times["t"][0] for each in (one, other)]
        assert factors[0] == factors[1] > 1
        assert_array_equal(one.times["cut"], other.times["cut"])
        assert not hasattr(linear, "times")
        assert adjusted_rand_score(y, model.labels_) >= 0.98

    def test_a_given_time_stays(self):
        X, _ = unequal()
        kernels = [{"kernel": "heat"} | more for more in ({}, {"t": "states"}, {"t": 9})]
        model = MultiKernelPowerKMeans(4, kernels=kernels, random_state=0).fit(X)
        chosen, states, given = model.kernels_
        assert chosen.parameters["t"] == fitted(X).t_ > states.parameters["t"]
        assert states.parameters["t"] == fitted(X, t="states").t_
        assert (given.parameters["t"], given.times, states.times) == (9, None, None)

    def test_edges_of_all_graphs_count_and_rows_of_no_node_do_not(self):
        rng = np.random.default_rng(0)
        graphs, nodes = [], []
        for n_nodes in (60, 40):
            edges = np.triu(rng.random((n_nodes, n_nodes)), 1)
            graphs.append(scipy.sparse.csr_array(edges + edges.T))
            others = rng.integers(-1, n_nodes, 90 - n_nodes)
            nodes.append(np.concatenate([np.arange(n_nodes), others]))
        # Clusters by the nodes of the first graph alone.
        ends = np.eye(3)[np.arange(60) % 3]
        given = [trial(1.0, lambda t: ends, graphs[0], nodes[0])]
        given.append(trial(1.0, lambda t: np.zeros((40, 1)), graphs[1], nodes[1]))
        choice = choose_time_and_density(given, 3)
        known = np.unique(np.stack(nodes, axis=1)[(nodes[0] >= 0) & (nodes[1] >= 0)], axis=0)
        labels = known[:, 0] % 3
        parts = np.zeros((3, 3))
        for graph, own in zip(graphs, known.T, strict=True):
            A, edges = graph.toarray(), np.zeros((3, 3))
            share = 1 / np.bincount(own, minlength=len(A))[own]
            for i in range(len(own)):
                for j in range(len(own)):
                    edges[labels[i], labels[j]] += A[own[i], own[j]] * share[i] * share[j]
            parts += edges / edges.sum() / 2
        np.testing.assert_allclose(choice.cut, 1 - np.trace(parts))
        sizes = parts.sum(axis=1)
        np.testing.assert_allclose(choice.entropy, -(sizes * np.log(sizes)).sum())


class TestNoChoice:
    def test_pieces_that_are_the_clusters(self):
        X, y = blobs(200, k=4, spread=0.3)
        model = fitted(X)
        assert model.n_pieces_ == 4
        assert model.times_ is None
        assert adjusted_rand_score(y, model.labels_) >= 0.99

    @pytest.mark.parametrize("parameters", [{"t": 3.0}, {"kernel": "rbf"}])
    def test_other_times_and_kernels(self, parameters):
        assert fitted(cloud(), **parameters).times_ is None

    @pytest.mark.parametrize(("n", "tried"), [(79, False), (80, True)])
    def test_few_rows_for_each_cluster(self, n, tried):
        X, _ = blobs(n, k=4, spread=1.5)
        assert (fitted(X).times_ is not None) == tried

    def test_a_single_cluster(self):
        assert fitted(cloud(), 1).times_ is None

    def test_kernels_without_rows_in_common(self):
        graph = scipy.sparse.csr_array(np.ones((200, 200)))
        one, other = (
            trial(1.0, lambda t: np.ones((200, 1)), graph, np.arange(n)) for n in (200, 199)
        )
        assert choose_time_and_density([one, other], 2) is None
        assert choose_time_and_density([one, one], 2) is not None
        assert choose_time_and_density([one, one], 11) is None

    def test_other_words_are_refused(self):
        with pytest.raises(ValueError, match="'t' parameter"):
            fitted(cloud(), t="state")
        with pytest.raises(ValueError, match="t='state'"):
            HeatKernel(t="state")


def test_models_of_before_have_the_time_of_states():
    X, _ = unequal()
    model = fitted(X, density=0, t="states")
    model.t = "auto"
    del model.density, model.kernel_._given["density"], model.kernel_.parameters["density"]
    again = pickle.loads(pickle.dumps(model))
    assert (again.density, again.t) == (0, "states")
    assert again.times_ is None
    assert_array_equal(again.predict(X), model.labels_)
    assert_array_equal(again.fit(X).labels_, model.labels_)


def test_a_graph_without_edges_is_cut_nowhere():
    graph = scipy.sparse.eye_array(8, format="csr")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = fitted(graph, 3, kernel="graph")
    assert model.t_ >= 0


def test_it_is_one_of_those_that_were_tried():
    X, _ = unequal(10)
    near = kneighbors_graph(X, 9, include_self=True)
    graph = scipy.sparse.csr_array(near + near.T)
    spectrum = Spectrum.of(graph, find_pieces(graph, 4), 4)
    first = spectrum.time()
    choice = choose_time_and_density([trial(first, lambda t: spectrum.basis(t).features, graph)], 4)
    assert choice.cut[FACTORS.index(choice.factor)] == choice.cut.min()
