"""Writes the plugin for Claude Code and Codex: the server and hooks that `memory-server install` enters.

python scripts/plugin.py            write plugin/ and the two catalogues that offer it
python scripts/plugin.py --check    fail where they are stale
"""

import json
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from memory_server import __version__  # noqa: E402
from memory_server.cli.install.clients import EVERY, like_claude  # noqa: E402
from memory_server.cli.install.launch import Launch  # noqa: E402
from memory_server.cli.install.parts import NAME  # noqa: E402

PROGRAM = "memory-server"
ABOUT = "A memory that lasts: one SQLite file, told to the model at the start of a session and before each prompt."


def files() -> dict[Path, str]:
    """The text of each file that is written; the skill is written by hand."""
    plugin = {
        "name": PROGRAM,
        "version": __version__,
        "description": ABOUT,
        "license": "MIT",
        "keywords": ["memory", "mcp", "sqlite"],
    }
    market = {
        "name": PROGRAM,
        "description": ABOUT,
        "owner": {"name": PROGRAM},
        "plugins": [{"name": PROGRAM, "source": "./plugin", "description": ABOUT}],
    }
    for_codex = {
        "name": PROGRAM,
        "interface": {"displayName": PROGRAM},
        "plugins": [{"name": PROGRAM, "source": {"source": "local", "path": "./plugin"}}],
    }
    return {
        ROOT / "plugin/.claude-plugin/plugin.json": _json(plugin),
        ROOT / "plugin/.codex-plugin/plugin.json": _json({**plugin, "hooks": "./hooks/codex.json"}),
        ROOT / "plugin/.mcp.json": _json({"mcpServers": {NAME: {"command": PROGRAM, "args": []}}}),
        ROOT / "plugin/hooks/hooks.json": _hooks("claude"),
        ROOT / "plugin/hooks/codex.json": _hooks("codex"),
        ROOT / ".claude-plugin/marketplace.json": _json(market),
        ROOT / ".agents/plugins/marketplace.json": _json(for_codex),
    }


def stale() -> list[Path]:
    """The files that are not as they should be."""
    return [
        path
        for path, text in files().items()
        if not path.exists() or path.read_text(encoding="utf-8") != text
    ]


def _hooks(client: str) -> str:
    """The hooks of a client: Claude Code reads `hooks.json` unasked, Codex the file that its manifest names."""
    entries = like_claude(Launch((PROGRAM,), ()), client, EVERY)
    return _json({"hooks": entries})


def _json(value: dict[str, Any]) -> str:
    return json.dumps(value, indent=2) + "\n"


def main() -> None:
    if sys.argv[1:] == ["--check"]:
        raise SystemExit(
            "\n".join(f"{path} is stale: run python scripts/plugin.py" for path in stale()) or None
        )
    for path, text in files().items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
