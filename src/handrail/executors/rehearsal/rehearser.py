"""Rehearser: runs commands unasked where nothing that they do is real."""

import asyncio
import os
import stat
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from handrail.core.box import Profile
from handrail.core.effects import Dropped
from handrail.core.errors import CommandExecutionError
from handrail.core.outcome import CommandOutcome, Ending
from handrail.core.stage import Stage
from handrail.executors.commands.executor import CommandExecutor
from handrail.executors.files.beneath import PASSAGE, open_beneath
from handrail.executors.rehearsal.caps import DEFAULT_CAPS, Cap, Caps
from handrail.executors.rehearsal.conditions import why_not_here
from handrail.executors.rehearsal.git_hidden import OverlookedFiles
from handrail.executors.rehearsal.moment import Moment
from handrail.executors.rehearsal.names import NameRecorder
from handrail.executors.rehearsal.overlay import Maker
from handrail.executors.rehearsal.probe import Proof
from handrail.executors.rehearsal.session import Session, Stand
from handrail.executors.rehearsal.starter import RehearsalStarter
from handrail.executors.rehearsal.usage import used_in
from handrail.executors.rehearsal.watch import Filled, Watch
from handrail.executors.rehearsal.way import LISTED
from handrail.executors.sandbox.box import Box
from handrail.executors.sandbox.bubblewrap import GitAccess, View

# What every program says of a file whose owner or group is not known in the overlay.
_FOREIGN = b"Value too large for defined data type"


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """How a command went that was rehearsed, and what it would have changed.

    The changes are what lies in the upper directory. `dropped` are caches that were taken out of
    it, and `hidden` what of the workspace the command could not see: all by paths from the root. A
    rehearsal that `exceeded` a cap has not come to its end. `hosts` are those whose addresses it
    asked for in vain. `left_running` says that it had left processes running, which were ended.
    `outside` is what it has written in /tmp and its home, which the session keeps and nobody else.
    Where it `met_foreign` files, of another owner or group, it has failed to write them. It began
    at `began_ns`, by the clock that files get their times from. If it `is_marked`, git's index
    still says to overlook what was hidden.
    """

    outcome: CommandOutcome
    began_ns: int
    exceeded: Cap | None
    hosts: tuple[str, ...]
    left_running: bool
    met_foreign: bool
    dropped: tuple[Dropped, ...]
    hidden: tuple[str, ...]
    outside: tuple[str, ...]
    is_marked: bool
    stand: Stand

    def open_upper(self) -> int:
        """A descriptor of the upper directory, which no path of this machine may lead to."""
        return self.stand.open_upper()

    async def close(self) -> None:
        """Throw away what it would have changed."""
        await self.stand.discard()


# Starts programs with a starter, and says how they ended.
Work = Callable[[RehearsalStarter, Stand, Watch], Awaitable[CommandOutcome]]
# The outcome of work that has raised an exception, so that what was changed is kept.
Rescue = Callable[[BaseException], CommandOutcome]


