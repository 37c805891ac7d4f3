"""Makes up conditions, conversations and ways to misspell them, from a seeded chance."""

import json
import unicodedata
from datetime import datetime, timedelta, timezone, tzinfo
from random import Random
from typing import Any
from zoneinfo import ZoneInfo

from memory_server.domain.message import Message
from memory_server.domain.situation import Situation

WORDS = (
    "birthday Birthday BIRTHDAYS art party C++ c++11 C .NET #tag pve-01 pve_01 2024 12024 3.5 don't "
    "café cafe\u0301 CAFÉ cafe cafe\u0323\u0301 x\u0304 x straße STRASSE İstanbul istanbul ΟΔΟΣ οδος οδοσ "
    "День деньги हिन्दी हिन् 生日 今天是我的生日快乐 生 后天 後天 資料庫 数据库 AI 我喜欢AI技术 ＡＩ "
    "ｱﾆﾒ アニメ ｶﾞﾑ ガム ありがとう 생일이에요 생일 วันเกิด 🎂 a🎂b ❤️ ❤ 𠮷野家 𠮷 ﬁne fine ① 1 "
    "K \u212a ſ s ß É é ǅ ǆ tea tea. hot\u3000tea hot ' \" \\ / _ a_b - $5 $ a\u200db"
).split(" ")
SPACES = [*" " * 3, "", "", *"\n\u3000\t。\u2028\xa0\x85\x1c\ufeff-_", ", ", "\r\n"]
CHARACTERS = [*"aabeAEtsSkK_19-+.$/éÉ生人🎂\u212aſ\n\r\t \u2028\u3000\xa0\x85\x1c\ufeff\x0b", "art", "tea"]
JUNK = [*"()[]{}.,;:!&|=<>+-*/%'\"`\\ \n0123456789abms?$_~^@#", *"// /* */ => && || new this null".split()]
ROLES = ["user", "assistant", "system", "char", "tool", "User", ""]
SCOPES = "any user assistant char system both other notuser notchar".split()
DEPTHS = "1 2 3 4 6 100 0 -1 0.5 2.9 1e300 null undefined NaN Infinity -Infinity".split()
NUMBERS = "0 1 2 3 4 6 11 12 17 31 -1 0.5 1.5 -0 NaN Infinity 2026 1e3 .5".split()
PARTS = "getFullYear getMonth getDate getDay getHours getMinutes getSeconds".split()
SIGNS = "=== !== == != < <= > >=".split()
ATOMS = (
    r"a e t art b 生日 生 é 🎂 . \d \w \s \W \S \D [a-e] [^a] [A-Z] [生日] [\w+] [^\s] \+ \. C\+\+ \b ^ $ - "
    r"_ (?:art|tea) (b|a) [一-鿿] \u751f \x61 \n K s ss [^生] [+-] (a|) \/ é|É [🎂] \$"
).split(" ")
QUANTIFIERS = [*[""] * 5, *"? * + {2} {0,2} {1,} ?? +?".split()]
FLAGS = ["", "", "", *"i i g m s im gi u y".split()]
BLOCKS = (0x100, 0x400, 0x1000, 0x3000, 0xD800, 0x10000, 0x20000)
PERSONS = ("'Ann'", "3", "null", "true", "''")
PEOPLE: list[dict[str, Any]] = [{}, *({"user": value} for value in ("Ann", "", 3, None, [1], True))]


def anything(random: Random) -> str:
    """A character that all versions of Unicode since 3.2 agree about."""
    while True:
        character = chr(random.randrange(random.choice(BLOCKS)))
        if unicodedata.ucd_3_2_0.category(character) not in ("Cn", "Cs", "Co"):
            return character


def text(random: Random, most: int = 12) -> str:
    parts = []
    for _ in range(random.randrange(most)):
        parts.append(random.choice(WORDS) if random.random() < 0.9 else anything(random))
        parts.append(random.choice(SPACES))
    return "".join(parts)


def conversation(random: Random) -> tuple[Message, ...]:
    return tuple(
        Message(random.choice(ROLES), text(random)) for _ in range(random.choice([0, 1, 2, 3, 4, 5, 7]))
    )


