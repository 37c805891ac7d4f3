"""Completes what a person types for an argument of a prompt or of the address of a resource."""

from collections.abc import Mapping
from dataclasses import dataclass

from mcp_types import Completion, PromptReference, ResourceTemplateReference

from memory_server.domain.caller import Caller
from memory_server.domain.completing import Completed, completed
from memory_server.domain.fact import LOOKUP_ORDER, Scope
from memory_server.errors import Invalid
from memory_server.mcp.resources import FACT, MEMORY, PROJECT
from memory_server.services.completing import CompletionService

ARGUMENTS: Mapping[str, frozenset[str]] = {
    MEMORY: frozenset({"id"}),
    FACT: frozenset({"scope", "key"}),
    PROJECT: frozenset({"name"}),
    "resume": frozenset({"project"}),
    "remember": frozenset({"text"}),
    "recall": frozenset({"about"}),
    "review": frozenset({"project", "conversation_id"}),
}
"""The templates and the prompts, with their arguments."""


@dataclass(frozen=True, slots=True)
class Completions:
    names: CompletionService

    def complete(
        self,
        ref: PromptReference | ResourceTemplateReference,
        argument: str,
        written: str,
        arguments: Mapping[str, str],
        caller: Caller,
    ) -> Completion:
        """`arguments` has the arguments that are given already: the scope decides which keys there are.

        Raises:
            Invalid: there is no such prompt, template or argument.
        """
        of = ref.name if isinstance(ref, PromptReference) else ref.uri
        if of not in ARGUMENTS:
            raise Invalid(f"No prompt or template `{of}`. There are: {', '.join(ARGUMENTS)}.")
        if argument not in ARGUMENTS[of]:
            raise Invalid(f"`{of}` has no argument `{argument}`. It has: {', '.join(sorted(ARGUMENTS[of]))}.")
        completed = self._found(argument, written, arguments, caller)
        return Completion(
            values=list(completed.values),
            total=completed.total,
            has_more=completed.total > len(completed.values),
        )

    def _found(self, argument: str, written: str, arguments: Mapping[str, str], caller: Caller) -> Completed:
        match argument:
            case "id":
                return self.names.memory_ids(written, caller)
            case "scope":
                return completed(written, LOOKUP_ORDER)
            case "key":
                scope = arguments.get("scope")
                return self.names.keys(written, Scope(scope) if scope in LOOKUP_ORDER else None, caller)
            case "name" | "project":
                return self.names.projects(written)
            case "conversation_id":
                return self.names.conversations(written)
        return Completed()  # free text
