"""The sentences in which the person speaks: without code, logs, quotations and what is to be translated."""

import re

from memory_server.language import sentences
from memory_server.language.lazy import closed_list, lazy
from memory_server.language.text import HAN

_FENCED = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)", re.DOTALL)

_NOT_SAID = lazy(
    r"""
    ^\s*(?:[>|$]|\#+\s)                                      # a quotation, a table, a command, a title or a comment
    | ^(?:\ {4}|\t)                                          # indented code
    | ^\s*(?:[A-Z][A-Z.\s]{2,20}|[A-Z]\d{1,2})[:：]\s           # a line of a play or an interview
    | ^(?!(?:(?:(?!\s)[\W\d_])*[^\W\d_]\S*\s+){9}).*(?:[{};]\s*(?://.*)?$ | => | == | \w\(\)?) | ^\s*[\w.]+\s=\s | ^\s*(?://|/\*|\*/|<[a-z/!])
    | ^\s*(?:def|class|import|from\s\w+\simport|const|let\s\w+\s=|var|func|fn|public|private|return|SELECT|INSERT)\b
    | ^\s*(?:Traceback|File\s"|at\s\S+\(|npm\sERR|\w*(?:Error|Exception|Warning)\b:?)
    | ^\s*\[?\d{4}-\d\d-\d\d[T\s]\d | \b(?:INFO|WARN|WARNING|ERROR|DEBUG|FATAL)\b | ^\s*[\w.-]+(?:\[\d+\])?:\s\[
    | ^\s*(?:报错|错误信息|日志)[:：]
""",
    re.VERBOSE,
)

_ROWS = re.compile(r"^[^,\n]*(?:,(?=\S)[^,\n]*){2,}$", re.MULTILINE)
"""A line of a table with commas; one alone may be a sentence."""

_OPENS = closed_list(r"""
    (?:^|\n)(?!.*\b(?:remember|note|rules?|facts?|about\s(?:me|us)|context|fyi|preferences?|merk|regeln?)\b)(?!.*(?:记住|记一下|规则|约定|背景|关于我))
        [^\n]*[:：]\s*(?:\n|[>]{2,})
    |(?:^|\n)(?:\S+\s){0,4}?(?:fix|check|proofread|correct|polish|spelling|grammar|translate|into\s[A-Z]\w+|shorten|summari[sz]e|summary|cut|rewrite
        |rephrase|paraphrase|punch|continue|carry\son|feedback|edit|explain|caption|themes|title|headline|prüf\w*|korrigier\w*|übersetz\w*|kürz\w*|schreib\sweiter)\b[^\n]{0,80}\n\s*\n
    |(?:^|\n)[^\n]{0,12}(?:翻成|翻译|润色|校对|检查|改错|病句|压成|缩成|概括|总结|提炼|续写|接着|往下写|扩写|改写|点评|批改)[^\n]{0,30}\n
    |(?:^|\n)[^\n:：。]{0,24}(?:翻成|翻译|润色|校对|病句|错别字|压成|缩成|概括|总结|提炼|续写|接着写|往下写|扩写|改写|点评|批改|再炸|改[得成短顺]|参考答案|导语)[^\n:：。]{0,16}[:：]
    |(?:^|\n)(?:punch|clean|tidy|make)\s(?:this|it)\s\w+:
    |(?:^|\n)(?=[^\n]*(?:\b(?:this|these|the)\s(?:pages?|e?-?mails?|texts?|messages?|articles?|posts?|letters?|documents?|docs|readme|guide|contract|review|thread|ticket|tweet|ad)\b
        |\bwhat\s(?:does|do)\s(?:this|these|that)\smean\b|\bwhat\sdo\syou\sthink\s(?:of|about)\b|\bdoes\s(?:this|that)\smake\ssense\b
        |\b(?:is|are)\s(?:this|these|that)\s(?:right|true|correct|legit|real|accurate|a\sscam)\b|\bthoughts\b|\bdo\syou\sagree\b))[^\n]{0,120}[?？]\s*\n\s*\n
    |(?:^|\n)[^\n]{0,20}这(?:个|段|篇|封|份|条|些|网页|页|文章|邮件|消息)?[^\n]{0,12}(?:对吗|是什么意思|什么意思|怎么看|靠谱吗|是真的吗|怎么样|可信吗|说得对吗)[?？]?\s*\n\s*\n
""")
"""What ends before a text that is handed over: the rest of the message is that text."""

