"""The critical power and the extreme eigenvalues."""

import re
import warnings

import numpy as np
import pytest

import data
import oracle
from held import feature_space
from kernelmeans.kernels import Kernel
from kernelmeans.solver import Constant, critical_power, solve, warn_unless_positive
from kernelmeans.solver.critical import extreme_eigenvalues, spectrum_ends
from kernelmeans.spaces import GramSpace
from kernelmeans.spaces.centroids import Trace

PRECOMPUTED = Kernel("precomputed", {})


def gram_space(K, threads, weight=None):
    weight = np.ones(len(K), K.dtype) if weight is None else weight.astype(K.dtype)
    return GramSpace.hold(PRECOMPUTED, K, weight, threads)


@pytest.fixture(params=["float64", "float32"])
def dtype(request):
    return np.dtype(request.param)


@pytest.mark.parametrize("n", [2, 20, 31, 32, 33, 150])
@pytest.mark.parametrize("weighted", [False, True])
def test_is_that_of_the_dense_decomposition(n, weighted, dtype, threads):
    X = data.cloud(n, 6)
    K = data.rms_kernel(X).astype(dtype)
    weight = np.random.default_rng(1).uniform(0.1, 4, n) if weighted else np.ones(n)
    got = critical_power(gram_space(K, threads, weight), seed=0)
    assert got == pytest.approx(oracle.critical_power(K.astype(float), weight), rel=2e-3, abs=2e-3)


def test_is_the_same_in_every_space(threads):
    X = data.cloud(200, 5)
    linear = Kernel("linear", {})
    ones = np.ones(len(X))
    spaces = [
        feature_space(linear, X, ones),
        GramSpace.hold(linear, X, ones, threads),
        GramSpace.hold(linear, X, ones, threads, row_budget=8 * 200 * 10),
    ]
    got = [critical_power(space, 0) for space in spaces]
    assert got == pytest.approx([oracle.critical_power(X @ X.T)] * 3, rel=2e-3)


@pytest.mark.parametrize("scale", [1e-100, 1e-6, 1e6, 1e100])
def test_does_not_depend_on_the_scale_of_the_kernel(scale, threads):
    K = data.rms_kernel(data.cloud(80))
    got = critical_power(gram_space(scale * K, threads), 0)
    assert got == pytest.approx(oracle.critical_power(K), rel=2e-3)


@pytest.mark.parametrize("heavy", [1e3, 1e5, 1e7])
def test_where_one_sample_has_almost_all_the_weight(heavy, dtype, threads):
    # That sample is the mean, nearly: its direction from there must not come from rounding.
    # Single precision cannot know it, and leaves the sample out: any value above -1 will do.
    K = data.rms_kernel(data.blobs(60, 2)[0])
    weight = np.where(np.arange(60) == 5, heavy, 1.0)
    got = critical_power(gram_space(K.astype(dtype), threads, weight), 0)
    if dtype == np.float32 and heavy > 1e4:
        assert -1 < got <= 0.5
    else:
        assert got == pytest.approx(oracle.critical_power(K, weight), abs=0.05)


@pytest.mark.parametrize("seed", range(3))
def test_samples_without_weight_change_nothing(seed, threads):
    # Without clusters, eigenvalues are so near that the start vector shows.
    rng = np.random.default_rng(seed)
    X, other = rng.uniform(size=(300, 8)), rng.uniform(-1, 3, size=(60, 8))
    places = rng.integers(301, size=60)
    weight = np.insert(np.ones(300), places, 0)
    more = np.insert(X, places, other, axis=0)
    plain, weighted = (
        critical_power(gram_space(Z @ Z.T, threads, w), seed=0)
        for Z, w in ((X, np.ones(300)), (more, weight))
    )
    assert weighted == pytest.approx(plain, rel=1e-9)


def test_of_samples_that_differ_by_rounding_alone_is_a_number_or_minus_infinity(threads):
    # Almost constant: the eigenvalue is that of roundings, or none.
    for seed in range(20):
        x = (1e-5 * data.cloud(60, 1, seed)).astype(np.float32)
        got = critical_power(gram_space(x @ x.T + np.float32(2), threads), 0)
        assert got <= 0.5


@pytest.mark.parametrize("space", ["features", "gram"])
@pytest.mark.parametrize("value", [0.0, 1.0, 0.1, 1e6 + 0.1])
def test_of_constant_data_is_minus_infinity(space, value, threads, dtype):
    X = np.full((40, 3), value, dtype)
    # A sample without weight may vary.
    X[3] += 1
    weight = np.ones(40, dtype)
    weight[3] = 0
    kernel = Kernel("linear", {})
    made = (
        feature_space(kernel, X, weight)
        if space == "features"
        else GramSpace.hold(kernel, X, weight, threads)
    )
    assert critical_power(made, 0) == -np.inf


def test_of_a_line_is_one_half():
    # All directions from the mean agree up to sign: lam = 1.
    X = np.arange(40.0)[:, None]
    space = feature_space(Kernel("linear", {}), X, np.ones(40))
    assert critical_power(space, 0) == pytest.approx(0.5, abs=1e-6)


