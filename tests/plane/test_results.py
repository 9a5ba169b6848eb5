"""The end of a call is told once, and what comes after it is not lost."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from handrail.core.errors import Conflict, ErrorType, NotFound
from handrail.core.event import Event, EventKind
from handrail.core.execution import Status, ToolExecution
from handrail.core.ids import ExecutionId
from handrail.plane.dispatch import Dispatcher
from handrail.plane.results import Report
from handrail.server.services import Services
from handrail.store.sqlite import SqliteStore
from handrail.testing import FakeClock
from tests.conftest import Household, settle_in
from tests.plane.conftest import (
    a_read,
    a_report,
    add_client,
    find,
    handed_out,
    seated,
    signals_to,
)


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
    with seated(services, household.client) as seat:
        await dispatcher.offer_open_calls(seat)

    with pytest.raises(Conflict, match="was handed out anew since"):
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
    with seated(services, household.client) as seat:
        await dispatcher.offer_open_calls(seat)

    ended = await services.receiver.accept(
        a_report(handed.id, epoch=None), household.client, household.project.id
    )

    assert (ended.status, ended.epoch) == (Status.COMPLETED, 2)


async def test_a_client_whose_call_was_handed_over_is_turned_away(
    services: Services, dispatcher: Dispatcher, store: SqliteStore, household: Household
) -> None:
    other = await add_client(store, household)
    handed = await handed_out(services, household)
    with seated(services, other):
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
        with pytest.raises(NotFound, match=f"there is no execution {handed.id}"):
            await services.receiver.accept(a_report(handed.id), client, neighbour.project.id)

    assert await find(store, handed) == handed


async def test_an_unknown_call_is_not_found(services: Services, household: Household) -> None:
    with pytest.raises(NotFound, match="there is no execution exe_none"):
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
    assert (await store.event_range(household.project.id)).last == 2
    winners = [one for one in outcomes if isinstance(one, ToolExecution)]
    assert [await find(store, handed)] * len(winners) == winners


async def test_a_result_that_comes_too_late_for_a_new_offer_is_turned_away(
    services: Services, dispatcher: Dispatcher, store: SqliteStore, household: Household
) -> None:
    handed = await handed_out(services, household)

    with seated(services, household.client) as seat:
        offer, report = await asyncio.gather(
            dispatcher.offer_open_calls(seat),
            services.receiver.accept(a_report(handed.id), household.client, household.project.id),
            return_exceptions=True,
        )

    assert offer is None
    assert isinstance(report, Conflict)
    assert await find(store, handed) == handed._replace(epoch=2)


async def test_an_offer_that_comes_too_late_for_a_result_changes_nothing(
    services: Services, dispatcher: Dispatcher, store: SqliteStore, household: Household
) -> None:
    handed = await handed_out(services, household)

    with seated(services, household.client) as seat:
        ended, _ = await asyncio.gather(
            services.receiver.accept(a_report(handed.id), household.client, household.project.id),
            dispatcher.offer_open_calls(seat),
        )

    assert await find(store, handed) == ended
    assert len(await signals_to(store, household, household.client)) == 1
