"""Starting centroids: every form of ``init``, and how many restarts run."""

from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone

import data
import oracle
from kernelmeans import KernelKMeans, KernelPowerKMeans, PowerKMeans

X = data.cloud(90, 3)
K = oracle.rbf(X, X, 0.4)
SEEDS = np.array([2, 31, 47, 63])
GAUSSIAN = partial(KernelPowerKMeans, kernel="rbf")
TABLE = np.random.default_rng(0).choice(90, (5, 4), replace=False)


def hard(init, **given):
    width = {} if "kernel" in given else {"gamma": 0.4}
    return KernelKMeans(4, **{"init": init, "random_state": 0, **width, **given})


def hard_labels_from(A, K=K):
    """Labels of naive hard steps from centroids with these coefficients."""
    labels = None
    while True:
        now = oracle.distances(K, A).argmin(axis=1)
        if labels is not None and (now == labels).all():
            return now
        labels = now
        A = np.eye(len(A))[labels].T
        A /= A.sum(axis=1, keepdims=True)


class TestForms:
    def test_indices(self):
        expected = hard_labels_from(oracle.at_samples(SEEDS, 90))
        for form in (SEEDS, SEEDS.tolist(), SEEDS.astype(np.uint8)):
            assert_array_equal(hard(form).fit(X).labels_, expected)

    def test_a_table_of_indices_holds_matched_starts(self):
        model = hard(TABLE).fit(X)
        assert model.result_.labels.shape == (5, 90)
        for labels, seeds in zip(model.result_.labels, TABLE, strict=True):
            assert_array_equal(labels, hard_labels_from(oracle.at_samples(seeds, 90)))
        assert_array_equal(model.labels_, model.result_.labels[model.result_.inertia.argmin()])

    @pytest.mark.parametrize("unit", [1.0, 0.01])
    def test_weights(self, unit):
        W = np.random.default_rng(1).uniform(0, 1, (90, 4)) ** 3
        expected = hard_labels_from((W / W.sum(axis=0)).T)
        assert_array_equal(hard(unit * W).fit(X).labels_, expected)
        model = hard(unit * W, kernel="precomputed")
        assert_array_equal(model.fit(K).labels_, expected)

    @pytest.mark.parametrize("estimator", ["gram", "features"])
    def test_coordinates(self, estimator):
        centres = np.random.default_rng(2).standard_normal((4, 3))
        both = np.concatenate([X, centres])
        if estimator == "gram":
            model, gram = hard(centres), oracle.rbf(both, both, 0.4)
        else:
            model, gram = hard(centres, kernel="linear"), both @ both.T
        squared = np.diagonal(gram)[:, None] + np.diagonal(gram) - 2 * gram
        first = np.eye(4)[squared[:90, 90:].argmin(axis=1)].T
        A = first / first.sum(axis=1, keepdims=True)
        assert_array_equal(model.fit(X).labels_, hard_labels_from(A, gram[:90, :90]))

    def test_coordinates_of_rows_are_their_indices(self):
        for kind in (GAUSSIAN, KernelPowerKMeans, PowerKMeans, KernelKMeans):
            model = kind(4, n_swaps=0)  # moves may part at a rounding error of the start
            at_rows = model.set_params(init=X[SEEDS]).fit(X)
            labels, history = at_rows.labels_, at_rows.objective_history_
            at_indices = model.set_params(init=SEEDS).fit(X)
            assert_array_equal(labels, at_indices.labels_)
            np.testing.assert_allclose(history, at_indices.objective_history_, rtol=1e-8)

    @pytest.mark.parametrize(
        "form", [lambda: SEEDS, lambda: X[SEEDS], lambda: np.eye(90)[:, SEEDS]]
    )
    def test_callables_return_any_of_these(self, form):
        calls = []

        def init(rows, n_clusters, random_state):
            calls.append((rows.shape, n_clusters))
            assert isinstance(random_state, np.random.RandomState)
            return form()

        model = hard(init, n_init=3).fit(X)
        assert calls == [((90, 3), 4)] * 3
        expected = hard_labels_from(oracle.at_samples(SEEDS, 90))
        assert_array_equal(model.result_.labels, [expected] * 3)

    def test_callables_draw_from_the_seed(self):
        def init(rows, n_clusters, random_state):
            return random_state.choice(len(rows), n_clusters, replace=False)

        first, again, other = (hard(init, random_state=seed).fit(X) for seed in (1, 1, 2))
        assert_array_equal(first.result_.labels, again.result_.labels)
        assert (first.result_.labels != other.result_.labels).any()
        assert len(np.unique(first.result_.inertia)) > 1

    def test_a_start_of_the_user_is_left_as_it_was(self):
        starts = [SEEDS.copy(), X[SEEDS], np.random.default_rng(0).uniform(size=(90, 4))]
        for start in starts:
            before = start.copy()
            KernelPowerKMeans(4, kernel="rbf", init=start).fit(X, sample_weight=np.arange(1, 91))
            assert_array_equal(start, before)


