"""Random trees and random commands in a real overlay: applied equals shown, undone equals before.

A program of its own, so that an ordinary user can run it too; it prints what it found as JSON.
"""

import json
import os
import random
import shutil
import signal
import stat
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

from handrail.core.effects import Effects
from handrail.core.errors import PathValidationError
from handrail.executors.rehearsal.apply import apply
from handrail.executors.rehearsal.effects import Reading, read_effects
from handrail.executors.rehearsal.undo import UndoStore
from tests.executors.rehearsal.overlay import in_child, rehearse

_FILE_MODES = (0o644, 0o755, 0o600, 0o444, 0o500)
_FOLDER_MODES = (0o755, 0o700, 0o555, 0o500, 0o775)
_NAMES = ("a", "b", "c", "d", "é ü", "x'y\"z")
_ODD_NAMES = ("line\nfeed", "bell\a", "\udcff", "\u202ebidi")
_VERBS = (
    *("write", "write", "write", "append", "truncate", "remove", "remove tree", "make folder"),
    *("make folder", "move", "move", "hard link", "link", "chmod", "chmod", "touch", "copy tree"),
    *("xattr", "drop xattr", "empty again"),
)
# A step is a call that changes something on the disk; a kill comes right before it, or, for
# renames, which go by ctypes, right behind it. Between two steps nothing changes.
_STEPS = frozenset(
    (
        *("mkdir", "write", "unlink", "rmdir", "replace", "symlink", "setxattr", "removexattr"),
        *("utime", "chmod", "fchmod", "chown", "fsync"),
    )
)
_STEPS_BY_CTYPES = frozenset(("_renameat2", "sync_file_system"))
_OWN = ".handrail"

Manifest = dict[str, tuple[Any, ...]]


def act(rng: random.Random, count: int, *, odd: float = 0.0) -> None:
    """Do random things in the current folder; those that cannot be done are left out."""
    for _ in range(count):
        with suppress(OSError, shutil.Error, ValueError):
            _do(rng, rng.choice(_VERBS), _path(rng, odd), _path(rng, odd))
    if odd and rng.random() < 0.05:
        os.mkfifo("pipe")


def _path(rng: random.Random, odd: float) -> str:
    """Often a path that exists, or a new name in a folder that does."""
    path = ""
    for _ in range(rng.randint(1, 3)):
        below = sorted(os.listdir(path or ".")) if os.path.isdir(path or ".") else []
        names = below if below and rng.random() < 0.7 else _NAMES
        path = os.path.join(path, rng.choice(_ODD_NAMES if rng.random() < odd else names))
    return path


def _do(rng: random.Random, verb: str, one: str, other: str) -> None:
    if f"{os.path.realpath(other)}/".startswith(f"{os.path.realpath(one)}/"):
        # To copy a folder into itself has no end.
        return
    when = rng.randint(1, 2_000_000_000) * 1_000_000_000 + rng.randint(0, 999)
    text = f"{one} {rng.randint(0, 5)}"
    deeds: dict[str, Callable[[], object]] = {
        "write": lambda: Path(one).write_text(text, errors="surrogateescape"),
        "append": lambda: _append(one),
        "truncate": lambda: os.truncate(one, rng.randint(0, 2)),
        "remove": lambda: os.unlink(one),
        "remove tree": lambda: shutil.rmtree(one),
        "make folder": lambda: os.makedirs(one),
        "move": lambda: rng.choice((os.rename, shutil.move))(one, other),
        "hard link": lambda: os.link(one, other, follow_symlinks=False),
        "link": lambda: os.symlink(other, one),
        "touch": lambda: os.utime(one, ns=(when, when)),
        "copy tree": lambda: shutil.copytree(one, other, symlinks=True),
        "empty again": lambda: (shutil.rmtree(one), os.mkdir(one)),
    }
    deeds.get(verb, lambda: _change_attributes(rng, verb, one))()


def _append(path: str) -> None:
    with open(path, "a") as file:
        file.write("+")


def _change_attributes(rng: random.Random, verb: str, path: str) -> None:
    if os.path.islink(path):
        return
    if verb == "chmod":
        os.chmod(path, rng.choice(_FOLDER_MODES if os.path.isdir(path) else _FILE_MODES))
    elif verb == "xattr":
        os.setxattr(path, f"user.{rng.choice('pq')}", bytes([rng.randint(0, 3)]))
    else:
        os.removexattr(path, "user.p")


