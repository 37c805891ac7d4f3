"""The type of a memory whose writer names none, by words that leave no doubt."""

from memory_server.language.lazy import closed_list

_DECISION = closed_list(r"""
    \b(?:we|i|they|team|board|he|she)\b[^.!?]{0,20}\b(?:decided|agreed|chose|chosen|settled)\b|\bdecision\b
    |\b(?:entschieden|beschlossen|entscheidung)\b|\b(?:décidé|décision|choisi)\b|决定|商定|选定
""")
_PREFERENCE = closed_list(r"""
    \b(?:prefers?|hates?|loves?|dislikes?|favou?rite|rather\shave)\b|\blikes\b|\bi\slike\b|\bmag\b|\bbevorzugt\b|\bpréfère\b
    |喜欢|讨厌|偏好|爱吃
""")
_LEARNING = closed_list(r"\b(?:learned|learnt|lesson|turns\sout|gelernt)\b|学到|原来")


def type_of(text: str) -> str:
    """The type that the words of a statement show; an observation where they show none."""
    for type, pattern in (("decision", _DECISION), ("preference", _PREFERENCE), ("learning", _LEARNING)):
        if pattern.search(text):
            return type
    return "observation"
