"""Columns of a table as a fit loads them."""

import warnings
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from kernelmeans._dialect import speaking
from kernelmeans.cli import values
from kernelmeans.cli.data import ColumnChoice
from kernelmeans.cli.options import flags
from kernelmeans.tables import frames, kinds, spellings
from kernelmeans.tables.files.tables import FileTable, FrameTable
from kernelmeans.tables.values import Texts


def with_numbers(table: FrameTable) -> pl.DataFrame:
    """The columns of a file, with numbers in place of text that holds nothing else."""
    frame, doubts = table.frame.collect(), {}
    marks = kinds.marks_of(frames.Table(frame), frame.columns, table.marks())
    for column in frame:
        texts = Texts(frames.as_array(column))
        found = spellings.numbers_among(texts.counts, len(column), marks)
        are_numbers = found and found.spelling.words == () == tuple(texts.told(lambda _: False))
        if column.dtype == pl.String and found and not found.stray and are_numbers:
            numbers = pl.Series(column.name, texts.map(found.numbers.get)).fill_nan(None)
            if not any(found.spelling.decimal in text for text in found.numbers):
                numbers = numbers.cast(int)
            frame = frame.with_columns(numbers)
            doubts |= {column.name: found.doubt} if found.doubt else {}
    if doubts:
        with speaking(flags()):
            warnings.warn(spellings.said_doubts(doubts), stacklevel=2)
    return frame


class Loaded(NamedTuple):
    """Features, their names, known classes and weights."""

    X: Any
    columns: list[str]
    labels: Any
    weights: Any


def load_data(table: FileTable, choice: ColumnChoice, dtype: str) -> Loaded:
    """Load features that must be numbers, classes and weights."""
    columns = choice.features(table)
    X = values.numbers(table, columns, dtype)
    every = np.full(table.shape[0], True)
    return Loaded(X, columns, *values.labels_and_weights(table, choice, dtype, every))
