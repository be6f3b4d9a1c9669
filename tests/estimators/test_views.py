"""Views: which columns of X each kernel sees, and what happens to the others."""

import itertools
import pickle
import tracemalloc
import warnings

import numpy as np
import pytest
import scipy.sparse
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.compose import make_column_selector
from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import data
import oracle
from kernelmeans import KernelPowerKMeans, MultiKernelPowerKMeans
from kernelmeans.baselines import MKKM, RMKKM

X, Y = data.blobs(90, 5, 3, spread=1.5)
SEEDS = np.array([2, 31, 47])
#: The columns of the two views that most tests are about.
FIRST, SECOND = [0, 1], [2, 3, 4]
NAMES = list("abcde")


def rbf(columns, gamma=0.05):
    return ({"kernel": "rbf", "gamma": gamma}, columns)


def make(*kernels, **given):
    # Moves may part at a rounding error of the kernels, and take other steps to the same end.
    defaults = {"kernels": list(kernels), "init": SEEDS, "n_swaps": 0, "random_state": 0}
    return MultiKernelPowerKMeans(3, **{**defaults, **given})


def same(one, other):
    assert_array_equal(one.labels_, other.labels_)
    assert one.n_iter_ == other.n_iter_
    assert_allclose(one.kernel_weights_, other.kernel_weights_, rtol=1e-9)
    assert one.inertia_ == pytest.approx(other.inertia_, rel=1e-9)


def reference(columns=(FIRST, SECOND), gamma=0.05, **given):
    """What kernel matrices of these columns give, made without any view."""
    Ks = np.stack([oracle.rbf(X[:, own], X[:, own], gamma) for own in columns])
    return make(kernels="precomputed", **given).fit(Ks)


FORMS = {
    "lists": (FIRST, SECOND),
    "tuples of slices": (slice(0, 2), slice(2, None)),
    "negative slices": (slice(-5, -3), slice(-3, None)),
    "arrays": (np.array(FIRST), np.array(SECOND)),
    "unsigned": (np.array(FIRST, np.uint8), np.array(SECOND, np.uint8)),
    "negative indices": ([-5, -4], [-3, -2, -1]),
    "masks": (np.arange(5) < 2, np.arange(5) >= 2),
    "lists of booleans": ([True, True, False, False, False], [False, False, True, True, True]),
    "callables": (lambda X: [0, 1], lambda X: slice(2, X.shape[1])),
}
TABLE_FORMS = {
    "names": (["a", "b"], ["c", "d", "e"]),
    "slices of names": (slice("a", "b"), slice("c", None)),
    "array of names": (np.array(["a", "b"]), np.array(["c", "d", "e"])),
    "callables by name": (lambda X: list(X.columns[:2]), lambda X: list(X.columns[2:])),
}
#: scikit-learn's selector takes pandas tables only.
PANDAS_FORMS = {"pattern": (make_column_selector("[ab]"), make_column_selector("[cde]"))}


def frame(library, columns=None):
    if library == "pandas":
        pandas = pytest.importorskip("pandas", reason="pandas tables")
        return pandas.DataFrame(columns or dict(zip(NAMES, X.T, strict=True)))
    polars = pytest.importorskip("polars", reason="polars is an extra")
    return polars.DataFrame(columns or dict(zip(NAMES, X.T, strict=True)))


libraries = pytest.mark.parametrize("library", ["pandas", "polars"])


