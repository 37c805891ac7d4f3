"""The failures that a caller can understand, each with a code and with what mends it.

Raise one where the cause is known. Its text says what is wrong, with the value. The text names no tool and no
command, because several faces show it. What mends it is a `Hint`: each face has words for it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, StrEnum, auto


class Mend(StrEnum):
    """The ways to mend a failure. Each face has words for each of these."""

    FIND_MEMORY = "find the id of a memory"
    FIND_TURN = "find the id of a turn"
    NAME_MEMORY_FIELDS = "name a field of a memory to change"
    NAME_LONG_TERM_FIELDS = "name a field of a long-term memory to change"
    NAME_NEIGHBOURS = "say which neighbours to look for"
    SHOW_EDGES = "show the edges of a memory"
    END_SUPERSEDING = "show what supersedes a memory, and end that edge"
    LIST_FACTS = "list the facts"
    SHOW_FACT_HISTORY = "show the history of a fact"
    WRITE_AT_VERSION = "write a fact again, at its current version"
    LIST_SHORT_TERM_CONVERSATIONS = "list the conversations that have short-term memories"
    LIST_LONG_TERM = "list the long-term memories of a conversation"
    LIST_RULES = "list the rules"
    UPDATE_LONG_TERM = "update the long-term memory that has the name"
    LIST_CHANGES = "list what happened"
    UNDO_TOGETHER = "undo several changes together"
    LIST_PROJECTS = "list the projects"
    LIST_TOKENS = "list the tokens"
    USE_ANOTHER_PORT = "listen at another port or address"
    ADD_TOKEN = "make a token"  # noqa: S105 - the words for it
    STORE_BESIDE = "store a text as a memory of its own"
    SETTLE_DISPUTE = "say which of two memories is outdated, or that both hold"
    FOLLOW_GROUND = "bring a memory up to what its files say now"
    DELETE_DUPLICATE = "delete a memory that another one says too"
    CLOSE_TASK = "delete a task that is done, or say how it stands"
    ANSWER_QUESTION = "store what answers a question"
    MEND_TRIGGER = "try a trigger, then change it or delete its memory"
    SWITCH_RULE = "switch a rule off, as a person"
    JOIN_PROJECTS = "join two projects"
    ALLOW_SECRETS = "allow secrets"
    CHECK_FILE = "check the database file"
    USE_ANOTHER_FILE = "use another database file"
    PUT_FILE_BACK = "put the database file back"
    RESTORE = "restore a backup"
    RESTORE_NEWEST = "restore the newest backup"
    FREE_IDS = "take away the row that has the largest id"
    REMOVE_FOREIGN_SQL = "remove the SQL in a database that is not ours"
    NAME_BACKUP = "name a sound backup"
    NAME_FORMAT = "name the format of a source"
    EXPORT_FIRST = "export a database with the program that wrote it, and import that"
    MERGE_FILE = "merge a database of ours"
    IMPORT_FILE = "import what is no database of ours"
    USE_SAME_EMBEDDER = "use the embedder of the other window"
    USE_ANOTHER_EMBEDDER = "name a model that is on this machine, or another embedder"
    NAME_ENDPOINT_MODEL = "name the model of the file and its endpoint"
    CHECK_ENDPOINT = "start the endpoint, or correct its address or its model"
    SET_ENDPOINT_KEY = "set the key of the endpoint"
    ENCRYPT_ENDPOINT = "use an encrypted address, or no key"
    WAIT_FOR_ENDPOINT = "wait for the endpoint, or raise its quota"
    CHECK_RERANKER = "start the re-ranker, or correct its setting, address or key"
    MEND_DICTIONARY = "correct a file of words"
    INSTALL_EXTRA = "install what a part of the program needs"
    INSTALL_ENGINE = "install the engine of the triggers"
    REINSTALL_ENGINE = "install the engine of the triggers again"
    COPY_AGAIN = "copy again into the same target"
    EMPTY_TARGET = "copy into a target that is empty"
    MEND_SOURCE = "mend the source of a copy"
    UPGRADE = "upgrade the program"
    TRY_AGAIN = "try the same again"
    LOOK_FIRST = "look whether it is there before it is written again"
    IMPORT_AGAIN = "import or merge the same again"


@dataclass(frozen=True, slots=True)
class Hint:
    """One way to mend a failure, with the values that its words need."""

    mend: Mend
    arguments: Mapping[str, object] = field(default_factory=dict)


class Written(Enum):
    """The part of a failed call's writes that was committed."""

    NOTHING = auto()
    PART = auto()
    UNFINISHED = auto()
    UNKNOWN = auto()


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem, with the value, and what mends it: part of an error, or of an incomplete answer.

    `rows`: how many were committed before it failed. `written` is None where the call was to write nothing, or where
    the text says it.
    """

    text: str
    hints: tuple[Hint, ...] = ()
    written: Written | None = None
    rows: int = 0

    def __str__(self) -> str:
        return " ".join([self.text, *self.left])

    @property
    def left(self) -> list[str]:
        """Sentences of what the failed call has left in the database."""
        match self.written:
            case Written.NOTHING:
                return ["Nothing was written."]
            case Written.PART:
                return [self._rows]
            case Written.UNFINISHED:
                return ["It stays unfinished."]
            case Written.UNKNOWN if self.rows:
                return [self._rows, "Whether more was written cannot be told."]
            case Written.UNKNOWN:
                return ["Whether it was written cannot be told."]
            case None:
                return []

    @property
    def _rows(self) -> str:
        single = "1 row was written and stays."
        return single if self.rows == 1 else f"{self.rows:,} rows were written and stay."


def told(problems: Sequence[Problem], words: Mapping[Mend, str]) -> str | None:
    """The problems, then what mends them, each mend once; the `{names}` in `words` are the hint's arguments."""
    if not problems:
        return None
    mends = [words[hint.mend].format_map(hint.arguments) for problem in problems for hint in problem.hints]
    texts = "; ".join(map(str, problems))
    if mends and not texts.endswith((".", "?", "!")):
        texts += "."
    return " ".join([texts, *dict.fromkeys(mends)])


