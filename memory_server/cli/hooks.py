"""`memory-server hook log`, `captured`, `forget`, `learnt`, `unlearn`: what hooks said, kept and learnt, for people
to judge and to undo."""

import re

from memory_server import app
from memory_server.app import Services
from memory_server.domain.caller import Caller
from memory_server.domain.learning import OPEN
from memory_server.errors import Invalid
from memory_server.hook import journal
from memory_server.language.text import visible
from memory_server.services.capturing import CaptureService
from memory_server.services.injections import InjectionService
from memory_server.settings import Settings

SHOWN = 50
"""Rows that are printed, the newest last."""

ALL = "all"


def log(settings: Settings) -> None:
    """Print what was put into which session's context, what each cost in tokens, and what failed."""
    services = _opened(settings)
    said = InjectionService(services.database).newest(SHOWN)
    for each in reversed(said):
        text = "(deleted since)" if each.text is None and each.kind != "briefing" else each.text or ""
        _say(f"{each.at[:16]} {each.session[:8]:<8} {each.event:<16} {each.kind:<10} {each.tokens:>5} {text}")
    print(
        f"{len(said)} texts, {sum(each.tokens for each in said):,} tokens."
        if said
        else "Nothing was said yet."
    )
    for failure in journal.read(settings.db).failures[-SHOWN:]:
        _say(failure)
    services.close()


def captured(settings: Settings, session: str | None) -> None:
    """Print what was kept unasked and is still there, of a session or of all."""
    services = _opened(settings)
    kept = CaptureService(services.database).select(None if session == ALL else session, SHOWN)
    for each in reversed(kept):
        _say(f"{each.at[:16]} {each.session[:8]:<8} {each.event:<10} {each.kind.value:<10} {each.text}")
    if not kept:
        print("Nothing was kept without being asked.")
    services.close()


def forget(settings: Settings, session: str | None) -> None:
    """Erase for good what was kept unasked: of the sessions whose id begins so, or of all."""
    if not session:
        raise Invalid(f"Say of which session (`memory-server hook captured` shows them), or `{ALL}`.")
    services = _opened(settings)
    done = CaptureService(services.database).forget(None if session == ALL else session, Caller())
    print(f"Erased: {done.number}.")
    for path in done.elsewhere:
        print(f"  {path} may hold some of it still.")
    services.close()


def learnt(settings: Settings) -> None:
    """Print which memories gain or lose by their uses, and the questions that found nothing."""
    services = _opened(settings)
    memories, questions = services.learning.learnt(SHOWN), services.learning.all_questions()[:SHOWN]
    for each in memories:
        _say(
            f"m{each.memory:<6} {100 * (each.uses.factor - 1):+5.1f} %  {each.uses.reason:<36} {each.content}"
        )
    for asked in questions:
        state = "open" if asked.sessions >= OPEN else "asked once"
        _say(f"q{asked.id:<6} {asked.asked_at[:10]}  {state:<10} {asked.project:<16} {asked.text}")
    if not memories and not questions:
        print("Nothing was learnt yet.")
    services.close()


def unlearn(settings: Settings, what: str | None) -> None:
    """Forget what was learnt of a memory (m12), a question (q3), or all."""
    named = re.fullmatch(r"([mq])(\d+)", what or "")
    if what != ALL and named is None:
        raise Invalid(f"Say what: m12 or q3 (`memory-server hook learnt` shows them), or `{ALL}`.")
    services = _opened(settings)
    kind, number = (named[1], int(named[2])) if named else ("", 0)
    done = services.learning.forget(number if kind == "m" else None, number if kind == "q" else None)
    print(f"Forgotten: {done}.")
    services.close()


def _opened(settings: Settings) -> Services:
    if not settings.db.exists():
        raise Invalid(f"There is no database {settings.db}. Give its path with --db.")
    services = app.build(settings)
    services.database.refuse_empty()
    return services


def _say(line: str) -> None:
    print(visible(" ".join(line.split("\n")))[:200].rstrip())
