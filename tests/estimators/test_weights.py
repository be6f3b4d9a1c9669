"""Sample weights: weight 2 is the row twice, weight 0 is no row, and the unit does not matter."""

from contextlib import nullcontext

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import data
from kernelmeans import KernelKMeans, KernelPowerKMeans, MultiKernelPowerKMeans, PowerKMeans
from kernelmeans.baselines import MKKM, RKKM, RMKKM

#: Without swap moves, which draw samples by number, steps can be compared one by one.
ALONE = {"n_swaps": 0}
ESTIMATORS = {
    "annealed": lambda k, **given: KernelPowerKMeans(
        k, kernel="rbf", gamma=0.3, **{**ALONE, **given}
    ),
    "precomputed": lambda k, **given: KernelPowerKMeans(
        k, kernel="precomputed", **{**ALONE, **given}
    ),
    "paper": lambda k, **given: KernelPowerKMeans(
        k, kernel="rbf", gamma=0.3, eta=1.04, **{**ALONE, **given}
    ),
    "constant": lambda k, **given: KernelPowerKMeans(
        k, kernel="rbf", gamma=0.3, eta=1, tol=1e-4, **given
    ),
    "hard": lambda k, **given: KernelKMeans(k, gamma=0.3, **given),
    "linear": lambda k, **given: PowerKMeans(k, **{**ALONE, **given}),
    "swaps": lambda k, **given: KernelPowerKMeans(
        k, kernel="rbf", gamma=0.3, random_state=0, **given
    ),
    "linear, swaps": lambda k, **given: PowerKMeans(k, random_state=0, **given),
}
estimators = pytest.mark.parametrize("name", ESTIMATORS)
SEEDS = np.array([2, 31, 47, 63])


def rows_for(name, X):
    """Input of an estimator for these rows."""
    return np.exp(-0.3 * ((X[:, None] - X) ** 2).sum(-1)) if name == "precomputed" else X


def compare(one, other, rows=slice(None)):
    np.testing.assert_array_equal(one.labels_[rows], other.labels_)
    assert one.inertia_ == pytest.approx(other.inertia_, rel=1e-9)
    # Samples without weight may ask for a step more before no label changes.
    steps = min(one.n_iter_, other.n_iter_)
    assert max(one.n_iter_, other.n_iter_) <= steps + 1
    np.testing.assert_allclose(
        one.objective_history_[:steps], other.objective_history_[:steps], rtol=1e-7
    )
    if hasattr(one, "critical_power_"):
        # Both are known to a thousandth of the eigenvalue behind them.
        assert one.critical_power_ == pytest.approx(other.critical_power_, rel=5e-3)


def given_power(name):
    """A given s0, since an automatic one is only known to a thousandth."""
    return {} if name == "hard" else {"s0": -4.0}


@pytest.mark.parametrize("name", [name for name in ESTIMATORS if "swaps" not in name])
def test_weight_two_is_the_row_twice(name):
    X = data.cloud(80, 3)
    weight = np.random.default_rng(0).integers(1, 4, 80)
    twice = np.concatenate([X, np.repeat(X, weight - 1, axis=0)])
    given = {"init": SEEDS, **given_power(name)}
    weighted = ESTIMATORS[name](4, **given).fit(rows_for(name, X), sample_weight=weight)
    repeated = ESTIMATORS[name](4, **given).fit(rows_for(name, twice))
    compare(repeated, weighted, slice(80))


@estimators
def test_weight_two_is_the_row_twice_for_the_automatic_start(name):
    X, _ = data.blobs(80, 3, 4)
    weight = np.random.default_rng(0).integers(1, 4, 80)
    twice = np.concatenate([X, np.repeat(X, weight - 1, axis=0)])
    weighted = ESTIMATORS[name](4, init=SEEDS).fit(rows_for(name, X), sample_weight=weight)
    repeated = ESTIMATORS[name](4, init=SEEDS).fit(rows_for(name, twice))
    np.testing.assert_array_equal(repeated.labels_[:80], weighted.labels_)
    if hasattr(weighted, "critical_power_"):
        assert weighted.critical_power_ == pytest.approx(repeated.critical_power_, rel=5e-3)


@estimators
def test_weight_zero_is_no_row(name):
    X = data.cloud(80, 3)
    weight = np.random.default_rng(0).integers(0, 3, 80).astype(float)
    weight[SEEDS] = 1
    kept = np.flatnonzero(weight)
    given = given_power(name)
    whole = ESTIMATORS[name](4, init=SEEDS, **given).fit(rows_for(name, X), sample_weight=weight)
    part = ESTIMATORS[name](4, init=np.searchsorted(kept, SEEDS), **given)
    part.fit(rows_for(name, X[kept]), sample_weight=weight[kept])
    compare(whole, part, kept)
    if name != "precomputed":
        np.testing.assert_array_equal(part.predict(X), whole.labels_)


@estimators
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("unit", [1e-12, 1e-3, 7, 1e12])
def test_the_unit_of_the_weights_changes_no_label(name, dtype, unit):
    X = data.cloud(80, 3).astype(dtype)
    weight = np.random.default_rng(0).uniform(0.1, 3, 80)
    given = {"init": SEEDS, **given_power(name)}
    one, other = (
        ESTIMATORS[name](4, **given).fit(rows_for(name, X), sample_weight=w)
        for w in (weight, unit * weight)
    )
    np.testing.assert_array_equal(one.labels_, other.labels_)
    assert other.inertia_ == pytest.approx(unit * one.inertia_, rel=1e-5)


