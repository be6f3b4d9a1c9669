"""Columns of few or piled values that would tear the graph of neighbours."""

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy.stats import kstest
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits, make_blobs
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from kernelmeans import KernelPowerKMeans
from kernelmeans.heat import HeatKernel
from kernelmeans.heat.distinct import DistinctRows
from kernelmeans.heat.dither import (
    ANSWERS,
    FEW,
    LONG,
    TORN,
    dithered,
    few_valued,
    may_tear,
    piled,
    shortened,
    untorn,
    untorn_sample,
)
from kernelmeans.heat.neighbors import NearestRows
from kernelmeans.search.pieces import pieces_of


def clusters(n, *, n_values, n_columns, seed=0):
    """Three clusters 10 standard deviations apart, and columns of chance; all of variance 1."""
    X, y = make_blobs(n, centers=[[0, 0, 0], [10, 0, 0], [0, 10, 0]], random_state=seed)
    chance = np.random.default_rng(seed).integers(0, n_values, (n, n_columns))
    return StandardScaler().fit_transform(np.column_stack([X, chance])), y


@pytest.mark.parametrize(("approximation", "least"), [(None, 1), ("landmarks", 0.9)])
@pytest.mark.parametrize("n_values", [2, 3])
@pytest.mark.parametrize("n", [150, 600, pytest.param(2000, marks=pytest.mark.slow)])
def test_columns_of_chance_do_not_hide_clusters(n, n_values, approximation, least):
    for seed in range(3):
        X, y = clusters(n, n_values=n_values, n_columns=2, seed=seed)
        model = KernelPowerKMeans(3, approximation=approximation, random_state=0).fit(X)
        assert adjusted_rand_score(y, model.labels_) >= least
        new, truth = clusters(300, n_values=n_values, n_columns=2, seed=seed + 100)
        assert adjusted_rand_score(truth, model.predict(new)) > 0.9
        np.testing.assert_array_equal(model.predict(X), model.labels_)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_whole_numbers_beside_skewed_ones_do_not_cut_clusters(seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 4, 2000)
    age = np.round(np.array([25, 35, 50, 62])[y] + rng.normal(0, 2.5, len(y)))
    income = rng.lognormal(np.array([7, 10, 8, 9.5])[y], 0.35)
    X = StandardScaler().fit_transform(np.column_stack([age, income]))
    model = KernelPowerKMeans(4, random_state=0).fit(X)
    assert adjusted_rand_score(y, model.labels_) > 0.98
    np.testing.assert_array_equal(model.predict(X), model.labels_)


def test_noise_on_many_values_undoes_their_rounding():
    rng = np.random.default_rng(0)
    numbers = np.append(rng.integers(0, 40, 4000), 500.0)
    noise = dithered(np.column_stack([numbers, 20 * rng.standard_normal(4001)]), np.array([0]))
    assert kstest(noise[:, 0] - numbers, "uniform", (-0.5, 1)).pvalue > 0.01
    # A column that varies ten times as much as the others is meant to count.
    numbers = numbers[:-1]
    X = np.column_stack([numbers, rng.standard_normal(4000) * numbers.std() / 10])
    noise = dithered(X, np.array([0]))[:, 0] - numbers
    assert np.abs(noise).max() == pytest.approx(0.05, rel=0.05)
    np.testing.assert_array_equal(dithered(X[:, :1], np.array([0])), X[:, :1])


def test_a_few_values_far_away_do_not_enlarge_the_noise():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 3000)
    numbers = 6.0 * y + rng.integers(0, 3, 3000)
    numbers[:10] = 60 + 20 * np.arange(10)
    X = StandardScaler().fit_transform(np.column_stack([numbers, rng.standard_normal(3000)]))
    labels = KernelPowerKMeans(3, random_state=0).fit(X).labels_
    assert adjusted_rand_score(y[10:], labels[10:]) > 0.97


