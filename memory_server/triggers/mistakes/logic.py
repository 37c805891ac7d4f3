"""Mistakes with operators: what binds otherwise than it reads."""

from collections.abc import Iterator

from memory_server.triggers.reading import (
    COMPARISONS,
    RELATIONS,
    Mistake,
    Refused,
    SourceReading,
    SourceToken,
    Warned,
)

_OPENS = frozenset(["", "(", "[", ",", ";", "=", "=>", "return", "?", ":", "{", "!"])
_CLOSES = frozenset(["", ")", "]", ",", ";", "?", ":", "}"])
_CALCULATES = frozenset(["(", "[", ".", "?.", "+", "-", "*", "/", "%", "!"])


def mistakes(reading: SourceReading) -> Iterator[Mistake]:
    for index, token in enumerate(reading.tokens):
        if token.kind in ("text", "number"):
            yield from _literal_operand(reading, index)
        elif token.kind != "sign":
            continue
        elif token.text in RELATIONS:
            yield from _chain(reading, index)
        elif token.text in ("&", "|") and reading.at(index + 1).text != "0":
            yield Warned(f"A single `{token.text}` calculates with bits. Write `{token.text * 2}`.")
        elif token.text == "=":
            yield from _assignment(reading, index)
        elif token.text == "?":
            yield from _choice(reading, index)
        if token.text in COMPARISONS and reading.text(index + 1) == "[" and token.kind == "sign":
            yield Refused("A list equals nothing but itself. Write [5, 6].includes(value).")
    for index in reading.named("in"):
        if reading.text(index + 1) == "[":
            yield Refused("`in` looks for a place in a list, not for a value. Write [5, 6].includes(value).")
    for index in reading.named("match_keys"):
        yield from _count(reading, index)
    for index in reading.named("match_keys_all", "similar"):
        yield from _truth(reading, index)
    for index in reading.named("length"):
        written = reading.literal(index + 2) if reading.text(index + 1) in COMPARISONS else None
        if reading.is_property(index) and written is not None and not written.strip().isdigit():
            yield Warned(
                f"`length` is a number, which is never {reading.text(index + 1)} '{written}'. Write a number."
            )


def _literal_operand(reading: SourceReading, index: int) -> Iterator[Mistake]:
    """A number or a text that is a whole operand of `||` or `&&`."""
    token = reading.at(index)
    before, after = reading.text(index - 1), reading.text(index + 1)
    if token.text in ("0", "''", '""') or reading.at(index - 1).kind in ("text", "number"):
        return
    if after in ("||", "&&") and before in (*_OPENS, "||", "&&"):
        value = f"is {token.text} alone" if after == "||" else f"is what stands after {token.text}"
        yield Warned(
            f"`{token.text} {after} …` {value}, since {token.text} always counts as true. Write each comparison whole, "
            "or a list: ['a', 'b'].some(w => …), match_keys(messages, ['a', 'b'])."
        )
    elif before == "||" and after in (*_CLOSES, "||", "&&") and _compared_before(reading, index - 1):
        yield Warned(
            f"`|| {token.text}` is always true. Write the comparison again: value === 5 || value === 6, or "
            "[5, 6].includes(value)."
        )


def _compared_before(reading: SourceReading, index: int) -> bool:
    """Return True if a comparison stands before the `||` at `index`, in the same brackets."""
    index -= 1
    while index >= 0:
        if reading.text(index) in (")", "]", "}"):
            index = reading.pairs.get(index, 0)
        elif reading.at(index).kind == "sign" and reading.text(index) in _OPENS - {"!"}:
            return False
        elif reading.text(index) in COMPARISONS:
            return True
        index -= 1
    return False


def _chain(reading: SourceReading, index: int) -> Iterator[Mistake]:
    """`1 < x < 3`."""
    for here in reading.outermost(index + 1):
        if reading.text(here) in RELATIONS:
            middle = reading.shown(index + 1, here)
            yield Warned(
                f"`a {reading.text(index)} b {reading.text(here)} c` compares true or false with c. Write "
                f"a {reading.text(index)} {middle} && {middle} {reading.text(here)} c."
            )
            return
        elif reading.at(here).kind == "sign" and reading.text(here) not in _CALCULATES:
            return


def _choice(reading: SourceReading, index: int) -> Iterator[Mistake]:
    """`found ? 'yes' : 'no'` as the value of the trigger: both texts count as true."""
    yes, no = reading.at(index + 1), reading.at(index + 3)
    ends = all(reading.text(after) in ("", ";") for after in range(index + 4, len(reading)))
    if reading.text(index + 2) == ":" and ends and _counts_as_true(yes) and _counts_as_true(no):
        yield Warned(
            f"`? {yes.text} : {no.text}` is always true, since both count as true. Leave it out: the condition "
            "alone is the value."
        )


def _counts_as_true(token: SourceToken) -> bool:
    return (token.kind == "text" and len(token.text) > 2) or (
        token.kind == "number" and token.text.strip("0.") != ""
    )


def _assignment(reading: SourceReading, index: int) -> Iterator[Mistake]:
    name = reading.text(index - 1)
    of_message = reading.is_property(index - 1) and name in ("content", "role", "length")
    declared = reading.text(index - 2) in ("const", "let", "var", ",")
    if of_message or (name in ("messages", "conversation_id", "participants") and not declared):
        yield Warned(f"`{name} =` changes a value. To compare, write `{name} ===`.")


def _count(reading: SourceReading, index: int) -> Iterator[Mistake]:
    """A count of match_keys compared with `true`."""
    end = reading.pairs.get(index + 1)
    if reading.text(index + 1) != "(" or end is None:
        return
    sign, right = reading.text(end + 1), reading.at(end + 2)
    if sign in ("==", "===", "!=", "!==") and (right.text in ("true", "false") or right.kind == "text"):
        yield Warned(
            "match_keys counts the keys that are found, so compare with a number: match_keys(…) > 0, not "
            f"{sign} {right.text}."
        )
    elif sign in (".", "?."):
        yield Warned(
            f"match_keys gives a number, which has no `{right.text}`. Write match_keys(…) > 0, or "
            "messages.some(m => …)."
        )


def _truth(reading: SourceReading, index: int) -> Iterator[Mistake]:
    """`true` or `false` compared with a number."""
    end = reading.pairs.get(index + 1)
    if reading.text(index + 1) != "(" or end is None or reading.text(end + 1) not in COMPARISONS:
        return
    name, number = reading.text(index), reading.at(end + 2)
    if number.kind == "number":
        mend = (
            "The threshold is its last argument: similar(messages, '…', 0.5)"
            if name == "similar"
            else "To count, write match_keys(…) >= 2"
        )
        yield Warned(f"{name} gives true or false, not a number. {mend}.")
