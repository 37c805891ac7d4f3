"""Kinds of things that a question asks for, as a phone number or a birthday, and how each looks in a text.

Closed lists in English, German and Chinese, of what people ask about others most. A kind that is missing here is never
missed in an answer; a form that is missing lets an answer that is stored go unsaid, so the forms are many.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from memory_server.language.lazy import closed_list
from memory_server.language.text import has_han

_TIMES = (
    r"[:/-]\d|\.\d{1,2}\.|\s?(?:[ap]\.?m\b|uhr|o['’]clock|st\b|nd\b|rd\b|th\b|jan|feb|mar|apr|may|mai|jun|jul|aug|sep"
    r"|o[ck]t|nov|de[cz]|[月日号点岁年])"
)
_SUM = (
    rf"(?<![\w.:/-])(?<!\d\s)(?!(?:19|20)\d\d\b)\d{{1,6}}(?:[.,]\d+)*(?!\d|{_TIMES}|[\s/-]\d{{3}})"
    r"|[\d一二两三四五六七八九十百千万半几][百千万元块毛角]"
)
"""A number that is no year, date, time of the day or phone number."""

_MONEY = rf"[£€$¥]\s?\d|\d\s?(?:[£€$¥]|euro|eur\b)|\bfree\b|gratis|kostenlos|免费|{_SUM}"

_OF_ANOTHER = "".join(rf"(?<!\b{word}\s)" for word in "my our mein meine meiner unsere unserer unser".split())
"""Before somebody's kin or pet: who asks for their own may have stored the name only."""


@dataclass(frozen=True, slots=True)
class AskedKind:
    """`asked` finds that a question asks for it, `shown` that a text has it.

    Where `asked` spans words that say whose it is, a group has those that ask.
    """

    asked: re.Pattern[str]
    shown: re.Pattern[str]


def _kind(asked: str, shown: str) -> AskedKind:
    return AskedKind(closed_list(asked), closed_list(shown))


def _kin(english_german: str, chinese: str, shown: str) -> AskedKind:
    """A relative or a pet, which must be somebody's: "Anna's daughter", 段阿姨的女儿."""
    return _kind(rf"{_OF_ANOTHER}\b(?:{english_german})\b|(?<!我)(?<!我们)的(?:{chinese})", shown)


FULL_NAME = _kind(
    r"\b(?:first|last|middle|maiden|given|family)\sname\b|\bsurname\b|\b(?:vor|nach|mädchen|familien)name",
    r"(?-i:\b(?!(?:Mrs?|Ms|Miss|Dr|Frau|Herrn?)\b)[A-ZÄÖÜ][\w'’-]+\s(?:(?:van|von|de|der|la)\s)*[A-ZÄÖÜ][\w'’-]+)"
    r"|[\u4e00-\u9fff]{2,}|\bname.*",
)
"""The part of a name, which stands beside the other one."""

