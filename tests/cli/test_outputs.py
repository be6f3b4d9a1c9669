import os
from pathlib import Path

import pytest

from kernelmeans.cli.errors import BadInputError, FailedError
from kernelmeans.cli.outputs import check_writable, write_all


def text(content: str):
    return lambda file: file.write(content.encode())


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


def test_a_full_disk_is_a_message(tmp_path):
    def fail(file):
        raise OSError(28, "No space left on device")

    with pytest.raises(FailedError, match=r"cannot write .*a: No space left on device"):
        write_all({tmp_path / "a": fail})
    assert contents(tmp_path) == {}


def test_existing_files_are_all_named(tmp_path):
    targets = [tmp_path / name for name in "abc"]
    targets[0].touch()
    targets[2].touch()
    with pytest.raises(BadInputError) as caught:
        check_writable(targets, force=False)
    message = caught.value.message
    assert "--force" in message
    assert [str(path) in message for path in targets] == [True, False, True]
    check_writable(targets, force=True)


def test_the_input_is_never_overwritten(tmp_path):
    source = tmp_path / "data.csv"
    source.touch()
    with pytest.raises(BadInputError, match="the input would be overwritten"):
        check_writable([tmp_path / "sub" / ".." / "data.csv"], force=True, source=source)


def test_two_outputs_must_differ(tmp_path):
    with pytest.raises(BadInputError, match="same name"):
        check_writable([tmp_path / "a", tmp_path / "a"], force=True)


def test_a_folder_in_the_way_is_refused(tmp_path):
    (tmp_path / "a").mkdir()
    with pytest.raises(BadInputError, match="is a folder"):
        check_writable([tmp_path / "a"], force=True)


def test_folders_are_made_and_left_clean(tmp_path):
    check_writable([tmp_path / "new" / "deep" / "a"], force=False)
    assert list((tmp_path / "new" / "deep").iterdir()) == []


def test_a_file_where_a_folder_is_needed_is_refused(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(BadInputError, match="cannot write into the folder"):
        check_writable([tmp_path / "file" / "a"], force=False)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_folder_is_refused(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(BadInputError, match="cannot write into the folder"):
        check_writable([tmp_path / "a"], force=False)


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs a folder no one can write to")
def test_a_folder_no_one_can_write_to_is_refused():
    with pytest.raises(BadInputError, match="cannot write into the folder"):
        check_writable([Path("/proc/a")], force=False)
