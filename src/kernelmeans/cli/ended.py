"""Signals that end a command: what it was writing is taken away first."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

#: A terminal that closes, and a polite kill. Windows knows no SIGHUP.
_SIGNALS = [getattr(signal, name) for name in ("SIGHUP", "SIGTERM") if hasattr(signal, name)]


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """Let SIGHUP and SIGTERM end the command as Ctrl-C does, which runs every ``finally``.

    Signals that are ignored, as under ``nohup``, or handled by somebody else stay so.
    """
    main = threading.current_thread() is threading.main_thread()
    ours = [number for number in _SIGNALS if main and signal.getsignal(number) is signal.SIG_DFL]
    for number in ours:
        signal.signal(number, _end)
    try:
        yield
    finally:
        for number in ours:
            signal.signal(number, signal.SIG_DFL)


def _end(number: int, frame: FrameType | None) -> NoReturn:
    raise SystemExit(128 + number)
