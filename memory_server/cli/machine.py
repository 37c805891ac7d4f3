"""`memory-server import` without a path: shows what other programs keep on this machine, and asks what to take."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import click

from memory_server.cli import output
from memory_server.cli.terminal import filled, translated
from memory_server.importing.places import Place, places


def chosen(takes_all: bool) -> list[Path]:
    """Return the paths to import: of all places, or of those that the person names; none where nobody can be asked."""
    home = Path.home()
    on_machine = places(home)
    for number, place in enumerate(on_machine, 1):
        click.echo(f"{number:>3}  {_line(place, home)}", err=True)
    if not on_machine:
        output.note("No other program keeps anything in your home folder. Name a file or a folder to import.")
    elif not takes_all and not output.asks():
        output.note("Nothing was read. --all imports all of it; or name a path.")
        return []
    elif not takes_all:
        on_machine = _ticked(on_machine)
    return [path for place in on_machine for path in place.paths]


def _ticked(on_machine: Sequence[Place]) -> list[Place]:
    """Ask for the numbers of places until they are numbers of the list."""
    while True:
        answer = click.prompt(
            translated("Which? Numbers such as 1 3, all, or none"), default="none", err=True
        )
        words = answer.replace(",", " ").lower().split()
        if words in (["all"], ["none"]):
            return list(on_machine) if words == ["all"] else []
        if words and all(word.isdecimal() and 1 <= int(word) <= len(on_machine) for word in words):
            return [on_machine[int(word) - 1] for word in dict.fromkeys(words)]
        output.note(f"{answer!r} is none of that.")


def _line(place: Place, home: Path) -> str:
    first, last = (f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d}" for at in (place.first, place.last))
    days = first if first == last else f"{first} – {last}"
    path = place.paths[0]
    where = f"~/{path.relative_to(home)}" if path.is_relative_to(home) else str(path)
    if len(place.paths) > 1:
        where = filled("{path} and {number} more", path=where, number=len(place.paths) - 1)
    files = output.counted(place.files, "file")
    return output.line_of(f"{place.program}, {translated(place.what)}: {files}, {days}, {where}")
