"""Why a simple condition holds or not, in words for the model that reads the memory."""

import calendar
from collections.abc import Iterator

from memory_server.language.keys import Key, Pattern, Said, hits
from memory_server.triggers.simple import tree
from memory_server.triggers.simple.scene import Scene
from memory_server.triggers.simple.tree import Node, Part
from memory_server.triggers.simple.values import Undecided, truthy

MOST_REASONS = 4
MOST_HITS = 3
EXCERPT = 40
"""Characters of a message that are shown."""

BEFORE = 15
"""Of these, before what was found."""

HOLDS = "the condition holds"
HOLDS_NOT = "the condition does not hold"


def why(node: Node, scene: Scene) -> str:
    """What decided it; short."""
    reasons = list(dict.fromkeys(_reasons(node, scene)))
    if len(reasons) > MOST_REASONS:
        reasons = [*reasons[:MOST_REASONS], f"and {len(reasons) - MOST_REASONS} more"]
    return "; ".join(reasons) or (HOLDS if truthy(node.value(scene)) else HOLDS_NOT)


def _reasons(node: Node, scene: Scene) -> Iterator[str]:
    match node:
        case tree.MatchKeys():
            yield from _found(node, scene)
        case tree.MatchAll():
            yield from _all(node, scene)
        case tree.Similar(text=text):
            nearness = scene.nearness(text)
            if nearness is not None:
                is_near = "near" if nearness >= node.threshold else "not near"
                yield f"what was said is {is_near} {_named(text)} ({nearness:.2f})"
        case tree.DatePart(part=part):
            yield _date(part, scene)
        case tree.MessageCount():
            yield f"messages: {len(scene.messages)}"
        case tree.ConversationId():
            yield f"the conversation is {_named(scene.conversation_id)}"
        case tree.Participant(name=name):
            yield f"{name} is {_value(scene.participants.get(name))}"
        case tree.Some():
            place = node.witness(scene)
            yield "no message is as asked" if place is None else _as_asked(scene.messages[place])
        case tree.Or():
            yield from _either(node, scene)
        case _:
            for child in tree.children(node):
                yield from _reasons(child, scene)


def _either(node: tree.Or, scene: Scene) -> Iterator[str]:
    """Of those that hold, if any does."""
    holding = [operand for operand in node.operands if _holds(operand, scene)]
    for operand in holding or node.operands:
        yield from _reasons(operand, scene)


def _holds(node: Node, scene: Scene) -> bool:
    """What comes after the first that holds was never evaluated, and need not be decidable."""
    try:
        return truthy(node.value(scene))
    except Undecided:
        return False


def _found(node: tree.MatchKeys, scene: Scene) -> Iterator[str]:
    found = hits(scene.picked(node.scope, node.depth).said, node.keys)
    for key, said in found[:MOST_HITS]:
        yield f"{_key(key)} in {said.role} message: {_excerpt(said.text, key)}"
    if len(found) > MOST_HITS:
        yield f"{len(found)} keys found in all"
    if not found:
        yield f"not found: {_keys(node.keys)}"


def _all(node: tree.MatchAll, scene: Scene) -> Iterator[str]:
    if not node.keys:
        yield "there are no keys"
        return
    joined = scene.picked(node.scope, node.depth).joined
    missing = [key for key in node.keys if not key.found(joined)]
    yield f"not found: {_keys(missing)}" if missing else f"all found: {_keys(node.keys)}"


def _as_asked(said: Said) -> str:
    return f"the {said.role} message is as asked: {_excerpt(said.text)}"


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
    return f"/{key.source}/{key.flags}" if isinstance(key, Pattern) else _named(key.text)


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
    """The message in one line; of a long one, the surroundings of the key where it stands as it is written."""
    place = 0
    if isinstance(key, Pattern):
        found = key.compiled.search(text)
        place = found.start() if found else 0
    elif key is not None:
        place = max(0, text.lower().find(key.text.lower()))
    begin = (
        place - BEFORE
        if place + len(key.text if key and not isinstance(key, Pattern) else "") > EXCERPT
        else 0
    )
    shown = " ".join(text[begin : begin + EXCERPT].split())
    return f"{'…' if begin else ''}{shown}{'…' if begin + EXCERPT < len(text) else ''}"
