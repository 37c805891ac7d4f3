"""Measures windows that share an engine, beside windows that each serve themselves (`--engine off`).

    python scripts/lab/bench/engine.py            3 rounds, in which each takes its turn
    python scripts/lab/bench/engine.py --quick    1 round
    python scripts/lab/bench/engine.py --write    also writes the figures into docs/performance.md

CPU time is that of the processes that a window needs, its engine too: all threads, user and system. Memory is
proportional: what processes share counts once (Pss). It needs Linux.
"""

import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median

sys.path[:0] = [str(Path(__file__).resolve().parents[up]) for up in (1, 3)]

import hooks  # noqa: E402
from quality import own  # noqa: E402
from quality.doors import memory_type  # noqa: E402
from quality.measures import FIRST, rank  # noqa: E402
from report import Report  # noqa: E402
from server import Server, cpu_seconds, note, ours, wait_until_embedded  # noqa: E402
from show.pages import ROOT  # noqa: E402

from memory_server.domain.moment import timestamp  # noqa: E402
from memory_server.front import running  # noqa: E402

ROUNDS = 3

WINDOWS = 5

IDLE = 30.0
"""Seconds in which nobody asks anything."""

SETTLED = 12.0
"""Seconds after which a process has given back what its start took."""

QUIET, LOOK = 0.005, 0.5
"""CPU seconds that processes use at most in so many seconds when nothing is left to do."""

LISTS = ("tools/list", "prompts/list", "resources/list", "resources/templates/list")

ENGLISH = "The gateway keeps connections open for ninety seconds"
CHINESE = "网关把连接保持九十秒，然后关闭它们"

Figures = Iterator[tuple[str, float]]
"""What is measured, and the figure."""

WAYS = {"each for itself": "off", "one engine": "auto"}


class Windows:
    """Windows of one database."""

    def __init__(self, folder: Path, way: str) -> None:
        self.db, self.way = folder / "memory.db", way
        self.servers: list[Server] = []

    def open(self) -> Server:
        server = Server(ours(self.db, "--engine", self.way))
        self.servers.append(server)
        return server

    @property
    def pids(self) -> list[int]:
        """The processes of the windows, with their engine and what it has started."""
        engines = [engine.pid for engine in running.of(self.db) if engine.pid is not None]
        assert bool(engines) == (self.way == "auto"), "an engine serves the windows"
        pids = [server.pid for server in self.servers] + engines
        threads = [thread for pid in pids for thread in Path(f"/proc/{pid}/task").glob("*/children")]
        return pids + [int(child) for thread in threads for child in thread.read_text().split()]

    @property
    def cpu(self) -> float:
        return sum(map(cpu_seconds, self.pids))

    @property
    def megabytes(self) -> float:
        return sum(map(_proportional, self.pids)) / 1e6

    def rest(self) -> None:
        """Wait until nothing is left to do in the background."""
        time.sleep(SETTLED)
        before = 0.0
        while (cpu := self.cpu) > before + QUIET:
            before = cpu
            time.sleep(LOOK)

    def close(self) -> None:
        for server in self.servers:
            server.close()
        for engine in running.of(self.db):
            running.stop(engine)


def _proportional(pid: int) -> int:
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return sum(1024 * int(line.split()[1]) for line in lines if line.startswith("Pss:"))


@contextmanager
def windows(way: str) -> Iterator[Windows]:
    """Windows of a new database; nothing was cached before. `PYTHONPATH`: an engine finds no program in the folder of
    its window.
    """
    with ExitStack() as stack:
        folder, runtime = (
            Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="ms-", dir=place)))
            for place in (None, "/tmp")
        )
        os.environ |= {
            "XDG_RUNTIME_DIR": str(runtime),
            "XDG_CACHE_HOME": str(folder / "cache"),
            "PYTHONPATH": str(ROOT),
        }
        shared = Windows(folder, way)
        stack.callback(shared.close)
        yield shared


def lists(way: str) -> Figures:
    with windows(way) as shared:
        for name in ("start to all lists, the first of all", "start to all lists, later"):
            server = shared.open()
            for method in LISTS:
                server.request(method, {})
            yield f"{name}: CPU of the window, ms", 1000 * server.cpu_seconds()
            server.call("memory_stats", {})


