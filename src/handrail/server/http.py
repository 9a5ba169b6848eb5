"""HTTP itself: refuses a request that is malformed, has no end or stops arriving."""

import asyncio
from dataclasses import dataclass
from enum import Enum, auto
from http import HTTPStatus
from typing import Any

from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import ServerState

from handrail.server.errors import BAD_INPUT, HEAD_TOO_LARGE, TIMEOUT, Kind, problem

MOST_HEAD_BYTES = 64_000


@dataclass(frozen=True, slots=True)
class Timeouts:
    """How long a request may take to arrive.

    A head has `head_seconds` from the connection or from its first byte. A body may take any time,
    as long as `body_bytes` of it arrive every `body_seconds`.
    """

    head_seconds: float = 15.0
    body_seconds: float = 60.0
    body_bytes: int = 1_000


class _Part(Enum):
    """The part of a request that has not arrived completely."""

    HEAD = auto()
    BODY = auto()
    NONE = auto()


class StrictHttp(HttpToolsProtocol):
    """Bounds the size of a head, which the parser does not, and the time of a whole request."""

    _begun = False
    _moved_on = False
    _head_bytes = 0
    _body_bytes = 0
    # A connection is opened in order to send a head.
    _part = _Part.HEAD
    _timer: asyncio.TimerHandle | None = None

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
        *,
        timeouts: Timeouts,
    ):
        super().__init__(config, server_state, app_state, _loop)
        self._timeouts = timeouts

    def connection_made(  # pyright: ignore[reportIncompatibleMethodOverride]
        self, transport: asyncio.Transport
    ) -> None:
        super().connection_made(transport)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        self._unwatch()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self._moved_on = False
        super().data_received(data)
        self._watch()
        # A piece in which something ended belongs to that; what follows it there is short enough.
        if self._moved_on or self._part is _Part.BODY or self.transport.is_closing():
            self._head_bytes = 0
            return
        self._head_bytes += len(data)
        if self._head_bytes > MOST_HEAD_BYTES:
            words = f"address and headers have more than the {MOST_HEAD_BYTES:,} bytes allowed"
            self._refuse(HEAD_TOO_LARGE, words)

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._part, self._begun = _Part.HEAD, True

    def on_headers_complete(self) -> None:
        super().on_headers_complete()
        self._arrived(_Part.BODY)

    def on_body(self, body: bytes) -> None:
        super().on_body(body)
        self._body_bytes += len(body)

    def on_message_complete(self) -> None:
        super().on_message_complete()
        self._arrived(_Part.NONE)

    def _arrived(self, next_part: _Part) -> None:
        self._part, self._moved_on = next_part, True
        self._unwatch()

    def _watch(self) -> None:
        """Limit the time of the part that has begun to arrive."""
        if self._timer is not None or self._part is _Part.NONE or self.transport.is_closing():
            return
        self._body_bytes = 0
        in_head = self._part is _Part.HEAD
        seconds = self._timeouts.head_seconds if in_head else self._timeouts.body_seconds
        self._timer = self.loop.call_later(seconds, self._end_if_stalled)

    def _unwatch(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _end_if_stalled(self) -> None:
        self._timer = None
        in_head = self._part is _Part.HEAD
        if not self._is_stalled():
            self._watch()
        elif not self._begun or (not in_head and self.cycle.response_started):
            # Nothing was asked, or the answer is on its way already.
            self.transport.close()
        elif in_head:
            limit = f"{self._timeouts.head_seconds:g} seconds"
            self._refuse(TIMEOUT, f"address and headers have not arrived within {limit}")
        else:
            limit = f"{self._timeouts.body_seconds:g} seconds"
            self._refuse(TIMEOUT, f"the body has stopped arriving for {limit}")

    def _is_stalled(self) -> bool:
        """Whether it is the caller that keeps the request from arriving, and not the server."""
        if self._part is _Part.HEAD:
            # An earlier request is answered first, such as one that waits for the end of a call.
            return not self.cycle or self.cycle.response_complete
        if self.flow.read_paused or self.cycle.waiting_for_100_continue:
            return False
        return self._body_bytes < self._timeouts.body_bytes

    def send_400_response(self, msg: str) -> None:
        words = "this is not an HTTP request; check its first line, its address and its headers"
        self._refuse(BAD_INPUT, words)

    def _refuse(self, kind: Kind, words: str) -> None:
        answer = problem(kind, words)
        answer.headers["connection"] = "close"
        lines = [f"HTTP/1.1 {kind.status} {HTTPStatus(kind.status).phrase}".encode()]
        lines += [name + b": " + value for name, value in answer.raw_headers]
        self.transport.write(b"\r\n".join([*lines, b"", bytes(answer.body)]))
        self.transport.close()
        if self.cycle and not self.cycle.response_complete:
            # This was the answer; the application may stop waiting for the rest of the body.
            self.cycle.disconnected = True
            self.cycle.message_event.set()
