"""The search for the number of clusters and the kernel."""

import pickle
import warnings

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs, make_circles
from sklearn.metrics import adjusted_rand_score, rand_score
from sklearn.mixture import GaussianMixture
from sklearn.model_selection import ParameterGrid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.utils import get_tags
from sklearn.utils.fixes import parse_version
from threadpoolctl import threadpool_limits

import data
from kernelmeans import ClusterSearch, KernelPowerKMeans, save_model
from kernelmeans.metrics import jaccard_stability, prediction_strength
from kernelmeans.search.results import verdict

X, Y = make_blobs(120, centers=[[0, 0], [6, 0], [0, 6]], random_state=0)
GRID = {"n_clusters": [2, 3, 4, 5]}
#: The columns that differ from run to run.
TIMES = {"mean_fit_time"}
has_callbacks = pytest.mark.skipif(
    parse_version(sklearn.__version__) < parse_version("1.9"), reason="callbacks from 1.9 on"
)


def searched(estimator=None, grid=GRID, X=X, **parameters):
    estimator = KMeans(n_init=1) if estimator is None else estimator
    parameters = {"n_splits": 3, "random_state": 0} | parameters
    return ClusterSearch(estimator, grid, **parameters).fit(X)


def assert_same(one, other, order=None):
    """Whether two searches have the same results, the second with candidates in an order."""
    order = list(range(len(one.results_["params"]))) if order is None else order
    assert one.results_.keys() == other.results_.keys()
    for name in one.results_.keys() - TIMES - {"params", "jaccard"}:
        theirs = np.ma.asarray(other.results_[name])[order]
        np.testing.assert_array_equal(one.results_[name], theirs, err_msg=name)
    for ours, place in zip(one.results_["jaccard"], order, strict=True):
        np.testing.assert_array_equal(ours, other.results_["jaccard"][place])
    np.testing.assert_array_equal(one.labels_, other.labels_)


