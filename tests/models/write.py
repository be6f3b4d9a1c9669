"""Write small models and the labels that they give to new rows, with the package that is installed.

``python tests/models/write.py FOLDER`` makes a folder beside this file, called by the date and the
commit of the code. Models that are there stay as they are: ``test_models.py`` reads all.
"""

import json
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from zipfile import ZIP_DEFLATED

import numpy as np
import polars as pl
import skops.io

from kernelmeans import KernelPowerKMeans

HERE = Path(__file__).parent
#: The rows of the fits, and others. One of these has an unknown town and no age that is a number.
FITTED, NEW = HERE / "people.csv", HERE / "new_people.csv"
#: Columns of numbers without gaps.
NUMBERS = ["height", "visits"]
VIEWS = """
[[view]]
name = "body"
kernel = "rbf"
columns = ["height", "age"]

[[view]]
name = "money"
kernel = "linear"
columns = ["spend", "visits"]

[[view]]
name = "life"
kernel = "heat"
columns = ["visits", "member", "town"]
n_neighbors = 8
"""
#: Options of ``kernelmeans fit`` for each model.
FITS = {
    "rbf": ["--kernel", "rbf", "--dates"],
    "heat": ["--kernel", "heat", "--n-neighbors", "8"],
    "views": ["--views", "views.toml"],
}


def write(folder: Path) -> None:
    """Write the models into a new folder, and the labels and distances that they give."""
    folder.mkdir()
    expected = {}
    with TemporaryDirectory() as place:
        (Path(place) / "views.toml").write_text(VIEWS, "utf-8")

        def run(*arguments: object) -> None:
            command = [sys.executable, "-m", "kernelmeans", *map(str, arguments)]
            subprocess.run(command, cwd=place, check=True)

        for name, options in FITS.items():
            path = folder / f"{name}.model.skops"
            own = ["--id-column", "id", "--model", path, "--output-dir", place, "--force"]
            run("fit", FITTED, "-k", 3, *options, *own)
            run("predict", path, NEW, "--labels", f"{name}.csv")
            found = pl.read_csv(Path(place) / f"{name}.csv")
            expected[name] = {column: found[column].to_list() for column in ("label", "distance")}
    fitted, new = (pl.read_csv(path)[NUMBERS].to_numpy() for path in (FITTED, NEW))
    model = KernelPowerKMeans(3, kernel="laplacian", random_state=0).fit(fitted)
    label, distance = model.predict(new), model.transform(new).min(axis=1)
    expected["plain"] = {"label": label.tolist(), "distance": distance.tolist()}
    skops.io.dump(model, folder / "plain.skops", compression=ZIP_DEFLATED)
    (folder / "expected.json").write_text(json.dumps(expected, indent=1) + "\n", "utf-8")


def gapped(numbers: Any, rng: np.random.Generator) -> list[str]:
    """Numbers as text, of which some are missing."""
    return ["" if rng.random() < 0.2 else str(number) for number in numbers]


def write_tables() -> None:
    """Write the tables of all models; done once."""
    rng = np.random.default_rng(0)
    for path, count in ((FITTED, 48), (NEW, 16)):
        group = np.arange(count) % 3
        days = np.datetime64("2024-01-01") + (200 * group + rng.integers(90, size=count))
        age = np.round(25 + 15 * group + 4 * rng.standard_normal(count), 1)
        town = np.array(["Rome", "Pisa", "Turin", "Bari"])[(group + (rng.random(count) < 0.2)) % 4]
        pl.DataFrame(
            {
                "id": [f"P{number:03}" for number in range(count)],
                "joined": [str(day) for day in days],
                "age": ["old" if path == NEW else "33", *gapped(age, rng)[1:]],
                "spend": np.round(rng.lognormal(3 + group, 0.7), 2),
                "height": np.round(165 + 8 * group + 3 * rng.standard_normal(count), 1),
                "visits": rng.poisson(4 + 6 * group),
                "member": np.where(rng.random(count) < 0.2 + 0.3 * group, "yes", "no"),
                "town": ["Oslo", *town[1:]] if path == NEW else town,
            }
        ).write_csv(path)


if __name__ == "__main__":
    write(HERE / sys.argv[1])
