"""Undoing: what this machine does when a person asks to undo calls.

What is kept here is the truth. If the answer is lost with this process, the next request is
answered from it.
"""

from collections.abc import Sequence

import structlog

from handrail.client.api import ApiError, HandrailApi, ServerUnreachable
from handrail.client.listening import Pauses
from handrail.client.messages import UndoRequest
from handrail.core.undo import Undo, Undone

log = structlog.get_logger(__name__)


class Undoing:
    def __init__(self, undo: Undo, api: HandrailApi):
        self._undo = undo
        self._api = api

    async def handle(self, request: UndoRequest) -> None:
        """Undo, and tell about each call; a request from before a break is not carried out."""
        if request.replayed or not request.tool_ids:
            return
        await self._tell(await self._undo.undo(request.tool_ids))

    async def _tell(self, undone: Sequence[Undone]) -> None:
        """Tell until there is an answer: what was undone must be known."""
        told = [{"tool_id": one.call, "status": one.status, "reason": one.reason} for one in undone]
        pauses = Pauses()
        while True:
            try:
                await self._api.post("/tools/undone", {"calls": told})
            except ServerUnreachable:
                await pauses.sleep()
            except ApiError as error:
                log.warning("undone.not_taken", why=error.message)
                return
            else:
                return
