"""Metrics of the heat kernel, by those of scikit-learn."""

import re

import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import VALID_METRICS, NearestNeighbors, kneighbors_graph
from threadpoolctl import threadpool_limits

from data import blobs, cloud
from kernelmeans import KernelKMeans, KernelPowerKMeans, MultiKernelPowerKMeans
from kernelmeans.baselines import RKKM
from kernelmeans.cli.app import app
from kernelmeans.heat import HeatKernel
from kernelmeans.heat.density import intrinsic_dimension
from kernelmeans.heat.dither import untorn
from kernelmeans.heat.metric import (
    BOOLEAN,
    DIRECTIONS,
    METRICS,
    NORMS,
    SPARSE,
    WITH_ANCHORS,
    as_directions,
    has_direction,
)
from kernelmeans.heat.neighbors import NearestRows

#: Metrics of scikit-learn's ball trees that are not taken, and why.
LEFT_OUT = {
    "minkowski": "takes p",
    "mahalanobis": "takes V",
    "seuclidean": "takes V",
    "haversine": "is for two columns of radians, which nobody scales",
    "russellrao": "a row is not near itself",
}


def rows_for(metric, n=120, p=20, seed=0):
    """Rows that the metric can compare, all different, in three groups."""
    rng, group = np.random.default_rng(seed), np.arange(2 * n) % 3
    if metric in BOOLEAN or metric == "hamming":
        often = np.random.default_rng(1).random((3, p)) < 0.5
        X = (rng.random((2 * n, p)) < 0.2) ^ often[group]
        return rng.permutation(np.unique(X, axis=0).astype(float))[:n]
    # Of both signs, and far from the origin: neither may be lost.
    places = 4 * np.random.default_rng(1).standard_normal((3, p))
    return (rng.standard_normal((2 * n, p)) + places[group] + 3)[:n]


def distances(X, count, metric, Y=None):
    """Distances to the nearest, without trees; of directions those between them on the sphere."""
    if metric in BOOLEAN:
        X, Y = X.astype(bool), None if Y is None else Y.astype(bool)
    search = NearestNeighbors(n_neighbors=count, metric=metric, algorithm="brute").fit(X)
    found, near = search.kneighbors(Y)
    return np.sqrt(2 * found) if metric in DIRECTIONS else found, near


def test_the_metrics_are_those_of_scikit_learn_that_take_no_parameters():
    known = set(VALID_METRICS["ball_tree"]) & set(VALID_METRICS["brute"])
    # Versions of SciPy differ in this other name of "rogerstanimoto".
    expected = known - set(LEFT_OUT) - {"sokalmichener"} | DIRECTIONS
    assert set(METRICS) == expected


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("p", [2, 20])
def test_the_graph_is_that_of_scikit_learn(metric, p):
    if p == 2 and (metric in BOOLEAN or metric in ("hamming", "correlation")):
        pytest.skip("two columns leave nothing but ties")
    X = rows_for(metric, p=p)
    nearest = NearestRows(X, metric)
    columns, lengths = nearest.near(6)
    expected, _ = distances(X, 6, metric)
    ratio = lengths[:, -1].max() / expected[:, -1].max()
    assert_allclose(lengths, ratio * expected, rtol=1e-6)
    if metric not in BOOLEAN | {"hamming"}:
        B = kneighbors_graph(X, 7, metric=metric, include_self=True).toarray()
        assert_array_equal(nearest.graph(7).toarray(), (B + B.T) / 2)
    assert (columns != np.arange(len(X))[:, None]).all()


@pytest.mark.parametrize("metric", METRICS)
def test_new_rows_have_the_neighbours_of_scikit_learn(metric):
    X, new = rows_for(metric), rows_for(metric, seed=1)
    lengths, found = NearestRows(X, metric).of(new, 4)
    expected, near = distances(X, 4, metric, new)
    ratio = lengths[:, -1].max() / expected[:, -1].max()
    assert_allclose(lengths, ratio * expected, rtol=1e-6)
    if metric not in BOOLEAN | {"hamming"}:
        assert_array_equal(found, near)


@pytest.mark.parametrize("metric", sorted(SPARSE & set(METRICS)))
def test_sparse_rows_have_the_graph_of_dense_ones(metric):
    X = np.random.default_rng(0).random((90, 8)) * (cloud(90, 8) > 0)
    found = NearestRows(scipy.sparse.csr_array(X), metric).graph(6)
    assert_array_equal(found.toarray(), NearestRows(X, metric).graph(6).toarray())


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("metric", METRICS)
def test_training_rows_have_their_labels(metric, dtype):
    X = rows_for(metric).astype(dtype)
    X = np.concatenate([X, X[:20]])
    for model in (KernelPowerKMeans, KernelKMeans, RKKM):
        fitted = model(3, kernel="heat", metric=metric, random_state=0).fit(X)
        assert_array_equal(fitted.labels_[120:], fitted.labels_[:20])
        if model is not RKKM:
            assert_array_equal(fitted.predict(X), fitted.labels_)


