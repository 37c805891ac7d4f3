"""Copying a whole database into another one, row by row, as it is.

What is derived from the rows is not copied: words, counts, bits, which memories are replaced, the parts of long texts.
The target makes it anew. Neither is what belongs to one database alone: its migrations, the problems of its jobs, and
what it still has to erase.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

Row = tuple[Any, ...]
"""Values in the order of the columns: whole numbers, floating ones, booleans, texts, None; a vector as its numbers of
4 bytes each, the last byte first."""

Key = tuple[Any, ...]


VECTOR: Final = "vector"
"""The name of each column that holds a vector."""


@dataclass(frozen=True, slots=True)
class Table:
    """`columns` are copied; those of `key` say which row it is and in which order rows come. `flags` are booleans.

    `numbered`: its key is an id that is never used twice.
    """

    name: str
    columns: tuple[str, ...]
    key: tuple[str, ...] = ("id",)
    flags: frozenset[str] = frozenset()

    @property
    def numbered(self) -> bool:
        return self.key == ("id",)

    def key_of(self, row: Row) -> Key:
        return tuple(row[self.columns.index(name)] for name in self.key)


def _table(name: str, columns: str, key: str = "id", flags: str = "") -> Table:
    return Table(name, tuple(columns.split()), tuple(key.split()), frozenset(flags.split()))


def _vectors(name: str, item: str, dated: bool = True) -> Table:
    return _table(name, f"space_id {item} vector{' created_at' if dated else ''}", f"space_id {item}")


def _queue(name: str, item: str) -> Table:
    return _table(name, f"space_id {item} queued_at", f"space_id {item}")


TABLES: Final = (
    _table("projects", "id name folder created_at"),
    _table("project_keys", "kind key project_id", "kind key"),
    _table(
        "memories",
        "id content type project tags importance metadata access_count created_at updated_at accessed_at created_by"
        " session occurred_at person writer",
    ),
    _table("memory_history", "id memory_id content reason replaced_at"),
    _table("edges", "id source_id target_id relation strength valid_from valid_to created_by"),
    _table(
        "facts",
        "id scope owner key value tags version access_count created_at updated_at accessed_at expires_at created_by"
        " updated_by session writer",
    ),
    _table(
        "fact_history",
        "id fact_id scope owner key version action value tags expires_at changed_at changed_by writer",
    ),
    _table("turns", "id message summary project session created_at created_by occurred_at person"),
    _table("digested", "id kind item_id digest_id"),
    _table("conversations", "id name created_at cleaned_at removed"),
    _table(
        "short_term_memories",
        "id conversation_id text score said_at created_at created_by session keyed",
        flags="keyed",
    ),
    _table("short_term_keywords", "conversation_id word memory_id weight", "conversation_id word memory_id"),
    _table(
        "long_term_memories",
        "id conversation_id name prompt trigger created_context updated_context created_at updated_at created_by"
        " session fired_at fired_count error failures quarantined_until judged_at slow cooldown",
        flags="slow",
    ),
    _table("wakes", "id memory_id at client session why"),
    _table("changes", "id memory_id long_term_id action before draft changed_at changed_by session"),
    _table("trash", "id kind item_id conversation parts deleted_at deleted_by person writer"),
    _table("origins", "id kind item_id source source_id digest imported_at"),
    _table("memory_uses", "id memory_id session shown_at judged_at used_at how person"),
    _table("open_questions", "id project question sessions session asked_at asked_again_at person"),
    _table("hook_captures", "id kind item_id session event captured_at"),
    _table(
        "hook_injections",
        "id session event kind item_id tokens injected_at in_context",
        flags="in_context",
    ),
    _table(
        "tokens",
        "id name hash prefix projects read_only shared created_at expires_at revoked_at last_used",
        flags="read_only shared",
    ),
    _table(
        "call_counts",
        "id day tool calls refused failed degraded timed_out milliseconds times",
    ),
    _table(
        "spaces",
        "id provider model revision dimensions query_prompt document_prompt transform chinese lexical fingerprint"
        " state created_at lease_holder lease_until",
        flags="chinese lexical",
    ),
    _vectors("embeddings", "memory_id"),
    _vectors("part_embeddings", "part_id", dated=False),
    _vectors("fact_embeddings", "fact_id"),
    _vectors("turn_embeddings", "turn_id"),
    _vectors("turn_message_embeddings", "turn_id", dated=False),
    _vectors("short_term_embeddings", "memory_id"),
    _queue("embedding_queue", "memory_id"),
    _queue("fact_embedding_queue", "fact_id"),
    _queue("turn_embedding_queue", "turn_id"),
    _queue("short_term_embedding_queue", "memory_id"),
)
"""Every table that is copied, in an order in which each comes after those that its rows belong to, and after those
whose triggers would change it."""

DERIVED: Final = frozenset(
    {
        "memory_counts", "memory_parts", "memory_words", "fact_words", "turn_words", "short_term_words",
        "migrations", "job_problems", "erasures", "server_days",
    }
)  # fmt: skip
"""The tables of both stores that are not copied."""


class Copied(Protocol):
    """The rows of a database as they are, for a copy of it."""

    def count(self, table: Table) -> int:
        """How many rows the table has."""
        ...

    def rows(self, table: Table, after: Key | None, upto: Key | None, limit: int | None) -> list[Row]:
        """Rows in the order of their keys: those after one key, up to another one, no more than `limit`."""
        ...

    def highest_ids(self) -> Mapping[str, int]:
        """By the names of numbered tables, the highest id that any row of it ever had; none where there was no row."""
        ...


class Target(Copied, Protocol):
    """A database that is being filled, and that nobody can use before it is finished.

    A killed copy can go on: `rows` gives what is there already. All is on disk when `finish` returns.
    """

    def begin(self, source: str) -> bool:
        """Whether a copy of this source was begun before, and goes on.

        Raises:
            Conflict: it holds something, or an unfinished copy of something else.
            Unavailable: it cannot be reached or used, or another process fills it.
        """
        ...

    def put(self, table: Table, after: Key | None, upto: Key | None, rows: Sequence[Row]) -> None:
        """Let the table have these rows between the keys, and no others."""
        ...

    def prepare(self) -> None:
        """All rows are there: begin to build what searches need. It may go on while the rows are compared; `finish`
        waits for it."""
        ...

    def finish(self, highest_ids: Mapping[str, int]) -> None:
        """It is whole, and can be used. No id up to these is given to a new row.

        Raises:
            Unavailable: it is not sound.
        """
        ...

    def close(self) -> None:
        """Leave it as it is."""
        ...
