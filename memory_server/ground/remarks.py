"""Says a verdict in one short phrase."""

from datetime import UTC, datetime

from memory_server.ground.anchors import State, Verdict

_COMMIT = 7
"""Digits of a commit that are told."""


def remark(verdict: Verdict) -> str:
    """Return the phrase of a verdict; empty where nothing must be said."""
    anchor = verdict.anchor
    if verdict.state is State.GONE:
        return f"`{anchor.name}` is gone from {anchor.path}" if anchor.name else f"{anchor.path} is gone"
    if verdict.state is not State.CHANGED:
        return ""
    if not verdict.text:
        return f"a line with `{anchor.name}` is gone from {anchor.path}"
    text = verdict.text.replace("`", "'")
    if verdict.path != anchor.path:
        return f"`{anchor.name}` is gone from {anchor.path}; {verdict.path}:{verdict.line} has `{text}`"
    return f"{verdict.path}:{verdict.line} now reads `{text}`{_when(verdict)}"


def _when(verdict: Verdict) -> str:
    """Return the date of the file, the commit, and the branch if it is another one than at the observation."""
    date = datetime.fromtimestamp(verdict.modified, UTC) if verdict.modified else None
    parts = [f"{date.day} {date:%b}" if date else "", verdict.commit[:_COMMIT]]
    if verdict.branch and verdict.branch != verdict.anchor.branch:
        parts.append(f"branch {verdict.branch}")
    text = ", ".join(part for part in parts if part)
    return f" ({text})" if text else ""