GOLDEN = {
    "yale": -3.25,
    "tox_171": -5.3,
    "orl": -2.1,
    "coil20": -1.66,
    "lung_discrete": -1.4,
    "jaffe": -1.1,
    "glioma": -0.94,
    "seeds": -0.02,
}


@data.needs_data
@pytest.mark.parametrize("name", GOLDEN)
def test_golden_values_on_real_data(name, threads):
    K = data.rms_kernel(data.standardized(name)[0])
    digits = 0.005 if name in ("yale", "coil20", "glioma", "seeds") else 0.05
    got = critical_power(gram_space(K, threads), 0)
    assert got == pytest.approx(GOLDEN[name], abs=digits * 1.2)


def growth_per_step(K, s, weight, threads, steps):
    """Factor by which two centroids near the mean part in one step of the solver."""
    space = gram_space(K, threads, weight)
    p = weight / weight.sum()
    Kc = oracle.centred(K, weight)
    scale = np.sqrt(p / np.diagonal(Kc))
    direction = scale * np.linalg.eigh(scale[:, None] * Kc * scale)[1][:, -1]
    shift = 1e-5 * (direction - p * direction.sum())
    gaps = []
    for count in (steps, steps + 1):
        start = np.stack([p + shift, p - shift])[:, None]
        total = None
        for block in space.blocks(2):
            partial = space.accumulate(np.ascontiguousarray(start[:, :, block]), block)
            total = space.add(total, partial, block)
        centroids = space.update(total, np.ones((2, 1)))
        schedule = Constant(s0=s, critical_power=-np.inf, tol=0, max_iter=count)
        ended = solve(space, centroids, schedule, [0]).centroids
        a = ended.coefficients[0, 0] - ended.coefficients[1, 0]
        gaps.append(np.sqrt(a @ K @ a))
    return gaps[1] / gaps[0]


@data.needs_data
@pytest.mark.parametrize("name", ["orl", "seeds"])
@pytest.mark.parametrize("s", [-1.5, -3])
def test_growth_near_the_collapsed_state_of_real_data(name, s, threads):
    K = data.rms_kernel(data.standardized(name)[0])
    lam = 1 / (2 * (1 - oracle.critical_power(K)))
    got = growth_per_step(K, s, np.ones(len(K)), threads, steps=2)
    assert got == pytest.approx(2 * (1 - s) * lam, rel=1e-4)


@pytest.mark.parametrize("s", [-0.5, -1, -2])
def test_growth_near_the_collapsed_state_of_weighted_data(s, threads):
    K = data.rms_kernel(data.cloud(100, 4))
    weight = np.random.default_rng(2).uniform(0.2, 5, len(K))
    lam = 1 / (2 * (1 - oracle.critical_power(K, weight)))
    assert growth_per_step(K, s, weight, threads, steps=4) == pytest.approx(
        2 * (1 - s) * lam, rel=1e-3
    )


def indefinite(n=80, lowest=-2.5):
    """A symmetric matrix with a known smallest eigenvalue on vectors that sum to zero."""
    rng = np.random.default_rng(0)
    basis = np.linalg.qr(np.column_stack([np.ones(n), rng.standard_normal((n, n - 1))]))[0]
    values = np.concatenate([[3.0, lowest], rng.uniform(0, 10, n - 2)])
    K = (basis * values) @ basis.T
    return (K + K.T) / 2


@pytest.mark.parametrize("n", [10, 80])
def test_the_smallest_eigenvalue_is_that_of_the_centred_matrix(n, threads):
    K = indefinite(n)
    low, high = np.linalg.eigvalsh(oracle.centred(K))[[0, -1]]
    got = spectrum_ends(gram_space(K, threads), 0)
    assert got == pytest.approx((low, high), abs=2e-3 * (high - low))


def test_the_same_start_vector_finds_the_same_eigenvalues(threads):
    space = gram_space(indefinite(), threads)
    assert spectrum_ends(space, 3) == spectrum_ends(space, 3)
    assert critical_power(space, 3) == critical_power(space, 3)


@pytest.mark.parametrize("lowest", [-50, -2.5, -0.01])
def test_the_warning_reports_the_size_of_the_violation(lowest, threads):
    K = indefinite(lowest=lowest)
    spectrum = np.linalg.eigvalsh(oracle.centred(K))
    space = gram_space(K, threads)
    space.trace = Trace(float(np.trace(K)), 0.0)
    with pytest.warns(UserWarning, match="not positive semi-definite") as caught:
        warn_unless_positive(space, 0, "the kernel")
    # It bounds no cost.
    assert space.trace is None
    message = str(caught[0].message)
    number = float(re.search(r"smallest eigenvalue (\S+?),", message)[1])
    assert number == pytest.approx(lowest, rel=0.05, abs=2e-3 * np.ptp(spectrum))
    assert number < 0
    assert message.startswith("the kernel: ")
    # A larger number on the diagonal would hide all else.
    advised = re.search(r"add (\S+) to the diagonal", message)
    variance = np.trace(oracle.centred(K)) / len(K)
    assert (advised is not None) == (-lowest <= variance)


