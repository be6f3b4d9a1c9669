"""Tables of numbers and categories: customers with known segments, and codes of categories.

``python benchmarks/customers.py customers`` compares methods on the table that
examples/customers.py draws: prepared by hand in several ways, and by TableTransformer.
``python benchmarks/customers.py codes`` compares ways to make numbers of categories, on this table
and on others; ``python benchmarks/customers.py skewed`` skewed numbers as they are with their
logarithms, as TableTransformer takes them. Figures are mean adjusted Rand indices over seeds, at
the true number of clusters.
The penguins are left out unless the package palmerpenguins is installed.
"""

import argparse
import sys
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.base import ClusterMixin
from sklearn.cluster import KMeans
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.impute import SimpleImputer
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture
from sklearn.preprocessing import StandardScaler

from kernelmeans import KernelPowerKMeans
from kernelmeans.tables import TableTransformer
from kernelmeans_paper.datasets import fetch

sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))
from customers import customers  # that of the examples

Table = tuple[pd.DataFrame, np.ndarray]
SKEWED = ("income", "spend", "minutes", "visits", "tickets")
USELESS = ("row", "customer_id", "name", "signup", "currency", "revenue", "note")


def dummies(column: pd.Series) -> np.ndarray:
    """One column of 0 and 1 for each value; a missing value is one too."""
    return pd.get_dummies(column.astype("string").fillna("missing")).to_numpy(float)


# A mismatch costs a distance of sqrt(2): what two rows differ by in a standardised number (root
# mean square).
def plain(column: pd.Series) -> np.ndarray:
    return dummies(column)


# Rare values are far from all others.
def unit_variance(column: pd.Series) -> np.ndarray:
    D = dummies(column)
    return D / np.sqrt(D.var(axis=0).sum() or 1)


def half_variance(column: pd.Series) -> np.ndarray:
    return unit_variance(column) / np.sqrt(2)


# What StandardScaler makes of the columns of OneHotEncoder.
def scaled_columns(column: pd.Series) -> np.ndarray:
    return StandardScaler().fit_transform(dummies(column))


CODES = {
    "0 and 1": plain,
    "variance 1": unit_variance,
    "variance 1/2": half_variance,
    "each scaled": scaled_columns,
}


def by_hand(
    table: pd.DataFrame, code: Callable[[pd.Series], np.ndarray], *, logarithms: bool = False
) -> np.ndarray:
    """Numbers imputed and standardised, and categories in a code."""
    numbers = table.select_dtypes("number")
    X = SimpleImputer(strategy="median").fit_transform(numbers)
    if logarithms:
        skewed = numbers.columns.isin(SKEWED)
        X[:, skewed] = np.log1p(X[:, skewed])
    others = [code(table[name]) for name in table.columns.difference(numbers.columns)]
    return np.hstack([StandardScaler().fit_transform(X), *others])


def methods(k: int, seed: int) -> dict[str, ClusterMixin]:
    return {
        "k-means": KMeans(k, n_init=20, random_state=seed),
        "mixture": GaussianMixture(k, n_init=5, reg_covar=1e-3, random_state=seed),
        "mixture, diagonal": GaussianMixture(
            k, covariance_type="diag", n_init=5, reg_covar=1e-3, random_state=seed
        ),
        "rbf": KernelPowerKMeans(k, kernel="rbf", random_state=seed),
        "heat": KernelPowerKMeans(k, random_state=seed),
    }


def customer_table(seed: int) -> Table:
    table, segment = customers(seed=seed)
    return table.drop(USELESS).to_pandas(), segment


def simulated(
    seed: int, *, numbers: int, categories: int, n_values: int, distance: float, sharpness: float
) -> Table:
    """Four unequal clusters: Gaussians some standard deviations apart, and categories.

    Frequencies of the values are drawn for each cluster: nearly the same ones with sharpness 0,
    mostly one value with sharpness 4.
    """
    rng = np.random.default_rng(seed)
    y = rng.choice(4, 2000, p=[0.4, 0.3, 0.2, 0.1])
    centers = rng.standard_normal((4, numbers))
    centers *= distance / np.sqrt(2 * numbers)
    table = pd.DataFrame(centers[y] + rng.standard_normal((len(y), numbers)))
    for number in range(categories):
        logits = rng.standard_normal(n_values) + sharpness * rng.standard_normal((4, n_values))
        # The largest of logits with Gumbel noise is a draw by their softmax.
        drawn = (logits[y] + rng.gumbel(size=(len(y), n_values))).argmax(axis=1)
        table[f"c{number}"] = drawn.astype(str)
    return table.rename(columns=str), y


def rare_flags(seed: int) -> Table:
    """Clusters of numbers, beside five flags of 5 % that say nothing."""
    table, y = simulated(seed, numbers=6, categories=0, n_values=0, distance=5, sharpness=0)
    flags = np.random.default_rng([seed, 1]).random((len(y), 5)) < 0.05
    names = [f"flag{number}" for number in range(5)]
    return pd.concat([table, pd.DataFrame(flags.astype(str), columns=names)], axis=1), y


def penguins(seed: int) -> Table:
    """Three species: four measures, island and sex, and some missing values."""
    from palmerpenguins import load_penguins

    table = load_penguins()
    columns = [name for name in table if name not in ("species", "year")]
    return table[columns], table["species"].astype("category").cat.codes.to_numpy()


