"""Values as the tools take them: the same types check what a person types."""

from typing import Any

import click
from pydantic import TypeAdapter, ValidationError


def checked(kind: Any, value: object, name: str) -> Any:
    """The value in a field type of the tools.

    Raises:
        BadParameter: it is not right.
    """
    try:
        return TypeAdapter(kind).validate_python(value)
    except ValidationError as error:
        wrong = error.errors(include_url=False)[0]["msg"].removeprefix("Value error, ")
        raise click.BadParameter(f"{name}: {wrong}", click.get_current_context(silent=True)) from error