KINDS = (
    _kind(
        r"\b(?:what|which|need|find|give|tell)\b[^?]{0,30}\b((?:(?:tele)?phone|mobile|cell(?:phone)?)\snumber)"
        r"|(?:telefon|handy|ruf)nummer"
        r"|电话号码|手机号|电话(?:是|多少)",
        r"(?<![^\W\d_])\d(?:[\s/()-]*\d){4,}",
    ),
    _kind(r"微信号", r"微信号|wechat|weixin|[a-z][\w-]*[_\d-][\w-]*"),
    _kind(r"\be-?mail\saddress|mailadresse|邮箱", r"\S@\S|邮箱"),
    _kind(
        r"\b(?:home|postal)\saddress\b|['’]s\saddress\b|\badresse\svon\b|\banschrift\b"
        r"|\b(?:what|which)\s(?:street|road)\b|\bwelcher\sstra(?:ß|ss)e\b|住址|的地址|哪条[路街]",
        r"address|street|\bst\.|road|avenue|adresse|anschrift|stra(?:ß|ss)e|\bstr\.|\w(?:weg|platz|gasse)\b"
        r"|\d{5}"
        r"|\blives?\b|wohn|[路街巷区栋楼号村住]|地址",
    ),
    _kind(
        r"\bwhere\s(?:does|do|did)\s(?:\w+\s){1,3}(live)\b|\bwo\s(?:wohnt|wohnen|lebt)\b|住(?:在)?(?:哪|什么地方)",
        r"\bliv(?:e|es|ed|ing)\b|\bmove[ds]?\b|moving|\bhome\b|house|\bflat\b|apartment|address|\bstays?\b"
        r"|\bbased\b|\bfrom\b|(?-i:\bin\s[A-Z])"
        r"|wohn|\blebt\b|zieht|zog\b|gezogen|haus|adresse|stra(?:ß|ss)e|(?-i:\baus\s[A-Z])|[住搬家]|地址",
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
        r"\bage[ds]?\b|\bold(?:er)?\b|\byoung|\byears?\b|\bborn\b|birthday|\bturn(?:s|ed|ing)?\s\d"
        r"|\b\d{1,3}(?=[,;)])|(?:\b(?:is|was|now|ist|war|jetzt|wird)|:)\s\d"
        r"|jahr|jährig|\balt\b|geboren|geburtstag|岁|生|[老幼小]",
    ),
    _kind(
        r"\bhow\smuch\s(?:does|do|did|is|are|was|were)\b|\bthe\sprice\sof\b|kostet|gekostet|\bteuer\b|多少钱",
        _MONEY,
    ),
    _kind(
        r"\bsalary\b|\bwages?\b|\bdoes\s[\w\s]{1,20}\s(earn)\b|\bgehalt\b|\blohn\b|\bverdient\b|工资|月薪|薪水",
        r"salary|wage|\bpa(?:y|id|ys)\b|earn|\b(?:an|per)\shour|gehalt|lohn|verdien|stunde|工资|薪|[月年]入"
        r"|[\d一二两三四五六七八九千百万块元][^。；，]{0,3}个月|[每个]月[^。；，]{0,4}[\d一二两三四五六七八九千百万]",
    ),
    _kind(
        r"\b(?:what|which)\scolou?r\b|\bwelche\sfarbe|颜色",
        r"colou?r|farbe|\#[0-9a-f]{3,6}|\b(?:red|blue|green|white|black|gr[ae]y|yellow|orange|brown|pink"
        r"|purple|silver|beige)\b"
        r"|\b(?:rot|blau|grün|wei(?:ß|ss)|schwarz|grau|gelb|braun|rosa|lila|silbern)|[色红蓝绿白黑灰黄橙棕紫粉]",
    ),
    _kind(
        r"\b(?:what|which)\s(?:school|university|college)\b|\bwhere\s(?:did"
        r"|does)\s(?:\w+\s){1,3}(go\sto\s(?:school|university|college)|study)\b|\bwelche\s(?:hoch)?schule\b"
        r"|在哪[里儿]?上学|哪[所个]?(?:学校|大学)",
        r"school|universit|college|academy|\bstud(?:y|ie)|graduat|degree|schul|studi|abschluss|学|毕业",
    ),
    _kind(
        r"\b(?:what|which)\s(?:hospital|clinic)\b|\bwelche[sm]?\s(?:krankenhaus|klinik)\b|哪[家个]医院",
        r"hospital|clinic|surgery|infirmary|\bward\b|\boperat|krankenhaus|klinik|院",
    ),
    _kind(
        r"\b(?:what|which)\s(?:car|make\sof\scar)\b|\bwelches\sauto\b|什么车|哪[种辆]车",
        r"\bcar\b|\bdriv|\bvan\b|vehicle|\bauto\b|wagen|\bf[äu]hrt?\b|toyota|ford|\bvw\b|volkswagen|bmw|audi"
        r"|mercedes|opel"
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
        r"\bfavou?rite\b|\blieblings\w+|最喜欢|最爱",
        r"favou?rite|\blikes?\b|\bloves?\b|\bprefers?\b|\benjoys?\b|\bbest\b|\bfan\b|liebling|\bmag\b"
        r"|\bliebt\b|\bgern|am\sliebsten"
        r"|\bsteht\sauf\b|喜欢|爱|偏好|最好|习惯",
    ),
    FULL_NAME,
    _kind(
        r"\b(?:what|which)\s(?:brand|make|manufacturer|model)\b|\b(?:brand|make|model)\sof\b"
        r"|\bwelche\smarke\b|\bwelche[rsmn]?\s(?:hersteller|modell)\b|什么(?:牌子|品牌|型号)|哪个(?:牌子|品牌)",
        r"brand|\bmade\sby\b|\bmodel\b|marke|hersteller|modell|牌|型号|品牌|(?-i:\b[A-Z]{2,}\b|[A-Z]\w*\d"
        r"|[a-z,]\s(?!Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec|Mon|Tue|Wed|Thu|Fri|Sat|Sun)[A-Z])",
    ),
    _kind(
        r"\b(?:have|has)\s(?:any\s)?(?:children|kids)\b|\bhat\s(?:\w+\s){1,2}(kinder)\b"
        r"|\bhow\smany\s(?:grand)?(?:children|kids|daughters|sons)\b"
        r"|\bwie\sviele\s(?:kinder|töchter|söhne|enkel)|几个(?:孩子|儿子|女儿|孙)|几口人",
        "child|kid|daughter|\\bsons?\\b|twin|kind|tochter|töchter|s[oö]hn|enkel|zwilling|孩|娃|儿子|女儿|孙|口人",
    ),
    _kind(
        r"\bhow\smany\s(?:siblings|brothers|sisters)\b|\bwie\sviele\s(?:geschwister|brüder|schwestern)"
        r"|几个(?:兄弟|姐妹)",
        "sibling|brother|sister|twin|geschwister|bruder|brüder|schwester|兄|弟|姐|妹",
    ),
    _kind(
        r"\b(?:shoe|clothing|dress|shirt|ring|trouser)\ssize\b|\bschuhgröße|kleidergröße|konfektionsgröße"
        r"|ringgröße|鞋码|几码|多大码|尺码",
        r"^(?=.*(?:size|shoe|wear|schuh|größe|trägt|[码鞋穿])).*\d|(?-i:\b(?:X?S|M|X*L)\b)",
    ),
    _kind(
        r"\b(?:what|which)\sinstruments?\b|\bwelches\sinstrument\b|什么乐器|哪种乐器",
        r"instrument|piano|guitar|violin|cello|flute|drum|trumpet|clarinet|saxo|organ|harp|accordion|viola"
        r"|trombone|ukulele|oboe|horn"
        r"|klavier|gitarre|geige|bratsche|flöte|schlagzeug|trompete|klarinette|orgel|harfe|akkordeon|posaune"
        r"|琴|笛|鼓|号|箫|筝|琶|胡|乐器|吉他",
    ),
    _kind(
        r"\ballerg(?:ic|y|ies)\b|\ballergi(?:en|e|sch)\b|过敏",
        r"allerg|intoleran|\bhives\b|\brash\b|reaction|unverträglich|verträgt|must\snot|cannot|can't|avoid"
        r"|darf\sk?nicht|过敏|不能|忌",
    ),
    _kind(
        r"\b(?:web\s?site|url|homepage|domain)\b|\b(?:webseite|internetseite|webadresse)\b|网址|网站",
        r"\.[a-z]{2,6}\b|https?:|www|web|url|homepage|domain|site|seite|online|网",
    ),
    _kind(
        r"\bwhere\s(?:is|are|does|do)\s(?:\w+\s){1,3}(from)\b|\bwoher\s(?:kommt|stammt)\b|是?哪[里儿]人|老家在哪",
        r"\bfrom\b|\bborn\b|\bnative\b|\bgrew\sup\b|(?-i:[a-z]\s[A-Z]\w+(?:an|ish|ese|ch)\b)|\baus\b|stammt|geboren|来自|老家"
        r"|出生|家乡|籍|[\u4e00-\u9fff]{2}人(?=[，。,.；]|$)",
    ),
    _kind(
        r"\b(?:what|which)\slanguages?\b|\bwelche\ssprachen?\b|哪[些种几门]*(?:语言|外语)|什么语言",
        r"language|speak|sprache|spricht|语|话|\b\w*(?:english|german|french|spanish|italian|chinese|polish"
        r"|turkish|arabic|russian|dutch|japanese"
        r"|englisch|deutsch|französisch|spanisch|italienisch|polnisch|türkisch|russisch|python|rust|java|go"
        r"|sql)\b",
    ),
    _kind(
        r"['’]s\s(?:job|profession|occupation)\b|\bdo(?:es)?\s(?:\w+\s){1,3}(do\sfor\sa\sliving)\b|\bvon\sberuf\b"
        r"|\bwhere\sdo(?:es)?\s(?:\w+\s){1,3}(work)\b|\bwo\sarbeitet\b|做什么(?:工作|职业)|在哪[^，。？]{0,4}(?:上班|工作)|什么职业",
        r"\bwork|\bjob|employ|profession|retired|\bruns?\b|\bleads?\b|owns?\b|\ban?\s\w+(?:er|or|ist|ian|ant|man|nurse|cook)\b"
        r"|company|office|\bfirm\b|\bat\s[A-Z]|arbeit|beruf|rentner|firma|büro|\bleitet|\bbei\b"
        r"|工作|上班|公司|职|退休|[做当开师员医商工]",
    ),
    _kin("mother|mum|mom|mutter|mama", "妈妈?|母亲", r"mother|\bm[uo]m\b|parent|mutter|mama|eltern|妈|母"),
    _kin("father|dad|vater|papa", "爸爸?|父亲", r"father|\bdad\b|parent|vater|papa|eltern|爸|父"),
    _kin(
        r"wife|husband|spouse|ehefrau|ehemann|frau\svon|mann\svon",
        "妻子|老婆|太太|丈夫|老公|媳妇|先生",
        r"wife|husband|spouse|partner|marr(?:y|ie)|wedding|ehefrau|ehemann|heirat|hochzeit"
        r"|\b(?:seine|meine|ihre)r?\sfrau|\b(?:ihr|mein)\smann|妻|老婆|太太|丈夫|老公|媳妇|先生|[结订]婚|爱人|对象",
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
_GERMAN_NAME = re.compile(
    r"\b(?:Herrn?|Frau|Familie|Firma)\s+(?:Dr\.\s+)?([A-ZÄÖÜ][\w-]+)"
    r"|\b(?:von|bei|nach)\s(?!(?:Herrn?|Frau|Hause|Feierabend|Ostern|Weihnachten|Plan|Bedarf|Absprache|Mittag"
    r"|Mitternacht|Regen|Schnee"
    r"|Hitze|Gewitter|Sturm|Frost|Nacht|Montag|Dienstag|Mittwoch|Donnerstag|Freitag|Samstag"
    r"|Sonntag)\b)([A-ZÄÖÜ][\w-]+)(?=\s?[?]|\s[a-zäöü])"
)
_SURNAMES = (
    "王李张刘陈杨赵黄吴徐孙胡朱郭罗宋郑谢韩唐冯邓曹彭曾萧蔡潘袁董苏魏"
    "蒋杜沈姜崔钟陆汪范廖贾韦邹孟熊秦邱侯尹薛段雷龚郝戴贺邵"
)
"""Frequent surnames that are seldom part of another word."""

_CHINESE_NAME = re.compile(
    rf"([{_SURNAMES}])(?:老师|医生|大夫|阿姨|叔叔?|姨|伯伯|经理|总|先生|女士|太太|师傅|教授|老板|主任|奶奶|爷爷|姐|哥|工|导)|[小老]([{_SURNAMES}])"
)
_GERMAN = re.compile(
    r"^\W*(?:(?:\w+\s)?we(?:r|m|n|lche[mnrs]?)|(?:\w+\s)?was|wann|wie(?:viel)?|wo(?:f[uü]r|her|hin|mit)?"
    r"|warum)\b",
    re.I,
)
_NO_NAME = closed_list(r"""
    ^(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|mon|tue|wed|thu|fri|sat|sun)[a-z]*$
    |^(?:mum|mom|mama|dad|papa|grand(?:ma|pa)|uncle|aunt|internet|christmas|easter|wi|user|mr|mrs|ms|dr)$
    |^(?:english|german|french|chinese|spanish|italian|dutch|portuguese|japanese|russian|american|british|european)s?$
""")
"""Words with a capital that name no single person or thing."""


def asked(question: str) -> Iterator[tuple[str, AskedKind]]:
    """Yield the words of a question that ask for a kind, and the kind."""
    for kind in KINDS:
        if match := kind.asked.search(question):
            yield match[match.lastindex or 0], kind


def names(question: str) -> list[str]:
    """The proper names of a question in English or German that are plain: Airbnb, Frau Nolte.

    In German, where each noun has a capital, it is the word after Herr or Frau, and the one after von, bei or nach. In
    Chinese it is the surname before a title. A heading has too many capitals.
    """
    if has_han(question):
        return [match[1] or match[2] for match in _CHINESE_NAME.finditer(question)]
    if _GERMAN.search(question):
        return [match[1] or match[2] for match in _GERMAN_NAME.finditer(question)]
    proper = [match[0] for match in _NAME.finditer(question) if not _NO_NAME.search(match[0])]
    return proper if 2 * len(proper) <= len(question.split()) else []