class TestChoice:
    @pytest.mark.slow
    def test_values_of_arrays_become_plain(self, tmp_path):
        grid = {"n_clusters": np.arange(2, 5), "kernel": np.array(["heat", "rbf"])}
        search = searched(KernelPowerKMeans(), grid)
        plain = searched(KernelPowerKMeans(), {name: one.tolist() for name, one in grid.items()})
        assert [*map(type, search.best_params_.values())] == [str, int]
        assert search.verdict_ == plain.verdict_
        save_model(search, tmp_path / "X.model.skops")

    @pytest.mark.usefixtures("short_searches")
    @pytest.mark.parametrize("scoring", ["jaccard", "stability", "prediction_strength"])
    @pytest.mark.parametrize("estimator", [KernelPowerKMeans(), KMeans(n_init=3)], ids=str)
    def test_three_blobs_are_found(self, estimator, scoring):
        search = searched(estimator, scoring=scoring)
        assert search.best_params_ == {"n_clusters": 3}
        assert search.refit_time_ > 0
        assert adjusted_rand_score(Y, search.labels_) == 1
        assert search.verdict_.startswith("3 clusters: found again in 3 splits of 120 rows")
        np.testing.assert_array_equal(search.predict(X), search.labels_)

    @pytest.mark.parametrize("scoring", ["jaccard", "stability", "prediction_strength"])
    def test_there_are_no_clusters_in_noise(self, scoring):
        noise = data.cloud(200, 3)
        search = searched(grid={"n_clusters": [1, 3, 4, 5]}, X=noise, scoring=scoring)
        assert search.best_index_ is None
        assert search.best_estimator_ is None
        assert search.best_params_ == {"n_clusters": 1}
        assert np.isnan(search.best_score_)
        lost = "loses at least one" in search.verdict_
        none = "no number of clusters that would all be" if lost else "no clusters that would be"
        assert search.verdict_.startswith(f"{none} found again in 3 splits")
        stability = search.results_["mean_stability"]
        compared = ~np.isnan(search.results_["mean_reference"])
        # One cluster is no choice.
        row = 1 + np.argmax(np.where(lost | compared, stability, -1)[1:])
        best = search.results_["n_clusters"][row], search.results_["min_jaccard"][row]
        decides, compared = ", which decides" * lost, "of those compared " * (not lost)
        assert search.verdict_.endswith(
            f"; the most stable {compared}are {best[0]} clusters, with stability "
            f"{stability[row]:.2f} and Jaccard overlap {best[1]:.2f} of the least stable "
            f"cluster{decides}; n_clusters={best[0]} fits them all the same"
        )
        np.testing.assert_array_equal(search.predict(noise[:7]), np.zeros(7))
        np.testing.assert_array_equal(search.labels_, np.zeros(200))
        with pytest.raises(ValueError, match="features"):
            search.predict(X)

    def test_the_most_stable_of_several_kernels_is_named(self):
        grid = {"n_clusters": [3, 4], "kernel": ["heat", "rbf"]}
        search = searched(KernelPowerKMeans(), grid=grid, X=data.cloud(200, 3))
        assert search.best_index_ is None
        best = search.results_["params"][np.argmax(search.results_["mean_stability"])]
        assert search.verdict_.endswith(
            f"; kernel={best['kernel']!r}, n_clusters={best['n_clusters']} fits them all the same"
        )

    def test_clusters_that_are_not_found_again_are_not_advised(self):
        results = {
            "n_clusters": np.array([1, 2, 3, 4]),
            "group": np.zeros(4),
            "mean_stability": np.array([1, 0.72, 0.75, 0.76]),
            "mean_reference": np.array([np.nan, 0.91, 0.64, np.nan]),
            "min_jaccard": np.array([1, 0.91, 0.85, 0.5]),
        }
        assert verdict(results, None, {}, "17 splits").endswith(
            "; the most stable of those compared are 3 clusters, with stability 0.75 and Jaccard "
            "overlap 0.85 of the least stable cluster; n_clusters=3 fits them all the same"
        )
        results["mean_reference"] = np.full(4, np.nan)
        assert verdict(results, None, {}, "17 splits").endswith(
            "; n_clusters=4 fits them all the same"
        )

    def test_elongated_noise_is_as_stable_as_data_without_clusters(self):
        noise = data.cloud(200, 2) * [10, 1]
        search = searched(grid={"n_clusters": [2]}, X=noise)
        # One number of clusters: the user has chosen.
        assert search.best_index_ == 0
        search = searched(grid={"n_clusters": [2, 3]}, X=noise)
        assert search.results_["valid"].any()
        assert search.best_index_ is None
        assert ": data without clusters is nearly as stable; the most" in search.verdict_
        assert "which decides" not in search.verdict_

    def test_fewer_clusters_that_are_surer_and_more_are_named(self):
        results = {
            "n_clusters": np.array([2, 3, 4, 2]),
            "group": np.array([0, 0, 0, 1]),
            "valid": np.array([True, False, True, True]),
            "separate": np.zeros(4, bool),
            "mean_stability": np.array([0.97, 0.98, 0.83, 0.99]),
            "mean_reference": np.array([np.nan, np.nan, 0.6, np.nan]),
            "mean_prediction_strength": np.full(4, 0.8),
            "min_jaccard": np.full(4, 0.9),
        }
        named = "; 2 clusters would be found again more surely, with stability 0.97"
        assert verdict(results, 2, {}, "20 splits").endswith(f"has a stability of 0.60{named}")
        results["mean_stability"][0] = 0.92
        assert verdict(results, 2, {}, "20 splits").endswith("has a stability of 0.60")
        named = "; 4 clusters are found again too, with stability 0.83"
        assert verdict(results, 0, {}, "20 splits").count(named) == 0  # refuted
        results["mean_reference"] = np.array([0.5, np.nan, np.nan, np.nan])
        assert verdict(results, 0, {}, "20 splits").endswith(f"has a stability of 0.50{named}")
        assert "too, with" not in verdict(results, 3, {}, "20 splits")  # another kernel

    @pytest.mark.parametrize(
        ("n_clusters", "least"), [(9, "cluster"), (10, "of the best 9 clusters")]
    )
    def test_the_cluster_whose_overlap_decides_is_named(self, n_clusters, least):
        numbers = ("mean_stability", "mean_reference", "mean_prediction_strength", "min_jaccard")
        results = dict.fromkeys(numbers, np.ones(1)) | {"n_clusters": np.array([n_clusters])}
        results |= {"valid": np.ones(1, bool), "separate": np.zeros(1, bool), "group": np.zeros(1)}
        assert f"overlap 1.00 of the least stable {least};" in verdict(results, 0, {}, "3 splits")

    def test_a_kernel_is_chosen_at_a_given_number_of_clusters(self):
        rings, y = make_circles(400, factor=0.3, noise=0.05, random_state=0)
        search = searched(KernelPowerKMeans(2), {"kernel": ["linear", "heat"]}, rings)
        assert search.best_params_ == {"kernel": "heat"}
        assert adjusted_rand_score(y, search.labels_) == 1
        assert search.verdict_.startswith("2 clusters with kernel='heat': found again")

    def test_by_near_neighbors(self):
        # Random starts that are not moved are poor.
        grid = [{"n_clusters": [3]}, {"n_clusters": [3], "init": ["random"], "max_iter": [1]}]
        search = searched(grid=grid, scoring="neighbor_consistency")
        assert search.best_index_ == 0
        consistency = search.results_["neighbor_consistency"]
        assert search.best_score_ == consistency[0] > consistency[1]

    def test_by_any_function_of_two_labelings(self):
        search = searched(scoring=rand_score)
        scores = [search.results_[f"split{b}_score"] for b in range(3)]
        np.testing.assert_array_equal(search.results_["mean_score"], np.mean(scores, axis=0))
        assert search.best_score_ == search.results_["mean_score"].max()
        assert search.results_["rank_score"][search.best_index_] == 1


