"""The only name server of a rehearsal: it knows no host, and notes which ones were asked for.

A box without settings for names asks 127.0.0.1, as every resolver does by default. So programs need
no proxy settings, which would change how they reach servers of their own.
"""

import asyncio
import socket
from contextlib import suppress

# A command can make up names without end.
_MOST_NAMES = 100
_MOST_BYTES = 512
_HEADER_BYTES = 12
_LONGEST_LABEL = 63
# A response, to a question that recursion was desired for, and that is refused.
_REFUSED = b"\x81\x05"


class NameRecorder:
    """Answers every question with a refusal; `asked` are the names, in the order of asking."""

    def __init__(self) -> None:
        self._asked: dict[str, None] = {}

    @property
    def asked(self) -> tuple[str, ...]:
        return tuple(self._asked)

    def serve(self, line: socket.socket) -> None:
        """Answer on this socket from now on, until it is closed."""
        line.setblocking(False)
        asyncio.get_running_loop().add_reader(line, self._answer, line)

    def leave(self, line: socket.socket) -> None:
        self._answer(line)
        asyncio.get_running_loop().remove_reader(line)

    def _answer(self, line: socket.socket) -> None:
        with suppress(BlockingIOError):
            for _ in range(_MOST_NAMES):
                question, caller = line.recvfrom(_MOST_BYTES)
                name = read_name(question)
                if name is None:
                    continue
                if len(self._asked) < _MOST_NAMES:
                    self._asked[name] = None
                with suppress(OSError):
                    line.sendto(_refusal(question), caller)


def read_name(question: bytes) -> str | None:
    """The name in a DNS question; None where there is none that a host could have."""
    labels: list[str] = []
    at = _HEADER_BYTES
    while at < len(question) and (length := question[at]):
        label = question[at + 1 : at + 1 + length]
        if length > _LONGEST_LABEL or len(label) < length:
            return None
        labels.append(label.decode("ascii", "replace").lower())
        at += 1 + length
    name = ".".join(labels)
    is_host = all(letter.isalnum() or letter in "-._" for letter in name) and name.isascii()
    return name if name and is_host and at < len(question) else None


def _refusal(question: bytes) -> bytes:
    end = _HEADER_BYTES
    while question[end]:
        end += 1 + question[end]
    # The name's end, and its type and class behind it; no answers and nothing further.
    return question[:2] + _REFUSED + b"\0\1\0\0\0\0\0\0" + question[_HEADER_BYTES : end + 5]