@pytest.mark.parametrize(
    "count",
    [
        lambda rng: np.log1p(rng.negative_binomial(1, 0.35, 400)),
        lambda rng: np.sqrt(rng.poisson(2, 400)),
    ],
    ids=["returned orders", "calls"],
)
def test_counts_of_chance_beside_numbers_do_not_cut_clusters(count):
    scores = []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        y = rng.choice(3, 400, p=[0.5, 0.3, 0.2])
        numbers = np.array([[0, 0, 0], [6, 0, 0], [0, 6, 0]])[y] + rng.standard_normal((400, 3))
        X = StandardScaler().fit_transform(np.column_stack([numbers, count(rng)]))
        scores.append(agreement(X, y))
    assert np.mean(scores) > 0.9


@pytest.mark.parametrize("seed", range(2))
def test_numbers_of_orders_on_a_logarithmic_scale_hide_no_clusters(seed):
    """Half of the customers have one order, and the step to two is the longest of all."""
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1, 2], [2000, 1000, 1000])
    orders = np.log(rng.geometric(0.4, 4000))
    places = np.array([[0, 0], [5, 0], [5, 5]])[y] + rng.standard_normal((4000, 2))
    X = StandardScaler().fit_transform(np.column_stack([orders, places]))
    labels = KernelPowerKMeans(3, random_state=0).fit(X).labels_
    assert adjusted_rand_score(y, labels) > 0.95


def test_noise_on_uneven_values_goes_twice_as_far_as_on_the_other_side_at_most():
    rng = np.random.default_rng(0)
    values = np.array([0.0, 8, 12, 14, *range(15, 30), 60, 61])
    numbers = np.repeat(values, 100)
    X = np.column_stack([numbers, 20 * rng.standard_normal(len(numbers))])
    noise = (dithered(X, np.array([0]))[:, 0] - numbers).reshape(-1, 100)
    before, after = [8, 8, 4, 2, *[1] * 15, 2, 1], [8, 4, 2, *[1] * 15, 2, 1, 1]
    np.testing.assert_allclose(-noise.min(axis=1), np.array(before) / 2, rtol=0.1)
    np.testing.assert_allclose(noise.max(axis=1), np.array(after) / 2, rtol=0.1)


@pytest.mark.parametrize(("n_values", "columns"), [(FEW, [1]), (FEW + 1, [])])
def test_columns_of_many_values_stay(n_values, columns):
    rng = np.random.default_rng(0)
    numbers = 100.0 * (np.arange(5000) % n_values)
    nearest = NearestRows(np.column_stack([rng.standard_normal(5000), numbers]), "euclidean")
    assert list(untorn(nearest, 8)[1]) == columns
    assert list(may_tear(nearest.rows)) == columns


def test_a_column_that_is_the_clusters_keeps_them():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 400)
    X = np.column_stack([6.0 * y, rng.standard_normal((400, 2))])
    labels = KernelPowerKMeans(2, random_state=0).fit(X).labels_
    assert adjusted_rand_score(y, labels) > 0.95


def test_permuted_rows_have_permuted_labels():
    X, _ = clusters(300, n_values=2, n_columns=1)
    order = np.random.default_rng(0).permutation(len(X))
    labels = KernelPowerKMeans(3, random_state=0).fit(X).labels_
    permuted = KernelPowerKMeans(3, random_state=0).fit(X[order]).labels_
    assert adjusted_rand_score(labels[order], permuted) == 1


@given(
    n=st.integers(50, 80),
    n_values=st.integers(1, 40),
    n_numbers=st.integers(1, 3),
    weight=st.sampled_from([0.01, 1.0, 100.0]),
    n_neighbors=st.integers(2, 9),
    seed=st.integers(0, 99),
)
def test_columns_that_tear_are_those_in_which_neighbors_hardly_differ(
    n, n_values, n_numbers, weight, n_neighbors, seed
):
    rng = np.random.default_rng(seed)
    numbers = rng.standard_normal((n, n_numbers))
    X = np.column_stack([numbers, weight * rng.integers(0, n_values, (n, 2))])
    square = ((X[:, None] - X) ** 2).sum(axis=2)
    np.fill_diagonal(square, np.inf)
    near = np.argsort(square, axis=1)[:, : n_neighbors - 1]
    expected, is_few = [], n_values > 1
    for j in (n_numbers, n_numbers + 1):
        differ = np.mean([X[i, j] != X[other, j] for i in range(n) for other in near[i]])
        chance = np.mean(X[:, None, j] != X[:, j])
        has_short_steps, beside_numbers = len(set(X[:, j])) > ANSWERS, n_numbers > 1
        if is_few and differ < TORN * (1 + has_short_steps + beside_numbers) * chance:
            expected.append(j)
    nearest = NearestRows(X, "euclidean")
    torn = [c.place for c in few_valued(nearest) if c.tears(nearest.others(n_neighbors - 1))]
    assert torn == expected
    # With noise on these the other one may tear the graph too.
    assert list(untorn(nearest, n_neighbors)[1]) == expected or len(expected) == 1


