"""Bad views and kernels: clear messages before heavy work, and defined outcomes for dull data."""

import re
import time
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.compose import make_column_selector
from sklearn.exceptions import ConvergenceWarning

import data
import oracle
from kernelmeans import MultiKernelPowerKMeans
from kernelmeans.baselines import MKKM, RMKKM
from kernelmeans.engines import Threads
from kernelmeans.kernels.formulas import NAMED

X = data.cloud(60, 4)
ESTIMATORS = [MultiKernelPowerKMeans, MKKM, RMKKM]
estimators = pytest.mark.parametrize("estimator", ESTIMATORS)


def indefinite(A, B):
    return -(np.sqrt(((A[:, None] - B) ** 2).sum(-1)) ** 3)


@pytest.fixture
def no_heavy_work(monkeypatch):
    """Threads are where all heavy work happens."""

    def fail(self):
        raise AssertionError("heavy work began before the input was refused")

    monkeypatch.setattr(Threads, "__enter__", fail)


def refused(model, message, rows=X, error=ValueError, **given):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(error, match=message):
            clone(model).fit(rows, **given)


@pytest.mark.usefixtures("no_heavy_work")
class TestRefused:
    @estimators
    @pytest.mark.parametrize(
        ("kernels", "message"),
        [
            ([], r"kernels=\[\] names no kernel; give at least one"),
            ((), "names no kernel"),
            (["rbf", ("rbf", [])], r"kernels\[1\]: the columns \[\] select no column"),
            ([("rbf", slice(2, 2))], r"kernels\[0\]: the columns slice\(2, 2.* select no column"),
            ([("rbf", np.zeros(4, bool))], r"kernels\[0\]: the columns .* select no column"),
            ([("rbf", lambda X: [])], r"kernels\[0\]: the columns \[\] select no column"),
            (["rbf", ("rbf", [1, 4])], r"kernels\[1\]: the columns \[1, 4\] are not in X"),
            ([("rbf", [-5])], r"kernels\[0\]: the columns \[-5\] are not in X"),
            ([("rbf", [True, False])], r"the mask has 2 values, but X has 4 columns; give one"),
            ([("rbf", np.ones(5, bool))], r"the mask has 5 values, but X has 4 columns"),
            ([("a", [0, 1], "rbf")], r"\('a'\): \[0, 1\] is no kernel.* \(name, kernel, columns\)"),
            ([([0, 1], "rbf")], r"\[0, 1\] is no kernel.* order .* \(name, kernel, columns\)"),
            ([("rbf", ["a"])], r"kernels\[0\]: the columns \['a'\] are not in X.*dataframes"),
            ([("rbf", 1.5)], r"kernels\[0\]: the columns 1.5 are not in X"),
            ([("rbf", None)], r"kernels\[0\]: the columns None are not in X"),
            (["rbf", "gaussian"], r"kernels\[1\]: 'gaussian' is no kernel; give .* rbf"),
            ([3], r"kernels\[0\]: 3 is no kernel"),
            ([None], r"kernels\[0\]: None is no kernel"),
            (
                [["rbf"]],
                r"kernels\[0\]=\['rbf'\] must be a kernel, a pair \(kernel, columns\) or a",
            ),
            ([("a", "rbf", [0], [1])], r"kernels\[0\]=.* or a triple \(name, kernel, columns\)"),
            ([("rbf", [0], [1])], r"kernels\[0\] \('rbf'\): \[0\] is no kernel"),
            ([("", "rbf", [0])], r"kernels\[0\]: the first of three is the name .* got ''"),
            (
                [(0, "rbf", [0])],
                r"kernels\[0\]: the first of three is the name .* got 0;",
            ),
            ([("a", "rbf", [9])], r"kernels\[0\] \('a'\): the columns \[9\] are not in X"),
            ([("a", "rbf", [0]), ("a", "heat", [1])], "several kernels would be called 'a'; give"),
            ([("a 3", "rbf", [0]), ("a", "widths", [1])], "several kernels would be called 'a 3'"),
            ([{"gamma": 1.0}], r"kernels\[0\]=.* has no key 'kernel'; the keys are kernel, gamma"),
            (
                [{"kernel": "rbf", "sigma": 1.0, "width": 2}],
                r"kernels\[0\]=.* has unknown keys \['sigma', 'width'\]; the keys are kernel",
            ),
            (["rbf", "precomputed"], r"kernels\[1\]: 'precomputed' is no kernel.*\(L, n, n\)"),
            ([{"kernel": "precomputed"}], r"kernels\[0\]: 'precomputed' is no kernel"),
            ([("a", np.eye(8))], r"kernels\[0\]: an array of shape \(8, 8\) .*\(L, n, n\)"),
            ([{"kernel": "widths", "gamma": 1.0}], r"the family 'widths' takes no parameters"),
            ([({"kernel": "du2015", "degree": 2}, [0])], "family 'du2015' takes no parameters"),
            (
                [{"kernel": "rbf", "kernel_params": {"a": 1}}],
                r"kernels\[0\]: kernel_params=.* is only for a callable kernel",
            ),
            (
                ["rbf", {"kernel": "poly", "gamma": "median"}],
                r"kernels\[1\]: gamma='median' needs a kernel that is a function of a distance",
            ),
        ],
    )
    def test_items_of_kernels(self, estimator, kernels, message):
        refused(estimator(3, kernels=kernels), message)

    @estimators
    @pytest.mark.parametrize("library", ["pandas", "polars"])
    def test_names_that_are_no_columns(self, estimator, library):
        frames = pytest.importorskip(library, reason=f"{library} tables")
        table = frames.DataFrame(dict(zip("abcd", X.T, strict=True)))
        refused(
            estimator(3, kernels=["rbf", ("rbf", ["a", "z"])]),
            r"kernels\[1\]: the columns \['a', 'z'\] are not in X",
            table,
        )

    @estimators
    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("kernels", "gaussian"),
            ("kernels", "rbf"),
            ("kernels", None),
            ("kernels", 3),
            ("kernel_scaling", "trace"),
            ("kernel_scaling", True),
            ("n_clusters", 0),
            ("n_init", 0),
            ("tol", -1.0),
            ("max_iter", 0),
            ("cache_kernel", "no"),
        ],
    )
    def test_parameters_out_of_range(self, estimator, name, value):
        message = f"The '{name}' parameter of {estimator.__name__} must be"
        refused(estimator(3).set_params(**{name: value}), message)

    @pytest.mark.parametrize(
        ("name", "value"),
        [("entropy_weight", -0.1), ("entropy_weight", np.nan), ("entropy_weight", "auto"),
         ("s0", 0.0), ("eta", 0.5),
         ("n_swaps", -1)],
    )  # fmt: skip
    def test_parameters_of_annealing_out_of_range(self, name, value):
        message = f"The '{name}' parameter of MultiKernelPowerKMeans must be"
        refused(MultiKernelPowerKMeans(3).set_params(**{name: value}), message)

    @pytest.mark.parametrize("exponent", [0, 1, -0.5, 2.0, np.nan])
    def test_exponents_out_of_range(self, exponent):
        refused(RMKKM(3, exponent=exponent), "The 'exponent' parameter of RMKKM must be")

    @pytest.mark.parametrize("parameters", [{"degree": -1}, {"gamma": -1.0}, {"gamma": "wide"}])
    @estimators
    def test_parameters_of_a_kernel_out_of_range(self, estimator, parameters):
        kernels = ["rbf", {"kernel": "poly", **parameters}]
        (name,) = parameters
        refused(estimator(3, kernels=kernels), rf"The '{name}' parameter of kernels\[1\]")

    @estimators
    def test_rows_that_are_unfit(self, estimator):
        refused(estimator(3), "Input X contains NaN", np.where(np.eye(60, 4) > 0, np.nan, X))
        refused(estimator(3), r"n_samples=2 should be >= n_clusters=3", X[:2])
        refused(estimator(3), "Expected 2D array, got 1D array", X[:, 0])
        refused(estimator(3), "dim 3|3 dimensions|<= 2", X[None])
        refused(estimator(3), "Negative values in data .*`sample_weight`", sample_weight=-X[:, 0])

    def test_sparse_rows_of_a_kernel_that_takes_none(self, monkeypatch):
        dense = NAMED["laplacian"]._replace(sparse=False)
        monkeypatch.setitem(NAMED, "laplacian", dense)
        model = MultiKernelPowerKMeans(3, kernels=["rbf", "laplacian"])
        refused(model, r"kernels\[1\]: X: kernel='laplacian' needs a dense array", csr_array(X))

    def test_sparse_matrices_as_kernels(self):
        model = MultiKernelPowerKMeans(3, kernels="precomputed")
        refused(model, "Sparse data was passed", csr_array(X @ X.T), TypeError)


