"""The settings among the arguments of a command that serves. All else is read by `program`, with click."""

from collections.abc import Sequence

from memory_server.settings import Settings

SERVE = "serve"

SWITCHES = frozenset(name for name, field in Settings.model_fields.items() if field.annotation is bool)
"""The settings whose flag has no value."""


def flag_of(name: str) -> str:
    """The flag of a setting: `--read-only` of `read_only`."""
    return "--" + name.replace("_", "-")


def of_server(arguments: Sequence[str]) -> dict[str, object] | None:
    """The settings that are given to the server; None where the arguments are not `serve` with settings alone."""
    names = {flag_of(name): name for name in Settings.model_fields}
    values: dict[str, object] = {}
    serve = 0
    words = iter(arguments)
    for word in words:
        flag, equals, value = word.partition("=")
        name = names.get(flag)
        if word == SERVE:
            serve += 1
        elif name is None or (equals and name in SWITCHES):
            return None
        elif name in SWITCHES:
            values[name] = True
        elif equals:
            values[name] = value
        elif (following := next(words, None)) is not None:
            values[name] = following
        else:
            return None
    return values if serve < 2 else None
