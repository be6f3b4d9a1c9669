"""Files from strangers: no crash, no foreign exception, no hang, whatever is in them."""

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("resource", reason="limits of memory are set as POSIX has them")
pytestmark = pytest.mark.slow


@pytest.mark.parametrize(("kind", "count"), [("models", 1000), ("tables", 300)])
@pytest.mark.usefixtures("folder")
def test_malformed_files(kind, count):
    script = Path(__file__).with_name("campaign.py")
    command = [sys.executable, str(script), kind, str(count)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, f"{Path('case').read_text()}\n{done.stderr[-3000:]}"
    assert done.stdout == "done\n"
