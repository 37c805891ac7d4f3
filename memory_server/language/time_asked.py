"""The time that a question names, and what is left of the question: "What did we decide last week?", 上周的决定.

Only words that say when something was are read. Those that belong to the subject ("last year's tax return", "the Monday
meeting", 昨天的部署脚本), and what is still ahead, name no time here.
"""

import re
from dataclasses import dataclass
from datetime import datetime, time, timedelta

from memory_server.language import asked_type, moments, question
from memory_server.language.calendar_words import DAYS, MONTHS
from memory_server.language.lazy import closed_list, lazy
from memory_server.language.spans import Calendar, Span, days

_WEEKDAY = "|".join(DAYS)
_MONTH = "|".join(name if len(name) < 5 else rf"{name}|{name[:3]}\.?" for name in MONTHS) + r"|sept\.?"
_YEAR = r"(?:19|20)\d\d"
_NUMBER = r"\d{1,3}|an?|one|two|three|four|five|six|seven|eight|nine|ten|a\scouple\sof|a\sfew"
_UNIT = "(?:hour|day|week|month|year)"
_PART = r"(?:\s(?:morning|afternoon|evening|night))"
_DAY = r"(?:3[01]|[12]\d|0?[1-9])"
_ISO = rf"{_YEAR}-(?:1[0-2]|0[1-9])(?:-{_DAY})?"
_DATE = (
    rf"(?:(?:{_MONTH})\s{_DAY}(?:st|nd|rd|th)?|{_DAY}(?:st|nd|rd|th|\.)?\s(?:of\s)?(?:{_MONTH}))"
    rf"(?:,?\s{_YEAR})?|{_ISO}"
)
_PAST = (
    rf"(?:the\s)?day\sbefore\syesterday|yesterday{_PART}?|last\snight"
    rf"|(?:the\s)?(?:last|past)\s(?:{_NUMBER})\s{_UNIT}s?|(?:{_NUMBER})\s{_UNIT}s?\sago"
    rf"|(?:the\s)?(?:last|past|previous)\s(?:weekend|week|month|year)(?!\sof\b)|(?:last|this\spast)\s(?:{_WEEKDAY}){_PART}?"
)
_PRESENT = rf"today|tonight|this\s(?:morning|afternoon|evening|weekend|week|month|year|{_WEEKDAY})"
_LED = (
    rf"(?:{_DATE}|(?:{_WEEKDAY}){_PART}?|(?:the\s)?(?:(?:first|second|third|last)\sweek\sof|(?:beginning|middle|end)\sof|early|mid|late)"
    rf"[\s-](?:{_MONTH})(?:\s{_YEAR})?|(?:{_MONTH})(?:,?\s(?:of\s)?{_YEAR})?|{_YEAR})"
)
_LEADS = "since|after|before|until|till|on|in|at|during|within|over|from|of|for"
_ANY = rf"{_PAST}|{_PRESENT}|{_LED}"
_ENGLISH = closed_list(rf"""
    \b(?:(?:between|from)\s(?P<first>{_ANY})\s(?:and|to|until|till)\s(?P<last>{_ANY})
    |(?:(?P<lead>{_LEADS})\s)?(?P<past>{_PAST})|(?:(?P<lead2>{_LEADS})\s)?(?P<present>{_PRESENT}|{_ISO})
    |(?P<lead3>{_LEADS})\s(?P<led>{_LED}))(?![\w-]|[.,]\d)
""")

_HAN_NUMBER = r"(?:\d{1,3}|[一二两三四五六七八九]?十[一二三四五六七八九]?|[一二两三四五六七八九几])"
_HAN_MONTH = (
    r"(?<![\d十])(?:1[0-2]|0?[1-9]|十[一二]?|[一二三四五六七八九])月"
    r"(?:份|(?:\d{1,2}|[一二三]?十?[一二三四五六七八九十])[日号])?"
)
_HAN_PART = "(?:早上|上午|中午|下午|晚上)"
_WEEK = "(?:周|星期|礼拜)"
_HAN_PAST = (
    rf"大前天|前天|昨[天日]{_HAN_PART}?|昨晚|上{{1,2}}个?(?:周末|{_WEEK}[一二三四五六日天]?|月)|(?<!过)去年(?:{_HAN_MONTH})?"
    rf"|(?<![目以之])前年|{_HAN_NUMBER}个?(?:天|日|周|星期|礼拜|月|年)(?:以|之)?前|(?:最近|过去|近){_HAN_NUMBER}个?(?:天|周|星期|礼拜|月|年)"
)
_HAN_PRESENT = (
    rf"今[天日]{_HAN_PART}?|今[早晚]|[这本]个?(?:周末|{_WEEK}[一二三四五六日天]?(?![报刊])|月)|(?<!如)今年(?!轻)(?:{_HAN_MONTH})?"
    rf"|{_YEAR}年(?:{_HAN_MONTH})?|{_HAN_MONTH}|(?<![每个下上这本]){_WEEK}[一二三四五六日天](?!至|到)|{_ISO}"
)
_CHINESE = lazy(
    rf"(?<![\d年的《])(?:自从|自|从|在|于)?(?:(?P<first>{_HAN_PAST}|{_HAN_PRESENT})(?:到|至)(?P<last>{_HAN_PAST}|{_HAN_PRESENT})"
    rf"|(?P<past>{_HAN_PAST})|(?P<present>{_HAN_PRESENT}))"
    r"(?P<trail>以来|以后|之后|以前|之前|起|前(?!台|端|后)|后(?!台|端))?(?:期间|里面?|[中内]|那[天周])?"
)

