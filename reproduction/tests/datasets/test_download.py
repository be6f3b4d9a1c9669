"""Getting files: what is there, what is not, and every way in which a server can fail."""

import hashlib
import re
import socket
import time
from functools import partial
from pathlib import Path

import numpy as np
import pooch
import pytest

from kernelmeans_paper.datasets import data_folder, fetch, is_present, sources

# pooch lets the garbage collector close the connections of failed attempts.
pytestmark = pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")


def send(handler, body, length=None):
    handler.send_response(200)
    handler.send_header("Content-Length", str(len(body) if length is None else length))
    handler.end_headers()
    handler.wfile.write(body)


def files(folder):
    return [path for path in folder.rglob("*") if not path.is_dir()]


def test_an_absent_file_is_downloaded_once(server, made):
    server.answer = partial(send, body=made.body)
    assert not is_present("made", made.folder)
    for _ in range(2):
        bunch = fetch("made", data_home=made.folder, shuffle=False)
        np.testing.assert_array_equal(bunch.data, made.content["X"])
        np.testing.assert_array_equal(bunch.target, [0, 0, 1, 1, 2, 2])
    assert server.asked == [f"/owner/repo/{'0' * 40}/data/made.mat"]
    assert files(made.folder) == [made.folder / "made.mat"]
    assert is_present("made", made.folder)


def test_a_file_in_a_subfolder_is_downloaded_there(server, made, monkeypatch):
    inner = sources.File("in/made.mat", made.file.sha256, made.file.repository, made.file.path)
    source = sources.Source("", "", "", sources.SOURCES["made"].read, (inner,))
    monkeypatch.setitem(sources.SOURCES, "made", source)
    server.answer = partial(send, body=made.body)
    fetch("made", data_home=made.folder)
    assert files(made.folder) == [made.folder / "in" / "made.mat"]


def test_a_file_that_is_there_is_used_without_network_or_writing(server, made):
    made.folder.mkdir()
    path = made.folder / "made.mat"
    path.write_bytes(made.body)
    before = [(p, p.stat().st_mtime_ns) for p in (made.folder, path)]
    assert fetch("made", data_home=made.folder).filename == str(path)
    assert [(p, p.stat().st_mtime_ns) for p in (made.folder, path)] == before
    assert files(made.folder) == [path]
    assert server.asked == []


def test_a_file_with_another_content_is_refused_and_kept(server, made):
    made.folder.mkdir()
    path = made.folder / "made.mat"
    path.write_bytes(b"mine")
    with pytest.raises(OSError, match=r"made\.mat .*not the published file") as refusal:
        fetch("made", data_home=made.folder)
    mine = hashlib.sha256(b"mine").hexdigest()
    for part in (str(made.folder), mine, made.file.sha256, "Remove the file", "replace it"):
        assert part in str(refusal.value)
    assert path.read_bytes() == b"mine"
    assert server.asked == []


def says_how_to_get_it(error, made):
    for part in (
        f"made.mat is not in {made.folder}",
        made.file.url,
        "KERNELMEANS_DATA",
        "data_home",
    ):
        assert part in str(error)


def test_a_file_that_is_absent_and_must_not_be_downloaded_is_named(server, made):
    with pytest.raises(FileNotFoundError) as refusal:
        fetch("made", data_home=made.folder, download_if_missing=False)
    says_how_to_get_it(refusal.value, made)
    assert server.asked == []
    assert not made.folder.exists()


def test_where_nobody_listens_the_address_is_named(made, monkeypatch):
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        monkeypatch.setattr(sources, "HOST", f"http://127.0.0.1:{free.getsockname()[1]}")
        with pytest.raises(OSError, match="Connection refused") as failure:
            fetch("made", data_home=made.folder)
    says_how_to_get_it(failure.value, made)
    assert files(made.folder) == []


def test_where_names_are_not_resolved_the_address_is_named(made, monkeypatch):
    def offline(*arguments, **options):
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", offline)
    monkeypatch.setenv("no_proxy", "*")
    with pytest.raises(OSError, match="Name or service not known") as failure:
        fetch("made", data_home=made.folder)
    says_how_to_get_it(failure.value, made)


def refuse(handler, code):
    handler.send_error(code)


def wrong(handler):
    send(handler, b"another page")


def truncated(handler):
    send(handler, b"half", length=1000)


def hang_up(handler):
    handler.connection.shutdown(socket.SHUT_RDWR)


@pytest.mark.parametrize(
    ("answer", "reason", "attempts"),
    [
        pytest.param(partial(refuse, code=404), "404 Client Error", 3, id="absent"),
        pytest.param(partial(refuse, code=503), "503 Server Error", 3, id="overloaded"),
        pytest.param(truncated, "4 bytes read, 996 more expected", 3, id="truncated"),
        pytest.param(wrong, "hash", 3, id="another content"),
        pytest.param(hang_up, "Remote end closed connection", 3, id="hangs up"),
    ],
)
def test_a_failed_download_says_why_and_leaves_nothing(
    answer, reason, attempts, server, made, pauses
):
    server.answer = answer
    with pytest.raises(OSError, match=re.escape(reason)) as failure:
        fetch("made", data_home=made.folder)
    says_how_to_get_it(failure.value, made)
    assert files(made.folder) == []
    assert len(server.asked) == attempts
    assert len(pauses) == attempts - 1
    assert sum(pauses) <= 3


@pytest.mark.parametrize("begun", [False, True], ids=["before the answer", "within it"])
def test_a_silent_server_is_left_after_the_timeout(begun, server, made):
    def silent(handler):
        if begun:
            send(handler, b"half", length=1000)
        server.over.wait(5)

    server.answer = silent
    start = time.monotonic()
    with pytest.raises(OSError, match="timed out") as failure:
        fetch("made", data_home=made.folder, timeout=0.1, n_retries=0)
    assert time.monotonic() - start < 2
    says_how_to_get_it(failure.value, made)
    assert files(made.folder) == []
    assert len(server.asked) == 1


@pytest.mark.parametrize("failure", [truncated, wrong, hang_up, partial(refuse, code=500)])
def test_a_failure_is_tried_again(failure, server, made):
    answers = [failure, failure, partial(send, body=made.body)]
    server.answer = lambda handler: answers.pop(0)(handler)
    X, _ = fetch("made", data_home=made.folder, shuffle=False, return_X_y=True)
    np.testing.assert_array_equal(X, made.content["X"])
    assert answers == []


def test_without_retries_one_attempt_is_made(server, made):
    server.answer = wrong
    with pytest.raises(OSError, match="hash"):
        fetch("made", data_home=made.folder, n_retries=0)
    assert len(server.asked) == 1


def test_a_folder_that_cannot_be_made_is_named(server, made, tmp_path):
    (tmp_path / "file").touch()
    made.folder = tmp_path / "file" / "cache"
    with pytest.raises(OSError, match="could not be downloaded") as failure:
        fetch("made", data_home=made.folder)
    says_how_to_get_it(failure.value, made)


def test_the_folder_is_the_argument_the_variable_or_the_cache(tmp_path, monkeypatch):
    monkeypatch.delenv("KERNELMEANS_DATA", raising=False)
    assert data_folder() == Path(pooch.os_cache("kernelmeans"))
    monkeypatch.setenv("KERNELMEANS_DATA", str(tmp_path / "named"))
    assert data_folder() == tmp_path / "named"
    assert data_folder(tmp_path / "given") == tmp_path / "given"
    assert data_folder("~/given") == Path.home() / "given"
