"""The rules of this machine hold here at once, and are told to the server as soon as can be."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from handrail.app.home import Home
from handrail.app.policy_files import WorkspacePolicy
from handrail.client.api import HandrailApi
from handrail.client.policy import PolicyKeeper
from handrail.core.access import Role
from handrail.policy.rulebook.rules import Rules
from handrail.server.services import Services
from handrail.store.sqlite import SqliteStore
from tests.conftest import Household
from tests.ports import free_port
from tests.server.conftest import serving

CAREFUL = "[policy]\nautonomy = 'read_only'\n"
BROKEN = "[policy]\nmood = 'bad'\n"


class Machine:
    """A workspace with a policy file, and whoever is to judge by it."""

    def __init__(self, folder: Path):
        self.file = folder / "workspace" / ".handrail" / "policy.toml"
        self.file.parent.mkdir(parents=True, exist_ok=True)
        self.home = Home(folder / "home")
        self.adopted: list[Rules] = []

    @asynccontextmanager
    async def keeping(self, server: str, home: Household) -> AsyncGenerator[PolicyKeeper]:
        policy = WorkspacePolicy(self.home, self.file.parent.parent)
        async with HandrailApi(server, home.project.id, home.secrets[Role.CLIENT]) as api:
            keeper = PolicyKeeper(api, policy, self.adopted.append)
            running = asyncio.create_task(keeper.run())
            try:
                yield keeper
            finally:
                running.cancel()
                await asyncio.gather(running, return_exceptions=True)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path / "machine")


async def known(store: SqliteStore, home: Household) -> str:
    (workspace,) = await store.list_workspaces(home.project.id)
    return workspace.policy


async def test_the_file_is_told_at_the_start_and_whenever_it_has_changed(
    machine: Machine, services: Services, household: Household, store: SqliteStore
) -> None:
    machine.file.write_text(CAREFUL)
    async with serving(services) as server, machine.keeping(server, household):
        async with asyncio.timeout(10):
            while await known(store, household) != CAREFUL:
                await asyncio.sleep(0.01)
            assert machine.adopted == []
            machine.file.write_text("")
            while await known(store, household) != "":
                await asyncio.sleep(0.01)

    (rules,) = machine.adopted
    assert rules.ceilings == ()


async def test_a_broken_edit_leaves_the_rules_as_they_were(
    machine: Machine, services: Services, household: Household, store: SqliteStore
) -> None:
    machine.file.write_text(CAREFUL)
    async with serving(services) as server, machine.keeping(server, household):
        machine.file.write_text(BROKEN)
        await asyncio.sleep(2.5)

        assert await known(store, household) == CAREFUL
    assert machine.adopted == []


async def test_a_server_that_was_away_is_told_when_it_is_there(
    machine: Machine, services: Services, household: Household, store: SqliteStore
) -> None:
    machine.file.write_text(CAREFUL)
    port = free_port()
    async with machine.keeping(f"http://127.0.0.1:{port}", household):
        await asyncio.sleep(0.1)
        async with serving(services, port=port), asyncio.timeout(10):
            while await known(store, household) != CAREFUL:
                await asyncio.sleep(0.01)


async def test_a_server_that_has_forgotten_is_told_anew_when_the_line_is_up(
    machine: Machine, services: Services, household: Household, store: SqliteStore
) -> None:
    machine.file.write_text(CAREFUL)
    async with serving(services) as server, machine.keeping(server, household) as keeper:
        async with asyncio.timeout(10):
            while await known(store, household) != CAREFUL:
                await asyncio.sleep(0.01)
            await services.policies.keep("", (), household.client, household.project.id)
            keeper.tell_anew()
            while await known(store, household) != CAREFUL:
                await asyncio.sleep(0.01)