@pytest.mark.parametrize("n", [10, 80])
def test_a_positive_matrix_brings_no_warning(n, dtype, threads):
    K = data.rms_kernel(data.cloud(n)).astype(dtype)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_unless_positive(gram_space(K, threads), 0, "precomputed")


@pytest.mark.parametrize("n", [10, 800])
def test_samples_without_weight_make_no_matrix_indefinite(n, threads):
    K = np.zeros((n + 2, n + 2))
    K[:n, :n], K[n:, n:] = data.rms_kernel(data.cloud(n)), [[0, 9], [9, 0]]
    space = gram_space(K, threads, np.r_[np.ones(n), np.zeros(2)])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_unless_positive(space, 0, "the kernel")
    assert spectrum_ends(space, 0)[0] >= -1e-6


@pytest.mark.parametrize("value", [0.0, 0.3, 1.0, 3e5])
def test_a_constant_matrix_brings_no_warning(value, dtype, threads):
    space = gram_space(np.full((60, 60), value, dtype), threads)
    space.trace = trace = Trace(60 * value, 0.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_unless_positive(space, 0, "the kernel")
    assert space.trace is trace


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("kind", ["blobs", "cloud", "flat"])
def test_of_many_samples_is_near_the_true_value_and_never_above(kind, seed, threads):
    n = 1200
    X = {
        "blobs": lambda: data.blobs(n, 20, 10, spread=2)[0],
        "cloud": lambda: data.cloud(n, 3),
        # Its largest eigenvalues are almost equal.
        "flat": lambda: data.cloud(n, 40),
    }[kind]()
    K = data.rms_kernel(X)
    expected = oracle.critical_power(K)
    got = critical_power(gram_space(K, threads), seed)
    assert got <= expected + 1e-9
    # One start vector lacks the largest by chance, and ends on the second, which is close by.
    assert got == pytest.approx(expected, rel=0.05)


@data.needs_data
@pytest.mark.parametrize("name", ["coil20", "isolet"])
def test_on_real_data_from_any_start_vector(name, threads):
    K = data.rms_kernel(data.standardized(name)[0])
    space = gram_space(K, threads)
    expected = oracle.critical_power(K)
    got = np.array([critical_power(space, seed) for seed in range(10)])
    assert (got <= expected + 1e-9).all()
    np.testing.assert_allclose(got, expected, rtol=2e-3)


def spread_violation(n, size, kept):
    """A positive matrix of low rank less a violation of some samples, all of them or a pair."""
    Z = data.cloud(n, 12)
    direction = np.zeros(n)
    direction[kept] = np.resize([1.0, -1.0], len(kept)) / np.sqrt(len(kept))
    return Z @ Z.T - size * np.outer(direction, direction)


@pytest.mark.parametrize("cached", [True, False])
@pytest.mark.slow
def test_a_violation_among_many_samples_is_found_and_measured_on_all(cached, threads):
    n, size = 2500, 300.0
    K = spread_violation(n, size, np.arange(n))
    row_budget = None if cached else 2**28
    space = GramSpace.hold(PRECOMPUTED, K, np.ones(n), threads, row_budget=row_budget)
    with pytest.warns(UserWarning, match="not positive semi-definite") as caught:
        warn_unless_positive(space, 0, "the kernel")
    number = float(re.search(r"smallest eigenvalue (\S+?),", str(caught[0].message))[1])
    low, high = np.linalg.eigvalsh(oracle.centred(K))[[0, -1]]
    assert number == pytest.approx(low, abs=2e-3 * high)
    assert low < -0.9 * size


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_many_samples_of_a_positive_matrix_bring_no_warning(dtype, threads):
    n = 2500
    K = spread_violation(n, 0.0, np.arange(2)).astype(dtype)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_unless_positive(gram_space(K, threads), 0, "precomputed")


@pytest.mark.parametrize("size", [1, 2, 5, 40])
@pytest.mark.parametrize("rank", [0, 1, 3])
def test_both_ends_of_matrices_that_few_vectors_span(size, rank):
    Z = data.cloud(size, 3)[:, :rank]
    M = Z @ Z.T - np.outer(np.ones(size), np.ones(size)) * (rank == 3)
    got = extreme_eigenvalues(lambda x: M @ x, size, M.dtype, 0, [0, -1])
    spectrum = np.linalg.eigvalsh(M)
    assert got == pytest.approx((spectrum[0], spectrum[-1]), abs=1e-5 * np.abs(spectrum).max())


def test_a_restricted_gram_space_has_the_critical_power_of_its_samples(threads):
    K, some = data.rms_kernel(data.cloud(90)), np.arange(3, 90, 4)
    weight = np.linspace(1, 2, len(some))
    restricted = gram_space(K, threads).restricted(some, weight)
    expected = oracle.critical_power(K[np.ix_(some, some)], weight)
    assert critical_power(restricted) == pytest.approx(expected, rel=2e-3)
