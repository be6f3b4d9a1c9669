"""Agreement of clusterings: worked values from R, loops over pairs, and what must not change it."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from kernelmeans.metrics import jaccard_stability, prediction_strength, stability

A = [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 3, 3, 4, 1, 0, 2, 2, 3, 3]
B = [1, 1, 1, 2, 2, 2, 2, 2, 0, 0, 3, 3, 3, 3, 2, 1, 0, 2, 3, 0]
#: B as a clustering that has not seen every third row.
SEEN = [-1 if row % 3 == 2 else label for row, label in enumerate(B)]


@st.composite
def pairs_of_clusterings(draw):
    n_rows = draw(st.integers(2, 30))
    labels = st.lists(st.integers(0, 5), min_size=n_rows, max_size=n_rows)
    return np.array(draw(labels)), np.array(draw(labels))


def together(labels):
    return np.array([a == b for a, b in combinations(labels, 2)])


def strength_by_pairs(labels, predicted):
    lowest = 1.0
    for cluster in np.unique(labels):
        kept = together(predicted[labels == cluster])
        lowest = min(lowest, kept.mean() if len(kept) else 1.0)
    return lowest


def jaccard_by_sets(labels, other):
    def rows(values, cluster):
        return set(np.flatnonzero((values == cluster) & (other >= 0)))

    found = []
    for cluster in np.unique(labels):
        a = rows(labels, cluster)
        alike = [len(a & b) / len(a | b) for b in (rows(other, m) for m in set(other) - {-1})]
        found.append(max(alike, default=0.0) if a else np.nan)
    return found


def test_stability_is_that_of_cstab():
    # R: a <- instab_simple(table(A), table(B)) of cstab; 1 - mean(equal(A) != equal(B)) / a
    # and mclust::adjustedRandIndex(A, B)
    assert stability(A, B) == pytest.approx(0.441833137485312, rel=1e-14)
    assert stability(A, B, corrected=False) == pytest.approx(0.815789473684211, rel=1e-14)


def test_prediction_strength_of_each_cluster_is_that_of_fpc():
    # R: the lines on ps in fpc::prediction.strength (2.2-10), with xtable(A, B)
    expected = [0.6, 1.0, 0.3, 0.5, 1.0]
    a, b = np.array(A), np.array(B)
    found = [prediction_strength(a[a == cluster], b[a == cluster]) for cluster in range(5)]
    assert_allclose(found, expected, rtol=1e-14)
    assert prediction_strength(A, B) == pytest.approx(0.3, rel=1e-14)
    # R: the same, with xtable(B, A): 0.5, 1, 0.476190476190476, 0.3
    assert prediction_strength(B, A) == pytest.approx(0.3, rel=1e-14)


def test_jaccard_stability_is_that_of_fpc():
    # R: fpc::clujaccard(A == i, B == j, zerobyzero = 0), as in clusterboot; largest over j
    halves = [0, 1] * 10
    worked = {
        "B": (B, [0.8, 0.714285714285714, 0.5, 0.5, 0.2]),
        "halves": (halves, [0.25, 0.25, 0.25, 0.166666666666667, 0.1]),
        "a third unseen": (SEEN, [0.75, 0.75, 0.5, 0.4, 0.25]),
    }
    for name, (other, expected) in worked.items():
        assert_allclose(jaccard_stability(A, [other]), expected, rtol=1e-14, err_msg=name)
    mean = [0.6, 0.571428571428572, 0.416666666666667, 0.355555555555556, 0.183333333333333]
    assert_allclose(jaccard_stability(A, [B, halves, SEEN]), mean, rtol=1e-14)


def test_the_mean_over_halves_is_that_of_a_call_of_fpc():
    # R: x <- iris[seq(1, 150, 7), 1:4]; set.seed(3)
    # fpc::prediction.strength(x, Gmin = 3, Gmax = 3, M = 2)$predcorr[[3]]
    # The clusters of each half and those predicted for it, as a trace of its xtable shows them.
    halves = [
        [("12111232222", "32333111111"), ("22123113323", "22221221121")],
        [("31313233311", "32323233322"), ("23332223133", "13331113333")],
    ]
    found = [[prediction_strength(list(a), list(b)) for a, b in split] for split in halves]
    assert_allclose(np.mean(found, axis=1), [0.833333333333333, 1], rtol=1e-14)


def test_jaccard_stability_is_that_of_a_call_of_fpc():
    # R: clusterboot(x, B = 3, bootmethod = "subset", subtuning = 14, clustermethod = kmeansCBI,
    # k = 3, seed = 1)$subsetresult, with the same x. The clusters of each subset; - is not in it.
    subsets = ["22--222-1111-1--31-13-", "1121-1--33-3-313--333-", "22---222-333331-3--3-3"]
    others = [[-1 if label == "-" else int(label) for label in subset] for subset in subsets]
    labels = list("3333333311112121111111")
    expected = [[0.777777777777778, 1, 0.875], [np.nan, 0.2, 0.5], [1, 0.666666666666667, 1]]
    for column, other in enumerate(others):
        found = jaccard_stability(labels, [other])
        assert_allclose(found, np.array(expected)[:, column], rtol=1e-14)
    # fpc counts 0 for the subset that has no row of the second cluster: 0.233 instead of 0.35.
    mean = [0.884259259259259, 0.35, 0.888888888888889]
    assert_allclose(jaccard_stability(labels, others), mean, rtol=1e-14)


@given(pairs_of_clusterings())
def test_they_equal_loops_over_pairs_and_sets(labels):
    a, b = labels
    first, second = together(a), together(b)
    p, q = first.mean(), second.mean()
    expected = p * (1 - q) + (1 - p) * q
    disagreement = (first != second).mean()
    assert stability(a, b, corrected=False) == pytest.approx(1 - disagreement)
    assert stability(a, b) == pytest.approx(1 - disagreement / expected if expected else 1)
    assert prediction_strength(a, b) == pytest.approx(strength_by_pairs(a, b))
    # Label 0 of b becomes -1: not seen.
    assert_allclose(jaccard_stability(a, [b - 1]), jaccard_by_sets(a, b - 1))


@given(pairs_of_clusterings(), st.randoms(use_true_random=False))
def test_names_of_clusters_and_order_of_rows_do_not_matter(labels, random):
    a, b = labels
    rows = random.sample(range(len(a)), len(a))
    names = np.array(random.sample(["x", "y", "z", "u", "v", "-1"], 6))
    assert stability(names[a][rows], b[rows]) == stability(a, b) == stability(b, a)
    assert prediction_strength(names[a][rows], b[rows]) == prediction_strength(a, b)
    assert prediction_strength(a, names[b]) == prediction_strength(a, b)
    found = jaccard_stability(a[rows], [names[b][rows]])
    assert_allclose(found, jaccard_stability(a, [b]), rtol=1e-15)
    # The order of clusters is that of their sorted names.
    order = np.argsort(names[np.unique(a)])
    assert_allclose(jaccard_stability(names[a], [b]), found[order], rtol=1e-15)


@given(pairs_of_clusterings())
def test_they_are_one_for_equal_clusterings_alone(labels):
    a, b = labels
    equal = np.array_equal(together(a), together(b))
    assert (stability(a, b) == 1) == equal
    assert (stability(a, b, corrected=False) == 1) == equal
    both = prediction_strength(a, b) == 1 and prediction_strength(b, a) == 1
    assert both == equal
    assert (jaccard_stability(a, [b]) == 1).all() == equal


def test_one_cluster():
    one, two = [0, 0, 0, 0], [0, 0, 1, 1]
    assert stability(one, one) == stability(one, one, corrected=False) == 1
    assert stability(one, two) == 0
    assert prediction_strength(two, one) == 1
    assert prediction_strength(one, two) == pytest.approx(1 / 3)
    assert jaccard_stability(one, [two]) == pytest.approx(0.5)


def test_singletons():
    each, two = [0, 1, 2, 3], [0, 0, 1, 1]
    assert stability(each, each) == 1
    assert stability(each, two) == 0
    # As in fpc, a cluster of one row has no pairs and counts as 1.
    assert prediction_strength(each, two) == 1
    assert prediction_strength(two, each) == 0
    assert_allclose(jaccard_stability(each, [two]), 0.5)


def test_random_clusterings_have_a_corrected_stability_near_zero(rng):
    a, b = rng.choice(10, size=(2, 100_000), p=[0.91] + [0.01] * 9)
    assert stability(a, b, corrected=False) > 0.7
    assert abs(stability(a, b)) < 0.01


def test_clusters_not_seen_do_not_count():
    labels = [0, 0, 1, 1, 2, 2]
    others = [[4, 4, 5, 5, -1, -1], [0, 1, 1, 1, -7, -7]]
    assert_allclose(jaccard_stability(labels, others), [0.75, 5 / 6, np.nan])
    assert_allclose(jaccard_stability(labels, [[-1] * 6, labels]), 1)


def test_negative_labels_are_clusters_of_their_own():
    assert stability([-1, -1, 0, 0], [1, 1, 0, 0]) == 1
    assert prediction_strength([-1, -1, 0, 0], [5, 5, -1, 0]) == 0
    assert_allclose(jaccard_stability([-1, -1, 3], [[0, 0, 1]]), 1)


# scikit-learn 1.7 takes so many clusters for the targets of a regression.
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:The number of unique classes:UserWarning")
def test_a_million_rows_and_as_many_clusters(rng):
    a = np.arange(1_000_000)
    b = rng.permutation(a // 2)
    assert stability(a, b) == 0
    assert prediction_strength(a, b) == 1
    assert_allclose(jaccard_stability(a, [b]), 0.5)


NAN = [0.0, np.nan, 1.0]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: stability([0, 1], [0, 1, 1]), "labels_b has 3 labels for 2 rows"),
        (lambda: stability([[0], [1]], [0, 1]), r"labels_a has shape \(2, 1\): give one label"),
        (lambda: stability([], []), r"labels_a has shape \(0,\)"),
        (lambda: stability(NAN, [0, 1, 2]), "labels_a has labels that are NaN: give every row"),
        (lambda: stability(["a", None], [0, 1]), "labels_a has labels that cannot be sorted"),
        (lambda: prediction_strength([0, 1, 2], NAN), "predicted has labels that are NaN"),
        (lambda: prediction_strength(NAN, [0, 1, 2]), "labels has labels that are NaN"),
        (lambda: prediction_strength([0, 1], [0]), "predicted has 1 label for 2 rows"),
        (lambda: jaccard_stability([0, 1], []), "others holds no clustering: give at least one"),
        (lambda: jaccard_stability([0, 1], [0, 1]), r"others\[0\] has shape \(\)"),
        (lambda: jaccard_stability([0, 1], [[0, 1], [1]]), r"others\[1\] has 1 label for 2 rows"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(ValueError, match=message):
        call()
