"""The clauses of a message that state something, each with what marks it as a change: now, no longer, 改, 了 …"""

from collections.abc import Iterator
from dataclasses import dataclass

from memory_server.language.calendar_words import MONTHS
from memory_server.language.lazy import closed_list, lazy
from memory_server.language.own_words import own_words

LONGEST = 600
"""Characters of a message that may state a change in passing."""

MOST = 12
"""Clauses of a message that are read."""

_END = lazy(
    r"(?<!\d)[,;:](?!\s?\d)\s*|[,;:](?:\s+(?!\d+(?:[,.;]|$))|$)|[.!?]+(?:\s+|$)|[，。；：！？]\s*|\s(?:and|so|but|because)\s|\s[-–—]+\s"
)

_OPENS = closed_list(
    r"^(?:(?:so|and|but|ok|okay|oh|ah|hm+|wait|hey|hi|btw|fyi|ps|sadly|actually|well|also|no|forgot\sto\ssay|by\sthe\sway"
    r"|because|而且|不过|但是|所以|因为|哦|嗯|对了|那个)\b[\s,，]*)+"
)

_ASKS = closed_list(
    r"[?？]\s*$|[吗呢吧]\s*$|怎么|什么|多少|为何|哪[个里儿些天]|是不是|要不要|能不能|会不会|可不可以|够不够|合理吗"
    r"|^(?:who|whose|whos|what|whats|which|where|how|why|when\s(?:do|does|did|is|are|will|can|should))\b"
    r"|^(?:is|are|do|does|did|can|could|should|would|will|shall|may|has|have)\b"
)
"""What asks."""

_SUPPOSES = closed_list(
    r"^(?:if|when|whenever|once|unless|suppose|supposing|imagine|assum\w+|what\sif|maybe|perhaps|pretend|say)\b|\b(?:would|could|might|should|shall\swe)\b"
    r"|\b(?:rumou?rs?|apparently|one\sday|some\s?day|i\s(?:heard|read))\b|听说|据说|有人[说转]|网上|总有一天|真想|如果|要是|假如|假设|万一|比如|例如|试试|打算|考虑|也许|可能|想象|建议|最好"
)
"""What supposes or is hearsay; what follows in the sentence hangs on it."""

_ORDERS = closed_list(
    r"^(?:(?:please|pls|just|then|now|also|always|never|don['’]?t|do\snot|let['’]?s|quickly|go|can\syou|could\syou)\s)*"
    r"(?:add|adjust|analy[sz]e|apply|ask|book|bring|build|bump|calculate|call|change|check|clean|commit|compare|compute|convert|copy|count|create|cut|debug"
    r"|delete|deploy|describe|do|double|draft|draw|drop|edit|explain|export|extract|fetch|fill|find|fix|format|generate|get|give|go|help|hook|implement|import"
    r"|increase|insert|install|keep|label|let|limit|list|load|log|look|lower|make|mark|merge|move|name|note|open|order|pick|plan|plot|point|port|prepare|print|push|put|raise"
    r"|read|redo|reduce|refactor|remin[d]|remove|rename|renumber|reorder|repeat|replace|reply|rerun|restart|review|rewrite|round|run|save|scale|schedule|search|send|set|shift|shorten|show"
    r"|sort|split|start|stop|suggest|sum|summari[sz]e|swap|switch|take|tell|test|translate|trim|try|turn|undo|update|upgrade|use|verify|wait|write)\b(?!\s(?:is|are|was|were|has|got|to\sme)\b)"
    r"|^(?:请|帮|给|把|写|画|列|算|加[个一上]|更新|提醒|生成|检查|看看|查|做个|排[个一]|输出|重新|用|跑一?[下个]|起[个一]|试|别(?!.*了$)|不要|改[一下个]|删|照着?|按|告诉|翻译|总结|通知|导出)"
    r"|(?:改|更新|重写|算|整理|通知|提醒|排|重做|调整|标|换)[一]?下\S{0,6}$|提醒我|^\S{0,10}(?:也|跟着|都|统一)改(?:一下)?$"
)
"""What gives a task."""

