"""Rules in plain words: `never push to main`, `ask me before you run terraform apply`, `don't touch migrations/`.

Chinese is read by `chinese_rules`.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from memory_server.domain import chinese_rules
from memory_server.domain.chinese_rules import Does
from memory_server.domain.effect import Effect, RuleDraft
from memory_server.language.lazy import closed_list

NAME: Final = 60
"""Characters of a rule's name, which is the begin of its text."""

LONGEST: Final = 300
"""Characters of a sentence that is read."""

_ASKS: Final = closed_list(r"""
    \b(?:ask|check\swith|confirm\swith)\s(?:me|us|the\suser|first)?\s?(?:first\s)?before\b|\bwithout\s(?:asking|my\s(?:ok|okay|permission|approval|consent)|confirmation|approval|permission)\b
    |\bfrag(?:e|t)?\s(?:mich|erst|immer|vorher)\b
""")
_FORBIDS: Final = closed_list(r"""
    \b(?:never|do\snot|don['’]?t|dont|must\snot|mustn['’]?t|must\snever|may\snot|should\snever|should\snot|shouldn['’]?t|no\sone\s(?:may|must)|not\sallowed\sto|forbidden\sto|avoid|stop)\b
    |\b(?:nie|niemals|nicht|kein)\b
""")
_QUOTED: Final = re.compile(r"`([^`\n]{2,120})`")
_FORCE: Final = re.compile(r"\bforce[- ]?push(?:es|ing)?\b", re.IGNORECASE)
_PUSH: Final = re.compile(
    r"\bpush(?:es|ing)?\b(?:\s+(?:anything|code|commits?|changes|directly|straight|it|up))*\s+(?:to|on|onto)\s+"
    r"(?:the\s+)?(?:origin[/ ])?([\w./-]*[\w-])|\bauf\s+([\w./-]+)\s+(?:zu\s+)?push(?:en|t)\b",
    re.IGNORECASE,
)
_RUN: Final = re.compile(
    r"\b(?:run|use|execute|call|invoke|type|start|do)(?:ning)?\s+((?:npm|pnpm|yarn|git|docker|kubectl|terraform|helm|pip|cargo|make|rm|aws|gh|psql"
    r"|prisma|rails|npx|poetry|uv|brew|apt|apt-get|sudo|ansible-playbook|pulumi|vercel|netlify|fly|heroku|firebase|dropdb)\b[^,;.!?\n]{0,80})",
    re.IGNORECASE,
)
_STARTS: Final = re.compile(
    r"\b(?:run|use|execute|call|invoke|type|start|launch)(?:ning)?\s+(?:the\s+)?(?:script\s+|file\s+)?$",
    re.IGNORECASE,
)
_FILE: Final = (
    r"[`'\"]?((?:[\w@.*~-]+/)+[\w@.*-]*|\.[a-z][\w.*-]+|\*?[\w-]+\."
    r"(?:lock|json|ya?ml|toml|sql|env|pem|key|db|sqlite3?|py|ts|js|go|rs|md|txt|cfg|ini))[`'\"]?"
)
_WRITE: Final = re.compile(
    r"\b(?:(?:edit|touch|modify|alter)(?:ing)?|(?:chang|delet|remov|overwrit|renam|mov)(?:e|ing)|writ(?:e|ing)(?:\s+to)?)\s+"
    r"(?:the\s+|any\s+|(?:anything|files?)\s+(?:in|under|below)\s+|our\s+)*(?:(?:file|folder|directory)\s+)?"
    rf"{_FILE}",
    re.IGNORECASE,
)
_READ: Final = re.compile(
    rf"\b(?:(?:read|open|print|show)(?:ing)?|cat|look(?:ing)?\s+(?:at|into))\s+(?:the\s+contents?\s+of\s+|the\s+|my\s+|our\s+)*(?:file\s+)?{_FILE}",
    re.IGNORECASE,
)
_TAIL: Final = re.compile(
    r"\s+(?:without|unless|until|before|because|since|again|here|in|on|to|or|and|with|directly|by hand|yourself|please"
    r"|ever|when|if|for|at all)\b.*$",
    re.IGNORECASE,
)
Condition = tuple[str, tuple[str, ...], tuple[str, ...]]
"""A trigger, with acts that it holds and acts that it lets pass."""

