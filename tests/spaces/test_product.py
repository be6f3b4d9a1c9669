"""The product of several spaces."""

import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_allclose, assert_array_equal

import data
from held import feature_space
from kernelmeans.engines import Threads
from kernelmeans.kernels import Kernel
from kernelmeans.lowrank import Explicit, sampling
from kernelmeans.solver.blockwise import distances_to
from kernelmeans.spaces import EntropyRule, FeatureSpace, GramSpace, ProductSpace, stream
from oracle import rbf
from spaces.conformance import N, SpaceConformance
from spaces.test_gram import tiny_budget

FACTORS = np.array([2.0, 0.5, 1.0])
COLUMNS = [slice(0, 2), slice(1, 4), np.array([3, 0])]
LINEAR = Kernel("linear", {})
RBF = Kernel("rbf", {"gamma": 0.3})
NARROW = Kernel("rbf", {"gamma": 1.5})


def grams(X):
    """Inner products of the rows in each member, before factors and weights."""
    X = X.astype(np.float64)
    first, second, third = (X[:, own] for own in COLUMNS)
    return np.stack([rbf(first, first, 0.3), second @ second.T, rbf(third, third, 1.5)])


class TestMixed(SpaceConformance):
    def make_space(self, X, weight, threads):
        budget = tiny_budget(weight.dtype)
        members = [
            GramSpace.hold(RBF, X[:, COLUMNS[0]], weight, threads),
            feature_space(LINEAR, X[:, COLUMNS[1]], weight),
            GramSpace.hold(NARROW, X[:, COLUMNS[2]], weight, threads, row_budget=budget),
        ]
        return ProductSpace(members, COLUMNS, EntropyRule(1.0), FACTORS)

    def gram(self, X):
        return np.einsum("l,lij->ij", FACTORS / 3, grams(X))

    def diagonal(self, X):
        return np.stack([np.diagonal(K) for K in grams(X)], axis=1).astype(X.dtype)


@pytest.mark.slow
class TestOfFeatures(SpaceConformance):
    def make_space(self, X, weight, threads):
        columns = [slice(0, 2), slice(2, 4)]
        members = [feature_space(LINEAR, X[:, own], weight) for own in columns]
        return ProductSpace(members, columns, EntropyRule(1.0))

    def gram(self, X):
        X = X.astype(np.float64)
        return X @ X.T / 2

    def diagonal(self, X):
        return np.stack([(X[:, :2] ** 2).sum(axis=1), (X[:, 2:] ** 2).sum(axis=1)], axis=1)


class TestOfSparseFeatures(SpaceConformance):
    def make_rows(self, n, seed=0):
        return scipy.sparse.random_array(
            (n, 12), density=0.4, format="csr", rng=np.random.default_rng(seed)
        )

    def make_space(self, X, weight, threads):
        columns = [slice(0, 5), slice(5, 12)]
        members = [feature_space(Kernel("cosine", {}), X[:, own], weight) for own in columns]
        return ProductSpace(members, columns, EntropyRule(1.0), np.array([1.0, 3.0]))

    def gram(self, X):
        total = 0
        for own, multiplier in ((slice(0, 5), 0.5), (slice(5, 12), 1.5)):
            Z = X.toarray()[:, own].astype(np.float64)
            norms = np.linalg.norm(Z, axis=1, keepdims=True)
            Z = Z / np.where(norms > 0, norms, 1)
            total = total + multiplier * Z @ Z.T
        return total

    def diagonal(self, X):
        dense = X.toarray()
        return np.stack(
            [(dense[:, own] != 0).any(axis=1) for own in (slice(0, 5), slice(5, 12))], axis=1
        ).astype(X.dtype)


