"""Scores of candidates, and the columns of `ClusterSearch.results_`."""

from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter
from pickle import PicklingError
from typing import Any

import numpy as np
from scipy.stats import rankdata

from kernelmeans._dialect import option
from kernelmeans._memory import content_hash
from kernelmeans._text import counted
from kernelmeans._typing import Array, IntArray, ScoreName
from kernelmeans.metrics import jaccard_stability, prediction_strength, stability
from kernelmeans.search.candidates import Candidate, Outcome
from kernelmeans.search.rules import exceeds, validity
from kernelmeans.search.splits import UNPLACED, Split

#: Most candidates that a message lists.
NAMED = 5
#: Any score of two labellings, as the parameter ``scoring``.
Scoring = ScoreName | Callable[[IntArray, IntArray], float]


def name_of(scoring: Scoring) -> str:
    """The name of a score in columns; that of a callable is ``"score"``."""
    return scoring if isinstance(scoring, str) else "score"


def column_of(scoring: Scoring) -> str:
    """The column that holds a score."""
    name = name_of(scoring)
    return {"jaccard": "min_jaccard", "neighbor_consistency": name}.get(name, f"mean_{name}")


def split_scores(split: Split, labels: Sequence[IntArray], scoring: Scoring) -> dict[str, Any]:
    """Scores of a candidate from the labels of all rows by the models of two halves.

    Parameters
    ----------
    split : Split
        The halves.
    labels : sequence of two ndarray of int of shape (n_rows,)
        The labels.
    scoring : str or callable
        A callable is one more score, called ``"score"``.

    Returns
    -------
    dict of float
        The scores by name.
    """
    placed = (labels[0] >= 0) & (labels[1] >= 0)
    both = [one[placed] for one in labels]
    scores = {"stability": stability(*both)}
    if callable(scoring):
        scores["score"] = float(scoring(*both))
    strengths = []
    for own, other, rows in zip(labels, reversed(labels), split.halves, strict=True):
        known = rows[placed[rows]]
        strengths.append(prediction_strength(own[known], other[known]))
    return {**scores, "prediction_strength": float(np.mean(strengths))}


class Record:
    """Outcomes of a search as they come in: of all rows first, and then split by split.

    Parameters
    ----------
    candidates : sequence of Candidate
        The candidates.
    splits : sequence of Split
        The splits.
    scoring : str or callable
        The parameter of the search.

    Attributes
    ----------
    n_fits : int
        Fits that are done.
    errors : dict
        The first error of each candidate that failed.
    """

    def __init__(
        self, candidates: Sequence[Candidate], splits: Sequence[Split], scoring: Scoring
    ) -> None:
        self.candidates = candidates
        self.splits = splits
        self.scoring = scoring
        self.n_fits = 0
        self.errors: dict[int, str] = {}
        self._whole: list[Outcome] = []
        self._scores: list[dict[str, Any]] = []

    @property
    def kept(self) -> list[int]:
        """Candidates but those of which a fit to all rows has failed: splits are not for them."""
        failed = {row for row, one in enumerate(self._whole) if not one.labels}
        return [row for row in range(len(self.candidates)) if row not in failed]

    @property
    def n_splits(self) -> int:
        """Splits that are complete."""
        return len(self._scores) // len(self.kept)

    def add(self, outcome: Outcome) -> None:
        """Take the next outcome; refuse to go on if no candidate is left."""
        error, wanted = outcome.error, name_of(self.scoring)
        if len(self._whole) < len(self.candidates):
            self.n_fits += 1
            candidate = len(self._whole)
            self._whole.append(outcome)
            if wanted == "neighbor_consistency" and np.isnan(outcome.neighbor_consistency):
                error = error or "the neighbours of a row are not known: X is no table of numbers"
        else:
            self.n_fits += 2
            candidate = self.kept[len(self._scores) % len(self.kept)]
            scores: dict[str, Any] = {}
            if outcome.labels:
                whole = self._whole[candidate].labels[0]
                scores = split_scores(self.splits[self.n_splits], outcome.labels, self.scoring)
                error = "the score is NaN" if np.isnan(scores.get(wanted, 0)) else None
                found_again = jaccard_stability(whole, outcome.labels)
                scores["jaccard"] = found_again[np.unique(whole) >= 0]
                scores["fit_time"] = outcome.fit_time / len(outcome.labels)
            self._scores.append(scores)
        if error is not None:
            self.errors.setdefault(candidate, error)
        if len(self.errors) == len(self.candidates):
            wrong_type = all(why.startswith("TypeError") for why in self.errors.values())
            kind = TypeError if wrong_type else ValueError
            raise kind(f"All candidates failed: {self.failures()}.")

    def failures(self) -> str:
        """What went wrong, and for which candidates."""
        alike: dict[str, list[str]] = {}
        for row, why in self.errors.items():
            alike.setdefault(why.rstrip("."), []).append(str(self.candidates[row].params))
        return "; ".join(
            ", ".join(named[:NAMED])
            + f" and {len(named) - NAMED} more" * (len(named) > NAMED)
            + f": {why}"
            for why, named in alike.items()
        )

    def progress(self) -> str:
        """How far it got."""
        n_fits = len(self.candidates) + 2 * len(self.splits) * len(self.kept)
        done = f"{self.n_fits} of {n_fits} fits are done"
        if not self.n_splits:
            return f"{done}, and no split is complete"
        return f"{done}; results_ and best_params_ are of {counted(self.n_splits, 'whole split')}"

    def labels(self) -> IntArray:
        """Labels of all rows by each candidate, shape (n_candidates, n_rows)."""
        n_rows = sum(map(len, self.splits[0].halves))
        nothing = np.full(n_rows, UNPLACED)
        every: IntArray = np.array(
            [one.labels[0] if one.labels else nothing for one in self._whole]
        )
        return every.astype(np.result_type(*map(np.min_scalar_type, (every.min(), every.max()))))

    def columns(self) -> dict[str, Any]:
        """The columns, each with an entry for each candidate, from the splits that are complete."""
        n_candidates, n_splits = len(self.candidates), self.n_splits
        params = [dict(one.params) for one in self.candidates]
        found: dict[str, Any] = {"params": params}
        for name in sorted({name for one in params for name in one}):
            values = np.ma.MaskedArray(np.empty(n_candidates, dtype=object), mask=True)
            for row, one in enumerate(params):
                if name in one:
                    values[row] = one[name]
            found[f"param_{name}"] = values
        found["n_clusters"] = np.array(
            [
                one.n_clusters or np.count_nonzero(np.unique(whole.labels) >= 0)
                for one, whole in zip(self.candidates, self._whole, strict=True)
            ]
        )
        kinds = [_content(one.others) for one in self.candidates]
        found["group"] = np.array([kinds.index(kind) for kind in kinds])
        names = ["stability", "prediction_strength", *["score"] * callable(self.scoring)]
        kept = self.kept
        done = self._scores[: n_splits * len(kept)]
        for name in [*names, "fit_time"]:
            table = np.full((n_splits, n_candidates), np.nan)
            every = np.array([one.get(name, np.nan) for one in done], dtype=float)
            table[:, kept] = every.reshape(n_splits, len(kept))
            found[f"mean_{name}"] = table.mean(axis=0)
            if name in names:
                found |= {f"split{b}_{name}": row for b, row in enumerate(table)}
                found[f"std_{name}"] = table.std(axis=0)
        found["jaccard"] = np.empty(n_candidates, dtype=object)
        found["jaccard"][:] = [np.array([np.nan])] * n_candidates
        for place, row in enumerate(kept):
            found["jaccard"][row] = _mean([one.get("jaccard") for one in done[place :: len(kept)]])
        found["min_jaccard"] = np.array([one.min() for one in found["jaccard"]])
        for name in ("neighbor_consistency", "inertia"):
            found[name] = np.array([getattr(one, name) for one in self._whole])
        found["mean_reference"] = np.full(n_candidates, np.nan)
        found["separate"] = np.zeros(n_candidates, dtype=bool)
        found["valid"] = validity(found, name_of(self.scoring))
        for name in ("min_jaccard", "neighbor_consistency", *(f"mean_{one}" for one in names)):
            found["rank_" + name.removeprefix("mean_").removeprefix("min_")] = _ranks(found[name])
        return found


