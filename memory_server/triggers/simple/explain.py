"""Says why a simple condition is true or false, for the model that reads the memory."""

import calendar
import re
from collections.abc import Iterator

from memory_server.language.keys import Key, RegexKey, Said, WordsKey, hits
from memory_server.triggers import FALSE, TRUE
from memory_server.triggers.simple import tree
from memory_server.triggers.simple.dates import DatePart, DateText, IsoText, Part, Time
from memory_server.triggers.simple.lists import (
    Every,
    FindIndex,
    IsThere,
    JoinedTexts,
    Let,
    MessageCount,
    MessageText,
    OfItems,
    SlotValue,
    Some,
)
from memory_server.triggers.simple.node import Node
from memory_server.triggers.simple.scene import Scene
from memory_server.triggers.simple.values import Undecided, truthy

MOST_REASONS = 4
"""Reasons that are shown, and with MOST_HITS and EXCERPT the length of an explanation: a choice, to save tokens."""

MOST_HITS = 3
"""Keys that are shown, found or missing; the others are counted."""

EXCERPT = 40
"""Characters of a message that are shown."""

BEFORE = 15
"""How many of these stand before the key that was found."""

BEGIN, END = "\x02", "\x03"
"""What stands around each excerpt in a reason, until it is shown or kept."""

_NO_MARKS = str.maketrans("", "", BEGIN + END)
_EXCERPTS = re.compile(f":? ?{BEGIN}[^{END}]*{END}")


def why(node: Node, scene: Scene) -> str:
    """The reasons for the condition's value, in short."""
    reasons = list(dict.fromkeys(_reasons(node, scene)))
    if len(reasons) > MOST_REASONS:
        reasons = [*reasons[:MOST_REASONS], f"and {len(reasons) - MOST_REASONS} more"]
    return "; ".join(reasons) or (TRUE if truthy(node.value(scene)) else FALSE)


def shown(why: str) -> str:
    """The reasons with their excerpts."""
    return why.translate(_NO_MARKS)


def kept(why: str) -> str:
    """The reasons without anything that was said."""
    return _EXCERPTS.sub("", why)


def _reasons(node: Node, scene: Scene) -> Iterator[str]:
    match node:
        case tree.MatchKeys():
            yield from _found(node, scene)
        case tree.MatchAll():
            yield from _all(node, scene)
        case tree.Similar(text=text):
            nearness = scene.nearness(text)
            if nearness is not None:
                which = "a" if nearness >= node.threshold else "no"
                yield f"{which} message is similar to {_named(text)} ({nearness:.2f})"
        case DatePart(part=part):
            yield _date(part, scene)
        case MessageCount(listing=listing):
            yield f"messages: {len(listing.said(scene))}"
        case tree.ConversationId():
            yield f"the conversation is {_named(scene.conversation_id)}"
        case tree.Participant(name=name):
            yield f"{name} is {_value(scene.participants.get(name))}"
        case Some():
            said = node.witness(scene)
            yield "no message meets the condition" if said is None else _meets(said)
        case Every():
            yield (
                "each message meets the condition"
                if node.value(scene)
                else "not each message meets the condition"
            )
        case IsThere(message=message) | MessageText(message=message):
            said = message.pick(scene)
            yield (
                "there is no such message"
                if said is None
                else f"the {said.role} message is: {_excerpt(said.text)}"
            )
        case OfItems():
            item = node.witness(scene)
            yield (
                f"{_value(item)} meets the condition"
                if item is not None and not node.every
                else _of_all(node, scene)
            )
        case JoinedTexts():
            yield f"messages: {len(node.listing.said(scene))}"
        case FindIndex():
            yield f"the place is {node.value(scene):g}"
        case DateText() | IsoText():
            yield f"the date is {node.value(scene)}"
        case Time():
            yield f"the date is {node.instant.moment(scene):%Y-%m-%d %H:%M}"
        case Let():
            node.bind(scene)
            yield from _reasons(node.body, scene)
        case SlotValue():
            return
        case tree.Or():
            yield from _either(node, scene)
        case _:
            for child in node.children:
                yield from _reasons(child, scene)


def _either(node: tree.Or, scene: Scene) -> Iterator[str]:
    """The reasons of the operands that are true; of all operands if none is."""
    true = [operand for operand in node.operands if _is_true(operand, scene)]
    for operand in true or node.operands:
        yield from _reasons(operand, scene)


def _is_true(node: Node, scene: Scene) -> bool:
    """Whether an operand of `||` is true. Those after the first true one were not evaluated, and may be undecidable."""
    try:
        return truthy(node.value(scene))
    except Undecided:
        return False


def _found(node: tree.MatchKeys, scene: Scene) -> Iterator[str]:
    found = hits(node.picked(scene).said, node.keys)
    for key, said in found[:MOST_HITS]:
        yield f"{_key(key)} in {said.role} message: {_excerpt(said.text, key)}"
    if len(found) > MOST_HITS:
        yield f"{len(found)} keys found in total"
    if not found:
        yield f"not found: {_keys(node.keys)}"


def _all(node: tree.MatchAll, scene: Scene) -> Iterator[str]:
    if not node.keys:
        yield "there are no keys"
        return
    joined = node.picked(scene).joined
    missing = [key for key in node.keys if not key.found(joined)]
    yield f"not found: {_keys(missing)}" if missing else f"all found: {_keys(node.keys)}"


def _of_all(node: OfItems, scene: Scene) -> str:
    return "each one meets the condition" if node.value(scene) and node.every else "not met by each one"


def _meets(said: Said) -> str:
    return f"the {said.role} message meets the condition: {_excerpt(said.text)}"


def _date(part: Part, scene: Scene) -> str:
    now = scene.now
    match part:
        case Part.YEAR:
            return f"the year is {now.year}"
        case Part.MONTH:
            return f"the month is {calendar.month_name[now.month]}"
        case Part.DAY:
            return f"the day is {now.day}"
        case Part.WEEKDAY:
            return f"it is {calendar.day_name[now.weekday()]}"
        case Part.HOUR | Part.MINUTE | Part.SECOND:
            return f"the time is {now:%H:%M}"


def _key(key: Key) -> str:
    return f"/{key.source}/{key.flags}" if isinstance(key, RegexKey) else _named(key.text)


def _keys(keys: "tuple[Key, ...] | list[Key]") -> str:
    more = len(keys) - MOST_HITS
    return ", ".join(map(_key, keys[:MOST_HITS])) + (f" and {more} more" if more > 0 else "")


def _value(value: object) -> str:
    match value:
        case None:
            return "not given"
        case str():
            return _named(value)
        case bool() | int() | float():
            return f"{value}".lower()
        case _:
            return "given"


def _named(text: str) -> str:
    line = " ".join(text.split())
    return f"'{line}'" if len(line) <= EXCERPT else f"'{line[:EXCERPT]}…'"


def _excerpt(text: str, key: Key | None = None) -> str:
    """The message in one line; of a long one only the part around the key, where it is spelled as in the trigger."""
    at = 0
    if isinstance(key, RegexKey):
        found = key.compiled.search(text)
        at = found.start() if found else 0
    elif key is not None:
        at = max(0, text.lower().find(key.text.lower()))
    length = len(key.text) if isinstance(key, WordsKey) else 0
    begin = at - BEFORE if at + length > EXCERPT else 0
    shown = " ".join(text[begin : begin + EXCERPT].translate(_NO_MARKS).split())
    return f"{BEGIN}{'…' if begin else ''}{shown}{'…' if begin + EXCERPT < len(text) else ''}{END}"
