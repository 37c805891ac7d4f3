"""Rules in plain English: `never push to main`, `ask me before you run terraform apply`, `don't touch migrations/`.

A sentence is read whole, from left to right: a word that is no part of what is known here is named, and the sentence
states no rule. So no rule is weaker than what was said.
"""

import re
from dataclasses import dataclass, field
from typing import Final

from memory_server.domain import english_parts as parts
from memory_server.domain import english_things as things
from memory_server.domain import stated
from memory_server.domain.stated import PIECE, Does, StatedRule, Unread

MOST_NAMED: Final = 80
"""Characters of the words that are named."""


_PUSHES: Final = frozenset((parts.PUSH, parts.FORCE))


def read(sentence: str) -> StatedRule:
    """Read a sentence in which words stand one blank apart.

    Raises:
        Unread: it states no rule, or more than is understood.
    """
    if re.search(PIECE, sentence):
        raise Unread
    text, pieces = stated.hide(sentence)
    for pattern, order in parts.TURNED:
        text = pattern.sub(order, text)
    if parts.MARKED.search(text) is None:
        raise Unread
    return _Reading(text, pieces).rule()


@dataclass(slots=True)
class _Clause:
    """The acts behind one mark, such as `never`. `is_closed`: it has been said that the user is asked."""

    asks: bool
    begin: int
    acts: list[tuple[Does, str]] = field(default_factory=list)
    is_closed: bool = False


