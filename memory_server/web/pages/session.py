"""A session replayed: what was asked, what the memory told and showed, what of it was used."""

from itertools import groupby

from starlette.responses import Response

from memory_server.domain.replay import Step, StepKind
from memory_server.errors import NotFound
from memory_server.web import spans
from memory_server.web.view import Desk, Visit

LISTED = 60


def show_all(desk: Desk, visit: Visit) -> Response:
    span = spans.read(visit, None)
    return desk.render(
        visit, "sessions", sessions=desk.services.replaying.sessions(span, LISTED), **spans.shown(visit, span)
    )


def show(desk: Desk, visit: Visit) -> Response:
    session = visit.path("name")
    steps = desk.services.replaying.replay(session)
    if not steps:
        raise NotFound(f"Nothing is stored of a session `{session}`.")
    acts = [list(group) for _, group in groupby(steps, key=_act)]
    counts = {what: sum(act[0].what is what for act in acts) for what in StepKind}
    tokens = sum(step.tokens for step in steps)
    return desk.render(visit, "session", session=session, acts=acts, counts=counts, tokens=tokens)


def _act(step: Step) -> tuple[str, str]:
    """Return what steps that happen at once have in common: a briefing tells dozens of memories."""
    return step.at, step.what
