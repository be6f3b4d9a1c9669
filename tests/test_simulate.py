"""Simulated data against the distributions that they are said to be drawn from."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ive
from scipy.stats import beta, kstest

from kernelmeans.simulate import make_rings, make_sphere_clusters


def mean_resultant_length(kappa, p):
    """A_p(kappa) = I_{p/2}(kappa) / I_{p/2-1}(kappa), Mardia and Jupp (2000), Section 9.3."""
    return ive(p / 2, kappa) / ive(p / 2 - 1, kappa)


def sizes(y):
    return np.bincount(y[y >= 0])


def coordinate_on_the_sphere(p):
    """A coordinate of a uniform direction: twice a Beta((p-1)/2, (p-1)/2), less 1."""
    return beta((p - 1) / 2, (p - 1) / 2, loc=-1, scale=2).cdf


@given(
    k=st.integers(1, 8),
    mean=st.integers(4, 12),
    p=st.integers(2, 6),
    concentration=st.sampled_from([0, 0.5, 30.0, 1e6]),
    imbalance=st.floats(1, 4),
    noise=st.floats(0, 2),
    seed=st.integers(0, 2**32 - 1),
)
def test_sphere_rows_have_length_one_and_known_labels(
    k, mean, p, concentration, imbalance, noise, seed
):
    X, y = make_sphere_clusters(
        k,
        points_per_cluster=mean,
        n_features=p,
        concentration=concentration,
        imbalance=imbalance,
        noise=noise,
        random_state=seed,
    )
    stray = int((y == -1).sum())
    assert X.shape == (k * mean + stray, p)
    assert abs(stray - noise * k * mean) <= 0.5
    np.testing.assert_allclose((X**2).sum(axis=1), 1, rtol=1e-12)
    assert len(sizes(y)) == k
    assert sizes(y).sum() == k * mean
    assert sizes(y).min() >= 1
    # From the largest to the smallest, but for rounding.
    assert np.diff(sizes(y)).max(initial=0) <= 1


@given(
    mean=st.integers(4, 12),
    per_ring=st.integers(1, 5),
    radii=st.lists(st.floats(0, 9), min_size=1, max_size=3),
    imbalance=st.floats(1, 4),
    noise=st.floats(0, 2),
    seed=st.integers(0, 2**32 - 1),
)
def test_rings_have_the_rows_that_were_asked_for(mean, per_ring, radii, imbalance, noise, seed):
    X, y = make_rings(
        points_per_blob=mean,
        blobs_per_ring=per_ring,
        radii=tuple(radii),
        imbalance=imbalance,
        noise=noise,
        random_state=seed,
    )
    rows, stray = per_ring * len(radii) * mean, int((y == -1).sum())
    assert X.shape == (rows + stray, 2)
    assert abs(stray - noise * rows) <= 0.5
    assert len(sizes(y)) == per_ring * len(radii)
    assert sizes(y).sum() == rows
    assert sizes(y).min() >= 1


@pytest.mark.parametrize("make", [make_sphere_clusters, make_rings])
def test_the_defaults_are_balanced_without_noise(make):
    _, y = make(random_state=0)
    assert len(set(sizes(y).tolist())) == 1
    assert y.min() == 0


@pytest.mark.parametrize("imbalance", [1.0, 3.0, 20.0])
def test_sizes_are_a_geometric_sequence(imbalance):
    _, y = make_sphere_clusters(
        6, points_per_cluster=2000, n_features=2, imbalance=imbalance, random_state=0
    )
    expected = imbalance ** (-np.arange(6) / 5)
    np.testing.assert_allclose(sizes(y), 12_000 * expected / expected.sum(), rtol=0.02)
    _, same = make_rings(
        points_per_blob=2000, blobs_per_ring=3, imbalance=imbalance, random_state=0
    )
    assert sizes(same).tolist() == sizes(y).tolist()


def test_small_clusters_are_as_imbalanced_as_asked_but_for_rounding():
    _, y = make_sphere_clusters(10, points_per_cluster=20, imbalance=10.0, random_state=0)
    assert sizes(y).sum() == 200
    assert 9 < sizes(y)[0] / sizes(y)[-1] < 11


@pytest.mark.parametrize("make", [make_sphere_clusters, make_rings])
def test_an_imbalance_that_leaves_clusters_empty_is_refused(make):
    with pytest.raises(ValueError, match=r"imbalance=1000\.0 .*give a smaller one, or more points"):
        make(imbalance=1000.0, random_state=0)


@pytest.mark.parametrize("make", [make_sphere_clusters, make_rings])
def test_a_seed_is_all_the_randomness(make):
    first, again, other = (make(noise=0.1, random_state=seed) for seed in (0, 0, 1))
    np.testing.assert_array_equal(first[0], again[0])
    np.testing.assert_array_equal(first[1], again[1])
    assert not np.array_equal(first[0], other[0])
    generator = np.random.RandomState(0)
    np.testing.assert_array_equal(make(noise=0.1, random_state=generator)[0], first[0])
    assert not np.array_equal(make(noise=0.1, random_state=generator)[0], first[0])


@pytest.mark.parametrize("make", [make_sphere_clusters, make_rings])
def test_rows_are_in_random_order(make):
    _, y = make(noise=0.5, random_state=0)
    # Of a random order about one neighbour in ten is of the same class.
    assert (np.diff(y) == 0).mean() < 0.3
    assert 0.3 < np.mean(np.flatnonzero(y == -1)) / len(y) < 0.7


@pytest.mark.parametrize("p", [2, 3, 20])
@pytest.mark.parametrize("kappa", [1.0, 30.0, 300.0])
def test_clusters_are_as_narrow_as_their_concentration(kappa, p):
    X, y = make_sphere_clusters(
        3, points_per_cluster=4000, n_features=p, concentration=kappa, random_state=0
    )
    for cluster in range(3):
        rows = X[y == cluster]
        length = np.linalg.norm(rows.mean(axis=0))
        along = rows @ rows.mean(axis=0) / length
        # The mean direction is estimated too, which lengthens it by about this much.
        bias = (1 - length**2) / (2 * length * len(rows))
        error = along.std() / np.sqrt(len(rows))
        assert length - bias == pytest.approx(mean_resultant_length(kappa, p), abs=4 * error)


def test_without_concentration_rows_are_uniform():
    X, y = make_sphere_clusters(
        2, points_per_cluster=4000, n_features=5, concentration=0, random_state=0
    )
    for cluster in range(2):
        for column in X[y == cluster].T:
            assert kstest(column, coordinate_on_the_sphere(5)).pvalue > 0.001
        np.testing.assert_allclose(np.cov(X[y == cluster].T), np.eye(5) / 5, atol=0.02)


def test_directions_of_clusters_are_uniform():
    X, _ = make_sphere_clusters(
        1000, points_per_cluster=1, n_features=4, concentration=1e8, random_state=0
    )
    for column in X.T:
        assert kstest(column, coordinate_on_the_sphere(4)).pvalue > 0.001


def test_noise_on_the_sphere_is_uniform():
    X, y = make_sphere_clusters(3, points_per_cluster=100, n_features=4, noise=20.0, random_state=0)
    for column in X[y == -1].T:
        assert kstest(column, coordinate_on_the_sphere(4)).pvalue > 0.001


def test_one_row_for_each_cluster():
    X, y = make_sphere_clusters(4, points_per_cluster=1, n_features=3, random_state=0)
    assert X.shape == (4, 3)
    assert sorted(y.tolist()) == [0, 1, 2, 3]


def test_blobs_are_evenly_spaced_on_their_rings():
    X, y = make_rings(
        points_per_blob=4000, blobs_per_ring=3, radii=(1.0, 4.0), spread=0.5, random_state=0
    )
    corners = np.exp(2j * np.pi * np.arange(3) / 3)
    for blob, corner in enumerate([*corners, *(4 * corners)]):
        rows = X[y == blob]
        np.testing.assert_allclose(
            rows.mean(axis=0), [corner.real, corner.imag], atol=4 * 0.5 / np.sqrt(4000)
        )
        np.testing.assert_allclose(np.cov(rows.T), 0.25 * np.eye(2), atol=0.025)


def test_blobs_without_spread_are_points():
    X, y = make_rings(blobs_per_ring=4, radii=(0.0, 2.0), spread=0, random_state=0)
    expected = np.array([[0, 0]] * 4 + [[2, 0], [0, 2], [-2, 0], [0, -2]])
    np.testing.assert_allclose(X, expected[y], atol=1e-15)


def test_noise_around_rings_is_uniform_on_a_square():
    X, y = make_rings(noise=10.0, radii=(2.0, 5.0), spread=0.5, random_state=0)
    for column in X[y == -1].T:
        assert kstest(column, "uniform", args=(-6.5, 13)).pvalue > 0.001
        assert np.abs(column).max() == pytest.approx(6.5, abs=0.02)


@pytest.mark.parametrize(
    ("make", "name", "value"),
    [
        (make_sphere_clusters, "n_clusters", 0),
        (make_sphere_clusters, "n_features", 1),
        (make_sphere_clusters, "concentration", -1.0),
        (make_sphere_clusters, "concentration", np.inf),
        (make_sphere_clusters, "concentration", np.nan),
        (make_sphere_clusters, "imbalance", 0.5),
        (make_sphere_clusters, "imbalance", np.inf),
        (make_sphere_clusters, "imbalance", np.nan),
        (make_sphere_clusters, "noise", -0.1),
        (make_sphere_clusters, "noise", np.inf),
        (make_sphere_clusters, "noise", np.nan),
        (make_rings, "blobs_per_ring", 0),
        (make_rings, "radii", ()),
        (make_rings, "radii", (1.0, -1.0)),
        (make_rings, "radii", (np.nan,)),
        (make_rings, "radii", (np.inf,)),
        (make_rings, "spread", -1.0),
        (make_rings, "spread", np.inf),
        (make_rings, "imbalance", 0.5),
        (make_rings, "noise", np.nan),
        (make_sphere_clusters, "points_per_cluster", 0),
        (make_sphere_clusters, "points_per_cluster", 2.5),
        (make_rings, "points_per_blob", 0),
    ],
)
def test_a_bad_parameter_is_named(make, name, value):
    with pytest.raises(ValueError, match=rf"^{name}=.*: give "):
        make(**{name: value}, random_state=0)
