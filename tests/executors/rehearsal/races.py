"""A person's editor saves files while changes are applied or undone; no save may get lost.

A program of its own: it forks, and prints what it found as JSON.
"""

import json
import os
import random
import shutil
import sys
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from handrail.core.errors import StaleFileError
from handrail.executors.rehearsal.apply import apply
from handrail.executors.rehearsal.effects import Reading, read_effects
from handrail.executors.rehearsal.undo import UndoStore
from tests.executors.rehearsal.rounds import kill_at

NAMES = ("a", "b", "c", "new")
_LONGEST_PAUSE = 0.003


def save_in_place(path: Path, text: str, pause: Callable[[], None]) -> None:
    with path.open("w") as file:
        pause()
        file.write(text)


def save_over(path: Path, text: str, pause: Callable[[], None]) -> None:
    """As an editor that keeps the file open, and cuts off the rest at the end."""
    fd = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    pause()
    os.write(fd, text.encode())
    pause()
    os.ftruncate(fd, len(text))
    os.close(fd)


def save_by_rename(path: Path, text: str, pause: Callable[[], None]) -> None:
    aside = path.with_name(f"{path.name}.editor")
    aside.write_text(text)
    pause()
    aside.rename(path)


def save_again(path: Path, text: str, pause: Callable[[], None]) -> None:
    """As an editor that moves the old file away first."""
    with suppress(FileNotFoundError):
        path.unlink()
    pause()
    path.write_text(text)


STYLES = (save_in_place, save_over, save_by_rename, save_again)


def edit(folder: Path, seed: int) -> dict[str, str]:
    """Save one or two files at some moment; tells the last content of each."""
    rng = random.Random(seed)

    def pause() -> None:
        end = time.perf_counter() + rng.random() * rng.choice((0.1, 1)) * _LONGEST_PAUSE
        while time.perf_counter() < end:
            pass

    saved: dict[str, str] = {}
    for _ in range(rng.randint(1, 2)):
        pause()
        name, style = rng.choice(NAMES), rng.choice(STYLES)
        saved[name] = f"saved {name} {seed} {rng.random()}"
        style(folder / name, saved[name], pause)
    return saved


def beside(seed: int, folder: Path, work: Callable[[], None]) -> dict[str, str]:
    """Do something while another process edits; tells what that has saved."""
    ready, start = os.pipe(), os.pipe()
    pid = os.fork()
    if pid == 0:
        os.read(start[0], 1)
        os.write(ready[1], json.dumps(edit(folder, seed)).encode())
        os._exit(0)
    os.write(start[1], b"!")
    work()
    told = os.read(ready[0], 10_000)
    os.waitpid(pid, 0)
    for fd in (*ready, *start):
        os.close(fd)
    return json.loads(told)


@dataclass
class Try:
    """A set that is on its way from one state to the other while files are saved."""

    base: Path
    seed: int

    def __post_init__(self) -> None:
        self.ws, self.upper = self.base / "ws", self.base / "u"
        before = {name: f"before {name}" for name in NAMES if name != "new"}
        after = {name: f"after {name}" for name in NAMES}
        for folder, texts in ((self.ws, before), (self.upper, after)):
            folder.mkdir(parents=True)
            for name, text in texts.items():
                (folder / name).write_text(text)
        self.root_fd, self.upper_fd = (os.open(one, os.O_RDONLY) for one in (self.ws, self.upper))
        self.store = UndoStore(self.root_fd)
        reading = Reading(time.time_ns() + 1_000_000_000)
        self.effects = read_effects(self.root_fd, self.upper_fd, reading)
        self.is_undo = self.seed % 3 == 0
        self.start, self.end = before, after
        if self.is_undo:
            apply(self.store, "call", self.effects, self.upper_fd)
            self.start, self.end = after, before

    def work(self) -> None:
        if self.is_undo:
            self.store.undo("call")
        else:
            apply(self.store, "call", self.effects, self.upper_fd)

    def beside_an_editor(self) -> tuple[str, str | None]:
        outcome = "done"

        def work() -> None:
            nonlocal outcome
            try:
                self.work()
            except StaleFileError:
                outcome = "stale"

        saved = beside(self.seed, self.ws, work)
        return outcome, self._fault(outcome == "done", saved)

    def after_a_kill(self) -> tuple[str, str | None]:
        """Files are saved between the kill and the start of the next process."""
        steps = (1, 14) if self.is_undo else (15, 40)
        kill_at(random.Random(self.seed).randint(*steps), self.work)
        saved = edit(self.ws, self.seed)
        self.store.resume()
        is_applied = bool(self.store.undoable())
        is_done = is_applied is not self.is_undo
        return f"killed, {'done' if is_done else 'stale'}", self._fault(is_done, saved)

    def _fault(self, is_done: bool, saved: dict[str, str]) -> str | None:
        """Why a save was lost or a set is there in part, or None."""
        expected = (self.end if is_done else self.start) | saved
        found = {path.name: path.read_text() for path in self.ws.iterdir() if path.is_file()}
        return None if found == expected else f"{self.seed}: {found} instead of {expected}"

    def close(self) -> None:
        os.close(self.root_fd)
        os.close(self.upper_fd)
        shutil.rmtree(self.base)


def run_tries(base: Path, first: int, count: int) -> dict[str, object]:
    lost: list[str] = []
    seen: Counter[str] = Counter()
    for seed in range(first, first + count):
        one = Try(base / "try", seed)
        outcome, fault = one.after_a_kill() if seed % 5 < 2 else one.beside_an_editor()
        seen[f"{'undo' if one.is_undo else 'apply'} {outcome}"] += 1
        lost += [f"{outcome} {fault}"] if fault else []
        one.close()
    return {"lost": lost, "seen": dict(seen)}


if __name__ == "__main__":
    print(json.dumps(run_tries(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))))
