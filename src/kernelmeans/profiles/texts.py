"""What texts say of clusters: lines that show rows, and words that set clusters apart."""

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice, pairwise
from typing import Any

import numpy as np
from scipy.special import rel_entr
from sklearn.feature_extraction.text import TfidfVectorizer

from kernelmeans._typing import Array, IntArray
from kernelmeans.profiles.columns import FEWEST, Grouped
from kernelmeans.tables.values import Texts

#: Kinds of columns that show what a row is; texts say more than identifiers.
KINDS = ("text", "identifier")
#: Most columns that show a row, and most words of a cluster.
MOST_COLUMNS, MOST_WORDS = 3, 8
#: Most letters of the line that shows a row, and of the text of a row that is searched for words.
LONGEST, SEARCHED = 200, 2000
#: Most rows that are searched for words: of all clusters, or this many of each if that is more.
MOST_ROWS, ROWS_OF_EACH = 20_000, 100
#: Fewest columns that only a number tells apart, and that texts take the place of.
FEWEST_NUMBERED = 50
#: Logarithm of a likelihood ratio that noise exceeds for one word in 30 000: four standard
#: deviations. Shuffled labels of 7000 paragraphs gave one such word in 38 clusters.
_NOISE = 8.0
# Words of two signs or more, and not of digits alone.
_WORD = re.compile(r"\b(?!\d+\b)\w\w+\b")
# Scripts without blanks: Chinese and Japanese.
_RUN = re.compile("[\u3040-\u30ff\u3400-\u9fff]+")
# A name that ends with a number.
_NUMBERED = re.compile(r"(.*?)(\d{1,6})", re.ASCII | re.DOTALL)


def text_columns(kinds: Mapping[str, str]) -> list[str]:
    """The columns that show what a row is, by the kinds of all columns: texts before identifiers.

    Examples
    --------
    >>> from kernelmeans.profiles.texts import text_columns
    >>> text_columns({"id": "identifier", "age": "number", "title": "text"})
    ['title', 'id']
    """
    found = [name for name, kind in kinds.items() if kind in KINDS]
    return sorted(found, key=lambda name: KINDS.index(kinds[name]))[:MOST_COLUMNS]


def numbered(names: Iterable[str]) -> list[tuple[str, ...]]:
    """Columns that only a number tells apart, such as those of an embedding.

    Their names differ in the number at the end alone. It counts from 0 or 1 without a gap, and to
    `FEWEST_NUMBERED` at least.

    Examples
    --------
    >>> from kernelmeans.profiles.texts import numbered
    >>> [(one[0], one[-1]) for one in numbered(["age", *(f"e{i}" for i in range(384))])]
    [('e0', 'e383')]
    """
    found: dict[str, dict[int, str]] = {}
    for name in names:
        if parts := _NUMBERED.fullmatch(name):
            found.setdefault(parts[1], {})[int(parts[2])] = name
    return [
        tuple(numbers[number] for number in sorted(numbers))
        for numbers in found.values()
        if len(numbers) >= FEWEST_NUMBERED
        and min(numbers) in (0, 1)
        and max(numbers) - min(numbers) < len(numbers)
    ]


def cut(text: str, most: int) -> str:
    """The beginning of a text.

    Examples
    --------
    >>> from kernelmeans.profiles.texts import cut
    >>> cut("The orbit of a comet", 12)
    'The orbit o…'
    """
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}…"


def lines_of_each(
    columns: Mapping[str, Array], names: Sequence[str], rows: Iterable[Sequence[int] | None]
) -> list[tuple[str, ...]]:
    """What some rows of each cluster hold in columns of texts, each on a line.

    Parameters
    ----------
    columns : mapping of str to ndarray of shape (n_rows,)
        The table.
    names : sequence of str
        The columns to show.
    rows : iterable of (sequence of int or None)
        The rows of each cluster.

    Returns
    -------
    list of tuple of str
        The lines, of printable signs, of each cluster. None without columns.
    """
    given = [one or () for one in rows]
    values = _values(columns, names, np.array([row for one in given for row in one], dtype=int))
    lines = (cut(_in_a_line(" | ".join(filter(None, one))), LONGEST) for one in values)
    return [tuple(islice(lines, len(one))) for one in given]


