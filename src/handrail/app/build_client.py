"""build_client: everything that runs on the user's machine."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Generator, Sequence
from contextlib import asynccontextmanager, closing, contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from threading import Thread, Timer
from typing import NamedTuple

from handrail.app.agent_service import serve_agents
from handrail.app.clock import SystemClock
from handrail.app.home import Credentials
from handrail.app.isolation import fence_for, prove_here
from handrail.app.policy_files import WorkspacePolicy
from handrail.app.rehearsals import Ground, Overlays, overlays_for
from handrail.client.api import HandrailApi
from handrail.client.asking import Asking
from handrail.client.blobs import ClientBlobs
from handrail.client.cache import ContentCache
from handrail.client.drafts import DraftKeeper
from handrail.client.handler import ToolHandler
from handrail.client.journal import Journal
from handrail.client.policy import PolicyKeeper
from handrail.client.review import Reviewer
from handrail.client.streaming import StreamingClient
from handrail.core.box import Isolation, Wall
from handrail.core.hands import Hands
from handrail.core.ports import Channel
from handrail.core.project import Autonomy
from handrail.core.retention import DRAFTS_DAYS
from handrail.executors.commands.executor import CommandExecutor
from handrail.executors.drafts.drafts import ClientDrafts
from handrail.executors.drafts.expiry import ExpiringDrafts
from handrail.executors.files.filesystem import FileSystemExecutor
from handrail.executors.files.ripgrep import Ripgrep
from handrail.executors.files.search import SearchExecutor
from handrail.executors.git.environment import own_identity
from handrail.executors.guarded.folders import GuardedFolders
from handrail.executors.judging.pool import JudgingPool
from handrail.executors.processes.programs import SEARCH_PATH
from handrail.executors.rehearsal.kept import KeptRehearsals
from handrail.executors.rehearsal.undoing import WorkspaceUndo, undo_in
from handrail.executors.sandbox.box import Box
from handrail.executors.sandbox.probe import find_programs
from handrail.executors.toolchains.toolchain import NO_TOOLCHAINS, Toolbelt
from handrail.policy.rulebook.rules import Rules
from handrail.policy.security import Scene
from handrail.tools.catalogue import builtin_registry
from handrail.tools.registry import ToolRegistry

# Where one of these lies somebody will soon install something; elsewhere that can wait.
_MANIFESTS = ("package.json", "pyproject.toml", "requirements.txt", "setup.py", "Cargo.toml")
_LATER_SECONDS = 15.0


@asynccontextmanager
async def build_client(
    credentials: Credentials,
    journal: Journal,
    policy: WorkspacePolicy,
    announce: Callable[[bool], None] = lambda connected: None,
    channel: Channel | None = None,
    private: Sequence[Path] = (),
    find_token: Callable[[], str | None] = lambda: None,
    belt: Toolbelt = NO_TOOLCHAINS,
    registry: ToolRegistry | None = None,
    draft_age: Callable[[], timedelta] = lambda: timedelta(days=DRAFTS_DAYS),
) -> AsyncGenerator[StreamingClient]:
    """A client for one workspace, ready to run; it asks by `channel`, if it has one.

    No tool reads what lies in `private` folders, under whatever name. Boxes have the toolchains of
    the `belt`. Without a `registry`, it has Handrail's own tools. Drafts expire after `draft_age`.
    """
    with (
        FileSystemExecutor(
            credentials.workspace,
            policy.rules,
            cache=ContentCache(SystemClock()),
            private=private,
        ) as files,
        Ripgrep(files.root) as ripgrep,
        closing(JudgingPool()) as judging,
    ):
        # Nobody waits for it, also when the client ends.
        Thread(target=files.learn_secrets, name="learn-secrets", daemon=True).start()
        async with (
            _machine(files, ripgrep, belt, journal) as machine,
            HandrailApi(
                credentials.server, credentials.project_id, credentials.client_token, find_token
            ) as api,
        ):
            commands, isolation = machine.commands, machine.isolation
            with _soon(commands.learn_hosts, _wait_before_hosts(files.root)):
                searches, asking = SearchExecutor(files, ripgrep), Asking(api, channel)
                hands = machine.equip(Hands(files, commands, searches, ClientBlobs(api)))
                scene, clock = _scene(files, isolation, policy), SystemClock()

                def adopt(rules: Rules) -> None:
                    reviewer.adopt(rules)
                    files.adopt(rules)
                    commands.adopt(rules)

                def refresh() -> None:
                    if policy.reload():
                        adopt(policy.rules)

                commands.refresh_with(refresh)
                reviewer = Reviewer(registry or builtin_registry(), scene, hands, refresh, judging)

                def handler(line: StreamingClient) -> ToolHandler:
                    return ToolHandler(reviewer, clock, line, asking, journal, machine.was_applied)

                keeper = PolicyKeeper(api, policy, adopt, isolation.walls)
                drafts = machine.keep_drafts(api, files.root, journal, draft_age)
                yield StreamingClient(api, handler, asking, announce, keeper, hands.undo, drafts)


class _Machine(NamedTuple):
    """How commands run on this machine, and what keeps them in."""

    isolation: Isolation
    commands: CommandExecutor
    overlays: Overlays
    undo: WorkspaceUndo | None

    def was_applied(self, tool_id: str) -> bool:
        """Whether the effects of a call are in the workspace, or in a draft."""
        in_workspace = self.undo is not None and self.undo.store.holds(tool_id)
        drafts = self.overlays.drafts
        return in_workspace or (isinstance(drafts, ClientDrafts) and drafts.holds(tool_id))

    def keep_drafts(
        self, api: HandrailApi, root: str, journal: Journal, age: Callable[[], timedelta]
    ) -> DraftKeeper | None:
        drafts = self.overlays.drafts
        if not isinstance(drafts, ClientDrafts):
            return None
        kept = ExpiringDrafts(drafts, journal.drafts, root, journal.expired_drafts, age)
        return DraftKeeper(api, kept)

    def equip(self, hands: Hands) -> Hands:
        """The hands with what can be rehearsed, drafted and undone on this machine."""
        rehearsals, drafts = self.overlays
        hands = replace(hands, rehearsals=rehearsals, drafts=drafts)
        return hands if self.undo is None else replace(hands, undo=self.undo)


@asynccontextmanager
async def _machine(
    files: FileSystemExecutor, ripgrep: Ripgrep, belt: Toolbelt, journal: Journal
) -> AsyncGenerator[_Machine]:
    isolation = await asyncio.to_thread(prove_here, find_programs())
    box = _box(files, isolation, belt)
    commands = await asyncio.to_thread(_commands, files, isolation, box, belt, journal)
    await asyncio.to_thread(commands.end_what_was_left)
    with undo_in(files, journal.undo_key) as undo:
        if undo is not None:
            await asyncio.to_thread(undo.resume)
        store = None if undo is None else undo.store
        ground = Ground(
            commands,
            box,
            files,
            ripgrep,
            store,
            journal.rehearsals,
            journal.drafts,
            journal.keeper,
        )
        async with overlays_for(ground) as overlays, _agents(overlays, journal.agents):
            if isinstance(overlays.rehearsals, KeptRehearsals):
                isolation = replace(isolation, walls=(*isolation.walls, Wall.OVERLAY))
            yield _Machine(isolation, commands, overlays, undo)


@asynccontextmanager
async def _agents(overlays: Overlays, path: Path) -> AsyncGenerator[None]:
    """Run programs over drafts for `handrail draft`, where drafts can be kept."""
    if not isinstance(overlays.drafts, ClientDrafts):
        yield
        return
    async with serve_agents(overlays.drafts, path):
        yield


def _scene(files: FileSystemExecutor, isolation: Isolation, policy: WorkspacePolicy) -> Scene:
    """The server has asked where asking was due; here only what is refused always is refused."""
    return Scene(
        files.root,
        Autonomy.FULL,
        isolated=isolation.holds,
        rules=policy.rules,
        rehearses=isolation.rehearses,
    )


def _wait_before_hosts(root: str) -> float:
    """The seconds until it is learned from which hosts packages of a workspace come."""
    has_packages = any(Path(root, name).exists() for name in _MANIFESTS)
    return 0.0 if has_packages else _LATER_SECONDS


@contextmanager
def _soon(work: Callable[[], None], seconds: float) -> Generator[None]:
    """Do something in the background, after so long, for which nobody waits."""
    timer = Timer(seconds, work)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _box(files: FileSystemExecutor, isolation: Isolation, belt: Toolbelt) -> Box | None:
    programs = find_programs()
    if not isolation.holds or programs is None:
        return None
    views = GuardedFolders(files.guarded, lambda: [one.guarded for one in files.beside.roots])
    return Box(programs, isolation, views, belt.mounts, belt.search_path(SEARCH_PATH))


def _commands(
    files: FileSystemExecutor,
    isolation: Isolation,
    box: Box | None,
    belt: Toolbelt,
    journal: Journal,
) -> CommandExecutor:
    """Commands of the workspace, kept in by what is proven to hold here."""
    search_path = belt.search_path(SEARCH_PATH)
    return CommandExecutor(
        files.root,
        box=box,
        search_path=search_path,
        toolchains=belt.mounts,
        fence=fence_for(isolation, files.guarded, belt.mounts),
        keeper=journal.keeper,
        identity=own_identity(),
        rules=files.rules,
        mirrors=journal.mirrors,
    )