@pytest.mark.slow
class TestMemory:
    @estimators
    def test_matrices_that_do_not_fit_are_refused_at_once(self, estimator):
        def spying(A, B):
            raise AssertionError("the kernel was computed")

        model = estimator(3, kernels=["rbf", spying, "linear"], memory_budget="1GB")
        if "approximation" in model.get_params():
            model.set_params(approximation=None)
        start = time.perf_counter()
        message = (
            r"n_samples=200000: 2 kernel matrices, with the centroids, takes? .*\(\d{12} bytes\), "
            r"more than the memory budget of 1.0 GB \(1000000000 bytes\). Set .*cache_kernel=False"
        )
        refused(model, message, np.ones((200_000, 2)), MemoryError)
        assert time.perf_counter() - start < 2

    def test_the_budget_counts_every_matrix(self):
        # Two matrices of 60 x 60 numbers, and as before five arrays of k x n for each.
        size = 2 * (60 * 60 + 5 * 3 * 60) * 8
        given = {"kernels": ["rbf", "poly"], "approximation": None, "random_state": 0}
        with pytest.raises(MemoryError, match=rf"\({size} bytes\)|KB"):
            MultiKernelPowerKMeans(3, memory_budget=size - 1, **given).fit(X)
        MultiKernelPowerKMeans(3, memory_budget=size, **given).fit(X)

    def test_without_cached_matrices_they_need_not_fit(self):
        given = {"kernels": "widths", "approximation": None, "random_state": 0}
        rows = data.cloud(400, 3)
        with pytest.raises(MemoryError, match="5 kernel matrices"):
            MultiKernelPowerKMeans(3, memory_budget="1MB", **given).fit(rows)
        small = MultiKernelPowerKMeans(3, memory_budget="1MB", cache_kernel=False, **given)
        expected = MultiKernelPowerKMeans(3, **given).fit(rows)
        assert_array_equal(small.fit(rows).labels_, expected.labels_)


