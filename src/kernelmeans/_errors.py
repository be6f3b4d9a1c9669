"""Errors about what users give."""


class InputError(ValueError):
    """A file or a table that cannot be used as it is; the message says how to change it."""
