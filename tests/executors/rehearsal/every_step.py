"""kill -9 before every single step of an apply and of an undo, each over all kinds of changes.

A program of its own: it forks, and prints what it found as JSON.
"""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from handrail.core.effects import Effects
from handrail.executors.rehearsal.apply import apply
from handrail.executors.rehearsal.effects import Reading, read_effects
from handrail.executors.rehearsal.undo import UndoStore
from tests.executors.rehearsal.overlay import rehearse
from tests.executors.rehearsal.rounds import Manifest, clear, kill_at, manifest


def furnish() -> None:
    """The workspace before the command."""
    for folder in ("gone/deep", "becomes file", "locked", "opened"):
        os.makedirs(folder)
    for name in ("changed", "gone/deep/a", "becomes file/a", "becomes folder", "locked/a", "mode"):
        Path(name).write_text(name)
    os.symlink("changed", "link")
    for name in ("changed", "mode", "kept"):
        Path(name).touch()
        os.link(name, f"{name} too")
    os.chmod("opened", 0o555)


def command() -> Manifest:
    Path("changed").write_text("otherwise")
    shutil.rmtree("gone")
    shutil.rmtree("becomes file")
    Path("becomes file").write_text("file")
    Path("becomes folder").unlink()
    os.makedirs("becomes folder/new")
    Path("becomes folder/new/a").write_text("a")
    os.setxattr("becomes folder", "user.mine", b"1")
    Path("locked/a").write_text("changed")
    os.chmod("locked", 0o555)
    os.chmod("opened", 0o755)
    Path("opened/a").write_text("a")
    os.unlink("link")
    os.symlink("mode", "link")
    os.chmod("mode", 0o755)
    return manifest(".")


class Steps:
    """A workspace that is laid out afresh for each step."""

    def __init__(self, base: Path):
        self.base, self.root = base, base / "again"
        here = os.getcwd()
        (base / "ws").mkdir(parents=True)
        os.chdir(base / "ws")
        furnish()
        os.chdir(here)
        self.after: Manifest = rehearse(base, command)
        self.before = manifest(str(base / "ws"))
        self.upper_fd = os.open(base / "u", os.O_RDONLY)
        self.wrong: list[str] = []
        self.ends: list[str] = []

    def kill_everywhere(self, stride: int, *, undo: bool) -> int:
        """How many kills there were until the work was done before its kill came."""
        step = 1
        while self._kill(step, undo=undo):
            step += stride
        return step // stride

    def _kill(self, step: int, *, undo: bool) -> bool:
        # Hard links as well.
        subprocess.run(["cp", "-a", self.base / "ws", self.root], check=True)
        root_fd = os.open(self.root, os.O_RDONLY)
        store = UndoStore(root_fd, b"key")
        reading = Reading(time.time_ns() + 1_000_000_000)
        effects = read_effects(root_fd, self.upper_fd, reading)
        work = self._work(store, effects, undo=undo)
        killed = kill_at(step, work) is None
        begun = self._is_begun(undo=undo)
        store.resume()
        self._check(f"{'undo' if undo else 'apply'} at {step}", is_forward=begun is not undo)
        os.close(root_fd)
        clear(self.root)
        return killed

    def _work(self, store: UndoStore, effects: Effects, *, undo: bool) -> Callable[[], Any]:
        if not undo:
            return lambda: apply(store, "call", effects, self.upper_fd)
        apply(store, "call", effects, self.upper_fd)
        return lambda: store.undo("call")

    def _is_begun(self, *, undo: bool) -> bool:
        """Whether the commit point was passed: by the state, which goes with an undone set."""
        files = (self.root / ".handrail/undo").glob("*/state.json")
        states = [json.loads(file.read_text())["state"] for file in files]
        return states != ["applied"] if undo else bool(states)

    def _is_emptied(self) -> bool:
        """Whether nothing is kept but the word that the set was undone, if it ever was applied."""
        return all(
            json.loads((folder / "state.json").read_text())["state"] == "undone"
            for folder in (self.root / ".handrail/undo").glob("*/")
        )

    def _check(self, what: str, *, is_forward: bool) -> None:
        expected, found = (self.after if is_forward else self.before), manifest(str(self.root))
        self.ends.append("after" if is_forward else "before")
        left = [str(file) for file in (self.root / ".handrail/undo").glob("*/*")]
        if found != expected or (not is_forward and not self._is_emptied()):
            unlike = [key for key in {*found, *expected} if found.get(key) != expected.get(key)]
            self.wrong.append(f"{what}: {unlike} {left}")


if __name__ == "__main__":
    steps = Steps(Path(sys.argv[1]) / "steps")
    stride = int(sys.argv[2])
    kills = [steps.kill_everywhere(stride, undo=undo) for undo in (False, True)]
    ends = {end: steps.ends.count(end) for end in ("before", "after")}
    print(json.dumps({"kills": kills, "wrong": steps.wrong, "ends": ends}))
