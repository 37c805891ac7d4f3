"""The tables `rules` and `rule_hits`: long-term memories that look at acts, and what they did."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from memory_server.domain.caller import Caller
from memory_server.domain.effect import Effect, RuleDraft
from memory_server.domain.long_term import LongTermId
from memory_server.domain.rules import Rule, RuleCounts, RuleHit
from memory_server.storage.memory_rows import STANDS
from memory_server.storage.short_term import ConversationId
from memory_server.storage.statements import Statements

MOST: Final = 2_000
"""Hits that are kept. The oldest ones go first."""

_RULES: Final = """
    SELECT m.id, m.name, m.prompt, m."trigger", r.effect, r.holds, r.passes, r.confirmed_at, r.off, m.origin
    FROM rules AS r JOIN long_term_memories AS m ON m.id = r.memory_id
"""

_IN_PLACES: Final = f"{_RULES} WHERE m.conversation_id IN (SELECT value FROM json_each(:places))"


@dataclass(frozen=True, slots=True)
class Rules:
    tx: Statements

    def standing(self, conversations: Sequence[ConversationId]) -> list[Rule]:
        """Return the rules that judge an act: none that is off, none that somebody outside has written."""
        rows = self.tx.rows(
            f"{_IN_PLACES} AND NOT r.off AND {STANDS} ORDER BY m.id", {"places": self.tx.array(conversations)}
        )
        return list(map(_rule, rows))

    def select(self, conversations: Sequence[ConversationId]) -> list[Rule]:
        """Return all rules of some conversations, by name."""
        rows = self.tx.rows(f"{_IN_PLACES} ORDER BY m.name, m.id", {"places": self.tx.array(conversations)})
        return list(map(_rule, rows))

    def find(self, memory: LongTermId) -> Rule | None:
        row = self.tx.row(f"{_RULES} WHERE m.id = :memory", {"memory": memory})
        return None if row is None else _rule(row)

    def confirmed(self, memories: Sequence[int]) -> dict[int, str]:
        """Return those of some memories that are rules which a person has confirmed: their names by id."""
        rows = self.tx.rows(
            """
            SELECT m.id, m.name
            FROM rules AS r JOIN long_term_memories AS m ON m.id = r.memory_id
            WHERE r.confirmed_at IS NOT NULL AND m.id IN (SELECT value FROM json_each(:ids))
            """,
            {"ids": self.tx.array(memories)},
        )
        return dict(rows)

    def stand(self) -> bool:
        """Return True if some rule is not off."""
        return self.tx.row("SELECT 1 FROM rules WHERE NOT off LIMIT 1") is not None

    def is_named(self, name: str) -> bool:
        """Return True if some rule has this name."""
        row = self.tx.row(
            """
            SELECT 1 FROM rules AS r JOIN long_term_memories AS m ON m.id = r.memory_id WHERE m.name = :name LIMIT 1
            """,
            {"name": name},
        )
        return row is not None

    def counts(self) -> dict[LongTermId, RuleCounts]:
        """Return what each rule did."""
        rows = self.tx.rows(
            "SELECT memory_id, count(*), count(overruled_at), max(at) FROM rule_hits GROUP BY memory_id"
        )
        return {LongTermId(id): RuleCounts(hits, overruled, last) for id, hits, overruled, last in rows}

    def hits(self, limit: int) -> list[RuleHit]:
        """Return the last acts that rules held, the latest first."""
        rows = self.tx.rows(
            """
            SELECT h.at, m.name, h.effect, h.act, h.client, h.session, h.overruled_at
            FROM rule_hits AS h JOIN long_term_memories AS m ON m.id = h.memory_id
            ORDER BY h.id DESC
            LIMIT :limit
            """,
            {"limit": limit},
        )
        return [RuleHit(at, name, Effect(effect), *columns) for at, name, effect, *columns in rows]


@dataclass(frozen=True, slots=True)
class WritableRules(Rules):
    def put(self, memory: LongTermId, draft: RuleDraft, confirmed: bool) -> None:
        """Make a memory a rule, or change the rule that it is. `confirmed`: a person does it."""
        self.tx.send(
            """
            INSERT INTO main.rules (memory_id, effect, holds, passes, confirmed_at)
            VALUES (:memory, :effect, :holds, :passes, :confirmed)
            ON CONFLICT (memory_id) DO UPDATE SET
                effect = excluded.effect, holds = excluded.holds, passes = excluded.passes,
                confirmed_at = excluded.confirmed_at
            """,
            {
                "memory": memory,
                "effect": draft.effect.value,
                "holds": json.dumps(draft.holds, ensure_ascii=False),
                "passes": json.dumps(draft.passes, ensure_ascii=False),
                "confirmed": self.tx.now if confirmed else None,
            },
        )

    def confirm(self, memory: LongTermId) -> None:
        self.tx.send(
            "UPDATE main.rules SET confirmed_at = :now, off = false WHERE memory_id = :memory",
            {"memory": memory, "now": self.tx.now},
        )

    def switch(self, memory: LongTermId, off: bool) -> None:
        self.tx.send(
            "UPDATE main.rules SET off = :off WHERE memory_id = :memory", {"memory": memory, "off": off}
        )

    def restore(self, memory: LongTermId, off: bool, confirmed_at: str | None) -> None:
        self.tx.send(
            "UPDATE main.rules SET off = :off, confirmed_at = :confirmed WHERE memory_id = :memory",
            {"memory": memory, "off": off, "confirmed": confirmed_at},
        )

    def log(self, hits: Sequence[tuple[LongTermId, Effect]], act: str, caller: Caller) -> None:
        """Keep that these rules held an act."""
        self.tx.send_each(
            """
            INSERT INTO main.rule_hits (memory_id, at, client, session, effect, act)
            SELECT id, :now, :client, :session, :effect, :act FROM long_term_memories WHERE id = :memory
            """,
            (
                {
                    "memory": memory,
                    "now": self.tx.now,
                    "client": caller.client,
                    "session": caller.session,
                    "effect": effect.value,
                    "act": act,
                }
                for memory, effect in hits
            ),
        )
        self.tx.send(
            "DELETE FROM main.rule_hits WHERE id <= (SELECT max(id) FROM rule_hits) - :most", {"most": MOST}
        )

    def overrule(self, act: str, session: str | None) -> int:
        """Mark that an act ran which was asked about; return how many hits that concerns."""
        return self.tx.change(
            """
            UPDATE main.rule_hits
            SET overruled_at = :now
            WHERE act = :act AND session IS NOT DISTINCT FROM :session AND overruled_at IS NULL AND effect <> 'say'
            """,
            {"act": act, "session": session, "now": self.tx.now},
        )


def _rule(row: Sequence[Any]) -> Rule:
    id, name, prompt, trigger, effect, holds, passes, confirmed_at, off, origin = row
    examples = (tuple(json.loads(holds)), tuple(json.loads(passes)))
    return Rule(
        LongTermId(id), name, prompt, trigger, Effect(effect), *examples, confirmed_at, bool(off), origin
    )
