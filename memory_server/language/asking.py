"""Prompts that ask for something that a memory could know, rather than for work or an explanation. By closed lists."""

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
