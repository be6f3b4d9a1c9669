"""How strange rows are, against a search over all lengths of edges."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import cdist
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import LocalOutlierFactor

import oracle
from data import blobs, cloud
from kernelmeans.heat.distinct import DistinctRows
from kernelmeans.heat.outliers import Outliers, largest_usual, threshold_of, valley


def scored(X, labels):
    """The scorer of rows and their labels, whatever the order of the distinct rows."""
    rows = DistinctRows.of(X, None, "euclidean")
    of_node = np.empty(len(rows.known), int)
    of_node[rows.places(X)] = labels
    return Outliers.of(rows, of_node, labels.max() + 1)


def reach_by_search(X, labels):
    """For each row the shortest length such that edges up to it connect it with its cluster."""
    D, n = cdist(X, X), len(X)
    np.fill_diagonal(D, np.inf)
    near = np.argsort(D, axis=1)[:, :10]
    core = np.sort(D, axis=1)[:, 4]
    lengths = np.full((n, n), np.inf)
    for i in range(n):
        for j in near[i]:
            if labels[i] == labels[j]:
                lengths[i, j] = lengths[j, i] = max(D[i, j], core[i], core[j])
    found = np.full(n, np.nan)
    steps = [0, *np.unique(lengths[np.isfinite(lengths)])]
    pieces = [connected_components(lengths <= step)[1] for step in steps]
    whole = np.bincount(pieces[-1])[pieces[-1]]
    for step, piece in zip(steps, pieces, strict=True):
        sizes = np.bincount(piece)[piece]
        for i in np.flatnonzero(np.isnan(found)):
            own = labels == labels[i]
            if sizes[i] >= min(0.1 * own.sum(), whole[own].max()):
                found[i] = max(step, core[i])
    longest = max(
        np.maximum(D[i, near[i]], np.maximum(core[i], core[near[i]])).max() for i in range(n)
    )
    return np.where(np.isnan(found), longest, found)


class TestReach:
    @pytest.mark.slow
    @pytest.mark.parametrize("seed", range(4))
    @pytest.mark.parametrize("make", ["blobs", "stretched", "pieces", "small"])
    def test_search(self, make, seed):
        X, labels = blobs(120, 2, 3, seed)
        if make == "stretched":
            X = np.sinh(X)
        if make == "pieces":
            # Three rows far from all others: the end of a cluster, but not a tenth of it.
            X[np.flatnonzero(labels == 0)[:3]] += 50
        if make == "small":
            # Of a cluster of eight rows a single one is more than a tenth.
            kept = np.r_[np.flatnonzero(labels == 0)[:8], np.flatnonzero(labels)]
            X, labels = X[kept], labels[kept]
        found = scored(X, labels)
        places = DistinctRows(found.nearest, found.known).places(X)
        # Distances are known up to a factor.
        expected = np.log(reach_by_search(X, labels))
        differences = found.reach[places] - expected
        assert_allclose(differences, differences[0], atol=1e-9)

    @pytest.mark.parametrize("stretch", [1, 5])
    def test_score(self, stretch):
        X, labels = blobs(120, 2, 3)
        middle = X[labels == 1].mean(axis=0)
        X[labels == 1] = middle + stretch * (X[labels == 1] - middle)
        found = scored(X, labels)
        d = oracle.intrinsic_dimension(cdist(X, X))
        reach = np.log(reach_by_search(X, labels))
        own = np.array([np.quantile(reach[labels == label], 0.25) for label in labels])
        # Half of the way to the usual cluster, within one upper quartile of usual sparsities.
        bound = max(1, np.quantile(d * (reach - own), 0.75))
        half = d * (own - np.median(own)) / 2
        sparsity = d * (reach - own) + np.maximum(np.minimum(half, bound), -bound)
        assert (stretch == 5) == (abs(half) > bound).any()
        assert_allclose(found.dimension, d)
        assert_allclose(found.scores(X, labels) * found.usual[labels], sparsity, atol=1e-9)

    def test_a_group_of_its_own_is_strange(self):
        X, labels = blobs(400, 2, 2, spread=0.2)
        few = np.flatnonzero(labels == 0)[:8]
        X[few] = np.array([30.0, 30.0]) + 0.01 * cloud(8, 2)
        strange = scored(X, labels).scores(X, labels) > 1
        assert strange[few].all()
        assert strange.mean() < 0.04
        # Its neighbours are as near as in the clusters, so that a local factor does not see it.
        assert (LocalOutlierFactor(5).fit(X).negative_outlier_factor_[few] > -1.5).all()


class TestClustersOfOtherDensity:
    def test_noise_that_is_a_cluster_is_strange(self):
        X, labels = blobs(400, 2, 3, spread=0.1)
        noise = np.random.default_rng(0).uniform(X.min(axis=0) - 1, X.max(axis=0) + 1, (60, 2))
        X, labels = np.vstack([X, noise]), np.append(labels, np.full(60, 3))
        # By their own cluster alone it is 0.41.
        assert roc_auc_score(labels == 3, scored(X, labels).scores(X, labels)) > 0.7

    @pytest.mark.parametrize("p", [2, 20, 50])
    @pytest.mark.parametrize("widest", [2, 8])
    def test_a_sparse_cluster_is_no_noise(self, p, widest):
        X, labels = blobs(900, p, 4, spread=1.0)
        X += 200 * np.eye(4, p)[labels] if p > 2 else 200 * np.c_[labels, labels % 2]
        middles = np.array([X[labels == one].mean(axis=0) for one in range(4)])
        wide = np.linspace(1, widest, 4)[labels, None]
        X = middles[labels] + wide * (X - middles[labels])
        strange = scored(X, labels).scores(X, labels) > 1
        assert max(strange[labels == one].mean() for one in range(4)) < 0.02

    @pytest.mark.parametrize("seed", range(3))
    def test_neither_is_a_small_sparse_ring_around_a_dense_disc(self, seed):
        rng = np.random.default_rng(seed)
        radius = np.r_[0.6 * np.sqrt(rng.uniform(size=2000)), rng.normal(2, 0.08, 200)]
        angle, labels = rng.uniform(0, 2 * np.pi, 2200), np.repeat([0, 1], [2000, 200])
        X = radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
        assert (scored(X, labels).scores(X, labels) > 1)[labels == 1].mean() < 0.1


class TestNewRows:
    def test_equal_rows_and_others(self):
        X, labels = blobs(200, 2, 2)
        found = scored(X, labels)
        of_fit = found.scores(X, labels)
        assert_array_equal(found.scores(X[::-1], labels[::-1])[::-1], of_fit)
        # A row beside one of the fit is as strange as it, and one far away is stranger than all.
        assert_allclose(found.scores(X + 1e-9, labels), of_fit, atol=0.2)
        assert (found.scores(X[:5] + 100, labels[:5]) > of_fit.max()).all()

    def test_a_row_whose_neighbours_are_in_another_cluster(self):
        X, labels = blobs(200, 2, 2, spread=0.1)
        assert np.isfinite(scored(X, labels).scores(X[:9] + 1e-6, 1 - labels[:9])).all()

    @pytest.mark.parametrize("n_answers", [0, 1])
    def test_new_numbers(self, n_answers):
        X, labels = blobs(150, 2, 3)
        X = np.c_[X, np.arange(150)[:, None] % (2 * np.ones(n_answers))]
        numbers = np.array([2, 0, 1])
        found = scored(X, labels)
        assert (found.comparison is None) == (n_answers == 0)
        assert_array_equal(
            found.renumbered(numbers).scores(X + 1e-3, numbers[labels]),
            found.scores(X + 1e-3, labels),
        )


@pytest.mark.parametrize("factor", [1e-9, 3.0, 1e9])
def test_units_do_not_count(factor):
    X, labels = blobs(150, 2, 3)
    one, other = scored(X, labels), scored(factor * X, labels)
    assert_allclose(one.scores(X, labels), other.scores(factor * X, labels), atol=1e-6)


class TestValley:
    rng = np.random.default_rng(0)
    usual = rng.exponential(1.0, 4000)

    def test_a_tail_has_none(self):
        assert valley(self.usual) is None
        assert valley(np.zeros(100)) is None

    @pytest.mark.parametrize("count", [40, 400, 2000])
    def test_noise_is_beyond(self, count):
        noise = self.rng.normal(9, 0.4, count)
        assert 4 < valley(np.append(self.usual, noise)) < 8.5

    def test_more_than_half_is_no_noise(self):
        assert valley(np.append(self.usual, self.rng.normal(9, 0.4, 5000))) is None

    @pytest.mark.parametrize(("p", "most"), [(1, 0.03), (2, 0.012), (5, 0.005), (20, 0.002)])
    def test_a_gaussian_cluster_loses_few(self, p, most):
        """Sparsities by the true density: half the squared distance to the middle."""
        squares = np.square(self.rng.standard_normal((20_000, p))).sum(axis=1) / 2
        sparsity = squares - np.quantile(squares, 0.25)
        assert (sparsity > largest_usual(sparsity, p)).mean() < most


@pytest.mark.parametrize(("p", "step"), [(4, 1.0), (5, 1.0), (8, 0.5)])
def test_few_values_are_no_valley(p, step):
    """Between whole numbers there are few distances, and gaps between these."""
    X = step * np.round(np.random.default_rng(0).standard_normal((3000, p)) / step)
    X = np.vstack([X, np.full((5, p), 40.0) + step * np.eye(5, p)])
    strange = scored(X, np.zeros(len(X), int)).scores(X, np.zeros(len(X), int)) > 1
    assert strange[-5:].all()
    assert strange[:-5].mean() < 0.02


def answers(seed=0, n=900):
    """Columns of few values that say nothing."""
    rng = np.random.default_rng(seed)
    return {
        "category": np.eye(6)[rng.choice(6, n, p=[0.4, 0.3, 0.15, 0.1, 0.04, 0.01])],
        "flag": 2 * rng.choice(2, (n, 1), p=[0.98, 0.02]),
        "grade": rng.choice(5, (n, 1), p=[0.4, 0.3, 0.25, 0.04, 0.01]),
        "count": rng.poisson(1.2, (n, 1)),
    }


class TestColumnsOfFewValues:
    X, labels = blobs(900, 2, 3, spread=0.3)

    @pytest.mark.parametrize("kind", ["category", "flag", "grade"])
    def test_answers_do_not_count(self, kind):
        rows = np.hstack([self.X, answers()[kind]])
        found, expected = scored(rows, self.labels), scored(self.X, self.labels)
        scores = found.scores(rows, self.labels)
        # Neighbours in other clusters do not count either.
        assert_allclose(scores, expected.scores(self.X, self.labels), atol=0.05)
        new = np.hstack([self.X + 1e-6, answers(seed=1)[kind]])
        assert_allclose(
            found.scores(new, self.labels), expected.scores(new[:, :2], self.labels), atol=0.05
        )

    @pytest.mark.parametrize("kind", answers())
    def test_a_rare_value_is_usual(self, kind):
        rows = np.hstack([self.X, answers()[kind]])
        assert (scored(rows, self.labels).scores(rows, self.labels) > 1).mean() < 0.01

    def test_clusters_that_differ_in_answers_alone(self):
        """Rows that are far from their own cluster are strange, though they are amid the other."""
        numbers, labels = np.arange(600.0), np.repeat([0, 1], 300)
        numbers[-20:] = np.linspace(100, 110, 20)
        rows = np.c_[numbers, labels]
        strange = scored(rows, labels).scores(rows, labels) > 1
        assert_array_equal(np.flatnonzero(strange), np.arange(580, 600))

    @pytest.mark.parametrize("small", [[1], [2, 1], [4, 7], [12, 1, 1]])
    def test_small_clusters(self, small):
        """Each in two places, so that its rows are not all connected."""
        sizes = [900 - sum(small), *small]
        labels = np.repeat(np.arange(len(sizes)), sizes)
        rows = np.hstack([cloud(900, 2) + 30 * labels[:, None], answers()["flag"]])
        rows[-3:, 1] += 500
        found = scored(rows, labels).scores(rows, labels)
        assert np.isfinite(found).all()
        assert (found[: sizes[0]] > 1).mean() < 0.01

    @pytest.mark.parametrize("more", [np.empty((900, 0)), np.repeat(np.arange(150.0), 6)[:, None]])
    def test_nothing_else_or_many_equal_rows(self, more):
        rows = np.hstack([more, answers()["grade"], answers()["category"]])
        labels = np.zeros(900, int)
        found = scored(rows, labels)
        assert found.comparison is None
        assert np.isfinite(found.scores(rows, labels)).all()


class TestThreshold:
    scores = np.array([0.5, 3.0, 2.0, 1.0])

    @pytest.mark.parametrize(("part", "left"), [(0.2, 0), (0.25, 1), (0.5, 2)])
    def test_a_fraction_is_a_bound(self, part, left):
        assert (self.scores > threshold_of(self.scores, np.ones(4), part)).sum() == left

    def test_weights_count(self):
        weight = np.array([4.0, 1.0, 3.0, 0.0])
        found = [
            (self.scores > threshold_of(self.scores, weight, part)).tolist()
            for part in (0.1, 0.125, 0.5)
        ]
        none, one, three = [False] * 4, [False, True, False, False], [False, True, True, True]
        assert found == [none, one, three]

    def test_auto(self):
        assert threshold_of(self.scores, np.ones(4), "auto") == 1


def test_noise_is_found_better_than_by_a_local_factor():
    X, labels = blobs(600, 2, 3, spread=0.3)
    noise = np.random.default_rng(1).uniform(X.min(axis=0) - 2, X.max(axis=0) + 2, (120, 2))
    every = np.vstack([X, noise])
    means = np.array([X[labels == one].mean(axis=0) for one in range(3)])
    nearest = cdist(every, means).argmin(axis=1)
    true = np.repeat([0, 1], [600, 120])
    ours = roc_auc_score(true, scored(every, nearest).scores(every, nearest))
    factor = -LocalOutlierFactor(20).fit(every).negative_outlier_factor_
    assert ours > max(0.97, roc_auc_score(true, factor))