@pytest.mark.parametrize("metric", METRICS)
def test_the_density_is_that_of_the_metric(metric):
    X = rows_for(metric)
    model = KernelPowerKMeans(3, metric=metric, random_state=0).fit(X)
    dimension = intrinsic_dimension(distances(X, 10, metric)[0])
    assert model.dimension_ == pytest.approx(dimension, rel=1e-6)


@pytest.mark.parametrize("metric", METRICS)
def test_blobs_are_found(metric):
    if metric in BOOLEAN or metric == "hamming":
        y = np.arange(150) % 3
        often = np.random.default_rng(1).random((3, 40)) < 0.5
        X = (np.random.default_rng(0).random((150, 40)) < 0.1) ^ often[y]
    else:
        X, y = blobs(150, 20, 3)
    model = KernelPowerKMeans(3, metric=metric, random_state=0).fit(X.astype(float))
    assert adjusted_rand_score(y, model.labels_) == 1


@pytest.mark.parametrize("metric", METRICS)
def test_threads_do_not_choose_among_rows_at_equal_distance(metric):
    X = rows_for("hamming", 500, 20)
    found = []
    for count in (1, 2, 3):
        with threadpool_limits(count, user_api="openmp"):
            nearest = NearestRows(X, metric)
            found.append((nearest.others(5), nearest.of(X[:80], 5)[1]))
    for one, two in found[1:]:
        assert_array_equal(one, found[0][0])
        assert_array_equal(two, found[0][1])


@pytest.mark.parametrize(("name", "other"), [("l2", "euclidean"), ("l1", "cityblock")])
def test_two_names_of_a_metric_give_the_same(name, other):
    X = cloud(90)
    one, two = (KernelPowerKMeans(4, metric=m, random_state=0).fit(X) for m in (name, other))
    assert_array_equal(one.labels_, two.labels_)
    assert one.inertia_ == two.inertia_


@pytest.mark.parametrize("metric", sorted(NORMS & set(METRICS)))
@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_norms_see_neither_origin_nor_scale(metric, scale):
    X = rows_for(metric)
    found = NearestRows((X - 5) * scale, metric).graph(7)
    assert_array_equal(found.toarray(), NearestRows(X, metric).graph(7).toarray())


@pytest.mark.parametrize("metric", ["canberra", "braycurtis"])
def test_ratios_see_the_origin(metric):
    X = np.abs(rows_for(metric))
    found = NearestRows(X + 100, metric).graph(7).toarray()
    assert (found != NearestRows(X, metric).graph(7).toarray()).any()
    for scale in (2.0**-900, 1.7e308 / X.max()):
        found = NearestRows(X * scale, metric).graph(7)
        assert_array_equal(found.toarray(), NearestRows(X, metric).graph(7).toarray())


def test_distances_that_overflow_are_refused():
    X = scipy.sparse.csr_array(np.sign(cloud(60, 20)) * 1.7e308)
    with pytest.raises(ValueError, match="distances overflow: leave them out, or scale"):
        KernelPowerKMeans(3, metric="manhattan").fit(X)


@pytest.mark.parametrize("metric", METRICS)
def test_noise_is_for_norms_only(metric):
    rng = np.random.default_rng(0)
    rows = np.column_stack([rng.standard_normal((300, 3)), 6.0 * rng.integers(0, 2, 300)])
    # Neighbours hardly differ in the last column by any metric.
    rows = rows > 0 if metric in BOOLEAN else rows
    nearest = NearestRows(np.asarray(rows, float), metric)
    sought, columns = untorn(nearest, 8)
    assert list(columns) == ([3] if metric in NORMS else [])
    assert (sought is nearest) == (metric not in NORMS)


@pytest.mark.parametrize("metric", ["manhattan", "chebyshev"])
def test_columns_of_chance_do_not_hide_clusters_from_norms(metric):
    X, y = blobs(600, 3, 3)
    X = np.column_stack([X / X.std(axis=0), 2.0 * np.random.default_rng(0).integers(0, 2, 600) - 1])
    labels = KernelPowerKMeans(3, metric=metric, random_state=0).fit(X).labels_
    assert adjusted_rand_score(y, labels) > 0.98


