"""Which clusters of one clustering are those of another."""

import numpy as np
import pytest

from kernelmeans.metrics import cluster_changes, match_clusters


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


def test_no_cluster_is_none():
    """The number -1 stands for rows without a cluster, in both labellings."""
    assert match_clusters([0, 0, -1, -1], [-1, 5, -1, -1]) == {0: 5}
    assert match_clusters([-1, -1], [3, 3]) == match_clusters([3, 3], [-1, -1]) == {}
    assert match_clusters(["-1", "a"], [0, 1]) == {"-1": 0, "a": 1}


def test_a_weight_counts_as_so_many_rows():
    new, old = labels([[6, 0], [3, 0], [0, 9]])
    weight = np.where(new == 1, 3, 1)
    assert match_clusters(new, old) == {0: 0, 2: 1}
    assert match_clusters(new, old, weight) == {1: 0, 2: 1}
    rows = np.repeat(np.arange(len(new)), weight)
    assert cluster_changes(new, old, weight) == cluster_changes(new[rows], old[rows])
    with pytest.raises(ValueError, match="Negative values in data passed to `sample_weight`"):
        cluster_changes(new, old, -weight)


@pytest.mark.parametrize(
    ("table", "changes"),
    [
        ([[6, 0], [3, 0], [0, 9]], ["kept 0 0", "split 1 0", "kept 2 1"]),
        ([[6, 3, 0], [0, 0, 9]], ["kept 0 0", "merged 0 1", "kept 1 2"]),
        # Half of cluster 1 is not most of it.
        ([[9, 0, 0], [3, 3, 0], [0, 9, 0]], ["kept 0 0", "new 1 None", "kept 2 1"]),
        ([[9, 0, 4], [0, 9, 4]], ["kept 0 0", "kept 1 1", "gone None 2"]),
        # More of cluster 1 was 0, but most of 1 is in it.
        ([[60, 0], [50, 49]], ["kept 0 0", "split 1 0", "merged 1 1"]),
    ],
)
def test_changes(table, changes):
    found = cluster_changes(*labels(table))
    assert [f"{one.kind} {one.cluster} {one.before}" for one in found] == changes


@pytest.mark.parametrize("seed", range(20))
def test_changes_count_rows_and_name_every_cluster_once(seed):
    rng = np.random.default_rng(seed)
    old = rng.integers(-1, 5, 60)
    new = np.where(rng.random(60) < 0.6, old // 2, rng.integers(-1, 5, 60))
    found = cluster_changes(new, old)
    matches = match_clusters(new, old)
    for names, place, own in ((new, 0, {"split", "new"}), (old, 1, {"merged", "gone"})):
        once = [one[place] for one in found if one.kind in own | {"kept"}]
        assert sorted(once) == sorted(set(names.tolist()) - {-1})
    for one in found:
        now, before = new == one.cluster, old == one.before
        shared = np.sum(now & before)
        assert (one.size, one.size_before, one.size_shared) == (now.sum(), before.sum(), shared)
        assert (one.kind == "kept") == (matches.get(one.cluster, -1) == one.before)
        most = {"split": now.sum(), "merged": before.sum()}
        assert one.kind not in most or 2 * shared > most[one.kind]
        if one.kind in ("new", "gone"):
            rows, others = (now, old) if one.kind == "new" else (before, new)
            counts = np.bincount(others[rows & (others >= 0)], minlength=1)
            assert 2 * counts.max() <= rows.sum()


def test_another_cluster_of_the_same_number_is_told_apart():
    found = cluster_changes(*labels([[60, 0], [50, 49]]))
    assert str(found[-1]) == (
        "the earlier cluster 1 is merged into the new cluster 1, with 100 % of its 49 rows"
    )


@pytest.mark.parametrize(
    ("weight", "whose"), [(None, ["its 2 rows", "its 1 row"]), ([1, 2, 0.5], ["its rows"] * 2)]
)
def test_earlier_clusters_without_rows_are_gone(weight, whose):
    found = cluster_changes([0, 0, 1], [1, 1, 2], weight, reference_clusters=range(4))
    assert [str(one) for one in found] == [
        f"the earlier cluster 1 is cluster 0 now, with 100 % of {whose[0]}",
        f"the earlier cluster 2 is cluster 1 now, with 100 % of {whose[1]}",
        "the earlier cluster 0 is gone",
        "the earlier cluster 3 is gone",
    ]
