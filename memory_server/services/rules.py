"""Rules: kept where their examples pass, and confirmed by a person alone."""

from collections.abc import Sequence
from dataclasses import dataclass

from memory_server.domain import rules, sight, trust
from memory_server.domain.caller import Caller
from memory_server.domain.effect import RuleDraft
from memory_server.domain.long_term import LongTermChange, LongTermDraft
from memory_server.domain.rules import Rule, RuleCounts, RuleHit
from memory_server.errors import Invalid, Mend, NotFound
from memory_server.language.nearest import meant
from memory_server.services.long_term import LongTermService
from memory_server.services.ruling import RulingService, situation_of
from memory_server.services.waking import places
from memory_server.storage.database import Database
from memory_server.storage.short_term import ConversationId
from memory_server.storage.tx import Tx, WriteTx
from memory_server.triggers import Checked, TriggerEngine, Value

LISTED = 200
"""Hits that a log shows."""

SAMPLE_BRANCH = "main"
"""The branch that is checked out where an example is tried."""


@dataclass(frozen=True, slots=True)
class ListedRule:
    """A rule, its condition in words, and what it did."""

    rule: Rule
    words: str
    counts: RuleCounts


@dataclass(frozen=True, slots=True)
class KeptRule:
    """A rule that was kept, in words."""

    rule: Rule
    words: str
    checked: Checked


@dataclass(frozen=True, slots=True)
class RuleService:
    """`engine` tries a rule before it is kept; `ruling` judges acts by it afterwards."""

    database: Database
    engine: TriggerEngine
    ruling: RulingService
    long_term: LongTermService

    # ---- keeping

    def add(self, draft: LongTermDraft, conversation: str | None, caller: Caller) -> KeptRule:
        """Keep a rule whose examples pass. One that a person adds is confirmed.

        Raises:
            TriggerRejected: the trigger does not compile or gives no value.
            Invalid: it does not look at an act, or an example does not pass, or there is a secret.
            Conflict: the name is taken.
        """
        if draft.rule is None:
            raise Invalid(
                "A trigger that looks at `act` is a rule: it has an effect, and examples that it holds and lets pass."
            )
        self._refuse_failing(draft.trigger, draft.rule)
        checked = self.long_term.add(draft, conversation, caller)
        with self.database.read() as tx:
            stored = _rule(tx, draft.name, places(tx, [conversation], caller))
        self.ruling.warm_up(stored.trigger)
        return KeptRule(stored, self.words(stored), checked)

    def refuse_change(self, name: str, trigger: str, conversation: str | None, caller: Caller) -> None:
        """Raise Invalid where a rule has this name, and its examples do not pass with another trigger."""
        with self.database.read() as tx:
            selected = tx.rules.select(places(tx, [conversation], caller))
        for rule in selected:
            if rule.name == name:
                self._refuse_failing(trigger, RuleDraft(rule.effect, rule.holds, rule.passes))

    def _refuse_failing(self, trigger: str, rule: RuleDraft) -> None:
        """Try a rule on its examples.

        Raises:
            Invalid: it does not look at an act, or an example does not pass, or there is none of a kind.
        """
        if not rules.reads_act(trigger):
            raise Invalid(
                "The trigger of a rule looks at `act`: runs(act, 'git push main'), touches(act, 'migrations/**')."
            )
        if not (rule.holds and rule.passes):
            raise Invalid(
                "A rule has examples: at least one act that it holds, and one that it lets through."
            )
        wrong = [
            f"`{text}` should be held, but is let through"
            if expected
            else f"`{text}` should be let through, but is held"
            for texts, expected in ((rule.holds, True), (rule.passes, False))
            for text in texts
            if self.tried(trigger, text) is not expected
        ]
        if wrong:
            raise Invalid(f"The rule does not fit its examples: {', '.join(wrong)}. Nothing was stored.")

    def tried(self, trigger: str, text: str) -> bool | None:
        """Return whether a rule with this trigger holds an act; None where it has no value."""
        with self.database.read() as tx:
            now = tx.now
        situation = situation_of(sight.of_text(text), now, None, SAMPLE_BRANCH)
        (outcome,) = self.engine.judge([trigger], situation)
        return outcome.holds if isinstance(outcome, Value) else None

    # ---- what a person does

    def confirm(self, name: str, caller: Caller) -> Rule:
        """Let a rule do what it says. Only a face in which a person acts calls it.

        Raises:
            NotFound: there is no such rule.
        """
        with self.database.write() as tx:
            rule = _kept(tx, name, caller)
            if trust.waits(rule.origin):
                origin = trust.confirmed(rule.origin)
                tx.long_term.replace(rule.id, LongTermChange(origin=origin))
            tx.rules.confirm(rule.id)
            return _rule(tx, name, places(tx, [None], caller))

    def switch(self, name: str, off: bool, caller: Caller) -> Rule:
        """Switch a rule off or on. Only a face in which a person acts calls it.

        Raises:
            NotFound: there is no such rule.
        """
        with self.database.write() as tx:
            tx.rules.switch(_kept(tx, name, caller).id, off)
            return _rule(tx, name, places(tx, [None], caller))

    def select(self, caller: Caller) -> list[ListedRule]:
        """Return the rules of the caller's project and of all projects, by name."""
        with self.database.read() as tx:
            selected, counts = tx.rules.select(places(tx, [None], caller)), tx.rules.counts()
        return [ListedRule(rule, self.words(rule), counts.get(rule.id, RuleCounts())) for rule in selected]

    def hits(self, limit: int = LISTED) -> list[RuleHit]:
        """Return the last acts that rules held, the latest first."""
        with self.database.read() as tx:
            return tx.rules.hits(limit)

    def words(self, rule: Rule) -> str:
        """Word the condition of a rule."""
        return rules.in_words([source for source, _ in self.engine.parts(rule.trigger)])


def _kept(tx: WriteTx, name: str, caller: Caller) -> Rule:
    """Return the rule of a name, which is kept as it is before it changes.

    Raises:
        NotFound: there is none.
    """
    conversations = places(tx, [None], caller)
    rule = _rule(tx, name, conversations)
    for conversation in conversations:
        memory = tx.long_term.find(conversation, name)
        if memory is not None and memory.id == rule.id:
            tx.changes.keep_long_term(memory, caller)
    return rule


def _rule(tx: Tx, name: str, conversations: Sequence[ConversationId]) -> Rule:
    """Return the rule of a name in some conversations.

    Raises:
        NotFound: there is none.
    """
    selected = tx.rules.select(conversations)
    for rule in selected:
        if rule.name == name:
            return rule
    near = meant(name, [rule.name for rule in selected])
    raise NotFound(
        f"There is no rule `{name}`. Did you mean `{near}`?" if near else f"There is no rule `{name}`.",
        Mend.LIST_RULES,
    )
