"""Whoever says whatever to a call in whatever state: it walks the roads, and no others.

What the store refuses when a change claims otherwise is shown in tests/store/test_every_state.py,
what the tables refuse in plain SQL in tests/store/test_schema.py.
"""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from itertools import product
from typing import NamedTuple

import pytest

from handrail.core.errors import Conflict, ErrorType, NotFound
from handrail.core.execution import TRANSITIONS, Status, ToolExecution
from handrail.core.grant import Scope
from handrail.core.ids import ApprovalId
from handrail.core.survey import Survey
from handrail.plane.dispatch import Claim
from handrail.plane.patience import UNCLAIMED, WITHOUT_CLIENT
from handrail.plane.results import Report
from handrail.plane.survey import SURVEY_SECONDS, Refusal
from handrail.server.services import Services
from handrail.store.sqlite import SqliteStore
from handrail.testing import FakeClock
from tests.conftest import Household, settle_in
from tests.plane import stages
from tests.plane.conftest import (
    KEY,
    a_read,
    a_report,
    a_write,
    ask,
    ask_unseen,
    at_the,
    call_of,
    connected,
    look,
    now_of,
)

NO_QUESTION = ApprovalId("apr_none")


class World(NamedTuple):
    services: Services
    home: Household
    clock: FakeClock


Build = Callable[[World], Awaitable[ToolExecution]]
Say = Callable[[World, ToolExecution], Awaitable[object]]


# Calls in a state. All are of one session, so that what is said to a session is said to them.


async def pending(world: World) -> ToolExecution:
    return await look(world.services, world.home)


async def asked_about(world: World) -> ToolExecution:
    return await call_of(world.services.store, await ask_unseen(world.services, world.home))


async def waiting_read(world: World) -> ToolExecution:
    return await world.services.executor.propose(a_read(world.home), world.home.agent)


async def approved(world: World) -> ToolExecution:
    return await stages.approved(world.services, world.home)


async def offered(world: World) -> ToolExecution:
    return await stages.offered(world.services, world.home)


async def begun(world: World) -> ToolExecution:
    return await stages.begun(world.services, world.home)


async def begun_read(world: World) -> ToolExecution:
    with connected(world.services, world.home.client):
        return await waiting_read(world)


async def completed(world: World) -> ToolExecution:
    call = await begun(world)
    await report_success(world, call)
    return await now_of(world.services.store, call.id)


async def rejected(world: World) -> ToolExecution:
    call = await asked_about(world)
    await say_no(world, call)
    return await now_of(world.services.store, call.id)


async def timed_out(world: World) -> ToolExecution:
    call = await asked_about(world)
    await let_time_pass(world, call)
    return await now_of(world.services.store, call.id)


async def failed(world: World) -> ToolExecution:
    call = await begun(world)
    await report_failure(world, call)
    return await now_of(world.services.store, call.id)


BUILDS: dict[Status, tuple[Build, ...]] = {
    Status.PENDING: (pending,),
    Status.AWAITING_APPROVAL: (asked_about,),
    Status.APPROVED: (waiting_read, approved, offered),
    Status.EXECUTING: (begun, begun_read),
    Status.COMPLETED: (completed,),
    Status.REJECTED: (rejected,),
    Status.TIMEOUT: (timed_out,),
    Status.FAILED: (failed,),
}


# Everything that can be said to a call.


async def ask_again(world: World, call: ToolExecution) -> object:
    again = a_read(world.home) if call.tool_name == "read_file" else a_write(world.home)
    return await world.services.executor.propose(again, world.home.agent)


async def tell_what_was_seen(world: World, call: ToolExecution) -> object:
    return await world.services.surveyor.accept(
        call.approval_id or NO_QUESTION, Survey(), world.home.client, world.home.project.id
    )


async def tell_what_was_seen_where_all_may_pass(world: World, call: ToolExecution) -> object:
    """The same, in a session that a person has let pass meanwhile."""
    other = await ask(world.services, world.home, "call-2", path="b.py")
    person = at_the("console", world.home)
    await world.services.approvals.approve_tool(other.id, person, scope=Scope.SESSION)
    return await tell_what_was_seen(world, call)


