"""The demo's data: scikit-learn's digits as a CSV file that ``fit`` can read."""

from pathlib import Path

import polars as pl
from sklearn.datasets import load_digits

from kernelmeans.cli.atomic import check_writable, write_all

LABEL = "digit"


def write_digits(path: Path, *, force: bool) -> None:
    """Write 1797 handwritten digits, one image of 64 pixels a line, and which digit each is."""
    check_writable([path], force=force)
    digits = load_digits()
    names = [f"pixel_{row}_{column}" for row in range(8) for column in range(8)]
    frame = pl.DataFrame(digits.data.astype("int8"), schema=names)
    frame = frame.with_columns(pl.Series(LABEL, digits.target))
    write_all({path: frame.write_csv})
