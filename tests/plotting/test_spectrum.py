import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.datasets import make_blobs, make_circles, make_moons
from sklearn.neighbors import kneighbors_graph

from kernelmeans import KernelPowerKMeans
from kernelmeans.plotting import draw_spectrum, plot_fit


@pytest.fixture(scope="module", name="X")
def rows() -> np.ndarray:
    return make_moons(200, noise=0.05, random_state=0)[0]


@pytest.fixture(scope="module", name="model")
def fitted(X: np.ndarray) -> KernelPowerKMeans:
    return KernelPowerKMeans(3, kernel="heat", random_state=0).fit(X)


def spectrum(model):
    axes = Figure().subplots(2, 1)
    draw_spectrum(axes, model)
    return axes


def test_eigenvalues_are_drawn_in_their_order(model):
    above, _ = spectrum(model)
    drawn = np.asarray(above.collections[0].get_offsets())
    np.testing.assert_array_equal(drawn[:, 0], np.arange(1, len(drawn) + 1))
    np.testing.assert_array_equal(drawn[:, 1], model.eigenvalues_[: len(drawn)])


def test_as_many_states_as_clusters_are_apart_at_the_marked_time(model):
    _, below = spectrum(model)
    curve, time, _ = below.lines
    marked = time.get_xdata()[0]
    assert marked == model.t_
    found = np.interp(np.log(marked), np.log(curve.get_xdata()), curve.get_ydata())
    assert found == pytest.approx(3, abs=0.05)
    assert (np.diff(curve.get_ydata()) <= 0).all()


def test_no_time_is_marked_where_heat_does_not_flow():
    X = make_blobs(10, random_state=0)[0]
    model = KernelPowerKMeans(10, kernel="heat", n_neighbors=3, random_state=0).fit(X)
    assert model.t_ == 0
    _, below = spectrum(model)
    assert len(below.lines) == 1


def test_a_fit_with_a_graph_shows_it(model, X):
    figure = plot_fit(model, X)
    assert [ax.get_title() for ax in figure.axes] == [
        "3 clusters",
        "Annealing trace",
        "",
        "Graph",
        "",
    ]
    assert figure.axes[0].get_xlabel() == "column 1"
    graph = kneighbors_graph(X, 8, include_self=True)
    given = KernelPowerKMeans(3, kernel="graph", random_state=0).fit(graph + graph.T)
    again = plot_fit(given, graph + graph.T, max_points=150)
    assert len(again.axes) == len(figure.axes)
    assert again.axes[0].get_xlabel() == "heat component 1"


def test_rows_of_two_columns_are_drawn_as_they_are():
    X, _ = make_circles(200, factor=0.3, noise=0.02, random_state=0)
    figure = plot_fit(KernelPowerKMeans(2, random_state=0).fit(X), X)
    ax = figure.get_axes()[0]
    drawn = np.concatenate([np.asarray(points.get_offsets()) for points in ax.collections])
    np.testing.assert_array_equal(np.unique(drawn, axis=0), np.unique(X, axis=0))
    wide = np.column_stack([X, np.zeros(len(X))])
    other = plot_fit(KernelPowerKMeans(2, random_state=0).fit(wide), wide).get_axes()[0]
    assert other.get_xlabel() == "heat component 1"
