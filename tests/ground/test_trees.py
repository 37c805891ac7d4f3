"""Working trees of every kind: worktrees, submodules, links, odd files, and indexes of every version."""

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memory_server.ground import State, look, observe, remark
from memory_server.ground.budget import Budget
from memory_server.ground.tree import MOST_BYTES, around
from tests.ground.conftest import AMPLE, Repository

NOTE = "port is 5433; it is set in config.py line 1"


def month_of(repository: Repository) -> str:
    modified = (repository.root / "config.py").stat().st_mtime
    return datetime.fromtimestamp(modified, UTC).strftime("%b")


def listed(repository: Repository) -> set[str]:
    tree = around(repository.root)
    assert tree is not None
    return set(tree.listing(Budget(AMPLE)).paths)


@pytest.mark.parametrize("version", [2, 3, 4])
def test_an_index_of_every_version_is_read_as_git_reads_it(repository: Repository, version: int) -> None:
    long = "/".join(["a" * 200] * 18) + "/long.py"
    files = [*(f"pack/{'x' * n}.py" for n in range(1, 20)), "pack/é 名.py", "z/y.py"]
    repository.commit(dict.fromkeys(files, "x = 1\n"))
    repository.git(
        "update-index", "--add", "--cacheinfo", f"100644,{repository.git('rev-parse', 'HEAD:z/y.py')},{long}"
    )
    repository.write("new.py", "")
    repository.git("add", "--intent-to-add", "new.py")  # an extended entry, which version 2 cannot hold
    if version != 2:
        repository.git("update-index", "--index-version", str(version))
    names = repository.git("-c", "core.quotePath=false", "ls-files").splitlines()
    assert listed(repository) == set(names)
    assert long in names


def test_a_split_index_is_read_with_its_shared_part(repository: Repository) -> None:
    repository.git("update-index", "--split-index")
    repository.write("more.py", "x = 1\n")
    repository.git("add", "more.py")
    assert {"config.py", "more.py", "src/a.py"} <= listed(repository)


def test_an_index_with_digests_of_sha256_is_read(tmp_path: Path) -> None:
    repository = Repository(tmp_path.resolve() / "new")
    repository.root.mkdir()
    repository.git("init", "-q", "--object-format=sha256")
    repository.commit({"a/b.py": "load_more = 1\n", "c.py": ""})
    assert listed(repository) == {"a/b.py", "c.py"}
    assert len(repository.observe("`load_more`")[0].commit) == 12


def test_a_broken_index_proves_nothing(repository: Repository) -> None:
    anchors = repository.observe("`load_settings` reads it")
    repository.write("src/a.py", "")
    repository.write(".git/index", b"DIRC\0\0\0\2\0\0\1\0 and no more")
    assert [verdict.state for verdict in repository.look(anchors)] == [State.UNKNOWN]


def test_head_is_named_in_every_form(repository: Repository) -> None:
    head = repository.git("rev-parse", "HEAD")[:12]
    tree = around(repository.root)
    assert tree is not None
    assert tree.head() == (head, "main")
    repository.git("pack-refs", "--all")
    assert tree.head() == (head, "main")
    repository.git("checkout", "-q", "--detach")
    assert tree.head() == (head, "")
    repository.git("checkout", "-q", "--orphan", "empty/new")
    assert tree.head() == ("", "empty/new")


def test_a_worktree_is_a_tree_of_its_own(repository: Repository, tmp_path: Path) -> None:
    anchors = repository.observe(NOTE)
    repository.git("worktree", "add", "-q", "-b", "next", str(tmp_path / "next"))
    other = Repository(tmp_path.resolve() / "next")
    other.write("config.py", "PORT = 6000\n")
    assert [verdict.state for verdict in repository.look(anchors)] == [State.SAME]
    (verdict,) = other.look(anchors)
    assert (verdict.state, verdict.text, verdict.branch) == (State.CHANGED, "PORT = 6000", "next")
    head = repository.git("rev-parse", "HEAD")[:7]
    assert remark(verdict).startswith("config.py:1 now reads `PORT = 6000` (")
    assert remark(verdict).endswith(f" {month_of(other)}, {head}, branch next)")
    other.write("config.py", "")
    assert [remark(verdict) for verdict in other.look(anchors)] == [
        "`PORT` is gone from config.py (branch next)"
    ]
    assert listed(other) == listed(repository)


def test_a_submodule_is_a_tree_of_its_own(repository: Repository, tmp_path: Path) -> None:
    part = Repository(tmp_path.resolve() / "part")
    part.root.mkdir()
    part.git("init", "-q", "-b", "main")
    part.commit({"config.py": "PORT = 7000\n"})
    repository.git("submodule", "add", "-q", str(part.root), "part")
    repository.commit()
    inside = Repository(repository.root / "part")
    assert [anchor.value for anchor in inside.observe("port 7000")] == ["7000"]
    assert "part" not in listed(repository)
    assert repository.observe("port 7000") == ()


def test_any_folder_of_a_tree_stands_for_it(repository: Repository) -> None:
    anchors = observe("`load_settings` in a.py", repository.root / "src", seconds=AMPLE)
    assert [anchor.path for anchor in anchors] == ["src/a.py"]
    assert [verdict.state for verdict in look(anchors, repository.root / "src", seconds=AMPLE)] == [
        State.SAME
    ]


