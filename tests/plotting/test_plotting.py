import sys

import numpy as np
import pytest
import scipy.sparse
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from sklearn.datasets import make_blobs, make_circles
from sklearn.exceptions import NotFittedError
from sklearn.metrics.pairwise import rbf_kernel

from kernelmeans import KernelKMeans, KernelPowerKMeans
from kernelmeans.plotting import draw_clusters, draw_trace, plot_fit
from kernelmeans.plotting.scatter import _ROOM, _spread


@pytest.fixture(scope="module", name="X")
def rows() -> np.ndarray:
    return make_blobs(150, n_features=4, centers=5, random_state=0)[0]


@pytest.fixture(scope="module")
def model(X: np.ndarray) -> KernelPowerKMeans:
    return KernelPowerKMeans(5, kernel="rbf", random_state=0).fit(X)


def scatter(model, X, **settings):
    ax = Figure().subplots()
    draw_clusters(ax, model, X, **settings)
    return ax


def trace(model):
    axes = Figure().subplots(2, 1)
    draw_trace(axes, model)
    return axes


def test_an_estimator_that_is_not_fitted_is_refused(X):
    with pytest.raises(NotFittedError):
        plot_fit(KernelPowerKMeans(5), X)


def test_figure_needs_no_pyplot(model, X, tmp_path):
    before = "matplotlib.pyplot" in sys.modules
    figure = plot_fit(model, X)
    assert isinstance(figure, Figure)
    assert len(figure.axes) == 3
    figure.savefig(tmp_path / "a.png")
    assert (tmp_path / "a.png").stat().st_size > 10_000
    assert ("matplotlib.pyplot" in sys.modules) == before


def test_every_row_is_drawn_with_its_cluster(model, X):
    ax = scatter(model, X)
    drawn = [len(points.get_offsets()) for points in ax.collections]
    assert drawn == np.bincount(model.labels_).tolist()
    assert [text.get_text() for text in ax.texts] == list("01234")


def test_coordinates_are_kernel_principal_components(model, X):
    """Distances between the points are those of the two leading components of K."""
    ax = scatter(model, X)
    points = np.empty((len(X), 2))
    for cluster, drawn in enumerate(ax.collections):
        points[model.labels_ == cluster] = drawn.get_offsets()
    K = rbf_kernel(X, gamma=model.gamma_)
    K = K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean()
    values, vectors = np.linalg.eigh(K)
    expected = vectors[:, -2:] * np.sqrt(values[-2:])
    np.testing.assert_allclose(points @ points.T, expected @ expected.T, atol=1e-8)


def test_large_data_are_sampled_with_a_seed(model, X):
    def drawn(seed):
        ax = scatter(model, X, max_points=50, random_state=seed)
        assert "50 of 150 rows" in ax.get_title()
        return np.concatenate([points.get_offsets() for points in ax.collections])

    assert drawn(0).shape == (50, 2)
    np.testing.assert_array_equal(drawn(0), drawn(0))
    assert not np.array_equal(drawn(0), drawn(1))


def test_forty_clusters_look_different():
    X, y = make_blobs(400, centers=40, random_state=0)
    model = KernelKMeans(40, random_state=0).fit(X)
    model.labels_ = y
    ax = scatter(model, X)
    looks = {
        (to_hex(points.get_facecolor()[0]), points.get_paths()[0].vertices.tobytes())
        for points in ax.collections
    }
    assert len(looks) == 40


def test_small_marks_of_every_form_are_seen():
    """Rounded to whole pixels, small plus signs vanish."""
    X = np.random.default_rng(0).normal(size=(1500, 2))
    model = KernelKMeans(2, kernel="heat", random_state=0).fit(X)  # drawn as given
    for cluster in range(0, 49, 7):
        model.labels_ = np.full(len(X), cluster)
        canvas = FigureCanvasAgg(Figure(dpi=60))
        draw_clusters(canvas.figure.subplots(), model, X)
        canvas.draw()
        red, _, blue, _ = np.moveaxis(np.asarray(canvas.buffer_rgba(), dtype=int), -1, 0)
        assert (blue - red > 60).sum() > 500, cluster


