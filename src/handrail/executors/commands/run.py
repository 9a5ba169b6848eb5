"""Stages on their way, pipeline by pipeline."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, suppress

from handrail.core.errors import CommandExecutionError
from handrail.core.outcome import Ending
from handrail.core.stage import Stage, pipelines
from handrail.core.traffic import Traffic
from handrail.executors.commands.context import ContextBuilder
from handrail.executors.commands.starting import Starter
from handrail.executors.files.patterns import expanded
from handrail.executors.git.exchange import Exchange
from handrail.executors.git.outside import RemoteError
from handrail.executors.processes.output import Output
from handrail.executors.processes.pipes import Piping
from handrail.executors.processes.tree import Tree

# How long what a command has left in the background may go on writing after its end.
_LINGER_SECONDS = 0.5
_MOST_WORDS_OF_BOX = 500
# As git ends where a remote cannot be reached.
_NO_REMOTE = 128


# Why the stages from one place to another may not begin; empty where they may.
Objection = Callable[[int, int], Awaitable[str]]


async def no_objection(first: int, end: int) -> str:
    del first, end
    return ""


class Run:
    """All stages of one call, from the first start to the last end."""

    def __init__(
        self,
        starter: Starter,
        contexts: ContextBuilder,
        root: str,
        out: Output,
        err: Output,
        grace_seconds: float,
        objection: Objection,
    ):
        self._starter = starter
        self._contexts = contexts
        self._root = root
        self._out = out
        self._err = err
        self._grace_seconds = grace_seconds
        self._objection = objection
        self.why_stopped = ""
        self._begun: list[Tree] = []

    @property
    def traffic(self) -> Traffic:
        """The traffic of all stages and of git outside their boxes."""
        return sum((tree.traffic for tree in self._begun), start=self._contexts.traffic)

    @property
    def kept_from_it(self) -> tuple[str, ...]:
        """What of the workspace one of them could not see."""
        return tuple(dict.fromkeys(name for tree in self._begun for name in tree.kept_from_it))

    async def follow(self, stages: Sequence[Stage], seconds: float) -> tuple[Ending, int | None]:
        """How the last one ended that was run."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + seconds
        code = end = 0
        *others, last = pipelines(stages)
        for pipeline in (*others, last):
            first, end = end, end + len(pipeline)
            if not pipeline[0].join.goes_on_after(code):
                continue
            if first and (why := await self._objection(first, end)):
                self.why_stopped = why
                return Ending.STOPPED, None
            ended = await self._run(pipeline, deadline - loop.time(), is_last=pipeline is last)
            if ended is None:
                return Ending.TIMED_OUT, None
            code = ended
        return (Ending.KILLED if code < 0 else Ending.EXITED), code

    async def hear_the_rest(self) -> None:
        """Nothing that still runs holds the other ends; unless in the open, for a moment."""
        self._out.close_writer()
        self._err.close_writer()
        with suppress(TimeoutError):
            async with asyncio.timeout(_LINGER_SECONDS):
                await self._out.ended.wait()
                await self._err.ended.wait()

    async def _run(self, pipeline: Sequence[Stage], seconds: float, *, is_last: bool) -> int | None:
        """Run a pipeline; returns its exit code, or None after a timeout."""
        trees: list[Tree] = []
        async with AsyncExitStack() as stack:
            try:
                async with asyncio.timeout(seconds):
                    exchanges = await self._start(pipeline, seconds, trees, stack)
                    for tree in trees:
                        await tree.process.wait()
                    if is_last:
                        await self.hear_the_rest()
                    code = self._code_of(trees)
                    for exchange in exchanges:
                        self._err.add(await exchange.deliver())
            except TimeoutError:
                return None
            except RemoteError as error:
                self._err.add(f"{error.message}\n".encode())
                return _NO_REMOTE
            finally:
                await asyncio.gather(*[tree.end(self._grace_seconds) for tree in trees])
        return code

    async def _start(
        self, pipeline: Sequence[Stage], seconds: float, trees: list[Tree], stack: AsyncExitStack
    ) -> list[Exchange]:
        """Start all stages of a pipeline and append each to `trees`."""
        exchanges: list[Exchange] = []
        with Piping(pipeline, self._out, self._err) as piping:
            for stage, streams in zip(pipeline, piping.streams, strict=True):
                given = await self._contexts.build(stage, stack)
                ready = expanded(self._root, stage)
                starting = self._starter.start(ready, streams, seconds, given)
                trees.append(await stack.enter_async_context(starting))
                self._begun.append(trees[-1])
                exchanges += [] if given.exchange is None else [given.exchange]
        return exchanges

    def _code_of(self, trees: Sequence[Tree]) -> int:
        codes = [tree.exit_code for tree in trees]
        if None in codes:
            words = bytes(self._err.kept[:_MOST_WORDS_OF_BOX]).decode(errors="replace").strip()
            raise CommandExecutionError(f"no box could be made for it: {words}")
        return codes[-1] or 0
