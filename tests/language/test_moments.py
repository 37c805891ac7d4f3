"""Moments in words, seen from one fixed moment: a Thursday afternoon.

`2026-11-16 +7` is a week that begins on that day. Each line was read by a person.
"""

from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_server.language import moments, when
from memory_server.language.spans import Span
from memory_server.language.when import Use

NOW = datetime(2026, 11, 26, 14, 30)

PAST = (
    ("the last week of August 2023", "2023-08-25 +7"),
    ("last Friday of October", "2026-10-30 +1"),
    ("the first three days of March", "2026-03-01 +3"),
    ("since the beginning of May", "2026-05-01 +10"),
    ("去年八月最后一周", "2025-08-25 +7"),
    ("十月底", "2026-10-21 +11"),
    ("die letzte Augustwoche 2023", "2023-08-25 +7"),
    ("Ende Mai", "2026-05-21 +11"),
    ("yesterday", "2026-11-25 +1"),
    ("last week", "2026-11-16 +7"),
    ("上周", "2026-11-16 +7"),
    ("3 days ago", "2026-11-23 +1"),
    ("vor drei Tagen", "2026-11-23 +1"),
    ("15.11.2026", "2026-11-15 +1"),
    ("November 3", "2026-11-03 +1"),
    ("7d", "2026-11-19 14:30"),
    ("1 day", "2026-11-25 14:30"),
    ("03", "2026-03-01 +31"),
    ("2026-11", "2026-11-01 +30"),
    ("last Friday", "2026-11-20 +1"),
    ("on Friday", "2026-11-20 +1"),
    ("friday", "2026-11-20 +1"),
    ("since Monday", "2026-11-23 +1"),
    ("Thursday", "2026-11-19 +1"),
    ("上周五", "2026-11-20 +1"),
    ("昨天晚上", "2026-11-25 20:00"),
    ("last night", "2026-11-25 19:00"),
    ("this morning", "2026-11-26 09:00"),
    ("gestern abend", "2026-11-25 19:00"),
    ("heute morgen", "2026-11-26 09:00"),
    ("03/04", "2026-03-04 +1"),
    ("13/04", "2026-04-13 +1"),
    ("04/13/2026", "2026-04-13 +1"),
    ("3.11.", "2026-11-03 +1"),
    ("Nov 3rd", "2026-11-03 +1"),
    ("3 November 2025", "2025-11-03 +1"),
    ("3. März", "2026-03-03 +1"),
    ("in May", "2026-05-01 +31"),
    ("May 2025", "2025-05-01 +31"),
    ("2025年5月", "2025-05-01 +31"),
    ("11月3日", "2026-11-03 +1"),
    ("去年五月", "2025-05-01 +31"),
    ("去年", "2025-01-01 +365"),
    ("last year", "2025-01-01 +365"),
    ("the last 7 days", "2026-11-19 14:30 +7"),
    ("最近三天", "2026-11-23 14:30 +3"),
    ("2 hours ago", "2026-11-26 12:30"),
    ("yesterday at 3pm", "2026-11-25 15:00"),
    ("昨天下午三点半", "2026-11-25 15:30"),
    ("am 3. November um 9 Uhr", "2026-11-03 09:00"),
    ("2026-03-14", "2026-03-14 +1"),
    ("2026-03-14 09:26", "2026-03-14 09:26"),
    ("next month", "2026-12-01 +31"),
    ("tomorrow", "2026-11-27 +1"),
    ("three weeks ago", "2026-11-05 +1"),
    ("半年前", "2026-05-26 +1"),
    ("the 15th", "2026-11-15 +1"),
    ("15号", "2026-11-15 +1"),
    ("half an hour ago", "2026-11-26 14:00"),
    ("24.12.", "2025-12-24 +1"),
    ("vorgestern", "2026-11-24 +1"),
    ("letzte Woche", "2026-11-16 +7"),
    ("letzten Freitag", "2026-11-20 +1"),
    ("Tuesday of last week", "2026-11-17 +1"),
    ("early morning", "2026-11-26 07:00"),
    ("now", "2026-11-26 14:30"),
    ("2025", "2025-01-01 +365"),
    ("bis gestern", "2026-11-25 +1"),
    ("until yesterday", "2026-11-25 +1"),
    ("2 months ago", "2026-09-26 +1"),
    ("a year ago", "2025-11-26 +1"),
    ("as of Tuesday", "2026-11-24 +1"),
    ("Friday, November 20", "2026-11-20 +1"),
    ("on the 3rd of November", "2026-11-03 +1"),
    ("两周前", "2026-11-12 +1"),
    ("前天", "2026-11-24 +1"),
    ("last Tuesday at noon", "2026-11-24 12:00"),
    ("this week", "2026-11-23 +7"),
    ("ein Jahr", "2025-11-26 14:30"),
    ("seit Montag", "2026-11-23 +1"),
    ("24h", "2026-11-25 14:30"),
    ("may", "2026-05-01 +31"),
    ("12:30", "2026-11-26 12:30"),
)
AHEAD = (
    ("the first Monday in March", "2027-03-01 +1"),
    ("on Friday at 9", "2026-11-27 09:00"),
    ("tomorrow morning", "2026-11-27 09:00"),
    ("in 3 weeks", "2026-12-17 +1"),
    ("明天下午三点", "2026-11-27 15:00"),
    ("下周五", "2026-12-04 +1"),
    ("周五", "2026-11-27 +1"),
    ("next Friday", "2026-12-04 +1"),
    ("tonight", "2026-11-26 19:00"),
    ("at 5", "2026-11-26 17:00"),
    ("am Freitag um 9 Uhr", "2026-11-27 09:00"),
    ("morgen früh", "2026-11-27 09:00"),
    ("übermorgen um 15 Uhr", "2026-11-28 15:00"),
    ("in two hours", "2026-11-26 16:30"),
    ("in zwei Wochen", "2026-12-10 +1"),
    ("3周后", "2026-12-17 +1"),
    ("半小时后", "2026-11-26 15:00"),
    ("下个月15号", "2026-12-15 +1"),
    ("December 24", "2026-12-24 +1"),
    ("on the 1st", "2026-12-01 +1"),
    ("end of the month", "2026-11-30 +1"),
    ("月底", "2026-11-30 +1"),
    ("next Monday at half past nine", "2026-11-30 09:30"),
    ("noon", "2026-11-26 12:00"),
    ("tomorrow at noon", "2026-11-27 12:00"),
    ("Dec 3 at 10:30", "2026-12-03 10:30"),
    ("31.12.", "2026-12-31 +1"),
    ("next week", "2026-11-30 +7"),
    ("next month", "2026-12-01 +31"),
    ("weekend", "2026-11-28 +2"),
    ("this weekend", "2026-11-28 +2"),
    ("monday", "2026-11-30 +1"),
    ("今晚8点", "2026-11-26 20:00"),
    ("明早", "2026-11-27 09:00"),
    ("后天上午10点", "2026-11-28 10:00"),
    ("3 days from now", "2026-11-29 +1"),
    ("the day after tomorrow at 8pm", "2026-11-28 20:00"),
    ("at 9", "2026-11-26 09:00"),
    ("9am", "2026-11-26 09:00"),
    ("Montag", "2026-11-30 +1"),
    ("nächsten Dienstag um 14:30", "2026-12-01 14:30"),
    ("next week on Tuesday", "2026-12-01 +1"),
    ("Friday afternoon", "2026-11-27 15:00"),
    ("下周三上午九点", "2026-12-02 09:00"),
    ("10点", "2026-11-26 10:00"),
    ("in einer halben Stunde", "2026-11-26 15:00"),
    ("in an hour", "2026-11-26 15:30"),
    ("on Thursday", "2026-12-03 +1"),
    ("2027-01-05 09:00", "2027-01-05 09:00"),
    ("5 pm tomorrow", "2026-11-27 17:00"),
    ("tomorrow 8am", "2026-11-27 08:00"),
    ("kommenden Montag", "2026-11-30 +1"),
    ("in the evening", "2026-11-26 19:00"),
)

