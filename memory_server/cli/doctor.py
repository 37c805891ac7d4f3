"""`memory-server doctor`: reports what is in use, and what is wrong."""

from memory_server import app
from memory_server.cli.hints import WORDS
from memory_server.cli.install import status
from memory_server.errors import Invalid, told
from memory_server.hook import journal
from memory_server.hook.journal import Record
from memory_server.mcp.toolsets import chosen, toolsets
from memory_server.settings import Settings

_RESCUED = "May hold what was purged since. Delete it when you have all that you need of it."


def doctor(settings: Settings, fix: bool) -> int:
    """Print what is in use and what is wrong. Returns 1 if something is wrong. Creates no file.

    With `fix` it first mends what needs no decision.
    """
    if not settings.db.exists():
        raise Invalid(
            f"There is no database {settings.db} yet. The first assistant that starts memory-server creates it. "
            "To check another file, give its path with --db."
        )
    services = app.build(settings)
    services.database.refuse_empty()
    for done in (*services.health.mend(), *status.mend()) if fix else ():
        print(f"fixed       {done}")
    health = services.health.check()
    coverage, hooks, clients = health.coverage, journal.read(settings.db), status.found()
    problems = [
        *health.problems,
        *(f'job "{job}": {problem}' for job, problem in health.jobs.items()),
        *([told([coverage.problem], WORDS)] if coverage.problem else []),
        *(f"the last hook that failed: {line}" for line in hooks.failures[-1:]),
        *(each.problem for each in clients if each.problem),
    ]
    report = {
        "database": f"{settings.db} ({health.size:,} bytes)",
        **health.libraries,
        "memories": str(health.memories),
        "embedder": coverage.embedder,
        "embeddings": f"{coverage.embedded} ready, {coverage.waiting} waiting",
        "project": services.projects.here(settings.here) or "(none)",
        "tools": ", ".join(tool.name for tool in chosen(toolsets(services), settings)),
        "clients": "; ".join(each.told() for each in clients) or "none found",
        "hooks": _hooks(hooks),
        "copies": ", ".join(health.copies) or "none",
        **({"rescued": f"{', '.join(health.rescues)}. {_RESCUED}"} if health.rescues else {}),
        "problems": "none" if not problems else f"{len(problems)}",
    }
    for name, value in report.items():
        print(f"{name:<11} {value}")
    for problem in problems:
        print(f"  {problem}")
    services.close()
    return 1 if problems else 0


def _hooks(record: Record) -> str:
    worked = f"worked last on {record.worked}" if record.worked else "none has worked yet"
    return worked + (f"; failed {len(record.failures)} times since" if record.failures else "")
