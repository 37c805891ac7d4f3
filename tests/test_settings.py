"""Settings from flags and the environment, the commands, and what they say when they are wrong."""

import json
import os
import stat
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from mcp_types import CallToolResult
from pydantic import ValidationError

from memory_server import __version__, app, embedders, flags
from memory_server.cli.main import main
from memory_server.domain.caller import Caller
from memory_server.domain.embedding import Space
from memory_server.domain.memory import MemoryType
from memory_server.domain.short_term import CleanupRule
from memory_server.errors import Hint, Mend, Unavailable
from memory_server.hook import settings as hook_settings
from memory_server.hook.event import Name
from memory_server.mcp.listed import chosen
from memory_server.mcp.toolsets import toolsets
from memory_server.settings import Settings
from tests import warm
from tests.conftest import Servers, Sqlite, call, damage
from tests.endpoint import local_endpoint

MEMORIES = ["memory_store", "memory_search", "memory_get", "memory_update", "memory_delete", "memory_stats"]
GRAPH = ["graph_connect", "graph_explore", "memory_related"]
FACTS = ["write_memory", "read_memory", "list_memories", "delete_memory", "smart_resume"]
CONVERSATION = ["register_memory", "retrieve_memories", "delete_turn"]
SHORT_TERM = [
    *["add_short_term_memory", "search_short_term_memories", "delete_short_term_memories"],
    *["get_memory_stats", "cleanup_memories", "get_frequent_conversation"],
]
LONG_TERM = [
    *["remind", "add_long_term_memory", "update_long_term_memory", "delete_long_term_memory"],
    *["list_long_term_memories", "search_long_term_memories", "get_memory_context", "test_trigger"],
]
ALL_TOOLS = ["recall", "forget", *MEMORIES, *GRAPH, *FACTS, *CONVERSATION, *SHORT_TERM, *LONG_TERM]
READING = [
    *["recall", "memory_search", "memory_get", "memory_stats", "graph_explore", "memory_related"],
    *["read_memory", "list_memories", "smart_resume", "retrieve_memories"],
    *["search_short_term_memories", "get_memory_stats", "get_frequent_conversation"],
    *["list_long_term_memories", "search_long_term_memories", "get_memory_context", "test_trigger"],
]


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Each test works in an empty folder."""
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


@dataclass
class Done:
    """How a command ended."""

    code: int
    out: str
    err: str


Program = Callable[..., Done]


@pytest.fixture
def program(capfd: pytest.CaptureFixture[str]) -> Program:
    """Runs a command that does not serve, in this process."""

    def run(*arguments: str) -> Done:
        capfd.readouterr()
        try:
            code = main(arguments)
        except SystemExit as end:
            code = int(end.code or 0)
        printed = capfd.readouterr()
        return Done(code, printed.out, printed.err)

    return run


def initialized(server: Servers, *arguments: str, **env: str) -> Done:
    """A real server that is greeted, asked for its counts and left, with these arguments and no flags of tests."""
    about = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    said = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": about},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "memory_stats"}},
    ]
    done = subprocess.run(
        warm.program("--embedder", "hashing", *arguments),
        env={**os.environ, **server.env, **env},
        cwd=Path.cwd(),
        input="".join(f"{json.dumps(each)}\n" for each in said),
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )
    return Done(done.returncode, done.stdout, done.stderr)


# Where a setting comes from


def test_every_setting_has_a_default() -> None:
    settings = Settings()
    assert settings.db.name == "memory.db"
    assert settings.embedder == "auto"
    assert settings.embedder_url == "https://api.openai.com/v1"
    assert (settings.toolsets, settings.tools, settings.exclude_tools) == ((), (), ())
    assert (settings.read_only, settings.allow_secrets, settings.log_level) == (False, False, "WARNING")
    assert settings.score_share is None
    rule = CleanupRule(timedelta(days=settings.cleanup_days), settings.cleanup_floor, settings.cleanup_keeps)
    assert rule == CleanupRule()
    assert settings.session is None


def test_the_environment_sets_what_no_flag_does(monkeypatch: pytest.MonkeyPatch) -> None:
    given = {
        "DB": "/data/a.db",
        "PROJECT": "env",
        "EMBEDDER": "hashing",
        "EMBEDDER_URL": "http://localhost:11434/v1",
        "RERANKER": "endpoint:some-model",
        "RERANKER_URL": "http://localhost:8080/rerank",
        "RERANKER_SECONDS": "1.5",
        "DICTIONARY": "~/words.txt",
        "STOP_WORDS": "/data/ignored.txt",
        "TOOLSETS": "memories",
        "TOOLS": "memory_get, memory_stats,",
        "EXCLUDE_TOOLS": "memory_delete",
        "READ_ONLY": "true",
        "ALLOW_SECRETS": "1",
        "NO_BACKUPS": "1",
        "NO_DIGESTS": "1",
        "TIME_ZONE": "Asia/Shanghai",
        "NO_LEARNING": "1",
        "NO_TOKEN_VECTORS": "1",
        "NO_EARLY_ANSWERS": "1",
        "HOOKS_OFF": "Stop,SessionEnd",
        "SCORE_SHARE": "0.25",
        "CLEANUP_DAYS": "30.5",
        "CLEANUP_FLOOR": "-10",
        "CLEANUP_KEEPS": "0",
        "HTTP": "8765",
        "HTTP_HOSTS": "memory.example.com, team",
        "HTTP_RATE": "60",
        "HTTP_PREFIX": "/team/memory/",
        "WORKERS": "3",
        "OAUTH_ISSUER": "https://login.example.com",
        "OAUTH_AUDIENCE": "https://memory.example.com/mcp",
        "OAUTH_PERSON": "email",
        "OAUTH_PROJECTS": "groups",
        "OAUTH_TENANT": "team",
        "TENANTS": "~/tenants.txt",
        "AUDIT": "/var/log/audit.log",
        "AUDIT_REQUIRED": "1",
        "LOG_LEVEL": "ERROR",
        "TRUST": "confirm",
        "ENGINE": "off",
        "ENGINE_IDLE": "5",
        "SESSION": "s1",
    }
    for name, value in given.items():
        monkeypatch.setenv(f"MEMORY_SERVER_{name}", value)
    settings = Settings()
    assert settings.db == Path("/data/a.db")
    assert settings.here.name == "env"
    assert settings.tools == ("memory_get", "memory_stats")
    assert settings.exclude_tools == ("memory_delete",)
    assert settings.hooks_off == ("Stop", "SessionEnd")
    assert (settings.read_only, settings.allow_secrets, settings.no_digests) == (True, True, True)
    assert settings.no_learning
    assert settings.trust == "confirm"
    assert settings.no_token_vectors
    assert settings.no_early_answers
    assert (settings.engine, settings.engine_idle) == ("off", 5)
    assert (settings.embedder, settings.log_level, settings.session) == ("hashing", "ERROR", "s1")
    assert settings.embedder_url == "http://localhost:11434/v1"
    assert (settings.reranker, settings.reranker_seconds) == ("endpoint:some-model", 1.5)
    assert settings.reranker_url == "http://localhost:8080"
    assert settings.dictionary == Path.home() / "words.txt"
    assert settings.stop_words == Path("/data/ignored.txt")
    assert (settings.score_share, settings.cleanup_days) == (0.25, 30.5)
    assert (settings.cleanup_floor, settings.cleanup_keeps) == (-10, 0)
    assert (settings.http_place, settings.http_rate) == (("127.0.0.1", 8765), 60)
    assert (settings.workers, settings.readers) == (3, 3)
    assert settings.http_prefix == "/team/memory"
    assert settings.http_hosts == ("memory.example.com", "team")
    assert settings.oauth_issuer == "https://login.example.com"
    assert settings.oauth_audience == "https://memory.example.com/mcp"
    assert (settings.oauth_person, settings.oauth_projects) == ("email", "groups")
    assert (settings.oauth_tenant, settings.tenants) == ("team", Path.home() / "tenants.txt")
    assert (settings.audit, settings.audit_required) == (Path("/var/log/audit.log"), True)
    assert set(given) == {name.upper() for name in Settings.model_fields}


@pytest.mark.parametrize(
    ("given", "place"),
    [
        ("8765", ("127.0.0.1", 8765)),
        (":8765", ("127.0.0.1", 8765)),
        ("0.0.0.0:80", ("0.0.0.0", 80)),
        ("localhost:0", ("localhost", 0)),
        ("[::1]:8765", ("::1", 8765)),
        ("memory.lan:8765", ("memory.lan", 8765)),
    ],
)
def test_a_place_to_listen_is_a_port_or_an_address_with_one(given: str, place: tuple[str, int]) -> None:
    assert Settings(http=given).http_place == place


@pytest.mark.parametrize("given", ["http://localhost:80", "localhost", "65536", "-1", "a b:80", "８０", ""])
def test_what_is_no_place_to_listen_is_refused(given: str) -> None:
    with pytest.raises(ValidationError, match="must be a port"):
        Settings(http=given)


def test_a_flag_wins_over_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORY_SERVER_PROJECT", "env")
    monkeypatch.setenv("MEMORY_SERVER_TOOLS", "memory_get")
    settings = Settings(project="flag", tools=("memory_stats",))
    assert (settings.here.name, settings.tools) == ("flag", ("memory_stats",))


def test_the_clients_own_variables_come_after_ours(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CLAUDE_PROJECT_DIR", str(tmp_path / "claude"))
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "theirs")
    settings = Settings()
    assert (settings.here.name, settings.session) == ("claude", "theirs")
    monkeypatch.setenv("MEMORY_SERVER_PROJECT", "ours")
    monkeypatch.setenv("MEMORY_SERVER_SESSION", "ours")
    settings = Settings()
    assert (settings.here.name, settings.session) == ("ours", "ours")


@pytest.mark.parametrize("value", ["", " "])
def test_an_empty_variable_is_as_good_as_none(
    monkeypatch: pytest.MonkeyPatch, value: str, own_folder: Path
) -> None:
    for name in ("DB", "PROJECT", "EMBEDDER", "TOOLS", "READ_ONLY", "LOG_LEVEL", "SESSION"):
        monkeypatch.setenv(f"MEMORY_SERVER_{name}", "")
    settings = Settings()
    assert settings.db.name == "memory.db"
    assert (settings.here.name, settings.embedder) == (own_folder.name, "auto")
    assert (settings.tools, settings.read_only, settings.log_level) == ((), False, "WARNING")
    assert settings.session is None


# The default project


def test_the_working_folder_names_the_project(own_folder: Path) -> None:
    assert Settings().here.name == own_folder.name


@pytest.mark.parametrize(
    ("given", "project"),
    [
        ("name", "name"),
        (" spaced ", "spaced"),
        ("项目", "项目"),
        ("/srv/apps/shop", "shop"),
        ("/srv/apps/shop/", "shop"),
        ("/srv/apps/../api", "api"),
        ("~/apps/shop", "shop"),
        ("~", ""),
        ("/", ""),
        ("", ""),
    ],
)
def test_a_project_is_a_name_or_the_name_of_a_folder(given: str, project: str) -> None:
    assert Settings(project=given).here.name == project


def test_the_home_folder_is_no_project(monkeypatch: pytest.MonkeyPatch) -> None:
    home = Path.home()
    assert Settings(project=str(home)).here.name == ""
    monkeypatch.setenv("CLAUDE_PROJECT_DIR", f"{home}/")
    assert Settings().here.name == ""
    monkeypatch.delenv("CLAUDE_PROJECT_DIR")
    monkeypatch.chdir(home)
    assert Settings().here.name == ""


@pytest.mark.anyio
async def test_memories_bear_the_default_project_or_none_if_told_so_and_the_session(server: Servers) -> None:
    server.env["CLAUDE_CODE_SESSION_ID"] = "session-7"
    async with server("--project", "/srv/apps/shop") as client:
        ids = [
            (await call(client, "memory_store", content=content, type="learning", **where))["id"]
            for content, where in (("a", {}), ("b", {"project": "other"}), ("c", {"project": ""}))
        ]
        memories = (await call(client, "memory_get", ids=ids))["memories"]
        assert [memory["project"] for memory in memories] == ["shop", "other", None]
    assert b"session-7" in server.db.read_bytes()


@pytest.mark.anyio
async def test_dates_in_words_are_in_the_time_zone_of_the_settings(server: Servers) -> None:
    days = set()
    async with server("--time-zone", "Pacific/Kiritimati") as client:
        days.add(datetime.now(ZoneInfo("Pacific/Kiritimati")).date())
        note = (await call(client, "memory_search", query="x", since="today"))["note"]
        reminded = await call(client, "remind", text="Call", when="tomorrow at 9")
        days.add(datetime.now(ZoneInfo("Pacific/Kiritimati")).date())
    assert any(f"since: `today` was read as {day} 00:00." in note for day in days)
    assert any(reminded["trigger"] == f"due(told, '{day + timedelta(days=1)}T09:00')" for day in days)


def test_a_time_zone_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValidationError, match="must be a time zone such as Europe/Berlin"):
        Settings(db=tmp_path / "x.db", time_zone="Berlin")


# Which tools are offered


@pytest.mark.parametrize(
    ("given", "names"),
    [
        ({}, ALL_TOOLS),
        ({"toolsets": "all"}, ALL_TOOLS),
        ({"toolsets": "memories"}, MEMORIES),
        ({"toolsets": "short_term"}, SHORT_TERM),
        ({"toolsets": "long_term"}, LONG_TERM),
        ({"read_only": True}, READING),
        ({"tools": "memory_stats,memory_get"}, ["memory_get", "memory_stats"]),
        ({"exclude_tools": "memory_delete, memory_update"}, [*ALL_TOOLS[:5], *ALL_TOOLS[7:]]),
        ({"read_only": True, "exclude_tools": "memory_stats"}, [*READING[:3], *READING[4:]]),
        ({"toolsets": "memories", "tools": "memory_get", "read_only": True}, ["memory_get"]),
    ],
)
def test_settings_narrow_the_tools(tmp_path: Path, given: dict[str, Any], names: list[str]) -> None:
    settings = Settings(db=tmp_path / "x.db", **given)
    tools = chosen(settings)
    assert [tool.name for tool in tools] == names


@pytest.mark.anyio
async def test_a_tool_that_is_not_offered_cannot_be_called_either(server: Servers) -> None:
    async with server("serve", "--tools", "memory_get") as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == ["memory_get"]
        result = await client.call_tool("memory_delete", {"id": 1})
        assert isinstance(result, CallToolResult)
        assert result.is_error


@pytest.mark.anyio
async def test_a_read_only_server_counts_no_access(server: Servers) -> None:
    _fill(server.db)
    async with server("--read-only") as client:
        (hit,) = (await call(client, "memory_search", query="Fact 12 is 144", limit=1))["results"]
        (memory,) = (await call(client, "memory_get", ids=[hit["id"]]))["memories"]
        assert memory["access_count"] == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--toolsets", "memory"], "No toolset `memory`. Did you mean `memories`?"),
        (["--tools", "memory_serch"], "No tool `memory_serch`. Did you mean `memory_search`?"),
        (
            ["--exclude-tools", "dream"],
            "No tool `dream`. There are: recall, forget, memory_store, memory_search",
        ),
        (
            ["--tools", "memory_store", "--read-only"],
            "The settings --toolsets, --tools, --exclude-tools and --read-only",
        ),
    ],
)
def test_tools_that_do_not_exist_are_refused_with_the_nearest_name(
    program: Program, arguments: list[str], message: str
) -> None:
    done = program("--db", "x.db", *arguments)
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith(f"memory-server: {message}")
    assert len(done.err.splitlines()) == 1
    assert not Path("x.db").exists()


# Wrong values


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--log-level", "LOUD"], "--log-level: 'LOUD' is unknown. There are: DEBUG, INFO, WARNING, ERROR."),
        (["--trust", "of"], "--trust: 'of' is unknown. Did you mean `off`? There are: off, mark, confirm."),
        (["--embedder", "word2vec"], "--embedder: must be auto, bundled,"),
        (["--embedder", "sentence-transformers:"], "--embedder: must be"),
        (["--embedder", "openai:"], "--embedder: must be"),
        (["--embedder-url", "localhost:11434/v1"], "--embedder-url: must be an address such as"),
        (["--embedder-url", "ftp://host/v1"], "--embedder-url: must be"),
        (["--embedder-url", "http://"], "--embedder-url: must be"),
        (["--embedder-url", "http://host:99999/v1"], "--embedder-url: must be"),
        (["--reranker", "openai"], "--reranker: must be sentence-transformers:PATH"),
        (["--reranker", "sentence-transformers:"], "--reranker"),
        (
            ["--reranker-url", "localhost:8080"],
            "--reranker-url: must be an address such as http://localhost:8080",
        ),
        (["--reranker-seconds", "0"], "--reranker-seconds: '0' is not a number above 0, up to 15."),
        (["--reranker-seconds", "16"], "--reranker-seconds: '16' is not a number above 0, up to 15."),
        (["--workers", "1.5"], "--workers: '1.5' is not a whole number from 1 to 64."),
        (["--http-rate", "0"], "--http-rate: '0' is not a whole number from 1 to 1,000,000."),
        (["--score-share", "7"], "--score-share: '7' is not a number from 0 to 1."),
        (["--cleanup-floor", "low"], "--cleanup-floor: 'low' is not a number."),
        (
            ["--hooks-off", "Stoop"],
            "--hooks-off: 'Stoop' is unknown. There are: SessionStart, UserPromptSubmit,",
        ),
    ],
)
def test_a_wrong_value_is_said_in_one_line(program: Program, arguments: list[str], message: str) -> None:
    done = program(*arguments)
    assert (done.code, done.out) == (2, "")
    (line,) = done.err.splitlines()
    assert line.startswith("memory-server: ")
    assert message in line
    assert repr(arguments[1]) in line


@pytest.mark.parametrize("arguments", [["--colour"], ["remember"], ["--db"], ["show"], ["--read-only=maybe"]])
def test_unknown_arguments_exit_with_two_and_say_how_it_is_meant(
    program: Program, arguments: list[str]
) -> None:
    done = program(*arguments)
    assert (done.code, done.out) == (2, "")
    assert "usage: memory-server" in done.err
    assert "Traceback" not in done.err


def test_a_wrong_variable_is_named(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORY_SERVER_LOG_LEVEL", "LOUD")
    monkeypatch.setenv("MEMORY_SERVER_READ_ONLY", "perhaps")
    monkeypatch.setenv("MEMORY_SERVER_ENGINE", "x")
    done = program("--engine", "y")
    assert done.code == 2
    assert done.err.splitlines() == [
        "memory-server: MEMORY_SERVER_READ_ONLY: 'perhaps' is neither true nor false.",
        "memory-server: --engine: 'y' is unknown. There are: auto, off.",
        "memory-server: MEMORY_SERVER_LOG_LEVEL: 'LOUD' is unknown. There are: DEBUG, INFO, WARNING, ERROR.",
    ]


def test_a_wrong_value_is_said_in_chinese(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANG", "zh_CN.UTF-8")
    done = program("--trust", "maybe", "--workers", "x", "--reranker", "endpoint")
    assert done.err.splitlines() == [
        "memory-server：此重排序模型需要 --reranker-url：一个地址，例如 http://localhost:8080。",
        "memory-server：--trust：'maybe' 无法识别。可用的有：off、mark、confirm。",
        "memory-server：--workers：'x' 不是 1 到 64 之间的整数。",
    ]


def test_the_case_of_a_level_and_of_a_hook_does_not_matter() -> None:
    settings = Settings(log_level="debug", hooks_off="sessionstart, ALL")  # type: ignore[arg-type]
    assert (settings.log_level, settings.hooks_off) == ("DEBUG", ("SessionStart", "all"))


def test_every_event_has_a_name_that_switches_its_hook_off() -> None:
    assert set(flags.HOOKS) == set(Name)


def test_the_doctor_names_a_variable_that_is_no_setting(
    program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    for name in ("TIMEZONE", "EMBEDDER_KEY", "ZZZ"):
        monkeypatch.setenv(f"MEMORY_SERVER_{name}", "x")
    done = program("doctor")
    assert done.code == 1
    assert [line.strip() for line in done.out.splitlines()[-3:]] == [
        "problems  2",
        "the variable MEMORY_SERVER_TIMEZONE is no setting. Did you mean `MEMORY_SERVER_TIME_ZONE`?",
        "the variable MEMORY_SERVER_ZZZ is no setting.",
    ]


# Which embedder


def test_a_file_whose_embedder_is_not_installed_says_how_to_install_it_or_to_use_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    theirs = Space("sentence-transformers", "some/model", "", 384, "", "", "", False, False, "sha256")
    with pytest.raises(Unavailable, match="some/model") as refused:
        embedders.load(theirs, Settings())
    assert [hint.mend for hint in refused.value.problem.hints] == [Mend.INSTALL_EXTRA, Mend.USE_SAME_EMBEDDER]


@pytest.mark.parametrize(
    "given",
    [
        "http://localhost:11434/v1",
        "http://localhost:11434/v1/",
        "http://localhost:11434/v1/embeddings",
        " http://localhost:11434/v1/embeddings/ ",
    ],
)
def test_the_address_of_an_endpoint_is_taken_as_people_give_it(given: str) -> None:
    assert Settings(embedder_url=given).embedder_url == "http://localhost:11434/v1"


@pytest.mark.parametrize(
    ("url", "own", "openais", "key"),
    [
        ("https://api.openai.com/v1", None, "sk-openai", "sk-openai"),
        ("https://eu.api.openai.com/v1", None, "sk-openai", "sk-openai"),
        ("https://API.OpenAI.com/v1", " sk-own ", "sk-openai", "sk-own"),
        ("https://api.openai.com.evil.example/v1", None, "sk-openai", None),
        ("https://notapi.openai.com/v1", None, "sk-openai", None),
        ("http://localhost:11434/v1", None, "sk-openai", None),
        ("http://localhost:11434/v1", "sk-own", "sk-openai", "sk-own"),
        ("https://api.openai.com/v1", "", " ", None),
    ],
)
def test_the_key_for_openai_goes_to_openai_alone(
    monkeypatch: pytest.MonkeyPatch, url: str, own: str | None, openais: str, key: str | None
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", openais)
    if own is not None:
        monkeypatch.setenv("MEMORY_SERVER_EMBEDDER_KEY", own)
    settings = Settings(embedder_url=url)
    assert settings.embedder_key == key
    assert "sk-" not in repr(settings)


def test_a_re_ranker_behind_an_endpoint_needs_its_address(program: Program) -> None:
    done = program("--reranker", "endpoint:some-model", "doctor")
    assert done.code == 2
    needed = "is needed for this re-ranker: an address such as http://localhost:8080."
    assert done.err == f"memory-server: --reranker-url {needed}\n"
    given = Settings(reranker="endpoint", reranker_url=" http://localhost:8080/rerank/ ")
    assert given.reranker_url == "http://localhost:8080"


def test_a_key_is_no_flag(program: Program) -> None:
    assert "unknown flag --embedder-key" in program("--embedder-key", "sk-own").err
    assert "unknown flag --reranker-key" in program("--reranker-key", "sk-own").err


def test_openai_without_a_key_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(Unavailable, match="needs a key") as refused:
        embedders.choose(Settings(embedder="openai:text-embedding-3-small"), [])
    assert refused.value.problem.hints == (Hint(Mend.SET_ENDPOINT_KEY),)


@pytest.mark.parametrize("embedder", ["auto", "bundled", "hashing", "sentence-transformers:some/model"])
def test_an_endpoint_is_asked_only_where_the_settings_name_one(embedder: str) -> None:
    """Though the file uses it: another window was told to, this one was not."""
    theirs = Space("openai", "some-model", "", 384, "", "", "", False, False, "sha256")
    with local_endpoint() as local:
        settings = Settings(embedder=embedder, embedder_url=local.url)
        with pytest.raises(Unavailable, match="no text leaves this machine") as refused:
            embedders.load(theirs, settings)
        assert refused.value.problem.hints == (Hint(Mend.NAME_ENDPOINT_MODEL, {"model": "some-model"}),)
        if embedder == "auto":
            with pytest.raises(Unavailable, match="no text leaves this machine"):
                embedders.choose(settings, [theirs])
        assert local.asked == []
        assert (
            embedders.load(theirs, Settings(embedder="openai:other", embedder_url=local.url)).space == theirs
        )


# Where the database is


def test_the_default_database_is_in_the_users_data_folder_for_the_user_alone(
    server: Servers, tmp_path: Path
) -> None:
    data = tmp_path / "fresh" / "share"
    done = initialized(server, XDG_DATA_HOME=str(data))
    assert (done.code, done.err) == (0, "")
    file = data / "memory-server" / "memory.db"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


def test_the_database_flag_wins_over_the_variable(server: Servers, tmp_path: Path) -> None:
    flag, variable = tmp_path / "flag.db", tmp_path / "variable.db"
    initialized(server, MEMORY_SERVER_DB=str(variable))
    assert variable.exists()
    initialized(server, "--db", str(flag), MEMORY_SERVER_DB=str(variable))
    assert flag.exists()


def test_a_tilde_in_the_path_is_the_home_folder(server: Servers) -> None:
    """Configuration files hand it on as it is: no shell expands it."""
    initialized(server, "--db", "~/tilde.db")
    assert (Path.home() / "tilde.db").exists()
    assert not Path("~").exists()


# Commands


def test_the_version_is_printed(program: Program) -> None:
    done = program("--version")
    assert (done.code, done.out.strip()) == (0, f"memory-server {__version__}")


def test_the_help_names_every_command_and_that_of_serve_every_setting(program: Program) -> None:
    done = program("--help")
    assert done.code == 0
    for command in ("serve", "demo", "doctor", "backup", "projects"):
        assert f"\n  {command} " in done.out
    served = program("serve", "--help").out
    for name in Settings.model_fields:
        assert f"--{name.replace('_', '-')}" in served


def _ask(db: Path, tool: str, **arguments: Any) -> Any:
    """Call a tool in this process, and close the file again."""
    built = app.build(Settings(db=db, embedder="hashing"))
    (method,) = (each.fn for each in toolsets(built)["memories"] if each.name == tool)
    try:
        return method(**arguments)
    finally:
        built.close(-1)


def _fill(db: Path) -> None:
    for i in range(20):
        _ask(db, "memory_store", content=f"Fact {i} is {i * i}", type=MemoryType.LEARNING, caller=Caller())


def test_the_doctor_says_what_is_at_work(server: Servers, program: Program) -> None:
    _fill(server.db)
    done = program("doctor", "--db", str(server.db), "--embedder", "hashing")
    assert (done.code, done.err) == (0, "")
    facts = dict(line.split(maxsplit=1) for line in done.out.splitlines())
    assert facts["database"] == f"{server.db} ({server.db.stat().st_size:,} bytes)"
    assert (facts["tools"], facts["problems"]) == ("33", "none")
    assert facts["embedder"].startswith("hashing:")


def test_the_doctor_fails_on_a_file_that_is_no_database(program: Program, tmp_path: Path) -> None:
    path = tmp_path / "letter.txt"
    path.write_text("Dear reader, " * 100)
    done = program("doctor", "--db", str(path))
    assert done.code == 1
    assert f"The file {path} is not a SQLite database. It was left as it is." in " ".join(done.out.split())
    assert path.read_text() == "Dear reader, " * 100


def test_a_backup_is_a_whole_database_of_its_users_alone(
    server: Servers, program: Program, tmp_path: Path
) -> None:
    _fill(server.db)
    target = tmp_path / "copy.db"
    done = program("backup", str(target), "--db", str(server.db))
    assert (done.code, done.err) == (0, "")
    assert done.out == f"{target}: {target.stat().st_size:,} bytes, checked\n"
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert damage(target) == []
    assert [path.name for path in target.parent.glob("copy*")] == ["copy.db"]
    assert _ask(target, "memory_get", ids=[1, 20, 21]).missing == [21]


def test_a_backup_of_nothing_is_an_error_and_makes_no_file(program: Program, tmp_path: Path) -> None:
    done = program("backup", str(tmp_path / "copy.db"), "--db", str(tmp_path / "missing.db"))
    assert done.code == 1
    assert str(tmp_path / "missing.db") in done.err
    assert list(tmp_path.glob("*.db")) == []


def test_a_backup_replaces_an_older_backup_but_nothing_else(
    server: Servers, program: Program, tmp_path: Path
) -> None:
    """`memory-server backup same.db` in a nightly job works; a mistyped path destroys no other file."""
    _fill(server.db)
    older, letter = tmp_path / "copy.db", tmp_path / "letter.txt"
    letter.write_text("Dear reader")
    for _ in range(2):
        assert program("backup", str(older), "--db", str(server.db)).code == 0
    for target in (letter, server.db, tmp_path / "missing" / "copy.db"):
        done = program("backup", str(target), "--db", str(server.db))
        assert done.code == 1, target
        assert str(target) in done.err
        assert len(done.err.splitlines()) == 1
    assert letter.read_text() == "Dear reader"
    assert damage(server.db) == []
    assert list(tmp_path.glob("*.tmp")) == []


def test_the_doctor_finds_nothing_wrong_before_the_first_start(
    program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.delenv("MEMORY_SERVER_DB", raising=False)
    done = program("doctor")
    assert (done.code, done.err) == (0, "")
    assert "memory.db (the first assistant creates it)\nproblems  none\n" in done.out
    assert list(tmp_path.rglob("*.db")) == []


def test_the_doctor_makes_no_database(program: Program, tmp_path: Path) -> None:
    done = program("doctor", "--db", str(tmp_path / "typo.db"))
    assert done.code == 1
    assert "There is no database" in done.err
    assert list(tmp_path.glob("typo.db*")) == []


def test_the_doctor_sees_a_missing_trigger_and_rows_without_words(
    server: Servers, program: Program, sqlite: Sqlite
) -> None:
    _fill(server.db)
    sqlite(
        server.db,
        "DROP TRIGGER memories_inserted",
        "INSERT INTO memories (content, type) VALUES ('unseen', 'error')",
    )
    done = program("doctor", "--db", str(server.db), "--embedder", "hashing")
    assert done.code == 1
    assert done.out.splitlines()[-3:] == [
        "problems    2",
        "  trigger memories_inserted on memories is missing",
        "  1 memories are not in the word index",
    ]


def test_an_unknown_flag_is_refused_with_the_nearest_one(program: Program) -> None:
    done = program("--databse", "x.db")
    assert done.code == 2
    assert "unknown flag --databse" in done.err


def test_hooks_know_every_switch_of_the_server() -> None:
    """A switch that a hook took for a flag with a value would take the next flag for that value."""
    switches = {
        f"--{name.replace('_', '-')}"
        for name, field in Settings.model_fields.items()
        if field.annotation is bool
    }
    assert {"--read-only", "--no-digests"} <= switches
    for switch in switches:
        assert hook_settings.read([switch, "--db", "here.db"], {}).db == Path("here.db"), switch
