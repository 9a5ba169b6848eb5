"""Running a foreign program over a draft: with a terminal, its own settings and a proxy."""

import asyncio
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from handrail.core.box import Profile
from handrail.core.draft import DraftStep
from handrail.core.errors import CommandExecutionError
from handrail.core.outcome import CommandOutcome, Ending
from handrail.core.rehearsal import CallRef
from handrail.core.stage import Stage
from handrail.core.traffic import NO_TRAFFIC, Traffic
from handrail.core.visible import visible
from handrail.executors.agents.hosts import AskAbout, HostQuestions
from handrail.executors.agents.profiles import AgentProfile
from handrail.executors.agents.programs import Program
from handrail.executors.agents.settings import AgentHome, SettingsChanges
from handrail.executors.commands.context import ExecutionContext
from handrail.executors.drafts.draft import Draft
from handrail.executors.drafts.programs import run_program
from handrail.executors.git.environment import git_settings
from handrail.executors.network.proxy import Limits
from handrail.executors.network.way_out import Further
from handrail.executors.processes.pipes import Streams
from handrail.executors.processes.tree import Tree
from handrail.executors.rehearsal.session import Stand
from handrail.executors.rehearsal.starter import RehearsalStarter
from handrail.executors.rehearsal.watch import Watch
from handrail.executors.sandbox.bubblewrap import Mount
from handrail.policy.network.hosts import Host, HostList, read_host

MOST_SECONDS = 7 * 24 * 3600.0
_GRACE_SECONDS = 2.0
_SETSID = "/usr/bin/setsid"
# A model may think for minutes before it answers.
_LIMITS = Limits(idle_seconds=900.0, connections=256)
_THIS_MACHINE = ("localhost", "127.0.0.1", "::1")
_MOST_NAMED = 20
_MOST_TITLE_CHARS = 500
# What the box sets for commands without a terminal.
_NOT_FOR_AGENTS = ("CI", "NO_COLOR", "PAGER", "GIT_PAGER")


@dataclass(frozen=True, slots=True)
class AgentCommand:
    """A program with its arguments, and what of the person's shell it gets.

    `hosts` are those that the person allows for this run, with their ports, also in a private
    network. With a `terminal`, its three streams are one that it controls.
    """

    program: Program
    arguments: tuple[str, ...]
    profile: AgentProfile
    streams: Streams
    variables: Mapping[str, str]
    folder: str = "."
    hosts: tuple[str, ...] = ()
    terminal: bool = False

    @property
    def title(self) -> str:
        words = " ".join(visible(word) for word in (self.profile.title, *self.arguments))
        return words if len(words) <= _MOST_TITLE_CHARS else f"{words[:_MOST_TITLE_CHARS]}…"


@dataclass(frozen=True, slots=True)
class AgentEnd:
    """How a run ended; without a `step` it has changed nothing."""

    exit_code: int
    step: DraftStep | None
    traffic: Traffic
    settings: SettingsChanges


async def run_agent(
    draft: Draft, call: CallRef, command: AgentCommand, ask: AskAbout, stop: asyncio.Event
) -> AgentEnd:
    """Run a program over a draft; what it changes becomes one step.

    Connections to hosts that are not listed wait for `ask`. With `stop` the program is ended, and
    what it has changed by then is a step all the same.

    Raises:
        CommandExecutionError: It cannot be started here.
    """
    run = _Run(draft, command, ask, stop)
    step = await run_program(draft, run.start, call, command.title, run.describe)
    return AgentEnd(run.exit_code, step, run.traffic, run.settings)


