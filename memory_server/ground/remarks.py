"""Says a verdict in one short phrase."""

from datetime import UTC, datetime

from memory_server.ground.anchors import State, Verdict

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
