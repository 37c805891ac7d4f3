"""Suggests to store what was stated in a conversation: a decision, a preference or a correction."""

from dataclasses import dataclass

from memory_server.domain.caller import Caller
from memory_server.domain.echo import by_user
from memory_server.domain.injection import Captured, Injected, Injection
from memory_server.language.statements import statements
from memory_server.language.tokens import estimate
from memory_server.services import projects, shared_words
from memory_server.storage.database import Database


@dataclass(frozen=True, slots=True)
class SuggestingService:
    database: Database

    def not_stored(self, event: str, caller: Caller) -> str | None:
        """Return a decision, preference or correction that the user stated in the last kept turn of this session, and
        that no memory and no fact says; each is told once. None where there is none."""
        session = caller.session
        if session is None:
            return None
        with self.database.read() as tx:
            last = tx.hook_captures.last(Captured.SHORT_TERM, session)
            if last is None or tx.hook_injections.was_suggested(session, last.id):
                return None
            caller = projects.known(tx, caller)
            stated = statements(by_user(last.text or ""))
            missing = next(
                (statement for statement in stated if not shared_words.is_stored(tx, statement, caller)), None
            )
        if missing is not None:
            injections = [Injection(event, Injected.SUGGESTION, last.id, estimate(missing))]
            self.database.record(lambda tx: tx.hook_injections.insert(session, injections))
        return missing
