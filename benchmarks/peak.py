"""Peak of anonymous memory (Linux): rows that are read from disk as they are needed do not count.

Another process watches, since code that holds Python's lock would keep a thread from it.
"""

import os
import select
import subprocess
import sys
from pathlib import Path

#: Seconds between two looks.
PERIOD = 0.005


class Peak:
    """Largest anonymous memory of this process while it is open, in ``bytes``.

    ``added`` are those above what the process held when it was opened.
    """

    def __enter__(self) -> "Peak":
        command = [sys.executable, __file__, str(os.getpid())]
        self._watcher = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert self._watcher.stdout is not None
        self._before = int(self._watcher.stdout.readline())
        return self

    def __exit__(self, *error: object) -> None:
        self.bytes = int(self._watcher.communicate()[0])
        self.added = self.bytes - self._before


def status(field: str, process: int | str = "self") -> int:
    """Bytes that Linux reports for a process: RssAnon, or VmHWM (the peak of all memory)."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return 1024 * int(next(line for line in lines if line.startswith(field)).split()[1])


def watch(process: int) -> None:
    """Print the memory of a process, and its peak once there is an end of input."""
    peak = status("RssAnon", process)
    print(peak, flush=True)
    while not select.select([sys.stdin], [], [], PERIOD)[0]:
        peak = max(peak, status("RssAnon", process))
    print(max(peak, status("RssAnon", process)))


if __name__ == "__main__":
    watch(int(sys.argv[1]))
