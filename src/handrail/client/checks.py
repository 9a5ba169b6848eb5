"""Checks: what this machine does when it is asked to look at a call, before a person is asked."""

import asyncio
from typing import Any, NamedTuple

import structlog

from handrail.client.endings import TOO_SLOW
from handrail.client.line import Line
from handrail.client.messages import SurveyRequest
from handrail.client.reports import as_facts, as_refusal
from handrail.client.review import Reviewer
from handrail.core.errors import BadInput, ErrorType, ToolError
from handrail.core.few import Few
from handrail.core.rehearsal import CallRef
from handrail.core.tool import JsonObject

log = structlog.get_logger(__name__)


class _Look(NamedTuple):
    """A person can change a waiting call: under each epoch it is looked at by itself."""

    call: CallRef
    epoch: int | None
    unmasked: bool


class Checks:
    def __init__(self, reviewer: Reviewer, line: Line, seen: Few[str, JsonObject]):
        """`seen` takes the facts of each call, to say later what has changed since."""
        self._reviewer = reviewer
        self._line = line
        self._seen = seen
        self._looking: dict[_Look, asyncio.Task[dict[str, Any]]] = {}
        # The calls of the questions that this machine has checked.
        self._checked: Few[str, CallRef] = Few()

    async def look(self, request: SurveyRequest) -> None:
        """Look, and tell what was seen; what would be refused here is said so."""
        call = CallRef(request.session_id, request.tool_id)
        look = _Look(call, request.epoch, request.unmasked)
        if look in self._looking:
            return  # The server asks again after a lost connection.
        self._checked.keep(request.approval_id, call)
        for other, task in self._looking.items():
            if other.call == call and other.epoch != look.epoch:
                task.cancel()
        try:
            # A check that is ended from outside ends the group without an error.
            async with asyncio.TaskGroup() as group:
                task = group.create_task(self._look(request, call))
                self._looking[look] = task
        finally:
            self._looking.pop(look, None)
        if not task.cancelled():
            epoch = {} if request.epoch is None else {"epoch": request.epoch}
            await self._line.send_facts(request.approval_id, {**task.result(), **epoch})

    async def end(self, approval_id: str) -> None:
        """Stop checking a question that was refused, has expired or was withdrawn."""
        if (call := self._checked.get(approval_id)) is None:
            return
        if ending := self.cancel(call.tool_id):
            await asyncio.wait(ending)
        await self._reviewer.forget(call)

    def cancel(self, tool_id: str) -> list[asyncio.Task[dict[str, Any]]]:
        """Stop the checks of a call; returns them."""
        ending = [task for look, task in self._looking.items() if look.call.tool_id == tool_id]
        for task in ending:
            task.cancel()
        return ending

    async def _look(self, request: SurveyRequest, call: CallRef) -> dict[str, Any]:
        try:
            params, freedom = request.tool_params or {}, request.autonomy
            reviewed = await self._reviewer.review(
                request.tool_name, params, call=call, autonomy=freedom
            )
            answer = as_facts(reviewed, unmasked=request.unmasked)
            self._seen.keep(request.tool_id, answer["facts"])
        except (ToolError, BadInput) as error:
            return as_refusal(error.message, error.error_type)
        except TimeoutError:
            return as_refusal(TOO_SLOW, ErrorType.EXECUTION_TIMEOUT)
        except Exception as error:
            # The same check would break again before the call is executed.
            log.warning("survey.broke", execution=request.tool_id, error=repr(error))
            words = f"{request.tool_name} failed while this machine checked the call"
            return as_refusal(words, ErrorType.INTERNAL)
        return answer