def test_a_file_that_a_sparse_checkout_leaves_out_is_not_gone(repository: Repository) -> None:
    anchors = (*repository.observe("`load_settings` reads it"), *repository.observe("see src/a.py"))
    repository.git("sparse-checkout", "set", "--no-cone", "/*", "!/src")
    assert not (repository.root / "src/a.py").exists()
    assert [verdict.state for verdict in repository.look(anchors)] == [State.UNKNOWN] * 2


@pytest.mark.skipif(os.name == "nt", reason="a link needs a right")
def test_no_link_is_followed(repository: Repository, tmp_path: Path) -> None:
    anchors = (*repository.observe("`load_settings` in src/a.py"), *repository.observe("see src/a.py"))
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a.py").write_text("def load_settings(path):\n    secret_name = 1\n", encoding="utf-8")
    (repository.root / "src/a.py").unlink()
    (repository.root / "src/a.py").symlink_to(outside / "a.py")
    assert [verdict.state for verdict in repository.look(anchors)] == [State.UNKNOWN, State.SAME]
    (repository.root / "src/a.py").unlink()
    (repository.root / "src").rmdir()
    (repository.root / "src").symlink_to(outside)
    assert [verdict.state for verdict in repository.look(anchors)] == [State.UNKNOWN] * 2
    assert repository.observe("`secret_name` in src/a.py", "src/a.py", str(outside / "a.py")) == ()


@pytest.mark.skipif(os.name == "nt", reason="there are no named pipes")
def test_a_pipe_is_not_read(repository: Repository) -> None:
    anchors = repository.observe("`load_settings` in src/a.py")
    (repository.root / "src/a.py").unlink()
    os.mkfifo(repository.root / "src/a.py")
    assert [verdict.state for verdict in repository.look(anchors)] == [State.UNKNOWN]


def test_a_large_or_binary_file_is_not_read(repository: Repository) -> None:
    anchors = repository.observe("`load_settings` in src/a.py")
    with (repository.root / "src/a.py").open("wb") as file:
        file.truncate(1_000_000_000)
    assert [verdict.state for verdict in repository.look(anchors)] == [State.UNKNOWN]
    repository.write("src/a.py", b"def load_settings(path):\n\0")
    assert [verdict.state for verdict in repository.look(anchors)] == [State.UNKNOWN]
    repository.write("src/a.py", b"def load_settings(path):\n" + b"#" * (MOST_BYTES - 25))
    assert [verdict.state for verdict in repository.look(anchors)] == [State.SAME]
    repository.write("src/a.py", b"def load_settings(path):\n" + b"#" * (MOST_BYTES - 24))
    assert [verdict.state for verdict in repository.look(anchors)] == [State.UNKNOWN]


@pytest.mark.parametrize("encoding", ["latin-1", "utf-8-sig", "gb18030"])
def test_a_text_in_another_encoding_is_read(repository: Repository, encoding: str) -> None:
    text = "load_more = 'Größe'\r\n" if encoding == "latin-1" else "load_more = '大小'\r\n"
    repository.commit({"b.py": text.encode(encoding)})
    anchors = repository.observe("`load_more`")
    repository.write("b.py", b"\r\n" + text.encode(encoding).removeprefix(b"\xef\xbb\xbf"))
    assert [(verdict.state, verdict.line) for verdict in repository.look(anchors)] == [(State.MOVED, 2)]


def test_markers_of_a_merge_leave_a_change_open(repository: Repository) -> None:
    anchors = repository.observe(NOTE)
    repository.git("checkout", "-q", "-b", "theirs")
    repository.commit({"config.py": 'HOST = "a"\nPORT = 6000\n'})
    repository.git("checkout", "-q", "main")
    repository.commit({"config.py": 'HOST = "a"\nPORT = 7000\n'})
    with pytest.raises(Exception, match="merge"):
        repository.git("merge", "theirs")
    assert "<<<<<<<" in (repository.root / "config.py").read_text(encoding="utf-8")
    assert [verdict.state for verdict in repository.look(anchors)] == [State.UNKNOWN]
    assert "config.py" in listed(repository)


def test_what_stands_outside_of_the_markers_stands(repository: Repository) -> None:
    anchors = repository.observe(NOTE)
    repository.write("config.py", "<<<<<<< a\nHOST = 1\n=======\nHOST = 2\n>>>>>>> b\nPORT = 5433\n")
    assert [verdict.state for verdict in repository.look(anchors)] == [State.MOVED]


def test_over_budget_nothing_is_said(repository: Repository) -> None:
    anchors = repository.observe(NOTE)
    repository.write("config.py", "PORT = 6000\n")
    assert [verdict.state for verdict in look(anchors, repository.root, seconds=0)] == [State.UNKNOWN]
    assert observe(NOTE, repository.root, seconds=0) != ()  # its file is named: nothing is searched
    assert observe("`load_settings` reads it", repository.root, seconds=0) == ()


def test_a_file_that_git_does_not_know_is_observed_where_it_is_named(repository: Repository) -> None:
    repository.write(".env", "CACHE_SIZE=900\n")
    assert [anchor.name for anchor in repository.observe("cache size is 900 in .env")] == ["CACHE_SIZE"]
    assert [anchor.name for anchor in repository.observe("cache size is 900", ".env")] == ["CACHE_SIZE"]
