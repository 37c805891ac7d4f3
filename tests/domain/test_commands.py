"""Commands of a shell, and notes that say how one is run."""

import json

import pytest

from memory_server.domain.commands import Form, commands, form, of_note
from tests.conftest import ROOT

CASES = [
    json.loads(line)
    for line in (ROOT / "scripts/lab/quality/act_commands.jsonl").read_text(encoding="utf-8").splitlines()
]


@pytest.mark.parametrize(
    ("line", "programs"),
    [
        ("cd app && sudo -E env A=1 uv run pytest -q tests | tail -5", ["pytest", "tail"]),
        ("python3 -m pip install x", ["pip install"]),
        ("git -C repo push --force origin main", ["git push"]),
        ("npm run test -- --watch; yarn build", ["npm test", "yarn build"]),
        ("docker compose exec -T web pytest -k x", ["pytest"]),
        ("python manage.py migrate", ["manage.py migrate"]),
        (".venv/bin/pytest 2>&1 > out.txt", ["pytest"]),
        ("echo 'git push' && make \\\n test", ["echo", "make test"]),
        ("cargo nextest run --lib", ["cargo nextest"]),
        ("timeout 60 ./run.sh", ["run.sh"]),
        ("echo 'no end", []),  # no shell runs it
        ("bash -c 'cd app && pytest' | tail; coverage run -m pytest", ["pytest", "tail", "pytest"]),
        ("", []),
    ],
)
def test_the_program_that_does_the_work_is_read(line: str, programs: list[str]) -> None:
    assert [command.program for command in commands(line)] == programs


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["command"])
def test_a_note_is_said_where_a_command_has_another_form(case: dict[str, object]) -> None:
    note = of_note(str(case["note"]))
    forms = [form(command, note) for command in commands(str(case["command"]))]
    assert (Form.OTHER in forms and Form.RIGHT not in forms) is case["said"]
