"""One session's draft: calls that run over its layers, each of which becomes a step."""

import asyncio
import os
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from pathlib import Path

from handrail.core.draft import DraftStep
from handrail.core.effects import Node
from handrail.core.errors import CommandExecutionError
from handrail.core.files import FileContent
from handrail.core.rehearsal import CallRef, Contents, Rehearsed, T
from handrail.core.stage import Stage
from handrail.executors.drafts.bases import keep_bases
from handrail.executors.drafts.layers import DraftLayers
from handrail.executors.drafts.parts import DraftParts, Ran
from handrail.executors.drafts.trimming import trim_layer
from handrail.executors.drafts.turn import Turn
from handrail.executors.files.filesystem import FileSystemExecutor
from handrail.executors.rehearsal.caps import DEFAULT_CAPS, Caps
from handrail.executors.rehearsal.contents import LayerContents
from handrail.executors.rehearsal.effects import CLOCK_SLACK_NS, Reading, read_effects
from handrail.executors.rehearsal.git_reading import GitEffectsReader, ReadEffects
from handrail.executors.rehearsal.overlay import Layers
from handrail.executors.rehearsal.probe import Proof
from handrail.executors.rehearsal.rehearser import Rehearsal, Rehearser
from handrail.executors.rehearsal.session import Stand, remove_folder
from handrail.executors.rehearsal.telling import read_git, tell
from handrail.executors.rehearsal.way import LISTED

# Steps of one draft, and how much their files may take up together.
MOST_STEPS = 500
MOST_BYTES = 2 << 30
A_MOMENT = 2 * CLOCK_SLACK_NS / 1e9
_FULL = (
    f"the draft has {MOST_STEPS} steps, the most that one may have; have a person decide about it"
    " with apply_draft"
)
_TOO_LARGE = (
    f"the draft would hold more than {MOST_BYTES >> 30} GB; have a person decide about it with"
    " apply_draft"
)


