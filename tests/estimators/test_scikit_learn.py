"""Manners of a scikit-learn estimator."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

import data
from kernelmeans import KernelKMeans, KernelPowerKMeans, MultiKernelPowerKMeans, PowerKMeans
from kernelmeans.baselines import MKKM, RKKM, RMKKM

pytestmark = pytest.mark.slow

ESTIMATORS = [
    KernelPowerKMeans(n_clusters=3),
    KernelPowerKMeans(n_clusters=3, kernel="rbf"),
    KernelPowerKMeans(n_clusters=3, outliers=0.1),
    KernelPowerKMeans(n_clusters=3, kernel="precomputed"),
    KernelKMeans(n_clusters=3),
    KernelKMeans(n_clusters=3, kernel="precomputed"),
    PowerKMeans(n_clusters=3),
    KernelPowerKMeans(n_clusters=3, kernel="rbf", approximation="landmarks", n_components=10),
    KernelPowerKMeans(n_clusters=3, kernel="rbf", approximation="rpcholesky"),
    KernelPowerKMeans(n_clusters=3, kernel="precomputed", approximation="rpcholesky"),
    KernelPowerKMeans(n_clusters=3, kernel="rbf", approximation="rff", n_components=50),
    KernelKMeans(n_clusters=3, approximation="landmarks", n_components=0.9),
    KernelPowerKMeans(n_clusters=3, approximation="landmarks"),
    KernelPowerKMeans(n_clusters=3, kernel="graph"),
    MultiKernelPowerKMeans(n_clusters=3),
    MultiKernelPowerKMeans(n_clusters=3, kernels=["heat", "rbf"]),
    MultiKernelPowerKMeans(n_clusters=3, approximation="landmarks"),
    MKKM(n_clusters=3),
    RMKKM(n_clusters=3),
    RKKM(n_clusters=3),
    RKKM(n_clusters=3, kernel="heat"),
    RKKM(n_clusters=3, kernel="precomputed"),
]
SEEDING = "the seeding draws other samples from repeated rows than from weighted ones, as in KMeans"


def expected_failed_checks(estimator):
    """Checks that scikit-learn's own KMeans fails too."""
    kinds = ["dense"] if takes_a_kernel_matrix(estimator) else ["dense", "sparse"]
    return {f"check_sample_weight_equivalence_on_{kind}_data": SEEDING for kind in kinds}


def takes_a_kernel_matrix(estimator):
    return get_tags(estimator).input_tags.pairwise


def fed_with_rows(estimator):
    """The same estimator for a caller that has rows: it is fitted to their kernel matrix."""

    class FedWithRows(type(estimator)):
        def fit(self, X, y=None, sample_weight=None):
            return super().fit(data.rms_kernel(np.asarray(X)), y, sample_weight)

    return FedWithRows(**estimator.get_params())


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore:kernel='precomputed'. k.x, x. of new rows is unknown")
# One check subtracts its mean from a kernel matrix, which makes it indefinite.
@pytest.mark.filterwarnings("ignore:kernel='precomputed' is not positive semi-definite")
# Some checks give vertices without edges.
@pytest.mark.filterwarnings("ignore:kernel='graph'. the graph is in .* pieces")
@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_failed_checks)
def test_checks_of_scikit_learn(estimator, check):
    # Alone of all checks this one has no kernel matrix for estimators that are tagged pairwise.
    if check.func.__name__ == "check_clustering" and takes_a_kernel_matrix(estimator):
        estimator = fed_with_rows(estimator)
    check(estimator)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: f"{type(e).__name__}")
def test_parameters_are_keywords_but_the_first(estimator):
    assert estimator.get_params().keys() == estimator._parameter_constraints.keys()
    assert type(estimator)(7).n_clusters == 7
    with pytest.raises(TypeError, match="positional argument"):
        type(estimator)(7, "rbf")


class TestNames:
    def test_of_columns_are_remembered_and_checked(self):
        polars = pytest.importorskip("polars", reason="polars is an extra")
        X = polars.DataFrame(load_iris().data, schema=list("abcd"))
        model = KernelPowerKMeans(3, random_state=0).fit(X)
        assert model.feature_names_in_.tolist() == list("abcd")
        with pytest.raises(ValueError, match="feature names should match"):
            model.predict(X[list("dcba")])

    @pytest.mark.parametrize("estimator", [KernelPowerKMeans, KernelKMeans, PowerKMeans])
    def test_of_the_output(self, estimator):
        model = estimator(3, random_state=0).fit(load_iris().data)
        prefix = estimator.__name__.lower()
        assert model.get_feature_names_out().tolist() == [f"{prefix}{j}" for j in range(3)]

    @pytest.mark.parametrize("library", ["pandas", "polars"])
    def test_of_the_columns_of_a_table(self, library):
        frames = pytest.importorskip(library, reason=f"set_output needs {library}")
        model = PowerKMeans(3, random_state=0).set_output(transform=library)
        table = model.fit_transform(load_iris().data)
        assert isinstance(table, frames.DataFrame)
        assert list(table.columns) == [f"powerkmeans{j}" for j in range(3)]
        np.testing.assert_array_equal(table.to_numpy().argmin(axis=1), model.labels_)


class TestComposition:
    X, y = data.blobs(120, 3, 4)

    def test_in_a_pipeline(self):
        steps = make_pipeline(StandardScaler(), KernelPowerKMeans(4, random_state=0))
        labels = steps.fit_predict(self.X * [1, 100, 0.01])
        assert adjusted_rand_score(self.y, labels) > 0.95
        np.testing.assert_array_equal(steps.predict(self.X * [1, 100, 0.01]), labels)

    @pytest.mark.parametrize("kernel", ["rbf", "linear"])
    def test_cross_validation_scores_rows_not_seen(self, kernel):
        scores = [
            cross_val_score(KernelPowerKMeans(k, kernel=kernel, random_state=0), self.X).mean()
            for k in (1, 4)
        ]
        assert scores[0] < scores[1] < 0

    @pytest.mark.filterwarnings("ignore:kernel='precomputed'")
    def test_cross_validation_takes_square_parts_of_a_kernel_matrix(self):
        K = data.rms_kernel(self.X)
        by_matrix = cross_val_score(
            KernelPowerKMeans(4, kernel="precomputed", random_state=0), K, cv=3
        )
        gamma = -np.log(K[0, 1]) / ((self.X[0] - self.X[1]) ** 2).sum()
        by_rows = cross_val_score(
            KernelPowerKMeans(4, kernel="rbf", gamma=gamma, random_state=0), self.X, cv=3
        )
        np.testing.assert_allclose(by_matrix, by_rows, rtol=1e-6)

    def test_grid_search(self):
        search = GridSearchCV(
            KernelPowerKMeans(4, kernel="rbf", random_state=0),
            {"gamma": [0.01, 10.0], "s0": ["auto", -5.0]},
            scoring=lambda model, X, y: adjusted_rand_score(y, model.predict(X)),
            cv=3,
        ).fit(self.X, self.y)
        assert search.best_params_["gamma"] == 0.01
        assert search.best_score_ > 0.9