_LONG_QUOTATION = re.compile(
    r"(?:“[^“”]{8,800}”|„[^„“”]{8,800}[“”]|「[^「」]{8,800}」|(?<!\w)\"[^\"]{8,800}\"(?!\w)|(?<!\w)'(?:[^'\n]|(?<=\w)'(?=\w)){8,800}'(?!\w))"
)

_ENDS_INSIDE = re.compile(r"(?<=[a-zäöüß]{3})[.!?](?=\s\S)|[。！？](?=\w)")
"""The end of a sentence inside a quotation: somebody else speaks."""

_GREETING = re.compile(
    r"^(?:Hi|Hello|Hey|Dear|Hallo|Liebe[rs]?)\s(?:Mr|Mrs|Ms|Herr|Frau)?\.?\s?[A-Z]\w+\b[,!]?|^\w{1,3}(?:您好|你好)[,，:：]"
)
"""A greeting behind the beginning: a letter that is handed over."""

_ACTS = closed_list(
    r"^\s*\*[^*\n]+\*|^you(?:['’]re|\sare)\s(?:captain|king|queen|lord|lady|sir|doctor|professor)\b|^(?:int|ext)\.\s"
)
"""A message that plays a role."""

_HANDED_OVER = closed_list(r"""
    \b(?:translate|proofread|rephrase|paraphrase|rewrite|summari[sz]e|correct|polish|übersetze|korrigiere|kürze)\b[^.]*(?::|\b(?:this|these|following|below)\b)
    |^(?:proofread|summari[sz]e|paraphrase)\b|\b(?:begins?|starts?|ends?)\swith\s?[:\"“]
    |^(?:write|tell|continue)\s.*\b(?:story|poem|song|scene)\b|^(?:you\sare|act\sas)\s(?:an?|my|the)\s|^here(?:'s|\sis)\s(?:the|an?|my)\s(?:letter|mail|email|text|draft)\b
    |^(?:dear|liebe[rs]?|sehr\sgeehrte\w*|hi\s(?:all|team|everyone)|各位|亲爱的|尊敬的)\s?
    |^(?:from|to|subject|wikipedia|terms|review|job\sad|horoscope|lyrics|survey|error|warning|邮件)\s?[:：]
    |(?:翻译|润色|改写|校对|总结)[^。]*[:：]|^(?:翻译|润色|校对)|(?:听我念|批改?一下|评一下)\s?[:：]|第一句|写一[首篇个段][^。]*[:：]|^你?(?:请你)?(?:来)?扮演
    |^(?![^:]*\b(?:i|we|remember|note|rules?)\b[^:]*:)[^:,]{1,40}\b(?:wrote|writes?|said|says|texted|mailed|posted|commented|replied)\b[^:]{0,24}:\s
    |^(?:someone\s|somebody\s)?(?:from|on|in|via)\s[^:]{0,30}\b(?:slack|teams|forum|chat|channel|e?-?mail)\b[^:]{0,24}:\s|^(?:e?-?mail|ticket|message|post)\s(?:from|by|\#)[^:]{0,30}:\s
    |^(?!我|记|请|以后|从|规)[^，。：:]{1,14}(?:说|写道|写的?|回复|留言|发微信|发邮件|群里|论坛|来信)[^，。：:]{0,4}[:：]
""")
"""A sentence that hands over a text: what follows is that text, and nobody says it here."""

