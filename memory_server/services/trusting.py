"""Refuses that what somebody outside has said takes the place of what the user has said."""

from memory_server.domain import trust
from memory_server.domain.fact import Fact
from memory_server.domain.memory import Memory
from memory_server.errors import Conflict, Mend


def refuse_replacing(origin: str, replaced: Memory | Fact) -> None:
    """Raise Conflict where a text of this origin may not replace a memory or a fact."""
    if not (trust.waits(origin) and trust.is_of_user(replaced.origin)):
        return
    name = f"m{replaced.id}" if isinstance(replaced, Memory) else f"the fact `{replaced.key}`"
    raise Conflict(
        f"This text is from {origin}, and {name} is what the user said. Nothing was changed.",
        Mend.STORE_BESIDE,
    )
