"""Two stores of our own, in English and Chinese, where people say the same again and count things from day to day.

A fact is said one to seven times in other words, and any of them answers; a sum has as many answers as days. They stand
among the notes of the own set. Made by rule from phrases written by hand; `calibrate.py` fits on them, so that what was
said many times is known from what was said once.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from quality import own
from quality.data import Memory, Question, Store

SET = "repeating"

SEED = 20261122

MOST = 7
"""A fact is said so many times at most."""

DAYS = (5, 10)
"""The least and, less one, the most entries of a sum."""


@dataclass(frozen=True, slots=True)
class Phrases:
    """What a language says. A fact has ways to state it, ways to ask, and values; {w} is a person, {v} a value.

    `among` is the store of the own set whose notes stand beside.
    """

    lang: str
    among: str
    people: Sequence[str]
    facts: Sequence[tuple[str, str, str]]
    sums: Sequence[tuple[str, str, tuple[float, float]]]
    openings: Sequence[str]
    small_talk: Sequence[str]


ENGLISH = Phrases(
    "en",
    "nadia",
    (
        "my cousin Dana", "my neighbour Viktor", "my manager Ruth", "my sister Leonie", "my dentist Amari",
        "my flatmate Joel",
    ),
    (
        (
            "{w} works in {v}.|The office of {w} is in {v}.|{w} has a job in {v}.|{w} commutes to {v} every morning."
            "|As for work, {w} goes to {v}.|{v} is where {w} works.|You know that {w} is employed in {v}, right?",
            "Where does {w} work?|In which city is the job of {w}?",
            "Utrecht|Leeds|Porto|Bergen|Graz|Lyon",
        ),
        (
            "{w} likes {v}.|{w} spends every weekend on {v}.|The hobby of {w} is {v}.|{w} is mad about {v}."
            "|In the free time {w} does {v}.|What {w} really loves is {v}.|{v} is what {w} does for fun.",
            "What does {w} do in the free time?|What is the hobby of {w}?",
            "bouldering|bookbinding|beekeeping|salsa dancing|model railways|wild swimming",
        ),
        (
            "The birthday of {w} is {v}.|{w} was born on {v}.|{w} has a birthday on {v}.|We celebrate {w} on {v}."
            "|{w} turns a year older on {v}.|On {v} it is the birthday of {w}.|Do not forget {w}: {v} is the birthday.",
            "When is the birthday of {w}?|On which day was {w} born?",
            "March 3|June 18|August 30|October 9|January 27|December 5",
        ),
        (
            "{w} cannot eat {v}.|{w} is allergic to {v}.|No {v} for {w}, please.|{w} gets a rash from {v}."
            "|Food with {v} makes {w} ill.|The allergy of {w} is {v}.|Keep {v} away from {w}.",
            "What must I not cook for {w}?|Which allergy does {w} have?",
            "walnuts|shellfish|celery|sesame|strawberries|mustard",
        ),
        (
            "{w} drives {v}.|The car of {w} is {v}.|{w} bought {v}.|{w} came in {v} again.|{v} belongs to {w}."
            "|{w} is happy with {v}.|In front of the house stands {v}, which {w} drives.",
            "What car does {w} have?|What does {w} drive?",
            "an old Saab|a blue Fiat Panda|a Volvo estate|a yellow Kangoo|a Honda Jazz|a Tesla",
        ),
    ),
    (
        ("I walked {n} steps today.", "How many steps did I walk this week?|What is my total of steps?", (3000, 15000)),
        ("I spent ${n} on coffee.", "How much have I spent on coffee?|Am I within my coffee budget?", (2, 9)),
        ("I ran {n} km this morning.", "How many km did I run this month?|Did I reach my running goal?", (3, 14)),
        ("I slept {n} hours last night.", "How long do I sleep on average?|What is my average sleep?", (4, 9)),
        (
            "I paid ${n} for lunch.",
            "What is the total that I paid for lunch?|How much did I spend for lunch in all?",
            (6, 21),
        ),
    ),
    (
        "", "", "By the way, ", "What a day. ", "Nothing special here. ", "Before I forget: ", "It rained, but still. ",
        "I feel fine. ", "Interesting point. ", "Speaking of habits, ", "Well, for my log: ", "That makes sense. ",
    ),
    ("What weather! The bus was late again and I got wet. Anyway, ", "I had such a nice lunch today. "),
)  # fmt: skip

CHINESE = Phrases(
    "zh",
    "linwei",
    ("我表姐周岚", "我邻居老秦", "我上司方敏", "我妹妹若溪", "我牙医贺医生", "我室友阿城"),
    (
        (
            "{w}在{v}上班。|{w}的工作地是{v}。|{w}的单位在{v}。|{w}每天去{v}工作。|要说工作，{w}是在{v}。|{w}在{v}那边上班呢。"
            "|{v}是{w}工作的地方。",
            "{w}在哪儿上班？|{w}的工作地是哪里？",
            "无锡|青岛|昆明|厦门|洛阳|长沙",
        ),
        (
            "{w}喜欢{v}。|{w}的爱好是{v}。|{w}周末都在{v}。|{w}特别爱{v}。|{w}平时就喜欢{v}。|{w}有空就{v}。|{v}是{w}最喜欢做的事。",
            "{w}平时喜欢做什么？|{w}的爱好是什么？",
            "攀岩|养蜂|刻印章|跳探戈|钓鱼|做陶艺",
        ),
        (
            "{w}的生日是{v}。|{w}是{v}出生的。|{w}{v}过生日。|每年{v}我们给{w}庆生。|{v}是{w}的生日。|别忘了，{w}的生日在{v}。"
            "|{w}出生在{v}那天。",
            "{w}的生日是哪天？|{w}什么时候过生日？",
            "3月3日|6月18日|8月30日|10月9日|1月27日|12月5日",
        ),
        (
            "{w}不能吃{v}。|{w}对{v}过敏。|{w}一吃{v}就起疹子。|做饭给{w}别放{v}。|{w}吃了{v}会不舒服。|{w}的过敏源是{v}。"
            "|{v}这东西{w}碰不得。",
            "{w}对什么过敏？|给{w}做饭不能放什么？",
            "核桃|虾|芹菜|芝麻|草莓|芥末",
        ),
        (
            "{w}开的是{v}。|{w}的车是{v}。|{w}买了一辆{v}。|{w}又开着{v}来了。|{v}是{w}的车。|{w}对自己的{v}很满意。|楼下那辆{v}是{w}的。",
            "{w}开什么车？|{w}的车是什么？",
            "老桑塔纳|蓝色奇瑞|沃尔沃旅行车|黄色五菱|本田飞度|比亚迪汉",
        ),
    ),
    (
        ("我今天走了{n}步。", "我这周一共走了多少步？|我总共走了几步？", (3000, 15000)),
        ("买咖啡花了{n}元。", "我买咖啡一共花了多少钱？|咖啡的总花费是多少？", (9, 38)),
        ("早上跑了{n}公里。", "我这个月总共跑了多少公里？|我完成了跑步目标吗？", (3, 14)),
        ("昨晚睡了{n}个小时。", "我平均睡几个小时？|我每晚平均睡多久？", (4, 9)),
        ("午饭付了{n}块钱。", "午饭一共花了多少钱？|午饭总计付了多少？", (15, 60)),
    ),
    (
        "", "", "对了，", "今天没什么特别的，", "说起来，", "天气不错，", "记一下：", "挺有意思的，", "虽然下雨，",
        "嗯，", "说到习惯，", "顺便说一句，",
    ),
    (
        "今天天气真好，公园里人很多，我还吃了冰淇淋。对了，我想问的是：",
        "最近工作好忙啊，昨天又加班到很晚。我真正想问的是：",
    ),
)  # fmt: skip


def stores() -> Iterator[Store]:
    for number, phrases in enumerate((ENGLISH, CHINESE)):
        yield _store(number, phrases)


def _store(number: int, phrases: Phrases) -> Store:
    chance = np.random.default_rng((SEED, number))
    said: list[tuple[str, list[str]]] = [(asked, texts) for asked, texts in _facts(chance, phrases)]
    said += _sums(chance, phrases)
    texts = [text for _, each in said for text in each]
    notes = next(store for store in own.stores(held=False) if store.name == phrases.among).memories
    ids = {text: f"r{place}" for place, text in enumerate(dict.fromkeys(texts))}
    memories = [*notes, *(Memory(id, text, "observation") for text, id in ids.items())]
    order = chance.permutation(len(memories)).tolist()
    questions = tuple(
        Question(
            f"{phrases.lang}{place}",
            asked,
            "repeated",
            (frozenset(ids[text] for text in each),),
            lang=phrases.lang,
        )
        for place, (asked, each) in enumerate(said)
    )
    shuffled = tuple(
        Memory(memories[place].id, memories[place].text, memories[place].type) for place in order
    )
    return Store(SET, phrases.lang, number, shuffled, questions)


def _facts(chance: np.random.Generator, phrases: Phrases) -> Iterator[tuple[str, list[str]]]:
    for ways, questions, values in phrases.facts:
        for person, value in zip(phrases.people, chance.permutation(values.split("|")).tolist(), strict=True):
            count = int(chance.integers(1, MOST + 1))
            chosen = chance.permutation(ways.split("|"))[:count].tolist()
            asked = str(chance.choice(questions.split("|"))).format(w=person)
            if chance.random() < 0.25:
                asked = str(chance.choice(phrases.small_talk)) + asked
            yield asked, [_sentence(way.format(w=person, v=value)) for way in chosen]


def _sums(chance: np.random.Generator, phrases: Phrases) -> Iterator[tuple[str, list[str]]]:
    for way, questions, (least, most) in phrases.sums:
        entries = []
        for _ in range(int(chance.integers(*DAYS))):
            amount = chance.uniform(least, most)
            shown = f"{amount:,.0f}" if most > 1000 else f"{amount:.1f}"
            entries.append(_sentence(str(chance.choice(phrases.openings)) + way.format(n=shown)))
        for asked in questions.split("|"):
            yield asked, entries


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]
