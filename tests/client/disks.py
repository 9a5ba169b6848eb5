"""The disk under a journal: what the next life finds on it, and how it can fail us."""

import errno
import os
import threading
from pathlib import Path

import pytest

from handrail.client.journal import Entry, Journal


def next_life(folder: Path) -> list[Entry]:
    """What the next process finds in this one's journal."""
    return Journal(folder).entries


def refuse_to_keep(monkeypatch: pytest.MonkeyPatch) -> None:
    """From now on the disk promises nothing."""

    def refuse(descriptor: int) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(os, "fsync", refuse)


class SlowDisk:
    """From now on the disk takes until `let_go` to keep what it is given."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch):
        self.busy, self._free = threading.Event(), threading.Event()
        monkeypatch.setattr(os, "fsync", self._keep)

    def let_go(self) -> None:
        self._free.set()

    def _keep(self, descriptor: int) -> None:
        self.busy.set()
        self._free.wait(10)
