"""The line between `handrail draft` and the client that runs its program: a socket in our folder.

The order comes with the three streams of the program. Then both sides send lines of JSON.
"""

import array
import asyncio
import json
import os
import socket
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

from handrail.core.errors import CommandExecutionError
from handrail.executors.agents.programs import Program
from handrail.executors.processes.memory import in_memory
from handrail.executors.processes.pipes import Streams

_STREAMS = 3
_SECONDS = 10.0
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_MOST_LINE_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Order:
    """The program to run: `name` as the person has typed it, and the `program` that it names.

    It starts in a `folder` of the workspace, by its path from the root.
    """

    session_id: str
    call_id: str
    name: str
    program: Program
    arguments: tuple[str, ...]
    variables: Mapping[str, str]
    folder: str = "."
    hosts: tuple[str, ...] = ()
    terminal: bool = False

    def as_json(self) -> bytes:
        return json.dumps(asdict(self)).encode()

    @classmethod
    def from_json(cls, text: bytes) -> Self:
        told: dict[str, Any] = json.loads(text)
        program: dict[str, Any] = told.pop("program")
        found = Program(program["path"], tuple(program["shown"]), tuple(program["folders"]))
        arguments, hosts = tuple(told.pop("arguments")), tuple(told.pop("hosts"))
        return cls(**told, program=found, arguments=arguments, hosts=hosts)


class AgentLine:
    """One side of the line, after the order."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter):
        self._reader = reader
        self._writer = writer

    @classmethod
    async def over(cls, line: socket.socket) -> Self:
        return cls(*await asyncio.open_connection(sock=line, limit=_MOST_LINE_BYTES))

    async def send(self, **words: object) -> None:
        """Send a message; the other side may have gone, which `receive` tells."""
        with suppress(OSError):
            self._writer.write(json.dumps(words).encode() + b"\n")
            await self._writer.drain()

    async def receive(self) -> dict[str, Any] | None:
        """The next message; None once the other side has gone."""
        try:
            return json.loads(await self._reader.readuntil(b"\n"))
        except (OSError, EOFError, ValueError):
            return None

    def close(self) -> None:
        self._writer.close()


@contextmanager
def short_name(path: Path) -> Generator[str]:
    """A name for a socket that is not too long for one."""
    fd = os.open(path.parent, _FOLDER)
    try:
        yield f"/proc/self/fd/{fd}/{path.name}"
    finally:
        os.close(fd)


def open_line(path: Path, order: Order, streams: Streams) -> socket.socket:
    """Send an order to the client that listens at a path; blocks for a moment.

    Raises:
        CommandExecutionError: No client listens there.
    """
    line = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        with short_name(path) as name, in_memory(order.as_json()) as text:
            line.connect(name)
            socket.send_fds(line, [b"\0"], [text, *streams])
    except OSError as error:
        line.close()
        raise CommandExecutionError(
            "the client of this folder on this machine cannot run programs in drafts "
            f"({error.strerror}); `handrail doctor` says why, or restart it"
        ) from error
    line.setblocking(False)
    return line


async def take_order(line: socket.socket) -> tuple[Order, Streams]:
    """Receive an order and the streams of the program, which the caller closes.

    Raises:
        OSError: No order came in time.
        ValueError: It cannot be read.
    """
    return await asyncio.to_thread(_receive, line)


def _receive(line: socket.socket) -> tuple[Order, Streams]:
    text, *streams = _receive_fds(line)
    try:
        with open(text, "rb") as file:
            return Order.from_json(file.read()), Streams(*streams)
    except BaseException:
        for fd in streams:
            os.close(fd)
        raise


def _receive_fds(line: socket.socket) -> list[int]:
    line.settimeout(_SECONDS)
    fds = array.array("i")
    room = socket.CMSG_LEN((_STREAMS + 1) * fds.itemsize)
    _, gifts, _, _ = line.recvmsg(1, room, socket.MSG_CMSG_CLOEXEC)
    for level, kind, data in gifts:
        if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
            fds.frombytes(data[: len(data) - len(data) % fds.itemsize])
    line.setblocking(False)
    if len(fds) != _STREAMS + 1:
        for fd in fds:
            os.close(fd)
        raise ValueError("an order comes with three streams")
    return list(fds)