@pytest.mark.slow
class TestConstantViews:
    ROWS = np.hstack([X, np.full((60, 2), 3.7)])
    VIEWS = (("rbf", [0, 1]), ("linear", [4, 5]), ("rbf", [2, 3]))

    @pytest.mark.parametrize("scaling", ["unit-variance", "cosine", "min-max", None])
    @pytest.mark.parametrize("kernel", ["rbf", "linear", "cosine", "poly"])
    @pytest.mark.parametrize("dtype", ["float64", "float32"])
    @estimators
    def test_they_get_no_weight_and_a_warning(self, estimator, scaling, kernel, dtype):
        views = [self.VIEWS[0], (kernel, [4, 5]), self.VIEWS[2]]
        given = {"kernel_scaling": scaling, "init": np.array([1, 20, 40]), "random_state": 0}
        with pytest.warns(UserWarning, match=r"Constant on these data: kernels\[1\].* weight 0"):
            model = estimator(3, kernels=views, **given).fit(self.ROWS.astype(dtype))
        without = estimator(3, kernels=[views[0], views[2]], **given).fit(X.astype(dtype))
        assert_array_equal(model.labels_, without.labels_)
        assert model.n_iter_ == without.n_iter_
        assert model.kernel_weights_[1] == 0
        assert_array_equal(model.kernel_weights_[[0, 2]], without.kernel_weights_)
        assert_array_equal(
            model.kernel_weights_history_[:, [0, 2]], without.kernel_weights_history_
        )
        assert not model.kernel_weights_history_[:, 1].any()
        assert_allclose(model.kernel_factors_[[0, 2]], without.kernel_factors_)
        assert_array_equal(model.predict(self.ROWS.astype(dtype)), model.labels_)
        assert model.inertia_ == pytest.approx(without.inertia_, rel=1e-6)

    @pytest.mark.parametrize("strength", [0, np.inf])
    def test_the_other_weights_sum_to_one(self, strength):
        model = MultiKernelPowerKMeans(3, kernels=self.VIEWS, entropy_weight=strength)
        with pytest.warns(UserWarning, match=r"Constant on these data: kernels\[1\]"):
            model.fit(self.ROWS)
        found = model.kernel_weights_
        assert found.sum() == 1
        assert_array_equal(found, [0.5, 0, 0.5] if strength else [found[0], 0, found[2]])

    def test_all_restarts_list_a_weight_for_every_kernel(self):
        with pytest.warns(UserWarning, match=r"Constant on these data: kernels\[1\]"):
            model = MultiKernelPowerKMeans(3, kernels=self.VIEWS, n_init=2).fit(self.ROWS)
        assert model.result_.kernel_weights.shape == (2, 3)

    def test_a_constant_kernel_matrix(self):
        Ks = np.stack([oracle.rbf(X, X, 0.3), np.ones((60, 60)), X @ X.T])
        given = {"kernels": "precomputed", "random_state": 0}
        with pytest.warns(UserWarning, match=r"Constant on these data: X\[1\]"):
            model = MultiKernelPowerKMeans(3, **given).fit(Ks)
        assert_array_equal(model.predict(Ks), model.labels_)
        without = MultiKernelPowerKMeans(3, **given).fit(Ks[[0, 2]])
        assert_array_equal(model.labels_, without.labels_)
        assert model.kernel_weights_[1] == 0
        rows = np.concatenate([Ks[:, :7]])
        assert_allclose(model.transform(rows), without.transform(rows[[0, 2]]), rtol=1e-12)

    def test_rounding_in_a_constant_kernel_matrix_is_not_called_indefinite(self):
        noise = np.random.default_rng(0).uniform(-1, 1, (60, 60)) * 1e-16
        Ks = np.stack([oracle.rbf(X, X, 0.3), 1 + noise + noise.T])
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            MultiKernelPowerKMeans(3, kernels="precomputed", random_state=0).fit(Ks)
        messages = [str(warning.message) for warning in caught]
        assert any("Constant on these data: X[1]" in message for message in messages)
        assert not any("semi-definite" in message for message in messages)

    @pytest.mark.parametrize("strength", [0, 2.0, np.inf])
    @pytest.mark.parametrize("scaling", ["unit-variance", "cosine", "min-max", None])
    @pytest.mark.parametrize("estimator", ESTIMATORS)
    def test_all_of_them(self, estimator, scaling, strength):
        given = {"entropy_weight": strength} if estimator is MultiKernelPowerKMeans else {}
        views = [("rbf", [0, 1]), ("linear", [2, 3])]
        model = estimator(3, kernels=views, kernel_scaling=scaling, random_state=0, **given)
        rows = np.full((30, 4), 2.5)
        with pytest.warns(ConvergenceWarning, match=r"distinct clusters \(1\) found smaller"):
            model.fit(rows)
        assert_array_equal(model.labels_, np.zeros(30))
        assert model.inertia_ == pytest.approx(0, abs=1e-9)
        assert np.isfinite(model.objective_history_).all()
        assert_array_equal(model.predict(rows), model.labels_)
        assert np.isfinite(model.kernel_weights_).all()
        if estimator is not RMKKM:
            assert model.kernel_weights_.sum() == pytest.approx(1)


