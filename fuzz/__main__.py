"""``python -m fuzz --minutes 3`` runs all classes; ``--replay fits 17`` runs one case again.

A case hangs that has had 20 s of a processor, or has waited for 20 s without work.
"""

import argparse
import signal
import sys
from pathlib import Path
from typing import NoReturn

from fuzz import discover, lacking
from fuzz.runner import CASES, Campaign, replay


def main() -> int:
    """Run the command; the exit code is 1 if a case failed, or all of a class were refused."""
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=3, help="how long (3)")
    parser.add_argument("--jobs", type=int, default=2, help="processes (2)")
    parser.add_argument("--first", type=int, default=0, help="number of the first case (0)")
    parser.add_argument("--cases", type=int, help="most cases of each class")
    parser.add_argument("--classes", help="classes, separated by commas (all)")
    parser.add_argument("--store", type=Path, default=Path("build/fuzz"), help="folder of failures")
    parser.add_argument("--replay", nargs=2, metavar=("CLASS", "NUMBER"), help="run one case again")
    parser.add_argument("--package", default=CASES, help="where the classes are")
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, _interrupt)
    weights = discover(given.package)
    asked = given.replay[:1] if given.replay else (given.classes or "").split(",")
    if unknown := [name for name in asked if name and name not in weights]:
        parser.error(f"{', '.join(unknown)}: the classes are {', '.join(weights)}")
    if given.replay:
        return replay(given.package, given.replay[0], int(given.replay[1]))
    if given.classes:
        weights = {name: weights[name] for name in filter(None, asked)}
    for name, missing in lacking(given.package, weights).items():
        print(f"{name} is left out: {missing} is not installed")
        del weights[name]
    campaign = Campaign(given.package, weights, given.store, given.first, given.cases)
    campaign.run(60 * given.minutes, given.jobs)
    print(campaign.table())
    return int(campaign.failed > 0 or bool(campaign.refusing))


def _interrupt(*_: object) -> NoReturn:
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main())
