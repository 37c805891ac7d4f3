"""A stand-in for the API of a model, on this machine: it answers "done" to everything and keeps what it was asked.

It may call tools first.
"""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

ANSWER = "done"

Arguments = dict[str, Any] | Callable[[dict[str, Any]], dict[str, Any]]


class Stub(ThreadingHTTPServer):
    """`asked` are the bodies of the requests to the model, in their order; `calls` are the names and arguments of the
    tools that it still calls, in the first request that offers the first of them; a function makes arguments of it."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.asked: list[dict[str, Any]] = []
        self.calls: list[tuple[str, Arguments]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def results(self) -> list[str]:
        """Return what the tools answered, as the model read it."""
        messages = [message for request in self.asked for message in request.get("messages", [])]
        blocks = [
            block
            for message in messages
            if isinstance(message["content"], list)
            for block in message["content"]
        ]
        texts = [json.dumps(block["content"]) for block in blocks if block["type"] == "tool_result"]
        return list(dict.fromkeys(texts))


@contextmanager
def model_stub() -> Iterator[Stub]:
    server = Stub()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    """The APIs that the clients speak: Anthropic's messages, OpenAI's responses and its chat completions, and Google's
    generateContent.
    """

    server: Stub

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def do_GET(self) -> None:
        self._json({"object": "list", "data": [{"id": "stub", "object": "model"}], "models": []})

    do_HEAD = do_GET

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))) or b"{}")
        if "count_tokens" in self.path:
            self._json({"input_tokens": 100})
            return
        self.server.asked.append(asked)
        if "enerateContent" in self.path:
            self._generate(asked)
        elif "/messages" in self.path:
            self._messages(asked)
        elif "/responses" in self.path:
            self._responses(asked)
        else:
            self._completions(asked)

    def _messages(self, asked: dict[str, Any]) -> None:
        usage = {"input_tokens": 1, "output_tokens": 1}
        whole = {
            "id": "m1",
            "type": "message",
            "role": "assistant",
            "model": "stub",
            "stop_sequence": None,
            "usage": usage,
        }
        text = {"type": "text", "text": ANSWER}
        if not asked.get("stream"):
            self._json({**whole, "stop_reason": "end_turn", "content": [text]})
            return
        block: dict[str, Any]
        block, delta = {**text, "text": ""}, {"type": "text_delta", "text": ANSWER}
        calls = self._next_call([tool.get("name") for tool in asked.get("tools", [])], asked)
        if calls:
            name, arguments = calls
            block = {"type": "tool_use", "id": f"call{len(self.server.asked)}", "name": name, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(arguments)}
        reason = {"stop_reason": "tool_use" if calls else "end_turn", "stop_sequence": None}
        self._events(
            {"type": "message_start", "message": {**whole, "stop_reason": None, "content": []}},
            {"type": "content_block_start", "index": 0, "content_block": block},
            {"type": "content_block_delta", "index": 0, "delta": delta},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": reason, "usage": usage},
            {"type": "message_stop"},
        )

    def _next_call(self, offered: list[Any], asked: dict[str, Any]) -> tuple[str, dict[str, Any]] | None:
        """Take the next call where its tool is offered."""
        if not self.server.calls or self.server.calls[0][0] not in offered:
            return None
        name, arguments = self.server.calls.pop(0)
        return name, arguments(asked) if callable(arguments) else arguments

    def _responses(self, asked: dict[str, Any]) -> None:
        said = [{"type": "output_text", "text": ANSWER, "annotations": []}]
        item = {"type": "message", "id": "i1", "role": "assistant", "status": "completed", "content": said}
        spaces = {
            tool["name"]: space["name"] for space in asked.get("tools", []) for tool in space.get("tools", [])
        }
        plain = [tool["name"] for tool in asked.get("tools", []) if tool.get("type") == "function"]
        if call := self._next_call([*spaces, *plain], asked):
            name, arguments = call
            item = {
                "type": "function_call",
                "id": "i1",
                "call_id": f"call{len(self.server.asked)}",
                **({"namespace": spaces[name]} if name in spaces else {}),
                "name": name,
                "arguments": json.dumps(arguments),
            }
        usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
        whole = {"id": "r1", "object": "response", "status": "completed", "output": [item], "usage": usage}
        self._events(
            {"type": "response.created", "response": {**whole, "status": "in_progress", "output": []}},
            {"type": "response.output_item.done", "output_index": 0, "item": item},
            {"type": "response.completed", "response": whole},
        )

    def _completions(self, asked: dict[str, Any]) -> None:
        whole = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "stub"}
        if not asked.get("stream"):
            message = {"role": "assistant", "content": ANSWER}
            self._json({**whole, "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]})
            return
        delta: dict[str, Any] = {"role": "assistant", "content": ANSWER}
        reason = "stop"
        if call := self._next_call([tool["function"]["name"] for tool in asked.get("tools", [])], asked):
            function = {"name": call[0], "arguments": json.dumps(call[1])}
            id = f"call{len(self.server.asked)}"
            delta["tool_calls"] = [{"index": 0, "id": id, "type": "function", "function": function}]
            reason = "tool_calls"
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        self._events(
            {**whole, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]},
            {**whole, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}], "usage": usage},
            None,
        )

    def _generate(self, asked: dict[str, Any]) -> None:
        part: dict[str, Any] = {"text": ANSWER}
        declared = [
            tool for tools in asked.get("tools", []) for tool in tools.get("functionDeclarations", [])
        ]
        if call := self._next_call([tool["name"] for tool in declared], asked):
            part = {"functionCall": {"name": call[0], "args": call[1]}}
        candidate = {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}
        whole = {"candidates": [candidate], "usageMetadata": {"promptTokenCount": 1, "totalTokenCount": 2}}
        if "stream" in self.path:
            self._events(whole)
        else:
            self._json(whole)

    def _json(self, value: object) -> None:
        body = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _events(self, *events: dict[str, Any] | None) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        for event in events:
            named = f"event: {event['type']}\n" if event and "type" in event else ""
            data = "[DONE]" if event is None else json.dumps(event)
            self.wfile.write(f"{named}data: {data}\n\n".encode())
        self.close_connection = True
