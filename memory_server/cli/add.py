"""`memory-server add`: stores a memory, as the tool does."""

import re
import sys
from collections.abc import Sequence
from itertools import takewhile

import click

from memory_server.cli import options, output
from memory_server.cli.done import StoredAnswer
from memory_server.cli.handles import HandleType, memory_of
from memory_server.cli.opened import caller, embedding
from memory_server.cli.program import arguments, verb
from memory_server.cli.terminal import bracketed, filled
from memory_server.domain import handles
from memory_server.domain.handles import Handle
from memory_server.domain.memory import MemoryDraft, MemoryId, MemoryType, Stored
from memory_server.domain.notice import handle
from memory_server.language.text import has_han
from memory_server.language.when import Use
from memory_server.mcp.tools.fields import Content, Importance, Tags
from memory_server.settings import Settings

_SUPERSEDES = "--supersedes"

_WORDS = r"[^\s,;…→]+(?: [^\s,;…→]+)?"
_ONE_FOR_ONE = re.compile(rf"{_WORDS} → {_WORDS}")

SHOWN = 60
"""Characters of a similar memory that are shown."""


@verb(
    "add",
    examples=(
        "memory-server add 'The staging database listens on port 5433.' --tag staging",
        "memory-server add 生产环境每周二上午十点发布。 --type decision --importance 8",
        "memory-server add 'It listens on port 6000 now.' --supersedes 12",
        "git log -1 --format=%B | memory-server add - --project shop",
    ),
)
@click.argument("text", nargs=-1, required=True)
@click.option(
    "--type", "type_", type=options.TYPE, default="observation", show_default=True, help="What it is."
)
@click.option("--tag", "tags", multiple=True, help="A tag; may be given several times.")
@click.option("--importance", type=options.Number(1, 10), default=5, show_default=True, help="1 to 10.")
@click.option(
    "--occurred",
    type=options.MomentType(Use.HAPPENED),
    metavar="WHEN",
    help="When it happened; default: now.",
)
@click.option(
    "--supersedes",
    type=HandleType(),
    multiple=True,
    metavar="ID",
    help="A memory that it replaces; may be given several times.",
)
@click.option("--related", type=HandleType(), metavar="ID", help="A related memory.")
def add_command(
    settings: Settings,
    text: tuple[str, ...],
    type_: str,
    tags: tuple[str, ...],
    importance: int,
    occurred: str | None,
    supersedes: tuple[Handle, ...],
    related: Handle | None,
) -> None:
    """Store a memory in the project of this folder. `-` reads the text from a pipe.

    If a memory of the project says the same, both become one.
    """
    _refuse_loose_ids(arguments())
    content = sys.stdin.read() if text == ("-",) else " ".join(text)
    by = caller(settings)
    draft = MemoryDraft(
        options.checked(Content, content, "text"),
        MemoryType(type_.lower()),
        by.project.key or None,
        tuple(options.checked(Tags, list(tags), "tag")),
        options.checked(Importance, importance, "importance"),
        occurred_at=occurred,
    )
    with embedding(settings, makes=True) as services:
        beside = None if related is None else memory_of(related)
        stored = services.memories.store(draft, beside, by, supersedes=list(map(memory_of, supersedes)))
    similar = [handle(near.memory.id) for near in stored.similar]
    may_replace = list(map(handle, stored.maybe_supersedes))
    if not output.answered(StoredAnswer(stored.memory, stored.consolidated, similar, may_replace)):
        _tell(stored)


def _refuse_loose_ids(words: Sequence[str]) -> None:
    """Raise UsageError where ids stand behind the one of --supersedes, as in `--supersedes 2 4`."""
    for place, word in enumerate(words):
        if not word.startswith(_SUPERSEDES):
            continue
        values = list(takewhile(lambda value: not value.startswith("-"), words[place + 1 :]))
        ids = [*word.split("=")[1:], *values]
        if len(ids) > 1 and all(map(handles.read, ids)):
            options = " ".join(f"{_SUPERSEDES} {id}" for id in ids)
            raise click.UsageError(f"--supersedes takes one ID. Write {options}.")


def _tell(stored: Stored) -> None:
    memory = stored.memory
    if stored.consolidated:
        into = f"m{memory.id} ({memory.project})" if memory.project else f"m{memory.id}"
        output.say(f"Merged into {into}, which says the same. `memory-server undo` splits them.")
    else:
        project = memory.project
        output.say(f"m{memory.id} stored in {project}." if project else f"m{memory.id} stored.")
    for similar in stored.similar:
        text = output.line_of(similar.memory.content)
        short = text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…"
        text = f"{handle(similar.memory.id)} {short}{_in_few_words(similar.differs)}"
        output.say_text(filled("similar: {text}", text=text), indent=2)
        if similar.part:
            mend = f"memory-server edit {handle(similar.memory.id)}"
            output.say(f"It may replace a part of it: {similar.part}. If so: {mend}", indent=2)
    for older in stored.maybe_supersedes:
        output.say(f"It may replace {handle(older)}. If so: {_replacing(memory.id, older)}", indent=2)
    if stored.similar and not (stored.maybe_supersedes or any(near.part for near in stored.similar)):
        first = stored.similar[0].memory.id
        output.say(f"If it replaces {handle(first)}: {_replacing(memory.id, first)}", indent=2)


def _in_few_words(differs: str) -> str:
    """Return what differs where that is a number or a name, of two words at most: `5 → 8`. The texts tell all else.

    Chinese is parted into words by a guess, and half a word tells nothing.
    """
    return bracketed(differs) if _ONE_FOR_ONE.fullmatch(differs) and not has_han(differs) else ""


def _replacing(newer: MemoryId, older: MemoryId | str) -> str:
    """Return the command that says that a memory replaces a memory, a fact or a turn."""
    if isinstance(older, str):
        return f"memory-server forget {older.replace('f ', 'f:', 1)}"
    return f"memory-server connect m{newer} supersedes m{older}"
