"""The work of a process since its start, as `memory_stats` tells it."""

import pytest

from memory_server.domain.calls import CallOutcome, Calls
from memory_server.domain.situation import Situation
from memory_server.mcp.workload import Workload, workload
from memory_server.stores import clock
from memory_server.triggers.effort import TriggerEffort
from memory_server.triggers.javascript.sandbox import Sandbox
from tests.conftest import Servers, call
from tests.mcp.conftest import refusal

DONE, REFUSED = Calls.one(CallOutcome.DONE, 1), Calls.one(CallOutcome.REFUSED, 1)


def test_writes_are_counted_by_toolset_and_what_failed_by_its_effect() -> None:
    calls = {
        "memory_store": DONE + DONE + REFUSED,
        "write_memory": DONE,
        "recall": DONE + Calls.one(CallOutcome.FAILED, 1),
        "(unknown)": REFUSED,
    }
    assert workload(calls) == Workload({"memories": 2, "facts": 1}, failed_reads=1, failed_writes=1)


@pytest.mark.anyio
async def test_memory_stats_tells_writes_failures_and_what_triggers_cost(server: Servers) -> None:
    async with server() as client:
        await call(client, "memory_store", content="It is warm", type="learning")
        await refusal(client, "memory_get", ids=["banana"])
        await call(
            client, "add_long_term_memory", name="n", prompt="p", trigger="messages.some(m => m.content)"
        )
        await call(client, "recall", query="Is it warm?")
        load = (await call(client, "memory_stats"))["since_start"]
        assert load["writes"] == {"memories": 1, "long_term": 1}
        assert load["failed_reads"] == 1
        assert "failed_writes" not in load
        assert load["triggers"] >= 1
        assert load["trigger_seconds"] > 0
        assert load["cpu_seconds"] > 0
        assert "engine_restarts" not in load


def test_a_start_of_a_javascript_engine_that_had_ended_is_counted() -> None:
    effort = TriggerEffort()
    sandbox = Sandbox(effort=effort)
    about = Situation((), "", clock(), 0)
    try:
        sandbox.run(["[1].some(n => n > 0)"], about, 5.0)
        assert effort.restarts == 0
        assert sandbox._child is not None
        sandbox._child.close()
        sandbox.run(["[1].some(n => n > 0)"], about, 5.0)
        assert effort.restarts == 1
    finally:
        sandbox.close()
