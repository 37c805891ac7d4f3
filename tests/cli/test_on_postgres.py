"""Commands on a memory that is in PostgreSQL, through the real program."""

from pathlib import Path

import pytest

from tests.cli.conftest import HARBOUR, Terminal, fill
from tests.conftest import Servers
from tests.postgres_server import new_place


@pytest.fixture
async def on_postgres(server: Servers, ledger: Path) -> Terminal:
    """A terminal whose memory is a tenant with something of every kind."""
    server.env["TZ"] = "UTC"
    server.place = new_place()
    await fill(server, ledger)
    return Terminal(server, ledger)


@pytest.mark.anyio
async def test_commands_read_and_write_it(on_postgres: Terminal) -> None:
    found = on_postgres("search", "harbour", "noon")
    assert HARBOUR in found.out
    assert "none" in on_postgres("doctor").out
    on_postgres("forget", "1", "--yes")
    assert HARBOUR not in on_postgres("list").out
    on_postgres("undo", "--yes")
    assert HARBOUR in on_postgres("list").out


@pytest.mark.anyio
async def test_a_backup_is_a_file_with_all_of_it(on_postgres: Terminal, tmp_path: Path) -> None:
    target = tmp_path / "copy.db"
    assert "checked" in on_postgres("backup", str(target)).out
    listed = on_postgres("list").out
    on_postgres.servers.place = target
    assert on_postgres("list").out == listed


@pytest.mark.anyio
async def test_an_import_can_be_tried_without_a_trace(on_postgres: Terminal, tmp_path: Path) -> None:
    source = tmp_path / "notes.jsonl"
    source.write_text('{"id": "a", "text": "The ferry leaves at dawn"}\n', encoding="utf-8")
    on_postgres("import", str(source), "--dry-run")
    assert "ferry" not in on_postgres("list").out
    on_postgres("import", str(source))
    assert "ferry" in on_postgres("list").out


@pytest.mark.anyio
async def test_what_is_about_a_file_says_what_does_the_same(on_postgres: Terminal, tmp_path: Path) -> None:
    assert "autovacuum" in on_postgres("compact", code=1).err
    assert on_postgres("where").out == f"{on_postgres.servers.place}\n"
    assert "memory-server copy" in on_postgres("restore", str(tmp_path / "copy.db"), code=1).err


def test_a_command_that_reads_makes_no_tenant(terminal: Terminal) -> None:
    terminal.servers.place = new_place()
    assert "There is no" in terminal("list", code=1).err