@pytest.mark.parametrize("scale", [1e-300, 1e-3, 1.0, 1e300])
def test_the_noise_is_that_of_rounding(scale):
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.standard_normal(4000), rng.choice([0.0, 1.0], 4000)]) * scale
    changed = dithered(X, np.array([1]))
    np.testing.assert_array_equal(changed[:, 0], X[:, 0])
    noise = (changed[:, 1] - X[:, 1]) / scale
    # A number that was rounded to a whole one is wrong by a uniform number between -0.5 and 0.5.
    assert kstest(noise, "uniform", (-0.5, 1)).pvalue > 0.01


def test_rare_values_get_less_noise():
    X = np.column_stack([np.random.default_rng(0).standard_normal(10_000), np.arange(10_000) < 100])
    noise = (dithered(X, np.array([1])) - X)[:, 1]
    # Half a step, 0.5, would be that of equally frequent values.
    assert 0 < np.abs(noise).max() < 2 * X[:, 1].std() < 0.2


def test_tables_without_such_columns_are_as_they_were():
    X, _ = load_digits(return_X_y=True)
    nearest = NearestRows(X, "euclidean")
    assert untorn(nearest, 8)[0] is nearest
    assert untorn_sample(X, "euclidean", 500, 10, 0) is X


def test_cosine_and_sparse_rows_are_as_they_were():
    X, _ = clusters(300, n_values=2, n_columns=1)
    assert list(untorn(NearestRows(X, "euclidean"), 8)[1]) == [3]
    for rows, metric in ((X, "cosine"), (scipy.sparse.csr_array(X), "euclidean")):
        nearest = NearestRows(rows, metric)
        assert untorn(nearest, 8)[0] is nearest
        assert untorn_sample(rows, metric, 300, 3, 0) is rows


def test_six_rows_are_too_few():
    X = np.array([[1, 2], [1, 4], [1, 0], [10, 2], [10, 4], [10, 0]], float)
    labels = KernelPowerKMeans(2, random_state=0).fit(X).labels_
    assert len(set(labels[:3])) == len(set(labels[3:])) == 1
    assert labels[0] != labels[3]


def test_constant_columns_are_no_numbers():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.standard_normal(400), rng.integers(0, 9, (400, 2)), np.ones((400, 3))])
    few = few_valued(NearestRows(X, "euclidean"))
    assert [(column.place, column.is_beside_numbers) for column in few] == [(1, False), (2, False)]


def test_the_next_column_that_tears_is_found_too():
    rng = np.random.default_rng(22)
    X = np.column_stack([rng.standard_normal((200, 13)), rng.choice([-1.0, 1.0], (200, 3))])
    nearest = NearestRows(X, "euclidean")
    differ = [(X[nearest.others(6), j] != X[:, [j]]).mean() for j in (13, 14, 15)]
    by_chance = [2 * (X[:, j] > 0).mean() * (X[:, j] < 0).mean() for j in (13, 14, 15)]
    assert list(np.array(differ) < 2 * TORN * np.array(by_chance)) == [True, False, True]
    assert list(untorn(nearest, 7)[1]) == [13, 14, 15]


