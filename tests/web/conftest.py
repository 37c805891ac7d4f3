"""The pages in a real browser: one browser for all tests, `memory-server view` as a process of its own."""

import os
import random
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import browser as browsers
import pytest

from memory_server import app
from memory_server.domain.caller import Caller
from memory_server.domain.edge import Edge, Relation
from memory_server.domain.fact import FactDraft, Scope
from memory_server.domain.injection import Injected, Mention, Reminder
from memory_server.domain.long_term import LongTermDraft
from memory_server.domain.memory import MemoryChange, MemoryDraft, MemoryId, MemoryType
from memory_server.domain.message import Message
from memory_server.domain.turn import TurnDraft
from memory_server.project import Project
from memory_server.settings import Settings
from memory_server.where import Postgres, Where
from tests import warm
from tests.conftest import ROOT, new_place

playwright = pytest.importorskip(
    "playwright.sync_api", reason="playwright is not installed: pip install -e '.[dev]'"
)

axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is not installed")

WIDE, NARROW = 1280, 400

GRAVE = ("serious", "critical")

ATTACK = "<script>window.hit = 1</script>\"'><img src=x onerror=window.hit=1>{{7+700}}"
"""In every field of every kind."""

HARBOUR, ORCHID = "The harbour opens at noon", "兰花每周二浇水，周五不浇水。"

LONG = "长long " * 16_666
"""100,000 characters, nearly."""

MARKDOWN = "# 灯塔 list\n\n- one\n- two\n\n```sh\necho '<b>'\n```\n\nsee https://harbour.example/plan"

LEDGER = Project("ledger", "ledger")
CLAUDE = Caller("Claude", "s-1", LEDGER)


@dataclass
class View:
    """A running `memory-server view`: `address` opens once, `base` is the origin, `state` the cookie of the browser."""

    place: Where
    process: "subprocess.Popen[str]"
    address: str
    browser: Any
    state: Any = None
    errors: list[str] = field(default_factory=list)
    """What the consoles of the pages complained about."""

    _pages: dict[tuple[int, str, str], Any] = field(default_factory=dict)
    """Those that no test has now, by width, language and colours."""

    @property
    def base(self) -> str:
        return self.address.partition("/?")[0]

    @property
    def port(self) -> int:
        return int(self.base.rpartition(":")[2])

    def enter(self) -> None:
        """See that the browser has the cookie."""
        if self.state is None:
            with self.page():
                pass

    @contextmanager
    def page(
        self,
        path: str = "/",
        width: int = WIDE,
        language: str = "en-GB",
        colours: str = "light",
        alone: bool = False,
    ) -> Iterator[Any]:
        """A page, which has the cookie. Pages that look alike are one that goes from address to address, unless it is
        `alone` in a context: a new context costs three times what a page does."""
        look = (width, language, colours)
        page = None if alone else self._pages.pop(look, None)
        page = page or self._new(*look)
        heard = {"console": self._heard, "pageerror": lambda error: self.errors.append(str(error))}
        for event, hear in heard.items():
            page.on(event, hear)
        done = False
        try:
            if self.state is None:
                page.goto(self.address)
                self.state = page.context.storage_state()
            page.goto(self.base + path)
            yield page
            done = True
        finally:
            for event, hear in heard.items():
                page.remove_listener(event, hear)
            if done and not alone:
                self._pages[look] = page
            else:
                page.context.close()

    def _new(self, width: int, language: str, colours: str) -> Any:
        context = self.browser.new_context(
            viewport={"width": width, "height": 860}, locale=language, color_scheme=colours,
            storage_state=self.state,
        )  # fmt: skip
        context.set_default_timeout(10_000)
        return context.new_page()

    def _heard(self, told: Any) -> None:
        """Of a request that a newer one replaced htmx says that it ended."""
        if told.type == "error" and not told.text.startswith(("htmx:afterRequest", "htmx:sendAbort")):
            self.errors.append(told.text)

    def ended(self) -> int:
        """Ctrl-C; the exit code."""
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(timeout=20)


def faults(page: Any) -> list[str]:
    """What axe finds on a page, where it is serious."""
    found = axe.Axe().run(page).response["violations"]
    return [
        f"{each['id']}: {node['target']} {node.get('failureSummary', '')[:300]}"
        for each in found
        if each["impact"] in GRAVE
        for node in each["nodes"]
    ]


