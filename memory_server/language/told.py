"""Sentences in which a person tells something that should last: a fact, a preference, a rule, a decision, a cause.

`lasting` judges them; what a person asks to keep needs no judgement. `scripts/lab/quality/lasting.py` measures both.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from memory_server.language import lasting, sentences
from memory_server.language.goes_on import goes_on
from memory_server.language.lasting import Statement
from memory_server.language.lazy import closed_list
from memory_server.language.own_words import own_words
from memory_server.language.personal import is_wish, of_themselves
from memory_server.language.renewed import renewed
from memory_server.language.without_request import AT_HAND, without_request

LONGEST = 300
"""Characters of a sentence that can be kept."""

SHORTEST = 3

SHORTEST_SUBJECT = 8
"""Characters before a statement from which on they may name whom its pronoun means."""

SURE = 0.86
"""Probability from which on a sentence is kept."""

SURE_OF_RULE = 0.5
"""The same of a sentence that words a rule ("must never", "in this repo"): so 16 more of 3,852 statements of the
labelled prompts are kept, and nothing wrong."""

LIKELY = 0.4
"""Probability from which on it may be one: another session confirms it by saying it again."""

Judge = Callable[[Sequence[Statement]], Sequence[float]]
"""Gives the probability of each statement that it tells something lasting."""

_OPENING = closed_list(r"""
    ^(?:(?:(?:no,?\s)?wait(?:,?\sno)?|hm+|um+|(?:oh\s)?no|nope|nah|actually|wrong|correction|sorry|my\smistake|i\swas\swrong|not\sany\s?more|(?:hi|hello|hey)(?:\sthere)?|good\smorning|just\sso\syou\sknow|fyi|btw|by\sthe\sway|ps|ok|okay|well|oh
        |that'?s\s(?:wrong|not\sright)|not\squite|also|so|and|nein|falsch|stimmt\snicht|übrigens|hallo|ach)
        (?:[,.:!]+\s+|\s+(?:and|so)\s+)|(?:actually|btw|fyi)\s+|(?:nope|no|also|ok|okay)\s+(?=(?:i|i'm|my|we|our|the|she|he)\b))+
    |^(?:不对?|不是|错了|更正|纠正一下|其实|另外|对了|顺便说一下|你好|嗯|哦)[,，:：。]\s*|^其实(?=我)
""")
"""What opens a sentence and is no part of what it tells."""

_ASIDE = closed_list(r",?\s(?:btw|fyi|by\sthe\sway)(?=[,;.!]|$)")
"""The same in its middle or at its end."""

_ASKED_TO_KEEP = closed_list(r"""
    ^(?:and\s|so\s|but\s|then\s)?(?:please\s|pls\s|always\s|let['’]?s\s|(?:can|could)\s(?:you|u)\s(?:please\s)?)?
        (?:(?:remember|note|keep\sin\smind|bear\sin\smind|(?:don['’]?t|do\snot|never)\sforge[t]|make\sa\snote|take\snote|memori[sz]e|(?:keep|bear)\s(?:this|that)\sin\smind)
            (?:(?:\s(?:that|this|it))?\sfor\s(?:later|the\sfuture|(?:the\s)?next\s\w+))?(?:,?\s(?:that|please)\b[,:]?\s|(?:\s(?:this|the\sfollowing))?\s?(?::|--?|[—–])\s|,?\s(?=(?:always|never|do\snot|don['’]t)\s)|\sto\s(?=(?:always|never|not)\s)|,?\s(?=(?:i|i['’]m|i['’]ve|my|we|we['’]re|our|(?:it|he|she|they|there)(?:['’](?:s|re)|\s(?:is|are|has|have)))\b(?!\s(?:were|was|talked|had|said|told|asked|mentioned|wrote|showed|sent)\b)))
        |for\s(?:the\s(?:future|record)|future\sreference|your\smemory)\s?[,:]\s)
    |^(?:请|你要|你得|帮我|麻烦)?(?:记住|记一下|记下来?|请记得|牢记|别忘了|不要忘了|记得(?=(?:以后|今后|每次|一律|永远|始终|总是|绝不|从不|千万)(?!.*提醒)))(?:了|啊)?\s?[,，:：]?\s*
    |^(?:(?:bitte\s)?merk(?:e|t)?\s(?:dir|euch)(?:\sbitte)?|bitte\smerken|(?:bitte\s)?(?:denk|vergiss)(?:e)?\s(?:daran|nicht)|notier(?:e)?\s(?:dir)?)\s?(?:[,:]\s?(?:dass\s)?|dass\s)
""")
"""What asks to keep what follows."""

_ASKED_AFTERWARDS = closed_list(r"""
    (?:[,;.]\s?|\s(?:so|and)\s)(?:please\s|pls\s)?(?:remember|note|record|keep|memori[sz]e)\s(?:that|it|this)(?:\s(?:down|please|in\smind|for\s\S+(?:\s\w+){0,3}))?[.!]?$
    |[,，。;；\s](?:请|帮我)?(?:记下来|记一下|记住了?|牢记|记好)[。.!！]?$|[,.;]?\s(?:bitte\s)?(?:merk|notier)(?:e)?\s(?:dir\s)?das(?:\sbitte)?[.!]?$
""")
"""The same behind it."""

_FROM_NOW_ON = closed_list(r"""
    \b(?:from\snow\son|from\shere\son|going\sforward|in\s(?:the\s)?future|as\sof\s(?:now|today)|from\stoday\son|henceforth)\b
    |以后[都就请别不统一]|今后|从现在开始|从现在起|从今(?:天|以后|往后)
    |\b(?:ab\s(?:jetzt|sofort|heute)|von\sjetzt\san|von\snun\san|in\szukunft|künftig)\b
    |^(?:please\s|just\s|you\scan\s)*(?:call|address)\sme\s(?:as\s)?(?:(?:mrs?|ms|dr)\.?\s)?(?-i:[A-Z])\w+(?=[.,!]*(?:\s(?:please|everyone)\b|$))
""")
"""What makes a sentence a rule for all that follows: a name is one too."""

_SUPPOSES = closed_list(r"""
    ^(?:(?:if|wenn|falls|oh|sure|klar)\b|如果|要是|假如)[^,，]*(?:from\snow\son|in\sfuture|in\szukunft|以后|今后)|哈哈|\b(?:ha){2,}\b|\b(?:lol|jk)\b
""")
"""What supposes a future, or laughs: it asks for nothing."""

_ONE_WORD = closed_list(r"^[A-Za-z]+[.!?]?$")
"""What is left of "remember that movie"."""

_RULE = closed_list(r"""
    \b(?:must|should|shall|may)\s(?:always|never|not)\b|^(?:always(?!\s(?:has|have|had|was|were)\b)|never(?!\s(?:has|have|had|was|were|mind)\b)|ask\s(?:me|us)\s(?:first|before))\s
    |\b(?:in|across|throughout)\s(?:this|our)\s(?:repo\w*|project|codebase|company|team|house|shop|class|\w*book)\b|必须|绝对不|一律|不得(?!不)|绝不|先问我
""")
"""What words a rule: it lasts where a fact of the same probability may not."""

_NO_SUBJECT = closed_list(r"^(?:(?:he|she|they|his|her|their)\b|[他她](?!们俩))")
"""A pronoun that speaks of a person named before."""

_ASKS = closed_list(r"""
    [?？]\s*$|[吗呢]\s*[。.!！]?$|要不要|是不是|有没有|能不能|会不会|(?:什么|怎么[办做写样说回读]?|多少|哪[个里儿些]\S?)[。.]?$|^(?:什么|怎么|为什么|多少|哪)
    |^(?:who|whose|what|which|where|how|why|when\s(?:should|do|does|did|is|are|was|will|can))(?:['’]s)?\b(?!ever)
    |^(?:is|are|was|were|am|do|does|did|can|could|should|would|will|shall|have|has)\s(?:the|an?|it|this|that|there|i|we|you|u|my|our|any|he|she|they)\b
    |^(?:wie|was|wo|warum|wieso|wer|welche\w*|kann|kannst|soll|sollen|ist|sind|hat|hast|erinnerst|weißt)\b|^你?(?:还)?记得
    |,\s(?:link|connect|put|purge|delete|erase)\s(?:them|those|these|it)\b|^(?:wait|never\smind|hm+)\b
    |\bremin[d]\sme\b|^(?:please\s)?(?:ping|nag|forge[t]|delete|erase|wipe|purge|restore|link|connect|undo)\b
    |^(?:when|whenever|if|every|next)\b.*\b(?:tell|ask|remin[d]|warn|nag)\s(?:me|us)\b
    |提醒我|叫我\S*[倒打交量给]|就(?:说|告诉我)|^(?:忘掉|删除|删掉|彻底)|\berinnere?\s(?:mich|uns)\b|^(?:vergiss\swas|lösch\w*|verknüpfe)\b
""")
"""What asks for an answer, a reminder, or that something is forgotten."""

_DOUBTFUL = closed_list(r"""
    ^(?:(?:let['’]?s\s)?say\s(?:we|i|you|they|there|it|the)|suppose|supposing|imagine|pretend|assum\w+|let['’]?s\s(?:say|assume|pretend)|say\smy|what\sif|maybe|perhaps|假设|假如|假装|想象|比如|例如|如果我们|也许|可能)
    |\b(?<!re\s)(?:not\ssure|no\sidea|i\sforgot|i\s(?:think|guess|wonder|hope|wish)|kidding|jk|lol|lmao|rofl|(?:ha){2,}|apparently)\b|哈哈|[😀-🙏🤣]|[;:]-?\)|/s$
    |^(?!(?:we|i)\s)(?:(?:my|the|our|an?)\s)?\w+\s(?:says?|said|claims?|claimed|thinks|wrote)\b|,\ssays\s
    |^(?!(?:we|i)\s)(?:\S+\s){1,4}(?:(?:claim|contend|insist|reckon|swear|allege)s|told\s(?:me|us))\b|\baccording\sto\b|^\S{0,3}[文书他她人妈客友事居]说|^(?:客户|房东)说|听说|据说|声称|宣称|^[^，。我别不]{1,8}跟我说|我(?:觉得|猜|估计)|不确定
    |\bin\s(?:the|this|my)\s(?:story|scene|example|exercise|dream|movie|film|picture)\b|故事里|例子里
    |^(?:we|i|you)\s(?:could|might)\s(?!not)|^if\b.*\b(?:would|were\sto|(?:we|i|they|it|he|she|you)['’]d)\b|\bhaven['’]t\sdecided\b
""")
"""What supposes, guesses, jokes or reports."""

_OF_THE_DAY = closed_list(r"""
    ^(?:(?:in|on)\s)?(?:my|our)\s(?:other|old|last|previous)\s(?:project|repo\w*|app|site|code)\b|^(?:在)?(?:我|我们)的?(?:另一个|别的|上一?个|之前的)(?:项目|仓库)
    |\b(?:used\sto|previously|back\sthen|until\slast\s\w+)\b|^(?:以前|之前|原来)
    |(?<!of\s)(?<!from\s)\b(?:today|tonight|tomorrow|yesterday|right\snow|at\sthe\smoment|atm|this\stime|just\sthis\sonce|next\sweek(?:end)?|heute|gerade|morgen|nächste\swoche)\b
    |^(?:until|till|bis)\s(?:then|next|the\send|\w+day|\w+tag)\b|^(?:周|星期|礼拜|月底|下)\S{0,2}(?:之前|前)
    |(?:n['’]t|\bnot)\b.*\byet\b|\bnoch\snicht\b|还没|尚未
    |^(?!.*(?:because|since|caus|due\s|fix|solv|cure|help|reason)).*\b(?:crash(?:es|ed)|throws|fail(?:s|ed|ing)?|broken|stuck)\b
    |^(?!.*(?:因为|原因|引起|导致|就好|就不|以后)).*(?:崩溃?了|报错|挂了|卡住|卡死)
    |今天|今晚|明天|昨天|昨晚|刚才|目前|当前|下周|下个?星期|这次|这一次
""")
"""What fails for no reason, is of the day, or of another project."""

_MENDED = closed_list(r"""
    (?:因为|由于|原因|导致|是.*(?:问题|引起)|发现|原来).*(?:就|才|之后|后|解决|恢复)[^，。]{0,6}(?:[好行稳通]|没|不|正常|解决|恢复|了|没问题)
    |\b(?:because|since|cause[ds]?|due\sto|reason|came\sfrom)\b.*\b(?:fix(?:ed|es)|solve[ds]|cure[ds]|did\sthe\strick|made\sit)\b
""")
"""What was wrong, why, and what mended it: it lasts, also where it was yesterday."""

_AT_HAND = closed_list(rf"""
    ^(?!.*\b(?:always|never|every|whenever|any|all)\b)(?:(?:please|pls|also|then|now)\s)*
        (?:{AT_HAND}|count|skip|leave|stay)\s
    |^(?:(?:i|we)\s)?(?:need|want)\s(?:an?|some)\s(?:\w+\s)?(?:reply|answer|e?-?mail|letter|text|message|note|draft|list|plan|summary|script|table|report)\b
    |^i\s(?:don['’]?t\s)?mean[t]?\b|^我(?:说|问)的是|^不是问|^(?:not|nicht)\s
    |\bfor\s(?:this|the)\s(?:exercise|one|job|test|demo|invoice|table|version|draft|ticket)\b|^(?:先|本地先)
    |，我先|^(?:帮我|你来)(?!记)|^给我[一二三四五六七八九十两几]|^(?:写|排|出|画|做|列)[一二三四五六七八九十两几个]
    |^you(?:\s(?:will|prefer|have|are|work|must(?!\s(?:always|never|not)\b)|bring|never|live)|['’](?:re|ve|ll))\b|^(?:npc|oc\S*)\b|\bmy\s(?:hero|heroine|character)\b|\bmeine?\sheld(?:in)?\b|^这场戏
    |^(?:oh\s)?(?:great|brilliant|wonderful|fantastic|yeah\sno|yeah\ssure|sure\sand|klar\schef)\b|^对对对|^我(?:可是|宣布)|呵呵|^哈
    |^(?!(?:\S+\s){{0,6}}?(?:we|i|i['’]ve|decision|correction|note|rule|remember|btw|ps|fyi|so|others|wir|ich)\b)(?:\S+\s){{0,5}}\S*[:]\s.*\b(?:i|we|my|our|ich|wir|meine?)\b
    |^(?!更正|定了|记|就这么|其实)[^我:：]{{1,12}}[:：].*(?:我|俺|老夫)|[ぁ-んァ-ン]|[★☆【】]
""")
"""What is done or said of the thing at hand, in a role, or by somebody else."""

_ORDERS = closed_list(r"""
    ^(?:no|not|don['’]?t|do\snot|keep|use|leave|please|make|put|write|call|nicht|kein\w*|lass|nimm)\b|^(?:to|into|for|with|as|like)(?:\s[^\d\s]+){1,2}$|^(?:不要|不用|别|用|先|改|写)
""")
"""What after "no," speaks of the thing at hand: an order, not a statement."""

_DENIES = closed_list(r"^(?:no|nope|nah|actually|nein|not\squite)[,.:!]\s|^(?:不对?|不是|错了)\s?[,，。]")

CORRECTS = closed_list(r"""
    ^(?:wait|(?:oh\s)?no|nope|nah|wrong|actually|correction|sorry|my\smistake|i\swas\swrong|not\sany\s?more|that['’]?s\s(?:wrong|not\sright|outdated)|not\squite|nein
        |falsch|stimmt\snicht)[,.:!]?\s
    |^(?:不对?|不是|错了|更正|其实)\s?[,，。:：]
""")


@dataclass(frozen=True, slots=True)
class Told:
    """A statement in the person's words. `sure`: it is kept; else another session must say it again.

    `wish`: how they want things to be. `personal`: it is about themselves.
    """

    text: str
    sure: bool
    wish: bool
    personal: bool


_POINTS_BACK = closed_list(r"""
    ^(?:(?:it|they|he|she)\b|(?:this|that|these|those)(?:['’]s|\s(?:is|are|was|has|have|one))\b)|\bthere[.!]?$
    |^(?:(?:we|i|you)\s(?:use|have|need|take)\s|(?:at|on|in|by|until|within)\s)?[\d.,:]+%?(?:\s\w+)?[.!]?$
    |^(?:它|他|她|那[里边儿]?|这[里边儿]?|(?:我们)?(?:现在|以后|今后|应该)*[是用改换][成为用]?(?=\s?\d))|^(?:现在|以后|今后)?(?:是|改成|改为|换成)
""")
"""What says nothing without the sentence before it: a pronoun, or no more than a number."""

_BEGINS = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])\s*")


def told(text: str, judge: Judge = lasting.by_words) -> list[Told]:
    """The sentences of a message that tell something lasting, without opening words and the request at the end."""
    statements = list(dict.fromkeys(spoken(text)))
    if statements and CORRECTS.search(statements[0].text) and _POINTS_BACK.search(opened(statements[0].text)):
        del statements[0]  # the model is told what it corrects, and changes that
    judged = [statement for statement in statements if not _is_asked(opened(statement.text))]
    probabilities = dict(zip(judged, judge(judged), strict=True)) if judged else {}
    return [
        _told(statement.text, probability >= _bound(statement.text) and _says_of_whom(statement))
        for statement in statements
        if (probability := probabilities.get(statement, 1.0)) >= LIKELY
    ]


def _bound(statement: str) -> float:
    return SURE_OF_RULE if _RULE.search(opened(statement)) else SURE


def _says_of_whom(statement: Statement) -> bool:
    """True unless a statement begins with a pronoun and nothing before it can say of whom it speaks."""
    if _NO_SUBJECT.search(opened(statement.text)) and len(statement.before) < SHORTEST_SUBJECT:
        return False
    return not _points_back(statement.text)


def spoken(text: str) -> list[Statement]:
    """The statements of a message that are judged: with opening words only where these tell a correction."""
    parts = _joined(list(renewed(own_words(text))))
    texts = [
        statement if CORRECTS.search(statement) else opened(statement)
        for sentence in parts
        for statement in statements_of(sentence)
    ]
    message = sentences.line(text) if texts else ""
    return [Statement(statement, *_around(statement, message)) for statement in texts]


def _around(statement: str, message: str) -> tuple[str, str]:
    """Return what stands before and behind a statement in its message."""
    before, part, behind = message.partition(statement)
    return (before, behind) if part else ("", message)


def _joined(own_sentences: Sequence[str]) -> list[str]:
    """The sentences, each with the one that follows where that belongs to it."""
    joined: list[str] = []
    for sentence in own_sentences:
        is_part = joined and (goes_on(sentence, joined[-1]) or _points_back(sentence))
        if is_part and len(joined[-1]) + len(sentence) < LONGEST:
            joined[-1] += sentence if joined[-1].endswith(("。", "！")) else f" {sentence}"
        else:
            joined.append(sentence)
    return joined


def _points_back(sentence: str) -> bool:
    """True if the person asks to keep what says nothing without the sentence before it."""
    wish = opened(sentence)
    content = _ASKED_TO_KEEP.sub("", wish, count=1)
    return content != wish and _POINTS_BACK.search(content) is not None


def statements_of(sentence: str, lasts: bool = True) -> Iterator[str]:
    """Yield the sentence without the request at its end; nothing where it asks or guesses, or is of the day though it
    should last."""
    statement = without_request(sentence)
    text = opened(statement)
    if not SHORTEST <= len(text) <= LONGEST or (text.isascii() and " " not in text):
        return
    if not is_refused(statement, lasts) or _holds(text, _ASKED_TO_KEEP, _ASKED_AFTERWARDS):
        yield statement


def is_refused(statement: str, lasts: bool = True) -> bool:
    """True if a statement asks, guesses, orders something after a denial, or is of the day though it should last."""
    text = opened(statement)
    if lasts and _OF_THE_DAY.search(text) and not _MENDED.search(text):
        return True
    is_order = bool(_DENIES.search(statement) and _ORDERS.search(text))
    return is_order or any(pattern.search(text) for pattern in (_ASKS, _DOUBTFUL, _AT_HAND))


def opened(statement: str) -> str:
    """The statement without its opening words."""
    return _OPENING.sub("", statement, count=1).strip()


def content(statement: str) -> str:
    """The statement without words that only open it and what asks to keep it."""
    plain = _ASIDE.sub("", opened(statement))
    return _ASKED_AFTERWARDS.sub("", _ASKED_TO_KEEP.sub("", plain, count=1)).strip()


def _is_asked(statement: str) -> bool:
    """True if the person asks to keep it, or makes it a rule from now on."""
    if _SUPPOSES.search(statement) or _ONE_WORD.search(_ASKED_TO_KEEP.sub("", statement, count=1)):
        return False
    return _holds(statement, _ASKED_TO_KEEP, _ASKED_AFTERWARDS, _FROM_NOW_ON)


def _holds(statement: str, *patterns: re.Pattern[str]) -> bool:
    """True if one of the sentences of a statement has one of the patterns."""
    return any(
        pattern.search(part) for part in (statement, *_BEGINS.split(statement)) for pattern in patterns
    )


def _told(statement: str, sure: bool) -> Told:
    text = content(statement)
    if text != opened(statement) and text.endswith(("?", "？")):
        # "can you remember that …?" tells what follows
        text = f"{text[:-1]}{'。' if text.endswith('？') else '.'}"
    return Told(text, sure, is_wish(text), of_themselves(text))
