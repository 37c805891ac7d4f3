"""Weeks of hooks and background jobs change no answer about what was stored on purpose."""

import os
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from quality.doors import built

from memory_server import app, jobs
from memory_server.domain.caller import Caller
from memory_server.domain.fact import FactDraft, Scope
from memory_server.domain.memory import MemoryDraft, MemoryType
from memory_server.embedding.bundled import BundledEmbedder
from memory_server.hook.event import Event, Name
from memory_server.hook.keep import keep
from memory_server.hook.prompt import prompt
from memory_server.hook.settings import HookSettings
from memory_server.hook.start import start
from memory_server.project import Project
from memory_server.services.recall import RecallWish
from tests.hook.test_echoes import ANSWERS, FACTS, MEMORIES, QUESTIONS

SESSIONS = 20
BEGIN = datetime(2026, 10, 1, 9, tzinfo=UTC)
SHOP = Project("/srv/shop", "shop")

REPLIES = [
    "Done.",
    "I could not find that anywhere, so I left the line as it was.",
    "{answer}. I have fixed the config and the tests pass.",
    "Fixed: the config, the staging deploy of the shop, and the invoices batch. Next: review the payment module.",
    "",
]
TOLD = ["We use pnpm for the ledger frontend.", "My name is Priya.", "以后都用 uv 管理依赖。"]
"""Facts that the hook keeps as memories."""


def store(services: app.Services, caller: Caller) -> None:
    for content in MEMORIES.values():
        services.memories.store(MemoryDraft(content, MemoryType.LEARNING, SHOP.name), None, caller)
    for key, value in FACTS.values():
        services.facts.write(FactDraft(key, value), Scope.PROJECT, caller)


def live(services: app.Services, set_clock: Callable[[datetime], None], session: int) -> None:
    """A session of a day: its briefing, four turns and its end; then all background jobs."""
    database, settings = services.database, HookSettings(Path(os.devnull))
    remind = services.reminding.remind
    caller = Caller("claude", f"session {session}", SHOP)
    now = BEGIN + timedelta(days=1 + session)
    set_clock(now)
    start(Event(Name.START, caller.session, Path()), database, caller, settings)
    for number in range(4):
        set_clock(now + timedelta(minutes=7 * number))
        place = (3 * session + number) % len(QUESTIONS)
        order = ["Fix the config.", "", "Please update the docs too."][session % 3]
        said = TOLD[session % len(TOLD)] if number == 3 else f"{QUESTIONS[place]} {order}"
        reply = REPLIES[(session + number) % len(REPLIES)].format(answer=ANSWERS[place])
        prompt(Event(Name.PROMPT, caller.session, Path(), said), settings, database, caller, remind)
        name = Name.END if number == 3 else Name.STOP
        keep(
            Event(name, caller.session, Path(), said, reply),
            database,
            caller,
            learns=True,
            judge=services.judging.judge,
        )
    services.queue.drain()
    tidying = jobs.that_tidy(
        services.facts, services.short_term, services.calls, services.forgetting, services.erasure
    )
    learning = jobs.that_learn(database, services.queue, services.recall, services.learning, True)
    for job in (*tidying, *learning):
        job.run()
    services.queue.drain()


def test_each_question_has_the_same_first_line_after_weeks_of_sessions() -> None:
    with built(BundledEmbedder()) as (services, set_clock):
        set_clock(BEGIN)
        caller = Caller("claude", "now", SHOP)
        store(services, caller)
        services.queue.warm_up()
        services.queue.drain()

        def first_lines() -> list[str]:
            answers = (
                services.recall.recall(question, (), 800, RecallWish(), caller) for question in QUESTIONS
            )
            return [recalled.answer.text.partition("\n")[0] for recalled in answers]

        before = first_lines()
        assert [answer in line for line, answer in zip(before, ANSWERS, strict=True)] == [True] * 10
        for session in range(SESSIONS):
            live(services, set_clock, session)
        with services.database.read() as tx:
            assert len(tx.hook_captures.select(None, None)) > 3 * SESSIONS
        assert first_lines() == before
