"""Where the memory is on PostgreSQL and no engine runs, the hook before an act judges it itself."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from memory_server import app
from memory_server.domain import trust
from memory_server.domain.caller import Caller
from memory_server.domain.effect import Effect, RuleDraft
from memory_server.domain.long_term import LongTermDraft
from memory_server.settings import Settings
from memory_server.where import Postgres
from tests import warm
from tests.conftest import ROOT
from tests.postgres_server import new_place


def printed(place: str, folders: dict[str, str], folder: Path, command: str = "git push origin main") -> str:
    """What the hook before an act prints."""
    event = {"session_id": "s1", "tool_name": "Bash", "tool_input": {"command": command}}
    done = subprocess.run(
        warm.cold("hook", "PreToolUse", "--client", "claude", "--db", place, "--engine", "off"),
        input=json.dumps(event).encode(), env={**os.environ, **folders, "PYTHONPATH": str(ROOT)}, cwd=folder,
        capture_output=True, timeout=60, check=True,
    )  # fmt: skip
    return done.stdout.decode()


def put(place: Postgres, stamp: trust.Stamp) -> None:
    services = app.build(Settings(db=place, embedder="hashing"))
    rule = RuleDraft(Effect.DENY, ("git push origin main",), ("git fetch",))
    draft = LongTermDraft(stamp(""), "Main is protected.", "runs(act, 'git push main')", None, rule=rule)
    services.rules.add(draft, "default", Caller("tests", stamp=stamp))
    services.close()


def test_a_rule_holds_where_no_engine_runs(user_folders: dict[str, str], tmp_path: Path) -> None:
    place = new_place()
    assert printed(place.given, user_folders, tmp_path) == ""  # and no tenant is made
    put(place, trust.unknown)
    answer = json.loads(printed(place.given, user_folders, tmp_path))["hookSpecificOutput"]
    assert "not confirmed by the user" in answer["additionalContext"]
    put(place, trust.typed)
    answer = json.loads(printed(place.given, user_folders, tmp_path))["hookSpecificOutput"]
    assert answer["permissionDecision"] == "deny"
    assert printed(place.given, user_folders, tmp_path, "ls") == ""


@pytest.mark.parametrize(
    "address", ["postgresql://nobody@127.0.0.1:1/none", "postgresql:///none?host=/nowhere"]
)
def test_a_server_that_cannot_be_reached_keeps_nobody_from_working(
    user_folders: dict[str, str], tmp_path: Path, address: str
) -> None:
    assert printed(address, user_folders, tmp_path) == ""
