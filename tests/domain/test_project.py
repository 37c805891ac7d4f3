"""The names of projects, from what is known of them."""

from hypothesis import given
from hypothesis import strategies as st

from memory_server.domain.project import chosen_name, default_conversation, folder_names
from memory_server.project import NAME, Project

TEXTS = st.text(st.sampled_from("aB/\\.*-2 商\n\u200b"), max_size=30)


@given(TEXTS, TEXTS, st.lists(TEXTS))
def test_a_name_is_never_taken_never_empty_and_never_too_long(key: str, name: str, taken: list[str]) -> None:
    project = Project(key, name)
    chosen = chosen_name(project, taken)
    assert chosen.casefold() not in {each.casefold() for each in taken}
    assert 1 <= len(chosen) <= NAME
    assert chosen != "*"


def test_the_folders_above_tell_two_projects_of_one_name_apart() -> None:
    project = Project("github.com/acme/app", "App", ("/home/me/app",))
    taken: list[str] = []
    for _ in range(5):
        taken.append(chosen_name(project, taken))
    assert taken == ["App", "acme/App", "github.com/acme/App", "App-2", "App-3"]
    assert chosen_name(Project("C:\\work\\app", "app"), ["app"]) == "work/app"


def test_memories_from_before_have_the_name_of_the_folder_or_of_the_repository() -> None:
    assert folder_names(Project("github.com/acme/app", "app", ("/srv/git/checkout.git",))) == [
        "checkout",
        "app",
    ]
    assert folder_names(Project("/home/me/app", "app")) == ["app"]
    assert folder_names(Project("C:\\me\\app", "app")) == ["app"]
    assert folder_names(Project("github.com/acme/app", "app")) == ["app"]


def test_the_conversation_of_no_project_is_the_one_of_the_user() -> None:
    assert default_conversation("") == "default"
    assert default_conversation("app") == "project:app"
    assert len(default_conversation("x" * NAME)) == NAME
