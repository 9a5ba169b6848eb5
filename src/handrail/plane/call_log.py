"""The log of calls, questions, decisions and expiries: one line for each line of the audit.

The log holds neither parameters nor results. Its reasons may name a path
or a command; they are masked once more here.
"""

from collections.abc import Sequence
from typing import cast

import structlog

from handrail.core.audit import AuditRecord
from handrail.core.change import Change
from handrail.core.errors import ErrorType
from handrail.core.execution import Status, ToolExecution
from handrail.policy.redaction import mask_text

# Of the details, those that may quote what an agent or a tool has written.
_IN_WORDS = {"error", "reason", "reasons"}
# What a person has changed in a call stands in the record alone.
_NOT_LOGGED = {"changes"}

log = structlog.get_logger(__name__)


def log_changes(changes: Sequence[Change]) -> None:
    """Log what one commit has stored."""
    for change in changes:
        for record in change.audit:
            _log(record)


def warn_if_denied(execution: ToolExecution) -> None:
    """A block is worth a warning, on screen too."""
    if execution.error_type in (ErrorType.DENIED, ErrorType.TOO_MANY_QUESTIONS):
        log.warning(
            "call.denied",
            execution=execution.id,
            tool=execution.tool_name,
            agent=execution.agent_id,
            reason=mask_text(execution.error or ""),
        )


def _log(record: AuditRecord) -> None:
    told = record.details.items()
    details = {name: value for name, value in told if value and name not in _NOT_LOGGED}
    for name in details.keys() & _IN_WORDS:
        details[name] = _masked(details[name])
    log.info(record.action, **(details | {"actor": record.actor, "subject": record.subject}))
    if details.get("status") == Status.AWAITING_APPROVAL and "approval" in details:
        log.info("approval.requested", subject=details["approval"], execution=record.subject)


def _masked(value: object) -> object:
    words = cast(tuple[str, ...], value) if isinstance(value, tuple) else (str(value),)
    return "; ".join(map(mask_text, words))
