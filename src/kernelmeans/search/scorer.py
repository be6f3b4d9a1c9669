"""A score for `sklearn.model_selection.GridSearchCV`."""

from typing import Any

from sklearn.base import clone

from kernelmeans._fitted import is_pairwise, is_stacked
from kernelmeans.metrics import stability
from kernelmeans.search.candidates import labels_of


def stability_scorer(estimator: Any, X: Any, y: Any = None) -> float:
    """Score a fitted estimator by how far a fit to other rows agrees with it.

    It is a ``scoring`` of `GridSearchCV` and the like. The score that they take otherwise, minus
    the cost, cannot compare kernels or numbers of clusters. A clone is fitted to the held-out rows,
    and its labels of these are compared with those that the estimator predicts for them. Halves
    are best: ``cv=ShuffleSplit(20, test_size=0.5)``.

    It compares stability alone. `kernelmeans.ClusterSearch` also knows that one cluster may be
    right, that the most stable number of clusters is often too small, and which kernel keeps
    neighbours together.

    Parameters
    ----------
    estimator : estimator
        Has been fitted to other rows.
    X : {array-like, CSR matrix} of shape (n_rows, n_features)
        Held-out rows of features.
    y : Ignored
        Not used, present for API consistency by convention.

    Returns
    -------
    stability : float
        As `kernelmeans.metrics.stability`; 1 for estimators of one cluster.

    Raises
    ------
    ValueError
        If X is a matrix between held-out rows and others, as for precomputed kernels.

    Examples
    --------
    >>> from kernelmeans import KernelPowerKMeans
    >>> from kernelmeans.search import stability_scorer
    >>> from sklearn.datasets import make_blobs
    >>> from sklearn.model_selection import GridSearchCV, ShuffleSplit
    >>> X, _ = make_blobs(150, centers=[[0, 0], [5, 0], [0, 5]], random_state=0)
    >>> halves = ShuffleSplit(5, test_size=0.5, random_state=0)
    >>> grid = {"n_clusters": [2, 3, 4]}
    >>> model = KernelPowerKMeans(random_state=0)
    >>> GridSearchCV(model, grid, scoring=stability_scorer, cv=halves).fit(X).best_params_
    {'n_clusters': 3}
    """
    if is_pairwise(estimator) or is_stacked(estimator):
        raise ValueError(
            "stability_scorer needs rows of features, because a second model is fitted to the "
            "held-out rows; of a precomputed kernel or a graph it has only their columns of other "
            "rows. Use kernelmeans.ClusterSearch."
        )
    other = clone(estimator).fit(X)
    return stability(labels_of(other, X), estimator.predict(X))
