"""A customer table as a firm has it, and next month's file: known segments, drawn from a seed.

Numbers in several units, money with a heavy tail, dates, categories, yes/no and true/false, text,
identifiers, missing values, and columns without meaning: a constant, a duplicate, a row counter.
The five segments overlap. No column alone tells them apart. Families and commuters differ in
categories, hardly in numbers. Needs polars (extra cli). Writes customers.csv, next_month.csv, and
the true segments as segments.csv and next_segments.csv, into the folder named on the command line.
-n and --seed draw more customers, or others.
"""

import argparse
from datetime import date, timedelta
from pathlib import Path

import numpy as np
import polars as pl

SEGMENTS = ("families", "students", "retired", "commuters", "businesses")
SIZES = (0.36, 0.25, 0.2, 0.13, 0.06)

Pairs = tuple[tuple[float, float], ...]

# For each segment: mean and standard deviation.
BIRTH_YEAR = ((1979, 7), (2001, 3), (1951, 7), (1981, 9), (1974, 10))
SIGNUP_YEAR = ((2017, 3), (2023, 1), (2013, 4), (2018, 3), (2019, 3))
# Median, and standard deviation of the logarithm.
INCOME = ((52e3, 0.4), (14e3, 0.5), (27e3, 0.4), (49e3, 0.4), (88e3, 0.6))
SPEND = ((62, 0.5), (24, 0.5), (31, 0.5), (54, 0.5), (210, 0.8))
MINUTES = ((850, 0.6), (1900, 0.6), (250, 0.7), (1000, 0.6), (2600, 0.8))
# Means of counts, whose variance is larger than that of a Poisson count.
VISITS = (4.0, 1.5, 8.0, 3.2, 2.0)
TICKETS = (0.9, 0.4, 1.6, 0.8, 4.0)
# Mean and standard deviation again, cut off at 1 and 5.
RATING = ((3.9, 0.7), (4.2, 0.6), (3.6, 0.8), (3.8, 0.7), (3.2, 0.9))
# Probability of each value.
REGION = {
    "north": (0.2, 0.2, 0.2, 0.43, 0.1),
    "east": (0.2, 0.2, 0.25, 0.05, 0.1),
    "south": (0.25, 0.15, 0.25, 0.07, 0.25),
    "west": (0.2, 0.15, 0.2, 0.07, 0.15),
    "capital": (0.15, 0.3, 0.1, 0.38, 0.4),
}
PLAN = {
    "basic": (0.14, 0.78, 0.7, 0.06, 0.02),
    "plus": (0.1, 0.17, 0.17, 0.84, 0.13),
    "family": (0.75, 0.04, 0.12, 0.05, 0.02),
    "business": (0.01, 0.01, 0.01, 0.05, 0.83),
}
PAYMENT = {
    "debit": (0.7, 0.12, 0.28, 0.12, 0.12),
    "card": (0.22, 0.86, 0.07, 0.82, 0.12),
    "invoice": (0.08, 0.02, 0.65, 0.06, 0.76),
}
NEWSLETTER = (0.65, 0.2, 0.7, 0.2, 0.4)
APP = (0.7, 0.97, 0.2, 0.9, 0.8)
MISSING = {"income": 0.15, "minutes": 0.03, "rating": 0.04, "region": 0.03, "birth_year": 0.035}

