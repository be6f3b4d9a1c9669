"""Gives types to columns of plain numbers in text. `kernelmeans.tables` reads all other text."""

import polars as pl

from kernelmeans.tables.values import EMPTY, MINUS, NOTHING

#: Number of values to look at before all others.
_HEAD = 1000
_WHOLE, _CODE = "^[+-]?[0-9]+$", "^[+-]?0[0-9]"
_FLOAT = r"^[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$"
#: A number whose point may stand between groups of digits.
_DOUBTED = r"^[+-]?[1-9][0-9]{0,2}(?:\.[0-9]{3})+$|^[+-]?[0-9]+$"
_TRUTH = "^(?i:true|false)$"


def with_types(frame: pl.DataFrame, verbatim: str | None = None) -> pl.DataFrame:
    """Give columns of text a type if all their values are whole numbers, floats or truth values.

    Codes stay text: they are whole numbers that begin with 0, or that have too many digits for an
    integer. Floats such as 1.234 stay text too, if all may be whole numbers in groups.

    Parameters
    ----------
    frame : DataFrame
        The columns.
    verbatim : str or None, default=None
        A column that stays as it is.

    Returns
    -------
    DataFrame
        The same columns.
    """
    texts = [one for one in frame if one.dtype == pl.String and one.name != verbatim]
    return frame.with_columns(map(_typed, texts))


def _typed(text: pl.Series) -> pl.Series:
    values = text.str.strip_chars()
    lower = values.str.to_lowercase()
    is_empty = lower.is_in(list(EMPTY)).fill_null(value=True)
    if is_empty.all() and lower.is_in([NOTHING, MINUS]).any():
        return text  # these may be values of the fit
    values = values.set(is_empty, None)
    if _all(values, _WHOLE):
        numbers = values.cast(pl.Int64, strict=False)
        are_codes = values.str.contains(_CODE).any() or numbers.null_count() > values.null_count()
        return text if are_codes else numbers
    if _all(values, _FLOAT) and not values.str.contains(_DOUBTED).all():
        return values.cast(pl.Float64)
    return values.str.to_lowercase() == "true" if _all(values, _TRUTH) else text


def _all(values: pl.Series, pattern: str) -> bool:
    """Whether all values match a pattern. The first ones often show that some do not."""
    return all(part.str.contains(pattern).all() for part in (values.head(_HEAD), values))
