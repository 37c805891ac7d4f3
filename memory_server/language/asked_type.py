"""Questions that ask for all of a kind, and for nothing else: "What did we decide?", "decisions", 出了什么错？"""

import re

from memory_server.language.lazy import closed_list
from memory_server.language.query import ENGLISH_STOP_WORDS

_WORDS = {
    "decision": r"\b(?:deci(?:de[ds]?|sions?)|agree(?:d|ments?)?|settled?|cho(?:ose|sen?))\b"
    r"|决定|决策|商定|敲定|选定|定下",
    "error": r"\b(?:(?:go|goes|went|gone)\swrong|errors?|fail(?:ed|ures?)?|br(?:eak|oken?)"
    r"|mistakes?|problems?|bugs?|crash(?:ed|es)?)\b"
    r"|出[了过]?(?:什么|哪些)?(?:问题|错误?|差错|故障)|报错|错误|差错|故障|失败|问题|坏",
    "learning": r"\b(?:learn(?:ed|t)?|lessons?|(?:find|found|figured?)\sout)\b|学到|学会|经验|教训|发现",
    "preference": r"\b(?:preferences?|prefer(?:red)?)\b|偏好|喜欢",
}
_TYPES = {type: closed_list(pattern) for type, pattern in _WORDS.items()}

_PLAIN = closed_list(rf"""
    \b(?:{"|".join(sorted(map(re.escape, ENGLISH_STOP_WORDS), key=len, reverse=True))}
    |happen(?:ed|s|ing)?|change[ds]?|work(?:ed)?|sa(?:y|id)|talk(?:ed)?|discuss(?:ed)?|note[ds]?|store[ds]?|remember(?:ed)?
    |record(?:ed)?|news?|events?|go(?:ne|ing)?|went|memor(?:y|ies)|things?|stuff|everything|anything|something|tell|show|list
    |give|please|summar(?:y|i[sz]e)|recap|know|us|ma[dk]e|t[ao]ken?|taken|come|came|got|see|many|much|ever|together|exactly
    |important|main|big(?:gest)?|i['’]ve|we['’]ve|what['’]s|list(?:ed)?)\b
    |发生|变化|改变|做|干|说|聊|谈|讨论|记录?|存|进展|动态|事情?|儿|内容|消息|忙|我们?|你们?|咱们?|大家|他们?|她们?|什么|哪些?|多少
    |有没有|没有?|怎么样|如何|一下|告诉|回顾|总结|列出|看看|关于|以及|所有|全部|重要|[了过的吗呢啊有都些是在里中内请那这个几到和与还得着新给]
""")


def of(text: str) -> str | None:
    """Return the type of which a question asks for all; '' for all types, None where it has a subject."""
    types = [name for name, pattern in _TYPES.items() if pattern.search(text)]
    remainder = text
    for pattern in (*_TYPES.values(), _PLAIN):
        remainder = pattern.sub(" ", remainder)
    if any(map(str.isalnum, remainder)):
        return None
    return types[0] if len(types) == 1 else ""


def is_all(text: str) -> bool:
    """True if a text names kinds and nothing else, with one at least."""
    return of(text) is not None and any(pattern.search(text) for pattern in (*_TYPES.values(), _PLAIN))
