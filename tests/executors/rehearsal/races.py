"""A person's editor works before, during and after a rehearsal, and while its effects are applied
or undone; nothing that it does may get lost.

A program of its own: it forks, and prints what it found as JSON.
"""

import json
import os
import random
import sys
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from handrail.core.effects import Effects
from handrail.core.errors import StaleFileError
from handrail.executors.rehearsal.apply import apply
from handrail.executors.rehearsal.effects import CLOCK_SLACK_NS, Reading, read_effects
from handrail.executors.rehearsal.undo import UndoStore
from tests.executors.rehearsal.overlay import rehearse
from tests.executors.rehearsal.rounds import clear, kill_at

NAMES = ("a", "b", "c", "new")
FOLDER = "<folder>"
# The text of each file by its name; None for one that is gone.
Texts = dict[str, str | None]
Pause = Callable[[], None]
_LONGEST_PAUSE = 0.003
_BEFORE: Texts = {name: f"before {name}" for name in NAMES if name != "new"}


def save_in_place(path: Path, text: str, pause: Pause) -> None:
    with path.open("w") as file:
        pause()
        file.write(text)


def save_over(path: Path, text: str, pause: Pause) -> None:
    """As an editor that keeps the file open, and cuts off the rest at the end."""
    fd = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    pause()
    os.write(fd, text.encode())
    pause()
    os.ftruncate(fd, len(text))
    os.close(fd)


def save_by_rename(path: Path, text: str, pause: Pause) -> None:
    aside = path.with_name(f"{path.name}.editor")
    aside.write_text(text)
    pause()
    aside.rename(path)


def save_again(path: Path, text: str, pause: Pause) -> None:
    """As an editor that moves the old file away first."""
    path.unlink(missing_ok=True)
    pause()
    path.write_text(text)


STYLES = (save_in_place, save_over, save_by_rename, save_again)


def make_folder(path: Path, pause: Pause) -> None:
    """Put a folder in place of a file, though it may come back in between."""
    while not path.is_dir():
        path.unlink(missing_ok=True)
        pause()
        with suppress(FileExistsError):
            path.mkdir()


def edit(folder: Path, seed: int, earlier: Texts | None = None) -> Texts:
    """Save, delete or replace one or two files at some moment; tells the last state of each."""
    rng = random.Random(seed)

    def pause() -> None:
        end = time.perf_counter() + rng.random() * rng.choice((0.1, 1)) * _LONGEST_PAUSE
        while time.perf_counter() < end:
            pass

    left = earlier or {}
    for _ in range(rng.randint(1, 2)):
        pause()
        name, deed = rng.choice(NAMES), rng.choice((*STYLES, *STYLES, "delete", "make folder"))
        path = folder / name
        if callable(deed):
            if left.get(name) != FOLDER:
                left[name] = f"saved {name} {seed} {rng.random()}"
                deed(path, str(left[name]), pause)
        elif name not in left and deed == "delete":
            with suppress(FileNotFoundError):
                path.unlink()
                left[name] = None
        elif name not in left:
            make_folder(path, pause)
            left[name] = FOLDER
    return left


def beside(seed: int, folder: Path, work: Callable[[], None]) -> Texts:
    """Do something while another process edits; tells what that has left."""
    ready, start = os.pipe(), os.pipe()
    pid = os.fork()
    if pid == 0:
        os.read(start[0], 1)
        told = ""
        with suppress(BaseException):
            told = json.dumps(edit(folder, seed))
        os.write(ready[1], told.encode() or b"null")
        os._exit(0)
    os.write(start[1], b"!")
    work()
    told = json.loads(os.read(ready[0], 10_000))
    os.waitpid(pid, 0)
    for fd in (*ready, *start):
        os.close(fd)
    assert told is not None, f"the editor of {seed} has failed"
    return told


def texts_in(folder: Path) -> Texts:
    return {
        path.name: FOLDER if path.is_dir() else path.read_text()
        for path in folder.iterdir()
        if path.name != ".handrail"
    }


def write_all(folder: Path, texts: Texts) -> None:
    for name, text in texts.items():
        (folder / name).write_text(str(text))


class Workspace:
    """A workspace with some files, its upper layer and its store."""

    def __init__(self, base: Path, seed: int):
        self.base, self.seed = base, seed
        self.ws, self.upper = base / "ws", base / "u"
        for folder in (self.ws, self.upper):
            folder.mkdir(parents=True)
        write_all(self.ws, _BEFORE)
        self.root_fd, self.upper_fd = (os.open(one, os.O_RDONLY) for one in (self.ws, self.upper))
        self.store = UndoStore(self.root_fd, b"key")

    def read(self, start_ns: int) -> Effects:
        return read_effects(self.root_fd, self.upper_fd, Reading(start_ns))

    def fault(self, expected: Texts) -> str | None:
        """Why an edit was lost or a set is there in part, or None."""
        expected = {name: text for name, text in expected.items() if text is not None}
        found = texts_in(self.ws)
        return None if found == expected else f"{self.seed}: {found} instead of {expected}"

    def close(self) -> None:
        os.close(self.root_fd)
        os.close(self.upper_fd)
        clear(self.base)


