"""What a question asks for: its parts, where it is several in one, and the kind of answer that it wants."""

import re
from dataclasses import dataclass

MOST_PARTS = 4
"""Each part is searched for itself, which takes some 10 ms with 10,000 memories."""

_LEAST = 5
"""Letters and digits of the shortest piece that asks for something."""

_JOINT = re.compile(
    r"[,，]?\s*(?:\b(?:and also\b|also,|in addition,|additionally,|by the way,)"
    r"|(?<![^\s,，.。?？!！;；…])(?:另外|此外|还有|顺便问一下))[,，:：]?\s*",
    re.IGNORECASE,
)
"""Words that begin another question. The Chinese ones do so at the start of a clause: 还有多少 asks what is left."""

_CUT = re.compile(r"(?<=[?？!！。;；\n…])|(?<=\w{3}[.])\s+(?=[A-Z])")
"""Ends of sentences. A full stop after one or two letters belongs to a title such as `Dr.`"""

_PREAMBLE = re.compile(
    r"^.{0,12}?(?:想(?:要)?(?:问|了解|知道|搞清楚)(?:一下)?的?(?:问题)?(?:其实)?(?:是|就是)?(?:这个)?)[：:，,]?\s*"
    r"|^(?:(?:等等|诶|哎呀?|抱歉|不好意思|对了|不对|哦豁?|嗯)[哈啊呀]?[，,]\s*)+"
)
_ENDS = tuple(".。?？!！;；…")
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
    marked = [piece for piece in pieces if piece.endswith(("?", "？"))]
    asking = marked or pieces
    core = " ".join(asking) if len(pieces) > 1 else text
    folded = core.casefold()
    # Many pieces before one question are an approach to it.
    several = len(pieces) > 1 and (len(marked) > 1 or len(pieces) > 2 or _JOINT.search(text) is not None)
    return Question(
        text,
        core,
        tuple(dict.fromkeys(asking))[:MOST_PARTS] if several else (),
        _WHEN.search(folded) is not None,
        _HOW_MANY.search(folded) is not None,
        _MINE.search(folded) is not None,
    )


def _pieces(text: str) -> list[str]:
    """The sentences that say something. A word that joins two questions ends the first of them."""
    pieces = [_without_preamble(piece) for piece in _CUT.split(_JOINT.sub(_ended, text))]
    return [piece for piece in pieces if sum(map(str.isalnum, piece)) >= _LEAST]


def _ended(joint: re.Match[str]) -> str:
    before = joint.string[: joint.start()].rstrip()
    return "\n" if before.endswith(_ENDS) or not before else "?"


def _without_preamble(piece: str) -> str:
    piece = piece.strip(_EDGES)
    shorter = _PREAMBLE.sub("", piece, count=1).strip(_EDGES)
    return shorter if sum(map(str.isalnum, shorter)) >= _LEAST else piece
