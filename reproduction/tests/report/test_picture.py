"""Figures: the same bytes each time, the size that was asked for, and what is drawn in them."""

import sys
from collections import Counter

import matplotlib
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from kernelmeans_paper.report import Picture, new_figure
from kernelmeans_paper.report.picture import draw_lines, draw_partition

pytestmark = pytest.mark.slow


def two_lines():
    def draw(axes):
        draw_lines(axes[0, 0], [("a", [1, 2], [3, 4], None), ("b", [1, 2], [4, 3], [0.1, 0.2])])
        axes[0, 0].set_xlabel("$k$")
        axes[0, 0].legend()

    return Picture("lines", "Two lines.", new_figure(draw))


def png_size(content):
    """Width and height from the header of the file."""
    assert content.startswith(b"\x89PNG\r\n\x1a\n")
    return tuple(int.from_bytes(content[i : i + 4], "big") for i in (16, 20))


def drawn_partition(points, labels, classes):
    ax = Figure().subplots()
    draw_partition(ax, points, labels, classes)
    *dots, crosses = ax.collections
    return dots, crosses


def rows_of(collection):
    """Rows by their first coordinate, which is their number."""
    return [int(x) for x, _ in collection.get_offsets()]


@pytest.mark.parametrize("kind", ["png", "svg"])
def test_a_figure_made_again_is_the_same_bytes(kind):
    assert two_lines().drawn(kind) == two_lines().drawn(kind)


@pytest.mark.parametrize("kind", ["png", "svg"])
def test_a_figure_written_again_is_the_same_bytes(kind):
    picture = two_lines()
    assert picture.drawn(kind) == picture.drawn(kind)


@pytest.mark.parametrize("kind", ["png", "svg"])
def test_bytes_do_not_depend_on_the_readers_settings(kind):
    expected = two_lines().drawn(kind)
    with matplotlib.rc_context({"font.size": 20, "axes.grid": False, "svg.hashsalt": "other"}):
        assert two_lines().drawn(kind) == expected


def test_files_name_neither_a_date_nor_a_program():
    svg = two_lines().drawn("svg").decode()
    assert "dc:date" not in svg
    assert "<dc:creator>" not in svg
    assert b"Software" not in two_lines().drawn("png")


def test_text_in_an_svg_needs_no_font():
    svg = two_lines().drawn("svg").decode()
    assert "<text" not in svg


def test_a_png_has_two_hundred_dots_per_inch():
    figure = new_figure(lambda axes: axes[0, 0].plot([1, 2]), width=5.0, height=2.0)
    assert png_size(Picture("a", "", figure).drawn("png")) == (1000, 400)
    assert png_size(two_lines().drawn("png")) == (1380, 540)


@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (1, 3), (2, 2), (3, 1)])
def test_axes_are_a_grid_even_of_one(rows, columns):
    shapes = []
    figure = new_figure(lambda axes: shapes.append(axes.shape), rows, columns)
    assert shapes == [(rows, columns)]
    assert len(figure.axes) == rows * columns


def test_settings_reach_the_subplots():
    figure = new_figure(lambda axes: axes[0, 0].set_xlim(3, 7), 1, 2, sharex=True)
    assert figure.axes[1].get_xlim() == (3, 7)


def test_making_a_figure_leaves_no_trace():
    # Its own copy: a style that leaked would be seen in every later figure.
    before, pyplot = dict(matplotlib.rcParams), "matplotlib.pyplot" in sys.modules
    two_lines().drawn("png")
    assert dict(matplotlib.rcParams) == before
    assert ("matplotlib.pyplot" in sys.modules) == pyplot


def test_ten_lines_are_told_apart_without_colour():
    ax = Figure().subplots()
    draw_lines(ax, [(str(i), [0, 1], [i, i], None) for i in range(10)])
    lines = ax.get_lines()
    assert [line.get_label() for line in lines] == list("0123456789")
    assert len({line.get_marker() for line in lines}) == 10
    assert len({to_hex(line.get_color()) for line in lines}) == 10


def test_thirty_lines_differ_in_marker_or_dashes():
    ax = Figure().subplots()
    draw_lines(ax, [(str(i), [0, 1], [i, i], None) for i in range(30)])
    # Matplotlib has no public name for the dashes of a line.
    looks = [(line.get_marker(), repr(line._unscaled_dash_pattern)) for line in ax.get_lines()]
    assert len(set(looks)) == 30


