"""What a question asks for: its parts, where it is several in one, and the kind of answer that it wants."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

MOST_PARTS = 4
"""Each part is searched for itself, which takes some 10 ms with 10,000 memories."""

_LEAST = 5
"""Letters and digits of the shortest piece that asks for something."""

_JOINT = r"另外|此外|还有|顺便问一下|and also\b|also,|in addition,|additionally,|by the way,"
"""Words that begin another question."""

_CUT = re.compile(rf"(?<=[?？!！。;；\n…])|(?<=[.])\s+(?=[A-Z])|(?:{_JOINT})[,，:：]?\s*", re.IGNORECASE)
_SEVERAL = re.compile(rf"[?？].*[?？]|{_JOINT}", re.IGNORECASE | re.DOTALL)
_PREAMBLE = re.compile(
    r"^.{0,12}?(?:想(?:要)?(?:问|了解|知道|搞清楚)(?:一下)?的?(?:问题)?(?:其实)?(?:是|就是)?(?:这个)?)[：:，,]?\s*"
    r"|^(?:(?:等等|诶|哎呀?|抱歉|不好意思|对了|不对|哦豁?|嗯)[哈啊呀]?[，,]\s*)+"
)
_EDGES = " ，,。.、:："

_WHEN = re.compile(
    r"\bwhen\b|what (?:date|day|month|year|time)|how long|which (?:day|month|year|week)"
    r"|什么时候|何时|哪[天年月]|几[号月点]|多久|时间|日期"
)
_HOW_MANY = re.compile(
    r"how (?:many|much|old|often|far|tall)|what number|多少|几[个只本次岁位天条张件名块]|多[大高远重]|年龄"
)
_MINE = re.compile(r"\b(?:i|my|me|mine|i've|i'm|we|our)\b|我")


@dataclass(frozen=True, slots=True)
class Question:
    """`parts` are the questions in it, none where it is one; the flags say what it asks for.

    `core` is the text without the sentences that ask for nothing. `mine`: it is about the person who asks.
    """

    text: str
    core: str
    parts: tuple[str, ...]
    when: bool
    how_many: bool
    mine: bool


def read(text: str) -> Question:
    """Read a question as it was typed. What is told before it asks for nothing."""
    pieces = _pieces(text)
    asking = [piece for piece in pieces if piece.endswith(("?", "？"))] or pieces
    core = " ".join(asking) if len(pieces) > 1 else text
    folded = core.casefold()
    return Question(
        text,
        core,
        _parts(text, pieces, asking),
        _WHEN.search(folded) is not None,
        _HOW_MANY.search(folded) is not None,
        _MINE.search(folded) is not None,
    )


def _pieces(text: str) -> list[str]:
    """The sentences that say something."""
    pieces = [_without_preamble(piece) for piece in _CUT.split(text)]
    return [piece for piece in pieces if sum(map(str.isalnum, piece)) >= _LEAST]


def _parts(text: str, pieces: Sequence[str], asking: Sequence[str]) -> tuple[str, ...]:
    """The questions in a text that is plainly several: it has two question marks, a word that joins, or many pieces."""
    if len(pieces) < 2:
        return ()
    several = _SEVERAL.search(text) is not None or len(asking) >= 3 or (len(pieces) >= 3 and len(asking) == 1)
    return tuple(dict.fromkeys(asking))[:MOST_PARTS] if several else ()


def _without_preamble(piece: str) -> str:
    piece = piece.strip(_EDGES)
    shorter = _PREAMBLE.sub("", piece, count=1).strip(_EDGES)
    return shorter if sum(map(str.isalnum, shorter)) >= _LEAST else piece
