"""Labels as users give them: numbers or texts, one for each row."""

from typing import Any

import numpy as np

from kernelmeans._given import received
from kernelmeans._text import counted
from kernelmeans._typing import IntArray


def encoded(name: str, labels: Any, n_rows: int | None = None) -> tuple[Any, IntArray]:
    """The distinct labels, and the place of each row's label among them.

    Parameters
    ----------
    name : str
        The parameter, for messages.
    labels : array-like of shape (n_rows,)
        Numbers or texts, on any device.
    n_rows : int, default=None
        How many there should be; any number when None.

    Returns
    -------
    distinct : ndarray of shape (n_clusters,)
        The labels that occur, sorted.
    codes : ndarray of shape (n_rows,)
        Numbers from 0 to n_clusters - 1.

    Raises
    ------
    ValueError
        If labels are missing or of several types, or if there are not as many as rows.

    Examples
    --------
    >>> from kernelmeans._labels import encoded
    >>> encoded("labels", [7, -1, 7])
    (array([-1,  7]), array([1, 0, 1]))
    """
    given = np.asarray(received(labels, name))
    if given.ndim != 1 or not len(given):
        raise ValueError(
            f"{name} has shape {given.shape}: give one label for each row, shape (n_rows,), as "
            "fit_predict returns them."
        )
    if n_rows is not None and len(given) != n_rows:
        raise ValueError(
            f"{name} has {counted(len(given), 'label')} for {counted(n_rows, 'row')}: give one "
            "label for each row, in the same order."
        )
    try:
        distinct, codes = np.unique(given, return_inverse=True)
        missing = bool((distinct != distinct).any())
    except TypeError as error:
        raise ValueError(
            f"{name} has labels that cannot be sorted, for example None, or texts beside numbers: "
            "give numbers for all rows, or texts for all rows."
        ) from error
    if missing:
        raise ValueError(
            f"{name} has labels that are NaN: give every row a label, or leave out these rows in "
            "all arrays."
        )
    return distinct, codes
