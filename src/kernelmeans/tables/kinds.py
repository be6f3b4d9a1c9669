"""The kind of a column, by its values. Half of the rows mostly give the same kind.

Therefore no rule depends on the order of rows, except for words in a reason. Rules that count rows
ask for fractions, or for far more rows than a decision needs.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from kernelmeans._frames import are_vectors
from kernelmeans._text import counted, first, shortened
from kernelmeans._typing import Array, BoolArray
from kernelmeans.tables.frames import Table
from kernelmeans.tables.numerals import BOUNDS, is_multiple, unit_of, written
from kernelmeans.tables.spellings import (
    ANY,
    FEW_ROWS,
    MOST_WORDS,
    Doubt,
    Marks,
    Spelling,
    are_rare_words,
    numbers_among,
)
from kernelmeans.tables.values import (
    DAYS,
    FIRST_DATE,
    FLAGS,
    LAST_DATE,
    Texts,
    days_of,
    days_of_numbers,
    duration_of,
    flag_of,
    is_date,
    is_no_date,
    numbers_of,
)

#: Most values of a category: the 50 states, and some more. Each value takes a column of the result.
#: With so many values nearly all pairs of rows differ already, so more of them say little.
MOST_VALUES = 60
#: Rows that each value of a category needs on average. Text with fewer is names, titles or remarks.
ROWS_OF_VALUE = 4
#: Most values of a column that the user calls a category. Each value is a column in memory.
MOST_GIVEN_VALUES = 1000
#: Expected number of repeats from which whole numbers without repeats are numbered on purpose. By
#: chance only e^-10 of such columns have none. Half of the rows expect a quarter of the repeats.
REPEATS = 10
#: Fraction of missing values above which an extra column marks them. Fewer hardly say anything, and
#: such a rare mark would lie far from all other values once it is scaled. For the same reason, a
#: column of one value with so few missing ones is constant.
MANY_MISSING = 0.05
#: Fraction of rows with a value below which text says little.
NEARLY_EMPTY = 0.05
#: Most different numbers with units in a category, such as 1st, 2nd and 3rd, and the fraction of
#: rows that they must take for the rule to hold.
MANY_MEASURES, NEARLY_ALL = 12, 0.9
#: Largest values of columns that hold 1, 2, 3 and so on without a gap, and may be codes; and the
#: fewest rows of each value, which must also be a fraction `FEW_ROWS` of all. If numbers count
#: something, few rows have the large ones. Settled on tables of statsmodels and every second one of
#: pydataset: of about 46 such columns one counts, the others are codes, grades and periods.
#: Confirmed on the other tables: one of about 52.
CODES, ROWS_OF_CODE = range(3, 6), 10
#: Fewest different whole numbers such as 20251231 that make dates. By chance one in 28 is a date.
FEWEST_DATES = 5
#: The remark on durations.
_IN_DAYS = "durations in days"
#: Fewest digits of phone and account numbers. No measurement has so many.
DIGITS = 9
#: Digits that a float keeps. Text of more digits is a code.
KEPT_DIGITS = 15
#: Names of columns whose whole numbers are codes. "snr" and "number_of_visits" are no such names.
_CODE_NAME = re.compile(
    r"""
    (?i:
        (?:.*[\W_])? (?:  # the last word of the name, or its only one
            id | uuid | ssn | plz | postleitzahl | zip | (?:zip|post|postal|bar)?code | c[oó]digo
            | kod | key | tel | phone | telephone | tel[eé]fono? | ean | isbn | gtin | iban | siret
            | (?:nr|nummer)\.?
            | (?:customer|client|member|user|employee|account|invoice|contract|policy|article|card
                |serial) [\W_]? (?:no|num|number)\.?
        )
        | (?:.*[a-zäöüß]{3}|kd) (?:nr|nummer)\.?  # German writes it in one word
        | id[\W_].+
        | (?:code|c[oó]digo|kod) [\W_] (?:postal|pocztowy)
        | n[uú]m[eé]ro [\W_] (?:de[\W_])?
            (?:client|cliente|compte|cuenta|contrat|contrato|facture|factura)
    )
    | .*[a-z] (?:Id|ID|Nr|Code|Key)
    """,
    re.VERBOSE,
)
#: Numbers that many programs write for missing values. Far values of other digits are mostly real:
#: of 31871 columns in 16 data sets 1111 have such a value in many rows, and none has one of nines.
_NINES = re.compile(r"(?:-9+|99+)(?:\.9+)?")
#: Fewest different numbers of 0 and more beside which -1 may stand for missing values, where it is
#: more frequent than the least of them. Of 36 918 columns of data sets of R, 38 with -1 in three
#: rows or more have up to five others, as answers of less, equal and more do, and one has more:
#: years of experience.
FEWEST_OTHERS = 10
#: Fewest rows with such a number, and the remark on it.
FEWEST_NINES, DOUBTED = 3, "may stand for missing values: if so, leave such cells empty"
#: A list of numbers as pandas writes it into a file.
_LIST = re.compile(r"\[\s*-?[0-9][^\[\]]*[\s,][^\[\]]*[0-9.]\s*\]")
#: Types of values that are neither numbers nor text.
_ODD = (list, tuple, dict, set, complex, np.ndarray)
#: The reason to leave out a date.
ON_REQUEST = "the option dates uses it"
#: Why dates in text are left out in any case.
UNREAD = "only dates such as 2025-12-31 and 31.12.2025 are read, not 12/31/2025"
#: Why names, and free text, are left out.
ALL_DIFFER = "nearly all values differ"
#: What a column of embeddings holds.
LISTS = "lists of numbers"
#: Kinds that clusters can depend on.
USED = ("number", "flag", "category", "date")


class Found(NamedTuple):
    """The kind of a column, why, and its numbers.

    Attributes
    ----------
    kind : str
        "number", "flag", "category", "date", "text", "identifier", "counter", "nested" or
        "constant".
    reason : str
        Why it is of this kind.
    n_missing : int
        Number of missing values.
    numbers : ndarray of shape (n_rows,) or None
        The values if they are numbers, flags or categories, coded from 0; NaN if missing.
    values : sequence of str
        The values of a category. The empty one stands for missing values.
    stray : tuple of (int, str) or None
        Of a column of numbers: the first row that holds something else, and what.
    spelling : Spelling
        How numbers in text are written.
    doubt : (str, float) or None
        A value that may be meant otherwise, and its number here.
    """

    kind: str
    reason: str
    n_missing: int
    numbers: Array | None = None
    values: Sequence[str] = ()
    stray: tuple[int, str] | None = None
    spelling: Spelling = Spelling()
    doubt: Doubt | None = None


def column_kind(series: Any, name: str = "") -> str:
    """Find the kind of a column.

    Parameters
    ----------
    series : series of polars or pandas, or array-like of shape (n_rows,)
        The column.
    name : str, default=""
        Its name. In a column named id or zip code, whole numbers are codes.

    Returns
    -------
    str
        "number", "flag" (yes or no), "category", "date", "text", "identifier", "counter", "nested"
        (lists of numbers, or structs) or "constant".

    Examples
    --------
    >>> from kernelmeans.tables import column_kind
    >>> column_kind([1.5, 2.0, None]), column_kind(["yes", "no", "yes"])
    ('number', 'flag')
    """
    if hasattr(series, "to_frame"):
        table = Table(series.to_frame())
        only = table.names[0]
        return found_in(table[only], name or only, is_category=table.is_category(only)).kind
    return found_in(np.asarray(series), name).kind


def found_in(values: Array, name: str, *, is_category: bool = False, marks: Marks = ANY) -> Found:
    """Find the kind of a column, and why; a column of the type category may hold numbers."""
    numbers = numbers_of(values)
    if numbers is not None and values.dtype.kind == "M" and not np.isnan(numbers).all():
        return Found("date", ON_REQUEST, int(np.isnan(numbers).sum()), numbers)
    if numbers is not None and not is_category:
        # New rows may hold text in the marks of the table.
        decimal = "." if _have_fractions(numbers) else marks.chosen(".,")
        spelling = Spelling(decimal, unit=DAYS if values.dtype.kind == "m" else "")
        found = _among_numbers(numbers, values, name)._replace(spelling=spelling)
        is_span = spelling.unit and found.kind == "number"
        return found._replace(reason=_IN_DAYS) if is_span else found
    if (is_odd := _are_odd(values)).any():
        # The text of long lists would take longer than everything else.
        n_missing = Texts(values[~is_odd]).n_missing
        if usage := _usage(values[is_odd], name):
            gaps = f", and {n_missing} missing" if n_missing else ""
            return Found("nested", usage.replace(":", f"{gaps}:", 1), n_missing)
        return Found("text", "lists or other objects", n_missing)
    return _with_words(
        _among_texts(texts := Texts(values), values, name, is_category, marks), texts
    )


@np.errstate(invalid="ignore")  # of a signaling NaN, as damaged files have
def _have_fractions(numbers: Array) -> bool:
    return bool((numbers % 1 > 0).any())


def marks_of(table: Table, names: Iterable[str], marks: Marks) -> Marks:
    """The given marks, and those that some columns of a table prove."""
    # One column at a time: the texts of a whole table may not fit into memory.
    return marks.after(_numbers_as_text(table[name]) for name in names)


def _numbers_as_text(values: Array) -> Mapping[str, int]:
    """How often each text occurs. Floats with fractions count as one text with a point."""
    if numbers_of(values) is not None:
        return {"0.5": 1} if values.dtype.kind == "f" and _have_fractions(values) else {}
    return {} if _are_odd(values).any() else Texts(values).counts


def is_nested(values: Array) -> bool:
    """Say whether a column holds lists of numbers, or structs."""
    return bool((is_odd := _are_odd(values)).any() and _usage(values[is_odd], ""))


def _are_odd(values: Array) -> BoolArray:
    """Which values are neither numbers nor text."""
    if values.dtype.kind not in "Oc":
        return np.zeros(len(values), dtype=bool)
    return np.fromiter((isinstance(value, _ODD) for value in values), bool, len(values))


def _usage(values: Array, name: str) -> str:
    """How to use lists of numbers, all of one length, or structs; empty for anything else."""
    if all(isinstance(value, dict) for value in values):
        return f'structs: frame.unnest("{name}") of polars makes columns of them'
    if not (are_vectors(values) and len(values[0])):
        return ""
    return (
        f'{LISTS}: fit np.vstack(frame["{name}"]), or save that as .npy and fit it with '
        "--metric cosine"
    )


def _among_texts(texts: Texts, values: Array, name: str, is_category: bool, marks: Marks) -> Found:
    if texts.are_signs():
        texts = texts.in_words()
    counts, present, n_rows = texts.counts, texts.counts.total(), len(values)
    n_missing = n_rows - present
    if not counts:
        return Found("constant", "no value", n_missing)
    words = {text.lower() for text in counts}
    if any(words == set(pair) for pair in FLAGS):
        return Found("flag", "", n_missing, texts.map(flag_of))
    if not is_category and not _are_codes(counts, n_rows):
        found = _durations_in(texts, n_rows) or _numbers_in(texts, values, name, marks)
        if found := found or _dates_in(texts, n_rows):
            return found
        if examples := _measures_in(counts):
            reason = f"numbers with units or multiples, such as {examples}: write plain numbers"
            return Found("text", reason, n_missing)
    if len(counts) == 1 and n_missing <= MANY_MISSING * n_rows:
        return _constant(n_missing)
    if _are_few(len(counts), present):
        found, hint = _category(texts), "" if is_category else _hint_of_numbers(counts)
        return found._replace(reason=", ".join(filter(None, [found.reason, hint])))
    if present < NEARLY_EMPTY * n_rows:
        reason = f"nearly empty: {counted(present, 'row')} of {n_rows} with a value"
        return Found("text", reason, n_missing)
    if all(map(_LIST.fullmatch, counts)):
        way = "save them as .npy, and fit that with --metric cosine"
        return Found("nested", f"{LISTS} as text: {way}", n_missing)
    if len(counts) > 0.9 * present:
        one_word = not any(" " in text for text in counts)
        return Found("identifier" if one_word else "text", ALL_DIFFER, n_missing)
    return Found("text", f"{counted(len(counts), 'value')}", n_missing)


def _numbers_in(texts: Texts, values: Array, name: str, marks: Marks) -> Found | None:
    """Find the kind of a column of text whose values are mostly numbers; None if they are not."""
    if (found := numbers_among(texts.counts, len(values), marks)) is None:
        return None
    unit = found.spelling.unit
    if found.stray:
        row, text = texts.first(found.stray.__contains__)
        are_few = _are_few(len(texts.counts), texts.counts.total())
        # Beside few numbers it is a value like them, such as 3+ beside 0, 1 and 2.
        if are_few and all(texts.counts[one] >= ROWS_OF_VALUE for one in found.stray):
            return None
        rows = sum(texts.counts[one] for one in found.stray)
        # A user can mend rare values, or a word or two.
        if len(found.stray) > MOST_WORDS and rows > FEW_ROWS * len(values):
            example = repr(shortened(text, 60))
            those = f"numbers in {unit!r}" if unit else "numbers"
            if text not in found.numbers and written(text):
                # It is a number too, under the other mark.
                those += f" with a decimal {'point' if found.spelling.decimal == '.' else 'comma'}"
            reason = f"{those}, but also values such as {example}"
            return Found("text", reason, texts.n_missing)
        have = f"no {unit!r}, which other rows have"
        why = f"has {have if unit else 'a unit, which others have not'}"
        why = why if text in found.numbers else "is none"
        if others := [one for one in texts.counts if one in found.stray and one != text]:
            example = repr(shortened(others[0], 60))
            why += f"; likewise {counted(len(others), 'other value')}, such as {example}"
        return Found("number", why, texts.n_missing, stray=(row, text))
    numbers = texts.map(lambda text: found.numbers.get(text, np.nan))
    if not unit:
        column = _among_numbers(numbers, values, name)
        if column.values:
            return column
        return column._replace(spelling=found.spelling, doubt=found.doubt)
    bare = f" ({counted(found.n_bare, 'number')} without it)" if found.n_bare else ""
    present = numbers[~np.isnan(numbers)]
    ends, n_missing = (present.min(), present.max()), len(numbers) - len(present)
    if ends[0] == ends[1]:
        return _constant(n_missing)
    reason = ", ".join(filter(None, [f"in {unit!r}{bare}", _doubt_about(present, ends)]))
    return Found("number", reason, n_missing, numbers, spelling=found.spelling, doubt=found.doubt)


def _dates_in(texts: Texts, n_rows: int) -> Found | None:
    """Find the kind of a column of dates in text, some of them missing; None if it has others."""
    days = {text: days_of(text) for text in texts.counts if is_date(text) and not is_no_date(text)}
    unknown = [text for text in texts.counts if text not in days and not is_no_date(text)]
    if not days or not are_rare_words(unknown, texts.counts, n_rows):
        return None
    n_missing = n_rows - sum(texts.counts[text] for text in days)
    spelling = Spelling(words=tuple(sorted({text.lower() for text in unknown})))
    if not all(day == day for day in days.values()):
        return Found("date", UNREAD, n_missing, spelling=spelling)
    numbers = texts.map(lambda text: days.get(text, np.nan))
    return Found("date", ON_REQUEST, n_missing, numbers, spelling=spelling)


def _durations_in(texts: Texts, n_rows: int) -> Found | None:
    """Find the kind of a column of durations in text, some of them missing; None for any other.

    One has hours at least: days alone are numbers with a unit.
    """
    days = {text: one for text in texts.counts if (one := duration_of(text)) == one}
    unknown = texts.counts.keys() - days.keys()
    if not any(":" in text for text in days) or not are_rare_words(unknown, texts.counts, n_rows):
        return None
    numbers = texts.map(lambda text: days.get(text, np.nan))
    n_missing = n_rows - sum(texts.counts[text] for text in days)
    if len(set(days.values())) == 1:
        return _constant(n_missing)
    spelling = Spelling(unit=DAYS, words=tuple(sorted({text.lower() for text in unknown})))
    return Found("number", _IN_DAYS, n_missing, numbers, spelling=spelling)


def _with_words(found: Found, texts: Texts) -> Found:
    """Add bounds and the words for missing values to the reason of a column."""
    if found.stray:
        return found
    reasons, is_missing = [found.reason] * bool(found.reason), found.spelling.is_missing
    words = texts.told(lambda text: is_missing(text) or (found.kind == "date" and is_no_date(text)))
    bounds = [text for text in texts.counts if text[0] in BOUNDS and not is_missing(text)]
    if bounds and found.kind in ("number", "flag"):
        many = counted(sum(texts.counts[text] for text in bounds), "bound")
        reasons.append(f"{many} such as {bounds[0]!r} read as numbers")
    if words:
        may_be_values = found.spelling.words and _are_few(len(texts.counts), texts.counts.total())
        remedy = "; the option categorical makes them values" * bool(may_be_values)
        reasons.append(f"{first(words)} taken as missing{remedy}")
    return found._replace(reason=", ".join(reasons))


def _measures_in(counts: Mapping[str, int]) -> str:
    """Examples of numbers with units and of other text, if nearly all are the former."""
    units = {text: unit for text in counts if (unit := unit_of(text)) is not None}
    many = len(units) > MANY_MEASURES or any(map(is_multiple, units.values()))
    if not many or sum(counts[text] for text in units) < NEARLY_ALL * sum(counts.values()):
        return ""
    shown = [max(units, key=lambda text: (units[text] > "", counts[text]))]
    shown += sorted(counts.keys() - units, key=lambda text: (-counts[text], text))[:1]
    return " and ".join(repr(shortened(text, 60)) for text in shown)


def _hint_of_numbers(counts: Mapping[str, int]) -> str:
    """A remark on a category of numbers with the same unit, or mostly of numbers; else empty."""
    units = {unit_of(text) for text in counts}
    if len(units) == 1 and len(counts) > 2 and (unit := units.pop()):
        return f"numbers with {unit!r}: plain numbers would be compared as such"
    words = [text for text in counts if (one := written(text)) is None or one.is_bound]
    are_codes = any(map(str.isdigit, words))
    if not words or are_codes or 2 * sum(counts[text] for text in words) >= sum(counts.values()):
        return ""
    word = max(words, key=lambda text: (text[0] not in BOUNDS, counts[text], text))
    said = f"{shortened(word, 60)!r} ({counted(counts[word], 'row')}) is no number"
    return f"a category, as {said}; the option missing_values takes such words for missing values"


def _hint_of_capitals(counts: Collection[str]) -> str:
    """A remark on values that differ in capitals alone; else empty."""
    alike: dict[str, list[str]] = {}
    for text in sorted(counts):
        alike.setdefault(text.casefold(), []).append(repr(shortened(text, 60)))
    pairs = [" and ".join(texts) for texts in alike.values() if len(texts) > 1]
    way = "write them alike if they mean the same"
    return f"{first(pairs, most=3)} are different values: {way}" if pairs else ""


def as_category(values: Array) -> Found:
    """Make a column a category, whatever it holds. Missing values are a value of their own."""
    return _with_words(_category(texts := Texts(values)), texts)


def _category(texts: Texts) -> Found:
    texts = texts.in_words()
    known = sorted(texts.counts) + [""] * (texts.n_missing > 0)
    codes = {text: float(code) for code, text in enumerate(known)}
    numbers = texts.map(codes.__getitem__, missing=codes.get("", np.nan))
    return Found("category", _hint_of_capitals(known), texts.n_missing, numbers, known)


def _constant(n_missing: int) -> Found:
    gaps = f", and {n_missing} missing" * bool(n_missing)
    return Found("constant", f"one value{gaps}", n_missing)


def _are_codes(counts: Mapping[str, int], n_rows: int) -> bool:
    """Whether these are codes of digits: some have leading zeros, or very many digits."""
    words = [text for text in counts if not text.isdigit()]
    return are_rare_words(words, counts, n_rows) and any(
        text.isdigit() and (text[:1] == "0" < text[1:] or len(text) > KEPT_DIGITS)
        for text in counts
    )


def _are_few(n_values: int, present: int) -> bool:
    return n_values <= MOST_VALUES and present >= ROWS_OF_VALUE * n_values


def _among_numbers(numbers: Array, values: Array, name: str) -> Found:
    present = numbers[~np.isnan(numbers)]
    n_missing = len(numbers) - len(present)
    if not len(present):
        return Found("constant", "no value", n_missing)
    low, high = present.min(), present.max()
    if low == high:
        return _constant(n_missing)
    # Beyond 2^53 all floats are whole.
    countable = values.dtype.kind in "iu" or max(-low, high) < 2**53
    whole = countable and bool((present == np.floor(present)).all())
    if whole and (low, high) == (0, 1):
        return Found("flag", "", n_missing, numbers)
    if whole and _CODE_NAME.fullmatch(name):
        category = as_category(values)
        if _are_few(len(category.values), len(present)):
            return category._replace(reason="codes, by its name")
        return Found("identifier", "codes, by its name", n_missing, numbers)
    if whole and (days := _days_in(numbers, low, high)) is not None:
        reason = f"numbers such as {low:.0f}, {ON_REQUEST}"
        return Found("date", reason, n_missing, days)
    if whole and (kind := _kind_of_counts(present, low, high)):
        return Found(kind, "whole numbers, all different", n_missing, numbers)
    doubt = _doubt_about(present, (low, high)) or (_hint_of_codes(present) if whole else "")
    return Found("number", doubt, n_missing, numbers)


def _days_in(numbers: Array, low: float, high: float) -> Array | None:
    """The days of whole numbers such as 20251231; None unless all are dates."""
    if low < FIRST_DATE or high > LAST_DATE:
        return None
    days = days_of_numbers(numbers)
    present = days[~np.isnan(days)]
    many = len(np.unique(present)) >= FEWEST_DATES
    return days if many and np.isfinite(present).all() else None


def _doubt_about(numbers: Array, ends: tuple[float, float]) -> str:
    """A remark on an extreme number that likely stands for missing values; else empty."""
    for end in ends:
        text = f"{end:.15g}"
        if end == -1 or _NINES.fullmatch(text):
            others = numbers[numbers != end]
            low, high, count = others.min(), others.max(), len(numbers) - len(others)
            if end == -1:
                is_frequent = count > np.count_nonzero(others == low)
                is_odd = is_frequent and low >= 0 and len(np.unique(others)) >= FEWEST_OTHERS
            else:
                is_odd = max(low - end, end - high) > high - low or end < 0 <= low
            if is_odd and count >= FEWEST_NINES:
                return f"{text} ({counted(count, 'row')}) {DOUBTED}"
    return ""


def _hint_of_codes(whole: Array) -> str:
    """A remark on few whole numbers from 1 on, which may be codes."""
    if whole.min() != 1 or whole.max() not in CODES:
        return ""
    rows = np.bincount(whole.astype(np.intp))[1:]
    if rows.min() < max(ROWS_OF_CODE, FEW_ROWS * len(whole)):
        return ""
    return f"{len(rows)} different whole numbers; the option categorical takes codes for categories"


def _kind_of_counts(present: Array, low: float, high: float) -> str | None:
    """The kind of whole numbers that count or name the rows: all differ, and not by chance."""
    count, places = len(present), high - low + 1
    numbering = count > 2 and low in (0, 1) and places == count
    expected = count * (count - 1) / 2 / places
    codes = low >= 10 ** (DIGITS - 1) and len(f"{low:.0f}") == len(f"{high:.0f}")
    if not (numbering or expected >= REPEATS or codes) or len(np.unique(present)) < count:
        return None
    return "identifier" if codes or np.any(np.diff(present) <= 0) else "counter"
