"""ToolHandler: what this machine does when it is asked to look, to ask or to execute.

It trusts nothing it was sent: parameters are read again, judged again with this machine's own
rules, and held against the digest, before anything is touched.
"""

import asyncio
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import structlog

from handrail.client.asking import Asking, Resolved, Tainted
from handrail.client.checks import Checks
from handrail.client.endings import CANCELLED, NOT_APPLIED, TOO_SLOW, UNKNOWN
from handrail.client.gates import Gates
from handrail.client.journal import Entry, Journal, Stage
from handrail.client.line import Line
from handrail.client.messages import Cancel, ResultAck, Signal, SurveyRequest
from handrail.client.reapproval import Reapproval
from handrail.client.reports import (
    BY_POLICY,
    ReportResult,
    find_difference,
    report_on,
)
from handrail.client.review import Reviewed, Reviewer
from handrail.client.running import Running
from handrail.core.card import Card
from handrail.core.errors import BadInput, BrokenTool, ErrorType, ToolError
from handrail.core.few import Few
from handrail.core.ports import Clock
from handrail.core.tool import Effect, JsonObject, ToolResult

_HISTORY_LENGTH = 1000

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class PastExecution:
    tool_id: str
    status: str
    start_time: datetime
    end_time: datetime
    error: str | None


