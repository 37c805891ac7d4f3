"""Facts: keys with their values, versions and scopes; writing, forgetting."""

import json
from typing import Any

from starlette.responses import Response

from memory_server.domain.fact import MAX_DEPTH, FactDraft, Scope, is_plain
from memory_server.errors import Invalid, NotFound
from memory_server.language.text import clean, listed, without_lone_surrogates
from memory_server.web.view import Desk, Visit, back, choice

LISTED = 200
STEPS = 50

NOT_PLAIN = f"A value has at most {MAX_DEPTH} nested levels and no infinite number."


def show(desk: Desk, visit: Visit) -> Response:
    scope, key = visit.get("scope"), visit.get("key").strip()
    pattern = key if "*" in key else f"{key}*"
    listing = desk.services.facts.select(
        pattern, choice(Scope, scope) if scope else None, (), LISTED, visit.within()
    )
    return desk.render(
        visit, "facts", found=listing.facts, more=listing.more, scopes=Scope, key=key, scope=scope
    )


def show_one(desk: Desk, visit: Visit) -> Response:
    key, scope, caller, facts = (
        visit.path("key"),
        choice(Scope, visit.path("scope")),
        visit.within(),
        desk.services.facts,
    )
    fact = facts.peek(key, scope, caller)
    try:
        history = facts.history(key, scope, STEPS, caller).changes
    except NotFound:
        history = []
    if fact is None and not history:
        raise NotFound(f"No fact `{key}` in the scope {scope}.")
    is_text = fact is None or isinstance(fact.value, str)
    written = (
        ""
        if fact is None
        else fact.value
        if is_text
        else json.dumps(fact.value, ensure_ascii=False, indent=2)
    )
    return desk.render(
        visit, "fact", key=key, scope=scope, fact=fact, history=history, is_text=is_text, written=written
    )


def write(desk: Desk, visit: Visit) -> Response:
    """A new version, unless another one was written meanwhile."""
    form, key, scope = visit.form, visit.path("key"), choice(Scope, visit.path("scope"))
    text = form["value"].replace("\r\n", "\n")
    value = _read(text) if form.get("as") == "json" else clean(text)
    tags = tuple(filter(None, map(clean, listed(form.get("tags", "")))))
    draft = FactDraft(key, value, tags, expected_version=int(form["version"]))
    written = desk.services.facts.write(draft, scope, visit.within()).fact
    last = desk.services.facts.history(key, scope, 2, visit.within()).changes
    undo = f"h{last[0].number}" if written.version > 1 and len(last) > 1 else None
    return (
        back(visit.form["back"], done="written", undo=undo) if _is_own(visit.form["back"]) else back("/facts")
    )


def forget(desk: Desk, visit: Visit) -> Response:
    key, scope, purges = (
        visit.path("key"),
        choice(Scope, visit.path("scope")),
        visit.form.get("purge") == "yes",
    )
    facts = desk.services.facts
    _, done = (facts.purge if purges else facts.delete)(key, scope, visit.within())
    if purges and not done.refused:
        return back("/facts", done="erased")
    last = facts.history(key, scope, 1, visit.within()).changes[0]
    return back("/facts", done="not_erased" if done.refused else "forgotten", undo=f"h{last.number}")


def _is_own(address: str) -> bool:
    return address.startswith("/fact/")


def _read(text: str) -> Any:
    try:
        value = json.loads(without_lone_surrogates(text))
    except ValueError as error:
        raise Invalid(f"This is not JSON: {error}.") from error
    except RecursionError as error:
        raise Invalid(NOT_PLAIN) from error
    if not is_plain(value):
        raise Invalid(NOT_PLAIN)
    return value