def tables() -> Iterator[tuple[str, Callable[[int], Table]]]:
    yield "customers", customer_table
    if find_spec("palmerpenguins"):
        yield "penguins", penguins
    yield "rare flags of noise, 6 numbers", rare_flags

    def of(**parameters: float) -> Callable[[int], Table]:
        return lambda seed: simulated(seed, **parameters)

    yield (
        "2 categories, 8 numbers",
        of(numbers=8, categories=2, n_values=4, distance=4, sharpness=1.5),
    )
    yield (
        "5 categories of noise, 6 numbers",
        of(numbers=6, categories=5, n_values=4, distance=5, sharpness=0),
    )
    yield (
        "20 categories, 3 numbers",
        of(numbers=3, categories=20, n_values=3, distance=2, sharpness=1),
    )
    yield (
        "8 categories, 3 numbers of noise",
        of(numbers=3, categories=8, n_values=5, distance=0, sharpness=1.5),
    )


def skewed_tables() -> Iterator[tuple[str, Callable[[int], Table]]]:
    """Tables with skewed numbers, the last one shifted and not multiplied; then without."""
    yield "customers", lambda seed: customers(seed=seed)
    yield "breast cancer", lambda _: load_breast_cancer(return_X_y=True)
    yield "tox_171", lambda _: fetch("tox_171", return_X_y=True)

    def drawn(seed: int, kind: str) -> Table:
        rng = np.random.default_rng(seed)
        y = rng.integers(4, size=1200)
        centers, noise = rng.standard_normal((4, 6))[y], rng.standard_normal((1200, 6))
        if kind == "log-normal":
            return np.exp(centers + 0.7 * noise), y
        if kind == "gamma":
            return rng.gamma(2, 1, (1200, 6)) * (1 + 3 * rng.random((4, 6)))[y], y
        return rng.exponential(1, (1200, 6)) + 2 * rng.random((4, 6))[y], y

    for kind in ("log-normal", "gamma", "exponential, shifted"):
        yield kind, partial(drawn, kind=kind)
    yield "wine", lambda _: load_wine(return_X_y=True)
    yield "digits", lambda _: load_digits(return_X_y=True)


def compare_skewed(n_seeds: int) -> None:
    """Skewed numbers as they are, and as logarithms."""
    names = ["k-means", "rbf", "heat"]
    heads = [f"{name}, {what}" for what in ("keep", "log") for name in names]
    print(f"{'table':<34}" + "".join(f"{head:>19}" for head in heads) + f"{'logarithms':>12}")
    for title, draw in skewed_tables():
        rows = []
        for seed in range(n_seeds):
            X, y = draw(seed)
            kept, taken = TableTransformer(skewed="keep"), TableTransformer()
            found = [scores(one.fit_transform(X), y, seed, names) for one in (kept, taken)]
            count = sum(column.is_logarithm for column in taken.columns_)
            rows.append([*found[0], *found[1], count])
        print_row(title, rows)


def scores(X: np.ndarray, y: np.ndarray, seed: int, names: list[str]) -> list[float]:
    k = len(np.unique(y))
    found = [methods(k, seed)[name].fit_predict(X) for name in names]
    return [adjusted_rand_score(y, labels) for labels in found]


def compare_methods(n_seeds: int) -> None:
    """Methods on the customers, prepared in several ways."""
    names = list(methods(2, 0))
    print(f"{'prepared by':<34}" + "".join(f"{name:>19}" for name in names))
    for logarithms in (False, True):
        rows = []
        for seed in range(n_seeds):
            table, segment = customer_table(seed)
            rows.append(scores(by_hand(table, plain, logarithms=logarithms), segment, seed, names))
        print_row("hand, with logarithms" if logarithms else "hand", rows)
    # All columns as they come from the file: the transformer has to find out what they are.
    rows = []
    for seed in range(n_seeds):
        table, segment = customers(seed=seed)
        rows.append(scores(TableTransformer().fit_transform(table), segment, seed, names))
    print_row("TableTransformer", rows)


def print_row(name: str, rows: list[list[float]]) -> None:
    print(f"{name:<34}" + "".join(f"{value:>19.3f}" for value in np.mean(rows, axis=0)), flush=True)


def compare_codes(n_seeds: int) -> None:
    """Codes of categories on all tables."""
    names = ["k-means", "rbf", "heat"]
    print(f"{'table':<34}{'method':<10}" + "".join(f"{code:>14}" for code in CODES))
    for title, draw in tables():
        drawn = [draw(seed) for seed in range(n_seeds)]
        found = [
            np.mean([scores(by_hand(table, code), y, seed, names)
                     for seed, (table, y) in enumerate(drawn)], axis=0)
            for code in CODES.values()
        ]  # fmt: skip
        for name, values in zip(names, np.transpose(found), strict=True):
            print(f"{title:<34}{name:<10}" + "".join(f"{v:>14.3f}" for v in values), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", choices=["customers", "codes", "skewed"])
    parser.add_argument("--seeds", type=int, default=5)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    parts = {"customers": compare_methods, "codes": compare_codes, "skewed": compare_skewed}
    parts[arguments.part](arguments.seeds)


if __name__ == "__main__":
    main()
