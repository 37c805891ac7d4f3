"""Says a verdict in one short phrase."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime

from memory_server.ground.anchors import State, Verdict
from memory_server.ground.values import values_in

_COMMIT = 7
"""Digits of a commit that are told."""


def remark(verdict: Verdict) -> str:
    """Return the phrase of a verdict; empty where nothing must be said."""
    if verdict.state not in (State.CHANGED, State.GONE):
        return ""
    anchor = verdict.anchor
    branch = f"branch {verdict.branch}" if verdict.branch not in ("", anchor.branch) else ""
    text = verdict.text.replace("`", "'")
    if text and verdict.path == anchor.path:
        date = datetime.fromtimestamp(verdict.modified, UTC)
        moment = f"{date.day} {date:%b}", verdict.commit[:_COMMIT], branch
        return f"{verdict.path}:{verdict.line} now reads `{text}` ({', '.join(filter(None, moment))})"
    return _gone(verdict, text) + (f" ({branch})" if branch else "")


def renewed(text: str, verdicts: Sequence[Verdict]) -> str | None:
    """Return a note with the values that its lines hold now; None where it is not plain which value that is.

    It is plain where the note says the old value once, and the line has one other value of the kind.
    """
    new_text = text
    for verdict in verdicts:
        value = verdict.anchor.value
        pattern = rf"(?<![\w.]){re.escape(value)}(?!\w)(?!\.\d)"
        if not value or verdict.path != verdict.anchor.path or not re.search(pattern, new_text):
            continue
        values = set(values_in(verdict.text, like=value))
        if len(values) != 1 or len(re.findall(pattern, new_text)) != 1:
            return None
        before, _, after = re.split(rf"({pattern})", new_text, maxsplit=1)
        new_text = f"{before}{values.pop()}{after}"
    return new_text if new_text != text else None


def _gone(verdict: Verdict, text: str) -> str:
    """Return the phrase of what is no longer in its file; `text` is the line that another file has."""
    anchor = verdict.anchor
    if not anchor.name:
        return f"{anchor.path} is gone"
    if verdict.state is State.GONE:
        return f"`{anchor.name}` is gone from {anchor.path}"
    if not text:
        return f"a line with `{anchor.name}` is gone from {anchor.path}"
    return f"`{anchor.name}` is gone from {anchor.path}; {verdict.path}:{verdict.line} has `{text}`"
