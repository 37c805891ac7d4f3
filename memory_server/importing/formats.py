"""Every format that is read, and which one a path has."""

from pathlib import Path

from memory_server.errors import Invalid
from memory_server.importing import (
    accounts,
    basic_memory,
    bullets,
    claude_mem,
    memory_keeper,
    memory_service,
    own,
    server_memory,
    short_long,
    tables,
    tax,
    token_saver,
)
from memory_server.importing.opened import Format, Opened
from memory_server.language.nearest import nearest

FORMATS: tuple[Format, ...] = (
    own.FORMAT,
    server_memory.FORMAT,
    memory_service.FORMAT,
    memory_keeper.FORMAT,
    claude_mem.FORMAT,
    token_saver.FORMAT,
    accounts.CLAUDE,
    accounts.CHATGPT,
    short_long.FORMAT,
    tax.FORMAT,
    basic_memory.FORMAT,
    bullets.FORMAT,
    tables.JSONL,
    tables.CSV,
)
"""The first that fits counts: the particular ones come before the general ones."""

NAMES = tuple(each.name for each in FORMATS)


def recognised(path: Path, given: str | None = None) -> tuple[Format, Opened]:
    """The format of a path, by its content or as it is named.

    Raises:
        Invalid: there is no such path or format, or none fits.
    """
    if not path.exists():
        raise Invalid(f"There is no file or folder {path}.")
    opened = Opened(path)
    if given is not None:
        named = next((each for each in FORMATS if each.name == given), None)
        if named is None:
            raise Invalid(f"There is no format `{given}`. {nearest(given, list(NAMES))}")
        return named, opened
    for each in FORMATS:
        if each.fits(opened):
            return each, opened
    raise Invalid(f"{path} has no format that is known. Name it: {', '.join(NAMES)}.")
