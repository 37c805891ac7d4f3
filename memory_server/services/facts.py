"""Facts: write, read, list, delete and undo, and let go what has expired."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import takewhile

from memory_server.domain import fact_text, forgetting, rights, trust
from memory_server.domain.caller import Caller
from memory_server.domain.fact import (
    WILDCARD,
    Action,
    Fact,
    FactChange,
    FactDraft,
    Headline,
    Scope,
    home,
    homes,
    matches,
    refuse_sharing,
    tagged,
)
from memory_server.domain.forgetting import Forgotten
from memory_server.domain.moment import timestamp
from memory_server.domain.secrets import refuse_secrets
from memory_server.domain.turn import Turn
from memory_server.errors import Conflict, Hint, Invalid, Mend, NotFound, Problem
from memory_server.services import projects
from memory_server.services.ground import Hears, unheard
from memory_server.services.trusting import refuse_replacing
from memory_server.storage.database import Database
from memory_server.storage.tx import Tx, WriteTx

AT_ONCE = 500
"""Expired facts that leave in one transaction: about 20 ms, so that a write waits little."""

NAMED = 10
"""Keys that a refused pattern names."""

SHOWN = 300
"""Characters of a current value that a Conflict shows."""


@dataclass(frozen=True, slots=True)
class WrittenFact:
    """A fact that was written. `created` is false where the key had a value before.

    `hidden_by` is a narrower scope that has the key too: a read without a scope finds that value.
    """

    fact: Fact
    created: bool
    hidden_by: Scope | None = None


@dataclass(frozen=True, slots=True)
class FactsFound:
    """Facts by key, and how many more fit; `degraded` names the rows that could not be read."""

    facts: list[Fact]
    more: int
    degraded: tuple[Problem, ...]


@dataclass(frozen=True, slots=True)
class KeyHistory:
    """The changes of a key, newest first; `degraded` names the rows that could not be read."""

    changes: list[FactChange]
    degraded: tuple[Problem, ...]


@dataclass(frozen=True, slots=True)
class FactService:
    """`count_access` is off where the server was started read-only. `written` hears of each value. `hides`: a
    list leaves out what waits to be confirmed."""

    database: Database
    allow_secrets: bool = False
    count_access: bool = True
    written: Hears = unheard
    hides: bool = False

    def write(self, draft: FactDraft, scope: Scope, caller: Caller) -> WrittenFact:
        """Write a value, or replace it by a new version: its tags and its ttl too.

        Raises:
            Conflict: `expected_version` is not the current one.
            Invalid: it looks like a credential, the key is a pattern, or the person may not change shared facts.
        """
        self.check(draft)
        with self.database.write() as tx:
            written = self.write_in(tx, draft, scope, caller)
        self.written(written.fact, caller)
        return written

    def check(self, draft: FactDraft) -> None:
        """Raise Invalid where the key is a pattern, or something looks like a credential."""
        if WILDCARD in draft.key:
            raise Invalid(
                f"`{draft.key}` holds `{WILDCARD}`, which is for patterns. No key may hold it. Nothing was written."
            )
        if not self.allow_secrets:
            refuse_secrets({draft.key: draft.value}, draft.tags)

    def write_in(self, tx: WriteTx, draft: FactDraft, scope: Scope, caller: Caller) -> WrittenFact:
        """Write a value inside a transaction that is open already, after `check`."""
        refuse_sharing(tx.person, scope)
        caller = projects.settled(tx, caller) if scope is Scope.PROJECT else projects.known(tx, caller)
        place = home(scope, caller)
        first = _find(tx, draft.key, None, caller)
        gone, current = tx.facts.expired_at(place, draft.key), tx.facts.find(place, draft.key)
        if gone is not None:
            tx.facts.let_go(gone)
        _refuse_conflict(draft, current)
        stamp = draft.origin or fact_text.origin(draft.key, draft.value, caller.stamp, draft.tags)
        if current is not None:
            refuse_replacing(stamp, current)
            stamp = trust.joined(stamp, [current.origin])
        draft = replace(draft, origin=stamp)
        until = None if draft.ttl is None else datetime.fromisoformat(tx.now) + timedelta(seconds=draft.ttl)
        expires_at = None if until is None else timestamp(until)
        if current is None:
            fact = tx.facts.insert(place, draft, expires_at, caller)
        else:
            fact = tx.facts.replace(current, draft, expires_at, caller)
        narrower = takewhile(lambda scope_home: scope_home != place, homes(None, caller))
        hidden_by = first.home.scope if first and first.home in narrower else None
        return WrittenFact(fact, current is None, hidden_by)

    def read(self, key: str, scope: Scope | None, tags: tuple[str, ...], caller: Caller) -> Fact | None:
        """Return the fact of a key in a scope, or in the first scope that has it. Counts an access."""
        self.database.settle()
        fact = self.peek(key, scope, caller)
        if fact is None or not tagged(fact.tags, tags):
            return None
        self._mark([fact])
        return fact

    def peek(self, key: str, scope: Scope | None, caller: Caller) -> Fact | None:
        """Return what `read` returns; counts no access."""
        with self.database.read() as tx:
            return _find(tx, key, scope, projects.known(tx, caller))

    def get(self, key: str, scope: Scope, caller: Caller) -> Fact:
        """Return the fact of a key in a scope. Counts no access.

        Raises:
            NotFound: it has no value.
        """
        fact = self.peek(key, scope, caller)
        if fact is None:
            raise NotFound(f"No fact `{key}` in the scope {scope}.", Mend.LIST_FACTS)
        return fact

    def read_matching(
        self, pattern: str, scope: Scope | None, tags: tuple[str, ...], limit: int, caller: Caller
    ) -> FactsFound:
        """Return what `select` returns; counts an access of each fact."""
        self.database.settle()
        matching = self.select(pattern, scope, tags, limit, caller)
        self._mark(matching.facts)
        return matching

    def select(
        self, pattern: str, scope: Scope | None, tags: tuple[str, ...], limit: int, caller: Caller
    ) -> FactsFound:
        """Return the facts whose key fits the pattern, by key."""
        with self.database.read() as tx:
            headlines = _fitting(tx, pattern, scope, tags, projects.known(tx, caller), self.hides)
            fitting = [headline.id for headline in headlines]
            facts = tx.facts.select(fitting[:limit])
            return FactsFound(facts, max(0, len(fitting) - limit), tuple(tx.skipped))

    def shows(self, stored: Fact | Turn) -> bool:
        """True if a list has it."""
        return trust.is_listed(stored.origin, self.hides)

    def delete(self, key: str, scope: Scope | None, caller: Caller) -> tuple[Fact | None, Forgotten]:
        """Delete the fact that a read without scope would give; None where there is none. It can be brought back for
        30 days.

        Raises:
            Invalid: the key is a pattern, or the person may not change shared facts.
        """
        with self.database.write() as tx:
            caller = projects.known(tx, caller)
            _refuse_pattern(tx, key, scope, caller)
            fact = _find(tx, key, scope, caller)
            if fact is not None:
                refuse_sharing(tx.person, fact.home.scope)
                tx.facts.delete(fact, caller)
            return fact, forgetting.deleted(int(fact is not None), tx.now)

    def purge(self, key: str, scope: Scope | None, caller: Caller) -> tuple[Scope | None, Forgotten]:
        """Erase a key with its value and its history for good: in the scope that a read finds, else in the first that
        knows the key. The scope, None where none knows it. A key of which somebody else has written a value is deleted.

        Raises:
            Invalid: the key is a pattern, or the person may not change shared facts.
        """
        with self.database.write() as tx:
            caller = projects.known(tx, caller)
            _refuse_pattern(tx, key, scope, caller)
            current = _find(tx, key, scope, caller)
            places = [current.home] if current else homes(scope, caller)
            last = next(filter(None, (tx.fact_history.find_last(place, key) for place in places)), None)
            if last is None:
                return None, forgetting.erased(0)
            refuse_sharing(tx.person, last.home.scope)
            if not rights.erases(tx.person, tx.fact_history.writers(last.home, key)):
                if current is not None:
                    tx.facts.delete(current, caller)
                return last.home.scope, forgetting.not_erased(tx.now if current else last.changed_at)
            first = tx.fact_history.first(last.home, key)
            tx.facts.erase(last.home, key)
        return last.home.scope, forgetting.erased(1, self.database.files.drop_copies({"fact_history": first}))

    def undelete(self, key: str, scope: Scope | None, caller: Caller) -> Fact:
        """Bring back what was deleted last under this key, as a new version that expires when the old one would have.

        Raises:
            NotFound: nothing was deleted under this key.
            Conflict: the key has a value again.
            Invalid: the person may not change shared facts.
        """
        with self.database.write() as tx:
            caller = projects.settled(tx, caller)
            ends = [tx.fact_history.find_last(place, key) for place in homes(scope, caller)]
            deleted = [end for end in ends if end is not None and end.action is Action.DELETED]
            if not deleted:
                raise _nothing_to_undo(key, _find(tx, key, scope, caller))
            last = max(deleted, key=lambda change: change.number)
            if last.expires_at is not None and last.expires_at <= tx.now:
                raise NotFound(f"`{key}` would have expired at {last.expires_at}. Nothing was undone.")
            refuse_sharing(tx.person, last.home.scope)
            draft = FactDraft(key, last.value, last.tags, origin=last.origin)
            return tx.facts.insert(last.home, draft, last.expires_at, caller)

    def history(self, key: str, scope: Scope | None, limit: int, caller: Caller) -> KeyHistory:
        """Return the changes of a key. Without a scope: in the one that a read finds, else any that knows it.

        Raises:
            NotFound: the key was never written.
        """
        with self.database.read() as tx:
            caller = projects.known(tx, caller)
            current = _find(tx, key, scope, caller)
            for place in [current.home] if current else homes(scope, caller):
                changes = tx.fact_history.select(place, key, limit)
                if changes or tx.skipped:
                    return KeyHistory(changes, tuple(tx.skipped))
        raise NotFound(f"`{key}` was never written.", Mend.LIST_FACTS)

    def value_at(self, key: str, scope: Scope | None, then: str, caller: Caller) -> FactChange | None:
        """Return the value that a read at a moment, as `timestamp` writes it, would have found. Counts no access."""
        with self.database.read() as tx:
            for place in homes(scope, projects.known(tx, caller)):
                last = tx.fact_history.find_last(place, key, until=then)
                if last is not None and last.alive(then):
                    return last
        return None

    def end(self, key: str, scope: Scope | None, caller: Caller) -> FactChange | None:
        """Return the change that took the value of a key away: it was deleted, or it expired."""
        with self.database.read() as tx:
            places = homes(scope, projects.known(tx, caller))
            changes = filter(None, (tx.fact_history.find_last(place, key) for place in places))
            return next((change for change in changes if not change.alive(tx.now)), None)

    def remove_expired(self) -> None:
        """Background work: take what had expired on the last day of a server out of the table. Reads pass over it
        already."""
        if self.database.read_only:
            return
        with self.database.read() as tx:
            moment = tx.server_days.certain()
            # One alone could be a row that cannot be read.
            if moment is None or not tx.facts.expired(moment, AT_ONCE):
                return
        with self.database.write() as tx:
            for fact in tx.facts.expired(moment, AT_ONCE):
                tx.facts.let_go(fact)

    def _mark(self, read: Sequence[Fact]) -> None:
        if read and self.count_access:
            self.database.later(lambda tx: tx.facts.mark_accessed([fact.id for fact in read]))


def _find(tx: Tx, key: str, scope: Scope | None, caller: Caller) -> Fact | None:
    return tx.facts.first(homes(scope, caller), key)


def _fitting(
    tx: Tx, pattern: str, scope: Scope | None, tags: tuple[str, ...], caller: Caller, hides: bool = False
) -> list[Headline]:
    prefix = pattern.partition(WILDCARD)[0]
    headlines = tx.facts.headlines(homes(scope, caller), prefix, tags, said_unasked=hides)
    return [headline for headline in headlines if matches(headline.key, pattern)]


def _refuse_pattern(tx: Tx, key: str, scope: Scope | None, caller: Caller) -> None:
    """Raise Invalid for a pattern: a deletion takes one key, also one with a wildcard that a file has from before."""
    if WILDCARD not in key or any(tx.fact_history.find_last(place, key) for place in homes(scope, caller)):
        return
    names = list(dict.fromkeys(f"`{headline.key}`" for headline in _fitting(tx, key, scope, (), caller)))
    fits = f"fits {len(names)}: {', '.join(names[:NAMED])}" if names else "fits none"
    raise Invalid(
        f"`{key}` is a pattern: a deletion takes one key. It {fits}{', …' if len(names) > NAMED else ''}. "
        "Nothing was deleted."
    )


def _nothing_to_undo(key: str, current: Fact | None) -> Conflict | NotFound:
    if current is not None:
        return Conflict(f"`{key}` was not deleted: it has {_shown(current)}. Nothing was undone.")
    return NotFound(f"No deleted fact `{key}`.", Hint(Mend.SHOW_FACT_HISTORY, {"key": key}))


def _refuse_conflict(draft: FactDraft, current: Fact | None) -> None:
    if draft.expected_version is None:
        return
    version = current.version if current else 0
    if version == draft.expected_version:
        return
    state = _shown(current) if current else "no value"
    raise Conflict(
        f"`{draft.key}` is at version {version}, not {draft.expected_version}. Nothing was written. It has {state}.",
        Hint(Mend.WRITE_AT_VERSION, {"version": version}),
    )


def _shown(fact: Fact) -> str:
    value = json.dumps(fact.value, ensure_ascii=False)
    short = value if len(value) <= SHOWN else value[:SHOWN] + "…"
    return f"the value {short}, written by {fact.updated_by or 'hand'} at {fact.updated_at}"
