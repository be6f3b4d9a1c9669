"""The driver: the only loop over steps in the package."""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from kernelmeans._arrays import double, like, reduce, to_numpy
from kernelmeans._typing import Array, BoolArray, IntArray
from kernelmeans.solver.blockwise import assign
from kernelmeans.solver.exchange import Exchanges
from kernelmeans.solver.methods import Method, Report
from kernelmeans.solver.power import Loss, weigh
from kernelmeans.solver.result import Ending, Record, Result
from kernelmeans.spaces import Centroids, PartialSum, Space

#: Relative size of the noise on the weights that keeps centroids from coinciding.
PERTURBATION = {"float64": 1e-8, "float32": 1e-5}
#: Samples whose noise is drawn from one generator, and how many times as many keep theirs: it is
#: the same in each step, and to draw it again takes a fifth of a step.
NOISE_ROWS, KEPT_CHUNKS = 512, 32


class Progress(NamedTuple):
    """What is told after each step."""

    step: int
    restarts_finished: int
    n_restarts: int
    power: float
    objective: float


#: Called after each step; a true answer ends the fit early.
Listener = Callable[[Progress], bool]


def solve(
    space: Space,
    centroids: Centroids,
    method: Method,
    seeds: Sequence[int],
    listen: Listener = lambda progress: False,
) -> Result:
    """Run a batch of restarts to their ends.

    Parameters
    ----------
    space : Space
        The samples.
    centroids : Centroids
        Starting centroids (k, R); overwritten.
    method : Method
        Powers, weights and what ends a run.
    seeds : sequence of int
        One for each restart, of the perturbation that keeps its collapsing centroids apart.
    listen : callable
        Told of each step; ends the run when it answers True.

    Returns
    -------
    Result
        Labels, costs and histories of all restarts, and the best one's centroids.
    """
    n_restarts = centroids.shape[1]
    record = Record(space, n_restarts, method.loss)
    state = method.init(space, centroids)
    active = np.arange(n_restarts)
    stopped = False
    while len(active) and state.steps < method.max_iter and not stopped:
        power, loss = method.power(state), method.loss_of(state)
        own_seeds = [seeds[r] for r in active.tolist()]
        noise = _noise(space, centroids, ~state.hard, method.collapsing(state))
        own = state.exchanging.mass, state.exchanging.singly
        report = _sums(space, centroids, power, loss, noise, own_seeds, *own)
        record.step(active, report.objective, power, centroids.kernel_weights)

        endings = method.done(state, space, centroids, report)
        means = state.hard & (not loss.weighs)
        factor, weights_move = method.factor(state), method.moves_weights(state)
        centroids = _moved(space, centroids, report, factor, method.refills, means)
        if weights_move.any():
            centroids = space.adapt(centroids, weights_move)
        method.step(state, space, centroids, report, own_seeds)

        going = endings == Ending.RUNNING
        if not going.all():
            # Nobody asks for the labels of a run that was given up.
            ended = endings == Ending.CONVERGED
            if ended.any():
                record.finish(active[ended], centroids.take(ended), Ending.CONVERGED)
            centroids.keep(going)
            state.keep(going)
            active = active[going]
        least = float(report.objective.min())
        n_done = n_restarts - len(active)
        progress = Progress(state.steps - 1, n_done, n_restarts, float(power.max()), least)
        stopped = listen(progress)
    if len(active):
        record.finish(active, centroids, Ending.STOPPED if stopped else Ending.OUT_OF_STEPS)
    return record.result()


def _sums(
    space: Space,
    centroids: Centroids,
    power: Array,
    loss: Loss,
    noise: Array,
    seeds: Sequence[int],
    mass: Array | None,
    singly: Exchanges,
) -> Report:
    """Distances, weights and the sums they make, over all blocks."""
    order = centroids, power, loss, noise, seeds, mass, singly
    total = space.reduce(_block_sums, centroids.shape, *order)
    new_mass, objective, certainty, total_weight, fingerprint = total.sums
    objective = objective + space.penalty(centroids)
    return Report(total.vectors, new_mass, objective, 1 - certainty / total_weight, fingerprint)


