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
    \b(?:translate|proofread|rephrase|paraphrase|rewrite|summari[sz]e|correct|polish)\b[^.]*(?::|\b(?:this|these|following|below)\b)
    |\b(?:begins?|starts?|ends?)\swith\b
    |(?:翻译|润色|改写|校对|总结)[^。]*[:：]|第一句|写一[首篇个段][^。]*[:：]
""")
"""A sentence that hands over a text: what follows is that text, and nobody says it here."""

_END = re.compile(
    r"(?<=[\w)`/]{2}[.!?])(?<!\betc\.)(?<!\bvs\.)(?<!\bno\.)(?<!\bMr\.)(?<!\bDr\.)\s+(?=\S)"
    r"|(?<=[A-Za-z]\s\d[.!?])\s+(?=[A-Z])"
)
"""The end of a sentence as people type it: the next may begin with a small letter, and a number may end one."""

_QUOTED = re.compile("[\"“”「」『』«»]|(?<!\\w)['‘][^'’]+['’](?!\\w)")


def own_words(text: str) -> list[str]:
    """The sentences that the person says, each on one line; none where most lines are code or a log."""
    lines = _FENCED.sub("\n", text).splitlines()
    prose = [line for line in lines if not _NOT_SAID.search(line)]
    if 2 * len(prose) < len([line for line in lines if line.strip()]):
        return []
    own_sentences = []
    for sentence in (part for whole in sentences.split("\n".join(prose)) for part in _END.split(whole)):
        if _HANDED_OVER.search(sentence):
            break
        if not _QUOTED.search(sentence):
            own_sentences.append(sentence)
    return own_sentences
