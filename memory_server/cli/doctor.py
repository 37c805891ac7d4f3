"""`memory-server doctor`: reports what is in use, and what is wrong."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from memory_server import flags
from memory_server.cli import output
from memory_server.cli.answers import DoctorAnswer, DoctorFinding
from memory_server.cli.hints import told
from memory_server.cli.install import status
from memory_server.cli.opened import opened
from memory_server.cli.program import verb
from memory_server.cli.refusals import failure, refused
from memory_server.cli.terminal import bracketed, is_chinese, translated
from memory_server.domain.outside import counted
from memory_server.errors import Mend, Problem, Unavailable
from memory_server.front import running
from memory_server.hook import journal
from memory_server.hook.journal import Record
from memory_server.language.nearest import meant
from memory_server.settings import KEYS, Settings

if TYPE_CHECKING:
    from memory_server.app import Services
    from memory_server.services.health import HealthReport

SILENT = "the hook before a prompt says nothing"
"""What that means for hooks."""

_FIXED = "fixed"
_AS_IT_IS = ("project", "embedder", "re-ranker", "to confirm")
"""Lines that hold names alone."""

_FILES = ("copies", "rescued")
"""Lines that hold files with their ages."""

_RESCUED = "may hold what was purged since: delete it when you need nothing more from it"
_TO_ERASE = "some bytes are left: a running server or `memory-server compact` overwrites them"


@verb(
    "doctor", examples=("memory-server doctor", "memory-server doctor --fix", "memory-server doctor --json")
)
@click.option(
    "--fix",
    is_flag=True,
    help="First let only you read the file, remove unfinished copies and SQL that is not of this program, correct "
    "wrong counts, and let clients start this program.",
)
def doctor_command(settings: Settings, fix: bool) -> int:
    """Check the database; report what is in use and what is wrong. Exits with 1 if something is wrong."""
    named = "db" in settings.model_fields_set  # a path that somebody names may be mistyped
    if not named and isinstance(settings.db, Path) and not settings.db.exists():
        report = {"database": f"{settings.db} (the first assistant creates it)"}
        answer = _answer(report, tuple(_unknown_variables()), (), {})
    else:
        try:
            with opened(settings) as services:
                fixed = (*services.health.mend(), *status.mend()) if fix else ()
                services.database.open()  # else the embedder waits for a locked file first, and is said to be missing
                answer = examined(services, fixed)
        except Unavailable as error:
            answer = _unusable(settings, error)
    if output.answered(answer):
        return 1 if answer.problems else 0
    output.fields(*((_FIXED, translated(done)) for done in answer.fixed), *map(_line, answer.report.items()))
    for problem in answer.problems:
        output.say(problem, indent=2, style="red")
    return 1 if answer.problems else 0


def _unusable(settings: Settings, error: Unavailable) -> DoctorAnswer:
    """Report a database that cannot be used: the failure is the only finding."""
    mends = {hint.mend for hint in error.problem.hints}
    code = "foreign_sql" if Mend.REMOVE_FOREIGN_SQL in mends else "database"
    if any(mend.name.startswith("RESTORE") for mend in mends):
        code = "damage"
    finding = DoctorFinding(code, told(error.problem) or "", str(settings.db))
    return _answer({"database": str(settings.db)}, (finding,), (), {"problems": 1})


def _answer(
    report: dict[str, str],
    findings: tuple[DoctorFinding, ...],
    fixed: tuple[str, ...],
    figures: dict[str, int | None],
) -> DoctorAnswer:
    """Return the answer whose report ends with the number of problems."""
    report["problems"] = f"{len(findings)}" if findings else "none"
    return DoctorAnswer(report, tuple(finding.text for finding in findings), fixed, figures, findings)


def _line(named: tuple[str, str]) -> tuple[str, str]:
    """Return a line of the report for a person, in their language: the tools only by their number."""
    name, value = named
    if name == "tools":
        return name, str(len(value.split(", ")))
    if name in _AS_IT_IS:
        return name, value
    semicolon = "；" if is_chinese() else "; "
    return name, semicolon.join(map(_aged if name in _FILES else translated, value.split("; ")))


def _aged(file: str) -> str:
    """Return a file with its age, which stands in brackets behind its name, in the language of the person."""
    name, bracket, age = file.removesuffix(")").rpartition(" (")
    return f"{name}{bracketed(', '.join(map(translated, age.split(', '))))}" if bracket else translated(file)


def examined(services: "Services", fixed: tuple[str, ...]) -> DoctorAnswer:
    """Report what is in use and what is wrong. It loads the embedder and reads the whole file."""
    from memory_server.mcp import listed  # 1 s, which the help does without

    settings = services.settings
    health, backups = services.health.check(), services.daily_backups
    coverage, hooks, clients = health.coverage, journal.read(settings.db), status.statuses()
    written = sorted({str(Path(file).parent) for file in services.corrections.files()})
    waiting = counted(item.origin for item in services.trust.waiting())
    findings = _findings(services, health, hooks, clients)
    figures = {
        "bytes": health.size,
        "memories": health.memories,
        "embedded": coverage.embedded,
        "waiting": coverage.waiting,
        "copies": len(health.copies),
        "rescued": len(health.rescues),
        "days_since_backup": backups.days_since() if backups else None,
        "hook_failures": len(hooks.failures),
        "clients": sum(bool(client.words) for client in clients),
        "problems": len(findings),
    }
    report = {
        "database": f"{settings.db} ({health.size:,} bytes)",
        **health.libraries,
        "memories": str(health.memories),
        "embedder": _at(coverage.embedder, settings.embedder_url),
        "embeddings": f"{coverage.embedded} ready, {coverage.waiting} waiting",
        **({"words": _words(services)} if settings.dictionary or settings.stop_words else {}),
        **({"re-ranker": _at(settings.reranker, settings.reranker_url)} if settings.reranker else {}),
        "project": services.projects.here(settings.here) or "(none)",
        "tools": ", ".join(tool.name for tool in listed.chosen(settings)),
        "clients": "; ".join(map(str, clients)) or "none found",
        "hooks": _hooks(hooks),
        **({"write-back": ", ".join(written)} if written else {}),
        **({"to confirm": f"{waiting}; memory-server review"} if waiting else {}),
        "engine": _engine(settings),
        "deleted": _TO_ERASE if health.to_erase else "all overwritten",
        **({"clock": health.clock} if health.clock else {}),
        "backups": backups.report() if backups else "none are made by themselves",
        "copies": "; ".join(health.copies) or "none",
        **({"rescued": "; ".join((*health.rescues, _RESCUED))} if health.rescues else {}),
    }
    return _answer(report, findings, fixed, figures)


def _findings(
    services: "Services", health: "HealthReport", hooks: Record, clients: Sequence[status.Status]
) -> tuple[DoctorFinding, ...]:
    unordered = services.reranking.check() if services.reranking.is_on else None
    late = services.daily_backups.problem() if services.daily_backups else None
    return (
        *(DoctorFinding("exposed", line) for line in health.exposed),
        *(DoctorFinding("last_copy", line) for line in health.last_copies),
        *(DoctorFinding("damage", line) for line in health.damage),
        *(DoctorFinding("job", f'job "{job}": {problem}', job) for job, problem in health.jobs.items()),
        *_found("embedder", health.coverage.problem, health.coverage.embedder),
        *_found("reranker", unordered, services.settings.reranker),
        *_found("triggers", health.asleep, None),
        *([DoctorFinding("backup", late)] if late else []),
        *(
            DoctorFinding("hook", f"the last hook that failed: {failure(line)}")
            for line in hooks.failures[-1:]
        ),
        *(
            DoctorFinding("client", client.problem, client.client.title)
            for client in clients
            if client.problem
        ),
        *(
            DoctorFinding("write_back", refused(refusal.where, refusal.why), refusal.where)
            for refusal in services.corrections.refused()
        ),
        *_unknown_variables(),
    )


def _unknown_variables() -> Iterator[DoctorFinding]:
    """Yield the variables that look like settings and are none."""
    names = [*map(str.upper, flags.SETTINGS), *(key.removeprefix(flags.PREFIX) for key in KEYS)]
    for name in flags.HERE:
        word = name.upper().removeprefix(flags.PREFIX)
        if word != name.upper() and word not in names:
            problem = f"the variable {name} is no setting."
            if near := meant(word, names):
                variable = flags.PREFIX + near
                problem = f"the variable {name} is no setting. Did you mean `{variable}`?"
            yield DoctorFinding("variable", problem, name)


def _found(code: str, problem: Problem | None, about: str | None) -> list[DoctorFinding]:
    return [] if problem is None else [DoctorFinding(code, told(problem) or "", about)]


def _at(model: str, url: str | None) -> str:
    """Return a model, and the address of the settings where it is behind an endpoint."""
    return f"{model} ({url})" if model.startswith(("openai:", "endpoint")) and url else model


def _words(services: "Services") -> str:
    words = services.user_words
    return f"{len(words.weights):,} in the dictionary, {len(words.ignored):,} ignored"


def _engine(settings: Settings) -> str:
    if settings.engine == "off":
        return "; ".join(["off: each window has a process of its own", SILENT])
    engines = running.of(settings.db)
    if engines:
        return "; ".join(map(str, engines))
    words = [f"an earlier one said: {line}" for line in running.failures(settings.db)]
    reason = running.why_none()
    return f"{reason}; {SILENT}" if reason else "; ".join(["none runs now", *words])


def _hooks(record: Record) -> str:
    worked = f"last worked on {record.worked}" if record.worked else "none has worked yet"
    match len(record.failures):
        case 0:
            return worked
        case 1:
            return "; ".join([worked, "failed once since"])
        case number:
            return "; ".join([worked, f"failed {number} times since"])
