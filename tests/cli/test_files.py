"""Files that appear complete or not at all."""

import errno
import os

import pytest

from kernelmeans.cli import outputs
from kernelmeans.cli.errors import FailedError
from kernelmeans.cli.outputs import temporary_path, write_all


def write_text(path, text):
    write_all({path: lambda file: file.write(text.encode())})


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_text_is_utf8_with_its_newlines_as_they_are(tmp_path):
    write_text(tmp_path / "a", "κ ≈ 30\r\nline\n")
    assert (tmp_path / "a").read_bytes() == "κ ≈ 30\r\nline\n".encode()


def test_an_old_file_is_replaced_altogether(tmp_path):
    (tmp_path / "a").write_text("a long old text")
    write_text(tmp_path / "a", "new")
    assert (tmp_path / "a").read_text() == "new"
    assert names(tmp_path) == ["a"]


def test_whoever_has_the_old_file_open_reads_it_to_the_end(tmp_path):
    write_text(tmp_path / "a", "old text")
    with (tmp_path / "a").open() as file:
        start = file.read(3)
        write_text(tmp_path / "a", "new")
        assert start + file.read() == "old text"


def test_the_file_is_not_there_before_it_is_complete(tmp_path):
    def write(file):
        file.write(b"first half, ")
        file.flush()
        assert not (tmp_path / "a").exists()
        file.write(b"second half")

    write_all({tmp_path / "a": write})
    assert (tmp_path / "a").read_text() == "first half, second half"


def test_text_that_is_no_unicode_leaves_the_old_file(tmp_path):
    write_text(tmp_path / "a", "old")
    with pytest.raises(UnicodeEncodeError):
        write_text(tmp_path / "a", "half \ud800")
    assert (tmp_path / "a").read_text() == "old"
    assert names(tmp_path) == ["a"]


def test_an_error_of_the_system_names_the_file(tmp_path):
    write_text(tmp_path / "b", "old")

    def fail(file):
        file.write(b"half")
        raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(FailedError, match=r"cannot write \S+b: No space left on device"):
        write_all({tmp_path / "a": lambda file: file.write(b"new"), tmp_path / "b": fail})
    assert names(tmp_path) == ["b"]
    assert (tmp_path / "b").read_text() == "old"


def test_an_error_without_a_number_keeps_its_words(tmp_path):
    def fail(file):
        raise OSError("the writer's own words")

    with pytest.raises(FailedError, match=r"cannot write \S+a: the writer's own words"):
        write_all({tmp_path / "a": fail})


def test_a_folder_that_is_missing_is_an_error_with_the_files_name(tmp_path):
    with pytest.raises(FailedError, match=r"cannot write \S+none/a: No such file"):
        write_text(tmp_path / "none" / "a", "new")


def test_a_folder_in_the_way_leaves_no_temporary_file(tmp_path):
    (tmp_path / "a").mkdir()
    with pytest.raises(FailedError, match=r"cannot write \S+a: it is a folder"):
        write_text(tmp_path / "a", "new")
    assert names(tmp_path) == ["a"]


def test_content_is_on_the_disk_before_the_file_has_its_name(tmp_path, monkeypatch):
    """Otherwise a crash of the machine could leave an empty file of that name."""
    done = []
    fsync, replace = os.fsync, os.replace
    monkeypatch.setattr(os, "fsync", lambda fd: (done.append("content"), fsync(fd)))
    monkeypatch.setattr(os, "replace", lambda a, b: (done.append(b.name), replace(a, b)))
    write_all({tmp_path / name: lambda file: file.write(b"1") for name in "ab"})
    assert done == ["content", "content", "a", "b"]


def test_temporary_names_are_hidden_siblings_that_never_repeat(tmp_path):
    path = tmp_path / "results.json"
    drawn = [temporary_path(path) for _ in range(200)]
    assert len(set(drawn)) == 200
    for name in drawn:
        assert name.parent == tmp_path
        assert name.name.startswith(".results.json.")
        # A search for *.json does not find it.
        assert name.suffix == ".tmp"


def test_what_a_killed_process_left_is_neither_used_nor_removed(tmp_path, monkeypatch):
    left = tmp_path / ".a.00.tmp"
    left.write_text("half")
    write_text(tmp_path / "a", "new")
    assert (left.read_text(), names(tmp_path)) == ("half", [".a.00.tmp", "a"])
    # Were the same name drawn, it would be an error rather than a file of two writers.
    monkeypatch.setattr(outputs, "token_hex", lambda n: "00")
    with pytest.raises(FailedError, match="File exists"):
        write_text(tmp_path / "a", "newer")
    assert (tmp_path / "a").read_text() == "new"
    assert left.read_text() == "half"
