"""Numbers of clusters where none are given."""

import numpy as np
import pytest
from sklearn.cluster import KMeans, MeanShift
from sklearn.datasets import make_blobs
from sklearn.decomposition import PCA
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from kernelmeans import ClusterSearch, KernelPowerKMeans
from kernelmeans.search.comparison import Comparison
from kernelmeans.search.ladder import most_clusters, next_numbers, steps


def seen(tried, stability, valid=False, consistency=0.0):
    """The columns of a search that has tried these numbers."""
    return {
        "n_clusters": tried,
        "mean_stability": stability,
        "valid": [valid] * len(tried),
        "neighbor_consistency": [consistency] * len(tried),
        "eigengap": [np.nan] * len(tried),
    }


def climbed(truth, most=200, stable=None, second=None):
    """The numbers that are tried if stability falls with the distance from a number.

    This number is the truth or `stable`. The truth is chosen if it is tried, or else `second`.
    """
    tried = steps(12)
    while True:
        stability = [1 / (1 + abs(np.log(k / (stable or truth)))) for k in tried]
        results = seen(tried, stability)
        best = next((tried.index(k) for k in (truth, second) if k in tried), None)
        if not (more := next_numbers(results, range(len(tried)), best, most)):
            return tried
        assert not {*more} & {*tried}
        tried = tried + more


@pytest.mark.parametrize("truth", [2, 5, 7, 12, 13, 40])
def test_the_truth_is_among_the_numbers(truth):
    tried = climbed(truth)
    assert truth in tried
    # Before the truth is tried, nothing is found.
    assert max(tried) <= max(12, 2 * truth, 32 * (truth not in steps(12)))


@pytest.mark.parametrize("second", [5, 10])
@pytest.mark.parametrize("truth", [13, 15, 18])
def test_the_truth_is_between_the_choice_and_the_most_stable(truth, second):
    assert truth in climbed(truth, stable=26, second=second)


@pytest.mark.parametrize("truth", [9, 11, 15, 21, 40])
def test_the_truth_is_beyond_a_choice_that_is_more_stable(truth):
    """Groups of clusters, which are found again too: their stability has a peak of its own."""
    tried = steps(12)
    while truth not in tried:
        stability = [1 if k == 2 else 0.9 / (1 + abs(np.log(k / truth))) for k in tried]
        more = next_numbers(seen(tried, stability), range(len(tried)), 0, 200)
        assert more, tried
        tried = tried + more


def test_numbers_are_not_tried_where_stability_falls_beyond_the_choice():
    tried = [*steps(12)]
    stability = [0.9, 0.9, 0.9, 1.0, 0.8, 0.7, 0.6, 0.5, 0.4]
    assert next_numbers(seen(tried, stability), range(len(tried)), tried.index(5), 200) == []
    tried, stability = [*tried, 16, 24], [*stability[:7], 0.3, 0.3, 0.2, 0.1]
    assert next_numbers(seen(tried, stability), range(len(tried)), tried.index(8), 24) == [9]


@pytest.mark.parametrize("best", [None, 2])
def test_the_fewest_of_equally_stable_numbers_are_looked_at(best):
    """Rows off topic make ever more clusters, that are as stable as the true ones."""
    tried = [*steps(64)]
    stability = [0.4 + 0.01 * place for place in range(len(tried))]
    first = tried.index(32)
    stability[first:] = 0.992, 0.995, 0.99
    results = seen(tried, stability, consistency=0.5)
    if best is not None:
        results["valid"][best] = True
    found = next_numbers(results, range(len(tried)), best, 64)
    assert [k for k in found if k > 24] == [28, 40]
    stability[first] = 0.98
    assert max(next_numbers(seen(tried, stability), range(len(tried)), None, 64)) > 48


@pytest.mark.parametrize("truth", [97, 120, 151])
def test_of_large_numbers_one_is_near(truth):
    tried = np.array(climbed(truth))
    assert np.abs(tried / truth - 1).min() < 1 / 15
    assert len(tried) < 40


def test_the_end_of_the_ladder():
    assert 60 / max(climbed(150, most=60)) < 1 + 1 / 15
    assert [most_clusters(n) for n in (4, 10, 100, 4000)] == [3, 5, 12, 200]
    assert [most_clusters(4000, distinct) for distinct in (2, 64, 300, 4000)] == [12, 12, 60, 200]


