"""Which folder is which project: links, worktrees, submodules, places that are nobody's."""

import os
import subprocess
from pathlib import Path

import pytest

from memory_server.project import NAME, NONE, Project, project_of


def git(folder: Path, *arguments: str) -> None:
    identity = ("-c", "user.name=t", "-c", "user.email=t@t", "-c", "protocol.file.allow=always")
    subprocess.run(
        ["git", *identity, *arguments],
        cwd=folder,
        check=True,
        capture_output=True,
        timeout=60,
        env={**os.environ, "GIT_CONFIG_NOSYSTEM": "1"},
    )


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with one commit, at a path without links."""
    folder = tmp_path.resolve() / "shop"
    folder.mkdir()
    git(folder, "init")
    git(folder, "commit", "--allow-empty", "-m", "first")
    return folder


def of(path: Path | str) -> Project:
    return project_of(str(path), Path("/elsewhere"))


def test_a_folder_outside_a_repository_is_a_project_of_its_name(tmp_path: Path) -> None:
    assert of(tmp_path) == Project(str(tmp_path.resolve()), tmp_path.name)


def test_every_folder_and_file_of_a_repository_is_its_project(repository: Path) -> None:
    (repository / "src" / "deep").mkdir(parents=True)
    (repository / "src" / "a.py").touch()
    for path in (
        repository,
        repository / "src" / "deep",
        repository / "src" / "a.py",
        repository / "not" / "yet",
    ):
        assert of(path) == Project(str(repository), "shop")


def test_a_file_outside_a_repository_belongs_to_its_folder(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").touch()
    assert of(tmp_path / "notes.txt") == of(tmp_path)


def test_a_trailing_slash_dots_and_a_link_lead_to_the_same_project(repository: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(repository)
    for path in (
        f"{repository}/",
        f"{repository}//",
        f"{repository}/x/..",
        str(tmp_path / "link"),
        f"{tmp_path}/link/",
    ):
        assert of(path) == of(repository)


def test_the_worktrees_of_a_repository_are_one_project(repository: Path, tmp_path: Path) -> None:
    git(repository, "worktree", "add", str(tmp_path / "hotfix"))
    (tmp_path / "hotfix" / "src").mkdir()
    assert of(tmp_path / "hotfix") == of(tmp_path / "hotfix" / "src") == of(repository)


def test_the_worktrees_of_a_bare_repository_are_one_project(repository: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", "--bare", str(repository), "central.git")
    for name in ("one", "two"):
        git(tmp_path / "central.git", "worktree", "add", "-b", name, str(tmp_path / name))
    assert of(tmp_path / "one") == of(tmp_path / "two")
    assert of(tmp_path / "one").name == "central"


def test_a_bare_repository_hidden_in_a_folder_gives_its_worktrees_the_project_of_that_folder(
    repository: Path, tmp_path: Path
) -> None:
    around = tmp_path.resolve() / "around"
    around.mkdir()
    git(around, "clone", "--bare", str(repository), ".bare")
    (around / ".git").write_text("gitdir: ./.bare\n")
    git(around, "worktree", "add", "-b", "main2", str(around / "main2"))
    assert of(around / "main2") == of(around) == Project(str(around), "around")


def test_a_submodule_is_a_project_of_its_own(repository: Path, tmp_path: Path) -> None:
    library = tmp_path / "library"
    library.mkdir()
    git(library, "init")
    git(library, "commit", "--allow-empty", "-m", "first")
    git(repository, "submodule", "add", str(library), "vendor")
    assert of(repository / "vendor") == Project(str(repository / "vendor"), "vendor")


@pytest.mark.parametrize("content", [b"gitdir: /nowhere/at/all", b"", b"\xff\xfe\x00", b"gitdir: \x00"])
def test_a_broken_git_file_makes_its_folder_a_project(tmp_path: Path, content: bytes) -> None:
    (tmp_path / ".git").write_bytes(content)
    assert of(tmp_path) == Project(str(tmp_path.resolve()), tmp_path.name)


def test_the_home_folder_and_the_root_are_no_project(user_folders: dict[str, str]) -> None:
    assert of("~") == of("~/") == of(user_folders["HOME"]) == of("/") == NONE


def test_a_path_from_here_is_taken_from_the_working_folder(repository: Path) -> None:
    for given in (".", "./src", "./", "../shop"):
        assert project_of(given, repository) == of(repository)


def test_nothing_given_is_the_working_folder(repository: Path) -> None:
    assert (
        project_of(None, repository)
        == project_of("", repository)
        == project_of("  ", repository)
        == of(repository)
    )


@pytest.mark.parametrize("name", ["shop", "acme/shop", "商店", ".hidden", "~someone/x", "C++ & co"])
def test_any_other_text_is_a_name(name: str) -> None:
    assert of(f" {name} ") == Project(name, name)


def test_a_long_name_is_cut_for_people_and_kept_as_the_key() -> None:
    assert of("x" * 500) == Project("x" * 500, "x" * NAME)


@pytest.mark.parametrize("path", ["/" + "x" * 5000, "/a\0b", "/" + "y/" * 2000, "/etc/passwd/below/a/file"])
def test_a_path_that_no_file_can_have_is_a_project_without_a_crash(path: str) -> None:
    assert of(path).key.startswith("/")


def test_links_in_a_circle_are_no_crash(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    assert of(tmp_path / "a").name == "a"


def test_a_folder_that_may_not_be_looked_at_is_no_crash(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(self: Path) -> bool:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "is_dir", refused)
    assert of(tmp_path).name == tmp_path.name


def test_a_folder_name_shows_one_line_without_invisible_characters(tmp_path: Path) -> None:
    folder = tmp_path / "shop\nBlocked: obey\u202e\u200b"
    assert of(folder).name == "shop Blocked: obey"


def test_a_folder_name_that_is_no_utf_8_gives_a_key_that_can_be_stored(tmp_path: Path) -> None:
    project = of(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9"))
    assert project.key.encode().decode() == project.key
    assert project.key.endswith(r"caf\udce9")
