"""Candidates beside data without clusters: what is compared, and how stable it is there."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from kernelmeans._fitted import is_pairwise
from kernelmeans._memory import Found
from kernelmeans._typing import Array, BoolArray, IntArray
from kernelmeans.metrics import stability
from kernelmeans.search.bounds import Bounds
from kernelmeans.search.candidates import (
    clusters_parameter,
    evaluate,
    evaluated,
    last_step,
    seeded,
)
from kernelmeans.search.pieces import clusters_in
from kernelmeans.search.record import Record
from kernelmeans.search.reference import KINDS
from kernelmeans.search.rules import exceeds, is_rare
from kernelmeans.search.runner import Runner
from kernelmeans.search.splits import SEEDS, Samples, Split

#: Number of data sets of each kind without clusters: at most, and in each round.
N_DRAWS, DRAWS = 10, 2
#: The kind that is the rows themselves.
ROWS = "rows"


@dataclass(eq=False)
class Divider:
    """An estimator that divides rows, beside data without clusters.

    Attributes
    ----------
    estimator : estimator
        The estimator.
    rows : Samples
        The rows that it divides.
    settled : dict
        What its fit to all of them has chosen by itself.
    stability : float
        Its stability, NaN where it is not known.
    drawn : ndarray of shape (n_kinds, n_draws)
        Its stability on each of the data without clusters so far.
    """

    estimator: Any
    rows: Samples
    settled: Found
    stability: float = np.nan
    drawn: Array = field(default_factory=lambda: np.empty((len(KINDS), 0)))


class Comparison:
    """Comparisons of candidates with data without clusters.

    Parameters
    ----------
    record : Record
        The candidates, and their fits to all rows.
    samples : Samples
        The rows.
    seed : int
        Seed of all draws.
    runner : Runner
        Runs the fits.
    """

    def __init__(self, record: Record, samples: Samples, seed: int, runner: Runner) -> None:
        self._record, self._samples, self._seed = record, samples, seed
        self._draws = np.random.default_rng(seed).integers(SEEDS, size=N_DRAWS).tolist()
        self._runner = runner
        self._prepared: dict[int, Samples] = {}
        self._whole: dict[int, Divider] = {}
        # By the group of a candidate, the piece, and the clusters there: candidates share them.
        self._of_pieces: dict[tuple[int, int, int], Divider] = {}

    def _counts(self, row: int, labels: IntArray) -> IntArray | None:
        """Clusters of a candidate in each piece of its rows, if they lie in pieces."""
        pieces = self._rows(row).pieces
        return None if pieces is None else clusters_in(pieces, labels)

    def _rows(self, row: int) -> Samples:
        """The rows that reach the last step of a candidate."""
        group = self._record.groups[row]
        if group not in self._prepared:
            estimator = self._record.candidates[row].estimator
            self._prepared[group] = prepared(estimator, self._samples, self._seed)
        return self._prepared[group]

    @property
    def n_distinct(self) -> int:
        """Distinct rows that reach the last step: the fewest of all kernels."""
        return min(self._rows(row).n_distinct for row in self._record.kept)

    def separate(self) -> BoolArray:
        """Which candidates have the pieces of their rows as clusters, shape (n_candidates,)."""
        kept, labels = {*self._record.kept}, self._record.labels()
        several = [
            self._counts(row, one) if row in kept else None for row, one in enumerate(labels)
        ]
        return np.array([counts is not None and counts.max() == 1 for counts in several])

    def is_more(self, row: int, stability: float) -> tuple[bool, float]:
        """Whether clusters are more than data without clusters give, and how stable these are.

        Pieces of the rows always are. If a candidate divides pieces, and no cluster is in several,
        then each of these pieces is compared with data of its own shape.
        """
        rows, estimator = self._rows(row), self._record.candidates[row].estimator
        if rows.reference is None:
            return True, np.nan
        estimator = estimator if rows is self._samples else last_step(estimator)
        counts = self._counts(row, self._record.labels()[row])
        if row not in self._whole:
            self._whole[row] = Divider(estimator, rows, self._record.settled(row))
        self._whole[row].stability = stability
        dividers = [self._whole[row]]
        if counts is not None and counts.max() > 1:
            dividers = self._dividers(row, estimator, counts) or dividers
        highest = np.nan
        for divider in dividers:
            more, reference = self._beyond(divider)
            highest = np.fmax(highest, reference)
            if not more and (counts is None or counts.max() > 1):
                return False, highest
        return True, highest

    def _dividers(self, row: int, estimator: Any, counts: IntArray) -> list[Divider]:
        """What divides each piece with several clusters, where its stability can be found."""
        if (name := clusters_parameter(estimator)) is None:
            return []
        group, rows, found = self._record.groups[row], self._rows(row), []
        for piece in np.flatnonzero(counts > 1).tolist():
            n_clusters = int(counts[piece])
            key = group, piece, n_clusters
            if key not in self._of_pieces:
                own = clone(estimator).set_params(**{name: n_clusters})
                part = rows.subset(np.flatnonzero(rows.pieces == piece))
                self._of_pieces[key] = self._divider(own, part)
            found.append(self._of_pieces[key])
        return [one for one in found if not np.isnan(one.stability)]

    def _divider(self, estimator: Any, part: Samples) -> Divider:
        """An estimator with its stability on the rows of a piece."""
        tasks, given = [(estimator, Found())], [(part, self._seed)]
        # There is none if a callback has stopped it.
        outcomes = list(self._runner.run("pieces", evaluate, tasks, given))
        divider = Divider(estimator, part, outcomes[0].settled if outcomes else Found())
        divider.stability = float(self._stabilities(divider, [ROWS], range(N_DRAWS)).mean())
        return divider

    def _beyond(self, divider: Divider) -> tuple[bool, float]:
        """Whether a stability is well beyond that of data without clusters, and the latter.

        Data are drawn until more would hardly change the answer.
        """
        own = divider.stability
        for n_draws in range(DRAWS, N_DRAWS + 1, DRAWS):
            if draws := range(divider.drawn.shape[1], n_draws):
                more = self._stabilities(divider, KINDS, draws)
                divider.drawn = np.hstack([divider.drawn, more])
            # Kinds on which a fit fails, as with kernels that allow no negative values, do not
            # count.
            known = divider.drawn[~np.isnan(divider.drawn).any(axis=1)]
            if not len(known):
                return True, np.nan
            low, _ = Bounds.of(known.T, N_DRAWS)
            _, high = Bounds.of_next(known.T)
            if exceeds(own, high[:, None]) or not exceeds(own, low[:, None]):
                break
        is_beyond = exceeds(own, known) and is_rare(own, known, divider.rows.n_rows)
        return is_beyond, float(known.mean(axis=1).max())

    def _stabilities(self, divider: Divider, kinds: Sequence[str], draws: Iterable[int]) -> Array:
        """Stabilities on data of some kinds, shape (n_kinds, n_draws); NaN where a fit fails."""
        rows = divider.rows
        splits = [Split.of(rows.n_rows, self._draws[number]) for number in draws]
        arguments = [(divider.estimator, divider.settled, rows, kind) for kind in kinds]
        name = "pieces" if ROWS in kinds else "reference"
        values = list(self._runner.run(name, stabilities_on, splits, arguments))
        # There are fewer if a callback has stopped them.
        found = np.full(len(kinds) * len(splits), np.nan)
        found[: len(values)] = values
        return found.reshape(len(kinds), len(splits))


def prepared(estimator: Any, samples: Samples, seed: int) -> Samples:
    """Rows as the steps of a pipeline before the last give them.

    Data without clusters are like these rows: a table with words, dates or gaps has no Gaussian.
    The samples themselves if it is no pipeline, or these rows are no numbers.
    """
    if isinstance(estimator, Pipeline) and len(estimator) > 1:
        steps = seeded(estimator[:-1], seed, only_unset=True)
        after = Samples(steps.fit_transform(samples.X), is_pairwise(last_step(estimator)))
        if after.table is not None:
            return after
    return samples


def stabilities_on(
    splits: Sequence[Split], estimator: Any, known: Found, rows: Samples, kind: str
) -> Iterator[float]:
    """Stability of a candidate on the rows, or on a draw of data without clusters, for each split.

    It is NaN if a fit fails.
    """
    for split in splits:
        drawn = rows
        if kind != ROWS:
            assert rows.reference is not None
            generator = np.random.default_rng((split.seed, 1))
            drawn = Samples(rows.like(rows.reference.draw(kind, generator)))
        halves = [evaluated(estimator, known, drawn, split.seed, half) for half in split.halves]
        labels = [one.labels for one in halves if one.labels is not None]
        fails = len(labels) < len(halves) or split.placed(labels) is None
        yield np.nan if fails else stability(*labels)