_HANDED_BACK = closed_list(r"""
    ^you\s(?:will|prefer|bring)\s|【[^】]{2,8}】|^(?:★|☆)|
    \b(?:proofread|polish|translate|korrigiere\w*)\s(?:it|that|this|the\s\w+|bitte|(?:in)?to\s\w+)\s?[.!]?$|^(?:please\s)?(?:fix|check)\sthe\s(?:grammar|typos|spelling)
    |^bitte\skorrigieren|帮我(?:润色|翻译|校对)(?:一下)?[。.]?$
""")
"""A sentence that says so at the end of a text."""

_END = re.compile(
    r"(?<=[\w)`/]{2}[.!?])(?<!\betc\.)(?<!\bvs\.)(?<!\bno\.)(?<!\bMr\.)(?<!\bDr\.)\s+(?=\S)"
    r"|(?<=[!?]{2})\s+(?=\S)|(?<=…)\s*(?=[^\s…。.]{4})"
    rf"|(?<=[{HAN}]{{3}})\s+(?=[{HAN}]{{2}})"
    r"|(?<=[A-Za-z]\s\d[.!?])\s+(?=[A-Z])(?!Jan|Feb|Mär|Apr|Mai|Jun|Jul|Aug|Sep|Okt|Nov|Dez)|(?<=\d[.!?])\s+(?=[a-z])"
)
"""The end of a sentence as people type it: the next may begin with a small letter, a number may end one, and a
blank one of Chinese."""

_QUOTED = re.compile(
    r"[\"“”「」『』«»][^\"“”「」『』«»]*[\"“”「」『』«»]?|(?<!\w)['‘](?:[^'’]|(?<=\w)['’](?=\w))+['’](?!\w)"
)

_SPEECH = closed_list(r"""
    \b(?:i|we|you|he|she|my|our|your|is|are|was|were|always|never|not|don['’]t|ich|wir|ist|sind)\b|[我你他她是不]|(?:\S+\s+){4}\S|[^\x00-\x7f]{9}
""")
"""A quotation of this kind is what somebody says; a shorter one is a name."""

_SHORTENED = re.compile(
    r"\b(?:prof|dr|st|mr|mrs|ms|incl|inkl|excl|approx|ca|bzw|no|nr|vs|e\.g|i\.e|z\.\s?b|tel|str|max|min)\.$",
    re.IGNORECASE,
)
"""A word that ends no sentence."""


def own_words(text: str) -> list[str]:
    """The sentences that the person says, each on one line; none where most lines are code or a log."""
    lines = _FENCED.sub("\n", text).splitlines()
    prose = [line for line in lines if not _NOT_SAID.search(line)]
    if 2 * len(prose) < len([line for line in lines if line.strip()]) or _ACTS.search(text):
        return []
    own_sentences: list[str] = []
    for number, sentence in enumerate(_split(_without_handed_over("\n".join(prose)))):
        if _HANDED_BACK.search(sentence):
            own_sentences.clear()
            continue
        quotations = [quotation for quotation in _QUOTED.findall(sentence) if _SPEECH.search(quotation)]
        if (_HANDED_OVER.search(sentence) and not quotations) or (number and _GREETING.search(sentence)):
            break
        if not quotations:
            own_sentences.append(sentence)
    return own_sentences


def _without_handed_over(prose: str) -> str:
    """The text before one that is handed over, without rows of a table and long quotations."""
    if len(_ROWS.findall(prose)) > 1:
        prose = _ROWS.sub("", prose)
    prose = _LONG_QUOTATION.sub(
        lambda quotation: "“…”" if _ENDS_INSIDE.search(quotation[0]) else quotation[0], prose
    )
    opening = _OPENS.search(prose)
    return prose[: opening.start()] if opening else prose


def _split(text: str) -> list[str]:
    """The sentences of a text as people type it."""
    parts: list[str] = []
    for whole in sentences.split(text):
        for number, part in enumerate(_END.split(whole)):
            if number and _SHORTENED.search(parts[-1]):
                parts[-1] += f" {part}"
            else:
                parts.append(part)
    return parts
