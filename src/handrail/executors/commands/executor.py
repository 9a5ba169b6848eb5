"""CommandExecutor: programs in one workspace, each ended with all that it started."""

import asyncio
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from handrail.core.box import Profile, Room, widest
from handrail.core.errors import CommandExecutionError, StaleCommandError
from handrail.core.outcome import CommandOutcome
from handrail.core.sight import Sight, differing, tell_differing
from handrail.core.stage import Stage, pipelines
from handrail.core.tool import JsonObject
from handrail.executors.commands.context import ContextBuilder
from handrail.executors.commands.looking import CommandLooker
from handrail.executors.commands.run import Objection, Run, no_objection
from handrail.executors.commands.starting import BoxStarter, OpenStarter, Starter
from handrail.executors.git.address import Address
from handrail.executors.git.recording import Recorder
from handrail.executors.git.remotes import addresses_in, find_targets, reaches_remote
from handrail.executors.git.settings import Pairs
from handrail.executors.git.words import changes_git
from handrail.executors.network.hosts import Networks
from handrail.executors.processes.output import Output
from handrail.executors.processes.programs import SEARCH_PATH, ProgramFinder, may_use_workspace
from handrail.executors.sandbox.box import Box
from handrail.executors.sandbox.fence import Fence
from handrail.policy.rulebook.rules import Rules, default_rules
from handrail.policy.validators.sizes import MEGABYTE

_LISTING_SECONDS = 10.0


