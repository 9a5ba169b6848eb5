"""A socket that listens inside a box, and is held outside of it.

A box with a network of its own can reach nothing but what listens in that network. So that is
where the proxy listens, while it serves from here.
"""

import os
import socket
import struct
import subprocess
import sys
from pathlib import Path

from handrail.core.errors import CommandExecutionError

PROXY_PORT = 3128

_PROGRAM = Path(__file__).with_name("listener_program.py")
_PATIENCE_SECONDS = 10.0
_MOST_WORDS_BYTES = 1_000
_DESCRIPTOR = struct.Struct("i")


def listen_inside(pid: int, port: int = PROXY_PORT) -> socket.socket:
    """A socket that listens on 127.0.0.1 in the network of another process.

    Blocks while a small program does it, for some hundredths of a second.

    Raises:
        CommandExecutionError: There is no such socket; the message says why.
    """
    if sys.platform != "linux":
        raise CommandExecutionError("a box with a network of its own needs Linux")
    network_fd = _open_network(pid)
    try:
        return _have_it_made(network_fd, port)
    finally:
        os.close(network_fd)


def _open_network(pid: int) -> int:
    try:
        fd = os.open(f"/proc/{pid}/ns/net", os.O_RDONLY | os.O_CLOEXEC)
    except OSError as error:
        why = f"the network of process {pid} cannot be opened: {error.strerror}"
        raise CommandExecutionError(why) from error
    if _is_ours(fd):
        os.close(fd)
        raise CommandExecutionError(
            f"process {pid} has no network of its own; a proxy there would be open to every "
            f"program here"
        )
    return fd


def _is_ours(network_fd: int) -> bool:
    found, own = os.fstat(network_fd), os.stat("/proc/self/ns/net")
    return (found.st_dev, found.st_ino) == (own.st_dev, own.st_ino)


def _have_it_made(network_fd: int, port: int) -> socket.socket:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours:
        with theirs:
            words = map(str, (network_fd, theirs.fileno(), port))
            maker = subprocess.Popen(
                [sys.executable, "-I", "-S", str(_PROGRAM), *words],
                pass_fds=(network_fd, theirs.fileno()),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd="/",
                env={},
            )
        try:
            return _take_over(ours)
        finally:
            maker.kill()
            maker.wait()


def _take_over(line: socket.socket) -> socket.socket:
    line.settimeout(_PATIENCE_SECONDS)
    room = socket.CMSG_LEN(_DESCRIPTOR.size)
    try:
        # Not to be inherited by what another thread starts in this moment. (`socket.recv_fds`
        # takes the flag as well, and forgets it.)
        said, gifts, _, _ = line.recvmsg(_MOST_WORDS_BYTES, room, socket.MSG_CMSG_CLOEXEC)
    except OSError as error:
        raise CommandExecutionError(f"no socket came out of the box: {error}") from error
    for level, kind, data in gifts:
        if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
            return socket.socket(fileno=_DESCRIPTOR.unpack(data)[0])
    why = said.decode(errors="replace") or "the program that makes it did not run"
    raise CommandExecutionError(f"no socket could be made in the box: {why}")
