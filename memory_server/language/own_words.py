"""The sentences in which the person speaks: without code, logs, quotations and what is to be translated."""

import re

from memory_server.language import sentences
from memory_server.language.lazy import closed_list, lazy

_FENCED = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)", re.DOTALL)

_NOT_SAID = lazy(
    r"""
    ^\s*[>|$]                                                # a quotation, a table, a command
    | ^(?:\ {4}|\t)                                          # indented code
    | [{};]\s*(?://.*)?$ | => | == | \w\(\)? | ^\s*[\w.]+\s=\s | ^\s*(?://|\#\!|/\*|\*/|<[a-z/!])
    | ^\s*(?:def|class|import|from\s\w+\simport|const|let\s\w+\s=|var|func|fn|public|private|return|SELECT|INSERT)\b
    | ^\s*(?:Traceback|File\s"|at\s\S+\(|npm\sERR|\w*(?:Error|Exception|Warning)\b:?)
    | ^\s*\[?\d{4}-\d\d-\d\d[T\s]\d | \b(?:INFO|WARN|WARNING|ERROR|DEBUG|FATAL)\b | ^\s*[\w.-]+(?:\[\d+\])?:\s\[
    | ^\s*(?:报错|错误信息|日志)[:：]
""",
    re.VERBOSE,
)

_HANDED_OVER = closed_list(r"""
    \b(?:translate|proofread|rephrase|paraphrase|rewrite|summari[sz]e|correct|polish|übersetze|korrigiere|kürze)\b[^.]*(?::|\b(?:this|these|following|below)\b)
    |^(?:proofread|summari[sz]e|paraphrase)\b|\b(?:begins?|starts?|ends?)\swith\s?[:\"“]
    |^(?:write|tell|continue)\s.*\b(?:story|poem|song|scene)\b|^(?:you\sare|act\sas)\s(?:an?|my|the)\s|^here(?:'s|\sis)\s(?:the|an?|my)\s(?:letter|mail|email|text|draft)\b
    |^(?:dear|liebe[rs]?|sehr\sgeehrte\w*|hi\s(?:all|team|everyone)|各位|亲爱的|尊敬的)\s?
    |^(?:from|to|subject|wikipedia|terms|review|job\sad|horoscope|lyrics|survey|error|warning|邮件)\s?[:：]
    |(?:翻译|润色|改写|校对|总结)[^。]*[:：]|^(?:翻译|润色|校对)|(?:听我念|批改?一下|评一下)\s?[:：]|第一句|写一[首篇个段][^。]*[:：]|^你?(?:请你)?(?:来)?扮演
""")
"""A sentence that hands over a text: what follows is that text, and nobody says it here."""

_HANDED_BACK = closed_list(r"""
    ^you\s(?:will|prefer|bring)\s|【[^】]{2,8}】|^(?:★|☆)|
    \b(?:proofread|polish|translate|korrigiere\w*)\s(?:it|that|this|the\s\w+|bitte)\s?[.!]?$|^(?:please\s)?(?:fix|check)\sthe\s(?:grammar|typos|spelling)
    |^bitte\skorrigieren|帮我(?:润色|翻译|校对)(?:一下)?[。.]?$
""")
"""A sentence that says so at the end of a text."""

_END = re.compile(
    r"(?<=[\w)`/]{2}[.!?])(?<!\betc\.)(?<!\bvs\.)(?<!\bno\.)(?<!\bMr\.)(?<!\bDr\.)\s+(?=\S)"
    r"|(?<=[A-Za-z]\s\d[.!?])\s+(?=[A-Z])(?!Jan|Feb|Mär|Apr|Mai|Jun|Jul|Aug|Sep|Okt|Nov|Dez)|(?<=\d[.!?])\s+(?=[a-z])"
)
"""The end of a sentence as people type it: the next may begin with a small letter, and a number may end one."""

_QUOTED = re.compile(r"[\"“”「」『』«»][^\"“”「」『』«»]*[\"“”「」『』«»]?|(?<!\w)['‘][^'’]+['’](?!\w)")

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
    if 2 * len(prose) < len([line for line in lines if line.strip()]):
        return []
    own_sentences: list[str] = []
    for sentence in _split("\n".join(prose)):
        if _HANDED_OVER.search(sentence):
            break
        if _HANDED_BACK.search(sentence):
            return []
        if not any(_SPEECH.search(quotation) for quotation in _QUOTED.findall(sentence)):
            own_sentences.append(sentence)
    return own_sentences


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
