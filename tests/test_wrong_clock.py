"""A server starts with a wrong clock: what is old by that clock alone stays, and is there when it is right again."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from memory_server.domain.forgetting import day_of
from tests.conftest import ROOT, Servers, Sqlite, call, eventually

pytestmark = pytest.mark.anyio

SHIFTED = """
from datetime import timedelta
from memory_server import stores
right = stores.clock
stores.clock = lambda: right() + timedelta(days={days})
"""

LONG_AGO = "2001-01-01T00:00:00.000Z"


def shift_clock(server: Servers, folder: Path, days: int) -> None:
    """The servers that start from now on have a clock that is wrong by so many days."""
    folder.mkdir(exist_ok=True)
    (folder / "sitecustomize.py").write_text(SHIFTED.format(days=days), encoding="utf-8")
    server.env["PYTHONPATH"] = f"{folder}:{ROOT}"


async def run_a_server(server: Servers, sqlite: Sqlite) -> int:
    """Until it has removed what is old by any clock; the newest day that the file then knows."""
    past = f"'{LONG_AGO}'"
    sqlite(
        server.db,
        f"INSERT INTO facts (scope, owner, key, value, expires_at) VALUES ('global', '', 'past', '1', {past})",
        f"INSERT INTO trash (kind, item_id, parts, deleted_at) VALUES ('turn', 99, '{{}}', {past})",
    )

    async def is_done() -> bool:
        facts = sqlite(server.db, "SELECT count(*) FROM facts WHERE key = 'past'")
        return facts == sqlite(server.db, "SELECT count(*) FROM trash WHERE item_id = 99") == "0"

    async with server() as client:
        await call(client, "memory_stats")
        await eventually(is_done, "what is old by any clock is removed")
    return int(sqlite(server.db, "SELECT max(day) FROM server_days"))


async def test_one_start_with_a_wrong_clock_removes_nothing(
    server: Servers, sqlite: Sqlite, tmp_path: Path
) -> None:
    today = day_of(datetime.now(UTC).isoformat())
    async with server() as client:
        await call(client, "memory_store", content="The harbour opens at noon", type="learning")
        await call(client, "memory_delete", id=1)
        await call(client, "write_memory", key="port", value=5433, ttl=30 * 86_400)
    sqlite(server.db, "DELETE FROM server_days", f"INSERT INTO server_days VALUES ({today - 1})")
    copy = server.db.with_name("memory.db.before-0027")
    copy.write_bytes(server.db.read_bytes())
    shift_clock(server, tmp_path / "wrong", 3650)
    assert await run_a_server(server, sqlite) >= today + 3650
    assert "and the clock says" in server.log.read_text(encoding="utf-8")
    assert sqlite(server.db, "SELECT count(*) FROM trash") == "1"
    assert copy.exists()
    sqlite(server.db, f"INSERT INTO server_days VALUES ({today - 2})")
    shift_clock(server, tmp_path / "wrong", 0)
    assert await run_a_server(server, sqlite) <= today + 1
    async with server() as client:
        assert (await call(client, "memory_delete", id=1, undo=True))["restored"]
        assert (await call(client, "read_memory", key="port"))["memory"]["value"] == 5433
    shift_clock(server, tmp_path / "wrong", 40)
    await run_a_server(server, sqlite)
    shift_clock(server, tmp_path / "wrong", 41)
    await run_a_server(server, sqlite)
    assert sqlite(server.db, "SELECT count(*) FROM facts") == "0", (
        "a server has run on two days since it expired"
    )
    assert not copy.exists()
