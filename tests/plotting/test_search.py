"""Pictures of a search."""

from itertools import pairwise

import numpy as np
import pytest
from matplotlib.collections import PathCollection
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline

from data import short_searches
from kernelmeans import ClusterSearch, KernelPowerKMeans
from kernelmeans.plotting import draw_flow, draw_scores, draw_stability, plot_search
from kernelmeans.plotting.lines import lines_of
from kernelmeans.plotting.search import _look

X = make_blobs(120, n_features=3, centers=3, cluster_std=0.8, random_state=2)[0]
KERNELS = ["rbf", "linear"]
COLUMNS = "mean_stability", "min_jaccard", "neighbor_consistency"
GRID = {"n_clusters": [5, 2, 3, 4], "kernel": KERNELS}


def searched(data=X, grid=GRID, **settings):
    settings = {"n_splits": 3, "random_state": 0, **settings}
    with short_searches():
        return ClusterSearch(KernelPowerKMeans(kernel="rbf"), grid, **settings).fit(data)


@pytest.fixture(scope="module")
def search():
    return searched()


@pytest.fixture(scope="module")
def nothing():
    noise = np.random.default_rng(0).uniform(size=(80, 2))
    return searched(noise, {"n_clusters": [6, 7, 8], "kernel": ["rbf"]})


def scores(search, number):
    axes = Figure().subplots(1, number, squeeze=False)[0]
    draw_scores(axes, search)
    return axes


def stability(search, candidate=None):
    axes = Figure().subplots(2, 1)
    draw_stability(axes, search, candidate)
    return axes


def marks(ax, text):
    """Where the marks are that the legend gives a name, and those like them."""
    size = {"chosen": 90, "data without clusters": 50}[text]
    found = [one for one in ax.collections if isinstance(one, PathCollection)]
    offsets = [np.asarray(one.get_offsets()) for one in found if one.get_sizes()[0] == size]
    return np.concatenate([np.empty((0, 2)), *offsets])


def test_a_search_that_is_not_fitted_is_refused():
    search = ClusterSearch(KernelPowerKMeans(), GRID)
    for draw in (plot_search, ClusterSearch.plot):
        with pytest.raises(NotFittedError):
            draw(search)
    with pytest.raises(NotFittedError):
        draw_flow(Figure().subplots(), search)
    with pytest.raises(NotFittedError):
        scores(search, 3)
    with pytest.raises(NotFittedError):
        stability(search)


def test_a_line_has_the_scores_of_its_kernel_in_the_order_of_k(search):
    results = search.results_
    for ax, column in zip(scores(search, 3), COLUMNS, strict=True):
        assert [bars.get_label() for bars in ax.containers] == [f"kernel {one}" for one in KERNELS]
        for bars in ax.containers:
            k, values = bars.lines[0].get_data()
            np.testing.assert_array_equal(np.round(k), [2, 3, 4, 5])
            own = [f"kernel {one['kernel']}" == bars.get_label() for one in results["params"]]
            order = np.argsort(results["n_clusters"][own])
            np.testing.assert_array_equal(values, results[column][own][order])


def test_bars_reach_one_standard_deviation(search):
    stable, *others = scores(search, 3)
    assert not any(bars.has_yerr for ax in others for bars in ax.containers)
    drawn = [np.diff(bar[:, 1]) for bars in stable.containers for bar in bars[2][0].get_segments()]
    spread = search.results_["std_stability"]
    np.testing.assert_allclose(np.sort(np.ravel(drawn)), np.sort(2 * spread), atol=1e-12)


def test_the_chosen_candidate_has_a_ring(search):
    best = search.best_index_
    chosen = search.results_["n_clusters"][best]
    assert chosen == 3
    for ax, column in zip(scores(search, 3), COLUMNS, strict=True):
        ((k, value),) = marks(ax, "chosen")
        assert round(k) == chosen
        assert value == search.results_[column][best]
        assert chosen in [line.get_xdata()[0] for line in ax.lines]
        assert "chosen: 3 clusters" in ax.get_legend_handles_labels()[1]


def test_thresholds_and_data_without_clusters_are_marked(search):
    above, below, _ = scores(search, 3)
    assert [line.get_ydata()[0] for line in below.lines].count(0.75) == 1
    known = search.results_["mean_reference"]
    known = known[~np.isnan(known)]
    assert len(known)
    drawn = marks(above, "data without clusters")[:, 1]
    np.testing.assert_array_equal(np.sort(drawn), np.sort(known))
    assert above.get_legend_handles_labels()[1].count("data without clusters") == 1
    assert not len(marks(below, "data without clusters"))


