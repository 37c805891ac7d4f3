"""`memory-server hook log`: what the hooks have said, so that a person can judge it."""

from memory_server import app
from memory_server.errors import Invalid
from memory_server.hook import journal
from memory_server.language.text import visible
from memory_server.services.injections import InjectionService
from memory_server.settings import Settings

SHOWN = 50
"""Rows of the log that are printed, the newest last, and lines of failures."""


def log(settings: Settings) -> None:
    """Print what was put into which session's context, what each cost in tokens, and what failed."""
    if not settings.db.exists():
        raise Invalid(f"There is no database {settings.db}. Give its path with --db.")
    services = app.build(settings)
    services.database.refuse_empty()
    said = InjectionService(services.database).newest(SHOWN)
    for each in reversed(said):
        text = "(deleted since)" if each.text is None and each.kind != "briefing" else each.text or ""
        line = f"{each.at[:16]} {each.session[:8]:<8} {each.event:<16} {each.kind:<8} {each.tokens:>5} {text}"
        print(visible(" ".join(line.split("\n")))[:200].rstrip())
    print(f"{len(said)} texts, {sum(each.tokens for each in said):,} tokens." if said else "Nothing was said yet.")
    for failure in journal.read(settings.db).failures[-SHOWN:]:
        print(visible(failure))
    services.close()
