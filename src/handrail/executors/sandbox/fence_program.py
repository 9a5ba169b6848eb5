"""A program of its own: starts one that takes on the rules it was handed and becomes the command.

Rules hold for a process and what it starts, and cannot be taken off; so they are put on here, and
not in Handrail itself. It is started with nothing but the standard library, so it imports nothing
of ours. What goes wrong before the command begins is said on standard error, and nothing is run.

It stays outside of the rules itself. Whoever the command leaves behind comes to it, under whatever
session and environment, and is ended with the command, or when Handrail ends.
"""

import ctypes
import os
import resource
import signal
import struct
import sys
import time
from collections.abc import Iterator
from contextlib import suppress

_SET_DEATH_SIGNAL, _SET_REAPER, _SET_NO_NEW_PRIVILEGES = 1, 36, 38
_ADD, _RESTRICT = 445, 446
_BENEATH = 1
_LOOK = 0b1100
_SECCOMP = {"x86_64": 317, "aarch64": 277}
_SET_FILTER = 1
_STEP_BYTES = 8
_COULD_NOT = 125
_BY_SIGNAL = 128
_DEATH = signal.SIGUSR1
# What is meant for the whole group is for the command.
_FOR_THE_COMMAND = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT)
_MOST_SECONDS = 4.0
_FASTEST = -20


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("steps", ctypes.c_char_p))


def main(ruleset_fd: str, filter_fd: str, limits: str, *argv: str) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    _check(libc.prctl(_SET_REAPER, 1, 0, 0, 0))
    signal.signal(_DEATH, _end)
    _check(libc.prctl(_SET_DEATH_SIGNAL, _DEATH, 0, 0, 0))
    for number in _FOR_THE_COMMAND:
        signal.signal(number, signal.SIG_IGN)
    command = os.fork()
    if command == 0:
        for number in (*_FOR_THE_COMMAND, _DEATH):
            signal.signal(number, signal.SIG_DFL)
        _become(libc, int(ruleset_fd), int(filter_fd), limits, argv)
    _keep(command, [int(ruleset_fd), int(filter_fd)])


def _become(
    libc: ctypes.CDLL, ruleset_fd: int, filter_fd: int, limits: str, argv: tuple[str, ...]
) -> None:
    with open(filter_fd, "rb") as file:
        steps = file.read()
    for limit in filter(None, limits.split(",")):
        name, _, value = limit.partition("=")
        _limit(getattr(resource, name), int(value))
    _check(libc.prctl(_SET_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0))
    _check(libc.prctl(_SET_NO_NEW_PRIVILEGES, 1, 0, 0, 0))
    _allow_itself(libc, ruleset_fd)
    _check(libc.syscall(_RESTRICT, ruleset_fd, 0))
    os.close(ruleset_fd)
    program = _Program(len(steps) // _STEP_BYTES, steps)
    number = _SECCOMP[os.uname().machine]
    _check(libc.syscall(number, _SET_FILTER, 0, ctypes.byref(program)))
    os.execv(argv[0], argv)  # noqa: S606


def _keep(command: int, fds: list[int]) -> None:
    """Wait for the command, end all that it has left, and end as it did."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(nothing, fd)
    for fd in (nothing, *fds):
        os.close(fd)
    while True:
        ended, status = os.wait()
        if ended == command:
            break
    _end_the_others()
    code = os.waitstatus_to_exitcode(status)
    if code < 0:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if -code not in (signal.SIGKILL, signal.SIGSTOP):
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code if code >= 0 else _BY_SIGNAL - code)


def _end(*_: object) -> None:
    _end_the_others()
    os._exit(_COULD_NOT)


def _end_the_others() -> None:
    """Those whom one leaves behind that is ended come to us in turn.

    Each is ended as soon as it is found, and without a pause: who starts others is faster than any
    list of them. There is nobody left when the system knows of none.
    """
    # It is not everybody's to be faster than others.
    with suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, 0, _FASTEST)
    end = time.monotonic() + _MOST_SECONDS
    while time.monotonic() < end:
        for pid in _children():
            os.kill(pid, signal.SIGKILL)
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return


def _children() -> Iterator[int]:
    """Nobody else ends and buries them, so their numbers stay theirs."""
    own = os.getpid()
    # Not every system keeps such a list.
    with suppress(FileNotFoundError), open(f"/proc/{own}/task/{own}/children", "rb") as file:
        yield from map(int, file.read().split())
        return
    for name in filter(str.isdecimal, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat", "rb") as file:
                parent = int(file.read().rpartition(b")")[2].split()[1])
        except OSError:
            continue
        if parent == own:
            yield int(name)


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
