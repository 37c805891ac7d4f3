"""What hooks have put into the context of a model: recorded, so that it is said once and can be judged."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memory_server.domain.caller import Caller
from memory_server.domain.injection import Injected, Injection, Logged, Reminder
from memory_server.domain.long_term import LongTermId
from memory_server.storage.database import Database
from memory_server.storage.tx import WriteTx

if TYPE_CHECKING:  # a prompt needs no briefing
    from memory_server.domain.briefing.choice import Briefing


@dataclass(frozen=True, slots=True)
class InjectionService:
    database: Database

    def record_briefing(
        self, session: str, event: str, briefing: "Briefing", tokens: int, emptied: bool
    ) -> None:
        """A session was told a briefing: what that says in full is not said again.

        `emptied`: what the session was told before is no longer in its context.
        """
        said = [Injection(event, Injected.BRIEFING, 0, tokens), *_of(event, briefing)]

        def mark(tx: WriteTx) -> None:
            if emptied:
                tx.hook_injections.forget_context(session)
            tx.hook_injections.insert(session, said)

        self.database.record(mark)

    def record_reminder(self, reminder: Reminder, event: str, caller: Caller) -> None:
        """A session was told what a prompt brings to mind: that is not said again, and the prompts in it woke."""
        said = [Injection(event, each.kind, each.id, each.tokens) for each in reminder.said]
        woken = [(LongTermId(each.id), each.why) for each in reminder.said if each.why is not None]
        session = caller.session

        def mark(tx: WriteTx) -> None:
            if session:
                tx.hook_injections.insert(session, said)
            if woken:
                from memory_server.services.waking import mark_woken  # most prompts wake nothing

                mark_woken(tx, woken, caller)

        if said:
            self.database.record(mark)

    def was_briefed(self, session: str) -> bool:
        """Whether a session has a briefing in its context."""
        with self.database.read() as tx:
            return (Injected.BRIEFING, 0) in tx.hook_injections.in_context(session)

    def newest(self, limit: int) -> list[Logged]:
        """The last that was said, the latest first."""
        with self.database.read() as tx:
            return tx.hook_injections.newest(limit)


def _of(event: str, briefing: "Briefing") -> Iterator[Injection]:
    for item in briefing.whole:
        if item.memory is not None:
            yield Injection(event, Injected.MEMORY, item.memory, 0)
        elif item.fact is not None:
            yield Injection(event, Injected.FACT, item.fact.id, 0)
