"""The programs of others that judge a server: the conformance suite, the Inspector, the validators of manifests.

`scripts/outside` installs them. The schema of `server.json` is not among them: before a release, put it from the
address that its `$schema` names into `.clients/server.schema.json`.
"""

import importlib
import json
import os
import socket
import subprocess
import sys
import threading
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import manifests
import pytest
import uvicorn
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.helper_types import ReadResourceContents
from mcp.server.mcpserver import Context
from mcp_types import CompleteRequestParams, CompleteResult, GetPromptResult, InputRequiredResult
from pydantic import AnyUrl

from memory_server import app
from memory_server.domain.caller import Caller
from memory_server.domain.fact import FactDraft, Scope
from memory_server.mcp import listed
from memory_server.mcp.http.app import HttpOptions, endpoint, http_app
from memory_server.mcp.http.keys import Keys
from memory_server.mcp.offers import offers
from memory_server.mcp.server import MemoryServer
from memory_server.mcp.toolsets import toolsets
from memory_server.mcp.work import Work
from memory_server.project import Project
from memory_server.services.tokens import TokenService
from memory_server.settings import Settings
from tests.conftest import ROOT, Servers, call, until
from tests.outside import CLIENTS, PATH, program

jsonschema: Any = importlib.import_module("jsonschema")  # has no types; `mcp` brings it

OLDER, NEWER = "2025-11-25", "2026-07-28"
BOTH = (
    *("tools-list", "resources-list", "resources-read-text", "resources-templates-read"),
    *("prompts-list", "prompts-get-simple", "prompts-get-with-args", "completion-complete"),
    *("tools-call-error", "dns-rebinding-protection", "server-sse-multiple-streams"),
)
SCENARIOS = [
    *((OLDER, name) for name in ("server-initialize", "server-session-lifecycle", "ping", *BOTH)),
    *((NEWER, name) for name in ("server-stateless", "sep-2164-resource-not-found", "caching", *BOTH)),
    *((NEWER, name) for name in ("http-header-validation", "input-required-result-unsupported-methods")),
]
"""The scenarios of what this server has."""

WITHOUT = {
    "tools-call-simple-text": "calls a tool of the suite's own server",
    "tools-call-image": "no tool answers a picture",
    "tools-call-audio": "no tool answers a sound",
    "tools-call-embedded-resource": "no tool answers a resource",
    "tools-call-mixed-content": "no tool answers a picture",
    "tools-call-with-logging": "logs go to standard error, never to a client",
    "logging-set-level": "logs go to standard error, never to a client",
    "tools-call-with-progress": "no call takes long enough",
    "tools-call-sampling": "no tool asks the client's model",
    "tools-call-elicitation": "no tool asks the user",
    "elicitation-sep1034-defaults": "no tool asks the user",
    "elicitation-sep1330-enums": "no tool asks the user",
    "json-schema-2020-12": "looks for a tool of the suite's own server",
    "server-sse-polling": "no answer is a stream that a client could take up again",
    "resources-read-binary": "all resources are text",
    "resources-subscribe": "only the newer era's `subscriptions/listen` watches a resource",
    "resources-unsubscribe": "only the newer era's `subscriptions/listen` watches a resource",
    "prompts-get-embedded-resource": "all prompts are text",
    "prompts-get-with-image": "all prompts are text",
    "http-custom-header-server-validation": "no tool takes an argument from a header",
    "input-required-result-": "no tool asks back: all but one scenario call a tool of the suite's own server",
    "tasks-": "an extension that this server does not have",
    "sep-2640-": "an extension that this server does not have",
}
"""The scenarios that do not apply, by their names or beginnings, and why."""

OF_ITS_OWN_TOOLS = {
    "sep-2575-server-rejects-undeclared-capability",
    "sep-2575-missing-capability-http-400",
    "sep-2575-server-sends-prompts-list-changed-on-subscription",
    "sep-2575-server-sends-tools-list-changed-on-subscription",
}
"""Checks that call tools of the suite's own server, which ask the client for a sample, or change the list of tools."""

