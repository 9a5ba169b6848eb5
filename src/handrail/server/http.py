"""HTTP itself: what is none, or has no end, is told so in the one form of our problems."""

from http import HTTPStatus

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from handrail.server.errors import BAD_INPUT, HEAD_TOO_LARGE, Kind, problem

MOST_HEAD_BYTES = 64_000


class StrictHttp(HttpToolsProtocol):
    """Bounds the head of a request, which the parser would keep in memory whatever its size."""

    _in_head = True
    _moved_on = False
    _head_bytes = 0

    def data_received(self, data: bytes) -> None:
        self._moved_on = False
        super().data_received(data)
        # A piece in which something ended belongs to that; what follows it there is short enough.
        if self._moved_on or not self._in_head or self.transport.is_closing():
            self._head_bytes = 0
            return
        self._head_bytes += len(data)
        if self._head_bytes > MOST_HEAD_BYTES:
            words = f"address and headers have more than the {MOST_HEAD_BYTES:,} bytes we take"
            self._refuse(HEAD_TOO_LARGE, words)

    def on_headers_complete(self) -> None:
        super().on_headers_complete()
        self._in_head, self._moved_on = False, True

    def on_message_complete(self) -> None:
        super().on_message_complete()
        self._in_head, self._moved_on = True, True

    def send_400_response(self, msg: str) -> None:
        words = "this is no HTTP request; look at its first line, its address and its headers"
        self._refuse(BAD_INPUT, words)

    def _refuse(self, kind: Kind, words: str) -> None:
        answer = problem(kind, words)
        answer.headers["connection"] = "close"
        lines = [f"HTTP/1.1 {kind.status} {HTTPStatus(kind.status).phrase}".encode()]
        lines += [name + b": " + value for name, value in answer.raw_headers]
        self.transport.write(b"\r\n".join([*lines, b"", bytes(answer.body)]))
        self.transport.close()
