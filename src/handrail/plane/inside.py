"""Inside: the tools that live on the server, run by the server itself.

To the rest of the plane it is a machine like any other: it is handed calls, claims what changes
something, and reports. It looks into the store for what there is to do, so that nothing is lost
when it is killed. A read is then done again; of a change that had begun nobody knows how far it
came, unless doing it twice is doing it once.
"""

import asyncio
import json
import secrets
import time
from contextlib import suppress

import structlog

from handrail.core.access import Principal, Role
from handrail.core.audit import AuditRecord
from handrail.core.change import Advance, Change
from handrail.core.errors import (
    BadInput,
    BrokenTool,
    ChangeRefused,
    Conflict,
    ErrorType,
    NotFound,
    StoreUnavailable,
    ToolError,
)
from handrail.core.event import EventKind, NewEvent, Topic
from handrail.core.execution import Status, ToolExecution
from handrail.core.ids import INSIDE, ExecutionId, UserId
from handrail.core.ports import Bus, Clock, Store
from handrail.core.tool import Effect, ToolResult
from handrail.plane.assessment import Asked, Assessor
from handrail.plane.looking import Looker
from handrail.plane.move import ending
from handrail.plane.results import Receiver, Report
from handrail.tools.blame import blaming
from handrail.tools.outcome import as_result
from handrail.tools.registry import ToolRegistry

# A ring can be lost; then this is how late we notice.
_POLL_SECONDS = 5.0
_STORE_RETRY_SECONDS = 0.5
_MOST_AT_ONCE = 16
_MOST_PER_PERSON = 6
_MOST_SECONDS = 300.0
_STALE = "the data has changed since the call was checked; nothing was done, ask again"
_UNKNOWN = "the server was stopped while it ran the call; how far it got is unknown"

log = structlog.get_logger(__name__)


