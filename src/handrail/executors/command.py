"""CommandExecutor: programs in one workspace, each ended with all that it started."""

import asyncio
import os
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import replace
from pathlib import Path

from handrail.core.errors import CommandExecutionError, StaleCommandError
from handrail.core.hands import CommandOutcome, Ending
from handrail.core.sight import Sight, differing, tell_differing
from handrail.core.stage import Join, Stage
from handrail.core.tool import JsonObject
from handrail.core.traffic import NO_TRAFFIC, Traffic
from handrail.executors.credentials import (
    NO_CREDENTIAL,
    Credential,
    HandIn,
    Remote,
    ask_helpers,
    handed_in,
)
from handrail.executors.expanding import expanded
from handrail.executors.git import GitGuard, Pairs, runs_git
from handrail.executors.looking import CommandLooker
from handrail.executors.networks import Networks
from handrail.executors.output import Output
from handrail.executors.pipes import Piping
from handrail.executors.programs import SEARCH_PATH, ProgramFinder
from handrail.executors.remotes import RemoteFinder, reaches_remote
from handrail.executors.repositories import settings_files
from handrail.executors.sandbox.box import Box
from handrail.executors.sandbox.fence import Fence
from handrail.executors.starting import BoxStarter, OpenStarter, Provisions, Starter
from handrail.executors.tree import Tree
from handrail.policy.rulebook.rules import Rules, default_rules
from handrail.policy.validators.sizes import MEGABYTE

# How long what a command has left in the background may go on writing after its end.
_LINGER_SECONDS = 0.5
_LISTING_SECONDS = 10.0
_MOST_WORDS_OF_BOX = 500


