"""What an experiment is: a grid of cells, a function for one cell, and a section of the report."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kernelmeans_paper.report import Section

#: What a cell is called with, and what it answers; both go through JSON.
Parameters = Mapping[str, Any]
Outcome = Mapping[str, Any]


@dataclass(frozen=True)
class Scale:
    """How large the grids are.

    Attributes
    ----------
    quick : bool
        Whether to run a small version of everything, in minutes.
    datasets : int
        Data sets that each simulation is repeated on.
    absent : frozenset of str
        Benchmark sets that are not to be had, and left out.
    sets : frozenset of str
        Benchmark sets to run on, of those that an experiment has; all or, if quick, a few of them
        when empty.
    """

    quick: bool = False
    datasets: int = 5
    absent: frozenset[str] = frozenset()
    sets: frozenset[str] = frozenset()

    @property
    def starts(self) -> int:
        """Matched starts of each method: the paper's 20, or 5."""
        return 5 if self.quick else 20

    def choose(self, names: Sequence[str], few: Sequence[str]) -> tuple[str, ...]:
        """The benchmark sets of an experiment, of all and of the few that are quick."""
        if self.sets:
            return tuple(name for name in names if name in self.sets)
        return tuple(few if self.quick else names)


@dataclass(frozen=True)
class Cell:
    """One piece of work, which knows nothing of others.

    Attributes
    ----------
    experiment : str
        Name of its experiment.
    parameters : mapping
        What its function is called with: numbers, strings and booleans.
    alone : bool
        Whether nothing else may run beside it, because it measures time.
    """

    experiment: str
    parameters: Parameters = field(hash=False)
    alone: bool = False

    @property
    def title(self) -> str:
        """The values of its parameters, cut short, in letters that file names may have."""
        words = "-".join(str(value) for _, value in sorted(self.parameters.items()))
        return "".join(c if c.isalnum() or c in "-._" else "_" for c in words)[:60]


class Results:
    """Outcomes of the cells that are done, found by their parameters.

    Parameters
    ----------
    outcomes : sequence of (parameters, outcome)
        What is done.

    Examples
    --------
    >>> from kernelmeans_paper.grid import Results
    >>> results = Results([({"k": 2}, {"nmi": 0.5}), ({"k": 3}, {"nmi": 0.7})])
    >>> results.one(k=3)["nmi"]
    0.7
    >>> results.values("k")
    [2, 3]
    """

    def __init__(self, outcomes: Sequence[tuple[Parameters, Outcome]]) -> None:
        self._outcomes = outcomes

    def __iter__(self) -> Iterator[tuple[Parameters, Outcome]]:
        return iter(self._outcomes)

    def __len__(self) -> int:
        return len(self._outcomes)

    def where(self, **wanted: Any) -> "Results":
        """Those whose parameters have these values."""
        return Results(
            [
                (parameters, outcome)
                for parameters, outcome in self._outcomes
                if all(parameters.get(key) == value for key, value in wanted.items())
            ]
        )

    def one(self, **wanted: Any) -> Outcome | None:
        """The outcome of the only cell with these values; None if it is not there."""
        found = self.where(**wanted)
        if len(found) > 1:
            raise LookupError(f"{len(found)} cells have the parameters {wanted}.")
        return next((outcome for _, outcome in found), None)

    def values(self, key: str) -> list[Any]:
        """The values of a parameter, each once, in the order of the cells."""
        return list(dict.fromkeys(p[key] for p, _ in self._outcomes if key in p))


@dataclass(frozen=True)
class Experiment:
    """A part of the report that can be run on its own.

    Attributes
    ----------
    name : str
        What the command line calls it.
    grid : callable
        From a scale to the parameters of the cells, in the order of the report.
    run : callable
        Called with the parameters of a cell; a function of a module, so that another process can
        find it. The outcome is made of numbers, strings and lists of them.
    report : callable
        From the outcomes and the scale to the section.
    data : callable
        From a scale to the names of the benchmark sets that it needs.
    alone : bool
        Whether its cells measure time.
    """

    name: str
    grid: Callable[[Scale], list[dict[str, Any]]]
    run: Callable[..., Outcome]
    report: Callable[[Results, Scale], Section]
    data: Callable[[Scale], Sequence[str]] = lambda scale: ()
    alone: bool = False

    def left_out(self, scale: Scale) -> list[str]:
        """The benchmark sets that it has at full scale only."""
        here = self.data(scale)
        return [name for name in self.data(Scale()) if name not in here]

    def cells(self, scale: Scale) -> list[Cell]:
        """The cells, without those on benchmark sets that are absent."""
        return [
            Cell(self.name, parameters, self.alone)
            for parameters in self.grid(scale)
            if parameters.get("data") not in scale.absent
        ]
