"""The rules by which a candidate is chosen."""

import numpy as np
import pytest

from kernelmeans.search.rules import best_of, exceeds, is_rare, queues, validity


def columns(**given):
    n = len(given["n_clusters"])
    base = {
        "mean_stability": np.full(n, 0.5),
        "neighbor_consistency": np.full(n, 0.5),
        "min_jaccard": np.ones(n),
        "mean_jaccard": np.zeros(n),
        "mean_prediction_strength": np.ones(n),
    }
    base["group"] = np.zeros(n, dtype=int)
    base["params"] = [{"n_clusters": k} for k in given["n_clusters"]]
    return base | {name: np.array(values) for name, values in given.items()}


def test_the_most_clusters_of_which_all_are_found_again():
    results = columns(
        n_clusters=[2, 3, 4, 5],
        min_jaccard=[0.88, 0.75, 0.88, 0.74],
        mean_stability=[0.9, 0.9, 0.8, 1],
    )
    assert queues(results, "jaccard") == [[2, 1, 0]]


def test_prediction_strength_has_a_threshold_of_its_own():
    results = columns(
        n_clusters=[2, 3, 4],
        min_jaccard=[0.1, 0.1, 0.9],
        mean_prediction_strength=[0.9, 0.8, 0.79],
        mean_stability=[0.9, 0.5, 0.9],
    )
    assert queues(results, "prediction_strength") == [[1, 0]]


@pytest.mark.parametrize(
    "scoring", ["jaccard", "prediction_strength", "stability", "neighbor_consistency"]
)
def test_a_single_cluster_hides_no_others(scoring):
    results = columns(n_clusters=[1, 2, 3], mean_stability=[1, 0.7, 0.8])
    results["neighbor_consistency"] = np.array([np.nan, 0.2, 0.3])
    assert queues(results, scoring) == [[2, 1]]
    assert queues(columns(n_clusters=[1, 1]), scoring) in ([[]], [])


def test_more_clusters_that_are_far_less_stable_than_fewer_do_not_count():
    results = columns(
        n_clusters=[2, 3, 4, 5],
        min_jaccard=[0.9, 0.8, 0.8, 0.1],
        mean_stability=[0.9, 0.77, 0.72, 1],
    )
    assert queues(results, "jaccard") == [[1, 0]]
    results["min_jaccard"][0] = 0.99
    assert queues(results, "jaccard") == [[0]]


def test_more_clusters_that_are_far_more_stable_come_first_though_some_are_lost():
    """Half of the way to 1, more than the valid ones have, and found again on average."""
    results = columns(
        n_clusters=[1, 2, 3, 8, 9, 10, 3],
        group=[0, 0, 0, 0, 0, 0, 1],
        min_jaccard=[1, 0.8, 0.7, 0.6, 0.6, 0.6, 0.8],
        mean_jaccard=[1, 0.8, 0.8, 0.75, 0.8, 0.8, 0.8],
        mean_stability=[1, 0.76, 0.8, 0.89, 0.9, 0.87, 0.95],
    )
    assert queues(results, "jaccard") == [[4, 3, 1], [6]]
    results["mean_jaccard"][4] = 0.74
    assert queues(results, "jaccard") == [[3, 1], [6]]
    results["min_jaccard"][5] = 0.9  # the most that are valid
    assert queues(results, "jaccard") == [[5, 1], [6]]


def test_nothing_is_far_more_stable_than_what_is_nearly_as_stable_as_can_be():
    results = columns(n_clusters=[2, 3], min_jaccard=[0.9, 0.3], mean_jaccard=[0.9, 0.8])
    results["mean_stability"] = np.array([0.87, 0.99])
    assert queues(results, "jaccard") == [[1, 0]]
    results["mean_stability"][0] = 0.88
    assert queues(results, "jaccard") == [[0]]


def test_where_all_numbers_lose_clusters_a_very_stable_one_counts():
    results = columns(n_clusters=[2, 3, 4], min_jaccard=[0, 0, 0], mean_jaccard=[0.8, 0.8, 0.8])
    results["mean_stability"] = np.array([0.87, 0.88, 0.86])
    assert queues(results, "jaccard") == [[1]]


def test_each_kernel_has_a_queue_of_its_own():
    results = columns(n_clusters=[2, 3, 2, 3], group=[0, 0, 1, 1], min_jaccard=[1, 1, 1, 0])
    assert queues(results, "jaccard") == [[1, 0], [2]]


