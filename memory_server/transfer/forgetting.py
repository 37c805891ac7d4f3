"""Deletes many things at once, as one event: in one transaction, and undone as one."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from memory_server.domain.caller import Caller
from memory_server.domain.change import Kind
from memory_server.domain.choice import Choice, Chosen
from memory_server.domain.event import Did, Step
from memory_server.domain.forgetting import Kind as Trashable
from memory_server.importing import own
from memory_server.services import deleting, projects
from memory_server.storage.database import Database
from memory_server.transfer import events, facts, origins


@dataclass(frozen=True, slots=True)
class ForgetManyService:
    database: Database

    def select(self, choice: Choice, caller: Caller) -> list[Chosen]:
        """Return what a choice stands for now."""
        lookup = projects.among(choice.project, caller)
        with self.database.read() as tx:
            return tx.choosing.select(replace(choice, project=lookup(tx).only))

    def forget(self, choice: Choice, things: Sequence[Chosen], caller: Caller) -> int:
        """Delete these things in one transaction; return the number of the event that did.

        Raises:
            Conflict: a rule is among them that only a person deletes.
        """
        with self.database.write() as tx:
            rules = [chosen.id for chosen in things if chosen.kind is Kind.LONG_TERM]
            deleting.refuse_models(tx, rules, caller)
            id = tx.events.insert("forgot", str(choice), "", tx.now, caller)
            if choice.source or choice.path:  # an import is forgotten, and nothing in it corrected
                origins.let_be(tx, [chosen.id for chosen in things if chosen.kind is Kind.MEMORY])
            steps: list[Step] = []
            for kind in Trashable:
                ids = [chosen.id for chosen in things if chosen.kind.value == kind.value]
                tx.trash.put(kind, ids, caller)
                steps += [Step(Did.ENDED, kind.value, item) for item in ids]
            for chosen in things:
                place = (chosen.scope or "", chosen.owner or "", chosen.name or "")
                record = facts.delete(tx, place, caller) if chosen.kind is Kind.FACT else None
                if record is not None:
                    steps.append(Step(Did.CHANGED, "fact", chosen.id, own.line(record)))
            tx.events.count(id, f"{len(steps):,} deleted")
            events.record(tx, id, steps)
            return id