class TestKernelsThatAreNone:
    @pytest.mark.parametrize("cache_kernel", [True, False])
    @estimators
    def test_indefinite_ones_bring_a_warning_that_names_them(self, estimator, cache_kernel):
        kernels = ["rbf", "linear", indefinite]
        model = estimator(3, kernels=kernels, cache_kernel=cache_kernel, random_state=0)
        # What follows is no longer sure to descend, or to end.
        with pytest.warns(UserWarning, match="indefinite: .*not positive semi-definite") as caught:
            model.fit(X)
        message = next(str(w.message) for w in caught if "semi-definite" in str(w.message))
        assert "kernels[2]" in message
        reported = float(re.search(r"smallest eigenvalue (\S+?),", message)[1])
        spectrum = np.linalg.eigvalsh(oracle.centred(indefinite(X, X)))
        assert reported == pytest.approx(spectrum[0], abs=3e-3 * np.ptp(spectrum))
        assert np.isfinite(model.inertia_)
        assert_array_equal(model.predict(X), model.labels_)

    def test_the_name_is_that_of_the_item_also_after_a_family(self):
        model = MultiKernelPowerKMeans(3, kernels=["widths", indefinite], random_state=0)
        with pytest.warns(UserWarning, match="not positive semi-definite") as caught:
            model.fit(X)
        messages = [str(w.message) for w in caught if "semi-definite" in str(w.message)]
        # As in the messages that refuse an item.
        assert "kernels[1]" in messages[0]

    def test_positive_ones_bring_none(self):
        kernels = ["widths", "du2015", "cosine", ("geodesic", [0, 1]), lambda A, B: A @ B.T]
        MultiKernelPowerKMeans(3, kernels=kernels, random_state=0).fit(X)

    @pytest.mark.parametrize("cache_kernel", [True, False])
    @pytest.mark.parametrize(
        ("kernel", "message"),
        [
            (lambda A, B: np.ones(len(A)), r"the callable returned an array of shape"),
            (lambda A, B: np.full((len(A), len(B)), np.nan), "the callable returned NaN"),
        ],
        ids=["shape", "nan"],
    )
    def test_wrong_answers_of_a_callable_are_refused(self, kernel, message, cache_kernel):
        model = MultiKernelPowerKMeans(3, kernels=["rbf", kernel], cache_kernel=cache_kernel)
        with pytest.raises(ValueError, match=message):
            model.fit(X)

    def test_a_kernel_that_overflows_is_refused(self):
        model = MultiKernelPowerKMeans(3, kernels=["rbf", {"kernel": "poly", "degree": 3000}])
        with pytest.raises(ValueError, match=r"kernel='poly' .* NaN or infinite"):
            model.fit(X)

    @pytest.mark.parametrize("scaling", ["cosine", "min-max"])
    def test_kernels_with_negative_diagonals_cannot_be_normalized(self, scaling):
        kernels = ["rbf", lambda A, B: A @ B.T - 3.0]
        model = MultiKernelPowerKMeans(3, kernels=kernels, kernel_scaling=scaling)
        with pytest.raises(ValueError, match=r"k\(x, x\) = -\S+ for row \d+; it can only be norm"):
            model.fit(X)


