"""The log of calls, questions, decisions and expiries: one line for each line of the audit.

The audit holds neither parameters nor results, and its words are masked, so neither does the log.
"""

from collections.abc import Sequence

import structlog

from handrail.core.audit import AuditRecord
from handrail.core.change import Change
from handrail.core.execution import Status

log = structlog.get_logger(__name__)


def log_changes(changes: Sequence[Change]) -> None:
    """Log what one commit has stored."""
    for change in changes:
        for record in change.audit:
            _log(record)


def _log(record: AuditRecord) -> None:
    details = {name: value for name, value in record.details.items() if value not in (None, ())}
    is_refused = details.get("status") == Status.FAILED and details.get("risk") == "FORBIDDEN"
    tell = log.warning if is_refused else log.info
    tell(record.action, **(details | {"actor": record.actor, "subject": record.subject}))
    if details.get("status") == Status.AWAITING_APPROVAL and "approval" in details:
        log.info("approval.requested", subject=details["approval"], execution=record.subject)
