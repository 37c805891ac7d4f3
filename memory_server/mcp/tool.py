"""A tool: one method of a toolset, in the form in which the protocol lists and calls it."""

import inspect
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import cache, cached_property, partial
from typing import Any, get_args

import anyio.to_thread
from mcp_types import CallToolResult, TextContent, ToolAnnotations
from pydantic import BaseModel, ConfigDict, ValidationError, create_model
from pydantic_core import ErrorDetails

from memory_server.answers.answer import Answer, whole
from memory_server.call import again
from memory_server.domain.caller import Caller
from memory_server.language.text import visible
from memory_server.language.tokens import weigh_json
from memory_server.mcp import refusals
from memory_server.mcp.forgiving.calls import Call, understand
from memory_server.mcp.schema import compact
from memory_server.mcp.suggesting import suggestion

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

_LIMIT = "max_tokens"
"""The parameter of a method that limits its whole answer: a note takes its share of it."""

NOTE_HEADROOM = 1.15
"""Tokens of a note for each that is estimated: it is short, and names what was written."""

ROOMY = 400
"""The least token limit of an answer that also tells what waits to be told."""

Notices = Callable[[Caller], Sequence[object]]
"""Gives what waits to be told to a caller, once."""


def no_notices(_caller: Caller) -> Sequence[object]:
    return ()


CarryOut = Callable[["Tool", Mapping[str, Any]], Awaitable[dict[str, Any]]]
"""Calls the method of a tool with values; returns its answer as JSON."""


async def carry_out_here(tool: "Tool", values: Mapping[str, Any]) -> dict[str, Any]:
    """Call the method on a worker thread of this process."""
    return await anyio.to_thread.run_sync(tool.carried_out, values)


_CALLER = "caller"
"""The parameter of a method that gets the Caller."""

_NOT_WRITTEN = ("self", _CALLER)
"""The parameters of a method that are no arguments of the tool."""


class ToolArguments(BaseModel):
    """The arguments of one tool; only wire names are accepted."""

    model_config = ConfigDict(extra="forbid", arbitrary_types_allowed=True)


class Tool:
    """Understands and validates the arguments; answers structured content and the same as JSON text.

    A method with a parameter `caller` gets the Caller. The client does not see this parameter. What a signature
    declares is looked at when it is first needed: a session calls few of the tools.
    """

    def __init__(
        self,
        method: Callable[..., object],
        effect: ToolAnnotations,
        title: str,
        search_hint: str = "",
        *,
        evaluates: bool = False,
        always: bool = False,
    ) -> None:
        """`title` is the name that a client shows a person. Claude Code, which loads a tool when it is needed, finds it
        by the words of `search_hint`, and `always` loads this one. What clients see is in `listed.json`.

        `evaluates`: a call evaluates triggers, which may take seconds.
        """
        self.name = method.__name__
        self.fn = method
        self.annotations = effect
        self.evaluates = evaluates
        self._function = getattr(method, "__func__", method)
        self.title, self.search_hint, self.is_always_loaded = title, search_hint, always

    @property
    def reads_only(self) -> bool:
        return bool(self.annotations.read_only_hint)

    @property
    def _declared(self) -> "_Declared":
        return _declared(self._function)

    @property
    def schema(self) -> dict[str, Any]:
        """The schema of the arguments, with the keywords that no client sees."""
        return self._declared.schema

    @property
    def answer(self) -> Answer:
        return self._declared.answer

    async def call(
        self,
        arguments: dict[str, Any],
        caller: Caller,
        notices: Notices = no_notices,
        notes: Sequence[str] = (),
        carry_out: CarryOut = carry_out_here,
    ) -> CallToolResult:
        """Let the method be carried out. A `note` in the answer names differences between the call and its
        reading, and tells what waited to be told. `notes` come first.

        Raises:
            ArgumentsRefusedError: the arguments are not what the schema says, or could mean two things.
        """
        call = self._understood(arguments)
        call.notes[:0] = notes
        values = self._validated(call)
        if self._declared.wants_caller:
            values[_CALLER] = caller
        if values.get(_LIMIT, ROOMY) >= ROOMY:
            call.notes.extend(map(str, notices(caller)))
        if call.notes and _LIMIT in values:
            values[_LIMIT] -= round(NOTE_HEADROOM * weigh_json(_note(call)))
        content = await carry_out(self, values)
        if call.notes:
            note = " ".join(filter(None, (_note(call), content.pop("note", None))))
            content = {"note": note, **content}
        text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
        text.encode()  # text that cannot be sent fails here; in the SDK's writer it would end the server
        return CallToolResult(content=[TextContent(type="text", text=text)], structured_content=content)

    def carried_out(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Call the method, again where the database has rolled it back. Return its answer as JSON: the fields of the
        result that its annotation names, or a result that is JSON already.
        """
        result = again.whole(partial(self.fn, **values))
        return result if isinstance(result, dict) else self.answer.of(result)

    def working(self, arguments: dict[str, Any]) -> str | None:
        """Word a call that works instead of this one; None where it would need the id of something."""
        call = self._understood(arguments)
        return suggestion(self.name, self.schema, self.reads_only, call, self._errors)

    def _understood(self, arguments: dict[str, Any]) -> Call:
        return understand(self.name, self.schema, arguments, reads=self.reads_only)

    def _validated(self, call: Call) -> dict[str, Any]:
        model = self._declared.arguments
        try:
            parsed = model.model_validate(call.arguments)
        except ValidationError as error:
            raise self._refused(call, error.errors(include_url=False)) from error
        if call.unknown or call.wrong:
            raise self._refused(call, [])
        return {name: getattr(parsed, name) for name in model.model_fields}

    def _errors(self, arguments: dict[str, Any]) -> Sequence[ErrorDetails]:
        try:
            self._declared.arguments.model_validate(arguments)
        except ValidationError as error:
            return error.errors(include_url=False)
        return ()

    def _refused(self, call: Call, errors: Sequence[ErrorDetails]) -> refusals.ArgumentsRefusedError:
        shown = [error for error in errors if error["loc"][0] not in call.wrong]
        lines = refusals.lines(self.name, self.schema, call, shown)
        return refusals.ArgumentsRefusedError(lines, list(call.unknown))


def _note(call: Call) -> str:
    """Word the differences between the call as written and as understood."""
    return visible(" ".join(call.notes))


class _Declared:
    """The declarations in the signature of a tool's function."""

    def __init__(self, function: Callable[..., object]) -> None:
        signature = inspect.signature(function)
        self.wants_caller = _CALLER in signature.parameters
        self.arguments = _arguments(function.__name__, signature)
        self._returned = signature.return_annotation

    @cached_property
    def schema(self) -> dict[str, Any]:
        return compact(self.arguments.model_json_schema(by_alias=True))

    @cached_property
    def answer(self) -> Answer:
        """The answer that the annotation of the result names, else all fields of its type."""
        answers = [part for part in get_args(self._returned) if isinstance(part, Answer)]
        return answers[0] if answers else whole(self._returned)


@cache
def _declared(function: Callable[..., object]) -> _Declared:
    """Made once for all servers of a process: all tools together take .1 s."""
    return _Declared(function)


def _arguments(name: str, signature: inspect.Signature) -> type[ToolArguments]:
    fields: dict[str, Any] = {}
    for parameter in signature.parameters.values():
        if parameter.name not in _NOT_WRITTEN:
            default = ... if parameter.default is inspect.Parameter.empty else parameter.default
            fields[parameter.name] = (parameter.annotation, default)
    return create_model(f"{name}_arguments", __base__=ToolArguments, **fields)
