"""Strong consistency, seen: centroids from n samples against the population's.

The distribution has finitely many points, so that the population's minimiser can be found by trying
every partition of them, and n samples are counts: sample weights of those points.
"""

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import count
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.metrics.pairwise import rbf_kernel

from kernelmeans import KernelPowerKMeans, MultiKernelPowerKMeans
from kernelmeans_paper.arrays import Array, IntArray
from kernelmeans_paper.grid import Experiment, Outcome, Results, Scale
from kernelmeans_paper.methods import COMMON
from kernelmeans_paper.power import power_weights
from kernelmeans_paper.report import Entry, Picture, Section, Table, new_figure
from kernelmeans_paper.report.picture import draw_lines
from kernelmeans_paper.statistics import mean, slope

ATOMS, K_CLUSTERS = 9, 3
#: Widths of the kernels; the first alone for one kernel.
GAMMAS = (0.5, 0.1, 2.0)
ENTROPY_WEIGHT = 2.0
#: Condition A2 with room to spare: smaller samples than these will do to see it.
LEAST_MARGIN = 0.03
SIZES = (30, 100, 300, 1000, 3000, 10000, 30000, 100000)
#: At which the power may stay; minus infinity is annealing to the end.
POWERS = (-np.inf, -8.0, -4.0, -2.0)
RESTARTS = 10


class Population(NamedTuple):
    """A distribution over points, its kernels and the minimiser over it.

    Attributes
    ----------
    points : ndarray of shape (m, 2)
        The support.
    shares : ndarray of shape (m,)
        Probabilities.
    matrices : ndarray of shape (L, m, m)
        Kernel matrices of the points.
    coefficients : ndarray of shape (k, m)
        The optimal centroids, as sums of points.
    kernel_weights : ndarray of shape (L,)
        Their kernel weights.
    margin : float
        How much worse the next best partition is, relatively: the paper's condition A2.
    """

    points: Array
    shares: Array
    matrices: Array
    coefficients: Array
    kernel_weights: Array
    margin: float


def partitions(m: int, k: int) -> Iterator[tuple[int, ...]]:
    """All ways to put m points into at most k groups, as labels that count groups as they come.

    Parameters
    ----------
    m : int
        Points.
    k : int
        Most groups.

    Yields
    ------
    tuple of int
        Labels.

    Examples
    --------
    >>> from kernelmeans_paper.experiments.consistency import partitions
    >>> list(partitions(3, 2))
    [(0, 0, 0), (0, 0, 1), (0, 1, 0), (0, 1, 1)]
    """
    stack: list[tuple[int, ...]] = [(0,)]
    while stack:
        labels = stack.pop()
        if len(labels) == m:
            yield labels
        else:
            stack += [(*labels, j) for j in reversed(range(min(max(labels) + 2, k)))]


def group_means(labels: IntArray, shares: Array, k: int) -> Array:
    """Coefficients (k, m) of the means of groups; zeros where a group has no mass."""
    member = (np.asarray(labels) == np.arange(k)[:, None]) * shares
    mass = member.sum(axis=1, keepdims=True)
    return np.asarray(member / np.where(mass > 0, mass, 1))


def costs(matrices: Array, coefficients: Array, labels: IntArray, shares: Array) -> Array:
    """What each kernel (L,) pays for a partition: mean squared distance to the group's mean."""
    own = coefficients[np.asarray(labels)]
    diagonal = np.einsum("lii->li", matrices)
    products = np.einsum("im,lmi->li", own, matrices)
    norms = np.einsum("im,lmn,in->li", own, matrices, own)
    return np.asarray((diagonal - 2 * products + norms) @ shares)


@cache
def population(kernels: int) -> Population:
    """Draw distributions until one has a clear minimiser for one kernel and for several."""
    for seed in count():
        drawn = {number: draw_population(number, seed) for number in (1, len(GAMMAS))}
        if min(candidate.margin for candidate in drawn.values()) > LEAST_MARGIN:
            return drawn[kernels]
    raise AssertionError("count() does not end")


