"""The table `server_days`: the last days on which a server ran, as far as the database knows."""

from dataclasses import dataclass

from memory_server.domain.forgetting import day_of, start_of
from memory_server.storage.statements import Statements


@dataclass(frozen=True, slots=True)
class ServerDays:
    tx: Statements

    def newest(self) -> int | None:
        """Return the last of them, in days since 1970."""
        day: int | None = self.tx.value("SELECT max(day) FROM server_days")
        return day

    def certain(self) -> str | None:
        """Return the start of the last day before today on which a server ran; None where none is known.

        Only what was old at this moment is removed by its age. So a clock that leaps for one day removes nothing.
        """
        today = {"today": day_of(self.tx.now)}
        day = self.tx.value("SELECT max(day) FROM server_days WHERE day < :today", today)
        return None if day is None else start_of(day)


@dataclass(frozen=True, slots=True)
class WritableServerDays(ServerDays):
    def mark(self) -> None:
        """Record that a server runs today. Days later than today are forgotten: the clock was wrong."""
        today = {"today": day_of(self.tx.now)}
        self.tx.send("DELETE FROM main.server_days WHERE day > :today", today)
        self.tx.send("INSERT INTO main.server_days (day) VALUES (:today) ON CONFLICT DO NOTHING", today)
        self.tx.send(
            """
            DELETE FROM main.server_days
            WHERE day < (SELECT max(day) FROM server_days WHERE day < :today)
            """,
            today,
        )