def manifest(root: str) -> Manifest:
    """Names, kinds, modes, targets, contents, extended attributes and hard links; times but those
    of folders, which change whenever a name in them does.
    """
    found: Manifest = {}
    names: defaultdict[tuple[int, int], list[str]] = defaultdict(list)
    for folder, folders, files in os.walk(root):
        for name in (*folders, *files):
            path = os.path.join(folder, name)
            key = os.path.relpath(path, root)
            if key == _OWN or key.startswith(f"{_OWN}/"):
                continue
            found[key] = _describe(path)
            told = os.lstat(path)
            if stat.S_ISREG(told.st_mode):
                names[told.st_dev, told.st_ino].append(key)
    for shared in names.values():
        for key in shared:
            found[key] = (*found[key], frozenset(shared) - {key})
    return found


def _describe(path: str) -> tuple[Any, ...]:
    told = os.lstat(path)
    if stat.S_ISLNK(told.st_mode):
        return "link", os.readlink(path), told.st_mtime_ns
    if not (stat.S_ISREG(told.st_mode) or stat.S_ISDIR(told.st_mode)):
        return ("special",)
    xattrs = sorted((name, os.getxattr(path, name)) for name in os.listxattr(path))
    mode = stat.S_IMODE(told.st_mode)
    if stat.S_ISDIR(told.st_mode):
        return "folder", mode, xattrs
    return "file", mode, xattrs, Path(path).read_bytes(), told.st_mtime_ns


def kill_at(step: int, work: Callable[[], Any]) -> Any:
    """Run a function in a child that kills itself at a step; None where it did."""

    def counted() -> Any:
        left = step

        def watch(frame: FrameType, event: str, called: Any) -> None:
            nonlocal left
            if event == "c_call":
                left -= called.__name__ in _STEPS
            elif event == "return":
                left -= frame.f_code.co_name in _STEPS_BY_CTYPES
            if left <= 0:
                os.kill(os.getpid(), signal.SIGKILL)

        sys.setprofile(watch)
        work()
        sys.setprofile(None)
        return True

    return in_child(counted)


@dataclass
class Rounds:
    """The findings of all rounds."""

    runs: int = 0
    kills: int = 0
    refused: int = 0
    wrong: list[str] = field(default_factory=list)
    kinds: Counter[str] = field(default_factory=Counter)


