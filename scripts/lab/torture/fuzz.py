"""Random and malformed arguments for every tool of a real server, and malformed lines: each gets a sound answer."""

import json
import random
import re
from pathlib import Path
from typing import Any

import jsonschema

from torture.ledger import problems
from torture.tally import Goes, Tally
from torture.wire import Gone, Message, Server, Silent, traceback_in

CALLS = 200
"""Calls in a round; after each round the file is checked."""

LINES = 20
"""Malformed lines in a round."""

HIDDEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff\U000e0000-\U000e007f]"
)
"""Control, direction and tag characters, which no error may repeat."""

INTERNAL = re.compile("This is a bug|failed inside the server|Internal error", re.IGNORECASE)

TEXTS = (
    "", " ", "\x00", "a\x00b", "\x1b[31mred\x1b[0m", "\u202egnp.exe", "\ud800", "a\udfffb", "\ufeff", "\u2066x\u2069",
    "\U000e0041\U000e0042", "é" * 50, "文" * 40, "用户喜欢深色主题", "👩\u200d👩\u200d👧",
    "\n\r\t", "%s%n{0}{x}", "'; DROP TABLE memories; --",
    "NaN", "null", "[]", "{}", "[1,", '{"a":', "1e999", "-0", "*", "**", "?", "/(a+)+$/", "/[/", "/x/gimsuy",
    "../../etc/passwd",
    "current.task", "a.b.c", "2026-02-30T25:61:00Z", "2026-01-01T00:00:00Z", "9999-12-31", "0000-00-00", "true",
    "x => x",
    "while (true) {}", "messages[0].content.match(/a/)", "throw 1", "(" * 500, '"' * 99,
    "NOT AND OR NEAR(", "a* -b ^c :d", "ghp_" + "a1B2" * 9,
)  # fmt: skip

NUMBERS = (0, 1, -1, 2, 5, 1.5, -0.0, 1e308, 2**31, 2**53 + 1, 2**63 - 1, 2**63, -(2**63) - 1, 10**40, 0.1)

WORDS = "deploy staging port 5432 rollback Friday ledger 数据库 部署 café naïve".split()


def run(chance: random.Random, goes: Goes, folder: Path, calls: int = CALLS) -> list[Tally]:
    tally = Tally("random arguments")
    db = folder / "memory.db"
    server = Server(db, folder)
    tools = server.request("tools/list", {})["result"]["tools"]
    made = 0
    try:
        while goes():
            tally.rounds += 1
            for number in range(calls):
                tool = tools[number % len(tools)] if number < len(tools) else chance.choice(tools)
                _call(server, tool, made, chance, tally)
                made += 1
            for _ in range(LINES):
                _line(server, f"line {made}", chance, tally)
                made += 1
            if server.request("ping", {}).get("result") != {}:
                tally.other.append("a ping was not answered")
            tally.damaged += [f"round {tally.rounds}: {problem}" for problem in problems(db)]
    except (Gone, Silent) as error:
        tally.other.append(f"the server ended or is silent: {error}")
    tally.other += [f"answers nothing that was asked: {line}" for line in server.strays]
    if server.leave() != 0:
        tally.other.append(f"the server ended with {server.process.returncode}")
    tally.other += traceback_in(server)
    tally.notes.append(f"{made} messages to {len(tools)} tools")
    return [tally]


def _call(server: Server, tool: dict[str, Any], id: int, chance: random.Random, tally: Tally) -> None:
    arguments = _arguments(tool["inputSchema"], chance)
    name = tool["name"] if chance.random() > 0.02 else chance.choice(TEXTS)
    params: Any = {"name": name, "arguments": arguments}
    if chance.random() < 0.02:
        params = {"name": name, "arguments": _value({}, chance, 2)}
    said = json.dumps({"jsonrpc": "2.0", "id": f"call {id}", "method": "tools/call", "params": params})
    try:
        answer = server.exchange(said.encode() + b"\n", f"call {id}")
    except Gone:
        tally.other.append(f"the server ended at {said[:500]}")
        raise
    tally.other += [f"{fault}: {said[:400]}" for fault in _faults(answer, tool)]
    tally.acknowledged += not ("error" in answer or answer["result"].get("isError") or tool_reads(tool))


