"""ToolHandler: what this machine does when it is asked to look, to ask or to execute.

It trusts nothing it was sent: parameters are read again, judged again with this machine's own
rules, and held against the digest, before anything is touched.
"""

import asyncio
import time
from collections import deque
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

import msgspec
import structlog

from handrail.client.asking import Asking, Resolved
from handrail.client.review import Reviewed, Reviewer
from handrail.core.card import Card
from handrail.core.errors import BadInput, ErrorType, ToolError
from handrail.core.ports import Clock
from handrail.core.risk import RiskLevel
from handrail.core.tool import Effect, ToolResult

MOST_AT_ONCE = 3
_HISTORY_LENGTH = 1000
_SECOND_OFFER_SECONDS = 2.0
# The server waits two seconds for a survey, and the way there and back takes some of them.
_SURVEY_SECONDS = 1.7

log = structlog.get_logger(__name__)

ReportResult = dict[str, Any]


class Signal(msgspec.Struct, frozen=True):
    """`tool.execution_signal`, as far as this machine needs it."""

    tool_id: str
    tool_name: str
    tool_params: dict[str, Any] | None
    digest: str
    salt: str
    epoch: int
    status: str
    risk_level: str
    surveyed: bool = False
    replayed: bool = False


class SurveyRequest(msgspec.Struct, frozen=True):
    """`tool.survey_request`, likewise."""

    approval_id: str
    tool_id: str
    tool_name: str
    tool_params: dict[str, Any] | None
    replayed: bool = False


class ResultAck(msgspec.Struct, frozen=True):
    """`tool.result_ack`, likewise."""

    tool_id: str
    receipt_status: str = "received"


class Line(Protocol):
    """The way back to the server."""

    def send_tool_result(self, report: ReportResult) -> None: ...

    async def claim_tool_execution(self, tool_id: str, epoch: int) -> bool:
        """Ask for the right to begin; False when somebody else has it, or nobody may."""
        ...

    async def send_facts(self, approval_id: str, facts: dict[str, Any]) -> None: ...


@dataclass(frozen=True, slots=True)
class PastExecution:
    tool_id: str
    status: str
    start_time: datetime
    end_time: datetime
    error: str | None


class _Running:
    """A call in work: under which epoch it is ours, and the task that works on it."""

    def __init__(self, epoch: int):
        self.epoch = epoch
        self.task = asyncio.current_task()
        self._offered_anew = asyncio.Event()

    def offer_anew(self, epoch: int) -> None:
        self.epoch = epoch
        self._offered_anew.set()

    async def wait_for_another_offer(self) -> bool:
        """Whether the call is offered anew within a moment."""
        try:
            async with asyncio.timeout(_SECOND_OFFER_SECONDS):
                await self._offered_anew.wait()
        except TimeoutError:
            return False
        self._offered_anew.clear()
        return True


