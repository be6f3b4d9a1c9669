"""Sums whose rounding depends on the number of their terms alone."""

from collections.abc import Callable, Iterable
from typing import TypeVar

Term = TypeVar("Term")


def tree_sum(terms: Iterable[Term], add: Callable[[Term, Term], Term]) -> Term:
    """Sum of terms by pairs, pairs of pairs and so on; few are held at any time.

    Parameters
    ----------
    terms : iterable
        At least one.
    add : callable
        Sum of two neighbours, the earlier one first.

    Returns
    -------
    Any
        The sum. Its order of additions depends on the number of terms alone.

    Examples
    --------
    >>> from kernelmeans.engines import tree_sum
    >>> tree_sum("abcdefg", lambda a, b: f"({a}{b})")
    '(((ab)(cd))((ef)g))'
    """
    waiting: list[tuple[int, Term]] = []
    for term in terms:
        size = 1
        while waiting and waiting[-1][0] == size:
            _, earlier = waiting.pop()
            term, size = add(earlier, term), 2 * size
        waiting.append((size, term))
    _, total = waiting.pop()
    while waiting:
        _, earlier = waiting.pop()
        total = add(earlier, total)
    return total
