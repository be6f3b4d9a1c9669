"""Heat kernels in the estimators."""

import pickle
import re

import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.datasets import make_circles, make_moons
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import NearestNeighbors
from threadpoolctl import threadpool_limits

from data import blobs, cloud, needs_data, standardized
from kernelmeans import KernelKMeans, KernelPowerKMeans, MultiKernelPowerKMeans
from kernelmeans.baselines import MKKM, RKKM, RMKKM
from kernelmeans.heat import HeatKernel

SHAPES = {
    "moons": make_moons(500, noise=0.05, random_state=0),
    "circles": make_circles(500, factor=0.5, noise=0.04, random_state=0),
}
HEAT = {
    "power": lambda k: KernelPowerKMeans(k, kernel="heat", random_state=0),
    "plain": lambda k: KernelKMeans(k, kernel="heat", random_state=0),
    "multi": lambda k: MultiKernelPowerKMeans(
        k, kernels=["heat", {"kernel": "heat", "n_neighbors": 15}], random_state=0
    ),
}


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("make", HEAT.values(), ids=HEAT)
def test_shapes_are_found(make, name):
    X, y = SHAPES[name]
    model = make(2).fit(X)
    assert adjusted_rand_score(y, model.labels_) == 1
    new, y_new = (make_moons if name == "moons" else make_circles)(
        300, noise=0.03, random_state=1, **({} if name == "moons" else {"factor": 0.5})
    )
    assert adjusted_rand_score(np.r_[y, y_new], np.r_[model.labels_, model.predict(new)]) == 1


@pytest.mark.parametrize("make", HEAT.values(), ids=HEAT)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_labels_are_predictions(make, dtype):
    X = cloud(300).astype(dtype)
    model = make(5).fit(X)
    order = np.random.default_rng(0).permutation(300)[:77]
    assert_array_equal(model.predict(X), model.labels_)
    assert_array_equal(model.predict(X[order]), model.labels_[order])
    assert_array_equal([model.predict(row[None])[0] for row in X[:20]], model.labels_[:20])
    assert_array_equal(model.transform(X).argmin(axis=1), model.labels_)
    assert model.score(X) == pytest.approx(-model.inertia_, rel=1e-5)


@pytest.mark.filterwarnings("ignore:Cluster")  # they have none
@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_labels_are_predictions_of_sparse_rows(metric, dtype):
    X = scipy.sparse.random_array((200, 40), density=0.2, rng=np.random.default_rng(0))
    X = X.tocsr().astype(dtype)
    model = KernelPowerKMeans(4, kernel="heat", metric=metric, random_state=0).fit(X)
    assert_array_equal(model.predict(X), model.labels_)
    assert_array_equal(model.predict(X[10:90]), model.labels_[10:90])
    assert_array_equal(model.predict(X.toarray()), model.labels_)
    dense = KernelPowerKMeans(4, kernel="heat", metric=metric, random_state=0).fit(X.toarray())
    assert_array_equal(dense.predict(X), dense.labels_)


def test_rows_on_disk(tmp_path):
    X, y = SHAPES["moons"]
    rows = np.lib.format.open_memmap(tmp_path / "X.npy", "w+", X.dtype, X.shape)
    rows[:] = X
    model = KernelPowerKMeans(2, kernel="heat", random_state=0).fit(rows)
    assert adjusted_rand_score(y, model.labels_) == 1
    assert_array_equal(model.predict(rows), model.labels_)


def test_fitted_attributes():
    X, _ = SHAPES["moons"]
    model = KernelPowerKMeans(2, kernel="heat", n_neighbors=12, random_state=0).fit(X)
    assert model.n_neighbors_ == 12
    assert model.n_pieces_ == 2
    assert model.t_ > 0
    assert model.eigenvalues_[0] == pytest.approx(1)
    assert (np.diff(model.eigenvalues_) <= 0).all()
    assert isinstance(model.kernel_, HeatKernel)
    assert model.approximation_ == "explicit"
    assert "graph" in model.approximation_reason_
    assert KernelPowerKMeans(2, kernel="heat", t=model.t_ / 2).fit(X).t_ == model.t_ / 2
    assert clone(model).get_params()["n_neighbors"] == 12


def test_other_kernels_have_none_of_them():
    model = KernelPowerKMeans(2, kernel="rbf", random_state=0).fit(cloud())
    found = model.n_neighbors_, model.t_, model.eigenvalues_, model.n_pieces_
    assert found == (None, None, None, None)


def test_a_fit_leaves_the_parameters_alone():
    model = KernelPowerKMeans(2, kernel="heat", random_state=0)
    before = model.get_params()
    few = model.fit(SHAPES["moons"][0][::10]).n_neighbors_
    assert model.fit(SHAPES["moons"][0]).n_neighbors_ > few
    assert model.get_params() == before


@pytest.mark.parametrize("make", HEAT.values(), ids=HEAT)
def test_weight_two_is_the_row_twice(make):
    X, _ = blobs(150, k=4)
    weight = 1 + np.arange(150) % 3
    model = make(4).fit(X, sample_weight=weight)
    copies = make(4).fit(np.repeat(X, weight, axis=0))
    assert adjusted_rand_score(copies.predict(X), model.labels_) == 1
    assert copies.inertia_ == pytest.approx(model.inertia_, rel=1e-6)


