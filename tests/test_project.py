"""Which folder is which project: remotes, links, worktrees, submodules, places that are nobody's."""

import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import given as each
from hypothesis import strategies as st

from memory_server.project import NAME, NONE, Project, project_of
from memory_server.project.address import local_path, read


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
    assert of(tmp_path / "one").key == of(repository).key  # of which it is a clone
    git(tmp_path / "central.git", "remote", "remove", "origin")
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
    git(around, "remote", "remove", "origin")
    assert of(around / "main2") == of(around) == Project(str(around), "around")


def test_a_submodule_is_the_project_that_it_is_a_clone_of(repository: Path, tmp_path: Path) -> None:
    library = tmp_path.resolve() / "library"
    library.mkdir()
    git(library, "init")
    git(library, "commit", "--allow-empty", "-m", "first")
    git(repository, "submodule", "add", str(library), "vendor")
    assert of(repository / "vendor") == Project(str(library), "library", (str(repository / "vendor"),))
    git(repository / "vendor", "remote", "remove", "origin")
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


def test_a_long_name_is_cut() -> None:
    assert of("x" * 500) == Project("x" * NAME, "x" * NAME)


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


# Remotes


@pytest.mark.parametrize(
    "url",
    [
        "https://github.com/acme/app",
        "https://github.com/acme/app.git",
        "https://github.com/acme/app.git/",
        "https://GitHub.com:443/Acme/App.git",
        "https://www.github.com/acme//app",
        "http://github.com/acme/app",
        "https://me@github.com/acme/app",
        "https://me:ghp_S3cr3t@github.com/acme/app.git",
        "https://x-access-token:S3cr3t@github.com/acme/app.git?token=S3cr3t#S3cr3t",
        "https://me:S3/cr#3t@github.com/acme/app",
        "https://me@corp.com:S3cr3t@github.com/acme/app",
        "git@github.com:acme/app.git",
        "git@github.com:/acme/app.git",
        "github.com:acme/app",
        "me:S3cr3t@github.com:acme/app",
        "me:S3cr3t@github.com/acme/app",
        "ssh://git@github.com/acme/app.git",
        "ssh://git@github.com:22/acme/app.git",
        "ssh://git@ssh.github.com:443/acme/app.git",
        "[git@github.com:22]:acme/app.git",
        "git+ssh://git@github.com/acme/app",
        "git://github.com:9418/acme/app.git",
        "ssh::ssh://git@github.com/acme/app",
        "git@github.com:~/acme/app.git",
        "https://github.com/%61cme/app",
        "  https://github.com/acme/app  ",
    ],
)
def test_each_form_of_an_address_is_one_key_and_holds_no_credential(url: str) -> None:
    found = read(url)
    assert found is not None
    assert found.key == "github.com/acme/app"
    assert found.name.lower() == "app"


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("ssh://git@example.org:2222/acme/app", "example.org:2222/acme/app"),
        ("[git@example.org:2222]:acme/app", "example.org:2222/acme/app"),
        ("https://example.org:8443/app.git", "example.org:8443/app"),
        ("git@example.org:/srv/git/app.git", "example.org/srv/git/app"),
        ("ssh://git@[::1]/acme/app", "::1/acme/app"),
        ("git@[::1]:acme/app", "::1/acme/app"),
        ("git@ssh.dev.azure.com:v3/acme/shop/app", "dev.azure.com/acme/shop/app"),
        ("https://acme@dev.azure.com/acme/shop/_git/app", "dev.azure.com/acme/shop/app"),
        ("https://example.org/组/应用.git", "example.org/组/应用"),
    ],
)
def test_ports_and_hosts_that_differ_stay_apart(url: str, key: str) -> None:
    assert (found := read(url)) is not None
    assert found.key == key


@pytest.mark.parametrize(
    "url",
    ["", "https://", "https://github.com", "https://me:S3cr3t@", "://", "a b", ":", "@", "[", "http://[x"],
)
def test_what_names_no_repository_is_no_address(url: str) -> None:
    assert read(url) is None


@each(
    st.text(st.sampled_from("aZ0:/@#?%[]. \\~-_商"), min_size=1, max_size=40),
    st.sampled_from(["https://", "ssh://", ""]),
)
def test_no_part_of_a_user_or_a_password_is_ever_kept(secret: str, scheme: str) -> None:
    found = read(f"{scheme}{secret}@example.org/acme/app.git")
    assert found is not None
    assert found.key == "example.org/acme/app"


@each(st.text())
def test_any_text_is_read_as_an_address_or_not_without_a_crash(text: str) -> None:
    for line in (text, f"https://{text}", f"git@{text}", f"[{text}]:{text}"):
        read(line)
        local_path(line)


def with_remotes(repository: Path, **remotes: str) -> Project:
    for name, url in remotes.items():
        git(repository, "remote", "add", name, url)
    return of(repository)


def test_a_repository_is_known_by_its_remote_and_named_after_it(repository: Path) -> None:
    assert with_remotes(repository, origin="git@github.com:Acme/App.git") == Project(
        "github.com/acme/app", "App", (str(repository),)
    )


