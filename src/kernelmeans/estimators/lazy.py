"""Input that is not in memory: rows on disk, and Dask collections."""

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.utils.validation import validate_data

from kernelmeans._devices import Device, device_of
from kernelmeans._sklearn import _check_n_features
from kernelmeans._typing import Data
from kernelmeans.engines.cluster import packed, unpacked, upright
from kernelmeans.rows import DaskRows, Rows

#: Attributes that labels of new rows depend on, beside parameters.
_NEEDED = {"n_features_in_", "kernel_", "_input", "_predictor"}


def check_rows(estimator: Any, rows: Rows, reset: bool) -> Rows:
    """Check number and names of the columns, as for arrays and tables.

    Raises
    ------
    ValueError
        If they are not those of the fit.
    """
    if reset or rows.names is None:
        validate_data(estimator, rows, skip_check_array=True, reset=reset)
    else:
        # Rows have no table's `columns`, and scikit-learn would say that names are missing.
        _check_n_features(estimator, rows, reset=False)
    if rows.names is None:
        return rows.finite()
    if reset:
        estimator.feature_names_in_ = np.array(rows.names, dtype=object)
    elif list(getattr(estimator, "feature_names_in_", rows.names)) != rows.names:
        raise ValueError(
            f"X has the columns {rows.names[:10]}, the fit had "
            f"{list(estimator.feature_names_in_[:10])}; give the same in the same order."
        )
    return rows.finite()


def refuse_dask(X: Data, what: str, remedy: str) -> None:
    """Refuse collections of Dask for what needs all rows at once.

    Parameters
    ----------
    X : {ndarray, CSR matrix, Rows}
        Training rows.
    what : str
        The thing that needs them, for the message.
    remedy : str
        The way out, for the message.

    Raises
    ------
    ValueError
        If X is one.
    """
    if isinstance(X, DaskRows):
        raise ValueError(f"X: {what} cannot be had of Dask collections; {remedy}.")


def refuse_elsewhere(X: Data, device: Device) -> None:
    """Refuse what a device that is not the host cannot compute with.

    Raises
    ------
    ValueError
        If X is sparse or a Dask collection.
    """
    where = f"device={str(device.anchor.device)!r}"
    if isinstance(X, DaskRows):
        raise ValueError(
            f"{where}: Dask collections are worked on by their workers, with NumPy; set "
            "device=None, or pass rows on disk (kernelmeans.rows.open_rows)."
        )
    if scipy.sparse.issparse(X):
        raise ValueError(
            f"{where}: X is sparse, and sparse rows stay on the host; set device=None, or pass "
            "dense rows (X.toarray())."
        )


def by_blocks(
    estimator: Any, method: Callable[..., Any], rows: Rows, dtype: Any, width: int | None = None
) -> Any:
    """A method of an estimator for all rows, block by block.

    Parameters
    ----------
    estimator : estimator
        Fitted.
    method : callable
        Called with a copy of the estimator that holds little, and an array of rows.
    rows : Rows
        The rows.
    dtype : dtype
        Of the method's results.
    width : int, default=None
        Columns of the results; None if they have one dimension.

    Returns
    -------
    ndarray or dask array of shape (n_rows,) or (n_rows, width)
        A dask array, not yet computed, for Dask collections.
    """
    # Workers get no more than they need: they may not even know the callbacks.
    light = copy.copy(estimator)
    for name in vars(estimator).keys() - _NEEDED - set(estimator.get_params(deep=False)) | {"init"}:
        delattr(light, name)
    if not isinstance(rows, DaskRows):
        # Once, and not for each block.
        light._predictor = light._predictor.on(device_of(light.device, None))
        return np.concatenate([method(light, rows[block]) for block in rows.blocks()])
    # Dask works on several blocks at a time already.
    light._predictor = copy.copy(light._predictor)
    light._predictor.workers = 1
    meta = np.empty((0,) if width is None else (0, 0), dtype)
    shape = {"drop_axis": 1} if width is None else {"chunks": (rows.array.chunks[0], (width,))}
    return rows.array.map_blocks(_OnBlock(method, light), dtype=dtype, meta=meta, **shape)


class _OnBlock:
    """A method and its estimator, for blocks that may be empty."""

    def __init__(self, method: Callable[..., Any], estimator: Any) -> None:
        self.packed = packed(method, estimator)
        # What Dask calls the tasks, in its displays.
        self.__name__ = method.__name__.strip("_")

    def __call__(self, block: Any) -> Any:
        method, estimator = unpacked(self.packed)
        if len(block):
            return method(estimator, upright(block))
        return method(estimator, np.ones((1, block.shape[1]), block.dtype))[:0]
