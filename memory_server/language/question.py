"""Reads a question: its parts, where it is several in one, and the kind of answer that it asks for."""

import re
from dataclasses import dataclass

MOST_PARTS = 4
"""Each part is searched for itself, which takes some 10 ms with 10,000 memories."""

_LEAST = 5
"""Letters and digits of the shortest piece that asks for something."""

_LEADS = "about|at|by|for|from|in|on|since|until|with|ab|an|auf|bei|bis|für|in|mit|seit|um|von"
_ASKING = (
    "who(?:se|m)?|what|when|where|which|why|how|wer|wessen|wem|wen|was|wann|wo|wohin|woher|warum|weshalb|wie"
    "|welche[mnrs]?"
)
"""Words that may stand before a word with which a question begins, and such words, in English and German."""

_LEANING = r"[^?!.]*\b(?:it|he|she|him|hers?|his|they|them|theirs?|es|er|sie|ihn|ihm|ihr|ihnen)\b"
"""A pronoun for what the words before it name: such a question is not asked alone."""

_JOINT = re.compile(
    r"[,，]?\s*(?:\b(?:and also\b|also,|in addition,|additionally,|by the way,|außerdem\b|übrigens,)"
    rf"|(?<=\w)[,，]?\s\b(?:and|und)\s(?!{_LEANING})"
    rf"(?=(?:(?:{_LEADS})\s)?(?:{_ASKING})\b(?!\s(?:i|we|you|the|my|our)\b)(?:\W+\w+){{2}})"
    r"|(?<![^\s,，.。?？!！;；…])(?:另外|此外|还有|顺便问一下))[,，:：]?\s*",
    re.IGNORECASE,
)
"""Words that begin another question. The Chinese ones do so at the start of a clause: 还有多少 asks what is left."""

_CUT = re.compile(r"(?<=[?？!！。;；\n…])|(?<=\w{3}[.])\s+(?=[A-Z])")
"""Ends of sentences. A full stop after one or two letters belongs to a title such as `Dr.`"""

_QUOTED = re.compile(r'"[^"\n]*"|“[^”\n]*”|「[^」\n]*」|《[^》\n]*》')
"""What somebody else said, or a title: a sentence that ends in it does not end the sentence around it."""

_AT_LAST = re.compile(
    r"(?:^|[，,]).{0,12}?(?:想(?:要)?(?:问|说|了解|知道|搞清楚)(?:一下)?的?(?:问题)?(?:其实)?(?:是|就是)?(?:这个)?"
    r"|(?:我|真正)的?那?个?问题(?:其实)?是(?:这个)?)[：:，,]?\s*"
    r"|\bwhat i (?:really|actually) (?:want|wanted|meant) to (?:ask|know|say)(?: is| was)?[:,]?\s*"
    r"|\bmy (?:real|actual) question is[:,]?\s*",
    re.IGNORECASE,
)
"""Words with which a person finally asks the question: the sentences before them are small talk."""

_PREAMBLE = re.compile(r"^(?:(?:等等|诶|哎呀?|抱歉|不好意思|对了|不对|哦豁?|嗯)[哈啊呀]?[，,]\s*)+")
_ENDS = tuple(".。?？!！;；…")
_EDGES = " ，,。.、:："
_BREAK = "\x1e"

