"""The panel of kernel weights, and clusters of combined kernels."""

from itertools import pairwise

import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.datasets import make_blobs
from sklearn.exceptions import NotFittedError
from sklearn.metrics.pairwise import linear_kernel, rbf_kernel
from sklearn.pipeline import make_pipeline

from kernelmeans import KernelPowerKMeans, MultiKernelPowerKMeans
from kernelmeans.baselines import RMKKM
from kernelmeans.plotting import draw_kernel_weights, plot_kernel_weights
from kernelmeans.plotting.points import map_points

X = make_blobs(80, n_features=4, centers=3, random_state=1)[0]


@pytest.fixture(scope="module")
def model() -> MultiKernelPowerKMeans:
    kernels = [("rbf", [0, 1]), "linear", ({"kernel": "poly", "degree": 2}, [0, 3])]
    return MultiKernelPowerKMeans(3, kernels=kernels, entropy_weight=0.5, random_state=0).fit(X)


def panel(estimator, names=None):
    ax = Figure().subplots()
    draw_kernel_weights(ax, estimator, names)
    return ax


def texts(ax):
    return [label.get_text() for label in ax.get_yticklabels()]


def widths(ax):
    """Lengths of the bars, from the top of the picture down."""
    top_down = sorted(ax.patches, key=lambda bar: -ax.transData.transform((0, bar.get_y()))[1])
    return [bar.get_width() for bar in top_down]


def test_bars_are_the_weights(model):
    ax = panel(model)
    assert np.ptp(model.kernel_weights_) > 0.01
    np.testing.assert_allclose(widths(ax), model.kernel_weights_)
    assert texts(ax) == ["rbf", "linear", "poly"]
    expected = [f"{100 * weight:.1f}" for weight in model.kernel_weights_]
    assert [text.get_text() for text in ax.texts] == expected
    assert max(widths(ax)) < ax.get_xlim()[1]


def test_names_can_be_given(model):
    assert texts(panel(model, ["shape", "cost $ a $", "size"])) == ["shape", "cost $ a $", "size"]
    for wrong in (["a", "b"], "abc", dict.fromkeys("abc"), 3):
        with pytest.raises(ValueError, match=r"should be a list of 3 names, one for each kernel"):
            panel(model, wrong)


def test_a_line_marks_equal_weights(model):
    (line,) = panel(model).lines
    np.testing.assert_allclose(line.get_xdata(), 1 / 3)


def test_weights_that_do_not_sum_to_one_have_no_such_line():
    model = RMKKM(3, kernels=["rbf", "linear"], n_init=1, random_state=0).fit(X)
    assert not np.isclose(model.kernel_weights_.sum(), 1)
    ax = panel(model)
    assert not ax.lines
    np.testing.assert_allclose(widths(ax), model.kernel_weights_)


def test_a_constant_kernel_has_a_name_and_no_length():
    data = np.column_stack([np.ones(len(X)), X])
    kernels = [("rbf", [0]), ("linear", [1, 2]), ("rbf", [3, 4])]
    with pytest.warns(UserWarning, match="Constant on these data"):
        model = MultiKernelPowerKMeans(3, kernels=kernels, random_state=0).fit(data)
    ax = panel(model)
    assert texts(ax) == ["rbf 1 (constant)", "linear", "rbf 3"]
    assert widths(ax)[0] == 0


def test_of_very_many_kernels_the_heaviest_are_drawn():
    kernels = ["widths", "du2015", ("widths", [0]), ("du2015", [1, 3])]
    model = MultiKernelPowerKMeans(3, kernels=kernels, entropy_weight=0.2, random_state=0).fit(X)
    names = [f"a kernel with a very long name {index}" for index in range(34)]
    ax = panel(model, names)
    heaviest = np.sort(np.argsort(-model.kernel_weights_, kind="stable")[:24])
    np.testing.assert_allclose(widths(ax), model.kernel_weights_[heaviest])
    assert "24 of 34" in ax.get_title()
    shown = texts(ax)
    assert max(map(len, shown)) <= 20
    assert [text.split()[-1] for text in shown] == [str(index) for index in heaviest]