@pytest.mark.parametrize(
    ("scoring", "column", "threshold"),
    [
        ("prediction_strength", "mean_prediction_strength", [0.8]),
        ("stability", "mean_stability", []),
        ("neighbor_consistency", "neighbor_consistency", []),
        (lambda a, b: float(len(np.unique(a))), "mean_score", []),
    ],
)
def test_other_scores(scoring, column, threshold):
    search = searched(grid={"n_clusters": [2, 3]}, scoring=scoring)
    (ax,) = scores(search, 1)
    (bars,) = ax.containers
    np.testing.assert_array_equal(bars.lines[0].get_ydata(), search.results_[column])
    chosen = 0 if search.best_index_ is None else 1
    flat = [line.get_ydata()[0] for line in ax.lines[1:] if len(set(line.get_ydata())) == 1]
    assert flat == threshold
    assert len(ax.lines) == 1 + len(threshold) + chosen
    low, high = ax.get_ylim()
    assert (search.results_[column] > low).all()
    assert (search.results_[column] < high).all()


def test_lines_differ_without_colours():
    looks = [_look(number) for number in range(12)]
    seen = {(look["marker"], look["linestyle"], look.get("markerfacecolor")) for look in looks}
    assert len(seen) == len(looks)


def test_panels_and_their_width(search):
    figure = plot_search(search)
    assert [ax.get_title() != "" for ax in figure.axes] == [True, True, True, True, True, False]
    assert figure.get_figwidth() * 2.54 == pytest.approx(16, abs=0.05)
    assert isinstance(search.plot(), Figure)


def test_of_no_clusters_there_are_only_scores(nothing):
    assert nothing.best_index_ is None
    figure = plot_search(nothing)
    assert len(figure.axes) == 2
    assert figure.subfigs[0].get_suptitle() == "No clusters that would be found again"
    assert not len(marks(figure.axes[0], "chosen"))
    for draw in (lambda: stability(nothing), lambda: draw_flow(Figure().subplots(), nothing)):
        with pytest.raises(ValueError, match=r"candidate: no clusters .* 0 to 2"):
            draw()
    with pytest.raises(ValueError, match=r"candidate=3 .* 0 to 2"):
        stability(nothing, 3)
    assert len(stability(nothing, 2)[1].patches) == 8


def test_without_a_choice_the_title_does_not_cover_the_names_of_lines():
    noise = np.random.default_rng(0).uniform(size=(80, 2))
    search = searched(noise, {"n_clusters": [6, 7], "kernel": KERNELS})
    assert search.best_index_ is None
    figure = plot_search(search)
    figure.draw_without_rendering()
    (panel,) = figure.subfigs
    names, title = panel.legends[0].get_window_extent(), panel.texts[0].get_window_extent()
    assert names.y1 < title.y0


def test_candidates_of_one_number_of_clusters_stand_side_by_side():
    search = searched(grid={"n_clusters": [3], "kernel": ["rbf", "linear", "heat"]})
    figure = plot_search(search)
    assert len(figure.axes) == 5
    for ax, column in zip(figure.axes, COLUMNS, strict=False):
        drawn = {bars.get_label(): bars.lines[0].get_xydata()[0] for bars in ax.containers}
        assert list(drawn) == ["kernel rbf", "kernel linear", "kernel heat"]
        places, values = np.transpose(list(drawn.values()))
        np.testing.assert_array_equal(values, search.results_[column])
        assert np.diff(places).min() > 0.2 * np.ptp(ax.get_xlim())
        assert [tick for tick in ax.get_xticks() if places.min() < tick < places.max()] == [3]
        (ring,) = marks(ax, "chosen")
        assert ring.tolist() == [places[search.best_index_], values[search.best_index_]]
    with pytest.raises(ValueError, match="differ in n_clusters alone"):
        draw_flow(Figure().subplots(), search)


def test_stability_and_size_of_each_cluster(search):
    best = search.best_index_
    above, below = stability(search)
    stems, *dots = above.collections
    tops = [segment[1, 1] for segment in stems.get_segments()]
    np.testing.assert_allclose(tops, search.results_["jaccard"][best])
    assert sum(len(one.get_offsets()) for one in dots) == 3
    sizes = np.bincount(search.labels_by_candidate_[best])
    assert [bar.get_height() for bar in below.patches] == sizes.tolist()
    assert [text.get_text() for text in below.texts] == [str(size) for size in sizes]


