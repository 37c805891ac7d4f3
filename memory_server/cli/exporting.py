"""`memory-server export`: everything, or a project, as text."""

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from memory_server import app
from memory_server.cli.progress import Progress
from memory_server.domain.caller import Caller
from memory_server.domain.exchange.records import Header
from memory_server.errors import Invalid
from memory_server.importing import own
from memory_server.settings import Settings


def export(settings: Settings, file: Path | None, form: str, project: str | None, embeddings: bool) -> int:
    """Write the export. Returns 1 where rows could not be read: they are left out."""
    if not settings.db.exists():
        raise Invalid(f"There is no database {settings.db}. Give its path with --db.")
    services = app.build(settings)
    progress = Progress("export")
    try:
        services.database.refuse_empty()
        caller = Caller(project=settings.here)
        with services.exports.records(project, caller, embeddings) as exported:
            with _target(file) as out:
                print(own.line(Header()), file=out)
                for number, record in enumerate(exported, 1):
                    print(own.line(record), file=out)
                    progress(number, number)
            skipped = exported.skipped
    finally:
        progress.end()
        services.close()
    for problem in skipped:
        print(f"memory-server: left out: {problem.text}", file=sys.stderr)
    return int(bool(skipped))


@contextmanager
def _target(file: Path | None) -> Iterator[TextIO]:
    """Standard output, or a file that is there whole or not at all. Only its owner can read it."""
    if file is None:
        sys.stdout.reconfigure(encoding="utf-8", errors="strict")  # type: ignore[union-attr]
        yield sys.stdout
        return
    if file.is_dir():
        raise Invalid(f"{file} is a folder. Give the name of a file in it.")
    if not file.parent.is_dir():
        raise Invalid(f"The folder of {file} does not exist. Create it: mkdir -p {file.parent}")
    handle, name = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
    temporary = Path(name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as out:
            yield out
            out.flush()
            os.fsync(out.fileno())
        temporary.replace(file)
    finally:
        temporary.unlink(missing_ok=True)
