"""What can be wrong with the rows of a table: each table module declares it, and `health` looks for it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rows:
    """The columns of a table that a hand edit or an import can leave unreadable. `id` names a row for people.

    texts: must be UTF-8. Every text column of the table is among them.
    moments: must be dates that SQLite reads, or NULL.
    json: must be JSON that clients can read: finite numbers, at most 100 levels; or NULL where the table allows that.
    """

    table: str
    texts: tuple[str, ...] = ()
    moments: tuple[str, ...] = ()
    json: tuple[str, ...] = ()
    id: str = "id"
