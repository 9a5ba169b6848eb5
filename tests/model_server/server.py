"""A model's server that plays a script: real sockets, real SDKs, no model.

It speaks Anthropic's messages and OpenAI's chat completions, whole and streamed, and refuses what
the real ones refuse. `python -m tests.model_server SCRIPT` runs it as a process of its own.
"""

import hashlib
import json
import threading
from collections import Counter
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from handrail.agent.providers.script import Failure, Script, tokens_in
from handrail.core.errors import NotFound
from tests.model_server.anthropic_wire import WIRE as ANTHROPIC
from tests.model_server.openai_wire import WIRE as OPENAI
from tests.model_server.played import Body, Event, Unfit, Wire, after

_WIRES = {"/v1/messages": ANTHROPIC, "/v1/chat/completions": OPENAI}


@dataclass(frozen=True)
class Request:
    """One request as it came in, the step of the script it got, and how often it had come."""

    path: str
    headers: dict[str, str]
    body: Body
    step: int | None = None
    attempt: int = 0


class ModelServer(ThreadingHTTPServer):
    """Plays a script to whoever asks. With a `key`, it answers nobody who has another."""

    daemon_threads = True
    block_on_close = False

    def __init__(
        self, script: Script, *, port: int = 0, key: str | None = None, record: Path | None = None
    ):
        super().__init__(("127.0.0.1", port), _Handler)
        self.script = script
        self.key = key
        self.requests: list[Request] = []
        self.stopping = threading.Event()
        self._record = record
        self._attempts: Counter[str] = Counter()
        self._busy = threading.Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def note(self, path: str, headers: dict[str, str], body: Body, step: int | None) -> int:
        """Keep a request, and say how often the same one has come before."""
        whole = json.dumps([path, body.get("messages")], sort_keys=True)
        name = hashlib.sha256(whole.encode()).hexdigest()
        with self._busy:
            attempt = self._attempts[name]
            self._attempts[name] += 1
            request = Request(path, headers, body, step, attempt)
            self.requests.append(request)
            if self._record is not None:
                with self._record.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(asdict(request)) + "\n")
        return attempt


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: ModelServer  # pyright: ignore[reportIncompatibleVariableOverride]

    def log_message(self, format: str, *args: Any) -> None:
        """What was asked is kept by the server; nothing is printed."""

    def do_HEAD(self) -> None:
        self._answer(200, b"")

    def do_GET(self) -> None:
        if urlsplit(self.path).path != "/v1/models":
            self._answer_json(404, OPENAI.error(404, f"there is nothing at {self.path}"))
            return
        model = {"id": "scripted", "type": "model", "object": "model", "owned_by": "handrail"}
        shown = {"display_name": "Scripted", "created_at": "2026-01-01T00:00:00Z", "created": 0}
        page = {"object": "list", "has_more": False, "first_id": "scripted", "last_id": "scripted"}
        self._answer_json(200, {**page, "data": [{**model, **shown}]})

    def do_POST(self) -> None:
        path = urlsplit(self.path).path
        data = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        counting = path == "/v1/messages/count_tokens"
        wire = ANTHROPIC if counting else _WIRES.get(path)
        if wire is None:
            self._answer_json(404, OPENAI.error(404, f"there is nothing at {path}"))
            return
        try:
            body = json.loads(data)
        except ValueError:
            self._answer_json(400, wire.error(400, "the body is no JSON"))
            return
        if self.server.key is not None and not self._has_key(self.server.key):
            self.server.note(path, dict(self.headers), body, None)
            self._answer_json(401, wire.error(401, "invalid api key"))
        elif counting:
            self.server.note(path, dict(self.headers), body, None)
            self._answer_json(200, {"input_tokens": tokens_in([json.dumps(body)])})
        else:
            self._play(wire, path, body)

    def _has_key(self, key: str) -> bool:
        sent = self.headers.get("Authorization", "").removeprefix("Bearer ")
        return key in (sent, self.headers.get("X-Api-Key"))

    def _play(self, wire: Wire, path: str, body: Body) -> None:
        try:
            asked = wire.check(body)
            step = asked.step(self.server.script)
        except (Unfit, NotFound, KeyError, TypeError, AttributeError) as error:
            self.server.note(path, dict(self.headers), body, None)
            self._answer_json(400, wire.error(400, f"{error}"))
            return
        attempt = self.server.note(path, dict(self.headers), body, asked.replies)
        failure = step.failures[attempt] if attempt < len(step.failures) else Failure()
        if self._fail(wire, failure):
            return
        if not body.get("stream"):
            self._answer_json(200, wire.whole(step, asked, body))
            return
        trouble = wire.error_event(failure.kind or "", failure.message)
        self._stream(after(failure, wire.events(step, asked, body), trouble))

    def _fail(self, wire: Wire, failure: Failure) -> bool:
        """Whether there is nothing more to be said."""
        if failure.seconds:
            self.server.stopping.wait(failure.seconds)
        if failure.status is not None:
            told = {"Retry-After": failure.retry_after, "Location": failure.location}
            headers = {name: value for name, value in told.items() if value is not None}
            self._answer_json(failure.status, wire.error(failure.status, failure.message), headers)
        elif failure.raw is not None:
            self._answer(200, failure.raw.encode())
        elif failure.drop:
            self.close_connection = True
        else:
            return False
        return True

    def _answer_json(self, status: int, body: Body, headers: dict[str, str] | None = None) -> None:
        self._answer(status, json.dumps(body).encode(), headers)

    def _answer(self, status: int, data: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", **(headers or {})}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _stream(self, events: Iterator[Event | None]) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self.close_connection = True
        try:
            for event in events:
                if event is None:
                    return
                self._send_event(*event)
            self.wfile.write(b"0\r\n\r\n")
        except (BrokenPipeError, ConnectionResetError):
            return  # Whoever asked has gone.

    def _send_event(self, name: str | None, data: Body | str) -> None:
        words = data if isinstance(data, str) else json.dumps(data)
        head = "" if name is None else f"event: {name}\n"
        event = f"{head}data: {words}\n\n".encode()
        self.wfile.write(b"%x\r\n%b\r\n" % (len(event), event))
        self.wfile.flush()


@contextmanager
def serving(
    script: Script, *, key: str | None = None, record: Path | None = None
) -> Generator[ModelServer]:
    """A server on a free port, for as long as the context is open."""
    with ModelServer(script, key=key, record=record) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.stopping.set()
            server.shutdown()
            thread.join(10)
