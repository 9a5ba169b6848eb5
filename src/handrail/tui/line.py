"""The screen's line to the server: what it looks up there, and what it says besides answers."""

from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

from handrail.client.api import HandrailApi
from handrail.core.execution import Status
from handrail.tui.inbox import Inbox

_RUNNING = (Status.PENDING, Status.APPROVED, Status.EXECUTING)
_MOST_CALLS = 200

Told = dict[str, Any]


class Line:
    def __init__(self, api: HandrailApi):
        self._api = api
        self.address = api.server

    def now(self) -> datetime:
        """What time it is for the server."""
        return datetime.now(UTC) + self._api.clock_ahead

    async def question(self, approval_id: str) -> Told:
        """A question and, once there is one, its answer."""
        return await self._api.get(f"/approvals/{approval_id}")

    async def running(self) -> list[Told]:
        found = [await self._calls(status=status.value) for status in _RUNNING]
        calls = {call["tool_id"]: call for some in found for call in some}
        return sorted(calls.values(), key=lambda call: call["created_at"], reverse=True)

    async def history(self) -> list[Told]:
        return await self._calls()

    async def machines(self) -> list[Told]:
        """Where calls are executed. The clocks are compared, too, whoever asks for the cards."""
        await self._api.read_clock()
        return (await self._api.get("/clients"))["clients"]

    async def stop(self, session_id: str) -> None:
        await self._api.stop_session(session_id, channel=Inbox.name)

    async def end(self, tool_id: str) -> None:
        await self._api.cancel(tool_id, channel=Inbox.name)

    async def undo(self, tool_id: str) -> Told:
        return await self._api.post(f"/tools/{tool_id}/undo", {"channel": Inbox.name})

    async def undo_session(self, session_id: str) -> Told:
        address = f"/chat/sessions/{quote(session_id, safe='')}/undo"
        return await self._api.post(address, {"channel": Inbox.name})

    async def _calls(self, **query: str) -> list[Told]:
        return (await self._api.get("/activity", limit=_MOST_CALLS, **query))["calls"]