class Rehearser:
    """Rehearsals of one session in one workspace.

    `executor` is what would run the commands for real, in boxes made by `box`. Everything that they
    leave lies below `folder`, which must not be in the workspace, or in memory.
    """

    def __init__(
        self,
        executor: CommandExecutor,
        box: Box,
        maker: Maker,
        folder: str | Path,
        proof: Proof,
        *,
        caps: Caps = DEFAULT_CAPS,
        keeper: str = "",
        layers: Callable[[], Sequence[str]] = tuple,
    ):
        """`layers` are folders between the overlay and the workspace, the topmost first."""
        self._executor = executor
        self._box = box
        self._maker = maker
        self._proof = proof
        self._caps = caps
        self._keeper = keeper
        self._cpu_left = caps.session_cpu_seconds
        self._session = Session(
            box.root,
            folder,
            maker,
            caps,
            in_memory=proof.in_memory,
            shown=box.toolchains,
            layers=layers,
        )

    async def why_not(self) -> str | None:
        """Why nothing can be rehearsed in this workspace now; None where it can."""
        if not self._proof.holds:
            return self._proof.why_not
        if self._cpu_left <= 0:
            most = f"{self._caps.session_cpu_seconds:,.0f} s"
            return f"this session's rehearsals have computed for {most}, as long as they may"
        return await asyncio.to_thread(why_not_here, self._box.root)

    async def rehearse(
        self, stages: Sequence[Stage], *, timeout_seconds: float, with_remotes: bool = False
    ) -> Rehearsal:
        """Run to the end, or to a limit; nothing that was started is left running.

        There is no network. If `with_remotes`, git reaches the remotes of the stages through their
        stand-ins, and what it pushes is pushed for real.

        Raises:
            CommandExecutionError: It cannot be rehearsed here, or could not be started.
        """
        ready = stages if with_remotes else [*map(_without_remotes, stages)]

        async def run(starter: RehearsalStarter, stand: Stand, watch: Watch) -> CommandOutcome:
            return await self._run(starter, stand, ready, watch, timeout_seconds)

        return await self.run(run)

    async def run(self, work: Work, rescue: Rescue | None = None) -> Rehearsal:
        """Have `work` start programs over an overlay; nothing that it started is left running.

        If `work` raises, all that was changed is thrown away, unless `rescue` tells the outcome.

        Raises:
            CommandExecutionError: It cannot be rehearsed here, or could not be started.
        """
        if (why := await self.why_not()) is not None:
            raise CommandExecutionError(f"it cannot be rehearsed: {why}")
        began = Moment.now()
        stand = await self._session.mount()
        names, watch = NameRecorder(), self._watch()
        starter = RehearsalStarter(
            self._box, self._maker, stand, self._session.lent, watch, names, self._keeper
        )
        try:
            async with watch:
                outcome = await work(starter, stand, watch)
        except BaseException as error:
            if rescue is None:
                await self._end(starter, watch, stand)
                await stand.discard()
                raise
            outcome = rescue(error)
        dropped = await self._end(starter, watch, stand)
        hidden = [path for view in starter.views for path in view.hidden]
        self._remove_covers(stand, [*starter.covers, *hidden])
        is_plain = await asyncio.to_thread(self._unflag, starter.overlooked, stand)
        began_ns = began.by_the_clock_of(Moment.now())
        return Rehearsal(
            outcome,
            began_ns,
            watch.exceeded,
            names.asked,
            any(tree.left_running for tree in starter.trees),
            _FOREIGN in outcome.stderr,
            dropped,
            _hidden(starter.views),
            self._session.written_outside(began_ns),
            not is_plain,
            stand,
        )

    async def recover(self, name: str, began_ns: int) -> Rehearsal:
        """What a rehearsal had changed when its client was killed; `name` is that of its stand.

        Raises:
            OSError: Nothing is left of it.
        """
        stand = self._session.reopen(name)
        view = await self._box.look(GitAccess.ALL)
        self._remove_covers(stand, [*view.missing, *view.hidden])
        is_plain = await asyncio.to_thread(self._unflag_hidden, view.hidden_in("."), stand)
        return Rehearsal(
            CommandOutcome(b"", b"", Ending.KILLED, None, 0.0),
            began_ns,
            exceeded=None,
            hosts=(),
            left_running=False,
            met_foreign=False,
            dropped=(),
            hidden=view.hidden_in("."),
            outside=(),
            is_marked=not is_plain,
            stand=stand,
        )

    async def change(self, work: Callable[[int], Awaitable[None]]) -> Rehearsal:
        """Have `work` change files through a descriptor of an overlay, without a command.

        Raises:
            CommandExecutionError: The kernel refuses an overlay, or there is no room left.
        """
        began = Moment.now()
        stand = await self._session.mount()
        try:
            await work(stand.view_fd)
        except BaseException:
            await self._session.unmount(stand)
            await stand.discard()
            raise
        dropped = await self._session.unmount(stand)
        began_ns = began.by_the_clock_of(Moment.now())
        return Rehearsal(
            CommandOutcome(b"", b"", Ending.EXITED, 0, 0.0),
            began_ns,
            exceeded=None,
            hosts=(),
            left_running=False,
            met_foreign=False,
            dropped=dropped,
            hidden=(),
            outside=(),
            is_marked=False,
            stand=stand,
        )

    async def close(self) -> None:
        """End the session: its caches, its /tmp and its home go. Close its rehearsals before."""
        await self._session.close()

    def _watch(self) -> Watch:
        session = self._session

        async def used() -> tuple[int, int]:
            return await asyncio.to_thread(used_in, session.layers_fd)

        changed = Filled(
            session.layers_fd, Cap.BYTES, Cap.FILES, None if session.is_in_memory else used
        )
        temporary = Filled(session.temporary_fd, Cap.TEMPORARY, Cap.TEMPORARY)
        return Watch(self._caps, self._cpu_left, (changed, temporary))

    def _unflag_hidden(self, hidden: Sequence[str], stand: Stand) -> bool:
        overlooked = OverlookedFiles()
        lower = os.open(self._box.root, LISTED)
        try:
            overlooked.assume(lower, hidden)
        finally:
            os.close(lower)
        return self._unflag(overlooked, stand)

    def _unflag(self, overlooked: OverlookedFiles, stand: Stand) -> bool:
        lower = os.open(self._box.root, LISTED)
        try:
            upper = stand.open_upper()
            try:
                return overlooked.unflag(upper, lower)
            finally:
                os.close(upper)
        finally:
            os.close(lower)

    def _remove_covers(self, stand: Stand, covers: Iterable[str]) -> None:
        """Take out what bubblewrap has made to cover names that do not exist, or no longer did.

        Something was mounted on each while anything ran, so they are as empty as they were made.
        """
        upper = stand.open_upper()
        try:
            for path in sorted({*covers}, reverse=True):
                if not os.path.lexists(path):
                    with suppress(OSError):
                        _remove_empty(upper, os.path.relpath(path, self._box.root))
        finally:
            os.close(upper)

    async def _run(
        self,
        starter: RehearsalStarter,
        stand: Stand,
        stages: Sequence[Stage],
        watch: Watch,
        seconds: float,
    ) -> CommandOutcome:
        async def object_to(first: int, end: int) -> str:
            del first, end
            return "" if watch.exceeded is None else watch.exceeded.tell(self._caps)

        return await self._executor.run_by(
            starter,
            stages,
            timeout_seconds=seconds,
            root=f"/proc/self/fd/{stand.view_fd}",
            objection=object_to,
        )

    async def _end(
        self, starter: RehearsalStarter, watch: Watch, stand: Stand
    ) -> tuple[Dropped, ...]:
        starter.close()
        self._cpu_left -= watch.cpu_seconds
        return await self._session.unmount(stand)


def _without_remotes(stage: Stage) -> Stage:
    profile = Profile.WRITE if stage.profile is Profile.NET else stage.profile
    return stage._replace(profile=profile, networks=(), hosts=(), remotes=())


def _remove_empty(upper: int, path: str) -> None:
    parent, name = os.path.split(path)
    fd = open_beneath(upper, parent or ".", PASSAGE)
    try:
        found = os.stat(name, dir_fd=fd, follow_symlinks=False)
        if stat.S_ISDIR(found.st_mode):
            os.rmdir(name, dir_fd=fd)
        elif stat.S_ISREG(found.st_mode) and found.st_size == 0:
            os.unlink(name, dir_fd=fd)
    finally:
        os.close(fd)


def _hidden(views: Sequence[View]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for view in views for name in view.hidden_in(".")))