_MARKS = closed_list(
    r"(?<!^)\bnow\b|\bno\slonger\b|\bany\s?more\b|\binstead\b|\brather\sthan\b|\bthese\sdays\b|\bsince\b|\bas\sof\b|\bfrom\b.*\bon(?:wards)?\b"
    rf"|^(?:from|starting)\b|\b(?:after|from|until|till|by|in)\s(?:the\s)?(?:{'|'.join(MONTHS)})\b"
    r"|\bnew\b|\bthis\s(?:spring|summer|autumn|fall|winter|year|term|month|season)\b"
    r"|\bonly\b|\b(?:down|up|over)\s(?:to|from)\b|\b(?:switch|mov|migrat|chang|renam|replac|swapp?|shift|rais|lower|upgrad|extend)(?:ed|s|es)\b"
    r"|不再|不用|不走|而不是|现在|以后|今后|新|从.*起|起(?=\s*\d)|才(?=\S)|刚|[改换搬迁挪转调切延推][到成为去至用了]|[升降涨减提放缩加开]\S?[到成至为]|了$|全[换改]|只要"
)
"""What says that something is otherwise than it was."""

_GONE = closed_list(
    r"\b(?:died|dead|gone|left|quit|closed|retired|sold|killed|dropped|dumped|ditched|scrapped|resigned|cancel+ed|broke|discontinued|decommissioned|shut\sdown|moved\s(?:out|away)|no\slonger|abolished|passed\saway|removed|deleted|fell\sout|dear)\b"
    r"|(?:走|(?<![卡累热笑气忙急困])死|辞职|退休|离职|转岗|离开|去世|倒闭|停用|停产|下线|取消|关门|关掉|卖掉|坏|没|淘汰|丢|不[用走在干做是]\S{0,8})了"
)
"""What says that something is no more."""

_ONCE = closed_list(
    r"\b(?:tomorrow|tonight|this\stime|(?<!as\sof\s)today|for\snow|just\s(?:this\s)?once|(?<!of\s)(?<!from\s)this\s(?:week|\w+day))\b"
    r"|明天|后天|今天|今晚|这[次回]|这(?:周|星期|礼拜)|临时|暂时"
    r"|\b(?:still|again|as\s(?:usual|always|before))\b|照[旧常样]|老样子|老时间|不变|没变|又|比.{1,12}[快慢好差高低贵多少]"
)
"""What says that it holds once, or that all is as it was: what is remembered stays."""

_REPORTED = closed_list(
    r"^(?:\w+\s){1,3}?(?:says|said|told\s(?:me|us)|wrote|announced|confirmed|wants|decided)\s(?:that\s)?|^[\u4e00-\u9fff]{1,5}?(?:说|让|要求|通知|规定|告诉我)(?:我们?)?"
)
"""Who says it: no part of what is said."""

_RENEWS = closed_list(
    r"\b(?:switched|moved|migrated|replaced|renamed|changed)\b|[换改搬迁切][成到去用为了]|新\S{1,6}[是叫姓]"
)
"""What says that something has taken the place of another."""


@dataclass(frozen=True, slots=True)
class Clause:
    """A clause that states something.

    `changes`: a word in it, or in a clause before it in its sentence, marks a change. `ends`: it says that something is
    no more. `renews`: it says that something has taken the place of another.
    """

    text: str
    changes: bool
    ends: bool
    renews: bool


def clauses(message: str) -> list[Clause]:
    """Return the clauses of a message that state something, without who says it."""
    if len(message) > LONGEST:
        return []
    return list(_read(own_words(message)))[:MOST]


def _read(sentences: list[str]) -> Iterator[Clause]:
    for sentence in sentences:
        start, changes = 0, False
        for end in [*_END.finditer(sentence), None]:
            text = sentence[start : end.start() if end else None].strip()
            mark = end[0] if end else ""
            start = end.end() if end else 0
            text = _OPENS.sub("", text)
            if _SUPPOSES.search(text):
                break
            if not text or any(part.search(text + mark) for part in (_ASKS, _ORDERS, _ONCE)):
                continue
            said = _REPORTED.sub("", text)
            ends = bool(_GONE.search(text))
            changes = changes or ends or bool(_MARKS.search(text))
            yield Clause(said, changes, ends, bool(_RENEWS.search(text)))