class MemoryServerError(Exception):
    """Any failure that the caller can understand and often mend."""

    code = "error"

    def __init__(self, text: str, *hints: Hint | Mend, written: Written | None = None, rows: int = 0) -> None:
        mends = tuple(hint if isinstance(hint, Hint) else Hint(hint) for hint in hints)
        self.problem = Problem(text, mends, written, rows)
        super().__init__(str(self.problem))


class Invalid(MemoryServerError):
    """An argument is not valid, or the arguments contradict each other."""

    code = "invalid"


class NotFound(MemoryServerError):
    """There is no such memory, fact, edge or conversation."""

    code = "not_found"


class Conflict(MemoryServerError):
    """The write contradicts what the database contains or allows."""

    code = "conflict"


class TriggerRejected(MemoryServerError):
    """A trigger does not compile, gives no value, or exceeds its limits."""

    code = "trigger_rejected"


class Unavailable(MemoryServerError):
    """Something that is needed is not available: the database, its disk, the embedder."""

    code = "unavailable"


class NotMade(Unavailable):
    """There is no database yet. The first server makes it; who must make none reads nothing."""


class Undone(Unavailable):
    """The database has rolled back a transaction because of what others did. Repeated, it may succeed."""


class Unreachable(Unavailable):
    """Another program does not answer now. It may later, without a change here: the call is tried again."""


def broken_off(error: MemoryServerError, rows: int, again: Mend) -> MemoryServerError:
    """The same failure, of work that had committed `rows` rows and can be repeated: `again` instead of "try again"."""
    problem = error.problem
    hints = (
        Hint(again) if hint.mend in (Mend.TRY_AGAIN, Mend.LOOK_FIRST) else hint for hint in problem.hints
    )
    written = Written.PART if rows and problem.written is not Written.UNKNOWN else problem.written
    return type(error)(problem.text, *hints, written=written, rows=rows)
