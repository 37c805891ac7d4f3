"""Tells who said a text first, of all that was said in a session."""

from collections.abc import Sequence, Set
from dataclasses import dataclass

import numpy as np

from memory_server.domain import sketch, telling_words, trust, worded_again
from memory_server.domain.statement import UserStatement
from memory_server.language import sentences, stating

BESIDES = 0.2
"""Share of a text's words that the user did not say and an output did, from which on it says more than the user."""

LONGEST = 20_000
"""Characters of a prompt in which statements are looked for."""

OF_WORD = 150
"""Bytes of a word of a statement."""


@dataclass(frozen=True, slots=True)
class Stated:
    """Statements of a prompt, one by one and together, and a sketch of them."""

    statements: tuple[UserStatement, ...]
    sketch: sketch.Sketch

    @classmethod
    def of(cls, prompt: str, salt: int) -> "Stated":
        texts = stating.stated(prompt[:LONGEST])
        together = "\n".join(texts)
        statements = tuple(UserStatement.of(text, salt) for text in dict.fromkeys([*texts, together]))
        return cls(statements, sketch.sketch(together, salt))

    def says(self, text: UserStatement) -> bool:
        return any(statement.says(text) for statement in self.statements)


@dataclass(frozen=True, slots=True)
class Utterance:
    """A sketch of something that was said, and its origin; of a prompt what it states, and where it was said."""

    origin: str
    sketch: sketch.Sketch
    at: float
    stated: Stated | None = None
    session: str = ""
    project: str = ""

    @property
    def size(self) -> int:
        """Return its bytes."""
        if self.stated is None:
            return self.sketch.size
        words = sum(len(statement.words) for statement in self.stated.statements)
        return self.sketch.size + self.stated.sketch.size + OF_WORD * words


def origin(text: str, salt: int, utterances: Sequence[Utterance]) -> str | None:
    """Return who said a text; None where nobody did who was heard."""
    sought = sketch.needle(text, salt)
    if not len(sought.words):
        return None
    prompts = [prompt.stated for prompt in utterances if prompt.stated]
    user = _User.of(sought, _told_parts(text, salt, prompts), prompts)
    shares: dict[str, float] = {}
    for output in utterances:
        if output.origin == trust.TOLD:
            continue
        for part, match in sketch.overlaps(sought, output.sketch):
            if not trust.waits(output.origin) or user.says_less(sought, part, match, output.sketch):
                shares[output.origin] = max(match.share, shares.get(output.origin, 0.0))
    outside = [origin for origin in shares if trust.waits(origin)]
    most = max(outside, key=shares.__getitem__, default=None)
    is_short = len(sought.words) <= sought.enough
    if most is not None and not (is_short and shares.get(trust.SEEN, 0.0) >= shares[most]):
        return most
    if (of_code := _of_code(sought, utterances)) is not None:
        return of_code
    if user.has_told:
        return trust.TOLD
    return _worded_again(sought, utterances) or (trust.SEEN if trust.SEEN in shares else None)


def _told_parts(text: str, salt: int, prompts: Sequence[Stated]) -> Set[tuple[int, int]]:
    """Return the parts of a text that the user has told: the whole and sentences, by their first and last word."""

    def is_told(part: str) -> bool:
        statement = UserStatement.of(part, salt)
        return any(prompt.says(statement) for prompt in prompts)

    start, parts, is_whole = 0, set(), True
    for sentence in sentences.split(text):
        end = start + sum(1 for _ in telling_words.words(sentence))
        if is_told(sentence):
            parts.add((start, end))
        elif end > start:
            is_whole = False
        start = end
    if is_whole or is_told(text):
        parts.add((0, start))
    return parts


@dataclass(frozen=True, slots=True)
class _User:
    """Parts of a text that the user has stated: `stated_parts` say no more, by their first and last word;
    `matches` are the words and pairs of each prompt, `words` those with their signs in any prompt, and so are `pairs`
    and `triples`."""

    stated_parts: Set[tuple[int, int]]
    matches: Sequence[sketch.Match]
    words: sketch.Flags
    pairs: sketch.Flags
    triples: sketch.Flags

    @classmethod
    def of(
        cls, sought: sketch.Needle, stated_parts: Set[tuple[int, int]], statements: Sequence[Stated]
    ) -> "_User":
        sketches = [statement.sketch for statement in statements]
        matches = [sketch.match(sought, prompt) for prompt in sketches]
        words, pairs, triples = (
            np.zeros(len(hashes), bool) for hashes in (sought.words, sought.pairs, sought.triples)
        )
        for match, prompt in zip(matches, sketches, strict=True):
            words |= match.words & sketch.signs(sought, prompt)
            pairs |= match.pairs
            triples |= sketch.standing_of(sought.triples, prompt)
        return cls(stated_parts, matches, words, pairs, triples)

    @property
    def has_told(self) -> bool:
        return (0, len(self.words)) in self.stated_parts

    def says_less(
        self, sought: sketch.Needle, part: slice, match: sketch.Match, source: sketch.Sketch
    ) -> bool:
        """True if the user has not told a part that stands in an output, or the output has more of it, word by word."""
        if (part.start, part.stop) not in self.stated_parts:
            return True
        best = max(self.matches, key=lambda match: np.count_nonzero(match.words[part]))
        output_words = match.words[part] & (~sought.has_sign | sketch.signs(sought, source))[part]
        if np.count_nonzero(output_words & ~best.words[part]) >= BESIDES * len(output_words):
            return True
        between = slice(part.start, part.stop - 1)
        output_pairs, user_pairs = match.pairs[between], self.pairs[between]
        user_words = self.words[part]
        more = np.count_nonzero(output_words & ~user_words) + np.count_nonzero(output_pairs & ~user_pairs)
        less = np.count_nonzero(user_words & ~output_words) + np.count_nonzero(user_pairs & ~output_pairs)
        if (output_words & ~user_words).any():
            return bool(more > less)
        if not more and not less:
            triples = slice(part.start, max(part.start, part.stop - 2))
            user_triples = self.triples[triples]
            output_triples = sketch.standing_of(sought.triples, source)[triples]
            more, less = (
                np.count_nonzero(output_triples & ~user_triples),
                np.count_nonzero(user_triples & ~output_triples),
            )
        return len(output_words) >= sought.enough and bool(more and not less)


def _of_code(sought: sketch.Needle, utterances: Sequence[Utterance]) -> str | None:
    """Return the origin from outside of a number, a code, an address or a lone name that nobody else has said; None
    where there is none."""
    codes = sought.codes if sought.name is None else np.array([*sought.codes, sought.name], np.uint32)
    if not len(codes):
        return None
    outside = [utterance for utterance in utterances if trust.waits(utterance.origin)]
    if not outside:
        return None
    is_known = np.zeros(len(codes), bool)
    for utterance in utterances:
        if not trust.waits(utterance.origin):
            is_known |= sketch.standing_of(codes, utterance.sketch)
    for utterance in reversed(outside):
        if (sketch.standing_of(codes, utterance.sketch) & ~is_known).any():
            return utterance.origin
    return None


def _worded_again(sought: sketch.Needle, utterances: Sequence[Utterance]) -> str | None:
    """Return the origin from outside that probably says a text in other words; None where none does."""
    outside = [utterance for utterance in utterances if trust.waits(utterance.origin)]
    inside = [utterance.sketch for utterance in utterances if not trust.waits(utterance.origin)]
    index = worded_again.likeliest(sought, [utterance.sketch for utterance in outside], inside)
    return None if index is None else outside[index].origin
