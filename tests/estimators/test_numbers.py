"""Rows far from zero, numbers that overflow, and what is refused instead of fitted."""

import pickle
from functools import partial

import numpy as np
import pytest
import scipy.sparse

import data
import oracle
from kernelmeans import KernelKMeans, KernelPowerKMeans, MultiKernelPowerKMeans, PowerKMeans
from kernelmeans.baselines import MKKM, RKKM, RMKKM
from kernelmeans.rows import open_rows

X, Y = data.blobs(90, 2, 3)


def overlap(A, B):
    return A @ B.T


class TestFarFromZero:
    @pytest.mark.parametrize("offset", [1e5, 1e8, 1e9])
    @pytest.mark.parametrize(
        "given",
        [
            {},
            {"cache_kernel": False, "approximation": None},
            {"approximation": "landmarks"},
            {"approximation": "rpcholesky", "n_components": 40},
            {"approximation": "rff", "n_components": 400},
            {"gamma": "median"},
            {"kernel": "laplacian"},
        ],
        ids=str,
    )
    def test_kernels_of_distances_are_exact(self, given, offset):
        # On a grid that the offset does not coarsen.
        rows = np.round(X * 2**20) / 2**20
        near, far = (
            KernelPowerKMeans(3, **{"kernel": "rbf", **given}, random_state=0).fit(rows + shift)
            for shift in (0, offset)
        )
        assert oracle.same_partition(far.labels_, Y)
        assert far.inertia_ == pytest.approx(near.inertia_, rel=1e-5)
        np.testing.assert_array_equal(far.labels_, far.predict(rows + offset))

    @pytest.mark.parametrize("kernels", ["widths", "du2015", "neighbors"])
    def test_so_are_families(self, kernels):
        family = MultiKernelPowerKMeans(3, kernels=kernels, kernel_scaling=None, random_state=0)
        assert oracle.same_partition(family.fit(X + 1e6).labels_, Y)

    @pytest.mark.filterwarnings("ignore:Number of distinct", "ignore:X. the rows of a cluster")
    @pytest.mark.parametrize("dtype", ["float32", "float64"])
    def test_sparse_rows_that_lose_their_digits_bring_a_warning(self, dtype):
        offset = 1e4 if dtype == "float32" else 1e9
        rows = scipy.sparse.csr_array((X + offset).astype(dtype))
        for model in (
            PowerKMeans(3, random_state=0),
            KernelPowerKMeans(3, kernel="rbf", random_state=0),
        ):
            with pytest.warns(UserWarning, match=r"sparse.* far from zero .*toarray"):
                model.fit(rows)

    @pytest.mark.filterwarnings("ignore:Number of distinct")
    @pytest.mark.parametrize("model", [PowerKMeans(3), MultiKernelPowerKMeans(3)])
    def test_rows_of_little_weight_do_not_hide_them(self, model):
        near, far = X + 1e9, X + 1e9 * np.arange(len(X))[:, None]
        rows = scipy.sparse.csr_array(np.r_[near, far])
        weight = np.r_[np.ones(len(near)), np.full(len(far), 1e-20)]
        with pytest.warns(UserWarning, match=r"sparse.* far from zero .*toarray"):
            model.fit(rows, sample_weight=weight)

    def test_nor_does_one_bring_a_warning_of_rows_without_weight(self):
        weight = np.r_[np.ones(len(X)), np.zeros(len(X))]
        rows = scipy.sparse.csr_array(np.r_[X, X + 1e9])
        PowerKMeans(3, random_state=0).fit(rows, sample_weight=weight)

    def test_others_bring_none(self):
        PowerKMeans(3, random_state=0).fit(scipy.sparse.csr_array(X + 10))
        KernelPowerKMeans(3, kernel="laplacian").fit(scipy.sparse.csr_array(X + 1e8))


def pairs_of_groups(gap):
    """Three pairs of groups. Those of a pair lie close together, beside the distances of pairs."""
    rng = np.random.default_rng(0)
    places = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    labels = np.repeat(np.arange(6), 30)
    places = np.concatenate([places, places + np.array([0, gap])])
    return places[labels] + 0.05 * gap * rng.standard_normal((180, 2)), labels


def with_a_far_row(distance):
    rows, labels = data.blobs(90, 2, 3)
    return np.r_[rows, [[distance, 0.0]]], np.r_[labels, 3]


def parallel(copies):
    """Rows that are equal but for a factor."""
    return np.repeat(data.cloud(4, 3), copies, axis=0) * (1 + np.arange(4 * copies)[:, None])


