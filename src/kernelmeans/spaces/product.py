"""Several spaces side by side, and the rules by which each restart weighs its kernels."""

import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import reduce
from typing import Any

import numpy as np
from scipy.special import xlog1py

from kernelmeans._arrays import double, like, namespace, take_columns, to_numpy
from kernelmeans._memory import cached_property
from kernelmeans._typing import Array, BoolArray, Columns, Data, IntArray
from kernelmeans.kernels import CombinedKernel
from kernelmeans.spaces.base import Space
from kernelmeans.spaces.centroids import Centroids, Memory, Sums, Trace
from kernelmeans.spaces.chunks import Chunks, ClusterChunks, LocalChunks
from kernelmeans.spaces.predictor import Embedding, Predictor
from kernelmeans.spaces.step import Moved, Step


class WeightRule(ABC):
    """How kernel weights follow the costs in each kernel's space."""

    def start(self, n_kernels: int) -> Array:
        """Weights (L,) that favour no kernel."""
        return np.full(n_kernels, 1 / n_kernels)

    @abstractmethod
    def update(self, costs: Array) -> Array:
        """Weights (R, L) that are best for the costs c_l >= 0 of shape (R, L)."""

    def multipliers(self, weights: Array) -> Array:
        """What the squared distances in each space are multiplied by, (R, L)."""
        return weights

    def penalty(self, weights: Array) -> Array:
        """Penalty on the weights (R, L) in the objective, shape (R,)."""
        return np.zeros(len(weights))


class EntropyRule(WeightRule):
    """Weights on the simplex, held together by their entropy (method of the paper).

    Minimises sum_l a_l c_l + lambda sum_l a_l log(L a_l). The paper has no factor L, which adds a
    constant: with it the penalty is 0 for uniform weights and positive for all others.

    Parameters
    ----------
    entropy_weight : float
        The lambda, in units of the costs; 0 for the one best kernel, infinity for uniform weights.
    """

    def __init__(self, entropy_weight: float) -> None:
        self.entropy_weight = entropy_weight

    def update(self, costs: Array) -> Array:
        excess = costs - costs.min(axis=1, keepdims=True)
        best = (excess == 0).astype(float)
        with np.errstate(over="ignore"):  # a tiny weight is as good as none
            weights = np.exp(-excess / self.entropy_weight) if self.entropy_weight > 0 else best
        return np.asarray(weights / weights.sum(axis=1, keepdims=True))

    def penalty(self, weights: Array) -> Array:
        if self.entropy_weight in (0, np.inf):
            return np.zeros(len(weights))
        # A large lambda multiplies the rounding of nearly uniform weights. Here that is of second
        # order, because the excesses, which add up to 0, are subtracted.
        excess = weights * weights.shape[1] - 1
        terms = xlog1py(excess + 1, excess) - excess
        return self.entropy_weight * np.asarray(terms.mean(axis=1))


