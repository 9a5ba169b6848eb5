"""What a change adds to the hourly counts. Pure, and a few comparisons for each step."""

from collections.abc import Iterator
from datetime import timedelta
from typing import NamedTuple

from handrail.core.analytics import (
    FULL_AUTONOMY,
    LOW_RISK,
    SERVER,
    Counted,
    CountKey,
    Outcome,
    hour_of,
    two_digits,
)
from handrail.core.approval import Approval, ApprovalStatus
from handrail.core.change import Advance, Change, OpenCall, Rejudge, Resolve
from handrail.core.errors import ErrorType
from handrail.core.execution import Status, ToolExecution
from handrail.core.risk import RiskLevel
from handrail.core.tool import Site

_ANSWERS = (ApprovalStatus.APPROVED, ApprovalStatus.REJECTED)
_UNWELL = (Status.FAILED, Status.TIMEOUT)
_MILLISECOND = timedelta(milliseconds=1)


class _Seen(NamedTuple):
    """One thing to be counted, whenever it was."""

    kind: Counted
    name: str = ""
    tool_name: str = ""
    detail: str = ""
    value: int = 0


def counts_of(change: Change) -> Iterator[CountKey]:
    """What there is to be counted, each thing once for each time."""
    for step in change.steps:
        if isinstance(step, OpenCall):
            found = _in_move(None, step.execution)
        elif isinstance(step, Advance | Rejudge):
            found = _in_move(step.before, step.after)
        elif isinstance(step, Resolve):
            found = _in_answer(step.approval)
        else:
            continue
        for seen in found:
            yield CountKey(change.project_id, seen.kind, hour_of(change.at), *seen[1:])


def _in_move(before: ToolExecution | None, after: ToolExecution) -> Iterator[_Seen]:
    asked = before is not None and before.status is Status.AWAITING_APPROVAL
    if after.approved_at is not None and (before is None or before.approved_at is None):
        if asked:
            yield _Seen(Counted.OUTCOME, Outcome.APPROVED)
        else:
            yield _Seen(Counted.PASS, _let_pass_by(after), after.tool_name)
    if after.status is Status.REJECTED:
        yield _Seen(Counted.OUTCOME, Outcome.REFUSED)
    elif after.status is Status.TIMEOUT and asked:
        yield _Seen(Counted.OUTCOME, Outcome.EXPIRED)
    elif after.status is Status.FAILED and _is_denied(after):
        yield _Seen(Counted.OUTCOME, Outcome.DENIED)
    elif after.error_type is ErrorType.TOO_MANY_QUESTIONS:
        yield _Seen(Counted.OUTCOME, Outcome.OVER_LIMIT)
    elif after.status in _UNWELL and after.error_type is not ErrorType.CANCELLED:
        kind = after.error_type or after.status
        yield _Seen(Counted.ERROR, _executor(after), after.tool_name, kind)


def _in_answer(approval: Approval) -> Iterator[_Seen]:
    name = "" if approval.call_class is None else approval.call_class.key
    yield _Seen(Counted.ASKED, name, approval.tool_name, approval.status)
    if approval.answer is not None and approval.status in _ANSWERS:
        waited = (approval.answer.at - approval.created_at) // _MILLISECOND
        limit = str(approval.timeout_seconds)
        yield _Seen(Counted.WAIT, detail=limit, value=two_digits(max(waited, 0)))


def _let_pass_by(execution: ToolExecution) -> str:
    if execution.requires_approval:
        return execution.approved_by or ""
    return LOW_RISK if execution.risk_level is RiskLevel.LOW else FULL_AUTONOMY


def _is_denied(execution: ToolExecution) -> bool:
    """Turned away by policy; what was let pass and then refused by its machine has failed."""
    return execution.error_type is ErrorType.DENIED and execution.approved_at is None


def _executor(execution: ToolExecution) -> str:
    if execution.site is Site.SERVER:
        return SERVER if execution.approved_at is not None else ""
    return execution.client_id or ""
