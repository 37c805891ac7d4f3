"""Long-term memories where the JavaScript engine cannot be imported, as on macOS on Intel: a real server process."""

import json
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from tests.conftest import ROOT, Servers, call

pytestmark = pytest.mark.anyio

HIDING = {
    "absent": (
        "sitecustomize.py",
        "import sys; sys.modules['_quickjs'] = None",
        "the package quickjs-ng is not installed",
        "pip install quickjs-ng. For macOS on Intel it has no wheel",
    ),
    "broken": (
        "_quickjs.py",
        "raise ImportError('version GLIBC_2.99 not found')",
        "the package quickjs-ng cannot be loaded: version GLIBC_2.99 not found",
        "pip uninstall quickjs-ng, then pip install quickjs-ng",
    ),
}
"""A file on Python's path that hides the engine, what is then said, and what mends it."""

NAMES = ["birthday", "party", "tea"]
SAID = [{"role": "user", "content": "We drink tea at the birthday party"}]


def without_engine(server: Servers, folder: Path, hiding: str) -> tuple[Servers, str, str]:
    """Return the same server without the engine, the reason that it tells, and the mend."""
    name, code, reason, mend = HIDING[hiding]
    folder.mkdir()
    (folder / name).write_text(code, encoding="utf-8")
    return replace(server, env={**server.env, "PYTHONPATH": f"{folder}:{ROOT}"}), reason, mend


@pytest.mark.parametrize("hiding", HIDING)
async def test_a_search_says_once_that_no_trigger_can_wake(
    server: Servers, tmp_path: Path, hiding: str
) -> None:
    async with server() as client:
        for name in NAMES:
            trigger = f"match_keys(messages, ['{name}'])"
            await call(client, "add_long_term_memory", name=name, prompt=f"About {name}.", trigger=trigger)
    crippled, reason, mend = without_engine(server, tmp_path / "hidden", hiding)
    async with crippled() as client:
        found = await call(client, "search_long_term_memories", messages=SAID)
        recalled = await call(client, "recall", query="the tea", messages=SAID)
        listed = await call(client, "list_long_term_memories")
    assert (found["activated"], found["errors"], found["skipped"]) == ([], [], [])
    for answer in (found, recalled):
        assert answer["degraded"].count(f"No long-term memory can wake: {reason}") == 1
        assert mend in answer["degraded"]
    assert [memory["name"] for memory in listed["memories"]] == NAMES


@pytest.mark.parametrize("hiding", HIDING)
async def test_memories_are_kept_with_a_warning_and_listed(
    server: Servers, tmp_path: Path, hiding: str
) -> None:
    crippled, reason, _ = without_engine(server, tmp_path / "hidden", hiding)
    async with crippled() as client:
        added = await call(client, "add_long_term_memory", name="tea", prompt="p", trigger="true")
        changed = await call(client, "update_long_term_memory", name="tea", trigger="false")
        tried = await call(client, "test_trigger", trigger="true")
        listed = await call(client, "list_long_term_memories")
    unchecked = [f"It was not checked and cannot wake here: {reason}."]
    assert added["warnings"] == changed["warnings"] == tried["warnings"] == unchecked
    assert (tried["value"], reason in tried["why"]) == (None, True)
    assert [(memory["name"], memory["trigger"]) for memory in listed["memories"]] == [("tea", "false")]


@pytest.mark.parametrize("hiding", HIDING)
def test_doctor_names_the_engine_that_is_missing(server: Servers, tmp_path: Path, hiding: str) -> None:
    crippled, reason, mend = without_engine(server, tmp_path / "hidden", hiding)
    done = subprocess.run(
        crippled.command("doctor", "--json"), env=crippled.env, cwd=crippled.folder, capture_output=True,
        timeout=120, check=False,
    )  # fmt: skip
    (problem,) = json.loads(done.stdout)["problems"]
    assert problem.startswith(f"No long-term memory can wake: {reason}")
    assert mend in problem
    assert done.returncode == 1
