"""The dates that a question names: spans of days, seen from one fixed day."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_server.language import dates
from memory_server.language.calendar_words import MONTHS
from memory_server.language.dates import Days
from memory_server.language.text import fold

TODAY = date(2026, 3, 14)
"""A Saturday."""

PIECES = st.sampled_from([
    "2023", "1999", "20", "31", "13", "0", "-", "/", ".", " ", ", ", "of ", "in ", "on ", "the ", "st", "th",
    "may", "June", "sept", "Feb 30", "march", "monday", "last ", "this ", "week", "month", "year", "ago", " days",
    "first ", "weekend ", "half ", "end of ", "最后", "底",
    "999", "年", "月", "日", "号", "去", "前", "上", "上上", "个", "周", "星期", "十", "二", "几", "天", "今年",
    "٣", "²", "２０２３", "T10:00Z", "\n", "?",
])  # fmt: skip
DATELIKE = st.lists(PIECES, max_size=12).map("".join)


def named(text: str, today: date = TODAY) -> list[Days]:
    return dates.named(fold(text), today)


def one(text: str) -> tuple[str, str]:
    """The first and the last day of the only span that a question names, with its year."""
    (span,) = named(text)
    assert span.year
    return str(span.first), str(span.last)


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("What did we decide on 2023-05-04?", "2023-05-04", "2023-05-04"),
        ("Which host failed at 2023-05-04T10:00:00Z?", "2023-05-04", "2023-05-04"),
        ("Who came on 10.12.2023?", "2023-12-10", "2023-12-10"),
        ("Who came on 12/10/2023?", "2023-12-10", "2023-12-10"),
        ("Who came on 25/12/2023?", "2023-12-25", "2023-12-25"),
        ("What did we ship in May 2023?", "2023-05-01", "2023-05-31"),
        ("What did we ship in February 2024?", "2024-02-01", "2024-02-29"),
        ("What broke in Sept. 2022?", "2022-09-01", "2022-09-30"),
        ("What broke in December of 2022?", "2022-12-01", "2022-12-31"),
        ("Who came on June 5th, 2022?", "2022-06-05", "2022-06-05"),
        ("Who came on the 5th of June 2022?", "2022-06-05", "2022-06-05"),
        ("Where did I live in 2021?", "2021-01-01", "2021-12-31"),
        ("2023年5月4日我们决定了什么？", "2023-05-04", "2023-05-04"),
        ("2023年5月我们发布了什么？", "2023-05-01", "2023-05-31"),
        ("２０２３年５月我们发布了什么？", "2023-05-01", "2023-05-31"),
        ("2023年十一月发生了什么？", "2023-11-01", "2023-11-30"),
        ("2021年我住在哪里？", "2021-01-01", "2021-12-31"),
    ],
)
def test_a_date_with_its_year(text: str, first: str, last: str) -> None:
    assert one(text) == (first, last)


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("What did I eat today?", "2026-03-14", "2026-03-14"),
        ("Who called yesterday?", "2026-03-13", "2026-03-13"),
        ("Who called on Friday?", "2026-03-13", "2026-03-13"),
        ("Who called last Saturday?", "2026-03-07", "2026-03-07"),
        ("Who called last Monday?", "2026-03-09", "2026-03-09"),
        ("What did I store this week?", "2026-03-09", "2026-03-15"),
        ("What did I store last week?", "2026-03-02", "2026-03-08"),
        ("Where were we last weekend?", "2026-03-06", "2026-03-08"),
        ("What did I store last month?", "2026-02-01", "2026-02-28"),
        ("What did I store last year?", "2025-01-01", "2025-12-31"),
        ("Where was I last year in June?", "2025-06-01", "2025-06-30"),
        ("What did I say three days ago?", "2026-03-11", "2026-03-11"),
        ("What did I say 2 weeks ago?", "2026-02-25", "2026-03-03"),
        ("What did I say a couple of months ago?", "2026-01-01", "2026-01-31"),
        ("What did I say half a year ago?", "2025-08-01", "2025-10-31"),
        ("半年前我说了什么？", "2025-08-01", "2025-10-31"),
        ("上周末我们去了哪里？", "2026-03-06", "2026-03-08"),
        ("What did I say 5 months ago?", "2025-10-01", "2025-10-31"),
        ("Where did I work ten years ago?", "2016-01-01", "2016-12-31"),
        ("我今天吃了什么？", "2026-03-14", "2026-03-14"),
        ("昨天谁打电话了？", "2026-03-13", "2026-03-13"),
        ("前天谁打电话了？", "2026-03-12", "2026-03-12"),
        ("大前天谁打电话了？", "2026-03-11", "2026-03-11"),
        ("这周我做了什么？", "2026-03-09", "2026-03-15"),
        ("上周我做了什么？", "2026-03-02", "2026-03-08"),
        ("上个星期我做了什么？", "2026-03-02", "2026-03-08"),
        ("上上周我做了什么？", "2026-02-23", "2026-03-01"),
        ("上周三我做了什么？", "2026-03-04", "2026-03-04"),
        ("上星期天我做了什么？", "2026-03-08", "2026-03-08"),
        ("上个月我做了什么？", "2026-02-01", "2026-02-28"),
        ("上個月我做了什麼？", "2026-02-01", "2026-02-28"),
        ("本月我做了什么？", "2026-03-01", "2026-03-31"),
        ("去年五月我去了哪里？", "2025-05-01", "2025-05-31"),
        ("前年12月我去了哪里？", "2024-12-01", "2024-12-31"),
        ("今年三月我去了哪里？", "2026-03-01", "2026-03-31"),
        ("去年我住在哪里？", "2025-01-01", "2025-12-31"),
        ("前年我住在哪里？", "2024-01-01", "2024-12-31"),
        ("三天前我说了什么？", "2026-03-11", "2026-03-11"),
        ("二十天前我说了什么？", "2026-02-22", "2026-02-22"),
        ("二十三天前我说了什么？", "2026-02-19", "2026-02-19"),
        ("十二天前我说了什么？", "2026-03-02", "2026-03-02"),
        ("两个月前我说了什么？", "2026-01-01", "2026-01-31"),
        ("3年前我在哪里工作？", "2023-01-01", "2023-12-31"),
    ],
)
def test_a_date_relative_to_today(text: str, first: str, last: str) -> None:
    assert one(text) == (first, last)


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("What did we do in the last week of August 2023?", "2023-08-25", "2023-08-31"),
        ("Where were we the first weekend in June 2023?", "2023-06-03", "2023-06-04"),
        ("What did we ship in the second week of August 2023?", "2023-08-08", "2023-08-14"),
        ("Who came in the first three days of March 2022?", "2022-03-01", "2022-03-03"),
        ("Who came in the last few days of February 2024?", "2024-02-27", "2024-02-29"),
        ("Who came on the last Friday of August 2023?", "2023-08-25", "2023-08-25"),
        ("What broke in the second half of May 2024?", "2024-05-16", "2024-05-31"),
        ("What broke in early May 2024?", "2024-05-01", "2024-05-10"),
        ("What broke at the end of May 2024?", "2024-05-21", "2024-05-31"),
        ("What broke in mid-May 2024?", "2024-05-11", "2024-05-20"),
        ("2023年八月最后一周我们做了什么？", "2023-08-25", "2023-08-31"),
        ("2023年8月第二周我们做了什么？", "2023-08-08", "2023-08-14"),
        ("去年6月第一个周末我们去了哪里？", "2025-06-07", "2025-06-08"),
        ("2024年2月的最后三天谁来了？", "2024-02-27", "2024-02-29"),
        ("2024年5月底谁来了？", "2024-05-21", "2024-05-31"),
        ("2024年5月上旬谁来了？", "2024-05-01", "2024-05-10"),
        ("Was geschah in der letzten Augustwoche 2023?", "2023-08-25", "2023-08-31"),
        ("Wo waren wir am ersten Wochenende im Juni 2023?", "2023-06-03", "2023-06-04"),
        ("Was geschah Ende Mai 2024?", "2024-05-21", "2024-05-31"),
        ("Wer kam im Oktober 2023?", "2023-10-01", "2023-10-31"),
        ("Wer kam am 5. März 2023?", "2023-03-05", "2023-03-05"),
    ],
)
def test_a_part_of_a_month(text: str, first: str, last: str) -> None:
    assert one(text) == (first, last)


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("Who came in the last week of August?", {31: 1.0, 22: 1.0, 21: 0.5}),
        ("Who came on the first weekend of August?", {8: 1.0, 11: 1.0, 12: 0.5}),
        ("八月第一个星期谁来了？", {1: 1.0, 10: 1.0, 11: 0.5}),
    ],
)
def test_a_part_of_a_month_of_whatever_year(text: str, days: dict[int, float]) -> None:
    (span,) = named(text)
    for year in (1999, 2024, 2026):
        assert {day: span.fits(date(year, 8, day)) for day in days} == days


@pytest.mark.parametrize(
    ("text", "month", "day"),
    [
        ("What happened in May?", 5, None),
        ("What happened since March?", 3, None),
        ("Who came on June 5th?", 6, 5),
        ("Who came on the 28th of February?", 2, 28),
        ("五月发生了什么？", 5, None),
        ("12月25日谁来了？", 12, 25),
    ],
)
def test_a_month_without_a_year_fits_that_month_of_every_year(text: str, month: int, day: int | None) -> None:
    (span,) = named(text)
    for year in (1999, 2024, 2026):
        assert span.fits(date(year, month, day or 15)) == 1.0
        assert span.fits(date(year, month % 12 + 1, 15)) == 0.0
    assert span.fits(date(2024, month, 15)) == (0.5 if day else 1.0)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "May I ask who owns billing?",
        "What may Ann do?",
        "How do we march forward?",
        "Who comes on the 31st of June?",
        "Who came on February 30, 2023?",
        "6月31日谁来了？",
        "Who wrote 2024.13.45?",
        "What changed in 2023.1?",
        "What changed in v2023.10.2?",
        "Which bug was fixed in 2023.1rc2?",
        "What is new in version 2023.1",
        "Do we run MySQL 5.7?",
        "What did we learn in the last week of school?",
        "Which server may 5.7 replace?",
        "Does Python 3.12 work?",
        "Which service listens on port 2023?",
        "Which service listens on port 20231?",
        "How many marches were there?",
        "Is Ms. Mayer the one who decided?",
        "How many rows has 2023-4567?",
        "我目前年龄多大？",
        "我以前年轻的时候住在哪里？",
        "如今年轻人喜欢什么？",
        "我的基本月薪是多少？",
        "岁月如何？",
        "哪个月最忙？",
        "每个月的房租是多少？",
        "二十几天前？",
        "第22月的数据在哪里？",
        "1200天前？",
    ],
)
def test_what_only_looks_like_a_date_is_none(text: str) -> None:
    assert named(text) == []


def test_two_dates_are_two_spans_and_the_same_date_is_one() -> None:
    text = fold("Was it in May 2023 or last week, or in May 2023?")
    assert [str(span.first) for span in dates.named(text, TODAY)] == ["2023-05-01", "2026-03-02"]


def test_a_leap_day_and_the_turn_of_the_year() -> None:
    assert [str(span.first) for span in named("last month", date(2026, 1, 31))] == ["2025-12-01"]
    assert [str(span.first) for span in named("上个月", date(2024, 3, 31))] == ["2024-02-01"]
    assert [str(span.last) for span in named("上个月", date(2024, 3, 31))] == ["2024-02-29"]
    assert [str(span.first) for span in named("yesterday", date(2024, 3, 1))] == ["2024-02-29"]
    assert [str(span.first) for span in named("14 months ago", date(2026, 1, 1))] == ["2024-11-01"]


def test_a_day_fits_around_itself_half_in_its_month_and_not_beyond() -> None:
    (span,) = named("on 2023-05-10")
    days = {7: 1.0, 10: 1.0, 13: 1.0, 6: 0.5, 14: 0.5, 31: 0.5}
    assert {day: span.fits(date(2023, 5, day)) for day in days} == days
    assert span.fits(date(2023, 4, 30)) == span.fits(date(2022, 5, 10)) == 0.0


def test_a_whole_month_fits_with_a_few_days_around_it() -> None:
    (span,) = named("in May 2023")
    assert span.fits(date(2023, 4, 28)) == span.fits(date(2023, 5, 15)) == span.fits(date(2023, 6, 3)) == 1.0
    assert span.fits(date(2023, 4, 27)) == span.fits(date(2023, 6, 4)) == span.fits(date(2024, 5, 15)) == 0.0


@pytest.mark.parametrize(
    ("text", "today", "periods"),
    [
        ("on 2023-05-10", date(2026, 3, 9), [("2023-05-07", "2023-05-13")]),
        ("in May 2023", date(2026, 3, 9), [("2023-04-28", "2023-06-03")]),
        ("last week", date(2026, 3, 9), [("2026-02-27", "2026-03-11")]),
        ("on May 10", date(2026, 3, 9), [("2025-05-07", "2025-05-13"), ("2024-05-07", "2024-05-13")]),
        (
            "三月",
            date(2026, 3, 9),
            [("2026-02-26", "2026-04-03"), ("2025-02-26", "2025-04-03")],
        ),
        ("on February 29", date(2025, 3, 9), [("2025-02-25", "2025-03-03"), ("2024-02-26", "2024-03-03")]),
        ("in 2023", date(2026, 3, 9), []),
        ("half a year ago", date(2026, 3, 9), []),
    ],
)
def test_what_is_told_of_a_span_lies_in_these_days(
    text: str, today: date, periods: list[tuple[str, str]]
) -> None:
    days = [days for span in named(text, today) for days in span.periods(today)]
    assert [(str(first), str(last)) for first, last in days] == periods


@given(
    st.one_of(st.text(max_size=60), DATELIKE),
    st.dates(date(1970, 1, 1), date(2100, 12, 31)),
    st.dates(),
)
def test_any_text_names_spans_in_order_or_none(text: str, today: date, day: date) -> None:
    for folded in (text, fold(text)):
        for span in dates.named(folded, today):
            assert span.first <= span.last
            assert span.fits(day) in (0.0, 0.5, 1.0)
            assert all(first < last for first, last in span.periods(today))


@given(st.dates(date(1900, 1, 1), date(2099, 12, 31)))
def test_every_day_is_read_in_each_way_to_write_it(day: date) -> None:
    month = MONTHS[day.month - 1]
    for text in (
        day.isoformat(),
        f"on {month} {day.day}, {day.year}",
        f"{day.day}th of {month} {day.year}",
        f"{day.year}年{day.month}月{day.day}日",
    ):
        assert named(text) == [Days(day, day)], text
