"""Candidates beside data without clusters: what is compared, and how stable it is there."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from kernelmeans._fitted import is_pairwise
from kernelmeans._typing import Array, BoolArray, IntArray
from kernelmeans.metrics import stability
from kernelmeans.search.candidates import (
    Candidate,
    clusters_parameter,
    evaluated,
    last_step,
    seeded,
)
from kernelmeans.search.pieces import clusters_in
from kernelmeans.search.reference import KINDS
from kernelmeans.search.rules import exceeds
from kernelmeans.search.runner import Runner
from kernelmeans.search.splits import SEEDS, Samples, Split

#: Data sets of each kind without clusters.
N_DRAWS = 10
#: The kind that is the rows themselves.
ROWS = "rows"


class Comparison:
    """Comparisons of candidates with data without clusters.

    Parameters
    ----------
    candidates : sequence of Candidate
        The candidates.
    results : mapping
        The columns of the search.
    labels : ndarray of int of shape (n_candidates, n_rows)
        Clusters of all rows by each candidate.
    samples : Samples
        The rows.
    seed : int
        Seed of all draws.
    runner : Runner
        Runs the fits.
    """

    def __init__(
        self,
        candidates: Sequence[Candidate],
        results: Mapping[str, Any],
        labels: IntArray,
        samples: Samples,
        seed: int,
        runner: Runner,
    ) -> None:
        self._candidates = candidates
        self._results = results
        self._labels = labels
        self._samples = samples
        self._draws = np.random.default_rng(seed).integers(SEEDS, size=N_DRAWS).tolist()
        self._runner = runner
        groups, first = np.unique(results["group"], return_index=True)
        several = (prepared(candidates[row].estimator, samples, seed) for row in first)
        self._prepared: dict[int, Samples] = dict(zip(groups.tolist(), several, strict=True))

    def _counts(self, row: int) -> IntArray | None:
        """Clusters of a candidate in each piece of its rows, if they lie in pieces."""
        pieces = self._rows(row).pieces
        return None if pieces is None else clusters_in(pieces, self._labels[row])

    def _rows(self, row: int) -> Samples:
        return self._prepared[self._results["group"][row]]

    def separate(self) -> BoolArray:
        """Which candidates have the pieces of their rows as clusters, shape (n_candidates,)."""
        several = [self._counts(row) for row in range(len(self._candidates))]
        return np.array([counts is not None and counts.max() == 1 for counts in several])

    def is_more(self, row: int) -> tuple[bool, float]:
        """Whether clusters are more than data without clusters give, and how stable these are.

        Pieces of the rows always are. If a candidate divides pieces, and no cluster is in several,
        then each of these pieces is compared with data of its own shape.
        """
        rows, estimator = self._rows(row), self._candidates[row].estimator
        if rows.reference is None:
            return True, np.nan
        estimator = estimator if rows is self._samples else last_step(estimator)
        counts = self._counts(row)
        comparisons = [(self._results["mean_stability"][row], estimator, rows)]
        if counts is not None and counts.max() > 1:
            comparisons = list(self._divided_pieces(estimator, rows, counts)) or comparisons
        highest = np.nan
        for own, estimator, rows in comparisons:
            found = self._stabilities(estimator, rows, KINDS)
            if len(found):
                highest = np.fmax(highest, found.mean(axis=1).max())
                if not exceeds(own, found) and (counts is None or counts.max() > 1):
                    return False, highest
        return True, highest

    def _divided_pieces(
        self, estimator: Any, rows: Samples, counts: IntArray
    ) -> Iterator[tuple[float, Any, Samples]]:
        """Stability of the clusters in each piece that is divided, where it can be found."""
        if (name := clusters_parameter(estimator)) is None:
            return
        for piece in np.flatnonzero(counts > 1):
            part = rows.subset(np.flatnonzero(rows.pieces == piece))
            divider = clone(estimator).set_params(**{name: int(counts[piece])})
            own = self._stabilities(divider, part, [ROWS])
            if len(own):
                yield float(own.mean()), divider, part

    def _stabilities(self, estimator: Any, rows: Samples, kinds: Sequence[str]) -> Array:
        """Stabilities on data of some kinds, shape (n_kinds, n_draws).

        Kinds on which a fit fails, as with kernels that allow no negative values, are left out.
        """
        splits = [Split.of(rows.n_rows, one) for one in self._draws]
        found = np.full(len(kinds) * len(splits), np.nan)
        arguments = [(estimator, rows, kind) for kind in kinds]
        name = "pieces" if ROWS in kinds else "reference"
        run = self._runner.run(name, stabilities_on, splits, arguments)
        with closing(run) as values:
            for place, value in enumerate(values):
                found[place] = value
        table = found.reshape(len(kinds), len(splits))
        kept: Array = table[~np.isnan(table).any(axis=1)]
        return kept


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
    splits: Sequence[Split], estimator: Any, rows: Samples, kind: str
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
        outcome = evaluated(estimator, drawn, split.seed, split)
        yield np.nan if outcome.error else stability(*outcome.labels)
