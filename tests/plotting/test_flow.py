"""The flow of rows between numbers of clusters."""

from itertools import pairwise, permutations

import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.datasets import make_blobs
from sklearn.metrics.cluster import contingency_matrix

from data import short_searches
from kernelmeans import ClusterSearch, KernelPowerKMeans
from kernelmeans.plotting import draw_flow, plot_search
from kernelmeans.plotting.flow import _spread, crossings, ordered


@pytest.fixture(scope="module")
def search():
    estimator = KernelPowerKMeans(kernel="rbf")
    grid = {"n_clusters": [2, 3, 5, 8]}
    X = make_blobs(300, n_features=4, centers=5, cluster_std=0.8, random_state=2)[0]
    with short_searches():
        return ClusterSearch(estimator, grid, n_splits=2, random_state=0).fit(X)


@pytest.fixture(scope="module")
def ax(search):
    ax = Figure().subplots()
    draw_flow(ax, search)
    return ax


def ends(band):
    """Where a band begins and ends: its lower edge and its width, at the left and at the right."""
    x, y = band.vertices.T
    return [(low, y[x == at].max() - low) for at in (x.min(), x.max()) if (low := y[x == at].min())]


def test_bands_are_as_wide_as_the_rows_that_clusters_share(search, ax):
    labels = search.labels_by_candidate_
    assert len(ax.collections) == 3
    for bands, (before, after) in zip(ax.collections, pairwise(labels), strict=True):
        table = contingency_matrix(before, after)
        shared = np.sort(table[table > 0])
        for side in (0, 1):
            widths = sorted(ends(path)[side][1] for path in bands.get_paths())
            np.testing.assert_allclose(widths, shared)


def test_bands_fill_the_bars_of_their_clusters(search, ax):
    n_clusters = [2, 3, 5, 8]
    assert [len(bars) for bars in ax.containers] == n_clusters
    for column, bars in enumerate(ax.containers):
        sizes = np.bincount(search.labels_by_candidate_[column])
        assert [bar.get_height() for bar in bars] == sizes.tolist()
        for side in (0, 1):
            place = column - side  # bands that end here begin in the column before
            if not 0 <= place < len(ax.collections):
                continue
            found = [ends(path)[side] for path in ax.collections[place].get_paths()]
            for bar in bars:
                low, high = bar.get_y(), bar.get_y() + bar.get_height()
                inside = [
                    width
                    for start, width in found
                    if start > low - 1e-9 and start + width < high + 1e-9
                ]
                assert sum(inside) == pytest.approx(bar.get_height())


def test_dark_bands_are_clusters_that_stay(search, ax):
    labels = search.labels_by_candidate_
    for bands, (before, after) in zip(ax.collections, pairwise(labels), strict=True):
        table = contingency_matrix(before, after)
        likeness = table / (table.sum(axis=1)[:, None] + table.sum(axis=0) - table)
        greys = bands.get_facecolor()[:, 0]
        assert (np.diff(greys) <= 0).all()  # what stays is drawn last
        np.testing.assert_allclose(greys, 0.9 - 0.45 * np.sort(likeness[table > 0]))


def test_clusters_of_the_chosen_number_are_numbered(search, ax):
    chosen = search.results_["n_clusters"][search.best_index_]
    column = [2, 3, 5, 8].index(chosen)
    bars = ax.containers[column]
    assert sorted(text.get_text() for text in ax.texts) == [str(k) for k in range(chosen)]
    for text in ax.texts:
        bar = bars[int(text.get_text())]
        x, y = text.xy
        assert bar.get_y() < y < bar.get_y() + bar.get_height()
        assert x == bar.get_x()
    weights = [label.get_fontweight() == "bold" for label in ax.get_xticklabels()]
    assert weights == [k == chosen for k in (2, 3, 5, 8)]


def test_another_candidate_can_be_marked(search):
    ax = Figure().subplots()
    draw_flow(ax, search, 3)
    assert len(ax.texts) == 8


def test_numbers_of_small_clusters_do_not_overlap(search):
    figure = plot_search(search)
    ax = figure.axes[2]
    ax.clear()
    draw_flow(ax, search, 3)
    figure.draw_without_rendering()
    boxes = sorted((text.get_window_extent() for text in ax.texts), key=lambda box: box.y0)
    # The boxes of letters have free space above and below.
    assert all(upper.y0 - lower.y0 > 0.75 * lower.height for lower, upper in pairwise(boxes))


def test_places_are_spread_as_little_as_needed():
    places = np.sort(np.random.default_rng(0).uniform(0, 10, 30))
    spread = _spread(places, 0.5)
    assert np.diff(spread).min() > 0.5 - 1e-9
    np.testing.assert_array_equal(_spread(np.arange(5.0), 0.9), np.arange(5.0))


def test_crossings_are_pairs_of_rows_that_change_their_order():
    table = np.random.default_rng(0).integers(0, 4, size=(3, 4))
    before, after = np.array([2, 0, 1]), np.array([3, 1, 0, 2])
    starts, stops = np.nonzero(table)
    rows = [
        (before.tolist().index(a), after.tolist().index(b))
        for a, b in zip(starts, stops, strict=True)
        for _ in range(table[a, b])
    ]
    expected = sum(a < c and b > d for a, b in rows for c, d in rows)
    assert crossings(table, before, after) == expected


def test_the_order_crosses_hardly_more_than_the_best():
    rng = np.random.default_rng(0)
    for _ in range(5):
        # Clusters that split, but a few rows go elsewhere.
        labels = [rng_labels(np.arange(60) // (60 // k), rng) for k in (2, 3, 5)]
        for one in labels:
            one[rng.choice(60, 6, replace=False)] = rng.integers(one.max() + 1, size=6)
        tables = [contingency_matrix(*pair) for pair in pairwise(labels)]
        best = min(
            crossings(tables[0], np.array(a), np.array(b))
            + crossings(tables[1], np.array(b), np.array(c))
            for a in permutations(range(2))
            for b in permutations(range(3))
            for c in permutations(range(5))
        )
        found = sum(map(crossings, tables, orders := ordered(tables), orders[1:]))
        assert found <= 1.1 * best


def test_clusters_that_split_do_not_cross():
    rows = np.arange(64)
    deep = [rng_labels(rows // (64 // k), seed) for seed, k in enumerate((2, 4, 8, 16))]
    tables = [contingency_matrix(*pair) for pair in pairwise(deep)]
    orders = ordered(tables)
    assert sum(map(crossings, tables, orders, orders[1:])) == 0


def rng_labels(labels, seed):
    """The same clusters under other numbers."""
    return np.random.default_rng(seed).permutation(labels.max() + 1)[labels]