def test_lines_look_different_in_black_and_white():
    """Two lines with the same values, one colour for both: the pictures are not the same."""

    def grey(index):
        def draw(axes):
            lines = [(str(i), [0, 1, 2], [i, i, i], None) for i in range(10)]
            draw_lines(axes[0, 0], lines)
            for i, line in enumerate(axes[0, 0].get_lines()):
                line.set(color="black", ydata=[0, 0, 0], visible=i == index)
            axes[0, 0].set(xlim=(0, 2), ylim=(-1, 1))

        return Picture("a", "", new_figure(draw, width=3, height=1)).drawn("png")

    assert len({grey(index) for index in range(10)}) == 10


def test_a_band_is_as_wide_as_it_says():
    ax = Figure().subplots()
    draw_lines(ax, [("a", [1, 2, 3], [5, 6, 7], [1, 2, 0.5]), ("b", [1, 2], [0, 0], None)])
    [band] = ax.collections
    [path] = band.get_paths()
    outline = {tuple(vertex) for vertex in path.vertices.tolist()}
    assert outline == {(1, 4), (1, 6), (2, 4), (2, 8), (3, 6.5), (3, 7.5)}
    assert to_hex(band.get_facecolor()[0]) == to_hex(ax.get_lines()[0].get_color())


def test_a_band_of_another_length_is_refused():
    with pytest.raises(ValueError, match="zip"):
        draw_lines(Figure().subplots(), [("a", [1, 2], [5, 6], [1])])


@given(
    st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3)), min_size=1, max_size=40),
    st.randoms(use_true_random=False),
)
def test_crosses_are_the_rows_outside_their_classs_majority(pairs, random):
    labels, classes = (np.array(column) for column in zip(*pairs, strict=True))
    points = np.array([(i, random.random()) for i in range(len(pairs))])
    dots, crosses = drawn_partition(points, labels, classes)

    crossed = set(rows_of(crosses))
    for known in set(classes.tolist()):
        members = [i for i in range(len(pairs)) if classes[i] == known]
        counts = Counter(labels[members].tolist())
        home = {int(labels[i]) for i in members if i not in crossed}
        # One cluster keeps its rows, all of them, and no other is larger.
        assert len(home) == 1
        assert counts[next(iter(home))] == max(counts.values())
        assert {i for i in members if labels[i] in home}.isdisjoint(crossed)
    # Every row is drawn once, at its place, and dots of one look are of one cluster.
    assert sorted(sum(map(rows_of, dots), rows_of(crosses))) == list(range(len(pairs)))
    for collection in dots:
        assert len(set(labels[rows_of(collection)].tolist())) <= 1
        for x, y in collection.get_offsets():
            assert y == points[int(x), 1]


def test_a_perfect_partition_has_no_crosses():
    classes = np.arange(30) % 3
    points = np.column_stack([np.arange(30), np.zeros(30)])
    dots, crosses = drawn_partition(points, (classes + 1) % 3, classes)
    assert rows_of(crosses) == []
    assert sorted(map(len, map(rows_of, dots))) == [10, 10, 10]


def test_clusters_differ_in_colour_and_marker_and_from_the_crosses():
    labels = np.repeat(np.arange(10), 3)
    classes = np.arange(30) // 6
    dots, crosses = drawn_partition(np.ones((30, 2)), labels, classes)
    colours = [
        to_hex(collection.get_facecolor()[0]) for collection in dots if len(rows_of(collection))
    ]
    shapes = [collection.get_paths()[0].vertices.tobytes() for collection in dots]
    assert len(set(colours)) == len(colours) == 5
    assert len(set(shapes)) == 10
    assert to_hex(crosses.get_edgecolor()[0]) == "#000000"


def test_a_partition_has_no_axes_and_true_proportions():
    ax = Figure().subplots()
    draw_partition(ax, np.random.default_rng(0).random((9, 2)), np.arange(9) % 2, np.zeros(9, int))
    assert ax.get_aspect() == 1
    assert len(ax.get_xticks()) == len(ax.get_yticks()) == 0
    assert not any(spine.get_visible() for spine in ax.spines.values())
