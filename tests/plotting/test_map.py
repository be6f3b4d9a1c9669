"""The map of the clusters: marks, names beside them, sizes in a legend."""

import sys

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs, make_circles, make_moons
from sklearn.exceptions import NotFittedError
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kernelmeans import KernelKMeans, KernelPowerKMeans
from kernelmeans.plotting import draw_clusters, plot_fit


@pytest.fixture(scope="module")
def crowd() -> tuple[KMeans, np.ndarray]:
    X = make_blobs(900, centers=20, cluster_std=2, random_state=0)[0]
    return KMeans(20, n_init=1, random_state=0).fit(X), X


def drawn(model, X, **settings):
    """The axes as they are on the page."""
    figure = plot_fit(model, X, **settings)
    figure.draw_without_rendering()
    return figure.axes[0]


def legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_figure_needs_no_pyplot(model, X, tmp_path):
    before = "matplotlib.pyplot" in sys.modules
    figure = plot_fit(model, X)
    assert isinstance(figure, Figure)
    assert len(figure.axes) == 1
    figure.savefig(tmp_path / "a.png")
    assert (tmp_path / "a.png").stat().st_size > 10_000
    assert ("matplotlib.pyplot" in sys.modules) == before
    assert (figure.bbox.width, figure.bbox.height) == (1280, 720)


def test_an_estimator_that_is_not_fitted_is_refused(X):
    with pytest.raises(NotFittedError):
        plot_fit(KernelPowerKMeans(5), X)


def test_a_notebook_shows_a_picture_as_it_is():
    X = np.arange(12.0).reshape(6, 2)
    figure = plot_fit(KernelPowerKMeans(2, kernel="linear", random_state=0).fit(X), X)
    assert figure._repr_png_().startswith(b"\x89PNG")


def test_every_row_is_drawn_with_its_cluster(model, X):
    ax = drawn(model, X)
    sizes = np.bincount(model.labels_).tolist()
    assert [len(points.get_offsets()) for points in ax.collections] == sizes
    assert sorted(text.get_text() for text in ax.texts) == list("01234")
    assert legend(ax) == [f"{cluster}: {size}" for cluster, size in enumerate(sizes)]
    assert ax.get_legend().get_title().get_text() == "rows"
    assert ax.get_title() == "5 clusters"


def test_large_data_are_sampled_with_a_seed(model, X):
    def places(seed):
        ax = drawn(model, X, max_points=50, random_state=seed)
        assert ax.get_title() == "5 clusters, 50 of 150 rows drawn"
        assert legend(ax)[0] == f"0: {np.bincount(model.labels_)[0]}"
        return np.concatenate([points.get_offsets() for points in ax.collections])

    assert places(0).shape == (50, 2)
    np.testing.assert_array_equal(places(0), places(0))
    assert not np.array_equal(places(0), places(1))


def test_sizes_of_a_subsample_of_new_rows_are_called_so(model, X):
    ax = drawn(model, np.vstack([X + 0.01] * 10), max_points=100)
    assert ax.get_title() == "5 clusters, 100 of 1,500 rows drawn"
    assert ax.get_legend().get_title().get_text() == "drawn rows"
    assert sum(int(line.split(": ")[1]) for line in legend(ax)) == 100


def test_names_of_clusters(model, X):
    names = [
        "young",
        "old $5 to $9",
        "_hidden",
        "old $5 to $9",
        "a name that is far too long for it",
    ]
    ax = drawn(model, X, names=names)
    sizes = np.bincount(model.labels_)
    assert [line.rsplit(": ", 1)[1] for line in legend(ax)] == [str(size) for size in sizes]
    assert [line.rsplit(": ", 1)[0] for line in legend(ax)][:4] == names[:4]
    written = [text.get_text() for text in ax.texts]
    assert sorted(written) == sorted([*names[:4], "a name that is far…or it"])
    names[1] = ""
    assert len(drawn(model, X, names=names).texts) == 4
    for wrong in (["a", "b"], "abcde", dict.fromkeys("abcde"), set("abcde"), 5):
        with pytest.raises(ValueError, match=r"names=.*should be a list of 5 names"):
            plot_fit(model, X, names=wrong)


