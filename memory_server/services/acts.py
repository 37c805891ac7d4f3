"""Reminds a session, before an act, of what decides, warns or prescribes about this file or this command."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from memory_server.domain import commands, fact_text, parts, recall, trust
from memory_server.domain.act import Act
from memory_server.domain.briefing.headings import Heading
from memory_server.domain.briefing.items import heading_of
from memory_server.domain.caller import Caller
from memory_server.domain.commands import Form
from memory_server.domain.embedding import Embedded
from memory_server.domain.fact import Fact
from memory_server.domain.injection import Injected, Mention, Reminder
from memory_server.domain.memory import Memory, MemoryId, MemoryType
from memory_server.domain.recall import Found, Recallable
from memory_server.ground import About, about, touched
from memory_server.language import sentences
from memory_server.language.tokens import estimate
from memory_server.services import ground, projects
from memory_server.services.shared_words import visible_to
from memory_server.storage.database import Database
from memory_server.storage.tx import Tx
from memory_server.storage.words import Index

MOST_FILES = 8
"""Files of a patch that are looked at."""

MOST_TERMS = 40
"""Words of an act that are looked up."""

MOST_TEXTS = 400
"""Memories, and facts, with a word of an act that are read, the newest of each word."""

SAID = 2
"""Notes that are said before an act."""

PRESCRIBING = frozenset([MemoryType.DECISION, MemoryType.PATTERN, MemoryType.PREFERENCE])

_CUE = re.compile(
    r"\b(?:never|always|must|mustn't|do not|don't|avoid\w*|instead of|rather than|make sure|beware|careful|warning"
    r"|required|forbidden|only|should|shouldn't|breaks?|keep|niemals|nie|immer|muss|müssen|nicht|statt|achtung|vorsicht)\b"
    r"|必须|不要|不能|务必|禁止|总是|始终|应该|注意|别|只能",
    re.IGNORECASE,
)
"""Words of a text that prescribes or warns, whatever its type."""

_CONVENTIONS = frozenset([Heading.CONVENTIONS, Heading.DECIDED, Heading.EVERYWHERE])

Judge = Callable[[Memory | Fact, str], float]
"""Tells how exactly a text is about an act: 0 where it is not."""


@dataclass(frozen=True, slots=True)
class ActService:
    database: Database

    def remind(self, act: Act, max_tokens: int, caller: Caller, most: int = SAID) -> Reminder:
        """Return lines with what is known of the file or the command of an act, best first. What this session has been
        told already is left out, but what its briefing told was long ago. Nothing is recorded."""
        with self.database.read() as tx:
            context = tx.hook_injections.since_the_briefing(caller.session) if caller.session else set()
            caller = projects.known(tx, caller)
            notes = [note for note in _notes(tx, act, caller) if _row(note) not in context]
        notes = notes[:most]
        changed = ground.remarks(
            {place: note.anchors for place, note in enumerate(notes) if note.anchors}, caller.folder
        )
        lines, mentions = [], []
        for place, note in enumerate(notes):
            line = _line(note, changed.get(place), _words(act), max_tokens)
            cost = estimate(line)
            if cost <= max_tokens:
                max_tokens -= cost
                lines.append(line)
                mentions.append(Mention(*_row(note), cost))
        return Reminder("\n".join(lines), tuple(mentions))


def _notes(tx: Tx, act: Act, caller: Caller) -> list[Found]:
    """Return what is about an act, the most exact first."""
    if act.command:
        return _about_command(tx, act, caller)
    files = [touched(path, act.text, caller.folder) for path in act.paths[:MOST_FILES]]
    terms = dict.fromkeys(term for file in files for term in file.terms)
    anchors: ground.Anchored = {}

    def judge(item: Memory | Fact, text: str) -> float:
        of_item = anchors.get(item.id, ()) if isinstance(item, Memory) else ()
        best = max((about(text, file, of_item) for file in files), default=About.NOTHING)
        is_of_project = not isinstance(item, Memory) or bool(item.project)
        return float(best) if is_of_project or best is About.FOLDER else 0.0

    memories, facts = _holding(tx, list(terms), caller)
    anchors |= ground.anchored(tx, Embedded.MEMORIES, [memory.id for memory in memories], caller)
    return _judged(memories, facts, judge, anchors)


def _about_command(tx: Tx, act: Act, caller: Caller) -> list[Found]:
    """Return what says how a command is run here, where it is not run so."""
    several = commands.commands(act.command)
    terms = dict.fromkeys(term for command in several for term in commands.terms(command))

    def judge(item: Memory | Fact, text: str) -> float:
        value = fact_text.value_of(item.value) if isinstance(item, Fact) else ""
        named = commands.of_note(text) or commands.of_note(f"`{value}`")
        forms = [commands.form(command, named) for command in several] if named else []
        return 1.0 if Form.OTHER in forms and Form.RIGHT not in forms else 0.0

    memories, facts = _holding(tx, list(terms), caller)
    return _judged(
        memories, facts, judge, ground.anchored(tx, Embedded.MEMORIES, [m.id for m in memories], caller)
    )


def _holding(tx: Tx, terms: Sequence[str], caller: Caller) -> tuple[list[Memory], list[Fact]]:
    """Return the current memories and facts with any of these words that prescribe and may be said unasked."""
    _, hits = tx.word_hits.hits(terms[:MOST_TERMS])
    ids: dict[Index, dict[int, None]] = {Index.MEMORY: {}, Index.FACT: {}}
    for rows in hits:
        for index, of_index in ids.items():
            of_index |= dict.fromkeys(map(parts.memory_of, rows[index][:MOST_TEXTS]))
    visible = {
        index: visible_to(tx, index, list(of_index)[:MOST_TEXTS], caller) for index, of_index in ids.items()
    }
    memories = tx.memories.select([MemoryId(id) for id in visible[Index.MEMORY]])
    return [m for m in memories if _memory_prescribes(m)], [
        fact for fact in tx.facts.select(sorted(visible[Index.FACT])) if _fact_prescribes(fact)
    ]


def _memory_prescribes(memory: Memory) -> bool:
    may_be_said = not memory.superseded_by and not memory.is_digest and not trust.waits(memory.origin)
    return may_be_said and (memory.type in PRESCRIBING or _CUE.search(memory.content) is not None)


def _fact_prescribes(fact: Fact) -> bool:
    text = fact_text.value_of(fact.value)
    is_convention = heading_of(fact.key, fact.home.scope) in _CONVENTIONS or bool(commands.of_note(text))
    return not trust.waits(fact.origin) and (is_convention or _CUE.search(text) is not None)


def _judged(
    memories: Sequence[Memory], facts: Sequence[Fact], judge: Judge, anchored: ground.Anchored
) -> list[Found]:
    """Return what is about an act: the most exact first, then what decides, what matters most, and the newest."""
    ranked: list[tuple[tuple[float, bool, int, str], Found]] = []
    for memory in memories:
        if worth := judge(memory, memory.content):
            rank = worth, memory.type in PRESCRIBING, memory.importance, memory.updated_at
            ref, day = f"m{memory.id}", memory.occurred_at[:10]
            hit = Found(
                Recallable.MEMORY, ref, memory.content, day, worth, id=memory.id, origin=memory.origin,
                by_user=trust.is_of_user(memory.origin), anchors=anchored.get(memory.id, ()),
            )  # fmt: skip
            ranked.append((rank, hit))
    for fact in facts:
        text = fact_text.of(fact.key, fact.value)
        if worth := judge(fact, text):
            by_user = trust.is_of_user(fact.origin)
            hit = Found(
                Recallable.FACT,
                f"f {fact.key}",
                text,
                fact.updated_at[:10],
                worth,
                id=fact.id,
                by_user=by_user,
            )
            ranked.append(((worth, True, 5, fact.updated_at), hit))
    return [hit for _, hit in sorted(ranked, key=lambda pair: pair[0], reverse=True)]


def _line(note: Found, remark: str | None, words: Sequence[str], most: int) -> str:
    text = sentences.shortened(recall.excerpt(note.said, words, most * 0.6), most * 0.8)
    return recall.line(note, f"{text} ({remark})" if remark else text)


def _words(act: Act) -> list[str]:
    """Return the words by which the telling sentence of a note is chosen."""
    names = [word for path in act.paths for word in re.findall(r"\w+", path.name.casefold())]
    return [*names, *re.findall(r"[a-z]\w+", act.command.casefold())]


def _row(note: Found) -> tuple[Injected, int]:
    return Injected(note.kind.value), note.id
