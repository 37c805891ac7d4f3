"""Turns a question into terms for the word index."""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

from memory_server.language.lazy import lazy
from memory_server.language.text import SPACELESS, fold, has_han

_INSIDE = "._/:@+#'’-"
"""Marks that do not end a word if a letter follows: a path, a version or an address is one word."""

_NEWER = "\u2e3c"
"""The first punctuation character that is newer than the word index's table of characters, so that the index takes it
and later ones for letters (SQLite's FTS5, whose unicode61 tokenizer knows Unicode 6.1)."""

_LETTERS = frozenset(["Lu", "Ll", "Lt", "Lm", "Lo", "Nd", "Nl", "No", "Co", "Cn"])
"""Unicode categories that the word index takes for letters; private use (Co) and unassigned (Cn) are among them."""

_LETTER = f"[^{SPACELESS}\\s{_INSIDE}]"
_RUN = lazy(f"(?P<spaceless>[{SPACELESS}]+)|{_LETTER}+(?:[{_INSIDE}]+{_LETTER}+)*[+#]*")
"""A run of spaceless script, or a word with the marks inside it."""

STOP_CHARACTERS = frozenset("的了是在和与也就都而及着或吗呢吧啊么之其这那哪")
"""Chinese function words of one character: a pair that contains one is no term. A list by hand."""

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
"""Words that carry no meaning in a question, so they are no terms (the usual list of English information retrieval)."""

GERMAN_STOP_WORDS = frozenset(
    """
    aber alle allem allen aller alles andere anderen auch auf aus bei beim bist dabei damit dann darf darfst das
    dass daß dein deine der deren dessen dich dies diese diesem diesen dieser dieses dir doch dort durch ein eine
    einem einen einer eines etwas euch euer eure für gegen gibt hab habe haben hast hatte hatten hätte heißt hier
    ich ihm ihn ihnen ihr ihre ihrem ihren ihrer ist jede jedem jeden jeder jedes kann kannst kein keine keinem
    keinen keiner können könnte lautet mein meine meinem meinen meiner mich mir muss musst müssen nach nicht nichts
    noch nun nur oder ohne schon sehr sein seine seinem seinen seiner seit sich sind soll sollen sollte sondern über
    und uns unser unsere unserem unseren unserer unter viel viele vom wann waren warum weil welche welchem welchen
    welcher welches wem wenn wer werde werden weshalb wie wieder wieso wieviel wir wird woher wohin wollen worden
    wurde wurden würde zum zur zwischen
    """.split()
)
"""Words that carry no meaning in a German question, and are no words of English."""

_GERMAN_OR_ENGLISH = frozenset(
    "ab als bin bis da dem den denn des die du er es hat im ja mal man mit ob sie um von vor wen war wo zu".split()
)
"""The same that also are English words, names or signs (die, hat, man, MIT): stop words in a German text only."""

CHINESE_STOP_WORDS = """
    什么时候 为什么 怎么样 是不是 有没有 什么 怎么 如何 为何 哪些 哪个 哪里 哪儿 多少 几个 这个 那个 我们 你们 他们
    她们 它们 是否 可以 一个 请问 关于 因为 所以 但是 如果 已经 还是 或者 以及 我 你 他 她 它 谁 请 吗
    """.split()
"""Chinese stop words, longest first; they are removed from a run before it is split. A list by hand."""

_CONTRACTED = re.compile("['’](?:s|re|ve|ll|d|m)$")
"""The possessive or a short verb at the end of a word."""

SYMBOL = re.compile("[\U0001f000-\U0001faff\u2600-\u27bf]")
"""Emoji and dingbats: the index has no terms for them, so texts are searched for them directly."""

_STOP_WORDS = ENGLISH_STOP_WORDS | GERMAN_STOP_WORDS | _GERMAN_OR_ENGLISH

_CHINESE_STOPS = re.compile("|".join(CHINESE_STOP_WORDS))


@dataclass(frozen=True, slots=True)
class Query:
    """`terms` are phrases for the word index; `symbols` are searched for in the text itself.

    `chinese`: semantic search needs an embedder that understands Chinese.
    """

    text: str
    terms: tuple[str, ...]
    symbols: tuple[str, ...]
    chinese: bool


def parse(text: str) -> Query:
    """The terms of a question, without stop words; with them if there is nothing else."""
    terms = list(dict.fromkeys(_terms(text, stops=True))) or list(dict.fromkeys(_terms(text, stops=False)))
    return Query(text, tuple(terms), tuple(dict.fromkeys(SYMBOL.findall(text))), has_han(text))


def index_phrase(word: str) -> str:
    """A word as the index stores it: folded, with each character of a spaceless script on its own."""
    return re.sub(rf"([{SPACELESS}])", r" \1 ", fold(word)).strip()


def _terms(text: str, *, stops: bool) -> list[str]:
    terms: list[str] = []
    matches = list(_RUN.finditer(_spaced(fold(text))))
    stop_words = _stop_words(match[0] for match in matches) if stops else frozenset()
    for match in matches:
        run = match[0]
        if not match["spaceless"]:
            if _has_letter(run) and stop_words.isdisjoint([run, uncontracted(run)]):
                terms.append(run)
            continue
        for part in _CHINESE_STOPS.split(run) if stops else [run]:
            # The index has no terms for radicals such as ⺀: they are searched for in the text itself.
            terms.extend(filter(_has_letter, _pairs(part, stops=stops)))
    return terms


def uncontracted(word: str) -> str:
    """The word without a possessive or a short verb at its end: who for who's."""
    return word if word.isalnum() else _CONTRACTED.sub("", word)


def stem(term: str) -> str:
    """What other forms of a term begin with: the word without its last two letters, or the whole of a short one."""
    plain = uncontracted(term).replace(" ", "")
    return plain[: max(4, len(plain) - 2)] if plain.isalpha() and not has_han(plain) else plain


def _stop_words(runs: Iterable[str]) -> frozenset[str]:
    """The stop words of a text in the alphabet: those of English, and of German where it has one of these."""
    return ENGLISH_STOP_WORDS if GERMAN_STOP_WORDS.isdisjoint(runs) else _STOP_WORDS


def _spaced(text: str) -> str:
    """The text with punctuation replaced by spaces. Symbols beyond ASCII stay: to the index, ₽ and 🤖 are letters."""
    return text.translate(_SPACES)


class _Spaces(dict[int, int]):
    """Code points by code points, made at their first use: a space for a mark that separates words."""

    def __missing__(self, point: int) -> int:
        character = chr(point)
        self[point] = ord(" ") if _separates(character) and character not in _INSIDE else point
        return self[point]


_SPACES = _Spaces()


def _separates(character: str) -> bool:
    kind = unicodedata.category(character)[0]
    if kind == "P":
        return character < _NEWER or "\u3000" < character < "\u3040"
    return kind == "Z" or (kind == "S" and character.isascii())


def _has_letter(run: str) -> bool:
    """True if a run has a letter: accents and joiners alone are not a word."""
    return run[:1].isalnum() or any(unicodedata.category(character) in _LETTERS for character in run)


def _pairs(run: str, *, stops: bool) -> list[str]:
    """Overlapping pairs of characters, the usual terms of Chinese retrieval without a dictionary."""
    if len(run) == 1:
        return [] if stops and run in STOP_CHARACTERS else [run]
    pairs = [run[i : i + 2] for i in range(len(run) - 1)]
    term_pairs = [pair for pair in pairs if not (stops and STOP_CHARACTERS.intersection(pair))]
    return [" ".join(pair) for pair in term_pairs]