class ToolHandler:
    """What it has told, and of which it does not know that the server heard it, is told again."""

    def __init__(
        self,
        reviewer: Reviewer,
        clock: Clock,
        line: Line,
        asking: Asking,
        journal: Journal,
        was_applied: Callable[[str], bool] = lambda tool_id: False,
    ):
        """`was_applied` tells whether the effects of a call that was begun are in the workspace."""
        self._reviewer = reviewer
        self._clock = clock
        self._line = line
        self._reapproval = Reapproval(line)
        self._asking = asking
        self._journal = journal
        self._was_applied = was_applied
        self._gates = Gates()
        self._running: dict[str, Running] = {}
        self._unacknowledged: dict[str, ReportResult] = {}
        # What was seen when a person was about to be asked, to say what has changed since.
        self._seen: Few[str, JsonObject] = Few()
        self._checks = Checks(reviewer, line, self._seen)
        self.history: deque[PastExecution] = deque(maxlen=_HISTORY_LENGTH)

    @property
    def active_executions(self) -> frozenset[str]:
        return frozenset(self._running)

    @property
    def pending_approvals(self) -> list[Card]:
        return list(self._asking.pending.values())

    def resume(self) -> None:
        """Tell what an earlier life of this machine has left untold.

        What it had claimed and not begun is offered again by the server.
        """
        for entry in self._journal.entries:
            if entry.report is not None:
                self._send(entry.report)
            elif entry.stage is Stage.BEGUN:
                self._send(self._report_after_crash(entry))

    def _report_after_crash(self, entry: Entry) -> ReportResult:
        if entry.expected is None:
            return report_on(entry.tool_id, UNKNOWN)
        if self._was_applied(entry.tool_id):
            return entry.expected
        return report_on(entry.tool_id, NOT_APPLIED)

    async def handle_tool_survey_request(self, request: SurveyRequest) -> None:
        """Look at the machine before a person is asked."""
        if request.replayed or request.tool_params is None:
            return
        await self._checks.look(request)

    async def end_check(self, approval_id: str) -> None:
        """Stop checking a question that was refused, has expired or was withdrawn."""
        await self._checks.end(approval_id)

    async def handle_tool_approval_request(self, card: Card) -> None:
        """Put a question to the person at this machine, and carry their answer back."""
        await self._asking.ask(card)

    def handle_approval_resolved(self, resolved: Resolved) -> None:
        self._asking.close(resolved)

    def handle_session_tainted(self, tainted: Tainted) -> None:
        self._asking.warn(tainted)

    async def handle_tool_execution_signal(self, signal: Signal) -> None:
        """Execute, once, and report; a call offered anew is answered from what is known of it."""
        if signal.replayed or signal.tool_params is None:
            return
        if (running := self._running.get(signal.tool_id)) is not None:
            running.offer_anew(signal.epoch)
            return
        if (earlier := self._unacknowledged.get(signal.tool_id)) is not None:
            self._send({**earlier, "epoch": signal.epoch} if "epoch" in earlier else earlier)
            return
        running = self._running[signal.tool_id] = Running(signal.epoch)
        try:
            report = await self._execute(signal, running)
        finally:
            del self._running[signal.tool_id]
        if report is not None:
            self._send(report)

    def handle_tool_cancel(self, cancel: Cancel) -> None:
        """End what runs for a call; if it had begun, the server is told how that went."""
        if (running := self._running.get(cancel.tool_id)) is not None:
            running.cancel()
        self._checks.cancel(cancel.tool_id)

    def handle_tool_result_ack(self, ack: ResultAck) -> None:
        # The answer to the report itself has told of a refusal; a newer report may wait by now.
        if ack.receipt_status != "rejected":
            self.forget(ack.tool_id)

    def forget(self, tool_id: str) -> None:
        """The server has answered a report: there is nothing left to tell."""
        self._unacknowledged.pop(tool_id, None)
        self._journal.forget(tool_id)

    def dispose(self) -> None:
        """End what is running here, processes included, and take away what is being shown."""
        self._asking.dispose()
        for running in self._running.values():
            running.abandon()

    def _send(self, report: ReportResult) -> None:
        self._unacknowledged[report["tool_id"]] = report
        self._line.send_tool_result(report)

    async def _execute(self, signal: Signal, running: Running) -> ReportResult | None:
        """The report on a call; None where there is nothing to tell."""
        start, began = self._clock.now(), time.perf_counter()
        result = await self._attempt_or_end(signal, running)
        running.close()
        if result is None:
            self._journal.forget(signal.tool_id)
            return None
        if running.begun and result.error_type is not None:
            # It may have written files before it failed or was cancelled.
            result = await self._reviewer.tell_undo(signal.call, result)
        if result.error_type is None and not signal.by_person:
            result = self._reviewer.tell_note(signal.call, result)
        report = report_on(signal.tool_id, result)
        report["execution_time_ms"] = int((time.perf_counter() - began) * 1000)
        self.history.append(
            PastExecution(signal.tool_id, report["status"], start, self._clock.now(), result.error)
        )
        if running.begun:
            await self._write_down(report)
        # Nobody else may report on what we have claimed; else the epoch says whose word counts.
        return report if running.claimed else {**report, "epoch": running.epoch}

    async def _write_down(self, report: ReportResult) -> None:
        try:
            await self._journal.finish(report["tool_id"], report)
        except ToolError as error:
            # It is told all the same; only a crash before that would make it unknown.
            log.error("journal.failed", execution=report["tool_id"], error=error.message)

    async def _attempt_or_end(self, signal: Signal, running: Running) -> ToolResult | None:
        """The outcome, also when it is that somebody has cancelled the call."""
        try:
            async with self._gate_of(signal):
                result = await self._attempt(signal, running)
            by_person = signal.execution_context.approved_by != BY_POLICY
            if by_person and result is not None and result.error_type is ErrorType.STALE:
                self._asking.tell_undone(signal.tool_id, signal.tool_name, result.error or "")
            return result
        except asyncio.CancelledError:
            if not running.take_cancellation():
                self._leave(signal.tool_id, running)
                raise
        return CANCELLED if running.begun else None

    def _gate_of(self, signal: Signal) -> asyncio.Semaphore:
        """The steps of a draft follow one another: each builds on the one before."""
        is_step = self._reviewer.makes_steps(signal.tool_name, signal.autonomy)
        return self._gates.of(signal.session_id, in_turn=is_step)

    def _leave(self, tool_id: str, running: Running) -> None:
        """This machine is told to stop; what it had begun it can still tell of."""
        entry = self._journal.find(tool_id)
        if not running.begun or (entry is not None and entry.expected is not None):
            # The next start of this machine sees whether its effects are in the workspace.
            return
        report = report_on(tool_id, UNKNOWN)
        with suppress(ToolError):
            self._journal.finish_now(tool_id, report)
        self._send(report)

    async def _attempt(self, signal: Signal, running: Running) -> ToolResult | None:
        """The outcome, or None where this machine was not given the right to begin."""
        try:
            return await self._check_and_run(signal, running, signal.tool_params or {})
        except BrokenTool as error:
            log.exception("execution.broke", tool=signal.tool_name, execution=signal.tool_id)
            return ToolResult.failed(error.message, error.error_type)
        except (ToolError, BadInput) as error:
            return ToolResult.failed(error.message, error.error_type)
        except TimeoutError:
            return ToolResult.failed(TOO_SLOW, ErrorType.EXECUTION_TIMEOUT)
        except Exception as error:
            log.exception("execution.broke", tool=signal.tool_name, execution=signal.tool_id)
            return ToolResult.failed(
                f"{signal.tool_name} failed on the client: {type(error).__name__}",
                ErrorType.INTERNAL,
            )

    async def _check_and_run(
        self, signal: Signal, running: Running, raw: dict[str, Any]
    ) -> ToolResult | None:
        changes = self._reviewer.get_tool(signal.tool_name).effect is Effect.CHANGE
        if changes and signal.status == "executing" and not self._never_begun(signal.tool_id):
            running.claimed = True
            return UNKNOWN
        call = signal.call
        changed = await self._reviewer.drop_stale(call)
        reviewed = await self._reviewer.review(
            signal.tool_name, raw, call=call, autonomy=signal.autonomy, by_person=signal.by_person
        )
        try:
            return await self._check_and_execute(signal, running, reviewed, changed)
        finally:
            await self._reviewer.end(reviewed)

    async def _check_and_execute(
        self, signal: Signal, running: Running, reviewed: Reviewed, changed: str
    ) -> ToolResult | None:
        seen = self._seen.get(signal.tool_id)
        if (trouble := find_difference(signal, reviewed, seen)) is not None:
            facts = await self._reapproval.request(signal, running, reviewed, changed)
            if facts is None:
                return ToolResult.failed(trouble, ErrorType.STALE)
            self._seen.keep(signal.tool_id, facts)
            return None
        expected = await self._reviewer.expect(reviewed)
        if expected is not None:
            expected = await self._line.put_away(expected)
        if reviewed.changes and not await self._begin(signal.tool_id, running, expected):
            return None
        executing = self._reviewer.execute(reviewed, surveyed=signal.surveyed)
        if expected is not None:
            await running.to_the_end(executing)
            return expected
        return await self._line.put_away(await executing)

    def _never_begun(self, tool_id: str) -> bool:
        """Whether an earlier life of this machine claimed the call, and surely came no further."""
        entry = self._journal.find(tool_id)
        return entry is not None and entry.stage is Stage.CLAIMING

    async def _begin(self, tool_id: str, running: Running, expected: ToolResult | None) -> bool:
        """Get the right to begin, and write down that we do."""
        key = self._journal.note_claim(tool_id)
        # A claim can cross with an offer anew; then it is made anew.
        while not await self._line.claim_tool_execution(tool_id, running.epoch, key):
            if not await running.wait_for_another_offer():
                return False
        running.claimed = True
        report = None if expected is None else {**report_on(tool_id, expected)}
        await running.undisturbed(self._journal.begin(tool_id, report))
        running.begun = True
        return True
