"""Guesses that a question has the same answer as last time: a call goes on with it and checks it, in one wait."""

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from memory_server.domain.caller import Caller
from memory_server.services import projects
from memory_server.storage.tx import Tx

MOST = 1_000
"""Questions whose last answer is kept."""

Found = TypeVar("Found")
Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class Guesses:
    """The last answers that this process got."""

    _last: dict[Hashable, Any] = field(default_factory=dict)

    def with_caller(self, tx: Tx, caller: Caller, use: Callable[[Caller], Answer]) -> Answer:
        """Return the result of `use` for the caller with the name that its project has in the database. `use` only
        reads: it may run twice."""
        project = caller.project
        _, answer = self.go_on(
            tx,
            project,
            project.name,
            lambda: projects.name_of(tx, project),
            lambda name: use(projects.called(caller, name)),
        )
        return answer

    def go_on(
        self,
        tx: Tx,
        question: Hashable,
        guess: Found,
        find: Callable[[], Found],
        use: Callable[[Found], Answer],
    ) -> tuple[Found, Answer]:
        """Return the result of `find`, and that of `use` for it. `use` only reads: it runs again after a wrong guess.

        `use` runs first with a guess: what `find` gave when the same person last had this `question`, else `guess`.
        """
        key = (question, tx.owner)
        last: Found = self._last.get(key, guess)
        result, answer = tx.together(find, lambda: use(last))
        if result != last:
            answer = use(result)
        if len(self._last) >= MOST:
            self._last.clear()
        self._last[key] = result
        return result, answer
