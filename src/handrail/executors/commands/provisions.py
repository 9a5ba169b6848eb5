"""Environment variables, hosts and remotes that a program gets beside its arguments."""

from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

from handrail.core.errors import CommandExecutionError
from handrail.core.stage import Stage
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
class Provisions:
    """What a program gets beside its arguments.

    `variables` come into its environment. `local_hosts` it may reach in a private network, if they
    are among its hosts. By an `exchange` git in a box has stand-ins for its remotes. What it prints
    is for us alone where it `sees_settings`: git's, with the passwords in them. `withdrawn` says
    which hosts were taken off the operator's list while it runs.
    """

    variables: tuple[tuple[str, str], ...] = ()
    local_hosts: tuple[str, ...] = ()
    exchange: Exchange | None = None
    sees_settings: bool = False
    withdrawn: Withdrawn = nothing_withdrawn


NOTHING = Provisions()


class Quartermaster:
    """Gives each program of a call what it needs. Mirrors of remotes are kept in `mirrors`."""

    def __init__(
        self,
        git: GitGuard,
        networks: Networks,
        remotes: RemoteFinder,
        programs: ProgramFinder,
        mirrors: Path | None,
    ):
        self._git = git
        self._programs = programs
        self._networks = networks
        self._remotes = remotes
        self._mirrors = mirrors
        self._settings: Pairs = []
        self._exchanges: list[Exchange] = []

    async def provisions(self, stage: Stage, stack: AsyncExitStack) -> Provisions:
        """The provisions of a stage; they end with the stack."""
        reachable = await self._networks.reachable_by(stage.networks)
        withdrawn = self._networks.withdrawals(stage.networks, reachable)
        own = ((SAFE_PATH,) if runs_tool(stage) else ()) + npm_settings(stage, self._programs)
        if not runs_git(stage):
            given = (*own, *reachable.variables)
            return Provisions(given, reachable.local, withdrawn=withdrawn)
        found = await self._git.settings_in_use(stage)
        self._settings += found
        access = NetworkAccess(reachable.local, withdrawn)
        exchange = await self._exchange(stage, found, access, stack)
        last = None if exchange is None else exchange.settings
        given = (*own, *self._git.environment(stage, found, last), *reachable.variables)
        return Provisions(given, reachable.local, exchange, self._git.lists, withdrawn)

    async def _exchange(
        self, stage: Stage, settings: Pairs, access: NetworkAccess, stack: AsyncExitStack
    ) -> Exchange | None:
        """Stand-ins for the remotes that were approved.

        Raises:
            CommandExecutionError: They are not those that were seen, or cannot be reached.
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
        # Only what may change the settings is shown them, and not a copy without passwords.
        sees_logins = leave_for(stage).settings
        opened = Exchange.open(self._mirrors, targets, words, access, sees_logins=sees_logins)
        self._exchanges.append(await stack.enter_async_context(opened))
        return self._exchanges[-1]

    def mask(self, words: bytes) -> bytes:
        """Take stand-ins' addresses and the passwords of settings out of the output."""
        for exchange in self._exchanges:
            words = exchange.with_addresses(words)
        return mask_settings(words, self._settings)