def situation(random: Random) -> Situation:
    zone: tzinfo = timezone(timedelta(minutes=random.choice([0, 0, 60, -300, 345, 480, -570])))
    if random.random() < 0.5:
        zone = ZoneInfo(
            random.choice(["Europe/Berlin", "America/New_York", "Asia/Shanghai", "Australia/Lord_Howe"])
        )
    moment = datetime(2026, 1, 1, tzinfo=zone) + timedelta(seconds=random.randrange(366 * 24 * 3600))
    return Situation(
        conversation(random), random.choice(["talk-1", "生日", ""]), moment, 1, random.choice(PEOPLE)
    )


class Conditions:
    """Sources of conditions about one situation."""

    def __init__(self, random: Random, messages: tuple[Message, ...]) -> None:
        self.random = random
        self.contents = [message.content for message in messages if message.content]
        self.inside_some = False
        self.constants: list[tuple[str, str]] = []
        """Names that stand before the condition, and what of: a number, string, message, messages."""

    def pick(self, *choices: str) -> str:
        return self.random.choice(choices)

    def key(self) -> str:
        """A key that has a fair chance to be found, or to be found just not."""
        if self.contents and self.random.random() < 0.5:
            content = self.random.choice(self.contents)
            begin = self.random.randrange(len(content))
            found = content[begin : begin + self.random.choice([1, 2, 3, 5, 8])]
            return self.random.choice([found, found, found.upper(), found.lower(), f" {found} "])
        return self.random.choice([*WORDS, "", " ", anything(self.random), "hot tea"])

    def quoted(self, written: str) -> str:
        double = json.dumps(written, ensure_ascii=self.random.random() < 0.3)
        if self.random.random() < 0.5:
            return double
        return "'" + double[1:-1].replace('\\"', '"').replace("'", "\\'") + "'"

    def regex(self) -> str:
        count = self.random.choice([1, 1, 2, 2, 3, 4])
        source = "".join(self.random.choice(ATOMS) + self.random.choice(QUANTIFIERS) for _ in range(count))
        if self.random.random() < 0.3:
            source = f"^{source}$"
        return f"/{source}/{self.random.choice(FLAGS)}"

    def short(self) -> str:
        return "".join(self.random.choices(CHARACTERS, k=self.random.choice([0, 1, 1, 2, 2, 3, 4])))

    def keys(self) -> str:
        some = [
            self.regex() if self.random.random() < 0.25 else self.quoted(self.key())
            for _ in range(self.random.choice([0, 1, 1, 1, 2, 2, 3]))
        ]
        if len(some) == 1 and self.random.random() < 0.1:
            return some[0]
        return f"[{', '.join(some)}]"

    def match(self, name: str) -> str:
        arguments = [self.pick("messages", "context.messages", self.messages(1)), self.keys()]
        if self.random.random() < 0.6:
            arguments.append(
                self.quoted(self.random.choice(SCOPES)) if self.random.random() < 0.9 else "null"
            )
            if self.random.random() < 0.6:
                arguments.append(self.random.choice(DEPTHS))
        return f"{name}({', '.join(arguments)}{self.pick('', '', '', ',')})"

    def number(self, depth: int) -> str:
        choices = ["written", "date", "sum" if depth else "written", "length"]
        choices += [] if self.inside_some else ["match", "match", "match", "count"]
        match self.random.choice(choices):
            case "written":
                return self.random.choice(NUMBERS)
            case "date":
                getter = self.random.choice(PARTS)
                return self.pick(f"new Date().{getter}()", f"(new Date()).{getter}()")
            case "sum":
                sign = self.pick("+", "-", "*", "/", "%", "+ -", "* !")
                return f"({self.number(depth - 1)} {sign}{self.number(depth - 1)})"
            case "length":
                return self.pick(
                    f"{self.string(depth)}.length",
                    f"{self.messages(depth)}.length",
                    f"{self.string(0)}.indexOf({self.string(0)})",
                    f"Math.{self.pick('floor', 'ceil', 'abs')}({self.number(0)})",
                    f"{self.messages(0)}.findIndex({self.callback(0)})",
                    f"({self.date()} - {self.date()})",
                    "Date.now()",
                    self.constant("number") or "1",
                )
            case "match":
                return self.match("match_keys")
            case _:
                return self.pick("messages.length", "context.messages.length")

    def string(self, depth: int) -> str:
        choices = [
            self.quoted(self.key()),
            self.pick("conversation_id", "context.conversation_id") if not self.inside_some else "''",
        ]
        if self.inside_some:
            choices += ["m.content", "m.content", "m.role"] * 2
        else:
            choices += [f"{self.message()}{self.pick('.', '?.')}{self.pick('content', 'role')}"] * 2
            choices += [f"{self.messages(0)}.map(m => m.content).join({self.quoted(self.key())})"]
        choices += [
            self.constant("string") or "'a'",
            f"{self.date()}.toISOString()",
            "new Date().toDateString()",
        ]
        chosen = self.random.choice(choices)
        if self.random.random() < 0.2:
            chosen += self.pick(
                ".toLowerCase()", ".toLowerCase()", ".toUpperCase()", ".trim()", ".slice(0, 10)", ".slice(-3)",
                ".slice(2, -1)", ".split('T')[0]", ".substring(0, 7)",
            )  # fmt: skip
        return chosen

    def constant(self, kind: str) -> str:
        """A name of that kind; nothing if there is none."""
        names = [name for name, of in self.constants if of == kind]
        return self.random.choice(names) if names else ""

    def messages(self, depth: int) -> str:
        """A list of messages."""
        base = self.constant("messages") or self.pick("messages", "context.messages")
        if self.random.random() < 0.5:
            return base
        how = self.pick("slice", "filter") if depth and not self.inside_some else "slice"
        if how == "slice":
            return f"{base}.slice({self.pick('-3', '-1', '0', '1', '2', '-0', '0, 2', '1, -1', '-2, 9')})"
        return f"{base}.filter({self.callback(depth - 1)})"

    def message(self) -> str:
        """A message, or none."""
        base = self.pick("messages", "context.messages")
        return self.constant("message") or self.pick(
            f"{base}.at(-1)", f"{base}[{base}.length - 1]", f"{base}[{base}.length - 2]", f"{base}[0]", f"{base}.at(1)",
            f"{self.messages(1)}.at(-1)", f"{base}.find({self.callback(0)})" if not self.inside_some else f"{base}[1]",
        )  # fmt: skip

    def callback(self, depth: int) -> str:
        outer, self.inside_some = self.inside_some, True
        condition = self.expression(depth)
        self.inside_some = outer
        return self.pick(
            f"m => {condition}",
            f"(m) => {condition}",
            f"m => {{ return {condition}; }}",
            f"function (m) {{ return {condition} }}",
            f"m => {{ const t = m.role; return t === 'user' && {condition}; }}",
            f"m => {{ if (m.role === 'user') return {condition}; return false }}",
        )

    def date(self) -> str:
        year, month, day = (
            self.random.choice(choices) for choices in ((2025, 2026), range(12), range(1, 32))
        )
        return self.pick(
            "new Date()", "(new Date())", f"new Date('{year}-{month + 1:02}-{day:02}')",
            f"new Date('{year}-{month + 1:02}-{day:02}T{day % 24:02}:30:00Z')", f"new Date({year}, {month}, {day})",
            f"new Date('{year}-{month + 1:02}-{day:02}T05:00')", f"new Date({year}, {month}, {day}, 9, 30)",
        )  # fmt: skip

    def boolean(self, depth: int) -> str:
        choices = ["number", "text", "contains", "test", "literal", "not"]
        choices += ["list", "dates", "items"]
        choices += (
            ["some", "some", "all", "all", "person", "there"]
            if not self.inside_some
            else ["contains", "test"] * 2
        )
        match self.random.choice(choices):
            case "number":
                sign = self.pick(*SIGNS)
                return f"{self.number(depth)} {sign} {self.number(depth)}"
            case "text":
                sign = self.pick(*SIGNS)
                return f"{self.string(depth)} {sign} {self.string(depth)}"
            case "contains":
                how = self.pick("includes", "startsWith", "endsWith")
                return f"{self.string(depth)}.{how}({self.quoted(self.key())})"
            case "test":
                text = self.quoted(self.short()) if self.random.random() < 0.7 else self.string(depth)
                return f"{self.regex()}.test({text})"
            case "literal":
                return self.pick("true", "false", "null", "undefined", "''", "'a'", "0", "NaN")
            case "not":
                return f"!{self.pick('', '!')}({self.expression(depth)})"
            case "some":
                return f"{self.messages(depth)}.{self.pick('some', 'some', 'every')}({self.callback(depth)})"
            case "there":
                return self.pick(
                    f"!!{self.message()}",
                    f"{self.message()} {self.pick(*SIGNS[:4])} {self.pick('undefined', 'null')}",
                    f"{self.message()}?.content{self.pick('', '.length', '.toLowerCase()')}",
                    f"({self.message()}?.content ?? {self.string(0)}) === {self.string(0)}",
                )
            case "dates":
                return f"{self.date()} {self.pick(*SIGNS[4:])} {self.date()}"
            case "items":
                texts = [self.quoted(self.key()) for _ in range(3)]
                return self.pick(
                    f"[{', '.join(self.random.choices(NUMBERS, k=3))}].includes({self.number(0)})",
                    f"[{', '.join(texts)}].includes({self.string(0)})",
                    f"[{', '.join(texts)}].{self.pick('some', 'every')}(w => {self.string(0)}.includes(w))",
                )
            case "list":
                return f"{self.string(0)}.match({self.regex()})"
            case "all":
                return self.match("match_keys_all")
            case _:
                person = self.pick("participants.user", "context.participants.user", "participants.other")
                return f"{person} {self.pick(*SIGNS[:4])} {self.pick(*PERSONS)}"

    def expression(self, depth: int) -> str:
        if depth == 0 or self.random.random() < 0.3:
            return self.boolean(0) if self.random.random() < 0.8 else self.number(0)
        match self.random.choice(["and", "or", "brackets", "boolean", "number", "mixed", "choice"]):
            case "choice":
                return f"({self.expression(depth - 1)} ? {self.expression(depth - 1)} : {self.expression(0)})"
            case "and":
                return f"{self.expression(depth - 1)} && {self.expression(depth - 1)}"
            case "or":
                return f"{self.expression(depth - 1)} || {self.expression(depth - 1)}"
            case "brackets":
                return f"({self.expression(depth - 1)})"
            case "boolean":
                return self.boolean(depth - 1)
            case "number":
                return self.number(depth - 1)
            case _:
                sign = self.pick("===", "!==", "<", ">", "<=", ">=", "==", "+", "-", "/")
                return f"{self.expression(depth - 1)} {sign} {self.expression(depth - 1)}"

    def misspelt(self, source: str) -> str:
        """With a character or two more, less or other."""
        for _ in range(self.random.choice([1, 1, 2])):
            at = self.random.randrange(len(source) + 1)
            junk = self.random.choice(JUNK)
            source = (
                source[:at]
                + self.random.choice([junk, junk, ""])
                + source[at + self.random.choice([0, 1, 1, 2]) :]
            )
        return source

    def source(self) -> str:
        self.constants = []
        before = ""
        three = (("x", "messages"), ("last", "message"), ("t", "string"))
        for name, kind in self.random.choice([(), (), (("a", "number"),), three]):
            thing = {"number": self.number, "string": self.string, "messages": self.messages}.get(kind)
            given = self.message() if thing is None else thing(1)
            before += f"{self.pick('const', 'let', 'var')} {name} = {given}{self.pick('; ', ';', chr(10))}"
            self.constants.append((name, kind))
        written = before + self.expression(3) + self.pick("", "", "", ";", " // end", "\n")
        if not before and self.random.random() < 0.1:
            written = f"(() => {{ const a = {self.number(1)}; return {self.expression(2)}; }})()"
        return self.misspelt(written) if self.random.random() < 0.35 else written
