"""Rows that belong to no cluster, in everything that has labels."""

import pickle

import numpy as np
import pytest
import scipy.sparse
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.cluster import HDBSCAN
from sklearn.datasets import make_blobs, make_moons
from sklearn.metrics import adjusted_rand_score, f1_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from kernelmeans import (
    ClusterReport,
    ClusterSearch,
    KernelPowerKMeans,
    describe,
    load_model,
    save_model,
)
from kernelmeans.baselines import RKKM
from kernelmeans.plotting import draw_flow, plot_fit
from kernelmeans.plotting.palette import GREY
from kernelmeans.rows import open_rows


def noisy(n=400, share=0.25, seed=0, dtype=np.float64):
    """Two moons in noise, and which rows are noise."""
    X, y = make_moons(n, noise=0.06, random_state=seed)
    rng = np.random.default_rng(seed)
    noise = rng.uniform(X.min(axis=0) - 1, X.max(axis=0) + 1, (int(share * n), 2))
    order = rng.permutation(n + len(noise))
    y = np.append(y, np.full(len(noise), -1))
    return np.vstack([X, noise])[order].astype(dtype), y[order]


X, Y = noisy()
FORMS = {
    "heat": {},
    "float32": {},
    "fraction": {"outliers": 0.2},
    "anchors": {"approximation": "landmarks"},
    "rbf": {"kernel": "rbf"},
    "cosine": {"metric": "cosine"},
    "manhattan": {"metric": "manhattan"},
    "sparse": {},
    "on disk": {},
}
forms = pytest.mark.parametrize("form", FORMS)


def fit(X=X, **parameters):
    return KernelPowerKMeans(2, **{"outliers": "auto", "random_state": 0} | parameters).fit(X)


def given(form, folder):
    """The rows in a form."""
    if form == "sparse":
        return scipy.sparse.csr_array(X)
    if form == "on disk":
        np.save(folder / "X.npy", X)
        return open_rows(folder / "X.npy")
    return X.astype(np.float32) if form == "float32" else X


class TestLabels:
    @forms
    def test_predict_says_the_same(self, form, tmp_path):
        rows = given(form, tmp_path)
        model = fit(rows, **FORMS[form])
        assert set(np.unique(model.labels_)) == {-1, 0, 1}
        assert_array_equal(model.predict(rows), model.labels_)
        assert_array_equal(model.outlier_score(rows), model.outlier_score_)
        assert_array_equal(model.outlier_score_ > model.outlier_threshold_, model.labels_ < 0)

    @forms
    def test_others_are_as_without(self, form, tmp_path):
        rows = given(form, tmp_path)
        model, every = fit(rows, **FORMS[form]), fit(rows, **FORMS[form] | {"outliers": None})
        kept = model.labels_ >= 0
        assert_array_equal(model.labels_[kept], every.labels_[kept])
        assert model.inertia_ == every.inertia_
        assert_array_equal(model.distances_, every.distances_)
        assert_array_equal(model.transform(rows), every.transform(rows))
        assert every.outlier_score_ is every.outlier_threshold_ is None

    def test_noise_is_left_out(self):
        model = fit()
        assert f1_score(Y < 0, model.labels_ < 0) > 0.85
        others = Y >= 0
        assert adjusted_rand_score(Y[others], model.labels_[others]) > 0.95
        best = max(
            adjusted_rand_score(Y[others], HDBSCAN(size, copy=True).fit_predict(X)[others])
            for size in (5, 10, 20, 40)
        )
        every = KernelPowerKMeans(2, random_state=0).fit_predict(X)
        assert adjusted_rand_score(Y[others], every[others]) > best - 0.02

    @pytest.mark.parametrize("part", [0.01, 0.1, 0.5])
    def test_a_fraction(self, part):
        model = fit(outliers=part)
        assert 0 < (model.labels_ < 0).mean() <= part
        left = model.outlier_score_[model.labels_ < 0].min()
        assert left > model.outlier_score_[model.labels_ >= 0].max()

    def test_new_rows(self):
        model = fit()
        assert model.predict([[9.0, 9.0], [0.0, 1.0]])[0] == -1
        assert (model.predict([[0.0, 1.0], [1.0, -0.5]]) >= 0).all()

    def test_lengths_do_not_count_for_the_cosine_kernel(self):
        rng = np.random.default_rng(0)
        rows = np.repeat([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], 200, axis=0)
        rows += 0.1 * rng.standard_normal(rows.shape)
        model = fit(rows, kernel="cosine")
        stretched = fit(rows * np.exp(1.5 * rng.standard_normal((400, 1))), kernel="cosine")
        assert (model.labels_ < 0).mean() < 0.03
        assert (stretched.labels_ < 0).mean() < 0.03

    def test_a_cluster_of_which_no_row_is_compared(self):
        rows = np.random.default_rng(0).standard_normal((20_000, 2))
        rows[:3] += 1000
        model = fit(rows, kernel="linear")
        assert np.ptp(model.labels_[:3]) == 0
        assert model.labels_[0] >= 0

    def test_one_cluster(self):
        rows = np.vstack([np.random.default_rng(0).standard_normal((200, 2)), [[30.0, 30.0]]])
        labels = KernelPowerKMeans(1, outliers="auto", random_state=0).fit_predict(rows)
        assert labels[-1] == -1
        assert (labels[:-1] == 0).mean() > 0.97

    @pytest.mark.parametrize("rows", [[[0.0]], [[0.0], [1.0]], [[2.0]] * 5 + [[3.0]]])
    def test_few_rows(self, rows):
        model = KernelPowerKMeans(1, outliers="auto", random_state=0).fit(rows)
        assert_array_equal(model.labels_, 0)


