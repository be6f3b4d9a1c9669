"""The command line as a process of its own: start-up, progress on a terminal, Ctrl-C."""

import os
import re
import select
import signal
import subprocess
import sys
import time
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from kernelmeans.cli import errors

pytestmark = pytest.mark.slow

needs_callbacks = pytest.mark.skipif(
    find_spec("sklearn.callback") is None,
    reason="the progress bar needs scikit-learn's callbacks, which 1.9 brought",
)
COMMAND = [sys.executable, "-m", "kernelmeans.cli"]
# A power that hardly moves, and stays above the critical power, where no run ends.
ENDLESS = ["--s0", "-0.5", "--eta", "1.0000001", "--max-iter", "1000000000"]


@pytest.mark.parametrize(
    "arguments", [["--help"], ["fit", "--help"], ["choose", "--help"], ["--version"]]
)
def test_start_up_imports_nothing_heavy(arguments):
    code = (
        f"import sys, atexit; sys.argv[1:] = {arguments!r}\n"
        "heavy = ['numpy', 'scipy', 'sklearn', 'polars', 'rich', 'skops', 'matplotlib']\n"
        "atexit.register(lambda: print('HEAVY', [m for m in heavy if m in sys.modules]))\n"
        "from kernelmeans.cli import main; main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "HEAVY []"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["fit", "data.foo", "-k", "3"], "unknown suffix '.foo'"),
        (["predict", "data.foo", "data.foo"], "unknown suffix '.foo'"),
        (["choose", "data.csv", "--splits", "1"], "--splits must be"),
        (["fit", "data.csv", "--eta", "0.5"], "--eta must be"),
        (["fit", "data.csv", "--separator", "ab"], "--separator is 'ab'"),
        (["fit", "data.csv", "--memory-budget", "much"], "--memory-budget much is no size"),
        (["fit", "data.csv", "--labels", "data.foo"], "would overwrite data.foo"),
        (["demo", "-o", "demo"], "would overwrite"),
    ],
)
@pytest.mark.usefixtures("data")
def test_wrong_arguments_are_refused_before_anything_heavy_is_imported(arguments, words):
    Path("data.foo").touch()
    Path("demo").mkdir()
    Path("demo/digits.csv").touch()
    code = (
        f"import sys, atexit; sys.argv[1:] = {arguments!r}\n"
        "heavy = ['scipy', 'sklearn', 'polars', 'joblib', 'skops', 'matplotlib']\n"
        "atexit.register(lambda: print('HEAVY', [m for m in heavy if m in sys.modules]))\n"
        "from kernelmeans.cli import main; main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 2
    assert words in done.stderr
    assert done.stdout == "HEAVY []\n"


def test_piped_output_is_plain(data):
    done = subprocess.run(
        [*COMMAND, "fit", str(data), "-k", "3", "--drop", "kind"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""  # no progress bar where no one watches
    assert "\x1b" not in done.stdout


class Watched:
    """A process whose stderr is a terminal, and what it has shown there."""

    def __init__(self, *arguments: str) -> None:
        self._terminal, end = os.openpty()
        self.process = subprocess.Popen(
            [*COMMAND, *arguments], stdout=subprocess.PIPE, stderr=end, env=_environment()
        )
        os.close(end)
        self.shown = ""

    def read_until(self, pattern: str, seconds: float = 60.0) -> None:
        deadline = time.monotonic() + seconds
        while not re.search(pattern, self.shown):
            assert time.monotonic() < deadline, self.shown
            assert self._read(), self.shown

    def finish(self, seconds: float = 60.0) -> int:
        deadline = time.monotonic() + seconds
        while self._read() and time.monotonic() < deadline:
            pass
        return self.process.wait(timeout=10)

    def _read(self) -> bool:
        if not select.select([self._terminal], [], [], 0.5)[0]:
            return True
        try:
            self.shown += os.read(self._terminal, 4096).decode(errors="replace")
        except OSError:  # the other end is closed
            return False
        return True

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()
        os.close(self._terminal)


def _environment() -> dict[str, str]:
    return {**os.environ, "TERM": "xterm", "COLUMNS": "120"}


@needs_callbacks
def test_a_terminal_shows_progress_unless_quiet(data):
    arguments = ["fit", str(data), "-k", "3", "--drop", "kind", "--force"]
    with Watched(*arguments) as watched:
        assert watched.finish() == 0
    assert "restarts finished 1/1" in watched.shown
    assert "step" in watched.shown
    with Watched(*arguments, "--quiet") as watched:
        assert watched.finish() == 0
    assert watched.shown == ""


@needs_callbacks
@pytest.mark.usefixtures("folder")
def test_interrupted_fit_leaves_no_file():
    noise = Path("noise.npy")
    np.save(noise, np.random.default_rng(0).normal(size=(300, 20)))
    with Watched("fit", str(noise), "-k", "5", *ENDLESS) as watched:
        watched.read_until("power -0.5")  # steps are being taken
        watched.process.send_signal(signal.SIGINT)
        assert watched.finish() == 130
    assert "Interrupted" in watched.shown
    assert "Traceback" not in watched.shown
    assert list(Path().iterdir()) == [noise]


@needs_callbacks
def test_an_interrupted_search_says_what_it_knows(data):
    arguments = ["choose", str(data), "--drop", "kind", "-k", "3", "--splits", "100000"]
    # Both find the same clusters, and so none is certain to be the more stable one.
    arguments += ["--kernels", "linear,heat", "--scoring", "stability"]
    with Watched(*arguments) as watched:
        watched.read_until(r"splits: \d of 8 fits done, about")  # the second round
        watched.process.send_signal(signal.SIGINT)
        assert watched.finish() == 130
        printed = watched.process.stdout.read().decode()
    assert "Interrupted" in watched.shown
    assert "Traceback" not in watched.shown
    assert re.search(r"again in \d+ splits of 60 rows", " ".join(printed.split()))
    assert "\nNext: kernelmeans fit data.csv -k 3 " in printed
    assert list(Path().iterdir()) == [data]


@pytest.mark.skipif(os.name != "posix", reason="signals as POSIX has them")
@pytest.mark.parametrize("number", ["SIGHUP", "SIGTERM"])
@pytest.mark.usefixtures("folder")
def test_signals_leave_no_temporary_file(number):
    """The signal comes when half of a file is written."""
    code = (
        "import os, signal, time\n"
        "from kernelmeans.cli import outputs\n"
        "from kernelmeans.cli.errors import ended_by_signals\n"
        "from pathlib import Path\n"
        # Under nohup the parent ignores it, and so would this process.
        f"signal.signal(signal.{number}, signal.SIG_DFL)\n"
        "def half(file):\n"
        "    file.write(b'half'); file.flush()\n"
        f"    os.kill(os.getpid(), signal.{number}); time.sleep(10)\n"
        "with ended_by_signals(): outputs.write_all({Path('labels.csv'): half})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 128 + getattr(signal, number), done.stderr
    assert "Traceback" not in done.stderr
    assert list(Path().iterdir()) == []


@pytest.mark.parametrize("number", errors._SIGNALS)
def test_a_signal_that_a_library_drops_still_ends_the_command(number):
    before = signal.signal(number, errors._SIGNALS[number])  # a parent may ignore it
    dropped = suppress(BaseException)  # as C code may
    try:
        with pytest.raises((KeyboardInterrupt, SystemExit)), errors.ended_by_signals(), dropped:
            signal.raise_signal(number)
    finally:
        signal.signal(number, before)


@pytest.mark.skipif(os.name != "posix", reason="signals as POSIX has them")
def test_ignored_signals_stay_ignored(data):
    """As under nohup."""
    code = (
        "import signal, sys; signal.signal(signal.SIGHUP, signal.SIG_IGN)\n"
        "from kernelmeans.cli import fit, main\n"
        "real = fit.fit_task\n"
        "def hung_up(*args): signal.raise_signal(signal.SIGHUP); return real(*args)\n"
        "fit.fit_task = hung_up\n"
        "sys.argv[1:] = ['fit', 'data.csv', '-k', '3', '--drop', 'kind']; main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@needs_callbacks
@pytest.mark.usefixtures("folder")
def test_a_fit_that_is_ended_leaves_no_file():
    noise = Path("noise.npy")
    np.save(noise, np.random.default_rng(0).normal(size=(300, 20)))
    with Watched("fit", str(noise), "-k", "5", *ENDLESS) as watched:
        watched.read_until("power -0.5")
        watched.process.send_signal(signal.SIGTERM)
        assert watched.finish() == 128 + signal.SIGTERM
    assert "Traceback" not in watched.shown
    assert list(Path().iterdir()) == [noise]
