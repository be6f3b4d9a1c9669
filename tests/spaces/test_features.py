"""The space of explicit features."""

import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_allclose
from sklearn.datasets import make_blobs

from data import cloud
from held import feature_space
from kernelmeans.engines import Threads
from kernelmeans.kernels import Kernel
from kernelmeans.lowrank import Explicit, Nystroem
from kernelmeans.spaces import FeatureSpace, stream
from kernelmeans.spaces.base import BLOCK_ROWS, SMALL_BLOCK_BYTES
from kernelmeans.spaces.features import NARROW
from oracle import rbf
from spaces.conformance import SpaceConformance


def dense(X):
    return (X.toarray() if scipy.sparse.issparse(X) else X).astype(np.float64)


class TestLinear(SpaceConformance):
    def make_space(self, X, weight, threads):
        return feature_space(Kernel("linear", {}), X, weight)

    def gram(self, X):
        X = dense(X)
        return X @ X.T


class TestLinearWide(TestLinear):
    def make_rows(self, n, seed=0):
        return cloud(n, NARROW + 1, seed=seed)


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


PARTS = [slice(0, 7), slice(7, 50), slice(50, 60)]


def landmark_spaces(X, landmarks):
    """The space of landmarks with its features held, and computed part by part."""
    features = Nystroem.whitened(Kernel("rbf", {"gamma": 2.0}), X, landmarks)
    held = FeatureSpace.hold(features, X, np.ones(len(X)), Threads(1))
    return held, stream(held, X, PARTS, np.ones(len(X)))


def test_residuals_are_what_landmarks_lack():
    X, landmarks = cloud(60, 2), np.arange(0, 60, 6)
    K = rbf(X, X, 2.0)
    own, across = K[np.ix_(landmarks, landmarks)], K[:, landmarks]
    part = across @ np.linalg.solve(own, across.T)
    expected = 1 - np.diagonal(part)
    for space in landmark_spaces(X, landmarks):
        for block in PARTS:
            assert_allclose(space.residuals(block), expected[block], atol=1e-10)
        seeds = np.array([[3], [44]])
        d = np.diagonal(part)[seeds] + np.diagonal(part) - 2 * part[seeds[:, 0]] + expected
        found = np.concatenate([space.distances(space.at(seeds), block) for block in PARTS], axis=2)
        assert_allclose(found[:, 0], d, atol=1e-9)
    assert feature_space(Kernel("linear", {}), X, np.ones(60)).residuals(PARTS[0]) is None


def test_memory_is_that_of_the_features_that_are_held():
    X = cloud(60, 2)
    held, streamed = landmark_spaces(X, np.arange(0, 60, 6))
    assert held.memory(3).resident == held.source.Z.nbytes
    # That of its subsample.
    assert streamed.memory(3).resident == held.source.Z.nbytes
    assert held.memory(3).transient == 0
    vectors = held.at(np.zeros((3, 1), int)).vectors[0]
    assert held.memory(3).per_restart >= 2 * vectors.nbytes


@pytest.mark.parametrize("value", [1e170, 1e250, np.inf])
def test_rows_whose_features_overflow_are_refused(value):
    X = cloud(60, 2)
    kernel = Kernel("poly", {"gamma": 1.0, "degree": 2, "coef0": 1.0})
    features = Nystroem.whitened(kernel, X, np.arange(9))
    X[20] = value
    weight = np.ones(60)
    for own in (features, Explicit(Kernel("linear", {}))):
        with pytest.raises(ValueError, match=f"kernel='{own.kernel.name}'.*NaN or infinite on th"):
            FeatureSpace.hold(own, X, weight, Threads(1))
