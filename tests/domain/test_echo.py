"""A kept turn answers a question, or only repeats it."""

import pytest

from memory_server.domain.echo import is_echo, may_replace

PORT = "Which port does the staging database use?"
WATER = "兰花多久浇一次水？"


@pytest.mark.parametrize(
    ("prompt", "reply"),
    [
        (f"{PORT} Fix the config.", "Done."),
        (f"{PORT} Fix the config.", "Done, 14 tests pass."),
        (f"{PORT}", "I don't know. Nothing is stored about that."),
        (f"{PORT}", "I could not find the port of the staging database."),
        (f"{PORT}", "Which staging database do you mean?"),
        ("Tell me which port the staging database uses.", ""),
        ("Please change the port of the staging database to 5500.", "The port is changed to 5500."),
        (f"{WATER}帮我改一下日历。", "好的，改好了。"),
        (WATER, "没有找到相关记录。"),
    ],
)
def test_what_only_asks_or_orders_is_an_echo(prompt: str, reply: str) -> None:
    assert is_echo(f"user: {prompt}\nassistant: {reply}", WATER if WATER in prompt else PORT)


@pytest.mark.parametrize(
    ("prompt", "reply"),
    [
        (PORT, "5433."),
        (f"{PORT} Fix the config.", "The staging database uses port 5433, so I fixed config.yml."),
        ("The staging database moved to 5500, fix the config.", "Done."),
        ("Move the staging database to 5500.", "The staging database listens on port 5500 now."),
        ("Use the new port everywhere. It is 5500.", "Done."),
        ("", "The staging database uses port 5433."),
        (WATER, "兰花每十天浇一次水。"),
        ("导师下周三去上海。", "记下了。"),
    ],
)
def test_what_tells_something_is_none(prompt: str, reply: str) -> None:
    assert not is_echo(f"user: {prompt}\nassistant: {reply}", WATER if WATER in prompt else PORT)


def test_a_text_may_replace_a_turn_that_says_no_more_of_the_question() -> None:
    turn = f"user: {PORT}\nassistant: 5433."
    assert may_replace("The staging database listens on port 5500", turn, PORT)
    assert may_replace("兰花每十天浇一次水", turn, PORT)
    assert not may_replace("The port of the ferry is 8123", turn, PORT)
