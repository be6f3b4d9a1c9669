"""Fits whose neighbours come from cells, and whose eigenpairs from coarser graphs."""

import pickle
import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_rand_score
from threadpoolctl import threadpool_limits

from data import blobs
from kernelmeans import KernelPowerKMeans
from kernelmeans.estimators import plan
from kernelmeans.heat import HeatKernel, eigenpairs, neighbors
from kernelmeans.models import load_model, save_model
from kernelmeans.rows import open_rows

K = 6


@pytest.fixture
def many(monkeypatch):
    """Few rows are treated as if they were many."""
    monkeypatch.setattr(neighbors, "ALL_PAIRS", 0)
    monkeypatch.setattr(neighbors, "FEW_ROWS", 0)
    monkeypatch.setattr(eigenpairs, "LANCZOS_NUMBERS", 0)
    monkeypatch.setattr(eigenpairs, "FEWEST_NODES", 500)


@pytest.fixture(scope="module")
def table():
    X, y = blobs(4000, p=12, k=K, spread=1.0)
    return X, y


def clustering(**parameters):
    return KernelPowerKMeans(K, random_state=0, **parameters)


@pytest.mark.slow
@pytest.mark.usefixtures("many")
@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_labels_are_those_of_all_pairs(table, metric, monkeypatch):
    X, _ = table
    model = clustering(metric=metric).fit(X)
    assert 0.85 < model.neighbor_recall_ <= 1
    assert_array_equal(model.predict(X), model.labels_)
    monkeypatch.undo()
    exact = clustering(metric=metric).fit(X)
    assert exact.neighbor_recall_ == 1
    assert adjusted_rand_score(exact.labels_, model.labels_) > 0.99
    # Gaps to 1 are never too small.
    assert_allclose(1 - model.eigenvalues_[:K], 1 - exact.eigenvalues_[:K], rtol=0.3, atol=1e-4)


@pytest.mark.usefixtures("many")
def test_digits():
    X, y = load_digits(return_X_y=True)
    model = KernelPowerKMeans(10, random_state=0).fit(X)
    assert adjusted_rand_score(y, model.labels_) > 0.8


@pytest.mark.usefixtures("many")
def test_new_rows_go_where_their_neighbours_are(table):
    X, y = table
    model = clustering().fit(X[:3000])
    assert adjusted_rand_score(y[3000:], model.predict(X[3000:])) > 0.97
    # The same alone and together, as the neighbours are.
    alone = np.concatenate([model.predict(row[None]) for row in X[3000:3040]])
    assert_array_equal(alone, model.predict(X[3000:])[:40])


@pytest.mark.slow
@pytest.mark.usefixtures("many")
@pytest.mark.parametrize("threads", [1, 4])
def test_threads_change_nothing(table, threads):
    X, _ = table
    with threadpool_limits(threads):
        model = clustering().fit(X)
        predicted = model.predict(X + 0.01)
    again = clustering().fit(X)
    assert_array_equal(model.labels_, again.labels_)
    assert_array_equal(predicted, again.predict(X + 0.01))


@pytest.mark.slow
@pytest.mark.usefixtures("many")
def test_order_and_weights_change_nothing(table):
    X, _ = table
    labels = clustering().fit(X).labels_
    order = np.random.default_rng(0).permutation(len(X))
    assert adjusted_rand_score(labels[order], clustering().fit(X[order]).labels_) > 0.999
    with_others = np.vstack([X, X + 30])
    weight = np.repeat([1.0, 0.0], len(X))
    found = clustering().fit(with_others, sample_weight=weight)
    assert adjusted_rand_score(labels, found.labels_[: len(X)]) > 0.999


@pytest.mark.usefixtures("many")
def test_copies_and_files_predict_the_same(table, tmp_path):
    X, _ = table
    model = clustering().fit(X[:3000])
    expected = model.predict(X)
    assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X), expected)
    save_model(model, tmp_path / "model.skops")
    assert_array_equal(load_model(tmp_path / "model.skops").label(X).labels, expected)


