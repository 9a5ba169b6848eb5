"""A screen of its own: asks about everything that waits or comes, and executes nothing."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest

from handrail.app.build_server import build_services
from handrail.bus.local import LocalBus
from handrail.client.api import ApiError, HandrailApi
from handrail.client.watching import Watcher
from handrail.core.access import Role
from handrail.core.card import Choice
from handrail.core.ids import ApprovalId, CallId, SessionId
from handrail.core.ports import Channel
from handrail.core.tool import ToolCall
from handrail.plane.decider import Decider
from handrail.server.services import Services
from handrail.store.sqlite import SqliteStore
from handrail.testing import FakeClock, FakeFiles, ScriptedPerson
from tests.client.conftest import PatientPerson, a_client, until
from tests.conftest import Household
from tests.plane.test_taint import ORDERS, read
from tests.ports import free_port
from tests.server.conftest import serving

YES, NO = Choice(approved=True), Choice(approved=False, reason="not now")


@asynccontextmanager
async def watching(
    server: str, home: Household, channel: Channel, role: Role = Role.USER
) -> AsyncGenerator[asyncio.Task[None]]:
    """A watcher that runs for as long as the context is open."""
    async with HandrailApi(server, home.project.id, home.secrets[role]) as api:
        running = asyncio.create_task(Watcher(api, channel).run())
        try:
            yield running
        finally:
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)


async def question(services: Services, home: Household, call_id: str = "c1") -> ApprovalId:
    params = {"path": "notes.md", "content": "new\n"}
    call = ToolCall(home.project.id, SessionId("s"), CallId(call_id), "write_file", params)
    asked = await services.executor.propose(call, home.agent)
    assert asked.approval_id is not None
    return asked.approval_id


async def status_of(services: Services, approval_id: ApprovalId) -> str:
    found = await services.store.find_approval(approval_id)
    assert found is not None
    return found.status


async def test_what_waits_and_what_comes_is_asked(services: Services, household: Household) -> None:
    person = PatientPerson()
    waiting = await question(services, household, "waiting")
    async with serving(services) as server, watching(server, household, person):
        first = await person.sees_a_card()
        coming = await question(services, household, "coming")
        second = await person.sees_a_card(2)
        person.choose(first, YES)
        person.choose(second, NO)

        async def both_answered() -> bool:
            states = [await status_of(services, one) for one in (waiting, coming)]
            return states == ["approved", "rejected"]

        await until(both_answered)

    assert (first.approval_id, second.approval_id) == (waiting, coming)
    assert person.told == []


async def test_how_a_call_ended_is_told_on_the_screen_where_it_was_approved(
    services: Services, household: Household
) -> None:
    here, there = PatientPerson(), PatientPerson()
    async with (
        serving(services) as server,
        a_client(server, household, FakeFiles({})),
        watching(server, household, here),
        watching(server, household, there),
    ):
        approval_id = await question(services, household)
        await there.sees_a_card()
        here.choose(await here.sees_a_card(), YES)
        await until(lambda: here.told != [] and there.taken_away == [approval_id])

    assert here.told == ["Create notes.md (1 line): done."]
    assert there.told == ["Create notes.md (1 line): approved by ada, from desk."]


async def test_what_is_answered_elsewhere_is_taken_away(
    services: Services, household: Household
) -> None:
    person = PatientPerson()
    approval_id = await question(services, household)
    async with serving(services) as server, watching(server, household, person):
        await person.sees_a_card()
        await services.approvals.reject_tool(
            approval_id, Decider(household.user, household.project.id, "telegram")
        )
        await until(lambda: person.taken_away == [approval_id])

    assert person.told == ["Write 1 line to notes.md: rejected by ada, from telegram."]


async def test_of_two_screens_the_slower_one_is_cleared(
    services: Services, household: Household
) -> None:
    here, there = PatientPerson(), PatientPerson()
    approval_id = await question(services, household)
    async with (
        serving(services) as server,
        watching(server, household, here),
        watching(server, household, there),
    ):
        await there.sees_a_card()
        here.choose(await here.sees_a_card(), YES)
        await until(lambda: there.taken_away == [approval_id])

    assert there.told == ["Write 1 line to notes.md: approved by ada, from desk."]
    assert here.told == []


async def test_a_watcher_takes_no_work(services: Services, household: Household) -> None:
    files = FakeFiles({})
    async with (
        serving(services) as server,
        watching(server, household, ScriptedPerson(YES)),
    ):
        approval_id = await question(services, household)

        async def approved() -> bool:
            return await status_of(services, approval_id) == "approved"

        await until(approved)
        assert services.connections.connected == frozenset()
        async with a_client(server, household, files):
            await until(lambda: files.files == {"notes.md": b"new\n"})


async def test_a_watcher_that_comes_back_goes_on_where_it_stood(
    store: SqliteStore, bus: LocalBus, clock: FakeClock, household: Household
) -> None:
    person, port = PatientPerson(), free_port()
    first = build_services(store, bus, clock)
    before = await question(first, household, "before")
    async with watching(f"http://127.0.0.1:{port}", household, person):
        async with serving(first, port=port):
            await person.sees_a_card()
        second = build_services(store, bus, clock)
        meanwhile = await question(second, household, "meanwhile")
        async with serving(second, port=port):
            await person.sees_a_card(2)

            assert person.looking_at == [before, meanwhile]


async def test_an_agent_cannot_watch(services: Services, household: Household) -> None:
    """P10."""
    person = ScriptedPerson(YES)
    approval_id = await question(services, household)
    async with (
        serving(services) as server,
        watching(server, household, person, Role.AGENT) as running,
    ):
        with pytest.raises(ExceptionGroup) as caught:
            async with asyncio.timeout(10):
                await running

    (error,) = caught.value.exceptions
    assert isinstance(error, ApiError)
    assert error.status == 403
    assert person.cards == []
    assert await status_of(services, approval_id) == "pending"


async def test_a_session_that_is_not_trusted_any_more_is_told(
    services: Services, household: Household
) -> None:
    person = ScriptedPerson()
    await question(services, household)
    async with serving(services) as server, watching(server, household, person):
        await until(lambda: bool(person.cards))
        await read(services, household, ORDERS)
        await until(lambda: bool(person.told))

    assert person.told == [
        "Session session-1 is not trusted: the result of read_file README.md contains text that "
        "looks like instructions to the agent. `handrail trust session-1` clears it."
    ]
