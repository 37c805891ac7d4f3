"""What people see of engines and do with them: `engine status`, `engine stop`, `doctor`, `restore`."""

import subprocess
import sys

from memory_server.cli.program import MODULES, VERBS

WITHOUT_FCNTL = """
import importlib, sys
sys.modules["fcntl"] = None
for name in sys.argv[1:]:
    importlib.import_module(name)
"""


def test_hooks_and_commands_can_be_imported_on_windows() -> None:
    commands = {f"memory_server.cli.{MODULES.get(name, name)}" for verbs in VERBS.values() for name in verbs}
    modules = ["memory_server.front.hook", "memory_server.front.main", *sorted(commands)]
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_FCNTL, *modules], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
