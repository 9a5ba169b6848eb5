"""What every store promises, whatever database is behind it."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from handrail.bus.local import LocalBus
from handrail.core.access import Role, hash_secret
from handrail.core.audit import AuditEntry, AuditRecord, find_break
from handrail.core.change import (
    Add,
    Advance,
    Change,
    OpenCall,
    OpenSession,
    Reoffer,
    SetAutonomy,
    SetPolicy,
)
from handrail.core.errors import ChangeRefused, ErrorType, HandrailError
from handrail.core.event import Event, EventKind, NewEvent, Topic
from handrail.core.execution import Status, ToolExecution
from handrail.core.ids import ClientId, ExecutionId, ProjectId, SessionId, WorkspaceId, mint
from handrail.core.ports import StreamItem
from handrail.core.project import Autonomy, Client, Place, Project, Workspace
from handrail.core.risk import RiskLevel
from handrail.core.tool import Effect
from handrail.store.sqlite import SqliteStore
from handrail.testing import FakeClock
from tests.conftest import Household, settle_in
from tests.contracts.conftest import OpenStore, a_call, a_session, moving, opening, tell

SECRET = '{"path":"token=open-sesame"}'


async def refused(store: SqliteStore, change: Change) -> None:
    with pytest.raises(ChangeRefused):
        await store.submit(change)


async def read_all(
    store: SqliteStore, project_id: ProjectId, client_id: ClientId | None = None
) -> list[StreamItem]:
    return await store.read_stream(project_id, after=0, client_id=client_id, limit=10_000)


async def read_lines(store: SqliteStore, project_id: ProjectId) -> list[AuditEntry]:
    return await store.read_audit(project_id, after=0, limit=10_000)


async def everything_about(store: SqliteStore, home: Household, call: ToolExecution) -> list[Any]:
    """All that a change can leave behind, for comparing before and after."""
    return [
        await store.find_place(home.project.id, call.session_id),
        await store.find_execution(call.id),
        await store.find_call(home.project.id, call.session_id, call.call_id),
        await store.list_open(home.workspace.id),
        (await store.event_range(home.project.id)).last,
        await read_all(store, home.project.id),
        await read_lines(store, home.project.id),
    ]


def in_meaning(items: Sequence[StreamItem]) -> list[StreamItem | tuple[Any, ...]]:
    """Raw parameters compared as the JSON value they are; results are no part of any event."""
    return [
        (
            item.event,
            item.execution and item.execution._replace(result=None, late_result=None),
            None if item.raw_params is None else json.loads(item.raw_params),
        )
        for item in items
    ]


# What a workspace carries


async def test_the_policy_of_a_workspace_is_kept_and_seen_at_once(
    store: SqliteStore, household: Household, open_store: OpenStore
) -> None:
    await store.submit(opening(a_call(household), household))
    project_id, session_id = household.project.id, SessionId("session-1")
    before = await store.find_place(project_id, session_id)
    stricter = replace(household.workspace, policy="[policy]\nautonomy = 'read_only'\n")

    await store.submit(Change(project_id, household.project.created_at, (SetPolicy(stricter),)))

    after = await store.find_place(project_id, session_id)
    second = await open_store(LocalBus())
    assert before is not None
    assert after is not None
    assert (before.workspace, after.workspace) == (household.workspace, stricter)
    assert await store.list_workspaces(project_id) == [stricter]
    assert await second.find_place(project_id, session_id) == after


async def test_a_changed_autonomy_holds_for_the_next_look_at_the_project(
    store: SqliteStore, household: Household, open_store: OpenStore
) -> None:
    await store.submit(opening(a_call(household), household))
    project_id, session_id = household.project.id, SessionId("session-1")
    # Both are kept in memory, and must not outlive the change.
    await store.find_place(project_id, session_id)
    await store.find_project(project_id)
    freer = replace(household.project, autonomy=Autonomy.FULL)

    await store.submit(Change(project_id, household.project.created_at, (SetAutonomy(freer),)))

    for reader in (store, await open_store(LocalBus())):
        place = await reader.find_place(project_id, session_id)
        assert place is not None
        assert (place.autonomy, await reader.find_project(project_id)) == (Autonomy.FULL, freer)


async def test_the_autonomy_of_an_unknown_project_is_refused(
    store: SqliteStore, household: Household
) -> None:
    unknown = replace(household.project, id=ProjectId("prj_none"), autonomy=Autonomy.FULL)

    at = household.project.created_at
    await refused(store, Change(household.project.id, at, (SetAutonomy(unknown),)))

    assert await store.find_project(household.project.id) == household.project


async def test_the_policy_of_an_unknown_or_foreign_workspace_is_refused(
    store: SqliteStore, household: Household
) -> None:
    unknown = replace(household.workspace, id=WorkspaceId("wsp_none"), policy="# x")
    foreign = replace(household.workspace, project_id=ProjectId("prj_none"), policy="# x")

    for workspace in (unknown, foreign):
        at = household.project.created_at
        await refused(store, Change(household.project.id, at, (SetPolicy(workspace),)))

    assert await store.list_workspaces(household.project.id) == [household.workspace]


# Whole or not at all


async def test_a_change_is_stored_with_all_its_parts(
    store: SqliteStore, household: Household
) -> None:
    call = a_call(household)

    await store.submit(opening(call, household))

    lines = await read_lines(store, household.project.id)
    assert await store.find_execution(call.id) == call
    assert await store.find_place(household.project.id, call.session_id) == Place(
        household.project, household.workspace, a_session(household)
    )
    assert [item.event for item in await read_all(store, household.project.id)] == [
        Event(household.project.id, 1, call.created_at, *tell(call))
    ]
    assert [(line.seq, line.action, line.subject) for line in lines] == [
        (1, "project.created", household.project.id),
        (2, "call.proposed", call.id),
    ]


async def test_a_refused_change_leaves_no_trace(
    store: SqliteStore, household: Household, open_store: OpenStore
) -> None:
    first = a_call(household)
    await store.submit(opening(first, household))
    again = a_call(household, tool_name="other")
    before = await everything_about(store, household, again)

    # Its first steps would apply; only the last does not.
    await refused(
        store,
        Change(
            household.project.id,
            again.created_at,
            (
                OpenSession(a_session(household, "session-2")),
                Advance(first, first.assign(household.client_id, first.created_at)),
                OpenCall(again, SECRET),
            ),
            (tell(again),),
            (AuditRecord("call.proposed", "somebody", again.id),),
        ),
    )

    assert await everything_about(store, household, again) == before
    assert await store.find_execution(first.id) == first
    assert await store.find_place(household.project.id, SessionId("session-2")) is None
    second = await open_store(LocalBus())
    assert await second.find_execution(first.id) == first
    assert await second.find_execution(again.id) is None
    assert (await second.event_range(household.project.id)).last == 1


async def test_a_refused_change_takes_none_of_its_batch_mates_along(
    store: SqliteStore, household: Household, open_store: OpenStore
) -> None:
    calls = [a_call(household, f"call-{number}") for number in range(6)]
    twin = a_call(household, "call-0")
    changes = [opening(call, household) for call in (*calls[:3], twin, *calls[3:])]

    outcomes = await asyncio.gather(
        *(store.submit(change) for change in changes), return_exceptions=True
    )

    assert [type(outcome) for outcome in outcomes] == [
        *[type(None)] * 3,
        ChangeRefused,
        *[type(None)] * 3,
    ]
    for reader in (store, await open_store(LocalBus())):
        assert [await reader.find_execution(call.id) for call in calls] == calls
        assert await reader.find_execution(twin.id) is None
        items = await read_all(reader, household.project.id)
        assert [(item.event.seq, item.event.execution_id) for item in items] == [
            (seq, call.id) for seq, call in enumerate(calls, start=1)
        ]


async def test_a_change_of_an_unknown_project_is_refused(
    store: SqliteStore, household: Household
) -> None:
    line = AuditRecord("something.happened", "somebody", "something")

    await refused(
        store, Change(ProjectId("prj_none"), household.project.created_at, (), (), (line,))
    )

    assert await read_lines(store, ProjectId("prj_none")) == []


async def test_a_change_may_come_without_news(store: SqliteStore, household: Household) -> None:
    session = a_session(household)

    await store.submit(Change(household.project.id, session.created_at, (OpenSession(session),)))

    assert (await store.event_range(household.project.id)).last == 0
    assert len(await read_lines(store, household.project.id)) == 1
    assert await store.find_place(household.project.id, session.id) is not None


async def test_a_submitter_who_leaves_does_not_undo_the_change(
    store: SqliteStore, household: Household
) -> None:
    call, later = a_call(household, "call-1"), a_call(household, "call-2")
    leaving = asyncio.create_task(store.submit(opening(call, household)))
    await asyncio.sleep(0)
    leaving.cancel()

    async with asyncio.timeout(10):
        await store.submit(opening(later, household))

    assert leaving.cancelled()
    assert await store.find_execution(call.id) == call
    assert await store.find_execution(later.id) == later


# Numbers and chains


async def test_events_are_gapless_and_the_chain_is_whole_under_many_submitters(
    store: SqliteStore, clock: FakeClock, open_store: OpenStore
) -> None:
    homes = [await settle_in(store, clock, name, f"/{name}") for name in ("ada", "ben", "cleo")]
    changes: list[Change] = []
    for number in range(200):
        home = homes[number % 3]
        # Every tenth call id was used before and is refused.
        call = a_call(home, f"call-{number - 3 if number % 10 == 9 else number}")
        change = opening(call, home)
        changes.append(replace(change, events=(*change.events, tell(call))))

    outcomes = await asyncio.gather(
        *(store.submit(change) for change in changes), return_exceptions=True
    )

    assert [type(outcome) for outcome in outcomes].count(ChangeRefused) == 20
    assert outcomes.count(None) == 180
    stored = [change for change, outcome in zip(changes, outcomes, strict=True) if outcome is None]
    for reader in (store, await open_store(LocalBus())):
        for home in homes:
            mine = [change for change in stored if change.project_id == home.project.id]
            items = await read_all(reader, home.project.id)
            lines = await read_lines(reader, home.project.id)
            assert [item.event.seq for item in items] == list(range(1, 2 * len(mine) + 1))
            # The two events of one change lie next to each other.
            pairs = zip(items[::2], items[1::2], strict=True)
            assert all(one.event.execution_id == two.event.execution_id for one, two in pairs)
            assert {item.event.execution_id for item in items} == {
                change.events[0].execution_id for change in mine
            }
            assert (await reader.event_range(home.project.id)).last == len(items)
            assert len(lines) == 1 + len(mine)
            assert find_break(lines) is None


async def test_the_chain_goes_on_where_another_store_left_it(
    store: SqliteStore, household: Household, open_store: OpenStore
) -> None:
    second = await open_store(LocalBus())

    for number, writer in enumerate((store, second, store, second)):
        await writer.submit(opening(a_call(household, f"call-{number}"), household))

    lines = await read_lines(store, household.project.id)
    assert [line.seq for line in lines] == [1, 2, 3, 4, 5]
    assert find_break(lines) is None
    items = await read_all(store, household.project.id)
    assert [item.event.seq for item in items] == [1, 2, 3, 4]


async def test_the_audit_is_read_in_pages(store: SqliteStore, household: Household) -> None:
    for number in range(4):
        await store.submit(opening(a_call(household, f"call-{number}"), household))
    lines = await read_lines(store, household.project.id)

    assert await store.read_audit(household.project.id, after=0, limit=2) == lines[:2]
    assert await store.read_audit(household.project.id, after=2, limit=2) == lines[2:4]
    assert await store.read_audit(household.project.id, after=5, limit=2) == []


# Preconditions


async def test_a_call_id_is_taken_once_per_session(
    store: SqliteStore, household: Household
) -> None:
    call = a_call(household)
    await store.submit(opening(call, household))

    await refused(store, opening(a_call(household), household))

    elsewhere = a_call(household, session_id=SessionId("session-2"))
    await store.submit(opening(elsewhere, household))
    assert await store.find_call(call.project_id, call.session_id, call.call_id) == call
    assert await store.find_call(call.project_id, elsewhere.session_id, call.call_id) == elsewhere


async def test_a_call_of_an_unknown_session_is_refused(
    store: SqliteStore, household: Household
) -> None:
    call = a_call(household)

    opening_call = OpenCall(call, "{}", masked=False)
    await refused(store, Change(call.project_id, call.created_at, (opening_call,)))

    assert await store.find_execution(call.id) is None


async def test_a_call_of_another_projects_session_is_refused(
    store: SqliteStore, clock: FakeClock, household: Household
) -> None:
    await store.submit(opening(a_call(household), household))
    neighbour = await settle_in(store, clock, "ben", "/ben")
    call = a_call(neighbour)

    opening_call = OpenCall(call, "{}", masked=False)
    await refused(store, Change(call.project_id, call.created_at, (opening_call,)))


async def test_a_call_of_a_stopped_session_is_refused(
    store: SqliteStore, household: Household
) -> None:
    at = household.project.created_at
    stopped = a_session(household, stopped_at=at)
    await store.submit(Change(household.project.id, at, (OpenSession(stopped),)))
    call = a_call(household)

    await refused(store, opening(call, household))

    assert await store.find_execution(call.id) is None
    place = await store.find_place(household.project.id, stopped.id)
    assert place is not None
    assert place.session == stopped


async def test_who_opens_a_session_first_has_it(store: SqliteStore, household: Household) -> None:
    at = household.project.created_at
    mine, theirs = a_session(household), replace(a_session(household), opened_by="agt_other")

    await store.submit(Change(household.project.id, at, (OpenSession(mine),)))
    await store.submit(Change(household.project.id, at, (OpenSession(theirs),)))

    place = await store.find_place(household.project.id, mine.id)
    assert place is not None
    assert place.session == mine


@pytest.mark.parametrize(
    ("opener", "taken"), [(None, True), ("its own", True), ("agt_other", False)]
)
async def test_a_call_may_ask_for_the_session_to_be_its_agents_own(
    store: SqliteStore, household: Household, opener: str | None, taken: bool
) -> None:
    at = household.project.created_at
    call = a_call(household)
    opened_by = household.agent.subject if opener == "its own" else opener
    opening_call = OpenCall(call, "{}", masked=False, opened_by=opened_by)
    steps = (OpenSession(a_session(household)), opening_call)
    change = Change(household.project.id, at, steps)

    if taken:
        await store.submit(change)
    else:
        await refused(store, change)

    assert await store.find_execution(call.id) == (call if taken else None)


def ended(call: ToolExecution, words: str) -> Advance:
    return Advance(call, call.advance(Status.COMPLETED, call.created_at, result={"content": words}))


def offered(call: ToolExecution, client: str) -> Reoffer:
    return Reoffer(call, call.reoffer(ClientId(client)))


@pytest.mark.parametrize(
    "rivals",
    [
        pytest.param(lambda call: (ended(call, "one"), ended(call, "two")), id="two-ends"),
        pytest.param(
            lambda call: (offered(call, "cli_a"), offered(call, "cli_b")), id="two-offers"
        ),
        pytest.param(
            lambda call: (ended(call, "one"), offered(call, "cli_b")), id="an-end-and-an-offer"
        ),
        pytest.param(
            lambda call: (offered(call, "cli_b"), ended(call, "one")), id="an-offer-and-an-end"
        ),
    ],
)
@pytest.mark.parametrize("apart", [False, True], ids=["one-store", "two-stores"])
async def test_of_two_steps_from_the_same_value_exactly_one_is_taken(
    store: SqliteStore, household: Household, open_store: OpenStore, rivals: Any, apart: bool
) -> None:
    call = a_call(household).assign(household.client_id, household.project.created_at)
    await store.submit(opening(call, household))
    other = await open_store(LocalBus()) if apart else store
    steps: tuple[Advance | Reoffer, Advance | Reoffer] = rivals(call)

    outcomes = await asyncio.gather(
        store.submit(moving(steps[0])), other.submit(moving(steps[1])), return_exceptions=True
    )

    assert sorted(type(outcome).__name__ for outcome in outcomes) == ["ChangeRefused", "NoneType"]
    winner = steps[outcomes.index(None)].after
    fresh = await open_store(LocalBus())
    assert await fresh.find_execution(call.id) == winner
    assert (await fresh.event_range(household.project.id)).last == 2


@pytest.mark.parametrize(
    "before",
    [
        pytest.param({"status": Status.APPROVED}, id="other-status"),
        pytest.param({"epoch": 7}, id="other-epoch"),
        pytest.param({"id": ExecutionId("exe_none")}, id="other-call"),
    ],
)
async def test_a_step_from_where_the_call_does_not_stand_is_refused(
    store: SqliteStore, household: Household, before: dict[str, Any]
) -> None:
    call = a_call(household).assign(household.client_id, household.project.created_at)
    await store.submit(opening(call, household))
    imagined = call._replace(**before)

    await refused(store, moving(Reoffer(imagined, imagined.reoffer(household.client_id))))

    assert await store.find_execution(call.id) == call


async def test_the_store_refuses_a_road_that_does_not_exist(
    store: SqliteStore, household: Household
) -> None:
    call = a_call(household)
    await store.submit(opening(call, household))

    await refused(store, moving(Advance(call, call._replace(status=Status.COMPLETED))))

    assert await store.find_execution(call.id) == call


# Raw parameters


async def test_raw_parameters_live_until_the_end_of_the_call(
    store: SqliteStore, household: Household, open_store: OpenStore
) -> None:
    at = household.project.created_at
    raw = json.loads(SECRET)
    call = a_call(household, tool_params={"path": "token=[masked]"})

    async def told() -> list[Any]:
        """What stands with each event, in memory and on disk."""
        answers: list[list[Any]] = []
        for reader in (store, await open_store(LocalBus())):
            items = await read_all(reader, household.project.id)
            answers.append([item[-1] for item in in_meaning(items)])
        assert answers[0] == answers[1]
        return answers[0]

    await store.submit(opening(call, household, SECRET))
    assert await told() == [raw]
    handed = call.assign(household.client_id, at)
    await store.submit(moving(Advance(call, handed), EventKind.EXECUTION_SIGNAL))
    assert await told() == [None, raw]
    anew = handed.reoffer(household.client_id)
    await store.submit(moving(Reoffer(handed, anew), EventKind.EXECUTION_SIGNAL))
    assert await told() == [None, None, raw]
    await store.submit(moving(ended(anew, "done"), EventKind.RESULT_ACK))
    assert await told() == [None, None, None, None]


async def test_a_store_that_did_not_see_the_opening_tells_the_real_parameters(
    store: SqliteStore, household: Household, open_store: OpenStore
) -> None:
    call = a_call(household, tool_params={"path": "token=[masked]"})
    await store.submit(opening(call, household, SECRET))
    later = await open_store(LocalBus())

    handed = call.assign(household.client_id, household.project.created_at)
    await later.submit(moving(Advance(call, handed), EventKind.EXECUTION_SIGNAL))

    items = await later.read_stream(
        household.project.id, after=1, client_id=household.client_id, limit=9
    )
    assert [item.raw_params for item in items] == [SECRET]


async def test_without_masking_the_record_itself_is_raw(
    store: SqliteStore, household: Household, open_store: OpenStore
) -> None:
    call = a_call(household, tool_params={"path": "münchen.md", "limit": 1, "offset": None})

    await store.submit(opening(call, household))

    for reader in (store, await open_store(LocalBus())):
        (item,) = await read_all(reader, household.project.id)
        assert item.raw_params is not None
        assert json.loads(item.raw_params) == call.tool_params


async def test_a_call_that_ended_at_once_never_shows_its_raw_parameters(
    store: SqliteStore, household: Household, open_store: OpenStore
) -> None:
    at = household.project.created_at
    pending = a_call(household, status=Status.PENDING, approved_at=None)

    await store.submit(opening(pending.fail(ErrorType.DENIED, "no", at), household, SECRET))

    for reader in (store, await open_store(LocalBus())):
        items = await read_all(reader, household.project.id)
        assert [item.raw_params for item in items] == [None]


# What comes out is what went in


async def test_a_call_comes_back_as_it_was_stored_at_every_step(
    store: SqliteStore, household: Household, open_store: OpenStore
) -> None:
    at = household.project.created_at
    soon = at + timedelta(microseconds=1)
    call = a_call(
        household,
        tool_params={"path": "ä/\u2028/😀", "nested": {"list": [1, 2.5, None, True, "x"]}},
        reasons=("first reason", "zweiter Grund: ß"),
        reasoning="because\nof this \x00",
        risk_level=RiskLevel.HIGH,
        effect=Effect.CHANGE,
        requires_approval=True,
    )
    handed = call.advance(Status.EXECUTING, soon, client_id=household.client_id, epoch=1)
    anew = handed.reoffer(ClientId("cli_other"))
    done = anew.advance(
        Status.FAILED,
        soon + timedelta(days=20_000),
        result={"content": "ü", "size": 2**62},
        error="it broke",
        error_type=ErrorType.EXECUTION_TIMEOUT,
        execution_time_ms=2**31 - 1,
    )
    changes = [
        (call, opening(call, household)),
        (handed, moving(Advance(call, handed))),
        (anew, moving(Reoffer(handed, anew))),
        (done, moving(Advance(anew, done))),
    ]

    for value, change in changes:
        await store.submit(change)
        for reader in (store, await open_store(LocalBus())):
            assert await reader.find_execution(call.id) == value
            assert await reader.find_call(call.project_id, call.session_id, call.call_id) == value


async def test_people_places_and_tokens_come_back_as_they_were_stored(
    store: SqliteStore, household: Household, open_store: OpenStore
) -> None:
    await store.submit(opening(a_call(household), household))

    for reader in (store, await open_store(LocalBus())):
        user = await reader.find_user("ada")
        token = await reader.find_token(hash_secret(household.secrets[Role.AGENT]))
        assert user is not None
        assert (user.id, user.name, user.created_at) == (
            household.user.user_id,
            "ada",
            household.project.created_at,
        )
        assert token is not None
        assert token.principal == household.agent
        assert token.created_at == household.project.created_at
        assert await reader.find_project(household.project.id) == household.project
        assert await reader.list_projects(household.project.user_id) == [household.project]
        assert await reader.list_workspaces(household.project.id) == [household.workspace]
        assert await reader.list_clients(household.project.id) == [
            Client(
                household.client_id,
                household.project.id,
                household.workspace.id,
                "here",
                household.project.created_at,
            )
        ]
        assert await reader.find_place(household.project.id, SessionId("session-1")) == Place(
            household.project, household.workspace, a_session(household)
        )


async def test_what_is_not_there_is_not_found(store: SqliteStore, household: Household) -> None:
    call = a_call(household)

    assert await store.find_user("nobody") is None
    assert await store.find_token("no hash") is None
    assert await store.find_project(ProjectId("prj_none")) is None
    assert await store.find_place(household.project.id, SessionId("none")) is None
    assert await store.find_execution(call.id) is None
    assert await store.find_call(call.project_id, call.session_id, call.call_id) is None
    assert await store.list_open(WorkspaceId("wsp_none")) == []
    assert (await store.event_range(ProjectId("prj_none"))).last == 0
    assert await read_all(store, ProjectId("prj_none")) == []
    assert await read_lines(store, ProjectId("prj_none")) == []


@pytest.mark.parametrize("twice", ["user", "project", "workspace", "client"])
async def test_a_row_that_is_there_already_is_refused(
    store: SqliteStore, household: Household, twice: str
) -> None:
    user = await store.find_user("ada")
    (client,) = await store.list_clients(household.project.id)
    assert user is not None
    row = {
        "user": replace(user, id=mint("usr", user.created_at)),  # the same name
        "project": household.project,
        "workspace": replace(household.workspace, id=WorkspaceId("wsp_other")),  # the same root
        "client": client,
    }[twice]

    await refused(store, Change(household.project.id, user.created_at, (Add(row),)))


async def test_lists_of_places_are_in_order_of_their_making(
    store: SqliteStore, clock: FakeClock, household: Household
) -> None:
    made: list[tuple[Project, Workspace, Client]] = []
    for number in range(3):
        clock.advance(1)
        at = clock.now()
        project = replace(
            household.project, id=ProjectId(f"prj_{9 - number}"), name=str(number), created_at=at
        )
        workspace = replace(
            household.workspace,
            id=WorkspaceId(f"wsp_{9 - number}"),
            root=str(number),
            created_at=at,
        )
        client = Client(
            ClientId(f"cli_{9 - number}"), household.project.id, workspace.id, "there", at
        )
        steps = (Add(project), Add(workspace), Add(client))
        await store.submit(Change(household.project.id, at, steps))
        made.append((project, workspace, client))

    projects = await store.list_projects(household.project.user_id)
    workspaces = await store.list_workspaces(household.project.id)
    clients = await store.list_clients(household.project.id)
    assert projects == [household.project, *(one for one, _, _ in made)]
    assert workspaces == [household.workspace, *(one for _, one, _ in made)]
    assert clients[1:] == [one for _, _, one in made]


async def test_executions_are_listed_newest_first_by_status_and_by_agent(
    store: SqliteStore, household: Household
) -> None:
    start = household.project.created_at
    calls = [
        a_call(
            household,
            f"call-{number}",
            created_at=start + timedelta(seconds=number),
            agent_id="agt_even" if number % 2 == 0 else "agt_odd",
        )
        for number in range(4)
    ]
    for call in calls:
        await store.submit(opening(call, household))
    handed = calls[0].assign(household.client_id, start)
    await store.submit(moving(Advance(calls[0], handed)))

    async def listed(
        status: Status | None = None, agent_id: str | None = None, limit: int = 10
    ) -> list[ToolExecution]:
        return await store.list_executions(
            household.project.id, status=status, agent_id=agent_id, limit=limit
        )

    assert await listed() == [calls[3], calls[2], calls[1], handed]
    assert await listed(limit=2) == [calls[3], calls[2]]
    assert await listed(agent_id="agt_even") == [calls[2], handed]
    assert await listed(Status.EXECUTING) == [handed]
    assert await listed(Status.EXECUTING, "agt_odd") == []
    assert await listed(Status.COMPLETED) == []


async def test_open_calls_are_those_of_the_workspace_that_have_not_ended(
    store: SqliteStore, clock: FakeClock, household: Household
) -> None:
    at = household.project.created_at
    neighbour = await settle_in(store, clock, "ben", "/ben")
    await store.submit(opening(a_call(neighbour), neighbour))
    younger = a_call(household, "younger", created_at=at + timedelta(seconds=1))
    older = a_call(household, "older").assign(household.client_id, at)
    over = a_call(household, "over").assign(household.client_id, at)
    refused_call = a_call(household, "refused", status=Status.FAILED, completed_at=at)
    for call in (younger, older, over, refused_call):
        await store.submit(opening(call, household))
    await store.submit(moving(ended(over, "done")))

    assert await store.list_open(household.workspace.id) == [older, younger]


# The stream


async def test_a_stream_shows_what_is_for_everyone_and_a_clients_own(
    store: SqliteStore, household: Household, open_store: OpenStore
) -> None:
    here, there = household.client_id, ClientId("cli_other")
    call = a_call(household).assign(here, household.project.created_at)
    other = a_call(household, "call-2").assign(there, household.project.created_at)
    news = (
        tell(call),
        tell(call, EventKind.EXECUTION_SIGNAL),
        tell(other, EventKind.EXECUTION_SIGNAL),
        tell(call, EventKind.RESULT_ACK),
    )
    await store.submit(replace(opening(call, household), events=()))
    await store.submit(replace(opening(other, household), events=news))

    def item(seq: int, event: NewEvent) -> tuple[Any, ...]:
        stamped = Event(household.project.id, seq, call.created_at, *event)
        told_of = call if event.execution_id == call.id else other
        return (stamped, told_of, dict(call.tool_params))

    every = [item(seq, event) for seq, event in enumerate(news, start=1)]
    expected: dict[ClientId | None, list[tuple[Any, ...]]] = {
        None: every,
        here: [every[0], every[1], every[3]],
        there: [every[0], every[2]],
        ClientId("cli_third"): [every[0]],
    }
    for reader in (store, await open_store(LocalBus())):
        for client_id, items in expected.items():
            found = await read_all(reader, household.project.id, client_id)
            assert in_meaning(found) == items


async def test_a_stream_is_read_on_from_any_number_in_any_portions(
    store: SqliteStore, household: Household, open_store: OpenStore
) -> None:
    here = household.client_id
    for number in range(9):
        call = a_call(household, f"call-{number}").assign(
            here if number % 3 else ClientId("cli_other"), household.project.created_at
        )
        news = (tell(call), tell(call, EventKind.EXECUTION_SIGNAL))
        await store.submit(replace(opening(call, household), events=news))
    readers = (store, await open_store(LocalBus()))

    for client_id in (None, here):
        whole = [item.event for item in await read_all(readers[1], household.project.id, client_id)]
        for after in range(20):
            for limit in (1, 2, 5, 100):
                wanted = [event for event in whole if event.seq > after][:limit]
                for reader in readers:
                    items = await reader.read_stream(
                        household.project.id, after=after, client_id=client_id, limit=limit
                    )
                    assert [item.event for item in items] == wanted


async def test_memory_and_disk_tell_the_same_story(
    store: SqliteStore, household: Household, open_store: OpenStore
) -> None:
    at = household.project.created_at
    plain, secret = (
        a_call(household, "plain"),
        a_call(household, "secret", tool_params={"path": "…"}),
    )
    await store.submit(opening(plain, household))
    await store.submit(opening(secret, household, SECRET))
    for call in (plain, secret):
        handed = call.assign(household.client_id, at)
        await store.submit(moving(Advance(call, handed), EventKind.EXECUTION_SIGNAL))
        await store.submit(
            moving(Reoffer(handed, handed.reoffer(household.client_id)), EventKind.EXECUTION_SIGNAL)
        )
    over = a_call(household, "over").assign(household.client_id, at)
    await store.submit(opening(over, household, SECRET))
    await store.submit(moving(ended(over, "done"), EventKind.RESULT_ACK))

    second = await open_store(LocalBus())

    for client_id in (None, household.client_id, ClientId("cli_other")):
        known = await read_all(store, household.project.id, client_id)
        kept = await read_all(second, household.project.id, client_id)
        assert in_meaning(known) == in_meaning(kept)
        assert known != []


async def test_a_stream_never_shows_another_project(
    store: SqliteStore, clock: FakeClock, household: Household
) -> None:
    neighbour = await settle_in(store, clock, "ben", "/ben")
    call, foreign = a_call(household), a_call(neighbour)
    await store.submit(opening(call, household))
    await store.submit(opening(foreign, neighbour))

    mine = await read_all(store, household.project.id)
    theirs = await read_all(store, neighbour.project.id)

    assert [item.event.execution_id for item in mine] == [call.id]
    assert [item.event.execution_id for item in theirs] == [foreign.id]


# Bells


async def test_a_bell_rings_only_when_the_change_can_be_read(
    store: SqliteStore, bus: LocalBus, household: Household, open_store: OpenStore
) -> None:
    second = await open_store(LocalBus())
    calls = [a_call(household, f"call-{number}") for number in range(20)]

    async def look(call: ToolExecution) -> tuple[ToolExecution | None, ToolExecution | None]:
        with bus.listen(Topic.execution(call.id)) as bell:
            listening.append(call)
            assert await bell.wait(10)
            return await store.find_execution(call.id), await second.find_execution(call.id)

    listening: list[ToolExecution] = []
    async with asyncio.TaskGroup() as group:
        looks = [group.create_task(look(call)) for call in calls]
        while len(listening) < len(calls):
            await asyncio.sleep(0)
        for call in calls:
            group.create_task(store.submit(opening(call, household)))

    assert [task.result() for task in looks] == [(call, call) for call in calls]


async def test_a_change_rings_for_its_project_and_for_each_of_its_calls(
    store: SqliteStore, bus: LocalBus, household: Household
) -> None:
    call = a_call(household)

    with (
        bus.listen(Topic.project(household.project.id)) as project_bell,
        bus.listen(Topic.execution(call.id)) as call_bell,
        bus.listen(Topic.execution(ExecutionId("exe_other"))) as other_bell,
    ):
        await store.submit(opening(call, household))

        assert await project_bell.wait(0.001)
        assert await call_bell.wait(0.001)
        assert not await other_bell.wait(0.001)


async def test_a_refused_change_rings_for_nobody(
    store: SqliteStore, bus: LocalBus, household: Household
) -> None:
    await store.submit(opening(a_call(household), household))

    with bus.listen(Topic.project(household.project.id)) as bell:
        await refused(store, opening(a_call(household), household))

        assert not await bell.wait(0.001)


async def test_a_change_that_cannot_be_written_fails_alone_and_holds_nobody_up(
    store: SqliteStore, household: Household
) -> None:
    poison = opening(a_call(household, "poison", reasoning="\ud800"), household)
    sound = opening(a_call(household, "sound"), household)

    async with asyncio.timeout(5):
        outcomes = await asyncio.gather(
            store.submit(poison), store.submit(sound), return_exceptions=True
        )
        await store.submit(opening(a_call(household, "later"), household))

    assert [type(outcome) for outcome in outcomes] == [HandrailError, type(None)]


async def test_memory_and_disk_tell_of_an_event_in_the_same_words(
    open_store: OpenStore, store: SqliteStore, household: Household
) -> None:
    await store.submit(opening(a_call(household), household))
    other = await open_store(LocalBus())

    remembered = await store.read_stream(household.project.id, after=0, client_id=None, limit=9)
    read = await other.read_stream(household.project.id, after=0, client_id=None, limit=9)

    assert remembered == read


async def test_how_far_each_record_has_come_is_told(
    store: SqliteStore, clock: FakeClock, household: Household
) -> None:
    neighbour = await settle_in(store, clock, "ben", "/ben")
    line = AuditRecord("did", "ada", "thing")
    await store.submit(Change(household.project.id, clock.now(), (), (), (line,)))
    *_, last = await store.read_audit(household.project.id, after=0, limit=9)

    head = await store.find_audit_head(household.project.id)
    heads = await store.list_audit_heads()

    assert head == (2, last.hash)
    assert [(project, found.seq) for project, found in sorted(heads)] == sorted(
        [(household.project.id, 2), (neighbour.project.id, 1)]
    )
    assert await store.find_audit_head(ProjectId("prj_none")) is None
