"""Mutation testing of the solver, the spaces and the heat kernel.

``python tests/mutants.py --sample 600`` changes one thing of the code at a time, as mutmut makes
such mutants, and runs the tests of these rooms that call the changed function, the quick ones
first and the slow ones never. It prints how many mutants of each module they notice, and writes the
others to ``build/mutants/unnoticed.diff``. The exit code is 1 if they notice too few of all.

mutmut's own runner collects all tests for every mutant. Here they are collected once, and each
mutant is a fork of that process. Functions with decorators, properties among them, and constants of
modules have no mutants.
"""

import argparse
import difflib
import gc
import os
import random
import re
import resource
import shutil
import signal
import sys
import time
from bisect import bisect
from collections import defaultdict
from itertools import accumulate
from multiprocessing import Pipe
from pathlib import Path

ROOMS = ("solver", "spaces", "heat")
FOLDER = Path("build/mutants")
#: Most bytes of a process, because a mutant may ask for any number.
MOST_BYTES = 2**33
#: The fraction of all mutants that has to be noticed.
LEAST = 0.85


def main():
    parser = argparse.ArgumentParser(description="Mutation testing on a random sample.")
    parser.add_argument("--sample", type=int, default=600, help="number of mutants (600)")
    parser.add_argument("--seed", type=int, default=0, help="of the sample (0)")
    parser.add_argument("--seconds", type=float, default=20, help="of tests for a mutant (20)")
    parser.add_argument("--jobs", type=int, default=2, help="processes (2)")
    parser.add_argument("--only", default="", help="part of the names of mutants")
    given = parser.parse_args()

    population = {path: [n for n in names if given.only in n] for path, names in write_mutants()}
    fraction = min(1, given.sample / sum(map(len, population.values())))
    rng = random.Random(given.seed)
    sample = {
        path: rng.sample(names, round(fraction * len(names))) for path, names in population.items()
    }
    trials = Trials([n for names in sample.values() for n in names], given.seconds, given.jobs)
    trials.run()
    report(sample, trials.statuses)
    noticed = sum(status != 0 for status in trials.statuses.values())
    return int(noticed < LEAST * len(trials.statuses))


def write_mutants():
    """Copy the package, all mutants in it; each module and the names of its mutants."""
    from mutmut.mutation.file_mutation import mutate_file_contents
    from mutmut.utils.format_utils import get_mutant_name

    shutil.rmtree(FOLDER, ignore_errors=True)
    shutil.copytree("src", FOLDER / "src")
    for room in ROOMS:
        for path in sorted(Path("src/kernelmeans", room).glob("*.py")):
            mutated = mutate_file_contents(str(path), path.read_text())
            (FOLDER / path).write_text(mutated.code)
            yield path, [get_mutant_name(path, name) for name in mutated.mutant_names]


