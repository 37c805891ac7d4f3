"""The Chinese of what people read: each text that is shown has it, and nothing else is in the catalogue."""

import ast
import calendar
import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path

import click
import pytest

from memory_server.cli import refusals, terminal
from memory_server.cli.hints import WORDS, told
from memory_server.cli.program import VERBS, Verb, program
from memory_server.cli.terminal import TerminalClient
from memory_server.domain import secret_formats
from memory_server.domain.briefing.headings import Heading
from memory_server.domain.change import ChangeAction, Kind
from memory_server.domain.edge import Relation
from memory_server.domain.effect import Effect
from memory_server.domain.fact import Scope
from memory_server.domain.injection import Injected
from memory_server.domain.memory import MemoryType
from memory_server.domain.recall import Recallable
from memory_server.domain.timeline import Happened
from memory_server.domain.token import State
from memory_server.errors import Problem, Written
from memory_server.importing.formats import FORMATS
from memory_server.importing.places import PLACES
from memory_server.language import catalogue
from memory_server.language.text import has_han
from memory_server.settings import Settings
from memory_server.transfer import counts
from tests.conftest import ROOT
from tests.test_architecture import modules, strings

TEMPLATES = sorted((ROOT / "memory_server" / "web" / "templates").glob("*.html"))
WORD = re.compile(r"[A-Za-z]{2}")
PLACE = re.compile(r"\{(\w*)\}")
EXPLAINED = re.compile(r"([a-z_]+)（([^（）]+)）")
"""A name to type, and its Chinese."""

SAYS = {
    "answer": {"say", "note", "complain", "failed", "confirm", "fail", "translated", "filled"},
    "click": {"UsageError", "BadParameter", "echo", "prompt"},
    "demo": {"scene", "heading", "line"},
}
SHOWS = frozenset[str]().union(*SAYS.values())
"""Calls in rooms for people whose texts are shown."""

ERRORS = frozenset(
    """Invalid NotFound Conflict TriggerRejected Unavailable NotMade Undone Unreachable RefusedTexts Problem
    _again _undone""".split()
)
FOR_PEOPLE = ("cli/", "demo/", "front/command.py")
FOR_MODELS = ("mcp/", "engine/", "hook/", "call/")
"""Rooms whose errors no person reads."""

FULL_DEMO = "demo/full.py"
"""A log of calls and answers for developers, in English alone."""

OF_CLICK = {
    "Options",
    "Commands",
    "Show this message and exit.",
    "Show the version and exit.",
    "Option {} requires an argument.",
    "Option {} does not take a value.",
    "{} is not in the range {}.",
    "{} is not a valid float.",
}
ROLES = ("user", "assistant", "system")
OF_TRIGGERS = {
    *(f"it {does} {{}}" for does in ("runs", "may run", "touches", "reads")),
    *(f"{{}} in {role} message{excerpt}" for role in ROLES for excerpt in ("", ": {}")),
    *(f"the {role} message meets the condition: {{}}" for role in ("user", "assistant")),
    *(f"{some} message is similar to {{}} ({{}})" for some in ("a", "no")),
    *(f"it is {day}" for day in calendar.day_name),
    *calendar.day_name,
    *calendar.month_name,
    *(f"the month is {month}" for month in calendar.month_name),
    *(f"the {unit} is {{}}" for unit in ("time", "year", "day")),
    "{} keys found in total",
    "all found: {}",
    "not found: {}",
    "it has been told",
    "it is not due yet",
    "due since {}, {} {} {}, {}",
}
"""What `prelude.js` says of an act that a rule holds, and of the value of a trigger."""

OF_SETTINGS = {"{}: {}, got {}", "{} is needed for this re-ranker: an address such as http://localhost:8080."}
"""What `cli.guard` makes of a wrong value of a setting."""

OF_SYSTEM = {"file is not a database", "No such file or directory", "Is a directory", "Permission denied"}
"""What SQLite and the system say of a file."""


def texts_of(node: ast.expr) -> Iterator[str]:
    """Each text that an argument may be, an f-string with `{}` for its values."""
    match node:
        case ast.Constant(str(text)):
            yield text
        case ast.JoinedStr(values=parts):
            yield "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in parts)
        case ast.IfExp(body=body, orelse=other):
            yield from texts_of(body)
            yield from texts_of(other)
        case ast.BoolOp(values=values):
            for value in values:
                yield from texts_of(value)
        case ast.Starred(value=value):
            yield from texts_of(value)
        case ast.GeneratorExp(elt=element) | ast.ListComp(elt=element):
            yield from texts_of(element)