@pytest.mark.slow
class TestForms:
    @pytest.mark.parametrize("form", FORMS)
    @pytest.mark.parametrize("rows", [np.asarray, scipy.sparse.csr_array], ids=["dense", "csr"])
    def test_of_columns_of_a_matrix(self, form, rows):
        first, second = FORMS[form]
        model = make(rbf(first), rbf(second)).fit(rows(X))
        same(model, reference())
        assert_array_equal(model.predict(rows(X)), model.labels_)
        assert model.inertia_ == -model.score(rows(X))

    @pytest.mark.parametrize(
        ("library", "form"),
        [
            *itertools.product(["pandas", "polars"], [*FORMS, *TABLE_FORMS]),
            ("pandas", "pattern"),
        ],
    )
    def test_of_columns_of_a_table(self, library, form):
        first, second = {**FORMS, **TABLE_FORMS, **PANDAS_FORMS}[form]
        table = frame(library)
        model = make(rbf(first), rbf(second)).fit(table)
        same(model, reference())
        assert_array_equal(model.predict(table), model.labels_)
        assert model.inertia_ == -model.score(table)

    @pytest.mark.parametrize("kernel", ["poly", "rbf", "linear"])
    def test_rows_of_any_width_have_the_cost_of_their_fit(self, kernel, rng):
        """Columns lie in memory as they did in the fit, which decides how sums are rounded."""
        X = rng.standard_normal((40, 21))
        view = ({"kernel": kernel}, np.arange(21) % 2 == 0)
        model = MultiKernelPowerKMeans(3, kernels=[view], n_swaps=0, random_state=0).fit(X)
        assert model.inertia_ == -model.score(X)

    def test_by_type_of_column(self):
        pandas = pytest.importorskip("pandas", reason="pandas tables")
        table = pandas.DataFrame(
            {"a": X[:, 0], "word": "w", "b": X[:, 1], "count": np.arange(90) % 7}
        )
        by_type = make(
            rbf(make_column_selector(dtype_include="float")),
            rbf(make_column_selector(dtype_include="int")),
        ).fit(table)
        same(by_type, make(rbf(["a", "b"]), rbf(["count"])).fit(table))
        assert_array_equal(by_type.predict(table), by_type.labels_)

    @pytest.mark.parametrize(
        "columns",
        [
            ([0, 2], [1, 4]),  # not side by side
            ([4, 1, 0], [2, 3]),  # in another order
            ([0, 1, 2, 3], [2, 3, 4]),  # overlapping
            ([0, 1], [0, 1]),  # the same view twice
            ([0, 2, 4], [0, 2, 4]),
            ([3], [1]),
            ([1, 1, 2], [0, 3]),  # a column that counts twice
            (slice(None), [2, 0]),
            (slice(None, None, 2), slice(None, None, -1)),
        ],
        ids=repr,
    )
    @pytest.mark.parametrize("rows", ["dense", "csr", "pandas"])
    def test_any_choice_of_columns(self, columns, rows):
        if rows == "pandas":
            given = frame("pandas")
        else:
            given = scipy.sparse.csr_array(X) if rows == "csr" else X
        model = make(*(rbf(own) for own in columns)).fit(given)
        same(model, reference(columns))
        assert_array_equal(model.predict(given), model.labels_)

    def test_kernels_without_columns_see_them_all(self):
        model = make({"kernel": "rbf", "gamma": 0.05}, rbf(FIRST)).fit(X)
        same(model, reference((slice(None), FIRST)))

    def test_a_family_of_some_columns(self):
        model = make(("widths", FIRST), ("linear", SECOND)).fit(X)
        assert model.kernel_weights_.shape == (6,)
        squared = ((X[:, None, :2] - X[:, :2]) ** 2).sum(-1)
        mean = squared.sum() / (90 * 89)
        Ks = [np.exp(-squared / (2 * m**2 * mean)) for m in (0.25, 0.5, 1, 2, 4)]
        Ks.append(X[:, 2:] @ X[:, 2:].T)
        same(model, make(kernels="precomputed").fit(np.stack(Ks)))

    def test_automatic_widths_are_those_of_the_columns(self):
        scales = np.array([1, 1, 100, 100, 100])
        one = make(("rbf", FIRST), ("rbf", SECOND)).fit(X)
        same(make(("rbf", FIRST), ("rbf", SECOND)).fit(X * scales), one)
        squared = ((X[:, None, 2:] - X[:, 2:]) ** 2).sum(-1)
        assert one.kernel_.kernels[1].parameters["gamma"] == pytest.approx(
            90 * 89 / (2 * squared.sum())
        )

    def test_a_callable_kernel_gets_its_columns(self):
        widths = set()

        def kernel(A, B):
            widths.add((A.shape[1], B.shape[1]))
            return A @ B.T

        model = make((kernel, [0, 3]), ("linear", [0, 3])).fit(X)
        model.predict(X)
        assert widths == {(2, 2)}
        assert_allclose(model.kernel_weights_, 0.5, rtol=1e-9)


