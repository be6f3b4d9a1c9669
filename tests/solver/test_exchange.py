"""Exchanges of single samples, and hard steps that move only the samples that change clusters."""

import numpy as np
import pytest

import data
import oracle
from held import feature_space
from kernelmeans.engines import Threads
from kernelmeans.kernels import Kernel
from kernelmeans.lowrank import approximate
from kernelmeans.solver import Ending, Hard, driver, solve
from kernelmeans.solver.blockwise import distances_to
from kernelmeans.solver.exchange import find_exchanges
from kernelmeans.solver.power import SQUARED_DISTANCE, hard_weights, weigh
from kernelmeans.solver.seeding import from_weights
from kernelmeans.spaces import EntropyRule, FeatureSpace, GramSpace, ProductSpace, features, step

HARD = Hard()
EXCHANGING = Hard(exchanges=True)
GAMMA = 0.2


@pytest.fixture(params=[False, True], ids=["products", "by labels"], autouse=True)
def sums(request, monkeypatch):
    """How sums of samples are made: as with few clusters, and as with many."""
    if request.param:
        monkeypatch.setattr(features, "MANY_CLUSTERS", 0)
        monkeypatch.setattr(features, "MANY_PRODUCTS", 0)


def gram_space(kind, X, weight, threads):
    rbf = Kernel("rbf", {"gamma": GAMMA})
    if kind == "cached":
        return GramSpace.hold(rbf, X, weight, threads)
    if kind == "recomputed":
        return GramSpace.hold(rbf, X, weight, threads, row_budget=40 * X.shape[0] * X.itemsize)
    members = [
        GramSpace.hold(rbf, X, weight, threads),
        GramSpace.hold(rbf, X, weight, threads, row_budget=2**28),
    ]
    return ProductSpace(members, [slice(None)] * 2, EntropyRule(1.0))


def low_rank_space(X, weight):
    """A space that keeps half of the kernel, and the matrix of what it keeps."""
    rbf = Kernel("rbf", {"gamma": 5.0})
    features = approximate(rbf, X, weight, "landmarks", 8, seed=0)
    space = FeatureSpace.hold(features, X, weight, Threads(1))
    assert space.trace.residual > 0.3 * space.trace.total
    Z = features.coordinates(features.raw(X, np.ones(len(X))))
    return space, Z @ Z.T


def means_of(space, labels, k, weight):
    """Centroids of a partition, the weight of its clusters, as one restart."""
    member = np.eye(k)[labels]
    return from_weights(space, member), (member * weight[:, None]).sum(axis=0)[:, None]


class TestExchanges:
    @pytest.mark.parametrize("kind", ["cached", "recomputed", "features", "low rank", "two"])
    @pytest.mark.parametrize("weighted", [False, True])
    def test_save_what_the_definition_says(self, kind, weighted, threads):
        X = data.cloud(40, 2)
        rng = np.random.default_rng(0)
        weight = rng.uniform(0.2, 3, 40) if weighted else np.ones(40)
        K = oracle.rbf(X, X, GAMMA)
        if kind == "features":
            space, K = feature_space(Kernel("linear", {}), X, weight), X @ X.T
        elif kind in ("low rank", "two"):
            space, K = low_rank_space(X, weight)
            if kind == "two":
                space = ProductSpace([space, space], [slice(None)] * 2, EntropyRule(1.0))
        else:
            space = gram_space(kind, X, weight, threads)
        seeds = rng.choice(40, (8, 4), replace=False)
        result = solve(space, space.at(seeds), HARD, range(4))
        n_chosen = []
        for labels in result.labels:
            centroids, cluster_weight = means_of(space, labels, 8, weight)
            before = oracle.hard_cost(K, labels, weight)
            costs = np.full((40, 8), np.inf)
            for sample in range(40):
                for cluster in range(8):
                    changed = labels.copy()
                    changed[sample] = cluster
                    costs[sample, cluster] = oracle.hard_cost(K, changed, weight)
            d = distances_to(space, centroids)
            np.testing.assert_array_equal(d.argmin(axis=0)[0], labels)
            residuals = space.residuals(slice(0, 40))
            at_once = hard_weights(d, weight, SQUARED_DISTANCE, cluster_weight, residuals).labels
            np.testing.assert_array_equal(at_once[0], costs.argmin(axis=1))
            found = find_exchanges(space, centroids, cluster_weight, np.zeros(1), np.ones(1, bool))
            chosen, touched = [], set()
            for sample in costs.min(axis=1).argsort():
                pair = {int(labels[sample]), int(costs[sample].argmin())}
                if costs[sample].min() < before * (1 - 1e-9) and not pair & touched:
                    chosen.append((sample, costs[sample].argmin()))
                    touched |= pair
            assert list(zip(found.samples, found.clusters, strict=True)) == chosen
            n_chosen.append(len(chosen))
            after = labels.copy()
            after[found.samples] = found.clusters
            # No two touch a cluster, so their gains add up.
            gains = sum(before - costs[exchange] for exchange in chosen)
            saved = before - oracle.hard_cost(K, after, weight)
            assert saved == pytest.approx(gains, abs=1e-12 * before)
        assert max(n_chosen) > 1

    def test_a_run_with_them_ends_where_no_single_sample_helps(self, threads):
        X = data.cloud(60, 3)
        space = gram_space("cached", X, np.ones(60), threads)
        seeds = np.random.default_rng(1).choice(60, (8, 6), replace=False)
        plain = solve(space, space.at(seeds), HARD, range(6))
        result = solve(space, space.at(seeds), EXCHANGING, range(6))
        assert (result.inertia <= plain.inertia * (1 + 1e-12)).all()
        assert (result.inertia < plain.inertia * (1 - 1e-6)).any()
        for restart in range(6):
            history = result.objective_history[restart]
            # Only where exchanges at once have just hindered each other.
            rises = np.flatnonzero(np.diff(history) > 1e-9 * history[0])
            assert len(rises) <= 2
            assert not len(rises) or np.ptp(rises) <= 1
            centroids, cluster_weight = means_of(space, result.labels[restart], 8, np.ones(60))
            cost = result.inertia[[restart]]
            found = find_exchanges(space, centroids, cluster_weight, cost, np.ones(1, bool))
            assert not len(found.samples)

    def test_all_samples_at_once_go_by_them_where_hard_steps_have_ended(self, threads, monkeypatch):
        X = data.cloud(300, 4)
        space = gram_space("cached", X, np.ones(300), threads)
        ended = solve(space, space.at(np.arange(12)[:, None]), HARD, [0])
        known = []
        monkeypatch.setattr(
            driver, "weigh", lambda *order: known.append(order[4] is not None) or weigh(*order)
        )
        result = solve(space, ended.centroids, EXCHANGING, [0])
        assert result.inertia[0] < ended.inertia[0] * (1 - 1e-6)
        # Cluster weights are known from the second step on, and the gain shows in the third one.
        assert known[:3] == [False, True, True]
        assert not known[-1]

    def test_samples_without_weight_and_clusters_of_one_stay(self):
        X = np.array([[0.0], [0.1], [5.0], [9.0]])
        weight = np.array([1.0, 0.0, 1.0, 1.0])
        space = feature_space(Kernel("linear", {}), X, weight)
        result = solve(space, space.at(np.array([[0], [2], [3]])), EXCHANGING, [0])
        assert oracle.same_partition(result.labels[0], [0, 0, 1, 2])
        assert result.converged.all()


