"""A program of its own: opens a socket in the network of a box and hands it to who started it.

Only a process with a single thread may step into another user namespace, and Handrail has many.
It is started with nothing but the standard library, so it imports nothing of ours.
"""

import ctypes
import fcntl
import os
import socket
import sys

_NS_GET_USERNS = 0xB701
_CLONE_NEWUSER = 0x10000000
_CLONE_NEWNET = 0x40000000
_BACKLOG = 128


def main(network_fd: int, line_fd: int, port: int) -> None:
    with socket.socket(fileno=line_fd) as line:
        try:
            _enter(network_fd)
            with _listen(port) as listening:
                socket.send_fds(line, [b"here it is"], [listening.fileno()])
        except OSError as error:
            line.send(str(error).encode())


def _enter(network_fd: int) -> None:
    # Not the user namespace in which the box's process is now: it may have gone one deeper, and
    # who is there has no power over the network.
    owner_fd: int = fcntl.ioctl(network_fd, _NS_GET_USERNS)
    if os.fstat(owner_fd).st_ino != os.stat("/proc/self/ns/user").st_ino:
        _setns(owner_fd, _CLONE_NEWUSER)
    _setns(network_fd, _CLONE_NEWNET)


def _setns(fd: int, kind: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.setns(fd, kind) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"the namespace could not be entered: {os.strerror(number)}")


def _listen(port: int) -> socket.socket:
    # A box may bring up its loopback only later; binding to it works before that as well.
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listening.bind(("127.0.0.1", port))
    listening.listen(_BACKLOG)
    return listening


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
