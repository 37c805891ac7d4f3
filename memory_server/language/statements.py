"""Sentences that state what should outlast a conversation: a decision, a preference, a correction. By closed lists."""

import re
from functools import cache

from memory_server.language.own_words import own_words

SHORTEST, LONGEST = 15, 300
"""Characters of a sentence that can be one: Chinese ones are short."""

SHORTEST_CHINESE = 6

_STATES = r"""
    \b(?:
        i\s(?:always\s|really\s|strongly\s|much\s)?(?:prefer|like|hate|dislike)\s(?!this|that|it\b|how|what|your?\b|the\s(?:first|second|third|last|other|new|old))
        |i\s(?:do\snot|don't|never)\s(?:like|want)
        |we(?:'ve|\shave)?\s(?:decided|agreed|chosen|settled)|we\schose
        |let'?s\s(?:go\swith|use|stick\s(?:to|with)|switch\sto)
        |we(?:'ll|\swill)\s(?:use|go\swith|stick|switch)
        |from\snow\son|in\s(?:the\s)?future|going\sforward|by\sdefault
        |remember\s(?:that|to)|keep\sin\smind|note\sthat
        |(?:please\s)?(?:always|never)\s(?:use|run|write|add|put|call|ask|answer|commit|push|show|keep|start|do)
        |(?:the\s)?decision\sis|correction|i\smeant
    )\b
    |^(?:no|actually|that'?s\s(?:wrong|not\sright))[,.:]\s
    |以后|今后|从现在开始|从今|记住|请记|我更?(?:喜欢|倾向|偏好)|我(?:讨厌|不喜欢)|不要再|别再|默认(?:用|使用)|(?:始终|总是)用
    |我们(?:已经)?(?:决定|商定|选定|改用|采用)|就用|^不对|应该是|其实是|更正
"""


def statements(text: str) -> list[str]:
    """The sentences of what a person said that state something to keep; none that asks."""
    return [each for each in sentences.split(text) if _fits(each) and _pattern().search(each)]


def _fits(sentence: str) -> bool:
    least = SHORTEST if sentence.isascii() else SHORTEST_CHINESE
    return least <= len(sentence) <= LONGEST and not sentence.endswith(("?", "？"))


@cache
def _pattern() -> re.Pattern[str]:
    """Compiled at the first use: few hooks need it."""
    return re.compile(_STATES, re.VERBOSE | re.IGNORECASE)
