"""What the fits of a search have given so far."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from kernelmeans._memory import Found
from kernelmeans._text import counted
from kernelmeans._typing import Array, IntArray, ScoreName
from kernelmeans.metrics import jaccard_stability, prediction_strength, stability
from kernelmeans.search.candidates import Candidate, Outcome, groups_of
from kernelmeans.search.splits import UNPLACED, Split

#: Most candidates that a message lists.
NAMED = 5
#: Any score of two labellings, as the parameter ``scoring``.
Scoring = ScoreName | Callable[[IntArray, IntArray], float]


def name_of(scoring: Scoring) -> str:
    """The name of a score in columns; that of a callable is ``"score"``."""
    return scoring if isinstance(scoring, str) else "score"


def split_scores(
    split: Split, labels: Sequence[IntArray], whole: IntArray, scoring: Scoring
) -> dict[str, Any]:
    """Scores of a candidate from the labels of all rows by the models of two halves.

    Parameters
    ----------
    split : Split
        The halves.
    labels : sequence of two ndarray of int of shape (n_rows,)
        The labels.
    whole : ndarray of int of shape (n_rows,)
        Labels by the model of all rows.
    scoring : str or callable
        A callable is one more score, called ``"score"``.

    Returns
    -------
    dict
        The scores by name, and the ``"jaccard"`` of each cluster of all rows. Nothing if no row of
        a half has a label by both models.
    """
    if (placed := split.placed(labels)) is None:
        return {}
    both = [one[placed] for one in labels]
    scores: dict[str, Any] = {"stability": stability(*both)}
    if callable(scoring):
        scores["score"] = float(scoring(*both))
    strengths = []
    for own, other, rows in zip(labels, reversed(labels), split.halves, strict=True):
        known = rows[placed[rows]]
        strengths.append(prediction_strength(own[known], other[known]))
    scores["prediction_strength"] = float(np.mean(strengths))
    scores["jaccard"] = jaccard_stability(whole, labels)[np.unique(whole) >= 0]
    return scores


class Record:
    """Outcomes of a search as they come in: of all rows first, and then split by split.

    Parameters
    ----------
    splits : sequence of Split
        The splits.
    scoring : str or callable
        The parameter of the search.

    Attributes
    ----------
    candidates : list of Candidate
        The candidates, in the order in which they have come.
    groups : list of int
        A number for each, equal for those that differ in the number of clusters alone.
    n_fits : int
        Fits that are done.
    errors : dict
        The first error of each candidate that failed.
    """

    def __init__(self, splits: Sequence[Split], scoring: Scoring) -> None:
        self.candidates: list[Candidate] = []
        self.groups: list[int] = []
        self.splits = splits
        self.scoring = scoring
        self.n_fits = 0
        self.errors: dict[int, str] = {}
        self._whole: dict[int, Outcome] = {}
        self._scores: list[list[dict[str, Any]]] = []

    @property
    def kept(self) -> list[int]:
        """Candidates with a fit to all rows; splits are for these alone."""
        return [row for row, outcome in self._whole.items() if outcome.labels is not None]

    @property
    def n_splits(self) -> int:
        """Splits of the candidate that has most."""
        return max(map(len, self._scores), default=0)

    def add(self, candidates: Sequence[Candidate]) -> list[int]:
        """Take candidates, and return their numbers, in the order in which they are to be fitted.

        Those of one kernel follow each other, and those of more clusters come first: they share
        what they look for.
        """
        n_before = len(self.candidates)
        self.candidates += candidates
        self._scores += [[] for _ in candidates]
        self.groups = groups_of(self.candidates)
        return self.ordered(range(n_before, len(self.candidates)))

    def ordered(self, rows: Iterable[int]) -> list[int]:
        """Candidates in the order in which they are to be fitted."""
        asked = [one.n_clusters or 0 for one in self.candidates]
        return sorted(rows, key=lambda row: (self.groups[row], -asked[row]))

    def add_whole(self, row: int, outcome: Outcome) -> None:
        """Take the fit of a candidate to all rows."""
        self._whole[row], error = outcome, outcome.error
        wanted = name_of(self.scoring) == "neighbor_consistency"
        if wanted and np.isnan(outcome.neighbor_consistency):
            error = error or "the neighbours of a row are not known: X is no table of numbers"
        self._note(row, error)

    def add_split(self, row: int, halves: Sequence[Outcome]) -> None:
        """Take the fits of a candidate to both halves of its next split."""
        whole, scores = self._whole[row].labels, {}
        error = next((one.error for one in halves if one.error), None)
        labels = [one.labels for one in halves if one.labels is not None]
        if whole is not None and not error:
            split = self.splits[len(self._scores[row])]
            scores = split_scores(split, labels, whole, self.scoring)
            error = None if scores else "no row of a half has a label by both models"
            score = scores.get(name_of(self.scoring), 0)
            if not np.isfinite(score).any():
                scores, error = {}, f"the score is {'NaN' if np.isnan(score).all() else score}"
            scores["fit_time"] = float(np.mean([one.fit_time for one in halves]))
        self._scores[row].append(scores)
        self._note(row, error)

    def _note(self, row: int, error: str | None) -> None:
        """Keep the first error of a candidate; refuse to go on if no candidate is left."""
        if error is not None:
            self.errors.setdefault(row, error)
        if len(self.errors) == len(self.candidates):
            wrong_type = all(why.startswith("TypeError") for why in self.errors.values())
            kind = TypeError if wrong_type else ValueError
            raise kind(f"All candidates failed: {self.failures()}.")

    def failures(self) -> str:
        """What went wrong, and for which candidates."""
        alike: dict[str, list[str]] = {}
        for row, why in sorted(self.errors.items()):
            alike.setdefault(why.rstrip("."), []).append(str(self.candidates[row].params))
        return "; ".join(
            ", ".join(named[:NAMED])
            + f" and {len(named) - NAMED} more" * (len(named) > NAMED)
            + f": {why}"
            for why, named in alike.items()
        )

    def progress(self) -> str:
        """How far it got."""
        done = f"{counted(self.n_fits, 'fit')} are done"
        if not self.n_splits:
            return f"{done}, and no split is complete"
        return f"{done}; results_ and best_params_ are of {counted(self.n_splits, 'whole split')}"

    def labels(self) -> IntArray:
        """Labels of all rows by each candidate, shape (n_candidates, n_rows)."""
        n_rows = sum(map(len, self.splits[0].halves))
        every = np.full((len(self.candidates), n_rows), UNPLACED)
        for row in self.kept:
            every[row] = self._whole[row].labels
        return every.astype(np.result_type(*map(np.min_scalar_type, (every.min(), every.max()))))

    def settled(self, row: int) -> Found:
        """What the fit of a candidate to all rows has chosen by itself."""
        return self._whole[row].settled if row in self._whole else {}

    def of_all_rows(self, name: str) -> Array:
        """An attribute of the fits to all rows, shape (n_candidates,)."""
        return np.array([getattr(self._whole[row], name) for row in range(len(self.candidates))])

    def n_clusters(self) -> IntArray:
        """Clusters that candidates are asked for, or else find in all rows."""
        found = [np.count_nonzero(np.unique(one) >= 0) for one in self.labels()]
        asked = [one.n_clusters for one in self.candidates]
        return np.array([k or own for k, own in zip(asked, found, strict=True)])

    def table(self, name: str) -> Array:
        """A score in each split, shape (n_splits, n_candidates); NaN where there is none."""
        table = np.full((self.n_splits, len(self.candidates)), np.nan)
        for row, own in enumerate(self._scores):
            table[: len(own), row] = [scores.get(name, np.nan) for scores in own]
        return table

    def splits_of(self, row: int) -> int:
        """The number of splits of a candidate."""
        return len(self._scores[row])

    def jaccard(self, row: int) -> Array:
        """Overlaps of each cluster in each split, shape (n_splits, n_clusters).

        A cluster is NaN in splits that have not seen it. All are if a split has failed.
        """
        own = [scores.get("jaccard") for scores in self._scores[row]]
        if not own or any(one is None for one in own):
            return np.full((1, 1), np.nan)
        return np.array(own)
