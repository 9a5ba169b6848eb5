"""The drafts of one client: one folder on disk for each session that has one."""

import asyncio
import hashlib
import json
from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

import structlog

from handrail.core.draft import DraftStep, DraftSum, DraftWork
from handrail.core.errors import (
    CommandExecutionError,
    DraftDamaged,
    FileOperationError,
    HandrailError,
    PathValidationError,
    StaleFileError,
)
from handrail.core.rehearsal import CallRef, Contents, T
from handrail.executors.drafts.draft import A_MOMENT, Draft
from handrail.executors.drafts.listing import StoredDrafts
from handrail.executors.drafts.merging import merge_clashes
from handrail.executors.drafts.parts import DraftParts
from handrail.executors.drafts.program_note import ProgramNote, folders_with_notes
from handrail.executors.drafts.programs import recover_program
from handrail.executors.drafts.reading import NO_DRAFT, reading
from handrail.executors.drafts.records import (
    damage_of,
    note_session,
    remove_steps,
)
from handrail.executors.drafts.summing import Summed, last_of, read_sum, tell_sum
from handrail.executors.drafts.untold import note_removed, take_note
from handrail.executors.drafts.work import (
    DraftCommands,
    DraftFiles,
    DraftRehearsals,
    DraftSearches,
    Step,
)
from handrail.executors.files.ripgrep import Ripgrep
from handrail.executors.rehearsal.apply import apply
from handrail.executors.rehearsal.git_reading import GitEffectsReader

log = structlog.get_logger(__name__)

_APPLYING = "applying.json"
# Each has a /tmp in memory, and caches on disk.
_MOST_AWAKE = 8
_NOT_KEPT = "the draft of this session cannot be kept: {}"
_NOT_SUMMED = "the draft was not summed up for this call; call it again"


