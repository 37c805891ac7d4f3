"""The private parts of the MCP SDK that this face uses, because no public ones do the same. Checked with mcp 2.3.0."""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import NotificationOptions
from mcp.server.mcpserver import MCPServer
from mcp.shared._stream_protocols import WriteStream as WriteStream
from mcp.shared.message import SessionMessage
from mcp_types import CompleteRequestParams, CompleteResult, ListResourcesResult, PaginatedRequestParams

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

VERSION = "2.3.0"
"""The SDK's version in which these parts were checked last; `tests/mcp/test_compat.py` fails with another version."""


def answer_completions(
    server: MCPServer[Any],
    answer: Callable[[ServerRequestContext[Any, Any], CompleteRequestParams], Awaitable[CompleteResult]],
) -> None:
    """Answer `completion/complete`. The SDK's own decorator does not say which client asks."""
    server._lowlevel_server.add_request_handler("completion/complete", CompleteRequestParams, answer)


def answer_resource_lists(
    server: MCPServer[Any],
    answer: Callable[
        [ServerRequestContext[Any, Any], PaginatedRequestParams | None], Awaitable[ListResourcesResult]
    ],
) -> None:
    """Answer `resources/list`. The SDK's own method does not say which client asks."""
    server._lowlevel_server.add_request_handler("resources/list", PaginatedRequestParams, answer)


def over_http(server: MCPServer[Any], most_of_person: int, **options: Any) -> "StreamableHTTPSessionManager":
    """Return the manager of sessions over Streamable HTTP, in which a person has at most `most_of_person` sessions.

    The SDK's own app brings an authorization that knows only OAuth, and limits only the number of all sessions.
    """
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

    class Sessions(StreamableHTTPSessionManager):
        def _admit_session(self, requestor: Any) -> Any:
            if requestor is not None:
                owners = map(_person, self._session_owners.values())
                if sum(owner == _person(requestor) for owner in owners) >= most_of_person:
                    return None
            return super()._admit_session(requestor)

    return Sessions(server._lowlevel_server, **options)


def _person(user: Any) -> tuple[str | None, str | None]:
    """The person who owns a session: the same for all tokens of a person."""
    return user["subject"], user["issuer"]


async def run_over(server: MCPServer[Any], incoming: Any, outgoing: WriteStream[SessionMessage]) -> None:
    """Serve over given streams until the input ends. A client of the era of `initialize` learns that the list of
    resources changes; one of the newer era sees it in `server/discover`."""
    lowlevel = server._lowlevel_server
    tells = NotificationOptions(resources_changed=True)
    await lowlevel.run(incoming, outgoing, lowlevel.create_initialization_options(tells))
