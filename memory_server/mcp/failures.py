"""Words a failure for a model: its problem and what mends it, or that it is a bug."""

import errno

from mcp.server.mcpserver.exceptions import ToolError

from memory_server.errors import MemoryServerError, told
from memory_server.language.text import visible
from memory_server.mcp.hints import WORDS


def mend(error: Exception, name: str) -> str | None:
    """Word a failure and what mends it; None where it is a bug of the server."""
    match error:
        case MemoryServerError():
            return told([error.problem], WORDS)
        case MemoryError():
            return (
                f"The server has no memory left to carry out `{name}`. Nothing was half-written. "
                "Send less at once; if it happens again, the user must restart the server."
            )
        case OSError(errno=errno.EMFILE | errno.ENFILE):
            return (
                f"The server has too many files open to carry out `{name}`. Nothing was half-written. "
                "Call again; if it happens again, the user must raise the limit (ulimit -n)."
            )
    return None


def may_not_write(name: str) -> str:
    return (
        f"`{name}` writes, and the user's token may only read. Nothing was changed. "
        "Whoever runs the server can create one that may write: memory-server token add NAME --project PROJECT."
    )


def bug(name: str) -> str:
    return (
        f"`{name}` failed inside the server, which has logged the cause to its standard error. "
        "Nothing was half-written. This is a bug: tell the user."
    )


def refusal(text: str) -> ToolError:
    """Many clients do not show a model that a call has failed, so the text says it."""
    return ToolError(visible(f"Error: {text}"))