class Inside:
    def __init__(
        self,
        store: Store,
        bus: Bus,
        clock: Clock,
        registry: ToolRegistry,
        assessor: Assessor,
        receiver: Receiver,
        looker: Looker,
    ):
        self._store = store
        self._bus = bus
        self._clock = clock
        self._registry = registry
        self._assessor = assessor
        self._receiver = receiver
        self._looker = looker
        # Tells what this life of the server has begun from what an earlier one had.
        self._key = secrets.token_hex(16)
        self._gate = asyncio.Semaphore(_MOST_AT_ONCE)
        self._shares: dict[UserId, asyncio.Semaphore] = {}
        self._running: dict[ExecutionId, asyncio.Task[None]] = {}

    async def work_forever(self) -> None:
        async with asyncio.TaskGroup() as group:
            with self._bus.listen(Topic.INSIDE) as bell:
                while True:
                    with suppress(StoreUnavailable):
                        await self._look(group)
                    await bell.wait(_POLL_SECONDS)

    async def _look(self, group: asyncio.TaskGroup) -> None:
        """Begin with what is there to do, and end what somebody has ended."""
        calls = {call.id: call for call in await self._store.list_open_inside()}
        for execution_id, task in self._running.items():
            if execution_id not in calls:
                task.cancel()
        for execution_id in calls.keys() - self._running.keys():
            self._running[execution_id] = group.create_task(self._see_to(calls[execution_id]))

    def _share_of(self, user_id: UserId) -> asyncio.Semaphore:
        """Nobody takes all the room from others, however many calls they make."""
        return self._shares.setdefault(user_id, asyncio.Semaphore(_MOST_PER_PERSON))

    async def _see_to(self, call: ToolExecution) -> None:
        execution_id = call.id
        try:
            async with self._share_of(call.user_id), self._gate:
                begun = await self._begin(execution_id)
                if begun is not None:
                    await self._report(begun, await self._attempt(begun))
        except (Conflict, NotFound) as error:
            # Somebody has ended it meanwhile.
            log.info("inside.ended_elsewhere", execution=execution_id, why=error.message)
        except StoreUnavailable:
            log.info("inside.postponed", execution=execution_id)
        finally:
            del self._running[execution_id]

    async def _begin(self, execution_id: ExecutionId) -> ToolExecution | None:
        """The call, if it is ours to do; what an earlier life had begun is not, as a rule."""
        call = await self._store.find_execution(execution_id)
        if call is None or call.status not in (Status.APPROVED, Status.EXECUTING):
            return None
        at = self._clock.now()
        if call.status is Status.EXECUTING:
            if call.effect is Effect.READ or self._registry.get(call.tool_name).repeatable:
                return call
            await self._store.submit(
                ending(call, call.fail(ErrorType.OUTCOME_UNKNOWN, _UNKNOWN, at), INSIDE)
            )
            return None
        claimed = call.advance(Status.EXECUTING, at, claim_key=self._key)
        line = AuditRecord("call.claimed", INSIDE, call.id, {"epoch": call.epoch})
        news = NewEvent.for_everyone(claimed, EventKind.STATUS)
        try:
            await self._store.submit(
                Change(call.project_id, at, (Advance(call, claimed),), (news,), (line,))
            )
        except ChangeRefused:
            return None
        return claimed

    async def _attempt(self, call: ToolExecution) -> tuple[ToolResult, int]:
        """The outcome, whatever it is, and how many milliseconds it took."""
        began = time.perf_counter()
        try:
            async with asyncio.timeout(_MOST_SECONDS):
                result = await self._run(call)
        except TimeoutError:
            words = f"{call.tool_name} took longer than {_MOST_SECONDS:.0f} s"
            result = ToolResult.failed(words, ErrorType.EXECUTION_TIMEOUT)
        except BrokenTool as error:
            log.exception("execution.broke", tool=call.tool_name, execution=call.id)
            result = ToolResult.failed(error.message, error.error_type)
        except (ToolError, BadInput) as error:
            result = ToolResult.failed(error.message, error.error_type)
        return result, int((time.perf_counter() - began) * 1000)

    async def _run(self, call: ToolExecution) -> ToolResult:
        words = await self._store.read_raw_params(call)
        raw = json.loads(words)
        place = await self._store.find_place(call.project_id, call.session_id)
        if place is None:
            raise NotFound(f"there is no session {call.session_id!r}")
        with blaming(call.tool_name, "on the server"):
            tool, params = self._registry.parse(call.tool_name, raw)
            facts = None
            if call.surveyed:
                survey = await self._looker.look(call, tool, params, place)
                asked = Asked(call.tool_name, raw, words, call.origins)
                assessment = await self._assessor.assess(asked, place, survey)
                if assessment.digest != call.digest:
                    return self._differing(call)
                facts = None if survey is None else survey.facts
            hands = await self._looker.hands_for(call, place)
            given = await tool.execute(params, self._assessor.scene_of(place), hands, facts)
            return as_result(call.tool_name, given)

    def _differing(self, call: ToolExecution) -> ToolResult:
        """The call would meet something else than was seen: perhaps what it has left itself."""
        if call.claim_key == self._key:
            return ToolResult.failed(_STALE, ErrorType.STALE)
        return ToolResult.failed(_UNKNOWN, ErrorType.OUTCOME_UNKNOWN)

    async def _report(self, call: ToolExecution, outcome: tuple[ToolResult, int]) -> None:
        result, milliseconds = outcome
        failed = result.error_type is not None
        report = Report(
            execution_id=call.id,
            status=Status.FAILED if failed else Status.COMPLETED,
            epoch=call.epoch,
            result=None if failed and not result.fields else result.as_json(),
            error=result.error if failed else None,
            error_type=result.error_type,
            execution_time_ms=milliseconds,
        )
        us = Principal(Role.CLIENT, INSIDE, call.user_id)
        while True:
            try:
                await self._receiver.accept(report, us, call.project_id)
            except StoreUnavailable:
                # What the tool did is known only here, so it is kept until it can be stored.
                await asyncio.sleep(_STORE_RETRY_SECONDS)
            else:
                return
