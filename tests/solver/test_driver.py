"""The loop over steps, against the naive oracle and against itself."""

import warnings

import numpy as np
import pytest
from sklearn.cluster import KMeans

import data
import oracle
from held import feature_space
from kernelmeans.engines import Threads
from kernelmeans.kernels import Kernel
from kernelmeans.solver import Alternating, Annealed, Constant, Ending, Hard, driver, solve
from kernelmeans.solver.blockwise import assign
from kernelmeans.spaces import EntropyRule, GramSpace, ProductSpace
from kernelmeans.spaces.features import MANY_CLUSTERS, MANY_PRODUCTS

GAMMA = 0.2
HARD = Hard()


def make_space(X, weight, threads, kind="gram"):
    if kind == "features":
        return feature_space(Kernel("linear", {}), X, weight)
    kernel = Kernel("rbf", {"gamma": GAMMA})
    if kind == "recomputed":
        return GramSpace.hold(kernel, X, weight, threads, row_budget=160 * len(X) * 8)
    return GramSpace.hold(kernel, X, weight, threads)


def dense(X, kind):
    return X @ X.T if kind == "features" else oracle.rbf(X, X, GAMMA)


SPACES = ["gram", "features", "recomputed"]


@pytest.mark.parametrize("kind", SPACES)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    "schedule",
    [
        Constant(s0=-2.5, critical_power=-2, tol=0, max_iter=9),
        Annealed(s0=-3, critical_power=-2, eta=1.3, max_iter=9),
        Annealed(s0=-3, critical_power=-2, eta=1.5, anneal_every=4, max_iter=9),
        Hard(max_iter=3),
    ],
    ids=["constant", "annealed", "every4", "hard"],
)
def test_steps_are_those_of_the_equations(kind, weighted, schedule, threads):
    X = data.cloud(300, 3)
    v = np.random.default_rng(3).uniform(0.2, 3, 300) if weighted else np.ones(300)
    seeds = np.array([3, 50, 120, 299])
    space = make_space(X, v, threads, kind)
    result = solve(space, space.at(seeds[:, None]), schedule, [0])
    steps = np.arange(schedule.max_iter)
    annealed = isinstance(schedule, Annealed)
    powers = schedule.power_at(steps) if annealed else np.full(len(steps), schedule.s0)
    np.testing.assert_array_equal(result.power_history[0], powers)
    K = dense(X, kind)
    A, history = oracle.run(K, oracle.at_samples(seeds, 300), powers, v)
    np.testing.assert_allclose(result.objective_history[0], history, rtol=1e-9)
    d = oracle.distances(K, A)
    np.testing.assert_array_equal(result.labels[0], d.argmin(axis=1))
    assert result.inertia[0] == pytest.approx(v @ d.min(axis=1), rel=1e-9)
    assert result.endings == [Ending.OUT_OF_STEPS]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_hard_steps_of_many_clusters_are_those_of_k_means(dtype, threads):
    k = 2 * MANY_CLUSTERS
    X = data.cloud(3000, MANY_PRODUCTS // k).astype(dtype)
    v = np.random.default_rng(3).uniform(0.2, 3, 3000).astype(dtype)
    starts = np.arange(2 * k).reshape(k, 2)
    space = make_space(X, v, threads, "features")
    result = solve(space, space.at(starts), HARD, [0, 0])
    for labels, own, inertia in zip(result.labels, starts.T, result.inertia, strict=True):
        k_means = KMeans(k, init=X[own], n_init=1, tol=0, max_iter=1000).fit(X, sample_weight=v)
        np.testing.assert_array_equal(labels, k_means.labels_)
        assert inertia == pytest.approx(k_means.inertia_, rel=1e-5)


@pytest.mark.parametrize("kind", SPACES)
def test_a_hard_run_ends_where_no_label_changes(kind, threads):
    X = data.cloud(300, 3)
    space = make_space(X, np.ones(300), threads, kind)
    result = solve(space, space.at(np.array([[3], [50], [120]])), HARD, [0])
    assert result.endings == [Ending.CONVERGED]
    assert result.inertia[0] == pytest.approx(
        oracle.hard_cost(dense(X, kind), result.labels[0]), rel=1e-9
    )
    again = solve(space, result.centroids, HARD, [0])
    np.testing.assert_array_equal(again.labels, result.labels)


COLLAPSING = Annealed(s0=-1, critical_power=-2, eta=1.06)
ANNEALED = Annealed(s0=-3, critical_power=-2, eta=1.06, relaxation=1.8)
TABLE = np.array([[3, 5, 5, 9], [50, 60, 61, 10], [120, 4, 4, 11], [299, 1, 2, 12]])


@pytest.mark.parametrize(
    "schedule", [ANNEALED, COLLAPSING, HARD], ids=["annealed", "collapsing", "hard"]
)
@pytest.mark.parametrize("kind", SPACES)
def test_a_batch_is_its_restarts_one_by_one(kind, schedule, threads):
    X = data.cloud(300, 2)
    space = make_space(X, np.ones(300), threads, kind)
    together = solve(space, space.at(TABLE), schedule, range(4))
    for r in range(TABLE.shape[1]):
        alone = solve(space, space.at(TABLE[:, [r]]), schedule, [r])
        np.testing.assert_array_equal(together.labels[r], alone.labels[0])
        assert together.inertia[r] == pytest.approx(alone.inertia[0], rel=1e-10)
        assert together.n_iter[r] == alone.n_iter[0]
        np.testing.assert_allclose(
            together.objective_history[r], alone.objective_history[0], rtol=1e-9
        )
    best = together.best
    assert together.inertia[best] == together.inertia.min()
    labels = assign(space, together.centroids).labels[0]
    np.testing.assert_array_equal(labels, together.labels[best])


def test_finished_restarts_cost_nothing_more(threads):
    space = make_space(data.cloud(300, 2), np.ones(300), threads)
    widths = []
    accumulate = space.accumulate

    def spy(coefficients, block, labels):
        if block.start == 0:
            widths.append(coefficients.shape[1])
        return accumulate(coefficients, block, labels)

    space.accumulate = spy
    result = solve(space, space.at(TABLE), HARD, range(4))
    assert len(set(result.n_iter.tolist())) > 1
    # Each restart takes part in its own steps and in no more (the rest are single samples).
    steps = widths[: result.n_iter.max()]
    assert steps == [int((result.n_iter > step).sum()) for step in range(result.n_iter.max())]


def test_the_listener_hears_every_step_and_ends_the_run(threads):
    space = make_space(data.cloud(300, 2), np.ones(300), threads)
    heard = []

    def listen(progress):
        heard.append(progress)
        return len(heard) == 7

    schedule = Annealed(s0=-3, critical_power=-2, eta=1.2)
    result = solve(space, space.at(TABLE), schedule, range(4), listen)
    assert [p.step for p in heard] == list(range(7))
    assert {p.n_restarts for p in heard} == {4}
    np.testing.assert_array_equal([p.power for p in heard], result.power_history[0])
    lowest = np.min(result.objective_history, axis=0)
    np.testing.assert_array_equal([p.objective for p in heard], lowest)
    assert (result.n_iter == 7).all()


def test_restarts_finished_rise_to_their_number(threads):
    space = make_space(data.cloud(300, 2), np.ones(300), threads)
    heard = []
    solve(space, space.at(TABLE), HARD, range(4), lambda progress: heard.append(progress))
    finished = [progress.restarts_finished for progress in heard]
    assert finished == sorted(finished)
    assert finished[-1] == 4 > finished[0]


@pytest.mark.parametrize("method", [HARD, Hard(max_iter=1)], ids=["to the end", "at once"])
@pytest.mark.parametrize("kind", SPACES)
def test_an_emptied_cluster_gets_the_costliest_sample(kind, method, threads):
    # The second centroid sits on top of the first, and ties go to the first.
    X = np.concatenate([np.zeros((20, 1)), np.full((20, 1), 1.0), [[9.0]]])
    space = make_space(X + 1e-3 * data.cloud(41, 1), np.ones(41), threads, kind)
    start = space.at(np.array([[3, 0, 3], [25, 20, 3], [40, 40, 25]]))
    result = solve(space, start, method, range(3))
    # Restarts without an empty cluster do not matter.
    for labels in result.labels:
        assert len(np.unique(labels)) == 3
        assert (labels == labels[40]).sum() == 1


@pytest.mark.parametrize("kind", SPACES)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_coincident_centroids_part_in_soft_steps(kind, dtype, threads):
    X = data.blobs(300, 2, 3, spread=0.1)[0].astype(dtype)
    space = make_space(X, np.ones(300, dtype), threads, kind)
    # No hard step, which would fill clusters without samples.
    schedule = Annealed(s0=-4, critical_power=-2, eta=1.03, softness=0, max_iter=60)
    result = solve(space, space.at(np.array([[7], [7], [7]])), schedule, [0])
    assert np.isfinite(result.power_history[0]).all()
    assert len(np.unique(result.labels[0])) == 3


@pytest.mark.parametrize("schedule", [ANNEALED, HARD], ids=["annealed", "hard"])
def test_fewer_distinct_samples_than_clusters_leave_clusters_empty(schedule, threads):
    X = np.repeat([[0.0], [1.0]], 20, axis=0)
    space = make_space(X, np.ones(40), threads)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = solve(space, space.at(np.array([[0], [1], [20]])), schedule, [0])
    assert result.converged.all()
    assert oracle.same_partition(result.labels[0], X[:, 0])
    assert result.inertia[0] == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("kind", SPACES)
def test_the_number_of_threads_changes_no_bit(kind):
    results = []
    for workers in (1, 2, 5):
        with Threads(workers) as threads:
            space = make_space(data.cloud(900, 3), np.ones(900), threads, kind)
            results.append(solve(space, space.at(TABLE), ANNEALED, range(4)))
    for other in results[1:]:
        np.testing.assert_array_equal(other.labels, results[0].labels)
        np.testing.assert_array_equal(other.inertia, results[0].inertia)
        for a, b in zip(other.objective_history, results[0].objective_history, strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize(
    "method",
    [
        Constant(s0=-2.5, critical_power=-2, tol=0, max_iter=9),
        Annealed(s0=-3, critical_power=-2, eta=1.3, relaxation=1.8, softness=0, max_iter=9),
        Alternating(tol=0, max_iter=3),
    ],
    ids=["constant", "annealed", "alternating"],
)
@pytest.mark.parametrize("entropy_weight", [0.05, 1.0])
def test_steps_of_several_kernels_are_those_of_the_equations(method, entropy_weight, threads):
    X, seeds = data.cloud(300, 3), np.array([3, 50, 120, 299])
    v = np.random.default_rng(3).uniform(0.2, 3, 300)
    Ks = [dense(X, "gram"), dense(X, "features")]
    factors = 1 / np.array([oracle.variance(K, v) for K in Ks])
    # In these units the kernel variances are 1.
    rule = EntropyRule(entropy_weight * v.sum())
    members = [make_space(X, v, threads, kind) for kind in ("gram", "features")]
    space = ProductSpace(members, [slice(None)] * 2, rule, factors)
    result = solve(space, space.at(seeds[:, None]), method, [0])

    powers = result.power_history[0]
    A, a, objectives, weights = oracle.multi_run(
        Ks, oracle.at_samples(seeds, 300), powers, entropy_weight, factors, v, method.relaxation
    )
    np.testing.assert_allclose(result.objective_history[0], objectives, rtol=1e-9)
    np.testing.assert_allclose(result.kernel_weights_history[0], weights, rtol=1e-8)
    np.testing.assert_allclose(result.kernel_weights[0], a, rtol=1e-8)
    nearest = oracle.multi_distances(Ks, A, a * factors).min(axis=1)
    penalty = entropy_weight * v.sum() * np.sum(a * np.log(2 * a))
    assert penalty > 1e-4 * (v @ nearest)
    assert result.inertia[0] == pytest.approx(v @ nearest, rel=1e-9)
    assert result.cost[0] == pytest.approx(v @ nearest + penalty, rel=1e-9)


def test_only_soft_steps_of_collapsing_or_coincident_centroids_are_noisy(threads):
    space = make_space(data.cloud(300, 3), np.ones(300), threads, "features")
    centroids = space.at(np.array([[3, 3, 3, 3], [50, 50, 3, 3]]))
    soft, collapsing = np.array([[True, True, True, False], [False, True, False, True]])
    noisy = driver._noisy(space, centroids, soft, collapsing)
    np.testing.assert_array_equal(noisy, [False, True, True, False])


@pytest.mark.parametrize("first", [0, 40])
def test_the_hash_of_labels_sees_each_sample_with_weight_and_no_other(first):
    place = slice(first, first + 200)
    rng = np.random.default_rng(0)
    labels, weight, power = rng.integers(5, size=(1, 200)), np.tile([1.0, 0.0], 100), [-np.inf]
    known = set()
    for sample in range(0, 200, 2):
        other = labels.copy()
        other[0, sample] = (other[0, sample] + 1) % 5
        known.add(int(driver._labels_hash(other, power, weight, place)[0]))
    base = driver._labels_hash(labels, power, weight, place)
    assert len(known | {int(base[0])}) == 101
    labels[0, 1::2] = 0
    assert driver._labels_hash(labels, power, weight, place) == base
    assert driver._labels_hash(labels, [-1.0], weight, place) == 0


def test_noise_and_hashes_belong_to_the_place_of_a_sample():
    whole = driver._normal(7, 3, slice(0, 1300))
    assert abs(whole.mean()) < 0.1
    assert whole.std() == pytest.approx(1, abs=0.1)
    hashes = driver._hashes(0, 1300)
    for block in (slice(0, 400), slice(400, 1300), slice(511, 513)):
        np.testing.assert_array_equal(driver._normal(7, 3, block), whole[:, block])
        np.testing.assert_array_equal(driver._hashes(block.start, block.stop), hashes[block])
