"""The dictionary of the user and the words to ignore: what a line may be, and what becomes of it in keywords."""

from pathlib import Path

import pytest

from memory_server.errors import Hint, Invalid, Mend
from memory_server.language.text import words
from memory_server.nlp.jieba import JiebaSegmenter
from memory_server.nlp.keywords import JiebaKeywords
from memory_server.nlp.user_words import MOST, NO_WORDS, UserWords, read

DICTIONARY = """
张小龙凤 100 nr
雲圖計劃
Claude Code 5 nz
Windows 11 5
小爱AI
Will
C++ 3

"""


@pytest.fixture(scope="module")
def user_words(tmp_path_factory: pytest.TempPathFactory) -> UserWords:
    folder = tmp_path_factory.mktemp("words")
    (folder / "user.txt").write_text("\ufeff" + DICTIONARY, encoding="utf-8")
    (folder / "ignored.txt").write_text("会议\nmeetings\nSprint Review\n", encoding="utf-8")
    return read(folder / "user.txt", folder / "ignored.txt")


@pytest.fixture(scope="module")
def cutter(user_words: UserWords, tmp_path_factory: pytest.TempPathFactory) -> JiebaSegmenter:
    return JiebaSegmenter(tmp_path_factory.mktemp("jieba"), user_words)


@pytest.fixture(scope="module")
def extractor(user_words: UserWords, cutter: JiebaSegmenter) -> JiebaKeywords:
    return JiebaKeywords(cutter, user_words)


def found(extractor: JiebaKeywords, text: str) -> set[str]:
    return {keyword.word for keyword in extractor.extract(text)}


def test_the_files_are_read_as_jieba_reads_them_in_one_spelling(user_words: UserWords) -> None:
    assert user_words.weights == {
        "张小龙凤": 100,
        "云图计划": None,
        "claude code": 5,
        "windows 11": 5,
        "小爱ai": None,
        "will": None,
        "c++": 3,
    }
    assert user_words.ignored == {"会议", "meetings", "sprint review"}
    assert read(None, None) == NO_WORDS


@pytest.mark.parametrize(
    "line",
    [
        "云图 五 nz",
        "云图\t5",
        "云图 1.5",
        "云图 5 NR",
        "云图 -5",
        "Foo 1.5",
        "Foo -5",
        "Foo 5 NR",
        "。。。",
        "x" * 101,
    ],
)
def test_a_line_that_is_no_word_is_named_with_what_mends_it(tmp_path: Path, line: str) -> None:
    path = tmp_path / "user.txt"
    path.write_text(f"云图 5\n\n{line}\n", encoding="utf-8")
    with pytest.raises(Invalid, match=r"^Line 3 of .*user.txt is no word") as error:
        read(path, None)
    assert error.value.problem.hints == (Hint(Mend.MEND_DICTIONARY),)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    path = tmp_path / "user.txt"
    with pytest.raises(Invalid, match=r"user.txt cannot be read \(No such file"):
        read(path, None)
    path.write_bytes("云图\n".encode() + "云图".encode("gbk") + b"\n")
    with pytest.raises(Invalid, match=r"Line 2 of .*user.txt is not UTF-8"):
        read(None, path)
    path.write_text("a\n" * (MOST + 1), encoding="utf-8")
    with pytest.raises(Invalid, match="more than 100,000"):
        read(path, None)


def test_names_are_cut_whole(cutter: JiebaSegmenter, segmenter: JiebaSegmenter) -> None:
    text = "张小龙凤负责雲圖計劃的发布"
    assert {"张小龙凤", "云图计划"} <= set(words(text, cutter.segment))
    assert {"张小龙凤", "云图计划"}.isdisjoint(words(text, segmenter.segment))


def test_names_are_keywords_in_both_languages(extractor: JiebaKeywords) -> None:
    keywords = found(
        extractor, "张小龙凤 uses Claude Code on Windows 11, and so does Will. 小爱AI 也参加。 C++!"
    )
    assert {"张小龙凤", "claude code", "windows 11", "will", "小爱ai", "c++"} <= keywords
    assert found(extractor, "claude  codes; Claude Codex; goodwill; misc++").isdisjoint(
        {"claude code", "will", "c++"}
    )


def test_ignored_words_are_no_keywords_in_any_form(
    extractor: JiebaKeywords, segmenter: JiebaSegmenter
) -> None:
    text = "The meeting about the harbour; two meetings. 会议讨论港口。"
    assert {"meet", "会议"} <= found(JiebaKeywords(segmenter), text)
    assert found(extractor, text).isdisjoint({"meet", "meeting", "meetings", "会议"})
    assert {"harbour", "港口"} <= found(extractor, text)


def test_without_files_nothing_changes(segmenter: JiebaSegmenter) -> None:
    text = "张小龙凤 uses Claude Code. 会议讨论港口。"
    assert JiebaKeywords(segmenter, NO_WORDS).extract(text) == JiebaKeywords(segmenter).extract(text)
