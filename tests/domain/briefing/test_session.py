"""What the last session did, and what comes next."""

import pytest

from memory_server.domain.briefing.forms import Reader
from memory_server.domain.briefing.session import SessionEvent, last_session, next_step, of_session, title

NOW = "2026-03-14T09:00:00.000Z"
READER = Reader(NOW, "Claude", "shop")


def event(text: str, at: str, session: str = "s1", by: str = "Claude", importance: int = 5) -> SessionEvent:
    return SessionEvent(text, at, session, by, importance)


@pytest.mark.parametrize(
    ("text", "before", "following"),
    [
        ("Fixed the login. Next: deploy to staging.", "Fixed the login.", "deploy to staging."),
        ("Fixed the login; next step is to deploy", "Fixed the login", "deploy"),
        ("Fixed it, next: deploy. Then rest.", "Fixed it", "deploy."),
        ("修好了登录。接下来：部署到测试环境。", "修好了登录。", "部署到测试环境。"),
        ("写完测试，下一步要更新文档", "写完测试", "更新文档"),
        ("TODO: add tests", "", "add tests"),
    ],
)
def test_a_text_that_says_what_comes_next_is_taken_apart(text: str, before: str, following: str) -> None:
    assert next_step(text) == (before, following)


@pytest.mark.parametrize(
    "text", ["The next release is near", "Added next.js", "部署之后重启", "Context: none"]
)
def test_another_next_is_no_step(text: str) -> None:
    assert next_step(text) == (text, None)


def test_the_newest_events_and_the_newest_step_make_the_last_session() -> None:
    last = last_session(
        [
            event("Old", "2026-03-01T09:00:00.000Z"),
            event("Wrote it. Next: test it.", "2026-03-13T08:00:00.000Z"),
            event("Deleted two files", "2026-03-13T10:00:00.000Z", importance=2),
        ]
    )
    assert last is not None
    assert [each.text for each in last.events] == ["Deleted two files", "Wrote it. Next: test it."]
    items = of_session(last, READER)
    assert [item.worded()[-1] for item in sorted(items, key=lambda item: -item.worth)] == [
        "Next: test it.",
        "Wrote it.",
        "Deleted two files.",
    ]
    assert title(last, READER, "s2") == "Last session (yesterday)"
    assert title(last, READER, "s1") == "This session (yesterday)"


def test_events_of_the_session_before_have_their_own_age_and_author() -> None:
    last = last_session(
        [
            event("Wrote it", "2026-03-11T09:00:00.000Z", "s0", by="Cursor"),
            event("Tested it", "2026-03-13T09:00:00.000Z", by="Codex"),
        ]
    )
    assert last is not None
    assert [item.worded()[-1] for item in of_session(last, READER)] == [
        "Tested it.",
        "Wrote it (3 days ago, by Cursor).",
    ]
    assert title(last, READER, None) == "Last session (yesterday, by Codex)"


def test_where_nothing_happened_there_is_no_last_session() -> None:
    assert last_session([]) is None
