"""`memory-server import` and `merge`: take over what other memory programs, or another file, know."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import click

from memory_server.cli import background, options, output, progress, terminal
from memory_server.cli.opened import caller, embed_soon, opened
from memory_server.cli.program import verb
from memory_server.errors import Invalid, MemoryServerError, Mend, Written, broken_off
from memory_server.importing.opened import STANDARD_INPUT
from memory_server.settings import Settings
from memory_server.sqlite import temporary

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from memory_server.app import Services
    from memory_server.domain.exchange.records import Record
    from memory_server.importing.opened import Format, Opened
    from memory_server.transfer.importing import Imported

TITLE = "a database of memory-server"


@verb(
    "import",
    examples=(
        "memory-server import",
        "memory-server import ~/memory.jsonl",
        "memory-server import notes/ --project shop --dry-run",
        "memory-server import --all --background",
    ),
)
@click.argument("paths", nargs=-1, metavar="[PATH...]", type=click.Path(path_type=Path))
@click.option("--all", "takes_all", is_flag=True, help="Without a path: import all that is found, unasked.")
@click.option(
    "--from", "form", metavar="FORMAT", help="Default: recognised by the content. A wrong name lists all."
)
@click.option(
    "--project",
    help="Put all of it into this project. Default: the one that the source names, else none.",
    shell_complete=options.completed("projects"),
)
@click.option(
    "--write-back/--no-write-back",
    "write_back",
    default=None,
    help="Of memories of Claude Code: write what is corrected here back into their files, as a line, from now on.",
)
@click.option(
    "--background",
    "leaves",
    is_flag=True,
    help="Go on without this terminal; what was chosen is imported by a process of its own.",
)
@click.option("--status", "asks_status", is_flag=True, help="Show how far an import in the background is.")
@click.option("--detached", "is_detached", is_flag=True, hidden=True)
@options.dry_run_option
def import_command(
    settings: Settings,
    paths: tuple[Path, ...],
    takes_all: bool,
    form: str | None,
    project: str | None,
    write_back: bool | None,
    leaves: bool,
    asks_status: bool,
    is_detached: bool,
    dry_run: bool,
) -> int:
    """Import the memories of other programs, or an export of this one. It reads account exports of Claude and ChatGPT
    too.

    It only reads the source, unless you say --write-back; `-` is standard input. Importing it again adds nothing.
    Without a path it lists what other programs keep in your home folder, and asks what to import.
    """
    from memory_server.cli import summary

    if asks_status:
        _tell_status(settings)
        return 0
    if leaves and (dry_run or terminal.is_json() or STANDARD_INPUT in map(str, paths)):
        raise click.UsageError("--background goes with neither --dry-run nor --json nor standard input.")
    sources = _sources(paths, takes_all, form)
    if not sources:
        output.answered(summary.answer([], dry_run))
        return 0
    _refuse_writing(settings, write_back, [format_ for _, format_, _ in sources])
    if leaves:
        chosen = [path.absolute() for path, _, _ in sources]
        background.start(settings, _words(chosen, form, project, write_back))
        return 0
    bar = background.bar if is_detached else progress.bar
    parts: list[tuple[str, str, Imported]] = []
    with background.said([path for path, _, _ in sources]) if is_detached else nullcontext():
        for path, format_, done in _taken(settings, sources, project, write_back, dry_run, bar):
            parts.append((path, format_.name, done))
            if not terminal.is_json():
                output.say_text(summary.told(path, format_.title, done, dry_run))
    output.answered(summary.answer(parts, dry_run))
    return int(any(done.refused for _, _, done in parts))


def _tell_status(settings: Settings) -> None:
    status = background.status(settings)
    if output.answered(status):
        return
    if status.state == "none":
        output.say(f"Nothing was imported in the background into {settings.db}.")
    if status.state == "runs":
        output.say("It runs.")
    for line in status.lines:
        output.say_text(line)
    if status.state == "broken":
        output.say("It did not come to its end. Import the same again: it goes on where it was.")


def _sources(paths: Sequence[Path], takes_all: bool, form: str | None) -> "list[tuple[Path, Format, Opened]]":
    """Return the paths to import, each with its format: those that are named, or that the person chooses."""
    from memory_server.cli import machine
    from memory_server.importing.formats import recognised

    if not paths:
        return list(_known(machine.chosen(takes_all), form))
    if takes_all:
        raise click.UsageError("--all goes without a path.")
    return [(path, *recognised(_readable(path), form)) for path in paths]


def _words(
    paths: Sequence[Path], form: str | None, project: str | None, write_back: bool | None
) -> list[str]:
    """Return the words of the command that imports these paths in a process of its own."""
    words = [] if form is None else [f"--from={form}"]
    words += [] if project is None else [f"--project={project}"]
    words += [] if write_back is None else ["--write-back" if write_back else "--no-write-back"]
    return ["import", "--detached", *words, "--", *map(str, paths)]


def _taken(
    settings: Settings,
    sources: "Sequence[tuple[Path, Format, Opened]]",
    project: str | None,
    write_back: bool | None,
    dry_run: bool,
    bar: "Callable[[str], AbstractContextManager[progress.Report]]",
) -> "Iterator[tuple[str, Format, Imported]]":
    """Take the sources in, one after the other; yield each path with its format and what became of it."""
    from memory_server.importing import claude_code, transcripts
    from memory_server.transfer.importing import Source

    by = caller(settings)
    written = 0
    with tried(settings, dry_run) as services:
        for path, format_, file in sources:
            place = "" if str(path) == STANDARD_INPUT else str(path.resolve())
            source = Source(format_.name, partial(_records, format_, file), place)
            try:
                if format_ is transcripts.FORMAT:
                    source = services.transcripts.source(path.absolute())
                    services.transcripts.drop_gone(path.absolute(), by)
                with bar(path.name) as report:
                    done = services.imports.take(source, project, by, report)
                if format_ is claude_code.FORMAT:
                    done.followed = services.corrections.follow(place, write_back)
            except MemoryServerError as error:
                raise broken_off(error, error.problem.rows + written, Mend.IMPORT_AGAIN) from error
            written += done.written
            yield str(path), format_, done


def _refuse_writing(settings: Settings, write_back: bool | None, formats: "list[Format]") -> None:
    """Refuse `--write-back` where there is nothing that it could write.

    Raises:
        UsageError: nothing of Claude Code is imported, or the memory is on PostgreSQL.
    """
    from memory_server.importing import claude_code

    if write_back is None:
        return
    if claude_code.FORMAT not in formats:
        raise click.UsageError("--write-back is for a folder in which Claude Code keeps its memories.")
    if not isinstance(settings.db, Path):
        raise click.UsageError("--write-back needs a file: several machines may share PostgreSQL.")


def _records(format_: "Format", file: "Opened") -> Iterator["Record"]:
    """Return what a path has, and before it what is not read of it."""
    return chain(file.outside, format_.records(file))


def _known(paths: Iterable[Path], form: str | None) -> "Iterator[tuple[Path, Format, Opened]]":
    """Yield the paths whose format is known; tell of each other one why it is left out."""
    from memory_server.importing.formats import recognised

    for path in paths:
        try:
            yield path, *recognised(path, form)
        except MemoryServerError as error:
            output.note(f"Left out: {error.problem.text}")


def _readable(path: Path) -> Path:
    """Return the path, or, for `-`, a file with what came from standard input; it is gone when the program ends."""
    if str(path) != STANDARD_INPUT:
        return path
    folder = click.get_current_context().with_resource(temporary.folder())
    file = folder / STANDARD_INPUT
    if file.write_bytes(sys.stdin.buffer.read()) == 0:
        raise Invalid("Standard input is empty.")
    return file


@verb("merge", examples=("memory-server merge laptop.db", "memory-server merge laptop.db --dry-run"))
@click.argument("file", type=click.Path(path_type=Path))
@options.dry_run_option
def merge_command(settings: Settings, file: Path, dry_run: bool) -> int:
    """Add what is new in another database, which it only reads. That must be one of memory-server."""
    from memory_server.cli import summary

    with tried(settings, dry_run) as services, progress.bar(file.name) as report:
        done = services.merges.merge(file, caller(settings), report)
    if not output.answered(summary.answer([(str(file), "memory-server", done)], dry_run)):
        output.say_text(summary.told(str(file), TITLE, done, dry_run))
    return int(bool(done.refused))


@contextmanager
def tried(settings: Settings, dry_run: bool) -> Iterator["Services"]:
    """Open the services; on a trial they work on a copy of the file, which is gone afterwards."""
    with opened(settings, makes=True) as services, ExitStack() as trials:
        yield trials.enter_context(_trial(services)) if dry_run else services
    if not dry_run:
        embed_soon()


@contextmanager
def _trial(services: "Services") -> Iterator["Services"]:
    from memory_server import app

    db = services.settings.db
    with temporary.folder() as folder:
        copy = folder / "memory.db"
        if not isinstance(db, Path) or db.exists():
            services.backup(copy)
        trial = app.build(services.settings.model_copy(update={"db": copy}))
        try:
            yield trial
        except MemoryServerError as error:  # what was written is in the copy
            text = error.problem.text
            written = None if text.endswith("Nothing was changed.") else Written.NOTHING
            raise type(error)(text, *error.problem.hints, written=written) from error
        finally:
            trial.close()
