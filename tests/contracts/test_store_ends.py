"""What every store promises about stopped sessions, late results and events that may go."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from handrail.bus.local import LocalBus
from handrail.core.audit import AuditRecord, find_break
from handrail.core.change import (
    Add,
    Advance,
    Change,
    ForgetEvents,
    KeepLate,
    OpenSession,
    Step,
    StopSession,
)
from handrail.core.errors import ChangeRefused, ErrorType
from handrail.core.event import EventKind, NewEvent
from handrail.core.execution import FINAL, Status, ToolExecution
from handrail.core.grant_steps import UseGrant
from handrail.core.ids import ExecutionId, ProjectId, SessionId, WorkspaceId, mint
from handrail.core.ports import EventRange
from handrail.core.project import Workspace
from handrail.core.tool import JsonObject
from handrail.store.sqlite import SqliteStore
from handrail.testing import FakeClock
from tests.conftest import Household, settle_in
from tests.contracts import test_store_approvals
from tests.contracts.conftest import (
    OpenStore,
    a_call,
    a_session,
    moving,
    opening,
)
from tests.contracts.test_store_approvals import give

LATE: JsonObject = {"status": "completed", "result": {"files": ["a", "b"]}, "error": None}
UNFINISHED = [status for status in Status if status not in FINAL]
SECOND = timedelta(seconds=1)


async def do(store: SqliteStore, home: Household, *steps: Step, after_seconds: int = 0) -> None:
    """One change with a line that proves it."""
    at = home.project.created_at + timedelta(seconds=after_seconds)
    line = AuditRecord("it.happened", "somebody", "something")
    await store.submit(Change(home.project.id, at, steps, audit=(line,)))


async def refused(
    store: SqliteStore, home: Household, *steps: Step, after_seconds: int = 0
) -> None:
    """The change is not taken, and nothing of it can be found."""
    before = await state_of(store, home)
    with pytest.raises(ChangeRefused):
        await do(store, home, *steps, after_seconds=after_seconds)
    assert await state_of(store, home) == before


async def state_of(store: SqliteStore, home: Household) -> list[Any]:
    """All that these steps can leave behind, for comparing before and after."""
    sessions = [SessionId("session-1"), SessionId("session-2")]
    return [
        *[await store.find_place(home.project.id, session_id) for session_id in sessions],
        await store.event_range(home.project.id),
        *await test_store_approvals.state_of(store, home),
    ]


async def open_call(
    store: SqliteStore, home: Household, call_id: str = "call-1", **fields: Any
) -> ToolExecution:
    call = a_call(home, call_id, **fields)
    await store.submit(opening(call, home))
    return call


async def ended_call(
    store: SqliteStore, home: Household, call_id: str = "call-1", **fields: Any
) -> ToolExecution:
    """A call that was handed out and ended without a word of its client."""
    at = home.project.created_at
    call = await open_call(store, home, call_id, **fields)
    handed = call.assign(home.client_id, at)
    ended = handed.fail(ErrorType.OUTCOME_UNKNOWN, "nobody knows", at)
    for before, after in ((call, handed), (handed, ended)):
        await store.submit(moving(Advance(before, after)))
    return ended


def ids(calls: Sequence[ToolExecution]) -> list[ExecutionId]:
    return [call.id for call in calls]


# A session is stopped


async def test_nothing_enters_by_a_session_that_was_stopped(
    store: SqliteStore, household: Household, open_store: OpenStore
) -> None:
    earlier = await open_call(store, household)
    at = household.project.created_at + 9 * SECOND

    await do(store, household, StopSession(a_session(household)), after_seconds=9)

    for reader in (store, await open_store(LocalBus())):
        place = await reader.find_place(household.project.id, SessionId("session-1"))
        assert place is not None
        assert place.session == a_session(household, stopped_at=at)
        with pytest.raises(ChangeRefused):
            await reader.submit(opening(a_call(household, "later"), household))
        assert await reader.find_execution(earlier.id) == earlier
        other = a_call(household, mint("other", at), session_id=SessionId("session-2"))
        await reader.submit(opening(other, household))


async def test_a_session_is_stopped_once_and_an_unknown_one_never(
    store: SqliteStore, household: Household, clock: FakeClock
) -> None:
    neighbour = await settle_in(store, clock, "ben", "/ben")
    await open_call(store, household)
    await open_call(store, neighbour)
    await do(store, household, StopSession(a_session(household)), after_seconds=9)

    await refused(store, household, StopSession(a_session(household)), after_seconds=20)
    await refused(store, household, StopSession(a_session(household, "session-9")))

    place = await store.find_place(neighbour.project.id, SessionId("session-1"))
    assert place is not None
    assert place.session.stopped_at is None


async def test_of_two_who_stop_a_session_at_once_one_does(
    store: SqliteStore, household: Household, open_store: OpenStore
) -> None:
    await open_call(store, household)
    other = await open_store(LocalBus())

    outcomes = await asyncio.gather(
        *(
            do(each, household, StopSession(a_session(household)))
            for each in (store, other, store, other)
        ),
        return_exceptions=True,
    )

    assert sum(outcome is None for outcome in outcomes) == 1
    assert sum(isinstance(outcome, ChangeRefused) for outcome in outcomes) == 3


async def test_the_grants_of_a_stopped_session_are_revoked_with_it_and_no_others(
    store: SqliteStore, household: Household, clock: FakeClock, open_store: OpenStore
) -> None:
    neighbour = await settle_in(store, clock, "ben", "/ben")
    at = household.project.created_at
    await open_call(store, household)
    live = [await give(store, household), await give(store, household, class_key=None)]
    revoked = await give(store, household, revoked_at=at + SECOND)
    elsewhere = await give(store, household, session_id=SessionId("session-2"))
    foreign = await give(store, neighbour)

    await do(store, household, StopSession(a_session(household)), after_seconds=9)

    for reader in (store, await open_store(LocalBus())):
        assert [await reader.find_grant(grant.id) for grant in live] == [
            grant.revoke(at + 9 * SECOND) for grant in live
        ]
        for grant in (revoked, elsewhere, foreign):
            assert await reader.find_grant(grant.id) == grant
    await refused(store, household, UseGrant(live[0], live[0].session_id), after_seconds=10)


async def test_a_lasting_answer_outlives_the_session_it_was_given_in(
    store: SqliteStore, household: Household
) -> None:
    await open_call(store, household)
    lasting = await give(store, household, agent_id=household.agent.subject)

    await do(store, household, StopSession(a_session(household)))

    assert await store.find_grant(lasting.id) == lasting
    await do(store, household, UseGrant(lasting, SessionId("session-2")))


async def test_a_stop_that_is_refused_takes_no_grants_back(
    store: SqliteStore, household: Household
) -> None:
    call = await open_call(store, household)
    grant = await give(store, household)
    imagined = call._replace(epoch=7)
    over = imagined.advance(Status.FAILED, call.created_at)

    await refused(store, household, StopSession(a_session(household)), Advance(imagined, over))

    assert await store.find_grant(grant.id) == grant


async def test_a_store_that_knew_the_session_running_does_not_let_a_call_in(
    store: SqliteStore, household: Household, open_store: OpenStore
) -> None:
    await open_call(store, household)
    assert await store.find_place(household.project.id, SessionId("session-1")) is not None
    other = await open_store(LocalBus())
    await do(other, household, StopSession(a_session(household)))

    with pytest.raises(ChangeRefused):
        await store.submit(opening(a_call(household, "later"), household))

    place = await store.find_place(household.project.id, SessionId("session-1"))
    assert place is not None
    assert place.session.stopped_at is not None


# Late results


async def test_a_late_result_is_kept_beside_the_end_and_changes_nothing_of_it(
    store: SqliteStore, household: Household, open_store: OpenStore
) -> None:
    ended = await ended_call(store, household)
    kept = ended._replace(late_result=LATE)

    await do(store, household, KeepLate(kept), after_seconds=9)

    for reader in (store, await open_store(LocalBus())):
        assert await reader.find_execution(ended.id) == kept
        assert await reader.find_call(ended.project_id, ended.session_id, ended.call_id) == kept
        assert await reader.list_executions(
            household.project.id, status=None, agent_id=None, limit=9
        ) == [kept]


async def test_only_the_first_late_result_is_kept(
    store: SqliteStore, household: Household, open_store: OpenStore
) -> None:
    ended = await ended_call(store, household)
    first, second = [ended._replace(late_result={"word": word}) for word in ("first", "second")]
    other = await open_store(LocalBus())
    await do(store, household, KeepLate(first))

    for each in (store, other):
        await refused(each, household, KeepLate(second))
        await refused(each, household, KeepLate(first))

    assert await store.find_execution(ended.id) == first


async def test_of_two_late_results_at_once_one_is_kept(
    store: SqliteStore, household: Household, open_store: OpenStore
) -> None:
    ended = await ended_call(store, household)
    stores = (store, await open_store(LocalBus()))
    results = [ended._replace(late_result={"number": number}) for number in range(4)]

    outcomes = await asyncio.gather(
        *(do(stores[n % 2], household, KeepLate(late)) for n, late in enumerate(results)),
        return_exceptions=True,
    )

    assert sum(isinstance(outcome, ChangeRefused) for outcome in outcomes) == 3
    kept = results[outcomes.index(None)]
    assert await (await open_store(LocalBus())).find_execution(ended.id) == kept


async def test_a_late_result_of_what_has_ended_otherwise_or_never_was_is_refused(
    store: SqliteStore, household: Household
) -> None:
    ended = await ended_call(store, household)
    otherwise = ended._replace(status=Status.COMPLETED, late_result=LATE)
    nowhere = a_call(household, "none", status=Status.FAILED, late_result=LATE)

    await refused(store, household, KeepLate(otherwise))
    await refused(store, household, KeepLate(nowhere))

    assert await store.find_execution(ended.id) == ended


async def test_no_event_tells_of_a_late_result(
    store: SqliteStore, household: Household, open_store: OpenStore
) -> None:
    ended = await ended_call(store, household)
    kept = ended._replace(late_result=LATE)
    news = NewEvent.for_everyone(kept, EventKind.STATUS)
    change = Change(kept.project_id, kept.created_at, (KeepLate(kept),), (news,))

    await store.submit(change)

    told = [
        await reader.read_stream(household.project.id, after=0, client_id=None, limit=9)
        for reader in (store, await open_store(LocalBus()))
    ]
    assert told[0] == told[1]
    assert [item.execution for item in told[0]] == [ended] * 4


# Calls that have not ended


async def test_open_since_are_the_calls_of_all_that_wait_for_a_machine_longest_first(
    store: SqliteStore, household: Household, clock: FakeClock, open_store: OpenStore
) -> None:
    neighbour = await settle_in(store, clock, "ben", "/ben")
    at = household.project.created_at
    young = await open_call(store, household, "young", approved_at=at + 5 * SECOND)
    old = await open_call(store, neighbour, "old", approved_at=at + SECOND)
    handed = await open_call(
        store, household, "handed", status=Status.EXECUTING, approved_at=at + 3 * SECOND
    )
    for status in Status:
        if status not in (Status.APPROVED, Status.EXECUTING):
            await open_call(store, household, status, status=status)

    for reader in (store, await open_store(LocalBus())):
        assert await reader.list_open_since(at + SECOND - timedelta(microseconds=1)) == []
        assert await reader.list_open_since(at + SECOND) == [old]
        assert await reader.list_open_since(at + 4 * SECOND) == [old, handed]
        assert await reader.list_open_since(at + 5 * SECOND) == [old, handed, young]


async def test_unfinished_are_the_calls_of_a_session_that_have_not_ended_oldest_first(
    store: SqliteStore, household: Household, clock: FakeClock, open_store: OpenStore
) -> None:
    neighbour = await settle_in(store, clock, "ben", "/ben")
    at = household.project.created_at
    made = {
        status: await open_call(
            store, household, status, status=status, created_at=at - number * SECOND
        )
        for number, status in enumerate(Status)
    }
    other = await open_call(store, household, "other", session_id=SessionId("session-2"))
    foreign = await open_call(store, neighbour, "foreign")

    for reader in (store, await open_store(LocalBus())):
        unfinished = await reader.list_unfinished(a_session(household))
        assert ids(unfinished) == [made[status].id for status in reversed(UNFINISHED)]
        assert await reader.list_unfinished(a_session(household, "session-2")) == [other]
        assert await reader.list_unfinished(a_session(neighbour)) == [foreign]
        assert await reader.list_unfinished(a_session(household, "session-9")) == []


async def test_left_in_stopped_are_the_unfinished_calls_of_all_stopped_sessions(
    store: SqliteStore, household: Household, clock: FakeClock, open_store: OpenStore
) -> None:
    neighbour = await settle_in(store, clock, "ben", "/ben")
    at = household.project.created_at
    left = [
        await open_call(store, household, status, status=status, created_at=at + number * SECOND)
        for number, status in enumerate(UNFINISHED)
    ]
    for status in FINAL:
        await open_call(store, household, status, status=status)
    await open_call(store, household, "other", session_id=SessionId("session-2"))
    await open_call(store, neighbour, "foreign")
    none_yet = await store.list_left_in_stopped()

    await do(store, household, StopSession(a_session(household)))

    assert none_yet == []
    for reader in (store, await open_store(LocalBus())):
        assert await reader.list_left_in_stopped() == left
    over = left[0].fail(ErrorType.CANCELLED, "stopped", at)
    await store.submit(moving(Advance(left[0], over)))
    assert await store.list_left_in_stopped() == left[1:]


async def test_a_session_that_was_opened_elsewhere_too_is_told_apart_by_its_workspace(
    store: SqliteStore, household: Household
) -> None:
    at = household.project.created_at
    elsewhere = Workspace(WorkspaceId(mint("wsp", at)), household.project.id, "x", "/x", at)
    away = replace(a_session(household, "away"), workspace_id=elsewhere.id)
    await do(store, household, Add(elsewhere), OpenSession(away))
    call = await open_call(
        store, household, session_id=SessionId("away"), workspace_id=elsewhere.id
    )

    assert await store.list_unfinished(away) == [call]
    assert await store.list_unfinished(a_session(household)) == []


# Events that need not be told again


async def tell(store: SqliteStore, home: Household, count: int) -> None:
    """So many events, one with each call."""
    told = (await store.event_range(home.project.id)).last
    for number in range(told, told + count):
        await open_call(store, home, f"call-{number}")


async def test_a_range_says_which_events_can_still_be_told(
    store: SqliteStore, household: Household, open_store: OpenStore
) -> None:
    unknown = await store.event_range(ProjectId("prj_none"))
    empty = await store.event_range(household.project.id)
    await tell(store, household, 5)
    whole = await store.event_range(household.project.id)

    await do(store, household, ForgetEvents(2))

    assert unknown == empty == EventRange(1, 0)
    assert whole == EventRange(1, 5)
    for reader in (store, await open_store(LocalBus())):
        assert await reader.event_range(household.project.id) == EventRange(3, 5)


async def test_forgotten_events_are_gone_and_the_rest_is_told_as_before(
    store: SqliteStore, household: Household, clock: FakeClock, open_store: OpenStore
) -> None:
    neighbour = await settle_in(store, clock, "ben", "/ben")
    for home in (household, neighbour):
        await tell(store, home, 5)

    async def told(reader: SqliteStore, home: Household, after: int) -> list[Any]:
        return await reader.read_stream(home.project.id, after=after, client_id=None, limit=99)

    before = await told(store, household, 3)
    foreign = await told(store, neighbour, 0)

    await do(store, household, ForgetEvents(3))

    fresh = await open_store(LocalBus())
    assert [item.event.seq for item in await told(fresh, household, 0)] == [4, 5]
    for reader in (store, fresh):
        assert await told(reader, household, 3) == before
        assert await told(reader, neighbour, 0) == foreign
        assert await reader.event_range(neighbour.project.id) == EventRange(1, 5)


@pytest.mark.parametrize("through", [5, 99], ids=["all", "more than there are"])
async def test_numbers_go_on_when_everything_was_forgotten(
    store: SqliteStore, household: Household, open_store: OpenStore, through: int
) -> None:
    await tell(store, household, 5)

    await do(store, household, ForgetEvents(through))
    nothing_left = await store.event_range(household.project.id)
    await tell(store, household, 1)

    assert nothing_left == EventRange(6, 5)
    for reader in (store, await open_store(LocalBus())):
        assert await reader.event_range(household.project.id) == EventRange(6, 6)
        items = await reader.read_stream(household.project.id, after=5, client_id=None, limit=99)
        assert [item.event.seq for item in items] == [6]


async def test_forgetting_what_is_forgotten_is_harmless_and_no_line_of_the_audit_goes(
    store: SqliteStore, household: Household
) -> None:
    await tell(store, household, 5)
    lines = await store.read_audit(household.project.id, after=0, limit=99)

    for through in (3, 3, 1, 0):
        await do(store, household, ForgetEvents(through))

    assert await store.event_range(household.project.id) == EventRange(4, 5)
    after = await store.read_audit(household.project.id, after=0, limit=99)
    assert after[: len(lines)] == lines
    assert find_break(after) is None


async def test_a_refused_change_forgets_nothing(store: SqliteStore, household: Household) -> None:
    await tell(store, household, 5)

    await refused(store, household, ForgetEvents(3), StopSession(a_session(household, "session-9")))

    assert await store.event_range(household.project.id) == EventRange(1, 5)


async def test_long_streams_are_those_that_keep_more_events_than_this(
    store: SqliteStore, household: Household, clock: FakeClock, open_store: OpenStore
) -> None:
    ben, _empty = [await settle_in(store, clock, name, f"/{name}") for name in ("ben", "cleo")]
    await tell(store, household, 6)
    await tell(store, ben, 3)
    await do(store, household, ForgetEvents(2))
    mine = (household.project.id, EventRange(3, 6))
    bens = (ben.project.id, EventRange(1, 3))

    for reader in (store, await open_store(LocalBus())):
        assert sorted(await reader.list_long_streams(2)) == sorted([mine, bens])
        assert await reader.list_long_streams(3) == [mine]
        assert await reader.list_long_streams(4) == []


# Memory


async def test_memory_and_disk_tell_the_same_story_of_every_end(
    store: SqliteStore, household: Household, open_store: OpenStore
) -> None:
    ended = await ended_call(store, household)
    await give(store, household)
    await open_call(store, household, "open")
    kept = ended._replace(late_result=LATE)
    steps: list[Step] = [KeepLate(kept), StopSession(a_session(household))]
    # Memory is full of what is about to change.
    await state_of(store, household)

    for step in steps:
        await do(store, household, step, after_seconds=9)
        fresh = await open_store(LocalBus())
        assert await state_of(store, household) == await state_of(fresh, household)
        assert await store.find_execution(ended.id) == await fresh.find_execution(ended.id)


async def test_memory_tells_no_events_that_the_disk_has_forgotten(
    store: SqliteStore, household: Household
) -> None:
    for number in range(5):
        await store.submit(opening(a_call(household, f"call-{number}"), household))
    at = household.project.created_at

    await store.submit(Change(household.project.id, at, (ForgetEvents(3),)))

    items = await store.read_stream(household.project.id, after=0, client_id=None, limit=99)
    assert [item.event.seq for item in items] == [4, 5]


async def test_nothing_comes_late_to_a_call_that_is_still_running(
    store: SqliteStore, household: Household
) -> None:
    call = a_call(household)
    await store.submit(opening(call, household))

    await refused(store, household, KeepLate(call._replace(late_result=LATE)))