@contextmanager
def viewing(where: Where, browser: Any, folders: dict[str, str], *arguments: str) -> Iterator[View]:
    given = where.given if isinstance(where, Postgres) else str(where)
    command = warm.program("view", "--db", given, "--embedder", "hashing")
    usual = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    process = subprocess.Popen(
        [*command, "--project", "ledger", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env={**usual, **folders, "PYTHONPATH": str(ROOT), "TZ": "UTC"}, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stderr is not None
    try:
        address = process.stdout.readline().strip()
        assert address.startswith("http://127.0.0.1:"), process.stderr.read()
        yield View(where, process, address, browser)
    finally:
        process.terminate()
        process.communicate(timeout=20)


@contextmanager
def services(where: Where) -> Iterator[app.Services]:
    """The services on a memory in this process, as an assistant has them; chance always comes out the same."""
    random.seed(3)
    made = app.build(Settings(db=where, embedder="hashing", project="ledger"))
    made.queue.work()
    try:
        yield made
    finally:
        made.close()


def keep(made: app.Services, text: str, **given: Any) -> MemoryId:
    draft = MemoryDraft(text, **{"type": MemoryType.DECISION, "project": "ledger"} | given)
    return made.memories.store(draft, None, CLAUDE).memory.id


def fill(where: Where) -> None:
    """Something of every kind, with an attack in every field that takes one; memory 1 has a history and edges."""
    with services(where) as made:
        first = keep(made, HARBOUR, tags=("sea", ATTACK[:50]), importance=8)
        second = keep(made, ORCHID, type=MemoryType.LEARNING)
        made.memories.update(first, MemoryChange(content=f"{HARBOUR} and closes at six"), CLAUDE)
        third = keep(made, ATTACK, metadata={ATTACK: [ATTACK, {"deep": ATTACK}]}, project=ATTACK)
        keep(made, LONG)
        made.graph.connect(Edge(first, second, Relation.CAUSES), CLAUDE)
        made.graph.connect(Edge(first, third, Relation.SOLVES, 0.5), CLAUDE)
        for number in range(40):
            kind = list(MemoryType)[number % 6]
            id = keep(
                made,
                f"Lighthouse {number} is {number * 7} metres high. 灯塔的编号是{number}。" * 2,
                type=kind,
            )
            made.graph.connect(Edge(first, id, list(Relation)[number % 7]), CLAUDE)
        replaced = made.memories.store(
            MemoryDraft("The harbour master is Ann", MemoryType.DECISION, "ledger"),
            None,
            CLAUDE,
            supersedes=[second],
        )
        made.graph.connect(Edge(replaced.memory.id, first), CLAUDE)
        keep(made, MARKDOWN, tags=("w" * 50,))
        for key, value in {
            "current.task": "move it",
            ATTACK: ATTACK,
            "deep": {"a": [1, {"b": ATTACK}]},
        }.items():
            made.facts.write(FactDraft(key, value, (ATTACK,)), Scope.PROJECT, CLAUDE)
        made.facts.write(FactDraft("current.task", "move it again"), Scope.PROJECT, CLAUDE)
        turn = made.turns.register(TurnDraft(f"We spoke {ATTACK}", ATTACK), {}, CLAUDE)
        made.short_term.add([Message("user", f"the zebra {ATTACK}")], "project:ledger", {}, CLAUDE)
        made.long_term.add(
            LongTermDraft("zoo", f"Close the gate. {ATTACK}", "match_keys(messages, ['zebra']) > 0", ATTACK),
            None, CLAUDE,
        )  # fmt: skip
        made.long_term.add(LongTermDraft(f"a/{ATTACK}"[:100], ATTACK, "1 > 2", None), None, CLAUDE)
        made.long_term.search([Message("user", "a zebra")], None, {}, CLAUDE)
        said = Reminder("x", (Mention(Injected.TURN, turn, 9), Mention(Injected.MEMORY, third, 7)))
        made.injections.record_reminder(said, "UserPromptSubmit", CLAUDE)
        with made.database.write() as tx:
            tx.open_questions.insert("ledger", "Where do the <b>buoys</b> sleep?", "s-2")
        gone = keep(made, f"gone {ATTACK}")
        made.memories.forget(gone, False, CLAUDE)
        made.queue.work()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """One browser. It ends with the tests of a file: while it runs, no other test can have an event loop."""
    if browsers.found() is None:
        pytest.skip(browsers.MISSING)
    with browsers.launched() as launched:
        yield launched


@pytest.fixture(scope="module")
def shared(
    browser: Any, tmp_path_factory: pytest.TempPathFactory, user_folders: dict[str, str], store: str
) -> Iterator[View]:
    """A view of a full memory, for tests that only look."""
    where = new_place(store, tmp_path_factory.mktemp("view"))
    fill(where)
    with viewing(where, browser, user_folders) as view:
        yield view


@pytest.fixture
def seen(shared: View) -> Iterator[View]:
    """The same; fails the test if the console of a page complains."""
    shared.errors.clear()
    yield shared
    assert shared.errors == []


@pytest.fixture(scope="module")
def changing(
    browser: Any, tmp_path_factory: pytest.TempPathFactory, user_folders: dict[str, str], store: str
) -> Iterator[View]:
    """A view of a memory that tests may change."""
    where = new_place(store, tmp_path_factory.mktemp("own"))
    with services(where) as made:
        keep(made, HARBOUR)
    with viewing(where, browser, user_folders) as view:
        yield view


@pytest.fixture
def own(changing: View) -> Iterator[View]:
    """The same; fails the test if the console of a page complains."""
    changing.errors.clear()
    yield changing
    assert changing.errors == []