def words_of_each(
    columns: Mapping[str, Array], names: Sequence[str], grouped: Grouped
) -> list[tuple[str, ...]]:
    """The words that set the texts of each cluster apart from those of the others.

    Words are sorted by the likelihood ratio of their mean TF-IDF in a cluster and in all others.
    Words that all clusters use come last, so no language needs a list of them. A word counts if
    chance does not explain its rows (`_NOISE`), and if these are 5 or half of the cluster. Of
    large clusters some rows are searched, drawn with a fixed seed.

    Parameters
    ----------
    columns : mapping of str to ndarray of shape (n_rows,)
        The table.
    names : sequence of str
        The columns of texts.
    grouped : Grouped
        The rows that belong to clusters; all count alike.

    Returns
    -------
    list of tuple of str
        The words of each cluster, the most telling one first.
    """
    drawn, n_clusters = _drawn(grouped), grouped.n_clusters
    rows = drawn if isinstance(grouped.rows, slice) else grouped.rows[drawn]
    texts = [_in_words("\n".join(one)) for one in _values(columns, names, rows)]
    if not any(map(_WORD.search, texts)):
        return [()] * n_clusters
    vectorizer = TfidfVectorizer(token_pattern=_WORD.pattern, sublinear_tf=True, dtype=np.float32)
    weights = vectorizer.fit_transform(texts)
    words, holds = vectorizer.get_feature_names_out(), weights.sign()
    all_sums, all_counts = _sums(weights), _sums(holds)
    found = []
    for cluster in range(n_clusters):
        own = grouped.labels[drawn] == cluster
        sums, counts, part = _sums(weights[own]), _sums(holds[own]), own.mean()
        ratios, evidence = _surplus(sums, all_sums, part), _surplus(counts, all_counts, part)
        ratios[(counts < np.clip(own.sum() / 2, 1, FEWEST)) | (evidence <= _NOISE)] = 0
        order = np.argsort(-ratios, kind="stable")[:MOST_WORDS]
        found.append(tuple(words[order[ratios[order] > 0]].tolist()))
    return found


def _values(
    columns: Mapping[str, Array], names: Sequence[str], rows: IntArray
) -> Iterable[tuple[str, ...]]:
    """The texts of some rows, the column of the shortest ones first; missing ones are empty."""
    texts = [Texts(np.asarray(columns[name])[rows]).by_row() for name in names]
    return zip(*sorted(texts, key=lambda one: sum(map(len, one))), strict=True)


def _in_words(text: str) -> str:
    """The searched part of a text; in scripts without blanks two neighbouring signs are a word."""
    spaced = _RUN.sub(lambda run: f" {' '.join(map(''.join, pairwise(run[0])))} ", text[:SEARCHED])
    return spaced if len(text) <= SEARCHED else spaced.rpartition(" ")[0]


def _in_a_line(text: str) -> str:
    return " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())


def _drawn(grouped: Grouped) -> IntArray:
    """Places of at most so many rows of each cluster, in their order."""
    order = np.random.default_rng(0).permutation(len(grouped.labels))
    order = order[np.argsort(grouped.labels[order], kind="stable")]
    sizes = grouped.counts()
    ranks = np.arange(len(order)) - np.repeat(sizes.cumsum() - sizes, sizes)
    most = max(MOST_ROWS // grouped.n_clusters, ROWS_OF_EACH)
    return np.asarray(np.sort(order[ranks < most]))


def _surplus(inside: Array, every: Array, part: float) -> Array:
    """The log-likelihood ratio of sums in a part of the rows; 0 where it has less than others."""
    others = np.maximum(every - inside, 0)  # not less than 0 by rounding
    ratios = rel_entr(inside, part * every) + rel_entr(others, (1 - part) * every)
    return np.where(inside > part * every, ratios, 0)


def _sums(values: Any) -> Array:
    return np.asarray(values.sum(axis=0), dtype=float).ravel()
