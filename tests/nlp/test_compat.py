"""The parts of jieba that its documentation does not promise are as they were when they were checked."""

from importlib.metadata import version
from pathlib import Path
from statistics import median

from memory_server.nlp.compat import idf_table, load_tokenizer
from memory_server.nlp.keywords import MEDIAN_IDF

CHECKED = "0.42.1"


def test_jieba_is_the_version_that_was_checked() -> None:
    assert version("jieba") == CHECKED


def test_the_tokenizer_keeps_its_cache_in_the_given_folder(tmp_path: Path) -> None:
    tokenizer = load_tokenizer(tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == ["jieba.cache"]
    assert list(tokenizer.cut("我喜欢喝茶")) == ["我", "喜欢", "喝茶"]


def test_the_table_of_frequencies_has_the_median_that_unknown_words_get() -> None:
    table = idf_table()
    assert len(table) > 250_000
    assert round(sorted(table.values())[len(table) // 2], 10) == MEDIAN_IDF
    assert round(median(table.values()), 2) == round(MEDIAN_IDF, 2)
