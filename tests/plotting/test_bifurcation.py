"""How centroids part."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.datasets import make_blobs, make_circles
from sklearn.exceptions import NotFittedError
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from kernelmeans import (
    ClusterSearch,
    KernelKMeans,
    KernelPowerKMeans,
    MultiKernelPowerKMeans,
    PowerKMeans,
)
from kernelmeans.plotting import plot_bifurcation
from kernelmeans.plotting.bifurcation import _apart, _centered, centroid_paths

X = make_blobs(150, n_features=5, centers=5, random_state=3)[0]


@pytest.fixture(scope="module")
def model():
    return KernelPowerKMeans(10, kernel="rbf", random_state=0).fit(X)


@pytest.fixture(scope="module")
def paths(model):
    return centroid_paths(model, X)


def test_clear_clusters_stay_apart_longest(model, paths):
    assert (np.diff(paths.powers) > 0).all()
    assert paths.n_distinct[0] == 10
    assert np.bincount(paths.n_distinct)[:10].argmax() == 5
    lowest = model.power_history_[np.isfinite(model.power_history_)].min()
    assert paths.powers[0] <= lowest


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_distances_may_be_frames(model, paths, library):
    framed = clone(model).set_output(transform=library).fit(X)
    assert_array_equal(centroid_paths(framed, X).places, paths.places)


def test_without_clusters_all_centroids_part_from_one():
    noise = np.random.default_rng(0).uniform(size=(150, 5))
    model = KernelPowerKMeans(6, kernel="rbf", random_state=0).fit(noise)
    paths = centroid_paths(model, noise)
    assert paths.powers[-1] > model.critical_power_
    assert paths.n_distinct[[0, -1]].tolist() == [6, 1]
    assert np.ptp(paths.places[-1]) < 0.01 * np.ptp(paths.places[0])


def test_centroids_that_coincide_have_one_place(paths):
    span = np.ptp(paths.places[0])
    for number, places in zip(paths.n_distinct, paths.places, strict=True):
        gaps = np.diff(np.sort(places))
        # Distinct centroids may have one place, but not the other way round.
        assert (gaps > 0.05 * span).sum() + 1 <= number


def test_distances_tell_the_inner_products():
    rng = np.random.default_rng(0)
    rows, centroids = rng.normal(size=(30, 4)), rng.normal(size=(3, 4))
    squared = ((rows[:, None] - centroids) ** 2).sum(axis=-1)
    expected = (rows - rows.mean(axis=0)) @ (centroids - centroids.mean(axis=0)).T
    np.testing.assert_allclose(_centered(squared), expected, atol=1e-12)
    apart = _apart(_centered(squared))
    centered = rows - rows.mean(axis=0)
    np.testing.assert_allclose(
        apart[0, 1], np.linalg.norm(centered @ (centroids[0] - centroids[1]))
    )


def test_the_picture_shows_the_numbers(model, paths):
    figure = plot_bifurcation(model, X)
    above, below = figure.axes
    steps, critical = above.lines
    np.testing.assert_array_equal(steps.get_xdata(), -paths.powers)
    np.testing.assert_array_equal(steps.get_ydata(), paths.n_distinct)
    assert critical.get_xdata()[0] == -model.critical_power_
    assert f"critical power {model.critical_power_:.3g}" in above.get_title()
    assert len(below.lines) == 10 + 1


@pytest.fixture
def few_powers(monkeypatch):
    """Fit at few powers."""
    monkeypatch.setattr("kernelmeans.plotting.bifurcation._POWERS", 5)


@pytest.mark.usefixtures("few_powers")
def test_the_estimator_stays_as_it_is(model):
    before = model.labels_.copy(), model.get_params()
    plot_bifurcation(model, X)
    np.testing.assert_array_equal(model.labels_, before[0])
    assert model.get_params() == before[1]


@pytest.mark.usefixtures("few_powers")
def test_any_kernel_that_anneals():
    circles = make_circles(100, factor=0.3, noise=0.02, random_state=0)[0]
    heat = KernelPowerKMeans(4, random_state=0).fit(circles)
    assert centroid_paths(heat, circles).n_distinct[0] == 4
    K = rbf_kernel(X, gamma=0.01)
    given = KernelPowerKMeans(4, kernel="precomputed", random_state=0).fit(K)
    assert centroid_paths(given, K).n_distinct[0] == 4
    huge = KernelPowerKMeans(4, kernel="precomputed", random_state=0).fit(1e300 * K)
    assert centroid_paths(huge, 1e300 * K).n_distinct[0] == 4
    flat = PowerKMeans(4, random_state=0).fit(X)
    assert centroid_paths(flat, X).n_distinct[0] == 4


def test_a_pipeline_and_the_choice_of_a_search(model, paths):
    def found(estimator, rows):
        return centroid_paths(estimator.fit(rows), rows)

    pipeline = make_pipeline(FunctionTransformer(lambda rows: np.asarray(rows) / 10), clone(model))
    again = found(pipeline, (10 * X).tolist())
    np.testing.assert_allclose(again.powers, paths.powers)
    np.testing.assert_array_equal(again.n_distinct, paths.n_distinct)
    search = ClusterSearch(clone(model), {"n_clusters": [10]}, n_splits=2, random_state=0)
    np.testing.assert_array_equal(found(search, X).n_distinct, paths.n_distinct)


def test_refusals(model):
    with pytest.raises(NotFittedError):
        plot_bifurcation(KernelPowerKMeans(3), X)
    for other in (
        KernelKMeans(3, random_state=0),
        MultiKernelPowerKMeans(3, kernels=["rbf", "linear"], random_state=0),
    ):
        with pytest.raises(ValueError, match="should anneal with one kernel"):
            plot_bifurcation(other.fit(X), X)
    same = np.ones((9, 2))
    with pytest.raises(ValueError, match="X does not vary"):
        plot_bifurcation(KernelPowerKMeans(1, kernel="rbf").fit(same), same)
    with pytest.raises(ValueError, match="X has 40 rows; give the 150 rows of the fit"):
        plot_bifurcation(model, X[:40])
    large = KernelPowerKMeans(3, kernel="rbf", random_state=0).fit(X)
    large.memberships_ = None
    with pytest.raises(ValueError, match="memberships"):
        plot_bifurcation(large, X)
