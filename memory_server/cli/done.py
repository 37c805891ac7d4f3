"""The JSON that commands print with `--json` of what they did: a contract like that of `answers`, which prints it.

`done` is false where it was only asked what would be done.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from memory_server.cli.answers import StatedToken
from memory_server.domain.change import Change
from memory_server.domain.lost_rows import LostRows
from memory_server.domain.memory import Memory
from memory_server.domain.project import Moved


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """`merged`: the memory says the same and was there already. `similar` and `may_replace` are ids, such as m7."""

    memory: Memory
    merged: bool
    similar: Sequence[str]
    may_replace: Sequence[str]


@dataclass(frozen=True, slots=True)
class EditedAnswer:
    """`same_as` is the id of a memory that says the same now."""

    memory: Memory
    same_as: str | None


@dataclass(frozen=True, slots=True)
class ForgottenAnswer:
    """`done` is false where it was only asked what would go. `undo` restores what was chosen together; `log` has the
    changes of single ids. `files` may still hold what was purged, and what is `missing` was not there."""

    ids: Sequence[str]
    done: bool
    undo: str | None
    undo_until: str | None
    files: Sequence[str]
    missing: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class UndoneAnswer:
    """`staying` was changed since, so it is not undone."""

    changes: Sequence[Change]
    done: bool
    staying: Sequence[str]


@dataclass(frozen=True, slots=True)
class ReviewedAnswer:
    action: str
    ids: Sequence[str]


@dataclass(frozen=True, slots=True)
class RenamedAnswer:
    name: str
    former_name: str


@dataclass(frozen=True, slots=True)
class JoinedAnswer:
    source: str
    target: str
    moved: Moved
    done: bool


@dataclass(frozen=True, slots=True)
class BackupAnswer:
    """`deleted` are older backups that `--keep` removes; nothing is `done` with `--dry-run`."""

    file: str
    bytes: int | None
    deleted: Sequence[str]
    done: bool


@dataclass(frozen=True, slots=True)
class RestoredAnswer:
    """`former` is the old database, `left_out` the SQL of the backup that is not of this program."""

    database: str
    file: str
    bytes: int
    schema_version: int
    former: str | None
    left_out: str | None
    done: bool


@dataclass(frozen=True, slots=True)
class RescueAnswer:
    """`rows` and `left_out` count by table; a loss is not `certain` where some of its ids may have had no row.

    A loss without `ids`: rows of the table may be lost, and nothing tells which.
    """

    file: str
    rows: dict[str, int]
    lost: Sequence[LostRows]
    left_out: dict[str, int]


@dataclass(frozen=True, slots=True)
class CompactedAnswer:
    """`bytes` is the size of the file now, `free` what was given back, or would be."""

    database: str
    bytes: int
    free: int
    done: bool


@dataclass(frozen=True, slots=True)
class CopiedAnswer:
    """`rows` is null where a move had ended before, or the source was `purged` of so many rows. Of a move: rows `since`
    it began, seconds that writes `waited`."""

    source: str
    target: str
    rows: int | None
    resumed: bool
    since: int | None = None
    waited: float | None = None
    purged: int | None = None


@dataclass(frozen=True, slots=True)
class RefusedItem:
    where: str
    why: str


@dataclass(frozen=True, slots=True)
class ImportedPath:
    """`undo` takes it back. `written_back` counts files that corrections go to; `counts` are by kind and outcome.
    `lowered` counts what a person has said, as the file says, but no person imports."""

    path: str
    undo: str | None
    format: str
    written_back: int
    counts: dict[str, dict[str, int]]
    refused_items: Sequence[RefusedItem]
    rules: dict[str, str]
    conflicts: Sequence[str]
    lowered: int


@dataclass(frozen=True, slots=True)
class ImportAnswer:
    """Sums of all paths, by outcome, and each path."""

    dry_run: bool
    added: int
    updated: int
    present: int
    duplicate: int
    deleted: int
    ended: int
    changed_here: int
    secret: int
    refused: int
    sources: Sequence[ImportedPath]


@dataclass(frozen=True, slots=True)
class ImportStatus:
    """An import in the background: `state` is none, runs, ended or broken; `lines` are what it said."""

    state: str
    lines: Sequence[str]


@dataclass(frozen=True, slots=True)
class ExportedAnswer:
    """`written` counts records by kind, or names pages of Markdown, each 1."""

    file: str
    written: dict[str, int]
    left_out: Sequence[str]


@dataclass(frozen=True, slots=True)
class MadeToken:
    """`secret` is the token itself, which is shown only once."""

    secret: str
    token: StatedToken


@dataclass(frozen=True, slots=True)
class ClientFile:
    """A file of a client: `change` is none, written, changed, removed or planned; `text` is what it would hold."""

    path: str
    change: str
    backup: str | None = None
    text: str | None = None


@dataclass(frozen=True, slots=True)
class ClientAnswer:
    """`works` is null where the server was not tried, `then` what the person does next; `on_this_machine` whether
    something shows the client, null where nothing was written."""

    client: str
    connected: bool
    files: Sequence[ClientFile]
    works: bool | None
    then: str | None
    done: bool
    on_this_machine: bool | None = None


@dataclass(frozen=True, slots=True)
class UnlearntAnswer:
    """`number` of things are gone. Where not `erased`, the next server overwrites the bytes; `files` may hold some."""

    number: int
    erased: bool
    files: Sequence[str]
