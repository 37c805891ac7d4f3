"""Questions that nothing answered."""

from typing import Protocol

from memory_server.domain.learning import OpenQuestion


class OpenQuestions(Protocol):
    """The table `open_questions`: questions that found nothing."""

    def select(self, project: str | None, least: int = 1) -> list[OpenQuestion]:
        """The questions of a project ('' is none) or of all, that so many sessions or more have asked; the latest
        first."""
        ...


class WritableOpenQuestions(OpenQuestions, Protocol):
    """The same in a transaction that writes."""

    def insert(self, project: str, question: str, session: str) -> None: ...

    def ask_again(self, id: int, session: str) -> None:
        """Another session asks the same."""
        ...

    def delete(self, id: int | None = None, session: str | None = None) -> int:
        """Delete one, or those that sessions have asked last whose id begins so, or all; how many. Their bytes
        follow."""
        ...
