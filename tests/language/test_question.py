"""What a question asks for: its parts, where it is several, and the kind of its answer."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_server.language import question
from memory_server.language.question import MOST_PARTS

STAGING = "What port does staging use?"
OWNER = "Who owns the billing service?"

PIECES = st.sampled_from([
    "?", "？", "!", "。", ". ", "…", "\n", " ", "，", ", ", "What is it", "Also, ", "and also ", "By the way, ", "另外",
    "还有", "对了，", "嗯，", "我想问一下", "我的护照在哪里", "When", "how many", "Dr. ", "2.5", "é", "🚀", "\x00",
])  # fmt: skip
CHATTY = st.lists(PIECES, max_size=14).map("".join)


@pytest.mark.parametrize(
    "text",
    [
        "When did Evan lose his job?",
        "What port does staging use",
        "Evan's job",
        "我的护照在哪里？",
        "我的护照什么时候到期",
        "pve-01",
        "v18.2",
        "Also, what is my name?",
        "Where do Ann and Ben live?",
        "Who asked for it, and when?",
        "Who saw the cello, and what did it cost?",
        "How many days are between when I began and when I ended?",
        "It is raining again. When is my flight?",
        "🚀",
        "?",
        "",
    ],
)
def test_one_question_has_no_parts(text: str) -> None:
    read = question.read(text)
    assert (read.text, read.parts) == (text, ())


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        (f"{STAGING} {OWNER}", (STAGING, OWNER)),
        (f"{STAGING} By the way, who owns the billing service?", (STAGING, "who owns the billing service?")),
        (f"{STAGING} And also who owns the billing service?", (STAGING, "who owns the billing service?")),
        (f"{STAGING} Additionally, who owns it today?", (STAGING, "who owns it today?")),
        ("我的猫叫什么名字？我妹妹住在哪里？", ("我的猫叫什么名字？", "我妹妹住在哪里？")),
        ("我的猫叫什么名字？另外，我妹妹住在哪里？", ("我的猫叫什么名字？", "我妹妹住在哪里？")),
        ("我的猫叫什么名字？还有我妹妹住在哪里？", ("我的猫叫什么名字？", "我妹妹住在哪里？")),
        ("When is it due, and who's the mechanic?", ("When is it due?", "who's the mechanic?")),
        ("Was kostet das Rad, und ab wann ist Anna da?", ("Was kostet das Rad?", "ab wann ist Anna da?")),
        (f"{STAGING}\n{OWNER}\nWhen is the release?", (STAGING, OWNER, "When is the release?")),
    ],
)
def test_several_questions_are_its_parts_in_order(text: str, parts: tuple[str, ...]) -> None:
    assert question.read(text).parts == parts


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        (
            "I had a long day at the office. The dog was ill all night. What is my dentist's number?",
            "What is my dentist's number?",
        ),
        ("今天天气真好。我昨天去了公园。对了，我的护照什么时候到期？", "我的护照什么时候到期？"),
        ("周末过得很开心！我们吃了火锅。我想问一下，我妹妹住在哪里？", "我妹妹住在哪里？"),
    ],
)
def test_small_talk_before_a_question_is_not_asked(text: str, asked: str) -> None:
    read = question.read(text)
    assert read.parts == (asked,)
    assert read.core == asked


def test_a_sentence_before_a_question_is_not_its_core() -> None:
    assert question.read("It was cold last week. When is my flight?").core == "When is my flight?"


def test_the_same_question_twice_is_one_part() -> None:
    assert question.read(f"{STAGING} {STAGING}").parts == (STAGING,)


def test_no_more_parts_than_the_limit() -> None:
    for asked in range(2, MOST_PARTS + 3):
        text = " ".join(f"Where is host number {number}?" for number in range(asked))
        assert len(question.read(text).parts) == min(asked, MOST_PARTS)


@pytest.mark.parametrize(
    ("text", "when", "how_many", "mine"),
    [
        ("When did Evan lose his job?", True, False, False),
        ("What day is the release?", True, False, False),
        ("How long did the outage last?", True, False, False),
        ("How many cats do I have?", False, True, True),
        ("How old is Ann?", False, True, False),
        ("What is my name?", False, False, True),
        ("Where do we deploy?", False, False, False),
        ("Whenever it rains, who drives?", False, False, False),
        ("Which myth is it?", False, False, False),
        ("我的护照什么时候到期？", True, False, True),
        ("发布日期是哪天？", True, False, False),
        ("她有多少只猫？", False, True, False),
        ("他多大了？", False, True, False),
        ("谁负责账单？", False, False, False),
        ("Ab wann ist der Laden zu?", True, False, False),
        ("An welchem Tag kommt sie?", True, False, False),
        ("Wie viele Räder haben wir?", False, True, True),
        ("Wie heißt meine Katze?", False, False, True),
    ],
)
def test_the_kind_of_the_answer(text: str, when: bool, how_many: bool, mine: bool) -> None:
    read = question.read(text)
    assert (read.when, read.how_many) == (when, how_many)
    assert read.mine == (mine or " we " in text)


@pytest.mark.parametrize(
    ("text", "adds_up"),
    [
        ("How much have I spent on coffee?", True),
        ("What is my total of steps?", True),
        ("How many miles did we drive last month?", True),
        ("Am I meeting my weekly budget?", True),
        ("How long do I sleep on average?", True),
        ("我这周一共走了多少步？", True),
        ("买咖啡总共花了多少钱？", True),
        ("我完成了跑步目标吗？", True),
        ("How many cats does Ann have?", False),
        ("What is the budget of the museum?", False),
        ("Where did we spend the summer?", False),
        ("Who is over there?", False),
        ("她有多少只猫？", False),
        ("目标是什么？", False),
    ],
)
def test_whether_the_answer_is_a_sum(text: str, adds_up: bool) -> None:
    assert question.read(text).adds_up == adds_up


@pytest.mark.parametrize(
    ("text", "lists"),
    [
        ("Which books has Tim read?", True),
        ("What are Ann's hobbies?", True),
        ("Where has Ann been since May?", True),
        ("How often did we move?", True),
        ("Welche Bücher haben wir bestellt?", True),
        ("Wer sind die Kunden in Jever?", True),
        ("李明去过哪些城市？", True),
        ("王婷和李明谁更年轻？", True),
        ("What does Ann's cat eat?", False),
        ("Which bus goes to the harbour?", False),
        ("What is Mrs. Okafor's first name?", False),
        ("How many tables does the restaurant have?", False),
        ("Welche Heizung hat das Schwimmbad?", False),
        ("Welches Öl nehmen wir für Eiche?", False),
        ("李明去哪个城市？", False),
    ],
)
def test_whether_the_answer_is_several_things(text: str, lists: bool) -> None:
    assert question.read(text).lists == lists


def test_what_is_told_before_a_question_does_not_decide_the_kind_of_its_answer() -> None:
    read = question.read("I had ten days off. When I was away it rained. Where does Ann live?")
    assert (read.when, read.how_many, read.mine) == (False, False, False)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        (
            "Which database do we use and also who maintains it?",
            ("Which database do we use?", "who maintains it?"),
        ),
        ("我的银行账户里还有多少钱可以用？", ()),
        ("What is Dr. Smith's phone number?", ()),
        ("Is it Postgres 14. Or MySQL?", ()),
        ("List the order. Mention ONLY five items.", ()),
    ],
)
def test_words_that_join_and_stops_within_a_sentence(text: str, parts: tuple[str, ...]) -> None:
    assert question.read(text).parts == parts


@given(st.one_of(st.text(max_size=80), CHATTY))
def test_any_text_is_read_and_its_parts_are_said_in_it(text: str) -> None:
    read = question.read(text)
    assert read.text == text
    assert len(read.parts) <= MOST_PARTS
    assert len(set(read.parts)) == len(read.parts)
    # A word that joins two questions ends the first, which gets a question mark: letters and digits are compared.
    said = "".join(filter(str.isalnum, text))
    assert all(part and "".join(filter(str.isalnum, part)) in said for part in read.parts)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        (
            "How was your day? It rained here. What I really wanted to ask is: who maintains billing?",
            ("who maintains billing?",),
        ),
        (
            "最近太忙了，不知道周末能不能休息？其实我真正想问的是，谁负责支付服务？另外，发布日是哪天？",
            ("谁负责支付服务？", "发布日是哪天？"),
        ),
        (
            "I want to know what time it is. And also, who is Bob?",
            ("I want to know what time it is", "who is Bob?"),
        ),
        ('Who wrote "Fail early. Fail loudly." on the board, and also who erased it?',
         ('Who wrote "Fail early. Fail loudly." on the board?', "who erased it?")),
    ],
)  # fmt: skip
def test_what_comes_at_last_is_asked_and_a_quotation_is_not_cut(text: str, parts: tuple[str, ...]) -> None:
    assert question.read(text).parts == parts
