"""The rehearsals of a client, one after another in each session, with their effects."""

import asyncio
import hashlib
import os
from collections import OrderedDict
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from handrail.core.errors import CommandExecutionError, PathValidationError
from handrail.core.rehearsal import CallRef, Contents, Rehearsed, T
from handrail.core.stage import Stage
from handrail.core.tool import JsonObject
from handrail.executors.commands.executor import CommandExecutor
from handrail.executors.rehearsal.applied import find_conflicts
from handrail.executors.rehearsal.apply import apply
from handrail.executors.rehearsal.caps import DEFAULT_CAPS
from handrail.executors.rehearsal.contents import LayerContents
from handrail.executors.rehearsal.effects import CLOCK_SLACK_NS, Reading, read_effects
from handrail.executors.rehearsal.git_applying import changes_of_files
from handrail.executors.rehearsal.git_reading import GitEffectsReader, ReadEffects
from handrail.executors.rehearsal.overlay import Maker
from handrail.executors.rehearsal.probe import Proof
from handrail.executors.rehearsal.rehearser import Rehearsal, Rehearser
from handrail.executors.rehearsal.telling import read_git, tell
from handrail.executors.rehearsal.undo import UndoStore
from handrail.executors.sandbox.box import Box

_AT_ONCE = 3
_MOST_SESSIONS = 8
# Each outcome may hold two megabytes of output.
_MOST_KEPT = 32
# Of what a session may change, so much is left for its next rehearsal.
_MOST_KEPT_BYTES = DEFAULT_CAPS.changed_bytes // 2
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_REPLACED = "the workspace has been replaced by another folder; restart the client to work there"
_GONE = "its rehearsal is gone; nothing was done"


@dataclass(eq=False, slots=True)
class _Session:
    """Rehearsals of a session run one after another, since each may change its caches."""

    rehearser: Rehearser
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)


@dataclass(frozen=True, slots=True)
class _Kept:
    """A rehearsal and what became of it; its layer stays until it is closed."""

    stages: tuple[Stage, ...]
    rehearsed: Rehearsed
    rehearsal: Rehearsal
    read: ReadEffects

    @property
    def bytes(self) -> int:
        effects = self.rehearsed.effects
        nodes = (change.after for change in (*effects.changes, *effects.git.changes))
        return sum(node.size for node in nodes if node is not None)

    async def close(self) -> None:
        await self.rehearsal.close()
        await asyncio.to_thread(self.read.discard)