def test_valid_clusters_are_filled_and_marks_have_words(search):
    candidate = int(np.argmin(search.results_["min_jaccard"]))
    jaccard = search.results_["jaccard"][candidate]
    assert jaccard.min() < 0.75 <= jaccard.max()
    above, _ = stability(search, candidate)
    _, filled, hollow = above.collections
    np.testing.assert_allclose(np.asarray(filled.get_offsets())[:, 1], jaccard[jaccard >= 0.75])
    np.testing.assert_allclose(np.asarray(hollow.get_offsets())[:, 1], jaccard[jaccard < 0.75])
    assert to_hex(filled.get_facecolor()[0]) != to_hex(hollow.get_facecolor()[0]) == "#ffffff"
    assert [line.get_ydata()[0] for line in above.lines] == [0.6, 0.75, 0.85]
    words = {text.get_text(): text.xy[1] for text in above.texts}
    assert list(words) == ["no cluster", "doubtful", "valid", "highly stable"]
    assert words["no cluster"] < 0.6 < words["doubtful"] < 0.75 < words["valid"] < 0.85
    assert above.get_ylim()[0] < jaccard.min()


def test_words_do_not_overlap(search):
    figure = plot_search(search)
    figure.draw_without_rendering()
    boxes = [text.get_window_extent() for text in figure.axes[-2].texts]
    assert all(lower.y1 <= upper.y0 for lower, upper in pairwise(boxes))
    assert max(box.x1 for box in boxes) <= figure.bbox.x1


def test_names_of_lines_have_what_differs():
    pipeline = make_pipeline(PCA(2), KMeans(2))
    grid = {"pca__n_components": [2, 3], "kmeans__n_clusters": [3, 2], "kmeans__tol": [0.1]}
    search = ClusterSearch(pipeline, grid, n_splits=2, random_state=0).fit(X)
    found = {line.name: line.candidates.tolist() for line in lines_of(search)}
    assert list(found) == ["n_components 2", "n_components 3"]
    for name, candidates in found.items():
        params = [search.results_["params"][one] for one in candidates]
        assert {f"n_components {one['pca__n_components']}" for one in params} == {name}
        assert [one["kmeans__n_clusters"] for one in params] == [2, 3]


def test_one_line_has_no_name():
    search = searched(grid={"n_clusters": [2, 3]})
    (line,) = lines_of(search)
    assert line.name == ""
    assert plot_search(search).axes[2].get_title() == (
        "Rows from each k to the next (dark: the cluster stays the same)"
    )


class Fragile(KMeans):
    """Fails with four clusters."""

    def fit(self, X, y=None):
        if self.n_clusters == 4:
            raise ValueError("four")
        return super().fit(X)


def test_candidates_that_fail_are_left_out():
    search = ClusterSearch(Fragile(), {"n_clusters": [2, 3, 4, 5]}, n_splits=2, random_state=0)
    with pytest.warns(UserWarning, match="four"):
        search.fit(X)
    stable, _, flow, *_ = plot_search(search).axes
    drawn = stable.containers[0].lines[0].get_ydata()
    assert np.isnan(drawn).tolist() == [False, False, True, False]
    assert [label.get_text() for label in flow.get_xticklabels()] == ["2", "3", "5"]
    with pytest.raises(ValueError, match="candidate=2 has failed"):
        stability(search, 2)


class Noisy(KMeans):
    """Far rows are noise, as of DBSCAN."""

    def predict(self, X):
        return np.where(self.transform(X).min(axis=1) > 8, -1, super().predict(X))

    def fit(self, X, y=None, sample_weight=None):
        self.labels_ = super().fit(X).predict(X)
        return self


def test_noise_is_no_cluster():
    far = np.random.default_rng(0).uniform(-40, 40, (3, 3))
    grid = {"n_clusters": [2, 3]}
    search = ClusterSearch(Noisy(n_init=1, random_state=0), grid, n_splits=3, random_state=0)
    plot_search(search.fit(np.concatenate([X, far])))
    labels = search.labels_by_candidate_[1]
    _, below = stability(search, 1)
    assert sum(bar.get_height() for bar in below.patches) == (labels >= 0).sum() < len(labels)


def test_a_kernel_with_one_number_of_clusters_has_no_flow():
    grid = [{"n_clusters": [3], "kernel": ["rbf"]}, {"n_clusters": [6, 7], "kernel": ["linear"]}]
    search = searched(grid=grid)
    assert search.best_index_ == 0
    assert len(plot_search(search).axes) == 3 + 2


def test_scores_may_be_unknown_or_large():
    search = searched(grid={"n_clusters": [2, 3]}, scoring=lambda a, b: 40.0)
    (ax,) = scores(search, 1)
    assert ax.get_ylim()[1] > 40
    search.results_["mean_score"] = np.full(2, np.nan)
    (ax,) = scores(search, 1)
    assert ax.get_ylim() == (0, 1.05)
