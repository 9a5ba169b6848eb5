"""What happens is counted once it is durable, without naming anybody."""

from datetime import timedelta

from handrail.core.change import Advance, Change
from handrail.core.errors import ErrorType
from handrail.core.execution import Status
from handrail.core.risk import RiskLevel
from handrail.plane.tally import Histogram, Tally
from tests.conftest import Household
from tests.contracts.conftest import (
    a_call,
    a_question,
    a_waiting_call,
    answering,
    asking,
    moving,
    opening,
)


def a_tally() -> Tally:
    tally = Tally()
    tally.know_tools(["read_file", "write_file"])
    return tally


def test_proposals_are_counted_by_tool_ruling_and_risk(household: Household) -> None:
    tally = a_tally()
    read, waiting = a_call(household), a_waiting_call(household, "call-2")
    at = read.created_at
    denied = a_call(household, "call-3", status=Status.PENDING, risk_level=RiskLevel.FORBIDDEN)
    denied = denied.fail(ErrorType.DENIED, "no", at)
    unread = a_call(household, "call-4", status=Status.PENDING).fail(ErrorType.VALIDATION, "?", at)

    tally.take_in([opening(read, household)])
    tally.take_in([asking(waiting, a_question(waiting), household), opening(denied, household)])
    tally.take_in([opening(unread, household)])

    assert tally.proposed == {
        ("read_file", "allow", "LOW"): 1,
        ("write_file", "ask", "MEDIUM"): 1,
        ("read_file", "deny", "FORBIDDEN"): 1,
        ("read_file", "invalid", "LOW"): 1,
    }
    assert tally.ended == {("failed", "denied"): 1, ("failed", "validation"): 1}
    assert tally.commit_sizes.sum == 4


def test_the_names_of_tools_are_those_that_are_known(household: Household) -> None:
    tally = a_tally()
    for name in ("rm -rf /", "../../etc/passwd"):
        tally.take_in([opening(a_call(household, tool_name=name), household)])

    assert tally.proposed == {("other", "allow", "LOW"): 2}


def test_an_end_is_counted_once_with_the_time_it_took(household: Household) -> None:
    tally = a_tally()
    call = a_call(household, client_id=household.client_id)
    running = call.advance(Status.EXECUTING, call.created_at)
    done = running.advance(Status.COMPLETED, call.created_at + timedelta(seconds=2))

    tally.take_in([opening(call, household), moving(Advance(call, running))])
    tally.take_in([moving(Advance(running, done))])

    assert tally.ended == {("completed", ""): 1}
    assert tally.call_seconds.sum == 2
    assert sum(tally.call_seconds.counts) == 1


def test_answers_are_counted_with_the_time_they_took(household: Household) -> None:
    tally = a_tally()
    call = a_waiting_call(household)

    tally.take_in([answering(a_question(call), call, approved=True)])

    assert {how: waits.sum for how, waits in tally.decision_seconds.items()} == {"approved": 9.0}


def test_a_change_that_moves_no_call_is_only_counted_as_stored(household: Household) -> None:
    tally = a_tally()
    tally.take_in([Change(household.project.id, household.project.created_at, ())])

    assert (tally.proposed, tally.ended, tally.commit_sizes.sum) == ({}, {}, 1)


def test_a_value_falls_into_the_first_bucket_that_holds_it() -> None:
    histogram = Histogram((1, 2))
    for value in (0.5, 1, 1.5, 2, 2.5):
        histogram.add(value)

    assert histogram.counts == [2, 2, 1]