class TestDullData:
    @pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
    @pytest.mark.parametrize("n_swaps", [0, "auto"])
    @pytest.mark.parametrize("strength", [0, 2.0])
    def test_fewer_distinct_rows_than_clusters(self, n_swaps, strength):
        rows = np.repeat(data.cloud(3, 4), 20, axis=0)
        views = [("rbf", [0, 1]), ("linear", [2, 3])]
        model = MultiKernelPowerKMeans(
            5, kernels=views, entropy_weight=strength, n_swaps=n_swaps, random_state=0
        )
        model.fit(rows)
        assert oracle.same_partition(model.labels_, np.repeat(np.arange(3), 20))
        assert model.inertia_ == pytest.approx(0, abs=1e-9)
        assert np.isfinite(model.objective_history_).all()

    def test_one_cluster(self):
        model = MultiKernelPowerKMeans(1, kernels=["rbf", "linear"], random_state=0).fit(X)
        # Scaled to unit variance all kernels cost the same.
        assert_allclose(model.kernel_weights_, 0.5, rtol=1e-9)
        assert model.inertia_ == pytest.approx(60)
        assert model.objective_history_[-1] == pytest.approx(60)

    def test_as_many_clusters_as_rows(self):
        model = MultiKernelPowerKMeans(12, kernels=["rbf", "linear"], random_state=0).fit(X[:12])
        assert len(np.unique(model.labels_)) == 12
        assert model.inertia_ == pytest.approx(0, abs=1e-9)


