"""Every format that is read, and which one a path has."""

from pathlib import Path

from memory_server.errors import Hint, Invalid, Mend
from memory_server.importing import (
    accounts,
    basic_memory,
    bullets,
    claude_code,
    claude_mem,
    letta,
    mem0,
    memory_keeper,
    memory_service,
    own,
    plain,
    server_memory,
    short_long,
    tables,
    tax,
    token_saver,
    transcripts,
)
from memory_server.importing.opened import Format, Opened
from memory_server.language.nearest import nearest

FORMATS: tuple[Format, ...] = (
    own.FORMAT,
    transcripts.FORMAT,
    server_memory.FORMAT,
    memory_service.FORMAT,
    memory_keeper.FORMAT,
    claude_mem.FORMAT,
    mem0.FORMAT,
    token_saver.FORMAT,
    accounts.CLAUDE,
    accounts.CHATGPT,
    short_long.FORMAT,
    tax.FORMAT,
    claude_code.FORMAT,
    basic_memory.FORMAT,
    bullets.FORMAT,
    letta.FORMAT,
    tables.JSONL,
    tables.CSV,
    plain.FORMAT,
)
"""The first that fits counts: the particular ones come before the general ones."""

NAMES = tuple(format_.name for format_ in FORMATS)


def recognised(path: Path, name: str | None = None) -> tuple[Format, Opened]:
    """Find the format of a path, by its content or by a name that is given.

    Raises:
        Invalid: there is no such path or format, or none fits.
    """
    if not path.exists():
        raise Invalid(f"There is no file or folder {path}.")
    if not path.is_file() and not path.is_dir():
        raise Invalid(f"{path} is neither a file nor a folder.")
    opened = Opened(path)
    if name is not None and name not in NAMES:
        raise Invalid(f"There is no format `{name}`. {nearest(name, list(NAMES))}")
    for format_ in FORMATS:
        if format_.name == name or (name is None and format_.fits(opened)):
            return format_, opened
    if opened.is_zip:
        raise Invalid(
            f"{path} is a zip without an account export of Claude or ChatGPT. Unpack it, then import what is in it."
        )
    if opened.has(memories="content", migrations="version"):
        raise Invalid(f"{path} is a database of memory-server.", Hint(Mend.MERGE_FILE, {"path": path}))
    if not (any(path.iterdir()) if opened.is_folder else path.stat().st_size):
        raise Invalid(f"{path} is empty.")
    if path.suffix.lower() == ".csv":
        raise Invalid(f"{path} has no column for the text. Name that column `text`.")
    raise Invalid(
        f"{path} is a SQLite file of a program that is not known."
        if opened.tables
        else f"{path} is of no format that is known.",
        Hint(Mend.NAME_FORMAT, {"formats": ", ".join(NAMES)}),
    )
