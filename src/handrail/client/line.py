"""The way from a client back to its server."""

from typing import Any, Protocol

from handrail.client.reports import ReportResult
from handrail.core.tool import ToolResult


class Line(Protocol):
    """Messages about calls, from a client to its server."""

    def send_tool_result(self, report: ReportResult) -> None: ...

    async def claim_tool_execution(self, tool_id: str, epoch: int, key: str) -> bool:
        """Ask for the right to begin; False when another client has it, or none may."""
        ...

    async def send_facts(self, approval_id: str, facts: dict[str, Any]) -> None: ...

    async def ask_again(self, tool_id: str, epoch: int, facts: dict[str, Any]) -> bool:
        """Hand back a call that was approved for other facts; False if it cannot be."""
        ...

    async def put_away(self, result: ToolResult) -> ToolResult:
        """Send ahead what is too large for a report; the result names it instead."""
        ...
