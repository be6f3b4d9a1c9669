"""The ``kernels`` parameter: kernels, and the columns of X that each of them sees."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from kernelmeans._sklearn import _get_column_indices, validate_parameter_constraints
from kernelmeans._typing import Array, Columns, Data, IntArray
from kernelmeans.estimators.checks import FAMILIES, OF_KERNEL
from kernelmeans.heat import DiffusionKernel
from kernelmeans.kernels import OF_FEATURES, Kernel, resolve_kernel
from kernelmeans.rows import Rows

#: What families take beside the rows.
FAMILY_PARAMETERS: Mapping[str, tuple[str, ...]] = {"neighbors": ("metric",)}


class View(NamedTuple):
    """One item of ``kernels``, checked, its columns found.

    Attributes
    ----------
    name : str
        What messages call it.
    spec : dict
        The kernel, or a family of them, and its parameters, as `resolve_kernel` takes them.
    columns : slice or ndarray
        The columns of X that it sees.
    """

    name: str
    spec: Mapping[str, Any]
    columns: Columns

    def kernels(self, X: Data, sample_weight: Array, random_state: int) -> list[Kernel]:
        """Settle the parameters from the training rows, of which X has this view's columns."""
        name = self.spec["kernel"]
        try:
            if isinstance(name, str) and name in FAMILIES:
                given = {key: value for key, value in self.spec.items() if key != "kernel"}
                found = FAMILIES[name](X, sample_weight=sample_weight, **given)
            else:
                drawn = {"random_state": random_state, "sample_weight": sample_weight}
                found = [resolve_kernel(**{**self.spec, "X": X, **drawn})]
        except ValueError as error:
            raise ValueError(f"{self.name}: {error}") from error
        for own in found:
            if isinstance(own, DiffusionKernel):
                own.called = f"{self.name}, {own.called}"
        return found


def find_views(kernels: str | Sequence[Any], X: Any) -> list[View]:
    """Read the ``kernels`` parameter, and find its columns.

    Parameters
    ----------
    kernels : str or sequence
        A family, or items as `MultiKernelPowerKMeans` takes them.
    X : {array, CSR matrix, dataframe, Rows} of shape (n_samples, n_features)
        What the user gave: only dataframes, and some rows on disk, have names of columns.

    Returns
    -------
    list of View
        In the order of the items.

    Raises
    ------
    ValueError
        If there is no item, an item is no kernel, has unknown parameters, or no columns.
    """
    if isinstance(kernels, str):
        return [View(f"kernels={kernels!r}", {"kernel": kernels}, slice(None))]
    if not len(kernels):
        raise ValueError("kernels=[] names no kernel; give at least one, or kernels='neighbors'.")
    return [_view(f"kernels[{i}]", item, X) for i, item in enumerate(kernels)]


def _view(name: str, item: Any, X: Any) -> View:
    columns: Columns = slice(None)
    if isinstance(item, tuple | list):
        if len(item) != 2:
            raise ValueError(f"{name}={item!r} must be a kernel or a pair (kernel, columns).")
        item, key = item
        columns = _columns(name, key, X)
    return View(name, _spec(name, item), columns)


def _spec(name: str, item: Any) -> Mapping[str, Any]:
    spec = dict(item) if isinstance(item, Mapping) else {"kernel": item}
    unknown = sorted(set(spec) - set(OF_KERNEL))
    if unknown or "kernel" not in spec:
        wrong = f"has unknown keys {unknown}" if unknown else "has no key 'kernel'"
        raise ValueError(f"{name}={item!r} {wrong}; the keys are {', '.join(OF_KERNEL)}.")
    kernel = spec["kernel"]
    allowed = [*OF_FEATURES, *FAMILIES]
    named = isinstance(kernel, str)
    if not callable(kernel) and not (named and kernel in allowed):
        given = f"an array of shape {kernel.shape}" if hasattr(kernel, "shape") else repr(kernel)
        hint = ""
        if named and kernel == "graph":
            raise ValueError(
                f"{name}: kernel='graph' is for X as a whole, not for some of its columns; use "
                "kernel='heat', or an estimator of one kernel."
            )
        if not named or kernel == "precomputed":
            hint = " For kernel matrices pass kernels='precomputed' and X of shape (L, n, n)."
        raise ValueError(
            f"{name}: {given} is no kernel; give a callable of two matrices or one of "
            f"{', '.join(sorted(allowed))}.{hint}"
        )
    parameters = {key: value for key, value in spec.items() if key != "kernel"}
    if named and kernel in FAMILIES:
        takes = FAMILY_PARAMETERS.get(kernel, ())
        if set(parameters) - set(takes):
            described = f"only {', '.join(takes)}" if takes else "no parameters"
            raise ValueError(f"{name}={item!r}: the family {kernel!r} takes {described}.")
    validate_parameter_constraints(
        {key: OF_KERNEL[key] for key in parameters}, parameters, caller_name=name
    )
    if spec.get("metric") == "precomputed":
        raise ValueError(
            f"{name}: metric='precomputed' is for X as a whole, not for some of its columns; use "
            "'euclidean' or 'cosine', or an estimator of one kernel."
        )
    return spec


def _columns(name: str, key: Any, X: Any) -> Columns:
    """Columns as ColumnTransformer finds them; a slice where they lie side by side."""
    try:
        if isinstance(X, Rows):
            key = _without_names(key, X.names or [])
            X = np.empty((1, X.shape[1]))
        key = key(X) if callable(key) else key
        if isinstance(key, slice) and not isinstance(key.start or key.stop, str):
            found = list(range(*key.indices(X.shape[1])))
        else:
            found = _get_column_indices(X, key)
        indices = np.asarray(found, dtype=np.intp)
    except (ValueError, IndexError, TypeError) as error:
        raise ValueError(f"{name}: the columns {key!r} are not in X: {error}") from error
    if not indices.size:
        raise ValueError(
            f"{name}: the columns {key!r} select no column of X; leave the item out, or select "
            "at least one."
        )
    return _contiguous(indices)


def _without_names(key: Any, names: list[str]) -> Any:
    """The columns with their places instead of names, as of a table; both ends of a slice count."""

    def place(name: Any) -> Any:
        if isinstance(name, str) and name not in names:
            raise ValueError(f"there is no column {name!r}, only {names[:10] or 'numbers'}.")
        return names.index(name) if isinstance(name, str) else name

    if isinstance(key, slice):
        stop = place(key.stop) + isinstance(key.stop, str) if key.stop is not None else None
        return slice(place(key.start), stop, key.step)
    if isinstance(key, str):
        return place(key)
    return [place(name) for name in key] if isinstance(key, list | tuple) else key


def _contiguous(indices: IntArray) -> Columns:
    """The same columns, as a slice where they lie side by side: it copies nothing."""
    first, last = int(indices[0]), int(indices[-1])
    alongside = np.array_equal(indices, np.arange(first, last + 1))
    return slice(first, last + 1) if alongside else indices


def used_columns(views: Sequence[View], n_features: int) -> IntArray:
    """Indices of the columns that any view sees."""
    everything = np.arange(n_features)
    return np.unique(np.concatenate([everything[view.columns] for view in views]))
