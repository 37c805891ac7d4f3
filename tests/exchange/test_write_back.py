"""What is corrected here is written back into the files of Claude Code's memory, where the person wants that."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from memory_server import app
from memory_server.app import Services
from memory_server.domain.caller import Caller
from memory_server.domain.change import ChangeFilter
from memory_server.domain.memory import MemoryChange, MemoryDraft, MemoryId, MemoryType
from memory_server.importing import corrected
from memory_server.settings import Settings
from tests.conftest import Servers, call, eventually
from tests.exchange.conftest import Run

TEXT = (
    "---\nname: release\ndescription: Releases are on Tuesdays\nmetadata:\n  node_type: memory\n  type: project\n---\n"
    "Releases are on Tuesdays\n\n**Why:** nobody works on Mondays\n"
)
CONTENT = "Releases are on Tuesdays\n\n**Why:** nobody works on Mondays"
NEW = "Releases are on Thursdays\n\n**Why:** nobody works on Mondays"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The memory of a project as Claude Code lays it out."""
    folder = tmp_path / "home/.claude/projects/-srv-shop/memory"
    folder.mkdir(parents=True)
    (folder / "MEMORY.md").write_text("- [Release](release.md)\n")
    (folder / "release.md").write_text(TEXT)
    return folder


@pytest.fixture
def services(tmp_path: Path) -> Iterator[Services]:
    services = app.build(Settings(db=tmp_path / "memory.db", embedder="hashing"))
    yield services
    services.close()


def imported(run: Run, services: Services, folder: Path, *flags: str) -> str:
    """Import the folder; what the command says."""
    assert isinstance(services.settings.db, Path)
    done = run(services.settings.db, "import", folder, *flags)
    assert (done.code, done.err) == (0, "")
    return done.out


def update(services: Services, content: str, id: int = 1) -> None:
    services.memories.update(MemoryId(id), MemoryChange(content=content), Caller())


def undo(services: Services) -> None:
    (last,) = services.changes.select(ChangeFilter(undone=True), 1, Caller()).changes
    assert last.id is not None
    services.changes.undo([last.id], Caller())


def written(services: Services, says: str) -> str:
    """Return the line with which a file of this text ends."""
    with services.database.read() as tx:
        return f"**Correction from memory-server, {tx.now[:10]}:** {says}"


def contents(services: Services) -> list[str]:
    with services.database.read() as tx:
        return [content for content, _ in tx.statements.rows("SELECT content, id FROM memories ORDER BY id")]


def test_nothing_is_written_unless_the_person_says_so(run: Run, services: Services, folder: Path) -> None:
    assert "written back" not in imported(run, services, folder)
    update(services, NEW)
    assert services.corrections.write_back() == []
    assert (folder / "release.md").read_text() == TEXT


def test_a_correction_is_a_line_of_the_file_and_undo_takes_it_back(
    run: Run, services: Services, folder: Path
) -> None:
    path = folder / "release.md"
    path.chmod(0o640)
    assert "what you correct here is written back to 1 file" in imported(
        run, services, folder, "--write-back"
    )
    update(services, NEW)
    assert services.corrections.write_back() == []
    line = written(services, "Releases are on Thursdays")
    assert path.read_text() == f"{TEXT}\n{line}\n"
    assert path.stat().st_mode & 0o777 == 0o640
    assert sorted(file.name for file in folder.iterdir()) == ["MEMORY.md", "release.md"]
    update(services, "Releases are on Fridays")
    services.corrections.write_back()
    assert path.read_text() == f"{TEXT}\n{written(services, 'Releases are on Fridays')}\n"
    undo(services)
    services.corrections.write_back()
    assert path.read_text() == f"{TEXT}\n{line}\n"
    undo(services)
    services.corrections.write_back()
    assert path.read_text() == TEXT


def test_what_is_written_back_is_not_taken_in_as_new(run: Run, services: Services, folder: Path) -> None:
    imported(run, services, folder, "--write-back")
    update(services, NEW)
    services.corrections.write_back()
    assert "memories: there already 1" in imported(run, services, folder)
    services.following.follow(folder, Caller())
    assert contents(services) == [NEW]
    with services.database.read() as tx:
        assert tx.statements.value("SELECT count(*) FROM events") == 1
    path = folder / "release.md"  # the client reads the correction, and writes the fact anew
    path.write_text(TEXT.replace("Tuesdays", "Thursdays").replace("nobody", "no one"))
    assert "memories: updated 1" in imported(run, services, folder)
    assert contents(services) == [NEW.replace("nobody", "no one")]
    assert services.corrections.write_back() == []
    assert path.read_text() == TEXT.replace("Tuesdays", "Thursdays").replace("nobody", "no one")


