"""Tells whether a statement is about the person, in their words or in those of an assistant, or says their wish."""

from memory_server.language.lazy import closed_list

_OF_THEMSELVES = closed_list(
    r"\b(?:i|i['’]m|i['’]ve|i['’]d|me|my|mine|ich|mich|mir|meine?[rmns]?)\b|我(?!们)"
)

_SHARED = closed_list(r"\b(?:we|we['’]re|our|us|wir|unser\w*)\b|我们|咱们|^(?:the|this)\s")

_OF_THE_USER = closed_list(r"""
    ^(?:the\s)?user(?:['’]s)?\s(?!(?:accounts?|agents?|data|ids?|input|interfaces?|roles?|sessions?|stor(?:y|ies)|tables?)\b)
    |^(?:der|die)\s(?:be)?nutzer(?:in)?\s
    |^(?:该|这位)?用户(?!的?(?:表|数据|界面|输入|接口|编?号|权限|会话|角色|故事))
""")
"""What begins a statement of an assistant about the person, and not about the users of a program."""

_WISH = closed_list(r"""
    \b(?:prefer|hate|dislike|love|rather|always|never|please|pls|from\snow\son|in\s(?:the\s)?future|going\sforward|don['’]t\s(?:use|add|write)|do\snot|stop|no\smore
        |want|i\slike)\b
    |喜欢|偏好|习惯|倾向|讨厌|以后|今后|从现在|始终|总是|一律|统一|不要|别再|一定
    |\b(?:bevorzuge|mag|hasse|immer|nie|niemals|bitte|ab\s(?:jetzt|sofort)|in\szukunft|nenn)\b
""")
"""Words of how people want things to be."""


def of_themselves(text: str) -> bool:
    """True if people tell this of themselves."""
    return bool(_OF_THEMSELVES.search(text)) and not _SHARED.search(text)


def is_about_person(text: str) -> bool:
    """True if a person or an assistant tells this of the person."""
    return of_themselves(text) or bool(_OF_THE_USER.search(text))


def is_wish(text: str) -> bool:
    """True if a text says how a person wants things to be."""
    return _WISH.search(text) is not None
