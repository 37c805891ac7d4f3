"""Makes the answers to the first requests of a session: the same in every session with the same settings.

They are read from two files of the package with the standard library alone, before the server is imported. A test
compares them with what the server says; `python -m pytest tests/mcp --renew-schemas` writes the files.
"""

import json
import os
from collections.abc import Mapping, Sequence
from typing import Any

LISTED, FIRST = (
    os.path.join(os.path.dirname(__file__), name)  # noqa: PTH118, PTH120  # pathlib takes a tenth of the time
    for name in ("listed.json", "first_answers.json")
)
"""The tools by toolset, in the order in which they are listed; and all other answers."""

CORE = "core"
"""The toolset of the few tools with which everything can be done. They belong to another toolset too, and while it is
chosen the tools that it leaves out can be called all the same."""

ALL = "all"
"""The word for every toolset, as where none is chosen."""

IN_CORE = (
    *("recall", "forget", "memory_store", "memory_get", "memory_update", "graph_connect", "graph_explore"),
    *("write_memory", "read_memory", "smart_resume", "remind", "add_long_term_memory"),
)

LISTEN = "subscriptions/listen"
ACKNOWLEDGED = "notifications/subscriptions/acknowledged"
LIST_CHANGES = ("toolsListChanged", "promptsListChanged", "resourcesListChanged")

SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"

_OLDER_ONLY, _NEWER_ONLY = ("ping",), ("server/discover",)

Json = dict[str, Any]
Id = int | str


def read(path: str) -> Any:
    with open(path, "rb") as file:  # noqa: PTH123
        return json.load(file)


def offered(
    tools_by_toolset: Mapping[str, Sequence[Json]],
    toolsets: Sequence[str],
    tools: Sequence[str],
    exclude_tools: Sequence[str],
    read_only: bool,
) -> list[Json]:
    """The tools that the settings of these names do not switch off."""
    return [
        tool
        for toolset, members in tools_by_toolset.items()
        for tool in members
        if (
            not toolsets
            or ALL in toolsets
            or toolset in toolsets
            or (CORE in toolsets and tool["name"] in IN_CORE)
        )
        and (not tools or tool["name"] in tools)
        and tool["name"] not in exclude_tools
        and (tool["annotations"]["readOnlyHint"] or not read_only)
    ]


class FirstAnswers:
    """The answers to one client, which says with its first request in which version of the protocol it speaks."""

    def __init__(self, tools: Sequence[Json]) -> None:
        """`tools` are those that the server offers."""
        first = read(FIRST)
        self._handshakes, self._newest = first["handshakes"], first["newest"]
        self._in_newest = first["in_newest"]
        self._results = {**first["results"], "tools/list": {"tools": tools}}
        if all(tool["annotations"]["readOnlyHint"] for tool in tools):
            for method in ("initialize", "server/discover"):
                self._results[method]["instructions"] = first["read_only_instructions"]
        if "memory_store" not in [tool["name"] for tool in tools]:  # nothing can be remembered
            prompts = self._results["prompts/list"]
            prompts["prompts"] = [prompt for prompt in prompts["prompts"] if prompt["name"] != "remember"]
        self.version: str | None = None
        """The version that the first answer agreed on."""
        self.has_shaken_hands = False
        self.resources_listener: Id | None = None
        """The stream on which the client is told that the list of resources has changed."""

    def to(self, id: Id, method: str, params: object) -> Json | None:
        """The answer to a request; None where the server must give it."""
        params = {} if params is None else params
        if not isinstance(params, dict):
            return None
        if method == "initialize":
            result = self._handshake(params)
        elif self.version in (None, self._newest) and self._is_newest(params):
            if method == LISTEN:
                return self._acknowledgement(id, params)
            result = self._newest_result(method, params)
        else:
            result = self._older_result(method, params)
        return None if result is None else {"jsonrpc": "2.0", "id": id, "result": result}

    def _handshake(self, params: Json) -> Json | None:
        match params:
            case {
                "protocolVersion": str(version),
                "capabilities": dict(capabilities),
                "clientInfo": {"name": str(), "version": str()},
            } if self.version is None and all(isinstance(value, dict) for value in capabilities.values()):
                self.version = version if version in self._handshakes else self._handshakes[-1]
                return {**self._results["initialize"], "protocolVersion": self.version}
        return None

    def _is_newest(self, params: Json) -> bool:
        match params.get("_meta"):
            case {
                "io.modelcontextprotocol/protocolVersion": version,
                "io.modelcontextprotocol/clientCapabilities": dict(),
            }:
                return bool(version == self._newest)
        return False

    def _newest_result(self, method: str, params: Json) -> Json | None:
        """The list of resources grows with the projects of the file: who does not listen waits for the engine."""
        if (
            method not in self._results
            or method in _OLDER_ONLY
            or params.keys() != {"_meta"}
            or (method == "resources/list" and self.resources_listener is None)
        ):
            return None
        self.version = self._newest
        return {**self._results[method], **self._in_newest}

    def _older_result(self, method: str, params: Json) -> Json | None:
        is_plain = not params or (params.keys() == {"_meta"} and not self._is_newest(params))
        is_left = method in _NEWER_ONLY or not self.has_shaken_hands
        return self._results.get(method) if is_plain and not is_left else None

    def _acknowledgement(self, id: Id, params: Json) -> Json | None:
        wishes = params.get("notifications")
        if params.keys() != {"_meta", "notifications"} or not isinstance(wishes, dict):
            return None
        if not wishes.keys() <= set(LIST_CHANGES) or not all(type(wish) is bool for wish in wishes.values()):
            return None
        self.version = self._newest
        if wishes.get("resourcesListChanged"):
            self.resources_listener = id
        granted = {name: True for name in LIST_CHANGES if wishes.get(name)}
        return {
            "jsonrpc": "2.0",
            "method": ACKNOWLEDGED,
            "params": {"_meta": {SUBSCRIPTION: id}, "notifications": granted},
        }
