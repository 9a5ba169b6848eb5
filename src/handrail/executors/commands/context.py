"""The environment variables, hosts and remotes of each program of a call."""

from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

from handrail.core.errors import CommandExecutionError
from handrail.core.stage import Stage
from handrail.core.traffic import NO_TRAFFIC, Traffic
from handrail.executors.commands.modules import SAFE_PATH, runs_tool
from handrail.executors.commands.npm import npm_settings
from handrail.executors.git.exchange import Exchange
from handrail.executors.git.guard import GitGuard, Pairs
from handrail.executors.git.outside import NetworkAccess
from handrail.executors.git.remotes import RemoteFinder, addresses_in, reaches_remote
from handrail.executors.network.hosts import Networks, Withdrawn, nothing_withdrawn
from handrail.executors.processes.programs import ProgramFinder
from handrail.executors.repository.line import runs_git, words_of_git
from handrail.executors.repository.needs import leave_for
from handrail.executors.repository.passwords import mask_settings


@dataclass(frozen=True, slots=True)
class ExecutionContext:
    """The environment of one program.

    `variables` are its environment variables. `local_hosts` are hosts of a private network that it
    may reach, if they are among its hosts. The `exchange` has the stand-ins for git's remotes. With
    `sees_settings`, git sees passwords in its settings, and its output is for Handrail alone.
    `withdrawn` tells which hosts the operator has removed from the list while it runs. With
    `is_rehearsed`, it may change all of git's data, because the effects are read before they are
    applied.
    """

    variables: tuple[tuple[str, str], ...] = ()
    local_hosts: tuple[str, ...] = ()
    exchange: Exchange | None = None
    sees_settings: bool = False
    withdrawn: Withdrawn = nothing_withdrawn
    is_rehearsed: bool = False


EMPTY = ExecutionContext()


class ContextBuilder:
    """Builds the contexts of a call's programs. Mirrors of remotes are kept in `mirrors`.

    Where they are rehearsed, git has no remotes, and needs no check of its settings.
    """

    def __init__(
        self,
        git: GitGuard,
        networks: Networks,
        remotes: RemoteFinder,
        programs: ProgramFinder,
        mirrors: Path | None,
        *,
        is_rehearsed: bool = False,
    ):
        self._is_rehearsed = is_rehearsed
        self._git = git
        self._programs = programs
        self._networks = networks
        self._remotes = remotes
        self._mirrors = mirrors
        self._settings: Pairs = []
        self._exchanges: list[Exchange] = []

    async def build(self, stage: Stage, stack: AsyncExitStack) -> ExecutionContext:
        """The context of a stage; its stand-ins are removed with the stack."""
        reachable = await self._networks.reachable_by(stage.networks)
        withdrawn = self._networks.withdrawals(stage.networks, reachable)
        own = ((SAFE_PATH,) if runs_tool(stage) else ()) + npm_settings(stage, self._programs)
        if self._is_rehearsed:
            given = (*own, *self._git.rehearsed, *reachable.variables)
            return ExecutionContext(given, reachable.local, is_rehearsed=True)
        if not runs_git(stage):
            given = (*own, *reachable.variables)
            return ExecutionContext(given, reachable.local, withdrawn=withdrawn)
        found = await self._git.settings_in_use(stage)
        self._settings += found
        access = NetworkAccess(reachable.local, withdrawn)
        exchange = await self._exchange(stage, found, access, stack)
        last = None if exchange is None else exchange.settings
        given = (*own, *self._git.environment(stage, found, last), *reachable.variables)
        return ExecutionContext(given, reachable.local, exchange, self._git.lists, withdrawn)

    async def _exchange(
        self, stage: Stage, settings: Pairs, access: NetworkAccess, stack: AsyncExitStack
    ) -> Exchange | None:
        """Make stand-ins for the approved remotes.

        Raises:
            CommandExecutionError: The remotes have changed since, or cannot be reached.
        """
        if not (reaches_remote(stage) and stage.remotes):
            return None
        targets = await self._remotes.find(stage, settings)
        shown = tuple(dict.fromkeys(address.shown for address in addresses_in(targets)))
        if shown != stage.remotes:
            raise CommandExecutionError(
                f"the remote has changed since it was checked, to {', '.join(shown)};"
                " call this by itself"
            )
        words = words_of_git(stage) or ()
        # Only a command that may change the settings sees the files themselves, with passwords.
        sees_logins = leave_for(stage).settings
        opened = Exchange.open(self._mirrors, targets, words, access, sees_logins=sees_logins)
        self._exchanges.append(await stack.enter_async_context(opened))
        return self._exchanges[-1]

    @property
    def traffic(self) -> Traffic:
        """The traffic of git outside the boxes."""
        return sum((exchange.traffic for exchange in self._exchanges), start=NO_TRAFFIC)

    def mask(self, words: bytes) -> bytes:
        """Replace addresses of stand-ins in an output, and mask passwords of git's settings."""
        for exchange in self._exchanges:
            words = exchange.with_addresses(words)
        return mask_settings(words, self._settings)
