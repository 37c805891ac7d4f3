"""Cuts the request or the question off that stands in one sentence with what a person tells."""

from memory_server.language.lazy import closed_list

_AND_DO = closed_list(r"""
    \s*,?\s(?:so\s|and\s|then\s|but\s)*(?:please\s(?!keep)(?!.*\b(?:all|always|never|every|any)\b)|(?:can|could|would|will)\s(?:you|u|i|we)\b|what\b|how\b|which\b|where\b).*[?？]$
    |,\s(?:so\s|and\s|then\s)*(?:please|can\syou|could\syou|(?:add|fix|write|make|update|generate|create|change|check|look|use|run|move|rename|show|list|start|find)
        \s(?:it|this|that|them|me|the|a|an|one|some)\b).*$
    |[,，;；](?:请|帮[我忙](?!记)|麻烦|把|那?怎么|什么|(?:改|加|写|看|想要?|给我写|给我做)(?:一|个|下|看|些|几|五|三)).*$|，\S{1,10}(?:怎么|什么|哪|吗).*$
    |[，,]\s?[^，,。]{0,14}(?:要不要|是不是|能不能|行不行|够不够|可以不|好使不|咋|怎么|为啥|为什么|多少|吗|嘛|呢|够啊?)[^，,。]{0,14}[？?]?$
    |，[^，,。]{0,8}(?:重新?[写发做改算来出排]|再[来写做算出]|[改写算看查编排换标](?:[下一个简短慢大]|改|看)|照[这那]个[写改做]|推荐)[^，,。]{0,8}$
    |,\s(?:wie|was|wo|warum|kannst|kannst\sdu|bitte\s\w+\smir)\b.*[?]$
""")
"""A request or a question that follows in the same sentence."""

_WHEN = closed_list(
    r"^(?:when(?:ever)?|every\stime|each\stime|if|wenn|immer\swenn)\s(?:i|we|you|my|the|a|an|ich|wir|du)\b(?!.*[?]$)"
)
"""What begins a rule: its order belongs to it."""

_SO_PLEASE = closed_list(r"""
    ^(?!.*[?？]$)(?:(?:also|btw|fyi|hi|hello|hey|ok)\W+)*(?:i|i['’](?:m|ve|d)|my)\b[^,;.]*,?\sso\s(?:please|pls)\s(?!just\b|\w+\s(?:me|us|an?|this|that|it|one)\b)
    |^我(?!们)[^，。]*，\s?所以请(?!.*一[下个份张])
""")
"""What says of the person why things are to be so: the wish belongs to it."""

_FIRST_DO = closed_list(r"""
    ^(?:请|帮[我忙]|麻烦|给我|再?[来写出做排算](?:一|个|份|张|下))[^，。,]{1,24}[，,]\s?(?=(?:我|咱|这边|对方|孩子|客户))
""")
"""A request that stands before it in the same sentence."""


def without_request(sentence: str) -> str:
    """Return a sentence without what it asks to do, unless a wish or an order belongs to what it tells."""
    sentence = sentence.strip()
    if _WHEN.search(sentence) or _SO_PLEASE.search(sentence):
        return sentence
    return _FIRST_DO.sub("", _AND_DO.sub("", sentence)).strip()
