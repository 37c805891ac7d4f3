"""`memory-server hook log`, `hook captured`, `hook forget`: what hooks have said and kept, for a person to judge."""

from memory_server import app
from memory_server.app import Services
from memory_server.domain.caller import Caller
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


def _opened(settings: Settings) -> Services:
    if not settings.db.exists():
        raise Invalid(f"There is no database {settings.db}. Give its path with --db.")
    services = app.build(settings)
    services.database.refuse_empty()
    return services


def _say(line: str) -> None:
    print(visible(" ".join(line.split("\n")))[:200].rstrip())
