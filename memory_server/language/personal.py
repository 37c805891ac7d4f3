"""Tells whether a statement is about the person, in their words or in those of an assistant."""

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


def of_themselves(text: str) -> bool:
    """True if people tell this of themselves."""
    return bool(_OF_THEMSELVES.search(text)) and not _SHARED.search(text)


def is_about_person(text: str) -> bool:
    """True if a person or an assistant tells this of the person."""
    return of_themselves(text) or bool(_OF_THE_USER.search(text))
