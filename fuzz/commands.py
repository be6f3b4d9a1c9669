"""The command line in this process: it is done, or says in one line why not."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import click
import polars as pl
from click.testing import CliRunner, Result

import kernelmeans.cli.fit
import kernelmeans.cli.predict  # noqa: F401  (late imports are not to count)
from fuzz import Refused
from fuzz.judge import is_refusal, require
from kernelmeans._errors import InputError
from kernelmeans.cli.app import app
from kernelmeans.cli.errors import NoClustersError

#: No swap moves, which take longest, and no question about files that exist.
QUICK = ("--n-swaps", "0", "--force")
#: How a message begins that is of an option and not of a file.
OF_OPTION = re.compile(r"--?\w[\w-]*[ ,]|\w+=")
# The options come from docstrings, which are parsed before all cases. CPython 3.11.7 fails to parse
# a file if it destroys an object then whose finalizer parses too (gh-106905), such as one of an
# earlier case. A user's command begins without any.
for _command in app.commands.values():
    _command.get_params(click.Context(_command))


def write(files: Mapping[str, bytes]) -> None:
    """Write files into the current folder."""
    for name, content in files.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_bytes(content)


def run(
    arguments: Sequence[str], given: bytes | None = None, damaged: Sequence[str] = ()
) -> Result:
    """Run the command line, with these bytes as standard input; refusals and failures are raised.

    A refusal names one of the files that may be damaged, if it is the file that is refused.

    Raises
    ------
    Refused
        If the command says why it is not done.
    Failure
        If it says so in words of others, loses an input or leaves files behind.
    """
    before = {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()}
    there = set(Path().rglob("*"))
    result = CliRunner().invoke(app, list(arguments), input=given, standalone_mode=False)
    for path, content in before.items():
        require(path.exists() and path.read_bytes() == content, f"{path} is lost or changed")
    require(not list(Path().rglob("*.tmp")), "a temporary file is left behind")
    require("encountered in" not in result.stderr, f"a warning of NumPy: {result.stderr}")
    require(len(result.output) < 100_000, f"an answer of {len(result.output)} characters")
    if result.exception is None:
        return result
    written = set(Path().rglob("*")) - there
    # A search without clusters leaves its scores and its picture, which say why.
    done = not written or isinstance(result.exception, NoClustersError)
    require(done, f"a refused command has written {written}: {result.exception}")
    require_words(result.exception, damaged)
    raise Refused(str(result.exception)) from result.exception


def check_same_labels(data: str, again: Sequence[str] = ()) -> None:
    """The model of a fit labels its table as the fit did."""
    stem = data.partition(".")[0]
    own = pl.read_csv(f"{stem}.labels.csv", infer_schema=False)
    require(len(own) > 0, "no labels")
    run(["predict", f"{stem}.model.skops", data, "--labels", "again.csv", "-q", *again])
    predicted = pl.read_csv("again.csv", infer_schema=False)
    require(own["label"].equals(predicted["label"]), f"labels {own} and {predicted}")


def require_words(error: BaseException, damaged: Sequence[str] = ()) -> None:
    """Fail unless the error of a command is a short line in words of its own."""
    cause = error.__cause__
    if isinstance(cause, InputError):  # the same message
        cause = cause.__cause__
    own = isinstance(error, click.ClickException) and "This is a fault" not in str(error)
    borrowed = isinstance(cause, Exception) and str(error)[:50] == str(cause)[:50]
    if not own or (borrowed and not (cause and is_refusal(cause))):
        raise error
    assert isinstance(error, click.ClickException)
    codes = (1, 2, 3) if isinstance(error, NoClustersError) else (1, 2)
    require(error.exit_code in codes, f"exit code {error.exit_code}: {error}")
    # What estimators say is of the numbers in a file, and memory of all that is held.
    require_line(
        error.format_message(), () if borrowed or isinstance(cause, MemoryError) else damaged
    )


def require_line(message: str, damaged: Sequence[str] = ()) -> None:
    """Fail unless a message is what docs/trust.md promises of files: a line that names the file."""
    require(3 < len(message) <= 2000, f"the message is empty or long: {message[:500]}")
    require(len(message.splitlines()) == 1, f"the message has several lines: {message}")
    named = any(name in message for name in damaged) or OF_OPTION.match(message)
    require(not damaged or named, f"the message does not name {damaged}: {message}")
