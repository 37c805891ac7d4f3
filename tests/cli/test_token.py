"""Tokens at the terminal: made, shown once, listed, revoked; and nothing but a hash of them in the file."""

import hashlib
import re

from tests.cli.conftest import Terminal
from tests.conftest import Sqlite


def test_a_token_is_printed_once_and_the_file_has_only_its_hash(terminal: Terminal, sqlite: Sqlite) -> None:
    made = terminal("token", "add", "ada", "--all-projects")
    token = made.out.strip()
    assert re.fullmatch(r"msrv_[\w-]{43}", token)
    assert "shown only once" in made.err
    assert token not in made.err
    assert token not in terminal("token", "list").out
    dumped = sqlite(terminal.servers.db, ".dump")
    assert token not in dumped
    assert hashlib.sha256(token.encode()).hexdigest() in dumped
    assert token not in terminal("export").out
    assert hashlib.sha256(token.encode()).hexdigest() not in terminal("export").out


def test_a_token_says_which_projects_it_is_for(terminal: Terminal) -> None:
    for given in ((), ("--all-projects", "--project", "shop")):
        refused = terminal("token", "add", "ada", *given, code=2).err
        assert "Say which projects the token is for: --project PROJECT, or --all-projects." in refused
    assert terminal("token", "list").out == ""


def test_a_token_that_may_write_shared_facts_says_so(terminal: Terminal) -> None:
    terminal("token", "add", "ada", "--all-projects")
    terminal("token", "add", "ben", "--project", "shop", "--shared")
    terminal("token", "add", "cem", "--project", "shop")
    may = "read and write, shared facts too"
    assert [row[4] for row in terminal("token", "list").rows] == [may, may, "read and write"]
    assert [each["shared"] for each in terminal("token", "list", "--json").json["tokens"]] == [
        False,
        True,
        False,
    ]


def test_no_two_tokens_are_the_same(terminal: Terminal) -> None:
    assert (
        terminal("token", "add", "ada", "--all-projects").out
        != terminal("token", "add", "ada", "--all-projects").out
    )


def test_what_a_token_allows_is_listed(terminal: Terminal) -> None:
    terminal("token", "add", "阿达", "--all-projects")
    terminal("token", "add", "ben", "--project", "shop", "--project", "shop", "--project", ".", "--read-only",
             "--expires", "2999-01-01")  # fmt: skip
    ada, ben = terminal("token", "list", "--json").json["tokens"]
    assert (ada["name"], ada["projects"], ada["read_only"], ada["expires_at"]) == ("阿达", None, False, None)
    assert (ben["projects"], ben["read_only"], ben["state"]) == (["shop", "ledger"], True, "valid")
    assert ben["expires_at"] == "2999-01-01T00:00:00.000Z"
    assert terminal("token", "list").rows[1][3:6] == ["shop, ledger", "read only", "valid"]


def test_a_token_is_revoked_by_its_id_its_beginning_or_for_all_of_a_person(terminal: Terminal) -> None:
    first, second, _, _ = (
        terminal("token", "add", name, "--all-projects").out.strip() for name in ("ada", "ada", "ben", "ben")
    )
    assert first[:12] in terminal("token", "revoke", "1").out
    assert "Token 2 of ada" in terminal("token", "revoke", second[:12]).out
    assert len(terminal("token", "revoke", "ben").out.splitlines()) == 2
    states = [row[5] for row in terminal("token", "list").rows]
    assert states == ["revoked"] * 4
    again = terminal("token", "revoke", "ben", code=1)
    assert "There is no valid token `ben`." in again.err
    assert "memory-server token list" in again.err


def test_a_whole_token_is_revoked_too_and_not_repeated(terminal: Terminal) -> None:
    made = terminal("token", "add", "ada", "--all-projects").out.strip()
    assert "Token 1 of ada" in terminal("token", "revoke", made).out
    assert made not in terminal("token", "revoke", made, code=1).err


def test_a_token_that_would_never_work_is_refused(terminal: Terminal) -> None:
    assert (
        "is in the past"
        in terminal("token", "add", "ada", "--all-projects", "--expires", "2020-01-01", code=1).err
    )
    assert "1 to 100 characters" in terminal("token", "add", " ", "--all-projects", code=1).err
    assert "1 to 100 characters" in terminal("token", "add", "x" * 101, "--all-projects", code=1).err
    assert "`*` is not a project" in terminal("token", "add", "ada", "--project", "*", code=1).err
    assert "is not a date" in terminal("token", "add", "ada", "--expires", "soon", code=2).err
    assert terminal("token", "list").out == ""


def test_an_expired_token_is_told(terminal: Terminal, sqlite: Sqlite) -> None:
    terminal("token", "add", "ada", "--all-projects", "--expires", "1d")
    sqlite(terminal.servers.db, "UPDATE tokens SET expires_at = '2020-01-01T00:00:00.000Z'")
    assert terminal("token", "list").rows[0][5] == "expired"


def test_a_token_of_ours_is_no_text_to_store(terminal: Terminal) -> None:
    token = terminal("token", "add", "ada", "--all-projects").out.strip()
    assert terminal("add", f"The token is {token}", code=1).out == ""
