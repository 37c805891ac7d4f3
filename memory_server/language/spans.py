"""Spans of days by the calendar: the week before, the nearest 3rd of March, the Friday that is meant."""

from calendar import monthrange
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta

from memory_server.language import durations
from memory_server.language.calendar_words import MONTH_NUMBERS, MONTHS

HAN_WEEKDAYS = dict(zip("一二三四五六日天", (0, 1, 2, 3, 4, 5, 6, 6), strict=True))
HAN_DAYS = "".join(HAN_WEEKDAYS)

DAYS = {
    "today": 0, "heute": 0, "今天": 0, "今日": 0, "yesterday": -1, "gestern": -1, "昨天": -1, "昨日": -1,
    "the day before yesterday": -2, "day before yesterday": -2, "vorgestern": -2, "前天": -2, "大前天": -3,
    "tomorrow": 1, "morgen": 1, "明天": 1, "明日": 1, "the day after tomorrow": 2, "day after tomorrow": 2,
    "übermorgen": 2, "后天": 2, "大后天": 3,
}  # fmt: skip
STEPS = {
    "last": -1, "previous": -1, "letzte": -1, "vorige": -1, "vergangene": -1, "上上": -2, "上": -1, "去": -1,
    "this": 0, "the": 0, "current": 0, "diese": 0, "这": 0, "本": 0, "今": 0, "": 0,
    "next": 1, "coming": 1, "nächste": 1, "kommende": 1, "下": 1, "明": 1, "下下": 2, "后": 2, "前": -2,
}  # fmt: skip

YEARS = {"去年": -1, "前年": -2, "今年": 0, "明年": 1}
UNITS = {"woche": "week", "monat": "month", "jahr": "year", "wochenende": "weekend", "周": "week", "星期": "week",
          "礼拜": "week", "月": "month", "年": "year", "周末": "weekend"}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Span:
    """The time from `first` to before `end`; both are equal where the text names one moment.

    `doubt` says how a date was read that has two readings. `exact` is false where no time of the day is named.
    """

    first: datetime
    end: datetime
    doubt: str = ""
    exact: bool = False


def month_number(text: str) -> int:
    """Read a month by its name or its number."""
    return MONTH_NUMBERS.get(text) or int(durations.count_of(text))


def days(first: date, count: int) -> Span:
    start = datetime.combine(first, time())
    return Span(start, start + timedelta(days=count))


@dataclass(frozen=True, slots=True)
class Calendar:
    """`ahead`: of two readings the later one is meant, as in a reminder; else the one that has passed."""

    now: datetime
    ahead: bool
    month_first: bool

    def day(self, day: date) -> Span:
        return days(day, 1)

    def near(self, spans: Callable[[int], Span]) -> Span:
        """Return the nearest span of those of each year that lies in the direction that is meant."""
        this_year = spans(self.now.year)
        if self.ahead and this_year.end <= self.now:
            return spans(self.now.year + 1)
        if not self.ahead and this_year.first > self.now:
            return spans(self.now.year - 1)
        return this_year

    def dated(self, year: str | None, month: int, day: str | None) -> Span:
        """Return a day or a month, of the nearest year where none is named."""

        def of(number: int) -> Span:
            if day:
                return self.day(date(number, month, int(durations.count_of(day))))
            return days(date(number, month, 1), monthrange(number, month)[1])

        if year is None:
            return self.near(of)
        return of(YEARS[year] + self.now.year if year in YEARS else int(year) + 2000 * (len(year) == 2))

    def weekday(self, day: int, which: str) -> Span:
        today = self.now.date()
        if which in ("", "the"):
            distance = (day - today.weekday() - 1) % 7 + 1
            return self.day(
                today + timedelta(distance if self.ahead else distance - 7 * (1 + (distance == 7)))
            )
        if which in ("last", "letzte"):
            return self.day(today - timedelta((today.weekday() - day - 1) % 7 + 1))
        if which in ("coming", "kommende"):
            return self.day(today + timedelta((day - today.weekday() - 1) % 7 + 1))
        return self.weekday_of_week(day, STEPS[which])

    def near_day(self, step: int) -> Span:
        return self.day(self.now.date() + timedelta(step))

    def weekday_of_week(self, day: int, step: int) -> Span:
        return self.day(self.week(step).first.date() + timedelta(day))

    def day_of_month(self, number: int) -> Span:
        """Return the nearest day of this number: of this month, else of the next one that has it."""
        today = self.now.date()
        for step in range(3):
            month = self.period("month", step if self.ahead else -step)
            day = month.first.date() + timedelta(number - 1)
            if day < month.end.date() and (day >= today if self.ahead else day <= today):
                return self.day(day)
        raise ValueError

    def week(self, step: int) -> Span:
        today = self.now.date()
        return days(today - timedelta(today.weekday() - 7 * step), 7)

    def period(self, unit: str, step: int) -> Span:
        """Return a week, month, year or weekend, so many steps from the present one."""
        match unit:
            case "week":
                return self.week(step)
            case "weekend":
                return days(self.week(step).first.date() + timedelta(5), 2)
            case "month":
                year, month = divmod(self.now.year * 12 + self.now.month - 1 + step, 12)
                return days(date(year, month + 1, 1), monthrange(year, month + 1)[1])
        year = self.now.year + step
        return Span(datetime(year, 1, 1), datetime(year + 1, 1, 1))

    def ends(self, unit: str, step: int) -> Span:
        """Return the last day of a period, of a week its Friday."""
        end = self.period(unit, step).end.date()
        return self.day(end - timedelta(3 if unit == "week" else 1))

    def moved(self, length: str, sign: int) -> Span | None:
        duration = durations.read(length)
        if duration is None:
            return None
        moment = duration.after(self.now, sign)
        return Span(moment, moment, exact=True)

    def distant(self, length: str, sign: int) -> Span | None:
        """Return the day that is so many days, weeks, months or years away; of hours the moment."""
        span, duration = self.moved(length, sign), durations.read(length)
        if span is None or duration is None or duration.time % timedelta(days=1):
            return span
        return self.day(span.first.date())

    def slashed(self, a: str, b: str, year: str | None) -> Span:
        """Read 3/4 and 3/4/2026 in the order of the person's country; 25/12 has one reading."""
        first, second = int(a), int(b)
        month, day = (first, second) if self.month_first else (second, first)
        if month > 12:
            month, day = day, month
        span = self.dated(year, month, str(day))
        clear = first == second or max(first, second) > 12
        return span if clear else Span(span.first, span.end, f"{MONTHS[month - 1].title()} {day}")
