"""Tells where a sentence in English, German or Chinese ends: not at "Dr.", "z. B.", "no. 5", "3. Mai" or "main.py"."""

import re
from collections.abc import Iterator

from memory_server.language.query import ENGLISH_STOP_WORDS

_PLACE = re.compile(
    r"(?:(?<=[。！？])|(?<=[。！？][）】]))(?![”’」』）】。！？])|(?<=[!?])(?=[\u4e00-\u9fff])"
    r"|(?<=[.!?…\"'”“’«»)\]])\s+"
    r"|\s*\n\s*"
)
"""A place where a sentence may end, with the space there."""

_LOOKED_AT = 200
"""Characters before and after such a place that decide."""

_OPENING, _CLOSING = "\"'“„‘«»([", "\"'”“’«»)]）】"

_WORD = re.compile(r"[a-zß-ÿ0-9.-]*\.\Z", re.IGNORECASE)
"""The word before a full stop, with it."""

_FIRST_WORD = re.compile(r"[^\W\d_]+(?!\.)\b")

_LETTERS = re.compile(r"[^\W\d_](?:\w?\.[^\W\d_])*")
"""An initial, or letters with full stops between them: `p.m`, `U.S`, `Ph.D`."""

_OF_LIST = re.compile(r"\W*\d{1,3}\.")
"""The number of an entry of a list, at the start of a line."""

_ORDINAL = re.compile(
    r"\b(?:ab|am|bis|das|dem|den|der|des|die|im|jeden|seit|und|vom|zum|zur)\s\d{1,3}\.\Z", re.IGNORECASE
)
"""A number after one of these German words counts places: im 2. Stock."""

_MONTH = re.compile(r"(?:Jan|Feb|März|Apr|Mai|Jun|Jul|Aug|Sep|Okt|Nov|Dez)")


_NEVER = frozenset(
    """
    mr mrs ms mx dr prof rev hon capt lt col gen sgt maj gov sen messrs mme mt ft frl dipl.-ing med
    e.g i.e z.b d.h p.s n.b approx asst attn avg ca cf dept hrsg incl excl inkl exkl zzgl bzgl bzw ggf gem sog
    evtl vgl viz vs wg
    """.split()
)
"""Abbreviations that end no sentence: what they belong to follows."""

_BEFORE_NUMBER = frozenset(
    """
    abb abs apt art aufl ave bd ch eq ext fig kap lb max min no nr op oz pos pp sec str tab tel vol ziff
    """.split()
)
"""Abbreviations that end no sentence before a number."""

_SELDOM = frozenset(
    """
    St Jr Sr Inc Ltd Co Corp Bros Fr Hr al etc usw
    Jan Feb Mar Mär Apr Jun Jul Aug Sep Sept Oct Okt Nov Dec Dez Mon Tue Tues Wed Thu Fri Sat Sun
    """.split()
)
"""Abbreviations that end a sentence only before a word that often begins one."""

_OPENINGS = frozenset(
    """
    ab aber alle als am auch auf bei bitte da danach dann das dem den der die dort ein eine er es heute hier ich ihr im
    jetzt kein keine keiner man mit nach nicht noch now nur oder seit sie today und von warum was weil wenn wer wie wir
    wo zu
    """.split()
)
"""Words besides the English stop words that often begin a sentence."""


def ends(text: str) -> Iterator[tuple[int, int]]:
    """The ends of the sentences and lines in a text: where each ends, and where the next begins."""
    begin = 0
    for place in _PLACE.finditer(text):
        start, end = place.span()
        before, after = text[max(begin, start - _LOOKED_AT) : start], text[end : end + _LOOKED_AT]
        if "\n" in place[0] or _is_end(before, after):
            yield start, end
            begin = end


def _is_end(before: str, after: str) -> bool:
    """True if a sentence ends between these texts. In doubt it goes on: half a sentence misleads, two do not."""
    sentence, following = before.rstrip(_CLOSING), after.lstrip(_OPENING)
    if sentence.endswith(("。", "！", "？")):
        return not (after.startswith('"') and before.count('"') % 2)
    if not sentence.endswith((".", "!", "?", "…")) or after[:1].islower():
        return False
    if sentence != before:  # "Where is it?" Anna asked.
        return sentence.endswith(".") or _opens(following)
    return not sentence.endswith(".") or _is_full_stop(sentence, following)


def _is_full_stop(sentence: str, following: str) -> bool:
    match = _WORD.search(sentence)
    word = match[0].strip(".-") if match else ""
    if word.isdigit():
        return not (
            _OF_LIST.fullmatch(sentence)
            or _MONTH.match(following)
            or (len(word) < 3 and following[:1].isdigit())
            or (_ORDINAL.search(sentence) and not _opens(following))
        )
    if word.casefold() in _NEVER or sentence.endswith(("z. B.", "d. h.", "e. g.", "i. e.")):
        return False
    if word.casefold() in _BEFORE_NUMBER or word.endswith("str"):
        return not following[:1].isdigit()
    return not (word in _SELDOM or _LETTERS.fullmatch(word)) or _opens(following)


def _opens(following: str) -> bool:
    """True if the text begins with a word that often begins a sentence."""
    match = _FIRST_WORD.match(following)
    word = match[0].casefold() if match else ""
    return word in ENGLISH_STOP_WORDS or word in _OPENINGS
