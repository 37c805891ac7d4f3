"""Every format that is read, and which one a path has."""

from pathlib import Path

from memory_server.errors import Hint, Invalid, Mend
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
    if opened.is_zip:
        raise Invalid(
            f"{path} is a zip without an account export of Claude or ChatGPT. Unpack it, then import what is in it."
        )
    if opened.has(memories="content", migrations="version"):
        raise Invalid(f"{path} is a database of memory-server.", Hint(Mend.MERGE_FILE, {"path": path}))
    if not (any(path.iterdir()) if opened.is_folder else path.stat().st_size):
        raise Invalid(f"{path} is empty.")
    kind = "a SQLite file of a program that is not known" if opened.tables else "of no format that is known"
    raise Invalid(f"{path} is {kind}.", Hint(Mend.NAME_FORMAT, {"formats": ", ".join(NAMES)}))
