"""The maker as its client sees it: overlays are mounted by it, and boxes started in them."""

import asyncio
import json
import os
import signal
import socket
import struct
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from handrail.core.errors import CommandExecutionError
from handrail.executors.commands.starting import KEEPER
from handrail.executors.processes.pipes import Streams
from handrail.executors.sandbox.box import Launch, in_memory

_PROGRAM = Path(__file__).with_name("overlay_program.py")
_PATIENCE_SECONDS = 20.0
_MOST_WORDS_BYTES = 1_000
# The kernel passes 253 in one message, of which the order and the report need two.
_MOST_DESCRIPTORS = 250
_DESCRIPTOR = struct.Struct("i")
_DONE = b"\0"


class Layers(NamedTuple):
    """The folders of an overlay: `lowers` from the topmost to the workspace itself.

    Without an `upper`, nothing can be written through it.
    """

    lowers: Sequence[str]
    upper: str = ""
    work: str = ""


class Maker:
    """One process for a client. It is started when it is first needed, and again if it has died.

    `generation` counts these starts: what an earlier one had mounted is gone. Use it in the thread
    of one event loop only; the process ends with that thread. Should it not, its environment names
    its `keeper`, as that of every other program does.
    """

    def __init__(self, keeper: str = ""):
        self.generation = 0
        self._environment = {KEEPER: keeper} if keeper else {}
        self._process: subprocess.Popen[bytes] | None = None
        self._line: socket.socket | None = None
        self._busy = asyncio.Lock()

    @property
    def pid(self) -> int | None:
        return None if self._process is None else self._process.pid

    async def ensure(self) -> int:
        """Have a living process; the answer is its generation.

        Raises:
            CommandExecutionError: There can be none on this machine.
        """
        async with self._busy:
            if self._process is None or self._process.poll() is not None:
                self.close()
                await self._begin()
            return self.generation

    async def mount_memory(self, at: str, most_bytes: int, most_files: int) -> int:
        """Mount a file system in memory, visible to the maker only; its root as a descriptor."""
        [fd] = await self._order("memory", at=at, bytes=most_bytes, inodes=most_files)
        return fd

    async def mount_overlay(self, layers: Layers, at: str, options: str = "") -> int:
        """Mount an overlay, visible to the maker only; the merged root as a descriptor.

        Raises:
            CommandExecutionError: The kernel refuses it; the message says why.
        """
        found = os.stat(layers.lowers[-1], follow_symlinks=False)
        words = layers._asdict() | {"identity": [found.st_dev, found.st_ino], "options": options}
        [fd] = await self._order("overlay", at=at, **words)
        return fd

    async def unmount(self, at: str) -> None:
        await self._order("unmount", at=at)

    def start(self, launch: Launch, streams: Streams, *, view: str, root: str) -> "BoxProcess":
        """Start bubblewrap where the overlay mounted at `view` lies over the workspace's root.

        What the box binds of the workspace is opened there once more, so that it leads into the
        overlay.
        """
        bound = set(launch.bound.values())
        given = [fd for fd in launch.fds if fd not in bound]
        words = {"argv": launch.argv, "view": view, "root": root}
        words |= {"held": dict(launch.bound), "numbers": [0, 1, 2, *given]}
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            try:
                self._send(words, [theirs.fileno(), *streams, *given])
            except BaseException:
                ours.close()
                raise
        return BoxProcess(ours)

    def close(self) -> None:
        """End the process, and with it every box that it has started."""
        if self._line is not None:
            self._line.close()
            self._line = None
        if self._process is not None:
            # It kills its children one by one, which nobody could do after it.
            try:
                self._process.wait(_PATIENCE_SECONDS)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
            self._process = None

    def _spawn(self) -> tuple[subprocess.Popen[bytes], socket.socket]:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        ours.setblocking(False)
        with theirs:
            process = subprocess.Popen(
                [sys.executable, "-I", "-S", str(_PROGRAM), str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd="/",
                env=self._environment,
                start_new_session=True,
            )
        return process, ours

    async def _begin(self) -> None:
        self._process, self._line = self._spawn()
        said, _ = await self._hear()
        if said == b"entered":
            _map_ids(self._process.pid)
            self._line.send(b"mapped")
            said, _ = await self._hear()
        if said != b"ready":
            self.close()
            why = said.decode(errors="replace") or "the program did not run"
            raise CommandExecutionError(f"no namespace for overlays could be made: {why}")
        self.generation += 1

    async def _order(self, do: str, **words: object) -> list[int]:
        await self.ensure()
        async with self._busy:
            self._send({"do": do, **words}, [])
            said, fds = await self._hear()
        if said != _DONE:
            why = said.decode(errors="replace") or "the process that mounts has died"
            raise CommandExecutionError(f"no overlay could be made: {why}")
        return fds

    def _send(self, words: Mapping[str, object], fds: Sequence[int]) -> None:
        """An order with descriptors is one to start a box."""
        if self._line is None:
            raise CommandExecutionError("the process that mounts overlays has died; try again")
        if len(fds) > _MOST_DESCRIPTORS:
            raise CommandExecutionError("a rehearsal cannot be given that many files at once")
        text = json.dumps(words).encode()
        try:
            with in_memory(text) as order:
                socket.send_fds(self._line, [_DONE], [order, *fds])
        except OSError as error:
            raise CommandExecutionError(
                f"the process that mounts overlays does not respond: {error.strerror}"
            ) from error

    async def _hear(self) -> tuple[bytes, list[int]]:
        line = self._line
        if line is None:
            return b"", []
        try:
            async with asyncio.timeout(_PATIENCE_SECONDS):
                await _readable(line.fileno())
            return receive(line)
        except (OSError, TimeoutError):
            return b"", []


class BoxProcess:
    """bubblewrap as the maker's child. The maker reports its start and its end over a socket.

    `names` becomes the socket by which the box's network asks for the addresses of hosts.
    """

    def __init__(self, report: socket.socket):
        loop = asyncio.get_running_loop()
        self.returncode: int | None = None
        self.names: asyncio.Future[socket.socket | None] = loop.create_future()
        self._pidfd = -1
        self._is_stopped = False
        self._ended = asyncio.Event()
        self._report = report
        report.setblocking(False)
        loop.add_reader(report, self._hear)

    async def wait(self) -> None:
        await self._ended.wait()

    def kill(self) -> None:
        self._signal(signal.SIGKILL)

    def stop(self) -> None:
        """Have bubblewrap notice nothing, not even the end of what it runs, until `resume`."""
        self._is_stopped = True
        self._signal(signal.SIGSTOP)

    def resume(self) -> None:
        if self._is_stopped:
            self._is_stopped = False
            self._signal(signal.SIGCONT)

    def close(self) -> None:
        asyncio.get_running_loop().remove_reader(self._report)
        self._report.close()
        if self.names.done() and (names := self.names.result()) is not None:
            names.close()
        if self._pidfd >= 0:
            os.close(self._pidfd)
            self._pidfd = -1

    def _signal(self, number: int) -> None:
        with suppress(ProcessLookupError):
            if self._pidfd >= 0:
                signal.pidfd_send_signal(self._pidfd, number)

    def _hear(self) -> None:
        try:
            said, fds = receive(self._report)
        except BlockingIOError:
            return
        except OSError:
            said, fds = b"", []
        match said[:5], fds:
            case b"start", [fd]:
                self._pidfd = fd
            case b"names", [fd]:
                self.names.set_result(socket.socket(fileno=fd))
            case b"ended", []:
                self._end(_DESCRIPTOR.unpack(said[5:])[0])
            case _:
                # The maker has died, and its boxes with it.
                self._end(-signal.SIGKILL)

    def _end(self, code: int) -> None:
        asyncio.get_running_loop().remove_reader(self._report)
        self.returncode = code if self.returncode is None else self.returncode
        if not self.names.done():
            self.names.set_result(None)
        self._ended.set()


def receive(line: socket.socket) -> tuple[bytes, list[int]]:
    """A message and the descriptors in it, which no other program inherits."""
    room = socket.CMSG_LEN(4 * _DESCRIPTOR.size)
    said, gifts, _, _ = line.recvmsg(_MOST_WORDS_BYTES, room, socket.MSG_CMSG_CLOEXEC)
    fds = [
        fd
        for level, kind, data in gifts
        if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS)
        for (fd,) in _DESCRIPTOR.iter_unpack(data)
    ]
    return said, fds


async def _readable(fd: int) -> None:
    loop = asyncio.get_running_loop()
    ready = asyncio.Event()
    loop.add_reader(fd, ready.set)
    try:
        await ready.wait()
    finally:
        loop.remove_reader(fd)


def _map_ids(pid: int) -> None:
    """Map the ids of this machine to themselves: all of them as root, else our own.

    Files of an id that is not mapped cannot be written through an overlay.
    """
    for name, own in (("uid", os.geteuid()), ("gid", os.getegid())):
        with open(f"/proc/self/{name}_map", encoding="ascii") as file:
            ranges = [line.split() for line in file]
        everybody = "".join(f"{first} {first} {count}\n" for first, _, count in ranges)
        for words in (everybody, f"{own} {own} 1\n"):
            try:
                if name == "gid" and words != everybody:
                    Path(f"/proc/{pid}/setgroups").write_text("deny", encoding="ascii")
                Path(f"/proc/{pid}/{name}_map").write_text(words, encoding="ascii")
            except OSError:
                continue
            break