class ClientDrafts:
    """Drafts outlive the client: what a session had is there again when its next call comes."""

    def __init__(self, base: Path, parts: DraftParts, ripgrep: Ripgrep):
        self._base = base
        self._parts = parts
        self._ripgrep = ripgrep
        self._git = GitEffectsReader(parts.box, base / "git")
        self._drafts: dict[str, Draft] = {}
        self._awake: OrderedDict[Draft, None] = OrderedDict()
        self._sums: dict[CallRef, Summed] = {}
        # Each for itself: the mode does not count for parents that are made on the way.
        for folder in (base.parent, base):
            folder.mkdir(0o700, exist_ok=True)

    def work_on(self, call: CallRef, title: str) -> DraftWork:
        draft, executor = self.open(call.session_id), self._parts.executor
        step = Step(draft, call, title)
        return DraftWork(
            DraftFiles(step),
            DraftCommands(draft, executor),
            DraftSearches(draft, self._ripgrep),
            DraftRehearsals(step, executor),
        )

    async def sum_up(
        self, call: CallRef, steps: int | None, paths: Sequence[str] | None = None
    ) -> DraftSum:
        draft = self._find(call.session_id)
        earlier = self._sums.get(call)
        async with draft.turn.for_call():
            known = draft.layers.steps
            if not known:
                raise CommandExecutionError(NO_DRAFT)
            number = last_of(known, steps) if earlier is None else earlier.number
            summed = await self._sum_up(draft, number)
            is_whole = number == draft.layers.last
            if is_whole and await merge_clashes(draft, summed.clashes, call):
                number = draft.layers.last
                summed = await self._sum_up(draft, number)
        await self._forget(call)
        if paths is not None:
            try:
                summed = summed.choose(paths)
            except CommandExecutionError:
                await asyncio.to_thread(summed.read.discard)
                raise
        self._sums[call] = summed
        return tell_sum(summed, known)

    async def look(
        self, session_id: str, steps: int | None, draw: Callable[[DraftSum, Contents], T]
    ) -> T:
        self._find(session_id)

        def look() -> T:
            with reading(self._folder(session_id), self._parts.box.root, steps, self._git) as read:
                return read.summed.draw(lambda contents: draw(read.told, contents))

        return await asyncio.to_thread(look)

    async def show(self, call: CallRef, draw: Callable[[Contents], T]) -> T:
        return await asyncio.to_thread(self._get(call).draw, draw)

    async def apply(self, call: CallRef) -> None:
        summed, draft = self._get(call), self.open(call.session_id)
        if summed.read.why_not:
            raise PathValidationError(summed.read.why_not)
        if summed.conflicts:
            raise StaleFileError(summed.conflicts[0])
        async with draft.turn.for_call():
            await asyncio.to_thread(self._apply, call, summed)
            if not summed.others:
                await draft.drop_through(summed.number)
                self._marker(call.session_id).unlink()
        await self._forget(call)

    async def discard(
        self,
        session_id: str,
        first: int,
        why: str = "",
        expected: Sequence[DraftStep] | None = None,
    ) -> Sequence[DraftStep]:
        """Nothing is removed if there are other steps than those `expected`."""
        try:
            gone = await self._find(session_id).discard(first, expected)
        except DraftDamaged:
            # Nothing runs in a draft that cannot be read.
            gone = await asyncio.to_thread(remove_steps, self._folder(session_id), first)
        if why and gone:
            await asyncio.to_thread(note_removed, self._folder(session_id), gone, why)
        return gone

    def take_note(self, call: CallRef) -> str:
        return take_note(self._folder(call.session_id), call.tool_id)

    def holds(self, tool_id: str) -> bool:
        """Whether a call is a step of a draft that is kept here."""
        drafts = StoredDrafts(self._base).list()
        return any(step.call == tool_id for draft in drafts for step in draft.steps)

    async def recover(self) -> None:
        """Keep what programs had changed when an earlier client was killed."""
        for folder in folders_with_notes(self._base):
            note = ProgramNote.find(folder)
            if note is None:
                continue
            try:
                await recover_program(self.open(note.session_id))
            except (OSError, HandrailError) as error:
                log.warning("drafts.program_lost", session=note.session_id, error=str(error))

    async def close(self) -> None:
        """End what runs in drafts; their steps stay."""
        for call in [*self._sums]:
            await self._forget(call)
        for draft in self._drafts.values():
            await draft.close()

    async def _sum_up(self, draft: Draft, number: int) -> Summed:
        root = self._parts.box.root
        layers = draft.layers

        def read() -> Summed:
            return read_sum(layers.fold_through(number), layers.steps, number, root, self._git)

        summed = await asyncio.to_thread(read)
        if summed.effects.stale:
            # A change of this moment could not be told from one during the reading.
            await asyncio.sleep(A_MOMENT)
            summed = await asyncio.to_thread(read)
        return summed

    def _apply(self, call: CallRef, summed: Summed) -> None:
        if not summed.others:
            self._mark(call, summed.number)
        with summed.opened() as (_, upper):
            apply(self._parts.store, call.tool_id, summed.effects, upper, summed.read.objects)

    def _mark(self, call: CallRef, number: int) -> None:
        """Note that the steps up to this number are applied by now, if the call was carried out."""
        text = json.dumps({"call": call.tool_id, "number": number})
        try:
            self._marker(call.session_id).write_text(text)
        except OSError as error:
            raise FileOperationError(_NOT_KEPT.format(error.strerror)) from error

    def open(self, session_id: str) -> Draft:
        """The draft of a session, which counts as used.

        Raises:
            DraftDamaged: It cannot be read.
            FileOperationError: The disk refuses.
        """
        folder = self._folder(session_id)
        try:
            folder.mkdir(0o700, exist_ok=True)
            note_session(folder, session_id)
            if session_id not in self._drafts:
                self._drafts[session_id] = self._read(session_id, folder)
        except DraftDamaged as error:
            raise damage_of(session_id, folder, error.message) from error
        except OSError as error:
            raise FileOperationError(_NOT_KEPT.format(error.strerror)) from error
        return self._drafts[session_id]

    def _read(self, session_id: str, folder: Path) -> Draft:
        """A draft from disk; steps that were applied before a crash leave it now."""
        draft = Draft(folder, self._parts, self._make_room)
        marker = self._marker(session_id)
        if marker.exists():
            with suppress(ValueError):
                # It is cut off if the crash came before anything was applied.
                told = json.loads(marker.read_bytes())
                if self._parts.store.holds(told["call"]):
                    draft.layers.drop_through(told["number"])
            marker.unlink()
        return draft

    async def _make_room(self, draft: Draft) -> None:
        """Note that a draft is about to run something; the one that did so longest ago rests."""
        self._awake.pop(draft, None)
        self._awake[draft] = None
        if len(self._awake) > _MOST_AWAKE:
            oldest, _ = self._awake.popitem(last=False)
            await oldest.rest()

    def _find(self, session_id: str) -> Draft:
        if not self._folder(session_id).exists():
            raise CommandExecutionError(NO_DRAFT)
        return self.open(session_id)

    def _folder(self, session_id: str) -> Path:
        return self._base / hashlib.sha256(session_id.encode()).hexdigest()[:16]

    def _marker(self, session_id: str) -> Path:
        return self._folder(session_id) / _APPLYING

    def _get(self, call: CallRef) -> Summed:
        if (summed := self._sums.get(call)) is None:
            raise CommandExecutionError(_NOT_SUMMED)
        return summed

    async def _forget(self, call: CallRef) -> None:
        if (summed := self._sums.pop(call, None)) is not None:
            await asyncio.to_thread(summed.read.discard)
