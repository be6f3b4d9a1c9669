"""Options under headings in ``--help``, and options that take a number or a name."""

import math
from collections.abc import Callable
from typing import Any

import click

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


class GroupedOption(click.Option):
    """An option that knows under which heading ``--help`` lists it."""

    def __init__(self, *args: Any, group: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.group = group


class GroupedCommand(click.Command):
    """A command whose ``--help`` lists its options under their headings."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write one section per group, in the order of the declarations."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            if (record := parameter.get_help_record(ctx)) and isinstance(parameter, click.Option):
                title = getattr(parameter, "group", "Options")
                sections.setdefault(title, []).append(record)
        for title, records in sections.items():
            with formatter.section(title):
                formatter.write_dl(records)


def number_or(
    *names: str,
    number: Callable[[str | float], float] = float,
    least: float | None = None,
    above: float | None = None,
) -> Callable[[str | float], str | float]:
    """Return an option type that takes a number, of some size, or one of a few names."""

    def convert(value: str | float) -> str | float:
        if value in names:
            return value
        try:
            found = number(value)
        except ValueError:
            kind = "a whole number" if number is int else "a number"
            raise click.BadParameter(
                f"{value!r} is neither {kind} nor one of: {', '.join(names)}"
            ) from None
        if least is not None and not least <= found:
            raise click.BadParameter(f"{value!r} must be {least} or more, or {' or '.join(names)}")
        if above is not None and not above < found < math.inf:
            raise click.BadParameter(
                f"{value!r} must be above {above} and finite, or {' or '.join(names)}"
            )
        return found

    return convert


def count_or_share(value: str | float) -> float:
    """Return a whole number if it is written as one, for 1 is a count and 1.0 is not."""
    return int(value) if str(value).isdecimal() else float(value)


def group(title: str, *options: tuple[tuple[str, ...], dict[str, Any]]) -> Decorator:
    """Make one decorator of several options under one heading."""

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        for names, settings in reversed(options):
            shown = {"show_default": settings.get("default") is not None, **settings}
            command = click.option(*names, cls=GroupedOption, group=title, **shown)(command)
        return command

    return decorate


def option(*names: str, **settings: Any) -> tuple[tuple[str, ...], dict[str, Any]]:
    """Describe one option of a group as `click.option` takes it."""
    return names, settings
