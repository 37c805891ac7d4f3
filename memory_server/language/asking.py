"""Prompts that ask for something that a memory could know, and sentences that tell nothing. By closed lists."""

from memory_server.language.lazy import closed_list

LONGEST = 200
"""Characters: a longer prompt tells of work."""

_ASKS = closed_list(r"""
    ^(?:and\s|so\s|ok,?\s|hey,?\s|btw,?\s)?(?:who|whose|whom|when|where|which|what(?:'s|’s|\sis|\sare|\swas|\swere)|how\s(?:many|much|often|long))\b
    |^(?:what\s(?:port|host|name|date|day|time|version|branch|database|tool|url|address|email))\b
    |^(?:do|did|have)\swe\b
    |谁|什么时候|哪[个里天年月位些种]|多少|几[点号个天]|(?:端口|地址|名字|密钥|版本|域名|分支)是什么|叫什么
""")

_OF_THE_MOMENT = closed_list(r"""
    \b(?:this|that|these|those|here|it|error|wrong|fail\w*|broken|mean[st]?|difference|better|best|should|would|could|next|happen\w*)\b
    |这[个里段行些]|那[个里段行些]|报错|错误|失败|区别|意思|为什么|怎么
""")


def asks_for_a_fact(prompt: str) -> bool:
    """True if a prompt is one short question for a fact."""
    if len(prompt) > LONGEST or "\n" in prompt or not prompt.endswith(("?", "？")):
        return False
    return bool(_ASKS.search(prompt)) and not _OF_THE_MOMENT.search(prompt)


_OPENING = (
    r"(?:(?:and|so|then|now|also|ok(?:ay)?|yes|no|hey|hi|btw|great|good|thanks|please|pls|just)\b[,.!:]?\s+)*"
)

_ASKS_SOMETHING = closed_list(rf"""
    [?？]\s*$|[吗呢]\s*[。.!！]?$
    |^{_OPENING}(?:what|which|who|whom|whose|why|when|where|how)(?:['’]s|['’]re)?\b(?!\s(?:i|we)\b)
    |^{_OPENING}(?:is|are|was|were|do|does|did|can|could|should|would|will|shall|may|has|have)\s(?:the|a|an|it|this|that|there|i|we|you|my|our|any)\b
    |^(?:请问|谁|什么|哪|怎么|为什么|多少|几)|什么(?:时候|地方)?[。.]?$|多少[。.]?$
""")

_ORDERS = closed_list(rf"""
    ^{_OPENING}(?:let['’]?s\s|go\s(?:on|ahead)\b|do(?:n['’]t)?\s(?!not\b)|try\s(?:to\s|again\b)
        |(?:add|adjust|answer|apply|ask|bump|build|change|check|clean|clear|close|commit|compare|compute|configure|continue|convert|copy
        |correct|create|debug|delete|deploy|describe|disable|document|draft|drop|edit|enable|explain|extend|extract|fetch|find|finish|fix
        |format|generate|get|give|help|implement|improve|insert|install|investigate|keep|list|look|make|measure|merge|migrate|move|note
        |open|optimi[sz]e|plan|prepare|print|publish|push|put|read|rebase|refactor|release|rem(?:ember|ind|ove)|rename|repair|replace
        |reply|report|reset|restart|restore|review|revert|rewrite|run|save|schedule|search|send|set|show|simplify|sort|split|start
        |stop|store|suggest|summari[sz]e|switch|tell|test|translate|turn|undo|update|upgrade|use|verify|wire|write)\s)
    |^(?:(?:请|麻烦|帮|把|将|给我?|让|再|先|然后|顺便|继续|去)(?!假)|(?:改|加|写|看|查|删|修|跑|运行|更新|提交|部署|检查|添加|创建|生成|解释|总结|翻译|列出|告诉我|整理|准备|发送|安装|测试|实现)(?!了|过|完|好|在))
""")

_KNOWS_NOTHING = closed_list(r"""
    \b(?:i|we)(?:['’]m|\sam|\sare)?\s(?:(?:do|did|could|can|have|was|were)(?:\snot|n['’]t|not)\b|cannot\b|not\ssure|unable|(?:have|found|see)\s(?:no|nothing)\b|don['’]t)
    |\b(?:no|without)\s(?:idea|record|note|memory|memories|information|mention|trace|answer)s?\b
    |\b(?:nothing|not|never)\s(?:is\s|was\s|has\sbeen\s|been\s)?(?:stored|recorded|found|known|noted|mentioned|documented)\b|\bunknown\b
    |不知道|不清楚|不确定|找不到|没(?:有)?(?:找到|查到|记录|存|提到|相关)|未(?:找到|记录|知)|无法(?:确定|回答|得知)
""")


def asks(sentence: str) -> bool:
    """True if a sentence of a person asks for something."""
    return bool(_ASKS_SOMETHING.search(sentence))


def orders(sentence: str) -> bool:
    """True if a sentence of a person orders something, and asks nothing."""
    return bool(_ORDERS.search(sentence)) and not asks(sentence)


def states(reply: str) -> bool:
    """True if a sentence of a reply tells something: it neither asks back nor says that nothing is known."""
    return not reply.endswith(("?", "？")) and not _KNOWS_NOTHING.search(reply)