class Trials:
    """A pytest plugin that runs tests for each mutant instead of once."""

    def __init__(self, names, seconds, jobs):
        self.names, self.seconds, self.jobs = names, seconds, jobs
        #: How the process of each mutant ended: 0 if no test noticed it.
        self.statuses = {}

    def run(self):
        import pytest

        # Several processes run at once, and a process with threads cannot be forked.
        os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1"))
        os.environ["PYTHONPATH"] = str((FOLDER / "src").absolute())
        os.environ.pop("PYTEST_ADDOPTS", None)
        sys.path.insert(0, os.environ["PYTHONPATH"])
        options = ["-qs", "--tb=native", "-p", "no:cacheprovider"]
        pytest.main([*options, *(f"tests/{room}" for room in ROOMS)], plugins=[self])

    def pytest_runtestloop(self, session):
        # Its folder is made before the forks.
        session.config._tmp_path_factory.getbasetemp()
        seconds, tests = self.survey(session.items)
        # Collections of garbage would touch all memory, which forks share.
        gc.freeze()
        running = {}
        for name in self.names:
            quick = sorted(tests[name.rpartition("_")[0]], key=seconds.__getitem__)
            ends = list(accumulate(map(seconds.__getitem__, quick), initial=0))
            count = bisect(ends, self.seconds) - 1
            running[self.trial(name, quick[:count], ends[count])] = name
            if len(running) == self.jobs:
                self.wait(running)
        while running:
            self.wait(running)
        return True

    def wait(self, running):
        child, status = os.wait()
        name = running.pop(child)
        self.statuses[name] = status
        print(f"{len(self.statuses)}/{len(self.names)} {status:6} {name}", flush=True)

    def survey(self, items):
        """The seconds that each test takes, and the tests that call each function.

        Tests that fail without a mutant do not count: because calls go through functions of mutmut,
        or because of the limits and the order in which mutants are tried.
        """
        from mutmut.state import state

        here, there = Pipe(duplex=False)
        child = os.fork()
        if child:
            there.close()
            seconds, functions = here.recv()
            os.waitpid(child, 0)
            tests = defaultdict(list)
            for item, own in zip(items, functions, strict=True):
                for function in own:
                    tests[function].append(item)
            return dict(zip(items, seconds, strict=True)), tests
        silence()
        seconds, functions = [], []
        for passed, took in self.results("stats", items):
            seconds.append(took)
            functions.append({f"{function}__mutmut" for function in state()._stats if passed})
            state()._stats.clear()
        limit_memory()
        quick = sorted(range(len(items)), key=seconds.__getitem__)
        again = self.results("none", [items[place] for place in quick])
        for place, (passed, _) in zip(quick, again, strict=True):
            if not passed:
                functions[place] = set()
        there.send((seconds, functions))
        os._exit(0)

    def trial(self, name, items, seconds):
        """The process that runs tests for a mutant; its status is 0 if none of them notices it."""
        child = os.fork()
        if child:
            return child
        # Loops without end, and threads that wait for each other.
        resource.setrlimit(resource.RLIMIT_CPU, (int(3 * seconds) + 5,) * 2)
        signal.alarm(int(20 * seconds) + 30)
        limit_memory()
        silence()
        os._exit(0 if all(passed for passed, _ in self.results(name, items)) else 1)

    def results(self, mutant, items):
        """Whether each test passes, and the seconds that it takes."""
        from mutmut.mutation.trampoline import set_mutant_under_test

        set_mutant_under_test(mutant)
        for item, following in zip(items, [*items[1:], None], strict=False):
            self.passed, started = True, time.perf_counter()
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            yield self.passed, time.perf_counter() - started

    def pytest_runtest_logreport(self, report):
        self.passed = self.passed and not report.failed


def limit_memory():
    resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))


def silence():
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for output in (1, 2):
        os.dup2(nowhere, output)


def report(sample, statuses):
    """Print for each module, each room and all how many mutants were noticed."""
    print(f"{'':24} noticed (by a limit)    of   score")
    for room in ROOMS:
        own = {path: names for path, names in sample.items() if path.parent.name == room and names}
        for path, names in own.items():
            line(f"{room}/{path.name}", [statuses[name] for name in names])
        line(f"{room}, all", [statuses[name] for names in own.values() for name in names])
    line("all", list(statuses.values()))
    with open(FOLDER / "unnoticed.diff", "w") as file:
        for path, names in sample.items():
            code = (FOLDER / path).read_text()
            for name in names:
                if statuses[name] == 0:
                    file.write(f"# {name}\n{difference(code, name)}\n")


def line(title, statuses):
    if statuses:
        n, noticed = len(statuses), sum(status != 0 for status in statuses)
        limits = sum(os.WIFSIGNALED(status) for status in statuses)
        score = noticed / n
        error = 1.96 * (score * (1 - score) / n) ** 0.5
        print(f"{title:24} {noticed:7} {f'({limits})':>12} {n:5}  {score:6.1%} +- {error:.1%}")


def difference(code, name):
    """The lines that a mutant changes."""
    mutant = name.rpartition(".")[2]
    original = mutant.rpartition("_")[0] + "_orig"
    before, after = (body(code, function).splitlines() for function in (original, mutant))
    lines = difflib.unified_diff(before, after, lineterm="", n=0)
    return "\n".join(line for line in lines if not line.startswith(("---", "+++", "@@")))


def body(code, function):
    """The source of a function after its name, as far as the next one that mutmut has made."""
    start = code.index(f"def {function}(") + len(f"def {function}(")
    following = re.compile(r"\n *(def x[_ǁ]|mutants_x|@|class )").search(code, start)
    return code[start : following.start() if following else None]


if __name__ == "__main__":
    sys.exit(main())