@pytest.mark.slow
@given(
    first=st.lists(st.integers(0, 4), min_size=1, max_size=5),
    second=st.lists(st.integers(-5, 4), min_size=1, max_size=5),
    kernel=st.sampled_from(["linear", "cosine"]),
    rows=st.sampled_from([np.asarray, scipy.sparse.csr_array]),
)
def test_explicit_features_of_any_columns(first, second, kernel, rows):
    moved = X + 9
    parts = [moved[:, own] for own in (first, second)]
    if kernel == "cosine":
        # Rows of one column have all the same direction.
        assume(len({c % 5 for c in first}) > 1 and len({c % 5 for c in second}) > 1)
        parts = [own / np.linalg.norm(own, axis=1, keepdims=True) for own in parts]
    expected = make(kernels="precomputed").fit(np.stack([own @ own.T for own in parts]))
    model = make((kernel, first), (kernel, second)).fit(rows(moved))
    assert_array_equal(model.labels_, expected.labels_)
    assert_allclose(model.kernel_weights_, expected.kernel_weights_, rtol=1e-6)
    assert_array_equal(model.predict(rows(moved)), model.labels_)


class TestTables:
    @libraries
    def test_columns_that_no_view_sees_may_hold_anything(self, library):
        columns = {
            "word": ["x", "y", "z"] * 30,
            "a": X[:, 0],
            "hole": np.full(90, np.nan),
            "b": X[:, 1],
            **dict(zip("cde", X[:, 2:].T, strict=True)),
        }
        table = frame(library, columns)
        model = make(rbf(["b", "a"]), rbf(["e", "c", "d"])).fit(table)
        same(model, reference())
        assert_array_equal(model.predict(table), model.labels_)
        assert model.n_features_in_ == 7
        assert model.feature_names_in_.tolist() == list(columns)

    @libraries
    def test_columns_that_a_view_sees_may_not(self, library):
        columns = {"a": X[:, 0], "hole": np.where(np.arange(90) == 4, np.nan, 1.0)}
        with pytest.raises(ValueError, match=r"missing values .* in 'hole' \(1 row\)"):
            make(rbf(["a", "hole"])).fit(frame(library, columns))
        columns = {"a": X[:, 0], "word": ["x", "y", "z"] * 30}
        with pytest.raises(ValueError, match="no numbers in 'word'"):
            make(rbf(["a", "word"])).fit(frame(library, columns))

    @libraries
    def test_names_are_checked_in_predict(self, library):
        table = frame(library)
        model = make(rbf(["a", "b"]), rbf(["c"])).fit(table)
        for method in (model.predict, model.transform, model.score):
            with pytest.raises(ValueError, match="feature names should match"):
                method(table[list("edcba")])
            with pytest.raises(ValueError, match="feature names should match"):
                method(table[list("abc")])
        with pytest.warns(UserWarning, match="X does not have valid feature names"):
            labels = model.predict(X)
        assert_array_equal(labels, model.labels_)

    @pytest.mark.filterwarnings("ignore:X does not have valid feature names")
    @pytest.mark.filterwarnings("ignore:X has feature names, but")
    @libraries
    @pytest.mark.parametrize("fitted_to", ["table", "matrix"])
    def test_a_matrix_of_the_same_columns_is_answered_alike(self, library, fitted_to):
        kinds = {"table": frame(library), "matrix": X}
        model = make(rbf([4, 2]), rbf([1])).fit(kinds[fitted_to])
        for rows in kinds.values():
            assert_array_equal(model.predict(rows), model.labels_)
            assert model.score(rows) == pytest.approx(-model.inertia_, rel=1e-12)

    @pytest.mark.filterwarnings("ignore:X has feature names, but")
    @libraries
    def test_a_second_fit_forgets_the_columns_of_the_first(self, library):
        model = make(rbf([4])).fit(frame(library))
        model.set_params(kernels=[rbf([0, 1])]).fit(X)
        assert_array_equal(model.predict(X), model.labels_)
        assert_array_equal(model.predict(frame(library)), model.labels_)

    def test_a_wrong_number_of_columns_is_refused(self):
        model = make(rbf(FIRST)).fit(X)
        for method in (model.predict, model.transform, model.score):
            with pytest.raises(ValueError, match=r"X has 4 features, but .* is expecting 5"):
                method(X[:, :4])

    @libraries
    def test_starts_at_coordinates_have_all_columns_of_the_table(self, library):
        expected = make(rbf(["e", "d"])).fit(frame(library))
        model = make(rbf(["e", "d"]), init=X[SEEDS]).fit(frame(library))
        assert_array_equal(model.labels_, expected.labels_)
        assert_allclose(model.objective_history_, expected.objective_history_, rtol=1e-8)

    @libraries
    def test_callables_that_start_see_all_columns_of_the_table(self, library):
        shapes = []

        def init(rows, n_clusters, random_state):
            shapes.append(rows.shape)
            return SEEDS

        make(rbf(["e", "d"]), init=init, n_init=1).fit(frame(library))
        assert shapes == [(90, 5)]

    def test_starts_at_coordinates_have_all_columns_of_a_matrix(self):
        expected = make(rbf([4, 3])).fit(X)
        model = make(rbf([4, 3]), init=X[SEEDS]).fit(X)
        assert_array_equal(model.labels_, expected.labels_)
        assert_allclose(model.objective_history_, expected.objective_history_, rtol=1e-8)

    def test_output_is_named(self):
        pandas = pytest.importorskip("pandas", reason="set_output")
        model = make(rbf(["a", "b"])).set_output(transform="pandas")
        table = model.fit_transform(frame("pandas"))
        names = [f"multikernelpowerkmeans{j}" for j in range(3)]
        assert isinstance(table, pandas.DataFrame)
        assert list(table.columns) == names == model.get_feature_names_out().tolist()
        assert_array_equal(table.to_numpy().argmin(axis=1), model.labels_)


