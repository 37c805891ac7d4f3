"""Who calls: made once for each call, by the face that the call came in through, and passed down."""

from dataclasses import dataclass

from memory_server.project import NONE, Project


@dataclass(frozen=True, slots=True)
class Caller:
    """The client's own name, its session, and the project that it works in, each as far as the client tells."""

    client: str | None = None
    session: str | None = None
    project: Project = NONE