_COMMAND: Final = re.compile(r"[A-Za-z./][\w./-]*(?:\s+\S+){0,8}")


@dataclass(frozen=True, slots=True)
class PlainRule:
    """A rule that a sentence states."""

    name: str
    reason: str
    trigger: str
    draft: RuleDraft


def read(text: str) -> PlainRule | None:
    """Read a sentence; None where it forbids nothing that can be seen in an act."""
    sentence = " ".join(text.split())
    if not sentence or len(sentence) > LONGEST or sentence.endswith(("?", "？")):
        return None
    if chinese_rules.is_chinese(sentence):
        chinese = chinese_rules.read(sentence)
        asks, condition = (chinese.asks, _joined(chinese.acts)) if chinese else (False, None)
    else:
        asks = _ASKS.search(sentence) is not None
        condition = _condition(sentence) if asks or _FORBIDS.search(sentence) else None
    if condition is None:
        return None
    trigger, holds, passes = condition
    draft = RuleDraft(Effect.ASK if asks else Effect.DENY, holds, passes)
    return PlainRule(sentence.rstrip(".!。！")[:NAME].strip(), sentence, trigger, draft)


def of_words(text: str) -> PlainRule | None:
    """Return the first rule that one of the first 20 sentences of a text states."""
    for sentence in re.split(r"(?<=[.!])\s+|(?<=[。！])\s*|\n", text)[:20]:
        if (rule := read(sentence)) is not None:
            return rule
    return None


def _condition(sentence: str) -> Condition | None:
    """Return the trigger of what a sentence names, with acts that it holds and acts that it lets pass."""
    if _FORCE.search(sentence):
        return _runs(("git push --force", "git push --force-with-lease"), "git push -f", "git push")
    quoted = _QUOTED.search(sentence)
    if match := _PUSH.search(sentence):
        branch = next(filter(None, match.groups()))
        branches = ("main", "master") if branch.lower() in ("main", "master", "default") else (branch,)
        patterns = tuple(f"git push {name}" for name in branches)
        return _runs(patterns, f"git push origin {branches[0]}", "git push origin some-branch")
    for pattern, function in ((_READ, "reads"), (_WRITE, "touches")):
        if match := pattern.search(sentence):
            path = next(filter(None, match.groups())).strip("`'\"").rstrip(",;:.")
            return _names(function, path)
    match = _RUN.search(sentence)
    command = quoted.group(1).strip() if quoted else _TAIL.sub("", match.group(1)).strip() if match else ""
    if quoted and re.fullmatch(_FILE, command) and not _STARTS.search(sentence[: quoted.start()]):
        return None  # a file of which nobody says what must not be done with it
    command = chinese_rules.without_folder(command)
    if _COMMAND.fullmatch(command) is None or "'" in command or "(" in command:
        return None
    return _runs((command,), command.replace("*", "x"), f"echo {command.replace('*', 'x')}")


def _joined(acts: Sequence[tuple[Does, str]]) -> Condition:
    """Return the condition of several acts."""
    commands = [name for does, name in acts if does is Does.RUNS]
    plain = [name.replace("*", "x") for name in commands]
    examples = [re.sub(r"^git push(?! origin)", "git push origin", name) for name in plain]
    conditions = [_names(does, name) for does, name in acts if does is not Does.RUNS]
    if commands:
        conditions.append(_runs(commands, examples[0], f"echo {plain[0]}"))
    if len(conditions) == 1:
        return conditions[0]
    triggers, holds, _ = zip(*conditions, strict=True)
    return " || ".join(triggers), tuple(act for listed in holds for act in listed), ("ls -la",)


def _runs(patterns: Sequence[str], holds: str, passes: str) -> Condition:
    listed = ", ".join(f"'{pattern}'" for pattern in patterns)
    return f"runs(act, {listed})", (holds, f"bash -c '{holds}'"), (passes,)


def _names(function: str, path: str) -> Condition:
    pattern = f"{path}**" if path.endswith("/") else path
    file = re.sub(r"\*+", "x", pattern)
    if function == "reads":
        return f"reads(act, '{pattern}')", (f"Read {file}", f"cat {file}"), ("ls -la",)
    return f"touches(act, '{pattern}')", (f"Write {file}", f"rm {file}"), (f"Read {file}",)