class TestScores:
    def test_are_those_of_models_of_halves(self):
        search = searched(n_splits=2, n_jobs=None)
        # The same from scratch: any split of the seed, fitted and predicted here.
        rng = np.random.RandomState(0)
        seeds = rng.randint(np.iinfo(np.int32).max, size=3)[1:]
        stable, strong, overlaps = [], [], []
        whole = search.labels_by_candidate_[1]
        for seed in seeds:
            order = np.random.default_rng(seed).permutation(120)
            halves = [np.sort(order[:60]), np.sort(order[60:])]
            models = [KMeans(3, n_init=1, random_state=seed).fit(X[rows]) for rows in halves]
            labels = [model.predict(X) for model in models]
            stable.append(adjusted_rand_score(*labels))
            for own, other in ((0, 1), (1, 0)):
                rows = halves[own]
                strong.append(prediction_strength(models[own].labels_, labels[other][rows]))
            overlaps += labels
        assert search.results_["mean_stability"][1] == np.mean(stable)
        assert search.results_["std_stability"][1] == np.std(stable)
        assert search.results_["mean_prediction_strength"][1] == pytest.approx(np.mean(strong))
        expected = jaccard_stability(whole, overlaps)
        np.testing.assert_allclose(search.results_["jaccard"][1], expected)
        assert search.results_["min_jaccard"][1] == pytest.approx(expected.min())

    def test_have_a_column_for_each_parameter_and_score(self):
        grid = [{"n_clusters": [2, 3]}, {"n_clusters": [2], "init": ["random"]}]
        results = searched(grid=grid, n_splits=2).results_
        assert results["params"] == list(ParameterGrid(grid))
        assert results["param_init"].tolist() == [None, None, "random"]
        assert results["n_clusters"].tolist() == [2, 3, 2]
        assert sum(name.startswith("split") for name in results) == 4
        assert all(len(column) == 3 for column in results.values())
        assert [len(one) for one in results["jaccard"]] == [2, 3, 2]
        assert (results["mean_fit_time"] > 0).all()
        assert (np.diff(results["inertia"][:2]) < 0).all()

    def test_of_clusters_are_kept_for_each_candidate_even_if_all_have_as_many(self):
        grid = {"n_clusters": [3], "init": ["random", "k-means++", X[:3]]}
        assert [len(one) for one in searched(grid=grid).results_["jaccard"]] == [3, 3, 3]

    def test_groups_differ_in_any_value_of_a_long_array(self):
        wide = np.hstack([X, np.zeros((120, 500))])
        starts = [wide[:3], wide[:3] + np.eye(3, 502, 200)]
        assert repr(starts[0]) == repr(starts[1])
        grid = {"n_clusters": [3], "init": [*starts, starts[0].copy(), "random"]}
        search = searched(grid=grid, X=wide, scoring="prediction_strength")
        assert search.results_["group"].tolist() == [0, 1, 0, 3]

    def test_functions_are_in_different_groups(self):
        model = make_pipeline(FunctionTransformer(), KMeans(n_init=1))
        functions = [lambda X: X, lambda X: 2 * X]
        grid = {"functiontransformer__func": functions, "kmeans__n_clusters": [2, 3]}
        search = searched(model, grid, scoring="prediction_strength")
        assert search.results_["group"].tolist() == [0, 0, 2, 2]

    def test_labels_are_kept_in_few_bytes(self):
        search = searched()
        assert search.labels_by_candidate_.dtype.itemsize == 1
        assert search.labels_by_candidate_.shape == (4, 120)
        chosen = search.labels_by_candidate_[search.best_index_]
        np.testing.assert_array_equal(chosen, search.labels_)


