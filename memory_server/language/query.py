"""A question as the word index understands it."""

import re
import unicodedata
from dataclasses import dataclass

from memory_server.language.text import HAN, SPACELESS, fold, has_han

_INSIDE = "._/:@+#'’-"
"""Marks that do not end a word when a letter follows."""

_NEWER = "\u2e3c"
"""Punctuation from here on is younger than the word index's table of characters, which takes it for letters."""

_LETTERS = frozenset(["Lu", "Ll", "Lt", "Lm", "Lo", "Nd", "Nl", "No", "Co", "Cn"])
"""To the word index, what is in private use or not named yet is a letter too."""

_LETTER = f"[^{SPACELESS}\\s{_INSIDE}]"
_RUN = re.compile(f"(?P<spaceless>[{SPACELESS}]+)|{_LETTER}+(?:[{_INSIDE}]+{_LETTER}+)*[+#]*")
STOP_CHARACTERS = frozenset("的了是在和与也就都而及着或吗呢吧啊么之其这那哪")
_HAN_RUN = re.compile(f"[{HAN}]+")

ENGLISH_STOP_WORDS = frozenset(
    """
    a about after again all also am an and any are as at be because been before being both but by can could
    did do does doing done for from get had has have having he her here hers him his how i if in into is it
    its just me more most my no nor not of off on once only or other our ours out over own same she should so
    some such than that the their theirs them then there these they this those through to too under until up
    us very was we were what when where which while who whom whose why will with would you your yours
    i'm i've i'll it's don't didn't doesn't what's that's let's
    """.split()
)
"""Words that a question is made of rather than about (the customary list of English information retrieval)."""

CHINESE_STOP_WORDS = """
    什么时候 为什么 怎么样 是不是 有没有 什么 怎么 如何 为何 哪些 哪个 哪里 哪儿 多少 几个 这个 那个 我们 你们 他们
    她们 它们 是否 可以 一个 请问 关于 因为 所以 但是 如果 已经 还是 或者 以及 我 你 他 她 它 谁 请 吗
    """.split()
"""The same in Chinese, longest first, cut out of a run before it is taken apart."""

SYMBOL = re.compile("[\U0001f000-\U0001faff\u2600-\u27bf]")
"""Emoji and dingbats: no words to the index."""

_CHINESE_STOPS = re.compile("|".join(CHINESE_STOP_WORDS))


@dataclass(frozen=True, slots=True)
class Query:
    """`terms` are phrases for the word index, `symbols` are looked for letter by letter.

    `chinese` says whether meaning needs an embedder that knows Chinese.
    """

    text: str
    terms: tuple[str, ...]
    symbols: tuple[str, ...]
    chinese: bool


def parse(text: str) -> Query:
    """The words of a question without those that carry no meaning, unless it has no others."""
    terms = list(dict.fromkeys(_terms(text, stops=True))) or list(dict.fromkeys(_terms(text, stops=False)))
    return Query(text, tuple(terms), tuple(dict.fromkeys(SYMBOL.findall(text))), has_han(text))


def index_phrase(word: str) -> str:
    """A word as the index holds it: folded, each character of a spaceless script alone."""
    return re.sub(rf"([{SPACELESS}])", r" \1 ", fold(word)).strip()


def _terms(text: str, *, stops: bool) -> list[str]:
    found: list[str] = []
    for match in _RUN.finditer(_spaced(fold(text))):
        run = match[0]
        if not match["spaceless"]:
            if _has_letter(run) and not (stops and run in ENGLISH_STOP_WORDS):
                found.append(run)
            continue
        for part in _CHINESE_STOPS.split(run) if stops else [run]:
            found.extend(_pairs(part, stops=stops))
    return found


def _spaced(text: str) -> str:
    """The text with spaces for punctuation. Symbols beyond ASCII stay: to the word index ₽ and 🤖 are letters."""
    return "".join(
        " " if _separates(character) and character not in _INSIDE else character for character in text
    )


def _separates(character: str) -> bool:
    kind = unicodedata.category(character)[0]
    if kind == "P":
        return character < _NEWER or "\u3000" < character < "\u3040"
    return kind == "Z" or (kind == "S" and character.isascii())


def _has_letter(run: str) -> bool:
    """Accents and joiners alone are no word."""
    return any(unicodedata.category(character) in _LETTERS for character in run)


def _pairs(run: str, *, stops: bool) -> list[str]:
    """Overlapping pairs of characters, the customary unit of Chinese retrieval without a dictionary."""
    if len(run) == 1:
        return [] if stops and run in STOP_CHARACTERS else [run]
    pairs = [run[i : i + 2] for i in range(len(run) - 1)]
    kept = [pair for pair in pairs if not (stops and STOP_CHARACTERS.intersection(pair))]
    return [" ".join(pair) for pair in kept]