def test_a_pipeline_and_a_data_frame(X):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=list("abcd"), index=np.arange(len(X)) + 1000)
    pipeline = make_pipeline(StandardScaler(), KernelPowerKMeans(5, random_state=0)).fit(frame)
    ax = drawn(pipeline, frame)
    sizes = np.bincount(pipeline[-1].labels_).tolist()
    assert [len(points.get_offsets()) for points in ax.collections] == sizes


def test_coordinates_of_the_user(model, X):
    ax = drawn(model, X, coordinates=X[:, 2:])
    places = np.concatenate([points.get_offsets() for points in ax.collections])
    np.testing.assert_array_equal(np.unique(places, axis=0), np.unique(X[:, 2:], axis=0))
    assert ax.get_xlabel() == "coordinate 1"


def test_names_overlap_neither_each_other_nor_the_frame(crowd):
    ax = drawn(*crowd)
    boxes = [text.get_window_extent() for text in ax.texts]
    frame = ax.get_window_extent()
    assert len(boxes) == 20
    for place, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[:place])
        assert frame.x0 <= box.x0 <= box.x1 <= frame.x1
        assert frame.y0 <= box.y0 <= box.y1 <= frame.y1
    assert not ax.lines  # no lines that lead to the names


def test_names_stand_beside_rows_of_their_clusters(crowd):
    """The gap is a few points, and nearest rows are mostly those of the cluster."""
    model, X = crowd
    ax = drawn(model, X)
    pixels = ax.transData.transform(np.concatenate([one.get_offsets() for one in ax.collections]))
    labels = np.repeat(np.arange(20), [len(one.get_offsets()) for one in ax.collections])
    right = 0
    for text in ax.texts:
        box = text.get_window_extent()
        corners = np.array([[box.x0, box.y0], [box.x1, box.y1]])
        away = np.linalg.norm(pixels - np.clip(pixels, *corners), axis=1)
        own = labels == int(text.get_text())
        assert away[own].min() < 20
        right += own[np.argsort(away)[:5]].sum() >= 3
    assert right >= 18


@pytest.mark.parametrize("seed", [1, 2])
def test_names_of_moons_do_not_stand_between_them(seed):
    X, moons = make_moons(600, noise=0.06, random_state=seed)
    model = KernelPowerKMeans(2, random_state=0).fit(X)
    assert adjusted_rand_score(moons, model.labels_) == 1
    ax = drawn(model, X, names=["a moon that has a name", "another one"])
    own = [ax.transData.transform(one.get_offsets()) for one in ax.collections]
    for label, name in enumerate(sorted(ax.texts, key=lambda text: text.get_text())):
        box = name.get_window_extent()
        corners = [[box.x0, box.y0], [box.x1, box.y1]]
        away = [np.linalg.norm(one - np.clip(one, *corners), axis=1).min() for one in own]
        assert away[label] < box.height < away[1 - label]


def test_a_cluster_of_one_place_is_not_covered_by_its_name():
    X = np.repeat(np.eye(4) * 10, 30, axis=0)
    ax = drawn(KernelKMeans(4, kernel="linear", random_state=0).fit(X), X)
    marks = ax.transData.transform(np.concatenate([one.get_offsets() for one in ax.collections]))
    for text in ax.texts:
        box = text.get_window_extent()
        assert not any(box.contains(*mark) for mark in marks)


def test_the_number_of_a_ring_lies_by_the_ring():
    X, _ = make_circles(200, factor=0.3, noise=0.02, random_state=0)
    model = KernelPowerKMeans(2, random_state=0).fit(X)
    for text in drawn(model, X).texts:
        ring = X[model.labels_ == int(text.get_text())]
        assert np.linalg.norm(ring - text.xy, axis=1).min() < 1e-9


