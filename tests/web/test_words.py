"""No text of a page stands there in one language alone; `tests/test_catalogue.py` says that each has its Chinese."""

import re
from pathlib import Path

import pytest

from memory_server.web.view import counted, heading
from tests.test_catalogue import TEMPLATES

STATIC = re.compile(r">[^<{}%]*(?<![\w/])[A-Za-z]{3}[^<{}%]*<")
COMMANDS = re.compile(r"<code>.*?</code>|<(script|style|kbd|title)\b.*?</\1>|<!.*?>", re.DOTALL)


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.stem)
def test_no_text_of_a_template_stands_there_in_one_language_only(path: Path) -> None:
    plain = re.sub(
        r"\{[%{#].*?[%}#]\}", "", COMMANDS.sub("", path.read_text(encoding="utf-8")), flags=re.DOTALL
    )
    assert STATIC.findall(plain) == []


def test_a_1_has_the_singular() -> None:
    assert counted("1 texts, 1 memories, 11 edges and 21 days") == "1 text, 1 memory, 11 edges and 21 days"
    assert counted("its text and 1 earlier texts") == "its text and 1 earlier text"
    assert counted("-1 days, 2.1 tokens, 1 dogs") == "-1 days, 2.1 tokens, 1 dogs"
    assert heading("questions without an answer", 1) == "question without an answer"
    assert heading("questions without an answer", 2) == "questions without an answer"
    assert heading("记忆", 1) == "记忆"
