"""A tool: one method of a toolset, in the form in which the protocol lists and calls it."""

import inspect
import json
from collections.abc import Callable
from functools import partial
from typing import Any

import anyio.to_thread
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.tools import Tool as SdkTool
from mcp_types import CallToolResult, TextContent, ToolAnnotations
from pydantic import BaseModel, ConfigDict, ValidationError, create_model
from pydantic_core import ErrorDetails, from_json

from memory_server.domain.caller import Caller
from memory_server.language.nearest import nearest
from memory_server.mcp.compat import ArgModelBase, FuncMetadata
from memory_server.mcp.schema import compact, compact_answer

READS = ToolAnnotations(
    read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)
"""The tool changes at most scores and access counts: a client may call it without asking the user."""

WRITES = ToolAnnotations(
    read_only_hint=False, destructive_hint=False, idempotent_hint=False, open_world_hint=False
)
"""The tool stores something and deletes nothing."""

DESTROYS = ToolAnnotations(
    read_only_hint=False, destructive_hint=True, idempotent_hint=True, open_world_hint=False
)
"""The tool may delete or replace something: a client may ask the user first."""

_CALLER = "caller"
"""The parameter of a method that gets the Caller."""


class Arguments(ArgModelBase):
    """The arguments of one tool; only wire names are accepted."""

    model_config = ConfigDict(extra="forbid", arbitrary_types_allowed=True)


class Tool(SdkTool):
    """Validates the arguments, with one line for each error; answers structured content and the same as JSON text.

    A method with a parameter `caller` gets the Caller. The client does not see this parameter.
    """

    def __init__(
        self,
        method: Callable[..., BaseModel],
        effect: ToolAnnotations,
        *,
        evaluates: bool = False,
        always: bool = False,
    ) -> None:
        """`evaluates`: a call evaluates triggers, which may take seconds. `always`: a client that loads tools only when
        they are needed should load this one at once (the key in `_meta` is Claude Code's)."""
        signature = inspect.signature(method)
        model = _arguments(method.__name__, signature)
        super().__init__(
            fn=method,
            name=method.__name__,
            title=None,
            description=inspect.getdoc(method) or "",
            parameters=compact(model.model_json_schema(by_alias=True)),
            fn_metadata=FuncMetadata(
                arg_model=model,
                output_schema=compact_answer(
                    signature.return_annotation.model_json_schema(mode="serialization")
                ),
            ),
            is_async=False,
            context_kwarg=None,
            annotations=effect,
            meta={"anthropic/alwaysLoad": True} if always else None,
        )
        self._wants_caller = _CALLER in signature.parameters
        self._evaluates = evaluates

    _wants_caller: bool = False
    _evaluates: bool = False

    @property
    def evaluates(self) -> bool:
        return self._evaluates

    @property
    def reads_only(self) -> bool:
        return bool(self.annotations and self.annotations.read_only_hint)

    async def call(self, arguments: dict[str, Any], caller: Caller) -> CallToolResult:
        """Call the method on a worker thread.

        Raises:
            ToolError: the arguments are not what the schema says.
        """
        given = self._validated(arguments)
        if self._wants_caller:
            given[_CALLER] = caller
        answer: BaseModel = await anyio.to_thread.run_sync(partial(self.fn, **given))
        content = answer.model_dump(mode="json", by_alias=True)
        text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
        text.encode()  # text that cannot be sent fails here; in the SDK's writer it would end the server
        return CallToolResult(content=[TextContent(type="text", text=text)], structured_content=content)

    def _validated(self, arguments: dict[str, Any]) -> dict[str, Any]:
        model = self.fn_metadata.arg_model
        required = self.parameters.get("required", ())
        given = {name: value for name, value in arguments.items() if value is not None or name in required}
        try:
            parsed = model.model_validate(_decoded(given, self.parameters.get("properties", {})))
        except ValidationError as error:
            lines = [self._line(each) for each in error.errors(include_url=False)]
            raise ToolError("\n".join(lines)) from error
        return {name: getattr(parsed, name) for name in model.model_fields}

    def _line(self, error: ErrorDetails) -> str:
        """One validation error as one line: the argument, what is wrong, the value."""
        name = ".".join(str(part) for part in error["loc"])
        if error["type"] == "extra_forbidden":
            return f"{name}: unknown argument. {nearest(name, list(self.parameters.get('properties', {})))}"
        if error["type"] == "missing":
            return f"{name}: missing. `{self.name}` needs it."
        wrong = error["msg"].removeprefix("Value error, ")
        return f"{name}: {wrong}, got {_shown(error['input'])}"


def _arguments(name: str, signature: inspect.Signature) -> type[Arguments]:
    fields: dict[str, Any] = {}
    for parameter in signature.parameters.values():
        if parameter.name != _CALLER:
            default = ... if parameter.default is inspect.Parameter.empty else parameter.default
            fields[parameter.name] = (parameter.annotation, default)
    return create_model(f"{name}_arguments", __base__=Arguments, **fields)


def _decoded(arguments: dict[str, Any], properties: dict[str, Any]) -> dict[str, Any]:
    """The arguments, with lists and objects decoded that a client sent as JSON text, as some clients do."""
    return {
        name: _from_json(value) if properties.get(name, {}).get("type") in ("array", "object") else value
        for name, value in arguments.items()
    }


def _from_json(value: object) -> object:
    if not isinstance(value, str):
        return value
    try:
        decoded = from_json(value)  # refuses lone surrogates, which cannot be sent, and very deep nesting
    except ValueError:
        return value
    return decoded if isinstance(decoded, list | dict) else value


def _shown(value: object) -> str:
    shown = json.dumps(value, ensure_ascii=False, default=str)
    return shown if len(shown) <= 80 else f"{shown[:60]}… ({len(shown)} characters)"
