"""Found words are marked in both scripts, and nothing that is stored becomes HTML."""

import pytest

from memory_server.web.marking import EXCERPT, marked


@pytest.mark.parametrize(
    ("text", "question", "shown"),
    [
        ("Databases on port-6432", "the database port", "<mark>Databases</mark> on <mark>port</mark>-6432"),
        ("灯塔的编号是7", "灯塔编号是什么", "<mark>灯塔</mark>的<mark>编号</mark>是7"),
        ("pve 01 and pvp-01", "pve-01", "<mark>pve 01</mark> and pvp-01"),
        ("用C++写的服务器", "C++ 服务器", "用<mark>C++</mark>写的<mark>服务器</mark>"),
        ("the portrait of a port", "ports", "the portrait of a <mark>port</mark>"),
        ("<b>port</b> & more", "port <b>", "&lt;<mark>b</mark>&gt;<mark>port</mark>&lt;/<mark>b</mark>&gt; &amp; more"),
        ("nothing of it", "", "nothing of it"),
        ("nothing of it", "* ? ！", "nothing of it"),
    ],
)  # fmt: skip
def test_the_words_of_the_question_are_marked(text: str, question: str, shown: str) -> None:
    assert marked(text, question) == shown


def test_a_long_text_begins_where_most_of_the_words_are() -> None:
    filler = "Ships pass by day and by night. " * 40
    shown = marked(f"A lamp. {filler}The lamp of the lighthouse is red. {filler}", "red lighthouse lamp")
    assert shown.startswith("… ")
    assert shown.endswith("…")
    assert shown.index("<mark>lamp</mark> of the <mark>lighthouse</mark> is <mark>red</mark>") < 100
    assert len(marked(filler * 10, "")) <= EXCERPT


def test_an_excerpt_begins_with_the_line_of_the_first_word() -> None:
    text = "one line\n\n" * 40 + "first, then\n\na lamp\n\nafter"
    assert marked(text, "lamp") == "… a <mark>lamp</mark>\nafter"


def test_a_text_without_spaces_is_cut_too() -> None:
    assert marked("海" * 1000 + "灯塔" + "海" * 1000, "灯塔").startswith(
        "… " + "海" * 40 + "<mark>灯塔</mark>"
    )
