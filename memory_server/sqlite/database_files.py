"""The files of a database: its own, copies that migrations made, and what was rescued."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, closing
from datetime import datetime
from pathlib import Path

import apsw

from memory_server.call import acting
from memory_server.call.deadline import CALL
from memory_server.errors import Unavailable
from memory_server.sqlite import checks, deleted_words, failures, files, last_copies, migrate, pragmas
from memory_server.sqlite.transaction import Transaction
from memory_server.sqlite.waiting import nap, until_the_end
from memory_server.storage import packaged


class DatabaseFiles:
    """Implements `Files`. `path` is None where the database is in memory; `read` and `write` open transactions."""

    def __init__(
        self,
        path: Path | None,
        clock: Callable[[], datetime],
        read: Callable[[], AbstractContextManager[Transaction]],
        write: Callable[[], AbstractContextManager[Transaction]],
    ) -> None:
        self._path, self._clock, self._read, self._write = path, clock, read, write

    def refuse_empty(self) -> None:
        if self._path is not None and self._path.is_file():
            files.await_filled(self._path)  # another window may be creating it
            files.refuse_empty(self._path, f"The database {self._path}")

    def removal(self, index: str) -> Callable[[], bool]:
        removal = deleted_words.Removal(index)

        def go_on() -> bool:
            with self._write() as tx:
                return removal.go_on(tx)

        return go_on

    def exposed(self) -> list[str]:
        return [f"{path} can be read by others than its owner" for path in self._all() if files.exposed(path)]

    def copies(self) -> list[str]:
        return [self._with_age(path) for path in self._left_over() if files.RESCUED not in path.name]

    def rescues(self) -> list[str]:
        return [self._with_age(path) for path in self._left_over() if files.RESCUED in path.name]

    def tidy(self) -> list[str]:
        done = []
        for path in self._all():
            if files.is_broken_off(path, self._clock()):
                path.unlink()
                done.append(f"removed {path}, a copy that was broken off")
            elif files.exposed(path):
                files.tighten(path)
                done.append(f"{path} can be read by its owner only now")
        return [*done, *self._mended_schema()]

    def _mended_schema(self) -> list[str]:
        if self._path is None or not self._path.exists():
            return []
        try:
            with (
                until_the_end(CALL),
                closing(pragmas.connected(self._path, apsw.SQLITE_OPEN_READWRITE)) as connection,
            ):
                connection.set_busy_handler(nap)
                if connection.readonly("main"):
                    return []
                return migrate.mend_schema(connection, packaged.load(packaged.folder()))
        except apsw.Error as error:
            raise failures.meaning(error, self._path) from error

    def last_copies(self) -> list[str]:
        return [
            f"{copy} may be all that is left of what it holds, so nothing removes it: take over what you need of it, "
            "then delete it"
            for copy in self._last(files.copies(self._path) if self._path is not None else [])
        ]

    def drop_copies(
        self, erased: Mapping[str, int] | None = None, older_than: str | None = None
    ) -> tuple[str, ...]:
        if self._path is None or acting.person() is not None:
            return ()
        copies = files.copies(self._path, older_than)
        if older_than is not None and copies:
            with self._read() as tx:
                checks.refuse_damaged(tx.connection, self._path)
        last = self._last(copies)
        for copy in copies:
            if copy not in last:
                copy.unlink(missing_ok=True)
        unread = (
            path for path in self._left_over() if files.RESCUED in path.name or files.is_temporary(path)
        )
        holding = self._holding([*last, *files.in_backup_folder(self._path)], erased) if erased else []
        return tuple(map(str, (*unread, *holding)))

    def _holding(self, paths: list[Path], erased: Mapping[str, int]) -> list[Path]:
        """Return the copies that may hold what was erased: all, where the database cannot be read."""
        try:
            with self._read() as tx:
                made_at = migrate.made_at(tx.connection)
        except Unavailable:  # what was purged is purged
            return paths
        return [path for path in paths if last_copies.may_hold(path, made_at, erased)]

    def _last(self, copies: list[Path]) -> list[Path]:
        """Return the copies that may hold the only rest of their content: all, where the file cannot be read."""
        if not copies:
            return []
        try:
            with self._read() as tx:
                if checks.damage(tx.connection, quick=True):
                    return copies
                return [copy for copy in copies if last_copies.is_last(copy, tx.connection)]
        except Unavailable:  # what was purged is purged
            return copies

    def _all(self) -> list[Path]:
        return [] if self._path is None else [self._path, *self._left_over()]

    def _left_over(self) -> list[Path]:
        return [] if self._path is None else files.left_over(self._path)

    def _with_age(self, path: Path) -> str:
        state = ["unfinished"] if files.is_temporary(path) else []
        return f"{path.name} ({', '.join([*state, files.age(path, self._clock())])})"
