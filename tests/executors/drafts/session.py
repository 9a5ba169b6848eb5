"""A session for tests: its calls work on a draft as a client has them do it."""

import itertools
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from handrail.core.box import Profile
from handrail.core.draft import DraftStep, DraftSum, DraftWork
from handrail.core.files import FileState
from handrail.core.pattern import NamePattern
from handrail.core.rehearsal import CallRef, Rehearsed
from handrail.core.search import Query
from handrail.core.stage import Stage
from handrail.executors.drafts.drafts import ClientDrafts

_MOST = 1_000_000


@dataclass
class DraftSession:
    drafts: ClientDrafts
    name: str = "first"
    count: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    def call(self) -> CallRef:
        return CallRef(self.name, f"{self.name}-{next(self.count)}")

    def work(self, call: CallRef | None = None) -> DraftWork:
        return self.drafts.work_on(call or self.call(), "a call")

    async def write(self, path: str, text: str) -> None:
        await self.work().files.write(path, text.encode(), expected=None)

    async def move(self, path: str, to: str) -> None:
        files = self.work().files
        await files.move(path, to, expected=await self._state(path))

    async def remove(self, path: str) -> None:
        files = self.work().files
        await files.remove(path, expected=await self._state(path))

    async def _state(self, path: str) -> FileState:
        return (await self.work().files.read(path, max_bytes=_MOST)).state

    async def read(self, path: str) -> str:
        content = await self.work().files.read(path, max_bytes=_MOST)
        return content.data.decode()

    async def names(self, path: str = ".") -> list[str]:
        listing = await self.work().files.list(
            path, NamePattern.read("*", recursive=False), most=100
        )
        return [entry.path for entry in listing.entries]

    async def search(self, pattern: str) -> list[str]:
        found = await self.work().searches.search(Query(pattern), ".", most=100)
        return [f"{match.path}:{match.line}" for match in found.matches]

    async def shell(self, line: str) -> Rehearsed:
        """Run a line and keep what it did."""
        call = self.call()
        work = self.work(call)
        stage = Stage(("bash", "-c", line), Profile.WRITE)
        ran = await work.rehearsals.rehearse(call, [stage], timeout_seconds=30)
        await work.rehearsals.apply(call)
        return ran

    async def shell_as(self, call: CallRef, line: str) -> dict[str, int | None]:
        """Run a line as a call that has its name from outside."""
        work = self.work(call)
        stage = Stage(("bash", "-c", line), Profile.WRITE)
        ran = await work.rehearsals.rehearse(call, [stage], timeout_seconds=30)
        await work.rehearsals.apply(call)
        return {"exit_code": ran.outcome.exit_code}

    async def output(self, line: str) -> str:
        outcome = (await self.shell(line)).outcome
        return (outcome.stdout + outcome.stderr).decode()

    async def sum_up(self, steps: int | None = None) -> DraftSum:
        return await self.drafts.sum_up(self.call(), steps)

    async def apply(self, steps: int | None = None, paths: Sequence[str] | None = None) -> DraftSum:
        call = self.call()
        summed = await self.drafts.sum_up(call, steps, paths)
        await self.drafts.apply(call)
        return summed

    @asynccontextmanager
    async def view(self) -> AsyncGenerator[Path]:
        """The workspace as the session sees it."""
        async with self.drafts.open(self.name).view() as fd:
            yield Path(f"/proc/self/fd/{fd}")

    async def discard(self, first: int) -> list[DraftStep]:
        return [*await self.drafts.discard(self.name, first)]


def paths_of(summed: DraftSum) -> list[str]:
    return [change.path for change in summed.effects.changes]


def contents(root: Path) -> dict[str, str | None]:
    """Every file of a workspace with its text, and every folder; Handrail's own are left out."""
    return {
        str(path.relative_to(root)): path.read_text() if path.is_file() else None
        for path in sorted(root.rglob("*"))
        if path.relative_to(root).parts[0] not in (".git", ".handrail")
    }
