"""Optional dependencies: which extra brings what, asked before any work is done."""

from importlib.util import find_spec

_EXTRA_OF = {
    "click": "cli",
    "polars": "cli",
    "rich": "cli",
    "skops": "cli",
    "matplotlib": "plot",
    "zarr": "disk",
}


class MissingExtraError(Exception):
    """A package that only an extra of kernelmeans installs is not there."""


def installed(package: str) -> bool:
    """Say whether `package` can be imported, without importing it."""
    return find_spec(package) is not None


def require(*packages: str) -> None:
    """Raise MissingExtraError, naming the extra to install, unless all `packages` are there."""
    for package in packages:
        if not installed(package):
            raise MissingExtraError(
                f"{package} is needed for this and is not installed: "
                f'pip install "kernelmeans[{_EXTRA_OF[package]}]"'
            )
