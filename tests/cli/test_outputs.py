"""Files are refused before any work, and appear complete or not at all."""

import errno
import os
from pathlib import Path

import pytest

from kernelmeans import _files
from kernelmeans._errors import InputError
from kernelmeans._files import temporary_path
from kernelmeans.cli.errors import FailedError
from kernelmeans.cli.outputs import check_writable, write_all


def text(content: str):
    return lambda file: file.write(content.encode())


def write_text(path, text):
    write_all({path: lambda file: file.write(text.encode())})


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def contents(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in folder.iterdir()}


def test_writes_files_with_ordinary_permissions(tmp_path):
    write_all({tmp_path / "a": text("1"), tmp_path / "b": text("2")})
    assert contents(tmp_path) == {"a": "1", "b": "2"}
    (tmp_path / "c").touch()
    assert (tmp_path / "a").stat().st_mode == (tmp_path / "c").stat().st_mode


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError, MemoryError])
def test_a_failing_writer_leaves_everything_as_it_was(tmp_path, error):
    (tmp_path / "a").write_text("old")

    def fail(file):
        file.write(b"half")
        raise error

    with pytest.raises(error):
        write_all({tmp_path / "a": text("new"), tmp_path / "b": fail})
    assert contents(tmp_path) == {"a": "old"}


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


@pytest.mark.parametrize("method", ["unlink", "rmdir"])
def test_a_signal_during_the_removal_leaves_nothing(tmp_path, monkeypatch, method):
    real, signals = getattr(Path, method), iter([KeyboardInterrupt])

    def interrupted(self, *args, **given):
        for one in signals:
            raise one
        real(self, *args, **given)

    def fail(file):
        raise OSError("the writer's own words")

    monkeypatch.setattr(Path, method, interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_all({tmp_path / "new" / "a": fail})
    assert names(tmp_path) == []


def test_folders_are_made_with_the_files_in_them(tmp_path):
    files = [tmp_path / "one/a", tmp_path / "two/three/b"]
    check_writable(files, force=False)
    assert names(tmp_path) == []  # whatever the command does until then leaves nothing
    write_all(dict.fromkeys(files, text("new")))
    assert [file.read_text() for file in files] == ["new", "new"]


def test_new_folders_go_with_the_files_that_fail(tmp_path):
    def fail(file):
        raise OSError("the writer's own words")

    (tmp_path / "old").mkdir()
    with pytest.raises(FailedError, match=r"cannot write \S+new/b: the writer's own words"):
        write_all({tmp_path / "old/a": text("1"), tmp_path / "old/new/b": fail})
    assert list(tmp_path.rglob("*")) == [tmp_path / "old"]


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
    monkeypatch.setattr(_files, "token_hex", lambda n: "00")
    with pytest.raises(FailedError, match="File exists"):
        write_text(tmp_path / "a", "newer")
    assert (tmp_path / "a").read_text() == "new"
    assert left.read_text() == "half"


def test_existing_files_are_all_named(tmp_path):
    targets = [tmp_path / name for name in "abc"]
    targets[0].touch()
    targets[2].touch()
    with pytest.raises(InputError) as caught:
        check_writable(targets, force=False)
    message = str(caught.value)
    assert "--force" in message
    assert [str(path) in message for path in targets] == [True, False, True]
    check_writable(targets, force=True)


def test_the_input_is_never_overwritten(tmp_path):
    source = tmp_path / "data.csv"
    source.touch()
    with pytest.raises(InputError, match="the input would be overwritten"):
        check_writable([tmp_path / "sub" / ".." / "data.csv"], force=True, source=source)


def test_two_outputs_must_differ(tmp_path):
    with pytest.raises(InputError, match="same name"):
        check_writable([tmp_path / "a", tmp_path / "a"], force=True)


def test_a_folder_in_the_way_is_refused(tmp_path):
    (tmp_path / "a").mkdir()
    with pytest.raises(InputError, match="is a folder"):
        check_writable([tmp_path / "a"], force=True)


@pytest.mark.parametrize("below", ["", "new/deeper"])
def test_a_file_where_a_folder_is_needed_is_refused(tmp_path, below):
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="cannot write into the folder"):
        check_writable([tmp_path / "file" / below / "a"], force=False)


def test_a_link_to_nothing_where_a_folder_is_needed_is_refused(tmp_path):
    (tmp_path / "link").symlink_to("nothing")
    with pytest.raises(InputError, match="cannot write into the folder"):
        check_writable([tmp_path / "link" / "a"], force=False)


@pytest.mark.skipif(
    os.name != "posix" or os.geteuid() == 0, reason="root, and all on Windows, may write everywhere"
)
def test_a_read_only_folder_is_refused(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(InputError, match="cannot write into the folder"):
        check_writable([tmp_path / "a"], force=False)


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs a folder no one can write to")
def test_a_folder_no_one_can_write_to_is_refused():
    with pytest.raises(InputError, match="cannot write into the folder"):
        check_writable([Path("/proc/a")], force=False)
