"""Makes a superseded memory of a fact or a turn that a new memory replaces."""

from dataclasses import replace

from memory_server.domain import fact_text
from memory_server.domain.caller import Caller
from memory_server.domain.fact import homes, refuse_sharing
from memory_server.domain.forgetting import Kind
from memory_server.domain.memory import Memory, MemoryDraft, MemoryType
from memory_server.errors import Mend, NotFound
from memory_server.services import projects
from memory_server.storage.tx import WriteTx


def as_memory(tx: WriteTx, handle: str, new: MemoryDraft, caller: Caller) -> Memory:
    """Store what a fact or a turn says as a memory beside `new`, and delete it: it can be brought back for 30 days. So
    searches and briefings tell it as they tell a memory that is superseded.

    Raises:
        NotFound: there is no such fact or turn.
        Invalid: the person may not change shared facts.
    """
    kind, name = handle[0], handle[1:].strip()
    draft = _of_fact(tx, name, caller) if kind == "f" else _of_turn(tx, int(name), caller)
    return tx.memories.insert(replace(draft, type=new.type, project=new.project), caller)


def _of_fact(tx: WriteTx, key: str, caller: Caller) -> MemoryDraft:
    fact = tx.facts.first(homes(None, projects.known(tx, caller)), key)
    if fact is None:
        raise NotFound(f"No fact `{key}`.", Mend.LIST_FACTS)
    refuse_sharing(tx.person, fact.home.scope)
    tx.facts.delete(fact, caller)
    text = fact_text.of(fact.key, fact.value)
    return MemoryDraft(
        text, MemoryType.OBSERVATION, tags=fact.tags, occurred_at=fact.updated_at, origin=fact.origin
    )


def _of_turn(tx: WriteTx, id: int, caller: Caller) -> MemoryDraft:
    turns = tx.turns.select([id])
    if not turns:
        raise NotFound(f"No turn {id}.", Mend.FIND_TURN)
    (turn,) = turns
    tx.trash.put(Kind.TURN, [id], caller)
    text = turn.text
    return MemoryDraft(
        text, MemoryType.OBSERVATION, occurred_at=turn.occurred_at, session=turn.session, origin=turn.origin
    )
