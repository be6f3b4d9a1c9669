"""The picture of a tree."""

from itertools import pairwise

import numpy as np
import pytest
from matplotlib.colors import to_hex
from sklearn.cluster import KMeans
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kernelmeans import KernelPowerKMeans
from kernelmeans.plotting import cluster_colors, plot_tree

# Two pairs of groups, and one farther off.
SIZES = {0: 30, 3: 20, 40: 16, 43: 14, 200: 12}
X = np.concatenate([x + np.linspace(0, 1, n) for x, n in SIZES.items()])[:, None]


@pytest.fixture(scope="module")
def model():
    return KernelPowerKMeans(5, random_state=0).fit(X)


def test_alike_clusters_are_neighbours_and_sizes_stand_behind_names(model):
    ax = plot_tree(model, list("abcde")).axes[0]
    labels = [label.get_text() for label in ax.get_yticklabels()]
    assert labels == ["a (30)", "b (20)", "c (16)", "d (14)", "e (12)"]
    colors = [to_hex(dots.get_facecolor()[0]).upper() for dots in ax.collections]
    assert colors == cluster_colors(5)
    assert len(ax.lines) == 4
    joined = {tuple(sorted(line.get_ydata()[[0, 3]].tolist())) for line in ax.lines}
    assert joined == {(0, 1), (2, 3), (0.5, 2.5), (1.5, 4)}
    ends = [f"{distance:.3g}" for distance in model.tree_.distances_[[0, -1]]]
    assert [label.get_text() for label in ax.get_xticklabels()] == ends
    ends = {max(line.get_xdata()) for line in ax.lines}
    assert sorted(ends)[:: len(ends) - 1] == list(ax.get_xticks())


def test_pipelines_single_clusters_and_many(model):
    pipeline = make_pipeline(StandardScaler(), KernelPowerKMeans(5, random_state=0)).fit(X)
    assert len(plot_tree(pipeline).axes[0].lines) == 4
    alone = plot_tree(KernelPowerKMeans(1, random_state=0).fit(X)).axes[0]
    assert len(alone.lines) == len(alone.get_xticks()) == 0
    many = KernelPowerKMeans(45, kernel="linear", random_state=0).fit(X)
    figure = plot_tree(many, [40 * "$long name$"] * 45)
    figure.draw_without_rendering()
    boxes = [label.get_window_extent() for label in figure.axes[0].get_yticklabels()]
    assert all(above.y0 >= below.y1 - 1 for above, below in pairwise(boxes))


def test_what_cannot_be_drawn(model):
    with pytest.raises(ValueError, match="KMeans has no tree of its clusters"):
        plot_tree(KMeans(2, n_init=1).fit(X))
    for names in (["a"], "abcde"):
        with pytest.raises(ValueError, match="should be a list of 5 names"):
            plot_tree(model, names)
