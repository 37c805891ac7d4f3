"""Every text of the pages is there in both languages."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from memory_server.domain.briefing.choice import TITLES
from memory_server.domain.change import ChangeAction, Kind
from memory_server.domain.edge import Relation
from memory_server.domain.fact import Scope
from memory_server.domain.injection import Injected
from memory_server.domain.memory import MemoryType
from memory_server.domain.recall import Recallable
from memory_server.domain.timeline import Happened
from memory_server.web.words import CHINESE
from tests.conftest import ROOT

TEMPLATES = sorted((ROOT / "memory_server" / "web" / "templates").glob("*.html"))
GIVEN = re.compile(r"(?<![\w.])t\('([^']+)'")
CHOSEN = re.compile(r"t\(\{([^}]+)\}")
STATIC = re.compile(r">[^<{}%]*(?<![\w/])[A-Za-z]{3}[^<{}%]*<")
NAMED = re.compile(r"(?<=[(,] )?\('[^']*', '/[^']*', '([^']+)'\)")
COMMANDS = re.compile(r"<code>.*?</code>|<(script|style|kbd|title)\b.*?</\1>|<!.*?>", re.DOTALL)
PLACES = re.compile(r"\{\w+\}")


def used(text: str) -> Iterator[str]:
    """What a template shows, as far as it stands there."""
    yield from GIVEN.findall(text)
    for chosen in CHOSEN.findall(text):
        yield from re.findall(r"'[^']+': '([^']+)'", chosen)
    yield from NAMED.findall(text)


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.stem)
def test_each_text_of_a_template_has_its_chinese(path: Path) -> None:
    assert [each for each in used(path.read_text(encoding="utf-8")) if each not in CHINESE] == []


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.stem)
def test_no_text_of_a_template_stands_there_in_one_language_only(path: Path) -> None:
    plain = re.sub(
        r"\{[%{#].*?[%}#]\}", "", COMMANDS.sub("", path.read_text(encoding="utf-8")), flags=re.DOTALL
    )
    assert STATIC.findall(plain) == []


def test_each_name_of_a_kind_has_its_chinese() -> None:
    names = [
        *MemoryType,
        *Relation,
        *Recallable,
        *Scope,
        *ChangeAction,
        *Kind,
        *Injected,
        *Happened,
        *TITLES.values(),
    ]
    names += ["ready", "failing", "quarantined", "true", "false", "failed", "skipped"]
    names += [f"{{number}} {unit} ago" for unit in ("y", "mo", "d", "h", "min")]
    assert [str(each) for each in names if str(each) not in CHINESE] == []


def test_both_languages_have_the_same_places() -> None:
    odd = [one for one, other in CHINESE.items() if set(PLACES.findall(one)) != set(PLACES.findall(other))]
    assert odd == []
    assert all(CHINESE.values())
