"""A workspace, and commands that run in a real overlay of it."""

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from handrail.core.effects import Effects
from handrail.executors.rehearsal.apply import apply
from handrail.executors.rehearsal.effects import Reading, read_effects
from handrail.executors.rehearsal.undo import UndoStore
from tests.executors.rehearsal import overlay
from tests.executors.rehearsal.rounds import clear

# All files of a test were made a moment ago; as if the command had begun after that.
LATER_NS = 1_000_000_000


class Workbench:
    """Runs lines of shell over a workspace and reads what they would change."""

    def __init__(self, base: Path):
        self.base = base
        overlay.make_layers(base)
        self.root, self.upper = base / "ws", base / "u"
        self.root_fd, self.upper_fd = (os.open(one, os.O_RDONLY) for one in (self.root, self.upper))
        self.store = UndoStore(self.root_fd, b"key")

    def run(self, line: str) -> None:
        done = subprocess.run(
            [sys.executable, "-S", overlay.__file__, str(self.base), line],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr

    def read(self, start_ns: int | None = None, **how: Any) -> Effects:
        reading = Reading(start_ns or time.time_ns() + LATER_NS, **how)
        return read_effects(self.root_fd, self.upper_fd, reading)

    def effects_of(self, line: str, **how: Any) -> Effects:
        self.run(line)
        return self.read(**how)

    def kinds_of(self, line: str) -> dict[str, str]:
        effects = self.effects_of(line)
        assert not effects.refusals
        return {change.path: str(change.kind) for change in effects.changes}

    def apply(self, effects: Effects, call: str = "call") -> None:
        apply(self.store, call, effects, self.upper_fd)

    def apply_line(self, line: str, call: str) -> None:
        """Rehearse a line over the workspace as it is now, and apply it."""
        for name in ("u", "w"):
            clear(self.base / name)
        overlay.make_layers(self.base)
        os.close(self.upper_fd)
        self.upper_fd = os.open(self.upper, os.O_RDONLY)
        self.apply(self.effects_of(line), call)

    def files(self) -> dict[str, str]:
        """All files of the workspace that are not Handrail's own."""
        return {
            str(path.relative_to(self.root)): path.read_text()
            for path in sorted(self.root.rglob("*"))
            if path.is_file() and ".handrail" not in path.parts
        }

    def close(self) -> None:
        os.close(self.root_fd)
        os.close(self.upper_fd)
