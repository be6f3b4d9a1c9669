"""The space of explicit features."""

import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_allclose
from sklearn.datasets import make_blobs

from held import feature_space
from kernelmeans.kernels import Kernel
from kernelmeans.spaces.base import BLOCK_ROWS, SMALL_BLOCK_BYTES
from spaces.conformance import SpaceConformance


def dense(X):
    return (X.toarray() if scipy.sparse.issparse(X) else X).astype(np.float64)


class TestLinear(SpaceConformance):
    def make_space(self, X, weight, threads):
        return feature_space(Kernel("linear", {}), X, weight)

    def gram(self, X):
        X = dense(X)
        return X @ X.T


class TestCosine(SpaceConformance):
    def make_space(self, X, weight, threads):
        return feature_space(Kernel("cosine", {}), X, weight)

    def gram(self, X):
        Z = dense(X)
        norms = np.sqrt((Z**2).sum(axis=1, keepdims=True))
        Z /= np.where(norms > 0, norms, 1)
        return Z @ Z.T


class TestLinearCSR(TestLinear):
    def make_rows(self, n, seed=0):
        return scipy.sparse.random_array(
            (n, 12), density=0.4, format="csr", rng=np.random.default_rng(seed)
        )


class TestCosineCSR(TestCosine):
    def make_rows(self, n, seed=0):
        return TestLinearCSR().make_rows(n, seed)


@pytest.mark.parametrize("offset", [0, 1e4, 1e6])
def test_an_offset_of_the_data_costs_no_accuracy(offset):
    X, _ = make_blobs(60, 3, random_state=0)
    near, far = (
        feature_space(Kernel("linear", {}), X + shift, np.ones(60)) for shift in (0, offset)
    )
    at = np.array([[0], [1]])
    block = slice(0, 60)
    assert_allclose(
        far.distances(far.at(at), block), near.distances(near.at(at), block), rtol=1e-6, atol=1e-6
    )


@pytest.mark.parametrize("width", [1, 10, 40, 1000, 10**6])
@pytest.mark.parametrize("n", [1, 450, 1797, 9000])
def test_no_block_is_too_small_to_be_worth_its_start(n, width):
    space = feature_space(Kernel("linear", {}), np.ones((n, 1)), np.ones(n))
    sizes = [block.stop - block.start for block in space.blocks(width)]
    smallest = max(BLOCK_ROWS[0], SMALL_BLOCK_BYTES // (8 * width))
    # The number of more than four blocks is a multiple of four.
    assert len(sizes) == 1 or min(sizes) >= smallest or 4 < len(sizes) < 4 + n // smallest
    assert max(sizes) <= max(BLOCK_ROWS[1], 2 * smallest)
