"""Fixtures that all tests share."""

import gc
import os
import shutil

import numpy as np
import pytest

import data  # names the folder of benchmark data, for processes too
import profiles  # noqa: F401
from kernelmeans.engines import Threads

# Threads of two processes would wait for each other. Those of pytest-xdist begin after this.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(_name, "1")


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Look for garbage neither meanwhile nor later among what was imported and collected."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture
def threads():
    with Threads() as pool:
        yield pool


@pytest.fixture
def short_searches():
    with data.short_searches():
        yield


@pytest.fixture(scope="module")
def browser():
    """Chromium of the system, without a window."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    # The first takes half the time of the others.
    names = "chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"
    chromium = next(filter(None, map(shutil.which, names)), None)
    if chromium is None:
        pytest.skip("there is no Chromium: apt-get install chromium-headless-shell")
    with sync_api.sync_playwright() as playwright:
        # Root has no sandbox, and containers have little shared memory.
        arguments = ["--no-sandbox", "--disable-dev-shm-usage"]
        browser = playwright.chromium.launch(executable_path=chromium, args=arguments)
        yield browser
        browser.close()
