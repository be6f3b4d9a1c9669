"""Which clusters of one clustering are those of another."""

from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.metrics.cluster import contingency_matrix

from kernelmeans.metrics.labels import encoded


def match_clusters(labels: Any, reference: Any) -> dict[Any, Any]:
    """Find the clusters of an earlier clustering that are still there.

    Clusters are matched in pairs, so that the most rows are in both clusters of a pair. A pair
    counts if neither of the two has more rows in common with another cluster. Clusters of which
    more than half is common to both are always found.

    Parameters
    ----------
    labels : array-like of shape (n_rows,)
        Clusters of the rows.
    reference : array-like of shape (n_rows,)
        Earlier clusters of the same rows, for example predicted by an earlier model.

    Returns
    -------
    matches : dict
        For each label that is found again, that of the reference.

    Raises
    ------
    ValueError
        If labels are missing, or if there are not as many of one as of the other.

    See Also
    --------
    kernelmeans.KernelPowerKMeans.renumber : Give clusters these numbers.

    Examples
    --------
    >>> from kernelmeans.metrics import match_clusters
    >>> match_clusters([0, 0, 0, 1, 1, 2], ["b", "b", "b", "a", "a", "a"])
    {0: 'b', 1: 'a'}
    """
    new_names, new = encoded("labels", labels)
    old_names, old = encoded("reference", reference, len(new))
    both = contingency_matrix(new, old)
    pairs = np.column_stack(linear_sum_assignment(both, maximize=True))
    # Texts in an array of objects have no `item`.
    new_names, old_names = new_names.tolist(), old_names.tolist()
    return {
        new_names[row]: old_names[column]
        for row, column in pairs
        if 0 < both[row, column] == both[row].max() == both[:, column].max()
    }
