"""Clusters keep the numbers of earlier labels, and say what has become of the earlier clusters."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kernelmeans import (
    ClusterSearch,
    KernelKMeans,
    KernelPowerKMeans,
    MultiKernelPowerKMeans,
    PowerKMeans,
    load_model,
    save_model,
)
from kernelmeans.baselines import MKKM, RKKM
from kernelmeans.models import Model
from kernelmeans.rows import open_rows

SHORT = {"n_clusters": 4, "random_state": 0}
VIEWS = [("rbf", [0, 1]), ("linear", [0, 1])]
MODELS = {
    "KernelPowerKMeans": KernelPowerKMeans(**SHORT),
    "restarts": KernelPowerKMeans(kernel="rbf", init="random", n_init=4, **SHORT),
    "landmarks": KernelPowerKMeans(
        kernel="rbf", approximation="landmarks", n_components=20, **SHORT
    ),
    "given starts": KernelPowerKMeans(kernel="rbf", init=[0, 40, 70, 95], **SHORT),
    "KernelKMeans": KernelKMeans(**SHORT),
    "PowerKMeans": PowerKMeans(**SHORT),
    "several": MultiKernelPowerKMeans(kernels=VIEWS, **SHORT),
    "MKKM": MKKM(kernels=VIEWS, init="k-means++", n_init=5, **SHORT),
    "RKKM": RKKM(kernel="rbf", init="k-means++", n_init=5, **SHORT),
}
models = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)


def blobs(centers, sizes, seed=0):
    """Rows around centers, and the place of the center of each."""
    y = np.repeat(np.arange(len(sizes)), sizes)
    noise = np.random.default_rng(seed).standard_normal((len(y), 2))
    return np.array(centers, float)[y] + 0.3 * noise, y


CORNERS = [(0, 0), (9, 0), (0, 9), (9, 9)]
X, Y = blobs(CORNERS, [40, 30, 25, 15])
#: The numbers of before, which are not by size.
LIKE = np.array([2, 0, 3, 1])[Y]


def kinds(changes):
    return [(one.cluster, one.before, one.kind) for one in changes]


@models
def test_all_answers_have_the_earlier_numbers(model):
    plain = clone(model).fit(X)
    found = clone(model).fit(X, like=LIKE)
    assert_array_equal(found.labels_, LIKE)
    assert_array_equal(found.predict(X), LIKE)
    assert_array_equal(found.result_.labels[found.result_.best], LIKE)
    assert_array_equal(found.transform(X).argmin(axis=1), LIKE)
    assert_array_equal(found.memberships_.argmax(axis=1), LIKE)
    assert_array_equal(np.sort(found.separation_), np.sort(plain.separation_))
    assert found.inertia_ == plain.inertia_
    assert found.changes_ == [(k, k, "kept", *3 * [n]) for k, n in enumerate([30, 15, 40, 25])]
    assert plain.changes_ is None
    assert found.fit(X).changes_ is None
    assert_array_equal(found.labels_, plain.labels_)


def test_clusters_that_are_kept_split_merged_new_and_gone():
    centers = {
        "a": (0, 0),
        "half a": (0, 9),
        "b": (20, 0),
        "c": (20, 0.1),
        "d": (40, 0),
        "new": (60, 0),
    }
    rows, y = blobs(list(centers.values()), [60, 40, 50, 30, 20, 15])
    # Of cluster 5 a single row is left, among those of d.
    like = np.array([7, 7, 3, 1, 2, -1])[y]
    like[-16] = 5
    model = KernelPowerKMeans(5, random_state=0).fit(rows, like=like)
    # The free numbers are 0, 1 and 4; the largest of the clusters without a number has the first.
    assert_array_equal(model.labels_, np.array([0, 1, 3, 3, 2, 4])[y])
    assert_array_equal(model.predict(rows), model.labels_)
    assert model.changes_ == [
        (0, 7, "kept", 60, 100, 60),
        (1, 7, "split", 40, 100, 40),
        (2, 2, "kept", 20, 19, 19),
        (2, 5, "merged", 20, 1, 1),
        (3, 3, "kept", 80, 50, 50),
        (3, 1, "merged", 80, 30, 30),
        (4, None, "new", 15, 0, 0),
    ]
    assert [str(one) for one in model.changes_] == [
        "the earlier cluster 7 is cluster 0 now, with 60 % of its 100 rows",
        "cluster 1 is split off the earlier cluster 7, with 40 % of its 100 rows",
        "cluster 2 is kept, with 100 % of its 19 rows",
        "the earlier cluster 5 is merged into cluster 2, with 100 % of its 1 row",
        "cluster 3 is kept, with 100 % of its 50 rows",
        "the earlier cluster 1 is merged into cluster 3, with 100 % of its 30 rows",
        "cluster 4 is new",
    ]


@pytest.mark.parametrize("model", [KernelPowerKMeans(**SHORT), PowerKMeans(**SHORT)])
def test_clusters_that_drift_and_change_size_keep_their_numbers_each_night(model):
    rng = np.random.default_rng(0)
    centers, earlier, by_size = np.array(CORNERS, float), None, set()
    for night in range(8):
        centers += rng.uniform(-0.7, 0.7, centers.shape)
        rows, y = blobs(centers, rng.integers(20, 90, 4), night)
        like = y if earlier is None else earlier.predict(rows)
        earlier = clone(model).fit(rows, like=like)
        assert_array_equal(earlier.labels_, y)
        by_size.add(tuple(np.argsort(np.bincount(y))))
    assert len(by_size) > 4


def test_rows_without_an_earlier_cluster():
    like = np.where(Y == 3, -1, LIKE)
    like[:30] = -7
    model = PowerKMeans(**SHORT).fit(X, like=like)
    assert_array_equal(model.labels_, LIKE)
    assert kinds(model.changes_) == [
        (0, 0, "kept"),
        (1, None, "new"),
        (2, 2, "kept"),
        (3, 3, "kept"),
    ]
    assert model.changes_[2][3:] == (40, 10, 10)
    none = PowerKMeans(**SHORT).fit(X, like=np.full(len(X), -1))
    assert_array_equal(none.labels_, PowerKMeans(**SHORT).fit_predict(X))
    assert kinds(none.changes_) == [(k, None, "new") for k in range(4)]


@pytest.mark.parametrize(
    "missing",
    [
        lambda like: np.where(like < 0, np.nan, like),
        lambda like: pd.Series(like).where(like >= 0).astype("Int64"),
        lambda like: pd.Series(like).where(like >= 0).astype("Int64").array,
        lambda like: pl.Series(like).replace(-1, None),
    ],
)
def test_a_missing_label_is_none(missing):
    like = np.where(Y == 3, -1, LIKE)
    expected = PowerKMeans(**SHORT).fit(X, like=like)
    found = PowerKMeans(**SHORT).fit(X, like=missing(like))
    assert_array_equal(found.labels_, expected.labels_)
    assert found.changes_ == expected.changes_


def test_a_weight_counts_as_so_many_rows():
    weight = np.r_[np.full(40, 0.5), np.full(30, 2.0), np.ones(40)]
    # Most rows of the earlier cluster 0 are in the first cluster, most of its weight in the second.
    like = np.where(Y < 2, 0, Y)
    assert_array_equal(PowerKMeans(**SHORT).fit_predict(X, like=like), np.array([0, 1, 2, 3])[Y])
    model = PowerKMeans(**SHORT).fit(X, sample_weight=weight, like=like)
    assert_array_equal(model.labels_, np.array([1, 0, 2, 3])[Y])
    assert model.changes_[:2] == [(0, 0, "kept", 60, 80, 60), (1, 0, "split", 20, 80, 20)]
    # Rows that do not count may have had any cluster.
    wrong, zero = np.r_[X, X], np.repeat([1.0, 0.0], len(X))
    model.fit(wrong, sample_weight=zero, like=np.r_[LIKE, (LIKE + 1) % 4])
    assert_array_equal(model.labels_, np.r_[LIKE, LIKE])


def test_matrices_between_rows():
    distances = ((X[:, None] - X) ** 2).sum(axis=2)
    K = np.exp(-distances / distances.mean())
    for kernel, matrix in {"precomputed": K, "graph": (distances < 9) - np.eye(len(X))}.items():
        model = KernelPowerKMeans(kernel=kernel, **SHORT).fit(matrix, like=LIKE)
        assert_array_equal(model.labels_, LIKE)
        assert_array_equal(model.predict(matrix), LIKE)


def test_rows_on_disk_and_dask(tmp_path):
    np.save(tmp_path / "X.npy", np.tile(X, (40, 1)))
    rows, like = open_rows(tmp_path / "X.npy"), np.tile(LIKE, 40)
    model = PowerKMeans(memory_budget=2 * rows.nbytes, **SHORT).fit(rows, like=like)
    assert_array_equal(model.labels_, like)
    assert_array_equal(model.predict(rows), like)
    from_array = pytest.importorskip("dask.array").from_array
    array = from_array(X, (32, 2))
    for given in (LIKE, LIKE.tolist(), LIKE.astype(np.uint8), from_array(LIKE, 20)):
        model = PowerKMeans(**SHORT).fit(array, like=given)
        assert_array_equal(model.labels_.compute(), LIKE)
        assert_array_equal(model.predict(array).compute(), LIKE)
        assert kinds(model.changes_) == [(k, k, "kept") for k in range(4)]


class TestMannersOfScikitLearn:
    def test_a_step_of_a_pipeline(self):
        """The whole earlier pipeline labels the rows, though the new one scales them otherwise."""
        earlier = make_pipeline(StandardScaler(), PowerKMeans(**SHORT)).fit(X)
        new = X[Y != 1] + [1, -1]
        like = earlier.predict(new)
        pipeline = make_pipeline(StandardScaler(), PowerKMeans(3, random_state=0))
        labels = pipeline.fit_predict(new, powerkmeans__like=like)
        assert_array_equal(labels, np.array([0, -1, 2, 1])[Y[Y != 1]])
        assert kinds(pipeline[-1].changes_) == [(0, 0, "kept"), (1, 3, "kept"), (2, 2, "kept")]
        with sklearn.config_context(enable_metadata_routing=True):
            step = PowerKMeans(3, random_state=0).set_fit_request(like=True)
            routed = make_pipeline(StandardScaler(), step).fit(new, like=like)
        assert_array_equal(routed.predict(new), labels)

    def test_clones_know_nothing_of_earlier_labels(self):
        model = PowerKMeans(**SHORT).fit(X, like=LIKE)
        assert "like" not in model.get_params()
        assert repr(model) == repr(PowerKMeans(**SHORT))
        assert clone(model).changes_ is None

    def test_a_grid_search_hands_each_fit_the_labels_of_its_rows(self):
        rows = np.random.default_rng(0).permutation(len(X))
        search = GridSearchCV(PowerKMeans(random_state=0), {"n_clusters": [2, 4]}, cv=3)
        search.fit(X[rows], like=LIKE[rows])
        assert search.best_params_ == {"n_clusters": 4}
        assert_array_equal(search.predict(X), LIKE)


class TestModelFiles:
    def test_they_are_no_larger(self, tmp_path):
        pytest.importorskip("skops", reason="skops is an extra")
        plain = KernelPowerKMeans(**SHORT).fit(X)
        again = clone(plain).fit(X, like=plain.labels_)
        sizes = []
        for number, model in enumerate((plain, again)):
            path = tmp_path / f"{number}.skops"
            save_model(model, path)
            sizes.append(path.stat().st_size)
        assert sizes[1] == pytest.approx(sizes[0], rel=0.05)
        loaded = load_model(path)
        assert loaded.pipeline[-1].changes_ is None
        assert kinds(again.changes_) == [(k, k, "kept") for k in range(4)]


class TestRefusals:
    @pytest.mark.parametrize(
        ("like", "error", "message"),
        [
            (LIKE[1:], ValueError, r"like must be 110 integers.*, got int64 of shape \(109,\)"),
            (LIKE[:, None], ValueError, r"got int64 of shape \(110, 1\)"),
            (LIKE + 0.5, ValueError, "got float64 .*; -1 or NaN stands for rows that had none"),
            (LIKE.astype(str), ValueError, "like must be 110 integers"),
            (np.where(LIKE, LIKE, np.inf), ValueError, "like must be 110 integers"),
            ([None, *LIKE[1:]], ValueError, "like must be 110 integers"),
            (3, ValueError, r"like must be 110 integers.* of shape \(\)"),
            (PowerKMeans(4).fit(X), TypeError, r"like=PowerKMeans .*like=earlier\.predict\(X\)"),
            (PowerKMeans(4), TypeError, "like=PowerKMeans is a model"),
            (
                Model.of(PowerKMeans(4).fit(X)),
                TypeError,
                r"like=Model is .*like=earlier\.label\(X\)\.labels",
            ),
        ],
    )
    def test_before_any_work(self, like, error, message):
        def init(X, n_clusters, rng):
            raise AssertionError("the fit has begun")

        with pytest.raises(error, match=message):
            PowerKMeans(4, init=init).fit(X, like=like)
        with pytest.raises(error, match=message):
            ClusterSearch(PowerKMeans(4, init=init)).fit(X, like=like)

    def test_estimators_of_other_packages(self):
        with pytest.raises(TypeError, match="like: clusters of KMeans cannot keep their numbers"):
            ClusterSearch(KMeans()).fit(X, like=LIKE)


@pytest.mark.slow
@pytest.mark.parametrize("routing", [False, True])
@pytest.mark.parametrize("steps", [(), (StandardScaler(),)], ids=["alone", "pipeline"])
def test_the_choice_of_a_search_keeps_numbers(steps, routing):
    estimator = PowerKMeans(random_state=0)
    estimator = make_pipeline(*steps, estimator) if steps else estimator
    with sklearn.config_context(enable_metadata_routing=routing):
        search = ClusterSearch(estimator, n_splits=5, random_state=0).fit(X, like=LIKE)
    assert_array_equal(search.labels_, LIKE)
    assert_array_equal(search.predict(X), LIKE)
    last = search.best_estimator_[-1] if steps else search.best_estimator_
    assert kinds(last.changes_) == [(k, k, "kept") for k in range(4)]


def test_new_numbers_end_what_is_known_of_earlier_ones():
    model = PowerKMeans(**SHORT).fit(X, like=LIKE)
    assert model.renumber([1, 0, 2, 3]).changes_ is None
