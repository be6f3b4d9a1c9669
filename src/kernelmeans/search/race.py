"""Which candidates are fitted to which halves, until more splits would hardly change the choice."""

from collections.abc import Generator, Sequence
from contextlib import closing
from itertools import groupby, islice
from typing import Any

import numpy as np

from kernelmeans._typing import BoolArray
from kernelmeans.search.bounds import contenders, firsts
from kernelmeans.search.candidates import Candidate, Outcome, evaluate
from kernelmeans.search.comparison import Comparison
from kernelmeans.search.record import Record, Scoring, name_of
from kernelmeans.search.results import bounds_of, columns_of
from kernelmeans.search.rules import best_of
from kernelmeans.search.runner import Runner
from kernelmeans.search.splits import FIRST_ROUND, ROUND, Samples, Split

#: Scorings whose choice is compared with data without clusters.
REFERRED = ("jaccard", "stability")


class Race:
    """A search among candidates, in rounds of splits.

    Parameters
    ----------
    samples : Samples
        The rows.
    splits : sequence of Split
        All splits that there may be.
    scoring : str or callable
        The parameter of the search.
    seed : int
        Seed of all but the splits.
    runner : Runner
        Runs the fits.

    Attributes
    ----------
    record : Record
        What the fits have given.
    results : dict
        The columns of the search, of the splits that are complete.
    """

    def __init__(
        self,
        samples: Samples,
        splits: Sequence[Split],
        scoring: Scoring,
        seed: int,
        runner: Runner,
    ) -> None:
        self.record = Record(splits, scoring)
        self.results: dict[str, Any] = {}
        self._samples, self._seed, self.runner = samples, seed, runner
        self._scoring = name_of(scoring)
        self._comparison = Comparison(self.record, samples, seed, runner)
        self._separate: BoolArray | None = None
        self._refuted: set[int] = set()
        self._references: dict[int, float] = {}

    @property
    def best(self) -> int | None:
        """The best candidate so far, of those that data without clusters have not refuted."""
        return best_of(self.results, self.firsts)

    @property
    def firsts(self) -> list[int]:
        """The best candidate of each kernel so far, of those with all first splits."""
        least = min(FIRST_ROUND, self.record.n_splits)
        few = np.flatnonzero(self.results["n_splits"] < least).tolist()
        return firsts(self.results, self._scoring, self._refuted.union(few))

    @property
    def n_distinct(self) -> int:
        """Distinct rows that candidates cluster."""
        return self._comparison.n_distinct

    def enter(self, candidates: Sequence[Candidate]) -> None:
        """Fit candidates to all rows, and to the halves of the first splits."""
        rows, record = self.record.add(candidates), self.record
        with closing(self._outcomes("all rows", rows, [(self._samples, self._seed)])) as fits:
            for outcome, row in zip(fits, rows, strict=False):
                record.add_whole(row, outcome)
        if self.runner.stopped:
            return
        if self._is_referred:
            self._separate = self._comparison.separate()
        kept = [row for row in rows if row in record.kept]
        self._add_round(kept, FIRST_ROUND)
        # Candidates that have failed are in no round.
        self._update()

    @property
    def _is_referred(self) -> bool:
        """Whether the choice depends on data without clusters: no user has chosen a number."""
        return self._scoring in REFERRED and bool(np.ptp(self.record.n_clusters()))

    def run(self) -> None:
        """Add splits until the choice is certain, and is more than data without clusters give."""
        self._add_splits()
        while self._is_referred and not self.runner.stopped and (best := self.best) is not None:
            stability, n_splits = self.results["mean_stability"][best], self.record.splits_of(best)
            more, self._references[best] = self._comparison.is_more(best, stability)
            # While splits are left, the answer has to be the same at its bound.
            bound = self._bounds()[0 if more else 1]["mean_stability"][best]
            is_open = n_splits < len(self.record.splits)
            if is_open and self._comparison.is_more(best, bound)[0] != more:
                self._add_round([best], n_splits + ROUND)
            elif more:
                self._update()
                return
            else:
                self._refuted.add(best)
            self._update()
            self._add_splits()

    def _add_splits(self) -> None:
        """Add splits of candidates that may be chosen, until the choice is certain."""
        n_all = len(self.record.splits)
        for n_splits in [*range(FIRST_ROUND + ROUND, n_all, ROUND), n_all]:
            if self.runner.stopped:
                return
            bounds = self._bounds()
            if not (rows := contenders(self.results, *bounds, self._scoring, self._refuted)):
                return
            self._add_round(self.record.ordered(rows), n_splits)

    def _bounds(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """The columns with lower bounds, and with upper bounds, of the means of all splits."""
        return bounds_of(self.record, self.results)

    def _add_round(self, rows: Sequence[int], n_splits: int) -> None:
        """Let candidates have so many splits, or all that there are."""
        record = self.record
        n_splits = min(n_splits, len(record.splits))
        missing = {
            number: [row for row in rows if record.splits_of(row) <= number]
            for number in range(n_splits)
        }
        for lacking, numbers in groupby(range(n_splits), key=missing.__getitem__):
            splits = [record.splits[number] for number in numbers]
            tasks = [(self._samples, one.seed, half) for one in splits for half in one.halves]
            if not lacking:
                continue
            with closing(self._outcomes("splits", lacking, tasks)) as fits:
                while len(both := list(islice(fits, 2 * len(lacking)))) == 2 * len(lacking):
                    for row, *halves in zip(lacking, both, both[len(lacking) :], strict=False):
                        record.add_split(row, halves)
                    self._update()

    def _outcomes(
        self, name: str, rows: Sequence[int], tasks: Sequence[tuple[Any, ...]]
    ) -> Generator[Outcome, None, None]:
        """Outcomes of candidates for each task."""
        record = self.record
        items = [(record.candidates[row].estimator, record.settled(row)) for row in rows]
        with closing(self.runner.run(name, evaluate, items, tasks)) as outcomes:
            for outcome in outcomes:
                self.record.n_fits += 1
                yield outcome

    def _update(self) -> None:
        """Bring the columns up to date."""
        self.results = columns_of(self.record)
        for row, reference in self._references.items():
            self.results["mean_reference"][row] = reference
        if self._separate is not None:
            self.results["separate"] = self._separate