def second_window(way: str) -> Figures:
    """The first store and the first search of a window that opens beside another one."""
    for tool, arguments in (
        ("memory_store", {"content": ENGLISH, "type": "learning"}),
        ("memory_search", {"query": ENGLISH}),
    ):
        with windows(way) as shared:
            first = shared.open()
            first.call("memory_store", {"content": ENGLISH + " each", "type": "learning"})
            wait_until_embedded(first)
            first.call("memory_search", {"query": ENGLISH})
            shared.rest()
            before, began = shared.cpu, time.perf_counter()
            shared.open().call(tool, arguments)
            note(f"wall: {1000 * (time.perf_counter() - began):.0f} ms")
            yield f"second window, start to its first `{tool}`: CPU, ms", 1000 * (shared.cpu - before)


def memory(way: str) -> Figures:
    """What windows hold after some calls each, in English and then in Chinese, and what they use when nobody asks."""
    with windows(way) as shared:
        for language, text in (("English", ENGLISH), ("English and Chinese", CHINESE)):
            for number in range(WINDOWS):
                server = shared.servers[number] if len(shared.servers) == WINDOWS else shared.open()
                for again in range(3):
                    server.call("memory_store", {"content": f"{text} {number} {again}", "type": "learning"})
                    server.call("memory_search", {"query": text})
            shared.rest()
            yield f"{WINDOWS} windows, {language}: memory, MB", shared.megabytes
        before = shared.cpu
        time.sleep(IDLE)
        yield f"{WINDOWS} windows that nobody asks: CPU a minute, ms", 60_000 / IDLE * (shared.cpu - before)


def a_hook(way: str) -> Figures:
    with windows(way) as shared:
        shared.open().call("memory_store", {"content": ENGLISH, "type": "learning"})
        arguments = [
            "-m",
            "memory_server",
            "hook",
            "UserPromptSubmit",
            "--db",
            str(shared.db),
            "--engine",
            way,
        ]
        sent = {"cwd": str(shared.db.parent), "prompt": ENGLISH, "session_id": "s"}
        yield (
            "a hook before a prompt: CPU of its process, ms",
            1000
            * median(hooks.run(arguments, {**sent, "session_id": f"s{number}"})[0] for number in range(5)),
        )


def first_questions(way: str) -> Figures:
    """The held questions of the own set, as the first calls of the very first start on a file that is filled, and
    later.
    """
    ranks: dict[str, list[float]] = {"the first calls of the first start": [], "later": []}
    for store in own.stores(held=True):
        with windows(way) as shared:
            filling = shared.open()
            names: dict[int, list[str]] = {}
            for stored in store.memories:
                arguments = {
                    "content": stored.text,
                    "type": memory_type(stored).value,
                    "project": stored.project or "",
                }
                if stored.time:
                    arguments["occurred_at"] = timestamp(stored.time)
                names.setdefault(filling.call("memory_store", arguments)["id"], []).append(stored.id)
            wait_until_embedded(filling)
            shared.close()
            shared.servers.clear()
            os.environ["XDG_CACHE_HOME"] = str(shared.db.parent / "new cache")
            asking = shared.open()
            for when in ranks:
                for question in store.questions:
                    hits = asking.call("memory_search", {"query": question.text[:500], "limit": FIRST})[
                        "results"
                    ]
                    found = [names[hit["id"]] for hit in hits]
                    places = [rank(found, piece) for piece in question.gold]
                    ranks[when].append(sum(place is not None for place in places) / len(places))
    for when, shares in ranks.items():
        yield f"own questions, {when}: recall at 10", sum(shares) / len(shares)


PARTS: tuple[Callable[[str], Figures], ...] = (
    lists,
    second_window,
    a_hook,
    memory,
    first_questions,
)
ONCE = (memory, first_questions)


def main() -> None:
    report = Report(__file__, quick="1 round")
    os.environ["MEMORY_SERVER_PROJECT"] = ""
    figures: dict[str, dict[str, list[float]]] = {}
    for part in PARTS:
        for _ in range(1 if report.quick or part in ONCE else ROUNDS):
            for name, way in WAYS.items():
                for what, figure in part(way):
                    note(f"{what}, {name}: {figure:.2f}")
                    figures.setdefault(what, {}).setdefault(name, []).append(figure)
    report.publish(("median", *WAYS, "of that"), map(_row, figures, figures.values()))


def _row(what: str, by_way: dict[str, list[float]]) -> tuple[str, ...]:
    alone, shared = (median(by_way[name]) for name in WAYS)
    shown = [f"{figure:.2f}" if figure <= 1 else f"{figure:,.0f}" for figure in (alone, shared)]
    return (what, *shown, f"{shared / alone:.2f}")


if __name__ == "__main__":
    main()
