"""Follows the memories that Claude Code writes for itself, once the person has imported those of a project."""

from dataclasses import dataclass, field
from pathlib import Path

from memory_server.domain.caller import Caller
from memory_server.importing import claude_code
from memory_server.importing.opened import Opened
from memory_server.importing.values import file_moment
from memory_server.storage.tx import Tx
from memory_server.transfer.corrections import CorrectionService
from memory_server.transfer.importing import ImportService, Source

PROJECTS = "projects"
"""The folder of a client's home that has one for each project."""


@dataclass(frozen=True, slots=True)
class FollowingService:
    """`changed_at` has by folder the moment of its newest file that was looked at: a correction changes a file too."""

    imports: ImportService
    corrections: CorrectionService
    changed_at: dict[Path, str] = field(default_factory=dict)

    def follow(self, folder: Path, caller: Caller) -> None:
        """Import a project's folder of memories again, if the client's were imported and a file has changed since."""
        folder = folder.resolve()
        if len(folder.parents) < 2 or folder.parents[1].name != PROJECTS:
            return
        with self.imports.database.read() as tx:
            is_followed = _imported(tx, folder.parents[1])[0] > 0
            number, last = _imported(tx, folder)
        if not is_followed or not folder.parent.is_dir():
            return
        paths = [file.path for file in Opened(folder).files]
        files = [path for path in paths if path.suffix == ".md" and path.name != claude_code.INDEX]
        changed = max((file_moment(path.stat().st_mtime) for path in files), default="")
        if len(files) != number or changed > max(last, self.changed_at.get(folder, "")):
            source = Source(claude_code.NAME, lambda: claude_code.records(Opened(folder)), str(folder))
            self.imports.take(source, None, caller)
            self.corrections.follow(str(folder), None)
            self.changed_at[folder] = changed


def _imported(tx: Tx, folder: Path) -> tuple[int, str]:
    """Return how many memories come from files of a folder, and when the last one was imported; '' for never."""
    row = tx.statements.row(
        """
        SELECT count(*), ifnull(max(imported_at), '')
        FROM origins
        WHERE kind = 'memory' AND source = :source AND source_id >= :first AND source_id < :end
        """,
        {"source": claude_code.NAME, "first": f"{folder}/", "end": f"{folder}0"},
    )
    return row or (0, "")
