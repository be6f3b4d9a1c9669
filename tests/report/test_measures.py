"""The numbers of a report, against plain loops."""

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from kernelmeans import KernelPowerKMeans
from kernelmeans.report import fits, measures


def test_margins_compare_the_own_with_the_second_centroid():
    distances = np.array([[1.0, 4.0, 9.0], [1.0, 1.05, 9.0], [8.0, 2.0, 4.0], [0.0, 0.0, 1.0]])
    first, second, third = measures.certainty(distances, np.array([0, 0, 1, 0]))
    assert first["median"] == pytest.approx(1 - 1 / 1.05)
    assert first["near_border"] == pytest.approx(2 / 3)
    assert (first["second"], first["second_fraction"]) == (1, 1.0)
    assert np.flatnonzero(first["histogram"]).tolist() == [0, 15]
    assert (second["rows"], second["median"], second["second"]) == (1, 0.5, 2)
    assert third is None


def test_silhouettes_are_told_by_their_quantiles(rng):
    values, labels = rng.uniform(-1, 1, 200), rng.integers(0, 2, 200)
    found, _, empty = measures.silhouettes(values, labels, 3)
    own = values[labels == 0]
    assert found["below_zero"] == np.mean(own < 0)
    ends = [own.max(), np.median(own), own.min()]
    assert found["quantiles"][::10] == pytest.approx(ends, abs=1e-4)
    assert empty is None


def test_cells_count_rows_near_their_places(rng):
    points, labels = rng.standard_normal((500, 2)) * [1, 100], rng.integers(0, 4, 500)
    found = measures.cells(points, labels)
    assert sum(count for *_, count in found["cells"]) == 500
    cells = np.array(found["cells"])
    unit = (points - points.min(axis=0)) / np.ptp(points, axis=0)
    reach = np.array([1 / measures.CELLS[0], 1 / measures.CELLS[1]])
    for place, label in zip(unit, labels, strict=True):
        own = cells[cells[:, 2] == label, :2]
        assert (np.abs(own - place) <= reach).all(axis=1).any()
    assert [cluster for cluster, *_ in found["middles"]] == [0, 1, 2, 3]


@pytest.mark.parametrize("points", [np.zeros((5, 2)), np.column_stack([np.arange(5), np.ones(5)])])
def test_points_on_a_line_or_in_one_place_are_in_the_middle(points):
    found = measures.cells(points, np.zeros(5, int))
    assert sum(count for *_, count in found["cells"]) == 5
    assert all(0.4 < y < 0.6 for _, y, *_ in found["cells"])


@pytest.mark.parametrize(
    ("given", "told"), [(-1e-15, 0), (0.0, 0), (-2.5, -2.5), (0.3, 0.3), (-np.inf, None)]
)
def test_the_critical_power_of_clear_clusters_is_zero(given, told):
    assert fits.critical_power(SimpleNamespace(critical_power_=given)) == told
    assert fits.critical_power(SimpleNamespace()) is None


def test_a_cost_within_rounding_is_zero():
    X, _ = make_blobs(300, centers=[[0, 0], [90, 0], [0, 90]], random_state=0)
    model = KernelPowerKMeans(3, random_state=0).fit(X)
    model.inertia_ = 1e-13  # as rounding may give it, for lack of an edge between clusters
    assert (fits.cost(model), fits.critical_power(model)) == (0, 0)
    model = KernelPowerKMeans(3, kernel="linear", random_state=0).fit(X)
    assert fits.cost(model) == model.inertia_ > 1


def test_agreement_counts_the_classes_of_a_cluster():
    labels = np.array([0, 0, 0, 1, 1, 3])
    classes = ["a", "a", "b", "c", "c", "a"]
    found = measures.agreement(classes, labels, 4)
    assert found["ari"] == pytest.approx(adjusted_rand_score(classes, labels))
    assert found["n_classes"] == 3
    assert found["classes"] == [
        [["a", pytest.approx(2 / 3)], ["b", pytest.approx(1 / 3)]],
        [["c", 1.0]],
        [],
        [["a", 1.0]],
    ]


def test_stability_of_a_search_is_in_the_numbers_of_the_model():
    theirs = np.array([2, 2, 0, 0, 1, 1])
    search = SimpleNamespace(
        results_={"n_clusters": np.array([3]), "jaccard": [np.array([0.7, 0.8, 0.9])]},
        best_index_=0,
        rows_used_=np.array([0, 1, 2, 4, 5, 7]),
        labels_by_candidate_=theirs[None],
        n_rows_=8,
    )
    labels = np.array([0, 0, 1, 9, 1, 2, 9, 2])
    assert measures.found_again(search, labels, 3) == [0.9, 0.7, 0.8]
    # Scores are those of the clusters that have rows: of these cluster 1 is empty, or noise.
    for missing in (3, -1):
        search.labels_by_candidate_ = np.where(theirs == 1, missing, theirs)[None]
        search.results_["jaccard"] = [np.array([0.7, 0.8, 0.9][: 2 + (missing > 0)])]
        found = measures.found_again(search, labels, 3)
        assert found == [0.8, 0.7, 0.9 if missing > 0 else None]
    # Of another number of clusters nothing is known.
    assert measures.found_again(search, labels, 4) == [None] * 4