def test_older_files_compare_all_pairs(table, monkeypatch):
    X, _ = table
    model = clustering().fit(X[:3000])
    nearest = model.kernel_.distinct_rows.nearest
    state = nearest.__getstate__()
    del state["by_cells"]
    monkeypatch.setattr(neighbors, "ALL_PAIRS", 0)
    monkeypatch.setattr(neighbors, "FEW_ROWS", 0)
    older = neighbors.NearestRows.__new__(neighbors.NearestRows)
    older.__dict__.update(state)
    assert not older.by_cells
    assert_array_equal(older.of(X, 8)[1], nearest.of(X, 8)[1])


@pytest.mark.usefixtures("many")
def test_rows_on_disk_are_loaded(table, tmp_path):
    X, _ = table
    np.save(tmp_path / "X.npy", X.astype(np.float32))
    rows = open_rows(tmp_path / "X.npy")
    model = clustering(approximation=None).fit(rows)
    assert_array_equal(model.labels_, clustering().fit(X.astype(np.float32)).labels_)
    assert_array_equal(model.predict(rows), model.labels_)


@pytest.mark.slow
@pytest.mark.usefixtures("many")
def test_a_fit_takes_no_more_memory_than_it_says():
    X, _ = blobs(15_000, p=20, k=K)
    X = X.astype(np.float32)
    kernel = HeatKernel()
    said = kernel.fit_bytes(X, K)
    HeatKernel().fit(X[:3000], n_clusters=K)  # modules that are loaded late
    tracemalloc.start()
    try:
        kernel.fit(X, n_clusters=K)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert said / 8 < peak < said


@pytest.mark.slow
def test_a_plan_depends_on_the_size_alone(table, monkeypatch, capsys):
    X, _ = table
    monkeypatch.setattr(plan, "NOTICED", 0)
    slow = clustering(verbose=1).fit(X)
    first = "[KernelPowerKMeans] fit: may take about 0 s on two cores\n"
    assert capsys.readouterr().out.startswith(first)
    assert slow.approximation_ == "explicit"
    assert "which takes about 0 s on two cores, while anchors take" in slow.approximation_reason_
    monkeypatch.setattr(plan, "GRAPH_ROWS", 1000)
    assert clustering().fit(X).approximation_ == "explicit"
    # In few columns, anchors do as well.
    few = clustering().fit(X[:, :3])
    assert few.approximation_ == "landmarks"
    assert "n_samples=4000 in few columns" in few.approximation_reason_
    monkeypatch.setattr(plan, "GRAPH_SECONDS", 0)
    anchored = clustering().fit(X)
    assert anchored.approximation_ == "landmarks"
    assert anchored.neighbor_recall_ is None
    assert "too many for a fast graph, which would take about 0 s on two cores, while anchors" in (
        anchored.approximation_reason_
    )


@pytest.mark.parametrize(
    ("n", "p", "graph"), [(300_000, 64, True), (3_000_000, 64, False), (1_000_000, 384, False)]
)
def test_large_graphs_take_about_a_minute(n, p, graph):
    class Table:
        shape = n, p

    assert (plan.graph_seconds(HeatKernel(), Table(), 10) <= plan.GRAPH_SECONDS) == graph


def test_half_precision_becomes_single_precision(table, tmp_path):
    X = table[0][:300].astype(np.float16)
    model = clustering().fit(X)
    assert model.kernel_.features(X[:2].astype(np.float32)).dtype == np.float32
    assert_array_equal(model.labels_, clustering().fit(X.astype(np.float32)).labels_)
    assert_array_equal(model.predict(X), model.labels_)
    np.save(tmp_path / "X.npy", X)
    rows = open_rows(tmp_path / "X.npy")
    assert rows.dtype == np.float32
    assert_array_equal(clustering().fit(rows).labels_, model.labels_)


@pytest.mark.slow
def test_long_lines_have_accurate_eigenpairs():
    # The gaps of clusters are far below the tolerance of Lanczos' method.
    y = np.arange(30_000) % 3
    X = (8.0 * y + np.random.default_rng(0).standard_normal(len(y)))[:, None]
    model = KernelPowerKMeans(3, approximation=None, random_state=0).fit(X)
    assert adjusted_rand_score(y, model.labels_) > 0.999
