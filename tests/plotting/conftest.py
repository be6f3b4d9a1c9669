"""A fit that several pictures show."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from kernelmeans import KernelPowerKMeans


@pytest.fixture(scope="package", name="X")
def rows() -> np.ndarray:
    return make_blobs(150, n_features=4, centers=5, random_state=0)[0]


@pytest.fixture(scope="package")
def model(X: np.ndarray) -> KernelPowerKMeans:
    return KernelPowerKMeans(5, kernel="rbf", random_state=0).fit(X)
