"""The words of rules in plain English, as closed lists: what stands in none of them is not understood."""

import re
from typing import Final

from memory_server.domain.stated import PIECE, Does
from memory_server.language.lazy import closed_list, lazy

END: Final = r"(?![\w'’/*@~+-])"
ME: Final = r"(?:me|us|the\suser)"
CONSENT: Final = r"(?:ok|okay|permission|approval|consent|confirmation)"
FORBID_WORDS: Final = rf"""
    (?:(?:never|(?:do|must|should|shall|may|can|will)\s(?:not|never)|(?:do|must|should|ca|wo)n['’]?t|cannot)(?:\sever)?
    |(?:nobody|no\sone)\s(?:may|must|should|can)|(?:it(?:['’]s|\sis)\s)?(?:not\sallowed|forbidden)\sto|avoid|stop|no(?:\smore)?
    |nie|niemals|nicht){END}
"""
ASK_WORDS: Final = rf"""
    (?:always\s)?(?:(?:ask|check\swith|confirm\swith)(?:\s{ME})?(?:\sfor\s(?:my\s)?{CONSENT})?(?:\sfirst)?
    |get\smy\s{CONSENT}(?:\sfirst)?)\s(?:every\stime\s)?before(?:\syou)?{END}
    |frage?(?:\s(?:mich|erst|immer|vorher))+,?\sbevor(?:\sdu)?{END}
"""
FORBID: Final = closed_list(FORBID_WORDS)
ASK: Final = closed_list(ASK_WORDS)
MARKED: Final = closed_list(rf"\b(?:{FORBID_WORDS}|{ASK_WORDS}|without\s)")
ASKS_BEHIND: Final = closed_list(rf"""
    (?:without|before)\s(?:(?:first\s)?asking|you\sask|checking\swith|confirming\swith)(?:\s(?:{ME}|first|before(?:hand)?))*{END}
    |without\s(?:(?:my|any|explicit|prior)\s)*{CONSENT}{END}
    |(?:unless|until)\si\s(?:(?:explicitly|clearly)\s)?(?:say\s(?:so|yes)|tell\syou(?:\s(?:to|so))?|ask(?:\syou)?(?:\s(?:to|for\sit))?
        |approve|agree|confirm|allow)(?:\sit)?{END}
    |(?:(?:always|please)\s)*(?:ask|check\swith)(?:\s{ME})?(?:\s(?:first|before(?:hand)?))*(?=\s*(?:[.;,!]|$))
""")
OPENING: Final = closed_list(rf"""
    (?:(?:please|always|remember(?:\sto)?|ok|okay|hey|hi|so|and|also|fine|important|note|rule|reminder|claude|codex|assistant|agent
    |from\snow\son|going\sforward|in\s(?:the\s)?future|as\sa\srule|by\sthe\sway|btw|make\ssure(?:\s(?:to|that))?|be\ssure\sto
    |you\sare|you['’]re|you|we|i\swant\syou\sto|under\sno\scircumstances){END}[\s,:;.!-]*)+
""")
FILLER: Final = closed_list(rf"""
    (?:please|ever|again|directly|straight|manually|automatically|yourself|by\s(?:hand|yourself)|on\syour\sown|at\sall|here|either|ok
    |okay|thanks|thank\syou|under\sany\scircumstances|no\smatter\swhat|for\sany\sreason|in\sany\sway|anymore|any\smore|you
    |in\s(?:this|the|our|my)\s(?:repo|repository|project|code\s?base)|from\snow\son|in\s(?:the\s)?future|(?:try|attempt)\sto){END}
""")
JOINER: Final = closed_list(rf"""
    (?:[,;(]+|[:.!)—–]+(?=[\s,;.!)]|$))(?:\s(?:and/or|and|or|nor){END})?|-(?=\s)|(?:and/or|and|or|nor){END}
""")
REASON: Final = closed_list(rf"""
    (?:because|so\sthat|otherwise|(?:since|as|so)\s(?:it|we|they|i|this|that|the|our|my)){END}[^,;:.!()—–]*
""")
REMARK: Final = closed_list(rf"""
    (?:it|its|they|this|that|these|those|we|i|our|my|there)(?:['’]\w+)?{END}[^,;:.!()—–]*|(?:open|make|create|send)\san?\s[^,;:.!()—–]*
""")
ADVICE: Final = closed_list(r"(?:(?:always|please|instead,?)\s)*(?:use|prefer|try)\s[^,;:!]*[.!]*$")
NO_ADVICE: Final = closed_list(
    rf"\b(?:{FORBID_WORDS}|unless|except|besides|only|but|if|when|until|and|or|nor|also|too)\b"
)
NO_REASON: Final = closed_list(rf"""
    \b(?:{FORBID_WORDS}|unless|except|besides|only|but|if|when|while|until|before|after|other|also|too|same|likewise|may|can
    |allowed|fine|okay?|goes|appl(?:y|ies)|counts?|holds?\s(?:for|true)|includ\w*|means?|ask|rather|neither|and|or|nor)\b
    |{PIECE}|(?<!\S)[\w~@*-]*[./*]\w|\w/(?!\S)
""")

GIT_PUSH: Final = r"(?:(?:run|do|use|execute)\s)?git\spush"
TO: Final = r"(?=\s(?:to|on|onto|into)\s)"
PUSH: Final = "push"
FORCE: Final = "force"
VERBS: Final = {
    (Does.READS,): "read open print show view display cat",
    (Does.TOUCHES,): "edit touch modify alter change delete remove erase overwrite"
    " rewrite rename move write create update",
    (Does.READS, Does.TOUCHES): "access",
    (Does.RUNS,): "run use execute call invoke type start launch do",
}
PHRASES: Final = {
    (FORCE,): closed_list(rf"""
        (?:(?:do|use|make)\s(?:an?\s)?)?force[-\s]?push(?:es|ing)?{END}|push(?:es|ing)?\s(?:with\s)?(?:--force|-f){END}
        |{GIT_PUSH}\s(?:--force|-f|--force-with-lease){TO}
    """),
    (PUSH,): closed_list(rf"""
        push(?:es|ing)?(?:\s(?:any|anything|the|code|commits?|changes|it|up|directly|straight))*{END}
        |{GIT_PUSH}{TO}
    """),
    (Does.READS,): closed_list(rf"(?:look|peek)(?:s|ing)?\s(?:at|in|into|inside){END}"),
    (Does.TOUCHES,): closed_list(rf"mak(?:e|ing)\s(?:any\s)?(?:changes?|edits?)\s(?:to|in){END}"),
}
WORD: Final = lazy(rf"[a-z]+{END}", re.IGNORECASE)
BEFORE: Final = closed_list(rf"before(?:\syou)?{END}")
TURNED: Final = (
    (lazy(r"\bauf ([\w./-]+) (?:zu )?push(?:en|t|st)\b", re.IGNORECASE), r"push to \1"),
    (
        lazy(r"^before (?:you )?(.+?),? (?:always |please )*ask me(?: first)?([.!]*)$", re.IGNORECASE),
        r"ask me before \1\2",
    ),
)
"""Sentences of which the order is another one, and the order in which they are read."""


def _forms(verb: str) -> set[str]:
    stem = verb.removesuffix("e")
    return {verb, f"{verb}s", f"{verb}es", f"{stem}ing", f"{verb}{verb[-1]}ing", f"{verb}ing"}


FORMS: Final = {
    form: verbs for verbs, listed in VERBS.items() for verb in listed.split() for form in _forms(verb)
}