class TestSeeds:
    @pytest.mark.slow
    @pytest.mark.usefixtures("short_searches")
    @pytest.mark.parametrize("scoring", ["jaccard", rand_score])
    def test_parallel_fits_and_threads_change_nothing(self, scoring, processes):
        model = KernelPowerKMeans()
        with threadpool_limits(2):
            one = searched(model, scoring=scoring)
        assert not processes
        assert_same(one, searched(model, n_jobs=2, scoring=scoring))
        assert processes

    def test_the_order_of_candidates_changes_nothing(self):
        one = searched()
        other = searched(grid={"n_clusters": GRID["n_clusters"][::-1]})
        assert_same(one, other, [3, 2, 1, 0])
        assert one.best_params_ == other.best_params_

    def test_other_candidates_change_nothing(self):
        few = searched(grid={"n_clusters": [3, 4]})
        np.testing.assert_array_equal(
            few.results_["mean_stability"], searched().results_["mean_stability"][1:3]
        )

    def test_a_single_cluster_in_the_grid_changes_nothing(self):
        blurred, _ = make_blobs(
            200, centers=[[0, 0], [5, 0], [0, 5]], cluster_std=1.8, random_state=0
        )
        one, other = (
            searched(KMeans(n_init=3), {"n_clusters": k}, blurred, n_splits=10)
            for k in ([2, 3, 4], [1, 2, 3, 4])
        )
        assert one.best_params_ == other.best_params_ == {"n_clusters": 3}
        assert one.best_score_ == other.best_score_

    def test_the_seed_of_the_estimator_is_for_all_rows_alone(self):
        blurred = X + data.cloud(120, 2)
        seeded = searched(KMeans(n_init=1, init="random", random_state=3), X=blurred)
        plain = searched(KMeans(n_init=1, init="random"), X=blurred)
        np.testing.assert_array_equal(
            seeded.results_["mean_stability"], plain.results_["mean_stability"]
        )
        assert seeded.best_estimator_.random_state == 3
        again = clone(seeded.best_estimator_).fit(blurred)
        np.testing.assert_array_equal(seeded.labels_, again.labels_)

    def test_another_seed_is_another_search(self):
        one, other = (searched(random_state=seed, X=X + data.cloud(120, 2)) for seed in (0, 1))
        assert (one.results_["mean_stability"] != other.results_["mean_stability"]).any()


class FailsAt(KMeans):
    """Fails for some numbers of clusters, on halves or everywhere."""

    def __init__(self, n_clusters=2, wrong=(), on=0, n_init=1, random_state=None):
        super().__init__(n_clusters, n_init=n_init, random_state=random_state)
        self.wrong = wrong
        self.on = on

    def fit(self, X, y=None):
        if self.n_clusters in self.wrong and len(X) >= self.on:
            raise ArithmeticError(f"not {self.n_clusters}")
        return super().fit(X)


