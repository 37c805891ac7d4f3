"""Words by which a note tells that something has changed, in three languages: closed lists and how often they come.

They are hints, which a model weighs (domain/updates.py): a word that often means something else may stand here too.
"""

import re
from dataclasses import dataclass

from memory_server.language.function_words import NEGATIONS, NEGATIVE
from memory_server.language.lazy import lazy

_CHANGE = r"""
    \b(?:
        no\slonger|any\s?more|used\sto|formerly|previously|earlier|from\snow\son|as\sof|instead|meanwhile|again|now|new|too
        |moved|relocated|switched|changed|changes\sto|replac(?:ed|es|ing)|swapped|renamed|rewr(?:itten|ote)|migrated
        |upgraded|downgraded|updated|bumped|raised|increased|lowered|reduced|decreased|cut|doubled|halved|tripled|extended
        |shortened|postponed|rescheduled|delayed|cancell?ed|called\soff|dropped|removed|deleted|retired|deprecat\w+
        |decommissioned|disabled|enabled|shut\sdown|closed|reopened|ended|expired|finished|completed|left|quit|resigned
        |promoted|joined|took\sover|takes\sover|hired|became|stopped|gave\sup|outgr(?:ew|own)|outdated|grew|rose|fell
        |back\s(?:to|on|in|at)|turned\sout|correction|corrected|actually|mistaken?|revised|reverted|rolled\sback|approved
        |rejected|signed|filed|shipped|released|arrived|delivered|came|renewed|settled|gone|over|frozen|split|merged
        |obsolete|superseded?|archived?|allowed|welcome|introduced|adopted|started|began|after\sall|in\sfact
        |since\s(?!(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|\d))|has\sbeen|have\sbeen|being|got
        |jetzt|nun|inzwischen|mittlerweile|neuerdings|künftig|zukünftig|ab\s(?:sofort|jetzt|heute|morgen|nächste[mnrs]?|dem|diese[mnrs]?)
        |seit(?:\sdem|\sder|dem|her)?|nicht\smehr|kein(?:e[mnrs]?)?\smehr|nur\snoch|statt|stattdessen|wieder|doch|bisher|früher|vorher
        |neu(?:e[mnrs]?)?|umgezogen|gezogen|zieht|gewechselt|wechselt\w*|verlegt|verschoben|vorgezogen|geändert|umgestellt|erhöht|gesenkt
        |steigt|gestiegen|sinkt|gesunken|teurer|billiger|ersetzt|abgeschafft|abgesagt|gekündigt|verkauft|aufgehört|aufgegeben|angefangen
        |begonnen|beendet|fertig|eröffnet|umbenannt|fällt\s\w*\s?aus|ausgefallen|in\srente|abgemeldet|angemeldet|übernommen|übernimmt
        |eingezogen|ausgezogen|geworden|erledigt|verloren|gekauft|gefunden|bestanden|doch\snicht|anders|versetzt|entlassen|eingestellt
    )\b
    |现在|如今|目前|改[成为到用由在]|[更变]改|变[更成为]|换|切换|取代|代替|替代|搬[到去至家]|迁[到至移]|转[到去为由岗用入正]
    |调[到整岗任至低高]|升[级到至为任了]|降[到至低级了]|提[高升前]|推迟|延[期后长迟]|取消|作废|废[弃除止]|下线|停[用止产掉]
    |关闭|开[启通放]|上线|接入|合并|拆[分成]|新增|新来|增[加至到设]|减[少至到]|削减|追加|[涨跌][到了至]|缩短|放宽|收紧|更正
    |纠正|修正|勘误|订正|[记搞说写弄]错|其实|不再|没再|不用再|再也不|已|修[复好]|解决|恢复|好了|消失|完成|收尾|结束|出院
    |离职|入职|辞职|跳槽|接[手替任]|交接|以后|今后|[从自].{1,12}起|即日起|开始|之前|以前|原先|本来|原来|反而|重新|统一|达到
    |只要|订好|定了|签了|盖章|获批|批了|通过了|没有了|不用了|才发现|了(?:$|[,。;，；])
"""

_MENDED = r"""
    \b(?:
        fix(?:e[ds]|ing)?|solve[ds]?|resolved?|works?|working|pass(?:es|ed)?|green|correct(?:ly)?|help(?:s|ed)|fine|healed
        |recovered|cured|patched|repaired|properly|stable|succeed(?:s|ed)?|successful(?:ly)?|no\slonger|goes\sthrough
        |went\sthrough|can|reliabl[ey]|done|restored
        |repariert|behoben|gelöst|funktionier(?:t|en)|klappt|läuft|geheilt|gesund|erledigt|geht\swieder|in\sordnung
    )\b
    |修[复好]|解决|正常|好了|没再|不再|恢复|跑通|通过|够用|消失|成功|没问题|可以.{0,8}了|无误|稳定
"""

_TROUBLE = r"""
    \b(?:
        fail\w*|crash\w*|br(?:eak|oke)\w*|flaky|error\w*|exceptions?|raises|wrong\w*|slow\w*|bugs?|leak\w*|missing|hangs?
        |hung|stuck|loses?|lost|drops?|skip\w*|cannot|without|times?\sout|timeouts?|stale|corrupt\w*|deadlock\w*|oom
        |outofmemory\w*|duplicate[sd]?|twice|refuse[sd]?|blank|empty|unreachable|denied|reject\w*|trouble|problem\w*
        |issues?|not\sgood|too\s\w+
        |kaputt|defekt|fehler\w*|stürzt|hängt|fehlt|undicht|tropft|verstopft|krank|verletzt|gebrochen|funktioniert\snicht|probleme?|streikt
    )\b
    |n't\b|失败|错误|报错|报\s|溢出|超时|乱码|卡[住死顿]|崩|丢|不准|死锁|不能|无法|没法|异常|泄漏|收不到|打不开|闪退|冲突
    |重复|缺|慢|不了|有误|故障|中断|坏
"""

_PENDING = r"""
    \b(?:
        planned|plans?|planning|pending|expected|due|not\syet|yet|going\sto|wants?\sto|goal|in\sprogress|waiting|awaiting
        |ordered|applied|trying|considering|scheduled|preparing|tentative\w*|open|looking\sfor|should
        |geplant|planen|möchte|wollen|sollen|soll|noch\snicht|noch|wartet|warten|beantragt|bestellt|überleg(?:t|en)|vielleicht|demnächst|such(?:t|e|en)|muss|müssen
    )\b
    |打算|准备|还在|还没|尚未|计划|预计|待定|等待|正在|申请|考虑|暂时|暂定|拟|目标|想[要去买换]
"""

_NEGATION = rf"""
    \b(?:{"|".join(NEGATIONS)}|kein(?:e[mnrs]?)?|hardly|rarely|gone|forbidden|banned|prohibited|verboten|untersagt|hates?|avoids?)\b
    |n't\b|[{NEGATIVE}]|禁止|讨厌
"""

_PATTERNS = [lazy(source, re.VERBOSE) for source in (_CHANGE, _MENDED, _TROUBLE, _PENDING, _NEGATION)]


@dataclass(frozen=True, slots=True)
class Cues:
    """Number of words in a text that tell of a change, a repair, trouble or a plan, and of those that negate."""

    change: int
    mended: int
    trouble: int
    pending: int
    negation: int


def read(folded: str) -> Cues:
    """The cues of a folded text."""
    return Cues(*(len(pattern.findall(folded)) for pattern in _PATTERNS))