class CommandExecutor:
    """Starts argv lists, never a shell, with an environment made from nothing.

    Each in a `box`, else behind a `fence`, else in the open.

    `toolchains` are folders beside the system's whose programs a person has allowed, and `identity`
    is under which name git commits; the `rules` say which hosts may be reached.
    """

    def __init__(
        self,
        root: str | Path,
        *,
        box: Box | None = None,
        search_path: Sequence[str] = SEARCH_PATH,
        toolchains: Sequence[str] = (),
        fence: Fence | None = None,
        grace_seconds: float = 5.0,
        max_stream_bytes: int = MEGABYTE,
        keeper: str = "",
        identity: Pairs | None = None,
        rules: Rules | None = None,
    ):
        self.root = os.path.realpath(root)
        self._programs = ProgramFinder(self.root, search_path, toolchains)
        self._open = OpenStarter(self.root, self._programs.search_path, keeper, fence)
        self._starter: Starter = self._open if box is None else BoxStarter(box, keeper)
        self._looker = CommandLooker(self.root, self._programs, self._starter.environment)
        self._grace_seconds = grace_seconds
        self._max_stream_bytes = max_stream_bytes
        self._box = box
        self._git = GitGuard(self.root, identity, self._look_at_settings, self._find_settings)
        self._networks = Networks(rules or default_rules(), self._programs)
        self._remotes = RemoteFinder(self._look_at)

    def adopt(self, rules: Rules) -> None:
        """Go by other rules from now on."""
        self._networks.adopt(rules)

    def end_what_was_left(self) -> None:
        """End what an earlier life of this machine has left running."""
        self._open.end_what_was_left()

    async def look(self, stages: Sequence[Stage]) -> Sight:
        """What these programs would run, as the machine stands."""
        _refuse_zero_bytes(stages)
        sight = await asyncio.to_thread(self._looker.look, stages)
        return replace(sight, hosts=await self._hosts_for(stages))

    async def run(
        self,
        stages: Sequence[Stage],
        *,
        timeout_seconds: float,
        expected: JsonObject | None = None,
    ) -> CommandOutcome:
        """Run to the end, or to the limit; nothing that was started is left running."""
        _refuse_zero_bytes(stages)
        if expected is not None:
            stages = _as_seen(stages, await self._look_again(stages, expected))
        ready = [self._named_by_path(stage) for stage in stages]
        return await self._run(ready, self._git, timeout_seconds)

    async def _look_again(self, stages: Sequence[Stage], expected: JsonObject) -> Sight:
        sight = await self.look(stages)
        if names := differing(expected, sight.facts):
            raise StaleCommandError(tell_differing(names))
        return sight

    async def _hosts_for(self, stages: Sequence[Stage]) -> tuple[str, ...] | None:
        """The hosts that they may reach; None where none of them uses a network, or all is open."""
        names = dict.fromkeys(name for stage in stages for name in stage.networks)
        if not names or self._box is None:
            return None
        listed = (await self._networks.reachable_by(names)).hosts
        remotes = [
            Remote.of(await self._remotes.find(stage)).place
            for stage in map(self._named_by_path, stages)
            if reaches_remote(stage)
        ]
        return tuple(dict.fromkeys((*listed, *remotes)))

    async def _look_at(self, stage: Stage) -> CommandOutcome:
        return await self._look_at_settings(stage, GitGuard(self.root))

    async def _look_at_settings(self, stage: Stage, git: GitGuard) -> CommandOutcome:
        return await self._run([self._named_by_path(stage)], git, _LISTING_SECONDS)

    async def _find_settings(self, folder: str) -> Sequence[str]:
        if self._box is None:
            return []
        view = await self._box.look(git_in=folder)
        return await asyncio.to_thread(settings_files, view)

    async def _run(self, stages: Sequence[Stage], git: GitGuard, seconds: float) -> CommandOutcome:
        with Output(self._max_stream_bytes) as out, Output(self._max_stream_bytes) as err:
            helps = _Helps(git, self._networks, self._remotes)
            run = _Run(self._starter, helps, self.root, out, err, self._grace_seconds)
            began = time.perf_counter()
            ending, code = await run.follow(stages, seconds)
            took = time.perf_counter() - began
            await run.hear_the_rest()
            return CommandOutcome(
                helps.mask(bytes(out.kept)),
                helps.mask(bytes(err.kept)),
                ending,
                code,
                took,
                out.lost,
                err.lost,
                self._starter.walls,
                run.traffic,
            )

    def _named_by_path(self, stage: Stage) -> Stage:
        program = self._programs.find(stage.argv[0], stage.folder)
        return replace(stage, argv=(program, *stage.argv[1:]))


class _Helps:
    """What programs are given on their way; the secrets among it are printed nowhere."""

    def __init__(self, git: GitGuard, networks: Networks, remotes: RemoteFinder):
        self._git = git
        self._networks = networks
        self._remotes = remotes
        self._given: list[Credential] = []

    async def provisions(self, stage: Stage, stack: AsyncExitStack) -> Provisions:
        """What a stage is given, until the stack ends."""
        reachable = await self._networks.reachable_by(stage.networks)
        if not runs_git(stage):
            return Provisions(reachable.variables, reachable.local)
        settings, fds = await self._credential(stage, stack)
        variables = await self._git.environment(stage, settings)
        return Provisions((*variables, *reachable.variables), reachable.local, fds)

    async def _credential(self, stage: Stage, stack: AsyncExitStack) -> HandIn:
        """For the one remote that it reaches, if that is among the hosts that were approved."""
        if not (reaches_remote(stage) and stage.hosts):
            return NO_CREDENTIAL
        remote = Remote.of(await self._remotes.find(stage))
        if remote.place not in stage.hosts:
            return NO_CREDENTIAL
        credential = await ask_helpers(remote, os.environ)
        if credential is None:
            return NO_CREDENTIAL
        self._given.append(credential)
        return stack.enter_context(handed_in(credential, remote))

    def mask(self, words: bytes) -> bytes:
        """What was printed, without what was given."""
        for credential in self._given:
            words = credential.mask(words)
        return words


