"""doctor, backup, restore, compact: the file itself."""

import json
import subprocess
from pathlib import Path

import pytest

from memory_server import __version__
from memory_server.call import deadline
from memory_server.cli.main import main
from tests.cli.conftest import HARBOUR, Terminal, fill
from tests.conftest import Clock, Holder, Servers, Sqlite, call, damage
from tests.sqlite.test_upgrade import NEWEST, RELEASED, at
from tests.warm import cold

pytestmark = pytest.mark.anyio

DOCTOR = {"report", "problems", "fixed", "figures", "findings"}
"""The members of what doctor answers."""


def test_stats_counts_what_waits_before_a_model_has_embedded_anything(
    terminal: Terminal, sqlite: Sqlite
) -> None:
    sqlite(terminal.servers.db, *2 * ("INSERT INTO memories (content, type) VALUES ('by hand', 'error')",))
    assert terminal("stats", "--json").json["waiting"] == 2


def test_doctor_as_json(terminal: Terminal, sqlite: Sqlite) -> None:
    terminal("add", HARBOUR)
    sound = terminal("doctor", "--json").json
    assert (sound["problems"], sound["report"]["memories"]) == ([], "1")
    assert "clock" not in sound["report"]
    assert (sound["figures"]["memories"], sound["figures"]["waiting"], sound["figures"]["problems"]) == (
        1,
        0,
        0,
    )
    sqlite(terminal.servers.db, "INSERT INTO server_days VALUES (90000)")
    assert "The last server ran on 2216-05-31" in terminal("doctor", "--json").json["report"]["clock"]
    sqlite(terminal.servers.db, "DROP TRIGGER memories_inserted")
    broken = terminal("doctor", "--json", code=1).json
    assert broken["problems"] == ["trigger memories_inserted on memories is missing"]
    assert broken["findings"] == [{"code": "damage", "text": broken["problems"][0]}]


def test_the_version_is_json_too_and_json_may_stand_before_a_command(terminal: Terminal) -> None:
    assert json.loads(subprocess.check_output([*cold("version", "--json")], text=True)) == {
        "version": __version__
    }
    assert json.loads(subprocess.check_output([*cold("-V", "--json")], text=True)) == {"version": __version__}
    assert terminal("--json", "where").json == {"database": str(terminal.servers.db)}


def test_sql_that_is_not_ours_is_refused_by_each_command_and_removed_by_one(
    terminal: Terminal, tmp_path: Path, sqlite: Sqlite
) -> None:
    terminal("add", HARBOUR)
    sqlite(
        terminal.servers.db,
        "CREATE VIEW mine AS SELECT content FROM memories",
        "CREATE TRIGGER evil AFTER INSERT ON memories BEGIN DELETE FROM facts; END",
    )
    for command in (
        ("add", "x"),
        ("list",),
        ("search", "harbour"),
        ("backup", str(tmp_path / "copy.db")),
        ("export",),
    ):
        refused = terminal(*command, code=1).err
        assert refused.splitlines()[-1].endswith(
            "The database holds SQL that is not of this program: trigger evil on memories, view mine. "
            "Nothing was read. `memory-server doctor --fix` removes it."
        )
    assert not (tmp_path / "copy.db").exists()
    report = terminal("doctor", "--json", code=1).json
    assert report.keys() == DOCTOR
    assert [finding["code"] for finding in report["findings"]] == ["foreign_sql"]
    assert report["problems"] == [refused.removeprefix("memory-server: ").strip()]
    assert terminal("doctor", code=1).out.splitlines()[1:] == ["problems  1", f"  {report['problems'][0]}"]
    assert terminal("doctor", "--fix").out.splitlines()[:2] == [
        "fixed       removed trigger evil on memories: it is not of this program",
        "fixed       removed view mine: it is not of this program",
    ]
    assert terminal("list").out


