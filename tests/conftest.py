"""What tests share: a clock, databases checked afterwards, the real server, the stock sqlite3 program."""

import gc
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import anyio
import apsw
import hypothesis
import pytest
from hypothesis import HealthCheck
from mcp import Client
from mcp.client.session import ElicitationFnT
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp_types import CallToolResult, Implementation

from memory_server import stores
from memory_server.embedding import Embedder
from memory_server.embedding.hashing import HashingEmbedder
from memory_server.nlp import compat, jieba
from memory_server.nlp.jieba import JiebaSegmenter
from memory_server.services.embedding_queue import EmbeddingQueue
from memory_server.sqlite.database import Database
from memory_server.sqlite.transaction import Transaction
from memory_server.storage.database import Database as AnyDatabase
from memory_server.where import Postgres, Where
from tests import postgres_server, warm

# A busy machine is no fault of a test, and the examples of a test may share its fixtures.
hypothesis.settings.register_profile(
    "patient",
    hypothesis.settings(),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
hypothesis.settings.load_profile("patient")

ROOT = Path(__file__).resolve().parents[1]
ERAS = ("legacy", "2026-07-28")
"""The two wire eras: `initialize` and `server/discover`."""

PATIENCE = 20.0
"""Seconds until a condition that should soon be true counts as never true."""

LONGEST_PAUSE = 0.05
"""Seconds between two looks whether it is true, at most."""

LONGEST = (
    "test_torture.py",
    "web/test_pages.py",
    "exchange/test_copy.py",
    "exchange/test_move.py",
    "services/test_graph.py",
    "web/test_changing.py",
    "test_docs.py",
    "http/test_readers.py",
    "hook/test_prompt.py",
    "rights/test_matrix.py",
    "test_demo.py",
    "test_processes.py",
    "engine/test_engine.py",
    "engine/test_process.py",
    "exchange/test_again.py",
    "engine/test_terminal.py",
    "engine/test_rules.py",
    "exchange/test_rules.py",
    "mcp/test_early.py",
    "services/test_retrieval.py",
    "services/test_endpoint.py",
    "services/test_short_term.py",
    "triggers/test_hostile_more.py",
    "embedding/test_contract.py",
    "triggers/test_hostile.py",
    "sqlite/test_upgrade.py",
    "embedding/test_openai.py",
    "http/test_leaks.py",
    "storage/test_replay.py",
    "hook/test_keeping.py",
    "hook/test_learning.py",
    "services/test_hanging_triggers.py",
    "http/test_rights.py",
    "exchange/test_commands.py",
    "bench/test_run.py",
)
"""The files of tests that take longest, longest first."""

STORES = ("sqlite", pytest.param("postgres", marks=pytest.mark.second_store))
"""The stores of a test that runs on both."""

ALL_ON_BOTH = bool(os.environ.get("BOTH_STORES"))
"""Whether every test that can runs on both stores, not only those marked `both_stores`."""

WITH_ENGINE = bool(os.environ.get("WITH_ENGINE"))
"""Whether the servers of all tests are engines, not only those of `tests/engine`."""

SmallDisk = Callable[[int], Path]

Sqlite = Callable[..., str]


@dataclass
class Clock:
    """Time that moves only when a test says so. `clock()` is the moment, `advance(days=1)` moves it."""

    now: datetime = datetime(2026, 3, 14, 9, 26, 53, 589000, UTC)

    def __call__(self) -> datetime:
        return self.now

    def advance(self, **by: float) -> None:
        self.now += timedelta(**by)


def two_days_later(database: AnyDatabase, clock: Clock) -> None:
    """A server runs on the next two days: what was old two days ago can be removed by its age."""
    for _ in range(2):
        clock.advance(days=1)
        with database.write() as tx:
            tx.server_days.mark()


LOOKS_INSIDE = "it looks into a file of SQLite"


class LooksInsideError(Exception):
    """A test looks into a file of SQLite: it is left out on another store. No `Skipped`, which ends event loops."""


class Process(subprocess.Popen[bytes]):
    """A process that ends with its block: at once where the test fails, else when it has seen the end of its input.

    A `Popen` would wait without end, for the process or for a thread of the test that reads its output.
    """

    def __exit__(self, kind: type[BaseException] | None, *rest: Any) -> None:
        if kind is not None:
            self.kill()
        elif self.stdin is not None:
            with suppress(BrokenPipeError):
                self.stdin.close()
        try:
            self.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.kill()
            self.wait()
        super().__exit__(kind, *rest)


@dataclass
class Servers:
    """Starts the real server as a separate process, on an empty memory unless told otherwise, with hashed vectors.

    A file is there, without rows; a test of what makes a file removes it first.

    async with server() as client: ...                  # the newest era, on memory.db
    async with server("--read-only", mode="legacy", name="Cursor") as client: ...
    """

    folder: Path
    env: dict[str, str]
    store: str = "sqlite"
    place: Where = field(init=False)
    """Where the memory is."""
    log: Path = field(init=False)
    """What the servers of this test wrote to standard error."""
    waits: bool = True
    """Whether a client is connected only when the server itself answers, not when early answers have done."""
    cold: bool = False
    """Whether `process` starts the program as users do, not warm."""

    def __post_init__(self) -> None:
        self.place = new_place(self.store, self.folder)
        self.log = self.folder / "server.log"

    @property
    def db(self) -> Path:
        """The file. A test that asks for it is left out on another store."""
        if isinstance(self.place, Postgres):
            raise LooksInsideError
        return self.place

    @db.setter
    def db(self, path: Path) -> None:
        self.place = path

    @property
    def given(self) -> str:
        """What `--db` gets."""
        return self.place.given if isinstance(self.place, Postgres) else str(self.place)

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """What a statement gives that both stores understand; read by this process, beside the servers."""
        database: Any = stores.at(self.place, Clock())
        with database.read() as tx:
            found: list[tuple[Any, ...]] = tx.rows(sql)
        database.close()
        return found

    def command(self, *arguments: str) -> list[str]:
        """The command line as users start it; a `--db` or `--embedder` among the arguments overrides the tests' own."""
        return warm.cold(*self._arguments(arguments))

    def program(self, *arguments: str) -> list[str]:
        """The same command, started warm."""
        return warm.program(*self._arguments(arguments))

    def _arguments(self, arguments: Sequence[str]) -> list[str]:
        return ["--db", self.given, "--embedder", "hashing", *arguments]

    def __call__(
        self,
        *arguments: str,
        mode: str = "auto",
        name: str = "tests",
        pid: Path | None = None,
        cwd: Path | None = None,
        answers: ElicitationFnT | None = None,
    ) -> AbstractAsyncContextManager[Client]:
        """A connected official client; `pid` is a file that will hold the server's process id, `cwd` its folder.

        `answers` is how its user answers questions; without it, it declares none."""
        start = warm.program if pid is None and self._may_fork else warm.cold
        command = start(*self._arguments(arguments))
        return self._connected(command, mode, name, pid, cwd or self.folder, answers)

    @property
    def _may_fork(self) -> bool:
        """Whether the environment tells Python nothing that it reads when it starts."""
        told = {name: value for name, value in self.env.items() if name.startswith("PYTHON")}
        return told in ({"PYTHONPATH": str(ROOT)}, {"PYTHONPATH": warm.ENGINES})

    @asynccontextmanager
    async def _connected(
        self,
        command: list[str],
        mode: str,
        name: str,
        pid: Path | None,
        cwd: Path,
        answers: ElicitationFnT | None,
    ) -> AsyncIterator[Client]:
        if pid is not None:
            command = ["/bin/sh", "-c", 'echo $$ > "$0"; exec "$@"', str(pid), *command]
        parameters = StdioServerParameters(command=command[0], args=command[1:], env=self.env, cwd=cwd)
        info = Implementation(name=name, version="1")
        with self.log.open("a", encoding="utf-8") as log:
            async with Client(
                stdio_client(parameters, errlog=log), mode=mode, client_info=info, read_timeout_seconds=60,
                elicitation_callback=answers,
            ) as client:  # fmt: skip
                if self.waits:
                    await client.list_prompts()
                yield client

    def process(self, *arguments: str, **options: Any) -> Process:
        """The bare process, with pipes on all three streams unless told otherwise; the caller ends it."""
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        start = warm.program if self._may_fork and not self.cold else warm.cold
        return Process(
            start(*self._arguments(arguments)),
            env={**os.environ, **self.env},
            **{"cwd": self.folder, **pipes, **options},
        )


async def call(client: Client, tool: str, /, **arguments: Any) -> dict[str, Any]:
    """The facts that a tool answers; fails the test when it answers an error."""
    result = await client.call_tool(tool, arguments)
    assert isinstance(result, CallToolResult)
    assert not result.is_error, result.content
    facts: dict[str, Any] | None = result.structured_content
    assert facts is not None
    return facts


def rounds(number: int) -> int:
    """So many random examples, times `ROUNDS` of the environment: for a long run by hand."""
    return number * int(os.environ.get("ROUNDS", "1"))


def until(condition: Callable[[], object], what: str, seconds: float = PATIENCE) -> None:
    """Wait until `condition()` is true; fail, naming `what`, when it never is. It looks ever less often: what it waits
    for needs the processor more."""
    deadline, pause = time.monotonic() + seconds, 0.005
    while not condition():
        if time.monotonic() > deadline:
            pytest.fail(f"waited {seconds} seconds in vain until {what}")
        time.sleep(pause)
        pause = min(1.5 * pause, LONGEST_PAUSE)


async def eventually(condition: Callable[[], Any], what: str, seconds: float = PATIENCE) -> None:
    """`until` for a condition that is awaited."""
    deadline, pause = time.monotonic() + seconds, 0.02
    while not await condition():
        if time.monotonic() > deadline:
            pytest.fail(f"waited {seconds} seconds in vain until {what}")
        await anyio.sleep(pause)
        pause = min(1.5 * pause, LONGEST_PAUSE)


@contextmanager
def undone(database: Database) -> Iterator[Transaction]:
    """A write that leaves no trace, so that one database serves many examples of a property."""

    class Undo(Exception):
        pass

    try:
        with database.write() as tx:
            yield tx
            raise Undo
    except Undo:
        pass


class Holder:
    """Another process with the file open and a transaction that `sql` began; leaving the block ends it."""

    def __init__(self, path: Path, sql: str) -> None:
        # SQLite does not wait with a lock for reading while another process is about to write: try again.
        program = """if True:
            import apsw, sys
            connection = apsw.Connection(sys.argv[1])
            connection.set_busy_timeout(9000)
            for _ in range(100):
                try:
                    connection.execute("BEGIN")
                    connection.execute(sys.argv[2]).fetchall()
                    break
                except apsw.BusyError:
                    connection.execute("ROLLBACK")
            print("held", flush=True)
            sys.stdin.read()
        """
        self.process = subprocess.Popen(
            [sys.executable, "-c", program, str(path), sql], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )

    def __enter__(self) -> "Holder":
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == b"held\n"
        return self

    def __exit__(self, *_: object) -> None:
        self.process.communicate(timeout=20)


class InMemory(Database):
    """A database in memory that begins as a copy of a migrated one: to migrate an empty one anew takes .05 s."""

    def __init__(self, clock: Callable[[], datetime]) -> None:
        super().__init__(None, clock)
        self.open()

    def _connect(self, vfs: str | None = None) -> apsw.Connection:
        connection = super()._connect(vfs)
        with connection.backup("main", _migrated(), "main") as copying:
            copying.step()
        return connection


@cache
def _migrated() -> apsw.Connection:
    """An empty database of the newest schema, migrated by the product itself."""
    database = Database(None, Clock())
    with database.write() as tx:
        return tx.connection


def new_place(store: str, folder: Path) -> Where:
    """An empty tenant, or the file memory.db of a folder: made without rows where it is missing."""
    if store == "postgres":
        return postgres_server.new_place()
    path = folder / "memory.db"
    if not path.exists():
        lay_empty_file(path)
    return path


def lay_empty_file(path: Path) -> None:
    """Make a file of the newest schema without rows: a hundredth of what it takes to migrate one."""
    path.touch(mode=0o600)
    path.write_bytes(_empty_file())


@cache
def _empty_file() -> bytes:
    return _migrated().serialize("main")


def problems(database: Database) -> list[str]:
    """What `doctor` would find wrong with the file."""
    with database.read() as tx:
        return tx.health.problems()


def file_of(database: AnyDatabase) -> Database:
    """The SQLite file behind a service, whose tables a test reads or edits itself: elsewhere the test is left out."""
    if not isinstance(database, Database):
        raise LooksInsideError
    return database


def damage(path: Path) -> list[str]:
    """What SQLite finds wrong with a file that no database of this process has open."""
    connection = apsw.Connection(str(path))
    try:
        found = [str(row[0]) for row in connection.execute("PRAGMA integrity_check") if row[0] != "ok"]
        return found + [f"foreign key: {row}" for row in connection.execute("PRAGMA foreign_key_check")]
    finally:
        connection.close()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Half as many again as there are cores: tests wait a third of their time for the processes that they start."""
    return max(1, len(os.sched_getaffinity(0)) * 3 // 2) if hasattr(os, "sched_getaffinity") else 3


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """What is marked `both_stores` runs on both; with `BOTH_STORES` in the environment all that has a store."""
    wanted = ALL_ON_BOTH or metafunc.definition.get_closest_marker("both_stores")
    if wanted and "store" in metafunc.fixturenames:
        metafunc.parametrize("store", STORES, indirect=True, scope="session")


@contextmanager
def _left_out() -> Iterator[None]:
    """Skip what looks into a file that is not there; of several failures at once, all must be that."""
    try:
        yield
    except LooksInsideError:
        pytest.skip(LOOKS_INSIDE)
    except BaseExceptionGroup as several:
        if several.split(LooksInsideError)[1] is not None:
            raise
        pytest.skip(LOOKS_INSIDE)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup() -> Iterator[None]:
    with _left_out():
        yield


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call() -> Iterator[None]:
    with _left_out():
        yield


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The files that take longest come first: one that begins last would keep one process busy alone."""
    place = {ROOT / "tests" / name: number for number, name in enumerate(LONGEST)}
    items.sort(key=lambda item: place.get(item.path, len(place)))


def pytest_collection() -> None:
    """No search for garbage while tests are imported and collected: it finds none, and takes half of the time."""
    gc.disable()


def pytest_collection_finish() -> None:
    """What was imported and collected stays: no search for garbage walks through it again."""
    gc.freeze()
    gc.enable()


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """`@pytest.mark.anyio` runs a coroutine test on asyncio."""
    return "asyncio"


@pytest.fixture(scope="session", autouse=True)
def user_folders(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The guard: home, data and cache folders of every test and its processes are temporary ones.

    Answers them as environment variables. Settings of the developer's own shell are taken away, and its language.
    """
    home = tmp_path_factory.mktemp("home")
    names = ("HOME", "USERPROFILE", "LOCALAPPDATA", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME")
    folders = {name: str(home if name in names[:2] else home / name.lower()) for name in names}
    # Its name is short, whatever TMPDIR says: it goes into the path of a socket.
    runtime = tempfile.mkdtemp(prefix="ms-", dir=None if os.name == "nt" else "/tmp")
    folders["XDG_RUNTIME_DIR"] = runtime
    folders["MEMORY_SERVER_ENGINE"] = "auto" if WITH_ENGINE else "off"
    folders["MEMORY_SERVER_ENGINE_IDLE"] = "0.5"
    with pytest.MonkeyPatch.context() as patch:
        for name in list(os.environ):
            if name.startswith(("MEMORY_SERVER_", "CLAUDE_", "LC_", "LANGUAGE")):
                patch.delenv(name)
        patch.setenv("LANG", "C.UTF-8")
        for name, folder in folders.items():
            patch.setenv(name, folder)
        yield folders
        warm.end()
    shutil.rmtree(runtime, ignore_errors=True)


@pytest.fixture
def clock() -> Clock:
    """A fixed clock."""
    return Clock()


@pytest.fixture
def embedder() -> Embedder:
    """Hashed spelling: deterministic and at once."""
    return HashingEmbedder()


@pytest.fixture(scope="session", autouse=True)
def dictionary() -> Iterator[None]:
    """The Chinese dictionary is loaded once, whoever needs it: that takes .5 s."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jieba, "load_tokenizer", cache(compat.load_tokenizer))
        yield


@pytest.fixture(scope="session")
def segmenter(tmp_path_factory: pytest.TempPathFactory) -> JiebaSegmenter:
    """jieba, loaded once."""
    segmenter = JiebaSegmenter(tmp_path_factory.mktemp("jieba"))
    segmenter.load()
    return segmenter


@pytest.fixture
def database(clock: Clock) -> Iterator[Database]:
    """A migrated database in memory; whole afterwards, or the test fails."""
    database = InMemory(clock)
    yield database
    assert problems(database) == []
    database.close()


@pytest.fixture
def file_database(tmp_path: Path, clock: Clock) -> Iterator[Database]:
    """A migrated database in `tmp_path / "memory.db"`; closed and whole afterwards, or the test fails."""
    path = tmp_path / "memory.db"
    lay_empty_file(path)
    database = Database(path, clock)
    database.open()
    yield database
    database.close()
    assert damage(path) == []


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[SmallDisk]:
    """`small_disk(900)` is the folder of a real disk of 900 kB."""
    mounted: list[Path] = []

    def mount(kilobytes: int) -> Path:
        disk = tmp_path / f"disk {len(mounted)}"
        disk.mkdir()
        command = ["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", str(disk)]
        if not shutil.which("mount") or os.geteuid() or subprocess.run(command, check=False).returncode:
            pytest.skip("mounting a small disk needs root")
        mounted.append(disk)
        return disk

    yield mount
    for disk in mounted:
        subprocess.run(["umount", str(disk)], check=True)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A working tree whose config.py names the port."""
    folder = tmp_path / "shop"
    folder.mkdir()
    (folder / "config.py").write_text("DEBUG = False\nSTAGING_PORT = 5433\n")
    for arguments in (["init", "-q"], ["add", "."]):
        subprocess.run(["git", *arguments], cwd=folder, check=True)
    return folder


@pytest.fixture
def queue(database: Database, embedder: Embedder, clock: Clock) -> EmbeddingQueue:
    """The queue of `database`, ready and without a thread: what a service stores is embedded at once, what SQL inserts
    when `drain()` is called."""
    queue = EmbeddingQueue(database, lambda known: embedder, lambda space: embedder, clock)
    queue.work()
    return queue


@pytest.fixture(params=ERAS)
def era(request: pytest.FixtureRequest) -> str:
    """Runs a test once in each wire era: `async with server(mode=era) as client`."""
    return str(request.param)


@pytest.fixture(scope="session")
def store(request: pytest.FixtureRequest) -> str:
    """`sqlite`; also `postgres` where the test runs on both."""
    return str(getattr(request, "param", "sqlite"))


@pytest.fixture
def server(tmp_path: Path, user_folders: dict[str, str], store: str) -> Servers:
    """Starts real servers whose folders are this test's own; see `Servers`."""
    return Servers(tmp_path, {**user_folders, "PYTHONPATH": str(ROOT)}, store)


@pytest.fixture(scope="session")
def sqlite(store: str) -> Sqlite:
    """The stock program: `sqlite(path, "SELECT …", ".dump")` is what it prints; fails when it complains. A test that
    takes it is left out on another store."""
    if store != "sqlite":
        raise LooksInsideError
    program = shutil.which("sqlite3")
    if program is None:
        pytest.skip("the stock sqlite3 program is not installed")

    def run(path: Path, *commands: str, fails: bool = False) -> str:
        """`fails=True` expects a complaint and answers it."""
        done = subprocess.run(
            [program, "-batch", "-bail", "-cmd", ".timeout 20000", str(path), *commands],
            input="", capture_output=True, text=True, encoding="utf-8", errors="replace", check=False, timeout=60,
        )  # fmt: skip
        assert (done.returncode != 0) == fails, done.stderr or done.stdout
        return (done.stderr if fails else done.stdout).strip()

    return run


def as_rows(printed: str) -> list[dict[str, Any]]:
    """What the stock program prints after `.mode json`."""
    rows: list[dict[str, Any]] = json.loads(printed) if printed else []
    return rows