async def tell_what_has_changed(world: World, call: ToolExecution) -> object:
    return await world.services.surveyor.accept_again(
        call.id, call.epoch, Survey(), world.home.client, world.home.project.id
    )


async def refuse_to_do_it(world: World, call: ToolExecution) -> object:
    refusal = Refusal("not here", ErrorType.DENIED)
    return await world.services.surveyor.accept(
        call.approval_id or NO_QUESTION, refusal, world.home.client, world.home.project.id
    )


async def ask_without_facts(world: World, call: ToolExecution) -> object:
    world.clock.advance(SURVEY_SECONDS)
    return await world.services.surveyor.ask_without_facts()


async def say_yes(world: World, call: ToolExecution) -> object:
    return await world.services.approvals.approve_tool(
        call.approval_id or NO_QUESTION, at_the("console", world.home)
    )


async def say_no(world: World, call: ToolExecution) -> object:
    return await world.services.approvals.reject_tool(
        call.approval_id or NO_QUESTION, at_the("console", world.home)
    )


async def claim(world: World, call: ToolExecution) -> object:
    return await world.services.dispatcher.claim(
        call.id, Claim(call.epoch, KEY), world.home.client, world.home.project.id
    )


async def report_success(world: World, call: ToolExecution) -> object:
    return await world.services.receiver.accept(
        a_report(call.id, epoch=None), world.home.client, world.home.project.id
    )


async def report_failure(world: World, call: ToolExecution) -> object:
    report = Report(
        execution_id=call.id,
        status=Status.FAILED,
        error="it broke",
        error_type=ErrorType.EXECUTION,
    )
    return await world.services.receiver.accept(report, world.home.client, world.home.project.id)


async def come_and_be_offered(world: World, call: ToolExecution) -> object:
    with connected(world.services, world.home.client) as connection:
        return await world.services.dispatcher.offer_open_calls(connection)


async def cancel(world: World, call: ToolExecution) -> object:
    return await world.services.stopper.cancel(call.id, at_the("console", world.home))


async def stop_the_session(world: World, call: ToolExecution) -> object:
    return await world.services.stopper.stop_session(call.session_id, at_the("console", world.home))


async def let_time_pass(world: World, call: ToolExecution) -> object:
    """Long enough for every deadline, with nobody there."""
    world.clock.advance((UNCLAIMED + WITHOUT_CLIENT).total_seconds())
    return await world.services.sweeper.sweep()


SAYINGS: tuple[Say, ...] = (
    ask_again,
    tell_what_was_seen,
    tell_what_was_seen_where_all_may_pass,
    tell_what_has_changed,
    refuse_to_do_it,
    ask_without_facts,
    say_yes,
    say_no,
    claim,
    report_success,
    report_failure,
    come_and_be_offered,
    cancel,
    stop_the_session,
    let_time_pass,
)


async def after(world: World, call: ToolExecution, say: Say) -> Status:
    """The state of a call once something was said to it, heard or not."""
    with suppress(Conflict, NotFound):
        await say(world, call)
    return (await now_of(world.services.store, call.id)).status


@pytest.mark.behaviour("states.plane")
@pytest.mark.parametrize("start", Status)
async def test_of_all_pairs_of_states_only_the_roads_are_walked_whatever_is_said(
    store: SqliteStore, services: Services, clock: FakeClock, start: Status
) -> None:
    reached: set[Status] = set()
    for number, (build, say) in enumerate(product(BUILDS[start], SAYINGS)):
        home = await settle_in(store, clock, f"ada-{number}", "/home/ada")
        world = World(services, home, clock)
        call = await build(world)
        assert call.status is start
        end = await after(world, call, say)
        if (start, say) == (Status.APPROVED, report_success) and end is Status.COMPLETED:
            # A result claims what was not claimed: two roads in one change.
            assert (await now_of(store, call.id)).started_at is not None
            end = Status.EXECUTING
        assert end in TRANSITIONS[start] | {start}, f"{build.__name__}, {say.__name__}"
        reached.add(end)

    # Every road is open to somebody, and there is always something that changes nothing.
    assert reached == TRANSITIONS[start] | {start}
