"""Memory gives the right answer or none at all."""

from dataclasses import replace
from itertools import count

import pytest

from handrail.core.access import Role, Token
from handrail.core.change import (
    Add,
    Advance,
    Change,
    ClearTaint,
    OpenSession,
    Reoffer,
    RevokeToken,
    SetPolicy,
    Step,
    StopAgent,
    StopSession,
    TaintSession,
)
from handrail.core.event import Event
from handrail.core.execution import Status, ToolExecution
from handrail.core.ids import SessionId, TokenId
from handrail.core.project import Place
from handrail.store import recent
from handrail.store.recent import Recent
from tests.conftest import Household
from tests.contracts.conftest import a_call, a_session, moving, opening, tell


def remember(memory: Recent, change: Change, *seqs: int) -> None:
    """Take in a change as if the store had given its events these numbers."""
    events = [
        Event(change.project_id, seq, change.at, *event)
        for seq, event in zip(seqs, change.events, strict=True)
    ]
    memory.remember(change, events)


def seqs_after(memory: Recent, home: Household, after: int) -> list[int] | None:
    items = memory.read_stream(home.project.id, after, None, 1000)
    return None if items is None else [item.event.seq for item in items]


def test_an_empty_memory_knows_nothing(household: Household) -> None:
    memory = Recent()

    assert memory.find_execution(a_call(household).id) is None
    assert memory.places.get((household.project.id, SessionId("session-1"))) is None
    assert memory.read_stream(household.project.id, 0, None, 10) is None


def test_memory_says_how_far_back_it_reaches(household: Household) -> None:
    memory = Recent()
    for seq in (5, 6, 7):
        remember(memory, opening(a_call(household, f"call-{seq}"), household), seq)

    assert seqs_after(memory, household, 3) is None
    assert seqs_after(memory, household, 4) == [5, 6, 7]
    assert seqs_after(memory, household, 6) == [7]
    assert seqs_after(memory, household, 7) == []


def test_a_gap_makes_memory_forget_what_lies_before_it(household: Household) -> None:
    memory = Recent()
    for seq in (1, 2, 9):
        remember(memory, opening(a_call(household, f"call-{seq}"), household), seq)

    assert seqs_after(memory, household, 2) is None
    assert seqs_after(memory, household, 8) == [9]


def test_the_oldest_calls_make_room_and_are_then_looked_up_elsewhere(
    household: Household,
) -> None:
    memory = Recent()
    calls: list[ToolExecution] = []
    for seq in range(1, recent._MOST_CALLS + 2):
        calls.append(a_call(household, f"call-{seq}"))
        remember(memory, opening(calls[-1], household), seq)

    assert memory.find_execution(calls[0].id) is None
    assert memory.find_execution(calls[1].id) == calls[1]
    assert memory.find_execution(calls[-1].id) == calls[-1]
    assert seqs_after(memory, household, 0) is None


def test_an_event_of_a_forgotten_call_is_not_guessed_at(household: Household) -> None:
    memory = Recent()
    numbers = count(1)
    old = a_call(household, "old")
    remember(memory, opening(old, household), next(numbers))
    silent = opening(a_call(household, "silent"), household)
    for number in range(recent._MOST_CALLS):
        call = a_call(household, f"call-{number}")
        remember(memory, replace(opening(call, household), events=()))
    remember(memory, replace(silent, events=(tell(old),)), next(numbers))

    assert seqs_after(memory, household, 1) is None


def test_the_end_of_a_call_takes_its_raw_parameters_along(household: Household) -> None:
    memory = Recent()
    call = a_call(household).assign(household.client_id, household.project.created_at)
    remember(memory, opening(call, household, '{"raw":1}'), 1)
    items = memory.read_stream(household.project.id, 0, None, 10)
    assert items is not None
    assert [item.raw_params for item in items] == ['{"raw":1}']

    over = call.advance(Status.COMPLETED, household.project.created_at, result={})
    remember(memory, moving(Advance(call, over)), 2)

    items = memory.read_stream(household.project.id, 0, None, 10)
    assert items is not None
    assert [item.raw_params for item in items] == [None, None]
    assert memory._raw_params == {}


