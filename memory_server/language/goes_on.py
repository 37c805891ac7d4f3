"""Tells a sentence that belongs to the one before it: it limits it, widens it, mends it or says why."""

from memory_server.language.lazy import closed_list

_MENDS = closed_list(r"""
    ^(?:please\s)?(?:remember|note|record|keep)\s(?:that|it|this)(?:(?:\s\w+){0,2}|\sfor\s(?:\w+\s?){2,4})[.!]?$|^(?:请|帮我)?(?:记下来|记一下|记住)了?[。.!！]?$
    |^(?:bitte\s)?merk\sdir\sdas(?:\sbitte)?[.!]?$|^(?:fix|lösung|solution)\s?:|\b(?:fix(?:ed|es)|solve[ds]|cure[ds]|did\sthe\strick|help(?:ed|s)|brought\sit|made\sit\swork|repaired)\b|就(?:好|行|正常|解决)了
    |^(?:like\s\w+ly|(?:it|that|they)['’]?d\s|that['’]?s\s(?:why|because)|because|weil|因为)\b
""")
"""A sentence that mends what the one before it names, says why, goes on with it, or asks to keep it."""

_LIMITS = closed_list(r"""
    ^(?:(?:or\s|and\s)?not|none|except|unless|apart\sfrom|even|no\smatter|whatever|wherever|auch\snicht|nicht\smal|außer|nur)\b.*(?<![?？])$
    |^(?:ever|always|never(?:\sever)?|period|full\sstop|anywhere|nowhere|nothing\selse|(?:always|never)\s(?:has|have|had|did|will|do|does)(?:\s\w+)?|(?:just|only)(?:\s\w+){1,2}|\w+\sonly|no(?:\s\w+){1,2}|niemals|nie)[.!]?$
    |^(?:it|that)\s(?:annoys|bothers|confuses|distracts|hurts|irritates|bugs|scares|drives)\s
    |^(?:[一哪][个次点里儿]?都|任何|连|除非|除了|包括|哪怕|即使|[^\s我你他她它]{1,8}(?:[里中上]也|也(?:不[要行能用许准]|别|一样))).{0,12}(?<![?？])$
""")
"""A piece that limits, widens or gives a reason for the sentence before it, and says nothing alone."""


def goes_on(sentence: str, before: str) -> bool:
    """True if a sentence belongs to the one before it."""
    if _MENDS.search(sentence):
        return True
    return not before.endswith(("?", "？")) and _LIMITS.search(sentence) is not None