def test_rows_without_weight_are_as_if_they_were_new():
    X, _ = blobs(150, k=4)
    weight = (np.arange(150) % 4 > 0).astype(float)
    model = HEAT["power"](4).fit(X, sample_weight=weight)
    without = HEAT["power"](4).fit(X[weight > 0])
    assert adjusted_rand_score(without.predict(X), model.labels_) == 1


def test_the_order_of_rows_does_not_matter():
    X, _ = blobs(200, k=5, spread=1.0)
    order = np.random.default_rng(0).permutation(200)
    one, other = HEAT["power"](5).fit(X), HEAT["power"](5).fit(X[order])
    assert adjusted_rand_score(one.labels_[order], other.labels_) > 0.99
    assert other.t_ == one.t_


def test_threads_do_not_matter():
    X = cloud(900)
    with threadpool_limits(1):
        one = HEAT["power"](6).fit(X)
    with threadpool_limits(2):
        two = HEAT["power"](6).fit(X)
    assert_array_equal(two.labels_, one.labels_)
    assert_array_equal(two.predict(X + 0.01), one.predict(X + 0.01))


def test_pickles_predict_the_same():
    X, _ = SHAPES["moons"]
    model = HEAT["power"](2).fit(X)
    again = pickle.loads(pickle.dumps(model))
    new = X + 0.01
    assert_array_equal(again.predict(new), model.predict(new))
    assert_array_equal(again.predict(X), model.labels_)


def test_given_starts():
    X, y = SHAPES["moons"]
    for init in (X[[0, 1]], np.array([0, 1]), np.eye(2)[y] + 0.1):
        model = KernelPowerKMeans(2, kernel="heat", init=init, random_state=0).fit(X)
        assert adjusted_rand_score(y, model.labels_) == 1


def test_each_view_has_a_graph_of_its_own():
    (moons, y), other = SHAPES["moons"], cloud(500)
    X = np.hstack([moons, other])
    heat = {"kernel": "heat", "n_neighbors": 10}
    kernels = [(heat, [0, 1]), (heat, [2, 3, 4]), ("rbf", slice(2, 5))]
    model = MultiKernelPowerKMeans(2, kernels=kernels, random_state=0).fit(X)
    alone = KernelPowerKMeans(2, kernel="heat", n_neighbors=10).fit(moons)
    assert_array_equal(model.kernels_[0].eigenvalues, alone.eigenvalues_)
    assert model.kernel_weights_.argmax() == 0
    assert adjusted_rand_score(y, model.labels_) == 1
    assert_array_equal(model.predict(X), model.labels_)
    assert [kernel.name for kernel in model.kernels_] == ["heat", "heat", "rbf"]


@pytest.mark.parametrize("scaling", ["unit-variance", "cosine", "min-max", None])
def test_every_scaling_takes_heat(scaling):
    X, _ = SHAPES["circles"]
    kernels = ["heat", "rbf"]
    model = MultiKernelPowerKMeans(2, kernels=kernels, kernel_scaling=scaling, random_state=0)
    assert_array_equal(model.fit(X).predict(X), model.labels_)


