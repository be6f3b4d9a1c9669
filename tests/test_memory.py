"""Budgets: reading them, and measuring what is free."""

import numpy as np
import psutil
import pytest

from kernelmeans import memory


@pytest.mark.parametrize(
    ("given", "size"),
    [
        (1, 1),
        (12345, 12345),
        (1e9, 10**9),
        ("4GB", 4 * 10**9),
        ("4 gb", 4 * 10**9),
        ("500 MiB", 500 * 2**20),
        (" 1.5KiB ", 1536),
        ("2TB", 2 * 10**12),
        ("17", 17),
        ("17B", 17),
        ("1e3 MB", 10**9),
    ],
)
def test_sizes_are_read(given, size):
    assert memory.budget_bytes(given) == size


@pytest.mark.parametrize("given", ["", "GB", "four GB", "4 XB", "4GBB", "-1GB", "0", "nan", "inf"])
def test_other_texts_are_refused_with_an_example(given):
    with pytest.raises(ValueError, match=r"memory_budget='.*(for example '4GB'|positive number)"):
        memory.budget_bytes(given)


@pytest.mark.parametrize("given", [0, -5, float("inf"), float("nan"), np.nan])
def test_other_numbers_are_refused(given):
    with pytest.raises(ValueError, match=r"memory_budget=.* must be a positive number of bytes"):
        memory.budget_bytes(given)


def test_no_budget_is_most_of_what_is_free(monkeypatch):
    monkeypatch.setattr(memory, "free_bytes", lambda: 1000)
    assert memory.budget_bytes(None) == 800


def test_free_memory_is_what_the_machine_has_to_give():
    free = memory.free_bytes()
    assert 0 < free <= psutil.virtual_memory().total


@pytest.mark.parametrize(
    ("limit", "used", "free"),
    [("700", "200", 500), ("max", "200", 1000), ("9000", "200", 1000), ("100", "200", 0)],
)
def test_a_containers_limit_counts(limit, used, free, monkeypatch, tmp_path):
    (tmp_path / "memory.max").write_text(f"{limit}\n")
    (tmp_path / "memory.current").write_text(f"{used}\n")
    monkeypatch.setattr(memory, "Path", lambda _: tmp_path)
    monkeypatch.setattr(
        memory.psutil, "virtual_memory", lambda: type("Memory", (), {"available": 1000})
    )
    assert memory.free_bytes() == free


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0.0 B (0 bytes)"),
        (999, "999.0 B (999 bytes)"),
        (20_000, "20.0 KB (20000 bytes)"),
        (8e10, "80.0 GB (80000000000 bytes)"),
        (3e15, "3000.0 TB (3000000000000000 bytes)"),
    ],
)
def test_sizes_are_written_for_people(size, text):
    assert memory.readable(size) == text
