"""What one fit has found or settled, and others take over."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Generic, TypeVar

import joblib

Result = TypeVar("Result")
#: Results by a hash of what they depend on.
Found = dict[str, Any]

#: What the fit before has found, and what this one has; None outside of `remembering`.
_FOUND: ContextVar[tuple[Found, Found] | None] = ContextVar("found", default=None)
#: What fits choose by themselves, by its name; None outside of `settling`.
_SETTLED: ContextVar[Found | None] = ContextVar("settled", default=None)


class cached_property(Generic[Result]):  # noqa: N801
    """`functools.cached_property` without the lock that it has in Python 3.11.

    A child that is forked while another thread computes the property would never get that lock.

    Parameters
    ----------
    method : callable
        Computes the property when it is used first.
    """

    def __init__(self, method: Callable[[Any], Result]) -> None:
        self.method, self.__doc__ = method, method.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: Any, owner: type | None = None) -> Result:
        found = vars(instance)[self.name] = self.method(instance)
        return found


def content_hash(value: Any) -> str:
    """Equal for values of equal content, such as arrays and estimators.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelmeans._memory import content_hash
    >>> content_hash((1, np.arange(3))) == content_hash((1, np.arange(3)))
    True
    """
    # Processors with instructions for SHA take less than half the time of MD5, the default.
    found: str = joblib.hash(value, hash_name="sha1")
    return found


@contextmanager
def remembering(before: Found) -> Iterator[Found]:
    """Let `remembered` take results of the fit before, in this thread and those that it starts.

    Parameters
    ----------
    before : dict
        What an earlier context has yielded, or nothing.

    Yields
    ------
    dict
        What is found or taken within the context, for the next one. All else is forgotten, so that
        no more than the results of two fits are held.

    Examples
    --------
    >>> from kernelmeans._memory import remembered, remembering
    >>> with remembering({}) as found:
    ...     remembered(lambda: print("computed") or 6, lambda: ("sum", [1, 2, 3]))
    computed
    6
    >>> with remembering(found):
    ...     remembered(lambda: print("computed") or 6, lambda: ("sum", [1, 2, 3]))
    6
    """
    now: Found = {}
    token = _FOUND.set((before, now))
    try:
        yield now
    finally:
        _FOUND.reset(token)


def remembered(compute: Callable[[], Result], depends_on: Callable[[], tuple[Any, ...]]) -> Result:
    """A result, computed unless this fit or the one before has found it; never to be changed.

    Parameters
    ----------
    compute : callable
        Computes it.
    depends_on : callable
        Returns all that it depends on, which is compared by content: its name, arrays, numbers.
        Nothing is hashed outside of `remembering`.

    Returns
    -------
    object
        The result.
    """
    if (found := _FOUND.get()) is None:
        return compute()
    before, now = found
    key = content_hash(depends_on())
    if key not in now:
        now[key] = before[key] if key in before else compute()
    result: Result = now[key]
    return result


@contextmanager
def settling(known: Found) -> Iterator[Found]:
    """Let `settled` take the choices of another fit, in this thread and those that it starts.

    Parameters
    ----------
    known : dict
        What an earlier context has yielded, or nothing.

    Yields
    ------
    dict
        All choices for other fits, those made within the context included.

    Examples
    --------
    >>> from kernelmeans._memory import settled, settling
    >>> with settling({}) as known:
    ...     settled("factor", lambda: 2, lambda factor: 2 * factor)
    2
    >>> with settling(known):
    ...     settled("factor", lambda: 3, lambda factor: 2 * factor)
    4
    """
    chosen = dict(known)
    token = _SETTLED.set(chosen)
    try:
        yield chosen
    finally:
        _SETTLED.reset(token)


def settled(name: str, choose: Callable[[], Result], hand_on: Callable[[Result], Result]) -> Result:
    """A choice, made unless another fit of the same candidate has made it.

    Parameters
    ----------
    name : str
        Its name.
    choose : callable
        Makes it.
    hand_on : callable
        Makes of it the choice that other fits take over.

    Returns
    -------
    object
        The choice.
    """
    if (chosen := _SETTLED.get()) is None:
        return choose()
    if name in chosen:
        result: Result = chosen[name]
        return result
    result = choose()
    chosen[name] = hand_on(result)
    return result
