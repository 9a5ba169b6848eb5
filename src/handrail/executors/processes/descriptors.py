"""Marking inherited file descriptors close-on-exec, so that no other program gets them from us."""

import ctypes
import os
import sys
from contextlib import suppress

# The same number on every architecture that Linux runs on.
_CLOSE_RANGE = 436
_CLOSE_RANGE_CLOEXEC = 4
_FIRST, _LAST = 3, 0xFFFF_FFFF
_OPEN_DESCRIPTORS = ("/proc/self/fd", "/dev/fd")


def keep_from_children() -> None:
    """Mark every descriptor but the three standard streams close-on-exec.

    Shells, job servers and supervisors leave descriptors open in what they start.
    """
    if sys.platform == "win32" or _close_range_on_exec():
        return
    for folder in filter(os.path.isdir, _OPEN_DESCRIPTORS):
        for fd in map(int, os.listdir(folder)):
            # The listing itself was one of them, and is closed by now.
            if fd >= _FIRST:
                with suppress(OSError):
                    os.set_inheritable(fd, False)
        return


def _close_range_on_exec() -> bool:
    """Try the system call, which Linux has since 5.11; a seccomp filter may forbid it."""
    if sys.platform != "linux":
        return False
    words = map(ctypes.c_long, (_CLOSE_RANGE, _FIRST, _LAST, _CLOSE_RANGE_CLOEXEC))
    return ctypes.CDLL(None).syscall(*words) == 0