class ProductSpace(Space):
    """The samples in several spaces at once: squared distances add up, multiplied by weights.

    D_ij = sum_l a_l f_l d_ijl, with kernel weights a that belong to the restart, and factors f that
    put the kernels on one scale.

    Parameters
    ----------
    members : sequence of Space
        The spaces, of the same samples and sample weights.
    columns : sequence of slice, ndarray or int
        The columns of X, or parts of its second axis, that belong to each member.
    rule : WeightRule
        How the weights follow the costs.
    factors : ndarray of shape (L,), default=None
        The f_l; ones when None.
    kernel_weights : ndarray of shape (L,), default=None
        Kernel weights that new centroids get; those of ``rule.start`` when None.
    """

    def __init__(
        self,
        members: Sequence[Space],
        columns: Sequence[Columns],
        rule: WeightRule,
        factors: Array | None = None,
        kernel_weights: Array | None = None,
    ) -> None:
        self.members = tuple(members)
        self.columns = tuple(columns)
        self.rule = rule
        self.factors = np.ones(len(members)) if factors is None else factors
        self.sample_weight = members[0].sample_weight
        self.device_weight = members[0].device_weight
        self.engine, self.first = members[0].engine, members[0].first
        self.keeps_coefficients = any(member.keeps_coefficients for member in members)
        start = rule.start(len(members)) if kernel_weights is None else kernel_weights
        self.kernel_weights = start
        # Members that keep coefficients have one sum together, the first; others have one each.
        self._owners = [member for member in members if not member.keeps_coefficients]
        self._owners[:0] = [member for member in members if member.keeps_coefficients][:1]
        self._slots = [
            0 if member.keeps_coefficients else self._owners.index(member) for member in members
        ]
        self.chunks = self._joined_chunks()

    def reweighted(self, kernel_weights: Array) -> "ProductSpace":
        space = ProductSpace(self.members, self.columns, self.rule, self.factors, kernel_weights)
        if self._subsample is not None:
            space._subsample = self._subsample.reweighted(kernel_weights)
        return space

    def multipliers(self, kernel_weights: Array) -> Array:
        """What each kernel's squared distances are multiplied by, for kernel weights (R, L)."""
        return np.asarray(self.rule.multipliers(kernel_weights) * self.factors)

    def norms(self, centroids: Centroids) -> Array:
        multipliers = self.multipliers(centroids.kernel_weights)
        norms: Array = np.einsum("lkr,rl->kr", centroids.norms, multipliers)
        return norms.astype(self.dtype)

    def floor(self, centroids: Centroids) -> Array:
        floors = self.multipliers(centroids.kernel_weights).T * self.floors[:, None]
        floor: Array = np.maximum(floors.sum(axis=0), np.finfo(self.dtype).tiny)
        return floor.astype(self.dtype)

    def _norms(self, block: slice) -> Array:
        """||phi_i||^2 in each space, shape (L, block)."""
        norms = [member.squared_norms(block) for member in self.members]
        together: Array = namespace(norms[0]).stack(norms)
        return together

    def weighted_norms(self, kernel_weights: Array, block: slice) -> Array:
        norms = self._norms(block)
        weighted: Array = like(self.multipliers(kernel_weights), norms) @ norms
        return weighted

    def squared_norms(self, block: slice) -> Array:
        weighted: Array = self.weighted_norms(self.kernel_weights[None], block)[0, ...]
        return weighted

    def residuals(self, block: slice) -> Array | None:
        multipliers = self.multipliers(self.kernel_weights[None])[0].tolist()
        own = [
            factor * residuals
            for member, factor in zip(self.members, multipliers, strict=True)
            if (residuals := member.residuals(block)) is not None
        ]
        return reduce(operator.add, own) if own else None

    def products(self, centroids: Centroids, block: slice) -> Array:
        multipliers = like(self.multipliers(centroids.kernel_weights), self.device_weight)
        own = (
            member.products(centroids.member(index), block) * multipliers[:, index, None]
            for index, member in enumerate(self.members)
        )
        # One after the other, in place: each takes the memory of all distances of a block.
        return reduce(operator.iadd, own)

    @property
    def floors(self) -> Array:
        return np.concatenate([member.floors for member in self.members])

    @property
    def out_of_reach(self) -> Array:
        return np.concatenate([member.out_of_reach for member in self.members])

    def accumulate(self, coefficients: Array, block: slice, labels: IntArray | None = None) -> Sums:
        sums = [owner.accumulate(coefficients, block, labels)[0] for owner in self._owners]
        # sum_i c_i ||phi_i||^2 in each space, for the costs of `update`.
        xp = namespace(coefficients)
        totals = xp.sum(coefficients, axis=0, dtype=xp.float64)
        # No product of matrices, which would round those of equal kernels differently.
        return *sums, xp.vecdot(totals[:, None, :], double(self._norms(block)))

    def add(self, total: Sums | None, partial: Sums, block: slice) -> Sums:
        *sums, moments = partial
        before: Sequence[Array | None] = [None] * len(sums) if total is None else total[:-1]
        added = [
            owner.add(None if own is None else (own,), (part,), block)[0]
            for owner, own, part in zip(self._owners, before, sums, strict=True)
        ]
        return *added, moments if total is None else total[-1] + moments

    def update(
        self,
        sums: Sums,
        cluster_weight: Array,
        old: Centroids | None = None,
        factor: Array | None = None,
        hard: BoolArray | None = None,
    ) -> Centroids:
        *own, moments = sums
        step = Step.of(self, tuple(own), cluster_weight, old, factor, hard)
        moved = self.move(step)
        centroids = step.centroids(moved, self.kernel_weights)
        # c_l = sum_ij v_i w_ij d_ijl at the new centroids needs no distances.
        means = moved.overlaps / (1 if factor is None else factor)
        relative = np.where(cluster_weight > 0, centroids.norms - 2 * means, 0)
        mean_costs = np.einsum("kr,lkr->rl", cluster_weight, relative)
        # A smaller cost is rounding, and would give its kernel all weight.
        rounding = np.outer(cluster_weight.sum(axis=0), self.floors)
        centroids.costs = np.maximum(to_numpy(moments) + mean_costs, rounding)
        return centroids

    def move(self, step: Step) -> Moved:
        pairs = enumerate(zip(self.members, self._slots, strict=True))
        moved = [member.move(step.member(index, slot)) for index, (member, slot) in pairs]
        vectors, norms, overlaps = zip(*moved, strict=True)
        together = tuple(vector for own in vectors for vector in own)
        return Moved(together, np.concatenate(norms), np.concatenate(overlaps))

    def adapt(self, centroids: Centroids, which: BoolArray) -> Centroids:
        assert centroids.costs is not None
        weights = self.rule.update(centroids.costs * self.factors)
        centroids.kernel_weights = np.where(which[:, None], weights, centroids.kernel_weights)
        return centroids

    def penalty(self, centroids: Centroids) -> Array:
        return self.rule.penalty(centroids.kernel_weights)

    def at(self, indices: IntArray) -> Centroids:
        return self._side_by_side([member.at(indices) for member in self.members])

    def at_rows(self, rows: Data, shape: tuple[int, int]) -> Centroids:
        own = zip(self.members, self.columns, strict=True)
        return self._side_by_side(
            [member.at_rows(take_columns(rows, columns), shape) for member, columns in own]
        )

    def _side_by_side(self, parts: Sequence[Centroids]) -> Centroids:
        # The coefficients are the same in every member that has them.
        known = next((part for part in parts if part.coefficients is not None), parts[0])
        return Centroids(
            tuple(vector for part in parts for vector in part.vectors),
            np.concatenate([part.norms for part in parts]),
            np.tile(self.kernel_weights, (parts[0].shape[1], 1)),
            known.coefficients,
            cluster_weight=known.cluster_weight,
        )

    @property
    def subsample_size(self) -> int:
        rows = [member.subsample_size for member in self.members]
        # A subsample of all samples costs held members nothing, and streamed ones all features.
        whole = self.chunks is None and self.n_samples in rows
        return self.n_samples if whole else min(rows)

    def restricted(self, indices: IntArray, sample_weight: Array) -> "ProductSpace":
        return self._of([member.restricted(indices, sample_weight) for member in self.members])

    def part(self, chunk: slice) -> "ProductSpace":
        return self._of([member.part(chunk) for member in self.members])

    def _of(self, members: Sequence[Space]) -> "ProductSpace":
        return ProductSpace(members, *self._order)

    @property
    def _order(self) -> tuple[Any, ...]:
        return self.columns, self.rule, self.factors, self.kernel_weights

    def _joined_chunks(self) -> Chunks | None:
        """The members' chunks side by side: on the workers, where all are, or in this process."""
        found = [member.chunks for member in self.members if member.chunks is not None]
        on_workers = [chunks for chunks in found if isinstance(chunks, ClusterChunks)]
        if len(on_workers) == len(self.members):
            return on_workers[0].joined(on_workers[1:], ProductSpace, *self._order)
        if not found or self.keeps_coefficients:
            return None
        # Chunks that are small enough for every member.
        finest = max(found, key=lambda chunks: len(chunks.slices))
        limits = [chunks.in_flight for chunks in found if chunks.in_flight is not None]
        return LocalChunks(finest.slices, min(limits, default=None))

    @cached_property
    def _full(self) -> Space | None:
        full = [member.full for member in self.members]
        changed = any(one is not member for one, member in zip(full, self.members, strict=True))
        # The chunks of a space that does not change stay what they are.
        return self._of(full) if changed else None

    def traces(self, kernel_weights: Array) -> Trace | None:
        traces = [member.trace for member in self.members if member.trace is not None]
        if len(traces) < len(self.members):
            return None
        return Trace(*(self.multipliers(kernel_weights[None])[0] @ np.array(traces)).tolist())

    def export(
        self, centroids: Centroids, copies: dict[int, Data] | None = None
    ) -> "ProductPredictor":
        shared: dict[int, Data] = {} if copies is None else copies
        predictors = [
            member.export(centroids.member(index), shared)
            for index, member in enumerate(self.members)
        ]
        multipliers = self.multipliers(centroids.kernel_weights)[0]
        return ProductPredictor(predictors, self.columns, multipliers)

    @property
    def embedded(self) -> Callable[[slice], Iterator[Any]] | None:
        own = [embedded for member in self.members if (embedded := member.embedded) is not None]
        if len(own) < len(self.members):
            return None
        return lambda block: (embedded(block) for embedded in own)

    def __sizeof__(self) -> int:
        return sum(member.__sizeof__() for member in self.members)

    def memory(self, k: int) -> Memory:
        resident, transient, per_restart = zip(*(m.memory(k) for m in self.members), strict=True)
        # Rows are recomputed for one kernel at a time.
        return Memory(sum(resident), max(transient), sum(per_restart))


