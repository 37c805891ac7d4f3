"""What wakes by itself: memories with triggers, one of which would never end."""

from typing import Any

from memory_server.demo import show
from memory_server.demo.client import Refused, Server

MEMORIES = {
    "妈妈的生日": (
        "Mother's birthday is on 17 July. She likes orchids and no surprises.",
        "match_keys(messages, ['birthday', '生日'], 'user') "
        "|| (new Date().getMonth() === 6 && new Date().getDate() === 17)",
    ),
    "Release checklist": (
        "Before a release: run the migrations on a copy, tell support, never on a Friday.",
        "match_keys_all(messages, ['release', /prod(uction)?/], 'any')",
    ),
    "Slow down": (
        "When they are lost: one step at a time, and ask what was tried before.",
        "similar(messages, 'I am lost and do not know what to do')",
    ),
    "Long mails": (
        "Answer long messages with a summary first.",
        "messages.filter(m => m.role === 'user').reduce((n, m) => n + m.content.length, 0) > 500",
    ),
}
ENDLESS = "while (true) {}"
SAID = ["下周是我妈妈的生日。", "我不知道该怎么办了，完全搞不懂。"]
WOKEN = ["妈妈的生日", "Slow down"]
DAY = "2027-07-17T09:00:00"


async def wake(server: Server) -> list[str]:
    """Keep memories with triggers, say something, see what wakes; gives what went wrong."""
    show.heading("Memories that wake by themselves")
    for name, (prompt, trigger) in MEMORIES.items():
        await server.add_long_term(name, prompt, trigger)
        show.one_line(f"{name}: ", trigger)
    refused = await _refused(server)
    show.say()
    show.one_line(f"{ENDLESS} is refused: ", refused or "no, it was kept!")
    found = await server.search_long_term(SAID)
    show.say()
    for content in SAID:
        show.one_line("user: ", content)
    for memory in found["activated"]:
        show.one_line(f"  woke  {memory['name']}: ", memory["prompt"])
        show.one_line("        because ", memory["why"])
    birthday = await server.test_trigger(MEMORIES["妈妈的生日"][1], DAY)
    show.say()
    show.say(f"Nothing said, but on {DAY[:10]} the first gives {birthday['value']}: {birthday['why']}.")
    return _problems(found, birthday, refused)


async def _refused(server: Server) -> str | None:
    try:
        await server.add_long_term("endless", "never", ENDLESS)
    except Refused as refused:
        return str(refused)
    return None


def _problems(found: dict[str, Any], birthday: dict[str, Any], refused: str | None) -> list[str]:
    problems = []
    woken = [memory["name"] for memory in found["activated"]]
    if sorted(woken) != sorted(WOKEN):
        problems.append(f"These memories woke: {', '.join(woken)}.")
    if found["errors"] or found["skipped"]:
        problems.append(f"Triggers failed: {found['errors'] + found['skipped']}")
    if birthday["value"] is not True:
        problems.append("The birthday's trigger did not hold on the day.")
    if refused is None:
        problems.append("An endless trigger was kept.")
    return problems