@pytest.mark.parametrize("seed", range(3))
def test_a_city_and_flags_of_chance_hide_no_segments(seed):
    """A table of customers. Each city tears the graph a little, and all together do."""
    rng = np.random.default_rng(seed)
    segments = [(26, 24, 5, 220), (41, 48, 14, 900), (67, 31, 3, 380), (52, 98, 26, 4200)]
    y = rng.choice(4, 1200, p=[0.35, 0.3, 0.2, 0.15])
    age, income, orders, amount = np.array(segments, float)[y].T
    numbers = [
        rng.normal(age, 4.5).round(),
        income * np.exp(rng.normal(0, 0.18, 1200)),
        rng.poisson(orders),
        amount * np.exp(rng.normal(0, 0.25, 1200)),
        rng.beta(2, 12, 1200),
    ]
    sex, city = np.eye(2)[rng.integers(2, size=1200)], np.eye(8)[rng.integers(8, size=1200)]
    newsletter = np.sqrt(2) * rng.integers(2, size=1200)
    X = np.column_stack(
        [StandardScaler().fit_transform(np.transpose(numbers)), sex, city, newsletter]
    )
    labels = KernelPowerKMeans(4, random_state=0).fit_predict(X)
    assert adjusted_rand_score(y, labels) > 0.9


def answers(n_kinds, n_columns, n, seed, n_values=2):
    """Answers of kinds of people who differ in a third of the questions, a tenth by mistake."""
    rng = np.random.default_rng(seed)
    while True:
        typical = rng.integers(0, 2, (n_kinds, n_columns))
        apart = (typical[:, None] != typical).sum(axis=2)[~np.eye(n_kinds, dtype=bool)]
        if apart.min() >= n_columns // 3:
            break
    y = np.arange(n) % n_kinds
    return rng.binomial(n_values - 1, 0.1 + 0.8 * typical[y]).astype(float), y


def agreement(X, y):
    labels = KernelPowerKMeans(len(set(y)), random_state=0).fit_predict(X)
    return adjusted_rand_score(y, labels)


def shorter(X, metric="euclidean", n_neighbors=7):
    """The rows before and after, in the same order."""
    nearest = DistinctRows.of(X, None, metric).nearest
    return nearest.rows, shortened(nearest, n_neighbors, few_valued(nearest)).rows


@pytest.mark.parametrize(
    ("n_kinds", "n_columns", "n"), [(2, 10, 1000), (2, 12, 300), (3, 12, 400), (4, 16, 600)]
)
def test_kinds_of_answers_are_found_in_scaled_tables(n_kinds, n_columns, n):
    scores, rival = [], []
    for seed in range(6):
        X, y = answers(n_kinds, n_columns, n, seed)
        X = StandardScaler().fit_transform(X)
        scores.append(agreement(X, y))
        labels = KMeans(n_kinds, n_init=10, random_state=0).fit_predict(X)
        rival.append(adjusted_rand_score(y, labels))
    assert np.mean(scores) > np.mean(rival) - 0.1
    assert np.mean(scores) > 0.85


def test_yes_and_no_and_grades_count_alike_side_by_side():
    scores = []
    for seed in range(6):
        flags, y = answers(3, 8, 450, seed)
        grades, _ = answers(3, 4, 450, seed, n_values=5)
        scores.append(agreement(StandardScaler().fit_transform(np.c_[flags, grades]), y))
    assert np.mean(scores) > 0.95


@pytest.mark.parametrize("share", [0.02, 0.1, 0.5])
def test_answers_of_chance_beside_numbers_cut_no_cluster(share):
    rng = np.random.default_rng(0)
    y = np.arange(400) % 2
    numbers = 4.0 * y[:, None] + rng.standard_normal((400, 2))
    X = StandardScaler().fit_transform(np.c_[numbers, rng.random((400, 4)) < share])
    assert agreement(X, y) > 0.85


def test_scaled_answers_are_of_one_piece_and_new_rows_are_placed():
    X, y = answers(2, 10, 2000, 0)
    X = StandardScaler().fit_transform(X)
    model = KernelPowerKMeans(2, random_state=0).fit(X[:1000])
    assert adjusted_rand_score(y[1000:], model.predict(X[1000:])) > 0.85
    np.testing.assert_array_equal(model.predict(X[:1000]), model.labels_)
    assert (pieces_of(X) == 0).all()


