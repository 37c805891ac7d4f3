"""The answers to requests that are refused before they reach the protocol."""

from collections.abc import Mapping

from mcp_types import INTERNAL_ERROR, INVALID_REQUEST
from starlette.responses import JSONResponse


def refused(
    status: int, error: str, description: str, headers: Mapping[str, str] | None = None
) -> JSONResponse:
    """An error of the protocol, whose sentence clients show to a model; it answers no id, since the body was not read.

    `error` is a code for programs.
    """
    code = INTERNAL_ERROR if status >= 500 else INVALID_REQUEST
    body = {"code": code, "message": description, "data": {"error": error}}
    return JSONResponse({"jsonrpc": "2.0", "id": None, "error": body}, status, headers)


def unauthorized(description: str, metadata: str | None, error: str | None = None) -> JSONResponse:
    """401, as RFC 6750 says. `metadata` is the address of RFC 9728 that says who gives out tokens.

    `error` is a code of RFC 6750, where a token was shown.
    """
    parts = ['realm="memory-server"']
    if error is not None:
        parts += [f'error="{error}"', f'error_description="{description}"']
    if metadata is not None:
        parts.append(f'resource_metadata="{metadata}"')
    shown = error or "unauthorized"
    return refused(401, shown, description, {"WWW-Authenticate": f"Bearer {', '.join(parts)}"})
