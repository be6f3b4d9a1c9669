"""Candidates leave the race when they can hardly be chosen any more."""

import numpy as np
import pytest
import scipy.stats
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs

from kernelmeans import ClusterSearch
from kernelmeans.search import race
from kernelmeans.search.bounds import Bounds, contenders
from kernelmeans.search.comparison import Comparison

X, Y = make_blobs(300, centers=[[0, 0], [7, 0], [0, 7], [7, 7]], random_state=0)


def searched(X=X, **parameters):
    grid = {"n_clusters": [2, 3, 4, 5, 6, 7]}
    return ClusterSearch(KMeans(n_init=5), grid, random_state=0, **parameters).fit(X)


class TestBounds:
    def test_hold_as_often_as_is_said(self):
        rng = np.random.default_rng(0)
        above = below = 0
        for _ in range(2000):
            scores = rng.normal(0.5, 0.2, (20, 1))
            low, high = Bounds.of(scores[:6], 20)
            above += scores.mean() > high[0]
            below += scores.mean() < low[0]
        # 0.9 each; three standard errors of 2000 draws are 40.
        assert max(above, below) <= 200 + 40

    def test_are_the_mean_when_all_is_known(self):
        scores = np.random.default_rng(0).random((20, 3))
        low, high = Bounds.of(scores, 20)
        np.testing.assert_array_equal(low, high)
        np.testing.assert_allclose(low, scores.mean(axis=0))

    def test_are_those_of_student(self):
        scores = np.array([[0.2], [0.4], [0.9], [np.nan]])
        known = scores[:3, 0]
        width = known.std(ddof=1) * np.sqrt(1 / 3 - 1 / 10) * scipy.stats.t(2).ppf(0.9)
        low, high = Bounds.of(scores, 10)
        np.testing.assert_allclose([low[0], high[0]], known.mean() + np.array([-width, width]))

    def test_one_more_row_is_within_them_as_often_as_is_said(self):
        scores = np.random.default_rng(0).normal(0.5, 0.2, (7, 4000))
        low, high = Bounds.of_next(scores[:6])
        # 0.9 each; three standard errors of 4000 draws are 57.
        for outside in (scores[6] < low, scores[6] > high):
            assert abs(outside.sum() - 400) <= 57

    def test_of_one_split_are_infinite_and_of_none_unknown(self):
        low, high = Bounds.of(np.array([[0.5, np.nan]]), 20)
        assert (low[0], high[0]) == (-np.inf, np.inf)
        assert np.isnan([low[1], high[1]]).all()
        low, high = Bounds.of_next(np.array([[0.5, np.nan]]))
        assert (low[0], high[0]) == (-np.inf, np.inf)


class TestContenders:
    KNOWN = {"n_clusters": np.array([2, 3, 4]), "group": np.zeros(3, int)}  # noqa: RUF012

    def columns(self, stability, jaccard):
        scores = {"mean_stability": stability, "min_jaccard": jaccard, "mean_jaccard": jaccard}
        return self.KNOWN | {name: np.array(values) for name, values in scores.items()}

    def scores(self, values):
        return self.KNOWN | {"mean_score": np.array(values)}

    def test_a_far_more_stable_number_may_rule_out_others(self):
        means = self.columns([0.8, 0.65, 0.75], [0.9, 0.2, 0.8])
        low, high = means | {"mean_stability": np.array([0.7, 0.6, 0.75])}, dict(means)
        high["mean_stability"] = np.array([0.92, 0.7, 0.8])
        assert contenders(means, low, high, "jaccard") == []
        high["mean_stability"][0] = 0.93
        assert contenders(means, low, high, "jaccard") == [0]

    def test_what_is_refuted_is_not_waited_for(self):
        means = self.columns([0.9, 0.8, 0.8], [0.9, 0.85, 0.75])
        low = means | {"min_jaccard": np.array([0.9, 0.8, 0.7])}
        high = means | {"min_jaccard": np.array([0.9, 0.9, 0.8])}
        assert contenders(means, low, high, "jaccard") == [2]
        assert contenders(means, low, high, "jaccard", refuted={2}) == []

    def test_others_have_the_scores_that_they_have(self):
        means, low, high = (
            self.scores(own) for own in ([0.1, 0.6, 0.7], [0, 0.5, 0.6], [0.5, 0.7, 0.8])
        )
        assert contenders(means, low, high, "score") == [1, 2]
        low["mean_score"][2], high["mean_score"][1] = 0.61, 0.69
        # The bounds of both still overlap.
        assert contenders(means, low, high, "score") == []


