"""The tool `forget`: deletes what is stored, of every kind."""

from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from itertools import islice
from typing import Annotated

from pydantic import BeforeValidator, Field, WithJsonSchema

from memory_server.answers.answer import Answer, field
from memory_server.domain.caller import Caller
from memory_server.domain.forgetting import Forgotten
from memory_server.domain.handles import FORMS, Handle, read
from memory_server.errors import Invalid, NotFound
from memory_server.mcp.tool import DESTROYS, Tool
from memory_server.mcp.tools.answers import NOT_ERASED, also_in, cut, refuse_both
from memory_server.mcp.tools.fields import Purge, QueryText, Undo
from memory_server.services.things import ThingService

LISTED = 10
"""Most things that words list: enough to choose from."""

SHOWN = 120
"""Characters of each: enough to recognise it."""

ONLY_LISTED = "Nothing was deleted. Call `forget` with the refs of those that the user means."
NOTHING = "Nothing stored matches this. Nothing was deleted."
DELETED_LISTED = "Nothing was restored. Call `forget` with undo and the refs of those that the user means."
NOTHING_DELETED = "Nothing that was deleted in the last 30 days matches this. Nothing was restored."


def _handle(text: object) -> Handle:
    handle = read(str(text))
    if handle is None:
        raise ValueError(f"is no ref: write {FORMS}")
    return handle


Ref = Annotated[Handle, BeforeValidator(_handle)]
Refs = Annotated[
    list[Ref],
    Field(max_length=100, description="m12, f:KEY, t7, s3, w:NAME"),
    WithJsonSchema({"type": "array", "items": {"type": "string"}}),
]


@dataclass(frozen=True, slots=True)
class Match:
    """A thing that words may mean."""

    ref: str
    content: str


@dataclass(frozen=True, slots=True)
class Forgetting:
    """The things that were deleted, erased or restored, and those that are not there."""

    deleted: Sequence[Handle] = ()
    purged: Sequence[Handle] = ()
    restored: Sequence[Handle] = ()
    missing: list[str] = dataclass_field(default_factory=list)
    undo_until: str | None = None
    matches: list[Match] | None = None
    note: str | None = None


def _refs(handles: Sequence[Handle]) -> list[str]:
    return list(map(str, handles))


FORGOTTEN = Answer(
    Forgetting,
    *(field(f"{name}?", _refs) for name in ("deleted", "purged", "restored")),
    "missing? undo_until? matches? note?",
)


@dataclass(frozen=True, slots=True)
class ForgetTools:
    """Deletes what is stored, of every kind."""

    things: ThingService

    def tools(self) -> list[Tool]:
        return [Tool(self.forget, DESTROYS, "Forget", "delete remove erase undo anything stored 忘记 删除")]

    def forget(
        self,
        refs: Refs = [],  # noqa: B006 - never changed
        words: Annotated[
            QueryText | None,
            Field(
                alias="what",
                description="words; lists what they may mean; with undo restores it",
            ),
        ] = None,
        undo: Undo = False,
        purge: Purge = False,
        *,
        caller: Caller,
    ) -> Annotated[Forgetting, FORGOTTEN]:
        """Delete what is stored, of any kind; undo restores it for 30 days."""
        refuse_both(undo=undo, purge=purge)
        if undo and not refs:
            return self._restored_by_words(words or "", caller)
        if bool(refs) == (words is not None):
            raise Invalid("Give either `refs`, or `what` in words. Nothing was deleted.")
        if words is not None:
            hits = self.things.matching(words, caller)[:LISTED]
            matches = [Match(hit.ref, cut(hit.said, SHOWN)) for hit in hits]
            return Forgetting(matches=matches, note=ONLY_LISTED if matches else NOTHING)
        return self._restored(refs, caller) if undo else self._forgotten(refs, purge, caller)

    def _forgotten(self, handles: Sequence[Handle], purge: bool, caller: Caller) -> Forgetting:
        """Forget each thing.

        Raises:
            NotFound: none is there.
        """
        results: dict[Handle, Forgotten] = {}
        missing: list[NotFound] = []
        for handle in dict.fromkeys(handles):
            try:
                results[handle] = self.things.forget(handle, purge, caller)
            except NotFound as error:
                missing.append(error)
        if not results:
            raise missing[0]
        erased = [handle for handle, forgotten in results.items() if forgotten.undo_until is None]
        deleted = [handle for handle in results if handle not in erased]
        until = next((results[handle].undo_until for handle in deleted), None)
        return Forgetting(
            deleted, erased, (), list(map(str, missing)), until, None, _note(list(results.values()))
        )

    def _restored_by_words(self, words: str, caller: Caller) -> Forgetting:
        """Restore the one deleted thing that words mean, or list those that they may mean."""
        texts = self.things.deleted(words, caller)
        if words and len(texts) == 1:
            return self._restored(list(texts), caller)
        matches = [Match(str(handle), cut(text, SHOWN)) for handle, text in islice(texts.items(), LISTED)]
        return Forgetting(matches=matches, note=DELETED_LISTED if matches else NOTHING_DELETED)

    def _restored(self, handles: Sequence[Handle], caller: Caller) -> Forgetting:
        """Restore each thing.

        Raises:
            NotFound: none was deleted.
        """
        restored: list[Handle] = []
        staying: list[str] = []
        missing: list[NotFound] = []
        for handle in dict.fromkeys(handles):
            try:
                staying += self.things.restore(handle, caller)
            except NotFound as error:
                missing.append(error)
            else:
                restored.append(handle)
        if not restored:
            raise missing[0]
        note = f"Changed since, so it stays: {', '.join(staying)}." if staying else None
        return Forgetting(restored=restored, missing=list(map(str, missing)), note=note)


def _note(results: Sequence[Forgotten]) -> str | None:
    if any(forgotten.refused for forgotten in results):
        return NOT_ERASED
    return next(filter(None, map(also_in, results)), None)
