"""A process that runs commands again and again, each time with a fault at another moment.

``python -m fuzz.faulted`` reads a line for each command: ``[FOLDER, FAULT, MOMENTS, ARGUMENTS]``.
The command runs in children, in the folders 0, 1 and so on of that folder. They are forked, because
imports take longest. Threads of polars do not survive a fork, so this is a process of its own.
Where the moment is a time, the command runs first without a fault, in the folder ``whole``, and
shows how long it takes.
"""

import encodings.cp437  # noqa: F401  (late imports are not to count)
import errno
import importlib.readers  # noqa: F401
import itertools
import json
import mmap
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import click

import kernelmeans.cli.fit
import kernelmeans.cli.predict
import kernelmeans.models._skops
from fuzz import commands  # noqa: F401  (reads the options once: half the time of each child)
from kernelmeans.cli.app import app

with suppress(ImportError):  # the extra plot
    import matplotlib.backends.backend_agg
    import matplotlib.backends.backend_pdf
    import matplotlib.backends.backend_svg  # noqa: F401

    import kernelmeans.plotting  # noqa: F401

SIGNALS = signal.SIGINT, signal.SIGTERM, signal.SIGHUP
#: What a command does: it has not begun, its handlers of signals are there, or it has ended.
BEFORE, BEGUN, ENDED = range(3)
#: Where a child says what it does, and what it did when a signal came, one more than that.
_SAID = mmap.mmap(-1, 2)
#: Seconds of a run without a fault.
_seconds = 0.5
#: What a process is run by that may mount a disk, which others do not see.
NAMESPACE = ["unshare", "--mount", *["--map-root-user"] * bool(os.geteuid())]
#: Events of Python's audit hooks at which files change.
_CHANGES = ("os.mkdir", "os.rename", "os.remove", "os.rmdir")
#: The number of the user who may do least, on Linux.
NOBODY = 65534
#: The exit status of a run from which an exception has escaped.
FOREIGN = 70
#: Faults that come after a time: this many parts of that of a whole run, and a bit more.
TIMED, PARTS, LONGER = ("interrupt_after", "kill_after"), 1000, 1.2
#: Seconds after which a run without memory is ended.
WAIT = 5


def main() -> None:
    """Answer each line with how each run ended.

    That is its exit status, negative for a signal, what it has said, and what it did when it ended.
    If a signal came, the answer says what it did then. If this process itself fails, the answer is
    the traceback.
    """
    given = click.Group.invoke

    def invoke(self: click.Group, ctx: click.Context) -> Any:
        _SAID[0] = BEGUN
        try:
            return given(self, ctx)
        finally:
            _SAID[0] = ENDED

    click.Group.invoke = invoke  # type: ignore[method-assign]
    for line in sys.stdin:
        try:
            answer: Any = run_all(*json.loads(line))
        except Exception:
            answer = traceback.format_exc()
        print(json.dumps(answer), flush=True)


def run_all(folder: str, fault: str, moments: list[int], arguments: list[str]) -> list[Any]:
    """Run the command once for each moment."""
    global _seconds
    os.chdir(folder)
    if fault in TIMED:
        started = time.monotonic()
        run("whole", lambda _: None, 0, arguments)
        _seconds = time.monotonic() - started
    return [run(str(i), FAULTS[fault], moments[i], arguments) for i in range(len(moments))]


def run(folder: str, begin: Callable[[int], object], moment: int, arguments: list[str]) -> Any:
    """Run the command in a child in this folder, in which the fault begins with it."""
    receiver, sender = os.pipe()
    _SAID[:] = bytes([BEFORE, 0])
    if not (child := os.fork()):
        os.dup2(sender, 1)
        os.dup2(sender, 2)
        os.close(receiver)
        os.chdir(folder)
        status = FOREIGN
        try:
            status = status_of(begin, moment, arguments)
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt) and _SAID[1] != 1 + BEGUN:
                status = 128 + signal.SIGINT  # before the command line has begun, or after it
            else:
                traceback.print_exc()
        finally:
            os._exit(status)
    os.close(sender)
    with os.fdopen(receiver, "rb") as said:
        text = said.read().decode(errors="replace")
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if os.path.ismount(folder):
        _bring_out(folder)
    _allow(folder, 0o600)  # what is to be looked at
    return status, text, _SAID[0], _SAID[1] - 1 if _SAID[1] else None


def status_of(begin: Callable[[int], object], moment: int, arguments: list[str]) -> int:
    """Run the command in this process, and return its exit status."""
    for number in SIGNALS:  # which the parent may ignore
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    begin(moment)
    try:
        app(arguments)
    except SystemExit as end:
        return int(end.code or 0)
    return 0


def interrupt_after(moment: int) -> None:
    """A signal comes after a part of the time."""
    signal.signal(signal.SIGALRM, lambda *_: _raise_signal(moment))
    _set_timer(moment)


def interrupt_at(moment: int) -> None:
    """A signal comes when a file is opened, made, renamed or removed."""

    def interrupt(event: str, given: tuple[Any, ...]) -> None:
        if next(events) == moment:
            _raise_signal(moment)

    events = itertools.count()
    _watch(("open", *_CHANGES), interrupt)


