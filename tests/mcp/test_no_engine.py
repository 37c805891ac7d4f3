"""Long-term memories where the JavaScript engine cannot be imported, as on macOS on Intel: a real server process."""

import json
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from tests.conftest import ROOT, Servers, call

pytestmark = pytest.mark.anyio

ABSENT = "the JavaScript worker cannot start: the package quickjs-ng is not installed"
HIDING = {
    "absent": ("sitecustomize.py", "import sys; sys.modules['_quickjs'] = None", ABSENT),
    "broken": (
        "_quickjs.py",
        "raise ImportError",
        "the JavaScript worker did not start: the worker ended with",
    ),
}
"""A file on Python's path that hides the engine, and what is then said."""

NAMES = ["birthday", "party", "tea"]
SAID = [{"role": "user", "content": "We drink tea at the birthday party"}]


def without_engine(server: Servers, folder: Path, hiding: str) -> tuple[Servers, str]:
    """Return the same server without the engine, and the reason that it tells."""
    name, code, reason = HIDING[hiding]
    folder.mkdir()
    (folder / name).write_text(code, encoding="utf-8")
    return replace(server, env={**server.env, "PYTHONPATH": f"{folder}:{ROOT}"}), reason


@pytest.mark.parametrize("hiding", HIDING)
async def test_a_search_says_once_that_no_trigger_can_wake(
    server: Servers, tmp_path: Path, hiding: str
) -> None:
    async with server() as client:
        for name in NAMES:
            trigger = f"match_keys(messages, ['{name}'])"
            await call(client, "add_long_term_memory", name=name, prompt=f"About {name}.", trigger=trigger)
    crippled, reason = without_engine(server, tmp_path / "hidden", hiding)
    async with crippled() as client:
        found = await call(client, "search_long_term_memories", messages=SAID)
        recalled = await call(client, "recall", query="the tea", messages=SAID)
        listed = await call(client, "list_long_term_memories")
    assert (found["activated"], found["errors"], found["skipped"]) == ([], [], [])
    for answer in (found, recalled):
        assert answer["degraded"].count(f"No long-term memory can wake: {reason}") == 1
        assert ("pip install quickjs-ng" in answer["degraded"]) is (hiding == "absent")
    assert [memory["name"] for memory in listed["memories"]] == NAMES


async def test_memories_are_kept_with_a_warning_where_the_engine_is_absent(
    server: Servers, tmp_path: Path
) -> None:
    crippled, _ = without_engine(server, tmp_path / "hidden", "absent")
    async with crippled() as client:
        added = await call(client, "add_long_term_memory", name="tea", prompt="p", trigger="true")
        listed = await call(client, "list_long_term_memories")
    assert added["warnings"] == [
        "It was not checked and cannot wake here: the package quickjs-ng is not installed."
    ]
    assert [memory["name"] for memory in listed["memories"]] == ["tea"]


@pytest.mark.parametrize("hiding", HIDING)
def test_doctor_names_the_engine_that_is_missing(server: Servers, tmp_path: Path, hiding: str) -> None:
    crippled, reason = without_engine(server, tmp_path / "hidden", hiding)
    done = subprocess.run(
        crippled.command("doctor", "--json"), env=crippled.env, cwd=crippled.folder, capture_output=True,
        timeout=120, check=False,
    )  # fmt: skip
    (problem,) = json.loads(done.stdout)["problems"]
    assert problem.startswith(f"No long-term memory can wake: {reason}")
    assert ("pip install quickjs-ng. For macOS on Intel it has no wheel" in problem) is (hiding == "absent")
    assert done.returncode == 1