class TestInvariants:
    def test_order_and_copies(self):
        model, order = fit(), np.random.default_rng(1).permutation(len(X))
        assert_array_equal(fit(X[order]).labels_ < 0, model.labels_[order] < 0)
        assert_array_equal(
            fit(np.repeat(X, 2, axis=0)).labels_ < 0, np.repeat(model.labels_ < 0, 2)
        )

    def test_weights(self):
        weight = np.arange(len(X)) % 3
        model = KernelPowerKMeans(2, outliers=0.2, random_state=0).fit(X, sample_weight=weight)
        assert 0.15 < weight[model.labels_ < 0].sum() / weight.sum() <= 0.2
        assert_array_equal(model.predict(X), model.labels_)

    def test_threads(self):
        def labels(n_threads):
            with threadpool_limits(n_threads):
                model = fit()
                return model.labels_, model.predict(X + 1e-3)

        for one, other in zip(labels(1), labels(2), strict=True):
            assert_array_equal(one, other)

    def test_new_numbers(self):
        model = fit()
        before = model.labels_.copy()
        model.renumber([1, 0])
        assert_array_equal(model.labels_, np.array([1, 0, -1])[before])
        assert_array_equal(model.predict(X), model.labels_)

    def test_another_fit_forgets(self):
        model = fit()
        model.set_params(outliers=None).fit(X)
        assert (model.labels_ >= 0).all()
        assert (model.predict([[9.0, 9.0]]) >= 0).all()

    def test_copies_and_clones(self):
        model = fit()
        assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.labels_)
        assert clone(model).get_params()["outliers"] == "auto"

    def test_model_files(self, tmp_path):
        pipeline = make_pipeline(StandardScaler(), clone(fit())).fit(X)
        save_model(pipeline, tmp_path / "m.skops")
        found = load_model(tmp_path / "m.skops").label(np.vstack([X, [[40.0, 0.0]]]))
        assert_array_equal(found.labels[:-1], pipeline[-1].labels_)
        assert found.labels[-1] == -1
        assert found.placed.all()

    def test_dask(self):
        da = pytest.importorskip("dask.array", reason="the extra dask is not installed")
        rows = da.from_array(X, chunks=(170, 2))
        model = fit(rows)
        assert_array_equal(model.labels_.compute(), fit(X, approximation="landmarks").labels_)
        assert_array_equal(model.predict(rows).compute(), model.labels_.compute())
        assert model.outlier_score_.compute().shape == (len(X),)


class TestScoreAlone:
    def test_without_the_parameter(self):
        assert_array_equal(fit(outliers=None).outlier_score(X), fit().outlier_score_)

    @pytest.mark.parametrize("more", [{"kernel": "rbf"}, {"approximation": "landmarks"}])
    def test_where_no_neighbours_are_known(self, more):
        with pytest.raises(ValueError, match="set outliers='auto' and fit again"):
            fit(outliers=None, **more).outlier_score(X)

    def test_the_remedy_is_a_parameter_of_the_estimator(self):
        model = RKKM(2, random_state=0).fit(X)
        with pytest.raises(ValueError, match="set kernel='heat' and fit again"):
            model.outlier_score(X)
        scores = model.set_params(kernel="heat").fit(X).outlier_score(X)
        assert scores[Y < 0].mean() > scores[Y >= 0].mean()


class TestRefused:
    def test_scores_of_a_kernel_matrix(self):
        model = KernelPowerKMeans(2, kernel="precomputed", random_state=0).fit(X @ X.T)
        refused = "^outlier_score compares rows .*kernel='precomputed' X holds none: pass the rows"
        with pytest.raises(ValueError, match=refused):
            model.outlier_score(X @ X.T)

    @pytest.mark.parametrize("kernel", ["precomputed", "graph"])
    def test_matrices(self, kernel):
        refused = (
            f"outliers='auto' compares rows .*kernel='{kernel}' X holds none: leave outliers=None"
        )
        with pytest.raises(ValueError, match=refused):
            fit(np.ones((20, 20)), kernel=kernel)

    def test_stored_distances(self):
        D = scipy.sparse.csr_array(np.ones((20, 20)))
        with pytest.raises(
            ValueError, match=r"outliers=0.1 compares .*metric='precomputed' X holds"
        ):
            fit(D, metric="precomputed", outliers=0.1)

    @pytest.mark.parametrize("value", [0, 0.6, -0.1, "some", True])
    def test_values(self, value):
        with pytest.raises(ValueError, match="outliers"):
            fit(outliers=value)


