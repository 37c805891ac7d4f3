"""Cuts the request or the question off that stands in one sentence with what a person tells."""

from typing import Final

from memory_server.language.lazy import closed_list

AT_HAND: Final = (
    "bump|convert|estimate|extract|reproject|reword|shorten|strip|turn|send|draft|find|scale|sum|remove"
    "|fix|run|check|rename|move|delete|scrap|swap|open|close|look|compare|calculate|plan|rewrite|redo|undo|reply"
    "|email|order|cut|transpose|summari[sz]e|translate|pick|start|finish"
)
"""Verbs that order something of the thing at hand."""

_DO: Final = rf"""
    (?:{AT_HAND}|add|adjust|analy[sz]e|apply|book|build|change|clean|compose|create|debug|describe|design|do|explain
        |generate|help|improve|include|insert|list|make|mention|merge|optimi[sz]e|organi[sz]e|outline|polish|prepare
        |propose|put|recommend|refactor|replace|review|schedule|search|see|set|show|simplify|sort|split|suggest|test
        |update|use|verify|write)
    \s(?:(?:up|in|at|for|over|through|down|back)\s)?
    (?:it|this|that|these|those|them|him|her|the|an?|my|our|one|some|two|three|four|five|why|what|how|whether|\d+
        |me\s\w+|\S*\w[./_\#]\w\S*)\b
    |(?:give|get|find|show|tell)\sme\s(?:the|an?|some|more|one|two|three|four|five|ten|\d+|why|what|how)\b
"""
"""The same with what they are done to: the beginning of an order."""

_LASTS: Final = r"""
    (?!.*\b(?:always|never|not|instead|if|when(?:ever)?|every|each|daily|\w+days|there|only|and\s(?:it|that)(?:['’]s)?)\b)
"""
"""What is no order: words of a rule stand in it, or what became of it."""

_AND_DO = closed_list(rf"""
    \s*,?\s(?:so\s|and\s|then\s|but\s)*(?:please\s(?!keep)(?!.*\b(?:all|always|never|every|any)\b)|(?:can|could|would|will)\s(?:you|u|i|we)\b|what\b|how\b|which\b|where\b).*[?？]$
    |[,;]\s(?:so\s|and\s|then\s|but\s)*(?:(?:can|could)\s(?:you|u)|(?:what|why|how|which|where)(?:['’]s|\s(?:is|are|do|does|did|should|would|can|could|will|much|many|long)))\b.*$
    |(?:\s?[,;—–]|\s-|(?=\sso\s))(?:\s(?:so|and|then|now|also))*\s(?:(?:please|pls)\s(?!(?:keep|no|not|stop|always|never|don['’]?t|do\snot)\b)(?=\w+\s)|{_DO}){_LASTS}.*$
    |\sand\s(?:(?:give|find|show|tell|write|make|get|draft|send)\s(?:me|us)|(?:i|we)\s(?:need|want)\san?\s(?:check)?(?:list|plan|reply|letter|e?-?mail|summary|draft|script|recipe|report|table)|need\shelp)\b
        {_LASTS}.*$
    |[,，;；](?:请|帮[我忙](?!记)|麻烦|那?怎么|什么(?!.{{0,3}}都)).*$|，[^，\s]{{1,10}}(?:怎么|什么|哪|吗).*$
    |[，,]\s?[^，,。]{{0,14}}(?:要不要|是不是|能不能|行不行|(?<!就)够不?够?啊?|可以不|好使不|咋|怎么|为啥|为什么|多少|吗|嘛|呢)[^，,。]{{0,14}}[？?]?$
    |，(?!.*[不别就才])[^，,。]{{0,8}}(?:重新?[写发做改算查来出排]|再[来写做算出]|[改写算看查编排换标](?:[下一个简短慢大]|改|看)|照[这那]个[写改做]|推荐|[写说讲]清楚)[^，,。]{{0,8}}$
    |[，,；;]\s?(?:顺便|所以|那|然后|再|现在|接下来|你|给我|替我)*
        (?:把|想要?(?=[一个下看些几五三])|(?:写|改|加|列|出|做|画|查|看|算|排|拟|选|找|补|译|讲|调|修|拆|发|给|来|推荐|翻译|检查|规划|整理|总结|生成|设计|安排|更新|删除?|优化|解释|准备|介绍|分析|对比|修复|提交|重构|合并)
        (?:一?下|[一两三四五六七八九十几\d]+[个份篇封张条点些段版道款句首]|个|份|点|些|这|那|成|进|到[^，。]{{1,8}}[里中上]))
        (?!.*(?:以后|总是|每次|每个|一律|都|别|不要|必须|统一|就|才|了[。！]?$)).*$
    |,\s(?:wie|was|wo|warum|kannst|kannst\sdu|bitte\s\w+\smir)\b.*[?]$
    |,\s(?:mach|schreib|gib|zeig|erstell|plan|übersetz|prüf|such)e?\s(?:mir|bitte|das|den|die|diese\w?|eine?n?)\b(?!.*\b(?:immer|nie|jede\w*)\b).*$
""")
"""A request or a question that follows in the same sentence."""

_WHEN = closed_list(
    r"^(?:when(?:ever)?|every\stime|each\stime|if|wenn|immer\swenn)\s(?:i|we|you|my|the|a|an|ich|wir|du)\b(?!.*[?]$)"
    r"|^(?:once|before|after|until|unless|while|as\ssoon\sas|in\scase|(?:\w+\s)?(?:every|each|any))\b(?!.*[?]$)"
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
