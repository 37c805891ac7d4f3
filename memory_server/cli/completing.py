"""Completes ids, keys, projects and changes from the file. A file that cannot be read completes nothing."""

from collections.abc import Callable, Iterator
from pathlib import Path

import click
from click.shell_completion import CompletionItem
from pydantic import ValidationError

from memory_server import stores
from memory_server.cli.opened import caller
from memory_server.domain.change import LETTERS, Kind
from memory_server.domain.fact import Scope
from memory_server.errors import MemoryServerError
from memory_server.language.text import visible
from memory_server.services.completing import CompletionService
from memory_server.settings import Settings
from memory_server.sqlite.glance import Glance
from memory_server.storage.database import Database
from memory_server.stores import clock

Item = CompletionItem[str]
Complete = Callable[[click.Context, click.Parameter, str], list[Item]]
Ask = Callable[[CompletionService, Settings, str], Iterator[tuple[str, str]]]

_NUMBERED = {LETTERS[kind]: kind for kind in (Kind.MEMORY, Kind.TURN, Kind.SHORT_TERM)}


def _completes(ask: Ask) -> Complete:
    """Values that begin with what is written, each with a text that some shells show beside it."""

    def complete(context: click.Context, _: click.Parameter, written: str) -> list[Item]:
        try:
            settings = Settings(**context.find_root().ensure_object(dict))
            values = list(ask(CompletionService(_look(settings)), settings, written))
        except (MemoryServerError, ValidationError):
            return []
        return [
            CompletionItem(value, help=" ".join(visible(text).split()) or None)
            for value, text in values
            if value.startswith(written) and visible(value) == value
        ]

    return complete


def _look(settings: Settings) -> Database:
    """A file is looked at as it is: it is neither made nor migrated."""
    place = settings.db
    return Glance(place, clock) if isinstance(place, Path) else stores.at(place, clock)


def _things(service: CompletionService, settings: Settings, written: str) -> Iterator[tuple[str, str]]:
    """Ids as `show` takes them: 12, m12, t7, s3, f:KEY, f:SCOPE/KEY, w:NAME."""
    by, letter = caller(settings), written[:1]
    if letter.isdigit():
        for id, text in service.numbered(Kind.MEMORY, written, by):
            yield str(id), text
    if letter in ("", *_NUMBERED):
        for id, text in service.numbered(_NUMBERED[letter or "m"], written[1:], by):
            yield f"{letter or 'm'}{id}", text
    if letter in ("", "f"):
        place, slash, key = written[2:].partition("/")
        scope = Scope(place) if slash and place in list(Scope) else None
        before = f"{scope.value}/" if scope else ""
        for name in service.keys(key if scope else written[2:], scope, by).values:
            yield f"f:{before}{name}", ""
    if letter in ("", "w"):
        for name in service.prompts(by):
            yield f"w:{name}", ""


def _keys(service: CompletionService, settings: Settings, written: str) -> Iterator[tuple[str, str]]:
    for name in service.keys(written, None, caller(settings)).values:
        yield name, ""


def _projects(service: CompletionService, _: Settings, written: str) -> Iterator[tuple[str, str]]:
    for name in service.projects(written).values:
        yield name, ""


def _changes(service: CompletionService, _: Settings, __: str) -> Iterator[tuple[str, str]]:
    for id, text in service.changes():
        yield str(id), text


things, keys, projects, changes = map(_completes, (_things, _keys, _projects, _changes))
