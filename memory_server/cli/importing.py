"""`memory-server import`: takes over what other memory programs, or another file, know."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from memory_server import app
from memory_server.app import Services
from memory_server.cli import output, progress, summary
from memory_server.cli.opened import opened
from memory_server.domain.caller import Caller
from memory_server.errors import MemoryServerError, Mend, Written, broken_off
from memory_server.importing.formats import recognised
from memory_server.services.importing import Imported, Source
from memory_server.settings import Settings
from memory_server.sqlite import temporary


def take(
    settings: Settings,
    paths: Sequence[Path],
    form: str | None,
    project: str | None,
    dry_run: bool,
    as_json: bool,
) -> int:
    """Import each path and print what was done. Returns 1 where something was refused."""
    named = [(path, *recognised(path, form)) for path in paths]
    parts: list[tuple[str, str, Imported]] = []
    with tried(settings, dry_run) as services:
        for path, chosen, found in named:
            source = Source(chosen.name, lambda chosen=chosen, found=found: chosen.records(found))  # type: ignore[misc]
            try:
                done = run(services, source, project, path.name)
            except MemoryServerError as error:
                rows = error.problem.rows + sum(imported.written for _, _, imported in parts)
                raise broken_off(error, rows, Mend.IMPORT_AGAIN) from error
            parts.append((str(path), chosen.name, done))
            if not as_json:
                output.say_text(summary.told(str(path), chosen.title, done, dry_run))
    if as_json:
        output.as_json(summary.answer(parts, dry_run))
    return int(any(done.refused for _, _, done in parts))


def run(services: Services, source: Source, project: str | None, what: str) -> Imported:
    """Import one source, with progress."""
    with progress.bar(what) as report:
        return services.imports.take(source, project, Caller(project=services.settings.here), report)


@contextmanager
def tried(settings: Settings, dry_run: bool) -> Iterator[Services]:
    """The services; on a trial they work on a copy of the file, which is gone afterwards."""
    with opened(settings, makes=True) as services:
        if not dry_run:
            yield services
            return
        with temporary.folder() as folder:
            copy = folder / "memory.db"
            if not isinstance(settings.db, Path) or settings.db.exists():
                services.backup(copy)
            trial = app.build(settings.model_copy(update={"db": copy}))
            try:
                yield trial
            except MemoryServerError as error:  # what was written is in the copy
                raise type(error)(
                    error.problem.text, *error.problem.hints, written=Written.NOTHING
                ) from error
            finally:
                trial.close()
