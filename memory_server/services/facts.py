"""Facts: write, read, list, delete and undo, and let go what has expired."""

import json
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from memory_server.domain.fact import (
    LOOKUP_ORDER,
    Action,
    Fact,
    FactChange,
    FactDraft,
    Home,
    Scope,
    matches,
    tagged,
)
from memory_server.domain.memory import Caller
from memory_server.domain.moment import timestamp
from memory_server.domain.secrets import refuse_secrets
from memory_server.errors import Conflict, NotFound
from memory_server.sqlite import fact_history, facts
from memory_server.sqlite.database import Database, Tx, WriteTx

logger = logging.getLogger(__name__)

SWEEP = 500
"""So many expired facts leave in one transaction."""

SHOWN = 300
"""Characters of a current value that a Conflict shows."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where this server stands: the project that it serves and the session that it belongs to."""

    project: str
    session: str

    def home(self, scope: Scope) -> Home:
        match scope:
            case Scope.PROJECT:
                return Home(scope, self.project)
            case Scope.SESSION:
                return Home(scope, self.session)
            case _:
                return Home(scope, "")

    def homes(self, scope: Scope | None) -> list[Home]:
        """One scope, or all of them in the order in which a key is looked up."""
        return [self.home(each) for each in ([scope] if scope else LOOKUP_ORDER)]


@dataclass(frozen=True, slots=True)
class Written:
    """`created` is false where the key had a value before.

    `hidden_by` is a narrower scope that has the key too: a read without a scope finds that value.
    """

    fact: Fact
    created: bool
    hidden_by: Scope | None = None


