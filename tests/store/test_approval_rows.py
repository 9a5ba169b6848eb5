"""Questions and grants are mirrored by their rows, and the tables guard what was answered."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import Table
from sqlalchemy.dialects import sqlite

from handrail.core.approval import Answer, Approval, ApprovalStatus
from handrail.core.change import Add, Change, Rejudge, Resolve, Step
from handrail.core.errors import ErrorType
from handrail.core.execution import Status
from handrail.core.grant import Scope
from handrail.core.grant_steps import RevokeGrant, UseGrant
from handrail.core.ids import GrantId
from handrail.store import approval_rows, approval_statements, rows, schema, statements
from handrail.store.sqlite_file import ConstraintError, SqliteFile
from handrail.store.steps import writes_for
from tests.conftest import Household
from tests.contracts.conftest import a_grant, a_question, a_waiting_call


def columns(table: Table) -> list[str]:
    return [column.name for column in table.columns]


@pytest.fixture
def question(household: Household) -> Approval:
    return a_question(a_waiting_call(household))


def answered(question: Approval, status: ApprovalStatus) -> Approval:
    at = question.created_at + timedelta(seconds=3)
    answer = Answer(
        by="ada",
        channel="console",
        at=at,
        scope=Scope.CLASS,
        reason="fine",
        grant_id=GrantId("grt_1"),
    )
    return question.resolve(status, answer)


# Values and rows


def test_a_question_becomes_a_row_of_its_table(question: Approval) -> None:
    doubted = replace(
        question, doubted=True, origins=("`x` appeared in …",), reaches_out=True, reserved=True
    )
    for value in (question, answered(question, ApprovalStatus.APPROVED), doubted):
        row = approval_rows.approval_row(value)

        assert set(row) == set(columns(schema.tool_approvals))
        assert (
            approval_rows.read_approval([row[c] for c in columns(schema.tool_approvals)]) == value
        )


def test_a_grant_becomes_a_row_of_its_table(household: Household) -> None:
    at = household.project.created_at
    for value in (
        a_grant(household),
        a_grant(household, uses_left=3, expires_at=at, revoked_at=at, class_key=None),
    ):
        row = approval_rows.grant_row(value)

        assert set(row) == set(columns(schema.grants))
        assert approval_rows.read_grant([row[c] for c in columns(schema.grants)]) == value


def test_the_columns_that_an_answer_fills_are_those_that_are_updated(question: Approval) -> None:
    assert tuple(approval_rows.answer_row(question)) == approval_statements._ANSWER


def test_the_columns_that_a_judgement_changes_are_those_that_are_updated(
    household: Household,
) -> None:
    assert tuple(rows.judged_row(a_waiting_call(household))) == statements._JUDGED


def test_an_unanswered_question_has_nothing_where_the_answer_goes(question: Approval) -> None:
    row = approval_rows.answer_row(question)

    assert row.pop("status") == "pending"
    assert set(row.values()) == {None}


def test_each_step_is_one_write_that_must_hit(household: Household, question: Approval) -> None:
    grant = a_grant(household)
    pending = a_waiting_call(household, status=Status.PENDING)
    waiting = pending.advance(Status.AWAITING_APPROVAL, pending.created_at)
    failed = pending.fail(ErrorType.DENIED, "no", pending.created_at)
    resolved = answered(question, ApprovalStatus.APPROVED)
    expected: list[tuple[Step, list[tuple[Any, bool]]]] = [
        (Add(question), [(approval_statements.ADD_APPROVAL, False)]),
        (Add(grant), [(approval_statements.ADD_GRANT, False)]),
        (Resolve(resolved), [(approval_statements.RESOLVE_APPROVAL, False)]),
        (UseGrant(grant, grant.session_id), [(approval_statements.USE_GRANT, False)]),
        (RevokeGrant(grant), [(approval_statements.REVOKE_GRANT, False)]),
        (Rejudge(pending, waiting), [(statements.REJUDGE_EXECUTION, False)]),
        (
            Rejudge(pending, failed),
            [(statements.END_REJUDGED_EXECUTION, False), (statements.ERASE_RAW_PARAMS, True)],
        ),
    ]

    for step, writes in expected:
        change = Change(household.project.id, household.project.created_at, (step,))
        assert [(write.statement, write.may_miss) for write in writes_for(change)] == writes


# What the tables refuse


def add(database: SqliteFile, question: Approval, verb: str = "INSERT") -> None:
    row = approval_rows.approval_row(question)
    names, marks = ", ".join(row), ", ".join("?" * len(row))
    database.run(f"{verb} INTO tool_approvals ({names}) VALUES ({marks})", tuple(row.values()))


def everything_in(database: SqliteFile) -> list[Any]:
    return list(database.run("SELECT * FROM tool_approvals ORDER BY request_id"))


@pytest.mark.parametrize("status", [s for s in ApprovalStatus if s is not ApprovalStatus.PENDING])
@pytest.mark.parametrize(
    "rewriting",
    [
        "UPDATE tool_approvals SET status = 'approved'",
        "UPDATE tool_approvals SET status = 'pending', responded_by = NULL",
        "UPDATE tool_approvals SET responded_by = 'eve'",
        "UPDATE tool_approvals SET digest = 'another'",
        "UPDATE OR IGNORE tool_approvals SET scope = 'session'",
        "UPDATE OR REPLACE tool_approvals SET tool_input = '{}'",
    ],
)
def test_an_answered_question_cannot_be_rewritten(
    database: SqliteFile, question: Approval, status: ApprovalStatus, rewriting: str
) -> None:
    add(database, answered(question, status))
    before = everything_in(database)

    with pytest.raises(ConstraintError, match="this question has been answered"):
        database.run(rewriting)

    assert everything_in(database) == before


@pytest.mark.parametrize("verb", ["INSERT", "INSERT OR REPLACE", "INSERT OR IGNORE", "REPLACE"])
@pytest.mark.parametrize("status", list(ApprovalStatus))
def test_no_question_can_be_replaced(
    database: SqliteFile, question: Approval, status: ApprovalStatus, verb: str
) -> None:
    there = question if status is ApprovalStatus.PENDING else answered(question, status)
    add(database, there)
    before = everything_in(database)

    with pytest.raises(ConstraintError, match="it is there already"):
        add(database, replace(question, description="something else"), verb)

    assert everything_in(database) == before


@pytest.mark.parametrize(
    "removal",
    [
        "DELETE FROM tool_approvals WHERE status <> 'pending'",
        "UPDATE OR REPLACE tool_approvals SET request_id = 'apr_first' WHERE status = 'pending'",
    ],
)
def test_an_answered_question_cannot_be_removed(
    database: SqliteFile, question: Approval, removal: str
) -> None:
    first = replace(question, id="apr_first")
    add(database, answered(first, ApprovalStatus.REJECTED))
    add(database, question)
    before = everything_in(database)

    with pytest.raises(ConstraintError):
        database.run(removal)

    assert everything_in(database) == before


def test_an_open_question_can_be_answered(database: SqliteFile, question: Approval) -> None:
    add(database, question)

    database.run("UPDATE tool_approvals SET status = 'approved', responded_by = 'ada'")

    assert database.run("SELECT status, responded_by FROM tool_approvals") == [("approved", "ada")]


@pytest.mark.parametrize(
    ("statement", "index"),
    [
        (approval_statements.LIST_OVERDUE, "tool_approvals_unanswered"),
        (approval_statements.LIST_UNSURVEYED, "tool_executions_unsurveyed"),
        (approval_statements.FIND_EXECUTION_OF, "tool_executions_by_approval"),
        (approval_statements.LIST_GRANTS, "grants_by_session"),
        (approval_statements.LIST_APPROVALS, "tool_approvals_by_time"),
    ],
)
def test_what_is_looked_for_often_is_found_by_its_index(
    database: SqliteFile, statement: Any, index: str
) -> None:
    prepared = statements.StatementBook(sqlite.dialect(paramstyle="qmark")).prepare(statement)

    steps = database.run(f"EXPLAIN QUERY PLAN {prepared.sql}", [None] * len(prepared.order))

    assert any(f"INDEX {index}" in step[-1] for step in steps), steps