@pytest.mark.parametrize(
    "model",
    [
        RKKM(2, kernel="heat", random_state=0),
        MKKM(2, kernels=["heat", "rbf"], random_state=0),
        RMKKM(2, kernels=["heat", "rbf"], random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_baselines_take_it_too(model):
    X, y = SHAPES["moons"]
    assert adjusted_rand_score(y, model.fit(X).labels_) == 1
    assert_array_equal(model.predict(X), model.labels_)


def test_a_baseline_takes_its_parameters():
    X, y = SHAPES["moons"]
    lifted = np.column_stack([X, np.full(len(X), 3.0)])  # their directions tell moons apart
    given = {"kernel": "heat", "n_neighbors": 8, "metric": "cosine"}
    model = RKKM(2, random_state=0, **given).fit(lifted)
    assert adjusted_rand_score(y, model.labels_) == 1
    assert_array_equal(model.predict(lifted), model.labels_)
    model.set_params(t=20.0).fit(lifted)
    same = KernelKMeans(2, t=20.0, **given).fit(lifted)
    assert model.kernel_.parameters == same.kernel_.parameters
    assert (model.n_neighbors_, model.t_) == (8, 20)
    D = NearestNeighbors(n_neighbors=12).fit(X).kneighbors_graph(X, mode="distance")
    model = RKKM(2, kernel="heat", metric="precomputed", random_state=0).fit(D)
    assert adjusted_rand_score(y, model.labels_) == 1


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_neighbors": 1}, "'n_neighbors' parameter .* int in the range \\[2, inf\\)"),
        ({"n_neighbors": "many"}, "'n_neighbors' parameter"),
        ({"t": -1e-9}, "'t' parameter .* range \\[0.0, inf\\)"),
        ({"t": np.inf}, "'t' parameter"),
        ({"metric": "minkowski"}, "'metric' parameter .*KNeighborsTransformer"),
        ({"kernel_params": {}}, "only for a callable kernel"),
        ({"approximation": "rff"}, "approximation='rff' does not go with kernel='heat'"),
        ({"approximation": "rpcholesky"}, r"'landmarks' \(the graph of anchors\) or 'auto'"),
        ({"n_components": 0.9}, "keep no fraction of the trace"),
    ],
)
def test_bad_parameters_are_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        KernelPowerKMeans(2, kernel="heat", **parameters).fit(cloud())


def test_the_time_zero_of_a_fit_can_be_given():
    """A fit takes it where there are no more distinct rows than clusters."""
    sites = np.eye(5)[np.random.default_rng(0).integers(0, 5, 60)]
    alone = KernelPowerKMeans(5, random_state=0).fit(sites)
    assert alone.t_ == 0
    given = {"t": alone.t_, "n_neighbors": alone.n_neighbors_}
    again = KernelPowerKMeans(5, random_state=0, **given).fit(sites)
    assert_array_equal(again.labels_, alone.labels_)
    assert_array_equal(again.kernel_(sites, sites), alone.kernel_(sites, sites))
    views = [dict(kernel="heat", **given), "rbf"]
    model = MultiKernelPowerKMeans(5, kernels=views, random_state=0).fit(sites)
    assert_array_equal(model.kernels_[0](sites, sites), alone.kernel_(sites, sites))


def test_bad_items_are_refused():
    model = MultiKernelPowerKMeans(2, kernels=[{"kernel": "heat", "n_neighbors": 0}])
    with pytest.raises(ValueError, match=r"kernels\[0\]"):
        model.fit(cloud())


def test_what_does_not_fit_is_refused_before_any_work(monkeypatch):
    monkeypatch.setattr(HeatKernel, "fit", None)
    model = KernelPowerKMeans(2, kernel="heat", memory_budget="1MB", approximation=None)
    with pytest.raises(MemoryError, match=r"n_samples=20000, .*the graph of kernel='heat'.* MB"):
        model.fit(cloud(20000))


def test_a_kernel_that_is_not_fitted_says_so():
    with pytest.raises(ValueError, match="of training rows: fit it"):
        HeatKernel()(cloud(), cloud())


@needs_data
def test_digits():
    X, y = standardized("digits")
    model = KernelPowerKMeans(10, kernel="heat", random_state=0).fit(X)
    assert adjusted_rand_score(y, model.labels_) > 0.75
    held = KernelPowerKMeans(10, kernel="heat", random_state=0).fit(X[::2])
    assert adjusted_rand_score(model.labels_[1::2], held.predict(X[1::2])) > 0.8


@pytest.mark.parametrize("approximation", [None, "landmarks"])
@pytest.mark.parametrize("factor", [1e-20, 1e150])
def test_the_length_of_rows_does_not_matter_to_the_cosine_metric(approximation, factor):
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 40)
    X = np.array([[1.0, 0.0], [0.0, 1.0]])[y] + 0.05 * rng.random((80, 2))
    X[::2] *= factor
    model = KernelPowerKMeans(
        2, kernel="heat", metric="cosine", approximation=approximation, n_components=20,
        random_state=0,
    ).fit(X)  # fmt: skip
    assert adjusted_rand_score(model.labels_, y) == 1


def test_new_rows_whose_distances_overflow_are_refused():
    X = np.random.default_rng(0).random((30, 2))
    model = KernelPowerKMeans(2, kernel="heat", random_state=0).fit(X)
    with pytest.raises(ValueError, match="so far from the training rows"):
        model.predict(np.array([[1e160, 0.0]]))


@pytest.mark.filterwarnings("ignore:Cluster . is hardly one")
@pytest.mark.parametrize(
    ("dtype", "value", "column"), [(np.float64, "-1e+300", 1), (np.float32, "1e+30", slice(3))]
)
def test_a_number_beside_which_the_others_vanish_is_named(dtype, value, column):
    X, y = blobs(300)
    X = X.astype(dtype)
    X[7, column] = float(value)
    model = KernelPowerKMeans(3, kernel="heat", random_state=0)
    message = f"column {np.arange(3)[column].min()} of X holds {re.escape(value)}, and beside it"
    with pytest.warns(UserWarning, match=message):
        model.fit(X)
    assert adjusted_rand_score(y, model.labels_) < 0.9
    # A number that is merely large brings no warning.
    X[7, column] = {np.float64: 1e18, np.float32: 1e5}[dtype]
    model.fit(X)
    X[7, column] = 1e3
    assert adjusted_rand_score(y, model.fit(X).labels_) > 0.9
    assert adjusted_rand_score(np.delete(y, 7), model.fit(np.delete(X, 7, 0)).labels_) == 1


def test_more_neighbours_than_rows_need_no_memory():
    X = np.random.default_rng(0).random((30, 2))
    with pytest.warns(UserWarning, match="not less than the number of distinct rows, 30"):
        model = KernelPowerKMeans(2, kernel="heat", n_neighbors=10**12, random_state=0).fit(X)
    assert model.approximation_ == "explicit"