@pytest.mark.parametrize("n_kernels", [2, 5, 12])
def test_names_do_not_overlap(n_kernels):
    kernels = {2: ["rbf", "linear"], 5: "widths", 12: "du2015"}[n_kernels]
    model = MultiKernelPowerKMeans(3, kernels=kernels, random_state=0).fit(X)
    names = [f"quite a long name {index}" for index in range(n_kernels)]
    figure = plot_kernel_weights(model, names)
    figure.draw_without_rendering()
    ax = figure.axes[-1]
    boxes = [label.get_window_extent() for label in ax.get_yticklabels()]
    assert len(boxes) == n_kernels
    assert all(upper.y0 > lower.y1 for upper, lower in pairwise(boxes))
    assert all(box.x0 > 0 for box in boxes)
    bars = [bar.get_window_extent() for bar in ax.patches]
    numbers = [text.get_window_extent() for text in ax.texts]
    assert all(bar.x1 < number.x0 for bar in bars for number in numbers)
    line = ax.transData.transform((1 / n_kernels, 0))[0]
    assert all(line < number.x0 for number in numbers)


def test_only_several_kernels_have_weights(model):
    assert len(plot_kernel_weights(make_pipeline("passthrough", model)).axes[0].patches) == 3
    with pytest.raises(NotFittedError):
        plot_kernel_weights(MultiKernelPowerKMeans(3))
    with pytest.raises(ValueError, match="KernelPowerKMeans has one kernel"):
        plot_kernel_weights(KernelPowerKMeans(3, kernel="rbf", random_state=0).fit(X))


def products(K):
    """Inner products of the two leading components of a kernel matrix."""
    K = K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean()
    values, vectors = np.linalg.eigh(K)
    components = vectors[:, -2:] * np.sqrt(values[-2:])
    return components @ components.T


def test_coordinates_are_those_of_the_combined_kernel(model):
    gamma, (first, second, third) = (
        model.kernel_.kernels[0].parameters["gamma"],
        (model.kernel_weights_ * model.kernel_factors_),
    )
    poly = (1 + X[:, [0, 3]] @ X[:, [0, 3]].T / 2) ** 2
    K = first * rbf_kernel(X[:, :2], gamma=gamma) + second * linear_kernel(X) + third * poly
    points = map_points(model, X).points
    np.testing.assert_allclose(points @ points.T, products(K), atol=1e-8)


@pytest.mark.parametrize("scaling", ["unit-variance", "cosine", "min-max", None])
def test_coordinates_of_a_stack_of_kernel_matrices(scaling):
    stack = np.stack([rbf_kernel(X, gamma=0.05), linear_kernel(X), (1 + linear_kernel(X)) ** 2])
    model = MultiKernelPowerKMeans(
        3, kernels="precomputed", kernel_scaling=scaling, random_state=0
    ).fit(stack)
    scaled = stack.copy()
    if scaling in ("cosine", "min-max"):
        for K in scaled:
            K /= np.sqrt(np.outer(np.diagonal(K), np.diagonal(K)))
    K = np.tensordot(model.kernel_weights_ * model.kernel_factors_, scaled, axes=1)
    points = map_points(model, stack).points
    np.testing.assert_allclose(points @ points.T, products(K), atol=1e-8 * np.abs(K).max())
    found = map_points(model, stack, max_points=30)
    np.testing.assert_array_equal(found.labels, model.labels_[found.rows])
    assert texts(panel(model)) == [f"X[{index}]" for index in range(3)]


@pytest.mark.filterwarnings("ignore")
def test_a_stack_with_a_constant_matrix():
    stack = np.stack([np.ones((80, 80)), rbf_kernel(X, gamma=0.05)])
    model = MultiKernelPowerKMeans(3, kernels="precomputed", random_state=0).fit(stack)
    assert model.kernel_weights_.tolist() == [0, 1]
    points = map_points(model, stack).points
    K = model.kernel_factors_[1] * stack[1]
    np.testing.assert_allclose(points @ points.T, products(K), atol=1e-8)
