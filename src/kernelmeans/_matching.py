"""Which clusters of one clustering are those of another, and what has become of the others."""

from collections.abc import Iterable
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linear_sum_assignment

from kernelmeans._given import received
from kernelmeans._labels import encoded
from kernelmeans._numbers import percent
from kernelmeans._sklearn import _check_sample_weight
from kernelmeans._text import counted


class ClusterChange(NamedTuple):
    """What has become of a cluster since an earlier clustering; ``str`` of it is a sentence.

    Parameters
    ----------
    cluster : int, str or None
        The cluster. None if the earlier one is gone.
    before : int, str or None
        The earlier cluster. None if the cluster is new.
    kind : {"kept", "split", "merged", "new", "gone"}
        ``"kept"`` is a cluster that `match_clusters` finds again. Of the others, ``"split"`` has
        more than half of its rows from one earlier cluster, and ``"new"`` has not. Of earlier
        clusters that are not found again, ``"merged"`` has more than half of its rows in one
        cluster, and ``"gone"`` has not.
    size, size_before, size_shared : int or float
        Rows of the cluster, of the earlier one, and of both; sums of sample weights if there are
        any. 0 for a cluster that is None.
    """

    cluster: Any
    before: Any
    kind: Literal["kept", "split", "merged", "new", "gone"]
    size: float
    size_before: float
    size_shared: float

    def __str__(self) -> str:
        now, before = f"cluster {self.cluster}", f"the earlier cluster {self.before}"
        is_same = self.cluster == self.before
        text = {
            "kept": f"{now} is kept" if is_same else f"{before} is {now} now",
            "split": f"{now} is split off {before}",
            "merged": f"{before} is merged into {'the new ' * is_same}{now}",
            "new": f"{now} is new",
            "gone": f"{before} is gone",
        }[self.kind]
        if not self.size_shared:
            return text
        size = self.size_before
        rows = counted(size, "row") if isinstance(size, int) else "rows"  # no sum of weights
        return f"{text}, with {percent(self.size_shared / size)} of its {rows}"


def match_clusters(
    labels: ArrayLike, reference: ArrayLike, sample_weight: ArrayLike | None = None
) -> dict[Any, Any]:
    """Find the clusters of an earlier clustering that are still there.

    Clusters are matched in pairs, so that the most rows are in both clusters of a pair. A pair
    counts if neither of the two has more rows in common with another cluster. Clusters of which
    more than half is common to both are always found.

    Parameters
    ----------
    labels : array-like of shape (n_rows,)
        Clusters of the rows. The number -1 stands for no cluster, as in DBSCAN.
    reference : array-like of shape (n_rows,)
        Earlier clusters of the same rows, for example predicted by an earlier model; -1 for none.
    sample_weight : array-like of shape (n_rows,), default=None
        How much each row counts; all alike when None.

    Returns
    -------
    matches : dict
        For each label that is found again, that of the reference.

    Raises
    ------
    ValueError
        If labels are missing, or if the numbers of labels differ.

    See Also
    --------
    cluster_changes : What has become of the other clusters, too.
    kernelmeans.KernelPowerKMeans.renumber : Give clusters these numbers.

    Examples
    --------
    >>> from kernelmeans.metrics import match_clusters
    >>> match_clusters([0, 0, 0, 1, 1, 2], ["b", "b", "b", "a", "a", "a"])
    {0: 'b', 1: 'a'}
    """
    overlap = _Overlap.of(labels, reference, sample_weight)
    return {overlap.now[i]: overlap.before[j] for i, j in overlap.matches().items()}