@given(
    shares=st.lists(st.floats(0.03, 0.5), min_size=1, max_size=6),
    n_values=st.integers(2, 7),
    n_numbers=st.integers(1, 3),
    weight=st.sampled_from([0.1, 1.0, 1.5, 10.0]),
    dtype=st.sampled_from(["float64", "float32"]),
    seed=st.integers(0, 99),
)
def test_answers_that_tear_get_ranges_by_the_widest_column_and_their_steps(
    shares, n_values, n_numbers, weight, dtype, seed
):
    rng = np.random.default_rng(seed)
    graded = rng.binomial(n_values - 1, shares, (90, len(shares)))
    graded = weight * graded / np.maximum(graded.std(axis=0), 1e-9)
    rows, found = shorter(np.c_[graded, rng.standard_normal((90, n_numbers))].astype(dtype))
    expected = rows.astype(np.longdouble)
    widest = expected.std(axis=0).max()
    square = ((expected[:, None] - expected) ** 2).sum(axis=2)
    np.fill_diagonal(square, np.inf)
    near = np.argsort(square, axis=1)[:, :6]
    answers = [
        column
        for column in expected.T
        if 1 < len(set(column)) <= 5
        and max(column) - min(column) > widest * np.sqrt(len(set(column)) - 1)
    ]
    limits = [widest * np.sqrt(len(set(column)) - 1) for column in answers]
    differ = [np.mean(column[near] != column[:, None]) for column in answers]
    chance = [np.mean(column != column[:, None]) for column in answers]
    n_few = sum(len(set(column)) > 1 for column in graded.T)
    fraction = 0.4 if n_few <= n_numbers + graded.shape[1] - n_few else 0.2
    torn = any(np.array(differ) < fraction * np.array(chance))
    long = any(np.ptp(column) > LONG * limit for column, limit in zip(answers, limits, strict=True))
    if torn and long:
        for column, limit in zip(answers, limits, strict=True):
            column[:] = (column - min(column)) / np.ptp(column) * limit
    np.testing.assert_allclose(found, expected.astype(float), atol=1e-4)


def test_steps_of_shorter_answers_are_exactly_equal():
    X, _ = answers(3, 12, 600, 0)
    X[:, 6:] += answers(3, 6, 600, 1)[0] + answers(3, 6, 600, 2)[0]
    _, found = shorter(StandardScaler().fit_transform(X))
    flags = {value for column in found.T[:6] for value in column}
    grades = {value for column in found.T[6:] for value in column}
    assert (len(flags), len(grades)) == (2, 4)


def test_equal_ranges_and_codes_of_categories_are_as_they_were():
    rng = np.random.default_rng(0)
    X = (rng.random((400, 8)) < np.linspace(0.05, 0.6, 8)).astype(float)
    few = StandardScaler().fit_transform(rng.integers(0, 25, (400, 1)))
    number = StandardScaler().fit_transform(rng.standard_normal((400, 1)))
    # Codes of a flag and a category beside one number, of many rows that are equal or of none.
    codes = [np.c_[X, np.sqrt(2) * X[:, :2], one] for one in (few, number)]
    ranges = np.c_[X, rng.random((400, 2))]
    ranges = [MinMaxScaler().fit_transform(ranges).astype(dtype) for dtype in ("f4", "f8")]
    for table in (X, *codes, *(one[::2] for one in codes), *ranges, load_digits().data):
        before, after = shorter(table)
        assert after is before


@pytest.mark.parametrize("constant", [1e25, -1e25])
def test_a_large_constant_column_changes_no_steps(constant):
    X, _ = answers(3, 9, 250, 1)
    X = StandardScaler().fit_transform(X).astype(np.float32)
    _, expected = shorter(X)
    _, found = shorter(np.c_[X, np.full(len(X), constant, np.float32)])
    assert np.ptp(found[:, :-1], axis=0).tolist() == np.ptp(expected, axis=0).tolist()
    assert np.ptp(expected, axis=0).min() > 0


def test_a_rare_answer_that_tears_nothing_stays_far():
    rng = np.random.default_rng(0)
    X = StandardScaler().fit_transform(np.c_[rng.standard_normal((500, 40)), rng.random(500) < 0.3])
    before, after = shorter(X)
    assert np.ptp(before[:, -1]) > LONG * before.std(axis=0).max()
    assert after is before


def test_shorter_answers_count_distinct_rows_only_in_any_order():
    X, _ = answers(3, 9, 250, 1)
    X = StandardScaler().fit_transform(X)
    order = np.random.default_rng(1).permutation(len(X))
    weight = 1.0 + np.arange(len(X)) % 3
    one = HeatKernel().fit(X, n_clusters=3).features(X)
    for rows, given_weight in ((X[order], None), (np.vstack([X, X[:99]]), None), (X, weight)):
        again = HeatKernel().fit(rows, given_weight, n_clusters=3).features(X)
        np.testing.assert_array_equal(again, one)