def test_doctor_reports_a_damaged_file_in_the_form_of_any_other(terminal: Terminal) -> None:
    terminal("add", HARBOUR)
    data = terminal.servers.db.read_bytes()
    terminal.servers.db.write_bytes(data[: len(data) // 2])
    report = terminal("doctor", "--json", code=1).json
    assert report.keys() == DOCTOR
    assert [finding["code"] for finding in report["findings"]] == ["damage"]
    assert report["figures"]["problems"] == len(report["problems"]) == 1


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="a folder to which not even root may write")
def test_a_backup_where_nothing_can_be_written_names_the_place(terminal: Terminal) -> None:
    terminal("add", HARBOUR)
    said = terminal("backup", "/proc/x.db", code=1).err
    assert said.startswith("memory-server: /proc/x.db cannot be written: ")
    assert said.endswith("Name a file in a folder to which you may write.\n")
    assert "The folder /proc/x cannot be made" in terminal("backup", "/proc/x/", code=1).err


@pytest.mark.parametrize(
    ("flag", "path", "mend"),
    [
        ("--tenants", "/nosuch", "this must be a file with a line `name = address` for each."),
        ("--audit", "/nosuch/x", "Name a file in a folder that exists and that you may write to."),
        ("--audit", ".", "Name a file in a folder that exists and that you may write to."),
    ],
)
def test_a_path_of_serving_that_cannot_be_used_is_named_with_its_flag(
    terminal: Terminal, flag: str, path: str, mend: str
) -> None:
    said = terminal(flag, path, "serve", "--http", "0", code=1).err
    assert flag in said
    assert f" {path}: " in said
    assert said.endswith(f"{mend}\n")
    assert said.count("\n") == 1


def test_where_prints_the_place_alone_and_makes_no_file(terminal: Terminal) -> None:
    db = terminal.servers.db
    db.unlink()
    assert terminal("where").out == f"{db}\n"
    assert not db.exists()


def test_backups_are_named_by_their_moment_and_the_oldest_go(terminal: Terminal, tmp_path: Path) -> None:
    terminal("add", HARBOUR)
    terminal("backup")
    (made,) = (tmp_path / "backups").iterdir()
    assert damage(made) == []
    other = tmp_path / "backups" / "memory-20250101-000000.db"
    other.write_text("not a database of ours")
    for day in (1, 2, 3):
        made.with_name(f"memory-2026010{day}-000000.db").write_bytes(made.read_bytes())
    would = terminal("backup", str(made.parent), "--keep", "2", "--dry-run").out
    assert all(f"memory-2026010{day}" in would for day in (1, 2))
    assert len(list(made.parent.iterdir())) == 5
    kept = terminal("backup", str(made.parent), "--keep", "2")
    assert "checked" in kept.out
    left = sorted(path.name for path in made.parent.iterdir())
    assert len(left) == 3
    assert other.name in left
    assert (
        "With a slash at its end" in terminal("backup", str(tmp_path / "copy.db"), "--keep", "2", code=2).err
    )


def test_a_backup_of_another_database_is_neither_replaced_nor_deleted(
    terminal: Terminal, tmp_path: Path, sqlite: Sqlite
) -> None:
    terminal("add", HARBOUR)
    folder = tmp_path / "all of them"
    terminal("backup", f"{folder}/")
    (own,) = folder.iterdir()
    assert own.name.startswith("memory-")
    other = folder / "memory-20250101-000000.db"
    other.write_bytes(own.read_bytes())
    sqlite(other, "UPDATE migrations SET applied_at = '2020-01-01T00:00:00.000Z'")
    before = other.read_bytes()
    assert "is a backup of another database" in terminal("backup", str(other), code=1).err
    terminal("backup", str(folder), "--keep", "1")
    assert other.read_bytes() == before
    terminal("backup", str(own))
    nowhere = tmp_path / "not made yet"
    assert f"{nowhere}/memory-" in terminal("backup", f"{nowhere}/", "--dry-run").out
    assert not nowhere.exists()


async def test_restore_keeps_the_old_file_and_refuses_while_a_server_has_it(
    server: Servers, terminal: Terminal, ledger: Path, tmp_path: Path, sqlite: Sqlite
) -> None:
    await fill(server, ledger)
    copy = tmp_path / "copy.db"
    terminal("backup", str(copy))
    terminal("add", "later than the copy")
    async with server(cwd=ledger) as client:
        await call(client, "memory_stats")
        held = terminal("restore", str(copy), "--yes", code=1)
        assert "is open in another program" in held.err
    assert "Would replace" in terminal("restore", str(copy), "--dry-run").out
    assert "--yes" in terminal("restore", str(copy), code=2).err
    assert sqlite(server.db, "SELECT count(*) FROM memories") == "4"
    terminal("restore", str(copy), "--yes")
    assert sqlite(server.db, "SELECT count(*) FROM memories") == "3"
    (old,) = tmp_path.glob("memory.db.before-restore-*")
    assert sqlite(old, "SELECT count(*) FROM memories") == "4"
    assert damage(server.db) == []
    async with server(cwd=ledger) as client:
        await call(client, "memory_stats")
        terminal("restore", str(old), "--yes", "--force")
        again = await client.call_tool("memory_stats", {})
        assert again.is_error
        assert (await call(client, "memory_stats"))["total"] == 4
    kept = sorted(tmp_path.glob("memory.db.before-restore-*"))  # also of two in the same second
    assert [sqlite(each, "SELECT count(*) FROM memories") for each in kept] == ["4", "3"]


@pytest.mark.parametrize("kind", ["missing", "text", "damaged", "newer", "foreign", "itself"])
def test_what_is_no_backup_is_not_restored(
    terminal: Terminal, tmp_path: Path, sqlite: Sqlite, kind: str
) -> None:
    terminal("add", HARBOUR)
    wrong = tmp_path / "wrong.db"
    match kind:
        case "text":
            wrong.write_text("dear diary\n" * 100)
        case "damaged":
            data = bytearray(terminal.servers.db.read_bytes())
            data[4096 * 2 : 4096 * 12] = b"\xff" * 4096 * 10
            wrong.write_bytes(data)
        case "newer":
            wrong.write_bytes(terminal.servers.db.read_bytes())
            sqlite(wrong, "PRAGMA user_version = 999")
        case "foreign":
            sqlite(wrong, "CREATE TABLE t (x)")
        case "itself":
            wrong = terminal.servers.db
    before = terminal.servers.db.read_bytes()
    assert terminal("restore", str(wrong), "--yes", code=1).out == ""
    assert terminal.servers.db.read_bytes() == before
    assert list(tmp_path.glob("memory.db.*")) == []


def test_restoring_over_a_damaged_or_missing_file(terminal: Terminal, tmp_path: Path, sqlite: Sqlite) -> None:
    terminal("add", HARBOUR)
    copy, db = tmp_path / "copy.db", terminal.servers.db
    terminal("backup", str(copy))
    db.write_bytes(b"garbage" * 1000)
    (tmp_path / "memory.db-journal").write_bytes(b"old")
    terminal("restore", str(copy), "--yes")
    assert terminal("list").rows[0][-1] == HARBOUR
    (old,) = (
        path for path in tmp_path.glob("memory.db.before-restore-*") if not path.name.endswith("journal")
    )
    assert old.read_bytes().startswith(b"garbage")
    db.unlink()
    terminal("restore", str(copy))
    assert terminal("list").rows[0][-1] == HARBOUR


def test_a_backup_of_an_older_schema_is_migrated_when_it_is_opened(
    terminal: Terminal, tmp_path: Path, sqlite: Sqlite, clock: Clock
) -> None:
    folder = tmp_path / "older"
    folder.mkdir()
    old = at(RELEASED, folder, clock)
    terminal("add", HARBOUR)
    kept = int(sqlite(old, "SELECT count(*) FROM memories"))
    assert kept
    terminal("restore", str(old), "--yes")
    assert len(terminal("list", "--project", "*").rows) == kept
    assert sqlite(terminal.servers.db, "PRAGMA user_version") == str(NEWEST)
    assert damage(terminal.servers.db) == []


def test_compacting_gives_bytes_back_and_waits_for_a_writer(terminal: Terminal, sqlite: Sqlite) -> None:
    terminal("add", HARBOUR)
    db = terminal.servers.db
    sqlite(db, "CREATE TABLE big AS SELECT randomblob(500000) AS x", "DROP TABLE big")
    free = terminal("compact", "--dry-run")
    assert "Nothing was changed" in free.out
    with Holder(db, "INSERT INTO memories (content, type) VALUES ('x', 'error')") as holder:
        waiting = subprocess.Popen(
            [*terminal.servers.command()[:3], "compact", "--db", str(db)],
            env=terminal.servers.env, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert holder.process.poll() is None
    assert waiting.communicate(timeout=60)[0].count("bytes") == 2
    assert waiting.returncode == 0
    assert db.stat().st_size < 1_000_000
    assert damage(db) == []


def test_doctor_beside_a_locked_file_tells_of_the_lock_alone(
    terminal: Terminal, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    db = terminal.servers.db
    with Holder(db, "COMMIT; BEGIN EXCLUSIVE; SELECT 1"), deadline.within(0.5):
        assert main(["doctor", "--db", str(db)]) == 1
    assert "Another process has kept" in capsys.readouterr().out
    assert caplog.text == ""