@pytest.mark.parametrize("encoder", [None, OneHotEncoder()])
def test_it_ends_before_each_distinct_row_is_a_cluster(encoder):
    X = np.random.default_rng(0).integers(0, 4, (1000, 3)).astype(float)
    model = KMeans(n_init=1, random_state=0)
    model = make_pipeline(encoder, model) if encoder else model
    search = ClusterSearch(model, n_splits=2, random_state=0).fit(X)
    assert max(search.results_["n_clusters"]) <= 12


@pytest.mark.parametrize(("top", "more"), [(12, 16), (16, 24), (24, 32), (32, 48)])
def test_it_goes_on_to_32_while_nothing_is_found(top, more):
    tried = steps(top)
    results = seen(tried, [1 / k for k in tried])
    assert (more in next_numbers(results, range(len(tried)), None, 200)) == (top < 32)
    assert more not in next_numbers(results, range(len(tried)), 0, 200)


@pytest.mark.parametrize(("best", "enough"), [(0, 0.99), (None, 0.9)])
def test_it_goes_on_while_clusters_hardly_part_near_neighbors(best, enough):
    tried = steps(32)
    results = seen(tried, [1 / k for k in tried], consistency=enough)
    assert next_numbers(results, range(len(tried)), best, 200) == [48]
    for unknown in (enough - 0.01, np.nan):
        results["neighbor_consistency"][-1] = unknown
        assert 48 not in next_numbers(results, range(len(tried)), best, 200)


@pytest.mark.parametrize("best", [None, 0])
def test_the_number_that_eigenvalues_suggest_is_tried(best):
    tried = [*steps(32)[::-1], 9, 11]
    results = seen(tried, [1 / k for k in tried])
    best = None if best is None else tried.index(5)
    assert next_numbers(results, range(len(tried)), best, 200) == []
    # Those of the fit with most clusters count.
    results["eigengap"][:2] = 19, 21
    assert next_numbers(results, range(len(tried)), best, 200) == [19]
    # Not beyond the end, not twice, and no fewer clusters than the choice or a single one.
    assert next_numbers(results, range(len(tried)), best, 18) == []
    for known in (24, 1, 5):
        results["eigengap"][0] = known
        assert next_numbers(results, range(len(tried)), best, 200) == []


@pytest.fixture(scope="module")
def touching():
    """A search of 19 groups that touch, in 7 pieces, and their labels."""
    X, y = make_blobs(1444, 3, centers=19, cluster_std=1.02, random_state=16)
    return ClusterSearch(KernelPowerKMeans(random_state=0), n_splits=8, random_state=0).fit(X), y


@pytest.mark.slow
def test_groups_that_touch_are_the_most_stable_beyond_their_pieces(touching):
    search, y = touching
    numbers = search.results_["n_clusters"]
    stability = np.where(numbers > 7, search.results_["mean_stability"], 0)
    assert numbers[stability.argmax()] == 19
    assert search.results_["valid"][stability.argmax()]
    assert adjusted_rand_score(y, search.labels_) > 0.9


@pytest.mark.slow
@pytest.mark.xfail(reason="20, of which two may be lost", strict=True)
def test_no_more_groups_are_found_than_there_are(touching):
    assert touching[0].best_params_ == {"n_clusters": 19}


def test_scores_that_are_missing_end_it():
    results = seen([2, 3], [np.nan, np.nan])
    assert next_numbers(results, range(2), None, 100) == []


def test_a_last_step_that_is_found_again_is_not_the_last():
    results = seen([2, 3, 4], [1.0, 0.8, 0.9], valid=True)
    assert next_numbers(results, range(3), 2, 100) == [5]
    results["valid"][2] = False
    assert next_numbers(results, range(3), 0, 100) == [5]  # the most stable one beyond the choice
    results["mean_stability"][1] = 0.95
    assert next_numbers(results, range(3), 0, 100) == []


@pytest.mark.slow
def test_twenty_blobs_are_found():
    X, _ = make_blobs(800, 16, centers=20, cluster_std=0.5, random_state=0)
    search = ClusterSearch(KMeans(n_init=20), n_splits=4, random_state=0).fit(X)
    assert search.best_params_ == {"n_clusters": 20}
    numbers = search.results_["n_clusters"]
    assert (np.diff(numbers) > 0).all()
    assert numbers[search.best_index_] == 20
    found = search.labels_by_candidate_[search.best_index_]
    assert len(np.unique(found)) == 20
    assert search.results_["params"] == [{"n_clusters": k} for k in numbers]


