"""The command line itself: flags, wrong words, help, completion, what is imported."""

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest

from memory_server.cli.completion import Bash
from memory_server.cli.program import MEANT, VERBS, Verb, program, run
from memory_server.flags import of_server
from memory_server.settings import Settings
from tests.cli.conftest import HARBOUR, Terminal, fill
from tests.conftest import Servers, Sqlite

pytestmark = pytest.mark.anyio

CONTEXT = click.Context(program, info_name="memory-server")
NAMES = program.list_commands(CONTEXT)

OF_THE_COMMAND_LINE = (
    "memory_server.cli.program",
    "memory_server.cli.output",
)
"""mcp imports click too, for uvicorn."""
HEAVY = (
    "onnxruntime",
    "jieba",
    "mcp",
)


def imported(servers: Servers, names: tuple[str, ...], *arguments: str) -> str:
    """Which of these libraries a command has imported at its end."""
    program = (
        "import sys\nfrom memory_server.__main__ import main\ncode = main()\n"
        f"print(sorted(set(sys.modules) & set({names!r})), file=sys.stderr)\nsys.exit(code)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, "--db", str(servers.db), *arguments], env={**os.environ, **servers.env},
        cwd=servers.folder, capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    return done.stderr.strip().splitlines()[-1]


def test_a_list_loads_no_model_and_no_table(terminal: Terminal) -> None:
    terminal("add", HARBOUR)
    assert imported(terminal.servers, HEAVY, "list") == "[]"


def test_the_server_imports_nothing_of_the_command_line(server: Servers) -> None:
    code = "import sys, memory_server.cli.main, memory_server.cli.serve; print(sorted(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, **server.env}, capture_output=True, text=True, check=True,
        timeout=120,
    )  # fmt: skip
    assert [name for name in OF_THE_COMMAND_LINE if f"'{name}'" in done.stdout] == []


@pytest.mark.parametrize(
    ("arguments", "settings"),
    [
        ([], {}),
        (["serve"], {}),
        (["--db", "a.db", "serve", "--read-only"], {"db": "a.db", "read_only": True}),
        (["serve", "--project=x y", "--db=a=b"], {"project": "x y", "db": "a=b"}),
        (["--db", "serve"], {"db": "serve"}),
        (["--db"], None),
        (["--read-only=maybe"], None),
        (["serve", "serve"], None),
        (["--databse", "x"], None),
        (["list"], None),
        (["-h"], None),
    ],
)
def test_what_only_serves_is_read_without_click(
    arguments: list[str], settings: dict[str, object] | None
) -> None:
    assert of_server(arguments) == settings


def test_a_setting_stands_before_or_after_a_command(terminal: Terminal, tmp_path: Path) -> None:
    terminal("add", HARBOUR)
    before = subprocess.run(
        [*terminal.servers.command("list")], env={**os.environ, **terminal.servers.env}, cwd=tmp_path,
        capture_output=True, text=True, check=True, timeout=120,
    )  # fmt: skip
    assert HARBOUR in before.stdout
    terminal("add", "of the shop", "--project", "shop")
    assert [row[3] for row in terminal("list").rows] == ["shop", "ledger"]
    assert [row[-1] for row in terminal("list", "--project", "shop").rows] == ["of the shop"]


@pytest.mark.parametrize("name", NAMES)
def test_every_command_has_help_with_examples_that_it_understands(name: str) -> None:
    command = program.get_command(CONTEXT, name)
    assert command is not None
    verbs = [command] if isinstance(command, Verb) else list(getattr(command, "commands", {}).values())
    assert command.get_short_help_str(200)
    for each in verbs:
        assert isinstance(each, Verb)
        assert each.examples, each.name
        assert {f"--{setting.replace('_', '-')}" for setting in Settings.model_fields} <= {
            option for param in each.params for option in param.opts
        }
        text = each.get_help(
            click.Context(each, info_name=f"memory-server {each.name}", max_content_width=80)
        )
        assert max(map(len, text.splitlines())) <= 100
        for example in each.examples:
            assert example in text


@pytest.mark.parametrize("language", ["C", "zh_CN.UTF-8"])
def test_the_help_is_a_screen_with_a_line_for_each_command(terminal: Terminal, language: str) -> None:
    lines = terminal("help", LC_ALL=language).out.splitlines()
    assert lines == terminal("--help", LC_ALL=language).out.splitlines()
    begun = lines.index(next(line for line in lines if line.split()[:1] == ["search"]))
    named = [line.split()[0] for line in lines[begun : lines.index("", begun)] if line.startswith(" ")]
    assert named == NAMES
    assert len(lines) <= 58
    flags = {word.rstrip(",") for line in lines for word in line.split()[:2] if word.startswith("-")}
    assert flags == {"-V", "--version", "--db", "--project", "--json", "-h", "--help"}
    assert "memory-server serve -h" in "".join(lines)


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("serach", "search"),
        ("delete", "forget"),
        ("lst", "list"),
        ("remember", "add"),
        ("tirggers", "triggers"),
    ],
)
def test_a_wrong_command_names_the_nearest(terminal: Terminal, word: str, meant: str) -> None:
    done = terminal(word, code=2)
    assert done.err.splitlines()[-1] == f"memory-server: unknown command '{word}'. Did you mean `{meant}`?"
    assert done.err.startswith("usage: memory-server ")


