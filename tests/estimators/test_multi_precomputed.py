"""A stack of kernel matrices as input, and rows of kernel values in predict."""

import pickle
import re
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.utils import get_tags

import data
import oracle
from kernelmeans import MultiKernelPowerKMeans
from kernelmeans.baselines import MKKM, RMKKM

pytestmark = pytest.mark.slow

X = data.cloud(70, 3)
NEW = data.cloud(20, 3, seed=1)
SEEDS = np.array([2, 31, 47, 63])


def poly(A, B):
    return (A @ B.T + 1.0) ** 2


def stack(rows=X, columns=X):
    """Three kernels, of which the last two have no constant diagonal."""
    return np.stack([oracle.rbf(rows, columns, 0.3), rows @ columns.T, poly(rows, columns)])


def diagonals(rows):
    return np.stack([np.diagonal(K) for K in stack(rows, rows)])


#: The same kernels of rows, to compare with.
KERNELS = [
    {"kernel": "rbf", "gamma": 0.3},
    "linear",
    {"kernel": "poly", "degree": 2, "gamma": 1.0, "coef0": 1.0},
]
ESTIMATORS = {
    "annealed": lambda **given: MultiKernelPowerKMeans(4, **given),
    "mkkm": lambda **given: MKKM(4, **given),
    "rmkkm": lambda **given: RMKKM(4, **given),
}
estimators = pytest.mark.parametrize("name", ESTIMATORS)
scalings = pytest.mark.parametrize("scaling", ["unit-variance", "cosine", "min-max", None])


def make(name="annealed", **given):
    settings = {"kernels": "precomputed", "init": SEEDS, "random_state": 0, **given}
    return ESTIMATORS[name](**settings)


@estimators
@scalings
@pytest.mark.parametrize("cache_kernel", [True, False])
def test_it_gives_what_its_kernels_give(name, scaling, cache_kernel):
    given = {"kernel_scaling": scaling, "cache_kernel": cache_kernel}
    by_matrix = make(name, **given).fit(stack())
    by_rows = make(name, kernels=KERNELS, **given).fit(X)
    assert_array_equal(by_matrix.labels_, by_rows.labels_)
    assert_allclose(by_matrix.kernel_weights_, by_rows.kernel_weights_, rtol=1e-6)
    assert_allclose(by_matrix.kernel_factors_, by_rows.kernel_factors_, rtol=1e-8)
    assert by_matrix.inertia_ == pytest.approx(by_rows.inertia_, rel=1e-7)
    rows, own = stack(NEW, X), diagonals(NEW)
    distances = by_matrix.transform(rows, diagonal=own)
    assert distances.shape == (20, 4)
    assert_allclose(distances, by_rows.transform(NEW), rtol=1e-6)
    assert by_matrix.score(rows, diagonal=own) == pytest.approx(by_rows.score(NEW), rel=1e-7)
    assert by_matrix.score(rows, diagonal=own.tolist()) == by_matrix.score(rows, diagonal=own)


