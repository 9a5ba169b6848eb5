"""Landlock: the kernel keeps a process, and all it starts, to the files that are named here.

It needs neither a helper nor namespaces. It knows no exceptions: what is allowed of a folder is
allowed of everything below it.
"""

import ctypes
import os
import platform
import stat
import struct
from collections.abc import Iterable
from contextlib import suppress
from enum import IntFlag
from typing import NamedTuple

# The same on every machine that Linux runs on.
_CREATE, _ADD = 444, 445
_ASK_VERSION = 1
_BENEATH = 1
_TCP = 0b11
_SCOPES = 0b11
# Before this one, files could be cut short wherever they were.
OLDEST_VERSION = 3


class Right(IntFlag):
    """What can be done with a file, or below a folder, in the kernel's order."""

    EXECUTE = 1 << 0
    WRITE_FILE = 1 << 1
    READ_FILE = 1 << 2
    READ_DIR = 1 << 3
    REMOVE_DIR = 1 << 4
    REMOVE_FILE = 1 << 5
    MAKE_CHAR = 1 << 6
    MAKE_DIR = 1 << 7
    MAKE_REG = 1 << 8
    MAKE_SOCK = 1 << 9
    MAKE_FIFO = 1 << 10
    MAKE_BLOCK = 1 << 11
    MAKE_SYM = 1 << 12
    REFER = 1 << 13
    TRUNCATE = 1 << 14
    IOCTL_DEV = 1 << 15


LOOK = Right.READ_FILE | Right.READ_DIR
RUN = LOOK | Right.EXECUTE
_DEVICES = Right.MAKE_CHAR | Right.MAKE_BLOCK | Right.IOCTL_DEV
EVERYTHING = ~_DEVICES & Right((1 << 16) - 1)
_OF_A_FILE = Right.EXECUTE | Right.WRITE_FILE | Right.READ_FILE | Right.TRUNCATE | Right.IOCTL_DEV
# Each version of the kernel's interface has learned to refuse more.
_SINCE = {Right.REFER: 2, Right.TRUNCATE: 3, Right.IOCTL_DEV: 5}


class Allowed(NamedTuple):
    path: str
    rights: Right


def version() -> int:
    """Of the kernel's interface; 0 where there is none."""
    if platform.system() != "Linux":
        return 0
    found = _libc().syscall(_CREATE, None, ctypes.c_size_t(0), _ASK_VERSION)
    return max(0, found)


def make_ruleset(allowed: Iterable[Allowed]) -> int:
    """A descriptor of rules by which nothing else can be done; who holds it can take them on.

    What does not exist is left out.

    Raises:
        OSError: The kernel does not take them.
    """
    known = version()
    handled = Right((1 << 16) - 1)
    for right, since in _SINCE.items():
        handled &= handled if known >= since else ~right
    fd = _create(handled, known)
    try:
        for path, rights in allowed:
            with suppress(FileNotFoundError, NotADirectoryError):
                _add(fd, path, rights & handled)
    except BaseException:
        os.close(fd)
        raise
    return fd


def _create(handled: Right, known: int) -> int:
    attributes = struct.pack("QQQ", handled, _TCP if known >= 4 else 0, _SCOPES)
    size = 24 if known >= 6 else 16 if known >= 4 else 8
    return _checked(_libc().syscall(_CREATE, attributes, ctypes.c_size_t(size), 0))


def _add(ruleset_fd: int, path: str, rights: Right) -> None:
    fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        if not stat.S_ISDIR(os.fstat(fd).st_mode):
            rights &= _OF_A_FILE
        attributes = struct.pack("=Qi", rights, fd)
        if rights:
            _checked(_libc().syscall(_ADD, ruleset_fd, _BENEATH, attributes, 0))
    finally:
        os.close(fd)


def _checked(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)