class TestFailures:
    @pytest.mark.parametrize("on", [0, 61])
    def test_a_candidate_that_fails_has_no_score(self, on):
        message = r"Candidates that failed have no score: {'n_clusters': 5}: ArithmeticError: not 5"
        with pytest.warns(UserWarning, match=message) as caught:
            search = searched(FailsAt(wrong=(5,), on=on))
        assert len(caught) == 1
        assert np.isnan(search.results_["mean_stability"]).tolist() == [False] * 3 + [True]
        assert search.results_["rank_stability"][3] == 4
        assert search.best_params_ == {"n_clusters": 3}

    def test_a_candidate_that_fails_on_all_rows_is_not_fitted_to_halves(self):
        class Counts(FailsAt):
            fits = 0

            def fit(self, X, y=None):
                Counts.fits += self.n_clusters == 3
                return super().fit(X)

        estimator = Counts(wrong=(3,), on=120)
        with pytest.warns(UserWarning, match="not 3"):
            search = searched(estimator, scoring="prediction_strength")
        assert Counts.fits == 1
        # The others are what they are without it.
        other = searched(grid={"n_clusters": [2, 4, 5]}, scoring="prediction_strength")
        kept = [0, 2, 3]
        for name in ("mean_stability", "min_jaccard", "split2_prediction_strength"):
            np.testing.assert_array_equal(search.results_[name][kept], other.results_[name])
            assert np.isnan(search.results_[name][1])
        assert search.results_["jaccard"][1].tolist() == pytest.approx([np.nan], nan_ok=True)

    @pytest.mark.usefixtures("short_searches")
    @pytest.mark.parametrize(
        ("estimator", "name", "scoring"),
        [
            (KernelPowerKMeans(), "n_clusters", "jaccard"),
            (KMeans(n_init=1), "n_clusters", "stability"),
            (KMeans(n_init=1), "n_clusters", "prediction_strength"),
            (KMeans(n_init=1), "n_clusters", "neighbor_consistency"),
            (GaussianMixture(reg_covar=1e-3), "n_components", "jaccard"),
            (make_pipeline(StandardScaler(), KMeans(n_init=1)), "kmeans__n_clusters", "jaccard"),
        ],
    )
    def test_values_that_rows_take_are_no_more_clusters_than_that(self, estimator, name, scoring):
        values = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
        rows = np.repeat(values, [40, 30, 30, 20], axis=0)
        only = rf"'{name}': 5}}: ValueError: it finds only 4 clusters, .* Ask for at most 4\.$"
        with pytest.warns(UserWarning, match=only) as caught:
            search = searched(estimator, {name: [6, 2, 4, 5]}, rows, scoring=scoring, n_splits=6)
        assert len(caught) == 1
        assert search.best_params_ == {name: 4}
        assert adjusted_rand_score(rows @ [2, 1], search.labels_) == 1
        assert np.isnan(search.results_["mean_stability"]).tolist() == [True, False, False, True]
        assert not search.results_["valid"][[0, 3]].any()

    @pytest.mark.parametrize("asked", [[5], [4, 5]])
    def test_fewer_values_than_clusters_in_all_candidates(self, asked):
        only = r"All candidates failed: .* it finds only 3 clusters, .* Ask for at most 3\.$"
        with pytest.raises(ValueError, match=only):
            searched(grid={"n_clusters": asked}, X=np.repeat(np.eye(3), 20, axis=0))

    def test_a_cluster_that_a_half_misses_is_not_found_again(self):
        rows = np.repeat(np.eye(3), [60, 59, 1], axis=0)
        results = searched(grid={"n_clusters": [2, 3]}, X=rows, n_splits=6).results_
        assert results["mean_stability"][1] < 1
        # One of two halves has the row of its own.
        assert sorted(results["jaccard"][1] > 0.6) == [False, True, True]

    def test_progress_counts_no_fits_of_candidates_that_have_failed(self):
        class Ends(FailsAt):
            def fit(self, X, y=None):
                if len(X) < 120:
                    raise KeyboardInterrupt
                return super().fit(X)

        search = ClusterSearch(Ends(wrong=(3,)), GRID, n_splits=3)
        with pytest.raises(KeyboardInterrupt, match=r"^4 fits are done, and no split"):
            search.fit(X)

    @pytest.mark.parametrize("n_rows", [39, 40])
    def test_few_rows_are_warned_of(self, n_rows):
        with warnings.catch_warnings(record=True, action="always") as caught:
            searched(X=X[:n_rows], grid={"n_clusters": [2, 3]}, scoring="prediction_strength")
        texts = [str(one.message) for one in caught]
        assert len(texts) == (n_rows < 40)
        assert all("n_samples=39 is few for a search: models of 19 rows" in one for one in texts)

    def test_sample_weights_are_refused(self):
        search = ClusterSearch(KMeans(n_init=1), GRID)
        with pytest.raises(TypeError, match=r"takes no sample_weight: every row counts once"):
            search.fit(X, sample_weight=np.ones(120))

    def test_all_fail(self):
        wrong = FailsAt(wrong=(2, 3, 4, 5))
        with pytest.raises(ValueError, match=r"All candidates failed: .*: ArithmeticError: not 2"):
            searched(wrong)

    def test_candidates_that_fail_alike_share_a_message(self):
        named = ", ".join(f"{{'n_clusters': {k}}}" for k in (2, 3, 4, 5))
        with pytest.raises(ValueError, match="All candidates failed") as refused:
            searched(X=np.full_like(X, np.nan))
        message = str(refused.value)
        assert message.startswith(f"All candidates failed: {named}: ValueError: Input X contains")
        assert message.count("contains NaN") == 1
        assert not message.endswith("..")

    def test_a_predict_that_does_not_label_all_rows(self):
        class Stubborn(KMeans):
            def predict(self, X):
                return self.labels_

        with pytest.raises(
            ValueError, match=r"Stubborn.* predict gave an array of shape .60,. for 120"
        ):
            searched(Stubborn(n_init=1))

    def test_no_row_has_a_label_by_both_models(self):
        class Timid(KMeans):
            def predict(self, X):
                return super().predict(X) if self.n_clusters == 3 else np.full(len(X), -1)

        with pytest.warns(UserWarning, match="no row of a half has a label by both models"):
            search = searched(Timid(n_init=1), {"n_clusters": [2, 3]})
        assert search.best_params_ == {"n_clusters": 3}

    def test_neighbors_that_are_not_known(self):
        K = data.rms_kernel(X)
        with pytest.raises(ValueError, match=r"All candidates failed: .*neighbours"):
            searched(KernelPowerKMeans(kernel="precomputed"), X=K, scoring="neighbor_consistency")

    def test_a_score_that_is_not_a_number(self):
        with pytest.raises(ValueError, match="the score is NaN"):
            searched(scoring=lambda a, b: np.nan)

    def test_an_error_of_the_score_ends_the_search_and_leaves_the_filters_of_warnings(self):
        filters = list(warnings.filters)
        with pytest.raises(ZeroDivisionError) as caught:
            searched(scoring=lambda a, b: 1 / 0)
        assert caught.traceback
        assert warnings.filters == filters

    def test_warnings_of_fits_on_halves_are_not_shown(self):
        class Warns(KMeans):
            def fit(self, X, y=None):
                warnings.warn(f"{len(X)} rows", stacklevel=2)
                return super().fit(X)

        with pytest.warns(UserWarning, match="rows") as caught:
            searched(Warns(n_init=1))
        assert [str(one.message) for one in caught] == ["120 rows"]

    def test_a_failed_search_leaves_the_last_one(self):
        search = searched()
        before = dict(vars(search))
        with pytest.raises(ValueError, match="All candidates failed"):
            search.fit(np.full((50, 2), np.nan))
        assert vars(search) == before

    @pytest.mark.parametrize(
        ("parameters", "message"),
        [
            ({"n_splits": 1}, "'n_splits' parameter of ClusterSearch must be an int"),
            ({"scoring": "silhouette"}, "'scoring' parameter of ClusterSearch must be"),
        ],
    )
    def test_parameters_are_checked(self, parameters, message):
        with pytest.raises(ValueError, match=message):
            searched(**parameters)


