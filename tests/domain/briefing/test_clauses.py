"""Values are said as a person would write them."""

from typing import Any

import pytest

from memory_server.domain.briefing.clauses import parts


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (
            {"module": "authentication", "progress": 70, "next_steps": ["Add tests", "Update docs"]},
            "authentication 70 %; next: Add tests, Update docs",
        ),
        (
            {"模块": "月报统计", "进度": "60%", "下一步": ["补测试", "回填数据"]},
            "月报统计 60 %; next: 补测试、回填数据",
        ),
        ({"nextSteps": ["b"], "name": "A", "status": "in_review", "progress": 0.5}, "A 50 % (in review); next: b"),
        ({"provider": "Stripe", "per_second": 100}, "provider Stripe; per second 100"),
        ({"database": {"host": "db1", "port": 5432}}, "database: host db1, port 5432"),
        ({"a": {"b": {"c": {"d": 1, "e": 2}}}}, "a: b: c: 2 entries"),
        ({"tests_pass": True, "left": None, "notes": ""}, "tests pass: yes"),
        ({"a": {"b": None}}, '{"a": {"b": null}}'),
        (["no key", "CI is red"], "no key; CI is red"),
        ([{"name": "A", "status": "open"}, {"name": "B"}], "A (open); B"),
        (["Pixel 7", "iPhone SE, 2020"], "Pixel 7; iPhone SE, 2020"),
        ({"files": ["a, b", "c"]}, "files: a, b; c"),
        (list(range(6)), "0; 1; 2; 3; 4; 5"),
        (
            [f"entry {n} of the log" for n in range(9)],
            "9, the last: entry 6 of the log; entry 7 of the log; entry 8 of the log",
        ),
        (
            {"next": [f"do the step {n}" for n in range(9)]},
            "next: do the step 0, do the step 1, do the step 2 (3 of 9)",
        ),
        ({"note": "invite Dr. Weiss, z. B. on 3. Mai"}, "note invite Dr. Weiss, z. B. on 3. Mai"),
        (75000, "75000"),
        (False, "no"),
    ],
)  # fmt: skip
def test_a_value_is_one_sentence_of_clauses(value: Any, said: str) -> None:
    assert parts(value) == [said]


def test_a_text_is_its_sentences() -> None:
    assert parts("One. Two.\nThree") == ["One.", "Two.", "Three"]


def test_a_long_text_inside_a_value_is_its_first_sentence() -> None:
    assert parts({"why": "It leaks. Nobody knows where.", "port": 1}) == ["why It leaks; port 1"]


def test_a_list_is_said_whole_where_all_of_it_counts() -> None:
    steps = [f"step {number} of the long way" for number in range(1, 8)]
    assert parts(steps) == ["7, the last: " + "; ".join(steps[-3:])]
    assert parts(steps, whole=True) == ["; ".join(steps)]
