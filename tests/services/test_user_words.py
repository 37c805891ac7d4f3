"""The words of the user in what was said before they were written down, and in a second window."""

import itertools
import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from memory_server.domain.caller import Caller
from memory_server.domain.message import Message
from memory_server.domain.short_term import messages_of, snapshot
from memory_server.nlp.jieba import JiebaSegmenter
from memory_server.nlp.keywords import JiebaKeywords
from memory_server.nlp.user_words import NO_WORDS, UserWords
from memory_server.services import user_words
from memory_server.services.short_term import ShortTermService
from memory_server.services.user_words import UserWordsService
from memory_server.sqlite.database import Database

CALLER = Caller("Claude", "s1")
SAID = "张小龙凤负责云图计划的发布会议"
NAMES = UserWords({"张小龙凤": None, "云图计划": None, "claude code": None})


class Window:
    """What one process keeps and finds, with its words."""

    def __init__(self, database: Database, cache: Path, words: UserWords) -> None:
        self.database = database
        extractor = JiebaKeywords(JiebaSegmenter(cache, words), words)
        self.service = ShortTermService(database, extractor, random.Random(7).random)
        self.own = UserWordsService(database, extractor, words, extractor.ignored)

    def say(self, *texts: str, role: str = "user") -> None:
        self.service.add([Message(role, text) for text in texts], "here", {}, CALLER)

    def keywords(self) -> list[dict[str, float]]:
        with self.database.read() as tx:
            rows = tx.statements.rows(
                "SELECT memory_id, word, weight FROM short_term_keywords ORDER BY memory_id, word"
            )
        by_memory: dict[int, dict[str, float]] = {}
        for id, word, weight in rows:
            by_memory.setdefault(id, {})[word] = weight
        return list(by_memory.values())


Open = Callable[[UserWords], Window]


@pytest.fixture
def window(database: Database, tmp_path: Path, segmenter: JiebaSegmenter) -> Open:
    """Opens a window. Each has a dictionary in memory of its own, from the same cache."""
    segmenter.load()
    numbers = itertools.count()

    def opened(words: UserWords) -> Window:
        cache = tmp_path / f"jieba{next(numbers)}"
        shutil.copytree(segmenter._cache, cache)
        return Window(database, cache, words)

    return opened


def test_what_was_said_before_gets_the_keywords_that_it_would_get_now(window: Open) -> None:
    before, now = window(NO_WORDS), window(NAMES)
    before.say(SAID, "We use Claude Code.")
    before.say("港口中午开放", role="assistant")
    now.say(SAID, "We use Claude Code.")
    old, other, new = now.keywords()
    assert set(NAMES.weights).isdisjoint(old)
    now.own.take_in()
    assert now.keywords() == [new, other, new]
    assert set(NAMES.weights) <= set(new)


def test_nothing_is_written_twice(window: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    now = window(NAMES)
    window(NO_WORDS).say(SAID)
    now.own.take_in()
    monkeypatch.setattr(type(now.database), "write", lambda *_: pytest.fail("it wrote again"))
    now.own.take_in()
    window(UserWords({"港口": None})).own.take_in()


def test_a_word_that_is_still_none_of_the_heaviest_is_left(
    window: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    common = window(UserWords({"it": None}))
    window(NO_WORDS).say(" ".join(f"word{number}" for number in range(200)) + " it")
    before = common.keywords()
    monkeypatch.setattr(type(common.database), "write", lambda *_: pytest.fail("nothing is better now"))
    common.own.take_in()
    assert common.keywords() == before


def test_every_page_is_looked_through(window: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(user_words, "PAGE", 2)
    before, now = window(NO_WORDS), window(NAMES)
    for number in range(5):
        before.say(f"{SAID} {number}")
    now.own.take_in()
    assert all("云图计划" in words for words in now.keywords())


def test_ignored_words_leave_the_keywords_in_each_form(window: Open) -> None:
    window(NO_WORDS).say("The meeting about the harbour. 港口会议")
    (before,) = window(NO_WORDS).keywords()
    window(UserWords(ignored=frozenset({"meetings", "会议"}))).own.take_in()
    (after,) = window(NO_WORDS).keywords()
    assert set(before) - set(after) == {"meet", "会议"}
    assert {"harbour", "港口"} <= set(after)


def test_of_two_windows_the_one_that_started_last_decides(window: Open) -> None:
    one, two = window(UserWords({"张小龙凤": None})), window(UserWords({"云图计划": None}))
    window(NO_WORDS).say(SAID)
    one.own.take_in()
    two.own.take_in()
    (words,) = one.keywords()
    assert ("云图计划" in words, "张小龙凤" in words) == (True, False)


def test_a_search_finds_a_name_that_was_said_before_the_dictionary(window: Open) -> None:
    window(NO_WORDS).say("云图计划定在周五")
    now = window(NAMES)
    now.own.take_in()
    with now.database.write() as tx:
        tx.statements.send("UPDATE main.short_term_memories SET said_at = '2020-01-01T00:00:00.000Z'")
    (recalled,) = now.service.search([Message("user", "云图计划")], "here", {}, CALLER).memories
    assert "云图计划" in recalled.words


@pytest.mark.parametrize(
    "messages",
    [
        [Message("user", "one"), Message("assistant", "two\nlines: of it"), Message("system", "三")],
        [Message("user", "user: is no role inside\nuser: either")],
    ],
)
def test_the_messages_of_a_snapshot_are_those_that_were_said(messages: list[Message]) -> None:
    assert messages_of(snapshot(messages)) == messages


def test_a_text_without_roles_is_the_users() -> None:
    assert messages_of("The code of the door: 7\nuser: ok") == [
        Message("user", "The code of the door: 7"),
        Message("user", "ok"),
    ]
