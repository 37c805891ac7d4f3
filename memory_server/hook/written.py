"""Tells whether what a tool of the client has done matters: a hook asks it before all imports.

It matters if it may be a memory that the client has written for itself, or if the tool returned what somebody said.
"""

from collections.abc import Iterator

MEMORIES = "memory"
"""The folder beside its transcripts in which Claude Code keeps what it remembers of a project."""

EVENT = "PostToolUse"
"""The event after a tool of the client has run."""

BEFORE, FAILED = "PreToolUse", "PostToolUseFailure"
"""The events before a tool of the client runs, and after it has failed."""

WRITING = frozenset([b"", b"Write", b"Edit", b"MultiEdit", b"NotebookEdit", b"apply_patch"])
"""Tools that return what the model has written."""

OURS = frozenset(["memory", "memory-server", "memory_server", "plugin_memory-server_memory"])
"""The names that this server has at clients: what it returns has an origin already."""

TOOLS = frozenset(
    """
    add_long_term_memory add_short_term_memory cleanup_memories delete_long_term_memory delete_memory
    delete_short_term_memories delete_turn forget get_frequent_conversation get_memory_context
    get_memory_stats graph_connect graph_explore list_long_term_memories list_memories memory_delete
    memory_get memory_related memory_search memory_stats memory_store memory_update read_memory recall
    register_memory remind retrieve_memories search_long_term_memories search_short_term_memories
    smart_resume test_trigger update_long_term_memory write_memory
    """.split()
)
"""The tools of this server. Another one may bear its name, but returns what somebody else has written."""

MOST = 200_000
"""Characters of an output that are read, and from how many bytes on it is cut before it is sent."""


def is_memory(data: bytes) -> bool:
    """Return True if what the client sent names a note in a folder of memories. Nothing of it is parsed."""
    path = _value(data, b'"file_path":').replace(b"\\\\", b"/")
    return path.endswith(b".md") and path.split(b"/")[-2:-1] == [MEMORIES.encode()]


def matters(data: bytes) -> bool:
    """Return True if an engine has to hear of it."""
    tool = _value(data, b'"tool_name":')
    parts = tool.decode("utf-8", "replace").split("__", 2)
    is_ours = parts[0] == "mcp" and len(parts) == 3 and parts[1] in OURS and parts[2] in TOOLS
    return is_memory(data) or not (is_ours or tool in WRITING)


def cut(data: bytes) -> bytes:
    """Return what the client sent, with no more of a long output than is read."""
    if len(data) <= 2 * MOST:
        return data
    import json  # nothing of a short output is parsed

    try:
        members = json.loads(data)
    except ValueError:
        return data
    if isinstance(members, dict):
        members["tool_response"] = "\n".join(texts(members.get("tool_response", "")))[:MOST]
    return json.dumps(members).encode()


def texts(value: object) -> Iterator[str]:
    """Yield the texts in a JSON value."""
    match value:
        case str():
            yield value
        case list():
            for item in value:
                yield from texts(item)
        case dict():
            for item in value.values():
                yield from texts(item)


def _value(data: bytes, name: bytes) -> bytes:
    """Return the text that stands first behind a name."""
    return data.partition(name)[2].lstrip()[1:].partition(b'"')[0]