NONE = (
    "foo",
    "31.02.2026",
    "30m",
    "3",
    "soon",
    "in the meeting",
    "13/13",
    "25:00",
    "at 9 at 10 at 11 yesterday",
    "last",
    "",
    "国庆",
    "yesterday week",
)


def shown(span: Span | None) -> str | None:
    if span is None:
        return None
    if span.end == span.first:
        return f"{span.first:%Y-%m-%d %H:%M}"
    form = "%Y-%m-%d" if span.first.time() == datetime.min.time() else "%Y-%m-%d %H:%M"
    return f"{span.first:{form}} +{(span.end - span.first).days}"


@pytest.mark.parametrize(("text", "expected"), PAST)
def test_words_for_what_has_been_name_its_moment(text: str, expected: str) -> None:
    assert shown(moments.read(text, NOW)) == expected


@pytest.mark.parametrize(("text", "expected"), AHEAD)
def test_words_for_what_comes_name_its_moment(text: str, expected: str) -> None:
    assert shown(moments.read(text, NOW, ahead=True)) == expected


@pytest.mark.parametrize("text", NONE)
def test_what_is_not_understood_whole_is_no_moment(text: str) -> None:
    assert moments.read(text, NOW) is None


@pytest.mark.parametrize(
    ("text", "month_first", "day"),
    [
        ("03/04", True, "2026-03-04"),
        ("03/04", False, "2026-04-03"),
        ("3/4/2025", False, "2025-04-03"),
        ("25/12", True, "2025-12-25"),
    ],
)
def test_day_and_month_are_in_the_order_of_the_country(text: str, month_first: bool, day: str) -> None:
    span = moments.read(text, NOW, month_first=month_first)
    assert span is not None
    assert str(span.first.date()) == day
    assert bool(span.doubt) is (text != "25/12")


