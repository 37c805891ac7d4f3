"""What a conversation was about lately: found by its words, fading with time, with a flashback."""

from datetime import timedelta
from typing import Any

from memory_server.app import clock
from memory_server.demo import show
from memory_server.demo.client import Server
from memory_server.domain.moment import timestamp

CONVERSATION = "搬家 / moving"
SAID = [
    (timedelta(days=40), "user", "上次搬家的时候，搬家公司把小黑的猫爬架弄坏了。"),
    (timedelta(days=9), "user", "The landlord wants the deposit of 1,800 euros on his account by the 28th."),
    (timedelta(days=6), "assistant", "水电要在搬家前一周过户，合同号是 77-4021。"),
    (timedelta(days=2), "user", "We deploy from the kitchen table until the internet is connected."),
    (
        timedelta(hours=5),
        "user",
        "The viewing at Lindenstraße 12 was nice, but the cat cannot go outside there.",
    ),
    (timedelta(minutes=3), "user", "I am packing the books now."),
]
QUESTION = "搬家公司定了吗？ And have I paid the deposits?"


async def recall(server: Server) -> list[str]:
    """Say things over weeks, then let a question call them back; gives what went wrong."""
    show.heading("What the conversation was about lately")
    now = clock()
    for age, role, content in SAID:
        await server.add_short_term(CONVERSATION, role, content, timestamp(now - age))
    show.say(
        f"{len(SAID)} things were said in “{CONVERSATION}”, from {SAID[0][0].days} days ago until just now."
    )
    found = await server.search_short_term(CONVERSATION, QUESTION)
    show.say()
    show.one_line("Q  ", QUESTION)
    for memory in [*found["top"], *found["next"], *found["flashback"]]:
        show.one_line(f"   {memory['tier']:<9} ", memory["text"])
        show.say(f"             {_why(memory)}")
    show.say(f"too_recent: {found.get('too_recent')}. The books are still in front of the assistant's eyes.")
    return _problems(found)


def _why(memory: dict[str, Any]) -> str:
    parts = memory["parts"]
    words = f"shares {', '.join(memory['shared'])}" if "shared" in memory else "by chance"
    return (
        f"{words}; relevance {memory['relevance']:.1f} = {parts['words']} {parts['age']:+} {parts['score']:+}"
    )


def _problems(found: dict[str, Any]) -> list[str]:
    called = [memory["text"].partition(": ")[2] for memory in [*found["top"], *found["next"]]]
    problems = [
        f"The question did not call back: {content}" for _, _, content in SAID[:2] if content not in called
    ]
    if found.get("too_recent") != 1:
        problems.append("What was said three minutes ago was not held back.")
    return problems