BEYOND_SINGLE = {
    "pairs": pairs_of_groups(1e-3),
    "closer pairs": pairs_of_groups(1e-4),
    "a far row": with_a_far_row(1e5),
}
#: Kernels of squared distances, of which float32 cannot hold small ones beside large ones.
OF_SQUARES = {
    "linear": lambda k: PowerKMeans(k, random_state=0),
    "hard": lambda k: KernelKMeans(k, kernel="linear", random_state=0),
    "rbf": lambda k: KernelPowerKMeans(k, kernel="rbf", random_state=0),
    "recomputed": lambda k: KernelPowerKMeans(
        k, kernel="rbf", approximation=None, cache_kernel=False, random_state=0
    ),
    "landmarks": lambda k: KernelPowerKMeans(
        k, kernel="rbf", approximation="landmarks", random_state=0
    ),
    "views": lambda k: MultiKernelPowerKMeans(k, kernels=["linear", "rbf"], random_state=0),
}


class TestSinglePrecision:
    @pytest.mark.parametrize("name", BEYOND_SINGLE)
    @pytest.mark.parametrize("kind", OF_SQUARES)
    def test_distances_that_it_hides_bring_a_warning(self, kind, name):
        rows, labels = BEYOND_SINGLE[name]
        model = OF_SQUARES[kind](labels.max() + 1)
        assert oracle.same_partition(model.fit(rows).labels_, labels)
        with pytest.warns(UserWarning, match=r"float32.* pass X\.astype") as caught:
            model.fit(rows.astype("f4"))
        # The rows are no duplicates.
        assert len(caught) == 1

    @pytest.mark.parametrize("gap", [1e-3, 1e-4])
    @pytest.mark.parametrize("given", [{"kernel": "laplacian"}, {"kernel": "heat"}], ids=str)
    def test_other_kernels_need_no_squares(self, given, gap):
        rows, labels = pairs_of_groups(gap)
        model = KernelPowerKMeans(6, random_state=0, **given).fit(rows.astype("f4"))
        assert oracle.same_partition(model.labels_, labels)

    def test_kernel_matrices_are_looked_at_too(self):
        rows, _ = pairs_of_groups(1e-3)
        rows = rows - rows.mean(axis=0)
        K = (rows @ rows.T).astype("f4")
        with pytest.warns(UserWarning, match=r"float32.* pass X\.astype"):
            KernelPowerKMeans(6, kernel="precomputed", random_state=0).fit(K)

    @pytest.mark.parametrize(
        "rows",
        [
            np.repeat(data.cloud(6, 3), 20, axis=0),
            np.random.default_rng(0).integers(0, 3, (60, 2)) * np.array([0.1, 10]),
            np.eye(6)[np.arange(60) % 6],
            1e4 + data.cloud(90, 2),
            np.exp(3 * data.cloud(90, 3)),
        ],
        ids=["copies", "categories", "indicators", "far from zero", "skewed"],
    )
    @pytest.mark.parametrize("kind", OF_SQUARES)
    def test_ordinary_rows_bring_none(self, kind, rows):
        OF_SQUARES[kind](6).fit(rows.astype("f4"))

    @pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_array])
    def test_nor_do_rows_that_the_kernel_calls_equal(self, form):
        rows = form(parallel(20).astype("f4"))
        for kernel in ("cosine", "geodesic"):
            KernelPowerKMeans(4, kernel=kernel, random_state=0).fit(rows)

    def test_nor_do_rows_without_weight(self):
        rows = np.repeat(data.cloud(3, 3), 20, axis=0)
        weight = np.tile([0, 1], 30)
        rows[weight == 0] += 1e-4
        PowerKMeans(3, random_state=0).fit(rows.astype("f4"), sample_weight=weight)

    def test_rows_on_disk_are_looked_at_too(self, tmp_path):
        rows, _ = BEYOND_SINGLE["pairs"]
        np.save(tmp_path / "rows.npy", rows.astype("f4"))
        model = PowerKMeans(6, random_state=0, memory_budget=5000)
        with pytest.warns(UserWarning, match=r"float32.* pass X\.astype"):
            model.fit(open_rows(tmp_path / "rows.npy"))

    def test_copies_are_still_called_copies(self):
        rows = np.repeat(data.cloud(3, 3), 20, axis=0).astype("f4")
        with pytest.warns(UserWarning, match="Possibly due to duplicate points"):
            PowerKMeans(5).fit(rows)


