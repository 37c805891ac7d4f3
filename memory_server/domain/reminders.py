"""Reminders: long-term memories that are told once each time that they are due. Their triggers, and these in words."""

import json
import re
from collections.abc import Sequence

from memory_server.language.schedules import Due
from memory_server.language.text import has_han
from memory_server.language.topics import Topic

AGAIN = 720
"""Minutes after which a topic that comes up again in the same session is told of again."""

SHORT, SHORT_NAME = 4, 3
"""Letters up to which a word has no endings but those of a plural or a verb: a tax is no taxi."""


def when_due(dues: Sequence[Due]) -> str:
    """Return the trigger that is true once for each moment at which a reminder is due."""
    return " || ".join(
        f"due(told, '{due.first:%Y-%m-%dT%H:%M}'" + (f", '{due.every}')" if due.every else ")")
        for due in dues
    )


def when_said(topic: Topic) -> str:
    """Return the trigger that is true where a message is about a topic, the first time or each time."""
    singles = [words[0] for words in topic.alternatives if len(words) == 1]
    parts = [_found(singles)] if singles else []
    parts += [_together(words) for words in topic.alternatives if len(words) > 1]
    condition = " || ".join(parts)
    if topic.repeats:
        return condition
    return f"!told && ({condition})" if len(parts) > 1 else f"!told && {condition}"


def due_in_words(dues: Sequence[Due]) -> str:
    """Word the moments: `Friday, 27 November 2026, 09:00`, `every 2 weeks from …`."""
    words = []
    for due in dues:
        moment = f"{due.first:%A}, {due.first.day} {due.first:%B %Y, %H:%M}"
        words.append(f"every {(due.every or '').removeprefix('1 ')} from {moment}" if due.every else moment)
    return "; ".join(words)


def topic_in_words(topic: Topic) -> str:
    words = " or ".join(" + ".join(words) for words in topic.alternatives)
    return f"{'each time' if topic.repeats else 'once'} when a message has {words}"


def _together(words: Sequence[str]) -> str:
    """Return the condition that all words are found; of three and more the names and one of the others."""
    names = [word for word in words if word[0].isupper()]
    if len(words) < 3 or not names or len(names) == len(words):
        return f"match_keys_all(messages, [{_keys(words)}])"
    further = [word for word in words if word not in names]
    return f"match_keys_all(messages, [{_keys(names)}]) && {_found(further)}"


def _found(words: Sequence[str]) -> str:
    return f"match_keys(messages, [{_keys(words)}]) > 0"


def _keys(words: Sequence[str]) -> str:
    return ", ".join(map(_key, words))


def _key(word: str) -> str:
    """Return a word as a key: an expression that also finds its other forms, where it is written in letters alone."""
    if has_han(word) or not word.isalpha():
        return json.dumps(word, ensure_ascii=False).replace("'", "\\'").replace('"', "'")
    stem = _stem(word)
    if len(stem) <= (SHORT_NAME if word[0].isupper() else SHORT):
        ending = "(s|es|e|ed|ing|ings)?"
    else:
        ending = "{letter}{{0,2}}" if word[0].isupper() else "{letter}{{0,3}}"
    if word.isascii():
        return f"/\\b{stem}{ending.format(letter=chr(92) + 'w')}\\b/i"
    letter = "\\p{L}"
    return f"/(?<!{letter}){stem}{ending.format(letter=letter)}(?!{letter})/iu"


def _stem(word: str) -> str:
    """Return a word without the ending of a plural or a verb: releas of release, tax of taxes."""
    if word[0].isupper():
        return word
    if re.search("(?:s|x|ch|sh)es$", word):
        return word[:-2]
    if word.endswith("ing") and len(word) > 6:
        return word[:-3]
    if re.search("[^aeious]s$", word) or word.endswith("es"):
        word = word[:-1]
    return word[:-1] if word.endswith("e") and len(word) > SHORT else word
