"""Writes back into the files of Claude Code's memory what was corrected here, where the person wants that.

It goes by what is, not by what happened: a file should end with the correction that its memory needs now. So what is
undone takes the line back, and what is broken off goes on. `origins.written` has the digest of what a file was last
made to agree with; NULL: nothing is written back to it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from memory_server.domain.exchange.records import Refusal
from memory_server.errors import Invalid
from memory_server.importing import claude_code, corrected
from memory_server.importing.corrected import ReadFile
from memory_server.language.text import clean
from memory_server.storage.database import Database
from memory_server.storage.tables.choosing import below_path
from memory_server.storage.tx import Tx
from memory_server.transfer.origins import digest, says


@dataclass(frozen=True, slots=True)
class _Origin:
    """A memory in a file, as `origins` has it. `says`: what is true now instead of the file; None: nothing of it."""

    id: int
    path: str
    folder: str
    digest: str
    written: str
    says: str | None

    @property
    def is_due(self) -> bool:
        return digest(self.says or "") != self.written


@dataclass(frozen=True, slots=True)
class CorrectionService:
    database: Database

    def write_back(self) -> list[Refusal]:
        """Write back what was corrected since; return the files that cannot be written, each with the reason."""
        return self._each(self._write)

    def refused(self) -> list[Refusal]:
        """Return the files that a correction waits for and that cannot be written now, each with the reason."""
        return self._each(lambda origin, day: _corrected(_read(origin).text, origin, day))

    def _each(self, do: Callable[[_Origin, str], object]) -> list[Refusal]:
        """Do this for the file of each correction that is not in it yet; return the refusals."""
        with self.database.read() as tx:
            due, day = [origin for origin in _origins(tx) if origin.is_due], tx.now[:10]
        refused = []
        for origin in due:
            try:
                do(origin, day)
            except Invalid as error:
                refused.append(Refusal(origin.path, f"not written back: {error.problem.text}"))
        return refused

    def _write(self, origin: _Origin, day: str) -> None:
        file = _read(origin)
        text = _corrected(file.text, origin, day)
        with self.database.write() as tx:
            if origin in _origins(tx):
                tx.statements.send(
                    "UPDATE origins SET digest = :digest, written = :written WHERE id = :id",
                    {"digest": _digest(text), "written": digest(origin.says or ""), "id": origin.id},
                )
                if text != file.text:
                    file.replace(text)

    def files(self) -> list[str]:
        """Return the files to which corrections are written back."""
        with self.database.read() as tx:
            return [origin.path for origin in _origins(tx)]

    def follow(self, path: str, is_on: bool | None) -> int:
        """Let corrections be written back to the files of a path, or no more; None: to new ones if to others of their
        folder. Return to how many they are.
        """
        values = {"source": claude_code.NAME, "path": path}
        of_path = f"kind = 'memory' AND source = :source AND {below_path('place')}"
        count = f"SELECT count(*) FROM origins WHERE {of_path} AND written IS NOT NULL"
        with self.database.read() as tx:
            number = int(tx.statements.value(count, values))
        if is_on is None and not number:
            return 0
        written = "NULL" if is_on is False else "coalesce(written, digest)"
        with self.database.write() as tx:
            tx.statements.send(f"UPDATE origins SET written = {written} WHERE {of_path}", values)
            return int(tx.statements.value(count, values))


def _origins(tx: Tx) -> list[_Origin]:
    rows = tx.statements.rows(
        """
        SELECT id, item_id, source_id, place, digest, written
        FROM origins
        WHERE kind = 'memory' AND source = :source AND written IS NOT NULL
        ORDER BY id
        """,
        {"source": claude_code.NAME},
    )
    true_now = says(tx, [row[1] for row in rows]) if rows else {}
    return [
        _Origin(id, path, folder, of_file, written, true_now.get(item))
        for id, item, path, folder, of_file, written in rows
    ]


def _read(origin: _Origin) -> ReadFile:
    return corrected.read(Path(origin.path), Path(origin.folder))


def _corrected(text: str, origin: _Origin, day: str) -> str:
    """Return the text of a file with the correction that it needs, or without one.

    Raises:
        Invalid: it has changed since it was read.
    """
    base, line = corrected.without(text), corrected.line_of(text)
    if origin.digest not in (_digest(text), _digest(base)):
        raise Invalid("it has changed since it was read; import it again")
    if line and line in (origin.says or "").splitlines():  # the memory has it from the file
        base = text
    new_line = corrected.correction(_content(base), origin.says, day)
    return corrected.with_line(base, new_line) if new_line else base


def _content(text: str) -> str:
    return clean(claude_code.content(text.removeprefix("\ufeff")))


def _digest(text: str) -> str:
    return digest(_content(text))