def tool_reads(tool: dict[str, Any]) -> bool:
    return bool(tool["annotations"]["readOnlyHint"])


def _line(server: Server, id: str, chance: random.Random, tally: Tally) -> None:
    """A line that is no proper request; its id is still to be found in it."""
    quoted = json.dumps(id)
    deep = chance.choice([100, 250, 5000])
    hidden = json.dumps("\u202e\x1b[1m\U000e0041")
    line = chance.choice(
        [
            f'{{"jsonrpc":"2.0","id":{quoted},"method":"tools/call","params":{{"name":"memory_store","arguments":{{"metadata":'
            + "[" * deep + "]" * deep + "}}}",
            f'{{"jsonrpc":"2.0","id":{quoted},"method":"tools/call","params":' + "[" * deep,
            f'{{"jsonrpc":"1.0","id":{quoted},"method":"ping"}}',
            f'{{"jsonrpc":"2.0","id":{quoted},"method":{hidden}}}',
            f'{{"jsonrpc":"2.0","id":{quoted},"method":"nothing/here","params":{{}}}}',
            f'{{"jsonrpc":"2.0","id":{quoted},"method":5}}',
            f'{{"jsonrpc":"2.0","id":{quoted},"method":"tools/call","params":7}}',
            f'{{"jsonrpc":"2.0","id":{quoted},"method":"tools/call"}}',
            f'{{"jsonrpc":"2.0","id":{quoted},"method":"tools/call","params":{{"name":{hidden},"arguments":{{}}}}}}',
            f'{{"jsonrpc":"2.0","id":{quoted},"method":"tools/call","params":{{"name":null,"arguments":null}}}}',
            f'{{"jsonrpc":"2.0","id":{quoted},"method":"tools/list","params":{{"cursor":{hidden}}}}}',
            f'{{"jsonrpc":"2.0","id":{quoted},"method":"resources/read","params":{{"uri":{hidden}}}}}',
            f'{{"jsonrpc":"2.0","id":{quoted},"method":"prompts/get","params":{{"name":{hidden}}}}}',
            f'{{"jsonrpc":"2.0","id":{quoted},"method":"ping","params":{{"x":NaN}}}}',
            f'{{"jsonrpc":"2.0","id":{quoted},"method":"ping","params":{{"x":"\\ud800"}}}}',
            f'{{"jsonrpc":"2.0","id":{quoted},"method":"ping","params":{{"x":1e999,"y":' + "9" * 5000 + "}}",
            f'{{"jsonrpc":"2.0","id":{quoted},"method":"tools/call","params":{{"name":"memory_get","arguments":{{"ids":[1]}}}}',
        ]
    )  # fmt: skip
    raw = line.encode()
    if chance.random() < 0.2:
        raw = raw.replace(b'"method"', b'"m\xff\xfe":1,"method"', 1)
    try:
        answer = server.exchange(raw + b"\n", id)
    except Gone:
        tally.other.append(f"the server ended at {raw[:300]!r}")
        raise
    except Silent:
        tally.other.append(f"no answer to {raw[:300]!r}")
        return
    tally.other += [f"{fault}: {raw[:300]!r}" for fault in _faults(answer, None)]


def _faults(answer: Message, tool: dict[str, Any] | None) -> list[str]:
    found = []
    if answer.get("jsonrpc") != "2.0" or ("result" in answer) == ("error" in answer):
        found.append(f"no JSON-RPC answer: {str(answer)[:300]}")
    if "error" in answer:
        error = answer["error"]
        if not isinstance(error.get("code"), int) or not isinstance(error.get("message"), str):
            found.append(f"no JSON-RPC error: {str(error)[:300]}")
        told = f"{error.get('message')} {json.dumps(error.get('data'), ensure_ascii=False)}"
    elif answer.get("result", {}).get("isError"):
        told = "\n".join(str(part["text"]) for part in answer["result"]["content"])
        if not told.strip():
            found.append("an empty error")
    else:
        return found + (_unlike(answer["result"], tool) if tool is not None else [])
    if HIDDEN.search(told):
        found.append(f"hidden characters in {told[:300]!r}")
    if INTERNAL.search(told):
        found.append(f"an internal error: {told[:300]}")
    return found


