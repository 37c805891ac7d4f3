"""What commands print on a terminal of 46 columns, in both languages."""

import pytest

from memory_server.language.text import width
from tests.cli.conftest import Terminal, fill
from tests.cli.test_chinese import CHINESE
from tests.conftest import Servers
from tests.terminal import typed

pytestmark = pytest.mark.anyio

COLUMNS = 46
RULE = "ask me before you run terraform apply -auto-approve -var-file=production.tfvars"
LONG = "The harbour master wants to be called before a ship of more than sixty metres comes in"

COMMANDS = [
    ["--help"],
    ["forget", "-h"],
    ["search", "harbour"],
    ["recall", "When does the harbour open?"],
    ["list"],
    ["list", "turns"],
    ["show", "m1", "m2", "m4", "t1", "s1", "f:global/editor", "w:zoo"],
    ["log"],
    ["facts"],
    ["triggers"],
    ["rules"],
    ["rules", "try", "terraform apply -auto-approve -var-file=production.tfvars"],
    ["projects"],
    ["stats"],
    ["stats", "--calls"],
    ["doctor"],
    ["token", "list"],
    ["review"],
    ["undo", "--dry-run", "--last", "3"],
    ["forget", "1", "2", "4", "--dry-run"],
    ["shwo", "1"],
    ["show", "m99"],
    ["list", "--since", "whenever"],
]


def is_whole(line: str) -> bool:
    """True for what is not broken: a word, a path beside its title, and a command, which a person copies."""
    *title, last = line.split()
    return (
        (len(title) < 2 and width(last) > 30) or line.count("`") == 2 or line.startswith("  memory-server ")
    )


@pytest.mark.parametrize("language", ["en_US.UTF-8", CHINESE])
async def test_no_line_is_wider_than_the_screen(server: Servers, terminal: Terminal, language: str) -> None:
    await fill(server, terminal.folder)
    terminal("add", LONG)
    terminal("token", "add", "ana", "--project", "ledger")
    env = {
        **server.env,
        "LANG": language,
        "LC_ALL": language,
        "NO_COLOR": "1",
        "MEMORY_SERVER_EMBEDDER": "hashing",
    }

    def shown(*words: str) -> str:
        return typed(*words, "--db", server.given, env=env, folder=terminal.folder, columns=COLUMNS)[0]

    assert RULE[:60] in "".join(shown("rules", "add", RULE).split("\r\n"))
    for command in COMMANDS:
        lines = shown(*command).replace("\r", "").splitlines()
        assert [line for line in lines if width(line) > COLUMNS and not is_whole(line)] == [], command
        assert lines, command
    rule = "".join(line.strip() for line in shown("rules").splitlines())
    assert "-auto-approve-var-file=production.tfvars" in rule.replace(" ", "")