_GOES_ON = closed_list(r"""
    ^\s*(?:$|[?？.!,;:)]|\b(?:about|on|with|for|in|at|regarding|concerning|of|did|was|were|had|has|have|do|we|i|he|she|they|you
    |it|that|which|what|who|where|how|and|or|to|from|by|because|when|our|my|so)\b)
""")
"""What follows words that say when something was; a noun there has them as its attribute."""

_IS_PAST = closed_list(
    r"\b(?:did|was|were|had|has|have|been|went|broke|said|told|made|came|got|learnt|took|gave|found|\w{2,}ed)\b|\w[’']ve\b"
)
_IS_PRESENT = closed_list(r"\b(?:is|are|am|does|do|will|can|should|shall|must|next)\b|\w[’']s\b")
_IS_OVER = closed_list(r"\b(?:did|was|were|had|has|have|been)\b|\w[’']ve\b")
_HAN_IS_PAST = lazy("[了过]|学到|发生|是.*的|决定")
_NEWEST = closed_list(
    r"\b(?:recent(?:ly)?|lately|(?:the\s)?(?:latest|newest|most\srecent))\b|最近|近来|近期|最新的?"
)

_HOURS = {
    "morning": (0, 12), "afternoon": (12, 18), "evening": (17, 24), "night": (17, 29), "早上": (0, 12), "早": (0, 12),
    "上午": (0, 12), "中午": (11, 14), "下午": (12, 18), "晚上": (17, 29), "晚": (17, 29),
}  # fmt: skip
"""The hours of a part of a day; a night ends in the next day."""

_SINCE, _BEFORE = (
    frozenset({"since", "以来", "起"}),
    frozenset({"before", "until", "till", "以前", "之前", "前"}),
)
_AFTER = frozenset({"after", "以后", "之后", "后"})
_QUOTED = lazy(r"《[^》]*》|「[^」]*」|“[^”]*”|\"[^\"]*\"")
_LONG = 200
"""Characters: a longer text is no plain question."""


@dataclass(frozen=True, slots=True)
class TimeAsked:
    """The time from `since` to before `until`, local; both None where the newest is asked for.

    `subject` is the question without the words of time.
    """

    subject: str
    since: datetime | None = None
    until: datetime | None = None


def may_name(text: str) -> bool:
    """True if a text has words of time; most questions have none."""
    return any(pattern.search(text) for pattern in (_ENGLISH, _CHINESE, _NEWEST))


def read(text: str, now: datetime) -> TimeAsked | None:
    """Return the time that one plain question names; None where it names none, or several.

    `now` is local, without a zone.
    """
    parsed = question.read(text)
    if len(text) > _LONG or parsed.parts or parsed.core != text:
        return None
    plain = _QUOTED.sub(lambda title: "_" * len(title[0]), text)
    matches = [*_ENGLISH.finditer(plain), *_CHINESE.finditer(plain)]
    if not matches:
        newest = _NEWEST.search(text)
        return TimeAsked(_without(text, newest)) if newest else None
    if len(matches) > 1:
        return None
    match = matches[0]
    if not _says_when(text, match):
        return None
    first, last = match["first"] or "", match["last"] or ""
    span = _read(first, now) if first else _read(_core(match), now)
    end = _read(last, now) if last else span
    if span is None or end is None:
        return None
    bounds = (span.first, end.end) if first else _bounds(span, _bound(match))
    since, until = bounds
    if (since or until or now) >= now and not (since is None and until and until <= now):
        return None
    return TimeAsked(_without(text, match), since, until)