_WHEN = re.compile(
    r"\b(?:when|wann)\b|(?:what|welche[mnrs]?) (?:date|day|month|year|time|datum|tag|monat|jahr)"
    r"|how long|wie lange|which (?:day|month|year|week)|wie ?viel uhr"
    r"|什么时候|何时|哪[天年月]|几[号月点]|多久|时间|日期"
)
_HOW_MANY = re.compile(
    r"how (?:many|much|old|often|far|tall)|what number|\bwie ?(?:viele?|alt|oft|weit|hoch|gro(?:ß|ss)|teuer)\b"
    r"|多少|几[个只本次岁位天条张件名块]|多[大高远重]|年龄"
)
_SUM = re.compile(
    r"\b(?:total|altogether|in all|so far|average|on track)\b"
    r"|\b(?:meet|met|meeting|reach\w*|within|over|under|exceed\w*|hit\w*)\b.{0,40}\b(?:goal|target|budget|limit)"
    r"|how much (?:have|had|did|do) \w+ (?:\w+ )?(?:spen[dt]|pa(?:y|id)|saved?|earn(?:ed)?|used?|owed?)\b"
    r"|how (?:many|much|often)\b.{0,40}\b(?:this|last|past|per|each|every|a) (?:day|week|month|year)"
    r"|\b(?:insgesamt|zusammen|gesamt|durchschnitt\w*)\b|一共|总共|共计|合计|总计|总额|累计|平均|加起来|[花用赚存]了多少|(?:达到|超过|完成)了?.{0,10}(?:目标|预算)"
)
_LIST = re.compile(
    r"\b(?:what|which)\s(?:are|were)\b|\bwho\s(?:are|were)\b|\bwhere\s(?:has|have)\b"
    r"|\b(?:what|which|whose)\s(?:\S+\s){0,3}?(?!(?:does|has|is|was|this)\b)\w+(?<![sui])s\s(?:\w+\s){0,4}?"
    r"(?:did|do|has|have|had|are|were|can|could|would|will|should)\b"
    r"|\bhow\s(?:many\stimes|often)\b|\b(?:both|list|besides)\b|\bwie\soft\b|\bwas\salles\b|\bwer\s(?:sind|alles)\b"
    r"|\bwelche\s(?:\w+\s){1,4}(?:sind|haben|werden|wurden|waren|hatten|gibt|brauche|muss|wollen|können|kann|habe|hast)\b"
    r"|\b(?:alle|beide[nrs]?)\b|哪些|几次|多少次|分别|更|谁.*[在前后大小]|都|哪里.*过"
)
"""Words that ask for several things, or compare two: which books, how often, who of both, 哪些, 更."""

_MINE = re.compile(r"\b(?:i|my|me|mine|i've|i'm|we|our|ich|mich|mir|mein\w{,2}|wir|uns|unser\w{,2})\b|我")


@dataclass(frozen=True, slots=True)
class Question:
    """`parts` are the questions in it, none where it is one; the flags say what it asks for.

    `core` is the text without the sentences that ask for nothing. `mine`: it is about the person who asks. `adds_up`:
    the answer is a sum, or whether a sum is enough. `lists`: the answer is several things, or which of two.
    """

    text: str
    core: str
    parts: tuple[str, ...]
    when: bool
    how_many: bool
    mine: bool
    adds_up: bool = False
    lists: bool = False


def read(text: str) -> Question:
    """Read a question as it was typed. Sentences that only lead up to it are not in `core`."""
    blocks = [_sentences(block) for block in _JOINT.sub(_ended, text).split(_BREAK)]
    asking = [piece for block in blocks for piece in _asking(block)]
    sentences = sum(map(len, blocks))
    core = " ".join(asking) if sentences > 1 else text
    folded = core.casefold()
    marked = sum(_is_marked(sentence) for block in blocks for sentence in block)
    # Many sentences before one question are an approach to it.
    several = sentences > 1 and (marked > 1 or sentences > 2 or len(blocks) > 1)
    return Question(
        text,
        core,
        tuple(dict.fromkeys(asking))[:MOST_PARTS] if several else (),
        _WHEN.search(folded) is not None,
        _HOW_MANY.search(folded) is not None,
        _MINE.search(folded) is not None,
        _SUM.search(folded) is not None,
        _LIST.search(folded) is not None,
    )


def _ended(joint: re.Match[str]) -> str:
    before = joint.string[: joint.start()].rstrip()
    return _BREAK if before.endswith(_ENDS) or not before else f"?{_BREAK}"


def _sentences(text: str) -> list[str]:
    quoted = [match.span() for match in _QUOTED.finditer(text)]
    ends = [match.span() for match in _CUT.finditer(text)]
    ends = [end for end in ends if not any(first < end[0] < last for first, last in quoted)]
    starts = [0, *(end for _, end in ends)]
    cut = (
        text[start:end].strip(_EDGES)
        for start, end in zip(starts, [*(end for end, _ in ends), None], strict=True)
    )
    return list(filter(_says, cut))


def _asking(sentences: list[str]) -> list[str]:
    """The sentences that ask, or all if none is marked; those before the words of `_AT_LAST` are left out."""
    for number in range(len(sentences) - 1, -1, -1):
        sentence = sentences[number]
        if (cue := _AT_LAST.search(sentence)) and _says(question := sentence[cue.end() :].strip(_EDGES)):
            sentences = [question, *sentences[number + 1 :]]
            break
    pieces = list(map(_without_preamble, sentences))
    return list(filter(_is_marked, pieces)) or pieces


def _is_marked(piece: str) -> bool:
    return piece.endswith(("?", "？"))


def _without_preamble(sentence: str) -> str:
    shorter = _PREAMBLE.sub("", sentence, count=1).strip(_EDGES)
    return shorter if _says(shorter) else sentence


def _says(text: str) -> bool:
    return sum(map(str.isalnum, text)) >= _LEAST
