"""Reading server-sent events out of pieces of a stream."""

from dataclasses import dataclass

from handrail.core.errors import HandrailError

_MAX_EVENT_BYTES = 64_000_000
_MOST_DIGITS = 18
_GREETING = b": handrail "


@dataclass(frozen=True, slots=True)
class ServerEvent:
    id: int | None
    name: str
    data: bytes


class SseParser:
    """Takes bytes as they come, gives whole events as soon as they are there."""

    def __init__(self) -> None:
        self._rest = b""
        # What the server has said in its first comment.
        self.wire_version: str | None = None

    def feed(self, piece: bytes) -> list[ServerEvent]:
        # A carriage return at the very end may belong to the line feed that is still to come.
        text = self._rest + piece
        held = b"\r" if text.endswith(b"\r") else b""
        text = text.removesuffix(b"\r").replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        *blocks, rest = text.split(b"\n\n")
        self._rest = rest + held
        if len(self._rest) > _MAX_EVENT_BYTES:
            raise HandrailError("an event without an end; is this a Handrail server?")
        if blocks and blocks[0].startswith(_GREETING):
            said = blocks[0].removeprefix(_GREETING).partition(b"\n")[0]
            self.wire_version = said.decode(errors="replace")
        return [event for block in blocks if (event := _read(block)) is not None]


def _read(block: bytes) -> ServerEvent | None:
    number: int | None = None
    name, data = "message", list[bytes]()
    for line in block.split(b"\n"):
        field, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        match field:
            case b"id" if value.isdigit() and len(value) <= _MOST_DIGITS:
                number = int(value)
            case b"event":
                name = value.decode(errors="replace")
            case b"data":
                data.append(value)
            case _:
                pass  # A comment, or a field of a later day.
    # A number alone is news too: from here on the stream can be resumed.
    return ServerEvent(number, name, b"\n".join(data)) if data or number is not None else None
