"""CommandExecutor: programs in one workspace, each ended with all that it started."""

import asyncio
import os
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from handrail.core.box import Profile
from handrail.core.errors import CommandExecutionError
from handrail.core.hands import CommandOutcome, Ending
from handrail.executors.output import Output
from handrail.executors.programs import SEARCH_PATH, ProgramFinder
from handrail.executors.sandbox.box import Box
from handrail.executors.starting import BoxStarter, OpenStarter, Starter, Streams
from handrail.executors.tree import Tree
from handrail.policy.validators.sizes import MEGABYTE

# How long what a command has left in the background may go on writing after its end.
_LINGER_SECONDS = 0.5
_MOST_WORDS_OF_BOX = 500


class CommandExecutor:
    """Starts argv lists, never a shell, with an environment made from nothing."""

    def __init__(
        self,
        root: str | Path,
        *,
        box: Box | None = None,
        search_path: Sequence[str] = SEARCH_PATH,
        grace_seconds: float = 5.0,
        max_stream_bytes: int = MEGABYTE,
        keeper: str = "",
    ):
        self.root = os.path.realpath(root)
        self._programs = ProgramFinder(self.root, search_path)
        self._open = OpenStarter(self.root, self._programs.search_path, keeper)
        self._starter: Starter = self._open if box is None else BoxStarter(box)
        self._grace_seconds = grace_seconds
        self._max_stream_bytes = max_stream_bytes

    async def run(
        self, argv: Sequence[str], *, profile: Profile, timeout_seconds: float
    ) -> CommandOutcome:
        """Run to the end, or to the limit; nothing that was started is left running."""
        if any("\0" in word for word in argv):
            raise CommandExecutionError("no argument can hold a zero byte")
        program = self._programs.find(argv[0])
        with Output(self._max_stream_bytes) as out, Output(self._max_stream_bytes) as err:
            return await self._run([program, *argv[1:]], profile, out, err, timeout_seconds)

    async def _run(
        self, argv: list[str], profile: Profile, out: Output, err: Output, timeout_seconds: float
    ) -> CommandOutcome:
        streams = Streams(asyncio.subprocess.DEVNULL, out.writer, err.writer)
        began = time.perf_counter()
        async with self._starter.start(argv, profile, streams, timeout_seconds) as tree:
            out.close_writer()
            err.close_writer()
            in_time = await self._watch(tree, out, err, timeout_seconds)
        seconds = time.perf_counter() - began
        await _wait_for_both(out, err)
        ending, code = _how_it_ended(tree, err, in_time=in_time)
        return CommandOutcome(
            bytes(out.kept),
            bytes(err.kept),
            ending,
            code,
            seconds,
            out.lost,
            err.lost,
            self._starter.walls,
        )

    async def _watch(self, tree: Tree, out: Output, err: Output, timeout_seconds: float) -> bool:
        """Wait for the end, or bring it about. Whether it came in time."""
        try:
            async with asyncio.timeout(timeout_seconds):
                await tree.process.wait()
        except TimeoutError:
            return False
        else:
            await _wait_for_both(out, err)
            return True
        finally:
            await tree.end(self._grace_seconds)

    def end_what_was_left(self) -> None:
        """End what an earlier life of this machine has left running; boxes end with their maker."""
        self._open.end_what_was_left()


async def _wait_for_both(out: Output, err: Output) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(_LINGER_SECONDS):
            await out.ended.wait()
            await err.ended.wait()


def _how_it_ended(tree: Tree, err: Output, *, in_time: bool) -> tuple[Ending, int | None]:
    if not in_time:
        return Ending.TIMED_OUT, None
    code = tree.exit_code
    if code is None:
        words = bytes(err.kept[:_MOST_WORDS_OF_BOX]).decode(errors="replace").strip()
        raise CommandExecutionError(f"no box could be made for it: {words}")
    return (Ending.KILLED if code < 0 else Ending.EXITED), code
