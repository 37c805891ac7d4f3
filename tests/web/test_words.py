"""No text of a page stands there in one language alone; `tests/test_catalogue.py` says that each has its Chinese."""

import re
from pathlib import Path

import pytest

from tests.test_catalogue import TEMPLATES

STATIC = re.compile(r">[^<{}%]*(?<![\w/])[A-Za-z]{3}[^<{}%]*<")
COMMANDS = re.compile(r"<code>.*?</code>|<(script|style|kbd|title)\b.*?</\1>|<!.*?>", re.DOTALL)


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.stem)
def test_no_text_of_a_template_stands_there_in_one_language_only(path: Path) -> None:
    plain = re.sub(
        r"\{[%{#].*?[%}#]\}", "", COMMANDS.sub("", path.read_text(encoding="utf-8")), flags=re.DOTALL
    )
    assert STATIC.findall(plain) == []
