"""The columns of every table, declared once: copies, health checks, exports, imports and the trash follow from them."""

from dataclasses import dataclass
from functools import cache
from typing import Any, Final

VECTOR: Final = "vector"
"""The name of each column that holds a vector."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table with all columns that are not derived from others.

    `key` names a row and orders the rows. A column is text, unless it is among `numbers` or `flags` (booleans), or a
    vector. Texts among `json` hold JSON.
    """

    name: str
    columns: tuple[str, ...]
    key: tuple[str, ...] = ("id",)
    numbers: frozenset[str] = frozenset()
    flags: frozenset[str] = frozenset()
    json: tuple[str, ...] = ()

    @property
    def numbered(self) -> bool:
        """True if its key is an id that is never used twice."""
        return self.key == ("id",)

    @property
    def id(self) -> str:
        """The column that names a row for people."""
        return self.key[-1]

    @property
    def texts(self) -> tuple[str, ...]:
        no_texts = {VECTOR, *self.numbers, *self.flags}
        return tuple(name for name in self.columns if name not in no_texts)

    @property
    def moments(self) -> tuple[str, ...]:
        """The texts that hold a moment or a day, in UTC."""
        return tuple(name for name in self.texts if is_moment(name))

    def key_of(self, row: tuple[Any, ...]) -> tuple[Any, ...]:
        """The key of a row, whose values are in the order of the columns."""
        return tuple(row[self.columns.index(name)] for name in self.key)


def is_moment(column: str) -> bool:
    """True if a text column with this name holds a moment: its name says so."""
    is_named_so = column.endswith(("_at", "_until")) or column.startswith("valid_")
    return is_named_so or column in ("at", "day", "last_used")


def table(
    name: str, columns: str, key: str = "id", numbers: str = "", flags: str = "", json: str = ""
) -> Table:
    """Declare a table; all names are separated by spaces. Ids are numbers, except those that a source has given."""
    names = tuple(columns.split())
    ids = {name for name in names if name == "id" or name.endswith("_id")} - {"source_id"}
    return Table(
        name,
        names,
        tuple(key.split()),
        frozenset(numbers.split()) | ids,
        frozenset(flags.split()),
        tuple(json.split()),
    )


def _vectors(name: str, item: str, dated: bool = True) -> Table:
    return table(name, f"space_id {item} vector{' created_at' if dated else ''}", f"space_id {item}")


def _queue(name: str, item: str) -> Table:
    return table(name, f"space_id {item} queued_at", f"space_id {item}")


TABLES: Final = (
    table("projects", "id name folder created_at"),
    table("project_keys", "kind key project_id", "kind key"),
    table(
        "memories",
        "id content type project tags importance metadata access_count created_at updated_at accessed_at created_by"
        " session occurred_at person writer origin",
        numbers="importance access_count",
        json="tags metadata",
    ),
    table("memory_anchors", "id memory_id project anchors observed_at", json="anchors"),
    table("memory_history", "id memory_id content reason replaced_at"),
    table(
        "edges",
        "id source_id target_id relation strength valid_from valid_to created_by",
        numbers="source_id strength",
    ),
    table(
        "facts",
        "id scope owner key value tags version access_count created_at updated_at accessed_at expires_at created_by"
        " updated_by session writer origin",
        numbers="version access_count",
        json="value tags",
    ),
    table("fact_anchors", "id fact_id project anchors observed_at", json="anchors"),
    table(
        "fact_history",
        "id fact_id scope owner key version action value tags expires_at changed_at changed_by writer origin",
        numbers="version",
        json="value tags",
    ),
    table("turns", "id message summary project session created_at created_by occurred_at person origin"),
    table("digested", "id kind item_id digest_id"),
    table("conversations", "id name created_at cleaned_at removed", numbers="removed"),
    table(
        "short_term_memories",
        "id conversation_id text score said_at created_at created_by session keyed origin",
        numbers="score",
        flags="keyed",
    ),
    table(
        "short_term_keywords",
        "conversation_id word memory_id weight",
        "conversation_id word memory_id",
        numbers="weight",
    ),
    table(
        "long_term_memories",
        "id conversation_id name prompt trigger created_context updated_context created_at updated_at created_by"
        " session fired_at fired_count error failures quarantined_until judged_at slow cooldown origin",
        numbers="fired_count failures cooldown",
        flags="slow",
    ),
    table("wakes", "id memory_id at client session why"),
    table("rules", "id memory_id effect holds passes confirmed_at off", flags="off", json="holds passes"),
    table("rule_hits", "id memory_id at client session effect act overruled_at"),
    table(
        "changes",
        "id memory_id long_term_id action before draft changed_at changed_by session",
        json="before draft",
    ),
    table("trash", "id kind item_id conversation parts deleted_at deleted_by person writer", json="parts"),
    table("origins", "id kind item_id source source_id digest imported_at place written"),
    table("events", "id action source path counts happened_at happened_by session undone_at"),
    table("event_steps", "id event_id did kind item_id before after", json="before"),
    table("likely_updates", "id memory_id kind item_id newer found_at", flags="newer"),
    table("memory_uses", "id memory_id session shown_at judged_at used_at how person"),
    table(
        "open_questions",
        "id project question sessions session asked_at asked_again_at person",
        numbers="sessions",
    ),
    table("hook_captures", "id kind item_id session event captured_at"),
    table(
        "hook_injections",
        "id session event kind item_id tokens injected_at in_context",
        numbers="tokens",
        flags="in_context",
    ),
    table(
        "tokens",
        "id name hash prefix projects read_only shared created_at expires_at revoked_at last_used",
        flags="read_only shared",
        json="projects",
    ),
    table(
        "call_counts",
        "id day tool calls refused failed degraded timed_out milliseconds times",
        numbers="calls refused failed degraded timed_out milliseconds",
        json="times",
    ),
    table(
        "spaces",
        "id provider model revision dimensions query_prompt document_prompt transform chinese lexical fingerprint"
        " state created_at lease_holder lease_until",
        numbers="dimensions",
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
"""Every table that a copy takes along, each after those that its rows belong to, and after those whose triggers would
change it."""

BY_NAME: Final = {declared.name: declared for declared in TABLES}


@cache
def listed(columns: tuple[str, ...], alias: str = "") -> str:
    """Return columns for a statement, such as `m."name", m."trigger"`: quoted, since `trigger` is a word of SQL."""
    return ", ".join(f'{alias and alias + "."}"{column}"' for column in columns)