class TestOverflow:
    @pytest.mark.parametrize(
        "rows",
        [
            np.float32([[1.2e19], [-1.2e19], [6e18], [1.1e19], [-8e18]]),
            *(scale * data.cloud(20, 1) for scale in (9e153, 1e154, 1.2e154)),
        ],
    )
    @pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_array])
    def test_rows_whose_distances_overflow_are_refused(self, rows, form):
        for model in (PowerKMeans(2), KernelPowerKMeans(2, kernel="linear", approximation=None)):
            with pytest.raises(ValueError, match=r"scale the columns of X"):
                model.fit(form(rows))

    @pytest.mark.parametrize("gamma", ["rms", "median", "scale"])
    def test_so_are_those_that_have_no_width(self, gamma):
        with pytest.raises(ValueError, match=r"overflow .*; scale its columns|NaN or infinite"):
            KernelPowerKMeans(2, kernel="rbf", gamma=gamma).fit(1e200 * data.cloud(20, 2))

    @pytest.mark.parametrize(
        "model", [KernelPowerKMeans(2, kernel="rbf"), PowerKMeans(2), RKKM(2), RMKKM(2)]
    )
    @pytest.mark.parametrize("unit", [1e200, 1e308, 1e-200])
    def test_weights_whose_squares_overflow_are_refused(self, model, unit):
        with pytest.raises(ValueError, match=r"sample_weight: the sum of all weights .* divide"):
            model.fit(X, sample_weight=np.arange(1, 91) / 90 * unit)

    @pytest.mark.parametrize("approximation", [None, "rpcholesky"])
    @pytest.mark.parametrize("scale", [1e150, 1e300, 1e306])
    def test_kernel_matrices_are_refused_or_fitted(self, approximation, scale):
        K = scale * np.exp(-((X[:, None] - X) ** 2).sum(-1))
        model = KernelPowerKMeans(
            3, kernel="precomputed", approximation=approximation, n_components=9, random_state=0
        )
        if scale == 1e306:
            with pytest.raises(ValueError, match=r"sums of such numbers overflow in float64"):
                model.fit(K)
        else:
            assert np.isfinite(model.fit(K).inertia_)
            assert oracle.same_partition(model.labels_, Y)

    @pytest.mark.filterwarnings("ignore:kernel='poly'")
    @pytest.mark.parametrize("approximation", [None, "landmarks"])
    def test_coordinates_without_a_kernel_are_refused(self, approximation):
        model = KernelPowerKMeans(
            2,
            kernel="poly",
            degree=2.5,
            gamma=1.0,
            coef0=0.0,
            init=[[-1.0, 0.0], [1.0, 1.0]],
            approximation=approximation,
            n_components=20,
        )
        with pytest.raises(ValueError, match="init: kernel values between these coordinates"):
            model.fit(np.abs(X))

    @pytest.mark.filterwarnings("ignore:kernel='poly'")
    @pytest.mark.parametrize(
        ("given", "row"),
        [
            ({"kernel": "poly", "degree": 2.5, "coef0": 0.0}, [-1.0, 0.0]),
            ({"kernel": "poly"}, [1e200, 0.0]),
            ({"kernel": "linear"}, [1e300, 0.0]),
            ({"kernel": "linear", "approximation": None}, [1e300, 0.0]),
        ],
    )
    def test_new_rows_without_a_kernel_are_refused(self, given, row):
        model = KernelPowerKMeans(2, random_state=0, **given).fit(np.abs(X))
        rows = np.array([[1.0, 1.0], row])
        for answer in (model.transform, model.score):
            with pytest.raises(ValueError, match=r"NaN or infinite in float64 between 1 of 2 rows"):
                answer(rows)
        if given["kernel"] == "poly":
            with pytest.raises(ValueError, match=r"between 1 of 2 rows"):
                model.predict(rows)

    def test_a_row_infinitely_far_away_in_the_data_is_near_to_something_by_a_gaussian(self):
        model = KernelPowerKMeans(2, kernel="rbf", random_state=0).fit(X)
        assert np.isfinite(model.transform([[1e300, 0.0]])).all()

    def test_a_fit_that_fails_leaves_the_model_as_it_was(self):
        class Odd:
            def __call__(self, A, B):
                raise ZeroDivisionError

        model = MultiKernelPowerKMeans(3, kernels=["rbf", "linear"], random_state=0).fit(X)
        before = {name: value for name, value in vars(model).items() if name != "kernels"}
        with pytest.raises(ZeroDivisionError):
            model.set_params(kernels=[Odd(), Odd(), Odd()]).fit(np.hstack([X, X]))
        after = {name: value for name, value in vars(model).items() if name != "kernels"}
        assert after.keys() == before.keys()
        assert all(after[name] is before[name] for name in before)
        np.testing.assert_array_equal(model.predict(X), model.labels_)
        fresh = KernelPowerKMeans(2, kernel=Odd())
        with pytest.raises(ZeroDivisionError):
            fresh.fit(X)
        assert not hasattr(fresh, "n_features_in_")


