"""The log of calls, questions, decisions and expiries: one line for each line of the audit.

The audit holds neither parameters nor results, and its words are masked, so neither does the log.
"""

from collections.abc import Sequence

import structlog

from handrail.core.audit import AuditRecord
from handrail.core.change import Change
from handrail.core.errors import ErrorType
from handrail.core.execution import Status, ToolExecution

log = structlog.get_logger(__name__)


def log_changes(changes: Sequence[Change]) -> None:
    """Log what one commit has stored."""
    for change in changes:
        for record in change.audit:
            _log(record)


def warn_if_denied(execution: ToolExecution) -> None:
    """A block is worth a warning, on screen too."""
    if execution.error_type is ErrorType.DENIED:
        log.warning(
            "call.denied",
            execution=execution.id,
            tool=execution.tool_name,
            agent=execution.agent_id,
            reason=execution.error,
        )


def _log(record: AuditRecord) -> None:
    details = {name: value for name, value in record.details.items() if value not in (None, ())}
    log.info(record.action, **(details | {"actor": record.actor, "subject": record.subject}))
    if details.get("status") == Status.AWAITING_APPROVAL and "approval" in details:
        log.info("approval.requested", subject=details["approval"], execution=record.subject)