def test_directions_of_correlation_are_those_of_deviations():
    X = cloud(30, 6) + 1e3
    expected = X - X.mean(axis=1, keepdims=True)
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    assert_allclose(as_directions(X, "correlation"), expected, atol=1e-12)
    assert np.isfinite(as_directions(X * (1.7e308 / X.max()), "correlation")).all()
    # The mean of such a row is rounded.
    assert not has_direction(np.full((2, 3), 0.1), "correlation").any()


@pytest.mark.parametrize("make", [np.asarray, scipy.sparse.csr_array], ids=["dense", "csr"])
def test_rows_without_a_direction_are_neighbours_of_none(make):
    """At the origin they would be near all others."""
    y = np.arange(60) % 3
    X = np.r_[9 * np.eye(3, 20)[y] + cloud(60, 20), np.zeros((30, 20))]
    distances = NearestRows(make(X), "cosine").among(np.arange(90))
    assert distances[:60, :60].max() <= 2 < 3 - 1e-12 <= distances[:60, 60:].min()
    assert_array_equal(has_direction(make(X), "cosine"), np.arange(90) < 60)
    model = KernelPowerKMeans(3, metric="cosine", random_state=0)
    with pytest.warns(UserWarning, match="30 of 90 rows are zero and have no direction"):
        labels = model.fit_predict(make(X))
    # They are no cluster, and have one label.
    assert adjusted_rand_score(y, labels[:60]) == 1
    assert len(np.unique(labels[60:])) == 1
    # Whatever the order of the columns.
    with pytest.warns(UserWarning, match="have no direction"):
        assert_array_equal(model.fit_predict(make(np.roll(X, 7, axis=1))), labels)


def test_a_model_of_earlier_versions_has_rows_without_a_direction_at_the_origin():
    old = NearestRows.__new__(NearestRows)
    vars(old).update(rows=cloud(60, 5), metric="cosine", by_cells=False)
    distances, _ = old.of(np.zeros((1, 5)), 3)
    assert_allclose(distances, 1)


@pytest.mark.parametrize("make", [np.asarray, scipy.sparse.csr_array], ids=["dense", "csr"])
def test_rows_of_one_value_have_no_direction_for_correlation(make):
    X = cloud(60, 5)
    model = KernelPowerKMeans(3, metric="correlation", random_state=0).fit(X)
    X[[7, 9]] = [[0.1], [-3.0]]
    with pytest.warns(UserWarning, match="X: 2 of 60 rows are of one value"):
        model.predict(make(X))
    message = "X: 2 of 60 rows are of one value and have no direction. metric='correlation' finds"
    with pytest.warns(UserWarning, match=message):
        labels = KernelPowerKMeans(3, metric="correlation", random_state=0).fit(X).labels_
    assert labels[7] == labels[9]


@pytest.mark.parametrize("metric", WITH_ANCHORS)
def test_anchors_stand_for_rows_near_them(metric):
    X, y = blobs(400, 8, 3)
    given = {"approximation": "landmarks", "n_components": 40, "random_state": 0}
    model = KernelPowerKMeans(3, metric=metric, **given).fit(X)
    assert adjusted_rand_score(y, model.labels_) == 1
    assert_array_equal(model.predict(X), model.labels_)


@pytest.mark.parametrize("metric", sorted(set(METRICS) - set(WITH_ANCHORS)))
def test_other_metrics_take_no_anchors(metric, monkeypatch):
    X = rows_for(metric)
    message = f"metric='{metric}' takes no anchors.* 'manhattan'.* set approximation=None"
    with pytest.raises(ValueError, match=message):
        KernelPowerKMeans(3, metric=metric, approximation="landmarks").fit(X)
    monkeypatch.setattr("kernelmeans.estimators.plan.GRAPH_ROWS", 100)
    monkeypatch.setattr("kernelmeans.estimators.plan.GRAPH_SECONDS", 0)
    with pytest.raises(ValueError, match=f"{message.split(' takes')[0]}.*n_samples=120 are too"):
        KernelPowerKMeans(3, metric=metric).fit(X)
    KernelPowerKMeans(3, metric=metric, approximation=None).fit(X)


def test_dask_collections_are_loaded_for_metrics_without_anchors():
    da = pytest.importorskip("dask.array")
    X = da.from_array(rows_for("canberra"), chunks=(60, 20))
    with pytest.raises(ValueError, match=r"takes no anchors.*X\.compute\(\) and set approx"):
        KernelPowerKMeans(3, metric="canberra").fit(X)
    with pytest.raises(ValueError, match=r"cannot be computed for Dask.*pass X\.compute\(\)"):
        KernelPowerKMeans(3, metric="canberra", approximation=None).fit(X)


