"""The projects of a file, each of which is asked for: that takes some microseconds."""

from dataclasses import dataclass

from memory_server.sqlite.tx import Tx
from memory_server.storage.projects import AllProjects, Known


@dataclass(frozen=True, slots=True)
class Directory:
    """The table of `tx.directory`: see `storage.projects.WritableDirectory`."""

    tx: Tx

    def read(self) -> AllProjects | None:
        return None

    def forget(self) -> None:
        """Do nothing: nothing is held."""

    def insert(self, name: str) -> Known:
        row = self.tx.one(
            "INSERT INTO main.projects (name, created_at) VALUES (?, ?) RETURNING id", (name, self.tx.now)
        )
        return Known(row[0], name)
