"""Sentences that state what should outlast a conversation: a decision, a preference, a correction. By closed lists."""

from memory_server.language.lazy import closed_list
from memory_server.language.own_words import own_words

SHORTEST, LONGEST = 15, 300
"""Characters of a sentence that can be one: Chinese ones are short."""

SHORTEST_CHINESE = 6

_MOMENTARY = r"""
    (?!this|that|it\b|how|what|your?\b|one\b|them\b|(?:the|your|my)\s(?:first|second|third|last|next|other|new|old|whole)|option|later
        |to\s(?:see|know|look|go|do|wait|talk))
"""
"""What follows is of the moment: "let's use this one"."""

_STATES = closed_list(rf"""
    \b(?:
        i(?:'d|\swould)?\s(?:always\s|really\s|strongly\s|much\s)?(?:prefer|like|hate|dislike|rather\shave)\s{_MOMENTARY}
        |i\s(?:do\snot|don't|don’t|never)\s(?:like|want)\s{_MOMENTARY}
        |we(?:'ve|’ve|\shave)?\s(?:decided|agreed|chosen|settled)|we\schose
        |let['’]?s\s(?:go\swith|use|stick\s(?:to|with)|switch\sto)\s{_MOMENTARY}
        |we(?:'ll|’ll|\swill|\sare\sgoing\sto|'re\sgoing\sto)\s(?:use|go\swith|stick|switch)\s{_MOMENTARY}
        |from\snow\son|in\s(?:the\s)?future|going\sforward
        |(?:remember|keep\sin\smind)\sthat
        |(?:always|never)\s(?:use|run|write|add|put|call|ask|answer|commit|push|show|keep|start)\s{_MOMENTARY}
        |(?:the\s)?decision\sis|i\smeant
    )\b
    |^correction[:,]
    |^(?:please\s)?(?:don't|don’t|do\snot|stop)\s(?:ever\s|use\s|using\s|add\s|adding\s|commit\s|push\s|put\s|write\s|mock\s){_MOMENTARY}
    |^(?:no|actually|that['’]?s\s(?:wrong|not\sright))[,.:]?\s.*\b(?:is|are|we|our|not|use[sd]?)\b(?!\smind)
    |(?:以后|今后|从现在开始|从今)(?!再说|再改|会不会|再看|有空)|^记住[，,：: ]|^请记住
    |我更?(?:喜欢|倾向|偏好)(?!这|那|它|第)|我(?:讨厌|不喜欢)(?!这|那|它)
    |不要再|别再(?!报错)|^不要在|默认(?:用|使用)|(?:始终|总是|一律)[用使]|一定要
    |我们(?:已经)?(?:决定|商定|商量好|选定|选了|改用|采用)|就这么定
    |^不对[，,].*(?:是|不是)|^我说的是|^其实.{{0,8}}是|^更正|应该是.*不是|不是.*应该是
""")

_UNSURE = closed_list(r"""
    [?？]$|[吧吗呢]\s*[。.!！]?$
    |^(?:what|which|who|why|when|where|how|is|are|do|does|did|can|could|should|would|will|have|has)\b
    |\b(?:if|whether|suppose|maybe|perhaps|ha(?:ha)+|lol)\b|\b(?:docs?|wiki|readme)\s(?:says?|claims?)\b
    |如果|假如|要是|什么|哪|会不会|是不是|可能|也许|好像|没看懂|怎么样
""")
"""What asks, supposes, guesses or reports."""


def statements(text: str) -> list[str]:
    """The sentences of what a person said that state something to keep; none that asks."""
    return [sentence for sentence in own_words(text) if _states(sentence)]


def _states(sentence: str) -> bool:
    least = SHORTEST if sentence.isascii() else SHORTEST_CHINESE
    if not least <= len(sentence) <= LONGEST:
        return False
    return bool(_STATES.search(sentence)) and not _UNSURE.search(sentence)
