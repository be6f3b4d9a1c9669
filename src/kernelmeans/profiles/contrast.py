"""What tells clusters apart from each other, rather than from the whole table."""

import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial.distance import cdist

from kernelmeans._text import first
from kernelmeans._typing import Array, BoolArray
from kernelmeans.profiles.columns import Profile

# Most pairs that a sentence names.
_LISTED = 5
#: Smallest difference from the whole table that is worth a line, in standard deviations.
SMALLEST = 0.1
# Most columns that tell a cluster apart, and the separation from another cluster that is enough.
_MOST, _ENOUGH = 5, 0.5
# Fraction of the best separation that counts as equally good. Among such columns the difference
# from the whole table decides.
_AS_GOOD = 0.75
# Limits for two clusters that differ in one column alone: the least separation by this column, the
# largest by any other, and the fewest others. Noise may raise the second limit up to _ENOUGH.
# Settled on a table of four groups and a flag of noise (0.94 to 0.98, others 0.17 at most) and on
# examples/customers.py, seeds 0 and 1, with more clusters than segments (0.95 to 1, others 0.24 at
# most or 0.36 at least). Confirmed on seeds 2 to 5: as many clusters as segments have no such pair;
# one more has one, the halves of a segment.
_NEARLY_ALL, _LITTLE, _FEWEST_OTHERS = 0.9, 0.25, 3
# Factors on sqrt(1 / n + 1 / m): noise separates n and m rows by more once in a hundred times. The
# factor of numbers comes from the Kolmogorov-Smirnov test. The factor of a category grows with its
# values.
_NUMBERS, _CATEGORY, _SPREAD = 1.63, 0.9, 0.4
# The same factor for differences in ranks, by the test of Mann and Whitney.
_RANKS = 1.05


class Alike(NamedTuple):
    """Two clusters that differ in one column, and hardly in others.

    Attributes
    ----------
    clusters : tuple of (int or str)
        Their labels.
    column : str
        The name of the column.
    """

    clusters: tuple[Any, Any]
    column: str


def contrasted(
    columns: Mapping[str, tuple[Profile, Profile | None]], names: Sequence[Any], sizes: Array
) -> tuple[list[tuple[str, ...]], tuple[Alike, ...]]:
    """Compare clusters pair by pair.

    Parameters
    ----------
    columns : mapping of str to (Profile, Profile or None)
        The columns that the clusters depend on, and where these have gaps.
    names : sequence
        The labels of the clusters.
    sizes : ndarray of shape (n_clusters,)
        Their numbers of rows; with weights the effective ones.

    Returns
    -------
    apart : list of tuple of str
        For each cluster, columns that tell it from the others, the most telling first, and then
        from those that are the most similar. Columns that do no better than noise are left out.
        Empty for one cluster, for very many, and without columns.
    alike : tuple of Alike
        Pairs of clusters that differ in one column, and hardly in others.
    """
    found = {name: pair for name, pair in columns.items() if pair[0].frequencies is not None}
    if not found or len(names) == 1:
        return [()] * len(names), ()
    with np.errstate(divide="ignore"):
        spread = np.sqrt(np.add.outer(1 / sizes, 1 / sizes))
    known, unlike = np.zeros((len(found), *spread.shape), np.float32), np.zeros(spread.shape, int)
    for own, (profile, _) in zip(known, found.values(), strict=True):
        separations, noise = separation(profile), _noise(profile) * spread
        own[:] = np.where(separations > noise, separations, 0)
        unlike += _differ(profile, separations, spread)
    told = np.array([_told(*pair) for pair in found.values()])
    called = list(found)
    apart = [
        tuple(called[one] for one in _columns_apart(known[:, own], told[:, own], own))
        for own in range(len(names))
    ]
    return apart, tuple(_alike(known, unlike, called, names))


def separation(profile: Profile) -> Array:
    """How well a column separates each pair of clusters: 0 not at all, 1 without an exception.

    Of a category this is the total variation distance of the two distributions. Of numbers it is
    the Kolmogorov-Smirnov distance: what the best threshold separates. No value is one more value.
    """
    found = np.asarray(profile.frequencies)
    if profile.is_number:
        cumulative = found.cumsum(axis=1)
        return np.asarray(cdist(cumulative, cumulative, "chebyshev"))
    return np.asarray(cdist(found, found, "cityblock") / 2)