def test_crowded_numbers_are_pushed_apart():
    rng = np.random.default_rng(0)
    crowd = np.concatenate([np.full((6, 2), 0.5), rng.uniform(0.3, 0.7, (34, 2))])
    places = _spread(crowd)
    apart = np.linalg.norm(places[:, None] - places, axis=-1)
    np.fill_diagonal(apart, np.inf)
    assert apart.min() > 0.8 * _ROOM
    assert np.abs(places - 0.5).max() < 0.48
    alone = np.array([[0.2, 0.2], [0.8, 0.8]])
    np.testing.assert_allclose(_spread(alone), alone, atol=1e-5)


@pytest.mark.parametrize("kernel", ["precomputed", "linear", "cosine", "poly"])
def test_any_kernel(X, kernel):
    data = rbf_kernel(X, gamma=0.05) if kernel == "precomputed" else X
    model = KernelKMeans(3, kernel=kernel, random_state=0).fit(data)
    ax = scatter(model, data)
    assert sum(len(points.get_offsets()) for points in ax.collections) == len(X)


def test_a_data_frame_is_drawn_as_its_numbers(model, X):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, index=np.arange(len(X)) + 1000)
    offsets = [
        [artist.get_offsets().data for artist in plot_fit(model, rows).axes[0].collections]
        for rows in (frame, X)
    ]
    for ours, theirs in zip(*offsets, strict=True):
        # A frame holds its columns one after the other, which rounds products otherwise.
        np.testing.assert_allclose(ours, theirs, atol=1e-12)


def test_sparse_rows(X):
    data = scipy.sparse.csr_array(np.maximum(X, 0))
    model = KernelPowerKMeans(3, kernel="rbf", random_state=0).fit(data)
    assert len(plot_fit(model, data).axes) == 3


def test_one_column_is_drawn(X):
    model = KernelKMeans(2, kernel="linear", random_state=0).fit(X[:, :1])
    ax = scatter(model, X[:, :1])
    points = np.concatenate([points.get_offsets() for points in ax.collections])
    assert np.isfinite(points).all()


def test_trace_shows_objective_power_and_critical_power(model):
    above, below = trace(model)
    steps, objective = above.lines[0].get_data()
    np.testing.assert_allclose(objective, model.objective_history_)
    assert steps[0] == 1
    finite = np.isfinite(model.power_history_)
    np.testing.assert_allclose(below.lines[0].get_ydata(), -model.power_history_[finite])
    texts = [text.get_text() for text in below.texts]
    if model.critical_power_ < 0:
        np.testing.assert_allclose(below.lines[1].get_ydata(), -model.critical_power_)
        assert texts == [f"critical power {model.critical_power_:.3g}"]


def test_trace_shades_the_hard_steps(model):
    above, below = trace(model)
    hard = ~np.isfinite(model.power_history_)
    assert hard.any()
    first, last = np.flatnonzero(hard)[[0, -1]] + 1
    for ax in (above, below):
        (shade,) = ax.patches
        assert shade.get_x() == pytest.approx(first - 0.5)
        assert shade.get_x() + shade.get_width() == pytest.approx(last + 0.5)


def test_trace_of_plain_kernel_k_means_is_all_hard(X):
    model = KernelKMeans(3, random_state=0).fit(X)
    above, below = trace(model)
    assert len(below.lines) == 0
    assert f"{len(model.objective_history_)} hard step" in above.texts[0].get_text()


def test_the_number_of_a_ring_lies_on_the_ring():
    X, _ = make_circles(200, factor=0.3, noise=0.02, random_state=0)
    model = KernelPowerKMeans(2, random_state=0).fit(X)
    for text in scatter(model, X).texts:
        ring = X[model.labels_ == int(text.get_text())]
        assert np.linalg.norm(ring - text.get_position(), axis=1).min() < 1e-4


def test_the_number_of_hard_steps_stands_above_the_curve():
    """In short runs the first step lies where the shade begins."""
    X, _ = make_circles(200, factor=0.3, noise=0.02, random_state=0)
    figure = plot_fit(KernelPowerKMeans(2, random_state=0).fit(X), X)
    figure.draw_without_rendering()
    above = figure.axes[1]
    box = above.texts[0].get_window_extent()
    line = above.lines[0].get_path().interpolated(50)
    assert not line.transformed(above.transData).intersects_bbox(box, filled=False)
