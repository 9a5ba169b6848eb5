"""A change becomes numbered events and chained lines, whatever database will keep them."""

from dataclasses import replace

from handrail.core.audit import GENESIS, AuditRecord, find_break
from handrail.core.change import Advance, Change, OpenCall, OpenSession, Reoffer
from handrail.core.errors import ErrorType
from handrail.core.event import Event
from handrail.core.execution import Status
from handrail.store import statements
from handrail.store.rows import read_audit_entry
from handrail.store.steps import Head, writes_for
from tests.conftest import Household
from tests.contracts.conftest import a_call, a_session, opening, tell


def statements_for(change: Change) -> list[tuple[object, bool]]:
    return [(write.statement, write.may_miss) for write in writes_for(change)]


def test_a_new_call_is_stored_with_its_raw_parameters_apart(household: Household) -> None:
    call = a_call(household)
    steps = (OpenSession(a_session(household)), OpenCall(call, '{"raw":1}'))

    writes = list(writes_for(Change(call.project_id, call.created_at, steps)))

    assert [(write.statement, write.may_miss) for write in writes] == [
        (statements.ADD_SESSION, True),
        (statements.ADD_EXECUTION, False),
        (statements.ADD_RAW_PARAMS, False),
    ]
    assert writes[-1].values == {"execution_id": call.id, "params": '{"raw":1}'}


def test_raw_parameters_that_are_not_needed_are_not_stored(household: Household) -> None:
    at = household.project.created_at
    call = a_call(household)
    over = a_call(household, status=Status.PENDING).fail(ErrorType.DENIED, "no", at)

    for step in (OpenCall(call, None), OpenCall(over, '{"raw":1}')):
        change = Change(call.project_id, at, (step,))
        assert statements_for(change) == [(statements.ADD_EXECUTION, False)]


def test_only_the_last_step_erases_raw_parameters(household: Household) -> None:
    at = household.project.created_at
    call = a_call(household)
    handed = call.assign(household.client_id, at)
    anew = handed.reoffer(household.client_id)
    over = anew.advance(Status.COMPLETED, at, result={})

    def said(step: Advance | Reoffer) -> list[tuple[object, bool]]:
        return statements_for(Change(call.project_id, at, (step,)))

    assert said(Advance(call, handed)) == [(statements.ADVANCE_EXECUTION, False)]
    assert said(Reoffer(handed, anew)) == [(statements.REOFFER_EXECUTION, False)]
    assert said(Advance(anew, over)) == [
        (statements.END_EXECUTION, False),
        (statements.ERASE_RAW_PARAMS, True),
    ]


def test_a_head_numbers_events_and_chains_lines(household: Household) -> None:
    call = a_call(household)
    lines = tuple(AuditRecord("did", "ada", subject) for subject in ("one", "two"))
    change = replace(opening(call, household), events=(tell(call),) * 2, audit=lines)
    start = Head(household.project.id, 0, 0, GENESIS)

    middle, first, writes = start.stamp(change)
    after, second, more = middle.stamp(change)

    assert [*first, *second] == [
        Event(household.project.id, seq, call.created_at, *tell(call)) for seq in (1, 2, 3, 4)
    ]
    chained = [
        read_audit_entry(tuple(write.values.values()))
        for write in (*writes, *more)
        if write.statement is statements.ADD_AUDIT
    ]
    assert [line.subject for line in chained] == ["one", "two", "one", "two"]
    assert find_break(chained) is None
    assert after == Head(household.project.id, 4, 4, chained[-1].hash)
    assert after.move().values == {
        "head_of": household.project.id,
        "last_event": 4,
        "audit_seq": 4,
        "audit_head": chained[-1].hash,
    }


def test_a_change_without_news_leaves_the_head_where_it_is(household: Household) -> None:
    start = Head(household.project.id, 7, 3, "f" * 64)

    assert start.stamp(Change(household.project.id, household.project.created_at, ())) == (
        start,
        [],
        [],
    )