class TestConsumers:
    model = fit()
    n_outliers = int((model.labels_ < 0).sum())

    def test_descriptions_leave_them_out(self):
        found = describe(self.model, X)
        assert found.n_unplaced == self.n_outliers
        assert [one.size for one in found.records] == [
            (self.model.labels_ == one).sum() for one in range(2)
        ]
        typical = [row for one in found.records for row in one.typical_rows]
        assert (self.model.labels_[typical] >= 0).all()

    def test_a_report_counts_them(self):
        classes = np.where(Y < 0, "noise", "moon")
        report = ClusterReport(self.model, X, rows=True, labels_true=classes)
        found = report.to_dict()
        placed = len(X) - self.n_outliers
        assert found["outliers"] == self.n_outliers
        assert report.verdict.startswith(f"{placed} of {len(X)} rows in 2 clusters")
        assert sum(one["rows"] for one in found["clusters"]) == placed
        assert sum(one["certainty"]["rows"] for one in found["clusters"]) == placed
        marks = [cluster for *_, cluster, _ in found["map"]["cells"]]
        assert -1 in marks
        assert [cluster for cluster, *_ in found["map"]["middles"]] == [0, 1]
        assert f"{self.n_outliers} rows" in report.to_html()
        assert "Grey rows belong to no cluster" in report.to_html()
        assert "Sizes are fractions of all rows in clusters." in report.to_html()
        # All rows of clusters are looked at.
        assert "drawn at random" not in report.to_html()

    def test_a_map_draws_them_grey(self):
        axes = plot_fit(self.model, X).axes[0]
        assert axes.get_legend().get_texts()[-1].get_text() == f"none: {self.n_outliers}"
        drawn = sum(len(one.get_offsets()) for one in axes.collections)
        assert drawn == len(X)

    def test_a_map_of_clusters_has_no_place_for_them(self):
        rows, _ = make_blobs(300, 5, centers=3, random_state=0)
        rows = np.vstack([rows, np.random.default_rng(0).uniform(-15, 15, (40, 5))])
        model = KernelPowerKMeans(3, outliers="auto", random_state=0).fit(rows)
        every = clone(model).set_params(outliers=None).fit(rows)
        assert (model.labels_ < 0).any()
        for one in model, every:
            assert plot_fit(one, rows).axes[0].get_xlabel().endswith("component 1")
        plot_fit(model, rows[-40:] + 100)

    def test_a_report_of_no_cluster_is_refused(self):
        with pytest.raises(ValueError, match="no row belongs to a cluster"):
            ClusterReport(self.model, [[9.0, 9.0], [-9.0, 8.0]])

    @pytest.mark.slow
    def test_bars_of_rows_without_a_cluster_are_grey(self):
        search = ClusterSearch(
            KernelPowerKMeans(outliers="auto", random_state=0),
            {"n_clusters": [2, 3]},
            n_splits=2,
            random_state=0,
        ).fit(X)
        figure = Figure()
        draw_flow(figure.subplots(), search)
        (axes,) = figure.axes
        bars = [bar.get_facecolor() for bar in axes.patches]
        assert bars.count(to_rgba(GREY)) == 2
        assert "none" in {text.get_text() for text in axes.texts}

    @pytest.mark.slow
    def test_a_search(self):
        search = ClusterSearch(
            KernelPowerKMeans(outliers="auto"),
            {"n_clusters": [2, 3]},
            n_splits=4,
            random_state=0,
        ).fit(X)
        assert search.best_params_["n_clusters"] == 2
        assert (search.labels_ == -1).any()
        assert_array_equal(search.predict(X), search.labels_)


@pytest.mark.parametrize("kernel", ["heat", "rbf"])
def test_the_tree_leaves_them_out(kernel):
    """Rows between groups of clusters would join the clusters of different groups."""
    rng = np.random.default_rng(0)
    group = np.arange(12) // 4
    middles = 100 * np.array([[0, 0], [1, 0], [0, 1]])[group] + rng.permutation(
        np.array([[0, 0], [15, 0], [0, 15], [15, 15]] * 3)
    )
    rows, y = make_blobs(480, centers=middles, cluster_std=0.6, random_state=0)
    noise = rng.uniform(-40, 160, (15, 2))
    model = KernelPowerKMeans(12, kernel=kernel, outliers="auto", random_state=0)
    model.fit(np.vstack([rows, noise]))
    sizes = np.bincount(model.labels_[model.labels_ >= 0], minlength=12)
    assert (model.labels_[480:] == -1).sum() > 5
    assert_array_equal(model.tree_.cluster_weight_, sizes)
    if kernel == "heat":
        assert adjusted_rand_score(group[y], model.cut(3)[:480]) == 1