@estimators
def test_equal_weights_are_no_weights(name):
    X = rows_for(name, data.cloud(80, 3))
    plain = ESTIMATORS[name](4, init=SEEDS).fit(X)
    for weight in (np.ones(80), 1, None):
        compare(ESTIMATORS[name](4, init=SEEDS).fit(X, sample_weight=weight), plain)


def test_weights_count_in_the_score():
    X = data.cloud(80, 3)
    weight = np.random.default_rng(0).uniform(0.1, 3, 80)
    model = KernelPowerKMeans(4, kernel="rbf", random_state=0).fit(X, sample_weight=weight)
    assert model.inertia_ == -model.score(X, sample_weight=weight)
    nearest = model.transform(X).min(axis=1) ** 2
    assert model.inertia_ == pytest.approx(weight @ nearest)
    assert -model.score(X) == pytest.approx(nearest.sum())


def test_heavy_samples_draw_the_centroids():
    X = np.array([[0.0], [1.0], [10.0], [11.0]])
    model = PowerKMeans(2, init=np.array([0, 2])).fit(X, sample_weight=[3, 1, 1, 1])
    np.testing.assert_allclose(np.sort(model.cluster_centers_.ravel()), [0.25, 10.5])


#: Estimators whose kernels follow the rows.
BY_WIDTH = {
    **{
        gamma: KernelPowerKMeans(kernel="rbf", gamma=gamma, n_swaps=0)
        for gamma in ("rms", "median", "scale")
    },
    **{
        family: MultiKernelPowerKMeans(kernels=family, n_swaps=0)
        for family in ("neighbors", "widths", "du2015")
    },
    "linear": PowerKMeans(n_swaps=0),
    "rff": KernelPowerKMeans(
        kernel="rbf", approximation="rff", n_components=50, n_swaps=0, random_state=0
    ),
}


@pytest.mark.parametrize("place", [1e3, 1e9])
@pytest.mark.parametrize("name", BY_WIDTH)
def test_an_outlier_without_weight_changes_nothing(name, place):
    X, weight = data.cloud(60, 3) + 3, np.r_[np.ones(60), 0]
    far = np.concatenate([X, [[place, place, -place]]])
    weighted, plain = (
        clone(BY_WIDTH[name]).set_params(n_clusters=4, init=np.array([2, 31, 47, 55]))
        for _ in range(2)
    )
    compare(weighted.fit(far, sample_weight=weight), plain.fit(X), slice(60))


#: Estimators with the starts and landmarks that they draw.
DRAWING = {
    **{
        f"{kind.__name__}, {init}": kind(init=init)
        for kind in (KernelPowerKMeans, KernelKMeans, PowerKMeans, RKKM, MKKM, RMKKM)
        for init in ("k-means++", "random")
    },
    "MKKM, random-partition": MKKM(),
    "several kernels": MultiKernelPowerKMeans(n_swaps=2),
    "heat": KernelPowerKMeans(kernel="heat"),
    "heat by anchors": KernelPowerKMeans(kernel="heat", approximation="landmarks", n_components=12),
    **{
        name: KernelPowerKMeans(kernel="rbf", approximation=name, n_components=12)
        for name in ("landmarks", "rpcholesky", "rff")
    },
    **{
        f"{name}, auto": KernelPowerKMeans(kernel="rbf", approximation=name)
        for name in ("landmarks", "rpcholesky", "rff")
    },
    "median": KernelPowerKMeans(kernel="laplacian", gamma="median"),
}


@pytest.mark.filterwarnings("ignore:Number of distinct clusters")
@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("name", DRAWING)
def test_rows_without_weight_change_no_draw(name, seed, monkeypatch):
    # Fewer than all rows, but not than those with weight.
    monkeypatch.setattr("kernelmeans.kernels.widths.MEDIAN_ROWS", 60)
    rng = np.random.default_rng(seed)
    X, weight = data.blobs(50, 3, 4)[0], rng.uniform(0.5, 2, 50)
    places = np.sort(rng.integers(51, size=20))
    more = np.insert(X, places, 3 * rng.standard_normal((20, 3)), axis=0)
    kept = np.insert(np.ones(50, bool), places, False)
    plain, other = (clone(DRAWING[name]).set_params(n_clusters=6, random_state=seed) for _ in "ab")
    plain.fit(X, sample_weight=weight)
    other.fit(more, sample_weight=np.insert(weight, places, 0))
    np.testing.assert_array_equal(other.labels_[kept], plain.labels_)
    assert other.inertia_ == pytest.approx(plain.inertia_, rel=1e-9, abs=1e-12)
    if hasattr(plain, "kernel_weights_"):
        np.testing.assert_allclose(other.kernel_weights_, plain.kernel_weights_, atol=1e-12)


@pytest.mark.parametrize("k", [1, 2])
@pytest.mark.parametrize("init", ["k-means++", "random"])
@pytest.mark.parametrize("name", ESTIMATORS)
def test_rows_that_differ_in_one_without_weight_are_all_alike(name, init, k):
    X = rows_for(name, np.array([[0.0], [0.0], [0.0], [1.0]]))
    model = ESTIMATORS[name](k, init=init)
    with pytest.warns(ConvergenceWarning) if k == 2 else nullcontext():
        model.fit(X, sample_weight=[1, 2, 1, 0])
    assert model.inertia_ == 0
    np.testing.assert_array_equal(model.labels_, model.predict(X))
    np.testing.assert_array_equal(model.labels_, 0)