def test_the_client_adds_to_a_file_behind_the_correction(run: Run, services: Services, folder: Path) -> None:
    imported(run, services, folder, "--write-back")
    update(services, NEW)
    services.corrections.write_back()
    path = folder / "release.md"
    text = path.read_text().replace("\n**Why:**", "\nAt nine.\n\n**Why:**")
    path.write_text(text)
    imported(run, services, folder)
    (content,) = contents(services)
    line = written(services, "Releases are on Thursdays")
    assert "At nine." in content
    assert content.endswith(line)
    assert services.corrections.write_back() == []
    assert path.read_text() == text
    update(services, content.replace("At nine.", "At ten."))
    services.corrections.write_back()
    assert path.read_text() == f"{text}\n{written(services, 'At ten.')}\n"


def test_what_supersedes_and_what_is_deleted_is_written_back(
    run: Run, services: Services, folder: Path
) -> None:
    path = folder / "release.md"
    imported(run, services, folder, "--write-back")
    draft = MemoryDraft("Since May we release twice a week", MemoryType.DECISION)
    new = services.memories.store(draft, None, Caller(), supersedes=[MemoryId(1)]).memory
    services.corrections.write_back()
    assert path.read_text() == f"{TEXT}\n{written(services, draft.content)}\n"
    imported(run, services, folder)
    services.memories.forget(new.id, False, Caller())
    services.corrections.write_back()
    assert path.read_text() == TEXT
    services.memories.forget(MemoryId(1), False, Caller())
    services.corrections.write_back()
    gone = written(services, "What this file says no longer holds.")
    assert path.read_text() == f"{TEXT}\n{gone}\n"
    assert "memories: deleted here 1" in imported(run, services, folder)
    services.memories.restore(MemoryId(1))
    services.corrections.write_back()
    assert path.read_text() == TEXT


def test_a_file_that_has_changed_since_is_left_alone_and_told(
    run: Run, services: Services, folder: Path
) -> None:
    path = folder / "release.md"
    imported(run, services, folder, "--write-back")
    update(services, NEW)
    path.write_text(TEXT.replace("Tuesdays", "Mondays"))
    (refusal,) = services.corrections.write_back()
    why = "not written back: it has changed since it was read; import it again"
    assert (refusal.where, refusal.why) == (str(path), why)
    assert path.read_text() == TEXT.replace("Tuesdays", "Mondays")
    assert services.corrections.refused() == [refusal]
    assert isinstance(services.settings.db, Path)
    done = run(services.settings.db, "list")
    assert f"{path}: {why}" in " ".join(done.err.split())
    doctor = run(services.settings.db, "doctor")
    assert f"write-back  {folder}" in doctor.out
    assert why in " ".join(doctor.out.split())
    path.write_text(TEXT.replace("Tuesdays", "Thursdays"))  # the person mends it there
    assert "memories: there already 1" in imported(run, services, folder)
    assert services.corrections.write_back() == []


@pytest.mark.parametrize("way", ["file", "folder", "beside"])
def test_no_link_is_followed(run: Run, services: Services, folder: Path, tmp_path: Path, way: str) -> None:
    path, elsewhere = folder / "release.md", tmp_path / "elsewhere"
    imported(run, services, folder, "--write-back")
    update(services, NEW)
    elsewhere.mkdir()
    if way == "folder":
        elsewhere.rmdir()
        folder.rename(elsewhere)
        folder.symlink_to(elsewhere)
    else:
        target = elsewhere / "release.md" if way == "file" else folder / "other.md"
        path.rename(target)
        path.symlink_to(target)
    (refusal,) = services.corrections.write_back()
    assert "a link leads to it" in refusal.why
    assert path.read_text() == TEXT


