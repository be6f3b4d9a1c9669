"""Chunks of samples: each is a space, opened where it is worked on."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from kernelmeans._typing import Array
from kernelmeans.engines import Threads, tree_sum
from kernelmeans.engines.cluster import Cluster, aligned, packed, unpacked
from kernelmeans.spaces.centroids import PartialSum

if TYPE_CHECKING:
    from kernelmeans.spaces.base import Space

#: Function that works on a chunk: on its space, on its part of each array in ``per_sample``, and on
#: further arguments, like the methods of `Space` that take ``per_sample``.
Work = Callable[..., Any]


class Chunks(ABC):
    """Consecutive samples that are opened together; nothing of them is held in between.

    Results are put side by side in the order of the chunks, and sums are added up in a tree. So it
    does not matter where chunks are worked on.

    Attributes
    ----------
    slices : list of slice
        The samples of each.
    in_flight : int or None
        How many may be open at once without breaking the memory budget.
    cluster : Cluster or None
        The cluster whose workers hold the chunks; None where this process opens them.
    """

    slices: list[slice]
    in_flight: int | None = None
    cluster: Cluster | None = None

    @abstractmethod
    def map(
        self, space: "Space", work: Work, per_sample: Sequence[Array], *arguments: Any
    ) -> Iterator[tuple[slice, Any]]:
        """Each chunk of a space and the result of work on it, in their order."""

    def total(
        self, space: "Space", work: Work, per_sample: Sequence[Array], *arguments: Any
    ) -> PartialSum:
        """The sum of the results of work on each chunk."""
        partial_sums = (own for _, own in self.map(space, work, per_sample, *arguments))
        total: PartialSum = tree_sum(partial_sums, PartialSum.plus)
        return total


class LocalChunks(Chunks):
    """Chunks that the threads of their space open, in this process.

    Parameters
    ----------
    slices : sequence of slice
        The samples of each.
    in_flight : int or None
        Chunks that may be open at once without breaking the memory budget.
    """

    def __init__(self, slices: Sequence[slice], in_flight: int | None) -> None:
        self.slices = list(slices)
        self.in_flight = in_flight

    def map(
        self, space: "Space", work: Work, per_sample: Sequence[Array], *arguments: Any
    ) -> Iterator[tuple[slice, Any]]:
        def work_on(chunk: slice) -> Any:
            own = tuple(a[..., chunk] for a in per_sample)
            return work(space.part(chunk), *arguments, per_sample=own)

        return space.engine.map(work_on, self.slices, self.in_flight)


class ClusterChunks(Chunks):
    """Chunks on the workers of a cluster.

    Parameters
    ----------
    slices : sequence of slice
        The samples of each.
    cluster : Cluster
        The workers.
    spaces : sequence of Future or Delayed
        The space of each; delayed ones are computed again whenever they are needed.
    """

    cluster: Cluster

    def __init__(self, slices: Sequence[slice], cluster: Cluster, spaces: Sequence[Any]) -> None:
        self.slices = list(slices)
        self.cluster = cluster
        self.spaces = spaces

    def map(
        self, space: "Space", work: Work, per_sample: Sequence[Array], *arguments: Any
    ) -> Iterator[tuple[slice, Any]]:
        results = self.cluster.results(self._tasks(work, per_sample, arguments))
        return zip(self.slices, results, strict=True)

    def total(
        self, space: "Space", work: Work, per_sample: Sequence[Array], *arguments: Any
    ) -> PartialSum:
        tasks = self._tasks(work, per_sample, arguments)
        total: PartialSum = self.cluster.total(tasks, PartialSum.plus)
        # Numbers stay numbers.
        return PartialSum(*(tuple(aligned(a)[()] for a in own) for own in total))

    def _tasks(self, work: Work, per_sample: Sequence[Array], arguments: Any) -> list[Any]:
        # A task of its own, so that it travels once and not with each chunk.
        order = self.cluster.task(bytes, packed(work, *arguments))
        spaces = self.cluster.started(self.spaces)
        own = [[a[..., chunk] for chunk in self.slices] for a in per_sample]
        return self.cluster.tasks(_done, spaces, [order] * len(spaces), *own)

    def joined(
        self, others: Iterable["ClusterChunks"], join: Work, *arguments: Any
    ) -> "ClusterChunks":
        """Chunks whose spaces are ``join`` of the spaces of several, and the arguments."""
        spaces = zip(*(self.cluster.started(own.spaces) for own in (self, *others)), strict=True)
        tasks = [self.cluster.task(join, list(own), *arguments) for own in spaces]
        return ClusterChunks(self.slices, self.cluster, tasks)


def _done(space: "Space", order: bytes, *per_sample: Array) -> Any:
    work, *arguments = unpacked(order)
    with Threads(1):
        return work(space, *arguments, per_sample=tuple(map(aligned, per_sample)))