def label(since: datetime | None, until: datetime | None) -> str:
    """Return a time as a note tells it: `of 2026-11-26`, `from … to …`, `since …`, `before …`, `so far`."""
    if since is None:
        return f"before {until:%Y-%m-%d}" if until else "so far"
    if until is None:
        return f"since {since:%Y-%m-%d}"
    last = until - timedelta(seconds=1)
    if since.time() != time() and until - since < timedelta(days=1):
        return f"from {since:%Y-%m-%d %H:%M} to {until:%Y-%m-%d %H:%M}"
    if since.date() == last.date() and until.time() != time():
        return f"of {since:%Y-%m-%d} before {until:%H:%M}"
    return (
        f"of {since:%Y-%m-%d}" if since.date() == last.date() else f"from {since:%Y-%m-%d} to {last:%Y-%m-%d}"
    )


def _core(match: re.Match[str]) -> str:
    groups = match.groupdict()
    return match["past"] or match["present"] or groups.get("led") or ""


def _bound(match: re.Match[str]) -> str:
    groups = match.groupdict()
    names = ("lead", "lead2", "lead3", "trail")
    return next((groups[name].lower() for name in names if groups.get(name)), "")


def _says_when(text: str, match: re.Match[str]) -> bool:
    """True if the words of time say when something was, and are no part of a name of something."""
    before, after = text[: match.start()].rstrip(), text[match.end() :]
    is_past = match["past"] is not None or _bound(match) in _SINCE
    if "trail" in match.groupdict():
        is_attribute = after.startswith("的") and not asked_type.is_all(after[1:])
        return not is_attribute and (is_past or _HAN_IS_PAST.search(text) is not None)
    possessive = re.match(r"['’]s?\s+", after)
    if possessive:
        return asked_type.is_all(before + " " + after[possessive.end() :])
    if _bound(match) in ("of", "from", "for") and not asked_type.is_all(before):
        return False
    if not _GOES_ON.search(after) or re.search(r"\b(?:for|than|as|the|a|an)$", before, re.IGNORECASE):
        return False
    if _IS_PRESENT.search(text) and not _IS_OVER.search(text):
        return False
    return is_past or _IS_PAST.search(text) is not None or asked_type.is_all(_without(text, match))


def _without(text: str, match: re.Match[str]) -> str:
    """Return the text without the words of a match."""
    after = re.sub(r"^(?:['’]s?\b|的)", "", text[match.end() :])
    joint = " " if text[: match.start()].strip() and after.strip() else ""
    return (text[: match.start()].rstrip(" ,，") + joint + after.lstrip(" ,，")).strip()


def _read(core: str, now: datetime) -> Span | None:
    """Return the span of words for a time; wider than what an argument means where they are vague, as "2 weeks ago"."""
    words = (
        " ".join(core.lower().split()).replace("this past ", "last ").replace("last night", "yesterday night")
    )
    words = re.sub(
        r"^(?:this )(?=morning|afternoon|evening|night)", "today ", words.replace("tonight", "today night")
    )
    words = re.sub(r"^([今昨])(?=[早晚])", r"\1天", words)
    part = re.search(rf"({'|'.join(_HOURS)})$", words)
    base = words[: part.start()].strip() if part else words
    span = moments.read(base, now)
    if span is None:
        return None
    if part:
        first, last = _HOURS[part[1]]
        return Span(span.first + timedelta(hours=first), span.first + timedelta(hours=last))
    return _widened(base, span, now)


def _widened(words: str, span: Span, now: datetime) -> Span:
    """Return the days that are meant by "2 weeks ago", the month of "3 months ago", the year of 两年前."""
    is_exact = words.endswith(("天前", "目前")) and "几" not in words
    if is_exact or not re.search(r"(?:ago|前)$", words):
        return span
    calendar, at = Calendar(now, ahead=False, month_first=True), span.first
    if re.search(r"year|年", words):
        return calendar.period("year", at.year - now.year)
    if re.search(r"month|月", words):
        return calendar.period("month", 12 * (at.year - now.year) + at.month - now.month)
    if re.search(r"week|周|星期|礼拜", words):
        return days(at.date() - timedelta(days=3), 7)
    if re.search(r"few|couple|几", words) and span.end > span.first:
        return days(at.date() - timedelta(days=2), 4)
    return span


def _bounds(span: Span, bound: str) -> tuple[datetime | None, datetime | None]:
    if bound in _SINCE:
        return span.first, None
    if bound in _AFTER:
        return span.end, None
    if bound in _BEFORE:
        return None, span.first
    return span.first, max(span.end, span.first + timedelta(minutes=1))
