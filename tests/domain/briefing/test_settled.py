"""What says that there is no blocker, or that a task is done, is neither a blocker nor a task."""

from typing import Any

import pytest

from memory_server.domain.briefing.settled import still_open


@pytest.mark.parametrize(
    "value",
    [
        *(None, False, "", " \n", [], {}, "none", "None.", "no", "N/A", "-", "nothing", "[]"),
        *("no blockers", "No open blockers at the moment", "none right now", "not blocked", "unblocked"),
        *(
            "done",
            "Done!",
            "DONE ✅",
            "completed",
            "resolved",
            "all done",
            "already fixed",
            "✅",
            "✅ merged",
        ),
        *("done: it was the proxy", "none (the key arrived)", "resolved - the proxy was restarted"),
        *(
            "无",
            "没有",
            "暂无",
            "无阻塞",
            "没有阻塞",
            "目前没有",
            "已完成",
            "完成了",
            "都解决了",
            "已修复。",
            "搞定",
            "做完了",
        ),
        *(["none"], ["done", "无"], [None, ""], ["[x] merge", "~~login~~"]),
        *({"status": "done", "task": "login"}, {"task": "login", "progress": 100}, {"progress": "100%"}),
        *(
            {"what": "no key", "resolved": True},
            {"状态": "已完成"},
            {"blocked": False},
            [{"status": "closed"}],
        ),
    ],
)
def test_what_is_over_is_nothing(value: Any) -> None:
    assert still_open(value) is None


@pytest.mark.parametrize(
    "value",
    [
        *("no key", "No tests yet", "none of the tests pass", "no, wait for the review", "nothing works"),
        *(
            "finish the login",
            "clear the cache",
            "done with A, now B",
            "fixed-width layout",
            "Fixed costs report",
        ),
        *("完成登录页", "没有测试账号", "解决超时", "无法登录", 70, True),
        *({"status": "in progress"}, {"progress": 70}, {"done": False, "task": "login"}),
    ],
)
def test_what_is_still_to_do_stays_as_it_is(value: Any) -> None:
    assert still_open(value) == value


def test_of_a_list_only_what_is_open_is_left() -> None:
    assert still_open(["done: A", "B", "无", {"what": "C", "resolved": True}]) == ["B"]
