"""A made set, and a server on this machine that has its file, or fails in a chosen way."""

import gc
import hashlib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from types import SimpleNamespace

import numpy as np
import pooch
import pytest
import scipy.io

from kernelmeans_paper.datasets import readers, sources

COMMIT = "0" * 40


class Server(ThreadingHTTPServer):
    """Answers as `answer(handler)` does, and remembers what it was asked."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.asked = []
        self.over = Event()
        self.answer = None

    def handle_error(self, request, client_address):
        """Clients that give up are what is tested."""


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.asked.append(self.path)
        self.server.answer(self)

    def log_message(self, *arguments):
        pass


@pytest.fixture
def server(monkeypatch):
    gc.freeze()  # what is here already, so that the search below is short
    server = Server()
    monkeypatch.setattr(sources, "HOST", f"http://127.0.0.1:{server.server_port}")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    thread = Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield server
    server.over.set()
    server.shutdown()
    server.server_close()
    thread.join()
    gc.collect()  # connections that pooch has not closed


@pytest.fixture
def made(monkeypatch, tmp_path):
    """Set "made": its content, file, the bytes of that, and a folder that has it not."""
    content = {"X": np.arange(12.0).reshape(6, 2), "Y": np.array([1, 1, 3, 3, 4, 4])[:, None]}
    published = tmp_path / "published.mat"
    scipy.io.savemat(published, content)
    body = published.read_bytes()
    repository = sources.Repository("owner/repo", COMMIT, "None.")
    digest = hashlib.sha256(body).hexdigest()
    file = sources.File("made.mat", digest, repository, "data/made.mat")
    source = sources.Source("Made.", "Nobody (2020).", "None.", readers.matlab(), (file,))
    monkeypatch.setitem(sources.SOURCES, "made", source)
    return SimpleNamespace(content=content, file=file, body=body, folder=tmp_path / "cache")


@pytest.fixture(autouse=True)
def pauses(monkeypatch):
    """Seconds that pooch would have waited between attempts."""
    seconds = []
    monkeypatch.setattr(pooch.core, "time", SimpleNamespace(sleep=seconds.append))
    return seconds