class ProductPredictor(Predictor):
    """Centroids in several spaces.

    Attributes
    ----------
    members : list of Predictor
        The centroids in each space.
    columns : list of slice, ndarray or int
        The columns of X, or parts of its second axis, that belong to each member.
    multipliers : ndarray of shape (L,)
        Of the squared distances.
    """

    kernel: CombinedKernel

    def __init__(
        self, members: Sequence[Predictor], columns: Sequence[Columns], multipliers: Array
    ) -> None:
        self.members = list(members)
        self.columns = list(columns)
        self.multipliers = multipliers
        self.kernel = CombinedKernel([m.kernel for m in members], columns, multipliers)
        norms = np.stack([member.norms for member in members])
        self.norms = (multipliers @ norms).astype(norms.dtype)
        self.row_budget = min(member.row_budget for member in members)
        self.resolution = float(multipliers @ [member.resolution for member in members])

    def embedding(self) -> Embedding:
        members = [member.embedding() for member in self.members]

        def embed(rows: Data, diagonal: Array) -> Iterator[Any]:
            # One after the other: kernel values of all members would need room.
            for member, columns, own in zip(members, self.columns, diagonal.T, strict=True):
                yield member(take_columns(rows, columns), own)

        return embed

    def _compare(self, embedded: Iterable[Any]) -> tuple[Array, Array]:
        products: Any = 0
        squared_norms: Any = 0
        for member, own, multiplier in zip(self.members, embedded, self.multipliers, strict=True):
            factor = float(multiplier)
            its_products, its_norms = member._compare(own)
            products = products + factor * its_products
            squared_norms = squared_norms + factor * its_norms
        return products, squared_norms

    def _moved(self, move: Callable[[Any], Any]) -> None:
        self.members = [member.on(self.device) for member in self.members]

    @property
    def _row_bytes(self) -> int:
        return max(member._row_bytes for member in self.members)
