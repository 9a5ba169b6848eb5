"""A program of its own: takes on the rules it was handed, then becomes the command.

Rules hold for a process and what it starts, and cannot be taken off; so they are put on here, and
not in Handrail itself. It is started with nothing but the standard library, so it imports nothing
of ours. What goes wrong before the command begins is said on standard error, and nothing is run.
"""

import ctypes
import os
import resource
import signal
import struct
import sys

_SET_DEATH_SIGNAL, _SET_NO_NEW_PRIVILEGES = 1, 38
_ADD, _RESTRICT = 445, 446
_BENEATH = 1
_LOOK = 0b1100
_SECCOMP = {"x86_64": 317, "aarch64": 277}
_SET_FILTER = 1
_STEP_BYTES = 8
_COULD_NOT = 125


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("steps", ctypes.c_char_p))


def main(ruleset_fd: str, filter_fd: str, limits: str, *argv: str) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    with open(int(filter_fd), "rb") as file:
        steps = file.read()
    for limit in filter(None, limits.split(",")):
        name, _, value = limit.partition("=")
        _limit(getattr(resource, name), int(value))
    _check(libc.prctl(_SET_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0))
    _check(libc.prctl(_SET_NO_NEW_PRIVILEGES, 1, 0, 0, 0))
    _allow_itself(libc, int(ruleset_fd))
    _check(libc.syscall(_RESTRICT, int(ruleset_fd), 0))
    os.close(int(ruleset_fd))
    program = _Program(len(steps) // _STEP_BYTES, steps)
    number = _SECCOMP[os.uname().machine]
    _check(libc.syscall(number, _SET_FILTER, 0, ctypes.byref(program)))
    os.execv(argv[0], argv)  # noqa: S606


def _allow_itself(libc: ctypes.CDLL, ruleset_fd: int) -> None:
    """Let it look at what the kernel tells of itself, and of no other process."""
    fd = os.open("/proc/self", os.O_PATH)
    rule = struct.pack("=Qi", _LOOK, fd)
    _check(libc.syscall(_ADD, ruleset_fd, _BENEATH, rule, 0))
    os.close(fd)


def _limit(which: int, value: int) -> None:
    """As low as that, or as low as it is already."""
    _, most = resource.getrlimit(which)
    value = value if most == resource.RLIM_INFINITY else min(value, most)
    resource.setrlimit(which, (value, value))


def _check(result: int) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except (OSError, KeyError, ValueError) as error:
        sys.stderr.write(f"it could not be started behind a fence: {error}\n")
        sys.exit(_COULD_NOT)
