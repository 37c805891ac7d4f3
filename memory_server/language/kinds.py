"""Kinds of things that a question asks for, as a phone number or a birthday, and how each looks in a text.

Closed lists in English, German and Chinese, of what people ask about others most. A kind that is missing here is never
missed in an answer; a form that is missing lets an answer that is stored go unsaid, so the forms are many.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from memory_server.language.lazy import closed_list

_NUMBER = r"(?<![^\W\d_])\d|[一二两三四五六七八九十百千万半]"
"""A number that does not belong to a name such as ed25519."""

_OF_ANOTHER = "".join(rf"(?<!\b{word}\s)" for word in "my our mein meine meiner unsere unserer unser".split())
"""Before somebody's kin or pet: who asks for their own may have stored the name only."""


@dataclass(frozen=True, slots=True)
class Kind:
    """`asked` finds that a question asks for it, `shown` that a text has it."""

    asked: re.Pattern[str]
    shown: re.Pattern[str]


def _kind(asked: str, shown: str) -> Kind:
    return Kind(closed_list(asked), closed_list(shown))


def _kin(english_german: str, chinese: str, shown: str) -> Kind:
    """A relative or a pet, which must be somebody's: "Anna's daughter", 段阿姨的女儿."""
    return _kind(rf"{_OF_ANOTHER}\b(?:{english_german})\b|(?<!我)(?<!我们)的(?:{chinese})", shown)


KINDS = (
    _kind(
        r"\b(?:what|which|need|find|give|tell)\b[^?]{0,30}\b(?:(?:tele)?phone|mobile|cell(?:phone)?)\snumber"
        r"|(?:telefon|handy|ruf)nummer"
        r"|电话号码|手机号|电话(?:是|多少)|微信号",
        r"(?<![^\W\d_])\d(?:[\s/()-]*\d){4,}",
    ),
    _kind(r"\be-?mail\saddress|mailadresse|邮箱", r"\S@\S|邮箱"),
    _kind(
        r"\b(?:home|postal)\saddress\b|['’]s\saddress\b|\badresse\svon\b|\banschrift\b|住址|的地址",
        r"address|street|\bst\.|road|avenue|adresse|anschrift|stra(?:ß|ss)e|\bstr\.|\w(?:weg|platz|gasse)\b|\d{5}"
        r"|\blives?\b|wohn|[路街巷区栋楼号村住]|地址",
    ),
    _kind(
        r"\bpass(?:word|code|phrase)\b|\bpasswort\b|\bkennwort\b|密码",
        r"pass(?:word|code|phrase|wort)|kennwort|\bpin\b|\bcode\b|密码|口令",
    ),
    _kind(
        r"\bbirthday\b|\bdate\sof\sbirth\b|\bborn\b|geburtstag|geburtsdatum|geboren|生日|出生",
        r"birth|\bborn\b|\bturn(?:s|ed|ing)?\s\d|geburt|geboren|生日|出生|岁",
    ),
    _kind(
        r"\bhow\sold\s(?:is|are|was)\b|\bwie\salt\s(?:ist|sind|war)\b|多大年纪|几岁|年龄",
        rf"{_NUMBER}|\byears?\b|\bborn\b|jahr|geboren|岁",
    ),
    _kind(
        r"\bhow\smuch\s(?:does|do|did|is|are|was|were)\b|\bthe\sprice\sof\b|kostet|gekostet|\bteuer\b|多少钱",
        _NUMBER,
    ),
    _kind(
        r"\bsalary\b|\bwages?\b|\bdoes\s[\w\s]{1,20}\searn\b|\bgehalt\b|\blohn\b|\bverdient\b|工资|月薪|薪水",
        r"salary|wage|\bpa(?:y|id|ys)\b|earn|\b(?:an|per)\shour|gehalt|lohn|verdien|stunde|工资|薪|[月年]入|个月",
    ),
    _kind(
        r"\b(?:what|which)\scolou?r\b|\bwelche\sfarbe|颜色",
        r"colou?r|farbe|\#[0-9a-f]{3,6}|\b(?:red|blue|green|white|black|gr[ae]y|yellow|orange|brown|pink|purple|silver|beige)\b"
        r"|\b(?:rot|blau|grün|wei(?:ß|ss)|schwarz|grau|gelb|braun|rosa|lila|silbern)|[色红蓝绿白黑灰黄橙棕紫粉]",
    ),
    _kind(
        r"\b(?:what|which)\s(?:school|university|college)\b|\bwelche\s(?:hoch)?schule\b|在哪[里儿]?上学|哪[所个]?(?:学校|大学)",
        r"school|universit|college|academy|\bstud(?:y|ie)|graduat|degree|schul|studi|abschluss|学|毕业",
    ),
    _kind(
        r"\b(?:what|which)\s(?:hospital|clinic)\b|\bwelche[sm]?\s(?:krankenhaus|klinik)\b|哪[家个]医院",
        r"hospital|clinic|surgery|infirmary|\bward\b|\boperat|krankenhaus|klinik|院",
    ),
    _kind(
        r"\b(?:what|which)\s(?:car|make\sof\scar)\b|\bwelches\sauto\b|什么车|哪[种辆]车",
        r"\bcar\b|\bdriv|\bvan\b|vehicle|\bauto\b|wagen|\bf[äu]hrt?\b|toyota|ford|\bvw\b|volkswagen|bmw|audi|mercedes|opel"
        r"|skoda|fiat|renault|peugeot|honda|nissan|tesla|volvo|\bkia\b|hyundai|[车开]",
    ),
    _kind(
        r"\b(?:what|which)\sgrade\b|\bwelche\snote\b|成绩|考了多少",
        r"grade|mark|score|\bnoten?\b|punkte|%|prozent|bestanden|passed|failed|成绩|分|通过",
    ),
    _kind(
        r"['’]s\sdentist\b|\bdentist\sof\b|zahn(?:arzt|ärztin)\svon\b|的牙医",
        r"dentist|dental|tooth|teeth|zahn|牙",
    ),
    _kind(r"\bblood\s(?:type|group)\b|blutgruppe|血型", r"blood|blut|血型"),
    _kind(
        r"licen[cs]e\splate|number\splate|\bkennzeichen\b|车牌",
        r"plate|kennzeichen|车牌|[A-ZÄÖÜ]{1,3}-[A-Z]{1,2}\s?\d",
    ),
    _kind(
        r"\bhow\s(?:tall|heavy)\b|\bwie\s(?:schwer|gro(?:ß|ss))\s(?:ist|sind)\b|多高|身高|多重|体重", _NUMBER
    ),
    _kin(
        r"wife|husband|spouse|ehefrau|ehemann|frau\svon|mann\svon",
        "妻子|老婆|太太|丈夫|老公|媳妇",
        r"wife|husband|spouse|partner|marr(?:y|ie)|wedding|ehefrau|ehemann|heirat|hochzeit"
        r"|\b(?:seine|meine|ihre)r?\sfrau|\b(?:ihr|mein)\smann|妻|老婆|太太|丈夫|老公|媳妇|[结订]婚|爱人|对象",
    ),
    _kin(
        "daughters?|tochter|töchter",
        "女儿|闺女",
        "daughter|child|kid|girl|tochter|töchter|kind|mädchen|女儿|闺女|孩|娃|丫头",
    ),
    _kin("sons?|sohn|söhne", "儿子", r"\bsons?\b|child|kid|\bboys?\b|sohn|söhne|kind|junge|儿子|孩|娃"),
    _kin("brothers?|bruder|brüder", "哥哥|弟弟", "brother|sibling|twin|bruder|brüder|geschwister|哥|弟|兄"),
    _kin("sisters?|schwester", "姐姐|妹妹", "sister|sibling|twin|schwester|geschwister|姐|妹"),
    _kin(
        "dogs?|puppy|hund(?:e|es)?",
        "狗",
        r"\bdogs?\b|pupp|hound|terrier|retriever|labrador|poodle|\bhund(?:e|es|en)?\b|welpe|dackel|pudel|狗|犬",
    ),
    _kin("cats?|kitten|katzen?|kater", "猫", r"\bcats?\b|kitten|\bkatzen?\b|\bkater\b|猫"),
)

