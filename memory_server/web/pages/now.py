"""Now: what an assistant is told when it opens a session, item by item, and what hooks have said lately."""

from itertools import groupby

from starlette.responses import Response

from memory_server.services.resume import Wording
from memory_server.web.view import Desk, Visit

WORDING = Wording("`recall`", lambda _: 0.0)
"""As the hook at the start of a session words it."""

LENGTHS = (250, 500, 1000, 2000)
"""Tokens that a briefing may have; 500 is what an assistant asks for if it says nothing."""

SAID = 40
"""Texts of hooks that are shown, the latest."""


def show(desk: Desk, visit: Visit) -> Response:
    services, most = desk.services, visit.number("tokens", 500, LENGTHS[0], LENGTHS[-1])
    most = min(LENGTHS, key=lambda length: abs(length - most))
    resumed = services.resume.resume(most, frozenset(), WORDING, visit.within())
    shown = sorted(resumed.briefing.shown, key=lambda entry: entry.item.heading)
    headings = [
        (heading.title, list(group))
        for heading, group in groupby(shown, key=lambda entry: entry.item.heading)
    ]
    return desk.render(
        visit, "now", headings=headings, most=most, lengths=LENGTHS, tokens=resumed.token_count, note=resumed.note,
        left=resumed.briefing.left_out, text=resumed.briefing.text, said=services.injections.newest(SAID),
    )  # fmt: skip
