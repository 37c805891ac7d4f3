"""Whether texts have the kind of thing that a question asks for."""

import pytest

from memory_server.domain import wanted

CAT = "Mr. Huber has a cat that sleeps in the shop window."
DOG = "The Meiers' dog is called Bruno."


@pytest.mark.parametrize(
    ("question", "texts", "there"),
    [
        ("Which dog has Mr. Huber?", [CAT], False),
        ("Which dog has Mr. Huber?", [CAT, DOG], False),
        ("Which dog has Mr. Huber?", [CAT, "Huber's puppy is two months old."], True),
        ("Which cat has Mr. Huber?", [CAT], True),
        ("What is the dog called?", [DOG], True),
        ("Where does Mr. Huber sleep?", [DOG], True),
        (
            "Welche Telefonnummer hat Frau Nolte?",
            ["Frau Nolte will die Belege.", "Oellers: 04453 2290"],
            False,
        ),
        ("What is Lowri's phone number?", ["Lowri sings", "Fiona: 07700 900 614"], False),
        ("What does Ida earn?", ["Ida sings", "The cleaner earns 14 pounds."], False),
        ("小周的手机号是多少？", ["小周负责打包和发货", "staff.xiaozhou.phone: 181 1268 9003"], True),
        ("小周的手机号是多少？", ["小周负责打包", "小周下班早", "staff.lin.phone: 181 1268 9003"], False),
        ("阿鹏的电话是多少？", ["前台手机 139 8852 0416", "租车找阿鹏，一天六十"], False),
    ],
)
def test_the_kind_must_stand_beside_what_it_is_asked_of(question: str, texts: list[str], there: bool) -> None:
    assert wanted.is_there(question, texts) is there


def test_in_a_long_text_it_must_stand_near() -> None:
    filler = "The window was cleaned on Monday, and nothing else happened in the whole street that day. " * 4
    far = f"{CAT} {filler}{DOG}"
    assert not wanted.is_there("Which dog has Mr. Huber?", [far])
    assert wanted.is_there("Which dog has Mr. Huber?", [f"{filler}{CAT} He has a dog too."])


def test_in_a_dialogue_it_may_stand_in_another_line() -> None:
    texts = ["Anna: Does Huber have a dog?", "Ben: He does, a terrier.", "Anna: Nice."]
    assert wanted.is_there("Which dog has Huber?", texts)


@pytest.mark.parametrize(
    ("question", "there", "missing"),
    [
        ("What is Tom's favourite film?", "Tom loves Amelie.", "Tom has a cinema card, number 4."),
        ("Was ist Omas Lieblingsblume?", "Oma mag Pfingstrosen am liebsten.", "Oma hat einen Garten."),
        ("爸爸最喜欢什么颜色？", "爸爸喜欢墨绿色。", "爸爸把门刷成了黑色。"),
        ("What is Mrs. Kahn's first name?", "Ruth Kahn waters the plants.", "Mrs. kahn waters the plants."),
        ("Which brand is the oven?", "The oven is a Bosch, bought in May.", "The oven is broken since May."),
        ("Welche Marke hat die Kettensäge?", "Die Kettensäge: Stihl MS 180.", "die kettensäge ist stumpf."),
        ("洗衣机是什么牌子的？", "洗衣机是海尔牌。", "洗衣机放在阳台上。"),
        ("Does Ida have children?", "Ida's daughter is two.", "Ida's sister lives in Graz."),
        ("Wie viele Kinder hat Jens?", "Jens hat Zwillinge.", "Jens hat 3 Fahrräder."),
        ("小李家几口人？", "小李有一个儿子和一个女儿。", "小李开 3 路车。"),
        ("What is Ida's shoe size?", "Ida takes 39 in shoes.", "Ida's glasses have minus 0.75."),
        ("Where does Ida live?", "Ida has moved to Graz.", "Ida plays chess."),
        ("Wo wohnt Jens?", "Jens ist nach Kiel gezogen.", "Jens spielt Schach."),
        ("小李住在哪里？", "小李搬到了东门。", "小李会下棋。"),
        ("How old is Ida?", "Ida turns 40 in May.", "Ida has been our baker since 2019, gate 3."),
        ("Wie alt ist Jens?", "Jens ist 40.", "Jens ist unser Bäcker seit 2019 und kommt um 6 Uhr."),
        ("Which instrument does Ida play?", "Ida practises the cello.", "Ida plays chess."),
        ("Wogegen ist Jens allergisch?", "Jens verträgt keine Nüsse.", "Jens isst Nüsse."),
        ("小李对什么过敏？", "小李不能吃花生。", "小李爱吃花生。"),
        ("小李一个月工资多少？", "小李每个月四千五。", "小李下个月结婚。"),
        ("How much did the saw cost?", "The saw: 1,200 euros.", "The saw F45 is new."),
        ("How much is Desmond paid?", "Desmond gets 60 pounds.", "Desmond: phone 01947 600 318, since 2019."),
        ("What is Mrs. Kahn's first name?", "Ruth Kahn waters the plants.", "Mrs. Kahn lives in Elm Row."),
        ("Which languages does Ida speak?", "Ida knows Polish and Czech.", "Ida sings well."),
    ],
)
def test_kinds_in_three_languages(question: str, there: str, missing: str) -> None:
    assert wanted.is_there(question, [there])
    assert not wanted.is_there(question, [missing])
