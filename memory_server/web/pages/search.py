"""Search: everything that is stored in one list, with what spoke for each hit."""

from starlette.responses import Response

from memory_server.domain.change import LETTERS
from memory_server.domain.memory import Filter, MemoryType
from memory_server.domain.moment import timestamp
from memory_server.domain.recall import Recallable
from memory_server.language.text import listed
from memory_server.services.looking import KINDS, LookWish
from memory_server.web.view import Desk, Visit, choice, given_moment

SHOWN = 30
"""Items of a list; `more` shows so many again."""

MOST = 300

NO_PROJECT = "-"
"""What the filter says for what belongs to no project."""


def show(desk: Desk, visit: Visit) -> Response:
    text, shown = visit.get("q").strip()[:500], visit.number("n", SHOWN, 1, MOST)
    wish = _wish(visit)
    results = desk.services.looking.look(text, wish, shown + 1, visit.caller)
    filtered = wish != LookWish()
    items = results.items
    return desk.render(
        visit, "search", items=items[:shown], more=shown + SHOWN if len(items) > shown < MOST else 0,
        text=text, note=results.note, worse=[problem.text for problem in results.degraded],
        filtered=filtered, types=MemoryType, kinds=KINDS, no_project=NO_PROJECT,
        empty=not items and not text and not filtered,
        letters=LETTERS, here_again=_address(visit),
    )  # fmt: skip


def _address(visit: Visit) -> str:
    """Return the address of this list, without what was done last."""
    url = visit.request.url.remove_query_params(["done", "undo"])
    return f"{url.path}?{url.query}" if url.query else url.path


def _wish(visit: Visit) -> LookWish:
    """The filters of the address. A day without an hour is local; `until` is the last day that counts."""
    project, kind, type = visit.get("project"), visit.get("kind"), visit.get("type")
    since, until, least = visit.get("since"), visit.get("until"), visit.number("importance", 1, 1, 10)
    return LookWish(
        frozenset([choice(Recallable, kind)]) if kind else frozenset(KINDS),
        Filter(
            choice(MemoryType, type) if type else None,
            None if not project else "" if project == NO_PROJECT else project,
            tuple(listed(visit.get("tag"))),
            least if least > 1 else None,
            _local(since) if since else None,
            _local(until, 1) if until else None,
        ),
    )


def _local(day: str, later: int = 0) -> str:
    return timestamp(given_moment(day, later))
