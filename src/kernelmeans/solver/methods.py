"""The methods that estimators run: annealed, hard from the start, or in turns with weights."""

from dataclasses import replace

import numpy as np

from kernelmeans._warnings import warn_user
from kernelmeans.solver.critical import critical_power
from kernelmeans.solver.power import SQUARES, Loss
from kernelmeans.solver.schedule import (
    AUTO_ETA,
    AUTO_RELAXATION,
    AUTO_SOFTNESS,
    FORGETTING_STEPS,
    PACE,
    PACED_ETA,
    QUICK_ETA,
    QUICK_SOFTNESS,
    Schedule,
)
from kernelmeans.solver.start import automatic_start, coldest_start
from kernelmeans.spaces import Space


def hard(space: Space, *, n_swaps: int | str, max_iter: int) -> Schedule:
    """Plain kernel k-means."""
    schedule = Schedule(-np.inf, -np.inf, max_iter=max_iter)
    if n_swaps == "auto" and not _swaps_pay(space, schedule):
        n_swaps = 0
    return replace(schedule, n_swaps=n_swaps)


def alternating(max_iter: int, tol: float, loss: Loss = SQUARES, refills: bool = True) -> Schedule:
    """Hard steps that also move kernel weights, or weigh samples anew; they end on ``tol``."""
    return Schedule(
        -np.inf,
        -np.inf,
        max_iter=max_iter,
        tol=tol,
        loss=loss,
        alternates=True,
        refills=refills,
    )


def annealed(
    space: Space,
    n_clusters: int,
    *,
    s0: str | float,
    eta: str | float,
    anneal_every: int,
    max_iter: int,
    tol: float,
    n_swaps: int | str,
    forgets: bool = False,
    alternates: bool = False,
) -> Schedule:
    """An annealed run, its powers settled from the samples.

    Parameters
    ----------
    space : Space
        The samples.
    n_clusters : int
        Number of centroids.
    s0, eta, anneal_every, max_iter, tol, n_swaps
        As the estimators take them.
    forgets : bool, default=False
        Whether ``s0="auto"`` begins with steps that all but forget the start.
    alternates : bool, default=False
        Whether there are kernel weights, which move with the centroids in hard steps too: else they
        would be those of the last soft steps, not of the labels.

    Returns
    -------
    Schedule
        The powers, and what follows.
    """
    # From one start vector always: powers should depend on the data alone.
    critical = critical_power(space.sample)
    forgets = forgets and s0 == "auto"
    if s0 != "auto":
        first = float(s0)
    elif eta == 1 or forgets:
        # A power that stays must be one at which centroids part; a start that is forgotten need
        # not be a warm one.
        first = coldest_start(critical)
    else:
        first = automatic_start(space.sample, n_clusters, critical)
    schedule = Schedule(
        first,
        critical,
        eta=AUTO_ETA if eta == "auto" else float(eta),
        anneal_every=anneal_every,
        max_iter=max_iter,
        tol=tol,
        alternates=alternates,
        rehearsed=s0 == "auto",
    )
    if n_swaps == "auto" and not _swaps_pay(space, schedule):
        n_swaps = 0
    schedule = replace(schedule, n_swaps=n_swaps)
    if forgets and schedule.anneals:
        schedule = replace(schedule, forgets=FORGETTING_STEPS)
    if eta == "auto":
        schedule = replace(schedule, relaxation=AUTO_RELAXATION, softness=AUTO_SOFTNESS)
        if alternates:
            schedule = replace(schedule, eta=PACED_ETA, pace=PACE)
        elif n_swaps != 0:
            schedule = replace(schedule, eta=QUICK_ETA, softness=QUICK_SOFTNESS)
    if not schedule.anneals and first > critical > -np.inf:
        warn_user(
            f"s0={first:g} with eta=1 stays above the critical power "
            f"{critical:.3g} of these data: the centroids collapse onto the mean. "
            "Use s0='auto', a lower s0, or eta > 1.",
        )
    return schedule


def _swaps_pay(space: Space, schedule: Schedule) -> bool:
    """Whether swap moves follow by default.

    Not at a constant power, whose objective is another one, nor on so many rows that they have been
    tried on draws.
    """
    few = space.sample_rows == space.n_samples
    return few and (schedule.anneals or bool(np.isinf(schedule.s0)))
