"""The command line: ``kernelmeans fit``, ``predict`` and ``demo``."""

import sys

from kernelmeans.cli.extras import MissingExtraError, require

__all__ = ["main"]


def main() -> None:
    """Run the command line on ``sys.argv``; the entry point named in the package's metadata."""
    try:
        require("click")
    except MissingExtraError as missing:
        sys.exit(f"Error: {missing}")

    from kernelmeans.cli.app import app

    app(prog_name="kernelmeans")