@pytest.mark.parametrize("metric", [*LEFT_OUT, "yule", "sqeuclidean", "x", abs, None])
@pytest.mark.parametrize("several", [False, True])
def test_other_metrics_are_refused(metric, several):
    remedy = "sklearn.neighbors.KNeighborsTransformer finds, with metric='precomputed'"
    one = KernelPowerKMeans(2, metric=metric)
    views = MultiKernelPowerKMeans(2, kernels=[{"kernel": "heat", "metric": metric}])
    message = (
        f"'metric' parameter of .* among .*'manhattan'.*; .*{remedy}.*{re.escape(str(metric))}"
    )
    with pytest.raises(ValueError, match=message):
        (views if several else one).fit(cloud())
    with pytest.raises(ValueError, match=f"^metric={re.escape(repr(metric))} is .*{remedy}"):
        HeatKernel(metric=metric)


@pytest.mark.parametrize("metric", sorted(set(METRICS) - SPARSE))
def test_sparse_rows_are_refused_where_scikit_learn_refuses_them(metric):
    message = f"metric='{metric}': X is sparse.*X.toarray.*'euclidean'"
    X = scipy.sparse.csr_array(rows_for(metric))
    for call in (KernelPowerKMeans(3, metric=metric), HeatKernel(metric=metric)):
        with pytest.raises(ValueError, match=message):
            call.fit(X)


@pytest.mark.parametrize("metric", sorted(BOOLEAN & set(METRICS)))
def test_rows_of_other_values_than_yes_and_no_are_refused(metric):
    X = rows_for(metric)
    model = KernelPowerKMeans(3, metric=metric, random_state=0).fit(X)
    X[3, 1] = 0.5
    message = f"metric='{metric}' .* nothing but 0 and 1, got 0.5.*'hamming'"
    rbf_first = MultiKernelPowerKMeans(3, kernels=["rbf", {"kernel": "heat", "metric": metric}])
    for call in (model.predict, KernelPowerKMeans(3, metric=metric).fit, rbf_first.fit):
        with pytest.raises(ValueError, match=message):
            call(X)


@pytest.mark.parametrize("metric", METRICS)
def test_models_are_kept_in_files(metric, tmp_path):
    skops = pytest.importorskip("skops.io")
    assert skops
    from kernelmeans import load_model, save_model

    X = rows_for(metric)
    model = KernelPowerKMeans(3, metric=metric, random_state=0).fit(X)
    save_model(model, tmp_path / "some.model.skops")
    again = load_model(tmp_path / "some.model.skops").pipeline
    assert again[-1].metric == metric
    for rows in (X, rows_for(metric, seed=1)):
        assert_array_equal(again.predict(rows), model.predict(rows))


def test_views_have_metrics_of_their_own():
    X, y = blobs(120, 4, 3)
    flags = (np.random.default_rng(0).random((120, 10)) < 0.5).astype(float)
    kernels = [
        ({"kernel": "heat", "metric": "manhattan"}, slice(0, 4)),
        ({"kernel": "heat", "metric": "jaccard"}, slice(4, 14)),
    ]
    Z = np.column_stack([X, flags])
    model = MultiKernelPowerKMeans(3, kernels=kernels, random_state=0).fit(Z)
    assert [kernel.parameters["metric"] for kernel in model.kernels_] == ["manhattan", "jaccard"]
    assert_array_equal(model.predict(Z), model.labels_)
    assert adjusted_rand_score(y, model.labels_) > 0.9


def test_the_command_line_takes_the_names(tmp_path, monkeypatch):
    from click.testing import CliRunner

    monkeypatch.chdir(tmp_path)
    X, _ = blobs(90, 4, 3)
    np.save("data.npy", X)
    chosen = ["--metric", "manhattan", "--no-scale"]
    result = CliRunner().invoke(app, ["fit", "data.npy", "-k", "3", *chosen])
    assert result.exit_code == 0, result.output
    model = KernelPowerKMeans(3, metric="manhattan", random_state=0).fit(X)
    written = np.genfromtxt("data.labels.csv", delimiter=",", names=True)["label"]
    assert_array_equal(written, model.labels_)
    result = CliRunner().invoke(app, ["predict", "data.model.skops", "data.npy", "--force"])
    assert result.exit_code == 0, result.output
    result = CliRunner().invoke(app, ["fit", "data.npy", "-k", "3", "--metric", "minkowski"])
    assert result.exit_code == 2
    assert "Did you mean 'precomputed'?" in " ".join(result.output.split())