def test_origin_comes_before_upstream_and_that_before_others(repository: Path) -> None:
    assert with_remotes(repository, fork="https://h/fork/app").key == "h/fork/app"
    assert with_remotes(repository, zoo="https://h/zoo/app").key == "h/fork/app"
    assert with_remotes(repository, upstream="https://h/upstream/app").key == "h/upstream/app"
    assert with_remotes(repository, origin="https://h/origin/app").key == "h/origin/app"


def test_clones_of_one_remote_its_worktrees_and_a_moved_folder_are_one_project(
    repository: Path, tmp_path: Path
) -> None:
    expected = with_remotes(repository, origin="https://me:S3cr3t@example.org/acme/shop.git").key
    git(tmp_path, "clone", str(repository), "second")
    git(tmp_path / "second", "remote", "set-url", "origin", "ssh://git@example.org/acme/shop")
    git(tmp_path / "second", "worktree", "add", str(tmp_path / "tree"))
    repository.rename(tmp_path / "moved")
    found = [of(tmp_path / name) for name in ("second", "tree", "moved")]
    assert {project.key for project in found} == {expected} == {"example.org/acme/shop"}
    assert {project.name for project in found} == {"shop"}
    assert [project.folder for project in found] == [
        str(tmp_path.resolve() / name) for name in ("second", "second", "moved")
    ]


@pytest.mark.parametrize("form", ["{}", "file://{}", "{}/.git"])
def test_a_clone_of_a_folder_is_the_project_of_that_folder(
    repository: Path, tmp_path: Path, form: str
) -> None:
    git(tmp_path, "clone", form.format(repository), "clone")
    git(tmp_path, "clone", str(tmp_path / "clone"), "again")
    assert of(tmp_path / "clone").key == of(tmp_path / "again").key == str(repository)
    with_remotes(repository, origin="https://example.org/acme/shop")
    assert of(tmp_path / "again").key == "example.org/acme/shop"
    assert of(tmp_path / "again").paths == tuple(
        str(tmp_path.resolve() / name) for name in ("again", "clone", "shop")
    )


def test_clones_of_a_bare_repository_are_one_project_also_when_it_is_gone(
    repository: Path, tmp_path: Path
) -> None:
    git(tmp_path, "clone", "--bare", str(repository), "central.git")
    git(tmp_path / "central.git", "remote", "remove", "origin")
    for name in ("one", "two"):
        git(tmp_path, "clone", str(tmp_path / "central.git"), name)
    assert of(tmp_path / "one").key == str(tmp_path.resolve() / "central.git")
    assert of(tmp_path / "one").name == "central"
    (tmp_path / "central.git").rename(tmp_path / "elsewhere")
    assert of(tmp_path / "one").key == of(tmp_path / "two").key == str(tmp_path.resolve() / "central.git")


def test_clones_in_a_circle_are_no_endless_loop(repository: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", str(repository), "clone")
    with_remotes(repository, origin=str(tmp_path / "clone"))
    assert of(repository).key in (str(repository), str(tmp_path.resolve() / "clone"))


@pytest.mark.parametrize(
    ("config", "key"),
    [
        ('[remote "origin"]\n\turl = https://h/a/b.git\n', "h/a/b"),
        ('[REMOTE "origin"]\nURL=https://h/a/b\n', "h/a/b"),
        ('[remote "origin"] url = https://h/a/b', "h/a/b"),
        ('\ufeff[remote "origin"]\r\nurl = "https://h/a/b" ; mine\r\n', "h/a/b"),
        ('[remote "origin"]\n# url = https://h/no/no\nurl = https://h/a/b # and why\n', "h/a/b"),
        ('[remote "origin"]\nurl = https://h/a/\\\nb\n', "h/a/b"),
        ('[remote "origin"]\nurl = https://h/a/b\nurl = https://h/c/d\npushurl = https://h/e/f\n', "h/a/b"),
        ('[remote "origin"]\nfetch = x\n[branch "main"]\nurl = https://h/no/no\n', None),
        ('[remote "origin"]\nurl\n', None),
        ('[remote "origin"]\nurl =\n', None),
        ("[remote]\nurl = https://h/no/no\n", None),
        ('[remote "origin"\nurl = https://h/no/no\n', None),
        ("\x00\x01\xff", None),
        ("", None),
    ],
)
def test_the_config_is_read_as_git_reads_it(tmp_path: Path, config: str, key: str | None) -> None:
    folder = tmp_path.resolve() / "shop"
    (folder / ".git").mkdir(parents=True)
    (folder / ".git" / "config").write_text(config, encoding="utf-8", newline="")
    assert of(folder).key == (key or str(folder))


def test_a_config_that_cannot_be_read_leaves_the_folder(tmp_path: Path) -> None:
    folder = tmp_path.resolve() / "shop"
    (folder / ".git" / "config").mkdir(parents=True)
    assert of(folder) == Project(str(folder), "shop")


def test_the_address_of_a_remote_is_the_project_of_its_clones(repository: Path) -> None:
    expected = with_remotes(repository, origin="https://github.com/acme/app")
    for given in ("https://me:S3cr3t@github.com/acme/app.git", "git@github.com:acme/app"):
        assert of(given) == Project(expected.key, expected.name)