def test_words_that_mean_a_command_are_none_themselves() -> None:
    assert not set(MEANT) & set(NAMES)
    assert set(MEANT.values()) <= set(NAMES)
    assert [name for verbs in VERBS.values() for name in verbs] == NAMES


def test_a_wrong_flag_names_the_nearest(terminal: Terminal) -> None:
    assert "unknown flag --jsn. Did you mean `--json`?" in terminal("list", "--jsn", code=2).err
    assert "unknown flag --limt. Did you mean `--limit`?" in terminal("list", "--limt", "3", code=2).err
    assert "unknown flag --hlep. Did you mean `--help`?" in terminal("search", "--hlep", code=2).err
    assert "unknown flag --sort.\n" in terminal("list", "--sort", "x", code=2).err


@pytest.mark.parametrize(
    "line", ["edit m4 --text", "add x --importance", "list --tag", "token add --project"]
)
def test_who_leaves_out_a_value_sees_the_usage_of_the_command(
    line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = line.split()
    command = " ".join(words[: 2 if words[0] == "token" else 1])
    assert run(words) == 2
    usage, help_, told = capsys.readouterr().err.splitlines()
    assert usage.startswith(f"usage: memory-server {command} [OPTIONS]")
    assert help_ == f"Try `memory-server {command} --help`."
    assert told == f"memory-server: Option '{words[-1]}' requires an argument."


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("show foo", "ID: 'foo' is not an id. Write 12"),
        ("list --type decisoin", "--type: 'decisoin' is unknown. Did you mean `decision`?"),
        ("list --limit 0", "--limit: '0' is not a number from 1 to 10,000."),
        ("search x -n 99999999999", "--limit: '99999999999' is not a number"),
        ("list --offset -3", "--offset: '-3' is not a number from 0"),
        ("list --since someday", "--since: 'someday' is not a date. Write 2026-03-14"),
        ("fact k 1 --ttl soon", "--ttl: 'soon' is no length of time. Write seconds, or 90 minutes"),
        ("stats --calls --project shop", "--calls counts the calls of all projects together"),
        ("undo z9", "CHANGE: 'z9' is not the number of a change."),
        ("fact", "KEY is missing."),
        ("add x --importance 11", "--importance: '11' is not a number from 1 to 10."),
        ("export --format xml", "--format: 'xml' is unknown. There are: jsonl, markdown."),
        ("list facts", "KIND: 'facts' is unknown. To list facts, type `memory-server facts`."),
        ("search --tag staging", "Say what to look for. `memory-server list` lists memories, also by --tag"),
        ("recall", "Ask a question, or choose by --kind"),
        ("connect 1 solves 2 --strength strong", "--strength: 'strong' is not a number from 0 to 1."),
        ("connect 1 solves 2 --strength 2", "--strength: '2' is not a number from 0 to 1."),
    ],
)
def test_a_wrong_value_is_told_in_one_sentence_with_what_is_right(
    line: str, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(line.split()) == 2
    assert capsys.readouterr().err.splitlines()[-1].startswith(f"memory-server: {told}")


def completed(servers: Servers, shell: str, *words: str) -> str:
    env = {
        **os.environ, **servers.env, "_MEMORY_SERVER_COMPLETE": f"{shell}_complete",
        "COMP_WORDS": " ".join(words), "COMP_CWORD": str(len(words) - 1),
    }  # fmt: skip
    done = subprocess.run(
        servers.command()[:3], env=env, capture_output=True, text=True, timeout=120, check=False,
        stdin=subprocess.DEVNULL,
    )  # fmt: skip
    return done.stdout


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_shells_complete_commands_flags_and_values(server: Servers, shell: str) -> None:
    assert "search" in completed(server, shell, "memory-server", "se")
    assert "--limit" in completed(server, shell, "memory-server", "list", "--li")
    assert "decision" in completed(server, shell, "memory-server", "list", "--type", "de")


async def test_shells_complete_what_the_file_holds(
    server: Servers, terminal: Terminal, ledger: Path, sqlite: Sqlite
) -> None:
    server.db.unlink()

    def values(*words: str) -> list[str]:
        given = ["--project", "ledger", "--db", str(server.db), *words[:-1]]
        shell = Bash(program, {}, "memory-server", "")
        return [each.value for each in shell.get_completions(given, words[-1])]

    assert values("show", "") == []
    assert not server.db.exists()
    await fill(server, ledger)
    terminal("forget", "m1")
    before = server.db.read_bytes()
    assert values("show", "") == ["m2", "m3", "f:current.task", "f:editor", "w:zoo"]
    assert values("edit", "3") == ["3"]
    assert values("forget", "t") == ["t1"]
    assert values("show", "f:global/ed") == ["f:global/editor"]
    assert values("fact", "ed") == values("facts", "ed") == ["editor"]
    assert values("list", "--project", "s") == values("projects", "rename", "s") == ["shop"]
    assert values("undo", "") == ["d1"]
    assert server.db.read_bytes() == before
    sqlite(server.db, "PRAGMA user_version = 3")
    assert values("show", "") == []


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
async def test_bash_inserts_a_key_behind_its_colon_and_a_name_with_spaces(
    server: Servers, terminal: Terminal, ledger: Path, sqlite: Sqlite
) -> None:
    await fill(server, ledger)
    sqlite(server.db, "UPDATE long_term_memories SET name = 'before a release'")
    program = ledger / "memory-server"
    program.write_text(f'#!/bin/sh\nexec {shlex.join(server.command()[:3])} "$@"\n', encoding="utf-8")
    program.chmod(0o700)
    script = f"""
        eval "$({program} completion bash)"
        COMP_WORDS=(memory-server show w : be) COMP_CWORD=4
        _memory_server_completion {program}
        COMP_WORDS=(memory-server show m) COMP_CWORD=2
        _memory_server_completion {program}
        printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    env = {**os.environ, **server.env, "MEMORY_SERVER_DB": str(server.db), "MEMORY_SERVER_PROJECT": "ledger"}
    done = subprocess.run(
        ["bash", "-c", script], env=env, cwd=ledger, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.stdout.splitlines() == ["'before a release'", "m2", "m1", "m3"], done.stderr


@pytest.mark.parametrize(
    ("shell", "mark"), [("bash", "complete -o nosort"), ("zsh", "compdef"), ("fish", "complete ")]
)
def test_each_shell_gets_its_script(terminal: Terminal, shell: str, mark: str) -> None:
    assert mark in terminal("completion", shell).out


def test_a_reader_that_has_seen_enough_is_no_error(terminal: Terminal) -> None:
    terminal("add", HARBOUR)
    command = " ".join(f"'{each}'" for each in terminal.servers.command("list"))
    done = subprocess.run(
        ["bash", "-c", f"{command} | true"],
        env={**os.environ, **terminal.servers.env, "PYTHONUNBUFFERED": ""}, cwd=terminal.folder,
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.stderr == ""
    if not Path("/dev/full").exists():
        return
    for verb in ("list", "export"):
        line = " ".join(f"'{each}'" for each in terminal.servers.command(verb))
        done = subprocess.run(
            ["bash", "-c", f"{line} > /dev/full"], env={**os.environ, **terminal.servers.env}, cwd=terminal.folder,
            capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip
        assert done.stderr.startswith("memory-server: the output cannot be written: No space left")
        assert done.returncode == 1


@pytest.mark.skipif(os.name == "nt", reason="arguments are no bytes there")
@pytest.mark.parametrize("command", ["search", "add", "list", "import", "restore"])
def test_an_argument_that_is_not_utf8_is_refused_in_one_line(terminal: Terminal, command: str) -> None:
    done = subprocess.run(
        [*terminal.servers.command(command), "你好".encode("gbk")],
        env={**os.environ, **terminal.servers.env}, cwd=terminal.folder, capture_output=True, check=False, timeout=120,
    )  # fmt: skip
    assert done.returncode == 2
    assert b"is not UTF-8. Set the terminal to UTF-8, then type it again." in done.stderr
    assert b"Traceback" not in done.stderr


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="there is no such file")
@pytest.mark.parametrize("flags", [(), ("--from", "claude-mem")])
def test_a_file_that_cannot_be_read_is_told_in_one_line(terminal: Terminal, flags: tuple[str, ...]) -> None:
    done = terminal("import", "/proc/self/mem", *flags, code=1)
    assert "cannot be read" in done.err
    assert done.err.count("\n") == 1


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="an owner whom modes hold back")
def test_a_folder_that_cannot_be_written_is_named(terminal: Terminal, tmp_path: Path) -> None:
    terminal("add", HARBOUR)
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o500)
    assert "closed" in terminal("backup", str(closed), code=1).err
