"""The flags of the server, known without the settings, whose import takes longer than the first answers."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence

PREFIX = "MEMORY_SERVER_"
"""Of the environment variables of the settings."""

HERE: Mapping[str, str] = os.environ
"""The environment of this process."""

SERVE = "serve"

SWITCHES = frozenset(
    "read_only allow_secrets no_backups no_digests no_learning no_token_vectors no_early_answers audit_required".split()
)
"""The settings whose flag has no value."""

SETTINGS = SWITCHES.union(
    "db project time_zone embedder embedder_url reranker reranker_url reranker_seconds dictionary "
    "stop_words toolsets tools exclude_tools trust hooks_off score_share cleanup_days cleanup_floor "
    "cleanup_keeps http http_hosts http_prefix http_rate tenants workers oauth_issuer oauth_audience oauth_person "
    "oauth_projects oauth_tenant audit log_level session engine engine_idle".split()
)


LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR")
"""The levels of messages."""

LONGEST_IDLE = 86_400
"""Seconds after which an engine ends at the latest that nobody is connected to."""

HOOKS = (
    "SessionStart",
    "UserPromptSubmit",
    "SubagentStart",
    "PreToolUse",
    "PostToolUse",
    "PostToolUseFailure",
    "Stop",
    "PreCompact",
    "SessionEnd",
)
"""The events that have a hook."""

EVERY_HOOK = "all"
"""The word that turns off every hook."""

OF_A_CLIENT = {"project": "CLAUDE_PROJECT_DIR", "session": "CLAUDE_CODE_SESSION_ID"}
"""Variables of a client that stand for settings of a session."""

_TRUE = frozenset(["1", "true", "t", "yes", "y", "on"])
"""Words that switch a setting on, in any case: those of pydantic."""


def language(environment: Mapping[str, str]) -> str:
    """The language that the person reads, as programs find it that use gettext: `zh` or `en`."""
    chosen = (environment.get(name) for name in ("LC_ALL", "LC_MESSAGES", "LANG"))
    locale = next(filter(None, chosen), "")
    if locale.partition(".")[0] in ("", "C", "POSIX"):
        return "en"
    return "zh" if (environment.get("LANGUAGE") or locale).startswith("zh") else "en"


def flag_of(name: str) -> str:
    """The flag of a setting: `--read-only` of `read_only`."""
    return "--" + name.replace("_", "-")


def of_server(arguments: Sequence[str]) -> dict[str, object] | None:
    """The settings that are given to the server; None where the arguments are not `serve` with settings alone."""
    names = {flag_of(name): name for name in SETTINGS}
    values: dict[str, object] = {}
    serve = 0
    words = iter(arguments)
    for word in words:
        flag, equals, value = word.partition("=")
        name = names.get(flag)
        if word == SERVE:
            serve += 1
        elif name is None or (equals and name in SWITCHES):
            return None
        elif name in SWITCHES:
            values[name] = True
        elif equals:
            values[name] = value
        elif (following := next(words, None)) is not None:
            values[name] = following
        else:
            return None
    return values if serve < 2 else None


def of_hook_first(arguments: Sequence[str]) -> list[str]:
    """Return the words of a hook with the name of its event first: `hook EVENT --db X …` of `--db X hook EVENT …`."""
    before = _leading(arguments)
    if list(arguments[before : before + 1]) != ["hook"]:
        return list(arguments)
    settings, words = arguments[:before], arguments[before + 1 :]
    place = _leading(words)
    return ["hook", *words[place : place + 1], *settings, *words[:place], *words[place + 1 :]]


def _leading(arguments: Sequence[str]) -> int:
    """Return how many words are settings before the first that is none."""
    place = 0
    while place < len(arguments) and arguments[place].startswith("--"):
        name, equals, _ = arguments[place][2:].replace("-", "_").partition("=")
        place += 1 if equals or name in SWITCHES else 2
    return place


def value_of(name: str, server_flags: Mapping[str, object], environment: Mapping[str, str]) -> str:
    """The value of a setting, as text: of its flag, else of its variable; '' where there is neither."""
    variables = (
        value for variable, value in environment.items() if variable.upper() == PREFIX + name.upper()
    )
    value = server_flags.get(name, next(variables, ""))
    return "true" if value is True else str(value)


def is_on(name: str, server_flags: Mapping[str, object], environment: Mapping[str, str]) -> bool:
    """Return True where a switch is on."""
    return value_of(name, server_flags, environment).lower() in _TRUE


def hooks_named(words: Iterable[str]) -> tuple[str, ...]:
    """Return hooks by their names, which people type in any case; what names none stays as it is."""
    names = {name.lower(): name for name in (*HOOKS, EVERY_HOOK)}
    return tuple(names.get(word.lower(), word) for word in map(str.strip, words) if word)


def unknown_hook(hooks: Iterable[str]) -> str | None:
    """Return what is wrong with a name that no hook has; None where there is no such name."""
    words = (*HOOKS, EVERY_HOOK)
    wrong = next((name for name in hooks if name not in words), None)
    return None if wrong is None else f"{wrong!r} is unknown. There are: {', '.join(words)}."


def unknown_hook_of(arguments: Sequence[str], environment: Mapping[str, str]) -> str | None:
    """Return the same of the arguments and variables of a hook, with the name of the setting."""
    values = dict(of_hook(arguments))
    wrong = unknown_hook(hooks_named(value_of("hooks_off", values, environment).split(",")))
    name = flag_of("hooks_off") if "hooks_off" in values else f"{PREFIX}HOOKS_OFF"
    return None if wrong is None else f"{name}: {wrong}"


def of_hook(arguments: Sequence[str]) -> Iterator[tuple[str, str]]:
    """`--name value` and `--name=value` as they are, known or not; a switch has no value."""
    words = iter(arguments)
    for word in words:
        flag, equals, value = word.partition("=")
        if flag.startswith("--"):
            name = flag[2:].replace("-", "_")
            if equals:
                yield name, value
            else:
                yield name, "true" if name in SWITCHES else next(words, "")


def runtime_folder() -> str:
    """The user's folder for sockets, as the environment names it; '' where it does not."""
    return HERE.get("XDG_RUNTIME_DIR", "")