def shown(module: str, tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Each text of a module that a person can be shown, with its line."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        arguments: list[ast.expr] = []
        if name in SHOWS and module.startswith(FOR_PEOPLE):
            arguments = node.args[:1] if name in ("say", "confirm", "filled") else node.args
        elif (name in ERRORS and not module.startswith(FOR_MODELS)) or name == "Column":
            arguments = node.args[:1]
        elif name == "Refusal":
            arguments = node.args[1:2]
        elif name == "append" and ast.unparse(node.func).endswith("conflicts.append"):
            arguments = node.args
        elif name == "line" and module.startswith("web/"):
            arguments = node.args[1:2]
        elif name == "fields":
            arguments = [pair.elts[0] for pair in node.args if isinstance(pair, ast.Tuple)]
        for argument in arguments:
            yield from ((node.lineno, " ".join(text.split())) for text in texts_of(argument))


def is_covered(text: str) -> bool:
    """True for a text that becomes Chinese, whatever its values are."""
    if text in catalogue.entries():
        return True
    return "{}" in text and has_han(catalogue.chinese(text.replace("{}", "X")))


def test_each_text_that_a_person_is_shown_has_its_chinese() -> None:
    untranslated = [
        f"{module}:{line} {text}"
        for module, tree in modules()
        if module != FULL_DEMO
        for line, text in shown(module, tree)
        if WORD.search(PLACE.sub("", text)) and not is_covered(text)
    ]
    assert untranslated == []


def test_the_words_that_mend_a_failure_have_their_chinese() -> None:
    assert [words for words in WORDS.values() if words not in catalogue.entries()] == []


def commands() -> Iterator[Verb]:
    context = click.Context(program)
    for name in (name for verbs in VERBS.values() for name in verbs):
        command = program.get_command(context, name)
        for verb in (command, *getattr(command, "commands", {}).values()):
            if isinstance(verb, Verb):
                yield verb


def helps() -> set[str]:
    """The paragraphs and lines of all help."""
    texts = {field.description or "" for field in Settings.model_fields.values()}
    for verb in commands():
        texts.add(verb.get_short_help_str(200))
        texts.update(" ".join(paragraph.split()) for paragraph in (verb.help or "").split("\n\n"))
        options = [option for option in verb.params if isinstance(option, click.Option) and not option.hidden]
        texts.update(option.help or "" for option in options)
    return texts - {""}


def test_all_help_has_its_chinese() -> None:
    assert helps() - catalogue.entries().keys() == set()


def of_template(text: str) -> Iterator[str]:
    """Yield what a template shows, as far as it stands there."""
    yield from re.findall(r"(?<![\w.])t\('([^']+)'", text)
    for chosen in re.findall(r"t\(\{([^}]+)\}", text):
        yield from re.findall(r"'[^']+': '([^']+)'", chosen)
    yield from re.findall(r"(?<=[(,] )?\('[^']*', '/[^']*', '([^']+)'\)", text)


@cache
def of_templates() -> frozenset[str]:
    return frozenset(text for path in TEMPLATES for text in of_template(path.read_text(encoding="utf-8")))


def named() -> set[str]:
    """The names of kinds, which pages and commands show."""
    enums = (MemoryType, Relation, Recallable, Scope, ChangeAction, Kind, Injected, Happened, Effect, State)
    names = {str(name) for enum in enums for name in enum} | {heading.title for heading in Heading}
    names |= {"ready", "failing", "quarantined", "true", "false", "failed", "skipped", "unconfirmed"}
    names |= {f"{{number}} {unit} ago" for unit in ("y", "mo", "d", "h", "min")}
    names |= {*counts.KINDS.values(), *counts.WORDS.values()}
    names |= {form.title for form in FORMATS} - {"Markdown"}
    return names | {place[1] for place in PLACES}


def test_each_text_of_a_page_and_each_name_of_a_kind_has_its_chinese() -> None:
    assert (of_templates() | named()) - catalogue.entries().keys() == set()


def test_a_name_has_one_chinese_word_also_where_help_explains_it() -> None:
    explained = {pair for words in catalogue.entries().values() for pair in EXPLAINED.findall(words)}
    wrong = {(name, word) for name, word in explained if name in named() and catalogue.word(name) != word}
    assert wrong == set()
    assert {str(relation) for relation in Relation} <= {name for name, _ in explained}


def test_a_thing_has_one_chinese_word() -> None:
    """The last column of the words in docs/glossary.md, as far as they mean nothing else."""
    pages = [
        path.read_text(encoding="utf-8") for path in (ROOT / "README.zh-CN.md", ROOT / "docs/README.zh-CN.md")
    ]
    others = re.compile("唤醒|触发提示|提示词|来历|含义|抹除|经验|反驳|(?<!彻底)清除|(?<!对话)轮次")
    assert others.findall("\n".join((*catalogue.entries().values(), *pages))) == []


def secrets() -> set[str]:
    """The kinds of secrets that are refused."""
    formats = (*secret_formats._PREFIXED, *secret_formats._SHAPED)
    return {kind for kind, *_ in formats} | {"a key or token", "a password"}


def test_each_kind_of_secret_has_its_chinese() -> None:
    assert {kind for kind in secrets() if not has_han(catalogue.chinese(kind))} == set()


def parts(text: str) -> Iterator[str]:
    """Yield a text, and the paragraphs and beginnings of it that help shows alone."""
    for paragraph in text.split("\n\n"):
        plain = " ".join(paragraph.split())
        yield from (plain, plain.split(". ")[0] + ".", plain.split("; ")[0])
    yield text
    yield f"{{}} {text}"  # a noun that is counted


def of_code() -> set[str]:
    texts = set[str]()
    for _, tree in modules():
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.Module) and (text := ast.get_docstring(node)):
                texts.update(parts(text))
        for _, text in strings(tree):
            texts.update(parts(text))
    return texts