@pytest.mark.parametrize(
    ("use", "local"),
    [
        (Use.SINCE, "2026-11-16 00:00"),
        (Use.UNTIL, "2026-11-23 00:00"),
        (Use.AT, "2026-11-23 00:00"),
        (Use.HAPPENED, "2026-11-19 12:00"),
    ],
)
def test_each_use_takes_another_moment_of_a_week(use: Use, local: str) -> None:
    moment = when.moment("last week", use, NOW, month_first=True)
    assert moment is not None
    assert f"{moment.local:%Y-%m-%d %H:%M}" == local


def test_what_happened_today_is_not_in_the_future() -> None:
    moment = when.moment("today", Use.HAPPENED, datetime(2026, 11, 26, 8), month_first=True)
    assert moment is not None
    assert moment.local == datetime(2026, 11, 26, 8)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("7d", 7 * 86_400), ("1 day", 86_400), ("90 minutes", 5_400), ("30m", 1_800), ("1h30m", 5_400),
     ("两周", 14 * 86_400), ("half an hour", 1_800), ("a month", 30 * 86_400), ("eine Woche", 7 * 86_400),
     ("until Friday", 120_600), ("for 3 hours", 10_800),
     ("yesterday", None), ("soon", None), ("0 days", None)],
)  # fmt: skip
def test_a_length_of_time_is_so_many_seconds(text: str, seconds: int | None) -> None:
    assert when.seconds(text, NOW, month_first=True) == seconds


PIECES = st.sampled_from(
    "last next this yesterday tomorrow week friday at 9 31 13 0 99999 : / . - , 2026 nov in on ago days pm uhr "
    "上 下 周 五 月 号 点 半 前 后 vor der 十 ² ٣ a half end of the month early ' \n".split(" ")
)


@given(st.lists(PIECES, max_size=8).map(" ".join) | st.text(max_size=20), st.booleans())
def test_no_text_raises(text: str, ahead: bool) -> None:
    span = moments.read(text, NOW, ahead=ahead)
    assert span is None or span.first <= span.end
    seconds = when.seconds(text, NOW, month_first=ahead)
    assert seconds is None or timedelta(seconds=seconds) > timedelta()
