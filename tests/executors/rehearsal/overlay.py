"""A real overlay for a moment: in a child with a mount namespace of its own.

The standard library alone is used here: an ordinary user's Python may have nothing else.
"""

import ctypes
import os
import pickle
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

_NEW_MOUNTS, _NEW_USER = 0x00020000, 0x10000000
_PRIVATE, _RECURSIVE = 1 << 18, 1 << 14
_libc = ctypes.CDLL(None, use_errno=True)


def in_child(work: Callable[[], Any]) -> Any:
    """The result of a function that runs in a forked child; None where the child was killed."""
    read_fd, write_fd = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            answer: tuple[Any, str] = work(), ""
        except BaseException:
            answer = None, traceback.format_exc()
        with os.fdopen(write_fd, "wb") as stream:
            pickle.dump(answer, stream)
        os._exit(0)
    os.close(write_fd)
    with os.fdopen(read_fd, "rb") as stream:
        told = stream.read()
    _, status = os.waitpid(pid, 0)
    if os.WIFSIGNALED(status):
        return None
    result, failure = pickle.loads(told)
    assert not failure, failure
    return result


def rehearse(base: Path, work: Callable[[], Any]) -> Any:
    """Run a function in a child whose folder is an overlay of `base`/ws with the upper `base`/u."""

    def inside() -> Any:
        mount(base)
        os.chdir(base / "merged")
        return work()

    make_layers(base)
    return in_child(inside)


def make_layers(base: Path) -> None:
    for name in ("ws", "u", "w", "merged"):
        (base / name).mkdir(exist_ok=True)


def mount(base: Path) -> None:
    """Show the overlay at `base`/merged to this process alone."""
    own_mounts()
    options = f"lowerdir={base}/ws,upperdir={base}/u,workdir={base}/w,userxattr"
    target = os.fsencode(base / "merged")
    _check(_libc.mount(b"overlay", target, b"overlay", 0, options.encode()))


def own_mounts() -> None:
    """Let this process mount what no other one sees."""
    uid, gid = os.geteuid(), os.getegid()
    _check(_libc.unshare(_NEW_MOUNTS | (_NEW_USER if uid else 0)))
    if uid:
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{uid} {uid} 1")
        Path("/proc/self/gid_map").write_text(f"{gid} {gid} 1")
    _check(_libc.mount(b"none", b"/", None, _PRIVATE | _RECURSIVE, None))


def _check(failed: int) -> None:
    if failed:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def main(base: str, line: str) -> None:
    """Run a line of shell in the overlay."""
    mount(Path(base))
    os.chdir(Path(base) / "merged")
    os.execv("/bin/sh", ["sh", "-ec", line])


if __name__ == "__main__":
    main(*sys.argv[1:])
