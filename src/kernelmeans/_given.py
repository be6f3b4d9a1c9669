"""What users give for parameters, where its values are what counts."""

from collections.abc import Mapping, Sequence, Set
from numbers import Integral
from typing import Any

import numpy as np

from kernelmeans._arrays import canonical, to_numpy
from kernelmeans._text import counted, shortened

#: Attributes of objects that hold values, or can become an array.
_OF_VALUES = ("dtype", "__array__", "__array_interface__", "__array_namespace__", "__dlpack__")


def received(given: Any, name: str = "X") -> Any:
    """What a user gave for a parameter, as `plain`, and on the host; float32 for float16."""
    found = to_numpy(plain(given, name))
    # No computation is in float16, and float64 would take four times the memory.
    return found.astype(np.float32) if getattr(found, "dtype", None) == np.float16 else found


def plain(given: Any, name: str = "X") -> Any:
    """What a user gave for a parameter, refused unless it holds plain values.

    Parameters
    ----------
    given : object
        Rows, weights, labels or anything else.
    name : str, default="X"
        The parameter, for messages.

    Returns
    -------
    object
        The same. A sparse matrix is in CSR format, with each entry once and in order.

    Raises
    ------
    TypeError
        If it holds no rows: its items are of its own type without end, as those of annotated data,
        or cannot be counted through. Of X also if it is a dict of columns.
    ValueError
        If values are masked.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelmeans._given import plain
    >>> plain(np.ma.array([1.0, 2.0], mask=[False, True]))
    Traceback (most recent call last):
    ...
    ValueError: X: 1 value is masked, and has no number. Leave out rows with masked values, or \
give them numbers by the method filled.
    """
    items = [given, *given] if isinstance(given, list | tuple) else [given]
    masked = [one for one in items if isinstance(one, np.ma.MaskedArray)]
    if count := sum(int(np.count_nonzero(np.ma.getmaskarray(one))) for one in masked):
        has = "is masked, and has no number" if count == 1 else "are masked, and have no numbers"
        raise ValueError(
            f"{name}: {counted(count, 'value')} {has}. Leave out rows with masked values, or give "
            "them numbers by the method filled."
        )
    for kind, one in {type(one): one for one in items}.items():
        has_columns = one is given and name == "X" and _is_dict_of_columns(one)
        if has_columns or _is_endless(one):
            matrices = "its matrix"
            if has_columns:
                matrices = "pandas.DataFrame(X), or pandas.DataFrame([X]) if it is a single row"
            elif hasattr(kind, "obsm"):
                matrices = (
                    "one of its matrices, adata.X or adata.obsm[...], for kernel='graph' "
                    "adata.obsp['connectivities'], or adata.to_df()"
                )
            raise TypeError(
                f"{name} has the type {kind.__name__}, and so is neither an array nor a table; "
                f"give {matrices}."
            )
    if hasattr(given, "iloc") and hasattr(type(given), "columns") and hasattr(given, "sparse"):
        given = _of_one_type(given)
    return canonical(given.data if isinstance(given, np.ma.MaskedArray) else given)


def holds_none(X: Any) -> str:
    """Say of an object that it holds no rows, and begin to name what does."""
    return f"X={shortened(repr(X), 40)} holds no rows; give an array, a data frame, a list of rows"


def _is_dict_of_columns(X: Any) -> bool:
    """Not of matrices: estimators of several kernels say what those become."""
    return type(X) is dict and all(getattr(value, "ndim", 0) < 2 for value in X.values())


def _of_one_type(X: Any) -> Any:
    """A frame of sparse flags and real numbers as numbers: pandas has no type for both."""
    kinds = {getattr(getattr(one, "subtype", None), "kind", "") for one in X.dtypes}
    if "b" not in kinds or len(kinds) == 1 or not kinds <= {*"biuf"}:
        return X
    return X.astype(type(X.dtypes.iloc[0])(np.float64, 0))


def _is_endless(given: Any) -> bool:
    """Whether NumPy would look for values in its items, and find items of the same type."""
    kind = type(given)
    if isinstance(given, Sequence | Mapping) or any(hasattr(given, name) for name in _OF_VALUES):
        return False
    is_divided = hasattr(kind, "__len__") and hasattr(kind, "__getitem__")
    try:
        return is_divided and isinstance(next(iter(given), None), kind)
    except (LookupError, TypeError):  # its items are no rows
        return True


def is_integer(value: Any) -> bool:
    """Whether a value is an integer; True and False are none."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def checked_names(
    names: Any, default: Sequence[Any], what: str, parameter: str = "names"
) -> list[str]:
    """Names from the user as a list of text.

    Parameters
    ----------
    names : sequence of str or None
        The names.
    default : sequence
        The names when None, in the right number.
    what : str
        What has such a name.
    parameter : str, default="names"
        The parameter, for messages.

    Returns
    -------
    list of str
        The names.

    Raises
    ------
    ValueError
        If they are not so many, or have no order.

    Examples
    --------
    >>> from kernelmeans._given import checked_names
    >>> checked_names(["young", "old"], [0, 1], "cluster"), checked_names(None, [0, 1], "cluster")
    (['young', 'old'], ['0', '1'])
    """
    names = default if names is None else names
    is_list = hasattr(names, "__len__") and not isinstance(names, str | Mapping | Set)
    if not is_list or len(names) != len(default):
        raise ValueError(
            f"{parameter}={shortened(repr(names), 60)} should be a list of "
            f"{counted(len(default), 'name')}, one for each {what} in their order."
        )
    return [str(name) for name in names]


def with_gaps(X: Any) -> Any:
    """A masked array as an array without its masked values: NaN among floats, None among others."""
    if not (isinstance(X, np.ma.MaskedArray) and np.ma.is_masked(X)):
        return X
    if X.dtype.kind == "f":
        return X.filled(np.nan)
    values = X.data.astype(object)
    values[np.ma.getmaskarray(X)] = None
    return values