@estimators
@pytest.mark.parametrize("scaling", ["unit-variance", None])
def test_labels_of_new_rows_need_no_diagonal(name, scaling):
    by_matrix = make(name, kernel_scaling=scaling).fit(stack())
    by_rows = make(name, kernels=KERNELS, kernel_scaling=scaling).fit(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        labels = by_matrix.predict(stack(NEW, X))
    assert_array_equal(labels, by_rows.predict(NEW))


@scalings
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("cache_kernel", [True, False])
def test_labels_and_cost_are_those_of_predict_and_score(scaling, dtype, cache_kernel):
    Ks = stack().astype(dtype)
    weight = np.random.default_rng(0).uniform(0.1, 3, 70)
    model = make(kernel_scaling=scaling, cache_kernel=cache_kernel).fit(Ks, sample_weight=weight)
    assert_array_equal(model.predict(Ks), model.labels_)
    assert model.inertia_ == -model.score(Ks, sample_weight=weight)
    assert model.transform(Ks).dtype == dtype


@scalings
def test_training_rows_are_known_in_any_order(scaling):
    Ks = stack()
    model = make(kernel_scaling=scaling).fit(Ks)
    order = np.random.default_rng(0).permutation(70)[:30]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        got = model.transform(Ks[:, order])
        assert_array_equal(model.predict(Ks[:, order]), model.labels_[order])
    assert_allclose(got, model.transform(Ks)[order], rtol=1e-12, atol=1e-12)


def test_an_unknown_diagonal_is_taken_to_be_the_mean_with_a_warning():
    model = make().fit(stack())
    rows = stack(NEW, X)
    mean = np.repeat(diagonals(X).mean(axis=1)[:, None], 20, axis=1)
    for method in (model.transform, model.score):
        with pytest.warns(UserWarning, match=r"not constant; its mean is used. Pass diagonal="):
            got = method(rows)
        assert_allclose(got, method(rows, diagonal=mean), rtol=1e-12)


def test_a_constant_diagonal_is_that_of_new_rows():
    Ks = np.stack([oracle.rbf(X, X, gamma) for gamma in (0.1, 0.5)])
    rows = np.stack([oracle.rbf(NEW, X, gamma) for gamma in (0.1, 0.5)])
    kernels = [{"kernel": "rbf", "gamma": gamma} for gamma in (0.1, 0.5)]
    for scaling in ("unit-variance", "min-max"):
        model = make(kernel_scaling=scaling).fit(Ks)
        expected = make(kernels=kernels, kernel_scaling=scaling).fit(X)
        assert_allclose(model.transform(rows), expected.transform(NEW), atol=1e-7)
        assert_array_equal(model.predict(rows), expected.predict(NEW))


def test_labels_of_normalized_new_rows_need_the_diagonal_and_say_so():
    model = make(kernel_scaling="cosine").fit(stack())
    with pytest.warns(UserWarning, match=r"k\(x, x\) of new rows is unknown"):
        labels = model.predict(stack(NEW, X))
    mean = np.repeat(diagonals(X).mean(axis=1)[:, None], 20, axis=1)
    expected = model.transform(stack(NEW, X), diagonal=mean).argmin(axis=1)
    assert_array_equal(labels, expected)


@pytest.mark.parametrize("cache_kernel", [True, False])
@scalings
def test_input_is_left_as_it_was(cache_kernel, scaling):
    Ks, own = stack(), diagonals(X)
    model = make(kernel_scaling=scaling, cache_kernel=cache_kernel).fit(Ks)
    model.predict(Ks)
    model.transform(Ks, diagonal=own)
    assert_array_equal(Ks, stack())
    assert_array_equal(own, diagonals(X))


def test_a_model_does_not_change_with_the_array_it_was_fitted_to():
    Ks = stack()
    model = make().fit(Ks)
    before = model.transform(stack())
    Ks[:] = 0
    assert_array_equal(model.transform(stack()), before)


def test_lists_of_matrices_and_a_single_one_are_stacks():
    Ks = stack()
    assert_array_equal(make().fit(list(Ks)).labels_, make().fit(Ks).labels_)
    one = make().fit(Ks[:1])
    assert_array_equal(one.kernel_weights_, [1.0])
    assert_array_equal(one.predict(Ks[:1]), one.labels_)


def test_as_many_kernels_as_rows_is_no_trouble():
    rows = X[:8]
    Ks = np.stack([oracle.rbf(rows, rows, gamma) for gamma in np.linspace(0.1, 1, 8)])
    model = MultiKernelPowerKMeans(3, kernels="precomputed", random_state=0).fit(Ks)
    kernels = [{"kernel": "rbf", "gamma": gamma} for gamma in np.linspace(0.1, 1, 8)]
    expected = MultiKernelPowerKMeans(3, kernels=kernels, random_state=0).fit(rows)
    assert_allclose(model.kernel_weights_, expected.kernel_weights_, rtol=1e-6)
    assert_array_equal(model.labels_, expected.labels_)


def test_copies_answer_the_same_and_hold_no_matrix():
    Ks = np.stack([data.rms_kernel(data.cloud(400, 3, seed)) for seed in range(3)])
    model = MultiKernelPowerKMeans(4, kernels="precomputed", eta=1.5, random_state=0).fit(Ks)
    content = pickle.dumps(model)
    assert len(content) < 0.2 * Ks.nbytes
    other = pickle.loads(content)
    assert_array_equal(other.predict(Ks), model.labels_)
    assert_array_equal(other.transform(Ks[:, :9]), model.transform(Ks[:, :9]))


@estimators
def test_an_indefinite_matrix_is_named(name):
    Ks = stack()
    Ks[2] = -(np.abs(X[:, :1] - X[:, 0]) ** 3)
    with pytest.warns(UserWarning, match=r"X\[2\].*not positive semi-definite"):
        make(name).fit(Ks)


@estimators
def test_tags_tell_what_the_input_is(name):
    tags = get_tags(make(name)).input_tags
    assert (tags.three_d_array, tags.two_d_array) == (True, False)
    assert not tags.sparse
    assert not tags.pairwise
    tags = get_tags(make(name, kernels="widths")).input_tags
    assert (tags.three_d_array, tags.two_d_array, tags.sparse) == (False, True, True)


class TestRefused:
    KS = stack()

    def asymmetric(self):
        Ks = self.KS.copy()
        Ks[1, 0, 3] += 1
        return Ks

    def holed(self, value):
        Ks = self.KS.copy()
        Ks[2, 3, 4] = value
        return Ks

    @estimators
    def test_wrong_shapes(self, name):
        wrong = {
            "2-D": self.KS[0],
            "kernels last": np.moveaxis(self.KS, 0, 2),
            "kernels in the middle": np.moveaxis(self.KS, 0, 1),
            "not square": self.KS[:, :, :-1],
            "4-D": self.KS[None],
        }
        for X_wrong in wrong.values():
            shape = re.escape(str(X_wrong.shape))
            message = rf"kernels='precomputed': X must hold L square .*\(L, n, n\), got.*{shape}"
            with pytest.raises(ValueError, match=message):
                make(name).fit(X_wrong)

    @pytest.mark.parametrize("method", ["predict", "transform", "score"])
    def test_new_values_that_are_not_finite(self, method):
        model = make().fit(self.KS)
        with pytest.raises(ValueError, match=r"Input (X )?contains NaN"):
            getattr(model, method)(self.holed(np.nan))

    def test_an_asymmetric_matrix_is_named(self):
        with pytest.raises(ValueError, match=r"X\[1\] must be a symmetric kernel .* up to 1\."):
            make().fit(self.asymmetric())

    @pytest.mark.parametrize("value", [np.nan, np.inf])
    def test_values_that_are_not_finite(self, value):
        with pytest.raises(ValueError, match=r"Input X contains (NaN|infinity)"):
            make().fit(self.holed(value))

    def test_fewer_rows_than_clusters(self):
        with pytest.raises(ValueError, match="n_samples=3 should be >= n_clusters=4"):
            make().fit(self.KS[:, :3, :3])

    def test_no_matrix_at_all(self):
        with pytest.raises(ValueError, match=r"0 sample|minimum of 1|no kernel"):
            make().fit(np.empty((0, 70, 70)))

    @pytest.mark.parametrize("method", ["predict", "transform", "score"])
    def test_rows_that_do_not_fit(self, method):
        model = make().fit(self.KS)
        rows = stack(NEW, X)
        wrong = {
            "a kernel less": rows[:2],
            "a kernel more": np.concatenate([rows, rows[:1]]),
            "other samples": rows[:, :, :-1],
            "rows first": np.moveaxis(rows, 0, 1),
            "2-D": rows[0],
        }
        for X_wrong in wrong.values():
            shape = re.escape(str(X_wrong.shape))
            with pytest.raises(ValueError, match=rf"X has shape {shape}; .*\(3, .*, 70\) for this"):
                getattr(model, method)(X_wrong)

    @pytest.mark.parametrize(
        ("diagonal", "message"),
        [
            (np.ones((2, 20)), r"diagonal has length 2; .* shape \(3, 20\)"),
            (np.ones((20, 3)), r"diagonal has length 20; .* shape \(3, 20\)"),
            (np.ones((3, 19)), r"diagonal must hold k\(x, x\).*20 rows of X, got shape \(19,\)"),
            (np.full((3, 20), np.nan), r"diagonal must hold k\(x, x\), a finite number"),
            (np.ones(3), r"diagonal must hold k\(x, x\)"),
            (1.0, "diagonal"),
        ],
        ids=["kernels", "transposed", "rows", "nan", "vector", "number"],
    )
    def test_other_diagonals(self, diagonal, message):
        model = make().fit(self.KS)
        for method in (model.predict, model.transform, model.score):
            with pytest.raises(ValueError, match=message):
                method(stack(NEW, X), diagonal=diagonal)

    def test_coordinates_as_a_start(self):
        with pytest.raises(
            ValueError, match=r"init has shape \(4, 3\) .*weights of shape \(70, 4\)"
        ):
            make(init=X[SEEDS]).fit(self.KS)

    @pytest.mark.parametrize("scaling", ["cosine", "min-max"])
    def test_a_matrix_that_cannot_be_normalized(self, scaling):
        Ks = self.KS.copy()
        Ks[2] -= 40
        with pytest.raises(ValueError, match=r"k\(x, x\) = -\S+ for row \d+; it can only be norm"):
            make(kernel_scaling=scaling).fit(Ks)