@pytest.mark.parametrize("scale", [1e-300, 1e-3, 1e300])
def test_units_of_answers_do_not_matter(scale):
    X, _ = answers(2, 8, 400, 0)
    X = StandardScaler().fit_transform(np.c_[X, np.random.default_rng(0).standard_normal(400)])
    before, after = shorter(X / np.abs(X).max())
    assert not np.array_equal(before, after)
    moved = NearestRows(before * scale, "euclidean")
    moved = shortened(moved, 7, few_valued(moved)).rows
    np.testing.assert_allclose(moved / scale, after, rtol=1e-9)


def with_amounts(seed, n_amounts, n=200):
    """Three clear groups, beside amounts that are zero by chance in half of the rows."""
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(3), n)
    X = np.array([[0, 0, 0, 0], [3, 3, 0, 0], [0, 3, 3, 3]])[y] + rng.normal(0, 0.7, (3 * n, 4))
    amounts = rng.normal(5, 0.7, (3 * n, n_amounts)) * (rng.random((3 * n, n_amounts)) < 0.5)
    return StandardScaler().fit_transform(np.hstack([X, amounts])), y


@pytest.mark.parametrize("n_amounts", [1, 2])
@pytest.mark.parametrize(("approximation", "n"), [(None, 40), (None, 200), ("landmarks", 700)])
def test_amounts_that_are_often_zero_hide_no_clusters(n_amounts, approximation, n):
    X, y = with_amounts(0, n_amounts, n)
    model = KernelPowerKMeans(3, approximation=approximation, random_state=0).fit(X)
    assert adjusted_rand_score(y, model.labels_) > 0.95
    assert_array_equal(model.predict(X), model.labels_)


def test_piles_are_found_where_enough_rows_are_equal_and_enough_differ():
    rng = np.random.default_rng(0)
    numbers, pile = rng.standard_normal(400), rng.random((400, 5))
    # No pile, a small one, a large one, nearly all rows, and a column of few values.
    shares = [0, 0.02, 0.4, 0.98, 0.5]
    rows = np.where(pile < shares, -3.0, numbers[:, None])
    rows[:, 4] = rows[:, 4].round()
    nearest = NearestRows(rows, "euclidean")
    (found,) = piled(nearest, few_valued(nearest))
    assert found.place == 2
    assert_array_equal(found.entries, rows[:, 2] == -3)
    for other in (NearestRows(rows, "cosine"), NearestRows(rows[:40], "euclidean")):
        assert not piled(other, [])


def test_copies_of_a_row_far_away_are_no_pile():
    rng = np.random.default_rng(0)
    rows = np.vstack([rng.standard_normal((300, 2)), np.full((60, 2), 20.0)])
    nearest, _ = DistinctRows.of(rows, None, "euclidean")
    assert len(nearest.rows) == 350
    assert not piled(nearest, [])


@pytest.mark.parametrize("scale", [1.0, 1e-200, 1e200])
def test_noise_on_a_pile_goes_half_of_the_way_to_the_nearest_quarter(scale):
    rng = np.random.default_rng(0)
    numbers = rng.uniform(0, 1, (2000, 2))
    limit = np.column_stack([np.maximum(numbers[:, 0], 0.4), numbers[:, 1]])
    noise = np.abs(dithered(scale * limit, np.array([0])) / scale - limit)
    assert noise[:, 1].max() < 1e-12
    # A quarter of the rows above the limit are within 0.15 of it.
    assert noise[:, 0].max() == pytest.approx(0.075, rel=0.1)
    # It is at most a standard deviation, of a column that varies as much as the other one.
    far = np.column_stack([numbers[:, 0] + 50 * (numbers[:, 0] > 0.4), numbers[:, 1]])
    far[numbers[:, 0] <= 0.4, 0] = 0
    noise = np.abs(dithered(scale * far, np.array([0])) / scale - far)
    assert noise.max() == pytest.approx(numbers[:, 1].std(), rel=0.01)