@pytest.mark.parametrize(
    "start",
    [
        [["a", "b"], ["c", "d"]],
        np.array([["0.5", "1"]] * 2),
        np.array(["a", "b"], object),
        X[:2] * 1j,
        np.zeros(2, "M8[D]"),
        {0, 1},
        [[0.0], [1.0, 2.0]],
    ],
    ids=["texts", "numbers as text", "objects", "complex", "dates", "a set", "ragged"],
)
@pytest.mark.parametrize("given", [True, False], ids=["given", "by a callable"])
def test_a_start_that_holds_no_numbers_is_refused(start, given):
    init = start if given else lambda rows, n_clusters, random_state: start
    name = "init" if given else r"init\(X\)"
    with pytest.raises(ValueError, match=f"^{name} is not an array of numbers"):
        KernelPowerKMeans(2, kernel="rbf", init=init).fit(X)


class TestRestarts:
    @pytest.mark.parametrize(
        ("init", "restarts"),
        [("k-means++", 1), ("random", 10), (SEEDS, 1), (X[SEEDS], 1), (TABLE, 5)],
        ids=["k-means++", "random", "indices", "coordinates", "table"],
    )
    def test_automatic_number(self, init, restarts):
        assert len(hard(init).fit(X).result_.inertia) == restarts

    @pytest.mark.parametrize("init", ["k-means++", "random", lambda X, k, rng: rng.choice(90, k)])
    def test_given_number(self, init):
        model = hard(init, n_init=7).fit(X)
        assert len(model.result_.inertia) == 7
        assert model.inertia_ == pytest.approx(model.result_.inertia.min(), rel=1e-9)
        assert len(np.unique(model.result_.inertia)) > 1

    @pytest.mark.parametrize(("init", "restarts"), [(SEEDS, 1), (X[SEEDS], 1), (TABLE, 5)])
    def test_a_number_that_does_not_fit_given_starts_is_said_to_be_ignored(self, init, restarts):
        with pytest.warns(
            RuntimeWarning,
            match=rf"n_init=3 .*: {restarts} will run",
        ):
            model = hard(init, n_init=3).fit(X)
        assert len(model.result_.inertia) == restarts

    @pytest.mark.parametrize("init", ["k-means++", "random"])
    @pytest.mark.parametrize("kernel", ["rbf", "linear"])
    def test_batches_limited_by_memory_give_the_same_answers(self, init, kernel):
        rows = data.cloud(100, 40)
        large, small = (
            KernelPowerKMeans(
                8, kernel=kernel, init=init, n_init=6, memory_budget=budget, random_state=0
            ).fit(rows)
            # The smaller holds the kernel matrix or the rows, but no two restarts at a time.
            for budget in ("1GB", 120_000 if kernel == "rbf" else 45_000)
        )
        assert_array_equal(small.result_.labels, large.result_.labels)
        np.testing.assert_allclose(small.result_.inertia, large.result_.inertia, rtol=1e-9)
        assert_array_equal(small.result_.n_iter, large.result_.n_iter)
        assert_array_equal(small.labels_, large.labels_)

    def test_batches_of_matched_starts(self):
        rows = data.cloud(100, 3)
        starts = np.random.default_rng(0).integers(0, 100, (6, 8))
        large, small = (
            KernelPowerKMeans(
                8, kernel="rbf", init=starts, memory_budget=budget, random_state=0
            ).fit(rows)
            for budget in ("1GB", 120_000)
        )
        assert_array_equal(small.result_.labels, large.result_.labels)

    #: The critical power of these rows is far below the start, so that the seeding is forgotten.
    COLLAPSING = KernelPowerKMeans(
        8, kernel="rbf", gamma=0.1, s0=-1.0, eta=1.04, init="random", n_init=12, random_state=0
    )

    def test_collapsed_starts_go_different_ways(self):
        # Twenty restarts must be twenty tries, also where only the perturbation tells them apart.
        model = clone(self.COLLAPSING).fit(data.cloud(300, 8))
        assert model.critical_power_ < -5
        assert len(np.unique(model.result_.inertia.round(9))) > 6

    @pytest.mark.slow
    def test_collapsed_starts_do_not_depend_on_the_batch(self):
        rows = data.cloud(1500, 8)
        model = clone(self.COLLAPSING).set_params(n_init=30, eta=1.2, anneal_every=2)
        large = clone(model).set_params(memory_budget="1GB").fit(rows)
        # This holds half of the restarts at a time.
        small = clone(model).set_params(memory_budget=27_000_000).fit(rows)
        assert large.critical_power_ < -5
        np.testing.assert_allclose(small.result_.inertia, large.result_.inertia, rtol=1e-9)
        assert_array_equal(small.result_.labels, large.result_.labels)