@pytest.mark.parametrize("unit", [2.0**-40, 2.0**40])
def test_the_unit_of_weights_does_not_matter(unit):
    rng = np.random.default_rng(0)
    d, weight = rng.uniform(1, 1.4, (4, 1, 60)), rng.uniform(0.5, 2, 60)
    totals = rng.uniform(6, 12, (4, 1))
    # One is alone, but for rounding.
    d[1, 0, 7], weight[7] = 0.1, totals[1, 0] * (1 - 1e-12)
    plain = hard_weights(d, weight, cluster_weight=totals).labels
    assert plain[0, 7] == 1
    assert (plain != d.argmin(axis=0)).any()
    scaled = hard_weights(d, unit * weight, cluster_weight=unit * totals).labels
    np.testing.assert_array_equal(scaled, plain)


class TestFewChanges:
    @pytest.mark.parametrize("kind", ["cached", "recomputed", "product"])
    @pytest.mark.parametrize("dtype", ["float64", "float32"])
    def test_steps_that_move_few_samples_are_those_that_move_all(
        self, kind, dtype, threads, monkeypatch
    ):
        monkeypatch.setattr(step, "QUICK", 0)
        X = data.cloud(200, 2).astype(dtype)
        weight = np.random.default_rng(0).uniform(0.5, 2, 200).astype(dtype)
        space = gram_space(kind, X, weight, threads)
        seeds = np.random.default_rng(2).choice(200, (7, 3), replace=False)
        few = solve(space, space.at(seeds), HARD, range(3))
        monkeypatch.setattr(step, "MOST_CHANGED", -1.0)
        whole = solve(space, space.at(seeds), HARD, range(3))
        np.testing.assert_array_equal(few.labels, whole.labels)
        rounding = 1e-12 if dtype == "float64" else 1e-5
        for ours, theirs in zip(few.objective_history, whole.objective_history, strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=rounding)
        for ours, theirs in zip(few.centroids.vectors, whole.centroids.vectors, strict=True):
            np.testing.assert_allclose(ours, theirs, atol=10 * rounding)

    @pytest.mark.parametrize("quick", [0, step.QUICK])
    def test_they_are_taken_where_steps_of_all_samples_take_long(self, threads, monkeypatch, quick):
        monkeypatch.setattr(step, "QUICK", quick)
        X = data.cloud(200, 2)
        space = gram_space("cached", X, np.ones(200), threads)
        moved, combined = [], space.rows.combined
        space.rows.combined = lambda *order: moved.append(order) or combined(*order)
        result = solve(space, space.at(np.arange(6)[:, None]), HARD, [0])
        if quick:
            assert not moved
        else:
            assert result.n_iter[0] / 2 < len(moved) < result.n_iter[0]


def test_a_run_that_cannot_come_below_the_bar_is_given_up(threads):
    X = data.cloud(300, 2)
    space = gram_space("cached", X, np.ones(300), threads)
    start = np.arange(12)[:, None]
    whole = solve(space, space.at(start), HARD, [0])
    low = Hard(bar=0.5 * whole.inertia[0])
    high = Hard(bar=1.02 * whole.inertia[0])
    lost = solve(space, space.at(start), low, [0])
    assert lost.n_iter[0] < whole.n_iter[0]
    assert lost.endings == [Ending.GIVEN_UP]
    kept = solve(space, space.at(start), high, [0])
    np.testing.assert_array_equal(kept.labels, whole.labels)
