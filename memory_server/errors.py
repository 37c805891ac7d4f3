"""The failures that a caller can understand, each with a code.

Raise one where the fact is known; only `server.py` and `cli.py` turn them into what a client sees.
The message is for a model that can act: what is wrong, with the value, and which call mends it.
"""


class MemoryServerError(Exception):
    """Any failure that the caller can understand and often mend."""

    code = "error"


class Invalid(MemoryServerError):
    """The arguments make no sense, alone or together."""

    code = "invalid"


class NotFound(MemoryServerError):
    """There is no such memory."""

    code = "not_found"


class Conflict(MemoryServerError):
    """The write contradicts what the database holds or allows."""

    code = "conflict"


class TriggerRejected(MemoryServerError):
    """A trigger does not compile, gives no value, or exceeds its limits."""

    code = "trigger_rejected"


class Unavailable(MemoryServerError):
    """Something that is needed cannot be had: the database, its disk, the embedder."""

    code = "unavailable"
