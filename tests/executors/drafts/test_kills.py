"""Three sessions with drafts, a person who edits the workspace, and kills at any moment.

A process holds the drafts; it is killed while it works, started again, and goes on. A model of
plain dictionaries says what the workspace and each session must show. After a kill, what was
ordered has been done or not, and nothing in between.
"""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Generator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[3]
# More for a soak, as in HANDRAIL_DRAFT_RUNS=1000.
RUNS = int(os.environ.get("HANDRAIL_DRAFT_RUNS", "60"))
AT_ONCE = 3
ROUNDS = 12
# How often what is ordered is cut short.
DYING = 0.07
NAMES = ("a.txt", "b.txt", "d/c.txt", "d/e.txt")
# For each part; it ends early if the machine is slow.
SECONDS = 3_600 if RUNS > 60 else 60

Files = dict[str, str]
Writes = dict[str, str | None]


def over(files: Files, *steps: Writes) -> Files:
    """Files as they are after steps that write and remove some."""
    found: dict[str, str | None] = {**files}
    for writes in steps:
        found |= writes
    return {path: text for path, text in found.items() if text is not None}


@dataclass
class Step:
    """What a step writes, what was there before, and the words that only it has written."""

    number: int
    writes: Writes
    before: Writes
    words: list[str]


@dataclass
class Model:
    """What the workspace holds, and the steps of each session."""

    real: Files = field(default_factory=dict[str, str])
    drafts: dict[str, list[Step]] = field(default_factory=dict[str, list[Step]])

    def view(self, session: str, count: int | None = None) -> Files:
        steps = self.drafts[session][:count]
        return over(self.real, *(step.writes for step in steps))

    def with_step(self, session: str, after: Files, words: list[str]) -> "Model":
        before = self.view(session)
        paths = {path for path in {*before, *after} if before.get(path) != after.get(path)}
        if not paths:
            return self
        steps = self.drafts[session]
        number = steps[-1].number + 1 if steps else 1
        step = Step(
            number,
            {path: after.get(path) for path in paths},
            {path: before.get(path) for path in paths},
            words,
        )
        return Model(self.real, {**self.drafts, session: [*steps, step]})

    def applied(self, session: str, count: int) -> "Model | None":
        """The same after the first steps were applied; None where they conflict."""
        steps = self.drafts[session]
        first: Writes = {}
        for step in steps:
            first = {**step.before, **first}
        after = over(self.real, *(step.writes for step in steps[:count]))
        for step in steps[:count]:
            for path in step.writes:
                is_changed = self.real.get(path) != after.get(path)
                if is_changed and first[path] != self.real.get(path):
                    return None
        return Model(after, {**self.drafts, session: steps[count:]})

    def discarded(self, session: str, count: int) -> "Model":
        return Model(self.real, {**self.drafts, session: self.drafts[session][:count]})


class Holder:
    """The process that holds the drafts."""

    def __init__(self, base: Path, root: Path):
        self.base, self.root = base, root
        self._arguments = [str(base), str(root)]
        self._start()

    def _start(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.executors.drafts.holder", *self._arguments],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.hear() == "ready"

    def order(self, **words: Any) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(words) + "\n")
        self._process.stdin.flush()

    def hear(self) -> Any:
        assert self._process.stdout is not None
        return json.loads(self._process.stdout.readline())

    def ask(self, **words: Any) -> Any:
        self.order(**words)
        return self.hear()

    def view(self, session: str) -> Files:
        return self.ask(do="view", session=session, call="view")

    def kill_and_restart(self) -> None:
        self.end(signal.SIGKILL)
        self._start()

    def end(self, by: signal.Signals) -> None:
        self._process.send_signal(by)
        self._process.wait(timeout=10)
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            pipe.close()


