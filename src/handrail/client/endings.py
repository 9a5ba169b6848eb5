"""Results of calls that did not come to an end of their own."""

from handrail.core.errors import ErrorType
from handrail.core.tool import ToolResult

UNKNOWN = ToolResult.failed(
    "the client was stopped while it ran the call; how far it got is unknown",
    ErrorType.OUTCOME_UNKNOWN,
)
NOT_APPLIED = ToolResult.failed(
    "the client was stopped before it applied the changes; nothing was changed, so ask again",
    ErrorType.EXECUTION,
)
TOO_SLOW = "checking the call on this machine took too long; nothing was done"
CANCELLED = ToolResult.failed(
    "it was stopped here when it was cancelled; how far it got is unknown", ErrorType.CANCELLED
)