def test_matrices_in_place_of_kernels_are_refused_with_the_remedy():
    K = oracle.rbf(X, X, 0.3)
    refused(MultiKernelPowerKMeans(3, kernels=[K, K]), r"kernels\[0\].* kernels='precomputed'")


def test_a_selector_that_fails_is_named():
    kernels = ["rbf", ("rbf", make_column_selector(dtype_include=float))]
    refused(MultiKernelPowerKMeans(3, kernels=kernels), r"kernels\[1\].*make_column_selector")


def test_a_kernel_that_overflows_is_named():
    kernels = ["rbf", {"kernel": "poly", "gamma": 1.0, "degree": 300}]
    model = MultiKernelPowerKMeans(3, kernels=kernels)
    with (
        np.errstate(all="ignore"),
        warnings.catch_warnings(action="ignore"),
        pytest.raises(ValueError, match=r"kernels\[1\], poly: .*NaN or infinite"),
    ):
        model.fit(100 * X)


@pytest.mark.parametrize("estimator", [MKKM, RMKKM])
def test_a_run_cut_short_is_told_what_helps_and_no_more(estimator):
    with pytest.warns(
        ConvergenceWarning, match=r"fell by more than tol=.*raise max_iter or tol\.$"
    ):
        estimator(3, max_iter=1, random_state=0).fit(X)


@pytest.mark.parametrize("library", ["pandas", "polars"])
@pytest.mark.parametrize(
    "columns", [["width", "heigth"], "heigth", slice("heigth", None), np.array(["heigth"])]
)
def test_names_of_columns_are_suggested(library, columns):
    table = pytest.importorskip(library).DataFrame({"height": X[:, 0], "width": X[:, 1]})
    model = MultiKernelPowerKMeans(2, kernels=[("rbf", columns)])
    with pytest.raises(ValueError, match=r"are not in X: .*\. Did you mean 'height'\?$"):
        model.fit(table)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ([X, X[:, :2]], ["(60, 4), (60, 2)", "np.hstack(X)", '("heat", slice(4, 6))']),
        ({"a": X}, ["a dict of", "np.hstack(list(X.values()))", '[("heat", slice(0, 4))]']),
        ([X @ X.T] * 2, ["(60, 60)", "np.stack(X) with kernels='precomputed'"]),
        (np.stack([X @ X.T] * 2), ["(60, 60)", "np.stack(X) with kernels='precomputed'"]),
    ],
)
def test_matrices_are_told_to_be_one(given, words):
    with pytest.raises(ValueError, match="X must be one matrix") as raised:
        MultiKernelPowerKMeans(2).fit(given)
    assert all(word in str(raised.value) for word in words)
    assert ("precomputed" in str(raised.value)) == ("(60, 60)" in words)
