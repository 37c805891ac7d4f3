"""Health: what doctor finds, the queue, sizes; a backup and the erasing of what is deleted, with their progress."""

from collections.abc import Callable

from starlette.responses import Response

from memory_server.errors import Invalid
from memory_server.services import backups
from memory_server.stores import clock
from memory_server.web.view import Desk, Visit, back, sentence


def show(desk: Desk, visit: Visit) -> Response:
    """The sizes at once; what takes time, because it reads the whole file, where the address asks for it."""
    services = desk.services
    health = services.health.check() if visit.owns and visit.get("check") else None
    return desk.render(
        visit, "health", counts=services.memories.statistics(None, visit.caller), found=health,
        free=services.database.free(), path=services.settings.db, work=desk.work,
        copies=[_aged(line, visit.language) for line in health.copies] if health else [],
        rescues=[_aged(line, visit.language) for line in health.rescues] if health else [],
        deleted=services.forgetting.count_deleted(), folder=backups.folder(services.settings.db),
    )  # fmt: skip


def _aged(line: str, language: str) -> str:
    """Word the age of a file, which stands in brackets behind its path, in a language."""
    path, bracket, age = line.removesuffix(")").rpartition(" (")
    return f"{path} ({sentence(age, language)})" if bracket else line


def show_work(desk: Desk, visit: Visit) -> Response:
    _refuse_others(visit)
    return desk.render(visit, "work", work=desk.work)


def back_up(desk: Desk, visit: Visit) -> Response:
    """Into the usual folder, named by the moment."""
    _refuse_others(visit)
    db = desk.services.settings.db
    folder = backups.folder(db)
    target = folder / backups.named(db, clock())

    def run(report: Callable[[int, int], None]) -> str:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        problem = desk.services.erasure.erase_now()
        desk.services.backup(target, report)
        return str(target) if problem is None else f"{target}. {problem.text}"

    desk.work.start("backup", run)
    return back("/doctor", done="backup")


def purge(desk: Desk, visit: Visit) -> Response:
    """Erase for good what is deleted."""
    _refuse_others(visit)

    def run(report: Callable[[int, int], None]) -> str:
        all_of_it = max(1, desk.services.forgetting.count_deleted())
        desk.services.forgetting.purge_deleted(lambda left: report(max(0, all_of_it - left), all_of_it))
        return str(all_of_it)

    desk.work.start("purge", run)
    return back("/doctor", done="purge")


def _refuse_others(visit: Visit) -> None:
    """Raises:
    Invalid: somebody else than the owner of the file asks for it.
    """
    if not visit.owns:
        raise Invalid("Only the person who runs the server can do this, with a command at its terminal.")
