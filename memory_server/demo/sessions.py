"""What outlives a session: one ends, another resumes it, and two assistants share a finding."""

from pathlib import Path
from typing import Any

from memory_server.demo import client, show
from memory_server.settings import Settings

FACTS: dict[str, Any] = {
    "current.task": "Move the refund job to the new queue",
    "current.blockers": ["银行的新证书周四才到"],
    "project.database.port": 5433,
    "project.decisions.queue": "RabbitMQ, because retries need its delayed queues",
    "discovered.rate_limit": "the bank allows 20 requests a second",
}
TURN = (
    "Good. Then we send refunds in batches of twenty, and I tell support on Monday.",
    "Refunds go out in batches of 20; support hears of it on Monday.",
)
FINDING = "The bank's sandbox sleeps from 22:00 to 06:00 UTC."
QUESTION = "退款一批多少个？"


async def hand_over(db: Path, settings: Settings) -> list[str]:
    """Three processes one after another and at once; gives what went wrong."""
    show.heading("A session ends, another resumes, and a third shares what was found")
    async with _assistant(db, settings, "ledger", "monday", "Claude") as first:
        for key, value in FACTS.items():
            await first.write_fact(key, value)
        await first.register(*TURN)
    show.say(f"Claude wrote {len(FACTS)} facts and a turn of the conversation; its process has ended.")
    async with _assistant(db, settings, "ledger", "tuesday", "Cursor") as second:
        resumed = await second.resume()
        show.say()
        show.say(f"Cursor, a new process, calls smart_resume ({resumed['token_count']} tokens):")
        for line in resumed["briefing"].splitlines():
            show.one_line("   ", line)
        recalled = await second.retrieve(QUESTION)
        show.say()
        show.one_line("Q  ", QUESTION)
        show.one_line("A  ", recalled["memories"][0]["summary"])
        await second.write_fact("shared.bank.sandbox", FINDING, scope="shared")
        async with _assistant(db, settings, "harbor", "tuesday", "Codex") as third:
            shared = await third.read_fact("shared.bank.sandbox")
            own = await third.read_fact("project.database.port")
    show.say()
    show.say(
        "Codex, in another project meanwhile, reads what Cursor shared, and not what is the project's own:"
    )
    show.one_line("   shared.bank.sandbox    ", str((shared or {}).get("value")))
    show.one_line("   project.database.port  ", str(own))
    return _problems(resumed, recalled, shared, own)


def _assistant(db: Path, settings: Settings, project: str, session: str, name: str) -> Any:
    return client.started([*client.command(db, settings), "--project", project, "--session", session], name)


def _problems(
    resumed: dict[str, Any],
    recalled: dict[str, Any],
    shared: dict[str, Any] | None,
    own: dict[str, Any] | None,
) -> list[str]:
    problems = []
    if FACTS["current.task"] not in resumed["briefing"]:
        problems.append("smart_resume did not tell the current task.")
    if recalled["memories"][0]["summary"] != TURN[1]:
        problems.append(f"retrieve_memories did not find the turn for: {QUESTION}")
    if shared is None or shared["value"] != FINDING or own is not None:
        problems.append("The scopes did not share and isolate as they should.")
    return problems