#: Numbers whose squares vanish, or nearly.
TINY = pytest.mark.parametrize(
    ("dtype", "scale"), [("f4", 1e-22), ("f4", 1e-30), ("f8", 1e-158), ("f8", 1e-170)]
)
POWER = {"kernel": "poly", "coef0": 0.0, "degree": 2}


class TestUnderflow:
    @TINY
    @pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_array])
    @pytest.mark.parametrize(
        "model",
        [
            PowerKMeans(3),
            KernelPowerKMeans(3, kernel="linear"),
            KernelPowerKMeans(3, kernel="sigmoid", coef0=0.0),
            *(
                KernelPowerKMeans(3, approximation=approximation, **POWER)
                for approximation in (None, "landmarks", "rpcholesky")
            ),
            MultiKernelPowerKMeans(3, kernels=["linear"]),
            MultiKernelPowerKMeans(3, kernels=[POWER], kernel_scaling="cosine"),
            MultiKernelPowerKMeans(3, kernels="du2015"),
        ],
        ids=str,
    )
    def test_rows_whose_distances_vanish_are_refused(self, model, form, dtype, scale):
        with pytest.raises(ValueError, match=r"multiply the columns of X .*float64|underflow"):
            model.fit(form((scale * X).astype(dtype)))

    @pytest.mark.parametrize("model", [PowerKMeans(3), KernelPowerKMeans(3, kernel="linear")])
    @pytest.mark.parametrize("dtype", ["f4", "f8"])
    def test_so_are_rows_close_together_by_a_vanishing_distance(self, model, dtype):
        tiny = float(np.finfo(dtype).tiny) ** 0.5 / 100
        with pytest.raises(ValueError, match="multiply the columns of X"):
            model.fit((tiny * (X + 100)).astype(dtype))

    @TINY
    @pytest.mark.parametrize("given", [{}, {"approximation": "rpcholesky"}])
    def test_kernel_matrices_too(self, given, dtype, scale):
        K = ((X @ X.T).astype(dtype) * np.dtype(dtype).type(scale)) * np.dtype(dtype).type(scale)
        K[0, 0] = K[0, 0] or np.nextafter(0, 1, dtype=dtype)
        with pytest.raises(ValueError, match="multiply the columns of X or the kernel matrix"):
            KernelPowerKMeans(3, kernel="precomputed", **given).fit(K)

    @pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_array])
    @pytest.mark.parametrize("gamma", ["rms", "median", "scale"])
    def test_so_are_those_that_have_no_width(self, gamma, form):
        model = KernelPowerKMeans(3, kernel="rbf", gamma=gamma)
        with pytest.raises(ValueError, match=r"underflow; scale its columns"):
            model.fit(form(1e-170 * X))

    @TINY
    @pytest.mark.parametrize(
        "given",
        [
            {"kernel": "laplacian", "gamma": "median"},
            {"kernel": "cosine"},
            {"kernel": "heat"},
            {"kernel": "heat", "approximation": "landmarks"},
        ],
        ids=str,
    )
    @pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_array])
    def test_kernels_without_squares_need_none(self, given, form, dtype, scale):
        model = KernelPowerKMeans(3, random_state=0, **given)
        plain = model.fit_predict(form(X.astype(dtype)))
        small = model.fit_predict(form((X * scale).astype(dtype)))
        assert oracle.same_partition(plain, small)

    @pytest.mark.filterwarnings("ignore:Number of distinct")
    @pytest.mark.parametrize("value", [0, 1e-30, 1e-12, 0.3])
    @pytest.mark.parametrize("dtype", ["f4", "f8"])
    @pytest.mark.parametrize("kernel", ["linear", "rbf", "laplacian"])
    def test_rows_may_be_equal(self, kernel, dtype, value):
        rows = np.full((30, 2), value, dtype)
        assert KernelPowerKMeans(3, kernel=kernel).fit(rows).inertia_ <= 1e-6 * value**2
        assert KernelPowerKMeans(1, kernel="linear").fit(scipy.sparse.csr_array(0 * rows))
        KernelPowerKMeans(3, kernel="precomputed").fit(np.zeros((30, 30), dtype))

    @pytest.mark.filterwarnings("ignore:.*semi-definite:UserWarning")
    def test_an_indefinite_kernel_may_be_nearly_constant(self):
        """Its negative residuals make all squared norms 0, and no feature vanishes."""
        X = np.random.default_rng(8).normal(size=(50, 3)) + 3
        model = KernelPowerKMeans(
            2,
            kernel=lambda A, B: np.tanh(A @ B.T - 1),
            approximation="rpcholesky",
            n_components=5,
            random_state=0,
        )
        assert (model.fit(X).predict(X) == model.labels_).all()

    def test_one_column_may_vanish_beside_another(self):
        rows = np.c_[X, 1e-200 * X[:, 0]]
        for kernel in ("linear", "rbf"):
            assert oracle.same_partition(
                KernelPowerKMeans(3, kernel=kernel, random_state=0).fit_predict(rows), Y
            )


