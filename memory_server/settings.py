"""All settings: each has a flag, an environment variable and a default. Only this file reads the environment."""

import os
import re
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from pydantic import AfterValidator, AliasChoices, BeforeValidator, Field, PlainValidator, ValidationInfo
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from memory_server import defaults, where
from memory_server.flags import EVERY_HOOK, HOOKS, LONGEST_IDLE, hooks_named, unknown_hook
from memory_server.project import NONE, Project, project_of
from memory_server.where import Postgres

EMBEDDER_KEY = "MEMORY_SERVER_EMBEDDER_KEY"
"""The variable that holds the key of the embedder. There is no flag for it: others can see the flags of a process."""

RERANKER_KEY = "MEMORY_SERVER_RERANKER_KEY"
"""The variable that holds the key of the re-ranker."""

KEYS = (EMBEDDER_KEY, RERANKER_KEY)
"""Variables that are no settings: their values are secret."""

LOOPBACK = "127.0.0.1"
"""Where only this machine reaches a server."""


def is_month_first() -> bool:
    """Return True where people write the month before the day."""
    return defaults.is_month_first(os.environ)


def _split(value: object) -> object:
    return (
        tuple(part.strip() for part in value.split(",") if part.strip()) if isinstance(value, str) else value
    )


def _hooks(names: tuple[str, ...]) -> tuple[str, ...]:
    hooks = hooks_named(names)
    if wrong := unknown_hook(hooks):
        raise ValueError(wrong)
    return hooks


def _upper(value: object) -> object:
    return value.strip().upper() if isinstance(value, str) else value


def _known_embedder(name: str) -> str:
    if name not in ("auto", "bundled", "hashing") and not re.match("(sentence-transformers|openai):.", name):
        raise ValueError("must be auto, bundled, hashing, sentence-transformers:NAME or openai:MODEL")
    return name


def _known_reranker(name: str) -> str:
    if name != "endpoint" and not re.match("(sentence-transformers|endpoint):.", name):
        raise ValueError("must be sentence-transformers:PATH, endpoint:MODEL or endpoint")
    return name


def _address(url: str, end: str = "/embeddings", example: str = "http://localhost:11434/v1") -> str:
    """The address above `end`, however it was given."""
    url = url.strip().rstrip("/").removesuffix(end).rstrip("/")
    try:
        parts = urlsplit(url)
        right = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        right = False
    if not right:
        raise ValueError(f"must be an address such as {example}")
    return url


def _reranker_address(url: str | None, info: ValidationInfo) -> str | None:
    if url is not None:
        return _address(url, "/rerank", "http://localhost:8080")
    if (info.data.get("reranker") or "").startswith("endpoint"):
        raise ValueError("is needed for this re-ranker: an address such as http://localhost:8080")
    return None


def _zone(name: str) -> str:
    try:
        ZoneInfo(name.strip())
    except (ValueError, ZoneInfoNotFoundError):
        if available_timezones():  # without any, none can be checked
            raise ValueError("must be a time zone such as Europe/Berlin") from None
    return name.strip()


def _web_address(written: str) -> str:
    parts = urlsplit(written.strip())
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
        raise ValueError("must be an address such as https://memory.example.com/mcp")
    return written.strip()


def _place(written: str) -> str:
    """A place to listen, as HOST:PORT; a port alone is of this machine only."""
    host, _, port = written.strip().rpartition(":")
    host = host.removeprefix("[").removesuffix("]") or LOOPBACK
    if not (port.isascii() and port.isdigit() and int(port) < 65_536) or re.search(r"[\s/@]", host):
        raise ValueError("must be a port such as 8765, or an address and a port such as 127.0.0.1:8765")
    return f"[{host}]:{int(port)}" if ":" in host else f"{host}:{int(port)}"