def test_nothing_is_in_the_catalogue_that_nothing_shows() -> None:
    used = (
        of_code() | named() | helps() | set(WORDS.values()) | OF_CLICK | OF_SETTINGS | OF_TRIGGERS | OF_SYSTEM
    )
    used |= {re.sub(r"^(an?) .+ (\w+)$", r"\1 {} \2", kind) for kind in secrets()}
    pages = "\n".join(path.read_text(encoding="utf-8") for path in TEMPLATES)
    assert {text for text in catalogue.entries().keys() - used if f"'{text}'" not in pages} == set()


def test_both_languages_have_the_same_places() -> None:
    for english, words in catalogue.entries().items():
        if "{}" in english:
            places = {place.rstrip("wl") for place in PLACE.findall(words)}
            assert places == {str(at) for at in range(english.count("{}"))}, english
        else:
            assert sorted(PLACE.findall(words)) == sorted(PLACE.findall(english)), english


def test_each_text_has_a_line_and_the_lines_are_in_order() -> None:
    """Two people who add texts meet in no line."""
    lines = Path(catalogue.FILE).read_text(encoding="utf-8").splitlines()
    assert len(lines) == len(catalogue.entries()) + 2
    assert list(catalogue.entries()) == sorted(catalogue.entries())


def test_a_value_of_the_person_stays_as_it_is() -> None:
    assert catalogue.chinese("m1 stored in project.") == "m1 已存入 project。"
    assert catalogue.chinese("The harbour opens at noon") == "The harbour opens at noon"


def test_a_value_that_is_a_word_or_a_sentence_of_ours_is_chinese_too() -> None:
    assert catalogue.chinese("No turn 7.") == "找不到对话轮次 t7。"
    assert catalogue.chinese("'x' is unknown. There are: a, b.") == "'x' 无法识别。可用的有：a、b。"


def places() -> set[str]:
    """Where a source is read, as refusals name it."""
    found = set[str]()
    for _, tree in modules():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Refusal":
                found.update(texts_of(node.args[0]))
    return {text.replace("{}", "7") for text in found if WORD.search(PLACE.sub("", text))}


def test_where_something_was_not_taken_over_is_said_in_chinese() -> None:
    with terminal.of(TerminalClient(services=None, folder=ROOT, language="zh")):  # type: ignore[arg-type]
        assert {place for place in places() if not has_han(refusals.refused(place, ""))} == set()
        assert refusals.refused("line 3 of session a b", "is no JSON: x") == "会话 a b 第 3 行：不是 JSON：x"
        assert refusals.failure("2026-03-14 Stop failed: LockedError: Nothing was changed.") == (
            "2026-03-14 Stop 失败：LockedError：未作改动。"
        )
    assert refusals.refused("line 3", "is no JSON") == "line 3: is no JSON"


def test_the_reasons_of_a_trigger_are_in_chinese() -> None:
    why = "'发布' in user message: 我们发布吧; it is Friday; not found: 'x'"
    assert catalogue.reasons(why) == "用户消息中有 '发布'：我们发布吧；今天是星期五；没有找到：'x'"
    assert catalogue.chinese("The trigger does not compile at line 1, column 31: x is not defined.") == (
        "触发器无法编译（第 1 行第 31 列）：x is not defined。"
    )
    due = "due since Friday, 27 November 2026, 09:00"
    assert catalogue.reasons(due) == "2026 年 11 月 27 日（星期五）09:00 起到时间"


def test_what_a_failed_write_has_left_is_said_in_chinese(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(terminal, "language", lambda: "zh")
    problem = Problem("The disk of a.db is full. Space must be freed.")
    text = "a.db 所在的磁盘已满，必须腾出空间。"
    left = {
        (Written.NOTHING, 0): "未写入。",
        (Written.PART, 1): "1 行已写入并保留。",
        (Written.UNFINISHED, 0): "副本仍未完成。",
        (Written.UNKNOWN, 0): "无法判断是否已写入。",
        (Written.UNKNOWN, 1200): "1,200 行已写入并保留。无法判断是否还写入了更多。",
    }
    for (written, rows), words in left.items():
        assert told(replace(problem, written=written, rows=rows)) == f"{text}{words}"


def test_values_stand_beside_chinese_as_chinese_is_typeset() -> None:
    assert catalogue.chinese("2 项 deleted.") == "2 项已删除。"
    assert catalogue.chinese("Nothing was stored since 2026-11-25.").startswith("没有存过 2026-11-25 ")
    assert catalogue.chinese("x.db cannot be read: file is not a database") == "无法读取 x.db：文件不是数据库"
