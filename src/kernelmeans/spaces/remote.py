"""Parts of a space that are on the workers of a cluster."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from kernelmeans._typing import Array
from kernelmeans.engines import Threads
from kernelmeans.engines.cluster import Cluster, packed, unpacked, upright
from kernelmeans.spaces.sums import PartialSum

if TYPE_CHECKING:
    from kernelmeans.spaces.base import Space


class Remote:
    """The spaces of all parts, as tasks or futures, and where they are worked on.

    What they say is added up as it is in one process, so that both answer the same.

    Parameters
    ----------
    cluster : Cluster
        The workers.
    parts : sequence of slice
        The samples of each part.
    spaces : sequence of Future or Delayed
        Their spaces; delayed ones are made anew whenever they are needed.
    """

    def __init__(self, cluster: Cluster, parts: Sequence[slice], spaces: Sequence[Any]) -> None:
        self.cluster = cluster
        self.parts = parts
        self.spaces = spaces

    def total(self, along: tuple[Array, ...], *arguments: Any) -> PartialSum:
        """The sum of what `Space.reduce` makes of each part with these arguments."""
        total: PartialSum = self.cluster.total(
            self._tasks(_reduced, along, arguments), PartialSum.plus
        )
        # Numbers stay numbers.
        vectors, sums = (tuple(upright(a)[()] for a in own) for own in total)
        return PartialSum(vectors, sums)

    def pieces(self, *arguments: Any) -> Any:
        """What `Space.collect` makes of each part with these arguments, in their order."""
        results = self.cluster.results(self._tasks(_collected, (), arguments))
        return zip(self.parts, results, strict=True)

    def apart(self, function: Callable[..., Any], items: Sequence[Any], *arguments: Any) -> Any:
        """What a function makes of each item, and the arguments, as tasks of their own."""
        order = self.cluster.task(bytes, packed(function, *arguments))
        results = self.cluster.results(
            self.cluster.tasks(_applied, list(items), [order] * len(items))
        )
        return [unpacked(result)[0] for result in results]

    def _tasks(
        self, work: Callable[..., Any], along: tuple[Array, ...], arguments: tuple[Any, ...]
    ) -> list[Any]:
        # As one task, lest they travel once for each part.
        order = self.cluster.task(bytes, packed(*arguments))
        spaces = self.cluster.started(self.spaces)
        own = [[a[..., part] for part in self.parts] for a in along]
        return self.cluster.tasks(work, spaces, [order] * len(spaces), *own)


def _reduced(space: "Space", order: bytes, *along: Array) -> PartialSum:
    function, shape, *arguments = unpacked(order)
    own = tuple(map(upright, along))
    with Threads(1):
        return space.reduce(function, shape, *arguments, along=own)


def _collected(space: "Space", order: bytes) -> tuple[Any, ...]:
    function, width, *arguments = unpacked(order)
    with Threads(1):
        return space.collect(function, width, *arguments)


def _applied(item: Any, order: bytes) -> bytes:
    function, *arguments = unpacked(order)
    with Threads(1):
        return packed(function(item, *arguments))


def equal_or_all(sample_weight: Array) -> Array:
    """One number for equal weights, which then take no room on their way."""
    equal = (sample_weight == sample_weight[0]).all()
    return np.ascontiguousarray(sample_weight[:1] if equal else sample_weight)
