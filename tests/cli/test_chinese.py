"""With a Chinese locale help, messages and titles are Chinese, from one catalogue of what the code says."""

import ast
import json
import re
from collections.abc import Iterator
from functools import cache

import click
import pytest

from memory_server import flags
from memory_server.cli import catalogue, terminal
from memory_server.cli.grid import wrapped
from memory_server.cli.program import VERBS, Verb, program
from memory_server.language.text import has_han, width
from memory_server.settings import Settings
from tests.cli.conftest import HARBOUR, Terminal
from tests.test_architecture import modules, strings

CHINESE = "zh_CN.UTF-8"
OF_CLICK = {"Options", "Commands", "Show this message and exit.", "Show the version and exit."}
STALE, UNTRANSLATED = 10, 20
"""Texts that wait for the next look at the catalogue, at most: those that were changed, and those that are new."""

CATALOGUE: dict[str, str] = json.loads(catalogue.FILE.read_text(encoding="utf-8"))


@pytest.fixture
def chinese(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("LC_ALL", "LC_MESSAGES", "LANGUAGE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LANG", CHINESE)


@cache
def texts() -> frozenset[str]:
    """The texts of the code, paragraph by paragraph, and of each paragraph the first sentence."""
    written = set[str]()
    for _, tree in modules():
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.Module) and (text := ast.get_docstring(node)):
                written.update(parts(text))
        for _, text in strings(tree):
            written.update(parts(text))
    return frozenset(written)


def parts(text: str) -> Iterator[str]:
    for paragraph in text.split("\n\n"):
        plain = " ".join(paragraph.split())
        yield from (plain, plain.split(". ")[0] + ".", plain.split("; ")[0])
    yield text
    yield f"{{}} {text}"  # a noun that is counted


def test_every_entry_is_a_text_of_the_code() -> None:
    stale = [text for text in CATALOGUE if text not in texts() | OF_CLICK]
    assert len(stale) <= STALE, stale


def test_every_entry_has_the_values_of_the_english() -> None:
    for english, words in CATALOGUE.items():
        if "{}" in english:
            assert set(re.findall(r"\{(\d*)\}", words)) == {str(at) for at in range(english.count("{}"))}, (
                english
            )
        else:
            assert sorted(re.findall(r"\{\w+\}", words)) == sorted(re.findall(r"\{\w+\}", english)), english
        assert has_han(words), words


def commands() -> Iterator[Verb]:
    context = click.Context(program)
    for name in (name for verbs in VERBS.values() for name in verbs):
        command = program.get_command(context, name)
        yield from (
            each for each in (command, *getattr(command, "commands", {}).values()) if isinstance(each, Verb)
        )


def test_all_help_of_commands_is_in_the_catalogue() -> None:
    texts = set[str]()
    for verb in commands():
        texts.add(verb.get_short_help_str(200))
        texts.update(" ".join(paragraph.split()) for paragraph in (verb.help or "").split("\n\n"))
        options = [option for option in verb.params if isinstance(option, click.Option) and not option.hidden]
        texts.update(option.help or "" for option in options)
    texts.update(field.description or "" for field in Settings.model_fields.values())
    untranslated = texts - {""} - CATALOGUE.keys()
    assert len(untranslated) <= UNTRANSLATED, untranslated


def test_a_page_of_help_is_as_wide_as_the_screen(chinese: None) -> None:
    (search,) = (verb for verb in commands() if verb.name == "search")
    page = search.get_help(search.context_class(search, info_name="memory-server search", terminal_width=60))
    lines = page.splitlines()
    assert lines[:5] == [
        "用法： memory-server search [OPTIONS] QUERY...",
        "",
        "  按字词和语义查找记忆，最相关的在前。",
        "",
        "选项：",
    ]
    (limit,) = (line.split(maxsplit=3) for line in lines if "--limit" in line)
    assert limit == ["-n,", "--limit", "NUMBER", "最多返回的条数。默认：最可"]
    assert max(width(line) for line in lines if has_han(line)) <= 60


def test_a_line_is_broken_between_letters_and_begins_with_no_comma() -> None:
    assert wrapped("按字词和语义查找记忆，最相关的在前。", 20) == ["按字词和语义查找记", "忆，最相关的在前。"]
    assert wrapped("用 memory-server list 列出。", 16) == ["用 memory-server", "list 列出。"]


def test_messages_titles_and_errors_are_chinese_and_json_is_not(terminal: Terminal) -> None:
    assert terminal("add", HARBOUR, LANG=CHINESE).out == "m1 已存入 ledger。\n"
    assert terminal("forget", "1", LANG=CHINESE).out == "m1 已删除。\n"
    assert terminal("undo", "--last", "1", "--yes", LANG=CHINESE).err == "已撤销 1 项更改。\n"
    assert terminal("serch", code=2, LANG=CHINESE).err.splitlines()[-1] == (
        "memory-server: 未知命令 'serch'。您是否想输入 `search`？"
    )
    assert terminal("show", "99", code=1, LANG=CHINESE).err.endswith(
        "`memory-server list` 和 `memory-server search` 显示编号。\n"
    )
    assert terminal("list", "--json", LANG=CHINESE).json == terminal("list", "--json").json


@pytest.mark.parametrize(
    ("environment", "language"),
    [
        ({"LANG": "zh_CN.UTF-8"}, "zh"),
        ({"LANG": "de_DE.UTF-8", "LANGUAGE": "zh_CN:en"}, "zh"),
        ({"LANG": "zh_CN.UTF-8", "LC_ALL": "C.UTF-8"}, "en"),
        ({"LANG": "C", "LANGUAGE": "zh"}, "en"),
        ({}, "en"),
    ],
)
def test_the_language_is_that_of_other_programs(environment: dict[str, str], language: str) -> None:
    assert flags.language(environment) == language


def test_a_command_in_an_engine_speaks_the_language_of_its_client() -> None:
    assert terminal_language("zh") == "没有找到记忆。"
    assert terminal_language("en") == "No memories found."


def terminal_language(language: str) -> str:
    client = terminal.TerminalClient(None, None, language=language)  # type: ignore[arg-type]
    with terminal.of(client):
        return catalogue.translated("No memories found.")
