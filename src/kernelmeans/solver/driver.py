"""The driver: the only loop over steps in the package."""

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from kernelmeans._arrays import double, like, reduce, to_numpy
from kernelmeans._typing import Array, BoolArray, IntArray
from kernelmeans.solver.blockwise import assign
from kernelmeans.solver.exchange import Exchanges
from kernelmeans.solver.methods import Method, Report, State
from kernelmeans.solver.power import CostFunction, weigh
from kernelmeans.solver.result import CONVERGED, RUNNING, Ending, Record, Result
from kernelmeans.spaces import Centroids, PartialSum, Space

#: Relative size of the noise on the weights that keeps centroids from coinciding.
NOISE = {"float64": 1e-8, "float32": 1e-5}
#: Number of samples in a chunk of noise, and number of chunks until the noise repeats. The noise is
#: the same in each step, because generating it again would take a fifth of a step.
CHUNK_SAMPLES, NOISE_CHUNKS = 512, 16
#: Blocks whose hashes are kept.
KEPT_HASHES = 64


class Progress(NamedTuple):
    """What a listener learns after each step.

    Attributes
    ----------
    step : int
        Number of the step, from 0 on.
    restarts_finished, n_restarts : int
        Restarts that have ended, and all of the run.
    power : float
        The highest power of the step; -inf for hard steps.
    objective : float
        The lowest objective of the running restarts at the beginning of the step.
    """

    step: int
    restarts_finished: int
    n_restarts: int
    power: float
    objective: float

    @property
    def text(self) -> str:
        """The step, its power and the restarts that have ended, in a few words."""
        phase = f"power {self.power:.3g}" if math.isfinite(self.power) else "hard steps"
        finished = f"{self.restarts_finished}/{self.n_restarts}"
        return f"step {self.step}, {phase}, restarts finished {finished}"


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
        Starts of shape (k, R); overwritten.
    method : Method
        Powers, costs, and what ends a restart.
    seeds : sequence of int
        One for each restart. It seeds the noise that keeps collapsing centroids apart.
    listen : callable
        Called after each step; ends the run when it answers True.

    Returns
    -------
    Result
        Labels, costs and histories of all restarts, and the best one's centroids.
    """
    n_restarts = centroids.shape[1]
    record = Record(space, n_restarts, method.cost)
    state = method.init(space, centroids, seeds)
    stopped = False
    while len(state.restarts) and state.steps < method.max_iter and not stopped:
        power = state.power
        report = _sums(space, centroids, method, state)
        record.step(state.restarts, report.objective, power, centroids.kernel_weights)
        endings = method.done(state, space, centroids, report)
        going = endings == RUNNING
        if going.any() or (endings == CONVERGED).any():
            # If all restarts were given up, no centroids are needed.
            centroids = _moved(space, centroids, method, state, report)
        method.step(state, space, centroids, report)

        if not going.all():
            # A restart that was given up needs no labels.
            ended = endings == CONVERGED
            if ended.any():
                record.finish(state.restarts[ended], centroids.take(ended), Ending.CONVERGED)
            centroids.keep(going)
            state.keep(going)
        least = float(report.objective.min())
        n_done = n_restarts - len(state.restarts)
        progress = Progress(state.steps - 1, n_done, n_restarts, max(power.tolist()), least)
        stopped = listen(progress)
    if len(state.restarts):
        ending = Ending.STOPPED if stopped else Ending.OUT_OF_STEPS
        record.finish(state.restarts, centroids, ending)
    return record.result()


def _sums(space: Space, centroids: Centroids, method: Method, state: State) -> Report:
    """Distances, weights and the sums they make, over all blocks."""
    noisy = _noisy(space, centroids, ~state.hard, method.collapsing(state)).tolist()
    total = space.reduce(
        _block_sums,
        centroids.shape,
        centroids,
        state.power,
        method.step_cost(state),
        {r: int(seed) for r, seed in enumerate(state.seeds) if noisy[r]},
        state.exchanging.cluster_weight,
        state.exchanging.singly,
    )
    cluster_weight, objective, certainty, total_weight, labels_hash = total.sums
    objective = objective + space.penalty(centroids)
    softness = 1 - certainty / total_weight
    return Report(total.vectors, cluster_weight, objective, softness, labels_hash)


def _block_sums(
    space: Space,
    block: slice,
    centroids: Centroids,
    power: Array,
    cost: CostFunction,
    noise_seeds: dict[int, int],
    cluster_weight: Array | None,
    singly: Exchanges,
) -> PartialSum:
    """The partial sums of one block. Pure: it may run in a thread or on another machine."""
    v = space.device_weight[block]
    v64 = double(v)
    place = slice(space.first + block.start, space.first + block.stop)
    residuals = None if cluster_weight is None else space.residuals(block)
    distances = space.distances(centroids, block)
    weights = weigh(distances, power, v, cost, cluster_weight, residuals)
    coefficients = weights.values
    for r, sample, cluster in singly.within(place):
        coefficients[:, r, sample] = 0
        coefficients[cluster, r, sample] = v[sample]
        weights.labels[r, sample] = cluster
    for r, seed in noise_seeds.items():
        noise = space.dtype.type(NOISE[space.dtype.name])
        factors = 1 + noise * _normal(seed, coefficients.shape[0], place)
        coefficients[:, r, :] *= like(factors, v)
    return PartialSum(
        space.accumulate(coefficients, block, weights.labels if (power == -np.inf).all() else None),
        (
            double(reduce("sum", coefficients, axis=-1)),
            double(weights.means) @ v64,
            double(weights.certainty) @ v64,
            reduce("sum", v64),
            _labels_hash(weights.labels, power, space.sample_weight[block], place),
        ),
    )


def _labels_hash(labels: IntArray, power: Array, sample_weight: Array, place: slice) -> IntArray:
    """Sum over samples of the label times a hash of the place, shape (R,); 0 for soft steps.

    Samples without weight do not count: they have labels, but move nothing.
    """
    if -math.inf not in list(power):
        return np.zeros(len(power), np.uint64)
    hard = np.equal(power, -np.inf)
    hashes = _hashes(place.start, place.stop) * (sample_weight > 0)
    return np.where(hard, (to_numpy(labels) + 1).astype(np.uint64) @ hashes, np.uint64(0))


@lru_cache(maxsize=KEPT_HASHES)
def _hashes(start: int, stop: int) -> IntArray:
    """A number for each place, by the finaliser of SplitMix64."""
    # From 1 on: the hash of 0 is 0, and changes of that sample would not be seen.
    x = np.arange(start + 1, stop + 1, dtype=np.uint64)
    x *= np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        x ^= x >> np.uint64(shift)
        x *= np.uint64(factor)
    x ^= x >> np.uint64(31)
    return x


def _moved(
    space: Space, centroids: Centroids, method: Method, state: State, report: Report
) -> Centroids:
    """Centroids and kernel weights of the next step; empty clusters are refilled or dropped."""
    hard = state.hard
    empty = report.cluster_weight <= 0
    costs = None
    any_empty = bool(empty.any())
    if any_empty and method.refills:
        costs = assign(space, centroids).costs(space)
    factor = np.where(hard | (state.steps == 0), 1.0, method.relaxation)
    means = hard & (method.step_cost(state).slope is None)
    centroids = space.update(report.vectors, report.cluster_weight, centroids, factor, means)
    if costs is not None:
        _refill(space, centroids, empty, costs)
    elif any_empty:
        centroids.norms[:, empty] = space.out_of_reach[:, None]
    return space.adapt(centroids, ~hard | method.alternates)


@lru_cache(maxsize=8 * NOISE_CHUNKS)
def _normal_chunk(seed: int, k: int, chunk: int) -> Array:
    return np.random.default_rng((seed, chunk)).standard_normal((k, CHUNK_SAMPLES), np.float32)


def _normal(seed: int, k: int, block: slice) -> Array:
    """Seeded normal numbers (k, block), the same for a sample in whatever block it is.

    They repeat, so that a long run draws them once.
    """
    first, last = block.start // CHUNK_SAMPLES, (block.stop - 1) // CHUNK_SAMPLES
    places = range(first, last + 1)
    chunks = [_normal_chunk(seed, k, place % NOISE_CHUNKS) for place in places]
    start = block.start - first * CHUNK_SAMPLES
    return np.concatenate(chunks, axis=1)[:, start : start + block.stop - block.start]


def _refill(space: Space, centroids: Centroids, empty: BoolArray, costs: Array) -> None:
    """Put the centroids of empty clusters on the costliest samples."""
    for r in np.flatnonzero(empty.any(axis=0)):
        clusters = np.flatnonzero(empty[:, r])
        costliest = np.argsort(-costs[r], kind="stable")[: len(clusters)]
        # With fewer distinct samples than clusters the other clusters stay empty.
        costliest = costliest[costs[r, costliest] > 0]
        clusters = clusters[: len(costliest)]
        if len(clusters):
            centroids.put((clusters, np.full_like(clusters, r)), space.at(costliest[:, None]))


def _noisy(space: Space, centroids: Centroids, soft: BoolArray, collapsing: BoolArray) -> BoolArray:
    """Which restarts need noise on their weights: few.

    Centroids may coincide, or draw together above the critical power until they do. Without noise
    they would part by rounding alone, or never.
    """
    if not soft.any():
        return soft
    # Equal norms are necessary for coincidence, and cheap; a false alarm does no harm.
    norms = np.sort(space.norms(centroids), axis=0)
    gaps = (norms[1:] - norms[:-1]).min(axis=0, initial=np.inf)
    return np.asarray(soft & (collapsing | (gaps <= space.floor(centroids))))
