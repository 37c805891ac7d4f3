"""The JSON-RPC messages of a client: each line is one, or gets an answer that says why it is none."""

import json
import re
from typing import Any

import pydantic_core
from mcp_types import (
    INVALID_REQUEST,
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    jsonrpc_message_adapter,
)
from pydantic import ValidationError

from memory_server.language.text import visible

_TOKENS = re.compile(r'"(?:[^"\\]|\\.)*+\\?(?:"|\Z)|[{}\[\]:,]|[^\s{}\[\]:,"]+', re.DOTALL)
"""The tokens of JSON. A string that is never closed extends to the end: to retry at each mark would be quadratic."""

_ID_KEY = re.compile(r'"(?:i|\\u0069)(?:d|\\u0064)"')
"""The name `id`, as JSON may write it."""


class NoMessageError(Exception):
    """A line that is no JSON-RPC message. The SDK would drop it, and the client would wait for ever."""

    def __init__(self, id: object, code: int, message: str) -> None:
        valid_id = id if isinstance(id, int | str) and not isinstance(id, bool) else None
        self.answer = JSONRPCError(jsonrpc="2.0", id=valid_id, error=ErrorData(code=code, message=message))


def parse(line: str) -> JSONRPCMessage:
    """Read a line as a message.

    Raises:
        NoMessageError: it is none; the error has the id that the line names, if any.
    """
    try:
        content = pydantic_core.from_json(line)
    except ValueError as error:
        raise NoMessageError(_id_in(line), PARSE_ERROR, f"Not JSON: {error}") from None
    try:
        message = jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValidationError:
        message = None
    if message is None or (isinstance(message, JSONRPCNotification) and "id" in content):
        raise NoMessageError(
            content.get("id") if isinstance(content, dict) else None,
            INVALID_REQUEST,
            'Not a JSON-RPC message: an object with "jsonrpc": "2.0", a text "method", an object "params", '
            'and in a request an "id" that is a text or a whole number.',
        )
    return message


def readable(error: ErrorData) -> ErrorData:
    """Return the error without hidden characters: the SDK repeats the name of an unknown method, prompt or resource."""
    changes = {"message": visible(error.message), "data": _readable(error.data)}
    return error.model_copy(
        update={name: value for name, value in changes.items() if name in error.model_fields_set}
    )


def _readable(value: Any) -> Any:
    match value:
        case str():
            return visible(value)
        case list():
            return [_readable(item) for item in value]
        case dict():
            return {visible(str(name)): _readable(item) for name, item in value.items()}
    return value


def _id_in(line: str) -> object:
    """Find the `id` of an outermost object that a parser refuses: too deep, or cut off. None where there is none."""
    id: object = None
    depth, key, colon = 0, "", False
    for match in _TOKENS.finditer(line):
        part = match[0]
        if part == ":":
            colon = True
            continue
        if part in "{[":
            depth += 1
        elif part in "}]":
            depth -= 1
        elif depth == 1 and colon and _ID_KEY.fullmatch(key):
            id = _value(part)
        elif depth == 1 and not colon:
            key = part
        colon = False
    return id


def _value(part: str) -> object:
    try:
        return json.loads(part)
    except ValueError:
        return None