FIRST = ["Ada", "Ben", "Cleo", "Dan", "Eva", "Finn", "Gita", "Hugo", "Ines", "Jan", "Kira", "Leo"]
LAST = ["Berg", "Vogel", "Stein", "Wald", "Bach", "Sommer", "Winter", "Linde", "Roth", "Keller"]
INITIALS = list("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
NOTES = [
    "asked about invoice {}",
    "called back on ticket {}",
    "moved, old address no. {}",
    "ok ({})",
]


def customers(n: int = 4000, seed: int = 0) -> tuple[pl.DataFrame, np.ndarray]:
    """Draw customers.

    Parameters
    ----------
    n : int, default=4000
        Number of customers.
    seed : int, default=0
        The same seed gives the same table.

    Returns
    -------
    table : polars.DataFrame
        One row per customer.
    segment : ndarray of shape (n,)
        Index into SEGMENTS of each customer.
    """
    rng = np.random.default_rng(seed)
    segment = rng.choice(len(SEGMENTS), n, p=SIZES)
    return _table(rng, segment, first_number=1), segment


def next_month(
    table: pl.DataFrame, segment: np.ndarray, n_new: int = 400, seed: int = 1
) -> tuple[pl.DataFrame, np.ndarray]:
    """The file of a month later.

    The old customers have moved on a little, one in twenty has left, and there are new ones, some
    of a plan that did not exist before. Rows and columns have another order. Five rows are strange:
    an absurd income, a negative spend, a birth year of 0, two of missing values only.

    Parameters
    ----------
    table, segment
        What `customers` returned.
    n_new : int, default=400
        Number of new customers.
    seed : int, default=1
        The same seed gives the same table.

    Returns
    -------
    table : polars.DataFrame
        One row per customer.
    segment : ndarray of shape (n,)
        Index into SEGMENTS of each customer, -1 for the strange rows.
    """
    rng = np.random.default_rng(seed)
    stay = rng.random(len(table)) < 0.95
    old = table.filter(stay)
    grown = (pl.col(name) * rng.lognormal(0, 0.1, len(old)) for name in ("spend", "minutes"))
    old = old.with_columns(*(column.round(2) for column in grown))
    new_segment = rng.choice(len(SEGMENTS), n_new, p=SIZES)
    new = _table(rng, new_segment, first_number=len(table) + 1)
    trial = pl.Series(rng.random(n_new) < 0.1)
    new = new.with_columns(
        signup=pl.lit(date(2026, 1, 1)) + pl.duration(days=pl.Series(rng.integers(31, size=n_new))),
        plan=pl.when(trial).then(pl.lit("trial")).otherwise("plan"),
    )
    strange = _strange(_table(rng, np.arange(5), first_number=len(table) + n_new + 1))
    both = pl.concat([old, new, strange])
    segment = np.concatenate([segment[stay], new_segment, np.full(len(strange), -1)])
    order = rng.permutation(len(both))
    columns = rng.permutation([name for name in both.columns if name != "row"])
    both = both[order].with_columns(row=pl.int_range(1, len(both) + 1), revenue="spend")
    return both.select("row", *columns), segment[order]


def _table(rng: np.random.Generator, segment: np.ndarray, first_number: int) -> pl.DataFrame:
    n = len(segment)

    def normal(parameters: Pairs) -> np.ndarray:
        mean, deviation = np.array(parameters)[segment].T
        return rng.normal(mean, deviation)

    def lognormal(parameters: Pairs) -> np.ndarray:
        median, deviation = np.array(parameters)[segment].T
        return median * rng.lognormal(0, deviation)

    def count(means: tuple[float, ...]) -> np.ndarray:
        return rng.poisson(np.array(means)[segment] * rng.gamma(3, 1 / 3, n))

    def happens(probabilities: tuple[float, ...]) -> np.ndarray:
        return rng.random(n) < np.array(probabilities)[segment]

    def value(probabilities: dict[str, tuple[float, ...]]) -> np.ndarray:
        limits = np.cumsum(list(probabilities.values()), axis=0)[:-1, segment]
        return np.array(list(probabilities))[(limits < rng.random(n)).sum(axis=0)]

    numbers = first_number + rng.permutation(n)
    days = np.minimum(normal(SIGNUP_YEAR) - 2000, 25) * 365
    spend = lognormal(SPEND).round(2)
    table = pl.DataFrame(
        {
            "row": np.arange(1, n + 1),
            "customer_id": [f"K{(7919 * number) % 1_000_003:06d}" for number in numbers],
            "name": [
                f"{rng.choice(FIRST)} {rng.choice(INITIALS)}. {rng.choice(LAST)}" for _ in numbers
            ],
            "signup": [date(2000, 1, 1) + timedelta(int(day)) for day in days],
            "birth_year": normal(BIRTH_YEAR).astype(int),
            "region": value(REGION),
            "plan": value(PLAN),
            "payment": value(PAYMENT),
            "newsletter": np.where(happens(NEWSLETTER), "yes", "no"),
            "app": happens(APP),
            "income": lognormal(INCOME).round(-2),
            "spend": spend,
            "visits": count(VISITS),
            "minutes": lognormal(MINUTES).round(),
            "tickets": count(TICKETS),
            "rating": np.clip(normal(RATING), 1, 5).round(1),
            "currency": np.full(n, "EUR"),
            "revenue": spend,
            "note": [rng.choice(NOTES).format(number) for number in rng.integers(10**5, size=n)],
        }
    )
    gaps = {name: pl.Series(rng.random(n) < rate) for name, rate in MISSING.items()}
    return table.with_columns(
        pl.when(missing).then(None).otherwise(name).alias(name) for name, missing in gaps.items()
    )


def _strange(table: pl.DataFrame) -> pl.DataFrame:
    """Five rows as no segment has them; identifiers stay."""
    row = pl.int_range(len(table))
    absurd = {"income": 9e9, "spend": -50.0, "birth_year": 0}
    table = table.with_columns(
        pl.when(row == place).then(pl.lit(value)).otherwise(name).alias(name)
        for place, (name, value) in enumerate(absurd.items())
    )
    measured = pl.exclude("row", "customer_id")
    return table.with_columns(pl.when(row < len(absurd)).then(measured))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", nargs="?", type=Path, default=".", help="by default this one")
    parser.add_argument("-n", type=int, default=4000, help="number of customers (%(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="draws other ones (%(default)s)")
    chosen = parser.parse_args()
    if chosen.n < 1 or chosen.seed < 0:
        parser.error("-n is 1 or more, and --seed 0 or more")
    table, segment = customers(chosen.n, chosen.seed)
    later = next_month(table, segment, n_new=chosen.n // 10, seed=chosen.seed + 1)
    write(chosen.folder, "customers.csv", "segments.csv", table, segment)
    write(chosen.folder, "next_month.csv", "next_segments.csv", *later)


def write(folder: Path, file: str, truth: str, table: pl.DataFrame, segment: np.ndarray) -> None:
    table.write_csv(folder / file)
    names = pl.Series([*SEGMENTS, "strange"])[segment]
    table.select("customer_id", segment=names).write_csv(folder / truth)


if __name__ == "__main__":
    main()