@dataclass(frozen=True, slots=True)
class FactService:
    """`count_access` is off where the server was started read-only."""

    database: Database
    place: Place
    allow_secrets: bool = False
    count_access: bool = True

    def write(self, draft: FactDraft, scope: Scope, caller: Caller) -> Written:
        """Write a value, or replace it by a new version: its tags and its ttl too.

        Raises:
            Conflict: `expected_version` is not the current one.
            Invalid: it looks like a credential.
        """
        self.check(draft)
        with self.database.write() as tx:
            return self.write_in(tx, draft, self.place.home(scope), caller)

    def check(self, draft: FactDraft) -> None:
        """Raises Invalid."""
        if not self.allow_secrets:
            refuse_secrets(draft.key, draft.value, draft.tags)

    def write_in(self, tx: WriteTx, draft: FactDraft, home: Home, caller: Caller) -> Written:
        """The same inside a transaction of the caller's."""
        gone = facts.expired_at(tx, home, draft.key)
        if gone is not None:
            facts.let_go(tx, gone)
        current = facts.find(tx, home, draft.key)
        _refuse_conflict(draft, current)
        until = None if draft.ttl is None else datetime.fromisoformat(tx.now) + timedelta(seconds=draft.ttl)
        expires_at = None if until is None else timestamp(until)
        if current is None:
            fact = facts.insert(tx, home, draft, expires_at, caller)
        else:
            fact = facts.replace(tx, current, draft, expires_at, caller)
        first = self._find(tx, draft.key, None)
        hidden_by = first.home.scope if first and first.home != home else None
        return Written(fact, current is None, hidden_by)

    def read(self, key: str, scope: Scope | None, tags: tuple[str, ...] = ()) -> Fact | None:
        """The fact of a key in a scope, or in the first scope that has it. Counts an access."""
        with self.database.read() as tx:
            found = self._find(tx, key, scope)
        if found is None or not tagged(found.tags, tags):
            return None
        self._mark([found])
        return found

    def read_matching(
        self, pattern: str, scope: Scope | None, tags: tuple[str, ...], limit: int
    ) -> tuple[list[Fact], int]:
        """As `select`; counts an access of each."""
        found, more = self.select(pattern, scope, tags, limit)
        self._mark(found)
        return found, more

    def select(
        self, pattern: str, scope: Scope | None, tags: tuple[str, ...], limit: int
    ) -> tuple[list[Fact], int]:
        """The facts whose key fits the pattern, by key, and how many there are beyond the limit."""
        with self.database.read() as tx:
            there = facts.headlines(tx, self.place.homes(scope), pattern.partition("*")[0], tags)
            fitting = [each.id for each in there if matches(each.key, pattern)]
            return facts.select(tx, fitting[:limit]), max(0, len(fitting) - limit)

    def delete(self, key: str, scope: Scope | None, caller: Caller) -> Fact | None:
        """Delete the fact that a read without scope would give; None where there is none. It can be undone."""
        with self.database.write() as tx:
            found = self._find(tx, key, scope)
            if found is not None:
                facts.delete(tx, found, caller)
            return found

    def undelete(self, key: str, scope: Scope | None, caller: Caller) -> Fact:
        """Bring back what was deleted last under this key, as a new version that expires when the old one would have.

        Raises:
            NotFound: nothing was deleted under this key.
            Conflict: the key has a value again.
        """
        with self.database.write() as tx:
            ends = [fact_history.select(tx, home, key, 1) for home in self.place.homes(scope)]
            deleted = [end[0] for end in ends if end and end[0].action is Action.DELETED]
            if not deleted:
                raise _nothing_to_undo(key, self._find(tx, key, scope))
            last = max(deleted, key=lambda change: change.number)
            if last.expires_at is not None and last.expires_at <= tx.now:
                raise NotFound(f"`{key}` would have expired at {last.expires_at}. Nothing was undone.")
            draft = FactDraft(key, last.value, last.tags)
            return facts.insert(tx, last.home, draft, last.expires_at, caller)

    def history(self, key: str, scope: Scope | None, limit: int) -> list[FactChange]:
        """What happened to a key, newest first. Without a scope: in the one that a read finds, else any that knows it.

        Raises:
            NotFound: the key was never written.
        """
        with self.database.read() as tx:
            found = self._find(tx, key, scope)
            for home in [found.home] if found else self.place.homes(scope):
                changes = fact_history.select(tx, home, key, limit)
                if changes:
                    return changes
        raise NotFound(f"`{key}` was never written. Call `list_memories` to see the keys.")

    def value_at(self, key: str, scope: Scope | None, moment: datetime) -> FactChange | None:
        """The value that a read at that moment would have found. Counts no access."""
        then = timestamp(moment)
        with self.database.read() as tx:
            for home in self.place.homes(scope):
                last = fact_history.select(tx, home, key, 1, until=then)
                if last and last[0].alive(then):
                    return last[0]
        return None

    def sweep(self) -> None:
        """Remove what has expired: reads pass over it already, this takes it out of the table."""
        if self.database.read_only:
            return
        with self.database.read() as tx:
            if not facts.expired(tx, 1):
                return
        with self.database.write() as tx:
            for fact in facts.expired(tx, SWEEP):
                facts.let_go(tx, fact)

    def _find(self, tx: Tx, key: str, scope: Scope | None) -> Fact | None:
        found = (facts.find(tx, home, key) for home in self.place.homes(scope))
        return next((fact for fact in found if fact is not None), None)

    def _mark(self, read: Sequence[Fact]) -> None:
        if not read or not self.count_access:
            return
        problem = self.database.count(lambda tx: facts.mark_accessed(tx, [fact.id for fact in read]))
        if problem is not None:
            logger.warning("accesses were not counted: %s", problem)


def _nothing_to_undo(key: str, current: Fact | None) -> Conflict | NotFound:
    if current is not None:
        return Conflict(f"`{key}` was not deleted: it has {_shown(current)}. Nothing was undone.")
    return NotFound(
        f"No deleted fact `{key}`. Call `read_memory` with history=true to see what happened to it."
    )


def _refuse_conflict(draft: FactDraft, current: Fact | None) -> None:
    if draft.expected_version is None:
        return
    version = current.version if current else 0
    if version == draft.expected_version:
        return
    state = _shown(current) if current else "no value"
    raise Conflict(
        f"`{draft.key}` is at version {version}, not {draft.expected_version}. Nothing was written. It has {state}. "
        f"Decide with that in mind, then write again with expectedVersion={version}."
    )


def _shown(fact: Fact) -> str:
    value = json.dumps(fact.value, ensure_ascii=False)
    short = value if len(value) <= SHOWN else value[:SHOWN] + "…"
    return f"the value {short}, written by {fact.updated_by or 'hand'} at {fact.updated_at}"
