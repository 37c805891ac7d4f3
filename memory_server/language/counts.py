"""Whole numbers as people write them alone: "five", "twenty-one", "a dozen", "1k", 十二, "zwölf", "trois"."""

import re
import unicodedata

from memory_server.language.numbers import in_digits, value_of_han
from memory_server.language.text import by_word, fold

_WORDS = by_word(
    {
        0: "zero 零 〇 zéro cero",
        1: "one a single ein eins eine un une uno una 一",
        2: "couple deux dos 两 俩",
        3: "trois tres",
        4: "quatre cuatro",
        5: "cinq cinco",
        6: "six seis half-dozen",
        7: "sept siete",
        8: "huit ocho",
        9: "neuf nueve",
        10: "dix diez",
        11: "elf onze once",
        12: "dozen douze doce dutzend",
        15: "quinze quince",
        20: "vingt veinte score",
        30: "trente treinta",
        50: "cinquante cincuenta",
        100: "hundred hundert cent cien",
        1000: "thousand tausend mille mil",
    }
)
_NUMBER = re.compile(r"(\d{1,15})(?:\.(\d{1,3}))?\s?(k)?")
_THOUSANDS = re.compile(r"\d{1,3}(?:[,_]\d{3})+")


def whole(text: str) -> int | None:
    """Read a text that is nothing but a whole number; None where it is not."""
    folded = fold(unicodedata.normalize("NFKC", text)).strip()
    if _THOUSANDS.fullmatch(folded):
        return int(re.sub("[,_]", "", folded))
    plain = re.sub(r"^(?:a|an|ein|une?) (?=\w)", "", folded)
    if plain in _WORDS:
        return _WORDS[plain]
    han = value_of_han(folded)
    digits = str(han) if han is not None else in_digits(re.sub(r"(?<=ty) (?=\w)", "-", plain))
    match = _NUMBER.fullmatch(digits)
    if match is None or (match[2] and not match[3]):
        return None
    return round(float(f"{match[1]}.{match[2] or 0}") * 1000) if match[3] else int(match[1])
