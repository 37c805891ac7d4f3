"""A session replayed: what was asked, what the memory told and showed, what of it was used."""

from starlette.responses import Response

from memory_server.domain.replay import StepKind
from memory_server.errors import NotFound
from memory_server.web.view import Desk, Visit

LISTED = 60


def show_all(desk: Desk, visit: Visit) -> Response:
    return desk.render(visit, "sessions", sessions=desk.services.replaying.sessions(LISTED))


def show(desk: Desk, visit: Visit) -> Response:
    session = visit.path("name")
    steps = desk.services.replaying.replay(session)
    if not steps:
        raise NotFound(f"Nothing is stored of a session `{session}`.")
    counts = {what: sum(step.what is what for step in steps) for what in StepKind}
    tokens = sum(step.tokens for step in steps)
    return desk.render(visit, "session", session=session, steps=steps, counts=counts, tokens=tokens)
