"""Records what hooks have put into the context of a model, so that it is said once and can be judged."""

from collections.abc import Iterator
from dataclasses import dataclass

from memory_server.domain.briefing.choice import Briefing
from memory_server.domain.caller import Caller
from memory_server.domain.injection import Injected, Injection, Logged, Reminder
from memory_server.domain.long_term import LongTermId
from memory_server.services.waking import mark_woken
from memory_server.storage.database import Database
from memory_server.storage.tx import WriteTx


@dataclass(frozen=True, slots=True)
class InjectionService:
    database: Database

    def record_briefing(
        self, session: str, event: str, briefing: Briefing, tokens: int, emptied: bool
    ) -> None:
        """Record that a session was told a briefing: what that says in full is not said again.

        `emptied`: what the session was told before is no longer in its context.
        """
        injections = [Injection(event, Injected.BRIEFING, 0, tokens), *_of(event, briefing)]

        def mark(tx: WriteTx) -> None:
            if emptied:
                tx.hook_injections.forget_context(session)
            tx.hook_injections.insert(session, injections)

        self.database.record(mark)

    def record_reminder(self, reminder: Reminder, event: str, caller: Caller) -> None:
        """Record what a prompt brought to mind in a session: it is not said again, and the prompts in it woke."""
        injections = [Injection(event, mention.kind, mention.id, mention.tokens) for mention in reminder.said]
        woken = [
            (LongTermId(mention.id), mention.why) for mention in reminder.said if mention.why is not None
        ]
        session = caller.session

        def mark(tx: WriteTx) -> None:
            if session:
                tx.hook_injections.insert(session, injections)
            if woken:
                mark_woken(tx, woken, caller)

        if injections:
            self.database.record(mark)

    def was_briefed(self, session: str) -> bool:
        """True if a session has a briefing in its context."""
        with self.database.read() as tx:
            return (Injected.BRIEFING, 0) in tx.hook_injections.in_context(session)

    def newest(self, limit: int) -> list[Logged]:
        """Return the last that was said, the latest first."""
        with self.database.read() as tx:
            return tx.hook_injections.newest(limit)


def _of(event: str, briefing: Briefing) -> Iterator[Injection]:
    for item in (entry.item for entry in briefing.shown if entry.whole):
        if item.memory is not None:
            yield Injection(event, Injected.MEMORY, item.memory, 0)
        elif item.fact is not None:
            yield Injection(event, Injected.FACT, item.fact.id, 0)
