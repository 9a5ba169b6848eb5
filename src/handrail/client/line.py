"""Messages from a client to its server."""

from typing import Any, Protocol

from handrail.client.reports import ReportResult
from handrail.core.tool import ToolResult


class Line(Protocol):
    """Sends reports and questions about calls to the server."""

    def send_tool_result(self, report: ReportResult) -> None: ...

    async def claim_tool_execution(self, tool_id: str, epoch: int, key: str) -> bool:
        """Claim a call; False if another client has claimed it, or it may not run."""
        ...

    async def send_facts(self, approval_id: str, facts: dict[str, Any]) -> None: ...

    async def ask_again(self, tool_id: str, epoch: int, facts: dict[str, Any]) -> bool:
        """Have an approved call judged again by new facts; False if the server refuses."""
        ...

    async def put_away(self, result: ToolResult) -> ToolResult:
        """Upload the parts of a result that are too large for a report."""
        ...