class Round:
    """One tree, one command, and both ways."""

    def __init__(self, base: Path, seed: int, rounds: Rounds):
        self.rng = random.Random(seed)
        self.base, self.seed, self.rounds = base, seed, rounds
        base.mkdir()
        (base / "ws").mkdir()
        self.root_fd, self.steps = -1, 0

    def run(self) -> None:
        here = os.getcwd()
        os.chdir(self.base / "ws")
        act(self.rng, 50)
        os.chdir(here)
        before = self.now()
        seed = self.rng.random()

        def command() -> Manifest:
            rng = random.Random(seed)
            act(rng, 30, odd=0.003)
            return manifest(".")

        shown = rehearse(self.base, command)
        if self.now() != before:
            self._wrong("the rehearsal changed the workspace")
        self.root_fd = os.open(self.base / "ws", os.O_RDONLY)
        upper_fd = os.open(self.base / "u", os.O_RDONLY)
        try:
            # Everything was made a moment ago; as if the command had begun after that.
            reading = Reading(time.time_ns() + 1_000_000_000)
            self._both_ways(read_effects(self.root_fd, upper_fd, reading), before, shown, upper_fd)
        finally:
            os.close(upper_fd)
            os.close(self.root_fd)

    def _both_ways(
        self, effects: Effects, before: Manifest, shown: Manifest, upper_fd: int
    ) -> None:
        self.rounds.kinds.update(change.kind for change in effects.changes)
        store = UndoStore(self.root_fd, b"key")
        if effects.refusals:
            self._refused(effects, before, shown, upper_fd)
            return
        if not effects.changes:
            return
        expected = _as_applied(shown, before, effects)
        self.steps = 6 * len(effects.changes) + 20
        self._through_kills(
            "applied", lambda: apply(store, "call", effects, upper_fd), before, expected
        )
        self._through_kills("undone", lambda: self._undo(store), expected, before)
        kept = (self.base / "ws" / _OWN / "undo").glob("*/slots/*")
        if store.undoable() or (store.undo("call") and "undone twice") or [*kept]:
            self._wrong("something is left in the store")

    def _undo(self, store: UndoStore) -> None:
        store.undo("call")

    def _refused(self, effects: Effects, before: Manifest, shown: Manifest, upper_fd: int) -> None:
        self.rounds.refused += 1
        odd = [path for path in shown if not path.isprintable() or shown[path] == ("special",)]
        targets = [told[1] for told in shown.values() if told[0] == "link"]
        if not odd and all(target.isprintable() for target in targets):
            self._wrong(f"refused without a cause: {effects.refusals}")
        try:
            apply(UndoStore(self.root_fd, b"key"), "call", effects, upper_fd)
        except PathValidationError:
            pass
        else:
            self._wrong("applied what it refuses")
        if self.now() != before:
            self._wrong("a refusal changed the workspace")

    def _through_kills(
        self, what: str, work: Callable[[], None], start: Manifest, end: Manifest
    ) -> None:
        """Do it; killed on the way and resumed, it is done whole, or never begun and done then."""
        store = UndoStore(self.root_fd, b"key")
        states = self._states()
        if self._is_killed(work):
            is_begun = self._states() != states
            self._is_killed(store.resume)
            store.resume()
            if is_begun and self.now() != end:
                self._wrong(f"begun and not {what}", end)
        if self.now() == start:
            work()
        if self.now() != end:
            self._wrong(f"not {what}", end)

    def _states(self) -> list[str]:
        """How far the journals say that they have come."""
        files = (self.base / "ws" / _OWN).glob("undo/*/state.json")
        return [json.loads(file.read_text())["state"] for file in files]

    def _is_killed(self, work: Callable[[], Any]) -> bool:
        """Run a function in a child that is killed at some step, or not."""
        killed = kill_at(self.rng.randint(1, self.steps), work) is None
        self.rounds.kills += killed
        return killed

    def now(self) -> Manifest:
        return manifest(str(self.base / "ws"))

    def _wrong(self, how: str, expected: Manifest | None = None) -> None:
        found = self.now()
        keys = sorted({*found, *(expected or ())})
        unlike = [
            (key, (expected or {}).get(key), found.get(key))
            for key in keys
            if expected is not None and expected.get(key) != found.get(key)
        ]
        self.rounds.wrong.append(f"seed {self.seed}: {how} {unlike[:3]!r}")


def _as_applied(shown: Manifest, before: Manifest, effects: Effects) -> Manifest:
    """The merged view, but for what is no effect.

    That is the time of a file or link of which nothing else was changed, and hard links: each file
    that is put in place has bytes of its own, and all others share theirs as before.
    """
    changed = {change.path for change in effects.changes if change.after is not None}
    expected: Manifest = {}
    for path, told in shown.items():
        match told:
            case "file", *others, _, _ if path in changed:
                expected[path] = ("file", *others, told[-2], frozenset())
            case "file", *others, _, _:
                shared = {one for one in before[path][-1] if one in shown and one not in changed}
                expected[path] = ("file", *others, before[path][-2], frozenset(shared))
            case "link", target, _ if path not in changed:
                expected[path] = ("link", target, before[path][-1])
            case _:
                expected[path] = told
    return expected


def run_rounds(folder: Path, first: int, count: int) -> Rounds:
    rounds = Rounds()
    for seed in range(first, first + count):
        base = folder / str(seed)
        Round(base, seed, rounds).run()
        rounds.runs += 1
        clear(base)
    return rounds


def clear(base: Path) -> None:
    """Remove a tree though some of its folders may not be written."""
    for path, folders, _ in os.walk(base):
        for name in folders:
            below = os.path.join(path, name)
            if not os.path.islink(below):
                os.chmod(below, 0o700)
    shutil.rmtree(base)


if __name__ == "__main__":
    told = run_rounds(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
    print(json.dumps({**told.__dict__, "kinds": dict(told.kinds)}))
