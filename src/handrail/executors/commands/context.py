"""The environment variables, hosts and remotes of each program of a call."""

import asyncio
import os
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

from handrail.core.errors import CommandExecutionError
from handrail.core.masks import MASK
from handrail.core.stage import Stage
from handrail.core.traffic import NO_TRAFFIC, Traffic
from handrail.executors.commands.modules import SAFE_PATH, runs_tool
from handrail.executors.commands.npm import npm_settings
from handrail.executors.git.environment import git_environment
from handrail.executors.git.exchange import Exchange
from handrail.executors.git.outside import NetworkAccess
from handrail.executors.git.remotes import addresses_in, find_targets, reaches_remote
from handrail.executors.git.repository import settings_at
from handrail.executors.git.settings import Pairs
from handrail.executors.git.words import is_git, runs_git, words_of_git
from handrail.executors.network.hosts import Networks, Withdrawn, nothing_withdrawn
from handrail.executors.network.way_out import NOTHING_FURTHER, Further
from handrail.executors.processes.programs import ProgramFinder
from handrail.executors.repository.passwords import mask_settings
from handrail.executors.repository.places import check_place
from handrail.executors.sandbox.bubblewrap import Mount

_NO_HOOKS = ("core.hooksPath", os.devnull)


@dataclass(frozen=True, slots=True)
class ExecutionContext:
    """The environment of one program.

    `variables` are its environment variables. `local_hosts` are hosts of a private network that it
    may reach, if they are among its hosts. The `exchange` has the stand-ins for git's remotes.
    `withdrawn` tells which hosts the operator has removed from the list while it runs. With
    `over_overlay`, it may change all of git's data, because the effects are read before they are
    applied. A variable without a value is not set.

    `mounts` are further folders of its box, and `further` is for its way to the network.
    """

    variables: tuple[tuple[str, str | None], ...] = ()
    local_hosts: tuple[str, ...] = ()
    exchange: Exchange | None = None
    withdrawn: Withdrawn = nothing_withdrawn
    over_overlay: bool = False
    mounts: tuple[Mount, ...] = ()
    further: Further = NOTHING_FURTHER

    @property
    def all_mounts(self) -> tuple[Mount, ...]:
        return self.mounts if self.exchange is None else (*self.exchange.mounts, *self.mounts)


EMPTY = ExecutionContext()


class ContextBuilder:
    """Builds the contexts of a call's programs in the workspace `root`.

    git commits under the name in `identity`. Mirrors of remotes are kept in `mirrors`.
    """

    def __init__(
        self,
        root: str,
        identity: Pairs,
        networks: Networks,
        programs: ProgramFinder,
        mirrors: Path | None,
        *,
        over_overlay: bool = False,
    ):
        self._root = root
        self._identity = identity
        self._programs = programs
        self._networks = networks
        self._mirrors = mirrors
        self._over_overlay = over_overlay
        self._settings: Pairs = []
        self._exchanges: list[Exchange] = []
        self._secrets: list[bytes] = []

    async def build(self, stage: Stage, stack: AsyncExitStack) -> ExecutionContext:
        """The context of a stage; its stand-ins are removed with the stack.

        Raises:
            CommandExecutionError: git would leave the workspace, or cannot reach its remotes.
        """
        reachable = await self._networks.reachable_by(stage.networks)
        withdrawn = self._networks.withdrawals(stage.networks, reachable)
        if is_git(stage):
            await asyncio.to_thread(check_place, self._root, stage.folder)
        if runs_git(stage):
            self._settings += await asyncio.to_thread(settings_at, self._root, stage.folder)
        access = NetworkAccess(reachable.local, withdrawn)
        exchange = await self._exchange(stage, access, stack)
        further = [] if exchange is None else exchange.settings
        own = ((SAFE_PATH,) if runs_tool(stage) else ()) + npm_settings(stage, self._programs)
        signed_in = await self._sign_in(stage)
        # What gets a credential starts no program that a repository names.
        further = [*further, _NO_HOOKS] if signed_in else further
        git = git_environment(self._root, self._identity, further)
        given = (*own, *git, *reachable.variables, *signed_in)
        return ExecutionContext(given, reachable.local, exchange, withdrawn, self._over_overlay)

    async def _sign_in(self, stage: Stage) -> Pairs:
        """The credential of its account, for hosts that were approved with it."""
        found = await self._networks.credential_for(stage, stage.hosts)
        if found is None:
            return []
        self._secrets.append(found.secret.encode())
        return [(found.variable, found.secret)]

    async def _exchange(
        self, stage: Stage, access: NetworkAccess, stack: AsyncExitStack
    ) -> Exchange | None:
        """Make stand-ins for the approved remotes.

        Raises:
            CommandExecutionError: The remotes have changed since, or cannot be reached.
        """
        if not (reaches_remote(stage) and stage.remotes):
            return None
        targets = await find_targets(self._root, stage)
        shown = tuple(dict.fromkeys(address.shown for address in addresses_in(targets)))
        if shown != stage.remotes:
            raise CommandExecutionError(
                f"the remote has changed since it was checked, to {', '.join(shown)};"
                " call this by itself"
            )
        opened = Exchange.open(self._mirrors, targets, words_of_git(stage) or (), access)
        self._exchanges.append(await stack.enter_async_context(opened))
        return self._exchanges[-1]

    @property
    def traffic(self) -> Traffic:
        """The traffic of git outside the boxes."""
        return sum((exchange.traffic for exchange in self._exchanges), start=NO_TRAFFIC)

    def mask(self, words: bytes) -> bytes:
        """Replace addresses of stand-ins in an output, and mask passwords and credentials."""
        for exchange in self._exchanges:
            words = exchange.with_addresses(words)
        for secret in self._secrets:
            words = words.replace(secret, MASK.encode())
        return mask_settings(words, self._settings)
