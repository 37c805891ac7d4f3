"""German in one spelling: Strasse and Straße, Schluessel and Schlüssel, in das and ins.

What may be two things stays as it is: Masse and Maße, Frau Mueller and Frau Müller, an dem Tag and am Tag.
"""

import re
from collections.abc import Collection, Iterator

from memory_server.language.lazy import lazy
from memory_server.language.query import ENGLISH_STOP_WORDS, GERMAN_STOP_WORDS

_WORDS = GERMAN_STOP_WORDS | frozenset(
    """
    uhr halb oma opa januar februar märz juni juli oktober dezember montag dienstag mittwoch donnerstag freitag samstag
    sonntag montags dienstags mittwochs donnerstags freitags samstags sonntags morgens abends nachmittags heute gestern
    stunde stunden woche wochen monat monate tage jahre kinder frau herr strasse uns ich wir
    """.split()
)
"""Words that no English text has."""

_ENGLISH = ENGLISH_STOP_WORDS - {"am", "an", "do", "hat", "her", "in", "so", "was"}

_LETTERS = re.compile("[äöüß]", re.IGNORECASE)

_STEMS = """
    für dafür über gegenüber natürlich möglich nächst täglich jährlich wöchentlich regelmäßig persönlich ähnlich
    zurück schön möchte können könnt müss dürf würd hätt wär grün fünf zwölf dreißig spät früh kühl müde süß groß
    größ weiß heiß bloß außer außen draußen gemäß fleißig öffn prüf führ hör wünsch fähr läuft trägt verträgt
    schläft hält fängt wäscht lädt gefällt schließ gieß genieß beiß reiß schieß fließ heiße grüß stoß Tür
    Schlüssel Küche Nüsse Frühstück Bücherei Büro Mädchen Käse Geschäft Gemüse Mülleimer Mülltonne Hühner Brötchen
    Höhe Größe März Kühlschrank Räder Fahrräder Wäsche Gäste Ärzt Zähne Getränk Hähnchen Kräuter Bäume Vögel Äpfel
    Gebühr Stühle Schränke Plätze Prüfung Übung Glück Stück Brücke Mütter Väter Brüder Töchter Söhne Hälfte Räume
    Häuser Gläser Löffel Möbel Münze Füße Fußball Spaß Grüße Süßigkeit Gießkanne Großmutter Großvater Großeltern
    Straße
""".split()
"""How words begin that have umlauts or ß. As nouns only such as are no names; Maße and Buße are left out."""

_DIGRAPHS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue"})


def _otherwise(stem: str) -> Iterator[str]:
    """Spell a stem as on keyboards without its letters."""
    yield stem.replace("ß", "ss")
    yield stem.translate(_DIGRAPHS)
    yield stem.translate(_DIGRAPHS).replace("ß", "ss")


_SPELLED = {spelling: stem for stem in _STEMS for spelling in _otherwise(stem) if spelling != stem} | {
    "strasse": "straße"
}
_ANY_OTHERWISE = "|".join(sorted(_SPELLED, key=len, reverse=True))
_OTHERWISE = lazy(rf"(?<!Frau )(?<!Herr )(?<!Herrn )(?<!Familie )\b(?:{_ANY_OTHERWISE})|strasse")

_JOINED = {
    "in das": "ins", "an das": "ans", "auf das": "aufs", "für das": "fürs", "um das": "ums", "durch das": "durchs",
    "in dem": "im", "an dem": "am", "von dem": "vom", "bei dem": "beim", "zu dem": "zum", "zu der": "zur",
}  # fmt: skip
_APART = lazy(
    rf"\b(?i:{'|'.join(_JOINED)}) (?=[A-ZÄÖÜ])"
    r"(?!Tag|Abend|Morgen|Mittag|Vormittag|Nachmittag|Wochenende|Moment|Jahr|Monat|\w+tag\b|Mittwoch)"
)
"""A preposition and an article before a noun: only the noun of a time is another one without the article."""

_PER = lazy(r"(?<=[\d€] )((?:[A-Z]\w+ )?)(?:im (?=(?:Monat|Jahr)\b)|die (?=(?:Woche|Stunde)\b))")

_ORDINALS = {
    f"{word}{ending}": number
    for number, word in enumerate(
        "erste zweite dritte vierte fünfte sechste siebte achte neunte zehnte".split(), 1
    )
    for ending in ("", "n", "r", "s")
}
_ORDINAL = lazy(
    rf"\b(?P<before>im|am|beim|zum|vom|d(?:er|ie|as|en|em)|jede[nrs]?) (?P<ordinal>{'|'.join(_ORDINALS)})(?= [A-ZÄÖÜ])"
)
_DECIMAL = re.compile(r"(?<![\d,.])(\d+),(\d{1,2})(?![\d,])")


_OF_BOTH = frozenset(
    "am bin bis da dem den des die du er es hab hat im man mit sie um vom von vor war wen zu".split()
)
"""German words that English texts have too, as words of their own, names or signs."""


def is_german(text: str, words: Collection[str]) -> bool:
    """True if a text with these folded words is German."""
    if _LETTERS.search(text) is not None or not _WORDS.isdisjoint(words):
        return True
    return not _OF_BOTH.isdisjoint(words) and _ENGLISH.isdisjoint(words)


def in_one_spelling(text: str) -> str:
    """The German text with one spelling of each word that has several, and prepositions joined to their articles."""
    text = _OTHERWISE.sub(lambda match: _SPELLED[match[0]], text)
    text = _APART.sub(lambda match: match[0][0] + _JOINED[match[0][:-1].lower()][1:] + " ", text)
    text = _ORDINAL.sub(lambda match: f"{match['before']} {_ORDINALS[match['ordinal']]}.", text)
    return _DECIMAL.sub(r"\1.\2", _PER.sub(r"\1pro ", text))