class KeptRehearsals:
    """Keeps the rehearsal of a call until its effects are applied, so that nothing runs twice."""

    def __init__(
        self,
        executor: CommandExecutor,
        box: Box,
        maker: Maker,
        base: Path,
        proof: Proof,
        store: UndoStore,
        keeper: str = "",
    ):
        """`store` keeps the files that applied effects replace."""
        self._executor = executor
        self._box = box
        self._maker = maker
        self._base = base
        self._proof = proof
        self._store = store
        self._keeper = keeper
        self._git = GitEffectsReader(box, base)
        self._gate = asyncio.Semaphore(_AT_ONCE)
        self._sessions: OrderedDict[str, _Session] = OrderedDict()
        self._kept: OrderedDict[CallRef, _Kept] = OrderedDict()

    async def rehearse(
        self, call: CallRef, stages: Sequence[Stage], *, timeout_seconds: float
    ) -> Rehearsed:
        """Run the stages where nothing is real; the kept rehearsal of the call where there is one.

        Raises:
            CommandExecutionError: They cannot be rehearsed here, or could not be started.
        """
        async with self._gate:
            session = await self._open(call.session_id)
            async with session.turn:
                if (known := self._kept.get(call)) is not None:
                    if known.stages == tuple(stages):
                        return known.rehearsed
                    await self.drop(call)
                kept = await self._rehearse(session, stages, timeout_seconds)
                if kept.rehearsed.effects.stale:
                    # Another program has changed the same files meanwhile: once more.
                    await kept.close()
                    # A change of this moment could not be told from one during the next rehearsal.
                    await asyncio.sleep(2 * CLOCK_SLACK_NS / 1e9)
                    kept = await self._rehearse(session, stages, timeout_seconds)
                await self._keep(call, kept)
        return kept.rehearsed

    async def why_not(self, call: CallRef) -> str:
        async with self._gate:
            session = await self._open(call.session_id)
            return await session.rehearser.why_not() or ""

    async def carry_out(
        self,
        call: CallRef,
        stages: Sequence[Stage],
        *,
        timeout_seconds: float,
        expected: JsonObject,
    ) -> Rehearsed:
        """Run approved stages in which git reaches remotes; what it pushes is pushed for real.

        Raises:
            CommandExecutionError: They could not be started, or a remote could not be reached.
            StaleCommandError: The facts do not hold any more; nothing was started.
        """
        async with self._gate:
            session = await self._open(call.session_id)
            async with session.turn:
                await self.drop(call)
                ready = await self._executor.as_expected(stages, expected)
                # It cannot be run again where a file was changed in the moment before it.
                await asyncio.sleep(2 * CLOCK_SLACK_NS / 1e9)
                kept = await self._rehearse(session, ready, timeout_seconds, with_remotes=True)
                await self._keep(call, kept)
        return kept.rehearsed

    async def find(self, call: CallRef) -> Rehearsed | None:
        kept = self._kept.get(call)
        return None if kept is None else kept.rehearsed

    async def show(self, call: CallRef, draw: Callable[[Contents], T]) -> T:
        """Draw the effects of a kept rehearsal, with the contents of its files.

        Raises:
            CommandExecutionError: The rehearsal is gone.
        """

        def draw_it() -> T:
            with self._layers(kept.rehearsal) as (lower, upper):
                return draw(LayerContents(lower, upper))

        kept = self._get(call)
        return await asyncio.to_thread(draw_it)

    async def apply(self, call: CallRef, *, can_undo: bool = True) -> None:
        """Make exactly the effects of the kept rehearsal real, and forget the rehearsal.

        Where it cannot be undone as a whole, nothing is kept to undo a part of it.

        Raises:
            CommandExecutionError: The rehearsal is gone; nothing was changed.
            PathValidationError: It does not show all effects, or some may never be applied.
            StaleFileError: The workspace was changed since; nothing was changed.
            FileOperationError: The file system refused; nothing was changed.
        """

        def apply_it() -> None:
            with self._layers(kept.rehearsal) as (_, upper):
                apply(self._store, call.tool_id, kept.rehearsed.effects, upper, kept.read.objects)
            if not can_undo:
                self._store.prune(forget=call.tool_id)

        kept = self._get(call)
        if not kept.rehearsed.is_complete:
            raise PathValidationError(kept.rehearsed.ended_by)
        try:
            await asyncio.to_thread(apply_it)
        finally:
            await self.drop(call)

    async def drop(self, call: CallRef) -> None:
        if (kept := self._kept.pop(call, None)) is not None:
            await kept.close()

    async def drop_stale(self, call: CallRef) -> str:
        if (kept := self._kept.get(call)) is None:
            return ""
        if conflict := await asyncio.to_thread(self._find_conflict, kept):
            await self.drop(call)
        return conflict

    async def close(self) -> None:
        """End every session, with its caches and its /tmp."""
        for call in list(self._kept):
            await self.drop(call)
        while self._sessions:
            _, session = self._sessions.popitem()
            async with session.turn:
                await session.rehearser.close()

    def _get(self, call: CallRef) -> _Kept:
        kept = self._kept.get(call)
        if kept is None:
            raise CommandExecutionError(_GONE)
        return kept

    async def _keep(self, call: CallRef, kept: _Kept) -> None:
        self._kept[call] = kept
        await self._drop_oldest(call.session_id)

    async def _rehearse(
        self,
        session: _Session,
        stages: Sequence[Stage],
        timeout_seconds: float,
        *,
        with_remotes: bool = False,
    ) -> _Kept:
        rehearsal = await session.rehearser.rehearse(
            stages, timeout_seconds=timeout_seconds, with_remotes=with_remotes
        )
        try:
            read = await asyncio.to_thread(self._read, rehearsal, follows_remotes=with_remotes)
        except BaseException:
            await rehearsal.close()
            raise
        return _Kept(tuple(stages), tell(rehearsal, read), rehearsal, read)

    async def _open(self, session_id: str) -> _Session:
        known = self._sessions.get(session_id)
        if known is None:
            await self._make_room()
            name = hashlib.sha256(session_id.encode()).hexdigest()[:16]
            rehearser = Rehearser(
                self._executor,
                self._box,
                self._maker,
                self._base / name,
                self._proof,
                keeper=self._keeper,
            )
            known = self._sessions[session_id] = _Session(rehearser)
        self._sessions.move_to_end(session_id)
        return known

    async def _make_room(self) -> None:
        """Close the session that was used least recently and is idle, where there are too many."""
        idle = [key for key, session in self._sessions.items() if not session.turn.locked()]
        if len(self._sessions) >= _MOST_SESSIONS and idle:
            session = self._sessions.pop(idle[0])
            for call in [call for call in self._kept if call.session_id == idle[0]]:
                await self.drop(call)
            await session.rehearser.close()

    async def _drop_oldest(self, session_id: str) -> None:
        """Forget the oldest rehearsals where they are too many, or too large for the session."""
        while len(self._kept) > _MOST_KEPT:
            await self.drop(next(iter(self._kept)))
        own = [call for call in self._kept if call.session_id == session_id]
        left = sum(self._kept[call].bytes for call in own)
        for call in own[:-1]:
            if left <= _MOST_KEPT_BYTES:
                return
            left -= self._kept[call].bytes
            await self.drop(call)

    def _read(self, rehearsal: Rehearsal, *, follows_remotes: bool = False) -> ReadEffects:
        with self._layers(rehearsal) as (lower, upper):
            reading = Reading(rehearsal.began_ns, hidden=rehearsal.hidden)
            effects = read_effects(lower, upper, reading)
            return read_git(
                self._git, effects, (lower, upper), rehearsal, follows_remotes=follows_remotes
            )

    def _find_conflict(self, kept: _Kept) -> str:
        with self._layers(kept.rehearsal) as (lower, _):
            effects = kept.rehearsed.effects
            changes = (*effects.changes, *changes_of_files(effects.git))
            return next(find_conflicts(lower, changes, forward=True), "")

    @contextmanager
    def _layers(self, rehearsal: Rehearsal) -> Generator[tuple[int, int]]:
        """Descriptors of the workspace and of the layer above it.

        Raises:
            CommandExecutionError: Another folder has come in the place of the workspace, and what
                is applied would not be seen there.
        """
        lower = os.open(self._box.root, _FOLDER)
        try:
            if not os.path.sameopenfile(lower, self._store.root_fd):
                raise CommandExecutionError(_REPLACED)
            upper = rehearsal.open_upper()
            try:
                yield lower, upper
            finally:
                os.close(upper)
        finally:
            os.close(lower)
