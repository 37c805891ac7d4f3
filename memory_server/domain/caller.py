"""Who makes a call. The face that receives a call builds one `Caller` for it and passes it down."""

from dataclasses import dataclass

from memory_server.project import NONE, Project


@dataclass(frozen=True, slots=True)
class Caller:
    """The client's own name, its session and its project; None or NONE where it is not known.

    A face knows the project by its remote or folder; services find its name in the file.
    """

    client: str | None = None
    session: str | None = None
    project: Project = NONE