class Rehearsing(Workspace):
    """A command is rehearsed in a real overlay, and what it changes is applied."""

    def edited(self, when: str) -> tuple[str, str | None]:
        left = edit(self.ws, self.seed) if when == "before" else {}
        _wait_for_clocks()
        start_ns = time.time_ns()
        if when == "during":
            left = beside(self.seed, self.ws, lambda: rehearse(self.base, self._command))
        else:
            rehearse(self.base, self._command)
        effects = self.read(start_ns)
        if when == "after":
            left = edit(self.ws, self.seed)
        try:
            apply(self.store, "call", effects, self.upper_fd)
        except StaleFileError:
            return "stale", self.fault(_BEFORE | left)
        now = texts_in(self.ws)
        # Before, the command has seen every edit. Where it found no file, it has made another.
        lost = [
            f"{self.seed}: {name} was left as {text!r}, and is {now.get(name)!r}"
            for name, text in left.items()
            if when != "before" and now.get(name) not in ({text} if text else {None, "+"})
        ]
        expected: Texts = {
            change.path: None if change.after is None else (self.upper / change.path).read_text()
            for change in effects.changes
        }
        return "done", next(iter(lost), None) or self.fault(_BEFORE | left | expected)

    @staticmethod
    def _command() -> None:
        for name in ("a", "b"):
            with suppress(IsADirectoryError), open(name, "a") as file:
                file.write("+")
        with suppress(FileNotFoundError, IsADirectoryError):
            os.unlink("c")
        with suppress(IsADirectoryError):
            Path("new").write_text("new")


class Moving(Workspace):
    """A set that is on its way from one state to the other while files are edited."""

    def __init__(self, base: Path, seed: int, *, is_undo: bool):
        super().__init__(base, seed)
        after: Texts = {name: f"after {name}" for name in NAMES}
        write_all(self.upper, after)
        self.effects = self.read(time.time_ns() + 1_000_000_000)
        self.is_undo = is_undo
        self.start, self.end = (after, _BEFORE | {"new": None}) if is_undo else (_BEFORE, after)
        if is_undo:
            apply(self.store, "call", self.effects, self.upper_fd)

    def work(self) -> None:
        if self.is_undo:
            self.store.undo("call")
        else:
            apply(self.store, "call", self.effects, self.upper_fd)

    def edited(self) -> tuple[str, str | None]:
        is_done = True

        def work() -> None:
            nonlocal is_done
            try:
                self.work()
            except StaleFileError:
                is_done = False

        left = beside(self.seed, self.ws, work)
        return "done" if is_done else "stale", self._fault(left, is_done=is_done)

    def killed(self) -> tuple[str, str | None]:
        """Files are edited before the kill, and between it and the start of the next process."""
        left: Texts = {}

        def try_it() -> None:
            with suppress(StaleFileError):
                self.work()

        def work() -> None:
            kill_at(random.Random(self.seed).randint(1, 14 if self.is_undo else 40), try_it)

        if self.seed % 2:
            left = beside(self.seed, self.ws, work)
        else:
            work()
        left = edit(self.ws, self.seed + 1, left)
        self.store.resume()
        is_done = bool(self.store.undoable()) is not self.is_undo
        return "done" if is_done else "stale", self._fault(left, is_done=is_done)

    def _fault(self, left: Texts, *, is_done: bool) -> str | None:
        return self.fault((self.end if is_done else self.start) | left)


# How often each, of ten.
_KINDS = (
    *("before", "during", "during", "after"),
    *("apply", "apply", "undo", "undo", "killed apply", "killed undo"),
)


def _wait_for_clocks() -> None:
    """Until all changes so far lie surely before a rehearsal that begins now."""
    end = time.time_ns() + CLOCK_SLACK_NS + 5_000_000
    while time.time_ns() < end:
        time.sleep(0.001)


def one_try(base: Path, seed: int) -> tuple[str, str | None]:
    kind = _KINDS[seed % len(_KINDS)]
    if kind in ("before", "during", "after"):
        rehearsing = Rehearsing(base, seed)
        outcome, fault = rehearsing.edited(kind)
        rehearsing.close()
    else:
        moving = Moving(base, seed, is_undo=kind.endswith("undo"))
        outcome, fault = moving.killed() if kind.startswith("killed") else moving.edited()
        moving.close()
    return f"{kind}: {outcome}", fault


def run_tries(base: Path, first: int, count: int) -> dict[str, object]:
    lost: list[str] = []
    seen: Counter[str] = Counter()
    for seed in range(first, first + count):
        outcome, fault = one_try(base / "try", seed)
        seen[outcome] += 1
        lost += [f"{outcome} {fault}"] if fault else []
    return {"lost": lost, "seen": dict(seen)}


if __name__ == "__main__":
    print(json.dumps(run_tries(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))))
