"""Mistakes about `messages`, `context` and the parts of a message."""

from collections.abc import Iterator

from memory_server.language.nearest import meant
from memory_server.triggers.reading import EQUALITIES, Mistake, Refused, SourceReading, Warned

SOME = "messages.some(m => m.content.includes('…'))"

OF_CONTEXT = ("messages", "conversation_id", "participants")

_OF_LISTS = frozenset(
    """at concat copyWithin entries every fill filter find findIndex findLast findLastIndex flat flatMap forEach
    includes indexOf join keys lastIndexOf length map pop push reduce reduceRight reverse shift slice some sort splice
    toLocaleString toReversed toSorted toSpliced toString unshift values with constructor hasOwnProperty""".split()
)

_TEXT_METHODS = frozenset(["includes", "indexOf", "lastIndexOf"])

ROLES = ("user", "assistant", "system", "char", "tool", "developer", "function")
"""Roles that clients send. Another one is possible, so it is a warning."""

_OTHER_NAMES = {
    **dict.fromkeys(("human", "person", "customer", "用户", "me"), "user"),
    **dict.fromkeys(("ai", "bot", "model", "agent", "gpt", "claude", "assistent", "助手"), "assistant"),
}


def mistakes(reading: SourceReading) -> Iterator[Mistake]:
    yield from _of_context(reading)
    for index in reading.named("messages"):
        if not reading.is_property(index) or reading.text(index - 2) == "context":
            yield from _of_list(reading, index)
    yield from _roles(reading)
    yield from _whole_content(reading)


def _of_context(reading: SourceReading) -> Iterator[Mistake]:
    for index in reading.named("context"):
        name = reading.at(index + 2)
        if reading.is_property(index) or reading.text(index + 1) not in (".", "?.") or name.kind != "name":
            continue
        if name.text not in OF_CONTEXT and name.text[:2] != "__" and not _assigned(reading, "context"):
            near = meant(name.text, OF_CONTEXT)
            mend = f"Did you mean `context.{near}`?" if near else f"It has {', '.join(OF_CONTEXT)}."
            yield Refused(f"`context` has no `{name.text}`. {mend} For what was said: {SOME}.")


def _of_list(reading: SourceReading, index: int) -> Iterator[Mistake]:
    if _assigned(reading, "messages"):
        return
    name = reading.at(index + 2)
    if reading.text(index + 1) in (".", "?.") and name.kind == "name":
        called = reading.text(index + 3) == "("
        if (
            name.text in _TEXT_METHODS
            and called
            and reading.at(index + 4).kind in ("text", "template", "regex")
        ):
            yield Refused(
                f"`messages` is a list of messages, so messages.{name.text}('…') never finds a text. Write {SOME}, or "
                "match_keys(messages, ['…'])."
            )
        elif name.text in ("join", "toString", "toLocaleString") and called:
            yield Refused(
                f"messages.{name.text}() gives `[object Object]`, not what was said. Write "
                "messages.map(m => m.content).join(' '), or match_keys(messages, ['…'])."
            )
        elif name.text == "length" and called:
            yield Refused(
                "`length` is a number, not a function. Write messages.length > 5, without brackets."
            )
        elif name.text in ("content", "role", "text"):
            yield Refused(
                f"`messages` is a list and has no `{name.text}`; each message in it has. Write {SOME}, or "
                "messages.at(-1)?.content for the last one."
            )
        elif name.text not in _OF_LISTS and name.text[:2] != "__":
            mend = {
                "count": "messages.length", "size": "messages.length", "contains": SOME,
                "last": "messages.at(-1)", "first": "messages[0]", "any": SOME, "all": "messages.every(m => …)",
            }.get(name.text, SOME)  # fmt: skip
            yield Refused(f"`messages` is a list and has no `{name.text}`. Write {mend}.")
    elif reading.text(index + 1) == "[":
        begin, end = index + 2, reading.pairs.get(index + 1, index + 2)
        if reading.text(begin).startswith("-"):
            yield Refused(
                "A place below 0 holds nothing in JavaScript. For the last message write messages.at(-1)."
            )
        elif reading.follows(begin, "messages", ".", "length") and end == begin + 3:
            yield Refused(
                "messages[messages.length] is behind the last message. Write messages.at(-1), or "
                "messages[messages.length - 1]."
            )
    begin = index - 2 if reading.is_property(index) else index
    after = reading.text(index + 1)
    if reading.text(begin - 1) == "in" and after not in (".", "?.", "["):
        yield Refused(f"`in` does not look into messages. Write {SOME}, or match_keys(messages, ['…']).")
    elif reading.text(begin - 1) == "(" and after == ")" and reading.text(begin - 2) == "test":
        yield Refused(
            "`messages` is a list, and a regular expression tests a text. Write messages.some(m => "
            "/…/.test(m.content)), or match_keys(messages, [/…/])."
        )
    elif after in EQUALITIES and reading.at(index + 2).kind == "text":
        yield Refused(f"`messages` is a list, which never equals a text. Write {SOME}.")


def _assigned(reading: SourceReading, name: str) -> bool:
    """Return True if the trigger declares such a name itself."""
    return any(
        reading.text(index - 1) in ("const", "let", "var") or reading.text(index + 1) in ("=", "=>")
        for index in reading.named(name)
    ) or any(reading.text(index) == name for index in _parameters(reading))


def _parameters(reading: SourceReading) -> Iterator[int]:
    """The names between brackets before `=>` or after `function`."""
    for index, token in enumerate(reading.tokens):
        if token.text != "(" or index not in reading.pairs or token.kind != "sign":
            continue
        close = reading.pairs[index]
        if reading.text(close + 1) == "=>" or "function" in map(reading.text, (index - 1, index - 2)):
            yield from range(index + 1, close)


def _roles(reading: SourceReading) -> Iterator[Mistake]:
    for index in reading.named("role"):
        begin = reading.chain_begin(index)
        if reading.text(index + 1) in EQUALITIES:
            written = reading.literal(index + 2)
        elif reading.text(begin - 1) in EQUALITIES:
            written = reading.literal(begin - 2)
        else:
            continue
        if written is None or written in ROLES:
            continue
        right = written.lower() if written.lower() in ROLES else _OTHER_NAMES.get(written.lower())
        mend = f"Write '{right}'." if right else f"Usual roles are {', '.join(ROLES[:3])}."
        if written != written.lower():
            yield Warned(f"Roles are in lower case, so no role is '{written}'. {mend}")
        else:
            yield Warned(f"Clients do not call a role '{written}'. {mend}")


def _whole_content(reading: SourceReading) -> Iterator[Mistake]:
    for index in reading.named("content"):
        if not reading.is_property(index) or reading.text(index + 1) not in ("==", "==="):
            continue
        written = reading.literal(index + 2)
        if written is not None and written.replace(" ", "").isalnum():
            yield Warned(
                f"content {reading.text(index + 1)} '{written}' is true only if this is the whole message. For a "
                f"part of it write .content.includes('{written}')."
            )
