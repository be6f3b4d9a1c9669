"""The trace of a fit: all restarts, hard steps, the critical power, and no rounding noise."""

import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kernelmeans import KernelKMeans, KernelPowerKMeans
from kernelmeans.plotting import draw_trace, plot_trace


def trace(model):
    axes = Figure().subplots(2, 1)
    draw_trace(axes, model)
    return axes


def test_objective_power_and_critical_power(model):
    above, below = trace(model)
    steps, objective = above.lines[0].get_data()
    np.testing.assert_allclose(objective, model.objective_history_)
    assert steps[0] == 1
    finite = np.isfinite(model.power_history_)
    np.testing.assert_allclose(below.lines[0].get_ydata(), -model.power_history_[finite])
    assert model.critical_power_ < -0.01
    np.testing.assert_allclose(below.lines[1].get_ydata(), -model.critical_power_)
    texts = [text.get_text() for text in below.texts]
    assert texts == [f"critical power {model.critical_power_:.3g}"]


def test_hard_steps_are_shaded(model):
    above, below = trace(model)
    hard = ~np.isfinite(model.power_history_)
    assert hard.any()
    first, last = np.flatnonzero(hard)[[0, -1]] + 1
    for ax in (above, below):
        (shade,) = ax.patches
        assert shade.get_x() == pytest.approx(first - 0.5)
        assert shade.get_x() + shade.get_width() == pytest.approx(last + 0.5)
    assert above.get_title() == f"Trace of the fit (shaded: {hard.sum()} hard steps)"


def test_all_restarts_are_drawn_and_the_best_stands_out(X):
    model = KernelPowerKMeans(5, kernel="rbf", n_init=4, init="random", random_state=0).fit(X)
    above, below = trace(model)
    histories = model.result_.objective_history
    assert len(histories) == 4
    colors = [line.get_color() for line in above.lines]
    assert len(colors) == 4
    assert colors.count(colors[-1]) == 1
    np.testing.assert_array_equal(above.lines[-1].get_ydata(), model.objective_history_)
    drawn = sorted(line.get_ydata().sum() for line in above.lines)
    np.testing.assert_allclose(drawn, sorted(values.sum() for values in histories))
    assert "the best of 4 restarts" in above.get_title()
    assert above.get_xlim()[1] == max(map(len, histories)) + 0.5
    assert len(below.lines) == 4 + 1


def test_plain_kernel_k_means_is_all_hard(X):
    model = KernelKMeans(3, n_init=1, random_state=0).fit(X)
    above, below = trace(model)
    assert len(below.lines[0].get_xdata()) == 0
    assert f"{len(model.objective_history_)} hard step" in above.get_title()
    assert below.texts[0].get_text() == "all steps are hard"


@pytest.mark.parametrize("weight", [1, 1e6])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_a_fit_of_cost_0_shows_no_rounding(weight, dtype):
    X = np.repeat(np.random.default_rng(0).normal(size=(4, 3)), 30, axis=0).astype(dtype)
    model = KernelPowerKMeans(4, kernel="rbf", random_state=0)
    model.fit(X, sample_weight=np.full(len(X), weight))
    assert 0 < model.objective_history_.max() < 1e-4 * weight * len(X)
    above, _ = trace(model)
    assert not above.lines[0].get_ydata().any()
    assert above.get_yticks().tolist() == [0]


def test_a_critical_power_of_about_0_is_neither_marked_nor_written():
    X = make_blobs(90, centers=3, cluster_std=0.01, random_state=0)[0]
    model = KernelPowerKMeans(3, random_state=0).fit(X)
    assert abs(model.critical_power_) < 1e-6
    for critical in (model.critical_power_, -0.0, -1e-15, 0.0, 0.3, -np.inf):
        model.critical_power_ = critical
        _, below = trace(model)
        assert not below.texts
        assert below.get_ylim()[0] > 0.5


def test_a_pipeline_is_drawn_and_others_are_refused(X):
    pipeline = make_pipeline(StandardScaler(), KernelPowerKMeans(5, kernel="rbf", random_state=0))
    with pytest.raises(NotFittedError):
        plot_trace(pipeline)
    figure = plot_trace(pipeline.fit(X))
    drawn = figure.axes[0].lines[0].get_ydata()
    np.testing.assert_allclose(drawn, pipeline[-1].objective_history_)
    with pytest.raises(ValueError, match="KMeans keeps no history"):
        plot_trace(KMeans(2).fit(X))