class Interrupts(KMeans):
    """Ctrl-C in one of the fits."""

    fits = 0

    def fit(self, X, y=None):
        type(self).fits += 1
        if self.fits == self.at:
            raise KeyboardInterrupt
        return super().fit(X)


class TestInterruption:
    def interrupted(self, at):
        kind = type("Interrupted", (Interrupts,), {"at": at, "fits": 0})
        return ClusterSearch(kind(n_init=1), GRID, n_splits=3, random_state=0)

    def test_keeps_the_splits_that_are_complete(self):
        # 4 fits to all rows, 8 for each split.
        search = self.interrupted(at=4 + 8 + 3)
        with pytest.raises(KeyboardInterrupt, match=r"^14 fits are done; .* of 1 whole split$"):
            search.fit(X)
        assert search.n_splits_ == 1
        assert search.best_params_ == {"n_clusters": 3}
        assert " found again in 1 split of 120 rows" in search.verdict_
        whole = searched().results_
        for name in ("split0_stability", "neighbor_consistency"):
            np.testing.assert_array_equal(search.results_[name], whole[name])
        assert "split1_stability" not in search.results_
        with pytest.raises(sklearn.exceptions.NotFittedError):
            search.predict(X)

    def test_before_the_first_split_changes_nothing(self):
        search = self.interrupted(at=9)
        before = dict(vars(search))
        with pytest.raises(KeyboardInterrupt, match="no split is complete"):
            search.fit(X)
        assert vars(search) == before

    def test_while_it_looks_at_data_without_clusters(self):
        search = self.interrupted(at=29)
        with pytest.raises(KeyboardInterrupt, match=r"^28 fits are done; .* of 3 whole splits"):
            search.fit(X)
        assert search.best_params_ == {"n_clusters": 3}
        assert search.verdict_.endswith("not compared with data without clusters")

    def test_keeps_what_data_without_clusters_have_refuted(self):
        noise, grid = np.random.default_rng(0).uniform(size=(200, 2)), {"n_clusters": [2, 3]}
        noise *= [10, 1]
        whole = searched(grid=grid, X=noise)
        assert not np.isnan(whole.results_["mean_reference"]).any()
        assert whole.best_index_ is None
        # 2 fits to all rows, 4 for each split, 8 for each of four rounds of data without clusters.
        search = self.interrupted(at=2 + 3 * 4 + 4 * 8 + 5).set_params(param_grid=grid)
        with pytest.raises(KeyboardInterrupt):
            search.fit(noise)
        assert search.best_params_ == {"n_clusters": 2}
        assert search.verdict_.endswith("not compared with data without clusters")


