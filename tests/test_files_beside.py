"""What lies beside a database: backups that follow no link, and copies, leftovers and open doors that doctor names."""

import os
import time
from pathlib import Path

import pytest

from memory_server.cli.main import main
from memory_server.sqlite import files, migrate
from memory_server.sqlite.database import Database
from memory_server.sqlite.files import UNFINISHED
from tests.conftest import Clock, Sqlite, damage

pytestmark = pytest.mark.skipif(os.name == "nt", reason="modes and links of POSIX")

DAY = 86_400
SECRET = b"the victim's own text"


@pytest.fixture
def path(tmp_path: Path, clock: Clock) -> Path:
    """A closed database with one memory."""
    path = tmp_path / "memory.db"
    database = Database(path, clock)
    with database.write() as tx:
        tx.execute("INSERT INTO memories (content, type) VALUES ('kept', 'error')")
    database.close()
    return path


def written(path: Path, seconds: float) -> None:
    """Let a file be written so long ago."""
    then = time.time() - seconds
    os.utime(path, (then, then))


def run(path: Path, *arguments: str) -> int:
    return main(["--db", str(path), "--embedder", "hashing", *arguments])


# Backup


@pytest.mark.parametrize("there", [True, False], ids=["to a file", "to nothing"])
@pytest.mark.parametrize(
    "name", ["copy.db.{pid}.tmp", "copy.db.tmp", "copy.db-journal", "copy.db-wal", "copy.db"]
)
def test_a_backup_follows_no_link_that_somebody_has_put_there(
    path: Path, tmp_path: Path, sqlite: Sqlite, name: str, there: bool
) -> None:
    victim = tmp_path / "victim"
    if there:
        victim.write_bytes(SECRET)
    link = tmp_path / name.format(pid=os.getpid())
    link.symlink_to(victim)
    target = tmp_path / "copy.db"
    code = run(path, "backup", str(target))
    assert (victim.read_bytes() if there else victim.exists()) == (SECRET if there else False)
    if link == target and there:
        assert code == 1  # the link leads to what is no backup
        assert link.is_symlink()
    else:
        assert code == 0
        assert not target.is_symlink()
        assert link == target or link.is_symlink()
        if link.name not in ("copy.db-journal", "copy.db-wal"):  # SQLite itself refuses those
            assert sqlite(target, "SELECT content FROM memories") == "kept"


def test_a_backup_is_for_its_owner_alone_and_leaves_nothing_beside_it(path: Path, tmp_path: Path) -> None:
    (tmp_path / "backups").mkdir()
    target = tmp_path / "backups" / "copy.db"
    before = os.umask(0)
    try:
        assert run(path, "backup", str(target)) == 0
        assert run(path, "backup", str(target)) == 0  # in the place of an older one
    finally:
        os.umask(before)
    assert [file.name for file in target.parent.iterdir()] == ["copy.db"]
    assert target.stat().st_mode & 0o077 == 0
    assert damage(target) == []


def test_a_backup_that_fails_leaves_the_older_one_and_nothing_else(path: Path, tmp_path: Path) -> None:
    target = tmp_path / "copy.db"
    assert run(path, "backup", str(target)) == 0
    older = target.read_bytes()
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(b"\xff" * 8192)
    assert run(path, "backup", str(target)) == 1
    assert target.read_bytes() == older
    assert sorted(file.name for file in tmp_path.iterdir()) == ["copy.db", "memory.db"]