@pytest.mark.parametrize("approximation", [None, "landmarks", "rpcholesky"])
def test_a_kernel_that_is_not_defined_between_rows_is_refused(approximation):
    kernel = {"kernel": "poly", "degree": 2.5, "coef0": 0.0, "n_components": 0.9}
    model = KernelPowerKMeans(3, approximation=approximation, random_state=0, **kernel)
    with pytest.raises(ValueError, match=r"kernel='poly' .* is NaN or infinite"):
        model.fit(data.cloud(60, 2))


@pytest.mark.parametrize("kernel", ["linear", "rbf", "laplacian", "precomputed", overlap])
def test_starting_weights_may_be_square(kernel):
    rows = np.array([[0.0], [1.0], [2.0]])
    model = KernelPowerKMeans(3, kernel=kernel, init=np.eye(3))
    assert len(set(model.fit(rows @ rows.T if kernel == "precomputed" else rows).labels_)) == 3


class TestBounds:
    def test_they_are_none_for_indefinite_kernels(self):
        model = KernelPowerKMeans(3, kernel="sigmoid", random_state=0)
        with pytest.warns(UserWarning, match="not positive semi-definite"):
            model.fit(X)
        assert model.inertia_bounds_ is None
        assert model.approximation_error_ is None

    @pytest.mark.parametrize("estimator", [RKKM, RMKKM, MKKM])
    def test_of_other_objectives_they_are_about_the_means(self, estimator):
        rows = data.cloud(40, 2)
        model = estimator(3, random_state=0).fit(rows)
        cost = oracle.hard_cost(model.kernel_(rows, rows), model.labels_)
        assert model.inertia_bounds_ == pytest.approx((cost, cost), rel=1e-9)
        assert model.inertia_ >= cost * (1 - 1e-12)

    @pytest.mark.filterwarnings("ignore:The best restart did not converge")
    @pytest.mark.parametrize(
        "estimator", [PowerKMeans, KernelPowerKMeans, partial(KernelPowerKMeans, kernel="rbf")]
    )
    def test_low_is_not_above_high_where_the_cost_is_nil(self, estimator):
        for seed in range(15):
            rows = data.cloud(6, 2, seed).repeat(2, axis=0)
            low, high = estimator(6, max_iter=1, random_state=0).fit(rows).inertia_bounds_
            assert 0 <= low <= high


def test_powers_next_to_zero_take_heavy_weights():
    model = PowerKMeans(2, s0=-1e-6, init=[0, 1])
    model.fit([[0.0], [1.0], [2.0], [1e-13]], sample_weight=[1e12, 1, 1, 1])
    assert model.inertia_ == pytest.approx(0.5)
    for dtype in ("float32", "float64"):
        constant = PowerKMeans(3, s0=-1e-6, eta=1, init=[0, 1, 60])
        history = constant.fit(X.astype(dtype)).objective_history_
        assert (np.diff(history) <= 8 * np.finfo(dtype).eps * history[0]).all()


