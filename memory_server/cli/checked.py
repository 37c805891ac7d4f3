"""Values as the tools take them: the same types check what a person types."""

from typing import Any

import click
from pydantic import TypeAdapter, ValidationError

_WORDS = {
    "string_unicode": "it is not UTF-8.",
    "string_too_short": "it is empty.",
    "string_too_long": "it has more than {max_length:,} characters.",
    "too_long": "there are more than {max_length}.",
    "greater_than_equal": "it is less than {ge:,}.",
    "less_than_equal": "it is more than {le:,}.",
}
"""What is wrong by the types of pydantic, where its own words are those of a programmer."""


def checked(kind: Any, value: object, name: str) -> Any:
    """The value in a field type of the tools.

    Raises:
        BadParameter: it is not right.
    """
    try:
        return TypeAdapter(kind).validate_python(value)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        words, limits = _WORDS.get(first["type"]), first.get("ctx", {})
        wrong = words.format(**limits) if words else first["msg"].removeprefix("Value error, ")
        raise click.BadParameter(f"{name}: {wrong}", click.get_current_context(silent=True)) from error