class Recorder:
    """Notes the tasks that end; answers True to one of them."""

    def __init__(self, stop_at=None):
        self.stop_at = stop_at
        self.ended = []
        self.open = 0

    def setup(self, estimator, context):
        self.ended.append("setup")

    def on_fit_task_begin(self, estimator, context):
        self.open += 1

    def on_fit_task_end(self, estimator, context):
        self.open -= 1
        self.ended.append(context.task_name)
        return self.ended.count("candidate") == self.stop_at

    def teardown(self, estimator, context):
        self.ended.append("teardown")


@has_callbacks
class TestCallbacks:
    def watched(self, recorder):
        search = ClusterSearch(KMeans(n_init=1), GRID, n_splits=3, random_state=0)
        return search.set_callbacks(recorder)

    def test_each_candidate_of_each_half_is_a_task(self):
        recorder = Recorder()
        watched = self.watched(recorder).fit(X)
        ended = [
            ("all rows", 4),
            ("splits", 2 * 4 * 3),
            ("pieces", 1),
            ("pieces", 10),
            *[("reference", 4)] * 5,
        ]
        tasks = [task for name, count in ended for task in [*["candidate"] * count, name]]
        expected = ["setup", *tasks, "fit", "teardown"]
        assert recorder.ended == expected
        assert recorder.open == 0
        assert_same(watched, searched())

    @pytest.mark.slow
    @pytest.mark.parametrize("n_jobs", [None, 2])
    def test_a_true_answer_ends_the_search(self, n_jobs, processes):
        recorder = Recorder(stop_at=4 + 8 + 2)
        search = self.watched(recorder).set_params(n_jobs=n_jobs).fit(X)
        assert bool(processes) == (n_jobs == 2)
        assert search.n_splits_ == 1
        assert search.best_params_ == {"n_clusters": 3}
        assert " found again in 1 split of 120 rows" in search.verdict_
        np.testing.assert_array_equal(search.predict(X), search.labels_)
        assert recorder.ended[-1] == "teardown"

    def test_a_true_answer_before_the_first_split(self):
        recorder = Recorder(stop_at=5)
        with pytest.raises(RuntimeError, match=r"A callback has stopped .* 5 fits are done"):
            self.watched(recorder).fit(X)
        assert recorder.ended[-1] == "teardown"

    def test_a_true_answer_while_it_looks_at_data_without_clusters(self):
        search = self.watched(Recorder(stop_at=4 + 2 * 4 * 3 + 3)).fit(X)
        assert search.n_splits_ == 3
        assert search.verdict_.endswith("not compared with data without clusters")

    def test_the_progress_bar_of_scikit_learn_works(self, capsys):
        pytest.importorskip("rich")
        from sklearn.callback import ProgressBar

        self.watched(ProgressBar()).fit(X)
        assert "ClusterSearch" in capsys.readouterr().out