class Draft:
    """Steps follow one another, so whoever changes the draft holds its `turn`; reads need not."""

    def __init__(
        self, folder: Path, parts: DraftParts, make_room: "Callable[[Draft], Awaitable[None]]"
    ):
        """`make_room` is called before anything runs here."""
        self._make_room = make_room
        self.turn = Turn()
        self.layers = DraftLayers(folder)
        self.folder = folder
        self.parts = parts
        self._rehearser = self.make_rehearser("run", DEFAULT_CAPS)
        # Few drafts have one: see programs.py.
        self.programs: Rehearser | None = None
        self._git = GitEffectsReader(parts.box, folder / "git", self.layers.lowers)
        self._views = 0
        self._count = 0
        self._stands: list[Stand] = []

    async def why_not(self) -> str:
        return await self._rehearser.why_not() or ""

    async def run(
        self, stages: Sequence[Stage], seconds: float, *, with_network: bool = False
    ) -> Ran:
        """Run stages over the layers; with a network they are run only once."""
        rehearse = self._rehearser.rehearse
        if with_network:
            await self.check_room()
            # It cannot be run again where a file was changed in the moment before it.
            await asyncio.sleep(A_MOMENT)
            ran = await rehearse(stages, timeout_seconds=seconds, with_remotes=True)
            return await self.read_effects(ran, follows_remotes=True)
        return await self._settled(lambda: rehearse(stages, timeout_seconds=seconds))

    async def change(self, work: Callable[[FileSystemExecutor], Awaitable[None]]) -> Ran:
        """Have `work` change files over the layers."""

        async def change_files(view_fd: int) -> None:
            with self.parts.files.over(os.dup(view_fd), self.layers.holds) as files:
                await work(files)

        return await self._settled(lambda: self._rehearser.change(change_files))

    async def try_out(self, work: Callable[[FileSystemExecutor], Awaitable[T]]) -> T:
        """Have `work` look at files that could be written; what it changes is thrown away."""
        found: list[T] = []

        async def look(view_fd: int) -> None:
            with self.parts.files.over(os.dup(view_fd), self.layers.holds) as files:
                found.append(await work(files))

        async with self.turn.for_call():
            await (await self._rehearser.change(look)).close()
        return found[0]

    async def _settled(self, once: Callable[[], Awaitable[Rehearsal]]) -> Ran:
        """What a call does; once more if others have changed the same files meanwhile."""
        await self.check_room()
        ran = await self.read_effects(await once())
        if ran.rehearsed.effects.stale:
            await ran.close()
            # A change of this moment could not be told from one during the next run.
            await asyncio.sleep(A_MOMENT)
            ran = await self.read_effects(await once())
        return ran

    async def seal(
        self,
        ran: Ran,
        call: CallRef,
        title: str,
        merged: tuple[tuple[str, Node], ...] = (),
    ) -> DraftStep | None:
        """Make what a call did the next step; None if it did nothing.

        Raises:
            CommandExecutionError: Its effects are not known, or a draft may not hold them.
            FileOperationError: They cannot be kept.
        """
        told = ran.rehearsed
        try:
            if not told.is_complete:
                raise CommandExecutionError(f"nothing was kept in the draft: {told.ended_by}")
            if told.effects.is_empty and not merged:
                return None
            step = replace(self.next_step(told, call, title), merged=merged)
            await self.keep(ran, step)
        finally:
            await ran.close()
        return step

    def next_step(self, told: Rehearsed, call: CallRef, title: str) -> DraftStep:
        return DraftStep(
            number=self.layers.last + 1,
            call=call.tool_id,
            title=title,
            at=time.time(),
            changes=(*told.effects.changes, *told.effects.git.changes),
            git=tuple(note.words for note in told.effects.git.notes),
            exit_code=told.outcome.exit_code,
        )

    async def keep(self, ran: Ran, step: DraftStep) -> None:
        stand, changes = ran.rehearsal.stand, ran.rehearsed.effects.changes
        await asyncio.to_thread(keep_bases, self.layers, self.parts.box.root, changes)
        if stand.closing is not None:
            await stand.closing
        if not ran.rehearsed.effects.refusals:
            await asyncio.to_thread(_trim, ran)
        await asyncio.to_thread(self.layers.seal, step, stand.upper_name, stand.layers_fd)

    def find_step(self, call: CallRef) -> DraftStep | None:
        return next((step for step in self.layers.steps if step.call == call.tool_id), None)

    @asynccontextmanager
    async def view(self) -> AsyncGenerator[int]:
        """A descriptor of the workspace as the draft shows it, which can only be read."""
        lowers = self.layers.lowers()
        if not lowers:
            fd = os.open(self.parts.box.root, LISTED)
            try:
                yield fd
            finally:
                os.close(fd)
            return
        self._count += 1
        at = str(self.folder / f"view-{self._count}")
        await self.parts.maker.ensure()
        os.mkdir(at, 0o700)
        self._views += 1
        try:
            try:
                layers = Layers([*lowers, self.parts.box.root])
                fd = await self.parts.maker.mount_overlay(layers, at, "xino=on")
            finally:
                # A mount of another namespace goes with the folder that it is on.
                with suppress(OSError):
                    os.rmdir(at)
            try:
                yield fd
            finally:
                os.close(fd)
        finally:
            self._views -= 1

    @asynccontextmanager
    async def files(self) -> AsyncGenerator[FileSystemExecutor]:
        """The files as the draft shows them."""
        async with self.view() as fd:
            with self.parts.files.over(os.dup(fd), self.layers.holds) as files:
                yield files

    async def read(self, path: str, max_bytes: int) -> FileContent:
        """A file as the draft shows it; without a view, where it is clear which file that is."""
        layer = self.layers.layer_of(path)
        if layer == "" and _is_plain(self.parts.box.root, path):
            return await self.parts.files.read(path, max_bytes=max_bytes)
        if layer:
            with self.parts.files.over(os.open(layer, LISTED), lambda path: True) as files:
                return await files.read(path, max_bytes=max_bytes)
        async with self.files() as files:
            return await files.read(path, max_bytes=max_bytes)

    async def discard(
        self, first: int, expected: Sequence[DraftStep] | None = None
    ) -> list[DraftStep]:
        """Nothing is removed if there are other steps than those `expected`."""
        async with self.turn.for_call():
            if expected is not None and [*expected] != self.layers.steps:
                return []
            gone = await asyncio.to_thread(self.layers.drop_from, first)
            self._clean()
        return gone

    async def drop_through(self, number: int) -> None:
        await asyncio.to_thread(self.layers.drop_through, number)
        self._clean()

    async def rest(self) -> None:
        """Free what only a running call needs; the next one makes it anew. The steps stay."""
        # What a call did is kept for it until it is a step.
        if self.turn.is_taken or any(stand.is_kept for stand in self._stands):
            return
        async with self.turn.for_call():
            await self._close_rehearsers()

    async def close(self) -> None:
        """End what runs here; the steps stay."""
        async with self.turn.for_call():
            await self._close_rehearsers()

    async def _close_rehearsers(self) -> None:
        await self._rehearser.close()
        if self.programs is not None:
            await self.programs.close()

    def _clean(self) -> None:
        if self._views == 0:
            self.layers.clean()

    async def check_room(self) -> None:
        await self._make_room(self)
        if len(self.layers.steps) >= MOST_STEPS:
            raise CommandExecutionError(_FULL)
        sizes = (
            change.after.size
            for step in self.layers.steps
            for change in step.changes
            if change.after is not None
        )
        if sum(sizes) >= MOST_BYTES:
            raise CommandExecutionError(_TOO_LARGE)

    def make_rehearser(self, name: str, caps: Caps, *, is_new: bool = True) -> Rehearser:
        parts, folder = self.parts, self.folder / name
        if is_new:
            remove_folder(str(folder))
        proof = Proof(holds=parts.proof.holds, why_not=parts.proof.why_not, in_memory=False)
        return Rehearser(
            parts.executor,
            parts.box,
            parts.maker,
            folder,
            proof,
            caps=caps,
            keeper=parts.keeper,
            layers=self.layers.lowers,
        )

    async def read_effects(
        self, rehearsal: Rehearsal, caps: Caps = DEFAULT_CAPS, *, follows_remotes: bool = False
    ) -> Ran:
        self._stands = [*(one for one in self._stands if one.is_kept), rehearsal.stand]
        try:
            async with self.view() as lower:
                read = await asyncio.to_thread(
                    self._read_layers, rehearsal, lower, follows_remotes=follows_remotes
                )
        except BaseException:
            await rehearsal.close()
            raise
        return Ran(tell(rehearsal, read, caps), rehearsal, read)

    def _read_layers(
        self, rehearsal: Rehearsal, lower: int, *, follows_remotes: bool
    ) -> ReadEffects:
        upper = rehearsal.open_upper()
        try:
            reading = Reading(rehearsal.began_ns, hidden=rehearsal.hidden, is_own=self.layers.holds)
            effects = read_effects(lower, upper, reading)
            return read_git(
                self._git, effects, (lower, upper), rehearsal, follows_remotes=follows_remotes
            )
        finally:
            os.close(upper)

    async def show(self, ran: Ran, draw: Callable[[Contents], T]) -> T:
        """Draw the effects of a call on the draft, with the contents of the files."""
        async with self.view() as lower:
            upper = ran.rehearsal.open_upper()
            try:
                return await asyncio.to_thread(draw, LayerContents(lower, upper))
            finally:
                os.close(upper)


def _trim(ran: Ran) -> None:
    upper = ran.rehearsal.open_upper()
    try:
        trim_layer(upper, ran.rehearsed.effects)
    finally:
        os.close(upper)


def _is_plain(root: str, path: str) -> bool:
    """Whether no link leads to a file of the workspace, or through the draft to another one."""
    way = os.path.join(root, path)
    return os.path.realpath(way) == way
