"""The memory of another process, watched from outside."""

import subprocess
from pathlib import Path
from threading import Thread
from time import sleep


def anonymous(pid):
    """Bytes of a process that no file holds; 0 when it has ended."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return sum(1024 * int(line.split()[1]) for line in lines if line.startswith("Anonymous:"))


def peak_of(process: subprocess.Popen, told: str = ""):
    """Most such bytes from now to its end, and what it printed after it was told something."""
    printed = []
    waiter = Thread(target=lambda: printed.extend(process.communicate(told)))
    peak = anonymous(process.pid)
    waiter.start()
    while waiter.is_alive():
        peak = max(peak, anonymous(process.pid))
        sleep(0.01)
    waiter.join()
    return peak, printed[0]