REFUSED = {
    "index too large": (np.array([0, 1, 2, 90]), r"init: row indices .* 89, got 0 to 90"),
    "negative index": (np.array([0, 1, 2, -1]), r"init: row indices .* 0 and .*got -1"),
    "too few indices": (np.array([0, 1]), r"init has shape \(2,\).*\(4,\) or \(n_init, 4\)"),
    "three axes": (np.zeros((2, 2, 4), int), r"init has shape \(2, 2, 4\)"),
    "no restart": (np.zeros((0, 4), int), r"init has shape \(0, 4\)"),
    "coordinates of wrong width": (np.zeros((4, 2)), r"init has shape \(4, 2\).*coordinates.*4, 3"),
    "too few coordinates": (np.zeros((3, 3)), r"init has shape \(3, 3\).*\(4, 3\)"),
    "weights of wrong length": (np.zeros((89, 4)), r"init has shape \(89, 4\).*\(90, 4\)"),
    "negative weights": (-np.ones((90, 4)), r"init: starting weights .* not be negative"),
    "a cluster without weight": (np.eye(90)[:, [0, 1, 2]] @ np.eye(3, 4), "every cluster"),
    "nan": (np.full((4, 3), np.nan), r"init contains NaN"),
    "inf": (np.full((90, 4), np.inf), r"init contains NaN or infinite"),
    "floating point indices": (SEEDS.astype(float), r"init has shape \(4,\) and dtype float64"),
    "too many indices": (np.arange(5), r"init has shape \(5,\) and dtype int64"),
}


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.parametrize("how", ["array", "callable"])
def test_other_starts_are_refused(name, how):
    start, message = REFUSED[name]
    init = start if how == "array" else lambda X, k, rng: start
    where = "init" if how == "array" else r"init\(X\)"
    with pytest.raises(ValueError, match=message.replace("init", where, 1)):
        hard(init).fit(X)


def test_coordinates_make_no_sense_for_a_precomputed_kernel():
    with pytest.raises(ValueError, match=r"init has shape \(4, 3\) .*weights of shape \(90, 4\)"):
        hard(X[SEEDS], kernel="precomputed").fit(K)


@pytest.mark.parametrize("init", ["kmeans++", "Random", 3.5])
def test_unknown_names_are_refused(init):
    with pytest.raises(ValueError, match="'init' parameter of KernelKMeans must be"):
        hard(init).fit(X)


def test_integers_that_look_like_weights_or_coordinates_are_refused():
    y = np.arange(len(X)) % 4
    with pytest.raises(ValueError, match=r"could be weights .* Pass weights as floats"):
        hard(np.eye(4, dtype=int)[y]).fit(X)
    square = np.random.default_rng(0).integers(0, 9, (30, 4))
    coordinates = square[:4]
    with pytest.raises(ValueError, match=r"could be coordinates .* set n_init=4"):
        hard(coordinates).fit(square)
    assert len(hard(coordinates, n_init=4).fit(square).result_.inertia) == 4