class _Reading:
    """Walks over a sentence whose quoted pieces are hidden in private characters."""

    def __init__(self, text: str, pieces: list[str]) -> None:
        self.text, self.pieces, self.at = text, pieces, 0
        self.clauses: list[_Clause] = []
        self.verbs: tuple[str, ...] = ()
        self.begin_of_verbs = -1
        """Where the verbs begin that wait for their thing."""
        self.begin_of_list = -1
        """Where a verb stands behind a comma: `or` or `and` must follow, else it begins another sentence."""
        self.joiner = ""
        """The joiner that was just read: `,`, `;` (any that ends a sentence), `and` or `or`."""
        self.waits = False
        """True where a verb or a thing may come."""

    def rule(self) -> StatedRule:
        readers = (self._asked, self._remark, self._join, self._filler, self._mark, self._verb, self._thing)
        self._take(parts.OPENING)
        while self.at < len(self.text):
            if not any(reader() for reader in readers):
                raise self._unread(self.at)
        if self.joiner in ("and", "or"):
            raise self._unread(self.clauses[-1].begin if self.clauses else 0)
        self._end_clause()
        first = self.clauses[0]
        for clause in self.clauses[1:]:
            if clause.asks is not first.asks:
                raise self._unread(clause.begin)
        return StatedRule(
            first.asks, tuple(dict.fromkeys(act for clause in self.clauses for act in clause.acts))
        )

    # ---- the parts of a sentence: each returns True if it stands here, and is read

    def _asked(self) -> bool:
        """Read `without asking me`, `unless I say so`, `ask me first`: they say that the clause before them asks."""
        begin = self.at
        if not self.clauses or self._take(parts.ASKS_BEHIND) is None:
            return False
        self._settle()
        clause = self.clauses[-1]
        if not clause.acts or self.begin_of_verbs >= 0:
            raise self._unread(begin)
        clause.asks = clause.is_closed = True
        self._done()
        return True

    def _remark(self) -> bool:
        """Read a reason, or what to do instead, if it names nothing that could be a part of the rule."""
        if not self.clauses or not self.clauses[-1].acts or self.begin_of_verbs >= 0:
            return False
        is_apart = self.joiner in (",", ";")
        match = parts.REASON.match(self.text, self.at)
        match = match or (parts.REMARK.match(self.text, self.at) if is_apart else None)
        if match is None or parts.NO_REASON.search(match[0], match[0].find(" ")):
            match = parts.ADVICE.match(self.text, self.at) if is_apart else None
            if match is None or parts.NO_ADVICE.search(match[0]):
                return False
            if Does.RUNS not in self.verbs and "instead" not in match[0]:
                return False
        self._go_to(match.end())
        self._done()
        return True

    def _join(self) -> bool:
        match = self._take(parts.JOINER)
        if match is None:
            return False
        sign, word = match[0][0], match[0].split()[-1].lower()
        if sign in ";:.!—–-" or self.joiner == ";":
            self.joiner = ";"
        else:
            self.joiner = "," if sign in ",()" and word[0] in ",()" else "and" if word == "and" else "or"
        self.waits = self.joiner != ";"
        if self.joiner in ("and", "or"):
            self.begin_of_list = -1
        return True

    def _filler(self) -> bool:
        is_listed = bool(self.clauses) and self.clauses[-1].asks and self.waits and bool(self.joiner)
        return (self._take(parts.FILLER) or (self._take(parts.BEFORE) if is_listed else None)) is not None

    def _mark(self) -> bool:
        begin = self.at
        asks = self._take(parts.ASK) is not None
        if not asks and self._take(parts.FORBID) is None:
            return False
        self._end_clause()
        self.clauses.append(_Clause(asks, begin))
        self.verbs, self.joiner, self.waits = (), "", True
        return True

    def _verb(self) -> bool:
        begin = self.at
        verbs = self._verbs() if self._may_go_on() else ()
        is_push = bool(verbs) and set(verbs) <= _PUSHES
        if verbs and not is_push and self._is_push():
            self._settle()
        waiting = self.begin_of_verbs >= 0
        is_apart = waiting and (not self.joiner or is_push is not self._is_push())
        advises = self.joiner == "and" and self.text[begin : begin + 4].lower() == "use "
        if not verbs or is_apart or advises:
            self.at = begin
            return False
        if self.joiner == ",":
            self.begin_of_list = begin
        self.verbs = (*self.verbs, *verbs) if waiting else verbs
        self.begin_of_verbs = self.begin_of_verbs if waiting else begin
        self.joiner, self.waits = "", True
        return True

    def _verbs(self) -> tuple[str, ...]:
        for verbs, pattern in parts.PHRASES.items():
            if self._take(pattern):
                return verbs
        word = self._take(parts.WORD)
        return parts.FORMS.get(word[0].lower(), ()) if word else ()

    def _thing(self) -> bool:
        """Read what the verbs are about: a branch, a file, or a command, which needs no verb."""
        if not self._may_go_on():
            return False
        acts, end = self._of_verbs()
        if not acts and (self.begin_of_verbs < 0 or (self._is_push() and self.joiner)):
            acts, end = things.command(self.text, self.at, self.pieces, has_verb=False)
            if not acts or (self.verbs and " " not in acts[0][1]):
                return False
            self._settle()
        self.clauses[-1].acts += acts
        self._go_to(end)
        self._done(keeps_verbs=True)
        return bool(acts)

    def _of_verbs(self) -> things.Thing:
        """Read one thing for all the verbs; nothing where it is none for one of them."""
        listed = [self._of_verb(verb) for verb in self.verbs]
        is_one = all(acts for acts, _ in listed) and len({end for _, end in listed}) == 1
        return (tuple(act for acts, _ in listed for act in acts), listed[0][1]) if is_one else ((), self.at)

    def _of_verb(self, verb: str) -> things.Thing:
        if verb in _PUSHES:
            return things.branch(self.text, self.at, self.pieces, force=verb == parts.FORCE)
        if verb == Does.RUNS:
            return things.command(self.text, self.at, self.pieces, has_verb=True)
        return things.file(self.text, self.at, self.pieces, Does(verb))

    # ---- where the reading stands

    def _may_go_on(self) -> bool:
        return bool(self.clauses) and self.waits and not self.clauses[-1].is_closed

    def _is_push(self) -> bool:
        return self.verbs != () and set(self.verbs) <= _PUSHES

    def _done(self, *, keeps_verbs: bool = False) -> None:
        """Note that a part is complete."""
        self.verbs = self.verbs if keeps_verbs else ()
        self.begin_of_verbs, self.joiner, self.waits = -1, "", False

    def _settle(self) -> None:
        """Read a push without a branch as one to any."""
        if self.begin_of_verbs >= 0 and self._is_push():
            for verb in self.verbs:
                self.clauses[-1].acts += stated.pushes((), force=verb == parts.FORCE)
            self.begin_of_verbs = -1

    def _end_clause(self) -> None:
        if not self.clauses:
            return
        self._settle()
        clause = self.clauses[-1]
        for begin in (self.begin_of_verbs, self.begin_of_list):
            if begin >= 0:
                raise self._unread(begin)
        if not clause.acts:
            raise self._unread(clause.begin)

    def _take(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Go behind what stands here and the blanks after it, if it fits."""
        match = pattern.match(self.text, self.at)
        if match is None or match.end() == self.at:
            return None
        self._go_to(match.end())
        return match

    def _go_to(self, end: int) -> None:
        while self.text.startswith(" ", end):
            end += 1
        self.at = end

    def _unread(self, begin: int) -> Unread:
        """Return the refusal that names the words from a place to the end of their clause."""
        named = re.split(r"(?<=\S)(?:[,;!]|[.:](?=\s|$))", self.text[begin:].lstrip(" ,;:!"))[0]
        return Unread(stated.shown(named, self.pieces)[:MOST_NAMED].strip())
