"""An act, out of what each client says of it."""

from pathlib import Path
from typing import Any

import pytest

from memory_server.domain import act
from memory_server.domain.act import Kind

SHOP = Path("/srv/shop")

PATCH = """*** Begin Patch
*** Update File: app/orders.py
@@
-RATE = 1
+RATE = 2
*** Add File: app/tax.py
+TAX = 7
*** Delete File: app/old.py
*** Update File: app/a.py
*** Move to: app/b.py
*** End Patch
"""


@pytest.mark.parametrize(
    ("tool", "arguments", "kind", "command", "paths"),
    [
        ("Bash", {"command": "git push", "description": "x"}, Kind.RUNS, "git push", []),
        ("bash", {"command": " make test\n"}, Kind.RUNS, "make test", []),
        ("exec_command", {"cmd": "ls -l"}, Kind.RUNS, "ls -l", []),
        ("shell", {"command": ["bash", "-lc", "cd x && make"]}, Kind.RUNS, "cd x && make", []),
        ("shell", {"command": ["git", "status"]}, Kind.RUNS, "git status", []),
        ("Read", {"file_path": "/srv/shop/a.py"}, Kind.READS, "", ["/srv/shop/a.py"]),
        ("read", {"filePath": "a.py"}, Kind.READS, "", ["/srv/shop/a.py"]),
        ("Edit", {"file_path": "a.py", "old_string": "x", "new_string": "y"}, Kind.CHANGES, "", ["/srv/shop/a.py"]),
        ("Write", {"file_path": "a.py", "content": "x"}, Kind.CHANGES, "", ["/srv/shop/a.py"]),
        (
            "apply_patch",
            {"command": PATCH},
            Kind.CHANGES,
            "",
            [f"/srv/shop/app/{name}.py" for name in ("orders", "tax", "old", "a", "b")],
        ),
    ],
)  # fmt: skip
def test_each_client_says_it_in_its_own_words(
    tool: str, arguments: dict[str, Any], kind: Kind, command: str, paths: list[str]
) -> None:
    done = act.read(tool, arguments, SHOP)
    assert done is not None
    assert (done.kind, done.command, [str(path) for path in done.paths]) == (kind, command, paths)


def test_an_edit_says_what_it_takes_out_and_puts_in() -> None:
    edits = [{"old_string": "a", "new_string": "b"}, {"old_string": "c", "new_string": "d"}]
    done = act.read("MultiEdit", {"file_path": "a.py", "edits": edits}, SHOP)
    assert done is not None
    assert done.text == "a\nb\nc\nd"


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("Bash", {}),
        ("Bash", {"command": 7}),
        ("WebFetch", {"url": "x"}),
        ("apply_patch", {"command": "no patch"}),
    ],
)
def test_what_names_no_file_and_no_command_is_no_act(tool: str, arguments: dict[str, Any]) -> None:
    assert act.read(tool, arguments, SHOP) is None


@pytest.mark.parametrize(
    ("response", "code"),
    [
        ({"stdout": "", "exit_code": 2}, 2),
        ({"output": "x", "metadata": {"exit": 1}}, 1),
        ({"output": "x", "metadata": None}, None),
        ("Exit code 3\nboom", 3),
        ("Exit code: 0\nWall time: 1s\nOutput:\nfine", 0),
        ("Process exited with code 127\nno", 127),
        ("boom\nExit code 3", None),
        ({"interrupted": True}, None),
        (None, None),
    ],
)
def test_the_exit_code_is_read_where_the_client_tells_it(response: object, code: int | None) -> None:
    assert act.exit_code(response) == code
