"""A store for worker processes, which import it by name: the process dies when a cell is done."""

import os
import signal

from kernelmeans_paper.store import Store


class DeadlyStore(Store):
    def write(self, cell, outcome, seconds):
        os.kill(os.getpid(), signal.SIGKILL)
