"""Starting programs: in a box where one is proven, and in the open where none is."""

import asyncio
import os
import shutil
import stat
import tempfile
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, suppress
from typing import Protocol

from handrail.core.box import Profile, Wall
from handrail.core.stage import Stage
from handrail.executors.commands.context import EMPTY, ExecutionContext
from handrail.executors.git.remotes import reaches_remote
from handrail.executors.git.words import changes_git, runs_git
from handrail.executors.network.way_out import VARIABLES, way_out
from handrail.executors.processes.output import Output
from handrail.executors.processes.pipes import Streams
from handrail.executors.processes.programs import path_for
from handrail.executors.processes.start import Process, start_process
from handrail.executors.processes.tree import BoxedTree, OpenTree, Tree, end_strays
from handrail.executors.repository.held import remove_planted
from handrail.executors.sandbox.box import Box, Launch, Lines, environment
from handrail.executors.sandbox.bubblewrap import GitAccess, View
from handrail.executors.sandbox.fence import Fence, FencedLaunch

# In the environment of what is started: for whom it runs.
KEEPER = "HANDRAILKEEPER"
MOST_STATUS_BYTES = 65_536
# A stage that gets the longest PATH; an approval is bound to that one.
_CHANGING = Stage(("make",), Profile.WRITE)


class Starter(Protocol):
    @property
    def environment(self) -> Mapping[str, str]:
        """What every program is given, but for what differs from start to start."""
        ...

    @property
    def walls(self) -> tuple[Wall, ...]:
        """What keeps in what is started."""
        ...

    def start(
        self,
        stage: Stage,
        streams: Streams,
        seconds: float,
        given: ExecutionContext = EMPTY,
    ) -> AbstractAsyncContextManager[Tree]:
        """Run a program, named by its path, for so long; nothing of it is left behind the block.

        Raises:
            CommandExecutionError: It could not be started.
        """
        ...


class BoxStarter:
    """Boxes end with who has made them, but for a moment in which the kernel cannot know yet.

    So that its next life can find what has begun in such a moment, bubblewrap is told the name of
    our `keeper`. It clears the environment after that, and what it runs never gets the word.
    """

    def __init__(self, box: Box, keeper: str = ""):
        self._box = box
        self._mark = ["--setenv", KEEPER, f"{KEEPER}={keeper}"] if keeper else []

    @property
    def environment(self) -> Mapping[str, str]:
        return dict(environment(path_for(_CHANGING, self._box.root, self._box.search_path)))

    @property
    def walls(self) -> tuple[Wall, ...]:
        return self._box.isolation.walls

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
        view = await self.view(stage, given)
        with Output(MOST_STATUS_BYTES) as status, Output(0) as alive:
            lines = Lines(status.writer, alive.writer)
            box = self._box.launch(stage, view, lines, seconds, variables, mounts=given.all_mounts)
            try:
                with box as launch:
                    words = self.marked(launch.argv)
                    process = start_process(words, streams, "/", {}, launch.fds)
                    async with _boxed(process, status, alive) as tree, AsyncExitStack() as stack:
                        tree.kept_from_it = view.hidden_in(stage.folder)
                        with suppress(TimeoutError):
                            async with asyncio.timeout(seconds):
                                await _let_begin(tree, launch, stage, given, stack)
                        yield tree
            finally:
                await asyncio.to_thread(remove_planted, view.gits, view.frozen)

    async def view(self, stage: Stage, given: ExecutionContext) -> View:
        """The workspace as the box of this stage shows it."""
        if given.over_overlay:
            return await self._box.look(GitAccess.ALL)
        return await self._box.look(GitAccess.CONTENT if changes_git(stage) else GitAccess.NONE)

    def marked(self, argv: Sequence[str]) -> list[str]:
        """The words for bubblewrap with the keeper's name among them."""
        bwrap, *told = argv
        return [bwrap, *self._mark, *told]