class Run:
    """One random run: orders for the sessions, edits by the person, kills in between."""

    def __init__(self, seed: int, holder: Holder):
        self.seed, self.count = seed, 0
        self.choose = random.Random(seed)
        self.holder, self.root, self.base = holder, holder.root, holder.base
        self.sessions = [f"{seed}-{name}" for name in ("first", "second", "third")]
        self.model = Model(self.read(), {name: [] for name in self.sessions})

    def play(self) -> None:
        for _ in range(ROUNDS):
            self.edit()
            self.act()
            self.check(self.model)

    def edit(self) -> None:
        """The person saves files as an editor does, in place or by a rename, or deletes one."""
        for _ in range(self.choose.randrange(3)):
            path, word = self.choose.choice(NAMES), self.word()
            file = self.root / path
            match self.choose.randrange(4):
                case 0:
                    file.unlink(missing_ok=True)
                    self.model.real.pop(path, None)
                    continue
                case 1:
                    file.write_text(f"{word}\n")
                case _:
                    (self.root / "saved").write_text(f"{word}\n")
                    (self.root / "saved").rename(file)
            self.model.real[path] = f"{word}\n"

    def act(self) -> None:
        session = self.choose.choice(self.sessions)
        steps = self.model.drafts[session]
        action = self.choose.random()
        dies = self.choose.random() < DYING
        if action < 0.6 or not steps:
            self.run_line(session, dies=dies)
        elif action < 0.8:
            self.apply(session, self.choose.randint(1, len(steps)), dies=dies)
        else:
            self.discard(session, self.choose.randrange(len(steps)), dies=dies)

    def run_line(self, session: str, *, dies: bool) -> None:
        after, lines, words = self.model.view(session), list[str](), list[str]()
        for _ in range(self.choose.randint(1, 3)):
            path, word = self.choose.choice(NAMES), self.word()
            match self.choose.randrange(5):
                case 0:
                    lines.append(f"rm -f {path}")
                    after.pop(path, None)
                case 1:
                    lines.append(f"echo {word} >> {path}")
                    after[path] = after.get(path, "") + f"{word}\n"
                    words.append(word)
                case 2:
                    # Written again as it was.
                    lines.append(f"[ ! -e {path} ] || sed -i s/nothing/x/ {path}")
                case _:
                    lines.append(f"echo {word} > {path}")
                    after[path] = f"{word}\n"
                    words.append(word)
        done = self.model.with_step(session, after, words)
        line = "; ".join(lines)
        self.order([done, self.model], dies=dies, do="shell", session=session, line=line)

    def apply(self, session: str, count: int, *, dies: bool) -> None:
        number = self.model.drafts[session][count - 1].number
        done = self.model.applied(session, count)
        ends = [self.model] if done is None else [done, self.model]
        told = self.order(ends, dies=dies, do="apply", session=session, steps=number)
        assert told is None or ("error" in told) == (done is None), told

    def discard(self, session: str, count: int, *, dies: bool) -> None:
        steps = self.model.drafts[session]
        # A kill may leave some of the steps that were to go, and never one without those below.
        ends = [self.model.discarded(session, left) for left in range(count, len(steps) + 1)]
        first = steps[count].number
        told = self.order(ends, dies=dies, do="discard", session=session, first=first)
        if told is not None:
            gone = [word for step in steps[count:] for word in step.words]
            assert self.places_of(gone) == []

    def order(self, ends: list[Model], *, dies: bool, **words: Any) -> Any:
        """Have something done; the first of the `ends` is what comes of it without a kill."""
        self.count += 1
        self.holder.order(call=f"call-{self.count}", **words)
        if not dies:
            told = self.holder.hear()
            self.model = ends[0]
            return told
        time.sleep(self.choose.random() * 0.25)
        self.holder.kill_and_restart()
        views = {session: self.holder.view(session) for session in self.sessions}
        seen = [end for end in ends if self.shows(end, views)]
        assert seen, (words, self.read(), views, ends)
        self.model = seen[0]
        return None

    def check(self, model: Model) -> None:
        assert self.read() == model.real
        for session in self.sessions:
            assert self.holder.view(session) == model.view(session), session

    def shows(self, model: Model, views: dict[str, Files]) -> bool:
        are_seen = all(views[session] == model.view(session) for session in self.sessions)
        return self.read() == model.real and are_seen

    def read(self) -> Files:
        return {
            str(path.relative_to(self.root)): path.read_text()
            for path in self.root.rglob("*")
            if path.is_file() and ".handrail" not in path.parts
        }

    def places_of(self, words: list[str]) -> list[str]:
        """The files of the drafts in which one of these words is."""
        files = [path for path in (self.base / "drafts").rglob("*") if path.is_file()]
        return [str(file) for file in files if any(one in file.read_text() for one in words)]

    def word(self) -> str:
        self.count += 1
        return f"word{self.seed}x{self.count:05d}"


@pytest.fixture
def holder(tmp_path: Path) -> Generator[Holder]:
    root = tmp_path / "ws"
    (root / "d").mkdir(parents=True)
    made = Holder(tmp_path, root)
    yield made
    made.end(signal.SIGKILL)


@pytest.mark.slow
@pytest.mark.behaviour("draft.any-moment")
@pytest.mark.usefixtures("needs_box")
@pytest.mark.timeout(SECONDS * 3)
@pytest.mark.parametrize("part", range(AT_ONCE))
def test_whatever_happens_nothing_is_lost_and_nothing_real_changes_before_an_apply(
    part: int, holder: Holder
) -> None:
    deadline = time.monotonic() + SECONDS
    for seed in range(part, RUNS, AT_ONCE):
        Run(seed, holder).play()
        if time.monotonic() > deadline:
            break