@pytest.mark.slow
class TestSparse:
    ROWS = np.where(
        np.random.default_rng(0).uniform(size=(90, 12)) < 0.4, 1.0 + np.tile(X, 3)[:, :12] ** 2, 0
    )
    # No row of either view is zero: it would have no direction.
    ROWS[:, [0, 8]] += 1

    @pytest.mark.parametrize("scaling", ["unit-variance", "cosine", "min-max", None])
    @pytest.mark.parametrize("kernel", ["cosine", "linear", "rbf", "poly"])
    def test_rows_give_what_dense_ones_do(self, kernel, scaling):
        views = [(kernel, slice(0, 7)), (kernel, [11, 8, 9])]
        dense = make(*views, kernel_scaling=scaling).fit(self.ROWS)
        for form in (scipy.sparse.csr_array, scipy.sparse.csr_matrix, scipy.sparse.csc_array):
            rows = form(self.ROWS)
            model = make(*views, kernel_scaling=scaling).fit(rows)
            assert_array_equal(model.labels_, dense.labels_)
            assert_allclose(model.kernel_weights_, dense.kernel_weights_, rtol=1e-7)
            assert model.inertia_ == pytest.approx(dense.inertia_, rel=1e-7)
            assert_array_equal(model.predict(rows), model.labels_)
            assert model.inertia_ == -model.score(rows)
            assert_allclose(model.transform(rows), dense.transform(self.ROWS), atol=1e-6)

    def test_wide_rows_are_never_made_dense(self):
        rng = np.random.default_rng(0)
        y = np.arange(200) % 3
        # 30 words of a text out of the third of the vocabulary that its class prefers.
        words = rng.integers(0, 300, (200, 30)) + 300 * y[:, None]
        words = np.concatenate([words, words + 100_000], axis=1)
        rows = scipy.sparse.csr_array(
            (np.ones(words.size), words.ravel(), np.arange(0, words.size + 1, 60)),
            shape=(200, 200_000),
        )
        views = [("cosine", slice(0, 100_000)), ("cosine", slice(100_000, None))]
        model = MultiKernelPowerKMeans(3, kernels=views, memory_budget="50MB", random_state=0)
        tracemalloc.start()
        model.fit(rows)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert adjusted_rand_score(y, model.labels_) > 0.9
        # Dense rows would take 320 MB; k centroids of all columns take 5 MB.
        assert peak < 100e6
        assert_array_equal(model.predict(rows), model.labels_)

    def test_many_rows_need_no_kernel_matrix(self):
        rows = np.abs(data.cloud(20_000, 4)).astype(np.float32)
        views = [("cosine", [0, 1]), ("linear", [2, 3])]
        model = MultiKernelPowerKMeans(
            3, kernels=views, memory_budget="50MB", eta=2.0, random_state=0
        )
        assert model.fit(rows).labels_.shape == (20_000,)