def without_network(stage: Stage) -> Stage:
    """Give git that reaches a remote a box without network: it talks to stand-ins."""
    return stage._replace(profile=Profile.WRITE) if reaches_remote(stage) else stage


async def _let_begin(
    tree: BoxedTree, launch: Launch, stage: Stage, given: ExecutionContext, stack: AsyncExitStack
) -> None:
    """Not before its way out is there, if it is to have one."""
    await launch.gate.reached(lambda: tree.process.returncode is not None)
    first = await tree.first() if stage.profile is Profile.NET else None
    if first is not None and tree.process.returncode is None:
        way = way_out(first, stage.hosts, given.local_hosts, given.withdrawn)
        tree.proxy = await stack.enter_async_context(way)
    launch.gate.open()


@asynccontextmanager
async def _boxed(process: Process, status: Output, alive: Output) -> AsyncGenerator[BoxedTree]:
    status.close_writer()
    alive.close_writer()
    tree = BoxedTree(process, status, alive)
    try:
        yield tree
    finally:
        await tree.end(0)


class OpenStarter:
    """What runs carries the name of its `keeper`, so that its next life can find what is left.

    Where there is a `fence`, it stands around each.
    """

    def __init__(
        self, root: str, search_path: Sequence[str], keeper: str = "", fence: Fence | None = None
    ):
        self._root = root
        self._fence = fence
        self._search_path = search_path
        self._keeper = keeper

    @property
    def environment(self) -> Mapping[str, str]:
        return self._environment(_CHANGING, "a folder of its own")

    @property
    def walls(self) -> tuple[Wall, ...]:
        return () if self._fence is None else self._fence.walls

    @asynccontextmanager
    async def start(
        self,
        stage: Stage,
        streams: Streams,
        seconds: float,
        given: ExecutionContext = EMPTY,
    ) -> AsyncGenerator[Tree]:
        home = tempfile.mkdtemp(prefix="handrail-")
        session: int | None = None
        try:
            folder = os.path.join(self._root, stage.folder)
            told = {name: value for name, value in given.variables if value is not None}
            variables = self._environment(stage, home) | told
            async with self._launch(stage, home, seconds) as launch:
                process = start_process(launch.argv, streams, folder, variables, launch.fds)
            session = process.pid
            yield OpenTree(process, home, is_kept=self._fence is not None)
        finally:
            await asyncio.to_thread(end_strays, f"HOME={home}", session)
            await asyncio.to_thread(_remove, home)

    @asynccontextmanager
    async def _launch(
        self, stage: Stage, home: str, seconds: float
    ) -> AsyncGenerator[FencedLaunch]:
        if self._fence is None:
            yield FencedLaunch(stage.argv)
            return
        fence = self._fence.around(stage, home, seconds, shows_settings=runs_git(stage))
        async with fence as launch:
            yield launch

    def end_what_was_left(self) -> None:
        """End what an earlier life of this machine has left running."""
        if self._keeper:
            end_strays(f"{KEEPER}={self._keeper}", None)

    def _environment(self, stage: Stage, home: str) -> dict[str, str]:
        return {
            **({KEEPER: self._keeper} if self._keeper else {}),
            "PATH": path_for(stage, self._root, self._search_path),
            "HOME": home,
            "TMPDIR": home,
            "LANG": "C.UTF-8",
            "TERM": "dumb",
            "NO_COLOR": "1",
            "PAGER": "cat",
            "GIT_TERMINAL_PROMPT": "0",
            "TAR_OPTIONS": "--force-local --no-same-owner",
        }


def _remove(home: str) -> None:
    """Some tools leave folders that may not be changed, and so could not be removed."""
    for folder, names, _ in os.walk(home):
        for path in (os.path.join(folder, name) for name in names):
            if not os.path.islink(path):
                os.chmod(path, stat.S_IRWXU)
    shutil.rmtree(home, ignore_errors=True)