def draw_population(kernels: int, seed: int) -> Population:
    """Draw a distribution and find its minimiser by enumeration.

    With several kernels the best kernel weights of a partition that costs c are proportional to
    exp(-c / lambda), and the objective under them is -lambda log mean exp(-c / lambda).
    """
    rng = np.random.default_rng(seed)
    points = 1.5 * rng.standard_normal((ATOMS, 2))
    shares = rng.dirichlet(np.full(ATOMS, 5.0))
    matrices = np.stack([rbf_kernel(points, gamma=g) for g in GAMMAS[:kernels]])
    everything = np.zeros(ATOMS, int)
    spread = costs(matrices, group_means(everything, shares, 1), everything, shares).mean()
    strength = ENTROPY_WEIGHT * float(spread)
    found = []
    for labels in partitions(ATOMS, K_CLUSTERS):
        coefficients = group_means(np.array(labels), shares, K_CLUSTERS)
        cost = costs(matrices, coefficients, np.array(labels), shares)
        objective = -strength * np.log(np.mean(np.exp(-cost / strength)))
        found.append((float(objective), labels, cost))
    found.sort(key=lambda entry: entry[0])
    (least, labels, cost), (second, _, _) = found[:2]
    weights = np.exp(-(cost - cost.min()) / strength)
    return Population(
        points,
        shares,
        matrices,
        group_means(np.array(labels), shares, K_CLUSTERS),
        weights / weights.sum(),
        second / least - 1,
    )


def _grid(scale: Scale) -> list[dict[str, Any]]:
    sizes = SIZES[:4] if scale.quick else SIZES
    powers = {1: POWERS, len(GAMMAS): POWERS[:1]}
    return [
        {
            "kernels": kernels,
            "power": None if np.isinf(power) else power,
            "n": n,
            "draws": 10 if scale.quick else 60,
        }
        for kernels, of_kernels in powers.items()
        for power in of_kernels
        for n in sizes
    ]


def _run(kernels: int, power: float | None, n: int, draws: int) -> Outcome:
    errors, weight_errors, same = [], [], []
    truth = population(kernels)
    for draw in range(draws):
        counts = np.random.default_rng((draw, n)).multinomial(n, truth.shares).astype(float)
        model = _fitted(truth, counts, power)
        if power is None:
            coefficients = group_means(model.labels_, counts, K_CLUSTERS)
        else:
            coefficients = _soft_centroids(truth, model, counts, power)
        errors.append(_distance(truth, coefficients))
        weights = getattr(model, "kernel_weights_", np.ones(1))
        weight_errors.append(float(np.abs(weights - truth.kernel_weights).sum()))
        partition = truth.coefficients.argmax(axis=0)
        same.append(len(set(zip(model.labels_, partition, strict=True))) == K_CLUSTERS)
    return {
        "error": errors,
        "weight_error": weight_errors,
        "same": float(np.mean(same)),
        "margin": truth.margin,
    }


def _fitted(truth: Population, counts: Array, power: float | None) -> Any:
    common = {**COMMON, "n_init": RESTARTS}
    if power is not None:
        common |= {"s0": power, "eta": 1.0, "tol": 1e-12}
    model: Any
    if len(truth.matrices) == 1:
        model = KernelPowerKMeans(K_CLUSTERS, kernel="rbf", gamma=GAMMAS[0], **common)
    else:
        kernels = [{"kernel": "rbf", "gamma": gamma} for gamma in GAMMAS]
        common |= {"kernel_scaling": None, "entropy_weight": ENTROPY_WEIGHT}
        model = MultiKernelPowerKMeans(K_CLUSTERS, kernels=kernels, **common)
    return model.fit(truth.points, sample_weight=counts)