class _Run:
    """Stages on their way, pipeline by pipeline."""

    def __init__(
        self,
        starter: Starter,
        helps: _Helps,
        root: str,
        out: Output,
        err: Output,
        grace_seconds: float,
    ):
        self._starter = starter
        self._helps = helps
        self._root = root
        self._out = out
        self._err = err
        self._grace_seconds = grace_seconds
        self._begun: list[Tree] = []

    @property
    def traffic(self) -> Traffic:
        """What all of them together have said to the network."""
        return sum((tree.traffic for tree in self._begun), start=NO_TRAFFIC)

    async def follow(self, stages: Sequence[Stage], seconds: float) -> tuple[Ending, int | None]:
        """How the last one ended that was run."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + seconds
        code = 0
        *others, last = _pipelines(stages)
        for pipeline in (*others, last):
            if not pipeline[0].join.goes_on_after(code):
                continue
            trees = await self._run(pipeline, deadline - loop.time(), is_last=pipeline is last)
            if trees is None:
                return Ending.TIMED_OUT, None
            code = self._code_of(trees)
        return (Ending.KILLED if code < 0 else Ending.EXITED), code

    async def hear_the_rest(self) -> None:
        """Nothing that still runs holds the other ends; unless in the open, for a moment."""
        self._out.close_writer()
        self._err.close_writer()
        with suppress(TimeoutError):
            async with asyncio.timeout(_LINGER_SECONDS):
                await self._out.ended.wait()
                await self._err.ended.wait()

    async def _run(
        self, pipeline: Sequence[Stage], seconds: float, *, is_last: bool
    ) -> list[Tree] | None:
        """The trees as they ended; None where the time was over first."""
        async with AsyncExitStack() as stack:
            trees: list[Tree] = []
            with Piping(pipeline, self._out, self._err) as piping:
                for stage, streams in zip(pipeline, piping.streams, strict=True):
                    given = await self._helps.provisions(stage, stack)
                    ready = expanded(self._root, stage)
                    starting = self._starter.start(ready, streams, seconds, given)
                    trees.append(await stack.enter_async_context(starting))
                    self._begun.append(trees[-1])
            try:
                async with asyncio.timeout(seconds):
                    for tree in trees:
                        await tree.process.wait()
                if is_last:
                    await self.hear_the_rest()
            except TimeoutError:
                return None
            finally:
                await asyncio.gather(*[tree.end(self._grace_seconds) for tree in trees])
        return trees

    def _code_of(self, trees: Sequence[Tree]) -> int:
        codes = [tree.exit_code for tree in trees]
        if None in codes:
            words = bytes(self._err.kept[:_MOST_WORDS_OF_BOX]).decode(errors="replace").strip()
            raise CommandExecutionError(f"no box could be made for it: {words}")
        return codes[-1] or 0


def _pipelines(stages: Sequence[Stage]) -> list[list[Stage]]:
    """Stages that are joined by pipes run together."""
    found: list[list[Stage]] = []
    for stage in stages:
        if stage.join is Join.PIPE and found:
            found[-1].append(stage)
        else:
            found.append([stage])
    return found


def _refuse_zero_bytes(stages: Sequence[Stage]) -> None:
    if any("\0" in word for stage in stages for word in stage.argv):
        raise CommandExecutionError("no argument can hold a zero byte")


def _as_seen(stages: Sequence[Stage], sight: Sight) -> list[Stage]:
    """What runs first runs with the names just seen; what follows, with what that leaves there.

    What may use a network reaches the hosts that were seen.
    """
    first = len(_pipelines(stages)[0])
    seen = [
        replace(stage, argv=step.argv, patterns=())
        for stage, step in zip(stages[:first], sight.steps[:first], strict=True)
    ]
    hosts = sight.hosts or ()
    return [
        replace(stage, hosts=hosts) if stage.networks else stage
        for stage in (*seen, *stages[first:])
    ]
