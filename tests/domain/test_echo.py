"""A kept turn answers a question, or only repeats it."""

import pytest

from memory_server.domain.echo import may_replace, said_of

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
        (
            PORT,
            "Fixed the config, the staging deploy, the invoices batch and the payment module of the shop.",
        ),
    ],
)
def test_what_only_asks_or_orders_is_an_echo(prompt: str, reply: str) -> None:
    assert said_of(f"user: {prompt}\nassistant: {reply}", WATER if WATER in prompt else PORT) == ""


@pytest.mark.parametrize(
    ("prompt", "reply", "said"),
    [
        (
            f"{PORT} Fix the config.",
            "The staging database uses port 5433. All tests pass.",
            "The staging database uses port 5433.",
        ),
        (
            "The staging database moved to 5500, fix the config.",
            "Done.",
            "The staging database moved to 5500, fix the config.",
        ),
        (
            "Move the staging database to 5500.",
            "Done: the staging database listens on 5500 now.",
            "Done: the staging database listens on 5500 now.",
        ),
        ("", "The staging database uses port 5433.", "The staging database uses port 5433."),
        (WATER, "兰花每十天浇一次水。", "兰花每十天浇一次水。"),
    ],
)
def test_what_tells_something_is_said_without_what_asks(prompt: str, reply: str, said: str) -> None:
    assert said_of(f"user: {prompt}\nassistant: {reply}", WATER if WATER in prompt else PORT) == said


@pytest.mark.parametrize(
    ("prompt", "reply"),
    [(PORT, "5433."), (PORT, "It uses 5433."), ("Use the new port. It is 5500.", "Done.")],
)
def test_a_brief_turn_is_said_whole(prompt: str, reply: str) -> None:
    turn = f"user: {prompt}\nassistant: {reply}"
    assert said_of(turn, PORT) == turn


def test_a_turn_that_shares_no_word_is_said_without_its_requests() -> None:
    turn = "user: 导师下周三去上海。帮我记一下。\nassistant: 好的。"
    assert said_of(turn, PORT) == "导师下周三去上海。 好的。"


def test_a_text_may_replace_what_says_no_more_of_the_question() -> None:
    said = "The staging database uses port 5433."
    assert may_replace("The staging database listens on port 5500", said, PORT)
    assert may_replace("兰花每十天浇一次水", said, PORT)
    assert not may_replace("The port of the ferry is 8123", said, PORT)