def test_an_empty_file_is_not_backed_up_over_an_older_backup(
    path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that another program has emptied: the backup may be all that is left."""
    target = tmp_path / "memory.db.backup"
    assert run(path, "backup", str(target)) == 0
    older = target.read_bytes()
    os.truncate(path, 0)
    monkeypatch.setattr(files, "FILLED", 0)
    capsys.readouterr()
    for command in (["backup", str(target)], ["doctor"], ["doctor", "--fix"]):
        assert run(path, *command) == 1
        printed = capsys.readouterr()
        said = printed.out.splitlines()[-1].strip() if command[0] == "doctor" else printed.err.strip()
        assert said.removeprefix("memory-server: ") == (
            f"The database {path} has 0 bytes. Beside it lie: memory.db.backup. Copy the file away, "
            "then restore a backup. Without one, `memory-server rescue FILE` saves what can still be read."
        )
    assert path.stat().st_size == 0
    assert target.read_bytes() == older


# Doctor


def told(capsys: pytest.CaptureFixture[str]) -> dict[str, str]:
    """What doctor printed: its lines by their first word, problems joined."""
    lines = capsys.readouterr().out.splitlines()
    found = {line.split()[0]: line.split(maxsplit=1)[1] for line in lines if not line.startswith(" ")}
    return {**found, "told": "\n".join(line.strip() for line in lines if line.startswith(" "))}


def test_doctor_finds_nothing_wrong_with_a_sound_file(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(path, "doctor") == 0
    report = told(capsys)
    assert (report["copies"], report["problems"], report["told"]) == ("none", "none", "")


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o602, 0o644, 0o777])
def test_doctor_names_a_file_that_others_can_read_and_mends_it(
    path: Path, capsys: pytest.CaptureFixture[str], mode: int
) -> None:
    path.chmod(mode)
    assert run(path, "doctor") == 1
    report = told(capsys)
    assert (report["problems"], report["told"]) == ("1", f"{path} can be read by others than its owner")
    assert path.stat().st_mode & 0o777 == mode
    assert run(path, "doctor", "--fix") == 0
    report = told(capsys)
    assert report["fixed"] == f"{path} can be read by its owner only now"
    assert report["problems"] == "none"
    assert path.stat().st_mode & 0o777 == 0o600
    assert run(path, "doctor", "--fix") == 0
    assert "fixed" not in told(capsys)


@pytest.mark.parametrize("name", ["memory.db", "memory [x]*.db"])
def test_doctor_names_what_lies_beside_the_file_and_mends_what_needs_no_decision(
    path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    path = path.rename(path.with_name(name))
    beside = {
        f"{name}.before-0006": 12.5 * DAY,
        f"{name}.rescued-20260314T092653Z": 1.5 * DAY,
        f"{name}.rescued-20260314T092653Z-2": 5400,
        f"{name}.4711.tmp": UNFINISHED + 60,
        f"{name}.before-0009.abcdefgh.tmp": 99 * DAY,
        f"{name}.copy.mnopqrst.tmp-journal": UNFINISHED + 90,
        f"{name}.copy.abcdefgh.tmp": UNFINISHED - 30,
    }
    others = dict.fromkeys(["other.db.before-0009", f"{name}x", "notes.tmp"], DAY)
    for file, age in {**beside, **others}.items():
        path.with_name(file).write_text("private")
        path.with_name(file).chmod(0o600)
        written(path.with_name(file), age)
    open_one = path.with_name(f"{name}.rescued-20260314T092653Z")
    open_one.chmod(0o644)
    assert run(path, "doctor") == 1
    report = told(capsys)
    assert report["copies"] == (
        f"{name}.4711.tmp (unfinished, 1 hour old); {name}.before-0006 (12 days old); "
        f"{name}.before-0009.abcdefgh.tmp (unfinished, 99 days old); "
        f"{name}.copy.abcdefgh.tmp (unfinished, 59 minutes old); "
        f"{name}.copy.mnopqrst.tmp-journal (unfinished, 1 hour old)"
    )
    assert report["rescued"] == (
        f"{name}.rescued-20260314T092653Z (1 day old); {name}.rescued-20260314T092653Z-2 (1 hour old); "
        "may hold what was purged since: delete it when you need nothing more from it"
    )
    assert report["told"] == f"{open_one} can be read by others than its owner"
    assert run(path, "doctor", "--fix") == 0
    left = {file.name for file in path.parent.iterdir()}
    assert left == {name, *beside, *others} - {
        f"{name}.4711.tmp",
        f"{name}.before-0009.abcdefgh.tmp",
        f"{name}.copy.mnopqrst.tmp-journal",
    }
    assert open_one.stat().st_mode & 0o777 == 0o600
    assert open_one.read_text() == "private"


def test_fixing_leaves_a_backup_alone_that_is_being_written(
    path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Doctor runs when the copy is whole and not yet in its place."""
    target, flush = path.with_name("memory.db.copy"), migrate.flush
    codes = []

    def meanwhile(written: Path) -> None:
        flush(written)
        if written.suffix == ".tmp":
            codes.append(run(path, "doctor", "--fix"))

    monkeypatch.setattr(migrate, "flush", meanwhile)
    assert run(path, "backup", str(target)) == 0
    assert codes == [0]
    report = told(capsys)
    assert report["copies"].endswith(".tmp (unfinished, just written)")
    assert "fixed" not in report
    assert damage(target) == []


def test_doctor_says_what_is_wrong_beside_what_it_has_mended(
    path: Path, capsys: pytest.CaptureFixture[str], sqlite: Sqlite
) -> None:
    sqlite(path, "INSERT INTO turns (message, summary) VALUES (CAST(x'ff' AS TEXT), 'fine')")
    path.chmod(0o644)
    assert run(path, "doctor", "--fix") == 1
    report = told(capsys)
    assert (report["problems"], report["told"]) == ("1", "row 1 of turns: message is not UTF-8")


def test_fixing_is_a_word_of_doctor_alone(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(path, "backup", "--fix", "copy.db") == 2
    assert "unknown flag --fix" in capsys.readouterr().err


def test_a_file_with_a_link_beside_it_is_mended_without_following_the_link(
    path: Path, tmp_path: Path
) -> None:
    """`--fix` changes modes: it must not change those of a file that somebody else's link names."""
    victim = tmp_path / "victim"
    victim.write_bytes(SECRET)
    victim.chmod(0o644)
    path.with_name("memory.db.before-0009").symlink_to(victim)
    path.with_name("memory.db.rescued-1").symlink_to(tmp_path / "nothing")
    path.with_name("memory.db.1.tmp").symlink_to(victim)
    assert run(path, "doctor") in (0, 1)
    assert run(path, "doctor", "--fix") in (0, 1)
    assert victim.stat().st_mode & 0o777 == 0o644
    assert victim.read_bytes() == SECRET
