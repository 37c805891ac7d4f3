"""`memory-server export`: everything, or a project, as text."""

import os
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

import click

from memory_server.cli import options, output, progress, terminal
from memory_server.cli.done import ExportedAnswer
from memory_server.cli.guard import complain
from memory_server.cli.opened import opened
from memory_server.cli.program import verb
from memory_server.cli.terminal import translated
from memory_server.domain.caller import Caller
from memory_server.domain.exchange import markdown
from memory_server.domain.exchange.records import Header
from memory_server.errors import Invalid
from memory_server.importing import own
from memory_server.importing.opened import Opened
from memory_server.settings import Settings
from memory_server.sqlite import temporary
from memory_server.transfer.counts import KINDS
from memory_server.transfer.exporting import Export

_MARK = "\n<!-- Written by memory-server export. -->\n"
"""How a page in a file ends: by it a later export knows that nobody has written to the page since."""

EMPTY = "it is empty"

_SQLITE = (
    b"SQLite format 3\0",
    bytes.fromhex("d9d505f920a163d7"),
    bytes.fromhex("377f0682"),
    bytes.fromhex("377f0683"),
)
"""How a database begins, its rollback journal, and its write-ahead log."""


@verb(
    "export",
    examples=("memory-server export memory.jsonl", "memory-server export --format markdown notes/"),
)
@click.argument("file", required=False, type=click.Path(path_type=Path))
@click.option(
    "--format",
    "form",
    type=options.Word(["jsonl", "markdown"]),
    default="jsonl",
    help="jsonl: lossless, for import. markdown: for people; FILE is a folder, with a file for each project.",
)
@click.option("--project", help="Only of this project.", shell_complete=options.completed("projects"))
@click.option("--embeddings", is_flag=True, help="jsonl: with the vectors.")
@click.option(
    "--force",
    is_flag=True,
    help="Replace the file even if it is not an earlier export. A SQLite file is never replaced.",
)
def export_command(
    settings: Settings, file: Path | None, form: str, project: str | None, embeddings: bool, force: bool
) -> int:
    """Write everything, or a project, as text to FILE or standard output. It replaces an earlier export."""
    if file is None and terminal.is_json():
        raise click.UsageError(
            "--json tells what was written to FILE. Without one the export itself is printed."
        )
    write = _write_pages if form == "markdown" else _write_lines
    with opened(settings) as services, progress.bar("export") as report:
        caller = Caller(project=settings.here)
        with services.exports.records(project, caller, embeddings) as exported:
            written = write(file, exported, report, force)
            skipped = exported.skipped
    if not output.answered(ExportedAnswer(str(file), dict(written), [problem.text for problem in skipped])):
        if file is not None:
            counts = _named(written) if form == "jsonl" else ", ".join(written) or translated(EMPTY)
            output.note(f"Exported to {file}: {counts}")
        for problem in skipped:
            complain(f"left out: {problem.text}")
    return int(bool(skipped))


def _named(counts: Mapping[str, int]) -> str:
    words = (f"{translated(KINDS[kind])} {counts[kind]:,}" for kind in KINDS if kind in counts)
    return terminal.listed(words) or translated(EMPTY)


def _write_lines(file: Path | None, exported: Export, report: progress.Report, force: bool) -> Counter[str]:
    """Write a record a line; return how many of each kind."""
    counts = Counter[str]()
    with _target(file, force, _is_lines) as out:
        print(own.line(Header()), file=out)
        for number, record in enumerate(exported, 1):
            print(own.line(record), file=out)
            counts[record.kind] += 1
            report(number, None)
    return counts


def _write_pages(folder: Path | None, exported: Export, report: progress.Report, force: bool) -> Counter[str]:
    """Write a file for each project, in a folder; on standard output one page after the other. Return their names."""
    if folder is None:
        for number, (_, text) in enumerate(markdown.pages(exported, translated), 1):
            with _target(None, force, _is_page) as out:
                out.write(text)
            report(number, None)
        return Counter()
    if folder.exists() and not folder.is_dir():
        raise Invalid(f"{folder} is a file. Give the name of a folder: each project gets a file in it.")
    names: set[str] = set()
    pages = {_file_name(name, names): text for name, text in markdown.pages(exported, translated)}
    for name in pages:
        _refuse(folder / name, force, _is_page)
    folder.mkdir(mode=0o700, exist_ok=True)
    for number, (name, text) in enumerate(pages.items(), 1):
        with _target(folder / name, force, _is_page) as out:
            out.write(text + _MARK)
        report(number, None)
    return Counter(pages.keys())


def _file_name(name: str, written: set[str]) -> str:
    """The name of a project as one of a file, which no other project here has."""
    plain = re.sub(r'[\\/:*?"<>|\x00-\x1f]', "-", name)[:100].strip(". ") or "project"
    file, number = f"{plain}.md", 1
    while file.casefold() in written:
        number += 1
        file = f"{plain}-{number}.md"
    written.add(file.casefold())
    return file


def _is_lines(file: Path) -> bool:
    return own.fits(Opened(file))


def _is_page(file: Path) -> bool:
    return file.read_bytes().endswith(_MARK.encode())


def _refuse(file: Path, force: bool, is_ours: Callable[[Path], bool]) -> None:
    """Raises Invalid where a file would be replaced that is no earlier export, or that SQLite needs."""
    if not file.is_file() or file.stat().st_size == 0:
        return
    with file.open("rb") as reader:
        if reader.read(len(_SQLITE[0])).startswith(_SQLITE):
            raise Invalid(f"{file} is a SQLite file, so it was not replaced. Give another name.")
    if not force and not is_ours(file):
        raise Invalid(
            f"{file} exists and is not an earlier export of memory-server, so it was not replaced. Give another name, "
            "or add --force."
        )


@contextmanager
def _target(file: Path | None, force: bool, is_ours: Callable[[Path], bool]) -> Iterator[TextIO]:
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
    _refuse(file, force, is_ours)
    with temporary.file(file) as unfinished:
        with unfinished.open("w", encoding="utf-8") as out:
            yield out
            out.flush()
            os.fsync(out.fileno())
        unfinished.replace(file)