def _differ(profile: Profile, separations: Array, spread: Array) -> BoolArray:
    """Whether clusters differ in a column by more than noise, and not just a little."""
    found = separations > np.clip(_noise(profile) * spread, _LITTLE, _ENOUGH)
    if profile.is_number:
        found |= _rank_differences(profile) > np.clip(_RANKS * spread, _LITTLE, _ENOUGH)
    return np.asarray(found)


def _rank_differences(profile: Profile) -> Array:
    """How much more often the row of one cluster is larger than that of the other.

    The scale is the Kolmogorov-Smirnov distance between Gaussians that differ as much.
    """
    found = np.asarray(profile.frequencies)
    below = found @ found.cumsum(axis=1).T
    return np.asarray(np.abs(below - below.T) / np.sqrt(2))


def _noise(profile: Profile) -> float:
    """What a column without meaning hardly exceeds between two clusters of 2 rows each."""
    if profile.is_number:
        return _NUMBERS
    common = np.asarray(profile.frequencies).mean(axis=0)
    return float(_CATEGORY + _SPREAD * np.sqrt(np.fmax(common * (1 - common), 0)).sum())


def _told(profile: Profile, gaps: Profile | None) -> Array:
    """By how much each cluster differs from all rows; negative for a value that is rarer there."""
    found = np.abs(profile.difference) if profile.is_number else profile.difference
    return np.fmax(found if gaps is None else np.fmax(found, gaps.difference), -1)


def _columns_apart(separations: Array, told: Array, own: int) -> list[int]:
    """The columns that tell one cluster from the others, of shape (n_columns, n_clusters)."""
    known = np.where(told[:, None] >= 0, separations, 0)
    total = known.sum(axis=1)
    if not total.any():
        return []
    best = int(np.where(total >= _AS_GOOD * total.max(), told, -1).argmax())
    chosen, reached = [best], known[best]
    # The most similar cluster first.
    for rival in separations.sum(axis=0).argsort(kind="stable"):
        if rival != own and reached[rival] < _ENOUGH and len(chosen) < _MOST:
            best = int(known[:, rival].argmax())
            if known[best, rival] > reached[rival]:
                chosen.append(best)
                reached = np.maximum(reached, known[best])
    return chosen


def _alike(
    separations: Array, unlike: Array, columns: Sequence[str], names: Sequence[Any]
) -> Iterable[Alike]:
    """The pairs that one column separates nearly purely, and all others hardly."""
    if len(columns) <= _FEWEST_OTHERS:
        return
    pure = (separations.max(axis=0) >= _NEARLY_ALL) & (unlike == 1)
    for one, other in np.argwhere(np.triu(pure)).tolist():
        column = columns[int(separations[:, one, other].argmax())]
        yield Alike((names[one], names[other]), column)


def sentences(alike: Sequence[Alike], called: Callable[[Any], str] = str) -> dict[str, str]:
    """For each column that nearly alone tells clusters apart, a sentence that names them.

    Examples
    --------
    >>> from kernelmeans.profiles.contrast import Alike, sentences
    >>> sentences([Alike((0, 1), "member"), Alike((2, 3), "member")])
    {'member': 'Clusters 0 and 1, 2 and 3 differ in member, and hardly in other columns.'}
    """
    pairs: dict[str, list[str]] = {}
    for (one, other), column in alike:
        pairs.setdefault(column, []).append(f"{called(one)} and {called(other)}")
    return {
        column: f"Clusters {first(some, _LISTED)} differ in {_called(column)}, and hardly in other "
        "columns."
        for column, some in pairs.items()
    }


def advice(column: str) -> str:
    """How to leave out a column that is not to count.

    Examples
    --------
    >>> from kernelmeans.profiles.contrast import advice
    >>> advice("member").partition(": ")[2]
    "--drop member, in Python TableTransformer(drop=['member'])."
    """
    ways = f"--drop {shlex.quote(column)}, in Python TableTransformer(drop=[{column!r}])"
    return f"If {_called(column)} is not to count, leave it out: {ways}."


def _called(column: str) -> str:
    """A column in a sentence, where a name that is a number would be taken for a count."""
    return f"column {column}" if column.isdecimal() else column
