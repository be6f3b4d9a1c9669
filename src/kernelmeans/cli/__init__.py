"""The command line: ``kernelmeans fit``, ``choose``, ``predict`` and ``demo``."""

import sys
from importlib.util import find_spec

__all__ = ["main"]


def main() -> None:
    """Run the command line on ``sys.argv``; the entry point of the package."""
    if find_spec("click") is None:
        sys.exit('Error: click is not installed: pip install "kernelmeans[cli]"')

    from kernelmeans.cli.app import app

    app(prog_name="kernelmeans")
