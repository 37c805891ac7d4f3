"""The table `server_days`: the last days on which a server ran, as far as the file knows."""

from dataclasses import dataclass

from memory_server.domain.forgetting import day_of, start_of
from memory_server.sqlite.tx import Tx


@dataclass(frozen=True, slots=True)
class ServerDays:
    """The table `server_days`: the last days on which a server ran, as far as the file knows."""

    tx: Tx

    def newest(self) -> int | None:
        day: int | None = self.tx.value("SELECT max(day) FROM server_days")
        return day

    def certain(self) -> str | None:
        day = self.tx.value("SELECT max(day) FROM server_days WHERE day < ?", (day_of(self.tx.now),))
        return None if day is None else start_of(day)

    def mark(self) -> None:
        today = day_of(self.tx.now)
        self.tx.execute("DELETE FROM main.server_days WHERE day > ?", (today,))
        self.tx.execute("INSERT OR IGNORE INTO main.server_days (day) VALUES (?)", (today,))
        self.tx.execute(
            """
            DELETE FROM main.server_days
            WHERE day < (SELECT max(day) FROM server_days WHERE day < ?)
            """,
            (today,),
        )
