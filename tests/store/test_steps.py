"""A change becomes writes, whatever database will keep them."""

from handrail.core.change import Advance, Change, OpenCall, OpenSession, Reoffer
from handrail.core.errors import ErrorType
from handrail.core.execution import Status
from handrail.store import statements
from handrail.store.steps import writes_for
from tests.conftest import Household
from tests.contracts.conftest import a_call, a_session


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

    for step in (OpenCall(call, "{}", masked=False), OpenCall(over, '{"raw":1}')):
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
