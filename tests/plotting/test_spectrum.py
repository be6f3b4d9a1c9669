import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.datasets import make_blobs, make_moons
from sklearn.exceptions import NotFittedError
from sklearn.neighbors import kneighbors_graph
from sklearn.pipeline import make_pipeline

from kernelmeans import KernelPowerKMeans, MultiKernelPowerKMeans
from kernelmeans.plotting import draw_spectrum, plot_spectrum


@pytest.fixture(scope="module", name="X")
def rows() -> np.ndarray:
    return make_moons(200, noise=0.05, random_state=0)[0]


@pytest.fixture(scope="module", name="model")
def fitted(X: np.ndarray) -> KernelPowerKMeans:
    return KernelPowerKMeans(3, kernel="heat", t="states", random_state=0).fit(X)


def spectrum(model):
    axes = Figure().subplots(2, 1)
    draw_spectrum(axes, model)
    return axes


def test_eigenvalues_are_drawn_in_their_order(model):
    above, _ = spectrum(model)
    drawn = np.asarray(above.collections[0].get_offsets())
    np.testing.assert_array_equal(drawn[:, 0], np.arange(1, len(drawn) + 1))
    np.testing.assert_array_equal(drawn[:, 1], model.eigenvalues_[: len(drawn)])


def test_eigenvalues_near_one_are_written_as_they_are(model, monkeypatch):
    monkeypatch.setattr(KernelPowerKMeans, "eigenvalues_", 1 - np.array([0, 1e-6, 2e-5]))
    above, _ = spectrum(model)
    above.figure.draw_without_rendering()
    assert above.yaxis.get_offset_text().get_text() == ""


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


def test_the_picture_of_a_pipeline_and_of_a_given_graph(model, X):
    pipeline = make_pipeline("passthrough", model)
    assert [ax.get_ylabel() for ax in plot_spectrum(pipeline).axes] == [
        "eigenvalue",
        "states apart",
    ]
    graph = kneighbors_graph(X, 8, include_self=True)
    given = KernelPowerKMeans(3, kernel="graph", random_state=0).fit(graph + graph.T)
    (above, _) = plot_spectrum(given).axes
    drawn = np.asarray(above.collections[0].get_offsets())[:, 1]
    np.testing.assert_array_equal(drawn, given.eigenvalues_[: len(drawn)])


def test_estimators_without_a_graph_are_refused(X):
    with pytest.raises(NotFittedError):
        plot_spectrum(KernelPowerKMeans(3))
    with pytest.raises(ValueError, match=r"KernelPowerKMeans has no graph.*kernel='heat'"):
        plot_spectrum(KernelPowerKMeans(3, kernel="rbf", random_state=0).fit(X))
    with pytest.raises(ValueError, match=r"several kernels, .* kernels_\[i\]\.eigenvalues"):
        plot_spectrum(MultiKernelPowerKMeans(3, random_state=0).fit(X))