def test_a_kernel_is_chosen_at_one_number_though_no_cluster_is_found_again():
    results = columns(
        n_clusters=[3, 3, 3], min_jaccard=[0.1, 0.1, 0.1], mean_stability=[0.3, np.nan, 0.4]
    )
    assert queues(results, "jaccard") == [[0], [2]]


def test_the_best_kernel_keeps_neighbors_together_then_is_stable():
    results = columns(
        n_clusters=[2, 3, 4, 5],
        group=[0, 1, 2, 3],
        neighbor_consistency=[0.8, 0.9, 0.9, np.nan],
        mean_stability=[1, 0.6, 0.7, 1],
    )
    assert best_of(results, [0, 1, 2, 3]) == 2
    assert best_of(results, [0, 1]) == 1
    assert best_of(results, [3, 0]) == 0
    assert best_of(results, []) is None


def test_kernels_are_compared_at_the_same_numbers_of_clusters():
    results = columns(
        n_clusters=[2, 3, 5, 2, 3, 5],
        group=[0, 0, 0, 3, 3, 3],
        neighbor_consistency=[0.96, 0.9, 0.8, 0.95, 0.1, 0.88],
        mean_stability=[0.49, 0.4, 0.4, 0.4, 0.4, 0.93],
    )
    # The first kernel at two, the second at five: two clusters always keep more neighbours.
    assert best_of(results, [0, 5]) == 5
    results["neighbor_consistency"][2] = 0.9
    assert best_of(results, [0, 5]) == 0


def test_the_order_of_the_grid_does_not_choose_between_equals():
    params = [{"gamma": 0.5}, {"gamma": 0.1}]
    results = columns(n_clusters=[2, 2], params=params)
    assert best_of(results, [0, 1]) == 1
    assert best_of(results, [1, 0]) == 1


def test_of_equal_scores_fewer_clusters_are_first():
    results = columns(n_clusters=[3, 2, 4], mean_stability=[1.0, 1.0, 0.5])
    assert queues(results, "stability") == [[1, 0, 2]]


def test_other_scorings_take_the_largest_score():
    results = columns(
        n_clusters=[2, 3, 4], min_jaccard=[0, 0, 0], mean_stability=[0.2, np.nan, 0.8]
    )
    assert queues(results, "stability") == [[2, 0]]
    results["neighbor_consistency"] = np.array([0.3, 0.9, 0.2])
    assert queues(results, "neighbor_consistency") == [[1, 0, 2]]


def test_no_candidate_is_valid():
    results = columns(n_clusters=[2, 3], min_jaccard=[0.7, np.nan])
    assert queues(results, "jaccard") == [[]]
    assert not validity(results, "jaccard").any()


def test_a_stability_exceeds_each_kind_of_reference():
    reference = np.array([[0.5, 0.7, 0.6], [0.1, 0.2, 0.3]])
    # Means 0.6 and 0.2: half of the way to 1 is 0.8 and 0.6.
    assert exceeds(0.81, reference)
    assert not exceeds(0.79, reference)
    assert exceeds(0.61, reference[1:])
    assert not exceeds(0.59, reference[1:])


def test_of_twenty_draws_one_may_be_more_stable():
    draws = np.full((2, 10), 0.3)
    draws[0, 0] = 0.95
    assert is_rare(0.9, draws, 200)
    draws[1, 3] = 0.9
    assert is_rare(0.9, draws, 200)
    draws[1, 4] = 0.91
    assert not is_rare(0.9, draws, 200)
    # Of few rows more draws are that stable by chance.
    assert is_rare(0.9, draws, 199)


def test_nothing_exceeds_data_that_is_perfectly_stable_without_clusters():
    assert not exceeds(1.0, np.ones((2, 3)))


def test_pieces_are_never_worse_than_more_clusters_and_better_than_fewer():
    results = columns(
        n_clusters=[2, 3, 4, 5],
        mean_stability=[1, 0.5, 0.86, 0.9],
        separate=[False, True, False, False],
    )
    assert queues(results, "jaccard") == [[3, 2, 1]]
    results["min_jaccard"][1] = 0.7
    assert queues(results, "jaccard") == [[3, 2, 0]]
