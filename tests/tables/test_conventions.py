"""scikit-learn's own checks of an estimator."""

import pytest
import sklearn
from sklearn.utils.estimator_checks import parametrize_with_checks

from kernelmeans.tables import TableTransformer

BROKEN = "check_positive_only_tag_during_fit"


@parametrize_with_checks([TableTransformer(), TableTransformer(missing="error", scale=False)])
def test_conventions(estimator, check):
    if check.func.__name__ == BROKEN and sklearn.__version__.startswith("1.7."):
        pytest.skip("this check of scikit-learn 1.7 subtracts a mean from integers")
    check(estimator)
