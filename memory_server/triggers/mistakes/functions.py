"""Mistakes about functions: results that are always true or never there."""

from collections.abc import Iterator

from memory_server.triggers.reading import Mistake, Refused, SourceReading

_ASKING = frozenset(
    "some every filter find findIndex findLast findLastIndex map flatMap reduce reduceRight sort toSorted".split()
)
"""Methods that need what their function returns."""

_PLACES = frozenset("indexOf lastIndexOf findIndex findLastIndex search".split())
"""Methods that give a place: -1, which is true, where nothing is found, and 0, which is false, at the beginning."""

_BEFORE_CONDITION = frozenset(["", "&&", "||", "!", "?", "=>", "return", ";"])
_AFTER_CONDITION = frozenset(["", "&&", "||", "?", ";"])


def mistakes(reading: SourceReading) -> Iterator[Mistake]:
    for index in reading.named("async", "await"):
        after = reading.at(index + 1)
        if not reading.is_property(index) and (after.text == "(" or after.kind == "name"):
            yield Refused(
                "An `async` function gives a promise, which is always true. Leave `async` and `await` out: nothing "
                "here needs to wait."
            )
            return
    for index in reading.named("import"):
        if reading.text(index + 1) in ("(", "."):
            yield Refused(
                "import() is not available. A trigger sees messages, participants, conversation_id and the date; no "
                "files, no modules and no network."
            )
            return
    yield from _without_return(reading)
    for index in reading.named(*_PLACES):
        if reading.is_property(index) and _is_condition(reading, index):
            name = reading.text(index)
            right = ".some(…)" if name.startswith("find") else ".includes('…')"
            yield Refused(
                f"{name} gives a place: -1, which counts as true, where nothing is found. Write {right}, or compare: "
                f".{name}(…) >= 0."
            )


def _without_return(reading: SourceReading) -> Iterator[Mistake]:
    """Functions in braces that return nothing to a method that asks them."""
    for index, token in enumerate(reading.tokens):
        if token.kind != "sign" or token.text != "{" or index not in reading.pairs:
            continue
        if reading.text(index - 1) == "=>":
            first = index - 2
            first = reading.pairs.get(first, first)
        elif reading.text(index - 1) == ")":
            first = reading.pairs.get(index - 1, 0) - 1
            first -= reading.text(first) != "function"
            if reading.text(first) != "function":
                continue
        else:
            continue
        is_asked = reading.text(first - 1) == "(" and reading.text(first - 2) in _ASKING
        body = range(index + 1, reading.pairs[index])
        if is_asked and not any(reading.text(inner) in ("return", "throw") for inner in body):
            yield Refused(
                f"The function in {reading.text(first - 2)}(…) has braces and no `return`, so it gives nothing. Leave "
                f"the braces out: .{reading.text(first - 2)}(m => m.content.includes('…'))."
            )


def _is_condition(reading: SourceReading, index: int) -> bool:
    """Return True if the value of the call itself is taken for true or false."""
    if reading.text(index + 1) != "(" or index + 1 not in reading.pairs:
        return False
    end, begin = reading.pairs[index + 1] + 1, reading.chain_begin(index)
    before, after = reading.text(begin - 1), reading.text(end)
    if reading.at(end).kind not in ("sign", "end"):
        return False
    if before == "(" and after == ")":
        return reading.text(begin - 2) in ("if", "!", "&&", "||", "Boolean")
    if after == ")":
        return before in ("=>", "&&", "||", "!") and before != ""
    if after in ("&&", "||", "?"):
        return before in (*_BEFORE_CONDITION, "(")
    return after in _AFTER_CONDITION and before in _BEFORE_CONDITION