RESOURCES = {
    "test://static-text": "memory://recent",
    "test://template/123/data": "memory://fact/global/123",
}
"""The names that the suite asks for, and what stands for them."""


class StandIn(MemoryServer):
    """The server under the names that the suite asks for."""

    async def read_resource(
        self, uri: AnyUrl | str, context: Context[Any, Any] | None = None
    ) -> Iterable[ReadResourceContents] | InputRequiredResult:
        return await super().read_resource(RESOURCES.get(str(uri), uri), context)

    async def get_prompt(
        self, name: str, arguments: dict[str, Any] | None = None, context: Context[Any, Any] | None = None
    ) -> GetPromptResult | InputRequiredResult:
        match name:
            case "test_simple_prompt":
                return await super().get_prompt("resume", arguments, context)
            case "test_prompt_with_arguments":
                about = {"about": " ".join((arguments or {}).values())}
                return await super().get_prompt("recall", about, context)
        return await super().get_prompt(name, arguments, context)

    async def _completed(
        self, ctx: ServerRequestContext[Any, Any], params: CompleteRequestParams
    ) -> CompleteResult:
        changed = params.model_copy(deep=True)
        if changed.ref.type == "ref/prompt" and changed.ref.name == "test_prompt_with_arguments":
            changed.ref.name, changed.argument.name = "review", "project"
        return await super()._completed(ctx, changed)


