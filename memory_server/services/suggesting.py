"""Suggests to store what was told in a conversation and is not kept: a hook was not sure enough of it."""

from dataclasses import dataclass

from memory_server.domain.caller import Caller
from memory_server.domain.echo import by_user
from memory_server.domain.injection import Captured, Injected, Injection
from memory_server.language.tokens import estimate
from memory_server.language.told import told
from memory_server.services import projects, shared_words
from memory_server.storage.database import Database


@dataclass(frozen=True, slots=True)
class SuggestingService:
    database: Database

    def not_stored(self, event: str, caller: Caller) -> str | None:
        """Return what the user told in the last kept turn of this session, where it seems to last and no memory and no
        fact says it; each is told once. None where there is none."""
        session = caller.session
        if session is None:
            return None
        with self.database.read() as tx:
            last = tx.hook_captures.last(Captured.SHORT_TERM, session)
            if last is None or tx.hook_injections.was_suggested(session, last.id):
                return None
            caller = projects.known(tx, caller)
            texts = [statement.text for statement in told(by_user(last.text or ""))]
            missing = next((text for text in texts if not shared_words.is_stored(tx, text, caller)), None)
        if missing is not None:
            injections = [Injection(event, Injected.SUGGESTION, last.id, estimate(missing))]
            self.database.record(lambda tx: tx.hook_injections.insert(session, injections))
        return missing
