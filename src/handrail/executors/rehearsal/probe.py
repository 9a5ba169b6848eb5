"""The probe of rehearsals: an overlay is mounted for real, and changes are tried through it."""

import os
import stat
import sys
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from handrail.core.errors import CommandExecutionError
from handrail.executors.rehearsal.overlay import Layers, Maker
from handrail.executors.rehearsal.session import lock_folder, remove_folder, sweep

_MOST_BYTES, _MOST_FILES = 1 << 20, 100
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_MARK, _ESCAPED = "user.overlay.opaque", "user.overlay.overlay.opaque"


@dataclass(frozen=True, slots=True)
class Proof:
    """Whether commands can be rehearsed on this machine; `why_not` is one sentence.

    Changes are kept `in_memory` where its file system can hold an overlay's upper directory, which
    needs Linux 6.6, and else on disk.
    """

    holds: bool
    why_not: str | None = None
    in_memory: bool = True


async def prove_rehearsals(maker: Maker, base: str | Path) -> Proof:
    """Try both places for changes; `base` is the folder in which sessions get theirs.

    It is run once, when a client starts, and removes what sessions before it have left there.
    """
    if sys.platform != "linux":
        return Proof(holds=False, why_not="overlays of a workspace need Linux")
    for folder in (Path(base).parent, Path(base)):
        folder.mkdir(0o700, exist_ok=True)
    sweep(base)
    why: str | None = None
    for in_memory in (True, False):
        why = await _why_not(maker, base, in_memory=in_memory)
        if why is None:
            return Proof(holds=True, in_memory=in_memory)
    return Proof(holds=False, why_not=f"commands cannot be rehearsed on this machine: {why}")


async def prove_drafts(maker: Maker, base: str | Path) -> str | None:
    """Why no changes can be kept on the disk of a folder; None if they can."""
    if (why := await _why_not(maker, base, in_memory=False)) is None:
        return None
    return f"drafts cannot be kept in {base}: {why}"


async def _why_not(maker: Maker, base: str | Path, *, in_memory: bool) -> str | None:
    with _own_folder(base) as folder:
        try:
            return await _try(maker, folder, in_memory=in_memory)
        except CommandExecutionError as error:
            return error.message
        except OSError as error:
            return f"a change through an overlay fails: {error.strerror}"


@contextmanager
def _own_folder(base: str | Path) -> Generator[str]:
    folder = tempfile.mkdtemp(prefix="probe-", dir=os.path.realpath(base))
    lock = lock_folder(folder)
    try:
        yield folder
    finally:
        remove_folder(folder)
        os.close(lock)


async def _try(maker: Maker, folder: str, *, in_memory: bool) -> str | None:
    """Mount one overlay and change files through it; why it does not hold, or None."""
    lower, layers, view = (os.path.join(folder, name) for name in ("lower", "layers", "view"))
    _prepare(lower, layers, view)
    if in_memory:
        layers_fd = await maker.mount_memory(layers, _MOST_BYTES, _MOST_FILES)
    else:
        layers_fd = os.open(layers, _FOLDER)
    try:
        for name in ("upper", "work"):
            os.mkdir(name, dir_fd=layers_fd)
        parts = Layers([lower], f"{layers}/upper", f"{layers}/work")
        view_fd = await maker.mount_overlay(parts, view)
        try:
            return _judge(lower, view_fd, layers_fd)
        finally:
            os.close(view_fd)
            await maker.unmount(view)
    finally:
        os.close(layers_fd)
        if in_memory:
            await maker.unmount(layers)


def _prepare(lower: str, layers: str, view: str) -> None:
    for path in (f"{lower}/kept", layers, view):
        os.makedirs(path)
    for name in ("changed", "deleted", "kept/file"):
        Path(lower, name).write_text("before", encoding="ascii")


def _judge(lower: str, view_fd: int, layers_fd: int) -> str | None:
    through = f"/proc/self/fd/{view_fd}"
    upper = f"/proc/self/fd/{layers_fd}/upper"
    with open(f"{through}/changed", "a", encoding="ascii") as file:
        file.write(" and after")
    os.unlink(f"{through}/deleted")
    os.setxattr(f"{through}/kept", _MARK, b"y")
    os.unlink(f"{through}/kept/file")
    os.rmdir(f"{through}/kept")
    os.mkdir(f"{through}/kept")
    os.mkdir(f"{through}/forged")
    os.setxattr(f"{through}/forged", _MARK, b"y")
    if sorted(os.listdir(lower)) != ["changed", "deleted", "kept"]:
        return "a change through the overlay reached the files below it"
    if Path(lower, "changed").read_text(encoding="ascii") != "before":
        return "a change through the overlay reached the files below it"
    if Path(upper, "changed").read_text(encoding="ascii") != "before and after":
        return "a changed file is not found in the upper directory"
    mark = os.stat(f"{upper}/deleted", follow_symlinks=False)
    if not (stat.S_ISCHR(mark.st_mode) and mark.st_rdev == 0):
        return "a deleted file leaves no mark of deletion"
    if os.listdir(f"{through}/kept") or os.getxattr(f"{upper}/kept", _MARK) != b"y":
        return "a folder that was replaced is not marked as opaque"
    if os.getxattr(f"{upper}/forged", _ESCAPED) != b"y":
        return "this kernel lets a command forge the marks of an overlay"
    return None