def _prefix(written: str) -> str:
    """A path such as /memory, without a slash at its end."""
    path = written.strip().rstrip("/")
    if re.fullmatch(r"(/[A-Za-z0-9_~-][A-Za-z0-9_.~-]*)*", path) is None:
        raise ValueError("must be a path such as /memory, of letters, digits, _ . ~ and -")
    return path


Names = Annotated[tuple[str, ...], NoDecode, BeforeValidator(_split)]


class Settings(BaseSettings):
    """Each field is `--name VALUE` on the command line and `MEMORY_SERVER_NAME` in the environment."""

    model_config = SettingsConfigDict(
        env_prefix="MEMORY_SERVER_", frozen=True, extra="ignore", populate_by_name=True, env_ignore_empty=True
    )

    db: Annotated[Path | Postgres, PlainValidator(where.of, json_schema_input_type=str)] = Field(
        default_factory=defaults.database,
        description="The database file. Default: `memory.db` in the user data folder. Or a PostgreSQL database: "
        "`postgresql://USER@HOST/NAME`, with `?tenant=NAME` where several teams share it.",
    )
    project: str | None = Field(
        default=None,
        validation_alias=AliasChoices("MEMORY_SERVER_PROJECT", "CLAUDE_PROJECT_DIR"),
        description="The project of memories and facts that are stored without one: a name, or the path of a folder. "
        "Default: `CLAUDE_PROJECT_DIR`, else the working folder. The home folder and the root are no projects.",
    )
    embedder: Annotated[str, AfterValidator(_known_embedder)] = Field(
        default="auto",
        description="`auto` (the one that the file uses, else bundled, else hashing), `bundled`, `hashing`, "
        "`sentence-transformers:NAME_OR_PATH[@revision]`, or `openai:MODEL`: a model behind an endpoint.",
    )
    embedder_url: Annotated[str, AfterValidator(_address)] = Field(
        default="https://api.openai.com/v1",
        description="Where the model of `openai:MODEL` is: any endpoint that speaks OpenAI's embeddings API. "
        "The texts that are stored and searched go there. Its key comes from the environment: "
        "`MEMORY_SERVER_EMBEDDER_KEY`, for OpenAI also `OPENAI_API_KEY`.",
    )
    reranker: Annotated[str, AfterValidator(_known_reranker)] | None = Field(
        default=None,
        description="What puts the first 50 hits of a search into their last order: `sentence-transformers:PATH` (a "
        "cross-encoder), `endpoint:MODEL`, or `endpoint` where that has one model. Default: nothing.",
    )
    reranker_url: Annotated[str | None, AfterValidator(_reranker_address)] = Field(
        default=None,
        validate_default=True,
        description="Where the model of `endpoint` is: the address above `/rerank`, as text-embeddings-inference, "
        "llama.cpp, vLLM, Jina and Cohere have it. Questions and the texts found go there. Its key comes from the "
        "environment: `MEMORY_SERVER_RERANKER_KEY`.",
    )
    reranker_seconds: float = Field(
        default=3,
        gt=0,
        le=15,
        allow_inf_nan=False,
        description="Seconds that a search waits for the re-ranker; then the order without it holds.",
    )
    dictionary: Annotated[Path, AfterValidator(Path.expanduser)] | None = Field(
        default=None,
        description="A file with words that are cut whole, such as names of people and products: jieba's user "
        "dictionary, each line a word, and if wanted a weight and a tag.",
    )
    stop_words: Annotated[Path, AfterValidator(Path.expanduser)] | None = Field(
        default=None, description="A file with words that are never keywords, one a line."
    )
    time_zone: Annotated[str, AfterValidator(_zone)] | None = Field(
        default=None,
        description="The time zone of the person, such as `Europe/Berlin`, for dates in words, reminders, triggers and "
        "what commands print. Default: that of the machine, or of `TZ`. On Windows it is always the machine's.",
    )
    toolsets: Names = Field(
        default=(),
        description="List only these toolsets, separated by commas. `core`: the twelve tools that can do all; the "
        "others can be called too. `all`: every tool.",
    )
    tools: Names = Field(default=(), description="Offer only these tools.")
    exclude_tools: Names = Field(default=(), description="Offer all tools except these.")
    read_only: bool = Field(
        default=False, description="Offer only tools that do not write, and do not count accesses."
    )
    allow_secrets: bool = Field(default=False, description="Store text even if it looks like a credential.")
    no_digests: bool = Field(
        default=False,
        description="Make no digests of observations and turns that have faded.",
    )
    no_backups: bool = Field(
        default=False,
        description="Make no backup of the file each day.",
    )
    no_learning: bool = Field(
        default=False,
        description="Learn nothing from what sessions use and ask in vain, and use nothing of what was learnt.",
    )
    no_token_vectors: bool = Field(
        default=False,
        description="Keep no vectors of single tokens, by which a search reads the best memories once more.",
    )
    trust: Literal["off", "mark", "confirm"] = Field(
        default="mark",
        description="What becomes of a text that a model took from a page or from another server. `mark`: it is marked "
        "where it is found, and told to nobody unasked until a person confirms it. `confirm`: until then no "
        "search and no list of a tool has it either. `off`: nobody looks where new texts come from.",
    )
    hooks_off: Annotated[Names, AfterValidator(_hooks)] = Field(
        default=(), description=f"Hooks that do nothing: {', '.join(HOOKS)}, or `{EVERY_HOOK}`."
    )
    engine: Literal["auto", "off"] = Field(
        default="auto",
        description="`auto`: all clients of one user and one database share one process, the engine, which the first "
        "of them starts. `off`: each has a process of its own. There is no engine on Windows and over HTTP.",
    )
    engine_idle: float = Field(
        default=60,
        ge=0,
        le=LONGEST_IDLE,
        allow_inf_nan=False,
        description="Seconds after which an engine ends that nobody is connected to.",
    )
    no_early_answers: bool = Field(
        default=False,
        description="Give no first answers while the server is still starting.",
    )
    score_share: float | None = Field(
        default=None,
        ge=0,
        le=1,
        allow_inf_nan=False,
        description="The score of a short-term memory counts for at most this share of its words' part, "
        "such as `0.25`. Default: it counts whole.",
    )
    cleanup_days: float = Field(
        default=365,
        gt=0,
        le=100_000,
        allow_inf_nan=False,
        description="A cleanup removes short-term memories that are older, in days.",
    )
    cleanup_floor: float = Field(
        default=-5,
        allow_inf_nan=False,
        description="A cleanup removes short-term memories whose relevance without any word is below it.",
    )
    cleanup_keeps: int = Field(
        default=512,
        ge=0,
        le=1_000_000_000,
        description="How many short-term memories of each conversation, the best, no cleanup removes.",
    )
    http: Annotated[str, AfterValidator(_place)] | None = Field(
        default=None,
        description="Serve over HTTP at this port, or address and port, instead of standard input and output. "
        "Only this machine reaches `8765`; any other address needs tokens.",
    )
    http_hosts: Names = Field(
        default=(),
        description="The names by which clients reach the server over HTTP, besides `localhost`: those of a proxy, "
        "or of this machine. The server then needs tokens.",
    )
    http_prefix: Annotated[str, AfterValidator(_prefix)] = Field(
        default="",
        description="The path below which a proxy serves this server over HTTP, such as `/memory`. "
        "The proxy passes it on.",
    )
    http_rate: int = Field(
        default=600,
        ge=1,
        le=1_000_000,
        description="How many requests a minute each token may send over HTTP.",
    )
    tenants: Annotated[Path, AfterValidator(Path.expanduser)] | None = Field(
        default=None,
        description="Over HTTP, serve the people of several memories: a file with a line `name = address` for each. "
        "The server reads it again when it changes.",
    )
    workers: int = Field(
        default=1,
        ge=1,
        le=64,
        description="How many processes carry out searches over HTTP at most, so that they use several cores. They "
        "start when searches come together. With `1` the server searches alone.",
    )
    oauth_issuer: Annotated[str, AfterValidator(_web_address)] | None = Field(
        default=None,
        description="Over HTTP, take tokens of this OAuth 2.1 issuer too. It needs the audience.",
    )
    oauth_audience: Annotated[str, AfterValidator(_web_address)] | None = Field(
        default=None,
        description="The address of this server as clients know it, such as `https://memory.example.com/mcp`. "
        "The issuer's tokens must name it as their audience.",
    )
    oauth_person: str = Field(
        default="sub", description="The claim of the issuer's tokens that names the person, such as `email`."
    )
    oauth_projects: str | None = Field(
        default=None,
        description="The claim of the issuer's tokens that lists their projects; a token without it has none. "
        "Default: every token has all.",
    )
    oauth_tenant: str | None = Field(
        default=None,
        description="Where there are several tenants, the claim of the issuer's tokens that names the tenant.",
    )
    audit: Annotated[Path, AfterValidator(Path.expanduser)] | None = Field(
        default=None,
        description="A file that gets a line for each call: who, what, when, which ids and how it ended; no contents. "
        "Only its owner can read it. At 16 MB a new one begins; 8 earlier ones are kept.",
    )
    audit_required: bool = Field(
        default=False, description="Refuse calls while the audit log cannot be written."
    )
    log_level: Annotated[Literal["DEBUG", "INFO", "WARNING", "ERROR"], BeforeValidator(_upper)] = Field(
        default="WARNING", description="The lowest level of messages that are written to standard error."
    )
    session: str | None = Field(
        default=None,
        validation_alias=AliasChoices("MEMORY_SERVER_SESSION", "CLAUDE_CODE_SESSION_ID"),
        description="The session id that is stored with each write. Default: `CLAUDE_CODE_SESSION_ID`, else a new id.",
    )

    @property
    def here(self) -> Project:
        """The project that the settings name, else the project of the working folder."""
        return self.project_in(defaults.folder())

    def project_in(self, folder: Path) -> Project:
        """The project that the settings name, else the project of a folder."""
        if self.project is not None and not self.project.strip():
            return NONE
        return project_of(self.project, folder)

    @property
    def http_place(self) -> tuple[str, int] | None:
        """The host and the port at which to serve over HTTP."""
        if self.http is None:
            return None
        host, _, port = self.http.rpartition(":")
        return host.removeprefix("[").removesuffix("]"), int(port)

    @property
    def hides(self) -> bool:
        """True if searches and lists leave out what waits to be confirmed."""
        return self.trust == "confirm"

    @property
    def readers(self) -> int:
        """Processes that search for a server over HTTP; 0 where it searches alone. Windows hands on no sockets."""
        return 0 if self.workers == 1 or os.name == "nt" else self.workers

    @property
    def asks_openai(self) -> bool:
        """True if the address of the embedder is OpenAI's own service."""
        host = urlsplit(self.embedder_url).hostname or ""
        return host == "api.openai.com" or host.endswith(".api.openai.com")

    @property
    def embedder_key(self) -> str | None:
        """The key of the endpoint. The variable that people set for OpenAI is sent to OpenAI alone."""
        names = [EMBEDDER_KEY, *(["OPENAI_API_KEY"] if self.asks_openai else [])]
        return next(filter(None, (os.environ.get(name, "").strip() for name in names)), None)

    @property
    def reranker_key(self) -> str | None:
        """The key of the endpoint of the re-ranker."""
        return os.environ.get(RERANKER_KEY, "").strip() or None

    @property
    def zone(self) -> str | None:
        """The time zone that the environment names; None means the machine's own."""
        return os.environ.get("TZ")

    @property
    def cache(self) -> Path:
        """The user's folder for files that can be created again."""
        return defaults.cache()
