"""StreamingClient: carries events to the ToolHandler, and its reports and answers back."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import msgspec
import structlog

from handrail.client.api import ApiError, HandrailApi, ServerTroubled, ServerUnreachable
from handrail.client.asking import (
    Asking,
    Resolved,
    read_card,
    read_resolved,
    read_status,
    read_tainted,
)
from handrail.client.blobs import ClientBlobs
from handrail.client.drafts import DraftKeeper
from handrail.client.handler import ToolHandler
from handrail.client.heartbeat import Heartbeat
from handrail.client.listening import Listener, Pauses
from handrail.client.messages import (
    Cancel,
    read_ack,
    read_cancel,
    read_signal,
    read_survey,
    read_undo,
)
from handrail.client.policy import PolicyKeeper
from handrail.client.reports import ReportResult
from handrail.client.sse import ServerEvent
from handrail.client.undoing import Undoing
from handrail.core.approval import ApprovalStatus
from handrail.core.card import Card, Choice
from handrail.core.errors import HandrailError
from handrail.core.execution import FINAL
from handrail.core.grant import Scope
from handrail.core.tool import ToolResult
from handrail.core.undo import NoUndo, Undo

_MOST_PER_POST = 100
_LAST_WORDS_SECONDS = 2.0
_THE_REPORT_IS_BAD = (400, 413)

log = structlog.get_logger(__name__)


class StreamingClient:
    """This machine's line to the server.

    `announce` is called with True when the line is up and False when it is down.
    """

    def __init__(
        self,
        api: HandrailApi,
        make_handler: Callable[["StreamingClient"], ToolHandler],
        asking: Asking,
        announce: Callable[[bool], None] = lambda connected: None,
        policy: PolicyKeeper | None = None,
        undo: Undo | None = None,
        drafts: DraftKeeper | None = None,
    ):
        self._api = api
        self._asking = asking
        self._blobs = ClientBlobs(api)
        self._policy = policy
        self._drafts = drafts
        self._undoing = Undoing(undo or NoUndo(), api)
        self._announce = announce
        self._handler = make_handler(self)
        self._outbox: list[ReportResult] = []
        self._outgoing = asyncio.Event()

    def send_tool_result(self, report: ReportResult) -> None:
        """Put a report into the outbox; it is sent, and sent again, until the server has it."""
        self._outbox.append(report)
        self._outgoing.set()

    async def claim_tool_execution(self, tool_id: str, epoch: int, key: str) -> bool:
        """Ask until there is an answer: a claim that may have arrived must not be forgotten."""
        pauses = Pauses()
        while True:
            try:
                await self._api.claim(tool_id, epoch, key)
            except ServerUnreachable:
                await pauses.sleep()
            except ApiError as error:
                log.info("claim.refused", execution=tool_id, why=error.message)
                return False
            else:
                return True

    async def ask_again(self, tool_id: str, epoch: int, facts: dict[str, Any]) -> bool:
        """Ask until the server answers: no other message follows if a person is asked."""
        pauses = Pauses()
        while True:
            try:
                await self._api.ask_again(tool_id, epoch, facts)
            except ServerUnreachable:
                await pauses.sleep()
            except ApiError as error:
                log.info("asking_again.refused", execution=tool_id, why=error.message)
                return False
            else:
                return True

    async def send_facts(self, approval_id: str, facts: dict[str, Any]) -> None:
        """Tell what was seen; if that cannot be told, the question is put without it."""
        try:
            await self._api.send_facts(approval_id, facts)
        except (ApiError, ServerUnreachable) as error:
            log.info("facts.not_taken", approval=approval_id, why=error.message)

    async def put_away(self, result: ToolResult) -> ToolResult:
        return await self._blobs.put_away(result)

    async def approve_tool_execution(self, card: Card, scope: Scope = Scope.ONCE) -> None:
        """Say yes in the name of the person at this machine."""
        await self._asking.decide(card, Choice(approved=True, scope=scope))

    async def reject_tool_execution(self, card: Card, reason: str | None = None) -> None:
        """Say no in their name; the reason reaches the agent."""
        await self._asking.decide(card, Choice(approved=False, reason=reason))

    async def run(self) -> None:
        """Serve until cancelled, or until the server says that this token is not good.

        Raises:
            ApiError: The server knows us no longer.
        """
        self._handler.resume()
        heartbeat = Heartbeat(self._api)
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._send_forever())
                group.create_task(heartbeat.run())
                if self._policy is not None:
                    group.create_task(self._policy.run())
                if self._drafts is not None:
                    group.create_task(self._drafts.run())
                listener = Listener(
                    self._api,
                    lambda event: self._route(event, group),
                    lambda connected: self._on_line(connected, group),
                    heartbeat,
                )
                await listener.run()
        finally:
            await self._send_last_words()

    def _on_line(self, connected: bool, group: asyncio.TaskGroup) -> None:
        self._announce(connected)
        if self._drafts is not None:
            self._drafts.on_line(connected)
        if connected:
            group.create_task(self._asking.catch_up())
            if self._policy is not None:
                self._policy.tell_anew()

    def _close_question(self, resolved: Resolved, group: asyncio.TaskGroup) -> None:
        self._handler.handle_approval_resolved(resolved)
        if resolved.status != ApprovalStatus.APPROVED:
            group.create_task(self._handler.end_check(resolved.approval_id))

    def _route(self, event: ServerEvent, group: asyncio.TaskGroup) -> None:
        handler = self._handler
        try:
            match event.name:
                case "tool.execution_signal":
                    signal = read_signal(event.data)
                    group.create_task(handler.handle_tool_execution_signal(signal))
                case "tool.survey_request":
                    request = read_survey(event.data)
                    group.create_task(handler.handle_tool_survey_request(request))
                case "tool.approval_request":
                    card = read_card(event.data)
                    group.create_task(handler.handle_tool_approval_request(card))
                case "approval.resolved":
                    self._close_question(read_resolved(event.data), group)
                case "session.tainted":
                    handler.handle_session_tainted(read_tainted(event.data))
                case "tool.result_ack":
                    ack = read_ack(event.data)
                    handler.handle_tool_result_ack(ack)
                    group.create_task(self._asking.tell_outcome(ack.tool_id))
                case "tool.status":
                    group.create_task(self._asking.tell_outcome(read_status(event.data).tool_id))
                case _:
                    self._route_what_ends_or_undoes(event, group)
        except msgspec.DecodeError as error:
            log.warning("event.unreadable", name=event.name, id=event.id, error=str(error))

    def _route_what_ends_or_undoes(self, event: ServerEvent, group: asyncio.TaskGroup) -> None:
        match event.name:
            case "tool.cancel":
                self._handler.handle_tool_cancel(read_cancel(event.data))
            case "tool.undo_request":
                group.create_task(self._undoing.handle(read_undo(event.data)))
            case "stream.reset":
                group.create_task(self._drop_what_has_ended())
            case _:
                pass

    async def _drop_what_has_ended(self) -> None:
        """Word of a cancel may be among the events that are gone."""
        for tool_id in self._handler.active_executions:
            if await self._has_ended(tool_id):
                self._handler.handle_tool_cancel(Cancel(tool_id))

    async def _has_ended(self, tool_id: str) -> bool:
        """Ask until there is an answer; what the server does not know is left alone."""
        pauses = Pauses()
        while True:
            try:
                found = await self._api.get(f"/tools/{tool_id}")
            except ServerUnreachable:
                await pauses.sleep()
            except ApiError as error:
                log.info("call.not_found", execution=tool_id, why=error.message)
                return False
            else:
                return found["status"] in FINAL

    async def _send_forever(self) -> None:
        pauses = Pauses()
        while True:
            await self._outgoing.wait()
            self._outgoing.clear()
            while self._outbox:
                batch = self._take_batch()
                try:
                    await self._send(batch)
                    pauses.reset()
                except ServerUnreachable:
                    self._outbox = batch + self._outbox
                    await pauses.sleep()

    def _take_batch(self) -> list[ReportResult]:
        batch, self._outbox = self._outbox[:_MOST_PER_POST], self._outbox[_MOST_PER_POST:]
        return batch

    async def _send_last_words(self) -> None:
        """What is known when we stop is told now if that is quick, else by our next life."""
        with suppress(HandrailError, TimeoutError):
            async with asyncio.timeout(_LAST_WORDS_SECONDS):
                while self._outbox:
                    await self._send(self._take_batch())

    async def _send(self, batch: list[ReportResult]) -> None:
        try:
            receipts = await self._api.send_results(batch)
        except ApiError as error:
            if error.status not in _THE_REPORT_IS_BAD:
                # Whoever says so does not mean the report, and it is the only copy.
                raise ServerTroubled(error.message) from error
            if len(batch) > 1:
                for report in batch:
                    await self._send([report])
                return
            log.error("result.refused", execution=batch[0]["tool_id"], error=error.message)
            await self._send_excuse(batch[0], error)
            return
        for receipt in receipts:
            if not receipt.success:
                log.info("result.rejected", execution=receipt.tool_id, why=receipt.message)
            # What was offered anew is asked for once more, and answered from memory.
            if receipt.status != "offered_anew":
                self._handler.forget(receipt.tool_id)

    async def _send_excuse(self, report: ReportResult, error: ApiError) -> None:
        """A result that cannot be delivered must still end its call."""
        excuse = {
            "tool_id": report["tool_id"],
            "epoch": report.get("epoch"),
            "status": "failed",
            "error": f"the result could not be delivered: {error.message}",
            "error_type": "internal",
        }
        try:
            await self._api.send_results([excuse])
        except ApiError as refused:
            if refused.status not in _THE_REPORT_IS_BAD:
                raise ServerTroubled(refused.message) from refused
            log.error("excuse.refused", execution=report["tool_id"], error=refused.message)
        self._handler.forget(report["tool_id"])