@pytest.mark.slow
def test_the_legend_of_many_clusters_fits_and_says_how_many_it_has(crowd):
    X = make_blobs(800, centers=70, random_state=0)[0]
    many = KMeans(70, n_init=1, random_state=0).fit(X)
    for model, rows, lines in [(*crowd, 20), (many, X, 60)]:
        ax = drawn(model, rows)
        assert len(legend(ax)) == lines
        box, page = ax.get_legend().get_window_extent(), ax.get_figure().bbox
        assert box.x0 >= ax.get_window_extent().x1
        assert page.x1 >= box.x1
        assert page.y0 <= box.y0 <= box.y1 <= page.y1
    assert "60 of 70 clusters" in ax.get_legend().get_title().get_text()


@pytest.mark.parametrize("names", [None, [f"a long name of cluster {n}" for n in range(20)]])
def test_many_clusters_fit_into_a_small_figure(crowd, names):
    figure = Figure(figsize=(4, 3), layout="constrained")
    draw_clusters(figure.subplots(), *crowd, names=names)
    figure.draw_without_rendering()
    ax = figure.axes[0]
    frame, beside = ax.get_window_extent(), ax.get_legend().get_window_extent()
    assert frame.width > 0.4 * figure.bbox.width
    assert frame.height > 0.6 * figure.bbox.height
    assert frame.x1 <= beside.x0 < beside.x1 <= figure.bbox.x1
    assert 0 <= beside.y0 < beside.y1 <= figure.bbox.y1
    boxes = [text.get_window_extent() for text in ax.texts]
    assert len(boxes) >= 12
    for place, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[:place])


@pytest.mark.slow
def test_very_many_rows_are_an_image_in_files_of_shapes(crowd, tmp_path):
    model, _ = crowd
    X = np.random.default_rng(0).normal(size=(30_000, 2)) * 10
    figure = plot_fit(model, X, coordinates=X, max_points=30_000)
    for ending in ("svg", "pdf"):
        figure.savefig(tmp_path / f"many.{ending}")
        assert (tmp_path / f"many.{ending}").stat().st_size < 1e6
    assert "<image" in (tmp_path / "many.svg").read_text()
    plot_fit(model, X).savefig(tmp_path / "few.svg")
    assert "<image" not in (tmp_path / "few.svg").read_text()


def test_small_marks_of_every_form_are_seen():
    """Rounded to whole pixels, small plus signs would vanish."""
    X = np.random.default_rng(0).normal(size=(1400, 2))
    model = KMeans(7, n_init=1, random_state=0).fit(X)
    canvas = FigureCanvasAgg(Figure(dpi=60))
    draw_clusters(canvas.figure.subplots(), model, X)
    canvas.draw()
    image = np.asarray(canvas.buffer_rgba(), dtype=int)[..., :3]
    ax = canvas.figure.axes[0]
    for points in ax.collections:
        color = np.array(points.get_facecolor()[0][:3]) * 255
        blended = 255 + 0.75 * (color - 255)
        near = np.abs(image - blended).max(axis=2) < 40
        assert near.sum() > len(points.get_offsets()) / 2, to_hex(color / 255)


def test_draw_clusters_fits_into_a_panel_of_a_figure_of_ones_own(model, X):
    figure = Figure(figsize=(3.4, 2.6), dpi=300, layout="constrained")
    draw_clusters(figure.subplots(), model, X)
    figure.draw_without_rendering()
    box = figure.axes[0].get_legend().get_window_extent()
    assert box.x1 <= figure.bbox.x1
    frame = figure.axes[0].get_window_extent()
    assert frame.width > 0.4 * figure.bbox.width
    # Marks are smaller than on a slide.
    slide = plot_fit(model, X).axes[0]
    small, large = (ax.collections[0].get_sizes()[0] for ax in (figure.axes[0], slide))
    assert 0.3 * large < small < 0.7 * large
