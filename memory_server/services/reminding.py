"""Reminds a session of what fits a prompt: first the long-term memories that it wakes, then what it is likely about.

Each text is said once in a session.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from memory_server.domain import recall, trust
from memory_server.domain.caller import Caller
from memory_server.domain.injection import Injected, Mention, Reminder
from memory_server.domain.long_term import LongTermId
from memory_server.domain.message import Message
from memory_server.domain.recall import Found, Recallable
from memory_server.language import query, sentences
from memory_server.language.small_talk import is_small_talk
from memory_server.language.telling import telling
from memory_server.language.tokens import estimate
from memory_server.services import ground
from memory_server.services.waking import WakingService, Woken
from memory_server.storage.database import Database

READ = 600
"""Characters of a prompt, the most telling sentences, for which texts are looked for."""

JUDGED = 20_000
"""Characters of a prompt that triggers see: its first and its last half. Prompts hold whole logs."""

SHOWN = 5
"""Most texts that a prompt brings to mind besides the prompts that it wakes."""

OF_WOKEN = 0.75
"""Share of the tokens that prompts that woke may take: they were stored to be said."""

PROMPT = 120
"""Tokens that are said of a prompt that woke."""

Find = Callable[[str, Caller], Sequence[Found]]
"""Finds what a text is likely about, best first."""


@dataclass(frozen=True, slots=True)
class RemindingService:
    database: Database
    waking: WakingService
    find: Find

    def remind(self, prompt: str, max_tokens: int, caller: Caller) -> Reminder:
        """Return lines with the prompts that woke, then with what is likely to bear on a prompt, best first, in at
        most so many tokens. What this session has been told already is left out. Nothing is recorded."""
        with self.database.read() as tx:
            told_rows = tx.hook_injections.in_context(caller.session) if caller.session else set()
        awake = frozenset(LongTermId(id) for kind, id in told_rows if kind is Injected.WOKEN)
        due = self.waking.due([Message("user", _judged(prompt))], awake, caller)
        text = telling(prompt, READ)
        hits: list[Found] = []
        if not all(map(is_small_talk, query.parse(text).terms)):
            likely = [hit for hit in self.find(text, caller) if not trust.waits(hit.origin)]
            outdated = {ref for hit in likely if _row(hit) in told_rows for ref in hit.replaces}
            new_hits = [hit for hit in likely if _row(hit) not in told_rows and hit.ref not in outdated]
            marked = [replace(hit, by_user=trust.is_of_user(hit.origin)) for hit in new_hits[:SHOWN]]
            hits = ground.with_remarks(marked, caller)
        answer = recall.compose(text, [_of(woken) for woken in due], hits, max_tokens, OF_WOKEN)
        why = {(Injected.WOKEN, int(woken.id)): woken.reason for woken in due}
        lines = answer.text.split("\n") if answer.items else []
        rows = map(_row, answer.items)
        mentions = [
            Mention(*row, estimate(line), why.get(row)) for row, line in zip(rows, lines, strict=True)
        ]
        return Reminder(answer.text, tuple(mentions))


def _of(due: Woken) -> Found:
    text = sentences.shortened(due.prompt, PROMPT)
    return Found(Recallable.WOKEN, f"w {due.name}", text, None, 1.0, id=due.id)


def _row(hit: Found) -> tuple[Injected, int]:
    return Injected(hit.kind.value), hit.id


def _judged(prompt: str) -> str:
    if len(prompt) <= JUDGED:
        return prompt
    return f"{prompt[: JUDGED // 2]}\n{prompt[-JUDGED // 2 :]}"
