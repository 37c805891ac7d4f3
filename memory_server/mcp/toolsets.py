"""Every tool of the server, by toolset."""

from memory_server.app import Services
from memory_server.mcp.tool import Tool
from memory_server.mcp.tools.facts import FactTools
from memory_server.mcp.tools.forget import ForgetTools
from memory_server.mcp.tools.graph import GraphTools
from memory_server.mcp.tools.long_term import LongTermTools
from memory_server.mcp.tools.memories import MemoryTools
from memory_server.mcp.tools.recall import RecallTools
from memory_server.mcp.tools.short_term import ShortTermTools
from memory_server.mcp.tools.turns import TurnTools
from memory_server.mcp.workload import ProcessLoad, process_load


def toolsets(services: Services) -> dict[str, list[Tool]]:
    """The toolsets under the names that `--toolsets` takes, in the order in which tools are listed."""

    def load() -> ProcessLoad:
        return process_load(services.calls.counted.calls(), services.effort)

    return {
        "recall": [
            *RecallTools(services.recall, services.recent).tools(),
            *ForgetTools(services.things).tools(),
        ],
        "memories": MemoryTools(services.memories, services.search, load).tools(),
        "graph": GraphTools(services.graph).tools(),
        "facts": FactTools(services.facts, services.resume).tools(),
        "conversation": TurnTools(services.turns).tools(),
        "short_term": ShortTermTools(services.short_term).tools(),
        "long_term": LongTermTools(services.long_term, services.reminders, services.rules).tools(),
    }
