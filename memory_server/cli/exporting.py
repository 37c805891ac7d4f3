"""`memory-server export`: everything, or a project, as text."""

import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from memory_server.cli import output, progress
from memory_server.cli.opened import opened
from memory_server.domain.caller import Caller
from memory_server.domain.exchange import markdown
from memory_server.domain.exchange.records import Header
from memory_server.errors import Invalid
from memory_server.importing import own
from memory_server.services.exporting import Export
from memory_server.settings import Settings
from memory_server.sqlite import temporary


def export(settings: Settings, file: Path | None, form: str, project: str | None, embeddings: bool) -> int:
    """Write the export. Returns 1 where rows could not be read: they are left out."""
    with opened(settings) as services, progress.bar("export") as report:
        caller = Caller(project=settings.here)
        with services.exports.records(project, caller, embeddings) as exported:
            if form == "markdown":
                _write_pages(file, exported)
            else:
                with _target(file) as out:
                    print(own.line(Header()), file=out)
                    for number, record in enumerate(exported, 1):
                        print(own.line(record), file=out)
                        report(number, None)
            skipped = exported.skipped
    for problem in skipped:
        output.note(f"memory-server: left out: {problem.text}")
    return int(bool(skipped))


def _write_pages(folder: Path | None, exported: Export) -> None:
    """A file for each project, in a folder; on standard output one page after the other."""
    if folder is not None and not folder.is_dir():
        if folder.exists():
            raise Invalid(f"{folder} is a file. Give the name of a folder: each project gets a file in it.")
        folder.mkdir(mode=0o700)
    written: set[str] = set()
    for name, text in markdown.pages(exported):
        with _target(None if folder is None else folder / _file_name(name, written)) as out:
            out.write(text)


def _file_name(name: str, written: set[str]) -> str:
    """The name of a project as one of a file, which no other project here has."""
    plain = re.sub(r'[\\/:*?"<>|\x00-\x1f]', "-", name)[:100].strip(". ") or "project"
    file, number = f"{plain}.md", 1
    while file.casefold() in written:
        number += 1
        file = f"{plain}-{number}.md"
    written.add(file.casefold())
    return file


@contextmanager
def _target(file: Path | None) -> Iterator[TextIO]:
    """Standard output, or a file that is there whole or not at all. Only its owner can read it."""
    if file is None:
        sys.stdout.reconfigure(encoding="utf-8", errors="strict")  # type: ignore[union-attr]
        yield sys.stdout
        return
    if file.is_dir():
        raise Invalid(f"{file} is a folder. Give the name of a file in it.")
    if file.exists() and not file.is_file():  # a device or a pipe: a new file must not take its place
        with file.open("w", encoding="utf-8") as out:
            yield out
        return
    if not file.parent.is_dir():
        raise Invalid(f"The folder of {file} does not exist. Create it: mkdir -p {file.parent}")
    with temporary.file(file) as made:
        with made.open("w", encoding="utf-8") as out:
            yield out
            out.flush()
            os.fsync(out.fileno())
        made.replace(file)
