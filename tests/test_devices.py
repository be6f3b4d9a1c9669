"""Memory budgets are read, and free memory is measured."""

import numpy as np
import psutil
import pytest

from kernelmeans import _devices, _sizes


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
    assert _sizes.budget_bytes(given) == size


@pytest.mark.parametrize("given", ["", "GB", "four GB", "4 XB", "4GBB", "-1GB", "0", "nan", "inf"])
def test_other_texts_are_refused_with_an_example(given):
    with pytest.raises(ValueError, match=r"memory_budget='.*(for example '4GB'|positive number)"):
        _sizes.budget_bytes(given)


@pytest.mark.parametrize("given", [0, -5, float("inf"), float("nan"), np.nan])
def test_other_numbers_are_refused(given):
    with pytest.raises(ValueError, match=r"memory_budget=.* must be a positive number of bytes"):
        _sizes.budget_bytes(given)


def test_no_budget_is_most_of_the_memory_whatever_is_free(monkeypatch):
    monkeypatch.setattr(_devices, "machine_memory", lambda: (0, 1000))
    assert _devices.HOST.budget(None) == (800, 0)


def test_free_memory_is_what_the_machine_has_to_give():
    free, total = _devices.machine_memory()
    assert 0 < free <= total <= psutil.virtual_memory().total


FILES = {
    "": ("memory.max", "memory.current"),
    "memory": ("memory.limit_in_bytes", "memory.usage_in_bytes"),
}


@pytest.fixture(params=["v2", "v1"])
def groups(request, monkeypatch, tmp_path):
    """A machine of 2000 bytes, 1000 of them free, and files of the limits of a process's groups."""
    is_first = request.param == "v1"
    controllers = "memory" if is_first else ""
    machine = type("Memory", (), {"total": 2000, "available": 1000})
    monkeypatch.setattr(_devices.psutil, "virtual_memory", lambda: machine)
    monkeypatch.setattr(_devices, "_GROUPS", tmp_path)
    monkeypatch.setattr(_devices, "_OWN_GROUPS", tmp_path / "own")

    def write(limit, used, idle, group="/", own=None):
        (tmp_path / "own").write_text(f"9:cpu:/elsewhere\n4:{controllers}:{own or group}\n")
        folder = tmp_path / controllers / group.strip("/")
        folder.mkdir(parents=True, exist_ok=True)
        for name, value in zip(FILES[controllers], (limit, used), strict=True):
            (folder / name).write_text(f"{value}\n")
        stat = f"anon 7\ninactive_file {idle}\nactive_file 5\n"
        if is_first:
            # Of the group alone, and with those below it.
            stat = f"inactive_file 1\ntotal_inactive_file {idle}\n"
        (folder / "memory.stat").write_text(stat)

    return write


@pytest.mark.parametrize(
    ("limit", "used", "idle", "total", "free"),
    [
        (700, 200, 0, 700, 500),
        (700, 650, 600, 700, 650),  # files that were read, and can go
        (9000, 200, 0, 2000, 1000),
        (100, 200, 0, 100, 0),
    ],
)
# A container may see the path of its group in the machine, whose folder it does not have.
@pytest.mark.parametrize("own", ["/", "/docker/0123"])
def test_a_containers_limit_counts(groups, own, limit, used, idle, total, free):
    groups(limit, used, idle, "/", own)
    assert _devices.machine_memory() == (free, total)


@pytest.mark.parametrize("limit", ["max", 2**63 - 4096])
def test_a_container_without_a_limit(groups, limit):
    groups(limit, 200, 0)
    assert _devices.machine_memory() == (1000, 2000)


def test_the_limits_of_a_job_and_of_what_it_is_in_count(groups):
    """As Slurm and systemd set them; the outer group counts all jobs in it."""
    groups("max", 1500, 0)
    groups(900, 800, 0, "/jobs")
    groups(500, 300, 0, "/jobs/17")
    assert _devices.machine_memory() == (100, 500)


def test_a_machine_without_groups(groups):
    assert _devices.machine_memory() == (1000, 2000)


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
    assert _devices.readable(size) == text