def _block_sums(
    space: Space,
    block: slice,
    centroids: Centroids,
    power: Array,
    loss: Loss,
    noise: Array,
    seeds: Sequence[int],
    mass: Array | None,
    singly: Exchanges,
) -> PartialSum:
    """What one block adds to a step. Pure: it may run in a thread or on another machine."""
    v = space.device_weight[block]
    v64 = double(v)
    place = slice(space.first + block.start, space.first + block.stop)
    weights = weigh(space.distances(centroids, block), power, v, loss, mass)
    coefficients = weights.values
    for r, sample, cluster in singly.within(place):
        coefficients[:, r, sample] = 0
        coefficients[cluster, r, sample] = v[sample]
        weights.labels[r, sample] = cluster
    for r in np.flatnonzero(noise).tolist():
        shake = 1 + noise[r] * _normal(seeds[r], coefficients.shape[0], place)
        coefficients[:, r, :] *= like(shake, v)
    return PartialSum(
        space.accumulate(coefficients, block),
        (
            double(reduce("sum", coefficients, axis=-1)),
            double(weights.means) @ v64,
            double(weights.certainty) @ v64,
            reduce("sum", v64),
            _fingerprint(weights.labels, power, space.sample_weight[block], place),
        ),
    )


def _fingerprint(labels: IntArray, power: Array, sample_weight: Array, place: slice) -> IntArray:
    """Sum over samples of the label times a hash of the place, shape (R,); 0 for soft steps.

    Samples without weight get labels, but move nothing: they do not count.
    """
    hard = np.isneginf(power)
    if not hard.any():
        return np.zeros(len(power), np.uint64)
    hashes = _hashes(place.start, place.stop) * (sample_weight > 0)
    return np.where(hard, (to_numpy(labels) + 1).astype(np.uint64) @ hashes, np.uint64(0))


@lru_cache(maxsize=KEPT_CHUNKS)
def _hashes(start: int, stop: int) -> IntArray:
    """A number for each place, by the finaliser of SplitMix64."""
    x = np.arange(start, stop, dtype=np.uint64)
    x *= np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        x ^= x >> np.uint64(shift)
        x *= np.uint64(factor)
    x ^= x >> np.uint64(31)
    return x


def _moved(
    space: Space,
    centroids: Centroids,
    report: Report,
    factor: Array,
    refills: bool,
    hard: BoolArray,
) -> Centroids:
    """The centroids of the next step; those without any weight are refilled, or dropped."""
    empty = report.mass <= 0
    costs = None
    if refills and empty.any():
        costs = assign(space, centroids).costs(space)
    centroids = space.update(report.total, report.mass, centroids, factor, hard)
    if costs is not None:
        _refill(space, centroids, empty, costs)
    elif empty.any():
        centroids.norms[:, empty] = space.out_of_reach[:, None]
    return centroids


@lru_cache(maxsize=KEPT_CHUNKS)
def _normal_chunk(seed: int, k: int, chunk: int) -> Array:
    return np.random.default_rng((seed, chunk)).standard_normal((k, NOISE_ROWS), np.float32)


def _normal(seed: int, k: int, block: slice) -> Array:
    """Seeded normal numbers (k, block) that belong to the samples, however they are blocked."""
    first, last = block.start // NOISE_ROWS, (block.stop - 1) // NOISE_ROWS
    chunks = [_normal_chunk(seed, k, chunk) for chunk in range(first, last + 1)]
    start = block.start - first * NOISE_ROWS
    return np.concatenate(chunks, axis=1)[:, start : start + block.stop - block.start]


def _refill(space: Space, centroids: Centroids, empty: BoolArray, costs: Array) -> None:
    """Put centroids that a step left without any weight on the costliest samples."""
    for r in np.flatnonzero(empty.any(axis=0)):
        clusters = np.flatnonzero(empty[:, r])
        costliest = np.argsort(-costs[r], kind="stable")[: len(clusters)]
        # With fewer distinct samples than clusters the rest stay where they are, and empty.
        costliest = costliest[costs[r, costliest] > 0]
        clusters = clusters[: len(costliest)]
        if len(clusters):
            centroids.put((clusters, np.full_like(clusters, r)), space.at(costliest[:, None]))


def _noise(space: Space, centroids: Centroids, soft: BoolArray, collapsing: BoolArray) -> Array:
    """Relative perturbation of each restart's weights, shape (R,): mostly none.

    Centroids that coincide, or draw together above the critical power until they do, would be
    told apart by rounding alone, or never.
    """
    if not soft.any():
        return np.zeros(len(soft), space.dtype)
    # Equal norms are necessary for coincidence, and cheap; a false alarm does no harm.
    norms = np.sort(space.norms(centroids), axis=0)
    gaps = np.diff(norms, axis=0).min(axis=0, initial=np.inf)
    shaken = soft & (collapsing | (gaps <= space.floor(centroids)))
    level = PERTURBATION[space.dtype.name]
    return np.where(shaken, level, 0).astype(space.dtype)
