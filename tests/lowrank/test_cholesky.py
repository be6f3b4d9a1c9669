import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics.pairwise import rbf_kernel

from kernelmeans.lowrank.cholesky import pivoted_cholesky

N = 120


def run(K, weight=None, most=10**6, tolerance=0.0, seed=0):
    weight = np.ones(len(K)) if weight is None else weight
    rng = np.random.default_rng(seed)
    return pivoted_cholesky(K.__getitem__, np.diagonal(K), weight, most, tolerance, rng)


def left_out(K, weight, pivots):
    """Weighted fraction of the trace of K - K[:, S] K_SS^+ K[S, :]."""
    K = K.astype(np.float64)
    spanned = K[:, pivots] @ np.linalg.pinv(K[np.ix_(pivots, pivots)], hermitian=True) @ K[pivots]
    return weight @ np.diagonal(K - spanned) / (weight @ np.diagonal(K))


@pytest.fixture
def weight(rng):
    weight = rng.uniform(0, 3, N)
    weight[::7] = 0
    return weight


@pytest.fixture(name="K")
def gaussian_kernel(rng):
    return rbf_kernel(rng.standard_normal((N, 4)), gamma=0.1)


@pytest.mark.parametrize(("dtype", "atol"), [(np.float64, 1e-11), (np.float32, 2e-6)])
def test_what_is_left_out_after_each_pivot_is_that_of_the_projection(K, weight, dtype, atol):
    K = K.astype(dtype)
    found = run(K, weight, most=60)
    assert len(found.indices) == 60
    expected = [left_out(K, weight, found.indices[: i + 1]) for i in range(60)]
    np.testing.assert_allclose(found.residual, expected, rtol=0, atol=atol)


def test_float32_keeps_its_digits_where_little_is_left(rng):
    K = rbf_kernel(rng.standard_normal((400, 3)), gamma=0.05).astype(np.float32)
    found = run(K, tolerance=1e-4)
    expected = left_out(K, np.ones(400), found.indices)
    np.testing.assert_allclose(found.residual[-1], expected, rtol=0.02)


def test_it_stops_at_the_tolerance_and_not_before(K):
    found = run(K, tolerance=0.05)
    assert found.residual[-1] <= 0.05 < found.residual[-2]
    np.testing.assert_array_equal(found.indices, run(K).indices[: len(found.indices)])


def test_samples_without_weight_are_never_pivots(K, weight):
    found = run(K, weight)
    assert len(found.indices) == np.count_nonzero(weight)
    assert weight[found.indices].all()


def test_the_first_two_pivots_are_drawn_in_proportion_to_weight_times_residual():
    K = np.array([[4.0, 1, 0, 2], [1, 2, 1, 0], [0, 1, 3, 1], [2, 0, 1, 3]])
    weight = np.array([1.0, 2.0, 0.5, 3.0])
    expected = np.zeros((4, 4))
    for i in range(4):
        first = weight[i] * K[i, i] / (weight @ np.diagonal(K))
        residual = weight * np.diagonal(K - np.outer(K[i], K[i]) / K[i, i]).clip(1e-300)
        residual[i] = 0
        expected[i] = first * residual / residual.sum()
    draws = 2000
    rng = np.random.default_rng(3)
    counts = np.zeros((4, 4))
    for _ in range(draws):
        pivots = pivoted_cholesky(K.__getitem__, np.diagonal(K), weight, 2, 0, rng).indices
        counts[tuple(pivots)] += 1
    error = np.abs(counts / draws - expected)
    assert (error <= 4.5 * np.sqrt(expected * (1 - expected) / draws)).all()


def test_many_blocks_leave_no_more_than_one_pivot_at_a_time(rng):
    """Mean trace error of the textbook algorithm, which draws and updates pivot by pivot."""
    K = rbf_kernel(rng.standard_normal((300, 6)), gamma=0.1)

    def textbook(seed, most):
        draw, residual = np.random.default_rng(seed), K.copy()
        for _ in range(most):
            d = np.diagonal(residual).clip(0)
            s = draw.choice(300, p=d / d.sum())
            residual -= np.outer(residual[s], residual[s]) / residual[s, s]
        return np.trace(residual) / 300

    for most in (20, 150):
        one = np.array([textbook(seed, most) for seed in range(12)])
        got = np.array([run(K, most=most, seed=seed).residual[-1] for seed in range(12)])
        spread = np.sqrt((one.var(ddof=1) + got.var(ddof=1)) / 12)
        assert abs(got.mean() - one.mean()) < 4 * spread


def test_duplicates_are_chosen_once(rng):
    K = rbf_kernel(np.repeat(rng.standard_normal((9, 2)), 20, axis=0))
    found = run(K)
    assert sorted(found.indices // 20) == list(range(9))
    assert found.residual[-1] <= 1e-12


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_constant_kernel_has_one_pivot(dtype):
    found = run(np.full((50, 50), 7, dtype))
    assert len(found.indices) == 1
    np.testing.assert_array_equal(found.residual, 0)


def test_rows_that_contradict_the_diagonal_end_the_search():
    rng = np.random.default_rng(0)
    found = pivoted_cholesky(lambda i: np.zeros((len(i), 5)), np.ones(5), np.ones(5), 5, 0, rng)
    assert len(found.indices) == 0


def test_rows_of_zeros_are_never_pivots(K):
    K = K.copy()
    K[::2] = K[:, ::2] = 0
    found = run(K)
    assert (found.indices % 2 == 1).all()
    assert len(found.indices) == N // 2


@pytest.mark.parametrize("K", [np.zeros((5, 5)), -np.eye(5)])
def test_without_a_positive_diagonal_there_are_no_pivots(K):
    found = run(K)
    assert found.indices.shape == found.residual.shape == (0,)
    assert np.issubdtype(found.indices.dtype, np.integer)


def test_a_row_far_longer_than_the_others_is_not_drawn_for_its_rounding(rng):
    X = rng.standard_normal((40, 3)).astype(np.float32)
    X[5] *= 3e4
    found = run(X @ X.T)
    assert 3 <= len(found.indices) <= 4
    assert list(found.indices).count(5) == 1


def test_at_most_as_many_pivots_as_asked_for(K):
    assert len(run(K, most=7).indices) == 7
    assert len(run(K, most=0).indices) == 0


@given(
    seed=st.integers(0, 10**6),
    n=st.integers(1, 40),
    rank=st.integers(1, 40),
    decay=st.floats(0, 6),
    dtype=st.sampled_from([np.float32, np.float64]),
    indefinite=st.booleans(),
)
def test_it_ends_with_distinct_pivots_as_the_residual_falls(
    seed, n, rank, decay, dtype, indefinite
):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, rank)) * np.arange(1, rank + 1) ** -decay
    signs = rng.choice([-1, 1], rank) if indefinite else 1
    K = ((X * signs) @ X.T).astype(dtype)
    weight = rng.choice([0, 1e-3, 1, 50], n)
    found = run(K, weight, seed=seed)
    assert len(set(found.indices)) == len(found.indices) <= n
    assert (np.diff(found.residual, prepend=1) <= 0).all()
    assert (found.residual >= 0).all()
    if not indefinite and weight.any():
        spanned = X @ np.linalg.pinv(X[found.indices]) @ X[found.indices]
        outside = weight @ ((X - spanned) ** 2).sum(axis=1) / (weight @ (X**2).sum(axis=1))
        assert max(found.residual[-1], outside) <= 2e3 * np.finfo(dtype).eps
