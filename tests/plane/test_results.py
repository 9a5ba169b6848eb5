"""The end of a call is told once, and what comes after it is not lost."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from handrail.core.errors import Conflict, ErrorType, NotFound
from handrail.core.event import Event, EventKind, NewEvent
from handrail.core.execution import Status, ToolExecution
from handrail.core.ids import ExecutionId
from handrail.plane.dispatch import Dispatcher
from handrail.plane.patience import Patience
from handrail.plane.results import Report
from handrail.server.services import Services
from handrail.store.sqlite import SqliteStore
from handrail.testing import FakeClock
from tests.conftest import Household, settle_in
from tests.plane.conftest import (
    a_read,
    a_report,
    add_client,
    another_process,
    at_the,
    connected,
    find,
    handed_out,
    lines_of,
    look,
    now_of,
    signals_to,
)
from tests.plane.stages import begun, offered


@pytest.fixture
def dispatcher(services: Services) -> Dispatcher:
    return services.dispatcher


async def test_a_result_ends_the_call(
    services: Services, store: SqliteStore, household: Household, clock: FakeClock
) -> None:
    handed = await handed_out(services, household)
    clock.advance(2)

    ended = await services.receiver.accept(
        a_report(handed.id, "hello"), household.client, household.project.id
    )

    assert ended == handed._replace(
        status=Status.COMPLETED,
        result={"success": True, "content": "hello"},
        execution_time_ms=3,
        completed_at=clock.now(),
    )
    assert await find(store, handed) == ended
    items = await store.read_stream(household.project.id, after=1, client_id=None, limit=9)
    assert [item.event for item in items] == [
        Event(
            household.project.id,
            2,
            clock.now(),
            EventKind.RESULT_ACK,
            handed.id,
            Status.COMPLETED,
            household.client_id,
            1,
        )
    ]
    lines = await store.read_audit(household.project.id, after=0, limit=100)
    assert (lines[-1].action, lines[-1].actor, lines[-1].subject) == (
        "call.ended",
        household.client.subject,
        handed.id,
    )
    assert "hello" not in lines[-1].details


async def test_a_failure_ends_the_call(
    services: Services, store: SqliteStore, household: Household
) -> None:
    handed = await handed_out(services, household)
    report = Report(
        execution_id=handed.id,
        status=Status.FAILED,
        epoch=1,
        error="README.md does not exist",
        error_type=ErrorType.EXECUTION,
        execution_time_ms=1,
    )

    ended = await services.receiver.accept(report, household.client, household.project.id)

    assert ended == handed._replace(
        status=Status.FAILED,
        error="README.md does not exist",
        error_type=ErrorType.EXECUTION,
        execution_time_ms=1,
        completed_at=household.project.created_at,
    )
    assert await find(store, handed) == ended


async def test_the_same_result_twice_is_one_result(
    services: Services, store: SqliteStore, household: Household
) -> None:
    handed = await handed_out(services, household)
    first = await services.receiver.accept(
        a_report(handed.id), household.client, household.project.id
    )

    # Sent again it may have taken longer, and be under another epoch.
    again = replace(a_report(handed.id), execution_time_ms=99, epoch=None)
    second = await services.receiver.accept(again, household.client, household.project.id)

    assert second == first
    assert (await store.event_range(household.project.id)).last == 2


async def test_another_result_after_the_end_is_a_conflict(
    services: Services, store: SqliteStore, household: Household
) -> None:
    handed = await handed_out(services, household)
    first = await services.receiver.accept(
        a_report(handed.id), household.client, household.project.id
    )

    others = [
        a_report(handed.id, "something else"),
        Report(execution_id=handed.id, status=Status.FAILED, error="no", epoch=1),
    ]
    for other in others:
        with pytest.raises(Conflict, match="has ended already, as completed"):
            await services.receiver.accept(other, household.client, household.project.id)

    assert await find(store, handed) == first


async def test_another_failure_after_the_end_is_a_conflict(
    services: Services, household: Household
) -> None:
    handed = await handed_out(services, household)

    def failure(error: str) -> Report:
        return Report(execution_id=handed.id, status=Status.FAILED, epoch=1, error=error)

    first = await services.receiver.accept(failure("no"), household.client, household.project.id)
    again = await services.receiver.accept(failure("no"), household.client, household.project.id)

    assert again == first
    with pytest.raises(Conflict, match="has ended already, as failed"):
        await services.receiver.accept(failure("never"), household.client, household.project.id)


async def test_a_result_under_an_older_epoch_is_a_conflict(
    services: Services, dispatcher: Dispatcher, store: SqliteStore, household: Household
) -> None:
    handed = await handed_out(services, household)
    with connected(services, household.client) as connection:
        await dispatcher.offer_open_calls(connection)

    with pytest.raises(Conflict, match="was handed out again since"):
        await services.receiver.accept(
            a_report(handed.id, epoch=1), household.client, household.project.id
        )
    assert (await find(store, handed)).status is Status.EXECUTING

    ended = await services.receiver.accept(
        a_report(handed.id, epoch=2), household.client, household.project.id
    )
    assert ended.status is Status.COMPLETED


async def test_without_an_epoch_the_present_one_is_meant(
    services: Services, dispatcher: Dispatcher, household: Household
) -> None:
    handed = await handed_out(services, household)
    with connected(services, household.client) as connection:
        await dispatcher.offer_open_calls(connection)

    ended = await services.receiver.accept(
        a_report(handed.id, epoch=None), household.client, household.project.id
    )

    assert (ended.status, ended.epoch) == (Status.COMPLETED, 2)


async def test_a_client_whose_call_was_handed_over_is_turned_away(
    services: Services, dispatcher: Dispatcher, store: SqliteStore, household: Household
) -> None:
    other = await add_client(store, household)
    handed = await handed_out(services, household)
    with connected(services, other):
        await dispatcher.hand_over(household.workspace.id)

    with pytest.raises(Conflict, match="was not handed to this client"):
        await services.receiver.accept(
            a_report(handed.id, epoch=None), household.client, household.project.id
        )

    ended = await services.receiver.accept(
        a_report(handed.id, epoch=2), other, household.project.id
    )
    assert ended.client_id == other.subject


async def test_a_call_that_nobody_was_handed_has_no_result_to_take(
    services: Services, store: SqliteStore, household: Household
) -> None:
    waiting = await services.executor.propose(a_read(household), household.agent)

    with pytest.raises(Conflict, match="was not handed to this client"):
        await services.receiver.accept(
            a_report(waiting.id, epoch=None), household.client, household.project.id
        )

    assert await find(store, waiting) == waiting


async def test_another_projects_call_is_not_found(
    services: Services, store: SqliteStore, clock: FakeClock, household: Household
) -> None:
    neighbour = await settle_in(store, clock, "ben", "/ben")
    handed = await handed_out(services, household)

    for client in (household.client, neighbour.client):
        with pytest.raises(NotFound, match=f"there is no execution '{handed.id}'"):
            await services.receiver.accept(a_report(handed.id), client, neighbour.project.id)

    assert await find(store, handed) == handed


async def test_an_unknown_call_is_not_found(services: Services, household: Household) -> None:
    with pytest.raises(NotFound, match="there is no execution 'exe_none'"):
        await services.receiver.accept(
            a_report(ExecutionId("exe_none")), household.client, household.project.id
        )


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        pytest.param(["hello", "hello"], ["completed", "completed"], id="the-same"),
        pytest.param(["hello", "goodbye"], ["Conflict", "completed"], id="different"),
    ],
)
async def test_two_results_at_once_are_one_end(
    services: Services,
    store: SqliteStore,
    household: Household,
    words: list[str],
    expected: list[str],
) -> None:
    handed = await handed_out(services, household)

    outcomes = await asyncio.gather(
        *(
            services.receiver.accept(
                a_report(handed.id, word), household.client, household.project.id
            )
            for word in words
        ),
        return_exceptions=True,
    )

    def named(outcome: Any) -> str:
        return str(outcome.status) if isinstance(outcome, ToolExecution) else type(outcome).__name__

    assert sorted(map(named, outcomes)) == expected
    winners = [one for one in outcomes if isinstance(one, ToolExecution)]
    # The one that is turned away is told so.
    told = (await store.event_range(household.project.id)).last
    assert told == 2 + len(outcomes) - len(winners)
    assert [await find(store, handed)] * len(winners) == winners


async def test_a_result_that_comes_too_late_for_a_new_offer_is_turned_away(
    services: Services, dispatcher: Dispatcher, store: SqliteStore, household: Household
) -> None:
    handed = await handed_out(services, household)

    with connected(services, household.client) as connection:
        offering = asyncio.create_task(dispatcher.offer_open_calls(connection))
        while store._idle.is_set():
            await asyncio.sleep(0)
        with pytest.raises(Conflict):
            await services.receiver.accept(
                a_report(handed.id), household.client, household.project.id
            )
        await offering

    assert await find(store, handed) == handed._replace(epoch=2)


async def test_an_offer_that_comes_too_late_for_a_result_changes_nothing(
    services: Services, dispatcher: Dispatcher, store: SqliteStore, household: Household
) -> None:
    handed = await handed_out(services, household)

    with connected(services, household.client) as connection:
        ended, _ = await asyncio.gather(
            services.receiver.accept(a_report(handed.id), household.client, household.project.id),
            dispatcher.offer_open_calls(connection),
        )

    assert await find(store, handed) == ended
    assert len(await signals_to(store, household, household.client)) == 1


# What comes too late


async def after_patience(services: Services, home: Household, clock: FakeClock) -> ToolExecution:
    """A change that was begun, and whose client stayed away for too long."""
    call = await begun(services, home)
    clock.advance(600)
    await Patience(services.store, clock, services.connections).give_up()
    return await now_of(services.store, call.id)


async def after_a_cancel(services: Services, home: Household, clock: FakeClock) -> ToolExecution:
    """A change that was begun, and then cancelled."""
    call = await begun(services, home)
    clock.advance(5)
    return await services.stopper.cancel(call.id, at_the("console", home))


async def after_a_wait(services: Services, home: Household, clock: FakeClock) -> ToolExecution:
    """A read whose client left, and nobody else came."""
    call = await handed_out(services, home)
    clock.advance(300)
    await Patience(services.store, clock, services.connections).give_up()
    return await now_of(services.store, call.id)


Ended = Callable[[Services, Household, FakeClock], Awaitable[ToolExecution]]
without_a_word = pytest.mark.parametrize("ended", [after_patience, after_a_cancel, after_a_wait])

LATE = {
    "status": "completed",
    "result": {"success": True, "content": "hello"},
    "error": None,
    "error_type": None,
    "execution_time_ms": 3,
}


@without_a_word
async def test_what_comes_after_an_end_without_it_is_kept_beside_the_end(
    services: Services, store: SqliteStore, household: Household, clock: FakeClock, ended: Ended
) -> None:
    before = await ended(services, household, clock)
    told = (await store.event_range(household.project.id)).last
    clock.advance(1_000)

    kept = await services.receiver.accept(
        a_report(before.id), household.client, household.project.id
    )

    assert kept == before._replace(late_result=LATE)
    assert await find(store, before) == kept
    assert await services.executor.settle(before.id) == kept
    items = await store.read_stream(household.project.id, after=told, client_id=None, limit=9)
    assert [item.event[2:] for item in items] == [
        (clock.now(), *NewEvent.about(before, EventKind.RESULT_KEPT))
    ]
    (line,) = await lines_of(store, household, "call.late_result")
    assert (line.actor, line.subject) == (household.client.subject, before.id)
    assert json.loads(line.details) == {
        "ended": before.error_type,
        "status": "completed",
        "error": None,
    }


async def test_a_failure_may_come_late_too_and_its_secrets_are_masked(
    services: Services, store: SqliteStore, household: Household, clock: FakeClock
) -> None:
    before = await after_patience(services, household, clock)
    failure = Report(
        execution_id=before.id,
        status=Status.FAILED,
        epoch=before.epoch,
        error="it said token=open-sesame",
        error_type=ErrorType.EXECUTION,
    )

    kept = await services.receiver.accept(failure, household.client, household.project.id)

    late = {
        "status": "failed",
        "result": None,
        "error": "it said token=[masked]",
        "error_type": "execution",
        "execution_time_ms": None,
    }
    assert kept == before._replace(late_result=late)
    (line,) = await lines_of(store, household, "call.late_result")
    assert "open-sesame" not in line.details


@without_a_word
async def test_the_same_late_result_twice_is_one_and_another_is_a_conflict(
    services: Services, store: SqliteStore, household: Household, clock: FakeClock, ended: Ended
) -> None:
    before = await ended(services, household, clock)
    client, project_id = household.client, household.project.id
    kept = await services.receiver.accept(a_report(before.id), client, project_id)
    told = await store.event_range(project_id)

    again = await services.receiver.accept(a_report(before.id, epoch=None), client, project_id)
    with pytest.raises(Conflict, match="has ended already, as failed"):
        await services.receiver.accept(a_report(before.id, "another"), client, project_id)

    assert again == kept
    assert await find(store, before) == kept
    items = await store.read_stream(project_id, after=told.last, client_id=None, limit=9)
    assert [item.event.kind for item in items] == [EventKind.RESULT_REJECTED]
    assert len(await lines_of(store, household, "call.late_result")) == 1


@pytest.mark.parametrize("words", [["hello", "hello"], ["hello", "goodbye"]])
async def test_of_two_late_results_at_once_one_is_kept(
    services: Services,
    store: SqliteStore,
    household: Household,
    clock: FakeClock,
    words: list[str],
) -> None:
    before = await after_a_cancel(services, household, clock)

    outcomes = await asyncio.gather(
        *(
            services.receiver.accept(
                a_report(before.id, word), household.client, household.project.id
            )
            for word in words
        ),
        return_exceptions=True,
    )

    kept = before._replace(late_result=LATE)
    assert await find(store, before) == kept
    assert outcomes[0] == kept
    if words[0] == words[1]:
        assert outcomes[1] == kept
    else:
        assert isinstance(outcomes[1], Conflict)
    assert len(await lines_of(store, household, "call.late_result")) == 1


@without_a_word
async def test_a_late_result_of_another_client_or_an_older_epoch_is_turned_away(
    services: Services, store: SqliteStore, household: Household, clock: FakeClock, ended: Ended
) -> None:
    other = await add_client(store, household)
    before = await ended(services, household, clock)
    older = a_report(before.id, epoch=before.epoch - 1)

    with pytest.raises(Conflict, match="was not handed to this client"):
        await services.receiver.accept(a_report(before.id), other, household.project.id)
    with pytest.raises(Conflict, match="has ended already, as failed"):
        await services.receiver.accept(older, household.client, household.project.id)

    assert await find(store, before) == before
    assert await lines_of(store, household, "call.late_result") == []


async def test_what_nobody_had_begun_has_no_late_result(
    services: Services, store: SqliteStore, household: Household, clock: FakeClock
) -> None:
    call = await offered(services, household)
    clock.advance(600)
    await Patience(store, clock, services.connections).give_up()
    timed_out = await find(store, call)

    with pytest.raises(Conflict, match="has ended already, as timeout"):
        await services.receiver.accept(a_report(call.id), household.client, household.project.id)

    assert timed_out.status is Status.TIMEOUT
    assert await find(store, call) == timed_out


async def test_the_client_itself_may_say_that_the_outcome_is_unknown_and_know_more_later(
    services: Services, store: SqliteStore, household: Household
) -> None:
    call = await begun(services, household)
    unsure = Report(
        execution_id=call.id,
        status=Status.FAILED,
        epoch=1,
        error="the machine went down over it",
        error_type=ErrorType.OUTCOME_UNKNOWN,
    )
    ended = await services.receiver.accept(unsure, household.client, household.project.id)

    again = await services.receiver.accept(unsure, household.client, household.project.id)
    kept = await services.receiver.accept(a_report(call.id), household.client, household.project.id)

    assert again == ended
    assert kept == ended._replace(late_result=LATE)


async def test_a_late_result_is_there_after_a_restart(
    services: Services, store: SqliteStore, household: Household, clock: FakeClock, tmp_path: Path
) -> None:
    before = await after_patience(services, household, clock)
    await store.close()

    async with another_process(tmp_path, clock) as later:
        kept = await later.receiver.accept(
            a_report(before.id), household.client, household.project.id
        )
    async with another_process(tmp_path, clock) as last:
        found = await now_of(last.store, before.id)
        again = await last.receiver.accept(
            a_report(before.id), household.client, household.project.id
        )

    assert found == again == kept == before._replace(late_result=LATE)


@pytest.mark.parametrize("stage", [handed_out, begun], ids=["a read", "a change"])
@pytest.mark.parametrize("result_first", [True, False])
async def test_of_a_result_and_a_cancel_at_once_one_ends_the_call_and_nothing_is_lost(
    services: Services,
    store: SqliteStore,
    household: Household,
    stage: Callable[[Services, Household], Awaitable[ToolExecution]],
    result_first: bool,
) -> None:
    call = await stage(services, household)
    result = services.receiver.accept(a_report(call.id), household.client, household.project.id)
    both = [result, services.stopper.cancel(call.id, at_the("console", household))]

    outcomes = await asyncio.gather(
        *(both if result_first else reversed(both)), return_exceptions=True
    )

    found = await find(store, call)
    assert len(await lines_of(store, household, "call.ended")) == 1
    assert found == outcomes[0 if result_first else 1]
    if result_first:
        assert (found.status, found.late_result) == (Status.COMPLETED, None)
        assert str(outcomes[1]) == f"{call.id} has ended already, as completed"
    else:
        assert (found.error_type, found.result) == (ErrorType.CANCELLED, None)
        assert found.late_result == LATE


async def test_what_was_only_looked_at_has_no_result_to_take(
    services: Services, store: SqliteStore, household: Household
) -> None:
    pending = await look(services, household)
    report = a_report(pending.id, epoch=None)

    with pytest.raises(Conflict, match="it was not to be executed yet"):
        await services.receiver.accept(report, household.client, household.project.id)
    assert await find(store, pending) == pending
    await services.stopper.cancel(pending.id, at_the("console", household))
    with pytest.raises(Conflict):
        await services.receiver.accept(report, household.client, household.project.id)


async def test_what_was_never_begun_cannot_be_completed_late_either(
    services: Services, household: Household
) -> None:
    call = await offered(services, household)
    await services.stopper.cancel(call.id, at_the("console", household))

    with pytest.raises(Conflict):
        await services.receiver.accept(a_report(call.id), household.client, household.project.id)


async def test_the_same_late_result_that_took_longer_is_the_same(
    services: Services, household: Household
) -> None:
    call = await begun(services, household)
    await services.stopper.cancel(call.id, at_the("console", household))
    late = a_report(call.id)
    first = await services.receiver.accept(late, household.client, household.project.id)

    again = await services.receiver.accept(
        replace(late, execution_time_ms=99), household.client, household.project.id
    )

    assert again == first