@pytest.mark.slow
class TestComposition:
    MODEL = make(rbf(FIRST), rbf(SECOND), init="k-means++")

    def test_in_a_pipeline(self):
        steps = make_pipeline(StandardScaler(), clone(self.MODEL).set_params(kernels="widths"))
        rows = X * [1, 100, 0.01, 1, 1]
        labels = steps.fit_predict(rows)
        assert adjusted_rand_score(Y, labels) > 0.9
        assert_array_equal(steps.predict(rows), labels)

    def test_cross_validation(self):
        found = cross_validate(clone(self.MODEL), X, cv=3, return_estimator=True)
        assert (found["test_score"] < 0).all()
        for model in found["estimator"]:
            assert model.labels_.shape == (60,)
        coarse = cross_validate(clone(self.MODEL).set_params(n_clusters=1), X, cv=3)
        assert coarse["test_score"].mean() < found["test_score"].mean()

    @libraries
    def test_cross_validation_of_tables(self, library):
        model = make(rbf(["a", "b"]), rbf(["c", "d", "e"]), init="k-means++")
        by_table = cross_validate(model, frame(library), cv=3)
        by_matrix = cross_validate(clone(self.MODEL), X, cv=3)
        assert_allclose(by_table["test_score"], by_matrix["test_score"], rtol=1e-12)

    def test_grid_search(self):
        rows, y = data.views_with_a_trap(0)
        views = [("rbf", slice(i, min(i + 20, 82))) for i in range(0, 100, 20)]
        search = GridSearchCV(
            MultiKernelPowerKMeans(5, kernels=views, random_state=0),
            {"entropy_weight": [0.0, 2.0], "kernel_scaling": ["unit-variance", "cosine"]},
            scoring=lambda model, X, y: adjusted_rand_score(y, model.predict(X)),
            cv=3,
        ).fit(rows, y)
        assert search.best_params_["entropy_weight"] == 2.0
        assert search.cv_results_["mean_test_score"].min() < 0.1 < search.best_score_

    @libraries
    def test_copies_answer_for_tables(self, library):
        table = frame(library)
        model = make(rbf(["a", "c"]), rbf(["e"])).fit(table)
        other = pickle.loads(pickle.dumps(model))
        assert_array_equal(other.predict(table), model.labels_)
        assert_array_equal(other.transform(table), model.transform(table))

    @pytest.mark.parametrize("estimator", [MKKM, RMKKM])
    @libraries
    def test_baselines_take_the_same_views(self, library, estimator):
        Ks = np.stack([oracle.rbf(X[:, own], X[:, own], 0.05) for own in ([0, 2], [4, 3, 1])])
        given = {"init": SEEDS, "random_state": 0}
        expected = estimator(3, kernels="precomputed", **given).fit(Ks)
        model = estimator(3, kernels=[rbf(["a", "c"]), rbf([4, 3, 1])], **given)
        same(model.fit(frame(library)), expected)


def test_a_sparse_table_with_columns_to_spare_stays_sparse():
    pandas = pytest.importorskip("pandas", reason="pandas tables")
    rows = scipy.sparse.random_array(
        (60, 40), density=0.2, format="csr", rng=np.random.default_rng(0)
    )
    table = pandas.DataFrame.sparse.from_spmatrix(rows, columns=[f"c{j}" for j in range(40)])
    kernels = [
        ("cosine", [f"c{j}" for j in range(3, 20)]),
        ("linear", [f"c{j}" for j in range(35, 20, -1)]),
    ]
    places = [("cosine", slice(3, 20)), ("linear", list(range(35, 20, -1)))]
    by_name = MultiKernelPowerKMeans(3, kernels=kernels, random_state=0).fit(table)
    by_place = MultiKernelPowerKMeans(3, kernels=places, random_state=0).fit(rows)
    np.testing.assert_array_equal(by_name.labels_, by_place.labels_)
    np.testing.assert_array_equal(by_name.predict(table), by_name.labels_)
    read = by_name._input.read(by_name, table, np.float64, reset=False)
    assert scipy.sparse.issparse(read)


