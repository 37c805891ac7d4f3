"""With a Chinese locale help, messages and titles are Chinese."""

import pytest

from memory_server import flags
from memory_server.cli import terminal
from memory_server.language.lines import wrapped
from memory_server.language.text import has_han, width
from tests.cli.conftest import HARBOUR, Terminal
from tests.test_catalogue import commands

CHINESE = "zh_CN.UTF-8"


@pytest.fixture
def chinese(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("LC_ALL", "LC_MESSAGES", "LANGUAGE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LANG", CHINESE)


def test_a_page_of_help_is_as_wide_as_the_screen(chinese: None) -> None:
    (search,) = (verb for verb in commands() if verb.name == "search")
    page = search.get_help(search.context_class(search, info_name="memory-server search", terminal_width=60))
    lines = page.splitlines()
    assert lines[:5] == [
        "用法：memory-server search [OPTIONS] QUERY...",
        "",
        "  按字词和语义查找记忆，最相关的在前。",
        "",
        "选项：",
    ]
    (limit,) = (line.split(maxsplit=3) for line in lines if "--limit" in line)
    assert limit == ["-n,", "--limit", "NUMBER", "最多返回的条数。默认：最可能的，至多"]
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
        return terminal.translated("No memories found.")
