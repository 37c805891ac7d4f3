"""Prints through which modules a call of a tool goes: `python scripts/lab/walk.py [--modules]`.

The tools run in this process, on a new file, with the bundled model; each is called once before, so that what is made
once (the connection, the model) does not count. Every function that begins is seen (`sys.setprofile`), in whichever
thread.
"""

import argparse
import sys
import threading
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType
from typing import Any

import anyio

sys.path[:0] = [str(Path(__file__).resolve().parents[2])]

import memory_server  # noqa: E402
from memory_server import app  # noqa: E402
from memory_server.domain.caller import Caller  # noqa: E402
from memory_server.mcp.toolsets import toolsets  # noqa: E402
from memory_server.project import Project  # noqa: E402
from memory_server.settings import Settings  # noqa: E402

PACKAGE = Path(memory_server.__file__).parent

CALLER = Caller("walk", "now", Project("", ""))

CALLS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("memory_store", {"content": "The harbour crane is painted blue since May.", "type": "learning"}),
    ("memory_search", {"query": "Which colour has the crane?"}),
    ("recall", {"query": "Which colour has the crane?"}),
    ("write_memory", {"key": "crane.colour", "value": "blue"}),
    ("search_long_term_memories", {"messages": [{"role": "user", "content": "The crane stands still."}]}),
)

TRIGGER = {"name": "crane", "prompt": "Ask the harbour office.", "trigger": "match_keys(messages, ['crane'])"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--modules", action="store_true")
    with_modules = parser.parse_args().modules
    with TemporaryDirectory() as folder:
        services = app.build(Settings(db=Path(folder) / "memory.db"))
        tools = {tool.name: tool for tools in toolsets(services).values() for tool in tools}
        anyio.run(tools["add_long_term_memory"].call, TRIGGER, CALLER)
        services.queue.warm_up()
        for name, arguments in CALLS:
            anyio.run(tools[name].call, arguments, CALLER)
            modules = walked(tools[name], arguments)
            rooms = list(dict.fromkeys(module.split("/")[0] for module in modules if "/" in module))
            print(f"{name}: {len(modules)} modules of {len(rooms)} rooms: {', '.join(rooms)}")
            if with_modules:
                print(*(f"  {module}" for module in modules), sep="\n")
        services.close()


def walked(tool: Any, arguments: dict[str, Any]) -> list[str]:
    """Return the modules of the package whose functions a call runs, in the order of their first turn."""
    modules: dict[str, None] = {}

    def see(frame: FrameType, event: str, _argument: object) -> None:
        path = Path(frame.f_code.co_filename)
        if event == "call" and path.is_relative_to(PACKAGE):
            modules.setdefault(path.relative_to(PACKAGE).as_posix())

    threading.setprofile(see)
    sys.setprofile(see)
    try:
        anyio.run(tool.call, arguments, CALLER)
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return list(modules)


if __name__ == "__main__":
    main()