def _content(params: Mapping[str, Any]) -> str:
    """Equal for equal parameters; the repr of a long array shows a few of its values."""
    named = sorted(params.items(), key=itemgetter(0))
    try:
        return content_hash(named)
    except (AttributeError, TypeError, PicklingError):  # as of functions without a name
        return repr(named)


def _ranks(scores: Array) -> IntArray:
    """Ranks from 1 on, as in ``cv_results_``: equal scores have the smallest, NaN the largest."""
    lowest = np.where(np.isnan(scores), -np.inf, scores)
    return np.asarray(rankdata(-lowest, method="min"), dtype=np.int32)


def _mean(jaccard: Sequence[Array | None]) -> Array:
    """Mean of each cluster over the splits in which it was seen; NaN if one of them failed."""
    values = [one for one in jaccard if one is not None]
    if len(values) < len(jaccard):
        return np.array([np.nan])
    seen = ~np.isnan(values)
    with np.errstate(invalid="ignore"):
        mean: Array = np.where(seen, values, 0).sum(axis=0) / seen.sum(axis=0)
    return mean


def verdict(
    results: Mapping[str, Any], best: int | None, others: Mapping[str, Any], halved: str
) -> str:
    """The answer of a search in words.

    Parameters
    ----------
    results : mapping
        The columns.
    best : int or None
        The choice.
    others : mapping
        Its parameters but the number of clusters.
    halved : str
        Splits and rows, in words.

    Returns
    -------
    str
        One sentence, without a full stop.
    """
    if best is None:
        alike = not np.isnan(results["mean_reference"]).all()
        lost = "each candidate loses at least one of its clusters"
        why = "data without clusters is nearly as stable" if alike else lost
        return f"no clusters that would be found again in {halved}: {why}"
    settings = ", ".join(option(name, value) for name, value in others.items())
    chosen = counted(int(results["n_clusters"][best]), "cluster")
    chosen += f" with {settings}" * bool(settings)
    found = "found again" if results["valid"][best] else "the best score, but not all found again,"
    reference = results["mean_reference"][best]
    compared = "not compared with data without clusters"
    if not np.isnan(reference):
        compared = f"data without clusters has a stability of {reference:.2f}"
    if results["separate"][best] and not exceeds(results["mean_stability"][best], reference):
        compared += ", but no near neighbours connect these clusters"
    return (
        f"{chosen}: {found} in {halved}, with stability {results['mean_stability'][best]:.2f}, "
        f"prediction strength {results['mean_prediction_strength'][best]:.2f} and Jaccard overlap "
        f"{results['min_jaccard'][best]:.2f} of the least stable cluster; {compared}"
    )
