"""The family of heat kernels, and several heat kernels of the same rows."""

import pickle

import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_circles
from sklearn.metrics import adjusted_rand_score

from data import cloud
from kernelmeans import KernelPowerKMeans, MultiKernelPowerKMeans
from kernelmeans.heat import auto_neighbors, neighbors
from kernelmeans.heat.neighbors import NearestRows

CIRCLES, RINGS = make_circles(500, factor=0.5, noise=0.04, random_state=0)


def multi(kernels="neighbors", k=2, **given):
    return MultiKernelPowerKMeans(k, kernels=kernels, random_state=0, **given)


def heat(n_neighbors, **given):
    return {"kernel": "heat", "n_neighbors": n_neighbors, **given}


def test_it_is_the_default_and_finds_shapes():
    model = MultiKernelPowerKMeans(2, random_state=0).fit(CIRCLES)
    assert model.kernels == "neighbors"
    assert adjusted_rand_score(RINGS, model.labels_) == 1
    assert_array_equal(model.predict(CIRCLES), model.labels_)
    # Neither the graph of many neighbours nor that of few gets all the weight.
    assert_allclose(model.kernel_weights_, 0.5, atol=0.1)


@pytest.mark.slow
@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_array], ids=["dense", "csr"])
@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_it_is_its_kernels_one_by_one(metric, form):
    X, auto = cloud(150, 4), auto_neighbors(150, 5)
    family = multi([{"kernel": "neighbors", "metric": metric}], 5).fit(form(X))
    numbers = [kernel.parameters["n_neighbors"] for kernel in family.kernels_]
    assert numbers == [2 * auto, auto]
    listed = multi([heat(own, metric=metric) for own in numbers], 5).fit(form(X))
    assert_array_equal(family.labels_, listed.labels_)
    assert_array_equal(family.kernel_weights_, listed.kernel_weights_)
    for own, number in zip(family.kernels_, numbers, strict=True):
        alone = KernelPowerKMeans(5, kernel="heat", n_neighbors=number, metric=metric)
        assert_array_equal(own.eigenvalues, alone.fit(form(X)).eigenvalues_)
        assert (own.parameters["t"], own.n_pieces) == (alone.t_, alone.n_pieces_)


@pytest.mark.parametrize("n", [3, 4, 6, 12])
def test_there_are_no_more_neighbours_than_rows(n):
    model = multi().fit(cloud(n))
    assert all(own.parameters["n_neighbors"] <= n for own in model.kernels_)
    assert_array_equal(model.predict(cloud(n)), model.labels_)


def test_one_search_serves_all_kernels_of_the_same_rows(monkeypatch):
    searches = []

    class Counted(neighbors.NearestNeighbors):
        def kneighbors(self, X=None, n_neighbors=None, return_distance=True):
            searches.append(n_neighbors)
            return super().kneighbors(X, n_neighbors, return_distance)

    monkeypatch.setattr(neighbors, "NearestNeighbors", Counted)
    model = multi(["neighbors", heat(5), ("neighbors", [0, 1]), heat(5, metric="cosine")])
    model.fit(cloud(100))
    auto = auto_neighbors(100, 2)
    # Each row itself included; the density takes ten others.
    assert searches == [2 * auto, 2 * auto, 11]
    nearest = [own._features.rows for own in model.kernels_]
    assert nearest[0] is nearest[1] is nearest[2]
    again = pickle.loads(pickle.dumps(model))
    assert again.kernels_[0]._features.rows is again.kernels_[1]._features.rows
    new = cloud(30, seed=1)
    assert_array_equal(again.predict(new), model.predict(new))


@pytest.mark.parametrize("p", [2, 30])
def test_fewer_neighbours_are_the_first_of_more(p):
    more = NearestRows(cloud(200, p), "euclidean")
    more.others(20)
    assert_array_equal(more.others(7), NearestRows(cloud(200, p), "euclidean").others(7))
    assert more.others(25).shape == (200, 25)


def test_rows_on_disk(tmp_path):
    rows = np.lib.format.open_memmap(tmp_path / "X.npy", "w+", float, CIRCLES.shape)
    rows[:] = CIRCLES
    assert_array_equal(multi().fit(rows).labels_, multi().fit(CIRCLES).labels_)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_neighbors": 5}, r"kernels\[0\]=.*the family 'neighbors' takes only metric"),
        ({"metric": "cosine", "t": 1.0}, r"kernels\[0\]=.*takes only metric"),
        ({"metric": "minkowski"}, r"'metric' parameter of kernels\[0\]"),
    ],
)
def test_it_takes_no_other_parameter_than_the_metric(parameters, message):
    with pytest.raises(ValueError, match=message):
        multi([{"kernel": "neighbors", **parameters}]).fit(CIRCLES)


def anchors(model):
    return [own._features.nearest.rows for own in model.kernels_]


@pytest.mark.parametrize("kernels", ["neighbors", ["heat"] * 3])
def test_each_kernel_draws_its_own_anchors(kernels):
    given = {"approximation": "landmarks", "n_components": 60}
    model = multi(kernels, **given).fit(CIRCLES)
    first, *others = anchors(model)
    for own in others:
        assert not np.array_equal(own, first)
    # The same again for the same seed, and for another not.
    for own, same in zip(
        anchors(model), anchors(multi(kernels, **given).fit(CIRCLES)), strict=True
    ):
        assert_array_equal(own, same)
    assert not np.array_equal(anchors(model.set_params(random_state=1).fit(CIRCLES))[0], first)
    assert adjusted_rand_score(RINGS, model.labels_) > 0.95
    assert_array_equal(model.predict(CIRCLES), model.labels_)


@pytest.mark.parametrize("approximation", [None, "landmarks"])
def test_the_remedy_for_pieces_is_one_that_a_family_has(approximation):
    X = np.repeat(100.0 * np.arange(8), 40)[:, None] + cloud(320, 2)
    with pytest.warns(UserWarning, match="in 8 pieces") as caught:
        multi(approximation=approximation, n_components=80).fit(X)
    for warning in caught:
        message = str(warning.message)
        assert message.startswith("kernels='neighbors', kernel='heat': the graph")
        assert ("the graph of anchors with" in message) == (approximation is not None)
        assert "Instead of the family 'neighbors' give dict(kernel='heat', n_neighbors=" in message
        assert "Raise n_neighbors" not in message
    with pytest.warns(UserWarning, match=r"kernels\[0\], kernel='heat': .* Raise n_neighbors"):
        multi(["heat"], approximation=approximation, n_components=80).fit(X)
