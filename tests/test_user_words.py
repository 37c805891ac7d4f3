"""The whole server with words of the user: new and old talk, the doctor, a wrong line, and another file."""

import os
import subprocess
from pathlib import Path

import pytest

from memory_server.front import finding
from tests.conftest import Servers, Sqlite, call, eventually

SAID = [{"role": "user", "content": "张小龙凤负责云图计划, and Claude Code helps. 会议在港口。"}]
NAMES = {"张小龙凤", "云图计划", "claude code"}


def flags(server: Servers, dictionary: str = "张小龙凤 100 nr\n云图计划\nClaude Code\n") -> list[str]:
    (server.folder / "user.txt").write_text(dictionary, encoding="utf-8")
    (server.folder / "ignored.txt").write_text("会议\n", encoding="utf-8")
    return ["--dictionary", "user.txt", "--stop-words", str(server.folder / "ignored.txt")]


def run(server: Servers, *arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        server.program(*arguments),
        env={**os.environ, **server.env},
        cwd=server.folder,
        input="",
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.anyio
async def test_names_are_keywords_of_new_and_old_talk_and_the_doctor_counts_them(
    server: Servers, sqlite: Sqlite
) -> None:
    async with server() as client:
        old = await call(client, "add_short_term_memory", messages=SAID, conversation_id="a")
        assert NAMES.isdisjoint(old["keywords"])
        assert "会议" in old["keywords"]
    given = flags(server)
    before = {path.name: path.read_bytes() for path in server.folder.glob("*.txt")}
    async with server(*given) as client:
        new = await call(client, "add_short_term_memory", messages=SAID, conversation_id="a")
        assert set(new["keywords"]) >= NAMES

        async def taken_in() -> bool:
            rows = sqlite(server.db, "SELECT memory_id, word FROM short_term_keywords ORDER BY 2").split()
            words = [{row.split("|")[-1] for row in rows if row.startswith(f"{id}|")} for id in (1, 2)]
            return words[0] == words[1] and "会议" not in words[0]

        await eventually(taken_in, "the old talk is cut anew")
    done = run(server, *given, "doctor")
    assert "words       3 in the dictionary, 1 ignored" in done.stdout
    assert before == {path.name: path.read_bytes() for path in server.folder.glob("*.txt")}


def test_a_wrong_line_ends_the_server_and_the_doctor_with_one_clear_line(server: Servers) -> None:
    given = flags(server, "云图计划\n云图 很多\n")
    process = subprocess.Popen(
        server.program(*given),
        env={**os.environ, **server.env},
        cwd=server.folder,
        stdin=subprocess.PIPE,  # a client that stays
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    assert process.stderr is not None
    with process.stdin, process.stderr as errors:
        assert process.wait(60) == 1
        said = errors.read()
    done = run(server, *given, "doctor")
    assert (done.returncode, done.stderr) == (1, said)
    (line,) = said.splitlines()
    assert line.startswith(
        "memory-server: Line 2 of user.txt is no word with a weight and a tag: '云图 很多'."
    )
    assert "WORD WEIGHT TAG" in line


def test_another_dictionary_or_a_changed_one_is_another_engine(tmp_path: Path) -> None:
    one, two = tmp_path / "one.txt", tmp_path / "two.txt"
    for path in (one, two):
        path.write_text("云图计划\n", encoding="utf-8")

    def name(**settings: object) -> str:
        return finding.wanted({"db": str(tmp_path / "m.db"), **settings}, {}).name

    first = name(dictionary=str(one))
    assert first == name(dictionary=str(one)) == name(dictionary=f"{tmp_path}/./one.txt")
    others = [
        name(),
        name(dictionary=str(two)),
        name(stop_words=str(one)),
        name(dictionary=str(tmp_path / "no")),
    ]
    one.write_text("云图计划\n小王\n", encoding="utf-8")
    assert len({first, *others, name(dictionary=str(one))}) == 6
    variables = finding.wanted({"dictionary": "~/one.txt"}, {"HOME": str(tmp_path)}).environment
    assert Path(variables["MEMORY_SERVER_DICTIONARY"]).is_absolute()
