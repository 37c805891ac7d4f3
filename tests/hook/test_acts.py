"""Before an act, and after one that failed."""

import pytest

from memory_server.hook.event import Name, read
from tests.conftest import Servers, call
from tests.hook.conftest import Hooks

pytestmark = [pytest.mark.anyio, pytest.mark.both_stores]


@pytest.mark.parametrize("event", ["PreToolUse", "PostToolUseFailure"])
async def test_without_an_engine_nothing_is_said_of_an_act(server: Servers, hooks: Hooks, event: str) -> None:
    async with server(cwd=hooks.project) as client:
        await call(client, "memory_store", content="Never edit `orders.py` by hand", type="decision")
    edit = {"file_path": str(hooks.project / "orders.py"), "new_string": "x"}
    assert hooks(event, "--engine", "off", tool_name="Edit", tool_input=edit).out == ""
    assert not any("failed" in line for line in hooks.log)


def test_an_act_that_failed_has_its_code_and_its_error(hooks: Hooks) -> None:
    sent = (
        '{"session_id": "s", "tool_name": "Bash", "tool_input": {"command": "make test"},'
        ' "error": "Exit code 2\\nmake: *** No rule to make target", "is_interrupt": false}'
    )
    event = read(Name.FAILED, sent, hooks.project)
    assert event.act is not None
    assert (event.act.command, event.code) == ("make test", 2)
    assert event.output.endswith("No rule to make target")
