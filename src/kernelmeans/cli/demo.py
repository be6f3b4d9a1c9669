"""The table of demo."""

from pathlib import Path

import polars as pl
from sklearn.datasets import load_digits

from kernelmeans.cli import outputs


def write_digits(path: Path) -> None:
    """Write 1797 handwritten digits. Each line has the 64 pixels of an image, and its digit."""
    digits = load_digits()
    frame = pl.DataFrame(digits.data.astype("int8"), schema=digits.feature_names)
    frame = frame.with_columns(pl.Series("digit", digits.target))
    outputs.write_all({path: frame.write_csv})
