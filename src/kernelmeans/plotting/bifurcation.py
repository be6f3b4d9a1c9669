"""How centroids part while an estimator anneals."""

import warnings
from typing import Any, NamedTuple

import numpy as np
from matplotlib import rc_context
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import pdist, squareform
from sklearn.base import clone

from kernelmeans._fitted import on_host, parts, readable, transformed
from kernelmeans._typing import Array, IntArray
from kernelmeans.plotting.style import BLUE, DASHED, PAGE, WIDTH, Picture

# The warmest power relative to the critical one, the coldest at least, and the number of powers.
_WARMEST, _COLDEST, _POWERS = 0.1, 4, 40
# Smallest size of the critical power, because no power is above 0.
_LEAST_CRITICAL = 0.1
# Distance below which centroids count as one, as a fraction of the largest distance between any.
_ONE = 0.02
# Most steps at a power.
_STEPS = 200


class Paths(NamedTuple):
    """Centroids at rising powers.

    Attributes
    ----------
    powers : ndarray of shape (n_powers,)
        The powers, the coldest first.
    n_distinct : ndarray of int of shape (n_powers,)
        Number of distinct centroids.
    places : ndarray of shape (n_powers, k)
        Their places on the first principal axis of the centroids at the coldest power.
    """

    powers: Array
    n_distinct: IntArray
    places: Array


def plot_bifurcation(estimator: Any, X: Any) -> Figure:
    """Draw the number of distinct centroids against the power, and the centroids' places.

    Near 0 the power makes centroids coincide, and while annealing they part. The picture shows how
    annealing works. It does not choose a number of clusters: in ``benchmarks/choosing.py`` the
    longest plateau is within one of the number of classes on a quarter of the sets at best.

    Parameters
    ----------
    estimator : KernelPowerKMeans, PowerKMeans, Pipeline or ClusterSearch
        Fitted without sample weights.
    X : array-like, sparse matrix or data frame
        The rows of the fit, as `predict` takes them; the kernel matrix if precomputed.

    Returns
    -------
    matplotlib.figure.Figure
        Not tied to pyplot: call its ``savefig``, or display it in a notebook.

    Raises
    ------
    NotFittedError
        If the estimator has not been fitted.
    TypeError
        If it is no clusterer that can label rows.
    ValueError
        If the estimator does not anneal, has several kernels or keeps no memberships, or X does not
        vary or has not as many rows as the fit.

    Notes
    -----
    The estimator is fitted again at 40 constant powers, from the clusters back to the mean; each
    fit starts with the memberships of the one before. In the other direction centroids that
    coincide would wait for rounding to part them. So some centroids stay apart above the critical
    power, at which they would begin to part.

    Examples
    --------
    >>> from kernelmeans import KernelPowerKMeans
    >>> from kernelmeans.plotting import plot_bifurcation
    >>> from sklearn.datasets import load_iris
    >>> X = load_iris().data
    >>> model = KernelPowerKMeans(4, kernel="rbf", random_state=0).fit(X)
    >>> len(plot_bifurcation(model, X).get_axes())
    2
    """
    model = parts(estimator)[1]
    paths, critical = centroid_paths(estimator, X), model.critical_power_
    size = -paths.powers
    with rc_context(PAGE):
        figure: Figure = Picture(figsize=(WIDTH, 3.8), dpi=150, layout="constrained")
        above, below = axes = figure.subplots(2, 1, sharex=True, height_ratios=[2, 3])
    above.step(size, paths.n_distinct, where="mid", color=BLUE, linewidth=1.4)
    above.set(ylim=(0, model._n_centroids + 1), ylabel="distinct centroids")
    above.yaxis.set_major_locator(MaxNLocator(8, integer=True))
    below.plot(size, paths.places, color="0.25", linewidth=0.9)
    below.set(xscale="log", xlabel="|power|", ylabel="centroids,\nfirst principal axis", yticks=[])
    below.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    below.xaxis.set_major_formatter("{x:g}")
    below.xaxis.set_minor_formatter(NullFormatter())
    title = "How centroids part as the power falls"
    for ax in axes:
        ax.grid(alpha=0.25, linewidth=0.6)
        if -critical > size.min():
            title = f"How centroids part as the power falls (dashed: critical power {critical:.3g})"
            ax.axvline(-critical, **DASHED)
    above.set_title(title, fontsize=8)
    return figure


def centroid_paths(estimator: Any, X: Any) -> Paths:
    """Follow the centroids of a fitted estimator to rising powers.

    Distances to centroids tell all: up to a number for each row and one for each centroid, their
    squares are minus twice the inner products of both.
    """
    transformers, fitted = parts(estimator)
    if not hasattr(fitted, "critical_power_") or hasattr(fitted, "kernel_weights_"):
        name = type(fitted).__name__
        raise ValueError(f"estimator={name} should anneal with one kernel: KernelPowerKMeans.")
    if fitted.memberships_ is None:
        raise ValueError("estimator has no memberships for so many rows; fit it to a sample.")
    if np.isneginf(fitted.critical_power_):
        raise ValueError("X does not vary, so that its centroids coincide at all powers.")
    X = readable(X, *transformers, fitted)
    if (n_rows := len(fitted.labels_)) != X.shape[0]:
        raise ValueError(f"X has {X.shape[0]} rows; give the {n_rows} rows of the fit.")
    X = transformed(transformers, X)
    seed = fitted.random_state if isinstance(fitted.random_state, int) else 0
    # Parameters may have changed since the fit.
    known = fitted.get_params(deep=False)
    kernel = {name: value for name, value in fitted._input.parameters.items() if name in known}
    model = clone(fitted).set_params(n_clusters=fitted._n_centroids, **kernel)
    model.set_params(eta=1, n_swaps=0, max_iter=_STEPS, n_init="auto")
    start, powers = fitted.memberships_, _powers(fitted)
    distances = []
    for power in powers:
        # Every cluster needs a weight.
        start = np.maximum(start, np.finfo(start.dtype).tiny)
        model.set_params(s0=float(power), init=start, random_state=seed)
        with warnings.catch_warnings():
            # Powers above the critical one are wanted, and slow there.
            warnings.simplefilter("ignore")
            model.fit(X)
        start = model.memberships_
        distances.append(on_host(model.transform(X)) ** 2)
    directions = [_centered(one) for one in distances]
    largest = _apart(directions[0]).max()
    n_distinct = [connected_components(_apart(one) <= _ONE * largest)[0] for one in directions]
    axis = np.linalg.svd(directions[0], full_matrices=False)[0][:, 0]
    places = np.array([-axis @ one / 2 for one in distances])
    return Paths(powers, np.array(n_distinct), places)


def _powers(estimator: Any) -> Array:
    """From the coldest power of the annealing to one at which centroids coincide."""
    finite = estimator.power_history_[np.isfinite(estimator.power_history_)]
    critical = max(-estimator.critical_power_, _LEAST_CRITICAL)
    coldest = max(-finite.min(initial=0), _COLDEST * critical)
    return np.asarray(-np.geomspace(coldest, _WARMEST * critical, _POWERS))


def _centered(squared: Array) -> Array:
    """Inner products of rows and centroids, both relative to their mean."""
    by_row = squared - squared.mean(axis=0)
    return np.asarray((by_row.mean(axis=1, keepdims=True) - by_row) / 2)


def _apart(products: Array) -> Array:
    """Distances between centroids as the rows see them, shape (k, k)."""
    scale = np.abs(products).max() or 1  # so that squares do not overflow
    return np.asarray(scale * squareform(pdist(products.T / scale)))
