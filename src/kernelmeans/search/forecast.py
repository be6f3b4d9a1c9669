"""How long a search will go on."""

import time
from collections.abc import Sequence
from typing import Any

from kernelmeans._text import duration
from kernelmeans.search.splits import FIRST_ROUND

#: Time of a fit to all rows, or to a draw of data without clusters, in fits to halves.
WHOLE = 3
#: Fits for each split after the first round, at most: as a rule two candidates go on.
LATER = 4
#: Time of all later draws of data without clusters, in fits to halves. Some searches draw none.
REFERENCE = 8


class Forecast:
    """Seconds that a search will take, from those of the fits so far.

    Nobody knows when the choice will be certain: this is for a search that goes on as most do.

    Parameters
    ----------
    n_splits : int
        Most splits.

    Attributes
    ----------
    may_grow : bool
        Whether more numbers of clusters may follow, whose time nobody knows. The words say so then.

    Examples
    --------
    >>> from kernelmeans.search.forecast import Forecast
    >>> forecast = Forecast(n_splits=20)
    >>> forecast.expect("splits", 10, [("rows", seed, "half") for seed in (1, 1, 2, 2)])
    >>> forecast.add()
    >>> forecast.fits
    119
    """

    def __init__(self, n_splits: int) -> None:
        self.fits, self.may_grow = 0, False
        self._n_splits, self._begin = n_splits, time.perf_counter()
        self._seeds: set[int] = set()
        self._done, self._size = 0, 1

    def expect(self, name: str, n_items: int, arguments: Sequence[tuple[Any, ...]]) -> None:
        """Take what runs next: each item with each of the arguments."""
        self._size = 1 if name == "splits" else WHOLE
        self.fits = self._size * n_items * len(arguments)
        later = min(n_items + 1, LATER)
        if name == "splits":
            self._seeds |= {seed for _, seed, _ in arguments}
            self.fits += later * (self._n_splits - len(self._seeds)) + REFERENCE
        if name == "all rows":
            first = min(FIRST_ROUND, self._n_splits)
            self.fits += 2 * n_items * first + later * (self._n_splits - first) + REFERENCE

    def add(self) -> None:
        """Count one more result."""
        self._done += self._size
        self.fits -= self._size

    def pause(self, seconds: float) -> None:
        """Do not count seconds in which nothing was fitted."""
        self._begin += seconds

    @property
    def seconds(self) -> float:
        """Seconds to come: mostly between half and twice the truth once a tenth is done."""
        return (time.perf_counter() - self._begin) * self.fits / max(self._done, 1)

    @property
    def text(self) -> str:
        """The time in words; nothing for less than a second."""
        if self.seconds < 1:
            return ""
        return f", about {duration(self.seconds)} left{', or longer' * self.may_grow}"