class TestKernelWeights:
    X = data.cloud(N, 4)
    v = np.random.default_rng(2).uniform(0.5, 2, N)
    weights = np.array([[0.2, 0.5, 0.3], [0.9, 0.05, 0.05]])

    @pytest.fixture
    def space(self, threads):
        return TestMixed().make_space(self.X, self.v, threads)

    @pytest.fixture
    def coefficients(self):
        return np.random.default_rng(1).uniform(0, 1, (4, 2, N)) * self.v

    def step(self, space, coefficients, **mixing):
        total = None
        for block in (slice(0, 100), slice(100, 101), slice(101, N)):
            part = coefficients[:, :, block].copy()
            total = space.add(total, space.accumulate(part, block), block)
        return space.update(total, coefficients.sum(axis=-1), **mixing)

    def member_distances(self, coefficients):
        """Squared distances in each member, shape (L, k, R, n), from the Gram matrices."""
        A = coefficients / coefficients.sum(axis=-1, keepdims=True)
        K = FACTORS[:, None, None] * grams(self.X)
        products = np.einsum("krn,lnm->lkrm", A, K)
        norms = np.einsum("lkrm,krm->lkr", products, A)
        return np.einsum("lnn->ln", K)[:, None, None] - 2 * products + norms[..., None]

    def test_belong_to_the_restart(self, space, coefficients):
        centroids = self.step(space, coefficients)
        assert_allclose(centroids.kernel_weights, 1 / 3)
        centroids.kernel_weights = self.weights
        expected = np.einsum("rl,lkrn->krn", self.weights, self.member_distances(coefficients))
        assert_allclose(distances_to(space, centroids), expected, atol=1e-12)

        second = centroids.take(np.array([False, True]))
        assert_array_equal(second.kernel_weights, self.weights[1:])
        assert_allclose(distances_to(space, second)[:, 0], expected[:, 1], atol=1e-12)
        joined = type(centroids).join([second, centroids.take(np.array([0]))])
        assert_array_equal(joined.kernel_weights, self.weights[::-1])
        centroids.keep(np.array([False, True]))
        assert_array_equal(centroids.kernel_weights, self.weights[1:])

    @pytest.mark.parametrize("unit", [1.0, 1e-4])
    @pytest.mark.parametrize("factor", [1.0, 1.8])
    def test_costs_need_no_distances(self, space, coefficients, factor, unit):
        coefficients *= unit
        start = np.array([[0, 1], [2, 3], [4, 5], [6, 7]])
        centroids = self.step(space, coefficients, old=space.at(start), factor=np.full(2, factor))
        A_old = np.eye(N)[start]
        A_new = coefficients / coefficients.sum(axis=-1, keepdims=True)
        d = self.member_distances(A_old + factor * (A_new - A_old))
        expected = np.einsum("krn,lkrn->rl", coefficients, d)
        assert_allclose(centroids.costs * FACTORS, expected, rtol=1e-10)

    def test_costs_are_no_smaller_than_their_rounding(self, coefficients):
        """Of each restart, by its weight: rows that are all the same would cost nothing."""
        rows = np.repeat([[0.1, 70.0]], N, axis=0)
        columns = [slice(0, 1), slice(1, 2)]
        members = [feature_space(LINEAR, rows[:, own], self.v) for own in columns]
        coefficients[:, 1] /= 2
        costs = self.step(ProductSpace(members, columns, EntropyRule(1.0)), coefficients).costs
        floors = np.concatenate([member.floors for member in members])
        assert_allclose(costs, np.outer(coefficients.sum(axis=(0, 2)), floors))

    def test_follow_the_costs_where_they_may(self, space, coefficients):
        centroids = self.step(space, coefficients)
        d = self.member_distances(coefficients)
        costs = np.einsum("krn,lkrn->rl", coefficients, d)
        space.rule = EntropyRule(entropy_weight=float(costs.std()))
        adapted = space.adapt(centroids, np.array([True, False]))
        raw = np.exp(-costs[0] / space.rule.entropy_weight)
        assert_allclose(adapted.kernel_weights, [raw / raw.sum(), [1 / 3] * 3])

    def test_are_those_of_new_centroids_in_a_reweighted_space(self, space):
        own = space.reweighted(self.weights[1])
        centroids = own.at(np.array([[0], [1]]))
        assert_array_equal(centroids.kernel_weights, self.weights[1:])
        assert_allclose(space.at(np.array([[0]])).kernel_weights, 1 / 3)
        K = FACTORS[:, None, None] * grams(self.X)
        D = np.einsum("lnn->ln", K)[:, :2, None] + np.einsum("lnn->ln", K)[:, None] - 2 * K[:, :2]
        expected = np.einsum("l,lkn->kn", self.weights[1], D)
        got = distances_to(own, centroids)[:, 0]
        assert_allclose(got, np.maximum(expected, 0), atol=1e-12)