def _soft_centroids(truth: Population, model: Any, counts: Array, power: float) -> Array:
    """Coefficients of the centroids at a fixed power, from their distances to all points."""
    distances = np.maximum(model.transform(truth.points).T ** 2, 1e-12)
    weights = counts * power_weights(distances, power)
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def _distance(truth: Population, coefficients: Array) -> float:
    """Distance between two sets of centroids, matched in the best way, over all kernels."""
    apart = truth.coefficients[:, None] - coefficients[None]
    squared = np.einsum("jim,lmn,jin->ji", apart, truth.matrices, apart)
    rows, columns = linear_sum_assignment(squared)
    return float(np.sqrt(max(squared[rows, columns].sum(), 0.0)))


def _report(results: Results, scale: Scale) -> Section:
    rows = []
    for kernels in results.values("kernels"):
        for power in results.where(kernels=kernels).values("power"):
            found = list(results.where(kernels=kernels, power=power))
            sizes = [parameters["n"] for parameters, _ in found]
            errors = [mean(outcome["error"]) for _, outcome in found]
            label = f"{'one kernel' if kernels == 1 else f'{kernels} kernels'}, {_power(power)}"
            if len(sizes) > 1:
                entries = [
                    Entry(errors[0]),
                    Entry(errors[-1]),
                    Entry(slope(sizes, errors), digits=2),
                    Entry(found[-1][1]["same"], digits=2),
                    Entry(mean(found[-1][1]["weight_error"]) if kernels > 1 else None),
                ]
                rows.append((label, entries))
    largest = max(results.values("n"), default=0)
    smallest = min(results.values("n"), default=0)
    table = Table(
        "consistency",
        "Distance of the estimated centroids from the population's, mean over draws",
        (
            "",
            f"n = {smallest}",
            f"n = {largest}",
            "exponent",
            f"same partition, n = {largest}",
            f"kernel weights off by, n = {largest}",
        ),
        rows,
        notes=(
            "Exponent of the power law through the errors. The best for large n is -1/2; it is "
            "below that where small samples miss the population's partition.",
        ),
    )
    margins = {p["kernels"]: o["margin"] for p, o in results}
    condition = ", ".join(f"{100 * m:.2g} % (L = {kernels})" for kernels, m in margins.items())
    return Section(
        "consistency",
        "Theorem 3: strong consistency",
        (
            f"A distribution over {ATOMS} points of the plane, {K_CLUSTERS} clusters, Gaussian "
            "kernels. The population's minimiser is found by trying all partitions; the next best "
            f"costs more by {condition}: condition A2 holds. Annealed to the end the error falls "
            "with n; at a fixed power it stays at a distance that falls with the power.",
        ),
        (table,),
        (_picture(results),) if rows else (),
    )


def _power(power: float | None) -> str:
    return "s → -∞" if power is None else f"s = {power:g}"


def _picture(results: Results) -> Picture:
    def lines(kernels: int) -> list[tuple[str, Sequence[float], Sequence[float], None]]:
        return [
            (
                _power(power),
                [p["n"] for p, _ in results.where(kernels=kernels, power=power)],
                [mean(o["error"]) for _, o in results.where(kernels=kernels, power=power)],
                None,
            )
            for power in results.where(kernels=kernels).values("power")
        ]

    def draw(axes: Any) -> None:
        for ax, kernels in zip(axes[0], results.values("kernels"), strict=True):
            drawn = lines(kernels)
            draw_lines(ax, drawn)
            sizes, errors = np.array(drawn[0][1]), drawn[0][2]
            expected = errors[0] * np.sqrt(sizes[0] / sizes)
            ax.plot(sizes, expected, color="0.5", linewidth=0.8, label=r"$\propto n^{-1/2}$")
            title = "one kernel" if kernels == 1 else f"{kernels} kernels"
            ax.set(xscale="log", yscale="log", xlabel="n", title=title)
            ax.legend(frameon=False)
        axes[0, 0].set_ylabel("distance from the population's centroids")

    return Picture(
        "consistency",
        "Error of the estimated centroids against the number of samples, mean over draws.",
        new_figure(draw, 1, len(results.values("kernels")), height=2.7),
    )


CONSISTENCY = Experiment("consistency", _grid, _run, _report)
