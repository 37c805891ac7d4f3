"""What stands, has moved, has changed or is gone, as the files of a working tree say it."""

from memory_server.ground import State, remark
from tests.ground.conftest import Repository

NOTE = "port is 5433; it is set in config.py line 1"


def states(repository: Repository, note: str, *read: str) -> list[State]:
    return [verdict.state for verdict in repository.look(repository.observe(note, *read))]


def test_a_line_that_stands_is_the_same(repository: Repository) -> None:
    assert states(repository, NOTE) == [State.SAME]
    assert states(repository, "`load_settings` reads it") == [State.SAME]
    assert states(repository, "see src/a.py") == [State.SAME]


def test_a_new_value_is_said_with_its_line(repository: Repository) -> None:
    anchors = repository.observe(NOTE)
    repository.commit({"config.py": 'import os\nHOST = "a"\nPORT = 6000\nOTHER_PORT = 7000\n'})
    (verdict,) = repository.look(anchors)
    assert (verdict.state, verdict.path, verdict.line, verdict.text) == (
        State.CHANGED,
        "config.py",
        3,
        "PORT = 6000",
    )
    assert remark(verdict).startswith("config.py:3 now reads `PORT = 6000` (")


def test_a_line_that_moved_is_not_said(repository: Repository) -> None:
    anchors = repository.observe(NOTE)
    repository.write("config.py", "import os\n\nPORT = 5433\n")
    (verdict,) = repository.look(anchors)
    assert (verdict.state, verdict.line, remark(verdict)) == (State.MOVED, 3, "")


def test_formatting_is_no_change(repository: Repository) -> None:
    repository.commit({"a.ts": "  const load_more = get('x'),\r\n"})
    anchors = repository.observe("`load_more` in a.ts")
    repository.write("a.ts", 'const load_more=get("x");\n')
    assert [verdict.state for verdict in repository.look(anchors)] == [State.SAME]


def test_a_name_that_is_nowhere_is_gone(repository: Repository) -> None:
    anchors = repository.observe("`load_settings` reads it")
    repository.commit({"src/a.py": "def read_settings(path):\n    return path\n"})
    (verdict,) = repository.look(anchors)
    assert (verdict.state, remark(verdict)) == (State.GONE, "`load_settings` is gone from src/a.py")


def test_a_file_that_is_nowhere_is_gone(repository: Repository) -> None:
    anchors = repository.observe("see src/a.py")
    (repository.root / "src/a.py").unlink()
    repository.commit()
    (verdict,) = repository.look(anchors)
    assert (verdict.state, remark(verdict)) == (State.GONE, "src/a.py is gone")


def test_a_rename_is_followed_by_name_and_by_content(repository: Repository) -> None:
    anchors = (*repository.observe("see src/a.py"), *repository.observe("`load_settings` reads it"))
    repository.git("mv", "src", "lib")
    assert [(v.state, v.path) for v in repository.look(anchors)] == [(State.MOVED, "lib/a.py")] * 2
    repository.git("mv", "lib/a.py", "lib/settings.py")
    assert repository.look(anchors[1:])[0].path == "lib/settings.py"


def test_a_folder_in_no_repository_has_no_anchors_and_no_verdicts(repository: Repository) -> None:
    outside = Repository(repository.root.parent)
    assert outside.observe(NOTE) == ()
    assert outside.look(repository.observe(NOTE)) == ()


def test_a_name_that_went_to_another_file_is_not_gone(repository: Repository) -> None:
    anchors = repository.observe("`load_settings` reads it")
    repository.commit({"src/a.py": "", "src/b.py": "x = 1\n\ndef load_settings(path):\n"})
    (verdict,) = repository.look(anchors)
    assert (verdict.state, verdict.path, verdict.line) == (State.MOVED, "src/b.py", 3)
    repository.commit({"src/b.py": "def load_settings(path, more):\n"})
    (verdict,) = repository.look(anchors)
    assert (verdict.state, verdict.text) == (State.CHANGED, "def load_settings(path, more):")
    assert remark(verdict) == (
        "`load_settings` is gone from src/a.py; src/b.py:1 has `def load_settings(path, more):`"
    )


def test_a_folder_in_the_place_of_a_file_is_no_file(repository: Repository) -> None:
    anchors = repository.observe("see src/a.py")
    (repository.root / "src/a.py").unlink()
    repository.commit({"src/a.py/x.py": "x = 1\n"})
    assert [verdict.state for verdict in repository.look(anchors)] == [State.GONE]


def test_a_value_that_stands_on_a_line_written_anew_stands(repository: Repository) -> None:
    anchors = repository.observe(NOTE)
    repository.write("config.py", "PORT: Final[int] = 5433\n")
    assert [verdict.state for verdict in repository.look(anchors)] == [State.MOVED]


def test_a_value_that_changed_on_one_of_its_lines_is_said(repository: Repository) -> None:
    repository.commit({"server.py": "serve(port=80, retries=5433)\nPORT = 5433\n"})
    anchors = repository.observe("port 5433 in server.py")
    repository.write("server.py", "serve(port=80, retries=5433)\nPORT = 6000\n")
    assert [verdict.text for verdict in repository.look(anchors) if verdict.text] == ["PORT = 6000"]


def test_of_several_lines_with_a_value_the_one_that_gives_it_counts(repository: Repository) -> None:
    repository.commit({"size.py": "fallback(width, 80)\nif width == 80:\n    width = 80\n"})
    anchors = repository.observe("the width is 80 in size.py")
    repository.write("size.py", "fallback(width, 80)\nif width == 80:\n    width = 90\n")
    assert [verdict.text for verdict in repository.look(anchors)] == ["width = 90"]
    repository.write("size.py", "fallback(width, 90)\nif width == 80:\n    width = 80\n")
    assert [verdict.state for verdict in repository.look(anchors)] == [State.SAME]


def test_a_version_that_a_note_names_by_itself_is_that_of_its_name(repository: Repository) -> None:
    repository.commit({"pyproject.toml": '[project]\nversion = "0.13.1"\n'})
    anchors = repository.observe("released 0.13.1 (pyproject.toml)")
    assert [(anchor.name, anchor.value) for anchor in anchors] == [("version", "0.13.1")]
    repository.write("pyproject.toml", '[project]\nversion = "0.14.0"\n')
    assert [verdict.text for verdict in repository.look(anchors)] == ['version = "0.14.0"']