_NAME = re.compile(r"(?<!^)(?<![.?!:]\s)(?<![\"“'‘])\b[A-Z][a-z]+[A-Za-z]*\b")
_GERMAN_NAME = re.compile(r"\b(?:Herrn?|Frau|Familie|Firma)\s+(?:Dr\.\s+)?([A-ZÄÖÜ][\w-]+)")
_GERMAN = re.compile(
    r"^\W*(?:(?:\w+\s)?we(?:r|m|n|lche[mnrs]?)|(?:\w+\s)?was|wann|wie(?:viel)?|wo(?:f[uü]r|her|hin|mit)?|warum)\b",
    re.I,
)
_NO_NAME = closed_list(r"""
    ^(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|mon|tue|wed|thu|fri|sat|sun)[a-z]*$
    |^(?:mum|mom|mama|dad|papa|grand(?:ma|pa)|uncle|aunt|internet|christmas|easter|wi|user|mr|mrs|ms|dr)$
    |^(?:english|german|french|chinese|spanish|italian|dutch|portuguese|japanese|russian|american|british|european)s?$
""")
"""Words with a capital that name no single person or thing."""


def asked(question: str) -> Iterator[tuple[str, Kind]]:
    """Yield the words of a question that ask for a kind, and the kind."""
    for kind in KINDS:
        if match := kind.asked.search(question):
            yield match[0], kind


def names(question: str) -> list[str]:
    """The proper names of a question in English or German that are plain: Airbnb, Frau Nolte.

    In German, where each noun has a capital, it is the word after Herr or Frau. A heading has too many capitals.
    """
    if _GERMAN.search(question):
        return [match[1] for match in _GERMAN_NAME.finditer(question)]
    found = [match[0] for match in _NAME.finditer(question) if not _NO_NAME.search(match[0])]
    return found if 2 * len(found) <= len(question.split()) else []
