"""What a prompt should bring to mind: first the long-term memories that it wakes, then what it is likely about.

Each text is said once in a session. How texts are found, and which triggers can be evaluated, depends on the process: a
hook has a tenth of a second, a server has the embedder and JavaScript.
"""

from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from memory_server.domain import recall
from memory_server.domain.caller import Caller
from memory_server.domain.injection import Injected, Mention, Reminder
from memory_server.domain.long_term import LongTermId
from memory_server.domain.recall import Found, Recallable
from memory_server.language import query, sentences
from memory_server.language.small_talk import is_small_talk
from memory_server.language.telling import telling
from memory_server.language.tokens import estimate
from memory_server.services.waking import Due, WakingService
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

Find = Callable[[str, AbstractSet[tuple[Injected, int]], Caller], Sequence[Found]]
"""Finds what a text is likely about, best first, without the rows that the session has been told."""


@dataclass(frozen=True, slots=True)
class RemindingService:
    database: Database
    waking: WakingService
    find: Find

    def remind(self, prompt: str, max_tokens: int, caller: Caller) -> Reminder:
        """Lines with the prompts that woke, then with what is likely to bear on a prompt, best first, in at most so
        many tokens. What this session has been told already is left out. Nothing is recorded."""
        with self.database.read() as tx:
            told = tx.hook_injections.in_context(caller.session) if caller.session else set()
        awake = frozenset(LongTermId(id) for kind, id in told if kind is Injected.WOKEN)
        due = self.waking.due(_judged(prompt), awake, caller)
        text = telling(prompt, READ)
        found: list[Found] = []
        if not all(map(is_small_talk, query.parse(text).terms)):
            found = [each for each in self.find(text, told, caller) if _row(each) not in told][:SHOWN]
        answer = recall.compose(text, [_of(each) for each in due], found, max_tokens, OF_WOKEN)
        why = {(Injected.WOKEN, int(each.id)): each.why for each in due}
        lines = answer.text.split("\n") if answer.items else []
        rows = map(_row, answer.items)
        said = [Mention(*row, estimate(line), why.get(row)) for row, line in zip(rows, lines, strict=True)]
        return Reminder(answer.text, tuple(said))


def _of(due: Due) -> Found:
    said = sentences.shortened(due.prompt, PROMPT)
    return Found(Recallable.WOKEN, f"w {due.name}", said, None, 1.0, id=due.id)


def _row(found: Found) -> tuple[Injected, int]:
    return Injected(found.kind.value), found.id


def _judged(prompt: str) -> str:
    if len(prompt) <= JUDGED:
        return prompt
    return f"{prompt[: JUDGED // 2]}\n{prompt[-JUDGED // 2 :]}"
