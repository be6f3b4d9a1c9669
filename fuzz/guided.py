"""Tables and model files by a fuzzer that keeps the bytes that reach new lines of the package.

``python -m fuzz.guided table --minutes 3``, or ``model``. It needs atheris, which there is for some
Pythons on Linux. Bytes that fail are kept in ``build/guided``; ``--replay FILE`` tries them again.
"""

import argparse
import io
import os
import sys
import tempfile
import warnings
import zipfile
from pathlib import Path

import atheris
import numpy as np

with atheris.instrument_imports(include=["kernelmeans"]):
    from fuzz.cases import csv, models
    from fuzz.commands import QUICK, run, write
    from fuzz.judge import allow_own_warnings, is_refusal

#: The model whose description of objects is changed.
KIND = "table"
#: Seconds after which a case hangs, and megabytes that are too many.
LIMITS = "-timeout=20", "-rss_limit_mb=4096", "-max_len=200000"


def table(content: bytes) -> None:
    """A table of the command line, as text."""
    write({"t.csv": content})
    run(["fit", "t.csv", "-k", "2", "--kernel", "linear", *QUICK])


def model(content: bytes) -> None:
    """A model file with this description of its objects."""
    original, data = models.original(KIND), models.data_of(KIND)
    rng = np.random.default_rng(0)
    changed = models.changed_member(original, ".json", rng, lambda _: content)
    write({"m.skops": changed, data: models.tables()[data]})
    run(["predict", "m.skops", data, "--force"])


def described() -> bytes:
    """The description of the objects in a model file."""
    with zipfile.ZipFile(io.BytesIO(models.original(KIND))) as archive:
        return archive.read("schema.json")


TARGETS = {"table": table, "model": model}


def tried(name: str, content: bytes) -> None:
    """Run the target in an empty folder; what it refuses in words is well."""
    home = Path.cwd()
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        allow_own_warnings()
        os.chdir(folder)
        try:
            TARGETS[name](content)
        except Exception as error:
            if not is_refusal(error):
                raise
        finally:
            os.chdir(home)


def main() -> None:
    """Make cases until the time is over or one fails."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("target", choices=TARGETS)
    parser.add_argument("--minutes", type=float, default=3)
    parser.add_argument("--replay", type=Path, help="bytes to try again")
    arguments = parser.parse_args()
    name = arguments.target
    if arguments.replay:
        tried(name, arguments.replay.read_bytes())
        return
    store = Path("build/guided").absolute()
    corpus = store / name
    corpus.mkdir(parents=True, exist_ok=True)
    originals = csv.originals()
    first = [originals["csv"], originals["people"]] if name == "table" else [described()]
    for number, content in enumerate(first):
        (corpus / f"first{number}").write_bytes(content)
    seconds = f"-max_total_time={60 * arguments.minutes:.0f}"
    options = [sys.argv[0], str(corpus), seconds, f"-artifact_prefix={store}/", *LIMITS]
    atheris.Setup(options, lambda content: tried(name, content))
    atheris.Fuzz()


if __name__ == "__main__":
    main()