def cluster_changes(
    labels: ArrayLike,
    reference: ArrayLike,
    sample_weight: ArrayLike | None = None,
    *,
    reference_clusters: Iterable[Any] = (),
) -> list[ClusterChange]:
    r"""Say which earlier clusters are kept, split, merged or gone, and which clusters are new.

    Parameters
    ----------
    labels, reference : array-like of shape (n_rows,)
        Clusters and earlier clusters of the rows, as in `match_clusters`.
    sample_weight : array-like of shape (n_rows,), default=None
        How much each row counts; all alike when None.
    reference_clusters : iterable, default=()
        Earlier clusters of which no row may be left. They are gone.

    Returns
    -------
    list of ClusterChange
        Each cluster once, each followed by earlier ones that are merged into it. The earlier ones
        that are gone are the last.

    Raises
    ------
    ValueError
        If labels are missing, or if the numbers of labels differ.

    Examples
    --------
    >>> from kernelmeans.metrics import cluster_changes
    >>> earlier = [0, 0, 0, 1, 1, 1, 1, 2, 3, 3]
    >>> print(*cluster_changes([0, 0, 0, 1, 1, 1, 4, 0, -1, -1], earlier), sep="\n")
    cluster 0 is kept, with 100 % of its 3 rows
    the earlier cluster 2 is merged into cluster 0, with 100 % of its 1 row
    cluster 1 is kept, with 75 % of its 4 rows
    cluster 4 is split off the earlier cluster 1, with 25 % of its 4 rows
    the earlier cluster 3 is gone
    """
    overlap = _Overlap.of(labels, reference, sample_weight)
    matches = overlap.matches()
    pairs: list[tuple[int | None, int | None, Any]] = [(i, j, "kept") for i, j in matches.items()]
    for i in set(range(len(overlap.now))) - matches.keys():
        source = np.flatnonzero(2 * overlap.both[i] > overlap.size[i])
        pairs.append((i, int(source[0]), "split") if len(source) else (i, None, "new"))
    for j in set(range(len(overlap.before))) - set(matches.values()):
        goal = np.flatnonzero(2 * overlap.both[:, j] > overlap.size_before[j])
        pairs.append((int(goal[0]), j, "merged") if len(goal) else (None, j, "gone"))
    pairs.sort(key=lambda pair: (pair[0] is None, pair[0], pair[2] == "merged", pair[1]))
    rowless = [name for name in reference_clusters if name not in overlap.before]
    return [
        *(overlap.change(*pair) for pair in pairs),
        *(ClusterChange(None, name, "gone", 0, 0, 0) for name in rowless),
    ]


class _Overlap(NamedTuple):
    """How many rows two clusterings have in common.

    Attributes
    ----------
    now, before : list
        Labels of the clusters, and of the earlier ones.
    both : ndarray of shape (n_clusters, n_clusters_before)
        Weight of the rows in each pair of clusters.
    size, size_before : ndarray
        Weight of all rows of each cluster, those without an earlier one too, and the reverse.
    """

    now: list[Any]
    before: list[Any]
    both: NDArray[Any]
    size: NDArray[Any]
    size_before: NDArray[Any]

    @classmethod
    def of(cls, labels: Any, reference: Any, sample_weight: Any) -> "_Overlap":
        names, now = encoded("labels", labels)
        names_before, before = encoded("reference", reference, len(now))
        shape = len(names), len(names_before)
        if (weight := received(sample_weight, "sample_weight")) is not None:
            weight = _check_sample_weight(weight, now[:, None], ensure_non_negative=True)
        cells = np.bincount(now * shape[1] + before, weight, shape[0] * shape[1]).reshape(shape)
        # Texts in an array of objects have no `item`.
        names, names_before = names.tolist(), names_before.tolist()
        placed, placed_before = ([name != -1 for name in some] for some in (names, names_before))
        return cls(
            [name for name in names if name != -1],
            [name for name in names_before if name != -1],
            cells[placed][:, placed_before],
            cells.sum(axis=1)[placed],
            cells.sum(axis=0)[placed_before],
        )

    def matches(self) -> dict[int, int]:
        """The places of the clusters that are found again, and those of the earlier ones."""
        both = self.both
        pairs = np.transpose(linear_sum_assignment(both, maximize=True)).tolist()
        return {i: j for i, j in pairs if 0 < both[i, j] == both[i].max() == both[:, j].max()}

    def change(self, i: int | None, j: int | None, kind: Any) -> ClusterChange:
        """The record of a cluster and an earlier one, by their places."""
        now, size = (None, 0) if i is None else (self.now[i], self.size[i].item())
        before, size_before = (
            (None, 0) if j is None else (self.before[j], self.size_before[j].item())
        )
        shared = 0 if i is None or j is None else self.both[i, j].item()
        return ClusterChange(now, before, kind, size, size_before, shared)
