"""Statements that recall what was said and renew it: "Remember I told you the vet is Hale? It's Moss now."."""

from collections.abc import Iterator, Sequence

from memory_server.language.lazy import closed_list

_RECALLED = closed_list(r"""
    ^(?:(?:do\s)?you\s)?remember(?:,|\sthat|\swhen|\show)?\s(?:i|we)\s(?:told|said|mentioned|wrote)(?:\s(?:to\s)?you)?(?:\sthat)?\s
        (?P<subject>(?:[\w'’.-]+\s){1,8}?)(?:is|are|was|were|runs|lives|sits|stands)\s(?:called\s|named\s)?
    |^(?:还|你还)?记得(?:我|我们)(?:跟你|和你)?(?:说过?|讲过?|告诉过?你?|提过?)\s?(?P<subject_zh>[^，。？?是在用]{1,12}?)(?:是|在|用|叫)
""")
"""What repeats a statement that no longer holds, with its subject."""

_RENEWS = closed_list(r"""
    ^(?:well,?\s|but\s|actually,?\s|now\s)*(?:(?:it|he|she|that)(?P<singular>['’]s\s|\sis\s)|(?:they|those)(?P<plural>['’]re\s|\sare\s))(?=\S)
    |^(?=(?:现在|如今|已经|现已)\S|(?:改|换|搬)[成为到用在])
""")
"""What begins the statement that holds instead: a pronoun, or in Chinese no subject."""


def renewed(sentences: Sequence[str]) -> Iterator[str]:
    """Yield the sentences; of a recalled statement and its renewal one, which has the subject of the first."""
    subject = ""
    for sentence in sentences:
        renewal = _RENEWS.search(sentence) if subject else None
        if renewal:
            yield _joined(subject, sentence, renewal["singular"], renewal["plural"], renewal.end())
        recalled = None if renewal else _RECALLED.search(sentence)
        subject = (recalled["subject"] or recalled["subject_zh"] or "").strip() if recalled else ""
        if not renewal and not subject:
            yield sentence


def stale(sentence: str) -> str:
    """Return what a recalled statement says of its subject, which no longer holds; '' of any other sentence."""
    recalled = _RECALLED.search(sentence)
    return sentence[recalled.end() :].rstrip("?？.。!！吧吗") if recalled else ""


def _joined(subject: str, sentence: str, singular: str | None, plural: str | None, end: int) -> str:
    if singular or plural:
        return f"Remember that {subject} {'are' if plural else 'is'} {sentence[end:]}"
    return f"记住：{subject}{sentence}"
