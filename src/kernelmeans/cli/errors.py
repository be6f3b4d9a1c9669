"""Errors as one-line messages on stderr, and exit codes.

====  ==============================================================
code  meaning
====  ==============================================================
0     done
1     failed while fitting or writing, or an extra is not installed
2     bad input or usage
3     ``fit`` was to choose the number of clusters, and none would be found again
129   ended by SIGHUP
130   interrupted (Ctrl-C)
143   ended by SIGTERM
====  ==============================================================
"""

import signal
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from types import FrameType
from typing import Any, NoReturn

import click

from kernelmeans._errors import InputError
from kernelmeans._text import bounded

#: What each signal does by default: Ctrl-C, a polite kill, a terminal that closes.
_SIGNALS: dict[signal.Signals, Any] = {
    signal.SIGINT: signal.default_int_handler,
    signal.SIGTERM: signal.SIG_DFL,
}
if hasattr(signal, "SIGHUP"):  # not on Windows
    _SIGNALS[signal.SIGHUP] = signal.SIG_DFL
#: Packages that the command line does not depend on, and the extras that install them.
_EXTRAS = {"anndata": "h5ad", "fastexcel": "excel", "matplotlib": "plot", "zarr": "disk"}


class FailedError(click.ClickException):
    """The work failed, or an input is bad. The message may hold long text from files."""

    def __init__(self, message: str) -> None:
        super().__init__(bounded(message))


class _BadInputError(FailedError):
    """The message of an `InputError`."""

    exit_code = 2


class NoClustersError(FailedError):
    """No clusters would be found again, so that there is no model to write."""

    exit_code = 3


class FriendlyGroup(click.Group):
    """A click group whose commands answer with messages, never with tracebacks."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the commands in the order in which they are needed, which is that of the file."""
        return list(self.commands)

    def make_context(self, *args: Any, **given: Any) -> click.Context:
        """Read the command line; Ctrl-C ends that as it ends the command."""
        try:
            return super().make_context(*args, **given)
        except KeyboardInterrupt:
            click.echo("Interrupted.", err=True)
            raise click.exceptions.Exit(128 + signal.SIGINT) from None

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; turn whatever ends it into one short message and an exit code."""
        try:
            with ended_by_signals():
                return super().invoke(ctx)
        except KeyboardInterrupt:
            click.echo("Interrupted: no half-written file is left behind.", err=True)
            ctx.exit(128 + signal.SIGINT)
        except (click.ClickException, click.exceptions.Exit, click.Abort):
            raise
        except InputError as error:
            raise _BadInputError(str(error)) from error
        except ImportError as error:
            raise FailedError(
                f"a library cannot be loaded ({bounded(str(error), 500)}): give the command more "
                "memory, or install the library again"
            ) from error
        except Exception as error:
            if short := _lack_of_memory(error):
                raise FailedError(f"not enough memory ({short!s})") from error
            if sys.flags.dev_mode:
                raise
            raise FailedError(
                f"unexpected {type(error).__name__}: {bounded(str(error), 500)} (This is a fault "
                "of kernelmeans: please report it. python -X dev -m kernelmeans shows where it is.)"
            ) from error


def _lack_of_memory(error: BaseException | None) -> MemoryError | None:
    """The lack of memory behind an error: files may answer that they cannot be closed."""
    while error is not None and not isinstance(error, MemoryError):
        error = error.__cause__ or error.__context__
    return error


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """Let SIGHUP and SIGTERM end the command as Ctrl-C does, which runs every ``finally``.

    A library that a signal interrupts may answer with an error of its own. It may also drop the
    exception, as C code can. The signal counts.
    Signals that are ignored, as under ``nohup``, or handled by other code stay so.
    """
    came: list[BaseException] = []

    def end(number: int, frame: FrameType | None) -> NoReturn:
        is_key = number == signal.SIGINT
        came.append(KeyboardInterrupt() if is_key else SystemExit(128 + number))
        raise came[-1]

    main = threading.current_thread() is threading.main_thread()
    ours = [one for one, usual in _SIGNALS.items() if main and signal.getsignal(one) is usual]
    for number in ours:
        signal.signal(number, end)
    try:
        yield
    finally:
        for number in ours:
            signal.signal(number, _SIGNALS[number])
        if came:
            raise came[-1] from None


@contextmanager
def estimator_errors(source: str = "") -> Iterator[None]:
    """Print the message of an estimator as it is: these messages are written for users.

    Parameters
    ----------
    source : str, default=""
        What the message is about, in front of it.
    """
    try:
        yield
    except InputError:
        raise
    except ImportError as error:  # PyTorch, for --device
        raise FailedError(str(error)) from error
    except (ValueError, TypeError, OSError) as error:
        raise InputError(f"{source}: {error}" if source else str(error)) from error
    except MemoryError as error:
        raise FailedError(
            f"{error or 'not enough memory'} (The options are --approximation, "
            "--no-cache-kernel, --dtype float32 and --memory-budget.)"
        ) from error


@contextmanager
def warnings_as_lines(*, quiet: bool) -> Iterator[list[str]]:
    """Print each Python warning once, as one line on stderr without its source line.

    Parameters
    ----------
    quiet : bool
        Print none.

    Yields
    ------
    list of str
        The warnings so far; more are added as they come.
    """
    warned: list[str] = []

    def show(message: Warning | str, *source: Any, **line: Any) -> None:
        text = bounded(str(message))
        if text not in warned:
            warned.append(text)
            if not quiet:
                click.echo(f"Warning: {text}", err=True)

    with warnings.catch_warnings():
        # Also if none is printed, because the summary has them.
        warnings.simplefilter("always")
        # For authors of programs, not for their users.
        for category in (DeprecationWarning, PendingDeprecationWarning, FutureWarning):
            warnings.simplefilter("ignore", category)
        warnings.showwarning = show
        yield warned


def installed(package: str) -> bool:
    """Say whether `package` can be imported, without importing it."""
    return find_spec(package) is not None


def require(*packages: str) -> None:
    """Refuse to begin unless all `packages` are installed; the message names the extra."""
    for package in packages:
        if not installed(package):
            raise FailedError(
                f"{package} is needed for this and is not installed: "
                f'pip install "kernelmeans[{_EXTRAS.get(package, "cli")}]"'
            )
