"""Families of kernels against their definitions and published matrices."""

import numpy as np
import pytest
from sklearn.metrics.pairwise import euclidean_distances

import data
from kernelmeans.kernels import (
    CombinedKernel,
    Kernel,
    du2015_family,
    du2015_kernels,
    families,
    width_family,
)
from kernelmeans_paper.datasets import fetch

#: Names of the matrices of Du et al., in the order of `du2015_family`.
DU2015_NAMES = [
    *(f"gaussian_{t}" for t in ("0.01", "0.05", "0.1", "1", "10", "50", "100")),
    *("polynomial_2", "polynomial_4", "polyplus_2", "polyplus_4", "linear"),
]


@data.needs_data
def test_golden_matrices_of_du_et_al():
    # Pixels z-scored, then rows of unit length, in the order of the file.
    rows = fetch("yale", shuffle=False).data
    rows = (rows - rows.mean(axis=0)) / rows.std(axis=0, ddof=1)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    golden = fetch("du2015_yale_kernels", shuffle=False)
    assert golden.kernel_names == DU2015_NAMES
    ours = du2015_kernels(rows)
    for K, expected, name in zip(ours, golden.data, DU2015_NAMES, strict=True):
        # The narrowest has exponents of 5000, and their roundings.
        np.testing.assert_allclose(K, expected, rtol=0, atol=1e-11, err_msg=name)


def test_the_family_of_du_et_al_by_its_definition(form):
    X = data.cloud(50, 4) + 1
    D, G = euclidean_distances(X), X @ X.T
    expected = [
        np.exp(-(D**2) / (2 * t**2 * D.max() ** 2)) for t in (0.01, 0.05, 0.1, 1, 10, 50, 100)
    ]
    expected += [G**2, G**4, (1 + G) ** 2, (1 + G) ** 4, G]
    for kernel, K in zip(du2015_family(form(X)), expected, strict=True):
        lengths = np.sqrt(np.diagonal(K))
        normal = K / np.outer(lengths, lengths)
        np.testing.assert_allclose(kernel(form(X), form(X)), normal, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("value", [1.0, 0.3, 1e-160])
def test_rows_that_are_equal_are_so_for_the_family_of_du_et_al(value, form):
    np.testing.assert_allclose(du2015_kernels(form(np.full((6, 7), value)))[:7], 1)


def test_the_largest_distance_is_found_block_by_block(form, monkeypatch):
    rows = data.cloud(300, 3)
    rows[[250, 299]] *= 50
    blocks = []
    chunked = families.pairwise_distances_chunked

    def counted(X, reduce_func, **options):
        def reduce(distances, start):
            blocks.append(distances.shape)
            return reduce_func(distances, start)

        return chunked(X, reduce_func=reduce, **options)

    monkeypatch.setattr(families, "pairwise_distances_chunked", counted)
    # 0.1 MiB are 43 rows of distances.
    monkeypatch.setattr(families, "DISTANCE_BLOCK", 0.1)
    gamma = du2015_family(form(rows))[3].parameters["gamma"]
    assert gamma == pytest.approx(1 / (2 * euclidean_distances(rows).max() ** 2))
    assert blocks[0] == (43, 300)
    assert len(blocks) == 7


@pytest.mark.parametrize(
    ("scale", "said"),
    [
        (1e100, "kernel='poly' with .* is NaN or infinite on these data"),
        (1e153, "squared distances between rows of X overflow or underflow; scale"),
        (1e300, "squared distances between rows of X overflow or underflow; scale"),
    ],
)
def test_rows_that_are_too_large_for_the_family_of_du_et_al_are_refused(scale, said, form):
    with pytest.raises(ValueError, match=said):
        du2015_kernels(form(scale * data.cloud(9, 2)))


def test_pixels_may_be_integers():
    pixels = np.random.default_rng(0).integers(0, 256, (9, 5), dtype=np.uint8)
    np.testing.assert_array_equal(du2015_kernels(pixels), du2015_kernels(pixels.astype(float)))


@pytest.mark.parametrize("wrong", [0, -1, np.inf, np.nan])
def test_multiples_that_are_no_widths_are_refused(wrong):
    with pytest.raises(ValueError, match=r"multiples=\(1, .*\) must be positive and finite"):
        width_family(data.cloud(9, 2), multiples=(1, wrong))


def test_widths_are_multiples_of_the_root_mean_square_distance(form):
    X = data.cloud(50, 4)
    n = len(X)
    rms = np.sqrt((euclidean_distances(X) ** 2).sum() / (n * (n - 1)))
    kernels = width_family(form(X), multiples=(0.5, 3))
    sigmas = [1 / np.sqrt(2 * kernel.parameters["gamma"]) for kernel in kernels]
    np.testing.assert_allclose(sigmas, [0.5 * rms, 3 * rms])
    assert len(width_family(form(X))) == 5


def test_a_combined_kernel_is_the_sum_of_its_parts():
    X, Y = data.cloud(20, 5), data.cloud(7, 5, seed=1)
    parts = [Kernel("linear", {}), Kernel("rbf", {"gamma": 0.3})]
    columns = [slice(0, 2), np.array([4, 2])]
    both = CombinedKernel(parts, columns, np.array([0.25, 3.0]))
    expected = 0.25 * X[:, :2] @ Y[:, :2].T + 3 * parts[1](X[:, [4, 2]], Y[:, [4, 2]])
    np.testing.assert_allclose(both(X, Y), expected)
    lengths = np.column_stack([(X[:, :2] ** 2).sum(axis=1), np.ones(20)])
    np.testing.assert_allclose(both.diagonal(X), lengths)
    assert not both.precomputed


def test_a_combined_kernel_takes_rows_of_integers_for_floats():
    rows = np.random.default_rng(0).integers(0, 5, (9, 2))
    both = CombinedKernel(
        [Kernel("rbf", {"gamma": 0.3})] * 2, [slice(0, 1), slice(1, 2)], np.array([0.5, 2.5])
    )
    np.testing.assert_array_equal(both(rows, rows), both(rows.astype(float), rows.astype(float)))
