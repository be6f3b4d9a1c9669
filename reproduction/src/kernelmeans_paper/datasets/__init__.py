"""Benchmark data of the literature: fetched from public addresses, checked, kept in a folder."""

from kernelmeans_paper.datasets.download import data_folder
from kernelmeans_paper.datasets.loading import fetch, is_present
from kernelmeans_paper.datasets.sources import KERNEL_NAMES, NAMES, USER_NAMES, VIEW_NAMES

__all__ = [
    "fetch",
    "is_present",
    "data_folder",
    "NAMES",
    "VIEW_NAMES",
    "KERNEL_NAMES",
    "USER_NAMES",
]
