"""What the parameter ``kernels`` says: kernels of all columns or of some, and their names."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from kernelmeans._dialect import option
from kernelmeans._estimator import check_parameters
from kernelmeans._sklearn import _get_column_indices
from kernelmeans._text import counted, listed, suggestion
from kernelmeans._typing import Array, Columns, Data
from kernelmeans.estimators.checks import FAMILIES, OF_KERNEL, named_errors
from kernelmeans.estimators.kernels import resolve_kernel
from kernelmeans.heat import DiffusionKernel
from kernelmeans.kernels import OF_FEATURES, Kernel
from kernelmeans.rows import Rows

#: Parameters of the families.
FAMILY_PARAMETERS: Mapping[str, tuple[str, ...]] = {"neighbors": ("metric",)}


class View(NamedTuple):
    """One item of ``kernels``: a kernel, or a family of kernels, of some columns.

    Attributes
    ----------
    name : str
        Its name in messages, as in Python.
    spec : mapping
        The kernel or family and its parameters, as `resolve_kernel` takes them.
    columns : slice or ndarray
        The columns of X.
    title : str
        The name that the user gave it, or nothing.
    """

    name: str
    spec: Mapping[str, Any]
    columns: Columns
    title: str = ""

    def kernels(self, X: Data, sample_weight: Array, random_state: int) -> list[Kernel]:
        """Settle the parameters from the training rows; X has the columns of this view alone."""
        parameters: dict[str, Any] = {**self.spec, "sample_weight": sample_weight}
        name = parameters.pop("kernel")
        with named_errors([option(self.name)]):
            if isinstance(name, str) and name in FAMILIES:
                found = FAMILIES[name](X, **parameters)
            else:
                found = [resolve_kernel(name, X, random_state=random_state, **parameters)]
        for kernel in found:
            if isinstance(kernel, DiffusionKernel):
                kernel.item = self.name
        return found


def find_views(kernels: str | Sequence[Any], X: Any) -> list[View]:
    """Read the ``kernels`` parameter.

    Parameters
    ----------
    kernels : str or sequence
        The name of a family, or a list as `MultiKernelPowerKMeans` takes it.
    X : {array, CSR matrix, dataframe, Rows} of shape (n_samples, n_features)
        The training rows. Only dataframes, and some rows on disk, have names of columns.

    Returns
    -------
    list of View
        The views, in the order of the items.

    Raises
    ------
    ValueError
        If there is no item, or if an item is not a kernel, has unknown parameters or no columns, or
        if two have the same name.
    """
    if isinstance(kernels, str):
        return [View(f"kernels={kernels!r}", {"kernel": kernels}, slice(None))]
    if not len(kernels):
        raise ValueError("kernels=[] names no kernel; give at least one, or kernels='neighbors'.")
    views = []
    for index, item in enumerate(kernels):
        name, title = item_name(index), ""
        key: Any = slice(None)
        if isinstance(item, tuple | list):
            if len(item) not in (2, 3):
                raise ValueError(
                    f"{option(name, item)} must be a kernel, a pair (kernel, columns) or a triple "
                    "(name, kernel, columns)."
                )
            *titles, item, key = item
            if titles:
                title = _title(name, *titles)
                name = item_name(index, title)
        # Columns have one axis: a matrix in their place is meant as a kernel.
        spec = _spec(name, key if getattr(key, "ndim", 1) > 1 else item)
        views.append(View(name, spec, _find_columns(name, key, X), title))
    return views


def item_name(index: int, title: str = "") -> str:
    """An item of ``kernels`` in messages."""
    return f"kernels[{index}]" + f" ({title!r})" * bool(title)


def _title(name: str, given: Any) -> str:
    """The name that the user gave to a view."""
    if not (isinstance(given, str) and given.strip()):
        raise ValueError(
            f"{option(name)}: the first of three is the name of the view, a text that is not "
            f"empty, got {given!r}; the second is the kernel, the third its columns."
        )
    return given


def kernel_names(views: Sequence[tuple[str, Any]]) -> list[str]:
    """The names of all kernels of some views.

    A view without a name is called after its kernel, with its number if others are called so too.
    The members of a family are numbered.

    Parameters
    ----------
    views : sequence of (str, str or callable)
        The name of each view, which may be empty, and its kernel or family.

    Returns
    -------
    list of str
        A name for each kernel.

    Raises
    ------
    ValueError
        If two kernels would have the same name.

    Examples
    --------
    >>> from kernelmeans.estimators.views import kernel_names
    >>> kernel_names([("sepal", "rbf"), ("", "heat"), ("", "heat"), ("", "neighbors")])
    ['sepal', 'heat 2', 'heat 3', 'neighbors 1', 'neighbors 2']
    """
    called = [
        title or (kernel if isinstance(kernel, str) else Kernel(kernel, {}).name)
        for title, kernel in views
    ]
    repeated = Counter(called)
    names = []
    for number, (name, (title, kernel)) in enumerate(zip(called, views, strict=True), 1):
        one = f"{name} {number}" if repeated[name] > 1 and not title else name
        count = n_members(kernel)
        names += [one] if count is None else [f"{one} {member}" for member in range(1, count + 1)]
    if twice := [name for name, count in Counter(names).items() if count > 1]:
        raise ValueError(
            f"{option('kernels')}: several kernels would be called {listed(twice)}; give every "
            "view a different name."
        )
    return names


def n_members(kernel: Any) -> int | None:
    """Number of kernels of a family, which does not depend on the data; None for a kernel."""
    if not isinstance(kernel, str) or kernel not in FAMILIES:
        return None
    return len(FAMILIES[kernel](np.eye(2)))


def _spec(name: str, item: Any) -> Mapping[str, Any]:
    """A kernel or a family with its parameters, checked; the name is for messages."""
    spec = dict(item) if isinstance(item, Mapping) else {"kernel": item}
    unknown = sorted(set(spec) - set(OF_KERNEL))
    if unknown or "kernel" not in spec:
        wrong = f"has unknown keys {unknown}" if unknown else "has no key 'kernel'"
        meant = "".join(suggestion(key, list(OF_KERNEL)) for key in unknown[:1])
        raise ValueError(
            f"{option(name, item)} {wrong}; the keys are {', '.join(OF_KERNEL)}.{meant}"
        )
    kernel = spec["kernel"]
    allowed = [*OF_FEATURES, *FAMILIES]
    named = isinstance(kernel, str)
    for key, whole in ("kernel", "graph"), ("metric", "precomputed"):
        if isinstance(spec.get(key), str) and spec[key] == whole:
            raise ValueError(
                f"{option(name)}: {key}={whole!r} is for X as a whole, not for some of its "
                "columns; use kernel='heat' with a metric of rows, or an estimator of one kernel."
            )
    if not callable(kernel) and not (named and kernel in allowed):
        given = f"an array of shape {kernel.shape}" if hasattr(kernel, "shape") else repr(kernel)
        stack = " For kernel matrices pass kernels='precomputed' and X of shape (L, n, n)."
        if not named:
            stack = f" The order of a view is (name, kernel, columns).{stack}"
        raise ValueError(
            f"{option(name)}: {given} is no kernel; give a callable of two matrices or one of "
            f"{', '.join(sorted(allowed))}.{'' if named and kernel != 'precomputed' else stack}"
            f"{suggestion(kernel, allowed)}"
        )
    parameters = {key: value for key, value in spec.items() if key != "kernel"}
    if named and kernel in FAMILIES:
        takes = FAMILY_PARAMETERS.get(kernel, ())
        if set(parameters) - set(takes):
            described = f"only {', '.join(takes)}" if takes else "no parameters"
            raise ValueError(f"{option(name, item)}: the family {kernel!r} takes {described}.")
    check_parameters(OF_KERNEL, parameters, option(name))
    return spec


def _find_columns(name: str, key: Any, X: Any) -> Columns:
    """Columns as ColumnTransformer finds them, as a slice if they are next to each other."""
    try:
        if isinstance(X, Rows):
            key = _without_names(key, X.names or [])
            X = np.empty((1, X.shape[1]))
        key = key(X) if callable(key) else key
        _check_mask(key, X.shape[1])
        if isinstance(key, slice) and not isinstance(key.start or key.stop, str):
            found = list(range(*key.indices(X.shape[1])))
        else:
            found = _get_column_indices(X, key)
        indices = np.asarray(found, dtype=np.intp)
    except (ValueError, LookupError, TypeError) as error:
        raise ValueError(
            f"{option(name)}: the columns {key!r} are not in X: {error}{_meant_columns(key, X)}"
        ) from error
    if not indices.size:
        raise ValueError(
            f"{option(name)}: the columns {key!r} select no column of X; leave the item out, or "
            "select at least one."
        )
    adjacent = slice(int(indices[0]), int(indices[-1]) + 1)
    # A slice of an array copies nothing.
    return adjacent if np.array_equal(indices, np.r_[adjacent]) else indices


def _check_mask(key: Any, n_columns: int) -> None:
    """Refuse a mask of another length."""
    values = _listed(key)
    if values and all(isinstance(one, bool) for one in values) and len(values) != n_columns:
        raise ValueError(
            f"the mask has {counted(len(values), 'value')}, but X has "
            f"{counted(n_columns, 'column')}; give one value for each column."
        )


def _meant_columns(key: Any, X: Any) -> str:
    """The question which column of a data frame was meant by the first name that it lacks."""
    known = list(getattr(X, "columns", ()))
    unknown = [name for name in _listed(key) if isinstance(name, str) and name not in known]
    meant = suggestion(unknown[0], list(map(str, known))) if unknown else ""
    return f".{meant}" if meant else ""


def _listed(key: Any) -> list[Any]:
    """The parts of a key of columns."""
    if isinstance(key, slice):
        return [key.start, key.stop]
    values = key.tolist() if hasattr(key, "tolist") else key
    return values if isinstance(values, list) else [values]


def _without_names(key: Any, names: list[str]) -> Any:
    """Columns by their positions instead of names; a slice of names includes its end."""

    def position(name: Any) -> Any:
        if isinstance(name, str) and name not in names:
            only = f"there is no column {name!r}, only {names[:10] or 'numbers'}."
            raise ValueError(only + suggestion(name, names))
        return names.index(name) if isinstance(name, str) else name

    if isinstance(key, slice):
        stop = position(key.stop) + isinstance(key.stop, str) if key.stop is not None else None
        return slice(position(key.start), stop, key.step)
    if isinstance(key, str):
        return position(key)
    return [position(name) for name in key] if isinstance(key, list | tuple) else key
