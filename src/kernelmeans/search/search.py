"""A search for the number of clusters, the kernel and other parameters, without labels."""

import time
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from copy import deepcopy
from numbers import Integral
from typing import TYPE_CHECKING, Any, ClassVar, Self, get_args

import numpy as np
from sklearn import config_context
from sklearn.base import MetaEstimatorMixin
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.validation import check_is_fitted, has_fit_parameter, validate_data

from kernelmeans._estimator import Estimator
from kernelmeans._fitted import count_rows, parts, transformed
from kernelmeans._given import plain, with_gaps
from kernelmeans._sklearn import (
    CallbackSupportMixin,
    ClusterMixin,
    Interval,
    StrOptions,
    _fit_context,
    with_callbacks,
)
from kernelmeans._text import counted
from kernelmeans._typing import IntArray, ScoreName
from kernelmeans._warnings import warn_user
from kernelmeans.estimators.numbers import earlier_labels
from kernelmeans.rows import as_rows
from kernelmeans.search.candidates import Candidate, clusters_parameter, labels_of, seeded
from kernelmeans.search.ladder import AUTO, Ladder, most_clusters
from kernelmeans.search.race import Race
from kernelmeans.search.record import Scoring
from kernelmeans.search.results import column_of, in_order, verdict
from kernelmeans.search.runner import Runner
from kernelmeans.search.splits import SEEDS, Samples, Split

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Most rows that a search uses; of more it draws so many at random.
MOST_ROWS = 4000
#: Fewer rows are few: their halves hold less than twenty.
FEW_ROWS = 40