def kill_after(moment: int) -> None:
    """The process is killed after a part of the time, whatever it does."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    _set_timer(moment)


def kill_at(moment: int) -> None:
    """The process is killed when a file is opened, made, renamed or removed."""

    def kill(event: str, given: tuple[Any, ...]) -> None:
        if next(events) == moment:
            signal.raise_signal(signal.SIGKILL)

    events = itertools.count()
    _watch(("open", *_CHANGES), kill)


def kill_in(moment: int) -> None:
    """The process is killed in the middle of a file, after so many bytes."""
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    limit_files(moment)


def fill_at(moment: int) -> None:
    """The disk is full when a file is made, renamed or synced, or a folder made; and from then on.

    Network file systems may say so as late as that.
    """

    def refuse(event: str, given: tuple[Any, ...]) -> None:
        reads = event == "open" and not given[2] & os.O_CREAT
        if not reads and next(events) >= moment:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), given[0])

    def sync(number: int) -> None:
        refuse("sync", (None,))
        given(number)

    events, given = itertools.count(), os.fsync
    os.fsync = sync  # type: ignore[assignment]
    _watch(("open", "os.mkdir", "os.rename"), refuse)


def fill_disk(moment: int) -> None:
    """All is on a disk that has so many pages left."""
    here, page = Path.cwd(), mmap.PAGESIZE
    files = {path: path.read_bytes() for path in here.rglob("*") if path.is_file()}
    taken = sum(-(-len(content) // page) for content in files.values())
    size = f"size={max(taken + moment, 1) * page}"  # 0 were no limit
    subprocess.run(["mount", "-t", "tmpfs", "-o", size, "tmpfs", here], check=True)
    os.chdir(here)  # of the disk
    for path, content in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def _bring_out(folder: str) -> None:
    """Put what is on the disk of a folder into the folder itself."""
    shutil.copytree(folder, f"{folder}.copy")
    subprocess.run(["umount", folder], check=True)
    shutil.rmtree(folder)
    os.rename(f"{folder}.copy", folder)


def deny_at(moment: int) -> None:
    """Nothing may be read or written when a file is opened, made or removed, and from then on."""

    def deny(event: str, given: tuple[Any, ...]) -> None:
        if next(events) == moment:
            _allow(".", 0)

    if not os.geteuid():  # who may do all, whatever is forbidden
        for path in (Path(), *Path().rglob("*")):
            os.chown(path, NOBODY, NOBODY)
        os.setgid(NOBODY)
        os.setuid(NOBODY)
    events = itertools.count()
    _watch(("open", *_CHANGES), deny)


def replace_at(moment: int) -> None:
    """The input is replaced, changed or removed when a file is opened, made or removed."""

    def replace(event: str, given: tuple[Any, ...]) -> None:
        if next(events) != moment:
            return
        (here,), (other,) = Path().glob("X.*"), Path().glob("other.*")
        match moment % 4:
            case 0:
                other.replace(here)
            case 1:
                here.write_bytes(other.read_bytes())
            case 2:
                here.unlink()
            case 3:
                here.unlink()
                here.mkdir()

    events = itertools.count()
    _watch(("open", *_CHANGES), replace)


def limit_files(moment: int) -> None:
    """No file gets larger than so many bytes."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (moment, moment))


def limit_memory(moment: int) -> None:
    """There are so many MB more than the process has."""
    with open("/proc/self/statm") as file:
        size = int(file.read().split()[0]) * resource.getpagesize() + moment * 2**20
    resource.setrlimit(resource.RLIMIT_AS, (size, size))
    # Threads of polars that find no memory may end, and the others wait for them for ever.
    signal.alarm(WAIT)


def _set_timer(moment: int) -> None:
    signal.setitimer(signal.ITIMER_REAL, 0.001 + LONGER * _seconds * moment / PARTS)


def _raise_signal(moment: int) -> None:
    """Send a signal to this process, and note what it did."""
    _SAID[1] = 1 + _SAID[0]
    signal.raise_signal(SIGNALS[moment % 3])


def _allow(folder: str, mode: int) -> None:
    """Give files below a folder this mode, and folders that of files and the right to be read."""
    for parent, folders, files in os.walk(folder, topdown=False):
        for name in files:
            os.chmod(os.path.join(parent, name), mode)
        for name in folders:
            os.chmod(os.path.join(parent, name), mode | 0o500)
    os.chmod(folder, mode | 0o500)


def _watch(events: tuple[str, ...], see: Callable[[str, tuple[Any, ...]], object]) -> None:
    """Be told what the process does with files of its folder, before it does it."""

    def hook(event: str, given: tuple[Any, ...]) -> None:
        if event in events and not os.path.isabs(os.fspath(given[0])):
            see(event, given)

    sys.addaudithook(hook)


FAULTS = {
    each.__name__: each
    for each in (
        interrupt_after,
        interrupt_at,
        kill_after,
        kill_at,
        kill_in,
        fill_at,
        fill_disk,
        deny_at,
        replace_at,
        limit_files,
        limit_memory,
    )
}


if __name__ == "__main__":
    main()
