"""Starting the programs of one rehearsal, each in a box over the same overlay."""

import asyncio
import os
from collections.abc import AsyncGenerator, Mapping
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, suppress

from handrail.core.box import Profile, Wall
from handrail.core.stage import Stage
from handrail.executors.commands.context import EMPTY, ExecutionContext
from handrail.executors.commands.starting import MOST_STATUS_BYTES, BoxStarter, without_network
from handrail.executors.network.way_out import VARIABLES, way_out
from handrail.executors.processes.output import Output
from handrail.executors.processes.pipes import Streams
from handrail.executors.processes.tree import BoxedTree, Tree
from handrail.executors.rehearsal.git_hidden import OverlookedFiles
from handrail.executors.rehearsal.names import NameRecorder
from handrail.executors.rehearsal.overlay import BoxProcess, Maker
from handrail.executors.rehearsal.session import Stand
from handrail.executors.rehearsal.watch import Watch, children_of, is_alive, number_in_box
from handrail.executors.sandbox.box import Box, Lines, Movers
from handrail.executors.sandbox.bubblewrap import Lent, View

_MOMENT_SECONDS = 0.0005
# In a box the first process has the number 1 and starts the command. No number is used twice.
_COMMAND = 2
# Who ends together with the command may take a moment longer, and was not left running.
_LINGER_SECONDS = 0.03


class RehearsedTree(BoxedTree):
    """A box over an overlay. It notes whether the command has `left_running` anything.

    bubblewrap ends a box as soon as its command has ended. It is stopped meanwhile, so that there
    is time to see who else is in there, and what they all have used.
    """

    left_running = False

    def __init__(self, process: BoxProcess, status: Output, alive: Output, watch: Watch):
        super().__init__(process, status, alive)
        self._box = process
        self._watch = watch
        self._following: asyncio.Task[None] | None = None

    def follow(self, first: int) -> None:
        self._watch.add(first)
        self._following = self._watch.start(self._follow(first))

    async def end(self, grace_seconds: float) -> None:
        following, self._following = self._following, None
        if following is not None:
            if self._box.returncode is None:
                self._box.resume()
                following.cancel()
            with suppress(asyncio.CancelledError):
                await following
        await super().end(grace_seconds)

    async def _follow(self, first: int) -> None:
        try:
            command = await _command_of(first)
            if command is not None:
                await _end_of(command)
            self.left_running = await _has_left(first)
        finally:
            self._watch.take_off(first)
            self._box.resume()


class RehearsalStarter:
    """A starter for one rehearsal, over the overlay of a `stand`.

    What one program has moved is still moved for the next, so the `movers` last as long as it does.
    """

    def __init__(
        self,
        box: Box,
        maker: Maker,
        stand: Stand,
        lent: Lent,
        watch: Watch,
        names: NameRecorder,
        keeper: str = "",
    ):
        self._plain = BoxStarter(box, keeper)
        self._box = box
        self._maker = maker
        self._stand = stand
        self._lent = lent
        self._watch = watch
        self._names = names
        self._movers = Movers()
        self._moving = ExitStack()
        self.views: list[View] = []
        self.covers: list[str] = []
        self.trees: list[RehearsedTree] = []
        self.overlooked = OverlookedFiles()

    @property
    def environment(self) -> Mapping[str, str]:
        return self._plain.environment

    @property
    def walls(self) -> tuple[Wall, ...]:
        return self._plain.walls

    @asynccontextmanager
    async def start(
        self,
        stage: Stage,
        streams: Streams,
        seconds: float,
        given: ExecutionContext = EMPTY,
    ) -> AsyncGenerator[Tree]:
        stage = without_network(stage)
        variables = (*given.variables, *(VARIABLES if stage.profile is Profile.NET else ()))
        view = await self._plain.view(stage, given)
        if not self.views:
            hidden = view.hidden_in(".")
            await asyncio.to_thread(self.overlooked.flag, self._stand.view_fd, hidden)
        self.views.append(view)
        writes = stage.profile is not Profile.READ
        self._moving.enter_context(self._movers.beside(view, joins=writes))
        async with AsyncExitStack() as stack:
            status = stack.enter_context(Output(MOST_STATUS_BYTES))
            alive = stack.enter_context(Output(0))
            lines = Lines(status.writer, alive.writer)
            launching = self._box.launch(
                stage, view, lines, seconds, variables, lent=self._lent, mounts=given.all_mounts
            )
            launch = stack.enter_context(launching)
            self.covers += launch.missing
            launch = launch._replace(argv=self._plain.marked(launch.argv))
            process = self._maker.start(
                launch,
                streams,
                view=self._stand.view,
                root=self._box.root,
            )
            stack.callback(process.close)
            status.close_writer()
            alive.close_writer()
            tree = RehearsedTree(process, status, alive, self._watch)
            self.trees.append(tree)
            tree.kept_from_it = view.hidden_in(stage.folder)
            try:
                with suppress(TimeoutError):
                    async with asyncio.timeout(seconds):
                        await launch.gate.reached(lambda: process.returncode is not None)
                        await self._let_begin(tree, process, stack)
                        await self._let_out(tree, stage, given, stack)
                        # Without its parent, nobody would end it.
                        if process.returncode is None:
                            launch.gate.open()
                yield tree
            finally:
                await tree.end(0)

    async def _let_out(
        self, tree: RehearsedTree, stage: Stage, given: ExecutionContext, stack: AsyncExitStack
    ) -> None:
        """Give a program that may use the network its way out."""
        first = await tree.first() if stage.profile is Profile.NET else None
        if first is not None and tree.process.returncode is None:
            way = way_out(first, stage.hosts, given.local_hosts, given.withdrawn, given.further)
            tree.proxy = await stack.enter_async_context(way)

    async def _let_begin(
        self, tree: RehearsedTree, process: BoxProcess, stack: AsyncExitStack
    ) -> None:
        """Have everything in place by which it is watched."""
        first = await tree.first()
        if first is None or process.returncode is not None:
            return
        names = await process.names
        if names is not None:
            self._names.serve(names)
            stack.callback(self._names.leave, names)
        if children_of(first) is not None:
            process.stop()
        tree.follow(first)

    def close(self) -> None:
        self._moving.close()


async def _command_of(first: int) -> int | None:
    """The process of the command, which the first one in a box starts; None once it has ended.

    What a command leaves running becomes a child of the first one too.
    """
    while (children := children_of(first)) is not None:
        if children:
            return next((pid for pid in children if number_in_box(pid) == _COMMAND), None)
        if not is_alive(first):
            return None
        await asyncio.sleep(_MOMENT_SECONDS)
    return None


async def _end_of(pid: int) -> None:
    try:
        fd = os.pidfd_open(pid)
    except OSError:
        return
    loop = asyncio.get_running_loop()
    ended = asyncio.Event()
    loop.add_reader(fd, ended.set)
    try:
        await ended.wait()
    finally:
        loop.remove_reader(fd)
        os.close(fd)


async def _has_left(first: int) -> bool:
    if not children_of(first):
        return False
    await asyncio.sleep(_LINGER_SECONDS)
    return bool(children_of(first))
