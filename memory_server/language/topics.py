"""Topics of reminders in words: "when we talk about the Okafor order", 下次谈到预算的时候, "vor jedem Release"."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from memory_server.language.names_alone import name_alone
from memory_server.language.text import HAN, has_han

MOST_WORDS = 6
"""Words of a topic; more are a sentence, of which nobody says all."""

WHOLE = 4
"""Han characters of a name such as 王老师, which is not cut."""

_SAID = (
    r"(?:talk(?:s|ing|ed)?|speak(?:s|ing)?|chat(?:s|ting)?|discuss(?:es|ing|ed)?|mention(?:s|ing|ed)?|"
    r"bring(?:s|ing)?(?: up)?|ask(?:s|ing|ed)?|work(?:s|ing)?|start(?:s|ing)?|touch(?:es|ing)?|"
    r"open(?:s|ing)?|tell(?:s|ing)?|"
    r"say(?:s|ing)?|com(?:e|es|ing) (?:back )?(?=to)|get(?:s|ting)? (?:back )?(?=to)|return(?:s|ing)?(?= to)|"
    r"go(?:es|ing)? (?=over|through|into)|look(?:s|ing)?(?= at| into)|think(?:s|ing)?(?= about| of)|"
    r"deal(?:s|ing)?(?= with)|(?:(?:am|are|is) )?(?:about|going|planning) to|"
    r"(?:want|need|have|plan|try)s? to|write(?:s)?|writing)"
)
_WHO = r"(?:(?:i|we|you|they|he|she|somebody|someone|anybody|anyone|people|the user)(?:'m|'re|'s)?\b)"
_EACH = r"(?P<each>(?:every|each) time|whenever|any ?time)"
_NEXT = r"(?:the )?next time|when|once|if|as soon as|the moment|while"
_SUBJECT = r"(?:the )?(?:topic|subject|matter|question|conversation|talk|discussion|chat)"

_ENGLISH = (
    rf"(?:{_EACH}|{_NEXT}) (?:that )?(?P<topic>.+?) (?:comes? up|is mentioned|gets mentioned|"
    r"is discussed|is the topic|arises|pops up)(?: again)?",
    rf"(?:{_EACH}|{_NEXT}) {_SUBJECT} (?:is(?: about)?|turns to|comes to|goes to|of) (?P<topic>.+)",
    rf"(?:{_EACH}|{_NEXT}) it comes to (?P<topic>.+)",
    r"(?:in|at|during) (?:our|the|my) next (?:conversation|talk|chat|discussion) (?:about|on|of) (?P<topic>.+)",
    rf"(?:{_EACH}|{_NEXT}) (?:{_WHO} (?:next |again |ever |all |both |are |am |is )*)?{_SAID}"
    r"(?: (?:me|you|us|somebody|again))?(?: (?:about|of|on|to|with|over|at|for|into|through))? ?(?P<topic>.+)",
    rf"{_EACH} {_WHO} (?P<topic>.+)",
    r"(?:right |just |shortly )?(?:before|after|at|with|during|on) (?P<each>every|each|any|all) (?P<topic>.+)",
    rf"(?:right |just |shortly )?(?:before|after|during)(?: {_WHO}(?: next)?)? (?P<topic>.+)",
)  # fmt: skip
_CHINESE = (
    r"(?P<each>每次|每当|每回|每逢)?(?:下次|下一次|下回|当|等到?|如果|要是|一旦|只要)?(?:再|又)?(?:我们|咱们|我|你们?|他们?|她|大家|有人)?"
    r"(?:再次|再|又|下次|一|想|要|开始)*(?:谈到|谈及|谈起|谈论到?|聊到|聊起|聊|说到|说起|说要|提到|提及|提起|讨论到?|问到|问起|讲到|涉及到?|碰到)"
    r"(?P<topic>.+?)(?:的话题|这个话题|这件事)?(?:的时候|时候|时|的话)?",
    r"(?P<each>每次|每回|每个)(?P<topic>.+?)(?:之前|以前|前|之后|以后|后|的时候|时)",
    r"(?:下次|下一次)?(?P<topic>.{2,}?)(?:之前|以前|前|之后|以后|后)",
)
_WER = r"(?:ich|wir|du|ihr|man|jemand|er|sie)"
_GERMAN = (
    rf"(?:(?P<each>immer,? wenn|jedes ?mal,? wenn)|(?:(?:das|beim) nächsten? mal,? )?(?:wenn|sobald|falls)|wenn) "
    rf"(?:{_WER} )?(?:(?:das nächste mal|wieder|nochmal) )?(?:(?:über|von|auf|an|um) )?(?P<topic>.+?) "
    r"(?:reden?|redet|sprechen?|sprichst|spricht|erwähn\w+|diskutieren|besprechen|bespricht|fragt|frage|"
    r"zur sprache kommt|geht|erwähnt wird|zu sprechen kommen)",
    r"(?:vor|nach|bei) (?P<each>jede[mrn]) (?P<topic>.+)",
    r"(?:vor|nach|bei) (?:dem|der) nächsten (?P<topic>.+)",
)

_EMPTY = frozenset(
    "the a an my your our his her its their this that these those to of on in at for with about from and by some any "
    "new again next time please is are be being get go do i we you it me us they subject topic matter thing things "
    "something anything start begin make have has up ever "
    "der die das den dem des ein eine einen einem einer mein meine meinen meiner unser unsere und von über für mit zu "
    "zum zur im in am an auf bei um wieder es".split()
)
_HAN_EMPTY = frozenset(
    "的 了 和 与 跟 我们 我 你 他 她 这个 那个 这份 那份 这件 那件 关于 一下 给 去 在 是 有 要 把 到 被 也 "
    "就 都 事 事情".split()
)
_NOT_SAID = frozenset(
    "lunch breakfast dinner work school bed sleep noon midnight christmas easter weekend morning evening night holiday "
    "that then it this 那 这 吃饭 睡觉 午饭 晚饭 上班 下班".split()
)
"""What happens without being talked of, or what is no topic."""

Segment = Callable[[str], list[str]]


@dataclass(frozen=True, slots=True)
class Topic:
    """Words that a message has when it is about a topic: all of one of `alternatives`. `repeats`: each time."""

    alternatives: tuple[tuple[str, ...], ...]
    repeats: bool


def read(text: str, segment: Segment) -> Topic | None:
    """Read a topic; None where the words name none of which could be talked."""
    plain = " ".join(text.replace("’", "'").split()).strip(" .,!?。，")
    for pattern in (*_ENGLISH, *_GERMAN, *_CHINESE):
        match = re.fullmatch(pattern, plain, re.IGNORECASE)
        if match is not None:
            alternatives = _alternatives(match["topic"], segment)
            repeats = bool(match.groupdict().get("each"))
            return Topic(alternatives, repeats) if alternatives else None
    return None


def _alternatives(topic: str, segment: Segment) -> tuple[tuple[str, ...], ...]:
    parts = re.split(r"\s+or\s+|\s+oder\s+|或者?|还是", topic, flags=re.IGNORECASE)
    names = map(name_alone, parts)
    words = tuple((name,) if name else _words(part, segment) for name, part in zip(names, parts, strict=True))
    is_topic = all(
        1 <= len(part) <= MOST_WORDS and not _NOT_SAID.issuperset(map(str.lower, part)) for part in words
    )
    return words if is_topic else ()


def _words(part: str, segment: Segment) -> tuple[str, ...]:
    """Return the words that carry the meaning; a text in quotation marks is one."""
    words: list[str] = []
    for quoted, word in re.findall(
        rf"[\"“「『]([^\"”」』]+)[\"”」』]|([{HAN}]+|[^\W_{HAN}][\w.+#'-]*)", part
    ):
        if quoted:
            words.append(quoted)
        elif has_han(word):
            words += _han_words(word, segment)
        elif (plain := re.sub(r"'s?$|[.'-]+$", "", word)) and plain.lower() not in _EMPTY:
            words.append(plain)
    return tuple(dict.fromkeys(words))


def _han_words(text: str, segment: Segment) -> Sequence[str]:
    """Return the words of a run of Han; all of a short one whose words are not long enough, such as a name."""
    words = [word for word in segment(text) if word not in _HAN_EMPTY]
    telling = [word for word in words if len(word) > 1]
    if len(telling) == len(words):
        return words
    whole = "".join(words)
    return telling if telling and len(whole) > WHOLE else [whole]
