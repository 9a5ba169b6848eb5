"""What programs are given on their way, beyond their words."""

import os
from contextlib import AsyncExitStack
from dataclasses import dataclass

from handrail.core.errors import CommandExecutionError
from handrail.core.stage import Stage
from handrail.executors.commands.modules import SAFE_PATH, runs_tool
from handrail.executors.commands.npm import npm_settings
from handrail.executors.git.credentials import Credential, ask_helpers
from handrail.executors.git.guard import GitGuard, Pairs
from handrail.executors.git.handing import NO_CREDENTIAL, HandIn, handed_in
from handrail.executors.git.remotes import RemoteFinder, reaches_remote
from handrail.executors.git.unruly import REACHING
from handrail.executors.network.hosts import Networks, Withdrawn, nothing_withdrawn
from handrail.executors.processes.programs import ProgramFinder
from handrail.executors.repository.line import action_of, runs_git
from handrail.executors.repository.passwords import mask_settings


@dataclass(frozen=True, slots=True)
class Provisions:
    """What a program is given beyond its words.

    `variables` come into its environment. `local_hosts` it may reach in a private network, if they
    are among its hosts. By `hand_in` git is given a credential when it asks for it; only in a box.
    What it prints is for us alone where it `sees_settings`: git's, with the passwords in them.
    `withdrawn` says which hosts were taken off the operator's list while it runs.
    """

    variables: tuple[tuple[str, str], ...] = ()
    local_hosts: tuple[str, ...] = ()
    hand_in: HandIn = NO_CREDENTIAL
    sees_settings: bool = False
    withdrawn: Withdrawn = nothing_withdrawn


NOTHING = Provisions()


class Quartermaster:
    """Gives each program of a call what it needs; the secrets among it are printed nowhere."""

    def __init__(
        self,
        git: GitGuard,
        networks: Networks,
        remotes: RemoteFinder,
        programs: ProgramFinder,
    ):
        self._git = git
        self._programs = programs
        self._networks = networks
        self._remotes = remotes
        self._given: list[Credential] = []
        self._settings: Pairs = []

    async def provisions(self, stage: Stage, stack: AsyncExitStack) -> Provisions:
        """What a stage is given, until the stack ends."""
        reachable = await self._networks.reachable_by(stage.networks)
        withdrawn = self._networks.withdrawals(stage.networks, reachable)
        own = ((SAFE_PATH,) if runs_tool(stage) else ()) + npm_settings(stage, self._programs)
        if not runs_git(stage):
            given = (*own, *reachable.variables)
            return Provisions(given, reachable.local, withdrawn=withdrawn)
        hand_in = await self._credential(stage, stack)
        found = await self._git.settings_in_use(stage)
        self._settings += found
        variables = self._git.environment(stage, found, hand_in.settings)
        given = (*own, *variables, *reachable.variables)
        return Provisions(given, reachable.local, hand_in, self._git.lists, withdrawn)

    async def _credential(self, stage: Stage, stack: AsyncExitStack) -> HandIn:
        """For the one remote that it reaches, if that is among the hosts that were approved.

        Raises:
            CommandExecutionError: It is not the one that was seen.
        """
        if not (reaches_remote(stage) and stage.hosts):
            return NO_CREDENTIAL
        found = await self._remotes.find(stage)
        if found.shown != stage.remote:
            raise CommandExecutionError(
                f"the remote has changed since it was checked, to {found.shown};"
                " call this by itself"
            )
        remote = found.remote
        if remote is None or action_of(stage) not in REACHING:
            return NO_CREDENTIAL
        if remote.place not in stage.hosts:
            return NO_CREDENTIAL
        credential = await ask_helpers(remote, os.environ)
        if credential is None:
            return NO_CREDENTIAL
        self._given.append(credential)
        return stack.enter_context(handed_in(credential, remote, action_of(stage)))

    def mask(self, words: bytes) -> bytes:
        """What was printed, without what was given, and without the passwords in git's settings."""
        for credential in self._given:
            words = credential.mask(words)
        return mask_settings(words, self._settings)
