"""Old results and calls go in small steps; what is still needed stays, and ids stay taken."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from handrail.app.audit import verify
from handrail.app.home import Home
from handrail.core.approval import ApprovalStatus
from handrail.core.blob import Blob, BlobHold, Purpose
from handrail.core.change import (
    Add,
    Change,
    KeepBlob,
    OpenRun,
    Step,
    TaintSession,
)
from handrail.core.errors import Conflict, ErrorType, NotFound
from handrail.core.event import EventKind
from handrail.core.execution import Status, ToolExecution
from handrail.core.grant_steps import RevokeGrant
from handrail.core.ids import ApprovalId
from handrail.core.retention import Amount, Retention
from handrail.plane import retention as pruning
from handrail.plane.calls import get_call
from handrail.plane.retention import Pruner
from handrail.server.services import Services
from handrail.store.sqlite import SqliteStore
from handrail.testing import FakeClock
from tests.conftest import Household
from tests.contracts.conftest import a_call, a_grant, a_question, opening
from tests.contracts.test_store_chat import a_run
from tests.plane.conftest import a_read, lines_of

DAY = timedelta(days=1)
RESULT = {"success": True, "content": "xylophone " * 20, "output": "xylophone " * 20}
WANTED = Retention(results=30 * DAY, calls=365 * DAY)


@pytest.fixture
def pruner(store: SqliteStore, clock: FakeClock) -> Pruner:
    return Pruner(store, clock, lambda: WANTED)


async def prune(pruner: Pruner) -> Amount:
    total = Amount()
    while (step := await pruner.take_step()) is not None:
        total += step
    return total


async def keep(
    store: SqliteStore, home: Household, clock: FakeClock, age: float, call_id: str, **fields: Any
) -> ToolExecution:
    """A call that ended so many days ago."""
    at = clock.now() - age * DAY
    ended = {"status": Status.COMPLETED, "completed_at": at, "result": RESULT}
    call = a_call(home, call_id, created_at=at, started_at=at, **(ended | fields))
    await store.submit(opening(call, home))
    return call


async def fate_of(store: SqliteStore, call: ToolExecution) -> str:
    now = await store.find_execution(call.id)
    if now is None:
        return "gone"
    return "whole" if now.result == call.result else "no result"


def question_of(call: ToolExecution, status: ApprovalStatus) -> Add:
    return Add(a_question(call, status=status))


ASKED = {"approval_id": ApprovalId("apr_1")}
NEEDED: dict[str, tuple[dict[str, Any], Callable[[ToolExecution, Household], list[Step]]]] = {
    "its question is open": (
        ASKED,
        lambda call, home: [question_of(call, ApprovalStatus.PENDING)],
    ),
    "a grant that came of it is live": (
        ASKED,
        lambda call, home: [
            question_of(call, ApprovalStatus.APPROVED),
            Add(replace(a_grant(home), approval_id=ApprovalId("apr_1"), expires_at=None)),
        ],
    ),
    "a lasting answer that came of it is live": (
        ASKED,
        lambda call, home: [
            question_of(call, ApprovalStatus.APPROVED),
            Add(
                replace(
                    a_grant(home),
                    approval_id=ApprovalId("apr_1"),
                    agent_id=home.agent.subject,
                    expires_at=home.project.created_at + timedelta(days=1_000),
                )
            ),
        ],
    ),
    "a run of its session is open": (
        {},
        lambda call, home: [OpenRun(a_run(home, call.session_id))],
    ),
    "its session is distrusted because of it": (
        {},
        lambda call, home: [TaintSession(call, "orders")],
    ),
    "a late result may come": (
        {"status": Status.FAILED, "error_type": ErrorType.OUTCOME_UNKNOWN},
        lambda call, home: [],
    ),
    "it has not ended": ({"status": Status.EXECUTING, "completed_at": None}, lambda call, home: []),
}


@pytest.mark.parametrize(
    ("age", "ended", "fate"),
    [
        (0, 0, "whole"),
        (29, 29, "whole"),
        (31, 1, "whole"),
        (31, 31, "no result"),
        (364, 364, "no result"),
        (366, 300, "no result"),
        (366, 366, "gone"),
    ],
)
async def test_results_go_after_a_month_and_calls_after_a_year(
    store: SqliteStore,
    clock: FakeClock,
    household: Household,
    pruner: Pruner,
    age: int,
    ended: int,
    fate: str,
) -> None:
    done = {"completed_at": clock.now() - ended * DAY}
    call = await keep(store, household, clock, age, "call-1", **done)

    foreseen = await pruner.weigh()
    removed = await prune(pruner)

    assert await fate_of(store, call) == fate
    assert removed == foreseen
    assert (removed.results, removed.calls) == {"whole": (0, 0), "no result": (1, 0)}.get(
        fate, (1, 1)
    )


@pytest.mark.parametrize("why", NEEDED)
async def test_what_is_still_needed_stays_however_old_it_is(
    store: SqliteStore, clock: FakeClock, household: Household, pruner: Pruner, why: str
) -> None:
    fields, steps = NEEDED[why]
    call = await keep(store, household, clock, 500, "call-1", **fields)
    await store.submit(Change(call.project_id, clock.now(), tuple(steps(call, household))))

    assert await pruner.weigh() == Amount()
    assert await prune(pruner) == Amount()
    assert await fate_of(store, call) == "whole"


async def test_with_its_call_go_the_question_and_the_dead_grant_and_the_blobs(
    store: SqliteStore, clock: FakeClock, household: Household, pruner: Pruner
) -> None:
    call = await keep(store, household, clock, 400, "call-1", **ASKED)
    grant = replace(a_grant(household), approval_id=ApprovalId("apr_1"), expires_at=None)
    blob = Blob("a" * 64, 2_000_000)
    hold = BlobHold(call.project_id, *blob, call.id, Purpose.RESULT, clock.now())
    steps = (question_of(call, ApprovalStatus.APPROVED), Add(grant), KeepBlob(hold))
    await store.submit(Change(call.project_id, clock.now(), steps))
    await store.submit(Change(call.project_id, clock.now(), (RevokeGrant(grant),)))

    removed = await prune(pruner)

    assert (removed.calls, removed.results, removed.questions) == (1, 1, 1)
    assert await store.find_approval(ApprovalId("apr_1")) is None
    assert await store.find_grant(grant.id) is None
    assert await store.find_blob(call.project_id, blob.sha256, agent_id=None) is None


async def test_the_audit_says_what_was_removed_and_is_whole(
    store: SqliteStore, clock: FakeClock, household: Household, pruner: Pruner, tmp_path: Path
) -> None:
    for number in range(3):
        await keep(store, household, clock, 40, f"call-{number}")
    before = await lines_of(store, household)

    await prune(pruner)

    lines = await lines_of(store, household)
    assert lines[:-1] == before
    assert (lines[-1].action, lines[-1].actor) == ("records.pruned", "retention")
    assert '"results":3' in lines[-1].details
    assert (await verify(Home(tmp_path), household.project.id)).broken is None


async def test_a_pruned_result_is_not_on_the_disk_any_more(
    store: SqliteStore, clock: FakeClock, household: Household, pruner: Pruner, tmp_path: Path
) -> None:
    await keep(store, household, clock, 40, "call-1")

    await prune(pruner)
    await store.close()

    assert b"xylophone" not in b"".join(one.read_bytes() for one in tmp_path.glob("handrail.db*"))


async def test_the_id_of_a_removed_call_is_answered_truthfully_and_runs_nothing_again(
    services: Services, store: SqliteStore, clock: FakeClock, household: Household, pruner: Pruner
) -> None:
    call = await keep(store, household, clock, 366, "call-1")
    await prune(pruner)
    events = await store.event_range(household.project.id)

    with pytest.raises(NotFound, match=f"{call.id}' was removed on {clock.now():%Y-%m-%d}"):
        await get_call(store, call.id, household.project.id)
    with pytest.raises(NotFound, match="there is no execution"):
        await get_call(store, call.id, household.project.id, "another agent")
    for body in ({"path": "README.md"}, {"path": "other.md"}):
        with pytest.raises(Conflict, match="'call-1' was asked before, and its record was removed"):
            await services.executor.propose(a_read(household, "call-1", **body), household.agent)

    assert await store.event_range(household.project.id) == events
    again = await services.executor.propose(a_read(household, "call-2"), household.agent)
    assert again.call_id == "call-2"


async def test_the_record_of_a_pruned_result_says_since_when_it_is_gone(
    services: Services, store: SqliteStore, clock: FakeClock, household: Household, pruner: Pruner
) -> None:
    call = await keep(store, household, clock, 40, "call-1")

    await prune(pruner)

    now = await store.find_execution(call.id)
    assert now == call._replace(result=None, result_removed_at=clock.now())


async def test_an_event_of_a_removed_call_is_read_without_the_call(
    store: SqliteStore, clock: FakeClock, household: Household, pruner: Pruner
) -> None:
    gone = await keep(store, household, clock, 400, "call-1")
    kept = await keep(store, household, clock, 1, "call-2")

    await prune(pruner)

    items = await store.read_stream(household.project.id, after=0, client_id=None, limit=9)
    assert [item.event.seq for item in items] == [1, 2]
    assert [item.event.kind for item in items] == [EventKind.STATUS] * 2
    assert [item.event.execution_id for item in items] == [gone.id, kept.id]
    assert [item.execution and item.execution.id for item in items] == [None, kept.id]


async def test_a_server_that_is_killed_between_steps_goes_on_at_the_next_start(
    store: SqliteStore,
    clock: FakeClock,
    household: Household,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.setattr(pruning, "MOST_AT_ONCE", 2)
    calls = [await keep(store, household, clock, 40 + n, f"call-{n}") for n in range(5)]
    first = await Pruner(store, clock, lambda: WANTED).take_step()
    fates = [await fate_of(store, call) for call in calls]

    rest = await prune(Pruner(store, clock, lambda: WANTED))

    assert first is not None
    assert (first.results, rest.results) == (2, 3)
    # The oldest first.
    assert fates == ["whole", "whole", "whole", "no result", "no result"]
    pruned = await lines_of(store, household, "records.pruned")
    assert len(pruned) == 3
    assert (await verify(Home(tmp_path), household.project.id)).broken is None


async def test_beyond_its_size_the_oldest_results_go_and_then_calls_but_none_of_today(
    store: SqliteStore, clock: FakeClock, household: Household, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pruning, "MOST_AT_ONCE", 1)
    big = {"result": {"success": True, "output": "x" * 200_000}}
    old, newer, today = [
        await keep(store, household, clock, age, f"call-{age}", **big) for age in (9, 8, 0.5)
    ]
    used = (await store.measure_file()).used_bytes

    one_too_many = Retention(max_bytes=used - 100_000)
    await prune(Pruner(store, clock, lambda: one_too_many))
    first = [await fate_of(store, call) for call in (old, newer, today)]
    await prune(Pruner(store, clock, lambda: Retention(max_bytes=1)))
    then = [await fate_of(store, call) for call in (old, newer, today)]

    assert first == ["no result", "whole", "whole"]
    assert then == ["gone", "gone", "whole"]


async def test_the_file_becomes_smaller_and_calls_go_on_meanwhile(
    services: Services,
    store: SqliteStore,
    clock: FakeClock,
    household: Household,
    pruner: Pruner,
    tmp_path: Path,
) -> None:
    for number in range(30):
        big = {"result": {"success": True, "output": "x" * 200_000}}
        await keep(store, household, clock, 40, f"call-{number}", **big)
    before = (await store.measure_file()).bytes

    steps = 0
    while await pruner.take_step() is not None:
        steps += 1
        await services.executor.propose(a_read(household, f"new-{steps}"), household.agent)

    assert steps > 2
    space = await store.measure_file()
    assert space.can_shrink
    assert space.free_bytes == 0
    assert space.bytes < before / 5
    await store.close()
    assert (tmp_path / "handrail.db").stat().st_size == space.bytes


async def test_the_sweeper_prunes_after_a_minute_and_then_once_an_hour(
    services: Services, store: SqliteStore, clock: FakeClock, household: Household
) -> None:
    first = await keep(store, household, clock, 40, "call-1")
    await services.sweeper.sweep()
    fates = [await fate_of(store, first)]
    clock.advance(60)
    for _ in range(3):
        await services.sweeper.sweep()
    fates.append(await fate_of(store, first))

    second = await keep(store, household, clock, 40, "call-2")
    for seconds in (3_599, 1):
        clock.advance(seconds)
        await services.sweeper.sweep()
        fates.append(await fate_of(store, second))

    assert fates == ["whole", "no result", "whole", "no result"]
