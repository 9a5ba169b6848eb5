"""The rehearsals of a client, one after another in each session, and their outcomes."""

import asyncio
import hashlib
import os
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from handrail.core.effects import Effects
from handrail.core.rehearsal import CallRef, Rehearsed
from handrail.core.stage import Stage
from handrail.executors.command import CommandExecutor
from handrail.executors.rehearsal.caps import DEFAULT_CAPS
from handrail.executors.rehearsal.effects import Reading, read_effects
from handrail.executors.rehearsal.overlay import Maker
from handrail.executors.rehearsal.probe import Proof
from handrail.executors.rehearsal.rehearser import Rehearsal, Rehearser
from handrail.executors.sandbox.box import Box

_AT_ONCE = 3
_MOST_SESSIONS = 8
# Each outcome may hold two megabytes of output.
_MOST_KEPT = 32
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_FOREIGN = "it met files of another owner or group, which an overlay cannot change"


@dataclass(eq=False, slots=True)
class _Session:
    """Rehearsals of a session run one after another, since each may change its caches."""

    rehearser: Rehearser
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)


class KeptRehearsals:
    """Keeps the outcome of a call's rehearsal until it is taken, so that nothing runs twice.

    The changes themselves are thrown away as soon as they are known.
    """

    def __init__(
        self,
        executor: CommandExecutor,
        box: Box,
        maker: Maker,
        base: Path,
        proof: Proof,
        keeper: str = "",
    ):
        self._executor = executor
        self._box = box
        self._maker = maker
        self._base = base
        self._proof = proof
        self._keeper = keeper
        self._gate = asyncio.Semaphore(_AT_ONCE)
        self._sessions: OrderedDict[str, _Session] = OrderedDict()
        self._kept: OrderedDict[CallRef, Rehearsed] = OrderedDict()

    async def rehearse(
        self, call: CallRef, stages: Sequence[Stage], *, timeout_seconds: float
    ) -> Rehearsed:
        """Run the stages where nothing is real; the kept outcome of the call where there is one.

        Raises:
            CommandExecutionError: They cannot be rehearsed here, or could not be started.
        """
        async with self._gate:
            session = await self._open(call.session_id)
            async with session.turn:
                if (known := self._kept.get(call)) is not None:
                    return known
                rehearsal = await session.rehearser.rehearse(
                    stages, timeout_seconds=timeout_seconds
                )
                try:
                    effects = await asyncio.to_thread(self._read, rehearsal)
                finally:
                    await rehearsal.close()
        return self._keep(call, _told(rehearsal, effects))

    async def take(self, call: CallRef) -> Rehearsed | None:
        """The kept outcome of a call, which is forgotten."""
        return self._kept.pop(call, None)

    async def close(self) -> None:
        """End every session, with its caches and its /tmp."""
        while self._sessions:
            _, session = self._sessions.popitem()
            async with session.turn:
                await session.rehearser.close()

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
            await self._sessions.pop(idle[0]).rehearser.close()

    def _read(self, rehearsal: Rehearsal) -> Effects:
        reading = Reading(rehearsal.began_ns, hidden=rehearsal.hidden)
        lower, upper = os.open(self._box.root, _FOLDER), rehearsal.open_upper()
        try:
            return read_effects(lower, upper, reading)
        finally:
            os.close(lower)
            os.close(upper)

    def _keep(self, call: CallRef, rehearsed: Rehearsed) -> Rehearsed:
        self._kept[call] = rehearsed
        while len(self._kept) > _MOST_KEPT:
            self._kept.popitem(last=False)
        return rehearsed


def _told(rehearsal: Rehearsal, effects: Effects) -> Rehearsed:
    ended_by = "" if rehearsal.exceeded is None else rehearsal.exceeded.tell(DEFAULT_CAPS)
    if not ended_by and rehearsal.met_foreign:
        ended_by = _FOREIGN
    if not ended_by and effects.refusals:
        ended_by = effects.refusals[0]
    return Rehearsed(
        rehearsal.outcome,
        changed=tuple(effect.path for effect in effects.changes),
        hosts=rehearsal.hosts,
        left_running=rehearsal.left_running,
        outside=rehearsal.outside,
        ended_by=ended_by,
    )
