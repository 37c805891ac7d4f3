"""Tells whether a file that a client has just written may be a memory of its own. A hook asks it before all imports."""

MEMORIES = "memory"
"""The folder beside its transcripts in which Claude Code keeps what it remembers of a project."""

EVENT = "PostToolUse"
"""The event after a tool of the client has run."""


def is_memory(data: bytes) -> bool:
    """Return True if what the client sent names a note in a folder of memories. Nothing of it is parsed."""
    path = data.partition(b'"file_path":')[2].lstrip()[1:].partition(b'"')[0].replace(b"\\\\", b"/")
    return path.endswith(b".md") and path.split(b"/")[-2:-1] == [MEMORIES.encode()]