@pytest.mark.slow
def test_fifty_groups_are_found_though_few_clusters_are_never_found_again():
    y = np.repeat(np.arange(50), 22)
    X = 10 * np.eye(50)[y] + np.random.default_rng(0).standard_normal((len(y), 50))
    search = ClusterSearch(KernelPowerKMeans(random_state=0), n_splits=4, random_state=0).fit(X)
    numbers, stability = search.results_["n_clusters"], search.results_["mean_stability"]
    assert search.best_params_ == {"n_clusters": 50}
    assert adjusted_rand_score(y, search.labels_) == 1
    assert stability[numbers <= 32].max() < 0.5


@pytest.mark.slow
@pytest.mark.parametrize("refutes", [False, True])
def test_it_goes_on_where_data_without_clusters_refute_what_ended_it(monkeypatch, refutes):
    """Topics: few clusters are as stable by chance, and many are found again."""

    def is_more(self, row, stability):
        return not refutes or self._record.candidates[row].params["n_clusters"] > 12, 0.5

    monkeypatch.setattr(Comparison, "is_more", is_more)
    corners = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    centers = (30 * corners[:, None] + 4 * corners).reshape(-1, 2)
    X = make_blobs(640, centers=centers, cluster_std=0.8, random_state=0)[0]
    search = ClusterSearch(KMeans(n_init=5, random_state=0), random_state=0).fit(X)
    assert search.best_params_["n_clusters"] == (16 if refutes else 4)


def test_each_kernel_has_its_own():
    X, _ = make_blobs(300, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)
    grid = {"n_components": "auto", "covariance_type": ["full", "spherical"]}
    search = ClusterSearch(GaussianMixture(), grid, n_splits=4, random_state=0).fit(X)
    assert search.best_params_["n_components"] == 3
    groups = search.results_["group"]
    assert len(np.unique(groups)) == 2
    assert (np.diff(groups) >= 0).all()


@pytest.mark.slow
@pytest.mark.parametrize("kind", [KeyboardInterrupt, RuntimeError])
def test_what_is_known_when_it_ends_on_the_ladder(kind):
    X, _ = make_blobs(800, 16, centers=20, cluster_std=0.5, random_state=0)

    class Ends(KMeans):
        def fit(self, X, y=None):
            if self.n_clusters == 16:
                raise kind("not 16")
            return super().fit(X)

    search = ClusterSearch(Ends(n_init=5), n_splits=4, random_state=0)
    if kind is KeyboardInterrupt:
        with pytest.raises(KeyboardInterrupt, match="results_ and best_params_"):
            search.fit(X)
        assert max(search.results_["n_clusters"]) == 12
    else:
        with pytest.warns(UserWarning, match="'n_clusters': 16}: RuntimeError: not 16"):
            search.fit(X)
        assert max(search.results_["n_clusters"]) > 12
    assert len(search.labels_by_candidate_) == len(search.results_["n_clusters"])
    assert search.best_index_ is None or search.results_["valid"][search.best_index_]


def test_numbers_that_are_given_too_do_not_end_it():
    results = seen([*range(2, 9), 10, 12, 100], [0.8] * 8 + [0.9, 0.3], valid=True)
    results["valid"][-1] = False
    assert next_numbers(results, range(10), 8, 200) == [16]
    X, _ = make_blobs(100, centers=3, random_state=0)
    arrays = [{"n_clusters": "auto", "init": ["random"]}, {"n_clusters": [2], "init": [X[:2]]}]
    search = ClusterSearch(KMeans(n_init=1), arrays, n_splits=4, random_state=0).fit(X)
    assert search.results_["n_clusters"].max() <= 12


def test_a_pipeline_that_fails_is_left_out():
    X, _ = make_blobs(100, centers=3, random_state=0)
    model = make_pipeline(PCA(2), KMeans(n_init=1))
    grid = {"pca__n_components": [2, 50], "kmeans__n_clusters": "auto"}
    with pytest.warns(UserWarning, match="have no score: .*n_components=50"):
        search = ClusterSearch(model, grid, n_splits=4, random_state=0).fit(X)
    assert search.best_params_ == {"pca__n_components": 2, "kmeans__n_clusters": 3}


def test_what_a_ladder_cannot_climb_is_refused():
    X = np.random.default_rng(0).random((5, 2))
    with pytest.raises(
        ValueError, match=r"MeanShift\(\) has no number of clusters .* param_grid\.$"
    ):
        ClusterSearch(MeanShift()).fit(X)
    with pytest.raises(ValueError, match=r"n_samples=5 is too few.* at least 6 rows\.$"):
        ClusterSearch(KMeans()).fit(X)


def test_other_parameters_have_no_ladder():
    with pytest.raises(TypeError, match="init"):
        ClusterSearch(KMeans(3), {"init": "auto"}).fit(np.random.default_rng(0).random((99, 2)))