def test_a_call_whose_opening_was_forgotten_is_not_taken_up_halfway(household: Household) -> None:
    """Its raw parameters are not here, and the masked ones must not pass for them."""
    memory = Recent()
    call = a_call(household).assign(household.client_id, household.project.created_at)
    remember(memory, opening(call, household, '{"raw":1}'), 1)
    memory.clear()

    anew = call.reoffer(household.client_id)
    remember(memory, moving(Reoffer(call, anew)), 2)

    assert memory.find_execution(call.id) is None
    assert seqs_after(memory, household, 1) is None


@pytest.mark.parametrize(
    ("result", "kept"),
    [
        ({"content": "x" * 15_900, "size": 1}, True),
        ({"content": "x" * 16_001}, False),
        ({"files": []}, False),
        ({"x" * 16_001: 1}, False),
    ],
    ids=["short text", "long text", "nested", "long name"],
)
def test_a_heavy_result_is_left_on_disk(
    household: Household, result: dict[str, object], *, kept: bool
) -> None:
    memory = Recent()
    call = a_call(household).assign(household.client_id, household.project.created_at)
    remember(memory, opening(call, household), 1)

    over = call.advance(Status.COMPLETED, household.project.created_at, result=result)
    remember(memory, moving(Advance(call, over)), 2)

    assert memory.find_execution(call.id) == (over if kept else None)


def a_place(household: Household, session_id: str = "session-1") -> Place:
    return Place(household.project, household.workspace, a_session(household, session_id))


def a_token(household: Household, secret_hash: str = "hash") -> Token:
    agent = household.agent
    return Token(
        TokenId("tok_1"), secret_hash, Role.AGENT, agent.subject, agent.user_id, agent.project_id,
        agent.workspace_id, "an agent", household.project.created_at,
    )  # fmt: skip


def know_people(memory: Recent, household: Household) -> None:
    memory.places.keep((household.project.id, SessionId("session-1")), a_place(household))
    memory.projects.keep(household.project.id, household.project)
    memory.tokens.keep("hash", a_token(household))


def known_people(memory: Recent, household: Household) -> list[object]:
    place = memory.places.get((household.project.id, SessionId("session-1")))
    known = (place, memory.projects.get(household.project.id), memory.tokens.get("hash"))
    return [one for one in known if one is not None]


def after_step(household: Household, step: Step) -> list[object]:
    memory = Recent()
    know_people(memory, household)
    assert len(known_people(memory, household)) == 3
    remember(memory, Change(household.project.id, household.project.created_at, (step,)))
    return known_people(memory, household)


def test_new_sessions_and_tokens_leave_the_others_known(household: Household) -> None:
    another = a_token(household, "another")

    assert len(after_step(household, OpenSession(a_session(household, "session-2")))) == 3
    assert len(after_step(household, Add(another))) == 3
    assert len(after_step(household, RevokeToken(another))) == 3
    assert len(after_step(household, StopSession(a_session(household, "session-2")))) == 3


def test_whatever_changes_is_read_again(household: Household) -> None:
    place, token = a_place(household), a_token(household)
    rest: list[object] = [household.project, token]

    assert after_step(household, RevokeToken(token)) == [place, household.project]
    of_subject = RevokeToken(a_token(household, "another"), all_of_subject=True)
    assert after_step(household, of_subject) == [place, household.project]
    assert after_step(household, StopSession(a_session(household))) == rest
    assert after_step(household, ClearTaint(a_session(household))) == rest
    assert after_step(household, TaintSession(a_call(household), "why")) == rest
    assert after_step(household, StopAgent(household.project.id, "agt_1")) == rest
    assert after_step(household, SetPolicy(household.workspace)) == rest


def test_nothing_is_known_after_forgetting(household: Household) -> None:
    memory = Recent()
    call = a_call(household)
    remember(memory, opening(call, household, '{"raw":1}'), 1)
    know_people(memory, household)

    memory.clear()

    assert memory.find_execution(call.id) is None
    assert known_people(memory, household) == []
    assert memory.read_stream(household.project.id, 0, None, 10) is None
    assert memory._raw_params == {}
