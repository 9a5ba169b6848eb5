"""Applying on a disk that has less and less room: all of it is applied, or nothing.

A program of its own: it mounts, and prints what it found as JSON.
"""

import ctypes
import json
import os
import sys
import time
from pathlib import Path

from handrail.core.errors import FileOperationError
from handrail.executors.rehearsal.apply import apply
from handrail.executors.rehearsal.effects import Reading, read_effects
from handrail.executors.rehearsal.undo import UndoStore
from tests.executors.rehearsal.overlay import in_child, own_mounts
from tests.executors.rehearsal.rounds import manifest

PAGE = 4096
PAGES = 24
_libc = ctypes.CDLL(None)


def try_with(base: Path, free: int) -> list[str]:
    """How an apply and its undo end where so many pages are free."""
    own_mounts()
    ws, upper = base / "ws", base / "u"
    options = f"size={PAGES * PAGE}".encode()
    assert _libc.mount(b"tmpfs", os.fsencode(ws), b"tmpfs", 0, options) == 0
    (ws / "a").write_text("old")
    (ws / "fill").write_bytes(b"x" * (PAGES - 1 - free) * PAGE)
    before = manifest(str(ws))
    root_fd, upper_fd = (os.open(one, os.O_RDONLY) for one in (ws, upper))
    effects = read_effects(root_fd, upper_fd, Reading(time.time_ns() + 1_000_000_000))
    store = UndoStore(root_fd, b"key")
    try:
        apply(store, "call", effects, upper_fd)
    except FileOperationError:
        return ["refused"] if manifest(str(ws)) == before and not store.undoable() else ["mixed"]
    told = ["applied" if (ws / "a").read_text() == "new" else "lost"]
    (ws / "fill").write_bytes(b"")
    store.undo("call")
    is_undone = (ws / "a").read_text() == "old" and not (ws / "b").exists()
    return [*told, "undone" if is_undone else "not undone"]


if __name__ == "__main__":
    base = Path(sys.argv[1])
    for name in ("ws", "u"):
        (base / name).mkdir()
    for name in ("a", "b"):
        (base / "u" / name).write_text("new")
    found = [in_child(lambda free=free: try_with(base, free)) for free in range(PAGES - 1)]
    print(json.dumps({"found": found}))
