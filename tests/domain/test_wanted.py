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
        ("小周的手机号是多少？", ["小周负责打包和发货", "staff.xiaozhou.phone: 181 1268 9003"], True),
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