@pytest.mark.parametrize("estimator", [MultiKernelPowerKMeans, MKKM, RMKKM])
def test_a_lazy_table_is_read_without_a_warning(estimator):
    polars = pytest.importorskip("polars", reason="polars is an extra")
    X = data.cloud(60, 3)
    model = estimator(2, kernels="widths", random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error", polars.exceptions.PerformanceWarning)
        lazy = clone(model).fit(polars.DataFrame(X, schema=["a", "b", "c"]).lazy())
    assert_array_equal(lazy.labels_, model.fit(X).labels_)


class TestViewsThatFewRowsFill:
    """Their centroids cost nothing, so that they may win over all other views."""

    SITES = np.eye(3)[np.random.default_rng(0).integers(0, 3, 90)]
    SEX = SITES[:, :1]

    def fitted(self, *views, **given):
        stops = np.cumsum([view.shape[1] for view in views]).tolist()
        kernels = [
            (f"view {stop}", "rbf", slice(stop - view.shape[1], stop))
            for stop, view in zip(stops, views, strict=True)
        ]
        model = MultiKernelPowerKMeans(3, kernels=kernels, random_state=0)
        return model.fit(np.hstack(views), **given)

    def test_are_named_beside_others(self):
        found = (
            r"fill kernels\[1\] \('view 8'\) \(3 make up 90 of 90 rows\)\. Such a view may decide"
        )
        with pytest.warns(UserWarning, match=found):
            model = self.fitted(X, self.SITES)
        assert adjusted_rand_score(Y, model.labels_) < 0.6 < self.alone()

    def alone(self):
        return adjusted_rand_score(Y, KernelPowerKMeans(3, random_state=0).fit_predict(X))

    def test_are_harmless_in_a_view_with_other_columns(self):
        model = self.fitted(X, np.hstack([data.cloud(90, 2), self.SEX]))
        assert adjusted_rand_score(Y, model.labels_) > 0.9
        one = KernelPowerKMeans(3, random_state=0).fit(np.hstack([X, self.SITES]))
        assert adjusted_rand_score(Y, one.labels_) > 0.9

    def test_may_be_all_that_there_are(self):
        self.fitted(self.SITES, self.SEX)

    def test_rows_of_weight_zero_do_not_count(self):
        weight = np.where(np.arange(90) < 40, 0, 1)
        alike = np.maximum(np.arange(90.0), 50)[:, None]  # the first 51 rows
        with pytest.warns(UserWarning, match=r"\(1 make up 51 of 90 rows\)"):
            self.fitted(X, alike)
        self.fitted(X, alike, sample_weight=weight)

    def test_rows_that_stand_once_and_constant_views_do_not_count(self):
        twice = np.concatenate([np.arange(89.0), [0.0]])[:, None]
        MultiKernelPowerKMeans(
            60, kernels=[("rbf", slice(0, X.shape[1])), ("rbf", [X.shape[1]])], random_state=0
        ).fit(np.hstack([X, twice]))
        with pytest.warns(UserWarning, match="Constant on these data"):
            self.fitted(self.SITES, np.ones((90, 1)))


def test_views_of_many_columns_are_told_apart():
    wide = np.random.default_rng(0).normal(size=(40, 2002))
    places = np.arange(0, 2002, 2)
    other = places.copy()
    other[500] += 1  # the text of both indices is the same
    kernels = [("linear", places), ("linear", other), ("linear", places)]
    factors = MultiKernelPowerKMeans(2, kernels=kernels, random_state=0).fit(wide).kernel_factors_
    assert factors[0] == factors[2] != factors[1]
