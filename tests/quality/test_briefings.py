"""A briefing says more of what matters than the newest items in as many tokens, and nothing that is over."""

import json
from pathlib import Path
from typing import Any

import pytest
from quality import briefings

HISTORIES = Path(briefings.__file__).with_name("histories")
SMALL = ("bakery-24", "plantpal-20", "zhangpeng-22", "lately/fernshop-34", "lately/gouwu-33")


def history(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((HISTORIES / f"{name}.json").read_text(encoding="utf-8"))
    return found


@pytest.mark.parametrize("name", SMALL)
def test_a_briefing_says_more_than_the_newest_items_and_nothing_stale(name: str) -> None:
    told = history(name)
    with briefings.replayed(told) as services:
        for limit in briefings.LIMITS:
            ours = briefings.score(told, briefings.briefing(services, told["project"], limit))
            newest = briefings.score(told, briefings.newest(services, told["project"], limit))
            assert ours.said == ()
            assert ours.tokens <= limit
            assert newest.tokens <= limit
            assert ours.must + ours.should >= newest.must + newest.should
            if limit >= 500:
                assert ours.must == len(told["must"])


def test_what_may_be_told_with_a_mark_must_have_one() -> None:
    told = {"must": [], "should": [], "must_not": [{"what": "old", "any_of": ["Jenkins"], "marked_ok": True}]}
    for text, said in (
        ("CI runs on Jenkins.", ("old",)),
        ("CI runs on Jenkins (4 months ago).", ()),
        ("CI runs on Jenkins (contradicted by m4).", ()),
        ("Jenkins (yesterday). It works (4 months ago).", ("old",)),
    ):
        assert briefings.score(told, json.dumps({"briefing": text})).said == said


def test_every_history_is_whole() -> None:
    for path in sorted(HISTORIES.rglob("*.json")):
        told = json.loads(path.read_text(encoding="utf-8"))
        moments = [event["at"] for event in told["events"]]
        assert moments == sorted(moments), path.name
        assert moments[-1] <= told["now"], path.name
        assert told["must"], path.name
        for entry in (*told["must"], *told["should"], *told["must_not"]):
            assert entry["what"], path.name
            assert entry["any_of"], path.name
