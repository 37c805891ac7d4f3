"""Writes the manifests by which others find and install the server, and packs the bundle for desktop clients.

python scripts/manifests.py            write server.json (MCP registries) and bundle/manifest.json (.mcpb)
python scripts/manifests.py --check    fail where they are stale
python scripts/manifests.py --pack     write dist/memory-server-VERSION.mcpb

Both come from pyproject.toml, the settings and the tools. A bundle holds the source and the model; the client installs
what it depends on with uv (server type `uv`, version 0.4 of the manifest's specification).
"""

import json
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from memory_server import __version__, app  # noqa: E402
from memory_server.mcp.first_answers import CORE, IN_CORE  # noqa: E402
from memory_server.mcp.server import TITLE  # noqa: E402
from memory_server.mcp.toolsets import toolsets  # noqa: E402
from memory_server.settings import EMBEDDER_KEY, RERANKER_KEY, Settings  # noqa: E402

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
PROGRAM = PROJECT["name"]
SCHEMA = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"
BUNDLE = f"dist/{PROGRAM}-{__version__}.mcpb"
ENTRY = "server/main.py"
START = (
    '"""Starts the server: what the client runs."""\n\nfrom memory_server.__main__ import main\n\nmain()\n'
)
"""A file of its own: beside `memory_server/__main__.py` Python would find our `mcp` before the SDK."""

PACKED = ("memory_server", "migrations", "pyproject.toml", "README.md", "LICENSE")
"""What a bundle holds of the repository: what the package is built from."""

ASKED = {
    "db": ("file", "Database file"),
    "project": ("string", "Project"),
    "read_only": ("boolean", "Read only"),
}
"""The settings that a desktop client asks for, each with its kind and its title."""

FORMATS = {"Path": "filepath", "bool": "boolean", "float": "number", "int": "number"}


def files() -> dict[Path, str]:
    """The text of each manifest."""
    return {ROOT / "server.json": _json(for_registries()), ROOT / "bundle/manifest.json": _json(for_bundle())}


def for_registries() -> dict[str, Any]:
    """`server.json`: where the package is, and every setting as a variable of the environment."""
    secrets = [
        {
            "name": name,
            "description": f"The key of the {role}'s endpoint, where it needs one.",
            "isSecret": True,
        }
        for name, role in ((EMBEDDER_KEY, "embedder"), (RERANKER_KEY, "re-ranker"))
    ]
    package = {
        "registryType": "pypi",
        "identifier": PROGRAM,
        "version": __version__,
        "runtimeHint": "uvx",
        "transport": {"type": "stdio"},
        "environmentVariables": [*map(_variable, Settings.model_fields), *secrets],
    }
    return {
        "$schema": SCHEMA,
        "name": f"{PROGRAM}/{PROGRAM}",
        "title": TITLE,
        "description": PROJECT["description"],
        "version": __version__,
        "packages": [package],
    }


def for_bundle() -> dict[str, Any]:
    """`manifest.json` of the bundle."""
    with tempfile.TemporaryDirectory() as folder:
        known = toolsets(app.build(Settings(db=Path(folder) / "memory.db")))
    asked = {
        name: {
            "type": kind,
            "title": title,
            "description": _meaning(name),
            "required": False,
            "default": False if kind == "boolean" else "",
        }
        for name, (kind, title) in ASKED.items()
    }
    return {
        "manifest_version": "0.4",
        "name": PROGRAM,
        "display_name": TITLE,
        "version": __version__,
        "description": PROJECT["description"],
        "author": {"name": PROGRAM},
        "license": PROJECT["license"],
        "keywords": PROJECT["keywords"],
        "server": {
            "type": "uv",
            "entry_point": ENTRY,
            "mcp_config": {
                "command": "uv",
                "args": ["run", "--project", "${__dirname}", f"${{__dirname}}/{ENTRY}"],
                "env": {
                    **{_name(name): f"${{user_config.{name}}}" for name in ASKED},
                    _name("toolsets"): CORE,  # the client puts every tool before the model
                },
            },
        },
        "tools": [
            {"name": tool.name, "description": tool.title}
            for tools in known.values()
            for tool in tools
            if tool.name in IN_CORE
        ],
        "prompts_generated": True,
        "compatibility": {
            "platforms": ["darwin", "linux", "win32"],
            "runtimes": {"python": PROJECT["requires-python"]},
        },
        "user_config": asked,
    }


def stale() -> list[Path]:
    """The manifests that are not as they should be."""
    return [
        path
        for path, text in files().items()
        if not path.exists() or path.read_text(encoding="utf-8") != text
    ]


def pack(bundle: Path) -> None:
    """Write the bundle. The same files give the same bytes."""
    tracked = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", *PACKED],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    texts = {"manifest.json": _json(for_bundle()).encode(), ENTRY: START.encode()}
    texts |= {name: (ROOT / name).read_bytes() for name in filter(None, tracked.split("\0"))}
    bundle.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(bundle, "w", zipfile.ZIP_DEFLATED) as file:
        for name in sorted(texts):
            file.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), texts[name], zipfile.ZIP_DEFLATED)


def _variable(name: str) -> dict[str, Any]:
    field = Settings.model_fields[name]
    variable: dict[str, Any] = {"name": _name(name), "description": _meaning(name)}
    kind = next((each for part, each in FORMATS.items() if part in str(field.annotation)), None)
    if kind:
        variable["format"] = kind
    if isinstance(field.default, bool):
        variable["default"] = str(field.default).lower()
    elif isinstance(field.default, str | int | float):
        variable["default"] = str(field.default)
    return variable


def _name(setting: str) -> str:
    return f"{Settings.model_config['env_prefix']}{setting.upper()}"


def _meaning(setting: str) -> str:
    return str(Settings.model_fields[setting].description).replace("`", "")


def _json(value: dict[str, Any]) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def main() -> None:
    match sys.argv[1:]:
        case ["--check"]:
            raise SystemExit(
                "\n".join(f"{path} is stale: run python scripts/manifests.py" for path in stale()) or None
            )
        case ["--pack"]:
            pack(ROOT / BUNDLE)
            print(BUNDLE)
        case _:
            for path, text in files().items():
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
