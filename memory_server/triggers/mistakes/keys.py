"""Mistakes about the texts that a trigger looks for."""

import re
from collections.abc import Iterator

from memory_server.language.han import SIMPLIFIED, TRADITIONAL
from memory_server.triggers.reading import Mistake, SourceReading, Warned

_HAN = "[\u3400-\u9fff]"
_EDGE_BESIDE_HAN = re.compile(rf"\\b{_HAN}|{_HAN}\\b")
_SIMPLER = dict(zip(TRADITIONAL, SIMPLIFIED, strict=True))
_LOOKS = ("includes", "startsWith", "endsWith", "indexOf")
_CASES = {"toLowerCase": str.lower, "toUpperCase": str.upper}


def mistakes(reading: SourceReading) -> Iterator[Mistake]:
    for token in reading.tokens:
        if token.kind == "regex" and _EDGE_BESIDE_HAN.search(token.text):
            yield Warned(
                f"In {token.text} there is no edge of a word beside a Chinese character, so \\b is never found there. "
                "Leave \\b out."
            )
        elif token.kind == "regex" and _simplified(token.text) != token.text:
            yield _one_form(token.text, f"/{_simplified(token.text.strip('/'))}/")
    for index in reading.named(*_LOOKS):
        text = reading.literal(index + 2)
        if text is not None and reading.is_property(index) and reading.text(index + 1) == "(":
            yield from _looked_for(reading, index, text)
    for index in reading.named("includes"):
        yield from _list_of_texts(reading, index)
    for index in reading.named("match_keys_all"):
        yield from _phrase(reading, index)
    for index in reading.named("similar"):
        end = reading.pairs.get(index + 1, 0)
        number = reading.at(end - 1)
        if number.kind == "number" and reading.text(end - 2) == "," and _is_above_one(number.text):
            yield Warned(f"similar never reaches {number.text}: its maximum is 1.")


def _looked_for(reading: SourceReading, index: int, text: str) -> Iterator[Mistake]:
    """A text after `.includes(`."""
    case = reading.text(index - 4) if reading.follows(index - 3, "(", ")") else ""
    if case in _CASES and _CASES[case](text) != text:
        kind = "lower" if case == "toLowerCase" else "upper"
        yield Warned(f"A string in {kind} case never contains {text!r}. Write {_CASES[case](text)!r}.")
    if _simplified(text) != text:
        yield _one_form(text, _simplified(text))


def _list_of_texts(reading: SourceReading, index: int) -> Iterator[Mistake]:
    """`['a', 'b'].includes(m.content)` is true only where a message is nothing but one of them."""
    opening = reading.pairs.get(index - 2, -1)
    end = reading.pairs.get(index + 1, 0)
    if reading.text(index - 2) != "]" or reading.at(opening + 1).kind != "text":
        return
    if any(reading.text(at) == "content" for at in range(index + 2, end)):
        yield Warned(
            "['…'].includes(content) is true only where the message is nothing but one of these texts. To look for one "
            "of them write ['…'].some(w => content.includes(w)), or match_keys(messages, ['…'])."
        )


def _phrase(reading: SourceReading, index: int) -> Iterator[Mistake]:
    opening = next((at for at in range(index, min(index + 8, len(reading))) if reading.text(at) == "["), -1)
    phrase = reading.literal(opening + 1)
    if opening > 0 and phrase and " " in phrase.strip() and reading.text(opening + 2) == "]":
        yield Warned(
            f"match_keys_all has one key, the phrase '{phrase}'. To look for each word, write several keys."
        )


def _simplified(text: str) -> str:
    return "".join(_SIMPLER.get(character, character) for character in text)


def _one_form(text: str, simplified: str) -> Mistake:
    return Warned(
        f"This finds only the traditional form, {text}, not {simplified}. match_keys(messages, ['…']) finds both."
    )


def _is_above_one(number: str) -> bool:
    return number.replace(".", "", 1).isdigit() and float(number) > 1