class TestManners:
    def test_nested_parameters_clone_and_pickle(self):
        search = searched(KernelPowerKMeans(t=0.5), scoring="prediction_strength")
        assert search.get_params()["estimator__t"] == 0.5
        assert clone(search).set_params(estimator__t="auto").estimator.t == "auto"
        restored = pickle.loads(pickle.dumps(search))
        np.testing.assert_array_equal(restored.predict(X), search.labels_)
        assert restored.verdict_ == search.verdict_

    @pytest.mark.parametrize("kernel", ["heat", "precomputed", "graph"])
    def test_tags_of_the_input_are_those_of_the_estimator(self, kernel):
        estimator = KernelPowerKMeans(kernel=kernel)
        search = ClusterSearch(estimator, GRID)
        assert get_tags(search).input_tags == get_tags(estimator).input_tags
        assert get_tags(search).estimator_type == "clusterer"

    def test_of_many_rows_a_sample_is_drawn(self, monkeypatch):
        monkeypatch.setattr("kernelmeans.search.search.MOST_ROWS", 60)
        search = searched()
        assert search.n_rows_used_ == len(np.unique(search.rows_used_)) == 60
        assert search.labels_by_candidate_.shape == (4, 60)
        assert search.labels_.shape == (120,)
        assert search.best_params_ == {"n_clusters": 3}
        assert "splits of 60 of 120 rows" in search.verdict_
        part = searched(X=X[search.rows_used_])
        np.testing.assert_array_equal(
            part.results_["mean_stability"], search.results_["mean_stability"]
        )

    def test_of_copies_one_is_looked_at(self):
        """Copies in both halves would make any clusters look found again."""
        order = np.random.default_rng(0).permutation(600)
        search = searched(X=np.repeat(X, 5, axis=0)[order])
        assert search.n_rows_used_ == len(np.unique(X[:, 0])) == 120
        rows = np.repeat(X, 5, axis=0)[order][search.rows_used_]
        once = searched(X=rows)
        np.testing.assert_array_equal(
            search.results_["mean_stability"], once.results_["mean_stability"]
        )
        np.testing.assert_array_equal(search.labels_by_candidate_, once.labels_by_candidate_)
        assert search.labels_.shape == (600,)

    def test_rows_that_are_equal_by_chance_are_no_copies(self):
        answers = np.random.default_rng(0).integers(0, 4, size=(300, 3)).astype(float)
        ages = np.random.default_rng(0).integers(20, 60, size=(300, 1)).astype(float)
        amounts = np.random.default_rng(0).gamma(2, 20, size=(300, 1)).round(-1)
        few = np.repeat(X[:8], 40, axis=0)[:300]
        for rows in (answers, ages, np.hstack([amounts, answers[:, :1]]), few):
            assert searched(X=rows, scoring="prediction_strength").n_rows_used_ == 300