@pytest.mark.parametrize(
    "data",
    [
        TEXT.encode(),
        TEXT.rstrip("\n").encode(),
        TEXT.replace("\n", "\r\n").encode(),
        b"\xef\xbb\xbf" + TEXT.encode(),
        TEXT.encode("utf-16"),
        TEXT.replace(
            "Releases are on Tuesdays", "生产环境每周二上午十点发布，周五不发布，周末也不发布"
        ).encode("gbk"),
    ],
    ids=["plain", "no last line end", "crlf", "mark", "utf-16", "gbk"],
)
def test_all_other_bytes_stay(run: Run, services: Services, folder: Path, data: bytes) -> None:
    path = folder / "release.md"
    path.write_bytes(data)
    imported(run, services, folder, "--write-back")
    (content,) = contents(services)
    update(services, content.replace("nobody", "no one"))
    assert services.corrections.write_back() == []
    now = path.read_bytes()
    assert now.startswith(data)
    assert len(now) > len(data)
    text = corrected.read(path, folder).text
    assert text.rstrip("\r\n").endswith("**Why:** no one works on Mondays")
    assert text.count("\r\n") in (0, text.count("\n"))
    assert "memories: there already 1" in imported(run, services, folder)
    undo(services)
    services.corrections.write_back()
    assert path.read_bytes() == data


def test_a_file_that_changes_while_it_is_written_is_not_replaced(folder: Path) -> None:
    path = folder / "release.md"
    file = corrected.read(path, folder)
    path.write_text("another text")
    with pytest.raises(Exception, match="it has changed since it was read"):
        file.replace("new")
    assert path.read_text() == "another text"
    assert sorted(file.name for file in folder.iterdir()) == ["MEMORY.md", "release.md"]


def test_an_import_that_is_forgotten_or_undone_marks_no_file(
    run: Run, services: Services, folder: Path
) -> None:
    imported(run, services, folder, "--write-back")
    assert isinstance(services.settings.db, Path)
    assert run(services.settings.db, "forget", "--from", folder, "--yes").code == 0
    assert run(services.settings.db, "undo", "g2").code == 0
    imported(run, services, folder, "--write-back")
    assert run(services.settings.db, "undo", "i1").code == 0
    assert contents(services) == []
    assert (folder / "release.md").read_text() == TEXT


def test_a_new_file_is_written_back_like_the_others_until_the_person_ends_it(
    run: Run, services: Services, folder: Path
) -> None:
    imported(run, services, folder, "--write-back")
    path = folder / "lamp.md"
    path.write_text("---\nname: lamp\ntype: project\n---\nThe lamp is lit at dusk\n")
    os.utime(path, (4_000_000_000, 4_000_000_000))
    services.following.follow(folder, Caller())
    assert services.corrections.files() == [str(folder / "release.md"), str(path)]
    update(services, "The lamp is lit at six", 2)
    services.corrections.write_back()
    assert path.read_text().endswith(f"\n{written(services, 'The lamp is lit at six')}\n")
    assert "written back" not in imported(run, services, folder, "--no-write-back")
    update(services, "The lamp is lit at ten", 2)
    services.corrections.write_back()
    assert "ten" not in path.read_text()


def test_only_memories_of_claude_code_in_a_file_are_written_back(
    run: Run, services: Services, folder: Path, tmp_path: Path
) -> None:
    notes = tmp_path / "notes.jsonl"
    notes.write_text('{"text": "The audit is on 3 December."}\n')
    assert isinstance(services.settings.db, Path)
    done = run(services.settings.db, "import", notes, "--write-back")
    assert done.code == 2
    assert "a folder in which Claude Code keeps its memories" in " ".join(done.err.split())


@pytest.mark.anyio
async def test_a_running_server_writes_back_what_a_client_corrects(
    server: Servers, run: Run, folder: Path
) -> None:
    path = folder / "release.md"

    async def ends(with_text: str) -> None:
        async def is_there() -> bool:
            return with_text in path.read_text()

        await eventually(is_there, f"{with_text} in the file")

    assert run(server.db, "import", folder, "--write-back").code == 0
    async with server() as client:
        await call(client, "memory_update", id=1, content=NEW)
        await ends("Releases are on Thursdays")
        await call(client, "forget", refs=["m1"])
        await ends("no longer holds")
        await call(client, "forget", refs=["m1"], undo=True)
        await ends("Releases are on Thursdays")
    assert path.read_text().startswith(TEXT)