class TestDiagonal:
    def test_it_is_refused_where_it_would_be_passed_over(self):
        model = KernelPowerKMeans(3, kernel="rbf", random_state=0).fit(X)
        for answer in (model.transform, model.score):
            with pytest.raises(ValueError, match="diagonal: it is for precomputed kernels only"):
                answer(X, diagonal=np.ones(90))

    def test_it_is_refused_for_chunks(self):
        da = pytest.importorskip("dask.array")
        K = X @ X.T
        model = KernelPowerKMeans(3, kernel="precomputed", random_state=0).fit(K)
        chunks = da.from_array(K[:10], chunks=(5, 90))
        with pytest.raises(ValueError, match="diagonal: it cannot be used with Dask"):
            model.transform(chunks, diagonal=np.ones(10))


class TestRowsElsewhere:
    def test_an_empty_chunk_has_directions_too(self):
        da = pytest.importorskip("dask.array")
        rows = da.from_array(X + 9, chunks=(30, 2))
        rows = da.concatenate([rows[:60], rows[60:][rows[60:, 0] > 1e9]])
        rows.compute_chunk_sizes()
        assert 0 in rows.chunks[0]
        model = KernelPowerKMeans(2, kernel="geodesic", approximation="landmarks", n_components=9)
        assert len(model.fit(rows).labels_.compute()) == 60

    def test_columns_go_by_the_names_that_there_are(self, tmp_path):
        pl = pytest.importorskip("polars")
        from kernelmeans.rows import open_rows

        pl.DataFrame({"a": X[:, 0], "b": X[:, 1]}).write_parquet(tmp_path / "rows.parquet")
        rows = open_rows(tmp_path / "rows.parquet")
        for a, b in (("a", ["b"]), (slice("a", "a"), slice("b", None)), (0, [1])):
            views = [("rbf", a), ("linear", b)]
            by_name, by_place = (
                MultiKernelPowerKMeans(3, kernels=kernels, random_state=0)
                for kernels in (views, [("rbf", [0]), ("linear", [1])])
            )
            assert by_name.fit(rows).inertia_ == by_place.fit(X).inertia_
        with pytest.raises(ValueError, match=r"no column 'c', only \['a', 'b'\]"):
            MultiKernelPowerKMeans(3, kernels=[("rbf", ["c"])]).fit(rows)

    def test_the_family_of_du_is_refused(self):
        da = pytest.importorskip("dask.array")
        model = MultiKernelPowerKMeans(3, kernels="du2015", approximation="landmarks")
        with pytest.raises(ValueError, match=r"largest distance .* rows in memory"):
            model.fit(da.from_array(X, chunks=(30, 2)))

    def test_set_output_leaves_blocks_alone(self):
        da, pd = pytest.importorskip("dask.array"), pytest.importorskip("pandas")
        model = PowerKMeans(3, random_state=0).fit(X).set_output(transform="pandas")
        found = model.transform(da.from_array(X, chunks=(30, 2)))
        assert isinstance(found, pd.DataFrame)
        np.testing.assert_array_equal(found, model.transform(X))


def test_pickled_models_hold_numpy_arrays_only():
    torch = pytest.importorskip("torch")
    model = KernelPowerKMeans(3, kernel="rbf", random_state=0).fit(torch.asarray(X))
    assert isinstance(model.labels_, torch.Tensor)
    read = pickle.loads(pickle.dumps(model))
    for name in ("labels_", "memberships_"):
        assert type(getattr(read, name)) is np.ndarray
    np.testing.assert_array_equal(read.labels_, model.labels_)


class Growing:
    """Gives a model another attribute while it is pickled, as a fit in another thread would."""

    def __init__(self, model):
        self.model = model

    def __reduce__(self):
        self.model.another_ = 0
        return int, ()


def test_models_can_be_pickled_while_they_are_fitted():
    model = PowerKMeans(3, random_state=0).fit(X)
    model.growing_ = Growing(model)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).labels_, model.labels_)


def test_hard_steps_that_go_in_circles_end():
    A = np.random.default_rng(0).standard_normal((300, 300))
    for seed in range(5):
        model = KernelKMeans(6, kernel="precomputed", n_swaps=0, random_state=seed)
        with pytest.warns(UserWarning, match="not positive semi-definite"):
            model.fit(A + A.T)
        assert model.result_.converged.all()
        assert model.n_iter_ < 100


@pytest.mark.parametrize("kind", [np.asarray, scipy.sparse.csc_array])
def test_new_rows_too_large_for_the_type_of_the_fit(kind):
    model = KernelPowerKMeans(2, kernel="rbf").fit(X.astype(np.float32))
    with pytest.raises(ValueError, match=r"too large for dtype\('float32'\)\.$"):
        model.predict(kind(np.full((1, model.n_features_in_), 1e300)))