class _Run:
    def __init__(self, draft: Draft, command: AgentCommand, ask: AskAbout, stop: asyncio.Event):
        self.exit_code = 1
        self.traffic = NO_TRAFFIC
        self.settings = SettingsChanges()
        self._draft = draft
        self._command = command
        self._ask = ask
        self._stop = stop
        self._home = str(Path.home())

    async def start(self, starter: RehearsalStarter, stand: Stand, watch: Watch) -> CommandOutcome:
        began_ns = time.time_ns()
        place = f"{stand.folder}/agent"
        home = AgentHome(self._draft.parts.maker, self._home, place)
        quiet = HostList.read(self._command.profile.quiet)
        questions = HostQuestions(quiet, self._ask, watch.start)
        try:
            mounts = await home.mount(self._command.profile)
            return await self._run(starter, watch, mounts, questions)
        finally:
            questions.close()
            home.unmount()
            self.settings = await asyncio.to_thread(home.take_back, began_ns)
            await asyncio.to_thread(shutil.rmtree, place, ignore_errors=True)

    def describe(self, step: DraftStep) -> DraftStep:
        """Add to the step what a person should know of the run."""
        return step.with_program(self.exit_code, (*self._hosts(),), (*self._notes(),))

    async def _run(
        self,
        starter: RehearsalStarter,
        watch: Watch,
        mounts: Sequence[Mount],
        questions: HostQuestions,
    ) -> CommandOutcome:
        stage, given = self._prepare(mounts, questions)
        began = time.monotonic()
        async with starter.start(stage, self._command.streams, MOST_SECONDS, given) as tree:
            ending = watch.start(self._end_when_told(tree))
            try:
                await tree.process.wait()
            finally:
                ending.cancel()
                await tree.end(0)
                self.traffic = tree.traffic
        if tree.exit_code is None:
            raise CommandExecutionError(f"no box could be made for {self._command.profile.title}")
        self.exit_code = tree.exit_code
        how = Ending.KILLED if self.exit_code < 0 else Ending.EXITED
        seconds = time.monotonic() - began
        return CommandOutcome(b"", b"", how, self.exit_code, seconds, traffic=self.traffic)

    async def _end_when_told(self, tree: Tree) -> None:
        await self._stop.wait()
        await tree.end(_GRACE_SECONDS)

    def _prepare(
        self, mounts: Sequence[Mount], questions: HostQuestions
    ) -> tuple[Stage, ExecutionContext]:
        command = self._command
        ports = {host: _local_port(host) for host in command.hosts}
        servers = tuple(host for host, port in ports.items() if port is None)
        forwards = tuple(port for port in ports.values() if port is not None)
        given = ExecutionContext(
            (*self._variables(),),
            local_hosts=servers,
            over_overlay=True,
            mounts=(*mounts, *(Mount(path, path) for path in command.program.shown)),
            further=Further(questions.answer, _LIMITS, forwards),
        )
        words = (command.program.path, *command.profile.arguments, *command.arguments)
        argv = (_SETSID, "-c", "-w", *words) if command.terminal else words
        hosts = (*command.profile.hosts, *servers)
        return Stage(argv, Profile.NET, folder=command.folder, hosts=hosts), given

    def _variables(self) -> Iterator[tuple[str, str | None]]:
        yield from ((name, None) for name in _NOT_FOR_AGENTS)
        yield "HOME", self._home
        yield "PATH", ":".join((*self._command.program.folders, *self._draft.parts.box.search_path))
        # Node.js uses the proxy only if it is told to.
        yield "NODE_USE_ENV_PROXY", "1"
        yield from ((name, "localhost,127.0.0.1,::1") for name in ("NO_PROXY", "no_proxy"))
        parts = self._draft.parts
        yield from git_settings(parts.box.root, parts.executor.identity)
        yield from self._command.variables.items()

    def _hosts(self) -> Iterator[str]:
        for one in self.traffic.contacted:
            yield (
                f"{one.host}: {one.connections:,} connections, {one.sent_bytes:,} bytes sent,"
                f" {one.received_bytes:,} received"
            )
        for one in self.traffic.refused:
            yield f"{visible(one.host)}: refused, {visible(one.reason)}"

    def _notes(self) -> Iterator[str]:
        if runs := self.settings.runs_later:
            yield f"it changed settings that would run later, which are not kept: {_name(runs)}"
        if dropped := self.settings.dropped:
            named = _name([f"~/{path}" for path in dropped])
            yield f"what it wrote in its home is not kept: {named}"


def _name(paths: Sequence[str]) -> str:
    named = ", ".join(map(visible, paths[:_MOST_NAMED]))
    more = len(paths) - _MOST_NAMED
    return f"{named} and {more:,} more" if more > 0 else named


def _local_port(word: str) -> int | None:
    """The port of a host that is this machine by its name; None for others."""
    host = read_host(word)
    return host.port if isinstance(host, Host) and host.name in _THIS_MACHINE else None
