"""With a Chinese locale help, messages and titles are Chinese."""

from pathlib import Path

import pytest

from memory_server import flags
from memory_server.cli import terminal
from memory_server.cli.recall import in_chinese
from memory_server.domain import rules
from memory_server.language import catalogue
from memory_server.language.lines import wrapped
from memory_server.language.text import has_han, width
from memory_server.transfer import counts
from tests.cli.conftest import HARBOUR, RELEASE, Terminal
from tests.test_catalogue import commands

CHINESE = "zh_CN.UTF-8"


@pytest.fixture
def chinese(monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_a_failure_names_what_is_missing_in_quotes_and_where_to_look(terminal: Terminal) -> None:
    terminal("add", HARBOUR)
    lost = terminal("import", "没有.json", code=1, LANG=CHINESE).err
    assert lost == "memory-server：找不到文件或文件夹“没有.json”，请检查路径。\n"
    assert "“没有.db”不存在，未恢复。" in terminal("restore", "没有.db", code=1, LANG=CHINESE).err
    unknown = terminal("show", "w:没有", code=1, LANG=CHINESE).err
    assert unknown.startswith("memory-server：项目 `ledger` 中没有长期记忆 `没有`。它还没有长期记忆。")
    assert terminal("fact", "导师.邮箱", "x", LANG=CHINESE).out.startswith("已写入“导师.邮箱”：项目 ")
    assert terminal("export", "all.jsonl", LANG=CHINESE).err.startswith("已导出到 all.jsonl：记忆 1、")


def test_a_line_is_broken_between_letters_and_begins_with_no_comma() -> None:
    assert wrapped("按字词和语义查找记忆，最相关的在前。", 20) == ["按字词和语义查找记", "忆，最相关的在前。"]
    assert wrapped("用 memory-server list 列出。", 16) == ["用 memory-server", "list 列出。"]
    assert wrapped("decision（决定）、error（错误）", 10) == ["decision", "（决定）、", "error（错", "误）"]


def test_messages_titles_and_errors_are_chinese_and_json_is_not(terminal: Terminal) -> None:
    assert terminal("add", HARBOUR, LANG=CHINESE).out == "m1 已存入 ledger。\n"
    assert terminal("forget", "1", LANG=CHINESE).out == "m1 已删除。\n"
    assert terminal("undo", "--last", "1", "--yes", LANG=CHINESE).err == "已撤销 1 项更改。\n"
    assert terminal("serch", code=2, LANG=CHINESE).err.splitlines()[-1] == (
        "memory-server：没有命令 'serch'。您是否想输入 `search`？"
    )
    assert terminal("show", "99", code=1, LANG=CHINESE).err.endswith(
        "编号可用 `memory-server list` 或 `memory-server search` 查看。\n"
    )
    dates = terminal("list", "--since", "2026-13-01", code=2, LANG=CHINESE).err.splitlines()[-1]
    assert "'2026-03-14 09:26'、昨天、上周、11月3日或 7d" in dates
    assert terminal("list", "--json", LANG=CHINESE).json == terminal("list", "--json").json


def test_what_is_refused_is_chinese_with_its_reason(terminal: Terminal) -> None:
    def refused(*words: str, code: int = 2) -> str:
        return terminal(*words, code=code, LANG=CHINESE).err.splitlines()[-1]

    assert refused("add", "") == "memory-server：内容：不能为空。"
    token = "ghp_" + "a1B2c3D4e5F6" * 3
    assert "内容疑似含有 GitHub 令牌，" in refused("add", f"token {token}", code=1)
    terminal("add", HARBOUR)
    terminal("add", RELEASE)
    terminal("forget", "2")
    assert refused("forget", "99", code=1).startswith("memory-server：找不到记忆 m99。编号可用 `memory")
    assert "请加 --yes，或写出更改的编号。" in refused("undo")
    assert refused("undo", "c99", code=1).startswith("memory-server：找不到更改 c99，或它已无法撤销。")
    wrong = terminal("list", "--time-zone", "Mars/Base", code=2, LANG=CHINESE).err
    assert wrong == "memory-server：--time-zone：'Mars/Base' 不对，须为时区名，例如 Asia/Shanghai。\n"
    assert "'昨天' 按 " in terminal("list", "--since", "昨天", LANG=CHINESE).err


def test_remarks_and_columns_are_chinese(terminal: Terminal) -> None:
    terminal("add", HARBOUR)
    terminal("add", "The harbour opens at one", "--supersedes", "1")
    assert "（已被 m2 取代）The harbour" in terminal("search", "harbour", LANG=CHINESE).out
    assert f"  取代 m1：{HARBOUR}\n" in terminal("show", "2", LANG=CHINESE).out
    assert "  m2 取代这条：The harbour" in terminal("show", "1", LANG=CHINESE).out
    assert terminal("connect", "1", "solves", "2", LANG=CHINESE).out == "已建立关联：m1 解决 m2。\n"
    assert {row[3] for row in terminal("log", LANG=CHINESE).rows} >= {"存入"}
    terminal("forget", "1")
    assert "（m1 已删除。`memory-server undo d" in terminal("forget", "1", "--dry-run", LANG=CHINESE).out


def test_types_relations_and_scopes_have_chinese_names(terminal: Terminal) -> None:
    terminal("add", HARBOUR, "--type", "决定")
    terminal("add", RELEASE)
    assert terminal("connect", "1", "取代", "2").out == "m1 supersedes m2: connected.\n"
    terminal("fact", "editor", "vim", "--scope", "全局")
    assert [row[2] for row in terminal("list", LANG=CHINESE).rows] == ["观察", "决定"]
    assert terminal("list", "--type", "决定").rows[0][2] == "decision"
    assert terminal("show", "1", LANG=CHINESE).out.startswith("m1  决定\n")
    assert "\n状态    已被 m1 取代\n" in terminal("show", "2", LANG=CHINESE).out
    assert terminal("show", "f:editor", LANG=CHINESE).out.startswith("editor  全局\n")
    assert "  决定" in terminal("stats", LANG=CHINESE).out
    assert [row[0] for row in terminal("facts", "--scope", "全局", LANG=CHINESE).rows] == ["全局"]
    wrong = terminal("list", "--type", "决策", code=2, LANG=CHINESE).err
    assert "--type：'决策' 无法识别。可用的有：observation（观察）、decision（决定）、" in wrong
    assert terminal("connect", "-h", LANG=CHINESE).out.count("supersedes（取代）") == 2


def test_the_marks_of_an_answer_are_chinese_and_the_texts_stay(terminal: Terminal) -> None:
    texts = ["The shop is deployed · contradicts the poster", "The shop is deployed on Thursdays"]
    for text in texts:
        terminal("add", text)
    terminal("connect", "1", "contradicts", "2")
    lines = terminal("recall", "When is the shop deployed?", LANG=CHINESE).out.splitlines()
    assert {line.split(": ", 1)[1] for line in lines} == {
        f"{texts[0]} [m1 · 与 m2 矛盾]",
        f"{texts[1]} [m2 · 与 m1 矛盾]",
    }


@pytest.mark.parametrize(
    ("english", "chinese"),
    [
        ("[m1 · from the user · m2 may replace it]", "[m1 · 用户说的 · 可能已被 m2 取代]"),
        (
            "[m1 · from web evil.example · may replace f a.key]",
            "[m1 · 来自 web evil.example · 可能取代 f a.key]",
        ),
    ],
)
def test_an_origin_and_what_replaces_a_text_are_chinese(english: str, chinese: str) -> None:
    text = "2026-01-02: [m9 · from the user] said so"
    assert in_chinese(f"{text} {english}\n{text} {english}") == f"{text} {chinese}\n{text} {chinese}"


def test_the_counts_of_an_import_are_chinese(terminal: Terminal, ledger: Path) -> None:
    (ledger / "notes.jsonl").write_text('{"content": "The quay is closed in May.", "type": "decision"}\n')
    assert "记忆：新增 1\n" in terminal("import", "notes.jsonl", LANG=CHINESE).out
    assert "notes.jsonl：记忆：新增 1" in terminal("log", LANG=CHINESE).out
    terminal("undo", "i1")
    (imported,) = (row for row in terminal("log", LANG=CHINESE).rows if row[4] == "i1")
    assert imported[3] == "导入（已撤销）"


def test_the_counts_of_several_kinds_are_chinese() -> None:
    assert counts.in_chinese(
        "jsonl notes: memories: added 1,200, left out: secrets 1; edges: ended 3 (undone)"
    ) == ("jsonl notes：记忆：新增 1,200、略去：密钥 1；关联：已结束 3（已撤销）")


def test_the_condition_of_a_rule_is_chinese() -> None:
    words = rules.in_words(["runs(act, 'git push main', 'git push master')", "touches(act, 'migrations/**')"])
    assert catalogue.condition(words) == (
        "运行 `git push main` 或 `git push master` 的命令；或写入、移动或删除 `migrations/**` 的操作"
    )
    assert catalogue.chinese("Rule `x` (it runs git push main)") == "规则 `x`（会运行 git push main）"
    assert catalogue.chinese("Rule `x` (it runs git push main): no") == "规则 `x`（会运行 git push main）：no"


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


def test_the_name_that_a_person_gave_a_rule_is_not_translated() -> None:
    """README types this one."""
    words = rules.in_words(["runs(act, 'git push main')"])
    assert catalogue.chinese(f"Rule `never push to main` (it runs git push main): {words}").startswith(
        "规则 `never push to main`（"
    )
