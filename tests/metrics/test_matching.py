"""Which clusters of one clustering are those of another."""

import numpy as np
import pytest

from kernelmeans.metrics import match_clusters


def labels(table):
    """Labels of two clusterings, from the number of rows in each pair of clusters."""
    pairs = [
        (new, old) for new, row in enumerate(table) for old, n in enumerate(row) for _ in range(n)
    ]
    return np.array(pairs).T


@pytest.mark.parametrize(
    ("table", "matches"),
    [
        ([[5, 0], [0, 5]], {0: 0, 1: 1}),
        ([[0, 5], [5, 0]], {0: 1, 1: 0}),
        # A cluster that falls into two: the larger part is it.
        ([[6, 0], [3, 0], [0, 9]], {0: 0, 2: 1}),
        # Two clusters that become one.
        ([[6, 3, 0], [0, 0, 9]], {0: 0, 1: 2}),
        # Cluster 1 is matched with what is left over, which is best for neither.
        ([[9, 5], [5, 1]], {0: 0}),
        # More than half of cluster 1 is another cluster.
        ([[60, 0], [50, 49]], {0: 0}),
        ([[60, 0], [48, 49]], {0: 0, 1: 1}),
        ([[4, 4], [4, 4]], {0: 0, 1: 1}),
    ],
)
def test_matches(table, matches):
    assert match_clusters(*labels(table)) == matches


def test_names_may_be_texts():
    assert match_clusters(["x", "x", "y"], [7, 7, -3]) == {"x": 7, "y": -3}
    texts = np.array(["x", "x", "y"], dtype=object)
    assert match_clusters(texts, [7, 7, -3]) == {"x": 7, "y": -3}
    assert match_clusters([7, 7, -3], texts) == {7: "x", -3: "y"}


def test_as_many_labels_of_both():
    with pytest.raises(ValueError, match="reference has 2 labels for 3 rows"):
        match_clusters([0, 1, 1], [0, 1])