def run(*words: str, cwd: Path) -> "subprocess.CompletedProcess[str]":
    env = {"PATH": PATH, "HOME": str(cwd), "PYTHONPATH": str(ROOT), "NO_COLOR": "1"}
    return subprocess.run(
        words, cwd=cwd, env=env, capture_output=True, text=True, timeout=120, check=False
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Served:
    """The address of a server over HTTP."""

    url: str


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The server behind HTTP, in this process."""
    settings = Settings(db=tmp_path_factory.mktemp("official") / "memory.db", embedder="hashing")
    services = app.build(settings)
    caller = Caller("tests", "s", Project("test", "test"))
    services.facts.write(FactDraft("123", "fact 123"), Scope.GLOBAL, caller)
    services.facts.write(FactDraft("current.task", "conform"), Scope.PROJECT, caller)
    tools = {tool.name: tool for tools in toolsets(services).values() for tool in tools}
    work = Work(tools, offers(services))
    server = StandIn(listed.chosen(settings), work, lambda *_: caller, "ERROR")
    application = http_app(
        endpoint(server, ()), Keys(TokenService(services.database, os.urandom)), HttpOptions()
    )
    listener = socket.create_server(("127.0.0.1", 0))
    http = uvicorn.Server(uvicorn.Config(application, log_level="error", ws="none"))
    thread = threading.Thread(target=http.run, args=([listener],), daemon=True)
    thread.start()
    until(lambda: http.started, "the server listens")
    yield Served(f"http://127.0.0.1:{listener.getsockname()[1]}/mcp")
    http.should_exit = True
    thread.join(20)
    listener.close()
    services.close()


@pytest.mark.outside
@pytest.mark.parametrize(("version", "scenario"), SCENARIOS)
def test_the_conformance_suite_finds_nothing_wrong(
    served: Served, tmp_path: Path, version: str, scenario: str
) -> None:
    done = run(
        *(program("conformance"), "server", "--url", served.url, "--spec-version", version),
        *("--scenario", scenario, "--output-dir", str(tmp_path), "--verbose"),
        cwd=tmp_path,
    )
    (found,) = tmp_path.rglob("checks.json")
    checks = json.loads(found.read_text(encoding="utf-8"))
    wrong = {each["id"]: each for each in checks if each["status"] in ("FAILURE", "WARNING")}
    assert {id: wrong[id] for id in wrong.keys() - OF_ITS_OWN_TOOLS} == {}
    assert any(each["status"] == "SUCCESS" for each in checks), done.stdout


@pytest.mark.outside
def test_each_scenario_of_the_suite_is_run_or_does_not_apply_for_a_reason(tmp_path: Path) -> None:
    done = run(program("conformance"), "list", "--server", cwd=tmp_path)
    there = {line.split()[1] for line in done.stdout.splitlines() if line.startswith("  - ")}
    played = {name for _, name in SCENARIOS}
    assert played <= there
    assert [each for each in sorted(there - played) if not each.startswith(tuple(WITHOUT))] == []


@pytest.mark.outside
@pytest.mark.parametrize(
    "words",
    [
        ["tools/list", "--strict"],
        ["initialize"],
        ["resources/list"],
        ["resources/templates/list"],
        ["resources/read", "--uri", "memory://recent"],
        ["prompts/list"],
        ["prompts/get", "--prompt-name", "recall", "--prompt-args", "about=the till"],
    ],
    ids=lambda words: words[0],
)
def test_the_inspector_finds_no_error(server: Servers, tmp_path: Path, words: list[str]) -> None:
    here = ["-e", f"PYTHONPATH={ROOT}"]
    done = run(program("mcp-inspector"), "--cli", *here, *server.command(), "--method", *words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)
    assert "--strict" not in words or "\n0 errors" in done.stderr


# Manifests


def test_the_manifests_are_as_their_script_writes_them() -> None:
    assert manifests.stale() == []
    for script in ("manifests", "plugin"):
        command = [sys.executable, str(ROOT / f"scripts/{script}.py"), "--check"]
        assert subprocess.run(command, cwd=ROOT, check=False).returncode == 0


def test_the_registry_finds_its_manifest_valid() -> None:
    schema = CLIENTS / "server.schema.json"
    if not schema.exists():
        pytest.skip("the schema of server.json is not in .clients")
    known = json.loads(schema.read_text(encoding="utf-8"))
    manifest = json.loads((ROOT / "server.json").read_text(encoding="utf-8"))
    assert known["$id"] == manifest["$schema"]
    jsonschema.Draft7Validator(known).validate(manifest)


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("bundle") / "memory-server.mcpb"
    manifests.pack(path)
    return path


@pytest.mark.outside
def test_the_validator_finds_the_bundle_valid(bundle: Path, tmp_path: Path) -> None:
    unpacked = tmp_path / "unpacked"
    done = run(program("mcpb"), "unpack", str(bundle), str(unpacked), cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    done = run(program("mcpb"), "validate", str(unpacked), cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "warning" not in done.stdout.lower()


@pytest.mark.anyio
async def test_the_bundle_holds_the_program_and_starts_it(
    bundle: Path, tmp_path: Path, user_folders: dict[str, str]
) -> None:
    with zipfile.ZipFile(bundle) as file:
        names = file.namelist()
        file.extractall(tmp_path)
    assert not [name for name in names if name.startswith(("tests/", "docs/", ".")) or "__pycache__" in name]
    manifest = json.loads((tmp_path / "manifest.json").read_text(encoding="utf-8"))
    start = manifest["server"]["entry_point"]
    assert manifest["server"]["mcp_config"]["args"][-1] == f"${{__dirname}}/{start}"
    variables = manifest["server"]["mcp_config"]["env"]
    assert variables["MEMORY_SERVER_TOOLSETS"] == "core"
    filled = {name: "" if value.startswith("${") else value for name, value in variables.items()}
    env = {**user_folders, **filled, "PYTHONPATH": str(tmp_path), "MEMORY_SERVER_EMBEDDER": "hashing"}
    parameters = StdioServerParameters(
        command=sys.executable, args=[str(tmp_path / start)], env=env, cwd=tmp_path
    )
    async with Client(stdio_client(parameters)) as client:
        stored = await call(client, "memory_store", content="The bundle starts", type="learning")
        assert stored["id"] == 1
        listed = (await client.list_tools()).tools
    assert {each.name: each.title for each in listed} == {
        each["name"]: each["description"] for each in manifest["tools"]
    }


def test_the_same_files_give_the_same_bundle(bundle: Path, tmp_path: Path) -> None:
    again = tmp_path / "again.mcpb"
    manifests.pack(again)
    assert again.read_bytes() == bundle.read_bytes()