class ClusterSearch(CallbackSupportMixin, MetaEstimatorMixin, ClusterMixin, Estimator):
    """Choose the number of clusters, the kernel and other parameters without labels.

    A good choice is found again. Each split cuts the rows at random in two halves. Each candidate
    is fitted to both halves, and both models predict all rows. Candidates are compared by the
    agreement of the two labellings, never by costs: these fall with the number of clusters, and
    have another unit for each kernel. "No clusters that would be found again" is a possible answer.
    Splits are added until more would hardly change the answer.

    Parameters
    ----------
    estimator : estimator
        Any that has ``fit`` and ``predict``, for example those of this package and of scikit-learn
        and pipelines of them. A pipeline is fitted as a whole to each half; data without clusters
        have the shape of the rows that reach its last step. A matrix between rows
        (``kernel="precomputed"``, ``kernel="graph"``, ``metric="precomputed"``) is cut by rows and
        columns.
    param_grid : dict or list of dict, default=None
        Values to try for each parameter, as in `sklearn.model_selection.ParameterGrid`. The number
        of clusters is ``n_clusters`` or, of mixtures, ``n_components``. A candidate without one
        uses the estimator's own. ``"auto"`` in place of its values is a ladder. It begins with
        2 to 8, 10 and 12. It goes on with 16, 24, 32, 48 and so on while the last step is found
        again, is the peak of stability beyond the choice, or hardly parts near neighbours. While
        nothing is found again it goes on to 32. It ends at 20 rows for each cluster, or 5 distinct
        ones. Then the numbers near the best steps are tried: all, or every fifteenth part of large
        ones. Between the best steps gaps are a fifth at most. At last the
        `kernelmeans.metrics.eigengap` of the graph is tried. None is the ladder alone.
    n_splits : int, default=20
        Most splits, at least 2. They end when more would hardly change the choice, which is looked
        at after three and then after every second one.
    scoring : {"jaccard", "stability", "prediction_strength", "neighbor_consistency"} or callable, \
default="jaccard"
        How to choose. ``"jaccard"`` takes the largest number of clusters of which each is found
        again: its mean Jaccard overlap is at least 0.75. One of ten clusters may be lost, two of
        twenty, three of forty and so on. Fewer clusters win if they are found again more surely
        (see Notes). ``"prediction_strength"`` takes the largest number with a prediction strength
        of at least 0.8. Each kernel has its own number of clusters by these two rules, and among
        kernels that with the most consistent neighbours wins. The others take the highest score of
        all candidates. A callable has the arguments ``(labels_a, labels_b)``, the labels of the
        same rows by two models, and returns a number of which more is better.
    random_state : int, RandomState instance or None, default=None
        Seed of the splits and of the fits. The seed of a fit depends on the split alone, whatever
        ``random_state`` the estimator has; a fit to all rows keeps that of the estimator.
    n_jobs : int, default=None
        Fits that run at the same time, in processes of joblib with a thread each if there are as
        many as cores; -1 for as many as cores. One after the other, on all cores, when None. The
        results are the same.
    verbose : int, default=0
        How much is printed: nothing for 0, a line for each half of the rows, with an estimate of
        the time left, and the answer for 1, and a line for each fit too for 2. The estimator's own
        ``verbose`` is about its steps.

    Attributes
    ----------
    results_ : dict
        Columns with an entry for each candidate, in the order of ParameterGrid:
        ``params``, ``param_NAME``, ``n_clusters``; ``group``, equal for candidates that differ in
        the number of clusters alone; ``n_splits``, the number of splits; ``split0_SCORE`` and so
        on, NaN for splits that a candidate has not, ``mean_SCORE``, ``std_SCORE`` and
        ``rank_SCORE`` for the scores ``stability``, ``prediction_strength`` and, of a callable,
        ``score``; ``jaccard``, for each cluster of a fit to all rows its mean Jaccard stability,
        ``min_jaccard``, the smallest but for those that may be lost, ``mean_jaccard``, and
        ``rank_jaccard``;
        ``valid``, whether all others are found again;
        ``neighbor_consistency``, corrected for the sizes of the clusters, and its rank;
        ``mean_reference``, the stability on data without clusters, where it was needed;
        ``separate``, whether the clusters are pieces of X that no near neighbours connect;
        ``inertia``, which must not be compared; ``eigengap``, the number of clusters that the
        eigenvalues of a heat kernel suggest; ``mean_fit_time`` in seconds for a half, without
        the steps and neighbours that another candidate has found before. Scores of a candidate
        that fails, or finds fewer clusters than it is asked for, are NaN.
    best_index_ : int or None
        The chosen candidate. None if no clusters would be found again.
    best_params_ : dict
        Parameters of the chosen candidate; those of one cluster if ``best_index_`` is None.
    best_score_ : float
        Mean score of the chosen candidate; NaN if ``best_index_`` is None.
    best_estimator_ : estimator or None
        The chosen candidate, fitted to all rows; None if ``best_index_`` is None.
    refit_time_ : float
        Seconds of the fit of ``best_estimator_``; NaN if there is none.
    labels_ : ndarray of shape (n_samples,)
        Labels of all rows by ``best_estimator_``; zeros if it is None.
    labels_by_candidate_ : ndarray of int of shape (n_candidates, n_rows_used)
        Labels by a fit of each candidate to all rows that were used; -1 for candidates that failed,
        and for rows of no cluster.
        No other labels are kept, and these take a byte each for up to 127 clusters.
    rows_used_ : ndarray of int of shape (n_rows_used,)
        Indices of the rows that were used: all, or 4000 drawn at random if there are more. Copies
        are used once. They are copies if more than a tenth of the different rows are repeated, and
        two columns have mostly different values.
    n_rows_, n_rows_used_ : int
        Number of all rows, and of the rows that were used.
    n_splits_ : int
        Splits of the choice: fewer than ``n_splits`` if the answer was certain before, or the
        search was stopped. If there is none, the most splits of a candidate.
    verdict_ : str
        The answer in words.
    n_features_in_ : int
        Number of features seen in fit.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of features seen in fit, if X has names.

    See Also
    --------
    kernelmeans.metrics : The scores.
    kernelmeans.search.stability_scorer : A score for `sklearn.model_selection.GridSearchCV`.

    Notes
    -----
    ``scoring="jaccard"`` looks at the numbers whose clusters are found again. One of them does not
    count if its stability is less than 0.81 of the best. The same holds for the Jaccard overlap of
    its least stable cluster. With ``"jaccard"`` and ``"stability"`` the choice is also
    compared with draws of data without clusters. It must be far more stable than these are in the
    mean. From 200 rows on, at most one of 20 draws may be more stable. The draws are Gaussian and
    uniform, with the principal axes of X, or of what the steps of a pipeline make of X. Counts that
    tear the graph of neighbours keep their values there. That takes a table of numbers.
    ``verdict_`` says if there was none. Pieces of X that no near neighbours connect are clusters
    even so, and fewer clusters than these do not count with ``"jaccard"``; parts of a piece are
    compared with data of the shape of this piece.

    A candidate gets no more splits when it can hardly be chosen any more, and the search ends when
    a single one can. That is decided by bounds of the means of all ``n_splits`` splits, each of
    which holds with a probability of 0.95 if scores have normal distributions. Data without
    clusters are drawn until more would hardly change the answer, at most ten times of each kind.
    A choice that does not exceed them gets more splits while its upper bound does.
    Fits in a search make eight swap moves, unless ``n_swaps`` is given. Halves take the middle of
    the times of heat that give all rows nearly the same clusters as the best one. The fit of
    ``best_estimator_`` makes all swap moves, and divides pairs of clusters anew.

    A callback that answers True ends the search: it chooses by the splits that are complete. So
    does Ctrl-C, but the fit then raises KeyboardInterrupt, which says how many fits are done.
    ``results_``, ``best_index_``, ``best_params_``, ``best_score_``, ``labels_by_candidate_``,
    ``n_splits_`` and ``verdict_`` are there then, but not ``best_estimator_`` and ``labels_``.
    If no split is complete, the search is as it was before.

    A row of a given graph may have no edge to a half of the rows, and does not count for the model
    of this half. A graph of at least ten neighbours has few such rows. A negative label is noise,
    as of DBSCAN: such rows are in no cluster, and do not count for the model either.

    A candidate whose fit to all rows fails is not fitted to halves. A fit that finds fewer clusters
    than it is asked for has failed: its empty clusters would not be missed in halves. Rows that
    take three values have at most three clusters. A half may find fewer clusters than all rows:
    then the missing ones are not found again.

    References
    ----------
    Ben-Hur, Elisseeff and Guyon (2002), A stability based method for discovering structure in
    clustered data.

    Tibshirani and Walther (2005), Cluster validation by prediction strength.

    Hennig (2007), Cluster-wise assessment of cluster stability.

    Haslbeck and Wulff (2020), Estimating the number of clusters via a corrected clustering
    instability.

    Examples
    --------
    >>> from kernelmeans import ClusterSearch, KernelPowerKMeans
    >>> from sklearn.datasets import make_blobs
    >>> X, _ = make_blobs(150, centers=[[0, 0], [5, 0], [0, 5]], random_state=0)
    >>> grid = {"n_clusters": [2, 3, 4], "kernel": ["heat", "rbf"]}
    >>> search = ClusterSearch(KernelPowerKMeans(), grid, n_splits=5, random_state=0).fit(X)
    >>> search.best_params_["n_clusters"]
    3
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "estimator": [object],
        "param_grid": [object],
        "n_splits": [Interval(Integral, 2, None, closed="left")],
        "scoring": [StrOptions(set(get_args(ScoreName))), callable],
        "verbose": ["verbose"],
        "random_state": ["random_state"],
        "n_jobs": [
            Interval(Integral, None, -1, closed="right"),
            Interval(Integral, 1, None, closed="left"),
            None,
        ],
    }

    best_estimator_: Any
    best_index_: int | None
    # Those of another library for its X.
    labels_: IntArray
    labels_by_candidate_: IntArray
    results_: dict[str, Any]

    def __init__(
        self,
        estimator: Any,
        param_grid: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
        *,
        n_splits: int = 20,
        scoring: Scoring = "jaccard",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.param_grid = param_grid
        self.n_splits = n_splits
        self.scoring = scoring
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    # The estimator may have callbacks, and its parameters are checked when it is fitted.
    @with_callbacks
    @_fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any = None, *, like: Any = None, **params: Any) -> Self:
        """Fit all candidates to halves of the rows, choose one, and fit it to all rows.

        Parameters
        ----------
        X : {array-like, CSR matrix, dataframe, Rows} of shape (n_samples, n_features)
            Rows, or whatever the estimator takes: a matrix between all rows, or a stack of such
            matrices, shape (L, n_samples, n_samples).
        y : Ignored
            Not used, present for API consistency by convention.
        like : array-like of shape (n_samples,), default=None
            Earlier labels of the rows. The clusters of the choice that are found again keep their
            numbers, as in the fit of `kernelmeans.KernelPowerKMeans`.
        **params : Refused
            There are no others: a row counts once, whatever its sample weight.

        Returns
        -------
        self : object
            The fitted search.

        Raises
        ------
        TypeError
            If ``sample_weight`` or another parameter is given, ``like`` for an estimator of
            another package, or as ``param_grid`` neither a dict nor a list of dicts.
        ValueError
            If the estimator or the grid cannot be used, if a half has fewer rows than clusters, or
            if all candidates fail or find fewer clusters than they are asked for.
        KeyboardInterrupt
            If it is interrupted, after storing what it has.
        """
        if params:
            raise TypeError(
                f"ClusterSearch.fit takes no {', '.join(params)}: every row counts once in a "
                "search. Give sample weights to a fit with its best_params_."
            )
        begin, estimator = time.perf_counter(), _checked(self.estimator)
        name = clusters_parameter(estimator)
        if name is None and self.param_grid is None:
            raise ValueError(
                f"estimator={estimator!r} has no number of clusters to choose: give the values of "
                "its parameters as param_grid."
            )
        ladder = Ladder({name: AUTO} if self.param_grid is None else self.param_grid, name)
        if not (first := ladder.first()):
            raise ValueError("param_grid=[] holds no candidates: give at least one dict of values.")
        # Other packages take a matrix with entries twice, or masked values, in their own ways.
        X = plain(with_gaps(X))
        whole = Samples.of(X, [Candidate.of(estimator, one).estimator for one in first])
        rng = check_random_state(self.random_state)
        seed, *seeds = rng.randint(SEEDS, size=self.n_splits + 1).tolist()
        keeping = _keeping(like, estimator, whole.n_rows)
        used = whole.sample(MOST_ROWS, seed)
        first = ladder.first(most_clusters(len(used)))
        candidates = [Candidate.of(estimator, one) for one in first]
        _check_halves(len(used), candidates, ladder)
        splits = [Split.of(len(used), one) for one in seeds]
        race = Race(whole.subset(used), splits, self.scoring, seed, Runner(self, X))
        record = race.record

        def more() -> list[Candidate]:
            if not (record.n_splits and ladder.is_open):
                return []
            most = most_clusters(len(used), race.n_distinct)
            found = ladder.more(race.results, race.firsts, most)
            return [Candidate.of(estimator, one) for one in found]

        try:
            while candidates and not race.runner.stopped:
                race.runner.forecast.may_grow = ladder.is_open
                race.enter(candidates)
                if not (candidates := more()) and record.n_splits:
                    race.runner.forecast.may_grow = False
                    race.run()
                    # Data without clusters may have refuted what ended the ladder.
                    candidates = more() if race.best is None else []
        except KeyboardInterrupt:
            if record.n_splits:
                self._store(X, race, ladder, used, whole.n_rows)
            raise KeyboardInterrupt(record.progress()) from None
        finally:
            race.runner.await_start()
        if not record.n_splits:
            raise RuntimeError(f"A callback has stopped the search: {record.progress()}.")
        self._store(X, race, ladder, used, whole.n_rows)
        if record.errors:
            warn_user(f"Candidates that failed have no score: {record.failures()}.")
        self._refit(X, seed, keeping)
        self._say(1, f"{self.verdict_}, after {time.perf_counter() - begin:.3g} s")
        race.runner.end()
        return self

    def predict(self, X: Any) -> IntArray:
        """Labels of rows by ``best_estimator_``; zeros if it is None.

        Parameters
        ----------
        X : {array-like, CSR matrix, dataframe, Rows} of shape (n_rows, n_features)
            New rows, as the estimator takes them.

        Returns
        -------
        labels : ndarray of shape (n_rows,)
            Index of the cluster of each row.

        Raises
        ------
        NotFittedError
            If the search has not been fitted to its end.
        """
        check_is_fitted(self)
        if self.best_estimator_ is None:
            X = plain(X)
            tags = self.__sklearn_tags__().input_tags
            if tags.two_d_array and hasattr(self, "n_features_in_"):
                finite: Any = "allow-nan" if tags.allow_nan else True
                given = {"accept_sparse": "csr", "dtype": None, "ensure_all_finite": finite}
                skipped = hasattr(X, "columns") or as_rows(X) is not None
                validate_data(self, X, reset=False, skip_check_array=skipped, **given)
            return np.zeros(count_rows(X, self.estimator), dtype=np.int32)
        labels: IntArray = self.best_estimator_.predict(X)
        return labels

    def cut(self, n_clusters: int, X: Any = None) -> IntArray:
        """Labels of fewer clusters: those of ``best_estimator_``, merged along its tree.

        Searches for different numbers of clusters have unrelated answers. Those of one tree are
        nested.

        Parameters
        ----------
        n_clusters : int
            Number of clusters, at most that of the choice.
        X : {array-like, CSR matrix, dataframe, Rows}, default=None
            New rows, as in `predict`. When None, all rows of the fit.

        Returns
        -------
        labels : ndarray of shape (n_rows,)
            Index of the cluster of each row, as in `kernelmeans.KernelPowerKMeans.cut`.

        Raises
        ------
        NotFittedError
            If the search has not been fitted to its end.
        ValueError
            If there cannot be so many clusters, or if the search has chosen none.
        """
        transformers, model = parts(self)
        labels: IntArray = model.cut(
            n_clusters, None if X is None else transformed(transformers, X)
        )
        return labels

    def plot(self) -> "Figure":
        """Draw the search with `kernelmeans.plotting.plot_search`.

        Returns
        -------
        matplotlib.figure.Figure
            Call its ``savefig``, or display it in a notebook.

        Raises
        ------
        ImportError
            If matplotlib is missing: the extra ``plot`` has it.
        NotFittedError
            If the search has not been fitted.
        """
        from kernelmeans.plotting import plot_search

        return plot_search(self)

    def _store(self, X: Any, race: Race, ladder: Ladder, used: IntArray, n_rows: int) -> None:
        """Set what is known from the splits that are complete; forget an earlier fit."""
        for name in [name for name in vars(self) if name.endswith("_")]:
            delattr(self, name)
        validate_data(self, X, skip_check_array=True)
        n_clusters, groups = race.results["n_clusters"], race.results["group"]
        # The candidates of a ladder came as they were needed, in no order.
        order = np.lexsort((n_clusters, groups)) if ladder.is_open else np.arange(len(groups))
        self.results_ = in_order(race.results, order)
        self.best_index_ = None if race.best is None else order.tolist().index(race.best)
        self.labels_by_candidate_ = race.record.labels()[order]
        self.rows_used_, self.n_rows_used_, self.n_rows_ = used, len(used), n_rows
        best, self.best_score_ = self.best_index_, np.nan
        self.best_params_ = {clusters_parameter(self.estimator) or "n_clusters": 1}
        others: Mapping[str, Any] = {}
        self.n_splits_ = race.record.n_splits
        if best is not None:
            self.best_params_ = self.results_["params"][best]
            self.best_score_ = float(self.results_[column_of(self.scoring)][best])
            others = Candidate.of(self.estimator, self.best_params_).others
            self.n_splits_ = int(self.results_["n_splits"][best])
        few = f"{self.n_rows_used_} of " * (self.n_rows_used_ < self.n_rows_)
        halved = f"{counted(self.n_splits_, 'split')} of {few}{self.n_rows_} rows"
        self.verdict_ = verdict(self.results_, best, others, halved)

    def _refit(self, X: Any, seed: int, keeping: Mapping[str, Any]) -> None:
        """Fit the choice to all rows, which may keep earlier numbers."""
        self.refit_time_ = np.nan
        if self.best_index_ is None:
            self.best_estimator_, self.labels_ = None, np.zeros(self.n_rows_, dtype=np.int32)
            return
        chosen, begin = Candidate.of(self.estimator, self.best_params_), time.perf_counter()
        estimator = seeded(chosen.estimator, seed, only_unset=True)
        # With metadata routing a pipeline refuses STEP__like.
        with config_context(enable_metadata_routing=False) if keeping else nullcontext():
            self.best_estimator_ = estimator.fit(X, **keeping)
        self.refit_time_ = time.perf_counter() - begin
        self.labels_ = labels_of(self.best_estimator_, X)

    def __sklearn_is_fitted__(self) -> bool:
        return "labels_" in vars(self)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags = deepcopy(get_tags(self.estimator).input_tags)
        return tags


def _checked(estimator: Any) -> Any:
    """An estimator that can be searched over."""
    if isinstance(estimator, type):
        raise TypeError(
            f"estimator={estimator.__name__} is a class; give an estimator, {estimator.__name__}()."
        )
    missing = [name for name in ("fit", "predict") if not hasattr(estimator, name)]
    if missing:
        raise TypeError(
            f"estimator={estimator!r} has no method {' and no '.join(missing)}; a search needs "
            "clusters that can be predicted for rows that the fit has not seen."
        )
    return estimator


def _keeping(like: Any, estimator: Any, n_rows: int) -> dict[str, Any]:
    """Arguments of a fit whose clusters keep the numbers of earlier labels, if there are any."""
    if like is None:
        return {}
    *_, (step, last) = getattr(estimator, "steps", [("", estimator)])
    if not has_fit_parameter(last, "like"):
        raise TypeError(
            f"like: clusters of {type(last).__name__} cannot keep their numbers; leave out like, "
            "or search over an estimator of kernelmeans."
        )
    return {f"{step}__like".removeprefix("__"): earlier_labels(like, n_rows)}


def _check_halves(n_rows: int, candidates: Sequence[Candidate], ladder: Ladder) -> None:
    """Refuse fewer rows in a half than clusters, and warn of few rows."""
    most = max(one.n_clusters or 1 for one in candidates)
    if n_rows // 2 < most:
        fewer = "" if ladder.is_open else ", or fewer clusters in param_grid"
        raise ValueError(
            f"n_samples={n_rows} is too few: half of the rows have to hold the largest number of "
            f"clusters, {most}. Give at least {2 * most} rows{fewer}."
        )
    if n_rows < FEW_ROWS:
        warn_user(
            f"n_samples={n_rows} is few for a search: models of {n_rows // 2} rows easily miss "
            "clusters, or differ by chance. Give more rows, or look at the clusters themselves."
        )
