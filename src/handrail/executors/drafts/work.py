"""The ports through which one call works on a draft: files, commands, searches and rehearsals."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from handrail.core.errors import CommandExecutionError, StaleFileError
from handrail.core.files import FileContent, FileState, Listing
from handrail.core.outcome import CommandOutcome
from handrail.core.pattern import NamePattern
from handrail.core.rehearsal import CallRef, Contents, Rehearsed, T
from handrail.core.search import Found, Query
from handrail.core.sight import Sight
from handrail.core.stage import Stage
from handrail.core.tool import JsonObject
from handrail.executors.commands.executor import CommandExecutor
from handrail.executors.drafts.draft import Draft
from handrail.executors.drafts.parts import Ran
from handrail.executors.files.filesystem import FileSystemExecutor
from handrail.executors.files.ripgrep import Ripgrep
from handrail.executors.files.search import SearchExecutor

_GONE = "what it would change in the draft is no longer known; call it again"
_CHANGED = "the draft was changed by another call meanwhile; call it again"


@dataclass(frozen=True, slots=True)
class Step:
    """The call that works on a draft, and the name of the step that it makes."""

    draft: Draft
    call: CallRef
    title: str


class DraftFiles:
    """The files of the workspace as the draft shows them; each change becomes a step."""

    def __init__(self, step: Step):
        self._step = step
        self._draft = step.draft

    async def read(self, path: str, *, max_bytes: int) -> FileContent:
        return await self._draft.read(path, max_bytes)

    async def list(self, path: str, pattern: NamePattern, *, most: int) -> Listing:
        async with self._draft.files() as files:
            return await files.list(path, pattern, most=most)

    async def find(self, path: str, *, max_bytes: int) -> FileContent | None:
        return await self._draft.try_out(lambda files: files.find(path, max_bytes=max_bytes))

    async def check(self, path: str, *, writing: bool) -> str:
        async with self._draft.files() as files:
            return await files.check(path, writing=writing)

    async def write(self, path: str, data: bytes, *, expected: FileState | None) -> None:
        await self._change(lambda files: files.write(path, data, expected=expected))

    async def remove(self, path: str, *, expected: FileState) -> None:
        await self._change(lambda files: files.remove(path, expected=expected))

    async def move(self, path: str, to: str, *, expected: FileState) -> None:
        await self._change(lambda files: files.move(path, to, expected=expected))

    async def _change(self, work: Callable[[FileSystemExecutor], Awaitable[None]]) -> None:
        async with self._draft.turn.for_call():
            ran = await self._draft.change(work)
            await self._draft.seal(ran, self._step.call, self._step.title)


class DraftSearches:
    def __init__(self, draft: Draft, ripgrep: Ripgrep):
        self._draft = draft
        self._ripgrep = ripgrep

    async def search(self, query: Query, path: str, *, most: int) -> Found:
        async with self._draft.files() as files:
            return await SearchExecutor(files, self._ripgrep).search(query, path, most=most)


class DraftCommands:
    """Commands that may only read; what they write all the same is not kept."""

    def __init__(self, draft: Draft, executor: CommandExecutor):
        self._draft = draft
        self._executor = executor

    async def look(self, stages: Sequence[Stage]) -> Sight:
        return await self._executor.look(stages)

    async def run(
        self,
        stages: Sequence[Stage],
        *,
        timeout_seconds: float,
        expected: JsonObject | None = None,
    ) -> CommandOutcome:
        if expected is not None:
            stages = await self._executor.as_expected(stages, expected)
        async with self._draft.turn.for_call():
            ran = await self._draft.run(stages, timeout_seconds)
        await ran.close()
        return ran.rehearsed.outcome


class DraftRehearsals:
    """Runs commands over the layers of a draft; what is applied becomes a step of it."""

    def __init__(self, step: Step, executor: CommandExecutor):
        self._step = step
        self._draft = step.draft
        self._executor = executor
        self._ran: Ran | None = None
        self._stages: tuple[Stage, ...] = ()
        self._after = 0

    async def rehearse(
        self, call: CallRef, stages: Sequence[Stage], *, timeout_seconds: float
    ) -> Rehearsed:
        if self._ran is not None and self._stages == tuple(stages):
            return self._ran.rehearsed
        await self.drop(call)
        return await self._run(stages, timeout_seconds)

    async def why_not(self, call: CallRef) -> str:
        return await self._draft.why_not()

    async def carry_out(
        self,
        call: CallRef,
        stages: Sequence[Stage],
        *,
        timeout_seconds: float,
        expected: JsonObject,
    ) -> Rehearsed:
        await self.drop(call)
        ready = await self._executor.as_expected(stages, expected)
        return await self._run(ready, timeout_seconds, with_network=True)

    async def find(self, call: CallRef) -> Rehearsed | None:
        return None if self._ran is None else self._ran.rehearsed

    async def show(self, call: CallRef, draw: Callable[[Contents], T]) -> T:
        return await self._draft.show(self._get(), draw)

    async def apply(self, call: CallRef, *, can_undo: bool = True) -> None:
        ran = self._get()
        async with self._draft.turn.for_call():
            if self._draft.layers.last != self._after:
                raise StaleFileError(_CHANGED)
            self._ran = None
            await self._draft.seal(ran, self._step.call, self._step.title)

    async def drop(self, call: CallRef) -> None:
        if (ran := self._ran) is not None:
            self._ran = None
            await ran.close()

    async def drop_stale(self, call: CallRef) -> str:
        return ""

    async def _run(
        self, stages: Sequence[Stage], seconds: float, *, with_network: bool = False
    ) -> Rehearsed:
        async with self._draft.turn.for_call():
            self._ran = await self._draft.run(stages, seconds, with_network=with_network)
            self._stages, self._after = tuple(stages), self._draft.layers.last
        return self._ran.rehearsed

    def _get(self) -> Ran:
        if self._ran is None:
            raise CommandExecutionError(_GONE)
        return self._ran
