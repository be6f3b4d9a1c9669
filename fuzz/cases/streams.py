"""Tables from standard input, and the demo: they do what a file of the same bytes does."""

from pathlib import Path

from fuzz import Case, Failure, Refused, Rng
from fuzz.cases.csv import BYTES, TEXTS, originals, packed
from fuzz.commands import QUICK, run, write
from fuzz.draw import pick, rarely
from fuzz.judge import require

WEIGHT = 1
EXTREME = True


def case(rng: Rng) -> Case:
    if rarely(rng, 100):
        return demo(rng)
    texts = "csv", "csv", "tsv", "people", "csv.gz"
    kind = pick(rng, *OTHERS) if rarely(rng, 10) else pick(rng, *texts)
    content = originals()[kind]
    if changed := rarely(rng, 2):
        content = pick(rng, *{"csv.gz": [packed]}.get(kind, BYTES if kind in OTHERS else TEXTS))(
            content, rng
        )
    options = pick(rng, ["-k", "2"], ["-k", "3"], ["-k", "2", "--no-header"])
    options += ["--kernel", pick(rng, "rbf", "linear", "heat"), *QUICK]

    def check() -> None:
        write({"t.csv": content})
        said = answer(["fit", "t.csv", *options])
        other = answer(["fit", "-", *options], content)
        require(said.replace("t.csv", "stdin") == other, f"{said}\n{other}")
        if said:
            sound = not changed and kind in texts and "--no-header" not in options
            require(not sound, f"a sound file: {said}")
            raise Refused(said)
        labels = Path("t.labels.csv").read_bytes()
        require(Path("stdin.labels.csv").read_bytes() == labels, "other labels")
        # The model knows how the table was read.
        again = ["predict", "t.model.skops", "-", "--labels", "again.csv", "--force"]
        require(not (said := answer(again, content)), f"after the fit: {said}")
        if rarely(rng, 4):
            run(["predict", "-", "-"], content)

    return Case(f"{kind} {options} {content!r}", check)


#: Files that are no text.
OTHERS = ("npy", "xlsx", "parquet")


def answer(arguments: list[str], given: bytes | None = None) -> str:
    """What a command says if it is refused."""
    try:
        run(arguments, given)
    except Failure:
        raise
    except Refused as refused:
        return str(refused)
    return ""


def demo(rng: Rng) -> Case:
    """The demo, into a folder that may have its files already."""
    folder = pick(rng, "", "out", "out/deep", "digits.csv")
    arguments = ["demo", *(["-o", folder] if folder else []), *pick(rng, [], ["-q"], ["--json"])]
    arguments += ["--force"] if rarely(rng, 2) else []
    names = "digits.csv", "digits.model.skops", "out", "out/digits.png", "out/x"
    there = pick(rng, *names) if rarely(rng, 2) else "x"

    def check() -> None:
        if not ("--force" in arguments and there.startswith(f"{folder}/digits"[folder == "" :])):
            write({there: b"mine"})
        run(arguments)
        require((Path(folder) / "digits.labels.csv").exists(), "no labels")

    return Case(f"{arguments} {there}", check)
