"""Kinds of things that a question asks for, and the names in it."""

import pytest

from memory_server.language import kinds


@pytest.mark.parametrize(
    ("question", "fits", "fails"),
    [
        ("What is Anna's phone number?", "Anna: 0551 / 88 213", "Anna works with ed25519 since 2024."),
        (
            "Welche Telefonnummer hat Frau Nolte?",
            "Nolte, telefon 04451 88213",
            "Frau Nolte will Belege bis zum 10.",
        ),
        ("阿鹏的电话是多少？", "阿鹏 139 8852 0416", "租车找阿鹏，一天六十"),
        ("When is Tomás's birthday?", "Tomás was born on 3 May.", "Tomás is on call on Tuesdays."),
        ("林师傅的生日是哪天？", "林师傅五月三日生日", "林师傅修水电"),
        ("Which dog has Mr. Huber?", "Huber walks his terrier at six.", "Mr. Huber has a cat."),
        ("Welche Katze hat Herr Oellers?", "Die Katzen von Oellers", "Bei Oellers ist der Hund bissig."),
        ("段阿姨的女儿叫什么？", "段阿姨的孩子在下关上小学", "段阿姨的儿子下个月结婚"),
        ("Wie viel hat die Küche gekostet?", "Die Küche: 8.900 Euro", "Seit der Küche blieb alles liegen."),
        ("What salary does Ines get?", "Ines earns 4,100 a month", "Ines joins on 3 May"),
        ("店里的密码是什么", "密码 cangshan19", "店里用蓝牙"),
        ("What does Joy earn an hour?", "Joy gets paid 14 pounds", "Joy comes from 9 to 12"),
        ("What colour is the stairlift?", "A grey stairlift", "The stairlift shared by two houses"),
        ("Which university did Hannah go to?", "Hannah studied in Leeds", "Hannah visits on 14 May"),
        (
            "Welches Auto fährt Antje?",
            "Antje kommt im roten Polo, den sie fährt",
            "Antje führt das Kassenbuch",
        ),
        ("Welche Note hatte Lina?", "Lina hat mit zwei bestanden", "Linas Prüfung ist am 14. Januar"),
        ("What does Ines do for a living?", "Ines is a carpenter", "Ines joins on 3 May"),
        ("Wo arbeitet Jens?", "Jens ist bei der Post", "Jens kommt um 6 Uhr"),
        ("小李在哪儿上班？", "小李在银行工作", "小李下个月结婚"),
        ("What is the name of Ida's mother?", "Ida's mum sings", "Ida's brother sings"),
        ("老周的微信号是多少？", "老周 laozhou_88", "老周打电话最快"),
        ("老吴是哪里人？", "老吴老家在绍兴", "老吴负责品茶"),
        ("Where is Ida from?", "Ida was born in Graz", "Ida plays chess"),
        ("Which street is the studio in?", "The studio: 4 Mill Road", "The studio opens at nine"),
        ("Wie heißt die Frau von Mirko?", "Mirko heiratet im Mai Jasna.", "Frau Brandt und Mirko"),
    ],
)
def test_a_text_has_the_kind_of_thing_or_not(question: str, fits: str, fails: str) -> None:
    [(_, kind)] = kinds.asked(question)
    assert kind.shown.search(fits)
    assert not kind.shown.search(fails)


@pytest.mark.parametrize(
    "question",
    [
        "Why did we choose Postgres?",
        "Can I reach my daughter by phone?",
        "Was mag meine Katze?",
        "我的女儿几点放学？",
        "Whose phone call came in?",
        "How much of the plan is done?",
    ],
)
def test_other_questions_ask_for_no_kind(question: str) -> None:
    assert not list(kinds.asked(question))


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("How much commission does Airbnb take?", ["Airbnb"]),
        ("Which train goes from Shanghai to Hangzhou?", ["Shanghai", "Hangzhou"]),
        ("What did Priya's team do in April?", ["Priya"]),
        ("Welche Stufen will Frau Dr. Sandkühler?", ["Sandkühler"]),
        ("Welche Kundennummer haben wir bei Würth?", ["Würth"]),
        ("Was kostet ein Flug nach Lissabon im Mai?", ["Lissabon"]),
        ("Was tun wir bei Regen?", []),
        ("段老师的女儿几岁？", ["段"]),
        ("小魏什么时候来？", ["魏"]),
        ("老板在哪里？", []),
        ("Was kostet die Arbeit nach Feierabend?", []),
        ("What Is The Deploy Process", []),
        ("What does the SLA say?", []),
        ("When does Mom arrive on Friday?", []),
        ("Airbnb takes what?", []),
    ],
)
def test_plain_names_of_a_question(question: str, names: list[str]) -> None:
    assert kinds.names(question) == names


def test_a_text_without_words_is_of_no_kind() -> None:
    assert not any(kind.asked.search("-") or kind.shown.search("-") for kind in kinds.KINDS)
