"""Tools that live on the server: judged, recorded and ended like all others."""

import asyncio
from typing import Any

import pytest

from handrail.app.build_server import build_services
from handrail.bus.local import LocalBus
from handrail.core.change import Advance, Change
from handrail.core.errors import ErrorType
from handrail.core.execution import Status, ToolExecution
from handrail.core.ids import INSIDE, CallId, SessionId
from handrail.core.tool import Site, ToolCall
from handrail.server.services import Services
from handrail.store.sqlite import SqliteStore
from handrail.testing import FakeClock
from tests.conftest import Household
from tests.plane.conftest import at_the, connected, lines_of, now_of, question_of
from tests.plane.desk import Desk, at_work, registry_at


@pytest.fixture
def desk() -> Desk:
    return Desk()


@pytest.fixture
def services(store: SqliteStore, bus: LocalBus, clock: FakeClock, desk: Desk) -> Services:
    return build_services(store, bus, clock, registry=registry_at(desk))


def a_note(home: Household, text: str, tool_name: str = "note", call_id: str = "c1") -> ToolCall:
    session, call = SessionId("session-1"), CallId(call_id)
    return ToolCall(home.project.id, session, call, tool_name, {"text": text})


async def settled(services: Services, call: ToolExecution) -> ToolExecution:
    async with asyncio.timeout(20):
        return await services.executor.settle(call.id)


@pytest.mark.behaviour("server.tools")
@pytest.mark.parametrize("tool_name", ["note", "look"])
async def test_it_is_done_on_the_server_though_no_machine_is_there(
    services: Services, household: Household, desk: Desk, tool_name: str
) -> None:
    async with at_work(services):
        ended = await services.executor.execute_tool(
            a_note(household, "milk", tool_name), household.agent
        )

    assert (ended.status, ended.client_id, ended.site) == (Status.COMPLETED, INSIDE, Site.SERVER)
    assert ended.result == {"success": True, "output": "noted milk"}
    assert desk.done == ["milk"]
    (line,) = await lines_of(services.store, household, "call.ended")
    assert line.actor == INSIDE


async def test_a_client_is_never_handed_what_is_done_on_the_server(
    services: Services, household: Household, desk: Desk
) -> None:
    with connected(services, household.client):
        call = await services.executor.propose(a_note(household, "milk"), household.agent)
        await services.dispatcher.hand_over_forsaken()
    assert (await now_of(services.store, call.id)).client_id == INSIDE
    assert desk.done == []


async def test_a_person_is_asked_first_where_one_is_needed(
    services: Services, household: Household, desk: Desk
) -> None:
    async with at_work(services):
        asked = a_note(household, "milk", "note_asked")
        waiting = await services.executor.propose(asked, household.agent)
        assert waiting.status is Status.AWAITING_APPROVAL
        question = await question_of(services.store, waiting)
        assert desk.done == []
        await services.approvals.approve_tool(question.id, at_the("web", household))
        ended = await settled(services, waiting)
    assert (ended.status, desk.done) == (Status.COMPLETED, ["milk"])


@pytest.mark.parametrize(
    ("text", "error_type", "words"),
    [
        ("fail", ErrorType.EXECUTION, "there is no pencil"),
        ("break", ErrorType.INTERNAL, "note failed on the server"),
    ],
)
async def test_what_goes_wrong_is_told_and_the_next_call_is_done(
    services: Services,
    household: Household,
    desk: Desk,
    text: str,
    error_type: ErrorType,
    words: str,
) -> None:
    async with at_work(services):
        failed = await services.executor.execute_tool(a_note(household, text), household.agent)
        await services.executor.execute_tool(
            a_note(household, "milk", call_id="c2"), household.agent
        )
    assert (failed.status, failed.error_type) == (Status.FAILED, error_type)
    assert words in (failed.error or "")
    assert desk.done == ["milk"]


async def test_what_a_person_cancels_is_ended(
    services: Services, household: Household, desk: Desk
) -> None:
    async with at_work(services):
        call = await services.executor.propose(a_note(household, "wait"), household.agent)
        await services.stopper.cancel(call.id, at_the("web", household))
        desk.may_end.set()
        await services.executor.execute_tool(
            a_note(household, "milk", call_id="c2"), household.agent
        )
    assert (await now_of(services.store, call.id)).error_type is ErrorType.CANCELLED
    assert desk.done == ["milk"]


async def begun_in_an_earlier_life(
    services: Services, clock: FakeClock, call: ToolExecution
) -> None:
    begun = call.advance(Status.EXECUTING, clock.now(), claim_key="of an earlier life")
    change = Change(call.project_id, clock.now(), (Advance(call, begun),))
    await services.store.submit(change)


@pytest.mark.parametrize(
    ("tool_name", "status", "done"),
    [
        ("note", Status.FAILED, []),
        ("note_again", Status.COMPLETED, ["milk"]),
        ("look", Status.COMPLETED, ["milk"]),
    ],
)
async def test_after_a_restart_only_what_is_harmless_is_done_again(
    services: Services,
    household: Household,
    clock: FakeClock,
    desk: Desk,
    tool_name: str,
    status: Status,
    done: list[Any],
) -> None:
    call = await services.executor.propose(a_note(household, "milk", tool_name), household.agent)
    if call.status is Status.APPROVED:
        await begun_in_an_earlier_life(services, clock, call)
    async with at_work(services):
        ended = await settled(services, call)
    assert (ended.status, desk.done) == (status, done)
    unknown = ended.error_type is ErrorType.OUTCOME_UNKNOWN
    assert unknown is (status is Status.FAILED)


async def test_what_was_not_begun_before_a_restart_is_done_after_it(
    services: Services, household: Household, desk: Desk
) -> None:
    call = await services.executor.propose(a_note(household, "milk"), household.agent)
    assert call.status is Status.APPROVED
    async with at_work(services):
        ended = await settled(services, call)
    assert (ended.status, desk.done) == (Status.COMPLETED, ["milk"])
