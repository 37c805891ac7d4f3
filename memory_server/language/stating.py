"""Statements of a message: what a person says, and does not ask, quote, suppose, reject or set as a task.

They are more than what `told` keeps: a sentence of the day is one too.
"""

from memory_server.language.lazy import closed_list
from memory_server.language.own_words import own_words
from memory_server.language.told import statements_of

_ASKS_OF_IT = closed_list(r"""
    ^(?:is|was|does|should|would)\s(?:that|this|it|we|i)\b(?=.*\b(?:that|this|it|so|right|true|good|idea|sense)\b).*[?？]\s*$
    |^(?:right|really|true|thoughts|agreed?|correct|what\sdo\syou\sthink)\b.*[?？]\s*$
    |\b(?:ignore|disregard|forge[t])\s(?:that|this|it|them)\b|^(?:that|this|it)(?:\sis|['’]s)\s(?:wrong|nonsense|false|rubbish|not\strue|not\sright|silly|a\sbad\sidea)[.!]?$|^(?:that|this)(?:\sis|['’]s)\swhat\b
    |^(?:这|那)?(?:对吗|是真的吗|好吗|靠谱吗|合理吗|不对|是错的|什么意思)[。.?？!！]?$
""")
"""A sentence that asks of what stands before it, or rejects it."""

_AROUND = closed_list(r"""
    ^(?:(?:please|pls|now|then|and|also|can\syou|could\syou)\s)*
        (?:explain|describe|discuss|argue|check|verify|test|find\sout|see|look|tell\sme|show|write|draft|add|create|implement|imagine|act|play|ignore|disregard|consider|compare|make\sup|invent|list|search|read)\b
        .*\b(?:that|whether|if|why|how|who|whose|what|which|where|says|about|as)\b
    |^(?:请|帮我)?(?:解释|说明|检查|验证|测试|看看|写|假装|扮演|忽略|想象)[^，。]*(?:是否|为什么|怎么|如何|的测试|关于|所说|说的)
""")
"""A task around what it names."""


_MEANT = closed_list(r"^(?:no,?\s)?i\smeant\b(?!.*[?]\s*$)|^我(?:说|问)的是(?!.*[？?吗]$)")
"""What puts right what was understood: it lasts no longer than the task, and is stated all the same."""


def stated(text: str) -> list[str]:
    """Return the statements of a message."""
    statements: list[str] = []
    for sentence in own_words(text):
        if _ASKS_OF_IT.search(sentence):
            statements.clear()
        elif _MEANT.search(sentence):
            statements.append(sentence)
        elif not _AROUND.search(sentence):
            statements += statements_of(sentence, lasts=False)
    return statements
