"""What a person looks at: their machines and the record."""

from datetime import datetime
from typing import Any

from handrail.core.access import Role
from handrail.core.audit import AuditEntry, find_break
from handrail.server.services import Services
from handrail.store.sqlite import SqliteStore
from handrail.testing import FakeClock
from tests.conftest import Household
from tests.server.conftest import Caller, add_machine, ask_to_read, base, until


async def test_machines_are_listed_and_those_that_are_there_are_marked(
    caller: Caller,
    services: Services,
    store: SqliteStore,
    household: Household,
    clock: FakeClock,
) -> None:
    other, _ = await add_machine(store, household)
    path, token = f"{base(household)}/clients", household.secrets[Role.USER]

    async with caller.listen(household, household.secrets[Role.CLIENT]):
        during = await caller.ask("GET", path, token)

    async def gone() -> bool:
        return not services.connections.connected

    await until(gone)
    after = await caller.ask("GET", path, token)
    left_at = clock.now().isoformat().replace("+00:00", "Z")
    machines: list[dict[str, Any]] = [
        {
            "client_id": client_id,
            "name": name,
            "workspace_id": household.workspace.id,
            "machine": household.workspace.machine,
            "root": household.workspace.root,
            "walls": [],
            "boxed": False,
            "registered_at": "2026-01-01T00:00:00Z",
            "connected": connected,
            "left_at": None,
        }
        for client_id, name, connected in (
            (household.client_id, "here", True),
            (other, "there", False),
        )
    ]
    assert during.body == {"success": True, "clients": machines, "total_count": 2}
    machines[0] |= {"connected": False, "left_at": left_at}
    assert after.body == {"success": True, "clients": machines, "total_count": 2}


async def test_a_machine_is_shown_with_what_keeps_commands_in_there(
    caller: Caller, household: Household
) -> None:
    path, walls = base(household), ["namespaces", "seccomp", "limits"]
    body = {"text": "", "walls": walls}
    await caller.ask("PUT", f"{path}/policy", household.secrets[Role.CLIENT], json=body)

    listed = await caller.ask("GET", f"{path}/clients", household.secrets[Role.USER])

    (machine,) = listed.body["clients"]
    assert (machine["walls"], machine["boxed"]) == (walls, True)


async def test_the_record_can_be_verified_from_outside(
    caller: Caller, household: Household
) -> None:
    for number in range(3):
        await ask_to_read(caller, household, f"call-{number}")
    path, token = f"{base(household)}/audit", household.secrets[Role.USER]

    whole = await caller.ask("GET", path, token)

    entries = whole.body["entries"]
    chain = [
        AuditEntry(household.project.id, **entry | {"at": datetime.fromisoformat(entry["at"])})
        for entry in entries
    ]
    assert [line.action for line in chain] == ["project.created", *["call.proposed"] * 3]
    assert find_break(chain) is None


async def test_the_record_is_read_in_pages(caller: Caller, household: Household) -> None:
    for number in range(3):
        await ask_to_read(caller, household, f"call-{number}")
    path, token = f"{base(household)}/audit", household.secrets[Role.USER]

    async def seqs(query: str) -> list[int]:
        answer = await caller.ask("GET", f"{path}?{query}", token)
        return [entry["seq"] for entry in answer.body["entries"]]

    assert await seqs("limit=2") == [1, 2]
    assert await seqs("after=2&limit=1") == [3]
    assert await seqs("after=4") == []
    for query in ("after=-1", f"after={2**63}", "limit=0", "limit=1001", "after=x"):
        answer = await caller.ask("GET", f"{path}?{query}", token)
        assert answer.problem == (400, "urn:handrail:bad-input")
