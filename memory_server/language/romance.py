"""Moments and lengths of time in French and Spanish as the English words that the other readers know."""

import re
from functools import lru_cache

from memory_server.language.calendar_words import DAYS, MONTHS
from memory_server.language.lazy import lazy

_FRENCH_MONTHS = "janvier|février|mars|avril|mai|juin|juillet|août|septembre|octobre|novembre|décembre".split(
    "|"
)
_SPANISH_MONTHS = (
    "enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre".split("|")
)
_FRENCH_DAYS = "lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche".split("|")
_SPANISH_DAYS = "lunes|martes|miércoles|jueves|viernes|sábado|domingo".split("|")

_WORDS = {
    "jour": "day", "jours": "days", "semaine": "week", "semaines": "weeks", "mois": "months", "an": "year",
    "ans": "years", "année": "year", "années": "years", "heure": "hour", "heures": "hours", "minutes": "minutes",
    "secondes": "seconds", "demain": "tomorrow", "hier": "yesterday", "aujourd'hui": "today", "midi": "noon",
    "minuit": "midnight", "matin": "morning", "soir": "evening", "après-midi": "afternoon", "maintenant": "now",
    "deux": "2", "trois": "3", "quatre": "4", "cinq": "5", "sept": "7", "huit": "8", "neuf": "9", "dix": "10",
    "quinze": "15", "une": "1", "un": "1", "chaque": "every",
    "día": "day", "días": "days", "dias": "days", "semana": "week", "semanas": "weeks", "mes": "month",
    "meses": "months", "año": "year", "años": "years", "hora": "hour", "horas": "hours", "minutos": "minutes",
    "segundos": "seconds", "ayer": "yesterday", "anteayer": "the day before yesterday", "hoy": "today",
    "mediodía": "noon", "medianoche": "midnight", "ahora": "now", "dos": "2", "tres": "3", "cuatro": "4",
    "cinco": "5", "siete": "7", "ocho": "8", "nueve": "9", "diez": "10", "una": "1", "cada": "every",
    **dict(zip(_FRENCH_MONTHS, MONTHS, strict=True)),
    **dict(zip(_SPANISH_MONTHS, MONTHS, strict=True)),
    **dict(zip(_FRENCH_DAYS, DAYS, strict=True)),
    **dict(zip(_SPANISH_DAYS, DAYS, strict=True)),
}  # fmt: skip

_PHRASES = (
    (r"\bavant-hier\b", "the day before yesterday"),
    (r"\baprès-demain\b|\bpasado mañana\b", "the day after tomorrow"),
    (r"\b(?:mañana por la|demain) (?:mañana|matin)\b", "tomorrow morning"),
    (r"\bpor la mañana\b", "in the morning"),
    (r"\bpor la tarde\b", "in the afternoon"),
    (r"\bpor la noche\b", "in the evening"),
    (r"\bmañana\b", "tomorrow"),
    (r"\bce (?=matin|soir|midi)|\bcet (?=après)", "today "),
    (r"\b(?:toutes les|tous les|todos los|todas las) (\w+?)s?\b", r"chaque \1"),
    (r"\bil y a (.+)", r"\1 ago"),
    (r"\bhace (.+)", r"\1 ago"),
    (r"\bdans (.+)|\bdentro de (.+)|\ben (?=\d+ |una? |dos |tres )(.+)", r"in \1\2\3"),
    (r"\b(?:la |le |el |l')?(\w+) (?:dernière|dernier|pasad[ao])\b", r"last \1"),
    (r"\b(?:la |le |el |l')?(\w+) (?:prochaine|prochain|próxim[ao]|que viene)\b", r"next \1"),
    (r"\b(?:la|el) próxim[ao] (\w+)", r"next \1"),
    (r"\b(?:cette|ce|esta|este) (?=semaine|mois|année|semana|mes|año)", "this "),
    (r"\bdepuis |\bdès |\bdesde |\bà partir d['eu] ?", "since "),
    (r"\bjusqu'(?:à|au) ?|\bhasta ", "until "),
    (r"(?:\bà |\ba las )?\b(\d{1,2}) ?h(?:eures?)? ?(\d\d)\b", r" at \1:\2"),
    (r"(?:\bà |\ba las )\b(\d{1,2}) ?heures\b|(?:\bà )?\b(\d{1,2}) ?h\b", r" at \1\2"),
    (r"\bà (?=midi|minuit)", "at "),
    (r"\ba las? (?=\d|una|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez)", "at "),
    (r"\ble (?=\d|lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche)|\bel (?=\d|\w)", ""),
    (r"\b(last|next|this) mois\b", r"\1 month"),
    (r"\b1er\b", "1"),
    (r"(?<=\d) de (?=\w)|(?<=o|e) de (?=\d{4})", " "),
)
_OWN = sorted({word for word in _WORDS if len(word) > 3} - {"minutes"}, key=len, reverse=True)
_SEEN = lazy(
    rf"\b(?:{'|'.join(_OWN)}|il y a|hace|dans|dentro de|toutes les|tous les|prochaine?|dernière?|avant-hier|mañana)\b"
)
"""Words of which a text has one if it is French or Spanish."""


@lru_cache(maxsize=256)
def in_english(folded: str) -> str:
    """The folded words for a moment or a length in English; a text in another language stays as it is."""
    text = folded.replace("’", "'")
    if not _SEEN.search(text):
        return folded
    for pattern, replacement in _PHRASES:
        text = re.sub(pattern, replacement, text)
    words = re.split(r"([^\w'-]+)", text)
    return " ".join("".join(_WORDS.get(word, word) for word in words).split())