class CommandExecutor:
    """Starts argv lists, never a shell, with an environment made from nothing.

    Each in a `box`, else behind a `fence`, else in the open.

    `toolchains` are folders beside the system's whose programs a person has allowed, and `identity`
    is under which name git commits; the `rules` say which hosts may be reached. Mirrors of git's
    remotes are kept in the folder `mirrors`.
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
        mirrors: Path | None = None,
    ):
        self._mirrors = mirrors
        self.root = os.path.realpath(root)
        self._programs = ProgramFinder(self.root, search_path, toolchains)
        self._open = OpenStarter(self.root, self._programs.search_path, keeper, fence)
        self._starter: Starter = self._open if box is None else BoxStarter(box, keeper)
        self._looker = CommandLooker(self.root, self._programs, self._starter.environment)
        self._grace_seconds = grace_seconds
        self._max_stream_bytes = max_stream_bytes
        self._box = box
        self.identity = identity or []
        self._networks = Networks(rules or default_rules(), self._programs)
        self._recorder = Recorder(self._look_at)

    def adopt(self, rules: Rules) -> None:
        """Go by other rules from now on."""
        self._networks.adopt(rules)

    def refresh_with(self, refresh: Callable[[], object]) -> None:
        """Have the rules checked for changes with each connection that a command makes."""
        self._networks.refresh = refresh

    def learn_hosts(self) -> None:
        """Find out which hosts may be reached, which takes a second or two, before it is asked."""
        if self._box is not None:
            self._networks.learn()

    def end_what_was_left(self) -> None:
        """End what an earlier life of this machine has left running."""
        self._open.end_what_was_left()

    async def look(self, stages: Sequence[Stage]) -> Sight:
        """What these programs would run, as the machine stands."""
        _refuse_zero_bytes(stages)
        sight = await self._with_records(await asyncio.to_thread(self._looker.look, stages), stages)
        if self._box is None or not any(stage.networks or stage.hosts for stage in stages):
            return replace(sight, room=self._room_of(stages))
        remotes = await self._remotes_of(stages)
        steps = [
            step
            if addresses is None
            else replace(step, remotes=tuple(dict.fromkeys(one.shown for one in addresses)))
            for step, addresses in zip(sight.steps, remotes, strict=True)
        ]
        hosts = await self._hosts_for(stages, remotes)
        accounts = {
            stage.account: await self._networks.credential_for(stage, hosts) is not None
            for stage in stages
            if stage.account
        }
        return replace(
            sight, steps=tuple(steps), hosts=hosts, accounts=accounts, room=self._room_of(stages)
        )

    async def _with_records(self, sight: Sight, stages: Sequence[Stage]) -> Sight:
        """What git would record or send is part of what is seen, where a box holds the look."""
        if self._box is None or all(stage.profile is Profile.READ for stage in stages):
            return sight
        records = [await self._recorder.find(stage) for stage in map(self._named_by_path, stages)]
        pairs = zip(sight.steps, records, strict=True)
        return replace(sight, steps=tuple([replace(step, record=record) for step, record in pairs]))

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
            stages = await self.as_expected(stages, expected)
        ready = [self._named_by_path(stage) for stage in stages]
        return await self._run(ready, timeout_seconds)

    async def run_by(
        self,
        starter: Starter,
        stages: Sequence[Stage],
        *,
        timeout_seconds: float,
        root: str,
        objection: Objection = no_objection,
    ) -> CommandOutcome:
        """Rehearse: run by another starter, and in what `root` shows of the workspace.

        Only the first program must exist by now: the others may come out of what runs before them.
        """
        _refuse_zero_bytes(stages)
        first, *others = stages
        ready = [self._named_by_path(first), *map(self._named_if_found, others)]
        return await self._run(ready, timeout_seconds, objection, starter=starter, root=root)

    async def as_expected(self, stages: Sequence[Stage], expected: JsonObject) -> Sequence[Stage]:
        """The stages as another look sees them, with the hosts and remotes that they may reach.

        Raises:
            StaleCommandError: The look differs from the facts of the one that was approved.
        """
        sight = await self.look(stages)
        if names := differing(expected, sight.facts):
            raise StaleCommandError(tell_differing(names))
        return _as_seen(stages, sight)

    async def _hosts_for(
        self, stages: Sequence[Stage], remotes: Sequence[Sequence[Address] | None]
    ) -> tuple[str, ...]:
        """The hosts of their networks, those asked for beside their words, and those of remotes."""
        pairs = [*zip(stages, remotes, strict=True)]
        others = (stage for stage, addresses in pairs if addresses is None)
        names = dict.fromkeys(name for stage in others for name in stage.networks)
        listed = (await self._networks.reachable_by(names)).hosts
        places = [address.place for _, addresses in pairs for address in addresses or ()]
        asked = [host for stage in stages for host in stage.hosts]
        return tuple(dict.fromkeys((*listed, *places, *asked)))

    async def _remotes_of(self, stages: Sequence[Stage]) -> list[tuple[Address, ...] | None]:
        """The addresses that git would reach with its current settings; None for other programs."""
        return [
            addresses_in(await find_targets(self.root, stage)) if reaches_remote(stage) else None
            for stage in map(self._named_by_path, stages)
        ]

    def _room_of(self, stages: Sequence[Stage]) -> Room | None:
        """What they can do at most; None where no box holds them."""
        if self._box is None:
            return None
        profile = widest(stage.profile for stage in stages)
        return Room(profile, any(map(changes_git, stages)))

    async def _look_at(self, stage: Stage) -> CommandOutcome:
        return await self._run([self._named_by_path(stage)], _LISTING_SECONDS)

    async def _run(
        self,
        stages: Sequence[Stage],
        seconds: float,
        objection: Objection = no_objection,
        starter: Starter | None = None,
        root: str | None = None,
    ) -> CommandOutcome:
        starter = starter or self._starter
        with Output(self._max_stream_bytes) as out, Output(self._max_stream_bytes) as err:
            contexts = ContextBuilder(
                self.root,
                self.identity,
                self._networks,
                self._programs,
                self._mirrors,
                over_overlay=root is not None,
            )
            folder = root or self.root
            run = Run(starter, contexts, folder, out, err, self._grace_seconds, objection)
            began = time.perf_counter()
            ending, code = await run.follow(stages, seconds)
            took = time.perf_counter() - began
            await run.hear_the_rest()
            return CommandOutcome(
                contexts.mask(bytes(out.kept)),
                contexts.mask(bytes(err.kept)),
                ending,
                code,
                took,
                out.lost,
                err.lost,
                starter.walls,
                run.traffic,
                run.kept_from_it,
                run.why_stopped,
            )

    def _named_by_path(self, stage: Stage) -> Stage:
        own = may_use_workspace(stage)
        program = self._programs.find(stage.argv[0], stage.folder, in_workspace=own)
        return stage._replace(argv=(program, *stage.argv[1:]))

    def _named_if_found(self, stage: Stage) -> Stage:
        """By its path from the root, where a program of the workspace does not exist yet."""
        name = stage.argv[0]
        try:
            return self._named_by_path(stage)
        except CommandExecutionError:
            path = os.path.normpath(os.path.join(self.root, stage.folder, name))
            if "/" not in name or not path.startswith(f"{self.root}/"):
                raise
            return stage._replace(argv=(path, *stage.argv[1:]))


def _refuse_zero_bytes(stages: Sequence[Stage]) -> None:
    if any("\0" in word for stage in stages for word in stage.argv):
        raise CommandExecutionError("an argument cannot contain a zero byte")


def _as_seen(stages: Sequence[Stage], sight: Sight) -> list[Stage]:
    """What runs first runs with the names just seen; what follows, with what that leaves there.

    What may use a network reaches the hosts that were seen, and git the remotes.
    """
    first = len(pipelines(stages)[0])
    seen = [
        stage._replace(argv=step.argv, patterns=())
        for stage, step in zip(stages[:first], sight.steps[:first], strict=True)
    ]
    hosts = sight.hosts or ()
    return [
        stage._replace(hosts=hosts, remotes=step.remotes)
        if stage.networks or stage.hosts
        else stage
        for stage, step in zip((*seen, *stages[first:]), sight.steps, strict=True)
    ]