@pytest.mark.parametrize("scoring", ["jaccard", "stability", "prediction_strength"])
def test_clear_clusters_take_few_splits(scoring):
    search = searched(scoring=scoring)
    assert search.best_params_ == {"n_clusters": 4}
    assert search.n_splits_ < 20
    assert f"found again in {search.n_splits_} splits of 300 rows" in search.verdict_
    counts = search.results_["n_splits"]
    for row, count in enumerate(counts):
        every = [search.results_[f"split{b}_stability"][row] for b in range(counts.max())]
        assert np.isfinite(every).tolist() == [b < count for b in range(counts.max())]
        assert search.results_["mean_stability"][row] == np.mean(every[:count])


@pytest.mark.slow
def test_the_choice_is_that_of_all_splits(monkeypatch):
    noisy = [X + s * np.random.default_rng(s).standard_normal(X.shape) for s in (1, 2, 3)]
    raced = [searched(one).best_params_ for one in noisy]
    monkeypatch.setattr(race, "FIRST_ROUND", 20)
    whole = [searched(one) for one in noisy]
    assert raced == [one.best_params_ for one in whole]
    assert all((one.results_["n_splits"] == 20).all() for one in whole)


def test_a_choice_that_is_nearly_enough_has_more_splits(monkeypatch):
    blurred = X + np.random.default_rng(0).standard_normal(X.shape)

    def splits_of_four(margin):
        """The splits of four clusters, with a bar that is so far above what is seen at first."""
        seen = []

        def beyond(self, divider):
            seen.append(divider.stability)
            return divider.stability > seen[0] + margin, 0.5

        monkeypatch.setattr(Comparison, "_beyond", beyond)
        results = searched(blurred).results_
        return results["n_splits"][results["n_clusters"] == 4][0]

    assert splits_of_four(-0.1) == splits_of_four(0.5) < splits_of_four(0.001)


def test_data_without_clusters_are_drawn_once(monkeypatch):
    drawn = []

    def counted(self, divider, kinds, draws):
        drawn.extend(draws)
        return stabilities(self, divider, kinds, draws)

    stabilities = Comparison._stabilities
    monkeypatch.setattr(Comparison, "_stabilities", counted)
    near = make_blobs(200, centers=[[0, 0], [5, 0], [0, 5]], cluster_std=1.8, random_state=0)[0]
    grid = {"n_clusters": [2, 3, 4]}
    # Three clusters are in doubt, and looked at several times.
    ClusterSearch(KMeans(n_init=3), grid, n_splits=10, random_state=0).fit(near)
    assert drawn
    assert drawn == [*range(len(drawn))]


def test_one_of_ten_clusters_may_be_lost():
    from kernelmeans.search.results import least, n_lost

    numbers = {0: (1, 4, 9), 1: (10, 19), 2: (20, 39), 3: (40, 79), 4: (80, 159), 5: (160,)}
    assert all(n_lost(one) == lost for lost, several in numbers.items() for one in several)
    assert least(np.array([0.9] * 8 + [0.1])) == 0.1
    assert least(np.array([0.9] * 18 + [0.1, 0.2])) == 0.9
    assert np.isnan(least(np.array([np.nan, 0.5])))
