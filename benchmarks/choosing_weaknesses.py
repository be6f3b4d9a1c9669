"""Makers of sets for the benchmark of searches: kinds on which searches were weak."""

from itertools import product

import numpy as np
from sklearn.preprocessing import StandardScaler, normalize

from choosing_kinds import spread_out
from heat_sets import Labelled


def customers(n: int, d: int, seed: int) -> Labelled:
    """Incomes and scores, in whole numbers: a dense group in the middle, four wide ones around."""
    rng = np.random.default_rng(seed)
    corners = rng.permutation(list(product((-1, 1), repeat=d)))[:4]
    centres = 50 + 30 * np.vstack([np.zeros(d), corners])
    y = rng.choice(5, n, p=[0.4, 0.2, 0.16, 0.13, 0.11])
    widths = np.where(y == 0, 6, 11)
    return np.rint(centres[y] + widths[:, None] * rng.standard_normal((n, d))), y


def cells(k: int, d: int, n: int, seed: int) -> Labelled:
    """Principal components of cells: types of 4 % to 40 % that differ most in the first ones."""
    rng = np.random.default_rng(seed)
    y = rng.choice(k, n, p=np.r_[0.4, np.linspace(1.2 / (k - 1) - 0.04, 0.04, k - 1)])
    centres = rng.standard_normal((k, d)) * 8 / np.arange(1, d + 1)
    widths = rng.uniform(0.6, 1.2, k)
    return centres[y] + widths[y, None] * rng.standard_normal((n, d)), y


def survey(k: int, n_flags: int, n_grades: int, n: int, seed: int) -> Labelled:
    """Answers of kinds of people, yes or no and from 1 to 5, standardised."""
    rng, y = np.random.default_rng(seed), np.arange(n) % k
    flags = rng.random((n, n_flags)) < rng.choice([0.1, 0.9], (k, n_flags))[y]
    grades = 1 + rng.binomial(4, rng.choice([0.1, 0.5, 0.9], (k, n_grades))[y])
    return StandardScaler().fit_transform(np.c_[flags, grades]), y


def far_piece(d: int, n: int, seed: int) -> Labelled:
    """Three clusters that nearly touch, and far away 15 % of the rows, which are one cluster."""
    rng = np.random.default_rng(seed)
    y = rng.choice(4, n, p=[0.35, 0.3, 0.2, 0.15])
    centres = np.vstack([spread_out(3, d, 4, rng), np.full(d, 40)])
    return centres[y] + rng.standard_normal((n, d)), y


def groups(k: int, d: int, n: int, distance: float, seed: int) -> Labelled:
    """Clusters of unequal sizes and widths about random centres, which are far from each other."""
    rng = np.random.default_rng(seed)
    share = rng.lognormal(0, 0.4, k)
    y = rng.choice(k, n, p=share / share.sum())
    centres = distance * rng.standard_normal((k, d))
    widths = rng.uniform(0.6, 1.2, k)
    return centres[y] + widths[y, None] * rng.standard_normal((n, d)), y


def topics(k: int, d: int, n: int, seed: int) -> Labelled:
    """Rows of length 1 about topics of unequal sizes, as of texts; none is near another."""
    X, y = groups(k, d, n, 1, seed)
    return normalize(X), y
