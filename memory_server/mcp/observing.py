"""Tells observers, which count and record, of each call that has ended; never its contents."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mcp.server.mcpserver.exceptions import ToolError, UnexpectedToolError
from mcp.shared.exceptions import MCPError

from memory_server.call.tally import tallied
from memory_server.domain.caller import Caller
from memory_server.domain.calls import CallOutcome, Calls

if TYPE_CHECKING:
    from memory_server.services.calls import CallService

UNKNOWN = "(unknown)"
"""Stands for the name of a tool that there is not: that is a word of the client."""


@dataclass(slots=True)
class Observed:
    """A call. `arguments` and `answer` are what was said: who looks takes numbers from them alone."""

    name: str
    caller: Caller
    arguments: Mapping[str, Any]
    is_tool: bool = True
    answer: Mapping[str, Any] = field(default_factory=dict)
    outcome: CallOutcome = CallOutcome.DONE
    milliseconds: float = 0.0
    timed_out: int = 0
    """Triggers that exceeded their time, or were left for the next search."""


Observer = Callable[[Observed], None]
"""Hears of a call when it has ended. It must not wait: the loop of all clients runs it."""


@contextmanager
def observed(observers: Sequence[Observer], call: Observed) -> Iterator[Observed]:
    """Tell how the block ends and how long it took."""
    begin = time.perf_counter()
    with tallied() as tally:
        try:
            yield call
        except UnexpectedToolError:
            call.outcome = CallOutcome.FAILED
            raise
        except (ToolError, MCPError):
            call.outcome = CallOutcome.REFUSED
            raise
        except BaseException:
            call.outcome = CallOutcome.LEFT
            raise
        finally:
            call.milliseconds = 1000 * (time.perf_counter() - begin)
            call.timed_out = tally.timed_out
            for observer in observers:
                observer(call)


def counting(calls: "CallService") -> Observer:
    """Counts the calls of tools."""

    def count(call: Observed) -> None:
        if call.is_tool:
            degraded = bool(call.answer.get("degraded"))
            calls.count(call.name, Calls.one(call.outcome, call.milliseconds, degraded, call.timed_out))

    return count
