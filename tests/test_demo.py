"""The demo, one of the two commands of README: it runs once, and each scene must print the right answers."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from memory_server.demo import full
from memory_server.demo import story as played
from memory_server.demo.log import read
from memory_server.errors import Invalid
from memory_server.language.text import width
from tests.conftest import ROOT

pytestmark = pytest.mark.slow

Demo = Callable[..., "subprocess.CompletedProcess[str]"]
Scenes = dict[str, str]

ENOUGH = 0.8
"""The share of the log's questions that must find their answer among the first five; 36 of 39 did."""

needs_sqlite3 = pytest.mark.skipif(
    shutil.which("sqlite3") is None, reason="the stock sqlite3 program is missing"
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the demos of this file make their temporary files."""
    return tmp_path_factory.mktemp("demo")


@pytest.fixture(scope="module")
def run_demo(user_folders: dict[str, str], folder: Path) -> Demo:
    def run(
        *arguments: str | Path, LANG: str = "C.UTF-8", COLUMNS: str = "100"
    ) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [sys.executable, "-m", "memory_server", "demo", *map(str, arguments)],
            cwd=ROOT,
            env={
                **user_folders,
                "PYTHONPATH": str(ROOT),
                "TMPDIR": str(folder),
                "PATH": os.environ["PATH"],
                "LANG": LANG,
                "COLUMNS": COLUMNS,
            },
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=False,
        )

    return run


@pytest.fixture(scope="module")
def scenes(run_demo: Demo) -> Scenes:
    """What each scene printed, by its heading; spaces and line breaks are one space each."""
    done = run_demo("--full")
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr
    return dict(split(done.stdout))


@pytest.fixture(scope="module")
def printed(run_demo: Demo) -> str:
    """What the demo prints without an argument."""
    done = run_demo()
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def story(printed: str) -> Scenes:
    """What each scene of the story printed, by its first words; spaces and line breaks are one space each."""
    parts = [part.partition("\n") for part in printed.split("\n\n")]
    return {title.partition(":")[0]: " ".join(text.split()) for title, _, text in parts}


@pytest.mark.parametrize("language", ["C.UTF-8", "zh_CN.UTF-8"])
def test_the_story_fits_on_two_screens(run_demo: Demo, language: str, folder: Path) -> None:
    done = run_demo(LANG=language, COLUMNS="80")
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) <= 80
    assert max(map(width, lines)) <= 80
    assert list(folder.iterdir()) == []


def test_the_story_shows_what_one_would_want_tomorrow(story: Scenes) -> None:
    assert "Cursor stores The staging API runs on the host kelp! → merged into m" in story["Said twice"]
    assert "moved to host coral" in story["Changed"].partition(f"Cursor asks {played.STAGING}")[2]
    across = story["Stored in one language, asked in another"]
    assert "请不要安排会议。" in across
    assert "Flight to Rotterdam for the Kestrel workshop" in across
    assert story["Never stored"].endswith("→ Nothing stored answers this.")
    assert (
        "Current task: Move the refund job to the new queue."
        in story["A new session knows where the last one stopped"]
    )
    assert (
        "→ Reminder (when we talk about the Okafor order): Ask"
        in story["A reminder comes when its topic comes"]
    )
    assert "config.py:1 now reads `LEDGER_WORKERS = 12`" in story["A file changed since"]
    holding = story["A rule holds"]
    assert "HEAD:main → deny: Rule `never push to main` (it runs git push main)" in holding
    assert holding.endswith("fix/refunds → it runs")
    assert story["Taken back"].endswith(" is back")


def test_the_story_is_chinese_for_who_reads_chinese(run_demo: Demo) -> None:
    done = run_demo(LANG="zh_CN.UTF-8")
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr
    parts = {title: text for title, _, text in (part.partition("\n") for part in done.stdout.split("\n\n"))}
    assert "→ 已并入 m" in parts["说了两遍：只留一条"]
    changed = parts["情况变了：新的取代旧的"].partition("Cursor 提问")[2]
    assert "迁到了主机 coral" in changed
    assert parts["没存过：直说没有，不瞎猜"].endswith("→ 没有找到能回答这个问题的内容。")
    assert "Current task: 把退款任务迁到新队列。" in parts["新会话接着上次的进度"]
    assert "→ Reminder (聊到 Okafor 订单时): 问清交货日期" in parts["聊到了，提醒就来"]
    assert "config.py:1 now reads `LEDGER_WORKERS = 12`" in parts["文件后来改了：提到它的记忆会说明"]
    assert "→ 拒绝：规则 `" in parts["规则生效：禁止的事做不成，换个写法也不行"]
    assert parts["规则生效：禁止的事做不成，换个写法也不行"].endswith("→ 可以运行")


@needs_sqlite3
def test_the_story_ends_with_the_file_in_the_stock_program(story: Scenes) -> None:
    assert "The refund job runs with 8 workers" in scene(story, "   sqlite> SELECT")


def test_a_file_that_is_edited_is_told_with_the_memory_that_names_it(scenes: Scenes) -> None:
    scene = scenes["A file is edited: the memory that names it is told with what it says now"]
    assert "port 5433, `LEDGER_PORT` in config.py. (config.py:2 now reads `LEDGER_PORT = 6000`" in scene
    assert scene.count("now reads") == 1
    assert scene.count("port 6000, `LEDGER_PORT` in config.py.") == 2


def split(printed: str) -> Iterator[tuple[str, str]]:
    lines = printed.splitlines()
    starts = [number for number, (_, below) in enumerate(pairwise(lines)) if below.startswith("---")]
    for start, end in pairwise([*starts, len(lines)]):
        yield lines[start], " ".join(" ".join(lines[start + 2 : end]).split())


def scene(scenes: Scenes, beginning: str) -> str:
    (found,) = (text for heading, text in scenes.items() if heading.startswith(beginning))
    return found


def test_the_demo_runs_to_its_end_and_leaves_no_file(scenes: Scenes, folder: Path) -> None:
    assert list(scenes)[-1] == "Done"
    assert list(folder.iterdir()) == []


def test_every_memory_of_the_log_is_stored(scenes: Scenes) -> None:
    stored = re.match(r"(\d+) new, (\d+) merged, 0 refused", scene(scenes, "Store 130 memories"))
    assert stored is not None
    assert int(stored[1]) + int(stored[2]) == 130
    assert "Every memory has its embedding." in scene(scenes, "Store 130 memories")


def test_a_restatement_is_merged_and_a_contradiction_is_not(scenes: Scenes) -> None:
    assert "the widgets never call the HTTP client directly" in scene(scenes, "Merged")
    assert "Do not deploy on Fridays. #39 Deploy on Fridays." in scene(scenes, "Not merged")


def test_most_questions_find_their_answer(scenes: Scenes) -> None:
    table = scene(scenes, "Ask 39 questions").partition("found first")[2]
    results = re.findall(r"(\w+ question, \w+ memory|all) (\d+) \d+ (\d+)", table)
    assert len(results) == 5
    assert results[-1][:2] == ("all", "39")
    for languages, asked, found in results:
        assert int(found) >= ENOUGH * int(asked), languages


@needs_sqlite3
def test_the_stock_program_reads_the_file_of_a_running_server(scenes: Scenes) -> None:
    opened = scene(scenes, "Open the file")
    assert "The demo stored its log. related to Answer me in the language I write in" in opened
    assert re.search(r"bundled multilingual-e5-small-en-zh 384 active \d+ 0$", opened)


@needs_sqlite3
def test_a_row_edited_by_hand_is_found_by_words_and_by_meaning(scenes: Scenes) -> None:
    edited = scene(scenes, "Edit a row")
    for question in ("Where is the spare key?", "备用钥匙放在哪里？"):
        assert f"Q {question} A {full.EDITED}" in edited
    assert edited.endswith("integrity_check --------------- ok")


def test_a_memory_that_supersedes_another_is_the_first_answer(scenes: Scenes) -> None:
    before, _, after = scene(scenes, "Connect memories").partition("Q After:")
    assert f"A {full.DOOR['decision']}" in before.partition("Q Before:")[2].partition("score")[0]
    assert f"A {full.DOOR['learning']}" in after.partition("score")[0]
    assert "superseded by #" in after


def test_exploring_finds_every_edge_that_was_made(scenes: Scenes) -> None:
    explored = scene(scenes, "Connect memories").partition("graph_explore")[2]
    printed = re.findall(r"#\d+ (\w+) #\d+: (.{40})", explored)
    wanted = [(relation, full.DOOR[target][:40]) for _, relation, target in full.EDGES]
    assert sorted(printed) == sorted(wanted)


def test_a_question_finds_earlier_messages_but_not_those_of_the_last_minutes(scenes: Scenes) -> None:
    found, _, left_out = scene(scenes, "Short-term memories").partition("too_recent: ")
    related = found.partition("flashback")[0]
    for _, role, content in full.SAID[:2]:
        assert f"{role}: {content} shares" in related
    assert left_out.startswith("1 ")


def test_memories_are_returned_whose_trigger_is_true(scenes: Scenes) -> None:
    printed = scene(scenes, "Long-term memories")
    found = printed.partition("search_long_term_memories")[2]
    prompts = {name: prompt for name, (prompt, _) in full.LONG_TERM.items()}
    returned = [name for name, prompt in prompts.items() if f"{name}: {prompt}" in found]
    assert returned == ["妈妈的生日", "Slow down"]
    assert "errors: 0, skipped: 0" in found
    assert "True: the month is July; the day is 17" in found
    assert printed.count("refused: ") == 1
    assert "refused: The trigger returns no value: it takes too long." in printed


def test_the_next_session_continues_and_projects_share_only_what_is_shared(scenes: Scenes) -> None:
    printed = scene(scenes, "A session ends")
    assert f"Current task: {full.FACTS['current.task']} (by Claude)." in printed
    assert (
        '{"query": "退款一批多少个？"} Refunds go out in batches of 20; support hears of it on Monday.'
        in printed
    )
    assert (
        '{"key": "shared.bank.sandbox"} The bank\'s sandbox sleeps from 22:00 to 06:00 UTC. '
        '> read_memory {"key": "project.database.port"} nothing found' in printed
    )


def test_a_log_of_ones_own_is_played_and_a_refused_line_is_named(run_demo: Demo, tmp_path: Path) -> None:
    log = tmp_path / "own.jsonl"
    log.write_text(
        '{"content": "The cat sleeps in the piano.", "type": "observation"}\n\n'
        '{"content": "The cat is grey.", "type": "observation", "purge": "rumour"}\n'
        '{"ask": "Where does the cat sleep?", "expect": "piano"}\n',
        encoding="utf-8",
    )
    done = run_demo(log)
    printed = dict(split(done.stdout))
    assert done.returncode == 1
    assert "A The cat sleeps in the piano." in scene(printed, "Ask 1 question")
    assert f"{log.name}, line 3, was refused: " in scene(printed, "Failed")
    assert "rumour" in scene(printed, "Failed")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "holds no memories"),
        ('{"ask": "Is it a log without memories?"}', "holds no memories"),
        ('{"content": "a", "type": "decision"}\n{', "line 2, is not JSON"),
        ("[]", "line 1, is not a JSON object"),
        ("\udcff", "cannot be read"),
    ],
)
def test_a_log_that_cannot_be_used_is_refused(tmp_path: Path, text: str, message: str) -> None:
    log = tmp_path / "log.jsonl"
    log.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(Invalid, match=message):
        read(log)


def test_a_missing_log_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Invalid, match="cannot be read"):
        read(tmp_path / "none.jsonl")