def _unlike(result: dict[str, Any], tool: dict[str, Any]) -> list[str]:
    """How an answer differs from what the tool's schema says."""
    structured = result.get("structuredContent")
    found = []
    try:
        jsonschema.validate(structured, tool["outputSchema"])
    except jsonschema.ValidationError as error:
        found.append(f"{tool['name']} answers what its schema does not say ({error.message[:200]})")
    if json.loads(result["content"][0]["text"]) != structured:
        found.append(f"{tool['name']} says one thing as text and another as structure")
    return found


def _arguments(schema: dict[str, Any], chance: random.Random) -> dict[str, Any]:
    properties: dict[str, Any] = schema.get("properties", {})
    needed = schema.get("required", [])
    bad = chance.choice([0.0, 0.1, 0.5])
    given = {}
    for name, each in properties.items():
        wanted = 0.97 if name in needed else 0.35
        if chance.random() < wanted:
            given[name] = _value({}, chance, 3) if chance.random() < bad else _fitting(each, chance, name)
    if chance.random() < bad / 3:
        given[chance.choice(TEXTS)] = _value({}, chance, 2)
    return given


def _fitting(schema: dict[str, Any], chance: random.Random, name: str) -> Any:
    """A value that the schema allows, now and then only just not."""
    if "enum" in schema:
        return chance.choice(schema["enum"])
    kind = schema.get("type")
    if isinstance(kind, list):
        kind = chance.choice(kind)
    match kind:
        case "integer":
            return chance.choice(
                [chance.randint(schema.get("minimum", 1) - 1, schema.get("maximum", 30) + 1), 1]
            )
        case "number":
            return chance.choice([0, 0.5, 1, chance.uniform(-0.1, 1.1)])
        case "boolean":
            return chance.random() < 0.5
        case "array" if "essages" in name:
            return [_message(chance) for _ in range(chance.randrange(1, 4))]
        case "array":
            size = chance.randrange(0, schema.get("maxItems", 4) + 2)
            return [_fitting(schema.get("items", {}), chance, name) for _ in range(size)]
        case "object":
            return {_text(chance, 20): _value({}, chance, 3) for _ in range(chance.randrange(3))}
        case _:
            return _text(chance, schema.get("maxLength", 300))


def _message(chance: random.Random) -> dict[str, Any]:
    message: dict[str, Any] = {
        "role": chance.choice(["user", "assistant", _text(chance, 20)]),
        "content": _text(chance, 400),
    }
    if chance.random() < 0.3:
        message["timestamp"] = chance.choice([*TEXTS[-15:], 1767225600, 1e18, -1, None])
    return message


def _text(chance: random.Random, longest: int) -> str:
    way = chance.random()
    if way < 0.4:
        return " ".join(chance.choices(WORDS, k=chance.randrange(1, 12)))
    if way < 0.8:
        return chance.choice(TEXTS)
    if way < 0.9:
        return chance.choice(["a", "文", "\u202e", "👩"]) * (longest + chance.choice([-1, 0, 1]))
    return "".join(
        chr(chance.choice([chance.randrange(0x20), chance.randrange(0x3000), chance.randrange(0x110000)]))
        for _ in range(chance.randrange(40))
    )


def _value(schema: dict[str, Any], chance: random.Random, depth: int) -> Any:
    """Anything at all."""
    kinds: list[Any] = [None, True, chance.choice(NUMBERS), _text(chance, 100), chance.choice(TEXTS)]
    if depth:
        kinds += [
            [_value(schema, chance, depth - 1) for _ in range(chance.randrange(4))],
            {_text(chance, 10): _value(schema, chance, depth - 1) for _ in range(chance.randrange(4))},
            _nested(chance.choice([5, 30, 120, 190])),
            "x" * chance.choice([1000, 20_000, 300_000]),
            list(range(chance.choice([50, 5000]))),
        ]
    return chance.choice(kinds)


def _nested(depth: int) -> Any:
    value: Any = 1
    for level in range(depth):
        value = [value] if level % 2 else {"k": value}
    return value