class ToolHandler:
    def __init__(self, reviewer: Reviewer, clock: Clock, line: Line, asking: Asking):
        self._reviewer = reviewer
        self._clock = clock
        self._line = line
        self._asking = asking
        self._gate = asyncio.Semaphore(MOST_AT_ONCE)
        self._running: dict[str, _Running] = {}
        self._unacknowledged: dict[str, ReportResult] = {}
        self.history: deque[PastExecution] = deque(maxlen=_HISTORY_LENGTH)

    @property
    def active_executions(self) -> frozenset[str]:
        return frozenset(self._running)

    @property
    def pending_approvals(self) -> list[Card]:
        return list(self._asking.pending.values())

    async def handle_tool_survey_request(self, request: SurveyRequest) -> None:
        """Look at the machine before a person is asked; what would be refused here is said so."""
        if request.replayed or request.tool_params is None:
            return
        try:
            reviewed = await self._reviewer.review(
                request.tool_name, request.tool_params, seconds=_SURVEY_SECONDS
            )
            answer = _as_facts(reviewed)
        except (ToolError, BadInput) as error:
            answer = _as_refusal(error)
        except Exception as error:
            # The question is put without facts, and the call looked at when it is executed.
            log.warning("survey.broke", execution=request.tool_id, error=repr(error))
            return
        await self._line.send_facts(request.approval_id, answer)

    async def handle_tool_approval_request(self, card: Card) -> None:
        """Put a question to the person at this machine, and carry their answer back."""
        await self._asking.ask(card)

    def handle_approval_resolved(self, resolved: Resolved) -> None:
        self._asking.close(resolved)

    async def handle_tool_execution_signal(self, signal: Signal) -> None:
        """Execute, once, and report; a call offered anew is answered from what is known of it."""
        if signal.replayed or signal.tool_params is None:
            return
        if (running := self._running.get(signal.tool_id)) is not None:
            running.offer_anew(signal.epoch)
            return
        if (earlier := self._unacknowledged.get(signal.tool_id)) is not None:
            self._send({**earlier, "epoch": signal.epoch})
            return
        running = self._running[signal.tool_id] = _Running(signal.epoch)
        try:
            async with self._gate:
                report = await self._execute(signal, running)
        finally:
            del self._running[signal.tool_id]
        if report is not None:
            self._send({**report, "epoch": running.epoch})

    def handle_tool_result_ack(self, ack: ResultAck) -> None:
        self._unacknowledged.pop(ack.tool_id, None)

    def dispose(self) -> None:
        """End what is running here, processes included, and take away what is being shown."""
        self._asking.dispose()
        for running in self._running.values():
            if running.task is not None:
                running.task.cancel()

    def _send(self, report: ReportResult) -> None:
        self._unacknowledged[report["tool_id"]] = report
        self._line.send_tool_result(report)

    async def _execute(self, signal: Signal, running: _Running) -> ReportResult | None:
        start, began = self._clock.now(), time.perf_counter()
        result = await self._attempt(signal, running)
        if result is None:
            return None
        elapsed = int((time.perf_counter() - began) * 1000)
        report: ReportResult = {"tool_id": signal.tool_id, "execution_time_ms": elapsed}
        if result.error_type is None:
            report |= {"status": "completed", "result": result.as_json()}
        else:
            report |= {"status": "failed", "error": result.error, "error_type": result.error_type}
            if result.fields:
                report["result"] = result.as_json()
        self.history.append(
            PastExecution(signal.tool_id, report["status"], start, self._clock.now(), result.error)
        )
        return report

    async def _attempt(self, signal: Signal, running: _Running) -> ToolResult | None:
        """The outcome, or None where this machine was not given the right to begin."""
        try:
            return await self._check_and_run(signal, running, signal.tool_params or {})
        except ToolError as error:
            return ToolResult.failed(error.message, error.error_type)
        except BadInput as error:
            return ToolResult.failed(error.message, ErrorType.VALIDATION)
        except TimeoutError:
            words = "looking at the machine took too long; nothing was done"
            return ToolResult.failed(words, ErrorType.EXECUTION_TIMEOUT)
        except Exception as error:
            log.exception("execution.broke", tool=signal.tool_name, execution=signal.tool_id)
            return ToolResult.failed(
                f"{signal.tool_name} broke on the client: {type(error).__name__}",
                ErrorType.INTERNAL,
            )

    async def _check_and_run(
        self, signal: Signal, running: _Running, raw: dict[str, Any]
    ) -> ToolResult | None:
        changes = self._reviewer.find_tool(signal.tool_name).effect is Effect.CHANGE
        if changes and signal.status == "executing":
            return ToolResult.failed(
                "this machine was stopped while it worked on the call; how far it came is unknown",
                ErrorType.OUTCOME_UNKNOWN,
            )
        reviewed = await self._reviewer.review(signal.tool_name, raw)
        if (trouble := _find_difference(signal, reviewed, raw)) is not None:
            return ToolResult.failed(trouble, ErrorType.STALE)
        if changes and not await self._claim(signal.tool_id, running):
            return None
        return await self._reviewer.execute(reviewed)

    async def _claim(self, tool_id: str, running: _Running) -> bool:
        """Get the right to begin. A claim can cross with an offer anew; then it is made anew."""
        while not await self._line.claim_tool_execution(tool_id, running.epoch):
            if not await running.wait_for_another_offer():
                return False
        return True


def _find_difference(signal: Signal, reviewed: Reviewed, raw: dict[str, Any]) -> str | None:
    """Why this is not what was judged, shown and approved; None if it is."""
    if reviewed.digest(signal.salt, raw, with_facts=signal.surveyed) != signal.digest:
        if signal.surveyed:
            return "this machine has changed since the call was looked at; nothing was done"
        return "what arrived is not what was judged; nothing was done"
    if reviewed.verdict.risk > RiskLevel[signal.risk_level]:
        reasons = "; ".join(reviewed.verdict.reasons)
        return f"this machine finds it riskier than what was approved; nothing was done: {reasons}"
    return None


def _as_facts(reviewed: Reviewed) -> dict[str, Any]:
    survey = reviewed.survey
    if survey is None:
        return {"facts": {}}
    findings = [
        {"rule": one.rule, "reason": one.reason, "risk": one.risk.name} for one in survey.findings
    ]
    return {"facts": dict(survey.facts), "findings": findings, "evidence": survey.evidence}


def _as_refusal(error: ToolError | BadInput) -> dict[str, Any]:
    error_type = error.error_type if isinstance(error, ToolError) else ErrorType.VALIDATION
    return {"refused": {"error": error.message, "error_type": error_type}}