@pytest.mark.parametrize("streamed", [False, True], ids=["held", "streamed"])
def test_a_streamed_member_computes_the_features_of_its_own_subsample_at_most(
    streamed, monkeypatch
):
    """A narrow member may take all samples, a wide one 100. Held ones have their features."""
    monkeypatch.setattr(sampling, "FEWEST_ROWS", 50)
    monkeypatch.setattr(sampling, "MOST_BYTES", 100 * 3 * 8)
    X, weight = data.cloud(N, 4), np.ones(N)
    narrow = feature_space(LINEAR, X[:, :1], weight)
    wide = feature_space(LINEAR, X[:, 1:], weight)
    if streamed:
        rows, counts = sampling.chosen_rows(X[:, 1:], weight, 100)
        sample = FeatureSpace.hold(Explicit(LINEAR), rows, counts, Threads(1))
        parts = [slice(0, 150), slice(150, N)]
        wide = stream(sample, X[:, 1:], parts, weight)
    assert (narrow.subsample_size, wide.subsample_size) == (N, 100)
    product = ProductSpace([narrow, wide], [slice(0, 1), slice(1, 4)], EntropyRule(1.0))
    assert product.subsample.n_samples == (100 if streamed else N)
    assert product.subsample.sample_weight.sum() == pytest.approx(N)


class TestEntropyRule:
    costs = np.array([[3.0, 1.0, 2.0], [0.0, 0.0, 5.0]])

    @pytest.mark.parametrize("entropy_weight", [0.7, 1.0, 40.0])
    def test_minimises_cost_and_penalty(self, entropy_weight):
        rule = EntropyRule(entropy_weight)
        best = rule.update(self.costs)
        value = (best * self.costs).sum(axis=1) + rule.penalty(best)
        for seed in range(200):
            others = np.random.default_rng(seed).dirichlet(np.ones(3), size=2)
            other_value = (others * self.costs).sum(axis=1) + rule.penalty(others)
            assert (other_value >= value - 1e-12).all()

    def test_limits(self):
        assert_allclose(EntropyRule(np.inf).update(self.costs), 1 / 3)
        assert_array_equal(EntropyRule(0).update(self.costs), [[0, 1, 0], [0.5, 0.5, 0]])
        assert_allclose(EntropyRule(1e-300).update(self.costs), [[0, 1, 0], [0.5, 0.5, 0]])

    def test_uniform_weights_cost_nothing(self):
        assert_allclose(EntropyRule(2.0).penalty(np.full((1, 4), 0.25)), 0, atol=1e-15)
        assert_allclose(EntropyRule(2.0).penalty(np.eye(4)[:1]), 2 * np.log(4))

    @pytest.mark.parametrize("excess", [0.0, 2.0**-52, 2.0**-40, 2.0**-20])
    def test_the_rounding_of_weights_costs_nothing(self, excess):
        """Weights add up to 1 but for rounding, which a large lambda multiplies."""
        weights = np.array([[(1 + excess) / 2, 1 / 2]])
        given = {"rtol": 1e-6, "atol": 1e16 * excess * 2.0**-52}
        assert_allclose(EntropyRule(1e16).penalty(weights), 1e16 * excess**2 / 4, **given)


def test_the_subsample_of_a_reweighted_space_has_its_weights():
    X, weight = data.cloud(60, 4), np.ones(60)
    held = [feature_space(LINEAR, X[:, own], weight) for own in (slice(0, 2), slice(2, 4))]
    columns = [slice(0, 2), slice(2, 4)]
    members = [
        stream(space, X[:, own], [slice(0, 30), slice(30, 60)], weight)
        for space, own in zip(held, columns, strict=True)
    ]
    space = ProductSpace(members, columns, EntropyRule(1.0))
    assert_array_equal(space.subsample.kernel_weights, [0.5, 0.5])
    other = space.reweighted(np.array([0.9, 0.1]))
    assert_array_equal(other.subsample.kernel_weights, [0.9, 0.1])
    assert_array_equal(space.subsample.kernel_weights, [0.5, 0.5])
