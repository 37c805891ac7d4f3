"""Rules: what assistants must not do or must ask about, and what these held; a person confirms and switches them."""

from starlette.responses import Response

from memory_server.web.view import Desk, Visit, back

SHOWN = 50
"""Acts that the page shows."""


def show(desk: Desk, visit: Visit) -> Response:
    rules = desk.services.rules
    return desk.render(visit, "rules", listed=rules.select(visit.caller), hits=rules.hits(SHOWN))


def confirm(desk: Desk, visit: Visit) -> Response:
    """Let a rule that an assistant has proposed do what it says."""
    desk.services.rules.confirm(visit.form["name"], visit.caller)
    return back("/rules", done="confirmed")


def switch(desk: Desk, visit: Visit) -> Response:
    """Switch a rule off or on."""
    desk.services.rules.switch(visit.form["name"], visit.form["off"] == "yes", visit.caller)
    return back("/rules", done="changed")
