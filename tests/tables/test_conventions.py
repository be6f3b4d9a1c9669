"""scikit-learn's own checks of an estimator."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from kernelmeans.tables import TableTransformer


@parametrize_with_checks([TableTransformer(), TableTransformer(missing="error", scale=False)])
def test_conventions(estimator, check):
    check(estimator)
