"""The resources: what is stored, as dated text that a person can attach to a conversation. Reading changes nothing."""

from dataclasses import dataclass, replace
from urllib.parse import quote, unquote

from mcp_types import Resource, ResourceTemplate

from memory_server.domain.caller import Caller
from memory_server.domain.fact import LOOKUP_ORDER, Scope
from memory_server.domain.memory import MemoryId
from memory_server.errors import Invalid, Mend, NotFound, Unavailable
from memory_server.language.text import clean
from memory_server.language.tokens import weigh
from memory_server.mcp import texts
from memory_server.services import projects
from memory_server.services.facts import FactService
from memory_server.services.memories import MemoryService
from memory_server.services.projects import ProjectService
from memory_server.services.recent import RecentService
from memory_server.services.resume import Resumed, ResumeService, Wording

SCHEME = "memory://"
RESUME, RECENT = f"{SCHEME}resume", f"{SCHEME}recent"
MEMORY, FACT, PROJECT = (
    f"{SCHEME}memory/{{id}}",
    f"{SCHEME}fact/{{scope}}/{{key}}",
    f"{SCHEME}project/{{name}}",
)

TEXT = "text/plain"

BRIEFING = 2_000
"""Tokens of a briefing and of the list of what is new: as the hook says at the start of a session."""

WHOLE = 8_000
"""Tokens of one memory or fact: as many as the longest answer of a tool that takes `max_tokens`."""

PROJECTS = 100
"""Projects that are listed; the template reads any."""

AS_OF = "As of {}."
"""The last line of a briefing."""

WORDING = Wording(
    "`recall`",
    lambda problems: weigh(AS_OF.format("2026-03-14")) + texts.overhead(problems),
)
"""How a briefing says where to read more, and what its text costs besides."""

_LAST_ID = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Resources:
    """Reads what an address names, with the rights and the project of the caller."""

    resume: ResumeService
    recent: RecentService
    memories: MemoryService
    facts: FactService
    projects: ProjectService

    def listed(self, caller: Caller) -> list[Resource]:
        """Return the two resources of the caller's project, then one for each project that the caller may see."""
        about = "What to know to go on with this project: blockers, tasks, the last session, decisions."
        newest = "The newest memories, facts and turns of this project, with dates and handles."
        return [
            _resource(RESUME, "resume", "Briefing", about),
            _resource(RECENT, "recent", "What is new", newest),
            *(
                _resource(_address(name), name, f"Briefing of {name}", "What is known of this project.")
                for name in self._projects(caller)[:PROJECTS]
            ),
        ]

    def _projects(self, caller: Caller) -> list[str]:
        visible = None if caller.person is None else caller.person.projects
        return [name for name in self.projects.names() if visible is None or name in visible]

    def templates(self) -> list[ResourceTemplate]:
        scopes = f"The value of a key in a scope: {', '.join(LOOKUP_ORDER)}."
        return [
            _template(MEMORY, "memory", "A memory", "One memory whole, with its dates and earlier texts."),
            _template(FACT, "fact", "A fact", scopes),
            _template(PROJECT, "project", "A project", "The briefing of a project."),
        ]

    def read(self, uri: str, caller: Caller) -> str:
        """Return the text of a resource.

        Raises:
            NotFound: there is none of this address.
            Invalid: no scope or project has this name.
            Unavailable: it cannot be read.
        """
        match _parts(uri):
            case ["resume"]:
                return self.briefing(caller)
            case ["recent"]:
                return self._recent(caller)
            case ["memory", id]:
                return self._memory(id)
            case ["fact", scope, key]:
                return texts.of_fact(self.facts.get(key, _scope(scope), caller), WHOLE)
            case ["project", name]:
                return self.project(name, caller)
        addresses = ", ".join(f"`{address}`" for address in (RESUME, RECENT, MEMORY, FACT, PROJECT))
        raise NotFound(f"No resource `{uri}`. There are: {addresses}.")

    def briefing(self, caller: Caller) -> str:
        """The briefing of the caller's project."""
        return _dated(self.resume.resume(BRIEFING, frozenset(), WORDING, caller))

    def project(self, name: str, caller: Caller) -> str:
        """The briefing of any project.

        Raises:
            NotFound: nothing is known of it.
        """
        named = replace(caller, project=projects.asked(name, caller))
        resumed = self.resume.resume(BRIEFING, frozenset(), WORDING, named)
        if resumed.note:
            raise NotFound(resumed.note, Mend.LIST_PROJECTS)
        return _dated(resumed)

    def _recent(self, caller: Caller) -> str:
        recent = self.recent.recent(BRIEFING - round(texts.overhead([])), caller)
        head = (
            f"Project {recent.project}, the newest first."
            if recent.project
            else "No project, the newest first."
        )
        lines = recent.lines or ["Nothing is stored for it yet."]
        return texts.with_problems("\n".join([head, *lines]), recent.degraded)

    def _memory(self, written: str) -> str:
        id = written.removeprefix("m")
        if not (id.isascii() and id.isdigit() and 1 <= int(id[:20]) <= _LAST_ID):
            raise NotFound(f"No memory `{written}`: an id is a whole number.", Mend.FIND_MEMORY)
        read = self.memories.get([MemoryId(int(id))])
        for problem in read.degraded:
            raise Unavailable(problem.text, *problem.hints)
        if not read.memories:
            raise NotFound(f"No memory {id}.", Mend.FIND_MEMORY)
        return texts.of_memory(read.memories[0], WHOLE)


def _resource(uri: str, name: str, title: str, description: str) -> Resource:
    return Resource(uri=uri, name=name, title=title, description=description, mime_type=TEXT)


def _template(uri: str, name: str, title: str, description: str) -> ResourceTemplate:
    return ResourceTemplate(uri_template=uri, name=name, title=title, description=description, mime_type=TEXT)


def _dated(resumed: Resumed) -> str:
    """A briefing with its day, because it says how long ago things were."""
    text = f"{resumed.briefing.text}\n{AS_OF.format(resumed.now[:10])}"
    return texts.with_problems(text, resumed.degraded)


def _address(project: str) -> str:
    return PROJECT.replace("{name}", quote(project, safe=""))


def _parts(uri: str) -> list[str]:
    """Split an address into its kind and the values of its template. A key may contain separators."""
    if not uri.lower().startswith(SCHEME):
        return []
    kind, _, path = uri[len(SCHEME) :].partition("/")
    written = path.split("/", 1) if kind == "fact" else [path]
    names = [clean(unquote(part)) for part in written]
    return [kind, *names] if all(names) else [kind] if not path else []


def _scope(written: str) -> Scope:
    try:
        return Scope(written)
    except ValueError:
        raise Invalid(f"No scope `{written}`: it is one of {', '.join(LOOKUP_ORDER)}.") from None


def memory_of(uri: str) -> int | None:
    """The id of the memory that an address names, if it names one."""
    match _parts(uri):
        case ["memory", id] if (digits := id.removeprefix("m")).isascii() and digits.isdigit():
            return int(digits[:20])
    return None
